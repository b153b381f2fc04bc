//! What the claims did to a document of the base, place by place.
//!
//! A comparison of values pairs what looks alike: an item that goes while another comes may read as one that changed,
//! and of equal items it may take another to be gone. Here it is known which part went and which came.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::{Content, Id, Origin, Shadow};
use crate::diff::{At, Difference, Item, Path, Step, What};

/// The edits so far, and the parts that are still to be looked into.
#[derive(Default)]
struct Search {
    edits: Edits,
    /// The parts of the base that came to these places.
    moved: Vec<(Id, Path)>,
    open: Vec<(Id, Path)>,
}

impl Search {
    fn edit(&mut self, path: Path, what: What) {
        self.edits.places.push(Difference { path, within: None, what });
    }

    fn replaced(&mut self, path: Path) {
        self.edit(path, What::Replaced { before: Value::Null, after: Value::Null });
    }

    fn removed(&mut self, path: Path) {
        self.edit(path, What::Removed(Value::Null));
    }

    fn added(&mut self, path: Path) {
        self.edit(path, What::Added(Value::Null));
    }
}

/// What claims did to a document of the base.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    /// The parts that they took out or brought.
    pub places: Vec<Difference>,
    /// Those of them that are texts of the base in which they changed something, and that none of them wrote anew.
    pub entered: Vec<Path>,
    /// The parts of the base that they moved to a place of their own: where each was, and where it is now.
    pub moved: Vec<(Path, Path)>,
    /// Those of them that they brought and later took a part out of.
    pub torn: Vec<Path>,
}

/// A list item as either side counts it.
fn item(before: Option<usize>, after: Option<usize>) -> Step {
    Step::Item(Item { before, after, selector: None })
}

impl Shadow {
    /// The parts of the base that the claims took out or put others in the place of, and the parts that they brought;
    /// of what lies in each other, the outermost. Only where an edit is and of what kind is told: the values are left
    /// out. What gave way to something at another place is removed here and added there. What was brought and taken out
    /// again is an addition that neither side has. A text that claims look into is one place.
    pub(in crate::verify) fn edits(&self) -> Edits {
        self.edits_from(self.base_root, self.root)
    }

    /// The same for the text at a place of the base, by ways inside the text. None where no claim looks into it.
    pub(in crate::verify) fn edits_in_text(&self, at: &[At<'_>]) -> Edits {
        let Some(node) = self.in_base(at).node.map(|string| &self.nodes[string]) else { return Edits::default() };
        match (node.original.as_ref().unwrap_or(&node.content), &node.content) {
            (Content::Text { inner: old, .. }, Content::Text { inner: new, .. }) => self.edits_from(*old, Some(*new)),
            _ => Edits::default(),
        }
    }

    fn edits_from(&self, base: Id, root: Option<Id>) -> Edits {
        let mut search = Search::default();
        match root {
            None => search.removed(Path::default()),
            Some(root) if root != base => self.comes(root, Path::default(), &mut search, Search::replaced),
            Some(root) => search.open.push((root, Path::default())),
        }
        while let Some((id, path)) = search.open.pop() {
            let node = &self.nodes[id];
            self.passing_edit(id, &path, &mut search);
            match (node.original.as_ref().unwrap_or(&node.content), &node.content) {
                (Content::Map(old), Content::Map(new)) => self.map_edits(id, (old, new), &path, &mut search),
                (Content::List(old), Content::List(new)) => self.list_edits(id, (old, new), &path, &mut search),
                (_, Content::Text { text, .. }) if self.value_of(id).as_str() != Some(text) => {
                    search.edits.entered.push(path.clone());
                    search.replaced(path);
                }
                _ => {}
            }
        }
        search.edits.moved = self.moved(base, search.moved);
        search.edits
    }

    /// Where these parts were in the base, with where they are now.
    fn moved(&self, base: Id, parts: Vec<(Id, Path)>) -> Vec<(Path, Path)> {
        let mut parts: HashMap<Id, Path> = parts.into_iter().collect();
        let mut moved = Vec::new();
        let mut open = vec![(base, Path::default())];
        while !parts.is_empty()
            && let Some((id, path)) = open.pop()
        {
            let node = &self.nodes[id];
            match node.original.as_ref().unwrap_or(&node.content) {
                Content::Map(map) => open.extend(map.iter().map(|(key, id)| (*id, path.join(Step::Key(key.clone()))))),
                Content::List(items) => {
                    open.extend(items.iter().enumerate().map(|(at, id)| (*id, path.join(item(Some(at), None)))));
                }
                Content::Scalar(_) | Content::Text { .. } => {}
            }
            if let Some(now) = parts.remove(&id) {
                moved.push((path, now));
            }
        }
        moved
    }

    /// Something that claims brought, in the place of another or as new.
    fn comes(&self, part: Id, path: Path, search: &mut Search, told: impl Fn(&mut Search, Path)) {
        let mut is_torn = false;
        self.visit(part, &mut |shadow, id| {
            let mut touches = shadow.touched.get(&id).into_iter().flatten();
            is_torn |= touches.any(|touch| touch.removed.is_some() && touch.added.is_none());
        });
        if is_torn {
            search.edits.torn.push(path.clone());
        }
        told(search, path);
    }

    /// Something that came into a list or mapping and left it.
    fn passing_edit(&self, id: Id, path: &Path, search: &mut Search) {
        let touches = || self.touched.get(&id).into_iter().flatten();
        let came = |part: Id| touches().any(|touch| touch.added == Some(part) && touch.removed.is_none());
        let passing = touches().find(|touch| touch.added.is_none() && touch.removed.is_some_and(came));
        if let Some(touch) = passing {
            search.added(path.join(touch.key.clone().map_or_else(|| item(None, None), Step::Key)));
        }
    }

    fn map_edits(
        &self,
        id: Id,
        (old, new): (&BTreeMap<String, Id>, &BTreeMap<String, Id>),
        path: &Path,
        search: &mut Search,
    ) {
        let at = |key: &String| path.join(Step::Key(key.clone()));
        let heirs = self.heirs(id);
        for (key, before) in old {
            let heir = heirs.of(*before);
            match new.get(key) {
                Some(after) if heir == Some(*before) => search.open.push((*after, at(key))),
                Some(after) if heir == Some(*after) => self.comes(*after, at(key), search, Search::replaced),
                after => {
                    search.removed(at(key));
                    if let Some(after) = after {
                        self.added(*after, at(key), search);
                    }
                }
            }
        }
        for (key, after) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
            self.added(*after, at(key), search);
        }
    }

    fn list_edits(&self, id: Id, (old, new): (&[Id], &[Id]), path: &Path, search: &mut Search) {
        let item = |before, after| path.join(item(before, after));
        let heirs = self.heirs(id);
        let mut at: BTreeMap<Id, usize> = new.iter().enumerate().map(|(index, id)| (*id, index)).collect();
        for (index, before) in old.iter().enumerate() {
            let heir = heirs.of(*before).and_then(|heir| Some((heir, at.remove(&heir)?)));
            match heir {
                Some((heir, after)) if heir == *before => search.open.push((heir, item(Some(index), Some(after)))),
                Some((heir, after)) => {
                    self.comes(heir, item(Some(index), Some(after)), search, Search::replaced);
                }
                None => search.removed(item(Some(index), None)),
            }
        }
        for (id, after) in at {
            self.added(id, item(None, Some(after)), search);
        }
    }

    /// A part that came: brought or moved.
    fn added(&self, id: Id, path: Path, search: &mut Search) {
        if self.origin(id) == Origin::Base {
            search.moved.push((id, path.clone()));
        }
        self.comes(id, path, search, Search::added);
    }

    /// What gave way to what in a list or mapping: to another part, or to nothing.
    fn heirs(&self, parent: Id) -> Heirs {
        let mut heirs = HashMap::new();
        for touch in self.touched.get(&parent).into_iter().flatten() {
            if let Some(removed) = touch.removed {
                heirs.entry(removed).or_insert(touch.added);
            }
        }
        Heirs(heirs)
    }
}

struct Heirs(HashMap<Id, Option<Id>>);

impl Heirs {
    /// What is at the place of a part of the base: it, or what claims put there instead. `None` once it was taken out.
    fn of(&self, part: Id) -> Option<Id> {
        let mut heir = part;
        // What is put somewhere is younger than what was there, so this ends.
        while let Some(next) = self.0.get(&heir) {
            heir = (*next)?;
        }
        Some(heir)
    }
}
