//! The road over the value: a step, made by the `json-patch` crate.
//!
//! The crate is called only for what `patch::lower` has checked: its own messages say little, it forgives unknown keys
//! and a failed `move` leaves things half done. A failure here is therefore a mistake of this program. The order of
//! mapping keys is not kept: the value says what a document means, the text how it stands.

use json_patch::jsonptr::PointerBuf;
use json_patch::{AddOperation, PatchError, PatchOperation, RemoveOperation, ReplaceOperation};
use serde_json::Value;

use super::step::{Action, Step};

/// Makes a step on a value.
///
/// # Errors
/// When the step does not fit the value, which is then as it was.
pub fn apply(value: &mut Value, step: &Step) -> Result<(), PatchError> {
    let path = PointerBuf::from_tokens(&step.path);
    let operation = match &step.action {
        Action::Add(new) => PatchOperation::Add(AddOperation { path, value: new.value.clone() }),
        Action::Replace(new) => PatchOperation::Replace(ReplaceOperation { path, value: new.value.clone() }),
        Action::Remove => PatchOperation::Remove(RemoveOperation { path }),
    };
    json_patch::patch(value, &[operation])
}
