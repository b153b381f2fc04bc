//! Reading the files that people write for this program (`Base`, `Overlay`, `Patch`, the lock): from text to fields
//! with places, every mistake told with its line and all mistakes of a file in one run.
//!
//! This is a reader and not a schema: what keys a kind has is known by the module that owns the kind. It knows
//! nothing of Kubernetes, of disks or of terminals.
//!
//! What our files may hold is less than YAML:
//!
//! - one document; UTF-8; no anchors, aliases, merge keys or tags, so that what stands at a place is what is meant there;
//! - no key twice in a mapping, values included;
//! - no bare scalar that YAML 1.1, YAML 1.2 and go-yaml v2 do not all read alike, except where a field is a text:
//!   there the source text counts as it stands (`name: y` is the text y).
//!
//! A file is opened with [`File::open`], its top mapping taken with [`File::top`], and everything below is asked of
//! [`Fields`] and [`View`]. These return `None` where the file is wrong, and say why to [`Findings`].

mod date;
mod file;
mod value;
mod view;
mod written;

use std::ops::Range;

pub use date::Date;
pub use file::{File, Form, source, too_many_documents};
pub use view::{Entry, Fields, View};
pub use written::written;

use crate::diag::Diagnostic;

/// How many diagnostics of a run are kept. A file made for it could hold a mistake in each of millions of lines.
pub const MAX_FINDINGS: usize = 10_000;

/// The diagnostics of a run, in the order in which they were found. Beyond [`MAX_FINDINGS`] they are only counted.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Diagnostic>,
    count: usize,
    errors: usize,
}

impl Findings {
    /// None yet.
    pub fn new() -> Findings {
        Findings::default()
    }

    /// One more.
    pub fn add(&mut self, diagnostic: Diagnostic) {
        self.count += 1;
        self.errors += usize::from(diagnostic.is_error());
        if self.list.len() < MAX_FINDINGS {
            self.list.push(diagnostic);
        }
    }

    /// Those of another part of the run, behind these.
    pub fn append(&mut self, more: Findings) {
        self.count += more.count - more.list.len();
        self.errors += more.errors - more.list.iter().filter(|diagnostic| diagnostic.is_error()).count();
        self.extend(more.list);
    }

    /// The value, or `None` and one more finding.
    pub fn keep<T>(&mut self, result: Result<T, Box<Diagnostic>>) -> Option<T> {
        result.map_err(|d| self.add(*d)).ok()
    }

    /// All of another collection, those that were only counted there among them.
    pub fn join(&mut self, more: &Findings) {
        let (count, errors) = (self.count + more.count, self.errors + more.errors);
        self.extend(more.iter().cloned());
        (self.count, self.errors) = (count, errors);
    }

    /// Whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// How many of them are errors.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// How many there are, those that were only counted among them.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Those that are kept.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// Those that are kept; the last says how many more there were.
    pub fn into_vec(mut self) -> Vec<Diagnostic> {
        let dropped = self.count - self.list.len();
        if let Some(last) = self.list.last_mut().filter(|_| dropped > 0) {
            last.notes.push(format!("{dropped} more findings are not shown."));
        }
        self.list
    }
}

impl<'a> IntoIterator for &'a Findings {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Extend<Diagnostic> for Findings {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, more: I) {
        more.into_iter().for_each(|diagnostic| self.add(diagnostic));
    }
}

/// A value and the bytes of the file that say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands, in bytes of the file's text.
    pub span: Range<usize>,
}

impl<T> Spanned<T> {
    /// The same place with a value made of this one.
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: make(self.value), span: self.span }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Source;

    const FORM: Form = Form::new("Thing");

    /// The findings of a file of kind Thing with the keys name, list, on, count and day, as `line:column code: message`.
    fn findings_of(text: &str) -> Vec<String> {
        let mut findings = Findings::new();
        if let Some(file) = findings.keep(File::open(&Source::new("f.yaml", text), FORM)) {
            read(&file, &mut findings);
        }
        findings.iter().map(shown).collect()
    }

    fn read(file: &File, findings: &mut Findings) -> Option<()> {
        let fields = file.top(&["name", "list", "on", "count", "day", "free"], findings)?;
        fields.require("name", findings).and_then(|v| v.text(findings));
        fields.given("list").and_then(|v| v.texts(findings));
        fields.given("on").and_then(|v| v.boolean(findings));
        fields.given("count").and_then(|v| v.count(findings));
        fields.given("day").and_then(|v| v.date(findings));
        Some(())
    }

    fn shown(d: &Diagnostic) -> String {
        let place = d.place.as_ref().map(|p| format!("{}:{}", p.line(), p.column())).unwrap_or_default();
        format!("{place} {}: {} ({})", d.code, d.message, d.label)
    }

    const HEAD: &str = "apiVersion: overlay/v1\nkind: Thing\n";

    #[test]
    fn a_good_file_has_no_finding_and_text_fields_take_the_source_text() {
        let text =
            format!("{HEAD}name: y\nlist: [no, 0755, '1']\non: true\ncount: 12\nday: 2026-08-24\nfree: {{a: 1}}\n");
        let source = Source::new("f.yaml", text);
        let file = File::open(&source, FORM).unwrap();
        let mut findings = Findings::new();
        let fields = file.top(&["name", "list", "on", "count", "day", "free"], &mut findings).unwrap();
        let name = fields.require("name", &mut findings).unwrap().text(&mut findings).unwrap();
        assert_eq!((name.value.as_str(), &source.text[name.span]), ("y", "y"));
        let list = fields.get("list").unwrap().texts(&mut findings).unwrap();
        assert_eq!(list.iter().map(|t| t.value.as_str()).collect::<Vec<_>>(), ["no", "0755", "1"]);
        assert!(fields.get("on").unwrap().boolean(&mut findings).unwrap().value);
        assert_eq!(fields.get("count").unwrap().count(&mut findings).unwrap().value, 12);
        assert_eq!(fields.get("day").unwrap().date(&mut findings).unwrap().value.to_string(), "2026-08-24");
        assert!(findings.is_empty());
    }

    #[test]
    fn every_mistake_of_a_file_is_told_in_one_run() {
        let text = format!("{HEAD}nmae: a\nlist: [[], x]\non: yes\ncount: 01\nday: 2026-02-30\nday: 2026-02-01\n");
        assert_eq!(
            findings_of(&text),
            [
                "8:1 syntax: the key `day` stands twice (here again)",
                "3:1 unknown-key: the kind Thing has no key `nmae` (did you mean `name`?)",
                "4:8 syntax: a text is expected, not a list (a text belongs here)",
                "5:5 ambiguous-scalar: `yes` is not read alike by all readers of YAML (write `true`, or `\"yes\"` if the text is meant)",
                "6:8 syntax: a whole number is expected, not `01` (a whole number belongs here)",
                "7:6 syntax: a day of the calendar as YYYY-MM-DD is expected, not `2026-02-30` \
                 (a day of the calendar as YYYY-MM-DD belongs here)",
            ]
        );
    }

    #[test]
    fn an_unknown_key_lists_the_keys_that_there_are() {
        let source = Source::new("f.yaml", format!("{HEAD}name: a\nfoo: 1\n"));
        let file = File::open(&source, FORM).unwrap();
        let mut findings = Findings::new();
        file.top(&["name"], &mut findings).unwrap();
        let finding = findings.iter().next().unwrap();
        assert_eq!(shown(finding), "4:1 unknown-key: the kind Thing has no key `foo` (not known here)");
        assert_eq!(finding.notes, ["The keys of the kind Thing are: apiVersion, kind, name."]);
    }

    #[test]
    fn the_header_decides_what_file_it_is() {
        assert_eq!(
            findings_of("apiVersion: overlay/v2\nkind: Patch\nname: a\n"),
            [
                "2:7 syntax: kind is `Patch` and not `Thing` (`Thing` is expected here)",
                "1:13 syntax: apiVersion is `overlay/v2` and not `overlay/v1` (`overlay/v1` is expected here)",
            ]
        );
        assert_eq!(
            findings_of("name: a\n"),
            [
                "1:1 syntax: the key `kind` is missing (`kind: Thing` belongs to this mapping)",
                "1:1 syntax: the key `apiVersion` is missing (`apiVersion: overlay/v1` belongs to this mapping)",
            ]
        );
        assert_eq!(findings_of("- a\n"), ["1:1 syntax: a mapping is expected, not a list (a mapping belongs here)"]);
    }

    #[test]
    fn anchors_aliases_tags_and_merge_keys_are_refused_where_they_stand() {
        let text = format!("{HEAD}name: &a x\nlist: [*a, !!str b]\nfree: {{<<: {{c: d}}}}\n");
        assert_eq!(
            findings_of(&text)[..4],
            [
                "3:7 syntax: an anchor is not taken here (files of this program have no anchors)",
                "4:8 syntax: an alias is not taken here (files of this program have no aliases)",
                "4:12 syntax: a tag is not taken here (files of this program have no tags)",
                "5:8 syntax: a merge key is not taken here (files of this program have no merge keys)",
            ]
        );
    }

    #[test]
    fn keys_given_twice_are_found_at_any_depth_with_both_places() {
        let source = Source::new("f.yaml", format!("{HEAD}name: a\nfree:\n  - {{k: 1, \"k\": 2}}\n"));
        let file = File::open(&source, FORM).unwrap();
        let mut findings = Findings::new();
        read(&file, &mut findings);
        let finding = findings.iter().next().unwrap();
        assert_eq!(shown(finding), "5:12 syntax: the key `k` stands twice (here again)");
        assert_eq!(finding.related[0].0.column(), 6);
    }

    #[test]
    fn a_file_that_is_no_single_yaml_document_has_one_finding() {
        assert_eq!(
            findings_of("apiVersion: overlay/v1\n\tkind: Thing\n"),
            ["2:1 syntax: a tab stands where YAML takes only spaces (this is a tab)"]
        );
        assert_eq!(
            findings_of(&format!("{HEAD}---\n{HEAD}")),
            ["3:1 syntax: f.yaml holds more than one document (a second document starts here)"]
        );
        assert_eq!(
            findings_of("# c\n"),
            ["1:1 syntax: f.yaml has nothing in it (a document of kind Thing is expected)"]
        );
        assert_eq!(findings_of("a: [\n").len(), 1);
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_refused_at_their_place() {
        let error = source("f.yaml", b"a: b\nc: \xff\n".to_vec()).unwrap_err();
        assert_eq!(shown(&error), "2:4 syntax: f.yaml is not UTF-8 (byte 8 is not part of a UTF-8 text)");
        assert_eq!(source("f.yaml", "ü".into()).unwrap().text, "ü");
        assert_eq!(error.help, ["Save the file as UTF-8."]);
        for utf_16 in [b"\xff\xfea\0", b"\xfe\xff\0a"] {
            let error = source("f.yaml", utf_16.to_vec()).unwrap_err();
            assert!(error.help[0].contains("`iconv -f UTF-16 -t UTF-8 OLD > NEW`"), "{error:?}");
        }
    }

    #[test]
    fn a_file_with_too_many_documents_is_refused_at_the_first_one_beyond() {
        let most = "---\n".repeat(crate::yaml::stream::MAX_DOCUMENTS);
        assert!(source("f.yaml", most.clone().into()).is_ok());
        let error = source("f.yaml", format!("{most}---\n").into()).unwrap_err();
        let told = "f.yaml holds more than 100000 documents, the most that are read of one file";
        assert_eq!(shown(&error), format!("100001:1 syntax: {told} (this one is too many)"));
    }

    #[test]
    fn a_literal_at_the_end_has_the_newline_that_the_file_lacks() {
        let source = Source::new("f.yaml", format!("{HEAD}name: |\n  a"));
        let file = File::open(&source, FORM).unwrap();
        let mut findings = Findings::new();
        let fields = file.top(&["name"], &mut findings).unwrap();
        let name = fields.get("name").unwrap().text(&mut findings).unwrap();
        assert_eq!((name.value.as_str(), &source.text[name.span]), ("a\n", "|\n  a"));
    }

    #[test]
    fn findings_beyond_the_limit_are_counted() {
        let mut findings = Findings::new();
        let note = || Diagnostic::new(crate::diag::Code::Unguarded, "x");
        findings.extend(std::iter::repeat_with(note).take(MAX_FINDINGS));
        assert!(!findings.has_errors());
        findings.add(Diagnostic::new(crate::diag::Code::Syntax, "y"));
        assert_eq!((findings.len(), findings.errors()), (MAX_FINDINGS + 1, 1));
        assert_eq!(findings.into_vec()[MAX_FINDINGS - 1].notes, ["1 more findings are not shown."]);
    }

    #[test]
    fn fields_with_nothing_behind_them_are_told_from_texts() {
        assert_eq!(
            findings_of(&format!("{HEAD}name:\n")),
            ["3:6 syntax: a text is expected, not nothing (a text belongs here)"]
        );
        assert!(findings_of(&format!("{HEAD}name: \"\"\nlist:\n")).is_empty());
    }
}
