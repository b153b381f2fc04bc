//! Documents that another tool renders, in the place of a base: Helm's post-renderer, whose stream is in no lock. What
//! Helm does is seen with the real Helm 3 and Helm 4, on a chart, without a cluster.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test may lay out files, say that it is skipped, and fail"
)]

#[path = "source/peers.rs"]
mod peers;
#[path = "support/project.rs"]
mod project;
mod support;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use overlay::yaml::load::load_text;
use project::{Project, Ran};
use serde_json::Value;
use support::Kubectl;

/// A stream as Helm 4 sends it: every template's documents, hooks among them, each with the annotation by which Helm
/// finds its file again.
const STREAM: &str = "\
---
# Source: web/templates/config.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: web
  annotations:
    postrenderer.helm.sh/postrender-filename: 'web/templates/config.yaml'
data:
  level: info   # of the log
---
# Source: web/templates/deployment.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  annotations:
    postrenderer.helm.sh/postrender-filename: 'web/templates/deployment.yaml'
spec:
  replicas: 1
  template:
    spec:
      containers:
        - name: web
          image: \"registry.example.org/web:1.0@sha256:0000000000000000000000000000000000000000000000000000000000000000\"
---
# Source: web/templates/migrate.yaml
apiVersion: batch/v1
kind: Job
metadata:
  name: migrate
  annotations:
    \"helm.sh/hook\": pre-upgrade
    \"helm.sh/hook-delete-policy\": before-hook-creation,hook-succeeded
    postrenderer.helm.sh/postrender-filename: 'web/templates/migrate.yaml'
spec: {backoffLimit: 1}
";

const OVERLAY: &str =
    "apiVersion: overlay/v1\nkind: Overlay\nname: web\nbases: []\npatches: [level.yaml, retry.yaml]\n";

fn patch(name: &str, changes: &str) -> String {
    let head = format!("apiVersion: overlay/v1\nkind: Patch\nname: {name}\nsummary: For the test\nwhy: It looks.\n");
    format!("{head}evidence: [this test]\nchanges:\n{changes}")
}

fn web() -> Project {
    let level = "  - target: {kind: ConfigMap, name: web}\n    patch:\n      \
                 - {op: replace, path: /data/level, was: info, value: debug}\n";
    let retry = "  - target: {kind: Job, name: migrate}\n    patch:\n      \
                 - {op: replace, path: /spec/backoffLimit, was: 1, value: 4}\n";
    let (level, retry) = (patch("level", level), patch("retry", retry));
    Project::new([("web/overlay.yaml", OVERLAY), ("web/level.yaml", &level), ("web/retry.yaml", &retry)])
}

fn fed(project: &Project, args: &[&str], stdin: &str) -> Ran {
    let mut child =
        project.command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    Ran::of(child.wait_with_output().unwrap())
}

const BUILD: [&str; 4] = ["build", "web", "--base", "-"];

#[test]
fn a_stream_is_patched_and_everything_that_helm_put_in_survives() {
    let ran = fed(&web(), &BUILD, STREAM);
    let wanted = STREAM.replace("level: info ", "level: debug ").replace("backoffLimit: 1", "backoffLimit: 4");
    assert_eq!((ran.exit, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), wanted.as_str(), ""));
    let Some(kubectl) = Kubectl::find() else { return };
    let mut objects = kubectl.read(STREAM).unwrap();
    objects[0]["data"]["level"] = "debug".into();
    objects[2]["spec"]["backoffLimit"] = 4.into();
    assert_eq!((objects.len(), kubectl.read(&ran.stdout)), (3, Ok(objects)));
}

#[test]
fn the_proof_of_a_stream_finds_the_patches_alone_and_says_that_there_is_no_lock() {
    let project = web();
    let ran = fed(&project, &["verify", "web", "--base", "-"], STREAM);
    assert_eq!(ran.exit, Some(0), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("base      standard input: handed over, and so held against no lock\n"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("          Job.batch/migrate\n"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("ok: 1 overlay, 2 patches, 2 departures, 1 note\n"), "{}", ran.stdout);
    let json = fed(&project, &["verify", "web", "--base", "-", "--format", "json"], STREAM).stdout;
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["overlays"][0]["bases"][0]["state"], "handed-over");
    let codes: Vec<&Value> = report["overlays"][0]["findings"].as_array().unwrap().iter().map(|f| &f["code"]).collect();
    assert_eq!(codes, ["comment-kept"]);
}

#[test]
fn a_part_of_the_stream_is_patched_where_no_match_is_allowed() {
    let (first, hooks) = STREAM.split_at(STREAM.find("---\n# Source: web/templates/migrate").unwrap());
    let project = web();
    let ran = fed(&project, &BUILD, first);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(1), ""));
    assert!(
        ran.stderr.starts_with("error[target-missing]: no document matches the target: kind Job, name migrate\n"),
        "{}",
        ran.stderr
    );
    for part in [first, hooks] {
        let wanted = part.replace("level: info ", "level: debug ").replace("backoffLimit: 1", "backoffLimit: 4");
        let ran = fed(&project, &[&BUILD[..], &["--allow-no-match"]].concat(), part);
        assert_eq!((ran.exit, ran.stdout), (Some(0), wanted), "{}", ran.stderr);
        assert!(ran.stderr.starts_with("note[target-missing]: "), "{}", ran.stderr);
        let verify = ["verify", "web", "--base", "-", "--allow-no-match"];
        assert_eq!(fed(&project, &verify, part).exit, Some(0));
    }
}

#[test]
fn a_stream_of_nothing_is_an_error() {
    for nothing in ["", "---\n", "# Source: web/templates/none.yaml\n", "---\n---\n"] {
        let ran = fed(&web(), &[&BUILD[..], &["--allow-no-match"]].concat(), nothing);
        assert_eq!((ran.exit, ran.stdout.as_str()), (Some(1), ""), "{nothing:?}");
        assert!(
            ran.stderr.contains("error[syntax]: standard input is no manifest: it has no document"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn what_is_handed_over_stands_in_for_one_base() {
    let project = web();
    project.write("web/overlay.yaml", &OVERLAY.replace("[]", "[../b]"));
    project.write("b/base.yaml", "not even sound");
    assert_eq!(fed(&project, &BUILD, STREAM).exit, Some(0));
    project.write("web/overlay.yaml", &OVERLAY.replace("[]", "[../b, ../c]"));
    project.write("c/base.yaml", "");
    let ran = fed(&project, &BUILD, STREAM);
    assert!(ran.stderr.contains("stands in for one base, and the overlay stands on several"), "{}", ran.stderr);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(1), ""));
    let ran = fed(&project, &["build", "b", "--base", "-"], STREAM);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(1), ""));
}

#[test]
fn an_overlay_on_an_overlay_takes_a_stream_too() {
    let project = web();
    let above = "apiVersion: overlay/v1\nkind: Overlay\nname: above\nbases: [../web]\n";
    project.write("above/overlay.yaml", above);
    let below = fed(&project, &BUILD, STREAM).stdout;
    assert_eq!(fed(&project, &["build", "above", "--base", "-"], STREAM).stdout, below);
}

#[test]
fn a_stream_that_is_no_yaml_is_told_with_its_line() {
    let ran = fed(&web(), &BUILD, &STREAM.replace("  level: info", "\tlevel: info"));
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(1), ""));
    assert!(
        ran.stderr.contains("standard input cannot be read as YAML") && ran.stderr.contains(":10:1"),
        "{}",
        ran.stderr
    );
}

/// The overlay `web`, and a chart for it with comments and a hook.
fn chart() -> Project {
    let project = web();
    project.write("none/overlay.yaml", "apiVersion: overlay/v1\nkind: Overlay\nname: none\nbases: []\n");
    project.write("chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 0.1.0\n");
    project.write(
        "chart/templates/config.yaml",
        "# the settings\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}} # flow\ndata:\n  \
         \"on\": 'yes'\n  level: info   # of the log\n",
    );
    project.write(
        "chart/templates/migrate.yaml",
        "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: migrate\n  annotations:\n    \"helm.sh/hook\": pre-install\nspec:\n  \
         backoffLimit: 1\n",
    );
    project
}

/// A real Helm, with a home of its own and this program on PATH. It knows of no cluster.
fn helm(project: &Project, version: &str, args: &[&str]) -> Ran {
    let own = Path::new(env!("CARGO_BIN_EXE_overlay")).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&path))).unwrap();
    let mut command = Command::new(version);
    command.args(args).current_dir(project.path("")).env_clear().env("HOME", project.path("home")).env("PATH", path);
    Ran::of(command.output().unwrap())
}

/// What a Helm prints that has to end well.
fn helmed(project: &Project, version: &str, args: &[&str]) -> String {
    let ran = helm(project, version, args);
    assert_eq!(ran.exit, Some(0), "{version} {args:?}\n{}{}", ran.stdout, ran.stderr);
    ran.stdout
}

#[test]
fn helm_3_renders_through_an_overlay_and_shows_what_is_wrong() {
    if !peers::present(&["helm3"]) {
        return;
    }
    let project = chart();
    let through = |arguments: &[&str]| {
        let mut args = vec!["template", "web", "chart", "--post-renderer", "overlay"];
        args.extend(["build", "--base", "-"].iter().chain(arguments).flat_map(|arg| ["--post-renderer-args", arg]));
        helm(&project, "helm3", &args)
    };
    let plain = helmed(&project, "helm3", &["template", "web", "chart"]);
    let ran = through(&["web", "--allow-no-match"]);
    // Helm 3 keeps its hooks to itself.
    assert_eq!((ran.exit, ran.stdout), (Some(0), plain.replace("level: info ", "level: debug ")), "{}", ran.stderr);
    let ran = through(&["web"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.contains("error[target-missing]: no document matches the target: kind Job"), "{}", ran.stderr);
}

#[test]
fn helm_4_renders_through_the_plugin_and_hooks_are_patched_too() {
    if !peers::present(&["helm4"]) {
        return;
    }
    let project = chart();
    project.copy_own("helm", "plugin");
    helmed(&project, "helm4", &["plugin", "install", "plugin"]);
    let through = |overlay: &str| {
        let args = ["template", "web", "chart", "--post-renderer", "overlay", "--post-renderer-args", overlay];
        helm(&project, "helm4", &args)
    };
    // Helm writes documents anew after a post-renderer, so that what an overlay changes is held against one that
    // changes nothing.
    let unchanged = through("none").stdout;
    assert!(unchanged.contains("level: info # of the log\n") && unchanged.contains("backoffLimit: 1\n"), "{unchanged}");
    let wanted = unchanged.replace("level: info", "level: debug").replace("backoffLimit: 1", "backoffLimit: 4");
    let ran = through("web");
    assert_eq!((ran.exit, ran.stdout), (Some(0), wanted), "{}", ran.stderr);
    // Helm 4 keeps what a plugin says to itself, and goes no further.
    let ran = through("nowhere");
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.contains("failed to invoke post-renderer plugin \"overlay\""), "{}", ran.stderr);
}

#[test]
fn what_helm_4_sends_is_proven_and_its_annotations_are_no_departures() {
    if !peers::present(&["helm4"]) {
        return;
    }
    let project = chart();
    let tee = "apiVersion: v1\ntype: postrenderer/v1\nname: tee\nversion: 0.1.0\nruntime: subprocess\nruntimeConfig:\n  \
               platformCommand: [{command: tee, args: [sent.yaml]}]\n";
    project.write("tee/plugin.yaml", tee);
    helmed(&project, "helm4", &["plugin", "install", "tee"]);
    helmed(&project, "helm4", &["template", "web", "chart", "--post-renderer", "tee"]);
    let sent = std::fs::read_to_string(project.path("sent.yaml")).unwrap();
    assert_eq!(sent.matches("postrenderer.helm.sh/postrender-filename: ").count(), 2, "{sent}");
    assert!(sent.contains("helm.sh/hook"), "{sent}");
    let ran = fed(&project, &BUILD, &sent);
    let wanted = sent.replace("level: info", "level: debug").replace("backoffLimit: 1", "backoffLimit: 4");
    assert_eq!((ran.exit, ran.stdout), (Some(0), wanted), "{}", ran.stderr);
    let proof = fed(&project, &["verify", "web", "--base", "-"], &sent).stdout;
    assert!(proof.ends_with("ok: 1 overlay, 2 patches, 2 departures, 1 note\n"), "{proof}");
}

#[test]
fn the_plugin_of_helm_runs_a_build_over_standard_input() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("helm/plugin.yaml");
    let plugin = load_text(&std::fs::read_to_string(file).unwrap()).unwrap().value;
    assert_eq!((&plugin["apiVersion"], &plugin["type"]), (&"v1".into(), &"postrenderer/v1".into()));
    assert_eq!((&plugin["runtime"], &plugin["name"]), (&"subprocess".into(), &"overlay".into()));
    let command = &plugin["runtimeConfig"]["platformCommand"][0];
    assert_eq!(command["command"], "overlay");
    // Helm puts what `--post-renderer-args` says behind these.
    let mut args: Vec<&str> = command["args"].as_array().unwrap().iter().map(|a| a.as_str().unwrap()).collect();
    args.push("web");
    assert_eq!(fed(&web(), &args, STREAM).exit, Some(0), "{args:?}");
}
