//! The disk. Reads are bounded and never block, but for what a person names on the command line; writes are atomic.
//! Nothing else of the library opens, lists or writes a file (`clippy.toml` holds the others to it), and nothing here knows what a file means or which root it must lie
//! below (`layer::root`).
//!
//! A file is opened once and the handle is asked what it is, so that nothing can be swapped between check and use; a
//! FIFO or device is refused without waiting for its other end. A file is written beside its target under a passing
//! name, synced, and renamed, so that a reader sees the old bytes or the new ones. Unix is assumed: modes, links and
//! open flags are those of POSIX.
#![allow(clippy::disallowed_methods, reason = "this is the one place that touches the disk")]

mod error;
mod find;
mod journal;
mod passing;
mod read;
mod scratch;
mod write;

use std::path::Path;

pub use error::{FsError, amount};
pub use find::{IGNORE, MAX_FIND_DEPTH, Search, find, names, search, size_below};
pub use journal::{Turn, commit_recoverably, is_half_written};
pub use passing::sweep_lost;
pub use read::{Entry, FileId, MAX_FILE, canonical, entry, file_id, is_folder, read, read_named, read_resolved};
pub use scratch::{Scratch, ScratchFolder};
pub use write::{Batch, Write, commit};

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What the tests of several modules here look at.
#[cfg(test)]
mod listing {
    use super::*;
    use std::fs;

    /// Names and contents below a folder, links told from what they point at.
    pub(super) fn listing(folder: &Path) -> Vec<(String, String)> {
        names(folder)
            .into_iter()
            .map(|name| {
                let path = folder.join(&name);
                let held = match entry(&path).unwrap() {
                    Entry::File => String::from_utf8(fs::read(&path).unwrap()).unwrap(),
                    Entry::Link(to) => format!("-> {}", to.display()),
                    other => format!("{other:?}"),
                };
                (name, held)
            })
            .collect()
    }

    pub(super) fn held(name: &str, content: &str) -> (String, String) {
        (name.to_owned(), content.to_owned())
    }

    pub(super) fn write<'a>(path: &Path, bytes: &'a str) -> Write<'a> {
        Write { path: path.to_owned(), bytes: bytes.as_bytes() }
    }
}
