//! What a file says never steers the terminal that shows it, nor the program that reads a report.

use serde_json::Value;

use super::lab;
use super::project::{Project, Ran};

/// Every way of steering that is known: an escape, its eight-bit form, a title, a bell, text from right to left, and
/// what GitHub's runner takes for a command.
const NAME: &str = r"a\e[2J\u009b31m\e]0;title\a\u202e\r\n::error file=x::forged%0A";

fn hostile() -> Project {
    let project = lab("x");
    project.write(
        "up/net.yaml",
        &format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: \"{NAME}\"\n  annotations: {{\"{NAME}\": \"{NAME}\"}}\n\
             data:\n  key: \"{NAME}\" # \u{202e}comment\n  \"{NAME}\": \"{NAME}\"\n"
        ),
    );
    project.output(&["vendor", "base/net", "--accept-changes"]);
    project
}

/// A patch whose every text is hostile.
fn patch(was: &str) -> String {
    format!(
        "apiVersion: overlay/v1\nkind: Patch\nname: case\nsummary: \"{NAME}\"\nwhy: \"{NAME} TODO\"\n\
         evidence: [\"{NAME}\"]\nreview: 2020-01-01\nchanges:\n- target: {{kind: ConfigMap, name: \"{NAME}\"}}\n  patch:\n  \
         - {{op: replace, path: \"/data/{NAME}\", was: \"{was}\", value: \"new {NAME}\", note: \"n\"}}\n"
    )
}

/// Nothing of a run steers: of control characters it has tabs and line feeds alone.
#[track_caller]
fn is_inert(args: &[&str], ran: &Ran) {
    for (stream, text) in [("stdout", &ran.stdout), ("stderr", &ran.stderr)] {
        let steers = |c: char| {
            c.is_control() && !matches!(c, '\n' | '\t')
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        let found = text.char_indices().find(|(_, c)| steers(*c));
        assert_eq!(found, None, "{stream} of {args:?}:\n{text:?}");
    }
}

#[test]
fn no_format_of_any_command_passes_control_characters_on() {
    for (was, exit) in [(NAME, 0), ("something else", 1)] {
        let project = hostile();
        project.write("overlays/lab/patches/case.yaml", &patch(was));
        project
            .write("other.yaml", &std::fs::read_to_string(project.path("up/net.yaml")).unwrap().replace("new", "old"));
        for args in [
            &["verify", "overlays/lab"][..],
            &["verify", "overlays/lab", "--format", "json"],
            &["verify", "overlays/lab", "--format", "sarif"],
            &["verify", "overlays/lab", "--format", "github"],
            &["verify", "overlays/lab", "--format", "junit"],
            &["verify", "overlays/lab", "--against", "other.yaml"],
            &["verify", "overlays/lab", "--against", "other.yaml", "--format", "json"],
            &["verify", "overlays/lab", "--against", "other.yaml", "--format", "sarif"],
            &["verify", "overlays/lab", "--against", "other.yaml", "--format", "github"],
            &["explain", "overlays/lab"],
            &["explain", "overlays/lab", "--format", "markdown"],
            &["diff", "overlays/lab"],
            &["diff", "overlays/lab", "--format", "json"],
            &["diff", "overlays/lab", "--format", "html"],
            &["diff", "up/net.yaml", "other.yaml"],
            &["update", "base/net", "--from", "other.yaml"],
            &["update", "base/net", "--from", "other.yaml", "--format", "json"],
            &["update", "base/net", "--from", "other.yaml", "--format", "github"],
        ] {
            let ran = project.run(args);
            assert!(matches!(ran.exit, Some(0 | 1)), "{args:?}: {:?} {}", ran.exit, ran.stderr);
            is_inert(args, &ran);
        }
        let ran = project.run(&["build", "overlays/lab"]);
        assert_eq!(ran.exit, Some(exit), "{}", ran.stderr);
        // The manifest is upstream's bytes, whatever they are; every form of it that we write is ours.
        is_inert(&["build"], &Ran { stdout: String::new(), ..ran });
        is_inert(&["build as JSON"], &project.run(&["build", "overlays/lab", "--format", "json"]));
    }
}

#[test]
fn what_people_read_commands_no_runner() {
    let project = lab("x");
    let why = "|\n  ::error file=x::forged\n   ##[add-path]x\n  </details><img src=x>";
    let operations = "- {op: replace, path: /data/key, value: changed, note: '::error::forged'}";
    let patch = super::patch(operations).replace("To see what happens.", why);
    project.write("overlays/lab/patches/case.yaml", &patch);
    for args in [
        &["verify", "overlays/lab"][..],
        &["explain", "overlays/lab"],
        &["explain", "overlays/lab", "--format", "markdown"],
        &["diff", "overlays/lab"],
    ] {
        let said = project.output(args);
        let commands = said.lines().any(|line| line.trim_start().starts_with("::") || line.contains("##["));
        assert!(!commands, "{args:?}:\n{said}");
        assert!(args[0] != "explain" || args.len() == 2 || !said.contains("<img"), "{said}");
    }
}

#[test]
fn a_value_cannot_break_out_of_what_a_program_reads() {
    let project = hostile();
    project.write("overlays/lab/patches/case.yaml", &patch("something else"));
    let report: Value =
        serde_json::from_str(&project.run(&["verify", "overlays/lab", "--format", "json"]).stdout).unwrap();
    let findings = report["overlays"][0]["findings"].as_array().unwrap().len();
    assert!(findings > 0);
    let sarif: Value =
        serde_json::from_str(&project.run(&["verify", "overlays/lab", "--format", "sarif"]).stdout).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), findings);
    let commands = project.run(&["verify", "overlays/lab", "--format", "github"]).stdout;
    assert_eq!(commands.lines().count(), findings, "{commands}");
    for line in commands.lines() {
        let level = ["::error ", "::warning ", "::notice "].iter().any(|level| line.starts_with(level));
        assert!(level && line.matches("file=x").all(|_| !line.starts_with("::error file=x")), "{line}");
    }
}
