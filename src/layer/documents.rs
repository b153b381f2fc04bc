//! The documents of a manifest: where each stands, what it is called and what it means.

use std::sync::Arc;

use serde_json::Value;

use super::digest;
use crate::config::Findings;
use crate::diag::{Code, Diagnostic, Place, Source};
use crate::resource::Identity;
use crate::resource::identity::Written;
use crate::yaml::tree::{Bytes, Tree};
use crate::yaml::{load, stream};

/// One document of a manifest.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its bytes in the manifest, from its own marker (or, of the first, the beginning) to the next one's.
    pub range: Bytes,
    /// Where it says what it is called: its name, else its kind, else its beginning.
    pub named: Bytes,
    /// What it is called, in the words of the manifest.
    pub identity: Identity,
    /// What it means.
    pub value: Value,
    /// The digest of what it means.
    pub content: String,
}

/// Reads every document of a manifest that has any content. `None` and findings where one cannot be read.
pub fn read(source: &Arc<Source>, findings: &mut Findings) -> Option<Vec<Document>> {
    let pieces = stream::split(&source.text);
    let read: Vec<Option<Document>> =
        pieces.into_iter().filter(|p| p.content).map(|p| findings.keep(document(source, p.range))).collect();
    read.into_iter().collect()
}

fn document(source: &Arc<Source>, range: Bytes) -> Result<Document, Box<Diagnostic>> {
    let text = source.text.get(range.clone()).unwrap_or_default();
    let unreadable = |message: String, offset: usize| {
        let at = range.start + offset;
        let finding = Diagnostic::new(Code::Syntax, format!("{} cannot be read as YAML", source.name));
        Box::new(finding.at(Place::new(source, at..at), message))
    };
    let tree = Tree::parse(text).map_err(|e| unreadable(e.message, e.offset))?;
    let loaded = load::load(&tree, text).map_err(|e| unreadable(e.to_string(), e.at.start))?;
    let identity = tree.root().map(|root| Written::of(&tree, root).identity).unwrap_or_default();
    let content = digest::content(&loaded.value);
    let named = named(&tree).map_or(range.start..range.start, |at| range.start + at.start..range.start + at.end);
    Ok(Document { range, named, identity, value: loaded.value, content })
}

fn named(tree: &Tree) -> Option<Bytes> {
    let name = load::find(tree, &["metadata", "name"]).or_else(|| load::find(tree, &["kind"])).or(tree.root())?;
    Some(tree.node(name).span.clone())
}
