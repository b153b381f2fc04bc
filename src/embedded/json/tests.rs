//! JSON texts: what is read, what is refused and where, and what every change does to the bytes.

use serde_json::{Value, json};

use crate::change::{Action, Change, New};
use crate::embedded::tests::changed;
use crate::embedded::{Language, edit, read};

fn add(text: &str, path: &str, value: &Value) -> String {
    changed(Language::Json, text, "add", path, value).unwrap()
}

fn replace(text: &str, path: &str, value: &Value) -> String {
    changed(Language::Json, text, "replace", path, value).unwrap()
}

fn remove(text: &str, path: &str) -> String {
    changed(Language::Json, text, "remove", path, &Value::Null).unwrap()
}

/// A daemon's configuration with an indentation of four, as manifests carry it.
const DAEMON: &str = r#"{
    "chrootDir": "/hostroot",
    "cniVersion": "0.3.1",
    "serial": 123456789012345678901234567890,
    "greeting": "<a&b> \u00e9 é \/",
    "logLevel": "verbose"
}
"#;

#[test]
fn a_member_behind_the_last_costs_one_line_and_a_comma() {
    let wanted = DAEMON.replace("\"verbose\"\n", "\"verbose\",\n    \"binDir\": \"/opt/x/bin\"\n");
    assert_eq!(add(DAEMON, "/binDir", &json!("/opt/x/bin")), wanted);
}

#[test]
fn a_replaced_value_changes_nothing_but_its_own_bytes() {
    let wanted = DAEMON.replace("\"verbose\"", "\"debug\"");
    assert_eq!(replace(DAEMON, "/logLevel", &json!("debug")), wanted);
}

#[test]
fn a_member_takes_the_layout_of_its_siblings() {
    let cases = [
        ("{\"a\":1}", "{\"a\":1,\"k\":2}"),
        ("{\"a\": 1}", "{\"a\": 1, \"k\": 2}"),
        ("{ \"a\": 1 }", "{ \"a\": 1, \"k\": 2 }"),
        ("{\"a\" : 1}", "{\"a\" : 1, \"k\" : 2}"),
        ("{\"a\": 1,\"b\": 2}", "{\"a\": 1,\"b\": 2,\"k\": 2}"),
        ("{\"a\":1 , \"b\":2}", "{\"a\":1 , \"b\":2 , \"k\":2}"),
        ("{\n  \"a\": 1\n}", "{\n  \"a\": 1,\n  \"k\": 2\n}"),
        ("{\n  \"a\": 1\n}\n", "{\n  \"a\": 1,\n  \"k\": 2\n}\n"),
        ("{\r\n  \"a\": 1\r\n}\r\n", "{\r\n  \"a\": 1,\r\n  \"k\": 2\r\n}\r\n"),
        ("{\n\t\"a\": 1\n}", "{\n\t\"a\": 1,\n\t\"k\": 2\n}"),
        ("{\n\"a\": 1\n}", "{\n\"a\": 1,\n\"k\": 2\n}"),
        ("{\n  \"a\": 1,\n\n  \"b\": 2\n}", "{\n  \"a\": 1,\n\n  \"b\": 2,\n  \"k\": 2\n}"),
        ("{\n  \"a\": 1, \"b\": 2\n}", "{\n  \"a\": 1, \"b\": 2, \"k\": 2\n}"),
        ("{\"a\": 1,\n \"b\": 2}", "{\"a\": 1,\n \"b\": 2,\n \"k\": 2}"),
        ("{ \"a\": 1\n, \"b\": 2\n}", "{ \"a\": 1\n, \"b\": 2\n, \"k\": 2\n}"),
        ("{\n  \"a\": 1  \n}", "{\n  \"a\": 1,\n  \"k\": 2  \n}"),
        ("{\n  \"a\": 1, \n  \"b\": 2\n}", "{\n  \"a\": 1, \n  \"b\": 2,\n  \"k\": 2\n}"),
        ("\n\n{\"a\":1}\n\n", "\n\n{\"a\":1,\"k\":2}\n\n"),
    ];
    for (text, wanted) in cases {
        assert_eq!(add(text, "/k", &json!(2)), wanted, "{text:?}");
    }
}

#[test]
fn an_empty_collection_is_filled_where_it_stands() {
    let cases = [
        ("{}", "/k", "{\"k\": 2}"),
        ("{ }\n", "/k", "{ \"k\": 2 }\n"),
        ("{\n}", "/k", "{\n  \"k\": 2\n}"),
        ("{\r\n}\r\n", "/k", "{\r\n  \"k\": 2\r\n}\r\n"),
        ("{\n\n}", "/k", "{\n  \"k\": 2\n}"),
        ("[]", "/-", "[2]"),
        ("[\n]", "/0", "[\n  2\n]"),
        ("{\"a\":{}}", "/a/k", "{\"a\":{\"k\":2}}"),
        ("{\n    \"a\": {}\n}", "/a/k", "{\n    \"a\": {\n        \"k\": 2\n    }\n}"),
        ("{\n    \"a\": {\n    }\n}", "/a/k", "{\n    \"a\": {\n        \"k\": 2\n    }\n}"),
        ("{\n  \"a\": []\n}", "/a/0", "{\n  \"a\": [\n    2\n  ]\n}"),
        ("{\n  \"a\": [],\n  \"b\": [1, 3]\n}", "/a/-", "{\n  \"a\": [2],\n  \"b\": [1, 3]\n}"),
        ("{\n  \"b\": { \"x\": 1 },\n  \"a\": {}\n}", "/a/k", "{\n  \"b\": { \"x\": 1 },\n  \"a\": { \"k\": 2 }\n}"),
        ("[\n  {\"a\": {}}\n]", "/0/a/k", "[\n  {\"a\": {\"k\": 2}}\n]"),
    ];
    for (text, path, wanted) in cases {
        assert_eq!(add(text, path, &json!(2)), wanted, "{text:?}");
    }
}

#[test]
fn a_new_collection_is_laid_out_as_the_text_lays_out_others() {
    let value = json!({"x": 1, "l": [true, null], "e": {}, "m": {"s": "t"}});
    let cases = [
        ("{\"a\":1}", "{\"a\":1,\"k\":{\"x\":1,\"l\":[true,null],\"e\":{},\"m\":{\"s\":\"t\"}}}"),
        ("{\"a\": 1}", "{\"a\": 1, \"k\": {\"x\": 1, \"l\": [true, null], \"e\": {}, \"m\": {\"s\": \"t\"}}}"),
        (
            "{\n  \"a\": 1\n}",
            "{\n  \"a\": 1,\n  \"k\": {\n    \"x\": 1,\n    \"l\": [\n      true,\n      null\n    ],\n    \"e\": {},\n    \"m\": {\n      \"s\": \"t\"\n    }\n  }\n}",
        ),
        (
            "{\r\n\t\"a\": [1, 2]\r\n}",
            "{\r\n\t\"a\": [1, 2],\r\n\t\"k\": {\r\n\t\t\"x\": 1,\r\n\t\t\"l\": [true, null],\r\n\t\t\"e\": {},\r\n\t\t\"m\": {\r\n\t\t\t\"s\": \"t\"\r\n\t\t}\r\n\t}\r\n}",
        ),
        (
            "{\n  \"a\": { \"q\": 1 }\n}",
            "{\n  \"a\": { \"q\": 1 },\n  \"k\": { \"x\": 1, \"l\": [true, null], \"e\": {}, \"m\": { \"s\": \"t\" } }\n}",
        ),
    ];
    for (text, wanted) in cases {
        assert_eq!(add(text, "/k", &value), wanted, "{text:?}");
    }
}

#[test]
fn an_item_goes_before_its_index_or_behind_the_last() {
    let cases = [
        ("[1, 2]", "/0", "[9, 1, 2]"),
        ("[1, 2]", "/1", "[1, 9, 2]"),
        ("[1, 2]", "/2", "[1, 2, 9]"),
        ("[1, 2]", "/-", "[1, 2, 9]"),
        ("[1]", "/0", "[9, 1]"),
        ("[1,2]", "/-", "[1,2,9]"),
        ("[ 1 ]", "/-", "[ 1, 9 ]"),
        ("[\n  1,\n  2\n]", "/0", "[\n  9,\n  1,\n  2\n]"),
        ("[\n  1,\n  2\n]", "/1", "[\n  1,\n  9,\n  2\n]"),
        ("[\n  1,\n  2\n]", "/-", "[\n  1,\n  2,\n  9\n]"),
        ("[\r\n  1\r\n]", "/0", "[\r\n  9,\r\n  1\r\n]"),
        ("[\n  1,\n\n  2\n]", "/1", "[\n  1,\n\n  9,\n  2\n]"),
        ("[ 1\n, 2\n]", "/1", "[ 1\n, 9\n, 2\n]"),
        ("[1, 2,\n 3, 4]", "/2", "[1, 2,\n 9,\n 3, 4]"),
    ];
    for (text, path, wanted) in cases {
        assert_eq!(add(text, path, &json!(9)), wanted, "{text:?} {path}");
    }
}

#[test]
fn an_item_takes_the_shape_of_its_siblings() {
    let plugins = "{\n  \"plugins\": [\n    { \"type\": \"x\" },\n    { \"type\": \"y\" }\n  ]\n}\n";
    let wanted =
        "{\n  \"plugins\": [\n    { \"type\": \"x\" },\n    { \"type\": \"z\" },\n    { \"type\": \"y\" }\n  ]\n}\n";
    assert_eq!(add(plugins, "/plugins/1", &json!({"type": "z"})), wanted);

    let hugging = "[{\n  \"a\": 1\n}, {\n  \"a\": 2\n}]\n";
    assert_eq!(add(hugging, "/-", &json!({"a": 3})), "[{\n  \"a\": 1\n}, {\n  \"a\": 2\n}, {\n  \"a\": 3\n}]\n");
    assert_eq!(add(hugging, "/0", &json!({"a": 3})), "[{\n  \"a\": 3\n}, {\n  \"a\": 1\n}, {\n  \"a\": 2\n}]\n");

    let deep = "{\n   \"a\": [\n      {\n         \"b\": 1\n      }\n   ]\n}";
    let wanted = "{\n   \"a\": [\n      {\n         \"b\": 1\n      },\n      {\n         \"b\": 2\n      }\n   ]\n}";
    assert_eq!(add(deep, "/a/-", &json!({"b": 2})), wanted);
}

#[test]
fn a_value_gives_way_to_any_other() {
    let cases = [
        ("{\"a\": 1}", "/a", &json!("x"), "{\"a\": \"x\"}"),
        ("{\"a\": \"x\" }", "/a", &json!(null), "{\"a\": null }"),
        ("{\"a\": {\"b\": 1}, \"c\": 2}", "/a", &json!([]), "{\"a\": [], \"c\": 2}"),
        ("[1, [2, 3], 4]", "/1/0", &json!(false), "[1, [false, 3], 4]"),
        ("  1 \n", "", &json!({"a": 1}), "  {\"a\": 1} \n"),
        ("{\n  \"a\": 1\n}\n", "", &json!({"b": 2}), "{\n  \"b\": 2\n}\n"),
        (
            "{\n  \"a\": {\"x\": 1},\n  \"b\": {\n    \"y\": 1\n  }\n}",
            "/a",
            &json!({"z": 1}),
            "{\n  \"a\": {\"z\": 1},\n  \"b\": {\n    \"y\": 1\n  }\n}",
        ),
        ("{\n  \"a\": 1\n}", "/a", &json!([1]), "{\n  \"a\": [\n    1\n  ]\n}"),
        ("{\"a\": 1}", "/a", &json!(12.5), "{\"a\": 12.5}"),
    ];
    for (text, path, value, wanted) in cases {
        assert_eq!(replace(text, path, value), wanted, "{text:?} {path}");
    }
}

#[test]
fn an_item_goes_with_its_comma_and_its_own_lines() {
    let cases = [
        ("{\"a\": 1}", "/a", "{}"),
        ("{\n  \"a\": 1\n}\n", "/a", "{}\n"),
        ("[ 1 ]", "/0", "[]"),
        ("{\"a\": 1, \"b\": 2, \"c\": 3}", "/a", "{\"b\": 2, \"c\": 3}"),
        ("{\"a\": 1, \"b\": 2, \"c\": 3}", "/b", "{\"a\": 1, \"c\": 3}"),
        ("{\"a\": 1, \"b\": 2, \"c\": 3}", "/c", "{\"a\": 1, \"b\": 2}"),
        ("{ \"a\": 1, \"b\": 2 }", "/a", "{ \"b\": 2 }"),
        ("{ \"a\": 1, \"b\": 2 }", "/b", "{ \"a\": 1 }"),
        ("{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}", "/a", "{\n  \"b\": 2,\n  \"c\": 3\n}"),
        ("{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}", "/b", "{\n  \"a\": 1,\n  \"c\": 3\n}"),
        ("{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}", "/c", "{\n  \"a\": 1,\n  \"b\": 2\n}"),
        ("{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}", "/b", "{\r\n  \"a\": 1\r\n}"),
        ("{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}", "/a", "{\r\n  \"b\": 2\r\n}"),
        (
            "{\n  \"a\": 1,\n\n  \"b\": {\n    \"x\": 1\n  },\n\n  \"c\": 3\n}",
            "/b",
            "{\n  \"a\": 1,\n\n\n  \"c\": 3\n}",
        ),
        ("{\n  \"a\": 1,\n  \"b\": 2}", "/b", "{\n  \"a\": 1}"),
        ("{\r\n  \"a\": 1,\r\n  \"b\": 2}", "/b", "{\r\n  \"a\": 1}"),
        ("{ \"a\": 1\n, \"b\": 2\n, \"c\": 3\n}", "/b", "{ \"a\": 1\n, \"c\": 3\n}"),
        ("{ \"a\": 1\n, \"b\": 2\n}", "/b", "{ \"a\": 1\n}"),
        ("{ \"a\": 1\n, \"b\": 2\n}", "/a", "{ \"b\": 2\n}"),
        ("[1, 2,\n 3, 4]", "/1", "[1,\n 3, 4]"),
        ("[1, 2,\n 3, 4]", "/2", "[1, 2,\n 4]"),
        ("[\n  1, 2,\n  3\n]", "/2", "[\n  1, 2\n]"),
        ("[\n  1, 2,\n  3\n]", "/0", "[\n  2,\n  3\n]"),
        ("[{\n  \"a\": 1\n}, {\n  \"b\": 2\n}]", "/0", "[{\n  \"b\": 2\n}]"),
        ("[{\n  \"a\": 1\n}, {\n  \"b\": 2\n}]", "/1", "[{\n  \"a\": 1\n}]"),
    ];
    for (text, path, wanted) in cases {
        assert_eq!(remove(text, path), wanted, "{text:?} {path}");
    }
}

#[test]
fn keys_are_compared_unescaped_and_written_plain() {
    assert_eq!(replace(r#"{"a\u0062": 1, "x\/y": 2}"#, "/ab", &json!(3)), r#"{"a\u0062": 3, "x\/y": 2}"#);
    assert_eq!(replace(r#"{"a\u0062": 1, "x\/y": 2}"#, "/x~1y", &json!(3)), r#"{"a\u0062": 1, "x\/y": 3}"#);
    assert_eq!(add(r#"{"a": 1}"#, "/x~1~0\"é", &json!(3)), r#"{"a": 1, "x/~\"é": 3}"#);
    assert_eq!(add(r#"{"a": 1}"#, "/", &json!(3)), r#"{"a": 1, "": 3}"#);
}

#[test]
fn strings_are_escaped_no_more_than_needed() {
    let cases = [
        ("a/b <c&d> é 漢 🦀 '", r#""a/b <c&d> é 漢 🦀 '""#),
        ("q\"b\\n\nt\tr\rb\u{8}f\u{c}", r#""q\"b\\n\nt\tr\rb\bf\f""#),
        ("\u{0}\u{1b}\u{7f}\u{85}", r#""\u0000\u001b\u007f\u0085""#),
        ("\u{2028}\u{2029}\u{feff}", r#""\u2028\u2029\ufeff""#),
    ];
    for (value, wanted) in cases {
        assert_eq!(replace("1", "", &json!(value)), wanted);
    }
}

#[test]
fn numbers_are_written_and_read_with_all_their_digits() {
    let big: Value = "123456789012345678901234567890".parse::<serde_json::Number>().unwrap().into();
    let text = add("[18446744073709551617]", "/-", &big);
    assert_eq!(text, "[18446744073709551617, 123456789012345678901234567890]");
    assert_eq!(read(Language::Json, &text).unwrap()[1], big);
    assert_eq!(read(Language::Json, "[1.0, 1e0, 1]").unwrap(), json!([1, 1, 1]));
}

#[test]
fn a_comment_cannot_be_written() {
    let with_comment = |text, comment| {
        let new = New { value: &json!(2), spelled: None, comment: Some(comment) };
        edit(Language::Json, text, &Change { action: Action::Replace(new), path: &["a".to_owned()] })
    };
    for text in ["{\"a\": 1}", "{\"a\": 2}"] {
        let error = with_comment(text, "why").unwrap_err();
        assert_eq!(error.message, "JSON has no comments, so none can be written");
    }
    assert_eq!(with_comment("{\"a\": 1}", "").unwrap().len(), 1);
    assert_eq!(with_comment("{\"a\": 2.0}", "").unwrap(), []);
}

#[test]
fn every_kind_of_value_is_read() {
    let text = " {\"s\": \"a\\u00e9\\ud83e\\udd80\\n\", \"n\": [0, -1, 1.5e-3], \"t\": true, \"f\": false, \"z\": null, \"o\": {}} ";
    let wanted = json!({"s": "aé🦀\n", "n": [0, -1, 0.0015], "t": true, "f": false, "z": null, "o": {}});
    assert_eq!(read(Language::Json, text).unwrap(), wanted);
}

#[test]
fn what_is_no_json_is_told_with_its_place() {
    let cases = [
        ("", 0, "the text is empty, and so no JSON"),
        (" \n", 0, "the text is empty, and so no JSON"),
        ("{\"a\": 1,}", 7, "a comma stands before the closing `}`; JSON has no trailing commas"),
        ("[1,\n]", 2, "a comma stands before the closing `]`; JSON has no trailing commas"),
        ("{\n  // why\n  \"a\": 1}", 4, "JSON has no comments"),
        ("{\"a\": 1 /* x */}", 8, "JSON has no comments"),
        ("{\"a\": 1} # x", 9, "JSON has no comments"),
        ("{a: 1}", 1, "`a` stands where a key in double quotes should"),
        ("{'a': 1}", 1, "JSON strings and keys stand in double quotes, not in single ones"),
        ("['a']", 1, "JSON strings and keys stand in double quotes, not in single ones"),
        ("{\"a\" 1}", 5, "`1` stands where `:` should"),
        ("{\"a\": 1 \"b\": 2}", 8, "`\"` stands where `,` or `}` should"),
        ("[1 2]", 3, "`2` stands where `,` or `]` should"),
        ("[1, , 2]", 4, "`,` stands where a value should"),
        ("{,}", 1, "`,` stands where a key in double quotes should"),
        ("{\"a\": }", 6, "`}` stands where a value should"),
        ("{\"a\": 1", 7, "the text ends where `,` or `}` should stand"),
        ("{\"a\":", 5, "the text ends where a value should stand"),
        ("\"ab", 0, "this string has no closing quote"),
        ("[\"a\nb\"]", 3, "a JSON string cannot hold a line break; write `\\n`"),
        ("\"a\tb\"", 2, "a JSON string cannot hold a tab; write `\\t`"),
        ("\"\u{1}\"", 1, "a JSON string cannot hold a control character; write `\\u0001`"),
        ("\"\\x41\"", 1, "JSON has no escape `\\x`"),
        ("\"\\u12g4\"", 1, "four hexadecimal digits must follow `\\u`"),
        ("\"\\u12", 1, "four hexadecimal digits must follow `\\u`"),
        ("\"\\ud800\"", 1, "this escape is one half of a surrogate pair without the other"),
        ("\"\\udc00\\ud800\"", 1, "this escape is one half of a surrogate pair without the other"),
        ("\"\\", 1, "the text ends within an escape"),
        ("[01]", 1, "a JSON number has no leading zeros"),
        ("-", 1, "the text ends where a digit should stand"),
        ("[1.]", 3, "`]` stands where a digit behind the point should"),
        ("1e", 2, "the text ends where a digit of the exponent should stand"),
        ("[.5]", 1, "`.5` stands where a value should; a JSON number begins with a digit or `-`"),
        ("+1", 0, "`+1` stands where a value should; a JSON number begins with a digit or `-`"),
        ("0x1F", 0, "`0x1F` is no JSON number"),
        ("1_000", 0, "`1_000` is no JSON number"),
        ("NaN", 0, "`NaN` stands where a value should; JSON numbers are finite"),
        ("[True]", 1, "`True` stands where a value should; write `true`"),
        ("nil", 0, "`nil` stands where a value should; write `null`"),
        ("hello", 0, "`hello` stands where a value should; strings stand in double quotes"),
        ("{\"é\": x}", 7, "`x` stands where a value should; strings stand in double quotes"),
        ("1 2", 2, "`2` stands where the end of the text should"),
        ("{}}", 2, "`}` stands where the end of the text should"),
        ("\u{feff}{}", 0, "a byte order mark stands where a value should"),
        ("{\"a\": 1, \"\\u0061\": 2}", 9, "the key `a` stands in this object twice"),
    ];
    for (text, offset, message) in cases {
        let error = read(Language::Json, text).unwrap_err();
        assert_eq!((error.offset, error.message.as_str()), (offset, message), "{text:?}");
    }
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(Language::Json, &nested(200)).is_ok());
    let error = read(Language::Json, &nested(201)).unwrap_err();
    assert_eq!((error.offset, error.message.as_str()), (200, "the text nests deeper than 200 levels"));
    assert!(read(Language::Json, &"[".repeat(1_000_000)).is_err());
    let path = "/0".repeat(199);
    let full = nested(200);
    assert_eq!(changed(Language::Json, &full, "add", &format!("{path}/0"), &json!(1)).unwrap().len(), 401);
    assert!(changed(Language::Json, &full, "add", &format!("{path}/0"), &json!([1])).is_err());
}
