//! A server's document as whoever applied it would have written it: where it differs from what is wanted by the server's
//! doing alone, it says what is wanted.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, VecDeque};

use serde_json::Value;

use super::{field, field_name, is_filled, is_nothing, is_servers, secret};
use crate::diff::{Difference, Item, Step, What, diff_values};
use crate::resource::Identity;

/// `live` without what the server made of it. `wanted` is what was applied: the base with the patches.
pub fn settled(identity: &Identity, wanted: &Value, live: &Value) -> Value {
    let mut settled = live.clone();
    if identity.is_secret() {
        secret::as_written(wanted, &mut settled);
    }
    restore_items(identity, wanted, &mut settled);
    restore_fields(identity, wanted, live, &mut settled);
    settled
}

/// Gives the items of lists that have no key their wanted value, where the server only filled them up.
fn restore_items(identity: &Identity, wanted: &Value, settled: &mut Value) {
    let mut lists: BTreeMap<Vec<String>, Changed> = BTreeMap::new();
    for difference in diff_values(wanted, settled, &|_| None) {
        let steps = difference.path.steps();
        let Some((Step::Item(item), list)) = steps.split_last() else { continue };
        if difference.within.is_some() {
            continue;
        }
        let Some(path) = tokens(list, |item| item.after) else { continue };
        let changed = lists.entry(path).or_insert_with(|| Changed {
            fields: steps.iter().map(|step| field(step).to_owned()).collect(),
            ..Changed::default()
        });
        match &difference.what {
            What::Removed(value) => changed.gone.push(value.clone()),
            What::Added(_) => changed.new.extend(item.after),
            What::Replaced { .. } | What::Moved { .. } => {}
        }
    }
    for (path, changed) in lists {
        let Some(Value::Array(items)) = settled.pointer_mut(&pointer(&path)) else { continue };
        changed.restore(&identity.kind, items);
    }
}

/// What came to a list and what went from it.
#[derive(Default)]
struct Changed {
    /// The fields on the way to its items.
    fields: Vec<String>,
    /// The items that are gone.
    gone: Vec<Value>,
    /// Where new ones are.
    new: Vec<usize>,
}

impl Changed {
    /// Puts an item that is gone in the place of the new one that says the same once defaults are left out.
    fn restore(self, kind: &str, items: &mut [Value]) {
        let place: Vec<&str> = self.fields.iter().map(String::as_str).collect();
        let key = |item: &Value| bare(kind, &mut place.clone(), item);
        let mut places: HashMap<Value, VecDeque<usize>> = HashMap::new();
        for index in self.new {
            let Some(item) = items.get(index) else { continue };
            places.entry(key(item)).or_default().push_back(index);
        }
        for item in self.gone {
            let found = places.get_mut(&key(&item)).and_then(VecDeque::pop_front);
            if let Some(slot) = found.and_then(|index| items.get_mut(index)) {
                *slot = item;
            }
        }
    }
}

/// Takes back every difference that the server made.
fn restore_fields(identity: &Identity, wanted: &Value, live: &Value, settled: &mut Value) {
    let differences = diff_values(wanted, settled, &|_| None);
    let (servers, others): (Vec<_>, Vec<_>) = differences
        .iter()
        .filter(|difference| difference.within.is_none())
        .partition(|difference| is_servers(identity, difference, live));
    for difference in others {
        strip_defaults(&identity.kind, difference, settled);
    }
    let items: Vec<_> = servers.into_iter().filter_map(|difference| take_back(difference, settled)).collect();
    remove_items(items, settled);
}

/// Takes what a server fills in out of something that somebody else added.
fn strip_defaults(kind: &str, difference: &Difference, settled: &mut Value) {
    let steps = difference.path.steps();
    let path = tokens(&steps, |item| item.after).filter(|_| matches!(difference.what, What::Added(_)));
    if let Some(value) = path.and_then(|path| settled.pointer_mut(&pointer(&path))) {
        let mut place: Vec<&str> = steps.iter().map(|step| field(step)).collect();
        *value = bare(kind, &mut place, value);
    }
}

/// Takes a difference back. An item that is new stays, and its list and index are given: once it goes, others move.
fn take_back(difference: &Difference, settled: &mut Value) -> Option<(Vec<String>, usize)> {
    let steps = difference.path.steps();
    let (last, above) = steps.split_last()?;
    let path = tokens(&steps, |item| item.after)?;
    let above = tokens(above, |item| item.after)?;
    match (&difference.what, last) {
        (What::Added(_), Step::Item(item)) => return Some((above, item.after?)),
        (What::Added(_), Step::Key(key)) => drop(settled.pointer_mut(&pointer(&above))?.as_object_mut()?.remove(key)),
        (What::Removed(value), Step::Key(key)) => {
            settled.pointer_mut(&pointer(&above))?.as_object_mut()?.insert(key.clone(), value.clone());
        }
        (What::Replaced { before, .. }, _) => *settled.pointer_mut(&pointer(&path))? = before.clone(),
        (What::Removed(_), Step::Item(_)) | (What::Moved { .. }, _) => {}
    }
    None
}

/// Removes items, each by its list and index: those of inner lists first, and from the last to the first, so that no index is
/// led astray.
fn remove_items(mut items: Vec<(Vec<String>, usize)>, settled: &mut Value) {
    items.sort_by_key(|(list, index)| Reverse((list.len(), *index)));
    for (list, index) in items {
        if let Some(Value::Array(items)) = settled.pointer_mut(&pointer(&list))
            && index < items.len()
        {
            items.remove(index);
        }
    }
}

/// A value without what a server fills in, and without what says nothing: by this, two spellings of one item are one.
fn bare<'v>(kind: &str, place: &mut Vec<&'v str>, value: &'v Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut left = serde_json::Map::new();
            for (key, value) in map {
                place.push(field_name(key));
                if !is_filled(kind, place, value) && !is_nothing(kind, place, value) {
                    left.insert(key.clone(), bare(kind, place, value));
                }
                place.pop();
            }
            Value::Object(left)
        }
        Value::Array(items) => {
            place.push("*");
            let left = items.iter().map(|item| bare(kind, place, item)).collect();
            place.pop();
            Value::Array(left)
        }
        _ => value.clone(),
    }
}

/// A way as plain tokens; `None` where it leads to an item that is not on that side.
fn tokens(steps: &[&Step], index: impl Fn(&Item) -> Option<usize>) -> Option<Vec<String>> {
    let token = |step: &&Step| match step {
        Step::Key(key) => Some(key.clone()),
        Step::Item(item) => index(item).map(|index| index.to_string()),
    };
    steps.iter().map(token).collect()
}

/// Plain tokens as a JSON pointer.
fn pointer(tokens: &[String]) -> String {
    let escaped = tokens.iter().flat_map(|token| ["/".to_owned(), token.replace('~', "~0").replace('/', "~1")]);
    escaped.collect()
}
