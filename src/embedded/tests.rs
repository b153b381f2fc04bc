//! What the tests of every language share, and the invariants that hold for all of them.

use serde_json::{Value, json};

use super::*;

/// The text after one change; the message of the error otherwise. `path` is an RFC 6901 pointer.
pub(super) fn changed(language: Language, text: &str, op: &str, path: &str, value: &Value) -> Result<String, String> {
    let path: Vec<String> = path.split('/').skip(1).map(|s| s.replace("~1", "/").replace("~0", "~")).collect();
    let new = New { value, spelled: None, comment: None };
    let action = match op {
        "add" => Action::Add(new),
        "replace" => Action::Replace(new),
        "remove" => Action::Remove,
        other => panic!("no operation {other}"),
    };
    let edits = edit(language, text, &Change { action, path: &path }).map_err(|error| error.message)?;
    Ok(apply_edits(text, &edits))
}

#[test]
fn languages_are_named_by_their_words() {
    for language in [Language::Json, Language::Yaml, Language::Toml] {
        assert_eq!(language.as_str().parse(), Ok(language));
    }
    let error = "json5".parse::<Language>().unwrap_err();
    assert_eq!(error.to_string(), "`json5` is no language of embedded texts; they are json, yaml and toml");
}

#[test]
fn a_path_that_does_not_fit_is_told() {
    let cases = [
        ("replace", "/b", "there is no `b` in the embedded text at this path"),
        ("remove", "/b", "there is no `b` in the embedded text at this path"),
        ("add", "/b/c", "there is no `b` in the embedded text at this path"),
        ("add", "/a/01", "`01` is no index of a list"),
        ("add", "/a/x", "`x` is no index of a list"),
        ("replace", "/a/-", "`-` is no index of a list"),
        ("remove", "/a/-1", "`-1` is no index of a list"),
        ("add", "/a/2", "the index 2 lies outside the list, which has length 1"),
        ("remove", "/a/1", "the index 1 lies outside the list, which has length 1"),
        ("add", "/a/0/x", "there is nothing below a scalar, and so no `x`"),
        ("remove", "", "the whole text cannot be removed"),
        ("add", "/a/99999999999999999999999", "`99999999999999999999999` is no index of a list"),
    ];
    for (op, path, message) in cases {
        let result = changed(Language::Json, r#"{"a": [1]}"#, op, path, &json!(2));
        assert_eq!(result, Err(message.to_owned()), "{op} {path}");
    }
}

#[test]
fn a_change_that_is_there_already_edits_nothing() {
    let change = |text: &str, op, path, value: &Value| changed(Language::Json, text, op, path, value).unwrap();
    for text in [r#"{ "a": 1.0}"#, "{\"a\" :1e0 }\n", r#"{"\u0061":1}"#] {
        assert_eq!(change(text, "replace", "/a", &json!(1)), text);
        assert_eq!(change(text, "add", "/a", &json!(1)), text);
    }
    assert_eq!(
        change(r#"{"a": {"x" : 1, "y": [] }}"#, "replace", "/a", &json!({"y": [], "x": 1})),
        r#"{"a": {"x" : 1, "y": [] }}"#
    );
}

mod properties;

#[test]
fn a_yaml_text_is_one_document_without_doubled_keys() {
    assert_eq!(read(Language::Yaml, "a: yes\nb: 0x1F\n").unwrap(), json!({"a": true, "b": 31}));
    assert_eq!(read(Language::Yaml, "---\na: 1\n...\n").unwrap(), json!({"a": 1}));
    assert_eq!(read(Language::Yaml, "# none\n---\na: 1\n").unwrap(), json!({"a": 1}));
    let refused = |text| read(Language::Yaml, text).map_err(|error| (error.offset, error.message)).unwrap_err();
    let several = "this YAML text holds several documents, of which none can be named; only one can be read";
    assert_eq!(refused("a: 1\n---\nb: 2\n"), (5, several.to_owned()));
    assert_eq!(refused("a: 1\nb: 2\na: 3\n"), (10, "the key `a` stands in this mapping twice".to_owned()));
    assert_eq!(refused("a: [1\n").0, 3);
}

#[test]
fn a_yaml_text_is_changed_as_a_manifest_is() {
    let text = "# head\nlogLevel: verbose # why\nlist:\n- a\n";
    let change = |op, path, value: &Value| changed(Language::Yaml, text, op, path, value).unwrap();
    assert_eq!(change("replace", "/logLevel", &json!("debug")), text.replace("verbose", "debug"));
    assert_eq!(change("add", "/list/-", &json!("b")), format!("{text}- b\n"));
    assert_eq!(change("add", "/on", &json!("no")), format!("{text}\"on\": \"no\"\n"));
    assert_eq!(change("remove", "/logLevel", &json!(null)), "list:\n- a\n");
    let several = changed(Language::Yaml, "a: 1\n---\nb: 2\n", "remove", "/a", &json!(null)).unwrap_err();
    assert!(several.contains("holds several documents"), "{several}");
}

#[test]
fn a_comment_is_set_where_the_value_is_there_already() {
    let set = |language, text: &str| {
        let new = New { value: &json!(1), spelled: None, comment: Some("why") };
        let change = Change { action: Action::Replace(new), path: &["a".to_owned()] };
        apply_edits(text, &edit(language, text, &change).unwrap())
    };
    assert_eq!(set(Language::Yaml, "a: 0x1\nb: 2\n"), "a: 0x1 # why\nb: 2\n");
    assert_eq!(set(Language::Toml, "a = 0x1\nb = 2\n"), "a = 0x1 # why\nb = 2\n");
}
