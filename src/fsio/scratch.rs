//! Files for a moment, among the machine's temporary ones.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::FsError;

/// A file in a folder of its own that nobody else may enter, among the machine's temporary ones. Dropped, it is gone.
#[derive(Debug)]
pub struct Scratch {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl Scratch {
    /// A file of that name with that content.
    pub fn new(name: &str, bytes: &[u8]) -> Result<Scratch, FsError> {
        let folder = tempfile::Builder::new().prefix("overlay-").tempdir();
        let folder = folder.map_err(|e| FsError::io("make", Path::new("a temporary folder"), e))?;
        let path = folder.path().join(name);
        fs::write(&path, bytes).map_err(|e| FsError::io("write", &path, e))?;
        Ok(Scratch { folder, path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves it where it is.
    pub fn keep(self) -> PathBuf {
        let _: PathBuf = self.folder.keep();
        self.path
    }
}
