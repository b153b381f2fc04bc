//! From the operations of a patch to plain RFC 6902 on one value, strictly checked.
//!
//! Each operation meets the value that those before it leave. Its path becomes keys and indices, `was` is held against
//! what is there, and the operation becomes [`Step`]s: `move` a removal and an addition, `copy` an addition, `test`
//! nothing. Beyond RFC 6902, an `add` over a mapping key with another value and an item whose merge key is in the list
//! already are refused, and what would change nothing is told and left out.
//!
//! Nothing here edits text, and nothing reads a file.

use std::ops::Range;

use serde_json::{Map, Value};

use super::apply::apply;
use super::model::{Change, Effect, Op, Operation, Patch, Within, Written};
use super::path::{Path, Segment};
use super::resolve::{
    Absent, Hit, MAX_SHOWN, Miss, There, at, by_key, item_index, kind_of, make_list, merge_key, new_key, resolve,
    shown, wrong_kind,
};
use super::step::{Action, New, Origin, Spelling, Step};
use crate::diag::visible::shortened_pair;
use crate::diag::{Code, Diagnostic, Place};
use crate::embedded::{EmbeddedError, Language};
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
}

/// What a change does to a value.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The value afterwards. The order of its mapping keys means nothing.
    pub value: Value,
    /// The steps that lead there.
    pub steps: Vec<Step>,
    /// The operations that change nothing, at these places.
    pub already: Vec<Origin>,
}

/// What a change does to a value where operations that do not fit are passed over.
#[derive(Debug, Default)]
pub struct Attempt {
    /// What the operations that fit do.
    pub run: Run,
    /// The operations that do not fit, from 0, and why.
    pub failures: Vec<(usize, Box<Diagnostic>)>,
}

/// A text that a document embeds, found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextWithin<'v> {
    /// The keys and indices that lead to it.
    pub path: Vec<String>,
    /// The text.
    pub text: &'v str,
    /// What it is written in.
    pub language: Language,
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
    /// What to do where the path goes into a text, outside of texts.
    inside: Option<String>,
    /// Whether it is too much, and nothing else is wrong with it.
    is_too_much: bool,
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
            inside: None,
            is_too_much: false,
        }
    }

    /// A limit that is gone beyond.
    fn too_much(path: &Path, message: impl Into<String>, help: &str) -> Box<Problem> {
        Box::new(Problem { is_too_much: true, ..Problem::new(Code::PathInvalid, path, message).help(help) })
    }

    fn of_miss(miss: Miss, path: &Path) -> Problem {
        let inside = miss.inside.map(|language| reach_inside(&miss.reached, path, language));
        let Miss { is_too_much, .. } = miss;
        Problem { notes: miss.notes, help: miss.help, inside, is_too_much, ..Problem::new(miss.code, path, miss.what) }
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
    /// The keys of mappings that are made around the value, the outermost first.
    around: Vec<String>,
}

impl Plan {
    fn new(path: Vec<String>, keyed: Path, action: Option<Action>) -> Plan {
        Plan { path, keyed, action, around: Vec::new() }
    }
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

    /// Like [`Site::run`], but goes on behind an operation that does not fit, as if the change did not have it.
    pub fn attempt(&self, value: &Value) -> Attempt {
        let operations = self.change().map_or(&[][..], Change::operations);
        let mut attempt = Attempt { run: Run { value: value.clone(), ..Run::default() }, failures: Vec::new() };
        let mut written = 0;
        for (index, operation) in operations.iter().enumerate() {
            let run = &mut attempt.run;
            let (steps, already) = (run.steps.len(), run.already.len());
            let Err(problem) = self.run_operation(index, operation, run, &mut written) else { continue };
            attempt.failures.push((index, Box::new(self.explain(index, operation, *problem))));
            run.already.truncate(already);
            if run.steps.len() > steps {
                run.steps.truncate(steps);
                run.value = value.clone();
                // They were made on that value before.
                run.steps.iter().for_each(|step| drop(apply(&mut run.value, step)));
            }
        }
        attempt
    }

    /// The text that the change edits, with the keys and indices that lead to it; `None` for a change without `within`.
    ///
    /// # Errors
    /// When the path leads nowhere, or to something that is no text.
    pub fn text_within<'v>(&self, document: &'v Value) -> Result<Option<TextWithin<'v>>, Box<Diagnostic>> {
        let Some(within) = self.within() else { return Ok(None) };
        let (path, text) = find_text(document, &within.path.value)
            .map_err(|problem| Box::new(self.finding(*problem, within.path.span.clone())))?;
        Ok(Some(TextWithin { path, text, language: within.language.value }))
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

    /// The finding for a text within a document that is not of its language. `place` is where in the document's file
    /// the mistake is, if that is known.
    pub fn unreadable(&self, text: &str, error: &EmbeddedError, place: Option<Place>) -> Diagnostic {
        let within = self.within();
        let path = within.map(|w| w.path.value.clone()).unwrap_or_default();
        let language = within.map_or(Language::Json, |w| w.language.value);
        let (line, column) = line_column(text, error.offset);
        let message = format!("the text at {} is not {}: {}", at(&path), language.name(), error.message);
        let help = match Language::of(text) {
            Some(other) => format!("The text is {}: write `as: {}`.", other.name(), other.as_str()),
            None => "Mend the text upstream, or replace it as a whole: an operation without `within` can.".to_owned(),
        };
        let problem = Problem::new(Code::EmbeddedUnreadable, &path, message)
            .note(format!("The mistake is in line {line}, column {column} of the text."))
            .help(help);
        let mut finding = self.finding(problem, within.map_or(0..0, |w| w.path.span.clone()));
        if let Some(place) = place {
            finding.related.push((place, format!("line {line} of the text")));
        }
        finding
    }

    /// The bytes of the path of the operation that a step comes from, or of the whole change where it has none.
    pub fn span_of(&self, origin: &Origin) -> Range<usize> {
        let change = self.patch.changes.get(origin.change);
        let operation = change.and_then(|c| c.operations().get(origin.operation));
        operation.map(|o| o.path.span.clone()).or_else(|| change.map(|c| c.span.clone())).unwrap_or(0..0)
    }

    /// What to write for the path of the operation that a step comes from, where a key with a `/` in it was written as it
    /// stands.
    pub fn one_key(&self, origin: &Origin) -> Option<String> {
        one_key(&self.patch.changes.get(origin.change)?.operations().get(origin.operation)?.path.value)
    }

    /// Where the operation that a step comes from writes a text.
    pub fn place_of_text(&self, origin: &Origin, text: &str) -> Place {
        let change = self.patch.changes.get(origin.change);
        match change.and_then(|c| c.operations().get(origin.operation)) {
            Some(operation) => self.patch.place_of_text(operation, text),
            None => self.patch.place(self.span_of(origin)),
        }
    }

    /// Whether the operation that a step comes from says that an image may lose its digest.
    pub fn may_unpin(&self, origin: &Origin) -> bool {
        let change = self.patch.changes.get(origin.change);
        change.and_then(|c| c.operations().get(origin.operation)).is_some_and(|o| o.unpin)
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
                let new = New { comment, ..taken(&source) };
                let plans = plan_add(&run.value, operation, &new)?;
                carry_out(run, plans)
            }
            Op::Move { from } => {
                let source = the_source(&run.value, &from.value).map_err(|problem| problem.at(&from.span))?;
                let new = taken(&source);
                let plan = plan_take(source, &from.value, operation)?;
                if from.value == *path {
                    return carry_out(run, vec![Plan { action: None, ..plan }]);
                }
                let taken = plan.path.clone();
                carry_out(run, vec![plan])?;
                let plans = plan_add(&run.value, operation, &new)?;
                carry_out(run, plans)?;
                if let Some(step) = run.steps.pop_if(|step| step.path == taken && matches!(step.action, Action::Add(_)))
                {
                    // It came back to where it was taken.
                    run.steps.pop();
                    run.already.push(step.origin);
                }
                Ok(())
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
        for Plan { path, keyed, action, around } in plans {
            let origin = Origin { patch: self.patch.name.value.clone(), change: self.change, operation, keyed };
            let Some(mut action) = action else {
                run.already.push(origin);
                continue;
            };
            if let Action::Add(new) | Action::Replace(new) = &mut action {
                wrap(new, around, self.patch);
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
        let inside = problem.inside.clone().filter(|_| self.within().is_none());
        let mut finding = self.finding(problem, span);
        finding.help.extend(inside);
        if finding.code == Code::PathMissing
            && let Some(help) = one_key(&operation.path.value)
        {
            finding.help = vec![help];
        }
        if finding.help.is_empty() && finding.code == Code::PathMissing {
            finding.help.push(path_missing_help(&operation.op).to_owned());
        }
        finding.notes.push(self.which(index, operation));
        if let Some(expected) = expected {
            finding.related.insert(0, (self.patch.place(expected), "the value that is expected".into()));
        }
        finding
    }

    fn finding(&self, problem: Problem, span: Range<usize>) -> Diagnostic {
        let mut finding = Diagnostic::new(problem.code, problem.message)
            .at(self.patch.place(span), if problem.is_too_much { "this is too much" } else { label(problem.code) })
            .patch(&self.patch.name.value)
            .resource(self.resource)
            .path(problem.path.to_string());
        finding.notes = problem.notes;
        finding.help = problem.help;
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

/// The keys and indices of every place that a path leads to; none where it leads nowhere.
pub fn places(value: &Value, path: &Path) -> Vec<Vec<String>> {
    existing(value, path).map_or_else(|_| Vec::new(), |found| found.into_iter().map(|(hit, _)| hit.tokens).collect())
}

/// Line and column of a byte of a text, both from 1, the column in characters.
fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or(before);
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// What is said at the caret.
fn label(code: Code) -> &'static str {
    match code {
        Code::SelectorAmbiguous => "this means more than one item",
        Code::ParentMissing => "there is nothing to put it in",
        Code::AddOverExisting | Code::AlreadyUpstream => "this is there already",
        Code::DuplicateItem => "the list has such an item already",
        Code::ValueMismatch => "another value is there",
        Code::EmbeddedUnreadable => "this text cannot be read",
        Code::PathInvalid => "this cannot be a place here",
        _ => "this leads nowhere",
    }
}

/// What to do about a path that leads nowhere, where nothing near it is there.
fn path_missing_help(op: &Op) -> &'static str {
    match op {
        Op::Replace(_) => "Correct the path; or write `op: add`, if this is to be new.",
        Op::Remove => "Correct the path; or take the operation out, if upstream no longer has this.",
        Op::Add(_) | Op::Move { .. } | Op::Copy { .. } | Op::Test(_) => "Correct the path.",
    }
}

/// What a `move` or `copy` writes.
fn taken((hit, value): &(Hit<'_>, &Value)) -> New {
    New { value: (*value).clone(), spelled: Some(Spelling::Taken(hit.tokens.clone())), comment: None }
}

fn written_new(operation: &Operation, written: &Written) -> New {
    let comment = operation.comment.as_ref().map(|c| c.value.clone());
    New { value: written.value.clone(), spelled: Some(Spelling::Patch(written.node)), comment }
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
    let (wanted, found) = shortened_pair(&expected.value.to_string(), &there.to_string(), MAX_SHOWN);
    let message = format!("{} is not what the patch expects", at(&hit.keyed));
    let mut problem = Problem::new(Code::ValueMismatch, &hit.keyed, message)
        .note(format!("Expected: `{wanted}`."))
        .note(format!("Actual:   `{found}`."))
        .help("See whether the patch is still right for what is there. If it is, expect the actual value; if not, change or drop the patch.");
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
            return Ok(Plan::new(hit.tokens, hit.keyed, None));
        }
        operation.was.as_ref().map_or(Ok(()), |was| check_value(&hit, there, was))?;
        Ok(Plan::new(hit.tokens, hit.keyed, Some(Action::Replace(new.clone()))))
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
    Ok(Plan::new(hit.tokens, hit.keyed, Some(Action::Remove)))
}

fn plan_add(value: &Value, operation: &Operation, new: &New) -> Result<Vec<Plan>, Box<Problem>> {
    let path = &operation.path.value;
    let Some((last, parent)) = path.segments().split_last() else { return add_document(value, new).map(|p| vec![p]) };
    let absent = if operation.parents { Absent::IsPassed } else { Absent::Fails };
    let hits = resolve(value, parent, absent).map_err(|miss| Box::new(parent_missing(*miss, operation)))?;
    let plan = |hit: Hit<'_>| match one_key(path).filter(|_| operation.parents && makes_a_mapping(&hit.there)) {
        Some(help) => Err(Box::new(splits_a_key(path, help))),
        None => add_below(hit, last, operation, new),
    };
    hits.into_iter().map(plan).collect()
}

/// `add` at the empty path, which RFC 6902 takes for a replacement.
fn add_document(value: &Value, new: &New) -> Result<Plan, Box<Problem>> {
    if *value == new.value {
        return Ok(Plan::new(Vec::new(), Path::default(), None));
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
    let reached = miss.reached.segments().len();
    let list = missing_list(path, reached);
    let mut problem = Problem { code: Code::ParentMissing, ..Problem::of_miss(miss, path) };
    if let Some(help) = one_key(path) {
        problem.help = vec![help];
        // What the key belongs into is there, so that nothing on the way is missing.
        if reached + 2 == path.segments().len() {
            return problem;
        }
    }
    problem.help(match list {
        Some(list) => make_list(&list),
        None => "Add `parents: true` to the operation, if the mappings on the way are to be made.".to_owned(),
    })
}

/// The list that a path leads into and that is not there: what the first `reached` segments lead to is null, or lacks the key
/// of the next.
fn missing_list(path: &Path, reached: usize) -> Option<Path> {
    let is_item = |segment: &Segment| match segment {
        Segment::Key(key) => key == "-" || key.bytes().all(|byte| byte.is_ascii_digit()),
        Segment::Select(_) | Segment::Item(_) | Segment::Each => true,
    };
    let of_null = path.segments().get(reached).is_some_and(|next| *next == Segment::Key("-".to_owned()));
    let list = if of_null { reached } else { reached + 1 };
    let item = path.segments().iter().skip(list).position(is_item)?;
    Some(path.first(list + item))
}

/// What to do about a path that goes on into a text.
fn reach_inside(text: &Path, path: &Path, language: Language) -> String {
    let rest = Path::from(path.segments().get(text.segments().len()..).unwrap_or_default().to_vec());
    format!(
        "The text is {}. To edit inside it, write `within: {{path: {}, as: {}}}` in the change, and `path: {}` here.",
        language.name(),
        quoted_in_flow(text),
        language.as_str(),
        quoted_in_flow(&rest),
    )
}

/// What to write for a path whose last key has a `/` that was written as it stands.
fn one_key(path: &Path) -> Option<String> {
    let meant = path.with_slash_in_key()?;
    let Some(Segment::Key(key)) = meant.segments().last() else { return None };
    Some(format!("If `{key}` is one key, write its `/` as `~1`: `path: {}`.", quoted_in_flow(&meant)))
}

/// Whether mappings are made on the way to an addition.
fn makes_a_mapping(there: &There<'_>) -> bool {
    matches!(there, There::NoKey(_) | There::Null(_) | There::Value(Value::Null))
}

/// What is said of a key with a `/` that `parents: true` would make two keys of: in a map of labels, annotations, amounts …
/// stands nothing that holds more. A cluster would refuse it, or drop it.
fn splits_a_key(path: &Path, help: String) -> Problem {
    let above = path.first(path.segments().len().saturating_sub(2));
    let key = path.segments().get(above.segments().len()).map(ToString::to_string).unwrap_or_default();
    let message = format!("{} holds no mappings, and `parents: true` would make `{key}` one", at(&above));
    Problem::new(Code::PathInvalid, path, message).help(help)
}

/// A path as it is written between braces.
fn quoted_in_flow(path: &Path) -> String {
    let path = path.to_string();
    if path.contains(['[', ',', '"']) { format!("'{path}'") } else { path }
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
            (Value::Array(items), _) => add_item(hit, items, last, operation, new),
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
        None => Ok(Plan::new(tokens, keyed, Some(Action::Add(new.clone())))),
        Some(there) if *there == new.value => Ok(Plan::new(tokens, keyed, None)),
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
    let around = tokens.split_off(made);
    Ok(Plan { path: tokens, keyed, action: Some(action(new.clone())), around })
}

/// Puts mappings with these keys around a value, the outermost first.
fn wrap(new: &mut New, keys: Vec<String>, patch: &Patch) {
    if keys.is_empty() {
        return;
    }
    new.spelled = match new.spelled.take() {
        Some(Spelling::Patch(node)) => Spelling::around(&keys, &new.value, node, patch),
        _ => None,
    };
    let inner = std::mem::take(&mut new.value);
    new.value = keys.into_iter().rev().fold(inner, |value, key| Value::Object(Map::from_iter([(key, value)])));
}

fn add_item(
    hit: Hit<'_>,
    items: &[Value],
    last: &Segment,
    operation: &Operation,
    new: &New,
) -> Result<Plan, Box<Problem>> {
    let missed = |miss: Box<Miss>| Box::new(Problem::of_miss(*miss, &operation.path.value));
    let index = match last {
        Segment::Key(key) if key == "-" => items.len(),
        _ => item_index(items, last, &hit.keyed, items.len()).map_err(missed)?,
    };
    let key = merge_key(&hit.tokens, &hit.keyed);
    let name = |index: usize| {
        let mut keyed = hit.keyed.clone();
        let by_text = || new.value.as_str().map(|text| Segment::Item(text.to_owned()));
        let by_index = || Segment::Key(index.to_string());
        keyed.push(key.and_then(|k| by_key(k, &new.value)).or_else(by_text).unwrap_or_else(by_index));
        keyed
    };
    // What is moved must not be lost in an item that is equal to it.
    let moves = matches!(operation.op, Op::Move { .. });
    if let Some(there) = items.iter().position(|item| *item == new.value && !moves) {
        let mut tokens = hit.tokens.clone();
        tokens.push(there.to_string());
        return Ok(Plan::new(tokens, name(there), None));
    }
    let named = key.and_then(|key| key.of_item(&new.value).map(|name| (key, name)));
    if let Some((key, wanted)) = named
        && let Some(there) = items.iter().position(|item| key.of_item(item).as_ref() == Some(&wanted))
    {
        let content = if items[there] == new.value { "" } else { ", with other content" };
        return Err(Box::new(duplicate_item(&hit.keyed, &name(there), content, (there, &items[there]))));
    }
    let keyed = name(index);
    let mut tokens = hit.tokens;
    tokens.push(index.to_string());
    Ok(Plan::new(tokens, keyed, Some(Action::Add(new.clone()))))
}

fn duplicate_item(list: &Path, keyed: &Path, content: &str, (index, there): (usize, &Value)) -> Problem {
    let item = keyed.segments().last().map(ToString::to_string).unwrap_or_default();
    Problem::new(Code::DuplicateItem, keyed, format!("{} has an item `{item}` already{content}", at(list)))
        .note(format!("Index {index} is {}.", shown(there)))
        .help(format!("Change that item: `{keyed}`."))
}

/// Bounds how much is written and how deep it nests, so that copies of copies end.
fn check_size(value: &Value, depth: usize, path: &Path, written: &mut usize) -> Result<(), Box<Problem>> {
    if depth + nesting(value) > MAX_DEPTH {
        let message = format!("what would be written nests deeper than {MAX_DEPTH} levels");
        return Err(Problem::too_much(path, message, "Write it less deep."));
    }
    *written += weight(value);
    if *written > MAX_WRITTEN {
        let message = format!("the change would write more than {} MiB into the document", MAX_WRITTEN >> 20);
        return Err(Problem::too_much(path, message, "Divide it over several changes, or write less."));
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
mod tests;
