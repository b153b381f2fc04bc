//! Arrays and inline tables: items put in and taken out between brackets, comments left where they belong.

use std::ops::Range;

use toml_edit::{InlineTable, Value as TomlValue};

use super::super::lines::{begins_line, content_end, indent, line_start, newline, next_line};
use crate::change::TextEdit;

/// The items between two brackets.
#[derive(Debug)]
pub(super) struct Brackets<'t> {
    text: &'t str,
    /// What stands between the brackets.
    inner: Range<usize>,
    parts: Vec<Part>,
    /// What stands behind the opening and before the closing bracket of one on one line.
    pad: &'static str,
}

/// An item, or a key with its value.
#[derive(Debug)]
struct Part {
    span: Range<usize>,
    /// The comma behind it.
    comma: Option<usize>,
}

impl<'t> Brackets<'t> {
    /// The items of an array or an inline table; `None` for any other value.
    pub(super) fn of(text: &'t str, value: &TomlValue) -> Option<Brackets<'t>> {
        let (values, pad) = match value {
            TomlValue::Array(items) => (items.iter().map(TomlValue::span).collect(), ""),
            TomlValue::InlineTable(members) => (ends(members), " "),
            _ => return None,
        };
        let span = value.span()?;
        let inner = span.start + 1..span.end.checked_sub(1)?;
        let mut parts = Vec::new();
        let mut at = inner.start;
        for value in values {
            let span = skip_trivia(text, at)..value?.end;
            let behind = skip_trivia(text, span.end);
            let comma = Some(behind).filter(|behind| text[*behind..].starts_with(','));
            at = comma.map_or(span.end, |comma| comma + 1);
            parts.push(Part { span, comma });
        }
        Some(Brackets { text, inner, parts, pad })
    }

    /// The edits that put `new` before the item of that index, or behind the last.
    pub(super) fn insert(&self, at: usize, new: &str) -> Vec<TextEdit> {
        match (self.parts.get(at), self.parts.last()) {
            (Some(next), _) => vec![self.insert_before(at, next, new)],
            (None, Some(last)) => self.append(last, new),
            (None, None) => vec![self.fill(new)],
        }
    }

    fn insert_before(&self, at: usize, next: &Part, new: &str) -> TextEdit {
        let text = self.text;
        if !begins_line(text, next.span.start) {
            return insertion(next.span.start, format!("{new}{}", self.comma()));
        }
        let floor = at.checked_sub(1).and_then(|before| self.parts.get(before)).map_or(self.inner.start, Part::end);
        let line = comments_above(text, line_start(text, next.span.start), floor);
        insertion(line, format!("{}{new},{}", indent(text, next.span.start), newline(text)))
    }

    fn append(&self, last: &Part, new: &str) -> Vec<TextEdit> {
        let text = self.text;
        if !begins_line(text, last.span.start) {
            return vec![insertion(last.span.end, format!("{}{new}", self.comma()))];
        }
        let line = format!("{}{}{new}", newline(text), indent(text, last.span.start));
        let end = content_end(text, last.end());
        if end >= self.inner.end {
            return vec![insertion(last.span.end, format!(",{line}"))];
        }
        match last.comma {
            Some(_) => vec![insertion(end, line + ",")],
            None if end == last.span.end => vec![insertion(end, format!(",{line}"))],
            None => vec![insertion(last.span.end, ",".to_owned()), insertion(end, line)],
        }
    }

    fn fill(&self, new: &str) -> TextEdit {
        let text = self.text;
        if !text[self.inner.clone()].contains('\n') {
            return TextEdit { range: self.inner.clone(), text: format!("{0}{new}{0}", self.pad) };
        }
        if !begins_line(text, self.inner.end) {
            return insertion(self.inner.end, new.to_owned());
        }
        let line = line_start(text, self.inner.end);
        insertion(line, format!("{}{UNIT}{new}{}", indent(text, line), newline(text)))
    }

    /// The edits that take the item of that index out.
    pub(super) fn remove(&self, at: usize) -> Vec<TextEdit> {
        let Some(gone) = self.parts.get(at) else { return Vec::new() };
        let (before, next) = (at.checked_sub(1).and_then(|before| self.parts.get(before)), self.parts.get(at + 1));
        let Some(neighbour) = before.or(next) else { return vec![cut(self.inner.clone())] };
        if let Some(lines) = self.own_lines(gone, before) {
            let comma = before.filter(|_| gone.comma.is_none()).and_then(|before| before.comma);
            return comma.map(|comma| cut(comma..comma + 1)).into_iter().chain([cut(lines)]).collect();
        }
        let gap = |from: usize, to: usize| Some(from..to).filter(|gap| !self.text[gap.clone()].contains(['#', '\n']));
        let with_next = next.and_then(|next| gap(gone.span.start, next.span.start));
        let with_before = before.and_then(|before| gap(before.span.end, gone.span.end));
        match (with_before.or(with_next), gone.comma, neighbour.comma) {
            (Some(range), ..) => vec![cut(range)],
            (None, Some(comma), _) => vec![cut(self.with_blanks_before(gone.span.start, comma + 1)..comma + 1)],
            (None, None, comma) => {
                let comma = comma.map(|comma| cut(comma..comma + 1));
                comma.into_iter().chain([cut(gone.span.clone())]).collect()
            }
        }
    }

    /// Where a cut up to `end` begins that would begin at `start`: before the blanks there, if the line ends behind it.
    fn with_blanks_before(&self, start: usize, end: usize) -> usize {
        let is_last = self.text[end..content_end(self.text, end)].trim().is_empty();
        let before = self.text[self.inner.start..start].trim_end_matches([' ', '\t']).len();
        if is_last { self.inner.start + before } else { start }
    }

    /// The lines that an item has for itself, with the comments directly above it and the one behind it.
    fn own_lines(&self, gone: &Part, before: Option<&Part>) -> Option<Range<usize>> {
        let text = self.text;
        let end = content_end(text, gone.end());
        let behind = text[gone.end()..end].trim_start_matches([' ', '\t']);
        let alone = begins_line(text, gone.span.start) && (behind.is_empty() || behind.starts_with('#'));
        let floor = before.map_or(self.inner.start, Part::end);
        (alone && end < self.inner.end)
            .then(|| comments_above(text, line_start(text, gone.span.start), floor)..next_line(text, end))
    }

    /// What stands between two items of one line.
    fn comma(&self) -> &'t str {
        let mut gaps =
            self.parts.windows(2).filter_map(|two| self.text.get(two.first()?.span.end..two.last()?.span.start));
        gaps.rfind(|gap| !gap.contains(['#', '\n'])).unwrap_or(", ")
    }
}

impl Part {
    /// The end of the item with its comma.
    fn end(&self) -> usize {
        self.comma.map_or(self.span.end, |comma| comma + 1)
    }
}

/// The indentation of the first item in brackets that stand on several lines.
const UNIT: &str = "  ";

/// The places of the values of an inline table, in order. Dotted keys count as one key each.
fn ends(members: &InlineTable) -> Vec<Option<Range<usize>>> {
    let mut spans: Vec<_> = members.get_values().into_iter().map(|(_, value)| value.span()).collect();
    spans.sort_by_key(|span| span.as_ref().map(|span| span.start));
    spans
}

/// The first byte from `at` on that is neither white space nor part of a comment.
fn skip_trivia(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
        if !text[at..].starts_with('#') {
            return at;
        }
        at = content_end(text, at);
    }
}

/// The start of the comment lines directly above the line that starts at `line`, none of them before `floor`.
pub(super) fn comments_above(text: &str, line: usize, floor: usize) -> usize {
    let mut top = line;
    while let Some(before) = text[..top].strip_suffix('\n') {
        let above = line_start(text, before.len());
        if above < floor || !before[above..].trim_start_matches([' ', '\t']).starts_with('#') {
            break;
        }
        top = above;
    }
    top
}

pub(super) fn insertion(at: usize, text: String) -> TextEdit {
    TextEdit { range: at..at, text }
}

pub(super) fn cut(range: Range<usize>) -> TextEdit {
    TextEdit { range, text: String::new() }
}
