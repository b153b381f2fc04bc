//! Conflicts that are none of a patch's own: what it finds at a place is not what an earlier patch, of its overlay or of
//! one below, would have written there, because that one conflicts. It is told of the earlier one, and this one waits.
//!
//! It is known here which places the operations that stop a build were to write, and nothing of why they do.

use serde_json::Value;

use super::sides::{Resource, Tried, at};
use crate::patch::lower::{Site, places};
use crate::patch::model::{Change, Effect, Op, Operation};
use crate::patch::path::{Condition, Path, Segment};
use crate::report::update::{OperationUpdate, Verdict};

/// The places that are not as patches would have made them.
#[derive(Default)]
pub(super) struct Waits(Vec<Unmade>);

/// A place that an operation was to write.
struct Unmade {
    /// The document, as an index of the new side's.
    resource: usize,
    place: Place,
    by: By,
}

/// A place of a document, or of a text in it.
#[derive(Clone)]
struct Place {
    /// Where the text lies that the path leads into.
    within: Option<Path>,
    path: Path,
}

/// The patch that conflicts.
#[derive(Clone, PartialEq, Eq)]
struct By {
    name: String,
    file: String,
}

/// The document that a change is about, before it.
pub(super) struct Before<'a> {
    /// Its index on the new side.
    pub(super) resource: usize,
    /// It on the old side.
    pub(super) old: Option<&'a Resource>,
    /// The change tried on the old side.
    pub(super) tried: Option<&'a Tried>,
    /// Whether what the change is about is there on the new side: the text that it edits.
    pub(super) has_text: bool,
}

impl Waits {
    /// Looks at the verdicts on a change: what waits for an earlier patch is told as that, and what stops the build is
    /// kept in mind for the patches to come.
    pub(super) fn settle(&mut self, site: &Site<'_>, before: &Before<'_>, verdicts: &mut [OperationUpdate]) {
        let Some(change) = site.patch.changes.get(site.change) else { return };
        let own = By { name: site.patch.name.value.clone(), file: site.patch.source().name.clone() };
        let within = within(change);
        let mut unmade = Vec::new();
        if let (false, Some(text), Some(told)) = (before.has_text, &within, verdicts.first_mut()) {
            let text = Place { within: None, path: text.clone() };
            let by = self.judge(&own, before, &[text], told);
            if told.verdict.stops() {
                let all = change.operations().iter().flat_map(|operation| written(operation, within.as_ref()));
                unmade.extend(all.map(|place| Unmade { resource: before.resource, place, by: by.clone() }));
            }
        } else {
            for (told, operation) in verdicts.iter_mut().zip(change.operations()) {
                let by = self.judge(&own, before, &addressed(operation, within.as_ref()), told);
                if told.verdict.stops() {
                    let places = written(operation, within.as_ref()).into_iter();
                    unmade.extend(places.map(|place| Unmade { resource: before.resource, place, by: by.clone() }));
                }
            }
        }
        self.0.extend(unmade);
    }

    /// Tells an operation that conflicts at these places as one that waits, where it does. Gives the patch at fault.
    fn judge(&self, own: &By, before: &Before<'_>, places: &[Place], told: &mut OperationUpdate) -> By {
        let other = places.iter().find_map(|place| self.waits_for(own, before, place, told.verdict));
        let Some(other) = other.filter(|_| told.verdict.is_conflict()) else { return own.clone() };
        let By { name, file } = &other;
        *told = OperationUpdate {
            resource: told.resource.clone(),
            path: told.path.clone(),
            within: told.within.clone(),
            line: told.line,
            verdict: Verdict::Waits,
            message: format!("what it finds there is for the patch `{name}` to write ({file}), which conflicts"),
            ..OperationUpdate::default()
        };
        other
    }

    /// The earlier patch without whose conflict there would be none at a place.
    fn waits_for(&self, own: &By, before: &Before<'_>, place: &Place, verdict: Verdict) -> Option<By> {
        let of_others = self.0.iter().filter(|unmade| unmade.resource == before.resource && unmade.by != *own);
        let unmade = of_others.rev().find(|unmade| unmade.place.meets(place))?;
        before.is_patched(place, verdict).then(|| unmade.by.clone())
    }
}

impl Before<'_> {
    /// Whether what is at a place of the old side is not the base's own, but what patches made of it. Where the place is
    /// gone upstream, that is so only where patches had made it.
    fn is_patched(&self, place: &Place, verdict: Verdict) -> bool {
        let values = match (&place.within, self.old, self.tried) {
            (None, Some(old), _) => Some((&*old.original, &old.state)),
            (Some(_), _, Some(tried)) => tried.published.as_deref().map(|published| (published, &tried.before)),
            _ => return false,
        };
        // The base has no such text, or none that can be read.
        let Some((published, state)) = values else { return true };
        let is_new = (0..=place.path.segments().len()).any(|count| {
            let part = place.path.first(count);
            places(published, &part).is_empty() && !places(state, &part).is_empty()
        });
        is_new || (verdict != Verdict::Gone && all(published, &place.path) != all(state, &place.path))
    }
}

/// Every value that a path leads to.
fn all<'v>(value: &'v Value, path: &Path) -> Vec<&'v Value> {
    places(value, path).iter().filter_map(|tokens| at(value, tokens)).collect()
}

/// Where the text lies that a change edits.
fn within(change: &Change) -> Option<Path> {
    match &change.effect {
        Effect::Edit { within, .. } => within.as_ref().map(|within| within.path.value.clone()),
        Effect::Delete => None,
    }
}

/// The places that an operation has to find.
fn addressed(operation: &Operation, within: Option<&Path>) -> Vec<Place> {
    let from = match &operation.op {
        Op::Move { from } | Op::Copy { from } => Some(&from.value),
        Op::Add(_) | Op::Replace(_) | Op::Remove | Op::Test(_) => None,
    };
    let paths = std::iter::once(&operation.path.value).chain(from);
    paths.map(|path| Place { within: within.cloned(), path: path.clone() }).collect()
}

/// The places that an operation changes.
fn written(operation: &Operation, within: Option<&Path>) -> Vec<Place> {
    let count = match &operation.op {
        Op::Test(_) => 0,
        Op::Copy { .. } => 1,
        Op::Move { .. } | Op::Add(_) | Op::Replace(_) | Op::Remove => 2,
    };
    addressed(operation, within).into_iter().take(count).collect()
}

impl Place {
    /// Whether what is written here may be found there: one leads to the other, or may.
    fn meets(&self, other: &Place) -> bool {
        match (&self.within, &other.within) {
            (None, None) => meet(&self.path, &other.path),
            (Some(text), Some(other_text)) => text == other_text && meet(&self.path, &other.path),
            (None, Some(text)) => meet(&self.path, text),
            (Some(text), None) => meet(text, &other.path),
        }
    }
}

fn meet(one: &Path, other: &Path) -> bool {
    one.segments().iter().zip(other.segments()).all(|(one, other)| may_be_one(one, other))
}

/// Whether two segments may mean the same. An item that is put into a list moves those behind it, and so an index may be
/// any.
fn may_be_one(one: &Segment, other: &Segment) -> bool {
    let is_index = |segment: &Segment| match segment {
        Segment::Key(key) => key == "-" || key.bytes().all(|b| b.is_ascii_digit()),
        _ => false,
    };
    let differs = |of: &Condition, others: &[Condition]| others.iter().any(|o| o.key == of.key && o.value != of.value);
    match (one, other) {
        (Segment::Each, _) | (_, Segment::Each) => true,
        (one, other) if is_index(one) || is_index(other) => true,
        (Segment::Select(one), Segment::Select(other)) => !one.iter().any(|condition| differs(condition, other)),
        (Segment::Key(one), Segment::Key(other)) | (Segment::Item(one), Segment::Item(other)) => one == other,
        _ => true,
    }
}
