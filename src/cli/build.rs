//! `overlay build`: print the result.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::Context;
use super::end::{End, Failure};
use super::over::OverArgs;
use super::split;
use crate::build::Stretch;
use crate::config::Findings;
use crate::diag::{self, Source};
use crate::fsio::{self, Write};
use crate::layer::documents;
use crate::layer::overlay::FILE_NAME;
use crate::layer::root::Root;
use crate::report;
use crate::subject::Subject;
use crate::verify::annotate;

/// Print upstream's manifest with the patches applied
///
/// Every byte outside a patched place is upstream's. Nothing is printed unless all of it could be built; otherwise
/// every patch that fails is told on standard error, and the exit code is 1. The network is not touched.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  overlay build overlays/lab                       print the result
  overlay build overlays/lab | kubectl apply -f -  apply it
  overlay build overlays/lab --output out.yaml     write it, whole or not at all
  overlay build overlays/lab --format json         the documents as Kubernetes reads them
  overlay build overlays/lab --annotate            and says at each departure which patch makes it
  overlay build --all --split rendered             every overlay here, for a branch that is watched
  helm template web chart | overlay build overlays/web --base -
                                                   patch what another tool renders")]
pub struct BuildArgs {
    /// The overlay's folder
    #[arg(default_value = ".", value_name = "DIR")]
    pub overlay: PathBuf,
    /// With comments: a header that lists bases and patches with their reasons, and at each departure the name of its patch
    #[arg(long, conflicts_with = "format")]
    pub annotate: bool,
    /// Write to this file instead of printing, atomically; `-` prints. No file that the result is made of is written over
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write into this folder, a file for each document; what an earlier run wrote there and nothing gives now is removed
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "format"])]
    split: Option<PathBuf>,
    /// Build every overlay below the current folder, each into a folder of its own
    #[arg(long, requires = "split", conflicts_with_all = ["overlay", "base"])]
    all: bool,
    #[command(flatten)]
    over: OverArgs,
    /// What to print: upstream's YAML with the edits in it, or the same documents as JSON
    #[arg(long, value_enum, default_value_t)]
    pub format: BuildFormat,
}

/// A form of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum BuildFormat {
    /// Upstream's bytes with the edits in them
    #[default]
    Yaml,
    /// The documents as Kubernetes reads them
    Json,
}

/// Builds, and prints or writes the result when nothing is wrong.
pub fn run(args: &BuildArgs, context: &mut Context) -> Result<End, Failure> {
    let current = context.current()?;
    if let Some(into) = &args.split {
        let folders = if args.all {
            context.folders(FILE_NAME, "there is no overlay below the current folder")?
        } else {
            vec![args.overlay.clone()]
        };
        let over = args.over.read(context)?;
        let annotated = args.annotate.then(|| context.today());
        return split::run(&split::Job { folders, apart: args.all, into, over: &over, annotated }, context);
    }
    let root = Root::find(&args.overlay, context.root.as_deref(), &current)?;
    let mut findings = Findings::new();
    let over = args.over.read(context)?;
    let subject = over.open(&root, &args.overlay, &mut findings);
    let product = subject.as_ref().and_then(|subject| product(args, subject, context, &mut findings));
    let mut findings = findings.into_vec();
    diag::sort(&mut findings);
    context.terminal.findings(&findings);
    if let (Some(product), Some(subject)) = (product, &subject) {
        match args.output.as_deref().filter(|file| *file != Path::new("-")) {
            Some(file) => {
                let path = current.join(file);
                if over.sources(&current, subject).have(&path) {
                    return Err(Failure::OverSource { path: file.to_string_lossy().into_owned() });
                }
                let whole: String = product.iter().map(Stretch::text).collect();
                fsio::commit(&[Write { path, bytes: whole.as_bytes() }], &[])?;
            }
            None => product.iter().try_for_each(|part| context.terminal.product(part.text().as_bytes()))?,
        }
    }
    // The process ends now and gives all memory back at once; thousands of documents one by one would take their time.
    std::mem::forget(subject);
    Ok(End::of(&findings, false))
}

/// What is asked for: the result itself, or what says it in another way.
fn product(args: &BuildArgs, subject: &Subject, context: &Context, findings: &mut Findings) -> Option<Vec<Stretch>> {
    let text = match args.format {
        BuildFormat::Yaml if !args.annotate => return subject.build_in_parts(findings),
        BuildFormat::Yaml => {
            let built = subject.build(findings)?;
            let overlay = super::verify::as_overlay(subject, context.today());
            annotate::annotated(&overlay, &built.text, findings)?
        }
        BuildFormat::Json => {
            let built = subject.build(findings)?;
            as_json(&args.overlay, built.text, findings)?
        }
    };
    Some(vec![Stretch::Text(text)])
}

/// The documents of a result as Kubernetes reads them, in one List.
fn as_json(overlay: &Path, text: String, findings: &mut Findings) -> Option<String> {
    let source = Source::new(format!("the result of {}", overlay.display()), text);
    let items: Vec<Value> = documents::read(&source, findings)?.into_iter().map(|d| d.value).collect();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
    Some(report::pretty(&list))
}
