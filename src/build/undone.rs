//! What patches that failed did not do, and which failures may follow from that alone: of one mistake, one finding.

use serde_json::Value;

use super::documents::Resource;
use crate::patch::lower::places;
use crate::patch::model::{Change, Effect, Op, Operation};
use crate::patch::path::{Path, Segment};

/// Operations that were not carried out.
#[derive(Debug, Default)]
pub(super) struct Undone<'p>(Vec<Entry<'p>>);

#[derive(Clone, Copy, Debug)]
struct Entry<'p> {
    /// What it was for; `None` where that is not known.
    resource: Option<Resource>,
    change: &'p Change,
    operation: &'p Operation,
}

/// What an operation does at one of its places.
#[derive(Clone, Copy, Debug)]
enum Deed<'p> {
    /// Puts a value there, which is known or not.
    Brings(Option<&'p Value>),
    /// Takes what is there.
    Takes,
    /// Puts another value in the place of what is there.
    Replaces,
}

/// A way through a document and, behind `None`, on through a text that it embeds.
type Way<'p> = Vec<Option<&'p Segment>>;

impl<'p> Undone<'p> {
    /// Adds an operation of a change, or all of them.
    pub(super) fn add(&mut self, resource: Option<Resource>, change: &'p Change, operation: Option<usize>) {
        let operations = change.operations().iter().enumerate();
        let meant = operations.filter(|(index, _)| operation.is_none_or(|operation| operation == *index));
        self.0.extend(meant.map(|(_, operation)| Entry { resource, change, operation }));
    }

    pub(super) fn append(&mut self, other: Undone<'p>) {
        self.0.extend(other.0);
    }

    /// Whether an operation of a change, or the change before its first, may not fit a resource only because something of
    /// this was not done.
    pub(super) fn may_cause(&self, resource: Resource, change: &Change, operation: Option<usize>) -> bool {
        let ways = match operation.and_then(|operation| change.operations().get(operation)) {
            Some(operation) => deeds(operation).map(|(path, _)| way(change, Some(path))).collect(),
            None => Vec::from_iter(text_of(change).map(|_| way(change, None))),
        };
        let of_resource = |entry: &&Entry<'_>| entry.resource.is_none_or(|of| of == resource);
        let touches = |entry: &Entry<'_>| {
            deeds(entry.operation).any(|(path, deed)| {
                let place = way(entry.change, Some(path));
                !matches!(entry.operation.op, Op::Test(_)) && ways.iter().any(|way| may_matter(&place, deed, way))
            })
        };
        self.0.iter().filter(of_resource).any(touches)
    }
}

fn deeds(operation: &Operation) -> impl Iterator<Item = (&Path, Deed<'_>)> {
    let path = &operation.path.value;
    let (deed, from) = match &operation.op {
        Op::Add(new) => (Deed::Brings(Some(&new.value)), None),
        Op::Replace(_) | Op::Test(_) => (Deed::Replaces, None),
        Op::Remove => (Deed::Takes, None),
        Op::Move { from } | Op::Copy { from } => (Deed::Brings(None), Some((&from.value, Deed::Takes))),
    };
    std::iter::once((path, deed)).chain(from)
}

/// Where the text lies that a change edits.
fn text_of(change: &Change) -> Option<&Path> {
    match &change.effect {
        Effect::Edit { within, .. } => within.as_ref().map(|within| &within.path.value),
        Effect::Delete => None,
    }
}

fn way<'p>(change: &'p Change, path: Option<&'p Path>) -> Way<'p> {
    let steps = |path: &'p Path| path.segments().iter().map(Some);
    match (text_of(change), path) {
        (Some(within), Some(path)) => steps(within).chain([None]).chain(steps(path)).collect(),
        (Some(path), None) | (None, Some(path)) => steps(path).collect(),
        (None, None) => Vec::new(),
    }
}

/// Whether what is found along `way` may be otherwise once a deed is done at `place`.
fn may_matter(place: &[Option<&Segment>], deed: Deed<'_>, way: &[Option<&Segment>]) -> bool {
    if way.starts_with(place) || place.starts_with(way) {
        return true;
    }
    let Some((Some(item), list)) = place.split_last() else { return false };
    let Some(Some(segment)) = way.strip_prefix(list).and_then(|rest| rest.first()) else { return false };
    match (segment, deed) {
        (_, Deed::Replaces) | (Segment::Select(_) | Segment::Item(_), Deed::Takes) => false,
        (Segment::Key(_), _) => is_of_list(item) && is_of_list(segment),
        (Segment::Each, _) => is_of_list(item),
        (Segment::Select(_) | Segment::Item(_), Deed::Brings(None)) => true,
        (Segment::Select(_) | Segment::Item(_), Deed::Brings(Some(value))) => {
            let list = Value::Array(vec![value.clone()]);
            !places(&list, &Path::from(vec![(*segment).clone()])).is_empty()
        }
    }
}

/// Whether a segment can lead to an item of a list.
fn is_of_list(segment: &Segment) -> bool {
    match segment {
        Segment::Key(key) => key == "-" || key.bytes().all(|byte| byte.is_ascii_digit()),
        Segment::Select(_) | Segment::Item(_) | Segment::Each => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a deed at one path may matter to another path.
    fn matters(place: &str, deed: Deed<'_>, path: &str) -> bool {
        let (place, path) = (Path::parse(place).unwrap(), Path::parse(path).unwrap());
        let (place, path): (Way<'_>, Way<'_>) =
            (place.segments().iter().map(Some).collect(), path.segments().iter().map(Some).collect());
        may_matter(&place, deed, &path)
    }

    #[test]
    fn what_is_not_there_matters_to_what_lies_in_it_around_it_and_in_its_list() {
        let item = serde_json::json!({"name": "x"});
        let brings = Deed::Brings(Some(&item));
        for (place, deed, path) in [
            ("/a/b", brings, "/a/b/c"),
            ("/a/b/c", brings, "/a/b"),
            ("/a/-", brings, "/a/[name=x]/c"),
            ("/a/-", brings, "/a/3"),
            ("/a/-", Deed::Brings(None), "/a/[name=y]"),
            ("/a/0", Deed::Takes, "/a/1/c"),
            ("/a/[name=x]", Deed::Takes, "/a/*/c"),
            ("/a/[name=x]", Deed::Replaces, "/a/[name=x]/c"),
        ] {
            assert!(matters(place, deed, path), "{place} {path}");
        }
        for (place, deed, path) in [
            ("/a/b", brings, "/a/c"),
            ("/a/-", brings, "/a/[name=y]/c"),
            ("/a/[name=x]", Deed::Takes, "/a/[name=y]"),
            ("/a/[name=x]", Deed::Replaces, "/a/0"),
            ("/a/b", brings, "/a/0"),
        ] {
            assert!(!matters(place, deed, path), "{place} {path}");
        }
    }
}
