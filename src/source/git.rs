//! One file of a git repository at one commit, over smart HTTP.
//!
//! The objects come through the `git` on PATH and not through a library. To read one file without a repository's
//! others takes packs, deltas, and a second fetch for what a filter left out; gitoxide would add some eighty crates to a
//! tree of 140 for it, and its HTTP would keep other rules than ours. git is where git repositories are, checks what it
//! receives, and can be kept on a short lead. Whoever vendors from GitHub, a web server or a file needs none.
//!
//! The lead: an empty environment and a home of its own, so that no configuration, alias, helper or hook of anyone is
//! read; https alone (http to this machine); no redirects, because `source::refs` asks the address before and follows
//! them by our rules; nothing but one commit, its folders and the one file; a process group that is killed at the
//! deadline or when it has written too much. A credential goes in as configuration in the environment, where other
//! users cannot see it. git's own credential helpers are not asked: what they would run is named in files that are not
//! read.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::credentials::Environment;
use super::http::{Credentials as _, Http, Url};
use super::refs::{RefError, Server, is_id};
use crate::diag::nearest;
use crate::diag::visible::shortened;
use crate::fsio::{self, ScratchFolder};

/// How much git may write to the disk where the settings say nothing else: the pack of one commit's folders and one
/// file, in bytes.
pub const MAX_DISK: u64 = 512 * 1024 * 1024;

/// How much of git's messages is read, in bytes.
const MAX_MESSAGES: u64 = 64 * 1024;

/// How often a running git is looked at.
const POLL: Duration = Duration::from_millis(10);

/// How many looks lie between two sums of what it has written.
const LOOKS_PER_SUM: u32 = 20;

/// Which file.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The repository's address.
    pub url: &'a str,
    /// The commit, all its 40 or 64 hexadecimal digits.
    pub commit: &'a str,
    /// The file's path in the repository, with `/`.
    pub path: &'a str,
}

/// Why a file could not be had. git's texts are made safe to show.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The repository's address does not answer as one.
    #[error(transparent)]
    Address(#[from] RefError),
    /// This is no commit, or no path, that could be asked for.
    #[error("`{given}` is no {expected}")]
    Wanted {
        /// What was given.
        given: String,
        /// What it should be.
        expected: &'static str,
    },
    /// There is no git.
    #[error("the source is a git repository, and `git` cannot be run: {reason}")]
    NoGit {
        /// What the operating system says.
        reason: String,
    },
    /// The disk did not do what was asked.
    #[error("git's folder for what it fetches: {reason}")]
    Disk {
        /// What the operating system says.
        reason: String,
    },
    /// The repository does not have the commit, or does not hand it out.
    #[error("{address} has no commit {commit}, or does not hand it out: {said}")]
    NoCommit {
        /// The repository.
        address: String,
        /// The commit.
        commit: String,
        /// git's words.
        said: String,
    },
    /// The commit has no such file.
    #[error("{address} has no file `{path}` at commit {commit}{instead}")]
    NoFile {
        /// The repository.
        address: String,
        /// The path.
        path: String,
        /// The commit.
        commit: String,
        /// What is there instead, or what is probably meant, with a leading separator; else empty.
        instead: String,
    },
    /// What is pinned is another object.
    #[error("{address}: {id} is no commit, but a {kind}")]
    NotCommit {
        /// The repository.
        address: String,
        /// The object.
        id: String,
        /// What git calls its kind.
        kind: String,
    },
    /// git failed otherwise.
    #[error("{address}: git {command} failed: {said}")]
    Failed {
        /// The repository.
        address: String,
        /// What git was to do.
        command: &'static str,
        /// git's words.
        said: String,
    },
    /// It took too long.
    #[error("{address}: git {command} was not done in {limit} s, and was ended")]
    TooLong {
        /// The repository.
        address: String,
        /// What git was to do.
        command: &'static str,
        /// The limit in seconds.
        limit: u64,
    },
    /// It needs too much of the disk.
    #[error("{address}: git {command} wrote more than {} to the disk, and was ended", fsio::amount(*limit))]
    TooMuch {
        /// The repository.
        address: String,
        /// What git was to do.
        command: &'static str,
        /// The limit.
        limit: u64,
    },
    /// The file is too large.
    #[error("{address}: git {command} gave more than {}, and was ended", fsio::amount(*limit))]
    TooLarge {
        /// The repository.
        address: String,
        /// What git was to do.
        command: &'static str,
        /// The limit.
        limit: u64,
    },
}

/// The bytes of a file at a commit. `http` gives the limits, proxies, mirrors and certificates; `environment` the
/// credentials and where git is.
///
/// # Errors
/// [`GitError`].
pub fn file(http: &Http, environment: &Environment, wanted: Wanted<'_>) -> Result<Vec<u8>, GitError> {
    check(wanted)?;
    let deadline = Instant::now() + http.settings().timeout;
    let server = Server::greet(http, environment, wanted.url)?;
    let disk = |reason: String| GitError::Disk { reason };
    let folder = ScratchFolder::new("git").map_err(|e| disk(e.to_string()))?;
    let ca = folder.path().join("ca.pem");
    if let Some(pem) = &http.settings().ca {
        fsio::commit(&[fsio::Write { path: ca.clone(), bytes: pem }], &[]).map_err(|e| disk(e.to_string()))?;
    }
    // Who was redirected is asked without the credential of the first host.
    let asked = http.resolve(wanted.url).map_err(RefError::Http)?;
    let credential = environment.for_url(&asked).filter(|_| asked.origin() == server.base.origin());
    let git = Git {
        folder: folder.path(),
        path: environment.path.as_deref(),
        http,
        base: &server.base,
        address: server.shown(),
        ca: http.settings().ca.as_ref().map(|_| ca.as_path()),
        header: credential.map(|c| format!("Authorization: {}", c.header())),
        deadline,
    };
    git.fetch(wanted)?;
    git.read(wanted)
}

/// Refuses what git could take for something else than a commit and a path.
fn check(wanted: Wanted<'_>) -> Result<(), GitError> {
    let wrong = |given: &str, expected| GitError::Wanted { given: shortened(given, 200), expected };
    if !is_id(wanted.commit) {
        return Err(wrong(wanted.commit, "commit of 40 hexadecimal digits"));
    }
    let well = wanted.path.split('/').all(|part| !matches!(part, "" | "." | ".."));
    if !well || wanted.path.contains(char::is_control) {
        return Err(wrong(wanted.path, "path of a file in a repository"));
    }
    Ok(())
}

/// git in a folder of its own.
struct Git<'a> {
    folder: &'a Path,
    path: Option<&'a OsStr>,
    http: &'a Http,
    base: &'a Url,
    address: String,
    ca: Option<&'a Path>,
    /// A header that proves who asks.
    header: Option<String>,
    deadline: Instant,
}

/// An entry of a folder of a commit.
struct Entry {
    mode: String,
    kind: String,
    id: String,
    path: String,
}

/// How a command of git ended.
struct Done {
    status: ExitStatus,
    out: Vec<u8>,
    said: String,
}

impl Git<'_> {
    /// Fetches the commit and its folders, no files.
    fn fetch(&self, wanted: Wanted<'_>) -> Result<(), GitError> {
        let format = if wanted.commit.len() == 64 { "--object-format=sha256" } else { "--object-format=sha1" };
        self.succeed("init", &["--bare", "--quiet", "--template=", format])?;
        let done = self.run(
            "fetch",
            &[
                "--quiet",
                "--depth=1",
                "--no-tags",
                "--no-write-fetch-head",
                "--filter=blob:none",
                "origin",
                wanted.commit,
            ],
        )?;
        if done.status.success() {
            return Ok(());
        }
        let unknown = ["not our ref", "unadvertised object", "couldn't find remote ref", "expected 'packfile'"];
        if unknown.iter().any(|words| done.said.contains(words)) {
            let (address, commit) = (self.address.clone(), wanted.commit.to_owned());
            return Err(GitError::NoCommit { address, commit, said: done.said });
        }
        Err(self.failed("fetch", done.said))
    }

    /// Reads the file; git fetches it now.
    fn read(&self, wanted: Wanted<'_>) -> Result<Vec<u8>, GitError> {
        let kind = self.succeed("cat-file", &["-t", wanted.commit])?;
        if kind.trim_ascii() != b"commit" {
            let kind = shortened(String::from_utf8_lossy(&kind).trim(), 20);
            return Err(GitError::NotCommit { address: self.address.clone(), id: wanted.commit.to_owned(), kind });
        }
        let listed = self.list(wanted.commit, wanted.path)?;
        let entry = listed.iter().find(|entry| entry.path == wanted.path);
        let instead = match entry.map(|e| (&*e.mode, &*e.kind)) {
            Some(("100644" | "100755" | "100664", "blob")) => {
                let id = entry.map(|e| &*e.id).unwrap_or_default();
                return self.succeed("cat-file", &["blob", id]);
            }
            Some(("120000", _)) => ": it is a symbolic link".to_owned(),
            Some(("160000", _)) => ": it is a submodule".to_owned(),
            Some((_, "tree")) => ": it is a folder".to_owned(),
            _ => self.near(wanted),
        };
        let (address, path, commit) = (self.address.clone(), wanted.path.to_owned(), wanted.commit.to_owned());
        Err(GitError::NoFile { address, path, commit, instead })
    }

    /// What a commit has at a path; in it, where the path ends with `/`, or is empty.
    fn list(&self, commit: &str, path: &str) -> Result<Vec<Entry>, GitError> {
        let fixed = ["-z", "--full-tree", commit, "--"];
        let path = Some(path).filter(|path| !path.is_empty());
        let listed = self.succeed("ls-tree", &fixed.into_iter().chain(path).collect::<Vec<_>>())?;
        let entry = |line: &str| {
            let (about, path) = line.split_once('\t')?;
            let mut words = about.split(' ').map(str::to_owned);
            Some(Entry { mode: words.next()?, kind: words.next()?, id: words.next()?, path: path.to_owned() })
        };
        Ok(String::from_utf8_lossy(&listed).split('\0').filter_map(entry).collect())
    }

    /// The file beside a path that is probably meant, in words; empty where none is.
    fn near(&self, wanted: Wanted<'_>) -> String {
        let folder = wanted.path.rfind('/').map_or("", |at| wanted.path.get(..=at).unwrap_or_default());
        let beside = self.list(wanted.commit, folder).unwrap_or_default();
        // By the name alone: what all files of a folder share makes none of them alike.
        let name = |path: &str| Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let names: Vec<(String, &str)> =
            beside.iter().filter(|e| e.kind == "blob").map(|e| (name(&e.path), &*e.path)).collect();
        let near = nearest(&name(wanted.path), names.iter().map(|(name, _)| name.as_str()));
        let near = names.iter().find(|(name, _)| Some(name.as_str()) == near);
        near.map(|(_, path)| format!("; did you mean `{}`?", shortened(path, 200))).unwrap_or_default()
    }

    fn succeed(&self, command: &'static str, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        let done = self.run(command, arguments)?;
        if done.status.success() { Ok(done.out) } else { Err(self.failed(command, done.said)) }
    }

    fn failed(&self, command: &'static str, said: String) -> GitError {
        GitError::Failed { address: self.address.clone(), command, said }
    }

    fn run(&self, command: &'static str, arguments: &[&str]) -> Result<Done, GitError> {
        let mut git = self.command();
        git.arg(command).args(arguments);
        let child = git.spawn().map_err(|e| GitError::NoGit { reason: e.to_string() })?;
        self.attend(command, child)
    }

    /// Waits for git while its output is read, and ends it when it goes on too long or gives too much.
    fn attend(&self, command: &'static str, mut child: Child) -> Result<Done, GitError> {
        let (out, messages) = (child.stdout.take(), child.stderr.take());
        let limit = self.http.settings().max_bytes;
        std::thread::scope(|scope| {
            let out = scope.spawn(move || read_some(out, limit.saturating_add(1)));
            let messages = scope.spawn(move || read_some(messages, MAX_MESSAGES));
            let ended = self.wait(command, &mut child);
            if ended.is_err() {
                end(&mut child);
            }
            let out = out.join().unwrap_or_default();
            let messages = messages.join().unwrap_or_default();
            let status = ended?;
            if out.len() as u64 > limit {
                return Err(GitError::TooLarge { address: self.address.clone(), command, limit });
            }
            Ok(Done { status, out, said: said(&messages) })
        })
    }

    fn wait(&self, command: &'static str, child: &mut Child) -> Result<ExitStatus, GitError> {
        let address = || self.address.clone();
        let mut looks: u32 = 0;
        loop {
            match child.try_wait() {
                // A quick one was not looked at before.
                Ok(Some(_)) if self.is_too_much() => return Err(self.too_much(command)),
                Ok(Some(status)) => return Ok(status),
                Ok(None) => {}
                Err(e) => return Err(self.failed(command, e.to_string())),
            }
            if Instant::now() >= self.deadline {
                let limit = self.http.settings().timeout.as_secs();
                return Err(GitError::TooLong { address: address(), command, limit });
            }
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS_PER_SUM) && self.is_too_much() {
                return Err(self.too_much(command));
            }
            std::thread::sleep(POLL);
        }
    }

    fn is_too_much(&self) -> bool {
        fsio::size_below(self.folder) > self.http.settings().git_disk
    }

    fn too_much(&self, command: &'static str) -> GitError {
        GitError::TooMuch { address: self.address.clone(), command, limit: self.http.settings().git_disk }
    }

    #[allow(clippy::disallowed_methods, reason = "the program is git, not one that a repository names")]
    fn command(&self) -> Command {
        let mut git = Command::new("git");
        git.env_clear().current_dir(self.folder).process_group(0);
        git.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(path) = self.path {
            git.env("PATH", path);
        }
        let folder = self.folder.as_os_str();
        git.env("HOME", folder).env("XDG_CONFIG_HOME", folder).env("GIT_DIR", folder);
        for (name, value) in [
            ("LC_ALL", "C"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ASKPASS", "true"),
            ("GIT_LITERAL_PATHSPECS", "1"),
            // One of its own is not needed, and a `replace` ref of the server's must not stand for an object.
            ("GIT_NO_REPLACE_OBJECTS", "1"),
        ] {
            git.env(name, value);
        }
        let proxies = &self.http.settings().proxies;
        if let Some(proxy) = &proxies.https {
            git.env("https_proxy", proxy).env("no_proxy", format!("{},localhost,127.0.0.1,::1", proxies.none_for));
        }
        for setting in self.settings() {
            git.arg("-c").arg(setting);
        }
        if let Some(header) = &self.header {
            let key = format!("http.{}/.extraHeader", self.base.origin().ascii_serialization());
            git.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", key).env("GIT_CONFIG_VALUE_0", header);
        }
        git
    }

    fn settings(&self) -> Vec<String> {
        let scheme = self.base.scheme();
        let mut settings = vec![
            format!("protocol.{scheme}.allow=always"),
            format!("remote.origin.url={}", self.base),
            format!("http.lowSpeedTime={}", self.http.settings().idle.as_secs().max(1)),
        ];
        settings.extend(self.ca.map(|ca| format!("http.sslCAInfo={}", ca.display())));
        let fixed = [
            "protocol.allow=never",
            "protocol.version=2",
            "remote.origin.promisor=true",
            "remote.origin.partialclonefilter=blob:none",
            "http.followRedirects=false",
            "http.lowSpeedLimit=1",
            "credential.helper=",
            "core.hooksPath=/dev/null",
            "core.fsmonitor=false",
            "transfer.fsckObjects=true",
            // A pack stays a pack, and a large object is not held in memory.
            "fetch.unpackLimit=1",
            "core.bigFileThreshold=8m",
            "fetch.recurseSubmodules=no",
            "gc.auto=0",
            "maintenance.auto=false",
            "advice.graftFileDeprecated=false",
        ];
        settings.extend(fixed.map(str::to_owned));
        settings
    }
}

/// Ends git and what it started.
fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It fails where all of them have ended by themselves.
        let _ended = kill_process_group(group, Signal::KILL);
    }
    let _reaped = child.wait();
}

fn read_some(stream: Option<impl Read>, limit: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        // What was read before a failure is what there is to say.
        let _read = stream.take(limit).read_to_end(&mut bytes);
    }
    bytes
}

/// What git says is wrong: its last line that begins so, else its last line.
fn said(messages: &[u8]) -> String {
    let text = String::from_utf8_lossy(messages);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let grave = |line: &&str| line.starts_with("fatal:") || line.starts_with("error:");
    let line = lines().rfind(grave).or_else(|| lines().next_back()).unwrap_or("it says nothing");
    let line = line.trim_start_matches("fatal: ").trim_start_matches("error: ");
    shortened(line, 300)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "1111111111111111111111111111111111111111";

    fn refused(commit: &str, path: &str) -> Option<String> {
        check(Wanted { url: "https://example.org/r", commit, path }).err().map(|e| e.to_string())
    }

    #[test]
    fn what_git_could_take_for_an_option_is_refused() {
        assert_eq!(refused(COMMIT, "a/b c.yaml"), None);
        assert_eq!(refused(COMMIT, "--output=x"), None); // it stands behind `--`
        let commit = |text: &str| Some(format!("`{text}` is no commit of 40 hexadecimal digits"));
        for text in ["--upload-pack=x", "HEAD", "1111", &COMMIT.replace('1', "A")] {
            assert_eq!(refused(text, "a"), commit(text));
        }
        for path in ["", "/a", "a/", "a//b", "../a", "a/./b"] {
            assert_eq!(refused(COMMIT, path), Some(format!("`{path}` is no path of a file in a repository")));
        }
        assert_eq!(refused(COMMIT, "a\nb"), Some("`a\\nb` is no path of a file in a repository".into()));
    }

    #[test]
    fn the_last_grave_line_is_what_git_says() {
        let messages = b"warning: x\nerror: one\nfatal: two \x1b[31m\nremote: bye\n";
        assert_eq!(said(messages), "two \\x1B[31m");
        assert_eq!(said(b"something\n\n"), "something");
        assert_eq!(said(b""), "it says nothing");
    }
}
