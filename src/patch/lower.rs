//! From the operations of a patch to plain RFC 6902 on one value, strictly checked.
//!
//! Each operation meets the value that those before it leave. Its path becomes keys and indices, `was` is held against
//! what is there, and the operation becomes [`Step`]s: `move` a removal and an addition, `copy` an addition, `test`
//! nothing. Beyond RFC 6902, an `add` over a mapping key with another value and an item whose merge key is in the list
//! already are refused, and what would change nothing is told and left out.
//!
//! Nothing here edits text, and nothing reads a file.

use std::ops::Range;

use serde_json::Value;

use super::apply::apply;
use super::model::{Change, Effect, Op, Operation, Patch, Within, Written};
use super::path::{Path, Segment};
use super::resolve::{
    Absent, Hit, Miss, There, at, by_key, item_index, kind_of, merge_key, new_key, resolve, shown, wrong_kind,
};
use super::step::{Action, New, Origin, Step};
use crate::diag::{Code, Diagnostic, Place};
use crate::yaml::tree::MAX_DEPTH;

/// How much one change may write into one document, in bytes of compact JSON. Copies and `*` could make it exponential.
pub const MAX_WRITTEN: usize = 16 << 20;

/// One change of a patch, on one document.
#[derive(Clone, Debug)]
pub struct Site<'a> {
    /// The patch.
    pub patch: &'a Patch,
    /// Which of its changes, from 0.
    pub change: usize,
    /// The document, as messages name it: `kind.group/namespace/name`.
    pub resource: &'a str,
    /// Where the document begins, if its file can be shown.
    pub place: Option<Place>,
}

/// What a change does to a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// The value afterwards. The order of its mapping keys means nothing.
    pub value: Value,
    /// The steps that lead there.
    pub steps: Vec<Step>,
    /// The operations that change nothing, at these places.
    pub already: Vec<Origin>,
}

/// Why an operation does not fit.
struct Problem {
    code: Code,
    /// The place in keyed form, as far as it is known.
    path: Path,
    /// One sentence.
    message: String,
    notes: Vec<String>,
    help: Vec<String>,
    /// The bytes of the patch file that are wrong, if not the operation's path.
    span: Option<Range<usize>>,
    /// The value in the patch file that is not the one that is there.
    expected: Option<Range<usize>>,
}

impl Problem {
    fn new(code: Code, path: &Path, message: impl Into<String>) -> Problem {
        Problem {
            code,
            path: path.clone(),
            message: message.into(),
            notes: Vec::new(),
            help: Vec::new(),
            span: None,
            expected: None,
        }
    }

    fn of_miss(miss: Miss, path: &Path) -> Problem {
        Problem { notes: miss.notes, help: miss.help, ..Problem::new(miss.code, path, miss.what) }
    }

    fn note(mut self, note: impl Into<String>) -> Problem {
        self.notes.push(note.into());
        self
    }

    fn help(mut self, help: impl Into<String>) -> Problem {
        self.help.push(help.into());
        self
    }

    fn at(mut self: Box<Problem>, span: &Range<usize>) -> Box<Problem> {
        self.span = Some(span.clone());
        self
    }
}

/// One place where an operation does something, or finds it done.
struct Plan {
    path: Vec<String>,
    keyed: Path,
    /// `None` where nothing is left to do.
    action: Option<Action>,
}

impl<'a> Site<'a> {
    /// Runs the operations of the change on a value: the document's, or for a change with `within` that of the embedded
    /// text. A change that deletes its document has none.
    ///
    /// # Errors
    /// When an operation does not fit; those after it were not looked at.
    pub fn run(&self, value: &Value) -> Result<Run, Box<Diagnostic>> {
        let operations = self.change().map_or(&[][..], Change::operations);
        let mut run = Run { value: value.clone(), ..Run::default() };
        let mut written = 0;
        for (index, operation) in operations.iter().enumerate() {
            self.run_operation(index, operation, &mut run, &mut written)
                .map_err(|problem| Box::new(self.explain(index, operation, *problem)))?;
        }
        Ok(run)
    }

    /// The text that the change edits, with the keys and indices that lead to it; `None` for a change without `within`.
    ///
    /// # Errors
    /// When the path leads nowhere, or to something that is no text.
    pub fn text_within<'v>(&self, document: &'v Value) -> Result<Option<(Vec<String>, &'v str)>, Box<Diagnostic>> {
        let Some(within) = self.within() else { return Ok(None) };
        let found = find_text(document, &within.path.value);
        found.map(Some).map_err(|problem| {
            let span = within.path.span.clone();
            Box::new(self.finding(*problem, span))
        })
    }

    /// The warning for an operation that changes nothing.
    pub fn already_upstream(&self, origin: &Origin) -> Diagnostic {
        let place = at(&origin.keyed);
        let problem =
            Problem::new(Code::AlreadyUpstream, &origin.keyed, format!("{place} is as the patch wants it already"));
        let operation = self.change().and_then(|c| c.operations().get(origin.operation));
        let (span, note) =
            operation.map_or_else(|| (0..0, None), |o| (o.path.span.clone(), Some(self.which(origin.operation, o))));
        let mut finding =
            self.finding(problem, span).help("Take the operation out, or the patch if nothing else is in it.");
        finding.notes.extend(note);
        finding
    }

    fn change(&self) -> Option<&'a Change> {
        self.patch.changes.get(self.change)
    }

    fn within(&self) -> Option<&'a Within> {
        match &self.change()?.effect {
            Effect::Edit { within, .. } => within.as_ref(),
            Effect::Delete => None,
        }
    }

    fn run_operation(
        &self,
        index: usize,
        operation: &Operation,
        run: &mut Run,
        written: &mut usize,
    ) -> Result<(), Box<Problem>> {
        let path = &operation.path.value;
        let mut carry_out = |run: &mut Run, plans: Vec<Plan>| self.carry_out(index, run, plans, written);
        match &operation.op {
            Op::Test(expected) => test(&run.value, path, expected),
            Op::Add(new) => {
                let plans = plan_add(&run.value, operation, &written_new(operation, new))?;
                carry_out(run, plans)
            }
            Op::Replace(new) => {
                let plans = plan_replace(&run.value, operation, &written_new(operation, new))?;
                carry_out(run, plans)
            }
            Op::Remove => {
                let plans = plan_remove(&run.value, operation)?;
                carry_out(run, plans)
            }
            Op::Copy { from } => {
                let source = the_source(&run.value, &from.value).map_err(|problem| problem.at(&from.span))?;
                let comment = operation.comment.as_ref().map(|c| c.value.clone());
                let new = New { value: source.1.clone(), spelled: None, comment };
                let plans = plan_add(&run.value, operation, &new)?;
                carry_out(run, plans)
            }
            Op::Move { from } => {
                let source = the_source(&run.value, &from.value).map_err(|problem| problem.at(&from.span))?;
                let new = New { value: source.1.clone(), spelled: None, comment: None };
                let plan = plan_take(source, &from.value, operation)?;
                if from.value == *path {
                    return carry_out(run, vec![Plan { action: None, ..plan }]);
                }
                carry_out(run, vec![plan])?;
                let plans = plan_add(&run.value, operation, &new)?;
                carry_out(run, plans)
            }
        }
    }

    /// Makes the steps of the plans on the value.
    fn carry_out(
        &self,
        operation: usize,
        run: &mut Run,
        plans: Vec<Plan>,
        written: &mut usize,
    ) -> Result<(), Box<Problem>> {
        for Plan { path, keyed, action } in plans {
            let origin = Origin { patch: self.patch.name.value.clone(), change: self.change, operation, keyed };
            let Some(action) = action else {
                run.already.push(origin);
                continue;
            };
            if let Action::Add(new) | Action::Replace(new) = &action {
                check_size(&new.value, path.len(), &origin.keyed, written)?;
            }
            let step = Step { action, path, origin };
            apply(&mut run.value, &step).map_err(|error| {
                let message = format!("an operation that was checked does not apply: {error}");
                Box::new(Problem::new(Code::Internal, &step.origin.keyed, message))
            })?;
            run.steps.push(step);
        }
        Ok(())
    }

    /// The diagnostic of an operation that does not fit.
    fn explain(&self, index: usize, operation: &Operation, problem: Problem) -> Diagnostic {
        let span = problem.span.clone().unwrap_or_else(|| operation.path.span.clone());
        let expected = problem.expected.clone();
        let mut finding = self.finding(problem, span);
        finding.notes.push(self.which(index, operation));
        if let Some(expected) = expected {
            finding.related.insert(0, (self.patch.place(expected), "the value that is expected".into()));
        }
        finding
    }

    fn finding(&self, problem: Problem, span: Range<usize>) -> Diagnostic {
        let mut finding = Diagnostic::new(problem.code, problem.message)
            .at(self.patch.place(span), label(problem.code))
            .patch(&self.patch.name.value)
            .resource(self.resource)
            .path(problem.path.to_string());
        finding.notes = problem.notes;
        finding.help = problem.help;
        if let Some(place) = &self.place {
            finding.related.push((place.clone(), format!("{} is here", self.resource)));
        }
        finding
    }

    /// Which operation it is, in words.
    fn which(&self, index: usize, operation: &Operation) -> String {
        let change = self.change();
        let count = change.map_or(0, |c| c.operations().len());
        let of_change = match self.patch.changes.len() {
            1 => String::new(),
            changes => format!(" of change {} of {changes}", self.change + 1),
        };
        let inside = self.within().map_or_else(String::new, |w| format!(", inside the text at {}", at(&w.path.value)));
        format!("This is operation {} of {count}{of_change}, `{}`{inside}.", index + 1, operation.op.word())
    }
}

/// What is said at the caret.
fn label(code: Code) -> &'static str {
    match code {
        Code::SelectorAmbiguous => "this means more than one item",
        Code::ParentMissing => "there is nothing to put it in",
        Code::AddOverExisting | Code::AlreadyUpstream => "this is there already",
        Code::DuplicateItem => "the list has such an item already",
        Code::ValueMismatch => "another value is here",
        Code::PathInvalid => "this cannot be a place here",
        _ => "this leads nowhere",
    }
}

fn written_new(operation: &Operation, written: &Written) -> New {
    let comment = operation.comment.as_ref().map(|c| c.value.clone());
    New { value: written.value.clone(), spelled: Some(written.node), comment }
}

/// The places that are there at the end of a path, and their values.
fn existing<'v>(value: &'v Value, path: &Path) -> Result<Vec<(Hit<'v>, &'v Value)>, Box<Problem>> {
    let hits = resolve(value, path.segments(), Absent::Fails).map_err(|m| Box::new(Problem::of_miss(*m, path)))?;
    Ok(hits.into_iter().filter_map(|hit| if let There::Value(v) = hit.there { Some((hit, v)) } else { None }).collect())
}

/// The one place that a `from` means.
fn the_source<'v>(value: &'v Value, from: &Path) -> Result<(Hit<'v>, &'v Value), Box<Problem>> {
    if from.segments().contains(&Segment::Each) {
        let message = "`from` means one place, and `*` means every item";
        return Err(Box::new(Problem::new(Code::PathInvalid, from, message)));
    }
    let missing = || Box::new(Problem::new(Code::PathMissing, from, format!("{} is not there", at(from))));
    existing(value, from)?.pop().ok_or_else(missing)
}

fn find_text<'v>(document: &'v Value, path: &Path) -> Result<(Vec<String>, &'v str), Box<Problem>> {
    let (hit, value) = the_source(document, path)?;
    let Value::String(text) = value else {
        let message = format!("{} is {} and not a text that could be edited inside", at(path), kind_of(value));
        return Err(Box::new(Problem::new(Code::PathMissing, path, message)));
    };
    Ok((hit.tokens, text))
}

/// Holds `was` or the value of a `test` against what is there.
fn check_value(hit: &Hit<'_>, there: &Value, expected: &Written) -> Result<(), Box<Problem>> {
    if *there == expected.value {
        return Ok(());
    }
    let message = format!("{} is not {}", at(&hit.keyed), shown(&expected.value));
    let mut problem = Problem::new(Code::ValueMismatch, &hit.keyed, message)
        .note(format!("Expected: {}.", shown(&expected.value)))
        .note(format!("Actual: {}.", shown(there)));
    problem.expected = Some(expected.span.clone());
    Err(Box::new(problem))
}

fn test(value: &Value, path: &Path, expected: &Written) -> Result<(), Box<Problem>> {
    existing(value, path)?.iter().try_for_each(|(hit, there)| check_value(hit, there, expected))
}

fn plan_replace(value: &Value, operation: &Operation, new: &New) -> Result<Vec<Plan>, Box<Problem>> {
    let plan = |(hit, there): (Hit<'_>, &Value)| {
        // Where the new value is there already, the old one cannot be, and that is no conflict.
        if *there == new.value {
            return Ok(Plan { path: hit.tokens, keyed: hit.keyed, action: None });
        }
        operation.was.as_ref().map_or(Ok(()), |was| check_value(&hit, there, was))?;
        Ok(Plan { path: hit.tokens, keyed: hit.keyed, action: Some(Action::Replace(new.clone())) })
    };
    existing(value, &operation.path.value)?.into_iter().map(plan).collect()
}

fn plan_remove(value: &Value, operation: &Operation) -> Result<Vec<Plan>, Box<Problem>> {
    let path = &operation.path.value;
    let found = existing(value, path)?;
    // From the last to the first, so that the indices of those to come stay.
    found.into_iter().rev().map(|found| plan_take(found, path, operation)).collect()
}

/// Takes a value out, for a `remove` or a `move`.
fn plan_take(found: (Hit<'_>, &Value), path: &Path, operation: &Operation) -> Result<Plan, Box<Problem>> {
    let (hit, there) = found;
    if path.is_empty() {
        let message = "a document cannot be taken out of itself";
        let problem = Problem::new(Code::PathInvalid, path, message);
        return Err(Box::new(problem.help("To leave the document out, write `delete: true` in place of `patch:`.")));
    }
    let to = operation.path.value.segments();
    if matches!(operation.op, Op::Move { .. }) && to.len() > path.segments().len() && to.starts_with(path.segments()) {
        let message = format!("{} cannot be moved into itself", at(path));
        return Err(Box::new(Problem::new(Code::PathInvalid, &operation.path.value, message)));
    }
    operation.was.as_ref().map_or(Ok(()), |was| check_value(&hit, there, was))?;
    Ok(Plan { path: hit.tokens, keyed: hit.keyed, action: Some(Action::Remove) })
}

fn plan_add(value: &Value, operation: &Operation, new: &New) -> Result<Vec<Plan>, Box<Problem>> {
    let path = &operation.path.value;
    let Some((last, parent)) = path.segments().split_last() else { return add_document(value, new).map(|p| vec![p]) };
    let absent = if operation.parents { Absent::IsPassed } else { Absent::Fails };
    let hits = resolve(value, parent, absent).map_err(|miss| Box::new(parent_missing(*miss, operation)))?;
    let plan = |hit| add_below(hit, last, operation, new);
    hits.into_iter().map(plan).collect()
}

/// `add` at the empty path, which RFC 6902 takes for a replacement.
fn add_document(value: &Value, new: &New) -> Result<Plan, Box<Problem>> {
    if *value == new.value {
        return Ok(Plan { path: Vec::new(), keyed: Path::default(), action: None });
    }
    let problem = Problem::new(Code::AddOverExisting, &Path::default(), "the document is there already");
    Err(Box::new(problem.help("Write `op: replace` to put another in its place.")))
}

/// A miss on the way to the place of an addition.
fn parent_missing(miss: Miss, operation: &Operation) -> Problem {
    let path = &operation.path.value;
    if !miss.is_absent || operation.parents {
        return Problem::of_miss(miss, path);
    }
    let problem = Problem { code: Code::ParentMissing, ..Problem::of_miss(miss, path) };
    problem.help("Add `parents: true` to the operation, if the mappings on the way are to be made.")
}

/// An addition to one mapping or list.
fn add_below(hit: Hit<'_>, last: &Segment, operation: &Operation, new: &New) -> Result<Plan, Box<Problem>> {
    let path = &operation.path.value;
    let missed = |miss: Box<Miss>| Box::new(Problem::of_miss(*miss, path));
    match hit.there {
        There::Value(Value::Null) if operation.parents => {
            let made = hit.tokens.len();
            add_with_parents(hit, last, Action::Replace, made, new).map_err(missed)
        }
        There::Null(made) => add_with_parents(hit, last, Action::Replace, made, new).map_err(missed),
        // The mapping at token `made` lacks that key, so the key itself is what is added.
        There::NoKey(made) => add_with_parents(hit, last, Action::Add, made + 1, new).map_err(missed),
        There::Value(parent) => match (parent, last) {
            (Value::Object(map), Segment::Key(key)) => add_key(hit, key, map.get(key), operation, new),
            (Value::Array(items), _) => add_item(hit, items, last, path, new),
            _ => Err(Box::new(parent_missing(wrong_kind(parent, last, &hit.keyed), operation))),
        },
    }
}

fn add_key(
    hit: Hit<'_>,
    key: &str,
    there: Option<&Value>,
    operation: &Operation,
    new: &New,
) -> Result<Plan, Box<Problem>> {
    let Hit { mut tokens, mut keyed, .. } = hit;
    tokens.push(key.to_owned());
    keyed.push(Segment::Key(key.to_owned()));
    match there {
        None => Ok(Plan { path: tokens, keyed, action: Some(Action::Add(new.clone())) }),
        Some(there) if *there == new.value => Ok(Plan { path: tokens, keyed, action: None }),
        Some(there) => {
            let message = format!("{} is there already, with another value", at(&keyed));
            let help = match operation.op {
                Op::Add(_) => "Write `op: replace` to put another value in its place.",
                _ => "Remove what is there first.",
            };
            let problem = Problem::new(Code::AddOverExisting, &keyed, message);
            Err(Box::new(problem.note(format!("There is {}.", shown(there))).help(help)))
        }
    }
}

/// Adds the mappings on the way together with the value. `made` is the number of tokens that lead to the outermost
/// value that is written.
fn add_with_parents(
    hit: Hit<'_>,
    last: &Segment,
    action: fn(New) -> Action,
    made: usize,
    new: &New,
) -> Result<Plan, Box<Miss>> {
    let key = new_key(last, &hit.keyed)?;
    let Hit { mut tokens, mut keyed, .. } = hit;
    tokens.push(key);
    keyed.push(last.clone());
    let inner = tokens.split_off(made);
    let value = inner
        .into_iter()
        .rev()
        .fold(new.value.clone(), |value, key| Value::Object(serde_json::Map::from_iter([(key, value)])));
    let spelled = new.spelled.filter(|_| value == new.value);
    let new = New { value, spelled, comment: new.comment.clone() };
    Ok(Plan { path: tokens, keyed, action: Some(action(new)) })
}

fn add_item(hit: Hit<'_>, items: &[Value], last: &Segment, path: &Path, new: &New) -> Result<Plan, Box<Problem>> {
    let index = match last {
        Segment::Key(key) if key == "-" => items.len(),
        _ => item_index(items, last, &hit.keyed, items.len()).map_err(|m| Box::new(Problem::of_miss(*m, path)))?,
    };
    let key = merge_key(&hit.tokens, &hit.keyed);
    let name = |index: usize| {
        let mut keyed = hit.keyed.clone();
        let by_text = || new.value.as_str().map(|text| Segment::Item(text.to_owned()));
        let by_index = || Segment::Key(index.to_string());
        keyed.push(key.and_then(|k| by_key(k, &new.value)).or_else(by_text).unwrap_or_else(by_index));
        keyed
    };
    if let Some(there) = items.iter().position(|item| *item == new.value) {
        let mut tokens = hit.tokens.clone();
        tokens.push(there.to_string());
        return Ok(Plan { path: tokens, keyed: name(there), action: None });
    }
    let named = key.and_then(|key| key.of_item(&new.value).map(|name| (key, name)));
    if let Some((key, wanted)) = named
        && let Some(there) = items.iter().position(|item| key.of_item(item).as_ref() == Some(&wanted))
    {
        return Err(Box::new(duplicate_item(&hit.keyed, &name(there), there, &items[there])));
    }
    let keyed = name(index);
    let mut tokens = hit.tokens;
    tokens.push(index.to_string());
    Ok(Plan { path: tokens, keyed, action: Some(Action::Add(new.clone())) })
}

fn duplicate_item(list: &Path, keyed: &Path, index: usize, there: &Value) -> Problem {
    let item = keyed.segments().last().map(ToString::to_string).unwrap_or_default();
    Problem::new(Code::DuplicateItem, keyed, format!("{} has an item `{item}` already, with other content", at(list)))
        .note(format!("Index {index} is {}.", shown(there)))
        .help(format!("Change that item: `{keyed}`."))
}

/// Bounds how much is written and how deep it nests, so that copies of copies end.
fn check_size(value: &Value, depth: usize, path: &Path, written: &mut usize) -> Result<(), Box<Problem>> {
    if depth + nesting(value) > MAX_DEPTH {
        let message = format!("what would be written nests deeper than {MAX_DEPTH} levels");
        return Err(Box::new(Problem::new(Code::PathInvalid, path, message)));
    }
    *written += weight(value);
    if *written > MAX_WRITTEN {
        let message = format!("the change would write more than {} MiB into the document", MAX_WRITTEN >> 20);
        return Err(Box::new(Problem::new(Code::PathInvalid, path, message)));
    }
    Ok(())
}

/// How deep a value nests. Values nest no deeper than [`MAX_DEPTH`]: what is read is bounded, and what is written.
fn nesting(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(nesting).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(nesting).max().unwrap_or(0),
        _ => 0,
    }
}

/// About how many bytes a value takes as compact JSON.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| 1 + weight(item)).sum::<usize>(),
        Value::Object(map) => 2 + map.iter().map(|(key, item)| 4 + key.len() + weight(item)).sum::<usize>(),
        Value::Number(number) => number.as_str().len(),
        Value::Bool(_) | Value::Null => 5,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::Findings;
    use crate::diag::Source;
    use crate::yaml::load::load_text;

    fn patch(operations: &str) -> Patch {
        let text = format!(
            "apiVersion: overlay/v1\nkind: Patch\nname: p\nchanges:\n- target: {{kind: A}}\n  patch:\n{operations}\n"
        );
        let mut findings = Findings::new();
        let patch = Patch::read(&Source::new("p.yaml", text), &mut findings);
        assert_eq!(findings.iter().map(|f| f.message.as_str()).collect::<Vec<_>>(), Vec::<&str>::new());
        patch.unwrap()
    }

    fn run_on(document: &Value, operations: &str) -> Result<Run, Box<Diagnostic>> {
        let patch = patch(operations);
        let place = Place::new(&Source::new("base.yaml", "kind: A\n"), 0..4);
        Site { patch: &patch, change: 0, resource: "A/one", place: Some(place) }.run(document)
    }

    /// What each operation became, or found done, with the keyed place.
    fn steps(document: &Value, operations: &str) -> Vec<String> {
        let run = run_on(document, operations).unwrap();
        let already = run.already.iter().map(|o| format!("already {}", o.keyed));
        let step = |s: &Step| {
            let path = Path::of_keys(&s.path);
            let keyed = if path == s.origin.keyed { String::new() } else { format!(" = {}", s.origin.keyed) };
            match &s.action {
                Action::Add(new) => format!("add {path} {}{keyed}", new.value),
                Action::Replace(new) => format!("replace {path} {}{keyed}", new.value),
                Action::Remove => format!("remove {path}{keyed}"),
            }
        };
        run.steps.iter().map(step).chain(already).collect()
    }

    /// The finding as `code at keyed-path: message | note | help`, the note of which operation it is left out.
    fn problem(document: &Value, operations: &str) -> String {
        let finding = run_on(document, operations).unwrap_err();
        let mut text = format!("{} at {}: {}", finding.code, finding.path.unwrap_or_default(), finding.message);
        let facts = finding.notes.iter().filter(|n| !n.starts_with("This is operation")).chain(&finding.help);
        facts.for_each(|fact| text = format!("{text} | {fact}"));
        text
    }

    fn daemon() -> Value {
        load_text(
            "spec:\n  paused: false\n  containers:\n  - name: agent\n    image: a:1\n    args: [--verbose, '-q']\n    ports:\n    \
             - {containerPort: 53, protocol: UDP}\n    - {containerPort: 53}\n  - {name: proxy, image: p:1, args: []}\n  labels:\n",
        )
        .unwrap()
        .value
    }

    #[test]
    fn selectors_become_indices() {
        assert_eq!(
            steps(
                &daemon(),
                "  - {op: replace, path: '/spec/containers/[name=proxy]/image', value: p:2}\n  \
                   - {op: remove, path: '/spec/containers/[name=agent]/args/[=-q]'}\n  \
                   - {op: remove, path: '/spec/containers/0/ports/[containerPort=53,protocol=UDP]'}\n"
            ),
            [
                "replace /spec/containers/1/image \"p:2\" = /spec/containers/[name=proxy]/image",
                "remove /spec/containers/0/args/1 = /spec/containers/[name=agent]/args/[=-q]",
                "remove /spec/containers/0/ports/0 = /spec/containers/0/ports/[containerPort=53,protocol=UDP]",
            ]
        );
    }

    #[test]
    fn a_star_is_every_item_and_removals_go_from_the_last() {
        assert_eq!(
            steps(
                &daemon(),
                "  - {op: replace, path: /spec/containers/*/image, value: x}\n  - {op: remove, path: /spec/containers/*}\n"
            ),
            [
                "replace /spec/containers/0/image \"x\" = /spec/containers/[name=agent]/image",
                "replace /spec/containers/1/image \"x\" = /spec/containers/[name=proxy]/image",
                "remove /spec/containers/1 = /spec/containers/[name=proxy]",
                "remove /spec/containers/0 = /spec/containers/[name=agent]",
            ]
        );
        assert_eq!(
            problem(&daemon(), "  - {op: remove, path: /spec/containers/*/ports}"),
            "path-missing at /spec/containers/*/ports: `/spec/containers/[name=proxy]` has no key `ports` \
             | The keys there are: name, image, args."
        );
        assert_eq!(
            problem(&daemon(), "  - {op: remove, path: /spec/containers/1/args/*}"),
            "path-missing at /spec/containers/1/args/*: `/spec/containers/1/args` is an empty list"
        );
    }

    #[test]
    fn additions_go_before_an_item_or_behind_the_last() {
        assert_eq!(
            steps(
                &daemon(),
                "  - {op: add, path: /spec/containers/-, value: {name: last}}\n  \
                   - {op: add, path: '/spec/containers/[name=proxy]', value: {name: mid}}\n  \
                   - {op: add, path: '/spec/containers/[name=agent]/args/0', value: first}\n  \
                   - {op: add, path: '/spec/containers/[name=proxy]/args/0', value: 1}\n"
            ),
            [
                "add /spec/containers/2 {\"name\":\"last\"} = /spec/containers/[name=last]",
                "add /spec/containers/1 {\"name\":\"mid\"} = /spec/containers/[name=mid]",
                "add /spec/containers/0/args/0 \"first\" = /spec/containers/[name=agent]/args/[=first]",
                "add /spec/containers/2/args/0 1 = /spec/containers/[name=proxy]/args/0",
            ]
        );
    }

    #[test]
    fn what_is_there_already_is_told_and_not_done() {
        assert_eq!(
            steps(
                &daemon(),
                "  - {op: add, path: /spec/paused, value: false}\n  \
                   - {op: replace, path: /spec/paused, value: false, was: true}\n  \
                   - {op: add, path: '/spec/containers/[name=agent]/args/-', value: --verbose}\n  \
                   - {op: add, path: '/spec/containers/0/ports/-', value: {protocol: UDP, containerPort: 53}}\n  \
                   - {op: move, from: /spec/paused, path: /spec/paused}\n"
            ),
            [
                "already /spec/paused",
                "already /spec/paused",
                "already /spec/containers/[name=agent]/args/[=--verbose]",
                "already /spec/containers/0/ports/[containerPort=53,protocol=UDP]",
                "already /spec/paused",
            ]
        );
    }

    #[test]
    fn an_operation_that_changes_nothing_has_a_warning() {
        let patch = patch("  - {op: add, path: /a, value: 1}\n  - {op: add, path: /b, value: 1}\n");
        let site = Site { patch: &patch, change: 0, resource: "A/one", place: None };
        let run = site.run(&json!({"b": 1})).unwrap();
        let finding = site.already_upstream(&run.already[0]);
        assert_eq!(finding.message, "`/b` is as the patch wants it already");
        assert_eq!((finding.severity.as_str(), finding.place.unwrap().line()), ("warning", 8));
        assert_eq!(finding.notes, ["This is operation 2 of 2, `add`."]);
    }

    #[test]
    fn an_addition_over_another_value_is_refused() {
        assert_eq!(
            problem(&daemon(), "  - {op: add, path: /spec/paused, value: true}"),
            "add-over-existing at /spec/paused: `/spec/paused` is there already, with another value \
             | There is `false`. | Write `op: replace` to put another value in its place."
        );
        assert_eq!(
            problem(&daemon(), "  - {op: add, path: '', value: {}}"),
            "add-over-existing at : the document is there already | Write `op: replace` to put another in its place."
        );
        assert_eq!(
            problem(&daemon(), "  - {op: copy, from: /spec/labels, path: /spec/paused}"),
            "add-over-existing at /spec/paused: `/spec/paused` is there already, with another value \
             | There is `false`. | Remove what is there first."
        );
    }

    #[test]
    fn an_item_with_a_known_merge_key_and_other_content_is_refused() {
        assert_eq!(
            problem(&daemon(), "  - {op: add, path: /spec/containers/-, value: {name: proxy, image: p:2}}"),
            "duplicate-item at /spec/containers/[name=proxy]: `/spec/containers` has an item `[name=proxy]` already, with other \
             content | Index 1 is `{\"name\":\"proxy\",\"image\":\"p:1\",\"args\":[]}`. | Change that item: `/spec/containers/[name=proxy]`."
        );
        assert!(
            problem(
                &daemon(),
                "  - {op: add, path: /spec/containers/0/ports/-, value: {containerPort: 53, protocol: TCP, name: x}}"
            )
            .starts_with("duplicate-item")
        );
    }

    #[test]
    fn what_is_missing_is_told_with_what_is_there() {
        assert_eq!(
            problem(&daemon(), "  - {op: replace, path: '/spec/containers/[name=agent]/imagee', value: x}"),
            "path-missing at /spec/containers/[name=agent]/imagee: `/spec/containers/[name=agent]` has no key `imagee` \
             | The keys there are: name, image, args, ports. | Did you mean `image`?"
        );
        assert_eq!(
            problem(&daemon(), "  - {op: remove, path: '/spec/containers/[name=agnet]'}"),
            "path-missing at /spec/containers/[name=agnet]: `/spec/containers` has no item `[name=agnet]` \
             | The items there are: agent, proxy. | Did you mean `agent`?"
        );
        assert_eq!(
            problem(&daemon(), "  - {op: remove, path: '/spec/containers/0/args/[=--verbos]'}"),
            "path-missing at /spec/containers/0/args/[=--verbos]: `/spec/containers/0/args` has no item `[=--verbos]` \
             | The items there are: --verbose, -q. | Did you mean `--verbose`?"
        );
        assert_eq!(
            problem(&daemon(), "  - {op: remove, path: /spec/containers/name}"),
            "path-missing at /spec/containers/name: `/spec/containers` is a list, and has no key `name` \
             | The items there are: agent, proxy. | Address an item by index, or by key: `[name=…]`."
        );
        assert_eq!(
            problem(&daemon(), "  - {op: remove, path: /spec/paused/x}"),
            "path-missing at /spec/paused/x: `/spec/paused` is a boolean, and has no key `x`"
        );
        assert_eq!(
            problem(&daemon(), "  - {op: remove, path: '/spec/[name=x]'}"),
            "path-missing at /spec/[name=x]: `/spec` is a mapping, and `[name=x]` means an item of a list \
             | A key that begins with `[` is written with `~2`, the key `*` with `~3`."
        );
    }

    #[test]
    fn selectors_compare_texts_and_must_mean_one_item() {
        let document = json!({"l": [{"port": 53}, {"port": "54"}, {"port": "53"}, "x"]});
        assert_eq!(
            problem(&document, "  - {op: remove, path: '/l/[port=53]'}"),
            "selector-ambiguous at /l/[port=53]: 2 items of `/l` are `[port=53]` | They have the indices 0, 2."
        );
        assert_eq!(steps(&document, "  - {op: remove, path: '/l/[port=54]'}"), ["remove /l/1 = /l/[port=54]"]);
        assert_eq!(steps(&document, "  - {op: remove, path: '/l/[=x]'}"), ["remove /l/3 = /l/[=x]"]);
    }

    #[test]
    fn indices_are_strict() {
        let document = json!({"l": [1, 2], "e": [], "01": 1});
        for (path, expected) in [
            ("/l/2", "path-missing at /l/2: `/l` has 2 items, and no index 2"),
            ("/e/0", "path-missing at /e/0: `/e` is an empty list, and has no index 0"),
            (
                "/l/99999999999999999999999",
                "path-missing at /l/99999999999999999999999: `/l` has 2 items, and no index 18446744073709551615",
            ),
            (
                "/l/01",
                "path-invalid at /l/01: `01` is not an index: `/l` is a list | An index is written 0, 1, 2 …, without a sign or leading zeros.",
            ),
            (
                "/l/-1",
                "path-invalid at /l/-1: `-1` is not an index: `/l` is a list | An index is written 0, 1, 2 …, without a sign or leading zeros.",
            ),
            (
                "/l/-",
                "path-invalid at /l/-: `-` is the place behind the last item of `/l`, where nothing is | Only an operation that adds can end in `-`.",
            ),
        ] {
            assert_eq!(problem(&document, &format!("  - {{op: remove, path: {path}}}")), expected);
        }
        assert_eq!(
            problem(&document, "  - {op: add, path: /l/3, value: 1}"),
            "path-missing at /l/3: `/l` has 2 items, and no index 3"
        );
        assert_eq!(
            steps(&document, "  - {op: add, path: /l/2, value: 3}\n  - {op: remove, path: /01}"),
            ["add /l/2 3", "remove /01"]
        );
        assert_eq!(
            problem(&document, "  - {op: add, path: /l/*, value: 3}"),
            "path-invalid at /l/*: `*` means every item, and one place is wanted here"
        );
    }

    #[test]
    fn the_old_value_guards_an_operation() {
        let document = json!({"n": 1, "m": {"a": [1]}});
        assert_eq!(steps(&document, "  - {op: replace, path: /n, was: 1, value: 2}"), ["replace /n 2"]);
        assert_eq!(steps(&document, "  - {op: test, path: /m, value: {a: [1]}}"), Vec::<String>::new());
        for operation in ["replace, path: /n, was: 3, value: 2", "remove, path: /n, was: 3", "test, path: /n, value: 3"]
        {
            let finding = run_on(&document, &format!("  - {{op: {operation}}}")).unwrap_err();
            assert_eq!((finding.code, finding.message.as_str()), (Code::ValueMismatch, "`/n` is not `3`"));
            assert_eq!(finding.notes[..2], ["Expected: `3`.", "Actual: `1`."]);
            let (place, said) = &finding.related[0];
            assert_eq!((&place.source.text[place.span.clone()], said.as_str()), ("3", "the value that is expected"));
        }
        assert_eq!(
            problem(&document, "  - {op: move, from: /n, was: '1', path: /o}"),
            "value-mismatch at /n: `/n` is not `\"1\"` | Expected: `\"1\"`. | Actual: `1`."
        );
    }

    #[test]
    fn parents_are_made_where_they_are_asked_for() {
        let document = json!({"a": {"nothing": null}, "l": []});
        assert_eq!(
            problem(&document, "  - {op: add, path: /a/b/c, value: 1}"),
            "parent-missing at /a/b/c: `/a` has no key `b` | The keys there are: nothing. \
             | Add `parents: true` to the operation, if the mappings on the way are to be made."
        );
        assert_eq!(
            problem(&document, "  - {op: add, path: /a/nothing/c, value: 1}"),
            "parent-missing at /a/nothing/c: `/a/nothing` is null, and has no key `c` \
             | Add `parents: true` to the operation, if the mappings on the way are to be made."
        );
        let made = |path: &str| steps(&document, &format!("  - {{op: add, path: {path}, value: 1, parents: true}}"));
        assert_eq!(made("/a/b/c"), [r#"add /a/b {"c":1} = /a/b/c"#]);
        assert_eq!(made("/a/b/c/d"), [r#"add /a/b {"c":{"d":1}} = /a/b/c/d"#]);
        assert_eq!(made("/x"), ["add /x 1"]);
        assert_eq!(made("/a/nothing/c/d"), [r#"replace /a/nothing {"c":{"d":1}} = /a/nothing/c/d"#]);
        assert_eq!(made("/a/nothing/c"), [r#"replace /a/nothing {"c":1} = /a/nothing/c"#]);
        assert_eq!(
            problem(&document, "  - {op: add, path: /a/b/-, value: 1, parents: true}"),
            "parent-missing at /a/b/-: `/a/b` is not there, and `parents` makes mappings only, no lists"
        );
        assert_eq!(
            problem(&document, "  - {op: add, path: /l/0/b, value: 1, parents: true}"),
            "path-missing at /l/0/b: `/l` is an empty list, and has no index 0"
        );
        assert_eq!(
            problem(&document, "  - {op: add, path: /lx/y, value: 1}"),
            "parent-missing at /lx/y: the document has no key `lx` | The keys there are: a, l. | Did you mean `l`? \
             | Add `parents: true` to the operation, if the mappings on the way are to be made."
        );
    }

    #[test]
    fn moving_takes_out_and_adds() {
        let document = json!({"l": [1, 2, 3], "m": {"a": 1}});
        assert_eq!(steps(&document, "  - {op: move, from: /l/0, path: /l/2}"), ["remove /l/0", "add /l/2 1"]);
        assert_eq!(steps(&document, "  - {op: copy, from: /m, path: /m/b}"), ["add /m/b {\"a\":1}"]);
        assert_eq!(
            problem(&document, "  - {op: move, from: /m, path: /m/b}"),
            "path-invalid at /m/b: `/m` cannot be moved into itself"
        );
        assert_eq!(
            problem(&document, "  - {op: move, from: /l/*, path: /m/b}"),
            "path-invalid at /l/*: `from` means one place, and `*` means every item"
        );
        assert_eq!(
            problem(&document, "  - {op: remove, path: ''}"),
            "path-invalid at : a document cannot be taken out of itself \
             | To leave the document out, write `delete: true` in place of `patch:`."
        );
        let finding = run_on(&document, "  - op: copy\n    from: /x\n    path: /y\n").unwrap_err();
        assert_eq!((finding.code, finding.place.unwrap().line()), (Code::PathMissing, 8));
    }

    #[test]
    fn a_finding_says_which_operation_of_which_patch_on_what() {
        let operations = "  - {op: add, path: /a, value: 2}\n  - {op: remove, path: /spec/paused}\n  - {op: add, path: /b, value: 5}";
        let finding = run_on(&json!({"spec": {"replicas": 1}}), operations).unwrap_err();
        let place = finding.place.unwrap();
        assert_eq!((place.line(), place.column(), &place.source.text[place.span]), (8, 24, "/spec/paused"));
        assert_eq!((finding.patch.as_deref(), finding.resource.as_deref()), (Some("p"), Some("A/one")));
        assert_eq!(finding.notes.last().unwrap(), "This is operation 2 of 3, `remove`.");
        let (place, said) = finding.related.last().unwrap();
        assert_eq!((place.source.name.as_str(), place.line(), said.as_str()), ("base.yaml", 1, "A/one is here"));
    }

    #[test]
    fn each_operation_meets_what_those_before_it_leave() {
        let operations = "  - {op: add, path: /l/0, value: {name: b}}\n  - {op: remove, path: '/l/[name=a]'}\n  \
                          - {op: replace, path: '/l/[name=b]/name', was: b, value: c}\n";
        let run = run_on(&json!({"l": [{"name": "a"}]}), operations).unwrap();
        assert_eq!(run.value, json!({"l": [{"name": "c"}]}));
        assert_eq!(run.steps.iter().map(|s| s.path.join("/")).collect::<Vec<_>>(), ["l/0", "l/1", "l/0/name"]);
    }

    #[test]
    fn copies_of_copies_end() {
        let copies = |paths: Vec<String>| {
            let operation = |path: &String| format!("  - {{op: copy, from: '', path: {path}}}\n");
            let document = json!({"t": "x".repeat(1000)});
            run_on(&document, &paths.iter().map(operation).collect::<String>()).unwrap_err().message
        };
        let wide = (0..60).map(|i| format!("/k{i}")).collect();
        assert_eq!(copies(wide), "the change would write more than 16 MiB into the document");
        let deep = (0..8).map(|i| "/m".repeat(1 << i)).collect();
        assert_eq!(copies(deep), "what would be written nests deeper than 200 levels");
    }

    #[test]
    fn a_text_within_is_found_by_path() {
        let text = "apiVersion: overlay/v1\nkind: Patch\nname: p\nchanges:\n- target: {kind: A}\n  \
                    within: {path: '/l/[name=x]/text', as: json}\n  patch: [{op: remove, path: /a}]\n";
        let mut findings = Findings::new();
        let patch = Patch::read(&Source::new("p.yaml", text), &mut findings).unwrap();
        let site = Site { patch: &patch, change: 0, resource: "A/one", place: None };
        let document = json!({"l": [{"name": "y"}, {"name": "x", "text": "{}"}]});
        let (tokens, found) = site.text_within(&document).unwrap().unwrap();
        assert_eq!((tokens.join("/").as_str(), found), ("l/1/text", "{}"));
        let finding = site.text_within(&json!({"l": [{"name": "x", "text": 1}]})).unwrap_err();
        assert_eq!(
            (finding.code, finding.message.as_str(), finding.place.unwrap().line()),
            (Code::PathMissing, "`/l/[name=x]/text` is a number and not a text that could be edited inside", 6)
        );
        let finding = site.run(&json!({"b": 1})).unwrap_err();
        assert_eq!(finding.notes[1], "This is operation 1 of 1, `remove`, inside the text at `/l/[name=x]/text`.");
    }

    #[test]
    fn steps_carry_the_spelling_and_the_comment() {
        let patch = patch("  - op: add\n    path: /a\n    value: 'x'\n    comment: why\n");
        let site = Site { patch: &patch, change: 0, resource: "A/one", place: None };
        let run = site.run(&json!({})).unwrap();
        let change = run.steps[0].as_change(&patch);
        let crate::change::Action::Add(new) = change.action else { panic!() };
        let spelled = new.spelled.unwrap();
        assert_eq!(&spelled.text[spelled.tree.node(spelled.node).span.clone()], "'x'");
        assert_eq!((change.path, new.comment), (&["a".to_owned()][..], Some("why")));
    }
}
