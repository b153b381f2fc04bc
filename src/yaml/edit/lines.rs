//! Lines of a text: where they start and end, and in which column something stands.
//!
//! A line ends with `\n`, `\r\n` or `\r`. A byte order mark belongs to no line.

use memchr::{memchr2, memrchr2};

const BOM: &str = "\u{feff}";

/// The lines of a text.
#[derive(Clone, Copy)]
pub(super) struct Lines<'t>(pub(super) &'t str);

impl<'t> Lines<'t> {
    /// Where the line of `at` starts.
    pub(super) fn start(self, at: usize) -> usize {
        let bytes = self.0.as_bytes().get(..at).unwrap_or(self.0.as_bytes());
        memrchr2(b'\n', b'\r', bytes).map_or(if self.0.starts_with(BOM) { BOM.len() } else { 0 }, |found| found + 1)
    }

    /// Where the line of `at` ends, before its line break.
    pub(super) fn end(self, at: usize) -> usize {
        let at = at.min(self.0.len());
        memchr2(b'\n', b'\r', &self.0.as_bytes()[at..]).map_or(self.0.len(), |found| at + found)
    }

    /// Where the line behind that of `at` starts.
    pub(super) fn next(self, at: usize) -> usize {
        let end = self.end(at);
        end + line_break_length(self.rest(end))
    }

    /// Where the line before that of `at` ends; `None` on the first line.
    pub(super) fn end_before(self, at: usize) -> Option<usize> {
        let before = self.0.get(..self.start(at))?;
        let full = before.strip_suffix("\r\n").or_else(|| before.strip_suffix(['\n', '\r']))?;
        Some(full.len())
    }

    /// The number of characters before `at` on its line.
    pub(super) fn column(self, at: usize) -> usize {
        self.before(at).chars().count()
    }

    /// What stands before `at` on its line.
    pub(super) fn before(self, at: usize) -> &'t str {
        self.0.get(self.start(at)..at).unwrap_or("")
    }

    /// What stands from `at` on to the end of its line.
    pub(super) fn after(self, at: usize) -> &'t str {
        self.0.get(at..self.end(at)).unwrap_or("")
    }

    /// Whether nothing but blanks stands before `at` on its line.
    pub(super) fn begins(self, at: usize) -> bool {
        self.before(at).bytes().all(|b| b == b' ' || b == b'\t')
    }

    /// The line break that a new line next to `at` takes: that of its line, or of the line before.
    pub(super) fn line_break(self, at: usize) -> &'t str {
        let end = self.end(at);
        let rest = self.rest(end);
        let own = rest.get(..line_break_length(rest)).unwrap_or("");
        let before = self.end_before(at).map_or("", |end| self.rest(end));
        match (own, before.get(..line_break_length(before)).unwrap_or("")) {
            ("", "") => "\n",
            ("", before) => before,
            (own, _) => own,
        }
    }

    fn rest(self, at: usize) -> &'t str {
        self.0.get(at..).unwrap_or("")
    }
}

/// The length of the line break that a text starts with.
pub(super) fn line_break_length(text: &str) -> usize {
    match text.as_bytes() {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
}

/// Blanks for a column.
pub(super) fn blanks(column: usize) -> String {
    " ".repeat(column)
}

/// Lines at a column, joined. An empty line stays empty.
pub(super) fn at_column(lines: &[String], column: usize, line_break: &str) -> String {
    let mut out = String::new();
    for (i, line) in lines.iter().enumerate() {
        if i > 0 {
            out.push_str(line_break);
        }
        push_at(&mut out, line, column);
    }
    out
}

/// One line at a column.
pub(super) fn push_at(out: &mut String, line: &str, column: usize) {
    if !line.is_empty() {
        out.extend(std::iter::repeat_n(' ', column));
        out.push_str(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_starts_ends_and_breaks() {
        let lines = Lines("\u{feff}ab\r\n\r\n  é: x");
        assert_eq!((lines.start(4), lines.end(4), lines.next(4)), (3, 5, 7));
        assert_eq!(lines.end_before(7), Some(5));
        assert_eq!(lines.end_before(4), None);
        assert_eq!(lines.column(15), 5);
        assert!(lines.begins(11) && !lines.begins(14));
        assert_eq!(lines.line_break(12), "\r\n");
        assert_eq!(Lines("a").line_break(0), "\n");
        assert_eq!(Lines("a\rb").line_break(2), "\r");
    }

    #[test]
    fn empty_lines_take_no_blanks() {
        assert_eq!(at_column(&["a".into(), String::new(), " b".into()], 2, "\r\n"), "  a\r\n\r\n   b");
    }
}
