//! The result with comments in it, as `overlay build --annotate` prints it: a header that lists bases and patches with
//! their reasons, and above each line that a patch changes the name of the patch.
//!
//! Lines are added and none is changed. A comment that stands there already is not written again.

use super::{BaseReport, OverlayReport, PatchReport};
use crate::diag::visible::visible;

/// A comment at one departure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The first byte of the line that it goes above.
    pub at: usize,
    /// The name of the patch.
    pub patch: String,
    /// Where the departure is, from what begins on that line; empty where that itself departs.
    pub path: String,
    /// Whether the result lacks what upstream has there.
    pub is_gone: bool,
    /// What the operation says of the place.
    pub note: Option<String>,
}

/// What each comment at a departure begins with, and the header too.
const MARK: &str = "# overlay: ";

const BOM: char = '\u{feff}';

/// Whether a text begins with a header for the overlay of that name.
pub fn is_annotated(text: &str, overlay: &str) -> bool {
    text.trim_start_matches(BOM).starts_with(&title(overlay))
}

/// The result with a header and the comments. Where there is none to add and a header is there already, it stays as it is.
pub fn annotated(result: &str, overlay: &OverlayReport, annotations: &[Annotation]) -> String {
    let start = result.len() - result.trim_start_matches(BOM).len();
    let mut annotations: Vec<&Annotation> = annotations.iter().collect();
    annotations.sort_by_key(|annotation| annotation.at);
    let mut out = String::with_capacity(result.len() + 4096);
    out.push_str(result.get(..start).unwrap_or_default());
    let header = header(overlay, line_break(result, start));
    let has_header = result.get(start..).is_some_and(|text| text.starts_with(&header));
    let is_own_output = annotations.is_empty() && is_annotated(result, &overlay.name);
    if !(has_header || is_own_output) {
        out.push_str(&header);
    }
    let mut written = start;
    for group in annotations.chunk_by(|a, b| a.at == b.at) {
        let at = group.first().map_or(written, |annotation| annotation.at.max(start));
        out.push_str(result.get(written..at).unwrap_or_default());
        written = at;
        let mut there: Vec<String> = comments_above(result, at).map(str::to_owned).collect();
        let line = result.get(at..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let indent = line.get(..line.len() - line.trim_start_matches(' ').len()).unwrap_or_default();
        for comment in group.iter().map(|annotation| annotation.comment()) {
            if there.contains(&comment) {
                continue;
            }
            for part in [indent, &comment, line_break(result, at)] {
                out.push_str(part);
            }
            there.push(comment);
        }
    }
    out.push_str(result.get(written..).unwrap_or_default());
    out
}

impl Annotation {
    fn comment(&self) -> String {
        let mut comment = format!("{MARK}{}", self.patch);
        if !self.path.is_empty() {
            comment.push_str(if self.is_gone { ", without " } else { ", at " });
            comment.push_str(&self.path);
        }
        if let Some(note) = &self.note {
            comment.push_str(": ");
            comment.push_str(note);
        }
        safe(&comment)
    }
}

/// A text as it can stand in a comment, on one line. Beside what acts on a terminal, YAML forbids two characters
/// (YAML 1.2.2, 5.1), and some programs cut a manifest at any `---`.
fn safe(text: &str) -> String {
    let mut safe = visible(text.trim_end()).into_owned();
    while safe.contains("---") {
        safe = safe.replace("---", "--");
    }
    safe
}

/// The comments that stand directly above a line, without what they are indented by.
fn comments_above(text: &str, at: usize) -> impl Iterator<Item = &str> {
    let above = text.get(..at).unwrap_or_default().lines().rev();
    above.map(str::trim).take_while(|line| line.starts_with('#'))
}

/// How the line at a byte ends; a last line without an end, as the first line of the text does.
fn line_break(text: &str, at: usize) -> &'static str {
    let end_of = |from: usize| text.get(from..).and_then(|rest| rest.split_inclusive('\n').next());
    let ended = |line: &&str| line.ends_with('\n');
    let line = end_of(at).filter(ended).or_else(|| end_of(0).filter(ended));
    if line.is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" }
}

/// The first line of the header.
fn title(overlay: &str) -> String {
    safe(&format!("{MARK}{overlay}, by `overlay build --annotate`"))
}

fn header(overlay: &OverlayReport, line_break: &str) -> String {
    let mut lines = vec![title(&overlay.name)];
    let mut line = |depth: usize, text: &str| {
        let text = safe(text);
        lines.push(if text.is_empty() { "#".to_owned() } else { format!("# {}{text}", "  ".repeat(depth)) });
    };
    overlay.description.trim_end().lines().for_each(|text| line(0, text));
    for base in &overlay.bases {
        line(0, "");
        header_of_base(base, &mut line);
    }
    let documents = &overlay.documents;
    if !documents.left_out.is_empty() || !documents.added.is_empty() {
        line(0, "");
    }
    for left_out in &documents.left_out {
        line(0, &format!("Left out of upstream's: {left_out}"));
    }
    for added in &documents.added {
        line(0, &format!("Added: {}, from {}", added.resource, added.file));
    }
    line(0, "");
    line(0, "The comments that begin with `overlay:` name the patch that changes what is below them. The patches:");
    for patch in &overlay.patches {
        line(0, "");
        header_of_patch(patch, &mut line);
    }
    lines.push(String::new());
    lines.iter().flat_map(|line| [line.as_str(), line_break]).collect()
}

fn header_of_base(base: &BaseReport, line: &mut impl FnMut(usize, &str)) {
    let gap = if base.source.is_empty() { "" } else { ": " };
    line(0, &format!("Base {}{gap}{}", base.name, base.source));
    for file in &base.files {
        line(1, &format!("{}, sha256 {}", file.file, file.sha256));
    }
}

fn header_of_patch(patch: &PatchReport, line: &mut impl FnMut(usize, &str)) {
    line(0, &format!("{}: {}", patch.name, patch.summary));
    patch.why.trim_end().lines().for_each(|text| line(1, text));
    patch.evidence.iter().for_each(|evidence| line(1, &format!("evidence: {evidence}")));
    for departure in patch.departures.iter().filter(|departure| departure.is_whole_document()) {
        line(1, &format!("leaves out: {}", departure.resource));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULT: &str = "kind: A\nmetadata:\n  # upstream's\n  name: a\n  labels: {x: y}";

    fn overlay() -> OverlayReport {
        let why = "Because.\n\nAnd\u{2028}so --- on.\n".to_owned();
        let patch = PatchReport { name: "p".into(), summary: "Sum".into(), why, ..PatchReport::default() };
        OverlayReport { name: "lab".into(), patches: vec![patch], ..OverlayReport::default() }
    }

    fn at(line: &str, path: &str, note: Option<&str>) -> Annotation {
        let at = RESULT.find(line).unwrap();
        Annotation { at, patch: "p".into(), path: path.into(), is_gone: false, note: note.map(str::to_owned) }
    }

    const HEADER: &str = "# overlay: lab, by `overlay build --annotate`\n#\n\
         # The comments that begin with `overlay:` name the patch that changes what is below them. The patches:\n#\n\
         # p: Sum\n#   Because.\n#\n#   And\\u2028so -- on.\n\n";

    #[test]
    fn comments_stand_above_their_lines_and_each_once() {
        let annotations = [at("  labels", "/x", Some("so\nit is")), at("  name", "", None), at("  name", "", None)];
        let out = annotated(RESULT, &overlay(), &annotations);
        let body = "kind: A\nmetadata:\n  # upstream's\n  # overlay: p\n  name: a\n\
             \u{20} # overlay: p, at /x: so\\nit is\n  labels: {x: y}";
        assert_eq!(out, format!("{HEADER}{body}"));
    }

    #[test]
    fn what_is_there_already_is_not_written_again() {
        let once = annotated(RESULT, &overlay(), &[at("  name", "", None)]);
        let again = Annotation { at: once.find("  name").unwrap(), ..at("  name", "", None) };
        assert_eq!(annotated(&once, &overlay(), &[again]), once);
        let other = OverlayReport { patches: Vec::new(), ..overlay() };
        assert_eq!(annotated(&once, &other, &[]), once);
    }

    #[test]
    fn a_bom_stays_first_and_carriage_returns_stay() {
        let text = "\u{feff}kind: A\r\n";
        let first = Annotation { at: 0, ..at("kind", "", None) };
        let out = annotated(text, &overlay(), &[first]);
        assert_eq!(out, format!("\u{feff}{}# overlay: p\r\nkind: A\r\n", HEADER.replace('\n', "\r\n")));
    }
}
