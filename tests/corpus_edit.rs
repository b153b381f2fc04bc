//! Edits of real manifests: for scalars a replacement, for mappings an added key and each key removed, for lists an item
//! inserted at each place and each removed, in every file of a corpus and in its variants with CRLF, with a byte order
//! mark, and without a final newline.
//!
//! Each edit is held to two things. Its meaning is what `json-patch` makes of the document's value. Its bytes lie within
//! the place: what is between the neighbours of what is changed, and nothing beyond.
//!
//! The corpus is not part of this repository: `OVERLAY_SHARED` names the folder that holds it. Of documents up to about
//! 1 KB every edit is made; of larger ones a sample, always the same. With `OVERLAY_CORPUS_FULL=1` only those above
//! 100 KB are sampled, and less thinly. That is for a build with optimisations.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test reads its corpus, and may fail")]

#[path = "support/dice.rs"]
mod dice;
mod probe;
mod support;

use std::collections::BTreeMap;

use dice::Dice;
use overlay::yaml::stream::split;
use probe::{Document, Probe, values};

/// How many bytes of documents are edited, for each document and kind of edit, when not everything is: a document is read
/// again after each edit, so this is what a test costs.
const SAMPLE: usize = 150_000;

/// From which size on a document is sampled even when everything else is not, and how many edits of a kind are made in it.
const LARGE: usize = 100_000;
const MANY: usize = 40;

type Variant = (&'static str, fn(&str) -> String);

// Two tests, so that they run side by side.
#[test]
fn every_edit_of_the_corpus_means_what_it_must_and_stays_in_its_place() {
    let made = every_edit_is_right(&[("as it is", str::to_owned), ("BOM", |text| format!("\u{feff}{text}"))]);
    println!("edits made: {made:?}");
}

#[test]
fn every_edit_of_the_corpus_in_crlf_and_without_a_final_newline_is_right() {
    let made = every_edit_is_right(&[
        ("CRLF", |text| text.replace('\n', "\r\n")),
        ("no final newline", |text| text.trim_end_matches('\n').to_owned()),
    ]);
    println!("edits made: {made:?}");
}

/// Makes the edits of the corpus in these variants, and says how many of each kind there were.
fn every_edit_is_right(variants: &[Variant]) -> BTreeMap<&'static str, usize> {
    let full = std::env::var_os("OVERLAY_CORPUS_FULL").is_some();
    let (mut failures, mut counts) = (Vec::new(), BTreeMap::new());
    let manifests = support::manifests();
    for (file, text) in &manifests {
        for (variant, varied) in variants {
            let text = varied(text);
            let name = format!("{file} ({variant})");
            let mut dice = Dice::new(&name);
            for (number, piece) in split(&text).iter().enumerate() {
                let document = Document::read(format!("{name} document {number}"), piece.text(&text));
                for probe in sample(&document, &mut dice, full) {
                    *counts.entry(probe.kind).or_insert(0) += 1;
                    failures.extend(document.check(&probe));
                }
            }
        }
    }
    assert!(manifests.is_empty() || counts.len() == 5, "not every kind of edit was made: {counts:?}");
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures[..failures.len().min(20)].join("\n\n"));
    counts
}

/// The edits of a document that are made, so many of each kind, with some value each.
fn sample(document: &Document, dice: &mut Dice, full: bool) -> Vec<Probe> {
    let mut by_kind: BTreeMap<&'static str, Vec<Probe>> = BTreeMap::new();
    for probe in document.probes() {
        by_kind.entry(probe.kind).or_default().push(probe);
    }
    let mut probes = Vec::new();
    for of_kind in by_kind.into_values() {
        let count = match (full, document.text.len()) {
            (true, ..LARGE) => usize::MAX,
            (true, _) => MANY,
            (false, len @ ..LARGE) => (SAMPLE / len.max(1)).max(1),
            // Each kind in one variant of four, or so.
            (false, _) => usize::from(dice.below(4) == 0),
        };
        probes.extend(dice.some(of_kind, count));
    }
    for probe in &mut probes {
        probe.value = values()[dice.below(values().len())].clone();
    }
    probes
}

#[test]
fn everything_that_can_be_done_is_probed() {
    let document = Document::read("inline".into(), "a: [1, {b: 2}]\nc:\n- d\n");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for probe in document.probes() {
        *counts.entry(probe.kind).or_default() += 1;
    }
    let counts: Vec<_> = counts.into_iter().collect();
    let all =
        [("add a key", 2), ("insert an item", 5), ("remove a key", 3), ("remove an item", 3), ("replace a scalar", 3)];
    assert_eq!(counts, all);
}
