//! Two or three texts of a document put side by side, line by line, and which lines belong to which mark.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::{Mark, PageDocument, PageText};

/// One line of each side, where it has one there. Lines are numbered from 0 in their text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) upstream: Option<usize>,
    pub(super) result: Option<usize>,
    pub(super) file: Option<usize>,
    /// The marks that it belongs to, by their index, ascending.
    pub(super) marks: Vec<usize>,
}

/// A line as it stands in a column.
pub(super) struct Cell<'t> {
    pub(super) class: &'static str,
    pub(super) number: Option<usize>,
    /// What it shares with its neighbour at the beginning, what differs, and what it shares at the end.
    pub(super) parts: (&'t str, &'t str, &'t str),
}

/// A document's texts as lines, side by side.
pub(super) struct Sides<'t> {
    upstream: Lines<'t>,
    result: Lines<'t>,
    file: Lines<'t>,
    has_file: bool,
    pub(super) rows: Vec<Row>,
}

impl<'t> Sides<'t> {
    pub(super) fn new(document: &'t PageDocument, has_file: bool) -> Sides<'t> {
        let (upstream, result, file) = (
            Lines::new(document.upstream.as_ref()),
            Lines::new(document.result.as_ref()),
            Lines::new(document.file.as_ref()),
        );
        let rows = side_by_side(&upstream.texts, &result.texts, &file.texts);
        let mut sides = Sides { upstream, result, file, has_file, rows };
        for (index, mark) in document.marks.iter().enumerate() {
            sides.mark(index, mark);
        }
        sides.take_in_neighbours();
        sides
    }

    /// Gives rows that a departure beside them changed too, by a comma or a bracket, to that departure.
    fn take_in_neighbours(&mut self) {
        let changed: Vec<bool> = self.rows.iter().map(|row| self.is_changed(row)).collect();
        let mut marks: Vec<usize> = Vec::new();
        let downwards = 0..self.rows.len();
        for at in downwards.clone().chain(downwards.rev()) {
            let Some(row) = self.rows.get_mut(at).filter(|_| changed.get(at) == Some(&true)) else {
                marks.clear();
                continue;
            };
            if row.marks.is_empty() {
                row.marks.clone_from(&marks);
            }
            marks.clone_from(&row.marks);
        }
    }

    /// Whether upstream and result differ in a row.
    pub(super) fn is_changed(&self, row: &Row) -> bool {
        self.upstream.line(row.upstream) != self.result.line(row.result)
    }

    /// Whether the file has something else in a row than the result.
    pub(super) fn is_other(&self, row: &Row) -> bool {
        self.has_file && self.result.line(row.result) != self.file.line(row.file)
    }

    /// The text of a row, where all sides have the same.
    pub(super) fn result_line(&self, row: usize) -> Option<&'t str> {
        self.result.line(self.rows.get(row)?.result)
    }

    /// Gives a mark its rows: those of its lines on which sides differ; where there are none, all of its lines; where it
    /// has no lines, the first row, so that no departure is without a place.
    fn mark(&mut self, index: usize, mark: &Mark) {
        let (upstream, result) = (self.upstream.covered(&mark.upstream), self.result.covered(&mark.result));
        let file = self.file.covered(&mark.file);
        let covers = |lines: &[Range<usize>], line: Option<usize>| {
            line.is_some_and(|line| lines.iter().any(|range| range.contains(&line)))
        };
        let is_on =
            |row: &Row| covers(&upstream, row.upstream) || covers(&result, row.result) || covers(&file, row.file);
        let on: Vec<usize> = self.rows.iter().enumerate().filter(|(_, row)| is_on(row)).map(|(at, _)| at).collect();
        let differs = |at: &&usize| self.rows.get(**at).is_some_and(|row| self.is_changed(row) || self.is_other(row));
        let differing: Vec<usize> = on.iter().filter(differs).copied().collect();
        let mut meant = if differing.is_empty() { on } else { differing };
        if meant.is_empty() {
            meant.push(0);
        }
        for at in meant {
            if let Some(row) = self.rows.get_mut(at) {
                row.marks.push(index);
            }
        }
    }

    /// The cells of a row, a column each.
    pub(super) fn cells(&self, row: &Row) -> Vec<Cell<'t>> {
        let (old, new, other) =
            (self.upstream.line(row.upstream), self.result.line(row.result), self.file.line(row.file));
        let changed = old != new;
        let class = |line: Option<&str>, differs: bool, class| match line {
            None => "none",
            Some(_) if differs => class,
            Some(_) => "same",
        };
        let mut cells = vec![
            Cell {
                class: class(old, changed, "old"),
                number: self.upstream.number(row.upstream),
                parts: parts(old, new.filter(|_| changed)),
            },
            Cell {
                class: class(new, changed, "new"),
                number: self.result.number(row.result),
                parts: parts(new, old.filter(|_| changed)),
            },
        ];
        if self.has_file {
            let differs = new != other;
            cells.push(Cell {
                class: class(other, differs, "other"),
                number: self.file.number(row.file),
                parts: parts(other, new.filter(|_| differs)),
            });
        }
        cells
    }
}

/// A line cut where it begins and ends to differ from another; all of it where there is no other.
fn parts<'t>(line: Option<&'t str>, other: Option<&str>) -> (&'t str, &'t str, &'t str) {
    let line = line.unwrap_or_default();
    let Some(other) = other else { return (line, "", "") };
    let head: usize = line.chars().zip(other.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let (shared, rest) = line.split_at(head);
    let other = other.get(head..).unwrap_or_default();
    let (middle, tail) = rest.split_at(rest.len() - shared_end(rest, other));
    (shared, middle, tail)
}

/// How many bytes two texts have in common at their ends, from a word's beginning on: half a word that is the same by
/// chance says nothing.
fn shared_end(one: &str, other: &str) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let common: usize =
        one.chars().rev().zip(other.chars().rev()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let is_within_word = |text: &str| text.get(..text.len() - common).is_some_and(|before| before.ends_with(is_word));
    if !is_within_word(one) && !is_within_word(other) {
        return common;
    }
    let end = one.get(one.len() - common..).unwrap_or_default();
    end.find(|c| !is_word(c)).map_or(0, |at| end.len() - at)
}

/// The lines of a text, and where each begins.
struct Lines<'t> {
    texts: Vec<&'t str>,
    starts: Vec<usize>,
    first: Option<usize>,
}

impl<'t> Lines<'t> {
    fn new(text: Option<&'t PageText>) -> Lines<'t> {
        let Some(PageText { text, first_line }) = text else {
            return Lines { texts: Vec::new(), starts: Vec::new(), first: None };
        };
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        starts.pop_if(|last| *last == text.len());
        let texts = text.split('\n').take(starts.len()).collect();
        Lines { texts, starts, first: *first_line }
    }

    fn line(&self, line: Option<usize>) -> Option<&'t str> {
        self.texts.get(line?).copied()
    }

    fn number(&self, line: Option<usize>) -> Option<usize> {
        Some(self.first? + line?)
    }

    /// The lines that stretches of bytes touch.
    fn covered(&self, stretches: &[Range<usize>]) -> Vec<Range<usize>> {
        let line_of = |at: usize| self.starts.partition_point(|start| *start <= at).saturating_sub(1);
        let stretches = stretches.iter().filter(|stretch| !stretch.is_empty() && !self.starts.is_empty());
        stretches.map(|stretch| line_of(stretch.start)..line_of(stretch.end - 1) + 1).collect()
    }
}

/// How the lines of a text stand to those of the result: for each line of the result its fellow, and the lines that
/// have none, before the line of the result where they would stand.
struct Alignment {
    fellow: Vec<Option<usize>>,
    between: Vec<Vec<usize>>,
}

impl Alignment {
    fn pair(&mut self, other: usize, result: usize) {
        if let Some(fellow) = self.fellow.get_mut(result) {
            *fellow = Some(other);
        }
    }

    /// Puts lines that have no fellow before a line of the result.
    fn put(&mut self, others: Range<usize>, before: usize) {
        if let Some(between) = self.between.get_mut(before) {
            between.extend(others);
        }
    }
}

fn align(other: &[&str], result: &[&str]) -> Alignment {
    let mut alignment = Alignment { fellow: vec![None; result.len()], between: vec![Vec::new(); result.len() + 1] };
    let ops = if other == result {
        vec![DiffOp::Equal { old_index: 0, new_index: 0, len: result.len() }]
    } else {
        capture_diff_slices(Algorithm::Myers, other, result)
    };
    for op in ops {
        let (old, new) = (op.old_range(), op.new_range());
        // Lines that follow one another without a fellow stay together, where the first of them stands.
        let mut together = None;
        for (old, new) in old.clone().zip(new.clone()) {
            if other.get(old).zip(result.get(new)).is_some_and(|(old, new)| may_pair(old, new)) {
                alignment.pair(old, new);
                together = None;
            } else {
                alignment.put(old..old + 1, *together.get_or_insert(new));
            }
        }
        let alone = old.start.saturating_add(new.len()).min(old.end)..old.end;
        alignment.put(alone, together.unwrap_or(new.end));
    }
    alignment
}

/// Whether one line may be what became of another: a comment becomes no entry, and an entry none of another key.
fn may_pair(one: &str, other: &str) -> bool {
    let is_comment = |line: &str| line.trim_start().starts_with('#');
    let is_alike = is_comment(one) == is_comment(other);
    one == other || is_alike && key(one).zip(key(other)).is_none_or(|(one, other)| one == other)
}

/// The key of a line's entry, if it is one of a mapping.
fn key(line: &str) -> Option<&str> {
    let line = line.trim_start_matches([' ', '-']).trim_end();
    line.split_once(": ").map(|(key, _)| key).or_else(|| line.strip_suffix(':'))
}

fn side_by_side(upstream: &[&str], result: &[&str], file: &[&str]) -> Vec<Row> {
    let (old, other) = (align(upstream, result), align(file, result));
    let mut rows = Vec::with_capacity(result.len());
    for line in 0..=result.len() {
        let none = Vec::new();
        let (gone, strange) = (old.between.get(line).unwrap_or(&none), other.between.get(line).unwrap_or(&none));
        // What the file kept of what the result lacks stands beside it.
        let alone: Vec<&str> = gone.iter().filter_map(|line| upstream.get(*line).copied()).collect();
        let beside: Vec<&str> = strange.iter().filter_map(|line| file.get(*line).copied()).collect();
        let pairs = align(&beside, &alone);
        for at in 0..=gone.len() {
            let extra = pairs.between.get(at).into_iter().flatten().filter_map(|line| strange.get(*line));
            rows.extend(extra.map(|line| Row { file: Some(*line), ..Row::default() }));
            if let Some(line) = gone.get(at) {
                let fellow = pairs.fellow.get(at).copied().flatten().and_then(|line| strange.get(line)).copied();
                rows.push(Row { upstream: Some(*line), file: fellow, ..Row::default() });
            }
        }
        if line < result.len() {
            let fellow = |alignment: &Alignment| alignment.fellow.get(line).copied().flatten();
            rows.push(Row { upstream: fellow(&old), result: Some(line), file: fellow(&other), marks: Vec::new() });
        }
    }
    rows
}
