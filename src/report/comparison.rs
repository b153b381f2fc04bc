//! What `overlay diff` tells: two manifests, or upstream and an overlay's result, document by document, as text and as JSON.
//!
//! The serialised form is `overlay/diff/v1`. What does not apply is left out of it.

use serde::Serialize;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::json::pretty;
use super::paint::Paint;
use super::text::counted;
use super::value::{resource_name, shown_pair};
use super::{ChangeKind, Departure};
use crate::diag::render::Dress;
use crate::diag::visible::{shortened, visible};
use crate::yaml::spell::{self, Layout};

/// The name of the serialised form.
pub const COMPARISON_SCHEMA: &str = "overlay/diff/v1";

/// What is between two manifests.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    schema: &'static str,
    /// Whether both say the same.
    pub equal: bool,
    /// What the first is called.
    pub before: String,
    /// What the second is called.
    pub after: String,
    /// The documents that are not the same in both.
    pub documents: Vec<DocumentComparison>,
}

impl Comparison {
    /// What is between the manifest `before` and the manifest `after`.
    pub fn new(before: impl Into<String>, after: impl Into<String>, documents: Vec<DocumentComparison>) -> Comparison {
        let (before, after, equal) = (before.into(), after.into(), documents.is_empty());
        Comparison { schema: COMPARISON_SCHEMA, equal, before, after, documents }
    }
}

/// A document that is not the same in both.
#[derive(Clone, Debug, Serialize)]
pub struct DocumentComparison {
    /// What the first calls it, or the second where only that has it.
    pub resource: String,
    /// What the second calls it, with its API version, where one of them is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// Whether only one of them has it.
    pub change: ChangeKind,
    /// The file that it is added from, where an overlay adds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What differs in it; of a document that only one has, the whole of it.
    pub differences: Vec<Attributed>,
}

/// A difference, and whose it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attributed {
    /// The patch that makes it; `None` where none does, or where no overlay is asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// What it is.
    #[serde(flatten)]
    pub departure: Departure,
}

impl From<Departure> for Attributed {
    /// A difference that is nobody's.
    fn from(departure: Departure) -> Attributed {
        Attributed { patch: None, departure }
    }
}

/// What `overlay diff A B` prints; empty where both say the same.
pub fn comparison_text(comparison: &Comparison, dress: Dress) -> String {
    if comparison.equal {
        return String::new();
    }
    let paint = Paint(dress);
    let mut out = String::new();
    for (mark, name) in [("---", &comparison.before), ("+++", &comparison.after)] {
        out.push_str(&format!("{} {}\n", paint.quiet(mark), visible(name)));
    }
    let (whole, differing): (Vec<_>, Vec<_>) =
        comparison.documents.iter().partition(|document| document.change != ChangeKind::Replace);
    for document in &differing {
        push_document(&mut out, document, paint);
    }
    if !whole.is_empty() {
        out.push('\n');
    }
    for document in &whole {
        let (mark, says) = match document.change {
            ChangeKind::Remove => (paint.gone("-"), "is left out"),
            _ => (paint.good("+"), "is added"),
        };
        out.push_str(&format!("{mark} {} {says}\n", paint.name(&resource_name(&document.resource))));
    }
    out.push_str(&format!("\n{}\n", summary(&differing, &whole)));
    out
}

/// The comparison as `overlay/diff/v1`, indented, ending with a line feed.
pub fn comparison_json(comparison: &Comparison) -> String {
    pretty(comparison)
}

fn summary(differing: &[&DocumentComparison], whole: &[&DocumentComparison]) -> String {
    let mut facts = Vec::new();
    if !differing.is_empty() {
        let places = differing.iter().map(|document| document.differences.len()).sum();
        let verb = if differing.len() == 1 { "differs" } else { "differ" };
        let documents = counted(differing.len(), "document", "documents");
        facts.push(format!("{documents} {verb} in {}", counted(places, "place", "places")));
    }
    for (kind, says) in [(ChangeKind::Remove, "left out"), (ChangeKind::Add, "added")] {
        let count = whole.iter().filter(|document| document.change == kind).count();
        if count > 0 {
            facts.push(format!("{} {says}", counted(count, "document", "documents")));
        }
    }
    facts.join(", ")
}

/// A document and its differences, those in an embedded text under the text's place.
fn push_document(out: &mut String, document: &DocumentComparison, paint: Paint) {
    for group in document.differences.chunk_by(|a, b| a.departure.within == b.departure.within) {
        let Some(first) = group.first().map(|first| &first.departure) else { continue };
        let now = document.now.as_ref().map_or(String::new(), |now| format!(", now {}", visible(now)));
        let within = first.within.as_ref().map_or(String::new(), |within| format!(", in {}", visible(within)));
        out.push_str(&format!("\n{}{now}{within}\n", paint.name(&resource_name(&document.resource))));
        for difference in group {
            push_departure(out, &difference.departure, paint);
        }
    }
}

fn push_departure(out: &mut String, departure: &Departure, paint: Paint) {
    let (before, after) = (departure.before.as_ref(), departure.after.as_ref());
    let (mark, says) = match (departure.change, before.zip(after)) {
        (ChangeKind::Add, _) => (paint.good("+"), "added".to_owned()),
        (ChangeKind::Remove, _) => (paint.gone("-"), "removed".to_owned()),
        (ChangeKind::Replace, Some((before, after))) => (paint.changed("~"), changed(before, after)),
        (ChangeKind::Replace, None) => (paint.changed("~"), "changed".to_owned()),
        (ChangeKind::Move, Some((from, to))) => (paint.changed(">"), format!("moved from index {from} to {to}")),
        (ChangeKind::Move, None) => (paint.changed(">"), "moved".to_owned()),
    };
    let place = if departure.path.is_empty() { "the whole".into() } else { visible(&departure.path) };
    out.push_str(&format!("  {mark} {place}  {}\n", paint.quiet(&says)));
    for (sign, line) in lines(departure) {
        let line = format!("{sign} {line}");
        let line = match sign {
            '-' => paint.gone(line.trim_end()),
            '+' => paint.good(line.trim_end()),
            _ => paint.quiet(line.trim_end()),
        };
        out.push_str(&format!("      {line}\n"));
    }
}

/// That a value changed, and from what to what where its type did.
fn changed(before: &Value, after: &Value) -> String {
    let (from, to) = (type_of(before), type_of(after));
    if from == to { "changed".to_owned() } else { format!("changed from {from} to {to}") }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "mapping",
    }
}

/// How many lines of a value are shown; the rest is counted.
const MAX_LINES: usize = 40;

/// How many characters of a line are shown; beyond it, the middle is left out.
const MAX_LINE: usize = 240;

/// How many unchanged lines stand around a changed one.
const CONTEXT: usize = 2;

/// Lists stand deeper than their keys: a dash below a sign reads as a sign.
const LAYOUT: Layout = Layout { step: 2, indent_lists: true };

/// The lines below a place, each with its sign.
fn lines(departure: &Departure) -> Vec<(char, String)> {
    match (departure.change, &departure.before, &departure.after) {
        (ChangeKind::Move, ..) => Vec::new(),
        (_, Some(Value::String(before)), Some(Value::String(after))) => strings(before, after),
        (_, before, after) => {
            let signed = |sign, value: &Option<Value>| value.as_ref().map(|value| value_lines(sign, value));
            [signed('-', before), signed('+', after)].into_iter().flatten().flatten().collect()
        }
    }
}

/// A value as YAML, so that `"50"` and `50` differ.
fn value_lines(sign: char, value: &Value) -> Vec<(char, String)> {
    let text = spell::block(value, 0, LAYOUT, None);
    bounded(text.lines().map(|line| (sign, shortened(line, MAX_LINE))).collect())
}

/// Two strings: line by line where they have several, round what differs where they are long.
fn strings(before: &str, after: &str) -> Vec<(char, String)> {
    if before.trim_end().contains('\n') && after.trim_end().contains('\n') {
        return bounded(text_lines(before, after));
    }
    let (before, after) = (Value::from(before), Value::from(after));
    let is_long = |value: &Value| value.as_str().is_some_and(|text| text.len() > MAX_LINE);
    if is_long(&before) || is_long(&after) {
        let (before, after) = shown_pair(&before, &after);
        return vec![('-', before), ('+', after)];
    }
    [value_lines('-', &before), value_lines('+', &after)].concat()
}

/// The lines that differ between two texts, with some around them.
fn text_lines(before: &str, after: &str) -> Vec<(char, String)> {
    let diff = TextDiff::from_lines(before, after);
    let mut out = Vec::new();
    for group in diff.grouped_ops(CONTEXT) {
        if !out.is_empty() {
            out.push((' ', "…".to_owned()));
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            let line = change.value();
            out.push((sign, shortened(line.strip_suffix('\n').unwrap_or(line), MAX_LINE)));
            if sign != ' ' && !line.ends_with('\n') {
                out.push((' ', "(no line break at its end)".to_owned()));
            }
        }
    }
    out
}

fn bounded(mut lines: Vec<(char, String)>) -> Vec<(char, String)> {
    // One line more is shown rather than counted.
    if lines.len() > MAX_LINES + 1 {
        let more = lines.len() - MAX_LINES;
        let sign = lines.last().map_or(' ', |(sign, _)| *sign);
        lines.truncate(MAX_LINES);
        lines.push((sign, format!("… {more} more lines")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn departure(path: &str, change: ChangeKind, before: Option<Value>, after: Option<Value>) -> Departure {
        let within = path.starts_with("/mtu").then(|| "/data/net.json".to_owned());
        Departure { resource: "A/a".into(), path: path.into(), within, change, before, after, note: None }
    }

    fn of(differences: Vec<Departure>) -> DocumentComparison {
        let differences = differences.into_iter().map(Attributed::from).collect();
        DocumentComparison { resource: "A/a".into(), now: None, change: ChangeKind::Replace, from: None, differences }
    }

    fn text(documents: Vec<DocumentComparison>) -> String {
        comparison_text(&Comparison::new("base/net", "old.yaml", documents), Dress::Plain)
    }

    /// What stands below the head and above the summary.
    fn body(departure: Departure) -> String {
        let text = text(vec![of(vec![departure])]);
        let (_, body) = text.split_once("A/a\n").unwrap();
        body.split_once("\n\n").unwrap().0.to_owned()
    }

    #[test]
    fn a_list_in_a_value_stands_apart_from_the_sign() {
        let rule = json!({"apiGroups": ["a"], "verbs": ["get", "list"]});
        let wanted = "  - /rules/2  removed\n      - apiGroups:\n      -   - a\n      - verbs:\n      -   - get\n      -   - list";
        assert_eq!(body(departure("/rules/2", ChangeKind::Remove, Some(rule), None)), wanted);
    }

    #[test]
    fn a_comparison_reads_from_document_to_place_to_values() {
        let port = json!({"containerPort": 53, "protocol": "TCP"});
        let differing = of(vec![
            departure("/metadata/annotations/wave", ChangeKind::Add, None, Some(json!("0"))),
            departure("/spec/ports/[containerPort=53]", ChangeKind::Remove, Some(port), None),
            departure("/spec/replicas", ChangeKind::Replace, Some(json!(1)), Some(json!("1"))),
            departure("/spec/order/[=b]", ChangeKind::Move, Some(json!(1)), Some(json!(0))),
            departure("/mtu", ChangeKind::Replace, Some(json!(1500)), Some(json!(9000))),
        ]);
        let whole = |change, name: &str| DocumentComparison { resource: name.into(), change, ..of(Vec::new()) };
        let documents = vec![differing, whole(ChangeKind::Remove, "B/b"), whole(ChangeKind::Add, "C/c")];
        assert_eq!(
            text(documents),
            "\
--- base/net
+++ old.yaml

A/a
  + /metadata/annotations/wave  added
      + \"0\"
  - /spec/ports/[containerPort=53]  removed
      - containerPort: 53
      - protocol: TCP
  ~ /spec/replicas  changed from number to string
      - 1
      + \"1\"
  > /spec/order/[=b]  moved from index 1 to 0

A/a, in /data/net.json
  ~ /mtu  changed
      - 1500
      + 9000

- B/b is left out
+ C/c is added

1 document differs in 5 places, 1 document left out, 1 document added
"
        );
        assert_eq!(text(Vec::new()), "");
    }

    #[test]
    fn texts_of_lines_are_compared_line_by_line() {
        let lines = |changed: &str| json!((0..9).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat() + changed);
        let (before, after) = (lines("old\nsame\n"), lines("new\nsame"));
        let shown = body(departure("/data/run.sh", ChangeKind::Replace, Some(before), Some(after)));
        assert_eq!(
            shown,
            "  ~ /data/run.sh  changed
        line 7
        line 8
      - old
      - same
      + new
      + same
        (no line break at its end)"
        );
    }

    #[test]
    fn long_values_are_bounded_and_safe() {
        let many: Value = (0..100).map(|n| json!(n)).collect();
        let shown = body(departure("/spec/l", ChangeKind::Add, None, Some(many)));
        assert_eq!(shown.lines().count(), 42);
        assert!(shown.ends_with("      + - 39\n      + … 60 more lines"), "{shown}");
        let long = |middle: &str| Some(json!(format!("{}{middle}{}", "a".repeat(1000), "b".repeat(1000))));
        let shown = body(departure("/spec/s", ChangeKind::Replace, long("\u{1b}[2J"), long("x")));
        assert!(shown.lines().all(|line| line.len() < 100), "{shown}");
        assert!(!shown.contains('\u{1b}') && shown.contains("bbb"), "{shown}");
        let shown = body(departure("/spec/\u{202e}", ChangeKind::Add, None, Some(json!({"a\u{202e}": "\u{1b}"}))));
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
    }

    #[test]
    fn the_serialised_form_has_whole_values() {
        let document = of(vec![departure("/mtu", ChangeKind::Replace, Some(json!(1)), Some(json!("x".repeat(999))))]);
        let written = comparison_json(&Comparison::new("a", "b", vec![document]));
        let read: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(
            read,
            json!({"schema": "overlay/diff/v1", "equal": false, "before": "a", "after": "b", "documents": [
                {"resource": "A/a", "change": "replace", "differences": [
                    {"resource": "A/a", "path": "/mtu", "within": "/data/net.json", "change": "replace",
                        "before": 1, "after": "x".repeat(999)},
                ]},
            ]})
        );
    }
}
