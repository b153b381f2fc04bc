//! `overlay vendor`: take in what a base names, and lock it.

use std::path::{Path, PathBuf};

use clap::Args;

use super::Context;
use super::end::{End, Failure};
use crate::config::Findings;
use crate::diag::visible::visible;
use crate::fsio;
use crate::layer::base::{self, Base};
use crate::layer::root::Root;
use crate::layer::vendor::{self, Fetch, Fetched, FromRoot, Given, Plan, Step};

/// Take in the manifest that base.yaml names, and record its hashes in base.lock
///
/// Files change only after everything was fetched and checked, and then all of them.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  overlay vendor base/multus                       take in, check against the lock, write
  overlay vendor --check                           is every base below this folder as locked? Writes nothing
  overlay vendor base/multus --accept-layout       keep a file that was formatted anew, if it means the same
  overlay vendor base/multus --from multus.yml     take upstream's bytes from a file, without the network")]
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
    /// Take upstream's bytes from this file; for one base whose source is one file
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
}

impl VendorArgs {
    /// The bases' folders.
    fn folders(&self, current: &Path) -> Result<Vec<PathBuf>, Failure> {
        if !self.bases.is_empty() {
            return Ok(self.bases.clone());
        }
        let found = fsio::find(current, base::FILE_NAME)?;
        if found.is_empty() { Err(Failure::Usage("there is no base below the current folder")) } else { Ok(found) }
    }

    /// The bytes that `--from` hands over.
    fn given(&self, current: &Path) -> Result<Option<Given>, Failure> {
        let Some(file) = &self.from else { return Ok(None) };
        if self.bases.len() != 1 {
            return Err(Failure::Usage("--from goes with the folder of one base"));
        }
        let name = file.to_string_lossy().into_owned();
        let bytes = fsio::read(&current.join(file), fsio::MAX_FILE).map_err(|e| e.named(&name))?;
        Ok(Some(Given(Fetched { name, bytes })))
    }
}

/// Plans every base, and carries the plans out as one step when nothing is wrong with any of them.
pub fn run(args: &VendorArgs, context: &mut Context) -> Result<End, Failure> {
    let current = context.current()?;
    let given = args.given(&current)?;
    let mut findings = Findings::new();
    let mut bases = Vec::new();
    for folder in args.folders(&current)? {
        let root = Root::find(&folder, context.root.as_deref(), &current)?;
        bases.extend(plan(args, &root, &folder, given.as_ref(), &mut findings));
    }
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

/// What is to be done about the base in `folder`, with the folder's name.
fn plan(
    args: &VendorArgs,
    root: &Root,
    folder: &Path,
    given: Option<&Given>,
    findings: &mut Findings,
) -> Option<(String, Plan)> {
    let folder = match root.locate(folder) {
        Ok(folder) => folder,
        Err(error) => {
            findings.add(error.diagnose(None));
            return None;
        }
    };
    let base = Base::load(root, &folder, findings)?;
    let from_root = FromRoot(root);
    let fetch: &dyn Fetch = given.map_or(&from_root, |given| given);
    let plan = vendor::plan(root, &base, fetch, args.accept_layout, findings)?;
    Some((folder.name, plan))
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
