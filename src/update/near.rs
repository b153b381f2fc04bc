//! What may be meant where a target or a path leads nowhere any more: documents and places that upstream renamed or
//! moved.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::RangeInclusive;

use serde_json::Value;

use super::sides::{Resource, Side, at};
use super::upstream::named;
use crate::diag::nearest;
use crate::diff::{self, At, Difference, What, diff_values};
use crate::patch::lower::places;
use crate::patch::path::Path;
use crate::resource::{Identity, Target, scalar_text};

/// How many candidates are named.
const MAX_NEAR: usize = 3;

/// How many places that a path with `*` leads to are followed.
const MAX_PLACES: usize = 64;

/// How long a text must be, in bytes, to be told by itself where it went.
const MIN_TEXT: usize = 4;

/// The documents of upstream that a target may mean which meant those of the old side, a sentence each: what these are
/// called now, then documents of their kind that are new, the most alike first; where there is neither, those whose
/// names are near. `new` are what the base keeps of upstream, and what else upstream has that it had not.
pub(super) fn targets(
    old: &Side,
    new: [&Side; 2],
    files: &RangeInclusive<usize>,
    was: &[usize],
    target: &Target,
) -> Vec<String> {
    let mut found = successors(old, new, files, was);
    if found.is_empty() {
        let after = upstreams(new, files);
        let near = target.nearest(after.iter().map(|r| (&r.identity, &*r.original)), MAX_NEAR);
        found.extend(near.iter().filter_map(|n| after.get(n.index)));
    }
    let [_, left_out] = new;
    let is_left_out = |r: &Resource| left_out.0.iter().any(|out| std::ptr::eq(out, r));
    let told = found.into_iter().map(|r| match (named(&r.identity), is_left_out(r)) {
        (name, true) => format!("There is {name}, which the base's `keep` leaves out."),
        (name, false) => format!("There is {name}."),
    });
    let mut seen = HashSet::new();
    told.filter(|sentence| seen.insert(sentence.clone())).take(MAX_NEAR).collect()
}

/// The documents that the new side has in some files.
fn upstreams<'r>([kept, left_out]: [&'r Side; 2], files: &RangeInclusive<usize>) -> Vec<&'r Resource> {
    let both = kept.0.iter().filter(|r| !r.deleted).chain(&left_out.0);
    both.filter(|r| files.contains(&r.file)).collect()
}

/// What may have come in the place of documents that upstream no longer has: what these are called now, then documents
/// of their kind that are new, the most alike first.
pub(super) fn successors<'r>(
    old: &Side,
    new: [&'r Side; 2],
    files: &RangeInclusive<usize>,
    was: &[usize],
) -> Vec<&'r Resource> {
    let after = upstreams(new, files);
    let before: Vec<&Resource> = old.0.iter().filter(|r| files.contains(&r.file)).collect();
    let meant: Vec<&Resource> = was.iter().filter_map(|index| old.0.get(*index)).collect();
    let is_meant = |identity: &Identity| meant.iter().any(|r| r.identity == *identity);
    let pairs = diff::pair_documents(&documents(&before), &documents(&after), &[]);
    let mut found: Vec<&'r Resource> = Vec::new();
    for (old, new) in &pairs {
        let (old, new) = (old.and_then(|i| before.get(i)), new.and_then(|i| after.get(i)));
        if let (Some(old), Some(new)) = (old, new)
            && is_meant(&old.identity)
        {
            found.push(new);
        }
    }
    let fresh = pairs.iter().filter(|(old, _)| old.is_none()).filter_map(|(_, new)| after.get((*new)?));
    let mut fresh: Vec<(u64, &'r Resource)> = fresh.filter_map(|r| Some((shared(&meant, r)?, *r))).collect();
    fresh.sort_by_key(|(shared, _)| Reverse(*shared));
    found.extend(fresh.into_iter().map(|(_, r)| r));
    found
}

/// How much a resource shares with the one of its kind, among some, that it shares most with.
fn shared(with: &[&Resource], resource: &Resource) -> Option<u64> {
    let of_kind = with.iter().filter(|r| r.identity.kind == resource.identity.kind);
    of_kind.map(|r| diff::likeness(&r.original, &resource.original)).max()
}

fn documents<'r>(resources: &[&'r Resource]) -> Vec<diff::Document<'r>> {
    resources.iter().map(|r| diff::Document { identity: r.identity.clone(), value: &r.original }).collect()
}

/// The places of the new value that a path of the old one may mean: what the differ takes for the same, renamed; what
/// was renamed beside it, what moved elsewhere, and what is called alike. `sides` are old and new values, the best to
/// tell by first.
pub(super) fn paths(sides: &[(&Value, &Value)], path: &Path) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (old, new) in sides {
        let (renamed, is_whole) = renamed(old, new, path);
        found.extend(renamed);
        if !is_whole {
            found.extend(instead(old, new, path));
        }
    }
    let mut told = HashSet::new();
    found.retain(|path| told.insert(path.clone()));
    found.truncate(MAX_NEAR);
    found
}

/// The places that the longest beginning of a path that leads anywhere has, and how many segments that beginning has.
fn beginning(old: &Value, path: &Path) -> (usize, Vec<Vec<String>>) {
    let all = (0..=path.segments().len()).rev().map(|count| (count, places(old, &path.first(count))));
    all.into_iter().find(|(_, places)| !places.is_empty()).unwrap_or_default()
}

/// Where what the path leads to is called something else now, and whether it was found to its end each time.
fn renamed(old: &Value, new: &Value, path: &Path) -> (Vec<String>, bool) {
    let (count, places_before) = beginning(old, path);
    let mut found = Vec::new();
    let mut is_whole = count > 0;
    for tokens in places_before.iter().take(MAX_PLACES) {
        let now = diff::follow(old, new, tokens);
        is_whole &= now.len() == tokens.len();
        if places(new, &path.first(now.len())).contains(&now) || !is_still(old, new, tokens, &now) {
            is_whole = false;
            continue;
        }
        found.push(extended(new, diff::keyed(new, &now).0, path).to_string());
    }
    (found, is_whole)
}

/// Whether the last item on a way that could be followed is the one that it was. The differ pairs texts that stand
/// side by side, whatever they say.
fn is_still(old: &Value, new: &Value, was: &[String], now: &[String]) -> bool {
    let before = was.get(..now.len()).and_then(|was| at(old, was));
    match (before, at(new, now)) {
        (Some(a), Some(b)) if scalar_text(a).is_some() && now.len() == was.len() => {
            let is_item = now.split_last().and_then(|(_, list)| at(new, list)).is_some_and(Value::is_array);
            !is_item || diff::likeness(a, b) >= diff::ENOUGH
        }
        (before, after) => before.is_some() && after.is_some(),
    }
}

/// A place of the new value, and what of the rest of a path leads on from there.
fn extended(new: &Value, mut place: Path, path: &Path) -> Path {
    for segment in path.segments().iter().skip(place.segments().len()) {
        let mut longer = place.clone();
        longer.push(segment.clone());
        if places(new, &longer).is_empty() {
            break;
        }
        place = longer;
    }
    place
}

/// What is new where the path leads through something that is gone.
fn instead(old: &Value, new: &Value, path: &Path) -> Vec<String> {
    let Some(tokens) = beginning(old, path).1.into_iter().next() else { return Vec::new() };
    let differences = diff_values(old, new, &|_| None);
    let leads_through = |d: &&Difference| {
        let before = d.path.before().map(|at| plain(&at));
        matches!(d.what, What::Removed(_)) && before.is_some_and(|b| tokens.starts_with(&b))
    };
    let Some(gone) = differences.iter().find(leads_through) else { return Vec::new() };
    let What::Removed(lost) = &gone.what else { return Vec::new() };
    let place = |d: &Difference| {
        let after: Vec<String> = d.path.after().map(|at| plain(&at)).unwrap_or_default();
        diff::keyed(new, &after).0
    };
    let mut ranked: Vec<(Rank, String)> = differences
        .iter()
        .filter_map(|d| match &d.what {
            What::Added(value) => {
                let (rank, place) = (rank(gone, lost, d, value)?, place(d));
                // What stands in its stead has its inside too.
                let place = if matches!(rank, Rank::Alike { .. }) { extended(new, place, path) } else { place };
                Some((rank, place.to_string()))
            }
            _ => None,
        })
        .collect();
    // The end of the path may have moved alone, without what is around it.
    if let Some(end) = at(old, &tokens).filter(|end| is_telling(end)) {
        let moved = differences.iter().filter(|d| matches!(&d.what, What::Added(value) if value == end));
        ranked.extend(moved.map(|d| (Rank::Moved, place(d).to_string())));
    }
    ranked.sort();
    ranked.into_iter().map(|(_, path)| path).collect()
}

/// How good a candidate something new is for something gone, the best first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// It stands beside it and says the same for the most part.
    Alike {
        /// What it does not share, in thousandths.
        unlike: u64,
    },
    /// It is the same, elsewhere.
    Moved,
    /// It stands beside it and is called nearly the same.
    Called,
}

fn rank(gone: &Difference, lost: &Value, added: &Difference, value: &Value) -> Option<Rank> {
    let (from, to) = (gone.path.steps(), added.path.steps());
    let ((name, above), (new_name, new_above)) = (from.split_last()?, to.split_last()?);
    let beside = above == new_above;
    let alike = if lost == value { 1000 } else { diff::likeness(lost, value) };
    if beside && alike >= diff::ENOUGH {
        return Some(Rank::Alike { unlike: 1000 - alike.min(1000) });
    }
    if is_telling(lost) && lost == value {
        return Some(Rank::Moved);
    }
    let (name, new_name) = (name.to_string(), new_name.to_string());
    (beside && nearest(&name, [new_name.as_str()]).is_some()).then_some(Rank::Called)
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
