//! `overlay diff`: what the patches make of the base, line by line.

use std::path::PathBuf;

use clap::Args;

/// Show the result against upstream as a unified diff, each hunk under its patch's name
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  overlay diff overlays/lab                        what the overlay changes
  overlay diff overlays/lab --color always | less -R")]
pub struct DiffArgs {
    /// The overlay's folder
    #[arg(default_value = ".", value_name = "DIR")]
    pub overlay: PathBuf,
}
