//! What a newer upstream means for a base and for every patch on it: three ways, by structure and key.
//!
//! The old upstream is what the lock and the vendored files know, the new one is handed in, and the overlays are asked
//! on both: each patch is carried out on the old documents' values and on the new ones', side by side, operation by
//! operation. What no value shows, a build in memory does. Nothing is written here. Items of a `kind: List` are looked at as documents of
//! their own; what a patch does to the List itself is not seen by patches on its items.

mod judge;
mod near;
mod overlay;
mod sides;
mod trial;
mod upstream;
mod waits;

#[cfg(test)]
mod tests;

pub use trial::together;

use std::sync::Arc;

use crate::config::Findings;
use crate::diag::{Code, Diagnostic, Source};
use crate::fsio;
use crate::layer::base::Base;
use crate::layer::check::{self, VendoredFile};
use crate::layer::digest;
use crate::layer::documents::Document;
use crate::layer::overlay::{FILE_NAME, Layer, load};
use crate::layer::plan::Plan;
use crate::layer::root::Root;
use crate::layer::shelf::Shelf;
use crate::layer::vendor::{Fetched, read_manifest};
use crate::report::update::BaseUpdate;
use overlay::Judged;

/// A base, and what upstream publishes now.
#[derive(Debug)]
pub struct Newer<'a> {
    /// The base as it stands.
    pub base: &'a Base,
    /// Upstream's new bytes of each file, in the order of [`Base::files`].
    pub files: &'a [Fetched],
    /// Upstream's old bytes of each file, if they are at hand: they show what changed in documents that are left out.
    pub old: Option<&'a [Fetched]>,
}

/// One published file of a base, old and new.
struct File {
    vendored: VendoredFile,
    /// Upstream's old documents, where its whole text is at hand.
    old: Option<Vec<Document>>,
    new: Vec<Document>,
    /// Which of the new documents are kept.
    kept: Vec<bool>,
}

/// Looks at a base and at every overlay below the root that stands on it. `None` where a part of it cannot be taken,
/// which the findings tell.
pub fn look(root: &Root, newer: &Newer<'_>, findings: &mut Findings) -> Option<BaseUpdate> {
    let before = findings.errors();
    let base = newer.base;
    let files = files(root, newer, findings)?;
    let changed = |(file, new): (&File, &Fetched)| file.vendored.locked.upstream.sha256 != digest::sha256(&new.bytes);
    let mut update = BaseUpdate {
        name: base.name.value.clone(),
        path: base.folder.name.clone(),
        changed: files.iter().zip(newer.files).any(changed),
        documents: upstream::documents(&files, findings)?,
        kept_gone: upstream::kept_gone(base, &files),
        ..BaseUpdate::default()
    };
    let shelf = Shelf::default();
    shelf.put(root, base, files.iter().map(|file| file.vendored.clone()).collect());
    let mut judged = overlays(root, &shelf, base, &files, &mut update, findings);
    // A base that keeps what is gone cannot be vendored, and that is told.
    if update.kept_gone.is_empty() {
        let mut unfit = Findings::new();
        match trial::shelf(root, [newer], &mut unfit) {
            Some(after) => trial::tell(root, &shelf, &after, &mut judged),
            None => update.stops = trial::stops(unfit),
        }
    }
    update.overlays = judged.into_iter().map(|judged| judged.update).collect();
    (findings.errors() == before).then_some(update)
}

fn files(root: &Root, newer: &Newer<'_>, findings: &mut Findings) -> Option<Vec<File>> {
    let base = newer.base;
    // `keep` is asked of the new upstream: it may name already what only that one has.
    let vendored = check::as_locked(root, base, findings)?;
    let read: Vec<Option<File>> = vendored
        .into_iter()
        .zip(base.files.iter().zip(newer.files))
        .enumerate()
        .map(|(index, (vendored, (published, fetched)))| {
            let (_, new) = read_manifest(base, published, fetched, findings)?;
            let old = match newer.old.and_then(|old| old.get(index)) {
                Some(old) => Some(old_documents(base, &vendored, old, findings)?),
                None => None,
            };
            let kept = new.iter().map(|d| upstream::keeps(base, d)).collect();
            Some(File { vendored, old, new, kept })
        })
        .collect();
    read.into_iter().collect()
}

/// The documents of upstream's old bytes, which must be those that the lock records.
fn old_documents(
    base: &Base,
    vendored: &VendoredFile,
    old: &Fetched,
    findings: &mut Findings,
) -> Option<Vec<Document>> {
    let (found, recorded) = (digest::sha256(&old.bytes), &vendored.locked.upstream.sha256);
    if found != *recorded {
        let message = format!("{} is not what {} was vendored from", old.name, base.folder.name);
        let finding = Diagnostic::new(Code::UpstreamChanged, message);
        findings.add(finding.note(format!("Its sha256 is {found}, the lock records {recorded}.")));
        return None;
    }
    let published = base.files.iter().find(|f| f.vendored == vendored.locked.vendored.name)?;
    read_manifest(base, published, old, findings).map(|(_, documents)| documents)
}

/// Looks at every overlay of the root that stands on the base. One whose layers cannot be told is only named.
fn overlays(
    root: &Root,
    shelf: &Shelf,
    base: &Base,
    files: &[File],
    update: &mut BaseUpdate,
    findings: &mut Findings,
) -> Vec<Judged> {
    let folders = fsio::find(root.path(), FILE_NAME).unwrap_or_else(|error| {
        findings.add(Diagnostic::new(Code::FileUnreadable, error.to_string()));
        Vec::new()
    });
    let mut found = Vec::new();
    for folder in folders {
        let folder = root.located(folder);
        let mut own = Findings::new();
        let layer = load(root, shelf, &folder, &mut own);
        match layer {
            Some(Layer::Overlay(overlay, below)) if stands_on(&below, base) => {
                let layer = Layer::Overlay(overlay.clone(), below);
                let plan = Plan::new(root, &layer, &mut own);
                let sources = replaced(&plan, &layer, base);
                let judged = overlay::judge(&overlay, &plan, &sources, files, &mut own);
                findings.extend(own.into_vec());
                found.extend(judged);
            }
            _ if own.has_errors() => update.unreadable.push(folder.name),
            _ => {}
        }
    }
    found
}

fn stands_on(below: &[Layer], base: &Base) -> bool {
    below.iter().flat_map(Layer::bases).any(|b| b.folder.path == base.folder.path)
}

/// The vendored files of the base among the files of a plan, each with its number in the base.
fn replaced(plan: &Plan, layer: &Layer, base: &Base) -> Vec<(Arc<Source>, usize)> {
    let ours = layer.bases().into_iter().zip(&plan.vendored).filter(|(b, _)| b.folder.path == base.folder.path);
    let files = ours.flat_map(|(_, files)| files.iter().flat_map(|files| files.iter()).enumerate());
    files.map(|(number, file)| (Arc::clone(&file.source), number)).collect()
}
