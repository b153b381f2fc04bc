//! Holds our reading and our spelling against kubectl's: it is how a cluster would read the same bytes.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may run other programs, and fail")]

mod support;

use overlay::change::{Action, Change, New, Spelled, apply_edits};
use overlay::yaml::edit::edit;
use overlay::yaml::load::load_text;
use overlay::yaml::number;
use overlay::yaml::spell::{self, Place};
use overlay::yaml::stream;
use overlay::yaml::tree::{Kind, Style, Tree};
use serde_json::{Value, json};
use support::Kubectl;

const HEAD: &str = "apiVersion: example.org/v1\nkind: Probe\nmetadata: {name: probe}\nspec:\n";

/// A row of `tests/data/kubectl-scalars.tsv`.
struct Row {
    is_key: bool,
    spelled: &'static str,
    /// `None` for an error.
    kubectl: Option<Value>,
    ours: Option<Value>,
}

impl Row {
    /// The mapping under `spec` that holds the scalar, for its own document or as one of many.
    fn mapping(&self, indent: &str) -> String {
        if self.is_key { format!("{indent}{}: 1\n", self.spelled) } else { format!("{indent}k: {}\n", self.spelled) }
    }

    /// The value of that mapping, where the scalar has one.
    fn expected(&self, value: &Value) -> Value {
        match value {
            Value::String(key) if self.is_key => json!({ key: 1 }),
            _ => json!({ "k": value }),
        }
    }
}

fn rows() -> Vec<Row> {
    let value = |text: &str| {
        (text != "error").then(|| {
            let mut value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
            number::canonicalize(&mut value);
            value
        })
    };
    let table = include_str!("data/kubectl-scalars.tsv").lines().filter(|line| !line.starts_with('#'));
    table
        .map(|line| {
            let columns: Vec<&str> = line.split('\t').collect();
            let [place, spelled, kubectl, rest @ ..] = &columns[..] else { panic!("{line:?}") };
            let kubectl = value(kubectl);
            let ours = rest.first().map_or_else(|| kubectl.clone(), |ours| value(ours));
            Row { is_key: *place == "key", spelled, kubectl, ours }
        })
        .collect()
}

#[test]
fn we_read_scalars_as_the_table_says() {
    let rows = rows();
    assert!(rows.len() >= 250);
    for row in rows {
        let read = load_text(&row.mapping("")).map(|loaded| loaded.value);
        match &row.ours {
            Some(value) => assert_eq!(read.as_ref(), Ok(&row.expected(value)), "{}", row.spelled),
            None => assert!(read.is_err(), "{} is {read:?}", row.spelled),
        }
    }
}

#[test]
fn kubectl_reads_scalars_as_the_table_says() {
    let Some(kubectl) = Kubectl::find() else { return };
    let (good, bad): (Vec<Row>, Vec<Row>) = rows().into_iter().partition(|row| row.kubectl.is_some());
    let mut manifest = HEAD.to_owned();
    for (at, row) in good.iter().enumerate() {
        manifest.extend([format!("  r{at}:\n"), row.mapping("    ")]);
    }
    let spec = kubectl.read(&manifest).unwrap().remove(0)["spec"].clone();
    for (at, row) in good.iter().enumerate() {
        let mut read = spec[format!("r{at}")].clone();
        number::canonicalize(&mut read);
        assert_eq!(Some(read), row.kubectl.as_ref().map(|value| row.expected(value)), "{}", row.spelled);
    }
    for row in bad {
        let read = kubectl.read(&format!("{HEAD}{}", row.mapping("  ")));
        assert!(read.is_err(), "{} is {read:?}", row.spelled);
    }
}

#[test]
fn kubectl_reads_what_we_spell_as_it_is_meant() {
    let Some(kubectl) = Kubectl::find() else { return };
    let rows = rows();
    let extra = [
        "a\nb\n",
        "a\n\nb",
        " a\nb",
        "\n\ta\n",
        "a\n\n",
        "a\r\nb",
        "\u{85}\u{2028}\u{feff}\0",
        "😀",
        "a: b",
        "a #b",
        "- a",
        "[a?b]",
    ];
    let texts: Vec<&str> = rows.iter().map(|row| row.spelled).chain(extra).collect();
    let wishes =
        [None, Some(Style::Plain), Some(Style::Single), Some(Style::Double), Some(Style::Literal), Some(Style::Folded)];
    for wish in wishes {
        let mut manifest = HEAD.to_owned();
        for (at, text) in texts.iter().enumerate() {
            let block = spell::string(text, wish, Place::Block { column: 2, step: 2 });
            let flow = spell::string(text, wish, Place::Flow);
            let key = spell::key(text, wish, Place::Key);
            manifest.extend([
                format!("  b{at}: {block}\n"),
                format!("  f{at}: [{flow}, {{k: {flow}}}]\n"),
                format!("  k{at}:\n    {key}: 1\n"),
            ]);
        }
        let spec = kubectl.read(&manifest).unwrap().remove(0)["spec"].clone();
        for (at, text) in texts.iter().enumerate() {
            assert_eq!(spec[format!("b{at}")], json!(text), "{wish:?}");
            assert_eq!(spec[format!("f{at}")], json!([text, {"k": text}]), "{wish:?}");
            assert_eq!(spec[format!("k{at}")], json!({ *text: 1 }), "{wish:?}");
        }
    }
}

/// What stands behind `spec:`. YAML 1.2 reads all of it; libyaml, and so kubectl, does not.
const NOT_FOR_LIBYAML: [&str; 36] = [
    r#" "a\/b""#,
    r#" "\ud83d\ude00""#,
    r#" ["\\\/"]"#,
    " {\"k\\/l\": 1}",
    " &a:b c",
    " &a: c",
    " &a.b c",
    " &\u{e9} c",
    " [a?b]",
    " [a? , b]",
    " {?a: b}",
    " [::a]",
    " {:a: b}",
    " [!!str]",
    " {a: !!str}",
    " !!str# c",
    " !t#x c",
    " &x[1]",
    " [&x{b: 1}]",
    " [w:]",
    " {w:}",
    " {w:,x: 1}",
    " [w:,x]",
    " {w:[1]}",
    " [&x w:]",
    "\n  -\ta",
    "\n  - \t\n    a",
    "\n  -\t# c\n    a",
    "\n  ? a\n  :\tb",
    "\n  ?\ta\n  : b",
    "\n  \ta: 1",
    " \"x\" # c\n\t# d",
    " x\n\t\nz: 1",
    " |\n  \tx",
    " |\n  x\n\t",
    "\n  k: |\n    x\n  \t\n  z: 1",
];

/// What looks much the same and is read by everyone.
const FOR_ALL: [&str; 14] = [
    r#" "\0\a\b\t\n\v\f\r\e\ \"\\\N\_\L\P\x41\u0041\U0010FFFF""#,
    r#" "\\/""#,
    " &a-b_9 c",
    " a?b",
    " [\"a?b\", ? c : d]",
    "\n  a:\t1\t# c",
    "\n  a:\t\n    b: 1",
    "\n  - &x\ta",
    " [a,\n\tb,\tc]",
    " x\n  \ty",
    " |\n  x\n  \ty\n   \t\n  z",
    " |2\n  \tx",
    " \"x\n\ty\"",
    "\n  k: |\n    x\n    \t\n  z: 1",
];

#[test]
fn what_kubectl_cannot_read_as_we_would_is_refused() {
    let Some(kubectl) = Kubectl::find() else { return };
    for spec in NOT_FOR_LIBYAML {
        let manifest = format!("{}{spec}\n", HEAD.trim_end());
        let refused = load_text(&manifest).map(|loaded| loaded.value);
        assert!(refused.is_err(), "{spec:?} is {refused:?}");
        // What kubectl takes at all, it takes for something else.
        let theirs = kubectl.read(&manifest).ok().map(|read| read[0]["spec"].clone());
        let otherwise = [
            json!(":b c"),
            json!({"a": "b"}),
            json!(["w:"]),
            json!(["w:", "x"]),
            json!({"w:": null}),
            json!({"w:": null, "x": 1}),
        ];
        assert!(theirs.as_ref().is_none_or(|value| otherwise.contains(value)), "{spec:?} is {theirs:?}");
    }
    for spec in FOR_ALL {
        let manifest = format!("{}{spec}\n", HEAD.trim_end());
        let theirs = kubectl.read(&manifest).unwrap_or_else(|e| panic!("{e} in {spec:?}"));
        assert_eq!(load_text(&manifest).unwrap().value, theirs[0], "{spec:?}");
    }
}

/// Parts of a value, each of which may stand right before each of the other row.
const BEFORE: [&str; 11] = ["&x", "!!str", "!t", "*a", "\"q\"", "'q'", "[1]", "{b: 1}", "w", "&x 1", "[]"];
const BEHIND: [&str; 16] = [
    "[1]",
    "{b: 1}",
    "\"q\"",
    "'q'",
    "# c",
    " # c",
    "w",
    ":",
    ": z",
    "|\n      t",
    "*a",
    "&y",
    "!!str",
    "- z",
    " w",
    ":,",
];

/// Where such a value stands.
const AROUND: [&str; 6] =
    [" $\n", "\n    k: $\n", "\n    - $\n    - z\n", " [$]\n", " {k: $}\n", " [\n    $\n    , z]\n"];

#[test]
fn what_stands_right_behind_something_else_is_read_as_kubectl_reads_it_or_refused() {
    let Some(kubectl) = Kubectl::find() else { return };
    let values = BEFORE.iter().flat_map(|before| BEHIND.iter().map(move |behind| format!("{before}{behind}")));
    let values = values.flat_map(|value| AROUND.iter().map(move |around| around.replace('$', &value)));
    let read = values.filter_map(|value| {
        let manifest = format!("{HEAD}  a: &a 1\n  v:{value}");
        let ours = load_text(&manifest).ok()?.value;
        Some((manifest, ours))
    });
    let read: Vec<(String, Value)> = read.collect();
    assert!(read.len() > 250, "only {} are read", read.len());
    let stream: Vec<&str> = read.iter().map(|(manifest, _)| manifest.as_str()).collect();
    let theirs = kubectl.read(&stream.join("---\n")).unwrap_or_else(|error| {
        let refused = stream.iter().find(|manifest| kubectl.read(manifest).is_err());
        panic!("{error} in {refused:?}")
    });
    for ((manifest, ours), theirs) in read.iter().zip(&theirs) {
        assert_eq!(ours, theirs, "{manifest}");
    }
    assert_eq!(read.len(), theirs.len());
}

#[test]
fn kubectl_reads_what_a_patch_spelled_as_only_others_can() {
    let Some(kubectl) = Kubectl::find() else { return };
    let spellings = [
        (r#""a\/b""#, json!("a/b")),
        (r#""\ud83d\ude00""#, json!("\u{1f600}")),
        (r#"{"k\/l": "\/", m: ["\ud83d\ude00"]}"#, json!({"k/l": "/", "m": ["\u{1f600}"]})),
        ("[a?b, {?c: d}]", json!(["a?b", {"?c": "d"}])),
        ("[::a, {:c: d}]", json!(["::a", {":c": "d"}])),
        ("\n  - \"\\/\"\n  -\tx\n", json!(["/", "x"])),
        ("\n  \"\\/\": 1\n  x: y\n", json!({"/": 1, "x": "y"})),
        ("|\n  \tx\n", json!("\tx\n")),
        ("&a.b x\n", json!("x")),
        ("{a: !!str}", json!({"a": ""})),
    ];
    let base = format!("{HEAD}  map: {{z: 1}}\n  list:\n  - z\n  flow: [z]\n  scalar: z\n  block:\n    a: 1\n");
    let added = ["/spec/new", "/spec/map/new", "/spec/list/0", "/spec/list/-", "/spec/flow/-", "/spec/block/new"];
    let replaced = ["/spec/map", "/spec/list", "/spec/list/0", "/spec/flow/0", "/spec/scalar", "/spec/block"];
    let mut manifest = String::new();
    let mut wanted = Vec::new();
    for (spelling, value) in &spellings {
        let written = format!("value: {spelling}");
        let tree = Tree::parse(&written).unwrap_or_else(|e| panic!("{e} in {written:?}"));
        let Kind::Mapping { entries, .. } = &tree.node(tree.root().unwrap()).kind else { panic!("{written:?}") };
        let spelled = Some(Spelled { text: &written, tree: &tree, node: entries[0].value, taken: None });
        let new = New { value, spelled, comment: None };
        let adding = added.map(|path| (Action::Add(new), path));
        for (action, path) in adding.into_iter().chain(replaced.map(|path| (Action::Replace(new), path))) {
            let path: Vec<String> = path.split('/').skip(1).map(str::to_owned).collect();
            let edits = edit(&base, &Change { action, path: &path }).unwrap_or_else(|e| panic!("{e}: {spelling}"));
            let text = apply_edits(&base, &edits);
            wanted.push((load_text(&text).unwrap().value, spelling));
            manifest.extend(["---\n", &text]);
        }
    }
    let read = kubectl.read(&manifest).unwrap();
    assert_eq!(read.len(), wanted.len());
    for (theirs, (ours, spelling)) in read.iter().zip(&wanted) {
        assert_eq!(theirs, ours, "{spelling}");
    }
}

#[test]
fn kubectl_reads_every_manifest_of_the_corpus_as_we_do() {
    let manifests = support::manifests();
    if manifests.is_empty() {
        return;
    }
    let Some(kubectl) = Kubectl::find() else { return };
    for (name, text) in manifests {
        let theirs = kubectl.read(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let ours: Vec<Value> = stream::split(&text)
            .iter()
            .filter(|piece| piece.content)
            .flat_map(|piece| objects(load_text(piece.text(&text)).unwrap_or_else(|e| panic!("{name}: {e}")).value))
            .collect();
        assert_eq!(theirs.len(), ours.len(), "{name}");
        for (mut theirs, ours) in theirs.into_iter().zip(ours) {
            number::canonicalize(&mut theirs);
            assert_eq!(theirs, ours, "{name}");
        }
    }
}

/// kubectl shows the items of a List one by one.
fn objects(mut document: Value) -> Vec<Value> {
    match document.get_mut("items").map(Value::take) {
        Some(Value::Array(items)) if document["kind"] == "List" => items,
        Some(other) => {
            document["items"] = other;
            vec![document]
        }
        None => vec![document],
    }
}
