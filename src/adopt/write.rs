//! The text of the files of an adopted overlay.

use serde_json::{Map, Value, json};

use super::operations::{Act, Operation};
use crate::config::written;
use crate::layer::manifest::Entry;
use crate::patch::path::Path;
use crate::resource::Target;
use crate::yaml::spell::{self, Layout};

/// The largest old value that `was` repeats, in bytes of JSON: beyond it, nobody would read the patch.
const MAX_WAS: usize = 4096;

const LAYOUT: Layout = Layout { step: 2, indent_lists: true };

/// What a patch file says.
#[derive(Debug)]
pub(super) struct PatchFile<'a> {
    pub(super) name: &'a str,
    pub(super) summary: String,
    /// Why it is needed; `None` leaves that to be written.
    pub(super) why: Option<String>,
    /// What the edited file says near the places.
    pub(super) comments: Vec<String>,
    /// The changes, each on one document.
    pub(super) changes: Vec<Change<'a>>,
}

/// One change of a patch file.
#[derive(Debug)]
pub(super) struct Change<'a> {
    pub(super) target: Value,
    /// The operations, all in one text or in none; none of them, to delete the document.
    pub(super) operations: Vec<(&'a Operation, Option<String>)>,
}

/// A patch file.
pub(super) fn patch(patch: &PatchFile<'_>) -> String {
    let why = match &patch.why {
        Some(why) => format!("{}\n", why.trim_end()),
        None if patch.comments.is_empty() => "TODO: say why.\n".to_owned(),
        None => format!("TODO: say why. The edited file says:\n{}\n", patch.comments.join("\n")),
    };
    let changes: Vec<Value> = patch.changes.iter().map(change).collect();
    let keys = [
        ("name", patch.name.into()),
        ("summary", patch.summary.as_str().into()),
        ("why", why.into()),
        ("changes", changes.into()),
    ];
    written("Patch", keys)
}

fn change(change: &Change<'_>) -> Value {
    let mut out = Map::new();
    out.insert("target".to_owned(), change.target.clone());
    let Some((first, _)) = change.operations.first() else {
        out.insert("delete".to_owned(), true.into());
        return out.into();
    };
    if let Some((path, language)) = &first.within {
        out.insert("within".to_owned(), json!({"path": path.to_string(), "as": language.as_str()}));
    }
    let operations: Vec<Value> =
        change.operations.iter().map(|(o, comment)| operation(o, comment.as_deref())).collect();
    out.insert("patch".to_owned(), operations.into());
    out.into()
}

fn operation(operation: &Operation, comment: Option<&str>) -> Value {
    let mut out = Map::new();
    let mut set = |key: &str, value: Value| out.insert(key.to_owned(), value);
    let path = |path: &Path| Value::String(path.to_string());
    let small = |value: &Value| value.to_string().len() <= MAX_WAS;
    let (op, was, value) = match &operation.act {
        Act::Add(value) => ("add", None, Some(value)),
        Act::Replace { was, value } => ("replace", Some(was), Some(value)),
        Act::Remove { was } => ("remove", Some(was), None),
        Act::Move { .. } => ("move", None, None),
    };
    set("op", op.into());
    if let Act::Move { from } = &operation.act {
        set("from", path(from));
    }
    set("path", path(&operation.path));
    if let Some(was) = was.filter(|was| small(was)) {
        set("was", was.clone());
    }
    if let Some(value) = value {
        set("value", value.clone());
    }
    if let (Some(was), Some(value)) = (was, value)
        && has_digest(was)
        && !has_digest(value)
    {
        set("unpin", true.into());
    }
    if let Some(comment) = comment {
        set("comment", comment.into());
    }
    out.into()
}

/// Whether a value is or holds an image that is pinned by digest.
fn has_digest(value: &Value) -> bool {
    value.to_string().contains("@sha256:")
}

/// The shortest target that means the document at `index` alone; `None` where none does.
pub(super) fn target(documents: &[Entry], index: usize) -> Option<Value> {
    let Entry { identity, value, .. } = documents.get(index)?;
    let part = |text: &String| (!text.is_empty()).then(|| text.clone());
    let mut target = Target { kind: part(&identity.kind), name: part(&identity.name), ..Target::default() };
    let alone = |target: &Target| {
        target.matches(identity, value)
            && documents.iter().filter(|d| target.matches(&d.identity, &d.value)).count() == 1
    };
    if !alone(&target) {
        target.namespace = Some(identity.namespace.clone());
    }
    if !alone(&target) {
        target.group = Some(identity.group.clone());
    }
    if !alone(&target) {
        target.version = part(&identity.version);
    }
    let fields = [
        ("group", &target.group),
        ("version", &target.version),
        ("kind", &target.kind),
        ("namespace", &target.namespace),
        ("name", &target.name),
    ];
    let given: Map<String, Value> =
        fields.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text.clone()?.into()))).collect();
    (alone(&target) && !given.is_empty()).then(|| given.into())
}

/// An `overlay.yaml`.
pub(super) fn overlay(name: &str, description: &str, base: &str, resources: &[String], patches: &[String]) -> String {
    let always: [(&str, Value); 3] =
        [("name", name.into()), ("description", description.into()), ("bases", vec![base].into())];
    let lists = [("resources", resources), ("patches", patches)].into_iter().filter(|(_, paths)| !paths.is_empty());
    written("Overlay", always.into_iter().chain(lists.map(|(key, paths)| (key, paths.into()))))
}

/// A document of the edited file that the base does not have.
pub(super) fn document(value: &Value) -> String {
    format!("{}\n", spell::block(value, 0, LAYOUT, None))
}
