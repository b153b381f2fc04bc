//! How a document lays out its block collections, for new ones to look like them.

use std::collections::HashSet;

use super::source::Source;
use crate::yaml::spell::Layout;
use crate::yaml::tree::{Entry, Kind, NodeId};

/// The step that a block scalar's indicator can name, which bounds the layout too.
const STEPS: std::ops::RangeInclusive<usize> = 1..=9;

/// The layout of a document: that of its first mapping below a key, and of its first sequence below one. Where there is
/// none, two columns, and dashes indented.
pub(super) fn layout(source: &Source<'_>) -> Layout {
    Habit::of(source).layout()
}

/// The same, with another layout where the document has none of its own.
pub(super) fn layout_or(source: &Source<'_>, other: Layout) -> Layout {
    Habit::of(source).layout_or(other)
}

/// The collections that a document's layout is that of.
pub(super) struct Habit {
    step: Option<(NodeId, usize)>,
    indent_lists: Option<(NodeId, bool)>,
    /// Nodes that count as not there.
    gone: HashSet<NodeId>,
}

impl Habit {
    pub(super) fn of(source: &Source<'_>) -> Habit {
        Habit::without(source, HashSet::new())
    }

    fn without(source: &Source<'_>, gone: HashSet<NodeId>) -> Habit {
        let mut habit = Habit { step: None, indent_lists: None, gone };
        let mut pending: Vec<NodeId> = source.tree.root().into_iter().collect();
        while let Some(id) = pending.pop().filter(|_| habit.step.is_none() || habit.indent_lists.is_none()) {
            if habit.gone.contains(&id) {
                continue;
            }
            match &source.node(id).kind {
                Kind::Sequence { flow: false, items } => pending.extend(items.iter().rev().map(|item| item.node)),
                Kind::Mapping { flow: false, entries } => {
                    for entry in entries {
                        habit.look_at(source, entry);
                    }
                    pending.extend(entries.iter().rev().map(|entry| entry.value));
                }
                _ => {}
            }
        }
        habit
    }

    fn look_at(&mut self, source: &Source<'_>, entry: &Entry) {
        let value = source.node(entry.value);
        if !value.is_block_collection() || self.gone.contains(&entry.value) {
            return;
        }
        let key = source.lines().column(source.entry(entry).start);
        let offset = source.lines().column(value.span.start).saturating_sub(key);
        match value.kind {
            Kind::Mapping { .. } if STEPS.contains(&offset) => self.step = self.step.or(Some((entry.value, offset))),
            Kind::Sequence { .. } => self.indent_lists = self.indent_lists.or(Some((entry.value, offset > 0))),
            _ => {}
        }
    }

    pub(super) fn layout(&self) -> Layout {
        self.layout_or(Layout { step: 2, indent_lists: true })
    }

    fn layout_or(&self, other: Layout) -> Layout {
        Layout {
            step: self.step.map_or(other.step, |(_, step)| step),
            indent_lists: self.indent_lists.map_or(other.indent_lists, |(_, indents)| indents),
        }
    }

    /// Whether the layout is the same without one more node, which counts as not there from now on.
    pub(super) fn stays_without(&mut self, source: &Source<'_>, node: NodeId) -> bool {
        let span = &source.node(node).span;
        let lies_in_it = |other: NodeId| span.contains(&source.node(other).span.start);
        let (step, lists) = (self.step.map(|(node, _)| node), self.indent_lists.map(|(node, _)| node));
        self.gone.insert(node);
        if !step.into_iter().chain(lists).any(lies_in_it) {
            return true;
        }
        let without = Habit::without(source, std::mem::take(&mut self.gone));
        let stays = without.layout() == self.layout();
        *self = without;
        stays
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (usize, bool) {
        let layout = layout(&Source::read(text).unwrap());
        (layout.step, layout.indent_lists)
    }

    #[test]
    fn new_collections_look_like_the_first_of_the_document() {
        assert_eq!(of("a: 1\n"), (2, true));
        assert_eq!(of("a:\n    b: 1\nl:\n- x\n"), (4, false));
        assert_eq!(of("- a:\n     - x\n  b:\n     c: 1\n"), (3, true));
        assert_eq!(of("[a: {b: 1}]"), (2, true));
    }
}
