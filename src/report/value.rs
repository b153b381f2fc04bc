//! How a value is shown in a line: as JSON, so that `"50"` and `50` differ, shortened in the middle, or round what
//! differs from another.

use serde_json::Value;

use crate::diag::visible::{shortened, visible};

/// How many characters of a value are shown in a line.
pub(super) const SHOWN: usize = 72;

/// How many characters are shown on each side of a difference.
const CONTEXT: usize = 16;

/// A value in a line.
pub(super) fn shown(value: &Value) -> String {
    shortened(&value.to_string(), SHOWN)
}

/// Two values in a line each. When they are long, what they share at their ends is left out.
pub(super) fn shown_pair(before: &Value, after: &Value) -> (String, String) {
    let (before, after) = (before.to_string(), after.to_string());
    if before.chars().nth(SHOWN).is_none() && after.chars().nth(SHOWN).is_none() {
        return (visible(&before).into_owned(), visible(&after).into_owned());
    }
    let head = shared_head(&before, &after);
    let tail = shared_tail(&before[head..], &after[head..]);
    (round(&before, head, tail), round(&after, head, tail))
}

/// The bytes that two texts share at their beginning, in whole characters.
fn shared_head(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum()
}

/// The bytes that two texts share at their end, in whole characters.
fn shared_tail(a: &str, b: &str) -> usize {
    a.chars().rev().zip(b.chars().rev()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum()
}

/// The text without its first `head` and last `tail` bytes but for some context, and its middle shortened.
fn round(text: &str, head: usize, tail: usize) -> String {
    let end = text.len() - tail;
    let context_start = text[..head].char_indices().rev().take(CONTEXT).last().map_or(head, |(at, _)| at);
    let context_end = text[end..].char_indices().nth(CONTEXT).map_or(text.len(), |(at, _)| end + at);
    let before = if context_start > 0 { "…" } else { "" };
    let behind = if context_end < text.len() { "…" } else { "" };
    let middle = shortened(&text[head..end], SHOWN);
    format!("{before}{}{middle}{}{behind}", visible(&text[context_start..head]), visible(&text[end..context_end]))
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
        let around = |middle: &str| format!("…{}{middle}{}…", "é".repeat(16), "ü".repeat(16));
        assert_eq!((before, after), (around("one"), around("two")));
    }

    #[test]
    fn a_difference_at_an_end_is_shown() {
        let (before, after) = shown_pair(&json!("a".repeat(80)), &json!(format!("{}b", "a".repeat(80))));
        assert_eq!(before, format!("…{}\"", "a".repeat(16)));
        assert_eq!(after, format!("…{}b\"", "a".repeat(16)));
    }

    #[test]
    fn a_pair_of_short_values_is_whole_and_safe() {
        let pair = shown_pair(&json!("\u{202e}x"), &json!(null));
        assert_eq!(pair, ("\"\\u202Ex\"".to_owned(), "null".to_owned()));
    }
}
