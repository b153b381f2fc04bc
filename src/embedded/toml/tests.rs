//! TOML texts: what is read, what is refused and where, and what every change does to the bytes.

use serde_json::{Value, json};

use crate::change::{Action, Change, New, apply_edits};
use crate::embedded::tests::changed;
use crate::embedded::{EmbeddedError, Language, edit, read};

fn add(text: &str, path: &str, value: &Value) -> String {
    changed(Language::Toml, text, "add", path, value).unwrap()
}

fn replace(text: &str, path: &str, value: &Value) -> String {
    changed(Language::Toml, text, "replace", path, value).unwrap()
}

fn remove(text: &str, path: &str) -> String {
    let after = changed(Language::Toml, text, "remove", path, &Value::Null);
    after.unwrap_or_else(|error| panic!("{text:?} {path}: {error}"))
}

fn commented(text: &str, key: &str, add: bool, comment: &str) -> Result<String, EmbeddedError> {
    let new = New { value: &json!(2), spelled: None, comment: Some(comment) };
    let action = if add { Action::Add(new) } else { Action::Replace(new) };
    Ok(apply_edits(text, &edit(Language::Toml, text, &Change { action, path: &[key.to_owned()] })?))
}

#[test]
fn a_pair_goes_behind_the_last_of_its_table() {
    let cases = [
        ("", "/k", "k = 1\n"),
        ("# only this\n", "/k", "# only this\nk = 1\n"),
        ("# only this", "/k", "# only this\nk = 1"),
        ("a = 1\n", "/k", "a = 1\nk = 1\n"),
        ("a = 1", "/k", "a = 1\nk = 1"),
        ("a = 1\r\nb = 2\r\n", "/k", "a = 1\r\nb = 2\r\nk = 1\r\n"),
        ("a=1\n", "/k", "a=1\nk=1\n"),
        ("a = 1 # x\n\n[t]\nb = 2\n", "/k", "a = 1 # x\nk = 1\n\n[t]\nb = 2\n"),
        ("a = 1\n\n[t]\nb = 2\n\n[u]\nc = 3\n", "/t/k", "a = 1\n\n[t]\nb = 2\nk = 1\n\n[u]\nc = 3\n"),
        ("[t]\n", "/t/k", "[t]\nk = 1\n"),
        ("[t] # x\n[u]\n", "/t/k", "[t] # x\nk = 1\n[u]\n"),
        ("[t]\n  b = 2\n", "/t/k", "[t]\n  b = 2\n  k = 1\n"),
        ("[t]\nb = 2\n", "/k", "k = 1\n\n[t]\nb = 2\n"),
        ("# of t\n[t]\nb = 2\n", "/k", "k = 1\n\n# of t\n[t]\nb = 2\n"),
        ("[t.u]\nb = 2\n", "/t/k", "[t]\nk = 1\n\n[t.u]\nb = 2\n"),
        ("a.b = 1\nc = 2\n", "/a/k", "a.b = 1\na.k = 1\nc = 2\n"),
        ("[t]\na.b = 1\n[u]\n", "/t/a/k", "[t]\na.b = 1\na.k = 1\n[u]\n"),
        ("[[p]]\nx = 1\n[[p]]\nx = 2\n", "/p/0/k", "[[p]]\nx = 1\nk = 1\n[[p]]\nx = 2\n"),
        ("s = \"\"\"\na\n[t]\n\"\"\"\n[u]\n", "/k", "s = \"\"\"\na\n[t]\n\"\"\"\nk = 1\n[u]\n"),
        ("a = 1\n", "/k l", "a = 1\n\"k l\" = 1\n"),
        ("a = 1\n", "/k.\"l", "a = 1\n'k.\"l' = 1\n"),
        ("\u{feff}a = 1\n", "/k", "\u{feff}a = 1\nk = 1\n"),
    ];
    for (text, path, wanted) in cases {
        assert_eq!(add(text, path, &json!(1)), wanted, "{text:?} {path}");
    }
}

#[test]
fn a_mapping_becomes_a_section() {
    let cases = [
        ("a = 1\n", "/t", "a = 1\n\n[t]\nk = 1\n"),
        ("a = 1\r\n", "/t", "a = 1\r\n\r\n[t]\r\nk = 1\r\n"),
        ("a = 1", "/t", "a = 1\n\n[t]\nk = 1"),
        ("", "/t", "[t]\nk = 1\n"),
        ("[t]\na = 1\n\n[t.u]\nb = 1\n\n[v]\n", "/t/w", "[t]\na = 1\n\n[t.u]\nb = 1\n\n[t.w]\nk = 1\n\n[v]\n"),
        ("[[p]]\nx = 1\n\n[[p]]\nx = 2\n", "/p/0/w", "[[p]]\nx = 1\n\n[p.w]\nk = 1\n\n[[p]]\nx = 2\n"),
        ("a = 1\n# end\n", "/t", "a = 1\n# end\n\n[t]\nk = 1\n"),
        ("a.b = 1\n", "/a/c", "a.b = 1\na.c = { k = 1 }\n"),
        ("a = { b = 1 }\n", "/a/c", "a = { b = 1, c = { k = 1 } }\n"),
    ];
    for (text, path, wanted) in cases {
        assert_eq!(add(text, path, &json!({"k": 1})), wanted, "{text:?} {path}");
    }
    let value = json!({"a": {"b": [1, "x"], "c": {"d": true}}, "e": 1, "l": [{"m": 1}, {}], "z": {}});
    let wanted = "[t]\ne = 1\n\n[t.a]\nb = [1, \"x\"]\n\n[t.a.c]\nd = true\n\n[[t.l]]\nm = 1\n\n[[t.l]]\n\n[t.z]\n";
    assert_eq!(add("", "/t", &value), wanted);
}

#[test]
fn an_item_of_an_array_of_tables_is_a_section() {
    let text = "[[p]]\nx = 1\n\n# second\n[[p]]\nx = 2\n\n[q]\n";
    let item = json!({"x": 9});
    assert_eq!(add(text, "/p/0", &item), "[[p]]\nx = 9\n\n[[p]]\nx = 1\n\n# second\n[[p]]\nx = 2\n\n[q]\n");
    assert_eq!(add(text, "/p/1", &item), "[[p]]\nx = 1\n\n[[p]]\nx = 9\n\n# second\n[[p]]\nx = 2\n\n[q]\n");
    assert_eq!(add(text, "/p/-", &item), "[[p]]\nx = 1\n\n# second\n[[p]]\nx = 2\n\n[[p]]\nx = 9\n\n[q]\n");
    assert_eq!(remove(text, "/p/0"), "# second\n[[p]]\nx = 2\n\n[q]\n");
    assert_eq!(remove(text, "/p/1"), "[[p]]\nx = 1\n\n[q]\n");
    assert_eq!(replace(text, "/p/1/x", &json!(3)), text.replace("x = 2", "x = 3"));
    assert_eq!(replace("[[p]]\nx = 1\n", "/p/0", &item), "[[p]]\nx = 9\n");
    assert_eq!(remove("[[p]]\nx = 1\n", "/p/0"), "p = []\n");
    let error = changed(Language::Toml, text, "add", "/p/-", &json!(1)).unwrap_err();
    assert_eq!(error, "this list is written as sections `[[…]]`, which hold mappings only");
}

#[test]
fn an_item_goes_between_its_neighbours() {
    let cases = [
        ("a = []\n", "/a/-", "a = [9]\n"),
        ("a = [ ]\n", "/a/0", "a = [9]\n"),
        ("a = [1, 2]\n", "/a/0", "a = [9, 1, 2]\n"),
        ("a = [1, 2]\n", "/a/1", "a = [1, 9, 2]\n"),
        ("a = [1, 2]\n", "/a/-", "a = [1, 2, 9]\n"),
        ("a = [1,2,]\n", "/a/-", "a = [1,2,9,]\n"),
        ("a = [ 1 ]\n", "/a/-", "a = [ 1, 9 ]\n"),
        ("a = [\n  1,\n  2\n]\n", "/a/-", "a = [\n  1,\n  2,\n  9\n]\n"),
        ("a = [\n  1,\n  2,\n]\n", "/a/-", "a = [\n  1,\n  2,\n  9,\n]\n"),
        ("a = [\n  1, # one\n  2 # two\n]\n", "/a/-", "a = [\n  1, # one\n  2, # two\n  9\n]\n"),
        ("a = [\n  1, # one\n  2, # two\n]\n", "/a/-", "a = [\n  1, # one\n  2, # two\n  9,\n]\n"),
        ("a = [\n  1, # one\n  # of two\n  2,\n]\n", "/a/1", "a = [\n  1, # one\n  9,\n  # of two\n  2,\n]\n"),
        ("a = [\r\n\t1,\r\n]\r\n", "/a/0", "a = [\r\n\t9,\r\n\t1,\r\n]\r\n"),
        ("a = [\n  1,\n  2]\n", "/a/-", "a = [\n  1,\n  2,\n  9]\n"),
        ("a = [\n]\n", "/a/-", "a = [\n  9\n]\n"),
        ("a = [\n  # none yet\n]\n", "/a/-", "a = [\n  # none yet\n  9\n]\n"),
        ("a = [[1], []]\n", "/a/1/-", "a = [[1], [9]]\n"),
        ("a = {}\n", "/a/k", "a = { k = 9 }\n"),
        ("a = { b = 1 }\n", "/a/k", "a = { b = 1, k = 9 }\n"),
        ("a = {b = 1}\n", "/a/k", "a = {b = 1, k = 9}\n"),
        ("a = [{ b = 1 }]\n", "/a/0/k", "a = [{ b = 1, k = 9 }]\n"),
    ];
    for (text, path, wanted) in cases {
        assert_eq!(add(text, path, &json!(9)), wanted, "{text:?} {path}");
    }
}

#[test]
fn an_item_goes_with_its_comma_its_line_and_its_comments() {
    let cases = [
        ("a = [1]\n", "/a/0", "a = []\n"),
        ("a = [1, 2, 3]\n", "/a/0", "a = [2, 3]\n"),
        ("a = [1, 2, 3]\n", "/a/1", "a = [1, 3]\n"),
        ("a = [1, 2, 3]\n", "/a/2", "a = [1, 2]\n"),
        ("a = [1, 2,]\n", "/a/1", "a = [1,]\n"),
        ("a = [\n  1, # one\n  # of two\n  2, # two\n  3,\n]\n", "/a/1", "a = [\n  1, # one\n  3,\n]\n"),
        ("a = [\n  1, # one\n  2 # two\n]\n", "/a/1", "a = [\n  1 # one\n]\n"),
        ("a = [\n  1, # one\n  2, # two\n]\n", "/a/1", "a = [\n  1, # one\n]\n"),
        ("a = [\r\n  1,\r\n  2\r\n]\r\n", "/a/0", "a = [\r\n  2\r\n]\r\n"),
        ("a = [1, # one\n  2]\n", "/a/0", "a = [ # one\n  2]\n"),
        ("a = [1, # one\n  2]\n", "/a/1", "a = [1 # one\n  ]\n"),
        ("a = { b = 1, c = 2 }\n", "/a/b", "a = { c = 2 }\n"),
        ("a = { b = 1, c = 2 }\n", "/a/c", "a = { b = 1 }\n"),
        ("a = { b = 1 }\n", "/a/b", "a = {}\n"),
    ];
    for (text, path, wanted) in cases {
        assert_eq!(remove(text, path), wanted, "{text:?} {path}");
    }
}

#[test]
fn a_key_goes_with_its_lines_and_the_comments_above() {
    let cases = [
        ("a = 1\nb = 2 # x\nc = 3\n", "/b", "a = 1\nc = 3\n"),
        ("a = 1\n\n# of b\n# too\nb = 2\n\nc = 3\n", "/b", "a = 1\n\n\nc = 3\n"),
        ("a = 1\nb = 2", "/b", "a = 1"),
        ("a = 1\r\nb = 2", "/b", "a = 1"),
        ("a = 1\r\nb = 2\r\n", "/a", "b = 2\r\n"),
        ("a = 1\n", "/a", ""),
        ("\u{feff}a = 1\nb = 2\n", "/a", "\u{feff}b = 2\n"),
        ("a = \"\"\"\n# no comment\n\"\"\"\nb = 2\n", "/b", "a = \"\"\"\n# no comment\n\"\"\"\n"),
        ("a = \"\"\"\n# x\"\"\"\nb = 2\n", "/b", "a = \"\"\"\n# x\"\"\"\n"),
        ("[t]\na = 1\n", "/t/a", "[t]\n"),
        ("x = 1\n\n[t]\na = 1\n\n# of u\n[u]\nb = 1\n", "/t", "x = 1\n\n# of u\n[u]\nb = 1\n"),
        ("x = 1\n\n[t]\na = 1\n\n# of u\n[u]\nb = 1\n", "/u", "x = 1\n\n[t]\na = 1\n"),
        ("[t]\na = 1\n\n[u]\nb = 1", "/u", "[t]\na = 1"),
        ("[t]\na = 1\n[t.u]\nb = 1\n[v]\n[t.w]\n", "/t", "[v]\n"),
        ("a.b = 1\na.c = 2\nd = 3\n", "/a", "d = 3\n"),
        ("a.b = 1\na.c = 2\nd = 3\n", "/a/b", "a.c = 2\nd = 3\n"),
        ("[t.u]\nb = 1\n", "/t/u", "[t]\n"),
        ("[t]\nx = 1", "/t", ""),
    ];
    for (text, path, wanted) in cases {
        assert_eq!(remove(text, path), wanted, "{text:?} {path}");
    }
}

#[test]
fn a_replaced_value_keeps_its_kind_its_quotes_and_what_stands_behind_it() {
    let cases = [
        ("a = 1 # x\n", "/a", json!(2), "a = 2 # x\n"),
        ("a   =   1\n", "/a", json!("é/\"q\""), "a   =   'é/\"q\"'\n"),
        ("a = 'x'\n", "/a", json!("y"), "a = 'y'\n"),
        ("a = 'x'\n", "/a", json!("it's"), "a = \"it's\"\n"),
        ("a = \"x\"\n", "/a", json!("1\n2\t\u{1}"), "a = \"1\\n2\\t\\u0001\"\n"),
        ("a = \"\"\"\nx\ny\n\"\"\"\nb = 1\n", "/a", json!("z\n\"w\"\n"), "a = \"\"\"\nz\n\\\"w\\\"\n\"\"\"\nb = 1\n"),
        ("a = 1.5\n", "/a", json!(2), "a = 2.0\n"),
        ("a = [1.5]\n", "/a", json!([2, 3]), "a = [2.0, 3.0]\n"),
        ("a = 2020-01-01\n", "/a", json!("2021-02-03"), "a = 2021-02-03\n"),
        ("a = 2020-01-01\n", "/a", json!("never"), "a = \"never\"\n"),
        ("a = [1, 2]\r\nb = 3\r\n", "/a/1", json!(4), "a = [1, 4]\r\nb = 3\r\n"),
        ("a = { b = 1, c = [true] }\n", "/a/c/0", json!(false), "a = { b = 1, c = [false] }\n"),
        ("a = { b.c = 1 }\n", "/a/b/c", json!(2), "a = { b.c = 2 }\n"),
        ("a.b = 1\n", "/a/b", json!({"x": 1}), "a.b = { x = 1 }\n"),
        ("[t]\na = 1\n\n[u]\nb = 1\n", "/t", json!({"z": 1}), "[t]\nz = 1\n\n[u]\nb = 1\n"),
        ("[t]\na = 1\n", "/t", json!(5), "t = 5\n"),
        ("a.b.c = 1\nd = 1\n", "/a/b", json!(5), "a.b = 5\nd = 1\n"),
        ("# x\na = 1\n", "", json!({"b": 1, "t": {"c": 2}}), "b = 1\n\n[t]\nc = 2\n"),
        ("a = 1\n", "", json!({"t": {"c": 2}}), "[t]\nc = 2\n"),
    ];
    for (text, path, value, wanted) in cases {
        assert_eq!(replace(text, path, &value), wanted, "{text:?} {path}");
    }
}

#[test]
fn a_trailing_comment_is_written_changed_and_taken_away() {
    assert_eq!(commented("a = 1\n", "b", true, "why").unwrap(), "a = 1\nb = 2 # why\n");
    assert_eq!(commented("a = 1 # x\r\nc = 3\r\n", "a", false, "why").unwrap(), "a = 2 # why\r\nc = 3\r\n");
    assert_eq!(commented("a = 1 # x\n", "a", false, "").unwrap(), "a = 2\n");
    assert_eq!(commented("a = 0x2\n", "a", false, "why").unwrap(), "a = 0x2 # why\n");
    let message = |text: &str, key: &str, comment: &str| commented(text, key, false, comment).unwrap_err().message;
    assert_eq!(message("a = 1\n", "a", "x\ny"), "a comment holds no line breaks or other control characters");
    let wanted = "in TOML a comment can be written only behind the value of a key";
    let new = New { value: &json!({"k": 1}), spelled: None, comment: Some("why") };
    let error = edit(Language::Toml, "", &Change { action: Action::Add(new), path: &["t".to_owned()] }).unwrap_err();
    assert_eq!(error.message, wanted);
}

#[test]
fn what_toml_cannot_say_is_told() {
    let cases = [
        ("a = 1\n", "/k", json!(null), "TOML has no null; remove the key instead"),
        ("a = [1]\n", "/a/-", json!([{"x": null}]), "TOML has no null; remove the key instead"),
        ("a = 1\n", "", json!([1]), "a TOML text as a whole is a mapping"),
        (
            "a = { b.c = 1 }\n",
            "/a/k",
            json!(1),
            "an inline table with dotted keys cannot be changed in part; replace it as a whole",
        ),
    ];
    for (text, path, value, message) in cases {
        assert_eq!(changed(Language::Toml, text, "add", path, &value), Err(message.to_owned()), "{text:?} {path}");
    }
    let big: Value = "9223372036854775808".parse::<serde_json::Number>().unwrap().into();
    let error = changed(Language::Toml, "", "add", "/k", &big).unwrap_err();
    assert_eq!(error, "TOML has no integers of more than 64 bits, such as 9223372036854775808");
}

#[test]
fn every_kind_of_value_is_read() {
    let text = "s = 'x'\nn = 0x1F\nf = 1.0\nt = true\nd = 1979-05-27 07:32:00Z\nl = [1, [2]]\nm = {a.b = 1}\n[[p]]\n[p.q]\nr = 1\n";
    let wanted = json!({
        "s": "x", "n": 31, "f": 1, "t": true, "d": "1979-05-27T07:32:00Z", "l": [1, [2]], "m": {"a": {"b": 1}},
        "p": [{"q": {"r": 1}}],
    });
    assert_eq!(read(Language::Toml, text).unwrap(), wanted);
    assert_eq!(read(Language::Toml, "").unwrap(), json!({}));
}

#[test]
fn what_is_no_toml_is_told_with_its_place() {
    let cases = [
        ("a = 1\na = 2\n", 6, "duplicate key"),
        ("a = [1\n", 6, "unclosed array, expected `]`"),
        ("é = 1\n", 0, "invalid unquoted key, expected letters, numbers, `-`, `_`"),
        ("a = 1\nb = inf\n", 10, "TOML's infinities and `nan` have no counterpart in Kubernetes' values"),
        ("a = 99999999999999999999\n", 4, "integer number overflowed"),
    ];
    for (text, offset, message) in cases {
        let error = read(Language::Toml, text).unwrap_err();
        assert_eq!((error.offset, error.message.as_str()), (offset, message), "{text:?}");
    }
}

#[test]
fn what_toml_1_0_does_not_have_is_told_with_its_place() {
    let said = |what: &str, instead: &str| {
        format!("TOML 1.0 does not have {what}, and many programs read no later TOML; {instead}")
    };
    let line = said("a line break between the braces of an inline table", "write it on one line");
    let comma = said("a comma behind the last entry of an inline table", "leave it out");
    let escape = said("the escapes `\\e` and `\\x`", "write `\\u` and four digits");
    let time = said("times without seconds", "write `:00` behind the minutes");
    for (text, offset, message) in [
        ("a = {\n  b = 1\n}\n", 5, &line),
        ("a = {b = 1, # c\r\n c = 2}\n", 16, &line),
        ("[t]\na = [{b = [1,\n 2], c = '}'\n}]\n", 30, &line),
        ("a = {b = \"\\\"{\", c = \"\"\"x\"\"\"\"\n}\n", 28, &line),
        ("a = {b = 1, }\n", 10, &comma),
        ("a = '''\n{'''\nb = {c = {d = 1,}}\n", 28, &comma),
        ("a = \"x\\e\"\n", 6, &escape),
        ("a = \"\"\"\n\\\\\\x41\"\"\"\n", 10, &escape),
        ("\"\\x41\" = 1\n", 1, &escape),
        ("a = [07:32]\n", 5, &time),
        ("a = 1979-05-27T07:32Z\n", 4, &time),
    ] {
        let error = read(Language::Toml, text).map_err(|error| (error.offset, error.message));
        assert_eq!(error, Err((offset, message.clone())), "{text:?}");
        assert_eq!(changed(Language::Toml, text, "add", "/z", &json!(1)), Err(message.clone()), "{text:?}");
    }
    for text in [
        "a = {b = [\n1,\n], c = \"\"\"\n\"\"\", d = '''\n}'''} # }\n# {\n[t]\n",
        "a = {} # ,}\nb = {c = ',' }\nd = '\\e\\x'\ne = \"\\\\e\\\\x\"\n[[x.\"{\"]]\n",
        "a = ''\nb = \"\"\nc = [[1],\n]\nd = 07:32:00\ne = 1979-05-27\n",
    ] {
        assert!(read(Language::Toml, text).is_ok(), "{text:?}");
    }
}
