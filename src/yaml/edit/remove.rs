//! An entry of a mapping or an item of a sequence taken out.

use super::place::{Home, Place};
use super::replace::marker_end;
use super::source::Source;
use crate::change::TextEdit;
use crate::yaml::tree::{Bytes, Kind};

/// How much goes with the lines of what is removed. The least comes first; more goes only where a block scalar next to
/// the place would change its value otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Margin {
    /// Nothing; at the end of a text without a final newline, the line break before it and the blank lines there, so
    /// that it stays missing.
    Own,
    /// Not even these.
    KeepBreak,
    /// The blank lines behind it.
    Blank,
    /// The blank lines and comment lines behind it.
    Trivia,
}

/// The margins in the order in which they are tried.
pub(super) const MARGINS: [Margin; 4] = [Margin::Own, Margin::KeepBreak, Margin::Blank, Margin::Trivia];

/// Takes out the entry or item at that index.
pub(super) fn child(source: &Source<'_>, home: Home, index: usize, margin: Margin) -> Option<Vec<TextEdit>> {
    let child = &source.child(home.node, index)?;
    let is_sequence = matches!(source.node(home.node).kind, Kind::Sequence { .. });
    if source.node(home.node).is_flow() {
        return flow_child(source, home, &source.children(home.node), index);
    }
    if source.count(home.node) == 1 {
        return Some(only_child(source, home, child, if is_sequence { "[]" } else { "{}" }, margin));
    }
    if source.lines().begins(child.start) {
        return Some(vec![own_lines(source, child, margin)]);
    }
    Some(vec![behind_dash(source, child, margin)])
}

/// A child that begins on the line of a dash, which stays with what follows: with the next child, or with a comment that
/// stands in the column of both. Above any other comment it stays alone.
fn behind_dash(source: &Source<'_>, child: &Bytes, margin: Margin) -> TextEdit {
    let lines = source.lines();
    let mut next = lines.next(child.end);
    while matches!(source.byte(next), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        next += 1;
    }
    let stays_alone = source.byte(next) == Some(b'#') && lines.column(next) != lines.column(child.start);
    if stays_alone && margin == Margin::Own {
        let dash = lines.start(child.start) + lines.before(child.start).trim_end().len();
        return TextEdit { range: dash..lines.end(child.end), text: String::new() };
    }
    TextEdit { range: child.start..next, text: String::new() }
}

/// The lines of a child, with the comment lines directly above it.
fn own_lines(source: &Source<'_>, child: &Bytes, margin: Margin) -> TextEdit {
    let lines = source.lines();
    let start = source.with_comments_above(child.start);
    let mut end = lines.next(child.end);
    while end < source.text.len() && goes_along(source, end, margin) {
        end = lines.next(end);
    }
    let at_end = end == source.text.len() && lines.start(end) < end && margin != Margin::KeepBreak;
    let start = if at_end { end_of_content(source, start).unwrap_or(start) } else { start };
    TextEdit { range: start..end, text: String::new() }
}

/// The end of the last line with content or a comment before a line, its break left out.
fn end_of_content(source: &Source<'_>, line: usize) -> Option<usize> {
    let lines = source.lines();
    let ends = std::iter::successors(lines.end_before(line), |end| lines.end_before(lines.start(*end)));
    ends.into_iter().find(|end| !source.slice(lines.start(*end)..*end).trim().is_empty())
}

fn goes_along(source: &Source<'_>, line: usize, margin: Margin) -> bool {
    match margin {
        Margin::Own | Margin::KeepBreak => false,
        Margin::Blank => source.lines().after(line).trim().is_empty(),
        Margin::Trivia => source.line_is_over(line),
    }
}

/// The last child of a block collection: an empty flow collection takes the place of its collection.
fn only_child(source: &Source<'_>, home: Home, child: &Bytes, empty: &str, margin: Margin) -> Vec<TextEdit> {
    let lines = source.lines();
    let node = source.node(home.node);
    let marker = marker_end(source, home.node, home.place);
    let anchor = node.anchor.as_ref().map(|anchor| anchor.end);
    let properties = anchor.max(node.tag.as_ref().map(|tag| tag.span.end));
    match properties.or(marker).filter(|_| lines.begins(child.start)) {
        Some(at) => {
            vec![TextEdit { range: at..at, text: format!(" {empty}") }, own_lines(source, child, margin)]
        }
        None if matches!(home.place, Place::Root) => {
            let start = source.with_comments_above(child.start);
            vec![TextEdit { range: start..lines.end(child.end), text: empty.to_owned() }]
        }
        None => vec![TextEdit { range: child.start..lines.end(child.end), text: empty.to_owned() }],
    }
}

fn flow_child(source: &Source<'_>, home: Home, children: &[Bytes], index: usize) -> Option<Vec<TextEdit>> {
    let child = children.get(index)?;
    let span = source.span(home.node);
    let delete = |range: Bytes| TextEdit { range, text: String::new() };
    if !matches!(source.byte(span.start), Some(b'[' | b'{')) {
        return Some(vec![TextEdit { range: span, text: "{}".into() }]);
    }
    if children.len() == 1 {
        return Some(vec![delete(span.start + 1..span.end.checked_sub(1)?)]);
    }
    let lines = source.lines();
    let comma = Some(source.skip_trivia(child.end)).filter(|at| source.byte(*at) == Some(b','));
    let own_lines = lines.begins(child.start).then(|| source.with_comments_above(child.start));
    if let Some(comma) = comma {
        let next = children.get(index + 1);
        return Some(vec![delete(match (own_lines, next) {
            (Some(start), _) if source.line_is_over(comma + 1) => start..lines.next(comma),
            (_, Some(next)) => child.start..next.start,
            (_, None) => child.start..comma + 1,
        })])
        .map(|edits| without_gap(source, edits, children, index));
    }
    let previous = children.get(index.checked_sub(1)?)?;
    let comma = source.skip_trivia(previous.end);
    match own_lines {
        Some(start) => {
            let end = if source.line_is_over(child.end) { lines.next(child.end) } else { child.end };
            let start = if end == child.end { lines.end_before(start).unwrap_or(start) } else { start };
            let comma = with_blanks(source, comma);
            Some(vec![delete(comma.clone()), delete(start.max(comma.end)..end.max(comma.end))])
        }
        None => Some(vec![delete(previous.end..child.end)]),
    }
}

/// A comma with the blanks before it; of one that begins a line, the line, if there is nothing else on it.
fn with_blanks(source: &Source<'_>, comma: usize) -> Bytes {
    let lines = source.lines();
    if lines.begins(comma) {
        let is_alone = source.slice(comma + 1..lines.end(comma)).trim().is_empty();
        return if is_alone { lines.start(comma)..lines.next(comma) } else { comma..comma + 1 };
    }
    let before = source.slice(lines.start(comma)..comma);
    comma - (before.len() - before.trim_end_matches([' ', '\t']).len())..comma + 1
}

/// `[a, b,]` without `b` is `[a,]`: the blank between goes too.
fn without_gap(source: &Source<'_>, mut edits: Vec<TextEdit>, children: &[Bytes], index: usize) -> Vec<TextEdit> {
    if index + 1 < children.len() {
        return edits;
    }
    if let Some(edit) = edits.first_mut().filter(|edit| !source.lines().begins(edit.range.start)) {
        let before = source.slice(source.lines().start(edit.range.start)..edit.range.start);
        edit.range.start -= before.len() - before.trim_end_matches([' ', '\t']).len();
    }
    edits
}
