//! `overlay vendor`: take in what a base names, and lock it.

use std::path::PathBuf;

use clap::Args;

use super::Context;
use super::end::{End, Failure};
use crate::config::Findings;
use crate::diag::visible::visible;
use crate::fsio;
use crate::layer::base::{self, Base};
use crate::layer::root::Root;
use crate::layer::vendor::{self, Fetch, Fetched, FromRoot, Given, Plan};

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

/// Plans every base, and carries the plans out as one step when nothing is wrong with any of them.
pub fn run(args: &VendorArgs, context: &mut Context) -> Result<End, Failure> {
    let current = context.current()?;
    let given = args.given(&current)?;
    let mut findings = Findings::new();
    let mut planned = Vec::new();
    for folder in args.folders(&current)? {
        let root = Root::find(&folder, context.root.as_deref(), &current)?;
        if let Some((name, plan)) = plan(args, &root, &folder, given.as_ref(), &mut findings) {
            planned.push((name, plan));
        }
    }
    context.terminal.findings(&findings.into_vec());
    todo!()
}
