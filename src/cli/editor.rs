//! The person's editor, run on one file. It is the one program that the tool starts on a person's word, and never on
//! what a file says.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use super::Context;
use super::end::Failure;
use super::new::someone_is_there;

/// What is run where the environment names no editor and someone sits at a terminal, as for git and kubectl.
const STANDARD: &str = "vi";

/// The editor: a command line for the shell, as `VISUAL` and `EDITOR` have it.
pub(super) fn program(context: &Context) -> Option<OsString> {
    let named = |name| context.variable(name).filter(|value| !value.is_empty());
    named("VISUAL").or_else(|| named("EDITOR")).or_else(|| someone_is_there().then(|| STANDARD.into()))
}

/// Runs it on a file, and waits. The shell splits the command line, so that `code --wait` is a program and its option.
#[allow(clippy::disallowed_methods, reason = "the person says which editor it is")]
pub(super) fn edit(program: &OsString, file: &Path, current: &Path) -> Result<(), Failure> {
    let mut line = program.clone();
    line.push(" \"$@\"");
    let ended = Command::new("sh").arg("-c").arg(line).arg(program).arg(file).current_dir(current).status();
    let why = match ended {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    Err(Failure::Editor { program: program.to_string_lossy().into_owned(), why })
}
