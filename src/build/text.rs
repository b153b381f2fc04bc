//! The road over the text: the steps of a change as edits of byte ranges.

use std::sync::Arc;

use crate::change::{Action, Change, New, TextEdit, apply_edits};
use crate::diag::{Code, Diagnostic, Place};
use crate::embedded::{self, Language};
use crate::patch::lower::{Run, Site, TextWithin};
use crate::patch::step::{Origin, Step};
use crate::yaml::edit::Source;

/// A document as its text says it.
pub(super) type Text = Arc<Source<'static>>;

/// A document's text after the steps.
pub(super) fn follow(site: &Site<'_>, text: Text, steps: &[Step]) -> Result<Text, Box<Diagnostic>> {
    if is_json(&text) {
        return follow_in_json(site, text, steps);
    }
    let changes: Vec<Change<'_>> = steps.iter().map(|step| readable(step.as_change(site.patch))).collect();
    let edited = text.edited_by_all(&changes).map_err(|(number, error)| {
        let why = error.to_string();
        let finding = match steps.get(number) {
            Some(step) => refused(site, &step.origin, why),
            None => Diagnostic::new(Code::EditRefused, why).patch(&site.patch.name.value).resource(site.resource),
        };
        Box::new(finding.help(error.help()))
    })?;
    Ok(edited.map_or(text, Arc::new))
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

fn follow_in_json(site: &Site<'_>, mut text: Text, steps: &[Step]) -> Result<Text, Box<Diagnostic>> {
    for step in steps {
        let document = text.text();
        let edited = embedded::edit(Language::Json, document, &readable(step.as_change(site.patch)))
            .map_err(|error| error.to_string())
            .and_then(|edits| Source::read(apply_edits(document, &edits)).map_err(|error| error.to_string()));
        text = Arc::new(edited.map_err(|why| Box::new(refused(site, &step.origin, why).help(STAYS_JSON)))?);
    }
    Ok(text)
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
