//! What a change means on the value: the measure that an edited text is held against.
//!
//! It shares no code with the editors. Paths that do not fit are told here, once for all languages.

use serde_json::Value;

use super::EmbeddedError;
use crate::change::{Action, Change};

/// The value after the change.
pub(super) fn after(before: &Value, change: &Change) -> Result<Value, EmbeddedError> {
    let Some((last, parents)) = change.path.split_last() else {
        return match change.action {
            Action::Add(new) | Action::Replace(new) => Ok(new.value.clone()),
            Action::Remove => Err(EmbeddedError::new(0, "the whole text cannot be removed")),
        };
    };
    let mut value = before.clone();
    let mut parent = &mut value;
    for segment in parents {
        parent = child(parent, segment).ok_or_else(|| missing(segment))?;
    }
    match parent {
        Value::Object(members) => match change.action {
            Action::Add(new) => drop(members.insert(last.clone(), new.value.clone())),
            Action::Replace(new) => *members.get_mut(last).ok_or_else(|| missing(last))? = new.value.clone(),
            Action::Remove => drop(members.shift_remove(last).ok_or_else(|| missing(last))?),
        },
        Value::Array(items) => change_item(items, last, change.action)?,
        _ => return Err(EmbeddedError::new(0, format!("there is nothing below a scalar, and so no `{last}`"))),
    }
    Ok(value)
}

fn change_item(items: &mut Vec<Value>, segment: &str, action: Action) -> Result<(), EmbeddedError> {
    let at = if matches!(action, Action::Add(_)) && segment == "-" { Some(items.len()) } else { index(segment) };
    let at = at.ok_or_else(|| EmbeddedError::new(0, format!("`{segment}` is no index of a list")))?;
    let free = usize::from(matches!(action, Action::Add(_)));
    if at >= items.len() + free {
        let length = items.len();
        return Err(EmbeddedError::new(0, format!("the index {at} lies outside the list, which has length {length}")));
    }
    match action {
        Action::Add(new) => items.insert(at, new.value.clone()),
        Action::Replace(new) => items[at] = new.value.clone(),
        Action::Remove => drop(items.remove(at)),
    }
    Ok(())
}

fn child<'v>(parent: &'v mut Value, segment: &str) -> Option<&'v mut Value> {
    match parent {
        Value::Object(members) => members.get_mut(segment),
        Value::Array(items) => items.get_mut(index(segment)?),
        _ => None,
    }
}

/// The index that a segment spells: digits without a leading zero (RFC 6901, section 4).
pub(super) fn index(segment: &str) -> Option<usize> {
    let digits = segment.bytes().all(|byte| byte.is_ascii_digit());
    let plain = segment == "0" || !segment.starts_with('0');
    if digits && plain { segment.parse().ok() } else { None }
}

fn missing(segment: &str) -> EmbeddedError {
    EmbeddedError::new(0, format!("there is no `{segment}` in the embedded text at this path"))
}
