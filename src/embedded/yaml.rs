//! YAML texts: the reader and the editor of manifests, held to one document without doubled keys.

use serde_json::Value;

use super::EmbeddedError;
use crate::change::{Change, TextEdit};
use crate::yaml::{edit, load, stream};

/// The value of a text that holds one YAML document.
pub(super) fn read(text: &str) -> Result<Value, EmbeddedError> {
    let documents = stream::split(text);
    let mut with_content = documents.iter().filter(|piece| piece.content).skip(1);
    if let Some(second) = with_content.next() {
        let message = "this YAML text holds several documents, of which none can be named; only one can be read";
        return Err(EmbeddedError::new(second.range.start, message));
    }
    let loaded = load::load_text(text).map_err(|error| EmbeddedError::new(error.at.start, error.to_string()))?;
    match loaded.duplicates.first() {
        None => Ok(loaded.value),
        Some(double) => {
            let message = format!("the key `{}` stands in this mapping twice", double.key.escape_debug());
            Err(EmbeddedError::new(double.second.start, message))
        }
    }
}

/// The edits for a change of a text that [`read`] takes.
pub(super) fn edit(text: &str, change: &Change) -> Result<Vec<TextEdit>, EmbeddedError> {
    edit::edit(text, change).map_err(|error| EmbeddedError::new(error.offset(), error.to_string()))
}
