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
            (Some(Kind::Table | Kind::Dotted | Kind::Value), Some(_)) => self.replace(path, new),
            _ => self.step(|text| text.add(parents, last, new)),
        }
    }

    fn replace(&mut self, path: &[String], new: New) -> Result<(), EmbeddedError> {
        let Some((_, parents)) = path.split_last() else { return self.step(|text| text.replace_all(new)) };
        let is_item = kind(&self.text, parents)? == Some(Kind::Tables);
        match kind(&self.text, path)? {
            Some(Kind::Array | Kind::Value) => self.step(|text| text.replace_value(path, new)),
            Some(Kind::Dotted) => self.step(|text| text.replace_dotted(path, new)),
            _ if is_item && !new.value.is_object() => {
                if !self.is_all_of(parents, path)? {
                    return Err(not_a_table());
                }
                let list = Value::Array(vec![new.value.clone()]);
                self.replace(parents, New { value: &list, ..new })
            }
            _ if is_section(new.value) => self.step(|text| text.replace_section(path, is_item, new)),
            _ if !parents.is_empty() && self.is_all_of(parents, path)? => {
                self.step(|text| text.replace_by_pair(parents, path, new))
            }
            _ => {
                self.step(|text| Ok(text.remove_statements(path)))?;
                self.add(path, new)
            }
        }
    }

    fn remove(&mut self, path: &[String]) -> Result<(), EmbeddedError> {
        let parents = path.split_last().map_or(path, |(_, parents)| parents);
        let empty = match kind(&self.text, parents)? {
            Some(Kind::Tables) => Value::Array(Vec::new()),
            _ => Value::Object(Map::new()),
        };
        if !parents.is_empty() && self.is_all_of(parents, path)? {
            return self.replace(parents, New { value: &empty, spelled: None, comment: None });
        }
        self.step(|text| text.remove(parents, path))
    }

    /// Whether statements below a path are all that says that there is something at the path above.
    fn is_all_of(&self, parents: &[String], path: &[String]) -> Result<bool, EmbeddedError> {
        let document = super::parse(&self.text)?;
        let statements = statements(&self.text, &document);
        let mut of_parents = statements.iter().filter(|statement| statement.path.starts_with(parents)).peekable();
        Ok(of_parents.peek().is_some() && of_parents.all(|statement| statement.path.starts_with(path)))
    }
}

/// What stands at a path, in as far as it decides how the path is edited.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A section, or a table that headers imply.
    Table,
    /// A table that dotted keys imply.
    Dotted,
    /// Sections `[[…]]`.
    Tables,
    /// Items in brackets.
    Array,
    /// Any other value, an inline table among them.
    Value,
}

fn kind(text: &str, path: &[String]) -> Result<Option<Kind>, EmbeddedError> {
    Ok(find(&super::parse(text)?, path).map(|found| match found {
        Found::Table(table) if table.is_dotted() => Kind::Dotted,
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
        let end = self.end_with_comments(anchor);
        let end = if parent.is_empty() { self.text.trim_end().len().max(end) } else { end };
        insertion(end, format!("{0}{0}{1}", self.newline, lines.join(self.newline)))
    }

    /// The end of a statement's line, or of the comments directly below it that do not stand directly above the next one.
    fn end_with_comments(&self, statement: &Statement) -> usize {
        let own = content_end(self.text, statement.span.end);
        let mut end = own;
        loop {
            let below = next_line(self.text, end);
            let line = self.text.get(below..content_end(self.text, below)).unwrap_or_default();
            match line.trim() {
                "" => return end,
                comment if comment.starts_with('#') => end = below + line.len(),
                _ => return own,
            }
        }
    }

    fn add_table(
        &self,
        path: &[String],
        last: &str,
        tables: &ArrayOfTables,
        new: New,
    ) -> Result<Vec<TextEdit>, EmbeddedError> {
        without_comment(new)?;
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
        self.remove_all_but(path, |_| false)
    }

    /// The same, but for the statements that `stays` names by their numbers.
    fn remove_all_but(&self, path: &[String], stays: impl Fn(usize) -> bool) -> Vec<TextEdit> {
        let gone = |statement: &Statement| statement.path.starts_with(path);
        let mut cuts: Vec<Range<usize>> = Vec::new();
        let statements = self.statements.iter().enumerate();
        for (at, statement) in statements.filter(|(at, statement)| gone(statement) && !stays(*at)) {
            let in_gone_section = statement.section.and_then(|at| self.statements.get(at)).is_some_and(gone);
            let range = match statement.value {
                Some(_) if in_gone_section => continue,
                Some(_) => self.top_of(at)..next_line(self.text, statement.span.end),
                None => self.section(at),
            };
            match cuts.last_mut().filter(|last| range.start <= last.end) {
                Some(last) => *last = last.start.min(range.start)..range.end,
                None => cuts.push(range),
            }
        }
        let has_header = self.statements.iter().any(|statement| statement.value.is_none() && gone(statement));
        if let Some(last) = cuts.last_mut().filter(|last| last.end == self.text.len()) {
            last.start = self.start_at_the_end(last.start, has_header);
        }
        cuts.into_iter().map(cut).collect()
    }

    /// Puts a section, or sections `[[…]]`, in the place of the first of those that say what is at the path.
    fn replace_section(&self, path: &[String], is_item: bool, new: New) -> Result<Vec<TextEdit>, EmbeddedError> {
        without_comment(new)?;
        let keys = header_keys(self.document, path);
        let lines = match new.value {
            Value::Object(members) if is_item => write::section(&keys, true, members)?,
            value => write::sections(&keys, value)?,
        };
        let first = self.first_of(path).ok_or_else(unfit)?;
        let statement = self.statements.get(first).ok_or_else(unfit)?;
        let is_its_header = statement.path == path && new.value.is_object();
        let (start, lines) = match lines.split_first() {
            Some((_, body)) if is_its_header => (content_end(self.text, statement.span.end), body),
            _ => (statement.span.start, lines.as_slice()),
        };
        let text = self.laid_out(first, is_its_header, lines);
        Ok(self.in_place_of(path, first, start, text))
    }

    /// Puts a section with one pair in the place of all that says what is at the path.
    fn replace_by_pair(&self, parents: &[String], path: &[String], new: New) -> Result<Vec<TextEdit>, EmbeddedError> {
        let last = path.last().ok_or_else(unfit)?;
        let header = format!("[{}]", write::dotted(&header_keys(self.document, parents)));
        let value = inline(new.value, None)?;
        let pair = format!("{}{}{value}{}", write::key(last), self.equals(), written_comment(new)?);
        let first = self.first_of(path).ok_or_else(unfit)?;
        let start = self.statements.get(first).map_or(0, |statement| statement.span.start);
        let text = self.laid_out(first, false, &[header, pair]);
        Ok(self.in_place_of(path, first, start, text))
    }

    /// The number of the first header that says something of what is at the path.
    fn first_of(&self, path: &[String]) -> Option<usize> {
        self.statements.iter().position(|statement| statement.value.is_none() && statement.path.starts_with(path))
    }

    /// Lines of sections, indented as the header of that number and the first pair below it. Where the header stays, they
    /// stand behind it.
    fn laid_out(&self, header: usize, is_behind: bool, lines: &[String]) -> String {
        let indent_of = |at: usize| self.statements.get(at).map(|statement| indent(self.text, statement.span.start));
        let of_header = indent_of(header).unwrap_or_default();
        let has_pair = self.statements.get(header + 1).is_some_and(|next| next.section == Some(header));
        let of_pair = indent_of(header + 1).filter(|_| has_pair).unwrap_or(of_header);
        let mut text = String::new();
        for (number, line) in lines.iter().enumerate() {
            let lead = if line.starts_with('[') { of_header } else { of_pair };
            match (number > 0 || is_behind, line.is_empty()) {
                (true, true) => text.push_str(self.newline),
                (true, false) => text.extend([self.newline, lead, line]),
                (false, _) => text.push_str(line),
            }
        }
        text
    }

    /// The edits that put `text` from `start` to the end of a section, and take out all else that is said at or below the
    /// path.
    fn in_place_of(&self, path: &[String], first: usize, start: usize, text: String) -> Vec<TextEdit> {
        let end = content_end(self.text, self.last_of_section(first));
        let others = self.remove_all_but(path, |at| at == first);
        std::iter::once(TextEdit { range: start..end, text }).chain(others).collect()
    }

    /// Puts one pair in the place of the dotted keys that say what is at the path.
    fn replace_dotted(&self, path: &[String], new: New) -> Result<Vec<TextEdit>, EmbeddedError> {
        let is_of_it = |statement: &&Statement| statement.path.starts_with(path);
        let is_pair = |statement: &Statement| statement.value.is_some() && is_of_it(&statement);
        let first = self.statements.iter().position(is_pair).ok_or_else(unfit)?;
        let statement = self.statements.get(first).ok_or_else(unfit)?;
        let section = statement.section.and_then(|at| self.statements.get(at)).map_or(0, |header| header.path.len());
        let keys: Vec<&str> = path.iter().skip(section).map(String::as_str).collect();
        let equals = self.text.get(statement.equals.clone()).unwrap_or(" = ");
        let text = format!("{}{equals}{}{}", write::dotted(&keys), inline(new.value, None)?, written_comment(new)?);
        let is_alone = self.statements.iter().filter(is_of_it).count() == 1;
        let line_end = content_end(self.text, statement.span.end);
        let end = if is_alone && new.comment.is_none() { statement.span.end } else { line_end };
        let pair = TextEdit { range: statement.span.start..end, text };
        let (mut edits, behind): (Vec<_>, Vec<_>) = self
            .remove_all_but(path, |at| at == first)
            .into_iter()
            .partition(|edit| edit.range.end <= pair.range.start);
        edits.push(pair);
        edits.extend(behind);
        Ok(edits)
    }

    /// The end of the last statement of a header's section.
    fn last_of_section(&self, header: usize) -> usize {
        let below = self.statements.iter().skip(header);
        let last = below.take_while(|statement| statement.section == Some(header)).last();
        last.map_or(0, |last| last.span.end)
    }

    /// The section of a header: from the comments above it to its last pair, with the blank lines behind it.
    fn section(&self, header: usize) -> Range<usize> {
        let end = next_line(self.text, self.last_of_section(header));
        let rest = &self.text[end..];
        let content = rest.trim_start();
        let end =
            if content.is_empty() { self.text.len() } else { line_start(self.text, self.text.len() - content.len()) };
        self.top_of(header)..end
    }

    /// Where a cut up to the end of the text begins: a section takes the blank lines before it along, and where the text
    /// ends without a line break, it does so afterwards.
    fn start_at_the_end(&self, start: usize, is_section: bool) -> usize {
        let kept = self.text[..start].trim_end_matches(['\n', '\r']).len();
        let line = next_line(self.text, content_end(self.text, kept)).min(start);
        match (self.text.ends_with('\n'), is_section) {
            (false, _) => content_end(self.text, kept).min(start),
            (true, true) => line,
            (true, false) => start,
        }
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

fn not_a_table() -> EmbeddedError {
    EmbeddedError::new(0, "this list is written as sections `[[…]]`, which hold mappings only")
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
