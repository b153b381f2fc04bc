//! Where the comments of `overlay build --annotate` go: each departure of a result, whose it is, and the line above which
//! a comment about it can stand.
//!
//! A comment is read as a comment where a key or a dash of block style begins the line below it. It can stand in no
//! literal, and hardly in brackets; what departs there is named above the line of the entry that holds it.

use std::collections::HashSet;

use super::attribute::{Departure, DocumentProof, Proof};
use super::claims::Claim;
use super::extent::line_start;
use super::overlay::{Overlay, Prover, head, proven};
use crate::config::Findings;
use crate::diag::{Code, Diagnostic, Source};
use crate::diff::{Difference, Path, Step, What};
use crate::layer::documents;
use crate::report::OverlayReport;
use crate::report::annotate::{self, Annotation};
use crate::yaml::load;
use crate::yaml::stream;
use crate::yaml::tree::{Kind, NodeId, Tree};

/// The result with its comments. Where it is JSON, which has none, a finding says so and it is as it was. `None` where it
/// cannot be read, or would be read otherwise with the comments in it.
pub fn annotated(overlay: &Overlay<'_>, result: &str, findings: &mut Findings) -> Option<String> {
    if result.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
        findings.add(
            Diagnostic::new(Code::AnnotationLeftOut, "the result is JSON, which has no comments: it is not annotated")
                .help("`overlay explain` lists the patches with their reasons and departures."),
        );
        return Some(result.to_owned());
    }
    let made = proven(overlay, result, |prover, claims, proof, _| {
        let mut report = head(overlay);
        let annotations = annotations(prover, claims, proof, result, &mut report);
        report.settle_added();
        let text = annotate::annotated(result, &report, &annotations);
        says_the_same(prover, &text).then_some(text)
    });
    let text = made.flatten();
    if text.is_none() {
        findings.add(Diagnostic::new(Code::Internal, "with comments in it the result would be read otherwise").help(
            "This is a mistake in overlay, and nothing was printed. Please report it with the base and the patches.",
        ));
    }
    text
}

/// Whether a text's documents are those of the result.
fn says_the_same(prover: &Prover<'_>, text: &str) -> bool {
    let read = documents::read(&Source::new("the annotated result", text), &mut Findings::new()).unwrap_or_default();
    let own = prover.result.iter().map(|document| (&document.identity, &document.loaded.value));
    read.iter().map(|document| (&document.identity, &document.value)).eq(own)
}

/// The comments, and in the report the documents that patches take out, which have no place in the result.
fn annotations(
    prover: &Prover<'_>,
    claims: &[Claim],
    proof: &Proof,
    result: &str,
    report: &mut OverlayReport,
) -> Vec<Annotation> {
    let pieces = stream::split(result);
    let mut annotations = Vec::new();
    for document in &proof.documents {
        let resource = prover.name(document.before, document.after);
        let piece = document.after.and_then(|index| prover.result.get(index)).and_then(|new| {
            let piece = pieces.iter().find(|piece| piece.range.start == new.start)?;
            Some((new, piece.marker.as_ref().map(|marker| marker.start)))
        });
        let there = document.departures.iter().filter(|departure| !is_gone(&departure.difference));
        let seen: HashSet<usize> = there.flat_map(claims_of).collect();
        for departure in &document.departures {
            // What an operation writes anew in the place of something is named once.
            let is_told = |claim: &usize| !(is_gone(&departure.difference) && seen.contains(claim));
            let all = claims_of(departure).filter(is_told).filter_map(|claim| claims.get(claim));
            let Some((new, marker)) = piece else {
                all.for_each(|claim| leave_out(prover, document, departure, claim, &resource, report));
                continue;
            };
            let line = Line::of(&departure.difference, &new.tree, &new.text);
            let at = if line.is_before_json { marker } else { None }.unwrap_or(new.start + line.at);
            annotations.extend(all.map(|claim| annotation(prover, claim, departure, &line, at)));
        }
    }
    annotations
}

fn leave_out(
    prover: &Prover<'_>,
    document: &DocumentProof,
    departure: &Departure,
    claim: &Claim,
    resource: &str,
    report: &mut OverlayReport,
) {
    if let Some(patch) = report.patches.get_mut(claim.patch) {
        patch.departures.push(prover.departure(document, resource, &departure.difference, None));
    }
}

fn annotation(prover: &Prover<'_>, claim: &Claim, departure: &Departure, line: &Line, at: usize) -> Annotation {
    let patch = prover.operation(claim).map(|(patch, _)| patch.name.value.clone()).unwrap_or_default();
    let is_gone = is_gone(&departure.difference);
    Annotation { at, patch, path: line.path.clone(), is_gone, note: prover.note(claim) }
}

/// The claims that make a departure, that which it belongs to first.
fn claims_of(departure: &Departure) -> impl Iterator<Item = usize> {
    std::iter::once(departure.claim).chain(departure.with.iter().copied())
}

fn is_gone(difference: &Difference) -> bool {
    matches!(difference.what, What::Removed(_))
}

/// The line above which a comment about a difference can stand.
struct Line {
    /// Where it begins in the document.
    at: usize,
    /// The way from what begins on it to the difference.
    path: String,
    /// Whether it is the first one of a document in braces, which a reader may take for JSON.
    is_before_json: bool,
}

impl Line {
    fn of(difference: &Difference, tree: &Tree, text: &str) -> Line {
        let outer = difference.within.as_ref().map_or(&difference.path, |within| &within.path);
        let (start, depth) = block_entry(tree, outer);
        let rest = outer.without_first(depth).to_string();
        let path = match &difference.within {
            None => rest,
            Some(_) if rest.is_empty() => difference.path.to_string(),
            Some(_) => format!("{} in the text at {rest}", difference.path),
        };
        let is_before_json = text.get(start..).is_some_and(|text| text.starts_with('{'));
        Line { at: line_start(text, start), path, is_before_json }
    }
}

/// The innermost entry or item in block style on the way along a path: where it begins, and how many steps lead to it.
fn block_entry(tree: &Tree, path: &Path) -> (usize, usize) {
    let Some(mut at) = tree.root() else { return (0, 0) };
    let mut found = (tree.node(at).full().start, 0);
    for (number, step) in path.steps().into_iter().enumerate() {
        let Some((start, node)) = child(tree, at, step) else { break };
        found = (start, number + 1);
        at = node;
    }
    found
}

/// What a step leads to in the text itself, where that is in block style.
fn child(tree: &Tree, of: NodeId, step: &Step) -> Option<(usize, NodeId)> {
    match (&tree.node(of).kind, step) {
        (Kind::Mapping { flow: false, entries }, Step::Key(key)) => {
            let entry = entries.iter().rev().find(|e| load::key_text(tree, e.key).is_ok_and(|k| k == *key))?;
            Some((entry.question.unwrap_or(tree.node(entry.key).full().start), entry.value))
        }
        (Kind::Sequence { flow: false, items }, Step::Item(item)) => {
            let item = items.get(item.after?)?;
            Some((item.dash?, item.node))
        }
        _ => None,
    }
}
