//! In a text that a document embeds, too, nothing differs but what the departures call for.
//!
//! The text's lines are compared, and each change of lines is taken back by itself: if the text then still says what
//! it says with the change, the change was one of layout, and no departure called for it. This asks neither where
//! values stand in the text nor what an editor did, so it holds for every language that can be read.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::embedded::{self, Language};

/// How many changes are taken back in one text: each costs a reading of it.
const MAX_CHANGES: usize = 500;

/// The byte of the result's text where lines begin to differ that need not, if there are any.
pub(super) fn stray(language: Language, base: &str, result: &str) -> Option<usize> {
    let says = embedded::read(language, result).ok()?;
    let old: Vec<&str> = base.split_inclusive('\n').collect();
    let new: Vec<&str> = result.split_inclusive('\n').collect();
    let is_layout = |(come, back): &(Range<usize>, String)| {
        let (above, below) = (new.iter().take(come.start), new.iter().skip(come.end));
        let without: String = above.copied().chain(std::iter::once(back.as_str())).chain(below.copied()).collect();
        embedded::read(language, &without).is_ok_and(|read| read == says)
    };
    let changes = capture_diff_slices(Algorithm::Myers, &old, &new);
    let ways = |change| ways_back(change, &old, &new).into_iter().chain(blank_lines(language, change, &new));
    let mut ways = changes.iter().flat_map(ways).take(MAX_CHANGES);
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

/// The lines of a change that hold nothing, each taken out. What is written anew in JSON has none; in the other
/// languages it is laid out as its patch has it.
fn blank_lines(language: Language, change: &DiffOp, new: &[&str]) -> Vec<(Range<usize>, String)> {
    let come = if language == Language::Json { change.new_range() } else { 0..0 };
    let is_blank = |at: &usize| new.get(*at).is_some_and(|line| line.trim().is_empty());
    come.filter(is_blank).map(|at| (at..at + 1, String::new())).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_meaning_needs_is_no_stray() {
        for (language, base, result) in [
            (Language::Json, "{\n  \"a\": 1\n}\n", "{\n  \"a\": 1,\n  \"b\": 2\n}\n"),
            (Language::Json, "{\n  \"a\": 1 \n}\n", "{\n  \"a\": 1, \n  \"b\": 2\n}\n"),
            (Language::Json, "{\"a\": 1}", "{}"),
            (Language::Json, "[\n  1,\n  2\n]", "[\n  1\n]"),
            (Language::Yaml, "a: 1\n# of b\nb: 2\n", "a: 1\n"),
            (Language::Yaml, "a: &x {k: 1}\nb: 2\nc: *x\n", "a: &x {k: 2}\nb: 2\nc: {k: 1}\n"),
            (Language::Yaml, "l: [\n  1\n]\n", "l: [\n  1,\n  2\n]\n"),
            (Language::Toml, "a = 1\n\n[t]\nb = 2\n", "a = 3\n\n[t]\nb = 2\n"),
        ] {
            assert_eq!(stray(language, base, result), None, "{result}");
        }
    }

    #[test]
    fn lines_that_say_the_same_in_another_way_are_found() {
        let json = "{\n  \"a\": 1,\n  \"l\": [1, 2],\n  \"b\": 3\n}\n";
        assert_eq!(stray(Language::Json, json, &json.replace("[1, 2]", "[1,2]").replace(": 3", ": 4")), Some(12));
        let (base, result) = ("{\n  \"a\": 1\n}\n", "{\n  \"a\" : 1,\n  \"b\": 2\n}\n");
        assert_eq!(stray(Language::Json, base, result), Some(2), "next to a departure");
        let (base, result) = ("{\n  \"a\": 1,\n  \"b\": 2\n}\n", "{\n  \"a\": 1, \n  \"b\": 2,\n  \"c\": 3\n}\n");
        assert_eq!(stray(Language::Json, base, result), Some(2), "a blank behind a comma");
        let result = "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n\n}\n";
        assert_eq!(stray(Language::Json, base, result), Some(31), "a line without anything beside a new one");
        let yaml = "a: 1\n# said\nb: two\nc: 3\n";
        assert_eq!(stray(Language::Yaml, yaml, "a: 9\n# unsaid\nb: two\nc: 3\n"), Some(5));
        assert_eq!(stray(Language::Yaml, yaml, "a: 9\n# said\nb: 'two'\nc: 3\n"), Some(12));
        assert_eq!(stray(Language::Yaml, yaml, "a: 1\nb: two\nc: 4\n"), Some(5));
        assert_eq!(stray(Language::Toml, "a = 1\nb = 2\nc = 3\n", "a = 1\nb  = 2\nc = 4\n"), Some(6));
        assert_eq!(stray(Language::Toml, "a = 1\nb = 2\nc = 3\n", "a  = 1\nb = 2\nc = 4\n"), Some(0));
    }
}
