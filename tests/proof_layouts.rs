//! Whatever stands around an edit, what is built is right and is proven: random documents and texts under random patches, of which
//! later ones take away what earlier ones brought. What is done to a result besides is found.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test reads how many rounds it goes, and may fail"
)]

#[path = "support/dice.rs"]
mod dice;
#[path = "support/layouts.rs"]
mod layouts;
#[path = "support/plans.rs"]
mod plans;
#[path = "support/proving.rs"]
mod proving;

use std::fmt::Write as _;

use dice::Dice;
use layouts::{HEAD, document, text, value_lines};
use overlay::diag::Code;
use overlay::embedded::{self, Language};
use overlay::subject::Subject;
use overlay::yaml::load::load_text;
use plans::{any_subject, objections, plan_of};
use proving::{any_value, patch_of_text, places, tampered, verified};
use serde_json::{Value, json};

/// A document on its way through patches, as JSON has it.
struct Course {
    language: Option<Language>,
    value: Value,
    /// Where something was written, in the text of the document or in the document.
    written: Vec<(bool, String)>,
    new: usize,
}

/// What a text that patches changed says stands behind this word in its place.
const SAYS: &str = "says ";

const TEXT: &str = "/data/text";

impl Course {
    /// What the text in the document says.
    fn inner(&self) -> Option<Value> {
        let text = self.value.pointer(TEXT)?.as_str()?;
        match text.strip_prefix(SAYS) {
            Some(value) => Some(serde_json::from_str(value).unwrap()),
            None => embedded::read(self.language?, text).ok(),
        }
    }

    /// A patch on the document or on the text in it, once it is carried out; `None` where there is nothing to do.
    fn patch(&mut self, number: usize, dice: &mut Dice) -> Option<String> {
        let inner = if dice.below(3) > 0 { self.inner() } else { None };
        let is_inside = inner.is_some();
        let mut value = inner.unwrap_or_else(|| self.value.clone());
        let mut lines = String::new();
        for _ in 0..=dice.below(3) {
            if let Some(operation) = self.operation(&value, is_inside, dice)
                && let Some(said) = self.carry_out(&mut value, is_inside, &operation)
            {
                lines += &operation_lines(&operation, dice);
                self.written.extend(said);
            }
        }
        if is_inside {
            *self.value.pointer_mut(TEXT)? = json!(format!("{SAYS}{value}"));
        } else {
            self.value = value;
        }
        let language = self.language.filter(|_| is_inside).map(Language::as_str);
        let within = language.map(|language| format!("    within: {{path: {TEXT}, as: {language}}}\n"));
        let head = format!("apiVersion: overlay/v1\nkind: Patch\nname: p{number}\nsummary: s\nwhy: w\nchanges:\n");
        let target = format!("  - target: {{kind: X}}\n{}    patch:\n", within.unwrap_or_default());
        (!lines.is_empty()).then(|| head + &target + &lines)
    }

    /// An operation on a place, often on one that was written before.
    fn operation(&mut self, value: &Value, is_inside: bool, dice: &mut Dice) -> Option<Value> {
        let mut found = places(value);
        found.retain(|(path, _)| {
            is_inside || !["/apiVersion", "/kind", "/metadata"].iter().any(|head| path.starts_with(head))
        });
        let is_written =
            |path: &str| self.written.iter().any(|(inside, at)| *inside == is_inside && path.starts_with(at));
        let own: Vec<_> = found.iter().filter(|(path, _)| is_written(path)).cloned().collect();
        let some = if dice.below(2) == 0 && !own.is_empty() { &own } else { &found };
        let (path, there) = some.get(dice.below(some.len().max(1)))?;
        let (other, _) = &found[dice.below(found.len())];
        let new = any_value(2, dice);
        self.new += 1;
        let fresh = format!("n{}", self.new);
        Some(match (there, dice.below(12)) {
            (Value::Object(_), 5 | 6) => json!({"op": "add", "path": format!("{path}/{fresh}"), "value": new}),
            (Value::Array(items), 5..=7) => {
                json!({"op": "add", "path": format!("{path}/{}", dice.below(items.len() + 1)), "value": new})
            }
            (_, 7) => json!({"op": "replace", "path": path, "value": new}),
            (_, 8) => json!({"op": "move", "from": other, "path": path}),
            (_, 9) => json!({"op": "copy", "from": other, "path": path}),
            (_, 10) => json!({"op": "add", "path": format!("/{fresh}"), "value": new}),
            _ => json!({"op": "remove", "path": path}),
        })
    }

    /// Does to the value what the operation says, and tells where it wrote; `None` where it does not fit.
    fn carry_out(&self, value: &mut Value, is_inside: bool, operation: &Value) -> Option<Vec<(bool, String)>> {
        let path = operation["path"].as_str()?;
        let is_there = value.pointer(path).is_some() && !path.rsplit('/').next()?.bytes().all(|b| b.is_ascii_digit());
        if operation["op"] != "remove" && operation["op"] != "replace" && is_there {
            return None;
        }
        if self.language == Some(Language::Toml) && is_inside && operation["value"].to_string().contains("null") {
            return None;
        }
        if is_there_already(value, operation) {
            return Some(Vec::new());
        }
        let plain: json_patch::Patch = serde_json::from_value(json!([operation])).ok()?;
        let mut after = value.clone();
        json_patch::patch(&mut after, &plain).ok()?;
        *value = after;
        Some((operation["op"] != "remove").then(|| (is_inside, path.to_owned())).into_iter().collect())
    }
}

/// Whether what an operation puts into a list is an item of it: then nothing is done.
fn is_there_already(value: &Value, operation: &Value) -> bool {
    let new = match operation["op"].as_str() {
        Some("add") => operation.get("value"),
        Some("copy") => operation["from"].as_str().and_then(|from| value.pointer(from)),
        _ => None,
    };
    let list =
        operation["path"].as_str().and_then(|path| path.rsplit_once('/')).and_then(|(list, _)| value.pointer(list));
    list.and_then(Value::as_array).zip(new).is_some_and(|(items, new)| items.contains(new))
}

/// An operation as a patch file has it: its value in flow, or in lines with blank ones and comments between.
fn operation_lines(operation: &Value, dice: &mut Dice) -> String {
    let (op, path, from) = (&operation["op"], &operation["path"], operation.get("from"));
    let mut lines = format!("      - op: {}\n        path: {path}\n", op.as_str().unwrap());
    if let Some(from) = from {
        writeln!(lines, "        from: {from}").unwrap();
    }
    if let Some(value) = operation.get("value") {
        lines += &value_lines("value", value, 8, dice);
    }
    lines
}

/// Whether a document says what it must: a text that patches changed in any layout.
fn says(value: &Value, wanted: &Value, language: Option<Language>) -> bool {
    match (value, wanted) {
        (Value::Object(map), Value::Object(others)) => {
            map.len() == others.len()
                && others.iter().all(|(key, other)| map.get(key).is_some_and(|value| says(value, other, language)))
        }
        (Value::Array(items), Value::Array(others)) => {
            items.len() == others.len() && items.iter().zip(others).all(|(value, other)| says(value, other, language))
        }
        (Value::String(text), Value::String(other)) => match (other.strip_prefix(SAYS), language) {
            (Some(said), Some(language)) => {
                embedded::read(language, text).is_ok_and(|read| read == serde_json::from_str::<Value>(said).unwrap())
            }
            _ => text == other,
        },
        _ => value == wanted,
    }
}

/// What verify does not see of what is done to a result besides.
fn unseen(subject: &Subject, base: &str, patches: &[&str], built: &str, dice: &mut Dice) -> Option<String> {
    let is_written_anew = |patch: &&str| ["op: replace", "op: move", "op: copy"].iter().any(|op| patch.contains(op));
    let is_toml = |patch: &&str| patch.contains("as: toml");
    if patches.iter().any(is_written_anew) || patches.iter().any(is_toml) || base.contains("*x") {
        // What is written anew may look like what was there, and be laid out in another way. TOML has a test of its own.
        return None;
    }
    let plan = plan_of(&[base], patches).unwrap();
    let others = tampered(base, built, dice).into_iter().filter(|other| other != built && load_text(other).is_ok());
    let mut unseen = others.filter(|other| objections(subject, &plan, other).is_empty());
    unseen.next().map(|other| format!("-- built\n{built}\n-- nobody sees\n{other}"))
}

/// A base and patches whose build the proof does not take for right, made small: the same without what does not matter.
fn made_small(subject: &Subject, base: &str, patches: &[&str]) -> String {
    let is_wrong = |base: &str, patches: &[String]| {
        let patches: Vec<&str> = patches.iter().map(String::as_str).collect();
        plan_of(&[base], &patches).and_then(|plan| verified(subject, &plan)).is_some_and(|result| result.is_err())
    };
    let mut patches: Vec<String> = patches.iter().map(|patch| (*patch).to_owned()).collect();
    let mut base = base.to_owned();
    let mut is_smaller = is_wrong(&base, &patches);
    while std::mem::take(&mut is_smaller) {
        for number in (0..patches.len()).rev() {
            let (head, operations) = patches[number].split_once("    patch:\n").unwrap();
            let (head, operations) = (head.to_owned(), operations.replace("      - op", "\0      - op"));
            let operations: Vec<&str> = operations.split('\0').skip(1).collect();
            for without in 0..operations.len() {
                let mut left = operations.clone();
                left.remove(without);
                let mut others = patches.clone();
                if left.is_empty() {
                    others.remove(number);
                } else {
                    others[number] = format!("{head}    patch:\n{}", left.concat());
                }
                if !others.is_empty() && is_wrong(&base, &others) {
                    (patches, is_smaller) = (others, true);
                    break;
                }
            }
        }
        let mut at = base.len();
        while let Some(line) = base[..at].trim_end_matches(['\r', '\n']).rfind('\n').map(|feed| feed + 1) {
            let end = base[line..].find('\n').map_or(base.len(), |feed| line + feed + 1);
            let without = format!("{}{}", &base[..line], &base[end..]);
            if is_wrong(&without, &patches) {
                (base, is_smaller) = (without, true);
            }
            at = line;
        }
    }
    let operations = patches.iter().map(|patch| patch.split_once("changes:\n").unwrap().1).collect::<String>();
    let plan = plan_of(&[&base], &patches.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    format!(
        "{operations}-- base\n{base}\n-- told\n{}",
        verified(subject, &plan).and_then(Result::err).unwrap_or_default()
    )
}

/// How many rounds are gone: more, where someone asks.
fn rounds(usual: usize) -> std::ops::Range<usize> {
    let number = |name| std::env::var(name).ok().map(|number| number.parse::<usize>().unwrap());
    let from = number("OVERLAY_PROOF_FROM").unwrap_or(0);
    from..from + number("OVERLAY_PROOF_ROUNDS").unwrap_or(usual)
}

/// Builds under random patches, and tells what is wrong with it. `language` is that of a text in the document.
fn go(name: &str, usual: usize, language: impl Fn(&mut Dice) -> Option<Language>) {
    let subject = any_subject();
    let (mut count, mut refused, mut wrong, mut complaints) = (0, 0, 0, String::new());
    let rounds = rounds(usual);
    for round in rounds.clone() {
        let mut dice = Dice::new(&format!("{name} {round}"));
        let language = language(&mut dice);
        let text = language.map(|language| text(language, &mut dice));
        let base = document(text.as_deref(), &mut dice);
        let value = load_text(&base).unwrap_or_else(|error| panic!("{error}\n{base}")).value;
        let mut course = Course { language, value, written: Vec::new(), new: 0 };
        let patches: Vec<String> = (0..=dice.below(4)).filter_map(|number| course.patch(number, &mut dice)).collect();
        let patches: Vec<&str> = patches.iter().map(String::as_str).collect();
        let Some(plan) = plan_of(&[&base], &patches).filter(|_| !patches.is_empty()) else { continue };
        let complaint = match verified(&subject, &plan) {
            None => {
                refused += 1;
                continue;
            }
            Some(Err(objection)) => Some(objection),
            Some(Ok(built)) => match load_text(&built).map(|loaded| loaded.value) {
                Ok(value) if says(&value, &course.value, language) => {
                    unseen(&subject, &base, &patches, &built, &mut dice)
                }
                value => Some(format!("not right: {value:?}\n{built}")),
            },
        };
        count += 1;
        if let Some(complaint) = complaint {
            wrong += 1;
            if complaints.len() < 30_000 {
                let operations =
                    patches.iter().map(|patch| patch.split_once("changes:\n").unwrap().1).collect::<String>();
                let small = made_small(&subject, &base, &patches);
                let all = format!("{operations}-- base\n{base}\n-- told\n{complaint}");
                let is_small = !small.trim_end().ends_with("-- told");
                writeln!(complaints, "### {round}\n{}", if is_small { small } else { all }).unwrap();
            }
        }
    }
    assert!(complaints.is_empty(), "{wrong} of {count}, {refused} refused\n{complaints}");
    assert!(count * 2 > rounds.len(), "only {count} of {}, {refused} refused", rounds.len());
}

#[test]
fn random_patches_of_documents_in_any_layout_are_proven() {
    go("document", 300, |_| None);
}

#[test]
fn random_patches_of_texts_in_any_layout_are_proven() {
    go("text", 300, |dice| Some([Language::Yaml, Language::Yaml, Language::Json, Language::Toml][dice.below(4)]));
}

/// Texts, the language of those that stand in a document, patches on them one after the other, and what comes of it.
type Known = (&'static str, Option<Language>, &'static [&'static str], &'static str);

const YAML: Option<Language> = Some(Language::Yaml);
const IN_JSON: Option<Language> = Some(Language::Json);
const IN_TOML: Option<Language> = Some(Language::Toml);

/// What loses its only part.
const EMPTIED: &[Known] = &[
    ("k: v\n", YAML, &["{op: remove, path: /k}"], "{}\n"),
    ("k: v", YAML, &["{op: remove, path: /k}"], "{}"),
    ("# c\nk: v\n# d\n", YAML, &["{op: remove, path: /k}"], "{}\n# d\n"),
    ("- v\n", YAML, &["{op: remove, path: /0}"], "[]\n"),
    ("k:\n  - x\n", YAML, &["{op: remove, path: /k/0}"], "k: []\n"),
    ("k:\n\n  - x", YAML, &["{op: remove, path: /k/0}"], "k: []"),
    ("k:\n  # c\n\n  - x", YAML, &["{op: remove, path: /k/0}"], "k: []\n  # c"),
    ("{\"k\": 1}\n", IN_JSON, &["{op: remove, path: /k}"], "{}\n"),
    ("k = 1\n", IN_TOML, &["{op: remove, path: /k}"], ""),
    ("# c\nk = 1\n", IN_TOML, &["{op: remove, path: /k}"], ""),
    ("l:  # c\n  - x\n", None, &["{op: remove, path: /l/0}"], "l: []  # c\n"),
    ("l: # c\n  - a:\n\n    # d\n", None, &["{op: remove, path: /l/0/a}"], "l: # c\n  - {}\n\n    # d\n"),
    (
        "k: {\n  a: 1\n} # c\n",
        None,
        &["{op: remove, path: /k/a}", "op: add\n        path: /k/b\n        value:\n          - x"],
        "k: # c\n  b:\n    - x\n",
    ),
];

/// What is moved out of an alias, or among equals.
const MOVED: &[Known] = &[
    ("# c\nk: &x\n  - 1\n# c\nu: *x", None, &["{op: move, from: /k, path: /u/0}"], "# c\nu:\n  # c\n  - - 1\n  - 1"),
    ("[[],\n  []]", IN_JSON, &["{op: move, from: /0, path: /1}"], "[[],\n  []]"),
];

/// What stood behind a dash goes, and something without content stands above what comes next.
const BEHIND_A_DASH: &[Known] = &[
    ("l:\n- a: 1\n  # c\n  b: 2\n", None, &["{op: remove, path: /l/0/a}"], "l:\n- # c\n  b: 2\n"),
    ("l:\n- a: 1\n\n  b: 2\n", None, &["{op: remove, path: /l/0/a}"], "l:\n- b: 2\n"),
    ("l:\n- a: 1\n\n  # c\n\n  b: 2\n", None, &["{op: remove, path: /l/0/a}"], "l:\n- # c\n\n  b: 2\n"),
    ("l:\n- a: 1 # a\n\n# c\n\n  b: 2\n", None, &["{op: remove, path: /l/0/a}"], "l:\n-\n\n# c\n\n  b: 2\n"),
    ("l:\n- - a\n\n  # c\n  - b\n", None, &["{op: remove, path: /l/0/0}"], "l:\n- # c\n  - b\n"),
    ("l:\n- - a\n  - # c\n    - b\n", None, &["{op: remove, path: /l/0/0}"], "l:\n- - # c\n    - b\n"),
    (
        "l:\n- a:\n    x: 1\n    # of a\n  # c\n  b: 2\n",
        None,
        &["{op: remove, path: /l/0/a}"],
        "l:\n-\n    # of a\n  # c\n  b: 2\n",
    ),
    ("m:\n  - -\n\n    -\n# c\n", None, &["{op: remove, path: /m/0/0}"], "m:\n  - -\n# c\n"),
    ("l:\n- # d\n  a: 1\n  # c\n  b: 2\n", None, &["{op: remove, path: /l/0/a}"], "l:\n- # d\n  # c\n  b: 2\n"),
];

/// What is no comment has a hash in it.
const HASHES: &[Known] = &[
    ("d: {\n  a: \"x # y\"\n}\n", None, &["{op: add, path: /d/b, value: 1}"], "d: {\n  a: \"x # y\",\n  b: 1\n}\n"),
    (
        "d: {\n  a: \"x # y\"  # c\n}\n",
        None,
        &["{op: add, path: /d/b, value: 1}"],
        "d: {\n  a: \"x # y\",  # c\n  b: 1\n}\n",
    ),
    ("d: [\n  \"x # y\",\n  'z # a'\n]\n", None, &["{op: remove, path: /d/1}"], "d: [\n  \"x # y\"\n]\n"),
];

/// The last lines of a text without a final line break go, and that break stays missing.
const ENDS: &[Known] = &[
    ("a: 1\n\nb: 2", None, &["{op: remove, path: /b}"], "a: 1"),
    ("a: 1\n\n# b\nb: 2", None, &["{op: remove, path: /b}"], "a: 1"),
    ("a: 1\n# c\n\nb: 2", None, &["{op: remove, path: /b}"], "a: 1\n# c"),
    ("a: 1\n\nb: 2\n", None, &["{op: remove, path: /b}"], "a: 1\n\n"),
    ("a: |+\n  x\n\nb: 2", None, &["{op: remove, path: /b}"], "a: |+\n  x\n\n"),
    ("a:\n\n  b: 2", None, &["{op: remove, path: /a/b}"], "a: {}"),
    ("a: 1\n\nl:\n- x", None, &["{op: remove, path: /l/0}"], "a: 1\n\nl: []"),
    ("a: 1\n\nb: 2\n# end", None, &["{op: remove, path: /b}"], "a: 1\n\n# end"),
    ("a: 1\n\n\nb: 2\nc: 3", None, &["{op: remove, path: /c}", "{op: remove, path: /b}"], "a: 1"),
    ("k: v\n\nl: w", YAML, &["{op: remove, path: /l}"], "k: v"),
];

/// Aliases and merged keys are written out.
const SHARED: &[Known] = &[
    (
        "b: &b\n  l:\n    - 1\nu: *b\n",
        None,
        &["{op: add, path: /b/l/-, value: 2}"],
        "b: &b\n  l:\n    - 1\n    - 2\nu:\n  l:\n    - 1\n",
    ),
    (
        "b: &b\n  l:\n    - 1\nu:\n  <<: *b\n",
        None,
        &["{op: add, path: /u/l/-, value: 2}"],
        "b: &b\n  l:\n    - 1\nu:\n  <<: *b\n  l:\n    - 1\n    - 2\n",
    ),
    ("b: &b {}\nu: *b\n", None, &["{op: add, path: /b/k, value: 2}"], "b: &b {k: 2}\nu: {}\n"),
    ("b: &b [1]\nu: *b\n", None, &["{op: add, path: /u/0, value: 2}"], "b: &b [1]\nu: [2, 1]\n"),
    ("b: &b\n- 1\n- 2\n# c\nu: *b\n", None, &["{op: remove, path: /u/1}"], "b: &b\n- 1\n- 2\n# c\nu:\n- 1\n"),
];

/// Sections of TOML without a blank line between, and moved ones.
const SECTIONS: &[Known] = &[
    (
        "[t]\na = 1\n[u]\nb = 1\n[v]\nc = 1\n",
        IN_TOML,
        &["{op: replace, path: /u, value: {b: 2}}"],
        "[t]\na = 1\n[u]\nb = 2\n[v]\nc = 1\n",
    ),
    (
        "[[t]]\na = 1\n[[t]]\nb = 1\n[v]\nc = 1\n",
        IN_TOML,
        &["{op: replace, path: /t/1, value: {b: 2}}"],
        "[[t]]\na = 1\n[[t]]\nb = 2\n[v]\nc = 1\n",
    ),
    (
        "[[t]]\na = 1\n\n[[t]]\na = 2\n\n[v]\nc = 1\n",
        IN_TOML,
        &["{op: move, from: /t/0, path: /t/1}"],
        "[[t]]\na = 2\n\n[[t]]\na = 1\n\n[v]\nc = 1\n",
    ),
];

const SPACED: &str =
    "op: add\n        path: /b\n        value:\n          x: 1\n          # d\n\n          # z\n          z: 2";

/// A part of what one patch brought goes with another.
const TORN: &[Known] = &[
    ("a: 1\n", None, &[SPACED, "{op: remove, path: /b/z}"], "a: 1\nb:\n  x: 1\n  # d\n\n"),
    ("a: 1", None, &[SPACED, "{op: remove, path: /b/z}"], "a: 1\nb:\n  x: 1\n  # d"),
    ("a: 1\n", YAML, &[SPACED, "{op: remove, path: /b/z}"], "a: 1\nb:\n  x: 1\n  # d\n\n"),
    (
        "a: 1\n",
        None,
        &[SPACED, "{op: remove, path: /b/z}", "{op: add, path: /c, value: 3}"],
        "a: 1\nb:\n  x: 1\nc: 3\n  # d\n\n",
    ),
    (
        "a: 1\nc: {}\n",
        None,
        &[
            "op: replace\n        path: /a\n        value:\n          x: 1\n\n          z: 2",
            "{op: remove, path: /a/z}",
        ],
        "a:\n  x: 1\n\nc: {}\n",
    ),
];

/// What one patch brought goes with another: all is as it was.
const UNDONE: &[Known] = &[
    (
        "a = 1\n[t]\nb = 1\n",
        IN_TOML,
        &["{op: add, path: /c, value: 1}", "{op: remove, path: /c}"],
        "a = 1\n[t]\nb = 1\n",
    ),
    ("a = {  }\n", IN_TOML, &["{op: add, path: /a/c, value: 1}", "{op: remove, path: /a/c}"], "a = {  }\n"),
    ("a = [  ]\n", IN_TOML, &["{op: add, path: /a/-, value: 1}", "{op: remove, path: /a/0}"], "a = [  ]\n"),
    ("a: { } # c\n", None, &["{op: add, path: /a/c, value: {d: [1]}}", "{op: remove, path: /a/c}"], "a: { } # c\n"),
    ("a: [ ]\n", None, &["{op: add, path: /a/-, value: 1}", "{op: remove, path: /a/0}"], "a: [ ]\n"),
    ("{\n}\n", IN_JSON, &["{op: add, path: /c, value: 1}", "{op: remove, path: /c}"], "{\n}\n"),
    ("{\"a\": [ ]}\n", IN_JSON, &["{op: add, path: /a/-, value: 1}", "{op: remove, path: /a/0}"], "{\"a\": [ ]}\n"),
    ("{ }", YAML, &["{op: add, path: /c, value: 1}", "{op: remove, path: /c}"], "{ }"),
    ("a: |-\n  x\nb: 1", YAML, &["{op: add, path: /c, value: 1}", "{op: remove, path: /c}"], "a: |-\n  x\nb: 1"),
];

/// What a patch file says of one operation on a document or on the text in it.
fn patch_on(language: Option<Language>, operation: &str) -> String {
    let patch = patch_of_text("text", operation).replace("kind: ConfigMap", "kind: X");
    match language {
        Some(language) => patch.replace("as: text", &format!("as: {}", language.as_str())),
        None => patch.replace("    within: {path: /data/text, as: text}\n", ""),
    }
}

/// A text as a document, or in one.
fn manifest(text: &str, language: Option<Language>) -> String {
    let lines = text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") });
    let scalar = match text.strip_suffix('\n') {
        _ if text.is_empty() => " \"\"\n".to_owned(),
        Some(rest) if rest.ends_with('\n') => format!(" |+\n{}", lines.collect::<String>()),
        Some(_) => format!(" |\n{}", lines.collect::<String>()),
        None => format!(" |-\n{}", lines.collect::<String>()),
    };
    match language {
        Some(_) => format!("{HEAD}data:\n  text:{scalar}  other: v\n"),
        None => format!("{HEAD}{text}"),
    }
}

#[test]
fn what_is_known_to_be_laid_out_oddly_is_built_with_care_and_proven() {
    let subject = any_subject();
    for (text, language, operations, after) in
        [EMPTIED, MOVED, BEHIND_A_DASH, HASHES, ENDS, SHARED, SECTIONS, TORN, UNDONE].concat()
    {
        let patches: Vec<String> = operations.iter().map(|operation| patch_on(language, operation)).collect();
        let patches: Vec<&str> = patches.iter().map(String::as_str).collect();
        let base = manifest(text, language);
        let built = verified(&subject, &plan_of(&[&base], &patches).unwrap());
        assert_eq!(built, Some(Ok(manifest(after, language))), "{operations:?} on\n{text}");
    }
}

/// Results that say what they must and are not what the patches make of the base.
const NOT_TAKEN: &[(Known, &str)] = &[
    (EMPTIED[10], "l: []   # c\n"),
    (EMPTIED[10], "l: []  # d\n"),
    (EMPTIED[12], "k: # d\n  b:\n    - x\n"),
    (EMPTIED[11], "l: # c\n  - {}\n\n    # e\n"),
    (BEHIND_A_DASH[0], "l:\n- # d\n  b: 2\n"),
    (BEHIND_A_DASH[0], "l:\n- b: 2\n"),
    (BEHIND_A_DASH[1], "l:\n- # c\n  b: 2\n"),
    (BEHIND_A_DASH[3], "l:\n-\n\n# d\n\n  b: 2\n"),
    (BEHIND_A_DASH[3], "l:\n- # c\n\n  b: 2\n"),
    (BEHIND_A_DASH[6], "l:\n-\n  # c\n  b: 2\n"),
    (BEHIND_A_DASH[6], "l:\n- # e\n    # of a\n  # c\n  b: 2\n"),
    (HASHES[0], "d: {\n  a: 'x # y',\n  b: 1\n}\n"),
    (HASHES[1], "d: {\n  a: \"x # y\",  # d\n  b: 1\n}\n"),
    (ENDS[0], "a: 1\n"),
    (ENDS[2], "a: 1"),
    (ENDS[3], "a: 1\n\n\n"),
    (ENDS[3], "a: 1\n\n# c\n"),
    (ENDS[9], "k: v\n"),
    (SHARED[0], "b: &b\n  l:\n    - 1\n    - 2\n# c\nu:\n  l:\n    - 1\n"),
    (SHARED[4], "b: &b\n- 1\n- 2\nu:\n- 1\n"),
    (SECTIONS[0], "[t]\na = 1\n\n[u]\nb = 2\n[v]\nc = 1\n"),
    (TORN[0], "a: 1\nb:\n  x: 1\n  # e\n\n"),
    (TORN[0], "a: 1\n\nb:\n  x: 1\n  # d\n\n"),
    (TORN[4], "a:\n  x: 1\n\n# d\nc: {}\n"),
    (UNDONE[0], "a = 1\n\n[t]\nb = 1\n"),
    (UNDONE[7], "{}"),
];

#[test]
fn what_is_done_besides_where_the_layout_is_odd_is_found() {
    let subject = any_subject();
    for ((text, language, operations, _), other) in NOT_TAKEN {
        let patches: Vec<String> = operations.iter().map(|operation| patch_on(*language, operation)).collect();
        let patches: Vec<&str> = patches.iter().map(String::as_str).collect();
        let plan = plan_of(&[&manifest(text, *language)], &patches).unwrap();
        let found = objections(&subject, &plan, &manifest(other, *language));
        assert!(
            found.iter().any(|finding| finding.code == Code::UndocumentedDeparture),
            "nobody sees\n{other}of\n{text}"
        );
    }
}
