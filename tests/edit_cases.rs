//! Edits written down by hand, byte by byte: the files under `tests/data/edit`. Their format is told in the README there.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test reads its cases, and may fail")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use overlay::change::{Action, Change, New, Spelled, TextEdit, apply_edits};
use overlay::yaml::edit::{EditError, edit, edit_embedded};
use overlay::yaml::load::{find, load};
use overlay::yaml::tree::{NodeId, Tree};
use serde_json::Value;

#[test]
fn every_case_gives_exactly_its_bytes() {
    let mut names: Vec<_> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    names.sort();
    let (mut count, mut complaints) = (0, String::new());
    for path in names {
        let text = fs::read_to_string(&path).unwrap();
        let file = path.file_stem().unwrap().to_string_lossy().into_owned();
        for case in text.split("\n### ").map(|case| case.trim_start_matches("### ")) {
            count += 1;
            let (name, body) = case.split_once('\n').unwrap();
            if let Err(complaint) = check(body) {
                writeln!(complaints, "{file}: {name}\n{complaint}").unwrap();
            }
        }
    }
    assert!(complaints.is_empty(), "\n{complaints}");
    assert!(count >= 150, "only {count} cases");
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/edit")
}

/// The text that a case writes with signs for what cannot be seen.
fn plain(text: &str) -> String {
    let text = text.replace("(BOM)", "\u{feff}").replace("(CR)", "\r").replace("(SP)", " ").replace("(TAB)", "\t");
    match text.strip_suffix("(END)\n") {
        Some(unfinished) => unfinished.to_owned(),
        None => text,
    }
}

fn check(body: &str) -> Result<(), String> {
    let (operation, rest) = body.split_once(">>> before\n").ok_or("no `>>> before`")?;
    let (before, after) = match rest.split_once(">>> after\n") {
        Some((before, after)) => (before, Ok(plain(&format!("{}\n", after.trim_end_matches('\n'))))),
        None => match rest.split_once(">>> refused\n") {
            Some((before, message)) => (before, Err(message.trim().to_owned())),
            None => return Err("neither `>>> after` nor `>>> refused`".into()),
        },
    };
    // Blank lines at the end of what is expected are written with a sign behind them.
    let after = after.map(|text| text.replace("(BLANK)", ""));
    let before = plain(before).replace("(BLANK)", "");
    let operation = Operation::read(operation);
    let given = operation.edit(&before);
    match (given, after) {
        (Ok(edits), Ok(after)) => {
            let text = apply_edits(&before, &edits);
            if text == after { Ok(()) } else { Err(format!("-- expected\n{after:?}\n-- given\n{text:?}\n{text}")) }
        }
        (Err(error), Err(message)) if error.to_string().contains(&message) => Ok(()),
        (Err(error), after) => Err(format!("-- expected\n{after:?}\n-- refused\n{error}")),
        (Ok(edits), Err(message)) => {
            Err(format!("-- expected a refusal\n{message}\n-- given\n{}", apply_edits(&before, &edits)))
        }
    }
}

/// The operation of a case: a YAML mapping, whose `value` is spelled as the new value is.
struct Operation {
    text: String,
    tree: Tree,
    value: Value,
}

impl Operation {
    fn read(text: &str) -> Self {
        let tree = Tree::parse(text).unwrap_or_else(|e| panic!("{e} in {text}"));
        let value = load(&tree, text).unwrap_or_else(|e| panic!("{e} in {text}")).value;
        Operation { text: text.to_owned(), tree, value }
    }

    fn field(&self, name: &str) -> Option<&Value> {
        self.value.get(name)
    }

    fn node(&self, name: &str) -> Option<NodeId> {
        find(&self.tree, &[name])
    }

    fn edit(&self, before: &str) -> Result<Vec<TextEdit>, EditError> {
        let path = self.field("path").unwrap().as_str().unwrap();
        let path: Vec<String> =
            path.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~")).collect();
        if self.field("within").is_some() {
            return edit_embedded(before, &path, &self.inner(before, &path));
        }
        let spelled = self.node("value").filter(|_| self.field("spelled") != Some(&Value::Bool(false)));
        let new = self.field("value").map(|value| New {
            value,
            spelled: spelled.map(|node| Spelled { text: &self.text, tree: &self.tree, node, taken: None }),
            comment: self.field("comment").and_then(Value::as_str),
        });
        let action = match self.field("op").and_then(Value::as_str) {
            Some("add") => Action::Add(new.unwrap()),
            Some("replace") => Action::Replace(new.unwrap()),
            Some("remove") => Action::Remove,
            other => panic!("no operation: {other:?}"),
        };
        edit(before, &Change { action, path: &path })
    }

    /// The edits of the text at the path: what each `[old, new]` of `within` says of its first occurrence.
    fn inner(&self, before: &str, path: &[String]) -> Vec<TextEdit> {
        let tree = Tree::parse(before).unwrap();
        let node = find(&tree, path).unwrap();
        let value = overlay::yaml::load::load_text(before).unwrap().value;
        let mut text = &value;
        for token in path {
            text = text.get(token).or_else(|| text.get(token.parse::<usize>().ok()?)).unwrap();
        }
        assert!(tree.node(node).style().is_some() || tree.resolve(node) != node);
        let text = text.as_str().unwrap();
        let pairs = self.field("within").and_then(Value::as_array).unwrap();
        let edits = pairs.iter().map(|pair| {
            let (old, new) = (pair[0].as_str().unwrap(), pair[1].as_str().unwrap());
            let start = if old == "(end)" { text.len() } else { text.find(old).unwrap() };
            let end = if old == "(end)" { start } else { start + old.len() };
            TextEdit { range: start..end, text: new.to_owned() }
        });
        edits.collect()
    }
}
