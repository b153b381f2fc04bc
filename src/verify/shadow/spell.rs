//! Texts for values, in the language of an embedded text and in no particular layout.

use serde_json::Value;
use toml_edit::{DocumentMut, InlineTable};

use crate::embedded::{self, Language};

/// A text that says the value in the language, in no particular layout. JSON is YAML too, where what YAML does not take raw
/// is an escape, and no key is too long.
pub(super) fn text(language: Language, value: &Value) -> Option<String> {
    [Some(value.to_string()), Some(yaml(value)), toml(value)]
        .into_iter()
        .flatten()
        .find(|text| embedded::read(language, text).is_ok_and(|read| read == *value))
}

fn yaml(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(yaml).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let pair = |(key, value): (&String, &Value)| format!("? {} : {}", quoted(key), yaml(value));
            format!("{{{}}}", map.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
        Value::String(text) => quoted(text),
        scalar => scalar.to_string(),
    }
}

/// A text in double quotes, all in ASCII.
fn quoted(text: &str) -> String {
    let escape = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        ' '..='~' => c.to_string(),
        c => format!("\\U{:08x}", u32::from(c)),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_value_that_a_language_has_is_said_in_it() {
        let texts: Vec<String> = [
            "\u{1}",
            "\u{7f}",
            "\u{85}",
            "\u{9f}",
            "\u{2028}",
            "\u{feff}",
            "\u{fffe}",
            "\u{1fffe}",
            "é\u{1f600}\"\\\n\t",
        ]
        .into_iter()
        .map(|c| format!("a{c}b"))
        .chain(["k".repeat(2000), String::new(), "yes: # no".to_owned()])
        .collect();
        for text in texts {
            let value = json!({ text.clone(): [text, 1.5e300, 12_345_678_901_234_567_890_u64, {}, []] });
            for language in [Language::Json, Language::Yaml] {
                let said = super::text(language, &value).unwrap_or_else(|| panic!("{language:?} {value}"));
                assert_eq!(embedded::read(language, &said).unwrap(), value, "{said}");
            }
        }
        let value = json!({"a\u{7f}": [{"b": "\u{2028}"}, []], "c": {}});
        assert_eq!(embedded::read(Language::Toml, &super::text(Language::Toml, &value).unwrap()).unwrap(), value);
    }
}
