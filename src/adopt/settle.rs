//! A copy without the differences that are no departures: what is left is what an overlay has to make.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::Value;

use super::operations::Act;
use super::operations::{ListEdit, after, at, at_mut, list_of, put};
use crate::diff::{Difference, Step, What, diff_values};

/// `value`, where the differences from `before` that are no departures were never made. A list item that is gone is
/// not brought back.
pub(super) fn settled(before: &Value, value: &Value, departs: impl Fn(&Difference) -> bool) -> Value {
    let mut settled = value.clone();
    let differences = diff_values(before, value, &|_| None);
    let mut undone: Vec<(Vec<String>, &What)> = differences
        .iter()
        .filter(|difference| difference.within.is_none() && !is_gone_item(difference) && !departs(difference))
        .map(|difference| (after(&difference.path.steps()), &difference.what))
        .collect();
    // New items go last, the innermost before the outer ones and the last of a list before the first: so none of them
    // leads another path astray.
    undone.sort_by_cached_key(|(path, what)| Reverse((path.len(), index_in(&settled, path, what))));
    let (items, values): (Vec<_>, Vec<_>) =
        undone.into_iter().partition(|(path, what)| index_in(&settled, path, what).is_some());
    for (path, what) in values.into_iter().chain(items) {
        match what {
            What::Added(_) => put(&mut settled, &path, &Act::Remove { was: Value::Null }),
            What::Removed(old) => put(&mut settled, &path, &Act::Add(old.clone())),
            What::Replaced { before, .. } => {
                put(&mut settled, &path, &Act::Replace { was: Value::Null, value: before.clone() });
            }
            What::Moved { .. } => {}
        }
    }
    in_order(before, &mut settled, departs);
    settled
}

/// The index of what is new in a list; `None` for all else.
fn index_in(value: &Value, path: &[String], what: &What) -> Option<usize> {
    let (last, above) = path.split_last()?;
    let is_item = matches!(what, What::Added(_)) && at(value, above).is_some_and(Value::is_array);
    last.parse().ok().filter(|_| is_item)
}

/// Whether an item of a list is gone, so that no path leads to where it was.
fn is_gone_item(difference: &Difference) -> bool {
    matches!((difference.path.last(), &difference.what), (Some(Step::Item(_)), What::Removed(_)))
}

/// Puts the items of lists whose order is no departure in the order that they have in `before`. What is new stays where it is.
fn in_order(before: &Value, settled: &mut Value, departs: impl Fn(&Difference) -> bool) {
    let mut lists: BTreeMap<Vec<String>, (ListEdit, bool)> = BTreeMap::new();
    let differences = diff_values(before, settled, &|_| None);
    for difference in differences.iter().filter(|difference| difference.within.is_none()) {
        let Some((old, new)) = list_of(difference) else { continue };
        let length = at(before, &old).and_then(Value::as_array).map_or(0, Vec::len);
        let (edit, moves) = lists.entry(new).or_insert_with_key(|new| (ListEdit::of(new.clone(), length), false));
        edit.note(difference);
        *moves |= matches!(difference.what, What::Moved { .. }) && !departs(difference);
    }
    let mut lists: Vec<_> = lists.into_iter().filter(|(_, (_, moves))| *moves).collect();
    lists.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
    for (path, (edit, _)) in lists {
        if let Some(Value::Array(items)) = at_mut(settled, &path) {
            edit.restore(items);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_departures_are_left_of_a_copy() {
        let before =
            json!({"a": 1, "b": 2, "volumes": [{"name": "p"}, {"name": "q"}, {"name": "r"}], "args": ["x", "y"]});
        let copy = json!({"b": 3, "c": {"x": 1}, "args": ["y", "x"],
            "volumes": [{"name": "r"}, {"name": "new"}, {"name": "p", "z": 1}]});
        let all = settled(&before, &copy, |_| true);
        assert_eq!(all, copy);
        let ordered = settled(&before, &copy, |difference| !difference.is_order_alone());
        assert_eq!(
            ordered,
            json!({"b": 3, "c": {"x": 1}, "args": ["y", "x"],
                "volumes": [{"name": "p", "z": 1}, {"name": "new"}, {"name": "r"}]})
        );
        let none = settled(&before, &copy, |_| false);
        assert_eq!(
            none,
            json!({"a": 1, "b": 2, "args": ["x", "y"], "volumes": [{"name": "p"}, {"name": "r"}]}),
            "an item that is gone stays gone"
        );
    }
}
