//! A project in a folder of its own, and the whole program run in it.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may lay out files, and fail")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A root that is gone when the test ends.
pub(crate) struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    /// A root with these files.
    pub(crate) fn new<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)>) -> Project {
        let project = Project { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(project.path(".git")).unwrap();
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    /// A root with a copy of this project's own base and overlay.
    pub(crate) fn own() -> Project {
        let project = Project::new([]);
        for folder in ["base", "overlays"] {
            project.copy_own(folder, folder);
        }
        project
    }

    /// Lays a folder of this project out at another place.
    pub(crate) fn copy_own(&self, folder: &str, to: &str) {
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &self.path(to));
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    /// The program with these arguments, ready to run in the root.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_overlay"));
        command.args(args).current_dir(self.folder.path()).env_clear();
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    /// What a run prints that has to end well.
    pub(crate) fn output(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.exit, Some(0), "{args:?}\n{}{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    /// The files below the root with their bytes, sorted.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut open = vec![self.folder.path().to_owned()];
        let mut files = Vec::new();
        while let Some(folder) = open.pop() {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() {
                    open.push(path);
                } else {
                    files.push((path.clone(), fs::read(path).unwrap()));
                }
            }
        }
        files.sort();
        files
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        let target = to.join(entry.file_name().unwrap());
        if entry.is_dir() {
            copy(&entry, &target);
        } else {
            fs::copy(&entry, &target).unwrap();
        }
    }
}

/// How a run ended, and what it printed.
pub(crate) struct Ran {
    pub(crate) exit: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Ran {
        Ran {
            exit: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
