//! What a patch file says, once it is read: nothing here is known to fit any document yet.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use super::path::Path;
use crate::change::Spelled;
use crate::config::{Date, File, Spanned};
use crate::diag::{Place, Source};
use crate::embedded::Language;
use crate::resource::Target;
use crate::yaml::tree::NodeId;

/// One named, documented departure from upstream.
#[derive(Debug)]
pub struct Patch {
    /// Its name, which is also its file's.
    pub name: Spanned<String>,
    /// What it does, in a line. Without one, and without a reason, `verify` fails and a build does not.
    pub summary: Option<Spanned<String>>,
    /// Why it is there.
    pub why: Option<Spanned<String>>,
    /// What shows that it is needed.
    pub evidence: Vec<Spanned<String>>,
    /// The day on which someone last saw that it is needed.
    pub verified: Option<Spanned<Date>>,
    /// The day by which someone should look again.
    pub review: Option<Spanned<Date>>,
    /// Whether upstream should have it.
    pub upstream: Option<Spanned<Upstream>>,
    /// What it changes, in this order. There is at least one.
    pub changes: Vec<Change>,
    /// The file, which the spans point into and which spells the values.
    pub(super) file: File,
}

impl Patch {
    /// The file's text and name.
    pub fn source(&self) -> &Arc<Source> {
        self.file.source()
    }

    /// A place in its file.
    pub fn place(&self, span: Range<usize>) -> Place {
        self.file.place(span)
    }

    /// Where an operation writes a text: the text itself where its value has it as it stands, else the value, else the
    /// path of an operation that has none.
    pub fn place_of_text(&self, operation: &Operation, text: &str) -> Place {
        let Some(written) = operation.written() else { return self.place(operation.path.span.clone()) };
        let found = self.source().text.get(written.span.clone()).and_then(|value| value.find(text));
        self.place(found.map_or(written.span.clone(), |at| {
            let start = written.span.start + at;
            start..start + text.len()
        }))
    }

    /// A node of its file, as a model for how to spell a value.
    pub fn spelled(&self, node: NodeId) -> Spelled<'_> {
        Spelled { text: &self.file.source().text, tree: self.file.tree(), node, taken: None }
    }
}

/// Where a patch stands with upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Upstream {
    /// It is ours alone.
    NotNeeded,
    /// It should go upstream and has not yet.
    NotYet,
    /// The address of an issue or a pull request.
    Address(String),
}

/// Operations on one document, or its removal.
#[derive(Debug)]
pub struct Change {
    /// The documents meant, as the base names them.
    pub target: Target,
    /// How many documents it must hit.
    pub matches: Matches,
    /// What happens to them.
    pub effect: Effect,
    /// The bytes of `target:`'s value, for what is said of the target.
    pub target_span: Range<usize>,
    /// The bytes of the change.
    pub span: Range<usize>,
}

impl Change {
    /// Its operations; none where it deletes its document.
    pub fn operations(&self) -> &[Operation] {
        match &self.effect {
            Effect::Delete => &[],
            Effect::Edit { operations, .. } => operations,
        }
    }
}

/// What a change does to its documents.
#[derive(Debug)]
pub enum Effect {
    /// Takes the document out of the result.
    Delete,
    /// Edits the document, or a text that it embeds.
    Edit {
        /// The text that is edited, if it is not the document itself.
        within: Option<Within>,
        /// The operations, in this order. There is at least one.
        operations: Vec<Operation>,
    },
}

/// A text that a document embeds.
#[derive(Debug)]
pub struct Within {
    /// Where in the document it stands.
    pub path: Spanned<Path>,
    /// What it is written in.
    pub language: Spanned<Language>,
}

/// How many documents a change must hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matches {
    /// So many.
    Exactly(u64),
    /// So many or more.
    AtLeast(u64),
}

impl Matches {
    /// Whether `count` documents are the right number.
    pub fn allows(self, count: usize) -> bool {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        match self {
            Matches::Exactly(wanted) => count == wanted,
            Matches::AtLeast(wanted) => count >= wanted,
        }
    }
}

impl fmt::Display for Matches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Matches::Exactly(count) => write!(f, "exactly {count}"),
            Matches::AtLeast(count) => write!(f, "at least {count}"),
        }
    }
}

/// One operation of RFC 6902 and what this program adds to it.
#[derive(Debug)]
pub struct Operation {
    /// What is done.
    pub op: Op,
    /// Where.
    pub path: Spanned<Path>,
    /// The value that must be there before: of `path`, and of `from` for a `move`.
    pub was: Option<Written>,
    /// Whether missing mappings on the way are made.
    pub parents: bool,
    /// The trailing comment of the line that is written, without `#`; empty to take away the one that is there.
    pub comment: Option<Spanned<String>>,
    /// One line for reports.
    pub note: Option<Spanned<String>>,
    /// Whether an image may lose its digest.
    pub unpin: bool,
    /// The bytes of the operation.
    pub span: Range<usize>,
}

impl Operation {
    /// The value that it has behind `value:`.
    pub fn written(&self) -> Option<&Written> {
        match &self.op {
            Op::Add(written) | Op::Replace(written) | Op::Test(written) => Some(written),
            Op::Remove | Op::Move { .. } | Op::Copy { .. } => None,
        }
    }
}

/// What an operation does.
#[derive(Debug)]
pub enum Op {
    /// Sets a new mapping key, or inserts a list item.
    Add(Written),
    /// Puts another value in the place of one.
    Replace(Written),
    /// Takes a value out.
    Remove,
    /// Takes a value out and adds it at the path.
    Move {
        /// Where it is.
        from: Spanned<Path>,
    },
    /// Adds a value that stands elsewhere.
    Copy {
        /// Where it is.
        from: Spanned<Path>,
    },
    /// Holds a value against the one that is there.
    Test(Written),
}

impl Op {
    /// Its word in a patch file.
    pub fn word(&self) -> &'static str {
        match self {
            Op::Add(_) => "add",
            Op::Replace(_) => "replace",
            Op::Remove => "remove",
            Op::Move { .. } => "move",
            Op::Copy { .. } => "copy",
            Op::Test(_) => "test",
        }
    }
}

/// A value as a patch file writes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// What it means.
    pub value: Value,
    /// The node that spells it.
    pub node: NodeId,
    /// The bytes that it stands on.
    pub span: Range<usize>,
}
