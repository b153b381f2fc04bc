//! A unified diff of base and result, each hunk under the names of the patches that made it.

use std::fmt::Write as _;
use std::ops::Range;

use anstyle::{AnsiColor, Style};
use similar::{ChangeTag, TextDiff};

use crate::diag::render::Dress;
use crate::diag::visible::visible;

/// How many unchanged lines stand around a change.
const CONTEXT: usize = 3;

/// Lines that belong to a patch, as bytes of whole lines of base and result.
#[derive(Clone, Debug)]
pub struct Owned<'a> {
    /// The patch's name.
    pub patch: &'a str,
    /// In the base.
    pub before: &'a [Range<usize>],
    /// In the result.
    pub after: &'a [Range<usize>],
}

/// The diff of two texts; empty where they are equal. `names` are what the two are called in the head.
pub fn unified(names: (&str, &str), before: &str, after: &str, owned: &[Owned<'_>], dress: Dress) -> String {
    let diff = TextDiff::from_lines(before, after);
    let old = Lines::new(before);
    let new = Lines::new(after);
    let paint = Paint(dress);
    let mut out = String::new();
    for group in diff.grouped_ops(CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        if out.is_empty() {
            let head = format!("--- {}\n+++ {}\n", visible(names.0), visible(names.1));
            out.push_str(&paint.dress(BOLD, &head));
        }
        let (from, to) = (first.old_range().start..last.old_range().end, first.new_range().start..last.new_range().end);
        let mut body = String::new();
        let (mut gone, mut come) = (Vec::new(), Vec::new());
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (sign, style) = match change.tag() {
                ChangeTag::Equal => (' ', PLAIN),
                ChangeTag::Delete => ('-', RED),
                ChangeTag::Insert => ('+', GREEN),
            };
            match change.tag() {
                ChangeTag::Delete => gone.extend(change.old_index().and_then(|i| old.bytes(i))),
                ChangeTag::Insert => come.extend(change.new_index().and_then(|i| new.bytes(i))),
                ChangeTag::Equal => {}
            }
            body.push_str(&paint.dress(style, &line(sign, change.value())));
        }
        let patches = patches(owned, &gone, &come);
        let place = format!("@@ -{} +{} @@", lines(&from), lines(&to));
        let _ = writeln!(out, "{}{}", paint.dress(CYAN, &place), paint.dress(BOLD, &format!(" {}", visible(&patches))));
        out.push_str(&body);
    }
    out
}

/// A line of the body. What no terminal should get raw is written out.
fn line(sign: char, text: &str) -> String {
    match text.strip_suffix('\n') {
        Some(text) => format!("{sign}{}\n", visible(text.strip_suffix('\r').unwrap_or(text))),
        None => format!("{sign}{}\n\\ No newline at end of file\n", visible(text)),
    }
}

/// The patches that changed lines belong to, in the order in which they apply.
fn patches(owned: &[Owned<'_>], gone: &[Range<usize>], come: &[Range<usize>]) -> String {
    let touch =
        |a: &[Range<usize>], b: &[Range<usize>]| a.iter().any(|a| b.iter().any(|b| a.start < b.end && b.start < a.end));
    let mut names: Vec<&str> = Vec::new();
    for one in owned {
        if (touch(one.before, gone) || touch(one.after, come)) && !names.contains(&one.patch) {
            names.push(one.patch);
        }
    }
    names.join(", ")
}

/// A range of lines as a hunk's head gives it: the first line, from 1, and their number unless it is 1.
fn lines(range: &Range<usize>) -> String {
    let start = if range.is_empty() { range.start } else { range.start + 1 };
    if range.len() == 1 { start.to_string() } else { format!("{start},{}", range.len()) }
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

    #[test]
    fn hunks_stand_under_their_patches() {
        let before = "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\nf: 6\ng: 7\nh: 8\ni: 9\n";
        let after = "a: 0\nb: 2\nc: 3\nd: 4\ne: 5\nf: 6\ng: 7\nh: 8\ni: 9\nj: \u{1b}";
        let (first, last): (Range<usize>, Range<usize>) = (0..5, 45..49);
        let owned = [
            Owned { patch: "zero", before: std::slice::from_ref(&first), after: std::slice::from_ref(&first) },
            Owned { patch: "tail", before: &[], after: std::slice::from_ref(&last) },
        ];
        assert_eq!(
            unified(("base", "result"), before, after, &owned, Dress::Plain),
            "--- base\n+++ result\n\
             @@ -1,4 +1,4 @@ zero\n-a: 1\n+a: 0\n b: 2\n c: 3\n d: 4\n\
             @@ -7,3 +7,4 @@ tail\n g: 7\n h: 8\n i: 9\n+j: \\x1B\n\\ No newline at end of file\n"
        );
        assert_eq!(unified(("base", "result"), before, before, &owned, Dress::Plain), "");
    }
}
