//! A patch that failed, looked at to its end: what else is wrong with it is told in the same run.

use std::sync::Arc;

use serde_json::Value;

use super::documents::{Resource, State};
use super::{Builder, images, still_a_manifest, with_part};
use crate::change::pointer;
use crate::diag::Diagnostic;
use crate::embedded;
use crate::patch::Patch;
use crate::patch::lower::{Attempt, Site, TextWithin};
use crate::patch::model::Effect;
use crate::patch::path::Path;
use crate::patch::step::{Action, Origin, Step};

/// What does not fit of a change of a resource.
#[derive(Debug)]
pub(super) struct Mistake {
    /// Which operation, from 0; `None` where it is the change as a whole.
    pub(super) operation: Option<usize>,
    pub(super) finding: Box<Diagnostic>,
}

/// A change that was tried.
#[derive(Debug, Default)]
pub(super) struct Tried {
    pub(super) mistakes: Vec<Mistake>,
    /// Whether what fits of it was made on the value. Inside a text nothing is.
    pub(super) is_made: bool,
}

impl Tried {
    fn failed(finding: Box<Diagnostic>) -> Tried {
        Tried { mistakes: vec![Mistake { operation: None, finding }], is_made: false }
    }
}

impl Builder<'_> {
    /// Makes what fits of a change on the value of a resource, and leaves the text as it is: the patch has failed, and all
    /// its documents are put back.
    pub(super) fn try_change(&mut self, patch: &Arc<Patch>, number: usize, hit: Resource) -> Tried {
        let Some(change) = patch.changes.get(number) else { return Tried::default() };
        let resource = self.documents.identity(hit).map(ToString::to_string).unwrap_or_default();
        let prefix = self.documents.prefix(hit).unwrap_or_default();
        let State { road, value } = match self.documents.state(hit) {
            Ok(state) => state,
            Err(finding) => return Tried::failed(finding),
        };
        let site = Site { patch, change: number, resource: &resource };
        if matches!(change.effect, Effect::Delete) {
            let origin = Origin {
                patch: patch.name.value.clone(),
                change: number,
                operation: 0,
                keyed: Path::of_keys(prefix.iter()),
            };
            if prefix.is_empty() {
                self.documents.delete_document(hit, &patch.name.value);
            } else {
                let step = Step { action: Action::Remove, path: prefix, origin };
                let mut without = (*value).clone();
                if crate::patch::apply::apply(&mut without, &step).is_ok() {
                    self.documents.set_state(hit, State { road, value: Arc::new(without) }, &[step]);
                }
                self.documents.note_item_deleted(hit, &patch.name.value);
            }
            return Tried { mistakes: Vec::new(), is_made: true };
        }
        let part = value.pointer(&pointer(&prefix)).unwrap_or(&Value::Null);
        let found = match site.text_within(part) {
            Err(finding) => return Tried::failed(finding),
            Ok(found) => found,
        };
        if let Some(found) = found {
            let found = TextWithin { path: [prefix, found.path].concat(), ..found };
            return match embedded::read(found.language, found.text) {
                Ok(read) => Tried { mistakes: of_attempt(site.attempt(&read).failures), is_made: false },
                Err(error) => {
                    let place = self.documents.place_in_text(hit, &found, error.offset);
                    Tried::failed(Box::new(site.unreadable(found.text, &error, place)))
                }
            };
        }
        let Attempt { run, failures } = site.attempt(part);
        let mut mistakes = of_attempt(failures);
        // Of a change that is made in part, what it leaves is not what it would be.
        if let Some(finding) =
            still_a_manifest(&site, part, &run.value, &run.steps).err().filter(|_| mistakes.is_empty())
        {
            mistakes.push(Mistake { operation: None, finding });
        }
        let steps: Vec<Step> = run.steps.into_iter().map(|step| step.below(&prefix)).collect();
        if let Err(finding) = images::check(&site, &value, &steps, self.image_paths) {
            mistakes.push(Mistake { operation: None, finding });
        }
        self.documents.set_state(hit, State { road, value: with_part(&value, &prefix, run.value) }, &steps);
        Tried { mistakes, is_made: true }
    }
}

fn of_attempt(failures: Vec<(usize, Box<Diagnostic>)>) -> Vec<Mistake> {
    failures.into_iter().map(|(operation, finding)| Mistake { operation: Some(operation), finding }).collect()
}
