//! A list whose items come or go by changes that are made together: which of its items now is which of the source's.

use std::collections::HashSet;

/// A list of the source whose items move.
#[derive(Debug)]
pub(super) struct Moved {
    /// For each item now, which one of the source it is; `None` for what was brought.
    now: Vec<Option<usize>>,
    /// How many items the source's list has.
    length: usize,
    /// The source's items that went or before which others came; the length stands for the end of the list.
    edges: HashSet<usize>,
}

impl Moved {
    /// A list of so many items, with others that were brought behind the last.
    pub(super) fn new(length: usize, brought: usize) -> Moved {
        let now = (0..length).map(Some).chain((0..brought).map(|_| None)).collect();
        let edges = if brought > 0 { HashSet::from([length]) } else { HashSet::new() };
        Moved { now, length, edges }
    }

    /// Which item of the source an item is now. `None` for what was brought, and beside an item that came or went.
    pub(super) fn item(&self, at: usize) -> Option<usize> {
        let item = (*self.now.get(at)?)?;
        self.is_free(item).then_some(item)
    }

    /// Before which item of the source one comes that is put at that place now; at the end, the length. Others may have come
    /// there just before, and nothing else beside it.
    pub(super) fn gap(&self, at: usize) -> Option<usize> {
        let gap = if at == self.now.len() { self.length } else { (*self.now.get(at)?)? };
        let goes_on = at.checked_sub(1).is_some_and(|before| self.now.get(before) == Some(&None));
        let is_free = if goes_on { self.is_free_beside(gap) } else { self.is_free(gap) };
        is_free.then_some(gap)
    }

    fn is_free(&self, item: usize) -> bool {
        !self.edges.contains(&item) && self.is_free_beside(item)
    }

    fn is_free_beside(&self, item: usize) -> bool {
        beside(item).all(|beside| !self.edges.contains(&beside))
    }

    /// Notes that something came at that place.
    pub(super) fn came(&mut self, at: usize, gap: usize) {
        self.now.insert(at.min(self.now.len()), None);
        self.edges.insert(gap);
    }

    /// Notes that an item of the source went.
    pub(super) fn went(&mut self, at: usize, item: usize) {
        if at < self.now.len() {
            self.now.remove(at);
        }
        self.edges.insert(item);
    }
}

/// The neighbours of an item.
pub(super) fn beside(item: usize) -> impl Iterator<Item = usize> {
    item.checked_sub(1).into_iter().chain([item + 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_followed_to_the_source() {
        let mut moved = Moved::new(9, 0);
        assert_eq!((moved.item(3), moved.gap(3), moved.gap(9), moved.gap(10)), (Some(3), Some(3), Some(9), None));
        moved.came(2, 2);
        assert_eq!((moved.item(2), moved.item(3), moved.item(4), moved.item(5)), (None, None, None, Some(4)));
        assert_eq!(moved.gap(3), Some(2), "behind what came just before");
        assert_eq!(moved.gap(2), None, "before it");
        moved.went(6, 5);
        assert_eq!((moved.item(5), moved.item(6), moved.item(7)), (None, None, Some(7)));
    }

    #[test]
    fn what_was_brought_behind_the_last_is_no_item_of_the_source() {
        let moved = Moved::new(3, 2);
        assert_eq!((moved.item(1), moved.item(2), moved.item(3)), (Some(1), None, None));
        assert_eq!(moved.gap(5), Some(3));
    }
}
