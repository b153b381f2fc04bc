//! A text cut into the documents that it holds, by their markers alone.
//!
//! A line that starts with `---` or `...` followed by white space, the line's end or the end of the text is a marker,
//! whatever stands around it (YAML 1.2.2, 9.1.2 and 9.2). So the cut needs no parser, and one broken document does not hide the
//! others. What a document says is not looked at.

use std::ops::Range;

use memchr::{memchr2, memmem};

const BOM: &[u8] = "\u{feff}".as_bytes();

/// One document of a stream with what belongs to it.
///
/// A piece begins with its `---` line, or, where it is the first of the stream or follows a `...`, with the comments
/// and directives before that line. It ends where the next piece begins, its own `...` line taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its bytes in the text. The ranges of all pieces, put together, are the whole text.
    pub range: Range<usize>,
    /// Its `---` line without the line break; `None` where the document stands without one.
    pub marker: Option<Range<usize>>,
    /// Whether there is anything but the marker, comments and white space. Directives without a marker count, so
    /// that a parser gets to see them.
    pub content: bool,
}

impl Piece {
    /// Its text, out of the text that was split.
    pub fn text<'t>(&self, whole: &'t str) -> &'t str {
        whole.get(self.range.clone()).unwrap_or("")
    }
}

/// How many documents a file may hold, those without content too: what is kept of each costs far more than the four bytes
/// of one.
pub const MAX_DOCUMENTS: usize = 100_000;

/// Where the first document beyond [`MAX_DOCUMENTS`] begins: its marker, or nothing where it has none.
pub fn beyond_limit(text: &str) -> Option<Range<usize>> {
    // A marker is four bytes with its line break, and most files are too short for so many.
    if text.len() < 4 * MAX_DOCUMENTS {
        return None;
    }
    let beyond = cut(text, MAX_DOCUMENTS + 1).into_iter().nth(MAX_DOCUMENTS)?;
    Some(beyond.marker.unwrap_or(beyond.range.start..beyond.range.start))
}

/// Cuts a text into its documents, in order. An empty text has none; a text of comments alone is one piece without
/// content.
pub fn split(text: &str) -> Vec<Piece> {
    cut(text, usize::MAX)
}

/// The documents of a text, as many as are asked for; what is behind the last of those is left.
fn cut(text: &str, most: usize) -> Vec<Piece> {
    let mut cutter = Cutter::new(text.as_bytes());
    for line in marker_lines(cutter.bytes) {
        if cutter.pieces.len() >= most {
            return cutter.pieces;
        }
        match line.kind {
            Marker::Start => cutter.start_marker(line.range),
            Marker::End => cutter.end_marker(line.range.end),
        }
    }
    cutter.finish()
}

#[derive(Clone, Copy)]
enum Marker {
    Start,
    End,
}

struct MarkerLine {
    kind: Marker,
    /// Without the line break.
    range: Range<usize>,
}

/// The lines of the text that are markers. Their characters are sought first: they are rare, and lines are many.
fn marker_lines(bytes: &[u8]) -> impl Iterator<Item = MarkerLine> {
    let at_line_start = |at: &usize| match at.checked_sub(1).and_then(|before| bytes.get(before)) {
        None | Some(b'\n' | b'\r') => true,
        Some(_) => *at == BOM.len() && bytes.starts_with(BOM),
    };
    let mut dashes = memmem::find_iter(bytes, b"---").filter(at_line_start).peekable();
    let mut dots = memmem::find_iter(bytes, b"...").filter(at_line_start).peekable();
    let next = move || match (dashes.peek(), dots.peek()) {
        (Some(dash), Some(dot)) if dot < dash => dots.next().map(|at| (Marker::End, at)),
        (Some(_), _) => dashes.next().map(|at| (Marker::Start, at)),
        (None, _) => dots.next().map(|at| (Marker::End, at)),
    };
    std::iter::from_fn(next).filter_map(|(kind, start)| {
        let line = bytes.get(start..)?;
        let ends = line.get(3).is_none_or(u8::is_ascii_whitespace);
        ends.then(|| MarkerLine { kind, range: start..start + line_length(line) })
    })
}

/// The length of the first line, without its line break.
fn line_length(bytes: &[u8]) -> usize {
    memchr2(b'\n', b'\r', bytes).unwrap_or(bytes.len())
}

struct Cutter<'t> {
    bytes: &'t [u8],
    pieces: Vec<Piece>,
    /// Where the piece that is being cut begins, and its marker.
    start: usize,
    marker: Option<Range<usize>>,
    /// What stands before the marker, looked at up to here.
    looked: usize,
    before: Lines,
}

/// What lines hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Lines {
    /// White space, comments and `...` markers.
    Nothing,
    /// Directives among them.
    Directives,
    /// Anything else.
    Content,
}

impl<'t> Cutter<'t> {
    fn new(bytes: &'t [u8]) -> Self {
        Cutter { bytes, pieces: Vec::new(), start: 0, marker: None, looked: 0, before: Lines::Nothing }
    }

    fn start_marker(&mut self, line: Range<usize>) {
        if self.marker.is_some() || self.look(line.start) == Lines::Content {
            self.close(line.start);
        }
        self.marker = Some(line);
    }

    fn end_marker(&mut self, line_end: usize) {
        let rest = &self.bytes[line_end..];
        let end = line_end + rest.len().min(if rest.starts_with(b"\r\n") { 2 } else { 1 });
        if self.marker.is_some() || self.look(end) != Lines::Nothing {
            self.close(end);
        } else if let Some(last) = self.pieces.last_mut() {
            // A `...` that ends nothing stays with what it follows, and so do the comments before it.
            last.range.end = end;
            self.start = end;
        }
    }

    fn finish(mut self) -> Vec<Piece> {
        let end = self.bytes.len();
        let trailing = self.marker.is_none() && self.look(end) == Lines::Nothing;
        match self.pieces.last_mut() {
            // Comments behind the last `...` stay with what they follow.
            Some(last) if trailing => last.range.end = end,
            None if end == 0 => {}
            _ => self.close(end),
        }
        self.pieces
    }

    /// What stands between the start of the piece and there, each line looked at once.
    fn look(&mut self, to: usize) -> Lines {
        let from = self.looked.max(self.start);
        self.before = self.before.max(lines(&self.bytes[from..to]));
        self.looked = to;
        self.before
    }

    fn close(&mut self, end: usize) {
        let marker = self.marker.take();
        let held = match &marker {
            // What stands behind the three dashes is content too.
            Some(line) => lines(&self.bytes[line.start + 3..end]),
            None => self.look(end),
        };
        self.pieces.push(Piece { range: self.start..end, marker, content: held != Lines::Nothing });
        self.start = end;
        self.before = Lines::Nothing;
    }
}

/// What these lines hold; it looks no further than the first content.
fn lines(bytes: &[u8]) -> Lines {
    let mut bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let mut held = Lines::Nothing;
    while !bytes.is_empty() {
        let length = line_length(bytes);
        let line = &bytes[..length];
        let blank = line.iter().take_while(|b| b.is_ascii_whitespace()).count();
        match line.get(blank) {
            None | Some(b'#') => {}
            Some(b'%') if blank == 0 => held = Lines::Directives,
            Some(b'.') if blank == 0 && is_end_marker(line) => {}
            Some(_) => return Lines::Content,
        }
        bytes = bytes.get(length + 1..).unwrap_or(&[]);
    }
    held
}

fn is_end_marker(line: &[u8]) -> bool {
    line.strip_prefix(b"...").is_some_and(|rest| rest.first().is_none_or(u8::is_ascii_whitespace))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn as_many_documents_as_the_limit_are_taken_and_one_more_is_found() {
        let first_without = format!("a: b # a document has a marker or not\n{}", "---\n".repeat(MAX_DOCUMENTS - 1));
        let ended = "---\na\n...\n".repeat(MAX_DOCUMENTS);
        for most in ["---\n".repeat(MAX_DOCUMENTS), first_without, ended] {
            let end = most.len();
            assert_eq!(split(&most).len(), MAX_DOCUMENTS);
            assert_eq!(beyond_limit(&most), None);
            assert_eq!(beyond_limit(&format!("{most}...\n")), None, "this ends the last one");
            assert_eq!(beyond_limit(&format!("{most}--- # one more\n---\n")), Some(end..end + 14));
            assert_eq!(beyond_limit(&format!("{most}...\na\n")), Some(end + 4..end + 4));
            assert_eq!(beyond_limit(&most.replace("---", "-- ").replace("...", ".. ")), None);
        }
    }

    /// The text of each piece; in front of it `-` where it has a marker, and `+` where it has content.
    fn pieces(text: &str) -> Vec<String> {
        let pieces = split(text);
        let whole: String = pieces.iter().map(|p| p.text(text)).collect();
        assert_eq!(whole, text, "the pieces are the text");
        for marker in pieces.iter().filter_map(|p| p.marker.clone()) {
            assert!(text[marker].starts_with("---"));
        }
        pieces
            .iter()
            .map(|p| {
                let marker = if p.marker.is_some() { "-" } else { "" };
                let content = if p.content { "+" } else { "" };
                format!("{marker}{content}{}", p.text(text))
            })
            .collect()
    }

    #[test]
    fn a_text_without_marker_is_one_document() {
        assert_eq!(pieces("a: 1\n"), ["+a: 1\n"]);
        assert_eq!(pieces("a: 1"), ["+a: 1"]);
        assert_eq!(pieces(""), [""; 0]);
        assert_eq!(pieces("# only\n\n"), ["# only\n\n"]);
    }

    #[test]
    fn a_marker_begins_a_piece_and_what_is_before_the_first_belongs_to_it() {
        assert_eq!(pieces("# c\n\n---\na: 1\n---\nb: 2\n"), ["-+# c\n\n---\na: 1\n", "-+---\nb: 2\n"]);
        assert_eq!(pieces("%YAML 1.1\n# c\n---\na\n"), ["-+%YAML 1.1\n# c\n---\na\n"]);
        assert_eq!(pieces("a: 1\n# c\n---\nb: 2"), ["+a: 1\n# c\n", "-+---\nb: 2"]);
    }

    #[test]
    fn content_may_stand_behind_the_marker() {
        assert_eq!(pieces("--- {a: b}\n--- # c\n---\tx\n"), ["-+--- {a: b}\n", "---- # c\n", "-+---\tx\n"]);
    }

    #[test]
    fn empty_documents_are_pieces_too() {
        assert_eq!(pieces("---\n---\n# c\n---"), ["----\n", "----\n# c\n", "----"]);
    }

    #[test]
    fn what_only_looks_like_a_marker_is_none() {
        assert_eq!(pieces("----\na: ---\n --- x\n...x\n"), ["+----\na: ---\n --- x\n...x\n"]);
        assert_eq!(pieces("--\n"), ["+--\n"]);
    }

    #[test]
    fn a_marker_is_one_even_inside_a_scalar() {
        assert_eq!(pieces("a: |\n---\n"), ["+a: |\n", "----\n"]);
    }

    #[test]
    fn three_dots_end_a_document() {
        assert_eq!(pieces("a\n...\nb\n"), ["+a\n...\n", "+b\n"]);
        assert_eq!(pieces("a\n...\n# c\n---\nb\n"), ["+a\n...\n", "-+# c\n---\nb\n"]);
        assert_eq!(pieces("a\n... # c\n%TAG ! x\n---\nb"), ["+a\n... # c\n", "-+%TAG ! x\n---\nb"]);
        assert_eq!(pieces("a\n...\n\n# c\n"), ["+a\n...\n\n# c\n"]);
        assert_eq!(pieces("---\n...\n...\n"), ["----\n...\n...\n"]);
        assert_eq!(pieces("...\na\n"), ["+...\na\n"]);
        assert_eq!(pieces("a\n...\n# c\n...\nb\n"), ["+a\n...\n# c\n...\n", "+b\n"]);
        assert_eq!(pieces("a\n..."), ["+a\n..."]);
    }

    #[test]
    fn a_directive_without_a_document_is_seen_by_the_parser() {
        assert_eq!(pieces("%YAML 1.2\n"), ["+%YAML 1.2\n"]);
        assert_eq!(pieces("a\n...\n%YAML 1.2\n"), ["+a\n...\n", "+%YAML 1.2\n"]);
    }

    #[test]
    fn line_breaks_may_be_crlf_or_cr() {
        assert_eq!(pieces("---\r\na\r\n---\r\nb\r\n"), ["-+---\r\na\r\n", "-+---\r\nb\r\n"]);
        assert_eq!(pieces("a\r\n...\r\nb\r\n"), ["+a\r\n...\r\n", "+b\r\n"]);
        assert_eq!(pieces("a\r---\rb"), ["+a\r", "-+---\rb"]);
        assert_eq!(split("---\r\na\r\n")[0].marker, Some(0..3));
    }

    #[test]
    fn a_byte_order_mark_is_no_content() {
        assert_eq!(pieces("\u{feff}---\na\n"), ["-+\u{feff}---\na\n"]);
        assert_eq!(pieces("\u{feff}# c\n---\na\n"), ["-+\u{feff}# c\n---\na\n"]);
        assert_eq!(pieces("\u{feff}"), ["\u{feff}"]);
        assert_eq!(pieces("\u{feff}a"), ["+\u{feff}a"]);
    }

    proptest! {
        #[test]
        fn pieces_are_the_text_and_each_start_marker_has_its_own(
            lines in prop::collection::vec(prop::sample::select(vec![
                "---", "--- a", "---a", "...", "... # c", "...a", "# c", "", " ", "a: 1", "%YAML 1.2", "\u{feff}", "é",
            ]), 0..12),
            line_break in prop::sample::select(vec!["\n", "\r\n", "\r"]),
        ) {
            let text = lines.join(line_break);
            let pieces = split(&text);
            let whole: String = pieces.iter().map(|piece| piece.text(&text)).collect();
            prop_assert_eq!(whole, text);
            let markers = lines.iter().filter(|line| matches!(**line, "---" | "--- a")).count();
            prop_assert_eq!(pieces.iter().filter(|piece| piece.marker.is_some()).count(), markers);
            prop_assert!(pieces.iter().all(|piece| !piece.range.is_empty()));
        }
    }

    #[test]
    fn a_million_markers_take_no_time() {
        let text = "---\n".repeat(1_000_000);
        assert_eq!(split(&text).len(), 1_000_000);
        let text = "# c\n".repeat(500_000) + &"...\n".repeat(500_000);
        assert_eq!(split(&text).len(), 1);
    }
}
