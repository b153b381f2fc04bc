//! The statements of a TOML text, headers and pairs, in the order in which they stand.

use std::ops::Range;

use toml_edit::{ArrayOfTables, Document, Item, Table, Value as TomlValue};

use super::super::expected::index;
use super::super::lines::{indent, line_start};

/// One header or pair.
#[derive(Debug)]
pub(super) struct Statement {
    /// What it defines: keys, and the indices of arrays of tables.
    pub(super) path: Vec<String>,
    /// From its first key or bracket to the end of the header or value.
    pub(super) span: Range<usize>,
    /// The value of a pair; `None` for a header.
    pub(super) value: Option<Range<usize>>,
    /// From the key of a pair to its value.
    pub(super) equals: Range<usize>,
    /// The header of the section that a pair stands in, by its place among the statements; `None` at the top.
    pub(super) section: Option<usize>,
}

/// What stands at a path.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found<'d> {
    /// A section, or what headers or dotted keys imply.
    Table(&'d Table),
    /// The sections `[[…]]` of one name.
    Tables(&'d ArrayOfTables),
    /// A value behind a key or inside brackets.
    Value(&'d TomlValue),
}

/// The statements of a text.
pub(super) fn statements(text: &str, document: &Document<&str>) -> Vec<Statement> {
    let mut found = Vec::new();
    collect(text, document.as_table(), &mut Vec::new(), &mut found);
    found.sort_by_key(|statement| statement.span.start);
    let mut section = None;
    for (at, statement) in found.iter_mut().enumerate() {
        if statement.value.is_none() {
            section = Some(at);
        }
        statement.section = section;
    }
    found
}

fn collect(text: &str, table: &Table, path: &mut Vec<String>, found: &mut Vec<Statement>) {
    if let Some(header) = table.span().filter(|_| !table.is_implicit() && !path.is_empty()) {
        found.push(Statement { path: path.clone(), span: header, value: None, equals: 0..0, section: None });
    }
    for (name, item) in table {
        path.push(name.to_owned());
        match item {
            Item::Table(below) => collect(text, below, path, found),
            Item::ArrayOfTables(tables) => {
                for (at, below) in tables.iter().enumerate() {
                    path.push(at.to_string());
                    collect(text, below, path, found);
                    path.pop();
                }
            }
            Item::Value(value) => {
                if let (Some(key), Some(value)) = (table.key(name).and_then(toml_edit::Key::span), value.span()) {
                    let start = line_start(text, key.start) + indent(text, key.start).len();
                    let (span, equals) = (start..value.end, key.end..value.start);
                    found.push(Statement { path: path.clone(), span, value: Some(value), equals, section: None });
                }
            }
            Item::None => {}
        }
        path.pop();
    }
}

/// What stands at the path.
pub(super) fn find<'d>(document: &'d Document<&str>, path: &[String]) -> Option<Found<'d>> {
    path.iter().try_fold(Found::Table(document.as_table()), |parent, segment| match parent {
        Found::Table(table) => match table.get(segment)? {
            Item::Table(below) => Some(Found::Table(below)),
            Item::ArrayOfTables(tables) => Some(Found::Tables(tables)),
            Item::Value(value) => Some(Found::Value(value)),
            Item::None => None,
        },
        Found::Tables(tables) => tables.get(index(segment)?).map(Found::Table),
        Found::Value(TomlValue::Array(items)) => items.get(index(segment)?).map(Found::Value),
        Found::Value(TomlValue::InlineTable(members)) => members.get(segment).map(Found::Value),
        Found::Value(_) => None,
    })
}

/// The keys of a path that a header spells: all but the indices of arrays of tables.
pub(super) fn header_keys<'p>(document: &Document<&str>, path: &'p [String]) -> Vec<&'p str> {
    let is_key = |at: &usize| !matches!(find(document, &path[..*at]), Some(Found::Tables(_)));
    (0..path.len()).filter(is_key).map(|at| path[at].as_str()).collect()
}
