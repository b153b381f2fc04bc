//! Changes of a JSON text as edits of its bytes.

use std::ops::Range;

use serde_json::Value;

use super::super::lines::{begins_line, indent, line_start};
use super::super::{EmbeddedError, expected::index};
use super::layout::{Layout, colon};
use super::tree::{self, Kind, Node};
use super::write;
use crate::change::{Action, Change, Spelled, TextEdit};

/// The edits for a change whose path is known to fit.
pub(in super::super) fn edit(text: &str, change: &Change) -> Result<Vec<TextEdit>, EmbeddedError> {
    let root = tree::parse(text)?;
    let spelled = match change.action {
        Action::Add(new) | Action::Replace(new) => new.spelled,
        Action::Remove => None,
    };
    let editor = Editor { text, root: &root, taken: spelled.and_then(taken) };
    match change.action {
        Action::Add(new) => editor.add(change.path, new.value),
        Action::Replace(new) => editor.replace(change.path, new.value),
        Action::Remove => editor.remove(change.path),
    }
}

struct Editor<'t> {
    text: &'t str,
    root: &'t Node,
    /// What a `move` or `copy` takes, as it stands in the text.
    taken: Option<Taken<'t>>,
}

/// A value as a text has it.
struct Taken<'t> {
    says: Value,
    text: &'t str,
    /// The indentation of the line that it begins on.
    indent: &'t str,
}

fn taken(spelled: Spelled<'_>) -> Option<Taken<'_>> {
    let span = spelled.tree.node(spelled.node).span.clone();
    let text = spelled.text.get(span.clone()).filter(|_| spelled.taken.is_some_and(|taken| taken.is_same))?;
    Some(Taken { says: tree::parse(text).ok()?.into_value(), text, indent: indent(spelled.text, span.start) })
}

impl<'t> Editor<'t> {
    fn add(&self, path: &[String], value: &Value) -> Result<Vec<TextEdit>, EmbeddedError> {
        let Some((last, parents)) = path.split_last() else { return self.replace(path, value) };
        let parent = self.find(parents)?;
        let (key, at) = match &parent.kind {
            Kind::Object(members) if members.iter().any(|member| member.key == *last) => {
                return self.replace(path, value);
            }
            Kind::Object(members) => (Some(last.as_str()), members.len()),
            Kind::Array(items) if last == "-" => (None, items.len()),
            _ => (None, index(last).ok_or_else(unfit)?),
        };
        let parts = parent.parts();
        let edit = match (parts.get(at), parts.last()) {
            (_, None) => self.fill(parents, parent, key, value)?,
            (Some(next), _) => {
                let separator = self.separator(parent, &parts, at.saturating_sub(1));
                let new = self.part(parent, next.start, indent(self.text, next.start), key, value);
                TextEdit { range: next.start..next.start, text: new + &separator }
            }
            (None, Some(last)) => {
                let separator = self.separator(parent, &parts, parts.len().saturating_sub(2));
                let line = separator.rsplit_once('\n').map(|(_, line)| indent(line, 0));
                let new = self.part(parent, last.end, line.unwrap_or(indent(self.text, last.end)), key, value);
                TextEdit { range: last.end..last.end, text: separator + &new }
            }
        };
        Ok(vec![edit])
    }

    fn replace(&self, path: &[String], value: &Value) -> Result<Vec<TextEdit>, EmbeddedError> {
        let old = self.find(path)?;
        let parent = path.split_last().map(|(_, parents)| self.find(parents)).transpose()?;
        let mut layout = self.layout(parent, old.span.start, value);
        let same_kind =
            matches!((&old.kind, value), (Kind::Array(_), Value::Array(_)) | (Kind::Object(_), Value::Object(_)));
        if let Some(brackets) = layout.brackets(value).filter(|_| same_kind && !old.parts().is_empty()) {
            brackets.inline = self.is_inline(old);
        }
        let text = self.value(&mut layout, value, indent(self.text, old.span.start));
        Ok(vec![TextEdit { range: old.span.clone(), text }])
    }

    fn remove(&self, path: &[String]) -> Result<Vec<TextEdit>, EmbeddedError> {
        let (last, parents) = path.split_last().ok_or_else(unfit)?;
        let parent = self.find(parents)?;
        let parts = parent.parts();
        let at = position(parent, last).ok_or_else(unfit)?;
        let gone = parts.get(at).ok_or_else(unfit)?;
        let before = at.checked_sub(1).and_then(|before| parts.get(before));
        let begins_line = begins_line(self.text, gone.start);
        Ok(match (before, parts.get(at + 1)) {
            (None, None) => vec![cut(parent.span.start + 1..parent.span.end - 1)],
            (_, Some(next)) if begins_line => vec![cut(self.own_lines(gone, next).unwrap_or(gone.start..next.start))],
            (None, Some(next)) => vec![cut(gone.start..next.start)],
            (Some(before), None) if begins_line => self.cut_last(before, gone),
            (Some(before), _) => vec![cut(before.end..gone.end)],
        })
    }

    /// The lines that an item has for itself, its comma included, where the one behind it begins another line.
    fn own_lines(&self, gone: &Range<usize>, next: &Range<usize>) -> Option<Range<usize>> {
        let comma = gone.end + self.text[gone.end..next.start].find(',')? + 1;
        let feed = self.text[comma..next.start].find('\n')?;
        Some(line_start(self.text, gone.start)..comma + feed + 1)
    }

    /// The cuts that take out a last item that begins a line: the comma before it, and its lines.
    fn cut_last(&self, before: &Range<usize>, gone: &Range<usize>) -> Vec<TextEdit> {
        let text = self.text;
        let line = line_start(text, gone.start);
        let comma = before.end + text[before.end..line].find(',').map_or(0, |comma| comma + 1);
        let behind = &text[gone.end..];
        let blanks = behind.len() - behind.trim_start_matches([' ', '\t', '\r']).len();
        let lines = if behind[blanks..].starts_with('\n') {
            line..gone.end + blanks + 1
        } else {
            let before_break = text[..line].strip_suffix('\n').map_or(line, |rest| rest.trim_end_matches('\r').len());
            before_break.max(comma)..gone.end
        };
        vec![cut(before.end..comma), cut(lines)]
    }

    /// The edit that puts the first item into an empty collection.
    fn fill(&self, path: &[String], empty: &Node, key: Option<&str>, value: &Value) -> Result<TextEdit, EmbeddedError> {
        let range = empty.span.start + 1..empty.span.end - 1;
        let inner = &self.text[range.clone()];
        let outer = path.split_last().map(|(_, parents)| self.find(parents)).transpose()?;
        let shape = if key.is_some() { Value::Object(serde_json::Map::new()) } else { Value::Array(Vec::new()) };
        let mut layout = self.layout(outer, empty.span.start, &shape);
        let brackets = layout.brackets(&shape).map_or((true, ""), |brackets| (brackets.inline, brackets.pad));
        let base = indent(self.text, empty.span.start);
        let text = if inner.contains('\n') || !brackets.0 {
            let below = format!("{base}{}", layout.unit);
            let tail = last_break(inner).map_or_else(|| format!("{}{base}", layout.newline), str::to_owned);
            let part = self.written(&mut layout, &below, key, value);
            format!("{}{below}{part}{tail}", layout.newline)
        } else {
            let pad = if inner.is_empty() { brackets.1 } else { inner };
            if let Some(brackets) = layout.brackets(value) {
                brackets.inline = true;
            }
            format!("{pad}{}{pad}", self.written(&mut layout, base, key, value))
        };
        Ok(TextEdit { range, text })
    }

    /// A new part of a collection that has others, without its comma.
    fn part(&self, parent: &Node, at: usize, indent: &str, key: Option<&str>, value: &Value) -> String {
        let mut layout = self.layout(Some(parent), at, value);
        if let Kind::Object(members) = &parent.kind {
            layout.colon = colon(self.text, members).unwrap_or(layout.colon);
        }
        self.written(&mut layout, indent, key, value)
    }

    /// A value, behind its key where it has one.
    fn written(&self, layout: &mut Layout, indent: &str, key: Option<&str>, value: &Value) -> String {
        let value = self.value(layout, value, indent);
        key.map_or(value.clone(), |key| write::string(key) + layout.colon + &value)
    }

    /// A value: what is taken as it stands but for blank lines, unless it has several lines and is to have one.
    fn value(&self, layout: &mut Layout, value: &Value, indent: &str) -> String {
        let is_inline = layout.brackets(value).is_some_and(|brackets| brackets.inline);
        let taken = self.taken.as_ref().filter(|taken| taken.says == *value);
        match taken.filter(|taken| !(is_inline && taken.text.contains('\n'))) {
            Some(Taken { text, indent: old, .. }) => {
                let line =
                    |line: &str| line.strip_prefix(old).map_or(line.to_owned(), |rest| format!("{indent}{rest}"));
                let mut lines = text.split('\n');
                let first = lines.next().unwrap_or_default().to_owned();
                lines.filter(|line| !line.trim().is_empty()).fold(first, |out, next| out + "\n" + &line(next))
            }
            None => write::value(layout, value, indent),
        }
    }

    /// The layout for a new value below `parent` at the byte `at`: siblings of its kind are followed first.
    fn layout(&self, parent: Option<&Node>, at: usize, value: &Value) -> Layout<'t> {
        let mut layout = Layout::near(self.text, self.root, at);
        let (Some(parent), Some(brackets)) = (parent, layout.brackets(value)) else { return layout };
        let alike = |node: &&Node| match node.kind {
            Kind::Object(_) => value.is_object(),
            Kind::Array(_) => value.is_array(),
            Kind::Scalar(_) => false,
        };
        let siblings =
            || parent.children().filter(alike).filter(|node| !node.parts().is_empty() && node.span.start != at);
        let sibling = siblings().take_while(|node| node.span.start < at).last().or_else(|| siblings().next());
        match sibling {
            Some(sibling) => brackets.inline = self.is_inline(sibling),
            None => brackets.inline |= self.is_inline(parent),
        }
        layout
    }

    fn is_inline(&self, node: &Node) -> bool {
        !self.text[node.span.clone()].contains('\n')
    }

    /// What stands between the item `before` and the one behind it, blank lines left out; for the only item, what
    /// would stand behind it.
    fn separator(&self, parent: &Node, parts: &[Range<usize>], before: usize) -> String {
        if let (Some(before), Some(next)) = (parts.get(before), parts.get(before + 1)) {
            let gap = &self.text[before.end..next.start];
            let (left, right) = gap.split_once(',').unwrap_or((gap, ""));
            return format!("{},{}", last_break(left).unwrap_or(left), last_break(right).unwrap_or(right));
        }
        let lead = parts.first().map_or("", |only| &self.text[parent.span.start + 1..only.start]);
        match last_break(lead) {
            Some(line) => format!(",{line}"),
            None => Layout::near(self.text, self.root, parent.span.end).comma.to_owned(),
        }
    }

    fn find(&self, path: &[String]) -> Result<&'t Node, EmbeddedError> {
        path.iter().try_fold(self.root, |node, segment| {
            position(node, segment).and_then(|at| node.children().nth(at)).ok_or_else(unfit)
        })
    }
}

/// Where the child of that name stands among the children.
fn position(node: &Node, segment: &str) -> Option<usize> {
    match &node.kind {
        Kind::Object(members) => members.iter().position(|member| member.key == segment),
        Kind::Array(_) => index(segment),
        Kind::Scalar(_) => None,
    }
}

/// White space from its last line break on; `None` where it has none.
fn last_break(space: &str) -> Option<&str> {
    let feed = space.rfind('\n')?;
    let start = if space[..feed].ends_with('\r') { feed - 1 } else { feed };
    space.get(start..)
}

fn cut(range: Range<usize>) -> TextEdit {
    TextEdit { range, text: String::new() }
}

/// For a path that was said to fit.
fn unfit() -> EmbeddedError {
    EmbeddedError::new(0, "the path does not fit the embedded text")
}
