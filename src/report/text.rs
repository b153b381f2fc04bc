//! The report as text, for a person at a terminal: what stands on which base, what each patch changed and where, what
//! no patch claims, and what is wrong.

use std::collections::HashSet;

use super::paint::Paint;
use super::value::{resource_name, shown, shown_pair};
use super::{
    Against, BaseReport, BaseState, ChangeKind, Departure, Documents, OverlayReport, PatchReport, Rendered,
    RenderedState, Report,
};
use crate::diag::render::{self, Dress};
use crate::diag::visible::visible;
use crate::diag::{Code, Diagnostic, Severity};

/// How wide a line of a departure may be, in characters, before its values go on lines of their own.
const WIDE: usize = 100;

/// How many documents are named in a list; the rest are counted.
const MAX_NAMED: usize = 24;

/// How many images that are not pinned are shown beside the first; the rest are counted.
const MAX_IMAGES: usize = 5;

/// What `overlay verify` prints.
pub fn text(report: &Report, dress: Dress) -> String {
    let paint = Paint(dress);
    let mut out = String::new();
    for overlay in &report.overlays {
        push_overlay(&mut out, overlay, paint);
        push_findings(&mut out, &overlay.findings, dress);
    }
    out.push_str(&summary(report, paint));
    out.push('\n');
    without_commands(out)
}

/// A report in which no line is a command to the runner of a workflow, which reads what a step prints: `::` at the start
/// of a line, blanks aside, or `##[` anywhere in it. The `:::` of a finding's further files is none.
pub(super) fn without_commands(report: String) -> String {
    if !report.contains("::") && !report.contains("##[") {
        return report;
    }
    let mut out = String::with_capacity(report.len() + 16);
    for line in report.split_inclusive('\n') {
        let text = line.trim_start();
        out.push_str(&line[..line.len() - text.len()]);
        if text.starts_with("::") && !text.starts_with(":::") {
            out.push('\\');
        }
        out.push_str(&text.replace("##[", "#\\#["));
    }
    out
}

fn push_overlay(out: &mut String, overlay: &OverlayReport, paint: Paint) {
    push_head(out, overlay, paint);
    for base in &overlay.bases {
        push_base(out, base, paint);
    }
    push_documents(out, &overlay.documents, paint);
    if let Some(rendered) = &overlay.rendered {
        push_rendered(out, rendered, paint);
    }
    if let Some(against) = &overlay.against {
        return push_against(out, overlay, against, paint);
    }
    out.push('\n');
    for patch in &overlay.patches {
        push_patch(out, patch, overlay.unbuilt, paint);
    }
    if !overlay.undocumented.is_empty() {
        out.push_str(&format!("  {}\n", paint.loud("Claimed by no patch")));
        push_departures(out, &overlay.undocumented, paint);
        out.push('\n');
    }
    if let Some(rendered) = overlay.rendered.as_ref().filter(|rendered| !rendered.departures.is_empty()) {
        let title = format!("Not as built, in {}", visible(&rendered.file));
        out.push_str(&format!("  {}\n", paint.loud(&title)));
        push_places_and_documents(out, &rendered.departures, paint);
        out.push('\n');
    }
}

/// What a file has of an overlay, in three groups: what a patch explains, what none does, and what the file lacks.
fn push_against(out: &mut String, overlay: &OverlayReport, against: &Against, paint: Paint) {
    let file = visible(&against.file);
    for (title, names) in [("lacks   ", &against.lacks), ("adds    ", &against.adds)] {
        push_names(out, &paint.loud(title), names);
    }
    if against.others > 0 {
        let count = counted(against.others, "document", "documents");
        out.push_str(&format!("  others    {count} that neither base nor overlay has\n"));
    }
    out.push('\n');
    if overlay.patches.iter().any(|patch| !patch.departures.is_empty()) {
        out.push_str(&format!("  {}\n\n", paint.good(&format!("Explained by a patch, in {file}"))));
    }
    for patch in overlay.patches.iter().filter(|patch| !patch.departures.is_empty()) {
        push_patch(out, patch, false, paint);
    }
    if !overlay.undocumented.is_empty() {
        out.push_str(&format!("  {}\n", paint.loud("Explained by no patch")));
        push_places_and_documents(out, &overlay.undocumented, paint);
        out.push('\n');
    }
    if !against.missing.is_empty() {
        out.push_str(&format!("  {}\n", paint.loud(&format!("Claimed by a patch, and not in {file}"))));
        for group in against.missing.chunk_by(|a, b| a.patch == b.patch) {
            let patch = group.first().map(|missing| visible(&missing.patch)).unwrap_or_default();
            out.push_str(&format!("  {}\n", paint.name(&patch)));
            push_departures(out, &group.iter().map(|missing| missing.departure.clone()).collect::<Vec<_>>(), paint);
        }
        out.push('\n');
    }
}

/// Departures in documents, then the documents that only one side has.
fn push_places_and_documents(out: &mut String, departures: &[Departure], paint: Paint) {
    let (documents, places): (Vec<&Departure>, Vec<&Departure>) =
        departures.iter().partition(|departure| departure.is_whole_document());
    push_departures(out, &places.into_iter().cloned().collect::<Vec<_>>(), paint);
    for departure in documents {
        let (mark, says) = match departure.change {
            ChangeKind::Remove => (paint.gone("-"), "is left out"),
            _ => (paint.good("+"), "is added"),
        };
        out.push_str(&format!("    {mark} {} {says}\n", resource_name(&departure.resource)));
    }
}

fn push_rendered(out: &mut String, rendered: &Rendered, paint: Paint) {
    let state = match rendered.state {
        RenderedState::Current | RenderedState::Written => paint.good(rendered.state.as_str()),
        RenderedState::Stale | RenderedState::Missing => paint.loud(rendered.state.as_str()),
    };
    out.push_str(&format!("  {}  {}: {state}\n", paint.quiet("rendered"), visible(&rendered.file)));
}

/// The overlay's name and folder.
pub(super) fn push_head(out: &mut String, overlay: &OverlayReport, paint: Paint) {
    out.push_str(&format!("{}  {}\n", paint.name(&visible(&overlay.name)), paint.quiet(&visible(&overlay.path))));
}

fn push_base(out: &mut String, base: &BaseReport, paint: Paint) {
    let state = match base.state {
        BaseState::AsLocked | BaseState::LayoutAccepted => paint.good(base.state.as_str()),
        BaseState::Changed | BaseState::NotLocked | BaseState::HandedOver => paint.loud(base.state.as_str()),
    };
    let from: Vec<_> = [&base.name, &base.source].into_iter().filter(|s| !s.is_empty()).map(|s| visible(s)).collect();
    out.push_str(&format!("  {}  {}: {state}\n", paint.quiet("base    "), from.join(", ")));
}

fn push_documents(out: &mut String, documents: &Documents, paint: Paint) {
    for (title, names) in [("kept    ", &documents.kept), ("left out", &documents.left_out)] {
        push_names(out, &paint.quiet(title), names);
    }
    push_names(out, &paint.changed("added   "), &added(documents));
}

/// Each document that an overlay adds, with its file.
pub(super) fn added(documents: &Documents) -> Vec<String> {
    documents.added.iter().map(|added| format!("{}, {}", added.resource, added.file)).collect()
}

fn push_names(out: &mut String, title: &str, names: &[String]) {
    for (index, name) in names.iter().take(MAX_NAMED).enumerate() {
        out.push_str(&format!("  {}  {}\n", if index == 0 { title } else { "        " }, resource_name(name)));
    }
    if let Some(more) = names.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
        out.push_str(&format!("            and {more} more\n"));
    }
}

fn push_patch(out: &mut String, patch: &PatchReport, unbuilt: bool, paint: Paint) {
    out.push_str(&format!("  {}  {}\n", paint.name(&visible(&patch.name)), visible(&patch.summary)));
    if patch.departures.is_empty() {
        let says = if unbuilt { "nothing was built" } else { "changes nothing" };
        out.push_str(&format!("    {}\n", paint.changed(says)));
    }
    push_departures(out, &patch.departures, paint);
    out.push('\n');
}

/// Departures under the document, and the text in it, that they lie in.
pub(super) fn push_departures(out: &mut String, departures: &[Departure], paint: Paint) {
    for group in departures.chunk_by(|a, b| a.resource == b.resource && a.within == b.within) {
        let Some(first) = group.first() else { continue };
        let within = first.within.as_ref().map_or(String::new(), |within| format!(", in {}", visible(within)));
        out.push_str(&format!("    {}{within}\n", resource_name(&first.resource)));
        for departure in group {
            push_departure(out, departure, paint);
        }
    }
}

fn push_departure(out: &mut String, departure: &Departure, paint: Paint) {
    let place = match departure.path.as_str() {
        "" if departure.within.is_none() => "the document".into(),
        "" => "the text".into(),
        path => visible(path),
    };
    let (mark, lines) = match departure.change {
        ChangeKind::Add => (paint.good("+"), added_or_removed(departure.after.as_ref())),
        ChangeKind::Remove => (paint.gone("-"), added_or_removed(departure.before.as_ref())),
        ChangeKind::Replace => (paint.changed("~"), replaced(departure)),
        ChangeKind::Move => (paint.changed(">"), moved(departure)),
    };
    let width = place.chars().count() + lines.iter().map(|l| l.chars().count() + 1).sum::<usize>();
    if width <= WIDE {
        out.push_str(&format!("      {mark} {place}: {}\n", lines.join(" ")));
    } else {
        out.push_str(&format!("      {mark} {place}\n"));
        for line in lines {
            out.push_str(&format!("          {line}\n"));
        }
    }
    if let Some(note) = &departure.note {
        out.push_str(&format!("        {}\n", paint.quiet(&visible(note))));
    }
}

fn added_or_removed(value: Option<&serde_json::Value>) -> Vec<String> {
    value.map(shown).into_iter().collect()
}

fn replaced(departure: &Departure) -> Vec<String> {
    match (&departure.before, &departure.after) {
        (Some(before), Some(after)) => {
            let (before, after) = shown_pair(before, after);
            vec![before, format!("→ {after}")]
        }
        (before, after) => before.iter().chain(after).map(shown).collect(),
    }
}

fn moved(departure: &Departure) -> Vec<String> {
    let index = |value: &Option<serde_json::Value>| value.as_ref().map_or("?".to_owned(), shown);
    vec![format!("from index {} to {}", index(&departure.before), index(&departure.after))]
}

/// Errors and warnings in full, images that are not pinned as one, then the notes, a line each, and what to do about them,
/// once for each code.
fn push_findings(out: &mut String, findings: &[Diagnostic], dress: Dress) {
    let (notes, grave): (Vec<_>, Vec<_>) = findings.iter().partition(|d| d.severity == Severity::Note);
    let (unpinned, grave): (Vec<_>, Vec<_>) = grave.into_iter().partition(|d| d.code == Code::ImageNotPinned);
    let unpinned = summed_up(&unpinned);
    for finding in grave.into_iter().chain(&unpinned) {
        out.push_str(&render::full(finding, dress));
        out.push('\n');
    }
    if !notes.is_empty() {
        for note in &notes {
            out.push_str(&render::short(note));
        }
        let mut helped = HashSet::new();
        for note in notes.iter().filter(|note| helped.insert(note.code)) {
            if let Some(help) = note.help.first() {
                out.push_str(&format!("  = help[{}]: {}\n", note.code, visible(help)));
            }
        }
        out.push('\n');
    }
}

/// The images that are not pinned, as one finding: a base may have very many, and what else is wrong must be seen.
fn summed_up(unpinned: &[&Diagnostic]) -> Option<Diagnostic> {
    let (first, others) = unpinned.split_first()?;
    let mut all = (*first).clone();
    if others.is_empty() {
        return Some(all);
    }
    all.message = format!("{} images are not pinned by a digest", unpinned.len());
    for other in others.iter().take(MAX_IMAGES) {
        all.notes.push(match &other.place {
            Some(place) => format!("Also {}:{}: {}", place.source.name, place.line(), place.text()),
            None => format!("Also {}", other.message),
        });
    }
    if let Some(more) = others.len().checked_sub(MAX_IMAGES).filter(|more| *more > 0) {
        all.notes.push(format!("And {more} more; `--format json` lists them all."));
    }
    Some(all)
}

/// The closing line.
fn summary(report: &Report, paint: Paint) -> String {
    let patches: usize = report.overlays.iter().map(|o| o.patches.len()).sum();
    let departures: usize = report.overlays.iter().map(OverlayReport::departures).sum();
    let undocumented: usize = report.overlays.iter().map(|o| o.undocumented.len()).sum();
    let mut facts = vec![
        counted(report.overlays.len(), "overlay", "overlays"),
        counted(patches, "patch", "patches"),
        counted(departures, "departure", "departures"),
    ];
    let added: usize = report.overlays.iter().map(|o| o.documents.added.len()).sum();
    if added > 0 {
        facts.push(format!("{} added", counted(added, "document", "documents")));
    }
    if undocumented > 0 {
        facts.push(format!("{undocumented} undocumented"));
    }
    for (severity, one, many) in [
        (Severity::Error, "error", "errors"),
        (Severity::Warning, "warning", "warnings"),
        (Severity::Note, "note", "notes"),
    ] {
        let count = report.count(severity);
        if count > 0 {
            facts.push(counted(count, one, many));
        }
    }
    let verdict = if report.ok { paint.good("ok") } else { paint.loud("not ok") };
    format!("{verdict}: {}", facts.join(", "))
}

/// A number of things.
pub(super) fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::diag::{Place, Source};
    use crate::report::{Added, sample};

    #[test]
    fn a_report_reads_from_base_to_verdict() {
        let wanted = "\
lab  overlays/lab
  base      net, example/net-agent at 0123456789ab: as locked
  kept      ConfigMap/kube-system/net-config
            Deployment.apps/web
  left out  ServiceAccount/kube-system/multus

  bindir  Tell the agent where the plugins are
    ConfigMap/kube-system/net-config, in /data/net.json
      + /binDir: \"/var/lib/cni\"

  pin  Pin the image
    Deployment.apps/web
      ~ /spec/template/spec/containers/[name=web]/image: \"web:1\" → \"web@sha256:77\"
        so it is
      - /spec/paused: true
      > /spec/order/[=b]: from index 1 to 0

  Claimed by no patch
    Deployment.apps/web
      ~ /spec/replicas: 1 → 2

error[undocumented-departure]: no patch claims that /spec/replicas of Deployment.apps/web differs
 --> base/net/net.yaml:2:1
  |
2 | spec: {replicas: 1}
  | ^^^^ upstream's value
  |
  = resource: Deployment.apps/web
  = path: /spec/replicas
  = help: write a patch for it, or take the change back

overlays/lab/patches/pin.yaml:2:1: note[unguarded]: a replace without `was:` overwrites whatever upstream has there (patch pin)

not ok: 1 overlay, 2 patches, 4 departures, 1 undocumented, 1 error, 1 note
";
        assert_eq!(text(&sample::report(), Dress::Plain), wanted);
    }

    #[test]
    fn colour_adds_nothing_but_colour() {
        let coloured = text(&sample::report(), Dress::Coloured);
        assert!(coloured.contains("\u{1b}["), "{coloured}");
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), text(&sample::report(), Dress::Plain));
    }

    #[test]
    fn values_of_a_file_are_shortened_and_safe() {
        let mut report = sample::report();
        let departure = &mut report.overlays[0].patches[0].departures[0];
        departure.after = Some(json!(format!("\u{1b}[2J{}\u{202e}", "ä".repeat(500))));
        departure.path = format!("/{}", "long".repeat(20));
        let shown = text(&report, Dress::Plain);
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
        let line = format!("          \"\\u001b[2J{}…{}\\u202E\"\n", "ä".repeat(26), "ä".repeat(33));
        assert!(shown.contains(&line), "{shown}");
    }

    #[test]
    fn a_whole_document_and_a_patch_without_effect_are_said_in_words() {
        let mut report = sample::report();
        let patches = &mut report.overlays[0].patches;
        patches[0].departures.clear();
        patches[1].departures.truncate(1);
        let departure = &mut patches[1].departures[0];
        *departure = Departure {
            change: ChangeKind::Remove,
            path: String::new(),
            before: Some(json!({"kind": "Deployment"})),
            after: None,
            ..departure.clone()
        };
        let shown = text(&report, Dress::Plain);
        assert!(shown.contains("are\n    changes nothing\n\n"), "{shown}");
        assert!(shown.contains("      - the document: {\"kind\":\"Deployment\"}\n"), "{shown}");
    }

    #[test]
    fn images_that_are_not_pinned_are_told_as_one_after_all_else() {
        let source = Source::new("base/net/net.yaml", "a: x:1\nb: x:2\nc: x:3\nd: x:4\ne: x:5\nf: x:6\ng: x:7\n");
        let image = |line: usize| {
            Diagnostic::new(Code::ImageNotPinned, format!("the image `x:{line}` is not pinned"))
                .at(Place::new(&source, line * 7 - 4..line * 7 - 1), "")
                .resource("Pod/a")
                .help("Pin it.")
        };
        let mut report = sample::report();
        report.overlays[0].findings.retain(|d| d.severity != Severity::Note);
        report.overlays[0].findings.splice(0..0, [image(1)]);
        let shown = text(&report, Dress::Plain);
        assert!(shown.contains("warning[image-not-pinned]: the image `x:1` is not pinned\n"), "{shown}");
        report.overlays[0].findings.splice(1..1, (2..=7).map(image));
        let shown = text(&report, Dress::Plain);
        let wanted = "\
warning[image-not-pinned]: 7 images are not pinned by a digest
 --> base/net/net.yaml:1:4
  |
1 | a: x:1
  |    ^^^
  |
  = resource: Pod/a
  = note: Also base/net/net.yaml:2: x:2
  = note: Also base/net/net.yaml:3: x:3
  = note: Also base/net/net.yaml:4: x:4
  = note: Also base/net/net.yaml:5: x:5
  = note: Also base/net/net.yaml:6: x:6
  = note: And 1 more; `--format json` lists them all.
  = help: Pin it.

not ok: 1 overlay, 2 patches, 4 departures, 1 undocumented, 1 error, 7 warnings
";
        assert!(shown.ends_with(wanted), "{shown}");
    }

    #[test]
    fn what_an_overlay_adds_is_named_with_its_file() {
        let mut report = sample::report();
        report.overlays[0].documents.added =
            vec![Added { resource: "Service/web".into(), file: "overlays/lab/web.yaml".into() }];
        let shown = text(&report, Dress::Plain);
        assert!(shown.contains("/multus\n  added     Service/web, overlays/lab/web.yaml\n\n"), "{shown}");
        assert!(shown.contains("4 departures, 1 document added, 1 undocumented"), "{shown}");
    }

    #[test]
    fn a_long_list_of_documents_is_counted() {
        let mut report = sample::report();
        report.overlays[0].documents.left_out = (0..30).map(|n| format!("ConfigMap/c{n}")).collect();
        let shown = text(&report, Dress::Plain);
        assert!(shown.contains("            ConfigMap/c23\n            and 6 more\n"), "{shown}");
    }
}
