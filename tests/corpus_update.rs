//! Follows Multus over three of its revisions with the overlay of this repository.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may lay out files, and fail")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const FILE: &str = "multus-daemonset-thick.yml";
const REVISIONS: [&str; 3] = ["v4.2.4", "v4.3.0", "95a0932350f0060cd232096876e24672a1de83fa"];

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        let to = to.join(entry.file_name().unwrap());
        if entry.is_dir() {
            copy(&entry, &to);
        } else {
            fs::copy(&entry, &to).unwrap();
        }
    }
}

fn overlay(project: &Path, args: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_overlay")).args(args).current_dir(project).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), String::from_utf8(output.stdout).unwrap() + &told)
}

/// A copy of this repository's base and overlay, to be followed.
fn project() -> tempfile::TempDir {
    let project = tempfile::tempdir().unwrap();
    fs::create_dir(project.path().join(".git")).unwrap();
    for folder in ["base/multus", "overlays/nik-debian"] {
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &project.path().join(folder));
    }
    project
}

/// The patches of the overlay on another upstream, in which `to` stands wherever `from` stood.
fn patches(from: &str, to: &str) -> Vec<Value> {
    let project = project();
    let upstream = fs::read_to_string(project.path().join("base/multus").join(FILE)).unwrap();
    assert!(upstream.contains(from), "{from}");
    fs::write(project.path().join("newer.yml"), upstream.replace(from, to)).unwrap();
    let (_, printed) = overlay(project.path(), &["update", "base/multus", "--from", "newer.yml", "--format", "json"]);
    let report = serde_json::Deserializer::from_str(&printed).into_iter::<Value>().next().unwrap().unwrap();
    report["bases"][0]["overlays"][0]["patches"].as_array().unwrap().clone()
}

/// The verdict and the first note of each operation that does not apply, by its patch, where upstream becomes this.
fn told(from: &str, to: &str) -> Vec<String> {
    let patches = patches(from, to);
    let operation = |patch: &Value, told: &Value| {
        format!("{} {}: {}", patch["name"], told["verdict"], told["notes"][0]).replace('"', "")
    };
    let of = |patch: &Value| -> Vec<String> {
        patch["operations"].as_array().unwrap().iter().map(|o| operation(patch, o)).collect()
    };
    patches.iter().flat_map(of).filter(|line| !line.contains("applies")).collect()
}

#[test]
fn a_volume_that_upstream_renames_is_named_at_each_operation_on_it_and_its_mounts() {
    let (mounts, init) = ("containers/[name=kube-multus]", "initContainers/[name=install-multus-binary]");
    let gone = |patch: &str, path: &str| format!("{patch} gone: It may be at /spec/template/spec/{path} now.");
    assert_eq!(
        told("name: cnibin", "name: cni-plugins"),
        [
            gone("k3s-hostpaths", "volumes/[name=cni-plugins]/hostPath/path"),
            gone("k3s-cni-data", &format!("{mounts}/volumeMounts/[name=cni-plugins]")),
            gone("k3s-cni-data", &format!("{mounts}/volumeMounts/[name=cni-plugins]")),
            gone("install-dir", &format!("{init}/volumeMounts/[name=cni-plugins]/mountPath")),
        ]
    );
}

#[test]
fn a_daemon_that_upstream_renames_is_named_at_each_patch_on_it() {
    let there = "There is DaemonSet.apps/kube-system/kube-multus-thick (apps/v1), which the base's `keep` leaves out.";
    let patches = ["k3s-hostpaths", "k3s-cni-data", "install-dir", "node-selector", "image-digest", "sync-wave"];
    assert_eq!(
        told("name: kube-multus-ds", "name: kube-multus-thick"),
        patches.map(|patch| format!("{patch} gone: {there}"))
    );
}

#[test]
fn what_upstream_puts_in_front_or_lays_out_anew_is_no_conflict_and_what_it_takes_up_can_be_dropped() {
    let verdicts = |from: &str, to: &str| -> Vec<String> {
        let verdict = |patch: &Value| format!("{} {}", patch["name"], patch["verdict"]).replace('"', "");
        patches(from, to).iter().map(verdict).filter(|line| !line.ends_with(" applies")).collect()
    };
    let none: [&str; 0] = [];
    for list in ["      containers:\n", "      initContainers:\n"] {
        let in_front = format!("{list}      - name: proxy\n        image: example.org/proxy:3\n");
        assert_eq!(verdicts(list, &in_front), none);
    }
    let text = "    {\n        \"chrootDir\": \"/hostroot\",\n        \"cniVersion\": \"0.3.1\",\n";
    let anew = "    { \"cniVersion\": \"0.3.1\",\n\n      \"chrootDir\":\"/hostroot\",\n";
    assert_eq!(verdicts(text, anew), none);
    let network = "      hostNetwork: true\n";
    let selector = |selector: &str| format!("{network}      nodeSelector: {{{selector}}}\n");
    assert_eq!(verdicts(network, &selector("kubernetes.io/hostname: nik-debian")), ["node-selector already-upstream"]);
    assert_eq!(verdicts(network, &selector("kubernetes.io/os: linux")), ["node-selector refused"]);
}

#[test]
fn an_image_that_upstream_moves_is_a_conflict_with_three_values_at_each_container() {
    let moved = format!("multus-cni:snapshot-thick@sha256:{}", "a".repeat(64));
    let patches = patches("multus-cni:snapshot-thick", &moved);
    let conflicts: Vec<&Value> = patches.iter().filter(|patch| patch["verdict"] != "applies").collect();
    let [patch] = &conflicts[..] else { panic!("one patch is expected: {conflicts:?}") };
    assert_eq!((&patch["name"], &patch["verdict"]), (&"image-digest".into(), &"refused".into()));
    let operations = patch["operations"].as_array().unwrap();
    assert_eq!(operations.len(), 2);
    for told in operations {
        let image = |name: &str| Value::from(format!("ghcr.io/k8snetworkplumbingwg/{name}"));
        assert_eq!((&told["base"], &told["upstream"]), (&image("multus-cni:snapshot-thick"), &image(&moved)));
        assert!(told["ours"].as_str().unwrap().starts_with("ghcr.io/k8snetworkplumbingwg/multus-cni@sha256:2b96"));
    }
}

/// What upstream changed, as `resource path`, and the verdicts.
fn report(project: &Path, old: &Path, new: &Path) -> (Vec<String>, Vec<String>) {
    let (old, new) = (old.to_str().unwrap(), new.to_str().unwrap());
    let (exit, printed) = overlay(project, &["update", "base/multus", "--old", old, "--from", new, "--format", "json"]);
    assert_eq!(exit, Some(0), "{printed}");
    let mut report = serde_json::Deserializer::from_str(&printed).into_iter::<Value>();
    let report = report.next().unwrap().unwrap();
    let base = &report["bases"][0];
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let documents = base["documents"].as_array().unwrap().iter();
    let changes = documents.flat_map(|d| d["differences"].as_array().unwrap());
    let changes = changes.map(|d| format!("{} {} {}", text(&d["resource"]), text(&d["change"]), text(&d["path"])));
    let patches = base["overlays"].as_array().unwrap().iter().flat_map(|o| o["patches"].as_array().unwrap());
    (changes.collect(), patches.map(|p| text(&p["verdict"])).collect())
}

#[test]
fn multus_is_followed_and_every_patch_applies() {
    let Some(corpus) = support::corpus() else { return };
    let upstream = |revision: &str| -> PathBuf { corpus.join("../upstream/multus").join(revision).join(FILE) };
    let [first, second, third] = REVISIONS.map(upstream);
    let project = project();
    let project = project.path();
    let base_yaml = project.join("base/multus/base.yaml");
    let pinned = fs::read_to_string(&base_yaml).unwrap();
    fs::write(&base_yaml, pinned.replace(REVISIONS[2], &"1".repeat(40))).unwrap();
    fs::remove_file(project.join("base/multus/base.lock")).unwrap();
    fs::remove_file(project.join("base/multus").join(FILE)).unwrap();
    let (exit, told) = overlay(project, &["vendor", "base/multus", "--from", first.to_str().unwrap()]);
    assert_eq!(exit, Some(0), "{told}");

    let (changes, verdicts) = report(project, &first, &second);
    let crd = "CustomResourceDefinition.apiextensions.k8s.io/network-attachment-definitions.k8s.cni.cncf.io";
    assert_eq!(changes, [format!("{crd} add /spec/names/shortNames/[=nad]")]);
    assert_eq!(verdicts, ["applies"; 7]);

    let second_commit = "2".repeat(40);
    let write = ["update", "base/multus", "--from", second.to_str().unwrap(), "--commit", &second_commit, "--write"];
    let (exit, told) = overlay(project, &write);
    assert_eq!(exit, Some(0), "{told}");
    assert_eq!(fs::read_to_string(&base_yaml).unwrap().matches(&second_commit).count(), 1);

    let (changes, verdicts) = report(project, &second, &third);
    assert_eq!(
        changes,
        [
            "ClusterRole.rbac.authorization.k8s.io/multus add /rules/2",
            "DaemonSet.apps/kube-system/kube-multus-ds replace /spec/template/spec/terminationGracePeriodSeconds",
        ]
    );
    assert_eq!(verdicts, ["applies"; 7]);

    let write = ["update", "base/multus", "--from", third.to_str().unwrap(), "--commit", REVISIONS[2], "--write"];
    let (exit, told) = overlay(project, &write);
    assert_eq!(exit, Some(0), "{told}");
    let (exit, told) = overlay(project, &["verify", "overlays/nik-debian"]);
    assert_eq!(exit, Some(0), "{told}");
    // The commit is the one of this repository's own base again. A digit alone needs quotes, so those of before stay.
    let text = fs::read_to_string(&base_yaml).unwrap();
    assert_eq!(text.replace('"', ""), pinned);
}
