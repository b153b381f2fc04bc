//! Whatever is built is proven, and nothing else: the edits written down under `tests/data/edit`, and random ones, each as a patch that
//! is built and verified. A proof that refuses a right result is as wrong as one that passes a wrong one. Edits of real
//! manifests are in `corpus_proof.rs`.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test reads its cases, and may fail")]

#[path = "support/dice.rs"]
mod dice;
#[path = "support/plans.rs"]
mod plans;
#[path = "support/proving.rs"]
mod proving;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use dice::Dice;
use overlay::yaml::load::load_text;
use plans::{any_subject, objections, plan_of};
use proving::{any_value, block, oddly, patch, patch_of_text, places, plan, verified, with_text};
use serde_json::{Value, json};

/// The text of a case, which writes with signs what cannot be seen.
fn plain(text: &str) -> String {
    let text = text.replace("(BOM)", "\u{feff}").replace("(CR)", "\r").replace("(SP)", " ").replace("(TAB)", "\t");
    let text = text.replace("(BLANK)", "");
    text.strip_suffix("(END)\n").map_or(text.clone(), str::to_owned)
}

/// A case's document as a manifest, where it can be one by a few lines before it.
fn manifest_of(before: &str) -> Option<String> {
    let line_break = if before.contains("\r\n") { "\r\n" } else { "\n" };
    let head = ["apiVersion: v1", "kind: X", "metadata: {name: x}", ""].join(line_break);
    let starts_well = before.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '#' | '"' | '\''));
    let text = format!("{head}{before}");
    let is_mapping = load_text(&text).is_ok_and(|loaded| loaded.value.get("kind") == Some(&json!("X")));
    (starts_well && is_mapping && !before.contains("\n---")).then_some(text)
}

#[test]
fn every_edit_that_is_written_down_is_proven() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/edit");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    paths.sort();
    let subject = any_subject();
    let (mut count, mut complaints) = (0, String::new());
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        for case in text.split("\n### ").map(|case| case.trim_start_matches("### ")) {
            let (name, body) = case.split_once('\n').unwrap();
            let Some((operation, rest)) = body.split_once(">>> before\n") else { panic!("{name}") };
            let Some((before, _)) = rest.split_once(">>> after\n") else { continue };
            let mut operation = load_text(operation).unwrap().value;
            operation.as_object_mut().unwrap().remove("spelled");
            let Some(base) = manifest_of(&plain(before)).filter(|_| operation.get("op").is_some()) else { continue };
            let Some(plan) = plan(&base, &patch(&json!({"kind": "X"}), &operation)) else { continue };
            let Some(result) = verified(&subject, &plan) else { continue };
            count += 1;
            if let Err(objection) = result {
                write!(complaints, "### {name}\n{operation}\n-- base\n{base}\n{objection}\n").unwrap();
            }
        }
    }
    assert!(complaints.is_empty(), "{complaints}");
    assert!(count >= 120, "only {count} cases");
}

const HEAD: &str = "apiVersion: v1\nkind: X\nmetadata: {name: x}\n";

/// Documents, each with operations on it that must build and be proven.
const OPERATIONS: &[(&str, &[&str])] = &[
    (
        "m: &m {x: \"0\", k: v}\ndata:\n  <<: *m\n  x: \"1\"\n",
        &[
            "{op: replace, path: /m, value: {}}",
            "{op: add, path: /m/new, value: z}",
            "{op: remove, path: /m/k}",
            "{op: replace, path: /data, value: {}}",
            "{op: replace, path: /data/k, value: w}",
        ],
    ),
    ("data:\n  x: \"1\"\n", &["{op: remove, path: /data/x}", "{op: add, path: /data/w, value: \"1\"}"]),
    ("data:\n  x: \"1\"\n", &["{op: remove, path: /data/x}\n      - {op: add, path: /data/w, value: \"1\"}"]),
    ("l:\n- q\n", &["{op: remove, path: /l/0}\n      - {op: add, path: /l/-, value: z}"]),
    (
        "data:\n  x: \"1\"\n",
        &["{op: replace, path: \"\", value: {apiVersion: v1, kind: X, metadata: {name: x}, data: {x: \"9\"}}}"],
    ),
    (
        "l:\n  - name: b\n    v: 2\n  # - name: commented\n  #   v: 3\n# about m\nm:\n  k: 1\n  # tail of m\n\nnn: 1\n",
        &["{op: remove, path: /m}", "{op: remove, path: \"/l/0/name\"}"],
    ),
    (
        "e:\n- name: a\n  valueFrom: {k: v}\n- name: b\n  value: c\n",
        &["{op: replace, path: \"/e/[name=a]\", value: {name: a, value: json}}"],
    ),
    (
        "a: [p, q]\nb: {p: 1, q: 2} # why\n",
        &[
            "{op: add, path: /a/-, value: r}",
            "{op: add, path: /a/0, value: r}",
            "{op: remove, path: /a/1}",
            "{op: add, path: /b/r, value: 3}",
            "{op: remove, path: /b/p}",
            "{op: replace, path: /b/p, value: 3}",
        ],
    ),
];

#[test]
fn edits_that_share_lines_with_what_stays_are_proven() {
    let subject = any_subject();
    let mut complaints = String::new();
    for (base, operations) in OPERATIONS {
        for operation in *operations {
            let text = format!(
                "apiVersion: overlay/v1\nkind: Patch\nname: p\nsummary: s\nwhy: w\nchanges:\n  - target: {{kind: X}}\n    \
                 patch:\n      - {operation}\n"
            );
            let plan = plan(&format!("{HEAD}{base}"), &text).unwrap();
            match verified(&subject, &plan) {
                Some(Ok(_)) => {}
                Some(Err(objection)) => write!(complaints, "### {operation}\n-- base\n{base}\n{objection}\n").unwrap(),
                None => write!(complaints, "### {operation}\n-- base\n{base}\nthe build refuses\n").unwrap(),
            }
        }
    }
    assert!(complaints.is_empty(), "{complaints}");
}

/// Texts inside a document, each with operations on it.
const TEXTS: &[(&str, &str, &[&str])] = &[
    (
        "json",
        "{\n  \"d\": [\n    {\n      \"p\": [\n        {\n          \"t\": \"a\"\n         }\n        ]\n     }\n    ]\n}\n",
        &[
            "{op: replace, path: /d/0/p/0, value: {t: b, u: [1]}}",
            "{op: replace, path: /d/0, value: {t: b}}",
            "{op: replace, path: /d, value: [[1, 2], {t: b}]}",
            "{op: add, path: /d/-, value: {p: [{t: b}]}}",
            "{op: add, path: /d/0, value: {p: [{t: b}]}}",
            "{op: add, path: /d/0/q, value: [{t: b}]}",
            "{op: remove, path: /d/0}",
        ],
    ),
    (
        "json",
        "{\"l\": [ 1,\n  2,\n  3\n ],\n\t\"m\": {\n\t\"a\": {}, \"b\": [\n]  }\n}",
        &[
            "{op: replace, path: /l, value: [1, 2, 9]}",
            "{op: replace, path: /m, value: {a: {}, b: [1]}}",
            "{op: replace, path: /m/b, value: [1]}",
            "{op: remove, path: /l/2}",
            "{op: remove, path: /m/b}",
        ],
    ),
    (
        "yaml",
        "l: [ 1,\n  2,\n    3 ]\nm:\n    - a\n    -   b: 1\n        c: 2\n",
        &[
            "{op: replace, path: /l, value: [1, 2, 9]}",
            "{op: replace, path: /m/1, value: {b: 1, c: 3}}",
            "{op: replace, path: /m, value: [a, {b: 1, c: 3}]}",
        ],
    ),
    (
        "toml",
        "l = [ 1,\n  2,\n    3 ]\nt = [\n   {a = 1},\n  {b = 2}\n]\n[m]\n  a   = 1\n b = 2\n",
        &[
            "{op: replace, path: /l, value: [1, 2, 9]}",
            "{op: replace, path: /t, value: [{a: 1}, {b: 3}]}",
            "{op: replace, path: /t/1, value: {b: 2, c: 1}}",
            "{op: remove, path: /t/1}",
            "{op: add, path: /t/-, value: {b: 2}}",
        ],
    ),
];

#[test]
fn edits_of_texts_that_are_laid_out_oddly_are_proven() {
    let subject = any_subject();
    let mut complaints = String::new();
    for (language, text, operations) in TEXTS {
        for operation in *operations {
            for round in 0..3 {
                let base = with_text(text, &mut Dice::new(&format!("odd {round}")));
                let plan = plan(&base, &patch_of_text(language, operation)).unwrap();
                match verified(&subject, &plan) {
                    Some(Ok(_)) => {}
                    Some(Err(objection)) => {
                        write!(complaints, "### {operation}\n-- base\n{base}\n{objection}\n").unwrap();
                    }
                    None => write!(complaints, "### {operation}\n-- base\n{base}\nthe build refuses\n").unwrap(),
                }
            }
        }
    }
    assert!(complaints.is_empty(), "{complaints}");
}

#[test]
fn random_edits_of_json_texts_in_any_layout_are_proven() {
    let subject = any_subject();
    let (mut count, mut complaints) = (0, String::new());
    for round in 0..400 {
        let mut dice = Dice::new(&format!("text {round}"));
        let value = json!({"k": any_value(3, &mut dice), "l": any_value(3, &mut dice), "m": any_value(2, &mut dice)});
        let text = oddly(&value, &mut dice) + ["", "\n"][dice.below(2)];
        let found = places(&value);
        let operations: Vec<String> = (0..=dice.below(3))
            .map(|_| {
                let (path, there) = &found[dice.below(found.len())];
                let new = any_value(2, &mut dice);
                let operation = match (there, dice.below(4)) {
                    (_, 0) => json!({"op": "remove", "path": path}),
                    (Value::Object(_), 1) => json!({"op": "add", "path": format!("{path}/new"), "value": new}),
                    (Value::Array(items), 1 | 2) => {
                        json!({"op": "add", "path": format!("{path}/{}", dice.below(items.len() + 1)), "value": new})
                    }
                    _ => json!({"op": "replace", "path": path, "value": new}),
                };
                operation.to_string()
            })
            .collect();
        let language = ["json", "json", "yaml"][dice.below(3)];
        let base = with_text(&text, &mut dice);
        let Some(plan) = plan(&base, &patch_of_text(language, &operations.join("\n      - "))) else { continue };
        let Some(result) = verified(&subject, &plan) else { continue };
        count += 1;
        if let Err(objection) = result
            && complaints.len() < 9000
        {
            write!(complaints, "### {round} {language} {operations:#?}\n-- base\n{base}\n{objection}\n").unwrap();
        }
    }
    assert!(complaints.is_empty(), "{complaints}");
    assert!(count > 180, "only {count} patches");
}

#[test]
fn what_is_edited_and_then_goes_with_what_it_lies_in_leaves_nothing_behind() {
    let subject = any_subject();
    let (mut count, mut complaints) = (0, String::new());
    for round in 0..400 {
        let mut dice = Dice::new(&format!("gone {round}"));
        let value = json!({"k": any_value(3, &mut dice), "l": any_value(3, &mut dice), "m": any_value(2, &mut dice)});
        let found = places(&value);
        let (inner, there) = &found[dice.below(found.len())];
        let Some((outer, _)) = inner.match_indices('/').skip(1).nth(dice.below(3)).map(|(at, _)| inner.split_at(at))
        else {
            continue;
        };
        let new = any_value(1, &mut dice);
        let first = match (there, dice.below(3)) {
            (Value::Object(_), 1) => json!({"op": "add", "path": format!("{inner}/new"), "value": new}),
            (_, 2) => json!({"op": "replace", "path": inner, "value": new}),
            _ => json!({"op": "remove", "path": inner}),
        };
        let then = match dice.below(3) {
            0 => json!({"op": "replace", "path": outer, "value": "other"}),
            _ => json!({"op": "remove", "path": outer}),
        };
        let base = format!("{HEAD}{}", block(&value, 0, &mut dice));
        let (first, then) = (patch(&json!({"kind": "X"}), &first), patch(&json!({"kind": "X"}), &then));
        let Some(both) = plan_of(&[&base], &[&first, &then]) else { continue };
        let Some(result) = verified(&subject, &both) else { continue };
        count += 1;
        let alone = verified(&subject, &plan_of(&[&base], &[&then]).unwrap());
        if result.is_err() || Some(&result) != alone.as_ref() {
            let (Ok(told) | Err(told)) = result;
            write!(complaints, "### {round}\n{first}\n{then}\n-- base\n{base}\n{told}\n-- alone\n{alone:?}\n").unwrap();
        }
    }
    assert!(complaints.is_empty(), "{complaints}");
    assert!(count > 150, "only {count} pairs of patches");
}

/// Documents, operations on each, and what comes of them.
const TAKEN: &[(&str, &str, &str)] = &[
    (
        "l:\n- name: 'a' # of a\n  v: \"1\"\n  w: [1,  2]\n- b\nm: {}\n",
        "{op: move, from: /l/0, path: /l/1}",
        "l:\n- b\n- name: 'a' # of a\n  v: \"1\"\n  w: [1,  2]\nm: {}\n",
    ),
    (
        "l:\n- name: 'a' # of a\n  v: \"1\"\n- name: b\n",
        "{op: copy, from: /l/0, path: /k}",
        "l:\n- name: 'a' # of a\n  v: \"1\"\n- name: b\nk:\n  name: 'a' # of a\n  v: \"1\"\n",
    ),
    (
        "k: yes\nl:\n  - 'x'\n  - |\n    y\n",
        "{op: remove, path: /l/0}\n      - {op: move, from: /l/0, path: /t}\n      - {op: copy, from: /k, path: /u}",
        "k: yes\nl: []\nt: |\n  y\nu: true\n",
    ),
    (
        "l:\n- name: 'a' # of a\n  v: \"1\"\n- name: b\n",
        "{op: replace, path: /l/0/v, value: '2'}\n      - {op: move, from: /l/0, path: /l/1}",
        "l:\n- name: b\n- name: 'a'\n  v: \"2\"\n",
    ),
    (
        "l:\n- name: 'a'\n  v: \"1\"\n",
        "{op: copy, from: /l/0, path: /p/q, parents: true}",
        "l:\n- name: 'a'\n  v: \"1\"\np:\n  q:\n    name: a\n    v: \"1\"\n",
    ),
];

/// The same, with comments above what is taken: they go with what is moved into a block, and are not copied.
const COMMENTED: &[(&str, &str, &str)] = &[
    (
        "l:\n  # far\n\n  # of a\n  # and more\n  - a\n  # of b\n  - b\n  # of c\n  - c\n",
        "{op: move, from: /l/0, path: /l/1}",
        "l:\n  # far\n\n  # of b\n  - b\n  # of a\n  # and more\n  - a\n  # of c\n  - c\n",
    ),
    ("l:\n# of a\n- a\n- b\n", "{op: move, from: /l/0, path: /l/1}", "l:\n- b\n# of a\n- a\n"),
    (
        "m:\n    # of k\n    k: 'v'\n    w: x\no:\n    deep:\n        p: z\n",
        "{op: move, from: /m/k, path: /o/deep/k}",
        "m:\n    w: x\no:\n    deep:\n        p: z\n        # of k\n        k: 'v'\n",
    ),
    ("l:\n# of a\n- a\n- b\n", "{op: copy, from: /l/0, path: /c}", "l:\n# of a\n- a\n- b\nc: a\n"),
    ("l:\n# of a\n- a\n- b\no: [c]\n", "{op: move, from: /l/0, path: /o/0}", "l:\n- b\no: [a, c]\n"),
    (
        "l:\n# of a\n- name: 'a'\n  v: 1\n- b\n",
        "{op: replace, path: /l/0/v, value: 2}\n      - {op: move, from: /l/0, path: /l/1}",
        "l:\n- b\n# of a\n- name: 'a'\n  v: 2\n",
    ),
    ("l:\n- - a\n  # of b\n  - b\n", "{op: move, from: /l/0/1, path: /l/0/0}", "l:\n- - b\n  - a\n"),
    (
        "m:\n  a:\n    # of k\n    k: v\n    w: x\n  b:\n    z: 1\n",
        "{op: move, from: /m/a/k, path: /m/b/k}\n      - {op: remove, path: /m/a}",
        "m:\n  b:\n    z: 1\n    # of k\n    k: v\n",
    ),
    (
        "l:\n- name: z\n- name: a\n  # of k\n  k: v\n- name: b\n",
        "{op: move, from: '/l/[name=a]/k', path: '/l/[name=b]/k'}\n      - {op: remove, path: '/l/[name=z]'}",
        "l:\n- name: a\n- name: b\n  # of k\n  k: v\n",
    ),
    (
        "m:\r\n    # of k\r\n    k: v\r\n    w: x\r\no:\r\n  p: z\r\n",
        "{op: move, from: /m/k, path: /o/k}",
        "m:\r\n    w: x\r\no:\r\n  p: z\r\n  # of k\r\n  k: v\r\n",
    ),
];

/// Texts in a document, operations on them, and what comes of them.
const TAKEN_INSIDE: &[(&str, &str, &str, &str)] = &[
    (
        "json",
        "{\n  \"l\": [\n    {\"a\": 1.0, \"b\": \"\\u00e9\"},\n    2e1\n  ]\n}\n",
        "{op: move, from: /l/0, path: /l/1}",
        "{\n  \"l\": [\n    2e1,\n    {\"a\": 1.0, \"b\": \"\\u00e9\"}\n  ]\n}\n",
    ),
    (
        "json",
        "{\n  \"k\": {\n    \"a\":1.0,\n    \"b\": [ 1 ]\n  },\n  \"m\": {\n    \"x\": 1\n  }\n}\n",
        "{op: copy, from: /k, path: /m/k}",
        "{\n  \"k\": {\n    \"a\":1.0,\n    \"b\": [ 1 ]\n  },\n  \"m\": {\n    \"x\": 1,\n    \"k\": {\n      \"a\":1.0,\n      \"b\": [ 1 ]\n    }\n  }\n}\n",
    ),
    (
        "json",
        "{\n\t\"a\": {\n\t\t\"b\": 1.0\n\t},\n\t\"c\": {}\n}\n",
        "{op: move, from: /a, path: /c/d}",
        "{\n\t\"c\": {\n\t\t\"d\": {\n\t\t\t\"b\": 1.0\n\t\t}\n\t}\n}\n",
    ),
    (
        "json",
        "{\"a\": \"x\\/\\ud83d\\ude00\", \"b\": 2}",
        "{op: move, from: /a, path: /c}",
        "{\"b\": 2, \"c\": \"x\\/\\ud83d\\ude00\"}",
    ),
    (
        "json",
        "{\r\n    \"k\": [\r\n        1.0,\r\n\r\n        2\r\n    ],\r\n    \"m\": {}\r\n}\r\n",
        "{op: move, from: /k, path: /m/k}",
        "{\r\n    \"m\": {\r\n        \"k\": [\r\n            1.0,\r\n            2\r\n        ]\r\n    }\r\n}\r\n",
    ),
    (
        "json",
        "{\"a\": {\"b\" :1e0}, \"c\": 2}",
        "{op: copy, from: /a, path: /c2}",
        "{\"a\": {\"b\" :1e0}, \"c\": 2, \"c2\": {\"b\" :1e0}}",
    ),
    ("yaml", "l:\n# of a\n- 'a'\n- b\n", "{op: move, from: /l/0, path: /l/1}", "l:\n- b\n# of a\n- 'a'\n"),
];

/// The same, with comments beside what is taken, or where what it is moved out of or into has nothing else.
const COMMENTED_BESIDE: &[(&str, &str, &str)] = &[
    (
        "s:\n  a:\n    # c\n    k: v\n  b: {}\n",
        "{op: move, from: /s/a/k, path: /s/b/k}",
        "s:\n  a: {}\n  b:\n    # c\n    k: v\n",
    ),
    (
        "s:\n  a:\n    k: v   # c\n  b:\n    z: 1\n",
        "{op: move, from: /s/a/k, path: /s/b/k}",
        "s:\n  a: {}\n  b:\n    z: 1\n    k: v   # c\n",
    ),
    ("l:\n- a #of a\n- b\n", "{op: move, from: /l/0, path: /l/1}", "l:\n- b\n- a #of a\n"),
    ("a:\n- x # c\nb: []\n", "{op: move, from: /a/0, path: /b/0}", "a: []\nb:\n- x # c\n"),
    ("a:\n- x\nb: []\n", "{op: move, from: /a/0, path: /b/0}", "a: []\nb: [x]\n"),
    ("a:\n- x # c\nb: {c: []}\n", "{op: move, from: /a/0, path: /b/c/0}", "a: []\nb: {c: [x]}\n"),
    (
        "a:\n  k: # c\n    x: 1\nb:\n  z: 1\n",
        "{op: move, from: /a/k, path: /b/k}",
        "a: {}\nb:\n  z: 1\n  k: # c\n    x: 1\n",
    ),
    (
        "a:\n  k: # c\n  - x: 1\n    # d\n    v: 2 # e\nb: {}\n",
        "{op: move, from: /a/k, path: /b/k}",
        "a: {}\nb:\n  k: # c\n  - x: 1\n    # d\n    v: 2 # e\n",
    ),
    (
        "a:\n  k: | # c\n    text\nb:\n  z: 1\n",
        "{op: move, from: /a/k, path: /b/k}",
        "a: {}\nb:\n  z: 1\n  k: | # c\n    text\n",
    ),
    (
        "a:\n  k: [1,\n    2] # c\nb:\n  z: 1\n",
        "{op: move, from: /a/k, path: /b/k}",
        "a: {}\nb:\n  z: 1\n  k: [1,\n    2] # c\n",
    ),
    ("l:\n- # c\n  a: 1\n- b: 2\n", "{op: move, from: /l/0, path: /l/1}", "l:\n- b: 2\n- # c\n  a: 1\n"),
    ("l:\n- # c\n  k: v\n- z: 1\n", "{op: move, from: /l/0/k, path: /l/1/k}", "l:\n- {} # c\n- z: 1\n  k: v\n"),
    ("a: {k: v} # c\nb:\n  z: 1\n", "{op: move, from: /a/k, path: /b/k}", "a: {} # c\nb:\n  z: 1\n  k: v\n"),
    (
        "a:\n  # c\n  k: v # d\n  # tail\nb: {}\n",
        "{op: move, from: /a/k, path: /b/k}",
        "a: {}\n  # tail\nb:\n  # c\n  k: v # d\n",
    ),
    (
        "a: # of a\n  # c\n  k: v\nb: {} # of b\n",
        "{op: move, from: /a/k, path: /b/k}",
        "a: {} # of a\nb: # of b\n  # c\n  k: v\n",
    ),
    ("a:\n  k: v # c\nb:\n  z: 1\n", "{op: copy, from: /a/k, path: /b/k}", "a:\n  k: v # c\nb:\n  z: 1\n  k: v\n"),
    ("a:\n  k: v # c\n  w: x\nb:\n  z: 1", "{op: move, from: /a/k, path: /b/k}", "a:\n  w: x\nb:\n  z: 1\n  k: v # c"),
];

#[test]
fn comments_go_with_what_is_moved() {
    let subject = any_subject();
    for (base, operations, after) in COMMENTED.iter().chain(COMMENTED_BESIDE) {
        let text = patch(&json!({"kind": "X"}), &json!({})).replace("{}", operations);
        let built = verified(&subject, &plan(&format!("{HEAD}{base}"), &text).unwrap());
        assert_eq!(built, Some(Ok(format!("{HEAD}{after}"))), "{operations}");
    }
}

#[test]
fn a_comment_goes_with_nothing_but_what_it_stands_above() {
    let subject = any_subject();
    let base = format!("{HEAD}l:\n# of a\n- a\n- b\nm:\n  # of k\n  k: v\n  w: x\no:\n  p: 1\n");
    let operations = "{op: remove, path: /l/0}\n      - {op: move, from: /m/k, path: /o/k}\n      \
                      - {op: add, path: /o/q, value: new}";
    let plan = plan(&base, &patch(&json!({"kind": "X"}), &json!({})).replace("{}", operations)).unwrap();
    let right = format!("{HEAD}l:\n- b\nm:\n  w: x\no:\n  p: 1\n  # of k\n  k: v\n  q: new\n");
    assert_eq!(verified(&subject, &plan), Some(Ok(right.clone())));
    for (text, other) in [
        ("  q: new", "  # of k\n  q: new"),
        ("  q: new", "  # of a\n  q: new"),
        ("  # of k", "  # of a"),
        ("  # of k", "  # of k\n  # of k"),
        ("  # of k", "  # of a\n  # of k"),
    ] {
        let other = right.replace(text, other);
        assert!(!objections(&subject, &plan, &other).is_empty(), "{other}");
    }
}

#[test]
fn what_is_moved_or_copied_in_a_text_stays_as_it_is_written() {
    let subject = any_subject();
    for (language, before, operations, after) in TAKEN_INSIDE {
        let document = |text: &str| with_text(text, &mut Dice::new(operations));
        let built = verified(&subject, &plan(&document(before), &patch_of_text(language, operations)).unwrap());
        assert_eq!(built, Some(Ok(document(after))), "{operations}");
    }
}

#[test]
fn what_is_moved_or_copied_stays_as_it_is_written() {
    let subject = any_subject();
    for (base, operations, after) in TAKEN {
        let text = patch(&json!({"kind": "X"}), &json!({})).replace("{}", operations);
        let built = verified(&subject, &plan(&format!("{HEAD}{base}"), &text).unwrap());
        assert_eq!(built, Some(Ok(format!("{HEAD}{after}"))), "{operations}");
    }
}

#[test]
fn any_character_can_stand_in_a_text_inside_a_text() {
    let subject = any_subject();
    for code in [
        "00000007", "0000007F", "00000085", "0000009F", "000000AD", "00002028", "0000202E", "0000FEFF", "0000FFFE",
        "0001FFFE",
    ] {
        for (language, text) in [("json", "{\"k\": \"v\"}\n"), ("yaml", "k: v\n"), ("toml", "k = \"v\"\n")] {
            let base = with_text(text, &mut Dice::new(code));
            let operation = format!("{{op: replace, path: /k, value: \"a\\U{code}b\"}}");
            let plan = plan(&base, &patch_of_text(language, &operation)).unwrap();
            match verified(&subject, &plan) {
                Some(Ok(_)) => {}
                other => panic!("{language} {operation}: {other:?}"),
            }
        }
    }
}

#[test]
fn a_text_that_was_edited_and_then_copied_says_the_same_where_it_came_to() {
    let subject = any_subject();
    let ways = [
        "{op: copy, from: /data/text, path: /data/copy}",
        "{op: copy, from: /data, path: /copies, parents: true}",
        "{op: move, from: /data/text, path: /data/copy}",
    ];
    for (language, text) in
        [("json", "{\"k\": \"v\", \"a\": 2}\n"), ("yaml", "k: v\na: 2\n"), ("toml", "k = \"v\"\na = 2\n")]
    {
        let edit = patch_of_text(language, "{op: replace, path: /k, value: w}");
        for way in ways {
            let copied = patch(&json!({"kind": "ConfigMap"}), &json!({})).replace("{}", way);
            let base = with_text(text, &mut Dice::new(way));
            let plan = plan_of(&[&base], &[&edit, &copied]).unwrap();
            match verified(&subject, &plan) {
                Some(Ok(_)) => {}
                other => panic!("{language} {way}: {other:?}"),
            }
        }
    }
}
