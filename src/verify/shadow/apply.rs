//! The operations of RFC 6902, on the tree of the claims.

use serde_json::Value;

use super::{Content, Id, Origin, Shadow, Touch};
use crate::embedded::{self, Language};
use crate::patch::path::{Condition, Path, Segment};
use crate::resource::{absent_text, scalar_text};
use crate::verify::claims::{Act, Claim};

/// How many places one path may mean.
const MAX_PLACES: usize = 100_000;

/// Where a node hangs.
#[derive(Clone, Debug)]
enum Place {
    Root,
    Text(Id),
    Key(Id, String),
    Item(Id, usize),
}

/// What an operation gives, or why it does not fit: a clause.
type Step<T> = Result<T, String>;

/// What an operation brings.
enum New<'a> {
    Value(&'a Value),
    /// What stood elsewhere.
    Node(Id),
    /// The same as stands elsewhere.
    Like(Id),
}

impl Shadow {
    /// Every place that the path leads to from the node at `start`. There is at least one.
    fn resolve(&self, start: Place, segments: &[Segment]) -> Step<Vec<Place>> {
        let mut places = vec![start];
        for segment in segments {
            let mut next = Vec::new();
            for place in &places {
                let node = self.at(place).ok_or("the path leads nowhere")?;
                self.step(node, segment, &mut next)?;
                if next.len() > MAX_PLACES {
                    return Err(format!("the path means more than {MAX_PLACES} places"));
                }
            }
            places = next;
        }
        Ok(places)
    }

    fn step(&self, node: Id, segment: &Segment, next: &mut Vec<Place>) -> Step<()> {
        match (self.content(node), segment) {
            (Content::Map(map), Segment::Key(key)) if map.contains_key(key) => {
                next.push(Place::Key(node, key.clone()));
            }
            (Content::List(items), Segment::Each) if !items.is_empty() => {
                next.extend((0..items.len()).map(|index| Place::Item(node, index)));
            }
            (Content::List(items), segment) => {
                let index = self.index(items, segment).filter(|index| *index < items.len());
                next.push(Place::Item(node, index.ok_or_else(|| format!("no one item is `{segment}`"))?));
            }
            _ => return Err(format!("there is no `{segment}`")),
        }
        Ok(())
    }

    /// The index that a segment means in a list: at most the list's length.
    fn index(&self, items: &[Id], segment: &Segment) -> Option<usize> {
        let meets = |item: &Id| match segment {
            Segment::Select(conditions) => conditions.iter().all(|condition| self.has(*item, condition)),
            Segment::Item(text) => self.text(*item).as_ref() == Some(text),
            _ => false,
        };
        match segment {
            Segment::Key(digits) => {
                let is_index = digits == "0" || !digits.starts_with('0');
                let is_index = is_index && digits.bytes().all(|byte| byte.is_ascii_digit());
                digits.parse().ok().filter(|index| is_index && *index <= items.len())
            }
            Segment::Each => None,
            _ => {
                let mut found = items.iter().enumerate().filter(|(_, item)| meets(item));
                found.next().filter(|_| found.next().is_none()).map(|(index, _)| index)
            }
        }
    }

    fn has(&self, item: Id, condition: &Condition) -> bool {
        match self.content(item) {
            Content::Map(map) => match map.get(&condition.key) {
                Some(value) => self.text(*value).is_some_and(|text| text == condition.value),
                None => absent_text(&condition.key, |key| map.contains_key(key)) == Some(&*condition.value),
            },
            _ => false,
        }
    }

    fn text(&self, node: Id) -> Option<String> {
        match self.content(node) {
            Content::Scalar(value) => scalar_text(value).map(Into::into),
            Content::Text { text, .. } => Some(text.clone()),
            _ => None,
        }
    }

    fn at(&self, place: &Place) -> Option<Id> {
        match place {
            Place::Root => self.root,
            Place::Text(string) => match self.content(*string) {
                Content::Text { inner, .. } => Some(*inner),
                _ => None,
            },
            Place::Key(map, key) => match self.content(*map) {
                Content::Map(map) => map.get(key).copied(),
                _ => None,
            },
            Place::Item(list, index) => match self.content(*list) {
                Content::List(items) => items.get(*index).copied(),
                _ => None,
            },
        }
    }

    /// `Some` origin when there is nothing to do.
    pub(super) fn try_apply(&mut self, index: usize, claim: &Claim) -> Step<Option<Origin>> {
        let start = match &claim.within {
            None => Place::Root,
            Some((path, language)) => Place::Text(self.open_text(path, *language)?),
        };
        match &claim.act {
            Act::Delete => self.delete(index).map(|()| None),
            Act::Remove { path } => self.remove(index, &start, path),
            Act::Replace { path, value } => self.replace(index, &start, path, value),
            Act::Add { path, value, parents } => self.add(index, &start, path, *parents, &New::Value(value)),
            Act::Move { from, path, parents } => {
                let place = self.one(&start, from)?;
                let node = self.at(&place).ok_or("`from` leads nowhere")?;
                if self.is_there(&place, &start, path) {
                    return Ok(Some(self.youngest(node)));
                }
                self.take(index, &place);
                self.add(index, &start, path, *parents, &New::Node(node))?;
                Ok(None)
            }
            Act::Copy { from, path, parents } => {
                let place = self.one(&start, from)?;
                let node = self.at(&place).ok_or("`from` leads nowhere")?;
                self.add(index, &start, path, *parents, &New::Like(node))
            }
        }
    }

    fn one(&self, start: &Place, path: &Path) -> Step<Place> {
        let mut places = self.resolve(start.clone(), path.segments())?;
        match (places.pop(), places.is_empty()) {
            (Some(place), true) => Ok(place),
            _ => Err(format!("{path} is not one place")),
        }
    }

    /// Whether a path leads back to a place once what is there was taken out.
    fn is_there(&self, place: &Place, start: &Place, path: &Path) -> bool {
        let Some((last, above)) = path.segments().split_last() else { return false };
        let Ok(parents) = self.resolve(start.clone(), above) else { return false };
        let [Some(parent)] = parents.iter().map(|place| self.at(place)).collect::<Vec<_>>()[..] else { return false };
        match (place, last, self.content(parent)) {
            (Place::Key(map, key), Segment::Key(last), _) => *map == parent && key == last,
            (Place::Item(of, index), last, Content::List(items)) if *of == parent => {
                let left: Vec<Id> = items.iter().enumerate().filter(|(at, _)| at != index).map(|(_, id)| *id).collect();
                let is_end = matches!(last, Segment::Key(key) if key == "-");
                let to = if is_end { Some(left.len()) } else { self.index(&left, last) };
                to == Some(*index)
            }
            _ => false,
        }
    }

    /// The string at that path, made to be looked into.
    fn open_text(&mut self, path: &Path, language: Language) -> Step<Id> {
        let place = self.one(&Place::Root, path)?;
        let string = self.at(&place).ok_or("the text is not there")?;
        let (text, opened) = match self.content(string) {
            Content::Text { language: opened, .. } if *opened == language => return Ok(string),
            Content::Text { text, .. } => (text.clone(), true),
            Content::Scalar(Value::String(text)) => (text.clone(), false),
            _ => return Err(format!("{path} is no text")),
        };
        if opened {
            return Err(format!("{path} is read in two languages"));
        }
        let value = embedded::read(language, &text).map_err(|error| error.to_string())?;
        let origin = self.origin(string);
        let inner = self.build(&value, origin);
        if let Some(node) = self.nodes.get_mut(string) {
            node.content = Content::Text { language, inner, text };
        }
        Ok(string)
    }

    fn delete(&mut self, claim: usize) -> Step<()> {
        let root = self.root.take().ok_or("the document is gone already")?;
        self.mark_gone(root, claim);
        Ok(())
    }

    fn remove(&mut self, claim: usize, start: &Place, path: &Path) -> Step<Option<Origin>> {
        if path.is_empty() {
            return Err("a document cannot be taken out of itself".into());
        }
        // From the last to the first, so that the indices of those to come stay.
        for place in self.resolve(start.clone(), path.segments())?.iter().rev() {
            self.take(claim, place);
        }
        Ok(None)
    }

    fn replace(&mut self, claim: usize, start: &Place, path: &Path, value: &Value) -> Step<Option<Origin>> {
        let mut nothing = None;
        let places = self.resolve(start.clone(), path.segments())?;
        let count = places.len();
        let mut same = 0;
        for place in places {
            let there = self.at(&place).ok_or("the path leads nowhere")?;
            if self.is_surely(there, value) {
                same += 1;
                nothing = Some(self.youngest(there));
                continue;
            }
            let new = self.make(value, Origin::Claim(claim))?;
            self.put(claim, &place, new);
        }
        Ok(nothing.filter(|_| same == count))
    }

    fn add(&mut self, claim: usize, start: &Place, path: &Path, parents: bool, new: &New<'_>) -> Step<Option<Origin>> {
        let Some((last, above)) = path.segments().split_last() else {
            let there = self.at(start).ok_or("the document is gone")?;
            let same = self.brings_nothing(there, new);
            return if same { Ok(Some(self.youngest(there))) } else { Err("the document is there already".into()) };
        };
        if parents {
            self.make_parents(claim, start, above)?;
        }
        let mut nothing = None;
        let places = self.resolve(start.clone(), above)?;
        let count = places.len();
        let mut same = 0;
        for place in places {
            let parent = self.at(&place).ok_or("the path leads nowhere")?;
            if let Some(origin) = self.add_below(claim, parent, last, new)? {
                same += 1;
                nothing = Some(origin);
            }
        }
        Ok(nothing.filter(|_| same == count))
    }

    fn add_below(&mut self, claim: usize, parent: Id, last: &Segment, new: &New<'_>) -> Step<Option<Origin>> {
        match (self.content(parent), last) {
            (Content::Map(map), Segment::Key(key)) => {
                if let Some(there) = map.get(key).copied() {
                    let same = self.brings_nothing(there, new);
                    return if same { Ok(Some(self.youngest(there))) } else { Err(format!("there is a `{key}`")) };
                }
                let node = self.bring(claim, new)?;
                self.hang(claim, parent, Some(key.clone()), node, |content| {
                    if let Content::Map(map) = content {
                        map.insert(key.clone(), node);
                    }
                });
            }
            (Content::List(items), last) => {
                // What is moved is still there, whatever is equal to it.
                let equal = |item: &&Id| !matches!(new, New::Node(_)) && self.brings_nothing(**item, new);
                if let Some(there) = items.iter().find(equal) {
                    return Ok(Some(self.youngest(*there)));
                }
                let end = matches!(last, Segment::Key(key) if key == "-");
                let at = if end { Some(items.len()) } else { self.index(items, last) };
                let at = at.ok_or_else(|| format!("no one item is `{last}`"))?;
                let node = self.bring(claim, new)?;
                self.hang(claim, parent, None, node, |content| {
                    if let Content::List(items) = content {
                        items.insert(at.min(items.len()), node);
                    }
                });
            }
            _ => return Err(format!("nothing can be added at `{last}`")),
        }
        Ok(None)
    }

    /// Makes the mappings that are missing on the way.
    fn make_parents(&mut self, claim: usize, start: &Place, above: &[Segment]) -> Step<()> {
        let empty = Value::Object(serde_json::Map::new());
        for end in 0..=above.len() {
            let way = above.get(..end).unwrap_or_default();
            for place in self.resolve(start.clone(), way)? {
                let node = self.at(&place).ok_or("the path leads nowhere")?;
                let is_null = matches!(self.content(node), Content::Scalar(Value::Null));
                let node = if is_null {
                    let new = self.make(&empty, Origin::Claim(claim))?;
                    self.put(claim, &place, new);
                    new
                } else {
                    node
                };
                if let (Content::Map(map), Some(Segment::Key(key))) = (self.content(node), above.get(end))
                    && !map.contains_key(key)
                {
                    self.add_below(claim, node, &Segment::Key(key.clone()), &New::Value(&empty))?;
                }
            }
        }
        Ok(())
    }

    /// Whether a node certainly is what is to be added.
    fn brings_nothing(&self, there: Id, new: &New<'_>) -> bool {
        match new {
            New::Value(value) => self.is_surely(there, value),
            New::Node(node) => self.value_of(there) == self.value_of(*node),
            New::Like(node) => there == *node || self.is_surely(there, &self.value_of(*node)),
        }
    }

    fn bring(&mut self, claim: usize, new: &New<'_>) -> Step<Id> {
        match new {
            New::Value(value) => self.make(value, Origin::Claim(claim)),
            New::Like(node) => self.make_like(*node, Origin::Claim(claim)),
            New::Node(node) => {
                if let Some(node) = self.nodes.get_mut(*node) {
                    node.moved = Some(claim);
                }
                Ok(*node)
            }
        }
    }

    /// Hangs a new node into its parent.
    fn hang(&mut self, claim: usize, parent: Id, key: Option<String>, node: Id, insert: impl FnOnce(&mut Content)) {
        if let Some(key) = &key {
            let undone = self.touched.get(&parent).into_iter().flatten();
            let undone = undone.filter(|touch| touch.removed.is_some() && touch.key.as_ref() == Some(key));
            let pairs: Vec<(usize, usize)> = undone.map(|touch| (touch.claim, claim)).collect();
            self.overrides.extend(pairs);
        }
        insert(self.change(parent));
        self.touch(parent, Touch { claim, key, removed: None, added: Some(node) });
    }

    /// Puts another node in the place of one.
    fn put(&mut self, claim: usize, place: &Place, new: Id) {
        let old = self.at(place);
        let (parent, key) = match place {
            Place::Root => {
                self.root = Some(new);
                (None, None)
            }
            Place::Text(string) => {
                if let Content::Text { inner, .. } = self.change(*string) {
                    *inner = new;
                }
                (Some(*string), None)
            }
            Place::Key(map, key) => {
                if let Content::Map(map) = self.change(*map) {
                    map.insert(key.clone(), new);
                }
                (Some(*map), Some(key.clone()))
            }
            Place::Item(list, index) => {
                if let Content::List(items) = self.change(*list)
                    && let Some(item) = items.get_mut(*index)
                {
                    *item = new;
                }
                (Some(*list), None)
            }
        };
        if let Some(parent) = parent {
            self.touch(parent, Touch { claim, key, removed: old, added: Some(new) });
        }
        if let Some(old) = old {
            self.mark_gone(old, claim);
        }
    }

    /// Takes out what is at a place of a list or mapping.
    fn take(&mut self, claim: usize, place: &Place) {
        let Some(old) = self.at(place) else { return };
        let (parent, key) = match place {
            Place::Root | Place::Text(_) => return,
            Place::Key(map, key) => {
                if let Content::Map(map) = self.change(*map) {
                    map.remove(key);
                }
                (*map, Some(key.clone()))
            }
            Place::Item(list, index) => {
                if let Content::List(items) = self.change(*list)
                    && *index < items.len()
                {
                    items.remove(*index);
                }
                (*list, None)
            }
        };
        self.touch(parent, Touch { claim, key, removed: Some(old), added: None });
        self.mark_gone(old, claim);
    }

    fn touch(&mut self, parent: Id, touch: Touch) {
        self.touched.entry(parent).or_default().push(touch);
    }

    /// Marks a node as taken out, and notes whose work goes with it.
    fn mark_gone(&mut self, node: Id, claim: usize) {
        let mut lost = self.hands_in(node);
        lost.remove(&claim);
        self.overrides.extend(lost.into_iter().map(|earlier| (earlier, claim)));
        if let Some(node) = self.nodes.get_mut(node) {
            node.gone = Some(claim);
        }
    }
}
