//! How the items of a list are called in a path: `[name=cni]` where that names one item.

use std::cell::OnceCell;
use std::collections::HashMap;

use serde_json::Value;

use crate::patch::path::{Condition, Segment};
use crate::resource::{MergeKey, scalar_text};

/// The longest text, in bytes, that a selector shows. Longer items go by their index.
const MAX_TEXT: usize = 120;

/// The items of one list, before and after.
pub(super) struct Names<'v> {
    key: Option<MergeKey>,
    before: Side<'v>,
    after: Side<'v>,
}

struct Side<'v> {
    items: &'v [Value],
    /// Counted when first asked for.
    names: OnceCell<ItemNames>,
}

impl<'v> Names<'v> {
    pub(super) fn new(key: Option<MergeKey>, before: &'v [Value], after: &'v [Value]) -> Self {
        let side = |items| Side { items, names: OnceCell::new() };
        Names { key, before: side(before), after: side(after) }
    }

    /// The selector of an item, as it was before if it was there: by `name` where that is unique in its list, else by
    /// the merge key, or by its text.
    pub(super) fn selector(&self, before: Option<usize>, after: Option<usize>) -> Option<Segment> {
        let (side, index) = match (before, after) {
            (Some(index), _) => (&self.before, index),
            (None, index) => (&self.after, index?),
        };
        side.names.get_or_init(|| ItemNames::new(self.key, side.items)).selector(side.items.get(index)?)
    }
}

/// What the items of a list can be called: how many of them each selector selects.
#[derive(Debug)]
pub struct ItemNames {
    key: Option<MergeKey>,
    counts: HashMap<Segment, usize>,
}

impl ItemNames {
    fn new(key: Option<MergeKey>, items: &[Value]) -> ItemNames {
        let mut names = ItemNames { key, counts: HashMap::new() };
        for item in items {
            names.learn(item);
        }
        names
    }

    /// The names in a list that lies at `keys` (mapping keys only).
    pub fn of_list(keys: &[&str], items: &[Value]) -> ItemNames {
        ItemNames::new(MergeKey::of_list(keys).or_else(|| MergeKey::common(&[], items)), items)
    }

    /// The selector that names this item of the list, and it alone.
    pub fn selector(&self, item: &Value) -> Option<Segment> {
        candidates(item, self.key).into_iter().find(|selector| self.counts.get(selector) == Some(&1))
    }

    /// Counts one item more.
    pub fn learn(&mut self, item: &Value) {
        #[cfg(test)]
        learned::count();
        for selector in candidates(item, self.key) {
            *self.counts.entry(selector).or_default() += 1;
        }
    }

    /// Counts one item less.
    pub fn forget(&mut self, item: &Value) {
        for selector in candidates(item, self.key) {
            if let Some(count) = self.counts.get_mut(&selector) {
                *count = count.saturating_sub(1);
            }
        }
    }
}

/// The selectors that select the item, the best first.
fn candidates(item: &Value, key: Option<MergeKey>) -> Vec<Segment> {
    match item {
        Value::Object(_) => {
            let by_key = key.map(MergeKey::fields).filter(|fields| *fields != ["name"]);
            [Some(&["name"][..]), by_key].into_iter().flatten().filter_map(|fields| select(item, fields)).collect()
        }
        _ => short(item).map(Segment::Item).into_iter().collect(),
    }
}

fn select(item: &Value, fields: &[&str]) -> Option<Segment> {
    let condition = |field: &&str| {
        let value = short(item.get(field)?)?;
        Some(Condition { key: (*field).to_owned(), value })
    };
    fields.iter().map(condition).collect::<Option<Vec<_>>>().map(Segment::Select)
}

fn short(value: &Value) -> Option<String> {
    scalar_text(value).filter(|text| text.len() <= MAX_TEXT && !text.contains(char::is_control)).map(Into::into)
}

/// How often items were counted on this thread, for tests that hold work to the length of a list.
#[cfg(test)]
pub(crate) mod learned {
    use std::cell::Cell;

    thread_local!(static LEARNED: Cell<usize> = const { Cell::new(0) });

    pub(super) fn count() {
        LEARNED.set(LEARNED.get() + 1);
    }

    /// How many items are counted while something is done.
    pub(crate) fn during(what: impl FnOnce()) -> usize {
        let before = LEARNED.get();
        what();
        LEARNED.get() - before
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn name(list: &Value, key: Option<MergeKey>, index: usize) -> Option<String> {
        let list = list.as_array().unwrap();
        Names::new(key, list, &[]).selector(Some(index), None).map(|s| s.to_string())
    }

    #[test]
    fn the_name_is_preferred_then_the_key_then_the_text() {
        let mounts = json!([
            {"name": "a", "mountPath": "/a"},
            {"name": "b", "mountPath": "/b"},
            {"name": "b", "mountPath": "/c"},
            {"name": "c", "mountPath": "/d"},
            {"name": "d", "mountPath": "/d"},
            {"name": "d", "mountPath": "/d"},
        ]);
        let key = MergeKey::of_list(&["volumeMounts"]);
        let names: Vec<_> = (0..6).map(|index| name(&mounts, key, index).unwrap_or_default()).collect();
        assert_eq!(names, ["[name=a]", "[mountPath=/b]", "[mountPath=/c]", "[name=c]", "", ""]);
        let args = json!(["-d", "/x", "-d", 53, {"x": 1}]);
        let names: Vec<_> = (0..5).map(|index| name(&args, None, index).unwrap_or_default()).collect();
        assert_eq!(names, ["", "[=/x]", "", "[=53]", ""]);
    }

    #[test]
    fn a_key_is_only_shown_when_the_item_has_all_of_it() {
        let ports = json!([{"containerPort": 53}, {"containerPort": 53, "protocol": "UDP"}]);
        let key = MergeKey::of_list(&["containers", "ports"]);
        assert_eq!(name(&ports, key, 0), None);
        assert_eq!(name(&ports, key, 1), Some("[containerPort=53,protocol=UDP]".into()));
    }

    #[test]
    fn long_texts_and_texts_of_lines_are_not_shown() {
        assert_eq!(name(&json!(["x".repeat(500), "a\nb"]), None, 0), None);
        assert_eq!(name(&json!(["x".repeat(500), "a\nb"]), None, 1), None);
    }
}
