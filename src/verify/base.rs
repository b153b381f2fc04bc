//! What `verify` says of upstream's own documents, whose bytes are kept whatever is found: doubled keys and items,
//! identities that Kubernetes does not read as text, and scalars that readers do not agree on.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use crate::config::Findings;
use crate::diag::visible::shortened;
use crate::diag::{Code, Diagnostic, Place, Source};
use crate::diff::keyed;
use crate::resource::identity::Written;
use crate::resource::walk::{Step, walk};
use crate::resource::{Identity, MergeKey, scalar_text};
use crate::yaml::load::{self, Loaded};
use crate::yaml::scalar;
use crate::yaml::tree::Tree;

/// How many scalars of one file are told one by one; the rest are counted.
const MAX_SCALARS: usize = 10;

/// A document of a base, read.
pub(super) struct Read<'a> {
    /// Its file.
    pub(super) source: &'a Arc<Source>,
    /// Where its text begins in the file.
    pub(super) start: usize,
    /// Its tree.
    pub(super) tree: &'a Tree,
    /// Its value.
    pub(super) loaded: &'a Loaded,
    /// What it is called.
    pub(super) identity: &'a Identity,
}

impl Read<'_> {
    /// Where the document says its name.
    fn name_place(&self) -> Option<Place> {
        let node = self.tree.node(load::find(self.tree, &["metadata", "name"])?);
        Some(Place::new(self.source, self.start + node.span.start..self.start + node.span.end))
    }
}

/// Looks at one document.
pub(super) fn check(document: &Read<'_>, findings: &mut Findings) {
    duplicate_keys(document, findings);
    identity(document, findings);
    duplicate_items(document, findings);
}

/// Tells of the scalars of one file that readers do not agree on.
pub(super) fn ambiguous_scalars(documents: &[Read<'_>], findings: &mut Findings) {
    let mut rest: HashMap<&str, usize> = HashMap::new();
    let mut told: HashMap<&str, usize> = HashMap::new();
    for document in documents {
        for node in load::ambiguous_scalars(document.tree) {
            let node = document.tree.node(node);
            let Some((text, ambiguity)) = node.text().and_then(|t| Some((t, scalar::ambiguous(t)?))) else { continue };
            let count = told.entry(document.source.name.as_str()).or_default();
            if *count >= MAX_SCALARS {
                *rest.entry(document.source.name.as_str()).or_default() += 1;
                continue;
            }
            *count += 1;
            let span = document.start + node.span.start..document.start + node.span.end;
            let finding = Diagnostic::new(
                Code::BaseAmbiguousScalar,
                format!("upstream writes `{text}` bare, which not every YAML reader takes alike"),
            )
            .at(Place::new(document.source, span), ambiguity.to_string())
            .resource(document.identity.to_string())
            .help("Nothing is to be done: the bytes are kept, and Kubernetes reads them as it always did.");
            findings.add(finding);
        }
    }
    let mut rest: Vec<_> = rest.into_iter().collect();
    rest.sort_unstable();
    for (file, count) in rest {
        findings.add(Diagnostic::new(
            Code::BaseAmbiguousScalar,
            format!("{file} has {count} more bare scalars that not every YAML reader takes alike"),
        ));
    }
}

/// Tells of documents that one base has twice. `share` says whether two documents, by their numbers, are of one base.
pub(super) fn duplicate_documents(
    documents: &[Read<'_>],
    share: impl Fn(usize, usize) -> bool,
    findings: &mut Findings,
) {
    let mut first: HashMap<_, usize> = HashMap::new();
    for (number, document) in documents.iter().enumerate() {
        let Some(object) = document.identity.object() else { continue };
        let Some(other) = first.insert(object, number).filter(|other| share(*other, number)) else { continue };
        let message = format!("upstream has {} twice", document.identity);
        let mut finding = Diagnostic::new(Code::BaseDuplicateDocument, message)
            .resource(document.identity.to_string())
            .help("Tell upstream. The bytes are kept; a cluster ends up with the last one alone.");
        if let Some(place) = document.name_place() {
            finding = finding.at(place, "again here");
        }
        if let Some(place) = documents.get(other).and_then(Read::name_place) {
            finding = finding.related(place, "first here");
        }
        findings.add(finding);
    }
}

fn duplicate_keys(document: &Read<'_>, findings: &mut Findings) {
    for duplicate in &document.loaded.duplicates {
        let first = document.start + duplicate.first.start..document.start + duplicate.first.end;
        let second = document.start + duplicate.second.start..document.start + duplicate.second.end;
        let (first, second) = (Place::new(document.source, first), Place::new(document.source, second));
        let line = first.line();
        let finding = if duplicate.is_torn {
            let way = |place: &Place| shortened(place.text(), 40);
            let message = format!(
                "upstream gives the key `{}` twice, as `{}` and as `{}` in line {line}: kubectl takes the one or the other",
                duplicate.key,
                way(&second),
                way(&first)
            );
            Diagnostic::new(Code::BaseDuplicateKey, message)
                .at(second, "this one counts, or that one")
                .note("To YAML these are two keys of different types, which JSON has one name for. Which of them is left can differ from run to run.")
                .help(format!("Tell upstream. A patch that removes `{}` removes both; then it can add the one that is meant.", duplicate.key))
        } else {
            let message = format!("upstream gives the key `{}` twice; it stands in line {line} already", duplicate.key);
            Diagnostic::new(Code::BaseDuplicateKey, message)
                .at(second, "this one counts for kubectl")
                .help("Tell upstream. The bytes are kept; kubectl takes the last one.")
        };
        let finding = finding.related(first, "first here").resource(document.identity.to_string());
        findings.add(finding);
    }
}

fn identity(document: &Read<'_>, findings: &mut Findings) {
    let Some(root) = document.tree.root() else { return };
    for odd in Written::of(document.tree, root).not_text(&document.loaded.value) {
        let span = document.start + odd.span.start..document.start + odd.span.end;
        let finding = Diagnostic::new(
            Code::BaseIdentityNotText,
            format!("Kubernetes does not read `{}` as a text here, but as {}", odd.text, odd.read_as),
        )
        .at(Place::new(document.source, span), "upstream left the quotes out")
        .resource(document.identity.to_string())
        .note(format!("kubectl refuses a document whose `{}` is no text.", odd.part.pointer()))
        .help("Tell upstream, or let a patch replace it with the text in quotes. Patches address the document by the text as it stands.");
        findings.add(finding);
    }
}

/// Lists of a known type whose items have the same merge key: Kubernetes' own tools lose one of them.
fn duplicate_items(document: &Read<'_>, findings: &mut Findings) {
    walk(&document.loaded.value, Vec::new(), &mut |way, value| {
        let Value::Array(items) = value else { return };
        let keys: Vec<&str> = way.iter().filter_map(Step::key).collect();
        if let Some(merge_key) = MergeKey::of_list(&keys) {
            let path: Vec<String> = way.iter().map(ToString::to_string).collect();
            doubled(document, &path, merge_key, items, findings);
        }
    });
}

fn doubled(document: &Read<'_>, path: &[String], merge_key: MergeKey, items: &[Value], findings: &mut Findings) {
    let mut first: HashMap<String, usize> = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        let parts: Vec<String> = merge_key
            .fields()
            .iter()
            .filter_map(|field| Some(format!("{field}={}", scalar_text(item.get(field)?)?)))
            .collect();
        if merge_key.of_item(item).is_none() || parts.is_empty() {
            continue;
        }
        let key = parts.join(",");
        let Some(other) = first.insert(key.clone(), index) else { continue };
        let place = |index: usize| {
            let mut path = path.to_vec();
            path.push(index.to_string());
            let node = document.tree.node(load::find(document.tree, &path)?);
            Some(Place::new(document.source, document.start + node.span.start..document.start + node.span.start))
        };
        let (list, _) = keyed(&document.loaded.value, path);
        let mut finding =
            Diagnostic::new(Code::BaseDuplicateItem, format!("upstream has two items with {key} in `{list}`"))
                .resource(document.identity.to_string())
                .path(list.to_string())
                .note(format!("They have the indices {other} and {index}."))
                .help("Tell upstream. The bytes are kept; tools that merge by key lose one of the two.");
        if let Some(place) = place(index) {
            finding = finding.at(place, "again here");
        }
        if let Some(place) = place(other) {
            finding = finding.related(place, "first here");
        }
        findings.add(finding);
    }
}
