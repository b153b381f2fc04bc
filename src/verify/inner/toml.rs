//! In a TOML text nothing differs but what the departures call for.
//!
//! The text's lines are compared, and each change of lines is taken back by itself: if the text then still says what
//! it says with the change, the change was one of layout, and no departure called for it. This asks neither where
//! values stand in the text nor what an editor did.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::embedded::{self, Language};

/// How many changes are taken back in one text: each costs a reading of it.
const MAX_CHANGES: usize = 500;

/// The byte of the result's text where lines begin to differ that need not, if there are any.
pub(super) fn stray(base: &str, result: &str) -> Option<usize> {
    let says = embedded::read(Language::Toml, result).ok()?;
    let old: Vec<&str> = base.split_inclusive('\n').collect();
    let new: Vec<&str> = result.split_inclusive('\n').collect();
    let is_layout = |(come, back): &(Range<usize>, String)| {
        let (above, below) = (new.iter().take(come.start), new.iter().skip(come.end));
        let without: String = above.copied().chain(std::iter::once(back.as_str())).chain(below.copied()).collect();
        embedded::read(Language::Toml, &without).is_ok_and(|read| read == says)
    };
    let changes = capture_diff_slices(Algorithm::Myers, &old, &new);
    let mut ways = changes.iter().flat_map(|change| ways_back(change, &old, &new)).take(MAX_CHANGES);
    let (come, _) = ways.find(is_layout)?;
    Some(new.iter().take(come.start).map(|line| line.len()).sum())
}

/// How parts of a change can be taken back: lines of the result, each with what stands there instead. The whole
/// change; where as many lines come as go, each line; else those lines, counted from both ends, that differ by no more
/// than white space.
fn ways_back(change: &DiffOp, old: &[&str], new: &[&str]) -> Vec<(Range<usize>, String)> {
    let (gone, come) = (change.old_range(), change.new_range());
    let line = |(old_at, new_at): (usize, usize)| {
        let (old, new) = (old.get(old_at)?, new.get(new_at)?);
        Some((new_at..new_at + 1, *old, *new))
    };
    let from_top = gone.clone().zip(come.clone()).filter_map(line);
    match change {
        DiffOp::Equal { .. } => Vec::new(),
        DiffOp::Replace { old_len, new_len, .. } if old_len == new_len => {
            from_top.map(|(at, old, _)| (at, old.to_owned())).collect()
        }
        _ => {
            let from_end = gone.clone().rev().zip(come.clone().rev()).filter_map(line);
            let spaced = from_top.chain(from_end).filter_map(|(at, old, new)| Some((at, spaced_as(old, new)?)));
            let whole = old.get(gone.clone()).unwrap_or_default().concat();
            std::iter::once((come.clone(), whole)).chain(spaced).collect()
        }
    }
}

/// The old line with the comma that the new one has at its end, or without, if they differ by white space.
fn spaced_as(old: &str, new: &str) -> Option<String> {
    let body = |line: &'_ str| line.trim_end().trim_end_matches(',').len();
    let bare = |line: &str| line.get(..body(line)).unwrap_or_default().split_whitespace().collect::<String>();
    let comma = if new.trim_end().ends_with(',') { "," } else { "" };
    let white = |line: &'_ str| line.trim_end_matches(['\r', '\n']).len();
    let blanks = old.get(old.trim_end().len()..white(old))?;
    let back = format!("{}{comma}{blanks}{}", old.get(..body(old))?, new.get(white(new)..)?);
    (back != new && bare(old) == bare(new)).then_some(back)
}
