//! Several changes of one document at once: each planned on the text as it is, all of them written together, and the
//! result read once.
//!
//! Changes are taken together as long as none of them can mind another: no place lies in another's, no index moves, and
//! nothing is shared. What comes out is held against the value that the changes give one after the other; where it
//! differs, fewer are taken together, down to one, which `edit` makes on its own.

use std::collections::HashSet;

use serde_json::Value;

use super::attempt::Attempt;
use super::place::{Spot, Way, walk};
use super::source::Source;
use super::{EditError, Edited, comment, habit, outcome};
use crate::change::{Action, Change, New, TextEdit, apply_edits, pointer};
use crate::yaml::load;
use crate::yaml::tree::{Kind, NodeId};

/// A change that was not made: its number, and why.
pub type Failed = (usize, EditError);

impl Source<'_> {
    /// Makes changes one after the other, and reads as seldom as it can. `None` where the document is that way already.
    ///
    /// # Errors
    /// As for [`super::edit`], with the number of the change. No change is made then.
    pub fn edited_by_all(&self, changes: &[Change<'_>]) -> Result<Option<Source<'static>>, Failed> {
        let mut now: Option<Source<'static>> = None;
        let mut made = 0;
        let mut wanted = changes.len();
        while let Some(next) = changes.get(made) {
            let source = now.as_ref().unwrap_or(self);
            let rest = changes.get(made..made + wanted).unwrap_or(&[]);
            if let Some((count, after)) = Together::new(source, rest).and_then(Together::made) {
                now = Some(after);
                made += count;
                wanted *= 2;
            } else if wanted > 1 {
                wanted /= 2;
            } else {
                let edited = source.edited(next).map_err(|error| (made, error))?;
                now = edited.map(|Edited { after, .. }| after).or(now);
                made += 1;
                wanted = 2;
            }
            wanted = wanted.min(changes.len() - made);
        }
        Ok(now)
    }
}

/// Changes that are made together.
struct Together<'s, 't, 'c> {
    source: &'s Source<'t>,
    /// The value after them.
    expected: Value,
    edits: Vec<TextEdit>,
    count: usize,
    /// The comments that they set, and where.
    comments: Vec<(&'c [String], &'c str)>,
    /// The collections that they take out.
    gone: Vec<NodeId>,
    /// The places that are changed, lists whose items move among them, and the places that these lie in.
    changed: HashSet<String>,
    around: HashSet<String>,
}

impl<'s, 't, 'c> Together<'s, 't, 'c> {
    /// As many of the changes, from the first on, as do not mind one another; at least two, or one that costs two readings
    /// on its own.
    fn new(source: &'s Source<'t>, changes: &'c [Change<'c>]) -> Option<Self> {
        let has_comment = |change: &Change<'_>| comment_of(change).is_some();
        if (changes.len() < 2 && !changes.iter().any(has_comment)) || is_shared(source) {
            return None;
        }
        let mut together = Together {
            source,
            expected: source.value.clone(),
            edits: Vec::new(),
            count: 0,
            comments: Vec::new(),
            gone: Vec::new(),
            changed: HashSet::new(),
            around: HashSet::new(),
        };
        for change in changes {
            if together.take(change).is_none() {
                break;
            }
            together.count += 1;
        }
        (together.count > 1 || !together.comments.is_empty()).then_some(together)
    }

    /// Plans one more change; `None` where it has to wait for those before it.
    fn take(&mut self, change: &'c Change<'c>) -> Option<()> {
        let there = self.source.value.pointer(&pointer(change.path));
        let (here, parents) = self.place(change, there)?;
        let Way::Clear(spot) = walk(self.source, change.path).ok()? else { return None };
        self.lays_out_alike(change, &spot)?;
        let comment = match comment_of(change) {
            Some(comment) if stays_on_its_line(there, change) => Some(comment),
            Some(_) => return None,
            None => None,
        };
        if !is_there_already(self.source, change, &spot) {
            let edits = Attempt::of(change, &spot).into_iter().find_map(|way| way.edits(self.source, change, &spot))?;
            outcome::make(&mut self.expected, change).ok()?;
            self.edits.extend(edits);
        }
        if let Some(comment) = comment {
            self.edits.extend(comment::plan(self.source, change.path, comment).ok()?.1);
            self.comments.push((change.path, comment));
        }
        self.changed.insert(here);
        self.around.extend(parents);
        Some(())
    }

    /// The pointers of a place and of what it lies in, if no other change is about them. Where the items of a list move, the
    /// place is the list.
    fn place(&self, change: &Change<'_>, there: Option<&Value>) -> Option<(String, Vec<String>)> {
        let (_, parent) = change.path.split_last()?;
        let in_list = self.source.value.pointer(&pointer(parent))?.is_array();
        let moves_others = match change.action {
            Action::Add(_) => in_list && there.is_some(),
            Action::Replace(_) => false,
            Action::Remove => in_list,
        };
        let path = if moves_others { parent } else { change.path };
        let parents: Vec<String> = (0..path.len()).filter_map(|n| path.get(..n)).map(pointer).collect();
        let here = pointer(path);
        let minds = self.changed.contains(&here)
            || self.around.contains(&here)
            || parents.iter().any(|parent| self.changed.contains(parent));
        (!minds).then_some((here, parents))
    }

    /// New collections are laid out as the first ones of the document: whether those stay. A collection that another comes for
    /// may be one of them.
    fn lays_out_alike(&mut self, change: &Change<'_>, spot: &Spot) -> Option<()> {
        let Some((node, _)) = spot.there else { return Some(()) };
        let is_collection = !matches!(self.source.node(node).kind, Kind::Scalar { .. });
        match change.action {
            Action::Add(_) if spot.home.is_some_and(|home| is_list(self.source, home.node)) => Some(()),
            Action::Remove if is_collection => {
                self.gone.push(node);
                (habit::layout_without(self.source, &self.gone) == habit::layout(self.source)).then_some(())
            }
            _ => (!is_collection).then_some(()),
        }
    }

    /// The document with the changes made, and how many they are; `None` where it would not say what they ask for.
    fn made(mut self) -> Option<(usize, Source<'static>)> {
        self.edits.sort_by_key(|edit| edit.range.start);
        let apart = self.edits.windows(2).all(|pair| match pair {
            [one, other] => one.range.end <= other.range.start,
            _ => true,
        });
        if !apart {
            return None;
        }
        let after = Source::read(apply_edits(&self.source.text, &self.edits)).ok()?;
        // What was made before may be the first now, and the rest be laid out like it.
        let alike = habit::layout(self.source) == habit::layout(&after);
        let commented = self.comments.iter().all(|(path, comment)| comment::stands(&after, path, comment));
        (alike && commented && after.value == self.expected).then_some((self.count, after))
    }
}

fn comment_of<'c>(change: &Change<'c>) -> Option<&'c str> {
    match change.action {
        Action::Add(new) | Action::Replace(new) => new.comment,
        Action::Remove => None,
    }
}

/// Whether a value comes for another as a part of one line, so that the comment behind it can be set on the text as it is.
fn stays_on_its_line(there: Option<&Value>, change: &Change<'_>) -> bool {
    let is_word = |value: &Value| match value {
        Value::Array(_) | Value::Object(_) => false,
        Value::String(text) => !text.contains('\n'),
        _ => true,
    };
    match change.action {
        Action::Replace(New { value, .. }) => there.is_some_and(is_word) && is_word(value),
        Action::Add(_) | Action::Remove => false,
    }
}

/// Whether what a change writes is what stands there. An item that is added to a list comes besides.
fn is_there_already(source: &Source<'_>, change: &Change<'_>, spot: &Spot) -> bool {
    match change.action {
        Action::Add(_) if spot.home.is_some_and(|home| is_list(source, home.node)) => false,
        Action::Add(new) | Action::Replace(new) => source.value.pointer(&pointer(change.path)) == Some(new.value),
        Action::Remove => false,
    }
}

fn is_list(source: &Source<'_>, node: NodeId) -> bool {
    matches!(source.node(node).kind, Kind::Sequence { .. })
}

/// Whether places of the document are shared: by aliases, by merges, or by a key that stands twice.
fn is_shared(source: &Source<'_>) -> bool {
    let shares = |kind: &Kind| match kind {
        Kind::Alias { .. } => true,
        Kind::Mapping { entries, .. } => entries.iter().any(|entry| load::is_merge(source.node(entry.key))),
        _ => false,
    };
    source.has_doubled_keys || source.tree.nodes().any(|(_, node)| shares(&node.kind))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const TEXT: &str =
        "a: 1 # one\nb:\n  c: x\n  # of d\n  d: 'y'\nl:\n- p\n- q: 1\n  r: {}\nf: {g: 1, h: [2, 3]}\nt: |\n  text\n";

    fn one_by_one(text: &str, changes: &[Change<'_>]) -> Result<String, usize> {
        changes.iter().enumerate().try_fold(text.to_owned(), |text, (at, change)| {
            super::super::edit(&text, change).map(|edits| apply_edits(&text, &edits)).map_err(|_| at)
        })
    }

    fn all(text: &str, changes: &[Change<'_>]) -> Result<String, usize> {
        let source = Source::read(text).unwrap();
        match source.edited_by_all(changes) {
            Ok(after) => Ok(after.map_or(text.to_owned(), |after| after.text.into_owned())),
            Err((at, _)) => Err(at),
        }
    }

    fn path(pointer: &str) -> Vec<String> {
        pointer.split('/').skip(1).map(str::to_owned).collect()
    }

    #[test]
    fn changes_of_different_places_are_made_with_one_reading() {
        let value = json!("new");
        let new = New { value: &value, spelled: None, comment: None };
        let paths = ["/a", "/b/d", "/b/new", "/b/other", "/l/1/q", "/f/g", "/f/i", "/l/2", "/l/3"].map(path);
        let changes: Vec<Change<'_>> = paths
            .iter()
            .map(|path| Change { action: if path.len() == 1 { Action::Replace(new) } else { Action::Add(new) }, path })
            .collect();
        let source = Source::read(TEXT).unwrap();
        let (count, after) = Together::new(&source, &changes).unwrap().made().unwrap();
        assert_eq!(count, changes.len());
        assert_eq!(Ok(after.text.as_ref()), one_by_one(TEXT, &changes).as_deref());
    }

    #[test]
    fn comments_and_lists_whose_items_move_need_no_reading_of_their_own() {
        let (value, comment) = (json!("new"), Some("why"));
        let new = New { value: &value, spelled: None, comment: None };
        let paths = ["/a", "/b/d", "/l/1", "/f/h/0"].map(path);
        let changes = [
            Change { action: Action::Replace(New { comment, ..new }), path: &paths[0] },
            Change { action: Action::Replace(New { comment, ..new }), path: &paths[1] },
            Change { action: Action::Add(new), path: &paths[2] },
            Change { action: Action::Remove, path: &paths[3] },
        ];
        let source = Source::read(TEXT).unwrap();
        let (count, after) = Together::new(&source, &changes).unwrap().made().unwrap();
        assert_eq!(count, changes.len());
        assert_eq!(Ok(after.text.as_ref()), one_by_one(TEXT, &changes).as_deref());
        assert!(
            after.text.starts_with("a: new # why\nb:\n  c: x\n  # of d\n  d: 'new' # why\nl:\n- p\n- new\n- q: 1\n")
        );
    }

    #[test]
    fn a_change_that_fails_is_named() {
        let value = json!(1);
        let new = New { value: &value, spelled: None, comment: None };
        let paths = ["/a", "/b/c", "/gone/x", "/b/d"].map(path);
        let changes: Vec<Change<'_>> = paths.iter().map(|path| Change { action: Action::Replace(new), path }).collect();
        assert_eq!(all(TEXT, &changes), Err(2));
    }

    #[test]
    fn what_is_laid_out_like_a_collection_that_goes_is_written_as_it_would_be_without_it() {
        let (none, list) = (json!([]), json!({"m": [1]}));
        let new = |value| New { value, spelled: None, comment: None };
        let (l, t) = (path("/l"), path("/t"));
        let changes = [
            Change { action: Action::Replace(new(&none)), path: &l },
            Change { action: Action::Replace(new(&list)), path: &t },
        ];
        assert_eq!(all(TEXT, &changes), one_by_one(TEXT, &changes));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn together_is_one_after_the_other(
            picked in prop::collection::vec((0usize..3, 0usize..20, 0usize..6), 1..9),
            shared in 0usize..4,
        ) {
            let text = match shared {
                0 => format!("{TEXT}s: &s {{u: 1}}\nw: *s\n"),
                1 => format!("{TEXT}a: 2\n"),
                _ => TEXT.to_owned(),
            };
            let places = [
                "/a", "/b", "/b/c", "/b/d", "/b/e", "/b/f", "/l", "/l/0", "/l/1", "/l/1/q", "/l/1/r/x", "/l/2", "/f/g",
                "/f/h/1", "/f/k", "/t", "/n", "/s/u", "/l/-", "/f/h/0",
            ];
            let values = [json!("v"), json!(2), json!({"m": [1]}), json!([]), json!("two\nlines\n"), json!(null)];
            let paths: Vec<Vec<String>> = picked.iter().map(|(_, place, _)| path(places[*place])).collect();
            let changes: Vec<Change<'_>> = picked
                .iter()
                .zip(&paths)
                .map(|((action, _, value), path)| {
                    let new = New { value: &values[*value], spelled: None, comment: (*value < 2).then_some("why") };
                    let action = [Action::Add(new), Action::Replace(new), Action::Remove][*action];
                    Change { action, path }
                })
                .collect();
            prop_assert_eq!(all(&text, &changes), one_by_one(&text, &changes));
        }
    }
}
