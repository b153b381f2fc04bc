//! A project in a temporary folder, for tests.

use std::fs;
use std::path::{Path, PathBuf};

use super::base::Base;
use super::root::{Located, Root};
use crate::config::Findings;
use crate::diag::Diagnostic;

/// A root with files, in which the person stands.
pub(crate) struct Project {
    /// The folder above the root.
    pub(crate) dir: tempfile::TempDir,
    /// The root.
    pub(crate) root: Root,
}

impl Project {
    /// A project with these files.
    pub(crate) fn new(files: &[(&str, &str)]) -> Project {
        let dir = tempfile::tempdir().unwrap();
        let repo = dir.path().join("repo");
        fs::create_dir_all(repo.join(".git")).unwrap();
        let root = Root::find(&repo, None, &repo).unwrap();
        let project = Project { dir, root };
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    /// A path below the root.
    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn folder(&self, path: &str) -> Located {
        self.root.locate(Path::new(path)).unwrap()
    }

    /// The base in that folder, which must be free of mistakes.
    pub(crate) fn base(&self, folder: &str) -> Base {
        let mut findings = Findings::new();
        let base = Base::load(&self.root, &self.folder(folder), &mut findings);
        assert!(findings.is_empty(), "{:?}", self.told(&findings));
        base.unwrap()
    }

    /// The findings as `file:line:column code: message`, without the path of the temporary folder.
    pub(crate) fn told(&self, findings: &Findings) -> Vec<String> {
        findings.iter().map(|f| self.told_one(f)).collect()
    }

    fn told_one(&self, finding: &Diagnostic) -> String {
        let place = finding.place.as_ref().map(|p| format!("{}:{}:{} ", p.source.name, p.line(), p.column()));
        let told = format!("{}{}: {}", place.unwrap_or_default(), finding.code, finding.message);
        let machine = self.root.path().parent().unwrap().to_string_lossy().into_owned();
        told.replace(&machine, "…")
    }

    /// Every file below the root with its bytes and inode, sorted.
    pub(crate) fn files(&self) -> Vec<(String, Vec<u8>, u64)> {
        use std::os::unix::fs::MetadataExt as _;
        let mut found = Vec::new();
        let mut open = vec![self.root.path().to_owned()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    let inode = fs::metadata(&path).unwrap().ino();
                    found.push((self.root.show(&path), fs::read(&path).unwrap(), inode));
                }
            }
        }
        found.sort();
        found
    }
}
