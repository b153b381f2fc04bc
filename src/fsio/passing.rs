//! The names that files have in passing, while they are written; and what killed processes left under such names.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::OnceLock;

use rustix::process::{Pid, test_kill_process};

use super::find::names;
use super::journal::is_half_written;
use super::read::read;

/// How the names of files begin and end that are there in passing.
const PASSING: (&str, &str) = (".overlay-", ".tmp");

/// After how many seconds a file under a passing name is taken for one that a killed process left, where its name does
/// not show that its writer is gone.
const LEFT_BEHIND: i64 = 3600;

pub(super) fn passing() -> tempfile::Builder<'static, 'static> {
    static PREFIX: OnceLock<String> = OnceLock::new();
    let prefix = PREFIX.get_or_init(|| format!("{}{}", PASSING.0, writer_mark()));
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(PASSING.1);
    builder
}

/// What a passing name says of its writer: its number, and of which processes that is the number.
pub(super) fn writer_mark() -> String {
    format!("{}-{}-", std::process::id(), processes())
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

/// Who writes under a passing name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    /// A process that is gone.
    Gone,
    /// A process of that number is there. It may be another one by now.
    There,
    /// The name does not say, or it is a number of other processes.
    Unknown,
}

/// Who writes under a name, by what follows its beginning.
fn writer(rest: &str) -> Writer {
    let mut parts = rest.splitn(3, '-');
    let (Some(number), Some(of)) = (parts.next().and_then(|number| number.parse().ok()), parts.next()) else {
        return Writer::Unknown;
    };
    let Some(number) = Pid::from_raw(number).filter(|_| !of.is_empty() && of == processes()) else {
        return Writer::Unknown;
    };
    if test_kill_process(number) == Err(rustix::io::Errno::SRCH) { Writer::Gone } else { Writer::There }
}

fn has_lost_its_writer(name: &str) -> bool {
    name.strip_prefix(PASSING.0).is_some_and(|rest| writer(rest) == Writer::Gone)
}

/// Removes the folders of killed processes whose names begin so, where that is certain: those whose writers are gone,
/// and, where a name does not say who that is, those that are this person's and that nobody has touched for long, by the
/// clock of the file system on which `now` was just made.
pub(super) fn sweep_folders(parent: &Path, prefix: &str, now: &Metadata) {
    for name in names(parent) {
        let Some(rest) = name.strip_prefix(prefix) else { continue };
        let path = parent.join(&name);
        let Ok(meta) = fs::symlink_metadata(&path) else { continue };
        let is_left = match writer(rest) {
            Writer::Gone => true,
            Writer::There => false,
            Writer::Unknown => now.ctime().saturating_sub(meta.ctime()) > LEFT_BEHIND,
        };
        if is_left && meta.is_dir() && meta.uid() == now.uid() {
            // Where it cannot be removed it does no harm.
            let _ = fs::remove_dir_all(&path);
        }
    }
}

pub(super) fn is_passing_name(name: &str) -> bool {
    name.starts_with(PASSING.0) && name.ends_with(PASSING.1)
}

/// The passing names in a folder, however many others stand there.
pub(super) fn passing_names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| is_passing_name(name)).collect()
}

/// Removes what killed processes left in a folder, where that is certain: files under passing names whose writers are
/// gone, or that nobody has touched for long, by the file system's own clock, and that no journal still needs.
pub(super) fn sweep(folder: &Path, now: i64) {
    let is_old = |meta: &Metadata| now.saturating_sub(meta.ctime()) > LEFT_BEHIND;
    sweep_those(folder, |name, meta| is_old(meta) || has_lost_its_writer(name));
}

/// The same for a folder in which nothing is written now, where the names alone say whose writers are gone.
pub fn sweep_lost(folder: &Path) {
    sweep_those(folder, |name, _| has_lost_its_writer(name));
}

fn sweep_those(folder: &Path, is_left: impl Fn(&str, &Metadata) -> bool) {
    if is_half_written(folder) {
        return;
    }
    for name in passing_names(folder) {
        let path = folder.join(&name);
        if fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file() && is_left(&name, &meta)) {
            // Where it cannot be removed it does no harm.
            let _ = fs::remove_file(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::journal::JOURNAL;
    use super::*;
    use std::process::Command;

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
}
