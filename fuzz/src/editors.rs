//! The road over the text against the road over the value: what the editors give must mean what RFC 6902 says.
//!
//! The first bytes choose the operations and their places, the rest is the text that they are made on.

use overlay::change::{Action, Change, New, apply_edits, pointer};
use overlay::embedded::{self, Language};
use overlay::yaml::edit::{EditError, Source, edit};
use overlay::yaml::load::load_text;
use serde_json::{Value, json};

/// How many bytes choose one operation.
const CHOICES: usize = 8;

/// An operation that was made up for a value.
struct Operation {
    kind: u8,
    path: Vec<String>,
    value: Value,
}

impl Operation {
    /// The operation that these bytes choose.
    fn chosen(choices: &[u8], value: &Value) -> Operation {
        let (mut path, mut at) = (Vec::new(), value);
        for choice in choices[2..].iter().filter(|choice| **choice < 200) {
            let choice = usize::from(*choice);
            let (segment, below) = match at {
                Value::Object(entries) if !entries.is_empty() => {
                    let (key, value) = entries.iter().nth(choice % entries.len()).unwrap();
                    (key.clone(), value)
                }
                Value::Array(items) if !items.is_empty() => {
                    let index = choice % items.len();
                    (index.to_string(), &items[index])
                }
                _ => break,
            };
            path.push(segment);
            at = below;
        }
        let kind = choices[0] % 3;
        if kind == 2 {
            path.push(if at.is_array() { ["0", "-"][usize::from(choices[0] / 3 % 2)] } else { "added" }.to_owned());
        }
        Operation { kind, path, value: new_value(choices[1]) }
    }

    fn change(&self) -> Change<'_> {
        let new = New { value: &self.value, spelled: None, comment: None };
        let action = match self.kind {
            0 => Action::Replace(new),
            1 => Action::Remove,
            _ => Action::Add(new),
        };
        Change { action, path: &self.path }
    }

    fn as_json(&self) -> Value {
        let op = ["replace", "remove", "add"][usize::from(self.kind)];
        match self.kind {
            1 => json!({"op": op, "path": pointer(&self.path)}),
            _ => json!({"op": op, "path": pointer(&self.path), "value": self.value}),
        }
    }
}

fn new_value(choice: u8) -> Value {
    match choice % 10 {
        0 => json!("text"),
        1 => json!("a: b # c"),
        2 => json!("one\ntwo\n"),
        3 => json!(7),
        4 => Value::Null,
        5 => json!({"k": ["v", {"w": true}]}),
        6 => json!([]),
        7 => json!("\u{1b} \t"),
        8 => json!(" \n x\n\n"),
        _ => json!("0x1F"),
    }
}

/// The value after the operations, by the other road.
fn by_value(before: &Value, operations: &[Operation]) -> Option<Value> {
    let mut value = before.clone();
    let patch: Vec<Value> = operations.iter().map(Operation::as_json).collect();
    let patch: json_patch::Patch = serde_json::from_value(Value::Array(patch)).unwrap();
    json_patch::patch(&mut value, &patch).ok().map(|()| value)
}

/// One to four operations on a YAML document: the first byte says how many.
pub fn editor(data: &[u8]) {
    let Some((count, rest)) = data.split_first() else { return };
    let count = usize::from(count % 4) + 1;
    let Some((choices, text)) = rest.split_at_checked(count * CHOICES) else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let Ok(before) = load_text(text) else { return };
    let operations: Vec<Operation> =
        choices.chunks(CHOICES).map(|choices| Operation::chosen(choices, &before.value)).collect();
    let expected = by_value(&before.value, &operations);
    let made = match operations.as_slice() {
        [one] => edit(text, &one.change()).map(|edits| apply_edits(text, &edits)),
        several => {
            let changes: Vec<Change<'_>> = several.iter().map(Operation::change).collect();
            let source = Source::read(text).unwrap();
            let after = source.edited_by_all(&changes).map_err(|(_, error)| error);
            after.map(|after| after.map_or_else(|| text.to_owned(), |after| after.text().to_owned()))
        }
    };
    let asked = || operations.iter().map(Operation::as_json).collect::<Value>();
    match (made, expected) {
        (Ok(after), Some(expected)) => {
            let read = load_text(&after).unwrap_or_else(|error| panic!("{after:?} cannot be read: {error}"));
            assert_eq!(read.value, expected, "{} made {after:?}", asked());
        }
        (Ok(after), None) => panic!("{} cannot be made, and made {after:?}", asked()),
        (Err(EditError::Unreadable(error)), _) => panic!("it was read, and now it is not: {error}"),
        // The editor may refuse what it cannot write down.
        (Err(_), _) => {}
    }
}

/// One operation on a text of JSON, YAML or TOML: the first byte says which.
pub fn embedded(data: &[u8]) {
    let Some((language, rest)) = data.split_first() else { return };
    let language = [Language::Json, Language::Yaml, Language::Toml][usize::from(language % 3)];
    let Some((choices, text)) = rest.split_at_checked(CHOICES) else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let before = match embedded::read(language, text) {
        Ok(before) => before,
        Err(error) => {
            assert!(text.get(error.offset..).is_some(), "{error} is told at {}, which is no place", error.offset);
            return;
        }
    };
    let operation = Operation::chosen(choices, &before);
    let expected = by_value(&before, std::slice::from_ref(&operation));
    match (embedded::edit(language, text, &operation.change()), expected) {
        (Ok(edits), Some(expected)) => {
            let after = apply_edits(text, &edits);
            let read = embedded::read(language, &after);
            assert_eq!(read.as_ref(), Ok(&expected), "{} made {after:?}", operation.as_json());
        }
        (Ok(edits), None) => panic!("{} cannot be made, and {edits:?} make it", operation.as_json()),
        // The editor may refuse what the language cannot say.
        (Err(_), _) => {}
    }
}
