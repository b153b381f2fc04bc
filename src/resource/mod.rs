//! Kubernetes resources: what one is called, whether a target means it, and which field tells the items of a list
//! apart. What a body is that holds none. And the images that resources run: what they are called, and what a registry
//! says of them.
//!
//! Identity is text: what stands in the document is the name, whatever a reader of YAML makes of it. Nothing here
//! knows of patches, layers or files.

pub mod answer;
pub mod body;
mod glob;
pub mod identity;
pub mod images;
pub mod merge_key;
pub mod reference;
pub mod target;
pub mod walk;

use std::borrow::Cow;

use serde_json::Value;

pub use identity::Identity;
pub use merge_key::{MergeKey, absent_text, has_no_order};
pub use target::Target;

/// The text of a scalar, as selectors and keys compare it: `53` and `"53"` are the same text. `None` for a list or a
/// mapping.
pub fn scalar_text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(Cow::Owned(number.to_string())),
        Value::Bool(true) => Some(Cow::Borrowed("true")),
        Value::Bool(false) => Some(Cow::Borrowed("false")),
        Value::Null => Some(Cow::Borrowed("null")),
        Value::Array(_) | Value::Object(_) => None,
    }
}
