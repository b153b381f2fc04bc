//! TOML texts. `toml_edit` reads them and gives every value its place; the edits are our own, because it prints a
//! document anew and drops the carriage returns of it. `version` tells what TOML 1.0 does not have,
//! `outline` lists the lines that say something, `edit` changes them, `brackets` changes arrays and inline tables, and `write` writes new values.

mod brackets;
mod edit;
mod outline;
mod version;
mod write;

use std::ops::Range;

use serde_json::{Map, Value};
use toml_edit::{Document, Item, Table, TomlError, Value as TomlValue};

use super::{EmbeddedError, MAX_TOML_NESTING};
use crate::yaml::{number, tree::MAX_DEPTH};
pub(super) use edit::edit;

/// The value of a TOML text. Dates and times become texts, as RFC 3339 spells them.
pub(super) fn read(text: &str) -> Result<Value, EmbeddedError> {
    table(parse(text)?.as_table(), MAX_DEPTH)
}

/// The text's items, with their places. `toml_edit` takes TOML 1.1.
fn parse(text: &str) -> Result<Document<&str>, EmbeddedError> {
    let document = Document::parse(text).map_err(|error| syntax(text, &error))?;
    version::beyond_1_0(text).map_or(Ok(document), Err)
}

fn syntax(text: &str, error: &TomlError) -> EmbeddedError {
    let offset = error.span().map_or(text.len(), |span| span.start);
    let message = match error.message().lines().next().unwrap_or_default() {
        "" => "this is no TOML".to_owned(),
        limit if limit.contains("recurs") => {
            format!(
                "this TOML nests deeper than {MAX_TOML_NESTING} brackets, or a key of it has more than {MAX_TOML_NESTING} parts"
            )
        }
        message => message.to_owned(),
    };
    EmbeddedError::new(text.floor_char_boundary(offset), message)
}

fn table(table: &Table, depth: usize) -> Result<Value, EmbeddedError> {
    let depth = deeper(depth, table.span())?;
    let members = table.iter().map(|(key, member)| Ok((key.to_owned(), item(member, depth)?)));
    Ok(Value::Object(members.collect::<Result<Map<_, _>, EmbeddedError>>()?))
}

fn item(item: &Item, depth: usize) -> Result<Value, EmbeddedError> {
    match item {
        Item::None => Ok(Value::Null),
        Item::Value(inline) => value(inline, depth),
        Item::Table(below) => table(below, depth),
        Item::ArrayOfTables(tables) => {
            let depth = deeper(depth, tables.span())?;
            Ok(Value::Array(tables.iter().map(|below| table(below, depth)).collect::<Result<_, _>>()?))
        }
    }
}

fn value(value: &TomlValue, depth: usize) -> Result<Value, EmbeddedError> {
    Ok(match value {
        TomlValue::String(text) => Value::from(text.value().as_str()),
        TomlValue::Integer(integer) => Value::from(*integer.value()),
        TomlValue::Float(float) => Value::Number(number::of_float(*float.value()).ok_or_else(|| {
            let message = "TOML's infinities and `nan` have no counterpart in Kubernetes' values";
            EmbeddedError::new(start(value.span()), message)
        })?),
        TomlValue::Boolean(truth) => Value::from(*truth.value()),
        TomlValue::Datetime(moment) if moment.value().time.is_some_and(|time| time.second.is_none()) => {
            return Err(version::told(start(moment.span()), "times without seconds", "write `:00` behind the minutes"));
        }
        TomlValue::Datetime(moment) => Value::from(moment.value().to_string()),
        TomlValue::Array(items) => {
            let depth = deeper(depth, items.span())?;
            Value::Array(items.iter().map(|below| self::value(below, depth)).collect::<Result<_, _>>()?)
        }
        TomlValue::InlineTable(members) => {
            let depth = deeper(depth, members.span())?;
            let members = members.iter().map(|(key, member)| Ok((key.to_owned(), self::value(member, depth)?)));
            Value::Object(members.collect::<Result<Map<_, _>, EmbeddedError>>()?)
        }
    })
}

fn deeper(depth: usize, span: Option<Range<usize>>) -> Result<usize, EmbeddedError> {
    let message = || format!("the text nests deeper than {MAX_DEPTH} levels");
    depth.checked_sub(1).ok_or_else(|| EmbeddedError::new(start(span), message()))
}

fn start(span: Option<Range<usize>>) -> usize {
    span.map_or(0, |span| span.start)
}

/// The TOML of a mapping, for tests that need a text of a value.
#[cfg(test)]
pub(super) fn print(members: &Map<String, Value>) -> Result<String, EmbeddedError> {
    Ok(write::top(members)?.join("\n") + "\n")
}

#[cfg(test)]
mod tests;
