//! Lossless edits of a document: the bytes that a change is about give way, and no other byte is touched.
//!
//! [`edit`] takes the text of one document and one plain change, and gives the edits of the text that make the change,
//! as a careful person with an editor would make them. [`edit_embedded`] does the same for edits of a text that a
//! scalar holds. Both read what they wrote again, and give nothing that does not mean what the change must give; where
//! the closest spelling does not, they try the next. Neither knows where a change comes from.
//!
//! # Rules
//!
//! - A scalar for a scalar keeps its style (bare, quoted, block) where the value allows it, and the comment behind it.
//!   Anything else is spelled as it was spelled by who asks for it, re-indented, then in the styles of that spelling,
//!   then from the value. A collection that nobody spelled takes the styles of the one that it replaces. The anchor of what is replaced stays; its tag goes.
//! - A new key goes behind the last one, a new item before the comments directly above the item that it goes before.
//!   The comments that stood directly above what is moved, or behind it, come with it into a block; for them an empty
//!   collection turns into one.
//! - Removing takes the lines of the entry or item and the comment lines directly above it. What is left empty becomes
//!   `{}` or `[]`. More goes only where a block scalar next to it would take blank or comment lines in.
//! - A flow collection stays one. An empty one grows on its line (`{a: 1}`) as long as what it gets is one line;
//!   where that is a block collection or a block scalar, the empty one turns into a block collection.
//! - Of a doubled key the last entry counts, and is edited. Removing the key removes every entry of it. A key that stands
//!   there as keys of several types (`yes` and `"true"`) can only be removed: any of them may count.
//! - What is edited below an alias is written out there. Aliases of what is edited are written out with the value that
//!   they had. A change of a merged key adds an entry that overrides it; removing one is refused.
//!
//! # Limitations
//!
//! Comments that stand within a value go with it when it is replaced. A collection as a mapping key cannot be
//! addressed. In flow style a new value is written on one line.

mod attempt;
mod comment;
mod compose;
mod embedded;
mod error;
mod habit;
mod insert;
mod lines;
mod moved;
mod outcome;
mod place;
mod remove;
mod replace;
mod sharing;
mod source;
mod together;
mod written;

use serde_json::Value;

pub use embedded::edit_embedded;
pub use error::EditError;
pub use source::Source;
pub use together::Failed;

use self::attempt::Attempt;
use self::compose::{compose, trimmed};
use self::place::{Spot, Way};
use self::sharing::{COPIES, Step};
use self::written::Manner;
use crate::change::{Action, Change, New, TextEdit, apply_edits};

/// How many aliases, merges and doubled keys on the way to one place are put out of it, one after the other.
const MAX_STEPS: usize = 64;

/// The edits of a document's text that make a change, in order. They change its value to what RFC 6902 says, and
/// nothing else; setting what is there already needs none.
///
/// # Errors
/// When the change does not fit the document or cannot be written into it ([`EditError`]).
pub fn edit(text: &str, change: &Change<'_>) -> Result<Vec<TextEdit>, EditError> {
    let source = Source::read(text).map_err(EditError::Unreadable)?;
    Ok(source.edited(change)?.map(|edited| edited.edits).unwrap_or_default())
}

/// What became of a document.
#[derive(Debug)]
pub struct Edited {
    /// The edits of its text.
    pub edits: Vec<TextEdit>,
    /// The document with the edits made, read again.
    pub after: Source<'static>,
}

impl Source<'_> {
    /// Makes a change, as [`edit`] does, for who makes several in a row: each result is read once. `None` where the
    /// document is that way already.
    ///
    /// # Errors
    /// As for [`edit`].
    pub fn edited(&self, change: &Change<'_>) -> Result<Option<Edited>, EditError> {
        let expected =
            outcome::outcome(&self.value, change).map_err(|reason| no_such_place(self, change.path, reason))?;
        sharing::refuse_torn(self, change)?;
        let edited = if expected == self.value { None } else { Some(changed(self, change, &expected)?) };
        let edited = edited.map(|e| Edited { edits: trimmed(&self.text, &e.edits), ..e });
        match change.action {
            Action::Add(New { comment: Some(comment), .. }) | Action::Replace(New { comment: Some(comment), .. }) => {
                let path = written_path(&self.value, change);
                let Some(before) = edited else { return comment::set(self, &path, comment) };
                let Some(after) = comment::set(&before.after, &path, comment)? else { return Ok(Some(before)) };
                Ok(Some(Edited { edits: compose(self.text.len(), &before.edits, &after.edits), ..after }))
            }
            _ => Ok(edited),
        }
    }
}

/// Nothing is at a path: with the innermost node that is on the way there.
fn no_such_place(source: &Source<'_>, path: &[String], reason: &'static str) -> EditError {
    let innermost = match place::walk(source, path) {
        Ok(Way::Clear(spot)) => spot.there.map(|(node, _)| node).or(spot.around.last().copied()),
        Ok(Way::Alias(node, _) | Way::Merge { source: node, .. }) => Some(node),
        Err(node) => node,
    };
    let offset = innermost.map_or(0, |node| source.full(node).start);
    EditError::NoSuchPlace { pointer: pointer(path), reason, offset }
}

/// The path as it is after the change: with an index in the place of a `-`.
fn written_path(before: &Value, change: &Change<'_>) -> Vec<String> {
    let mut path = change.path.to_vec();
    if let Some((last, parents)) = path.split_last_mut()
        && let Some(Value::Array(items)) = before.pointer(&pointer(parents))
        && last == "-"
    {
        *last = items.len().to_string();
    }
    path
}

/// A path as a JSON Pointer.
fn pointer(path: &[String]) -> String {
    path.iter().flat_map(|token| ["/".to_owned(), token.replace('~', "~0").replace('/', "~1")]).collect()
}

/// The first edits that read back as the value that the change must give.
fn changed(source: &Source<'_>, change: &Change<'_>, expected: &Value) -> Result<Edited, EditError> {
    let mut offset = 0;
    for copies in COPIES {
        let (before, own, spot) = match unshared(source, change, copies) {
            Err(EditError::Unwritable { offset: at }) => {
                offset = at;
                continue;
            }
            result => result?,
        };
        let own = own.as_ref().unwrap_or(source);
        offset = spot.there.map_or(0, |(node, _)| own.full(node).start.min(source.text.len()));
        let mut tried: Vec<Vec<TextEdit>> = Vec::new();
        for attempt in Attempt::of(change, &spot) {
            let Some(edits) = attempt.edits(own, change, &spot).filter(|edits| !tried.contains(edits)) else {
                continue;
            };
            match Source::read(apply_edits(&own.text, &edits)) {
                Ok(after) if after.value == *expected => {
                    return Ok(Edited { edits: compose(source.text.len(), &before, &edits), after });
                }
                _ => tried.push(edits),
            }
        }
        if before.is_empty() {
            break;
        }
    }
    Err(EditError::Unwritable { offset })
}

/// The document with the place of the change shared with no other: the edits that lead there, what they lead to (if
/// any are needed), and the place.
fn unshared(
    source: &Source<'_>,
    change: &Change<'_>,
    copies: Manner,
) -> Result<(Vec<TextEdit>, Option<Source<'static>>, Spot), EditError> {
    let layout = habit::layout(source);
    let mut edits = Vec::new();
    let mut own: Option<Source<'static>> = None;
    for _ in 0..MAX_STEPS {
        let at = own.as_ref().unwrap_or(source);
        match sharing::step(at, change, layout, copies)? {
            Step::Done(spot) => return Ok((edits, own, spot)),
            Step::Edits(next) => {
                let after = apply_edits(&at.text, &next);
                edits = compose(source.text.len(), &edits, &next);
                let offset = next.first().map_or(0, |edit| edit.range.start.min(source.text.len()));
                own = Some(Source::read(after).map_err(|_| EditError::Unwritable { offset })?);
            }
        }
    }
    Err(EditError::Unwritable { offset: 0 })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_comment_is_one_line_that_shows() {
        let set = |comment: &str| {
            let new = New { value: &json!(2), spelled: None, comment: Some(comment) };
            edit("a: 1\n", &Change { action: Action::Replace(new), path: &path("/a") })
        };
        let refused = |reason| Err(EditError::Comment { reason, offset: 4 });
        assert_eq!(set("one\ntwo"), refused("it is more than one line of text"));
        for comment in ["hi\u{1b}[31m", "hi \u{202e}", "\u{200b}hi"] {
            assert_eq!(set(comment), refused("it holds a character that acts instead of showing"));
        }
        assert_eq!(apply_edits("a: 1\n", &set("one\ttwo").unwrap()), "a: 2 # one\ttwo\n");
    }

    #[test]
    fn a_key_of_several_types_is_not_edited_but_removed() {
        let text = "data:\n  yes: {a: 1}\n  \"true\": {a: 2}\n  b: 1\n";
        let torn = Err(EditError::Torn { key: "true".into(), offset: 22 });
        assert_eq!(replaced(text, "/data/true", &json!("x")), torn);
        assert_eq!(replaced(text, "/data/true/a", &json!("x")), torn);
        assert_eq!(replaced(text, "/data/b", &json!(2)), Ok(text.replace("b: 1", "b: 2")));
        let edits = edit(text, &Change { action: Action::Remove, path: &path("/data/true") }).unwrap();
        assert_eq!(apply_edits(text, &edits), "data:\n  b: 1\n");
    }

    fn path(pointer: &str) -> Vec<String> {
        pointer.split('/').skip(1).map(str::to_owned).collect()
    }

    fn replaced(text: &str, pointer: &str, value: &Value) -> Result<String, EditError> {
        let new = New { value, spelled: None, comment: None };
        let edits = edit(text, &Change { action: Action::Replace(new), path: &path(pointer) })?;
        Ok(apply_edits(text, &edits))
    }

    #[test]
    fn errors_have_the_place_of_their_reason() {
        for (text, pointer, offset) in [
            ("a: [", "/a", 3),
            ("a:\n  b: 1\n", "/a/c", 5),
            ("a:\n  b: 1\n", "/a/b/c", 8),
            ("a: &x 1\nm: {*x : 1}\n", "/a", 12),
            ("a: .inf\n", "/a", 3),
        ] {
            let error = replaced(text, pointer, &json!(7)).unwrap_err();
            assert_eq!(error.offset(), offset, "{error} in {text:?}");
        }
        let path = path("/m/a");
        let removal = Change { action: Action::Remove, path: &path };
        assert_eq!(edit("b: &b {a: 1}\nm: {<<: *b}\n", &removal).unwrap_err().offset(), 17);
    }

    #[test]
    fn a_key_too_long_for_its_line_is_added_behind_a_question_mark() {
        let long = "k".repeat(2000);
        let added = |text: &str, value: &Value| {
            let new = New { value, spelled: None, comment: None };
            let path = path(&format!("/a/{long}"));
            apply_edits(text, &edit(text, &Change { action: Action::Add(new), path: &path }).unwrap())
        };
        assert_eq!(added("a:\n  b: 1\n", &json!("v")), format!("a:\n  b: 1\n  ? {long}\n  : v\n"));
        assert_eq!(added("a:\n  b: 1\n", &json!({"c": 1})), format!("a:\n  b: 1\n  ? {long}\n  :\n    c: 1\n"));
        assert_eq!(added("a: {b: 1}\n", &json!("v")), format!("a: {{b: 1, ? {long} : v}}\n"));
        assert_eq!(added("a: {}\n", &json!("v")), format!("a: {{? {long} : v}}\n"));
        for value in [json!([1, 2]), json!("x\ny\n")] {
            added("a:\n  b: 1\n", &value);
        }
    }

    #[test]
    fn edits_are_in_order_and_as_small_as_they_can_be() {
        let new = New { value: &json!(["x", "z", "w"]), spelled: None, comment: Some("why") };
        let edits = edit("a: [x, 'z']\n", &Change { action: Action::Replace(new), path: &path("/a") }).unwrap();
        let expected =
            [TextEdit { range: 10..10, text: ", w".into() }, TextEdit { range: 11..11, text: " # why".into() }];
        assert_eq!(edits, expected);
        let literal = "a: |\n  one\n  two\n  three\n";
        let new = New { value: &json!("one\n2\nthree\n"), spelled: None, comment: None };
        let edits = edit(literal, &Change { action: Action::Replace(new), path: &path("/a") }).unwrap();
        assert_eq!(edits, [TextEdit { range: 13..16, text: "2".into() }]);
    }

    #[test]
    fn hostile_documents_are_refused_or_edited_but_never_expand_without_bound() {
        let bomb = (1..9).fold("a0: &a0 [x]\n".to_owned(), |text, n| {
            format!("{text}a{n}: &a{n} [{}]\n", format!("*a{}, ", n - 1).repeat(10))
        });
        assert!(matches!(replaced(&bomb, "/a0", &json!(1)), Err(EditError::Unreadable(_))));
        let doubled = "k: 1\n".repeat(500);
        let path = path("/k");
        assert!(edit(&doubled, &Change { action: Action::Remove, path: &path }).is_err());
        assert!(replaced(&"[".repeat(5000), "/0", &json!(1)).is_err());
        let deep = format!("a: {}1{}\n", "[".repeat(150), "]".repeat(150));
        assert!(replaced(&deep, "/a/0/0", &json!(1)).is_ok());
    }

    #[test]
    fn a_value_that_would_nest_too_deeply_is_refused() {
        let deep = (0..100).fold(json!(1), |value, _| json!([value]));
        let text = format!("a: {}1{}\n", "[".repeat(150), "]".repeat(150));
        let pointer = format!("/a{}", "/0".repeat(149));
        assert!(matches!(replaced(&text, &pointer, &deep), Err(EditError::Unwritable { .. })));
    }
}
