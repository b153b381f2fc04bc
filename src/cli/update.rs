//! `overlay update`: what a newer upstream means for a base and the patches on it, and the step to it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Context;
use super::end::{End, Failure};
use super::follow::{Followed, follow};
use super::network::NetworkArgs;
use super::vendor::{open_base, turn};
use crate::config::Findings;
use crate::diag::visible::visible;
use crate::layer::base;
use crate::layer::check;
use crate::layer::root::Root;
use crate::layer::vendor::{self, Accept, Plan};
use crate::report::update::{BaseUpdate, UpdateReport, update_github, update_json, update_text};
use crate::update::{self, Newer};

/// Show what a newer upstream means for a base and for every patch on it
///
/// Tells what upstream changed, document by document, and for each patch of each overlay on the base whether it applies,
/// is upstream already, replaces what upstream changed, or leads nowhere. Nothing is written without --write.
#[derive(Args, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[command(after_help = "\
Examples:
  overlay update base/multus                       what is new on the branch that base.yaml follows?
  overlay update base/multus --ref v4.3.0          what would this branch, tag or release mean?
  overlay update base/multus --ref v4.3.0 --write  go there: base.yaml, documents and lock in one
  overlay update base/multus --from new.yml --old old.yml
                                                   the new and the old upstream, from files
  overlay update --all --check --format github     in a nightly job: is there anything to do?

Exit codes: 0 no patch conflicts, 1 one does (or, with --check, there is something to do), 2 could
not run.")]
pub struct UpdateArgs {
    /// The base's folder
    #[arg(value_name = "BASE", required_unless_present = "all", conflicts_with = "all")]
    pub base: Option<PathBuf>,
    /// Every base below the current folder
    #[arg(long, conflicts_with_all = ["from", "old", "commit", "to_ref"])]
    pub all: bool,
    /// Go to this branch, tag or release instead of the one that base.yaml follows; --write has it followed from now on
    #[arg(long = "ref", value_name = "REF", conflicts_with = "commit")]
    pub to_ref: Option<String>,
    /// Go to this commit, or say that the file of --from is of it; --write puts it into base.yaml
    #[arg(long, value_name = "COMMIT", value_parser = commit_id)]
    pub commit: Option<String>,
    /// Take upstream's new bytes from this file; for a base whose source is one file
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Upstream's old bytes, to show what changed in documents that are left out
    #[arg(long, value_name = "FILE")]
    pub old: Option<PathBuf>,
    /// Write base.yaml, the documents and the lock, if no patch conflicts
    #[arg(long, conflicts_with = "check")]
    pub write: bool,
    /// Write though patches conflict
    #[arg(long, requires = "write")]
    pub accept_conflicts: bool,
    /// Exit with 1 where there is something to do
    #[arg(long)]
    pub check: bool,
    /// The form of the report
    #[arg(long, value_enum, default_value_t)]
    pub format: UpdateFormat,
    /// How to fetch
    #[command(flatten)]
    pub network: NetworkArgs,
}

/// A form of the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum UpdateFormat {
    /// For people
    #[default]
    Text,
    /// For programs: overlay/update/v1
    Json,
    /// For GitHub Actions: a workflow command for whatever is to be done
    Github,
}

/// A commit as base.yaml names it.
fn commit_id(text: &str) -> Result<String, String> {
    let is_hex = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if is_hex && matches!(text.len(), 40 | 64) {
        return Ok(text.to_owned());
    }
    Err("a commit has 40 or 64 hexadecimal digits, in lower case".to_owned())
}

impl UpdateArgs {
    fn folders(&self, context: &mut Context) -> Result<Vec<PathBuf>, Failure> {
        if let Some(base) = &self.base {
            return Ok(vec![base.clone()]);
        }
        context.folders(base::FILE_NAME, "there is no base below the current folder")
    }
}

/// Looks at every base, prints the report, and writes where that is asked for and nothing is against it.
pub fn run(args: &UpdateArgs, context: &mut Context) -> Result<End, Failure> {
    let current = context.current()?;
    let mut findings = Findings::new();
    let mut opened = Vec::new();
    for folder in args.folders(context)? {
        let root = Root::find(&folder, context.root.as_deref(), &current)?;
        let base = open_base(&root, &folder, args.write, context, &mut findings)?;
        opened.extend(base.map(|base| (root, base)));
    }
    let followed = follow(args, opened, context, &mut findings)?;
    let looked: Vec<(Followed, BaseUpdate)> =
        followed.into_iter().filter_map(|f| look(&f, &mut findings).map(|update| (f, update))).collect();
    if !args.accept_conflicts && !findings.has_errors() {
        together(&looked, &mut findings);
    }
    let bases = looked.iter().map(|(_, update)| update.clone()).collect();
    let mut end = End::of(&findings, false);
    let report = UpdateReport::new(bases, findings.into_vec());
    let text = match args.format {
        UpdateFormat::Text => update_text(&report, context.terminal.product_dress()),
        UpdateFormat::Json => update_json(&report),
        UpdateFormat::Github => update_github(&report),
    };
    // A run that could look at nothing has nothing to sum up.
    let is_empty = report.bases.is_empty() && !report.ok;
    if args.format != UpdateFormat::Text || !is_empty {
        context.terminal.product(text.as_bytes())?;
    }
    if args.format == UpdateFormat::Text {
        context.terminal.findings(&report.findings);
    }
    if args.write && end == End::Clean && (report.ok || args.accept_conflicts) && !held(&report) {
        end = write(looked.into_iter().map(|(followed, _)| followed).collect(), context)?;
    } else {
        context.terminal.aside(told(args, &report, end));
        end = end.or(!report.ok || (args.check && report.changed));
    }
    Ok(end)
}

fn look(followed: &Followed, findings: &mut Findings) -> Option<BaseUpdate> {
    let Followed { root, base, new, old, revision, .. } = followed;
    let update = update::look(root, &Newer { base, files: new, old: old.as_deref() }, findings)?;
    Some(BaseUpdate { revision: revision.clone(), ..update })
}

/// Builds overlays on several of the bases with all of them at their new upstreams, where none is in the way alone. What
/// stops them is told.
fn together(looked: &[(Followed, BaseUpdate)], findings: &mut Findings) {
    if looked.iter().any(|(_, update)| update.conflicts() > 0) {
        return;
    }
    let mut rest: Vec<&Followed> = looked.iter().filter(|(_, update)| update.differs()).map(|(f, _)| f).collect();
    while let Some(root) = rest.first().map(|followed| &followed.root) {
        let (of_root, others): (Vec<&Followed>, Vec<_>) = rest.iter().partition(|followed| followed.root == *root);
        let of_root = of_root.into_iter();
        let newer: Vec<Newer<'_>> = of_root.map(|f| Newer { base: &f.base, files: &f.new, old: None }).collect();
        if newer.len() > 1 {
            update::together(root, &newer, findings);
        }
        rest = others;
    }
}

/// Whether a base cannot be vendored from its new upstream, whatever is accepted of patches.
fn held(report: &UpdateReport) -> bool {
    report.bases.iter().any(|base| !base.kept_gone.is_empty() || !base.stops.is_empty())
}

/// What is said of a run that wrote nothing.
fn told(args: &UpdateArgs, report: &UpdateReport, end: End) -> &'static str {
    let conflicts = report.bases.iter().any(|base| base.conflicts() > 0);
    match (args.write, report.ok, report.changed) {
        (true, false, _) if held(report) && end == End::Clean => {
            "nothing was written; mend what is told of the base first, which --accept-conflicts does not pass over\n"
        }
        (true, false, _) if conflicts && end == End::Clean => {
            "nothing was written; --accept-conflicts writes all the same\n"
        }
        (true, ..) => "nothing was written\n",
        (false, true, true) if !args.check && end == End::Clean => "nothing was written; --write follows upstream\n",
        _ => "",
    }
}

/// Goes where was looked, as one step.
fn write(followed: Vec<Followed>, context: &mut Context) -> Result<End, Failure> {
    let mut findings = Findings::new();
    let _turn = turn(followed.iter().map(|f| &f.base.folder), true)?;
    let plans: Vec<Option<Plan>> = followed.into_iter().map(|f| plan(f, &mut findings)).collect();
    if let Some(plans) = plans.into_iter().collect::<Option<Vec<Plan>>>() {
        vendor::carry_out(&plans.iter().collect::<Vec<_>>())?;
        for step in plans.iter().flat_map(|plan| &plan.steps) {
            let done = if step.bytes.is_some() { "wrote" } else { "removed" };
            context.terminal.aside(&format!("{done} {} ({})\n", visible(&step.file.name), step.note));
        }
        if plans.iter().all(|plan| plan.steps.is_empty()) {
            context.terminal.aside("nothing was to be written\n");
        }
    } else {
        context.terminal.aside("nothing was written\n");
    }
    let end = End::of(&findings, false);
    context.terminal.findings(&findings.into_vec());
    Ok(end)
}

/// What brings a base to the new upstream.
fn plan(followed: Followed, findings: &mut Findings) -> Option<Plan> {
    let Followed { root, base, moved, pinned, new, .. } = followed;
    findings.keep(check::current(&root, &base.folder, &base.source))?;
    let accept = Accept { layout: false, changes: true };
    vendor::plan(&root, &moved, &new, accept, findings)?.with(pinned, &root, &moved, findings)
}
