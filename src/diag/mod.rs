//! Diagnostics as data: a code, a place, a message, and what to do next. Nothing here prints; `diag::render` makes
//! text of a diagnostic for whoever has a terminal.

mod code;
pub mod render;
pub mod secret;
pub mod visible;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

pub use code::{Code, Severity};
use secret::masked;

/// The name of what comes in on standard input; `-` names it on the command line.
pub const STANDARD_INPUT: &str = "standard input";

/// A file that diagnostics can point into: its name as the person knows it, and its text.
#[derive(Debug)]
pub struct Source {
    /// The path, relative to the current folder or the root, with `/`.
    pub name: String,
    /// The text. Bytes that are not UTF-8 are replaced; such files are refused before any other finding.
    pub text: String,
    /// The offset of each line feed, found when first asked for: a file may have very many findings.
    line_feeds: OnceLock<Vec<usize>>,
}

impl Source {
    /// A source that places can share.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Source> {
        Arc::new(Source { name: name.into(), text: text.into(), line_feeds: OnceLock::new() })
    }

    /// Whether it came through a pipe, which has no name that a later run could go by.
    pub fn is_piped(&self) -> bool {
        let is_pipe = ["/dev/fd/", "/dev/stdin", "/proc/self/fd/"].iter().any(|pipe| self.name.starts_with(pipe));
        is_pipe || self.name == STANDARD_INPUT
    }

    /// Line and column of a byte offset, both from 1. Columns count characters.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let offset = self.text.floor_char_boundary(offset.min(self.text.len()));
        let feeds = self.line_feeds.get_or_init(|| memchr::memchr_iter(b'\n', self.text.as_bytes()).collect());
        let lines_before = feeds.partition_point(|feed| *feed < offset);
        let line_start = lines_before.checked_sub(1).and_then(|at| feeds.get(at)).map_or(0, |feed| feed + 1);
        (lines_before + 1, self.text[line_start..offset].chars().count() + 1)
    }
}

/// A stretch of a file.
#[derive(Clone, Debug)]
pub struct Place {
    /// The file.
    pub source: Arc<Source>,
    /// The bytes meant.
    pub span: Range<usize>,
}

impl Place {
    /// A place in a file.
    pub fn new(source: &Arc<Source>, span: Range<usize>) -> Place {
        Place { source: Arc::clone(source), span }
    }

    /// The text meant.
    pub fn text(&self) -> &str {
        self.source.text.get(self.span.clone()).unwrap_or_default()
    }

    /// Its line and its column in characters, both from 1.
    pub fn line_column(&self) -> (usize, usize) {
        self.source.line_column(self.span.start)
    }

    /// Its line, from 1.
    pub fn line(&self) -> usize {
        self.line_column().0
    }

    /// Its column in characters, from 1.
    pub fn column(&self) -> usize {
        self.line_column().1
    }
}

/// One finding: what is wrong or worth knowing, where, and how to mend it. What it says holds no password of an
/// address, in whatever format it is told.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// What it is about.
    pub code: Code,
    /// How grave it is; the code's own severity unless something raised it.
    pub severity: Severity,
    /// One sentence without a full stop, beginning in lower case.
    pub message: String,
    /// Where.
    pub place: Option<Place>,
    /// What is said at the caret; a clause.
    pub label: String,
    /// Other places that matter, each with what is said there.
    pub related: Vec<(Place, String)>,
    /// The patch concerned.
    pub patch: Option<String>,
    /// The resource concerned, as `kind.group/namespace/name`.
    pub resource: Option<String>,
    /// The path concerned, in keyed form.
    pub path: Option<String>,
    /// What is there instead, near misses, and other facts; a sentence each.
    pub notes: Vec<String>,
    /// What to do next; a sentence each, with the command where there is one.
    pub help: Vec<String>,
    /// The file that should be there and is not, as it is shown, where that is what is wrong.
    pub absent: Option<String>,
}

impl Diagnostic {
    /// A finding with the code's own severity and no place yet.
    pub fn new(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: code.severity(),
            message: clean(message),
            place: None,
            label: String::new(),
            related: Vec::new(),
            patch: None,
            resource: None,
            path: None,
            notes: Vec::new(),
            help: Vec::new(),
            absent: None,
        }
    }

    /// The same, because this file is not there.
    #[must_use]
    pub fn absent(mut self, file: impl Into<String>) -> Diagnostic {
        self.absent = Some(file.into());
        self
    }

    /// The same at a place, with what is said at the caret.
    #[must_use]
    pub fn at(mut self, place: Place, label: impl Into<String>) -> Diagnostic {
        self.place = Some(place);
        self.label = clean(label);
        self
    }

    /// The same with another place that matters.
    #[must_use]
    pub fn related(mut self, place: Place, label: impl Into<String>) -> Diagnostic {
        self.related.push((place, clean(label)));
        self
    }

    /// The same for a patch.
    #[must_use]
    pub fn patch(mut self, name: impl Into<String>) -> Diagnostic {
        self.patch = Some(name.into());
        self
    }

    /// The same for a resource; a document may have neither kind nor name, and then there is nothing to say.
    #[must_use]
    pub fn resource(mut self, name: impl Into<String>) -> Diagnostic {
        self.resource = Some(name.into()).filter(|name| !name.is_empty());
        self
    }

    /// The same for a path.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Diagnostic {
        self.path = Some(path.into());
        self
    }

    /// The same with one more fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(clean(note));
        self
    }

    /// The same with one more thing to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help.push(clean(help));
        self
    }

    /// What [`sort`] compares. Offsets order as lines and columns do.
    fn sort_key(&self) -> (Option<(&str, usize)>, Severity, &'static str) {
        let place = self.place.as_ref().map(|p| (p.source.name.as_str(), p.span.start));
        (place, self.severity, self.code.as_str())
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// A text that a finding may say.
fn clean(text: impl Into<String>) -> String {
    let text = text.into();
    match masked(&text) {
        Cow::Owned(masked) => masked,
        Cow::Borrowed(_) => text,
    }
}

/// Puts findings in the order in which they are reported: by file, place in it, severity and code. Findings without
/// a place come first; what is equal in all of that keeps its order.
pub fn sort(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
}

/// The candidate nearest to `wanted` by edits, if one is near enough to be meant: what a "did you mean" names.
pub fn nearest<'c>(wanted: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let wanted_chars = wanted.chars().count().min(MAX_NEAR);
    candidates
        .into_iter()
        .filter(|c| c.len() <= MAX_NEAR * 4)
        .map(|c| (distance(wanted, c), c))
        .filter(|(d, c)| *d <= (wanted_chars.max(c.chars().count()) / 3).max(1))
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

/// How long a word may be, in characters, to take part in [`nearest`]: its cost is the product of two lengths.
const MAX_NEAR: usize = 128;

/// Edits (insert, delete, replace, swap of neighbours) between two words, letter case ignored. Only the first
/// characters of long words count.
pub fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().take(MAX_NEAR).collect();
    let b: Vec<char> = b.to_lowercase().chars().take(MAX_NEAR).collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses() {
        assert_eq!(nearest("net-agnet", ["net-agent", "other"]), Some("net-agent"));
        assert_eq!(nearest("vaule", ["op", "path", "value"]), Some("value"));
        assert_eq!(nearest("imagee", ["name", "image"]), Some("image"));
        assert_eq!(nearest("zzz", ["name", "image"]), None);
        assert_eq!(nearest("ConfigMap", ["configmap"]), Some("configmap"));
    }

    #[test]
    fn columns_count_characters() {
        let source = Source::new("f", "a\nüb: x\n");
        assert_eq!(source.line_column(2), (2, 1));
        assert_eq!(source.line_column(5), (2, 3));
        assert_eq!(source.line_column(999), (3, 1));
    }

    #[test]
    fn columns_hold_on_every_byte_of_a_character() {
        let source = Source::new("f", "é\n");
        assert_eq!([0, 1, 2, 3].map(|at| source.line_column(at)), [(1, 1), (1, 1), (1, 2), (2, 1)]);
    }

    #[test]
    fn findings_are_sorted_by_place_severity_and_code() {
        let (a, b) = (Source::new("a", "xyz"), Source::new("b", "xyz"));
        let at =
            |code, source: &Arc<Source>, start| Diagnostic::new(code, "m").at(Place::new(source, start..start), "");
        let mut findings = [
            at(Code::Syntax, &b, 0),
            at(Code::Unguarded, &a, 2),
            at(Code::PathMissing, &a, 2),
            at(Code::PathInvalid, &a, 2),
            at(Code::ReviewDue, &a, 1),
            Diagnostic::new(Code::ResultEmpty, "m"),
        ];
        sort(&mut findings);
        let order = findings.map(|d| d.code.as_str());
        let wanted = ["result-empty", "review-due", "path-invalid", "path-missing", "unguarded", "syntax"];
        assert_eq!(order, wanted);
    }

    #[test]
    fn words_are_kebab_case_and_differ() {
        let mut words: Vec<_> = Code::ALL.iter().map(|c| c.as_str()).collect();
        assert!(words.iter().all(|w| w.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')));
        assert!(Code::ALL.iter().all(|c| c.summary().ends_with('.')));
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Code::ALL.len());
    }
}
