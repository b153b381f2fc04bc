//! Plans made of texts, without a folder: what is built from them, and what verify says of a result.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::path::Path;
use std::sync::Arc;

use overlay::config::{Date, Findings};
use overlay::diag::{Diagnostic, Source, render};
use overlay::layer::cut::Reading;
use overlay::layer::manifest;
use overlay::layer::plan::{Plan, Planned, Scoped};
use overlay::layer::root::Root;
use overlay::patch::Patch;
use overlay::subject::Subject;
use overlay::verify::overlay::{Overlay, report};
use overlay::yaml::stream;

/// An overlay that findings can be told of; what it stands on is never looked at.
pub(crate) fn any_subject() -> Subject {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("overlays/nik-debian");
    let root = Root::find(&folder, Some(root), root).unwrap();
    Subject::open(&root, &folder, &mut Findings::new()).unwrap()
}

/// The documents of several files as a plan with patches; `None` where one of the files is no manifest.
pub(crate) fn plan_of<T: AsRef<str>>(files: &[T], patches: &[&str]) -> Option<Plan> {
    let mut plan = Plan::default();
    for (file, text) in files.iter().enumerate() {
        let source = Source::new(format!("{file}/base.yaml"), text.as_ref());
        let mut identities = manifest::read(&source, &mut Findings::new())?.into_iter().map(|e| e.identity);
        for piece in stream::split(&source.text) {
            let own = piece.marker.map_or(piece.range.start, |m| m.start)..piece.range.end;
            let identity = if piece.content { identities.next().map(Arc::new) } else { None };
            plan.documents.push(Planned { file, range: piece.range, own, identity, reading: Reading::default() });
        }
        plan.files.push(source);
    }
    for patch in patches {
        let mut findings = Findings::new();
        let name = patch.lines().find_map(|line| line.strip_prefix("name: ")).unwrap_or("p");
        let patch = Patch::read(&Source::new(format!("{name}.yaml"), *patch), &mut findings);
        let patch = patch.unwrap_or_else(|| panic!("{}", told(findings.iter())));
        plan.patches.push(Scoped { patch: Arc::new(patch), scope: 0..plan.documents.len() });
    }
    Some(plan)
}

pub(crate) fn told<'d>(findings: impl Iterator<Item = &'d Diagnostic>) -> String {
    findings.map(|finding| render::full(finding, render::Dress::Plain)).collect()
}

pub(crate) fn overlay<'a>(subject: &'a Subject, plan: &'a Plan) -> Overlay<'a> {
    let today = Date::new(2026, 12, 1).unwrap();
    Overlay { folder: "o", layer: &subject.layer, plan, images: &[], today }
}

/// What verify has to object to a result.
pub(crate) fn objections(subject: &Subject, plan: &Plan, result: &str) -> Vec<Diagnostic> {
    let report = report(&overlay(subject, plan), Some(result), Findings::new());
    report.findings.into_iter().filter(Diagnostic::is_error).collect()
}
