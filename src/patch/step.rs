//! Plain changes that are kept, with where they come from: what a patch became once its paths met a document.

use serde_json::Value;

use super::model::Patch;
use super::path::Path;
use crate::change;
use crate::yaml::tree::NodeId;

/// One plain change: RFC 6902 without selectors, its value known. Steps are made one after another; the path of each
/// is for the value that the steps before it leave.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What is done.
    pub action: Action,
    /// Where: mapping keys and indices. An item is added at an index, never at `-`.
    pub path: Vec<String>,
    /// Which operation asks for it.
    pub origin: Origin,
}

/// What a step does at its path.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Sets a new mapping key, or inserts a list item.
    Add(New),
    /// Puts another value in the place of one that is there.
    Replace(New),
    /// Takes out what is there.
    Remove,
}

/// A value that is written.
#[derive(Clone, Debug, PartialEq)]
pub struct New {
    /// What it means.
    pub value: Value,
    /// The node of the patch file that spells it, if there is one.
    pub spelled: Option<NodeId>,
    /// The trailing comment of the line; empty to take away the one that is there, `None` to leave it.
    pub comment: Option<String>,
}

/// The operation that a step comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The patch's name.
    pub patch: String,
    /// The change, from 0.
    pub change: usize,
    /// The operation in the change, from 0.
    pub operation: usize,
    /// The place in keyed form: selectors as the patch has them, every `*` made out, a new item by its merge key.
    pub keyed: Path,
}

impl Step {
    /// The step as the editors take it. `patch` is the patch that it comes from.
    pub fn as_change<'a>(&'a self, patch: &'a Patch) -> change::Change<'a> {
        let action = match &self.action {
            Action::Add(new) => change::Action::Add(new.as_change(patch)),
            Action::Replace(new) => change::Action::Replace(new.as_change(patch)),
            Action::Remove => change::Action::Remove,
        };
        change::Change { action, path: &self.path }
    }
}

impl New {
    fn as_change<'a>(&'a self, patch: &'a Patch) -> change::New<'a> {
        change::New {
            value: &self.value,
            spelled: self.spelled.map(|node| patch.spelled(node)),
            comment: self.comment.as_deref(),
        }
    }
}
