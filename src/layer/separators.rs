//! Where kubectl cuts a manifest into documents, and whether that is where we cut it.
//!
//! kubectl (`k8s.io/apimachinery/pkg/util/yaml`, `YAMLReader` and `YAMLOrJSONDecoder`) goes by lines that end with a line
//! feed. A line that begins with `---` separates, and may hold nothing else but a comment. Each piece is then read by
//! itself, and of a piece only the first YAML document counts. A stream that begins with `{` is taken for JSON values.
//! A manifest that kubectl would cut in another way than `yaml::stream`, or not at all, is refused: documents that only
//! one of the two sees could be patched, proven and never applied, or the other way round. That is asked of each file, and
//! once more of what a build put together from them.

use std::sync::Arc;

use memchr::{memchr_iter, memmem};

use super::manifest::is_json;
use crate::diag::{Code, Diagnostic, Place, Source};
use crate::yaml::stream::{self, Piece};
use crate::yaml::tree::Bytes;

/// What keeps kubectl from reading a manifest, cut into `pieces`, as it is read here, if anything does.
pub fn check(source: &Arc<Source>, pieces: &[Piece]) -> Option<Diagnostic> {
    let (at, fault) = first_fault(&source.text, pieces)?;
    Some(unreadable(&source.name, fault).at(Place::new(source, at), fault.label()))
}

/// What keeps kubectl from reading documents that were put one behind the other, if anything does. `place` says where in
/// its file a stretch of the whole comes from.
pub fn check_joined(text: &str, place: impl FnOnce(Bytes) -> Option<Place>) -> Option<Diagnostic> {
    let (at, fault) = first_fault(text, &stream::split(text))?;
    let finding = unreadable("the result", fault);
    Some(match place(at) {
        Some(place) => finding.at(place, fault.label()),
        None => finding.note(fault.label()),
    })
}

/// A document of a file that was looked at, as it stands in a result.
pub struct Standing<'t> {
    /// Its text now.
    pub text: &'t str,
    /// Whether that is not the file's.
    pub is_edited: bool,
    /// Whether it is more than comments.
    pub has_content: bool,
}

/// Whether all documents of one file, some of them edited, are certainly cut by kubectl as they are here. Only those that were
/// edited are looked at, each between the documents next to it: what is before and behind them is as it was when the file
/// was looked at. Where it is not certain, [`check_joined`] tells.
pub fn hold_together(documents: &[Standing<'_>]) -> bool {
    if documents.first().is_some_and(|first| begins_like_json(first.text).is_some()) {
        return false;
    }
    let mut looked = 0;
    for (number, document) in documents.iter().enumerate() {
        if !document.is_edited || number < looked {
            continue;
        }
        let is_end = |document: &Standing<'_>| document.has_content && !document.is_edited;
        let before = documents.get(..number).unwrap_or_default().iter().rposition(is_end).unwrap_or(0);
        let behind = documents.get(number + 1..).unwrap_or_default();
        let end = behind.iter().position(is_end).map_or(documents.len(), |next| number + 2 + next);
        let around = documents.get(before..end).unwrap_or_default();
        let text: String = around.iter().map(|document| document.text).collect();
        let line_ends = around.split_last().is_none_or(|(_, rest)| rest.iter().all(|d| d.text.ends_with('\n')));
        let is_marked = before == 0 || text.starts_with("---");
        if !line_ends || !is_marked || first_fault(&text, &stream::split(&text)).is_some() {
            return false;
        }
        looked = end;
    }
    true
}

/// The first thing that kubectl does not take as it is meant, and the rest of its line.
fn first_fault(text: &str, pieces: &[Piece]) -> Option<(Bytes, Fault)> {
    if is_json(text) {
        return None;
    }
    let faults = [
        begins_like_json(text),
        line_of_dashes(text),
        carriage_return(text),
        end_of_nothing(text),
        piece(text, pieces),
    ];
    let (at, fault) = faults.into_iter().flatten().min_by_key(|(at, _)| *at)?;
    let line_end = text.get(at..)?.find(['\n', '\r']).map_or(text.len(), |end| at + end);
    Some((at..line_end, fault))
}

/// What keeps kubectl from reading documents of JSON with others behind them.
pub fn json_before_others(source: &Arc<Source>) -> Option<Diagnostic> {
    let fault = Fault::JsonAmongOthers;
    is_json(&source.text).then(|| unreadable(&source.name, fault).at(Place::new(source, 0..0), fault.label()))
}

#[derive(Clone, Copy)]
enum Fault {
    /// It begins with `{` and is no JSON.
    BeginsLikeJson,
    /// JSON values with YAML behind them.
    JsonAmongOthers,
    /// A line begins with `---` and goes on.
    MoreThanDashes,
    /// A marker stands behind a carriage return alone.
    CarriageReturn,
    /// A document begins behind `...`.
    BehindEnd,
    /// A `...` with no document before it.
    EndOfNothing,
    /// A directive stands before a document.
    Directive,
}

impl Fault {
    fn label(self) -> &'static str {
        match self {
            Fault::BeginsLikeJson | Fault::JsonAmongOthers => "kubectl takes a stream that begins like this for JSON",
            Fault::MoreThanDashes => "kubectl allows nothing but a comment behind these dashes",
            Fault::CarriageReturn => "kubectl sees no line end before this",
            Fault::BehindEnd => "kubectl never reads what stands between `...` and the next `---`",
            Fault::EndOfNothing => "kubectl reads nothing where a `...` ends no document",
            Fault::Directive => "kubectl cuts this off from its document, and cannot read it",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Fault::BeginsLikeJson => "Write `---` in a line before it.",
            Fault::JsonAmongOthers => "Write its documents as YAML, or put it behind the others.",
            Fault::MoreThanDashes => "Put what follows on the next line; in a text, indent the line.",
            Fault::CarriageReturn => "End lines with a line feed, or with both.",
            Fault::BehindEnd => "Write `---` where the document begins.",
            Fault::EndOfNothing => "Leave this line out.",
            Fault::Directive => "Leave the directive out.",
        }
    }
}

fn unreadable(name: &str, fault: Fault) -> Diagnostic {
    let message = format!("kubectl does not read {name} as the documents that it seems to hold");
    Diagnostic::new(Code::ManifestUnreadable, message).help(fault.help())
}

fn begins_like_json(text: &str) -> Option<(usize, Fault)> {
    let at = text.len() - text.trim_start_matches('\u{feff}').trim_start().len();
    text.get(at..)?.starts_with('{').then_some((at, Fault::BeginsLikeJson))
}

/// The first line that begins with `---` and holds more than a comment. A byte order mark hides the first line.
fn line_of_dashes(text: &str) -> Option<(usize, Fault)> {
    let first = text.starts_with("---").then_some(0);
    let later = memmem::find_iter(text.as_bytes(), b"\n---").map(|at| at + 1);
    let mut lines = first.into_iter().chain(later);
    let goes_on = |at: &usize| {
        let line = text.get(at + 3..).and_then(|rest| rest.split('\n').next()).unwrap_or_default().trim();
        !(line.is_empty() || line.starts_with('#'))
    };
    lines.find(goes_on).map(|at| (at, Fault::MoreThanDashes))
}

/// The first marker behind a carriage return that no line feed follows.
fn carriage_return(text: &str) -> Option<(usize, Fault)> {
    let mut behind = memchr_iter(b'\r', text.as_bytes()).map(|at| at + 1);
    let is_marker = |at: &usize| text.get(*at..).is_some_and(|rest| rest.starts_with("---") || rest.starts_with("..."));
    behind.find(is_marker).map(|at| (at, Fault::CarriageReturn))
}

/// The first `...` with nothing but comments between it and the `---` or the beginning before it.
fn end_of_nothing(text: &str) -> Option<(usize, Fault)> {
    let bom = text.len() - text.trim_start_matches('\u{feff}').len();
    let later = memmem::find_iter(text.as_bytes(), b"\n...").map(|at| at + 1);
    let mut lines = std::iter::once(bom).chain(later).filter(|at| {
        let line = text.get(*at..).unwrap_or("");
        line.strip_prefix("...").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
    });
    let ends_nothing = |at: &usize| {
        let mut before = text.get(bom..*at).unwrap_or("").lines().rev().map(str::trim);
        before.find(|line| !(line.is_empty() || line.starts_with('#'))).is_none_or(|line| line.starts_with("---"))
    };
    lines.find(ends_nothing).map(|at| (at, Fault::EndOfNothing))
}

/// The first document that begins behind `...`, or with a directive.
fn piece(text: &str, pieces: &[Piece]) -> Option<(usize, Fault)> {
    let first = pieces.first().map(|piece| piece.range.start);
    pieces.iter().filter(|piece| piece.content).find_map(|piece| {
        if piece.marker.is_none() && Some(piece.range.start) != first {
            return Some((content(text, piece), Fault::BehindEnd));
        }
        let before = piece.range.start..piece.marker.as_ref().map_or(piece.range.end, |marker| marker.start);
        let directive = text.get(before)?.trim_start_matches('\u{feff}').lines().any(|line| line.starts_with('%'));
        directive.then(|| (content(text, piece), Fault::Directive))
    })
}

/// Where a piece has its first line that is no comment.
fn content(text: &str, piece: &Piece) -> usize {
    let mut at = piece.range.start;
    for line in piece.text(text).split_inclusive('\n') {
        let bare = line.trim_start_matches('\u{feff}').trim();
        if !(bare.is_empty() || bare.starts_with('#') || bare.starts_with("...")) {
            break;
        }
        at += line.len();
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LINES: [&str; 9] =
        ["a: 1\n", "# c\n", "---\n", "--- # c\n", "...\n", "--- x\n", "%YAML 1.1\n", "b: |\n", "  - c\r"];

    /// `line: label` of what is wrong.
    fn told(text: &str) -> Option<String> {
        let finding = check(&Source::new("m.yaml", text), &stream::split(text))?;
        Some(format!("{}: {}", finding.place.map_or(0, |place| place.line()), finding.label))
    }

    #[test]
    fn manifests_that_kubectl_cuts_alike_are_fine() {
        for text in [
            "",
            "# c\n",
            "a: 1\n",
            "---\na: 1\n--- # c\nb: 1\n---\t \n# c\n---\nc: 1\n...\n# end\n...\n",
            "\u{feff}---\na: 1\n",
            "a: 1\r\n---\r\nb: 1\r\n",
            "a: |\n  --- x\n  ...\n",
            "{\"a\": 1}\n{\"b\": 2}\n",
            "---\n{a: 1}\n",
            "# a comment\r---\na: 1\n".strip_prefix("# a comment\r").unwrap(),
        ] {
            assert_eq!(told(text), None, "{text:?}");
        }
    }

    #[test]
    fn manifests_that_kubectl_cuts_otherwise_are_told_at_the_line() {
        let cases = [
            ("a: 1\n...\nb: 1\n", "3: kubectl never reads what stands between `...` and the next `---`"),
            (
                "a: 1\n...\n# c\n\nb: 1\n---\nc: 1\n",
                "5: kubectl never reads what stands between `...` and the next `---`",
            ),
            ("...\na: 1\n", "1: kubectl reads nothing where a `...` ends no document"),
            ("\u{feff}# c\n\n... # c\n---\na: 1\n", "3: kubectl reads nothing where a `...` ends no document"),
            ("a: 1\n--- # c\n...\n---\nb: 1\n", "3: kubectl reads nothing where a `...` ends no document"),
            ("a: 1\n--- {b: 1}\n", "2: kubectl allows nothing but a comment behind these dashes"),
            ("a: 1\n---x\n", "2: kubectl allows nothing but a comment behind these dashes"),
            ("a: |\n--- two\n", "2: kubectl allows nothing but a comment behind these dashes"),
            ("%YAML 1.1\n---\na: 1\n", "1: kubectl cuts this off from its document, and cannot read it"),
            ("a: 1\r---\rb: 1\r", "1: kubectl sees no line end before this"),
            ("{a: 1}\n", "1: kubectl takes a stream that begins like this for JSON"),
            ("{\"a\": 1}\n---\nb: 1\n", "1: kubectl takes a stream that begins like this for JSON"),
        ];
        for (text, wanted) in cases {
            assert_eq!(told(text).as_deref(), Some(wanted), "{text:?}");
        }
    }

    /// Whether documents hold together, each given by its text and, where it was edited, what it is now.
    fn together(documents: &[(&str, Option<&str>)]) -> bool {
        let standing = documents.iter().map(|(text, edited)| Standing {
            text: edited.unwrap_or(text),
            is_edited: edited.is_some(),
            has_content: stream::split(text).iter().any(|piece| piece.content),
        });
        hold_together(&standing.collect::<Vec<_>>())
    }

    #[test]
    fn documents_hold_together_unless_an_edited_one_changes_where_kubectl_cuts() {
        let (a, b, c) = ("a: 1\n", "---\nb: 1\n", "---\nc: 1");
        assert!(together(&[(a, None), (b, None), (c, None)]));
        assert!(together(&[(a, Some("a: 2\n")), (b, None), (c, Some("---\nc: 2"))]));
        assert!(together(&[("# c\n", None), (b, Some("---\nb:\n  x: 1\n")), (c, None)]));
        for edited in ["---\nb: 1", "---\nb: |\n--- two\n", "---\nb: 1\n...\nd: 1\n", "---\n# b\n...\n", "b: 1\r---\n"]
        {
            assert!(!together(&[(a, None), (b, Some(edited)), (c, None)]), "{edited:?}");
        }
        assert!(!together(&[(a, Some("{a: 1}\n")), (b, None)]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8000))]

        #[test]
        fn what_holds_together_has_no_fault(
            lines in prop::collection::vec(0usize..9, 1..14),
            edited in 0usize..6,
            now in prop::collection::vec(0usize..9, 0..5),
            marked: bool,
        ) {
            let text: String = lines.iter().map(|line| LINES[*line]).collect();
            let pieces = stream::split(&text);
            // Of such files nothing is built.
            let is_faulty = first_fault(&text, &pieces).is_some();
            let now: String = marked.then_some("---\n").into_iter().chain(now.iter().map(|line| LINES[*line])).collect();
            let standing: Vec<Standing<'_>> = pieces
                .iter()
                .enumerate()
                .map(|(number, piece)| Standing {
                    text: if number == edited { &now } else { piece.text(&text) },
                    is_edited: number == edited,
                    has_content: piece.content,
                })
                .collect();
            let whole: String = standing.iter().map(|document| document.text).collect();
            if !is_faulty && hold_together(&standing) {
                prop_assert_eq!(check_joined(&whole, |_| None).map(|finding| finding.message), None, "{:?}", whole);
            }
        }
    }
}
