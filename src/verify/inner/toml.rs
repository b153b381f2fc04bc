//! In a TOML text nothing differs but what the edits call for.
//!
//! Base and result are read into statements, headers and pairs, and walked side by side. A statement that no edit is about
//! must be the same bytes; so must what stands between two that are next to each other on both sides. Where statements went
//! or came, `gap` says what may differ between those that stayed. Arrays and inline tables are walked part by part. This asks
//! nothing of how the text was edited.

mod gap;
mod statements;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::json::is_tidy;
use crate::diff::{Difference, Step, What};
use gap::{Between, Departing, Kind};
use statements::{Part, Statement, Token};

/// The byte of the result's text where it begins to differ in more than the edits call for, if it does. Both texts are
/// TOML.
pub(super) fn stray(base: &str, result: &str, edits: &[Difference]) -> Option<usize> {
    if edits.iter().any(|edit| edit.path.last().is_none()) {
        // A text that is written anew as a whole is laid out as the writer likes.
        return None;
    }
    let (Some(base), Some(result)) = (without_mark(base, base), without_mark(result, base)) else { return Some(0) };
    let (Some(old), Some(new)) = (Side::read(base, edits, true), Side::read(result, edits, false)) else {
        return Some(0);
    };
    let ends = |text: &str| text.is_empty() || text.ends_with('\n');
    if !base.is_empty() && !result.is_empty() && ends(base) != ends(result) {
        return Some(result.len());
    }
    Walk { old: &old, new: &new }.run().err()
}

/// A text without the byte order mark that it has just where `base` has one.
fn without_mark<'t>(text: &'t str, base: &str) -> Option<&'t str> {
    const MARK: char = '\u{feff}';
    let rest = text.strip_prefix(MARK);
    if base.starts_with(MARK) { rest } else { rest.is_none().then_some(text) }
}

/// One of the two texts.
struct Side<'t> {
    text: &'t str,
    statements: Vec<Statement>,
    /// What departs on this side: ways to all that went, or came, with the numbers of the edits.
    edited: HashMap<Vec<Token>, usize>,
    /// The ways to all that an edit is in.
    around: HashSet<Vec<Token>>,
    /// The first statement of what departs in an edit, and the edit, by their numbers.
    first: HashMap<usize, usize>,
}

/// What stands between two parts of a value, by their numbers, or a part and a bracket.
type Gap<'p> = (&'p Part, Range<Option<usize>>);

/// `Err` with the byte of the result where it differs.
type Same = Result<(), usize>;

impl<'t> Side<'t> {
    fn read(text: &'t str, edits: &[Difference], is_base: bool) -> Option<Side<'t>> {
        let statements = statements::read(text)?;
        let (mut edited, mut around) = (HashMap::new(), HashSet::new());
        for (number, edit) in edits.iter().enumerate() {
            let is_here =
                if is_base { !matches!(edit.what, What::Added(_)) } else { !matches!(edit.what, What::Removed(_)) };
            // As far as this side has the way: an item that is gone has none here, and the list that it was in has.
            let steps = edit.path.steps();
            let way: Vec<Token> = steps.iter().map_while(|step| token(step, is_base)).collect();
            for length in 0..steps.len().min(way.len() + 1) {
                around.insert(way.get(..length).unwrap_or_default().to_vec());
            }
            if is_here && way.len() == steps.len() {
                edited.insert(way, number);
            }
        }
        let mut side = Side { text, statements, edited, around, first: HashMap::new() };
        let mut seen = HashSet::new();
        for (number, statement) in side.statements.iter().enumerate() {
            if let Some(edit) = side.edit_of(&statement.way).filter(|edit| seen.insert(*edit)) {
                side.first.insert(number, edit);
            }
        }
        Some(side)
    }

    fn statement(&self, number: usize) -> Option<&Statement> {
        self.statements.get(number)
    }

    fn bytes(&self, span: &Range<usize>) -> &'t str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// The edit in which this departs.
    fn edit_of(&self, way: &[Token]) -> Option<usize> {
        (0..=way.len()).find_map(|length| self.edited.get(way.get(..length)?)).copied()
    }

    fn departs(&self, way: &[Token]) -> bool {
        self.edit_of(way).is_some()
    }

    /// Whether a statement says no more than that there is something in which an edit is: a header, or a pair without
    /// parts that stay.
    fn only_holds_an_edit(&self, statement: &Statement) -> bool {
        let all_departs = |value: &Part| value.is_collection && value.parts.iter().all(|part| self.departs(&part.way));
        statement.value.as_ref().is_none_or(all_departs) && self.around.contains(&statement.way)
    }

    /// From the start of a statement to its value; all of a header.
    fn head(&self, statement: &Statement) -> &'t str {
        let end = statement.value.as_ref().map_or(statement.span.end, |value| value.span.start);
        self.bytes(&(statement.span.start..end))
    }
}

/// A step as one side has it.
fn token(step: &Step, is_base: bool) -> Option<Token> {
    match step {
        Step::Key(key) => Some(Token::Key(key.clone())),
        Step::Item(item) => (if is_base { item.before } else { item.after }).map(Token::Index),
    }
}

/// Both sides, walked.
struct Walk<'w> {
    old: &'w Side<'w>,
    new: &'w Side<'w>,
}

impl Walk<'_> {
    fn run(&self) -> Same {
        let kept = |side: &Side<'_>| {
            let stays = |(number, statement): (usize, &Statement)| (!side.departs(&statement.way)).then_some(number);
            side.statements.iter().enumerate().filter_map(stays).collect::<Vec<_>>()
        };
        let (old_kept, new_kept) = (kept(self.old), kept(self.new));
        let (mut at_old, mut at_new) = (0, 0);
        let (mut old_from, mut new_from) = (None, None);
        loop {
            let (old_number, new_number) = (old_kept.get(at_old).copied(), new_kept.get(at_new).copied());
            let before = old_number.and_then(|number| self.old.statement(number));
            let after = new_number.and_then(|number| self.new.statement(number));
            match (before, after) {
                (None, None) => return self.gap(old_from..None, new_from..None),
                (Some(before), Some(after)) if self.old.head(before) == self.new.head(after) => {
                    self.gap(old_from..old_number, new_from..new_number)?;
                    if let (Some(before), Some(after)) = (&before.value, &after.value) {
                        self.value(before, after)?;
                    }
                    (old_from, new_from) = (old_number, new_number);
                    (at_old, at_new) = (at_old + 1, at_new + 1);
                }
                (_, Some(after)) if self.new.only_holds_an_edit(after) => at_new += 1,
                (_, after) => return Err(after.map_or(self.new.text.len(), |after| after.span.start)),
            }
        }
    }

    /// What stands between two statements that are on both sides, with all between them that are not; or the text's edges.
    fn gap(&self, old_between: Range<Option<usize>>, new_between: Range<Option<usize>>) -> Same {
        let old = stretch(self.old, &old_between);
        let new = stretch(self.new, &new_between);
        let is_same = if numbers(self.old, &old_between).is_empty() && numbers(self.new, &new_between).is_empty() {
            self.old.bytes(&old) == self.new.bytes(&new)
        } else {
            let breaks_alike =
                !has_bare_feed(self.new.bytes(&new)) || has_bare_feed(self.old.text) || !self.old.text.contains('\n');
            breaks_alike && between(self.old, &old_between).may_become(&between(self.new, &new_between))
        };
        if is_same { Ok(()) } else { Err(new.start) }
    }

    /// A value that both sides have.
    fn value(&self, old: &Part, new: &Part) -> Same {
        if self.old.bytes(&old.span) == self.new.bytes(&new.span) {
            return Ok(());
        }
        let holds_edits = self.old.around.contains(&old.way) || self.new.around.contains(&new.way);
        let kept = |side: &Side<'_>, value: &Part| {
            (0..value.parts.len())
                .filter(|number| value.parts.get(*number).is_some_and(|part| !side.departs(&part.way)))
                .collect::<Vec<_>>()
        };
        let (old_kept, new_kept) = (kept(self.old, old), kept(self.new, new));
        if !holds_edits || !old.is_collection || !new.is_collection || old_kept.len() != new_kept.len() {
            return Err(new.span.start);
        }
        let (mut old_from, mut new_from) = (None, None);
        for (before, after) in old_kept.into_iter().zip(new_kept) {
            self.gap_inside(&(old, old_from..Some(before)), &(new, new_from..Some(after)))?;
            if let (Some(old_part), Some(new_part)) = (old.parts.get(before), new.parts.get(after)) {
                let head = |side: &Side<'_>, part: &Part| side.bytes(&(part.start..part.span.start)).to_owned();
                if head(self.old, old_part) != head(self.new, new_part) {
                    return Err(new_part.start);
                }
                self.value(old_part, new_part)?;
            }
            (old_from, new_from) = (Some(before), Some(after));
        }
        self.gap_inside(&(old, old_from..None), &(new, new_from..None))
    }

    /// What stands between two parts, or a part and a bracket.
    fn gap_inside(&self, (old, old_between): &Gap<'_>, (new, new_between): &Gap<'_>) -> Same {
        let (old_gaps, new_gaps) = (gaps(old, old_between), gaps(new, new_between));
        let base: Vec<&str> = old_gaps.iter().map(|gap| self.old.bytes(gap)).collect();
        let result: Vec<&str> = new_gaps.iter().map(|gap| self.new.bytes(gap)).collect();
        let is_same = if let ([one], [other]) = (base.as_slice(), result.as_slice()) {
            one == other
        } else {
            let (before, after) = (comments(&base), comments(&result));
            let comments_stay = if base.len() > 1 { is_part_of(&after, &before) } else { after == before };
            comments_stay && (base.iter().any(|gap| !is_tidy(gap)) || result.iter().all(|gap| is_tidy(gap)))
        };
        if is_same { Ok(()) } else { Err(new_gaps.first().map_or(new.span.start, |gap| gap.start)) }
    }
}

/// The numbers of the statements between two.
fn numbers(side: &Side<'_>, between: &Range<Option<usize>>) -> Range<usize> {
    between.start.map_or(0, |number| number + 1)..between.end.unwrap_or(side.statements.len())
}

/// The bytes between two statements. A byte order mark stands before all.
fn stretch(side: &Side<'_>, between: &Range<Option<usize>>) -> Range<usize> {
    let start = between.start.and_then(|number| side.statement(number)).map_or(0, |statement| statement.span.end);
    let end = between.end.and_then(|number| side.statement(number));
    start..end.map_or(side.text.len(), |statement| statement.span.start)
}

fn between<'t>(side: &Side<'t>, between: &Range<Option<usize>>) -> Between<'t> {
    let mut header_departs = false;
    let kinds = numbers(side, between).filter_map(|number| {
        let statement = side.statement(number)?;
        let kind = match statement.is_header() {
            true => Kind::Header,
            false if header_departs => Kind::PairOfIt,
            false => Kind::Pair,
        };
        header_departs |= statement.is_header();
        let first = side.first.get(&number).map(|edit| (*edit, statement.is_header()));
        Some(Departing { span: statement.span.clone(), kind, first })
    });
    let kinds: Vec<_> = kinds.collect();
    let next_is_header = between.end.and_then(|number| side.statement(number)).map(Statement::is_header);
    Between::of(side.text, stretch(side, between), &kinds, (between.start.is_some(), next_is_header))
}

fn has_bare_feed(text: &str) -> bool {
    text.match_indices('\n').any(|(at, _)| !text.get(..at).unwrap_or_default().ends_with('\r'))
}

/// What stands between the parts from one to another, or from or to a bracket.
fn gaps(value: &Part, parts: &Range<Option<usize>>) -> Vec<Range<usize>> {
    let inside = value.span.start + 1..value.span.end.saturating_sub(1);
    let from = parts.start.map_or(0, |part| part + 1);
    let to = parts.end.unwrap_or(value.parts.len());
    let end_of = |number: usize| value.parts.get(number).map_or(inside.end, |part| part.span.end);
    let gap = |next: usize| {
        let start = next.checked_sub(1).map_or(inside.start, end_of);
        start..value.parts.get(next).map_or(inside.end, |part| part.start)
    };
    (from..=to).map(gap).collect()
}

/// The comments in gaps between parts.
fn comments<'t>(gaps: &[&'t str]) -> Vec<&'t str> {
    let comment = |line: &'t str| line.find('#').and_then(|at| line.get(at..)).map(str::trim_end);
    gaps.iter().flat_map(|gap| gap.lines()).filter_map(comment).collect()
}

/// Whether some are among others, in their order.
fn is_part_of(some: &[&str], others: &[&str]) -> bool {
    let mut others = others.iter();
    some.iter().all(|one| others.any(|other| other == one))
}
