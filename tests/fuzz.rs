//! What the fuzzers of `fuzz/` do for hours, done for seconds: their seeds, changed at random but the same in every run.
//! `FUZZ_RUNS` says how many changes of each seed are tried.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test may read files and the environment, and fail"
)]

#[allow(unreachable_pub, reason = "the crate of cargo-fuzz takes it from there")]
#[path = "../fuzz/src/lib.rs"]
mod fuzz;

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What must hold of any bytes.
type Holds = fn(&[u8]);

/// Every fuzz target.
const TARGETS: [(&str, Holds); 9] = [
    ("against", fuzz::against),
    ("editor", fuzz::editor),
    ("embedded", fuzz::embedded),
    ("files", fuzz::files),
    ("git", fuzz::git),
    ("patch", fuzz::patch),
    ("path", fuzz::path),
    ("reader", fuzz::reader),
    ("registry", fuzz::registry),
];

/// Numbers without a pattern that matters here (xorshift64*).
struct Choices(u64);

impl Choices {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = usize::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap();
        number % count.max(1)
    }
}

/// What formats are made of.
const PIECES: [&str; 24] = [
    "\n", ": ", "- ", "#", "'", "\"", "[", "]", "{", "}", "&a ", "*a", "<<: ", "|\n", ">-\n", "\t", "\r\n", "---\n",
    "~", "0", "\u{1b}", "\u{feff}", "é", "::",
];

/// The bytes with one to four changes.
fn changed(seed: &[u8], choices: &mut Choices) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=choices.below(4) {
        let at = choices.below(bytes.len() + 1);
        let to = (at + choices.below(12)).min(bytes.len());
        match choices.below(5) {
            0 => drop(bytes.drain(at..to)),
            1 => {
                let copy = bytes[at..to].to_vec();
                let there = choices.below(bytes.len() + 1);
                drop(bytes.splice(there..there, copy));
            }
            2 => drop(bytes.splice(at..at, PIECES[choices.below(PIECES.len())].bytes())),
            3 => drop(bytes.splice(at..to, PIECES[choices.below(PIECES.len())].bytes())),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = u8::try_from(choices.below(256)).unwrap();
                }
            }
        }
    }
    bytes
}

fn names(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(format!("{}/fuzz/{folder}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Tries the seeds of a target, and changes of each of them.
fn smoke(target: &str) {
    let holds = TARGETS.iter().find(|(name, _)| *name == target).unwrap().1;
    let runs = std::env::var("FUZZ_RUNS").map_or(50, |runs| runs.parse().unwrap());
    let seeds = names(&format!("seeds/{target}"));
    assert!(!seeds.is_empty(), "{target} has no seed");
    let mut choices = Choices(0x9E37_79B9_7F4A_7C15);
    for name in seeds {
        let seed = fs::read(format!("{}/fuzz/seeds/{target}/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        holds(&seed);
        let mut last = seed.clone();
        for run in 0..runs {
            last = changed(if run % 4 == 0 { &seed } else { &last }, &mut choices);
            let held = catch_unwind(AssertUnwindSafe(|| holds(&last)));
            assert!(held.is_ok(), "{target} does not hold for \"{}\"", last.escape_ascii());
        }
    }
}

#[test]
fn every_target_is_tried_here_and_has_seeds() {
    let here: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names("seeds"), here);
    assert_eq!(names("fuzz_targets"), here.iter().map(|name| format!("{name}.rs")).collect());
}

#[test]
fn the_reader_holds() {
    smoke("reader");
}

#[test]
fn the_editor_holds() {
    smoke("editor");
}

#[test]
fn the_editors_of_embedded_texts_hold() {
    smoke("embedded");
}

#[test]
fn paths_hold() {
    smoke("path");
}

#[test]
fn our_files_hold() {
    smoke("files");
}

#[test]
fn patches_hold() {
    smoke("patch");
}

#[test]
fn files_held_against_an_overlay_hold() {
    smoke("against");
}

#[test]
fn answers_of_registries_hold() {
    smoke("registry");
}

#[test]
fn answers_of_git_servers_hold() {
    smoke("git");
}
