//! Values written out for a place: as somebody spelled them, node by node, or from the value alone.
//!
//! What comes out has no place yet: its lines stand in columns relative to where they will be put.

use serde_json::Value;

use super::lines::{Lines, blanks};
use crate::change::Spelled;
use crate::diag::visible::is_hidden;
use crate::yaml::spell::{self, Layout, Model};
use crate::yaml::tree::{Bytes, Kind, Node, NodeId, Style, Tree};

/// How far the lines of a scalar that goes on over several stand to the right of its key or dash.
const CONTINUED: usize = 2;

/// How closely a spelling follows the one that was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// The bytes as they stand, re-indented.
    Copied,
    /// Node by node in the styles that were given; aliases are written out; anchors, tags and comments are left out.
    Respelled,
    /// From the value alone.
    Canonical,
    /// From the value, on one line.
    Flow,
    /// On one line, every text in double quotes.
    Guarded,
}

/// The manners in the order in which they are tried.
pub(super) const MANNERS: [Manner; 5] =
    [Manner::Copied, Manner::Respelled, Manner::Canonical, Manner::Flow, Manner::Guarded];

/// What a place wants of a spelling.
#[derive(Clone, Copy)]
pub(super) struct Room {
    /// Inside brackets: one line, in flow style.
    pub(super) flow: bool,
    /// How block collections are laid out.
    pub(super) layout: Layout,
}

impl Room {
    /// The room for a scalar, in the words of `yaml::spell`.
    pub(super) fn of_scalar(self) -> spell::Place {
        if self.flow { spell::Place::Flow } else { spell::Place::Block { column: 0, step: self.layout.step } }
    }
}

/// A value as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// It begins on the line of its key or dash: a scalar or a flow collection.
    Tail(Tail),
    /// It stands on lines of its own: a block collection.
    Lines {
        /// The lines, relative to the column of the collection.
        lines: Vec<String>,
        /// Whether it is a sequence.
        sequence: bool,
    },
}

/// What begins on the line of its key or dash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tail {
    /// The rest of that line.
    pub(super) first: String,
    /// Further lines, relative to the column of the key or dash.
    pub(super) rest: Vec<String>,
}

impl Tail {
    /// Takes a text apart into its lines.
    pub(super) fn of(text: &str) -> Self {
        let mut lines = split_lines(text).map(str::to_owned);
        Tail { first: lines.next().unwrap_or_default(), rest: lines.collect() }
    }

    /// Whether it is a block scalar.
    pub(super) fn is_block(&self) -> bool {
        self.first.starts_with(['|', '>'])
    }
}

impl Written {
    fn line(text: impl Into<String>) -> Self {
        Written::Tail(Tail { first: text.into(), rest: Vec::new() })
    }

    /// The text, where it is one line and no block scalar's header.
    pub(super) fn one_line(&self) -> Option<&str> {
        match self {
            Written::Tail(tail) if tail.rest.is_empty() && !tail.is_block() => Some(&tail.first),
            _ => None,
        }
    }
}

/// Writes a value; `None` where that manner cannot write it in that room.
pub(super) fn write(value: &Value, spelled: Option<Spelled<'_>>, manner: Manner, room: Room) -> Option<Written> {
    match manner {
        Manner::Copied => copied(spelled.filter(|s| s.taken.is_none_or(|taken| taken.is_same))?, room),
        Manner::Respelled => {
            let Spelled { tree, node, .. } = spelled?;
            Some(by_model(value, Some(Model { tree, node }), room))
        }
        Manner::Canonical => Some(by_model(value, None, room)),
        Manner::Flow => Some(Written::line(spell::flow(value, None))),
        Manner::Guarded => Some(Written::line(guarded(value))),
    }
}

/// Writes a value in the styles of a model.
pub(super) fn by_model(value: &Value, model: Option<Model<'_>>, room: Room) -> Written {
    if room.flow {
        return Written::line(spell::flow(value, model));
    }
    let text = spell::block(value, 0, room.layout, model);
    let flow = model.is_some_and(|model| model.tree.node(model.tree.resolve(model.node)).is_flow());
    match value {
        Value::Array(items) if !items.is_empty() && !flow => lines_of(&text, true),
        Value::Object(entries) if !entries.is_empty() && !flow => lines_of(&text, false),
        _ => Written::Tail(Tail::of(&text)),
    }
}

fn lines_of(text: &str, sequence: bool) -> Written {
    Written::Lines { lines: split_lines(text).map(str::to_owned).collect(), sequence }
}

fn guarded(value: &Value) -> String {
    let double = |text: &str| spell::string(text, Some(Style::Double), spell::Place::Flow);
    match value {
        Value::String(text) => double(text),
        Value::Array(values) => format!("[{}]", values.iter().map(guarded).collect::<Vec<_>>().join(", ")),
        Value::Object(values) => {
            let entry = |(key, value): (&String, &Value)| format!("{}: {}", double(key), guarded(value));
            format!("{{{}}}", values.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        scalar => spell::flow(scalar, None),
    }
}

fn copied(spelled: Spelled<'_>, room: Room) -> Option<Written> {
    let node = spelled.tree.node(spelled.node);
    let text = spelled.text.get(node.span.clone())?;
    let one_line = !text.contains(['\n', '\r']);
    // What acts instead of showing is written as an escape.
    let hides = text.contains(|c| is_hidden(c) && !matches!(c, '\n' | '\r'));
    if hides || has_sharing(spelled.tree, spelled.node) || (room.flow && !one_line) {
        return None;
    }
    match &node.kind {
        // Its indentation, or an indicator of it, belongs to where it stands.
        Kind::Scalar { style: Style::Literal, .. } => None,
        Kind::Scalar { style: Style::Folded, .. } => Some(Written::Tail(copied_folded(text)?)).filter(|_| !room.flow),
        Kind::Scalar { style: Style::Plain, .. } if text.is_empty() => None,
        Kind::Scalar { style: Style::Plain, text: value } if room.flow => {
            let bare = spell::string(value, Some(Style::Plain), spell::Place::Flow);
            (bare == text).then(|| Written::line(text))
        }
        _ if node.is_block_collection() => {
            let sequence = matches!(node.kind, Kind::Sequence { .. });
            (!room.flow).then(|| Written::Lines { lines: block_lines(spelled, node), sequence })
        }
        // A single pair of a flow sequence has no braces of its own.
        Kind::Mapping { .. } if !text.starts_with('{') => None,
        _ if one_line => Some(Written::line(text)),
        _ => Some(Written::Tail(continued(text))),
    }
}

/// Whether a node or something in it has an anchor or a tag, or is an alias.
fn has_sharing(tree: &Tree, id: NodeId) -> bool {
    let mut pending = vec![id];
    while let Some(id) = pending.pop() {
        let node = tree.node(id);
        if node.anchor.is_some() || node.tag.is_some() || matches!(node.kind, Kind::Alias { .. }) {
            return true;
        }
        match &node.kind {
            Kind::Sequence { items, .. } => pending.extend(items.iter().map(|item| item.node)),
            Kind::Mapping { entries, .. } => pending.extend(entries.iter().flat_map(|entry| [entry.key, entry.value])),
            _ => {}
        }
    }
    false
}

fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line))
}

fn leading_blanks(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Takes up to `count` leading blanks off.
fn unindented(line: &str, count: usize) -> &str {
    line.get(leading_blanks(line).min(count)..).unwrap_or("")
}

/// A folded scalar as it stands, from its header on; `None` where its header names an indentation.
fn copied_folded(text: &str) -> Option<Tail> {
    let mut lines = split_lines(text);
    let header = lines.next()?.split([' ', '\t', '#']).next()?;
    if header.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let body: Vec<&str> = lines.collect();
    let indent = leading_blanks(body.iter().find(|line| !line.trim().is_empty())?);
    let rest = body.iter().map(|line| moved(unindented(line, indent), CONTINUED)).collect();
    Some(Tail { first: header.to_owned(), rest })
}

/// A scalar or flow collection that goes on over several lines, the least indented of them moved to one step.
fn continued(text: &str) -> Tail {
    let mut lines = split_lines(text);
    let first = lines.next().unwrap_or("").to_owned();
    let rest: Vec<&str> = lines.map(|line| if line.trim().is_empty() { "" } else { line }).collect();
    let least = rest.iter().filter(|line| !line.is_empty()).map(|line| leading_blanks(line)).min().unwrap_or(0);
    Tail { first, rest: rest.iter().map(|line| moved(unindented(line, least), CONTINUED)).collect() }
}

/// The lines of a block collection, with the comments directly above it and behind its last line.
fn block_lines(spelled: Spelled<'_>, node: &Node) -> Vec<String> {
    let lines = Lines(spelled.text);
    let Bytes { start, end } = node.span;
    let column = lines.column(start);
    let comment = spelled.tree.comment_in(end..lines.end(end));
    let end = comment.map_or(end, |comment| lines.end(comment.start));
    let mut out = comments_above(spelled, start, column);
    for (i, line) in split_lines(spelled.text.get(start..end).unwrap_or("")).enumerate() {
        out.push(if i == 0 { line.to_owned() } else { unindented(line, column).to_owned() });
    }
    out
}

fn comments_above(spelled: Spelled<'_>, start: usize, column: usize) -> Vec<String> {
    let lines = Lines(spelled.text);
    let mut out = Vec::new();
    let mut at = start;
    while lines.begins(at) {
        let Some(end) = lines.end_before(at) else { break };
        let Some(comment) = spelled.tree.comment_in(lines.start(end)..end) else { break };
        if !lines.begins(comment.start) {
            break;
        }
        out.push(unindented(spelled.text.get(lines.start(end)..end).unwrap_or(""), column).to_owned());
        at = comment.start;
    }
    out.reverse();
    out
}

/// The lines of an item, from its dash on; its content is `gap` columns behind the dash. A comment comes with the blanks before it.
pub(super) fn item_lines(item: &Written, comment: &str, gap: usize) -> Vec<String> {
    let gap = gap.max(2);
    match item {
        Written::Tail(tail) => tail_lines(&format!("-{}", blanks(gap - 1)), tail, comment),
        Written::Lines { lines, .. } if comment.is_empty() => {
            let (first, rest) = lines.split_first().map_or(("", [].as_slice()), |(first, rest)| (first, rest));
            joined(format!("-{}{first}", blanks(gap - 1)), rest, gap)
        }
        Written::Lines { lines, .. } => joined(format!("-{comment}"), lines, gap),
    }
}

/// The lines of an entry of a block mapping. A long key has a line of its own, behind a `?`.
pub(super) fn entry_lines(key: &str, value: &Written, comment: &str, layout: Layout) -> Vec<String> {
    let (own_line, key) = if spell::is_long_key(key) { (Some(format!("? {key}")), "") } else { (None, key) };
    let lines = match value {
        Written::Tail(tail) => tail_lines(&format!("{key}: "), tail, comment),
        Written::Lines { lines, sequence } => joined(format!("{key}:{comment}"), lines, indent_of(*sequence, layout)),
    };
    own_line.into_iter().chain(lines).collect()
}

/// The lines of what begins behind a key or dash, its comment on the first of a block scalar's and on the last of others'.
fn tail_lines(before: &str, tail: &Tail, comment: &str) -> Vec<String> {
    let mut lines = joined(format!("{before}{}", tail.first), &tail.rest, 0);
    if let Some(line) = if tail.is_block() { lines.first_mut() } else { lines.last_mut() } {
        line.push_str(comment);
    }
    lines
}

/// How far a block collection is indented below its key.
pub(super) fn indent_of(sequence: bool, layout: Layout) -> usize {
    if sequence && !layout.indent_lists { 0 } else { layout.step }
}

fn joined(first: String, rest: &[String], indent: usize) -> Vec<String> {
    std::iter::once(first).chain(rest.iter().map(|line| moved(line, indent))).collect()
}

fn moved(line: &str, indent: usize) -> String {
    if line.is_empty() { String::new() } else { format!("{}{line}", blanks(indent)) }
}
