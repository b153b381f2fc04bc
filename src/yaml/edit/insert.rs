//! A new entry in a mapping, a new item in a sequence.

use super::lines::at_column;
use super::place::Home;
use super::replace;
use super::source::Source;
use super::written::{Room, Written, entry_lines, item_lines};
use crate::change::TextEdit;
use crate::yaml::spell::{self, Layout};
use crate::yaml::tree::{Bytes, Entry, Item, Kind, NodeId, Style};

/// Whether a new entry or item of a collection is written in flow style.
///
/// An empty collection (`{}`, `[]`) is in flow style, and grows in it as long as what it gets is one line. Where what it
/// gets has lines of its own and the place allows it, it turns into a block collection.
pub(super) fn is_flow(source: &Source<'_>, home: Home) -> bool {
    source.node(home.node).is_flow() && (home.place.is_flow() || source.count(home.node) > 0)
}

/// What is put into a collection.
pub(super) struct Fresh<'w> {
    pub(super) value: &'w Written,
    /// The comment lines that come above it in a block.
    pub(super) above: &'w str,
    /// The comment that comes behind it in a block, with the blanks before it.
    pub(super) behind: &'w str,
}

impl Fresh<'_> {
    fn has_comments(&self) -> bool {
        !self.above.is_empty() || !self.behind.is_empty()
    }

    /// The value on one line, where a collection of flow style that is at that place may take it.
    fn one_line(&self, source: &Source<'_>, home: Home) -> Option<&str> {
        let may_grow = !home.place.is_flow() && source.count(home.node) == 0;
        self.value.one_line().filter(|_| !(may_grow && self.has_comments()))
    }

    fn entry_lines(&self, key: &str, layout: Layout) -> Vec<String> {
        self.with_comments_above(entry_lines(key, self.value, self.behind, layout))
    }

    fn item_lines(&self, gap: usize) -> Vec<String> {
        item_lines(self.value, self.behind, gap)
    }

    fn with_comments_above(&self, lines: Vec<String>) -> Vec<String> {
        self.above.lines().map(|line| line.trim().to_owned()).chain(lines).collect()
    }
}

/// Adds an entry behind the last one of a mapping. `None` where what is written does not fit there.
pub(super) fn entry(
    source: &Source<'_>,
    home: Home,
    key: &str,
    fresh: &Fresh<'_>,
    room: Room,
) -> Option<Vec<TextEdit>> {
    let Kind::Mapping { flow, entries } = &source.node(home.node).kind else { return None };
    let key = spell::key(key, key_quotes(source, entries), if *flow { spell::Place::Flow } else { spell::Place::Key });
    if *flow {
        let text = fresh.one_line(source, home).map(|value| {
            if spell::is_long_key(&key) { format!("? {key} : {value}") } else { format!("{key}: {value}") }
        });
        return match text {
            Some(text) => flow_child(source, home.node, entries.len(), &text),
            None => grown(source, home, fresh.entry_lines(&key, room.layout), false, room),
        };
    }
    let (first, last) = (source.entry(entries.first()?), source.entry(entries.last()?));
    let column = source.lines().column(first.start);
    Some(vec![lines_behind(source, last.end, &fresh.entry_lines(&key, room.layout), column)])
}

/// The quotes that all keys of a mapping have.
fn key_quotes(source: &Source<'_>, entries: &[Entry]) -> Option<Style> {
    let quotes = |entry: &Entry| source.node(entry.key).style().filter(|style| *style != Style::Plain);
    let first = quotes(entries.first()?)?;
    entries.iter().all(|entry| quotes(entry) == Some(first)).then_some(first)
}

/// Adds an item to a sequence, before that index or behind the last one.
pub(super) fn item(
    source: &Source<'_>,
    home: Home,
    index: usize,
    fresh: &Fresh<'_>,
    room: Room,
) -> Option<Vec<TextEdit>> {
    let Kind::Sequence { flow, items } = &source.node(home.node).kind else { return None };
    if *flow {
        return match fresh.one_line(source, home) {
            Some(text) => flow_child(source, home.node, index, text),
            None => grown(source, home, fresh.with_comments_above(fresh.item_lines(2)), true, room),
        };
    }
    let model = items.get(index).or(items.last())?;
    let own_lines = fresh.item_lines(gap(source, model));
    let lines = fresh.with_comments_above(own_lines.clone());
    let column = source.lines().column(model.dash?);
    let Some(next) = items.get(index) else {
        return Some(vec![lines_behind(source, source.item(items.last()?).end, &lines, column)]);
    };
    let dash = next.dash?;
    let line_break = source.lines().line_break(dash);
    if source.lines().begins(dash) {
        let text = at_column(&lines, column, line_break);
        let at = source.with_comments_above(dash);
        return Some(vec![TextEdit { range: at..at, text: format!("{text}{line_break}") }]);
    }
    // The first item of a sequence that begins on another's line.
    let text = at_column(&own_lines, column, line_break);
    let text = format!("{}{line_break}{}", text.trim_start_matches(' '), " ".repeat(column));
    Some(vec![TextEdit { range: dash..dash, text }])
}

/// How far behind its dash an item's content stands.
fn gap(source: &Source<'_>, item: &Item) -> usize {
    let start = source.full(item.node).start;
    let dash = item.dash.unwrap_or(start);
    let between = source.slice(dash + 1..start);
    if !between.is_empty() && between.bytes().all(|b| b == b' ') { start - dash } else { 2 }
}

/// New lines behind the line of `end`, the end of what comes before them.
fn lines_behind(source: &Source<'_>, end: usize, lines: &[String], column: usize) -> TextEdit {
    let at = source.lines().end(end);
    let line_break = source.lines().line_break(at);
    TextEdit { range: at..at, text: format!("{line_break}{}", at_column(lines, column, line_break)) }
}

/// An empty flow collection that turns into a block collection.
fn grown(source: &Source<'_>, home: Home, lines: Vec<String>, sequence: bool, room: Room) -> Option<Vec<TextEdit>> {
    let empty = source.children(home.node).is_empty();
    let written = Written::Lines { lines, sequence };
    (empty && !home.place.is_flow()).then(|| vec![replace::put(source, home.node, home.place, &written, room.layout)])
}

/// A child of a flow collection, before that index or behind the last one.
fn flow_child(source: &Source<'_>, collection: NodeId, index: usize, text: &str) -> Option<Vec<TextEdit>> {
    let span = source.span(collection);
    let children = source.children(collection);
    if !matches!(source.byte(span.start), Some(b'[' | b'{')) {
        // The one pair of `[key: value]` becomes a mapping with braces.
        let open = TextEdit { range: span.start..span.start, text: "{".into() };
        return Some(vec![open, TextEdit { range: span.end..span.end, text: format!(", {text}}}") }]);
    }
    match (children.get(index), children.last()) {
        (Some(next), _) => Some(vec![flow_before(source, next, text)]),
        (None, Some(last)) => Some(flow_behind(source, last, text)),
        (None, None) => {
            let inner = span.start + 1..span.end.checked_sub(1)?;
            let blank = source.slice(inner.clone()).trim().is_empty();
            let range = if blank { inner } else { inner.start..inner.start };
            Some(vec![TextEdit { range, text: text.to_owned() }])
        }
    }
}

fn flow_before(source: &Source<'_>, next: &Bytes, text: &str) -> TextEdit {
    if source.lines().begins(next.start) {
        let at = source.with_comments_above(next.start);
        let (indent, line_break) = (source.lines().before(next.start), source.lines().line_break(at));
        return TextEdit { range: at..at, text: format!("{indent}{text},{line_break}") };
    }
    TextEdit { range: next.start..next.start, text: format!("{text}, ") }
}

fn flow_behind(source: &Source<'_>, last: &Bytes, text: &str) -> Vec<TextEdit> {
    let lines = source.lines();
    let comma = Some(source.skip_trivia(last.end)).filter(|at| source.byte(*at) == Some(b','));
    let at = |at: usize, text: String| TextEdit { range: at..at, text };
    if !lines.begins(last.start) {
        // A comma right behind the colon of an empty value would be taken for a part of the key by some readers.
        let blank = if source.slice(last.clone()).ends_with(':') { " " } else { "" };
        return vec![at(last.end, format!("{blank}, {text}"))];
    }
    let (indent, line_break) = (lines.before(last.start), lines.line_break(last.end));
    let line_end = |behind: usize| if source.line_is_over(behind) { lines.end(behind) } else { behind };
    match comma {
        Some(comma) => vec![at(line_end(comma + 1), format!("{line_break}{indent}{text},"))],
        None => vec![at(last.end, ",".into()), at(line_end(last.end), format!("{line_break}{indent}{text}"))],
    }
}
