//! Adopting a copy into an overlay that is there already.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may lay out files, and fail")]

#[path = "support/project.rs"]
mod project;

use std::fs;
use std::process::Command;

use project::Project;

/// The project that cases start from, with a copy of its manifest in which these texts were replaced.
fn project(replaced: &[(&str, &str)]) -> Project {
    let project = Project::new([]);
    for folder in ["base", "overlays", "upstream"] {
        project.copy_own(&format!("tests/cases/_project/{folder}"), folder);
    }
    let upstream = fs::read_to_string(project.path("upstream/net.yaml")).unwrap();
    let copy = replaced.iter().fold(upstream, |text, (old, new)| {
        assert!(text.contains(old), "{old:?}");
        text.replace(old, new)
    });
    project.write("copy.yaml", &copy);
    project
}

const ADOPT: [&str; 4] = ["adopt", "copy.yaml", "--into", "overlays/lab"];
const HOLD: [&str; 4] = ["verify", "overlays/lab", "--against", "copy.yaml"];

/// What the patch of the project does.
const CLAIMED: (&str, &str) = ("\"info\"", "\"debug\"");

/// A shell that hands a command the copy as a pipe, the way `<(…)` does.
fn piped(project: &Project, command: &str) -> (Option<i32>, String) {
    let program = env!("CARGO_BIN_EXE_overlay");
    let script = format!("cat copy.yaml | {program} {command}");
    let output = Command::new("sh").args(["-c", &script]).current_dir(project.path("")).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_copy_may_come_through_a_pipe_that_the_command_line_names() {
    let project = project(&[CLAIMED, ("1500", "9000")]);
    let (exit, told) = piped(&project, "verify overlays/lab --against /dev/fd/0");
    assert_eq!((exit, told.matches("error[").count()), (Some(1), 1), "{told}");
    assert!(told.contains("adopt - --into overlays/lab"), "a later run has no such pipe:\n{told}");
    for command in ["diff overlays/lab /dev/fd/0", "diff /dev/stdin overlays/lab"] {
        let (exit, told) = piped(&project, command);
        assert!(exit == Some(1) && told.ends_with("1 document differs in 1 place\n"), "{command}: {told}");
    }
    let (exit, told) = piped(&project, "adopt /dev/stdin --into overlays/lab");
    assert_eq!(exit, Some(0), "{told}");
    let (exit, told) = piped(&project, "verify overlays/lab --against /dev/stdin");
    assert_eq!(exit, Some(0), "{told}");
}

#[test]
fn a_copy_may_be_a_fifo_whose_writer_is_slow() {
    let project = project(&[CLAIMED]);
    let fifo = project.path("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let copy = fs::read(project.path("copy.yaml")).unwrap();
    let writer = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        fs::write(fifo, copy).unwrap();
    });
    let ran = project.run(&["verify", "overlays/lab", "--against", "fifo"]);
    writer.join().unwrap();
    assert_eq!(ran.exit, Some(0), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn only_what_no_patch_explains_is_added() {
    let project = project(&[CLAIMED, ("1500", "9000"), ("net-metrics:v0.3.0", "net-metrics:v0.3.1")]);
    let patch = fs::read(project.path("overlays/lab/patches/case.yaml")).unwrap();
    let before = fs::read_to_string(project.path("overlays/lab/overlay.yaml")).unwrap();
    let ran = project.run(&ADOPT);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let after = fs::read_to_string(project.path("overlays/lab/overlay.yaml")).unwrap();
    assert_eq!(after, before + "  - patches/mtu.yaml\n  - patches/metrics-image.yaml\n");
    assert_eq!(fs::read(project.path("overlays/lab/patches/case.yaml")).unwrap(), patch);
    assert_eq!(project.run(&HOLD).exit, Some(0));
    assert_eq!(project.run(&["diff", "overlays/lab", "copy.yaml"]).exit, Some(0));
    assert!(project.output(&["build", "overlays/lab"]).contains("\"mtu\": 9000"));

    let before = project.files();
    let again = project.run(&ADOPT);
    let told = "nothing was written: patches explain every departure of the copy\n";
    assert_eq!((again.exit, again.stderr.as_str()), (Some(0), told));
    assert_eq!(project.files(), before);
}

#[test]
fn a_name_that_a_patch_has_is_not_taken_again() {
    let project = project(&[CLAIMED, ("1500", "9000")]);
    let mtu = "overlays/lab/patches/mtu.yaml";
    project.write(mtu, "not listed in overlay.yaml, and still not to be overwritten\n");
    assert_eq!(project.run(&ADOPT).exit, Some(0));
    assert!(fs::read_to_string(project.path(mtu)).unwrap().starts_with("not listed"));
    assert!(project.path("overlays/lab/patches/mtu-2.yaml").is_file());
}

/// That nothing is written, and what is said.
fn refused(project: &Project) -> String {
    let before = project.files();
    let ran = project.run(&ADOPT);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(1), ""));
    assert_eq!(project.files(), before);
    ran.stderr
}

#[test]
fn a_copy_that_lacks_what_a_patch_claims_is_refused() {
    let told = refused(&project(&[("1500", "9000")]));
    assert!(
        told.starts_with("error[claim-missing]: copy.yaml lacks what this claims: \"debug\" instead of \"info\"\n")
    );
    assert!(told.contains(" --> overlays/lab/patches/case.yaml:13:15\n"), "{told}");
}

#[test]
fn a_copy_that_contradicts_a_patch_is_refused_with_both_values() {
    let told = refused(&project(&[("\"info\"", "\"trace\""), ("1500", "9000")]));
    let first = "error[undocumented-departure]: no patch claims this difference: \"trace\" instead of \"info\"\n";
    assert!(told.starts_with(first), "{told}");
    for line in [
        "  = patch: case\n",
        "  = note: The patch case wants \"debug\" there.\n",
        "  = help: Let the patch case say what copy.yaml says, or bring copy.yaml in line with it.\n",
    ] {
        assert!(told.contains(line), "{line:?} is not in\n{told}");
    }
    assert!(!told.contains("9000"), "what could be added is not told: {told}");
}

#[test]
fn a_document_of_the_copys_own_becomes_a_resource_and_never_overwrites_one() {
    let service = "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: net-metrics\n# said\n";
    let project = project(&[CLAIMED]);
    let copy = fs::read_to_string(project.path("copy.yaml")).unwrap();
    project.write("copy.yaml", &format!("{copy}{service}"));
    let resource = "overlays/lab/resources/service-net-metrics.yaml";
    project.write(resource, "somebody else's\n");
    let before = project.files();
    let ran = project.run(&ADOPT);
    assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
    assert_eq!(project.files(), before);
    fs::remove_file(project.path(resource)).unwrap();
    assert_eq!(project.run(&ADOPT).exit, Some(0));
    assert_eq!(fs::read_to_string(project.path(resource)).unwrap(), service);
    assert_eq!(project.run(&HOLD).exit, Some(0));
}

#[test]
fn comments_next_to_an_edit_are_offered_as_its_reason() {
    let project = project(&[
        CLAIMED,
        ("      hostNetwork: true\n", "      # The lab has a network of its own.\n      hostNetwork: false\n"),
    ]);
    assert_eq!(project.run(&ADOPT).exit, Some(0));
    let patch = fs::read_to_string(project.path("overlays/lab/patches/host-network.yaml")).unwrap();
    let why = "why: |\n  TODO: say why. The edited file says:\n  The lab has a network of its own.\n";
    assert!(patch.contains(why) && patch.contains("        was: true\n"), "{patch}");
    let ran = project.run(&["verify", "overlays/lab"]);
    assert_eq!(ran.exit, Some(1));
    assert_eq!(ran.stdout.matches("error[").count(), ran.stdout.matches("error[patch-undocumented]").count());
}

#[test]
fn what_is_written_names_its_schema_where_the_root_has_schemas() {
    let project = project(&[("1500", "9000")]);
    project.output(&["schema", "--write"]);
    assert_eq!(project.run(&["adopt", "copy.yaml", "--base", "base/net", "--to", "overlays/new"]).exit, Some(0));
    for (file, schema) in
        [("overlay.yaml", "../../.overlay/schemas/overlay"), ("patches/mtu.yaml", "../../../.overlay/schemas/patch")]
    {
        let text = fs::read_to_string(project.path("overlays/new").join(file)).unwrap();
        assert!(text.starts_with(&format!("# yaml-language-server: $schema={schema}.json\n")), "{text}");
    }
    assert!(project.output(&["build", "overlays/new"]).contains("\"mtu\": 9000"));
}

const POD: &str = "\
apiVersion: v1
kind: Pod
metadata:
  name: net
spec:
  volumes:
    - name: run
      emptyDir: {}
    - name: cache
      emptyDir: {}
  containers:
    - name: net
      image: example.org/net:v1
      args: [-a, -b]
";

const APPENDS: &str = "\
apiVersion: overlay/v1
kind: Patch
name: data
summary: A volume
why: The lab needs it.
evidence: [the rota]
changes:
  - target: {kind: Pod, name: net}
    patch:
      - {op: add, path: /spec/volumes/-, value: {name: data, emptyDir: {}}}
      - {op: add, path: '/spec/containers/[name=net]/args/-', value: -c}
";

/// An overlay that appends, and a copy of its result in which these texts were replaced.
fn appended(replaced: &[(&str, &str)]) -> Project {
    let overlay =
        "apiVersion: overlay/v1\nkind: Overlay\nname: lab\nbases: [../../base/net]\npatches:\n  - patches/data.yaml\n";
    let base = "apiVersion: overlay/v1\nkind: Base\nname: net\nsource:\n  file: ../../upstream.yaml\n";
    let project = Project::new([
        ("base/net/base.yaml", base),
        ("overlays/lab/overlay.yaml", overlay),
        ("overlays/lab/patches/data.yaml", APPENDS),
        ("upstream.yaml", POD),
    ]);
    project.output(&["vendor", "base/net"]);
    let copy = "    - name: run\n      emptyDir: {}\n    - name: data\n      emptyDir: {}\n";
    let copy = POD.replace("    - name: run\n      emptyDir: {}\n", copy).replace("[-a, -b]", "[-a, -b, -c]");
    project.write("copy.yaml", &replaced.iter().fold(copy, |text, (old, new)| text.replace(old, new)));
    project
}

#[test]
fn where_an_appended_volume_stands_is_no_departure_and_no_patch_is_written_for_it() {
    let project = appended(&[]);
    let held = project.run(&HOLD);
    assert_eq!(held.exit, Some(0), "{}", held.stdout);
    let before = project.files();
    let ran = project.run(&ADOPT);
    assert_eq!(ran.stderr, "nothing was written: patches explain every departure of the copy\n");
    assert_eq!((ran.exit, project.files()), (Some(0), before));
}

#[test]
fn only_what_verify_names_is_written_beside_an_appended_volume() {
    let project = appended(&[("net:v1", "net:v2"), ("    - name: cache", "    - name: more\n    - name: cache")]);
    let ran = project.run(&ADOPT);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let overlay = fs::read_to_string(project.path("overlays/lab/overlay.yaml")).unwrap();
    assert!(
        overlay.ends_with("  - patches/data.yaml\n  - patches/net-image.yaml\n  - patches/more.yaml\n"),
        "{overlay}"
    );
    let held = project.run(&HOLD);
    assert_eq!(held.exit, Some(0), "{}", held.stdout);
    let verified = project.run(&["verify", "overlays/lab"]);
    assert_eq!(verified.stdout.matches("error[").count(), 2, "two reasons: {}", verified.stdout);
    assert_eq!(verified.stdout.matches("error[patch-undocumented]").count(), 2, "{}", verified.stdout);
}

#[test]
fn where_an_appended_argument_stands_is_told_whatever_else_is() {
    for others in [&[][..], &[("net:v1", "net:v2")]] {
        let project = appended(&[&[("[-a, -b, -c]", "[-c, -a, -b]")], others].concat());
        let held = project.run(&HOLD);
        assert_eq!(held.exit, Some(1));
        let moved = "      > /spec/containers/[name=net]/args/[=-c]: from index 2 to 0\n";
        assert!(held.stdout.contains(moved), "{}", held.stdout);
    }
}

const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  c.json: |-\n    {\n            \"a\":[\n            1\n            ]\n    }\n  s: x\n";

/// A base of one `ConfigMap` with a JSON text that is laid out by nobody's rules.
fn with_a_text() -> Project {
    let base = "apiVersion: overlay/v1\nkind: Base\nname: c\nsource: {file: ../../upstream.yaml}\n";
    let project = Project::new([("base/c/base.yaml", base), ("upstream.yaml", CONFIG)]);
    project.output(&["vendor", "base/c"]);
    project
}

const LAID_OUT: &str = "c.json: |\n    {\n      \"a\": [1],\n      \"k\": 1\n    }\n";

fn laid_out_anew(text: &str) -> String {
    let (head, rest) = text.split_once("c.json").unwrap();
    let (_, tail) = rest.split_once("  s: x").unwrap();
    format!("{head}{LAID_OUT}  s: x{tail}")
}

/// The errors of a report, but for those of reasons that are still to be written.
fn wrong(report: &str) -> Vec<&str> {
    let errors = report.lines().filter(|line| line.starts_with("error[") || line.contains(": error["));
    errors.filter(|line| !line.contains("[patch-undocumented]")).collect()
}

#[test]
fn a_text_that_says_more_in_another_layout_is_adopted_whole_and_proven() {
    let project = with_a_text();
    project.write("copy.yaml", &laid_out_anew(CONFIG));
    project.output(&["adopt", "copy.yaml", "--base", "base/c", "--to", "overlays/lab"]);
    let verified = project.run(&["verify", "overlays/lab"]).stdout;
    assert_eq!(wrong(&verified), Vec::<&str>::new(), "{verified}");
    assert_eq!(project.run(&HOLD).exit, Some(0));
    assert_eq!(project.output(&["build", "overlays/lab"]), laid_out_anew(CONFIG));
}

#[test]
fn a_text_that_one_patch_writes_anew_and_another_looks_into_is_proven() {
    let project = with_a_text();
    project.write("copy.yaml", &laid_out_anew(CONFIG));
    project.output(&["adopt", "copy.yaml", "--base", "base/c", "--to", "overlays/lab"]);
    project.write("copy.yaml", &laid_out_anew(CONFIG).replace("\"k\": 1", "\"k\": 1,\n      \"l\": 2"));
    project.output(&["adopt", "copy.yaml", "--into", "overlays/lab"]);
    let verified = project.run(&["verify", "overlays/lab"]).stdout;
    assert_eq!(wrong(&verified), Vec::<&str>::new(), "{verified}");
    assert!(fs::read_to_string(project.path("overlays/lab/patches/l.yaml")).unwrap().contains("within:"));
}
