//! What `overlay diff --format html` prints: one page that needs nothing but itself, with upstream beside the result,
//! and each departure joined to the card of its patch.
//!
//! `rows` puts the lines side by side, `blocks` says which of them are shown and which are folded, and the template
//! `templates/page.html` writes them. Every text of a file goes through [`visible`] and through the template's escaping.
//! The page forbids itself everything else: its Content-Security-Policy names the hashes of its own style and script.

mod blocks;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ops::Range;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::text::counted;
use super::value::shown;
use super::{BaseState, ChangeKind, Departure, OverlayReport, PatchReport};
use crate::diag::visible::visible;
use crate::diag::{Code, Severity};
use blocks::Part;

/// A document and what became of it.
#[derive(Clone, Debug, Default)]
pub struct PageDocument {
    /// What it is called.
    pub resource: String,
    /// The file that it is added from, where an overlay adds it.
    pub added_from: Option<String>,
    /// Its text in the base; `None` where it is new.
    pub upstream: Option<PageText>,
    /// Its text in the result; `None` where it is gone.
    pub result: Option<PageText>,
    /// Its text in the file that is held against the overlay; `None` where there is none, or where it lacks the document.
    pub file: Option<PageText>,
    /// What differs, and whose that is.
    pub marks: Vec<Mark>,
}

/// The text of a document on one side.
#[derive(Clone, Debug)]
pub struct PageText {
    /// The text.
    pub text: String,
    /// The line of its file that it begins on, from 1; `None` where it is laid out anew and has no lines there.
    pub first_line: Option<usize>,
}

/// A departure and the lines that it stands on, as bytes of the texts of its document.
#[derive(Clone, Debug)]
pub struct Mark {
    /// The patch that makes it, by its place in the report; `None` where no patch explains it.
    pub patch: Option<usize>,
    /// Whether the file that is held against the overlay lacks it.
    pub lacking: bool,
    /// What it is.
    pub departure: Departure,
    /// Its lines upstream.
    pub upstream: Vec<Range<usize>>,
    /// Its lines in the result.
    pub result: Vec<Range<usize>>,
    /// Its lines in the file.
    pub file: Vec<Range<usize>>,
}

/// How many colours there are; patch number `COLOURS` has the first one again. Numbers tell them apart.
const COLOURS: usize = 10;

/// How many findings of one code are shown; the rest is folded.
const FINDINGS_SHOWN: usize = 3;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page for one overlay. `documents` are in the order of the base; none where there is no result to show.
pub fn html(overlay: &OverlayReport, documents: &[PageDocument]) -> String {
    let page = Page::new(overlay, documents);
    // Writing to a string cannot fail, and the template calls nothing else that can.
    let written = page.render();
    debug_assert!(written.is_ok(), "{written:?}");
    written.unwrap_or_default()
}

/// The page, every text as it is to be shown.
#[derive(Template)]
#[template(path = "page.html")]
struct Page {
    policy: String,
    style: &'static str,
    script: &'static str,
    title: String,
    name: String,
    folder: String,
    description: String,
    headline: String,
    verdicts: Vec<Verdict>,
    bases: Vec<BaseView>,
    documents_kept: String,
    left_out: Vec<String>,
    filters: Vec<Filter>,
    total: usize,
    alarms: Vec<Alarm>,
    findings: Vec<FindingGroup>,
    notes: Vec<FindingView>,
    columns: Vec<String>,
    documents: Vec<DocumentView>,
    idle: Vec<Filter>,
}

/// A fact of the head that is good or bad.
struct Verdict {
    class: &'static str,
    mark: &'static str,
    text: String,
}

struct BaseView {
    name: String,
    source: String,
    state: String,
    hashes: Vec<(String, String)>,
}

/// A patch as it can be picked.
struct Filter {
    index: usize,
    number: usize,
    colour: usize,
    name: String,
    count: usize,
    summary: String,
}

/// Something that must not be overlooked.
struct Alarm {
    text: String,
    href: String,
}

struct FindingView {
    severity: &'static str,
    code: &'static str,
    message: Vec<Run>,
    place: String,
    help: Vec<Run>,
}

/// What was found of one kind: the first ones, and the rest to be unfolded.
struct FindingGroup {
    shown: Vec<FindingView>,
    more: Vec<FindingView>,
    label: String,
}

struct DocumentView {
    id: String,
    resource: String,
    state: String,
    is_open: bool,
    parts: Vec<PartView>,
}

enum PartView {
    Same { label: String, text: String },
    Block { rows: Vec<RowView>, more: Vec<RowView>, more_label: String, cards: Vec<Card> },
    Quiet { label: String, rows: Vec<RowView> },
}

struct RowView {
    class: String,
    /// The cards that it belongs to, for the script.
    ids: String,
    tags: Vec<Tag>,
    cells: Vec<Cell>,
}

struct Tag {
    href: String,
    text: String,
    label: String,
}

/// A line on one side, what differs of it in the middle.
struct Cell {
    class: &'static str,
    number: String,
    head: String,
    middle: String,
    tail: String,
}

/// A departure with its patch.
struct Card {
    id: String,
    class: String,
    filter: String,
    tag: String,
    title: String,
    summary: String,
    verb: &'static str,
    path: String,
    /// The item of a List that it is in.
    item: Option<String>,
    within: Option<String>,
    values: Vec<(&'static str, String)>,
    note: Option<String>,
    /// Why it is not as it should be.
    alarm: Option<String>,
    patch: Option<PatchView>,
}

#[derive(Clone)]
struct PatchView {
    /// Whether it is told below the block, where its first departure stands, and not in the card.
    is_open: bool,
    why: Vec<Paragraph>,
    evidence: Vec<Link>,
    facts: Vec<(&'static str, Link)>,
    file: String,
}

#[derive(Clone)]
struct Paragraph {
    runs: Vec<Run>,
    /// Whether every line of it is indented, as what somebody quotes is.
    is_quoted: bool,
}

/// A stretch of a paragraph.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    text: String,
    is_code: bool,
}

#[derive(Clone)]
struct Link {
    text: String,
    href: Option<String>,
}

impl Link {
    /// Text, and a link where it is an address that a browser may open.
    fn new(text: &str) -> Link {
        let is_address = (text.starts_with("https://") || text.starts_with("http://"))
            && !text.contains(|c: char| c.is_whitespace() || c.is_control());
        Link { text: visible(text).into_owned(), href: is_address.then(|| text.to_owned()) }
    }
}

impl Page {
    fn new(overlay: &OverlayReport, documents: &[PageDocument]) -> Page {
        let columns = columns(overlay);
        let mut writer = Writer {
            overlay,
            has_file: overlay.against.is_some(),
            told: BTreeSet::new(),
            numbers: vec![0; overlay.patches.len() + 1],
        };
        let views: Vec<DocumentView> =
            documents.iter().enumerate().map(|(index, document)| writer.document(index, document)).collect();
        let alarms = views.iter().flat_map(DocumentView::alarms).collect();
        let (picked, idle): (Vec<_>, Vec<_>) = filters(overlay, documents).into_iter().partition(|f| f.count > 0);
        let nobodys = documents.iter().flat_map(|d| &d.marks).filter(|m| m.patch.is_none()).count();
        let total = picked.iter().map(|f| f.count).sum::<usize>() + nobodys;
        let (notes, findings): (Vec<_>, Vec<_>) = findings(overlay).partition(|f| f.severity == "note");
        Page {
            policy: policy(),
            style: STYLE,
            script: SCRIPT,
            title: format!("{} · overlay", visible(&overlay.name)),
            name: visible(&overlay.name).into_owned(),
            folder: visible(&overlay.path).into_owned(),
            description: visible(overlay.description.trim_end()).into_owned(),
            headline: headline(overlay),
            verdicts: verdicts(overlay),
            bases: overlay.bases.iter().map(base_view).collect(),
            documents_kept: kept(overlay),
            left_out: overlay.documents.left_out.iter().map(|d| visible(d).into_owned()).collect(),
            filters: picked,
            total,
            alarms,
            findings: grouped(findings),
            notes,
            columns,
            documents: views,
            idle,
        }
    }

    fn has_alarm(&self) -> bool {
        !self.alarms.is_empty()
    }
}

fn columns(overlay: &OverlayReport) -> Vec<String> {
    let file = overlay.against.as_ref().map(|against| visible(&against.file).into_owned());
    ["Upstream".to_owned(), "Result".to_owned()].into_iter().chain(file).collect()
}

/// What the page may do: show its own style and run its own script, and nothing else.
fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

fn headline(overlay: &OverlayReport) -> String {
    if overlay.unbuilt {
        return "There is no result to show: the overlay does not build".into();
    }
    let patches = overlay.patches.iter().filter(|p| !p.departures.is_empty()).count();
    if let (Some(against), 0) = (&overlay.against, overlay.departures()) {
        return format!("No patch explains anything in {}", visible(&against.file));
    }
    let departures = counted(overlay.departures(), "departure", "departures");
    format!("{departures} under {}", counted(patches, "patch", "patches"))
}

fn kept(overlay: &OverlayReport) -> String {
    let (kept, left_out) = (overlay.documents.kept.len(), overlay.documents.left_out.len());
    let of_upstream = format!("{kept} of {}", counted(kept + left_out, "document", "documents"));
    match overlay.documents.added.len() {
        0 => of_upstream,
        added => format!("{of_upstream}, and {added} added"),
    }
}

fn verdicts(overlay: &OverlayReport) -> Vec<Verdict> {
    let good = |text: &str| Verdict { class: "good", mark: "✓", text: text.into() };
    let bad = |text: String| Verdict { class: "bad", mark: "✗", text };
    let mut verdicts = Vec::new();
    let changed = overlay.bases.iter().filter(|b| matches!(b.state, BaseState::Changed | BaseState::NotLocked));
    let handed_over = overlay.bases.iter().any(|base| base.state == BaseState::HandedOver);
    match changed.count() {
        0 if handed_over => verdicts.push(Verdict { class: "due", mark: "!", text: "held against no lock".into() }),
        0 => verdicts.push(good("hash as locked")),
        _ => verdicts.push(bad("base not as locked".into())),
    }
    let undocumented = overlay.undocumented.len();
    match (&overlay.against, undocumented) {
        (_, _) if overlay.unbuilt => verdicts.push(bad("does not build".into())),
        (None, 0) => verdicts.push(good("nothing undocumented")),
        (None, count) => verdicts.push(bad(format!("{count} undocumented"))),
        (Some(against), 0) => {
            verdicts.push(good(&format!("every departure of {} is explained", visible(&against.file))));
        }
        (Some(against), count) => {
            let departures = counted(count, "unexplained departure", "unexplained departures");
            verdicts.push(bad(format!("{departures} in {}", visible(&against.file))));
        }
    }
    let lacking = overlay.against.as_ref().map_or(0, |a| a.missing.len());
    if lacking > 0 {
        verdicts.push(bad(format!("lacks {}", counted(lacking, "claimed departure", "claimed departures"))));
    }
    let count = |severity| overlay.findings.iter().filter(|f| f.severity == severity).count();
    let told = |code| overlay.findings.iter().filter(|f| f.code == code).count();
    let errors = count(Severity::Error).saturating_sub(told(Code::UndocumentedDeparture) + told(Code::ClaimMissing));
    if errors > 0 {
        verdicts.push(bad(counted(errors, "error", "errors")));
    }
    match told(Code::ReviewDue) {
        0 => verdicts.push(good("no review due")),
        due => verdicts.push(Verdict { class: "due", mark: "!", text: counted(due, "review due", "reviews due") }),
    }
    let warnings = count(Severity::Warning).saturating_sub(told(Code::ReviewDue));
    if warnings > 0 {
        verdicts.push(Verdict { class: "due", mark: "!", text: counted(warnings, "warning", "warnings") });
    }
    verdicts
}

fn base_view(base: &super::BaseReport) -> BaseView {
    BaseView {
        name: visible(&base.name).into_owned(),
        source: visible(&base.source).into_owned(),
        state: base.state.as_str().to_owned(),
        hashes: base.files.iter().map(|f| (visible(&f.file).into_owned(), visible(&f.sha256).into_owned())).collect(),
    }
}

fn filters(overlay: &OverlayReport, documents: &[PageDocument]) -> Vec<Filter> {
    let count = |index| documents.iter().flat_map(|d| &d.marks).filter(|m| m.patch == Some(index)).count();
    let filter = |(index, patch): (usize, &PatchReport)| Filter {
        index,
        number: index + 1,
        colour: index % COLOURS,
        name: visible(&patch.name).into_owned(),
        count: count(index),
        summary: visible(&patch.summary).into_owned(),
    };
    overlay.patches.iter().enumerate().map(filter).collect()
}

/// The findings; unexplained departures and missing claims have their own place on the page.
fn findings(overlay: &OverlayReport) -> impl Iterator<Item = FindingView> {
    let has_own = |code| matches!(code, Code::UndocumentedDeparture | Code::ClaimMissing);
    overlay.findings.iter().filter(move |f| overlay.unbuilt || !has_own(f.code)).map(|finding| FindingView {
        severity: finding.severity.as_str(),
        code: finding.code.as_str(),
        message: runs(&visible(&finding.message)),
        place: finding.place.as_ref().map_or(String::new(), |place| {
            let (line, column) = place.line_column();
            format!("{}:{line}:{column}", visible(&place.source.name))
        }),
        help: runs(&visible(&finding.help.join(" "))),
    })
}

/// Findings by severity and code, in the order of the first of each.
fn grouped(findings: Vec<FindingView>) -> Vec<FindingGroup> {
    let mut groups: Vec<FindingGroup> = Vec::new();
    for finding in findings {
        let is_its = |group: &&mut FindingGroup| {
            group.shown.first().is_some_and(|first| (first.severity, first.code) == (finding.severity, finding.code))
        };
        match groups.iter_mut().find(is_its) {
            Some(group) if group.shown.len() < FINDINGS_SHOWN => group.shown.push(finding),
            Some(group) => {
                group.label = format!("{} more of {}", group.more.len() + 1, finding.code);
                group.more.push(finding);
            }
            None => groups.push(FindingGroup { shown: vec![finding], more: Vec::new(), label: String::new() }),
        }
    }
    groups
}

impl DocumentView {
    fn cards(&self) -> impl Iterator<Item = &Card> {
        self.parts.iter().flat_map(|part| match part {
            PartView::Block { cards, .. } => cards.as_slice(),
            _ => &[],
        })
    }

    /// Links to what no patch explains.
    fn alarms(&self) -> impl Iterator<Item = Alarm> {
        let alarming = self.cards().filter(|card| card.patch.is_none());
        alarming.map(|card| Alarm {
            text: format!("{} {}", self.resource, if card.path.is_empty() { card.verb } else { &card.path }),
            href: format!("#{}", card.id),
        })
    }
}

/// Writes documents in order, and remembers which patches were told in full.
struct Writer<'r> {
    overlay: &'r OverlayReport,
    has_file: bool,
    told: BTreeSet<usize>,
    /// How many departures of each patch have an id, and behind them how many of nobody.
    numbers: Vec<usize>,
}

impl Writer<'_> {
    fn document(&mut self, index: usize, document: &PageDocument) -> DocumentView {
        let sides = rows::Sides::new(document, self.has_file);
        let ids: Vec<String> = document.marks.iter().map(|mark| self.id(mark)).collect();
        let parts = blocks::parts(&sides, document.marks.len());
        let parts = parts.into_iter().map(|part| self.part(part, &sides, document, &ids)).collect();
        let state = match (&document.upstream, &document.result, &document.added_from) {
            (_, None, Some(from)) => format!("of {}, left out", visible(from)),
            (_, _, Some(from)) => format!("added from {}", visible(from)),
            (None, None, _) => "not in upstream".to_owned(),
            (None, Some(_), _) => "added".to_owned(),
            (Some(_), None, _) => "left out".to_owned(),
            _ if document.marks.is_empty() => "unchanged".to_owned(),
            _ => counted(document.marks.len(), "departure", "departures"),
        };
        DocumentView {
            id: format!("document-{}", index + 1),
            resource: visible(&document.resource).into_owned(),
            state,
            is_open: !document.marks.is_empty() || document.added_from.is_some(),
            parts,
        }
    }

    /// An anchor: the patch's name and a number, in characters that are the same in an address. The patch's number
    /// stands before a name that had others.
    fn id(&mut self, mark: &Mark) -> String {
        let slot = mark.patch.unwrap_or(self.overlay.patches.len());
        let number = self.numbers.get_mut(slot).map_or(0, |number| {
            *number += 1;
            *number
        });
        let Some((index, patch)) = mark.patch.and_then(|index| Some((index, self.overlay.patches.get(index)?))) else {
            return format!("unexplained-{number}");
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let is_taken = patch.name == "unexplained" || patch.name == "document";
        if !is_taken && !patch.name.is_empty() && patch.name.chars().all(is_plain) {
            return format!("{}-{number}", patch.name);
        }
        format!("patch.{}-{number}", index + 1)
    }

    fn part(&mut self, part: Part, sides: &rows::Sides<'_>, document: &PageDocument, ids: &[String]) -> PartView {
        let view = |rows: &[usize]| -> Vec<RowView> {
            let mut last: &[usize] = &[];
            let mut views = Vec::with_capacity(rows.len());
            for row in rows.iter().filter_map(|row| sides.rows.get(*row)) {
                views.push(self.row(row, sides, document, ids, last));
                last = &row.marks;
            }
            views
        };
        match part {
            Part::Same(rows) => {
                let lines = rows.clone().filter_map(|row| sides.result_line(row));
                let text = lines.flat_map(|line| [shown_line(line), "\n".to_owned()]).collect();
                let label = counted(rows.len(), "unchanged line", "unchanged lines");
                PartView::Same { label, text }
            }
            Part::Quiet(rows) => {
                let label = counted(rows.len(), "line", "lines");
                let rows: Vec<usize> = rows.collect();
                PartView::Quiet { label: format!("{label} without a departure"), rows: view(&rows) }
            }
            Part::Block { rows, marks } => {
                let all: Vec<usize> = rows.collect();
                let (head, rest) = all.split_at(all.len().min(blocks::SHOWN));
                let (rows, more) = (view(head), view(rest));
                let more_label = counted(more.len(), "more line", "more lines");
                let cards = marks.iter().filter_map(|mark| Some((document.marks.get(*mark)?, ids.get(*mark)?)));
                let cards: Vec<(&Mark, &String)> = cards.collect();
                let cards = cards.into_iter().map(|(mark, id)| self.card(mark, id, &document.resource)).collect();
                PartView::Block { rows, more, more_label, cards }
            }
        }
    }

    fn row(
        &self,
        row: &rows::Row,
        sides: &rows::Sides<'_>,
        document: &PageDocument,
        ids: &[String],
        last: &[usize],
    ) -> RowView {
        let marks: Vec<(&Mark, &String)> =
            row.marks.iter().filter_map(|mark| Some((document.marks.get(*mark)?, ids.get(*mark)?))).collect();
        let first = marks.iter().find(|(mark, _)| mark.patch.is_none()).or(marks.first());
        let class = match first {
            Some((mark, _)) => format!("marked {}", colour(mark.patch)),
            None => String::new(),
        };
        let starts = row.marks.iter().filter(|mark| !last.contains(mark));
        let tags = starts.filter_map(|mark| Some(self.tag(document.marks.get(*mark)?, ids.get(*mark)?))).collect();
        RowView {
            class,
            ids: marks.iter().map(|(_, id)| id.as_str()).collect::<Vec<_>>().join(" "),
            tags,
            cells: sides.cells(row).iter().map(cell).collect(),
        }
    }

    fn tag(&self, mark: &Mark, id: &str) -> Tag {
        let name = mark.patch.and_then(|index| self.overlay.patches.get(index)).map(|p| visible(&p.name));
        let whose = name.map_or_else(|| "unexplained departure".to_owned(), |name| format!("departure of {name}"));
        let text = number(mark.patch);
        Tag { href: format!("#{id}"), label: format!("{text}: {whose}"), text }
    }

    fn card(&mut self, mark: &Mark, id: &str, resource: &str) -> Card {
        let departure = &mark.departure;
        let patch = mark.patch.and_then(|index| Some((index, self.overlay.patches.get(index)?)));
        let file = self.overlay.against.as_ref().map(|a| visible(&a.file).into_owned());
        let alarm = match (patch, mark.lacking) {
            (None, _) => Some(match &file {
                Some(file) if departure.change == ChangeKind::Remove => {
                    format!("No patch explains this. {file} lacks it.")
                }
                Some(file) => format!("No patch explains this. It stands in {file} alone."),
                None => "No patch explains this.".to_owned(),
            }),
            (Some(_), true) => file.map(|file| format!("{file} lacks this.")),
            (Some(_), false) => None,
        };
        Card {
            id: id.to_owned(),
            class: format!("{}{}", colour(mark.patch), if mark.lacking { " lacking" } else { "" }),
            filter: mark.patch.map_or_else(|| "none".to_owned(), |index| index.to_string()),
            tag: number(mark.patch),
            title: patch.map_or_else(|| "Unexplained".into(), |(_, p)| visible(&p.name).into_owned()),
            summary: patch.map(|(_, p)| visible(&p.summary).into_owned()).unwrap_or_default(),
            verb: verb(departure),
            path: visible(&departure.path).into_owned(),
            item: (departure.resource != resource).then(|| visible(&departure.resource).into_owned()),
            within: departure.within.as_ref().map(|within| visible(within).into_owned()),
            values: if is_read_beside(mark) { Vec::new() } else { values(departure, patch.is_none()) },
            note: departure.note.as_ref().map(|note| visible(note).into_owned()),
            alarm,
            patch: patch.map(|(index, patch)| PatchView { is_open: self.told.insert(index), ..patch_view(patch) }),
        }
    }
}

/// The class that colours what is a patch's.
fn colour(patch: Option<usize>) -> String {
    patch.map_or_else(|| "unexplained".to_owned(), |index| format!("c{}", index % COLOURS))
}

fn number(patch: Option<usize>) -> String {
    patch.map_or_else(|| "!".to_owned(), |index| (index + 1).to_string())
}

fn verb(departure: &Departure) -> &'static str {
    match (departure.is_whole_document(), departure.change) {
        (true, ChangeKind::Add) => "adds the document",
        (true, _) => "leaves the document out",
        (false, ChangeKind::Add) => "adds",
        (false, ChangeKind::Remove) => "removes",
        (false, ChangeKind::Replace) => "replaces",
        (false, ChangeKind::Move) => "moves",
    }
}

/// Whether the lines beside a card say all that its values would: those that are not as they should be, that moved, or
/// that stand in a text within a line are told in the card too.
fn is_read_beside(mark: &Mark) -> bool {
    let departure = &mark.departure;
    let has_lines = mark.upstream.iter().chain(&mark.result).any(|lines| !lines.is_empty());
    let is_plain = mark.patch.is_some() && !mark.lacking && departure.within.is_none();
    departure.is_whole_document() || is_plain && has_lines && departure.change != ChangeKind::Move
}

fn values(departure: &Departure, is_unexplained: bool) -> Vec<(&'static str, String)> {
    let names = match (departure.change, is_unexplained) {
        (ChangeKind::Move, _) => ("from index", "to index"),
        (_, true) => ("upstream", "here"),
        (ChangeKind::Add, false) => ("before", "value"),
        (ChangeKind::Remove, false) => ("value", "after"),
        (_, false) => ("before", "after"),
    };
    let before = departure.before.as_ref().map(|value| (names.0, shown(value)));
    before.into_iter().chain(departure.after.as_ref().map(|value| (names.1, shown(value)))).collect()
}

fn patch_view(patch: &PatchReport) -> PatchView {
    let facts = [("verified", &patch.verified), ("review", &patch.review), ("upstream", &patch.upstream)];
    PatchView {
        is_open: false,
        why: paragraphs(&patch.why).iter().map(|text| paragraph(text)).collect(),
        evidence: patch.evidence.iter().map(|evidence| Link::new(evidence)).collect(),
        facts: facts.into_iter().filter_map(|(name, fact)| Some((name, Link::new(fact.as_ref()?)))).collect(),
        file: visible(&patch.file).into_owned(),
    }
}

/// A text's paragraphs, each running on where the file broke its lines; a line that is indented or begins an item of a
/// list stays a line.
fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs = Vec::new();
    let mut open = String::new();
    for line in text.trim_end().lines() {
        if line.trim().is_empty() {
            paragraphs.push(std::mem::take(&mut open));
            continue;
        }
        if !open.is_empty() {
            let stays = [" ", "\t", "- ", "* "].iter().any(|start| line.starts_with(start));
            open.push(if stays { '\n' } else { ' ' });
        }
        open.push_str(&visible(line.trim_end()));
    }
    paragraphs.push(open);
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
}

/// A paragraph, without the indentation that all of its lines have.
fn paragraph(text: &str) -> Paragraph {
    let indent = text.lines().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    if indent < 2 {
        return Paragraph { runs: runs(text), is_quoted: false };
    }
    let lines: Vec<&str> = text.lines().filter_map(|line| line.get(indent..)).collect();
    Paragraph { runs: vec![Run { text: lines.join("\n"), is_code: false }], is_quoted: true }
}

/// A paragraph cut at its backquotes: what stands between two of them is code.
fn runs(paragraph: &str) -> Vec<Run> {
    let parts: Vec<&str> = paragraph.split('`').collect();
    // The last backquote of an odd number quotes nothing.
    let (quoted, rest) =
        if parts.len().is_multiple_of(2) { parts.split_at(parts.len() - 2) } else { (parts.as_slice(), &[][..]) };
    let run = |(at, text): (usize, &&str)| Run { text: (*text).to_owned(), is_code: at % 2 == 1 };
    let mut runs: Vec<Run> = quoted.iter().enumerate().map(run).collect();
    if !rest.is_empty() {
        runs.push(Run { text: rest.join("`"), is_code: false });
    }
    runs.retain(|run| !run.text.is_empty());
    runs
}

fn cell(cell: &rows::Cell<'_>) -> Cell {
    let (head, middle, tail) = cell.parts;
    Cell {
        class: cell.class,
        number: cell.number.map(|number| number.to_string()).unwrap_or_default(),
        head: shown_line(head),
        middle: shown_line(middle),
        tail: shown_line(tail),
    }
}

/// A line as it is shown; of a line end with a carriage return nothing is.
fn shown_line(line: &str) -> String {
    visible(line.strip_suffix('\r').unwrap_or(line)).into_owned()
}
