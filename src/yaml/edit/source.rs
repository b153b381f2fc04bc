//! A document that is being edited: its text, its tree and its value, and where its parts begin and end.

use std::borrow::Cow;

use serde_json::Value;

use super::comment::line_of;
use super::habit;
use super::lines::Lines;
use super::place::{Spot, Way, walk};
use crate::yaml::load::{self, LoadError};
use crate::yaml::spell::Layout;
use crate::yaml::tree::{Bytes, Entry, Item, Kind, Node, NodeId, Tree};

/// A document that was read.
#[derive(Debug)]
pub struct Source<'t> {
    /// Its text, as it stands.
    pub(super) text: Cow<'t, str>,
    /// Its tree. It was read with the final newline that kubectl adds where it is missing.
    pub(super) tree: Tree,
    /// Its value.
    pub(super) value: Value,
    /// Whether a mapping of it has a key twice.
    pub(super) has_doubled_keys: bool,
    /// Whether it is left to chance which of them counts, in one of the mappings.
    pub(super) has_torn_keys: bool,
}

impl<'t> Source<'t> {
    /// Reads a document.
    ///
    /// # Errors
    /// When it is not YAML, or has no value as Kubernetes reads it.
    pub fn read(text: impl Into<Cow<'t, str>>) -> Result<Self, LoadError> {
        let text = text.into();
        let closed = if text.ends_with(['\n', '\r']) { Cow::Borrowed(&*text) } else { Cow::Owned(format!("{text}\n")) };
        let tree = Tree::parse(&closed)?;
        let loaded = load::load(&tree, &closed)?;
        let has_doubled_keys = !loaded.duplicates.is_empty();
        let has_torn_keys = loaded.duplicates.iter().any(|duplicate| duplicate.is_torn);
        Ok(Source { text, tree, value: loaded.value, has_doubled_keys, has_torn_keys })
    }

    /// Its text, as it stands.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its tree. It was read with the final newline that kubectl adds where it is missing.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// What the text says, as Kubernetes reads it.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// How it lays out its block collections.
    pub fn layout(&self) -> Layout {
        habit::layout(self)
    }

    /// Its lines.
    pub(super) fn lines(&self) -> Lines<'_> {
        Lines(&self.text)
    }

    /// A node.
    pub(super) fn node(&self, id: NodeId) -> &Node {
        self.tree.node(id)
    }

    /// Where a node's content stands, within the text.
    pub(super) fn span(&self, id: NodeId) -> Bytes {
        self.within(self.node(id).span.clone())
    }

    /// Where a node stands with its anchor and tag, within the text.
    pub(super) fn full(&self, id: NodeId) -> Bytes {
        self.within(self.node(id).full())
    }

    fn within(&self, range: Bytes) -> Bytes {
        range.start.min(self.text.len())..range.end.min(self.text.len())
    }

    /// A part of the text.
    pub(super) fn slice(&self, range: Bytes) -> &str {
        self.text.get(range).unwrap_or("")
    }

    /// One byte of the text.
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// Where an entry of a mapping stands.
    pub(super) fn entry(&self, entry: &Entry) -> Bytes {
        let key = self.full(entry.key);
        let end = self.full(entry.value).end.max(key.end).max(entry.colon.map_or(0, |colon| colon + 1));
        entry.question.unwrap_or(key.start)..end
    }

    /// Where an item of a sequence stands, its dash included.
    pub(super) fn item(&self, item: &Item) -> Bytes {
        let node = self.full(item.node);
        item.dash.unwrap_or(node.start)..node.end.max(item.dash.map_or(0, |dash| dash + 1))
    }

    /// Where the entries or items of a collection stand.
    pub(super) fn children(&self, collection: NodeId) -> Vec<Bytes> {
        match &self.node(collection).kind {
            Kind::Mapping { entries, .. } => entries.iter().map(|entry| self.entry(entry)).collect(),
            Kind::Sequence { items, .. } => items.iter().map(|item| self.item(item)).collect(),
            _ => Vec::new(),
        }
    }

    /// How many entries or items a collection has.
    pub(super) fn count(&self, collection: NodeId) -> usize {
        match &self.node(collection).kind {
            Kind::Mapping { entries, .. } => entries.len(),
            Kind::Sequence { items, .. } => items.len(),
            _ => 0,
        }
    }

    /// Where one of them stands.
    pub(super) fn child(&self, collection: NodeId, index: usize) -> Option<Bytes> {
        match &self.node(collection).kind {
            Kind::Mapping { entries, .. } => entries.get(index).map(|entry| self.entry(entry)),
            Kind::Sequence { items, .. } => items.get(index).map(|item| self.item(item)),
            _ => None,
        }
    }

    /// The comment on the rest of the line from `at` on, with the blanks before it.
    pub(super) fn comment_behind(&self, at: usize) -> Option<Bytes> {
        let end = self.lines().end(at);
        let comment = self.tree.comment_in(at..end)?;
        let start = self.slice(at..comment.start).trim_end_matches([' ', '\t']).len() + at;
        Some(start..end)
    }

    /// Whether a comment at most stands on the rest of the line from `at` on.
    pub(super) fn line_is_over(&self, at: usize) -> bool {
        let code_end = self.comment_behind(at).map_or(self.lines().end(at), |comment| comment.start);
        self.slice(at..code_end).trim().is_empty()
    }

    /// Where the comment lines directly above the line of `at` begin: those in the same column, without a blank line
    /// in between. Without any, the start of the line itself.
    pub(super) fn with_comments_above(&self, at: usize) -> usize {
        let lines = self.lines();
        let blanks = lines.before(at);
        let mut start = lines.start(at);
        while let Some(end) = lines.end_before(start) {
            let above = lines.start(end);
            let comment = self.tree.comment_in(above..end).filter(|comment| lines.before(comment.start) == blanks);
            if comment.is_none() {
                break;
            }
            start = above;
        }
        start
    }

    /// The comments of an entry or item of a block collection: the lines directly above it, where it begins a line, and
    /// what stands behind it on the line that writes its value, with the blanks before it.
    pub fn comments_of(&self, path: &[String]) -> (&str, &str) {
        let Ok(Way::Clear(Spot { home: Some(home), index, there: Some((node, place)), .. })) = walk(self, path) else {
            return ("", "");
        };
        let child = self.child(home.node, index).filter(|_| !self.node(home.node).is_flow());
        let Some(child) = child else { return ("", "") };
        let lines = self.lines();
        let above = if lines.begins(child.start) {
            self.slice(self.with_comments_above(child.start)..lines.start(child.start))
        } else {
            ""
        };
        let begins_below =
            |at: &usize| !self.node(node).is_block_collection() || lines.end(*at) < self.span(node).start;
        let behind = line_of(self, node, place).filter(begins_below).and_then(|at| self.comment_behind(at));
        (above, behind.map_or("", |comment| self.slice(comment)))
    }

    /// The next byte from `at` on that is neither white space nor in a comment.
    pub(super) fn skip_trivia(&self, mut at: usize) -> usize {
        while let Some(byte) = self.byte(at) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => at += 1,
                b'#' => at = self.lines().end(at),
                _ => break,
            }
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_directly_above_are_found() {
        let text = "a: |\n  # text\n# far\n\n# one\n# two\nb: 1 # behind\n  # other\nc: 2\n";
        let source = Source::read(text).unwrap();
        let at = |what: &str| text.find(what).unwrap();
        assert_eq!(source.with_comments_above(at("b:")), at("# one"));
        assert_eq!(source.with_comments_above(at("c:")), at("c:"));
        assert_eq!(source.comment_behind(at("b:")), Some(at(" # behind")..at("\n  # other")));
        assert!(source.line_is_over(at(" # behind")) && !source.line_is_over(at("1 #")));
    }
}
