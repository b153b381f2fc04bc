//! One file of ours: parsed, with what holds for the whole of it checked.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::view::{Fields, View};
use super::{Findings, Spanned};
use crate::diag::{Code, Diagnostic, Place, Source, nearest};
use crate::yaml::stream::{self, MAX_DOCUMENTS};
use crate::yaml::tree::{Kind, NodeId, Style, SyntaxError, Tree};

/// The `apiVersion` of every file of ours.
pub(super) const API_VERSION: &str = "overlay/v1";

/// What kind of file is expected, and under which codes its general mistakes are told.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The `kind`.
    pub kind: &'static str,
    /// The code of a file with several documents.
    pub several: Code,
    /// The code of a file with nothing in it.
    pub nothing: Code,
}

impl Form {
    /// A kind whose general mistakes are all `syntax`.
    pub const fn new(kind: &'static str) -> Form {
        Form { kind, several: Code::Syntax, nothing: Code::Syntax }
    }
}

/// What to do about a file that begins with the byte order mark of UTF-16.
const UTF_16: &str = "It begins as UTF-16 does: `iconv -f UTF-16 -t UTF-8 OLD > NEW` writes it as UTF-8.";

/// A source of a file's bytes.
///
/// # Errors
/// A `syntax` finding where the bytes are not UTF-8, at the first byte that is none, or where they hold more than
/// [`MAX_DOCUMENTS`] documents, at the first one beyond.
pub fn source(name: impl Into<String>, bytes: Vec<u8>) -> Result<Arc<Source>, Box<Diagnostic>> {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return within_limit(Source::new(name, text)),
        Err(error) => error,
    };
    let is_utf16 = error.as_bytes().starts_with(&[0xff, 0xfe]) || error.as_bytes().starts_with(&[0xfe, 0xff]);
    let source = Source::new(name, String::from_utf8_lossy(error.as_bytes()));
    let at = error.utf8_error().valid_up_to();
    let end = at + char::REPLACEMENT_CHARACTER.len_utf8();
    let finding = Diagnostic::new(Code::Syntax, format!("{} is not UTF-8", source.name))
        .at(Place::new(&source, at..end), format!("byte {at} is not part of a UTF-8 text"))
        .help(if is_utf16 { UTF_16 } else { "Save the file as UTF-8." });
    Err(Box::new(finding))
}

fn within_limit(source: Arc<Source>) -> Result<Arc<Source>, Box<Diagnostic>> {
    let Some(beyond) = stream::beyond_limit(&source.text) else { return Ok(source) };
    Err(Box::new(too_many_documents(&source, beyond)))
}

/// The finding about a file with more than [`MAX_DOCUMENTS`], of which the first beyond is at `beyond`.
pub fn too_many_documents(source: &Arc<Source>, beyond: Range<usize>) -> Diagnostic {
    let message =
        format!("{} holds more than {MAX_DOCUMENTS} documents, the most that are read of one file", source.name);
    let finding = Diagnostic::new(Code::Syntax, message).at(Place::new(source, beyond), "this one is too many");
    finding.help("Divide the file.")
}

/// One file of ours, parsed.
#[derive(Debug)]
pub struct File {
    source: Arc<Source>,
    tree: Tree,
    root: NodeId,
    kind: &'static str,
}

impl File {
    /// Parses a file of the kind `form`.
    ///
    /// # Errors
    /// When it is not YAML, has nothing in it, or holds more than one document: nothing else can be said of it then.
    pub fn open(source: &Arc<Source>, form: Form) -> Result<File, Box<Diagnostic>> {
        let tree = parse(&source.text).map_err(|e| Box::new(not_yaml(source, form, &e)))?;
        let Some(root) = tree.root() else {
            let finding = Diagnostic::new(form.nothing, format!("{} has nothing in it", source.name))
                .at(Place::new(source, 0..0), format!("a document of kind {} is expected", form.kind));
            return Err(Box::new(finding));
        };
        Ok(File { source: Arc::clone(source), tree, root, kind: form.kind })
    }

    /// The top mapping, its keys among `known`, `apiVersion` and `kind`.
    ///
    /// `None` when it cannot be taken as what was expected: it is no mapping, of another kind, or of another version.
    pub fn top(&self, known: &[&'static str], findings: &mut Findings) -> Option<Fields<'_>> {
        let root = self.root();
        let entries = root.entries(findings)?;
        let header = |key: &str| entries.iter().find(|e| e.key.value == key).map(|e| e.value);
        let api_version = header("apiVersion").and_then(|v| v.text(findings));
        let kind = header("kind").and_then(|v| v.text(findings));
        let right_kind = self.header_says("kind", kind.as_ref(), self.kind, header("kind").is_some(), findings);
        let right_version =
            self.header_says("apiVersion", api_version.as_ref(), API_VERSION, header("apiVersion").is_some(), findings);
        if !(right_kind && right_version) {
            return None;
        }
        self.sweep(findings);
        let known: Vec<&'static str> = ["apiVersion", "kind"].into_iter().chain(known.iter().copied()).collect();
        root.fields(&format!("the kind {}", self.kind), &known, findings)
    }

    /// Says what is wrong with one of the two header fields; whether the rest of the file can be read all the same.
    fn header_says(
        &self,
        key: &str,
        found: Option<&Spanned<String>>,
        expected: &str,
        present: bool,
        findings: &mut Findings,
    ) -> bool {
        match found {
            Some(found) if found.value == expected => true,
            Some(found) => {
                let message = format!("{key} is `{}` and not `{expected}`", found.value);
                findings.add(self.syntax(message, found.span.clone(), format!("`{expected}` is expected here")));
                false
            }
            None if present => false,
            None => {
                let start = self.tree.node(self.root).span.start;
                let message = format!("the key `{key}` is missing");
                let label = format!("`{key}: {expected}` belongs to this mapping");
                findings.add(self.syntax(message, start..start, label));
                true
            }
        }
    }

    /// Its top node.
    pub fn root(&self) -> View<'_> {
        View::new(self, self.root)
    }

    /// The source that places in it point into.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// The tree that it was read from.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// A place in it.
    pub fn place(&self, span: Range<usize>) -> Place {
        Place::new(&self.source, span)
    }

    /// A `syntax` finding at a place in it.
    pub fn syntax(&self, message: impl Into<String>, span: Range<usize>, label: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Code::Syntax, message).at(self.place(span), label)
    }

    /// Finds what no file of ours may hold, wherever it stands: anchors, aliases, tags, merge keys, keys given twice.
    fn sweep(&self, findings: &mut Findings) {
        let mut open = vec![self.root];
        while let Some(id) = open.pop() {
            let node = self.tree.node(id);
            if let Some(anchor) = &node.anchor {
                findings.add(self.not_ours("an anchor", "anchors", (**anchor).clone()));
            }
            if let Some(tag) = &node.tag {
                findings.add(self.not_ours("a tag", "tags", tag.span.clone()));
            }
            match &node.kind {
                Kind::Scalar { .. } => {}
                Kind::Alias { .. } => findings.add(self.not_ours("an alias", "aliases", node.span.clone())),
                Kind::Sequence { items, .. } => open.extend(items.iter().rev().map(|i| i.node)),
                Kind::Mapping { entries, .. } => {
                    self.keys(entries.iter().map(|e| e.key), findings);
                    open.extend(entries.iter().rev().map(|e| e.value));
                }
            }
        }
    }

    /// Finds keys that are no text, merge keys, and keys given twice.
    fn keys(&self, keys: impl Iterator<Item = NodeId>, findings: &mut Findings) {
        let mut seen: HashMap<&str, Range<usize>> = HashMap::new();
        for id in keys {
            let node = self.tree.node(id);
            let (Some(text), Some(style)) = (node.text(), node.style()) else {
                findings.add(self.syntax("a key is not a text", node.span.clone(), "a text is expected here"));
                continue;
            };
            if text == "<<" && style == Style::Plain {
                findings.add(self.not_ours("a merge key", "merge keys", node.span.clone()));
                continue;
            }
            match seen.get(text) {
                None => drop(seen.insert(text, node.span.clone())),
                Some(first) => findings.add(
                    self.syntax(format!("the key `{text}` stands twice"), node.span.clone(), "here again")
                        .related(self.place(first.clone()), "first here"),
                ),
            }
        }
    }

    fn not_ours(&self, what: &str, plural: &str, span: Range<usize>) -> Diagnostic {
        self.syntax(format!("{what} is not taken here"), span, format!("files of this program have no {plural}"))
            .help("Write out what is meant.")
    }

    /// The finding for a key that a mapping does not have.
    pub(super) fn unknown_key(&self, key: &Spanned<String>, what: &str, known: &[&'static str]) -> Diagnostic {
        let found = &key.value;
        let label = match (without_space(found, known), nearest(found, known.iter().copied())) {
            (Some(key), _) => format!("a space is missing behind `{key}:`"),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => "not known here".to_owned(),
        };
        Diagnostic::new(Code::UnknownKey, format!("{what} has no key `{found}`"))
            .at(self.place(key.span.clone()), label)
            .note(format!("The keys of {what} are: {}.", known.join(", ")))
    }
}

/// The known key that another one is, with its value behind the `:` and no space between.
pub(super) fn without_space(found: &str, known: &[&'static str]) -> Option<&'static str> {
    let (key, _) = found.split_once(':')?;
    known.iter().copied().find(|known| *known == key)
}

/// Parses a text with the final newline that it may lack, as kubectl reads it: a literal at its end has it too.
fn parse(text: &str) -> Result<Tree, SyntaxError> {
    if text.is_empty() || text.ends_with('\n') {
        return Tree::parse(text);
    }
    let at_most_end = |error: SyntaxError| SyntaxError { offset: error.offset.min(text.len()), ..error };
    Tree::parse(&format!("{text}\n")).map_err(at_most_end)
}

/// Says why a text was not parsed, and what a person would do about it.
fn not_yaml(source: &Arc<Source>, form: Form, error: &SyntaxError) -> Diagnostic {
    let place = Place::new(source, error.offset..error.offset);
    if error.is_second_document() {
        return Diagnostic::new(form.several, format!("{} holds more than one document", source.name))
            .at(place, "a second document starts here")
            .help(format!("Put each document of kind {} into a file of its own.", form.kind));
    }
    if let Some(tab) = tab_near(&source.text, error.offset) {
        return Diagnostic::new(Code::Syntax, "a tab stands where YAML takes only spaces")
            .at(Place::new(source, tab..tab + 1), "this is a tab")
            .help("Indent with spaces.");
    }
    if let Some(key) = key_without_space(&source.text, error.offset) {
        let key_text = source.text.get(key.clone()).unwrap_or_default();
        return Diagnostic::new(Code::Syntax, format!("a space is missing behind `{key_text}`"))
            .at(Place::new(source, key.clone()), "YAML takes this and what follows for one text")
            .help(format!("Write a space between `{key_text}` and the value."));
    }
    Diagnostic::new(Code::Syntax, format!("{} is not YAML", source.name)).at(place, error.message.clone())
}

/// The key with its `:`, on the line of a syntax error or the one above, whose value follows without a space. The parser takes
/// both for a bare scalar, and reports where that does not go on as one.
fn key_without_space(text: &str, offset: usize) -> Option<Range<usize>> {
    let mut end = text.get(..offset)?.len() + text.get(offset..)?.find('\n').unwrap_or(text.len() - offset);
    for _ in 0..2 {
        let start = text.get(..end)?.rfind('\n').map_or(0, |at| at + 1);
        let line = text.get(start..end)?;
        let indent = line.len() - line.trim_start_matches([' ', '-']).len();
        let word = line.get(indent..)?.bytes().take_while(u8::is_ascii_alphabetic).count();
        let rest = line.get(indent + word..)?;
        let is_glued =
            rest.strip_prefix(':').is_some_and(|value| !value.trim().is_empty() && !value.starts_with([' ', '\t']));
        if word > 0 && is_glued && !rest.starts_with("://") {
            return Some(start + indent..start + indent + word + 1);
        }
        end = start.checked_sub(1)?;
    }
    None
}

/// The tab that a syntax error at `offset` is about: the one there, or one in the indentation of its line or of the
/// next, which the parser reads as more of a bare scalar and reports at the scalar's start.
fn tab_near(text: &str, offset: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    if bytes.get(offset) == Some(&b'\t') {
        return Some(offset);
    }
    let tab_in_indentation = |start: usize| {
        let indentation = bytes.get(start..)?.iter().take_while(|b| matches!(b, b' ' | b'\t'));
        indentation.enumerate().find(|(_, b)| **b == b'\t').map(|(at, _)| start + at)
    };
    let own_line = memchr::memrchr(b'\n', bytes.get(..offset)?).map_or(0, |at| at + 1);
    let next_line = || Some(offset + memchr::memchr(b'\n', bytes.get(offset..)?)? + 1);
    tab_in_indentation(own_line).or_else(|| tab_in_indentation(next_line()?))
}
