//! The diff of an overlay is one that other programs take: applied to the base, it makes the result.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may lay out files, and fail")]

#[path = "support/project.rs"]
mod project;

use std::process::Command;

use project::Project;

const OWN: &str = "overlays/nik-debian";
const VENDORED: &str = "base/multus/multus-daemonset-thick.yml";

/// Applies an overlay's diff to the vendored file with `git apply`, which takes no hunk that does not fit exactly.
fn applied(project: &Project, diff: &str, vendored: &str, extra: &[&str]) -> String {
    let (_, body) = diff.split_once("\n+++ ").and_then(|(_, rest)| rest.split_once('\n')).unwrap();
    project.write("made.diff", &format!("--- a/made.yaml\n+++ b/made.yaml\n{body}"));
    project.write("made.yaml", vendored);
    let mut git = Command::new("git");
    // A folder without a repository: the one that the project pretends to be is none.
    git.args(["apply", "--whitespace=nowarn"]).args(extra).arg("made.diff");
    git.current_dir(project.path("")).env("GIT_CEILING_DIRECTORIES", project.path("").parent().unwrap());
    let output = git.output().unwrap();
    assert!(output.status.success(), "{}\n{diff}", String::from_utf8_lossy(&output.stderr));
    std::fs::read_to_string(project.path("made.yaml")).unwrap()
}

#[test]
fn applied_to_the_base_it_makes_the_result() {
    let project = Project::own();
    let vendored = std::fs::read_to_string(project.path(VENDORED)).unwrap();
    let built = project.output(&["build", OWN]);
    for (lines, extra) in [("3", &[][..]), ("1", &[]), ("40", &[]), ("0", &["--unidiff-zero"])] {
        let diff = project.output(&["diff", OWN, "-U", lines]);
        assert_eq!(applied(&project, &diff, &vendored, extra), built, "-U {lines}\n{diff}");
    }
}

#[test]
fn each_hunk_names_its_resource_and_its_patch_or_whose_each_line_is() {
    let project = Project::own();
    let diff = project.output(&["diff", OWN]);
    let heads: Vec<&str> = diff.lines().filter(|line| line.starts_with("@@ ")).collect();
    assert!(heads.len() > 8, "{diff}");
    for head in heads {
        let (resource, patches) = head.rsplit_once("@@ ").and_then(|(_, whose)| whose.split_once(" · ")).unwrap();
        assert!(resource.contains("/kube-system/"), "{head}");
        let shared: Vec<&str> = patches.split(", ").collect();
        assert!(shared.len() == 1 || shared.iter().all(|patch| patch.contains(" (") && patch.ends_with(')')), "{head}");
    }
}

/// A project of one base whose file is this, and an overlay of patches, each a name, a target and operations.
fn project(manifest: &str, patches: &[(&str, &str)]) -> Project {
    let listed: Vec<String> = patches.iter().map(|(name, _)| format!("  - patches/{name}.yaml\n")).collect();
    let listed = listed.concat();
    let project = Project::new([
        ("net.yaml", manifest),
        ("base/net/base.yaml", "apiVersion: overlay/v1\nkind: Base\nname: net\nsource:\n  file: ../../net.yaml\n"),
        (
            "lab/overlay.yaml",
            &format!("apiVersion: overlay/v1\nkind: Overlay\nname: lab\nbases:\n  - ../base/net\npatches:\n{listed}"),
        ),
    ]);
    for (name, changes) in patches {
        let head = format!("apiVersion: overlay/v1\nkind: Patch\nname: {name}\nsummary: s\nwhy: w\nchanges:\n");
        project.write(&format!("lab/patches/{name}.yaml"), &format!("{head}{changes}"));
    }
    project.output(&["vendor", "base/net"]);
    project
}

#[test]
fn lines_of_a_text_in_a_literal_are_of_the_patch_that_changes_them() {
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: net}\ndata:\n  conf: |\n    {\n      \"a\": 1,\n      \"b\": 2,\n      \"c\": 3,\n      \"d\": 4\n    }\n";
    let change = |path: &str| {
        format!(
            "  - target: {{kind: ConfigMap}}\n    within: {{path: /data/conf, as: json}}\n    patch:\n      - op: replace\n        path: {path}\n        value: 9\n"
        )
    };
    let project = project(manifest, &[("first", &change("/a")), ("third", &change("/c")), ("fourth", &change("/d"))]);
    let diff = project.output(&["diff", "lab"]);
    let heads: Vec<&str> = diff.lines().filter(|line| line.starts_with("@@ ")).collect();
    assert_eq!(
        heads,
        ["@@ -6,3 +6,3 @@ ConfigMap/net · first", "@@ -9,3 +9,3 @@ ConfigMap/net · third (-9 +9), fourth (-10 +10)"],
        "{diff}"
    );
    assert_eq!(applied(&project, &diff, manifest, &[]), project.output(&["build", "lab"]), "{diff}");
}

#[test]
fn a_line_that_two_patches_change_is_told_as_of_both() {
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: net}\ndata: {a: one, b: two}\n";
    let change = |path: &str| {
        format!(
            "  - target: {{kind: ConfigMap}}\n    patch:\n      - op: replace\n        path: {path}\n        value: new\n"
        )
    };
    let project = project(manifest, &[("first", &change("/data/a")), ("second", &change("/data/b"))]);
    let diff = project.output(&["diff", "lab"]);
    let head = diff.lines().find(|line| line.starts_with("@@ "));
    assert_eq!(head, Some("@@ -1,4 +1,4 @@ ConfigMap/net · first (-4 +4), second (-4 +4)"), "{diff}");
    assert_eq!(applied(&project, &diff, manifest, &[]), project.output(&["build", "lab"]), "{diff}");
}

#[test]
fn a_comment_that_goes_with_what_is_moved_is_of_the_patch_that_moves_it() {
    let far = "c: 1\nd: 1\ne: 1\nf: 1\ng: 1\nh: 1\ni: 1\n";
    let head = "apiVersion: v1\nkind: X\nmetadata: {name: net}\n";
    let manifest = &format!("{head}a:\n  # of k\n  k: v\n  w: x\n{far}b:\n  p: 1\n");
    let change = |operation: &str| format!("  - target: {{kind: X}}\n    patch:\n      - {operation}\n");
    let first = change("{op: move, from: /a/k, path: /b/k}");
    let project = project(manifest, &[("first", &first), ("second", &change("{op: replace, path: /b/p, value: 2}"))]);
    let diff = project.output(&["diff", "lab"]);
    let heads: Vec<&str> = diff.lines().filter(|line| line.starts_with("@@ ")).collect();
    assert_eq!(
        heads,
        ["@@ -2,8 +2,6 @@ X/net · first", "@@ -13,4 +11,6 @@ X/net · first (+15,2), second (-16 +14)"],
        "{diff}"
    );
}

#[test]
fn an_item_without_a_name_that_two_patches_change_is_told_as_of_both() {
    let manifest =
        "apiVersion: example.org/v1\nkind: Rule\nmetadata: {name: net}\nrules:\n- from: [a, b]\n  to: [c, d]\n";
    let change = |path: &str| format!("  - target: {{kind: Rule}}\n    patch:\n      - {{op: remove, path: {path}}}\n");
    let project = project(manifest, &[("first", &change("/rules/0/from/0")), ("second", &change("/rules/0/to/1"))]);
    let diff = project.output(&["diff", "lab"]);
    let head = diff.lines().find(|line| line.starts_with("@@ ")).unwrap();
    assert!(
        head.contains(" Rule.example.org/net · ") && head.contains("first (") && head.contains("second ("),
        "{diff}"
    );
    assert_eq!(applied(&project, &diff, manifest, &[]), project.output(&["build", "lab"]), "{diff}");
}

/// A project whose overlay adds two documents of its own, and patches the second of them too.
fn adding() -> Project {
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: net}\ndata:\n  log: info\n  mode: quiet\n";
    let change = |name: &str, path: &str| {
        format!(
            "  - target: {{kind: ConfigMap, name: {name}}}\n    patch:\n      - op: replace\n        path: {path}\n        value: debug\n"
        )
    };
    let project = project(manifest, &[("log", &change("net", "/data/log")), ("own", &change("own", "/data/mode"))]);
    project.write(
        "lab/own.yaml",
        "# ours\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: lab\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own\ndata:\n  mode: quiet\n",
    );
    let overlay = std::fs::read_to_string(project.path("lab/overlay.yaml")).unwrap();
    project.write("lab/overlay.yaml", &overlay.replace("patches:", "resources: [own.yaml]\npatches:"));
    project
}

#[test]
fn what_an_overlay_adds_is_shown_as_added() {
    let project = adding();
    let manifest = std::fs::read_to_string(project.path("base/net/net.yaml")).unwrap();
    let diff = project.output(&["diff", "lab"]);
    assert_eq!(
        diff,
        "--- base/net/net.yaml
+++ lab
@@ -4,3 +4,3 @@ ConfigMap/net · log
 data:
-  log: info
+  log: debug
   mode: quiet
@@ -6,0 +7,13 @@ Namespace/lab · added from lab/own.yaml (+7,6); ConfigMap/own · added from lab/own.yaml (+13,7), own (+19)
+---
+# ours
+apiVersion: v1
+kind: Namespace
+metadata:
+  name: lab
+---
+apiVersion: v1
+kind: ConfigMap
+metadata:
+  name: own
+data:
+  mode: debug
"
    );
    assert_eq!(applied(&project, &diff, &manifest, &[]), project.output(&["build", "lab"]), "{diff}");
}

#[test]
fn for_programs_each_difference_has_its_patch_and_each_document_that_is_added_its_file() {
    let project = adding();
    let read: serde_json::Value = serde_json::from_str(&project.output(&["diff", "lab", "--format", "json"])).unwrap();
    let metadata = |name: &str| serde_json::json!({"name": name});
    assert_eq!(
        read,
        serde_json::json!({"schema": "overlay/diff/v1", "equal": false, "before": "base/net/net.yaml", "after": "lab", "documents": [
            {"resource": "ConfigMap/net", "change": "replace", "differences": [
                {"patch": "log", "resource": "ConfigMap/net", "path": "/data/log", "change": "replace", "before": "info", "after": "debug"},
            ]},
            {"resource": "Namespace/lab", "change": "add", "from": "lab/own.yaml", "differences": [
                {"resource": "Namespace/lab", "path": "", "change": "add",
                    "after": {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata("lab")}},
            ]},
            {"resource": "ConfigMap/own", "change": "add", "from": "lab/own.yaml", "differences": [
                {"resource": "ConfigMap/own", "path": "", "change": "add",
                    "after": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata("own"), "data": {"mode": "debug"}}},
                {"patch": "own", "resource": "ConfigMap/own", "path": "/data/mode", "change": "replace",
                    "before": "quiet", "after": "debug"},
            ]},
        ]})
    );
}
