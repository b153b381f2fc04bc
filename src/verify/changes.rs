//! What an overlay makes of upstream, document by document, each difference with the patch that makes it: for programs.
//!
//! Whose a difference is was proven by `attribute`; here it is only told.

use serde_json::Value;

use super::attribute::DocumentProof;
use super::claims::Claim;
use super::overlay::{Overlay, Prover, proven};
use crate::diff::Difference;
use crate::report::comparison::{Attributed, DocumentComparison};
use crate::report::{ChangeKind, Departure};

/// The documents that are not as upstream has them, in the order of the base. `None` where the result cannot be read.
pub fn documents(overlay: &Overlay<'_>, result: &str) -> Option<Vec<DocumentComparison>> {
    proven(overlay, result, |prover, claims, proof, _| {
        let documents = proof.documents.iter().map(|proven| document(prover, claims, proven));
        documents.filter(|document| !document.differences.is_empty()).collect()
    })
}

fn document(prover: &Prover<'_>, claims: &[Claim], document: &DocumentProof) -> DocumentComparison {
    let resource = prover.name(document.before, document.after);
    let from = prover.added_from(document).map(str::to_owned);
    let upstream = document.before.and_then(|index| prover.base.get(index));
    let result = document.after.and_then(|index| prover.result.get(index));
    let renamed = upstream.zip(result).filter(|(upstream, result)| upstream.identity != result.identity);
    let whole = from.as_ref().and(result).map(|result| added(&resource, &result.loaded.value));
    let told = |difference: &Difference, patch: Option<&Claim>| Attributed {
        patch: patch.and_then(|claim| prover.operation(claim)).map(|(patch, _)| patch.name.value.clone()),
        departure: prover.departure(document, &resource, difference, patch.and_then(|claim| prover.note(claim))),
    };
    let departures = document.departures.iter().map(|d| told(&d.difference, claims.get(d.claim)));
    let others = document.undocumented.iter().map(|odd| told(&odd.difference, None));
    DocumentComparison {
        now: renamed.map(|(_, result)| format!("{} ({})", result.identity, result.identity.api_version())),
        change: match (document.before, &from, result) {
            (None, ..) | (_, Some(_), Some(_)) => ChangeKind::Add,
            (.., None) => ChangeKind::Remove,
            _ => ChangeKind::Replace,
        },
        differences: whole.into_iter().map(Attributed::from).chain(departures).chain(others).collect(),
        resource,
        from,
    }
}

/// A whole document that upstream does not have.
fn added(resource: &str, value: &Value) -> Departure {
    Departure {
        resource: resource.to_owned(),
        path: String::new(),
        within: None,
        change: ChangeKind::Add,
        before: None,
        after: Some(value.clone()),
        note: None,
    }
}
