//! What is YAML, and yet no YAML to libyaml, or another text to it.
//!
//! Kubernetes reads with go-yaml v2, a libyaml written in Go (`scannerc.go`), which is stricter here and there than
//! YAML 1.2 and the parser below `yaml::tree`. A text that it would refuse, or take for another, is refused here, so
//! that no such text is proven and no such spelling is written. JSON has a reader of its own in Kubernetes and is asked
//! for elsewhere (`yaml::load`).

use std::ops::Range;

use memchr::{memchr, memchr2, memrchr2};

use super::tree::{Bytes, Entry, Kind, Node, Style, Tree};

/// What libyaml does not take, or takes otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// `\/`, which JSON and YAML 1.2 have.
    #[error("Kubernetes does not know the escape `\\/`; write `/`")]
    Slash,
    /// An escape of a surrogate, as JSON writes characters above U+FFFF.
    #[error("Kubernetes takes no half of a surrogate pair; write the character itself, or `\\U` and eight digits")]
    Surrogate,
    /// The name of an anchor or an alias.
    #[error("for Kubernetes the name of an anchor holds ASCII letters, digits, `-` and `_` alone")]
    AnchorName,
    /// A bracket or brace right behind the name of an anchor.
    #[error("Kubernetes wants a space behind the name of an anchor")]
    AnchorEnd,
    /// Something else than white space behind a tag, or a `#` in it.
    #[error("Kubernetes takes what stands behind this tag for a part of it; write a space between")]
    TagEnd,
    /// A `?` in a bare text between brackets or braces.
    #[error("Kubernetes takes a `?` between brackets or braces for an indicator; quote this text")]
    QuestionMark,
    /// A `:` at the start of a bare text between brackets or braces.
    #[error(
        "Kubernetes takes a `:` at the start of a text between brackets or braces for an indicator; quote this text"
    )]
    Colon,
    /// A `:` behind a bare key between brackets or braces, and right before one of these or a comma.
    #[error("Kubernetes takes this `:` for a part of the text before it; write a space behind it, or quote the text")]
    ColonEnd,
    /// A block text that is the whole document and is not indented.
    #[error("Kubernetes does not take this line for a part of the text above it; indent the text")]
    Unindented,
    /// A key between brackets or braces whose `:` stands on another line than it begins.
    #[error("for Kubernetes a key and its `:` stand on one line; write them so, or put `? ` before the key")]
    BrokenKey,
    /// A tab where indentation could be.
    #[error("Kubernetes takes no tab here; write spaces")]
    Tab,
}

/// The first of each kind of thing in a document that libyaml does not take as we do, and where.
pub fn refusal(tree: &Tree, text: &str) -> Option<(Refusal, Bytes)> {
    nodes(tree, text)
        .or_else(|| unindented(tree, text))
        .or_else(|| Tabs::new(tree, text)?.refused().map(|at| (Refusal::Tab, at)))
}

fn nodes(tree: &Tree, text: &str) -> Option<(Refusal, Bytes)> {
    let mut flow_end = 0;
    for (_, node) in tree.nodes() {
        if node.is_flow() {
            flow_end = flow_end.max(node.span.end);
        }
        let in_flow = node.span.start < flow_end;
        let found = properties(node, text).or_else(|| match &node.kind {
            Kind::Scalar { style: Style::Double, .. } => escape(text, &node.span),
            Kind::Mapping { entries, flow: true } => {
                broken_key(tree, text, entries).or_else(|| glued_colon(tree, text, entries))
            }
            Kind::Scalar { style: Style::Plain, text } if in_flow && text.contains('?') => {
                Some((Refusal::QuestionMark, node.span.clone()))
            }
            Kind::Scalar { style: Style::Plain, text } if in_flow && text.starts_with(':') => {
                Some((Refusal::Colon, node.span.clone()))
            }
            _ => None,
        });
        if found.is_some() {
            return found;
        }
    }
    None
}

/// The first key that libyaml does not know for one, because its colon is not on the line where it begins.
fn broken_key(tree: &Tree, text: &str, entries: &[Entry]) -> Option<(Refusal, Bytes)> {
    entries.iter().filter(|entry| entry.question.is_none()).find_map(|entry| {
        let key = tree.node(entry.key).full();
        let colon = entry.colon.filter(|colon| *colon > key.start)?;
        memchr2(b'\n', b'\r', text.as_bytes().get(key.start..colon)?)?;
        Some((Refusal::BrokenKey, key))
    })
}

/// The first colon that libyaml takes for a part of the bare key before it, as nothing stands between it and what follows.
fn glued_colon(tree: &Tree, text: &str, entries: &[Entry]) -> Option<(Refusal, Bytes)> {
    let is_glued = |at: &usize| matches!(text.as_bytes().get(at + 1), Some(b',' | b'[' | b']' | b'{' | b'}'));
    let colon = entries.iter().find_map(|entry| {
        let key = tree.node(entry.key);
        let is_bare = key.style() == Some(Style::Plain) && !key.span.is_empty();
        entry.colon.filter(|colon| is_bare && *colon == key.span.end && is_glued(colon))
    })?;
    Some((Refusal::ColonEnd, colon..colon + 1))
}

/// The first line of a block text at the root, where it stands in the first column: YAML takes it for the text's own, and
/// libyaml ends the text before it.
fn unindented(tree: &Tree, text: &str) -> Option<(Refusal, Bytes)> {
    let root = tree.node(tree.root()?);
    if !root.style().is_some_and(Style::is_block) {
        return None;
    }
    // A carriage return ends a line by itself too. Of one with its line feed, the latter counts as an empty line.
    let mut lines = text.get(root.span.clone())?.split_inclusive(['\n', '\r']);
    let mut at = root.span.start + lines.next()?.len();
    for line in lines {
        let bare = line.trim_end_matches(['\n', '\r']);
        if !bare.trim_start_matches(' ').is_empty() {
            return (!bare.starts_with(' ')).then(|| (Refusal::Unindented, at..at + bare.len()));
        }
        at += line.len();
    }
    None
}

fn properties(node: &Node, text: &str) -> Option<(Refusal, Bytes)> {
    let alias = matches!(node.kind, Kind::Alias { .. }).then(|| node.span.clone());
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let misnamed = |at: &Bytes| !text.get(at.start + 1..at.end).unwrap_or("").chars().all(is_name);
    if let Some(at) = node.anchor.as_deref().cloned().into_iter().chain(alias).find(misnamed) {
        return Some((Refusal::AnchorName, at));
    }
    if let Some(at) = node.anchor.as_deref()
        && matches!(text.as_bytes().get(at.end), Some(b'[' | b'{'))
    {
        return Some((Refusal::AnchorEnd, at.clone()));
    }
    let tag = node.tag.as_ref()?.span.clone();
    let goes_on = text.as_bytes().get(tag.end).is_some_and(|byte| !byte.is_ascii_whitespace());
    let has_hash = text.get(tag.clone()).is_some_and(|tag| tag.contains('#'));
    (goes_on || has_hash).then_some((Refusal::TagEnd, tag))
}

/// The first escape in double quotes that is none for libyaml.
fn escape(text: &str, span: &Bytes) -> Option<(Refusal, Bytes)> {
    let bytes = text.as_bytes().get(..span.end)?;
    let mut at = span.start;
    while let Some(found) = memchr(b'\\', bytes.get(at..)?) {
        let start = at + found;
        let end = start + escape_len(*bytes.get(start + 1)?);
        let code = text.get(start + 2..end).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        if bytes.get(start + 1) == Some(&b'/') {
            return Some((Refusal::Slash, start..end));
        }
        if code.is_some_and(|code| (0xd800..0xe000).contains(&code)) {
            return Some((Refusal::Surrogate, start..end));
        }
        at = start + 2;
    }
    None
}

/// How many bytes an escape has, by the byte behind its backslash.
fn escape_len(byte: u8) -> usize {
    match byte {
        b'u' => 6,
        b'U' => 10,
        _ => 2,
    }
}

/// A scalar with something in it, and what libyaml takes for the indentation around it.
struct Stretch {
    span: Bytes,
    style: Style,
    /// The column of the block collection that it is in; `None` at the root.
    around: Option<usize>,
}

/// The scalars, brackets and indicators of a document, for the tabs between them.
struct Tabs<'t> {
    text: &'t str,
    tree: &'t Tree,
    scalars: Vec<Stretch>,
    /// The outermost flow collections.
    flows: Vec<Bytes>,
    /// The indicators behind which a key may stand: dashes, question marks and the colons that answer them.
    indicators: Vec<usize>,
    /// Of the scalar that was looked at last: its number, where the white space behind it ends, and the columns that a
    /// tab must not stand in.
    last: Option<(usize, usize, Range<usize>)>,
}

impl<'t> Tabs<'t> {
    /// `None` for a text without tabs.
    fn new(tree: &'t Tree, text: &'t str) -> Option<Self> {
        memchr(b'\t', text.as_bytes())?;
        let mut tabs = Tabs { text, tree, scalars: Vec::new(), flows: Vec::new(), indicators: Vec::new(), last: None };
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (_, node) in tree.nodes() {
            while open.last().is_some_and(|(end, _)| *end <= node.span.start) {
                open.pop();
            }
            tabs.take(node, &mut open);
        }
        tabs.indicators.sort_unstable();
        Some(tabs)
    }

    fn take(&mut self, node: &Node, open: &mut Vec<(usize, usize)>) {
        if node.is_flow() && self.flows.last().is_none_or(|flow| flow.end <= node.span.start) {
            self.flows.push(node.span.clone());
        }
        if node.is_block_collection() {
            open.push((node.span.end, self.column(node.span.start)));
        }
        match &node.kind {
            Kind::Scalar { style, .. } if !node.span.is_empty() => {
                let around = open.last().map(|(_, column)| *column);
                self.scalars.push(Stretch { span: node.span.clone(), style: *style, around });
            }
            Kind::Sequence { items, .. } => self.indicators.extend(items.iter().filter_map(|item| item.dash)),
            Kind::Mapping { entries, .. } => {
                let asked = entries.iter().filter_map(|entry| Some([entry.question?, entry.colon?]));
                self.indicators.extend(asked.flatten());
            }
            _ => {}
        }
    }

    fn column(&self, at: usize) -> usize {
        let before = self.text.as_bytes().get(..at).unwrap_or(&[]);
        at - memrchr2(b'\n', b'\r', before).map_or(0, |end| end + 1)
    }

    /// The first tab that is refused. The blanks around one tab are judged together.
    fn refused(mut self) -> Option<Bytes> {
        let mut at = 0;
        while let Some(found) = memchr(b'\t', self.text.as_bytes().get(at..)?) {
            let tab = at + found;
            let start = self.text.get(at..tab)?.trim_end_matches(' ').len() + at;
            if self.is_refused(start, tab) {
                return Some(tab..tab + 1);
            }
            let rest = self.text.get(tab..)?;
            at = tab + rest.len() - rest.trim_start_matches([' ', '\t']).len();
        }
        None
    }

    /// Whether the first tab of the blanks from `start` on is refused.
    fn is_refused(&mut self, start: usize, tab: usize) -> bool {
        let before = start.checked_sub(1).and_then(|at| self.text.as_bytes().get(at));
        let begins_line = before.is_none_or(|byte| matches!(byte, b'\n' | b'\r'));
        let in_flow = holds(&self.flows, tab);
        if !begins_line {
            let indicator = self.indicators.binary_search(&start.saturating_sub(1)).is_ok();
            return indicator && !in_flow && !self.is_in_text(tab);
        }
        let number = self.scalars.partition_point(|scalar| scalar.span.start <= tab).checked_sub(1);
        let Some((reach, forbidden)) = number.and_then(|number| self.forbidden(number)) else { return !in_flow };
        if tab < reach { forbidden.contains(&(tab - start)) } else { !in_flow }
    }

    fn is_in_text(&self, at: usize) -> bool {
        let scalar = self.scalars.partition_point(|scalar| scalar.span.start <= at).checked_sub(1);
        let in_scalar = scalar.and_then(|number| self.scalars.get(number)).is_some_and(|scalar| at < scalar.span.end);
        in_scalar || holds(self.tree.comments(), at)
    }

    /// How far a scalar reaches with the white space that libyaml reads along with it, and the columns in which no tab
    /// may begin its lines.
    fn forbidden(&mut self, number: usize) -> Option<(usize, Range<usize>)> {
        if let Some((_, reach, columns)) = self.last.as_ref().filter(|(last, ..)| *last == number) {
            return Some((*reach, columns.clone()));
        }
        let Stretch { span, style, around } = self.scalars.get(number)?;
        let rest = self.text.get(span.end..)?;
        let behind = self.text.len() - rest.trim_start().len();
        let (reach, columns) = match style {
            Style::Plain => (behind, 0..around.map_or(0, |column| column + 1)),
            Style::Single | Style::Double => (span.end, 0..0),
            Style::Literal | Style::Folded => (behind, 0..self.block_indent(span, *around)),
        };
        self.last = Some((number, reach, columns.clone()));
        Some((reach, columns))
    }

    /// The indentation of a block scalar: as its header says, or that of its first line with anything but spaces. Where
    /// that is a tab, any tab is in the way.
    fn block_indent(&self, span: &Bytes, around: Option<usize>) -> usize {
        let text = self.text.get(span.clone()).unwrap_or("");
        let header_end = memchr2(b'\n', b'\r', text.as_bytes()).unwrap_or(text.len());
        let (header, body) = text.split_at_checked(header_end).unwrap_or((text, ""));
        let named = header.chars().skip(1).take(2).find_map(|c| c.to_digit(10));
        if let Some(step) = named {
            return around.unwrap_or(0) + step as usize;
        }
        let first = body.split(['\n', '\r']).find(|line| !line.trim_start_matches(' ').is_empty());
        match first.map(|line| (line, line.trim_start_matches(' '))) {
            Some((line, content)) if !content.starts_with('\t') => line.len() - content.len(),
            _ => usize::MAX,
        }
    }
}

/// Whether one of the stretches, which are in order, holds a byte.
fn holds(stretches: &[Bytes], at: usize) -> bool {
    let number = stretches.partition_point(|stretch| stretch.start <= at).checked_sub(1);
    number.and_then(|number| stretches.get(number)).is_some_and(|stretch| at < stretch.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Option<(Refusal, usize)> {
        refusal(&Tree::parse(text).unwrap(), text).map(|(refusal, at)| (refusal, at.start))
    }

    #[test]
    fn what_libyaml_does_not_take_is_found_where_it_stands() {
        let cases = [
            ("a: \"b\\/c\"\n", Refusal::Slash, 5),
            ("\"b\\\\\\/c\": 1\n", Refusal::Slash, 4),
            ("a: [\"\\ud83d\\ude00\"]\n", Refusal::Surrogate, 5),
            ("a: &b:c d\n", Refusal::AnchorName, 3),
            ("a: &b.c d\ne: *b.c\n", Refusal::AnchorName, 3),
            ("a: [!!str, b]\n", Refusal::TagEnd, 4),
            ("a: {b: !!str}\n", Refusal::TagEnd, 7),
            ("a: [b?c]\n", Refusal::QuestionMark, 4),
            ("a: {?b: c}\n", Refusal::QuestionMark, 4),
            ("a: [b, ::c]\n", Refusal::Colon, 7),
            ("a: {:b: c}\n", Refusal::Colon, 4),
            ("a: {\n b\n :\n c\n }\n", Refusal::BrokenKey, 6),
            ("a: {b: 1, \"c\"\n : d}\n", Refusal::BrokenKey, 10),
            ("a: {b\n c: d}\n", Refusal::BrokenKey, 4),
            ("a: {&x b\r\n : c}\n", Refusal::BrokenKey, 4),
            ("|-\n#b\n", Refusal::Unindented, 3),
            ("--- >\n\n\nb\n", Refusal::Unindented, 8),
            ("|-\r#\t-|\r ", Refusal::Unindented, 3),
            ("|-\r\n#b\r\n", Refusal::Unindented, 4),
            ("a:\n-\tb\n", Refusal::Tab, 4),
            ("a:\n- \t\n  b\n", Refusal::Tab, 5),
            ("? a\n:\tb\n", Refusal::Tab, 5),
            ("a: \"b\"\n \t\nc: d\n", Refusal::Tab, 8),
            ("a:\n  b: c\n  \t\n  d: 1\n", Refusal::Tab, 12),
            ("a:\n  \tb: 1\n", Refusal::Tab, 5),
            ("a: 1 # c\n\t# d\n", Refusal::Tab, 9),
            ("a: |\n  \tb\n", Refusal::Tab, 7),
            ("a: |\n\n  \tb\n", Refusal::Tab, 8),
            ("a: |\n  b\n\t\n", Refusal::Tab, 9),
        ];
        for (text, refusal, at) in cases {
            assert_eq!(refused(text), Some((refusal, at)), "{text:?}");
        }
    }

    #[test]
    fn what_libyaml_takes_is_not_refused() {
        for text in [
            "",
            "a: \"\\0\\a\\b\\t\\n\\v\\f\\r\\e\\ \\\"\\\\\\N\\_\\L\\P\\x41\\u0041\\U0001F600\\\\/\"\n",
            "a: &b-_9 c\nd: *b-_9\n",
            "a: !!str b\nc: !!str\n",
            "a: {\n  b:\n  c, d,\n  ? e\n  : f, \"g\": [\n h\n ]}\n",
            "a: b?c\nd: [\"b?c\", ? e : f]\n",
            "a: ::b\nc: [b::c, \":d\"]\n",
            "a:\tb\t# c\n- d\n".strip_suffix("- d\n").unwrap(),
            "a:\t\n  b: c\t\n",
            "a: [b,\n\tc,\t\"d\te\"]\n",
            "a: |\n  b\n  \tc\n   \t\nd: |2\n  \te\n",
            "a: |\n  b\n    \t\nc: d\n",
            "--- |\n\n b\n#c\n",
            "|\n",
            "a: b\n   \tc\n",
            "a: \"b\n\tc\"\n",
        ] {
            assert_eq!(refused(text), None, "{text:?}");
        }
    }

    #[test]
    fn many_tabs_are_no_burden() {
        let text = format!("a: |\n{}", "  b\n   \t\t\tc\n".repeat(200_000));
        assert_eq!(refused(&text), None);
        let text = format!("a: b\n{}c: d\n", "    \t\n".repeat(200_000));
        assert_eq!(refused(&text), None);
    }
}
