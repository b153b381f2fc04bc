//! The lines without content beside what departs: which of them may go with it, move or come, whatever order edits are made in.
//!
//! Like `bytes`, this knows lines, and nothing of YAML and of what an editor did.

use std::collections::HashSet;
use std::ops::Range;

use super::bytes::Marked;

/// A text, and the lines of it that depart.
struct Lines<'t> {
    text: &'t str,
    /// In order, and none in another.
    departing: Vec<Range<usize>>,
}

/// What is found of a base.
#[derive(Default)]
struct Found {
    /// Lines that may go.
    loose: Vec<Range<usize>>,
    /// Comments that may move to a dash, each with all blanks before it but one.
    near: Vec<Range<usize>>,
    /// Comments that may stay, though they were counted to what goes.
    kept: Vec<Range<usize>>,
}

/// Finds these lines of a base, and marks them.
pub(super) fn mark(base: &mut Marked<'_>) {
    let lines = Lines::of(base);
    let mut found = Found::default();
    if !base.text.is_empty() && !base.text.ends_with('\n') {
        lines.above_the_end(&base.loose, &mut found);
    }
    for end in &base.freed {
        lines.behind_a_dash(*end, &mut found);
    }
    let mut seen = HashSet::new();
    for start in &base.gone {
        lines.above(*start, &mut seen, &mut found);
    }
    let departing = lines.without(&found.kept);
    base.departing = departing;
    base.loose.extend(found.loose);
    base.near.extend(found.near);
}

/// The lines of a result that a part left when it was taken out of what had just come: those without content behind the
/// whole, which ends at one of `ends`, and behind what came next to it. A comment is one of them only where it `is_said`
/// elsewhere.
pub(super) fn left_over(result: &Marked<'_>, ends: &[usize], is_said: &dyn Fn(&str) -> bool) -> Vec<Range<usize>> {
    let lines = Lines::of(result);
    let mut left = Vec::new();
    for end in ends {
        let mut at = *end;
        while let Some(line) = lines.line(at) {
            at = line.end;
            if lines.departs(line.start) {
                continue;
            }
            let text = lines.trimmed(&line);
            if !(text.is_empty() || (text.starts_with('#') && is_said(text))) {
                break;
            }
            left.push(line);
        }
    }
    left
}

impl<'t> Lines<'t> {
    fn of(marked: &Marked<'t>) -> Lines<'t> {
        let mut all = marked.departing.clone();
        all.sort_unstable_by_key(|lines| lines.start);
        let mut departing: Vec<Range<usize>> = Vec::with_capacity(all.len());
        for lines in all.into_iter().filter(|lines| !lines.is_empty()) {
            match departing.last_mut().filter(|last| lines.start <= last.end) {
                Some(last) => last.end = last.end.max(lines.end),
                None => departing.push(lines),
            }
        }
        Lines { text: marked.text, departing }
    }

    /// The line that begins at a byte.
    fn line(&self, start: usize) -> Option<Range<usize>> {
        let rest = self.text.get(start..).filter(|rest| !rest.is_empty())?;
        Some(start..memchr::memchr(b'\n', rest.as_bytes()).map_or(self.text.len(), |feed| start + feed + 1))
    }

    /// The line that ends at a byte.
    fn line_before(&self, end: usize) -> Option<Range<usize>> {
        let before = self.text.get(..end).filter(|before| !before.is_empty())?;
        let line = before.strip_suffix('\n').unwrap_or(before);
        Some(line.rfind('\n').map_or(0, |feed| feed + 1)..end)
    }

    fn trimmed(&self, line: &Range<usize>) -> &'t str {
        self.text.get(line.clone()).unwrap_or_default().trim()
    }

    fn indentation(&self, line: &Range<usize>) -> usize {
        let text = self.text.get(line.clone()).unwrap_or_default();
        text.len() - text.trim_start_matches(' ').len()
    }

    fn departs(&self, at: usize) -> bool {
        let next = self.departing.partition_point(|lines| lines.end <= at);
        self.departing.get(next).is_some_and(|lines| lines.start <= at)
    }

    /// What departs, without some lines.
    fn without(&self, kept: &[Range<usize>]) -> Vec<Range<usize>> {
        let mut departing = self.departing.clone();
        for line in kept {
            let at = departing.iter().position(|lines| lines.start <= line.start && line.end <= lines.end);
            if let Some(lines) = at.map(|at| departing.swap_remove(at)) {
                departing.extend([lines.start..line.start, line.end..lines.end]);
            }
        }
        departing
    }

    /// The blank lines above what departs at the end, whose line break is to stay missing.
    fn above_the_end(&self, loose: &[Range<usize>], found: &mut Found) {
        let loose: HashSet<usize> = loose.iter().map(|line| line.start).collect();
        let mut end = self.text.len();
        while let Some(line) = self.line_before(end) {
            let is_blank = self.trimmed(&line).is_empty() || loose.contains(&line.start);
            let goes_on = self.departs(line.start) || (is_blank && end < self.text.len());
            if !goes_on {
                break;
            }
            end = line.start;
            found.loose.push(line);
        }
    }

    /// What stood behind a dash ends at a byte and goes: what comes next moves to the dash, without the blank lines before
    /// it. That may be a comment, also one that goes with what it stands above.
    fn behind_a_dash(&self, end: usize, found: &mut Found) {
        let mut at = end;
        while let Some(line) = self.line(at) {
            at = line.end;
            let (text, departs) = (self.trimmed(&line), self.departs(line.start));
            if text.starts_with('#') {
                let blanks = self.indentation(&line).saturating_sub(1);
                found.near.push(line.start..line.start + blanks);
                if departs {
                    found.kept.push(line.clone());
                    found.loose.push(line);
                } else {
                    break;
                }
            } else if text.is_empty() {
                found.loose.push(line);
            } else if !departs {
                break;
            }
        }
    }

    /// The comments that stand above something that goes once what is between goes too: those in its column go with it.
    fn above(&self, start: usize, seen: &mut HashSet<(usize, usize)>, found: &mut Found) {
        let Some(indentation) = self.line(start).map(|line| self.indentation(&line)) else { return };
        let mut end = start;
        while let Some(line) = self.line_before(end).filter(|line| seen.insert((line.start, indentation))) {
            end = line.start;
            let is_above = self.trimmed(&line).starts_with('#') && self.indentation(&line) == indentation;
            if self.departs(line.start) {
                continue;
            }
            if !is_above {
                break;
            }
            found.loose.push(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::bytes::compare;

    fn marked<'t>(text: &'t str, departing: &[Range<usize>]) -> Marked<'t> {
        Marked { text, departing: departing.to_vec(), ..Marked::default() }
    }

    #[test]
    fn a_final_line_break_stays_missing_and_blank_lines_go_for_it() {
        let base = |departing: &[Range<usize>]| marked("a: 1\n\nb: 2\n\n\nc: 3", departing);
        let result = |text| marked(text, &[]);
        let last = std::slice::from_ref(&(13..17));
        assert_eq!(compare(base(last), result("a: 1\n\nb: 2")), None);
        assert_eq!(compare(base(&[13..17, 6..11]), result("a: 1")), None);
        assert_eq!(compare(base(&[0..5, 13..17, 6..17]), result("")), None);
        assert!(compare(base(&[13..17, 6..11]), result("a: 1\n")).is_some());
        assert!(compare(base(std::slice::from_ref(&(6..11))), result("a: 1\n\nc: 3")).is_some());
        assert!(compare(result("a: 1\n"), result("a: 1")).is_some());
        let needs = Marked { needs_end: true, ..result("a: 1\n\nb: 2\n\n\n") };
        assert_eq!(compare(base(last), needs), None);
    }

    #[test]
    fn a_part_that_went_from_what_came_leaves_blank_lines_and_comments_that_are_known() {
        let result = marked("a: 1\n\n# c\nb: 2\n\n# d\n\nc: 1\n", &[0..5, 10..15]);
        let left = |ends: &[usize]| left_over(&result, ends, &|line| line == "# c");
        assert_eq!(left(&[5]), [5..6, 6..10, 15..16]);
        assert_eq!(left(&[15]), std::slice::from_ref(&(15..16)));
        assert_eq!(left(&[]), Vec::<Range<usize>>::new());
    }

    #[test]
    fn behind_a_dash_a_comment_may_move_to_it_and_blank_lines_before_it_go() {
        let near = std::slice::from_ref(&(0..1)).to_vec();
        let base = || Marked { freed: vec![7], ..marked("- a: 1\n\n  # c\n\n  b: 2\n", std::slice::from_ref(&(0..7))) };
        let result = |text| Marked { near: near.clone(), ..marked(text, &[]) };
        assert_eq!(compare(base(), result("- # c\n\n  b: 2\n")), None);
        assert!(compare(base(), result("- # d\n\n  b: 2\n")).is_some());
        assert!(compare(base(), result("- # c\n  b: 2\n")).is_some());
        assert!(compare(base(), result("-  # c\n\n  b: 2\n")).is_some());
        let goes = || Marked { departing: vec![0..7, 8..22], ..base() };
        assert_eq!(compare(goes(), result("- # c\n")), None);
        assert_eq!(compare(goes(), result("")), None);
        assert!(compare(goes(), result("- # d\n")).is_some());
    }

    #[test]
    fn a_comment_goes_with_what_it_comes_to_stand_above() {
        let base = |gone: Vec<usize>| Marked { gone, ..marked("x: 0\n# c\na: 1\nb: 2\nd: 4\n", &[9..14, 14..19]) };
        assert_eq!(compare(base(vec![14]), marked("x: 0\nd: 4\n", &[])), None);
        assert_eq!(compare(base(vec![14]), marked("x: 0\n# c\nd: 4\n", &[])), None);
        assert!(compare(base(Vec::new()), marked("x: 0\nd: 4\n", &[])).is_some());
        let other = Marked { gone: vec![16], ..marked("x: 0\n# c\n  a: 1\n  b: 2\nd: 4\n", &[9..16, 16..23]) };
        assert!(compare(other, marked("x: 0\nd: 4\n", &[])).is_some());
    }
}
