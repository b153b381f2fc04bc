//! What `verify`, `explain`, `update` and `image` tell: a model for each kind of news, and a pure function for each format.
//! Nothing here reads a file, knows a terminal or judges; what is wrong was found before.
//!
//! The serialised form is `overlay/report/v1`. What is not known or does not apply is left out of it; a `before` or
//! `after` that is `null` is the value null.

pub mod annotate;
pub mod comparison;
mod explain;
mod github;
pub mod image;
mod json;
mod junit;
pub mod page;
mod paint;
mod sarif;
mod text;
mod unified;
pub mod update;
mod value;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::diag::{self, Code, Diagnostic, Severity};
use crate::diff::{Difference, What};

pub use explain::{explain_markdown, explain_text};
pub use github::github;
pub use json::{json, pretty};
pub use junit::junit;
pub use sarif::sarif;
pub use text::text;
pub use unified::{CONTEXT, Form, Owned, unified};

/// The name of the serialised form.
pub const SCHEMA: &str = "overlay/report/v1";

/// What is known of some overlays.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    schema: &'static str,
    /// Whether everything is as it should be: what decides the exit code.
    pub ok: bool,
    /// The overlays, in the order in which they were asked for.
    pub overlays: Vec<OverlayReport>,
    /// Whether a warning is wrong too.
    #[serde(skip)]
    strict: bool,
}

impl Report {
    /// A report of overlays, their findings put in order. It is ok when no finding is an error and no departure is
    /// undocumented; when `strict`, no finding is a warning either.
    pub fn new(mut overlays: Vec<OverlayReport>, strict: bool) -> Report {
        for overlay in &mut overlays {
            diag::sort(&mut overlay.findings);
        }
        let ok = !overlays.iter().any(|overlay| overlay.fails(strict, |_| true));
        Report { schema: SCHEMA, ok, overlays, strict }
    }

    /// How many findings are of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.overlays.iter().flat_map(|o| &o.findings).filter(|d| d.severity == severity).count()
    }
}

/// What is known of one overlay.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OverlayReport {
    /// Its folder, as the person named it.
    pub path: String,
    /// Its name.
    pub name: String,
    /// What it says of itself; empty when it says nothing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The bases below it, those of lower overlays too.
    pub bases: Vec<BaseReport>,
    /// The documents of the bases.
    pub documents: Documents,
    /// The patches, in the order in which they apply.
    pub patches: Vec<PatchReport>,
    /// Whether there was no result to look at: the patches then have no departures.
    #[serde(skip)]
    pub unbuilt: bool,
    /// Departures that no patch claims.
    pub undocumented: Vec<Departure>,
    /// The file that was held against the overlay, where it was not the overlay's own result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<Against>,
    /// The committed result, where the overlay names one and a build was there to hold it against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rendered: Option<Rendered>,
    /// What was found; each undocumented departure is a finding too.
    #[serde(serialize_with = "findings")]
    pub findings: Vec<Diagnostic>,
}

impl OverlayReport {
    /// Takes those documents off the list of what overlays add that a patch takes out again.
    pub fn settle_added(&mut self) {
        let departures = self.patches.iter().flat_map(|patch| &patch.departures);
        let gone: Vec<&str> = departures
            .filter(|departure| departure.is_whole_document() && departure.change == ChangeKind::Remove)
            .map(|departure| departure.resource.as_str())
            .collect();
        self.documents.added.retain(|added| !gone.contains(&added.resource.as_str()));
    }

    /// Whether something else is wrong with it than findings of that code. When `strict`, a warning is wrong too.
    pub fn fails_but_for(&self, code: Code, strict: bool) -> bool {
        self.fails(strict, |finding| finding.code != code)
    }

    fn fails(&self, strict: bool, counts: impl Fn(&Diagnostic) -> bool) -> bool {
        let fails = |d: &Diagnostic| d.is_error() || (strict && d.severity == Severity::Warning);
        !self.undocumented.is_empty() || self.findings.iter().any(|finding| counts(finding) && fails(finding))
    }

    /// How many departures the patches make.
    pub fn departures(&self) -> usize {
        self.patches.iter().map(|p| p.departures.len()).sum()
    }
}

/// A file from elsewhere, held against an overlay.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Against {
    /// The file, as the person named it.
    pub file: String,
    /// What patches claim and the file lacks.
    pub missing: Vec<Missing>,
    /// Documents of the base that the file lacks though no patch takes them out.
    pub lacks: Vec<String>,
    /// Documents that the base does not have.
    pub adds: Vec<String>,
    /// How many documents of a cluster's answer neither the base nor the overlay has: they are somebody else's.
    pub others: usize,
}

impl Against {
    /// A file of which nothing is said yet.
    pub fn new(file: &str) -> Against {
        Against { file: file.to_owned(), missing: Vec::new(), lacks: Vec::new(), adds: Vec::new(), others: 0 }
    }
}

/// A committed result, held against the build.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rendered {
    /// The file.
    pub file: String,
    /// How it stands to the build.
    pub state: RenderedState,
    /// What it says otherwise than the build: `before` is the build's, `after` the file's. None where only the layout
    /// differs, or where it cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub departures: Vec<Departure>,
}

/// How a committed result stands to the build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RenderedState {
    /// It has the build's bytes.
    Current,
    /// It has other bytes.
    Stale,
    /// There is no such file.
    Missing,
    /// It had other bytes, or was not there, and was written in this run.
    Written,
}

impl RenderedState {
    /// The state in words, behind a colon.
    pub fn as_str(self) -> &'static str {
        match self {
            RenderedState::Current => "as built",
            RenderedState::Stale => "not as built",
            RenderedState::Missing => "not there",
            RenderedState::Written => "written anew",
        }
    }
}

/// A departure that a patch claims and that does not show.
#[derive(Clone, Debug, Serialize)]
pub struct Missing {
    /// The patch.
    pub patch: String,
    /// What should be there.
    #[serde(flatten)]
    pub departure: Departure,
}

/// A base as it was found.
#[derive(Clone, Debug, Serialize)]
pub struct BaseReport {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub path: String,
    /// Where it comes from, for people: repository and commit, or an address.
    pub source: String,
    /// Upstream's licence, as base.yaml says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// How it stands to its lock.
    pub state: BaseState,
    /// Its vendored files, where they are as the lock says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<BaseFile>,
}

/// A vendored file.
#[derive(Clone, Debug, Serialize)]
pub struct BaseFile {
    /// Its name in the base's folder.
    pub file: String,
    /// The sha256 of its bytes, in hexadecimal.
    pub sha256: String,
}

/// How a vendored base stands to its lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BaseState {
    /// Its bytes are the recorded ones.
    AsLocked,
    /// So they are, and the lock records that their layout, not their meaning, differs from upstream's.
    LayoutAccepted,
    /// They are not.
    Changed,
    /// There is no lock, or it does not cover the base.
    NotLocked,
    /// Its documents were handed over, and nothing says what they should be.
    HandedOver,
}

impl BaseState {
    /// The state in words, behind a colon.
    pub fn as_str(self) -> &'static str {
        match self {
            BaseState::AsLocked => "as locked",
            BaseState::LayoutAccepted => "as locked, laid out in another way than upstream, equal in meaning",
            BaseState::Changed => "not as locked",
            BaseState::NotLocked => "not locked",
            BaseState::HandedOver => "handed over, and so held against no lock",
        }
    }
}

/// Which documents of upstream are there.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Documents {
    /// Those that are kept; serialised as their number.
    #[serde(serialize_with = "number")]
    pub kept: Vec<String>,
    /// Those that are left out.
    pub left_out: Vec<String>,
    /// Documents that upstream does not have, which overlays add as resources.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<Added>,
}

/// A document that an overlay adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Added {
    /// The document.
    pub resource: String,
    /// The file that it stands in.
    pub file: String,
}

/// A patch and what it does.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PatchReport {
    /// Its name.
    pub name: String,
    /// What it does, in a line.
    pub summary: String,
    /// Why.
    pub why: String,
    /// Its file.
    pub file: String,
    /// What shows that it is needed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// The day someone last checked that it is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<String>,
    /// The day by which to check again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<String>,
    /// How upstream stands to it: `not-needed`, `not-yet`, or the address of an issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream: Option<String>,
    /// The places that it changed.
    pub departures: Vec<Departure>,
}

/// One place where the result differs from the base.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Departure {
    /// The document, as `kind.group/namespace/name`.
    pub resource: String,
    /// Where, in keyed form; inside the text at `within` if there is one. Empty for the whole document.
    pub path: String,
    /// Where in the document the text lies that `path` leads into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// What happened there.
    pub change: ChangeKind,
    /// What the base has there. Of a moved item, its index in the base.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// What the result has there. Of a moved item, its index in the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
    /// What the patch says of this place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Departure {
    /// A difference in a document, and what the patch that makes it says of the place.
    pub fn new(resource: &str, difference: &Difference, note: Option<String>) -> Departure {
        let (change, before, after) = match &difference.what {
            What::Added(value) => (ChangeKind::Add, None, Some(value.clone())),
            What::Removed(value) => (ChangeKind::Remove, Some(value.clone()), None),
            What::Replaced { before, after } => (ChangeKind::Replace, Some(before.clone()), Some(after.clone())),
            What::Moved { from, to } => (ChangeKind::Move, Some(json!(from)), Some(json!(to))),
        };
        Departure {
            resource: resource.to_owned(),
            path: difference.path.to_string(),
            within: difference.within.as_ref().map(|w| w.path.to_string()),
            change,
            before,
            after,
            note,
        }
    }

    /// The same for a document whose values on both sides are given: a difference in an item of a List is one of the item,
    /// under the item's own name.
    pub fn of(
        resource: &str,
        (before, after): (Option<&Value>, Option<&Value>),
        difference: &Difference,
        note: Option<String>,
    ) -> Departure {
        match difference.of_list_item(before, after) {
            Some((item, difference)) => Departure::new(&item.to_string(), &difference, note),
            None => Departure::new(resource, difference, note),
        }
    }

    /// Whether it is a document that only one side has.
    pub fn is_whole_document(&self) -> bool {
        self.path.is_empty() && self.within.is_none() && matches!(self.change, ChangeKind::Add | ChangeKind::Remove)
    }
}

/// What happened at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// The result has something that the base does not have.
    Add,
    /// The base has something that the result does not have.
    Remove,
    /// Both have something, but not the same.
    Replace,
    /// A list item stands elsewhere in its list.
    Move,
}

/// A diagnostic as it is serialised.
#[derive(Serialize)]
struct Finding<'d> {
    code: &'static str,
    severity: &'static str,
    message: &'d str,
    #[serde(flatten)]
    place: Option<FindingPlace<'d>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<&'d str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<&'d str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'d str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'d [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<FindingPlace<'d>>,
    #[serde(skip_serializing_if = "String::is_empty")]
    help: String,
}

#[derive(Serialize)]
struct FindingPlace<'d> {
    file: &'d str,
    line: usize,
    column: usize,
    #[serde(skip_serializing_if = "str::is_empty")]
    label: &'d str,
}

impl<'d> FindingPlace<'d> {
    fn new(place: &'d diag::Place, label: &'d str) -> FindingPlace<'d> {
        let (line, column) = place.line_column();
        FindingPlace { file: &place.source.name, line, column, label }
    }
}

impl<'d> Finding<'d> {
    fn new(diagnostic: &'d Diagnostic) -> Finding<'d> {
        Finding {
            code: diagnostic.code.as_str(),
            severity: diagnostic.severity.as_str(),
            message: &diagnostic.message,
            place: diagnostic.place.as_ref().map(|p| FindingPlace::new(p, &diagnostic.label)),
            patch: diagnostic.patch.as_deref(),
            resource: diagnostic.resource.as_deref(),
            path: diagnostic.path.as_deref(),
            notes: &diagnostic.notes,
            related: diagnostic.related.iter().map(|(p, label)| FindingPlace::new(p, label)).collect(),
            help: diagnostic.help.join(" "),
        }
    }
}

fn findings<S: Serializer>(diagnostics: &[Diagnostic], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(diagnostics.iter().map(Finding::new))
}

fn number<S: Serializer>(items: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(items.len() as u64)
}

/// A report to try the formats on.
#[cfg(test)]
mod sample;
