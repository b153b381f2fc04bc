//! The report as GitHub's workflow commands: one line per finding, which the runner turns into an annotation at the
//! place in the pull request.

use crate::diag::visible::visible;
use crate::diag::{Diagnostic, Severity};

use super::Report;

/// A workflow command for each finding, in order.
pub fn github(report: &Report) -> String {
    report.overlays.iter().flat_map(|overlay| &overlay.findings).map(command).collect()
}

/// The workflow command for a finding.
pub(super) fn command(finding: &Diagnostic) -> String {
    let level = level(finding.severity);
    let mut properties = Vec::new();
    if let Some(place) = &finding.place {
        let (line, column) = place.line_column();
        properties.push(format!("file={}", property(&place.source.name)));
        properties.push(format!("line={line},col={column}"));
    }
    properties.push(format!("title={}", property(&title(finding))));
    format!("::{level} {}::{}\n", properties.join(","), message(finding))
}

fn title(finding: &Diagnostic) -> String {
    match &finding.patch {
        Some(patch) => format!("{} in patch {patch}", finding.code),
        None => finding.code.to_string(),
    }
}

/// The message with what is known beside it, a line each.
fn message(finding: &Diagnostic) -> String {
    let resource = finding.resource.iter().map(|r| format!("resource: {r}"));
    let path = finding.path.iter().map(|p| format!("path: {p}"));
    let rest = finding.notes.iter().chain(&finding.help).cloned();
    let lines = std::iter::once(finding.message.clone()).chain(resource).chain(path).chain(rest);
    lines.map(|line| data(&line)).collect::<Vec<_>>().join("%0A")
}

/// A workflow command about a line of a file.
pub(super) struct Command<'a> {
    pub(super) severity: Severity,
    pub(super) file: &'a str,
    pub(super) line: usize,
    pub(super) title: &'a str,
    /// One line or several.
    pub(super) message: &'a str,
}

impl Command<'_> {
    pub(super) fn written(&self) -> String {
        let (file, title) = (property(self.file), property(self.title));
        let message = self.message.split('\n').map(data).collect::<Vec<_>>().join("%0A");
        format!("::{} file={file},line={},title={title}::{message}\n", level(self.severity), self.line)
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    }
}

/// Text of a message: the runner decodes `%25`, `%0D` and `%0A` there. Line ends from files are written out by
/// [`visible`], so that only ours end a line.
fn data(text: &str) -> String {
    visible(text).replace('%', "%25")
}

/// Text of a property, which also ends with `,` or `:`.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Code, Place, Source};
    use crate::report::{OverlayReport, sample};

    #[test]
    fn each_finding_is_a_command() {
        let wanted = "\
::error file=base/net/net.yaml,line=2,col=1,title=undocumented-departure::no patch claims that /spec/replicas of \
Deployment.apps/web differs%0Aresource: Deployment.apps/web%0Apath: /spec/replicas%0Awrite a patch for it, or take the \
change back
::notice file=overlays/lab/patches/pin.yaml,line=2,col=1,title=unguarded in patch pin::a replace without `was:` \
overwrites whatever upstream has there
";
        assert_eq!(github(&sample::report()), wanted);
    }

    #[test]
    fn a_file_cannot_forge_a_command_or_a_property() {
        let source = Source::new("a,b:c%0A\n.yaml", "x\n");
        let finding = Diagnostic::new(Code::Syntax, "100%\r\n::error::forged\u{1b}")
            .at(Place::new(&source, 0..1), "")
            .patch("p::q,r");
        let report = Report::new(vec![OverlayReport { findings: vec![finding], ..OverlayReport::default() }], false);
        let wanted = "::error file=a%2Cb%3Ac%250A\\n.yaml,line=1,col=1,title=syntax in patch p%3A%3Aq%2Cr::\
100%25\\r\\n::error::forged\\x1B\n";
        assert_eq!(github(&report), wanted);
    }
}
