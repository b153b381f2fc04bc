//! In a text that a document embeds, too, nothing differs but what the claims call for.

mod json;
mod toml;

use super::beside;
use super::bytes::{self, Marked};
use super::extent::{self, Side};
use super::shadow::Edits;
use crate::embedded::{self, Language};
use crate::yaml::tree::Tree;

/// The byte of the result's text where it begins to differ in what need not, if it does. `edits` are what claims did in the
/// text. `is_said` tells of a comment whether the base or a patch has it.
pub(super) fn stray(
    language: Language,
    base: &str,
    result: &str,
    edits: &Edits,
    is_said: &dyn Fn(&str) -> bool,
) -> Option<usize> {
    let is_json = |text| embedded::read(Language::Json, text).is_ok();
    match language {
        Language::Toml => toml::stray(base, result, &edits.places),
        _ if is_json(base) && is_json(result) => json::stray(base, result, &edits.places),
        Language::Json => None,
        Language::Yaml => in_yaml(base, result, edits, is_said),
    }
}

/// What holds for a document's text holds for one inside it.
fn in_yaml(base: &str, result: &str, edits: &Edits, is_said: &dyn Fn(&str) -> bool) -> Option<usize> {
    let (old_tree, new_tree) = (Tree::parse(base).ok()?, Tree::parse(result).ok()?);
    let sides = (Side { text: base, tree: &old_tree }, Side { text: result, tree: &new_tree });
    let mut old = Marked { text: base, ..Marked::default() };
    let mut new = Marked { text: result, ..Marked::default() };
    let told = &mut extent::Told::of(edits, sides.0);
    let mut torn = Vec::new();
    for edit in &edits.places {
        let extents = extent::of_edit(edit, None, sides.0, sides.1, told);
        torn.extend(extents.ends.iter().filter(|_| edits.torn.contains(&edit.path)));
        old.departing.extend(extents.before);
        old.near.extend(extents.near_before);
        old.loose.extend(extents.loose);
        old.freed.extend(extents.freed);
        old.gone.extend(extents.gone);
        new.departing.extend(extents.after);
        new.near.extend(extents.near_after);
    }
    old.needs_end = extent::may_need_its_end(sides.0);
    new.needs_end = extent::may_need_its_end(sides.1);
    new.loose = beside::left_over(&new, &torn, is_said);
    bytes::compare(old, new).map(|stray| stray.after)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::diff::{Difference, What, diff_values};

    /// Holds a result against its base, where the values say what was edited.
    fn stray_of(language: Language, base: &str, result: &str) -> Option<usize> {
        let read = |text| embedded::read(language, text).unwrap();
        let edits = diff_values(&read(base), &read(result), &|_| None).into_iter().map(|edit| Difference {
            what: match edit.what {
                What::Replaced { .. } => What::Replaced { before: Value::Null, after: Value::Null },
                what => what,
            },
            ..edit
        });
        let edits = Edits { places: edits.collect(), ..Edits::default() };
        stray(language, base, result, &edits, &|_| false)
    }

    #[test]
    fn what_the_meaning_needs_is_no_stray() {
        for (language, base, result) in [
            (Language::Json, "{\n  \"a\": 1\n}\n", "{\n  \"a\": 1,\n  \"b\": 2\n}\n"),
            (Language::Json, "{\n  \"a\": 1 \n}\n", "{\n  \"a\": 1, \n  \"b\": 2\n}\n"),
            (Language::Json, "{\"a\": 1}", "{}"),
            (Language::Json, "[\n  1,\n  2\n]", "[\n  1\n]"),
            (Language::Json, "{\"a\": [\n {\"b\":1\n   }\n ]}", "{\"a\": [\n {\n  \"b\": 2\n}\n ]}"),
            (Language::Yaml, "a: 1\n# of b\nb: 2\n", "a: 1\n"),
            (Language::Yaml, "a: &x {k: 1}\nb: 2\nc: *x\n", "a: &x {k: 2}\nb: 2\nc: {k: 1}\n"),
            (Language::Yaml, "l: [\n  1\n]\n", "l: [\n  1,\n  2\n]\n"),
            (Language::Toml, "a = 1\n\n[t]\nb = 2\n", "a = 3\n\n[t]\nb = 2\n"),
        ] {
            assert_eq!(stray_of(language, base, result), None, "{result}");
        }
    }

    #[test]
    fn lines_that_say_the_same_in_another_way_are_found() {
        let json = "{\n  \"a\": 1,\n  \"l\": [1, 2],\n  \"b\": 3\n}\n";
        let found = stray_of(Language::Json, json, &json.replace("[1, 2]", "[1,2]").replace(": 3", ": 4"));
        assert_eq!(found, Some(19));
        let (base, result) = ("{\n  \"a\": 1\n}\n", "{\n  \"a\" : 1,\n  \"b\": 2\n}\n");
        assert_eq!(stray_of(Language::Json, base, result), Some(4), "next to a departure");
        let (base, result) = ("{\n  \"a\": 1,\n  \"b\": 2\n}\n", "{\n  \"a\": 1, \n  \"b\": 2,\n  \"c\": 3\n}\n");
        assert_eq!(stray_of(Language::Json, base, result), Some(10), "a blank behind a comma");
        let result = "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n\n}\n";
        assert_eq!(stray_of(Language::Json, base, result), Some(20), "a line without anything beside a new one");
        let result = "{\n  \"a\": 1,\n  \"b\": 3\n}";
        assert_eq!(stray_of(Language::Json, base, result), Some(22), "what stands behind the value");
        let yaml = "a: 1\n# said\nb: two\nc: 3\n";
        assert_eq!(stray_of(Language::Yaml, yaml, "a: 9\n# unsaid\nb: two\nc: 3\n"), Some(5));
        assert_eq!(stray_of(Language::Yaml, yaml, "a: 9\n# said\nb: 'two'\nc: 3\n"), Some(12));
        assert_eq!(stray_of(Language::Yaml, yaml, "a: 1\nb: two\nc: 4\n"), Some(5));
        assert_eq!(stray_of(Language::Toml, "a = 1\nb = 2\nc = 3\n", "a = 1\nb  = 2\nc = 4\n"), Some(6));
        assert_eq!(stray_of(Language::Toml, "a = 1\nb = 2\nc = 3\n", "a  = 1\nb = 2\nc = 4\n"), Some(0));
    }
}
