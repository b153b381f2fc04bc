//! Which rows of a document are shown, with which cards beside them, and which are folded.

use std::ops::Range;

use super::rows::Sides;

/// How many unchanged rows stand around one that is shown.
const CONTEXT: usize = 3;

/// How many rows of a block are shown; the rest is folded.
pub(super) const SHOWN: usize = 60;

/// A stretch of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All sides have the same.
    Same(Range<usize>),
    /// The file has other lines there, and none of them is a departure: comments, order, layout.
    Quiet(Range<usize>),
    /// Rows with departures, and the cards beside them, by the marks' indices.
    Block { rows: Range<usize>, marks: Vec<usize> },
}

/// The rows cut into parts. A block ends where a departure begins that has no card yet, so that cards stand beside
/// their lines.
pub(super) fn parts(sides: &Sides<'_>, marks: usize) -> Vec<Part> {
    let is_shown = shown(sides);
    let mut has_card = vec![false; marks];
    let mut parts: Vec<Part> = Vec::new();
    let mut at = 0;
    while at < sides.rows.len() {
        let same = |next: usize| is_shown.get(next) == is_shown.get(at);
        let end = (at..sides.rows.len()).find(|next| !same(*next)).unwrap_or(sides.rows.len());
        if is_shown.get(at) == Some(&true) {
            blocks(at..end, sides, &mut has_card, &mut parts);
        } else {
            let is_quiet = sides.rows.get(at..end).unwrap_or_default().iter().any(|row| sides.is_other(row));
            parts.push(if is_quiet { Part::Quiet(at..end) } else { Part::Same(at..end) });
        }
        at = end;
    }
    parts
}

fn shown(sides: &Sides<'_>) -> Vec<bool> {
    let mut shown = vec![false; sides.rows.len()];
    for (at, row) in sides.rows.iter().enumerate() {
        if !row.marks.is_empty() || sides.is_changed(row) {
            let around = at.saturating_sub(CONTEXT)..(at + CONTEXT + 1).min(shown.len());
            shown.get_mut(around).unwrap_or_default().fill(true);
        }
    }
    // A fold of one row would be no shorter than the row.
    for at in 1..shown.len().saturating_sub(1) {
        if shown.get(at - 1) == Some(&true)
            && shown.get(at + 1) == Some(&true)
            && let Some(between) = shown.get_mut(at)
        {
            *between = true;
        }
    }
    shown
}

fn blocks(rows: Range<usize>, sides: &Sides<'_>, has_card: &mut [bool], parts: &mut Vec<Part>) {
    let mut start = rows.start;
    let mut cards: Vec<usize> = Vec::new();
    for at in rows.clone() {
        let new: Vec<usize> = sides.rows.get(at).map(|row| row.marks.clone()).unwrap_or_default();
        let new: Vec<usize> = new.into_iter().filter(|mark| has_card.get(*mark) == Some(&false)).collect();
        if !new.is_empty() && !cards.is_empty() {
            parts.push(Part::Block { rows: start..at, marks: std::mem::take(&mut cards) });
            start = at;
        }
        for mark in new {
            if let Some(has_card) = has_card.get_mut(mark) {
                *has_card = true;
            }
            cards.push(mark);
        }
    }
    parts.push(Part::Block { rows: start..rows.end, marks: cards });
}
