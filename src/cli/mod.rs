//! The edge: arguments, the terminal, the environment, the current folder. Each command is one file with its arguments
//! and its run; what they share of the terminal is in `terminal`, and how a run ends in `end`. What a command does is
//! done below, by parts that know nothing of any of this.

pub mod adopt;
pub mod argocd;
pub mod build;
pub mod completions;
pub mod diff;
mod editor;
pub mod end;
pub mod explain;
mod follow;
pub mod image;
pub mod init;
pub mod krm;
pub mod man;
pub mod network;
pub mod new;
mod online;
mod over;
pub mod progress;
pub mod schema;
mod split;
pub mod terminal;
pub mod update;
pub mod vendor;
pub mod verify;

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, FromArgMatches as _, Parser, Subcommand};

use crate::config::{self, Date, Findings};
use crate::diag::secret::masked;
use crate::diag::visible::visible;
use crate::diag::{self, Diagnostic, STANDARD_INPUT, Source};
use crate::fsio::{self, FsError};
use crate::layer::overlay;
use end::{End, Failure};
use terminal::{ColorWhen, Terminal};

/// Vendor a published Kubernetes manifest, patch it losslessly, and prove that only the patches differ
#[derive(Parser, Debug)]
#[command(
    name = "overlay",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  overlay init net https://example.org/install.yaml
                                  make a base of a published manifest, and an overlay on it
  overlay new patch mtu overlays/lab --target ConfigMap/net-config
                                  edit a document, and make a patch of what you change
  overlay build overlays/lab      print upstream's manifest with the patches applied
  overlay verify                  prove of every overlay here that nothing else differs
  overlay diff overlays/lab       see each change under the name of its patch
  overlay diff base/net old.yaml  see what a copy has otherwise than upstream
  overlay explain overlays/lab    read what departs, and why
  overlay vendor base/net         take in what base.yaml names, and lock it
  overlay adopt old.yaml --base base/net --to overlays/lab
                                  derive an overlay from a copy edited by hand
  overlay update base/net         see what a newer upstream means for each patch
  overlay image r.example/app:v1  ask a registry which digest a tag has now
  overlay completions bash        complete command lines in a shell

Exit codes: 0 clean, 1 something is wrong in the content of a file, 2 could not run."
)]
pub struct Cli {
    #[command(flatten)]
    shared: Shared,
    #[command(subcommand)]
    command: Command,
}

/// What every command takes.
#[derive(Args, Debug)]
pub struct Shared {
    /// No file outside this folder is read; by default, the nearest folder above that has a .git
    #[arg(long, global = true, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// When to colour; `auto` means on a terminal, as `NO_COLOR` and `CLICOLOR_FORCE` have it
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "auto|always|never",
        hide_possible_values = true,
        default_value_t
    )]
    pub color: ColorWhen,
}

/// The commands.
#[derive(Subcommand, Debug)]
enum Command {
    Build(build::BuildArgs),
    Verify(verify::VerifyArgs),
    Diff(diff::DiffArgs),
    Explain(explain::ExplainArgs),
    Vendor(vendor::VendorArgs),
    Adopt(adopt::AdoptArgs),
    New(new::NewArgs),
    Update(update::UpdateArgs),
    Image(image::ImageArgs),
    Init(init::InitArgs),
    Schema(schema::SchemaArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    Argocd(argocd::ArgocdArgs),
    Krm(krm::KrmArgs),
}

/// What a command works with.
pub struct Context {
    /// Where it writes.
    pub terminal: Terminal<'static>,
    /// The root that was asked for.
    pub root: Option<PathBuf>,
}

impl Context {
    /// The day, in UTC.
    #[allow(clippy::disallowed_methods, reason = "here the edge asks the clock")]
    pub fn today(&self) -> Date {
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Date::of_day(since_epoch.as_secs() / (24 * 60 * 60))
    }

    /// A file that is named on the command line, which may lie anywhere and be a pipe, as of a shell's `<(…)`; `-` is
    /// standard input. What is inside `Err` is for bytes that are no text.
    pub fn input(&self, file: &Path) -> Result<Result<Arc<Source>, Box<Diagnostic>>, Failure> {
        let name = file.to_string_lossy().into_owned();
        if name == "-" {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().take(fsio::MAX_FILE + 1).read_to_end(&mut bytes);
            read.map_err(Failure::Input)?;
            if bytes.len() as u64 > fsio::MAX_FILE {
                return Err(FsError::TooLarge { path: STANDARD_INPUT.into(), limit: fsio::MAX_FILE }.into());
            }
            return Ok(config::source(STANDARD_INPUT, bytes));
        }
        let bytes = fsio::read_named(&self.current()?.join(file), fsio::MAX_FILE).map_err(|e| e.named(&name))?;
        Ok(config::source(name, bytes))
    }

    /// The folders at or below the current one that hold a file of that name, for a command that was given none; there
    /// must be one. What is passed over is told, and what should be and is not there.
    pub fn folders(&mut self, file_name: &str, none: &str) -> Result<Vec<PathBuf>, Failure> {
        let current = self.current()?;
        let search = fsio::search(&current, file_name)?;
        let shown = |path: &Path| {
            let path = path.strip_prefix(&current).unwrap_or(path).to_string_lossy();
            visible(&path).into_owned()
        };
        for folder in &search.passed_over {
            self.terminal.aside(&format!("passed over {}, which {} names\n", shown(folder), fsio::IGNORE));
        }
        for (file, line) in &search.astray {
            let told = format!("note: {} names `{}`, and there is no such folder\n", shown(file), visible(line));
            self.terminal.aside(&told);
        }
        if let [first, more @ ..] = search.too_deep.as_slice() {
            let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            self.terminal.aside(&format!(
                "note: passed over {}{more}, more than {} folders deep; name what is wanted of them\n",
                shown(first),
                fsio::MAX_FIND_DEPTH
            ));
        }
        if !search.found.is_empty() {
            return Ok(search.found);
        }
        let help = if overlay::is_kustomization(&current) {
            overlay::FROM_KUSTOMIZE
        } else {
            "`overlay init NAME SOURCE` makes a base and an overlay on it."
        };
        Err(Failure::Advice { message: none.to_owned(), help: help.to_owned() })
    }

    /// Tells findings, and how a run ends that stops at them.
    pub fn stop(&mut self, findings: Findings) -> End {
        let mut findings = findings.into_vec();
        diag::sort(&mut findings);
        self.terminal.findings(&findings);
        End::of(&findings, false)
    }

    /// A variable of the environment.
    #[allow(clippy::disallowed_methods, reason = "here the edge asks the environment")]
    pub fn variable(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }

    /// The current folder.
    #[allow(clippy::disallowed_methods, reason = "here the edge finds out where it is")]
    pub fn current(&self) -> Result<PathBuf, Failure> {
        std::env::current_dir().map_err(Failure::CurrentFolder)
    }
}

/// Runs the command that the arguments ask for, in this process.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if completions::answer(&arguments) {
        return ExitCode::SUCCESS;
    }
    let cli = match parsed(&arguments) {
        Ok(cli) => cli,
        Err(usage) => return tell_usage(&usage),
    };
    let terminal = Terminal::of_process(cli.shared.color);
    let mut context = Context { terminal, root: cli.shared.root };
    let end = run(&cli.command, &mut context).unwrap_or_else(|failure| {
        context.terminal.aside(&failure.told());
        failure.end()
    });
    end.into()
}

/// Reads the arguments. To set up all commands takes longer than some runs; of a command that is run for each overlay, its own
/// arguments are enough. Where those do not do, all are there to tell why.
fn parsed(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    parsed_alone(arguments).map_or_else(|| Cli::try_parse_from(arguments), Ok)
}

/// The arguments, where they begin with the name of such a command and are right.
fn parsed_alone(arguments: &[OsString]) -> Option<Cli> {
    let command = match arguments.get(1)?.to_str()? {
        "build" => build::BuildArgs::augment_args(clap::Command::new("build")),
        "verify" => verify::VerifyArgs::augment_args(clap::Command::new("verify")),
        _ => return None,
    };
    let program = Shared::augment_args(clap::Command::new("overlay")).subcommand(command);
    Cli::from_arg_matches(&program.try_get_matches_from(arguments).ok()?).ok()
}

fn run(command: &Command, context: &mut Context) -> Result<End, Failure> {
    match command {
        Command::Build(args) => build::run(args, context),
        Command::Verify(args) => verify::run(args, context),
        Command::Diff(args) => diff::run(args, context),
        Command::Explain(args) => explain::run(args, context),
        Command::Vendor(args) => vendor::run(args, context),
        Command::Adopt(args) => adopt::run(args, context),
        Command::New(args) => new::run(args, context),
        Command::Update(args) => update::run(args, context),
        Command::Init(args) => init::run(args, context),
        Command::Image(args) => image::run(args, context),
        Command::Schema(args) => schema::run(args, context),
        Command::Completions(args) => completions::run(args, context),
        Command::Man(args) => man::run(args, context),
        Command::Argocd(args) => argocd::run(args, context),
        Command::Krm(args) => krm::run(args, context),
    }
}

/// Prints the help that was asked for, or says what is wrong with the arguments.
fn tell_usage(usage: &clap::Error) -> ExitCode {
    // Where it cannot be written there is nobody to tell, here and below.
    if usage.use_stderr() {
        // An argument that is quoted may hold a password.
        let text = usage.render().ansi().to_string();
        let _ = anstream::stderr().write_all(masked(&text).as_bytes());
    } else {
        let _ = usage.print();
    }
    ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_command_that_is_set_up_alone_takes_what_it_takes_among_all() {
        for line in [
            "overlay build",
            "overlay build overlays/lab --output out.yaml --root .. --color never",
            "overlay build --all --split rendered",
            "overlay build --base - --format json overlays/lab",
            "overlay build help",
            "overlay verify overlays/a overlays/b --format json",
            "overlay verify --against - --live overlays/lab",
        ] {
            let alone = parsed_alone(&words(line)).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(format!("{alone:?}"), format!("{:?}", Cli::try_parse_from(words(line)).unwrap()), "{line}");
        }
    }

    #[test]
    fn what_is_wrong_with_arguments_or_asks_for_help_is_told_with_all_commands_at_hand() {
        for line in ["overlay build --help", "overlay build --nonsense", "overlay verify --version", "overlay built"] {
            assert!(parsed_alone(&words(line)).is_none(), "{line}");
            let told = parsed(&words(line)).unwrap_err().to_string();
            assert_eq!(told, Cli::try_parse_from(words(line)).unwrap_err().to_string(), "{line}");
        }
    }
}
