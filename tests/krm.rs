//! The KRM function: a `ResourceList` in, the same with the patched lines changed out, run alone and by the real kpt.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may lay out files, and fail")]
#![allow(clippy::print_stderr, reason = "a test that skips itself says so")]

#[path = "support/project.rs"]
mod project;
mod support;

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use overlay::yaml::load::load_text;
use project::{Project, Ran};
use serde_json::{Value, json};
use support::Kubectl;

/// A package of two resources, as a kpt sends it.
const LIST: &str = "\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- # the settings
  apiVersion: v1
  kind: ConfigMap
  metadata: {name: web, annotations: {internal.config.kubernetes.io/path: 'web.yaml', config.kubernetes.io/index: '0'}} # first
  data:
    level: info # of the log
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: web
    annotations:
      config.kubernetes.io/index: '1'
      internal.config.kubernetes.io/path: 'web.yaml'
  spec:
    replicas: 1
";

const MAP: &str = "functionConfig:\n  apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: function-input}\n  data: {overlay: web}\n";

const OVERLAY: &str = "apiVersion: overlay/v1\nkind: Overlay\nname: web\nbases: []\npatches: [p.yaml]\n";

const PATCH: &str = "apiVersion: overlay/v1
kind: Patch
name: p
summary: For the test
why: The test looks.
evidence: [this test]
changes:
  - target: {kind: ConfigMap, name: web}
    patch:
      - {op: replace, path: /data/level, was: info, value: debug, comment: of the log}
  - target: {kind: Deployment}
    patch:
      - {op: replace, path: /spec/replicas, was: 1, value: 3}
";

fn web() -> Project {
    Project::new([("web/overlay.yaml", OVERLAY), ("web/p.yaml", PATCH)])
}

fn fed(project: &Project, stdin: &str) -> Ran {
    let mut command = project.command(&["krm"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    Ran::of(child.wait_with_output().unwrap())
}

fn patched(list: &str) -> String {
    list.replace("level: info ", "level: debug ").replace("replicas: 1", "replicas: 3")
}

#[test]
fn the_items_are_patched_and_nothing_else_of_the_list_changes() {
    let list = format!("{LIST}{MAP}");
    let ran = fed(&web(), &list);
    assert_eq!((ran.exit, ran.stdout, ran.stderr.as_str()), (Some(0), patched(&list), ""));
}

#[test]
fn kubectl_reads_the_list_as_the_patched_items() {
    let Some(kubectl) = Kubectl::find() else { return };
    let list = format!("{LIST}{MAP}");
    let mut items = kubectl.read(&list).unwrap();
    items[0]["data"]["level"] = "debug".into();
    items[1]["spec"]["replicas"] = 3.into();
    assert_eq!((items.len(), kubectl.read(&fed(&web(), &list).stdout)), (2, Ok(items)));
}

#[test]
fn an_overlay_can_stand_in_the_list() {
    let config = "functionConfig:\n  apiVersion: overlay/v1\n  kind: Overlay\n  metadata: {name: web}\n  bases: []\n  \
                  patches: [web/p.yaml]\n";
    let list = format!("{LIST}{config}");
    let ran = fed(&web(), &list);
    assert_eq!((ran.exit, ran.stdout, ran.stderr.as_str()), (Some(0), patched(&list), ""));
    let ran = fed(&web(), &list.replace("web/p.yaml", "../../p.yaml"));
    assert_eq!(ran.exit, Some(1));
    assert_eq!(load_text(&ran.stdout).unwrap().value["results"][0]["tags"]["code"], "path-outside-root");
}

#[test]
fn a_deleted_resource_is_no_item_any_more() {
    let project = web();
    let head = PATCH.split_once("changes:").unwrap().0;
    project.write(
        "web/p.yaml",
        &format!("{head}changes:\n  - {{target: {{kind: ConfigMap, name: web}}, delete: true}}\n"),
    );
    let ran = fed(&project, &format!("{LIST}{MAP}"));
    let items = load_text(&ran.stdout).unwrap().value["items"].clone();
    assert_eq!((ran.exit, items.as_array().unwrap().len(), &items[0]["kind"]), (Some(0), 1, &json!("Deployment")));
}

#[test]
fn what_is_wrong_comes_back_in_the_results_with_the_items_as_they_were() {
    let project = web();
    project.write("web/p.yaml", &PATCH.replace("was: info", "was: warn").replace("evidence: [this test]\n", ""));
    let list = format!("{LIST}{MAP}");
    let ran = fed(&project, &list);
    assert_eq!(ran.exit, Some(1));
    assert!(ran.stdout.starts_with(&list), "{}", ran.stdout);
    let results = load_text(&ran.stdout).unwrap().value["results"].clone();
    let wrong = results.as_array().unwrap().iter().find(|r| r["severity"] == "error").unwrap().clone();
    assert_eq!(wrong["resourceRef"], json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "web"}));
    assert_eq!(wrong["file"], json!({"path": "web.yaml"}));
    assert_eq!(wrong["tags"]["code"], "value-mismatch");
    assert_eq!(wrong["tags"]["patch"], "p");
    assert!(wrong["tags"]["place"].as_str().unwrap().starts_with("web/p.yaml:9:"), "{wrong}");
    let note = results.as_array().unwrap().iter().find(|r| r["severity"] == "info").unwrap();
    assert_eq!(note["tags"]["code"], "evidence-missing");
    assert!(ran.stderr.contains("error[value-mismatch]"), "{}", ran.stderr);
}

#[test]
fn a_comment_that_stays_behind_is_told_with_its_resource_and_its_file() {
    let project = web();
    project.write("web/p.yaml", &PATCH.replace(", comment: of the log", ""));
    let ran = fed(&project, &format!("{LIST}{MAP}"));
    let results = load_text(&ran.stdout).unwrap().value["results"].clone();
    let [note] = results.as_array().unwrap().as_slice() else { panic!("{results}") };
    assert_eq!((ran.exit, &note["tags"]["code"]), (Some(0), &json!("comment-kept")));
    assert_eq!(note["resourceRef"], json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "web"}));
    assert_eq!((&note["file"]["path"], &note["field"]["path"]), (&json!("web.yaml"), &json!("/data/level")));
    // Where an item before it is deleted, it is still the one that it was.
    let head = PATCH.split_once("changes:").unwrap().0;
    let changes = "changes:\n  - {target: {kind: ConfigMap}, delete: true}\n  - target: {kind: Deployment}\n    patch: [{op: replace, path: /spec/replicas, was: 1, value: 3}]\n";
    project.write("web/p.yaml", &format!("{head}{changes}"));
    let ran = fed(&project, &format!("{}{MAP}", LIST.replace("replicas: 1", "replicas: 1 # so many")));
    let note = load_text(&ran.stdout).unwrap().value["results"][0].clone();
    assert_eq!((&note["tags"]["code"], &note["resourceRef"]["kind"]), (&json!("comment-kept"), &json!("Deployment")));
}

#[test]
fn a_part_of_the_package_passes_where_that_is_asked_for() {
    let one = LIST.split_at(LIST.find("- apiVersion: apps/v1").unwrap()).0;
    let ran = fed(&web(), &format!("{one}{MAP}"));
    assert_eq!(ran.exit, Some(1));
    let map = MAP.replace("overlay: web", "overlay: web, allow-no-match: \"true\"");
    let ran = fed(&web(), &format!("{one}{map}"));
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let list = load_text(&ran.stdout).unwrap().value;
    assert_eq!(list["items"][0]["data"]["level"], "debug");
    assert_eq!(list["results"][0]["severity"], "info");
    assert_eq!(list["results"][0]["tags"]["code"], "target-missing");
}

#[test]
fn what_is_no_resource_list_is_refused() {
    for (stdin, says) in [
        ("", "it holds 0 documents"),
        ("kind: ConfigMap\napiVersion: v1\n", "it is `ConfigMap` of `v1`"),
        (LIST, "the ResourceList has no functionConfig"),
    ] {
        let ran = fed(&web(), stdin);
        assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""));
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(says), "{}", ran.stderr);
    }
    let project = web();
    project.write("web/more.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n");
    project.write("web/overlay.yaml", &format!("{OVERLAY}resources: [more.yaml]\n"));
    let ran = fed(&project, &format!("{LIST}{MAP}"));
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("put them into the package"), "{}", ran.stderr);
}

/// The same resources as a file of a package.
const PACKAGE: &str = "# the settings\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: web} # first\ndata:\n  level: info # of the log\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 1\n";

/// The real kpt, if it is here. It is in no package registry, so that nothing can install it for this test.
fn kpt() -> Option<Command> {
    match Command::new("kpt").arg("version").output() {
        Ok(output) if output.status.success() => Some(Command::new("kpt")),
        Ok(output) => {
            eprintln!("skipped: kpt: {}", String::from_utf8_lossy(&output.stderr));
            None
        }
        Err(error) => {
            eprintln!("skipped: kpt: {error}");
            None
        }
    }
}

#[test]
fn a_pipe_between_kpts_own_source_and_sink_takes_either_configuration() {
    if kpt().is_none() {
        return;
    }
    let config = |text: &str| text.replace("functionConfig:\n", "").replace("\n  ", "\n").trim_start().to_owned();
    let overlay = OVERLAY.replace("name: web", "metadata: {name: web}").replace("[p.yaml]", "[web/p.yaml]");
    for function in [config(MAP), overlay] {
        let project = web();
        project.write("pkg/Kptfile", "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: pkg\n");
        project.write("pkg/web.yaml", PACKAGE);
        project.write("function.yaml", &function);
        let pipe = "set -eo pipefail; kpt fn source pkg --fn-config function.yaml | \"$0\" krm | kpt fn sink out";
        let mut command = Command::new("bash");
        command.args(["-c", pipe, env!("CARGO_BIN_EXE_overlay")]).current_dir(project.path(""));
        let ran = Ran::of(command.output().unwrap());
        assert_eq!(ran.exit, Some(0), "{}{}", ran.stdout, ran.stderr);
        assert_eq!(fs::read_to_string(project.path("out/web.yaml")).unwrap(), patched(PACKAGE));
    }
}

#[test]
fn kpt_runs_the_function_on_a_package() {
    let Some(mut kpt) = kpt() else { return };
    let project = web();
    project.write("pkg/Kptfile", "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: pkg\n");
    project.write("pkg/web.yaml", PACKAGE);
    let function = format!("{} krm", env!("CARGO_BIN_EXE_overlay"));
    kpt.args(["fn", "eval", "pkg", "--results-dir", "results", "--exec", &function, "--", "overlay=web"]);
    let ran = Ran::of(kpt.current_dir(project.path("")).output().unwrap());
    assert_eq!(ran.exit, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(fs::read_to_string(project.path("pkg/web.yaml")).unwrap(), patched(PACKAGE));
    // A patch that does not fit: kpt shows the results, and the package stays.
    project.write("web/p.yaml", &PATCH.replace("was: info, value: debug", "was: warn, value: trace"));
    let mut again = Command::new("kpt");
    again.args(["fn", "eval", "pkg", "--exec", &function, "--", "overlay=web"]);
    let ran = Ran::of(again.current_dir(project.path("")).output().unwrap());
    assert_eq!(ran.exit, Some(1), "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr.contains("value-mismatch") || ran.stdout.contains("value-mismatch"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(fs::read_to_string(project.path("pkg/web.yaml")).unwrap(), patched(PACKAGE));
    let _: Value = load_text(&fs::read_to_string(project.path("pkg/Kptfile")).unwrap()).unwrap().value;
}
