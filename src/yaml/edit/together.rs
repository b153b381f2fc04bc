//! Several changes of one document at once: each planned on the text as it is, all of them written together, and the
//! result read once.
//!
//! Changes are taken together as long as none of them can mind another: no place lies in another's, items of a list that
//! come or go are no neighbours of what else is changed, and nothing is shared. What comes out is held against the value that the changes give one after the other; where it
//! differs, fewer are taken together, down to one, which `edit` makes on its own.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::attempt::Attempt;
use super::moved::{Moved, beside};
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
    /// How the source lays out its collections, those aside that they take out.
    habit: habit::Habit,
    /// Places of the source: those that are changed, those that these lie in, and those that comments lie in.
    changed: HashSet<String>,
    around: HashSet<String>,
    commented: HashSet<String>,
    /// The lists of the source whose items move.
    moved: HashMap<String, Moved>,
}

/// Where a change is in the source.
struct Target {
    path: Vec<String>,
    /// Its pointer, and those of what it lies in.
    here: String,
    parents: Vec<String>,
    /// Which item of the list around it comes or goes there.
    item: Option<usize>,
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
            habit: habit::Habit::of(source),
            changed: HashSet::new(),
            around: HashSet::new(),
            commented: HashSet::new(),
            moved: HashMap::new(),
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
        let target = self.target(change)?;
        let there = self.source.value.pointer(&target.here);
        let here = &Change { path: &target.path, ..*change };
        let Way::Clear(spot) = walk(self.source, here.path).ok()? else { return None };
        self.lays_out_alike(change, &spot)?;
        let comment = match comment_of(change) {
            Some(comment) if stays_on_its_line(there, change) => Some(comment),
            Some(_) => return None,
            None => None,
        };
        if !is_there_already(self.source, here, &spot) {
            let edits = Attempt::of(here, &spot).into_iter().find_map(|way| way.edits(self.source, here, &spot))?;
            outcome::make(&mut self.expected, change).ok()?;
            self.edits.extend(edits);
        }
        if let Some(comment) = comment {
            self.edits.extend(comment::plan(self.source, here.path, comment).ok()?.1);
            self.comments.push((change.path, comment));
            self.commented.extend(target.parents.iter().cloned());
        }
        self.note(change, target);
        Some(())
    }

    /// Where a change is in the source, if no other change is about that place, nor about one beside it where items move.
    fn target(&self, change: &Change<'_>) -> Option<Target> {
        let (last, parents) = change.path.split_last()?;
        let mut path: Vec<String> = Vec::with_capacity(change.path.len());
        let mut pointers = vec![String::new()];
        let mut pointer_on = |token: String, path: &mut Vec<String>| {
            let parent = pointers.last().map_or("", String::as_str);
            pointers.push(format!("{parent}{}", pointer(std::slice::from_ref(&token))));
            path.push(token);
        };
        for token in parents {
            let item = match self.moved.get(&pointer(&path)) {
                None => token.clone(),
                Some(moved) => moved.item(outcome::index(token)?)?.to_string(),
            };
            pointer_on(item, &mut path);
        }
        let parent = pointer(&path);
        let length = self.source.value.pointer(&parent)?.as_array().map(Vec::len);
        let moved = self.moved.get(&parent);
        let comes = matches!(change.action, Action::Add(_)) && length.is_some();
        let at = match moved {
            None => last.clone(),
            Some(moved) if comes => moved.gap(outcome::index(last)?)?.to_string(),
            Some(moved) => moved.item(outcome::index(last)?)?.to_string(),
        };
        let at_index = outcome::index(&at);
        pointer_on(at, &mut path);
        let here = pointers.pop()?;
        let moves_others = match change.action {
            Action::Add(_) => comes && (moved.is_some() || at_index < length),
            Action::Replace(_) => false,
            Action::Remove => length.is_some(),
        };
        let item = if moves_others { Some(at_index?) } else { None };
        let is_changed = |place: &String| self.changed.contains(place) || self.around.contains(place);
        let mut places = item.into_iter().flat_map(beside).map(|item| format!("{parent}/{item}"));
        let minds = is_changed(&here)
            || places.any(|place| is_changed(&place))
            || pointers.iter().any(|parent| self.changed.contains(parent))
            || (item.is_some() && (self.commented.contains(&parent) || self.changed.contains(&format!("{parent}/-"))));
        (!minds).then_some(Target { path, here, parents: pointers, item })
    }

    /// Notes what a change is about.
    fn note(&mut self, change: &Change<'_>, target: Target) {
        let Target { here, parents, item, .. } = target;
        match (item, parents.last(), change.path.last().and_then(|last| outcome::index(last))) {
            (Some(item), Some(list), Some(at)) => {
                let length = self.source.value.pointer(list).and_then(Value::as_array).map_or(0, Vec::len);
                let brought = || {
                    (length..=length + self.changed.len())
                        .take_while(|at| self.changed.contains(&format!("{list}/{at}")))
                        .count()
                };
                let moved = match self.moved.entry(list.clone()) {
                    Entry::Occupied(moved) => moved.into_mut(),
                    Entry::Vacant(free) => free.insert(Moved::new(length, brought())),
                };
                match change.action {
                    Action::Add(_) => moved.came(at, item),
                    Action::Replace(_) | Action::Remove => moved.went(at, item),
                }
            }
            _ => drop(self.changed.insert(here)),
        }
        self.around.extend(parents);
    }

    /// New collections are laid out as the first ones of the document: whether those stay. A collection that another comes for
    /// may be one of them.
    fn lays_out_alike(&mut self, change: &Change<'_>, spot: &Spot) -> Option<()> {
        let Some((node, _)) = spot.there else { return Some(()) };
        let is_collection = !matches!(self.source.node(node).kind, Kind::Scalar { .. });
        match change.action {
            Action::Add(_) if spot.home.is_some_and(|home| is_list(self.source, home.node)) => Some(()),
            Action::Remove if is_collection => self.habit.stays_without(self.source, node).then_some(()),
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

    /// A list in a block and one in brackets, with comments and blank lines between the items of the former.
    const LISTS: &str = "k:\n  # of a\n  l:\n  - a\n  - b: 1 # b\n    c: 2\n\n  # of c\n  - c\n  - - d\n    - e\n  - f: {}\n\n  - g\n  # of h\n  - h: |\n      t\n  - i\n  # end\nf: [a, {b: 1}, c, d, [e], f, g, h]\n";

    #[test]
    fn items_that_come_and_go_here_and_there_need_one_reading() {
        let value = json!("new");
        let new = New { value: &value, spelled: None, comment: None };
        for list in ["/k/l", "/f"] {
            // By the indices that each leaves to the next: items 0, 2 and 5 of the source go, two come before item 7.
            let paths = ["0", "1", "3", "4", "5"].map(|at| path(&format!("{list}/{at}")));
            let action = |at| if at < 3 { Action::Remove } else { Action::Add(new) };
            let changes = paths.iter().enumerate().map(|(at, path)| Change { action: action(at), path });
            let changes: Vec<Change<'_>> = changes.collect();
            let source = Source::read(LISTS).unwrap();
            let (count, after) = Together::new(&source, &changes).unwrap().made().unwrap();
            assert_eq!(count, changes.len(), "{list}");
            assert_eq!(Ok(after.text.as_ref()), one_by_one(LISTS, &changes).as_deref());
        }
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
        fn items_come_and_go_together_as_one_after_the_other(
            picked in prop::collection::vec((0usize..4, prop::bool::weighted(0.7), 0usize..10, 0usize..6), 1..12),
        ) {
            let values = [json!("v"), json!(2), json!({"m": [1]}), json!([]), json!("two\nlines\n"), json!(null)];
            let place = |(_, in_block, at, _): &(usize, bool, usize, usize)| {
                path(&format!("{}/{at}", if *in_block { "/k/l" } else { "/f" }))
            };
            let inner = |mut path: Vec<String>| {
                path.push("b".to_owned());
                path
            };
            let paths: Vec<Vec<String>> =
                picked.iter().map(|one| if one.0 == 3 { inner(place(one)) } else { place(one) }).collect();
            let changes: Vec<Change<'_>> = picked
                .iter()
                .zip(&paths)
                .map(|((action, _, _, value), path)| {
                    let comment = (*value == 1 && *action == 2).then_some("why");
                    let new = New { value: &values[*value], spelled: None, comment };
                    let action = [Action::Remove, Action::Add(new), Action::Replace(new), Action::Add(new)][*action];
                    Change { action, path }
                })
                .collect();
            // Those that fit: one that does not would end all.
            let mut fitting: Vec<Change<'_>> = Vec::new();
            for change in changes {
                fitting.push(change);
                if one_by_one(LISTS, &fitting).is_err() {
                    fitting.pop();
                }
            }
            prop_assert_eq!(all(LISTS, &fitting), one_by_one(LISTS, &fitting));
        }

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
