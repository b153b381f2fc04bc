//! Outside the lines of the departures, base and result are the same bytes. A departure is here what patches take out or
//! bring, place by place, and not how that reads as a difference of values.
//!
//! The lines of all departures are taken out of both, and what is left must be equal, line by line. No list of edits
//! is asked for, and no line is guessed to be another. Only a line next to a departure may differ, and only by the
//! punctuation that the departure calls for.

use std::collections::HashSet;
use std::ops::Range;

/// A text and which of its lines, as bytes of whole lines, depart or stand next to one that does.
#[derive(Debug, Default)]
pub(super) struct Marked<'t> {
    /// The text.
    pub(super) text: &'t str,
    /// The lines that depart.
    pub(super) departing: Vec<Range<usize>>,
    /// The lines next to them.
    pub(super) near: Vec<Range<usize>>,
    /// Lines without content behind a departure that may go with it. Of a result, nothing may.
    pub(super) loose: Vec<Range<usize>>,
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
pub(super) fn compare(base: Marked<'_>, result: Marked<'_>) -> Option<Stray> {
    let starts = |lines: &[Range<usize>]| lines.iter().map(|r| r.start).collect::<HashSet<_>>();
    let (near_old, near_new, loose) = (starts(&base.near), starts(&result.near), starts(&base.loose));
    let ends = (base.text.len(), result.text.len());
    let old: Vec<(usize, &str)> = Rest::new(base).collect();
    let new: Vec<(usize, &str)> = Rest::new(result).collect();
    let (mut stray, mut tried) = (None, HashSet::new());
    // A line that may go and stands in the result all the same may be that one or a later one: both ways are open.
    let mut ways = vec![(0, 0)];
    while let Some((mut at_old, mut at_new)) = ways.pop() {
        loop {
            let (line, other) = (old.get(at_old), new.get(at_new));
            if let Some((before, _)) = line
                && loose.contains(before)
                && tried.insert((at_old, at_new))
            {
                ways.push((at_old + 1, at_new));
            }
            match (line, other) {
                (None, None) => return None,
                (Some((before, a)), Some((after, b)))
                    if a == b || (near_old.contains(before) && near_new.contains(after) && are_alike(a, b)) =>
                {
                    (at_old, at_new) = (at_old + 1, at_new + 1);
                }
                _ => break,
            }
        }
        let start = |line: Option<&(usize, &str)>, end: usize| line.map_or(end, |(start, _)| *start);
        let here = Stray { before: start(old.get(at_old), ends.0), after: start(new.get(at_new), ends.1) };
        // The way that leads furthest tells best.
        if stray.as_ref().is_none_or(|stray: &Stray| (stray.after, stray.before) < (here.after, here.before)) {
            stray = Some(here);
        }
    }
    stray
}

/// Whether two lines differ at most by punctuation at the ends of their content, by a dash that stands before one of them
/// because what stood behind it is gone, by what stands behind a dash being empty, or by one of them having no line break.
fn are_alike(a: &str, b: &str) -> bool {
    let (a, a_break) = a.split_at(a.trim_end_matches(['\r', '\n']).len());
    let (b, b_break) = b.split_at(b.trim_end_matches(['\r', '\n']).len());
    let breaks = a_break == b_break || a_break.is_empty() || b_break.is_empty();
    let comment = |line: &str| line.find(" #").unwrap_or(line.len());
    let ((a, a_comment), (b, b_comment)) = (a.split_at(comment(a)), b.split_at(comment(b)));
    let ((a_lead, a), (b_lead, b)) = (a.split_at(lead(a)), b.split_at(lead(b)));
    let leads = a_lead == b_lead
        || (a_lead.len() == b_lead.len() && is_blank(a_lead) != is_blank(b_lead))
        || (!is_blank(a_lead) && a_lead.trim_end() == b_lead.trim_end());
    breaks && leads && bare(a) == bare(b) && a_comment == b_comment
}

/// How many bytes of a line are its indentation and the dashes of the items that begin on it.
fn lead(line: &str) -> usize {
    let content = line.trim_start_matches(' ');
    match content.strip_prefix("- ") {
        Some(rest) => line.len() - rest.len() + lead(rest),
        None if content == "-" => line.len(),
        None => line.len() - content.len(),
    }
}

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
        let near = |text, near: Range<usize>| marked(text, &[], std::slice::from_ref(&near));
        assert_eq!(compare(near("a: {}\n", 0..6), near("a:\n", 0..3)), None);
        assert_eq!(compare(near("  \"a\": 1\n", 0..9), near("  \"a\": 1,\n", 0..10)), None);
        assert_eq!(compare(near("k: |\n", 0..5), near("k: |-\n", 0..6)), None);
        assert_eq!(compare(near("k: v\n", 0..5), near("k: v", 0..4)), None);
        assert_eq!(compare(near("m: # c\n", 0..7), near("m: {} # c\n", 0..10)), None);
        assert_eq!(compare(near("  x # c\n", 0..8), near("  x, # c\n", 0..9)), None);
        assert_eq!(compare(near("  b: 1\n", 0..7), near("- b: 1\n", 0..7)), None);
        assert_eq!(compare(near("    b: 1\n", 0..9), near("- - b: 1\n", 0..9)), None);
        assert_eq!(compare(near("  -\n", 0..4), near("  - []\n", 0..7)), None);
        assert_eq!(compare(near("- - # c\n", 0..8), near("- - {} # c\n", 0..11)), None);
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
