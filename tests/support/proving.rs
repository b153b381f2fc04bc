//! Plans of one manifest and its patches, built and proven, and values and texts thrown for them.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use overlay::build::build;
use overlay::config::Findings;
use overlay::diag::{Code, Diagnostic};
use overlay::layer::plan::Plan;
use overlay::subject::Subject;
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::plans::{objections, plan_of, told};

/// The documents of a manifest as a plan with one patch; `None` where it is no manifest.
pub(crate) fn plan(text: &str, patch: &str) -> Option<Plan> {
    plan_of(&[text], &[patch])
}

/// A patch of one operation.
pub(crate) fn patch(target: &Value, operation: &Value) -> String {
    format!(
        "apiVersion: overlay/v1\nkind: Patch\nname: p\nsummary: s\nwhy: w\nchanges:\n  - target: {target}\n    \
         patch:\n      - {operation}\n"
    )
}

/// Builds and verifies. `None` where the build refuses; else the result, or what verify has to object to it. A build that
/// takes itself for mistaken does not refuse.
pub(crate) fn verified(subject: &Subject, plan: &Plan) -> Option<Result<String, String>> {
    let mut findings = Findings::new();
    let Some(built) = build(plan, &[], &mut findings).map(|built| built.text) else {
        let is_mistake = |f: &&Diagnostic| f.code == Code::Internal || f.message.contains("please report");
        let mistakes = told(findings.iter().filter(is_mistake));
        return (!mistakes.is_empty()).then_some(Err(mistakes));
    };
    let errors = objections(subject, plan, &built);
    Some(if errors.is_empty() { Ok(built) } else { Err(format!("{}\n-- built\n{built}", told(errors.iter()))) })
}

/// The paths of all that is below the top of a value, and what is there.
pub(crate) fn places(value: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), value)];
    while let Some((path, value)) = open.pop() {
        let escaped = |key: &str| match key.replace('~', "~0").replace('/', "~1") {
            star if star == "*" => "~3".to_owned(),
            key => key.strip_prefix('[').map_or(key.clone(), |rest| format!("~2{rest}")),
        };
        match value {
            Value::Object(map) => open.extend(map.iter().map(|(k, v)| (format!("{path}/{}", escaped(k)), v))),
            Value::Array(items) => open.extend(items.iter().enumerate().map(|(i, v)| (format!("{path}/{i}"), v))),
            _ => {}
        }
        if !path.is_empty() {
            found.push((path, value));
        }
    }
    found
}

/// A document with a text in it, as a literal where it can be one, or between quotes.
pub(crate) fn with_text(text: &str, dice: &mut Dice) -> String {
    let head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n";
    let needs_quotes =
        text.contains(['\r', '\u{feff}']) || text.starts_with([' ', '\t', '\n']) || text.ends_with("\n\n");
    if dice.below(3) == 0 || needs_quotes || text.trim().is_empty() {
        return format!("{head}  text: {}\n", json!(text));
    }
    let lines: Vec<String> = text.split_inclusive('\n').map(|line| format!("    {line}")).collect();
    let lines = lines.concat();
    let (chomp, end) = if text.ends_with('\n') { ("", "") } else { ("-", "\n") };
    format!("{head}  text: |{chomp}\n{lines}{end}  other: v\n")
}

/// A patch on the text that [`with_text`] puts into a document.
pub(crate) fn patch_of_text(language: &str, operations: &str) -> String {
    format!(
        "apiVersion: overlay/v1\nkind: Patch\nname: p\nsummary: s\nwhy: w\nchanges:\n  - target: {{kind: ConfigMap}}\n    \
         within: {{path: /data/text, as: {language}}}\n    patch:\n      - {operations}\n"
    )
}

/// A JSON text of a value, with white space of every kind wherever there may be some.
pub(crate) fn oddly(value: &Value, dice: &mut Dice) -> String {
    const SPACES: [&str; 9] = ["", "", "", " ", "\n", "\n  ", "\n     ", "\n\n   ", "\t"];
    let space = |dice: &mut Dice| SPACES[dice.below(SPACES.len())];
    let parts: Vec<String> = match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| {
                let colon = format!("{}:{}", ["", " "][dice.below(2)], [" ", ""][dice.below(2)]);
                format!("{}{}{colon}{}{}", space(dice), json!(key), oddly(value, dice), space(dice))
            })
            .collect(),
        Value::Array(items) => {
            items.iter().map(|item| format!("{}{}{}", space(dice), oddly(item, dice), space(dice))).collect()
        }
        scalar => return scalar.to_string(),
    };
    if value.is_object() { format!("{{{}}}", parts.join(",")) } else { format!("[{}]", parts.join(",")) }
}

/// A value, of few keys and scalars, so that its parts look like one another.
pub(crate) fn any_value(depth: usize, dice: &mut Dice) -> Value {
    let below = |dice: &mut Dice| any_value(depth - 1, dice);
    match if depth == 0 { 4 } else { dice.below(5) } {
        0 | 1 => (0..dice.below(4)).map(|at| (["a", "b", "name"][at].to_owned(), below(dice))).collect(),
        2 | 3 => (0..dice.below(4)).map(|_| below(dice)).collect(),
        _ => [json!(1), json!("x"), json!({}), json!([])][dice.below(4)].clone(),
    }
}

/// The lines of a value as a block, each line at `indent`, with blank lines and comments between some of them.
pub(crate) fn block(value: &Value, indent: usize, dice: &mut Dice) -> String {
    let column = " ".repeat(indent);
    let mut out = String::new();
    let mut part = |lead: String, value: &Value, dice: &mut Dice| {
        out += ["", "", "\n", "\n\n", "# c\n", "\n  # c\n"][dice.below(6)]
            .replace("# c", &format!("{column}# c"))
            .as_str();
        let is_block = !matches!(value, Value::Array(items) if items.is_empty())
            && !matches!(value, Value::Object(map) if map.is_empty())
            && (value.is_array() || value.is_object());
        if is_block {
            out += &format!("{column}{lead}\n{}", block(value, indent + 2, dice));
        } else {
            out += &format!("{column}{lead} {value}\n");
        }
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| part(format!("{key}:"), value, dice)),
        Value::Array(items) => items.iter().for_each(|item| part("-".to_owned(), item, dice)),
        _ => {}
    }
    out
}

/// Texts that differ from `after` where it has what `before` has: by a comment, a blank line, blanks at a line's end, or
/// without a line.
pub(crate) fn tampered(before: &str, after: &str, dice: &mut Dice) -> Vec<String> {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let says_nothing = |line: &&&str| line.trim().is_empty() || line.trim().starts_with('#');
    let stays = |at: &usize| {
        let above = new[..*at].iter().rev().take_while(says_nothing).count() + 1;
        let below = new[*at + 1..].iter().take_while(says_nothing).count() + 2;
        let around = at.checked_sub(above).and_then(|from| new.get(from..at + below));
        around.is_some_and(|around| old.windows(around.len()).filter(|lines| *lines == around).count() == 1)
    };
    let places: Vec<usize> = (1..new.len()).filter(stays).collect();
    if places.is_empty() {
        return Vec::new();
    }
    let at = places[dice.below(places.len())];
    let (above, line, below) = (new[..at].concat(), new[at], new[at + 1..].concat());
    let bare = line.trim_end();
    vec![
        format!("{above}# said besides\n{line}{below}"),
        format!("{above}\n{line}{below}"),
        format!("{above}{bare}  {}{below}", &line[bare.len()..]),
        format!("{above}  {line}{below}"),
        format!("{above}{below}"),
    ]
}
