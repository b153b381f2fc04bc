//! Which items of a gap are one item that was changed, where no key names them: those that share most of what they say.
//!
//! Pairs never cross, so an item that is said to have changed is not said to have moved. The work is bounded by
//! [`MAX_CELLS`] comparisons for a gap of any size, and by [`MAX_PARTS`] parts of an item.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

/// How many pairs of items are compared in one gap, about. In a greater gap only items near the same share of the way
/// are.
const MAX_CELLS: usize = 16_384;

/// How many parts of an item are looked at.
const MAX_PARTS: usize = 64;

/// What two items must share, in thousandths of what both say, to be taken for one.
pub const ENOUGH: u64 = 500;

/// The pairs, as indices of the two sides, in order. `may` forbids a pair whatever it shares.
pub(super) fn align(before: &[&Value], after: &[&Value], may: impl Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
    let parts = |side: &[&Value]| -> Vec<Vec<u64>> { side.iter().map(|item| parts(item)).collect() };
    let (old, new) = (parts(before), parts(after));
    let weight = |row: usize, column: usize| {
        let (Some(a), Some(b), Some(x), Some(y)) = (before.get(row), after.get(column), old.get(row), new.get(column))
        else {
            return 0;
        };
        let shared = shared(a, b, x, y);
        // The third power has one good pair win over two poor ones.
        if shared >= ENOUGH && may(row, column) { shared.pow(3) } else { 0 }
    };
    let mut rows: Vec<Row> = Vec::with_capacity(before.len());
    for row in 0..before.len() {
        let next = Row::new(row, before.len(), after.len(), rows.last(), weight);
        rows.push(next);
    }
    trace(&rows, after.len())
}

/// The best sums of weights that pairs of this and earlier rows reach, for the columns `first..first + sums.len()`.
struct Row {
    first: usize,
    sums: Vec<u64>,
}

impl Row {
    fn new(row: usize, rows: usize, columns: usize, above: Option<&Row>, weight: impl Fn(usize, usize) -> u64) -> Row {
        let width = (MAX_CELLS / rows.max(1)).max(2);
        let middle = row * columns / rows.max(1);
        let first = if width >= columns { 0 } else { middle.saturating_sub(width / 2) };
        let last = (first + width).min(columns);
        let mut sums = Vec::with_capacity(last.saturating_sub(first));
        let mut left = 0;
        for column in first..last {
            let up = above.map_or(0, |above| above.sum(column + 1));
            let paired = match weight(row, column) {
                0 => 0,
                weight => weight + above.map_or(0, |above| above.sum(column)),
            };
            left = left.max(up).max(paired);
            sums.push(left);
        }
        Row { first, sums }
    }

    /// The best sum of the first `columns` columns. What lies before the row's own columns is not known, and counts as
    /// nothing.
    fn sum(&self, columns: usize) -> u64 {
        let Some(index) = columns.checked_sub(self.first + 1) else { return 0 };
        self.sums.get(index).or(self.sums.last()).copied().unwrap_or(0)
    }

    fn end(&self) -> usize {
        self.first + self.sums.len()
    }
}

/// The pairs that reach the best sum.
fn trace(rows: &[Row], columns: usize) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut columns = columns;
    for (index, row) in rows.iter().enumerate().rev() {
        let best = row.sum(columns);
        if best == 0 {
            break;
        }
        let above = index.checked_sub(1).and_then(|above| rows.get(above));
        if above.is_some_and(|above| above.sum(columns) == best) {
            continue;
        }
        columns = columns.min(row.end());
        while columns > 0 && row.sum(columns - 1) == best {
            columns -= 1;
        }
        if above.is_some_and(|above| above.sum(columns) == best) {
            continue;
        }
        columns = columns.saturating_sub(1);
        pairs.push((index, columns));
    }
    pairs.reverse();
    pairs
}

/// What two values share, in thousandths of what both say.
pub fn likeness(before: &Value, after: &Value) -> u64 {
    shared(before, after, &parts(before), &parts(after))
}

/// What two items share, in thousandths, with the parts of both.
fn shared(before: &Value, after: &Value, old: &[u64], new: &[u64]) -> u64 {
    match (before, after) {
        (Value::String(a), Value::String(b)) => text_likeness(a, b),
        (Value::Object(_), Value::Object(_)) | (Value::Array(_), Value::Array(_)) => {
            thousandths(2 * common(old, new), old.len() + new.len())
        }
        _ => 0,
    }
}

/// Two arguments are one where they set the same flag; other texts by how far they begin alike.
fn text_likeness(a: &str, b: &str) -> u64 {
    if a.starts_with('-') || b.starts_with('-') {
        let flag = |text: &str| text.split_once('=').map_or(text.len(), |(flag, _)| flag.len());
        let same = a.get(..flag(a)) == b.get(..flag(b));
        return if same { 1000 } else { 0 };
    }
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    thousandths(2 * same, a.len() + b.len())
}

fn thousandths(share: usize, of: usize) -> u64 {
    u64::try_from(share * 1000 / of.max(1)).unwrap_or(0)
}

/// How many of the sorted parts both have.
fn common(mut old: &[u64], mut new: &[u64]) -> usize {
    let mut count = 0;
    while let ([a, old_rest @ ..], [b, new_rest @ ..]) = (old, new) {
        count += usize::from(a == b);
        if a <= b {
            old = old_rest;
        }
        if b <= a {
            new = new_rest;
        }
    }
    count
}

/// The scalars of an item with the keys that lead to them, as sorted hashes. Where in a list something stands is left
/// out, so that an item put in front changes nothing of the others.
fn parts(item: &Value) -> Vec<u64> {
    let mut found = Vec::new();
    let mut open = vec![(0u64, item)];
    while let Some((above, value)) = open.pop() {
        match value {
            _ if found.len() >= MAX_PARTS => break,
            Value::Object(map) if !map.is_empty() => {
                open.extend(map.iter().take(MAX_PARTS).map(|(key, value)| (hash(&(above, key)), value)));
            }
            Value::Array(items) if !items.is_empty() => {
                open.extend(items.iter().take(MAX_PARTS).map(|value| (hash(&(above, "[]")), value)));
            }
            _ => found.push(hash(&(above, value))),
        }
    }
    found.sort_unstable();
    found
}

fn hash(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn aligned(before: &Value, after: &Value) -> Vec<(usize, usize)> {
        let items = |list: &'_ Value| -> Vec<Value> { list.as_array().unwrap().clone() };
        let (before, after) = (items(before), items(after));
        align(&before.iter().collect::<Vec<_>>(), &after.iter().collect::<Vec<_>>(), |_, _| true)
    }

    #[test]
    fn a_changed_item_is_found_behind_one_that_is_gone_and_before_one_that_is_new() {
        let rule = |resource: &str, verbs: &[&str]| json!({"apiGroups": [""], "resources": [resource], "verbs": verbs});
        let before = json!([rule("pods", &["get"]), rule("nodes", &["get", "list", "watch"])]);
        let after = json!([rule("nodes", &["get", "list", "watch", "update"]), rule("secrets", &["get"])]);
        assert_eq!(aligned(&before, &after), [(1, 0)]);
    }

    #[test]
    fn arguments_are_one_by_their_flag_and_texts_by_their_beginning() {
        let before = json!(["--mtu=1500", "registry/agent:1"]);
        let after = json!(["--new", "--mtu=9000", "registry/agent:2", "other"]);
        assert_eq!(aligned(&before, &after), [(0, 1), (1, 2)]);
        assert_eq!(aligned(&json!(["--verbose"]), &json!(["--version", "--verbosity"])), []);
    }

    #[test]
    fn items_that_share_little_are_not_one() {
        let before = json!([{"a": 1, "b": 2, "c": 3}, {"x": 1}]);
        assert_eq!(aligned(&before, &json!([{"a": 1, "b": 9, "c": 9}])), []);
        assert_eq!(aligned(&before, &json!([])), []);
        assert_eq!(aligned(&json!([]), &before), []);
    }

    #[test]
    fn a_gap_of_any_size_costs_a_bounded_number_of_comparisons() {
        let list = |n: usize, x: &str| -> Vec<Value> { (0..n).map(|i| json!({"id": i, "x": x, "y": 1})).collect() };
        for (old, new) in [(2_000, 2_000), (2_000, 3), (3, 40_000), (40_000, 40_000)] {
            let (before, after) = (list(old, "a"), list(new, "b"));
            let asked = std::cell::Cell::new(0);
            let pairs = align(&before.iter().collect::<Vec<_>>(), &after.iter().collect::<Vec<_>>(), |a, b| {
                asked.set(asked.get() + 1);
                a == b
            });
            assert!(asked.get() <= MAX_CELLS + 2 * old, "{old} {new}: {}", asked.get());
            assert!(pairs.iter().all(|(a, b)| a == b));
            assert_eq!(pairs.len(), if old == new { old } else { pairs.len() });
        }
    }
}
