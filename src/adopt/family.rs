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
    let is_item = placed.operation.item == Some(placed.operation.path.segments().len());
    let name = value.get("name").and_then(Value::as_str)?;
    (placed.level == Level::Families && is_item).then(|| format!("named {} {name}", placed.document))
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
    path.segments().iter().rev().find_map(|segment| match segment {
        Segment::Key(key) if key != "-" && key.parse::<usize>().is_err() => Some(key.clone()),
        _ => None,
    })
}

/// Fields whose names say nothing alone.
const BARE: &[&str] =
    &["path", "value", "name", "type", "key", "enabled", "data", "spec", "metadata", "items", "annotations", "labels"];

/// The longest name, in characters.
const MAX_NAME: usize = 48;

/// Names that are not taken yet.
#[derive(Debug, Default)]
pub(super) struct Names(pub(super) HashSet<String>);

impl Names {
    /// A name for a departure, from the place of its first operation.
    pub(super) fn of_operation(&mut self, operation: &Operation) -> String {
        let wanted = parts(operation).into_iter().map(|part| slug(&part)).filter(|part| !part.is_empty());
        self.unique(&wanted.collect::<Vec<_>>().join("-"))
    }

    /// The name, or one with a number where it is taken.
    pub(super) fn unique(&mut self, wanted: &str) -> String {
        let wanted: String = wanted.chars().take(MAX_NAME).collect();
        let wanted = wanted.trim_matches('-');
        let wanted = if wanted.is_empty() { "change" } else { wanted };
        let numbered = (2_usize..).map(|number| format!("{wanted}-{number}"));
        let name = std::iter::once(wanted.to_owned()).chain(numbered).find(|name| !self.0.contains(name));
        let name = name.unwrap_or_default();
        self.0.insert(name.clone());
        name
    }
}

/// What names a place: its field, the item that it lies in, and what is new there.
fn parts(operation: &Operation) -> Vec<String> {
    if let Act::Add(value) = &operation.act {
        if let Some(name) = value.get("name").and_then(Value::as_str) {
            return vec![name.to_owned()];
        }
        if let Value::Object(map) = value
            && let (1, Some(key)) = (map.len(), map.keys().next())
            && last_key(&operation.path).is_some_and(|key| BARE.contains(&key.as_str()))
        {
            return vec![end_of(key)];
        }
    }
    let mut found: Vec<String> = Vec::new();
    for segment in operation.path.segments().iter().rev() {
        match segment {
            Segment::Key(key) if key == "-" || key.parse::<usize>().is_ok() => {}
            Segment::Key(key) => {
                let enough = found.iter().any(|part| !BARE.contains(&part.as_str()));
                if !enough {
                    found.push(end_of(key));
                }
            }
            Segment::Select(conditions) => {
                found.extend(conditions.first().map(|condition| condition.value.clone()));
                break;
            }
            Segment::Item(_) | Segment::Each => {}
        }
    }
    found.truncate(3);
    found.reverse();
    found
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
        families.iter().map(|f| (names.of_operation(&placed[f[0]].operation), f.len())).collect()
    }

    #[test]
    fn the_same_change_in_two_places_is_one_departure() {
        let pod = |image: &str| json!({"spec": {"containers": [{"name": "a", "image": image}], "initContainers": [{"name": "b", "image": image}]}});
        assert_eq!(named(&pod("registry.example/x:1"), &pod("registry.example/x:2")), [("a-image".to_owned(), 2)]);
    }

    #[test]
    fn a_volume_and_its_mount_are_one_departure() {
        let before = json!({"volumes": [{"name": "z"}], "volumeMounts": [{"name": "z", "mountPath": "/z"}]});
        let after = json!({"volumes": [{"name": "z"}, {"name": "data", "emptyDir": {}}],
            "volumeMounts": [{"name": "z", "mountPath": "/z"}, {"name": "data", "mountPath": "/d"}]});
        assert_eq!(named(&before, &after), [("data".to_owned(), 2)]);
    }

    #[test]
    fn places_below_one_item_are_one_departure_and_others_have_their_own_names() {
        let before =
            json!({"metadata": {"name": "n"}, "volumes": [{"name": "cni", "hostPath": {"path": "/a", "type": "x"}}]});
        let after = json!({"metadata": {"name": "n", "annotations": {"example.org/wave": "0"}},
            "volumes": [{"name": "cni", "hostPath": {"path": "/b", "type": "y"}}], "nodeSelector": {"a": "b", "c": "d"}});
        assert_eq!(
            named(&before, &after),
            [("wave".to_owned(), 1), ("cni-host-path-path".to_owned(), 2), ("node-selector".to_owned(), 1)]
        );
    }
}
