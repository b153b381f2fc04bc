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
    let project = tempfile::tempdir().unwrap();
    let project = project.path();
    fs::create_dir(project.join(".git")).unwrap();
    for folder in ["base/multus", "overlays/nik-debian"] {
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &project.join(folder));
    }
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
