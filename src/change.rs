//! One change of one document, in the words of RFC 6902: what the editors of YAML, JSON and TOML texts all take.
//!
//! A change here is plain: its path holds mapping keys and indices only, its value is known, and everything that can
//! be said against it on the value has been said (`patch::lower`). An editor turns it into edits of byte ranges.

use std::ops::Range;

use serde_json::Value;

use crate::yaml::spell::Layout;
use crate::yaml::tree::{NodeId, Tree};

/// A plain change.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// What is done.
    pub action: Action<'a>,
    /// Where: the unescaped segments of an RFC 6901 pointer. For [`Action::Add`] the last may be `-` or the length
    /// of the list, which append.
    pub path: &'a [String],
}

/// What a change does at its path.
#[derive(Clone, Copy, Debug)]
pub enum Action<'a> {
    /// Insert into a list before that index, or set a new mapping key.
    Add(New<'a>),
    /// Put another value in the place of one that is there. At the empty path, the whole document.
    Replace(New<'a>),
    /// Take out what is there.
    Remove,
}

/// A value to write.
#[derive(Clone, Copy, Debug)]
pub struct New<'a> {
    /// What it means.
    pub value: &'a Value,
    /// How the person who asks for it spelled it, to be kept as far as the place allows.
    pub spelled: Option<Spelled<'a>>,
    /// The trailing comment of the line that is written, without `#`; empty to take away the one that is there,
    /// `None` to leave it.
    pub comment: Option<&'a str>,
}

/// A node of another YAML text, as a model for how to spell a value.
#[derive(Clone, Copy, Debug)]
pub struct Spelled<'a> {
    /// The text that the tree was read from.
    pub text: &'a str,
    /// Its tree.
    pub tree: &'a Tree,
    /// The node that spells the value.
    pub node: NodeId,
    /// Set where the node is of the text that is changed, and a `move` or `copy` takes it.
    pub taken: Option<Taken<'a>>,
}

/// What is known of a node that a `move` or `copy` takes.
#[derive(Clone, Copy, Debug)]
pub struct Taken<'a> {
    /// The comment lines directly above it, which go along with a `move`.
    pub above: &'a str,
    /// The comment behind it, with the blanks before it, which goes along too.
    pub behind: &'a str,
    /// How the text laid its collections out before it was taken.
    pub layout: Layout,
    /// Whether it says the very value that is written: changes before may have made it another.
    pub is_same: bool,
}

/// An edit of a text: the bytes of `range` give way to `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// The bytes that go.
    pub range: Range<usize>,
    /// What stands there instead.
    pub text: String,
}

/// A plain path as a JSON Pointer (RFC 6901).
pub fn pointer(path: &[String]) -> String {
    let mut pointer = String::with_capacity(path.iter().map(|segment| segment.len() + 1).sum());
    for segment in path {
        pointer.push('/');
        for c in segment.chars() {
            match c {
                '~' => pointer.push_str("~0"),
                '/' => pointer.push_str("~1"),
                c => pointer.push(c),
            }
        }
    }
    pointer
}

/// The text with the edits made. They must be in order and must not overlap.
///
/// # Panics
/// When a range does not lie on character boundaries of the text, in order: a mistake of the editor.
pub fn apply_edits(text: &str, edits: &[TextEdit]) -> String {
    let mut out = String::with_capacity(text.len() + edits.iter().map(|e| e.text.len()).sum::<usize>());
    let mut at = 0;
    for edit in edits {
        out.push_str(&text[at..edit.range.start]);
        out.push_str(&edit.text);
        at = edit.range.end;
    }
    out.push_str(&text[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_escaped() {
        assert_eq!(pointer(&[]), "");
        assert_eq!(pointer(&["a/b".into(), "m~n".into(), "0".into()]), "/a~1b/m~0n/0");
    }

    #[test]
    fn edits_leave_the_rest_alone() {
        let edits = [TextEdit { range: 0..1, text: "x".into() }, TextEdit { range: 3..3, text: "--".into() }];
        assert_eq!(apply_edits("abcd", &edits), "xbc--d");
        assert_eq!(apply_edits("abcd", &[]), "abcd");
    }
}
