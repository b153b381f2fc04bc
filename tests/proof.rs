//! The proof against results that were tampered with: this project's own overlay is built, its output changed in every
//! place, and each change must be found.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::path::Path;

use overlay::config::{Date, Findings};
use overlay::layer::root::Root;
use overlay::report::OverlayReport;
use overlay::subject::Subject;
use overlay::verify::overlay::{Overlay, Touch, report, touches};
use overlay::yaml::stream::split;
use overlay::yaml::tree::{Kind, Node, Tree};

struct Project {
    subject: Subject,
    built: String,
}

impl Project {
    fn open() -> Project {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = root.join("overlays/nik-debian");
        let mut findings = Findings::new();
        let root = Root::find(&folder, Some(root), root).unwrap();
        let subject = Subject::open(&root, &folder, &mut findings).unwrap();
        let built = subject.build(&mut findings).unwrap().text;
        assert!(!findings.has_errors(), "{findings:?}");
        Project { subject, built }
    }

    fn overlay(&self) -> Overlay<'_> {
        let today = Date::new(2026, 12, 1).unwrap();
        let Subject { layer, plan, images, .. } = &self.subject;
        Overlay { folder: "overlays/nik-debian", layer, plan, images, today }
    }

    fn report(&self, result: &str) -> OverlayReport {
        report(&self.overlay(), Some(result), Findings::new())
    }

    fn touches(&self) -> Vec<Touch> {
        touches(&self.overlay(), &self.built).unwrap()
    }

    /// Asserts that a result with other bytes at `at` is found out.
    fn is_found_out(&self, at: std::ops::Range<usize>, new: &str) {
        let mut result = self.built.clone();
        result.replace_range(at.clone(), new);
        if result == self.built {
            return;
        }
        let report = self.report(&result);
        let line = self.built[..at.start].lines().count();
        let is_found = report.findings.iter().any(overlay::diag::Diagnostic::is_error);
        assert!(is_found, "nobody sees {new:?} instead of {:?} at line {line}", &self.built[at]);
    }
}

#[test]
fn the_build_itself_is_proven() {
    let project = Project::open();
    let report = project.report(&project.built);
    assert!(report.findings.iter().all(|finding| !finding.is_error()), "{:#?}", report.findings);
    assert!(report.undocumented.is_empty());
    assert!(report.patches.iter().all(|patch| !patch.departures.is_empty()));
}

#[test]
fn every_scalar_that_is_changed_is_found() {
    let project = Project::open();
    let mut count = 0;
    for piece in split(&project.built) {
        let text = piece.text(&project.built);
        let tree = Tree::parse(text).unwrap();
        for (_, node) in tree.nodes() {
            let Some(new) = other_scalar(node, text) else { continue };
            let start = piece.range.start;
            project.is_found_out(start + node.span.start..start + node.span.end, &new);
            count += 1;
        }
    }
    assert!(count > 150, "only {count} scalars");
}

/// Another scalar, or another key, for one that is there.
fn other_scalar(node: &Node, text: &str) -> Option<String> {
    let Kind::Scalar { style, .. } = &node.kind else { return None };
    let there = &text[node.span.clone()];
    Some(if style.is_block() { there.replacen("true", "false", 1) } else { "\"tampered with\"".to_owned() })
}

#[test]
fn every_line_that_is_laid_out_otherwise_is_found() {
    let project = Project::open();
    let touches = project.touches();
    let (base, _) = project.subject.plan.unpatched();
    let mut at = 0;
    for line in project.built.split_inclusive('\n') {
        let end = at + line.trim_end().len();
        let departs = touches.iter().flat_map(|touch| &touch.after).any(|lines| lines.contains(&at));
        let inside = touches.iter().flat_map(|touch| &touch.after).any(|lines| lines.start < at && at < lines.end);
        // Beside a departure in a text, a comma may come and the text's header may be another.
        let is_beside = line.trim_end().ends_with('|') || !base.contains(line);
        if !departs && !is_beside {
            project.is_found_out(end..end, " ");
            project.is_found_out(end..end, " # said besides");
        }
        if !inside && !is_beside {
            project.is_found_out(at..at, "# said besides\n");
            project.is_found_out(at..at, "\n");
        }
        at += line.len();
    }
}

#[test]
fn an_embedded_text_that_is_laid_out_otherwise_is_found() {
    let project = Project::open();
    for (old, new) in [("\"auto\",", "\"auto\" ,"), ("    }\n", "   }\n"), ("\"logLevel\":", "\"logLevel\" :")] {
        let at = project.built.find(old).unwrap();
        project.is_found_out(at..at + old.len(), new);
    }
}

#[test]
fn every_line_that_is_gone_is_found() {
    let project = Project::open();
    let mut at = 0;
    for line in project.built.split_inclusive('\n') {
        project.is_found_out(at..at + line.len(), "");
        at += line.len();
    }
}
