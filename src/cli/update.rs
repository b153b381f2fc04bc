//! `overlay update`: what a newer upstream means for a base and the patches on it, and the step to it.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::Context;
use super::end::{End, Failure};
use crate::config::Findings;
use crate::diag::visible::visible;
use crate::fetch;
use crate::fsio;
use crate::layer::base::{self, Base, Origin};
use crate::layer::pin::{self, Pin};
use crate::layer::root::Root;
use crate::layer::vendor::{self, Fetched, Plan};
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
  overlay update base/net                          a base that names a file: what does the file say now?
  overlay update base/multus --from new.yml        any base: the new upstream from a file
  overlay update base/multus --from new.yml --old old.yml
                                                   with what changed in documents that are left out
  overlay update base/multus --from new.yml --commit 95a0932350f0060cd232096876e24672a1de83fa --write
                                                   follow upstream: base.yaml, documents and lock as one step
  overlay update --all --check --format github     in a nightly job: is there anything to do?

Exit codes: 0 no patch conflicts, 1 one does (or, with --check, there is something to do), 2 could not run.")]
pub struct UpdateArgs {
    /// The base's folder
    #[arg(value_name = "BASE", required_unless_present = "all", conflicts_with = "all")]
    pub base: Option<PathBuf>,
    /// Every base below the current folder
    #[arg(long, conflicts_with_all = ["from", "old", "commit"])]
    pub all: bool,
    /// Take upstream's new bytes from this file; for a base whose source is one file
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Upstream's old bytes, to show what changed in documents that are left out
    #[arg(long, value_name = "FILE")]
    pub old: Option<PathBuf>,
    /// The commit that the new bytes are of; --write puts it into base.yaml
    #[arg(long, value_name = "COMMIT", value_parser = commit_id)]
    pub commit: Option<String>,
    /// Write the documents and the lock, if no patch conflicts
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
    fn folders(&self, current: &Path) -> Result<Vec<PathBuf>, Failure> {
        if let Some(base) = &self.base {
            return Ok(vec![base.clone()]);
        }
        let found = fsio::find(current, base::FILE_NAME)?;
        if found.is_empty() { Err(Failure::Usage("there is no base below the current folder")) } else { Ok(found) }
    }
}

/// A base, what upstream publishes now, and what that means.
struct Looked {
    root: Root,
    base: Base,
    fetched: Vec<Fetched>,
    update: BaseUpdate,
}

/// Looks at every base, prints the report, and writes where that is asked for and nothing is against it.
pub fn run(args: &UpdateArgs, context: &mut Context) -> Result<End, Failure> {
    let current = context.current()?;
    let mut findings = Findings::new();
    let mut looked = Vec::new();
    for folder in args.folders(&current)? {
        let root = Root::find(&folder, context.root.as_deref(), &current)?;
        looked.extend(look(args, root, &folder, &current, &mut findings)?);
    }
    let bases = looked.iter().map(|l| l.update.clone()).collect();
    let report = UpdateReport::new(bases, !findings.has_errors());
    let text = match args.format {
        UpdateFormat::Text => update_text(&report, context.terminal.product_dress()),
        UpdateFormat::Json => update_json(&report),
        UpdateFormat::Github => update_github(&report),
    };
    context.terminal.product(text.as_bytes())?;
    let mut end = End::of(&findings, false);
    if args.write && end == End::Clean && (report.ok || args.accept_conflicts) {
        write(args, &looked, context, &mut findings)?;
        end = End::of(&findings, false);
    } else {
        context.terminal.aside(told(args, &report, end));
        end = end.or(!report.ok || (args.check && report.changed));
    }
    context.terminal.findings(&findings.into_vec());
    Ok(end)
}

/// What is said of a run that wrote nothing.
fn told(args: &UpdateArgs, report: &UpdateReport, end: End) -> &'static str {
    let conflicts = report.bases.iter().any(|base| base.conflicts() > 0);
    match (args.write, report.ok, report.changed) {
        (true, false, _) if conflicts && end == End::Clean => {
            "nothing was written; --accept-conflicts writes all the same\n"
        }
        (true, ..) => "nothing was written\n",
        (false, true, true) if !args.check && end == End::Clean => "nothing was written; --write follows upstream\n",
        _ => "",
    }
}

/// Fetches what a base's upstream publishes now, and looks at it.
fn look(
    args: &UpdateArgs,
    root: Root,
    folder: &Path,
    current: &Path,
    findings: &mut Findings,
) -> Result<Option<Looked>, Failure> {
    let folder = match root.locate(folder) {
        Ok(folder) => folder,
        Err(error) => {
            findings.add(error.diagnose(None));
            return Ok(None);
        }
    };
    let Some(base) = Base::load(&root, &folder, findings) else { return Ok(None) };
    args.check_pin(&base)?;
    let given = args.from.as_deref().map(|file| read(current, file)).transpose()?;
    let old = args.old.as_deref().map(|file| read(current, file)).transpose()?;
    if base.files.len() != 1 && (given.is_some() || old.is_some()) {
        return Err(Failure::Usage("--from and --old go with a base whose source is one file"));
    }
    let fetched = match given {
        Some(given) => Some(vec![given]),
        None => fetch::base(None, &root, &base, fetch::UNWATCHED, findings),
    };
    let Some(fetched) = fetched else { return Ok(None) };
    let update = update::look(&root, &Newer { base: &base, files: &fetched, old: old.as_ref() }, findings);
    Ok(update.map(|update| Looked { root, base, fetched, update }))
}

impl UpdateArgs {
    /// Whether what is pinned in base.yaml can be moved along, where that is asked for.
    fn check_pin(&self, base: &Base) -> Result<(), Failure> {
        let has_commit = matches!(base.origin, Origin::GitHub { .. } | Origin::Git { .. });
        if self.commit.is_some() && !has_commit {
            return Err(Failure::Usage("--commit goes with a base whose source is a repository"));
        }
        if !self.write {
            return Ok(());
        }
        match &base.origin {
            Origin::Release { .. } => Err(Failure::Usage(
                "a release is pinned by its name: change `release` in base.yaml, and run `overlay vendor` with --from",
            )),
            _ if has_commit && self.commit.is_none() => {
                Err(Failure::Usage("base.yaml pins a commit: name the one that the new bytes are of with --commit"))
            }
            _ => Ok(()),
        }
    }
}

fn read(current: &Path, file: &Path) -> Result<Fetched, Failure> {
    let name = file.to_string_lossy().into_owned();
    let bytes = fsio::read(&current.join(file), fsio::MAX_FILE).map_err(|e| e.named(&name))?;
    Ok(Fetched { name, bytes })
}

/// Writes what was looked at, as one step.
fn write(args: &UpdateArgs, looked: &[Looked], context: &mut Context, findings: &mut Findings) -> Result<(), Failure> {
    let plans: Vec<Option<Plan>> = looked.iter().map(|l| plan(args, l, findings)).collect();
    let Some(plans) = plans.into_iter().collect::<Option<Vec<Plan>>>() else {
        context.terminal.aside("nothing was written\n");
        return Ok(());
    };
    vendor::carry_out(&plans.iter().collect::<Vec<_>>())?;
    for step in plans.iter().flat_map(|plan| &plan.steps) {
        let done = if step.bytes.is_some() { "wrote" } else { "removed" };
        context.terminal.aside(&format!("{done} {} ({})\n", visible(&step.file.name), step.note));
    }
    if plans.iter().all(|plan| plan.steps.is_empty()) {
        context.terminal.aside("nothing was to be written\n");
    }
    Ok(())
}

/// What brings a base to the new upstream.
fn plan(args: &UpdateArgs, looked: &Looked, findings: &mut Findings) -> Option<Plan> {
    let (base, pinned) = match &args.commit {
        Some(commit) => {
            let to = Pin::Commit { commit: commit.clone(), follows: None };
            pin::pin(&looked.root, &looked.base, &to, findings)?
        }
        None => (looked.base.clone(), None),
    };
    let mut plan = vendor::plan(&looked.root, &base, &looked.fetched, false, findings)?;
    plan.steps.extend(pinned);
    Some(plan)
}
