//! The committed result of an overlay, held against what the build gives.
//!
//! Its bytes must be the build's. Where they are not, the two are compared as documents, so that a person is told what
//! the file says otherwise and not which of its lines moved.

use std::sync::Arc;

use super::against::place_after;
use super::overlay::{shown_path, told};
use crate::compare::Compared;
use crate::config::{self, Findings};
use crate::diag::visible::shortened;
use crate::diag::{Code, Diagnostic, Place, Source};
use crate::layer::manifest;
use crate::layer::overlay::Overlay;
use crate::report::{Departure, OverlayReport, Rendered, RenderedState};

/// How many departures the finding names; the report has all of them.
const MAX_TOLD: usize = 8;

/// How many characters of a line are quoted.
const MAX_LINE: usize = 80;

/// Holds the committed bytes against the build's text, and adds what is to be said to the overlay's report.
/// `committed` is `None` where there is no such file yet.
pub fn check(overlay: &Overlay, built: &str, committed: Option<&[u8]>, out: &mut OverlayReport) {
    let Some(reference) = &overlay.rendered else { return };
    let file = reference.file.name.clone();
    let named = Place::new(&overlay.source, reference.written.span.clone());
    let mut rendered = Rendered { file, state: RenderedState::Stale, departures: Vec::new() };
    match committed {
        Some(bytes) if bytes == built.as_bytes() => rendered.state = RenderedState::Current,
        Some(bytes) => {
            let (finding, departures) = stale(&rendered.file, bytes, built);
            rendered.departures = departures;
            let help = format!(
                "Run `overlay verify {} --fix-rendered` to write it anew. What should stay belongs in a patch: `overlay verify {} --against {}` says what no patch explains.",
                overlay.folder.name, overlay.folder.name, rendered.file
            );
            out.findings.push(finding.related(named, "named here").help(help));
        }
        None => {
            rendered.state = RenderedState::Missing;
            let message = format!("{} is not there, and `rendered` names it as the committed result", rendered.file);
            let help = format!("Run `overlay verify {} --fix-rendered`, and commit the file.", overlay.folder.name);
            out.findings.push(Diagnostic::new(Code::RenderedStale, message).at(named, "named here").help(help));
        }
    }
    out.rendered = Some(rendered);
}

/// What is said of a file that has other bytes than the build, and what it says otherwise.
fn stale(name: &str, bytes: &[u8], built: &str) -> (Diagnostic, Vec<Departure>) {
    let mut findings = Findings::new();
    let read = findings.keep(config::source(name, bytes.to_vec())).and_then(|file| {
        let committed = manifest::read(&file, &mut findings)?;
        let built = manifest::read(&Source::new("the result", built), &mut findings)?;
        Some((file, built, committed))
    });
    let Some((file, before, after)) = read else {
        let why = findings.into_vec().into_iter().next();
        return (unreadable(name, why), Vec::new());
    };
    let compared = Compared::new(&before, &after);
    let finding = says_otherwise(&file, &compared).unwrap_or_else(|| other_layout(&file, built));
    (finding, compared.pairings.iter().flat_map(|pairing| compared.departures(pairing)).collect())
}

fn unreadable(name: &str, why: Option<Diagnostic>) -> Diagnostic {
    let why = why.unwrap_or_else(|| Diagnostic::new(Code::Syntax, format!("{name} cannot be read")));
    let finding = Diagnostic::new(Code::RenderedStale, format!("{}, and is not what the build gives", why.message));
    match why.place {
        Some(place) => finding.at(place, why.label),
        None => finding,
    }
}

/// The finding about all differences, at the place of the first; `None` where there are none.
fn says_otherwise(file: &Arc<Source>, compared: &Compared<'_>) -> Option<Diagnostic> {
    let all: Vec<_> = compared.pairings.iter().flat_map(|p| p.differences.iter().map(move |d| (p, d))).collect();
    let (pairing, first) = all.first()?;
    let count = if all.len() == 1 { "in one place".to_owned() } else { format!("in {} places", all.len()) };
    let message = format!("{} does not say what the build gives, {count}", file.name);
    let place = compared.after(pairing).and_then(|entry| entry.place(file, &place_after(first)));
    let finding = Diagnostic::new(Code::RenderedStale, message);
    let label = if pairing.after.is_some() { "not as built" } else { "a document is lacking" };
    let mut finding = finding.at(place.unwrap_or_else(|| Place::new(file, 0..0)), label);
    for (pairing, difference) in all.iter().take(MAX_TOLD) {
        let what = match (pairing.before, pairing.after) {
            (Some(_), None) => "is left out".to_owned(),
            (None, Some(_)) => "is added".to_owned(),
            _ => format!("{}: {}", shown_path(difference), told(difference)),
        };
        finding = finding.note(format!("{} {what}.", compared.resource(pairing)));
    }
    let more = all.len().saturating_sub(MAX_TOLD);
    Some(if more > 0 { finding.note(format!("There are {more} more.")) } else { finding })
}

/// The finding about a file that means what the build gives in other bytes.
fn other_layout(file: &Arc<Source>, built: &str) -> Diagnostic {
    let shared = file.text.bytes().zip(built.bytes()).take_while(|(a, b)| a == b).count();
    let at = file.text.floor_char_boundary(shared);
    let place = Place::new(file, at..at);
    let message = format!("{} means what the build gives, in other bytes from line {} on", file.name, place.line());
    let quoted = |text: &str| {
        let start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |feed| feed + 1);
        let line = text.get(start..).and_then(|rest| rest.split_inclusive('\n').next());
        line.map_or_else(|| "nothing more".to_owned(), |line| format!("`{}`", shortened(line, MAX_LINE)))
    };
    Diagnostic::new(Code::RenderedStale, message).at(place, "here it begins").note(format!(
        "The build has {} there, and the file {}.",
        quoted(built),
        quoted(&file.text)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUILT: &str =
        "kind: A\nmetadata:\n  name: a\ndata:\n  x: one\n  z: two\n---\nkind: B\nmetadata:\n  name: b\n";

    /// The message, line and notes of the finding, and the departures' paths.
    fn told_of(committed: &[u8]) -> (String, Option<usize>, Vec<String>, Vec<String>) {
        let (finding, departures) = stale("out.yaml", committed, BUILT);
        let line = finding.place.as_ref().map(Place::line);
        (finding.message, line, finding.notes, departures.into_iter().map(|d| d.path).collect())
    }

    #[test]
    fn what_the_file_says_otherwise_is_told_by_path() {
        let edited = BUILT.replace("two", "three").replace("kind: B", "kind: C");
        let (message, line, notes, paths) = told_of(edited.as_bytes());
        assert_eq!(message, "out.yaml does not say what the build gives, in 3 places");
        assert_eq!(line, Some(6));
        assert_eq!(notes, ["A/a /data/z: \"three\" instead of \"two\".", "B/b is left out.", "C/b is added."]);
        assert_eq!(paths, ["/data/z", "", ""]);
    }

    #[test]
    fn other_bytes_of_the_same_meaning_are_told_by_their_first_line() {
        let (message, line, notes, paths) = told_of(BUILT.replace("one", "'one'").as_bytes());
        assert_eq!(message, "out.yaml means what the build gives, in other bytes from line 5 on");
        assert_eq!((line, paths.len()), (Some(5), 0));
        assert_eq!(notes, [r"The build has `  x: one\n` there, and the file `  x: 'one'\n`."]);
        let (_, line, notes, _) = told_of(BUILT.trim_end().as_bytes());
        assert_eq!(line, Some(10));
        assert_eq!(notes, [r"The build has `  name: b\n` there, and the file `  name: b`."]);
        let (_, line, notes, _) = told_of(format!("{BUILT}# more\n").as_bytes());
        assert_eq!(line, Some(11));
        assert_eq!(notes, [r"The build has nothing more there, and the file `# more\n`."]);
        let (_, line, notes, _) = told_of(BUILT.replace('\n', "\r\n").as_bytes());
        assert_eq!(line, Some(1));
        assert_eq!(notes, [r"The build has `kind: A\n` there, and the file `kind: A\r\n`."]);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_stale_at_the_byte_where_that_shows() {
        let (message, line, _, _) = told_of(b"kind: A\nx: [\n");
        assert_eq!(message, "out.yaml cannot be read as YAML, and is not what the build gives");
        assert_eq!(line, Some(2));
        let (message, line, _, _) = told_of(b"kind: A\nx: \xff\n");
        assert_eq!(message, "out.yaml is not UTF-8, and is not what the build gives");
        assert_eq!(line, Some(2));
    }

    #[test]
    fn many_differences_are_counted() {
        let one = |value: &str| (0..20).map(|n| format!("  k{n}: {value}\n")).collect::<Vec<_>>().concat();
        let built = format!("kind: A\ndata:\n{}", one("x"));
        let (finding, departures) = stale("out.yaml", format!("kind: A\ndata:\n{}", one("y")).as_bytes(), &built);
        assert_eq!((finding.notes.len(), departures.len()), (9, 20));
        assert_eq!(finding.notes[8], "There are 12 more.");
    }
}
