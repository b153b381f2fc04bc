//! Whatever is built of a real manifest is proven, and nothing else: random edits of every document of the corpus, each as a patch that is
//! built and verified, and results that were tampered with.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may ask other programs, and fail")]

#[path = "support/dice.rs"]
mod dice;
#[path = "support/plans.rs"]
mod plans;
#[path = "support/proving.rs"]
mod proving;
mod support;

use std::fmt::Write as _;

use dice::Dice;
use overlay::layer::plan::Plan;
use overlay::subject::Subject;
use overlay::verify::overlay::touches;
use overlay::yaml::load::load_text;
use overlay::yaml::stream;
use overlay::yaml::tree::Tree;
use plans::{any_subject, objections, overlay};
use proving::{places, plan, verified};
use serde_json::{Value, json};

/// An operation that fits a place, spelled in one of several ways.
fn operation(path: &str, there: &Value, dice: &mut Dice) -> String {
    let text = ["\"new\"", "new", "'new'", "|\n          new\n          text\n", "{made: up, of: [two, keys]}"];
    let block = "\n          made: up # of\n          of:\n          - two\n          - keys\n";
    let value = if dice.below(5) == 0 { block } else { text[dice.below(text.len())] };
    let write = |op: &str, path: String| format!("op: {op}\n        path: {}\n        value: {value}", json!(path));
    match (there, dice.below(4)) {
        (_, 0) => format!("op: remove\n        path: {}", json!(path)),
        (Value::Object(_), 1..3) => write("add", format!("{path}/added")),
        (Value::Array(items), 1..3) => write("add", format!("{path}/{}", dice.below(items.len() + 1))),
        _ => write("replace", path.to_owned()),
    }
}

/// Changes a result in two places: in a scalar, and by a comment on a line that no patch touches. What nobody finds is
/// a complaint.
fn unseen(subject: &Subject, plan: &Plan, built: &str, dice: &mut Dice) -> Option<String> {
    let tree = Tree::parse(built).unwrap();
    let scalars: Vec<_> = tree.nodes().filter(|(_, node)| node.style().is_some() && !node.span.is_empty()).collect();
    let (_, scalar) = scalars[dice.below(scalars.len())];
    let mut other = built.to_owned();
    other.replace_range(scalar.span.clone(), "\"tampered with\"");
    if other != built && objections(subject, plan, &other).is_empty() {
        return Some(format!("nobody sees what was tampered with\n{other}"));
    }
    let touched = touches(&overlay(subject, plan), built).unwrap();
    let lines: Vec<usize> = built.match_indices('\n').map(|(at, _)| at + 1).collect();
    let at = lines[dice.below(lines.len())];
    if touched.iter().flat_map(|touch| &touch.after).any(|lines| lines.contains(&at) || lines.end == at) {
        return None;
    }
    let mut other = built.to_owned();
    other.insert_str(at, "# said besides\n");
    objections(subject, plan, &other).is_empty().then(|| format!("nobody sees the comment\n{other}"))
}

/// Two patches of each document of a manifest: how many were built, and what is wrong with them.
fn complaints(subject: &Subject, name: &str, text: &str) -> (usize, String) {
    let (mut count, mut complaints, mut dice) = (0, String::new(), Dice::new(name));
    for piece in stream::split(text).into_iter().filter(|piece| piece.content) {
        let text = piece.text(text);
        let loaded = load_text(text).unwrap();
        let found = places(&loaded.value);
        if found.iter().all(|(path, _)| ["/apiVersion", "/kind"].contains(&path.as_str())) {
            continue;
        }
        for _ in 0..2 {
            let operations: Vec<String> = (0..=dice.below(3))
                .map(|_| {
                    let (path, there) = &found[dice.below(found.len())];
                    operation(path, there, &mut dice)
                })
                .collect();
            let operations = operations.join("\n      - ");
            let patch = format!(
                "apiVersion: overlay/v1\nkind: Patch\nname: p\nsummary: s\nwhy: w\nchanges:\n  - target: {{kind: \
                 '?*'}}\n    patch:\n      - {operations}\n"
            );
            let Some(plan) = plan(text, &patch) else { continue };
            let Some(result) = verified(subject, &plan) else { continue };
            count += 1;
            let complaint = match result {
                Ok(built) => unseen(subject, &plan, &built, &mut dice),
                Err(objection) => Some(objection.chars().take(1500).collect()),
            };
            if let Some(complaint) = complaint {
                write!(complaints, "### {name}\n{operations}\n-- base\n{text}\n{complaint}\n").unwrap();
            }
        }
    }
    (count, complaints)
}

#[test]
fn random_edits_of_every_real_manifest_are_proven_and_what_is_done_to_the_results_is_found() {
    let (subject, manifests) = (&any_subject(), support::manifests());
    let found: Vec<(usize, String)> = std::thread::scope(|scope| {
        let run = |(name, text)| scope.spawn(move || complaints(subject, name, text));
        let running: Vec<_> = manifests.iter().map(|(name, text)| run((name.as_str(), text.as_str()))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let (count, complaints) =
        (found.iter().map(|found| found.0).sum::<usize>(), found.into_iter().map(|found| found.1));
    let complaints: String = complaints.collect();
    assert!(complaints.is_empty(), "{complaints}");
    assert!(manifests.is_empty() || count >= 400, "only {count} patches were built and proven");
}
