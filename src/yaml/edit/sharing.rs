//! What YAML lets places share: anchors and aliases, merges, doubled keys.
//!
//! A change means one place alone. Where the place is shared, the text is first brought into a form that says the same
//! and does not share it: the alias on the way is written out, a merged key gets an entry of its own, aliases of what
//! is about to change get the value that they have now. An anchor stays where it is.

use std::collections::HashSet;

use super::error::EditError;
use super::place::{Place, Spot, Way, entry_place, item_place, walk};
use super::remove::{self, Margin};
use super::source::Source;
use super::written::{Manner, Room, Written, write};
use super::{insert, no_such_place, replace};
use crate::change::{Action, Change, Spelled, TextEdit};
use crate::yaml::load;
use crate::yaml::spell::Layout;
use crate::yaml::tree::{Entry, Kind, NodeId};

/// One step towards a place that is not shared.
pub(super) enum Step {
    /// The place is not shared.
    Done(Spot),
    /// These edits leave the value as it is; then the next step is due.
    Edits(Vec<TextEdit>),
}

/// The manners in which the copy of a shared value is spelled, in the order in which they are tried.
pub(super) const COPIES: [Manner; 3] = [Manner::Respelled, Manner::Canonical, Manner::Flow];

/// Finds the place of a change, or what must be done before it can be made there alone.
pub(super) fn step(
    source: &Source<'_>,
    change: &Change<'_>,
    layout: Layout,
    copies: Manner,
) -> Result<Step, EditError> {
    let writer = Copier { source, layout, copies };
    let spot =
        match walk(source, change.path).map_err(|_| no_such_place(source, change.path, "the path leads nowhere"))? {
            Way::Alias(alias, place) => return Ok(Step::Edits(vec![writer.write_out(alias, place)?])),
            Way::Merge { mapping, source: merged, key } => {
                let room = Room { flow: insert::is_flow(source, mapping), layout };
                let value = writer.copy(merged, room)?;
                let fresh = insert::Fresh { value: &value, above: "", behind: "" };
                let edits = insert::entry(source, mapping, key, &fresh, room);
                return edits.map(Step::Edits).ok_or_else(|| unwritable(source, merged));
            }
            Way::Clear(spot) => spot,
        };
    let removes = matches!(change.action, Action::Remove);
    if removes {
        refuse_merged(source, &spot, change.path)?;
    }
    let stale = stale_entry(source, &spot, change.path, removes);
    let mut going = match stale {
        Some((_, entry)) => vec![entry.key, entry.value],
        None => spot.there.iter().map(|(node, _)| *node).collect(),
    };
    if let (None, true, Some(entry)) = (stale, removes, own_entry(source, &spot)) {
        going.push(entry.key);
    }
    let edits = writer.aliases_of(&spot.around, &going)?;
    if !edits.is_empty() {
        return Ok(Step::Edits(edits));
    }
    match (stale, spot.home) {
        (Some((index, entry)), Some(home)) => remove::child(source, home, index, Margin::Own)
            .map(Step::Edits)
            .ok_or_else(|| unwritable(source, entry.key)),
        _ => Ok(Step::Done(spot)),
    }
}

fn unwritable(source: &Source<'_>, node: NodeId) -> EditError {
    EditError::Unwritable { offset: source.full(node).start }
}

fn own_entry(source: &Source<'_>, spot: &Spot) -> Option<Entry> {
    match &source.node(spot.home?.node).kind {
        Kind::Mapping { entries, .. } => entries.get(spot.index).copied(),
        _ => None,
    }
}

/// What a change is about must be one thing: no key on its way, and not its own unless all of it goes, may be torn.
pub(super) fn refuse_torn(source: &Source<'_>, change: &Change<'_>) -> Result<(), EditError> {
    if !source.has_torn_keys {
        return Ok(());
    }
    let removes = matches!(change.action, Action::Remove);
    let kept = change.path.len() - usize::from(removes && !change.path.is_empty());
    for (depth, key) in change.path.iter().take(kept).enumerate() {
        let parent = change.path.get(..depth).and_then(|way| load::find(&source.tree, way));
        let Some(parent) = parent.map(|node| source.tree.resolve(node)) else { break };
        let Kind::Mapping { entries, .. } = &source.node(parent).kind else { continue };
        if let Some((_, last)) = load::torn_keys(&source.tree, entries).get(key.as_str()) {
            return Err(EditError::Torn { key: key.clone(), offset: source.full(*last).start });
        }
    }
    Ok(())
}

/// A key that is also merged would be back as soon as its own entry is gone.
fn refuse_merged(source: &Source<'_>, spot: &Spot, path: &[String]) -> Result<(), EditError> {
    let (Some(home), Some(key)) = (spot.home, path.last()) else { return Ok(()) };
    let Kind::Mapping { entries, .. } = &source.node(home.node).kind else { return Ok(()) };
    for entry in entries.iter().filter(|entry| load::is_merge(source.node(entry.key))) {
        if load::find_entry(&source.tree, std::slice::from_ref(entry), key).is_some() {
            return Err(EditError::Merged { key: key.clone(), offset: source.full(entry.key).start });
        }
    }
    Ok(())
}

/// An entry of the key that does not count, because a later one or a merge overrides it, where it is in the way: behind
/// a removed entry it would count again, beside a new one the key would be doubled.
fn stale_entry(source: &Source<'_>, spot: &Spot, path: &[String], removes: bool) -> Option<(usize, Entry)> {
    let key = path.last()?;
    let Kind::Mapping { entries, .. } = &source.node(spot.home?.node).kind else { return None };
    let counts = spot.there.map(|_| spot.index);
    if counts.is_some() && !removes {
        return None;
    }
    let same = |entry: &Entry| {
        !load::is_merge(source.node(entry.key)) && load::key_text(&source.tree, entry.key).is_ok_and(|k| k == *key)
    };
    let found = entries.iter().enumerate().find(|(index, entry)| counts != Some(*index) && same(entry));
    found.map(|(index, entry)| (index, *entry))
}

struct Copier<'s> {
    source: &'s Source<'s>,
    layout: Layout,
    copies: Manner,
}

impl Copier<'_> {
    /// A node's value, written anew.
    fn copy(&self, node: NodeId, room: Room) -> Result<Written, EditError> {
        let value = load::value_of(&self.source.tree, node).map_err(EditError::Unreadable)?;
        let original = Spelled { text: &self.source.text, tree: &self.source.tree, node, taken: None };
        write(&value, Some(original), self.copies, room).ok_or_else(|| unwritable(self.source, node))
    }

    fn write_out(&self, alias: NodeId, place: Place) -> Result<TextEdit, EditError> {
        let room = Room { flow: place.is_flow(), layout: self.layout };
        let written = self.copy(self.source.tree.resolve(alias), room)?;
        Ok(replace::put(self.source, alias, place, &written, self.layout))
    }

    /// Writes out the aliases elsewhere of what is about to change: of the collections around it and of what goes.
    fn aliases_of(&self, around: &[NodeId], going: &[NodeId]) -> Result<Vec<TextEdit>, EditError> {
        let anchored = self.anchored(around, going);
        if anchored.is_empty() {
            return Ok(Vec::new());
        }
        let mut edits = Vec::new();
        let mut pending: Vec<(NodeId, Option<Place>)> =
            self.source.tree.root().map(|root| (root, Some(Place::Root))).into_iter().collect();
        while let Some((id, place)) = pending.pop() {
            if going.contains(&id) {
                continue;
            }
            match &self.source.node(id).kind {
                Kind::Alias { target } if anchored.contains(target) => match place {
                    Some(place) => edits.push(self.write_out(id, place)?),
                    None => return Err(EditError::AliasAsKey { offset: self.source.full(id).start }),
                },
                Kind::Sequence { items, .. } => {
                    pending.extend(items.iter().rev().map(|item| (item.node, Some(item_place(item)))));
                }
                Kind::Mapping { flow, entries } => {
                    for entry in entries.iter().rev() {
                        pending.push((entry.value, Some(entry_place(*flow, *entry))));
                        pending.push((entry.key, None));
                    }
                }
                _ => {}
            }
        }
        Ok(edits)
    }

    fn anchored(&self, around: &[NodeId], going: &[NodeId]) -> HashSet<NodeId> {
        let mut anchored: HashSet<NodeId> = HashSet::new();
        let has_anchor = |id: &NodeId| self.source.node(*id).anchor.is_some();
        anchored.extend(around.iter().copied().filter(has_anchor));
        let mut pending = going.to_vec();
        while let Some(id) = pending.pop() {
            if has_anchor(&id) {
                anchored.insert(id);
            }
            match &self.source.node(id).kind {
                Kind::Sequence { items, .. } => pending.extend(items.iter().map(|item| item.node)),
                Kind::Mapping { entries, .. } => {
                    pending.extend(entries.iter().flat_map(|entry| [entry.key, entry.value]));
                }
                _ => {}
            }
        }
        anchored
    }
}
