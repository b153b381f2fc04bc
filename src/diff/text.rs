//! Which strings embed a text of a language that can be compared inside.

use serde_json::Value;

use crate::embedded::{self, Language};

/// Key endings that say what a text is written in, as file names do, with the language's word.
const ENDINGS: &[(&str, &str)] =
    &[(".json", "json"), (".conflist", "json"), (".yaml", "yaml"), (".yml", "yaml"), (".toml", "toml")];

/// The language that two strings under `key` are both written in, and what they say in it. `known` is tried first,
/// then what the key's ending says, then JSON where both look like it. A text that is no list and no mapping embeds
/// nothing.
pub(super) fn read_both(
    known: Option<Language>,
    key: &str,
    before: &str,
    after: &str,
) -> Option<(Language, Value, Value)> {
    let ending = ENDINGS.iter().find(|(ending, _)| key.ends_with(ending)).and_then(|(_, word)| word.parse().ok());
    let json = (looks_like_json(before) && looks_like_json(after)).then_some(Language::Json);
    [known, ending, json].into_iter().flatten().find_map(|language| {
        let read = |text| embedded::read(language, text).ok().filter(|value| value.is_array() || value.is_object());
        Some((language, read(before)?, read(after)?))
    })
}

fn looks_like_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}
