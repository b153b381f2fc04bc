//! The helper programs that keep log-ins (`docker-credential-…`): the registry's name goes to their standard input, a
//! JSON text with `Username` and `Secret` comes back.
//!
//! They may be anyone's, and so they are kept short: a time, a size, and a process group that is ended with them, so
//! that nothing which one started stays behind or holds its output open. What one prints may hold a secret, and is never
//! shown.

use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde_json::Value;

use super::login::Asking;
use crate::diag::visible::shortened;

/// How long a helper program may take, where the run has that long. It may have to unlock a key ring.
const TIME: Duration = Duration::from_secs(20);

/// How much of a helper program's answer is read, in bytes.
const MAX_ANSWER: usize = 64 * 1024;

/// How often a running helper is looked at.
const POLL: Duration = Duration::from_millis(10);

/// How long the rest of its answer is waited for when it has ended.
const REST: Duration = Duration::from_millis(500);

/// The user name and the secret that a helper has for a registry of that name. `Ok(None)` where it has none.
///
/// # Errors
/// A text for people, without secrets, when there is no such program or it fails.
pub(super) fn ask(name: &str, registry: &str, asking: Asking<'_>) -> Result<Option<(String, String)>, String> {
    // A name with a `/` would be a path, from wherever the run is.
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')) {
        return Err(format!("the file of log-ins: `{}` is no name of a helper program", shortened(name, 60)));
    }
    let program = format!("docker-credential-{name}");
    let mut child = start(&program, asking).map_err(|error| format!("{program} cannot be run: {error}"))?;
    if let Some(mut input) = child.stdin.take() {
        // One that answers without reading has closed it.
        let _may_be_closed = input.write_all(registry.as_bytes());
    }
    let time = TIME.min(asking.until.saturating_duration_since(Instant::now()));
    let pieces = child.stdout.take().map(pieces);
    let answer = attend(&child, pieces.as_ref(), Instant::now() + time);
    end(&child);
    let status = child.wait().map_err(|error| format!("{program}: {error}"))?;
    let answer = match answer {
        Ok(answer) => answer,
        Err(Excess::Time) => return Err(format!("{program} did not answer in {} s", time.as_secs_f32().round())),
        Err(Excess::Size) => return Err(format!("{program} wrote more than {MAX_ANSWER} bytes")),
    };
    let text = String::from_utf8_lossy(&answer);
    if !status.success() {
        // The protocol has no status of its own for it, just this text.
        let has_none = text.contains("credentials not found");
        return if has_none { Ok(None) } else { Err(format!("{program} failed")) };
    }
    let answer: Value = serde_json::from_str(&text).unwrap_or_default();
    let part = |key: &str| answer.get(key).and_then(Value::as_str).map(str::to_owned);
    let pair = part("Username").zip(part("Secret"));
    pair.map(Some).ok_or_else(|| format!("{program} answered with what is no log-in"))
}

#[allow(clippy::disallowed_methods, reason = "the person's own file of log-ins names the program, no repository")]
fn start(program: &str, asking: Asking<'_>) -> std::io::Result<Child> {
    let mut command = Command::new(program);
    command.arg("get").process_group(0);
    if let Some(path) = asking.path {
        command.env("PATH", path);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
}

/// What a helper has too much of.
enum Excess {
    Time,
    Size,
}

/// What a helper prints until it ends, in as much time and space as it has.
fn attend(child: &Child, pieces: Option<&Receiver<Vec<u8>>>, deadline: Instant) -> Result<Vec<u8>, Excess> {
    let mut answer = Vec::new();
    let mut until = deadline;
    let mut has_ended = false;
    loop {
        let piece = pieces.map_or(Err(RecvTimeoutError::Disconnected), |pieces| pieces.recv_timeout(POLL));
        let is_over = piece == Err(RecvTimeoutError::Disconnected);
        answer.extend(piece.unwrap_or_default());
        if answer.len() > MAX_ANSWER {
            return Err(Excess::Size);
        }
        if has_ended && (is_over || Instant::now() >= until) {
            return Ok(answer);
        }
        if !has_ended && is_ended(child) {
            has_ended = true;
            // What it started may hold its output open.
            end(child);
            until = Instant::now() + REST;
        } else if !has_ended && Instant::now() >= deadline {
            return Err(Excess::Time);
        }
        if is_over && !has_ended {
            std::thread::sleep(POLL);
        }
    }
}

/// Reads on a thread of its own, a little ahead and no more.
fn pieces(mut output: ChildStdout) -> Receiver<Vec<u8>> {
    let (tell, told) = mpsc::sync_channel(1);
    std::thread::spawn(move || {
        let mut room = [0; 8 * 1024];
        while let Ok(count) = output.read(&mut room) {
            if count == 0 || tell.send(room.get(..count).unwrap_or_default().to_vec()).is_err() {
                return;
            }
        }
    });
    told
}

fn group(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// Whether it has ended. It is not taken notice of yet, so that the number of its group stays its own.
fn is_ended(child: &Child) -> bool {
    let how = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    group(child).is_none_or(|pid| !matches!(waitid(WaitId::Pid(pid), how), Ok(None) | Err(rustix::io::Errno::INTR)))
}

/// Ends a helper and what it started.
fn end(child: &Child) {
    if let Some(group) = group(child) {
        // It fails where all of them have ended by themselves.
        let _ended = kill_process_group(group, Signal::KILL);
    }
}
