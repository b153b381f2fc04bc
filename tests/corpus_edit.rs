//! Edits of real manifests: for scalars a replacement, for mappings an added key and each key removed, for lists an item
//! inserted at each place and each removed, in every file of a corpus and in its variants with CRLF, with a byte order
//! mark, and without a final newline.
//!
//! Each edit is held to two things. Its meaning is what `json-patch` makes of the document's value. Its bytes lie within
//! the place: what is between the neighbours of what is changed, and nothing beyond.
//!
//! The corpus is not part of this repository: `OVERLAY_SHARED` names the folder that holds it, as `corpus/*.yaml`.
//! Without it the test says that it is skipped. Large documents are sampled, always alike; `OVERLAY_CORPUS_FULL=1`
//! makes every edit.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test reads its corpus, and fails"
)]

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use overlay::change::{Action, Change, New, TextEdit, apply_edits};
use overlay::yaml::edit::edit;
use overlay::yaml::load::{find, load, load_text};
use overlay::yaml::stream::split;
use overlay::yaml::tree::{Bytes, Entry, Item, Kind, NodeId, Tree};
use serde_json::{Value, json};

/// How many bytes of documents are edited, for each document and kind of edit, when not everything is.
const SAMPLE: usize = 4_000;
/// How many edits of a kind are made in a document at least and at most, when not all are.
const EDITS: Range<usize> = 1..8;

#[test]
fn every_edit_of_the_corpus_means_what_it_must_and_stays_in_its_place() {
    let Some(files) = corpus() else { return };
    assert!(!files.is_empty(), "the corpus is empty");
    let full = std::env::var_os("OVERLAY_CORPUS_FULL").is_some();
    let (mut failures, mut counts) = (Vec::new(), BTreeMap::new());
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        for (variant, text) in variants(&text) {
            let name = format!("{} ({variant})", file.file_name().unwrap().to_string_lossy());
            let mut dice = Dice::new(&name);
            for (number, piece) in split(&text).iter().enumerate() {
                let document = Document::read(format!("{name} document {number}"), piece.text(&text));
                for probe in document.probes(&mut dice, full) {
                    *counts.entry(probe.kind).or_insert(0) += 1;
                    failures.extend(document.check(&probe));
                }
            }
        }
    }
    println!("edits made: {counts:?}");
    assert!(counts.values().all(|count| *count > 0) && counts.len() == 5, "{counts:?}");
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures[..failures.len().min(20)].join("\n\n"));
}

fn corpus() -> Option<Vec<PathBuf>> {
    let Some(shared) = std::env::var_os("OVERLAY_SHARED") else {
        println!("skipped: OVERLAY_SHARED does not name a corpus");
        return None;
    };
    let folder = Path::new(&shared).join("corpus");
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("OVERLAY_SHARED: {}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml"))
        .collect();
    files.sort();
    Some(files)
}

fn variants(text: &str) -> [(&'static str, String); 4] {
    [
        ("as it is", text.to_owned()),
        ("CRLF", text.replace('\n', "\r\n")),
        ("BOM", format!("\u{feff}{text}")),
        ("no final newline", text.trim_end_matches('\n').to_owned()),
    ]
}

/// Numbers that are the same in every run (xorshift).
struct Dice(u64);

impl Dice {
    fn new(seed: &str) -> Self {
        Dice(seed.bytes().fold(0x9E37_79B9_7F4A_7C15, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3)) | 1)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    /// So many of the items, in their order.
    fn some<T>(&mut self, mut items: Vec<T>, count: usize) -> Vec<T> {
        while items.len() > count {
            // Halves at least, so that long lists are not shifted again and again.
            let keep = (items.len() / 2).max(count);
            let from = self.below(items.len());
            items.rotate_left(from);
            items.truncate(keep);
        }
        items
    }
}

/// One document of a file.
struct Document {
    name: String,
    text: String,
    tree: Tree,
    value: Value,
}

/// One edit to make.
struct Probe {
    kind: &'static str,
    op: &'static str,
    path: Vec<String>,
    value: Value,
    /// The bytes that the edit may touch.
    place: Range<usize>,
    /// Whether it may only insert.
    inserts: bool,
}

impl Document {
    fn read(name: String, text: &str) -> Self {
        let tree = Tree::parse(text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let value = load(&tree, text).unwrap_or_else(|e| panic!("{name}: {e}")).value;
        Document { name, text: text.to_owned(), tree, value }
    }

    fn probes(&self, dice: &mut Dice, full: bool) -> Vec<Probe> {
        let mut by_kind: BTreeMap<&'static str, Vec<Probe>> = BTreeMap::new();
        let mut path = Vec::new();
        if let Some(root) = self.tree.root() {
            self.collect(root, 0..self.text.len(), &mut path, &mut |probe| {
                by_kind.entry(probe.kind).or_default().push(probe);
            });
        }
        let count = if full { usize::MAX } else { (SAMPLE / self.text.len().max(1)).clamp(EDITS.start, EDITS.end) };
        let sample = by_kind.into_values().flat_map(|probes| dice.some(probes, count)).collect::<Vec<_>>();
        sample.into_iter().map(|probe| probe.with_some_value(dice)).collect()
    }

    /// Everything that can be done at a node and below it. `slot` is where it may be replaced.
    fn collect(&self, id: NodeId, slot: Bytes, path: &mut Vec<String>, emit: &mut impl FnMut(Probe)) {
        match &self.tree.node(id).kind {
            Kind::Scalar { .. } => emit(self.probe("replace a scalar", "replace", path, slot)),
            Kind::Sequence { flow, items } => self.collect_items(id, *flow, items, slot, path, emit),
            Kind::Mapping { flow, entries } => self.collect_entries(id, *flow, entries, slot, path, emit),
            Kind::Alias { .. } => {}
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
                emit(self.probe("remove an item", "remove", path, place));
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
            path.push(self.tree.node(entry.key).text().unwrap().to_owned());
            let place = self.between(id, flow, &spans, index, index + 1, &slot);
            emit(self.probe("remove a key", "remove", path, place));
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
            return slot.start..if flow { slot.end } else { line_end(slot.end) };
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
        Probe { kind, op, path: path.to_vec(), value: Value::Null, place, inserts: false }
    }

    fn check(&self, probe: &Probe) -> Option<String> {
        let new = New { value: &probe.value, spelled: None, comment: None };
        let action = match probe.op {
            "add" => Action::Add(new),
            "replace" => Action::Replace(new),
            _ => Action::Remove,
        };
        let edits = match edit(&self.text, &Change { action, path: &probe.path }) {
            Ok(edits) => edits,
            Err(error) => return Some(self.failure(probe, &format!("refused: {error}"))),
        };
        let mut expected = self.value.clone();
        let escaped = |token: &String| token.replace('~', "~0").replace('/', "~1");
        let pointer: String = probe.path.iter().flat_map(|token| ["/".to_owned(), escaped(token)]).collect();
        let operation = json!([{"op": probe.op, "path": pointer, "value": probe.value}]);
        json_patch::patch(&mut expected, &serde_json::from_value::<json_patch::Patch>(operation).unwrap()).unwrap();
        let after = apply_edits(&self.text, &edits);
        match load_text(&after) {
            Err(error) => return Some(self.failure(probe, &format!("it cannot be read: {error}\n{edits:?}"))),
            Ok(loaded) if loaded.value != expected => {
                return Some(self.failure(probe, &format!("it means something else\n{edits:?}")));
            }
            Ok(_) => {}
        }
        let beyond = |e: &TextEdit| {
            e.range.start < probe.place.start
                || e.range.end > probe.place.end
                || (probe.inserts && !e.range.is_empty())
                || (probe.op == "remove" && !e.text.trim().chars().all(|c| "{}[]".contains(c)))
        };
        edits.iter().find(|e| beyond(e)).map(|e| {
            self.failure(probe, &format!("{e:?} is beyond {:?} {:?}", probe.place, &self.text[probe.place.clone()]))
        })
    }

    fn failure(&self, probe: &Probe, message: &str) -> String {
        format!("{}: {} {:?} {}: {message}", self.name, probe.op, probe.path, probe.value)
    }
}

impl Probe {
    fn with_some_value(mut self, dice: &mut Dice) -> Self {
        let values = [
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
        ];
        self.value = values[dice.below(values.len())].clone();
        self
    }
}

#[test]
fn a_place_that_is_probed_is_one_that_the_reader_finds() {
    let document = Document::read("inline".into(), "a: [1, {b: 2}]\nc:\n- d\n");
    let probes = document.probes(&mut Dice::new("inline"), true);
    let counts: [usize; 5] = [3, 2, 3, 3, 5];
    assert_eq!(probes.len(), counts.iter().sum::<usize>());
    for probe in probes.iter().filter(|probe| probe.op == "replace") {
        assert!(find(&document.tree, &probe.path).is_some(), "{:?}", probe.path);
    }
}
