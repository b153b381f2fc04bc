//! The report as SARIF 2.1.0 (OASIS), which code-scanning services take in.

use serde_json::{Map, Value, json};

use super::Report;
use super::json::pretty;
use crate::diag::{Code, Diagnostic, Place, Severity};

/// A SARIF log with one run: every code is a rule, every finding a result.
pub fn sarif(report: &Report) -> String {
    let results: Vec<Value> = report.overlays.iter().flat_map(|overlay| &overlay.findings).map(result).collect();
    pretty(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": env!("CARGO_PKG_NAME"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": Code::ALL.iter().map(|code| rule(*code)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    }))
}

fn rule(code: Code) -> Value {
    json!({
        "id": code.as_str(),
        "shortDescription": {"text": code.summary()},
        "helpUri": format!("{}/docs/findings.md#{code}", env!("CARGO_PKG_REPOSITORY")),
        "defaultConfiguration": {"level": level(code.severity())},
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn result(finding: &Diagnostic) -> Value {
    let mut result = Map::new();
    result.insert("ruleId".into(), finding.code.as_str().into());
    if let Some(index) = Code::ALL.iter().position(|code| *code == finding.code) {
        result.insert("ruleIndex".into(), index.into());
    }
    result.insert("level".into(), level(finding.severity).into());
    result.insert("message".into(), json!({"text": message(finding)}));
    let locations: Vec<Value> = finding.place.iter().map(|place| location(place, finding, "")).collect();
    result.insert("locations".into(), locations.into());
    if !finding.related.is_empty() {
        let related: Vec<Value> =
            finding.related.iter().map(|(place, label)| location(place, finding, label)).collect();
        result.insert("relatedLocations".into(), related.into());
    }
    let properties = [("patch", &finding.patch), ("resource", &finding.resource), ("path", &finding.path)];
    let known: Map<String, Value> =
        properties.into_iter().filter_map(|(name, text)| Some((name.into(), text.clone()?.into()))).collect();
    if !known.is_empty() {
        result.insert("properties".into(), known.into());
    }
    result.into()
}

/// The message with notes and help, a sentence a line.
fn message(finding: &Diagnostic) -> String {
    let rest = finding.notes.iter().chain(&finding.help).map(String::as_str);
    std::iter::once(finding.message.as_str()).chain(rest).collect::<Vec<_>>().join("\n")
}

fn location(place: &Place, finding: &Diagnostic, label: &str) -> Value {
    let (start_line, start_column) = place.line_column();
    let (end_line, end_column) = place.source.line_column(place.span.end.max(place.span.start));
    let mut location = json!({"physicalLocation": {
        "artifactLocation": {"uri": relative_uri(&place.source.name)},
        "region": {"startLine": start_line, "startColumn": start_column, "endLine": end_line, "endColumn": end_column},
    }});
    if !label.is_empty() {
        location["message"] = json!({"text": label});
    } else if let Some(resource) = &finding.resource {
        location["logicalLocations"] = json!([{"fullyQualifiedName": resource, "kind": "resource"}]);
    }
    location
}

/// A path as a relative URI reference (RFC 3986): everything but unreserved characters and `/` is percent-encoded, a
/// `:` too, which would make a scheme of what stands before it.
fn relative_uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Source;
    use crate::report::{OverlayReport, sample};

    fn read(report: &Report) -> Value {
        serde_json::from_str(&sarif(report)).unwrap()
    }

    #[test]
    fn every_code_is_a_rule_and_every_finding_a_result() {
        let log = read(&sample::report());
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        assert_eq!(rules.len(), Code::ALL.len());
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), 2);
        for result in results {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[index]["id"], result["ruleId"]);
        }
        assert_eq!(
            results[0]["locations"],
            json!([{"physicalLocation": {
                "artifactLocation": {"uri": "base/net/net.yaml"},
                "region": {"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 5},
            }, "logicalLocations": [{"fullyQualifiedName": "Deployment.apps/web", "kind": "resource"}]}])
        );
        assert_eq!(results[0]["properties"], json!({"resource": "Deployment.apps/web", "path": "/spec/replicas"}));
        assert_eq!(results[1]["level"], "note");
    }

    #[test]
    fn what_a_log_must_have_is_there_without_a_place_and_with_others() {
        let source = Source::new("a b/ü:c.yaml", "x: 1\n");
        let bare = Diagnostic::new(Code::ResultEmpty, "nothing is left").help("keep one");
        let related = bare.clone().related(Place::new(&source, 0..1), "first");
        let report =
            Report::new(vec![OverlayReport { findings: vec![bare, related], ..OverlayReport::default() }], false);
        let results = read(&report)["runs"][0]["results"].clone();
        assert_eq!(results[0]["locations"], json!([]));
        assert_eq!(results[0]["message"]["text"], "nothing is left\nkeep one");
        let other = &results[1]["relatedLocations"][0];
        assert_eq!(other["physicalLocation"]["artifactLocation"]["uri"], "a%20b/%C3%BC%3Ac.yaml");
        assert_eq!(other["message"]["text"], "first");
    }
}
