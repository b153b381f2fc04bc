//! `overlay explain`: the departures of an overlay, and their reasons.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Tell what an overlay changes, where, and why
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  overlay explain overlays/lab                     every patch
  overlay explain overlays/lab bindir              one patch
  overlay explain overlays/lab --format markdown   for a README or a pull request")]
pub struct ExplainArgs {
    /// The overlay's folder
    #[arg(default_value = ".", value_name = "DIR")]
    pub overlay: PathBuf,
    /// Only this patch, by its name
    pub patch: Option<String>,
    /// The form of the text
    #[arg(long, value_enum, default_value_t)]
    pub format: ExplainFormat,
}

/// A form of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ExplainFormat {
    /// For a terminal
    #[default]
    Text,
    /// For a README
    Markdown,
}
