//! The proof takes every right build for right: each place of manifests of many layouts is removed, replaced and added
//! to, and `verify` must find the departure, its patch, and nothing else.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may lay out files, and fail")]

#[path = "support/dice.rs"]
mod dice;
#[path = "support/project.rs"]
mod project;

use dice::Dice;
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

    /// Carries it out where it writes something, and says where that is.
    fn write(&self, value: &mut Value) -> Option<String> {
        let new = load_text(&format!("value:{}", self.value.as_ref()?)).unwrap().value["value"].take();
        let patch = json!([{"op": self.op, "path": self.path, "value": new}]);
        let items = self.path.strip_suffix("/-").map(|list| value.pointer(list).unwrap().as_array().unwrap().len());
        json_patch::patch(value, &serde_json::from_value::<json_patch::Patch>(patch).unwrap()).unwrap();
        Some(items.map_or_else(|| self.path.clone(), |last| format!("{}{last}", self.path.trim_end_matches('-'))))
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
fn operations_on(value: &Value) -> Vec<Operation> {
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

/// Why the proof does not take the build of these patches for right; `Ok(false)` where the build is refused.
fn prove(project: &Project, patches: &Patches) -> Result<bool, String> {
    for (name, lines) in NAMES.into_iter().zip(patches) {
        let head = format!("apiVersion: overlay/v1\nkind: Patch\nname: {name}\nsummary: For the test\n");
        let head = format!("{head}why: It tries the place.\nevidence: [this test]\n");
        let changes = format!("changes:\n  - target: {{kind: Thing}}\n    patch:\n{lines}");
        project.write(&format!("o/{name}.yaml"), &format!("{head}{changes}"));
    }
    let listed = NAMES.into_iter().take(patches.len()).map(|name| format!("{name}.yaml")).collect::<Vec<_>>();
    let head = "apiVersion: overlay/v1\nkind: Overlay\nname: o\nbases: [../b]\n";
    project.write("o/overlay.yaml", &format!("{head}patches: [{}]\n", listed.join(", ")));
    let mut findings = Findings::new();
    let folder = project.path("o");
    let root = Root::find(&folder, Some(&project.path("")), &project.path("")).unwrap();
    let subject = Subject::open(&root, &folder, &mut findings).ok_or_else(|| format!("{findings:#?}"))?;
    let Some(built) = subject.build(&mut findings) else { return Ok(false) };
    let Subject { layer, plan, images, .. } = &subject;
    let overlay = Overlay { folder: "o", layer, plan, images, today: Date::new(2026, 12, 1).unwrap() };
    let report = report(&overlay, Some(&built.text), findings);
    let error = report.findings.iter().find(|finding| finding.is_error());
    error.map_or(Ok(true), |e| Err(format!("{}{}: {}\n{}", patches.join("--\n"), e.code, e.message, built.text)))
}

/// The operations of one patch, or of two that apply one after the other.
type Patches = Vec<String>;
const NAMES: [&str; 2] = ["first", "second"];

/// Every operation by itself.
fn alone(operations: &[Operation], _: &Value) -> Vec<Patches> {
    operations.iter().map(|operation| vec![operation.lines()]).collect()
}

/// Every operation with some of those before it, which leave its place where it was, and lie neither in it nor around it.
fn in_pairs(operations: &[Operation], _: &Value) -> Vec<Patches> {
    let others = |at: usize| [at / 7, at / 3, at / 2, at.saturating_sub(1)].map(|other| operations.get(other));
    let pair = |(at, one): (usize, &Operation)| -> Vec<Patches> {
        let apart = |other: &&Operation| !one.path.starts_with(&other.path) && !other.path.starts_with(&one.path);
        let lines = |other: &Operation| vec![one.lines() + &other.lines()];
        others(at).into_iter().flatten().filter(apart).map(lines).collect()
    };
    operations.iter().enumerate().flat_map(pair).collect()
}

/// Operations that write, each with those that work on what it wrote: they change it and what is in it and beside it,
/// take it out, move and copy it to all places, and other things to its place. In one patch, and in two.
fn one_on_another(operations: &[Operation], value: &Value) -> Vec<Patches> {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let mut all = Vec::new();
    for first in operations {
        let mut after = json!({"spec": value});
        let Some(written) = first.write(&mut after) else { continue };
        let (parent, _) = written.rsplit_once('/').unwrap();
        let near = if parent.is_empty() { &written } else { parent };
        let mut seconds = vec![
            format!("      - {{op: test, path: '{written}', value: {}}}\n", after.pointer(&written).unwrap())
                + "      - {op: add, path: /spec/tested, value: 'yes'}\n",
        ];
        let second = operations_on(&after["spec"]);
        seconds.extend(second.iter().filter(|second| second.path.starts_with(near)).map(Operation::lines));
        let line = |op: &str, from: &str, to: &str| format!("      - {{op: {op}, from: '{from}', path: '{to}'}}\n");
        for place in &second {
            if ["add", "remove"].contains(&place.op) {
                seconds.extend(["move", "copy"].map(|op| line(op, &written, &place.path)));
                seconds.extend(["move", "copy"].map(|op| line(op, &place.path, &written)));
            }
        }
        seconds.sort();
        seconds.dedup();
        let many = std::env::var_os("OVERLAY_PROOF_FULL").map_or(FEW, |_| seconds.len());
        for _ in 0..many {
            let second = seconds.swap_remove(dice.below(seconds.len()));
            all.push(if dice.below(3) == 0 { vec![first.lines() + &second] } else { vec![first.lines(), second] });
            if seconds.is_empty() {
                break;
            }
        }
    }
    all
}

/// How many operations are tried on what another wrote, when not all are.
const FEW: usize = 2;

/// Tries operations on every manifest, and says how many were built.
#[track_caller]
fn every_place_is_proven(
    manifests: impl Iterator<Item = String>,
    tried: impl Fn(&[Operation], &Value) -> Vec<Patches>,
) -> usize {
    let (mut built, mut wrong) = (0, Vec::new());
    for manifest in manifests {
        let project = Project::new([
            ("up/m.yaml", manifest.as_str()),
            ("b/base.yaml", "apiVersion: overlay/v1\nkind: Base\nname: b\nsource: {file: ../up/m.yaml}\n"),
        ]);
        project.output(&["vendor", "b"]);
        let spec = &load_text(&manifest).unwrap().value["spec"];
        for patches in tried(&operations_on(spec), spec) {
            match prove(&project, &patches) {
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
fn what_an_operation_does_to_what_another_wrote_is_proven() {
    let built = every_place_is_proven(LAYOUTS.iter().map(|layout| format!("{HEAD}{layout}")), one_on_another);
    assert!(built > 1000, "only {built} were built");
}

#[test]
fn what_an_operation_does_to_what_another_wrote_in_json_is_proven() {
    let built = every_place_is_proven(JSON.iter().map(|manifest| (*manifest).to_owned()), one_on_another);
    assert!(built > 100, "only {built} were built");
}

/// Manifests, each with patches that build and must be proven.
const TOLD: &[(&str, &[&[&str]])] = &[
    (
        "spec:\n  list:\n  - a:\n    - w\n    b: 2\n    c:\n    - x\n",
        &[&["{op: remove, path: /spec/list/0/a}\n      - {op: add, path: /spec/list/0/c/-, value: new}"]],
    ),
    (
        "spec:\n  list:\n  - name: p\n  - name: q\n",
        &[
            &[
                "{op: add, path: /spec/list/-, value: {name: d}}",
                "{op: move, from: '/spec/list/[name=d]', path: '/spec/list/[name=q]'}",
            ],
            &[
                "{op: add, path: /spec/list/-, value: {name: d}}",
                "{op: copy, from: '/spec/list/[name=d]/name', path: '/spec/list/[name=q]/other'}",
            ],
        ],
    ),
    (
        "spec:\n  # of one\n  list:\n  - one\n  # of two\n  - two\n  # of three\n  - three\n",
        &[
            &["{op: remove, path: /spec/list/1}\n      - {op: add, path: /spec/list/-, value: new}"],
            &["{op: remove, path: /spec/list/1}", "{op: add, path: /spec/list/-, value: two}"],
            &["{op: move, from: /spec/list/0, path: /spec/list/2}"],
            &["{op: move, from: /spec/list/0, path: /spec/list/0}"],
            &["{op: replace, path: /spec/list, value: [new]}", "{op: move, from: /spec/list, path: /spec/list}"],
            &["{op: remove, path: /spec/list}", "{op: add, path: /spec/list, value: [one]}"],
        ],
    ),
    (
        "spec:\n  d: { }\n  l: [ ]\n  a:\n# again\n    b: 1\n    # deep\n",
        &[
            &["{op: add, path: /spec/d/x, value: one}", "{op: remove, path: /spec/d/x}"],
            &["{op: add, path: /spec/l/-, value: x}", "{op: move, from: /spec/l/0, path: /spec/d/x}"],
            &["{op: replace, path: /spec/a/b, value: x}", "{op: move, from: /spec/a/b, path: /spec/a/c}"],
        ],
    ),
    (
        "spec:\n  l:\n  - name: a\n    v: 1\n    # of a\n  - name: b\n",
        &[&[
            "op: add\n        path: /spec/l/0\n        value: |\n          two\n          lines",
            "{op: remove, path: /spec/l/1}",
        ]],
    ),
    (
        "spec:\n  list:\n  - a # one\n  # of the second\n  - a # two\n  - b\n",
        &[
            &["{op: move, from: /spec/list/0, path: /spec/list/1}"],
            &["{op: remove, path: /spec/list/0}"],
            &["{op: remove, path: /spec/list/1}"],
            &["{op: move, from: /spec/list/1, path: '/spec/list/[=b]'}"],
        ],
    ),
];

#[test]
fn patches_that_meet_are_proven() {
    for (spec, patches) in TOLD {
        let tried = |lines: &&[&str]| lines.iter().map(|line| format!("      - {line}\n")).collect::<Patches>();
        let manifest = format!("{HEAD}{spec}");
        let built = every_place_is_proven([manifest].into_iter(), |_, _| patches.iter().map(tried).collect());
        assert_eq!(built, patches.len(), "{spec}");
    }
}
