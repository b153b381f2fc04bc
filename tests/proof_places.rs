//! The proof takes every right build for right: each place of manifests of many layouts is removed, replaced and added
//! to, and `verify` must find the departure, its patch, and nothing else.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may lay out files, and fail")]

#[path = "support/project.rs"]
mod project;

use overlay::config::{Date, Findings};
use overlay::layer::root::Root;
use overlay::subject::Subject;
use overlay::verify::overlay::{Overlay, report};
use overlay::yaml::load::load_text;
use project::Project;
use serde_json::{Value, json};

const HEAD: &str = "apiVersion: example.org/v1\nkind: Thing\nmetadata: {name: thing}\n";

/// What stands behind the head of a manifest, one layout each.
const LAYOUTS: [&str; 12] = [
    "spec:\n  verbs: [\"get\", 'list', watch]\n  caps: {add: [\"NET_ADMIN\"], drop: []}\n  last: {a: 1, b: two}\n",
    "spec: {a: [p, q], b: {c: d}}",
    "spec:\n  many: [a, b,\n    c, d, # two in a line\n    {e: 1, f: 2}, {g: 3,\n    h: 4}]\n  map: {\n    a: 1, b: 2,\n    c: 3\n  }\n  after: here\n",
    "spec:\n  items:\n    - name: a\n      valueFrom: {k: v}\n      # of a\n    - name: b\n      value: c\n    # - name: commented\n    #   value: out\n  # about m\n  m:\n    k: 1\n    # tail of m\n\n  nn: 1\n",
    "spec:\n  items:\n  - name: a\n    list:\n    - - x\n      - y\n    -   - z\n    - k: 1\n      l: 2\n  -\n    name: b\n    deep:\n      er: {}\n      est: []\n  # end\n",
    "spec:\n  text: |\n    one\n    two\n\n  kept: |+\n    one\n\n  folded: >-\n    a\n    b\n  plain: one\n    two\n  quoted: \"one\n\n    two\" # behind\n  none:\n  tilde: ~\n",
    "spec:\n    wide:\n        - a   # first\n\n        - b\n\n        # above c\n        - c\n    # a comment before other\n\n    other: x  # behind x\n\n\n",
    "spec:\r\n  a: 1\r\n  list:\r\n  - x\r\n  - y\r\n  flow: [1, 2]\r\n",
    "spec:\n  ? a\n  : b\n  ? long key\n  : - e\n    - f\n  \"quoted key\": 1\n  'other': 2\n",
    "spec:\n  base: &base\n    a: 1\n    b: [x, y]\n  own: {c: 2}\n  other: &text some\n  list:\n  - &item {k: v}\n  - w\n",
    "spec:\n  list:\n  - a: 1\n    b: 2\n    c: 3\n  - d: {}\n  - e\n  - - f\n  tail: |-\n    no newline at the end",
    "spec:\n# at the margin\n  a:\n# again\n    b: 1\n    # deep\n  # half\n  c: [ ]\n  d: { }\n#last\n",
];

/// The same as JSON: one line, and laid out.
const JSON: [&str; 2] = [
    r#"{"apiVersion":"example.org/v1","kind":"Thing","metadata":{"name":"thing"},"spec":{"a":[1,2,{"b":"c"}],"d":{},"e":{"f":null}}}"#,
    "{\n  \"apiVersion\": \"example.org/v1\",\n  \"kind\": \"Thing\",\n  \"metadata\": {\"name\": \"thing\"},\n  \"spec\": {\n    \"a\": [\n      1,\n      {\"b\": \"c\"}\n    ],\n    \"d\": {\n      \"e\": true\n    }\n  }\n}\n",
];

/// An operation on a place, in the lines of a patch file.
struct Operation {
    op: &'static str,
    path: String,
    /// The value as it is spelled in the patch file, from the colon on.
    value: Option<String>,
}

impl Operation {
    fn lines(&self) -> String {
        let value = self.value.as_ref().map(|v| format!("        value:{v}\n")).unwrap_or_default();
        format!("      - op: {}\n        path: '{}'\n{value}", self.op, self.path)
    }
}

/// New values: a scalar, a flow and a block collection, a literal.
const VALUES: [&str; 5] = [
    " changed",
    " {name: new, flow: [1]}",
    " [new, {flow: 1}]",
    "\n          name: new\n          block:\n            - 1\n            - 2",
    " |\n          a text\n          of two lines",
];

/// Every operation that is tried on the values below `spec`.
fn operations(value: &Value) -> Vec<Operation> {
    let mut all = Vec::new();
    let mut open = vec![("/spec".to_owned(), value)];
    while let Some((path, value)) = open.pop() {
        let all = &mut all;
        let mut push = |op, path: &str, value: Option<String>| {
            all.push(Operation { op, path: path.to_owned(), value });
        };
        push("remove", &path, None);
        for new in VALUES {
            push("replace", &path, Some(new.to_owned()));
        }
        push("replace", &path, Some(format!(" {value}")));
        push("replace", &path, Some(format!(" {}", with_one_more(value))));
        match value {
            Value::Object(map) => {
                for new in VALUES {
                    push("add", &format!("{path}/added"), Some(new.to_owned()));
                }
                open.extend(map.iter().map(|(key, value)| (format!("{path}/{}", key.replace('/', "~1")), value)));
            }
            Value::Array(items) => {
                let places = (0..items.len()).map(|i| i.to_string()).chain(["-".to_owned()]);
                for at in places {
                    for new in VALUES {
                        push("add", &format!("{path}/{at}"), Some(new.to_owned()));
                    }
                }
                open.extend(items.iter().enumerate().map(|(i, value)| (format!("{path}/{i}"), value)));
            }
            _ => {}
        }
    }
    all
}

/// The value with a departure deep in it, spelled in flow: the whole is laid out anew, and little of it differs.
fn with_one_more(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut map = map.clone();
            map.insert("one-more".into(), json!("x"));
            Value::Object(map)
        }
        Value::Array(items) => Value::Array(items.iter().cloned().chain([json!("one more")]).collect()),
        other => json!(format!("{other} and more")),
    }
}

/// Why the proof does not take the build of one patch for right; `Ok(false)` where the build is refused.
fn prove(project: &Project, lines: &str) -> Result<bool, String> {
    let head = "apiVersion: overlay/v1\nkind: Patch\nname: p\nsummary: For the test\nwhy: It tries the place.\n";
    let changes = format!("changes:\n  - target: {{kind: Thing}}\n    patch:\n{lines}");
    project.write("o/p.yaml", &format!("{head}evidence: [this test]\n{changes}"));
    let mut findings = Findings::new();
    let folder = project.path("o");
    let root = Root::find(&folder, Some(&project.path("")), &project.path("")).unwrap();
    let subject = Subject::open(&root, &folder, &mut findings).ok_or_else(|| format!("{findings:#?}"))?;
    let Some(built) = subject.build(&mut findings) else { return Ok(false) };
    let Subject { layer, plan, images, .. } = &subject;
    let overlay = Overlay { folder: "o", layer, plan, images, today: Date::new(2026, 12, 1).unwrap() };
    let report = report(&overlay, Some(&built.text), findings);
    let error = report.findings.iter().find(|finding| finding.is_error());
    error.map_or(Ok(true), |e| Err(format!("{lines}{}: {}\n{}", e.code, e.message, built.text)))
}

/// Every operation by itself.
fn alone(operations: &[Operation]) -> Vec<String> {
    operations.iter().map(Operation::lines).collect()
}

/// Every operation with some of those before it, which leave its place where it was, and lie neither in it nor around it.
fn in_pairs(operations: &[Operation]) -> Vec<String> {
    let others = |at: usize| [at / 7, at / 3, at / 2, at.saturating_sub(1)].map(|other| operations.get(other));
    let pair = |(at, one): (usize, &Operation)| -> Vec<String> {
        // An item that goes while another is appended reads as one that changed: the comments above it are not known to
        // have gone with it.
        let replaces = |other: &Operation| one.op == "remove" && other.path.ends_with("/-");
        let apart = |other: &&Operation| !one.path.starts_with(&other.path) && !other.path.starts_with(&one.path);
        others(at)
            .into_iter()
            .flatten()
            .filter(|other| apart(other) && !replaces(other))
            .map(|other| one.lines() + &other.lines())
            .collect()
    };
    operations.iter().enumerate().flat_map(pair).collect()
}

/// Tries operations on every manifest, and says how many were built.
#[track_caller]
fn every_place_is_proven(
    manifests: impl Iterator<Item = String>,
    tried: impl Fn(&[Operation]) -> Vec<String>,
) -> usize {
    let (mut built, mut wrong) = (0, Vec::new());
    for manifest in manifests {
        let project = Project::new([
            ("up/m.yaml", manifest.as_str()),
            ("b/base.yaml", "apiVersion: overlay/v1\nkind: Base\nname: b\nsource: {file: ../up/m.yaml}\n"),
            ("o/overlay.yaml", "apiVersion: overlay/v1\nkind: Overlay\nname: o\nbases: [../b]\npatches: [p.yaml]\n"),
        ]);
        project.output(&["vendor", "b"]);
        let value = load_text(&manifest).unwrap().value;
        for lines in tried(&operations(&value["spec"])) {
            match prove(&project, &lines) {
                Ok(was_built) => built += usize::from(was_built),
                Err(why) => wrong.push(why),
            }
        }
    }
    let all = built + wrong.len();
    assert!(wrong.is_empty(), "{} of {all} are taken for wrong:\n{}", wrong.len(), wrong.join("\n---\n"));
    built
}

// Two tests, so that they run side by side.
#[test]
fn every_departure_in_the_first_layouts_is_proven() {
    let built = every_place_is_proven(LAYOUTS[..6].iter().map(|layout| format!("{HEAD}{layout}")), alone);
    assert!(built > 500, "only {built} were built");
}

#[test]
fn every_departure_in_the_other_layouts_is_proven() {
    let built = every_place_is_proven(LAYOUTS[6..].iter().map(|layout| format!("{HEAD}{layout}")), alone);
    assert!(built > 500, "only {built} were built");
}

#[test]
fn every_departure_in_a_json_document_is_proven() {
    let built = every_place_is_proven(JSON.iter().map(|manifest| (*manifest).to_owned()), alone);
    assert!(built > 100, "only {built} were built");
}

#[test]
fn two_departures_beside_each_other_are_proven() {
    let built = every_place_is_proven(LAYOUTS.iter().map(|layout| format!("{HEAD}{layout}")), in_pairs);
    assert!(built > 2000, "only {built} were built");
}

#[test]
fn the_first_key_of_an_item_goes_while_its_last_line_grows() {
    let item = "- op: remove\n        path: /spec/list/0/a\n      - op: add\n        path: /spec/list/0/c/-\n        value: new\n";
    let manifest = format!("{HEAD}spec:\n  list:\n  - a:\n    - w\n    b: 2\n    c:\n    - x\n");
    assert_eq!(every_place_is_proven([manifest].into_iter(), |_| vec![format!("      {item}")]), 1);
}
