//! Which items of two lists belong together.
//!
//! First by the list's merge key, then what is left over by `name` where that is unique among the left-over, the rest
//! by a longest common subsequence, then those that are the same at another place, and in the gaps by likeness. No step
//! costs more than n log n, the subsequence's search is bounded by its algorithm's heuristics.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;

use serde_json::Value;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::likeness;
use crate::resource::{Identity, MergeKey, scalar_text};

/// Two lists' items, matched.
#[derive(Debug, Default)]
pub(super) struct Matching {
    /// Items that belong together, in the order of the list before.
    pub(super) pairs: Vec<Pair>,
    /// Items that are gone.
    pub(super) removed: Vec<usize>,
    /// Items that are new.
    pub(super) added: Vec<usize>,
}

/// Two items that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    /// The index before.
    pub(super) before: usize,
    /// The index after.
    pub(super) after: usize,
    /// Whether it changed places with its fellows. As few pairs as can be are said to have moved.
    pub(super) moved: bool,
}

/// Matches the items of two lists that lie at `path` (mapping keys only) by `key`, if the list has one.
pub(super) fn match_items(path: &[&str], key: Option<MergeKey>, before: &[Value], after: &[Value]) -> Matching {
    let mut matcher = Matcher::new(before, after);
    if path == ["items"] {
        matcher.by(resource_key);
    }
    if let Some(key) = key {
        matcher.by(|item| key.of_item(item));
    }
    matcher.by(|item| item.get("name").and_then(scalar_text));
    matcher.by(|item| item.pointer("/metadata/name").and_then(scalar_text));
    matcher.by_sequence(key);
    matcher.finish()
}

/// The identity of an item of a `kind: List`.
fn resource_key(item: &Value) -> Option<Identity> {
    let identity = Identity::of(item);
    (!identity.kind.is_empty() && !identity.name.is_empty()).then_some(identity)
}

struct Matcher<'v> {
    before: &'v [Value],
    after: &'v [Value],
    /// What is not matched yet, in order.
    left_before: Vec<usize>,
    left_after: Vec<usize>,
    pairs: Vec<(usize, usize)>,
}

impl<'v> Matcher<'v> {
    fn new(before: &'v [Value], after: &'v [Value]) -> Self {
        Matcher {
            before,
            after,
            left_before: (0..before.len()).collect(),
            left_after: (0..after.len()).collect(),
            pairs: Vec::new(),
        }
    }

    /// Matches items with the same key, where that is unique among the left-over of both sides.
    fn by<K: Hash + Eq>(&mut self, key: impl Fn(&'v Value) -> Option<K>) {
        if self.left_before.is_empty() || self.left_after.is_empty() {
            return;
        }
        let before = unique(self.before, &self.left_before, &key);
        let after = unique(self.after, &self.left_after, &key);
        let mut pairs = Vec::new();
        self.left_before.retain(|&index| {
            let found = self.before.get(index).and_then(&key).filter(|key| before.contains_key(key));
            let partner = found.and_then(|key| after.get(&key).copied());
            pairs.extend(partner.map(|partner| (index, partner)));
            partner.is_none()
        });
        self.forget_after(&pairs);
        self.pairs.extend(pairs);
    }

    /// Matches equal items by a longest common subsequence, then those that stand elsewhere, and in the gaps those that
    /// look like one item changed.
    fn by_sequence(&mut self, key: Option<MergeKey>) {
        if self.left_before.is_empty() || self.left_after.is_empty() {
            return;
        }
        let mut classes: HashMap<&Value, usize> = HashMap::new();
        let mut class = |list: &'v [Value], index: &usize| -> usize {
            let next = classes.len();
            list.get(*index).map_or(next, |item| *classes.entry(item).or_insert(next))
        };
        let before: Vec<usize> = self.left_before.iter().map(|index| class(self.before, index)).collect();
        let after: Vec<usize> = self.left_after.iter().map(|index| class(self.after, index)).collect();
        let mut pairs = Vec::new();
        for op in capture_diff_slices(Algorithm::Myers, &before, &after) {
            if let DiffOp::Equal { old_index, new_index, len } = op {
                pairs.extend((old_index..old_index + len).zip(new_index..new_index + len));
            }
        }
        pairs.extend(equal(&before, &after, &pairs));
        pairs.sort_unstable();
        let mut found: Vec<(usize, usize)> = pairs.iter().filter_map(|&(b, a)| self.left(b, a)).collect();
        for (old, new) in gaps(&pairs, before.len(), after.len()) {
            let old: Vec<usize> = old.iter().filter_map(|place| self.left_before.get(*place).copied()).collect();
            let new: Vec<usize> = new.iter().filter_map(|place| self.left_after.get(*place).copied()).collect();
            found.extend(self.alike(key, &old, &new));
        }
        let matched: HashSet<usize> = found.iter().map(|pair| pair.0).collect();
        self.left_before.retain(|index| !matched.contains(index));
        self.forget_after(&found);
        self.pairs.extend(found);
    }

    /// The left-over items at two places.
    fn left(&self, before: usize, after: usize) -> Option<(usize, usize)> {
        Some((*self.left_before.get(before)?, *self.left_after.get(after)?))
    }

    /// The items of a gap that look like one item changed: scalars that stand side by side, else by what they share.
    fn alike(&self, key: Option<MergeKey>, old: &[usize], new: &[usize]) -> Vec<(usize, usize)> {
        let items = |list: &'v [Value], places: &[usize]| -> Vec<&'v Value> {
            places.iter().filter_map(|index| list.get(*index)).collect()
        };
        let (old_items, new_items) = (items(self.before, old), items(self.after, new));
        let scalars = || old_items.iter().chain(&new_items).all(|item| scalar_text(item).is_some());
        if old.len() == new.len() && (old.len() == 1 || scalars()) {
            let side_by_side = old.iter().copied().zip(new.iter().copied());
            return side_by_side.filter(|&(b, a)| self.are_alike(key, b, a)).collect();
        }
        let place = |row: usize, column: usize| Some((*old.get(row)?, *new.get(column)?));
        let may = |row, column| place(row, column).is_some_and(|(b, a)| self.are_alike(key, b, a));
        let pairs = likeness::align(&old_items, &new_items, may);
        pairs.into_iter().filter_map(|(row, column)| place(row, column)).collect()
    }

    /// Whether two items in the same place look like one that was changed.
    fn are_alike(&self, key: Option<MergeKey>, before: usize, after: usize) -> bool {
        match (self.before.get(before), self.after.get(after)) {
            (Some(Value::Object(a)), Some(Value::Object(b))) => {
                let differ = |field: &str| a.get(field).zip(b.get(field)).is_some_and(|(a, b)| a != b);
                let renamed = differ("name") || key.is_some_and(|key| key.fields().iter().any(|field| differ(field)));
                let is_like = |field: &str, value: &Value| match (value, b.get(field)) {
                    (Value::Object(_), Some(Value::Object(_))) | (Value::Array(_), Some(Value::Array(_))) => true,
                    (value, other) => other == Some(value),
                };
                !renamed && a.iter().any(|(field, value)| is_like(field, value))
            }
            (Some(Value::Array(_)), Some(Value::Array(_))) => true,
            (Some(a), Some(b)) => scalar_text(a).is_some() && scalar_text(b).is_some(),
            _ => false,
        }
    }

    fn forget_after(&mut self, pairs: &[(usize, usize)]) {
        let mut matched: Vec<usize> = pairs.iter().map(|pair| pair.1).collect();
        matched.sort_unstable();
        self.left_after.retain(|index| matched.binary_search(index).is_err());
    }

    fn finish(mut self) -> Matching {
        self.pairs.sort_unstable();
        let stays = longest_rise(&self.pairs);
        let pairs = self.pairs.iter().zip(stays).map(|(&(before, after), stays)| Pair { before, after, moved: !stays });
        Matching { pairs: pairs.collect(), removed: self.left_before, added: self.left_after }
    }
}

/// Items that are the same and in no pair yet: those that stand elsewhere. Of several alike, the first goes with the
/// first.
fn equal(before: &[usize], after: &[usize], pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let (old, new): (HashSet<usize>, HashSet<usize>) = pairs.iter().copied().unzip();
    let mut free: HashMap<usize, VecDeque<usize>> = HashMap::new();
    for (place, class) in after.iter().enumerate().filter(|(place, _)| !new.contains(place)) {
        free.entry(*class).or_default().push_back(place);
    }
    let left = before.iter().enumerate().filter(|(place, _)| !old.contains(place));
    left.filter_map(|(place, class)| Some((place, free.get_mut(class)?.pop_front()?))).collect()
}

/// What is in no pair, between the pairs that did not move: the places before and those after, for each gap that has
/// both.
fn gaps(pairs: &[(usize, usize)], before: usize, after: usize) -> Vec<(Vec<usize>, Vec<usize>)> {
    let (old, new): (HashSet<usize>, HashSet<usize>) = pairs.iter().copied().unzip();
    let stays = pairs.iter().zip(longest_rise(pairs)).filter(|(_, stays)| *stays).map(|(pair, _)| *pair);
    let mut from = (0, 0);
    let mut gaps = Vec::new();
    for to in stays.chain([(before, after)]) {
        let left = |from: usize, to: usize, paired: &HashSet<usize>| -> Vec<usize> {
            (from..to).filter(|place| !paired.contains(place)).collect()
        };
        let gap = (left(from.0, to.0, &old), left(from.1, to.1, &new));
        if !gap.0.is_empty() && !gap.1.is_empty() {
            gaps.push(gap);
        }
        from = (to.0 + 1, to.1 + 1);
    }
    gaps
}

/// The items among `left` whose key no other among them has.
fn unique<'v, K: Hash + Eq>(
    list: &'v [Value],
    left: &[usize],
    key: impl Fn(&'v Value) -> Option<K>,
) -> HashMap<K, usize> {
    let mut found: HashMap<K, Option<usize>> = HashMap::with_capacity(left.len());
    for &index in left {
        if let Some(key) = list.get(index).and_then(&key) {
            found.entry(key).and_modify(|index| *index = None).or_insert(Some(index));
        }
    }
    found.into_iter().filter_map(|(key, index)| index.map(|index| (key, index))).collect()
}

/// For each pair, whether it belongs to a longest run of pairs that rises on both sides: those that did not move.
fn longest_rise(pairs: &[(usize, usize)]) -> Vec<bool> {
    // `ends[n]` is the pair that ends the best run of n + 1 pairs so far: the one with the least index after.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    let after = |pair: usize| pairs.get(pair).map_or(0, |pair| pair.1);
    for pair in 0..pairs.len() {
        let length = ends.partition_point(|&end| after(end) < after(pair));
        previous.push(length.checked_sub(1).and_then(|shorter| ends.get(shorter).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = pair,
            None => ends.push(pair),
        }
    }
    let mut stays = vec![false; pairs.len()];
    let mut at = ends.last().copied();
    while let Some(pair) = at {
        if let Some(stay) = stays.get_mut(pair) {
            *stay = true;
        }
        at = previous.get(pair).copied().flatten();
    }
    stays
}
