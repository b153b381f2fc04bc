//! Random values in random layouts under random changes: the text means what the change says, as `json-patch` has
//! it, and is what its author would have written.

use std::collections::BTreeMap;

use json_patch::{AddOperation, PatchOperation, RemoveOperation, ReplaceOperation};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::expected;
use super::*;

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[1-9][0-9]{20,40}".prop_map(|digits| digits.parse::<serde_json::Number>().unwrap().into()),
        any::<String>().prop_map(|text| text.chars().filter(|c| shows_or_escapes(*c)).collect::<String>().into()),
        "[a-z<>&/#:,{}\\[\\] ]{0,8}".prop_map(Value::from),
    ]
}

/// Whether `serde_json`, which prints what is wanted here, spells it as we do: not what we escape for YAML's sake.
fn shows_or_escapes(character: char) -> bool {
    character < ' ' || !(character.is_control() || "\u{2028}\u{2029}\u{feff}\u{fffe}\u{ffff}".contains(character))
}

fn tree() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-c\"\\\\é/~ ]{0,3}", inner, 0..5)
                .prop_map(|members: BTreeMap<_, _>| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Gives what TOML cannot say (nulls, integers of more than 64 bits) another value.
fn without_nulls(value: &mut Value) {
    match value {
        Value::Null => *value = json!("null"),
        Value::Number(number) if number.as_i64().is_none() => *value = json!(0),
        Value::Array(items) => items.iter_mut().for_each(without_nulls),
        Value::Object(members) => members.values_mut().for_each(without_nulls),
        _ => (),
    }
}

/// A change: what is done, and numbers that choose the place.
fn change() -> impl Strategy<Value = (prop::sample::Index, &'static str, prop::sample::Index, Value)> {
    let op = prop::sample::select(vec!["add", "replace", "remove"]);
    (any::<prop::sample::Index>(), op, any::<prop::sample::Index>(), tree())
}

/// The pointers of every node, the root's first.
fn pointers(value: &Value) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut below = |segment: &str, value: &Value| {
        let segment = segment.replace('~', "~0").replace('/', "~1");
        found.extend(pointers(value).into_iter().map(|rest| format!("/{segment}{rest}")));
    };
    match value {
        Value::Array(items) => items.iter().enumerate().for_each(|(at, item)| below(&at.to_string(), item)),
        Value::Object(members) => members.iter().for_each(|(key, member)| below(key, member)),
        _ => (),
    }
    found
}

/// A place at which the operation fits, if the value has one.
fn place(value: &Value, op: &str, which: prop::sample::Index, at: prop::sample::Index) -> Option<String> {
    let all = pointers(value);
    if op != "add" {
        let fitting = &all[usize::from(op == "remove")..];
        return (!fitting.is_empty()).then(|| fitting[which.index(fitting.len())].clone());
    }
    let open = |pointer: &&String| value.pointer(pointer).is_some_and(|node| node.is_array() || node.is_object());
    let fitting: Vec<_> = all.iter().filter(open).collect();
    let parent = fitting.get(which.index(fitting.len().max(1)))?;
    Some(match value.pointer(parent)? {
        Value::Array(items) => format!("{parent}/{}", at.index(items.len() + 1)),
        _ => format!("{parent}/new\u{e9}"),
    })
}

/// JSON with the white space that `space` gives for each gap: its argument is the depth on a new line, `None` where
/// a pretty printer puts no line break.
fn print(value: &Value, depth: usize, space: &mut impl FnMut(Option<usize>) -> String, out: &mut String) {
    let parts: Vec<(Option<&String>, &Value)> = match value {
        Value::Array(items) => items.iter().map(|item| (None, item)).collect(),
        Value::Object(members) => members.iter().map(|(key, member)| (Some(key), member)).collect(),
        scalar => return out.push_str(&scalar.to_string()),
    };
    let [open, close] = if value.is_array() { ['[', ']'] } else { ['{', '}'] };
    out.push(open);
    for (nth, (key, part)) in parts.iter().enumerate() {
        if nth > 0 {
            out.push(',');
        }
        out.push_str(&space(Some(depth + 1)));
        if let Some(key) = key {
            out.push_str(&json!(key).to_string());
            out.push(':');
            out.push_str(&space(None));
        }
        print(part, depth + 1, space, out);
    }
    if !parts.is_empty() {
        out.push_str(&space(Some(depth)));
    }
    out.push(close);
}

fn pretty(value: &Value, newline: &str, indent: &str) -> String {
    let mut out = String::new();
    let mut space =
        |line: Option<usize>| line.map_or(" ".to_owned(), |depth| format!("{newline}{}", indent.repeat(depth)));
    print(value, 0, &mut space, &mut out);
    out
}

fn compact(value: &Value) -> String {
    let mut out = String::new();
    print(value, 0, &mut |_| String::new(), &mut out);
    out
}

/// What `json-patch` makes of the change.
fn patched(value: &Value, op: &str, path: &str, new: &Value) -> Value {
    let (path, new) = (jsonptr::PointerBuf::parse(path).unwrap(), new.clone());
    // Not through serde: its tagged enums lose integers of more than 64 bits.
    let operation = match op {
        "add" => PatchOperation::Add(AddOperation { path, value: new }),
        "replace" => PatchOperation::Replace(ReplaceOperation { path, value: new }),
        _ => PatchOperation::Remove(RemoveOperation { path }),
    };
    let mut value = value.clone();
    json_patch::patch(&mut value, &[operation]).unwrap();
    value
}

/// What the text should mean, in the order in which a text gains and loses members.
fn ordered(value: &Value, op: &str, path: &str, new: &Value) -> Value {
    let path: Vec<String> = path.split('/').skip(1).map(|s| s.replace("~1", "/").replace("~0", "~")).collect();
    let new = New { value: new, spelled: None, comment: None };
    let action = match op {
        "add" => Action::Add(new),
        "replace" => Action::Replace(new),
        _ => Action::Remove,
    };
    expected::after(value, &Change { action, path: &path }).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn a_json_text_in_any_layout_means_what_the_change_says(
        value in tree(),
        (which, op, at, new) in change(),
        gaps in prop::collection::vec("[ \t\n]{0,3}|(\r\n  ){0,2}", 1..20),
    ) {
        let mut gaps = gaps.iter().cycle().cloned();
        let mut text = String::new();
        print(&value, 0, &mut |_| gaps.next().unwrap_or_default(), &mut text);
        prop_assert_eq!(&read(Language::Json, &text).unwrap(), &value);
        if let Some(path) = place(&value, op, which, at) {
            let after = changed(Language::Json, &text, op, &path, &new).unwrap();
            prop_assert_eq!(read(Language::Json, &after).unwrap(), patched(&value, op, &path, &new));
        }
    }

    #[test]
    fn a_pretty_json_text_stays_pretty(
        value in tree(),
        (which, op, at, new) in change(),
        newline in prop::sample::select(vec!["\n", "\r\n"]),
        indent in prop::sample::select(vec!["  ", "    ", "\t", " "]),
    ) {
        let value = json!([value, {"last": 1}]);
        let text = pretty(&value, newline, indent);
        if let Some(path) = place(&value, op, which, at) {
            let after = changed(Language::Json, &text, op, &path, &new).unwrap();
            prop_assert_eq!(after, pretty(&ordered(&value, op, &path, &new), newline, indent));
        }
    }

    #[test]
    fn a_compact_json_text_stays_compact(value in tree(), (which, op, at, new) in change()) {
        let value = json!({"first": value, "": [1, 2]});
        let text = compact(&value);
        if let Some(path) = place(&value, op, which, at) {
            let after = changed(Language::Json, &text, op, &path, &new).unwrap();
            prop_assert_eq!(after, compact(&ordered(&value, op, &path, &new)));
        }
    }

    #[test]
    fn any_text_is_read_or_refused_at_a_place_in_it(text in any::<String>()) {
        for language in [Language::Json, Language::Yaml, Language::Toml] {
            let offset = read(language, &text).map_or_else(|error| error.offset, |_| 0);
            prop_assert!(text.is_char_boundary(offset), "{language:?} {offset}");
        }
    }

    #[test]
    fn what_looks_like_json_is_read_as_serde_json_reads_it(text in "([\\[\\]{},:\"\\\\ 01.eE+u/n-]|true|\"a\"|é){0,12}") {
        let ours = read(Language::Json, &text);
        let theirs = serde_json::from_str::<Value>(&text);
        match &ours {
            Ok(_) => prop_assert!(theirs.is_ok()),
            Err(error) => {
                prop_assert!(text.is_char_boundary(error.offset));
                prop_assert!(theirs.is_err() || error.message.contains("twice"), "{}", error.message);
            }
        }
    }

    #[test]
    fn a_json_text_that_breaks_off_is_refused(value in tree(), cut in any::<prop::sample::Index>()) {
        let text = pretty(&json!([value]), "\n", "  ");
        let end = text.floor_char_boundary(cut.index(text.len()));
        let error = read(Language::Json, &text[..end]).unwrap_err();
        prop_assert!(text[..end].is_char_boundary(error.offset));
    }

    #[test]
    fn a_toml_text_means_what_the_change_says(
        value in tree(),
        (which, op, at, mut new) in change(),
        (inline, crlf, comments) in any::<(bool, bool, bool)>(),
    ) {
        let mut value = json!({"first": value, "z": {"y": [{"x": 1}, {}]}, "deep": {"er": {"est": {}}}});
        without_nulls(&mut value);
        without_nulls(&mut new);
        let value = if inline { json!({"one": [[value]]}) } else { value };
        let text = toml::print(value.as_object().unwrap()).unwrap();
        let commented = |text: &str| {
            let lines: Vec<_> = text.lines().map(|line| format!("# of the next\n{line} # c\n")).collect();
            lines.concat()
        };
        let text = if comments { commented(&text) } else { text };
        let text = if crlf { text.replace('\n', "\r\n") } else { text };
        prop_assert_eq!(&read(Language::Toml, &text).unwrap(), &value, "{}", text);
        let path = place(&value, op, which, at).filter(|path| !path.is_empty());
        if let Some(path) = path {
            match changed(Language::Toml, &text, op, &path, &new) {
                Ok(after) => {
                    prop_assert_eq!(read(Language::Toml, &after).unwrap(), patched(&value, op, &path, &new), "{}", after);
                    let bare = after.matches('\n').count() - after.matches("\r\n").count();
                    prop_assert!(!crlf || bare == 0, "{} line breaks lack a carriage return", bare);
                    let lost = text.lines().filter(|line| !after.lines().any(|other| other == *line)).count();
                    prop_assert!(op != "add" || lost <= 1, "{} lines of\n{}\nare not in\n{}", lost, text, after);
                }
                Err(message) => prop_assert!(message.contains("hold mappings only"), "{}\n{}", message, text),
            }
        }
    }

    #[test]
    fn what_looks_like_toml_is_changed_or_refused(
        text in "([\\[\\]{}=.,\"'#\n ab1]|\r\n|a = |\\[a\\]\n|\\[\\[b\\]\\]\n|\"\"\"){0,14}",
        (which, op, at, new) in change(),
    ) {
        if let Ok(value) = read(Language::Toml, &text)
            && let Some(path) = place(&value, op, which, at)
            && let Ok(after) = changed(Language::Toml, &text, op, &path, &new)
        {
            prop_assert_eq!(read(Language::Toml, &after).unwrap(), patched(&value, op, &path, &new));
        }
    }
}
