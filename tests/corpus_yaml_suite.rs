//! Runs over the YAML project's own test suite, where the corpus has it.
//!
//! Cases that we read differently on purpose, and invalid ones that we take, are listed with their reasons in
//! `tests/data/yaml-suite-differences.tsv`; an entry that is no longer true fails the test.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may read files, and fail")]

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use overlay::yaml::load::load_text;
use overlay::yaml::{number, stream};
use serde_json::Value;

/// How a case may differ from what the suite says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Difference {
    /// It is valid and has a value, and we read another or none.
    Reads,
    /// It is invalid, and we take it.
    Accepts,
}

/// One case of the suite.
struct Case {
    /// The name of its file, and behind a slash its number where the file has several.
    id: String,
    yaml: String,
    /// What its documents say, where the suite tells it and the case is valid.
    values: Option<Vec<Value>>,
    invalid: bool,
}

/// The text of a case without the signs that make white space visible in the suite's files.
fn unmarked(text: &str) -> String {
    let mut out = text.replace('␣', " ").replace('⇔', "\u{feff}").replace('←', "\r").replace('↵', "");
    while let Some(tab) = out.find('»') {
        let start = out[..tab].trim_end_matches('—').len();
        out.replace_range(start..tab + '»'.len_utf8(), "\t");
    }
    out.strip_suffix("∎\n").map(str::to_owned).unwrap_or(out)
}

fn values(json: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(json)
        .into_iter()
        .map(|value| {
            let mut value = value.unwrap();
            number::canonicalize(&mut value);
            value
        })
        .collect()
}

/// The cases of one file. A later case that shows no tree of its own means what the one before it does.
fn cases_of(path: &Path) -> Vec<Case> {
    let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
    let entries: Vec<serde_yaml::Mapping> = serde_yaml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let several = entries.len() > 1;
    let mut json: Option<String> = None;
    let case = |(at, entry): (usize, &serde_yaml::Mapping)| {
        let text = |key: &str| entry.get(key).and_then(|v| v.as_str()).map(str::to_owned);
        json = text("json").or_else(|| json.take().filter(|_| !entry.contains_key("tree")));
        let invalid = entry.get("fail").is_some();
        Case {
            id: if several { format!("{stem}/{at:02}") } else { stem.clone() },
            yaml: unmarked(&text("yaml").unwrap()),
            values: json.as_deref().filter(|_| !invalid).map(values),
            invalid,
        }
    };
    entries.iter().enumerate().map(case).collect()
}

/// The values of the documents as we read them, or why we do not.
fn read(text: &str) -> Result<Vec<Value>, String> {
    let pieces = stream::split(text);
    let documents = pieces.iter().filter(|piece| piece.content || piece.marker.is_some());
    documents.map(|piece| load_text(piece.text(text)).map(|l| l.value).map_err(|e| e.to_string())).collect()
}

fn difference(case: &Case) -> Option<Difference> {
    let ours = read(&case.yaml);
    if case.invalid {
        return ours.is_ok().then_some(Difference::Accepts);
    }
    let differs = case.values.as_ref().is_some_and(|values| ours.as_ref() != Ok(values));
    differs.then_some(Difference::Reads)
}

fn listed() -> BTreeMap<String, Difference> {
    let lines = include_str!("data/yaml-suite-differences.tsv").lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let columns: Vec<&str> = line.splitn(3, '\t').collect();
            let (difference, id) = match &columns[..] {
                ["reads", id, reason] if !reason.is_empty() => (Difference::Reads, id),
                ["accepts", id, reason] if !reason.is_empty() => (Difference::Accepts, id),
                _ => panic!("not a difference with its reason: {line:?}"),
            };
            ((*id).to_owned(), difference)
        })
        .collect()
}

#[test]
fn the_yaml_suite_is_read_right_or_differs_for_a_listed_reason() {
    let Some(corpus) = support::corpus() else { return };
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(corpus.join("yaml-test-suite")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let cases: Vec<Case> = paths.iter().flat_map(|path| cases_of(path)).collect();
    assert!(cases.len() > 400, "the suite has only {} cases", cases.len());
    assert!(cases.iter().filter(|case| case.values.is_some()).count() > 250);
    let found: BTreeMap<String, Difference> =
        cases.iter().filter_map(|case| Some((case.id.clone(), difference(case)?))).collect();
    let listed = listed();
    let unlisted: Vec<_> = found.iter().filter(|(id, difference)| listed.get(*id) != Some(difference)).collect();
    let stale: Vec<_> = listed.iter().filter(|(id, difference)| found.get(*id) != Some(difference)).collect();
    assert!(unlisted.is_empty(), "differences without a listed reason: {unlisted:?}");
    assert!(stale.is_empty(), "listed differences that are none: {stale:?}");
}
