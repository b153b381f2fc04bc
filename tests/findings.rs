//! Holds together what a finding's code stands for in three places: the code table, `docs/findings.md` and the case
//! folders.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may read the project's files, and fail")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use overlay::diag::Code;

/// A section of the page: the code of its heading, and what stands below it.
struct Section {
    code: String,
    body: String,
}

fn page() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/findings.md")).unwrap()
}

fn sections(page: &str) -> Vec<Section> {
    let code_sections = page.split("\n### ").skip(1);
    code_sections
        .map(|section| {
            let (heading, body) = section.split_once('\n').unwrap();
            let code = heading.strip_prefix('`').and_then(|h| h.strip_suffix('`'));
            Section { code: code.unwrap_or(heading).to_owned(), body: body.to_owned() }
        })
        .collect()
}

#[test]
fn every_code_has_its_section_in_the_order_of_the_table() {
    let headings: Vec<_> = sections(&page()).into_iter().map(|section| section.code).collect();
    let codes: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(headings, codes);
}

#[test]
fn every_section_is_listed_at_the_top() {
    let page = page();
    let (contents, _) = page.split_once("\n## ").unwrap();
    let missing: Vec<_> = Code::ALL.iter().filter(|code| !contents.contains(&format!("[`{code}`](#{code})"))).collect();
    assert!(missing.is_empty(), "not in the list at the top of docs/findings.md: {missing:?}");
}

#[test]
fn every_section_tells_severity_example_and_mending() {
    for (section, code) in sections(&page()).iter().zip(Code::ALL) {
        let severity = code.severity().as_str();
        let body = section.body.trim_start();
        assert!(body.to_lowercase().starts_with(severity), "{code} does not begin with {severity}: {body}");
        assert!(body.contains(&format!("\n```text\n{severity}[{code}]: ")), "{code} shows no message: {body}");
        assert!(body.contains("\n**Mend it:** "), "{code} does not say how to mend it: {body}");
    }
}

/// Cases that show how a run goes, and no finding, begin with this.
const RUN_CASES: &str = "run-";

/// The code that no case can show: it takes a mistake of this program.
const WITHOUT_CASE: [Code; 1] = [Code::Internal];

/// The folders of cases by name, without what cases share.
fn case_folders() -> BTreeMap<String, PathBuf> {
    let folders = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")).unwrap();
    let folders = folders.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let named = folders.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path));
    named.filter(|(name, _)| !name.starts_with('_')).collect()
}

/// Whether a folder's name is a code, or begins with one and a `-`.
fn is_case_of(name: &str, code: Code) -> bool {
    name.strip_prefix(code.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[test]
fn every_case_is_named_after_a_code() {
    let named = |name: &String| name.starts_with(RUN_CASES) || Code::ALL.iter().any(|code| is_case_of(name, *code));
    let others: Vec<_> = case_folders().into_keys().filter(|name| !named(name)).collect();
    assert!(others.is_empty(), "{others:?} begin with no code");
}

#[test]
fn every_code_has_a_case() {
    let folders = case_folders();
    let has_case = |code: &Code| folders.contains_key(code.as_str());
    let missing: Vec<_> = Code::ALL.iter().filter(|code| !WITHOUT_CASE.contains(code) && !has_case(code)).collect();
    assert!(missing.is_empty(), "no folder under tests/cases for {missing:?}");
}

#[test]
fn every_line_of_an_example_is_one_that_its_case_prints() {
    let folders = case_folders();
    for section in sections(&page()) {
        let Some(folder) = folders.get(&section.code) else { continue };
        let (_, example) = section.body.split_once("\n```text\n").unwrap();
        let (example, _) = example.split_once("\n```").unwrap();
        let records = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        let printed: String = records.map(|path| fs::read_to_string(path).unwrap()).collect();
        let stray: Vec<&str> = example.lines().filter(|line| !printed.contains(line)).collect();
        assert!(stray.is_empty(), "the case {} does not print {stray:#?}", section.code);
    }
}
