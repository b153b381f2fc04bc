//! `overlay vendor`: take in what a base names, and lock it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use super::Context;
use super::end::{End, Failure};
use super::network::{NetworkArgs, fetch_all};
use crate::config::Findings;
use crate::diag::Source;
use crate::diag::visible::visible;
use crate::fetch::{self, Asks, Job, Network};
use crate::fsio::{self, FsError, Turn};
use crate::layer::base::{self, Base};
use crate::layer::check;
use crate::layer::overlay;
use crate::layer::pin::{self, Pin};
use crate::layer::root::{Located, Root};
use crate::layer::vendor::{self, Accept, Fetched, Plan, Step};

/// Fetch the manifest that base.yaml names, and record its hashes in base.lock
///
/// Files change only after everything was fetched and checked, and then all of them. What is locked already must have
/// the bytes that the lock records; `overlay update` is the way to newer ones.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  overlay vendor base/multus                       fetch, check against the lock, write
  overlay vendor --check                           is every base here as locked? Writes nothing
  overlay vendor base/multus --accept-layout       keep a re-formatted file that means the same
  overlay vendor base/multus --from multus.yml     take upstream's bytes from a file
  overlay vendor --mirror https://raw.githubusercontent.com=https://mirror.example.org/raw
                                                   fetch from a mirror; locked is upstream's address")]
pub struct VendorArgs {
    /// The bases' folders; without one, every base below the current folder
    #[arg(value_name = "BASE")]
    pub bases: Vec<PathBuf>,
    /// Write nothing; exit with 1 where something would be written
    #[arg(long)]
    pub check: bool,
    /// Record vendored files whose layout differs from upstream's and whose meaning does not
    #[arg(long)]
    pub accept_layout: bool,
    /// Take in other bytes than the lock records, from an address or a file that nothing pins, without asking the patches
    #[arg(long)]
    pub accept_changes: bool,
    /// Take upstream's bytes from this file; for one base whose source is one file
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// How to fetch
    #[command(flatten)]
    pub network: NetworkArgs,
}

impl VendorArgs {
    /// The bases' folders.
    fn folders(&self, context: &mut Context) -> Result<Vec<PathBuf>, Failure> {
        if !self.bases.is_empty() {
            return Ok(self.bases.clone());
        }
        context.folders(base::FILE_NAME, "there is no base below the current folder")
    }

    /// The bytes that `--from` hands over.
    fn given(&self, current: &Path) -> Result<Option<Fetched>, Failure> {
        let Some(file) = &self.from else { return Ok(None) };
        if self.bases.len() != 1 {
            return Err(Failure::Usage("--from goes with the folder of one base"));
        }
        let name = file.to_string_lossy().into_owned();
        let bytes = fsio::read(&current.join(file), fsio::MAX_FILE).map_err(|e| e.named(&name))?;
        Ok(Some(Fetched::new(name, bytes)))
    }
}

/// A base, and the step that pins its commit where it had none.
struct Opened {
    root: Root,
    base: Base,
    pinned: Option<Step>,
    /// Its `base.yaml` as it was read.
    read: Arc<Source>,
}

/// Plans every base, and carries the plans out as one step when nothing is wrong with any of them.
pub fn run(args: &VendorArgs, context: &mut Context) -> Result<End, Failure> {
    let current = context.current()?;
    let given = args.given(&current)?;
    let mut findings = Findings::new();
    let mut opened = Vec::new();
    for folder in args.folders(context)? {
        let root = Root::find(&folder, context.root.as_deref(), &current)?;
        opened.extend(open(root, &folder, !args.check, context, &mut findings)?);
    }
    let fetched = match given {
        Some(given) => given_to(opened, &given)?,
        None => fetched(args, opened, context, &mut findings)?,
    };
    let _turn = turn(fetched.iter().map(|(o, _)| &o.base.folder), !args.check)?;
    let bases: Vec<(String, Plan)> =
        fetched.iter().filter_map(|(opened, files)| plan(args, opened, files, &mut findings)).collect();
    let findings = findings.into_vec();
    context.terminal.findings(&findings);
    let end = End::of(&findings, false);
    if end != End::Clean {
        return Ok(end);
    }
    if !args.check {
        let plans: Vec<&Plan> = bases.iter().map(|(_, plan)| plan).collect();
        vendor::carry_out(&plans)?;
    }
    for (name, plan) in &bases {
        context.terminal.aside(&told(name, plan, args.check));
    }
    let differs = bases.iter().any(|(_, plan)| !plan.steps.is_empty());
    Ok(if args.check && differs { End::Wrong } else { End::Clean })
}

fn open(
    root: Root,
    folder: &Path,
    writes: bool,
    context: &mut Context,
    findings: &mut Findings,
) -> Result<Option<Opened>, Failure> {
    let base = open_base(&root, folder, writes, context, findings)?;
    Ok(base.map(|base| Opened { root, read: Arc::clone(&base.source), base, pinned: None }))
}

/// The base in a folder. A run that `writes` first completes what was cut off there.
pub(super) fn open_base(
    root: &Root,
    folder: &Path,
    writes: bool,
    context: &mut Context,
    findings: &mut Findings,
) -> Result<Option<Base>, Failure> {
    let located = root.locate(folder).map_err(|error| Box::new(error.diagnose(None)));
    let Some(folder) = findings.keep(located) else { return Ok(None) };
    if findings.keep(overlay::expect_base(root, &folder)).is_none() {
        return Ok(None);
    }
    if writes && turn([&folder], true)?.has_recovered() {
        context.terminal.aside(&format!("completed what was cut off in {}\n", visible(&folder.name)));
    }
    Ok(Base::load(root, &folder, findings))
}

/// The turn on the folders of some bases.
pub(super) fn turn<'l>(folders: impl IntoIterator<Item = &'l Located>, writes: bool) -> Result<Turn, Failure> {
    let folders: Vec<&Located> = folders.into_iter().collect();
    let paths = folders.iter().map(|folder| &*folder.path);
    let turn = if writes { Turn::to_write(paths) } else { Turn::to_read(paths) };
    let shown = |error: FsError| folders.iter().fold(error, |error, folder| error.named_in(&folder.path, &folder.name));
    Ok(turn.map_err(shown)?)
}

/// The one base whose one file was handed over.
fn given_to(opened: Vec<Opened>, given: &Fetched) -> Result<Vec<(Opened, Vec<Fetched>)>, Failure> {
    if opened.iter().any(|opened| opened.base.files.len() != 1) {
        return Err(Failure::Usage("--from goes with a base whose source is one file"));
    }
    Ok(opened.into_iter().map(|opened| (opened, vec![given.clone()])).collect())
}

/// The bases whose files could all be fetched, all of them at once.
fn fetched(
    args: &VendorArgs,
    opened: Vec<Opened>,
    context: &Context,
    findings: &mut Findings,
) -> Result<Vec<(Opened, Vec<Fetched>)>, Failure> {
    let mut network = None;
    if opened.iter().any(|o| fetch::is_remote(&o.base)) {
        network = args.network.open(context, findings)?;
        if network.is_none() {
            return Ok(Vec::new());
        }
    }
    let opened: Vec<Opened> = opened.into_iter().filter_map(|o| pinned(o, network.as_ref(), findings)).collect();
    // A check proves what is there, and so asks for all of it.
    let asks = if args.check { Asks::Whole } else { Asks::News };
    let jobs: Vec<Job<'_>> = opened.iter().flat_map(|o| fetch::jobs(&o.root, &o.base, asks)).collect();
    let mut came = fetch_all(network.as_ref(), &jobs).into_iter();
    drop(jobs);
    let mut all = Vec::new();
    for opened in opened {
        let files = came.by_ref().take(opened.base.files.len());
        let fetched: Vec<Option<Fetched>> = files.map(|file| findings.keep(file)).collect();
        let fetched: Option<Vec<Fetched>> = fetched.into_iter().collect();
        all.extend(fetched.map(|fetched| (opened, fetched)));
    }
    Ok(all)
}

/// The base with a commit: where it names none, the one that its branch or tag has now.
fn pinned(opened: Opened, network: Option<&Network>, findings: &mut Findings) -> Option<Opened> {
    let Opened { root, base, .. } = &opened;
    let revision = base.origin.revision().filter(|revision| revision.commit.is_none());
    let (Some(follows), Some(network)) = (revision.and_then(|r| r.follows.as_ref()), network) else {
        return Some(opened);
    };
    let commit = fetch::commit_of(network, base, &follows.value, Some(base.place(follows)));
    let to = Pin::Commit { commit: findings.keep(commit)?, follows: None };
    let (base, pinned) = pin::pin(root, base, &to, findings)?;
    Some(Opened { base, pinned, ..opened })
}

/// What is to be done about a base, with its folder's name.
fn plan(args: &VendorArgs, opened: &Opened, fetched: &[Fetched], findings: &mut Findings) -> Option<(String, Plan)> {
    let Opened { root, base, pinned, read } = opened;
    findings.keep(check::current(root, &base.folder, read))?;
    let accept = Accept { layout: args.accept_layout, changes: args.accept_changes };
    let plan = vendor::plan(root, base, fetched, accept, findings)?.with(pinned.clone(), root, base, findings)?;
    Some((base.folder.name.clone(), plan))
}

/// What was done about a base, or would be, a line a step.
fn told(name: &str, plan: &Plan, check: bool) -> String {
    if plan.steps.is_empty() {
        return format!("{} is as locked\n", visible(name));
    }
    let line = |step: &Step| {
        let done = match (check, step.bytes.is_some()) {
            (true, true) => "would write",
            (true, false) => "would remove",
            (false, true) => "wrote",
            (false, false) => "removed",
        };
        format!("{done} {} ({})\n", visible(&step.file.name), step.note)
    };
    plan.steps.iter().map(line).collect()
}
