//! A result beside its base, document by document, with the lines of each departure: what a page shows.
//!
//! Whose a departure is was proven by `attribute`; here it is only looked up where it stands.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use super::against::{self, Held};
use super::attribute::DocumentProof;
use super::extent::{Told, line_end, line_start};
use super::items::{self, Side};
use super::lines::{self, entry_of, leads};
use super::live;
use super::overlay::{Overlay, Prover, proven};
use crate::diag::Source;
use crate::diff::{Difference, Path};
use crate::layer::manifest::Entry;
use crate::report::Departure;
use crate::report::page::{Mark, PageDocument, PageText};
use crate::resource::Identity;
use crate::yaml::load;
use crate::yaml::spell::{self, Layout};
use crate::yaml::tree::Tree;

/// A file that is held against an overlay.
#[derive(Clone, Copy, Debug)]
pub struct Against<'a> {
    /// The file.
    pub file: &'a Arc<Source>,
    /// Whether what a server writes into objects is left out.
    pub live: bool,
}

/// The documents of an overlay, those of the base first, in order. `None` where the result or the file cannot be read.
pub fn documents(overlay: &Overlay<'_>, result: &str, against: Option<Against<'_>>) -> Option<Vec<PageDocument>> {
    let (_, starts) = overlay.plan.unpatched();
    let shown = proven(overlay, result, |prover, claims, proof, source| {
        let shower = Shower { prover, starts: &starts, live: against.is_some_and(|against| against.live) };
        let pages = proof.documents.iter().map(|document| shower.document(document, claims, source));
        let Some(against) = against else { return Some(pages.collect()) };
        let held = against::held(overlay, prover.base, against.file, against.live)?;
        let mut beside = Beside { pages: Vec::new(), of: HashMap::new() };
        for (document, page) in proof.documents.iter().zip(pages) {
            beside.push(prover, document, page, &held.documents);
        }
        for document in &held.documents {
            beside.hold(document, &held.file);
        }
        Some(beside.pages)
    });
    shown.flatten()
}

struct Shower<'s, 'a> {
    prover: &'s Prover<'a>,
    starts: &'s [usize],
    /// Whether the values of Secrets are not to be shown.
    live: bool,
}

impl Shower<'_, '_> {
    fn document(&self, document: &DocumentProof, claims: &[super::claims::Claim], result: &Source) -> PageDocument {
        let old = document.before.and_then(|index| self.prover.base.get(index));
        let new = document.after.and_then(|index| self.prover.result.get(index));
        let resource = self.prover.name(document.before, document.after);
        let sides = (old.map(|old| &old.loaded.value), new.map(|new| &new.loaded.value));
        let mut marks = Vec::new();
        let mut lines_told = self.prover.told(document);
        let mut mark = |difference: &Difference, note, patch| {
            let told = self.told(sides, difference);
            let departure = self.prover.departure(document, &resource, &told, note);
            marks.push(self.mark(document, difference, departure, patch, &mut lines_told));
        };
        for departure in &document.departures {
            let Some(claim) = claims.get(departure.claim) else { continue };
            mark(&departure.difference, self.prover.note(claim), Some(claim.patch));
        }
        for odd in &document.undocumented {
            mark(&odd.difference, None, None);
        }
        let added_from = self.prover.added_from(document).map(str::to_owned);
        PageDocument {
            resource,
            upstream: old.filter(|_| added_from.is_none()).map(|old| PageText {
                text: self.shown(old.text),
                first_line: Some(old.source.line_column(old.start).0),
            }),
            added_from,
            result: new
                .map(|new| PageText { text: self.shown(&new.text), first_line: Some(result.line_column(new.start).0) }),
            file: None,
            marks,
        }
    }

    /// A document's text as the page may show it, each byte in its place.
    fn shown(&self, text: &str) -> String {
        if !self.live {
            return text.to_owned();
        }
        live::secret::masked_file(&Source::new("document", text)).text.clone()
    }

    /// A difference between the sides of a document as the page may show it.
    fn told<'d>(&self, sides: (Option<&Value>, Option<&Value>), difference: &'d Difference) -> Cow<'d, Difference> {
        let identities = [sides.0, sides.1].into_iter().flatten().map(Identity::of);
        // What a patch makes a Secret, or no more one, is held for a Secret.
        match identities.max_by_key(Identity::is_secret).filter(|_| self.live) {
            Some(identity) => Cow::Owned(live::secret::masked(&identity, sides, difference)),
            None => Cow::Borrowed(difference),
        }
    }

    fn mark(
        &self,
        document: &DocumentProof,
        difference: &Difference,
        departure: Departure,
        patch: Option<usize>,
        told: &mut Told,
    ) -> Mark {
        let lines::Lines { base: mut upstream, mut result } =
            lines::of(self.prover, self.starts, document, difference, None, told);
        let old = document.before.and_then(|index| self.prover.base.get(index));
        let new = document.after.and_then(|index| self.prover.result.get(index));
        if let (None, Some(new)) = (old, new) {
            let whole = 0..new.text.len();
            result = vec![whole];
        }
        if self.prover.added_from(document).is_some() {
            upstream.clear();
        }
        Mark { patch, lacking: false, departure, upstream, result, file: Vec::new() }
    }
}

const LAYOUT: Layout = Layout { step: 2, indent_lists: false };

/// The pages that a file is put beside.
struct Beside {
    pages: Vec<PageDocument>,
    /// The page of each document of the base, and of each item of its Lists that has one of its own.
    of: HashMap<(usize, Vec<String>), usize>,
}

impl Beside {
    /// Adds the page of a document, or those of its items where the file is held against these.
    fn push(&mut self, prover: &Prover<'_>, document: &DocumentProof, page: PageDocument, held: &[Held]) {
        let is_opened = |base: usize| held.iter().any(|held| held.base == Some(base) && !held.prefix.is_empty());
        let upstream = document.before.filter(|base| is_opened(*base)).and_then(|index| prover.base.get(index));
        let side = upstream.map(|old| Side { tree: &old.tree, value: &old.loaded.value });
        let result = document.after.and_then(|index| prover.result.get(index));
        let result = result.map(|new| Side { tree: &new.tree, value: &new.loaded.value });
        let items = side.and_then(|side| items::pages(&page, side, result));
        for (item, page) in items.unwrap_or_else(|| vec![(None, page)]) {
            let way = item.map_or_else(Vec::new, |item| vec!["items".to_owned(), item.to_string()]);
            if let Some(base) = document.before {
                self.of.entry((base, way)).or_insert(self.pages.len());
            }
            self.pages.push(page);
        }
    }

    /// The page of what a file says something of, and the way to that in the page's document.
    fn place(&self, held: &Held) -> Option<(usize, Vec<String>)> {
        let base = held.base?;
        let own = self.of.get(&(base, held.prefix.clone())).map(|at| (*at, Vec::new()));
        own.or_else(|| Some((*self.of.get(&(base, Vec::new()))?, held.prefix.clone())))
    }

    /// Adds what the file says of a document: to the document's page, or as a page of its own where the base has none.
    fn hold(&mut self, held: &Held, file: &Source) {
        let place = self.place(held);
        let at = place.as_ref().map(|(at, _)| *at);
        let marks = at.and_then(|at| self.pages.get_mut(at)).into_iter().flat_map(|page| &mut page.marks);
        for mark in marks {
            mark.lacking |= held.missing.iter().any(|(patch, told)| is_it(mark, *patch, told));
        }
        let free = at.filter(|at| self.pages.get(*at).is_some_and(|page| page.file.is_none()));
        // One text of a file stands on a page; of the other items of a List only what is odd is shown.
        if at.is_some() && free.is_none() && held.undocumented.is_empty() {
            return;
        }
        let at = free.unwrap_or_else(|| {
            let resource = held.resource.clone();
            self.pages.push(PageDocument { resource, ..PageDocument::default() });
            self.pages.len() - 1
        });
        if let Some(page) = self.pages.get_mut(at) {
            let way = place.map(|(_, way)| way).unwrap_or_default();
            put_beside(held, &way, file, page);
        }
    }
}

/// Whether a mark is what a file says of a patch's departure.
fn is_it(mark: &Mark, patch: usize, told: &Departure) -> bool {
    let departure = &mark.departure;
    let is_there = told.path == departure.path && told.within == departure.within;
    mark.patch == Some(patch) && told.resource == departure.resource && is_there
}

/// Puts what a file has beside a page's document, or beside what `way` leads to in it.
fn put_beside(held: &Held, way: &[String], file: &Source, page: &mut PageDocument) {
    let written = held.entry.as_ref().map(|entry| Written::new(entry, file, page));
    let upstream = page.upstream.as_ref().and_then(|text| Tree::parse(&text.text).ok());
    let in_file = |difference: &Difference| {
        let written = written.as_ref()?;
        lines_at(written.tree.as_ref()?, &written.text, &leads(place(difference), |item| item.after)?)
    };
    for (difference, departure) in &held.undocumented {
        let old = upstream.as_ref().zip(page.upstream.as_ref()).and_then(|(tree, text)| {
            let path = leads(place(difference), |item| item.before)?;
            lines_at(tree, &text.text, &[way, &path].concat())
        });
        page.marks.push(Mark {
            patch: None,
            lacking: false,
            departure: departure.clone(),
            upstream: old.into_iter().collect(),
            result: Vec::new(),
            file: in_file(difference).into_iter().collect(),
        });
    }
    for mark in &mut page.marks {
        let explained = held.explained.iter().find(|(patch, _, told)| is_it(mark, *patch, told));
        mark.file.extend(explained.and_then(|(_, difference, _)| in_file(difference)));
    }
    if page.file.is_none() {
        page.file = written.map(|written| PageText { text: written.text, first_line: written.first_line });
    }
}

/// The way to a difference in its document; to the text that it lies in, if it does.
fn place(difference: &Difference) -> &Path {
    difference.within.as_ref().map_or(&difference.path, |within| &within.path)
}

fn lines_at(tree: &Tree, text: &str, path: &[String]) -> Option<Range<usize>> {
    entry_of(tree, path).map(|entry| whole_lines(text, &entry))
}

fn whole_lines(text: &str, span: &Range<usize>) -> Range<usize> {
    line_start(text, span.start)..line_end(text, span.end.saturating_sub(1).max(span.start))
}

/// A document of a file as the page shows it.
struct Written {
    text: String,
    first_line: Option<usize>,
    tree: Option<Tree>,
}

impl Written {
    /// As the file has it where at least half of its lines are the result's. Else, and where it is an item of a List or
    /// JSON, in the layout of a manifest, its keys in the result's order.
    fn new(entry: &Entry, file: &Source, page: &PageDocument) -> Written {
        let own = file.text.get(entry.range.clone()).unwrap_or_default();
        let known: HashSet<&str> =
            page.result.iter().chain(&page.upstream).flat_map(|text| text.text.lines()).map(str::trim).collect();
        let (mut shared, mut all) = (0, 0);
        for line in own.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            all += 1;
            shared += usize::from(known.contains(line));
        }
        let is_alone = page.result.is_none() && page.upstream.is_none() && !own.trim_start().starts_with('{');
        if entry.prefix.is_empty() && (shared * 2 >= all || is_alone) {
            let first_line = Some(file.line_column(entry.range.start).0);
            return Written { text: own.to_owned(), first_line, tree: Tree::parse(own).ok() };
        }
        let result = page.result.as_ref().and_then(|result| load::load_text(&result.text).ok());
        let value = result.map_or_else(|| entry.value.clone(), |result| in_order_of(&entry.value, &result.value));
        let mut text = spell::block(&value, 0, LAYOUT, None);
        text.push('\n');
        Written { tree: Tree::parse(&text).ok(), text, first_line: None }
    }
}

/// A value with its keys in the order of another, those that the other lacks behind.
fn in_order_of(value: &Value, model: &Value) -> Value {
    match (value, model) {
        (Value::Object(entries), Value::Object(models)) => {
            let known = models.iter().filter_map(|(key, model)| Some((key, in_order_of(entries.get(key)?, model))));
            let known = known.map(|(key, value)| (key.clone(), value));
            let others = entries.iter().filter(|(key, _)| !models.contains_key(*key));
            Value::Object(known.chain(others.map(|(key, value)| (key.clone(), value.clone()))).collect())
        }
        (Value::Array(items), Value::Array(models)) => {
            let items = items.iter().enumerate();
            items
                .map(|(at, item)| models.get(at).map_or_else(|| item.clone(), |model| in_order_of(item, model)))
                .collect()
        }
        _ => value.clone(),
    }
}
