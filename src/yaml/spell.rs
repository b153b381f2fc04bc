//! Values written as YAML that every reader takes as meant.
//!
//! What is written here is read alike by YAML 1.1, by YAML 1.2 and by Kubernetes: a text that any of them would take
//! for something else is quoted, and what cannot stand in quotes is escaped. A style that is asked for is kept as far as the
//! value and the place allow. Where the text goes is the caller's concern (`yaml::edit`).
//!
//! Lines are separated by `\n`, and no text ends with one. Recursion is as deep as the value, whose depth its reader has
//! bounded.

use serde_json::{Map, Number, Value};

use super::number;
use super::scalar;
use super::tree::{Kind, NodeId, Style, Tree};
use crate::diag::visible::is_hidden;

/// How many characters a key may have in `key: value` (YAML 1.2.2, 7.4.2); a longer one stands behind a `?`.
const MAX_KEY: usize = 1024;

/// The step that a block scalar's indentation indicator can name.
const MAX_STEP: usize = 9;

/// Where a scalar goes, which decides on the styles that it can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Behind the colon or the dash of a block collection.
    Block {
        /// The column of the key or the dash that it stands behind.
        column: usize,
        /// By how many columns the lines of a block scalar are indented from there; 1 to 9.
        step: usize,
    },
    /// Within brackets or braces.
    Flow,
    /// Before the colon of a block mapping.
    Key,
}

/// How block collections are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// By how many columns a collection stands to the right of the key that it belongs to; 1 to 9.
    pub step: usize,
    /// Whether that holds for lists too. Otherwise the dashes stand under the key.
    pub indent_lists: bool,
}

impl Default for Layout {
    fn default() -> Self {
        Layout { step: 2, indent_lists: false }
    }
}

/// A node whose styles (quotes, block or flow) are a model for a value.
#[derive(Clone, Copy, Debug)]
pub struct Model<'t> {
    /// The tree.
    pub tree: &'t Tree,
    /// The node in it.
    pub node: NodeId,
}

impl<'t> Model<'t> {
    fn style(self) -> Option<Style> {
        self.tree.node(self.tree.resolve(self.node)).style()
    }

    fn is_flow(self) -> bool {
        self.tree.node(self.tree.resolve(self.node)).is_flow()
    }

    /// The model of the item at that index.
    fn item(self, index: usize) -> Option<Model<'t>> {
        match &self.tree.node(self.tree.resolve(self.node)).kind {
            Kind::Sequence { items, .. } => items.get(index).map(|item| Model { node: item.node, ..self }),
            _ => None,
        }
    }

    /// The models of a key and its value, if the entry at that index is the one.
    fn entry(self, index: usize, key: &str) -> Option<(Model<'t>, Model<'t>)> {
        let Kind::Mapping { entries, .. } = &self.tree.node(self.tree.resolve(self.node)).kind else { return None };
        let entry = entries.get(index)?;
        let same = self.tree.node(entry.key).text() == Some(key);
        same.then_some((Model { node: entry.key, ..self }, Model { node: entry.value, ..self }))
    }
}

/// A scalar; a collection is written in flow style. The wish is for strings: null, booleans and numbers are bare.
pub fn scalar(value: &Value, wish: Option<Style>, place: Place) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => spell_number(number),
        Value::String(text) => string(text, wish, place),
        Value::Array(_) | Value::Object(_) => flow(value, None),
    }
}

/// A string. Without a wish it is bare where that is safe, a literal where it has lines and the place takes one, and in double
/// quotes otherwise.
pub fn string(text: &str, wish: Option<Style>, place: Place) -> String {
    let block = || match place {
        Place::Block { column, step } => Block::of(text, column, step),
        Place::Flow | Place::Key => None,
    };
    let bare = || is_safe_bare(text, place == Place::Flow).then(|| text.to_owned());
    let spelled = match wish {
        Some(Style::Literal) => block().as_ref().map(Block::literal),
        Some(Style::Folded) => block().as_ref().map(|block| block.folded().unwrap_or_else(|| block.literal())),
        Some(Style::Single) => single_quoted(text),
        Some(Style::Double) => None,
        // A literal that ends with blank lines takes the blank lines behind it in: it is written only where wished.
        Some(Style::Plain) | None => {
            bare().or_else(|| block().filter(|b| text.contains('\n') && !b.keeps_blank_lines()).map(|b| b.literal()))
        }
    };
    spelled.unwrap_or_else(|| double_quoted(text))
}

/// A mapping key, in block or in flow style. One of more than 1024 characters needs a `?` before it.
pub fn key(text: &str, wish: Option<Style>, place: Place) -> String {
    string(text, wish, if place == Place::Flow { Place::Flow } else { Place::Key })
}

/// Any value in flow style, on one line.
pub fn flow(value: &Value, model: Option<Model<'_>>) -> String {
    match value {
        Value::Array(items) => {
            let items = items.iter().enumerate();
            let items: Vec<String> = items.map(|(at, item)| flow(item, model.and_then(|m| m.item(at)))).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(entries) => {
            let entries: Vec<String> = models(entries, model)
                .map(|(name, value, model)| {
                    let name = key(name, model.and_then(|(key, _)| key.style()), Place::Flow);
                    let value = flow(value, model.map(|(_, value)| value));
                    if is_long_key(&name) { format!("? {name} : {value}") } else { format!("{name}: {value}") }
                })
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        _ => scalar(value, model.and_then(Model::style), Place::Flow),
    }
}

/// A value in block style whose first character stands at `column`: the lines behind the first are indented, the first
/// is not. An empty collection, and one whose model is in flow style, is in flow style here too.
///
/// A scalar that stands here belongs to no key or dash: it is a document's root.
pub fn block(value: &Value, column: usize, layout: Layout, model: Option<Model<'_>>) -> String {
    if !is_block_collection(value, model) {
        return leaf(value, column, layout, model);
    }
    let separator = format!("\n{}", " ".repeat(column));
    let parts: Vec<String> = match value {
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(at, item)| format!("-{}", behind_dash(item, column, layout, model.and_then(|m| m.item(at)))))
            .collect(),
        Value::Object(entries) => models(entries, model)
            .map(|(name, value, model)| {
                let name = key(name, model.and_then(|(key, _)| key.style()), Place::Key);
                let value = behind_colon(value, column, layout, model.map(|(_, value)| value));
                if is_long_key(&name) { format!("? {name}{separator}:{value}") } else { format!("{name}:{value}") }
            })
            .collect(),
        _ => Vec::new(),
    };
    parts.join(&separator)
}

/// What stands behind the colon of a key at `column`: a space and a value, or the lines of a block collection.
pub fn behind_colon(value: &Value, column: usize, layout: Layout, model: Option<Model<'_>>) -> String {
    if !is_block_collection(value, model) {
        return format!(" {}", leaf(value, column, layout, model));
    }
    let inner = if value.is_array() && !layout.indent_lists { column } else { column + layout.step };
    format!("\n{}{}", " ".repeat(inner), block(value, inner, layout, model))
}

/// What stands behind a dash at `column`: a space and a value.
pub fn behind_dash(value: &Value, column: usize, layout: Layout, model: Option<Model<'_>>) -> String {
    if !is_block_collection(value, model) {
        return format!(" {}", leaf(value, column, layout, model));
    }
    format!(" {}", block(value, column + 2, layout, model))
}

fn is_block_collection(value: &Value, model: Option<Model<'_>>) -> bool {
    let filled = match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(entries) => !entries.is_empty(),
        _ => false,
    };
    filled && !model.is_some_and(Model::is_flow)
}

fn leaf(value: &Value, column: usize, layout: Layout, model: Option<Model<'_>>) -> String {
    match value {
        Value::Array(_) | Value::Object(_) => flow(value, model),
        _ => scalar(value, model.and_then(Model::style), Place::Block { column, step: layout.step }),
    }
}

type EntryModel<'m> = Option<(Model<'m>, Model<'m>)>;

/// The entries of a mapping with the models of their keys and values.
fn models<'v, 'm>(
    entries: &'v Map<String, Value>,
    model: Option<Model<'m>>,
) -> impl Iterator<Item = (&'v str, &'v Value, EntryModel<'m>)> {
    entries
        .iter()
        .enumerate()
        .map(move |(at, (key, value))| (key.as_str(), value, model.and_then(|m| m.entry(at, key))))
}

/// Whether a key is too long to be one without a `?` before it.
pub(super) fn is_long_key(spelled: &str) -> bool {
    spelled.len() > MAX_KEY && spelled.chars().count() > MAX_KEY
}

/// YAML 1.1 wants a point in a float, and a sign in its exponent.
fn spell_number(number: &Number) -> String {
    let text = number::canonical(number).to_string();
    match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            let point = if mantissa.contains('.') { "" } else { ".0" };
            let sign = if exponent.starts_with(['+', '-']) { "" } else { "+" };
            format!("{mantissa}{point}e{sign}{exponent}")
        }
        None => text,
    }
}

/// Whether a bare text is read as itself by everyone.
fn is_safe_bare(text: &str, flow: bool) -> bool {
    if is_word(text) {
        return scalar::is_text_to_all(text);
    }
    scalar::is_text_to_all(text)
        && text.chars().all(|c| is_shown(c) && !(c.is_whitespace() && c != ' '))
        && !text.starts_with(' ')
        && !text.ends_with(' ')
        && starts_bare(text)
        && !is_marker(text)
        && !text.contains(": ")
        && !text.ends_with(':')
        && !text.contains(" #")
        && !(flow && text.contains([',', '[', ']', '{', '}', '?']))
}

/// Letters, digits, and marks that mean nothing behind them: nearly all names, kinds and digests.
fn is_word(text: &str) -> bool {
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'/' | b'_');
    text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric()) && text.as_bytes().iter().all(inner)
}

/// A bare scalar begins with no indicator, but a dash with something behind it is none.
fn starts_bare(text: &str) -> bool {
    if let Some(rest) = text.strip_prefix('-') {
        return !rest.is_empty() && !rest.starts_with(' ');
    }
    !text.starts_with(['?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`'])
}

/// At the start of a line it would end the document.
fn is_marker(text: &str) -> bool {
    let rest = text.strip_prefix("---").or_else(|| text.strip_prefix("..."));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// What may stand on a line as it is and shows there. A tab is not among it, for what it may stand next to.
fn is_shown(c: char) -> bool {
    is_printable(c) && !is_hidden(c)
}

/// YAML's printable characters (YAML 1.2.2, 5.1) without those that YAML 1.1 takes for line breaks, without the byte order
/// mark, and without the tab.
fn is_printable(c: char) -> bool {
    let ascii = matches!(c, ' '..='~');
    let above = !c.is_ascii()
        && !c.is_control()
        && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    ascii || above
}

fn single_quoted(text: &str) -> Option<String> {
    text.chars().all(is_shown).then(|| format!("'{}'", text.replace('\'', "''")))
}

/// Everything has a spelling in double quotes. `\/` and surrogate pairs, which JSON has, go-yaml refuses.
fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_shown(c) => out.push(c),
            c => out.push_str(&escape(c)),
        }
    }
    out.push('"');
    out
}

fn escape(c: char) -> String {
    let code = u32::from(c);
    if code <= 0xffff { format!("\\u{code:04X}") } else { format!("\\U{code:08X}") }
}

/// A text that can be a block scalar, and where.
struct Block<'t> {
    text: &'t str,
    column: usize,
    step: usize,
}

impl<'t> Block<'t> {
    /// A block scalar holds no character that needs an escape or does not show, and no line of white space alone, which
    /// editors take away.
    fn of(text: &'t str, column: usize, step: usize) -> Option<Self> {
        let fits = (1..=MAX_STEP).contains(&step)
            && text.contains(|c| c != '\n')
            && text.chars().all(|c| is_shown(c) || matches!(c, '\n' | '\t'))
            && text.split('\n').all(|line| line.is_empty() || !line.trim_matches([' ', '\t']).is_empty());
        fits.then_some(Block { text, column, step })
    }

    fn keeps_blank_lines(&self) -> bool {
        self.text.ends_with("\n\n")
    }

    fn literal(&self) -> String {
        let mut out = self.header('|');
        for line in self.lines() {
            self.push_line(&mut out, line);
        }
        out
    }

    /// In a folded scalar a line break between two lines is a space, so each is written as two. Lines that begin with
    /// white space follow rules of their own, and are not folded here.
    fn folded(&self) -> Option<String> {
        if self.text.starts_with('\n') || self.text.split('\n').any(|line| line.starts_with([' ', '\t'])) {
            return None;
        }
        let content = self.text.trim_end_matches('\n').split('\n').count();
        let mut out = self.header('>');
        for (at, line) in self.lines().enumerate() {
            self.push_line(&mut out, line);
            if at + 1 < content && !line.is_empty() {
                out.push('\n');
            }
        }
        Some(out)
    }

    /// The lines of the text; its last line break is the one behind the scalar.
    fn lines(&self) -> impl Iterator<Item = &'t str> {
        self.text.strip_suffix('\n').unwrap_or(self.text).split('\n')
    }

    /// The indicator, the indentation where the first line would mislead about it, and what becomes of the line
    /// breaks at the end.
    fn header(&self, indicator: char) -> String {
        let first = self.text.trim_start_matches('\n');
        let step = if first.starts_with([' ', '\t']) { self.step.to_string() } else { String::new() };
        let chomping = match (self.text.ends_with('\n'), self.keeps_blank_lines()) {
            (false, _) => "-",
            (true, false) => "",
            (true, true) => "+",
        };
        format!("{indicator}{step}{chomping}")
    }

    fn push_line(&self, out: &mut String, line: &str) {
        out.push('\n');
        if !line.is_empty() {
            out.push_str(&" ".repeat(self.column + self.step));
            out.push_str(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::yaml::load::load_text;

    const HERE: Place = Place::Block { column: 0, step: 2 };

    /// What both readers make of a text, which must be the same.
    fn read(text: &str) -> Value {
        let ours = load_text(text).unwrap_or_else(|e| panic!("{e} in {text:?}")).value;
        let mut theirs: Value = serde_yaml::from_str(text).unwrap_or_else(|e| panic!("{e} in {text:?}"));
        number::canonicalize(&mut theirs);
        assert_eq!(ours, theirs, "two readers of {text:?}");
        ours
    }

    fn plain(text: &str) -> String {
        string(text, Some(Style::Plain), HERE)
    }

    #[test]
    fn what_is_misread_bare_is_quoted() {
        for text in [
            "",
            "no",
            "On",
            "y",
            "N",
            "~",
            "null",
            "true",
            "1",
            "-1",
            "0x1F",
            "0o17",
            "0755",
            "08",
            "1_000",
            "1.5",
            ".5",
            "1e3",
            "12:30",
            "190:20:30.15",
            ".inf",
            ".NaN",
            "=",
            "<<",
            "2001-12-14",
            "2001-12-14 21:59:43",
            "- x",
            "-",
            "? x",
            "?x",
            ":x",
            ": x",
            "a: b",
            "a:",
            "a #b",
            "#a",
            "&a",
            "*a",
            "!a",
            "|",
            ">",
            "'a",
            "%a",
            "@a",
            "`a",
            "[a",
            "]a",
            "{a",
            "}a",
            ",a",
            " a",
            "a ",
            "---",
            "...",
            "--- a",
        ] {
            assert_eq!(plain(text), format!("\"{text}\""), "{text}");
            assert_eq!(read(&format!("k: {}\n", plain(text)))["k"], json!(text));
        }
    }

    #[test]
    fn what_is_read_alike_stays_bare() {
        for text in [
            "a",
            "a b",
            "a:b",
            "a#b",
            "-x",
            "--verbose=true",
            "/opt/cni/bin",
            "v1.2.3",
            "1.2.3",
            "10.0.0.0/8",
            "é",
            "a'b\"c",
            "x=y",
            "5Gi",
            "100m",
            "a,b",
            "a[0]",
            "---x",
            "a?b",
            "yEs",
            "sha256:0f",
            "image@sha256:0f",
            "~x",
            "=x",
            "<x",
        ] {
            assert_eq!(plain(text), text);
            assert_eq!(read(&format!("k: {}\n", plain(text)))["k"], json!(text));
        }
    }

    #[test]
    fn flow_style_takes_less_bare() {
        for text in ["a,b", "a[0]", "a{", "a?b"] {
            assert_eq!(string(text, None, Place::Flow), format!("\"{text}\""));
        }
        assert_eq!(string("http://a.example/b", None, Place::Flow), "http://a.example/b");
    }

    #[test]
    fn quotes_are_kept_and_give_way_where_they_must() {
        assert_eq!(string("it's", Some(Style::Single), HERE), "'it''s'");
        assert_eq!(string("a\tb", Some(Style::Single), HERE), "\"a\\tb\"");
        assert_eq!(string("a\nb", Some(Style::Single), HERE), "\"a\\nb\"");
        assert_eq!(string("a\"\\b", Some(Style::Double), HERE), "\"a\\\"\\\\b\"");
        assert_eq!(
            string("\u{85}\u{2028}\u{feff}\0\u{7f}é😀\u{1fffe}", Some(Style::Double), HERE),
            "\"\\u0085\\u2028\\uFEFF\\u0000\\u007Fé😀\u{1fffe}\""
        );
    }

    #[test]
    fn what_acts_instead_of_showing_is_written_as_an_escape() {
        for wish in [None, Some(Style::Plain), Some(Style::Single), Some(Style::Double)] {
            assert_eq!(string("n\u{9b}[31m\u{202e}x", wish, HERE), "\"n\\u009B[31m\\u202Ex\"");
        }
        // What languages need stays as it is.
        assert_eq!(string("\u{645}\u{200c}\u{645}", None, HERE), "\u{645}\u{200c}\u{645}");
    }

    #[test]
    fn lines_become_a_literal_where_there_is_room_for_one() {
        assert_eq!(string("a\n b\n", None, HERE), "|\n  a\n   b");
        assert_eq!(string("a\n\nb", Some(Style::Plain), Place::Block { column: 2, step: 2 }), "|-\n    a\n\n    b");
        assert_eq!(string(" a\nb\n", None, Place::Block { column: 0, step: 4 }), "|4\n     a\n    b");
        assert_eq!(string("\n\ta\n", None, HERE), "|2\n\n  \ta");
        assert_eq!(string("a\n\n", None, HERE), "\"a\\n\\n\"");
        assert_eq!(string("a\n\n", Some(Style::Literal), HERE), "|+\n  a\n");
        assert_eq!(string("a", Some(Style::Literal), HERE), "|-\n  a");
        for text in ["", "\n", "a\r\nb", "a\n \nb", "a\n\u{85}"] {
            assert!(string(text, Some(Style::Literal), HERE).starts_with('"'), "{text:?}");
        }
        assert_eq!(string("a\nb", Some(Style::Literal), Place::Flow), "\"a\\nb\"");
        assert_eq!(key("a\nb", None, HERE), "\"a\\nb\"");
    }

    #[test]
    fn folded_scalars_stay_folded() {
        assert_eq!(string("a\nb\n\nc\n", Some(Style::Folded), HERE), ">\n  a\n\n  b\n\n\n  c");
        assert_eq!(string("a b", Some(Style::Folded), HERE), ">-\n  a b");
        assert_eq!(string("a\n b", Some(Style::Folded), HERE), "|-\n  a\n   b");
    }

    #[test]
    fn numbers_are_numbers_to_all() {
        for (json, yaml) in
            [("1e21", "1.0e+21"), ("1.5E-9", "1.5e-9"), ("1.0", "1"), ("18446744073709551616", "18446744073709551616")]
        {
            let value: Value = serde_json::from_str(json).unwrap();
            assert_eq!(scalar(&value, Some(Style::Single), HERE), yaml);
        }
    }

    #[test]
    fn collections_are_laid_out() {
        let value = json!({"a": {"b": [1, {"c": "x", "d": [[2], []]}]}, "no": "t\nu\n", "e": {}});
        assert_eq!(
            block(&value, 0, Layout::default(), None),
            "a:\n  b:\n  - 1\n  - c: x\n    d:\n    - - 2\n    - []\n\"no\": |\n  t\n  u\ne: {}"
        );
        assert_eq!(
            behind_colon(&value, 2, Layout { step: 4, indent_lists: true }, None),
            "\n      a:\n          b:\n              - 1\n              - c: x\n                d:\n                    - - 2\n                    - []\n      \"no\": |\n          t\n          u\n      e: {}"
        );
        assert_eq!(flow(&value, None), "{a: {b: [1, {c: x, d: [[2], []]}]}, \"no\": \"t\\nu\\n\", e: {}}");
        assert_eq!(behind_dash(&json!([1, 2]), 4, Layout::default(), None), " - 1\n      - 2");
    }

    #[test]
    fn a_model_lends_its_styles() {
        let text = "'a': {b: \"c\"}\nd: >\n  e\nf:\n- [1, 'g']\nh: no\n";
        let tree = Tree::parse(text).unwrap();
        let model = Some(Model { tree: &tree, node: tree.root().unwrap() });
        let value = load_text(text).unwrap().value;
        let spelled = "'a': {b: \"c\"}\nd: >\n  e\nf:\n- [1, 'g']\nh: false";
        assert_eq!(block(&value, 0, Layout::default(), model), spelled);
        assert_eq!(flow(&value, model), "{'a': {b: \"c\"}, d: \"e\\n\", f: [[1, 'g']], h: false}");
    }

    #[test]
    fn a_long_key_stands_behind_a_question_mark() {
        let value = json!({"k".repeat(2000): {"a": 1}, "b": [2]});
        assert_eq!(read(&block(&value, 0, Layout::default(), None)), value);
        assert_eq!(read(&flow(&value, None)), value);
    }

    /// Texts with much in them that YAML minds.
    fn texts() -> impl Strategy<Value = String> {
        let pieces = prop::sample::select(vec![
            "a", "b", " ", " ", "\n", "\n", "\t", "\r", "-", "--- ", "...", ":", ": ", "#", " #", "'", "\"", "\\", "{",
            "}", "[", "]", ",", "&", "*", "!", "|", ">", "%", "@", "`", "?", "=", "<<", "~", "no", "y", "null", "0",
            "1", "7", "9", ".", "_", "e", "x", "o", "+", "T", "\u{85}", "\u{a0}", "\u{2028}", "\u{feff}", "\0",
            "\u{7f}", "é", "😀", "\u{fffd}",
        ]);
        prop_oneof![prop::collection::vec(pieces, 0..8).prop_map(|p| p.concat()), ".{0,12}", "(?s).{0,12}"]
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_filter_map("JSON has no such number", number::of_float).prop_map(Value::Number),
            texts().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((texts(), inner), 0..4)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    fn wishes() -> impl Strategy<Value = Option<Style>> {
        prop::sample::select(vec![
            None,
            Some(Style::Plain),
            Some(Style::Single),
            Some(Style::Double),
            Some(Style::Literal),
            Some(Style::Folded),
        ])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn every_string_is_read_back_in_every_place(text in texts(), wish in wishes(), step in 1usize..5) {
            let place = Place::Block { column: 2, step };
            let spelled = string(&text, wish, place);
            prop_assert_eq!(read(&format!("a:\n  b: {spelled}\n"))["a"]["b"].clone(), json!(text));
            prop_assert_eq!(read(&format!("- - {spelled}\n  - 1\n"))[0][0].clone(), json!(text));
            let spelled = string(&text, wish, Place::Flow);
            prop_assert_eq!(read(&format!("[{spelled}, {{b: {spelled}}}]\n")), json!([text, {"b": text}]));
            let spelled = key(&text, wish, place);
            prop_assert_eq!(read(&format!("{spelled}: 1\n")), json!({text: 1}));
        }

        #[test]
        fn every_value_is_read_back(value in values(), step in 1usize..5, indent_lists: bool) {
            let layout = Layout { step, indent_lists };
            prop_assert_eq!(read(&format!("{}\n", block(&value, 0, layout, None))), value.clone());
            prop_assert_eq!(read(&format!("{}\n", flow(&value, None))), value.clone());
            let entry = format!("k:{}\nl:\n-{}\n", behind_colon(&value, 0, layout, None), behind_dash(&value, 0, layout, None));
            prop_assert_eq!(read(&entry), json!({"k": value, "l": [value]}));
        }
    }
}
