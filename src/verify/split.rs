//! One difference that several patches make: the part of each.
//!
//! A patch adds a mapping and another a key in it; to the comparison that is one added mapping. Each patch gets what
//! is its own.

use serde_json::Value;

use super::attribute::Departure;
use super::claims::Claim;
use super::shadow::{Content, Id, Shadow, Side};
use crate::diff::{Difference, Path, Step, What, Within};
use crate::embedded;

pub(super) struct Split<'s> {
    pub(super) shadow: &'s Shadow,
    pub(super) claims: &'s [Claim],
}

impl Split<'_> {
    /// The difference, less what other patches than that of `claim` brought into it, and their parts.
    pub(super) fn difference(&self, mut difference: Difference, claim: usize) -> Vec<Departure> {
        let mut parts = Vec::new();
        if let (Some(node), What::Added(value) | What::Replaced { after: value, .. }) =
            (self.shadow.find(&difference, Side::Result).node, &mut difference.what)
        {
            let within = difference.within.clone();
            self.cut(node, value, &Here { path: difference.path.clone(), within, claim }, &mut parts);
        }
        parts.insert(0, Departure { difference, claim, with: Vec::new() });
        parts
    }

    /// Cuts out of `value`, which the node says, what other patches than that of `here` brought.
    fn cut(&self, node: Id, value: &mut Value, here: &Here, parts: &mut Vec<Departure>) {
        match (self.shadow.content(node), value) {
            (Content::Map(nodes), Value::Object(map)) => {
                for (key, node) in nodes {
                    let there = here.key(key);
                    if let Some(claim) = self.foreign(*node, here) {
                        if let Some(value) = map.shift_remove(key) {
                            self.part(*node, value, there.of(claim), parts);
                        }
                    } else if let Some(value) = map.get_mut(key) {
                        self.cut(*node, value, &there, parts);
                    }
                }
            }
            (Content::List(nodes), Value::Array(items)) if nodes.len() == items.len() => {
                let whole = items.clone();
                let mut kept = Vec::with_capacity(items.len());
                for (index, (node, mut value)) in nodes.iter().zip(std::mem::take(items)).enumerate() {
                    let there = here.step(Step::of_new_item(&whole, index));
                    if let Some(claim) = self.foreign(*node, here) {
                        self.part(*node, value, there.of(claim), parts);
                    } else {
                        self.cut(*node, &mut value, &there, parts);
                        kept.push(value);
                    }
                }
                *items = kept;
            }
            // A text stays as it is; what others brought into it is told besides.
            (Content::Text { language, inner, .. }, Value::String(text)) if here.within.is_none() => {
                if let Ok(mut value) = embedded::read(*language, text) {
                    let within = Some(Within { path: here.path.clone(), language: *language });
                    let there = Here { path: Path::default(), within, claim: here.claim };
                    self.cut(*inner, &mut value, &there, parts);
                }
            }
            _ => {}
        }
    }

    fn part(&self, node: Id, mut value: Value, here: Here, parts: &mut Vec<Departure>) {
        let at = parts.len();
        self.cut(node, &mut value, &here, parts);
        let Here { path, within, claim } = here;
        let difference = Difference { path, within, what: What::Added(value) };
        parts.insert(at, Departure { difference, claim, with: Vec::new() });
    }

    /// The claim of another patch that brought the node.
    fn foreign(&self, node: Id, here: &Here) -> Option<usize> {
        let patch = |claim: usize| self.claims.get(claim).map(|claim| claim.patch);
        self.shadow.hand(node).filter(|claim| patch(*claim) != patch(here.claim))
    }
}

/// Where the cutting is, and whose the place is.
struct Here {
    path: Path,
    within: Option<Within>,
    claim: usize,
}

impl Here {
    fn step(&self, step: Step) -> Here {
        Here { path: self.path.join(step), within: self.within.clone(), claim: self.claim }
    }

    fn key(&self, key: &str) -> Here {
        self.step(Step::Key(key.to_owned()))
    }

    fn of(self, claim: usize) -> Here {
        Here { claim, ..self }
    }
}
