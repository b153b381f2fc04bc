use serde_json::json;

use super::*;
use crate::diag::Diagnostic;
use crate::report::{Against, Missing, sample};

fn text(text: &str) -> PageText {
    PageText { text: text.to_owned(), first_line: Some(1) }
}

fn mark(owner: Option<usize>, path: &str, upstream: Range<usize>, result: Range<usize>) -> Mark {
    let departure = Departure {
        resource: "A/a".into(),
        path: path.into(),
        within: None,
        change: ChangeKind::Replace,
        before: Some(json!(1)),
        after: Some(json!(2)),
        note: None,
    };
    Mark { patch: owner, lacking: false, departure, upstream: vec![upstream], result: vec![result], file: Vec::new() }
}

fn document(marks: Vec<Mark>) -> PageDocument {
    let lines = |changed: &str| format!("kind: A\nx: {changed}\n{}", "same\n".repeat(20));
    PageDocument {
        resource: "A/a".into(),
        added_from: None,
        upstream: Some(text(&lines("1"))),
        result: Some(text(&lines("2"))),
        file: None,
        marks,
    }
}

fn rows(document: &PageDocument) -> Vec<rows::Row> {
    rows::Sides::new(document, document.file.is_some()).rows
}

#[test]
fn lines_stand_beside_their_fellows() {
    let row = |upstream, result, file| rows::Row { upstream, result, file, marks: Vec::new() };
    let mut page =
        PageDocument { upstream: Some(text("a\nb\nc\n")), result: Some(text("a\nx\ny\nc")), ..document(Vec::new()) };
    let wanted = [
        row(Some(0), Some(0), None),
        row(Some(1), Some(1), None),
        row(None, Some(2), None),
        row(Some(2), Some(3), None),
    ];
    assert_eq!(rows(&page), wanted);
    page.result = Some(text("a\nc\n"));
    page.file = Some(text("a\nb\nc\nd\n"));
    let wanted = [
        row(Some(0), Some(0), Some(0)),
        row(Some(1), None, Some(1)),
        row(Some(2), Some(1), Some(2)),
        row(None, None, Some(3)),
    ];
    assert_eq!(rows(&page), wanted, "what the file kept stands beside upstream's line");
    page.upstream = None;
    page.result = None;
    assert_eq!(rows(&page).len(), 4);
    page.result = Some(text("- name: a\n  path: /a\nend\n"));
    page.upstream = page.result.clone();
    page.file = Some(text("# gone\nend\n"));
    let wanted = [
        row(None, None, Some(0)),
        row(Some(0), Some(0), None),
        row(Some(1), Some(1), None),
        row(Some(2), Some(2), Some(1)),
    ];
    assert_eq!(rows(&page), wanted, "a comment stands beside no entry");
    page.file = Some(text("- name: b\n  mode: 1\nend\n"));
    let wanted = [
        row(Some(0), Some(0), Some(0)),
        row(None, None, Some(1)),
        row(Some(1), Some(1), None),
        row(Some(2), Some(2), Some(2)),
    ];
    assert_eq!(rows(&page), wanted, "an entry stands beside one of its own key alone");
    page.result = Some(text("tier: node\nend\n"));
    page.upstream = page.result.clone();
    page.file = Some(text("annotations:\n  wave: 0\nend\n"));
    let wanted = [
        row(None, None, Some(0)),
        row(None, None, Some(1)),
        row(Some(0), Some(0), None),
        row(Some(1), Some(1), Some(2)),
    ];
    assert_eq!(rows(&page), wanted, "lines without a fellow stay together");
}

#[test]
fn every_departure_has_a_row_and_what_it_changes_beside_it_too() {
    let marks = |document: &PageDocument| -> Vec<Vec<usize>> { rows(document).into_iter().map(|r| r.marks).collect() };
    let page = document(vec![mark(Some(0), "/x", 8..13, 8..13), mark(Some(1), "/nowhere", 0..0, 0..0)]);
    assert_eq!(marks(&page)[..3], [vec![1], vec![0], vec![]]);
    let page = PageDocument {
        upstream: Some(text("a: 1\n")),
        result: Some(text("a: 1,\nb: 2\n")),
        ..document(vec![mark(Some(0), "/b", 0..0, 6..11)])
    };
    assert_eq!(marks(&page), [vec![0], vec![0]]);
}

#[test]
fn unchanged_stretches_are_folded_and_each_card_stands_beside_its_lines() {
    let overlay = &sample::report().overlays[0];
    let page = html(overlay, &[document(vec![mark(Some(0), "/x", 8..13, 8..13)])]);
    assert!(page.contains("<summary>17 unchanged lines</summary>"), "{page}");
    assert!(page.contains(r#"data-of="bindir-1""#) && page.contains(r#"id="bindir-1""#), "{page}");
    for told in
        ["Tell the agent where the plugins are", "2026-08-24", "2027-02-24", "https://example.org/net-agent/issues/7"]
    {
        assert!(page.contains(told), "no {told}");
    }
    assert!(page.contains("<del>x: <b>1</b></del>") && page.contains("<ins>x: <b>2</b></ins>"), "{page}");
}

#[test]
fn the_head_answers_at_a_glance() {
    let mut overlay = sample::report().overlays.remove(0);
    let page = html(&overlay, &[]);
    for told in [
        "4 departures under 2 patches",
        "2 of 3 documents",
        "example/net-agent at 0123456789ab",
        "hash as locked",
        "1 undocumented",
        "no review due",
    ] {
        assert!(page.contains(told), "no {told} in {page}");
    }
    let departure = overlay.undocumented[0].clone();
    let missing = vec![Missing { patch: "pin".into(), departure }];
    let against = Against { missing, ..Against::new("old.yaml") };
    overlay.against = Some(against);
    let page = html(&overlay, &[]);
    assert!(
        page.contains("1 unexplained departure in old.yaml") && page.contains("lacks 1 claimed departure"),
        "{page}"
    );
}

#[test]
fn nothing_of_a_file_is_markup() {
    let evil = "</style></script><script>alert(1)</script><img src=x onerror=alert(1)>\"'\u{202e}";
    let mut overlay = sample::report().overlays.remove(0);
    overlay.name = evil.into();
    overlay.description = evil.into();
    overlay.patches[0] = PatchReport {
        name: evil.into(),
        summary: evil.into(),
        why: evil.into(),
        evidence: vec![evil.into(), "javascript:alert(1)".into(), format!("https://example.org/{evil}")],
        upstream: Some("javascript:alert(1)".into()),
        ..overlay.patches[0].clone()
    };
    let mut marked = mark(Some(0), evil, 0..8, 0..8);
    marked.departure.note = Some(evil.into());
    marked.departure.within = Some(evil.into());
    marked.departure.after = Some(json!(evil));
    let page = PageDocument {
        resource: evil.into(),
        upstream: Some(text(evil)),
        result: Some(text(&format!("{evil}x"))),
        ..document(vec![marked])
    };
    let page = html(&overlay, &[page]);
    let own = page.matches("<script>").count();
    assert_eq!((own, page.matches("</script>").count(), page.matches("</style>").count()), (1, 1, 1), "{page}");
    assert!(!page.contains("<img") && !page.contains("href=\"javascript") && !page.contains('\u{202e}'));
    assert!(page.contains(r#"id="patch.1-1""#), "a name that is no anchor does not become one");
}

#[test]
fn the_page_names_the_hashes_of_all_that_it_runs() {
    let page = html(&sample::report().overlays[0], &[]);
    let between = |start: &str, end: &str| page.split_once(start).unwrap().1.split_once(end).unwrap().0;
    for (tag, directive) in [("style", "style-src"), ("script", "script-src")] {
        let inside = between(&format!("<{tag}>"), &format!("</{tag}>"));
        let hash = STANDARD.encode(Sha256::digest(inside.as_bytes()));
        assert!(page.contains(&format!("{directive} &#39;sha256-{hash}&#39;")), "{directive} {hash}");
    }
    assert!(
        !page.contains(" style=\"") && !page.contains(" src=") && !page.contains("@import") && !page.contains("url(")
    );
}

#[test]
fn what_stands_between_backquotes_is_code() {
    let told =
        |text: &str| -> Vec<(String, bool)> { runs(text).into_iter().map(|run| (run.text, run.is_code)).collect() };
    let run = |text: &str, is_code| (text.to_owned(), is_code);
    assert_eq!(told("run `a b` and `c`"), [run("run ", false), run("a b", true), run(" and ", false), run("c", true)]);
    assert_eq!(told("`a` it`s"), [run("a", true), run(" it`s", false)]);
    assert_eq!(told("plain"), [run("plain", false)]);
}

#[test]
fn a_word_that_ends_alike_by_chance_is_marked_whole() {
    let marked = |old: &str, new: &str| {
        let page = PageDocument {
            upstream: Some(text(old)),
            result: Some(text(new)),
            ..document(vec![mark(Some(0), "/x", 0..old.len(), 0..new.len())])
        };
        let sides = rows::Sides::new(&page, false);
        sides.cells(&sides.rows[0]).iter().map(|cell| cell.parts.1.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(marked("cpu: 100m", "cpu: 200m"), ["100m", "200m"]);
    assert_eq!(marked("a: r:snap-thick", "a: r@sha256:12 # v4-thick"), [":snap-thick", "@sha256:12 # v4-thick"]);
    assert_eq!(marked("path: /etc/cni", "path: /var/lib/etc/cni"), ["", "var/lib/"]);
    assert_eq!(marked("x: {path: /a-b, c: 1}", "x: {path: /d-b, c: 1}"), ["a-b", "d-b"]);
}

#[test]
fn a_line_of_a_reason_runs_on_unless_it_is_an_item_or_indented() {
    assert_eq!(
        paragraphs("Give it\n--root-dir.\n- one\n* two\n**loud**"),
        ["Give it --root-dir.\n- one\n* two **loud**"]
    );
    let quoted = |text: &str| paragraph(&paragraphs(text)[0]);
    let message = quoted("  failed:\n    `x` is not there\n");
    assert!(message.is_quoted);
    assert_eq!(message.runs, [Run { text: "failed:\n  `x` is not there".into(), is_code: false }]);
    assert!(!quoted("failed\n  there").is_quoted);
}

#[test]
fn many_findings_of_a_code_are_folded() {
    let mut overlay = sample::report().overlays.remove(0);
    let one = Diagnostic::new(Code::ImageNotPinned, "run `a b` first");
    overlay.findings = [vec![one; 5], vec![Diagnostic::new(Code::ReviewDue, "late")]].concat();
    let page = html(&overlay, &[]);
    assert!(page.contains("<summary>2 more of image-not-pinned</summary>"), "{page}");
    assert_eq!(page.matches("<code>image-not-pinned</code>").count(), 5);
    assert_eq!((page.matches(" more of ").count(), page.matches("run <code>a b</code> first").count()), (1, 5));
}

#[test]
fn a_card_tells_values_where_no_line_beside_it_does() {
    let overlay = &sample::report().overlays[0];
    let has_values = |mark: Mark| html(overlay, &[document(vec![mark])]).contains("<dl class=\"values\">");
    let plain = || mark(Some(0), "/x", 8..13, 8..13);
    assert!(!has_values(plain()));
    assert!(has_values(mark(Some(0), "/nowhere", 0..0, 0..0)));
    assert!(has_values(Mark { lacking: true, ..plain() }));
    assert!(has_values(Mark { patch: None, ..plain() }));
    let mut within = plain();
    within.departure.within = Some("/data/x".into());
    assert!(has_values(within));
}
