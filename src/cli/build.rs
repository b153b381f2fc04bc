//! `overlay build`: print the result.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Print upstream's manifest with the patches applied
///
/// Every byte outside a patched place is upstream's. Nothing is printed unless all of it could be built; otherwise
/// every patch that fails is told on standard error, and the exit code is 1. The network is not touched.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  overlay build overlays/lab                       print the result
  overlay build overlays/lab | kubectl apply -f -  apply it
  overlay build overlays/lab --annotate            with a comment at each place that a patch changed
  overlay build overlays/lab --output out/all.yaml write it, whole or not at all
  overlay build overlays/lab --split out           write a file per document")]
pub struct BuildArgs {
    /// The overlay's folder
    #[arg(default_value = ".", value_name = "DIR")]
    pub overlay: PathBuf,
    /// Name the patch in a comment at each departure, and list the patches in a header
    #[arg(long)]
    pub annotate: bool,
    /// Write to this file instead of printing, atomically
    #[arg(long, value_name = "FILE", conflicts_with = "split")]
    pub output: Option<PathBuf>,
    /// Write a file per document into this folder instead of printing
    #[arg(long, value_name = "DIR")]
    pub split: Option<PathBuf>,
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
