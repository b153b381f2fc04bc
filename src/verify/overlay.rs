//! What `verify` says of one overlay, as a report: its bases, its patches, and the proof of its result.
//!
//! The result comes in as text, from whoever built it, and is read afresh.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use super::attribute::{Departure, DocumentProof, Proof, Standing, TextEdits, Undocumented, attribute};
use super::base::{self, Read};
use super::beside;
use super::bytes::{self, Marked};
use super::claims::{Act, Claim};
use super::extent::{self, Extents, Side};
use super::images::{self, Writer};
use super::{inner, lines, patches, reading, release};
use crate::config::{Date, Findings};
use crate::diag::visible::{lightly_quoted, shortened};
use crate::diag::{Code, Diagnostic, Place, Severity, Source};
use crate::diff::{At, Difference, Document, What, keyed};
use crate::layer::base::{Base, Origin};
use crate::layer::check;
use crate::layer::lock::Layout;
use crate::layer::overlay::Layer;
use crate::layer::plan::{Plan, Planned};
use crate::patch::Patch;
use crate::patch::model::{Effect, Op, Operation, Upstream};
use crate::patch::path::Path;
use crate::report::{self, Added, BaseReport, BaseState, Documents, OverlayReport, PatchReport};
use crate::resource::Target;
use crate::resource::images::{Image, images as images_of};
use crate::yaml::load;
use reading::{BaseDocument, Hit, ResultDocument};

/// What is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Overlay<'a> {
    /// The folder, as reports name it.
    pub folder: &'a str,
    /// The overlay and the layers below it.
    pub layer: &'a Layer,
    /// Its documents and patches.
    pub plan: &'a Plan,
    /// The paths of images that it lists.
    pub images: &'a [Vec<String>],
    /// The day on which it is looked at.
    pub today: Date,
}

/// Looks at everything: the bases, the patches, and, where there is one, the result. `findings` are those of opening
/// and building it.
pub fn report(overlay: &Overlay<'_>, result: Option<&str>, mut findings: Findings) -> OverlayReport {
    let mut out = head(overlay);
    out.unbuilt = result.is_none();
    let base = reading::base(overlay.plan, &mut findings);
    bases(overlay, &base, &mut findings);
    for scoped in &overlay.plan.patches {
        patches::check(&scoped.patch, overlay.today, &mut findings);
    }
    if let Some(result) = result {
        let source = Source::new(format!("the result of {}", overlay.folder), result);
        if let Some(documents) = reading::result(&source, &base, &mut findings) {
            let mut prover = Prover { overlay, base: &base, result: &documents, findings: &mut findings };
            prover.prove(result, &mut out);
            out.settle_added();
        }
    }
    out.findings = findings.into_vec();
    out
}

/// The lines that one departure stands on, or a document that an overlay adds.
#[derive(Clone, Debug)]
pub struct Touch {
    /// Whose they are: the patch's name, or where the document is added from.
    pub owner: String,
    /// The resource that it is a departure of.
    pub resource: String,
    /// In what upstream has, as bytes of whole lines; none where something is new.
    pub before: Vec<Range<usize>>,
    /// In the result; none where something is gone.
    pub after: Vec<Range<usize>>,
}

impl Touch {
    /// It, as a diff takes it.
    pub fn owned(&self) -> report::Owned<'_> {
        report::Owned { owner: &self.owner, resource: &self.resource, before: &self.before, after: &self.after }
    }
}

/// Hands over what is proven of a result, and the result as a source. What is wrong is told elsewhere. `None` where the
/// result cannot be read.
pub(super) fn proven<R>(
    overlay: &Overlay<'_>,
    result: &str,
    take: impl FnOnce(&Prover<'_>, &[Claim], &Proof, &Arc<Source>) -> R,
) -> Option<R> {
    let findings = &mut Findings::new();
    let base = reading::base(overlay.plan, findings);
    let source = Source::new(format!("the result of {}", overlay.folder), result);
    let documents = reading::result(&source, &base, findings)?;
    let prover = Prover { overlay, base: &base, result: &documents, findings };
    let claims = prover.claims();
    let proof = prover.attribute(&claims);
    Some(take(&prover, &claims, &proof, &source))
}

/// Which lines of what upstream has and of the result are whose. `None` where the result cannot be read.
pub fn touches(overlay: &Overlay<'_>, result: &str) -> Option<Vec<Touch>> {
    let (_, starts) = overlay.plan.upstream();
    proven(overlay, result, |prover, claims, proof, _| {
        proof.documents.iter().flat_map(|document| touches_of(prover, &starts, claims, document)).collect()
    })
}

fn touches_of(prover: &Prover<'_>, starts: &[usize], claims: &[Claim], document: &DocumentProof) -> Vec<Touch> {
    let name = prover.name(document.before, document.after);
    let base = document.before.and_then(|index| prover.base.get(index));
    let result = document.after.and_then(|index| prover.result.get(index));
    let base_start = base.and_then(|base| starts.get(base.planned)).copied().unwrap_or_default();
    let result_start = result.map_or(0, |result| result.start);
    let added_from = prover.added_from(document);
    let mut touches = Vec::new();
    if let Some((file, result)) = added_from.zip(result) {
        let whole = result.start..result.start + result.text.len();
        let owner = format!("added from {file}");
        touches.push(Touch { owner, resource: name.clone(), before: Vec::new(), after: vec![whole] });
    }
    let told = &mut prover.told(document);
    for departure in &document.departures {
        let difference = &departure.difference;
        let lines = lines::of(prover, starts, document, difference, claims.get(departure.claim), told);
        let before = if added_from.is_some() { Vec::new() } else { lines::moved(lines.base, base_start) };
        let after = lines::moved(lines.result, result_start);
        let resource = prover.departure(document, &name, difference, None).resource;
        let all = std::iter::once(&departure.claim).chain(&departure.with).filter_map(|at| claims.get(*at));
        touches.extend(all.filter_map(|claim| prover.operation(claim)).map(|(patch, _)| Touch {
            owner: patch.name.value.clone(),
            resource: resource.clone(),
            before: before.clone(),
            after: after.clone(),
        }));
    }
    touches
}

/// What is known without reading a document.
pub(super) fn head(overlay: &Overlay<'_>) -> OverlayReport {
    let (name, description) = match overlay.layer {
        Layer::Overlay(o, _) => (o.name.value.clone(), o.description.clone()),
        Layer::Base(b) => (b.base.name.value.clone(), b.base.description.clone()),
        Layer::Stream(s) => (s.name.clone(), None),
    };
    let locked = overlay.plan.vendored_files().flat_map(|file| &file.locked.documents);
    let (kept, left_out): (Vec<_>, Vec<_>) = locked.partition(|d| d.kept);
    let names = |of: Vec<&crate::layer::lock::LockedDocument>| -> Vec<String> {
        of.iter().map(|d| d.identity.to_string()).collect()
    };
    let mut bases: Vec<BaseReport> = overlay
        .layer
        .bases()
        .into_iter()
        .zip(&overlay.plan.vendored)
        .map(|(b, v)| base_report(b, v.as_deref()))
        .collect();
    let mut kept = names(kept);
    if let Some(stream) = overlay.layer.stream() {
        bases.push(handed_over(stream));
        kept.extend(overlay.plan.documents_of(stream).map(ToString::to_string));
    }
    OverlayReport {
        path: overlay.folder.to_owned(),
        name,
        description: description.unwrap_or_default(),
        bases,
        documents: Documents { kept, left_out: names(left_out), added: added(overlay.plan) },
        patches: overlay.plan.patches.iter().map(|scoped| patch_report(&scoped.patch)).collect(),
        unbuilt: false,
        undocumented: Vec::new(),
        against: None,
        rendered: None,
        findings: Vec::new(),
    }
}

/// The documents that overlays add, and where they stand.
fn added(plan: &Plan) -> Vec<Added> {
    let own = plan.documents.iter().filter(|document| plan.is_resource(document));
    let added = |document: &Planned| {
        let resource = document.identity.as_ref()?.to_string();
        Some(Added { resource, file: plan.files.get(document.file)?.name.clone() })
    };
    own.filter_map(added).collect()
}

fn base_report(base: &Base, vendored: Option<&[check::VendoredFile]>) -> BaseReport {
    let state = match vendored {
        None => BaseState::Changed,
        Some(files) if files.iter().any(|f| f.locked.vendored.layout == Layout::Accepted) => BaseState::LayoutAccepted,
        Some(_) => BaseState::AsLocked,
    };
    let source = match &base.origin {
        Origin::GitHub { repository, revision } => {
            format!("{repository} at {}", revision.commit.as_deref().unwrap_or("no commit"))
        }
        Origin::Release { repository, release } => format!("{repository}, release {release}"),
        Origin::Git { url, revision } => format!("{url} at {}", revision.commit.as_deref().unwrap_or("no commit")),
        Origin::Url | Origin::File => {
            base.files.iter().filter_map(|f| base.origin.address(f)).collect::<Vec<_>>().join(", ")
        }
    };
    let file = |file: &check::VendoredFile| report::BaseFile {
        file: file.locked.vendored.name.clone(),
        sha256: file.locked.vendored.sha256.clone(),
    };
    let files = vendored.into_iter().flatten().map(file).collect();
    let (name, path, license) = (base.name.value.clone(), base.folder.name.clone(), base.license.clone());
    BaseReport { name, path, source, license, state, files }
}

fn handed_over(stream: &Source) -> BaseReport {
    let (path, source) = (String::new(), String::new());
    let (license, state) = (None, BaseState::HandedOver);
    BaseReport { name: stream.name.clone(), path, source, license, state, files: Vec::new() }
}

fn patch_report(patch: &Patch) -> PatchReport {
    let text = |field: &Option<crate::config::Spanned<String>>| {
        field.as_ref().map(|f| f.value.trim_end().to_owned()).unwrap_or_default()
    };
    PatchReport {
        name: patch.name.value.clone(),
        summary: text(&patch.summary),
        why: text(&patch.why),
        file: patch.source().name.clone(),
        evidence: patch.evidence.iter().map(|e| e.value.clone()).collect(),
        verified: patch.verified.as_ref().map(|d| d.value.to_string()),
        review: patch.review.as_ref().map(|d| d.value.to_string()),
        upstream: patch.upstream.as_ref().map(|u| match &u.value {
            Upstream::NotNeeded => "not-needed".to_owned(),
            Upstream::NotYet => "not-yet".to_owned(),
            Upstream::Address(address) => address.clone(),
        }),
        departures: Vec::new(),
    }
}

/// Holds the bases' documents against the lock, and says what is odd about them.
fn bases(overlay: &Overlay<'_>, documents: &[BaseDocument<'_>], findings: &mut Findings) {
    for (base, files) in overlay.layer.bases().into_iter().zip(&overlay.plan.vendored) {
        let Some(files) = files else { continue };
        let locked: Vec<&str> =
            files.iter().flat_map(|f| &f.locked.documents).filter(|d| d.kept).map(|d| d.content.as_str()).collect();
        let sources: Vec<&Arc<Source>> = files.iter().map(|f| &f.source).collect();
        let found: Vec<String> = documents
            .iter()
            .filter(|d| sources.iter().any(|s| Arc::ptr_eq(s, d.source)))
            .map(|d| crate::layer::digest::content(&d.loaded.value))
            .collect();
        if locked != found {
            check::contents(base, files, findings);
        }
    }
    let read: Vec<Read<'_>> = documents.iter().map(BaseDocument::as_read).collect();
    for document in &read {
        base::check(document, findings);
    }
    base::ambiguous_scalars(&read, findings);
    let planned = |document: &BaseDocument<'_>| overlay.plan.documents.get(document.planned);
    let share = |a: usize, b: usize| {
        let of = |index: usize| documents.get(index).and_then(planned);
        of(a).zip(of(b)).is_some_and(|(a, b)| overlay.plan.share_a_base(a, b))
    };
    base::duplicate_documents(&read, share, findings);
}

/// Proves a result.
pub(super) struct Prover<'a> {
    pub(super) overlay: &'a Overlay<'a>,
    pub(super) base: &'a [BaseDocument<'a>],
    pub(super) result: &'a [ResultDocument],
    pub(super) findings: &'a mut Findings,
}

impl Prover<'_> {
    fn prove(&mut self, text: &str, out: &mut OverlayReport) {
        let claims = self.claims();
        let proof = self.attribute(&claims);
        for document in &proof.documents {
            let resource = self.name(document.before, document.after);
            for departure in &document.departures {
                self.comment_kept(&claims, departure, document.before, document.after);
                let Some(claim) = claims.get(departure.claim) else { continue };
                let note = self.note(claim);
                if let Some(patch) = out.patches.get_mut(claim.patch) {
                    patch.departures.push(self.departure(document, &resource, &departure.difference, note));
                }
            }
            for odd in &document.undocumented {
                out.undocumented.push(self.departure(document, &resource, &odd.difference, None));
                self.undocumented(&claims, odd, &resource, document.before);
            }
            for missing in &document.missing {
                self.missing(&claims, missing, &resource);
            }
        }
        self.bytes(text, &proof);
        self.standings(&claims, &proof);
        self.overrides(&claims, &proof);
        self.images(&claims, &proof);
    }

    /// A difference as the report tells it: of an item of a List, under the item's own name.
    pub(super) fn departure(
        &self,
        document: &DocumentProof,
        resource: &str,
        difference: &Difference,
        note: Option<String>,
    ) -> report::Departure {
        let before = document.before.and_then(|index| self.base.get(index)).map(|d| &d.loaded.value);
        let after = document.after.and_then(|index| self.result.get(index)).map(|d| &d.loaded.value);
        report::Departure::of(resource, (before, after), difference, note)
    }

    fn images(&mut self, claims: &[Claim], proof: &Proof) {
        let mut found = Findings::new();
        let released = release::released(&self.overlay.layer.bases());
        for document in &proof.documents {
            let Some(result) = document.after.and_then(|index| self.result.get(index)) else { continue };
            let resource = self.name(document.before, document.after);
            let writer = |image: &Image<'_>| self.writer(claims, document, &result.loaded.value, image);
            images::check(&resource, &result.loaded.value, self.overlay.images, writer, &mut found);
            release::check(&released, &resource, result, self.overlay.images, writer, &mut found);
        }
        let base = self.base.iter().map(|document| (document.identity.to_string(), &document.loaded.value));
        let result = self.result.iter().map(|document| (document.identity.to_string(), &document.loaded.value));
        images::check_listed(self.overlay.layer, &base.chain(result).collect::<Vec<_>>(), &mut found);
        self.findings.extend(found.into_vec());
    }

    /// Who wrote the name of an image of a document: the patch whose departure it lies in, or the base.
    fn writer(&self, claims: &[Claim], document: &DocumentProof, value: &Value, image: &Image<'_>) -> Option<Writer> {
        let leads = |d: &&Departure| {
            let after = d.difference.path.after().map(|path| plain(&path));
            d.difference.within.is_none() && after.is_some_and(|path| image.path.starts_with(&path))
        };
        let departures = document.departures.iter().filter(leads);
        let innermost = departures.max_by_key(|d| d.difference.path.steps().len());
        if let Some((patch, operation)) = innermost.and_then(|d| self.operation(claims.get(d.claim)?)) {
            let operation = operation?;
            let place = patch.place_of_text(operation, image.name);
            return Some(Writer { place, patch: Some(patch.name.value.clone()), unpins: operation.unpin });
        }
        let base = self.base.get(document.before?)?;
        let of_name = |found: &Image<'_>| found.name == image.name;
        let found: Vec<Image<'_>> =
            images_of(&base.loaded.value, &[], self.overlay.images).into_iter().filter(of_name).collect();
        let (wanted, _) = keyed(value, &image.path);
        let same = found.iter().find(|found| keyed(&base.loaded.value, &found.path).0 == wanted);
        let node = base.tree.node(load::find(&base.tree, &same.or(found.first())?.path)?);
        let place = Place::new(base.source, base.start + node.span.start..base.start + node.span.end);
        Some(Writer { place, patch: None, unpins: false })
    }

    /// What is said at a place of a document: whose file it is in.
    pub(super) fn whose(&self, planned: usize) -> &'static str {
        let is_added = self.overlay.plan.added_from(planned).is_some();
        if is_added { "here in what the overlay adds" } else { "here in the base" }
    }

    /// The file that an overlay adds a document from; `None` for a document of a base.
    pub(super) fn added_from(&self, document: &DocumentProof) -> Option<&str> {
        self.overlay.plan.added_from(self.base.get(document.before?)?.planned)
    }

    pub(super) fn attribute(&self, claims: &[Claim]) -> Proof {
        let base: Vec<Document<'_>> =
            self.base.iter().map(|d| Document { identity: d.identity.clone(), value: &d.loaded.value }).collect();
        let result: Vec<Document<'_>> =
            self.result.iter().map(|d| Document { identity: d.identity.clone(), value: &d.loaded.value }).collect();
        attribute(&base, claims, &result)
    }

    pub(super) fn name(&self, before: Option<usize>, after: Option<usize>) -> String {
        let base = before.and_then(|i| self.base.get(i)).map(|d| &d.identity);
        let identity = base.or_else(|| after.and_then(|i| self.result.get(i)).map(|d| &d.identity));
        identity.map(ToString::to_string).unwrap_or_default()
    }

    /// What the patches claim, target by target.
    pub(super) fn claims(&self) -> Vec<Claim> {
        claims(self.overlay.plan, &|scope, target| reading::hits(self.base, scope, target))
    }

    /// What the operation of a claim says of its place.
    pub(super) fn note(&self, claim: &Claim) -> Option<String> {
        let (_, operation) = self.operation(claim)?;
        operation?.note.as_ref().map(|note| note.value.clone())
    }

    /// The patch of a claim, and the operation if it has one.
    pub(super) fn operation(&self, claim: &Claim) -> Option<(&Patch, Option<&Operation>)> {
        let patch = self.overlay.plan.patches.get(claim.patch).map(|s| s.patch.as_ref())?;
        let operation = patch.changes.get(claim.change).and_then(|c| c.operations().get(claim.operation));
        Some((patch, operation))
    }

    /// A finding at the operation of a claim.
    pub(super) fn at_claim(&self, claim: &Claim, code: Code, message: String, label: &str) -> Diagnostic {
        let finding = Diagnostic::new(code, message);
        match self.place_of(claim) {
            Some((patch, place)) => finding.at(place, label).patch(&patch.name.value),
            None => finding,
        }
    }

    pub(super) fn place_of(&self, claim: &Claim) -> Option<(&Patch, Place)> {
        let (patch, operation) = self.operation(claim)?;
        let span = operation
            .map(|o| o.path.span.clone())
            .or_else(|| patch.changes.get(claim.change).map(|c| c.target_span.clone()))?;
        Some((patch, patch.place(span)))
    }

    fn undocumented(&mut self, claims: &[Claim], odd: &Undocumented, resource: &str, before: Option<usize>) {
        let path = shown_path(&odd.difference);
        let mut finding = Diagnostic::new(
            Code::UndocumentedDeparture,
            format!("no patch claims this difference: {}", told(&odd.difference)),
        )
        .resource(resource)
        .path(path)
        .help("Write a patch for it, or take the change back.");
        if let Some(place) = self.base_place(&odd.difference, before) {
            let planned = before.and_then(|index| self.base.get(index)).map(|document| document.planned);
            finding = finding.at(place, planned.map_or("", |planned| self.whose(planned)));
        }
        if let Some((claimed, (patch, place))) =
            odd.claimed.as_ref().and_then(|c| Some((c, self.place_of(claims.get(c.claim)?)?)))
        {
            let wanted = claimed.wanted.as_ref().map_or_else(|| "nothing".to_owned(), short);
            finding = finding
                .note(format!("The patch {} wants {wanted} there.", patch.name.value))
                .related(place, "claimed here");
        }
        self.findings.add(finding);
    }

    fn missing(&mut self, claims: &[Claim], missing: &Departure, resource: &str) {
        let Some(claim) = claims.get(missing.claim) else { return };
        let message = format!("this claim does not show: {}", told(&missing.difference));
        let finding = self
            .at_claim(claim, Code::ClaimMissing, message, "claimed here")
            .resource(resource)
            .path(shown_path(&missing.difference))
            .help("Build anew, or take the operation out if it is no longer wanted.");
        self.findings.add(finding);
    }

    /// Where a difference lies in the base's file.
    fn base_place(&self, difference: &Difference, before: Option<usize>) -> Option<Place> {
        let document = self.base.get(before?)?;
        let path = difference.within.as_ref().map_or(&difference.path, |w| &w.path).before()?;
        let node = document.tree.node(load::find(&document.tree, &plain(&path))?);
        let span = document.start + node.span.start..document.start + node.span.end;
        Some(Place::new(document.source, span))
    }

    /// The lines of a difference, in bytes of the whole base and of the whole result. `starts` says where the plan's
    /// documents begin in the base. A claim that replaces something has all the lines of that, however small the difference.
    pub(super) fn extents(
        &self,
        starts: &[usize],
        document: &DocumentProof,
        difference: &Difference,
        claim: Option<&Claim>,
        told: &mut extent::Told,
    ) -> Extents {
        let old = document.before.and_then(|i| self.base.get(i));
        let new = document.after.and_then(|i| self.result.get(i));
        let Some(old) = old else { return Extents::default() };
        let start = starts.get(old.planned).copied().unwrap_or_default();
        let Some(new) = new else {
            let own = old.own.start + start..old.own.end + start;
            return Extents { before: Vec::from([own]), ..Extents::default() };
        };
        let sides = (Side { text: old.text, tree: &old.tree }, Side { text: &new.text, tree: &new.tree });
        let rewritten = match claim {
            Some(Claim { act: Act::Replace { path, .. }, within: None, .. }) => Some(path.segments().len()),
            _ => None,
        };
        let mut extents = extent::of_edit(difference, rewritten, sides.0, sides.1, told);
        if claim.is_none() && document.edits.entered.contains(&difference.path) {
            extent::keep_header(&mut extents, &difference.path, sides.0, sides.1);
        }
        let shift = |lines: &mut Vec<Range<usize>>, by: usize| {
            for line in lines {
                *line = line.start + by..line.end + by;
            }
        };
        for lines in [&mut extents.before, &mut extents.near_before, &mut extents.loose] {
            shift(lines, start);
        }
        for at in extents.freed.iter_mut().chain(&mut extents.gone) {
            *at += start;
        }
        extents.ends.iter_mut().for_each(|at| *at += new.start);
        for lines in [&mut extents.after, &mut extents.near_after] {
            shift(lines, new.start);
        }
        extents
    }

    /// What the extents of a document's differences have to know of each other.
    pub(super) fn told(&self, document: &DocumentProof) -> extent::Told {
        let old = document.before.and_then(|index| self.base.get(index));
        let side = old.map(|old| Side { text: old.text, tree: &old.tree });
        side.map(|side| extent::Told::of(&document.edits, side)).unwrap_or_default()
    }

    /// Outside the lines of what patches take out and bring, base and result must be the same bytes. Of the base, the
    /// documents are left out that the result does not have.
    fn bytes(&mut self, result: &str, proof: &Proof) {
        let gone = proof.documents.iter().filter(|document| document.after.is_none());
        let gone: HashSet<usize> = gone.filter_map(|d| Some(self.base.get(d.before?)?.planned)).collect();
        let (base, starts) = self.overlay.plan.unpatched_without(|number| gone.contains(&number));
        let mut old = Marked { text: &base, ..Marked::default() };
        let mut new = Marked { text: result, ..Marked::default() };
        let mut torn = Vec::new();
        for document in proof.documents.iter().filter(|document| document.after.is_some()) {
            let told = &mut self.told(document);
            for place in document.edits.places.iter().chain(document.undocumented.iter().map(|odd| &odd.difference)) {
                let extents = self.extents(&starts, document, place, None, told);
                old.departing.extend(extents.before);
                old.near.extend(extents.near_before);
                old.loose.extend(extents.loose);
                old.freed.extend(extents.freed);
                old.gone.extend(extents.gone);
                let is_torn = document.edits.torn.contains(&place.path);
                torn.extend(extents.ends.iter().filter(|_| is_torn));
                new.departing.extend(extents.after);
                new.near.extend(extents.near_after);
            }
        }
        new.needs_end = self.may_end_otherwise(proof);
        new.loose = beside::left_over(&new, &torn, &|comment| is_said(self.overlay, self.base, comment));
        if let Some(stray) = bytes::compare(old, new) {
            self.stray_bytes(result, stray.after);
        }
        for document in &proof.documents {
            if let Some(at) = self.stray_in_texts(document) {
                self.stray_bytes(result, at);
            }
        }
    }

    /// The byte of the result where a text stands that differs in more than its departures call for. What a patch wrote
    /// anew is laid out as that patch has it.
    fn stray_in_texts(&self, document: &DocumentProof) -> Option<usize> {
        let old = self.base.get(document.before?)?;
        let new = self.result.get(document.after?)?;
        document.texts.iter().find_map(|TextEdits { within, edits }| {
            let (before, after) = (within.path.before()?, within.path.after()?);
            let (base, result) = (text_at(&old.loaded.value, &before)?, text_at(&new.loaded.value, &after)?);
            inner::stray(within.language, base, result, edits, &|comment| is_said(self.overlay, self.base, comment))?;
            Some(new.start + new.tree.node(load::find(&new.tree, &plain(&after))?).span.start)
        })
    }

    /// Whether the last document is another than the base's last, or a block scalar may need a final line break: then one may
    /// come or go.
    fn may_end_otherwise(&self, proof: &Proof) -> bool {
        let (Some(old), Some(new)) = (self.base.last(), self.result.last()) else { return true };
        let last = (self.base.len() - 1, self.result.len() - 1);
        let is_pair =
            proof.documents.iter().any(|document| (document.before, document.after) == (Some(last.0), Some(last.1)));
        let may_need_it = extent::may_need_its_end(Side { text: old.text, tree: &old.tree })
            || extent::may_need_its_end(Side { text: &new.text, tree: &new.tree });
        !is_pair || may_need_it
    }

    fn stray_bytes(&mut self, result: &str, at: usize) {
        let shown = Source::new(format!("the result of {}", self.overlay.folder), result);
        let finding = Diagnostic::new(Code::UndocumentedDeparture, "these bytes differ from upstream's, and no patch touches them")
            .at(Place::new(&shown, at..at), "not as upstream has it")
            .help("This is a mistake in overlay: a build touches only what patches name. Please report it with the base and the patches.");
        self.findings.add(finding);
    }

    fn standings(&mut self, claims: &[Claim], proof: &Proof) {
        let mut told = HashSet::new();
        for (claim, standing) in claims.iter().zip(&proof.standings) {
            let finding = match standing {
                Standing::AlreadyUpstream | Standing::Repeats(_) | Standing::Idle => {
                    let message = "this operation changes nothing in the end".to_owned();
                    self.at_claim(claim, Code::AlreadyUpstream, message, "nothing comes of this")
                        .help("Take the operation out, or the patch if nothing else is in it.")
                }
                Standing::Misfit(why) => self
                    .at_claim(
                        claim,
                        Code::Internal,
                        format!("the proof cannot follow this operation: {why}"),
                        "this one",
                    )
                    .help("This is a mistake in overlay. Please report it with the base and the patches."),
                Standing::Shown | Standing::Missing | Standing::Overridden(_) | Standing::Undoes(_) => continue,
            };
            let place = (claim.patch, claim.change, claim.operation);
            if told.insert(place) && !self.is_told(&finding) {
                self.findings.add(finding);
            }
        }
    }

    /// Whether the build said the same of the same place.
    fn is_told(&self, finding: &Diagnostic) -> bool {
        let at = |d: &Diagnostic| d.place.as_ref().map(|p| (p.source.name.clone(), p.span.start));
        self.findings.iter().any(|d| d.code == finding.code && at(d) == at(finding))
    }

    fn overrides(&mut self, claims: &[Claim], proof: &Proof) {
        let mut told = HashSet::new();
        let layers = self.overlay.layer.of_patches();
        for over in &proof.overrides {
            let (Some(earlier), Some(later)) = (claims.get(over.claim), claims.get(over.by)) else { continue };
            let key = |c: &Claim| (c.patch, c.change, c.operation);
            if !told.insert((key(earlier), key(later))) {
                continue;
            }
            let Some((later_patch, later_place)) = self.place_of(later) else { continue };
            let message = if earlier.patch == later.patch {
                "a later operation of the same patch writes the same place".to_owned()
            } else {
                format!("the patch `{}` changes the same place later", later_patch.name.value)
            };
            let knows = self.operation(later).and_then(|(_, o)| o).is_some_and(|o| o.was.is_some());
            let mut finding =
                self.at_claim(earlier, Code::Overridden, message, "overtaken").related(later_place, "by this");
            if knows && layers.get(earlier.patch) != layers.get(later.patch) {
                finding.severity = Severity::Note;
            } else if earlier.patch == later.patch {
                finding = finding.help("Take one of the two out.");
            } else {
                finding =
                    finding.help("Let one patch decide about the place; a layer above may, where it says `was:`.");
            }
            self.findings.add(finding);
        }
    }

    /// Notes a trailing comment that stays behind a value that was changed: it may speak of the old value.
    fn comment_kept(&mut self, claims: &[Claim], departure: &Departure, before: Option<usize>, after: Option<usize>) {
        let Some(claim) = claims.get(departure.claim) else { return };
        let says_so = self.operation(claim).and_then(|(_, o)| o).is_none_or(|o| o.comment.is_some());
        if says_so
            || departure.difference.within.is_some()
            || !matches!(departure.difference.what, What::Replaced { .. })
        {
            return;
        }
        let (Some(base), Some(result)) =
            (before.and_then(|i| self.base.get(i)), after.and_then(|i| self.result.get(i)))
        else {
            return;
        };
        let path = &departure.difference.path;
        let old = path.before().and_then(|p| reading::trailing_comment(&base.tree, base.text, &plain(&p)));
        let new = path.after().and_then(|p| reading::trailing_comment(&result.tree, &result.text, &plain(&p)));
        let Some((span, comment)) = old.filter(|(_, comment)| new.is_some_and(|(_, c)| c == *comment)) else { return };
        let place = Place::new(base.source, base.start + span.start..base.start + span.end);
        let message = format!("the comment `{comment}` stays behind the changed value");
        let finding = self
            .at_claim(claim, Code::CommentKept, message, "this changes the value")
            .related(place, "the comment")
            .resource(base.identity.to_string())
            .path(path.to_string())
            .help("Where it no longer fits, write `comment:` in the operation: a text, or \"\" to remove it.");
        self.findings.add(finding);
    }
}

/// What a target means among the documents of a scope, as the base has them.
pub(super) type Hits<'h> = &'h dyn Fn(&Range<usize>, &Target) -> Vec<Hit>;

/// What the patches of a plan claim, target by target.
pub(super) fn claims(plan: &Plan, hits: Hits<'_>) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (number, scoped) in plan.patches.iter().enumerate() {
        for (change, what) in scoped.patch.changes.iter().enumerate() {
            for hit in hits(&scoped.scope, &what.target) {
                // An item stands elsewhere once the same change took out one before it.
                let Some(hit) = hit.after(&claims) else { continue };
                let claim = |operation, act| Claim {
                    document: hit.document,
                    patch: number,
                    change,
                    operation,
                    within: None,
                    act,
                };
                match &what.effect {
                    Effect::Delete => claims.push(claim(0, hit.deletion())),
                    Effect::Edit { within, operations } => {
                        let language = within.as_ref().map(|w| (hit.path(&w.path.value), w.language.value));
                        let path = |path: &Path| if within.is_some() { path.clone() } else { hit.path(path) };
                        for (index, operation) in operations.iter().enumerate() {
                            let Some(act) = act(operation, path) else { continue };
                            claims.push(Claim { within: language.clone(), ..claim(index, act) });
                        }
                    }
                }
            }
        }
    }
    claims
}

/// What an operation claims; a `test` claims nothing.
fn act(operation: &Operation, at: impl Fn(&Path) -> Path) -> Option<Act> {
    let path = at(&operation.path.value);
    let parents = operation.parents;
    Some(match &operation.op {
        Op::Add(new) => Act::Add { path, value: new.value.clone(), parents },
        Op::Replace(new) => Act::Replace { path, value: new.value.clone() },
        Op::Remove => Act::Remove { path },
        Op::Move { from } => Act::Move { from: at(&from.value), path, parents },
        Op::Copy { from } => Act::Copy { from: at(&from.value), path, parents },
        Op::Test(_) => return None,
    })
}

/// Whether the base or a patch has a comment on a line of its own.
pub(super) fn is_said(overlay: &Overlay<'_>, base: &[BaseDocument<'_>], comment: &str) -> bool {
    let patches = overlay.plan.patches.iter().map(|scoped| scoped.patch.source().text.as_ref());
    let texts = base.iter().map(|document| document.text).chain(patches);
    texts.flat_map(str::lines).any(|line| line.trim() == comment)
}

/// The string at a place.
pub(super) fn text_at<'v>(value: &'v Value, path: &[At<'_>]) -> Option<&'v str> {
    let at = path.iter().try_fold(value, |value, at| match at {
        At::Key(key) => value.get(key),
        At::Index(index) => value.get(index),
    });
    at.and_then(Value::as_str)
}

pub(super) fn plain(path: &[At<'_>]) -> Vec<String> {
    path.iter()
        .map(|at| match at {
            At::Key(key) => (*key).to_owned(),
            At::Index(index) => index.to_string(),
        })
        .collect()
}

pub(super) fn shown_path(difference: &Difference) -> String {
    match &difference.within {
        Some(within) => format!("{} in the text at {}", difference.path, within.path),
        None => difference.path.to_string(),
    }
}

/// A difference in a clause.
pub(super) fn told(difference: &Difference) -> String {
    match &difference.what {
        What::Added(value) => format!("{} is added", short(value)),
        What::Removed(value) => format!("{} is gone", short(value)),
        What::Replaced { before, after } => format!("{} instead of {}", short(after), short(before)),
        What::Moved { from, to } => format!("item {from} stands at {to}"),
    }
}

pub(super) fn short(value: &Value) -> String {
    shortened(&lightly_quoted(value.to_string()), 80)
}
