//! Places: where in a tree a path leads, and what of YAML's sharing lies on the way there.

use super::outcome::index;
use super::source::Source;
use crate::yaml::load;
use crate::yaml::tree::{Entry, Item, Kind, NodeId};

/// Where a node stands, seen from what holds it.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// It is the document.
    Root,
    /// It is a value in a block mapping.
    Value(Entry),
    /// It is an item of a block sequence, with the place of its dash.
    Item(usize),
    /// It is a value in a flow mapping.
    FlowValue(Entry),
    /// It is an item of a flow sequence.
    FlowItem,
}

impl Place {
    /// Whether it is inside brackets.
    pub(super) fn is_flow(self) -> bool {
        matches!(self, Place::FlowValue(_) | Place::FlowItem)
    }
}

/// A collection and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Home {
    /// The collection.
    pub(super) node: NodeId,
    /// Where it stands.
    pub(super) place: Place,
}

/// One place that a change is about.
pub(super) struct Spot {
    /// The collections around it, outermost first.
    pub(super) around: Vec<NodeId>,
    /// The innermost of them, with its place; `None` for the document itself.
    pub(super) home: Option<Home>,
    /// Which entry or item of it; where there is none yet, the one before which a new one would come.
    pub(super) index: usize,
    /// What stands there, and where.
    pub(super) there: Option<(NodeId, Place)>,
}

/// How a path leads to its place.
pub(super) enum Way<'p> {
    /// Through nothing but collections that stand where they are.
    Clear(Spot),
    /// Through this alias.
    Alias(NodeId, Place),
    /// Through a key that this mapping has from a merge only; the value is `source`.
    Merge {
        /// The mapping that merges.
        mapping: Home,
        /// The key.
        key: &'p str,
        /// Its value, in another mapping.
        source: NodeId,
    },
}

/// Follows a path; `Err` with the innermost node that was found where it leads nowhere.
///
/// The last segment may name what is not there yet. A merged key counts as not there when it is the last segment.
pub(super) fn walk<'p>(source: &Source<'_>, path: &'p [String]) -> Result<Way<'p>, Option<NodeId>> {
    let Some(root) = source.tree.root() else {
        return if path.is_empty() { Ok(Way::Clear(Spot::nowhere())) } else { Err(None) };
    };
    let (mut node, mut place) = (root, Place::Root);
    let mut around = Vec::new();
    let (mut home, mut position) = (None, 0);
    for (depth, token) in path.iter().enumerate() {
        if let Kind::Alias { .. } = source.node(node).kind {
            return Ok(Way::Alias(node, place));
        }
        around.push(node);
        let here = Home { node, place };
        let last = depth + 1 == path.len();
        match step(source, node, token).ok_or(Some(node))? {
            Step::Child(at, child, child_place) => {
                (home, position, node, place) = (Some(here), at, child, child_place);
            }
            Step::Merged(_) | Step::Nothing if last => {
                let index = source.count(node);
                return Ok(Way::Clear(Spot { around, home: Some(here), index, there: None }));
            }
            Step::Merged(child) => return Ok(Way::Merge { mapping: here, key: token, source: child }),
            Step::Nothing => return Err(Some(node)),
        }
    }
    Ok(Way::Clear(Spot { around, home, index: position, there: Some((node, place)) }))
}

impl Spot {
    fn nowhere() -> Self {
        Spot { around: Vec::new(), home: None, index: 0, there: None }
    }
}

enum Step {
    Child(usize, NodeId, Place),
    Merged(NodeId),
    Nothing,
}

fn step(source: &Source<'_>, node: NodeId, token: &str) -> Option<Step> {
    match &source.node(node).kind {
        Kind::Sequence { items, .. } => {
            let at = if token == "-" { items.len() } else { index(token)? };
            Some(items.get(at).map_or(Step::Nothing, |item| Step::Child(at, item.node, item_place(item))))
        }
        Kind::Mapping { flow, entries } => {
            let Some(value) = load::find_entry(&source.tree, entries, token) else { return Some(Step::Nothing) };
            let own = entries.iter().enumerate().find(|(_, entry)| entry.value == value);
            Some(own.map_or(Step::Merged(value), |(at, entry)| Step::Child(at, value, entry_place(*flow, *entry))))
        }
        _ => None,
    }
}

/// Where the value of an entry stands.
pub(super) fn entry_place(flow: bool, entry: Entry) -> Place {
    if flow { Place::FlowValue(entry) } else { Place::Value(entry) }
}

/// Where an item stands.
pub(super) fn item_place(item: &Item) -> Place {
    item.dash.map_or(Place::FlowItem, Place::Item)
}
