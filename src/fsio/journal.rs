//! Several files of a folder that change as one although the process may be killed between: whose turn it is, and the journal that tells the next
//! one what was begun. What the files are is not known here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use super::error::{FsError, amount};
use super::folder_of;
use super::passing::{is_passing_name, passing_names};
use super::read::read_resolved;
use super::write::{Batch, Staged, Write, commit, flush, rename};

/// How often, and how long apart, a turn is asked for that another process has: for ten seconds in all.
pub(super) const TURN_TRIES: u32 = 500;
pub(super) const TURN_PAUSE: Duration = Duration::from_millis(20);

/// The file that tells, while several files of a folder change, which ones.
pub(super) const JOURNAL: &str = ".overlay-journal";

/// How large a journal may be, in bytes.
const MAX_JOURNAL: u64 = 4 * 1024 * 1024;

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

    /// The turn to change files of one folder otherwise. A folder that is not there yet is nobody's turn.
    pub fn alone(folder: &Path) -> Result<Turn, FsError> {
        let held = take_turns([folder], FlockOperation::NonBlockingLockExclusive, TURN_TRIES)?;
        Ok(Turn { _held: held, recovered: false })
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
    rename(staged, &removals, Vec::new())?;
    drop(journals);
    folders.keep();
    Ok(())
}

/// Whether files of the folder were being changed by [`commit_recoverably`] when that was cut off.
pub fn is_half_written(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(JOURNAL)).is_ok()
}

/// Completes what was cut off in a folder, if anything was. Only the process whose turn it is may: the journal of another
/// that is at work looks the same.
fn recover(folder: &Path) -> Result<bool, FsError> {
    let path = folder.join(JOURNAL);
    let no_journal = |why| FsError::NoJournal { path: path.display().to_string(), why };
    let journal = match read_resolved(&path, MAX_JOURNAL) {
        Err(FsError::Missing { .. }) => return Ok(false),
        Err(FsError::NotRegular { what, .. }) => return Err(no_journal(format!("it is {what}"))),
        Err(FsError::TooLarge { limit, .. }) => return Err(no_journal(format!("it is larger than {}", amount(limit)))),
        read => read?,
    };
    let steps = read_journal(&journal).ok_or_else(|| no_journal("it names no files as one does".to_owned()))?;
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
    for name in passing_names(folder) {
        let _ = fs::remove_file(folder.join(name));
    }
    fs::remove_file(&path).map_err(|error| FsError::io("remove", &path, error))?;
    let _ = flush(&[folder]);
    Ok(true)
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

#[cfg(test)]
mod tests {
    use super::super::listing::{held, listing, write};
    use super::*;

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
            assert_eq!(error.to_string(), "j is not a journal of this program: it names no files as one does");
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
