//! How a document lays out its block collections, for new ones to look like them.

use super::source::Source;
use crate::yaml::spell::Layout;
use crate::yaml::tree::{Kind, NodeId};

/// The step that a block scalar's indicator can name, which bounds the layout too.
const STEPS: std::ops::RangeInclusive<usize> = 1..=9;

/// The layout of a document: that of its first mapping below a key, and of its first sequence below one. Where there is
/// none, two columns, and dashes indented.
pub(super) fn layout(source: &Source<'_>) -> Layout {
    layout_without(source, &[])
}

/// The layout of a document, were some of its nodes not there.
pub(super) fn layout_without(source: &Source<'_>, gone: &[NodeId]) -> Layout {
    let (mut step, mut indent_lists) = (None, None);
    let mut pending: Vec<NodeId> = source.tree.root().into_iter().collect();
    while let Some(id) = pending.pop().filter(|_| step.is_none() || indent_lists.is_none()) {
        if gone.contains(&id) {
            continue;
        }
        match &source.node(id).kind {
            Kind::Sequence { flow: false, items } => pending.extend(items.iter().rev().map(|item| item.node)),
            Kind::Mapping { flow: false, entries } => {
                for entry in entries {
                    let value = source.node(entry.value);
                    if !value.is_block_collection() || gone.contains(&entry.value) {
                        continue;
                    }
                    let key = source.lines().column(source.entry(entry).start);
                    let offset = source.lines().column(value.span.start).saturating_sub(key);
                    match value.kind {
                        Kind::Mapping { .. } if STEPS.contains(&offset) => step = step.or(Some(offset)),
                        Kind::Sequence { .. } => indent_lists = indent_lists.or(Some(offset > 0)),
                        _ => {}
                    }
                }
                pending.extend(entries.iter().rev().map(|entry| entry.value));
            }
            _ => {}
        }
    }
    Layout { step: step.unwrap_or(2), indent_lists: indent_lists.unwrap_or(true) }
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
