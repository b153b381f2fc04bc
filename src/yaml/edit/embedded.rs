//! Edits of a text that a scalar holds, carried to the bytes that spell it.

use serde_json::Value;

use super::compose::trimmed;
use super::error::EditError;
use super::lines::blanks;
use super::outcome::outcome;
use super::place::{Place, Spot, Way, walk};
use super::replace::base_column;
use super::source::Source;
use super::{edit, pointer};
use crate::change::{Action, Change, New, TextEdit, apply_edits};
use crate::yaml::spell;
use crate::yaml::tree::{Bytes, Kind, NodeId, Style};

/// The edits of a document's text that make `inner` edits of the text that the scalar at `path` holds; their offsets are
/// bytes of that text, as it is when it is read.
///
/// In a literal, and in a scalar on one line, only the bytes that spell the edited part change. Any other scalar, and
/// one that the edited text no longer fits, is spelled anew as [`edit`] does it.
pub fn edit_embedded(text: &str, path: &[String], inner: &[TextEdit]) -> Result<Vec<TextEdit>, EditError> {
    let source = Source::read(text).map_err(EditError::Unreadable)?;
    let Some(Value::String(old)) = source.value.pointer(&pointer(path)) else {
        let reason = "there is no text there";
        return Err(EditError::NoSuchPlace { pointer: pointer(path), reason, offset: 0 });
    };
    let value = Value::String(apply_edits(old, inner));
    let new = New { value: &value, spelled: None, comment: None };
    let change = Change { action: Action::Replace(new), path };
    if let Some(edits) = carried(&source, &change, old, inner) {
        return Ok(trimmed(text, &edits));
    }
    edit(text, &change)
}

/// The inner edits as edits of the bytes that spell the text, if they read back as what they must give.
fn carried(source: &Source<'_>, change: &Change<'_>, old: &str, inner: &[TextEdit]) -> Option<Vec<TextEdit>> {
    let Ok(Way::Clear(Spot { there: Some((node, place)), .. })) = walk(source, change.path) else { return None };
    let Kind::Scalar { style, text } = &source.node(node).kind else { return None };
    if text != old {
        return None;
    }
    let edits = match style {
        Style::Literal => in_literal(source, node, place, text, inner)?,
        _ => in_line(source, node, *style, text, inner)?,
    };
    let expected = outcome(&source.value, change).ok()?;
    let after = Source::read(apply_edits(&source.text, &edits)).ok()?;
    (after.value == expected).then_some(edits)
}

/// In a literal, line by line: each line that is touched keeps its indentation, each new one takes that of the block.
fn in_literal(
    source: &Source<'_>,
    node: NodeId,
    place: Place,
    text: &str,
    inner: &[TextEdit],
) -> Option<Vec<TextEdit>> {
    let block = Block::of(source, node, place, text)?;
    let mut edits = Vec::new();
    let mut inner =
        inner.iter().map(|edit| block.before_last_break(edit)).collect::<Option<Vec<_>>>()?.into_iter().peekable();
    while let Some(edit) = inner.next() {
        let first = block.line_of(edit.range.start);
        let mut last = block.line_of(edit.range.end);
        let mut group = vec![edit];
        while let Some(next) = inner.next_if(|next| block.line_of(next.range.start) <= last) {
            last = block.line_of(next.range.end);
            group.push(next);
        }
        edits.push(block.edit(first, last, &group)?);
    }
    Some(edits)
}

/// A literal: the lines of its text, and where each stands.
struct Block<'s> {
    source: &'s Source<'s>,
    text: &'s str,
    /// Where each line of the text starts in it.
    starts: Vec<usize>,
    /// Where the first line stands in the document.
    first: usize,
    /// Where each line stands in the document, with its indentation.
    places: Vec<Bytes>,
    indent: usize,
}

impl<'s> Block<'s> {
    fn of(source: &'s Source<'s>, node: NodeId, place: Place, text: &'s str) -> Option<Self> {
        let header = source.span(node).start;
        let lines = source.lines();
        let first = lines.next(header);
        let text = text.strip_suffix('\n').unwrap_or(text);
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        let mut places = Vec::with_capacity(starts.len());
        let mut at = first;
        for _ in &starts {
            places.push(at..lines.end(at));
            at = lines.next(at);
        }
        let named = lines.after(header).split('#').next().and_then(|header| header.chars().find(char::is_ascii_digit));
        let indent = if let Some(step) = named.and_then(|digit| digit.to_digit(10)) {
            base_column(source, place) + usize::try_from(step).ok()?
        } else {
            let line = places.iter().map(|place| source.slice(place.clone())).find(|line| !line.trim().is_empty())?;
            line.len() - line.trim_start_matches(' ').len()
        };
        Some(Block { source, text, starts, first, places, indent })
    }

    /// The edit, moved before the line break that ends the text; `None` where it takes that line break away.
    fn before_last_break(&self, edit: &TextEdit) -> Option<TextEdit> {
        let len = self.text.len();
        if edit.range.end <= len {
            return Some(edit.clone());
        }
        let before = if edit.range.start > len { "\n" } else { "" };
        let text = edit.text.strip_suffix('\n').filter(|_| !edit.text.is_empty())?;
        Some(TextEdit { range: edit.range.start.min(len)..len, text: format!("{before}{text}") })
    }

    fn line_of(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at).saturating_sub(1)
    }

    /// The lines from `first` to `last` with the edits made.
    fn edit(&self, first: usize, last: usize, edits: &[TextEdit]) -> Option<TextEdit> {
        let start = *self.starts.get(first)?;
        let end = self.starts.get(last + 1).map_or(self.text.len(), |next| next - 1);
        let moved: Vec<TextEdit> = edits
            .iter()
            .map(|e| TextEdit { range: e.range.start - start..e.range.end - start, text: e.text.clone() })
            .collect();
        let lines = apply_edits(self.text.get(start..end)?, &moved);
        let line_break = self.source.lines().line_break(self.first);
        let indented: Vec<String> = lines
            .split('\n')
            .map(|line| if line.is_empty() { String::new() } else { format!("{}{line}", blanks(self.indent)) })
            .collect();
        let range = self.places.get(first)?.start..self.places.get(last)?.end;
        Some(TextEdit { range, text: indented.join(line_break) })
    }
}

/// In a scalar on one line, character by character.
fn in_line(source: &Source<'_>, node: NodeId, style: Style, text: &str, inner: &[TextEdit]) -> Option<Vec<TextEdit>> {
    let span = source.span(node);
    let spelled = source.slice(span.clone());
    if spelled.contains(['\n', '\r']) {
        return None;
    }
    let quotes = usize::from(style != Style::Plain);
    let body = spelled.get(quotes..spelled.len().checked_sub(quotes)?)?;
    let places = places(style, body, text)?;
    let mut edits = Vec::with_capacity(inner.len());
    for edit in inner {
        let place = |at: usize| places.get(at).copied().flatten().map(|at| span.start + quotes + at);
        let text = match style {
            Style::Plain => edit.text.clone(),
            _ => spell::string(&edit.text, Some(style), spell::Place::Flow),
        };
        let quote = if style == Style::Single { '\'' } else { '"' };
        let text = match style {
            Style::Plain => text.as_str(),
            _ => text.strip_prefix(quote)?.strip_suffix(quote)?,
        };
        edits.push(TextEdit { range: place(edit.range.start)?..place(edit.range.end)?, text: text.to_owned() });
    }
    Some(edits)
}

/// Where each byte of a text that begins a character is spelled, and its end; `None` where the two do not agree.
fn places(style: Style, body: &str, text: &str) -> Option<Vec<Option<usize>>> {
    let mut places = vec![None; text.len() + 1];
    let mut at = 0;
    for (position, c) in text.char_indices() {
        *places.get_mut(position)? = Some(at);
        at += spelled_length(style, body.get(at..)?, c)?;
    }
    *places.last_mut()? = Some(at);
    (at == body.len()).then_some(places)
}

/// How many bytes spell the first character of what is left.
fn spelled_length(style: Style, rest: &str, c: char) -> Option<usize> {
    match (style, rest.as_bytes()) {
        (Style::Double, [b'\\', b'x', ..]) => Some(4),
        (Style::Double, [b'\\', b'u', ..]) => Some(6),
        (Style::Double, [b'\\', b'U', ..]) => Some(10),
        (Style::Single, [b'\'', b'\'', ..]) | (Style::Double, [b'\\', ..]) => Some(2),
        _ => rest.starts_with(c).then_some(c.len_utf8()),
    }
}
