//! `overlay vendor`: take in what a base names, and lock it.

use std::path::PathBuf;

use clap::Args;

/// Take in the manifest that base.yaml names, and record its hashes in base.lock
///
/// Files change only after everything was fetched and checked, and then all of them.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  overlay vendor base/multus                       take in, check against the lock, write
  overlay vendor --check                           is every base below this folder as locked? Writes nothing
  overlay vendor base/multus --accept-layout       keep a file that was formatted anew, if it means the same")]
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
}
