//! Documents and texts that are laid out in every way that people do it, thrown for the tests of the proof.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::fmt::Write as _;

use overlay::embedded::Language;
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::proving::{oddly, with_text};

pub(crate) const HEAD: &str = "apiVersion: v1\nkind: X\nmetadata: {name: x}\n";

/// A document, with a text in it where one is given.
pub(crate) fn document(text: Option<&str>, dice: &mut Dice) -> String {
    let mut body = String::new();
    if let Some(text) = text {
        let with = with_text(text, dice);
        let (_, data) = with.split_once("data:\n").unwrap();
        let around = ["", "", "  # of it\n", "  more: {}\n", "  more: |+\n    v\n\n"][dice.below(5)];
        write!(body, "{}data:\n{around}{data}", Writer { dice: &mut *dice }.noise(0)).unwrap();
    }
    if text.is_none() || dice.below(2) == 0 {
        Writer { dice: &mut *dice }.top(&mut body);
    }
    let body = match dice.below(6) {
        0 | 1 => body.trim_end_matches('\n').to_owned(),
        2 => body + ["\n", "\n\n", "# end\n", "\n# end\n"][dice.below(4)],
        _ => body,
    };
    let document = format!("{HEAD}{body}");
    if dice.below(10) == 0 { document.replace('\n', "\r\n") } else { document }
}

const TOML: [&str; 7] = [
    "k = 1\n",
    "# c\nk = 1\n\n[t]\na = 1 # of a\n\n[u]\nb = [1, 2]\n",
    "[t]\na = 1\n[u]\nb = {  }\n[v]\nc = [  ]\n",
    "[[l]]\na = 1\n\n[[l]]\na = 2\n\n[m]\nb = \"x # y\"\n",
    "[[l]]\na = 1\n[[l]]\na = 2\n[m]\nb = 1",
    "k = [\n  1, # one\n  2,\n]\nl = {a = 1, b = 2}\n\n# of m\n[m.n]\nx = 1",
    "",
];

/// A text in a language.
pub(crate) fn text(language: Language, dice: &mut Dice) -> String {
    match language {
        Language::Toml => TOML[dice.below(TOML.len())].to_owned(),
        Language::Json => {
            let value = json!({"k": thing(2, dice), "l": thing(2, dice)});
            oddly(&value, dice) + ["", "\n"][dice.below(2)]
        }
        Language::Yaml => {
            let mut text = String::new();
            let mut writer = Writer { dice };
            match writer.dice.below(6) {
                0 => {
                    text +=
                        ["k: v\n", "- v\n", "{ }\n", "k: { }\n", "k: |\n  v\n", "k:\n\n  - x\n"][writer.dice.below(6)];
                }
                _ => writer.top(&mut text),
            }
            match dice.below(3) {
                0 => text.trim_end_matches('\n').to_owned(),
                _ => text,
            }
        }
    }
}

/// The lines of a value in a patch file behind a key.
pub(crate) fn value_lines(key: &str, value: &Value, indent: usize, dice: &mut Dice) -> String {
    let column = " ".repeat(indent);
    if dice.below(2) == 0 || !is_filled(value) {
        return format!("{column}{key}: {value}\n");
    }
    let mut lines = format!("{column}{key}:\n");
    Writer { dice }.block(value, indent + 2, &mut lines);
    lines
}

fn is_filled(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    }
}

/// A value of few keys and scalars.
fn thing(depth: usize, dice: &mut Dice) -> Value {
    let depth_below = depth.saturating_sub(1);
    match if depth == 0 { 6 } else { dice.below(8) } {
        0..=2 => {
            (0..=dice.below(3)).map(|at| (["a", "b", "name", "c"][at].to_owned(), thing(depth_below, dice))).collect()
        }
        3 | 4 => (0..=dice.below(3)).map(|_| thing(depth_below, dice)).collect(),
        _ => [
            json!(1),
            json!("x"),
            json!({}),
            json!([]),
            json!("x # y"),
            json!("two\nlines\n"),
            json!("no\nend"),
            json!(null),
            json!("it's"),
        ][dice.below(9)]
        .clone(),
    }
}

struct Writer<'d> {
    dice: &'d mut Dice,
}

impl Writer<'_> {
    /// One of some.
    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.dice.below(of.len())]
    }

    /// Lines that say nothing, before one at a column.
    fn noise(&mut self, indent: usize) -> String {
        let (own, deeper) = (" ".repeat(indent), " ".repeat(indent + 2));
        let lines = self.one(&[
            "",
            "",
            "",
            "",
            "",
            "\n",
            "\n\n",
            "=# c\n",
            "=# c\n",
            "\n=# c\n",
            "=# c\n\n",
            "+# c\n",
            "# c\n",
            "+# c\n=# d\n",
        ]);
        lines.replace('=', &own).replace('+', &deeper)
    }

    /// Some keys at the margin, of which one may have an anchor that others refer to.
    fn top(&mut self, out: &mut String) {
        let anchored = self.dice.below(4);
        for (number, key) in ["k", "l", "m"].into_iter().enumerate().take(1 + self.dice.below(3)) {
            let value = thing(3, self.dice);
            *out += &self.noise(0);
            let lead = if number == anchored { format!("{key}: &x") } else { format!("{key}:") };
            self.part(&lead, &value, 0, out);
            if number == anchored {
                *out += &self.noise(0);
                *out += if value.is_object() {
                    self.one(&["u: *x\n", "u:\n  <<: *x\n", "u:\n  <<: *x\n  own: 1\n"])
                } else {
                    "u: *x\n"
                };
            }
        }
    }

    /// The lines of a collection that holds something.
    fn block(&mut self, value: &Value, indent: usize, out: &mut String) {
        for (lead, value) in parts(value) {
            *out += &self.noise(indent);
            *out += &" ".repeat(indent);
            self.part(&lead, value, indent, out);
        }
    }

    /// An entry or item, the blanks before it left out. Its collection stands at a column.
    fn part(&mut self, lead: &str, value: &Value, indent: usize, out: &mut String) {
        *out += lead;
        let why = self.one(&["", "", "", " # why", "  # it's \"why\""]);
        if !is_filled(value) {
            let scalar = self.scalar(value, indent, why);
            *out += &scalar;
            return;
        }
        let is_item = lead == "-";
        match self.dice.below(6) {
            0 => writeln!(out, " {}{why}", self.flow(value, indent)).unwrap(),
            1..=3 if is_item => {
                *out += " ";
                let mut parts = parts(value).into_iter();
                let (lead, first) = parts.next().unwrap();
                self.part(&lead, first, indent + 2, out);
                for (lead, value) in parts {
                    *out += &self.noise(indent + 2);
                    *out += &" ".repeat(indent + 2);
                    self.part(&lead, value, indent + 2, out);
                }
            }
            _ => {
                *out += why;
                out.push('\n');
                let step = if value.is_array() && !is_item { self.one(&[0, 2]) } else { 2 };
                self.block(value, indent + step, out);
            }
        }
    }

    /// Behind its colon or dash.
    fn scalar(&mut self, value: &Value, indent: usize, why: &str) -> String {
        let blanks = " ".repeat(indent + 2);
        match value {
            Value::String(text) if text.contains('\n') && self.dice.below(3) > 0 => {
                let lines: Vec<String> = text.lines().map(|line| format!("{blanks}{line}\n")).collect();
                let chomp = if text.ends_with('\n') { "" } else { "-" };
                let more = if text.ends_with('\n') && self.dice.below(6) == 0 { "+" } else { chomp };
                format!(" |{more}{why}\n{}", lines.concat())
            }
            Value::String(text) if text == "x" => format!(" {}{why}\n", self.one(&["x", "'x'", "\"x\""])),
            Value::Null => format!("{}{why}\n", self.one(&["", " ~", " null"])),
            Value::Object(_) => format!(" {}{why}\n", self.one(&["{}", "{ }"])),
            Value::Array(_) => format!(" {}{why}\n", self.one(&["[]", "[ ]"])),
            other => format!(" {other}{why}\n"),
        }
    }

    /// Between brackets: on one line, or in lines below one at a column.
    fn flow(&mut self, value: &Value, indent: usize) -> String {
        let (open, close) = if value.is_array() { ('[', ']') } else { ('{', '}') };
        let written = |(lead, value): &(String, &Value)| match lead.as_str() {
            "-" => in_flow(value),
            key => format!("{key} {}", in_flow(value)),
        };
        let parts: Vec<String> = parts(value).iter().map(written).collect();
        let (own, deeper) = (" ".repeat(indent), " ".repeat(indent + 2));
        match self.dice.below(4) {
            0 => {
                let mut lines = String::new();
                for (number, part) in parts.iter().enumerate() {
                    let is_last = number + 1 == parts.len();
                    let comma = if is_last { self.one(&["", ","]) } else { "," };
                    let why = self.one(&["", "", " # why"]);
                    let above = self.one(&["", "", "", "+# c\n", "\n"]).replace('+', &deeper);
                    writeln!(lines, "{above}{deeper}{part}{comma}{why}").unwrap();
                }
                format!("{open}\n{lines}{}{close}", if indent == 0 { "" } else { &own })
            }
            1 => format!("{open} {} {close}", parts.join(", ")),
            2 if parts.len() > 1 => format!("{open}{}{close}", parts.join(&format!(",\n{deeper}"))),
            _ => format!("{open}{}{close}", parts.join(", ")),
        }
    }
}

fn in_flow(value: &Value) -> String {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let parts: Vec<String> = map.iter().map(|(key, value)| format!("{key}: {}", in_flow(value))).collect();
            format!("{{{}}}", parts.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(in_flow).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// What stands before each part of a collection, and the part.
fn parts(value: &Value) -> Vec<(String, &Value)> {
    match value {
        Value::Object(map) => map.iter().map(|(key, value)| (format!("{key}:"), value)).collect(),
        Value::Array(items) => items.iter().map(|item| ("-".to_owned(), item)).collect(),
        _ => Vec::new(),
    }
}
