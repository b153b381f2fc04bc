//! Holds together what a finding's code stands for in three places: the code table, `docs/findings.md` and the case
//! folders.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may read the project's files, and fail")]

use std::fs;
use std::path::Path;

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

#[test]
fn every_case_is_named_after_a_code() {
    let folders = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")).unwrap();
    let names = folders.map(|entry| entry.unwrap()).filter(|e| e.path().is_dir()).map(|e| e.file_name());
    let names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    let is_code = |name: &str| {
        Code::ALL
            .iter()
            .any(|c| name.strip_prefix(c.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')))
    };
    let others: Vec<_> =
        names.iter().filter(|name| !name.starts_with('_') && !name.starts_with(RUN_CASES) && !is_code(name)).collect();
    assert!(others.is_empty(), "{others:?} begin with no code");
}
