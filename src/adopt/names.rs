//! How the items of lists are called while operations are made on a value: a list's items are counted once, and the
//! counts follow what happens to it, so that a thousand operations on a list of a thousand items count two thousand.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::diff::ItemNames;
use crate::patch::path::Segment;

/// The names of the items of lists of one value, by the lists' plain paths.
#[derive(Debug, Default)]
pub(super) struct ListNames(BTreeMap<Vec<String>, ItemNames>);

impl ListNames {
    /// The selector that names the item at that index, and it alone, in the list at `path`. `keys` are the mapping
    /// keys of the path.
    pub(super) fn selector(
        &mut self,
        path: &[String],
        keys: &[&str],
        items: &[Value],
        index: usize,
    ) -> Option<Segment> {
        if !self.0.contains_key(path) {
            self.0.insert(path.to_vec(), ItemNames::of_list(keys, items));
        }
        self.0.get(path)?.selector(items.get(index)?)
    }

    /// Forgets an item of the list at `path`: it goes, or is about to change.
    pub(super) fn forget(&mut self, path: &[String], item: &Value) {
        if let Some(names) = self.0.get_mut(path) {
            names.forget(item);
        }
    }

    /// Takes up an item of the list at `path`: it is new, or has changed.
    pub(super) fn learn(&mut self, path: &[String], item: &Value) {
        if let Some(names) = self.0.get_mut(path) {
            names.learn(item);
        }
    }

    /// Drops what is known of lists below a place: their paths may lead elsewhere now.
    pub(super) fn drop_below(&mut self, path: &[String]) {
        let below = self.0.range(path.to_vec()..).map(|(known, _)| known).filter(|known| known.len() > path.len());
        let below: Vec<Vec<String>> = below.take_while(|known| known.starts_with(path)).cloned().collect();
        for known in below {
            self.0.remove(&known);
        }
    }
}
