//! One build: the documents of a plan, changed by its patches along two roads that must meet.
//!
//! Each change of each patch is lowered to plain steps on the document's value (`patch::lower`, which makes them there
//! with `json-patch`). The same steps are made on the document's text as edits of byte ranges (`yaml::edit`,
//! `embedded`). In the end every edited text is read again and must mean the value. Where the roads do not meet, the
//! build fails and prints nothing.
//!
//! Nothing here reads files, knows the terminal, or proves anything: that the result differs only where patches say so
//! is for `verify`, which uses none of this.

mod documents;
mod images;
mod moot;
mod text;
mod trial;
mod undone;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use crate::change::pointer;
use crate::config::Findings;
use crate::diag::visible::shortened;
use crate::diag::{Code, Diagnostic, Place, Severity, Source};
use crate::layer::plan::{Joined, Plan, Scoped};
use crate::layer::separators::{self, Standing};
use crate::patch::Patch;
use crate::patch::lower::{Run, Site, TextWithin};
use crate::patch::model::{Change, Effect};
use crate::patch::path::Path;
use crate::patch::step::{Action, Origin, Step};
use crate::resource::Identity;
use crate::resource::identity::Part;
use crate::resource::images::{Image, WRITE_THE_DIGEST, images as images_of};
use crate::resource::target::{Miss, Near};
use crate::yaml::edit;
use documents::{Documents, Resource, Snapshot, State};
use text::Road;
use trial::{Mistake, Tried};
use undone::Undone;

/// How many mistakes of one patch are told in one run.
const MAX_TOLD: usize = 50;

/// What to do about a digest of a base that is none.
const MEND_BY_PATCH: &str = "Let a patch replace the name, and `overlay image REF --pin PATCH` write the digest there.";

/// How many documents a message about a target lists.
const MAX_LISTED: usize = 5;

/// What a build gave.
#[derive(Debug)]
pub struct Built {
    /// The result, byte for byte.
    pub text: String,
    /// What each document of it is called, and where it stands. Bytes that belong to no document are in none.
    pub documents: Vec<(Identity, Range<usize>)>,
}

/// What a change is that means no document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoMatch {
    /// An error.
    #[default]
    Fails,
    /// A note: the documents are a part of those that the overlay was written for.
    Passes,
}

/// Carries a plan out. Warnings (an operation that changes nothing) go to the findings, and so does every failure that
/// could be found: a patch that fails does not keep the ones after it from being tried.
///
/// Returns `None` when anything failed; nothing may be printed then.
///
/// An image that no patch wrote may have a digest that is none: who asks may be about to write the patch for it.
pub fn build(plan: &Plan, image_paths: &[Vec<String>], findings: &mut Findings) -> Option<Built> {
    let documents = carried_out(plan, image_paths, (NoMatch::Fails, Kept::Passes), findings)?;
    joined(plan, &documents, findings)
}

/// Like [`build`], of what is to be applied: no image may have a digest that is none. A change that means no document is what
/// `no_match` says.
pub fn build_where(
    plan: &Plan,
    image_paths: &[Vec<String>],
    no_match: NoMatch,
    findings: &mut Findings,
) -> Option<Built> {
    let documents = carried_out(plan, image_paths, (no_match, Kept::IsJudged), findings)?;
    joined(plan, &documents, findings)
}

/// A stretch of a result.
#[derive(Debug)]
pub enum Stretch {
    /// Bytes of a file, as they stand there.
    Kept(Arc<Source>, Range<usize>),
    /// A document that was edited.
    Edited(Arc<edit::Source<'static>>),
    /// Anything.
    Text(String),
}

impl Stretch {
    /// Its text.
    pub fn text(&self) -> &str {
        match self {
            Stretch::Kept(file, range) => file.text.get(range.clone()).unwrap_or(""),
            Stretch::Edited(text) => text.text(),
            Stretch::Text(text) => text,
        }
    }
}

/// Like [`build_where`], for who only wants to have the result written: in parts that are one behind the other, so that what
/// stays as it is need not be copied.
pub fn build_in_parts(
    plan: &Plan,
    image_paths: &[Vec<String>],
    no_match: NoMatch,
    findings: &mut Findings,
) -> Option<Vec<Stretch>> {
    let documents = carried_out(plan, image_paths, (no_match, Kept::IsJudged), findings)?;
    match in_place(plan, &documents) {
        Some(parts) => Some(parts),
        None => Some(vec![Stretch::Text(joined(plan, &documents, findings)?.text)]),
    }
}

/// The one file of a plan with some of its documents edited, where that is all, and where it certainly holds together as the
/// file does.
fn in_place(plan: &Plan, documents: &Documents<'_>) -> Option<Vec<Stretch>> {
    let [file] = plan.files.as_slice() else { return None };
    let standing = documents.standing()?;
    let texts: Vec<Standing<'_>> = standing
        .iter()
        .map(|(planned, edited)| Standing {
            text: edited.map_or_else(|| plan.text(planned), |edited| edited.text()),
            is_edited: edited.is_some(),
            has_content: planned.identity.is_some(),
        })
        .collect();
    if !separators::hold_together(&texts) {
        return None;
    }
    let mut parts = Vec::new();
    for (planned, edited) in standing {
        match (edited, parts.last_mut()) {
            (Some(text), _) => parts.push(Stretch::Edited(Arc::clone(text))),
            (None, Some(Stretch::Kept(_, range))) if range.end == planned.range.start => range.end = planned.range.end,
            (None, _) => parts.push(Stretch::Kept(Arc::clone(file), planned.range.clone())),
        }
    }
    Some(parts)
}

/// The documents of a plan with its patches made. Findings are as for [`build`].
fn carried_out<'p>(
    plan: &'p Plan,
    image_paths: &'p [Vec<String>],
    (no_match, kept): (NoMatch, Kept),
    findings: &mut Findings,
) -> Option<Documents<'p>> {
    let told = findings.has_errors();
    let start = |pace| Builder {
        documents: Documents::new(plan),
        plan,
        image_paths,
        no_match,
        kept,
        pace,
        told,
        findings: Findings::new(),
        failed: false,
        is_doubled: false,
        of_doubled: Vec::new(),
        failed_on: HashSet::new(),
        undone: Undone::default(),
    };
    let mut builder = start(Pace::Together);
    if builder.carry_out().is_err() {
        builder = start(Pace::EachChange);
        if let Err(finding) = builder.carry_out() {
            builder.fail(*finding);
        }
    }
    let Builder { documents: built, failed, findings: found, .. } = builder;
    findings.append(found);
    (!failed).then_some(built)
}

/// The documents put one behind the other.
fn joined(plan: &Plan, built: &Documents<'_>, findings: &mut Findings) -> Option<Built> {
    let mut out = Joined::default();
    out.text.reserve(plan.files.iter().map(|f| f.text.len()).sum::<usize>() + 1024);
    let (mut starts, mut documents) = (Vec::new(), Vec::new());
    for (document, text, identity) in built.texts() {
        starts.push((out.push(document, text), document));
        documents.extend(identity.map(|identity| (identity, out.last.clone())));
    }
    let unreadable = separators::check_joined(&out.text, |at| {
        let (start, document) = starts.get(starts.partition_point(|(start, _)| *start <= at.start).checked_sub(1)?)?;
        plan.place(document, at.start - start..at.end - start)
    });
    let Some(unreadable) = unreadable else { return Some(Built { text: out.text, documents }) };
    // What is wrong with one file was told with that file.
    if !findings.iter().any(|finding| finding.code == Code::ManifestUnreadable) {
        findings.add(unreadable);
    }
    None
}

/// What is done about images that no patch wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    IsJudged,
    Passes,
}

/// When steps are made on the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// Together with all others of their document, once its text is needed.
    Together,
    /// After the change that they are of, so that a patch of which one cannot be written fails whole, and alone.
    EachChange,
}

struct Builder<'p> {
    documents: Documents<'p>,
    plan: &'p Plan,
    image_paths: &'p [Vec<String>],
    no_match: NoMatch,
    kept: Kept,
    pace: Pace,
    /// Whether errors were told before.
    told: bool,
    findings: Findings,
    failed: bool,
    /// Whether the target that last meant too many documents does so because some are there twice.
    is_doubled: bool,
    /// What is to be said of such targets, unless it is said that these documents are there twice.
    of_doubled: Vec<Diagnostic>,
    /// The documents that patches failed on, by their numbers.
    failed_on: HashSet<usize>,
    /// What patches that failed would have done.
    undone: Undone<'p>,
}

/// A patch on its way through its documents.
#[derive(Default)]
struct Progress<'p> {
    /// The documents as they were before.
    before: Snapshot<'p>,
    has_failed: bool,
    /// What is wrong with it.
    mistakes: Vec<Diagnostic>,
    /// Which operations of which change that is said of; `None` for a change as a whole.
    told: HashSet<(usize, Option<usize>)>,
    /// What it would do.
    all: Undone<'p>,
    /// What of it was not even done on the way.
    open: Undone<'p>,
}

impl<'p> Builder<'p> {
    /// Carries a plan out. `Err` where a step cannot be written that was made together with others: which patches fail is
    /// known only at the other pace.
    fn carry_out(&mut self) -> Result<(), Box<Diagnostic>> {
        let plan = self.plan;
        for scoped in &plan.patches {
            self.patch(scoped)?;
        }
        self.documents.settle()?;
        self.meet();
        if !self.documents.any_left() {
            self.nothing_left(plan);
        }
        self.duplicates();
        if self.kept == Kept::IsJudged {
            self.images_kept();
        }
        Ok(())
    }

    fn fail(&mut self, finding: Diagnostic) {
        self.failed = true;
        self.findings.add(finding);
    }

    /// Refuses a result without a document. Where none came in, the reason may have been told already.
    fn nothing_left(&mut self, plan: &Plan) {
        if plan.documents.iter().any(|d| d.identity.is_some()) {
            self.fail(result_empty(plan));
        } else if !self.told && !self.findings.has_errors() {
            let help = "Check what the overlay stands on: an empty result makes a GitOps tool delete what it manages.";
            self.fail(Diagnostic::new(Code::ResultEmpty, "there is no document to build from").help(help));
        }
    }

    /// Applies a patch whole or not at all. `Err` as for [`Builder::carry_out`].
    fn patch(&mut self, scoped: &'p Scoped) -> Result<(), Box<Diagnostic>> {
        let patch = &scoped.patch;
        let resources = match self.documents.resources(&scoped.scope) {
            Ok(resources) => resources,
            Err(finding) => {
                self.fail(finding.patch(&patch.name.value));
                return Ok(());
            }
        };
        let mut progress = Progress::default();
        for (number, change) in patch.changes.iter().enumerate() {
            let hits = match self.hits(patch, change, &resources) {
                Ok(hits) => hits,
                Err(finding) => {
                    progress.all.add(None, change, None);
                    progress.open.add(None, change, None);
                    progress.has_failed = true;
                    match finding.code {
                        Code::TargetCount if self.is_doubled => self.of_doubled.push(*finding),
                        _ => progress.mistakes.push(*finding),
                    }
                    continue;
                }
            };
            for hit in hits {
                self.documents.remember(hit, &mut progress.before);
                progress.all.add(Some(hit), change, None);
                let failed = if progress.has_failed { None } else { self.change(patch, number, hit).err() };
                match failed {
                    Some(finding) if self.pace == Pace::Together && finding.code == Code::EditRefused => {
                        return Err(finding);
                    }
                    None if !progress.has_failed => {}
                    failed => self.rest_of(scoped, (number, hit), failed, &mut progress),
                }
            }
        }
        if progress.has_failed {
            self.failed = true;
            self.failed_on.extend(progress.before.documents());
            self.documents.restore(progress.before);
            self.undone.append(progress.all);
            for finding in progress.mistakes {
                self.fail(finding);
            }
        }
        Ok(())
    }

    /// What is wrong with a change of a resource, of a patch that fails here (`failed`) or did before. What may follow from
    /// another failure is left out, and so is what was told of another resource.
    fn rest_of(
        &mut self,
        scoped: &'p Scoped,
        (number, hit): (usize, Resource),
        failed: Option<Box<Diagnostic>>,
        progress: &mut Progress<'p>,
    ) {
        progress.has_failed = true;
        let Some(change) = scoped.patch.changes.get(number) else { return };
        let Tried { mut mistakes, is_made } = self.try_change(&scoped.patch, number, hit);
        // What only the text refuses, the value takes.
        if let Some(finding) = failed.filter(|_| mistakes.is_empty()) {
            mistakes.push(Mistake { operation: None, finding });
        }
        for Mistake { operation, finding } in mistakes {
            let follows = [&self.undone, &progress.open].iter().any(|undone| undone.may_cause(hit, change, operation));
            if operation.is_some() {
                progress.open.add(Some(hit), change, operation);
            }
            if !follows && progress.mistakes.len() < MAX_TOLD && progress.told.insert((number, operation)) {
                progress.mistakes.push(self.with_place_in_base(change, hit, *finding));
            }
        }
        if !is_made {
            progress.open.add(Some(hit), change, None);
        }
    }

    /// The resources that a change means, as many as it says.
    fn hits(
        &mut self,
        patch: &Patch,
        change: &Change,
        resources: &[Resource],
    ) -> Result<Vec<Resource>, Box<Diagnostic>> {
        let mut hits = Vec::new();
        for resource in resources {
            if self.documents.is_meant(*resource, &change.target)? {
                hits.push(*resource);
            }
        }
        let (gone, hits): (Vec<_>, Vec<_>) = hits.into_iter().partition(|h| self.documents.deleted_by(*h).is_some());
        if change.matches.allows(hits.len()) && !hits.is_empty() {
            return Ok(hits);
        }
        self.is_doubled = self.is_of_doubled(change, &hits);
        let mut finding = self.wrong_count(patch, change, resources, &hits, &gone);
        if self.no_match == NoMatch::Passes && hits.is_empty() && gone.is_empty() {
            finding.severity = Severity::Note;
            self.findings.add(finding);
            return Ok(hits);
        }
        Err(Box::new(finding))
    }

    fn change(&mut self, patch: &Arc<Patch>, number: usize, hit: Resource) -> Result<(), Box<Diagnostic>> {
        let Some(change) = patch.changes.get(number) else { return Ok(()) };
        let name = patch.name.value.clone();
        let resource = self.documents.identity(hit).map(ToString::to_string).unwrap_or_default();
        let prefix = self.documents.prefix(hit).unwrap_or_default();
        if matches!(change.effect, Effect::Delete) {
            if prefix.is_empty() {
                self.documents.delete_document(hit, &name);
                return Ok(());
            }
            self.delete_item(patch, number, hit, prefix)?;
            self.documents.note_item_deleted(hit, &name);
            return Ok(());
        }
        let site = Site { patch, change: number, resource: &resource };
        let State { mut road, value } = self.documents.state(hit)?;
        let part = value.pointer(&pointer(&prefix)).unwrap_or(&Value::Null);
        let mut is_edited = false;
        let (after, steps, already) = match site.text_within(part)? {
            None => {
                let Run { value: after, steps, already } = site.run(part)?;
                still_a_manifest(&site, part, &after, &steps)?;
                let steps: Arc<[Step]> = steps.into_iter().map(|step| step.below(&prefix)).collect();
                images::check(&site, &value, &steps, self.image_paths)?;
                self.follow(&mut road, patch, &steps, &resource)?;
                (State { road, value: with_part(&value, &prefix, after) }, steps, already)
            }
            Some(found) => {
                let found = TextWithin { path: [prefix, found.path].concat(), ..found };
                let place = |offset| self.documents.place_in_text(hit, &found, offset);
                let inner = road.go_inside(&site, patch, &found, place)?;
                if self.pace == Pace::EachChange {
                    road.settle(&resource)?;
                }
                is_edited = inner.text != found.text;
                let value = if is_edited { with_part(&value, &found.path, inner.text.into()) } else { value };
                (State { road, value }, Arc::from([]), inner.already)
            }
        };
        for origin in &already {
            let finding = self.with_place_in_base(change, hit, site.already_upstream(origin));
            self.findings.add(finding);
        }
        self.documents.set_state(hit, after, &steps);
        if is_edited {
            self.documents.note_edited(hit);
        }
        Ok(())
    }

    /// Leads the text along the steps of a change, now or later.
    fn follow(
        &self,
        road: &mut Road,
        patch: &Arc<Patch>,
        steps: &Arc<[Step]>,
        resource: &str,
    ) -> Result<(), Box<Diagnostic>> {
        road.go_on(patch, Arc::clone(steps));
        if self.pace == Pace::EachChange { road.settle(resource) } else { Ok(()) }
    }

    /// The finding about a change of a resource, with the place in the base that it is about: as far as its path leads.
    fn with_place_in_base(&self, change: &Change, hit: Resource, finding: Diagnostic) -> Diagnostic {
        let within = match &change.effect {
            Effect::Edit { within, .. } => within.as_ref(),
            Effect::Delete => None,
        };
        let path = match (within, &finding.path) {
            (Some(within), _) => within.path.value.clone(),
            (None, Some(path)) => Path::parse(path).unwrap_or_default(),
            (None, None) => return finding,
        };
        // The text that cannot be read is shown already.
        let shown = finding.code == Code::EmbeddedUnreadable && !finding.related.is_empty();
        match self.documents.place_in_base(hit, &path).filter(|_| !shown) {
            Some((place, says)) => finding.related(place, says),
            None => finding,
        }
    }

    fn delete_item(
        &mut self,
        patch: &Arc<Patch>,
        number: usize,
        hit: Resource,
        prefix: Vec<String>,
    ) -> Result<(), Box<Diagnostic>> {
        let resource = self.documents.identity(hit).map(ToString::to_string).unwrap_or_default();
        let State { mut road, value } = self.documents.state(hit)?;
        let mut value = (*value).clone();
        let keyed = Path::of_keys(prefix.iter());
        let origin = Origin { patch: patch.name.value.clone(), change: number, operation: 0, keyed };
        let step = Step { action: Action::Remove, path: prefix, origin };
        let steps: Arc<[Step]> = Arc::new([step.clone()]);
        self.follow(&mut road, patch, &steps, &resource)?;
        crate::patch::apply::apply(&mut value, &step).map_err(|error| {
            let message = format!("an item that is there cannot be removed: {error}");
            Box::new(Diagnostic::new(Code::Internal, message).patch(&patch.name.value).resource(&resource))
        })?;
        self.documents.set_state(hit, State { road, value: Arc::new(value) }, &steps);
        Ok(())
    }

    /// Every edited text was read again after its last edit: what it says must be what the value road says.
    fn meet(&mut self) {
        let mut apart = Vec::new();
        for (resource, state) in self.documents.edited() {
            if *state.road.text().value() != *state.value {
                let name = self.documents.identity(resource).map(ToString::to_string).unwrap_or_default();
                apart.push(
                    Diagnostic::new(Code::Internal, "the edited text is not what the operations make of the value")
                        .resource(name)
                        .note("The edited text was read again: it means something else.")
                        .help("This is a mistake in overlay, and nothing was printed. Please report it with the base and the patches."),
                );
            }
        }
        for finding in apart {
            self.fail(finding);
        }
    }

    /// Refuses images that no patch wrote and whose digest is none. A patch that failed may have been about one.
    fn images_kept(&mut self) {
        let more = self.image_paths;
        let mut found = Vec::new();
        for (resource, value) in self.documents.left_with(&self.failed_on, |text| images::may_have_digests(text, more))
        {
            let name = self.documents.identity(resource).map(ToString::to_string).unwrap_or_default();
            for (finding, path) in images::check_kept(&name, &value, more) {
                found.push(self.with_image_in_base(finding, resource, &value, &path));
            }
        }
        for finding in found {
            self.fail(finding);
        }
    }

    /// Says where the base has an image of the result, which stands at `path` there, and who is to mend it.
    fn with_image_in_base(
        &self,
        finding: Diagnostic,
        resource: Resource,
        value: &Value,
        path: &[String],
    ) -> Diagnostic {
        let name = value.pointer(&pointer(path));
        let base = self.documents.value_in_base(resource).unwrap_or_default();
        // Where items moved, it stands at another path there.
        let same = |image: &Image<'_>| Some(image.name) == name.and_then(Value::as_str);
        let moved = || images_of(&base, &[], self.image_paths).into_iter().find(same).map(|image| image.path);
        let stays = base.pointer(&pointer(path)) == name;
        let path_in_base = if stays { Some(path.to_vec()) } else { moved() };
        match path_in_base.and_then(|path| self.documents.place_of_value(resource, &path)) {
            Some((place, true)) => finding.at(place, "here in what the overlay adds").help(WRITE_THE_DIGEST),
            Some((place, false)) => finding.at(place, "here in the base").help(MEND_BY_PATCH),
            None => finding.help(MEND_BY_PATCH),
        }
    }

    /// Tells of resources that the result has twice: of two, a cluster ends up with the second alone. Where upstream has
    /// both, its bytes are kept, and `verify` speaks of it.
    fn duplicates(&mut self) {
        if self.documents.are_called_as_upstream() {
            return;
        }
        let left = self.documents.left();
        let mut first: HashMap<_, Resource> = HashMap::with_capacity(left.len());
        let mut found = Vec::new();
        for (resource, identity) in &left {
            let Some(object) = identity.object() else { continue };
            match first.get(&object) {
                None => drop(first.insert(object, *resource)),
                Some(other) if self.documents.are_upstreams(*other, *resource) => {}
                Some(other) => found.push((identity, *other, *resource)),
            }
        }
        let mut told = HashSet::new();
        // A patch that failed may have been about one of the two.
        found.retain(|(_, other, resource)| !other.is_of(&self.failed_on) && !resource.is_of(&self.failed_on));
        for (identity, other, resource) in found {
            let finding = match self.documents.two_ways(other, resource) {
                // All documents of the base are there twice, for one reason.
                Some(ways) if !told.insert(ways.each_ref().map(|(way, _)| way.clone())) => continue,
                Some(ways) => twice_reached(identity, ways),
                None => self.duplicate(identity, other, resource),
            };
            self.fail(finding);
        }
        // Which of the two is meant does not matter before one is left out.
        let doubled = |finding: &Diagnostic| finding.code == Code::DuplicateDocument;
        let is_told = self.findings.iter().any(doubled);
        for waiting in std::mem::take(&mut self.of_doubled).into_iter().filter(|_| !is_told) {
            self.fail(waiting);
        }
    }

    /// Whether a change would mean as many documents as it says if none were there twice.
    fn is_of_doubled(&self, change: &Change, hits: &[Resource]) -> bool {
        let mut seen: HashMap<_, Resource> = HashMap::with_capacity(hits.len());
        let mut count = 0;
        for hit in hits {
            let object = self.documents.identity(*hit).and_then(Identity::object);
            match object.as_ref().and_then(|object| seen.get(object)) {
                Some(other) if !self.documents.are_upstreams(*other, *hit) => {}
                _ => count += 1,
            }
            object.map(|object| seen.entry(object).or_insert(*hit));
        }
        count < hits.len() && change.matches.allows(count)
    }

    fn duplicate(&self, identity: &Identity, other: Resource, resource: Resource) -> Diagnostic {
        let place = |resource| self.documents.place_in_base(resource, &Path::default());
        let mut finding = Diagnostic::new(Code::DuplicateDocument, format!("the result has {identity} twice"))
            .resource(identity.to_string())
            .note("A cluster that takes one after the other ends up with the second alone.")
            .help("Leave one out: with `delete: true` in a patch, with `keep` in base.yaml, or under `resources`.");
        if let Some((place, _)) = place(resource) {
            finding = finding.at(place, "again here");
        }
        match place(other) {
            Some((place, _)) => finding.related(place, "first here"),
            None => finding,
        }
    }

    /// What to say of a target that means no document, or another number than the change says.
    fn wrong_count(
        &self,
        patch: &Patch,
        change: &Change,
        resources: &[Resource],
        hits: &[Resource],
        gone: &[Resource],
    ) -> Diagnostic {
        let place = patch.place(change.target_span.clone());
        let names = |of: &[Resource]| -> Vec<String> {
            of.iter().filter_map(|r| self.documents.identity(*r)).map(ToString::to_string).collect()
        };
        let finding = if hits.is_empty() {
            let message = format!("no document matches the target: {}", describe(change));
            Diagnostic::new(Code::TargetMissing, message).at(place, "this means no document")
        } else {
            let documents =
                if hits.len() == 1 { "1 document matches".into() } else { format!("{} documents match", hits.len()) };
            let message = format!("{documents} the target, and the change is for {}", change.matches);
            Diagnostic::new(Code::TargetCount, message)
                .at(place, describe(change))
                .note(format!("It matches {}.", listed(&names(hits))))
                .help(format!(
                    "Say more of the one that is meant, or write `matches: {}` beside the target if this is right.",
                    hits.len()
                ))
        };
        let finding = finding.patch(&patch.name.value);
        let by: Vec<String> = gone
            .iter()
            .filter_map(|r| {
                let name = self.documents.identity(*r)?;
                Some(format!("The patch {} took {name} out before.", self.documents.deleted_by(*r)?))
            })
            .take(MAX_LISTED)
            .collect();
        let finding = by.into_iter().fold(finding, Diagnostic::note);
        if !hits.is_empty() {
            return finding;
        }
        match self.left_out(change) {
            Some((identity, base)) => with_left_out(finding, identity, base),
            None if !gone.is_empty() => finding.help("Take this change out, or change the document before it goes."),
            None => {
                // What an earlier patch took out is not there to be meant.
                let left: Vec<Resource> =
                    resources.iter().copied().filter(|r| self.documents.deleted_by(*r).is_none()).collect();
                self.with_nearest(finding, change, &left, &names(&left))
            }
        }
    }

    /// The first document of upstream's that a target means and that a base leaves out, and the base's folder. What only
    /// its labels would tell is not known.
    fn left_out(&self, change: &Change) -> Option<(&Identity, &str)> {
        self.plan.vendored_files().find_map(|file| {
            let mut left = file.locked.documents.iter().filter(|document| !document.kept);
            let meant = left.find(|document| change.target.matches(&document.identity, &Value::Null))?;
            let (folder, _) = file.source.name.rsplit_once('/').unwrap_or((".", ""));
            Some((&meant.identity, folder))
        })
    }

    fn with_nearest(
        &self,
        mut finding: Diagnostic,
        change: &Change,
        resources: &[Resource],
        names: &[String],
    ) -> Diagnostic {
        let candidates = resources.iter().filter_map(|r| Some((self.documents.identity(*r)?, &Value::Null)));
        let near = change.target.nearest(candidates, MAX_LISTED);
        for near in &near {
            let off: Vec<String> = near
                .misses
                .iter()
                .map(|m| match &m.found {
                    Some(found) => format!("its {} is `{found}`, not `{}`", m.field, m.wanted),
                    None => format!("it has no {} (wanted: `{}`)", m.field, m.wanted),
                })
                .collect();
            let name = names.get(near.index).map_or("", String::as_str);
            finding = finding.note(format!("{name} is near: {}.", off.join("; ")));
        }
        match near.first() {
            Some(Near { misses, .. }) if let [Miss { field, found: Some(found), .. }] = &misses[..] => {
                finding.help(format!("Did you mean `{field}: {found}`?"))
            }
            Some(_) => finding.help("Correct the target; it names documents as the base names them."),
            None => finding
                .note(match names.iter().filter(|name| !name.is_empty()).cloned().collect::<Vec<_>>().as_slice() {
                    [] => "There is no document that has a kind or a name.".to_owned(),
                    [only] => format!("There is {only}."),
                    names => format!("There are {}.", listed(names)),
                })
                .help("Correct the target; it names documents as the base names them."),
        }
    }
}

fn with_left_out(finding: Diagnostic, identity: &Identity, base: &str) -> Diagnostic {
    let namespace =
        if identity.namespace.is_empty() { String::new() } else { format!(", namespace: {}", identity.namespace) };
    let entry = format!("- {{kind: {}{namespace}, name: {}}}", identity.kind, identity.name);
    finding
        .note(format!("Upstream has {identity}, and `keep` of {base}/base.yaml leaves it out."))
        .help(format!("Add `{entry}` to `keep` there, and run `overlay vendor {base}`."))
}

/// What to say of a document that comes from one base by two ways.
fn twice_reached(identity: &Identity, [(one, first), (other, second)]: [(String, Option<Place>); 2]) -> Diagnostic {
    let base = other.rsplit(" → ").next().unwrap_or_default();
    let message = format!("the result has {identity} twice: {base} is reached by two ways");
    let finding = Diagnostic::new(Code::DuplicateDocument, message)
        .resource(identity.to_string())
        .note(format!("One is {one}, the other {other}."))
        .note("A cluster that takes one after the other ends up with the second alone.")
        .help("Take one of the two out of `bases`: what an overlay stands on brings its own bases along.");
    let finding = match second {
        Some(place) => finding.at(place, "again by this"),
        None => finding,
    };
    match first {
        Some(place) => finding.related(place, "first by this"),
        None => finding,
    }
}

/// The target of a change in words: `kind DaemonSet, name net-agent`.
fn describe(change: &Change) -> String {
    let target = &change.target;
    let fields = [
        ("group", &target.group),
        ("version", &target.version),
        ("kind", &target.kind),
        ("namespace", &target.namespace),
        ("name", &target.name),
    ];
    let mut parts: Vec<String> =
        fields.iter().filter_map(|(key, value)| value.as_ref().map(|v| format!("{key} {v}"))).collect();
    parts.extend(target.labels.iter().map(|(key, value)| format!("label {key}={value}")));
    parts.extend(target.annotations.iter().map(|(key, value)| format!("annotation {key}={value}")));
    parts.join(", ")
}

fn listed(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(MAX_LISTED).map(String::as_str).collect();
    match names.len() {
        0 => "no documents".to_owned(),
        count if count > MAX_LISTED => format!("{} and {} more", shown.join(", "), count - MAX_LISTED),
        _ => shown.join(", "),
    }
}

fn result_empty(plan: &Plan) -> Diagnostic {
    let deleting = plan.patches.iter().filter_map(|scoped| {
        let change = scoped.patch.changes.iter().find(|c| matches!(c.effect, Effect::Delete))?;
        Some((&scoped.patch, change))
    });
    let deletes = plan.patches.iter().any(|s| s.patch.changes.iter().any(|c| matches!(c.effect, Effect::Delete)));
    let message = if deletes {
        "the patches delete every document, so nothing would be left"
    } else {
        "the base has no resource, so nothing would be left"
    };
    let mut finding = Diagnostic::new(Code::ResultEmpty, message).help(
        "Leave at least one document. Where nothing is wanted, remove the overlay instead: an empty result makes \
               a GitOps tool delete what it manages.",
    );
    for (patch, change) in deleting {
        finding = match finding.place {
            None => finding.at(patch.place(change.span.clone()), "deletes here").patch(&patch.name.value),
            Some(_) => finding.related(patch.place(change.span.clone()), "deletes here"),
        };
    }
    finding
}

/// A document must not lose what makes it one of Kubernetes: kubectl would refuse the result, or pass over it.
fn still_a_manifest(site: &Site<'_>, before: &Value, after: &Value, steps: &[Step]) -> Result<(), Box<Diagnostic>> {
    let has = |value: &Value, part: &str| value.pointer(part).is_some_and(|v| !v.is_null() && v != "");
    let named = |value: &Value| has(value, "/metadata/name") || has(value, "/metadata/generateName");
    let lost = ["/apiVersion", "/kind"].into_iter().find(|part| has(before, part) && !has(after, part));
    let lost = lost.or_else(|| (named(before) && !named(after)).then_some("/metadata/name"));
    let (Some(lost), Some(step)) = (lost, steps.last()) else {
        return still_named_by_texts(site, before, after, steps);
    };
    let at_loss = steps.iter().find(|step| pointer(&step.path) == lost).unwrap_or(step);
    Err(Box::new(
        Diagnostic::new(Code::PathInvalid, format!("the document would have no `{lost}`, and be none of Kubernetes"))
            .at(site.patch.place(site.span_of(&at_loss.origin)), "this takes it away")
            .patch(&site.patch.name.value)
            .resource(site.resource)
            .path(lost)
            .help("To leave the document out, write `delete: true` in place of `patch:`."),
    ))
}

/// What names a document must stay a text: kubectl refuses another.
fn still_named_by_texts(site: &Site<'_>, before: &Value, after: &Value, steps: &[Step]) -> Result<(), Box<Diagnostic>> {
    let known = not_texts(before);
    let turned = not_texts(after).into_iter().find(|part| !known.contains(part));
    let (Some(part), Some(step)) = (turned, steps.last()) else { return Ok(()) };
    let step = steps.iter().rev().find(|step| leads_through(&part, &pointer(&step.path))).unwrap_or(step);
    let value = after.pointer(&part).map(Value::to_string).unwrap_or_default();
    Err(Box::new(
        Diagnostic::new(
            Code::PathInvalid,
            format!("`{part}` would be {}, and kubectl takes a text alone", shortened(&value, 60)),
        )
        .at(site.patch.place(site.span_of(&step.origin)), "this writes it")
        .patch(&site.patch.name.value)
        .resource(site.resource)
        .path(part)
        .help(site.one_key(&step.origin).unwrap_or_else(|| {
            format!("Quote it, if the text is meant: `{}`.", shortened(&Value::from(value.as_str()).to_string(), 60))
        })),
    ))
}

/// Whether a place is another one, or lies in it; both are JSON pointers.
fn leads_through(place: &str, other: &str) -> bool {
    place.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Where a document has something else than a text that Kubernetes takes as text alone: what names it, its labels and
/// its annotations. Null is as good as absent.
fn not_texts(document: &Value) -> Vec<String> {
    let is_none = |value: &Value| !value.is_null() && !value.is_string();
    let names = Part::ALL.into_iter().map(|part| part.pointer().to_owned());
    let maps = ["labels", "annotations"].into_iter().filter_map(|map| {
        let keys = document.pointer("/metadata")?.get(map)?.as_object()?.keys();
        Some(keys.map(move |key| pointer(&["metadata".into(), map.into(), key.clone()])))
    });
    names.chain(maps.flatten()).filter(|part| document.pointer(part).is_some_and(is_none)).collect()
}

/// The value with another part at a path. Nothing else of it is copied where the part is all of it.
fn with_part(whole: &Value, path: &[String], part: Value) -> Arc<Value> {
    if path.is_empty() {
        return Arc::new(part);
    }
    let mut whole = whole.clone();
    if let Some(place) = whole.pointer_mut(&pointer(path)) {
        *place = part;
    }
    Arc::new(whole)
}
