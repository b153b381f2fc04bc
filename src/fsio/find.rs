//! Looking through folders: for names, for files of a name, for sizes. Bounded, and through no symbolic link.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::FsError;
use super::read::{Entry, canonical, entry, is_folder, read_resolved};

/// How many entries of a folder are looked at when a near name is sought.
const MAX_NAMES: usize = 4096;

/// How deeply [`find`] descends.
pub const MAX_FIND_DEPTH: usize = 64;

/// The file that names folders below its own which are passed over where folders are looked for.
pub const IGNORE: &str = ".overlayignore";

/// How large a file [`IGNORE`] may be, in bytes.
const MAX_IGNORE: u64 = 1024 * 1024;

/// The names in a folder that are text, sorted; only the first few thousand, and none where the folder cannot be
/// read. For hints.
pub fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.take(MAX_NAMES).filter_map(|e| e.ok()?.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

/// The folders at or below `top` that hold a file of that name, sorted. Symbolic links are not followed, and folders
/// whose name begins with a dot are passed over, and those that a file [`IGNORE`] names.
pub fn find(top: &Path, file_name: &str) -> Result<Vec<PathBuf>, FsError> {
    search(top, file_name).map(|search| search.found)
}

/// What a search came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// The folders that hold the file, sorted.
    pub found: Vec<PathBuf>,
    /// The folders that were passed over because a file [`IGNORE`] names them, sorted.
    pub passed_over: Vec<PathBuf>,
    /// Each file [`IGNORE`] with a line of it that names no folder, sorted.
    pub astray: Vec<(PathBuf, String)>,
    /// The folders that were not looked into as they lie deeper than [`MAX_FIND_DEPTH`], sorted.
    pub too_deep: Vec<PathBuf>,
}

/// Like [`find`], and says what was passed over.
pub fn search(top: &Path, file_name: &str) -> Result<Search, FsError> {
    let mut search = Search::default();
    let mut open = vec![(top.to_owned(), 0)];
    let mut ignored = HashSet::new();
    while let Some((folder, depth)) = open.pop() {
        if ignored.contains(&folder) {
            search.passed_over.push(folder);
            continue;
        }
        for line in ignored_in(&folder)? {
            // By components, so that `./a//b/` is a/b.
            let named = folder.join(Path::new(&line).components().collect::<PathBuf>());
            if is_folder(&named).is_ok_and(|is_folder| is_folder) {
                ignored.insert(named);
            } else {
                search.astray.push((folder.join(IGNORE), line));
            }
        }
        let entries = fs::read_dir(&folder).map_err(|e| FsError::io("list", &folder, e))?;
        for entry in entries {
            let entry = entry.map_err(|e| FsError::io("list", &folder, e))?;
            let kind = entry.file_type().map_err(|e| FsError::io("look at", &entry.path(), e))?;
            let name = entry.file_name();
            if kind.is_dir() {
                if name.as_encoded_bytes().starts_with(b".") {
                    continue;
                }
                if depth < MAX_FIND_DEPTH || ignored.contains(&entry.path()) {
                    open.push((entry.path(), depth + 1));
                } else {
                    search.too_deep.push(entry.path());
                }
            } else if name == file_name {
                search.found.push(folder.clone());
            }
        }
    }
    search.found.sort_unstable();
    search.passed_over.sort_unstable();
    search.astray.sort_unstable();
    search.too_deep.sort_unstable();
    Ok(search)
}

/// The lines of a folder's file [`IGNORE`] that name folders, relative to that folder; `#` begins a comment. A link there is
/// refused: its lines are shown where they name nothing, and they may be anyone's.
fn ignored_in(folder: &Path) -> Result<Vec<String>, FsError> {
    let path = folder.join(IGNORE);
    // Most folders have none, and to see that costs less than to resolve their path.
    if entry(&path)? == Entry::Missing {
        return Ok(Vec::new());
    }
    let bytes = match read_resolved(&canonical(folder)?.join(IGNORE), MAX_IGNORE) {
        Err(FsError::Missing { .. }) => return Ok(Vec::new()),
        read => read.map_err(|error| error.named(&path.to_string_lossy()))?,
    };
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(lines.map(str::to_owned).collect())
}

/// The sizes of the files at or below `top`, in bytes, together. For what another program is writing there meanwhile:
/// what has gone between two looks counts as nothing.
pub fn size_below(top: &Path) -> u64 {
    let mut sum: u64 = 0;
    let mut open = vec![(top.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok) {
            let Ok(meta) = entry.metadata() else { continue };
            if !meta.is_dir() {
                sum = sum.saturating_add(meta.len());
            } else if depth < MAX_FIND_DEPTH {
                open.push((entry.path(), depth + 1));
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_below_a_folder_but_not_through_links_or_in_hidden_folders() {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["b/deep", "a", ".git"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
            fs::write(dir.path().join(folder).join("base.yaml"), "").unwrap();
        }
        std::os::unix::fs::symlink("a", dir.path().join("link")).unwrap();
        fs::create_dir_all(dir.path().join("c/base.yaml")).unwrap();
        let found = find(dir.path(), "base.yaml").unwrap();
        assert_eq!(found, [dir.path().join("a"), dir.path().join("b/deep")]);
    }

    #[test]
    fn folders_too_deep_are_told_unless_they_are_hidden_or_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let deepest = dir.path().join("d/".repeat(MAX_FIND_DEPTH));
        for folder in [".git/x", "a/x", "b", "c"] {
            fs::create_dir_all(deepest.join(folder)).unwrap();
        }
        fs::write(deepest.join(IGNORE), "c\n").unwrap();
        let found = search(dir.path(), "base.yaml").unwrap();
        assert_eq!(found.too_deep, [deepest.join("a"), deepest.join("b")]);
        assert_eq!(found.passed_over, [deepest.join("c")]);
    }

    #[test]
    fn folders_that_an_ignore_file_names_are_passed_over_and_told() {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["a/x", "b/deep/x", "c"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
            fs::write(dir.path().join(folder).join("base.yaml"), "").unwrap();
        }
        fs::write(dir.path().join(IGNORE), "# broken on purpose\r\n\n./b//deep/\r\nnothing\n").unwrap();
        fs::write(dir.path().join("a").join(IGNORE), "x").unwrap();
        let found = search(dir.path(), "base.yaml").unwrap();
        assert_eq!(found.found, [dir.path().join("c")]);
        assert_eq!(found.passed_over, [dir.path().join("a/x"), dir.path().join("b/deep")]);
        assert_eq!(find(&dir.path().join("b/deep"), "base.yaml").unwrap(), [dir.path().join("b/deep/x")]);
    }
}
