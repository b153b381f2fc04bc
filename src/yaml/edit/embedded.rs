//! Edits of a text that a scalar holds, carried to the bytes that spell it.

use serde_json::Value;

use super::compose::trimmed;
use super::error::EditError;
use super::lines::{blanks, line_break_length};
use super::outcome::outcome;
use super::place::{Place, Spot, Way, walk};
use super::replace::base_column;
use super::{Edited, Source, no_such_place, pointer};
use crate::change::{Action, Change, New, TextEdit, apply_edits};
use crate::yaml::spell;
use crate::yaml::tree::{Bytes, Kind, NodeId, Style};

/// The edits of a document's text that make `inner` edits of the text that the scalar at `path` holds; their offsets are
/// bytes of that text, as it is when it is read.
///
/// In a literal and in a bare or quoted scalar only the bytes that spell the edited part change. A folded scalar, and
/// any that the edited text no longer fits, is spelled anew as [`edit`](super::edit) does it.
pub fn edit_embedded(text: &str, path: &[String], inner: &[TextEdit]) -> Result<Vec<TextEdit>, EditError> {
    let source = Source::read(text).map_err(EditError::Unreadable)?;
    Ok(source.edited_within(path, inner)?.map(|edited| edited.edits).unwrap_or_default())
}

impl Source<'_> {
    /// Makes edits of a text that it holds, as [`edit_embedded`] does. `None` where they change nothing.
    ///
    /// # Errors
    /// As for [`edit_embedded`].
    pub fn edited_within(&self, path: &[String], inner: &[TextEdit]) -> Result<Option<Edited>, EditError> {
        let Some(Value::String(old)) = self.value.pointer(&pointer(path)) else {
            return Err(no_such_place(self, path, "there is no text there"));
        };
        let value = Value::String(apply_edits(old, inner));
        let new = New { value: &value, spelled: None, comment: None };
        let change = Change { action: Action::Replace(new), path };
        match carried(self, &change, old, inner) {
            Some(edited) => Ok(Some(Edited { edits: trimmed(&self.text, &edited.edits), ..edited })),
            None => self.edited(&change),
        }
    }
}

/// The inner edits as edits of the bytes that spell the text, if they read back as what they must give.
fn carried(source: &Source<'_>, change: &Change<'_>, old: &str, inner: &[TextEdit]) -> Option<Edited> {
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
    (after.value == expected).then_some(Edited { edits, after })
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

/// In a bare or quoted scalar, character by character, across the line breaks that it folds.
fn in_line(source: &Source<'_>, node: NodeId, style: Style, text: &str, inner: &[TextEdit]) -> Option<Vec<TextEdit>> {
    let span = source.span(node);
    let spelled = source.slice(span.clone());
    let quotes = usize::from(style != Style::Plain);
    let body = spelled.get(quotes..spelled.len().checked_sub(quotes)?)?;
    let places = places(style, body, text)?;
    let place = |at: usize| places.get(at).cloned().flatten();
    let edits = inner.iter().map(|edit| {
        let (start, end) = (place(edit.range.start)?, place(edit.range.end)?.start);
        let start = if edit.range.is_empty() { start.start } else { start.end };
        let from = span.start + quotes;
        Some(TextEdit { range: from + start..from + end, text: between_quotes(&edit.text, style)? })
    });
    edits.collect()
}

/// A text as it stands between the quotes of a scalar in that style.
fn between_quotes(text: &str, style: Style) -> Option<String> {
    let quote = match style {
        Style::Plain => return Some(text.to_owned()),
        Style::Single => '\'',
        Style::Double => '"',
        Style::Literal | Style::Folded => return None,
    };
    let spelled = spell::string(text, Some(style), spell::Place::Flow);
    spelled.strip_prefix(quote)?.strip_suffix(quote).map(str::to_owned)
}

/// For each byte of a text that begins a character, and for its end, what stands between the spelling of the character
/// before and that of its own: nothing, but for joined lines. `None` where text and spelling do not agree.
fn places(style: Style, body: &str, text: &str) -> Option<Vec<Option<Bytes>>> {
    let mut places = vec![None; text.len() + 1];
    let mut at = 0;
    let mut characters = text.char_indices();
    while let Some((position, c)) = characters.next() {
        let joined = joined_length(style, body.get(at..)?);
        *places.get_mut(position)? = Some(at..at + joined);
        at += joined;
        let rest = body.get(at..)?;
        let Some((length, breaks)) = fold(rest) else {
            at += spelled_length(style, rest, c)?;
            continue;
        };
        // One line break is a blank; of several the first is none.
        let folded = if breaks == 1 { ' ' } else { '\n' };
        let further = characters.by_ref().take(breaks.saturating_sub(2)).all(|(_, c)| c == '\n');
        if c != folded || !further {
            return None;
        }
        at += length;
    }
    let joined = joined_length(style, body.get(at..)?);
    *places.last_mut()? = Some(at..at + joined);
    at += joined;
    (at == body.len()).then_some(places)
}

/// The line breaks that come next, with the blanks around them: how many bytes and how many breaks.
fn fold(rest: &str) -> Option<(usize, usize)> {
    let blanks = |text: &str| text.len() - text.trim_start_matches([' ', '\t']).len();
    let (mut at, mut breaks) = (blanks(rest), 0);
    while let Some(found @ 1..) = rest.get(at..).map(line_break_length) {
        at += found;
        at += blanks(rest.get(at..)?);
        breaks += 1;
    }
    (breaks > 0).then_some((at, breaks))
}

/// A line break with a `\` before it joins two lines in double quotes: how many bytes spell nothing.
fn joined_length(style: Style, rest: &str) -> usize {
    let behind = rest.strip_prefix('\\').filter(|_| style == Style::Double).unwrap_or("");
    match line_break_length(behind) {
        0 => 0,
        found => rest.len() - behind.get(found..).unwrap_or("").trim_start_matches([' ', '\t']).len(),
    }
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
