//! What verdicts cannot see: each overlay is built on the new upstream, in memory, by the build that its user would get.
//! Whatever stops it and no verdict has named is told of the patch at fault, or else of the overlay.
//!
//! Nothing is written here.

use std::path::Path;

use super::Newer;
use super::overlay::Judged;
use crate::config::Findings;
use crate::diag::{Code, Diagnostic};
use crate::fsio;
use crate::layer::overlay::{FILE_NAME, Layer, load};
use crate::layer::root::Root;
use crate::layer::shelf::Shelf;
use crate::layer::vendor;
use crate::report::update::{OperationUpdate, OverlayUpdate, Stop, Verdict};
use crate::subject::Subject;

/// The bases of a run on their new upstreams, as they would be vendored; every other base is as it is. `None` where one
/// could not be vendored, which the findings tell.
pub(super) fn shelf<'n>(
    root: &Root,
    newer: impl IntoIterator<Item = &'n Newer<'n>>,
    findings: &mut Findings,
) -> Option<Shelf> {
    let shelf = Shelf::default();
    for newer in newer {
        shelf.put(root, newer.base, vendor::preview(root, newer.base, newer.files, findings)?);
    }
    Some(shelf)
}

/// Tells what stops the build of each overlay with bases of the shelf `after`, beside what verdicts name and what may
/// follow from that. On `before` the bases are as they are locked.
pub(super) fn tell(root: &Root, before: &Shelf, after: &Shelf, overlays: &mut [Judged]) {
    let mut elsewhere = Vec::new();
    for (number, judged) in overlays.iter_mut().enumerate() {
        let mut failures = failures(root, after, judged);
        failures.retain(|failure| !judged.explains(failure));
        let known = if failures.is_empty() { Vec::new() } else { self::failures(root, before, judged) };
        for failure in &failures {
            let is_old = known.iter().any(|known| known.message == failure.message && known.patch == failure.patch);
            match judged.patch_file(failure).map(str::to_owned) {
                Some(file) if add(&mut judged.update, &file, failure, is_old) => {}
                Some(file) => elsewhere.push((number, file, stop(failure, is_old))),
                None => judged.update.stops.push(stop(failure, is_old)),
            }
        }
    }
    // What a patch of a lower overlay does is told with that overlay, where it is told.
    elsewhere.retain(|(_, file, _)| {
        let mut patches = overlays.iter().flat_map(|judged| &judged.update.patches);
        !patches.any(|patch| patch.file == *file && patch.verdict.stops())
    });
    for (number, _, stop) in elsewhere {
        overlays.get_mut(number).into_iter().for_each(|judged| judged.update.stops.push(stop.clone()));
    }
}

/// What keeps an overlay from being built with the bases of a shelf.
fn failures(root: &Root, shelf: &Shelf, judged: &Judged) -> Vec<Diagnostic> {
    let mut findings = Findings::new();
    build(root, shelf, &judged.folder, &mut findings);
    findings.into_vec().into_iter().filter(Diagnostic::is_error).collect()
}

fn build(root: &Root, shelf: &Shelf, folder: &Path, findings: &mut Findings) {
    if let Some(subject) = Subject::open_beside(root, shelf, folder, findings) {
        subject.build(findings);
    }
}

/// Takes a failure in among the operations of a patch of the overlay's own; `false` where it has no such patch.
fn add(update: &mut OverlayUpdate, file: &str, failure: &Diagnostic, is_old: bool) -> bool {
    let Some(patch) = update.patches.iter_mut().find(|patch| patch.file == file) else { return false };
    let places = failure.place.iter().chain(failure.related.iter().map(|(place, _)| place));
    let line = places.filter(|place| place.source.name == file).map(crate::diag::Place::line).next();
    let verdict = if is_old { Verdict::Broken } else { Verdict::Refused };
    patch.operations.push(OperationUpdate {
        resource: failure.resource.clone().unwrap_or_default(),
        path: failure.path.clone().unwrap_or_default(),
        line: line.unwrap_or(1),
        verdict,
        message: failure.message.clone(),
        notes: facts(failure).collect(),
        ..OperationUpdate::default()
    });
    patch.verdict = patch.verdict.max(verdict);
    true
}

fn stop(failure: &Diagnostic, is_old: bool) -> Stop {
    let patch = failure.patch.iter().map(|patch| format!("It is at the patch `{patch}`."));
    let old = is_old.then(|| "It is so on the locked base too.".to_owned());
    Stop { message: failure.message.clone(), notes: patch.chain(old).chain(facts(failure)).collect() }
}

/// The findings that keep a base from being vendored, as they are told.
pub(super) fn stops(findings: Findings) -> Vec<Stop> {
    findings.into_vec().iter().filter(|finding| finding.is_error()).map(|finding| stop(finding, false)).collect()
}

fn facts(failure: &Diagnostic) -> impl Iterator<Item = String> {
    failure.notes.iter().chain(&failure.help).cloned()
}

/// Builds every overlay of a root that stands on two or more of these bases with all of them at their new upstreams.
/// What stops a build goes to the findings; what stops it with one of them alone was told when that one was looked at.
pub fn together(root: &Root, newer: &[Newer<'_>], findings: &mut Findings) {
    let Some(after) = shelf(root, newer, findings) else { return };
    let folders = match fsio::find(root.path(), FILE_NAME) {
        Ok(folders) => folders,
        Err(error) => return findings.add(Diagnostic::new(Code::FileUnreadable, error.to_string())),
    };
    for folder in folders {
        let layer = load(root, &after, &root.located(folder.clone()), &mut Findings::new());
        if layer.is_some_and(|layer| stands_on_several(&layer, newer)) {
            build(root, &after, &folder, findings);
        }
    }
}

fn stands_on_several(layer: &Layer, newer: &[Newer<'_>]) -> bool {
    let folders: Vec<_> = layer.bases().into_iter().map(|base| &base.folder.path).collect();
    newer.iter().filter(|newer| folders.contains(&&newer.base.folder.path)).nth(1).is_some()
}
