//! Writes new values as the author of the text would.

use std::fmt::Write;

use serde_json::Value;

use super::super::is_hidden;
use super::layout::{Brackets, Layout};

/// The JSON of a value. `indent` is the indentation of the line on which it begins.
pub(super) fn value(layout: &Layout, value: &Value, indent: &str) -> String {
    let mut writer = Writer { layout, out: String::new() };
    writer.value(value, indent, false);
    writer.out
}

/// The JSON of a string: escaped where JSON asks for it or where the character would not show, else as it is.
pub(super) fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_string(&mut out, text);
    out
}

struct Writer<'l, 't> {
    layout: &'l Layout<'t>,
    out: String,
}

impl Writer<'_, '_> {
    /// `inline` where a collection around this value stands on one line.
    fn value(&mut self, value: &Value, indent: &str, inline: bool) {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(truth) => self.out.push_str(if *truth { "true" } else { "false" }),
            Value::Number(number) => self.out.push_str(&number.to_string()),
            Value::String(text) => push_string(&mut self.out, text),
            Value::Array(items) => {
                let parts = items.iter().map(|item| (None, item));
                self.collection(['[', ']'], parts, self.layout.arrays, indent, inline);
            }
            Value::Object(members) => {
                let parts = members.iter().map(|(key, value)| (Some(key.as_str()), value));
                self.collection(['{', '}'], parts, self.layout.objects, indent, inline);
            }
        }
    }

    fn collection<'v>(
        &mut self,
        [open, close]: [char; 2],
        parts: impl ExactSizeIterator<Item = (Option<&'v str>, &'v Value)>,
        brackets: Brackets,
        indent: &str,
        inline: bool,
    ) {
        self.out.push(open);
        let empty = parts.len() == 0;
        let inline = inline || brackets.inline;
        let below = format!("{indent}{}", self.layout.unit);
        let line = |indent: &str| format!("{}{indent}", self.layout.newline);
        let (lead, tail) =
            if inline { (brackets.pad.to_owned(), brackets.pad.to_owned()) } else { (line(&below), line(indent)) };
        let comma = if inline { self.layout.comma.to_owned() } else { format!(",{lead}") };
        for (nth, (key, value)) in parts.enumerate() {
            self.out.push_str(if nth == 0 { &lead } else { &comma });
            if let Some(key) = key {
                push_string(&mut self.out, key);
                self.out.push_str(self.layout.colon);
            }
            self.value(value, &below, inline);
        }
        if !empty {
            self.out.push_str(&tail);
        }
        self.out.push(close);
    }
}

fn push_string(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            hidden if is_hidden(hidden) => {
                // Writing to a String cannot fail. Every hidden character lies in the first plane.
                let _ = write!(out, "\\u{:04x}", u32::from(hidden));
            }
            plain => out.push(plain),
        }
    }
    out.push('"');
}
