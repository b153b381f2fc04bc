//! The disk. Reads are bounded and never block, but for what a person names on the command line; writes are atomic.
//! Nothing else of the library opens, lists or writes a file (`clippy.toml` holds the others to it), and nothing here knows what a file means or which root it must lie
//! below (`layer::root`).
//!
//! A file is opened once and the handle is asked what it is, so that nothing can be swapped between check and use; a
//! FIFO or device is refused without waiting for its other end. A file is written beside its target under a passing
//! name, synced, and renamed, so that a reader sees the old bytes or the new ones. Unix is assumed: modes, links and
//! open flags are those of POSIX.
#![allow(clippy::disallowed_methods, reason = "this is the one place that touches the disk")]

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{self, File, FileType, Metadata, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::fs::{CWD, FlockOperation, Mode, OFlags, flock, openat};
use rustix::process::{Pid, test_kill_process};
use tempfile::{NamedTempFile, TempPath};

/// How large a file may be, in bytes. The largest published manifests are of a few megabytes.
pub const MAX_FILE: u64 = 64 * 1024 * 1024;

/// How many entries of a folder are looked at when a near name is sought.
const MAX_NAMES: usize = 4096;

/// How deeply [`find`] descends.
const MAX_FIND_DEPTH: usize = 64;

/// The file that names folders below its own which are passed over where folders are looked for.
pub const IGNORE: &str = ".overlayignore";

/// How large a file [`IGNORE`] may be, in bytes.
const MAX_IGNORE: u64 = 1024 * 1024;

/// The mode of a new file, before the process's umask.
const NEW_FILE_MODE: u32 = 0o666;

/// How the names of files begin and end that are there in passing.
const PASSING: (&str, &str) = (".overlay-", ".tmp");

/// After how many seconds a file under a passing name is taken for one that a killed process left, where its name does
/// not show that its writer is gone.
const LEFT_BEHIND: i64 = 3600;

/// How often, and how long apart, a turn is asked for that another process has: for ten seconds in all.
const TURN_TRIES: u32 = 500;
const TURN_PAUSE: Duration = Duration::from_millis(20);

/// Up to how many files or folders are brought to the disk one by one. Of more than that, each flush waits for the disk
/// anew, and one of the whole file system is sooner done.
const FLUSHED_SINGLY: usize = 32;

/// The file that tells, while several files of a folder change, which ones.
const JOURNAL: &str = ".overlay-journal";

/// How large a journal may be, in bytes.
const MAX_JOURNAL: u64 = 4 * 1024 * 1024;

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
    #[error("{path} is larger than {limit} bytes, the most that is read")]
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
            | FsError::HalfWritten { path, .. } => name.clone_into(path),
        }
        self
    }

    fn io(action: &'static str, path: &Path, source: io::Error) -> FsError {
        let path = path.display().to_string();
        match source.kind() {
            io::ErrorKind::NotFound => FsError::Missing { path },
            _ => FsError::Io { action, path, source },
        }
    }
}

/// What stands at a path, a symbolic link not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Nothing.
    Missing,
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, and what it says.
    Link(PathBuf),
    /// A FIFO, socket or device.
    Special,
}

/// The bytes of a regular file of at most `limit` bytes. Symbolic links are followed.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, FsError> {
    read_open(path, open(path, 0)?, limit)
}

/// The bytes of what a person names on the command line: of a regular file, or of a pipe or device, which is waited for,
/// as `cat` does. At most `limit` bytes; symbolic links are followed.
pub fn read_named(path: &Path, limit: u64) -> Result<Vec<u8>, FsError> {
    let open = OpenOptions::new().read(true).custom_flags(libc::O_NOCTTY).open(path);
    let file = open.map_err(|error| open_error(path, error, libc::O_NOCTTY))?;
    let kind = file.metadata().map_err(|e| FsError::io("look at", path, e))?.file_type();
    if kind.is_fifo() || kind.is_char_device() { read_stream(path, file, limit) } else { read_open(path, file, limit) }
}

/// Whether a folder stands at `path`, symbolic links followed.
pub fn is_folder(path: &Path) -> Result<bool, FsError> {
    fs::metadata(path).map(|meta| meta.is_dir()).map_err(|e| FsError::io("look at", path, e))
}

/// Like [`read`], of a path that was resolved before: if a component of it has become a symbolic link, it is refused.
pub fn read_resolved(path: &Path, limit: u64) -> Result<Vec<u8>, FsError> {
    let file = open_without_links(path).map_err(|error| open_error(path, error, libc::O_NOFOLLOW))?;
    read_open(path, file, limit)
}

/// What stands at `path`.
pub fn entry(path: &Path) -> Result<Entry, FsError> {
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Entry::Missing);
        }
        Err(e) => return Err(FsError::io("look at", path, e)),
    };
    let kind = meta.file_type();
    Ok(if kind.is_symlink() {
        Entry::Link(fs::read_link(path).map_err(|e| FsError::io("read the link", path, e))?)
    } else if kind.is_dir() {
        Entry::Folder
    } else if kind.is_file() {
        Entry::File
    } else {
        Entry::Special
    })
}

/// `path`, absolute and without symbolic links.
pub fn canonical(path: &Path) -> Result<PathBuf, FsError> {
    fs::canonicalize(path).map_err(|e| FsError::io("resolve", path, e))
}

/// What a file is on the disk, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    device: u64,
    inode: u64,
}

/// What stands at `path`, symbolic links followed; `None` where nothing does, or where the disk does not say.
pub fn file_id(path: &Path) -> Option<FileId> {
    let meta = fs::metadata(path).ok()?;
    Some(FileId { device: meta.dev(), inode: meta.ino() })
}

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
                if depth < MAX_FIND_DEPTH && !name.as_encoded_bytes().starts_with(b".") {
                    open.push((entry.path(), depth + 1));
                }
            } else if name == file_name {
                search.found.push(folder.clone());
            }
        }
    }
    search.found.sort_unstable();
    search.passed_over.sort_unstable();
    search.astray.sort_unstable();
    Ok(search)
}

/// The lines of a folder's file [`IGNORE`] that name folders, relative to that folder; `#` begins a comment.
fn ignored_in(folder: &Path) -> Result<Vec<String>, FsError> {
    let bytes = match read(&folder.join(IGNORE), MAX_IGNORE) {
        Err(FsError::Missing { .. }) => return Ok(Vec::new()),
        read => read?,
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

/// One file to be written.
#[derive(Clone, Debug)]
pub struct Write<'a> {
    /// Where. A symbolic link is written through; folders that are missing are made.
    pub path: PathBuf,
    /// The whole content.
    pub bytes: &'a [u8],
}

/// Writes and removes files as one step: all new contents are on the disk before the first file changes its name, and
/// when anything fails, every file is as it was and nothing is left behind. A file that exists keeps its mode and,
/// where the process may set them, its owner and group.
pub fn commit(writes: &[Write<'_>], removals: &[PathBuf]) -> Result<(), FsError> {
    Batch::of(writes, removals)?.rename()
}

/// The turn on folders whose files are read, or changed, together: while one process has it to write, no other has it.
///
/// The kernel takes it back when the process ends, however that ends. Where a file system knows no locks, or the folder
/// cannot be opened, nothing is held, and two processes may get into each other's way as they would without it.
#[derive(Debug)]
pub struct Turn {
    /// Each folder, opened and locked.
    _held: Vec<File>,
    /// Whether anything was completed that had been cut off.
    recovered: bool,
}

impl Turn {
    /// The turn to read what the files of some folders say together.
    pub fn to_read<'p>(folders: impl IntoIterator<Item = &'p Path>) -> Result<Turn, FsError> {
        Ok(Turn { _held: take_turns(folders, FlockOperation::NonBlockingLockShared, TURN_TRIES)?, recovered: false })
    }

    /// The turn to change files of some folders by [`commit_recoverably`]. What was cut off there is completed.
    pub fn to_write<'p>(folders: impl IntoIterator<Item = &'p Path>) -> Result<Turn, FsError> {
        let folders: BTreeSet<&Path> = folders.into_iter().collect();
        let held = take_turns(folders.iter().copied(), FlockOperation::NonBlockingLockExclusive, TURN_TRIES)?;
        let mut recovered = false;
        for folder in folders {
            recovered |= recover(folder)?;
        }
        Ok(Turn { _held: held, recovered })
    }

    /// Whether something was completed that had been cut off.
    pub fn has_recovered(&self) -> bool {
        self.recovered
    }
}

/// Locks folders, always in the same order, so that no two processes wait for each other.
fn take_turns<'p>(
    folders: impl IntoIterator<Item = &'p Path>,
    how: FlockOperation,
    tries: u32,
) -> Result<Vec<File>, FsError> {
    let folders: BTreeSet<&Path> = folders.into_iter().collect();
    let mut held = Vec::new();
    for folder in folders {
        let opened = OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NONBLOCK).open(folder);
        let Ok(opened) = opened else { continue };
        let mut left = tries;
        while let Err(error) = flock(&opened, how) {
            match error {
                rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR if left > 0 => left -= 1,
                rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR => {
                    return Err(FsError::InUse { path: folder.display().to_string() });
                }
                _ => break,
            }
            std::thread::sleep(TURN_PAUSE);
        }
        held.push(opened);
    }
    Ok(held)
}

/// Like [`commit`], for a process that may be killed on the way and has the [`Turn`] to write. Each folder in which
/// several files change holds a journal while they do: a process that ends before the journal is there leaves that folder
/// as it was, and one that ends later leaves it to the next [`Turn`] to write.
pub fn commit_recoverably(writes: &[Write<'_>], removals: &[PathBuf]) -> Result<(), FsError> {
    // Dropped from the last to the first: a folder goes when nothing stands in it.
    let Batch { folders, staged, removals, .. } = Batch::of(writes, removals)?;
    let journals = Journals::of(&staged, &removals)?;
    rename(staged, &removals)?;
    drop(journals);
    folders.keep();
    Ok(())
}

/// What [`commit`] does, with contents that are written one by one as they become known. The files that they replace must
/// be readable. Dropped before its commit, it leaves nothing behind.
#[derive(Default)]
pub struct Batch {
    staged: Vec<Staged>,
    removals: Vec<PathBuf>,
    /// The folders that were looked through for what killed processes left.
    swept: HashSet<PathBuf>,
    // Behind the files that stand in them: fields are dropped in this order.
    folders: NewFolders,
}

impl Batch {
    fn of(writes: &[Write<'_>], removals: &[PathBuf]) -> Result<Batch, FsError> {
        let mut batch = Batch::default();
        for write in writes {
            let file = batch.stage(write)?;
            file.sync_all().map_err(|e| FsError::io("write", &write.path, e))?;
        }
        batch.removals.extend_from_slice(removals);
        Ok(batch)
    }

    /// Writes the new content of a file, under a passing name.
    pub fn write(&mut self, write: &Write<'_>) -> Result<(), FsError> {
        self.stage(write).map(drop)
    }

    fn stage(&mut self, write: &Write<'_>) -> Result<File, FsError> {
        let (staged, file) = Staged::new(write, &mut self.folders)?;
        let folder = folder_of(&staged.target);
        if let Ok(meta) = file.metadata()
            && !self.swept.contains(folder)
        {
            sweep(folder, meta.ctime());
            self.swept.insert(folder.to_owned());
        }
        self.staged.push(staged);
        Ok(file)
    }

    /// One more file that is to go.
    pub fn remove(&mut self, path: PathBuf) {
        self.removals.push(path);
    }

    /// Takes in all of another batch.
    pub fn join(&mut self, mut other: Batch) {
        self.staged.append(&mut other.staged);
        self.removals.append(&mut other.removals);
        self.swept.extend(other.swept);
        self.folders.0.append(&mut other.folders.0);
    }

    /// The files that are to change or to go.
    pub fn targets(&self) -> impl Iterator<Item = &Path> {
        self.staged.iter().map(|staged| &staged.target).chain(&self.removals).map(PathBuf::as_path)
    }

    /// Waits until all contents are on the disk, gives the files their names, and removes those that are to go.
    pub fn commit(self) -> Result<(), FsError> {
        let files: Vec<&Path> = self.staged.iter().map(|staged| &*staged.temp).collect();
        flush(&files).map_err(|(path, error)| FsError::io("write", path, error))?;
        self.rename()
    }

    fn rename(self) -> Result<(), FsError> {
        let Batch { folders, staged, removals, .. } = self;
        rename(staged, &removals)?;
        folders.keep();
        Ok(())
    }
}

/// Whether files of the folder were being changed by [`commit_recoverably`] when that was cut off.
pub fn is_half_written(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(JOURNAL)).is_ok()
}

/// Completes what was cut off in a folder, if anything was. Only the process whose turn it is may: the journal of another
/// that is at work looks the same.
fn recover(folder: &Path) -> Result<bool, FsError> {
    let path = folder.join(JOURNAL);
    let journal = match read_resolved(&path, MAX_JOURNAL) {
        Err(FsError::Missing { .. }) => return Ok(false),
        read => read?,
    };
    let steps = read_journal(&journal).ok_or_else(|| not_regular(&path, "not of this program"))?;
    let fail = |name: &str, error| FsError::io("write", &folder.join(name), error);
    for step in steps {
        match step {
            // What is no longer under its passing name has its own already.
            JournalStep::Rename(temp, name) => match fs::rename(folder.join(temp), folder.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(fail(name, error)),
                _ => {}
            },
            JournalStep::Remove(name) => match fs::remove_file(folder.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(fail(name, error)),
                _ => {}
            },
        }
    }
    let _ = flush(&[folder]);
    // What the files were before, kept for a failure that did not come.
    for name in names(folder).iter().filter(|name| is_passing_name(name)) {
        let _ = fs::remove_file(folder.join(name));
    }
    fs::remove_file(&path).map_err(|error| FsError::io("remove", &path, error))?;
    let _ = flush(&[folder]);
    Ok(true)
}

/// Gives staged files their names, and removes others; or, where one of that fails, leaves all as it was.
fn rename(staged: Vec<Staged>, removals: &[PathBuf]) -> Result<(), FsError> {
    let together = staged.len() + removals.len() > 1;
    let mut done = Vec::new();
    for Staged { target, temp } in staged {
        let step = Step::begin(&target, together).and_then(|step| {
            temp.persist(&target).map_err(|e| e.error)?;
            Ok(step)
        });
        match step {
            Ok(step) => done.push(step),
            Err(source) => return Err(undo(done, &target, source)),
        }
    }
    for target in removals {
        let step = Step::begin(target, together).and_then(|step| fs::remove_file(target).map(|()| step));
        match step {
            Ok(step) => done.push(step),
            Err(source) => return Err(undo(done, target, source)),
        }
    }
    let touched: BTreeSet<&Path> = done.iter().map(|step| folder_of(&step.target)).collect();
    // Makes the renames outlive a power cut. Some file systems cannot sync a folder, and the renames have happened by then,
    // so that an error here changes nothing.
    let _ = flush(&touched.into_iter().collect::<Vec<_>>());
    Ok(())
}

/// The journals of the folders in which several files change; gone when dropped.
struct Journals(Vec<PathBuf>);

/// A line of a journal: names in its folder.
enum JournalStep<'a> {
    Rename(&'a str, &'a str),
    Remove(&'a str),
}

impl Journals {
    fn of(staged: &[Staged], removals: &[PathBuf]) -> Result<Journals, FsError> {
        let mut texts: BTreeMap<&Path, Vec<String>> = BTreeMap::new();
        for Staged { target, temp } in staged {
            let line = format!("rename {} {}", name_of(temp), name_of(target));
            texts.entry(folder_of(target)).or_default().push(line);
        }
        for target in removals {
            texts.entry(folder_of(target)).or_default().push(format!("remove {}", name_of(target)));
        }
        let mut journals = Journals(Vec::new());
        for (folder, lines) in texts.into_iter().filter(|(_, lines)| lines.len() > 1) {
            let path = folder.join(JOURNAL);
            let text = lines.iter().fold(String::new(), |text, line| text + line + "\n");
            commit(&[Write { path: path.clone(), bytes: text.as_bytes() }], &[])?;
            journals.0.push(path);
        }
        Ok(journals)
    }
}

impl Drop for Journals {
    fn drop(&mut self) {
        for path in &self.0 {
            // The step is done, or undone; the next one to come would only do it once more.
            let _ = fs::remove_file(path);
        }
    }
}

fn name_of(path: &Path) -> std::borrow::Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

fn read_journal(bytes: &[u8]) -> Option<Vec<JournalStep<'_>>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let is_name = |name: &&str| !matches!(*name, "" | "." | "..") && !name.contains(['/', '\0']);
    text.lines()
        .map(|line| {
            let (verb, names) = line.split_once(' ')?;
            match verb {
                "rename" => {
                    let (temp, name) = names.split_once(' ')?;
                    let known = is_passing_name(temp) && is_name(&temp) && is_name(&name);
                    known.then_some(JournalStep::Rename(temp, name))
                }
                "remove" => is_name(&names).then_some(JournalStep::Remove(names)),
                _ => None,
            }
        })
        .collect()
}

fn is_passing_name(name: &str) -> bool {
    name.starts_with(PASSING.0) && name.ends_with(PASSING.1)
}

fn open(path: &Path, flags: i32) -> Result<File, FsError> {
    let flags = flags | libc::O_NONBLOCK | libc::O_NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(|error| open_error(path, error, flags))
}

fn open_error(path: &Path, error: io::Error, flags: i32) -> FsError {
    match error.raw_os_error() {
        Some(libc::ELOOP) if flags & libc::O_NOFOLLOW != 0 => not_regular(path, "a symbolic link"),
        Some(libc::ENXIO) => not_regular(path, "a socket"),
        _ => FsError::io("open", path, error),
    }
}

/// Opens a file folder by folder, each from the handle of the one before, so that nobody can put a link into the path
/// meanwhile. A link in the place of a folder is "not a directory".
fn open_without_links(path: &Path) -> io::Result<File> {
    // To pass through a folder needs no right to list it, where the system can tell the two apart.
    #[cfg(target_os = "linux")]
    let passing = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    let passing = OFlags::RDONLY;
    let passing = passing | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let last = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let mut folder = openat(CWD, ".", passing, Mode::empty())?;
    for component in folder_of(path).components() {
        folder = openat(&folder, component.as_os_str(), passing, Mode::empty())?;
    }
    Ok(File::from(openat(&folder, name, last, Mode::empty())?))
}

fn read_open(path: &Path, file: File, limit: u64) -> Result<Vec<u8>, FsError> {
    let meta = file.metadata().map_err(|e| FsError::io("look at", path, e))?;
    if !meta.is_file() {
        return Err(not_regular(path, kind_of(meta.file_type())));
    }
    if meta.len() > limit {
        return Err(FsError::TooLarge { path: path.display().to_string(), limit });
    }
    read_stream(path, file, limit)
}

fn read_stream(path: &Path, file: File, limit: u64) -> Result<Vec<u8>, FsError> {
    let expected = file.metadata().map_or(0, |meta| meta.len().min(limit));
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0));
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|e| FsError::io("read", path, e))?;
    if bytes.len() as u64 > limit {
        return Err(FsError::TooLarge { path: path.display().to_string(), limit });
    }
    Ok(bytes)
}

fn not_regular(path: &Path, what: &'static str) -> FsError {
    FsError::NotRegular { path: path.display().to_string(), what }
}

fn kind_of(kind: FileType) -> &'static str {
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

/// New content on the disk, beside the file that it will become. Dropped, it is gone.
struct Staged {
    target: PathBuf,
    // The path alone: there may be more of them than a process may hold open.
    temp: TempPath,
}

impl Staged {
    /// Writes it. What is handed back beside it is the open file, which may not be on the disk yet.
    fn new(write: &Write<'_>, folders: &mut NewFolders) -> Result<(Staged, File), FsError> {
        let (target, before) = target_of(&write.path)?;
        let fail = |e| FsError::io("write", &write.path, e);
        let folder = folder_of(&target);
        folders.make(folder).map_err(fail)?;
        let mode = before.as_ref().map_or(NEW_FILE_MODE, |b| b.permissions().mode() & 0o777);
        let mut temp = passing().permissions(Permissions::from_mode(mode)).tempfile_in(folder).map_err(fail)?;
        temp.write_all(write.bytes).map_err(fail)?;
        if let Some(before) = before {
            take_after(temp.as_file(), &before, mode).map_err(fail)?;
        }
        let (file, temp) = temp.into_parts();
        Ok((Staged { target, temp }, file))
    }
}

/// Removes what killed processes left in a folder, where that is certain: files under passing names whose writers are
/// gone, or that nobody has touched for long, by the file system's own clock, and that no journal still needs.
fn sweep(folder: &Path, now: i64) {
    let names = names(folder);
    if names.iter().any(|name| name == JOURNAL) {
        return;
    }
    for name in names.iter().filter(|name| is_passing_name(name)) {
        let path = folder.join(name);
        let is_old = |meta: &Metadata| now.saturating_sub(meta.ctime()) > LEFT_BEHIND;
        let is_left = |meta: Metadata| meta.is_file() && (is_old(&meta) || has_lost_its_writer(name));
        if fs::symlink_metadata(&path).is_ok_and(is_left) {
            // Where it cannot be removed it does no harm.
            let _ = fs::remove_file(&path);
        }
    }
}

/// Gives a new file the owner, group and mode of the one that it replaces. An owner that only a privileged process
/// could set is left.
fn take_after(file: &File, before: &Metadata, mode: u32) -> io::Result<()> {
    let now = file.metadata()?;
    if (now.uid(), now.gid()) != (before.uid(), before.gid()) {
        let owned = std::os::unix::fs::fchown(file, Some(before.uid()), Some(before.gid()));
        if let Err(error) = owned
            && error.kind() != io::ErrorKind::PermissionDenied
        {
            return Err(error);
        }
    }
    file.set_permissions(Permissions::from_mode(mode))
}

/// The file that a write to `path` replaces, and what it is now.
fn target_of(path: &Path) -> Result<(PathBuf, Option<Metadata>), FsError> {
    let meta = match fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok((path.to_owned(), None)),
        Err(e) => return Err(FsError::io("write", path, e)),
        Ok(meta) => meta,
    };
    let (target, meta) = if meta.is_symlink() {
        let target = canonical(path)?;
        let meta = fs::symlink_metadata(&target).map_err(|e| FsError::io("write", path, e))?;
        (target, meta)
    } else {
        (path.to_owned(), meta)
    };
    if meta.is_file() { Ok((target, Some(meta))) } else { Err(not_regular(path, kind_of(meta.file_type()))) }
}

/// One file that has changed, and what brings its former content back.
struct Step {
    target: PathBuf,
    before: Option<NamedTempFile<()>>,
}

impl Step {
    /// Keeps the present content of `target` under a passing name, if there may be a need to go back to it.
    fn begin(target: &Path, keep: bool) -> io::Result<Step> {
        let exists = keep && fs::symlink_metadata(target).is_ok();
        let before =
            if exists { Some(passing().make_in(folder_of(target), |p| link_or_copy(target, p))?) } else { None };
        Ok(Step { target: target.to_owned(), before })
    }

    fn undo(self) -> Result<(), PathBuf> {
        match self.before {
            Some(before) => before.persist(&self.target).map(drop).map_err(|_| self.target),
            None => fs::remove_file(&self.target).map_err(|_| self.target),
        }
    }
}

/// A second name for a file; on a file system without hard links, a copy.
fn link_or_copy(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => fs::copy(from, to).map(drop),
        linked => linked,
    }
}

fn undo(done: Vec<Step>, failed: &Path, source: io::Error) -> FsError {
    let mut unrestored = None;
    for step in done.into_iter().rev() {
        unrestored = step.undo().err().or(unrestored);
    }
    match unrestored {
        None => FsError::io("write", failed, source),
        Some(path) => {
            FsError::HalfWritten { path: failed.display().to_string(), source, unrestored: path.display().to_string() }
        }
    }
}

/// Folders that were made for files to come; gone again unless kept.
#[derive(Default)]
struct NewFolders(Vec<PathBuf>);

impl NewFolders {
    fn make(&mut self, folder: &Path) -> io::Result<()> {
        let missing: Vec<&Path> = folder.ancestors().take_while(|f| !f.as_os_str().is_empty() && !f.exists()).collect();
        for folder in missing.into_iter().rev() {
            match fs::create_dir(folder) {
                Ok(()) => self.0.push(folder.to_owned()),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        // A folder comes before those in it.
        self.0.sort_unstable();
        for folder in self.0.iter().rev() {
            // Someone else may have put a file there since; then the folder is theirs.
            let _ = fs::remove_dir(folder);
        }
    }
}

fn passing() -> tempfile::Builder<'static, 'static> {
    static PREFIX: OnceLock<String> = OnceLock::new();
    let prefix = PREFIX.get_or_init(|| format!("{}{}-{}-", PASSING.0, std::process::id(), processes()));
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(PASSING.1);
    builder
}

/// Which processes numbers of processes are of: this machine's since it was started, in this name space. A folder may be
/// shared with others. Empty where the system does not say.
fn processes() -> &'static str {
    static PROCESSES: OnceLock<String> = OnceLock::new();
    PROCESSES.get_or_init(|| {
        let boot = read(Path::new("/proc/sys/kernel/random/boot_id"), 64).unwrap_or_default();
        let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let digits = |text: &str| text.chars().filter(char::is_ascii_hexdigit).collect::<String>();
        // The link says `pid:[NUMBER]`.
        let (boot, space) =
            (digits(&String::from_utf8_lossy(&boot)), digits(space.to_string_lossy().trim_start_matches("pid")));
        if boot.is_empty() || space.is_empty() { String::new() } else { format!("{boot}.{space}") }
    })
}

/// Whether a passing name says which process writes under it, and that process is gone. One whose number another process
/// has by now is not known to be.
fn has_lost_its_writer(name: &str) -> bool {
    let mut parts = name.strip_prefix(PASSING.0).unwrap_or_default().splitn(3, '-');
    let (Some(writer), Some(of)) = (parts.next().and_then(|number| number.parse().ok()), parts.next()) else {
        return false;
    };
    let Some(writer) = Pid::from_raw(writer).filter(|_| !of.is_empty() && of == processes()) else { return false };
    test_kill_process(writer) == Err(rustix::io::Errno::SRCH)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Brings files or folders to the disk that are named already; an error comes with the one that it is about.
fn flush<'p>(paths: &[&'p Path]) -> Result<(), (&'p Path, io::Error)> {
    #[cfg(target_os = "linux")]
    if paths.len() > FLUSHED_SINGLY {
        return flush_file_systems(paths);
    }
    paths.iter().try_for_each(|path| File::open(path).and_then(|file| file.sync_all()).map_err(|error| (*path, error)))
}

/// Brings everything to the disk that is in the file systems of these files or folders.
#[cfg(target_os = "linux")]
fn flush_file_systems<'p>(paths: &[&'p Path]) -> Result<(), (&'p Path, io::Error)> {
    let mut flushed = HashSet::new();
    for path in paths {
        let mut flush = || {
            if flushed.insert(fs::symlink_metadata(path)?.dev()) {
                rustix::fs::syncfs(File::open(path)?)?;
            }
            Ok(())
        };
        flush().map_err(|error| (*path, error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Output};

    /// Names and contents below a folder, links told from what they point at.
    fn listing(folder: &Path) -> Vec<(String, String)> {
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

    fn held(name: &str, content: &str) -> (String, String) {
        (name.to_owned(), content.to_owned())
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn write<'a>(path: &Path, bytes: &'a str) -> Write<'a> {
        Write { path: path.to_owned(), bytes: bytes.as_bytes() }
    }

    #[test]
    fn what_a_killed_process_left_is_removed_after_an_hour_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let left = folder.path().join(".overlay-abc.tmp");
        for other in [".overlay-abc", "overlay-x.tmp", "a.yaml"] {
            fs::write(folder.path().join(other), "").unwrap();
        }
        fs::write(&left, "").unwrap();
        let then = fs::metadata(&left).unwrap().ctime();
        sweep(folder.path(), then + LEFT_BEHIND);
        assert!(left.exists());
        fs::write(folder.path().join(JOURNAL), "").unwrap();
        sweep(folder.path(), then + LEFT_BEHIND + 1);
        assert!(left.exists(), "a journal may need it");
        fs::remove_file(folder.path().join(JOURNAL)).unwrap();
        sweep(folder.path(), then + LEFT_BEHIND + 1);
        assert_eq!(names(folder.path()), [".overlay-abc", "a.yaml", "overlay-x.tmp"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_a_process_left_that_is_gone_is_removed_at_once_and_what_another_may_be_writing_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut gone = Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        let name = |process: u32, of: &str| format!(".overlay-{process}-{of}-x.tmp");
        let (here, own) = (processes(), std::process::id());
        assert!(!here.is_empty() && !here.contains('-'), "{here}");
        let mut left = vec![name(own, here), name(gone.id(), "elsewhere"), name(gone.id(), ""), name(0, here)];
        left.extend([".overlay-abcdef.tmp", ".overlay-1-.tmp"].map(str::to_owned));
        left.push(format!(".overlay-{}.tmp", gone.id()));
        left.sort_unstable();
        for name in left.iter().chain([&name(gone.id(), here)]) {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let now = fs::metadata(folder.path().join(&left[0])).unwrap().ctime();
        sweep(folder.path(), now);
        assert_eq!(names(folder.path()), left);
        let written = passing().tempfile_in(folder.path()).unwrap();
        let written = written.path().file_name().unwrap().to_str().unwrap();
        assert!(written.starts_with(&format!(".overlay-{own}-{here}-")) && is_passing_name(written), "{written}");
    }

    #[test]
    fn only_regular_files_are_read_and_a_fifo_does_not_block() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("socket")).unwrap();
        for (path, what) in [
            (fifo.as_path(), "a FIFO"),
            (dir.path(), "a folder"),
            (Path::new("/dev/null"), "a device"),
            (Path::new("/dev/zero"), "a device"),
            (&dir.path().join("socket"), "a socket"),
        ] {
            let error = read(path, 10).unwrap_err();
            assert_eq!(error.to_string(), format!("{} is {what}, not a regular file", path.display()));
        }
        assert!(matches!(read(&dir.path().join("none"), 10), Err(FsError::Missing { .. })));
    }

    #[test]
    fn a_file_of_the_limit_is_read_and_a_larger_one_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        let error = read(&path, 4).unwrap_err().named("f");
        assert_eq!(error.to_string(), "f is larger than 4 bytes, the most that is read");
    }

    #[test]
    fn a_file_that_claims_to_be_empty_is_still_bounded() {
        // Files of /proc say that their size is 0, and are regular.
        assert!(matches!(read(Path::new("/proc/self/maps"), 16), Err(FsError::TooLarge { limit: 16, .. })));
    }

    #[test]
    fn a_resolved_path_is_not_followed_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("f"), "x").unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("f", &link).unwrap();
        assert_eq!(read(&link, 10).unwrap(), b"x");
        let error = read_resolved(&link, 10).unwrap_err().named("link");
        assert_eq!(error.to_string(), "link is a symbolic link, not a regular file");
    }

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

    #[test]
    fn a_new_file_obeys_the_umask_and_an_old_one_keeps_its_mode() {
        let dir = tempfile::tempdir().unwrap();
        let (new, old) = (dir.path().join("new"), dir.path().join("old"));
        File::create(dir.path().join("model")).unwrap();
        fs::write(&old, "before").unwrap();
        fs::set_permissions(&old, Permissions::from_mode(0o640)).unwrap();
        commit(&[write(&new, "n"), write(&old, "o")], &[]).unwrap();
        assert_eq!(listing(dir.path()), [held("model", ""), held("new", "n"), held("old", "o")]);
        assert_eq!(mode(&new), mode(&dir.path().join("model")));
        assert_eq!(mode(&old), 0o640);
    }

    #[test]
    fn a_link_is_written_through_and_stays_a_link() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("there")).unwrap();
        fs::write(dir.path().join("there/f"), "before").unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("there/f", &link).unwrap();
        commit(&[write(&link, "after")], &[]).unwrap();
        assert_eq!(listing(dir.path()), [held("link", "-> there/f"), held("there", "Folder")]);
        assert_eq!(listing(&dir.path().join("there")), [held("f", "after")]);
    }

    #[test]
    fn missing_folders_are_made_and_vanish_again_when_the_write_fails() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("folder")).unwrap();
        let (deep, folder) = (dir.path().join("x/y/f"), dir.path().join("folder"));
        let error = commit(&[write(&deep, "1"), write(&folder, "2")], &[]).unwrap_err().named("folder");
        assert_eq!(error.to_string(), "folder is a folder, not a regular file");
        assert_eq!(listing(dir.path()), [held("folder", "Folder")]);
        commit(&[write(&deep, "1")], &[]).unwrap();
        assert_eq!(listing(&dir.path().join("x/y")), [held("f", "1")]);
    }

    #[test]
    fn when_the_last_step_fails_every_file_is_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new, gone) = (dir.path().join("old"), dir.path().join("new"), dir.path().join("gone"));
        fs::write(&old, "before").unwrap();
        fs::write(&gone, "still here").unwrap();
        let inode = fs::metadata(&old).unwrap().ino();
        let removals = [gone.clone(), dir.path().join("never-was")];
        let error = commit(&[write(&old, "after"), write(&new, "new")], &removals).unwrap_err();
        assert!(matches!(error, FsError::Missing { .. }), "{error}");
        assert_eq!(listing(dir.path()), [held("gone", "still here"), held("old", "before")]);
        assert_eq!(fs::metadata(&old).unwrap().ino(), inode);
        commit(&[write(&old, "after"), write(&new, "new")], &removals[..1]).unwrap();
        assert_eq!(listing(dir.path()), [held("new", "new"), held("old", "after")]);
    }

    #[test]
    fn a_step_that_was_cut_off_is_completed_wherever_it_was() {
        let lines = "rename .overlay-a.tmp a\nrename .overlay-b.tmp b b\nremove c\n";
        for done in 0..=3 {
            let dir = tempfile::tempdir().unwrap();
            let at = |name: &str| dir.path().join(name);
            fs::write(at(JOURNAL), lines).unwrap();
            fs::write(at(".overlay-before.tmp"), "before").unwrap();
            for (number, (temp, name)) in [(".overlay-a.tmp", "a"), (".overlay-b.tmp", "b b")].into_iter().enumerate() {
                fs::write(at(name), "before").unwrap();
                fs::write(at(temp), "after").unwrap();
                if number < done {
                    fs::rename(at(temp), at(name)).unwrap();
                }
            }
            if done < 3 {
                fs::write(at("c"), "before").unwrap();
            }
            assert!(is_half_written(dir.path()));
            assert!(recover(dir.path()).unwrap());
            assert_eq!(listing(dir.path()), [held("a", "after"), held("b b", "after")], "{done}");
            assert!(!recover(dir.path()).unwrap());
        }
    }

    #[test]
    fn a_journal_reaches_no_other_folder_and_no_other_file() {
        for line in [
            "rename .overlay-a.tmp ../b",
            "rename a b",
            "rename .overlay-/../a.tmp b",
            "remove ..",
            "remove a/b",
            "touch a",
        ] {
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join(JOURNAL), format!("{line}\n")).unwrap();
            fs::write(dir.path().join("a"), "mine").unwrap();
            let error = recover(dir.path()).unwrap_err().named("j");
            assert_eq!(error.to_string(), "j is not of this program, not a regular file");
            assert_eq!(listing(dir.path()), [held(JOURNAL, &format!("{line}\n")), held("a", "mine")]);
        }
    }

    #[test]
    fn nothing_is_left_of_a_step_that_was_not_cut_off() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (dir.path().join("one"), dir.path().join("two"));
        commit_recoverably(&[write(&one, "1"), write(&two, "2")], &[]).unwrap();
        assert_eq!(listing(dir.path()), [held("one", "1"), held("two", "2")]);
        fs::create_dir(dir.path().join("folder")).unwrap();
        let removals = [dir.path().join("folder")];
        commit_recoverably(&[write(&one, "3"), write(&two, "4")], &removals).unwrap_err();
        assert_eq!(listing(dir.path()), [held("folder", "Folder"), held("one", "1"), held("two", "2")]);
    }

    /// Runs the ignored test of that name in a process whose files cannot grow beyond one block of 512 bytes.
    fn with_writes_cut_off(test: &str, folder: &Path) -> Output {
        let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" --exact --ignored --test-threads=1 \"$1\"";
        let name = format!("fsio::tests::{test}");
        let program = std::env::current_exe().unwrap();
        Command::new("sh").args(["-c", script]).arg(program).arg(name).current_dir(folder).output().unwrap()
    }

    #[test]
    #[ignore = "run in a process of its own by writes_that_are_cut_off_leave_nothing_behind"]
    fn cut_off() {
        let long = "x".repeat(2000);
        let error = commit(&[write(Path::new("a"), "short"), write(Path::new("new/b"), &long)], &[]).unwrap_err();
        assert!(matches!(&error, FsError::Io { path, .. } if path == "new/b"), "{error}");
    }

    #[test]
    fn writes_that_are_cut_off_leave_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), "before").unwrap();
        let ran = with_writes_cut_off("cut_off", dir.path());
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success() && said.contains("1 passed"), "{said}");
        assert_eq!(listing(dir.path()), [held("a", "before")]);
    }

    #[test]
    fn a_turn_to_write_waits_for_every_other_and_gives_up_in_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let (shared, alone) = (FlockOperation::NonBlockingLockShared, FlockOperation::NonBlockingLockExclusive);
        let first = Turn::to_read([dir.path()]).unwrap();
        let second = Turn::to_read([dir.path()]).unwrap();
        let error = take_turns([dir.path()], alone, 1).unwrap_err().named("base/b").to_string();
        assert_eq!(error, "base/b is in use by another run of this program, which did not end within 10 seconds");
        drop(first);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| Turn::to_write([dir.path()]).unwrap());
            std::thread::sleep(TURN_PAUSE * 3);
            assert!(!writer.is_finished());
            drop(second);
            let turn = writer.join().unwrap();
            assert!(take_turns([dir.path()], shared, 1).is_err());
            drop(turn);
            assert!(take_turns([dir.path()], shared, 0).is_ok());
        });
    }

    #[test]
    fn a_turn_to_write_completes_what_was_cut_off_and_one_on_nothing_holds_nothing() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(".overlay-a.tmp"), "new").unwrap();
        fs::write(dir.path().join(JOURNAL), "rename .overlay-a.tmp one\nremove two\n").unwrap();
        assert!(!Turn::to_read([dir.path()]).unwrap().has_recovered());
        assert!(is_half_written(dir.path()));
        assert!(Turn::to_write([dir.path()]).unwrap().has_recovered());
        assert_eq!(fs::read_to_string(dir.path().join("one")).unwrap(), "new");
        assert!(!Turn::to_write([dir.path()]).unwrap().has_recovered());
        assert!(!Turn::to_write([&*dir.path().join("missing")]).unwrap().has_recovered());
    }
}
