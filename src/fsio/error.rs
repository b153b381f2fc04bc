//! What the disk can refuse, told with the path that it is about.

use std::fs::FileType;
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use super::journal::{TURN_PAUSE, TURN_TRIES};

/// Why the disk did not do what was asked. `path` is the path as it should be shown.
#[derive(Debug, thiserror::Error)]
pub enum FsError {
    /// Nothing is there.
    #[error("{path}: no such file or folder")]
    Missing {
        /// Where nothing is.
        path: String,
    },
    /// Something is there that cannot be read or replaced like a file.
    #[error("{path} is {what}, not a regular file")]
    NotRegular {
        /// The thing.
        path: String,
        /// What it is, with its article.
        what: &'static str,
    },
    /// The file is over the limit.
    #[error("{path} is larger than {}, the most that is read", amount(*limit))]
    TooLarge {
        /// The file.
        path: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// The operating system refused.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file or folder.
        path: String,
        /// Its answer.
        source: io::Error,
    },
    /// Another process has the turn on a folder, and did not give it back in time.
    #[error("{path} is in use by another run of this program, which did not end within {} seconds", (TURN_PAUSE * TURN_TRIES).as_secs())]
    InUse {
        /// The folder.
        path: String,
    },
    /// A file stands where this program notes which files it is changing, and says something else.
    #[error("{path} is not a journal of this program: {why}")]
    NoJournal {
        /// The file.
        path: String,
        /// What shows that, a clause.
        why: String,
    },
    /// Several files were to change as one, and neither the new state nor the old one could be reached.
    #[error("cannot write {path}: {source}; and {unrestored} could not be put back as it was")]
    HalfWritten {
        /// The file that could not be written.
        path: String,
        /// The operating system's answer.
        source: io::Error,
        /// A file that was written before and kept its new content.
        unrestored: String,
    },
}

impl FsError {
    /// The same error about the same file under the name that a person knows it by.
    #[must_use]
    pub fn named(mut self, name: &str) -> FsError {
        match &mut self {
            FsError::Missing { path }
            | FsError::NotRegular { path, .. }
            | FsError::TooLarge { path, .. }
            | FsError::Io { path, .. }
            | FsError::InUse { path }
            | FsError::NoJournal { path, .. }
            | FsError::HalfWritten { path, .. } => name.clone_into(path),
        }
        self
    }

    /// The same error, a file in `folder` told under the name that a person knows that folder by.
    #[must_use]
    pub fn named_in(self, folder: &Path, name: &str) -> FsError {
        let Ok(below) = Path::new(self.path()).strip_prefix(folder) else { return self };
        let shown = Path::new(name).join(below).components().collect::<PathBuf>();
        let shown = shown.to_string_lossy().into_owned();
        self.named(&shown)
    }

    fn path(&self) -> &str {
        match self {
            FsError::Missing { path }
            | FsError::NotRegular { path, .. }
            | FsError::TooLarge { path, .. }
            | FsError::Io { path, .. }
            | FsError::InUse { path }
            | FsError::NoJournal { path, .. }
            | FsError::HalfWritten { path, .. } => path,
        }
    }

    pub(super) fn io(action: &'static str, path: &Path, source: io::Error) -> FsError {
        let path = path.display().to_string();
        match source.kind() {
            io::ErrorKind::NotFound => FsError::Missing { path },
            _ => FsError::Io { action, path, source },
        }
    }
}

/// A number of bytes as a person says it: in MiB where that is exact.
pub fn amount(bytes: u64) -> String {
    match bytes >> 20 {
        mebibytes @ 1.. if bytes.is_multiple_of(1 << 20) => format!("{mebibytes} MiB"),
        _ => format!("{bytes} bytes"),
    }
}

pub(super) fn not_regular(path: &Path, what: &'static str) -> FsError {
    FsError::NotRegular { path: path.display().to_string(), what }
}

pub(super) fn kind_of(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_symlink() {
        "a symbolic link"
    } else {
        "a device"
    }
}
