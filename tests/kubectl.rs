//! Holds our reading and our spelling against kubectl's: it is how a cluster would read the same bytes.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may run other programs, and fail")]

mod support;

use overlay::yaml::load::load_text;
use overlay::yaml::number;
use overlay::yaml::spell::{self, Place};
use overlay::yaml::stream;
use overlay::yaml::tree::Style;
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
