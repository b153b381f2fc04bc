//! The documents of a build while patches change them: what a target can mean, and the two states of each document
//! that is touched, its text and its value.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use super::text::{Road, Text};
use crate::change::pointer;
use crate::diag::{Code, Diagnostic, Place};
use crate::layer::cut::Read;
use crate::layer::manifest::place_in;
use crate::layer::plan::{Plan, Planned};
use crate::patch::lower::{TextWithin, places};
use crate::patch::path::Path;
use crate::patch::step::{Action, Step};
use crate::resource::identity::Written;
use crate::resource::{Identity, Target};
use crate::yaml::load;
use crate::yaml::tree::{Style, Tree};

/// All documents of a plan.
#[derive(Debug)]
pub(super) struct Documents<'p> {
    plan: &'p Plan,
    list: Vec<Document<'p>>,
}

/// One document.
#[derive(Clone, Debug)]
struct Document<'p> {
    planned: &'p Planned,
    /// What it is now, once anyone needed to know.
    state: Option<State>,
    /// Whether a step changed it.
    edited: bool,
    /// The patch that took it out.
    deleted_by: Option<String>,
    /// Of a List, what it holds; asked for once.
    items: Option<Vec<ListItem>>,
}

/// The two states of a document, which the two roads of a build lead along.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// The text, and the steps that are still to be made on it.
    pub(super) road: Road,
    /// The value, as patched so far.
    pub(super) value: Arc<Value>,
}

/// An item of a List, by where it stands now.
#[derive(Clone, Debug)]
struct ListItem {
    identity: Identity,
    /// Its index; `None` once it is gone.
    index: Option<usize>,
    deleted_by: Option<String>,
}

/// Something that a target can mean: a document, or an item of a List.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resource {
    document: usize,
    item: Option<usize>,
}

/// The state of the documents that a patch touched before it did, to go back to where it fails.
#[derive(Debug, Default)]
pub(super) struct Snapshot<'p>(BTreeMap<usize, Document<'p>>);

impl Resource {
    /// Whether it is of one of these documents.
    pub(super) fn is_of(self, numbers: &HashSet<usize>) -> bool {
        numbers.contains(&self.document)
    }
}

impl Snapshot<'_> {
    /// The documents, by their numbers.
    pub(super) fn documents(&self) -> impl Iterator<Item = usize> {
        self.0.keys().copied()
    }
}

impl<'p> Documents<'p> {
    pub(super) fn new(plan: &'p Plan) -> Documents<'p> {
        let document = |planned| Document { planned, state: None, edited: false, deleted_by: None, items: None };
        Documents { plan, list: plan.documents.iter().map(document).collect() }
    }

    /// Everything in `scope` that a target can mean, what earlier patches took out included. Lists are read for it.
    pub(super) fn resources(&mut self, scope: &Range<usize>) -> Result<Vec<Resource>, Box<Diagnostic>> {
        let mut found = Vec::new();
        for document in scope.clone() {
            let Some(identity) = self.list.get(document).and_then(|d| d.planned.identity.as_deref()) else { continue };
            let is_list = identity.is_list();
            found.push(Resource { document, item: None });
            if is_list {
                let items = self.items(document)?.len();
                found.extend((0..items).map(|item| Resource { document, item: Some(item) }));
            }
        }
        Ok(found)
    }

    /// What a resource is called in its base.
    pub(super) fn identity(&self, resource: Resource) -> Option<&Identity> {
        let document = self.list.get(resource.document)?;
        match resource.item {
            None => document.planned.identity.as_deref(),
            Some(item) => Some(&document.items.as_ref()?.get(item)?.identity),
        }
    }

    /// The patch that took a resource out, or the document that it was an item of.
    pub(super) fn deleted_by(&self, resource: Resource) -> Option<&str> {
        let document = self.list.get(resource.document)?;
        let item = resource.item.and_then(|item| document.items.as_ref()?.get(item)?.deleted_by.as_deref());
        document.deleted_by.as_deref().or(item)
    }

    /// Whether a target means a resource. Labels and annotations are those of the base.
    pub(super) fn is_meant(&self, resource: Resource, target: &Target) -> Result<bool, Box<Diagnostic>> {
        let Some(identity) = self.identity(resource) else { return Ok(false) };
        if !target.may_match(identity) {
            return Ok(false);
        }
        if target.labels.is_empty() && target.annotations.is_empty() {
            return Ok(true);
        }
        let original = self.read(resource.document)?.value;
        let value = match resource.item {
            None => Some(&*original),
            Some(item) => original.get("items").and_then(|items| items.get(item)),
        };
        Ok(value.is_some_and(|value| target.matches(identity, value)))
    }

    /// The keys and indices that lead to a resource in its document: none, or `items` and an index.
    pub(super) fn prefix(&self, resource: Resource) -> Option<Vec<String>> {
        let Some(item) = resource.item else { return Some(Vec::new()) };
        let index = self.list.get(resource.document)?.items.as_ref()?.get(item)?.index?;
        Some(vec!["items".to_owned(), index.to_string()])
    }

    /// Where in the base a path of a resource leads, as far as it leads there, and what is to be said of the place.
    pub(super) fn place_in_base(&self, resource: Resource, path: &Path) -> Option<(Place, String)> {
        let document = self.list.get(resource.document)?;
        let text = self.plan.text(document.planned);
        let tree = Tree::parse(text).ok()?;
        let value = load::load(&tree, text).ok()?.value;
        let prefix = match resource.item {
            None => Vec::new(),
            Some(item) => vec!["items".to_owned(), item.to_string()],
        };
        let value = value.pointer(&pointer(&prefix))?;
        let count = path.segments().len();
        let (reached, keys) =
            (0..=count).rev().find_map(|n| Some((n, places(value, &path.first(n)).into_iter().next()?)))?;
        let (keys, says) = match reached {
            0 => {
                (Vec::from(["metadata".to_owned(), "name".to_owned()]), format!("{} is here", self.identity(resource)?))
            }
            _ => (keys, format!("`{}` is here", path.first(reached))),
        };
        let span = place_in(&tree, &[prefix, keys].concat())?;
        Some((self.plan.place(document.planned, span)?, says))
    }

    /// Where a byte of a text that a document embeds stands in the document's file. `None` once the document was
    /// edited, or where the text is spelled so that its lines are not the file's.
    pub(super) fn place_in_text(&self, resource: Resource, found: &TextWithin<'_>, offset: usize) -> Option<Place> {
        let document = self.list.get(resource.document).filter(|d| !d.edited)?;
        let text = self.plan.text(document.planned);
        let tree = Tree::parse(text).ok()?;
        let node = tree.node(tree.resolve(load::find(&tree, &found.path)?));
        if node.style() != Some(Style::Literal) {
            return self.plan.place(document.planned, node.span.clone());
        }
        let inner_line = found.text.get(..offset)?.matches('\n').count();
        let mut start = node.span.start;
        for _ in 0..=inner_line {
            start += text.get(start..)?.find('\n')? + 1;
        }
        let line = text.get(start..)?.lines().next()?;
        let indent = line.len() - line.trim_start().len();
        self.plan.place(document.planned, start + indent..start + line.len())
    }

    /// The state of a resource's document, read now if it was not before.
    pub(super) fn state(&mut self, resource: Resource) -> Result<State, Box<Diagnostic>> {
        if let Some(state) = self.list.get(resource.document).and_then(|d| d.state.clone()) {
            return Ok(state);
        }
        self.read(resource.document)
    }

    /// Puts another state in the place of a document's, after those steps.
    pub(super) fn set_state(&mut self, resource: Resource, state: State, steps: &[Step]) {
        if let Some(document) = self.list.get_mut(resource.document) {
            document.state = Some(state);
            document.edited |= !steps.is_empty();
            for step in steps {
                document.shift(step);
            }
        }
    }

    /// Remembers that a text in a document was edited.
    pub(super) fn note_edited(&mut self, resource: Resource) {
        if let Some(document) = self.list.get_mut(resource.document) {
            document.edited = true;
        }
    }

    /// Makes on the text of every document what is still to be made there, of those too that were taken out.
    pub(super) fn settle(&mut self) -> Result<(), Box<Diagnostic>> {
        for document in &mut self.list {
            let Some(state) = &mut document.state else { continue };
            let name = document.planned.identity.as_deref().map(ToString::to_string).unwrap_or_default();
            state.road.settle(&name)?;
        }
        Ok(())
    }

    /// Takes a whole document out.
    pub(super) fn delete_document(&mut self, resource: Resource, patch: &str) {
        if let Some(document) = self.list.get_mut(resource.document) {
            document.deleted_by = Some(patch.to_owned());
        }
    }

    /// Remembers who took an item out, whose removal was a step.
    pub(super) fn note_item_deleted(&mut self, resource: Resource, patch: &str) {
        let items = self.list.get_mut(resource.document).and_then(|d| d.items.as_mut());
        if let Some(item) = resource.item.and_then(|item| items?.get_mut(item)) {
            item.deleted_by = Some(patch.to_owned());
        }
    }

    /// Remembers what the document of a resource is that a patch is about to touch, unless it did before.
    pub(super) fn remember(&self, resource: Resource, snapshot: &mut Snapshot<'p>) {
        let number = resource.document;
        if let Some(document) = self.list.get(number).filter(|_| !snapshot.0.contains_key(&number)) {
            snapshot.0.insert(number, document.clone());
        }
    }

    /// Goes back.
    pub(super) fn restore(&mut self, snapshot: Snapshot<'p>) {
        for (number, before) in snapshot.0 {
            if let Some(document) = self.list.get_mut(number) {
                *document = before;
            }
        }
    }

    /// What is left of each document, in order, and what it is called now.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&'p Planned, &str, Option<Identity>)> {
        self.list.iter().map(|document| {
            let planned = document.planned;
            match (&document.deleted_by, &document.state) {
                (Some(_), _) => (planned, self.plan.rest(planned), None),
                (None, Some(state)) if document.edited => {
                    let text = state.road.text();
                    (planned, text.text(), Some(written(text.tree())))
                }
                _ => (planned, self.plan.text(planned), planned.identity.as_deref().cloned()),
            }
        })
    }

    /// Every document and, where it was edited, its text; `None` where one was taken out.
    pub(super) fn standing(&self) -> Option<Vec<(&'p Planned, Option<&Text>)>> {
        self.list
            .iter()
            .map(|document| {
                let text = document.state.as_ref().filter(|_| document.edited).map(|state| state.road.text());
                document.deleted_by.is_none().then_some((document.planned, text))
            })
            .collect()
    }

    /// The documents that were edited and are still there, each with its state.
    pub(super) fn edited(&self) -> impl Iterator<Item = (Resource, &State)> {
        self.list.iter().enumerate().filter_map(|(number, document)| {
            let state = document.state.as_ref().filter(|_| document.edited && document.deleted_by.is_none())?;
            Some((Resource { document: number, item: None }, state))
        })
    }

    /// The documents that are left, but for those of these numbers, and that `may` be of interest by their text in the base,
    /// each with its value. One that cannot be read is left out.
    pub(super) fn left_with(&self, but: &HashSet<usize>, may: impl Fn(&str) -> bool) -> Vec<(Resource, Arc<Value>)> {
        let is_left = |document: &Document<'_>| document.deleted_by.is_none() && document.planned.identity.is_some();
        let left = self.list.iter().enumerate().filter(|(number, document)| {
            is_left(document) && !but.contains(number) && may(self.plan.text(document.planned))
        });
        let value = |(number, document): (usize, &Document<'_>)| {
            let value = match &document.state {
                Some(state) => Arc::clone(&state.value),
                None => self.read(number).ok()?.value,
            };
            Some((Resource { document: number, item: None }, value))
        };
        left.filter_map(value).collect()
    }

    /// Where a document of the base has a value, by its keys and indices, and whether an overlay adds that document.
    pub(super) fn place_of_value(&self, resource: Resource, path: &[String]) -> Option<(Place, bool)> {
        let planned = self.list.get(resource.document)?.planned;
        let read = self.plan.read(planned).ok()?;
        let tree = read.text.tree();
        let span = tree.node(load::find(tree, path)?).span.clone();
        Some((self.plan.place(planned, span)?, self.plan.is_resource(planned)))
    }

    /// The value that a document has in the base.
    pub(super) fn value_in_base(&self, resource: Resource) -> Option<Arc<Value>> {
        Some(self.read(resource.document).ok()?.value)
    }

    /// Every resource that is left, with what it is called now. Lists are read for it.
    pub(super) fn left(&mut self) -> Vec<(Resource, Cow<'p, Identity>)> {
        let mut left = Vec::new();
        for number in 0..self.list.len() {
            let Some(document) = self.list.get(number).filter(|d| d.deleted_by.is_none()) else { continue };
            let Some(planned) = document.planned.identity.as_deref() else { continue };
            let edited = document.state.as_ref().filter(|_| document.edited).map(|state| state.value.clone());
            let identity = edited.as_ref().map_or(Cow::Borrowed(planned), |value| Cow::Owned(Identity::of(value)));
            left.push((Resource { document: number, item: None }, identity));
            if !planned.is_list() {
                continue;
            }
            let value = match edited {
                Some(value) => Some(value),
                None => self.read(number).ok().map(|state| state.value),
            };
            let items = value.as_ref().and_then(|value| value.get("items")).and_then(Value::as_array);
            let item =
                |(index, item)| (Resource { document: number, item: Some(index) }, Cow::Owned(Identity::of(item)));
            left.extend(items.into_iter().flatten().enumerate().map(item));
        }
        left
    }

    /// Whether it is plain that no resource is there twice but where upstream has it so: all are of one base, none is a List, each
    /// kind is of one version, none says that it is in the default namespace (which others may mean), and no document is called otherwise than there.
    pub(super) fn are_called_as_upstream(&self) -> bool {
        if self.plan.vendored.len() != 1 || !self.plan.resources.is_empty() {
            return false;
        }
        let mut versions: BTreeMap<(&str, &str), &str> = BTreeMap::new();
        self.list.iter().all(|document| {
            let Some(planned) = &document.planned.identity else { return true };
            let state = document.state.as_ref().filter(|_| document.edited);
            let known = *versions.entry((&planned.group, &planned.kind)).or_insert(&planned.version);
            !planned.is_list()
                && planned.namespace != "default"
                && known == planned.version
                && state.is_none_or(|state| Identity::of(&state.value) == **planned)
        })
    }

    /// Whether two resources are of one base and were called alike there: upstream has them both.
    pub(super) fn are_upstreams(&self, one: Resource, other: Resource) -> bool {
        let planned = |resource: Resource| self.list.get(resource.document).map(|document| document.planned);
        let (Some(a), Some(b)) = (planned(one), planned(other)) else { return false };
        let alike = (one.item.is_some() && other.item.is_some()) || a.identity == b.identity;
        alike && self.plan.share_a_base(a, b)
    }

    /// Where two resources are of one base that was reached by two ways, these two.
    pub(super) fn two_ways(&self, one: Resource, other: Resource) -> Option<[(String, Option<Place>); 2]> {
        let planned = |resource: Resource| self.list.get(resource.document).map(|document| document.planned);
        self.plan.two_ways(planned(one)?, planned(other)?)
    }

    /// Whether a resource is left. A List without items is none.
    pub(super) fn any_left(&self) -> bool {
        let is_resource = |d: &Document<'_>| d.planned.identity.as_deref().is_some_and(|identity| !identity.is_empty());
        let left = |d: &Document<'_>| is_resource(d) && d.deleted_by.is_none();
        self.list.iter().enumerate().any(|(number, d)| left(d) && !self.is_empty_list(number))
    }

    /// Whether a document is a List that has no items now, or null in their place. Only a List is read for it.
    fn is_empty_list(&self, number: usize) -> bool {
        let Some(document) = self.list.get(number) else { return false };
        if !document.planned.identity.as_deref().is_some_and(Identity::is_list) {
            return false;
        }
        let empty = |value: &Value| match value.get("items") {
            Some(Value::Array(items)) => items.is_empty(),
            items => items.is_some_and(Value::is_null),
        };
        match &document.state {
            Some(state) => empty(&state.value),
            None => self.read(number).is_ok_and(|state| empty(&state.value)),
        }
    }

    fn items(&mut self, number: usize) -> Result<&[ListItem], Box<Diagnostic>> {
        if self.list.get(number).is_some_and(|d| d.items.is_none()) {
            let value = self.read(number)?.value;
            let items = value.get("items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let item =
                |(index, value)| ListItem { identity: Identity::of(value), index: Some(index), deleted_by: None };
            let items = items.iter().enumerate().map(item).collect();
            if let Some(document) = self.list.get_mut(number) {
                document.items = Some(items);
            }
        }
        Ok(self.list.get(number).and_then(|d| d.items.as_deref()).unwrap_or_default())
    }

    /// A document as its base has it.
    fn read(&self, number: usize) -> Result<State, Box<Diagnostic>> {
        let Some(document) = self.list.get(number) else {
            return Err(Box::new(Diagnostic::new(Code::Internal, "a document is asked for that is not there")));
        };
        let Planned { identity, .. } = document.planned;
        self.plan.read(document.planned).map(|Read { text, value }| State { road: Road::at(text), value }).map_err(
            |error| {
                let mut finding = Diagnostic::new(Code::Syntax, "a document of the base cannot be read");
                if let Some(place) = self.plan.place(document.planned, error.at.clone()) {
                    finding = finding.at(place, error.to_string());
                }
                if let Some(identity) = identity {
                    finding = finding.resource(identity.to_string());
                }
                Box::new(finding)
            },
        )
    }
}

impl Document<'_> {
    /// Keeps the indices of a List's items right when a step moves them.
    fn shift(&mut self, step: &Step) {
        let [first, index] = step.path.as_slice() else { return };
        let (Some(items), "items", Ok(at)) = (&mut self.items, first.as_str(), index.parse::<usize>()) else { return };
        for item in items {
            item.index = match (item.index, &step.action) {
                (Some(index), Action::Add(_)) if index >= at => Some(index + 1),
                (Some(index), Action::Remove) if index == at => None,
                (Some(index), Action::Remove) if index > at => Some(index - 1),
                (index, _) => index,
            };
        }
    }
}

/// What a document is called, in the words of its text.
fn written(tree: &Tree) -> Identity {
    tree.root().map(|root| Written::of(tree, root).identity).unwrap_or_default()
}
