//! Reading a patch file: from text to [`Patch`], or to all that is wrong with it.

use std::ops::Range;
use std::sync::Arc;

use super::model::{Change, Effect, Matches, Op, Operation, Patch, Upstream, Within, Written};
use super::path::Path;
use crate::config::{Entry, Fields, File, Findings, Form, Spanned, View};
use crate::diag::{Code, Diagnostic, Source, nearest};
use crate::embedded::{Language, UnknownLanguage};
use crate::resource::Target;
use crate::resource::target::TargetError;
use crate::yaml::tree::{Kind, Tree};

/// What a patch file is.
const FORM: Form = Form { kind: "Patch", several: Code::PatchSeveralDocuments, nothing: Code::PatchEmpty };

/// The keys of the kind, `apiVersion` and `kind` apart.
const PATCH_KEYS: &[&str] = &["name", "summary", "why", "evidence", "verified", "review", "upstream", "changes"];
const CHANGE_KEYS: &[&str] = &["target", "matches", "delete", "within", "patch"];
const TARGET_KEYS: &[&str] = &["group", "version", "kind", "namespace", "name", "labels", "annotations"];
const WITHIN_KEYS: &[&str] = &["path", "as"];

/// How many operations the changes of one patch may have together. The document is read again after each.
pub(super) const MAX_OPERATIONS: usize = 1_000;

/// The operations of RFC 6902, each with its keys.
const OPERATIONS: &[(&str, &[&str])] = &[
    ("add", &["op", "path", "value", "parents", "comment", "note", "unpin"]),
    ("replace", &["op", "path", "value", "was", "comment", "note", "unpin"]),
    ("remove", &["op", "path", "was", "note", "unpin"]),
    ("move", &["op", "from", "path", "was", "parents", "note", "unpin"]),
    ("copy", &["op", "from", "path", "parents", "comment", "note", "unpin"]),
    ("test", &["op", "path", "value", "note"]),
];

/// The keys that an operation may have at all, for one whose `op` is not known.
const OPERATION_KEYS: &[&str] = &["op", "path", "from", "value", "was", "parents", "comment", "note", "unpin"];

impl Patch {
    /// Reads a patch file.
    ///
    /// `None` when something is wrong with it; `findings` then has every mistake that could be found. A missing
    /// summary or reason is no mistake here: `verify` speaks of these.
    pub fn read(source: &Arc<Source>, findings: &mut Findings) -> Option<Patch> {
        let mut own = Findings::new();
        let opened = File::open(source, FORM).map_err(|finding| Box::new(with_hint(*finding, &source.text)));
        let read = own.keep(opened).and_then(|file| Some((read(&file, &mut own)?, file)));
        // A mistake that left something out, but not the whole, must not give half a patch.
        let patch = read.filter(|_| !own.has_errors()).map(|(parts, file)| parts.with(file));
        findings.extend(own.into_vec().into_iter().map(|finding| finding.patch(name_of(source))));
        patch
    }
}

/// What the patch in a file is called, whether or not the file can be read.
fn name_of(source: &Source) -> &str {
    let file_name = source.name.rsplit('/').next().unwrap_or_default();
    file_name.strip_suffix(".yaml").or_else(|| file_name.strip_suffix(".yml")).unwrap_or(file_name)
}

/// A patch but for its file.
struct Parts {
    name: Spanned<String>,
    summary: Option<Spanned<String>>,
    why: Option<Spanned<String>>,
    evidence: Vec<Spanned<String>>,
    verified: Option<Spanned<crate::config::Date>>,
    review: Option<Spanned<crate::config::Date>>,
    upstream: Option<Spanned<Upstream>>,
    changes: Vec<Change>,
}

impl Parts {
    fn with(self, file: File) -> Patch {
        Patch {
            name: self.name,
            summary: self.summary,
            why: self.why,
            evidence: self.evidence,
            verified: self.verified,
            review: self.review,
            upstream: self.upstream,
            changes: self.changes,
            file,
        }
    }
}

fn read(file: &File, findings: &mut Findings) -> Option<Parts> {
    let fields = file.top(PATCH_KEYS, findings)?;
    let name = fields.require("name", findings).and_then(|v| v.text(findings));
    if let Some(name) = &name {
        check_name(file, name, findings);
    }
    let summary = fields.given("summary").and_then(|v| v.text(findings));
    let why = fields.given("why").and_then(|v| v.text(findings));
    let evidence = fields.given("evidence").and_then(|v| v.texts(findings)).unwrap_or_default();
    let verified = fields.given("verified").and_then(|v| v.date(findings));
    let review = fields.given("review").and_then(|v| v.date(findings));
    let upstream = fields.given("upstream").and_then(|v| read_upstream(v, findings));
    let changes = read_changes(&fields, findings);
    Some(Parts { name: name?, summary, why, evidence, verified, review, upstream, changes })
}

/// The name must be the file's, so that what a report names is found.
fn check_name(file: &File, name: &Spanned<String>, findings: &mut Findings) {
    let file_name = file.source().name.rsplit('/').next().unwrap_or_default();
    let stem = name_of(file.source());
    if name.value != stem {
        let message = format!("the patch is named `{}` and its file `{file_name}`", name.value);
        let finding = file.syntax(message, name.span.clone(), format!("write `{stem}`, or rename the file"));
        findings.add(finding);
    }
}

fn read_upstream(view: View<'_>, findings: &mut Findings) -> Option<Spanned<Upstream>> {
    let text = view.text(findings)?;
    let upstream = match text.value.as_str() {
        "not-needed" => Upstream::NotNeeded,
        "not-yet" => Upstream::NotYet,
        address if address.starts_with("https://") || address.starts_with("http://") => {
            Upstream::Address(address.to_owned())
        }
        _ => return view.unexpected("`not-needed`, `not-yet` or the address of an issue", findings),
    };
    Some(Spanned { value: upstream, span: text.span })
}

fn read_changes(fields: &Fields<'_>, findings: &mut Findings) -> Vec<Change> {
    let Some(list) = fields.given("changes") else {
        if fields.is_misspelt("changes") {
            return Vec::new();
        }
        findings.add(empty(fields.view(), fields.key_span("changes"), "the patch has no changes"));
        return Vec::new();
    };
    let Some(items) = list.items(findings) else { return Vec::new() };
    if items.is_empty() {
        findings.add(empty(list, None, "the patch has no changes"));
    }
    let changes: Vec<Change> = items.into_iter().filter_map(|item| read_change(item, findings)).collect();
    if let Some(beyond) = beyond_limit(&changes) {
        let message = format!("the patch has more than {MAX_OPERATIONS} operations");
        let finding = list.file().syntax(message, beyond, "this one is too many");
        findings.add(finding.help("Divide the patch: each of its parts has a reason of its own."));
    }
    changes
}

/// Where the operation stands with which the changes go over [`MAX_OPERATIONS`].
fn beyond_limit(changes: &[Change]) -> Option<Range<usize>> {
    changes.iter().flat_map(Change::operations).nth(MAX_OPERATIONS).map(|operation| operation.path.span.clone())
}

/// A `patch-empty` finding at `span`, or else at the start of `view`.
fn empty(view: View<'_>, span: Option<Range<usize>>, message: &str) -> Diagnostic {
    let start = view.span().start;
    Diagnostic::new(Code::PatchEmpty, message)
        .at(view.file().place(span.unwrap_or(start..start)), "nothing would be changed")
        .help("Write the operations, or leave the patch out.")
}

fn read_change(view: View<'_>, findings: &mut Findings) -> Option<Change> {
    let fields = view.fields("a change", CHANGE_KEYS, findings)?;
    let target = read_target(&fields, findings);
    let matches = match fields.given("matches") {
        None => Some(Matches::Exactly(1)),
        Some(view) => read_matches(view, findings),
    };
    let effect = read_effect(&fields, findings);
    let (target, target_span) = target?;
    Some(Change { target, matches: matches?, effect: effect?, target_span, span: view.span() })
}

fn read_target(fields: &Fields<'_>, findings: &mut Findings) -> Option<(Target, Range<usize>)> {
    let Some(view) = fields.given("target") else {
        if fields.is_misspelt("target") {
            return None;
        }
        let start = fields.view().span().start;
        findings.add(target_empty(fields.view(), fields.key_span("target").unwrap_or(start..start)));
        return None;
    };
    Some((target(view, findings)?, view.span()))
}

/// The target that stands at `view`. One that asks for nothing is a `target-empty` finding.
pub fn target(view: View<'_>, findings: &mut Findings) -> Option<Target> {
    if view.entries(findings)?.is_empty() {
        findings.add(target_empty(view, view.span()));
        return None;
    }
    let mut told = Findings::new();
    let parts = view.fields("a target", TARGET_KEYS, &mut told);
    let split = view.entries(findings)?.into_iter().find_map(|entry| split_api_version(&entry));
    findings.extend(told.into_vec().into_iter().map(|finding| match &split {
        Some((key, help)) if finding.place.as_ref().is_some_and(|place| place.span == *key) => finding.help(help),
        _ => finding,
    }));
    let parts = parts?;
    let mut text = |key: &str| parts.get(key).and_then(|v| v.text(findings)).map(|t| t.value);
    let mut target = Target {
        group: text("group"),
        version: text("version"),
        kind: text("kind"),
        namespace: text("namespace"),
        name: text("name"),
        ..Target::default()
    };
    target.labels = read_pairs(&parts, "labels", findings);
    target.annotations = read_pairs(&parts, "annotations", findings);
    match target.check() {
        Ok(()) => Some(target),
        Err(TargetError::Empty) => {
            // Keys that are not known, and values that could not be read, have been told as that.
            let asks_nothing = parts.iter().len() > 0 && parts.iter().all(|e| e.value.is_mapping());
            if asks_nothing {
                findings.add(target_empty(view, view.span()));
            }
            None
        }
        Err(error) => {
            findings.add(view.file().syntax(error.to_string(), view.span(), "in this target"));
            None
        }
    }
}

/// For a target that names an `apiVersion`: where that key stands, and what to write instead.
fn split_api_version(entry: &Entry<'_>) -> Option<(Range<usize>, String)> {
    let version = entry.value.text(&mut Findings::new()).filter(|_| entry.key.value == "apiVersion")?.value;
    let help = match version.split_once('/') {
        Some((group, version)) => format!("A target says it apart: `group: {group}, version: {version}`."),
        None => format!("A target says it apart: `group: '', version: {version}`."),
    };
    Some((entry.key.span.clone(), help))
}

fn target_empty(view: View<'_>, span: Range<usize>) -> Diagnostic {
    Diagnostic::new(Code::TargetEmpty, "the target is empty: it would mean every document")
        .at(view.file().place(span), "name the document here")
        .help("Write `{kind: …, name: …}`.")
}

fn read_pairs(fields: &Fields<'_>, key: &str, findings: &mut Findings) -> Vec<(String, String)> {
    let entries = fields.get(key).and_then(|v| v.entries(findings)).unwrap_or_default();
    entries.into_iter().filter_map(|e| Some((e.key.value, e.value.text(findings)?.value))).collect()
}

fn read_matches(view: View<'_>, findings: &mut Findings) -> Option<Matches> {
    let text = view.text(findings)?.value;
    let (count, make): (&str, fn(u64) -> Matches) = match text.strip_prefix("at-least-") {
        Some(count) => (count, Matches::AtLeast),
        None => (&text, Matches::Exactly),
    };
    let digits = !count.starts_with('0') && count.bytes().all(|b| b.is_ascii_digit());
    match count.parse() {
        Ok(number) if digits => Some(make(number)),
        _ => view.unexpected("a number from 1, or `at-least-` and such a number", findings),
    }
}

fn read_effect(fields: &Fields<'_>, findings: &mut Findings) -> Option<Effect> {
    let delete = match fields.given("delete") {
        None => false,
        Some(view) => view.boolean(findings)?.value,
    };
    if delete {
        let extra = ["patch", "within"].into_iter().find_map(|key| fields.key_span(key).map(|span| (key, span)));
        if let Some((key, span)) = extra {
            let message = format!("a change that deletes its document has no `{key}`");
            findings.add(fields.view().file().syntax(message, span, "leave this out, or `delete: true`"));
            return None;
        }
        return Some(Effect::Delete);
    }
    let within = fields.given("within").map(|view| read_within(view, findings));
    let operations = read_operations(fields, findings)?;
    let within = match within {
        None => None,
        Some(within) => Some(within?),
    };
    Some(Effect::Edit { within, operations })
}

fn read_within(view: View<'_>, findings: &mut Findings) -> Option<Within> {
    let fields = view.fields("`within`", WITHIN_KEYS, findings)?;
    let path = fields.require("path", findings).and_then(|v| read_path(v, findings));
    let language = fields.require("as", findings).and_then(|v| read_language(v, findings));
    Some(Within { path: path?, language: language? })
}

fn read_language(view: View<'_>, findings: &mut Findings) -> Option<Spanned<Language>> {
    let text = view.text(findings)?;
    match text.value.parse() {
        Ok(language) => Some(Spanned { value: language, span: text.span }),
        Err(UnknownLanguage { .. }) => view.unexpected("`json`, `yaml` or `toml`", findings),
    }
}

fn read_operations(fields: &Fields<'_>, findings: &mut Findings) -> Option<Vec<Operation>> {
    let Some(list) = fields.given("patch") else {
        if fields.is_misspelt("patch") || fields.is_misspelt("delete") {
            return None;
        }
        findings.add(empty(fields.view(), fields.key_span("patch"), "the change has no operations"));
        return None;
    };
    if list.is_mapping() {
        findings.add(no_operations(list));
        return None;
    }
    if let Some(finding) = operations_as_text(list) {
        findings.add(finding);
        return None;
    }
    let items = list.items(findings)?;
    if items.is_empty() {
        findings.add(empty(list, None, "the change has no operations"));
    }
    Some(items.into_iter().filter_map(|item| read_operation(item, findings)).collect())
}

/// What is said to someone who writes what kustomize calls a strategic merge patch.
fn no_operations(view: View<'_>) -> Diagnostic {
    view.file()
        .syntax("`patch` is a list of operations, not a part of the document", view.span(), "a list belongs here")
        .help("Write each change as an operation, as in `- {op: replace, path: /spec/replicas, was: 1, value: 2}`.")
}

/// What is said to someone who writes the operations, or a part of the document, as a text, as kustomize wants them.
fn operations_as_text(view: View<'_>) -> Option<Diagnostic> {
    let text = view.text(&mut Findings::new())?;
    let tree = Tree::parse(&text.value).ok()?;
    match tree.node(tree.root()?).kind {
        Kind::Sequence { .. } => {
            let message = "`patch` is a list of operations, not a text that holds one";
            let head =
                view.file().source().text.get(view.span()).and_then(|text| text.lines().next()).unwrap_or_default();
            let help = if head.starts_with(['|', '>']) {
                format!("Take the `{head}` away; the lines below may stay as they are.")
            } else {
                "Take the quotes away.".to_owned()
            };
            Some(view.file().syntax(message, view.span(), "a list belongs here").help(help))
        }
        Kind::Mapping { .. } => Some(no_operations(view)),
        Kind::Scalar { .. } | Kind::Alias { .. } => None,
    }
}

fn read_operation(view: View<'_>, findings: &mut Findings) -> Option<Operation> {
    let entries = view.entries(findings)?;
    let word = entries.iter().find(|e| e.key.value == "op").and_then(|e| e.value.text(findings));
    let known = word.as_ref().and_then(|w| OPERATIONS.iter().find(|(op, _)| *op == w.value));
    if let (Some(word), None) = (&word, known) {
        findings.add(unknown_operation(view.file(), word));
    }
    let what = known.map_or_else(|| "an operation".to_owned(), |(op, _)| format!("the operation `{op}`"));
    let fields = view.fields(&what, known.map_or(OPERATION_KEYS, |(_, keys)| keys), findings)?;
    let path = fields.require("path", findings).and_then(|v| read_path(v, findings));
    let flag = |key: &str, findings: &mut Findings| match fields.get(key) {
        None => Some(false),
        Some(view) => view.boolean(findings).map(|b| b.value),
    };
    let (parents, unpin) = (flag("parents", findings), flag("unpin", findings));
    let was = fields.get("was").map(|v| read_value(v, "was", findings));
    let comment = fields.get("comment").map(|v| read_line(v, findings));
    let note = fields.get("note").map(|v| read_line(v, findings));
    let Some((op, _)) = known else {
        if word.is_none() {
            fields.require("op", findings);
        }
        return None;
    };
    let op = read_op(op, &fields, findings);
    Some(Operation {
        op: op?,
        path: path?,
        was: transpose(was)?,
        parents: parents?,
        comment: transpose(comment)?,
        note: transpose(note)?,
        unpin: unpin?,
        span: view.span(),
    })
}

/// What may be absent, but must be right where it is there.
#[expect(clippy::option_option, reason = "absent, wrong and right are three things here")]
fn transpose<T>(field: Option<Option<T>>) -> Option<Option<T>> {
    match field {
        None => Some(None),
        Some(read) => read.map(Some),
    }
}

fn unknown_operation(file: &File, word: &Spanned<String>) -> Diagnostic {
    let words = || OPERATIONS.iter().map(|(op, _)| *op);
    let near = nearest(&word.value, words());
    let label = near.map_or_else(|| "not known here".to_owned(), |near| format!("did you mean `{near}`?"));
    file.syntax(format!("there is no operation `{}`", word.value), word.span.clone(), label)
        .note(format!("The operations are: {}.", words().collect::<Vec<_>>().join(", ")))
}

fn read_op(word: &str, fields: &Fields<'_>, findings: &mut Findings) -> Option<Op> {
    Some(match word {
        "remove" => Op::Remove,
        "move" | "copy" => {
            let from = fields.require("from", findings).and_then(|v| read_path(v, findings))?;
            if word == "move" { Op::Move { from } } else { Op::Copy { from } }
        }
        _ => {
            let value = fields.require("value", findings).and_then(|v| read_value(v, "value", findings))?;
            match word {
                "add" => Op::Add(value),
                "replace" => Op::Replace(value),
                _ => Op::Test(value),
            }
        }
    })
}

fn read_value(view: View<'_>, key: &str, findings: &mut Findings) -> Option<Written> {
    if view.is_empty() {
        let message = format!("nothing stands behind `{key}:`");
        findings.add(view.file().syntax(message, view.span(), "write `null` if null is meant"));
        return None;
    }
    Some(Written { value: view.value(findings)?, node: view.node(), span: view.span() })
}

/// A text of one line; it may be empty.
fn read_line(view: View<'_>, findings: &mut Findings) -> Option<Spanned<String>> {
    let text = view.text(findings)?;
    if text.value.contains(['\n', '\r']) {
        return view.unexpected("a text of one line", findings);
    }
    Some(text)
}

fn read_path(view: View<'_>, findings: &mut Findings) -> Option<Spanned<Path>> {
    let text = view.text(findings)?;
    match Path::parse(&text.value) {
        Ok(path) => Some(Spanned { value: path, span: text.span }),
        Err(error) => {
            // In a scalar that stands as it means, the byte is known; else the whole scalar is shown.
            let bare = view.file().source().text.get(text.span.clone()) == Some(text.value.as_str());
            let at = text.span.start + error.offset;
            let span = if bare { at..at } else { text.span.clone() };
            findings.add(
                Diagnostic::new(Code::PathInvalid, format!("`{}` is not a path", text.value))
                    .at(view.file().place(span), error.message)
                    .path(text.value)
                    .help(PATH_HELP),
            );
            None
        }
    }
}

/// A syntax error in the line of a bare path with a `[` within braces is most likely about that.
fn with_hint(finding: Diagnostic, text: &str) -> Diagnostic {
    let Some(place) = finding.place.as_ref().filter(|_| finding.code == Code::Syntax) else { return finding };
    let line = text.lines().nth(place.line() - 1).unwrap_or_default();
    if has_bare_path_in_flow(line) { finding.help(QUOTE_THE_PATH) } else { finding }
}

const PATH_HELP: &str = "A path is written `/spec/containers/[name=web]/image`: mapping keys, and for an item of a list \
                         `[key=value]`, `[=text]`, its index, or `*` for all.";

const QUOTE_THE_PATH: &str = "Quote the path: between braces, a text with `[` in it needs quotes.";

/// Whether a line has a path in flow style that is not quoted and has a `[`.
fn has_bare_path_in_flow(line: &str) -> bool {
    ["path:", "from:"].into_iter().any(|key| {
        line.split_once(key).is_some_and(|(before, value)| {
            let value = value.trim_start();
            let end = value.find(", ").unwrap_or(value.len());
            let flow = before.contains('{') || line.trim_end().ends_with(',');
            flow && value.starts_with('/') && value.get(..end).is_some_and(|v| v.contains('['))
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::yaml::tree::Tree;

    fn read_named(name: &str, text: &str) -> (Option<Patch>, Vec<String>) {
        let mut findings = Findings::new();
        let patch = Patch::read(&Source::new(name, text), &mut findings);
        (patch, findings.iter().map(shown).collect())
    }

    fn shown(d: &Diagnostic) -> String {
        let place = d.place.as_ref().map(|p| format!("{}:{}", p.line(), p.column())).unwrap_or_default();
        format!("{place} {}: {} ({})", d.code, d.message, d.label)
    }

    fn mistakes(text: &str) -> Vec<String> {
        let (patch, findings) = read_named("patches/p.yaml", text);
        assert_eq!(patch.is_none(), !findings.is_empty());
        findings
    }

    const HEAD: &str = "apiVersion: overlay/v1\nkind: Patch\nname: p\n";

    /// The mistakes of a patch with these changes, which begin in line 5.
    fn mistakes_of_changes(changes: &str) -> Vec<String> {
        mistakes(&format!("{HEAD}changes:\n{changes}"))
    }

    #[test]
    fn as_many_operations_as_the_limit_are_taken_and_one_more_is_refused() {
        let operations = |count: usize| "      - {op: remove, path: /a}\n".repeat(count);
        assert_eq!(mistakes_of_operations(&operations(MAX_OPERATIONS)), [""; 0]);
        let told = mistakes_of_operations(&operations(MAX_OPERATIONS + 1));
        assert_eq!(told.len(), 1);
        assert!(told[0].contains("the patch has more than 1000 operations"), "{told:?}");
    }

    /// The mistakes of a patch with these operations, which begin in line 7.
    fn mistakes_of_operations(operations: &str) -> Vec<String> {
        mistakes_of_changes(&format!("  - target: {{kind: A}}\n    patch:\n{operations}"))
    }

    #[test]
    fn everything_that_a_patch_can_say_is_read() {
        let text = r#"apiVersion: overlay/v1
kind: Patch
name: bindir
summary: Say where
why: |
  Because.
evidence:
  - https://example.org/1
verified: 2026-08-24
review: 2027-02-24
upstream: https://example.org/issues/2
changes:
  - target: {group: apps, version: v1, kind: y, namespace: n, name: a-*, labels: {app: on}, annotations: {b: "1"}}
    matches: at-least-2
    within: {path: /data/a.json, as: json}
    patch:
      - op: add
        path: "/a/[name=b]/c"
        value: {a: [1, "on", x]}
        parents: true
        comment: why
        note: hm
      - {op: replace, path: /b, value: c, was: d, comment: "", unpin: true}
      - {op: move, from: /c, path: /d, was: null}
      - {op: copy, from: /c, path: /d}
      - {op: remove, path: /c}
      - {op: test, path: /c, value: []}
  - target: {kind: B}
    delete: true
"#;
        let (patch, findings) = read_named("x/patches/bindir.yaml", text);
        assert_eq!(findings, Vec::<String>::new());
        let patch = patch.unwrap();
        assert_eq!(patch.name.value, "bindir");
        assert_eq!(patch.summary.as_ref().unwrap().value, "Say where");
        assert_eq!(patch.why.as_ref().unwrap().value, "Because.\n");
        assert_eq!(patch.evidence[0].value, "https://example.org/1");
        assert_eq!(patch.verified.as_ref().unwrap().value.to_string(), "2026-08-24");
        assert_eq!(patch.review.as_ref().unwrap().value.to_string(), "2027-02-24");
        let upstream = patch.upstream.as_ref().unwrap();
        assert_eq!(upstream.value, Upstream::Address("https://example.org/issues/2".into()));
        let change = &patch.changes[0];
        assert_eq!(
            change.target.to_string(),
            "group=apps, version=v1, kind=y, namespace=n, name=a-*, labels.app=on, annotations.b=1"
        );
        assert_eq!(change.matches, Matches::AtLeast(2));
        let Effect::Edit { within: Some(within), operations } = &change.effect else { panic!() };
        assert_eq!((within.path.value.to_string().as_str(), within.language.value), ("/data/a.json", Language::Json));
        let words: Vec<_> = operations.iter().map(|o| o.op.word()).collect();
        assert_eq!(words, ["add", "replace", "move", "copy", "remove", "test"]);
        let Op::Add(value) = &operations[0].op else { panic!() };
        assert_eq!(value.value, json!({"a": [1, "on", "x"]}));
        let spelled = patch.spelled(value.node);
        assert_eq!(&spelled.text[spelled.tree.node(spelled.node).span.clone()], "{a: [1, \"on\", x]}");
        assert!(operations[0].parents && !operations[1].parents && operations[1].unpin);
        assert_eq!(operations[0].comment.as_ref().unwrap().value, "why");
        assert_eq!(operations[1].comment.as_ref().unwrap().value, "");
        assert_eq!(operations[2].was.as_ref().unwrap().value, json!(null));
        assert!(matches!(patch.changes[1].effect, Effect::Delete));
        assert_eq!(patch.changes[1].matches, Matches::Exactly(1));
    }

    #[test]
    fn a_misspelt_key_names_the_nearest_and_what_the_operation_needs() {
        assert_eq!(
            mistakes_of_operations("      - op: add\n        path: /spec/hostNetwork\n        vaule: true\n"),
            ["9:9 unknown-key: the operation `add` has no key `vaule` (did you mean `value`?)"]
        );
    }

    #[test]
    fn a_misspelt_key_is_one_mistake() {
        let told = |text: &str| mistakes(text).len();
        assert_eq!(told(&format!("{HEAD}chagnes: []\n")), 1);
        assert_eq!(told(&format!("{HEAD}changes:\n  - {{traget: {{kind: A}}, delete: true}}\n")), 1);
        assert_eq!(told(&format!("{HEAD}changes:\n  - {{target: {{kind: A}}, pacth: []}}\n")), 1);
        assert_eq!(told(&format!("{HEAD}changes:\n  - {{target: {{kind: A}}, delte: true}}\n")), 1);
    }

    #[test]
    fn every_mistake_names_the_patch() {
        for text in ["a: [\n", "", "apiVersion: overlay/v1\nkind: Patch\nname: q\n"] {
            let mut findings = Findings::new();
            Patch::read(&Source::new("patches/q.yaml", text), &mut findings);
            assert_eq!(findings.iter().next().unwrap().patch.as_deref(), Some("q"), "{text:?}");
        }
    }

    #[test]
    fn keys_that_an_operation_does_not_have_are_told() {
        assert_eq!(
            mistakes_of_operations("      - {op: remove, path: /a, value: 1, parents: true}\n"),
            [
                "7:32 unknown-key: the operation `remove` has no key `value` (not known here)",
                "7:42 unknown-key: the operation `remove` has no key `parents` (not known here)",
            ]
        );
        assert_eq!(
            mistakes_of_operations(
                "      - {op: move, path: /a}\n      - {opp: add, path: /a}\n      - {op: ad, path: /a}\n"
            ),
            [
                "7:9 syntax: the key `from` is missing in the operation `move` (`from:` belongs to this mapping)",
                "8:10 unknown-key: an operation has no key `opp` (did you mean `op`?)",
                "9:14 syntax: there is no operation `ad` (did you mean `add`?)",
            ]
        );
    }

    #[test]
    fn an_api_version_in_a_target_is_taken_apart() {
        let help = |target: &str| {
            let changes = format!("  - {{target: {target}, delete: true}}\n");
            let mut findings = Findings::new();
            assert!(Patch::read(&Source::new("p.yaml", format!("{HEAD}changes:\n{changes}")), &mut findings).is_none());
            let findings = findings.into_vec();
            assert_eq!((findings.len(), findings[0].code), (1, Code::UnknownKey));
            findings[0].help.join(" ")
        };
        assert_eq!(help("{apiVersion: apps/v1}"), "A target says it apart: `group: apps, version: v1`.");
        assert_eq!(help("{apiVersion: v1, kind: A}"), "A target says it apart: `group: '', version: v1`.");
        assert_eq!(help("{knid: A}"), "");
    }

    #[test]
    fn a_patch_that_changes_nothing_is_refused() {
        let nothing = "(nothing would be changed)";
        assert_eq!(mistakes(HEAD), [format!("1:1 patch-empty: the patch has no changes {nothing}")]);
        assert_eq!(mistakes_of_changes("  []\n"), [format!("5:3 patch-empty: the patch has no changes {nothing}")]);
        assert_eq!(mistakes_of_changes(""), [format!("4:1 patch-empty: the patch has no changes {nothing}")]);
        assert_eq!(
            mistakes_of_changes(
                "  - target: {kind: A}\n  - {target: {kind: A}, patch: []}\n  - {target: {kind: A}, delete: false}\n"
            ),
            [
                format!("5:5 patch-empty: the change has no operations {nothing}"),
                format!("6:32 patch-empty: the change has no operations {nothing}"),
                format!("7:5 patch-empty: the change has no operations {nothing}"),
            ]
        );
        let (_, findings) = read_named("p.yaml", "# nothing\n");
        assert_eq!(findings, ["1:1 patch-empty: p.yaml has nothing in it (a document of kind Patch is expected)"]);
    }

    #[test]
    fn an_empty_target_is_refused() {
        let empty = "target-empty: the target is empty: it would mean every document (name the document here)";
        let rest = "delete: true";
        assert_eq!(mistakes_of_changes(&format!("  - target: {{}}\n    {rest}\n")), [format!("5:13 {empty}")]);
        assert_eq!(mistakes_of_changes(&format!("  - {rest}\n")), [format!("5:5 {empty}")]);
        assert_eq!(mistakes_of_changes(&format!("  - target:\n    {rest}\n")), [format!("5:5 {empty}")]);
        assert_eq!(
            mistakes_of_changes(&format!("  - target: {{labels: {{}}}}\n    {rest}\n")),
            [format!("5:13 {empty}")]
        );
        assert_eq!(
            mistakes_of_changes(&format!("  - target: {{knid: A}}\n    {rest}\n")),
            ["5:14 unknown-key: a target has no key `knid` (did you mean `kind`?)"]
        );
        assert_eq!(
            mistakes_of_changes(&format!("  - target: {{labels: }}\n    {rest}\n")).len(),
            1,
            "a target without a readable part"
        );
    }

    #[test]
    fn a_change_deletes_or_edits() {
        assert_eq!(
            mistakes_of_changes("  - target: {kind: A}\n    delete: true\n    patch: []\n"),
            ["7:5 syntax: a change that deletes its document has no `patch` (leave this out, or `delete: true`)"]
        );
        assert_eq!(
            mistakes_of_changes("  - {target: {kind: A}, delete: true, matches: 0}\n  - {target: {kind: A}, delete: true, matches: at-least-x}\n").len(),
            2
        );
    }

    #[test]
    fn a_second_document_is_told_at_its_marker() {
        let text = format!("{HEAD}changes:\n  - {{target: {{kind: A}}, delete: true}}\n---\n{HEAD}");
        assert_eq!(
            mistakes(&text),
            [
                "6:1 patch-several-documents: patches/p.yaml holds more than one document (a second document starts here)"
            ]
        );
    }

    #[test]
    fn a_path_that_is_none_is_told_at_its_byte() {
        assert_eq!(
            mistakes_of_operations("      - op: remove\n        path: /a/[name=b\n      - {op: remove, path: \"a\"}\n"),
            [
                "8:18 path-invalid: `/a/[name=b` is not a path (this `[` is not closed)",
                "9:28 path-invalid: `a` is not a path (a path begins with `/`)",
            ]
        );
    }

    #[test]
    fn a_bare_path_with_a_selector_in_braces_is_told_to_be_quoted() {
        for operation in [
            "{op: remove, path: /a/[name=b]/c}",
            "{op: remove, path: /a/[name=b]}",
            "{op: remove, path: /a/[=b], note: x}",
            "{op: move, from: /a/[a=b,c=d]/e, path: /b}",
            "{path: /a/[name=b]/c,\n         op: remove}",
        ] {
            let mut findings = Findings::new();
            let text = format!("{HEAD}changes:\n  - target: {{kind: A}}\n    patch:\n      - {operation}\n");
            assert!(Patch::read(&Source::new("p.yaml", text), &mut findings).is_none(), "{operation}");
            let finding = findings.iter().next().unwrap();
            assert_eq!(finding.code, Code::Syntax, "{operation}");
            assert_eq!(finding.place.as_ref().unwrap().line(), 7, "{operation}");
            assert_eq!(finding.help, [QUOTE_THE_PATH], "{operation}");
        }
    }

    #[test]
    fn values_that_readers_take_differently_are_told_and_texts_are_not() {
        assert_eq!(
            mistakes_of_operations(
                "      - {op: add, path: /a, value: {on: [0755, 'no']}, was: 1}\n      - {op: add, path: /a, value: }\n"
            ),
            [
                "7:56 unknown-key: the operation `add` has no key `was` (not known here)",
                "7:37 ambiguous-scalar: `on` is not read alike by all readers of YAML (write `true`, or `\"on\"` if the text is meant)",
                "7:42 ambiguous-scalar: `0755` is not read alike by all readers of YAML (write `493`, or `\"0755\"` if the text is meant)",
                "8:35 syntax: nothing stands behind `value:` (write `null` if null is meant)",
            ]
        );
    }

    #[test]
    fn the_name_is_the_files() {
        let (_, findings) = read_named("patches/q.yaml", HEAD);
        assert_eq!(
            findings[0],
            "3:7 syntax: the patch is named `p` and its file `q.yaml` (write `q`, or rename the file)"
        );
    }

    #[test]
    fn summary_and_reason_may_be_missing() {
        let text = format!("{HEAD}summary:\nwhy: ''\nchanges: [{{target: {{kind: A}}, delete: true}}]\n");
        let patch = read_named("p.yaml", &text).0.unwrap();
        assert_eq!((patch.summary.is_none(), patch.why.unwrap().value.as_str()), (true, ""));
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in any::<String>(), keys in prop::sample::subsequence(PATCH_KEYS.to_vec(), 3)) {
            for text in [text.clone(), format!("{HEAD}{}: {text}", keys.join(": 1\n"))] {
                let mut findings = Findings::new();
                let patch = Patch::read(&Source::new("p.yaml", text), &mut findings);
                prop_assert_eq!(patch.is_none(), findings.has_errors());
            }
        }

        #[test]
        fn any_text_is_a_patch_or_has_a_finding(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "changes:", "  - target:", " {", "}", "kind: A", "op: add", ", ", "\n", "    ", "patch:", "- ", "path: /a",
                    "value:", "within:", "*a", "&a", "<<: ", "!!str ", "[", "]", "---\n", "\t", "delete: true", "matches: 1", "'", "|",
                ]),
                0..40,
            ),
        ) {
            let text = format!("{HEAD}{}", words.concat());
            let mut findings = Findings::new();
            let patch = Patch::read(&Source::new("p.yaml", text.as_str()), &mut findings);
            prop_assert_eq!(patch.is_none(), findings.has_errors());
            prop_assert_eq!(Tree::parse(&text).is_err() && patch.is_some(), false);
        }
    }
}
