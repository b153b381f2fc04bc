//! Why a document is not edited, and where.

use crate::yaml::load::LoadError;

/// Why a change was not made. Nothing is edited then. Every kind has a place ([`EditError::offset`], a byte of the
/// text that was to be edited), a message, and what to do ([`EditError::help`]).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The document cannot be read.
    #[error("the document cannot be read: {0}")]
    Unreadable(LoadError),
    /// The change does not fit the value: nothing is at its path, or its parent cannot hold it.
    #[error("nothing can be changed at `{pointer}`: {reason}")]
    NoSuchPlace {
        /// The path of the change as a JSON Pointer.
        pointer: String,
        /// What is in the way, as a clause.
        reason: &'static str,
        /// The innermost node that was found on the way.
        offset: usize,
    },
    /// The key to remove comes from a merge (`<<`), here or behind the key that stands in the mapping itself.
    #[error("`{key}` comes from a merge (`<<`) and would be back at once")]
    Merged {
        /// The key.
        key: String,
        /// The merge key.
        offset: usize,
    },
    /// A key of the path stands there as keys of several types, of which any may count ([`load::Duplicate::is_torn`]).
    ///
    /// [`load::Duplicate::is_torn`]: crate::yaml::load::Duplicate::is_torn
    #[error("`{key}` is written here as keys of several types, and which of them kubectl takes is left to chance")]
    Torn {
        /// The key.
        key: String,
        /// Where it stands last.
        offset: usize,
    },
    /// The value of an anchor that aliases use would have to be written out where only its name can stand.
    #[error("an alias that stands as a mapping key uses what is changed here")]
    AliasAsKey {
        /// The alias.
        offset: usize,
    },
    /// A trailing comment that no line can take.
    #[error("the comment cannot stand on this line: {reason}")]
    Comment {
        /// What is in the way, as a clause.
        reason: &'static str,
        /// The place that the comment was meant for.
        offset: usize,
    },
    /// No spelling of the change was read back as what it must mean.
    #[error("this cannot be changed without changing what stands around it")]
    Unwritable {
        /// The place.
        offset: usize,
    },
}

impl EditError {
    /// What to do about it, as a sentence.
    pub fn help(&self) -> &'static str {
        match self {
            EditError::Unreadable(_) | EditError::NoSuchPlace { .. } => {
                "This is a mistake in overlay. Please report it with the base and the patches."
            }
            EditError::Merged { .. } => "Give it another value with `add`, or replace the whole mapping.",
            EditError::Torn { .. } => {
                "Take the key out with `remove`, which removes every spelling of it, and `add` it anew."
            }
            EditError::AliasAsKey { .. } => "Replace the mapping with that key as a whole, and write the key out.",
            EditError::Comment { .. } => "Leave `comment:` out, or use `note:`, which reports show.",
            EditError::Unwritable { .. } => "Replace the mapping or list that it is in as a whole.",
        }
    }

    /// The byte of the text where the reason stands.
    pub fn offset(&self) -> usize {
        match self {
            EditError::Unreadable(error) => error.at.start,
            EditError::NoSuchPlace { offset, .. }
            | EditError::Merged { offset, .. }
            | EditError::Torn { offset, .. }
            | EditError::AliasAsKey { offset }
            | EditError::Comment { offset, .. }
            | EditError::Unwritable { offset } => *offset,
        }
    }
}
