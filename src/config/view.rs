//! A node of a file of ours, asked for what it is expected to be.

use std::fmt;
use std::ops::Range;

use serde_json::Value;

use super::file::{File, without_space};
use super::{Date, Findings, Spanned};
use crate::diag::secret::masked;
use crate::diag::{Place, nearest};
use crate::yaml::scalar;
use crate::yaml::tree::{Kind, Node, NodeId, Style};

/// One node of a [`File`]. Each question says what is expected; where the node is something else, the answer is `None`
/// and a `syntax` finding says what was expected and what is there.
#[derive(Clone, Copy)]
pub struct View<'f> {
    file: &'f File,
    id: NodeId,
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View").field("id", &self.id).field("span", &self.span()).finish()
    }
}

/// One entry of a mapping.
#[derive(Clone, Debug)]
pub struct Entry<'f> {
    /// The key.
    pub key: Spanned<String>,
    /// The value.
    pub value: View<'f>,
}

/// The entries of a mapping whose keys are known.
#[derive(Clone, Debug)]
pub struct Fields<'f> {
    view: View<'f>,
    what: String,
    entries: Vec<Entry<'f>>,
    /// The known keys that unknown ones are near to, and are told to be meant by them.
    misspelt: Vec<&'static str>,
}

impl<'f> View<'f> {
    pub(super) fn new(file: &'f File, id: NodeId) -> View<'f> {
        View { file, id }
    }

    /// The file that it is part of.
    pub fn file(&self) -> &'f File {
        self.file
    }

    /// The node in the file's tree.
    pub fn node(&self) -> NodeId {
        self.id
    }

    /// Where it stands.
    pub fn span(&self) -> Range<usize> {
        self.get().span.clone()
    }

    /// Where it stands, for a diagnostic.
    pub fn place(&self) -> Place {
        self.file.place(self.span())
    }

    /// Whether nothing stands there: `key:` with no value.
    pub fn is_empty(&self) -> bool {
        let node = self.get();
        node.span.is_empty() && node.style() == Some(Style::Plain)
    }

    /// Whether it is a mapping.
    pub fn is_mapping(&self) -> bool {
        matches!(self.get().kind, Kind::Mapping { .. })
    }

    /// Whether it is a list.
    pub fn is_list(&self) -> bool {
        matches!(self.get().kind, Kind::Sequence { .. })
    }

    /// Another node of the same file.
    pub(super) fn beside(&self, id: NodeId) -> View<'f> {
        View::new(self.file, id)
    }

    fn get(&self) -> &'f Node {
        self.file.tree().node(self.id)
    }

    /// A text: any scalar, its source text as it stands, so that `y` and `0755` are what they look like. Not nothing.
    pub fn text(&self, findings: &mut Findings) -> Option<Spanned<String>> {
        match self.get().text() {
            Some(text) if !self.is_empty() => Some(self.spanned(text.to_owned())),
            _ => self.unexpected("a text", findings),
        }
    }

    /// `true` or `false`, bare.
    pub fn boolean(&self, findings: &mut Findings) -> Option<Spanned<bool>> {
        if let Kind::Scalar { style, text } = &self.get().kind {
            self.check_alike(*style, text, findings)?;
            if let Ok(Value::Bool(value)) = scalar::resolve(text, *style, None) {
                return Some(self.spanned(value));
            }
        }
        self.unexpected("`true` or `false`", findings)
    }

    /// A whole number that is not negative, in decimal digits without a leading zero.
    pub fn count(&self, findings: &mut Findings) -> Option<Spanned<u64>> {
        let node = self.get();
        let text = node.text().filter(|_| node.style() == Some(Style::Plain)).unwrap_or_default();
        let plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
        match text.parse() {
            Ok(number) if plain => Some(self.spanned(number)),
            _ => self.unexpected("a whole number", findings),
        }
    }

    /// A day, as `YYYY-MM-DD`.
    pub fn date(&self, findings: &mut Findings) -> Option<Spanned<Date>> {
        match self.get().text().and_then(Date::parse) {
            Some(date) => Some(self.spanned(date)),
            None => self.unexpected("a day of the calendar as YYYY-MM-DD", findings),
        }
    }

    /// The items of a list.
    pub fn items(&self, findings: &mut Findings) -> Option<Vec<View<'f>>> {
        match &self.get().kind {
            Kind::Sequence { items, .. } => Some(items.iter().map(|i| View::new(self.file, i.node)).collect()),
            _ => self.unexpected("a list", findings),
        }
    }

    /// A list of texts. Items that are none are told and left out.
    pub fn texts(&self, findings: &mut Findings) -> Option<Vec<Spanned<String>>> {
        let items = self.items(findings)?;
        Some(items.iter().filter_map(|i| i.text(findings)).collect())
    }

    /// The entries of a mapping, whatever its keys. Keys that are no text are left out; the file's own check tells them.
    pub fn entries(&self, findings: &mut Findings) -> Option<Vec<Entry<'f>>> {
        let Kind::Mapping { entries, .. } = &self.get().kind else { return self.unexpected("a mapping", findings) };
        let entry = |e: &crate::yaml::tree::Entry| {
            let key = View::new(self.file, e.key);
            let text = key.get().text()?.to_owned();
            Some(Entry { key: key.spanned(text), value: View::new(self.file, e.value) })
        };
        Some(entries.iter().filter_map(entry).collect())
    }

    /// The fields of a mapping, called `what` in messages, whose keys are `known`. Other keys are told and left out.
    pub fn fields(&self, what: &str, known: &[&'static str], findings: &mut Findings) -> Option<Fields<'f>> {
        let mut entries = self.entries(findings)?;
        let mut misspelt = Vec::new();
        entries.retain(|entry| {
            let is_known = known.contains(&entry.key.value.as_str());
            if !is_known && entry.key.value != "<<" {
                findings.add(self.file.unknown_key(&entry.key, what, known));
                let near = || nearest(&entry.key.value, known.iter().copied());
                let near = || near().and_then(|near| known.iter().copied().find(|key| *key == near));
                misspelt.extend(without_space(&entry.key.value, known).or_else(near));
            }
            is_known
        });
        Some(Fields { view: *self, what: what.to_owned(), entries, misspelt })
    }

    /// Says that something else was expected.
    pub fn unexpected<T>(&self, expected: &str, findings: &mut Findings) -> Option<T> {
        let message = format!("{expected} is expected, not {}", self.describe());
        findings.add(self.file.syntax(message, self.span(), format!("{expected} belongs here")));
        None
    }

    /// What stands there, in words.
    fn describe(&self) -> String {
        match &self.get().kind {
            Kind::Mapping { .. } => "a mapping".into(),
            Kind::Sequence { .. } => "a list".into(),
            Kind::Alias { .. } => "an alias".into(),
            Kind::Scalar { .. } if self.is_empty() => "nothing".into(),
            Kind::Scalar { style, text } => {
                let text = masked(text);
                let line: String = text.lines().next().unwrap_or_default().chars().take(40).collect();
                let more = if line.len() < text.trim_end().len() { "…" } else { "" };
                let quotes = if *style == Style::Plain { "" } else { "\"" };
                format!("`{quotes}{line}{more}{quotes}`")
            }
        }
    }

    fn spanned<T>(&self, value: T) -> Spanned<T> {
        Spanned { value, span: self.span() }
    }
}

impl<'f> Fields<'f> {
    /// The mapping.
    pub fn view(&self) -> View<'f> {
        self.view
    }

    /// The value of a key, if the key is there. Of a key that stands twice, the first; the file's check tells the other.
    pub fn get(&self, key: &str) -> Option<View<'f>> {
        self.entries.iter().find(|e| e.key.value == key).map(|e| e.value)
    }

    /// The value of a key, `None` also where nothing stands behind the key.
    pub fn given(&self, key: &str) -> Option<View<'f>> {
        self.get(key).filter(|v| !v.is_empty())
    }

    /// Whether the key is not there, but an unknown key that was told to mean it.
    pub fn is_misspelt(&self, key: &str) -> bool {
        self.get(key).is_none() && self.misspelt.contains(&key)
    }

    /// The value of a key that must be there; `None` and a finding without it. One finding is enough where the key is
    /// misspelt.
    pub fn require(&self, key: &str, findings: &mut Findings) -> Option<View<'f>> {
        let found = self.get(key);
        if found.is_none() && !self.is_misspelt(key) {
            let message = format!("the key `{key}` is missing in {}", self.what);
            let start = self.view.span().start;
            findings.add(self.view.file.syntax(message, start..start, format!("`{key}:` belongs to this mapping")));
        }
        found
    }

    /// Where a key stands, if it is there.
    pub fn key_span(&self, key: &str) -> Option<Range<usize>> {
        self.entries.iter().find(|e| e.key.value == key).map(|e| e.key.span.clone())
    }

    /// The known entries, in the file's order.
    pub fn iter(&self) -> std::slice::Iter<'_, Entry<'f>> {
        self.entries.iter()
    }
}

impl<'a, 'f> IntoIterator for &'a Fields<'f> {
    type Item = &'a Entry<'f>;
    type IntoIter = std::slice::Iter<'a, Entry<'f>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
