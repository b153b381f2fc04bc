//! Writes new values as TOML, in the manner of a value that stands in their place or beside it.

use std::fmt::Write;

use serde_json::{Map, Number, Value};
use toml_edit::{Datetime, Value as TomlValue};

use super::super::{EmbeddedError, is_hidden};

/// A value of the text, as a model for one that takes its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Like<'t> {
    pub(super) text: &'t str,
    pub(super) value: &'t TomlValue,
}

impl<'t> Like<'t> {
    fn with(self, value: &'t TomlValue) -> Like<'t> {
        Like { value, ..self }
    }
}

/// A value on one line. `like` is the value that it takes the place of: a float stays one, a date too, a string keeps
/// its quotes.
pub(super) fn inline(value: &Value, like: Option<Like>) -> Result<String, EmbeddedError> {
    Ok(match value {
        Value::Null => return Err(EmbeddedError::new(0, "TOML has no null; remove the key instead")),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => self::number(number, like)?,
        Value::String(text) if is_date(text, like) => text.clone(),
        Value::String(text) => string(text, quotes(like)),
        Value::Array(items) => {
            let like = like.and_then(|like| Some(like.with(like.value.as_array()?.iter().last()?)));
            let items = items.iter().map(|item| inline(item, like)).collect::<Result<Vec<_>, _>>()?;
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) if members.is_empty() => "{}".to_owned(),
        Value::Object(members) => {
            let pair = |(name, value): (&String, &Value)| {
                let like = like.and_then(|like| Some(like.with(like.value.as_inline_table()?.get(name)?)));
                Ok(format!("{} = {}", key(name), inline(value, like)?))
            };
            let pairs = members.iter().map(pair).collect::<Result<Vec<_>, EmbeddedError>>()?;
            format!("{{ {} }}", pairs.join(", "))
        }
    })
}

/// The lines of a section: its header, its pairs, and the sections below it. The header is `[keys]`, or `[[keys]]`
/// for an item of an array of tables.
pub(super) fn section(
    keys: &[&str],
    is_item: bool,
    members: &Map<String, Value>,
) -> Result<Vec<String>, EmbeddedError> {
    let name = dotted(keys);
    let header = if is_item { format!("[[{name}]]") } else { format!("[{name}]") };
    let mut lines = vec![header];
    lines.extend(body(keys, members)?);
    Ok(lines)
}

/// The lines of a whole text.
pub(super) fn top(members: &Map<String, Value>) -> Result<Vec<String>, EmbeddedError> {
    let lines = body(&[], members)?;
    Ok(lines.into_iter().skip_while(String::is_empty).collect())
}

/// The pairs of a section, and the sections below it with a blank line before each.
fn body(keys: &[&str], members: &Map<String, Value>) -> Result<Vec<String>, EmbeddedError> {
    let mut lines = Vec::new();
    let (below, pairs): (Vec<_>, Vec<_>) = members.iter().partition(|(_, value)| is_section(value));
    for (name, value) in pairs {
        lines.push(format!("{} = {}", key(name), inline(value, None)?));
    }
    for (name, value) in below {
        let keys: Vec<&str> = keys.iter().copied().chain([name.as_str()]).collect();
        lines.push(String::new());
        lines.extend(sections(&keys, value)?);
    }
    Ok(lines)
}

/// The lines of the section, or of the sections `[[keys]]`, that a value is written as.
pub(super) fn sections(keys: &[&str], value: &Value) -> Result<Vec<String>, EmbeddedError> {
    let (tables, is_item) = match value {
        Value::Array(items) => (items.as_slice(), true),
        other => (std::slice::from_ref(other), false),
    };
    let mut lines = Vec::new();
    for table in tables.iter().filter_map(Value::as_object) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(section(keys, is_item, table)?);
    }
    Ok(lines)
}

/// Whether a value of a section is written as a section of its own: mappings, and lists of mappings only.
pub(super) fn is_section(value: &Value) -> bool {
    match value {
        Value::Object(_) => true,
        Value::Array(items) => !items.is_empty() && items.iter().all(Value::is_object),
        _ => false,
    }
}

/// Keys joined by dots.
pub(super) fn dotted(keys: &[&str]) -> String {
    keys.iter().map(|name| key(name)).collect::<Vec<_>>().join(".")
}

/// A key, bare where TOML allows it.
pub(super) fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if bare { name.to_owned() } else { string(name, Quotes::Basic) }
}

fn number(number: &Number, like: Option<Like>) -> Result<String, EmbeddedError> {
    let text = number.to_string();
    let is_float = text.contains(['.', 'e']);
    if !is_float && like.is_some_and(|like| like.value.is_float()) {
        return Ok(text + ".0");
    }
    if !is_float && text.parse::<i64>().is_err() {
        return Err(EmbeddedError::new(0, format!("TOML has no integers of more than 64 bits, such as {text}")));
    }
    Ok(text)
}

fn is_date(text: &str, like: Option<Like>) -> bool {
    like.is_some_and(|like| like.value.is_datetime())
        && text.parse::<Datetime>().is_ok_and(|date| date.to_string() == text)
}

/// How a string is quoted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    /// `"…"`.
    Basic,
    /// `'…'`.
    Literal,
    /// `"""…"""`.
    Lines,
}

/// The quotes of the string that is there.
fn quotes(like: Option<Like>) -> Quotes {
    let there = like.and_then(|like| like.text.get(like.value.span()?)).unwrap_or_default();
    match there {
        _ if there.starts_with("\"\"\"") || there.starts_with("'''") => Quotes::Lines,
        _ if there.starts_with('\'') => Quotes::Literal,
        _ => Quotes::Basic,
    }
}

fn string(text: &str, wish: Quotes) -> String {
    let hidden = |c: char| is_hidden(c) && c != '\t';
    let literal = !text.contains('\'') && !text.contains(hidden);
    let lines = wish == Quotes::Lines && text.contains('\n') && !text.contains(|c| hidden(c) && c != '\n');
    match wish {
        Quotes::Lines if lines => format!("\"\"\"\n{}\"\"\"", escaped(text, true)),
        Quotes::Literal if literal => format!("'{text}'"),
        _ if literal && text.contains(['"', '\\']) => format!("'{text}'"),
        _ => format!("\"{}\"", escaped(text, false)),
    }
}

fn escaped(text: &str, lines: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' if lines => out.push('\n'),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            hidden if is_hidden(hidden) => {
                // Writing to a String cannot fail. Every hidden character lies in the first plane.
                let _ = write!(out, "\\u{:04x}", u32::from(hidden));
            }
            plain => out.push(plain),
        }
    }
    out
}
