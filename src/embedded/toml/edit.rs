//! Changes of a TOML text as edits of its bytes.

use std::ops::Range;

use serde_json::{Map, Value};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use toml_edit::{ArrayOfTables, Document, InlineTable, Value as TomlValue};

use super::super::lines::{content_end, indent, line_start, newline, next_line};
use super::super::{EmbeddedError, expected::index};
use super::brackets::{Brackets, comments_above, cut, insertion};
use super::outline::{Found, Statement, find, header_keys, statements};
use super::write::{self, Like, inline, is_section};
use crate::change::{Action, Change, New, TextEdit, apply_edits};
use crate::yaml::tree::MAX_DEPTH;

/// The edits for a change whose path is known to fit.
pub(in super::super) fn edit(text: &str, change: &Change) -> Result<Vec<TextEdit>, EmbeddedError> {
    let mut steps = Steps { text: text.to_owned(), newline: newline(text), last: Vec::new(), count: 0 };
    match change.action {
        Action::Add(new) => steps.add(change.path, new)?,
        Action::Replace(new) => steps.replace(change.path, new)?,
        Action::Remove => steps.remove(change.path)?,
    }
    Ok(if steps.count == 1 { steps.last } else { difference(text, &steps.text) })
}

/// A change made in steps, each on the text that the one before it left. Most take one.
struct Steps<'t> {
    text: String,
    /// The line break of the text as it was at first.
    newline: &'t str,
    last: Vec<TextEdit>,
    count: usize,
}

impl Steps<'_> {
    /// Makes the edits that `plan` finds.
    fn step(
        &mut self,
        plan: impl FnOnce(&Outlined) -> Result<Vec<TextEdit>, EmbeddedError>,
    ) -> Result<(), EmbeddedError> {
        let document = super::parse(&self.text)?;
        let statements = statements(&self.text, &document);
        let edits = plan(&Outlined { text: &self.text, newline: self.newline, document: &document, statements })?;
        self.text = apply_edits(&self.text, &edits);
        self.last = edits;
        self.count += 1;
        Ok(())
    }

    fn add(&mut self, path: &[String], new: New) -> Result<(), EmbeddedError> {
        let Some((last, parents)) = path.split_last() else { return self.replace(path, new) };
        match (kind(&self.text, parents)?, kind(&self.text, path)?) {
            (Some(Kind::Table | Kind::Value), Some(_)) => self.replace(path, new),
            (Some(_), _) => self.step(|text| text.add(parents, last, new)),
            (None, _) => {
                // What implied the parent went with the value that this one takes the place of.
                let value = Value::Object(Map::from_iter([(last.clone(), new.value.clone())]));
                self.add(parents, New { value: &value, ..new })
            }
        }
    }

    fn replace(&mut self, path: &[String], new: New) -> Result<(), EmbeddedError> {
        let Some((_, parents)) = path.split_last() else { return self.step(|text| text.replace_all(new)) };
        if matches!(kind(&self.text, path)?, Some(Kind::Array | Kind::Value)) {
            return self.step(|text| text.replace_value(path, new));
        }
        let is_item = kind(&self.text, parents)? == Some(Kind::Tables);
        self.step(|text| Ok(text.remove_statements(path)))?;
        if is_item && kind(&self.text, parents)?.is_none() {
            let list = Value::Array(vec![new.value.clone()]);
            return self.add(parents, New { value: &list, ..new });
        }
        self.add(path, new)
    }

    fn remove(&mut self, path: &[String]) -> Result<(), EmbeddedError> {
        let parents = path.split_last().map_or(path, |(_, parents)| parents);
        let parent = kind(&self.text, parents)?;
        self.step(|text| text.remove(parents, path))?;
        if kind(&self.text, parents)?.is_some() {
            return Ok(());
        }
        let empty = if parent == Some(Kind::Tables) { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
        self.add(parents, New { value: &empty, spelled: None, comment: None })
    }
}

/// What stands at a path, in as far as it decides how the path is edited.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A section, or a table that headers or dotted keys imply.
    Table,
    /// Sections `[[…]]`.
    Tables,
    /// Items in brackets.
    Array,
    /// Any other value, an inline table among them.
    Value,
}

fn kind(text: &str, path: &[String]) -> Result<Option<Kind>, EmbeddedError> {
    Ok(find(&super::parse(text)?, path).map(|found| match found {
        Found::Table(_) => Kind::Table,
        Found::Tables(_) => Kind::Tables,
        Found::Value(TomlValue::Array(_)) => Kind::Array,
        Found::Value(_) => Kind::Value,
    }))
}

/// A text that was read.
struct Outlined<'d> {
    text: &'d str,
    newline: &'d str,
    document: &'d Document<&'d str>,
    statements: Vec<Statement>,
}

impl Outlined<'_> {
    fn add(&self, parents: &[String], last: &str, new: New) -> Result<Vec<TextEdit>, EmbeddedError> {
        match find(self.document, parents).ok_or_else(unfit)? {
            Found::Table(table) if is_section(new.value) && !table.is_dotted() => {
                without_comment(new)?;
                let path: Vec<String> = parents.iter().cloned().chain([last.to_owned()]).collect();
                let lines = write::sections(&header_keys(self.document, &path), new.value)?;
                Ok(vec![self.section_behind(parents, &lines)])
            }
            Found::Table(table) => self.add_pair(parents, last, table.is_dotted(), new),
            Found::Tables(tables) => self.add_table(parents, last, tables, new),
            Found::Value(value) => {
                without_comment(new)?;
                self.add_between_brackets(value, last, new.value)
            }
        }
    }

    fn add_pair(&self, table: &[String], key: &str, is_dotted: bool, new: New) -> Result<Vec<TextEdit>, EmbeddedError> {
        let header = self.statements.iter().position(|statement| statement.value.is_none() && statement.path == table);
        let belongs = |statement: &&Statement| {
            let in_table = statement.path.starts_with(table);
            statement.value.is_some() && if is_dotted { in_table } else { statement.section == header }
        };
        let sibling = self.statements.iter().rfind(belongs);
        let section = if is_dotted { sibling.and_then(|sibling| sibling.section) } else { header };
        let section = section.and_then(|at| self.statements.get(at));
        let implied = !is_dotted && header.is_none() && !table.is_empty();
        let outer = if implied { table.len() } else { section.map_or(0, |section| section.path.len()) };
        let keys: Vec<&str> = table.iter().skip(outer).map(String::as_str).chain([key]).collect();
        let pair = format!("{}{}{}", write::dotted(&keys), self.equals(), inline(new.value, None)?);
        let pair = pair + &written_comment(new)?;
        Ok(vec![match sibling.or(section) {
            Some(anchor) if !implied => self.line_behind(anchor, &pair),
            _ => self.pair_at_top(table, pair),
        }])
    }

    /// A pair where its section has none and no header of its own: at the top of the text, or below a new header
    /// before the sections that implied it.
    fn pair_at_top(&self, table: &[String], pair: String) -> TextEdit {
        let header = format!("[{}]", write::dotted(&header_keys(self.document, table)));
        let lines = if table.is_empty() { pair } else { format!("{header}{}{pair}", self.newline) };
        match self.statements.iter().position(|statement| statement.path.starts_with(table)) {
            Some(first) => insertion(self.top_of(first), format!("{lines}{0}{0}", self.newline)),
            None => self.at_end(&lines),
        }
    }

    /// What stands between a key and its value, by the pairs of the text.
    fn equals(&self) -> &'static str {
        let tight = |pair: &Statement| self.text.get(pair.equals.clone()) == Some("=");
        if self.statements.iter().rfind(|statement| statement.value.is_some()).is_some_and(tight) { "=" } else { " = " }
    }

    fn line_behind(&self, anchor: &Statement, line: &str) -> TextEdit {
        let end = content_end(self.text, anchor.span.end);
        insertion(end, format!("{}{}{line}", self.newline, indent(self.text, anchor.span.start)))
    }

    /// Lines at the end of a text that holds no statement.
    fn at_end(&self, lines: &str) -> TextEdit {
        let (before, behind) = match self.text {
            text if text.is_empty() || text.ends_with('\n') => ("", self.newline),
            _ => (self.newline, ""),
        };
        insertion(self.text.len(), format!("{before}{lines}{behind}"))
    }

    /// A section behind all that is below `parent`.
    fn section_behind(&self, parent: &[String], lines: &[String]) -> TextEdit {
        let Some(anchor) = self.statements.iter().rfind(|statement| statement.path.starts_with(parent)) else {
            return self.at_end(&lines.join(self.newline));
        };
        let end = content_end(self.text, anchor.span.end);
        let end = if parent.is_empty() { self.text.trim_end().len().max(end) } else { end };
        insertion(end, format!("{0}{0}{1}", self.newline, lines.join(self.newline)))
    }

    fn add_table(
        &self,
        path: &[String],
        last: &str,
        tables: &ArrayOfTables,
        new: New,
    ) -> Result<Vec<TextEdit>, EmbeddedError> {
        without_comment(new)?;
        let not_a_table =
            || EmbeddedError::new(0, "this list is written as sections `[[…]]`, which hold mappings only");
        let members = new.value.as_object().ok_or_else(not_a_table)?;
        let lines = write::section(&header_keys(self.document, path), true, members)?;
        let at = if last == "-" { tables.len() } else { index(last).ok_or_else(unfit)? };
        let item: Vec<String> = path.iter().cloned().chain([at.to_string()]).collect();
        Ok(vec![match self.statements.iter().position(|statement| statement.path == item) {
            Some(next) => insertion(self.top_of(next), format!("{1}{0}{0}", self.newline, lines.join(self.newline))),
            None => self.section_behind(path, &lines),
        }])
    }

    fn add_between_brackets(&self, value: &TomlValue, last: &str, new: &Value) -> Result<Vec<TextEdit>, EmbeddedError> {
        let brackets = Brackets::of(self.text, value).ok_or_else(unfit)?;
        match value {
            TomlValue::InlineTable(members) => {
                undotted(members)?;
                let pair = format!("{} = {}", write::key(last), inline(new, None)?);
                Ok(brackets.insert(members.get_values().len(), &pair))
            }
            TomlValue::Array(items) => {
                let at = if last == "-" { items.len() } else { index(last).ok_or_else(unfit)? };
                let like = items.iter().last().map(|value| Like { text: self.text, value });
                Ok(brackets.insert(at, &inline(new, like)?))
            }
            _ => Err(unfit()),
        }
    }

    /// Another whole text.
    fn replace_all(&self, new: New) -> Result<Vec<TextEdit>, EmbeddedError> {
        without_comment(new)?;
        let members =
            new.value.as_object().ok_or_else(|| EmbeddedError::new(0, "a TOML text as a whole is a mapping"))?;
        let lines = write::top(members)?;
        let text = lines.join(self.newline);
        let start = self.text.len() - self.text.trim_start_matches('\u{feff}').len();
        let end = if text.is_empty() { "" } else { self.newline };
        Ok(vec![TextEdit { range: start..self.text.len(), text: text + end }])
    }

    fn replace_value(&self, path: &[String], new: New) -> Result<Vec<TextEdit>, EmbeddedError> {
        let Some(Found::Value(value)) = find(self.document, path) else { return Err(unfit()) };
        let span = value.span().ok_or_else(unfit)?;
        if value.as_inline_table().is_some_and(InlineTable::is_dotted) {
            return Err(dotted(span.start));
        }
        let mut edits = Vec::new();
        if super::value(value, MAX_DEPTH)? != *new.value {
            let text = inline(new.value, Some(Like { text: self.text, value }))?;
            edits.push(TextEdit { range: span.clone(), text });
        }
        if self.statements.iter().any(|statement| statement.value == Some(span.clone())) {
            if new.comment.is_some() {
                edits.push(TextEdit { range: span.end..content_end(self.text, span.end), text: written_comment(new)? });
            }
        } else {
            without_comment(new)?;
        }
        Ok(edits)
    }

    fn remove(&self, parents: &[String], path: &[String]) -> Result<Vec<TextEdit>, EmbeddedError> {
        let last = path.last().ok_or_else(unfit)?;
        let Some(Found::Value(value)) = find(self.document, parents) else { return Ok(self.remove_statements(path)) };
        let brackets = Brackets::of(self.text, value).ok_or_else(unfit)?;
        let at = match value {
            TomlValue::InlineTable(members) => {
                undotted(members)?;
                members.get_values().iter().position(|(keys, _)| keys.iter().all(|key| key.get() == last))
            }
            _ => index(last),
        };
        Ok(brackets.remove(at.ok_or_else(unfit)?))
    }

    /// The cuts that take out all that is said at or below the path.
    fn remove_statements(&self, path: &[String]) -> Vec<TextEdit> {
        let gone = |statement: &Statement| statement.path.starts_with(path);
        let mut cuts: Vec<Range<usize>> = Vec::new();
        for (at, statement) in self.statements.iter().enumerate().filter(|(_, statement)| gone(statement)) {
            let in_gone_section = statement.section.and_then(|at| self.statements.get(at)).is_some_and(gone);
            let range = match statement.value {
                Some(_) if in_gone_section => continue,
                Some(_) => self.top_of(at)..next_line(self.text, statement.span.end),
                None => self.section(at),
            };
            let range = self.whole_lines(range);
            match cuts.last_mut().filter(|last| range.start <= last.end) {
                Some(last) => *last = last.start.min(range.start)..range.end,
                None => cuts.push(range),
            }
        }
        cuts.into_iter().map(cut).collect()
    }

    /// The section of a header: from the comments above it to its last pair, with the blank lines behind it, or, at
    /// the end of the text, those before it.
    fn section(&self, header: usize) -> Range<usize> {
        let below = self.statements.iter().skip(header);
        let last = below.take_while(|statement| statement.section == Some(header)).last();
        let end = next_line(self.text, last.map_or(0, |last| last.span.end));
        let rest = &self.text[end..];
        let content = rest.trim_start();
        if content.is_empty() {
            let kept = self.text[..self.top_of(header)].trim_end().len();
            return next_line(self.text, kept).min(self.top_of(header))..self.text.len();
        }
        self.top_of(header)..line_start(self.text, self.text.len() - content.len())
    }

    /// The same, with the line break before it where the text ends without one.
    fn whole_lines(&self, range: Range<usize>) -> Range<usize> {
        if range.end < self.text.len() || self.text.ends_with('\n') {
            return range;
        }
        let before = &self.text[..range.start];
        let kept = before.strip_suffix('\n').unwrap_or(before);
        kept.strip_suffix('\r').unwrap_or(kept).len()..range.end
    }

    /// Where a statement begins with the comment lines directly above it.
    fn top_of(&self, at: usize) -> usize {
        let Some(statement) = self.statements.get(at) else { return 0 };
        let before = at.checked_sub(1).and_then(|before| self.statements.get(before));
        comments_above(
            self.text,
            line_start(self.text, statement.span.start),
            before.map_or(0, |before| before.span.end),
        )
    }
}

/// The comment behind a pair, with the blank before it.
fn written_comment(new: New) -> Result<String, EmbeddedError> {
    match new.comment {
        None | Some("") => Ok(String::new()),
        Some(comment) if comment.contains(|c: char| c.is_control() && c != '\t') => {
            Err(EmbeddedError::new(0, "a comment holds no line breaks or other control characters"))
        }
        Some(comment) => Ok(format!(" # {comment}")),
    }
}

fn without_comment(new: New) -> Result<(), EmbeddedError> {
    match new.comment {
        None | Some("") => Ok(()),
        Some(_) => Err(EmbeddedError::new(0, "in TOML a comment can be written only behind the value of a key")),
    }
}

/// Refuses an inline table that spells tables by dotted keys: what such a key implies has no place of its own.
fn undotted(table: &InlineTable) -> Result<(), EmbeddedError> {
    let is_dotted = table.is_dotted() || table.get_values().iter().any(|(keys, _)| keys.len() > 1);
    if is_dotted { Err(dotted(table.span().map_or(0, |span| span.start))) } else { Ok(()) }
}

fn dotted(at: usize) -> EmbeddedError {
    EmbeddedError::new(at, "an inline table with dotted keys cannot be changed in part; replace it as a whole")
}

/// Edits of whole lines that make one text of another.
fn difference(before: &str, after: &str) -> Vec<TextEdit> {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let mut at = 0;
    let mut edits = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        let length: usize = old[op.old_range()].iter().map(|line| line.len()).sum();
        if !matches!(op, DiffOp::Equal { .. }) {
            edits.push(TextEdit { range: at..at + length, text: new[op.new_range()].concat() });
        }
        at += length;
    }
    edits
}

/// For a path that was said to fit.
fn unfit() -> EmbeddedError {
    EmbeddedError::new(0, "the path does not fit the embedded text")
}
