//! Secrets: what a server makes of `stringData`, and values that no report may show.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::config::Findings;
use crate::diag::{Diagnostic, Source};
use crate::diff::{Difference, Step, What};
use crate::layer::manifest::{self, Entry};
use crate::resource::Identity;
use crate::yaml::load;
use crate::yaml::tree::{self, Kind, NodeId, Tree};

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

/// A difference as a report may show it: of a Secret, or of one in a List, without the values. `sides` are the document
/// before and after.
pub(in crate::verify) fn masked(
    identity: &Identity,
    sides: (Option<&Value>, Option<&Value>),
    difference: &Difference,
) -> Difference {
    let mut shown = difference.clone();
    let item = difference.of_list_item(sides.0, sides.1).map(|(item, _)| item);
    let above = if item.is_some() { 2 } else { 0 };
    if !item.as_ref().unwrap_or(identity).is_secret() {
        each_value(&mut shown, |_, value| hide_items(value));
        return shown;
    }
    let key = |step: &&Step| match step {
        Step::Key(key) => key.clone(),
        Step::Item(_) => String::new(),
    };
    let path = shown.within.as_ref().map_or(&shown.path, |within| &within.path);
    let mut place: Vec<String> = path.steps().iter().skip(above).map(key).collect();
    each_value(&mut shown, |mask, value| hide(&mut place, mask, value));
    shown
}

/// Calls with each value of a difference and with what stands for it where it is hidden.
fn each_value(difference: &mut Difference, mut call: impl FnMut(&str, &mut Value)) {
    match &mut difference.what {
        What::Added(value) | What::Removed(value) => call("***", value),
        What::Replaced { before, after } => {
            call("*** (before)", before);
            call("*** (after)", after);
        }
        What::Moved { .. } => {}
    }
}

/// Hides what the Secrets hold that are items of a List, or of its `items`.
fn hide_items(value: &mut Value) {
    let items = match value {
        Value::Object(list) => list.get_mut("items").and_then(Value::as_array_mut),
        Value::Array(items) => Some(items),
        _ => None,
    };
    for item in items.into_iter().flatten().filter(|item| Identity::of(item).is_secret()) {
        hide(&mut Vec::new(), "***", item);
    }
}

/// A document's value as a report may show it.
pub(in crate::verify) fn hidden(identity: &Identity, value: &Value) -> Value {
    let mut shown = value.clone();
    if identity.is_secret() {
        hide(&mut Vec::new(), "***", &mut shown);
    } else {
        hide_items(&mut shown);
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
    let mut spans: Vec<Range<usize>> = manifest::flatten(entries.to_vec()).iter().flat_map(secret_spans).collect();
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

/// A file as an excerpt of it may be shown: without what is secret in its Secrets and in what patches give to Secrets,
/// every byte in its place. One that cannot be read and speaks of Secrets is crossed out as a whole.
pub(in crate::verify) fn masked_file(file: &Arc<Source>) -> Arc<Source> {
    match manifest::read(file, &mut Findings::new()) {
        Some(entries) => masked_text(file, &entries),
        None if file.text.contains("Secret") => Source::new(file.name.clone(), crossed_out(&file.text)),
        None => Arc::clone(file),
    }
}

/// Findings whose excerpts may be shown.
pub(in crate::verify) fn masked_findings(mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut files: HashMap<*const Source, Arc<Source>> = HashMap::new();
    let places = findings
        .iter_mut()
        .flat_map(|finding| finding.place.iter_mut().chain(finding.related.iter_mut().map(|(place, _)| place)));
    for place in places {
        let masked = files.entry(Arc::as_ptr(&place.source)).or_insert_with(|| masked_file(&place.source));
        place.source = Arc::clone(masked);
    }
    findings
}

/// The bytes of a manifest that hold what is secret of an entry, which is no List; all of an entry that has no places.
fn secret_spans(entry: &Entry) -> Vec<Range<usize>> {
    let is_patch = entry.identity.kind == "Patch" && entry.value.get("changes").is_some();
    if !entry.identity.is_secret() && !is_patch {
        return Vec::new();
    }
    let Some(tree) = &entry.tree else { return vec![entry.range.clone()] };
    let at = |path: &[&str]| {
        let path: Vec<String> = entry.prefix.iter().cloned().chain(path.iter().map(|&key| key.into())).collect();
        load::find(tree, &path)
    };
    let nodes: Vec<NodeId> = if is_patch {
        at(&["changes"]).into_iter().flat_map(|changes| given(tree, changes)).collect()
    } else {
        let values = FIELDS.iter().filter_map(|field| at(&[field])).flat_map(|node| values(tree, node));
        values.chain(at(&APPLIED).map(|node| tree.resolve(node))).collect()
    };
    let spans = nodes.into_iter().map(|node| tree.node(node).span.clone());
    spans.map(|span| entry.range.start + span.start..entry.range.start + span.end).collect()
}

/// What the operations of a patch's changes give to Secrets or expect of them. A target without a kind may be a Secret.
fn given(tree: &Tree, changes: NodeId) -> Vec<NodeId> {
    let field = |node: NodeId, key: &str| entries(tree, node).find(|entry| is_key(tree, entry.key, key));
    let mut nodes = Vec::new();
    for change in items(tree, changes) {
        let kind = field(change, "target").and_then(|target| field(target.value, "kind"));
        let kind = kind.and_then(|kind| tree.node(tree.resolve(kind.value)).text());
        let Some(patch) = field(change, "patch").filter(|_| kind.is_none_or(|kind| kind == "Secret")) else { continue };
        let operations = items(tree, patch.value).into_iter();
        let given = operations.flat_map(|operation| entries(tree, operation));
        let given = given.filter(|entry| !["op", "path", "from"].iter().any(|key| is_key(tree, entry.key, key)));
        nodes.extend(given.map(|entry| tree.resolve(entry.value)));
    }
    nodes
}

fn is_key(tree: &Tree, key: NodeId, wanted: &str) -> bool {
    tree.node(tree.resolve(key)).text() == Some(wanted)
}

fn entries(tree: &Tree, node: NodeId) -> impl Iterator<Item = &tree::Entry> {
    let entries = match &tree.node(tree.resolve(node)).kind {
        Kind::Mapping { entries, .. } => entries.as_slice(),
        _ => &[],
    };
    entries.iter()
}

fn items(tree: &Tree, node: NodeId) -> Vec<NodeId> {
    match &tree.node(tree.resolve(node)).kind {
        Kind::Sequence { items, .. } => items.iter().map(|item| item.node).collect(),
        _ => Vec::new(),
    }
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
