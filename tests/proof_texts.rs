//! Whatever is built in a TOML or JSON text is proven, however the text is laid out, and nothing else is: random texts under
//! random changes, and what is done to the results besides.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test reads how many rounds it goes, and may fail"
)]

#[path = "support/dice.rs"]
mod dice;
#[path = "support/plans.rs"]
mod plans;
#[path = "support/proving.rs"]
mod proving;

use std::fmt::Write as _;

use dice::Dice;
use json_patch::Patch;
use overlay::embedded::{self, Language};
use overlay::subject::Subject;
use overlay::yaml::load::load_text;
use plans::{any_subject, objections, plan_of};
use proving::{block, oddly, patch, patch_of_text, places, tampered, verified, with_text};
use serde_json::{Map, Value, json};

/// A value without what TOML cannot say.
fn any_toml(depth: usize, dice: &mut Dice) -> Value {
    let below = |dice: &mut Dice| any_toml(depth - 1, dice);
    match if depth == 0 { 6 } else { dice.below(7) } {
        0..=2 => members(depth, dice).into(),
        3 => (0..dice.below(4)).map(|_| Value::from(members(depth, dice))).collect(),
        4 => (0..dice.below(4)).map(|_| below(dice)).collect(),
        _ => [json!(1), json!("x"), json!({}), json!([]), json!("a # b"), json!("it's \"it\""), json!(true)]
            [dice.below(7)]
        .clone(),
    }
}

fn members(depth: usize, dice: &mut Dice) -> Map<String, Value> {
    let depth = depth.saturating_sub(1);
    (0..dice.below(4)).map(|at| (["a", "b", "name", "k.l"][at].to_owned(), any_toml(depth, dice))).collect()
}

/// Writes a text. What stands below the top of a table comes in `later`, so that it may follow other tables.
struct Writer {
    text: String,
    comments: usize,
}

impl Writer {
    /// Lines that say nothing, maybe.
    fn noise(&mut self, dice: &mut Dice) {
        self.comments += 1;
        let comment = format!("# c{}\n", self.comments);
        self.text += &["", "", "", "\n", "\n", "\n\n", "# c\n", "\n# c\n", "# c\n\n", "\n  # c\n# c\n"][dice.below(10)]
            .replace("# c\n", &comment);
    }

    fn line_end(&mut self, dice: &mut Dice) {
        self.text += ["\n", "\n", "\n", " # why\n", " \n"][dice.below(5)];
    }

    fn pair(&mut self, keys: &[&str], value: &Value, dice: &mut Dice) {
        self.noise(dice);
        let equals = [" = ", " = ", "=", "  =  "][dice.below(4)];
        let written = inline(value, dice);
        write!(self.text, "{}{}{equals}{written}", ["", "", "", "  "][dice.below(4)], dotted(keys)).unwrap();
        self.line_end(dice);
    }

    fn header(&mut self, keys: &[&str], is_item: bool, dice: &mut Dice) {
        self.noise(dice);
        let keys = dotted(keys);
        let header = if is_item { format!("[[{keys}]]") } else { format!("[{keys}]") };
        self.text += ["", "", "", "  "][dice.below(4)];
        self.text += &header;
        self.line_end(dice);
    }

    /// A table below its header, or the top.
    fn table(&mut self, keys: &[&str], members: &Map<String, Value>, dice: &mut Dice) {
        let mut below = Vec::new();
        for (key, value) in members {
            let own = [keys, &[key.as_str()]].concat();
            let is_list_of_tables = |items: &Vec<Value>| !items.is_empty() && items.iter().all(Value::is_object);
            match value {
                Value::Object(map) if dice.below(4) > 0 => below.push((own, vec![map], false)),
                Value::Object(map) if !map.is_empty() && dice.below(3) > 0 => {
                    map.iter().for_each(|(inner, value)| self.pair(&[key, inner], value, dice));
                }
                Value::Array(items) if is_list_of_tables(items) && dice.below(4) > 0 => {
                    below.push((own, items.iter().filter_map(Value::as_object).collect(), true));
                }
                value => self.pair(&[key], value, dice),
            }
        }
        for (keys, tables, is_list) in below {
            for table in tables {
                let is_table = |value: &Value| value.as_object().is_some_and(|map| !map.is_empty());
                let is_implied = !is_list && !table.is_empty() && table.values().all(is_table) && dice.below(2) == 0;
                if is_implied {
                    for (key, value) in table {
                        let keys = [keys.as_slice(), &[key.as_str()]].concat();
                        self.header(&keys, false, dice);
                        self.table(&keys, value.as_object().unwrap(), dice);
                    }
                } else {
                    self.header(&keys, is_list, dice);
                    self.table(&keys, table, dice);
                }
            }
        }
    }
}

fn dotted(keys: &[&str]) -> String {
    let key = |key: &&str| if key.contains('.') { format!("\"{key}\"") } else { (*key).to_owned() };
    keys.iter().map(key).collect::<Vec<_>>().join(".")
}

fn inline(value: &Value, dice: &mut Dice) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| inline(item, dice)).collect();
            let end = if items.is_empty() { "" } else { ["", ","][dice.below(2)] };
            match dice.below(4) {
                0 if !items.is_empty() => format!("[\n  {}{end}\n]", items.join(", # of it\n  # of the next\n  ")),
                1 if !items.is_empty() => format!("[ {}{end} ]", items.join(",\n    ")),
                2 => format!("[{}{end}]", items.join(",")),
                _ => format!("[{}]", items.join(", ")),
            }
        }
        Value::Object(map) => {
            let space = ["", " "][dice.below(2)];
            let pair = |(key, value): (&String, &Value)| format!("{} = {}", dotted(&[key]), one_line(value));
            format!("{{{space}{}{space}}}", map.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
        Value::String(text) if !text.contains('\'') && dice.below(3) == 0 => format!("'{text}'"),
        other => other.to_string(),
    }
}

fn one_line(value: &Value) -> String {
    inline(value, &mut Dice::new("one line")).replace(" # of it\n  # of the next\n  ", " ").replace('\n', " ")
}

fn any_text(value: &Map<String, Value>, dice: &mut Dice) -> String {
    let mut writer = Writer { text: String::new(), comments: 0 };
    writer.table(&[], value, dice);
    writer.noise(dice);
    let text = match dice.below(4) {
        0 => writer.text.trim_end_matches('\n').to_owned(),
        _ => writer.text,
    };
    match dice.below(6) {
        0 => text.replace('\n', "\r\n"),
        1 => format!("\u{feff}{text}"),
        _ => text,
    }
}

fn operation(found: &[(String, &Value)], dice: &mut Dice) -> Value {
    let (path, there) = &found[dice.below(found.len())];
    let (other, _) = &found[dice.below(found.len())];
    let new = any_toml(2, dice);
    match (there, dice.below(8)) {
        (_, 0 | 1) => json!({"op": "remove", "path": path}),
        (_, 2) => json!({"op": "copy", "from": other, "path": format!("{path}-copy")}),
        (Value::Object(_), 3 | 4) => json!({"op": "add", "path": format!("{path}/new"), "value": new}),
        (Value::Array(items), 3 | 4) => {
            json!({"op": "add", "path": format!("{path}/{}", dice.below(items.len() + 1)), "value": new})
        }
        _ => json!({"op": "replace", "path": path, "value": new}),
    }
}

/// What the text in a result says, as it stands.
fn text_in(result: &str) -> String {
    load_text(result).unwrap().value["data"]["text"].as_str().unwrap().to_owned()
}

/// A result with another text in the place of its own, where that can be written as the text is.
fn with_other(built: &str, other: &str) -> Option<String> {
    let mut manifest = load_text(built).unwrap().value;
    let head = built.split("  text: ").next().unwrap();
    let tail = if built.contains("\n  other: v\n") { "  other: v\n" } else { "" };
    manifest["data"]["text"] = json!(other);
    let result = match built.split("  text: ").nth(1).unwrap().strip_prefix('|') {
        Some(rest) => {
            let chomp = rest.split('\n').next().unwrap();
            let indented = |line: &str| match line.trim() {
                "" => line.trim_start_matches([' ', '\t']).to_owned(),
                _ => format!("    {line}"),
            };
            let lines: String = other.split_inclusive('\n').map(indented).collect();
            format!("{head}  text: |{chomp}\n{lines}{}{tail}", if other.ends_with('\n') { "" } else { "\n" })
        }
        None => format!("{head}  text: {}\n{tail}", json!(other)),
    };
    (load_text(&result).map(|loaded| loaded.value) == Ok(manifest)).then_some(result)
}

/// What verify does not see of what is done to a result besides.
fn unseen(subject: &Subject, base: &str, patches: &[&str], built: &str, dice: &mut Dice) -> Option<String> {
    let after = text_in(built);
    let read = |text: &str| embedded::read(Language::Toml, text);
    for other in tampered(&text_in(base), &after, dice) {
        if read(&other).is_err() || other == after {
            continue;
        }
        let Some(result) = with_other(built, &other) else { continue };
        let plan = plan_of(&[base], patches).unwrap();
        if objections(subject, &plan, &result).is_empty() {
            return Some(format!("nobody sees\n{result}"));
        }
    }
    None
}

/// How many texts are thrown.
fn rounds() -> usize {
    std::env::var_os("OVERLAY_PROOF_ROUNDS").map_or(600, |rounds| rounds.to_str().unwrap().parse().unwrap())
}

#[test]
fn random_edits_of_toml_texts_in_any_layout_are_proven_and_what_is_done_besides_is_found() {
    let subject = any_subject();
    let (mut count, mut refused, mut wrong, mut complaints) = (0, 0, 0, String::new());
    let rounds = rounds();
    for round in 0..rounds {
        let mut dice = Dice::new(&format!("toml {round}"));
        let mut value = Map::new();
        for key in ["k", "l", "m"] {
            value.insert(key.to_owned(), any_toml(3, &mut dice));
        }
        let text = any_text(&value, &mut dice);
        let value = Value::from(value);
        assert_eq!(embedded::read(Language::Toml, &text).map_err(|e| e.message), Ok(value.clone()), "{text}");
        let found = places(&value);
        let patches: Vec<String> = (0..=dice.below(2))
            .map(|_| {
                let operations: Vec<String> =
                    (0..=dice.below(2)).map(|_| operation(&found, &mut dice).to_string()).collect();
                patch_of_text("toml", &operations.join("\n      - "))
            })
            .collect();
        let patches: Vec<&str> = patches.iter().map(String::as_str).collect();
        let base = with_text(&text, &mut dice);
        let Some(plan) = plan_of(&[&base], &patches) else { continue };
        let Some(result) = verified(&subject, &plan) else {
            refused += 1;
            continue;
        };
        count += 1;
        let complaint = match result {
            Ok(built) => unseen(&subject, &base, &patches, &built, &mut dice),
            Err(objection) => Some(objection),
        };
        if let Some(complaint) = complaint {
            wrong += 1;
            let operations = patches.iter().map(|patch| patch.split_once("patch:").unwrap().1).collect::<String>();
            if complaints.len() < 9000 {
                write!(complaints, "### {round}{operations}-- base\n{base}\n-- told\n{complaint}\n").unwrap();
            }
        }
    }
    assert!(complaints.is_empty(), "{wrong} of {count}, {refused} refused\n{complaints}");
    assert!(count * 10 > rounds * 6, "only {count} of {rounds}, {refused} refused");
}

/// A scalar or collection as JSON, with white space of every kind and scalars spelled as nobody would.
fn odd_json(value: &Value, dice: &mut Dice) -> String {
    const SPACES: [&str; 9] = ["", "", "", " ", "\n", "\n  ", "\r\n\t", "\n\n   ", "\t"];
    let space = |dice: &mut Dice| SPACES[dice.below(SPACES.len())];
    let parts: Vec<String> = match value {
        Value::Object(map) => {
            let mut member = |(key, value): (&String, &Value)| {
                let key = odd_json(&json!(key), dice);
                format!("{}{key}{}:{}{}{}", space(dice), space(dice), space(dice), odd_json(value, dice), space(dice))
            };
            map.iter().map(&mut member).collect()
        }
        Value::Array(items) => {
            items.iter().map(|item| format!("{}{}{}", space(dice), odd_json(item, dice), space(dice))).collect()
        }
        Value::String(text) => {
            let odd = |c: char, dice: &mut Dice| match (c, dice.below(3)) {
                ('/', 0) => "\\/".to_owned(),
                ('\u{1f600}', 0 | 1) => "\\uD83d\\uDe00".to_owned(),
                (c, 0) if c.is_alphabetic() => format!("\\u{:04X}", u32::from(c)),
                (c, _) => json!(c.to_string())
                    .as_str()
                    .map_or_else(String::new, |c| json!(c).to_string())
                    .trim_matches('"')
                    .to_owned(),
            };
            return format!("\"{}\"", text.chars().map(|c| odd(c, dice)).collect::<String>());
        }
        Value::Number(number) => return format!("{number}{}", ["", "", ".0", "e0", "E+0", ".00e-0"][dice.below(6)]),
        scalar => return scalar.to_string(),
    };
    let empty = if parts.is_empty() { space(dice) } else { "" };
    let parts = parts.join(",");
    if value.is_object() { format!("{{{empty}{parts}}}") } else { format!("[{empty}{parts}]") }
}

/// A value with keys and texts that are hard to spell.
fn any_json(depth: usize, dice: &mut Dice) -> Value {
    const KEYS: [&str; 6] = ["a", "b/c", "~", "\u{e9}\u{1f600}", "", "name"];
    match if depth == 0 { 4 } else { dice.below(6) } {
        0 | 1 => (0..dice.below(4))
            .map(|at| (KEYS[(at * 2 + dice.below(2)) % 6].to_owned(), any_json(depth - 1, dice)))
            .collect(),
        2 | 3 => (0..dice.below(4)).map(|_| any_json(depth - 1, dice)).collect(),
        _ => [json!(1), json!("x/\u{1f600}"), json!({}), json!([]), json!(null), json!(-7), json!(true)][dice.below(7)]
            .clone(),
    }
}

/// An operation on a place below `/k` or `/l`.
fn operation_on_json(found: &[(String, &Value)], dice: &mut Dice) -> Value {
    let found: Vec<_> = found.iter().filter(|(path, _)| !path.starts_with("/m")).collect();
    let (path, there) = found[dice.below(found.len())];
    let (other, _) = found[dice.below(found.len())];
    let new = json!({"new": any_json(2, dice)});
    let inside = |dice: &mut Dice| match there {
        Value::Array(items) => format!("{path}/{}", dice.below(items.len() + 1)),
        _ => format!("{path}/n"),
    };
    match dice.below(8) {
        0 | 1 => json!({"op": "remove", "path": path}),
        2 => json!({"op": "move", "from": other, "path": inside(dice)}),
        // A list may hold an equal item already: then nothing is copied.
        3 if !there.is_array() => json!({"op": "copy", "from": other, "path": inside(dice)}),
        4 | 5 => json!({"op": "add", "path": inside(dice), "value": new}),
        _ => json!({"op": "replace", "path": path, "value": new}),
    }
}

/// The value after operations, as `json-patch` makes them.
fn patched(value: &Value, operations: &[Value]) -> Option<Value> {
    let mut value = value.clone();
    let operations: Patch = serde_json::from_value(json!(operations)).unwrap();
    json_patch::patch(&mut value, &operations).ok().map(|()| value)
}

#[test]
fn random_edits_of_json_texts_say_what_json_patch_says_and_what_is_done_besides_is_found() {
    let subject = any_subject();
    let (mut count, mut tampered, mut complaints) = (0, 0, String::new());
    let rounds = rounds();
    for round in 0..rounds {
        let mut dice = Dice::new(&format!("json {round}"));
        let value = json!({"k": any_json(3, &mut dice), "l": any_json(3, &mut dice)});
        let still = odd_json(&json!({"still": [1, {"a": 2}]}), &mut dice);
        let lead = odd_json(&value, &mut dice);
        let text = format!("{},\"m\":{still}}}{}", lead.strip_suffix('}').unwrap(), ["", "\n"][dice.below(2)]);
        let value = embedded::read(Language::Json, &text).unwrap();
        let found = places(&value);
        let operations: Vec<Value> = (0..=dice.below(3)).map(|_| operation_on_json(&found, &mut dice)).collect();
        let listed: Vec<String> = operations.iter().map(Value::to_string).collect();
        let patch = patch_of_text("json", &listed.join("\n      - "));
        let base = with_text(&text, &mut dice);
        let Some(plan) = plan_of(&[&base], &[&patch]) else { continue };
        let Some(result) = verified(&subject, &plan) else { continue };
        count += 1;
        let complaint = match result {
            Err(objection) => Some(objection),
            Ok(built) => {
                let after = text_in(&built);
                let says = embedded::read(Language::Json, &after).ok();
                let others =
                    [still.replacen('[', "[ ", 1), still.replacen(':', ": ", 1), still.replacen('1', "1.000", 1)];
                let others = others.iter().filter(|_| after.matches(&still).count() == 1);
                let others: Vec<String> =
                    others.filter_map(|other| with_other(&built, &after.replace(&still, other))).collect();
                tampered += others.len();
                let unseen = others.into_iter().find(|other| objections(&subject, &plan, other).is_empty());
                if says == patched(&value, &operations) {
                    unseen.map(|other| format!("nobody sees\n{other}"))
                } else {
                    Some(format!("json-patch says {:?}\n{built}", patched(&value, &operations)))
                }
            }
        };
        if let Some(complaint) = complaint
            && complaints.len() < 9000
        {
            write!(complaints, "### {round} {listed:#?}\n-- base\n{base}\n-- told\n{complaint}\n").unwrap();
        }
    }
    assert!(complaints.is_empty(), "{complaints}");
    assert!(count * 10 > rounds * 5, "only {count} of {rounds}");
    assert!(tampered > count, "only {tampered} results were changed");
}

/// A document that holds a text among other things, some of them behind blank lines and comments.
fn holding(text: &str, dice: &mut Dice) -> String {
    let document = with_text(text, dice);
    let (head, data) = document.split_once("data:\n").unwrap();
    let noise = |dice: &mut Dice| ["", "", "\n", "\n\n", "# c\n", "\n# c\n", "  # c\n\n"][dice.below(7)];
    let other = ["", "  other: v\n", "  other: |+\n    v\n\n", "  none: {}\n\n"][dice.below(4)];
    let (data, lead) = (data.trim_end_matches("  other: v\n"), noise(dice));
    format!("{head}{}data:\n{other}{lead}{data}{}binaryData: {{}}\n", noise(dice), noise(dice))
}

#[test]
fn what_is_edited_in_a_text_and_then_goes_with_what_it_lies_in_leaves_nothing_behind() {
    let subject = any_subject();
    let (mut count, mut complaints) = (0, String::new());
    for round in 0..600 {
        let mut dice = Dice::new(&format!("gone {round}"));
        let mut value = Map::new();
        for key in ["k", "l", "m"] {
            value.insert(key.to_owned(), any_toml(3, &mut dice));
        }
        let (language, text) = match dice.below(3) {
            0 => ("toml", any_text(&value, &mut dice)),
            1 => ("json", oddly(&value.clone().into(), &mut dice) + "\n"),
            _ => ("yaml", block(&value.clone().into(), 0, &mut dice)),
        };
        let value = Value::from(value);
        let found = places(&value);
        let (inner, there) = &found[dice.below(found.len())];
        let new = any_toml(1, &mut dice);
        let first = match (there, dice.below(3)) {
            (Value::Object(_), 1) => json!({"op": "add", "path": format!("{inner}/new"), "value": new}),
            (_, 2) => json!({"op": "replace", "path": inner, "value": new}),
            _ => json!({"op": "remove", "path": inner}),
        };
        let first = patch_of_text(language, &first.to_string());
        let ends: Vec<usize> = inner.match_indices('/').skip(1).map(|(at, _)| at).chain([inner.len()]).collect();
        let outer = &inner[..ends[dice.below(ends.len())]];
        let is_written_twice = !first.contains("\"replace\"") && outer.len() == inner.len();
        let on_document = |operation: Value| patch(&json!({"kind": "ConfigMap"}), &operation);
        let then = match dice.below(6) {
            0 => on_document(json!({"op": "remove", "path": "/data/text"})),
            1 => on_document(json!({"op": "remove", "path": "/data"})),
            2 => on_document(json!({"op": "replace", "path": "/data", "value": {"k": "v"}})),
            3 => on_document(json!({"op": "replace", "path": "/data/text", "value": "other\n"})),
            _ if is_written_twice => continue,
            4 => patch_of_text(language, &json!({"op": "remove", "path": outer}).to_string()),
            _ => patch_of_text(language, &json!({"op": "replace", "path": outer, "value": "other"}).to_string()),
        };
        let base = holding(&text, &mut dice);
        let Some(both) = plan_of(&[&base], &[&first, &then]) else { continue };
        let Some(result) = verified(&subject, &both) else { continue };
        count += 1;
        let alone = verified(&subject, &plan_of(&[&base], &[&then]).unwrap());
        if result.is_err() || Some(&result) != alone.as_ref() {
            let (Ok(told) | Err(told)) = result;
            write!(complaints, "### {round}\n{first}\n{then}\n-- base\n{base}\n{told}\n-- alone\n{alone:?}\n").unwrap();
        }
    }
    assert!(complaints.is_empty(), "{complaints}");
    assert!(count > 300, "only {count} pairs of patches");
}

#[test]
fn a_list_of_items_in_a_text_is_not_taken_for_the_items_of_a_list_around_it() {
    let item = |name: &str| {
        format!(
            "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: {name}}}\n  data:\n    text: '{{\"items\": []}}'\n"
        )
    };
    let base = format!("apiVersion: v1\nkind: List\nitems:\n{}{}{}", item("a"), item("b"), item("c"));
    let on =
        |patch: String, name: &str| patch.replace("{kind: ConfigMap}", &format!("{{kind: ConfigMap, name: {name}}}"));
    let first = on(patch_of_text("json", "{op: add, path: /items/0, value: 1}"), "a");
    let second = on(patch_of_text("json", "{op: add, path: /items/0, value: 2}"), "b");
    let built = verified(&any_subject(), &plan_of(&[&base], &[&first, &second]).unwrap()).unwrap().unwrap();
    let wanted = base.replacen("[]", "[1]", 1).replacen("[]", "[2]", 1);
    assert_eq!(built, wanted);
}
