//! A manifest that a person kept by hand, held against what its own header says that it changes; and upstream's
//! revisions held against one another.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may lay out files, and fail")]

#[path = "support/project.rs"]
mod project;
mod support;

use std::fs;
use std::path::{Path, PathBuf};

use project::Project;
use serde_json::Value;

const FILE: &str = "multus-daemonset-thick.yml";
const PINNED: &str = "95a0932350f0060cd232096876e24672a1de83fa";
const CLAIMS: &str = "overlays/claims";
const COPY: &str = "02-daemonset.yaml";

const CONFIG: &str = "ConfigMap/kube-system/multus-daemon-config";
const DAEMON: &str = "DaemonSet.apps/kube-system/kube-multus-ds";
const OTHERS: [&str; 4] = [
    "CustomResourceDefinition.apiextensions.k8s.io/network-attachment-definitions.k8s.cni.cncf.io",
    "ClusterRole.rbac.authorization.k8s.io/multus",
    "ClusterRoleBinding.rbac.authorization.k8s.io/multus",
    "ServiceAccount/kube-system/multus",
];

fn shared() -> Option<PathBuf> {
    support::corpus().map(|corpus| corpus.parent().unwrap().to_owned())
}

fn upstream(shared: &Path, revision: &str) -> String {
    fs::read_to_string(shared.join("upstream/multus").join(revision).join(FILE)).unwrap()
}

/// This project's own base, and an overlay that holds what the header claims.
fn claims() -> Project {
    let project = Project::own();
    project.copy_own("examples/hand-kept", CLAIMS);
    project
}

/// The same with the file whose header it is.
fn claims_and_file(shared: &Path) -> Project {
    let project = claims();
    project.write(COPY, &fs::read_to_string(shared.join("seed").join(COPY)).unwrap());
    project
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// Departures as `change resource path`.
fn departures(list: &Value) -> Vec<String> {
    let text = |departure: &Value, key: &str| departure[key].as_str().unwrap().to_owned();
    let line = |d: &Value| [text(d, "change"), text(d, "resource"), text(d, "path")].join(" ");
    list.as_array().unwrap().iter().map(line).collect()
}

/// What the header hides in the two documents that the file has.
fn hidden() -> Vec<String> {
    let init = "/spec/template/spec/initContainers/[name=install-multus-binary]";
    let daemon = "/spec/template/spec/containers/[name=kube-multus]";
    vec![
        format!("add {CONFIG} /metadata/annotations"),
        format!("add {DAEMON} /metadata/annotations"),
        format!("replace {DAEMON} {init}/command/[=/host/opt/cni/bin]"),
        format!("replace {DAEMON} {init}/volumeMounts/[name=cnibin]/mountPath"),
        format!("remove {DAEMON} {daemon}/volumeMounts/[name=cnibin]"),
    ]
}

fn against(project: &Project) -> Value {
    let ran = project.run(&["verify", CLAIMS, "--against", COPY, "--format", "json"]);
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    report["overlays"][0].clone()
}

#[test]
fn the_overlay_of_the_headers_claims_is_sound_itself() {
    let ran = claims().run(&["verify", CLAIMS, "--strict"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("ok: 1 overlay, 5 patches, 8 departures\n"), "{}", ran.stdout);
}

#[test]
fn what_the_header_hides_is_named_and_nothing_else() {
    let Some(shared) = shared() else { return };
    let report = against(&claims_and_file(&shared));
    assert_eq!(departures(&report["undocumented"]), hidden());
    let wave = serde_json::json!({"argocd.argoproj.io/sync-wave": "0"});
    assert_eq!([&report["undocumented"][0]["after"], &report["undocumented"][1]["after"]], [&wave, &wave]);
    assert_eq!(report["against"]["missing"], serde_json::json!([]));
    let patches = report["patches"].as_array().unwrap();
    let explained: Vec<_> = patches.iter().map(|patch| patch["departures"].as_array().unwrap().len()).collect();
    assert_eq!(explained, [2, 1, 2, 1, 2], "every claim of the header shows");
    assert_eq!(texts(&report["documents"]["leftOut"]), OTHERS);
}

#[test]
fn on_the_whole_of_upstream_the_four_documents_are_lacking() {
    let Some(shared) = shared() else { return };
    let project = claims_and_file(&shared);
    project.write("base/multus/base.yaml", &whole_base());
    for file in ["base.lock", FILE] {
        fs::remove_file(project.path("base/multus").join(file)).unwrap();
    }
    let upstream = shared.join("upstream/multus").join(PINNED).join(FILE);
    project.output(&["vendor", "base/multus", "--from", upstream.to_str().unwrap()]);
    let report = against(&project);
    let gone = OTHERS.map(|resource| format!("remove {resource} "));
    let told: Vec<String> = departures(&report["undocumented"]);
    assert_eq!(told.iter().filter(|line| hidden().contains(line)).count(), 5);
    let mut others: Vec<_> = told.into_iter().filter(|line| !hidden().contains(line)).collect();
    others.sort_by_key(|line| gone.iter().position(|one| one == line));
    assert_eq!(others, gone);
    assert_eq!(report["against"]["lacks"].as_array().unwrap().len(), 4);
}

/// This project's `base.yaml` without `keep`.
fn whole_base() -> String {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("base/multus/base.yaml")).unwrap();
    let (head, _) = text.split_once("\nkeep:").unwrap();
    format!("{head}\n")
}

/// What is between two revisions of upstream, as `change resource path before after`.
fn between(old: &str, new: &str) -> Vec<String> {
    let project = Project::new([("old.yaml", old), ("new.yaml", new)]);
    let ran = project.run(&["diff", "old.yaml", "new.yaml", "--format", "json"]);
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(1), ""));
    let comparison: Value = serde_json::from_str(&ran.stdout).unwrap();
    let documents = comparison["documents"].as_array().unwrap().iter();
    let differences = documents.flat_map(|document| document["differences"].as_array().unwrap());
    let line = |d: &Value| {
        let known = ["change", "resource", "path"].map(|key| d[key].as_str().unwrap().to_owned());
        let values = ["before", "after"].map(|key| d.get(key).map_or("-".to_owned(), Value::to_string));
        [known.join(" "), values.join(" ")].join(" ")
    };
    differences.map(line).collect()
}

/// The expected values were read off `diff -u` of the files: between v4.2.4 and the pinned commit it has three hunks,
/// the short name `nad`, a rule of eight lines and the grace period; between v4.3.0 and the commit the last two.
#[test]
fn the_revisions_of_upstream_differ_in_what_diff_shows_and_in_nothing_else() {
    let Some(shared) = shared() else { return };
    let [old, newer, pinned] = ["v4.2.4", "v4.3.0", PINNED].map(|revision| upstream(&shared, revision));
    let rule = r#"{"apiGroups":["resource.k8s.io"],"resources":["resourceclaims","resourceclaims/status","resourceslices"],"verbs":["get","list"]}"#;
    let name = |change, values| format!("{change} {} /spec/names/shortNames/[=nad] {values}", OTHERS[0]);
    let rules = |change, values| format!("{change} {} /rules/2 {values}", OTHERS[1]);
    let grace = |values| format!("replace {DAEMON} /spec/template/spec/terminationGracePeriodSeconds {values}");

    let forward = [rules("add", format!("- {rule}")), grace("10 30")];
    assert_eq!(between(&newer, &pinned), forward);
    assert_eq!(between(&old, &pinned), [&[name("add", "- \"nad\"")], &forward[..]].concat());
    let back = [rules("remove", format!("{rule} -")), grace("30 10")];
    assert_eq!(between(&pinned, &newer), back);
    assert_eq!(between(&pinned, &old), [&[name("remove", "\"nad\" -")], &back[..]].concat());
    assert_eq!(between(&old, &newer), [name("add", "- \"nad\"")]);
}

#[test]
fn this_projects_base_says_what_upstream_says_in_the_documents_that_it_keeps() {
    let Some(shared) = shared() else { return };
    let project = Project::own();
    let file = shared.join("upstream/multus").join(PINNED).join(FILE);
    let ran = project.run(&["diff", file.to_str().unwrap(), "base/multus", "--format", "json"]);
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
    let comparison: Value = serde_json::from_str(&ran.stdout).unwrap();
    let documents = comparison["documents"].as_array().unwrap();
    let told: Vec<_> =
        documents.iter().map(|d| (d["change"].as_str().unwrap(), d["resource"].as_str().unwrap())).collect();
    assert_eq!(told, OTHERS.map(|resource| ("remove", resource)));
}

#[test]
fn what_is_adopted_beside_claims_that_append_is_what_verify_names() {
    let Some(shared) = shared() else { return };
    let project = claims_and_file(&shared);
    let patch = format!("{CLAIMS}/patches/k3s-cni-data.yaml");
    let text = fs::read_to_string(project.path(&patch)).unwrap();
    let appends = text.replace("volumeMounts/[name=host-run]", "volumeMounts/-").replace("[name=hostroot]", "-");
    assert_eq!(appends.matches("/-").count(), 2, "{appends}");
    project.write(&patch, &appends);
    assert_eq!(departures(&against(&project)["undocumented"]), hidden());
    project.output(&["adopt", COPY, "--into", CLAIMS]);
    let held = project.run(&["verify", CLAIMS, "--against", COPY]);
    assert_eq!(held.exit, Some(0), "{}", held.stdout);
    let verified = project.run(&["verify", CLAIMS]).stdout;
    let count = |text: &str| verified.matches(text).count();
    assert_eq!([count("error["), count("error[patch-undocumented]"), count("warning[")], [3, 3, 0], "{verified}");
}
