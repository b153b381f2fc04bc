//! The verdict on each operation of a change, tried on a document of the old upstream and on its fellow of the new one.

use std::borrow::Cow;

use serde_json::Value;

use super::near;
use super::sides::{Resource, Tried, at};
use crate::diag::{Code, Diagnostic};
use crate::patch::apply::apply;
use crate::patch::lower::{Site, places};
use crate::patch::model::{Effect, Op, Operation, Within};
use crate::patch::path::{Condition, Path, Segment};
use crate::patch::step::{Action, Step};
use crate::report::update::{OperationUpdate, Verdict};
use crate::resource::{MergeKey, scalar_text};

/// What came of trying a change on a resource.
type Outcome = Result<Tried, Box<Diagnostic>>;

/// The verdicts on a change. `was` and `now` are its resource on both sides, before it.
pub(super) fn change(
    site: &Site<'_>,
    old: Option<&Outcome>,
    new: &Outcome,
    was: Option<&Resource>,
    now: Option<&Resource>,
) -> Vec<OperationUpdate> {
    let Some(change) = site.patch.changes.get(site.change) else { return Vec::new() };
    let within = match &change.effect {
        Effect::Edit { within, .. } => within.as_ref(),
        Effect::Delete => None,
    };
    match (old, new) {
        (Some(Err(_)), Err(why)) => vec![no_text(site, within, why, Verdict::Broken, Vec::new())],
        (_, Err(why)) => {
            let path = within.map(|w| &w.path.value);
            let near = match (was, now, path) {
                (Some(was), Some(now), Some(path)) => {
                    near::paths(&[(&was.original, &now.original), (&was.state, &now.state)], path)
                }
                _ => Vec::new(),
            };
            vec![no_text(site, within, why, Verdict::Gone, near)]
        }
        (old, Ok(new)) => {
            let old = old.and_then(|outcome| outcome.as_ref().ok());
            let mut both = Both { old: old.map(|t| (t, t.before.clone())), new: (new, new.before.clone()) };
            let judge = |(index, operation): (usize, &Operation)| {
                let told = OperationUpdate {
                    resource: site.resource.to_owned(),
                    path: operation.path.value.to_string(),
                    within: within.map(|w| w.path.value.to_string()),
                    line: site.patch.place(operation.span.clone()).line(),
                    ours: ours(operation).cloned(),
                    ..OperationUpdate::default()
                };
                let mut told = both.operation(index, operation, told);
                told.notes.extend(both.note_of_base(operation, &told));
                both.advance(index);
                told
            };
            change.operations().iter().enumerate().map(judge).collect()
        }
    }
}

/// The verdict on a change whose text is not there, or cannot be read.
fn no_text(
    site: &Site<'_>,
    within: Option<&Within>,
    why: &Diagnostic,
    verdict: Verdict,
    near: Vec<String>,
) -> OperationUpdate {
    OperationUpdate {
        resource: site.resource.to_owned(),
        path: within.map(|w| w.path.value.to_string()).unwrap_or_default(),
        line: within.map_or(1, |w| site.patch.place(w.path.span.clone()).line()),
        next: match verdict {
            Verdict::Broken => MEND.to_owned(),
            _ if !near.is_empty() => POINT_THERE.to_owned(),
            _ => String::new(),
        },
        verdict,
        message: why.message.clone(),
        notes: hints(near, why),
        ..OperationUpdate::default()
    }
}

/// What to do about an operation: one that does not fit the locked base either,
const MEND: &str = "Mend it before the base follows; `overlay verify` tells what is wrong with it now.";
/// one that replaces what upstream changed,
const DECIDE: &str =
    "If the patch is still right, --write --accept-conflicts follows upstream; if not, change or drop it first.";
/// one that expects what upstream changed,
const EXPECT: &str =
    "If the patch is still right, write upstream's value into its `was:` or `test`; if not, change or drop it.";
/// one that adds what upstream has,
const REPLACE: &str = "Write `op: replace` to put another value in its place, or drop the operation.";
/// and one whose place may be another one.
const POINT_THERE: &str = "Point the path there if that is the same thing, or drop the operation.";

/// Which of the places that a path with `*` means the values are from, and how many more are like it.
fn one_of_several(path: &Path, keyed: &Path, more: usize) -> Vec<String> {
    if !path.segments().contains(&Segment::Each) {
        return Vec::new();
    }
    let more = match more {
        0 => String::new(),
        1 => ", and so for 1 more place".to_owned(),
        more => format!(", and so for {more} more places"),
    };
    vec![format!("It is so for {keyed}{more}.")]
}

/// What an operation writes.
fn ours(operation: &Operation) -> Option<&Value> {
    match &operation.op {
        Op::Add(new) | Op::Replace(new) | Op::Test(new) => Some(&new.value),
        Op::Remove | Op::Move { .. } | Op::Copy { .. } => None,
    }
}

/// The paths that an operation has: its own, then where it takes from.
fn addressed(operation: &Operation) -> impl Iterator<Item = &Path> {
    let from = match &operation.op {
        Op::Move { from } | Op::Copy { from } => Some(&from.value),
        _ => None,
    };
    std::iter::once(&operation.path.value).chain(from)
}

/// Candidates first, then what the failure says of itself. What it advises is advice where there is no candidate.
fn hints(near: Vec<String>, why: &Diagnostic) -> Vec<String> {
    let has_candidate = !near.is_empty();
    let help = why.help.iter().filter(|_| !has_candidate);
    let notes = why.notes.iter().filter(|note| !note.starts_with("This is operation"));
    near.into_iter().map(|path| format!("It may be at {path} now.")).chain(notes.chain(help).cloned()).collect()
}

/// A change on both sides, and how far each has come.
struct Both<'a> {
    old: Option<(&'a Tried, Value)>,
    new: (&'a Tried, Value),
}

impl Both<'_> {
    /// The verdict on the next operation, told into `told`.
    fn operation(&self, index: usize, operation: &Operation, told: OperationUpdate) -> OperationUpdate {
        if let Some(why) = self.old.as_ref().and_then(|(old, _)| old.failure(index)) {
            if self.new.0.failure(index).is_some() {
                let message = why.message.clone();
                return OperationUpdate {
                    verdict: Verdict::Broken,
                    message,
                    ours: None,
                    next: MEND.to_owned(),
                    ..told
                };
            }
            let notes = vec![format!("It does not fit the locked base: {}.", why.message)];
            return OperationUpdate { notes, ours: None, ..told };
        }
        if let Some(other) = self.another_item(operation) {
            let stops = self.new.0.failure(index).is_some();
            let verdict = if stops { Verdict::Refused } else { Verdict::UpstreamChanged };
            return OperationUpdate { verdict, ..other.tell(told) };
        }
        if let Some(why) = self.new.0.failure(index) {
            return self.failed(index, operation, why, told);
        }
        let steps: Vec<&Step> = self.new.0.steps(index).collect();
        if steps.is_empty() && self.new.0.is_already(index) {
            let message = "upstream has it; take it out of the patch".to_owned();
            let (base, upstream) = self.taken_over(index);
            return OperationUpdate { verdict: Verdict::AlreadyUpstream, message, base, upstream, ..told };
        }
        // What is moved is moved as upstream has it now.
        let steps = steps.into_iter().filter(|_| !matches!(operation.op, Op::Move { .. }));
        let mut others = steps.filter_map(|step| Some((&step.origin.keyed, self.replaced_another(index, step)?)));
        if let Some((keyed, (base, upstream))) = others.next() {
            let message = match operation.op {
                Op::Remove => "upstream changed what it takes out",
                _ => "upstream changed what it replaces",
            };
            return OperationUpdate {
                verdict: Verdict::UpstreamChanged,
                message: message.to_owned(),
                base: Some(base.clone()),
                upstream: Some(upstream.clone()),
                notes: one_of_several(&operation.path.value, keyed, others.count()),
                next: DECIDE.to_owned(),
                ..told
            };
        }
        OperationUpdate { notes: self.other_places(index, &operation.path.value), ..told }
    }

    /// What is to be said of the value that is told as the base's, where earlier patches made it.
    fn note_of_base(&self, operation: &Operation, told: &OperationUpdate) -> Option<String> {
        let (old, state) = self.old.as_ref()?;
        let (base, path) = (told.base.as_ref()?, &operation.path.value);
        let is_patched = first(state, path) == Some(base) && first(old.published.as_deref()?, path) != Some(base);
        is_patched.then(|| "What stands as the base's is what earlier patches make of it.".to_owned())
    }

    /// The value that a step replaces or takes out in the base and upstream, where these are not the same.
    fn replaced_another(&self, index: usize, step: &Step) -> Option<(&Value, &Value)> {
        let (old, value) = self.old.as_ref()?;
        if matches!(step.action, Action::Add(_)) {
            return None;
        }
        let fellow = old.steps(index).find(|s| s.origin.keyed == step.origin.keyed)?;
        let (before, after) = (at(value, &fellow.path)?, at(&self.new.1, &step.path)?);
        (before != after).then_some((before, after))
    }

    /// What is to be said where the operation, by `*`, means other places than before. Where it appends, the list is
    /// the place: the index that the new item gets means nothing.
    fn other_places(&self, index: usize, path: &Path) -> Vec<String> {
        let Some((old, _)) = &self.old else { return Vec::new() };
        let (last, way) = match path.segments().split_last() {
            Some((last, way)) if way.contains(&Segment::Each) || *last == Segment::Each => (last, way),
            _ => return Vec::new(),
        };
        let appends = matches!(last, Segment::Key(key) if key == "-");
        let count = if appends { way.len() } else { path.segments().len() };
        let keyed = |tried: &Tried| -> Vec<Path> {
            let steps = tried.steps(index).map(|s| &s.origin);
            let already = tried.attempt.run.already.iter().filter(|o| o.operation == index);
            steps.chain(already).map(|o| o.keyed.first(count)).collect()
        };
        let (before, after) = (keyed(old), keyed(self.new.0));
        let more = after.iter().filter(|p| !before.contains(p)).map(|p| format!("It now means {p} too."));
        let less = before.iter().filter(|p| !after.contains(p)).map(|p| format!("{p} is no longer there."));
        more.chain(less).collect()
    }

    /// The verdict on an operation that does not fit upstream, and fitted the base.
    fn failed(&self, index: usize, operation: &Operation, why: &Diagnostic, told: OperationUpdate) -> OperationUpdate {
        if matches!(why.code, Code::ValueMismatch | Code::AddOverExisting | Code::DuplicateItem) {
            return self.refused(operation, why, told);
        }
        let near = self.near(operation);
        let base = self.lost(index, &operation.path.value);
        if why.code == Code::PathMissing
            && let Some(message) = self.upstream_did_so(index, operation, &near)
        {
            return OperationUpdate { verdict: Verdict::Overtaken, message: message.to_owned(), base, ..told };
        }
        // Where no place is near, the failure itself says what to do.
        let next = if near.is_empty() { String::new() } else { POINT_THERE.to_owned() };
        let notes = hints(near, why);
        OperationUpdate { verdict: Verdict::Gone, message: why.message.clone(), base, notes, next, ..told }
    }

    /// The verdict on an operation that meets another value than it is for. The failure knows the place: one of
    /// several that the path means, or the item of the name of one that is added.
    fn refused(&self, operation: &Operation, why: &Diagnostic, told: OperationUpdate) -> OperationUpdate {
        let path = &operation.path.value;
        let met = why.path.as_deref().and_then(|path| Path::parse(path).ok()).unwrap_or_else(|| path.clone());
        let (message, next) = match why.code {
            Code::ValueMismatch => ("upstream changed the value that the patch expects", EXPECT.to_owned()),
            Code::AddOverExisting => ("upstream has a value of its own there now", REPLACE.to_owned()),
            _ => (why.message.as_str(), format!("Change that item, `{met}`, or drop the operation.")),
        };
        OperationUpdate {
            verdict: Verdict::Refused,
            message: message.to_owned(),
            base: self.old.as_ref().and_then(|(_, value)| first(value, &met)).cloned(),
            upstream: first(&self.new.1, &met).cloned(),
            notes: one_of_several(path, &met, 0),
            next,
            ..told
        }
    }

    /// What is there in the base and upstream where an operation finds done what it does, at the first such place.
    fn taken_over(&self, index: usize) -> (Option<Value>, Option<Value>) {
        let already = &self.new.0.attempt.run.already;
        let Some(place) = already.iter().find(|origin| origin.operation == index) else { return (None, None) };
        let base = self.old.as_ref().and_then(|(_, value)| first(value, &place.keyed));
        (base.cloned(), first(&self.new.1, &place.keyed).cloned())
    }

    /// What the base has at the place that is gone upstream: of several that the path means, the first that is.
    fn lost(&self, index: usize, path: &Path) -> Option<Value> {
        let (old, value) = self.old.as_ref()?;
        let mut means = old.steps(index).map(|step| &step.origin.keyed);
        let gone = means.find(|keyed| path.segments().contains(&Segment::Each) && first(&self.new.1, keyed).is_none());
        first(value, gone.unwrap_or(path)).cloned()
    }

    /// Where what the operation leads to may be now, by upstream's own values first: earlier patches may have made less
    /// alike what upstream renamed.
    fn near(&self, operation: &Operation) -> Vec<String> {
        let Some((old, before)) = &self.old else { return Vec::new() };
        let (new, after) = &self.new;
        let published = old.published.as_deref().zip(new.published.as_deref());
        let sides: Vec<(&Value, &Value)> = published.into_iter().chain(std::iter::once((before, after))).collect();
        let lost = addressed(operation).filter(|path| first(after, path).is_none());
        lost.flat_map(|path| near::paths(&sides, path)).collect()
    }

    /// What upstream did itself, where that is what the operation does. What it only renamed is not taken out.
    fn upstream_did_so(&self, index: usize, operation: &Operation, near: &[String]) -> Option<&'static str> {
        let (old, before) = self.old.as_ref()?;
        match &operation.op {
            Op::Remove if near.is_empty() && old.steps(index).next().is_some() => {
                Some("upstream took it out too; take it out of the patch, which cannot be built with it")
            }
            Op::Replace(new) => {
                let (Segment::Item(text), way) = operation.path.value.segments().split_last()? else { return None };
                let list = operation.path.value.first(way.len());
                let (before, after) = (first(before, &list)?.as_array()?, first(&self.new.1, &list)?.as_array()?);
                let is_gone = !after.iter().filter_map(scalar_text).any(|item| item == *text);
                (is_gone && after.contains(&new.value) && !before.contains(&new.value)).then_some(
                    "upstream replaced it by the same; take it out of the patch, which cannot be built with it",
                )
            }
            _ => None,
        }
    }

    /// The first item on the way of the operation that it addresses by index, and that is another one upstream.
    fn another_item(&self, operation: &Operation) -> Option<AnotherItem> {
        let (_, old) = self.old.as_ref()?;
        addressed(operation).find_map(|path| another_item(old, &self.new.1, path))
    }

    /// Makes the steps of an operation on both values.
    fn advance(&mut self, index: usize) {
        let sides = self.old.iter_mut().chain(std::iter::once(&mut self.new));
        for (tried, value) in sides {
            // They were made on that value before.
            tried.steps(index).for_each(|step| drop(apply(value, step)));
        }
    }
}

impl Tried {
    fn steps(&self, index: usize) -> impl Iterator<Item = &Step> {
        self.attempt.run.steps.iter().filter(move |step| step.origin.operation == index)
    }

    fn failure(&self, index: usize) -> Option<&Diagnostic> {
        self.attempt.failures.iter().find(|(at, _)| *at == index).map(|(_, why)| &**why)
    }

    fn is_already(&self, index: usize) -> bool {
        self.attempt.run.already.iter().any(|origin| origin.operation == index)
    }
}

/// The first value that a path leads to.
fn first<'v>(value: &'v Value, path: &Path) -> Option<&'v Value> {
    places(value, path).first().and_then(|tokens| at(value, tokens))
}

/// An index at which upstream has another item now.
struct AnotherItem {
    /// The list and the index.
    path: Path,
    index: usize,
    base: Value,
    upstream: Value,
    /// What the items are called, where they have a key.
    names: Option<(String, String)>,
    /// Where the base's item is now.
    now_at: Option<usize>,
    /// The key that tells the items apart.
    key: Option<&'static str>,
}

impl AnotherItem {
    fn tell(self, told: OperationUpdate) -> OperationUpdate {
        let index = self.index;
        let mut notes = Vec::new();
        let next = match &self.names {
            Some(_) if self.key.is_some() => "",
            _ => "Correct the index if the patch is still right; if not, change or drop it.",
        };
        let message = match &self.names {
            Some((base, upstream)) => {
                format!("index {index} of {} is another item now: it was {base}, and is {upstream}", self.path)
            }
            None => format!("index {index} of {} is another item now", self.path),
        };
        if let Some(now) = self.now_at {
            notes.push(format!("What it was written for has index {now} now."));
        }
        if let (Some(key), Some((base, _))) = (self.key, &self.names) {
            let selector = Segment::Select(vec![Condition { key: key.to_owned(), value: base.clone() }]);
            notes.push(format!("Address it by its key: {}/{selector}.", self.path));
        }
        OperationUpdate {
            message,
            base: Some(self.base),
            upstream: Some(self.upstream),
            notes,
            next: next.to_owned(),
            ..told
        }
    }
}

fn another_item(old: &Value, new: &Value, path: &Path) -> Option<AnotherItem> {
    let segments = path.segments().iter().enumerate();
    let indices = segments.filter_map(|(at, segment)| Some((at, index(segment)?)));
    indices.into_iter().find_map(|(count, index)| {
        let list = path.first(count);
        let (before, after) = (first(old, &list)?.as_array()?, first(new, &list)?.as_array()?);
        let (was, is) = (before.get(index)?, after.get(index)?);
        let key = key_of(&list, before, after);
        let name = |item: &Value| key.and_then(|key| name(key, item));
        let names = name(was).zip(name(is));
        let is_another = match &names {
            Some((was, is)) => was != is,
            // Without a key, an item is another one where it, or what was there, stands elsewhere on the other side.
            None => was != is && (after.contains(was) || before.contains(is)),
        };
        let now_at = match &names {
            Some((was, _)) => after.iter().position(|item| name(item).as_ref() == Some(was)),
            None => after.iter().position(|item| item == was),
        };
        let field = key.filter(|key| key.fields().len() == 1).and_then(|key| key.fields().first().copied());
        is_another.then(|| AnotherItem {
            path: list,
            index,
            base: was.clone(),
            upstream: is.clone(),
            names,
            now_at,
            key: field,
        })
    })
}

fn index(segment: &Segment) -> Option<usize> {
    match segment {
        Segment::Key(key) if key.bytes().all(|b| b.is_ascii_digit()) => key.parse().ok(),
        _ => None,
    }
}

/// The merge key of a list: by its type, or by what its items have.
fn key_of(list: &Path, before: &[Value], after: &[Value]) -> Option<MergeKey> {
    let field = |segment: &'_ Segment| match segment {
        Segment::Key(key) if index(segment).is_none() => Some(key.clone()),
        _ => None,
    };
    let fields: Vec<String> = list.segments().iter().filter_map(field).collect();
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    let by_type = MergeKey::of_list(&fields).filter(|key| key.tells_apart(before) && key.tells_apart(after));
    by_type.or_else(|| MergeKey::common(before, after))
}

/// What an item is called by its key.
fn name(key: MergeKey, item: &Value) -> Option<String> {
    let texts: Vec<Cow<'_, str>> = key.of_item(item)?.into_iter().map(|(_, text)| text).collect();
    Some(texts.join(","))
}
