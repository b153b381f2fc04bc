//! The lines that a departure stands on in its document, as a reader points at them: where it lies in a text that the
//! document holds as a literal, these are lines of the text.

use std::ops::Range;

use super::attribute::DocumentProof;
use super::claims::Claim;
use super::extent::{Extents, Told};
use super::overlay::Prover;
use crate::diff::{Difference, Item, Path, Step};
use crate::embedded::Language;
use crate::yaml::load;
use crate::yaml::tree::{Style, Tree};

/// Lines of a departure, as bytes of the texts of its document.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    /// In the base; none where something is new.
    pub(super) base: Vec<Range<usize>>,
    /// In the result; none where something is gone.
    pub(super) result: Vec<Range<usize>>,
}

/// The lines of a difference. `starts` says where the plan's documents begin in the base; with a claim that replaces
/// something they are all the lines of that.
pub(super) fn of(
    prover: &Prover<'_>,
    starts: &[usize],
    document: &DocumentProof,
    difference: &Difference,
    claim: Option<&Claim>,
    told: &mut Told,
) -> Lines {
    let Extents { before, after, .. } = prover.extents(starts, document, difference, claim, told);
    let old = document.before.and_then(|index| prover.base.get(index));
    let new = document.after.and_then(|index| prover.result.get(index));
    let start = old.and_then(|old| starts.get(old.planned)).copied().unwrap_or_default();
    let base = old.and_then(|old| inner(difference, &old.tree, old.text, |i| i.before));
    let result = new.and_then(|new| inner(difference, &new.tree, &new.text, |i| i.after));
    Lines {
        base: base.unwrap_or_else(|| shifted(before, start)),
        result: result.unwrap_or_else(|| shifted(after, new.map_or(0, |new| new.start))),
    }
}

/// Lines of a document as bytes of the text that it stands in from `start` on.
pub(super) fn moved(lines: Vec<Range<usize>>, start: usize) -> Vec<Range<usize>> {
    lines.into_iter().map(|line| line.start + start..line.end + start).collect()
}

fn shifted(lines: Vec<Range<usize>>, start: usize) -> Vec<Range<usize>> {
    lines.into_iter().map(|line| line.start.saturating_sub(start)..line.end.saturating_sub(start)).collect()
}

/// The lines of a difference in a text that a document holds as a literal, whose lines are lines of the document; none
/// where the difference is no part of this side. `None` where the text is written in another way, or is not YAML.
fn inner(
    difference: &Difference,
    tree: &Tree,
    text: &str,
    index: impl Fn(&Item) -> Option<usize> + Copy,
) -> Option<Vec<Range<usize>>> {
    let within = difference.within.as_ref().filter(|within| within.language != Language::Toml)?;
    let node = tree.node(load::find(tree, &leads(&within.path, index)?)?);
    let (Some(Style::Literal), Some(inside)) = (node.style(), node.text()) else { return None };
    let inner = Tree::parse(inside).ok()?;
    let Some(path) = leads(&difference.path, index) else { return Some(Vec::new()) };
    let Some(entry) = entry_of(&inner, &path) else { return Some(Vec::new()) };
    let line_of = |at: usize| inside.get(..at).map_or(0, |before| before.matches('\n').count());
    let first = text.get(..node.span.start)?.matches('\n').count() + 1;
    let lines = first + line_of(entry.start)..first + line_of(entry.end.saturating_sub(1).max(entry.start)) + 1;
    let bytes = start_of_line(text, lines.start)..start_of_line(text, lines.end);
    Some(vec![bytes])
}

/// The byte at which a line begins, by its number from 0.
fn start_of_line(text: &str, line: usize) -> usize {
    match line.checked_sub(1) {
        None => 0,
        Some(breaks) => memchr::memchr_iter(b'\n', text.as_bytes()).nth(breaks).map_or(text.len(), |at| at + 1),
    }
}

/// The way to a place on one side; `None` where that side does not have it.
pub(super) fn leads(path: &Path, index: impl Fn(&Item) -> Option<usize>) -> Option<Vec<String>> {
    let at = |step: &Step| match step {
        Step::Key(key) => Some(key.clone()),
        Step::Item(item) => index(item).map(|index| index.to_string()),
    };
    path.steps().into_iter().map(at).collect()
}

/// The bytes of what stands at a path, from its key to its end.
pub(super) fn entry_of(tree: &Tree, path: &[String]) -> Option<Range<usize>> {
    let node = tree.node(load::find(tree, path)?).full();
    let place = crate::layer::manifest::place_in(tree, path)?;
    Some(place.start.min(node.start)..node.end.max(place.end))
}
