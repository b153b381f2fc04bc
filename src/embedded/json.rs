//! JSON texts: `tree` reads them into nodes with places, `edit` changes them, `layout` says how their author lays
//! values out, and `write` writes new values that way.

mod edit;
mod layout;
mod tree;
mod write;

use serde_json::Value;

use super::EmbeddedError;
pub(super) use edit::edit;

/// The value that a JSON text stands for.
pub(super) fn read(text: &str) -> Result<Value, EmbeddedError> {
    Ok(tree::parse(text)?.into_value())
}

#[cfg(test)]
mod tests;
