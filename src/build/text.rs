//! The road over the text: the steps of a change as edits of byte ranges.

use std::sync::Arc;

use serde_json::Value;

use super::moot::Course;
use crate::change::{Action, Change, New, Spelled, Taken, TextEdit, apply_edits, pointer};
use crate::diag::{Code, Diagnostic, Place};
use crate::embedded::{self, Language};
use crate::patch::Patch;
use crate::patch::lower::{Run, Site, TextWithin};
use crate::patch::step::{self, Origin, Step};
use crate::yaml::edit::Source;
use crate::yaml::tree::{NodeId, Style, Tree};
use crate::yaml::{load, scalar};

/// A document as its text says it.
pub(super) type Text = Arc<Source<'static>>;

/// The text of a document on its way along the steps. Those that lie ahead are made together, once the text is needed, so that
/// it is read as seldom as can be.
#[derive(Clone, Debug)]
pub(super) struct Road {
    text: Text,
    ahead: Vec<Leg>,
}

/// A part of the way.
#[derive(Clone, Debug)]
enum Leg {
    /// Steps of one patch on the document.
    Steps(Arc<Patch>, Arc<[Step]>),
    /// Steps in a text that the document holds.
    Inside(Box<Inside>),
}

/// Steps of one patch or more in a text that a document holds, with nothing between them that could touch the text.
#[derive(Clone, Debug)]
struct Inside {
    language: Language,
    /// The text before them.
    before: Arc<str>,
    steps: Vec<(Arc<Patch>, Step)>,
    /// What they are on the text: edits by edits.
    edits: Vec<(usize, Vec<TextEdit>)>,
    /// All of them as one step on the document, which writes the text that they leave.
    whole: Step,
}

impl Road {
    /// A text that has all its steps behind it.
    pub(super) fn at(text: Text) -> Road {
        Road { text, ahead: Vec::new() }
    }

    /// The text, with the steps made that do not lie ahead.
    pub(super) fn text(&self) -> &Text {
        &self.text
    }

    /// Puts the steps of a patch behind those that lie ahead.
    pub(super) fn go_on(&mut self, patch: &Arc<Patch>, steps: Arc<[Step]>) {
        if !steps.is_empty() {
            self.ahead.push(Leg::Steps(Arc::clone(patch), steps));
        }
    }

    /// Makes all steps that lie ahead on the text of `resource`. Where one cannot be made, none is, and the finding is about
    /// the patch that it is of.
    pub(super) fn settle(&mut self, resource: &str) -> Result<(), Box<Diagnostic>> {
        let ahead = std::mem::take(&mut self.ahead);
        if !ahead.is_empty() {
            self.text = follow(resource, Arc::clone(&self.text), &ahead)?;
        }
        Ok(())
    }

    /// Makes a change inside a text that the document holds where it is now, and puts what is left to do in the document behind the
    /// steps that lie ahead. `place` finds a byte of the text in the document's file.
    pub(super) fn go_inside(
        &mut self,
        site: &Site<'_>,
        patch: &Arc<Patch>,
        found: &TextWithin<'_>,
        place: impl FnOnce(usize) -> Option<Place>,
    ) -> Result<Inner, Box<Diagnostic>> {
        let TextWithin { text, language, .. } = found;
        let read = embedded::read(*language, text)
            .map_err(|error| Box::new(site.unreadable(text, &error, place(error.offset))))?;
        let Run { value, steps, already } = site.run(&read)?;
        let Some(first) = steps.first() else { return Ok(Inner { text: (*text).to_owned(), already }) };
        let origin = first.origin.clone();
        let earlier = self.in_the_same(found);
        let is_taken = |taker: &Step| {
            let mut others = earlier.iter().filter_map(|at| self.inside(*at)).flat_map(|inside| &inside.steps);
            !matches!(taker.action, step::Action::Add(_))
                && others.any(|(_, other)| may_lie_in(&other.path, &taker.path))
        };
        let merges = steps.iter().any(is_taken);
        let steps = steps.into_iter().map(|step| (Arc::clone(patch), step));
        let first = earlier.first().filter(|_| merges).and_then(|at| Some((*at, self.inside(*at)?)));
        let Some((at, first)) = first else {
            let inside = Inside::new(site.resource, found, (*text).into(), steps.collect(), &value, &origin)?;
            let text = inside.after().to_owned();
            self.ahead.push(Leg::Inside(Box::new(inside)));
            return Ok(Inner { text, already });
        };
        let before = earlier.iter().filter_map(|at| self.inside(*at)).flat_map(|inside| inside.steps.iter().cloned());
        let (start, origin) = (Arc::clone(&first.before), first.whole.origin.clone());
        let inside = Inside::new(site.resource, found, start, before.chain(steps).collect(), &value, &origin)?;
        let text = inside.after().to_owned();
        if let Some(leg) = self.ahead.get_mut(at) {
            *leg = Leg::Inside(Box::new(inside));
        }
        for at in earlier.into_iter().skip(1).rev() {
            self.ahead.remove(at);
        }
        Ok(Inner { text, already })
    }

    fn inside(&self, leg: usize) -> Option<&Inside> {
        match self.ahead.get(leg) {
            Some(Leg::Inside(inside)) => Some(inside),
            _ => None,
        }
    }

    /// The legs that lie ahead in the same text, as far back as none between them could touch it.
    fn in_the_same(&self, found: &TextWithin<'_>) -> Vec<usize> {
        let mut legs = Vec::new();
        for (at, leg) in self.ahead.iter().enumerate().rev() {
            match leg {
                Leg::Inside(inside) if inside.whole.path != found.path => {}
                Leg::Inside(inside) if inside.language == found.language => legs.push(at),
                Leg::Steps(_, steps) if steps.iter().all(|step| leaves_alone(step, &found.path)) => {}
                _ => break,
            }
        }
        legs.reverse();
        legs
    }
}

impl Inside {
    /// Makes the steps on the text `before`; what they leave must say `value`.
    fn new(
        resource: &str,
        found: &TextWithin<'_>,
        before: Arc<str>,
        steps: Vec<(Arc<Patch>, Step)>,
        value: &Value,
        origin: &Origin,
    ) -> Result<Inside, Box<Diagnostic>> {
        let language = found.language;
        let read = embedded::read(language, &before).unwrap_or(Value::Null);
        let plain: Vec<&Step> = steps.iter().map(|(_, step)| step).collect();
        let course = Course::new(&read, &plain, &[]);
        // Steps that leave what the text says, as the move of an item among equal ones, leave the text.
        let changes_nothing = read == *value && plain.iter().all(|step| step.comment().is_none());
        let moot = if changes_nothing { vec![true; plain.len()] } else { course.moot() };
        let takes = language != Language::Toml && plain.iter().any(|step| step.taken().is_some());
        let source = if takes { Source::read(&*before).ok() } else { None };
        let start = source.as_ref().map(|source| Start { source, value: &read, language });
        let mut text = before.to_string();
        let mut edits = Vec::new();
        for (number, (patch, step)) in steps.iter().enumerate().filter(|(number, _)| moot.get(*number) == Some(&false))
        {
            let change = step.as_change(patch);
            let change = match (&start, step.taken()) {
                (Some(start), Some(_)) => as_it_stands(change, start, &course, number),
                _ => change,
            };
            let made = embedded::edit(language, &text, &change).map_err(|error| {
                Box::new(refused(&site(resource, patch, step), &step.origin, error.to_string()).help(REPLACE_THE_TEXT))
            })?;
            text = apply_edits(&text, &made);
            edits.push((number, made));
        }
        if !embedded::read(language, &text).is_ok_and(|after| after == *value) {
            let message = "the edited text inside the document is not what the operations make of its value";
            return Err(Box::new(Diagnostic::new(Code::Internal, message).patch(&origin.patch).resource(resource)));
        }
        let new = step::New { value: text.into(), spelled: None, comment: None };
        let whole = Step { action: step::Action::Replace(new), path: found.path.clone(), origin: origin.clone() };
        Ok(Inside { language, before, steps, edits, whole })
    }

    /// The text that they leave.
    fn after(&self) -> &str {
        match &self.whole.action {
            step::Action::Replace(new) => new.value.as_str().unwrap_or_default(),
            _ => "",
        }
    }

    /// Carries the edits into the document.
    fn carry(&self, resource: &str, mut outer: Text) -> Result<Text, Box<Diagnostic>> {
        for (number, edits) in &self.edits {
            let carried = outer.edited_within(&self.whole.path, edits).map_err(|error| {
                let finding = match self.steps.get(*number) {
                    Some((patch, step)) => refused(&site(resource, patch, step), &step.origin, error.to_string()),
                    None => Diagnostic::new(Code::EditRefused, error.to_string()).resource(resource),
                };
                Box::new(finding.help(REPLACE_THE_TEXT))
            })?;
            outer = carried.map_or(outer, |edited| Arc::new(edited.after));
        }
        Ok(outer)
    }
}

/// Whether a place may be in or at another, where indices count as equal, as they move.
fn may_lie_in(place: &[String], other: &[String]) -> bool {
    let is_index = |token: &String| token.bytes().all(|byte| byte.is_ascii_digit());
    let is_alike = |(one, other): (&String, &String)| one == other || (is_index(one) && is_index(other));
    place.len() >= other.len() && place.iter().zip(other).all(is_alike)
}

/// Whether a step lies beside the way to a place, and leaves it where it is.
fn leaves_alone(step: &Step, place: &[String]) -> bool {
    let common = step.path.iter().zip(place).take_while(|(one, other)| one == other).count();
    let moves_items = !matches!(step.action, step::Action::Replace(_))
        && common + 1 == step.path.len()
        && step.path.last().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
    common < step.path.len() && common < place.len() && !moves_items
}

/// A step on the way, and what it is of.
enum Leap<'l> {
    /// On the document.
    Step(&'l Patch, &'l Step),
    /// All those in a text.
    Inside(&'l Inside),
}

/// A document's text after the steps.
fn follow(resource: &str, text: Text, legs: &[Leg]) -> Result<Text, Box<Diagnostic>> {
    let mut leaps: Vec<Leap<'_>> = Vec::new();
    for leg in legs {
        match leg {
            Leg::Steps(patch, steps) => leaps.extend(steps.iter().map(|step| Leap::Step(patch, step))),
            Leg::Inside(inside) => leaps.push(Leap::Inside(inside)),
        }
    }
    let plain = leaps.iter().map(|leap| match leap {
        Leap::Step(_, step) => *step,
        Leap::Inside(inside) => &inside.whole,
    });
    let plain: Vec<&Step> = plain.collect();
    let inside: Vec<bool> = leaps.iter().map(|leap| matches!(leap, Leap::Inside(_))).collect();
    let start = Arc::clone(&text);
    let course = Course::new(start.value(), &plain, &inside);
    let moot = course.moot();
    let mut text = text;
    let mut batch: Vec<(usize, &Patch, &Step)> = Vec::new();
    for (number, leap) in leaps.iter().enumerate().filter(|(number, _)| moot.get(*number) == Some(&false)) {
        match leap {
            Leap::Step(patch, step) => batch.push((number, *patch, *step)),
            Leap::Inside(inside) => {
                text = make(resource, text, (&start, &course), &std::mem::take(&mut batch))?;
                text = inside.carry(resource, text)?;
            }
        }
    }
    make(resource, text, (&start, &course), &batch)
}

/// A text after steps that are all on the document. They are of a course that began at a text.
fn make(
    resource: &str,
    text: Text,
    (start, course): (&Text, &Course<'_>),
    steps: &[(usize, &Patch, &Step)],
) -> Result<Text, Box<Diagnostic>> {
    let is_json = is_json(&text);
    let language = if is_json { Language::Json } else { Language::Yaml };
    let start = Start { source: start, value: start.value(), language };
    let changes = steps.iter().map(|&(number, patch, step)| {
        let change = readable(step.as_change(patch));
        if step.taken().is_some() { as_it_stands(change, &start, course, number) } else { change }
    });
    let changes: Vec<Change<'_>> = changes.collect();
    if is_json {
        let mut text = text;
        for ((_, patch, step), change) in steps.iter().zip(&changes) {
            text = follow_in_json(resource, &text, patch, step, change)?;
        }
        return Ok(text);
    }
    let edited = text.edited_by_all(&changes).map_err(|(number, error)| {
        let why = error.to_string();
        let finding = match steps.get(number) {
            Some((_, patch, step)) => refused(&site(resource, patch, step), &step.origin, why),
            None => Diagnostic::new(Code::EditRefused, why).resource(resource),
        };
        Box::new(finding.help(error.help()))
    })?;
    Ok(edited.map_or(text, Arc::new))
}

/// Whether all readers take what stands in a node for the same.
fn is_read_alike(tree: &Tree, node: NodeId) -> bool {
    let whole = &tree.node(node).span;
    let inside = tree.nodes().map(|(_, node)| node).filter(|node| whole.contains(&node.span.start));
    let mut bare = inside.filter(|node| node.style() == Some(Style::Plain)).filter_map(|node| node.text());
    bare.all(|text| scalar::ambiguous(text).is_none())
}

/// The change, with what a `move` or `copy` takes spelled as it stands in the text that the course began at.
fn as_it_stands<'t>(change: Change<'t>, start: &'t Start<'_>, course: &Course<'_>, number: usize) -> Change<'t> {
    let spelled = |new: &New<'_>| {
        let path = course.origin_of(number)?;
        let (text, tree) = (start.source.text(), start.source.tree());
        let node =
            load::find(tree, &path).filter(|node| start.language == Language::Json || is_read_alike(tree, *node))?;
        let (above, behind) = if course.is_move(number) { start.source.comments_of(&path) } else { ("", "") };
        let is_same = start.value.pointer(&pointer(&path)) == Some(new.value);
        Some(Spelled { text, tree, node, taken: Some(Taken { above, behind, layout: start.source.layout(), is_same }) })
    };
    let action = match change.action {
        Action::Add(new) => Action::Add(New { spelled: spelled(&new), ..new }),
        Action::Replace(new) => Action::Replace(New { spelled: spelled(&new), ..new }),
        Action::Remove => Action::Remove,
    };
    Change { action, ..change }
}

/// The text that a course begins at.
struct Start<'t> {
    source: &'t Source<'t>,
    /// What it says in its language.
    value: &'t Value,
    language: Language,
}

fn site<'a>(resource: &'a str, patch: &'a Patch, step: &Step) -> Site<'a> {
    Site { patch, change: step.origin.change, resource }
}

/// The change, less the spelling of a whole document: in flow, a stream would begin with `{`, and kubectl would take it for
/// JSON.
fn readable(change: Change<'_>) -> Change<'_> {
    if !change.path.is_empty() {
        return change;
    }
    let action = match change.action {
        Action::Add(new) => Action::Add(New { spelled: None, ..new }),
        Action::Replace(new) => Action::Replace(New { spelled: None, ..new }),
        Action::Remove => Action::Remove,
    };
    Change { action, ..change }
}

/// A document that is JSON stays JSON, as its reader may know no YAML: kubectl takes a stream that begins with `{` for
/// JSON.
fn is_json(text: &Text) -> bool {
    text.text().starts_with('{') && embedded::read(Language::Json, text.text()).is_ok()
}

fn follow_in_json(
    resource: &str,
    text: &Text,
    patch: &Patch,
    step: &Step,
    change: &Change<'_>,
) -> Result<Text, Box<Diagnostic>> {
    let document = text.text();
    let edited = embedded::edit(Language::Json, document, change)
        .map_err(|error| error.to_string())
        .and_then(|edits| Source::read(apply_edits(document, &edits)).map_err(|error| error.to_string()));
    match edited {
        Ok(edited) => Ok(Arc::new(edited)),
        Err(why) => Err(Box::new(refused(&site(resource, patch, step), &step.origin, why).help(STAYS_JSON))),
    }
}

const STAYS_JSON: &str =
    "The document is JSON and stays JSON. Leave the comment out, or write the value so that JSON can say it.";

/// What became of a text inside a document.
pub(super) struct Inner {
    /// The text itself.
    pub(super) text: String,
    /// The operations that changed nothing.
    pub(super) already: Vec<Origin>,
}

const REPLACE_THE_TEXT: &str = "Replace more of the text, or the text as a whole: an operation without `within` can.";

/// A change that fits the value and cannot be written into the text.
fn refused(site: &Site<'_>, origin: &Origin, why: String) -> Diagnostic {
    Diagnostic::new(Code::EditRefused, why)
        .at(site.patch.place(site.span_of(origin)), "this cannot be written")
        .patch(&site.patch.name.value)
        .resource(site.resource)
        .path(origin.keyed.to_string())
}
