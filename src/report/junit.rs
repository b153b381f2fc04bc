//! The report as JUnit XML, which CI services show as tests: a suite for each overlay, in it a test for each patch and one
//! for all that is about no patch. The form is the one that the services share; there is no standard of it.

use std::collections::BTreeMap;

use super::{OverlayReport, Report};
use crate::diag::visible::visible;
use crate::diag::{Diagnostic, Severity};

/// What the test about no patch is called.
const OWN: &str = "base and result";

/// The report. A test fails where it has an error, or, in a strict report, a warning; what else was found is its output.
pub fn junit(report: &Report) -> String {
    let suites: Vec<Suite<'_>> = report.overlays.iter().map(|overlay| Suite::new(overlay, report.strict)).collect();
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let (tests, failures) = (suites.iter().map(Suite::tests).sum(), suites.iter().map(Suite::failures).sum());
    out.push_str(&format!("<testsuites name=\"overlay\" {}>\n", counts(tests, failures)));
    for suite in &suites {
        suite.push(&mut out);
    }
    out.push_str("</testsuites>\n");
    out
}

fn counts(tests: usize, failures: usize) -> String {
    format!("tests=\"{tests}\" failures=\"{failures}\"")
}

struct Suite<'r> {
    overlay: &'r OverlayReport,
    cases: Vec<Case<'r>>,
}

/// A test, and what was found about it.
struct Case<'r> {
    name: &'r str,
    file: &'r str,
    failures: Vec<&'r Diagnostic>,
    others: Vec<&'r Diagnostic>,
}

impl<'r> Suite<'r> {
    fn new(overlay: &'r OverlayReport, strict: bool) -> Suite<'r> {
        let mut found: BTreeMap<&str, Vec<&Diagnostic>> = BTreeMap::new();
        let is_of_overlay = |name: &str| overlay.patches.iter().any(|patch| patch.name == name);
        for finding in &overlay.findings {
            let patch = finding.patch.as_deref().filter(|name| is_of_overlay(name));
            found.entry(patch.unwrap_or_default()).or_default().push(finding);
        }
        let mut case = |name, file, key: &str| {
            let fails = |finding: &&Diagnostic| finding.is_error() || (strict && finding.severity == Severity::Warning);
            let (failures, others) = found.remove(key).unwrap_or_default().into_iter().partition(fails);
            Case { name, file, failures, others }
        };
        let mut cases = vec![case(OWN, &overlay.path, "")];
        cases.extend(overlay.patches.iter().map(|patch| case(&patch.name, &patch.file, &patch.name)));
        Suite { overlay, cases }
    }

    fn tests(&self) -> usize {
        self.cases.len()
    }

    fn failures(&self) -> usize {
        self.cases.iter().filter(|case| !case.failures.is_empty()).count()
    }

    fn push(&self, out: &mut String) {
        let name = escaped(&self.overlay.path);
        out.push_str(&format!("  <testsuite name=\"{name}\" {}>\n", counts(self.tests(), self.failures())));
        for case in &self.cases {
            case.push(&name, out);
        }
        out.push_str("  </testsuite>\n");
    }
}

impl Case<'_> {
    fn push(&self, suite: &str, out: &mut String) {
        let (name, file) = (escaped(self.name), escaped(self.file));
        out.push_str(&format!("    <testcase name=\"{name}\" classname=\"{suite}\" file=\"{file}\""));
        if self.failures.is_empty() && self.others.is_empty() {
            out.push_str("/>\n");
            return;
        }
        out.push_str(">\n");
        if let Some(first) = self.failures.first() {
            let (code, message) = (first.code, escaped(&first.message));
            out.push_str(&format!("      <failure type=\"{code}\" message=\"{message}\">"));
            out.push_str(&told(&self.failures));
            out.push_str("</failure>\n");
        }
        if !self.others.is_empty() {
            out.push_str(&format!("      <system-out>{}</system-out>\n", told(&self.others)));
        }
        out.push_str("    </testcase>\n");
    }
}

/// Findings, each with its place, notes and help, a line each.
fn told(findings: &[&Diagnostic]) -> String {
    let mut lines = Vec::new();
    for finding in findings {
        let place = finding.place.as_ref().map_or(String::new(), |place| {
            let (line, column) = place.line_column();
            format!("{}:{line}:{column}: ", place.source.name)
        });
        lines.push(format!("{place}{}[{}]: {}", finding.severity.as_str(), finding.code, finding.message));
        lines.extend(finding.notes.iter().chain(&finding.help).map(|text| format!("  {text}")));
    }
    lines.iter().map(|line| escaped(line)).collect::<Vec<_>>().join("\n")
}

/// A text as it can stand in an attribute or between tags: on one line, without what XML takes for its own, and without
/// characters that it does not have (XML 1.0, 2.2).
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Code, Place, Source};
    use crate::report::{PatchReport, sample};

    #[test]
    fn each_patch_is_a_test_and_what_is_about_none_another() {
        let wanted = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"overlay\" tests=\"3\" failures=\"1\">
  <testsuite name=\"overlays/lab\" tests=\"3\" failures=\"1\">
    <testcase name=\"base and result\" classname=\"overlays/lab\" file=\"overlays/lab\">
      <failure type=\"undocumented-departure\" message=\"no patch claims that /spec/replicas of Deployment.apps/web differs\">\
base/net/net.yaml:2:1: error[undocumented-departure]: no patch claims that /spec/replicas of Deployment.apps/web differs
  write a patch for it, or take the change back</failure>
    </testcase>
    <testcase name=\"bindir\" classname=\"overlays/lab\" file=\"overlays/lab/patches/bindir.yaml\"/>
    <testcase name=\"pin\" classname=\"overlays/lab\" file=\"overlays/lab/patches/pin.yaml\">
      <system-out>overlays/lab/patches/pin.yaml:2:1: note[unguarded]: a replace without `was:` overwrites whatever \
upstream has there</system-out>
    </testcase>
  </testsuite>
</testsuites>
";
        assert_eq!(junit(&sample::report()), wanted);
    }

    #[test]
    fn a_file_cannot_end_a_tag_or_bring_what_xml_does_not_have() {
        let source = Source::new("a\"<b>&.yaml", "x: 1\n");
        let finding = Diagnostic::new(Code::ReviewDue, "]]></failure>\u{1b}\u{0}\u{fffe}\n")
            .at(Place::new(&source, 0..1), "")
            .patch("p");
        let patches = vec![PatchReport { name: "p".into(), ..PatchReport::default() }];
        let overlay = OverlayReport { patches, findings: vec![finding], ..OverlayReport::default() };
        let text = junit(&Report::new(vec![overlay.clone()], true));
        let message = "]]&gt;&lt;/failure&gt;\\x1B\\x00\\uFFFE\\n";
        assert!(text.contains(&format!("<failure type=\"review-due\" message=\"{message}\">")), "{text}");
        assert!(text.contains(">a&quot;&lt;b&gt;&amp;.yaml:1:1: warning[review-due]: ]]&gt;"), "{text}");
        let lax = junit(&Report::new(vec![overlay], false));
        assert!(lax.contains("failures=\"0\"") && lax.contains("<system-out>"), "{lax}");
    }
}
