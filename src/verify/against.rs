//! What `verify --against` says: a file from elsewhere, held against a base and the patches of an overlay.
//!
//! The file need not come from this program, so nothing is said of its bytes: only what it means counts. Lists, as
//! `kubectl get` prints them, are opened on both sides.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use super::attribute::{Claimed, Departure, DocumentProof, Proof, TextEdits, Undocumented, attribute, wanted};
use super::claims::Claim;
use super::overlay::{Overlay, Prover, claims, head, is_said, plain, short, shown_path, text_at, told};
use super::reading::{self, BaseDocument, Hit};
use super::{inner, live};
use crate::config::Findings;
use crate::diag::{Code, Diagnostic, Place, Source};
use crate::diff::{At, Difference, Document, Path, What};
use crate::layer::manifest::{self, Entry};
use crate::report::{self, Against, Missing, OverlayReport};
use crate::resource::{Identity, Target};

/// Holds the text of `file` against an overlay. When `live`, what a server writes into objects is left out.
/// `findings` are those of opening and building the overlay; where they have an error, nothing is held against it.
pub fn report(overlay: &Overlay<'_>, file: &Arc<Source>, live: bool, mut findings: Findings) -> OverlayReport {
    let mut out = head(overlay);
    out.against = Some(Against::new(&file.name));
    let base = reading::base(overlay.plan, &mut findings);
    let held = manifest::read_resources(file, &mut findings);
    if let Some(held) = held.filter(|_| !findings.has_errors()) {
        let mut sides = Sides::new(overlay, &base, file, held);
        let mut prover = Prover { overlay, base: &base, result: &[], findings: &mut findings };
        let claims = sides.claims(&prover);
        if live {
            sides.settle(&claims);
        }
        let documents = sides.proof(&claims).documents;
        let mut holder =
            Holder { prover: &mut prover, parts: &sides.parts, held: &sides.held, file: &sides.file, live };
        for document in &documents {
            holder.document(document, &claims, &mut out);
        }
    }
    out.findings = findings.into_vec();
    if live {
        out.findings = live::secret::masked_findings(std::mem::take(&mut out.findings));
    }
    out
}

/// Whether a difference of a file's document is one that is told: not where an item only stands elsewhere in a list whose
/// order nothing reads.
pub fn departs(_: &Identity, difference: &Difference, _: &Value) -> bool {
    !difference.is_order_alone()
}

/// A file from elsewhere, held against an overlay.
pub(super) struct HeldFile {
    /// The file as it may be shown.
    pub(super) file: Arc<Source>,
    /// Its documents and those of the base.
    pub(super) documents: Vec<Held>,
}

/// What a file says of one document.
pub(super) struct Held {
    /// The document's index in the base; `None` where the base lacks it.
    pub(super) base: Option<usize>,
    /// The way from the base's document to the one that is meant: none, or `items` and an index.
    pub(super) prefix: Vec<String>,
    /// What it is called.
    pub(super) resource: String,
    /// What the file has; `None` where it lacks the document.
    pub(super) entry: Option<Entry>,
    /// What a patch, by its number, explains.
    pub(super) explained: Vec<(usize, Difference, report::Departure)>,
    /// What no patch explains.
    pub(super) undocumented: Vec<(Difference, report::Departure)>,
    /// What a patch, by its number, claims and the file lacks.
    pub(super) missing: Vec<(usize, report::Departure)>,
}

/// The same as data, for whoever shows the file's text. `None` where the file cannot be read.
pub(super) fn held(
    overlay: &Overlay<'_>,
    base: &[BaseDocument<'_>],
    file: &Arc<Source>,
    live: bool,
) -> Option<HeldFile> {
    let findings = &mut Findings::new();
    let mut sides = Sides::new(overlay, base, file, manifest::read_resources(file, findings)?);
    let claims = sides.claims(&Prover { overlay, base, result: &[], findings });
    if live {
        sides.settle(&claims);
    }
    let proof = sides.proof(&claims);
    let is_said: &dyn Fn(&str) -> bool = &|comment| is_said(overlay, base, comment);
    let documents = proof.documents.iter().filter(|document| !live || document.before.is_some());
    let documents = documents.filter_map(|document| sides.held(document, &claims, (live, is_said))).collect();
    Some(HeldFile { documents, file: sides.file })
}

/// A base and a file from elsewhere, opened alike.
struct Sides<'a> {
    base: &'a [BaseDocument<'a>],
    parts: Vec<Part<'a>>,
    held: Vec<Entry>,
    /// The file as it may be shown.
    file: Arc<Source>,
    /// Whether Lists were opened.
    opened: bool,
}

impl<'a> Sides<'a> {
    fn new(overlay: &Overlay<'_>, base: &'a [BaseDocument<'a>], file: &Arc<Source>, held: Vec<Entry>) -> Sides<'a> {
        let opened = !targets_a_list(overlay, base);
        let held = if opened { manifest::flatten(held) } else { held };
        let parts = if opened { open(base) } else { base.iter().map(Part::whole).collect() };
        Sides { base, parts, held, file: Arc::clone(file), opened }
    }

    /// Takes out of the file what a server made of what was applied, and crosses out what is secret in its text.
    fn settle(&mut self, claims: &[Claim]) {
        let wanted = {
            let (base, held) = self.documents();
            wanted(&base, claims, &held)
        };
        for (before, after, wanted) in wanted {
            let (Some(part), Some(entry)) = (self.parts.get(before), self.held.get_mut(after)) else { continue };
            entry.value = live::settled(&part.identity, &wanted, &entry.value);
        }
        self.file = live::secret::masked_text(&self.file, &self.held);
    }

    fn claims(&self, prover: &Prover<'_>) -> Vec<Claim> {
        let plan = prover.overlay.plan;
        if self.opened {
            claims(plan, &|scope, target| hits(&self.parts, scope, target))
        } else {
            claims(plan, &|scope, target| reading::hits(self.base, scope, target))
        }
    }

    fn proof(&self, claims: &[Claim]) -> Proof {
        let (base, held) = self.documents();
        attribute(&base, claims, &held)
    }

    /// Those of the base and those of the file.
    fn documents(&self) -> (Vec<Document<'_>>, Vec<Document<'_>>) {
        let of = |identity: &Identity, value| Document { identity: identity.clone(), value };
        let base = self.parts.iter().map(|part| of(&part.identity, part.value)).collect();
        (base, self.held.iter().map(|entry| of(&entry.identity, &entry.value)).collect())
    }

    fn held(
        &self,
        document: &DocumentProof,
        claims: &[Claim],
        (live, is_said): (bool, &dyn Fn(&str) -> bool),
    ) -> Option<Held> {
        let part = document.before.and_then(|index| self.parts.get(index));
        let entry = document.after.and_then(|index| self.held.get(index));
        let identity = part.map(|p| &p.identity).or(entry.map(|e| &e.identity))?;
        let resource = identity.to_string();
        let sides = (part.map(|part| part.value), entry.map(|entry| &entry.value));
        let told = |difference: &Difference| {
            report::Departure::of(&resource, sides, &shown(identity, sides, difference, live), None)
        };
        let strays = strays(document, sides, is_said);
        let undocumented = document.undocumented.iter().map(|odd| &odd.difference);
        let undocumented = undocumented.filter(|difference| !difference.is_order_alone());
        let undocumented = undocumented.chain(strays.iter().map(|stray| &stray.difference));
        let hidden = |entry: &Entry| {
            let value = if live { live::secret::hidden(identity, &entry.value) } else { entry.value.clone() };
            Entry { value, ..entry.clone() }
        };
        let missing = document.missing.iter().filter(|missing| !missing.difference.is_order_alone());
        let explained = document.departures.iter().filter_map(|departure| {
            let difference = &departure.difference;
            Some((claims.get(departure.claim)?.patch, difference.clone(), told(difference)))
        });
        Some(Held {
            base: part.and_then(|part| self.base.iter().position(|b| b.planned == part.document.planned)),
            prefix: part.map(|part| part.prefix.clone()).unwrap_or_default(),
            entry: entry.map(hidden),
            explained: explained.collect(),
            undocumented: undocumented.map(|difference| (difference.clone(), told(difference))).collect(),
            missing: missing.filter_map(|m| Some((claims.get(m.claim)?.patch, told(&m.difference)))).collect(),
            resource,
        })
    }
}

/// A text that differs in more than what patches claim in it calls for, such as in a comment: what the document holds is
/// another string.
struct Stray {
    /// The whole text on both sides.
    difference: Difference,
    /// The line of the file's text where it begins to differ, from 1.
    line: usize,
}

/// The texts of a document, in base and file, that say what they are to say in other bytes. One in which something else
/// is told is left out.
fn strays(
    document: &DocumentProof,
    sides: (Option<&Value>, Option<&Value>),
    is_said: &dyn Fn(&str) -> bool,
) -> Vec<Stray> {
    let (Some(old), Some(new)) = sides else { return Vec::new() };
    let undocumented = document.undocumented.iter().map(|odd| &odd.difference);
    let told: Vec<_> = undocumented.chain(document.missing.iter().map(|missing| &missing.difference)).collect();
    let is_told = |path: &Path| {
        let lies_in = |d: &Difference| d.within.as_ref().map_or(&d.path, |within| &within.path) == path;
        told.iter().any(|difference| lies_in(difference))
    };
    let texts = document.texts.iter().filter(|text| !is_told(&text.within.path));
    let stray = |TextEdits { within, edits }: &TextEdits| {
        let (before, after) = (within.path.before()?, within.path.after()?);
        let (base, result) = (text_at(old, &before)?, text_at(new, &after)?);
        let at = inner::stray(within.language, base, result, edits, is_said)?;
        let what = What::Replaced { before: base.into(), after: result.into() };
        let line = result.get(..at).map_or(0, |text| text.matches('\n').count()) + 1;
        Some(Stray { difference: Difference { path: within.path.clone(), within: None, what }, line })
    };
    texts.filter_map(stray).collect()
}

/// A difference as it may be shown: of a cluster's answer, without what is secret.
fn shown<'d>(
    identity: &Identity,
    sides: (Option<&Value>, Option<&Value>),
    difference: &'d Difference,
    live: bool,
) -> Cow<'d, Difference> {
    if live { Cow::Owned(live::secret::masked(identity, sides, difference)) } else { Cow::Borrowed(difference) }
}

/// Whether a patch means a List as a whole: then Lists stay Lists.
fn targets_a_list(overlay: &Overlay<'_>, base: &[BaseDocument<'_>]) -> bool {
    let targets = overlay.plan.patches.iter().flat_map(|scoped| &scoped.patch.changes).map(|change| &change.target);
    let lists = base.iter().filter(|document| manifest::is_list(&document.identity));
    let mut lists = lists.map(|list| (&list.identity, &list.loaded.value));
    lists.any(|(identity, value)| targets.clone().any(|target| target.matches(identity, value)))
}

/// A document of the base, or an item of a List.
struct Part<'a> {
    document: &'a BaseDocument<'a>,
    identity: Identity,
    value: &'a Value,
    prefix: Vec<String>,
}

impl<'a> Part<'a> {
    fn whole(document: &'a BaseDocument<'a>) -> Part<'a> {
        Part { document, identity: document.identity.clone(), value: &document.loaded.value, prefix: Vec::new() }
    }

    /// Where it begins in its file.
    fn place(&self, path: &[String]) -> Option<Place> {
        let span = manifest::place_in(&self.document.tree, &[&self.prefix, path].concat())?;
        let start = self.document.start;
        Some(Place::new(self.document.source, start + span.start..start + span.end))
    }
}

fn open<'a>(base: &'a [BaseDocument<'a>]) -> Vec<Part<'a>> {
    let mut parts = Vec::with_capacity(base.len());
    for document in base {
        match document.loaded.value.get("items").and_then(Value::as_array) {
            Some(items) if manifest::is_list(&document.identity) => {
                parts.extend(items.iter().enumerate().map(|(index, value)| Part {
                    document,
                    identity: Identity::of(value),
                    value,
                    prefix: vec!["items".to_owned(), index.to_string()],
                }));
            }
            _ => parts.push(Part::whole(document)),
        }
    }
    parts
}

/// A value that a claim wants where a difference is, as it may be shown.
fn shown_value(
    identity: &Identity,
    sides: (Option<&Value>, Option<&Value>),
    difference: &Difference,
    value: Value,
    live: bool,
) -> Value {
    let wanted = Difference { what: What::Added(value), ..difference.clone() };
    match shown(identity, sides, &wanted, live).into_owned().what {
        What::Added(value) => value,
        _ => Value::Null,
    }
}

/// What names a file on the command line of a later run, which is handed no pipe under the same name.
fn argument(file: &Source) -> &str {
    if file.is_piped() { "-" } else { &file.name }
}

/// What a target means among opened documents.
fn hits(parts: &[Part<'_>], scope: &Range<usize>, target: &Target) -> Vec<Hit> {
    let meant = |part: &Part<'_>| scope.contains(&part.document.planned) && target.matches(&part.identity, part.value);
    let found = parts.iter().enumerate().filter(|(_, part)| meant(part));
    found.map(|(document, _)| Hit { document, item: None }).collect()
}

/// Holds a file against the parts of a base.
struct Holder<'h, 'a> {
    prover: &'h mut Prover<'a>,
    parts: &'h [Part<'h>],
    held: &'h [Entry],
    file: &'h Arc<Source>,
    live: bool,
}

impl Holder<'_, '_> {
    fn document(&mut self, document: &DocumentProof, claims: &[Claim], out: &mut OverlayReport) {
        let part = document.before.and_then(|index| self.parts.get(index));
        let entry = document.after.and_then(|index| self.held.get(index));
        let Some(identity) = part.map(|p| &p.identity).or(entry.map(|e| &e.identity)) else { return };
        if self.live && part.is_none() {
            // Whoever asks a cluster gets what others put there too.
            out.against.iter_mut().for_each(|against| against.others += 1);
            return;
        }
        let resource = identity.to_string();
        let live = self.live;
        let sides = (part.map(|part| part.value), entry.map(|entry| &entry.value));
        let shown = |difference| shown(identity, sides, difference, live);
        for departure in &document.departures {
            let Some(claim) = claims.get(departure.claim) else { continue };
            let note = self.prover.note(claim);
            if let Some(patch) = out.patches.get_mut(claim.patch) {
                patch.departures.push(report::Departure::of(&resource, sides, &shown(&departure.difference), note));
            }
        }
        for odd in document.undocumented.iter().filter(|odd| !odd.difference.is_order_alone()) {
            Self::whole(part.is_some(), entry.is_some(), &resource, out);
            let difference = shown(&odd.difference);
            out.undocumented.push(report::Departure::of(&resource, sides, &difference, None));
            let claimed = odd.claimed.clone().map(|claimed| Claimed {
                wanted: claimed.wanted.map(|value| shown_value(identity, sides, &odd.difference, value, live)),
                ..claimed
            });
            let odd = Undocumented { difference: difference.into_owned(), claimed };
            self.undocumented(claims, &odd, &resource, part, entry);
        }
        let strays = strays(document, sides, &|comment| is_said(self.prover.overlay, self.prover.base, comment));
        for Stray { difference, line } in &strays {
            out.undocumented.push(report::Departure::of(&resource, sides, &shown(difference), None));
            let message = format!("this text is not what base and patches make of it, from its line {line} on");
            let finding = Diagnostic::new(Code::UndocumentedDeparture, message).resource(&resource);
            let finding = self.placed(finding, difference, part, entry);
            let finding = finding
                .note("What it says is the same, but for comments or layout; the cluster keeps the text as it stands.");
            self.prover.findings.add(finding.help(self.way_back(entry)));
        }
        for missing in document.missing.iter().filter(|missing| !missing.difference.is_order_alone()) {
            let difference = shown(&missing.difference).into_owned();
            self.missing(claims, &Departure { difference, ..missing.clone() }, &resource, entry, out);
        }
    }

    /// Lists a document that only one side has.
    fn whole(in_base: bool, in_file: bool, resource: &str, out: &mut OverlayReport) {
        let Some(against) = &mut out.against else { return };
        match (in_base, in_file) {
            (true, false) => against.lacks.push(resource.to_owned()),
            (false, true) => against.adds.push(resource.to_owned()),
            _ => {}
        }
    }

    fn undocumented(
        &mut self,
        claims: &[Claim],
        odd: &Undocumented,
        resource: &str,
        part: Option<&Part<'_>>,
        entry: Option<&Entry>,
    ) {
        let file = &self.file.name;
        let message = match (part, entry) {
            (Some(_), None) => format!("{file} lacks this document, and no patch takes it out"),
            (None, Some(_)) => format!("{file} has a document that neither base nor overlay has"),
            _ => format!("no patch claims this difference: {}", told(&odd.difference)),
        };
        let mut finding = Diagnostic::new(Code::UndocumentedDeparture, message).resource(resource);
        finding = self.placed(finding, &odd.difference, part, entry);
        if let Some(field) = field_of_texts(&Identity::of(entry.map_or(&Value::Null, |e| &e.value)), &odd.difference) {
            finding = finding.note(format!("`{field}` holds texts alone: a cluster refuses this. Quote it."));
        }
        let claimed = odd.claimed.as_ref().and_then(|c| Some((c, self.prover.place_of(claims.get(c.claim)?)?)));
        if let Some((claimed, (patch, place))) = claimed {
            let name = &patch.name.value;
            let wanted = claimed.wanted.as_ref().map_or_else(|| "nothing".to_owned(), short);
            let note = format!("The patch {name} wants {wanted} there.");
            let origin = self.origin();
            let help = format!("Let the patch {name} say what {origin} says, or bring {origin} in line with it.");
            finding = finding.note(note).related(place, "claimed here").patch(name).help(help);
            return self.prover.findings.add(finding);
        }
        if part.is_none() && self.is_left_out(entry) {
            finding = finding.note("Upstream has this document, and `keep` of the base leaves it out.");
        }
        self.prover.findings.add(finding.help(self.way_back(entry)));
    }

    /// A finding about a difference, where it stands in the file or else in the base.
    fn placed(
        &self,
        mut finding: Diagnostic,
        difference: &Difference,
        part: Option<&Part<'_>>,
        entry: Option<&Entry>,
    ) -> Diagnostic {
        if difference.path.last().is_some() || difference.within.is_some() {
            finding = finding.path(shown_path(difference));
        }
        let place = entry.and_then(|entry| entry.place(self.file, &place_after(difference)));
        let base_place = part.and_then(|part| part.place(&place_before(difference)));
        match (place, base_place) {
            (Some(place), _) => finding.at(place, "here in the file"),
            (None, Some(place)) => finding.at(place, part.map_or("", |part| self.prover.whose(part.document.planned))),
            (None, None) => finding,
        }
    }

    /// What to do about a difference that no patch claims.
    fn way_back(&self, entry: Option<&Entry>) -> String {
        let (file, argument, folder) = (self.origin(), argument(self.file), self.prover.overlay.folder);
        let live = match (self.live, entry) {
            (true, None) => " --live --delete-missing",
            (true, Some(entry)) if entry.identity.is_secret() => " --live --with-secrets",
            (true, Some(_)) => " --live",
            (false, _) => "",
        };
        let back = if entry.is_none() { format!("Put it back into {file}") } else { format!("Take it back in {file}") };
        format!("{back}, write a patch for it, or let `overlay adopt {argument} --into {folder}{live}` write one.")
    }

    /// Where what is held can be changed.
    fn origin(&self) -> &str {
        match (self.live, self.file.is_piped()) {
            (true, _) => "the cluster",
            (false, true) => "what was handed over",
            (false, false) => &self.file.name,
        }
    }

    fn is_left_out(&self, entry: Option<&Entry>) -> bool {
        let mut locked = self.prover.overlay.plan.vendored_files().flat_map(|f| &f.locked.documents);
        entry.is_some_and(|entry| locked.any(|d| !d.kept && d.identity == entry.identity))
    }

    fn missing(
        &mut self,
        claims: &[Claim],
        missing: &Departure,
        resource: &str,
        entry: Option<&Entry>,
        out: &mut OverlayReport,
    ) {
        let Some(claim) = claims.get(missing.claim) else { return };
        let file = &self.file.name;
        let message = format!("{file} lacks what this claims: {}", told(&missing.difference));
        let mut finding = self
            .prover
            .at_claim(claim, Code::ClaimMissing, message, "claimed here")
            .resource(resource)
            .path(shown_path(&missing.difference))
            .help(format!(
                "Make the change in {} too, or take the operation out if it is no longer wanted.",
                self.origin()
            ));
        if let Some(place) = entry.and_then(|entry| entry.place(self.file, &place_before(&missing.difference))) {
            finding = finding.related(place, "not so here");
        }
        let patch = finding.patch.clone().unwrap_or_default();
        self.prover.findings.add(finding);
        if let Some(against) = &mut out.against {
            let departure = report::Departure::new(resource, &missing.difference, None);
            against.missing.push(Missing { patch, departure });
        }
    }
}

/// The field of texts that a difference puts something else into: labels, annotations, what a `ConfigMap` or a Secret holds.
/// `null` is as good as absent.
fn field_of_texts(identity: &Identity, difference: &Difference) -> Option<&'static str> {
    let (What::Added(new) | What::Replaced { after: new, .. }) = &difference.what else { return None };
    let holds: &[&str] = match identity.kind.as_str() {
        "ConfigMap" if identity.group.is_empty() => &["data", "binaryData"],
        "Secret" if identity.group.is_empty() => &["data", "stringData"],
        _ => &[],
    };
    let path = difference.within.is_none().then(|| difference.path.to_string())?;
    let is_no_text = |value: &Value| !value.is_null() && !value.is_string();
    let is_wrong_in = |field: &str| match path.strip_prefix('/')?.strip_prefix(field)? {
        "" => new.as_object().map(|map| map.values().any(is_no_text)),
        below => Some(below.starts_with('/') && !below[1..].contains('/') && is_no_text(new)),
    };
    let mut fields = ["metadata/labels", "metadata/annotations"].into_iter().chain(holds.iter().copied());
    fields.find(|field| is_wrong_in(field) == Some(true))
}

/// The way to a difference in the document after, as far as it leads there; to the text that it lies in, if it does.
pub(super) fn place_after(difference: &Difference) -> Vec<String> {
    leads(difference, |item| item.after)
}

/// The way to a difference in the document before, as far as it leads there.
fn place_before(difference: &Difference) -> Vec<String> {
    leads(difference, |item| item.before)
}

fn leads(difference: &Difference, index: impl Fn(&crate::diff::Item) -> Option<usize>) -> Vec<String> {
    let path = difference.within.as_ref().map_or(&difference.path, |within| &within.path);
    let at = path.steps().into_iter().map_while(|step| match step {
        crate::diff::Step::Key(key) => Some(At::Key(key)),
        crate::diff::Step::Item(item) => index(item).map(At::Index),
    });
    plain(&at.collect::<Vec<_>>())
}
