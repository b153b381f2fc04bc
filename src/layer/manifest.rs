//! A manifest from anywhere: kept by hand, rendered by another tool, or asked of a cluster with `kubectl get`.
//!
//! It is read as kubectl reads it: a text that begins with `{` is JSON, one value or several one behind the other; all
//! else is a stream of YAML documents. What a List holds can be taken for documents of its own.

use std::rc::Rc;
use std::sync::Arc;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::separators;
use crate::config::{self, Findings};
use crate::diag::{Code, Diagnostic, Place, Source};
use crate::embedded::{self, Language};
use crate::resource::Identity;
use crate::resource::identity::Written;
use crate::yaml::load;
use crate::yaml::stream::{self, MAX_DOCUMENTS};
use crate::yaml::tree::{Bytes, Kind, Tree};

/// One document of a manifest, or an item of a List.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it is called.
    pub identity: Identity,
    /// What it says.
    pub value: Value,
    /// The bytes of the whole document in the manifest.
    pub range: Bytes,
    /// The document's tree; JSON that YAML cannot spell has none.
    pub tree: Option<Rc<Tree>>,
    /// The way from the document's top to this: none, or `items` and an index.
    pub prefix: Vec<String>,
}

/// Whether kubectl takes a text for JSON: one value or several one behind the other, the first of them an object.
pub fn is_json(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('{') && json_values(text).is_some()
}

/// Reads every document that has content. `None` and findings where one cannot be read.
pub fn read(source: &Arc<Source>, findings: &mut Findings) -> Option<Vec<Entry>> {
    let begins = source.text.trim_start_matches('\u{feff}').trim_start();
    if begins.starts_with('{')
        && let Some(ranges) = json_values(&source.text)
    {
        if let Some(beyond) = ranges.get(MAX_DOCUMENTS) {
            findings.add(config::too_many_documents(source, beyond.start..beyond.start));
            return None;
        }
        return ranges.into_iter().map(|range| findings.keep(json(source, range))).collect();
    }
    let pieces = stream::split(&source.text).into_iter().filter(|piece| piece.content);
    let read: Vec<Option<Entry>> = pieces.map(|piece| findings.keep(yaml(source, piece.range))).collect();
    read.into_iter().collect()
}

/// Like [`read`], of a file that someone handed over for a manifest: where no document says of what kind it is, the
/// file is something else, and held against a manifest it would only look like one that lacks everything; so would one
/// without any document, which is what a command that failed hands on. One that kubectl would cut into other documents is
/// refused.
pub fn read_resources(source: &Arc<Source>, findings: &mut Findings) -> Option<Vec<Entry>> {
    if let Some(finding) = separators::check(source, &stream::split(&source.text)) {
        findings.add(finding);
        return None;
    }
    findings.keep(not_empty(source))?;
    let entries = read(source, findings)?;
    let Some(first) = entries.first().filter(|_| entries.iter().all(|entry| entry.identity.kind.is_empty())) else {
        return Some(entries);
    };
    let start = source.text.get(first.range.clone()).and_then(|text| stream::split(text).first()?.marker.clone());
    let at = first.range.start + start.filter(|marker| marker.start == 0).map_or(0, |marker| marker.end);
    let rest = source.text.get(at..).unwrap_or_default();
    let at = at + (rest.len() - rest.trim_start().len());
    let message = format!("{} is no manifest: no document in it has a `kind`", source.name);
    let finding = Diagnostic::new(Code::Syntax, message).at(Place::new(source, at..at), "it begins here");
    findings.add(finding.help("Name a file of Kubernetes resources, or the folder of a base or an overlay."));
    None
}

/// Holds that a text which was handed over has a document at all. A List without items is one: a cluster says with it that
/// it has nothing of what was asked for.
///
/// # Errors
/// A finding, where there is nothing but white space, comments and markers.
pub fn not_empty(source: &Arc<Source>) -> Result<(), Box<Diagnostic>> {
    if stream::split(&source.text).iter().any(|piece| piece.content) {
        return Ok(());
    }
    let message = format!("{} is no manifest: it has no document", source.name);
    let help = if source.is_piped() {
        "Run the command that was to write it by itself: it wrote nothing, and may say why."
    } else {
        "Name a file of Kubernetes resources, or the folder of a base or an overlay."
    };
    Err(Box::new(Diagnostic::new(Code::Syntax, message).help(help)))
}

/// Whether a document is a List, whose items stand for documents (Kubernetes: `v1/List` and the typed lists).
pub fn is_list(identity: &Identity) -> bool {
    identity.kind.ends_with("List") && identity.name.is_empty()
}

/// The documents, and in the place of each List its items.
pub fn flatten(entries: Vec<Entry>) -> Vec<Entry> {
    let mut flat = Vec::with_capacity(entries.len());
    for entry in entries {
        match entry.value.get("items").and_then(Value::as_array) {
            Some(items) if is_list(&entry.identity) => {
                flat.extend(items.iter().enumerate().map(|(index, item)| entry.item(index, item)));
            }
            _ => flat.push(entry),
        }
    }
    flat
}

impl Entry {
    fn item(&self, index: usize, item: &Value) -> Entry {
        let prefix = vec!["items".to_owned(), index.to_string()];
        let written = self.tree.as_ref().and_then(|tree| {
            let node = load::find(tree, &prefix)?;
            Some(Written::of(tree, tree.resolve(node)).identity)
        });
        Entry {
            identity: written.unwrap_or_else(|| Identity::of(item)),
            value: item.clone(),
            range: self.range.clone(),
            tree: self.tree.clone(),
            prefix,
        }
    }

    /// Where the value at a plain path begins in the manifest: its key, or the item. Where the path leads further than
    /// the document does, the last place on the way.
    pub fn place(&self, source: &Arc<Source>, path: &[String]) -> Option<Place> {
        let span = place_in(self.tree.as_deref()?, &[&self.prefix, path].concat())?;
        Some(Place::new(source, self.range.start + span.start..self.range.start + span.end))
    }
}

/// Where a person would point for the value at a plain path: at its key, or at the first line of the item. Where the
/// path leads further than the document does, at the last place on the way.
pub fn place_in(tree: &Tree, path: &[String]) -> Option<Bytes> {
    let mut at = tree.root()?;
    let mut place = tree.node(at).span.start..tree.node(at).span.start;
    for (depth, token) in path.iter().enumerate() {
        let Some(next) = path.get(..=depth).and_then(|path| load::find(tree, path)) else { break };
        place = match &tree.node(tree.resolve(at)).kind {
            Kind::Mapping { entries, .. } => {
                let last = |wanted: &str| {
                    let keys = entries.iter().rev().map(|entry| tree.node(entry.key));
                    keys.clone().find(|key| key.text() == Some(wanted))
                };
                // A key that is not in the mapping itself comes from a merge.
                last(token).or_else(|| last("<<")).map_or(place, |key| key.span.clone())
            }
            _ => first_key(tree, next),
        };
        at = next;
    }
    Some(place)
}

/// The span of a scalar, or of what a collection begins with.
fn first_key(tree: &Tree, node: crate::yaml::tree::NodeId) -> Bytes {
    let node = tree.node(node);
    match &node.kind {
        Kind::Mapping { entries, .. } => {
            entries.first().map_or(node.span.clone(), |entry| tree.node(entry.key).span.clone())
        }
        Kind::Sequence { .. } => node.span.start..node.span.start,
        _ => node.span.clone(),
    }
}

/// Where each of several JSON values stands; `None` where the text is something else.
fn json_values(text: &str) -> Option<Vec<Bytes>> {
    let start = text.len() - text.trim_start_matches('\u{feff}').len();
    let mut values = serde_json::Deserializer::from_str(text.get(start..)?).into_iter::<IgnoredAny>();
    let mut ranges = Vec::new();
    let mut at = start;
    // Nothing is read of a file with one more than the limit.
    while ranges.len() <= MAX_DOCUMENTS
        && let Some(value) = values.next()
    {
        value.ok()?;
        let end = start + values.byte_offset();
        ranges.push(at..end);
        at = end;
    }
    Some(ranges)
}

fn json(source: &Arc<Source>, range: Bytes) -> Result<Entry, Box<Diagnostic>> {
    let text = source.text.get(range.clone()).unwrap_or_default();
    let value = embedded::read(Language::Json, text)
        .map_err(|error| unreadable(source, "JSON", error.message, range.start + error.offset))?;
    let tree = Tree::parse(text).ok().map(Rc::new);
    Ok(Entry { identity: Identity::of(&value), value, range, tree, prefix: Vec::new() })
}

fn yaml(source: &Arc<Source>, range: Bytes) -> Result<Entry, Box<Diagnostic>> {
    let text = source.text.get(range.clone()).unwrap_or_default();
    let tree = Tree::parse(text).map_err(|e| unreadable(source, "YAML", e.message, range.start + e.offset))?;
    let loaded =
        load::load(&tree, text).map_err(|e| unreadable(source, "YAML", e.to_string(), range.start + e.at.start))?;
    let identity = tree.root().map(|root| Written::of(&tree, root).identity).unwrap_or_default();
    Ok(Entry { identity, value: loaded.value, range, tree: Some(Rc::new(tree)), prefix: Vec::new() })
}

fn unreadable(source: &Arc<Source>, language: &str, message: String, at: usize) -> Box<Diagnostic> {
    let finding = Diagnostic::new(Code::Syntax, format!("{} cannot be read as {language}", source.name));
    Box::new(finding.at(Place::new(source, at..at), message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::STANDARD_INPUT;

    fn entries(text: &str) -> Vec<Entry> {
        let mut findings = Findings::new();
        let entries = read(&Source::new("f", text), &mut findings);
        entries.unwrap_or_else(|| panic!("{findings:?}"))
    }

    fn names(entries: &[Entry]) -> Vec<String> {
        entries.iter().map(|entry| entry.identity.to_string()).collect()
    }

    const LIST: &str = r#"{"apiVersion":"v1","kind":"List","items":[{"kind":"A","metadata":{"name":"n"}},{"kind":"B","x":"\ud83d\ude00"}]}"#;

    #[test]
    fn a_stream_of_yaml_and_json_values_in_a_row_are_documents() {
        assert_eq!(names(&entries("# c\n---\nkind: A\nmetadata: {name: n}\n---\nkind: B\n")), ["A/n", "B"]);
        assert_eq!(names(&entries("{\"kind\":\"A\"}\n{\"kind\":\"B\", \"n\": 1.0}\n")), ["A", "B"]);
        assert_eq!(names(&entries("{kind: A}\n")), ["A"], "flow YAML begins like JSON");
    }

    #[test]
    fn the_items_of_a_list_stand_for_documents() {
        let flat = flatten(entries(LIST));
        assert_eq!(names(&flat), ["A/n", "B"]);
        assert_eq!(flat[1].value["x"], "\u{1f600}");
        let yaml = flatten(entries("kind: List\nitems:\n- kind: A\n  metadata:\n    name: n\n"));
        assert_eq!(names(&yaml), ["A/n"]);
        let source = Source::new("f", "kind: List\nitems:\n- kind: A\n  metadata:\n    name: n\n");
        let place = |path: &[&str]| {
            let path: Vec<String> = path.iter().map(|&s| s.to_owned()).collect();
            yaml[0].place(&source, &path).map(|place| source.text[place.span].to_owned())
        };
        assert_eq!(place(&["metadata", "name"]).as_deref(), Some("name"));
        assert_eq!(place(&["metadata", "gone", "x"]).as_deref(), Some("metadata"));
    }

    #[test]
    fn json_values_in_a_row_are_documents_up_to_the_limit() {
        let told = |text: String| {
            let mut findings = Findings::new();
            let read = read(&Source::new("f", text), &mut findings).map(|entries| entries.len());
            (read, findings.into_vec().pop().map(|finding| (finding.message, finding.place.map(|p| p.span))))
        };
        let most = "{}".repeat(MAX_DOCUMENTS);
        assert_eq!(told(most.clone()), (Some(MAX_DOCUMENTS), None));
        let beyond = "f holds more than 100000 documents, the most that are read of one file".to_owned();
        let end = most.len();
        assert_eq!(told(most + "{}"), (None, Some((beyond, Some(end..end)))));
    }

    #[test]
    fn a_file_without_a_document_is_no_manifest_and_a_list_without_items_is_one() {
        let told = |name: &str, text: &str| {
            let mut findings = Findings::new();
            let read = read_resources(&Source::new(name, text), &mut findings);
            let told =
                findings.into_vec().into_iter().map(|finding| format!("{} {}", finding.message, finding.help[0]));
            assert_eq!(read.is_none(), told.len() > 0, "{text:?}");
            told.collect::<Vec<_>>().join("\n")
        };
        for text in ["", "\n", "# c\n", "\u{feff}", "---\n", "---\n# c\n---\n"] {
            let of_file = told("f", text);
            assert!(of_file.starts_with("f is no manifest: it has no document Name a file"), "{text:?}: {of_file}");
            for pipe in [STANDARD_INPUT, "/dev/stdin", "/dev/fd/63"] {
                let of_pipe = told(pipe, text);
                assert!(of_pipe.contains("it has no document Run the command"), "{text:?}: {of_pipe}");
            }
        }
        assert_eq!(told("f", "apiVersion: v1\nitems: []\nkind: List\n"), "");
        assert_eq!(told("f", r#"{"apiVersion": "v1", "items": [], "kind": "List"}"#), "");
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_place() {
        let told = |text: &str| {
            let mut findings = Findings::new();
            assert!(read(&Source::new("f", text), &mut findings).is_none());
            let finding = findings.into_vec().remove(0);
            (finding.message.clone(), finding.place.map(|place| place.line()))
        };
        assert_eq!(told("a: 1\n---\nb: [\n"), ("f cannot be read as YAML".into(), Some(3)));
        assert_eq!(told("{\"a\": 1, \"a\": 2}"), ("f cannot be read as JSON".into(), Some(1)));
    }
}
