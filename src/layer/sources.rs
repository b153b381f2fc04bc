//! The files that a result is made of, so that nothing is written over one of them.
//!
//! A file is known by its path without symbolic links, and by what it is on the disk: another spelling of its path, a
//! symbolic link and a hard link are the file itself.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::base;
use super::lock;
use super::overlay::{self, Layer};
use crate::fsio::{self, FileId};

/// A set of files, and of folders that hold nothing else.
#[derive(Debug, Default)]
pub struct Sources {
    folders: HashSet<PathBuf>,
    files: HashSet<PathBuf>,
    ids: HashSet<FileId>,
}

impl Sources {
    /// Those of a layer and of all that it stands on: files of ours, patches, resources, and whatever lies in the folder
    /// of a base.
    pub fn of(layer: &Layer) -> Sources {
        let mut sources = Sources::default();
        for layer in layer.all() {
            match layer {
                Layer::Base(open) => {
                    let base = &open.base;
                    let vendored = base.files.iter().map(|file| file.vendored.as_str());
                    for name in vendored.chain([base::FILE_NAME, lock::FILE_NAME]) {
                        sources.add(&base.folder.path.join(name));
                    }
                    sources.folders.insert(base.folder.path.clone());
                }
                Layer::Overlay(overlay, _) => {
                    sources.add(&overlay.folder.path.join(overlay::FILE_NAME));
                    overlay.patches.iter().chain(&overlay.resources).for_each(|named| sources.add(&named.file.path));
                }
                Layer::Stream(_) => {}
            }
        }
        sources
    }

    /// One more file.
    pub fn add(&mut self, file: &Path) {
        self.files.insert(resolved(file));
        self.ids.extend(fsio::file_id(file));
    }

    /// Takes in all of another set.
    pub fn join(&mut self, other: Sources) {
        self.folders.extend(other.folders);
        self.files.extend(other.files);
        self.ids.extend(other.ids);
    }

    /// Whether a file, which need not be there, is one of them.
    pub fn have(&self, file: &Path) -> bool {
        let path = resolved(file);
        self.files.contains(&path)
            || path.parent().is_some_and(|folder| self.folders.contains(folder))
            || fsio::file_id(file).is_some_and(|id| self.ids.contains(&id))
    }
}

/// A path without symbolic links; of a file that is not there, as far as its folder is.
fn resolved(file: &Path) -> PathBuf {
    let in_folder = || Some(fsio::canonical(file.parent()?).ok()?.join(file.file_name()?));
    fsio::canonical(file).ok().or_else(in_folder).unwrap_or_else(|| file.to_owned())
}
