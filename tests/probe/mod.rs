//! What can be done to a document, edit by edit, and the proof that an edit does that and no more. The places are found
//! here anew: nothing of the editor's own judgement is asked.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::ops::Range;

use overlay::change::{Action, Change, New, Spelled, TextEdit, apply_edits};
use overlay::yaml::edit::{EditError, Source};
use overlay::yaml::load::load;
use overlay::yaml::tree::{Bytes, Entry, Item, Kind, NodeId, Style, Tree};
use serde_json::{Value, json};

/// A document to edit.
pub(crate) struct Document {
    /// What it is called in messages.
    pub(crate) name: String,
    /// Its text.
    pub(crate) text: String,
    tree: Tree,
    value: Value,
    /// Whether it has an alias, with which an edit may write out more than its own place.
    shares: bool,
    /// Whether it has a block scalar, with which a removal may take blank lines along.
    has_blocks: bool,
    /// It, ready to be edited.
    source: Source<'static>,
    /// Whether the other reader takes it too. Large documents are not asked about.
    is_libyaml: bool,
}

/// One edit to make.
pub(crate) struct Probe {
    /// What is done, in words.
    pub(crate) kind: &'static str,
    /// The operation of RFC 6902.
    pub(crate) op: &'static str,
    /// Its path.
    pub(crate) path: Vec<String>,
    /// Its value, where it has one.
    pub(crate) value: Value,
    /// A document that spells the value, where one does.
    pub(crate) model: Option<String>,
    /// The bytes that the edit may touch.
    place: Range<usize>,
    /// Whether it may only insert.
    inserts: bool,
}

impl Document {
    /// Reads a document that is valid.
    pub(crate) fn read(name: String, text: &str) -> Self {
        let tree = Tree::parse(text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let value = load(&tree, text).unwrap_or_else(|e| panic!("{name}: {e}")).value;
        let shares = tree.nodes().any(|(_, node)| matches!(node.kind, Kind::Alias { .. }));
        let has_blocks = tree.nodes().any(|(_, node)| node.style().is_some_and(Style::is_block));
        let source = Source::read(text.to_owned()).unwrap();
        let is_libyaml = text.len() < 10_000 && read_by_libyaml(text).is_ok();
        Document { name, text: text.to_owned(), tree, value, shares, has_blocks, source, is_libyaml }
    }

    /// Everything that can be done to it, values left open.
    pub(crate) fn probes(&self) -> Vec<Probe> {
        let mut probes = Vec::new();
        if let Some(root) = self.tree.root() {
            self.collect(root, 0..self.text.len(), &mut Vec::new(), &mut |probe| probes.push(probe));
        }
        probes
    }

    /// Everything that can be done at a node and below it. `slot` is where it may be replaced.
    fn collect(&self, id: NodeId, slot: Bytes, path: &mut Vec<String>, emit: &mut impl FnMut(Probe)) {
        match &self.tree.node(id).kind {
            Kind::Scalar { .. } => emit(self.probe("replace a scalar", "replace", path, self.with_comment(&slot))),
            Kind::Sequence { flow, items } => self.collect_items(id, *flow, items, slot, path, emit),
            Kind::Mapping { flow, entries } => self.collect_entries(id, *flow, entries, slot, path, emit),
            Kind::Alias { target } => self.collect(*target, 0..self.text.len(), path, emit),
        }
    }

    fn collect_items(
        &self,
        id: NodeId,
        flow: bool,
        items: &[Item],
        slot: Bytes,
        path: &mut Vec<String>,
        emit: &mut impl FnMut(Probe),
    ) {
        let spans: Vec<Bytes> = items.iter().map(|item| self.item(item)).collect();
        for index in 0..=items.len() {
            path.push(index.to_string());
            let mut probe =
                self.probe("insert an item", "add", path, self.between(id, flow, &spans, index, index, &slot));
            probe.inserts = !items.is_empty();
            emit(probe);
            if let Some(item) = items.get(index) {
                let place = self.between(id, flow, &spans, index, index + 1, &slot);
                emit(self.probe("remove an item", "remove", path, self.with_margin(place)));
                self.collect(item.node, spans[index].start + usize::from(!flow)..spans[index].end, path, emit);
            }
            path.pop();
        }
    }

    fn collect_entries(
        &self,
        id: NodeId,
        flow: bool,
        entries: &[Entry],
        slot: Bytes,
        path: &mut Vec<String>,
        emit: &mut impl FnMut(Probe),
    ) {
        let spans: Vec<Bytes> = entries.iter().map(|entry| self.entry(entry)).collect();
        path.push("overlay.example.org/probe".into());
        let place = self.between(id, flow, &spans, entries.len(), entries.len(), &slot);
        let mut probe = self.probe("add a key", "add", path, place);
        probe.inserts = !entries.is_empty();
        emit(probe);
        path.pop();
        for (index, entry) in entries.iter().enumerate() {
            let key = self.tree.node(entry.key).text().unwrap();
            if key == "<<" {
                continue;
            }
            path.push(key.to_owned());
            let place = self.between(id, flow, &spans, index, index + 1, &slot);
            emit(self.probe("remove a key", "remove", path, self.with_margin(place)));
            self.collect(entry.value, entry.colon.unwrap() + 1..spans[index].end, path, emit);
            path.pop();
        }
    }

    /// The bytes between the children before `from` and those from `to` on. Behind the last child that is up to the
    /// next line; where no child is left, it is where the whole collection may be replaced.
    fn between(&self, id: NodeId, flow: bool, spans: &[Bytes], from: usize, to: usize, slot: &Bytes) -> Bytes {
        let span = &self.tree.node(id).span;
        let line_end = |at: usize| at + self.text[at..].find('\n').map_or(self.text.len() - at, |end| end + 1);
        if from == 0 && to == spans.len() {
            return if flow { self.with_comment(slot) } else { slot.start..line_end(slot.end) };
        }
        let start = match from.checked_sub(1) {
            Some(previous) => spans[previous].end,
            None => slot.start,
        };
        let end = match spans.get(to) {
            Some(next) => next.start,
            None if flow => span.end,
            None => line_end(spans.last().map_or(span.end, |last| last.end)),
        };
        start..end
    }

    /// A place with the comment behind it, which moves where what it comments on gets more lines.
    fn with_comment(&self, slot: &Bytes) -> Bytes {
        let line_end = self.text[slot.end..].find(['\n', '\r']).map_or(self.text.len(), |end| slot.end + end);
        let comment = self.text[slot.end..line_end].trim_start();
        slot.start..if comment.starts_with('#') || comment.is_empty() { line_end } else { slot.end }
    }

    /// The place of a removal. Where a block scalar may be next to it, blank lines and comments behind it may have to go.
    fn with_margin(&self, place: Bytes) -> Bytes {
        let mut end = place.end;
        while self.has_blocks && end < self.text.len() {
            let next = self.text[end..].find('\n').map_or(self.text.len(), |at| end + at + 1);
            if !self.text[end..next].trim().is_empty() && !self.text[end..next].trim().starts_with('#') {
                break;
            }
            end = next;
        }
        place.start..end
    }

    fn item(&self, item: &Item) -> Bytes {
        let full = self.tree.node(item.node).full();
        item.dash.unwrap_or(full.start)..full.end.max(item.dash.map_or(0, |dash| dash + 1))
    }

    fn entry(&self, entry: &Entry) -> Bytes {
        let (key, value) = (self.tree.node(entry.key).full(), self.tree.node(entry.value).full());
        key.start..value.end.max(entry.colon.unwrap() + 1)
    }

    fn probe(&self, kind: &'static str, op: &'static str, path: &[String], place: Bytes) -> Probe {
        let place = place.start..place.end.min(self.text.len());
        Probe { kind, op, path: path.to_vec(), value: Value::Null, model: None, place, inserts: false }
    }

    /// Makes an edit and holds it to its meaning and its place; what is wrong with it. A refusal that is right for a
    /// document that shares places is not wrong.
    pub(crate) fn check(&self, probe: &Probe) -> Option<String> {
        let model = probe.model.as_ref().map(|text| (text, Tree::parse(text).unwrap()));
        let spelled =
            model.as_ref().and_then(|(text, tree)| Some(Spelled { text, tree, node: tree.root()?, taken: None }));
        let new = New { value: &probe.value, spelled, comment: None };
        let action = match probe.op {
            "add" => Action::Add(new),
            "replace" => Action::Replace(new),
            _ => Action::Remove,
        };
        let edits = match self.source.edited(&Change { action, path: &probe.path }) {
            Ok(edited) => edited.map(|edited| edited.edits).unwrap_or_default(),
            Err(EditError::Merged { .. }) if self.shares => return None,
            Err(error) => return Some(self.failure(probe, &format!("refused: {error}"))),
        };
        let after = apply_edits(&self.text, &edits);
        let problem = self
            .other_meaning(probe, &after)
            .or_else(|| self.beyond_its_place(probe, &edits))
            .or_else(|| self.unreadable_by_libyaml(&after));
        problem.map(|problem| self.failure(probe, &format!("{problem}\n{edits:?}")))
    }

    /// Whether the edited text cannot be read, means something else than it must, or lacks a comment that is not within
    /// what goes.
    fn other_meaning(&self, probe: &Probe, after: &str) -> Option<String> {
        let mut expected = self.value.clone();
        let operation = json!([{"op": probe.op, "path": pointer(&probe.path), "value": probe.value}]);
        json_patch::patch(&mut expected, &serde_json::from_value::<json_patch::Patch>(operation).unwrap()).unwrap();
        let tree = match Tree::parse(after) {
            Err(error) => return Some(format!("it is not YAML: {error}")),
            Ok(tree) => tree,
        };
        match load(&tree, after) {
            Err(error) => Some(format!("it cannot be read: {error}")),
            Ok(loaded) if loaded.value != expected => Some(format!("it means {} and not {expected}", loaded.value)),
            Ok(_) => {
                let is_less = probe.op != "remove" && tree.comments().len() < self.tree.comments().len();
                is_less.then(|| "a comment is lost".to_owned())
            }
        }
    }

    fn beyond_its_place(&self, probe: &Probe, edits: &[TextEdit]) -> Option<String> {
        let beyond = |e: &TextEdit| {
            e.range.start < probe.place.start
                || e.range.end > probe.place.end
                || (probe.inserts && !e.range.is_empty())
                || (probe.op == "remove" && !e.text.trim().chars().all(|c| "{}[]".contains(c)))
        };
        let place = || format!("it is beyond {:?} {:?}", probe.place, &self.text[probe.place.clone()]);
        (!self.shares && edits.iter().any(beyond)).then(place)
    }

    /// Whether the other reader (libyaml, which go-yaml is a port of) took the document before and does not any more.
    fn unreadable_by_libyaml(&self, after: &str) -> Option<String> {
        let error = self.is_libyaml.then(|| read_by_libyaml(after).err())??;
        Some(format!("libyaml: {error}"))
    }

    fn failure(&self, probe: &Probe, message: &str) -> String {
        format!("{}: {}: {} {:?} {}: {message}", self.name, probe.kind, probe.op, probe.path, probe.value)
    }
}

fn read_by_libyaml(text: &str) -> Result<serde_yaml::Value, serde_yaml::Error> {
    serde_yaml::from_str(text.trim_start_matches('\u{feff}'))
}

/// A path as a JSON Pointer.
pub(crate) fn pointer(path: &[String]) -> String {
    path.iter().flat_map(|token| ["/".to_owned(), token.replace('~', "~0").replace('/', "~1")]).collect()
}

/// Values that are written in every way.
pub(crate) fn values() -> [Value; 12] {
    [
        json!("probe"),
        json!(7),
        json!("yes"),
        json!("two\nlines\n"),
        json!("it's: \"quoted\" # text"),
        json!({"name": "probe", "list": ["a", {"b": null}], "empty": {}}),
        json!(["x", "y"]),
        json!([{"name": "a", "value": "1"}, {"name": "b"}]),
        json!("kept\n\n\n"),
        json!(true),
        json!({}),
        json!(""),
    ]
}
