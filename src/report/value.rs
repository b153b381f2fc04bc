//! How a value is shown in a line: as JSON, a text with quotes in it between single ones, so that `"50"` and `50` differ, shortened in the middle, or round what
//! differs from another.

use std::borrow::Cow;

use serde_json::Value;

use crate::diag::visible::{lightly_quoted, shortened, shortened_pair, visible};

/// How many characters of a value are shown in a line.
pub(super) const SHOWN: usize = 72;

/// A value in a line.
pub(super) fn shown(value: &Value) -> String {
    shortened(&lightly_quoted(value.to_string()), SHOWN)
}

/// Two values in a line each. When they are long, what they share at their ends is left out.
pub(super) fn shown_pair(before: &Value, after: &Value) -> (String, String) {
    shortened_pair(&lightly_quoted(before.to_string()), &lightly_quoted(after.to_string()), SHOWN)
}

/// What a document is called, which need not have a kind or a name.
pub(super) fn resource_name(resource: &str) -> Cow<'_, str> {
    if resource.is_empty() { Cow::Borrowed("a document without kind and name") } else { visible(resource) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_and_numbers_differ() {
        assert_eq!((shown(&json!("50")), shown(&json!(50))), ("\"50\"".into(), "50".into()));
        assert_eq!(shown(&json!({"a": [1, null]})), r#"{"a":[1,null]}"#);
    }

    #[test]
    fn long_values_are_shown_round_their_difference() {
        let long = |middle: &str| json!(format!("{}{middle}{}", "é".repeat(100), "ü".repeat(100)));
        let (before, after) = shown_pair(&long("one"), &long("two"));
        let around = |middle: &str| format!("\"…{}{middle}{}…\"", "é".repeat(16), "ü".repeat(16));
        assert_eq!((before, after), (around("one"), around("two")));
    }

    #[test]
    fn a_difference_at_an_end_is_shown() {
        let (before, after) = shown_pair(&json!("a".repeat(80)), &json!(format!("{}b", "a".repeat(80))));
        assert_eq!(before, format!("\"…{}\"", "a".repeat(16)));
        assert_eq!(after, format!("\"…{}b\"", "a".repeat(16)));
    }

    #[test]
    fn a_pair_of_short_values_is_whole_and_safe() {
        let pair = shown_pair(&json!("\u{202e}x"), &json!(null));
        assert_eq!(pair, ("\"\\u202Ex\"".to_owned(), "null".to_owned()));
    }
}
