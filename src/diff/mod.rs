//! What differs between two documents, or two streams of them, as Kubernetes reads them.
//!
//! Documents are matched by identity and list items by key, so that an inserted item is one difference and not a
//! shift of all behind it. The order of mapping keys means nothing and is never reported. Texts that embed JSON, YAML
//! or TOML are compared inside.
//!
//! This is one half of the proof: it knows the two values and nothing of what patches say or how they were applied.

mod likeness;
mod lists;
mod names;
mod path;
mod streams;
#[cfg(test)]
mod tests;
mod text;

use std::rc::Rc;

use serde_json::{Map, Value};

use crate::embedded::Language;
use crate::resource::{Identity, MergeKey, has_no_order};
use crate::yaml::tree::MAX_DEPTH;
use lists::Pair;
use names::Names;

pub use likeness::{ENOUGH, likeness};
pub use names::ItemNames;
#[cfg(test)]
pub(crate) use names::learned;
pub use path::{At, Item, Path, Step, keyed};
pub use streams::{Document, Pairing, Rename, diff_streams, pair_documents};

/// One place where two values differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Where: in the document, or in the text that `within` names.
    pub path: Path,
    /// The embedded text that `path` leads into.
    pub within: Option<Within>,
    /// What is different there.
    pub what: What,
}

impl Difference {
    /// A difference in an item of a `kind: List`, as one of the item: what that is called, and the difference seen from
    /// it. The values are those of the List on both sides.
    pub fn of_list_item(&self, before: Option<&Value>, after: Option<&Value>) -> Option<(Identity, Difference)> {
        if !before.or(after).is_some_and(|list| Identity::of(list).is_list()) {
            return None;
        }
        let place = self.within.as_ref().map_or(&self.path, |within| &within.path);
        let [Step::Key(items), Step::Item(item), ..] = place.steps()[..] else { return None };
        let at = |list: Option<&Value>, index: Option<usize>| list?.get(items)?.get(index?).map(Identity::of);
        let identity = at(before, item.before).or_else(|| at(after, item.after))?;
        if items != "items" || identity.kind.is_empty() || identity.name.is_empty() {
            return None;
        }
        let mut seen = self.clone();
        match &mut seen.within {
            Some(within) => within.path = within.path.without_first(2),
            None => seen.path = seen.path.without_first(2),
        }
        Some((identity, seen))
    }
}

impl Difference {
    /// Whether it is only that an item stands elsewhere in a list of a Kubernetes object whose order nothing reads.
    pub fn is_order_alone(&self) -> bool {
        let is_item = matches!(self.path.last(), Some(Step::Item(_)));
        if !matches!(self.what, What::Moved { .. }) || !is_item || self.within.is_some() {
            return false;
        }
        let steps = self.path.steps();
        let keys = steps.iter().filter_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Item(_) => None,
        });
        has_no_order(&keys.collect::<Vec<_>>())
    }
}

/// An embedded text.
#[derive(Clone, Debug, PartialEq)]
pub struct Within {
    /// Where the string lies in the document.
    pub path: Path,
    /// What it is written in.
    pub language: Language,
}

/// How the values differ at a place.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// This is new.
    Added(Value),
    /// This is gone.
    Removed(Value),
    /// One value gave way to another. Two lists or two mappings never do: the difference lies inside them.
    Replaced {
        /// What was there.
        before: Value,
        /// What is there.
        after: Value,
    },
    /// A list item stands elsewhere among its fellows. What differs inside it is told apart from this.
    Moved {
        /// Its index before.
        from: usize,
        /// Its index after.
        to: usize,
    },
}

/// What is known of a string's language beforehand, by its place in the value before.
pub type Languages<'a> = &'a dyn Fn(&[At<'_>]) -> Option<Language>;

/// The differences from one document to another. `languages` names the language of strings that do not show it
/// themselves; strings that look like JSON, and those under a key that ends in `.json`, `.yaml`, `.yml` or `.toml`
/// are recognised without.
pub fn diff_values(before: &Value, after: &Value, languages: Languages<'_>) -> Vec<Difference> {
    let mut walker = Walker { frames: Vec::new(), keys: Vec::new(), within: None, languages, out: Vec::new() };
    walker.value(before, after);
    walker.out
}

/// Where in `after` that is what lies at `path` (mapping keys and indices) in `before`, list items matched as in
/// [`diff_values`]. It is shorter than `path` where what that leads to is gone.
pub fn follow(before: &Value, after: &Value, path: &[String]) -> Vec<String> {
    let (mut old, mut new) = (before, after);
    let mut keys: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for token in path {
        let next = match (old, new) {
            (Value::Object(a), Value::Object(b)) => {
                keys.push(token);
                a.get(token).zip(b.get(token)).map(|(a, b)| (token.clone(), a, b))
            }
            (Value::Array(a), Value::Array(b)) => token.parse().ok().and_then(|index: usize| {
                let key = MergeKey::of_list(&keys).or_else(|| MergeKey::common(a, b));
                let pairs = lists::match_items(&keys, key, a, b).pairs;
                let to = pairs.iter().find(|pair| pair.before == index)?.after;
                Some((to.to_string(), a.get(index)?, b.get(to)?))
            }),
            _ => None,
        };
        let Some((token, a, b)) = next else { break };
        found.push(token);
        (old, new) = (a, b);
    }
    found
}

/// How deeply two values are compared part by part; what lies deeper is compared as a whole. Above what
/// [`MAX_DEPTH`] lets a document have.
const MAX_STEPS: usize = MAX_DEPTH * 2;

/// Walks two values side by side.
struct Walker<'v, 'l> {
    /// The way to where the walk is.
    frames: Vec<Frame<'v>>,
    /// The mapping keys among it.
    keys: Vec<&'v str>,
    within: Option<Within>,
    languages: Languages<'l>,
    out: Vec<Difference>,
}

/// One step of the way, and the path up to it once something asked for that.
struct Frame<'v> {
    way: Way<'v>,
    path: Option<Path>,
}

enum Way<'v> {
    Key(&'v str),
    Item { before: Option<usize>, after: Option<usize>, names: Rc<Names<'v>> },
}

impl<'v> Walker<'v, '_> {
    fn value(&mut self, before: &'v Value, after: &'v Value) {
        match (before, after) {
            _ if self.frames.len() > MAX_STEPS => self.whole(before, after),
            (Value::Object(before), Value::Object(after)) => self.mappings(before, after),
            (Value::Array(before), Value::Array(after)) => self.lists(before, after),
            (Value::String(a), Value::String(b)) if a != b && self.within.is_none() => {
                if !self.texts(a, b) {
                    self.whole(before, after);
                }
            }
            _ => self.whole(before, after),
        }
    }

    fn whole(&mut self, before: &Value, after: &Value) {
        if before != after {
            self.push(What::Replaced { before: before.clone(), after: after.clone() });
        }
    }

    fn mappings(&mut self, before: &'v Map<String, Value>, after: &'v Map<String, Value>) {
        for (key, value) in before {
            self.keys.push(key);
            self.inside(Way::Key(key), |walker| match after.get(key) {
                Some(other) => walker.value(value, other),
                None => walker.push(What::Removed(value.clone())),
            });
            self.keys.pop();
        }
        for (key, value) in after {
            if !before.contains_key(key) {
                self.inside(Way::Key(key), |walker| walker.push(What::Added(value.clone())));
            }
        }
    }

    fn lists(&mut self, before: &'v [Value], after: &'v [Value]) {
        let key = MergeKey::of_list(&self.keys).or_else(|| MergeKey::common(before, after));
        let matching = lists::match_items(&self.keys, key, before, after);
        let names = Rc::new(Names::new(key, before, after));
        let mut pairs = matching.pairs.into_iter().peekable();
        let mut removed = matching.removed.into_iter().peekable();
        for (index, old) in before.iter().enumerate() {
            if let Some(Pair { after: to, moved, .. }) = pairs.next_if(|pair| pair.before == index) {
                let way = Way::Item { before: Some(index), after: Some(to), names: Rc::clone(&names) };
                self.inside(way, |walker| {
                    if moved {
                        walker.push(What::Moved { from: index, to });
                    }
                    if let Some(new) = after.get(to) {
                        walker.value(old, new);
                    }
                });
            } else if removed.next_if_eq(&index).is_some() {
                let way = Way::Item { before: Some(index), after: None, names: Rc::clone(&names) };
                self.inside(way, |walker| walker.push(What::Removed(old.clone())));
            }
        }
        for index in matching.added {
            let way = Way::Item { before: None, after: Some(index), names: Rc::clone(&names) };
            let new = after.get(index).cloned().unwrap_or_default();
            self.inside(way, |walker| walker.push(What::Added(new)));
        }
    }

    /// Compares two strings by what they embed. False when they embed nothing in a language that both are written
    /// in, or the same in another layout: then the strings themselves differ.
    fn texts(&mut self, before: &str, after: &str) -> bool {
        let key = match self.frames.last() {
            Some(Frame { way: Way::Key(key), .. }) => key,
            _ => "",
        };
        let path = self.path();
        let known = path.before().and_then(|at| (self.languages)(&at));
        let Some((language, before, after)) = text::read_both(known, key, before, after) else { return false };
        let within = Some(Within { path, language });
        let mut inner =
            Walker { frames: Vec::new(), keys: Vec::new(), within, languages: self.languages, out: Vec::new() };
        inner.value(&before, &after);
        let found = !inner.out.is_empty();
        self.out.append(&mut inner.out);
        found
    }

    fn inside(&mut self, way: Way<'v>, walk: impl FnOnce(&mut Self)) {
        self.frames.push(Frame { way, path: None });
        walk(self);
        self.frames.pop();
    }

    fn push(&mut self, what: What) {
        let path = self.path();
        self.out.push(Difference { path, within: self.within.clone(), what });
    }

    /// The path to where the walk is. What is known of it already is shared.
    fn path(&mut self) -> Path {
        let known = self.frames.iter().rposition(|frame| frame.path.is_some());
        let mut path = known.and_then(|at| self.frames.get(at)).and_then(|f| f.path.clone()).unwrap_or_default();
        for frame in self.frames.iter_mut().skip(known.map_or(0, |at| at + 1)) {
            path = path.join(frame.way.step());
            frame.path = Some(path.clone());
        }
        path
    }
}

impl Way<'_> {
    fn step(&self) -> Step {
        match self {
            Way::Key(key) => Step::Key((*key).to_owned()),
            Way::Item { before, after, names } => {
                Step::Item(Item { before: *before, after: *after, selector: names.selector(*before, *after) })
            }
        }
    }
}
