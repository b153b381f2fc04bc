//! What a difference finds in the tree of the claims: its place on either side, and whose it is.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Content, Id, Shadow, Touch};
use crate::diff::{At, Difference, Path, Step, What};
use crate::embedded::Language;

/// Which of the two documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::verify) enum Side {
    Base,
    Result,
}

impl Side {
    /// A step as this side sees it; `None` where it leads to what is not there.
    fn at(self, step: &Step) -> Option<At<'_>> {
        match step {
            Step::Key(key) => Some(At::Key(key)),
            Step::Item(item) if self == Side::Base => item.before.map(At::Index),
            Step::Item(item) => item.after.map(At::Index),
        }
    }
}

/// What is found on the way to a place.
#[derive(Debug)]
pub(in crate::verify) struct Trace {
    /// The nodes on the way, the outermost first.
    pub(in crate::verify) way: Vec<Id>,
    /// The node at the end; `None` where the way does not lead there.
    pub(in crate::verify) node: Option<Id>,
    /// The claim of the innermost node that has one.
    pub(in crate::verify) claim: Option<usize>,
}

/// A path as one side sees it, as far as the way is there.
fn prefix(path: &Path, side: Side) -> Vec<At<'_>> {
    path.steps().into_iter().map_while(|step| side.at(step)).collect()
}

/// Whose a difference is.
#[derive(Debug)]
pub(in crate::verify) struct Owner {
    /// The claim that it belongs to.
    pub(in crate::verify) claim: Option<usize>,
    /// All claims that have a part in it.
    pub(in crate::verify) all: BTreeSet<usize>,
}

impl Shadow {
    /// The node at a place of the base, as far as the way leads.
    pub(super) fn in_base(&self, at: &[At<'_>]) -> Trace {
        self.trace(Some(self.base_root), at, Side::Base)
    }

    /// The node at a place of the document as it became, as far as the way leads.
    pub(in crate::verify) fn in_result(&self, at: &[At<'_>]) -> Trace {
        self.trace(self.root, at, Side::Result)
    }

    /// Where a difference lies on one side, as far as the way leads.
    pub(in crate::verify) fn find(&self, difference: &Difference, side: Side) -> Trace {
        let at = |path: &Path, start: Option<Trace>| {
            let at = prefix(path, side);
            let mut trace = match start {
                Some(string) => self.in_text(string, &at, side),
                None if side == Side::Base => self.in_base(&at),
                None => self.in_result(&at),
            };
            trace.node = trace.node.filter(|_| at.len() == path.steps().len());
            trace
        };
        let string = difference.within.as_ref().map(|within| at(&within.path, None));
        at(&difference.path, string)
    }

    /// Whose a difference is that the claims make. Where the comparison sees another of several equal items gone, new
    /// or moved than the claim did, it is a claim on that list; `is_taken` tells which of them have differences
    /// already.
    pub(in crate::verify) fn owner(&self, difference: &Difference, is_taken: &dyn Fn(usize) -> bool) -> Owner {
        let base = self.find(difference, Side::Base);
        let result = self.find(difference, Side::Result);
        let claim = match difference.what {
            What::Removed(_) => base.claim,
            What::Added(_) | What::Moved { .. } => result.claim,
            What::Replaced { .. } => result.claim.or(base.claim),
        };
        let node = match difference.what {
            What::Removed(_) => base.node,
            What::Added(_) | What::Replaced { .. } => result.node,
            What::Moved { .. } => None,
        };
        // An item whose key a claim changed looks like one gone and one new.
        let inside = node.map(|node| self.hands_in(node)).unwrap_or_default();
        let claim = claim.or_else(|| inside.last().copied());
        let claim = claim.or_else(|| self.by_touch(&result.way, difference, is_taken));
        let claim = claim.or_else(|| self.by_touch(&base.way, difference, is_taken));
        let claim = claim.or_else(|| self.by_hand(&base.way, is_taken));
        let mut all: BTreeSet<usize> = base.claim.into_iter().chain(result.claim).collect();
        match difference.what {
            What::Removed(_) => all.extend(inside),
            _ => all.extend(node.into_iter().flat_map(|node| self.hands_on(node))),
        }
        // What the owner overwrote does not show any more.
        all.retain(|part| claim.is_none_or(|owner| !self.overrides.contains(&(*part, owner))));
        Owner { claim, all }
    }

    /// The claim on the innermost list or mapping of the way that comes nearest to making the difference.
    fn by_touch(&self, way: &[Id], difference: &Difference, is_taken: &dyn Fn(usize) -> bool) -> Option<usize> {
        let rank = |touch: &Touch| {
            let says = |node: Option<Id>, value: &Value| node.is_some_and(|node| self.agrees(node, value));
            let (kind, value) = match &difference.what {
                What::Removed(value) => (touch.removed.is_some(), says(touch.removed, value)),
                What::Added(value) => (touch.added.is_some(), says(touch.added, value)),
                What::Replaced { before, after } => {
                    (touch.added.is_some(), says(touch.removed, before) || says(touch.added, after))
                }
                What::Moved { .. } => (true, touch.added.is_some()),
            };
            (kind, value, !is_taken(touch.claim))
        };
        let mut best: Option<(usize, _)> = None;
        for touches in way.iter().rev().filter_map(|id| self.touched.get(id)) {
            for touch in touches {
                let rank = rank(touch);
                if best.as_ref().is_none_or(|(_, other)| rank > *other) {
                    best = Some((touch.claim, rank));
                }
            }
            if best.is_some() {
                break;
            }
        }
        best.map(|(claim, _)| claim)
    }

    /// A claim on something inside the innermost list or mapping of the way that has one: items may be told apart by
    /// what lies deep in them.
    fn by_hand(&self, way: &[Id], is_taken: &dyn Fn(usize) -> bool) -> Option<usize> {
        let hands = way.iter().rev().map(|id| self.hands_in(*id)).find(|hands| !hands.is_empty())?;
        hands.iter().rev().find(|claim| !is_taken(**claim)).or(hands.last()).copied()
    }

    /// Whether what is found is what the claims say, of two differences at one place.
    pub(in crate::verify) fn explains(&self, expected: &Difference, found: &Difference) -> bool {
        match (&expected.what, &found.what) {
            (What::Removed(_), What::Removed(_)) | (What::Moved { .. }, What::Moved { .. }) => true,
            (What::Added(wanted), What::Added(value))
            | (What::Replaced { after: wanted, .. }, What::Replaced { after: value, .. }) => {
                match self.find(expected, Side::Result).node {
                    Some(node) => self.agrees(node, value),
                    None => wanted == value,
                }
            }
            _ => false,
        }
    }

    /// Whether the document became what this value says.
    pub(in crate::verify) fn is(&self, value: &Value) -> bool {
        self.root.is_some_and(|root| self.agrees(root, value))
    }

    /// Where a difference from what `node` says lies.
    pub(in crate::verify) fn below(&self, node: Id, difference: &Difference) -> Trace {
        // What the difference calls before is what `node` says.
        let at = prefix(&difference.path, Side::Base);
        match &difference.within {
            None => self.trace(Some(node), &at, Side::Result),
            Some(within) => {
                let string = self.trace(Some(node), &prefix(&within.path, Side::Base), Side::Result);
                self.in_text(string, &at, Side::Result)
            }
        }
    }

    /// Whether a difference from what `node` says is one of layout only, in a text that claims changed inside.
    pub(in crate::verify) fn is_layout_below(&self, node: Id, difference: &Difference) -> bool {
        match (&difference.what, self.below(node, difference).node) {
            (What::Replaced { after, .. }, Some(node)) => self.agrees(node, after),
            _ => false,
        }
    }

    /// The same for a difference from the whole document as it became.
    pub(in crate::verify) fn is_layout(&self, difference: &Difference) -> bool {
        self.root.is_some_and(|root| self.is_layout_below(root, difference))
    }

    /// A claim that changed a list or mapping which this claim changed too: the latest.
    pub(in crate::verify) fn fellow(&self, claim: usize) -> Option<usize> {
        let shared = self.touched.values().filter(|touches| touches.iter().any(|touch| touch.claim == claim));
        shared.flatten().map(|touch| touch.claim).filter(|other| *other != claim).max()
    }

    /// The same for a place inside the text that `string` found.
    pub(in crate::verify) fn in_text(&self, string: Trace, at: &[At<'_>], side: Side) -> Trace {
        let inner = match string.node.map(|id| self.held(id, side)) {
            Some(Content::Text { inner, .. }) => Some(*inner),
            _ => None,
        };
        let trace = self.trace(inner, at, side);
        let way = string.way.into_iter().chain(trace.way).collect();
        Trace { way, node: trace.node, claim: trace.claim.or(string.claim) }
    }

    /// What a node holds, on one side.
    fn held(&self, id: Id, side: Side) -> &Content {
        let node = &self.nodes[id];
        node.original.as_ref().filter(|_| side == Side::Base).unwrap_or(&node.content)
    }

    fn trace(&self, start: Option<Id>, at: &[At<'_>], side: Side) -> Trace {
        let mut trace = Trace { way: Vec::new(), node: start, claim: None };
        let mut steps = at.iter();
        while let Some(id) = trace.node {
            trace.way.push(id);
            let claim = match side {
                Side::Base => self.nodes[id].gone,
                Side::Result => self.hand(id),
            };
            trace.claim = claim.or(trace.claim);
            let Some(step) = steps.next() else { break };
            trace.node = match (self.held(id, side), step) {
                (Content::Map(map), At::Key(key)) => map.get(*key).copied(),
                (Content::List(items), At::Index(index)) => items.get(*index).copied(),
                _ => None,
            };
        }
        trace
    }

    /// The language in which claims look into the string at a place of the base.
    pub(in crate::verify) fn language(&self, at: &[At<'_>]) -> Option<Language> {
        match self.content(self.in_base(at).node?) {
            Content::Text { language, .. } => Some(*language),
            _ => None,
        }
    }
}
