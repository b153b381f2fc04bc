//! The lines on which a departure stands, in the base and in the result.
//!
//! They are found by walking the two trees along the departure's path, and nothing of what an editor did is asked.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::shadow::Edits;
use crate::diff::{At, Difference, Path, Step, What};
use crate::yaml::load;
use crate::yaml::tree::{Entry, Item, Kind, NodeId, Style, Tree};

/// A document as it is walked.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    /// Its text.
    pub(super) text: &'a str,
    /// The text's tree.
    pub(super) tree: &'a Tree,
}

/// Stretches of whole lines, in bytes of a document's text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Extents {
    /// The lines of the departure in the base.
    pub(super) before: Vec<Range<usize>>,
    /// Those in the result.
    pub(super) after: Vec<Range<usize>>,
    /// Lines next to those of the base, each without its comment, which may differ by punctuation: a comma, the `{}` of
    /// an empty parent, the header of a literal, the final line break.
    pub(super) near_before: Vec<Range<usize>>,
    /// Lines next to those of the result.
    pub(super) near_after: Vec<Range<usize>>,
    /// Lines without content in the base that may go too: behind something that is gone, which a block scalar before it
    /// would take for its own, and lines of a comma alone beside one.
    pub(super) loose: Vec<Range<usize>>,
    /// Where something of the base ends that is gone from behind a dash, with its line, if others of its collection stay.
    pub(super) freed: Vec<usize>,
    /// Where the first line of something of the base begins that is gone, without the comments above it.
    pub(super) gone: Vec<usize>,
    /// Where what came ends in the result, of a block collection.
    pub(super) ends: Vec<usize>,
}

/// The collections of one document whose near lines were told with an earlier departure: they are told once, however many
/// departures a collection has.
#[derive(Debug, Default)]
pub(super) struct Told {
    base: HashSet<(NodeId, usize)>,
    result: HashSet<(NodeId, usize)>,
    /// The comment lines that stood above what is moved, with where that is now.
    carried: Vec<(Path, Vec<String>)>,
}

impl Told {
    /// For these edits of a document.
    pub(super) fn of(edits: &Edits, base: Side<'_>) -> Told {
        let above = |was: &Path| {
            let path = sided(was, |item| item.before);
            let walked = walk(base, &path, path.len());
            // What an alias stands for is copied without them.
            let entry = walked.entry.filter(|_| !walked.at_alias)?;
            let start = line_start(base.text, entry.start);
            let is_first = base.text.get(start..entry.start)?.trim().is_empty();
            let comments = base.text.get(above_comments(base.text, start)..start).filter(|_| is_first)?;
            Some(comments.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>())
        };
        let carried = edits.moved.iter().filter_map(|(was, now)| Some((now.clone(), above(was)?)));
        Told { carried: carried.collect(), ..Told::default() }
    }

    /// Where the lines begin that came to a place of the result, the first of them at that byte: with the comments that
    /// stood above it in the base, where they stand above it.
    fn with_carried(&self, path: &Path, text: &str, start: usize) -> usize {
        let Some((_, lines)) = self.carried.iter().find(|(now, _)| now.after() == path.after()) else { return start };
        let above: Vec<Range<usize>> = each_line(text, above_comments(text, start)..start).collect();
        let here = above.len().checked_sub(lines.len()).and_then(|at| above.get(at..)).unwrap_or_default();
        let is_alike = |(here, line): (&Range<usize>, &String)| text.get(here.clone()).map(str::trim) == Some(line);
        let is_here = here.len() == lines.len() && here.iter().zip(lines).all(is_alike);
        here.first().filter(|_| is_here).map_or(start, |line| line.start)
    }
}

/// Where a walk along a path ended.
struct Walked {
    /// How many steps of the path it took.
    depth: usize,
    /// The entry or item that it ended at, its key or dash included; `None` where nothing is at the path.
    entry: Option<Range<usize>>,
    /// The other entries of the same key, which do not count.
    doubled: Vec<Range<usize>>,
    /// The collection that the entry is in, or would be.
    container: Option<(NodeId, usize)>,
    /// How many steps of the path lead to it.
    container_depth: usize,
    /// Whether an alias ended it, or a key that a merge brings in.
    at_alias: bool,
}

/// The lines of a difference. What lies deeper than the `rewritten` place, by its number of steps, was written anew
/// together with what it lies in.
pub(super) fn of(
    difference: &Difference,
    rewritten: Option<usize>,
    base: Side<'_>,
    result: Side<'_>,
    told: &mut Told,
) -> Extents {
    let path = difference.within.as_ref().map_or(&difference.path, |w| &w.path);
    let total = path.steps().len().min(rewritten.unwrap_or(usize::MAX));
    let (mut before, mut after) = (sided(path, |i| i.before), sided(path, |i| i.after));
    before.truncate(total);
    after.truncate(total);
    let mut old = walk(base, &before, total);
    let mut new = walk(result, &after, total);
    // Where the base has an alias or a merged key, the result has it written out, there and not deeper.
    let is_written_out = old.at_alias || new.at_alias;
    if is_written_out {
        let depth = old.depth.min(new.depth);
        old = walk(base, before.get(..depth).unwrap_or(&before), depth);
        new = walk(result, after.get(..depth).unwrap_or(&after), depth);
    }
    let near_before = old.container.filter(|c| told.base.insert(*c)).map(|c| near(base, c));
    let near_after = new.container.filter(|c| told.result.insert(*c)).map(|c| near(result, c));
    let (near_before, near_after) = (near_before.unwrap_or_default(), near_after.unwrap_or_default());
    let is_flow = |side: Side<'_>, walked: &Walked| walked.container.is_some_and(|(c, _)| side.tree.node(c).is_flow());
    let (is_old_empty, is_new_empty) = (is_in_empty(base, &old), is_in_empty(result, &new));
    // What came and went leaves a collection of one line with other blanks at most, which is near.
    let stays_empty = is_old_empty && is_new_empty && container_lines(base, &old) == first_line(base, &old);
    let is_all = is_flow(base, &old) && is_flow(result, &new) && (is_old_empty || is_new_empty) && !stays_empty;
    if shares_lines(base, &old) || shares_lines(result, &new) || is_all {
        let (before, after) = (container_lines(base, &old), container_lines(result, &new));
        // The comments in a block collection may stay where it becomes one of flow.
        let is_block = !is_flow(base, &old);
        let (loose, before) = before
            .into_iter()
            .flat_map(|lines| each_line(base.text, lines))
            .partition(|line| is_block && base.text.get(line.clone()).is_some_and(is_without_content));
        return Extents { before, after, near_before, near_after, loose, ..Extents::default() };
    }
    // What is replaced keeps the comments above it, also where the difference is told as a removal and an addition.
    let gone = matches!(difference.what, What::Removed(_)) && difference.within.is_none();
    let gone = gone && rewritten.is_none() && !is_written_out;
    let entry = old.entry.as_ref().filter(|_| gone);
    let mut loose = entry.map(|entry| loose(base, entry, has_block_in(result, &new))).unwrap_or_default();
    loose.extend(entry.into_iter().flat_map(|_| comma_lines(base, &old)));
    let (before, blank) = without_blank_end(base.text, lines(base.text, &old, gone), gone);
    loose.extend(blank);
    let mut extents = Extents {
        before,
        after: lines(result.text, &new, false),
        near_before,
        near_after,
        loose,
        freed: Vec::new(),
        gone: entry.map(|entry| line_start(base.text, entry.start)).into_iter().collect(),
        ends: Vec::new(),
    };
    if !is_flow(result, &new) {
        extents.ends = extents.after.iter().map(|lines| lines.end).collect();
    }
    if matches!(difference.what, What::Added(_) | What::Moved { .. })
        && difference.within.is_none()
        && rewritten.is_none()
        && !is_written_out
    {
        for lines in &mut extents.after {
            lines.start = told.with_carried(path, result.text, lines.start);
        }
    }
    extents.before.extend(lone_brackets(base, &old).filter(|_| !is_flow(result, &new)));
    extents.after.extend(lone_brackets(result, &new).filter(|_| !is_flow(base, &old)));
    // Where the entry comes or goes behind a dash, what stood there moves to a line of its own, or the other way round.
    let comes_or_goes = old.entry.is_some() != new.entry.is_some() || gone;
    let in_one = old.container_depth == new.container_depth;
    if in_one && is_flow(base, &old) && !is_flow(result, &new) {
        extents.before.extend(container_lines(base, &old));
        extents.after.extend(key_line(base, &old, result, &new));
    }
    let (is_compact_in_base, is_compact_in_result) = (is_compact(base, &old), is_compact(result, &new));
    if comes_or_goes && in_one && (is_compact_in_base || is_compact_in_result) {
        let (old, new) = (old.container, new.container);
        extents.before.extend(old.filter(|_| is_old_empty).into_iter().flat_map(|old| first_lines(base, old)));
        extents.after.extend(new.filter(|_| is_new_empty).into_iter().flat_map(|new| first_lines(result, new)));
        if !is_new_empty {
            extents.after.extend(entry.and(new).and_then(|container| lone_marker(result, container)));
        }
        let is_alone = old.is_none_or(|(container, _)| child_spans(base, container).len() < 2);
        extents.freed.extend(entry.filter(|_| !is_alone).map(|entry| line_end(base.text, entry.end)));
        let comes = is_compact_in_result && !is_compact_in_base;
        extents.before.extend(old.filter(|_| comes).and_then(|container| marker_line(base, container)));
    }
    extents
}

/// The same, with the lines of aliases whose node is changed.
pub(super) fn of_edit(
    difference: &Difference,
    rewritten: Option<usize>,
    base: Side<'_>,
    result: Side<'_>,
    told: &mut Told,
) -> Extents {
    let mut extents = of(difference, rewritten, base, result, told);
    let changed: Vec<Range<usize>> = extents.before.iter().cloned().chain(home(difference, base)).collect();
    for alias in aliases_of(base.tree, &changed) {
        let path: Vec<At<'_>> = alias.iter().map(OwnedAt::borrowed).collect();
        extents.before.extend(at(base, &path));
        extents.after.extend(at(result, &path));
    }
    extents
}

/// Leaves the line of a key or dash that a text stands behind out of the lines of a departure, if edits lie in the text alone:
/// both sides have it, as a literal with no more other than its indicators.
pub(super) fn keep_header(extents: &mut Extents, path: &Path, base: Side<'_>, result: Side<'_>) {
    let header = |side: Side<'_>, way: &[At<'_>]| {
        let entry = walk(side, way, way.len()).entry?;
        let mut literals = side.tree.nodes().filter(|(_, node)| node.style() == Some(Style::Literal));
        let (_, node) = literals.find(|(_, node)| entry.contains(&node.span.start) && node.span.end >= entry.end)?;
        (line_start(side.text, entry.start) == line_start(side.text, node.span.start))
            .then(|| line_start(side.text, entry.start)..line_end(side.text, entry.start))
    };
    let (old, new) = (header(base, &sided(path, |item| item.before)), header(result, &sided(path, |item| item.after)));
    let (Some(old), Some(new)) = (old, new) else { return };
    let without = |lines: &mut Vec<Range<usize>>, header: &Range<usize>| {
        for lines in lines.iter_mut().filter(|lines| lines.start == header.start) {
            lines.start = header.end;
        }
    };
    without(&mut extents.before, &old);
    without(&mut extents.after, &new);
    extents.near_before.push(content(base, old.start));
    extents.near_after.push(content(result, new.start));
}

/// The first byte of the collection of the base that something comes into.
fn home(difference: &Difference, base: Side<'_>) -> Option<Range<usize>> {
    let path = difference.within.as_ref().map_or(&difference.path, |within| &within.path);
    let walked = walk(base, &sided(path, |item| item.before), path.steps().len());
    let (container, _) = walked.container.filter(|_| walked.entry.is_none())?;
    let start = base.tree.node(container).span.start;
    Some(start..start + 1)
}

/// The brackets of an empty collection that stand alone on their line: a block collection in their place has none.
fn lone_brackets(side: Side<'_>, walked: &Walked) -> Option<Range<usize>> {
    let (container, _) = walked.container.filter(|_| is_in_empty(side, walked))?;
    let start = line_start(side.text, side.tree.node(container).span.start);
    let line = start..line_end(side.text, start);
    side.text.get(line.clone()).is_some_and(|text| matches!(text.trim(), "{}" | "[]")).then_some(line)
}

/// The line of the key or dash of a block collection that was one of flow, where nothing stands on it but the comment that
/// stood behind the bracket.
fn key_line(base: Side<'_>, old: &Walked, result: Side<'_>, new: &Walked) -> Option<Range<usize>> {
    let comment = |side: Side<'_>, at: usize| {
        let line = line_start(side.text, at)..line_end(side.text, at);
        side.tree.comment_in(line).and_then(|comment| side.text.get(comment).map(str::to_owned))
    };
    let ((old, _), (_, start)) = (old.container?, new.container?);
    let is_same = comment(base, base.tree.node(old).span.end) == comment(result, start);
    let line = line_start(result.text, start)..line_end(result.text, start);
    (is_same && !child_spans(result, new.container?.0).iter().any(|child| line.contains(&child.start))).then_some(line)
}

/// Whether a text ends in a block scalar, or has one that keeps all line breaks: then the final one may be a part of what it
/// says.
pub(super) fn may_need_its_end(side: Side<'_>) -> bool {
    let end = side.text.trim_end().len();
    let header = |start: usize| side.text.get(start..line_end(side.text, start)).unwrap_or_default();
    let keeps = |start: usize| header(start).split('#').next().is_some_and(|header| header.contains('+'));
    let mut blocks = side.tree.nodes().filter(|(_, node)| node.style().is_some_and(Style::is_block));
    blocks.any(|(_, node)| node.span.end >= end || keeps(node.span.start))
}

/// The line of the dash or colon that a collection is behind, where nothing else stands on it and a comment comes next.
fn lone_marker(side: Side<'_>, container: (NodeId, usize)) -> Option<Range<usize>> {
    let line = marker_line(side, container)?;
    side.text.get(line.end..)?.trim_start().starts_with('#').then_some(line)
}

/// The line of the dash or colon that a collection is behind, where nothing else stands on it.
fn marker_line(side: Side<'_>, (container, start): (NodeId, usize)) -> Option<Range<usize>> {
    let line = line_start(side.text, start)..line_end(side.text, start);
    let text = side.text.get(line.clone())?.trim_end_matches(['\r', '\n']);
    let is_marker = !text.ends_with(' ') && text.chars().all(|c| matches!(c, ' ' | '-' | '?' | ':'));
    let has_child = child_spans(side, container).iter().any(|child| line.contains(&child.start));
    (is_marker && !has_child).then_some(line)
}

/// The lines without content directly behind an entry.
fn trivia_behind(side: Side<'_>, entry: &Range<usize>) -> Vec<Range<usize>> {
    let lines = each_line(side.text, line_end(side.text, entry.end)..side.text.len());
    lines.take_while(|line| side.text.get(line.clone()).is_some_and(is_without_content)).collect()
}

/// A line without its comment and the blanks before that; of a comment's own line, all blanks but one.
fn content(side: Side<'_>, start: usize) -> Range<usize> {
    let line = start..line_end(side.text, start);
    let comment = side.tree.comment_in(line.clone()).map(|comment| comment.start);
    let bare = |at: usize| match side.text.get(line.start..at).unwrap_or_default().trim_end_matches([' ', '\t']).len() {
        0 => at.saturating_sub(1).max(line.start),
        bare => line.start + bare,
    };
    line.start..comment.map_or(line.end, bare)
}

/// Whether the entry is of a block collection and begins on the line of the dash or the colon that the collection is behind.
fn is_compact(side: Side<'_>, walked: &Walked) -> bool {
    walked.entry.as_ref().is_some_and(|entry| {
        let before = side.text.get(line_start(side.text, entry.start)..entry.start);
        before.is_some_and(|before| !before.trim().is_empty())
    })
}

/// The lines without content behind an entry that stands right behind a block scalar, or does once the edits are made.
fn loose(side: Side<'_>, entry: &Range<usize>, behind_new_block: bool) -> Vec<Range<usize>> {
    let start = above_comments(side.text, line_start(side.text, entry.start));
    let ends_here = |span: &Range<usize>| {
        let between = side.text.get(span.end..start);
        span.start < start && between.is_some_and(|text| text.trim().is_empty())
    };
    let mut blocks = side.tree.nodes().filter(|(_, node)| node.style().is_some_and(Style::is_block));
    if !behind_new_block && !blocks.any(|(_, node)| ends_here(&node.span)) {
        return Vec::new();
    }
    trivia_behind(side, entry)
}

/// Whether the collection of an entry holds a block scalar.
fn has_block_in(side: Side<'_>, walked: &Walked) -> bool {
    let Some((container, _)) = walked.container else { return false };
    let span = &side.tree.node(container).span;
    side.tree.nodes().any(|(_, node)| node.style().is_some_and(Style::is_block) && span.contains(&node.span.start))
}

/// The lines in a stretch of whole lines.
fn each_line(text: &str, lines: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let line = move |at: usize| (at < lines.end).then(|| at..line_end(text, at));
    std::iter::successors(line(lines.start), move |last| line(last.end))
}

/// Whether a line is blank or a comment.
fn is_without_content(line: &str) -> bool {
    line.trim().is_empty() || line.trim_start().starts_with('#')
}

/// Whether the entry is one of a flow collection and stands on a line with more than itself: then an edit of it is one
/// of the whole line, on the side that lacks the entry too.
fn shares_lines(side: Side<'_>, walked: &Walked) -> bool {
    let (Some((container, _)), Some(entry)) = (walked.container, &walked.entry) else { return false };
    let lines = line_start(side.text, entry.start)..line_end(side.text, entry.end);
    let before = side.text.get(lines.start..entry.start).unwrap_or_default();
    let behind = side.text.get(entry.end..lines.end).unwrap_or_default().trim_start().trim_start_matches(',').trim();
    side.tree.node(container).is_flow() && !(before.trim().is_empty() && (behind.is_empty() || behind.starts_with('#')))
}

/// Whether the entry would be in a collection that has none: then it is all that the other side's holds.
fn is_in_empty(side: Side<'_>, walked: &Walked) -> bool {
    walked.container.is_some_and(|(node, _)| match &side.tree.node(node).kind {
        Kind::Mapping { entries, .. } => entries.is_empty(),
        Kind::Sequence { items, .. } => items.is_empty(),
        Kind::Scalar { .. } | Kind::Alias { .. } => false,
    })
}

/// The lines that the collection of an entry stands on, which may be none of its parent's.
fn container_lines(side: Side<'_>, walked: &Walked) -> Vec<Range<usize>> {
    let of = |(container, start): (NodeId, usize)| {
        let span = &side.tree.node(container).span;
        line_start(side.text, start.min(span.start))..line_end(side.text, span.end)
    };
    walked.container.map(of).into_iter().collect()
}

/// The first of these lines.
fn first_line(side: Side<'_>, walked: &Walked) -> Vec<Range<usize>> {
    let lines = container_lines(side, walked);
    lines.into_iter().map(|lines| lines.start..line_end(side.text, lines.start)).collect()
}

/// The lines of the entry at a path of mapping keys and indices, where there is one.
pub(super) fn at(side: Side<'_>, path: &[At<'_>]) -> Vec<Range<usize>> {
    lines(side.text, &walk(side, path, path.len()), false)
}

/// Where aliases stand whose anchored node overlaps one of those stretches: an editor that changes the node has to
/// write them out.
pub(super) fn aliases_of(tree: &Tree, changed: &[Range<usize>]) -> Vec<Vec<OwnedAt>> {
    let mut found = Vec::new();
    let has_alias = tree.nodes().any(|(_, node)| matches!(node.kind, Kind::Alias { .. }));
    let mut open: Vec<(NodeId, Vec<OwnedAt>)> =
        tree.root().filter(|_| has_alias).map(|r| (r, Vec::new())).into_iter().collect();
    while let Some((id, path)) = open.pop() {
        let below = |step: OwnedAt| path.iter().cloned().chain(std::iter::once(step)).collect::<Vec<_>>();
        match &tree.node(id).kind {
            Kind::Alias { target } => {
                let span = &tree.node(*target).span;
                if changed.iter().any(|c| c.start < span.end && span.start < c.end) {
                    found.push(path);
                }
            }
            Kind::Sequence { items, .. } => {
                open.extend(items.iter().enumerate().map(|(i, item)| (item.node, below(OwnedAt::Index(i)))));
            }
            Kind::Mapping { entries, .. } => {
                for entry in entries {
                    let key = load::key_text(tree, entry.key).map(Cow::into_owned).unwrap_or_default();
                    open.push((entry.value, below(OwnedAt::Key(key))));
                }
            }
            Kind::Scalar { .. } => {}
        }
    }
    found
}

/// A step that owns its key.
#[derive(Clone, Debug)]
pub(super) enum OwnedAt {
    /// A mapping key.
    Key(String),
    /// An index.
    Index(usize),
}

impl OwnedAt {
    /// It, borrowed.
    pub(super) fn borrowed(&self) -> At<'_> {
        match self {
            OwnedAt::Key(key) => At::Key(key),
            OwnedAt::Index(index) => At::Index(*index),
        }
    }
}

/// A path as one side has it, as far as the side has it.
fn sided(path: &Path, index: impl Fn(&crate::diff::Item) -> Option<usize>) -> Vec<At<'_>> {
    let mut sided = Vec::new();
    for step in path.steps() {
        match step {
            Step::Key(key) => sided.push(At::Key(key)),
            Step::Item(item) => match index(item) {
                Some(index) => sided.push(At::Index(index)),
                None => break,
            },
        }
    }
    sided
}

/// Walks along a path as far as the text itself goes: an alias, and what a merge brings in, end the walk. `total` is
/// the length of the whole path, of which this side may lack the end.
fn walk(side: Side<'_>, path: &[At<'_>], total: usize) -> Walked {
    let mut walked =
        Walked { depth: 0, entry: None, doubled: Vec::new(), container: None, container_depth: 0, at_alias: false };
    let Some(mut at) = side.tree.root() else { return walked };
    let mut entry = side.tree.node(at).full();
    for (number, step) in path.iter().enumerate() {
        if matches!(side.tree.node(at).kind, Kind::Alias { .. }) {
            walked.at_alias = true;
            walked.entry = Some(entry);
            return walked;
        }
        walked.container = Some((at, entry.start));
        walked.container_depth = walked.depth;
        walked.depth += 1;
        let mut found = children(side.tree, at, *step);
        let Some((last, node)) = found.pop() else {
            walked.at_alias = number + 1 < total;
            return walked;
        };
        walked.doubled = found.into_iter().map(|(entry, _)| entry).collect();
        entry = last;
        at = node;
    }
    if path.len() < total {
        walked.container = Some((at, entry.start));
        walked.container_depth = walked.depth;
        walked.at_alias = matches!(side.tree.node(at).kind, Kind::Alias { .. });
        walked.entry = Some(entry).filter(|_| walked.at_alias);
    } else {
        walked.entry = Some(entry);
    }
    walked
}

/// The entries or the item at a step that the text itself has there, the one that counts last: their bytes, key or dash
/// included, and their values.
fn children(tree: &Tree, of: NodeId, step: At<'_>) -> Vec<(Range<usize>, NodeId)> {
    match (&tree.node(of).kind, step) {
        (Kind::Mapping { entries, .. }, At::Key(key)) => {
            let named = entries.iter().filter(|e| load::key_text(tree, e.key).is_ok_and(|k| k == key));
            let entry = |entry: &Entry| {
                let start = entry.question.unwrap_or(tree.node(entry.key).full().start);
                let end = tree.node(entry.value).full().end.max(entry.colon.map_or(0, |c| c + 1));
                (start..end, entry.value)
            };
            named.map(entry).collect()
        }
        (Kind::Sequence { items, .. }, At::Index(index)) => {
            let item = |item: &Item| {
                let node = tree.node(item.node).full();
                (item.dash.unwrap_or(node.start)..node.end, item.node)
            };
            items.get(index).map(item).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn lines(text: &str, walked: &Walked, with_comments: bool) -> Vec<Range<usize>> {
    let whole = |entry: &Range<usize>| {
        let start = line_start(text, entry.start);
        let own_line = text.get(start..entry.start).is_some_and(|before| before.trim().is_empty());
        let start = if with_comments && own_line { above_comments(text, start) } else { start };
        start..line_end(text, entry.end)
    };
    walked.entry.iter().chain(walked.entry.iter().flat_map(|_| &walked.doubled)).map(whole).collect()
}

/// Without the blank lines at the end of what goes, which are a block scalar's as long as it is there and may stay: these
/// apart.
fn without_blank_end(text: &str, lines: Vec<Range<usize>>, goes: bool) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let mut blank = Vec::new();
    let end_of = |lines: &Range<usize>| {
        let content = text.get(lines.clone()).unwrap_or_default().trim_end().len();
        line_end(text, lines.start + content)
    };
    let without = |lines: Range<usize>| {
        let end = if goes { end_of(&lines).min(lines.end) } else { lines.end };
        blank.extend(each_line(text, end..lines.end));
        lines.start..end
    };
    let lines = lines.into_iter().map(without).collect();
    (lines, blank)
}

/// The lines on which a container and the entries in it begin.
fn first_lines(side: Side<'_>, (container, start): (NodeId, usize)) -> Vec<Range<usize>> {
    let starts = child_spans(side, container).into_iter().map(|child| child.start);
    let starts = starts.chain([start, side.tree.node(container).span.start]);
    starts.map(|at| line_start(side.text, at)..line_end(side.text, at)).collect()
}

/// The lines that punctuation may change on: that of the container's own key or dash, the first and last lines of
/// everything in it, and between brackets those on which a comma may stand.
fn near(side: Side<'_>, (container, start): (NodeId, usize)) -> Vec<Range<usize>> {
    let span = &side.tree.node(container).span;
    let children = child_spans(side, container);
    let ends = children.iter().flat_map(|c| [c.start, c.end]).chain([start, span.start, span.end]);
    let starts =
        ends.map(|at| line_start(side.text, at)).chain(gap_lines(side, container).into_iter().map(|l| l.start));
    starts.map(|start| content(side, start)).collect()
}

/// The lines between the parts of a flow collection and its brackets, with those on which these begin and end.
fn gap_lines(side: Side<'_>, container: NodeId) -> Vec<Range<usize>> {
    let node = side.tree.node(container);
    if !node.is_flow() {
        return Vec::new();
    }
    let mut from = node.span.start;
    let next = child_spans(side, container).into_iter().chain(std::iter::once(node.span.end..node.span.end));
    let gaps =
        next.map(|next| line_start(side.text, std::mem::replace(&mut from, next.end))..line_end(side.text, next.start));
    gaps.flat_map(|gap| each_line(side.text, gap)).collect()
}

/// The lines that hold nothing but a comma of the entry's collection: such a comma may go with its line.
fn comma_lines(side: Side<'_>, walked: &Walked) -> Vec<Range<usize>> {
    let lines = walked.container.map(|(container, _)| gap_lines(side, container)).unwrap_or_default();
    let is_comma = |line: &Range<usize>| side.text.get(line.clone()).is_some_and(|line| line.trim() == ",");
    lines.into_iter().filter(is_comma).collect()
}

/// From its key to the end of its value, for each entry; the whole of each item, with its dash.
fn child_spans(side: Side<'_>, container: NodeId) -> Vec<Range<usize>> {
    match &side.tree.node(container).kind {
        Kind::Mapping { entries, .. } => {
            entries.iter().map(|e| side.tree.node(e.key).full().start..side.tree.node(e.value).full().end).collect()
        }
        Kind::Sequence { items, .. } => {
            let item = |item: &Item| (side.tree.node(item.node).full(), item.dash);
            items.iter().map(item).map(|(node, dash)| dash.unwrap_or(node.start)..node.end).collect()
        }
        _ => Vec::new(),
    }
}

/// The start of the line that a byte is on.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|t| t.rfind('\n')).map_or(0, |n| n + 1)
}

/// The end of the line, its break included.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|t| t.find('\n')).map_or(text.len(), |n| at + n + 1)
}

/// The start of the comment lines directly above a line, in its column.
fn above_comments(text: &str, mut start: usize) -> usize {
    let column = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let own = text.get(start..).map_or(0, column);
    while start > 0 {
        let above = line_start(text, start - 1);
        let goes_along = |line: &str| column(line) == own && line.trim_start().starts_with('#');
        if !text.get(above..start).is_some_and(goes_along) {
            break;
        }
        start = above;
    }
    start
}
