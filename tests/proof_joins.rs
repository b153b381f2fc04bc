//! The proof takes every right build for right where documents come from several files and some are taken out: which bytes
//! stand at a join depends on what is left on both sides of it. And it takes no other bytes there.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

#[path = "support/dice.rs"]
mod dice;
#[path = "support/plans.rs"]
mod plans;

use std::fmt::Write as _;

use dice::Dice;
use overlay::build::{NoMatch, Stretch, build, build_in_parts};
use overlay::config::Findings;
use plans::{any_subject, objections, plan_of, told};

/// A patch that takes some documents out and adds a key to others.
fn patch(gone: &[String], changed: &[String]) -> String {
    let mut patch = "apiVersion: overlay/v1\nkind: Patch\nname: p\nsummary: s\nwhy: w\nchanges:\n".to_owned();
    for name in gone {
        writeln!(patch, "  - target: {{kind: ConfigMap, name: {name}}}\n    delete: true").unwrap();
    }
    for name in changed {
        let add = "{op: add, path: /data/new, value: w}";
        writeln!(patch, "  - target: {{kind: ConfigMap, name: {name}}}\n    patch: [{add}]").unwrap();
    }
    patch
}

const LEADS: [&str; 6] = ["", "---\n", "# lead\n", "# lead\n---\n", "\n", "--- # lead\n"];
const BETWEEN: [&str; 7] =
    ["---\n", "--- # of it\n", "...\n---\n", "---\n# above\n", "---\n---\n", "\n---\n\n", "# tail\n---\n"];
const DATA: [&str; 5] = ["", "  text: |\n    x\n", "  text: |+\n    x\n\n", "# end\n", "  flow: {a: b}\n"];
const TAILS: [&str; 7] = ["", "---\n", "...\n", "# tail\n", "\n\n", "---\n# only\n", "...\n# end\n"];

/// A file of one to three documents, and what they are called.
fn file(number: usize, dice: &mut Dice) -> (String, Vec<String>) {
    let pick = |from: &[&'static str], dice: &mut Dice| from[dice.below(from.len())];
    let names: Vec<String> = (0..=dice.below(3)).map(|document| format!("f{number}d{document}")).collect();
    let mut text = pick(&LEADS, dice).to_owned();
    for (at, name) in names.iter().enumerate() {
        let before = if at == 0 { "" } else { pick(&BETWEEN, dice) };
        let data = pick(&DATA, dice);
        write!(text, "{before}apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  k: v\n{data}")
            .unwrap();
    }
    text.push_str(pick(&TAILS, dice));
    let text = match dice.below(6) {
        0 | 1 => text.trim_end_matches('\n').to_owned(),
        2 => text.replace('\n', "\r\n"),
        3 => format!("\u{feff}{text}"),
        _ => text,
    };
    (text, names)
}

/// Results that are not what was built, each by one line that comes or goes.
fn tampered(built: &str, dice: &mut Dice) -> Vec<String> {
    let lines: Vec<&str> = built.split_inclusive('\n').collect();
    let at = dice.below(lines.len());
    let (above, from) = (lines[..at].concat(), lines[at..].concat());
    let below = lines[at + 1..].concat();
    vec![
        format!("{above}{below}"),
        format!("{above}# said besides\n{from}"),
        format!("{above}---\n{from}"),
        format!("{above}\n{from}"),
    ]
}

#[test]
fn documents_taken_out_at_joins_are_proven_and_other_bytes_are_not() {
    let subject = any_subject();
    let (mut proven, mut complaints) = (0, String::new());
    for round in 0..600 {
        let mut dice = Dice::new(&format!("join {round}"));
        let (files, names): (Vec<String>, Vec<Vec<String>>) =
            (0..=dice.below(4)).map(|number| file(number, &mut dice)).unzip();
        let (gone, left): (Vec<String>, Vec<String>) = names.concat().into_iter().partition(|_| dice.below(5) < 2);
        let changed: Vec<String> = left.into_iter().filter(|_| dice.below(5) < 2).collect();
        if gone.is_empty() && changed.is_empty() {
            continue;
        }
        let Some(plan) = plan_of(&files, &[&patch(&gone, &changed)]) else { continue };
        let Some(built) = build(&plan, &[], &mut Findings::new()) else { continue };
        proven += 1;
        let parts = build_in_parts(&plan, &[], NoMatch::Fails, &mut Findings::new()).unwrap();
        let parts: String = parts.iter().map(Stretch::text).collect();
        assert_eq!(parts, built.text, "{files:#?}\ngone {gone:?}, changed {changed:?}");
        let objections_to = |result: &str| told(objections(&subject, &plan, result).iter());
        let objection = objections_to(&built.text);
        if !objection.is_empty() {
            write!(
                complaints,
                "### {files:#?}\ngone {gone:?}, changed {changed:?}\n{objection}\n-- built\n{}\n",
                built.text
            )
            .unwrap();
        }
        // A blank line or a comment beside what a patch adds may be its own.
        for other in tampered(&built.text, &mut dice).iter().filter(|_| changed.is_empty()) {
            if objections_to(other).is_empty() {
                write!(complaints, "### {files:#?}\ngone {gone:?}\nnobody sees\n{other}\n").unwrap();
            }
        }
    }
    assert!(complaints.is_empty(), "{complaints}");
    assert!(proven > 400, "only {proven} builds");
}

#[test]
fn resources_that_are_there_twice_are_told_alike_where_it_is_not_plain_that_there_are_none() {
    let map = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n");
    let documents = [
        map("a"),
        map("b"),
        map("a, namespace: default"),
        "apiVersion: old/v1\nkind: X\nmetadata: {name: a}\n".to_owned(),
        "apiVersion: old/v2\nkind: X\nmetadata: {name: a}\n".to_owned(),
        format!("apiVersion: v1\nkind: List\nitems:\n- {}\n", map("a").trim_end().replace('\n', "\n  ")),
    ];
    let rename = "apiVersion: overlay/v1\nkind: Patch\nname: p\nsummary: s\nwhy: w\nchanges:\n  \
                  - target: {kind: ConfigMap, name: b}\n    patch: [{op: replace, path: /metadata/name, value: a}]\n";
    let (mut twice, mut once) = (0, 0);
    for (one, other) in documents.iter().flat_map(|one| documents.iter().map(move |other| (one, other))) {
        for patches in [&[][..], &[rename]] {
            let mut plan = plan_of(&[format!("{one}---\n{other}")], patches).unwrap();
            let mut build = |vendored| {
                plan.vendored = vendored;
                let mut findings = Findings::new();
                let built = build(&plan, &[], &mut findings).map(|built| built.text);
                (built, told(findings.iter()))
            };
            let looked_closely = build(Vec::new());
            assert_eq!(build(vec![None]), looked_closely);
            *(if looked_closely.1.contains("twice") { &mut twice } else { &mut once }) += 1;
        }
    }
    assert!(twice > 10 && once > 10, "{twice} and {once}");
}
