//! The patches of one overlay on the old and on the new upstream, side by side.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

use super::File;
use super::judge;
use super::near;
use super::sides::{Resource, Side};
use super::upstream::named;
use super::waits::{Before, Waits};
use crate::config::Findings;
use crate::diag::{Diagnostic, Source};
use crate::diff;
use crate::layer::documents::Document;
use crate::layer::overlay::Overlay;
use crate::layer::plan::{Plan, Scoped};
use crate::patch::Patch;
use crate::patch::lower::Site;
use crate::patch::model::{Change, Effect};
use crate::report::update::{NewlyMeant, OperationUpdate, OverlayUpdate, PatchUpdate, Verdict};
use crate::resource::{Identity, Target};

/// How many documents that a target means are listed.
const MAX_LISTED: usize = 5;

fn as_documents(count: usize) -> String {
    format!("{count} {}", if count == 1 { "document" } else { "documents" })
}

/// An overlay with the verdicts on its own patches, and what verdicts say of those of lower overlays.
pub(super) struct Judged {
    /// Its folder.
    pub(super) folder: PathBuf,
    pub(super) update: OverlayUpdate,
    /// The patches that it applies, each with its name and file.
    patches: Vec<(String, String)>,
    /// The files of those that stop the build by their verdicts.
    stopping: Vec<String>,
    /// The documents that these are about.
    stopped: Vec<String>,
}

impl Judged {
    fn take(&mut self, patch: &PatchUpdate) {
        self.patches.push((patch.name.clone(), patch.file.clone()));
        let stopping = patch.operations.iter().filter(|operation| operation.verdict.stops());
        self.stopped.extend(stopping.map(|operation| operation.resource.clone()));
        self.stopping.extend(patch.verdict.stops().then(|| patch.file.clone()));
    }

    /// The file of the patch that a build fails at.
    pub(super) fn patch_file(&self, failure: &Diagnostic) -> Option<&str> {
        let name = failure.patch.as_ref()?;
        let of_name = || self.patches.iter().filter(|(of, _)| of == name).map(|(_, file)| file.as_str());
        let at = failure.place.as_ref().map(|place| place.source.name.as_str());
        of_name().find(|file| Some(*file) == at).or_else(|| of_name().next())
    }

    /// Whether verdicts name what a build fails at, or it may follow from what they name: it is about the same patch or
    /// the same document, or about the whole.
    pub(super) fn explains(&self, failure: &Diagnostic) -> bool {
        let is_named = |file: &str| self.stopping.iter().any(|stopping| stopping == file);
        let is_about = |resource: &String| self.stopped.contains(resource);
        match self.patch_file(failure) {
            Some(file) => is_named(file) || failure.resource.as_ref().is_some_and(is_about),
            None => !self.stopping.is_empty(),
        }
    }
}

/// The verdicts on the overlay's own patches; those of lower overlays are carried out and told with their own overlay.
/// `sources` are the files of the plan that have new documents, with their numbers among `files`.
pub(super) fn judge(
    overlay: &Overlay,
    plan: &Plan,
    sources: &[(Arc<Source>, usize)],
    files: &[File],
    findings: &mut Findings,
) -> Option<Judged> {
    let new_documents = |source: &Arc<Source>| {
        let (_, number) = sources.iter().find(|(s, _)| Arc::ptr_eq(s, source))?;
        let file = files.get(*number)?;
        let kept: Vec<&Document> = file.new.iter().zip(&file.kept).filter(|(_, k)| **k).map(|(d, _)| d).collect();
        Some(kept)
    };
    let old = Side::new(plan, |_| None, findings)?;
    let new = Side::new(plan, new_documents, findings)?;
    let locked = sources.iter().filter_map(|(_, number)| files.get(*number)).flat_map(|f| &f.vendored.locked.documents);
    let had = locked.map(|document| document.identity.clone()).collect();
    let left_out = left_out(plan, sources, files);
    let mut sides = Sides { old, new, left_out, had, waits: Waits::default(), miscounted: Vec::new() };
    let (name, path) = (overlay.name.value.clone(), overlay.folder.name.clone());
    let mut told = Judged {
        folder: overlay.folder.path.clone(),
        update: OverlayUpdate { name, path, patches: Vec::new(), stops: Vec::new() },
        patches: Vec::new(),
        stopping: Vec::new(),
        stopped: Vec::new(),
    };
    for scoped in &plan.patches {
        let files = scope(plan, scoped);
        let judged = sides.patch(&scoped.patch, &files);
        told.take(&judged);
        let file = &scoped.patch.source().name;
        if overlay.patches.iter().any(|reference| reference.file.name == *file) {
            told.update.patches.push(judged);
        }
    }
    told.stopped.append(&mut sides.miscounted);
    Some(told)
}

/// The documents that upstream has now and had not, and that the base leaves out.
fn left_out(plan: &Plan, sources: &[(Arc<Source>, usize)], files: &[File]) -> Side {
    let mut side = Side::default();
    for (source, number) in sources {
        let of_plan = plan.files.iter().position(|file| Arc::ptr_eq(file, source));
        let (Some(of_plan), Some(file)) = (of_plan, files.get(*number)) else { continue };
        let had = |document: &Document| file.vendored.locked.documents.iter().any(|d| d.identity == document.identity);
        let new = file.new.iter().zip(&file.kept).filter(|(document, kept)| !**kept && !had(document));
        new.for_each(|(document, _)| side.push(of_plan, document));
    }
    side
}

/// The files whose documents a patch may touch.
fn scope(plan: &Plan, scoped: &Scoped) -> RangeInclusive<usize> {
    let documents = plan.documents.get(scoped.scope.clone()).unwrap_or_default();
    match (documents.first(), documents.last()) {
        (Some(first), Some(last)) => first.file..=last.file,
        // A range that holds nothing.
        _ => RangeInclusive::new(1, 0),
    }
}

struct Sides {
    old: Side,
    new: Side,
    /// What upstream has beside the new side.
    left_out: Side,
    /// What upstream had, left out or not.
    had: Vec<Identity>,
    /// What patches wait for.
    waits: Waits,
    /// The documents that a target means, and not as many as it says.
    miscounted: Vec<String>,
}

impl Sides {
    fn patch(&mut self, patch: &Patch, files: &RangeInclusive<usize>) -> PatchUpdate {
        let (mut operations, mut newly_meant) = (Vec::new(), Vec::new());
        for (number, change) in patch.changes.iter().enumerate() {
            newly_meant.extend(self.newly_meant(change, files));
            operations.extend(self.change(patch, number, change, files));
        }
        newly_meant.dedup();
        let text = |of: &Option<crate::config::Spanned<String>>| of.as_ref().map(|t| t.value.clone());
        PatchUpdate {
            name: patch.name.value.clone(),
            summary: text(&patch.summary).unwrap_or_default(),
            why: text(&patch.why).unwrap_or_default(),
            file: patch.source().name.clone(),
            verdict: operations.iter().map(|o| o.verdict).max().unwrap_or_default(),
            newly_meant,
            operations,
        }
    }

    /// A change on both sides; whatever the verdict, what fits of it is made, for the patches behind it.
    fn change(
        &mut self,
        patch: &Patch,
        number: usize,
        change: &Change,
        files: &RangeInclusive<usize>,
    ) -> Vec<OperationUpdate> {
        let (was, now) = (self.old.meant(files, &change.target), self.new.meant(files, &change.target));
        let mut told = Vec::new();
        let counts = fits(change, now.len());
        if !counts {
            told.push(self.wrong_count(patch, change, files, &was, &now));
            self.miscounted.extend(now.iter().filter_map(|i| self.new.0.get(*i)).map(|r| r.identity.to_string()));
        }
        for (old, new) in self.pairs(&was, &now) {
            let verdicts = match change.effect {
                Effect::Delete => self.delete(patch, change, old, new).into_iter().collect(),
                Effect::Edit { .. } => self.edit(patch, number, old, new),
            };
            if counts {
                told.extend(verdicts);
            }
        }
        told
    }

    /// The documents that a target means now and did not mean, where it means as many as it says.
    fn newly_meant(&self, change: &Change, files: &RangeInclusive<usize>) -> Vec<NewlyMeant> {
        let (was, now) = (self.old.meant(files, &change.target), self.new.meant(files, &change.target));
        if !fits(change, now.len()) {
            return Vec::new();
        }
        let pairs = self.pairs(&was, &now);
        let old = |index: usize| self.old.0.get(index).map(|r| &r.identity);
        let newly = |(before, after): (Option<usize>, Option<usize>)| {
            let identity = &self.new.0.get(after?)?.identity;
            let is_known = |other: &Identity| {
                other == identity || (other.object().is_some() && other.object() == identity.object())
            };
            if was.iter().filter_map(|index| old(*index)).any(is_known) {
                return None;
            }
            let new = !self.had.iter().chain(self.old.0.iter().map(|r| &r.identity)).any(is_known);
            let was = before.and_then(old).map(named);
            Some(NewlyMeant { resource: named(identity), was, new })
        };
        pairs.into_iter().filter_map(newly).collect()
    }

    /// Which resources of the two sides belong together, by their indices.
    fn pairs(&self, was: &[usize], now: &[usize]) -> Vec<(Option<usize>, Option<usize>)> {
        if let ([old], [new]) = (was, now) {
            return vec![(Some(*old), Some(*new))];
        }
        let pairs = diff::pair_documents(&documents(&self.old, was), &documents(&self.new, now), &[]);
        let index = |among: &[usize], at: Option<usize>| at.and_then(|at| among.get(at).copied());
        pairs.into_iter().map(|(old, new)| (index(was, old), index(now, new))).collect()
    }

    fn delete(
        &mut self,
        patch: &Patch,
        change: &Change,
        old: Option<usize>,
        new: Option<usize>,
    ) -> Option<OperationUpdate> {
        let (before, after) = (self.old.take_out(old), self.new.take_out(new));
        let after = after?;
        let differs = before.is_some_and(|before| before.original != after.original);
        let note = differs.then(|| "Upstream changed the document that it deletes.".to_owned());
        Some(OperationUpdate {
            resource: after.identity.to_string(),
            line: patch.place(change.span.clone()).line(),
            notes: note.into_iter().collect(),
            ..OperationUpdate::default()
        })
    }

    fn edit(&mut self, patch: &Patch, number: usize, old: Option<usize>, new: Option<usize>) -> Vec<OperationUpdate> {
        let of_new = new;
        let (old, new) = (old.and_then(|i| self.old.0.get_mut(i)), new.and_then(|i| self.new.0.get_mut(i)));
        let name = |resource: &Option<&mut Resource>| resource.as_ref().map(|r| r.identity.to_string());
        let resource = name(&new).or_else(|| name(&old)).unwrap_or_default();
        let site = Site { patch, change: number, resource: &resource };
        let tried = |resource: &Option<&mut Resource>| resource.as_ref().map(|r| r.attempt(&site));
        let (before, after) = (tried(&old), tried(&new));
        let mut verdicts = match &after {
            Some(after) => judge::change(&site, before.as_ref(), after, old.as_deref(), new.as_deref()),
            None => Vec::new(),
        };
        if let (Some(resource), Some(after)) = (of_new, &after) {
            let tried = before.as_ref().and_then(|outcome| outcome.as_ref().ok());
            let at = Before { resource, old: old.as_deref(), tried, has_text: after.is_ok() };
            self.waits.settle(&site, &at, &mut verdicts);
        }
        for (resource, tried) in [(old, before), (new, after)] {
            if let (Some(resource), Some(Ok(tried))) = (resource, tried) {
                resource.take(tried);
            }
        }
        verdicts
    }

    /// The verdict on a target that does not mean as many documents as it says.
    fn wrong_count(
        &self,
        patch: &Patch,
        change: &Change,
        files: &RangeInclusive<usize>,
        was: &[usize],
        now: &[usize],
    ) -> OperationUpdate {
        let line = patch.place(change.target_span.clone()).line();
        let resource = match was {
            [index] => self.old.0.get(*index).map(|r| r.identity.to_string()),
            _ => None,
        };
        let resource = resource.unwrap_or_else(|| change.target.to_string());
        let told = OperationUpdate { resource, line, ..OperationUpdate::default() };
        let wanted = change.matches;
        // Had it meant the right number before, upstream would have changed that.
        if was.is_empty() || !wanted.allows(was.len()) {
            let message = format!("the target means {} of the locked base, and says {wanted}", as_documents(was.len()));
            let next = "Mend it before the base follows; `overlay verify` tells what is wrong with it now.".to_owned();
            return OperationUpdate { verdict: Verdict::Broken, message, next, ..told };
        }
        if !now.is_empty() {
            let message = format!("the target means {} upstream now, and says {wanted}", as_documents(now.len()));
            let notes = self.telling_apart(&change.target, was, now);
            let next = "Narrow the target, or say with `matches:` how many documents it means.".to_owned();
            return OperationUpdate { verdict: Verdict::Refused, message, notes, next, ..told };
        }
        let new = [&self.new, &self.left_out];
        if matches!(change.effect, Effect::Delete) && near::successors(&self.old, new, files, was).is_empty() {
            let message = "upstream took the document out too; take the deletion out of the patch";
            return OperationUpdate { verdict: Verdict::Overtaken, message: message.to_owned(), ..told };
        }
        let message = "upstream has no document that the target means".to_owned();
        let near = near::targets(&self.old, new, files, was, &change.target);
        let next = match near.len() {
            0 => "Drop the change, or point the target at what takes the document's place.",
            _ => "Point the target there if that is the same thing, or drop the change.",
        };
        OperationUpdate { verdict: Verdict::Gone, message, notes: near, next: next.to_owned(), ..told }
    }

    /// What the target means now, and what would make it mean the one document that it meant.
    fn telling_apart(&self, target: &Target, was: &[usize], now: &[usize]) -> Vec<String> {
        let now: Vec<&Identity> = now.iter().filter_map(|index| self.new.0.get(*index)).map(|r| &r.identity).collect();
        let is_new = |identity: &Identity| self.old.0.iter().all(|r| r.identity != *identity);
        let listed = now.iter().take(MAX_LISTED).map(|identity| {
            format!("It means {}{}.", named(identity), if is_new(identity) { ", new upstream" } else { "" })
        });
        let was = match was {
            [index] => self.old.0.get(*index).map(|r| &r.identity),
            _ => None,
        };
        listed.chain(was.and_then(|was| advice(target, was, &now))).collect()
    }
}

/// Whether a change takes that many documents.
fn fits(change: &Change, count: usize) -> bool {
    count > 0 && change.matches.allows(count)
}

/// A field of an identity.
type Field = fn(&Identity) -> &str;

/// The field that tells the document that a target meant from the others that it means now.
fn advice(target: &Target, was: &Identity, now: &[&Identity]) -> Option<String> {
    let fields: [(&str, bool, Field); 3] = [
        ("namespace", target.namespace.is_some(), |identity| &identity.namespace),
        ("name", target.name.is_some(), |identity| &identity.name),
        ("kind", target.kind.is_some(), |identity| &identity.kind),
    ];
    let alike = |of: Field| now.iter().filter(|other| of(other) == of(was)).count();
    let (field, is_asked, of) = fields.into_iter().find(|(.., of)| alike(*of) == 1)?;
    let value = if of(was).is_empty() { "''" } else { of(was) };
    let verb = if is_asked { "Write" } else { "Add" };
    Some(format!("{verb} `{field}: {value}` in the target to mean {was} alone."))
}

fn documents<'s>(side: &'s Side, indices: &[usize]) -> Vec<diff::Document<'s>> {
    let resources = indices.iter().filter_map(|index| side.0.get(*index));
    resources.map(|r| diff::Document { identity: r.identity.clone(), value: &r.state }).collect()
}
