//! What may be meant where a target or a path leads nowhere any more: documents and places that upstream renamed or
//! moved.

use std::ops::RangeInclusive;

use serde_json::Value;

use super::sides::{Resource, Side, at};
use super::upstream::named;
use crate::diag::nearest;
use crate::diff::{self, At, Difference, What, diff_values};
use crate::patch::lower::places;
use crate::patch::path::Path;
use crate::resource::{Identity, Target};

/// How many candidates are named.
const MAX_NEAR: usize = 3;

/// How long a text must be, in bytes, to be told by itself where it went.
const MIN_TEXT: usize = 4;

/// The documents of the new side that a target may mean which meant those of the old side: what these are called now,
/// then documents of their kind that are new; where there is neither, those whose names are near.
pub(super) fn targets(
    old: &Side,
    new: &Side,
    files: &RangeInclusive<usize>,
    was: &[usize],
    target: &Target,
) -> Vec<String> {
    let before: Vec<&Resource> = old.0.iter().filter(|r| files.contains(&r.file)).collect();
    let after: Vec<&Resource> = new.0.iter().filter(|r| files.contains(&r.file) && !r.deleted).collect();
    let meant: Vec<&Resource> = was.iter().filter_map(|index| old.0.get(*index)).collect();
    let is_meant = |identity: &Identity| meant.iter().any(|r| r.identity == *identity);
    let pairs = diff::pair_documents(&documents(&before), &documents(&after), &[]);
    let mut found: Vec<String> = Vec::new();
    let mut add = |resource: &Resource| {
        let name = named(&resource.identity);
        if !found.contains(&name) {
            found.push(name);
        }
    };
    for (old, new) in &pairs {
        let (old, new) = (old.and_then(|i| before.get(i)), new.and_then(|i| after.get(i)));
        if let (Some(old), Some(new)) = (old, new)
            && is_meant(&old.identity)
        {
            add(new);
        }
    }
    let fresh = pairs.iter().filter(|(old, _)| old.is_none()).filter_map(|(_, new)| after.get((*new)?));
    fresh.filter(|r| meant.iter().any(|m| m.identity.kind == r.identity.kind)).for_each(|r| add(r));
    if found.is_empty() {
        let near = target.nearest(after.iter().map(|r| (&r.identity, &*r.original)), MAX_NEAR);
        found.extend(near.iter().filter_map(|n| after.get(n.index)).map(|r| named(&r.identity)));
    }
    found.truncate(MAX_NEAR);
    found
}

fn documents<'r>(resources: &[&'r Resource]) -> Vec<diff::Document<'r>> {
    resources.iter().map(|r| diff::Document { identity: r.identity.clone(), value: &r.original }).collect()
}

/// The places of the new value that a path may mean which leads through something that is gone from the old value: what
/// was renamed beside it, what moved elsewhere, and what is called alike.
pub(super) fn paths(old: &Value, new: &Value, path: &Path) -> Vec<String> {
    let count = path.segments().len();
    let Some(tokens) = (0..=count).rev().find_map(|n| places(old, &path.first(n)).into_iter().next()) else {
        return Vec::new();
    };
    let differences = diff_values(old, new, &|_| None);
    let leads_through = |d: &&Difference| {
        let before = d.path.before().map(|at| plain(&at));
        matches!(d.what, What::Removed(_)) && before.is_some_and(|b| tokens.starts_with(&b))
    };
    let Some(gone) = differences.iter().find(leads_through) else { return Vec::new() };
    let What::Removed(lost) = &gone.what else { return Vec::new() };
    let mut ranked: Vec<(usize, String)> = differences
        .iter()
        .filter_map(|d| match &d.what {
            What::Added(value) => Some((rank(gone, lost, d, value)?, d.path.to_string())),
            _ => None,
        })
        .collect();
    // The end of the path may have moved alone, without what is around it.
    if let Some(end) = at(old, &tokens).filter(|end| is_telling(end)) {
        let moved = differences.iter().filter(|d| matches!(&d.what, What::Added(value) if value == end));
        ranked.extend(moved.map(|d| (1, d.path.to_string())));
    }
    ranked.sort();
    let mut found: Vec<String> = ranked.into_iter().map(|(_, path)| path).collect();
    found.dedup();
    found.truncate(MAX_NEAR);
    found
}

/// How good a candidate something new is for something gone, 0 the best.
fn rank(gone: &Difference, lost: &Value, added: &Difference, value: &Value) -> Option<usize> {
    let (from, to) = (gone.path.steps(), added.path.steps());
    let ((name, above), (new_name, new_above)) = (from.split_last()?, to.split_last()?);
    let beside = above == new_above;
    if beside && is_alike(lost, value) {
        return Some(0);
    }
    if is_telling(lost) && lost == value {
        return Some(1);
    }
    let (name, new_name) = (name.to_string(), new_name.to_string());
    (beside && nearest(&name, [new_name.as_str()]).is_some()).then_some(2)
}

/// Whether two values are one but for its name: equal, or mappings that differ in one scalar.
fn is_alike(one: &Value, other: &Value) -> bool {
    let (Value::Object(a), Value::Object(b)) = (one, other) else { return one == other };
    if a.len() != b.len() {
        return false;
    }
    let mut unlike = a.iter().filter(|(key, value)| b.get(*key) != Some(value));
    match (unlike.next(), unlike.next()) {
        (None, _) => true,
        (Some((key, value)), None) => {
            let is_scalar = |v: &Value| !v.is_object() && !v.is_array();
            is_scalar(value) && b.get(key).is_some_and(is_scalar) && a.len() > 1
        }
        _ => false,
    }
}

/// Whether a value is so much of its own kind that finding it elsewhere means that it moved.
fn is_telling(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::String(text) => text.len() >= MIN_TEXT,
        _ => false,
    }
}

fn plain(path: &[At<'_>]) -> Vec<String> {
    path.iter()
        .map(|at| match at {
            At::Key(key) => (*key).to_owned(),
            At::Index(index) => index.to_string(),
        })
        .collect()
}
