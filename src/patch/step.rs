//! Plain changes that are kept, with where they come from: what a patch became once its paths met a document.

use std::sync::Arc;

use serde_json::Value;

use super::model::Patch;
use super::path::Path;
use crate::change;
use crate::yaml::spell::{self, Layout};
use crate::yaml::tree::{NodeId, Tree};

/// One plain change: RFC 6902 without selectors, its value known. Steps are made one after another; the path of each
/// is for the value that the steps before it leave.
#[derive(Clone, Debug)]
pub struct Step {
    /// What is done.
    pub action: Action,
    /// Where: mapping keys and indices. An item is added at an index, never at `-`.
    pub path: Vec<String>,
    /// Which operation asks for it.
    pub origin: Origin,
}

/// What a step does at its path.
#[derive(Clone, Debug)]
pub enum Action {
    /// Sets a new mapping key, or inserts a list item.
    Add(New),
    /// Puts another value in the place of one that is there.
    Replace(New),
    /// Takes out what is there.
    Remove,
}

/// A value that is written.
#[derive(Clone, Debug)]
pub struct New {
    /// What it means.
    pub value: Value,
    /// How the patch file spells it, if it does.
    pub spelled: Option<Spelling>,
    /// The trailing comment of the line; empty to take away the one that is there, `None` to leave it.
    pub comment: Option<String>,
}

/// A model for how a value is written.
#[derive(Clone, Debug)]
pub enum Spelling {
    /// A node of the patch file.
    Patch(NodeId),
    /// A text of its own: the value of the patch file with the mappings around it that `parents` makes.
    Made(Arc<Made>),
    /// What a `move` or `copy` takes: the keys and indices that lead to it before the operation.
    Taken(Vec<String>),
}

/// A text that was made to spell a value.
#[derive(Debug)]
pub struct Made {
    text: String,
    tree: Tree,
    root: NodeId,
}

impl Spelling {
    /// The value that `inner` spells in `patch`, with the keys around it, the outermost first.
    ///
    /// `None` where that cannot be spelled as a block; the editor finds a spelling of its own then.
    pub fn around(keys: &[String], value: &Value, inner: NodeId, patch: &Patch) -> Option<Spelling> {
        let layout = Layout::default();
        let mut text = String::new();
        for (level, key) in keys.iter().enumerate() {
            let indent = " ".repeat(level * layout.step);
            let line_break = if level == 0 { "" } else { "\n" };
            let place = spell::Place::Key;
            text = format!("{text}{line_break}{indent}{}:", spell::key(key, None, place));
        }
        let column = keys.len().checked_sub(1)? * layout.step;
        let model = spell::Model { tree: patch.spelled(inner).tree, node: inner };
        text.push_str(&spell::behind_colon(value, column, layout, Some(model)));
        text.push('\n');
        let tree = Tree::parse(&text).ok()?;
        let root = tree.root()?;
        Some(Spelling::Made(Arc::new(Made { text, tree, root })))
    }

    /// `None` for what stands in the document, which is not known here.
    fn as_spelled<'a>(&'a self, patch: &'a Patch) -> Option<change::Spelled<'a>> {
        match self {
            Spelling::Patch(node) => Some(patch.spelled(*node)),
            Spelling::Made(made) => {
                Some(change::Spelled { text: &made.text, tree: &made.tree, node: made.root, taken: None })
            }
            Spelling::Taken(_) => None,
        }
    }
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

impl Origin {
    /// Whether both are places of one operation.
    pub fn is_of_one_operation_with(&self, other: &Origin) -> bool {
        (self.operation, self.change, &self.patch) == (other.operation, other.change, &other.patch)
    }
}

impl Step {
    /// The keys and indices that lead to what it writes, for a `move` or `copy`, before the operation.
    pub fn taken(&self) -> Option<&[String]> {
        match &self.action {
            Action::Add(New { spelled: Some(Spelling::Taken(path)), .. })
            | Action::Replace(New { spelled: Some(Spelling::Taken(path)), .. }) => Some(path),
            _ => None,
        }
    }

    /// The trailing comment that it asks for.
    pub fn comment(&self) -> Option<&str> {
        match &self.action {
            Action::Add(new) | Action::Replace(new) => new.comment.as_deref(),
            Action::Remove => None,
        }
    }

    /// The step one level deeper: where it is of a document that is a part of another, below these keys and indices.
    #[must_use]
    pub fn below(mut self, prefix: &[String]) -> Step {
        let deeper = |path: &mut Vec<String>| drop(path.splice(0..0, prefix.iter().cloned()));
        deeper(&mut self.path);
        if let Action::Add(New { spelled: Some(Spelling::Taken(path)), .. })
        | Action::Replace(New { spelled: Some(Spelling::Taken(path)), .. }) = &mut self.action
        {
            deeper(path);
        }
        self
    }

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
            spelled: self.spelled.as_ref().and_then(|spelling| spelling.as_spelled(patch)),
            comment: self.comment.as_deref(),
        }
    }
}
