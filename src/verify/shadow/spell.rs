//! Texts for values, in the language of an embedded text and in no particular layout.

use serde_json::Value;
use toml_edit::{DocumentMut, InlineTable};

use crate::embedded::{self, Language};

/// A text that says the value in the language, in no particular layout. JSON is YAML too.
pub(super) fn text(language: Language, value: &Value) -> Option<String> {
    [Some(value.to_string()), toml(value)]
        .into_iter()
        .flatten()
        .find(|text| embedded::read(language, text).is_ok_and(|read| read == *value))
}

fn toml(value: &Value) -> Option<String> {
    let mut document = DocumentMut::new();
    for (key, value) in value.as_object()? {
        document.insert(key, toml_edit::value(toml_value(value)?));
    }
    Some(document.to_string())
}

fn toml_value(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(value) => (*value).into(),
        Value::String(value) => value.into(),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => integer.into(),
            None => number.as_f64()?.into(),
        },
        Value::Array(items) => {
            toml_edit::Value::Array(items.iter().map(toml_value).collect::<Option<toml_edit::Array>>()?)
        }
        Value::Object(map) => {
            let mut table = InlineTable::new();
            for (key, value) in map {
                table.insert(key, toml_value(value)?);
            }
            table.into()
        }
    })
}
