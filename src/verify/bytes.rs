//! Outside the lines of the departures, base and result are the same bytes. A departure is here what patches take out or
//! bring, place by place, and not how that reads as a difference of values.
//!
//! The lines of all departures are taken out of both, and what is left must be equal, line by line. No list of edits
//! is asked for, and no line is guessed to be another. Only a line next to a departure may differ, and only by the
//! punctuation that the departure calls for.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::beside;

/// A text and which of its lines, as bytes of whole lines, depart or stand next to one that does.
#[derive(Debug, Default)]
pub(super) struct Marked<'t> {
    /// The text.
    pub(super) text: &'t str,
    /// The lines that depart.
    pub(super) departing: Vec<Range<usize>>,
    /// The lines next to them, each from its start to where its comment begins or it ends.
    pub(super) near: Vec<Range<usize>>,
    /// Lines without content at a departure that may be on this side alone: of a base, those that may go with it, of a
    /// result, those that may have come with it.
    pub(super) loose: Vec<Range<usize>>,
    /// Where something of a base ends that is gone from behind a dash, with its line.
    pub(super) freed: Vec<usize>,
    /// Where the first line of something of a base begins that is gone, without the comments above it.
    pub(super) gone: Vec<usize>,
    /// Whether something may need a final line break that the other side has not, or may not have one.
    pub(super) needs_end: bool,
}

/// The first place where two texts differ and must not.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stray {
    /// The byte in the base where its line begins.
    pub(super) before: usize,
    /// The byte in the result.
    pub(super) after: usize,
}

/// Compares what is left of two texts.
pub(super) fn compare(mut base: Marked<'_>, result: Marked<'_>) -> Option<Stray> {
    let ends = (base.text.len(), result.text.len());
    let is_whole = |text: &str| text.ends_with('\n');
    let is_any_empty = base.text.is_empty() || result.text.is_empty();
    if is_whole(base.text) != is_whole(result.text) && !is_any_empty && !base.needs_end && !result.needs_end {
        return Some(Stray { before: ends.0, after: ends.1 });
    }
    beside::mark(&mut base);
    let (old, new) = (Left::of(base), Left::of(result));
    let (mut stray, mut tried) = (None, HashSet::new());
    // A loose line that is on both sides all the same may be that one or a later one: all ways are open.
    let mut ways = vec![(0, 0)];
    while let Some((mut at_old, mut at_new)) = ways.pop() {
        loop {
            let (line, other) = (old.lines.get(at_old), new.lines.get(at_new));
            let is_loose = (old.is_loose(line), new.is_loose(other));
            if (is_loose.0 || is_loose.1) && tried.insert((at_old, at_new)) {
                ways.extend(is_loose.0.then_some((at_old + 1, at_new)));
                ways.extend(is_loose.1.then_some((at_old, at_new + 1)));
            }
            match (line, other) {
                (None, None) => return None,
                (Some(line), Some(other)) if is_same(line.1, other.1) || old.are_alike(line, &new, other) => {
                    (at_old, at_new) = (at_old + 1, at_new + 1);
                }
                _ => break,
            }
        }
        let here = Stray { before: old.start(at_old, ends.0), after: new.start(at_new, ends.1) };
        // The way that leads furthest tells best.
        if stray.as_ref().is_none_or(|stray: &Stray| (stray.after, stray.before) < (here.after, here.before)) {
            stray = Some(here);
        }
    }
    stray
}

/// Whether two lines are the same, but for a line break that one lacks: it ends its text, and what ends the text on the other
/// side departs.
fn is_same(line: &str, other: &str) -> bool {
    let bare = |line: &'_ str| line.trim_end_matches(['\r', '\n']).len();
    let (end, other_end) = (bare(line), bare(other));
    let lacks_break = end == line.len() || other_end == other.len();
    line == other || (lacks_break && line.get(..end) == other.get(..other_end))
}

/// What is left of one side.
struct Left<'t> {
    /// Its lines, each with where it begins.
    lines: Vec<(usize, &'t str)>,
    /// How much of a near line is no comment, by where the line begins.
    near: HashMap<usize, usize>,
    loose: HashSet<usize>,
}

impl<'t> Left<'t> {
    fn of(marked: Marked<'t>) -> Left<'t> {
        Left {
            near: marked.near.iter().map(|line| (line.start, line.len())).collect(),
            loose: marked.loose.iter().map(|line| line.start).collect(),
            lines: Rest::new(marked).collect(),
        }
    }

    fn start(&self, line: usize, end: usize) -> usize {
        self.lines.get(line).map_or(end, |(start, _)| *start)
    }

    fn is_loose(&self, line: Option<&(usize, &str)>) -> bool {
        line.is_some_and(|(start, _)| self.loose.contains(start))
    }

    /// Whether a line and one of the result are both near, and differ as such lines may.
    fn are_alike(&self, (before, old): &(usize, &str), result: &Left<'_>, (after, new): &(usize, &str)) -> bool {
        let content = |side: &Left<'_>, start: &usize| side.near.get(start).copied();
        let contents = content(self, before).zip(content(result, after));
        contents.is_some_and(|(old_len, new_len)| are_alike((old, old_len), (new, new_len)))
    }
}

/// Whether two lines differ at most by punctuation at the ends of their content, by a dash that stands before one of them
/// because what stood behind it is gone, by what stands behind a dash being empty, or by one of them having no line break.
/// Each comes with the length of what is no comment.
fn are_alike((a, a_len): (&str, usize), (b, b_len): (&str, usize)) -> bool {
    let (a, a_break) = a.split_at(a.trim_end_matches(['\r', '\n']).len());
    let (b, b_break) = b.split_at(b.trim_end_matches(['\r', '\n']).len());
    let breaks = a_break == b_break || a_break.is_empty() || b_break.is_empty();
    let ((a, a_comment), (b, b_comment)) = (a.split_at(a_len.min(a.len())), b.split_at(b_len.min(b.len())));
    let has_new_blank = b.ends_with([' ', '\t']) && !a.ends_with([' ', '\t']) && !is_blank(b);
    let ((a_lead, a), (b_lead, b)) = (a.split_at(lead(a)), b.split_at(lead(b)));
    let is_alike = |(a, b): (char, char)| a == b || a == ' ' || b == ' ';
    let leads = (a_lead.len() == b_lead.len() && a_lead.chars().zip(b_lead.chars()).all(is_alike))
        || (!is_blank(a_lead) && a_lead.trim_end() == b_lead.trim_end());
    breaks && leads && bare(a) == bare(b) && a_comment == b_comment && !has_new_blank
}

/// How many bytes of a line are its indentation and the dashes of the items that begin on it, or the indicators of a long
/// key and its value.
fn lead(line: &str) -> usize {
    let content = line.trim_start_matches(' ');
    match content.strip_prefix(INDICATORS).and_then(|rest| rest.strip_prefix(' ')) {
        Some(rest) => line.len() - rest.len() + lead(rest),
        None if content == "-" => line.len(),
        None => line.len() - content.len(),
    }
}

/// What stands in the first column of a block collection, or before one.
const INDICATORS: [char; 3] = ['-', '?', ':'];

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// A line without the punctuation that may come and go at its end: a comma, closing brackets, an empty collection with
/// the blanks before it, and the indicators of a block scalar.
fn bare(line: &str) -> &str {
    let mut line = line;
    loop {
        let next = line.trim_end_matches([',', '{', '}', '[', ']']);
        let next = if next == line { next } else { next.trim_end_matches(' ') };
        let indicators = next.trim_end_matches(|c: char| c.is_ascii_digit() || c == '+' || c == '-');
        let next = if indicators.ends_with(['|', '>']) { indicators.trim_end_matches(['|', '>']) } else { next };
        if next == line {
            return line;
        }
        line = next;
    }
}

/// The lines of a text that are left, each with where it begins.
struct Rest<'t> {
    text: &'t str,
    at: usize,
    /// The stretches to skip, the next one last.
    skip: Vec<Range<usize>>,
}

impl<'t> Rest<'t> {
    fn new(marked: Marked<'t>) -> Rest<'t> {
        let mut skip = marked.departing;
        skip.sort_unstable_by_key(|r| std::cmp::Reverse((r.start, r.end)));
        Rest { text: marked.text, at: 0, skip }
    }
}

impl<'t> Iterator for Rest<'t> {
    type Item = (usize, &'t str);

    fn next(&mut self) -> Option<(usize, &'t str)> {
        while let Some(next) = self.skip.last().filter(|next| next.start <= self.at) {
            self.at = self.at.max(next.end);
            self.skip.pop();
        }
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let line = rest.get(..memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |n| n + 1))?;
        let start = self.at;
        self.at += line.len();
        Some((start, line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked<'t>(text: &'t str, departing: &[Range<usize>], near: &[Range<usize>]) -> Marked<'t> {
        Marked { text, departing: departing.to_vec(), near: near.to_vec(), ..Marked::default() }
    }

    /// A line less the comment on it, of lines without quotes.
    fn content(text: &str, line: Range<usize>) -> Range<usize> {
        let bare = text.get(line.clone()).and_then(|line| line.split_once(" #")).map(|(before, _)| before.trim_end());
        line.start..bare.map_or(line.end, |bare| line.start + bare.len())
    }

    #[test]
    fn what_departs_may_differ_and_nothing_else() {
        let base = "a: 1\nb: 2\nc: 3\n";
        let second = std::slice::from_ref(&(5..10));
        assert_eq!(compare(marked(base, &[], &[]), marked(base, &[], &[])), None);
        assert_eq!(compare(marked(base, second, &[]), marked("a: 1\nb: 9\nc: 3\n", second, &[])), None);
        assert_eq!(compare(marked(base, second, &[]), marked("a: 1\nc: 3\n", &[], &[])), None);
        assert_eq!(compare(marked(base, &[], &[]), marked("a: 1\nx: 0\nb: 2\nc: 3\n", second, &[])), None);
        let stray = compare(marked(base, second, &[]), marked("a: 1\nb: 9\nc: 4\n", second, &[]));
        assert_eq!(stray, Some(Stray { before: 10, after: 10 }));
        let stray = compare(marked(base, &[], &[]), marked("a: 1\nb: 2\n", &[], &[]));
        assert_eq!(stray, Some(Stray { before: 10, after: 10 }));
        assert_eq!(compare(marked("", &[], &[]), marked("\n", &[], &[])), Some(Stray { before: 0, after: 0 }));
    }

    #[test]
    fn next_to_a_departure_punctuation_may_differ_and_nothing_else() {
        let near = |text, near: Range<usize>| {
            let content = content(text, near);
            marked(text, &[], std::slice::from_ref(&content))
        };
        assert_eq!(compare(near("a: {}\n", 0..6), near("a:\n", 0..3)), None);
        assert_eq!(compare(near("  \"a\": 1\n", 0..9), near("  \"a\": 1,\n", 0..10)), None);
        assert_eq!(compare(near("k: |\n", 0..5), near("k: |-\n", 0..6)), None);
        assert!(compare(near("k: v\n", 0..5), near("k: v", 0..4)).is_some());
        assert_eq!(compare(near("m: # c\n", 0..7), near("m: {} # c\n", 0..10)), None);
        assert_eq!(compare(near("m:  # c\n", 0..8), near("m: {}  # c\n", 0..11)), None);
        assert_eq!(compare(near("  x # c\n", 0..8), near("  x, # c\n", 0..9)), None);
        assert_eq!(compare(near("  b: 1\n", 0..7), near("- b: 1\n", 0..7)), None);
        assert_eq!(compare(near("    b: 1\n", 0..9), near("- - b: 1\n", 0..9)), None);
        let moved = |text, content: Range<usize>| marked(text, &[], std::slice::from_ref(&content));
        assert_eq!(compare(moved("    # c\n", 0..3), moved("- - # c\n", 0..3)), None);
        assert!(compare(moved("   # c\n", 0..2), moved("- - # c\n", 0..3)).is_some());
        assert!(compare(moved("    # c\n", 0..3), moved("- - # d\n", 0..3)).is_some());
        assert_eq!(compare(near("  -\n", 0..4), near("  - []\n", 0..7)), None);
        assert_eq!(compare(near("- - # c\n", 0..8), near("- - {} # c\n", 0..11)), None);
        assert_eq!(compare(near("- - a: 1\n", 0..9), near("  - a: 1\n", 0..9)), None);
        assert_eq!(compare(near(": - a: 1\n", 0..9), near("  - a: 1\n", 0..9)), None);
        assert!(compare(near("? - a: 1\n", 0..9), near(": - a: 1\n", 0..9)).is_some());
        assert!(compare(near("  -\n", 0..4), near("  -  \n", 0..6)).is_some());
        assert!(compare(near("  -\n", 0..4), near("  - x\n", 0..6)).is_some());
        assert!(compare(near("  -\n", 0..4), near("   - []\n", 0..8)).is_some());
        assert!(compare(near("   b: 1\n", 0..8), near("- b: 1\n", 0..7)).is_some());
        assert!(compare(near("- b: 1\n", 0..7), near(" - b: 1\n", 0..8)).is_some());
        assert!(compare(near("k: v # c\n", 0..9), near("k: v # d\n", 0..9)).is_some());
        assert!(compare(near("k: v # c\n", 0..9), near("k: v  # c\n", 0..10)).is_some());
        assert!(compare(near("k: 1\n", 0..5), near("k: 2\n", 0..5)).is_some());
        assert!(compare(near("k: 1\n", 0..5), near("k: 1 \n", 0..6)).is_some());
        assert!(compare(near("k: 1\r\n", 0..6), near("k: 1\n", 0..5)).is_some());
        assert!(compare(marked("a: {}\n", &[], &[]), near("a:\n", 0..3)).is_some());
    }

    #[test]
    fn what_is_no_comment_may_hold_a_hash() {
        let near = |text, content| marked(text, &[], std::slice::from_ref(&content));
        assert_eq!(compare(near("  \"x # y\"\n", 0..10), near("  \"x # y\",\n", 0..11)), None);
        assert_eq!(compare(near("  'x # y' # c\n", 0..9), near("  'x # y', # c\n", 0..10)), None);
        assert!(compare(near("  x # y\n", 0..3), near("  x # y,\n", 0..3)).is_some());
    }

    #[test]
    fn loose_lines_may_come_with_a_result() {
        let result = |loose: Range<usize>| Marked { loose: vec![loose], ..marked("a: 1\n\nb: 2\n", &[], &[]) };
        assert_eq!(compare(marked("a: 1\nb: 2\n", &[], &[]), result(5..6)), None);
        assert_eq!(compare(marked("a: 1\n\nb: 2\n", &[], &[]), result(5..6)), None);
        assert!(compare(marked("a: 1\nb: 2\n", &[], &[]), result(6..11)).is_some());
    }

    #[test]
    fn loose_lines_may_go_and_no_others() {
        let gone = std::slice::from_ref(&(9..14));
        let base = |loose: Range<usize>| Marked {
            loose: Vec::from([loose]),
            ..marked("a: |\n  x\nb: 1\n\n# c\nd: 1\n", gone, &[])
        };
        let result = |text| marked(text, &[], &[]);
        assert_eq!(compare(base(14..15), result("a: |\n  x\n# c\nd: 1\n")), None);
        assert_eq!(compare(base(14..15), result("a: |\n  x\n\n# c\nd: 1\n")), None);
        assert!(compare(base(14..15), result("a: |\n  x\n\nd: 1\n")).is_some());
        assert!(compare(base(14..15), result("a: |\n  x\n\n\n# c\nd: 1\n")).is_some());
    }

    #[test]
    fn a_loose_line_that_stays_may_be_any_of_them() {
        let base = || Marked {
            loose: std::slice::from_ref(&(5..6)).to_vec(),
            ..marked("a: 1\n\n# c\n\nb: 1\n", std::slice::from_ref(&(6..10)), &[])
        };
        assert_eq!(compare(base(), marked("a: 1\n\nb: 1\n", &[], &[])), None);
        assert_eq!(compare(base(), marked("a: 1\nb: 1\n", &[], &[])), Some(Stray { before: 10, after: 5 }));
    }

    #[test]
    fn stretches_may_overlap_and_come_in_any_order() {
        assert_eq!(compare(marked("0\n1\n2\n3\n4\n", &[4..8, 2..6], &[]), marked("0\n4\n", &[], &[])), None);
    }
}
