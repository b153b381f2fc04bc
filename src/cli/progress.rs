//! How far fetching has come, as one line on standard error that is written over and over, and wiped at the end. Where
//! standard error is no terminal, nothing is written.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::source::http::Progress;

/// How long the line stands before it is written again.
const PAUSE: Duration = Duration::from_millis(100);

/// Back to the first column, and the rest of the line away (ECMA-48, 8.3.41).
const WIPE: &str = "\r\u{1b}[K";

/// The line. It wipes itself when it goes.
pub struct Line {
    state: Option<Mutex<State>>,
}

struct State {
    files: Vec<Option<Progress>>,
    written: Option<Instant>,
}

impl Line {
    /// A line about that many files.
    pub fn new(files: usize) -> Line {
        let state = State { files: vec![None; files], written: None };
        Line { state: io::stderr().is_terminal().then(|| Mutex::new(state)) }
    }

    /// Takes note of how far a file has come, and tells it unless that was told just now.
    pub fn tell(&self, file: usize, progress: Progress) {
        let Some(state) = &self.state else { return };
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = state.files.get_mut(file) {
            *slot = Some(progress);
        }
        if state.written.is_none_or(|at| at.elapsed() >= PAUSE) {
            state.written = Some(Instant::now());
            write(&format!("{WIPE}{}", told(&state.files)));
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let state = self.state.as_ref().map(|state| state.lock().unwrap_or_else(PoisonError::into_inner));
        if state.is_some_and(|state| state.written.is_some()) {
            write(WIPE);
        }
    }
}

/// Where it cannot be written there is nobody to tell.
fn write(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// What is told of files, each with how far it has come if it has begun.
fn told(files: &[Option<Progress>]) -> String {
    let begun: Vec<&Progress> = files.iter().flatten().collect();
    let got: u64 = begun.iter().map(|p| p.got).sum();
    let of: Option<u64> = begun.iter().map(|p| p.of).sum();
    let of = of.filter(|_| begun.len() == files.len()).map(|of| format!(" of {}", size(of))).unwrap_or_default();
    let count = if files.len() == 1 { "1 file".to_owned() } else { format!("{} files", files.len()) };
    format!("fetching {count}: {}{of}", size(got))
}

/// A number of bytes for people.
fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 2] = [(1_000_000, "MB"), (1_000, "kB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files, each with how far it has come and how large it is.
    fn told_of(files: &[Option<(u64, Option<u64>)>]) -> String {
        told(&files.iter().map(|file| file.map(|(got, of)| Progress { got, of })).collect::<Vec<_>>())
    }

    #[test]
    fn the_line_tells_the_whole_size_once_it_is_known() {
        assert_eq!(told_of(&[Some((512, None))]), "fetching 1 file: 512 B");
        assert_eq!(told_of(&[Some((1_250_000, Some(2_000_000)))]), "fetching 1 file: 1.2 MB of 2.0 MB");
        assert_eq!(told_of(&[Some((1_500, Some(2_000))), None]), "fetching 2 files: 1.5 kB");
        assert_eq!(told_of(&[Some((1_500, Some(2_000))), Some((10, None))]), "fetching 2 files: 1.5 kB");
        assert_eq!(told_of(&[Some((1_500, Some(2_000))), Some((10, Some(999)))]), "fetching 2 files: 1.5 kB of 2.9 kB");
    }
}
