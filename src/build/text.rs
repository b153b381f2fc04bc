//! The road over the text: the steps of a change as edits of byte ranges.

use std::sync::Arc;

use super::moot::Course;
use crate::change::{Action, Change, New, Spelled, TextEdit, apply_edits, pointer};
use crate::diag::{Code, Diagnostic, Place};
use crate::embedded::{self, Language};
use crate::patch::Patch;
use crate::patch::lower::{Run, Site, TextWithin};
use crate::patch::step::{Origin, Step};
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

/// Steps of one patch.
#[derive(Clone, Debug)]
struct Leg {
    patch: Arc<Patch>,
    steps: Arc<[Step]>,
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
            self.ahead.push(Leg { patch: Arc::clone(patch), steps });
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
}

/// A document's text after the steps.
fn follow(resource: &str, text: Text, legs: &[Leg]) -> Result<Text, Box<Diagnostic>> {
    let all = || legs.iter().flat_map(|leg| leg.steps.iter().map(move |step| (&*leg.patch, step)));
    let plain: Vec<&Step> = all().map(|(_, step)| step).collect();
    let course = Course::new(text.value(), &plain);
    let moot = course.moot();
    let steps = || all().zip(&moot).filter(|(_, moot)| !**moot).map(|(step, _)| step);
    if is_json(&text) {
        return steps().try_fold(text, |text, (patch, step)| follow_in_json(resource, &text, patch, step));
    }
    let mut changes: Vec<Change<'_>> = Vec::new();
    for (number, (patch, step)) in all().enumerate() {
        if moot.get(number) == Some(&false) {
            let change = readable(step.as_change(patch));
            changes.push(if step.taken().is_some() { as_it_stands(change, &text, &course, number) } else { change });
        }
    }
    let edited = text.edited_by_all(&changes).map_err(|(number, error)| {
        let why = error.to_string();
        let finding = match steps().nth(number) {
            Some((patch, step)) => refused(&site(resource, patch, step), &step.origin, why),
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

/// The change, with what a `move` or `copy` takes spelled as it stands in the text, unless the steps before changed it.
fn as_it_stands<'t>(change: Change<'t>, text: &'t Text, course: &Course<'_>, number: usize) -> Change<'t> {
    let spelled = |new: &New<'_>| {
        let path = course.origin_of(number)?;
        let is_same = text.value().pointer(&pointer(&path)) == Some(new.value);
        let node = load::find(text.tree(), &path).filter(|node| is_same && is_read_alike(text.tree(), *node))?;
        Some(Spelled { text: text.text(), tree: text.tree(), node })
    };
    let action = match change.action {
        Action::Add(new) => Action::Add(New { spelled: spelled(&new), ..new }),
        Action::Replace(new) => Action::Replace(New { spelled: spelled(&new), ..new }),
        Action::Remove => Action::Remove,
    };
    Change { action, ..change }
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

fn follow_in_json(resource: &str, text: &Text, patch: &Patch, step: &Step) -> Result<Text, Box<Diagnostic>> {
    let document = text.text();
    let edited = embedded::edit(Language::Json, document, &readable(step.as_change(patch)))
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
    /// The document around it.
    pub(super) outer: Text,
    /// The steps that were made in it.
    pub(super) steps: Vec<Step>,
    /// The operations that changed nothing.
    pub(super) already: Vec<Origin>,
}

/// Makes a change inside a text of a document, which is `outer`. `place` finds a byte of the text in the document's file.
pub(super) fn within(
    site: &Site<'_>,
    mut outer: Text,
    inner: &TextWithin<'_>,
    place: impl FnOnce(usize) -> Option<Place>,
) -> Result<Inner, Box<Diagnostic>> {
    let TextWithin { path, text, language } = inner;
    let language = *language;
    let read =
        embedded::read(language, text).map_err(|error| Box::new(site.unreadable(text, &error, place(error.offset))))?;
    let Run { value, steps, already } = site.run(&read)?;
    let mut text = (*text).to_owned();
    for step in &steps {
        let edits: Vec<TextEdit> = embedded::edit(language, &text, &step.as_change(site.patch))
            .map_err(|e| Box::new(refused(site, &step.origin, e.to_string()).help(REPLACE_THE_TEXT)))?;
        let carried = outer
            .edited_within(path, &edits)
            .map_err(|e| Box::new(refused(site, &step.origin, e.to_string()).help(REPLACE_THE_TEXT)))?;
        text = apply_edits(&text, &edits);
        outer = carried.map_or(outer, |edited| Arc::new(edited.after));
    }
    if embedded::read(language, &text).is_ok_and(|after| after == value) {
        return Ok(Inner { text, outer, steps, already });
    }
    let message = "the edited text inside the document is not what the operations make of its value";
    Err(Box::new(Diagnostic::new(Code::Internal, message).patch(&site.patch.name.value).resource(site.resource)))
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
