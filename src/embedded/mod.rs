//! Texts inside texts: the JSON, YAML or TOML that a manifest carries as a string, read into values and edited with
//! only the touched bytes changed.
//!
//! This module knows neither the outer document nor Kubernetes: it is handed the inner text and hands back edits of
//! it. `yaml::edit` carries them into the outer bytes.
//!
//! Every edit is checked here before it leaves: the edited text is read again and must mean what the change asks
//! for. A wrong text is never returned.

mod expected;
mod json;
mod lines;
mod toml;
mod yaml;

use std::str::FromStr;

use serde_json::Value;

use crate::change::{Action, Change, New, TextEdit, apply_edits};
use crate::diag::visible;
use crate::yaml::number;

/// How deeply the brackets of one TOML value nest, and how many parts a key has: the bounds of `toml_edit`. Headers, keys and
/// brackets together nest no deeper than [`crate::yaml::tree::MAX_DEPTH`].
pub const MAX_TOML_NESTING: usize = 80;

/// What an embedded text is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// JSON, strictly as RFC 8259 has it.
    Json,
    /// YAML, one document, as Kubernetes reads it.
    Yaml,
    /// TOML.
    Toml,
}

/// The word for a language is none that we know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no language of embedded texts; they are json, yaml and toml")]
pub struct UnknownLanguage(String);

/// Why an embedded text cannot be read or changed, and where in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EmbeddedError {
    /// What is wrong, as a clause without a full stop.
    pub message: String,
    /// The byte of the embedded text where it was noticed; 0 where it is about the change and not about the text.
    pub offset: usize,
}

impl EmbeddedError {
    fn new(offset: usize, message: impl Into<String>) -> EmbeddedError {
        EmbeddedError { message: message.into(), offset }
    }
}

impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(word: &str) -> Result<Language, UnknownLanguage> {
        match word {
            "json" => Ok(Language::Json),
            "yaml" => Ok(Language::Yaml),
            "toml" => Ok(Language::Toml),
            _ => Err(UnknownLanguage(word.to_owned())),
        }
    }
}

impl Language {
    /// The word that stands for it in a patch.
    pub fn as_str(self) -> &'static str {
        match self {
            Language::Json => "json",
            Language::Yaml => "yaml",
            Language::Toml => "toml",
        }
    }
}

impl Language {
    /// Its name, for a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Language::Json => "JSON",
            Language::Yaml => "YAML",
            Language::Toml => "TOML",
        }
    }

    /// The language that a text is written in, as far as that can be told: the strictest that reads it as a mapping or
    /// a list. Any text is a YAML scalar, and an empty one is TOML; these tell nothing.
    pub fn of(text: &str) -> Option<Language> {
        let reads = |language: &Language| match read(*language, text) {
            Ok(Value::Object(map)) => !map.is_empty(),
            Ok(Value::Array(_)) => true,
            _ => false,
        };
        [Language::Json, Language::Toml, Language::Yaml].into_iter().find(reads)
    }
}

/// The value that a text stands for.
///
/// Integers keep all their digits, and numbers that are equal are equal values. A key that an object has twice is
/// an error: readers disagree on which one counts (RFC 8259, section 4), so a change of it could not be proven.
///
/// # Errors
/// When the text is not of that language, nests deeper than [`crate::yaml::tree::MAX_DEPTH`] or, in TOML, than
/// [`MAX_TOML_NESTING`], or holds what a JSON value cannot.
pub fn read(language: Language, text: &str) -> Result<Value, EmbeddedError> {
    match language {
        Language::Json => json::read(text),
        Language::Yaml => yaml::read(text),
        Language::Toml => toml::read(text),
    }
}

/// The edits that make the change in the text, and touch nothing else. None where the text already means what the
/// change asks for and no comment is asked for. JSON keeps what a `move` or `copy` takes as it stands but for blank lines;
/// other values of JSON and TOML are spelled anew, whatever [`New::spelled`] says.
///
/// # Errors
/// When the text cannot be read, the path does not fit it, or the language cannot say the new value.
pub fn edit(language: Language, text: &str, change: &Change) -> Result<Vec<TextEdit>, EmbeddedError> {
    let before = read(language, text)?;
    let mut value = match change.action {
        Action::Add(new) | Action::Replace(new) => new.value.clone(),
        Action::Remove => Value::Null,
    };
    number::canonicalize(&mut value);
    let change = &with_value(*change, &value);
    let wanted = expected::after(&before, change)?;
    let has_comment = comment(language, change.action)?.is_some();
    if wanted == before && !has_comment {
        return Ok(Vec::new());
    }
    let edits = match language {
        Language::Json => json::edit(text, change)?,
        Language::Yaml => yaml::edit(text, change)?,
        Language::Toml => toml::edit(text, change)?,
    };
    if read(language, &apply_edits(text, &edits)).is_ok_and(|after| after == wanted) {
        Ok(edits)
    } else {
        Err(not_as_meant(language))
    }
}

/// The trailing comment that a change asks for. JSON has none, and so none to take away.
fn comment(language: Language, action: Action<'_>) -> Result<Option<&str>, EmbeddedError> {
    match action {
        Action::Remove => Ok(None),
        Action::Add(new) | Action::Replace(new) if language != Language::Json => Ok(new.comment),
        Action::Add(new) | Action::Replace(new) => match new.comment {
            None | Some("") => Ok(None),
            Some(_) => Err(EmbeddedError::new(0, "JSON has no comments, so none can be written")),
        },
    }
}

/// The change with another spelling of its value.
fn with_value<'a>(change: Change<'a>, value: &'a Value) -> Change<'a> {
    let respell = |new: New<'a>| New { value, ..new };
    let action = match change.action {
        Action::Add(new) => Action::Add(respell(new)),
        Action::Replace(new) => Action::Replace(respell(new)),
        Action::Remove => Action::Remove,
    };
    Change { action, ..change }
}

fn not_as_meant(language: Language) -> EmbeddedError {
    let message =
        format!("the edited {} text would not mean what the change asks for; please report this", language.name());
    EmbeddedError::new(0, message)
}

/// Characters that are escaped although the language does not ask for it: what acts instead of showing, the tab, and what
/// YAML does not print. Raw, they would not survive in the manifest around the text, or not be seen there.
fn is_hidden(character: char) -> bool {
    visible::is_hidden(character) || character == '\t'
}

#[cfg(test)]
mod tests;
