//! What `update` tells: what upstream changed, and a verdict for each patch; with a pure function for each format.
//!
//! The serialised form is `overlay/update/v1`. What is not known or does not apply is left out of it.

use serde::Serialize;
use serde_json::Value;

use super::Departure;
use super::github::{Command, command};
use super::json::pretty;
use super::paint::Paint;
use super::text::{counted, push_departures};
use super::value::{shown, shown_pair};
use crate::diag::render::Dress;
use crate::diag::visible::visible;
use crate::diag::{Diagnostic, Severity};

/// The name of the serialised form.
pub const UPDATE_SCHEMA: &str = "overlay/update/v1";

/// What newer upstreams mean for some bases.
#[derive(Clone, Debug, Serialize)]
pub struct UpdateReport {
    schema: &'static str,
    /// Whether every base could be looked at, and no patch conflicts.
    pub ok: bool,
    /// Whether any upstream has other bytes than its lock records, or any `keep` means other documents than it.
    pub changed: bool,
    /// The bases.
    pub bases: Vec<BaseUpdate>,
    /// What kept bases from being looked at, and what else was found on the way.
    #[serde(serialize_with = "super::findings")]
    pub findings: Vec<Diagnostic>,
}

impl UpdateReport {
    /// A report of bases. It is ok when no patch conflicts and no finding is an error.
    pub fn new(bases: Vec<BaseUpdate>, findings: Vec<Diagnostic>) -> UpdateReport {
        let ok = bases.iter().all(|base| base.conflicts() == 0) && !findings.iter().any(Diagnostic::is_error);
        let changed = bases.iter().any(BaseUpdate::differs);
        UpdateReport { schema: UPDATE_SCHEMA, ok, changed, bases, findings }
    }
}

/// What a newer upstream means for one base.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BaseUpdate {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub path: String,
    /// From where to where, where something is pinned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    /// Whether upstream has other bytes than the lock records.
    pub changed: bool,
    /// The documents that upstream changed, added or took out, and those that `keep` takes in or leaves out now.
    pub documents: Vec<DocumentUpdate>,
    /// What `keep` names and upstream no longer has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept_gone: Vec<KeptGone>,
    /// What keeps the base from following upstream, beside patches and `keep`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stops: Vec<Stop>,
    /// The overlays on this base, with their own patches.
    pub overlays: Vec<OverlayUpdate>,
    /// Overlays that could not be looked at, because it is not known what they stand on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
}

impl BaseUpdate {
    /// Whether the base would be written anew.
    pub fn differs(&self) -> bool {
        self.changed || self.keeps_others()
    }

    /// Whether `keep` means other documents than it did when the lock was written, of those that upstream had then.
    pub fn keeps_others(&self) -> bool {
        self.documents.iter().any(|document| document.kept_before.is_some())
    }

    /// How many patches conflict, targets of `keep` that are gone and what else stops a build counted in.
    pub fn conflicts(&self) -> usize {
        let patches = self.overlays.iter().flat_map(|o| &o.patches);
        let stops = self.stops.len() + self.overlays.iter().map(|o| o.stops.len()).sum::<usize>();
        patches.filter(|p| p.verdict.is_conflict()).count() + self.kept_gone.len() + stops
    }
}

/// The commit or release that a base goes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Revision {
    /// The branch or tag that leads there.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub follows: Option<String>,
    /// What is pinned now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What would be pinned then.
    pub to: String,
}

/// A document that is not as it was.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentUpdate {
    /// What it is called, upstream's new name where it has one.
    pub resource: String,
    /// What it was called before, where that was another name or API version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// Whether the base keeps it.
    pub kept: bool,
    /// Whether the base kept it when the lock was written, where that is not so now: `keep` was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_before: Option<bool>,
    /// What happened to it.
    pub state: DocumentState,
    /// What changed in it, as far as both texts are at hand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Departure>,
}

/// What happened to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DocumentState {
    /// Upstream added it.
    New,
    /// Upstream took it out.
    Gone,
    /// It means something else.
    Changed,
    /// It means something else, and of the old one only a digest is known.
    ChangedUnseen,
    /// Upstream has it as it was.
    Unchanged,
}

/// A target of `keep` that no document is any more.
#[derive(Clone, Debug, Serialize)]
pub struct KeptGone {
    /// The target.
    pub target: String,
    /// The documents that may be meant.
    pub candidates: Vec<String>,
}

/// What stops the vendoring of a base, or the build of an overlay, on the newer upstream.
#[derive(Clone, Debug, Serialize)]
pub struct Stop {
    /// What is the matter, a clause.
    pub message: String,
    /// Other facts, and what can be done; a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// An overlay and its own patches.
#[derive(Clone, Debug, Serialize)]
pub struct OverlayUpdate {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub path: String,
    /// Its patches, in the order in which they apply.
    pub patches: Vec<PatchUpdate>,
    /// What stops its build, beside its own patches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stops: Vec<Stop>,
}

/// A patch and what becomes of it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PatchUpdate {
    /// Its name.
    pub name: String,
    /// What it does, in a line.
    pub summary: String,
    /// Why.
    pub why: String,
    /// Its file.
    pub file: String,
    /// The verdict: the gravest of its operations'.
    pub verdict: Verdict,
    /// The documents that its targets mean now and did not mean.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub newly_meant: Vec<NewlyMeant>,
    /// Its operations, on each document.
    pub operations: Vec<OperationUpdate>,
}

/// A document that a target means now and did not mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewlyMeant {
    /// The document.
    pub resource: String,
    /// The document that the target meant in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// Whether upstream did not have it before.
    pub new: bool,
}

impl NewlyMeant {
    /// What is to be said of it, a clause about the patch.
    fn told(&self) -> String {
        let resource = &self.resource;
        match (&self.was, self.new) {
            (Some(was), _) => format!("applies to {resource} now, was {was}"),
            (None, true) => format!("also applies to {resource}, new upstream"),
            (None, false) => format!("also applies to {resource}, which its target did not mean before"),
        }
    }
}

/// An operation on a document and what becomes of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct OperationUpdate {
    /// The document, or the target that means none.
    pub resource: String,
    /// Where in it, as the patch says.
    pub path: String,
    /// Where in the document the text lies that `path` leads into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// Its line in the patch file.
    pub line: usize,
    /// The verdict.
    pub verdict: Verdict,
    /// What is the matter; empty where it applies.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// What is there in the base.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<Value>,
    /// What upstream has there now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream: Option<Value>,
    /// What the patch writes there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ours: Option<Value>,
    /// Candidates, and other facts; a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What to do about it, a sentence; empty where message and notes say that.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub next: String,
}

impl OperationUpdate {
    /// Document and place.
    fn place(&self) -> String {
        let within = self.within.as_ref().map_or(String::new(), |within| format!(" in the text at {within}"));
        format!("{} {}{within}", self.resource, self.path).trim().to_owned()
    }

    /// What base, upstream and patch have there, as far as that is known, each as a line of a report has it.
    fn values(&self) -> Vec<(&'static str, String)> {
        let (base, upstream) = match (&self.base, &self.upstream) {
            (Some(base), Some(upstream)) => {
                let (base, upstream) = shown_pair(base, upstream);
                (Some(base), Some(upstream))
            }
            (base, upstream) => (base.as_ref().map(shown), upstream.as_ref().map(shown)),
        };
        let all = [("base:", base), ("upstream:", upstream), ("ours:", self.ours.as_ref().map(shown))];
        all.into_iter().filter_map(|(title, value)| Some((title, value?))).collect()
    }
}

/// What becomes of a patch, or an operation, on a newer upstream. The later one is the graver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Upstream has it: it can be dropped.
    AlreadyUpstream,
    /// It does what it did.
    #[default]
    Applies,
    /// It stops the build only because an earlier patch does, of its overlay or of one below, which is told as the
    /// conflict that this is.
    Waits,
    /// Upstream did itself what it does, by taking out what it takes out or replaces: it can be dropped, and must be,
    /// for the build stops at it.
    Overtaken,
    /// It could be applied, but what it replaces is not what it was written for.
    UpstreamChanged,
    /// What it finds is not what it was written for, and stops the build: a `was:`, or a value of upstream's own.
    Refused,
    /// Its target or path leads nowhere.
    Gone,
    /// It fails on the locked base too.
    Broken,
}

impl Verdict {
    /// The verdict in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::AlreadyUpstream => "already upstream",
            Verdict::Applies => "applies",
            Verdict::Waits => "waits for an earlier patch, which conflicts",
            Verdict::Overtaken => "already upstream (drop it, for it stops the build)",
            Verdict::UpstreamChanged => "applies, but upstream changed what it replaces",
            Verdict::Refused => "stops the build: upstream changed what it expects",
            Verdict::Gone => "target or path gone",
            Verdict::Broken => "fails on the locked base too",
        }
    }

    /// Whether the build stops at it.
    pub fn stops(self) -> bool {
        self == Verdict::Waits || (self.is_conflict() && self != Verdict::UpstreamChanged)
    }

    /// Whether someone must decide before the base may follow upstream.
    pub fn is_conflict(self) -> bool {
        self >= Verdict::Overtaken
    }
}

/// What `overlay update` prints.
pub fn update_text(report: &UpdateReport, dress: Dress) -> String {
    let paint = Paint(dress);
    let mut out = String::new();
    for base in &report.bases {
        push_base(&mut out, base, paint);
    }
    out.push_str(&summary(report, paint));
    out.push('\n');
    out
}

/// The report as `overlay/update/v1`, indented, ending with a line feed.
pub fn update_json(report: &UpdateReport) -> String {
    pretty(report)
}

/// A workflow command of GitHub for each conflict, each patch that can be dropped, each base to be updated and each
/// finding.
pub fn update_github(report: &UpdateReport) -> String {
    report.bases.iter().map(github_base).chain(report.findings.iter().map(command)).collect()
}

fn push_base(out: &mut String, base: &BaseUpdate, paint: Paint) {
    out.push_str(&format!("{}  {}\n", paint.name(&visible(&base.name)), paint.quiet(&visible(&base.path))));
    if let Some(revision) = &base.revision {
        push_revision(out, revision);
    }
    if base.documents.is_empty() {
        let same =
            if base.changed { "upstream changed no document, only their layout or comments" } else { "as locked" };
        out.push_str(&format!("  {same}\n"));
    }
    base.documents.iter().for_each(|document| push_document(out, document, paint));
    for gone in &base.kept_gone {
        let title = paint.loud("`keep` names what is gone:");
        out.push_str(&format!("  {title} {}\n", visible(&gone.target)));
        let near = gone.candidates.iter();
        near.for_each(|candidate| out.push_str(&format!("    there is {}\n", visible(candidate))));
        out.push_str("    name in `keep` what it became, or take the line out, and run the update again\n");
    }
    base.stops.iter().for_each(|stop| push_stop(out, "the base cannot follow:", stop, paint));
    out.push('\n');
    for overlay in &base.overlays {
        out.push_str(&format!("{}  {}\n", paint.name(&visible(&overlay.name)), paint.quiet(&visible(&overlay.path))));
        overlay.patches.iter().for_each(|patch| push_patch(out, patch, &overlay.path, paint));
        overlay.stops.iter().for_each(|stop| push_stop(out, "stops the build:", stop, paint));
        out.push('\n');
    }
    if base.overlays.is_empty() {
        out.push_str("no overlay stands on it\n\n");
    }
    for path in &base.unreadable {
        out.push_str(&format!("not looked at: {}, which cannot be read\n", visible(path)));
    }
}

fn push_stop(out: &mut String, title: &str, stop: &Stop, paint: Paint) {
    out.push_str(&format!("  {} {}\n", paint.loud(title), visible(&stop.message)));
    stop.notes.iter().for_each(|note| out.push_str(&format!("    {}\n", visible(note))));
}

fn push_revision(out: &mut String, revision: &Revision) {
    let Revision { follows, from, to } = revision;
    let step = match from {
        Some(from) if from == to => format!("{} as pinned", visible(to)),
        Some(from) => format!("{} → {}", visible(from), visible(to)),
        None => visible(to).into_owned(),
    };
    let follows = follows.as_ref().map_or(String::new(), |name| format!(" ({})", visible(name)));
    out.push_str(&format!("  {step}{follows}\n"));
}

fn push_document(out: &mut String, document: &DocumentUpdate, paint: Paint) {
    let (state, how) = match document.state {
        DocumentState::New => (paint.good("new"), ""),
        DocumentState::Gone => (paint.gone("gone"), ""),
        DocumentState::Changed => (paint.changed("changed"), ""),
        DocumentState::ChangedUnseen => (paint.changed("changed"), ", and the old one is known by its digest alone"),
        DocumentState::Unchanged => (paint.changed("unchanged"), ""),
    };
    let before = match document.kept_before {
        Some(true) => ", kept before: `keep` leaves it out now",
        Some(false) => ", left out before: `keep` takes it in now",
        None => "",
    };
    let left_out = if document.kept { "" } else { " (left out)" };
    let was = document.was.as_ref().map_or(String::new(), |was| format!(", was {}", visible(was)));
    out.push_str(&format!("  {state}{left_out}{before}{was}{how}\n"));
    if document.differences.is_empty() {
        out.push_str(&format!("    {}\n", visible(&document.resource)));
    }
    push_departures(out, &document.differences, paint);
}

fn push_patch(out: &mut String, patch: &PatchUpdate, folder: &str, paint: Paint) {
    let verdict = match patch.verdict {
        Verdict::Applies => paint.good(patch.verdict.as_str()),
        Verdict::AlreadyUpstream => paint.changed(patch.verdict.as_str()),
        _ => paint.loud(patch.verdict.as_str()),
    };
    out.push_str(&format!("  {}: {verdict}\n", paint.name(&visible(&patch.name))));
    patch.newly_meant.iter().for_each(|newly| out.push_str(&format!("    {}\n", visible(&newly.told()))));
    for operation in patch.operations.iter().filter(|o| o.verdict != Verdict::Applies || !o.notes.is_empty()) {
        push_operation(out, patch, operation);
    }
    push_reason(out, patch, folder);
}

/// How many lines of a reason are shown.
const MAX_REASON: usize = 4;

/// What helps to decide on a patch: where what it replaces is another thing now, why it does so; where it only has to be
/// pointed elsewhere or dropped, what it does.
fn push_reason(out: &mut String, patch: &PatchUpdate, folder: &str) {
    let (title, text) = match patch.verdict {
        Verdict::UpstreamChanged | Verdict::Refused => ("why", &patch.why),
        Verdict::Gone | Verdict::Broken | Verdict::AlreadyUpstream | Verdict::Overtaken => ("does", &patch.summary),
        Verdict::Applies | Verdict::Waits => return,
    };
    let lines: Vec<&str> = text.trim_end().lines().collect();
    // A line more is shown before saying so would take one.
    let count = if lines.len() == MAX_REASON + 1 { lines.len() } else { MAX_REASON };
    for (index, line) in lines.iter().take(count).enumerate() {
        let title = if index == 0 { format!("{title}:") } else { " ".repeat(title.len() + 1) };
        out.push_str(format!("    {title} {}", visible(line)).trim_end());
        out.push('\n');
    }
    if lines.len() > count {
        let more = format!("{} more lines: overlay explain {folder} {}", lines.len() - count, patch.name);
        out.push_str(&format!("    {} ({})\n", " ".repeat(title.len() + 1), visible(&more)));
    }
}

fn push_operation(out: &mut String, patch: &PatchUpdate, operation: &OperationUpdate) {
    out.push_str(&format!("    {}  ({}:{})\n", visible(&operation.place()), visible(&patch.file), operation.line));
    if !operation.message.is_empty() {
        out.push_str(&format!("      {}\n", visible(&operation.message)));
    }
    for (title, value) in operation.values() {
        out.push_str(&format!("      {title:<9} {value}\n"));
    }
    operation.notes.iter().for_each(|note| out.push_str(&format!("      {}\n", visible(note))));
    if !operation.next.is_empty() {
        out.push_str(&format!("      {}\n", visible(&operation.next)));
    }
}

fn summary(report: &UpdateReport, paint: Paint) -> String {
    let patches: Vec<&PatchUpdate> = report.bases.iter().flat_map(|b| &b.overlays).flat_map(|o| &o.patches).collect();
    let of = |verdicts: &dyn Fn(Verdict) -> bool| patches.iter().filter(|p| verdicts(p.verdict)).count();
    let mut facts = vec![
        counted(report.bases.len(), "base", "bases"),
        counted(patches.len(), "patch", "patches"),
        format!("{} as before", of(&|v| v == Verdict::Applies)),
    ];
    let (already, conflicts) =
        (of(&|v| v == Verdict::AlreadyUpstream), report.bases.iter().map(BaseUpdate::conflicts).sum());
    if already > 0 {
        facts.push(format!("{already} already upstream"));
    }
    let waiting = of(&|v| v == Verdict::Waits);
    if waiting > 0 {
        facts.push(format!("{waiting} waiting"));
    }
    if conflicts > 0 {
        facts.push(counted(conflicts, "conflict", "conflicts"));
    }
    let verdict = if report.ok { paint.good("ok") } else { paint.loud("not ok") };
    format!("{verdict}: {}", facts.join(", "))
}

/// That upstream has changed, and what to do about it.
fn news(base: &BaseUpdate) -> String {
    let what = if base.documents.is_empty() { "changed in layout or comments alone" } else { "changed" };
    let command = format!("`overlay update {} --write`", base.path);
    match base.conflicts() {
        0 => format!("upstream of {} has {what}; run {command}", base.name),
        count => {
            let conflicts = counted(count, "conflict", "conflicts");
            format!("upstream of {} has {what}; decide on {conflicts}, then run {command}", base.name)
        }
    }
}

fn github_base(base: &BaseUpdate) -> String {
    let mut out = String::new();
    let place = format!("{}/base.yaml", base.path);
    if base.changed {
        let message = news(base);
        let title = "a newer upstream";
        out.push_str(&Command { severity: Severity::Note, file: &place, line: 1, title, message: &message }.written());
    }
    if base.keeps_others() && !base.changed {
        let message = format!("`keep` means other documents than the lock; run `overlay update {} --write`", base.path);
        let title = "`keep` was changed";
        out.push_str(&Command { severity: Severity::Note, file: &place, line: 1, title, message: &message }.written());
    }
    for gone in &base.kept_gone {
        let message = format!("`keep` names {}, which upstream no longer has", gone.target);
        let near = gone.candidates.iter().map(|candidate| format!("There is {candidate}."));
        let next = "Name in `keep` what it became, or take the line out, and run the update again.".to_owned();
        let message = std::iter::once(message).chain(near).chain([next]).collect::<Vec<_>>().join("\n");
        let title = "kept document gone";
        out.push_str(&Command { severity: Severity::Error, file: &place, line: 1, title, message: &message }.written());
    }
    let of_overlay = |o: &OverlayUpdate| {
        let file = format!("{}/overlay.yaml", o.path);
        o.stops.iter().map(move |stop| (file.clone(), "stops the build", stop.clone())).collect::<Vec<_>>()
    };
    let of_base = base.stops.iter().map(|stop| (place.clone(), "the base cannot follow", stop.clone()));
    for (file, title, Stop { message, notes }) in of_base.chain(base.overlays.iter().flat_map(of_overlay)) {
        let message = if notes.is_empty() { message } else { format!("{message}. {}", notes.join(" ")) };
        out.push_str(&Command { severity: Severity::Error, file: &file, line: 1, title, message: &message }.written());
    }
    for patch in base.overlays.iter().flat_map(|overlay| &overlay.patches) {
        for newly in &patch.newly_meant {
            let title = format!("patch {}", patch.name);
            let (file, message) = (&patch.file, newly.told());
            let command = Command { severity: Severity::Note, file, line: 1, title: &title, message: &message };
            out.push_str(&command.written());
        }
        for operation in patch.operations.iter().filter(|o| o.verdict != Verdict::Applies) {
            let severity = match operation.verdict {
                Verdict::Waits => Severity::Note,
                verdict if verdict.is_conflict() => Severity::Error,
                _ => Severity::Warning,
            };
            let title = format!("patch {}: {}", patch.name, operation.verdict.as_str());
            let values = operation.values().into_iter().map(|(title, value)| format!("{title} {value}"));
            let next = Some(operation.next.clone()).filter(|next| !next.is_empty());
            let lines = std::iter::once(format!("{}: {}", operation.place(), operation.message));
            let lines = lines.chain(values).chain(operation.notes.iter().cloned()).chain(next);
            let message = lines.collect::<Vec<_>>().join("\n");
            let command =
                Command { severity, file: &patch.file, line: operation.line, title: &title, message: &message };
            out.push_str(&command.written());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sample() -> UpdateReport {
        let operation = OperationUpdate {
            resource: "DaemonSet.apps/agent".into(),
            path: "/spec/image".into(),
            line: 9,
            verdict: Verdict::UpstreamChanged,
            message: "upstream changed what it replaces".into(),
            base: Some(json!("a:1")),
            upstream: Some(json!("a:2\u{1b}")),
            ours: Some(json!("a:3")),
            ..OperationUpdate::default()
        };
        let patch = PatchUpdate {
            name: "pin".into(),
            summary: "Pin it".into(),
            why: "Tags move.\n".into(),
            file: "overlays/x/patches/pin.yaml".into(),
            verdict: Verdict::UpstreamChanged,
            newly_meant: Vec::new(),
            operations: vec![operation],
        };
        let patches = vec![patch];
        let overlay = OverlayUpdate { name: "x".into(), path: "overlays/x".into(), patches, stops: Vec::new() };
        UpdateReport::new(
            vec![BaseUpdate {
                name: "b".into(),
                path: "base/b".into(),
                changed: true,
                overlays: vec![overlay],
                ..BaseUpdate::default()
            }],
            Vec::new(),
        )
    }

    #[test]
    fn a_conflict_is_told_with_three_values_and_the_reason() {
        assert_eq!(
            update_text(&sample(), Dress::Plain),
            "b  base/b\n  upstream changed no document, only their layout or comments\n\nx  overlays/x\n  \
             pin: applies, but upstream changed what it replaces\n    \
             DaemonSet.apps/agent /spec/image  (overlays/x/patches/pin.yaml:9)\n      \
             upstream changed what it replaces\n      base:     \"a:1\"\n      upstream: \"a:2\\u001b\"\n      \
             ours:     \"a:3\"\n    why: Tags move.\n\nnot ok: 1 base, 1 patch, 0 as before, 1 conflict\n"
        );
    }

    #[test]
    fn a_long_reason_drowns_no_verdict_and_a_path_that_is_gone_asks_for_none() {
        let mut report = sample();
        let told = |report: &UpdateReport| {
            let text = update_text(report, Dress::Plain);
            text[text.find("ours:").unwrap()..text.find("\nnot ok").unwrap()].to_owned()
        };
        report.bases[0].overlays[0].patches[0].why = "a\n\nb\nc\nd\n".into();
        assert_eq!(told(&report), "ours:     \"a:3\"\n    why: a\n\n         b\n         c\n         d\n");
        report.bases[0].overlays[0].patches[0].why = "a\nb\nc\nd\ne\nf\n".into();
        let cut =
            "why: a\n         b\n         c\n         d\n         (2 more lines: overlay explain overlays/x pin)\n";
        assert_eq!(told(&report), format!("ours:     \"a:3\"\n    {cut}"));
        report.bases[0].overlays[0].patches[0].verdict = Verdict::Gone;
        assert_eq!(told(&report), "ours:     \"a:3\"\n    does: Pin it\n");
    }

    #[test]
    fn what_stops_a_build_and_what_a_patch_takes_in_is_told_in_every_form() {
        let mut report = sample();
        let stop = |message: &str| Stop { message: message.into(), notes: vec!["Do so.".into()] };
        let base = &mut report.bases[0];
        base.stops.push(stop("no such thing"));
        let overlay = &mut base.overlays[0];
        overlay.stops.push(stop("twice\u{1b}"));
        let meant = |was: Option<&str>, new| NewlyMeant { resource: "A/a".into(), was: was.map(str::to_owned), new };
        overlay.patches[0].newly_meant = vec![meant(None, true), meant(None, false), meant(Some("A/b"), true)];
        overlay.patches[0].operations.clear();
        let text = update_text(&report, Dress::Plain);
        let told = [
            "  the base cannot follow: no such thing\n    Do so.\n\nx  overlays/x\n",
            "replaces\n    also applies to A/a, new upstream\n    also applies to A/a, which its target did not mean \
             before\n    applies to A/a now, was A/b\n",
            "  stops the build: twice\\x1B\n    Do so.\n",
        ];
        assert!(told.iter().all(|told| text.contains(told)), "{text}");
        assert!(text.ends_with("not ok: 1 base, 1 patch, 0 as before, 3 conflicts\n"), "{text}");
        let github = update_github(&report);
        let told = [
            "::error file=base/b/base.yaml,line=1,title=the base cannot follow::no such thing. Do so.\n",
            "::error file=overlays/x/overlay.yaml,line=1,title=stops the build::twice",
            "::notice file=overlays/x/patches/pin.yaml,line=1,title=patch pin::also applies to A/a, new upstream\n",
        ];
        assert!(told.iter().all(|told| github.contains(told)), "{github}");
        let json: Value = serde_json::from_str(&update_json(&report)).unwrap();
        let overlay = &json["bases"][0]["overlays"][0];
        assert_eq!(overlay["stops"][0], json!({"message": "twice\u{1b}", "notes": ["Do so."]}));
        assert_eq!(overlay["patches"][0]["newlyMeant"][2], json!({"resource": "A/a", "was": "A/b", "new": true}));
    }

    #[test]
    fn json_says_the_same_by_its_words() {
        let report: Value = serde_json::from_str(&update_json(&sample())).unwrap();
        assert_eq!(report["schema"], "overlay/update/v1");
        assert_eq!(report["ok"], false);
        let patch = &report["bases"][0]["overlays"][0]["patches"][0];
        assert_eq!(patch["verdict"], "upstream-changed");
        assert_eq!(patch["operations"][0]["ours"], "a:3");
    }

    #[test]
    fn a_patch_that_waits_is_no_conflict_and_is_told_as_waiting_in_every_form() {
        let mut report = sample();
        let patch = &mut report.bases[0].overlays[0].patches[0];
        patch.verdict = Verdict::Waits;
        let [operation] = &mut patch.operations[..] else { unreachable!("the sample has one") };
        (operation.verdict, operation.message) = (Verdict::Waits, "it is for `a` to write".into());
        (operation.base, operation.upstream, operation.ours) = (None, None, None);
        let text = update_text(&report, Dress::Plain);
        let told = "  pin: waits for an earlier patch, which conflicts\n    DaemonSet.apps/agent /spec/image  \
                    (overlays/x/patches/pin.yaml:9)\n      it is for `a` to write\n\n";
        assert!(text.contains(told), "{text}");
        assert!(text.ends_with("1 base, 1 patch, 0 as before, 1 waiting\n"), "{text}");
        assert_eq!(report.bases[0].conflicts(), 0);
        let github = update_github(&report);
        assert!(
            github.contains("::notice file=overlays/x/patches/pin.yaml,line=9,title=patch pin%3A waits"),
            "{github}"
        );
        let json: Value = serde_json::from_str(&update_json(&report)).unwrap();
        assert_eq!(json["bases"][0]["overlays"][0]["patches"][0]["verdict"], "waits");
    }

    #[test]
    fn github_gets_a_command_at_the_line_of_the_operation() {
        let mut report = sample();
        let operation = &mut report.bases[0].overlays[0].patches[0].operations[0];
        (operation.notes, operation.next) = (vec!["See.".into()], "Do.".into());
        assert_eq!(
            update_github(&report),
            "::notice file=base/b/base.yaml,line=1,title=a newer upstream::upstream of b has changed in layout \
             or comments alone; decide on 1 conflict, then run `overlay update base/b --write`\n::error file=overlays/x/patches/pin.yaml,line=9,title=patch pin%3A applies%2C but \
             upstream changed what it replaces::DaemonSet.apps/agent /spec/image: upstream changed what it replaces%0Abase: \
             \"a:1\"%0Aupstream: \"a:2\\u001b\"%0Aours: \"a:3\"%0ASee.%0ADo.\n"
        );
    }
}
