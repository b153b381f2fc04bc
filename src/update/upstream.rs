//! What upstream changed, document by document.

use serde_json::Value;

use super::File;
use crate::config::Findings;
use crate::diff::{self, Pairing};
use crate::layer::base::Base;
use crate::layer::documents::{self, Document};
use crate::report::Departure;
use crate::report::update::{DocumentState, DocumentUpdate, KeptGone};
use crate::resource::Identity;

/// How many documents are named that may be meant by a target that means none.
const MAX_NEAR: usize = 3;

/// A document of the old upstream, as far as it is known.
struct Old {
    identity: Identity,
    kept: bool,
    content: String,
    /// What it says; of one that is left out, only where upstream's old text is at hand.
    value: Option<Value>,
}

/// Whether a base keeps a document of its upstream.
pub(super) fn keeps(base: &Base, document: &Document) -> bool {
    let matches = |keep: &Vec<_>| {
        keep.iter().any(|t: &crate::config::Spanned<crate::resource::Target>| {
            t.value.matches(&document.identity, &document.value)
        })
    };
    base.keep.as_ref().is_none_or(matches)
}

/// The targets of `keep` that mean no document of the new upstream.
pub(super) fn kept_gone(base: &Base, files: &[File]) -> Vec<KeptGone> {
    let documents: Vec<&Document> = files.iter().flat_map(|f| &f.new).collect();
    let gone = base.keep.iter().flatten().map(|t| &t.value);
    let gone = gone.filter(|target| !documents.iter().any(|d| target.matches(&d.identity, &d.value)));
    gone.map(|target| {
        let near = target.nearest(documents.iter().map(|d| (&d.identity, &d.value)), MAX_NEAR);
        let candidates = near.iter().filter_map(|n| documents.get(n.index)).map(|d| named(&d.identity)).collect();
        KeptGone { target: target.to_string(), candidates }
    })
    .collect()
}

/// The documents that are not as they were, or that `keep` takes for others than it did: those that changed or are gone in
/// the old order, then the new ones.
pub(super) fn documents(files: &[File], findings: &mut Findings) -> Option<Vec<DocumentUpdate>> {
    let old: Vec<Option<Vec<Old>>> = files.iter().map(|file| old(file, findings)).collect();
    let old: Vec<Old> = old.into_iter().collect::<Option<Vec<_>>>()?.into_iter().flatten().collect();
    let new: Vec<(&Document, bool)> = files.iter().flat_map(|f| f.new.iter().zip(f.kept.iter().copied())).collect();
    let before: Vec<diff::Document<'_>> =
        old.iter().map(|o| document(&o.identity, o.value.as_ref().unwrap_or(&Value::Null))).collect();
    let after: Vec<diff::Document<'_>> = new.iter().map(|(d, _)| document(&d.identity, &d.value)).collect();
    let pairs = diff::diff_streams(&before, &after, &[], &|_, _| None);
    let told = |pair: Pairing| {
        let (old, new) = (pair.before.and_then(|i| old.get(i)), pair.after.and_then(|i| new.get(i)));
        match (old, new) {
            (Some(old), Some((new, kept))) => changed(old, new, *kept, &pair),
            (Some(old), None) => Some(whole(&old.identity, old.kept, DocumentState::Gone)),
            (None, Some((new, kept))) => Some(whole(&new.identity, *kept, DocumentState::New)),
            (None, None) => None,
        }
    };
    Some(pairs.into_iter().filter_map(told).collect())
}

/// The old documents of a file, in upstream's order.
fn old(file: &File, findings: &mut Findings) -> Option<Vec<Old>> {
    let kept = documents::read(&file.vendored.source, findings)?;
    let mut kept = kept.into_iter();
    let value = |index: usize, is_kept: bool, kept: &mut dyn Iterator<Item = Document>| {
        let vendored = if is_kept { kept.next() } else { None };
        let known = file.old.as_ref().and_then(|documents| documents.get(index)).map(|d| d.value.clone());
        vendored.map(|d| d.value).or(known)
    };
    let old = file.vendored.locked.documents.iter().enumerate().map(|(index, locked)| Old {
        identity: locked.identity.clone(),
        kept: locked.kept,
        content: locked.content.clone(),
        value: value(index, locked.kept, &mut kept),
    });
    Some(old.collect())
}

fn document<'v>(identity: &Identity, value: &'v Value) -> diff::Document<'v> {
    diff::Document { identity: identity.clone(), value }
}

fn changed(old: &Old, new: &Document, kept: bool, pair: &Pairing) -> Option<DocumentUpdate> {
    let resource = new.identity.to_string();
    let was = (old.identity != new.identity).then(|| named(&old.identity));
    let kept_before = (old.kept != kept).then_some(old.kept);
    let state = match &old.value {
        _ if old.content == new.content => DocumentState::Unchanged,
        None => DocumentState::ChangedUnseen,
        Some(_) => DocumentState::Changed,
    };
    if state == DocumentState::Unchanged && kept_before.is_none() {
        return None;
    }
    let seen = pair.differences.iter().filter(|_| state == DocumentState::Changed);
    let differences = seen.map(|d| Departure::new(&resource, d, None)).collect();
    Some(DocumentUpdate { resource, was, kept, kept_before, state, differences })
}

fn whole(identity: &Identity, kept: bool, state: DocumentState) -> DocumentUpdate {
    DocumentUpdate { resource: named(identity), was: None, kept, kept_before: None, state, differences: Vec::new() }
}

/// A resource with its API version, where that may be what matters.
pub(super) fn named(identity: &Identity) -> String {
    format!("{identity} ({})", identity.api_version())
}
