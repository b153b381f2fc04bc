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
use serde::Deserialize;
use similar::TextDiff;

#[path = "support/answers.rs"]
mod answers;

use answers::{Answer, HOST, Server};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// For the reader of the file.
    #[serde(rename = "about")]
    _about: String,
    #[serde(default)]
    remove: Vec<PathBuf>,
    #[serde(default)]
    answer: Vec<Answer>,
    run: Vec<Run>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    args: Vec<String>,
    exit: i32,
    #[serde(default)]
    stdin: String,
    #[serde(default)]
    writes: Vec<PathBuf>,
}

#[test]
fn every_case_prints_and_ends_as_recorded() {
    let wanted = std::env::var("CASE").unwrap_or_default();
    let folders: Vec<_> = case_folders().into_iter().filter(|f| name(f).starts_with(&wanted)).collect();
    assert!(!folders.is_empty(), "no case begins with {wanted:?}");
    let overwrite = std::env::var_os("OVERWRITE").is_some();
    let complaints: String = folders.iter().map(|folder| check(folder, overwrite)).collect();
    assert!(complaints.is_empty(), "{complaints}\nOVERWRITE=1 records what is printed.");
}

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// The folders of cases, sorted. Those that begin with `_` hold what cases share.
fn case_folders() -> Vec<PathBuf> {
    let entries = fs::read_dir(cases()).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<_> = entries.filter(|path| path.is_dir() && !name(path).starts_with('_')).collect();
    folders.sort();
    folders
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// What is wrong with a case; empty when nothing is.
fn check(folder: &Path, overwrite: bool) -> String {
    let text = fs::read_to_string(folder.join("case.toml")).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let case: Case = toml_edit::de::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
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

/// A fresh copy of the project: what cases share, and the case's own folders over it.
fn lay_out(folder: &Path, remove: &[PathBuf]) -> tempfile::TempDir {
    let project = tempfile::tempdir().unwrap();
    fs::create_dir(project.path().join(".git")).unwrap();
    copy_folders(&cases().join("_project"), project.path());
    for path in remove.iter().map(|path| project.path().join(path)) {
        if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }.unwrap();
    }
    copy_folders(folder, project.path());
    project
}

/// Copies the folders in a folder, and not the files beside them, which are about the case.
fn copy_folders(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            copy(&entry, &to.join(entry.file_name().unwrap()));
        }
    }
}

fn copy(from: &Path, to: &Path) {
    if from.is_symlink() {
        std::os::unix::fs::symlink(fs::read_link(from).unwrap(), to).unwrap();
    } else if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
            copy(&entry, &to.join(entry.file_name().unwrap()));
        }
    } else {
        fs::copy(from, to).unwrap();
    }
}

/// Puts the server's host and port in the place of the one that the case's files name.
fn tell_host(project: &Path, host: &str) {
    for (path, bytes) in files(project) {
        if let Some(text) = String::from_utf8(bytes).ok().filter(|text| text.contains(HOST) && host != HOST) {
            fs::write(project.join(path), text.replace(HOST, host)).unwrap();
        }
    }
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

/// Every file below a folder with its bytes; a symbolic link with where it leads.
fn files(top: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let shown = path.strip_prefix(top).unwrap().to_owned();
            if path.is_symlink() {
                found.insert(shown, fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes());
            } else if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(shown, fs::read(&path).unwrap());
            }
        }
    }
    found
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
