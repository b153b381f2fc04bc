//! A KRM function as data: what a `ResourceList` asks for, and what it gets back.
//!
//! The rules are those of the KRM functions specification (`config.kubernetes.io/v1`): one `ResourceList` comes in and
//! one goes out, its `items` changed, its `results` saying what was found, everything else as it was. The list is a
//! document like any other here, whose items patches address as those of a List; so its bytes outside the patched places
//! stay, internal annotations among them. Nothing here reads a file or knows the terminal.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::change::{Action, Change, New, apply_edits};
use crate::diag::{Diagnostic, Severity, Source, nearest};
use crate::resource::Identity;
use crate::yaml::edit::{self, EditError};
use crate::yaml::load::load_text;
use crate::yaml::spell::{self, Layout};
use crate::yaml::stream;

/// The version of the format.
const API_VERSION: &str = "config.kubernetes.io/v1";

/// The keys of a `ConfigMap` that configures the function.
const KEYS: [&str; 3] = ["overlay", "strict", "allow-no-match"];

/// The annotations that say which file of the package an item is from; the second is the older one.
const PATHS: [&str; 2] = ["internal.config.kubernetes.io/path", "config.kubernetes.io/path"];

/// What a `ResourceList` asks for.
#[derive(Clone, Debug)]
pub struct Request {
    /// The overlay.
    pub overlay: Config,
    /// Whether a warning is as bad as an error.
    pub strict: bool,
    /// Whether a change may mean no item.
    pub allow_no_match: bool,
    /// The items, as they came in.
    pub items: Vec<Value>,
}

/// Where the overlay is.
#[derive(Clone, Debug)]
pub enum Config {
    /// In this folder.
    Folder(String),
    /// In the `ResourceList` itself, written out as an `overlay.yaml`.
    Inline(Arc<Source>),
}

/// Why a `ResourceList` cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mistake {
    /// It is no `ResourceList`.
    #[error("standard input is not one ResourceList of {API_VERSION}: {0}")]
    NoList(String),
    /// Nothing says which overlay is meant.
    #[error("the ResourceList has no functionConfig that is an Overlay or a ConfigMap")]
    NoConfig,
    /// The `ConfigMap` does not name the overlay.
    #[error("the ConfigMap that is the functionConfig has no data.overlay")]
    NoOverlay,
    /// The `ConfigMap` has a key that means nothing.
    #[error("the ConfigMap that is the functionConfig has data.{name}, which means nothing here{}", near.map(|n| format!(" (did you mean `{n}`?)")).unwrap_or_default())]
    UnknownKey {
        /// The key.
        name: String,
        /// The one that is probably meant.
        near: Option<&'static str>,
    },
    /// A switch has another value than its two.
    #[error("data.{0} of the ConfigMap that is the functionConfig is \"true\" or \"false\"")]
    NotSwitch(String),
    /// The overlay brings documents of its own.
    #[error("the overlay has `resources`, and a function cannot add documents: put them into the package")]
    Resources,
}

impl Request {
    /// What the text of a `ResourceList` asks for.
    ///
    /// # Errors
    /// When it is no `ResourceList`, or not configured.
    pub fn read(text: &str) -> Result<Request, Mistake> {
        let documents = stream::split(text).iter().filter(|piece| piece.content).count();
        if documents != 1 {
            return Err(Mistake::NoList(format!("it holds {documents} documents")));
        }
        let list = load_text(text).map_err(|e| Mistake::NoList(e.to_string()))?.value;
        let says = |key: &str| list.get(key).and_then(Value::as_str).unwrap_or_default();
        if (says("apiVersion"), says("kind")) != (API_VERSION, "ResourceList") {
            return Err(Mistake::NoList(format!("it is `{}` of `{}`", says("kind"), says("apiVersion"))));
        }
        let items = list.get("items").and_then(Value::as_array).cloned().unwrap_or_default();
        let config = list.get("functionConfig").ok_or(Mistake::NoConfig)?;
        match config.get("kind").and_then(Value::as_str) {
            Some("Overlay") => {
                let overlay = Config::Inline(Source::new("functionConfig", overlay_file(config)));
                Ok(Request { overlay, strict: false, allow_no_match: false, items })
            }
            Some("ConfigMap") => Request::of_map(config.get("data").and_then(Value::as_object), items),
            _ => Err(Mistake::NoConfig),
        }
    }

    fn of_map(data: Option<&Map<String, Value>>, items: Vec<Value>) -> Result<Request, Mistake> {
        let data = data.ok_or(Mistake::NoOverlay)?;
        if let Some(name) = data.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(Mistake::UnknownKey { name: name.clone(), near: nearest(name, KEYS) });
        }
        let switch = |key: &str| match data.get(key).map(Value::as_str) {
            None | Some(Some("false")) => Ok(false),
            Some(Some("true")) => Ok(true),
            Some(_) => Err(Mistake::NotSwitch(key.to_owned())),
        };
        let folder = data.get("overlay").and_then(Value::as_str).ok_or(Mistake::NoOverlay)?;
        let (strict, allow_no_match) = (switch("strict")?, switch("allow-no-match")?);
        Ok(Request { overlay: Config::Folder(folder.to_owned()), strict, allow_no_match, items })
    }
}

/// An Overlay as a resource, as the `overlay.yaml` that says the same: what stands under `metadata` is for others, but
/// for the name, which such a resource must have there.
fn overlay_file(config: &Value) -> String {
    let mut file = config.clone();
    if let Value::Object(file) = &mut file {
        let name = file.shift_remove("metadata").and_then(|m| m.get("name").cloned());
        if let Some(name) = name
            && !file.contains_key("name")
        {
            file.insert("name".to_owned(), name);
        }
    }
    format!("{}\n", spell::block(&file, 0, Layout { step: 2, indent_lists: true }, None))
}

/// What was found, in the form of `results`.
pub fn results(findings: &[Diagnostic], items: &[Value]) -> Vec<Value> {
    let items: Vec<Item<'_>> = items.iter().map(Item::new).collect();
    let result_of = |finding: &Diagnostic| {
        if let Some(item) = items.iter().find(|item| finding.resource.as_ref() == Some(&item.name)) {
            return result(finding, Some(item), finding.path.as_deref());
        }
        // The proof speaks of the list as one document, and of a place in an item by the way through the list.
        let below = finding.path.as_deref().and_then(|path| in_item(path, &items));
        match below {
            Some((item, path)) => result(finding, Some(item), Some(path).filter(|path| !path.is_empty())),
            None => result(finding, None, finding.path.as_deref()),
        }
    };
    findings.iter().map(result_of).collect()
}

/// One item, and what it is called.
struct Item<'v> {
    name: String,
    identity: Identity,
    value: &'v Value,
}

impl Item<'_> {
    fn new(value: &Value) -> Item<'_> {
        let identity = Identity::of(value);
        Item { name: identity.to_string(), identity, value }
    }
}

/// The item that a path through the list leads into, and the rest of the path.
fn in_item<'i, 'v, 'p>(path: &'p str, items: &'i [Item<'v>]) -> Option<(&'i Item<'v>, &'p str)> {
    let rest = path.strip_prefix("/items/")?;
    let (index, _) = rest.split_once('/').unwrap_or((rest, ""));
    Some((items.get(index.parse::<usize>().ok()?)?, rest.get(index.len()..)?))
}

fn result(finding: &Diagnostic, item: Option<&Item<'_>>, path: Option<&str>) -> Value {
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "info",
    };
    let mut message = finding.message.clone();
    for help in &finding.help {
        message.push_str(". ");
        message.push_str(help.trim_end_matches('.'));
    }
    let mut tags = Map::new();
    tags.insert("code".to_owned(), json!(finding.code.as_str()));
    if let Some(patch) = &finding.patch {
        tags.insert("patch".to_owned(), json!(patch));
    }
    if let Some(place) = &finding.place {
        let (line, column) = place.line_column();
        tags.insert("place".to_owned(), json!(format!("{}:{line}:{column}", place.source.name)));
    }
    let mut result = Map::new();
    result.insert("message".to_owned(), json!(message));
    result.insert("severity".to_owned(), json!(severity));
    if let Some(Item { identity, value, .. }) = item {
        result.insert("resourceRef".to_owned(), reference(identity));
        if let Some(path) = PATHS.iter().find_map(|key| value.pointer("/metadata/annotations")?.get(*key)?.as_str()) {
            result.insert("file".to_owned(), json!({ "path": path }));
        }
    }
    if let Some(path) = path {
        result.insert("field".to_owned(), json!({ "path": path }));
    }
    result.insert("tags".to_owned(), Value::Object(tags));
    Value::Object(result)
}

fn reference(identity: &Identity) -> Value {
    let mut reference = json!({"apiVersion": identity.api_version(), "kind": identity.kind, "name": identity.name});
    if let (Value::Object(reference), false) = (&mut reference, identity.namespace.is_empty()) {
        reference.insert("namespace".to_owned(), json!(identity.namespace));
    }
    reference
}

/// The text of a `ResourceList` with those results in the place of its own. Without any, it stays as it is.
///
/// # Errors
/// When its `results` are written so that they cannot be put out of the way.
pub fn with_results(text: &str, results: Vec<Value>) -> Result<String, EditError> {
    let has_some = load_text(text).is_ok_and(|loaded| loaded.value.get("results").is_some());
    if results.is_empty() && !has_some {
        return Ok(text.to_owned());
    }
    let value = Value::Array(results);
    let new = New { value: &value, spelled: None, comment: None };
    let action = if has_some { Action::Replace(new) } else { Action::Add(new) };
    let edits = edit::edit(text, &Change { action, path: &["results".to_owned()] })?;
    Ok(apply_edits(text, &edits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Code, Place};

    const LIST: &str = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: v1\n  kind: \
                        ConfigMap\n  metadata:\n    name: a\n    namespace: ns\n    annotations: \
                        {internal.config.kubernetes.io/path: a.yaml}\n";

    fn refused(config: &str) -> String {
        Request::read(&format!("{LIST}functionConfig: {config}\n")).unwrap_err().to_string()
    }

    #[test]
    fn a_config_map_names_the_folder() {
        let config = "{apiVersion: v1, kind: ConfigMap, data: {overlay: ../web, strict: \"true\"}}";
        let request = Request::read(&format!("{LIST}functionConfig: {config}\n")).unwrap();
        assert!(matches!(&request.overlay, Config::Folder(folder) if folder == "../web"));
        assert_eq!((request.strict, request.allow_no_match, request.items.len()), (true, false, 1));
    }

    #[test]
    fn an_overlay_stands_in_the_list_itself() {
        let config = "{apiVersion: overlay/v1, kind: Overlay, metadata: {name: web}, bases: [], patches: [p.yaml]}";
        let request = Request::read(&format!("{LIST}functionConfig: {config}\n")).unwrap();
        let Config::Inline(source) = request.overlay else { panic!("no overlay") };
        let wanted = "apiVersion: overlay/v1\nkind: Overlay\nbases: []\npatches:\n  - p.yaml\nname: web\n";
        assert_eq!(source.text, wanted);
    }

    #[test]
    fn what_cannot_be_taken_is_named() {
        assert_eq!(
            refused("{kind: Other}"),
            "the ResourceList has no functionConfig that is an Overlay or a ConfigMap"
        );
        assert_eq!(
            refused("{kind: ConfigMap, data: {overlya: x}}"),
            "the ConfigMap that is the functionConfig has data.overlya, which means nothing here (did you mean `overlay`?)"
        );
        assert_eq!(refused("{kind: ConfigMap}"), "the ConfigMap that is the functionConfig has no data.overlay");
        assert_eq!(
            refused("{kind: ConfigMap, data: {overlay: x, strict: \"yes\"}}"),
            "data.strict of the ConfigMap that is the functionConfig is \"true\" or \"false\""
        );
        let no_list = |text: &str| Request::read(text).unwrap_err().to_string();
        let head = "standard input is not one ResourceList of config.kubernetes.io/v1: ";
        assert_eq!(no_list(""), format!("{head}it holds 0 documents"));
        assert_eq!(no_list("kind: List\n"), format!("{head}it is `List` of ``"));
        assert!(no_list("a: [").starts_with(head));
    }

    #[test]
    fn results_name_the_item_and_its_file() {
        let source = Source::new("p.yaml", "x\n");
        let finding = Diagnostic::new(Code::PathMissing, "nothing is at /b")
            .at(Place::new(&source, 0..1), "")
            .patch("p")
            .resource("ConfigMap/ns/a")
            .path("/b")
            .help("Correct the path.");
        let items = Request::read(&format!("{LIST}functionConfig: {{kind: Overlay}}\n")).unwrap().items;
        let wanted = json!([{
            "message": "nothing is at /b. Correct the path",
            "severity": "error",
            "resourceRef": {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "namespace": "ns"},
            "file": {"path": "a.yaml"},
            "field": {"path": "/b"},
            "tags": {"code": "path-missing", "patch": "p", "place": "p.yaml:1:1"},
        }]);
        assert_eq!(Value::Array(results(&[finding], &items)), wanted);
        let plain = results(&[Diagnostic::new(Code::Unguarded, "m")], &items);
        assert_eq!(plain, [json!({"message": "m", "severity": "info", "tags": {"code": "unguarded"}})]);
    }

    #[test]
    fn results_are_added_and_nothing_else_changes() {
        assert_eq!(with_results(LIST, Vec::new()).unwrap(), LIST);
        let one = vec![json!({"message": "m"})];
        let added = with_results(LIST, one.clone()).unwrap();
        assert_eq!(added, format!("{LIST}results:\n- message: m\n"));
        assert_eq!(with_results(&added, one).unwrap(), added);
        assert_eq!(load_text(&with_results(&added, Vec::new()).unwrap()).unwrap().value["results"], json!([]));
    }
}
