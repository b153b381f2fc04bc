//! A List as a page shows it beside a file that has its items as documents: each item a document of its own.
//!
//! An item keeps its lines and their numbers; only what leads them in the List is left out, so that they stand beside
//! those of a document.

use std::ops::Range;

use serde_json::Value;

use super::extent::{line_end, line_start};
use super::lines::entry_of;
use crate::report::page::{Mark, PageDocument, PageText};
use crate::resource::Identity;
use crate::yaml::tree::Tree;

/// One side of a List.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    /// Its text's tree.
    pub(super) tree: &'a Tree,
    /// The tree's value.
    pub(super) value: &'a Value,
}

/// A List's page as pages of its items, each with the index of the item upstream where it is one. `None` where items share
/// lines, as in brackets.
pub(super) fn pages(
    page: &PageDocument,
    upstream: Side<'_>,
    result: Option<Side<'_>>,
) -> Option<Vec<(Option<usize>, PageDocument)>> {
    let old = items(page.upstream.as_ref()?, upstream)?;
    let mut new = match (&page.result, result) {
        (Some(text), Some(side)) => items(text, side)?,
        _ => Vec::new(),
    };
    let mut pairs: Vec<(Option<usize>, Option<Item>, Option<Item>)> = Vec::with_capacity(old.len());
    for (index, item) in old.into_iter().enumerate() {
        let fellow = new.iter().position(|other| other.name == item.name).map(|at| new.remove(at));
        pairs.push((Some(index), Some(item), fellow));
    }
    pairs.extend(new.into_iter().map(|item| (None, None, Some(item))));
    let mut pages: Vec<(Option<usize>, PageDocument)> = Vec::with_capacity(pairs.len());
    let mut marks = page.marks.clone();
    for (index, old, new) in pairs {
        let name = old.iter().chain(&new).map(|item| item.name.clone()).next().unwrap_or_default();
        let own: Vec<Mark> = marks.extract_if(.., |mark| mark.departure.resource == name).collect();
        let moved = |ranges: &[Range<usize>], item: &Option<Item>| {
            let item = item.as_ref();
            ranges.iter().filter_map(|range| item?.moved(range)).collect::<Vec<_>>()
        };
        let own = own.into_iter().map(|mark| Mark {
            upstream: moved(&mark.upstream, &old),
            result: moved(&mark.result, &new),
            ..mark
        });
        let marks = own.collect();
        let (upstream, result) = (old.map(|item| item.text), new.map(|item| item.text));
        pages.push((index, PageDocument { resource: name, upstream, result, marks, ..PageDocument::default() }));
    }
    // What is of no item stands with the first, so that no departure is without a place.
    let others = marks.into_iter().map(|mark| Mark { upstream: Vec::new(), result: Vec::new(), ..mark });
    pages.first_mut()?.1.marks.extend(others);
    Some(pages)
}

/// An item on one side.
struct Item {
    name: String,
    text: PageText,
    /// Where each of its lines begins in the List's text and in its own.
    starts: Vec<(usize, usize)>,
    /// Where it ends in the List's text.
    end: usize,
}

impl Item {
    /// Lines of the List's text as lines of the item's own; `None` where they are not the item's.
    fn moved(&self, lines: &Range<usize>) -> Option<Range<usize>> {
        let within = |at: &usize| self.starts.first().is_some_and(|first| first.0 <= *at) && *at <= self.end;
        let own = |at: usize| {
            let next = self.starts.iter().find(|start| start.0 >= at);
            next.map_or(self.text.text.len(), |start| start.1)
        };
        (within(&lines.start) && within(&lines.end)).then(|| own(lines.start)..own(lines.end))
    }
}

fn items(list: &PageText, side: Side<'_>) -> Option<Vec<Item>> {
    let values = side.value.get("items").and_then(Value::as_array)?;
    let mut found = Vec::with_capacity(values.len());
    let mut above = None;
    for (index, value) in values.iter().enumerate() {
        let entry = entry_of(side.tree, &["items".to_owned(), index.to_string()])?;
        let start = line_start(&list.text, entry.start);
        let end = line_end(&list.text, entry.end.saturating_sub(1).max(entry.start));
        let from = above.unwrap_or(start);
        if start < from {
            return None;
        }
        above = Some(end);
        found.push(item(list, from..end, start..entry.start, Identity::of(value).to_string())?);
    }
    Some(found)
}

/// The item on these lines; `before` is what stands before it on its first one, below the comments above it.
fn item(list: &PageText, lines: Range<usize>, before: Range<usize>, name: String) -> Option<Item> {
    let (mut text, mut starts, mut at) = (String::new(), Vec::new(), lines.start);
    for line in list.text.get(lines.clone())?.split_inclusive('\n') {
        let is_before = |c: char| c == ' ' || (at == before.start && c == '-');
        let skipped = line.chars().take(before.len()).take_while(|c| is_before(*c)).count();
        starts.push((at, text.len()));
        text.push_str(line.get(skipped..)?);
        at += line.len();
    }
    let above = list.text.get(..lines.start)?.matches('\n').count();
    let first_line = list.first_line.map(|first| first + above);
    Some(Item { name, text: PageText { text, first_line }, starts, end: lines.end })
}
