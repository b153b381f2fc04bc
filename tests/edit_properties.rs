//! Edits of documents that nobody wrote: in every style, with comments, blank lines, anchors and block scalars wherever
//! YAML allows them. What an edit must be is told in `probe`.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod probe;

use std::fmt::Write as _;

use overlay::change::{TextEdit, apply_edits};
use overlay::yaml::edit::edit_embedded;
use overlay::yaml::load::load_text;
use overlay::yaml::tree::Tree;
use probe::{Document, pointer, values};
use proptest::prelude::*;

/// Bytes that every choice of a document is made by; without any left it is the simplest one.
struct Choices<'b>(std::slice::Iter<'b, u8>);

impl Choices<'_> {
    fn of(&mut self, count: usize) -> usize {
        usize::from(*self.0.next().unwrap_or(&0)) % count
    }

    fn one<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.of(texts.len())]
    }
}

/// Scalars that may stand anywhere.
const SCALARS: [&str; 12] =
    ["x", "'it''s'", "\"a\\tb\"", "0x10", "~", "true", "\"\"", "-1.5", "a-b.c/d", "'[#]'", "\"\\\\\"", "1_000"];
/// Scalars on several lines; `>` stands for where the next line is indented to.
const LONG: [&str; 4] = ["one\n>two", "'one\n\n>  two'", "\"one\\\n>two\"", "\"{\n>\\\"a\\\": 1\n>}\""];

/// Writes one document.
struct Writer<'b> {
    choices: Choices<'b>,
    out: String,
    keys: usize,
    /// The anchors that may be used, and whether each names a mapping.
    anchors: Vec<bool>,
    with_anchors: bool,
}

/// A document that is made by these choices.
fn document(bytes: &[u8], with_anchors: bool) -> String {
    let mut writer =
        Writer { choices: Choices(bytes.iter()), out: String::new(), keys: 0, anchors: Vec::new(), with_anchors };
    let layout = writer.choices.of(32);
    let head = writer.choices.one(&["", "# head\n", "---\n", "# head\n\n--- # start\n"]);
    writer.out.push_str(head);
    match writer.choices.of(4) {
        0..=2 => writer.mapping(0, false, 0),
        _ => writer.sequence(0, false, 0),
    }
    let end = writer.choices.one(&["", "# end\n", "\n", "...\n"]);
    writer.out.push_str(end);
    let text = if layout & 1 == 1 { writer.out.replace('\n', "\r\n") } else { writer.out };
    let text = if (layout >> 1) & 3 == 3 { format!("\u{feff}{text}") } else { text };
    if layout >> 3 == 3 { text.trim_end().to_owned() } else { text }
}

impl Writer<'_> {
    fn indent(&mut self, column: usize) {
        self.out.extend(std::iter::repeat_n(' ', column));
    }

    /// Blank lines and comments above a line at a column.
    fn above(&mut self, column: usize) {
        match self.choices.of(8) {
            1 => self.out.push('\n'),
            2 => {
                self.indent(column);
                self.out.push_str("# above\n");
            }
            3 => {
                self.indent(column);
                self.out.push_str("# far\n\n");
                self.indent(column);
                self.out.push_str("# above\n");
            }
            4 => {
                self.indent(column + 3);
                self.out.push_str("# to the right\n");
            }
            _ => {}
        }
    }

    fn line_end(&mut self) {
        let end = self.choices.one(&["\n", "\n", " # behind\n", "  \n"]);
        self.out.push_str(end);
    }

    fn key(&mut self) -> String {
        self.keys += 1;
        let quote = self.choices.one(&["", "", "'", "\""]);
        format!("{quote}k{}{quote}", self.keys)
    }

    fn mapping(&mut self, column: usize, begun: bool, depth: usize) {
        for i in 0..=self.choices.of(4) {
            if i > 0 || !begun {
                self.above(column);
                self.indent(column);
            }
            if self.anchors.contains(&true) && self.choices.of(12) == 1 {
                let anchor = self.anchors.iter().rposition(|mapping| *mapping).unwrap();
                writeln!(self.out, "<<: *a{anchor}").unwrap();
                continue;
            }
            let key = self.key();
            write!(self.out, "{key}:").unwrap();
            self.value(column, false, depth);
        }
    }

    fn sequence(&mut self, column: usize, begun: bool, depth: usize) {
        for i in 0..=self.choices.of(4) {
            if i > 0 || !begun {
                self.above(column);
                self.indent(column);
            }
            self.out.push('-');
            self.value(column, true, depth);
        }
    }

    /// A value behind a colon or a dash that stands for a column.
    fn value(&mut self, column: usize, in_item: bool, depth: usize) {
        let anchored = self.with_anchors && self.choices.of(6) == 1;
        let number = self.anchors.len();
        if anchored {
            self.anchors.push(false);
            write!(self.out, " &a{number}").unwrap();
            // It can be used only once it is complete.
            self.anchors[number] = false;
        }
        let kind = self.choices.of(if depth > 3 { 8 } else { 12 });
        match kind {
            0..=2 => self.scalar(),
            3 => self.line_end(),
            4 => self.long(column),
            5 => self.block(column),
            6 | 7 => {
                self.out.push(' ');
                self.flow(depth);
                self.line_end();
            }
            _ => self.collection(column, in_item && !anchored, depth, kind < 10),
        }
        if anchored {
            self.anchors[number] = (8..10).contains(&kind);
        }
    }

    fn scalar(&mut self) {
        let usable = self.anchors.len();
        if usable > 0 && self.out.lines().last().is_some_and(|line| !line.contains('&')) && self.choices.of(3) == 1 {
            let alias = self.choices.of(usable);
            if self.is_complete(alias) {
                write!(self.out, " *a{alias}").unwrap();
                return self.line_end();
            }
        }
        let scalar = self.choices.one(&SCALARS);
        write!(self.out, " {scalar}").unwrap();
        self.line_end();
    }

    /// Whether an anchor is not around the place.
    fn is_complete(&self, anchor: usize) -> bool {
        let closed = Tree::parse(&format!("{} *a{anchor}\n", self.out));
        closed.is_ok_and(|tree| overlay::yaml::load::load(&tree, &self.out).is_ok())
    }

    fn long(&mut self, column: usize) {
        let text = self.choices.one(&LONG);
        write!(self.out, " {}", text.replace('>', &" ".repeat(column + 2))).unwrap();
        self.line_end();
    }

    fn block(&mut self, column: usize) {
        let header = self.choices.one(&["|", "|-", "|+", ">", ">-", ">+", "| # behind", "|2"]);
        let indent = if header == "|2" { 2 } else { 1 + self.choices.of(3) };
        writeln!(self.out, " {header}").unwrap();
        for i in 0..=self.choices.of(3) {
            let line = self.choices.one(&["text", "# no comment", "key: x", "  more", "", "{\"a\": 1}"]);
            let line = if i == 0 && (line.is_empty() || line.starts_with(' ')) { "first" } else { line };
            if !line.is_empty() {
                self.indent(column + indent);
            }
            writeln!(self.out, "{line}").unwrap();
        }
        let blank = self.choices.one(&["", "", "\n", "\n\n"]);
        self.out.push_str(blank);
    }

    fn collection(&mut self, column: usize, in_item: bool, depth: usize, mapping: bool) {
        let on_the_line = in_item && self.choices.of(4) > 0;
        let step = if on_the_line { 2 } else { [2, 4, 1][self.choices.of(3)] };
        let under_key = !mapping && !in_item && !self.out.ends_with('-') && self.choices.of(2) == 1;
        if on_the_line {
            self.out.push(' ');
        } else {
            self.line_end();
        }
        let is_item = self.out.trim_end().rsplit('\n').next().is_some_and(|line| line.trim_start().starts_with("- &"));
        let inner = if under_key && !is_item { column } else { column + step };
        if mapping {
            self.mapping(inner, on_the_line, depth + 1);
        } else {
            self.sequence(inner, on_the_line, depth + 1);
        }
    }

    fn flow(&mut self, depth: usize) {
        let mapping = self.choices.of(2) == 1;
        let count = self.choices.of(4);
        let (blank, lines, comma) = (self.choices.of(3) == 1, self.choices.of(4) == 1, self.choices.of(4) == 1);
        self.out.push(if mapping { '{' } else { '[' });
        for i in 0..count {
            match (lines, i) {
                (true, _) => {
                    let end = self.choices.one(&["\n", " # behind\n", "\n              # above\n"]);
                    write!(self.out, "{end}              ").unwrap();
                }
                (false, 0) if blank => self.out.push(' '),
                (false, 0) => {}
                (false, _) => self.out.push(' '),
            }
            if mapping {
                let key = self.key();
                write!(self.out, "{key}: ").unwrap();
            }
            if depth < 3 && self.choices.of(4) == 1 {
                self.flow(depth + 1);
            } else {
                let scalar = self.choices.one(&SCALARS);
                self.out.push_str(scalar);
            }
            if i + 1 < count || comma {
                self.out.push(',');
            }
        }
        if lines && count > 0 {
            self.out.push_str("\n            ");
        } else if blank && count > 0 {
            self.out.push(' ');
        }
        self.out.push(if mapping { '}' } else { ']' });
    }
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..160)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn an_edit_means_what_it_must_and_stays_in_its_place(
        bytes in bytes(), which in any::<prop::sample::Index>(), value in any::<prop::sample::Index>()
    ) {
        let text = document(&bytes, false);
        prop_assume!(load_text(&text).is_ok());
        let document = Document::read(format!("{text:?}"), &text);
        let mut probes = document.probes();
        let mut probe = probes.swap_remove(which.index(probes.len()));
        probe.value = value.get(&values()).clone();
        let problem = document.check(&probe);
        prop_assert!(problem.is_none(), "{}\n{}", problem.unwrap(), text);
    }

    #[test]
    fn a_value_is_spelled_after_a_model(
        bytes in bytes(), model in bytes(), which in any::<prop::sample::Index>()
    ) {
        let (text, model) = (document(&bytes, false), document(&model, true));
        prop_assume!(load_text(&text).is_ok() && load_text(&model).is_ok());
        let document = Document::read(format!("{text:?}"), &text);
        let mut probes = document.probes();
        probes.retain(|probe| probe.op != "remove");
        let mut probe = probes.swap_remove(which.index(probes.len()));
        probe.value = load_text(&model).unwrap().value;
        probe.model = Some(model);
        let problem = document.check(&probe);
        prop_assert!(problem.is_none(), "{}\n{}", problem.unwrap(), text);
    }

    #[test]
    fn an_edit_of_what_is_shared_changes_its_place_alone(
        bytes in bytes(), which in any::<prop::sample::Index>(), value in any::<prop::sample::Index>()
    ) {
        let text = document(&bytes, true);
        prop_assume!(load_text(&text).is_ok());
        let document = Document::read(format!("{text:?}"), &text);
        let mut probes = document.probes();
        let mut probe = probes.swap_remove(which.index(probes.len()));
        probe.value = value.get(&values()).clone();
        let problem = document.check(&probe);
        prop_assert!(problem.is_none(), "{}\n{}", problem.unwrap(), text);
    }

    #[test]
    fn an_edit_of_an_embedded_text_is_carried(
        bytes in bytes(), which in any::<prop::sample::Index>(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 2..5),
        new in prop::sample::select(vec!["", "x", "a: b", "\n", "one\ntwo", " ", "\"'", "# c", "é\n"]),
    ) {
        let text = document(&bytes, false);
        prop_assume!(load_text(&text).is_ok());
        let document = Document::read(format!("{text:?}"), &text);
        let value = load_text(&text).unwrap().value;
        let probes = document.probes().into_iter().filter(|probe| probe.op == "replace");
        let texts: Vec<_> = probes
            .filter_map(|probe| Some((value.pointer(&pointer(&probe.path))?.as_str()?.to_owned(), probe.path)))
            .collect();
        prop_assume!(!texts.is_empty());
        let (old, path) = which.get(&texts);
        let mut places: Vec<usize> =
            cuts.iter().map(|cut| cut.index(old.len() + 1)).filter(|at| old.is_char_boundary(*at)).collect();
        places.sort_unstable();
        let inner: Vec<TextEdit> =
            places.chunks_exact(2).map(|c| TextEdit { range: c[0]..c[1], text: new.to_owned() }).collect();
        let edits = edit_embedded(&text, path, &inner);
        prop_assert!(edits.is_ok(), "{:?} {:?}\n{}", edits, inner, text);
        let edits = edits.unwrap();
        let after = load_text(&apply_edits(&text, &edits)).unwrap().value;
        let mut expected = value.clone();
        *expected.pointer_mut(&pointer(path)).unwrap() = apply_edits(old, &inner).into();
        prop_assert_eq!(after, expected, "{}", text);
    }
}
