//! The tree of one YAML document, every node with the bytes that it stands on.
//!
//! The tree is read from granit's events, mended where their spans are not what an editor needs: the dash of a
//! sequence item, the colon of an entry, the header of a block scalar and the properties (anchor, tag) all have
//! places here. It keeps the text of scalars as YAML unescapes it, and says nothing of what a scalar means
//! (`yaml::scalar`) nor of how a document is changed (`yaml::edit`).
//!
//! Offsets are bytes into the text that was handed to [`Tree::parse`].

use std::ops::Range;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span, StructureStyle};

/// How deeply collections may nest. Deeper input is an error; every recursion over a tree is bounded by it.
pub const MAX_DEPTH: usize = 200;

/// A range of bytes in the text of a tree.
pub type Bytes = Range<usize>;

/// The name of a node in its [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

/// One parsed document.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    root: Option<NodeId>,
    comments: Vec<Bytes>,
}

/// One node: a scalar, a sequence, a mapping or an alias.
#[derive(Debug)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// The content as it stands, without anchor and tag. A scalar's quotes and a block scalar's header belong to it;
    /// a block scalar ends with its last line that is not blank (or, where it keeps them, with its blank lines), its
    /// line break left out. A block collection reaches from its first dash or key to the end of its last node; a flow
    /// collection from bracket to bracket. An empty node has an empty span where it would stand.
    pub span: Bytes,
    /// The anchor with its `&`, if it has one. Few do, so that it stands apart, as the tag does.
    pub anchor: Option<Box<Bytes>>,
    /// The tag as it is written, if it has one.
    pub tag: Option<Box<Tag>>,
}

/// A tag: where it stands and what it resolves to.
#[derive(Clone, Debug)]
pub struct Tag {
    /// The tag as it is written.
    pub span: Bytes,
    /// The resolved tag, as `tag:yaml.org,2002:str` or `!local`.
    pub name: String,
}

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Bare.
    Plain,
    /// `'…'`.
    Single,
    /// `"…"`.
    Double,
    /// `|`.
    Literal,
    /// `>`.
    Folded,
}

impl Style {
    /// Whether it is a block scalar.
    pub fn is_block(self) -> bool {
        matches!(self, Style::Literal | Style::Folded)
    }
}

/// What a node is.
#[derive(Debug)]
pub enum Kind {
    /// A scalar: its text, unescaped and folded as YAML says. The text of a node with nothing in it is empty.
    Scalar {
        /// How it is written.
        style: Style,
        /// What it says.
        text: String,
    },
    /// A sequence.
    Sequence {
        /// Whether it stands in brackets.
        flow: bool,
        /// Its items, in order.
        items: Vec<Item>,
    },
    /// A mapping.
    Mapping {
        /// Whether it is in flow style. A single pair of a flow sequence (`[a: b]`) is flow without braces.
        flow: bool,
        /// Its entries, in order, doubled keys and merge keys as they stand.
        entries: Vec<Entry>,
    },
    /// An alias and the node that it stands for. The target may be a collection that is still open (a cycle).
    Alias {
        /// The anchored node.
        target: NodeId,
    },
}

/// One item of a sequence.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    /// Where the dash stands; `None` in flow style.
    pub dash: Option<usize>,
    /// The item.
    pub node: NodeId,
}

/// One entry of a mapping.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Where the `?` of an explicit key stands.
    pub question: Option<usize>,
    /// The key.
    pub key: NodeId,
    /// Where the colon stands; `None` where the value is left out with it.
    pub colon: Option<usize>,
    /// The value.
    pub value: NodeId,
}

/// Why a text is not YAML, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// What is wrong, as a clause without a full stop.
    pub message: String,
    /// The byte where it was noticed.
    pub offset: usize,
}

/// What [`Tree::parse`] says of a text that goes on after its document.
const SECOND_DOCUMENT: &str = "a second document starts here";

impl SyntaxError {
    /// Whether the text is refused only because it holds another document, which begins at the offset.
    pub fn is_second_document(&self) -> bool {
        self.message == SECOND_DOCUMENT
    }
}

impl Tree {
    /// Reads the one document of `text`, which may begin with directives, comments and a `---`, and end with `...`.
    ///
    /// # Errors
    /// When the text is not YAML as libyaml takes it, nests deeper than [`MAX_DEPTH`], or holds a second document.
    pub fn parse(text: &str) -> Result<Tree, SyntaxError> {
        Builder::new(text).run()
    }

    /// The root; `None` for a text with no content (comments and white space at most).
    pub fn root(&self) -> Option<NodeId> {
        self.root
    }

    /// The node of that name.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// All nodes with their names, each before what it contains.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        (0..).map(NodeId).zip(&self.nodes)
    }

    /// All comments, from `#` to the end of the line, in order.
    pub fn comments(&self) -> &[Bytes] {
        &self.comments
    }

    /// The comment that begins within `range`, if there is one.
    pub fn comment_in(&self, range: Bytes) -> Option<Bytes> {
        let at = self.comments.partition_point(|c| c.start < range.start);
        self.comments.get(at).filter(|c| c.start < range.end).cloned()
    }

    /// The node that an alias stands for, however many aliases lie between; any other node is itself.
    pub fn resolve(&self, id: NodeId) -> NodeId {
        match self.node(id).kind {
            Kind::Alias { target } => target,
            _ => id,
        }
    }

    /// The number of nodes, aliases counted once.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the document has no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

impl Node {
    /// The text of a scalar.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The style of a scalar.
    pub fn style(&self) -> Option<Style> {
        match self.kind {
            Kind::Scalar { style, .. } => Some(style),
            _ => None,
        }
    }

    /// Whether it is a sequence or mapping in flow style.
    pub fn is_flow(&self) -> bool {
        matches!(self.kind, Kind::Sequence { flow: true, .. } | Kind::Mapping { flow: true, .. })
    }

    /// Whether it is a sequence or mapping in block style.
    pub fn is_block_collection(&self) -> bool {
        matches!(self.kind, Kind::Sequence { flow: false, .. } | Kind::Mapping { flow: false, .. })
    }

    /// From the first of anchor, tag and content to the end of the content.
    pub fn full(&self) -> Bytes {
        let anchor = self.anchor.as_ref().map_or(self.span.start, |a| a.start);
        let tag = self.tag.as_ref().map_or(self.span.start, |t| t.span.start);
        anchor.min(tag).min(self.span.start)..self.span.end.max(self.properties_end().unwrap_or(0))
    }

    fn properties_end(&self) -> Option<usize> {
        let anchor = self.anchor.as_ref().map(|a| a.end);
        anchor.max(self.tag.as_ref().map(|t| t.span.end))
    }
}

fn too_deep(offset: usize) -> SyntaxError {
    SyntaxError { message: format!("nested deeper than {MAX_DEPTH} levels"), offset }
}

/// A collection that is being read.
enum Open {
    Sequence { id: NodeId, pending: Option<usize> },
    Mapping { id: NodeId, state: Pair },
}

/// Where a mapping stands between two events.
enum Pair {
    /// A key comes next.
    Key,
    /// The value of this key comes next.
    Value { question: Option<usize>, key: NodeId, colon: Option<usize> },
}

struct Builder<'t> {
    text: &'t str,
    nodes: Vec<Node>,
    root: Option<NodeId>,
    comments: Vec<Bytes>,
    open: Vec<Open>,
    /// The end of what was consumed: indicators are sought behind it.
    cursor: usize,
    /// The node of each anchor id of granit's.
    anchors: Vec<Option<NodeId>>,
    /// The `?` before the key that is being read, by depth of `open`.
    questions: Vec<(usize, usize)>,
    documents: usize,
}

impl<'t> Builder<'t> {
    fn new(text: &'t str) -> Self {
        Builder {
            text,
            nodes: Vec::new(),
            root: None,
            comments: Vec::new(),
            open: Vec::new(),
            cursor: 0,
            anchors: Vec::new(),
            questions: Vec::new(),
            documents: 0,
        }
    }

    fn run(mut self) -> Result<Tree, SyntaxError> {
        let options = granit_parser::options! {
            block_scalar_eof_without_line_feed: true,
            emit_anchor_events: true,
            max_buffered_comment_events: usize::MAX,
            flow_nesting_limit: MAX_DEPTH,
            block_nesting_limit: MAX_DEPTH,
        };
        for event in Parser::new_from_str_with_options(self.text, options) {
            let (event, span) = event.map_err(|e| self.syntax(&e))?;
            self.take(event, &span)?;
        }
        self.comments.sort_by_key(|c| c.start);
        Ok(Tree { nodes: self.nodes, root: self.root, comments: self.comments })
    }

    fn syntax(&self, error: &ScanError) -> SyntaxError {
        let marker = error.marker();
        let mut offset = marker.byte_offset().unwrap_or(self.text.len()).min(self.text.len());
        // A forbidden tab is noticed behind it; the caret belongs under it.
        while offset > 0 && self.byte(offset) != Some(b'\t') && self.byte(offset - 1) == Some(b'\t') {
            offset -= 1;
        }
        match error.kind() {
            ErrorKind::RecursionLimitExceeded => too_deep(offset),
            _ => SyntaxError { message: error.info(), offset },
        }
    }

    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), SyntaxError> {
        let at = span.byte_range().unwrap_or(0..0);
        match event {
            Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::DocumentStart(explicit, _) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(SyntaxError { message: SECOND_DOCUMENT.into(), offset: at.start });
                }
                // Without a marker its span is that of the content.
                if explicit {
                    self.cursor = at.end;
                }
            }
            Event::Comment(..) => self.comments.push(at),
            Event::Anchor(id, _) => self.anchor(id, at),
            Event::Alias(id) => self.alias(id, at)?,
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag_of(span, tag.as_deref(), self.text);
                self.scalar(text.into_owned(), style, anchor, tag, at)?;
            }
            Event::SequenceStart(style, anchor, tag) => {
                let tag = tag_of(span, tag.as_deref(), self.text);
                let kind = Kind::Sequence { flow: style == StructureStyle::Flow, items: Vec::new() };
                let id = self.start(kind, anchor, tag, at)?;
                self.open.push(Open::Sequence { id, pending: None });
            }
            Event::MappingStart(style, anchor, tag) => {
                let tag = tag_of(span, tag.as_deref(), self.text);
                let kind = Kind::Mapping { flow: style == StructureStyle::Flow, entries: Vec::new() };
                let id = self.start(kind, anchor, tag, at)?;
                self.open.push(Open::Mapping { id, state: Pair::Key });
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(&at),
            _ => return Err(SyntaxError { message: "this is not supported in a manifest".into(), offset: at.start }),
        }
        Ok(())
    }

    /// Finds the indicator before the node that comes next: a dash, a question mark or a colon.
    fn before_node(&mut self) {
        let depth = self.open.len();
        match self.open.last() {
            Some(Open::Sequence { id, .. }) if !self.node(*id).is_flow() => {
                let dash = self.skip_trivia(self.cursor);
                if self.byte(dash) == Some(b'-') {
                    self.cursor = dash + 1;
                    if let Some(Open::Sequence { pending, .. }) = self.open.last_mut() {
                        *pending = Some(dash);
                    }
                }
            }
            Some(Open::Mapping { state: Pair::Key, id }) => {
                let flow = self.node(*id).is_flow();
                let mut at = self.skip_trivia(self.cursor);
                if flow && self.byte(at) == Some(b',') {
                    at = self.skip_trivia(at + 1);
                }
                if self.byte(at) == Some(b'?') && self.byte(at + 1).is_none_or(|b| b.is_ascii_whitespace()) {
                    self.questions.push((depth, at));
                    self.cursor = at + 1;
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, kind: Kind, anchor: usize, tag: Option<Box<Tag>>, at: Bytes) -> Result<NodeId, SyntaxError> {
        if self.open.len() >= MAX_DEPTH {
            return Err(too_deep(at.start));
        }
        let flow = matches!(kind, Kind::Sequence { flow: true, .. } | Kind::Mapping { flow: true, .. });
        self.before_node();
        let after_tag = tag.as_ref().map_or(self.cursor, |t| t.span.end.max(self.cursor));
        let id = self.push(Node { kind, span: at.clone(), anchor: None, tag }, anchor);
        let bracket = flow && matches!(self.byte(at.start), Some(b'[' | b'{'));
        self.cursor = if bracket { at.end } else { after_tag };
        Ok(id)
    }

    fn push(&mut self, node: Node, anchor: usize) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node);
        if anchor > 0 {
            if self.anchors.len() <= anchor {
                self.anchors.resize(anchor + 1, None);
            }
            self.anchors[anchor] = Some(id);
        }
        id
    }

    fn anchor(&mut self, id: usize, at: Bytes) {
        let Some(node) = self.anchors.get(id).copied().flatten() else { return };
        let end = at.end;
        let node = &mut self.nodes[node.0 as usize];
        if node.span.is_empty() && matches!(node.kind, Kind::Scalar { .. }) {
            node.span = node.span.start.max(end)..node.span.start.max(end);
        }
        node.anchor = Some(Box::new(at));
        self.cursor = self.cursor.max(end);
    }

    fn alias(&mut self, id: usize, at: Bytes) -> Result<(), SyntaxError> {
        let Some(target) = self.anchors.get(id).copied().flatten() else {
            return Err(SyntaxError { message: "this alias has no anchor".into(), offset: at.start });
        };
        self.before_node();
        let end = at.end;
        let node = self.push(Node { kind: Kind::Alias { target }, span: at, anchor: None, tag: None }, 0);
        self.cursor = end;
        self.attach(node);
        Ok(())
    }

    fn scalar(
        &mut self,
        text: String,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<Box<Tag>>,
        at: Bytes,
    ) -> Result<(), SyntaxError> {
        self.before_node();
        let style = style_of(style);
        let from = tag.as_ref().map_or(self.cursor, |t| t.span.end.max(self.cursor));
        let empty = style == Style::Plain && at.is_empty();
        let span = if style.is_block() {
            self.block_span(from, &at)?
        } else if empty {
            from..from
        } else {
            at.clone()
        };
        self.cursor = if empty { from } else { span.end.max(at.end) };
        let text = if empty { String::new() } else { text };
        let node = self.push(Node { kind: Kind::Scalar { style, text }, span, anchor: None, tag }, anchor);
        self.attach(node);
        Ok(())
    }

    /// The span of a block scalar, from its header to the end of what belongs to its value.
    fn block_span(&self, from: usize, content: &Bytes) -> Result<Bytes, SyntaxError> {
        let mut header = self.skip_trivia(from);
        // Properties stand before the header; granit names the tag's place at once, the anchor's only afterwards.
        while self.byte(header) == Some(b'&') || self.byte(header) == Some(b'!') {
            header += self.rest(header).find(|c: char| c.is_ascii_whitespace()).unwrap_or(0).max(1);
            header = self.skip_trivia(header);
        }
        if !matches!(self.byte(header), Some(b'|' | b'>')) {
            return Err(SyntaxError { message: "the header of this block scalar was not found".into(), offset: from });
        }
        let line_end = header + self.rest(header).find(['\n', '\r']).unwrap_or(self.rest(header).len());
        let indicators = &self.text[header..line_end];
        let keeps = indicators.split('#').next().is_some_and(|i| i.contains('+'));
        let end = content.end.max(line_end);
        let body = &self.text[line_end..end];
        let trimmed = if keeps {
            // granit counts the indentation of the line behind in.
            let body = if end < self.text.len() { body.trim_end_matches([' ', '\t']) } else { body };
            body.strip_suffix("\r\n").or_else(|| body.strip_suffix(['\n', '\r'])).unwrap_or(body)
        } else {
            trim_blank_lines(body)
        };
        let end = if trimmed.is_empty() { header + indicators.trim_end().len() } else { line_end + trimmed.len() };
        Ok(header..end)
    }

    fn end(&mut self, at: &Bytes) {
        let Some(open) = self.open.pop() else { return };
        let id = match open {
            Open::Sequence { id, .. } | Open::Mapping { id, .. } => id,
        };
        let first = match &self.node(id).kind {
            Kind::Sequence { items, .. } => items.first().map(|i| i.dash.unwrap_or(self.node(i.node).full().start)),
            Kind::Mapping { entries, .. } => {
                entries.first().map(|e| e.question.unwrap_or(self.node(e.key).full().start))
            }
            _ => None,
        };
        let last = match &self.node(id).kind {
            Kind::Sequence { items, .. } => {
                items.last().map(|i| self.node(i.node).full().end.max(i.dash.map_or(0, |d| d + 1)))
            }
            Kind::Mapping { entries, .. } => entries.last().map(|e| {
                let key = self.node(e.key).full().end;
                self.node(e.value).full().end.max(e.colon.map_or(0, |c| c + 1)).max(key)
            }),
            _ => None,
        };
        let braces = self.node(id).is_flow() && !at.is_empty() && matches!(self.byte(at.start), Some(b']' | b'}'));
        let node = &mut self.nodes[id.0 as usize];
        if braces {
            node.span.end = at.end;
            self.cursor = at.end;
        } else {
            let start = first.unwrap_or(node.span.start);
            node.span = start..last.unwrap_or(start);
            self.cursor = self.cursor.max(node.span.end);
        }
        self.attach(id);
    }

    /// Hands a finished node to the collection that it belongs to.
    fn attach(&mut self, node: NodeId) {
        let depth = self.open.len();
        match self.open.pop() {
            None => self.root = Some(node),
            Some(Open::Sequence { id, pending }) => {
                if let Kind::Sequence { items, .. } = &mut self.nodes[id.0 as usize].kind {
                    items.push(Item { dash: pending, node });
                }
                if self.node(id).is_flow() {
                    self.skip_comma();
                }
                self.open.push(Open::Sequence { id, pending: None });
            }
            Some(Open::Mapping { id, state: Pair::Key }) => {
                let question = match self.questions.last() {
                    Some((at_depth, at)) if *at_depth == depth => Some(*at),
                    _ => None,
                };
                if question.is_some() {
                    self.questions.pop();
                }
                let colon = self.skip_trivia(self.cursor);
                let colon = (self.byte(colon) == Some(b':')).then_some(colon);
                if let Some(colon) = colon {
                    self.cursor = colon + 1;
                }
                self.open.push(Open::Mapping { id, state: Pair::Value { question, key: node, colon } });
            }
            Some(Open::Mapping { id, state: Pair::Value { question, key, colon } }) => {
                if let Kind::Mapping { entries, .. } = &mut self.nodes[id.0 as usize].kind {
                    entries.push(Entry { question, key, colon, value: node });
                }
                if self.node(id).is_flow() {
                    self.skip_comma();
                }
                self.open.push(Open::Mapping { id, state: Pair::Key });
            }
        }
    }

    fn skip_comma(&mut self) {
        let at = self.skip_trivia(self.cursor);
        if self.byte(at) == Some(b',') {
            self.cursor = at + 1;
        }
    }

    /// The first byte from `at` on that is neither white space nor part of a comment.
    fn skip_trivia(&self, mut at: usize) -> usize {
        let bytes = self.text.as_bytes();
        while let Some(&b) = bytes.get(at) {
            match b {
                b' ' | b'\t' | b'\n' | b'\r' => at += 1,
                b'#' => at += memchr::memchr2(b'\n', b'\r', &bytes[at..]).unwrap_or(bytes.len() - at),
                0xEF if bytes[at..].starts_with("\u{feff}".as_bytes()) => at += 3,
                _ => break,
            }
        }
        at
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn rest(&self, at: usize) -> &'t str {
        self.text.get(at..).unwrap_or("")
    }
}

/// Without the blank lines at the end, the line break of the last full line among them.
fn trim_blank_lines(body: &str) -> &str {
    let full = body.trim_end_matches([' ', '\t', '\n', '\r']).len();
    let line = body[full..].find(['\n', '\r']).map_or(body.len(), |at| full + at);
    if full == 0 { "" } else { &body[..line] }
}

fn style_of(style: ScalarStyle) -> Style {
    match style {
        ScalarStyle::Plain => Style::Plain,
        ScalarStyle::SingleQuoted => Style::Single,
        ScalarStyle::DoubleQuoted => Style::Double,
        ScalarStyle::Literal => Style::Literal,
        ScalarStyle::Folded => Style::Folded,
    }
}

fn tag_of(span: &Span, tag: Option<&granit_parser::Tag>, text: &str) -> Option<Box<Tag>> {
    let tag = tag?;
    let at = span.tag_span().and_then(|s| s.byte_range()).filter(|r| text.get(r.clone()).is_some())?;
    Some(Box::new(Tag { span: at, name: format!("{}{}", tag.handle(), tag.suffix()) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(tree: &Tree, text: &str, id: NodeId, path: &str, out: &mut Vec<String>) {
        let node = tree.node(id);
        out.push(format!("{path}={}", &text[node.span.clone()]));
        match &node.kind {
            Kind::Sequence { items, .. } => {
                for (i, item) in items.iter().enumerate() {
                    if let Some(dash) = item.dash {
                        assert_eq!(&text[dash..=dash], "-");
                    }
                    walk(tree, text, item.node, &format!("{path}/{i}"), out);
                }
            }
            Kind::Mapping { entries, .. } => {
                for entry in entries {
                    if let Some(colon) = entry.colon {
                        assert_eq!(&text[colon..=colon], ":");
                    }
                    let key = tree.node(entry.key).text().unwrap_or("?").to_owned();
                    walk(tree, text, entry.value, &format!("{path}/{key}"), out);
                }
            }
            _ => {}
        }
    }

    /// Every node as `path=text-of-span`, to hold spans against what stands there.
    fn spans(text: &str) -> Vec<String> {
        let tree = Tree::parse(text).unwrap();
        let mut out = Vec::new();
        if let Some(root) = tree.root() {
            walk(&tree, text, root, "", &mut out);
        }
        out
    }

    #[test]
    fn block_scalars_have_their_header_and_not_the_blank_lines_behind() {
        assert_eq!(spans("a: |-\n  x\n  y\n\n\nb: 1\n"), ["=a: |-\n  x\n  y\n\n\nb: 1", "/a=|-\n  x\n  y", "/b=1"]);
        assert_eq!(spans("a: |+\n  x\n\nb: 1\n")[1], "/a=|+\n  x\n");
        assert_eq!(spans("a:\n  b: |+\n    x\n  c: 1\n")[2], "/a/b=|+\n    x");
        assert_eq!(spans("a:\n  b: |+\n    x \n\n  c: 1\n")[2], "/a/b=|+\n    x \n");
        assert_eq!(spans("g: &a |2 # c\n    t\n")[1], "/g=|2 # c\n    t");
        assert_eq!(spans("g: !!str &a >-\n  t")[1], "/g=>-\n  t");
        assert_eq!(spans("e: |\n\nf: 1\n")[1], "/e=|");
        assert_eq!(spans("- |\n t\n- 2\n")[1], "/0=|\n t");
        assert_eq!(spans("c: |\r\n  x\r\nd: 1\r\n")[1], "/c=|\r\n  x");
        for text in [
            "|-\n\n -",
            "# c\n|-\n x",
            "--- |\n\n x",
            "%YAML 1.1\n--- # c\n|\n\n x",
            "\u{feff}|\n\n x",
            "--- # |\n- |\n x",
        ] {
            assert!(
                spans(&format!("{text}\n")).last().is_some_and(|last| text.ends_with(&last[last.find('|').unwrap()..]))
            );
        }
    }

    #[test]
    fn collections_reach_from_their_first_indicator_to_their_last_byte() {
        assert_eq!(
            spans("l:\n- 1\n-   # c\n  k: v\n  m: n\n- - x\n  - y\n# t\nn:\n"),
            [
                "=l:\n- 1\n-   # c\n  k: v\n  m: n\n- - x\n  - y\n# t\nn:",
                "/l=- 1\n-   # c\n  k: v\n  m: n\n- - x\n  - y",
                "/l/0=1",
                "/l/1=k: v\n  m: n",
                "/l/1/k=v",
                "/l/1/m=n",
                "/l/2=- x\n  - y",
                "/l/2/0=x",
                "/l/2/1=y",
                "/n=",
            ]
        );
    }

    #[test]
    fn flow_style_with_all_its_oddities() {
        assert_eq!(
            spans("f: {a: 1, b: [x, y,], \"c\":, d, ? e : f}\ng: [a: b, {c: d}, ? s]\nh: [ ]\n"),
            [
                "=f: {a: 1, b: [x, y,], \"c\":, d, ? e : f}\ng: [a: b, {c: d}, ? s]\nh: [ ]",
                "/f={a: 1, b: [x, y,], \"c\":, d, ? e : f}",
                "/f/a=1",
                "/f/b=[x, y,]",
                "/f/b/0=x",
                "/f/b/1=y",
                "/f/c=",
                "/f/d=",
                "/f/e=f",
                "/g=[a: b, {c: d}, ? s]",
                "/g/0=a: b",
                "/g/0/a=b",
                "/g/1={c: d}",
                "/g/1/c=d",
                "/g/2=? s",
                "/g/2/s=",
                "/h=[ ]",
            ]
        );
    }

    #[test]
    fn anchors_tags_and_explicit_keys_have_places() {
        let text = "? - a\n: - b\ny: &anch !!map\n  w: 1\nz: *anch\n";
        let tree = Tree::parse(text).unwrap();
        let Kind::Mapping { entries, .. } = &tree.node(tree.root().unwrap()).kind else { panic!() };
        assert_eq!(entries[0].question, Some(0));
        assert_eq!(entries[0].colon, Some(6));
        let y = tree.node(entries[1].value);
        assert_eq!(&text[*y.anchor.clone().unwrap()], "&anch");
        assert_eq!(y.tag.as_ref().unwrap().name, "tag:yaml.org,2002:map");
        assert_eq!(&text[y.full()], "&anch !!map\n  w: 1");
        assert_eq!(tree.resolve(entries[2].value), entries[1].value);
    }

    #[test]
    fn nothing_is_nothing() {
        assert!(Tree::parse("").unwrap().root().is_none());
        assert!(Tree::parse("# c\n").unwrap().root().is_none());
        assert_eq!(Tree::parse("# c\n").unwrap().comments(), std::slice::from_ref(&(0..3)));
    }

    #[test]
    fn depth_is_bounded_with_a_message() {
        for text in ["[".repeat(5000), "- ".repeat(5000), "{a: ".repeat(5000), "? ".repeat(5000)] {
            assert!(Tree::parse(&text).is_err());
        }
    }

    #[test]
    fn a_tab_has_a_place() {
        let error = Tree::parse("a:\n\t- b\n").unwrap_err();
        assert_eq!(error.offset, 3, "{error}");
    }
}
