//! `overlay completions`: what a shell reads to complete our command lines, and the answers to what it then asks.
//!
//! The script that a shell reads asks the program itself what could come next, so that it never goes stale. The
//! questions come in the environment, as `clap_complete` has them; the variable is ours alone.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory as _, ValueEnum};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{Bash, EnvCompleter, Fish, Zsh};

use super::end::{End, Failure};
use super::{Cli, Context, new};
use crate::config::Findings;
use crate::fsio::{self, Entry};
use crate::layer::root::Root;
use crate::layer::{base, overlay};
use crate::subject::Subject;

/// The variable by which a shell asks.
const VARIABLE: &str = "OVERLAY_COMPLETE";

/// Print what a shell reads to complete command lines
///
/// Completes commands and options, the folders of overlays and bases, the names of patches and of documents.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  source <(overlay completions bash)               in ~/.bashrc
  source <(overlay completions zsh)                in ~/.zshrc, behind compinit
  overlay completions fish | source                in ~/.config/fish/config.fish")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
}

/// A shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// Bash
    Bash,
    /// Zsh
    Zsh,
    /// Fish
    Fish,
}

/// Prints the script.
pub fn run(args: &CompletionsArgs, context: &mut Context) -> Result<End, Failure> {
    let shell: &dyn EnvCompleter = match args.shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
    };
    let mut script = Vec::new();
    // Writing to memory cannot fail.
    let _: io::Result<()> = shell.write_registration(VARIABLE, "overlay", "overlay", "overlay", &mut script);
    context.terminal.product(&script)?;
    Ok(End::Clean)
}

/// Answers a shell, if it is one that runs the program. True where it was.
pub(super) fn answer(arguments: &[OsString]) -> bool {
    let current = current();
    let asked = CompleteEnv::with_factory(command).var(VARIABLE).bin("overlay");
    // A shell that asks wrongly is told nothing: it would show it in the middle of the command line.
    asked.try_complete(arguments.iter().cloned(), current.as_deref()).unwrap_or(true)
}

/// What can stand for an argument.
type Candidates = fn(&OsStr) -> Vec<CompletionCandidate>;

/// What can stand for which argument of which command.
const ARGUMENTS: [(&str, &str, Candidates); 13] = [
    ("build", "overlay", overlays),
    ("verify", "overlays", overlays),
    ("diff", "overlay", layers),
    ("diff", "other", layers),
    ("explain", "overlay", overlays),
    ("explain", "patch", patches),
    ("vendor", "bases", bases),
    ("update", "base", bases),
    ("adopt", "base", layers),
    ("adopt", "into", overlays),
    ("init", "base", bases),
    ("new patch", "overlay", overlays),
    ("new patch", "target", targets),
];

/// The program's command line, with what can stand for its arguments.
fn command() -> Command {
    ARGUMENTS.into_iter().fold(Cli::command(), |program, (command, argument, candidates)| {
        let completed =
            |command: Command| command.mut_arg(argument, |argument| argument.add(ArgValueCompleter::new(candidates)));
        match command.split_once(' ') {
            Some((above, command)) => program.mut_subcommand(above, |above| above.mut_subcommand(command, completed)),
            None => program.mut_subcommand(command, completed),
        }
    })
}

/// The folders of overlays below the current folder.
fn overlays(typed: &OsStr) -> Vec<CompletionCandidate> {
    folders(typed, &[overlay::FILE_NAME])
}

/// The folders of bases below the current folder.
fn bases(typed: &OsStr) -> Vec<CompletionCandidate> {
    folders(typed, &[base::FILE_NAME])
}

/// The folders of bases and overlays below the current folder.
fn layers(typed: &OsStr) -> Vec<CompletionCandidate> {
    folders(typed, &[base::FILE_NAME, overlay::FILE_NAME])
}

/// The names of the patches of the overlay that the command line names.
fn patches(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(subject) = subject() else { return Vec::new() };
    let patches = subject.plan.patches.iter().map(|scoped| {
        let summary = scoped.patch.summary.as_ref().map(|summary| summary.value.clone().into());
        CompletionCandidate::new(scoped.patch.name.value.clone()).help(summary)
    });
    starting_with(typed, patches)
}

/// The documents of the overlay that the command line names, as `--target` takes them.
fn targets(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(subject) = subject() else { return Vec::new() };
    let short = new::targets(&subject.plan)
        .into_iter()
        .map(|identity| CompletionCandidate::new(new::short_name(&identity)).help(Some(identity.namespace.into())));
    starting_with(typed, short)
}

fn starting_with(typed: &OsStr, candidates: impl Iterator<Item = CompletionCandidate>) -> Vec<CompletionCandidate> {
    let typed = typed.as_encoded_bytes();
    candidates.filter(|c| c.get_value().as_encoded_bytes().starts_with(typed)).collect()
}

fn folders(typed: &OsStr, names: &[&str]) -> Vec<CompletionCandidate> {
    let Some(current) = current() else { return Vec::new() };
    let mut found: Vec<PathBuf> = Vec::new();
    for name in names {
        found.extend(fsio::find(&current, name).unwrap_or_default());
    }
    found.sort_unstable();
    let shown = found.iter().filter_map(|folder| folder.strip_prefix(&current).ok());
    let visible = shown.map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    starting_with(typed, visible.map(CompletionCandidate::new))
}

/// The overlay in the first folder that the command line names, or in the current one.
fn subject() -> Option<Subject> {
    let current = current()?;
    let has_overlay = |word: &OsString| {
        fsio::entry(&current.join(word).join(overlay::FILE_NAME)).is_ok_and(|entry| entry != Entry::Missing)
    };
    let folder = std::env::args_os().skip(1).find(has_overlay).unwrap_or_else(|| ".".into());
    let root = Root::find(Path::new(&folder), None, &current).ok()?;
    Subject::open(&root, Path::new(&folder), &mut Findings::new())
}

#[allow(clippy::disallowed_methods, reason = "here the edge finds out where it is")]
fn current() -> Option<PathBuf> {
    std::env::current_dir().ok()
}
