//! The report as JSON, values whole. Hidden characters are written as `\u` escapes, which mean the same.

use std::fmt::Write as _;

use serde::Serialize;

use super::Report;
use crate::diag::visible::is_hidden;

/// The report as `overlay/report/v1`, indented, ending with a line feed.
pub fn json(report: &Report) -> String {
    pretty(report)
}

/// Any value as indented JSON that a terminal can be shown, ending with a line feed.
pub fn pretty<T: Serialize>(value: &T) -> String {
    // No type of a report refuses to be serialised: their keys are texts, and their numbers are finite.
    let written = serde_json::to_string_pretty(value);
    debug_assert!(written.is_ok(), "{written:?}");
    let mut text = with_hidden_escaped(&written.unwrap_or_default());
    text.push('\n');
    text
}

/// JSON text with the hidden characters escaped that JSON allows in its strings. A line feed is layout: between quotes
/// it is escaped already.
fn with_hidden_escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || !is_hidden(c) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a `String` cannot fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::report::sample;

    #[test]
    fn the_report_has_the_documented_form() {
        let report: Value = serde_json::from_str(&super::json(&sample::report())).unwrap();
        assert_eq!(report["schema"], "overlay/report/v1");
        assert_eq!(report["ok"], false);
        let overlay = &report["overlays"][0];
        assert_eq!(overlay["documents"], json!({"kept": 2, "leftOut": ["ServiceAccount/kube-system/multus"]}));
        assert_eq!(
            overlay["patches"][0]["departures"],
            json!([{"resource": "ConfigMap/kube-system/net-config", "path": "/binDir", "within": "/data/net.json",
                "change": "add", "after": "/var/lib/cni"}])
        );
        assert_eq!(
            overlay["findings"][0],
            json!({"code": "undocumented-departure", "severity": "error",
                "message": "no patch claims that /spec/replicas of Deployment.apps/web differs",
                "file": "base/net/net.yaml", "line": 2, "column": 1, "label": "upstream's value",
                "resource": "Deployment.apps/web", "path": "/spec/replicas",
                "help": "write a patch for it, or take the change back"})
        );
    }

    #[test]
    fn hidden_characters_are_escaped_and_mean_the_same() {
        let value = json!({"a\u{7f}": "\u{1b}\u{9b}\u{202e}\u{e0041}\n\"é"});
        let text = pretty(&value);
        assert_eq!(text, "{\n  \"a\\u007f\": \"\\u001b\\u009b\\u202e\\udb40\\udc41\\n\\\"é\"\n}\n");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
