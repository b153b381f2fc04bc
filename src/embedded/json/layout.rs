//! How the author of a JSON text lays values out, learned from what stands nearest to the place of an edit.

use std::ops::Range;

use serde_json::Value;

use super::super::lines::{indent, newline};
use super::tree::{Kind, Member, Node};

/// The white space of a text's author.
#[derive(Debug)]
pub(super) struct Layout<'t> {
    /// The line break.
    pub(super) newline: &'t str,
    /// One level of indentation.
    pub(super) unit: &'t str,
    /// From the end of a key to its value.
    pub(super) colon: &'t str,
    /// From one item to the next on the same line.
    pub(super) comma: &'t str,
    pub(super) objects: Brackets<'t>,
    pub(super) arrays: Brackets<'t>,
}

/// How collections of one kind are laid out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Brackets<'t> {
    /// Whether they stand on one line.
    pub(super) inline: bool,
    /// What stands inside the brackets of one on one line, before and behind its items.
    pub(super) pad: &'t str,
}

impl<'t> Layout<'t> {
    /// The layout of the text near the byte `at`: what stands before it counts first, the nearest most.
    pub(super) fn near(text: &'t str, root: &Node, at: usize) -> Layout<'t> {
        let mut seen = Seen { text, at, ..Seen::default() };
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            seen.look_at(node);
            open.extend(node.children().rev());
        }
        let one_line = !text[root.span.clone()].contains('\n');
        let colon = seen.colon.unwrap_or(": ");
        let comma = seen.comma.unwrap_or(if colon.ends_with(' ') { ", " } else { "," });
        let brackets = |seen: SeenBrackets<'t>| Brackets {
            inline: one_line || seen.inline.unwrap_or(false),
            pad: seen.pad.unwrap_or(""),
        };
        Layout {
            newline: newline(text),
            unit: seen.unit.unwrap_or("  "),
            colon,
            comma,
            objects: brackets(seen.objects),
            arrays: brackets(seen.arrays),
        }
    }

    /// How a collection like `value` is laid out; nothing for a scalar.
    pub(super) fn brackets(&mut self, value: &Value) -> Option<&mut Brackets<'t>> {
        match value {
            Value::Object(_) => Some(&mut self.objects),
            Value::Array(_) => Some(&mut self.arrays),
            _ => None,
        }
    }
}

/// What the walk over the tree has met.
#[derive(Default)]
struct Seen<'t> {
    text: &'t str,
    at: usize,
    unit: Option<&'t str>,
    colon: Option<&'t str>,
    comma: Option<&'t str>,
    objects: SeenBrackets<'t>,
    arrays: SeenBrackets<'t>,
}

#[derive(Default)]
struct SeenBrackets<'t> {
    inline: Option<bool>,
    pad: Option<&'t str>,
}

impl Seen<'_> {
    fn look_at(&mut self, node: &Node) {
        let parts = node.parts();
        let Some(first) = parts.first() else { return };
        let (text, before) = (self.text, node.span.start < self.at);
        let inline = !text[node.span.clone()].contains('\n');
        let pad = inline.then(|| &text[node.span.start + 1..first.start]);
        keep(&mut self.unit, unit(text, node, first), before);
        keep(&mut self.comma, comma(text, &parts), before);
        let brackets = if let Kind::Object(members) = &node.kind {
            keep(&mut self.colon, colon(text, members), before);
            &mut self.objects
        } else {
            &mut self.arrays
        };
        keep(&mut brackets.inline, Some(inline), before);
        keep(&mut brackets.pad, pad, before);
    }
}

/// Keeps what was found, unless it stands behind the place and something was found already.
fn keep<T>(slot: &mut Option<T>, found: Option<T>, before: bool) {
    if found.is_some() && (before || slot.is_none()) {
        *slot = found;
    }
}

/// The indentation of a collection's first item below the line that opens it, where it begins a line.
fn unit<'t>(text: &'t str, node: &Node, first: &Range<usize>) -> Option<&'t str> {
    if on_one_line(&text[node.span.start..first.start]).is_some() {
        return None;
    }
    let unit = indent(text, first.start).strip_prefix(indent(text, node.span.start))?;
    Some(unit).filter(|unit| !unit.is_empty())
}

/// What stands between two items of the same line.
fn comma<'t>(text: &'t str, parts: &[Range<usize>]) -> Option<&'t str> {
    let gaps = parts.windows(2).filter_map(|pair| text.get(pair.first()?.end..pair.last()?.start));
    gaps.filter_map(on_one_line).next_back()
}

/// What stands between the key and the value of the last member that has both on one line.
pub(super) fn colon<'t>(text: &'t str, members: &[Member]) -> Option<&'t str> {
    let mut colons = members.iter().rev().map(|member| &text[member.key_span.end..member.value.span.start]);
    colons.find_map(on_one_line)
}

fn on_one_line(gap: &str) -> Option<&str> {
    Some(gap).filter(|gap| !gap.contains('\n'))
}
