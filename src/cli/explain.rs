//! `overlay explain`: the departures of an overlay, and their reasons.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::end::{End, Failure};
use super::over::Over;
use super::{Context, verify};
use crate::diag::{self, nearest};
use crate::layer::root::Root;
use crate::report::{self, Report};

/// Tell what an overlay changes, where, and why
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  overlay explain overlays/lab                     every patch
  overlay explain overlays/lab bindir              one patch
  overlay explain overlays/lab --format markdown   for a README or a pull request")]
pub struct ExplainArgs {
    /// The overlay's folder
    #[arg(default_value = ".", value_name = "DIR")]
    pub overlay: PathBuf,
    /// Only this patch, by its name
    pub patch: Option<String>,
    /// The form of the text
    #[arg(long, value_enum, default_value_t)]
    pub format: ExplainFormat,
}

/// A form of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ExplainFormat {
    /// For a terminal
    #[default]
    Text,
    /// For a README
    Markdown,
}

/// Prints the departures. What is wrong goes to standard error; what could be found out is printed all the same.
pub fn run(args: &ExplainArgs, context: &mut Context) -> Result<End, Failure> {
    let current = context.current()?;
    let root = Root::find(&args.overlay, context.root.as_deref(), &current)?;
    let verified = verify::verify(root, &args.overlay, &Over::default(), context.today());
    let is_open = verified.subject.is_some();
    let mut overlay = verified.report;
    let findings = std::mem::take(&mut overlay.findings);
    let mut wrong: Vec<_> = findings.into_iter().filter(crate::diag::Diagnostic::is_error).collect();
    diag::sort(&mut wrong);
    context.terminal.findings(&wrong);
    if !is_open {
        return Ok(End::of(&wrong, false));
    }
    if let Some(name) = &args.patch {
        let names: Vec<String> = overlay.patches.iter().map(|p| p.name.clone()).collect();
        overlay.patches.retain(|p| p.name == *name);
        // Where none could be read, that is told instead.
        if overlay.patches.is_empty() && (!names.is_empty() || wrong.is_empty()) {
            let near = nearest(name, names.iter().map(String::as_str));
            return Err(Failure::NoSuchPatch { name: name.clone(), near: near.map(str::to_owned), names });
        }
    }
    let report = Report::new(vec![overlay], false);
    let text = match args.format {
        ExplainFormat::Text => report::explain_text(&report, context.terminal.product_dress()),
        ExplainFormat::Markdown => report::explain_markdown(&report),
    };
    context.terminal.product(text.as_bytes())?;
    Ok(End::of(&wrong, false))
}
