//! A document as the claims say it becomes, every part of it knowing where it comes from.
//!
//! This carries RFC 6902 out once more, on a tree of its own: small, strict, and without an idea of texts or bytes. A
//! part that a claim takes out stays in the tree, marked, so that it can be found by its place in the base.

mod apply;
mod edits;
mod spell;
mod trace;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::claims::Claim;
use crate::embedded::{self, Language};

pub(super) use edits::Edits;
pub(super) use trace::Side;

/// The name of a node in its tree.
pub(super) type Id = usize;

/// How many nodes claims may make: copies of copies would be exponential.
const MAX_NODES: usize = 20_000_000;

/// Where a part of a document comes from: the base, or the claim of that index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Base,
    Claim(usize),
}

#[derive(Debug)]
struct Node {
    origin: Origin,
    content: Content,
    /// What it held in the base, once that was changed.
    original: Option<Content>,
    /// The claim that took it out.
    gone: Option<usize>,
    /// The claim that brought it to where it is, though it is older.
    moved: Option<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    Scalar(Value),
    List(Vec<Id>),
    Map(BTreeMap<String, Id>),
    /// A string that a claim looks into: what it says, and its text as long as no claim changed it.
    Text {
        language: Language,
        inner: Id,
        text: String,
    },
}

/// What happened in a list or mapping.
#[derive(Clone, Debug)]
pub(super) struct Touch {
    pub(super) claim: usize,
    /// The mapping key concerned.
    key: Option<String>,
    /// What went.
    pub(super) removed: Option<Id>,
    /// What came.
    pub(super) added: Option<Id>,
}

/// How a claim fared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It did something.
    Done,
    /// What it wants is there already: from the base, or from an earlier claim.
    Nothing(Origin),
    /// It does not fit, and why.
    Misfit(String),
}

#[derive(Debug)]
pub(super) struct Shadow {
    nodes: Vec<Node>,
    base_root: Id,
    root: Option<Id>,
    touched: BTreeMap<Id, Vec<Touch>>,
    /// Pairs of an earlier claim and a later one that undid or overwrote something of it.
    overrides: BTreeSet<(usize, usize)>,
}

impl Shadow {
    /// The document as the base has it.
    pub(super) fn new(base: &Value) -> Shadow {
        let mut shadow = Shadow {
            nodes: Vec::new(),
            base_root: 0,
            root: None,
            touched: BTreeMap::new(),
            overrides: BTreeSet::new(),
        };
        shadow.base_root = shadow.build(base, Origin::Base);
        shadow.root = Some(shadow.base_root);
        shadow
    }

    /// Carries out the claim of that index. A claim that does not fit may have been carried out in part.
    pub(super) fn apply(&mut self, index: usize, claim: &Claim) -> Fate {
        match self.try_apply(index, claim) {
            Ok(None) => Fate::Done,
            Ok(Some(origin)) => Fate::Nothing(origin),
            Err(why) => Fate::Misfit(why),
        }
    }

    /// The document as it became; `None` when it was deleted.
    pub(super) fn value(&self) -> Option<Value> {
        self.root.map(|root| self.value_of(root))
    }

    /// The pairs of claims of which the later undid or overwrote something of the earlier.
    pub(super) fn overrides(&self) -> &BTreeSet<(usize, usize)> {
        &self.overrides
    }

    fn build(&mut self, value: &Value, origin: Origin) -> Id {
        let content = match value {
            Value::Array(items) => Content::List(items.iter().map(|item| self.build(item, origin)).collect()),
            Value::Object(map) => {
                Content::Map(map.iter().map(|(key, value)| (key.clone(), self.build(value, origin))).collect())
            }
            scalar => Content::Scalar(scalar.clone()),
        };
        self.nodes.push(Node { origin, content, original: None, gone: None, moved: None });
        self.nodes.len() - 1
    }

    fn make(&mut self, value: &Value, origin: Origin) -> Result<Id, String> {
        self.has_room()?;
        Ok(self.build(value, origin))
    }

    /// The same as a node holds. A text that claims changed is one that says the same in any layout here too.
    fn make_like(&mut self, id: Id, origin: Origin) -> Result<Id, String> {
        self.has_room()?;
        let content = match self.content(id).clone() {
            Content::Scalar(value) => Content::Scalar(value),
            Content::List(items) => {
                Content::List(items.into_iter().map(|item| self.make_like(item, origin)).collect::<Result<_, _>>()?)
            }
            Content::Map(map) => {
                let like = |(key, id): (String, Id)| Ok::<_, String>((key, self.make_like(id, origin)?));
                Content::Map(map.into_iter().map(like).collect::<Result<_, _>>()?)
            }
            Content::Text { language, inner, text } => {
                Content::Text { language, inner: self.make_like(inner, origin)?, text }
            }
        };
        self.nodes.push(Node { origin, content, original: None, gone: None, moved: None });
        Ok(self.nodes.len() - 1)
    }

    fn has_room(&self) -> Result<(), String> {
        if self.nodes.len() > MAX_NODES { Err("the claims make too much of the document".into()) } else { Ok(()) }
    }

    /// The content of a node, to be changed. What a node of the base held is kept.
    fn change(&mut self, id: Id) -> &mut Content {
        let node = &mut self.nodes[id];
        if node.origin == Origin::Base && node.original.is_none() {
            node.original = Some(node.content.clone());
        }
        &mut node.content
    }

    pub(super) fn content(&self, id: Id) -> &Content {
        &self.nodes[id].content
    }

    fn origin(&self, id: Id) -> Origin {
        self.nodes[id].origin
    }

    /// The claim that brought a node to where it is.
    pub(super) fn hand(&self, id: Id) -> Option<usize> {
        let node = &self.nodes[id];
        match node.origin {
            Origin::Claim(claim) => Some(node.moved.unwrap_or(claim)),
            Origin::Base => node.moved,
        }
    }

    /// The latest claim that made a part of a node, or the base.
    fn youngest(&self, id: Id) -> Origin {
        self.hands_on(id).last().map_or(Origin::Base, |claim| Origin::Claim(*claim))
    }

    /// The claims that made a part of a node as it is, or brought it there.
    fn hands_on(&self, node: Id) -> BTreeSet<usize> {
        let mut hands = BTreeSet::new();
        self.visit(node, &mut |shadow, id| hands.extend(shadow.hand(id)));
        hands
    }

    /// The claims that made or changed a part of a node, those that took something out of it too.
    fn hands_in(&self, node: Id) -> BTreeSet<usize> {
        let mut hands = self.hands_on(node);
        self.visit(node, &mut |shadow, id| {
            hands.extend(shadow.touched.get(&id).into_iter().flatten().map(|touch| touch.claim));
        });
        hands
    }

    /// Calls `see` for a node and all below it.
    fn visit(&self, id: Id, see: &mut dyn FnMut(&Shadow, Id)) {
        let mut todo = vec![id];
        while let Some(id) = todo.pop() {
            see(self, id);
            match self.content(id) {
                Content::Scalar(_) => {}
                Content::List(items) => todo.extend(items),
                Content::Map(map) => todo.extend(map.values()),
                Content::Text { inner, .. } => todo.push(*inner),
            }
        }
    }

    pub(super) fn value_of(&self, id: Id) -> Value {
        match self.content(id) {
            Content::Scalar(value) => value.clone(),
            Content::List(items) => items.iter().map(|item| self.value_of(*item)).collect(),
            Content::Map(map) => {
                Value::Object(map.iter().map(|(key, value)| (key.clone(), self.value_of(*value))).collect())
            }
            Content::Text { language, inner, text } => {
                let value = self.value_of(*inner);
                let says = |text: &String| embedded::read(*language, text).is_ok_and(|read| read == value);
                let spelled = Some(text.clone()).filter(says).or_else(|| spell::text(*language, &value));
                Value::String(spelled.unwrap_or_else(|| value.to_string()))
            }
        }
    }

    /// Whether a node says what `value` does. A text that claims look into says it in any layout, once they changed it.
    pub(super) fn agrees(&self, id: Id, value: &Value) -> bool {
        self.says(id, value, true)
    }

    /// Whether a node is certainly this value, to the byte: how a text is laid out that claims changed is not known here.
    fn is_surely(&self, id: Id, value: &Value) -> bool {
        self.says(id, value, false)
    }

    fn says(&self, id: Id, value: &Value, in_any_layout: bool) -> bool {
        let says = |id: Id, value: &Value| self.says(id, value, in_any_layout);
        match (self.content(id), value) {
            (Content::Scalar(mine), value) => mine == value,
            (Content::List(items), Value::Array(values)) => {
                items.len() == values.len() && items.iter().zip(values).all(|(item, value)| says(*item, value))
            }
            (Content::Map(map), Value::Object(values)) => {
                let is_said = |(key, id): (&String, &Id)| values.get(key).is_some_and(|value| says(*id, value));
                map.len() == values.len() && map.iter().all(is_said)
            }
            (Content::Text { language, inner, text }, Value::String(other)) => {
                let means = |text: &str| embedded::read(*language, text).is_ok_and(|read| self.agrees(*inner, &read));
                let is_changed = !means(text);
                if is_changed { in_any_layout && means(other) } else { text == other }
            }
            _ => false,
        }
    }
}
