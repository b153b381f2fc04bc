//! `overlay man`: manual pages, made of what `--help` says.

use std::io;
use std::path::PathBuf;

use clap::{Args, CommandFactory as _};
use clap_mangen::Man;

use super::end::{End, Failure};
use super::{Cli, Context};
use crate::diag::visible::visible;
use crate::fsio::{self, Write};

/// Print a manual page, or write all of them
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  overlay man | man -l -                           read the page of the program
  overlay man verify | man -l -                    read the page of a command
  overlay man --to ~/.local/share/man/man1         write all pages, where `man` finds them")]
pub struct ManArgs {
    /// The command; without one, the program
    #[arg(value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Write every page into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub to: Option<PathBuf>,
}

/// Prints or writes pages.
pub fn run(args: &ManArgs, context: &mut Context) -> Result<End, Failure> {
    let pages = pages();
    if let Some(folder) = &args.to {
        let folder = context.current()?.join(folder);
        let writes =
            pages.iter().map(|page| Write { path: folder.join(format!("{}.1", page.name)), bytes: &page.text });
        fsio::commit(&writes.collect::<Vec<_>>(), &[])?;
        let told = format!("wrote {} pages into {}\n", pages.len(), visible(&folder.to_string_lossy()));
        context.terminal.aside(&told);
        return Ok(End::Clean);
    }
    let wanted: Vec<&str> = ["overlay"].into_iter().chain(args.command.iter().map(String::as_str)).collect();
    let wanted = wanted.join("-");
    match pages.iter().find(|page| page.name == wanted) {
        Some(page) => context.terminal.product(&page.text)?,
        None => return Err(Failure::Usage("there is no such command")),
    }
    Ok(End::Clean)
}

/// A manual page.
struct Page {
    name: String,
    text: Vec<u8>,
}

/// The pages of the program and of every command.
fn pages() -> Vec<Page> {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let mut pages = Vec::new();
    let mut open = vec![program];
    while let Some(command) = open.pop() {
        open.extend(command.get_subcommands().filter(|below| !below.is_hide_set()).cloned());
        let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
        let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let mut text = Vec::new();
        // Writing to memory cannot fail.
        let man = Man::new(command.after_help(None::<&str>)).title(&name).manual("overlay").date("");
        let _: io::Result<()> = man.source(concat!("overlay ", env!("CARGO_PKG_VERSION"))).render(&mut text);
        text.extend(example_section(&examples).bytes());
        pages.push(Page { name, text });
    }
    pages
}

/// The examples line by line, as `--help` has them: a page that fills its lines would break commands apart.
fn example_section(examples: &str) -> String {
    let examples = examples.strip_prefix("Examples:\n").unwrap_or(examples);
    let line = |line: &str| {
        let line = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq").replace('`', "\\(ga");
        format!("\\&{line}\n")
    };
    format!(".SH EXAMPLES\n.nf\n{}.fi\n", examples.lines().map(line).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_a_title_line_of_its_own_and_names_the_version() {
        let version = env!("CARGO_PKG_VERSION");
        let pages = pages();
        assert!(pages.iter().any(|page| page.name == "overlay-new-patch"));
        for Page { name, text } in pages {
            let text = String::from_utf8(text).unwrap();
            let title = text.lines().find(|line| line.starts_with(".TH ")).unwrap();
            assert_eq!(title, format!(".TH {name} 1  \"overlay {version}\" overlay"));
        }
    }
}
