//! What stands between two statements that are on both sides where others went or came between them: comments, blank lines,
//! and the rest of the lines that they stand on.

use std::collections::HashSet;
use std::ops::Range;

/// What stands between two statements on one side. Either of them may be the text's edge.
pub(super) struct Between<'t> {
    /// What stands behind the first on its line; `None` at the start of the text.
    rest: Option<&'t str>,
    lines: Vec<Line<'t>>,
    /// What stands before the second on its line; `None` at the end of the text.
    indent: Option<&'t str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line<'t> {
    /// A comment that has the line for itself, with what stands around it.
    Comment(&'t str),
    /// A line without content.
    Blank(&'t str),
    /// A statement that departs; the first of an edit with what tells it.
    Statement(Kind, Option<First>),
    /// One that the other side has at its place, with other content.
    Anchor(First),
    /// A section's header that both sides have, as the second of the two statements.
    NextHeader,
}

/// What a statement is for the lines around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Header,
    /// A pair whose header is on both sides, or that has none.
    Pair,
    /// A pair of a section that departs as a whole.
    PairOfIt,
}

/// The number of an edit, and whether its first statement is a header.
type First = (usize, bool);

/// A statement that only one side has, or both with other content.
pub(super) struct Departing {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
    /// Set for the first of an edit.
    pub(super) first: Option<First>,
}

impl<'t> Between<'t> {
    /// `stretch` is what lies between the two statements; the ones in between lie at `statements`, in order. `edges` says
    /// whether it begins and ends at a statement, and whether the latter is a header.
    pub(super) fn of(
        text: &'t str,
        stretch: Range<usize>,
        statements: &[Departing],
        (is_behind, next_is_header): (bool, Option<bool>),
    ) -> Between<'t> {
        let mut between = Between { rest: None, lines: Vec::new(), indent: None };
        let mut at = stretch.start;
        for (number, Departing { span, kind, first }) in statements.iter().enumerate() {
            let gap = text.get(at..span.start).unwrap_or_default();
            between.gap(gap, number == 0, is_behind, true);
            between.lines.push(Line::Statement(*kind, *first));
            at = span.end;
        }
        let gap = text.get(at..stretch.end).unwrap_or_default();
        let last = between.gap(gap, statements.is_empty(), is_behind, next_is_header.is_some());
        between.indent = next_is_header.map(|_| last);
        if next_is_header == Some(true) {
            between.lines.push(Line::NextHeader);
        }
        between
    }

    /// Takes the lines of a gap, and hands back the begun line at its end.
    fn gap(&mut self, gap: &'t str, is_first: bool, is_behind: bool, ends_at_statement: bool) -> &'t str {
        let mut pieces: Vec<&str> = gap.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
        let mut last = "";
        let begins_line = is_first && !is_behind;
        let is_over = |last: &&str| last.is_empty() && (begins_line || pieces.len() > 1);
        if ends_at_statement || pieces.last().is_some_and(is_over) {
            last = pieces.pop().unwrap_or_default();
        }
        let mut pieces = pieces.into_iter();
        if !begins_line {
            let rest = pieces.next();
            if is_first {
                self.rest = rest;
            }
        }
        let line = |line: &'t str| if line.trim().is_empty() { Line::Blank(line) } else { Line::Comment(line) };
        self.lines.extend(pieces.map(line));
        last
    }

    /// Whether this may become the other: what went took no more than its own along, and what came brought no more.
    pub(super) fn may_become(&self, other: &Between<'_>) -> bool {
        if self.rest != other.rest || self.indent != other.indent {
            return false;
        }
        let (old, new) = (&anchored(&self.lines, &other.lines), &anchored(&other.lines, &self.lines));
        let may_go: Vec<bool> = (0..old.len()).map(|at| may_go(old, at)).collect();
        let may_come: Vec<bool> = (0..new.len()).map(|at| may_come(new, at)).collect();
        let mut tried = HashSet::new();
        let mut ways = vec![(0, 0)];
        while let Some((mut at_old, mut at_new)) = ways.pop() {
            loop {
                if may_go.get(at_old) == Some(&true) && tried.insert((at_old, at_new, true)) {
                    ways.push((at_old + 1, at_new));
                }
                if may_come.get(at_new) == Some(&true) && tried.insert((at_old, at_new, false)) {
                    ways.push((at_old, at_new + 1));
                }
                match (old.get(at_old), new.get(at_new)) {
                    (None, None) => return true,
                    (Some(a), Some(b)) if a == b && !matches!(a, Line::Statement(..)) => {
                        (at_old, at_new) = (at_old + 1, at_new + 1);
                    }
                    _ => break,
                }
            }
        }
        false
    }
}

/// The lines, with those statements marked that are the first of an edit on each side.
fn anchored<'t>(lines: &[Line<'t>], others: &[Line<'_>]) -> Vec<Line<'t>> {
    let there: HashSet<First> = others.iter().filter_map(Line::first).collect();
    let mark = |line: &Line<'t>| line.first().filter(|first| there.contains(first)).map_or(*line, Line::Anchor);
    lines.iter().map(mark).collect()
}

impl Line<'_> {
    fn first(&self) -> Option<First> {
        match self {
            Line::Statement(_, first) => *first,
            _ => None,
        }
    }
}

/// Whether a line may go: a statement, the comments directly above it or between the lines of its section, and the blank
/// lines around all of these.
fn may_go(lines: &[Line<'_>], at: usize) -> bool {
    let above = |at: usize| lines.get(..at).into_iter().flatten().rev();
    let below = |at: usize| lines.get(at + 1..).into_iter().flatten();
    let in_it = || {
        let next = below(at).find(|line| matches!(line, Line::Statement(..) | Line::Anchor(_)));
        matches!(next, Some(Line::Statement(Kind::PairOfIt, _)))
    };
    let is_comment = |line: &&Line<'_>| matches!(line, Line::Comment(_));
    let is_blank = |line: &&Line<'_>| matches!(line, Line::Blank(_));
    let is_statement = |line: Option<&Line<'_>>| matches!(line, Some(Line::Statement(..)));
    match lines.get(at) {
        Some(Line::Statement(..)) => true,
        Some(Line::Comment(_)) => is_statement(below(at).find(|line| !is_comment(line))) || in_it(),
        Some(Line::Blank(_)) => {
            let behind_it = is_statement(above(at).find(|line| !is_blank(line)));
            let mut below = below(at).skip_while(is_blank).skip_while(is_comment);
            behind_it || is_statement(below.next()) || in_it()
        }
        _ => false,
    }
}

/// Whether a line may come: a statement, and one empty line on each side of it before a header.
fn may_come(lines: &[Line<'_>], at: usize) -> bool {
    let line = |at: Option<usize>| at.and_then(|at| lines.get(at));
    let is_new = |line: Option<&Line<'_>>| matches!(line, Some(Line::Statement(..)));
    match lines.get(at) {
        Some(Line::Statement(..)) => true,
        Some(Line::Blank("")) => {
            let mut below = lines.get(at + 1..).into_iter().flatten();
            let next = below.find(|line| !matches!(line, Line::Comment(_) | Line::Blank(_)));
            let is_before_header = matches!(next, Some(Line::Statement(Kind::Header, _) | Line::NextHeader));
            is_before_header && (is_new(line(at.checked_sub(1))) || is_new(line(Some(at + 1))))
        }
        _ => false,
    }
}
