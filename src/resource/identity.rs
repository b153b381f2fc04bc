//! What a resource is called: group, version, kind, namespace and name.

use std::fmt;

use serde_json::Value;

use super::scalar_text;
use crate::yaml::tree::{Bytes, Kind, NodeId, Tree};

/// The identity of a resource. A part that the document does not have is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    /// The API group, empty for the core group: `apps` of `apps/v1`.
    pub group: String,
    /// The API version without the group: `v1` of `apps/v1`.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The namespace, as it stands: empty is not `default`.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl Identity {
    /// The identity of a document that was read into a value. A scalar that is no string counts with its text, as
    /// the value has it; [`Written::of`] knows what stands in the file.
    pub fn of(document: &Value) -> Identity {
        let text = |part: Part| part.get(document).and_then(scalar_text).unwrap_or_default().into_owned();
        Identity::new(&text(Part::ApiVersion), text(Part::Kind), text(Part::Namespace), text(Part::Name))
    }

    /// The identity of those parts, the API version as it is written (`apps/v1`, `v1`).
    pub fn new(
        api_version: &str,
        kind: impl Into<String>,
        namespace: impl Into<String>,
        name: impl Into<String>,
    ) -> Identity {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Identity {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.into(),
            namespace: namespace.into(),
            name: name.into(),
        }
    }

    /// Whether it is that of a Secret, whose values a report should not show.
    pub fn is_secret(&self) -> bool {
        self.kind == "Secret" && self.group.is_empty()
    }

    /// The API version as it is written: `apps/v1`, `v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// What a cluster knows the object by, whatever the version; an absent namespace is `default`. `None` without a
    /// name.
    pub fn object(&self) -> Option<(&str, &str, &str, &str)> {
        let namespace = if self.namespace.is_empty() { "default" } else { &self.namespace };
        (!self.name.is_empty()).then_some((&self.group, &self.kind, namespace, &self.name))
    }

    /// Whether it is a List, whose items are addressed like documents (Kubernetes: `v1/List` and the typed lists).
    pub fn is_list(&self) -> bool {
        self.kind.ends_with("List") && self.name.is_empty()
    }

    /// Whether no part is there: the document is no resource at all.
    pub fn is_empty(&self) -> bool {
        [&self.group, &self.version, &self.kind, &self.namespace, &self.name].iter().all(|part| part.is_empty())
    }
}

/// `kind.group/namespace/name`, empty parts left out. The version is not shown: a cluster holds one object under all
/// versions of its kind.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        for part in [&self.namespace, &self.name] {
            if !part.is_empty() {
                write!(f, "/{part}")?;
            }
        }
        Ok(())
    }
}

/// A field of a document that its identity is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// `/apiVersion`.
    ApiVersion,
    /// `/kind`.
    Kind,
    /// `/metadata/namespace`.
    Namespace,
    /// `/metadata/name`.
    Name,
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 4] = [Part::ApiVersion, Part::Kind, Part::Namespace, Part::Name];

    /// The field's place in a document, as a JSON pointer.
    pub fn pointer(self) -> &'static str {
        match self {
            Part::ApiVersion => "/apiVersion",
            Part::Kind => "/kind",
            Part::Namespace => "/metadata/namespace",
            Part::Name => "/metadata/name",
        }
    }

    fn get(self, document: &Value) -> Option<&Value> {
        document.pointer(self.pointer())
    }
}

/// An identity as a file spells it, with the places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The identity, in the words of the file.
    pub identity: Identity,
    /// Where each part that is there stands, and its text.
    parts: Vec<(Part, Bytes, String)>,
}

/// A part of an identity that Kubernetes does not read as text.
#[derive(Clone, Debug, PartialEq)]
pub struct NotText {
    /// Which part.
    pub part: Part,
    /// Where it stands.
    pub span: Bytes,
    /// The text that stands there.
    pub text: String,
    /// What Kubernetes reads.
    pub read_as: Value,
}

impl Written {
    /// Reads the identity of the mapping at `node`, scalars as they are written: the bare `name: n` is the name `n`.
    pub fn of(tree: &Tree, node: NodeId) -> Written {
        let mut reader = Reader { tree, steps: MAX_STEPS };
        let mut parts = Vec::new();
        for part in Part::ALL {
            let found = part.pointer().split('/').skip(1).try_fold(node, |node, key| reader.entry(node, key));
            let Some(found) = found.map(|id| tree.node(tree.resolve(id))) else { continue };
            if let Some(text) = found.text() {
                parts.push((part, found.span.clone(), text.to_owned()));
            }
        }
        let text = |wanted: Part| {
            parts.iter().find(|(part, ..)| *part == wanted).map(|(_, _, text)| text.clone()).unwrap_or_default()
        };
        let identity =
            Identity::new(&text(Part::ApiVersion), text(Part::Kind), text(Part::Namespace), text(Part::Name));
        Written { identity, parts }
    }

    /// The parts that Kubernetes reads as something else than text, given the value that it reads. A part with
    /// nothing in it is left out: it reads as null and is as good as absent.
    pub fn not_text(&self, read: &Value) -> Vec<NotText> {
        let mut out = Vec::new();
        for (part, span, text) in &self.parts {
            if let Some(value) = part.get(read)
                && !value.is_string()
                && !text.is_empty()
            {
                let read_as = value.clone();
                out.push(NotText { part: *part, span: span.clone(), text: text.clone(), read_as });
            }
        }
        out
    }
}

/// How many mappings a search through merge keys may visit. Real documents need a handful; aliases could make it
/// exponential.
const MAX_STEPS: usize = 1_000;

/// Looks keys up in a tree, through aliases and merge keys.
struct Reader<'t> {
    tree: &'t Tree,
    steps: usize,
}

impl Reader<'_> {
    /// The value of `key`: the last of doubled keys, and a later `<<` before an earlier key, as go-yaml v2 has it.
    fn entry(&mut self, node: NodeId, key: &str) -> Option<NodeId> {
        self.steps = self.steps.checked_sub(1)?;
        let tree = self.tree;
        let Kind::Mapping { entries, .. } = &tree.node(tree.resolve(node)).kind else { return None };
        for entry in entries.iter().rev() {
            let text = tree.node(tree.resolve(entry.key)).text();
            if text == Some(key) {
                return Some(entry.value);
            }
            if text == Some("<<")
                && let Some(found) = self.merged(entry.value, key)
            {
                return Some(found);
            }
        }
        None
    }

    /// The value of `key` in what `<<` names: a mapping, or a sequence of mappings of which the first one wins.
    fn merged(&mut self, node: NodeId, key: &str) -> Option<NodeId> {
        let tree = self.tree;
        match &tree.node(tree.resolve(node)).kind {
            Kind::Sequence { items, .. } => items.iter().find_map(|item| self.entry(item.node, key)),
            _ => self.entry(node, key),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(text: &str) -> Written {
        let tree = Tree::parse(text).unwrap();
        Written::of(&tree, tree.root().unwrap())
    }

    #[test]
    fn empty_parts_are_left_out_of_the_name() {
        let display = |api, kind, namespace, name| Identity::new(api, kind, namespace, name).to_string();
        assert_eq!(display("apps/v1", "DaemonSet", "net", "agent"), "DaemonSet.apps/net/agent");
        assert_eq!(display("v1", "ConfigMap", "net", "settings"), "ConfigMap/net/settings");
        assert_eq!(display("v1", "Namespace", "", "keep-me"), "Namespace/keep-me");
        assert_eq!(display("", "Thing", "", ""), "Thing");
    }

    #[test]
    fn a_value_and_a_tree_give_the_same_identity() {
        let value = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "b"}});
        let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: a\n  namespace: b\n";
        assert_eq!(Identity::of(&value), written(text).identity);
        assert_eq!(Identity::of(&value).api_version(), "apps/v1");
        assert!(Identity::of(&json!([1])).is_empty());
    }

    #[test]
    fn a_bare_word_is_the_name_that_stands_there() {
        let text = "kind: ConfigMap\nmetadata: {name: n, namespace: 007}\n";
        let read = json!({"kind": "ConfigMap", "metadata": {"name": false, "namespace": 7}});
        let written = written(text);
        assert_eq!(written.identity.to_string(), "ConfigMap/007/n");
        let found = written.not_text(&read);
        assert_eq!(found.iter().map(|f| f.part).collect::<Vec<_>>(), [Part::Namespace, Part::Name]);
        assert_eq!(&text[found[1].span.clone()], "n");
        assert_eq!(found[1].read_as, json!(false));
        assert_eq!(written.not_text(&json!({"kind": "ConfigMap", "metadata": {"name": "n", "namespace": "007"}})), []);
    }

    #[test]
    fn merge_keys_aliases_and_doubled_keys_are_followed() {
        let text = "x: &m {name: a, namespace: s}\nkind: &k Pod\nkind: Job\nmetadata: {<<: *m, name: b}\n";
        assert_eq!(written(text).identity.to_string(), "Job/s/b");
        assert_eq!(written("a: &k Pod\nkind: *k\n").identity.kind, "Pod");
        assert_eq!(written("metadata: {<<: [{name: a}, {name: b}]}").identity.name, "a");
    }

    #[test]
    fn merge_keys_that_multiply_end() {
        let doubling = (1..60).map(|i| format!("a{i}: &a{i} {{<<: [*a{p}, *a{p}]}}\n", p = i - 1));
        let text = format!("a0: &a0 {{x: 1}}\n{}metadata: *a59\n", doubling.collect::<String>());
        assert_eq!(written(&text).identity, Identity::default());
        assert_eq!(written("metadata: &m {<<: *m}").identity, Identity::default());
    }
}
