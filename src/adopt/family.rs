//! Which operations are one departure, and what such a departure is called.
//!
//! One departure is: the same old and new value in several places; what is new under one name in several lists (a volume
//! and its mount); several places below one list item.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::operations::{Act, Level, Operation};
use crate::patch::path::{Path, Segment};

/// An operation and the document that it is on.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) document: usize,
    pub(super) level: Level,
    pub(super) operation: Operation,
}

/// The operations of each departure, by their indices; both in order.
pub(super) fn families(operations: &[Placed]) -> Vec<Vec<usize>> {
    let kinships: [fn(&Placed) -> Option<String>; 4] = [in_order, same_values, same_new_name, same_item];
    let mut of: Vec<Option<String>> = vec![None; operations.len()];
    for kinship in kinships {
        let keys: Vec<Option<String>> =
            operations.iter().zip(&of).map(|(o, known)| known.is_none().then(|| kinship(o)).flatten()).collect();
        let mut counts: HashMap<&String, usize> = HashMap::new();
        keys.iter().flatten().for_each(|key| *counts.entry(key).or_default() += 1);
        let shared: Vec<bool> =
            keys.iter().map(|key| key.as_ref().is_some_and(|key| counts.get(key).is_some_and(|n| *n > 1))).collect();
        for ((known, key), shared) in of.iter_mut().zip(keys).zip(shared) {
            if shared {
                *known = key;
            }
        }
    }
    let mut families: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<&String, usize> = HashMap::new();
    for (index, key) in of.iter().enumerate() {
        let family = key.as_ref().map_or(families.len(), |key| *known.entry(key).or_insert(families.len()));
        match families.get_mut(family) {
            Some(family) => family.push(index),
            None => families.push(vec![index]),
        }
    }
    families
}

/// Operations that need their order stay together: they are on one list.
fn in_order(placed: &Placed) -> Option<String> {
    let Placed { document, operation, .. } = placed;
    let list = operation.item.map_or(0, |item| item.saturating_sub(1));
    (!operation.stable).then(|| format!("list {document} {:?} {}", within(operation), operation.path.first(list)))
}

fn same_values(placed: &Placed) -> Option<String> {
    if placed.level != Level::Families {
        return None;
    }
    let key = last_key(&placed.operation.path).unwrap_or_default();
    // Short values are alike by chance: then the field must be the same too.
    let field =
        |value: &Value| if value.is_string() && value.to_string().len() > 8 { String::new() } else { key.clone() };
    match &placed.operation.act {
        Act::Replace { was, value } => Some(format!("values {} {was} {value}", field(value))),
        Act::Add(value) => Some(format!("new {key} {value}")),
        Act::Remove { was } => Some(format!("gone {key} {was}")),
        Act::Move { .. } => None,
    }
}

fn same_new_name(placed: &Placed) -> Option<String> {
    let Act::Add(value) = &placed.operation.act else { return None };
    let name = value.get("name").and_then(Value::as_str)?;
    (placed.level == Level::Families && is_item(&placed.operation)).then(|| format!("named {} {name}", placed.document))
}

fn same_item(placed: &Placed) -> Option<String> {
    let Placed { document, level, operation } = placed;
    let item = operation.item.filter(|_| *level == Level::Families)?;
    // What comes into a list or goes out of it is no part of an item that is there.
    let inside = item < operation.path.segments().len();
    inside.then(|| format!("item {document} {:?} {}", within(operation), operation.path.first(item)))
}

fn within(operation: &Operation) -> Option<String> {
    operation.within.as_ref().map(|(path, _)| path.to_string())
}

fn last_key(path: &Path) -> Option<String> {
    path.segments().iter().rev().find_map(field).cloned()
}

/// Fields whose names say nothing alone.
const BARE: &[&str] =
    &["path", "value", "name", "type", "key", "enabled", "data", "spec", "metadata", "items", "annotations", "labels"];

/// The longest name, in characters.
const MAX_NAME: usize = 48;

/// Names that are not taken yet.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
    /// The number that comes next, by the name that it goes behind.
    next: HashMap<String, usize>,
}

impl Names {
    /// Names but for those.
    pub(super) fn without(taken: HashSet<String>) -> Names {
        Names { taken, next: HashMap::new() }
    }

    /// A name for a departure, from the places of its operations.
    pub(super) fn of_family(&mut self, operations: &[&Operation]) -> String {
        let wanted = parts(operations).into_iter().map(|part| slug(&part)).filter(|part| !part.is_empty());
        self.unique(&wanted.collect::<Vec<_>>().join("-"))
    }

    /// The name, or one with a number where it is taken.
    pub(super) fn unique(&mut self, wanted: &str) -> String {
        let wanted: String = wanted.chars().take(MAX_NAME).collect();
        let wanted = wanted.trim_matches('-');
        let wanted = if wanted.is_empty() { "change" } else { wanted };
        let mut name = wanted.to_owned();
        while !self.taken.insert(name.clone()) {
            let number = self.next.entry(wanted.to_owned()).or_insert(2);
            name = format!("{wanted}-{number}");
            *number += 1;
        }
        name
    }
}

/// What names a departure: what is new there, or the field, with the item that it lies in where all lie in one.
fn parts(operations: &[&Operation]) -> Vec<String> {
    let Some(first) = operations.first() else { return Vec::new() };
    if let Act::Add(value) = &first.act
        && let Some(name) = new_name(value, &first.path)
    {
        return vec![name];
    }
    if let (Act::Remove { was }, true) = (&first.act, is_item(first))
        && let Some(name) = was.get("name").and_then(Value::as_str)
    {
        return vec!["without".to_owned(), name.to_owned()];
    }
    let keys: Vec<&String> = first.path.segments().iter().rev().filter_map(field).collect();
    let telling = keys.iter().find(|key| !BARE.contains(&key.as_str())).or(keys.first());
    let item = selected(&first.path).filter(|item| operations.iter().all(|o| selected(&o.path) == Some(item)));
    item.into_iter().map(str::to_owned).chain(telling.map(|key| end_of(key))).collect()
}

/// What a new value is called by itself: its name, or its one key where the field that it lies in says nothing.
fn new_name(value: &Value, path: &Path) -> Option<String> {
    let named = value.get("name").and_then(Value::as_str).map(str::to_owned);
    let is_bare = || last_key(path).is_some_and(|key| BARE.contains(&key.as_str()));
    let only_key = || match value {
        Value::Object(map) if map.len() == 1 && is_bare() => map.keys().next().map(|key| end_of(key)),
        _ => None,
    };
    named.or_else(only_key)
}

/// Whether an operation is about an item of a list, and not about something in it.
fn is_item(operation: &Operation) -> bool {
    operation.item == Some(operation.path.segments().len())
}

/// A segment that is a field of a mapping.
fn field(segment: &Segment) -> Option<&String> {
    match segment {
        Segment::Key(key) if key != "-" && key.parse::<usize>().is_err() => Some(key),
        _ => None,
    }
}

/// What selects the innermost item with a name on a path.
fn selected(path: &Path) -> Option<&str> {
    path.segments().iter().rev().find_map(|segment| match segment {
        Segment::Select(conditions) => conditions.first().map(|condition| condition.value.as_str()),
        _ => None,
    })
}

/// The part of a key behind its domain: `sync-wave` of `example.org/sync-wave`.
fn end_of(key: &str) -> String {
    key.rsplit('/').next().unwrap_or(key).to_owned()
}

/// A text as a file's name: lower case, digits and dashes.
pub(super) fn slug(text: &str) -> String {
    let mut out = String::new();
    let mut previous = ' ';
    for c in text.chars() {
        if c.is_ascii_uppercase() && previous.is_ascii_lowercase() {
            out.push('-');
        }
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.ends_with('-') {
            out.push('-');
        }
        previous = c;
    }
    out.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::operations::operations;
    use super::*;

    /// The names of the departures between two documents, and how many operations each has.
    fn named(before: &Value, after: &Value) -> Vec<(String, usize)> {
        let operations = operations(before, after, Level::Families).unwrap().into_iter();
        let placed: Vec<Placed> =
            operations.map(|operation| Placed { document: 0, level: Level::Families, operation }).collect();
        let mut names = Names::default();
        let families = families(&placed);
        let family = |f: &Vec<usize>| f.iter().map(|&index| &placed[index].operation).collect::<Vec<_>>();
        families.iter().map(|f| (names.of_family(&family(f)), f.len())).collect()
    }

    #[test]
    fn the_same_change_in_two_places_is_one_departure() {
        let pod = |image: &str| json!({"spec": {"containers": [{"name": "a", "image": image}], "initContainers": [{"name": "b", "image": image}]}});
        assert_eq!(named(&pod("registry.example/x:1"), &pod("registry.example/x:2")), [("image".to_owned(), 2)]);
    }

    #[test]
    fn a_volume_and_its_mount_are_one_departure() {
        let before = json!({"volumes": [{"name": "z"}], "volumeMounts": [{"name": "z", "mountPath": "/z"}]});
        let after = json!({"volumes": [{"name": "z"}, {"name": "data", "emptyDir": {}}],
            "volumeMounts": [{"name": "z", "mountPath": "/z"}, {"name": "data", "mountPath": "/d"}]});
        assert_eq!(named(&before, &after), [("data".to_owned(), 2)]);
    }

    #[test]
    fn an_item_that_goes_is_what_the_result_is_without() {
        let mounts = |names: &[&str]| json!({"volumeMounts": names.iter().map(|n| json!({"name": n, "mountPath": format!("/{n}")})).collect::<Vec<_>>()});
        assert_eq!(named(&mounts(&["a", "b"]), &mounts(&["a"])), [("without-b".to_owned(), 1)]);
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        let mut names = Names::without(HashSet::from(["a".to_owned(), "a-3".to_owned()]));
        let given = ["a", "a", "a-2", "", "b"].map(|wanted| names.unique(wanted));
        assert_eq!(given, ["a-2", "a-4", "a-2-2", "change", "b"]);
    }

    #[test]
    fn places_below_one_item_are_one_departure_and_others_have_their_own_names() {
        let before =
            json!({"metadata": {"name": "n"}, "volumes": [{"name": "cni", "hostPath": {"path": "/a", "type": "x"}}]});
        let after = json!({"metadata": {"name": "n", "annotations": {"example.org/wave": "0"}},
            "volumes": [{"name": "cni", "hostPath": {"path": "/b", "type": "y"}}], "nodeSelector": {"a": "b", "c": "d"}});
        assert_eq!(
            named(&before, &after),
            [("wave".to_owned(), 1), ("cni-host-path".to_owned(), 2), ("node-selector".to_owned(), 1)]
        );
    }
}
