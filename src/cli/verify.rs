//! `overlay verify`: prove that the results differ from upstream by the patches alone.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Prove that nothing but the documented patches differs from upstream
///
/// Holds the base against its lock, builds, reads the result afresh, compares it with the base by structure, and asks
/// of each difference which patch claims it. The code that compares shares nothing with the code that applied the
/// patches. The network is not touched.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  overlay verify                                   every overlay below this folder
  overlay verify overlays/lab --strict             one, where warnings fail too
  overlay verify --format github                   annotations in a pull request
  overlay verify --format json | jq '.overlays[].patches[].name'")]
pub struct VerifyArgs {
    /// The overlays' folders; without one, every overlay below the current folder
    #[arg(value_name = "DIR")]
    pub overlays: Vec<PathBuf>,
    /// Let warnings fail too
    #[arg(long)]
    pub strict: bool,
    /// The form of the report
    #[arg(long, value_enum, default_value_t)]
    pub format: ReportFormat,
}

/// A form of the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people
    #[default]
    Text,
    /// For programs: overlay/report/v1
    Json,
    /// For code-scanning services: SARIF 2.1.0
    Sarif,
    /// For GitHub Actions: a workflow command per finding
    Github,
}
