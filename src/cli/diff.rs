//! `overlay diff`: what the patches make of the base, line by line.

use std::path::PathBuf;

use clap::Args;

use super::Context;
use super::end::{End, Failure};
use crate::config::Findings;
use crate::diag;
use crate::layer::root::Root;
use crate::report::{Owned, unified};
use crate::subject::Subject;
use crate::verify::overlay::{self, Overlay, Touch};

/// Show the result against upstream as a unified diff, each hunk under its patch's name
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  overlay diff overlays/lab                        what the overlay changes
  overlay diff overlays/lab --color always | less -R")]
pub struct DiffArgs {
    /// The overlay's folder
    #[arg(default_value = ".", value_name = "DIR")]
    pub overlay: PathBuf,
}

/// Builds, and prints how the result differs from the bases.
pub fn run(args: &DiffArgs, context: &mut Context) -> Result<End, Failure> {
    let current = context.current()?;
    let root = Root::find(&args.overlay, context.root.as_deref(), &current)?;
    let mut findings = Findings::new();
    let subject = Subject::open(&root, &args.overlay, &mut findings);
    let built = subject.as_ref().and_then(|s| s.build(&mut findings));
    let mut findings = findings.into_vec();
    diag::sort(&mut findings);
    context.terminal.findings(&findings);
    if let (Some(subject), Some(built)) = (subject, built) {
        let overlay = Overlay {
            folder: &subject.folder.name,
            layer: &subject.layer,
            plan: &subject.plan,
            images: &subject.images,
            today: context.today(),
        };
        let touches = overlay::touches(&overlay, &built.text).unwrap_or_default();
        let (base, _) = subject.plan.unpatched();
        let names = subject.plan.files.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", ");
        let owned: Vec<Owned<'_>> = touches.iter().map(Touch::owned).collect();
        let dress = context.terminal.product_dress();
        let text = unified((&names, &subject.folder.name), &base, &built.text, &owned, dress);
        context.terminal.product(text.as_bytes())?;
    }
    Ok(End::of(&findings, false))
}
