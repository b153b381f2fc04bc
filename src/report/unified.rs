//! A unified diff of base and result, each hunk under the resource and the name of the patch that made it.
//!
//! It stays a diff that `patch` and `git apply` take. Neither takes hunks that share a line, nor one without context
//! behind it other than at the end of the file, so two patches that change lines without one between them share a hunk,
//! whose head then says whose each line is.

use std::fmt::Write as _;
use std::ops::Range;

use anstyle::{AnsiColor, Style};
use similar::{ChangeTag, TextDiff};

use crate::diag::render::Dress;
use crate::diag::visible::visible;

/// How many unchanged lines stand around a change where nothing else is asked for.
pub const CONTEXT: usize = 3;

/// Lines that belong to a patch, or to a document that is added, as bytes of whole lines of base and result.
#[derive(Clone, Debug)]
pub struct Owned<'a> {
    /// The patch's name, or where the document is added from.
    pub owner: &'a str,
    /// The resource that they are lines of.
    pub resource: &'a str,
    /// In the base.
    pub before: &'a [Range<usize>],
    /// In the result.
    pub after: &'a [Range<usize>],
}

/// How a diff is written.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// How many unchanged lines stand around a change.
    pub context: usize,
    /// Whether it is coloured.
    pub dress: Dress,
}

/// The diff of two texts; empty where they are equal. `names` are what the two are called in the head.
pub fn unified(names: (&str, &str), before: &str, after: &str, owned: &[Owned<'_>], form: Form) -> String {
    let diff = TextDiff::from_lines(before, after);
    let rows = rows(&diff, &Lines::new(before), &Lines::new(after), owned);
    let paint = Paint(form.dress);
    let mut out = String::new();
    for hunk in hunks(&rows, form.context) {
        if out.is_empty() {
            let head = format!("--- {}\n+++ {}\n", visible(names.0), visible(names.1));
            out.push_str(&paint.dress(BOLD, &head));
        }
        let rows = rows.get(hunk).unwrap_or_default();
        let place = format!("@@ -{} +{} @@", lines(rows, ChangeTag::Insert), lines(rows, ChangeTag::Delete));
        let whose = whose(rows, owned);
        let gap = if whose.is_empty() { "" } else { " " };
        let _ = writeln!(out, "{}{gap}{}", paint.dress(CYAN, &place), paint.dress(BOLD, &visible(&whose)));
        for row in rows {
            let (sign, style) = match row.tag {
                ChangeTag::Equal => (' ', PLAIN),
                ChangeTag::Delete => ('-', RED),
                ChangeTag::Insert => ('+', GREEN),
            };
            out.push_str(&paint.dress(style, &line(sign, row.text)));
        }
    }
    out
}

/// A line of the body. What no terminal should get raw is written out; a carriage return at its end stays, for without it
/// the diff of a file with CRLF would fit nothing.
fn line(sign: char, text: &str) -> String {
    let (text, end) = match text.strip_suffix('\n') {
        Some(text) => text.strip_suffix('\r').map_or((text, "\n"), |text| (text, "\r\n")),
        None => (text, "\n\\ No newline at end of file\n"),
    };
    format!("{sign}{}{end}", visible(text))
}

/// A line of the diff.
struct Row<'t> {
    tag: ChangeTag,
    text: &'t str,
    /// How many lines of the base, and of the result, are above it.
    above: (usize, usize),
    /// Whose it is, each owner and resource by its first place in what is owned.
    owners: Vec<usize>,
}

impl Row<'_> {
    /// Its number on the side that has it, from 1, with the sign of a changed line there.
    fn number(&self) -> (char, usize) {
        match self.tag {
            ChangeTag::Delete => ('-', self.above.0 + 1),
            ChangeTag::Insert | ChangeTag::Equal => ('+', self.above.1 + 1),
        }
    }
}

fn rows<'t>(diff: &'t TextDiff<'t, 't, str>, old: &Lines, new: &Lines, owned: &[Owned<'_>]) -> Vec<Row<'t>> {
    let mut above = (0, 0);
    let row = |change: similar::Change<&'t str>| {
        let tag = change.tag();
        let row = Row { tag, text: change.value(), above, owners: owners(tag, above, (old, new), owned) };
        above = (above.0 + usize::from(tag != ChangeTag::Insert), above.1 + usize::from(tag != ChangeTag::Delete));
        row
    };
    diff.iter_all_changes().map(row).collect()
}

/// Whose a changed line is; nobody's where it is the same on both sides.
fn owners(tag: ChangeTag, at: (usize, usize), (old, new): (&Lines, &Lines), owned: &[Owned<'_>]) -> Vec<usize> {
    let bytes = match tag {
        ChangeTag::Equal => None,
        ChangeTag::Delete => old.bytes(at.0),
        ChangeTag::Insert => new.bytes(at.1),
    };
    let Some(bytes) = bytes else { return Vec::new() };
    let is_in = |ranges: &[Range<usize>]| ranges.iter().any(|r| r.start < bytes.end && bytes.start < r.end);
    let is_its = |one: &Owned<'_>| is_in(if tag == ChangeTag::Delete { one.before } else { one.after });
    let first_of = |one: &Owned<'_>| owned.iter().position(|o| (o.resource, o.owner) == (one.resource, one.owner));
    owned.iter().filter(|one| is_its(one)).filter_map(first_of).collect()
}

/// The hunks, as ranges of rows: lines that changed and are `context` apart, or that another patch changed, have one each.
fn hunks(rows: &[Row<'_>], context: usize) -> Vec<Range<usize>> {
    let runs = runs(rows, context);
    let mut hunks = Vec::with_capacity(runs.len());
    for (index, run) in runs.iter().enumerate() {
        let above = index.checked_sub(1).and_then(|i| runs.get(i)).map_or(0, |run| run.end);
        let below = runs.get(index + 1).map_or(rows.len(), |run| run.start);
        let is_last = index + 1 == runs.len();
        let behind = share(below - run.end, context, is_last, true);
        let mut before = share(run.start - above, context, index == 0, false);
        // Less context behind than before says to `patch` that the file ends there.
        if run.end + behind < rows.len() {
            before = before.min(behind);
        }
        hunks.push(run.start - before..run.end + behind);
    }
    hunks
}

/// How many of the unchanged lines between two hunks one of them shows. The upper one gets the odd line.
fn share(gap: usize, context: usize, is_alone: bool, is_upper: bool) -> usize {
    let half = match (is_alone, is_upper) {
        (true, _) => gap,
        (false, true) => gap.div_ceil(2),
        (false, false) => gap / 2,
    };
    half.min(context)
}

/// The changed lines that stand together and are of one owner, with the unchanged ones between them.
fn runs(rows: &[Row<'_>], context: usize) -> Vec<Range<usize>> {
    let mut runs: Vec<(Range<usize>, Vec<usize>)> = Vec::new();
    let mut at = 0;
    for part in rows.chunk_by(|a, b| (a.tag == ChangeTag::Equal) == (b.tag == ChangeTag::Equal)) {
        let run = at..at + part.len();
        at = run.end;
        if part.first().is_some_and(|row| row.tag == ChangeTag::Equal) {
            continue;
        }
        let owners = together(part);
        match runs.last_mut() {
            Some((last, others)) if run.start - last.end <= context.saturating_mul(2) && are_one(others, &owners) => {
                last.end = run.end;
                if others.is_empty() {
                    *others = owners;
                }
            }
            _ => runs.push((run, owners)),
        }
    }
    runs.into_iter().map(|(run, _)| run).collect()
}

/// Whether two runs are of one owner. What is nobody's goes with its neighbour.
fn are_one(one: &[usize], other: &[usize]) -> bool {
    one.is_empty() || other.is_empty() || one == other
}

fn together(rows: &[Row<'_>]) -> Vec<usize> {
    let mut owners: Vec<usize> = rows.iter().flat_map(|row| row.owners.iter().copied()).collect();
    owners.sort_unstable();
    owners.dedup();
    owners
}

/// What stands behind a hunk's place: its resource and owner; of several, which lines of the result, or of the base where
/// they are gone, are whose.
fn whose(rows: &[Row<'_>], owned: &[Owned<'_>]) -> String {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for one in together(rows).into_iter().filter_map(|index| owned.get(index)) {
        match groups.iter_mut().find(|(resource, _)| *resource == one.resource) {
            Some((_, owners)) => owners.push(one.owner),
            None => groups.push((one.resource, vec![one.owner])),
        }
    }
    let is_shared = groups.iter().map(|(_, owners)| owners.len()).sum::<usize>() > 1;
    let told = |resource: &str, owner: &str| {
        if is_shared { format!("{owner} ({})", lines_of(rows, owned, resource, owner)) } else { owner.to_owned() }
    };
    let group = |(resource, owners): &(&str, Vec<&str>)| {
        let owners: Vec<String> = owners.iter().map(|owner| told(resource, owner)).collect();
        format!("{resource} · {}", owners.join(", "))
    };
    groups.iter().map(group).collect::<Vec<_>>().join("; ")
}

/// The lines of a hunk that are an owner's, written as those of a hunk are: `-12 +12,2` is the twelfth of the base, and of
/// the result the twelfth and the next.
fn lines_of(rows: &[Row<'_>], owned: &[Owned<'_>], resource: &str, whose: &str) -> String {
    let is_its = |index: &usize| owned.get(*index).is_some_and(|one| one.resource == resource && one.owner == whose);
    let its = rows.iter().filter(|row| row.owners.iter().any(is_its)).map(Row::number);
    let mut stretches: Vec<(char, usize, usize)> = Vec::new();
    for (sign, line) in its {
        match stretches.last_mut() {
            Some((last, first, count)) if *last == sign && *first + *count == line => *count += 1,
            _ => stretches.push((sign, line, 1)),
        }
    }
    let told = stretches.iter().map(|(sign, first, count)| format!("{sign}{}", stretch(*first, *count)));
    told.collect::<Vec<_>>().join(" ")
}

/// A first line and how many there are, unless it is one.
fn stretch(first: usize, count: usize) -> String {
    if count == 1 { first.to_string() } else { format!("{first},{count}") }
}

/// The lines of a side as a hunk's head gives them: the first, from 1, and their number unless it is 1. `other` is the
/// kind of line that this side does not have.
fn lines(rows: &[Row<'_>], other: ChangeTag) -> String {
    let above = rows.first().map_or(0, |row| if other == ChangeTag::Insert { row.above.0 } else { row.above.1 });
    let count = rows.iter().filter(|row| row.tag != other).count();
    let start = if count == 0 { above } else { above + 1 };
    stretch(start, count)
}

/// Where the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Lines {
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        Lines(starts.chain(std::iter::once(text.len())).collect())
    }

    fn bytes(&self, line: usize) -> Option<Range<usize>> {
        Some(*self.0.get(line)?..*self.0.get(line + 1)?)
    }
}

const PLAIN: Style = Style::new();
const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::Red.on_default();
const GREEN: Style = AnsiColor::Green.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();

struct Paint(Dress);

impl Paint {
    fn dress(&self, style: Style, text: &str) -> String {
        if self.0 == Dress::Plain || style == PLAIN {
            return text.to_owned();
        }
        let (text, end) = text.strip_suffix('\n').map_or((text, ""), |t| (t, "\n"));
        format!("{style}{text}{style:#}{end}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAINLY: Form = Form { context: CONTEXT, dress: Dress::Plain };

    /// A text of lines `1` to `9`, some of them as told.
    fn text(told: &[(usize, &str)]) -> String {
        (1..10).map(|n| told.iter().find(|t| t.0 == n).map_or(format!("{n}\n"), |t| t.1.to_owned())).collect()
    }

    /// The diff of a text in which `a` changes line 3 and `b` another line.
    fn of_two(line: usize) -> String {
        let bytes = |n: usize| (n - 1) * 2..n * 2;
        let (a, b) = (bytes(3), bytes(line));
        let of = |owner, bytes| {
            let lines = std::slice::from_ref(bytes);
            Owned { owner, resource: "R", before: lines, after: lines }
        };
        let after = text(&[(3, "x\n"), (line, "y\n")]);
        unified(("base", "result"), &text(&[]), &after, &[of("a", &a), of("b", &b)], PLAINLY)
    }

    #[test]
    fn a_line_between_two_patches_parts_their_hunks() {
        assert_eq!(
            of_two(5),
            "--- base\n+++ result\n\
             @@ -2,3 +2,3 @@ R · a\n 2\n-3\n+x\n 4\n\
             @@ -5,4 +5,4 @@ R · b\n-5\n+y\n 6\n 7\n 8\n"
        );
    }

    #[test]
    fn neighbours_share_a_hunk_whose_head_says_whose_each_line_is() {
        let diff = of_two(4);
        assert_eq!(diff.lines().nth(2), Some("@@ -1,7 +1,7 @@ R · a (-3 +3), b (-4 +4)"));
    }

    #[test]
    fn a_carriage_return_at_the_end_of_a_line_stays() {
        assert_eq!(
            unified(("base", "result"), "a\r\n", "b\r\n", &[], PLAINLY),
            "--- base\n+++ result\n@@ -1 +1 @@\n-a\r\n+b\r\n"
        );
    }

    #[test]
    fn hunks_stand_under_their_patches() {
        let before = "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\nf: 6\ng: 7\nh: 8\ni: 9\n";
        let after = "a: 0\nb: 2\nc: 3\nd: 4\ne: 5\nf: 6\ng: 7\nh: 8\ni: 9\nj: \u{1b}";
        let (first, last): (Range<usize>, Range<usize>) = (0..5, 45..49);
        let owned = [
            Owned {
                owner: "zero",
                resource: "R",
                before: std::slice::from_ref(&first),
                after: std::slice::from_ref(&first),
            },
            Owned { owner: "tail", resource: "R", before: &[], after: std::slice::from_ref(&last) },
        ];
        assert_eq!(
            unified(("base", "result"), before, after, &owned, PLAINLY),
            "--- base\n+++ result\n\
             @@ -1,4 +1,4 @@ R · zero\n-a: 1\n+a: 0\n b: 2\n c: 3\n d: 4\n\
             @@ -7,3 +7,4 @@ R · tail\n g: 7\n h: 8\n i: 9\n+j: \\x1B\n\\ No newline at end of file\n"
        );
        assert_eq!(unified(("base", "result"), before, before, &owned, PLAINLY), "");
    }
}
