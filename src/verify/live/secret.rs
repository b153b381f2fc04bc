//! Secrets: what a server makes of `stringData`, and values that no report may show.

use std::ops::Range;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::diag::Source;
use crate::diff::{Difference, Step, What};
use crate::layer::manifest::Entry;
use crate::resource::Identity;
use crate::yaml::load;
use crate::yaml::tree::{Kind, NodeId, Tree};

/// The fields that hold what is secret.
const FIELDS: [&str; 2] = ["data", "stringData"];

/// Where `kubectl apply` keeps the whole object, what is secret among it.
const APPLIED: [&str; 3] = ["metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"];

/// Puts what a server keeps in `data` back to where it was written, and in the spelling in which it was.
pub(super) fn as_written(wanted: &Value, live: &mut Value) {
    let Some(live) = live.as_object_mut() else { return };
    let Some(Value::Object(mut data)) = live.remove("data") else { return };
    let written = |field: &str| wanted.get(field).and_then(Value::as_object);
    for (key, value) in written("data").into_iter().flatten() {
        if data.get(key).and_then(decoded).is_some_and(|kept| decoded(value) == Some(kept)) {
            data.insert(key.clone(), value.clone());
        }
    }
    let mut texts = Map::new();
    for key in written("stringData").into_iter().flat_map(Map::keys) {
        let Some(kept) = data.get(key).and_then(decoded) else { continue };
        texts.insert(key.clone(), String::from_utf8_lossy(&kept).into());
        match written("data").and_then(|data| data.get(key)) {
            Some(value) => data.insert(key.clone(), value.clone()),
            None => data.remove(key),
        };
    }
    if !texts.is_empty() {
        live.insert("stringData".to_owned(), texts.into());
    }
    if !data.is_empty() || wanted.get("data").is_some() {
        live.insert("data".to_owned(), data.into());
    }
}

/// Gives a Secret the values that are wanted in the place of those that a server has; false where it has the same.
pub fn withhold(identity: &Identity, wanted: &Value, live: &mut Value) -> bool {
    let Some(live) = live.as_object_mut().filter(|_| identity.is_secret()) else { return false };
    let mut withheld = false;
    for field in FIELDS {
        if live.get(field) == wanted.get(field) {
            continue;
        }
        withheld = true;
        match wanted.get(field) {
            Some(value) => drop(live.insert(field.to_owned(), value.clone())),
            None => drop(live.remove(field)),
        }
    }
    withheld
}

/// What base64 encodes; line breaks in it count for nothing, as in Go.
fn decoded(value: &Value) -> Option<Vec<u8>> {
    let text: String = value.as_str()?.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    STANDARD.decode(text).ok()
}

/// A difference as a report may show it: of a Secret, without the values.
pub(in crate::verify) fn masked(identity: &Identity, difference: &Difference) -> Difference {
    let mut shown = difference.clone();
    if !identity.is_secret() {
        return shown;
    }
    let key = |step: &&Step| match step {
        Step::Key(key) => key.clone(),
        Step::Item(_) => String::new(),
    };
    let path = shown.within.as_ref().map_or(&shown.path, |within| &within.path);
    let mut place: Vec<String> = path.steps().iter().map(key).collect();
    let mut hidden = |mask: &str, value: &mut Value| hide(&mut place, mask, value);
    match &mut shown.what {
        What::Added(value) | What::Removed(value) => hidden("***", value),
        What::Replaced { before, after } => {
            hidden("*** (before)", before);
            hidden("*** (after)", after);
        }
        What::Moved { .. } => {}
    }
    shown
}

/// A document's value as a report may show it.
pub(in crate::verify) fn hidden(identity: &Identity, value: &Value) -> Value {
    let mut shown = value.clone();
    if identity.is_secret() {
        hide(&mut Vec::new(), "***", &mut shown);
    }
    shown
}

/// Whether what lies at a place of a Secret is secret.
fn is_hidden(place: &[String], value: &Value) -> bool {
    match place {
        [field] => FIELDS.contains(&field.as_str()) && !value.is_object(),
        [field, _, ..] if FIELDS.contains(&field.as_str()) => true,
        _ => place == APPLIED,
    }
}

fn hide(place: &mut Vec<String>, mask: &str, value: &mut Value) {
    if is_hidden(place, value) {
        *value = mask.into();
        return;
    }
    if let Value::Object(map) = value {
        for (key, value) in map {
            place.push(key.clone());
            hide(place, mask, value);
            place.pop();
        }
    }
}

/// A manifest's text as a report may show it: what is secret in it gives way to as many bytes of `x`, so that every
/// place of it stays where it is.
pub(in crate::verify) fn masked_text(file: &Arc<Source>, entries: &[Entry]) -> Arc<Source> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    for entry in entries.iter().filter(|entry| entry.identity.is_secret()) {
        let Some(tree) = &entry.tree else { continue };
        let at = |path: &[&str]| {
            let path: Vec<String> = entry.prefix.iter().cloned().chain(path.iter().map(|&key| key.into())).collect();
            load::find(tree, &path)
        };
        let values = FIELDS.iter().filter_map(|field| at(&[field])).flat_map(|node| values(tree, node));
        let found = values.chain(at(&APPLIED)).map(|node| tree.node(node).span.clone());
        spans.extend(found.map(|span| entry.range.start + span.start..entry.range.start + span.end));
    }
    if spans.is_empty() {
        return Arc::clone(file);
    }
    spans.sort_by_key(|span| span.start);
    let mut text = String::with_capacity(file.text.len());
    let mut end = 0;
    for span in spans.into_iter().filter(|span| span.start < span.end) {
        let start = span.start.max(end);
        text.push_str(file.text.get(end..start).unwrap_or_default());
        text.push_str(&crossed_out(file.text.get(start..span.end.max(start)).unwrap_or_default()));
        end = span.end.max(start);
    }
    text.push_str(file.text.get(end..).unwrap_or_default());
    Source::new(file.name.clone(), text)
}

/// The nodes of a mapping's values, what an alias stands for in its place; a node itself that is no mapping.
fn values(tree: &Tree, node: NodeId) -> Vec<NodeId> {
    let node = tree.resolve(node);
    match &tree.node(node).kind {
        Kind::Mapping { entries, .. } => entries.iter().map(|entry| tree.resolve(entry.value)).collect(),
        _ => vec![node],
    }
}

/// A value with `x` for each byte of it. Quotes, blanks and the head of a block scalar stay, so that it still reads as one.
fn crossed_out(text: &str) -> String {
    let is_block = text.starts_with(['|', '>']);
    let head =
        if is_block { text.find('\n').unwrap_or(text.len()) } else { usize::from(text.starts_with(['"', '\''])) };
    let tail = text.len() - if is_block { 0 } else { head };
    let cross = |(at, c): (usize, char)| match c {
        ' ' | '\t' | '\r' | '\n' => c.to_string(),
        _ if at < head || at >= tail => c.to_string(),
        _ => "x".repeat(c.len_utf8()),
    };
    text.char_indices().map(cross).collect()
}
