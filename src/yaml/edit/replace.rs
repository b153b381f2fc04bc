//! Another value in the place of a node.

use super::lines::{at_column, blanks, push_at};
use super::place::Place;
use super::source::Source;
use super::written::{Tail, Written, indent_of};
use crate::change::TextEdit;
use crate::yaml::spell::Layout;
use crate::yaml::tree::{Bytes, Kind, NodeId, Style};

/// Puts what is written in the place of a node. Its anchor and the comment behind it stay; its tag goes.
pub(super) fn put(source: &Source<'_>, node: NodeId, place: Place, written: &Written, layout: Layout) -> TextEdit {
    let old = Old::of(source, node, place);
    match written {
        Written::Tail(tail) if old.is_inline() && !tail.is_block() => old.put_inline(tail),
        Written::Tail(tail) => old.put_tail(tail),
        Written::Lines { lines, sequence } => old.put_lines(lines, *sequence, layout),
    }
}

/// The end of a node's marker: of its dash, of its colon, or of the `---` on its line. `None` where it has none.
pub(super) fn marker_end(source: &Source<'_>, node: NodeId, place: Place) -> Option<usize> {
    match place {
        Place::Root => {
            let start = source.full(node).start;
            source.lines().before(start).starts_with("---").then(|| source.lines().start(start) + 3)
        }
        Place::Value(entry) | Place::FlowValue(entry) => entry.colon.map(|colon| colon + 1),
        Place::Item(dash) => Some(dash + 1),
        Place::FlowItem => None,
    }
}

/// The column that further lines of a node are relative to: that of its key or its dash.
pub(super) fn base_column(source: &Source<'_>, place: Place) -> usize {
    match place {
        Place::Value(entry) => source.lines().column(source.entry(&entry).start),
        Place::Item(dash) => source.lines().column(dash),
        Place::Root | Place::FlowValue(_) | Place::FlowItem => 0,
    }
}

/// A node that gives way, and what is around it.
struct Old<'s> {
    source: &'s Source<'s>,
    node: NodeId,
    place: Place,
    full: Bytes,
    span: Bytes,
    marker: Option<usize>,
    /// Its anchor, which stays.
    anchor: &'s str,
    line_break: &'s str,
}

impl<'s> Old<'s> {
    fn of(source: &'s Source<'s>, node: NodeId, place: Place) -> Self {
        let full = source.full(node);
        let anchor = source.node(node).anchor.clone().map_or("", |anchor| source.slice(*anchor));
        Old {
            source,
            node,
            place,
            span: source.span(node),
            marker: marker_end(source, node, place),
            anchor,
            line_break: source.lines().line_break(full.start),
            full,
        }
    }

    fn is_block_collection(&self) -> bool {
        self.source.node(self.node).is_block_collection()
    }

    fn is_block_scalar(&self) -> bool {
        self.source.node(self.node).style().is_some_and(Style::is_block)
    }

    fn is_inline(&self) -> bool {
        !self.is_block_collection() && !self.is_block_scalar()
    }

    /// Whether it starts on the line of its marker.
    fn is_on_marker_line(&self, at: usize) -> bool {
        self.marker.is_some_and(|marker| self.source.lines().end(marker) >= at)
    }

    /// An anchor, the blank behind it, and what follows.
    fn behind_anchor(&self, text: &str) -> String {
        if self.anchor.is_empty() { text.to_owned() } else { format!("{} {text}", self.anchor) }
    }

    /// Further lines, each with its break before it.
    fn push_rest(&self, out: &mut String, rest: &[String]) {
        let column = base_column(self.source, self.place);
        for line in rest {
            out.push_str(self.line_break);
            push_at(out, line, column);
        }
    }

    /// A scalar or flow collection for another: nothing around it is touched.
    fn put_inline(&self, tail: &Tail) -> TextEdit {
        let mut text = self.lead();
        text.push_str(&self.behind_anchor(&tail.first));
        self.push_rest(&mut text, &tail.rest);
        TextEdit { range: self.full.clone(), text }
    }

    /// What is missing before the value of an entry or item that has none yet.
    fn lead(&self) -> String {
        match (self.place, self.marker) {
            (Place::FlowValue(_), None) => ": ".into(),
            (Place::Value(_), None) => {
                format!("{}{}: ", self.line_break, blanks(base_column(self.source, self.place)))
            }
            (_, Some(marker)) if self.full.is_empty() && marker == self.full.start => " ".into(),
            _ => String::new(),
        }
    }

    /// A scalar or flow collection where either that or what was there has lines of its own.
    fn put_tail(&self, tail: &Tail) -> TextEdit {
        let comment = self.comment().map_or("", |comment| self.source.slice(comment));
        let (start, mut text) = match self.marker {
            Some(marker) if self.is_block_collection() || !self.is_on_marker_line(self.full.start) => {
                (marker, " ".to_owned())
            }
            _ => (self.full.start, self.lead()),
        };
        text.push_str(&self.behind_anchor(&tail.first));
        if tail.is_block() {
            text.push_str(comment);
            self.push_rest(&mut text, &tail.rest);
        } else {
            self.push_rest(&mut text, &tail.rest);
            text.push_str(comment);
        }
        TextEdit { range: start..self.end(), text }
    }

    /// A block collection: on the line of its marker where that is usual, else on the lines below it.
    fn put_lines(&self, lines: &[String], sequence: bool, layout: Layout) -> TextEdit {
        let comment = self.comment().map_or("", |comment| self.source.slice(comment));
        let lines = at_column(lines, self.column(sequence, layout), self.line_break);
        let (start, text) = match self.marker {
            None => (self.full.start, self.without_marker(comment, &lines)),
            Some(marker) if self.may_begin_on_marker_line() && self.anchor.is_empty() && comment.is_empty() => {
                let lines = lines.trim_start_matches(' ');
                if self.is_on_marker_line(self.full.start) && self.full.start > marker {
                    (self.full.start, lines.to_owned())
                } else {
                    (marker, format!(" {lines}"))
                }
            }
            Some(marker) => {
                let anchor = if self.anchor.is_empty() { String::new() } else { format!(" {}", self.anchor) };
                (marker, format!("{anchor}{comment}{}{lines}", self.line_break))
            }
        };
        TextEdit { range: start..self.end(), text }
    }

    /// The lines of a block collection that is the document, or the value of a `?` key without a colon: anchor and
    /// comment stand above.
    fn without_marker(&self, comment: &str, lines: &str) -> String {
        let colon = self.lead();
        let above = [colon.trim_end(), self.anchor, comment.trim_start()];
        let mut text = String::new();
        for line in above.iter().filter(|line| !line.is_empty()) {
            text.push_str(line);
            text.push_str(self.line_break);
        }
        text.push_str(lines);
        text
    }

    /// Behind a dash a block collection begins on the line of the dash; behind the colon of a `?` key too.
    fn may_begin_on_marker_line(&self) -> bool {
        match self.place {
            Place::Item(_) => true,
            Place::Value(entry) => entry.question.is_some(),
            _ => false,
        }
    }

    fn column(&self, sequence: bool, layout: Layout) -> usize {
        let base = base_column(self.source, self.place);
        let here = self.source.lines().column(self.span.start);
        let was_sequence = matches!(self.source.node(self.node).kind, Kind::Sequence { .. });
        match self.place {
            Place::Root | Place::FlowValue(_) | Place::FlowItem => 0,
            _ if self.is_block_collection() && was_sequence == sequence && here >= base => here,
            Place::Value(entry) if entry.question.is_none() => base + indent_of(sequence, layout),
            _ if self.is_on_marker_line(self.full.start) && !self.full.is_empty() && self.anchor.is_empty() => {
                self.source.lines().column(self.full.start)
            }
            _ => base + 2,
        }
    }

    /// Where that ends which gives way to a text with lines of its own: the comment behind it, which is put elsewhere,
    /// and blanks at the end of its line included.
    fn end(&self) -> usize {
        let end = self.span.end.max(self.full.end);
        let line_is_over = !self.place.is_flow() && self.source.line_is_over(end);
        if line_is_over && !self.is_block_scalar() { self.source.lines().end(end) } else { end }
    }

    /// The comment that stays, with the blanks before it: behind the value, behind the header of a block scalar,
    /// behind the marker of a block collection.
    fn comment(&self) -> Option<Bytes> {
        if !self.is_block_collection() {
            let from = if self.is_block_scalar() { self.span.start } else { self.span.end };
            return self.source.comment_behind(from);
        }
        let marker = self.marker.filter(|_| !self.is_on_marker_line(self.span.start))?;
        self.source.comment_behind(marker)
    }
}
