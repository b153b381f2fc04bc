//! `overlay krm`: an overlay as a function of kpt and kustomize, from standard input to standard output.

use std::path::Path;

use clap::Args;

use super::Context;
use super::end::{End, Failure};
use super::verify::as_overlay;
use crate::build::NoMatch;
use crate::config::Findings;
use crate::diag::{self, Diagnostic};
use crate::krm::{self, Config, Mistake, Request};
use crate::layer::root::Root;
use crate::report::Report;
use crate::subject::Subject;
use crate::verify::overlay;

/// Serve as a KRM function: a `ResourceList` in, the same with the patches applied and our findings out
///
/// The items stand in the place of the overlay's base. The functionConfig is an Overlay, whose paths start from the
/// current folder, or a `ConfigMap` with `overlay` (a folder), `strict` and `allow-no-match`. Where anything is wrong, the
/// items come back as they were, the results say why, and the exit code is 1.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kpt fn eval web --exec 'overlay krm' -- overlay=overlays/web
  kpt fn source web --fn-config function.yaml | overlay krm | kpt fn sink out")]
pub struct KrmArgs {}

/// Reads the list, patches its items, proves the result and prints the list.
pub fn run(_: &KrmArgs, context: &mut Context) -> Result<End, Failure> {
    let input = match context.input(Path::new("-"))? {
        Ok(input) => input,
        Err(finding) => return Err(Mistake::NoList(finding.message.clone()).into()),
    };
    let request = Request::read(&input.text)?;
    let root = Root::find(Path::new("."), context.root.as_deref(), &context.current()?)?;
    let mut findings = Findings::new();
    let subject = match &request.overlay {
        Config::Folder(folder) => Subject::open_over(&root, Path::new(folder), &input, &mut findings),
        Config::Inline(file) => Subject::of_file(&root, file, &input, &mut findings),
    };
    if subject.as_ref().is_some_and(|subject| subject.plan.files.len() > 1) {
        return Err(Mistake::Resources.into());
    }
    let no_match = if request.allow_no_match { NoMatch::Passes } else { NoMatch::Fails };
    let subject = subject.map(|subject| Subject { no_match, ..subject });
    let (result, findings) = proven(subject.as_ref(), &request, findings, context);
    let end = End::of(&findings, request.strict);
    let text = if end == End::Clean { result.ok_or(Failure::Unexplained)? } else { input.text.clone() };
    context.terminal.findings(&findings);
    let listed = krm::with_results(&text, krm::results(&findings, &request.items)).map_err(Failure::Results)?;
    context.terminal.product(listed.as_bytes())?;
    Ok(end)
}

/// The patched list, if it could be built, and everything that was found.
fn proven(
    subject: Option<&Subject>,
    request: &Request,
    mut findings: Findings,
    context: &Context,
) -> (Option<String>, Vec<Diagnostic>) {
    let Some(subject) = subject else {
        let mut findings = findings.into_vec();
        diag::sort(&mut findings);
        return (None, findings);
    };
    let built = subject.build(&mut findings).map(|built| built.text);
    let report = overlay::report(&as_overlay(subject, context.today()), built.as_deref(), findings);
    let report = Report::new(vec![report], request.strict);
    (built, report.overlays.into_iter().flat_map(|o| o.findings).collect())
}
