//! The folders under `tests/cases`, whose format is told in `tests/cases/README.md`: read, and laid out to be run in.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may lay out files, and fail")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::answers::{Answer, HOST};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// For the reader of the file.
    #[serde(rename = "about")]
    _about: String,
    #[serde(default)]
    pub(crate) remove: Vec<PathBuf>,
    #[serde(default)]
    pub(crate) answer: Vec<Answer>,
    pub(crate) run: Vec<Run>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    pub(crate) args: Vec<String>,
    pub(crate) exit: i32,
    #[serde(default)]
    pub(crate) stdin: String,
    #[serde(default)]
    pub(crate) writes: Vec<PathBuf>,
}

impl Case {
    /// The case of a folder.
    pub(crate) fn read(folder: &Path) -> Case {
        let text = fs::read_to_string(folder.join("case.toml")).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        toml_edit::de::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
    }
}

pub(crate) fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// The folders of cases, sorted. Those that begin with `_` hold what cases share.
pub(crate) fn case_folders() -> Vec<PathBuf> {
    let entries = fs::read_dir(cases()).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<_> = entries.filter(|path| path.is_dir() && !name(path).starts_with('_')).collect();
    folders.sort();
    folders
}

pub(crate) fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// A fresh copy of the project: what cases share, and the case's own folders over it.
pub(crate) fn lay_out(folder: &Path, remove: &[PathBuf]) -> tempfile::TempDir {
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
pub(crate) fn copy_folders(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            copy(&entry, &to.join(entry.file_name().unwrap()));
        }
    }
}

pub(crate) fn copy(from: &Path, to: &Path) {
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
pub(crate) fn tell_host(project: &Path, host: &str) {
    for (path, bytes) in files(project) {
        if let Some(text) = String::from_utf8(bytes).ok().filter(|text| text.contains(HOST) && host != HOST) {
            fs::write(project.join(path), text.replace(HOST, host)).unwrap();
        }
    }
}

/// Every file below a folder with its bytes; a symbolic link with where it leads.
pub(crate) fn files(top: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
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
