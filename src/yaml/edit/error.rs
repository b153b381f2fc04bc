//! Why a document is not edited, and where.

use crate::yaml::load::LoadError;

/// Why a change was not made. Nothing is edited then. Every kind has a place ([`EditError::offset`], a byte of the
/// text that was to be edited) and a message that says what to do.
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
    #[error(
        "`{key}` comes from a merge (`<<`) and would be back at once; give it another value, or replace the whole mapping"
    )]
    Merged {
        /// The key.
        key: String,
        /// The merge key.
        offset: usize,
    },
    /// The value of an anchor that aliases use would have to be written out where only its name can stand.
    #[error("an alias that stands as a mapping key uses what is changed here; write the key out first")]
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
    #[error("this cannot be changed without changing what stands around it; replace the collection that it is in")]
    Unwritable {
        /// The place.
        offset: usize,
    },
}

impl EditError {
    /// The byte of the text where the reason stands.
    pub fn offset(&self) -> usize {
        match self {
            EditError::Unreadable(error) => error.at.start,
            EditError::NoSuchPlace { offset, .. }
            | EditError::Merged { offset, .. }
            | EditError::AliasAsKey { offset }
            | EditError::Comment { offset, .. }
            | EditError::Unwritable { offset } => *offset,
        }
    }
}
