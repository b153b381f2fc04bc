//! Writing: new contents beside the files that they become, on the disk before the first name changes, and all of it undone where a
//! part fails.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use super::error::{FsError, kind_of, not_regular};
use super::folder_of;
use super::passing::{passing, sweep};
use super::read::canonical;

/// The mode of a new file, before the process's umask.
const NEW_FILE_MODE: u32 = 0o666;

/// Up to how many files or folders are brought to the disk one by one. Of more than that, each flush waits for the disk
/// anew, and one of the whole file system is sooner done.
const FLUSHED_SINGLY: usize = 32;

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

/// What [`commit`] does, with contents that are written one by one as they become known. The files that they replace must
/// be readable. Dropped before its commit, it leaves nothing behind.
#[derive(Default)]
pub struct Batch {
    pub(super) staged: Vec<Staged>,
    pub(super) removals: Vec<PathBuf>,
    /// What gets its name behind all of that.
    last: Vec<Staged>,
    /// The folders that were looked through for what killed processes left.
    swept: HashSet<PathBuf>,
    // Behind the files that stand in them: fields are dropped in this order.
    pub(super) folders: NewFolders,
}

impl Batch {
    pub(super) fn of(writes: &[Write<'_>], removals: &[PathBuf]) -> Result<Batch, FsError> {
        let mut batch = Batch::default();
        for write in writes {
            let (staged, file) = batch.stage(write)?;
            batch.staged.push(staged);
            file.sync_all().map_err(|e| FsError::io("write", &write.path, e))?;
        }
        batch.removals.extend_from_slice(removals);
        Ok(batch)
    }

    /// Writes the new content of a file, under a passing name.
    pub fn write(&mut self, write: &Write<'_>) -> Result<(), FsError> {
        let (staged, _) = self.stage(write)?;
        self.staged.push(staged);
        Ok(())
    }

    /// The same, of a file that says what became of the others: it gets its name when they have theirs and those that are to go are
    /// gone.
    pub fn write_last(&mut self, write: &Write<'_>) -> Result<(), FsError> {
        let (staged, _) = self.stage(write)?;
        self.last.push(staged);
        Ok(())
    }

    fn stage(&mut self, write: &Write<'_>) -> Result<(Staged, File), FsError> {
        let (staged, file) = Staged::new(write, &mut self.folders)?;
        let folder = folder_of(&staged.target);
        if let Ok(meta) = file.metadata()
            && !self.swept.contains(folder)
        {
            sweep(folder, meta.ctime());
            self.swept.insert(folder.to_owned());
        }
        Ok((staged, file))
    }

    /// One more file that is to go.
    pub fn remove(&mut self, path: PathBuf) {
        self.removals.push(path);
    }

    /// Takes in all of another batch.
    pub fn join(&mut self, mut other: Batch) {
        self.staged.append(&mut other.staged);
        self.removals.append(&mut other.removals);
        self.last.append(&mut other.last);
        self.swept.extend(other.swept);
        self.folders.0.append(&mut other.folders.0);
    }

    /// The files that are to change or to go.
    pub fn targets(&self) -> impl Iterator<Item = &Path> {
        self.all_staged().map(|staged| &staged.target).chain(&self.removals).map(PathBuf::as_path)
    }

    fn all_staged(&self) -> impl Iterator<Item = &Staged> {
        self.staged.iter().chain(&self.last)
    }

    /// Waits until all contents are on the disk, gives the files their names, and removes those that are to go.
    pub fn commit(self) -> Result<(), FsError> {
        let files: Vec<&Path> = self.all_staged().map(|staged| &*staged.temp).collect();
        flush(&files).map_err(|(path, error)| FsError::io("write", path, error))?;
        self.rename()
    }

    fn rename(self) -> Result<(), FsError> {
        let Batch { folders, staged, removals, last, .. } = self;
        rename(staged, &removals, last)?;
        folders.keep();
        Ok(())
    }
}

/// Gives staged files their names, removes others, and gives the last ones theirs; or, where one of that fails, leaves all as it was.
pub(super) fn rename(staged: Vec<Staged>, removals: &[PathBuf], last: Vec<Staged>) -> Result<(), FsError> {
    let together = staged.len() + removals.len() + last.len() > 1;
    let named = staged.into_iter().map(|Staged { target, temp }| (target, Some(temp)));
    let gone = removals.iter().map(|target| (target.clone(), None));
    let last = last.into_iter().map(|Staged { target, temp }| (target, Some(temp)));
    let mut done = Vec::new();
    for (target, temp) in named.chain(gone).chain(last) {
        let step = Step::begin(&target, together).and_then(|step| {
            match temp {
                Some(temp) => temp.persist(&target).map_err(|e| e.error)?,
                None => fs::remove_file(&target)?,
            }
            Ok(step)
        });
        match step {
            Ok(step) => done.push(step),
            Err(source) => return Err(undo(done, &target, source)),
        }
    }
    let touched: BTreeSet<&Path> = done.iter().map(|step| folder_of(&step.target)).collect();
    // Makes the renames outlive a power cut. Some file systems cannot sync a folder, and the renames have happened by then,
    // so that an error here changes nothing.
    let _ = flush(&touched.into_iter().collect::<Vec<_>>());
    Ok(())
}

/// New content on the disk, beside the file that it will become. Dropped, it is gone.
pub(super) struct Staged {
    pub(super) target: PathBuf,
    // The path alone: there may be more of them than a process may hold open.
    pub(super) temp: TempPath,
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
pub(super) struct NewFolders(Vec<PathBuf>);

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

    pub(super) fn keep(mut self) {
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

/// Brings files or folders to the disk that are named already; an error comes with the one that it is about.
pub(super) fn flush<'p>(paths: &[&'p Path]) -> Result<(), (&'p Path, io::Error)> {
    #[cfg(target_os = "linux")]
    if paths.len() > FLUSHED_SINGLY {
        return flush_file_systems(paths);
    }
    paths.iter().try_for_each(|path| File::open(path).and_then(|file| file.sync_all()).map_err(|error| (*path, error)))
}

/// Brings everything to the disk that is in the file systems of these files or folders.
#[cfg(target_os = "linux")]
pub(super) fn flush_file_systems<'p>(paths: &[&'p Path]) -> Result<(), (&'p Path, io::Error)> {
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
    use super::super::listing::{held, listing, write};
    use super::*;
    use std::process::{Command, Output};

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
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

    /// Runs the ignored test of that name in a process whose files cannot grow beyond one block of 512 bytes.
    fn with_writes_cut_off(test: &str, folder: &Path) -> Output {
        let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" --exact --ignored --test-threads=1 \"$1\"";
        let name = format!("fsio::write::tests::{test}");
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
}
