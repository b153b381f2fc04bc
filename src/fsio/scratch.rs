//! Files for a moment, among the machine's temporary ones.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::FsError;
use super::passing::{sweep_folders, writer_mark};

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

/// A folder that nobody else may enter, among the machine's temporary ones, for what another program writes. Dropped, it
/// is gone with all that is in it.
#[derive(Debug)]
pub struct ScratchFolder(tempfile::TempDir);

impl ScratchFolder {
    /// A folder for that use, one word. What killed processes left of that use is removed first.
    pub fn new(of: &str) -> Result<ScratchFolder, FsError> {
        ScratchFolder::below(&std::env::temp_dir(), of)
    }

    fn below(parent: &Path, of: &str) -> Result<ScratchFolder, FsError> {
        let prefix = format!("overlay-{of}-");
        let folder = tempfile::Builder::new().prefix(&format!("{prefix}{}", writer_mark())).tempdir_in(parent);
        let folder = folder.map_err(|e| FsError::io("make a folder in", parent, e))?;
        let now = fs::symlink_metadata(folder.path()).map_err(|e| FsError::io("read", folder.path(), e))?;
        sweep_folders(parent, &prefix, &now);
        Ok(ScratchFolder(folder))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn what_a_killed_process_left_goes_when_the_next_folder_is_made() {
        let parent = tempfile::tempdir().unwrap();
        let mut gone = std::process::Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        let own = writer_mark();
        let lost = own.replacen(&std::process::id().to_string(), &gone.id().to_string(), 1);
        assert_ne!(own, lost);
        for name in [format!("overlay-git-{own}x"), format!("overlay-git-{lost}x"), format!("overlay-page-{lost}x")] {
            fs::create_dir_all(parent.path().join(name).join("objects/pack")).unwrap();
        }
        fs::write(parent.path().join(format!("overlay-git-{lost}x/objects/pack/a")), "x").unwrap();
        fs::write(parent.path().join(format!("overlay-git-{lost}file")), "").unwrap();
        fs::create_dir(parent.path().join("overlay-git-12-elsewhere-x")).unwrap();
        let elsewhere = parent.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("kept"), "").unwrap();
        std::os::unix::fs::symlink(&elsewhere, parent.path().join(format!("overlay-git-{lost}link"))).unwrap();

        let folder = ScratchFolder::below(parent.path(), "git").unwrap();
        assert!(folder.path().is_dir());
        drop(folder);
        let mut left = vec![
            "elsewhere".to_owned(),
            "overlay-git-12-elsewhere-x".to_owned(),
            format!("overlay-git-{own}x"),
            format!("overlay-git-{lost}file"),
            format!("overlay-git-{lost}link"),
            format!("overlay-page-{lost}x"),
        ];
        left.sort_unstable();
        assert_eq!(crate::fsio::names(parent.path()), left);
        assert!(elsewhere.join("kept").exists());
    }
}
