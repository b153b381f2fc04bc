//! The statements of a TOML text, headers and pairs, in the order in which they stand, each with the way to what it says.

use std::ops::Range;

use toml_edit::{Document, Item, Table, Value};

/// A step of a way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Token {
    Key(String),
    Index(usize),
}

/// One header or pair.
#[derive(Debug)]
pub(super) struct Statement {
    /// The way to the table that a header opens, or to the value of a pair.
    pub(super) way: Vec<Token>,
    /// From its first byte to the end of its brackets or its value.
    pub(super) span: Range<usize>,
    /// The value of a pair.
    pub(super) value: Option<Part>,
}

impl Statement {
    pub(super) fn is_header(&self) -> bool {
        self.value.is_none()
    }
}

/// A value: of a pair, or between brackets.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) way: Vec<Token>,
    /// Where it begins: at its key, if it has one between the brackets.
    pub(super) start: usize,
    /// The value.
    pub(super) span: Range<usize>,
    /// Whether it is an array or an inline table.
    pub(super) is_collection: bool,
    /// What stands between its brackets, in order.
    pub(super) parts: Vec<Part>,
}

/// The statements of a text; `None` where it is no TOML.
pub(super) fn read(text: &str) -> Option<Vec<Statement>> {
    let document = Document::parse(text).ok()?;
    let mut found = Vec::new();
    table(text, document.as_table(), &mut Vec::new(), &mut found);
    found.sort_by_key(|statement| statement.span.start);
    Some(found)
}

/// Whoever read the text before has bounded how deeply it nests.
fn table(text: &str, table: &Table, way: &mut Vec<Token>, found: &mut Vec<Statement>) {
    if let Some(span) = table.span().filter(|_| !table.is_implicit() && !table.is_dotted() && !way.is_empty()) {
        found.push(Statement { way: way.clone(), span, value: None });
    }
    for (name, item) in table {
        way.push(Token::Key(name.to_owned()));
        match item {
            Item::None => {}
            Item::Table(below) => self::table(text, below, way, found),
            Item::ArrayOfTables(tables) => {
                for (index, below) in tables.iter().enumerate() {
                    way.push(Token::Index(index));
                    self::table(text, below, way, found);
                    way.pop();
                }
            }
            Item::Value(value) => {
                if let Some(key) = table.key(name).and_then(toml_edit::Key::span)
                    && let Some(value) = part(value, way, key.start)
                {
                    let start = line_start(text, key.start);
                    found.push(Statement { way: way.clone(), span: start..value.span.end, value: Some(value) });
                }
            }
        }
        way.pop();
    }
}

/// The first byte of the line of `at` that is no blank: a pair has its line for itself, and dots may stand in its key.
fn line_start(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rfind('\n').map_or(0, |feed| feed + 1);
    let lead = before.get(line..).unwrap_or_default();
    line + lead.len() - lead.trim_start_matches(['\u{feff}', ' ', '\t']).len()
}

fn part(value: &Value, way: &mut Vec<Token>, start: usize) -> Option<Part> {
    let span = value.span()?;
    let mut parts = Vec::new();
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                way.push(Token::Index(index));
                let start = item.span().map_or(span.start, |span| span.start);
                parts.extend(part(item, way, start));
                way.pop();
            }
        }
        Value::InlineTable(members) => {
            for (keys, member) in members.get_values() {
                let length = way.len();
                way.extend(keys.iter().map(|key| Token::Key(key.get().to_owned())));
                let start = keys.first().and_then(|key| key.span()).map_or(span.start, |span| span.start);
                parts.extend(part(member, way, start));
                way.truncate(length);
            }
        }
        _ => {}
    }
    parts.sort_by_key(|part| part.start);
    let is_collection = matches!(value, Value::Array(_) | Value::InlineTable(_));
    Some(Part { way: way.clone(), start, span, is_collection, parts })
}
