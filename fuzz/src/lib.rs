//! What must hold of any bytes, as functions that panic where it does not. Each file of `fuzz_targets/` gives one of
//! them what cargo-fuzz makes up; `tests/fuzz.rs` gives them the seeds, changed a little.

mod answers;
mod editors;
mod lab;
mod readers;

pub use answers::{git, registry};
pub use editors::{editor, embedded};
pub use lab::{against, patch};
pub use readers::{files, path, reader};

use overlay::diag::visible::is_hidden;
use overlay::report::{self, OverlayReport, Report};

/// Prints a report in every form; none passes characters on that steer a terminal, and none is broken by what it tells.
fn shown(of: OverlayReport) {
    let report = Report::new(vec![of], false);
    let dress = overlay::diag::render::Dress::Plain;
    let findings = &report.overlays[0].findings;
    let json = report::json(&report);
    let _: serde_json::Value = serde_json::from_str(&json).unwrap();
    let sarif = report::sarif(&report);
    let _: serde_json::Value = serde_json::from_str(&sarif).unwrap();
    let github = report::github(&report);
    assert_eq!(github.lines().count(), findings.len(), "a line for each finding: {github}");
    let full: Vec<String> = findings.iter().map(|f| overlay::diag::render::full(f, dress)).collect();
    for text in [json, sarif, github, report::text(&report, dress), full.concat()] {
        harmless(&text);
    }
}

/// A text that is shown steers no terminal.
fn harmless(text: &str) {
    let steers = text.chars().find(|c| *c != '\n' && is_hidden(*c));
    assert_eq!(steers, None, "{text:?}");
}
