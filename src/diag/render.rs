//! Text of diagnostics, for a terminal or a log: code, message, the file's line with a caret, the patch, the resource,
//! what to do next. Everything that comes from a file is shown through [`visible`]. Nothing here prints.

use std::fmt::Write as _;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::secret::{MASK, secrets};
use super::visible::{push_visible, visible};
use super::{Diagnostic, Place, Severity};

/// How text is dressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dress {
    /// Characters only.
    Plain,
    /// With ANSI colours.
    Coloured,
}

/// How much of a file's line is shown, in characters of the file.
const LINE_WIDTH: usize = 120;

/// How much of that stands in front of the caret when a line is cut.
const LEAD_WIDTH: usize = 40;

/// Stands for a view's file until the text is drawn. The drawing counts columns in the text that it is given, which is
/// cut and written out; so positions are put in afterwards. No text of ours can have this character: it is hidden.
const PLACE_MARK: &str = "\u{1}";

/// How many other places one diagnostic shows; the rest are counted.
const MAX_RELATED: usize = 8;

/// The whole diagnostic, ending with a line feed. Costs at most one scan of each file that it points into.
pub fn full(diagnostic: &Diagnostic, dress: Dress) -> String {
    let related = diagnostic.related.iter().map(|(place, label)| (place, label.as_str(), AnnotationKind::Context));
    let primary = diagnostic.place.iter().map(|p| (p, diagnostic.label.as_str(), AnnotationKind::Primary));
    let views: Vec<View> = primary.chain(related.take(MAX_RELATED)).map(|(p, l, kind)| View::new(p, l, kind)).collect();
    let title = level(diagnostic.severity).primary_title(visible(&diagnostic.message)).id(diagnostic.code.as_str());
    let mut group = Group::with_title(title);
    for view in &views {
        let label = Some(view.label.as_str()).filter(|l| !l.is_empty());
        let annotation = view.kind.span(view.span.clone()).label(label);
        let snippet = Snippet::source(view.text.as_str()).path(PLACE_MARK).line_start(view.line);
        group = group.element(snippet.annotation(annotation));
    }
    for (name, fact) in facts(diagnostic) {
        group = group.element(Level::NOTE.with_name(name).message(fact));
    }
    for help in &diagnostic.help {
        group = group.element(Level::HELP.message(visible(help)));
    }
    let mut text = renderer(dress).render(&[group]);
    for view in &views {
        text = text.replacen(&view.shown_position(), &view.position, 1);
    }
    text.push('\n');
    text
}

/// One line, ending with a line feed: `file:line:column: severity[code]: message (patch NAME)`.
pub fn short(diagnostic: &Diagnostic) -> String {
    let mut line = String::new();
    if let Some(place) = &diagnostic.place {
        let (row, column) = place.line_column();
        // Writing to a `String` cannot fail, here and below.
        let _ = write!(line, "{}:{row}:{column}: ", visible(&place.source.name));
    }
    let _ = write!(line, "{}[{}]: {}", diagnostic.severity, diagnostic.code, visible(&diagnostic.message));
    if let Some(patch) = &diagnostic.patch {
        let _ = write!(line, " (patch {})", visible(patch));
    }
    line.push('\n');
    line
}

/// What is known beside the message, in the order that it is read.
fn facts(diagnostic: &Diagnostic) -> Vec<(&'static str, String)> {
    let named = [("patch", &diagnostic.patch), ("resource", &diagnostic.resource), ("path", &diagnostic.path)];
    let mut facts: Vec<_> =
        named.into_iter().filter_map(|(name, fact)| Some((name, visible(fact.as_ref()?).into_owned()))).collect();
    facts.extend(diagnostic.notes.iter().map(|note| ("note", visible(note).into_owned())));
    if let Some(more) = diagnostic.related.len().checked_sub(MAX_RELATED).filter(|more| *more > 0) {
        facts.push(("note", format!("and {more} more such places")));
    }
    facts
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    }
}

fn renderer(dress: Dress) -> Renderer {
    match dress {
        Dress::Plain => Renderer::plain(),
        Dress::Coloured => Renderer::styled().hyperlink(false),
    }
}

/// What is shown of one place: its line, cut round the caret and made visible.
struct View {
    /// `file:line:column`.
    position: String,
    line: usize,
    text: String,
    /// The bytes of `text` under the caret.
    span: Range<usize>,
    label: String,
    kind: AnnotationKind,
}

impl View {
    fn new(place: &Place, label: &str, kind: AnnotationKind) -> View {
        let (line, column) = place.line_column();
        let (text, span) = cut(&place.source.text, place.span.clone());
        let position = format!("{}:{line}:{column}", visible(&place.source.name));
        View { position, line, text, span, label: visible(label).into_owned(), kind }
    }

    /// The position as it is drawn from the shown text.
    fn shown_position(&self) -> String {
        let column = self.text.get(..self.span.start).map_or(0, |before| before.chars().count()) + 1;
        format!("{PLACE_MARK}:{}:{column}", self.line)
    }
}

/// The line of `text` that `span` starts in, at most [`LINE_WIDTH`] characters of it, made visible; and where the span
/// lies in that. A span that goes on behind the line ends with it.
fn cut(text: &str, span: Range<usize>) -> (String, Range<usize>) {
    let start = floor_boundary(text, span.start);
    let bytes = text.as_bytes();
    let line_start = memchr::memrchr(b'\n', &bytes[..start]).map_or(0, |at| at + 1);
    let line_end = memchr::memchr(b'\n', &bytes[start..]).map_or(text.len(), |at| start + at);
    let line_end = if line_end > start && bytes[line_end - 1] == b'\r' { line_end - 1 } else { line_end };
    let end = floor_boundary(text, span.end).clamp(start, line_end.max(start));

    let fits = text[line_start..line_end.max(start)].chars().nth(LINE_WIDTH).is_none();
    let lead = if fits { usize::MAX } else { LEAD_WIDTH };
    let from = text[line_start..start].char_indices().rev().take(lead).last().map_or(start, |(at, _)| line_start + at);
    let room = LINE_WIDTH - if fits { 0 } else { text[from..start].chars().count() };
    let to =
        text[start..line_end.max(start)].char_indices().nth(room).map_or(line_end.max(start), |(at, _)| start + at);

    let hidden: Vec<_> = secrets(&text[line_start..line_end.max(start)])
        .iter()
        .map(|s| line_start + s.start..line_start + s.end)
        .collect();
    let mut out = String::new();
    if from > line_start {
        out.push('…');
    }
    push_all(&mut out, text, from..start, &hidden);
    let shown_start = out.len();
    push_all(&mut out, text, start..end.min(to), &hidden);
    let shown_end = out.len();
    push_all(&mut out, text, end.min(to)..to, &hidden);
    if to < line_end {
        out.push('…');
    }
    (out, shown_start..shown_end)
}

/// Adds a stretch of the text, with a mask in the place of what is `hidden`.
fn push_all(out: &mut String, text: &str, stretch: Range<usize>, hidden: &[Range<usize>]) {
    for (at, c) in text[stretch.clone()].char_indices() {
        let at = stretch.start + at;
        match hidden.iter().find(|secret| secret.contains(&at)) {
            Some(secret) if secret.start == at => out.push_str(MASK),
            Some(_) => {}
            None => push_visible(out, c),
        }
    }
}

/// The character boundary at or before a byte offset.
fn floor_boundary(text: &str, offset: usize) -> usize {
    text.floor_char_boundary(offset.min(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Code, Source};

    /// A finding at the first `needle` of a text.
    fn at(text: &str, needle: &str) -> Diagnostic {
        let start = text.find(needle).unwrap();
        let source = Source::new("patches/bindir.yaml", text);
        Diagnostic::new(Code::PathMissing, "nothing is at /binDri")
            .at(Place::new(&source, start..start + needle.len()), "no such key")
    }

    #[test]
    fn everything_a_diagnostic_knows_is_shown() {
        let base = Source::new("base/multus.yaml", "a: 1\nbinDir: x\n");
        let diagnostic = at("kind: Patch\nchanges:\n  - path: /binDri\n", "/binDri")
            .related(Place::new(&base, 5..11), "this key is there")
            .patch("bindir")
            .resource("ConfigMap/kube-system/multus-daemon-config")
            .path("/binDri")
            .note("the mapping has the keys binDir and logLevel")
            .help("did you mean /binDir?");
        assert_eq!(
            full(&diagnostic, Dress::Plain),
            "\
error[path-missing]: nothing is at /binDri
 --> patches/bindir.yaml:3:11
  |
3 |   - path: /binDri
  |           ^^^^^^^ no such key
  |
 ::: base/multus.yaml:2:1
  |
2 | binDir: x
  | ------ this key is there
  |
  = patch: bindir
  = resource: ConfigMap/kube-system/multus-daemon-config
  = path: /binDri
  = note: the mapping has the keys binDir and logLevel
  = help: did you mean /binDir?
"
        );
        assert_eq!(
            short(&diagnostic),
            "patches/bindir.yaml:3:11: error[path-missing]: nothing is at /binDri (patch bindir)\n"
        );
    }

    #[test]
    fn colour_adds_nothing_but_colour() {
        let base = Source::new("base/multus.yaml", "binDir: x\n");
        let finding = at("\u{7}path: /binDri", "/binDri").related(Place::new(&base, 0..6), "there").note("n").help("h");
        let coloured = full(&finding, Dress::Coloured);
        assert_ne!(coloured, full(&finding, Dress::Plain));
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), full(&finding, Dress::Plain));
    }

    #[test]
    fn a_password_in_an_address_is_shown_in_no_part_of_a_finding() {
        let address = "https://bob:pa/ssw0rd@example.org/a";
        let said = format!("not `{address}`");
        let long = format!("url: {address}{}\n", "x".repeat(200));
        for text in [format!("url: {address}\n"), long] {
            let other = Source::new("b.yaml", text.clone());
            let finding = Diagnostic { message: String::new(), ..at(&text, address) };
            let place = finding.place.unwrap();
            let finding =
                Diagnostic::new(Code::Syntax, &said).at(place, &said).related(Place::new(&other, 20..30), &said);
            let finding = finding.note(&said).help(&said);
            for told in [full(&finding, Dress::Plain), short(&finding), format!("{:?}", finding.notes)] {
                assert!(!told.contains("ssw0rd") && told.contains("https://***@example.org/a"), "{told}");
            }
        }
    }

    #[test]
    fn a_finding_without_a_place_has_no_arrow() {
        let diagnostic = Diagnostic::new(Code::ResultEmpty, "no document would be left").help("keep one");
        let text = "error[result-empty]: no document would be left\n |\n = help: keep one\n";
        assert_eq!(full(&diagnostic, Dress::Plain), text);
        assert_eq!(short(&diagnostic), "error[result-empty]: no document would be left\n");
    }

    #[test]
    fn nothing_of_a_file_reaches_the_terminal_raw() {
        let bad = "\u{1b}]0;x\u{7}\r\u{9b}\u{7f}\u{202e}";
        let base = Source::new(format!("{bad}.yaml"), format!("{bad}: x\n"));
        let mut diagnostic = at(&format!("{bad}: needle\n"), "needle").related(Place::new(&base, 0..3), bad);
        diagnostic = diagnostic.patch(bad).resource(bad).path(bad).note(bad).help(bad);
        diagnostic.label = bad.into();
        diagnostic.message = format!("{bad}\nerror: forged");
        for text in [full(&diagnostic, Dress::Plain), short(&diagnostic)] {
            let raw: Vec<char> = text.chars().filter(|c| crate::diag::visible::is_hidden(*c) && *c != '\n').collect();
            assert!(raw.is_empty(), "{raw:?} in {text}");
            assert!(!text.contains("\nerror: forged"), "{text}");
        }
        let coloured = full(&diagnostic, Dress::Coloured);
        assert!(!coloured.contains("\u{1b}]"), "{coloured}");
    }

    #[test]
    fn the_position_counts_the_characters_of_the_file_and_not_of_what_is_shown() {
        let text = full(&at("\u{202e}\u{7}é: needle\r\n", "needle"), Dress::Plain);
        assert!(text.contains("patches/bindir.yaml:1:6\n"), "{text}");
        assert!(text.contains("1 | \\u202E\\x07é: needle\n  |              ^^^^^^ no such key\n"), "{text}");
    }

    #[test]
    fn a_long_line_is_cut_round_the_caret() {
        let text = full(&at(&format!("{}needle{}", "ä".repeat(5000), "b".repeat(5000)), "needle"), Dress::Plain);
        assert!(text.contains("bindir.yaml:1:5001\n"), "{text}");
        let shown = text.lines().nth(3).unwrap();
        assert_eq!(shown, format!("1 | …{}needle{}…", "ä".repeat(40), "b".repeat(74)));
        assert_eq!(text.lines().nth(4).unwrap(), format!("  | {}^^^^^^ no such key", " ".repeat(41)));
    }

    #[test]
    fn a_span_over_lines_ends_with_its_first() {
        let text = full(&at("a:\r\n  b: 1\r\n  c: 2\r\n", "b: 1\r\n  c: 2"), Dress::Plain);
        assert!(text.contains("2 |   b: 1\n  |   ^^^^ no such key\n"), "{text}");
    }

    #[test]
    fn spans_at_the_edges_are_drawn() {
        let source = |text: &str| Source::new("f", text);
        for (text, span) in [("", 0..0), ("a", 1..1), ("a\n", 2..2), ("a\r\n", 1..3), ("é", 1..1), ("\n\n", 1..1)] {
            let diagnostic = Diagnostic::new(Code::Syntax, "m").at(Place::new(&source(text), span.clone()), "here");
            let drawn = full(&diagnostic, Dress::Plain);
            assert!(drawn.contains("^ here") && drawn.contains(" --> f:"), "{text:?} {span:?}\n{drawn}");
        }
    }

    #[test]
    fn places_beyond_the_eighth_are_counted() {
        let mut diagnostic = at("a\nb\n", "a");
        for _ in 0..10 {
            let place = diagnostic.place.clone().unwrap();
            diagnostic = diagnostic.related(place, "again");
        }
        let text = full(&diagnostic, Dress::Plain);
        assert_eq!(text.matches(" ::: ").count(), 8);
        assert!(text.contains("= note: and 2 more such places\n"), "{text}");
    }

    #[test]
    fn many_findings_in_a_big_file_cost_one_index() {
        let source = Source::new("big", "key: value\n".repeat(1_000_000));
        let started = std::time::Instant::now();
        for at in 0..900 {
            let diagnostic =
                Diagnostic::new(Code::Syntax, "m").at(Place::new(&source, 10_999_000 + at..10_999_000 + at), "");
            assert!(full(&diagnostic, Dress::Plain).contains(" big:9999"));
        }
        assert!(started.elapsed() < std::time::Duration::from_secs(20), "{:?}", started.elapsed());
    }
}
