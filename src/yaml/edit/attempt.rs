//! The ways to make a change once its place is known, the one that a careful person would choose first.

use serde_json::Value;

use super::insert::{self, Fresh};
use super::place::{Place, Spot};
use super::remove::{self, MARGINS, Margin};
use super::source::Source;
use super::written::{MANNERS, Manner, Room, Tail, Written, by_model, write};
use super::{habit, lines, replace};
use crate::change::{Action, Change, New, TextEdit};
use crate::yaml::spell::{self, Model};
use crate::yaml::tree::{Kind, NodeId, Style};

/// One way to make a change.
#[derive(Clone, Copy)]
pub(super) enum Attempt {
    /// In the style of what is there: a text as the scalar is, a collection that nobody spelled as the collection is.
    Kept,
    /// The new value spelled in that manner.
    Spelled(Manner),
    /// The old value taken out, so much with it.
    Removed(Margin),
}

impl Attempt {
    /// The ways to try, in order.
    pub(super) fn of(change: &Change<'_>, spot: &Spot) -> Vec<Attempt> {
        match change.action {
            Action::Remove => MARGINS.map(Attempt::Removed).to_vec(),
            Action::Add(_) | Action::Replace(_) => {
                let kept = (!inserts(change, spot)).then_some(Attempt::Kept);
                kept.into_iter().chain(MANNERS.map(Attempt::Spelled)).collect()
            }
        }
    }

    pub(super) fn edits(self, source: &Source<'_>, change: &Change<'_>, spot: &Spot) -> Option<Vec<TextEdit>> {
        let new = match (self, change.action) {
            (Attempt::Removed(margin), _) => return remove::child(source, spot.home?, spot.index, margin),
            (_, Action::Add(new) | Action::Replace(new)) => new,
            (_, Action::Remove) => return None,
        };
        let taken = new.spelled.and_then(|spelled| spelled.taken);
        let layout = taken.map_or_else(|| habit::layout(source), |taken| habit::layout_or(source, taken.layout));
        if inserts(change, spot) {
            let room = |flow| Room { flow, layout };
            let Some(home) = spot.home else {
                return Some(document(source, &self.written(new, None, room(false))?));
            };
            let (above, behind) = taken.map_or(("", ""), |taken| (taken.above, taken.behind));
            let room = room(insert::is_flow(source, home));
            let written = self.written(new, None, room)?;
            let fresh = Fresh { value: &written, above, behind };
            return match source.node(home.node).kind {
                Kind::Sequence { .. } => insert::item(source, home, spot.index, &fresh, room),
                _ => insert::entry(source, home, change.path.last()?, &fresh, room),
            };
        }
        let (node, place) = spot.there?;
        let kept = Some((source, node, place));
        let written = self.written(new, kept, Room { flow: place.is_flow(), layout })?;
        Some(vec![replace::put(source, node, place, &written, layout)])
    }

    fn written(self, new: New<'_>, old: Option<(&Source<'_>, NodeId, Place)>, room: Room) -> Option<Written> {
        match self {
            Attempt::Kept => old.and_then(|(source, node, place)| kept(source, node, place, new, room)),
            Attempt::Spelled(manner) => write(new.value, new.spelled, manner, room),
            Attempt::Removed(_) => None,
        }
    }
}

/// Whether something new is put beside what is there, and not in its place.
fn inserts(change: &Change<'_>, spot: &Spot) -> bool {
    let into_list = matches!(change.action, Action::Add(_))
        && spot.there.is_some_and(|(_, place)| matches!(place, Place::Item(_) | Place::FlowItem));
    spot.there.is_none() || into_list
}

/// A value in the style of what it replaces, where it can have that style.
fn kept(source: &Source<'_>, id: NodeId, place: Place, new: New<'_>, room: Room) -> Option<Written> {
    let node = source.node(id);
    let filled = match (new.value, &node.kind) {
        (Value::Array(_), Kind::Sequence { items, .. }) => !items.is_empty(),
        (Value::Object(_), Kind::Mapping { entries, .. }) => !entries.is_empty(),
        _ => false,
    };
    if filled && new.spelled.is_none() {
        return Some(by_model(new.value, Some(Model { tree: &source.tree, node: id }), room));
    }
    let Value::String(text) = new.value else { return None };
    let style = node.style().filter(|_| !node.span.is_empty())?;
    let of_scalar = match room.of_scalar() {
        spell::Place::Block { column, step } if style.is_block() => {
            spell::Place::Block { column, step: indent_of(source, node.span.start, place).unwrap_or(step) }
        }
        place => place,
    };
    let spelled = spell::string(text, Some(style), of_scalar);
    let is_in_style = match style {
        Style::Plain => !spelled.starts_with(['"', '\'', '|', '>']),
        Style::Single => spelled.starts_with('\''),
        Style::Double => spelled.starts_with('"'),
        Style::Literal => spelled.starts_with('|'),
        Style::Folded => spelled.starts_with('>'),
    };
    is_in_style.then(|| Written::Tail(Tail::of(&spelled)))
}

/// How far the lines of the block scalar at that place are indented.
fn indent_of(source: &Source<'_>, header: usize, place: Place) -> Option<usize> {
    let mut line = source.lines().next(header);
    while line < source.text.len() && source.lines().after(line).trim().is_empty() {
        line = source.lines().next(line);
    }
    let text = source.lines().after(line);
    let column = text.len() - text.trim_start_matches(' ').len();
    column.checked_sub(replace::base_column(source, place)).filter(|step| (1..=9).contains(step))
}

/// The content of a document that has none.
fn document(source: &Source<'_>, written: &Written) -> Vec<TextEdit> {
    let end = source.text.len();
    let line_break = source.lines().line_break(end);
    let lines = match written {
        Written::Tail(Tail { first, rest }) => std::iter::once(first).chain(rest).cloned().collect(),
        Written::Lines { lines, .. } => lines.clone(),
    };
    let body = lines::at_column(&lines, 0, line_break);
    let open = source.text.is_empty() || source.text.ends_with(['\n', '\r']);
    let text = if open { format!("{body}{line_break}") } else { format!("{line_break}{body}") };
    vec![TextEdit { range: end..end, text }]
}
