//! What a patch claims: the operations of its file, as plain data. Whoever reads patches makes these of them.

use serde_json::Value;

use crate::embedded::Language;
use crate::patch::path::Path;

/// One operation of a patch on one document, or the removal of the document.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The document's index among those of the base.
    pub document: usize,
    /// The patch, by its place in the order in which patches apply.
    pub patch: usize,
    /// The change, by its place in the patch.
    pub change: usize,
    /// The operation, by its place in the change; 0 for a removal of the document.
    pub operation: usize,
    /// The embedded text that the operation's paths lead into.
    pub within: Option<(Path, Language)>,
    /// What is claimed.
    pub act: Act,
}

/// What an operation claims. A `test`, and a `was`, claim nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// `add`: this value is new here.
    Add {
        /// Where.
        path: Path,
        /// What.
        value: Value,
        /// Whether mappings that are missing on the way are new too.
        parents: bool,
    },
    /// `replace`: this value is here instead of another.
    Replace {
        /// Where.
        path: Path,
        /// What is there now.
        value: Value,
    },
    /// `remove`: what was here is gone.
    Remove {
        /// Where.
        path: Path,
    },
    /// `move`: what was at one place is at another.
    Move {
        /// Where it was.
        from: Path,
        /// Where it is.
        path: Path,
        /// Whether mappings that are missing on the way to `path` are new.
        parents: bool,
    },
    /// `copy`: what is at one place is new at another.
    Copy {
        /// Where it is.
        from: Path,
        /// Where it is too.
        path: Path,
        /// Whether mappings that are missing on the way to `path` are new.
        parents: bool,
    },
    /// `delete: true`: the document is gone.
    Delete,
}
