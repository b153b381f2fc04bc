//! Runs the folders under `tests/cases`: each a project, commands, and exactly what they print. The format is told in
//! `tests/cases/README.md`.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may lay out files, and fail")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use overlay::diag::visible::visible;
use similar::TextDiff;

#[path = "support/answers.rs"]
mod answers;
#[path = "support/case.rs"]
mod case;

use answers::{HOST, Server};
use case::{Case, Run, case_folders, files, lay_out, name, tell_host};

#[test]
fn every_case_prints_and_ends_as_recorded() {
    let wanted = std::env::var("CASE").unwrap_or_default();
    let folders: Vec<_> = case_folders().into_iter().filter(|f| name(f).starts_with(&wanted)).collect();
    assert!(!folders.is_empty(), "no case begins with {wanted:?}");
    let overwrite = std::env::var_os("OVERWRITE").is_some();
    let complaints: String = folders.iter().map(|folder| check(folder, overwrite)).collect();
    assert!(complaints.is_empty(), "{complaints}\nOVERWRITE=1 records what is printed.");
}

/// What is wrong with a case; empty when nothing is.
fn check(folder: &Path, overwrite: bool) -> String {
    let case = Case::read(folder);
    let server = (!case.answer.is_empty()).then(|| Server::start(case.answer));
    let host = server.as_ref().map_or(HOST, |server| server.host.as_str());
    let project = lay_out(folder, &case.remove);
    tell_host(project.path(), host);
    let mut complaints = String::new();
    for (number, run) in case.run.iter().enumerate().map(|(index, run)| (index + 1, run)) {
        let title = format!("{}, run {number}: overlay {}", name(folder), run.args.join(" "));
        let before = files(project.path());
        let output = execute(run, project.path(), host);
        let exit = output.status.code();
        if exit != Some(run.exit) {
            let _ = writeln!(complaints, "{title}\n  exits with {exit:?}, and {} is expected", run.exit);
        }
        let written = changed(&before, &files(project.path()));
        if written != run.writes {
            let _ = writeln!(complaints, "{title}\n  writes {written:?}, and {:?} is expected", run.writes);
        }
        for (stream, printed) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            let record = folder.join(format!("{number}.{stream}"));
            if overwrite {
                write_record(&record, printed);
            } else if let Some(difference) = difference(&fs::read(&record).unwrap_or_default(), printed) {
                let _ = writeln!(complaints, "{title}\n  {stream} is not as recorded:\n{difference}");
            }
        }
    }
    complaints
}

fn execute(run: &Run, project: &Path, host: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_overlay"))
        .args(run.args.iter().map(|argument| argument.replace(HOST, host)))
        .current_dir(project)
        .env_clear()
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its standard input may have ended by now.
    let _ = child.stdin.take().unwrap().write_all(run.stdin.as_bytes());
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    Output { status, stdout: placeless(stdout, project, host), stderr: placeless(stderr, project, host) }
}

/// What was printed, with `[ROOT]` and `[ABOVE]` for the folders whose names are other ones on every run, and the
/// server's host as the case names it.
fn placeless(printed: Vec<u8>, project: &Path, host: &str) -> Vec<u8> {
    let root = project.canonicalize().unwrap();
    match String::from_utf8(printed) {
        Ok(text) => {
            let text = text.replace(host, HOST).replace(root.to_str().unwrap(), "[ROOT]");
            text.replace(&format!("{}/", root.parent().unwrap().display()), "[ABOVE]/").into_bytes()
        }
        Err(error) => error.into_bytes(),
    }
}

/// The files that are in one of two states and not, or otherwise, in the other.
fn changed(before: &BTreeMap<PathBuf, Vec<u8>>, after: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<PathBuf> {
    let mut paths: Vec<_> = before.keys().chain(after.keys()).collect();
    paths.sort();
    paths.dedup();
    paths.into_iter().filter(|path| before.get(*path) != after.get(*path)).cloned().collect()
}

fn write_record(record: &Path, printed: &[u8]) {
    if !printed.is_empty() {
        fs::write(record, printed).unwrap();
    } else if record.exists() {
        fs::remove_file(record).unwrap();
    }
}

/// How two outputs differ, byte by byte; for the eye, line ends are written out.
fn difference(recorded: &[u8], printed: &[u8]) -> Option<String> {
    let shown = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.split_inclusive('\n').flat_map(|line| [visible(line).into_owned(), "\n".into()]).collect::<String>()
    };
    let (old, new) = (shown(recorded), shown(printed));
    (recorded != printed).then(|| TextDiff::from_lines(&old, &new).unified_diff().to_string())
}
