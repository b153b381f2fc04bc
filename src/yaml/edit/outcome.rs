//! What a change must give: the value side of the editor, against which every edit of the text is held.
//!
//! It is plain RFC 6902, and small on purpose: it shares nothing with the code that edits text, nor with the crate
//! that applies patches to values.

use serde_json::Value;

use crate::change::{Action, Change};

/// The value after the change, or what is in the way, as a clause.
pub(super) fn outcome(value: &Value, change: &Change<'_>) -> Result<Value, &'static str> {
    let mut result = value.clone();
    make(&mut result, change)?;
    Ok(result)
}

/// Makes the change on a value. Where it does not fit, the value is as it was.
pub(super) fn make(value: &mut Value, change: &Change<'_>) -> Result<(), &'static str> {
    let Some((last, parents)) = change.path.split_last() else {
        return match change.action {
            Action::Add(new) | Action::Replace(new) => {
                *value = new.value.clone();
                Ok(())
            }
            Action::Remove => Err("a document is not removed by a change of its content"),
        };
    };
    let mut at = value;
    for token in parents {
        at = child(at, token).ok_or("a parent of it is missing")?;
    }
    match at {
        Value::Object(map) => match change.action {
            Action::Add(new) => drop(map.insert(last.clone(), new.value.clone())),
            Action::Replace(new) => *map.get_mut(last).ok_or("this key is missing")? = new.value.clone(),
            Action::Remove => drop(map.shift_remove(last).ok_or("this key is missing")?),
        },
        Value::Array(items) => match change.action {
            Action::Add(new) => {
                let at = if last == "-" { Some(items.len()) } else { index(last) };
                let at = at.filter(|at| *at <= items.len()).ok_or("this is no index of the list")?;
                items.insert(at, new.value.clone());
            }
            Action::Replace(new) => {
                let item = index(last).and_then(|at| items.get_mut(at));
                *item.ok_or("this is no index of the list")? = new.value.clone();
            }
            Action::Remove => {
                let at = index(last).filter(|at| *at < items.len()).ok_or("this is no index of the list")?;
                items.remove(at);
            }
        },
        _ => return Err("its parent is neither a mapping nor a list"),
    }
    Ok(())
}

/// An index as RFC 6901 spells it: decimal digits without a leading zero.
pub(super) fn index(token: &str) -> Option<usize> {
    token.parse::<usize>().ok().filter(|index| index.to_string() == token)
}

fn child<'v>(value: &'v mut Value, token: &str) -> Option<&'v mut Value> {
    match value {
        Value::Object(map) => map.get_mut(token),
        Value::Array(items) => items.get_mut(index(token)?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::change::New;

    fn after(value: &Value, action: &str, path: &str, new: &Value) -> Result<Value, &'static str> {
        let path: Vec<String> = path.split('/').skip(1).map(str::to_owned).collect();
        let new = New { value: new, spelled: None, comment: None };
        let action = match action {
            "add" => Action::Add(new),
            "replace" => Action::Replace(new),
            _ => Action::Remove,
        };
        outcome(value, &Change { action, path: &path })
    }

    #[test]
    fn a_change_is_what_rfc_6902_says() {
        let value = json!({"a": [1, 2], "b": {"c": 3}});
        let new = json!("x");
        assert_eq!(after(&value, "add", "/a/1", &new), Ok(json!({"a": [1, "x", 2], "b": {"c": 3}})));
        assert_eq!(after(&value, "add", "/a/-", &new), Ok(json!({"a": [1, 2, "x"], "b": {"c": 3}})));
        assert_eq!(after(&value, "add", "/b/d", &new), Ok(json!({"a": [1, 2], "b": {"c": 3, "d": "x"}})));
        assert_eq!(after(&value, "replace", "/b/c", &new), Ok(json!({"a": [1, 2], "b": {"c": "x"}})));
        assert_eq!(after(&value, "replace", "", &new), Ok(new.clone()));
        assert_eq!(after(&value, "remove", "/a/0", &new), Ok(json!({"a": [2], "b": {"c": 3}})));
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        let value = json!({"a": [1], "b": 1});
        for (action, path) in [
            ("add", "/a/2"),
            ("add", "/b/x"),
            ("add", "/c/x"),
            ("replace", "/a/-"),
            ("replace", "/a/00"),
            ("replace", "/c"),
            ("remove", "/a/1"),
            ("remove", "/c"),
            ("remove", ""),
        ] {
            assert!(after(&value, action, path, &json!(1)).is_err(), "{action} {path}");
        }
    }
}
