//! The public tests of RFC 6902, run through a patch file. Each case comes out as the suite says, or is listed in
//! `tests/data/json-patch-differences.txt` with the rule of ours that is stricter.

#![allow(clippy::disallowed_methods, reason = "the test reads the suite and the list itself")]
#![allow(clippy::unwrap_used, reason = "a suite or a list that cannot be read fails the test")]

mod support;

use std::collections::BTreeMap;
use std::path::Path;

use overlay::config::Findings;
use overlay::diag::Source;
use overlay::patch::Patch;
use overlay::patch::lower::Site;
use overlay::yaml::load::load_text;
use serde_json::Value;

const FILES: [&str; 2] = ["spec_tests.json", "tests.json"];

/// What our code makes of a case: the value, or the codes of its findings.
fn run(case: &Value) -> Result<Value, String> {
    let text = format!(
        "apiVersion: overlay/v1\nkind: Patch\nname: case\nchanges:\n- target: {{name: x}}\n  patch: {}\n",
        case["patch"]
    );
    let mut findings = Findings::new();
    let Some(patch) = Patch::read(&Source::new("case.yaml", text), &mut findings) else {
        return Err(findings.iter().map(|f| f.code.as_str()).collect::<Vec<_>>().join("+"));
    };
    let document = load_text(&case["doc"].to_string()).unwrap().value;
    let run = Site { patch: &patch, change: 0, resource: "x" }.run(&document);
    run.map(|run| run.value).map_err(|finding| finding.code.as_str().to_owned())
}

/// Whether a case comes out as the suite says. A case that expects nothing in particular leaves its document alone.
fn is_right(case: &Value, outcome: &Result<Value, String>) -> bool {
    match outcome {
        Err(_) => case.get("error").is_some(),
        Ok(value) => case.get("error").is_none() && value == case.get("expected").unwrap_or(&case["doc"]),
    }
}

/// The listed differences: the case's name and the code of our rule, to be ticked off.
fn listed() -> BTreeMap<String, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/json-patch-differences.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let entries = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    entries
        .map(|line| {
            let (case, rule) = line.split_once(": ").unwrap();
            (case.to_owned(), rule.split_once(' ').unwrap().0.to_owned())
        })
        .collect()
}

fn differences(folder: &Path) -> (usize, BTreeMap<String, String>) {
    let mut count = 0;
    let mut found = BTreeMap::new();
    for file in FILES {
        let cases: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(folder.join(file)).unwrap()).unwrap();
        for (index, case) in cases.iter().enumerate() {
            count += 1;
            let outcome = run(case);
            if !is_right(case, &outcome) {
                let said = outcome.map_or_else(|codes| codes, |value| value.to_string());
                found.insert(format!("{file} {index}"), said);
            }
        }
    }
    (count, found)
}

#[test]
fn every_case_of_the_public_suite_is_right_or_listed_with_the_stricter_rule() {
    let Some(corpus) = support::corpus() else { return };
    let (count, found) = differences(&corpus.join("json-patch-tests"));
    assert!(count > 100, "only {count} cases were read");
    assert_eq!(found, listed(), "left: what differs; right: what is listed");
}
