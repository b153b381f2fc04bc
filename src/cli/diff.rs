//! `overlay diff`: what an overlay makes of upstream, line by line, as data or as a page, or what is between any two
//! manifests.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::Context;
use super::end::{End, Failure};
use crate::build;
use crate::compare::Compared;
use crate::config::Findings;
use crate::diag::{self, Diagnostic, Source};
use crate::fsio;
use crate::layer::manifest;
use crate::layer::overlay as layers;
use crate::layer::plan::Plan;
use crate::layer::root::Root;
use crate::layer::shelf::Shelf;
use crate::report::comparison::{Comparison, comparison_json, comparison_text};
use crate::report::page::{PageDocument, html};
use crate::report::{self, Form, OverlayReport, Owned, Report, unified};
use crate::subject::Subject;
use crate::verify::overlay::{self, Touch};
use crate::verify::{against, changes, page};

/// Show an overlay's result against upstream, each hunk under its patch's name, or what is between any two manifests
///
/// With one folder: a unified diff of the bases and the result. With two of base, overlay and file: the documents that
/// are not the same, by structure. Documents are matched by identity and list items by key, texts that hold JSON, YAML
/// or TOML are compared inside, and the order of mapping keys means nothing.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  overlay diff overlays/lab                        what the overlay changes
  overlay diff overlays/lab --color always | less -R
  overlay diff overlays/lab --format html > lab.html
                                                   a page: each departure beside its reason
  overlay diff overlays/lab --format html --against old.yaml > old.html
                                                   and in a third column what no patch explains
  overlay diff base/net old.yaml                   what a copy has otherwise than upstream
  overlay diff overlays/lab overlays/prod          what two overlays make otherwise
  overlay diff overlays/lab --format json          what the overlay changes, for programs
  helm template x | overlay diff - overlays/lab --format json

Exit codes with two: 0 both say the same, 1 they differ, 2 they could not be compared.")]
pub struct DiffArgs {
    /// The overlay's folder; with B, the folder of a base or of an overlay, or a file
    #[arg(default_value = ".", value_name = "A")]
    pub overlay: PathBuf,
    /// What A is compared with: the folder of a base or of an overlay, or a file; `-` is standard input
    #[arg(value_name = "B")]
    pub other: Option<PathBuf>,
    /// The form of what is shown; `html` of one overlay
    #[arg(long, value_enum, default_value_t)]
    pub format: DiffFormat,
    /// Show this file in a third column of the page, and what of it no patch explains; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "other")]
    pub against: Option<PathBuf>,
    /// Leave out what a server writes into objects: status, bookkeeping, defaults that the base does not set
    #[arg(long, requires = "against")]
    pub live: bool,
    /// How many unchanged lines stand around a change
    #[arg(short = 'U', long, value_name = "N", default_value_t = report::CONTEXT, conflicts_with = "other")]
    pub unified: usize,
}

/// A form of what is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// For people
    #[default]
    Text,
    /// For programs: overlay/diff/v1
    Json,
    /// For people: one page that needs nothing but itself
    Html,
}

/// Prints how an overlay's result differs from its bases, or one manifest from another.
pub fn run(args: &DiffArgs, context: &mut Context) -> Result<End, Failure> {
    match (&args.other, args.format) {
        (Some(_), DiffFormat::Html) => Err(Failure::Usage("--format html shows one overlay")),
        (Some(other), format) => between(&args.overlay, other, format, context),
        (None, DiffFormat::Html) => page(args, context),
        (None, _) if args.against.is_some() => Err(Failure::Usage("--against goes with --format html")),
        (None, format) => patched(args, format, context),
    }
}

/// Builds, verifies, and prints all of it as a page. Where there is no result to show, the page says why. It ends as
/// `verify` does.
fn page(args: &DiffArgs, context: &mut Context) -> Result<End, Failure> {
    let current = context.current()?;
    let root = Root::find(&args.overlay, context.root.as_deref(), &current)?;
    let file = args.against.as_ref().map(|file| context.input(file)).transpose()?;
    let mut findings = Findings::new();
    let file = match file {
        None => None,
        Some(Ok(file)) => Some(file),
        Some(Err(finding)) => {
            context.terminal.findings(&[*finding]);
            return Ok(End::CouldNotRun);
        }
    };
    let Some(subject) = Subject::open(&root, &args.overlay, &mut findings) else {
        let report = Report::new(vec![super::verify::unopened(&args.overlay, findings)], false);
        return print_page(&report, &[], context);
    };
    let built = subject.build(&mut findings);
    let overlay = super::verify::as_overlay(&subject, context.today());
    let against = file.as_ref().map(|file| page::Against { file, live: args.live });
    let documents = built.as_ref().and_then(|built| page::documents(&overlay, &built.text, against));
    let text = built.as_ref().map(|built| built.text.as_str());
    let report = match against {
        Some(against) => against::report(&overlay, against.file, against.live, findings),
        None => overlay::report(&overlay, text, findings),
    };
    let report = OverlayReport { unbuilt: documents.is_none(), ..report };
    print_page(&Report::new(vec![report], false), &documents.unwrap_or_default(), context)
}

fn print_page(report: &Report, documents: &[PageDocument], context: &mut Context) -> Result<End, Failure> {
    for overlay in &report.overlays {
        context.terminal.product(html(overlay, documents).as_bytes())?;
    }
    Ok(End::of(report.overlays.iter().flat_map(|overlay| &overlay.findings), false))
}

/// Builds, and prints how the result differs from what upstream has.
fn patched(args: &DiffArgs, format: DiffFormat, context: &mut Context) -> Result<End, Failure> {
    let current = context.current()?;
    let root = Root::find(&args.overlay, context.root.as_deref(), &current)?;
    let mut findings = Findings::new();
    let subject = Subject::open(&root, &args.overlay, &mut findings);
    let built = subject.as_ref().and_then(|s| s.build(&mut findings));
    let mut findings = findings.into_vec();
    diag::sort(&mut findings);
    context.terminal.findings(&findings);
    if let (Some(subject), Some(built)) = (subject, built) {
        let overlay = super::verify::as_overlay(&subject, context.today());
        let names = upstream_names(&subject.plan);
        let text = if format == DiffFormat::Json {
            let documents = changes::documents(&overlay, &built.text).unwrap_or_default();
            comparison_json(&Comparison::new(names, &*subject.folder.name, documents))
        } else {
            let touches = overlay::touches(&overlay, &built.text).unwrap_or_default();
            let owned: Vec<Owned<'_>> = touches.iter().map(Touch::owned).collect();
            let form = Form { context: args.unified, dress: context.terminal.product_dress() };
            unified((&names, &subject.folder.name), &subject.plan.upstream().0, &built.text, &owned, form)
        };
        context.terminal.product(text.as_bytes())?;
    }
    Ok(End::of(&findings, false))
}

/// The files of the bases.
fn upstream_names(plan: &Plan) -> String {
    let files = plan.files.iter().enumerate().filter(|(number, _)| !plan.resources.contains(number));
    files.map(|(_, file)| file.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Prints what is between two manifests. As with `diff`, that they differ is no mistake, and what keeps them from being
/// compared is one.
fn between(before: &Path, after: &Path, format: DiffFormat, context: &mut Context) -> Result<End, Failure> {
    if before == Path::new("-") && after == before {
        return Err(Failure::Usage("standard input cannot be both sides"));
    }
    let mut findings = Findings::new();
    let before = side(before, context, &mut findings)?;
    let after = side(after, context, &mut findings)?;
    let read = before.zip(after).and_then(|(before, after)| {
        let entries =
            (manifest::read_resources(&before, &mut findings), manifest::read_resources(&after, &mut findings));
        let (old, new) = entries.0.zip(entries.1)?;
        Some((before, manifest::flatten(old), after, manifest::flatten(new)))
    });
    let mut findings: Vec<_> = findings.into_vec().into_iter().filter(Diagnostic::is_error).collect();
    diag::sort(&mut findings);
    context.terminal.findings(&findings);
    let Some((before, old, after, new)) = read.filter(|_| findings.is_empty()) else { return Ok(End::CouldNotRun) };
    let documents = Compared::new(&old, &new).documents();
    let comparison = Comparison::new(&*before.name, &*after.name, documents);
    let text = match format {
        DiffFormat::Json => comparison_json(&comparison),
        DiffFormat::Text | DiffFormat::Html => comparison_text(&comparison, context.terminal.product_dress()),
    };
    context.terminal.product(text.as_bytes())?;
    Ok(if comparison.equal { End::Clean } else { End::Wrong })
}

/// The text of one side: of a file, of a base's documents, or of what an overlay gives.
fn side(path: &Path, context: &Context, findings: &mut Findings) -> Result<Option<Arc<Source>>, Failure> {
    let current = context.current()?;
    let is_folder = || fsio::is_folder(&current.join(path)).map_err(|e| e.named(&path.to_string_lossy()));
    if path == Path::new("-") || !is_folder()? {
        return Ok(findings.keep(context.input(path)?));
    }
    let root = Root::find(path, context.root.as_deref(), &current)?;
    let folder = match root.locate(path) {
        Ok(folder) => folder,
        Err(error) => {
            findings.add(error.diagnose(None));
            return Ok(None);
        }
    };
    let Some(layer) = layers::load(&root, &Shelf::default(), &folder, findings) else { return Ok(None) };
    let plan = Plan::new(&root, &layer, findings);
    if plan.vendored.iter().any(Option::is_none) {
        return Ok(None);
    }
    let built = build::build(&plan, &[], findings);
    Ok(built.map(|built| Source::new(folder.name, built.text)))
}
