//! What stands at a path, and the bytes of a file: bounded, and never waited for unless a person named it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use rustix::fs::ResolveFlags;
use rustix::fs::{CWD, Mode, OFlags, openat};

use super::error::{FsError, kind_of, not_regular};
use super::folder_of;

/// How large a file may be, in bytes. The largest published manifests are of a few megabytes.
pub const MAX_FILE: u64 = 64 * 1024 * 1024;

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
    if kind.is_fifo() || kind.is_char_device() {
        read_stream(path, file, 0, limit)
    } else {
        read_open(path, file, limit)
    }
}

/// Like [`read`], of a path that was resolved before: if a component of it has become a symbolic link, it is refused.
pub fn read_resolved(path: &Path, limit: u64) -> Result<Vec<u8>, FsError> {
    let file = open_without_links(path).map_err(|error| open_error(path, error, libc::O_NOFOLLOW))?;
    read_open(path, file, limit)
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

/// Opens a file on whose path stands no link, and nobody can put one meanwhile.
fn open_without_links(path: &Path) -> io::Result<File> {
    // The kernel can do it in one step. Where it cannot, or something is wrong, the walk is made, which knows what.
    #[cfg(target_os = "linux")]
    if let Ok(opened) = rustix::fs::openat2(CWD, path, FOR_READING, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        return Ok(File::from(opened));
    }
    walk_without_links(path)
}

const FOR_READING: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Opens a file folder by folder, each from the handle of the one before, so that nobody can put a link into the path
/// meanwhile. A link in the place of a folder is "not a directory".
fn walk_without_links(path: &Path) -> io::Result<File> {
    // To pass through a folder needs no right to list it, where the system can tell the two apart.
    #[cfg(target_os = "linux")]
    let passing = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    let passing = OFlags::RDONLY;
    let passing = passing | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let mut folder = openat(CWD, ".", passing, Mode::empty())?;
    for component in folder_of(path).components() {
        folder = openat(&folder, component.as_os_str(), passing, Mode::empty())?;
    }
    Ok(File::from(openat(&folder, name, FOR_READING, Mode::empty())?))
}

fn read_open(path: &Path, file: File, limit: u64) -> Result<Vec<u8>, FsError> {
    let meta = file.metadata().map_err(|e| FsError::io("look at", path, e))?;
    if !meta.is_file() {
        return Err(not_regular(path, kind_of(meta.file_type())));
    }
    if meta.len() > limit {
        return Err(FsError::TooLarge { path: path.display().to_string(), limit });
    }
    read_stream(path, file, meta.len(), limit)
}

/// Reads to the end; `expected` bytes, if the file says true.
fn read_stream(path: &Path, file: File, expected: u64, limit: u64) -> Result<Vec<u8>, FsError> {
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0));
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|e| FsError::io("read", path, e))?;
    if bytes.len() as u64 > limit {
        return Err(FsError::TooLarge { path: path.display().to_string(), limit });
    }
    Ok(bytes)
}

/// Whether a folder stands at `path`, symbolic links followed.
pub fn is_folder(path: &Path) -> Result<bool, FsError> {
    fs::metadata(path).map(|meta| meta.is_dir()).map_err(|e| FsError::io("look at", path, e))
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

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
    fn in_one_step_and_folder_by_folder_the_same_paths_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let top = canonical(dir.path()).unwrap();
        fs::create_dir(top.join("folder")).unwrap();
        fs::write(top.join("folder/f"), "x").unwrap();
        std::os::unix::fs::symlink("folder", top.join("link")).unwrap();
        std::os::unix::fs::symlink("f", top.join("folder/link")).unwrap();
        let opens = |path: &str| {
            let path = top.join(path);
            [
                open_without_links(&path).map_err(|e| e.raw_os_error()).err().flatten(),
                walk_without_links(&path).map_err(|e| e.raw_os_error()).err().flatten(),
            ]
        };
        assert_eq!(opens("folder/f"), [None; 2]);
        assert_eq!(opens("link/f"), [Some(libc::ENOTDIR); 2]);
        assert_eq!(opens("folder/link"), [Some(libc::ELOOP); 2]);
        assert_eq!(opens("folder/none"), [Some(libc::ENOENT); 2]);
    }
}
