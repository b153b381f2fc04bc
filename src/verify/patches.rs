//! What `verify` asks of the patch files themselves: a summary, a reason, guards, evidence, and dates that have not
//! passed. What a patch does is not looked at here.

use crate::config::{Date, Findings};
use crate::diag::{Code, Diagnostic};
use crate::patch::Patch;
use crate::patch::model::{Op, Operation};

/// Looks at one patch on the day `today`.
pub(super) fn check(patch: &Patch, today: Date, findings: &mut Findings) {
    documented(patch, findings);
    if let Some(review) = patch.review.as_ref().filter(|review| review.value < today) {
        let message = format!("the patch {} was to be looked at again by {}", patch.name.value, review.value);
        let finding = Diagnostic::new(Code::ReviewDue, message)
            .at(patch.place(review.span.clone()), "this day has passed")
            .patch(&patch.name.value)
            .help("See whether it is still needed, then set `verified` to today and `review` to the next day to look.");
        findings.add(finding);
    }
    if patch.evidence.is_empty() {
        let finding =
            Diagnostic::new(Code::EvidenceMissing, format!("the patch {} names no evidence", patch.name.value))
                .at(patch.place(patch.name.span.clone()), "this patch")
                .patch(&patch.name.value)
                .help(
                    "Add `evidence:` with what shows that it is needed: an address, or what was seen where and when.",
                );
        findings.add(finding);
    }
    for change in &patch.changes {
        for operation in change.operations() {
            guarded(patch, operation, findings);
        }
    }
}

/// A summary and a reason must be there, and neither may be put off with a TODO.
fn documented(patch: &Patch, findings: &mut Findings) {
    for (key, field) in [("summary", &patch.summary), ("why", &patch.why)] {
        let (message, span, label) = match field {
            None => (format!("the patch {} has no `{key}`", patch.name.value), &patch.name.span, "this patch"),
            Some(text) if text.value.trim().is_empty() => {
                (format!("the `{key}` of the patch {} is empty", patch.name.value), &text.span, "nothing is said here")
            }
            Some(text) if has_todo(&text.value) => {
                (format!("the `{key}` of the patch {} is still to be written", patch.name.value), &text.span, "TODO")
            }
            Some(_) => continue,
        };
        let help = if key == "why" {
            "Say in `why` what breaks without this patch, for the person who has to decide about it in a year."
        } else {
            "Say in `summary` in one line what the patch does."
        };
        let finding = Diagnostic::new(Code::PatchUndocumented, message)
            .at(patch.place(span.clone()), label)
            .patch(&patch.name.value)
            .help(help);
        findings.add(finding);
    }
}

/// Whether TODO stands in a text as a word.
fn has_todo(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|word| word == "TODO")
}

fn guarded(patch: &Patch, operation: &Operation, findings: &mut Findings) {
    if operation.was.is_some() || !matches!(operation.op, Op::Replace(_) | Op::Remove) {
        return;
    }
    let message = format!("this `{}` does not say what it expects to find", operation.op.word());
    let finding = Diagnostic::new(Code::Unguarded, message)
        .at(patch.place(operation.path.span.clone()), "no `was` goes with this")
        .patch(&patch.name.value)
        .path(operation.path.value.to_string())
        .help("Add `was:` with the present value, so that the patch stops when upstream changes it.");
    findings.add(finding);
}
