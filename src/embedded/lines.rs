//! Lines of a text and the white space around them.

/// The line break that the text uses, by its first.
pub(super) fn newline(text: &str) -> &str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// The start of the line that the byte `at` stands on; behind a byte order mark on the first.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at]
        .rfind('\n')
        .map_or_else(|| if text.starts_with(BOM) { BOM.len_utf8().min(at) } else { 0 }, |feed| feed + 1)
}

const BOM: char = '\u{feff}';

/// The end of the line that the byte `at` stands on, without its line break.
pub(super) fn content_end(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    let line = rest.find('\n').map_or(rest, |feed| &rest[..feed]);
    at + line.strip_suffix('\r').unwrap_or(line).len()
}

/// The start of the line behind the one that the byte `at` stands on; the end of the text behind the last.
pub(super) fn next_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |feed| at + feed + 1)
}

/// The blanks that begin the line that the byte `at` stands on.
pub(super) fn indent(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Whether only blanks stand before the byte `at` on its line.
pub(super) fn begins_line(text: &str, at: usize) -> bool {
    text[line_start(text, at)..at].bytes().all(|byte| b" \t".contains(&byte))
}
