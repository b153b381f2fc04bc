//! Results as files: which there are, which are written, which are taken away, and whose are left alone.
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

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::process::Command;

use project::{Project, Ran};
use serde_json::Value;
use support::Kubectl;

const BASE: &str = "apiVersion: overlay/v1\nkind: Base\nname: b\nsource: {file: ../up/m.yaml}\n";

const MANIFEST: &str = "\
# two of them
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: n}
data: {key: old}   # kept
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, namespace: n}
";

const OVERLAY: &str = "apiVersion: overlay/v1\nkind: Overlay\nname: o\nbases: [../../b]\n";

const DELETE_B: &str = "apiVersion: overlay/v1\nkind: Patch\nname: p\nsummary: s\nwhy: w\nchanges:
  - {target: {name: b}, delete: true}\n";

/// The overlays `o/one` and `o/two` on a base of two documents.
fn two() -> Project {
    let files = [("up/m.yaml", MANIFEST), ("b/base.yaml", BASE), ("o/one/overlay.yaml", OVERLAY)];
    let project = Project::new(files);
    project.write("o/two/overlay.yaml", &format!("{OVERLAY}patches: [p.yaml]\n"));
    project.write("o/two/p.yaml", DELETE_B);
    project.output(&["vendor", "b"]);
    project
}

/// Splits one overlay into `out`, and gives what that says.
fn split_one(project: &Project) -> Ran {
    project.run(&["build", "o/one", "--split", "out"])
}

fn split_all(project: &Project) -> Ran {
    project.run(&["build", "--all", "--split", "out"])
}

fn said(ran: &Ran) -> (Option<i32>, &str, &str) {
    (ran.exit, &ran.stdout, &ran.stderr)
}

/// The paths below `out`, sorted.
fn listed(project: &Project) -> Vec<String> {
    let out = project.path("out");
    project
        .files()
        .into_iter()
        .filter_map(|(path, _)| Some(path.strip_prefix(&out).ok()?.to_string_lossy().into_owned()))
        .collect()
}

#[test]
fn the_files_of_a_result_put_together_are_the_result() {
    let project = two();
    let ran = split_one(&project);
    assert_eq!(said(&ran), (Some(0), "", "out: 1 overlay, 2 files: 2 written, 0 removed, 0 unchanged\n"));
    assert_eq!(listed(&project), [".overlay.sha256", "configmap_n_a.yaml", "configmap_n_b.yaml"]);
    let read = |name: &str| fs::read_to_string(project.path("out").join(name)).unwrap();
    let together = format!("{}{}", read("configmap_n_a.yaml"), read("configmap_n_b.yaml"));
    assert_eq!(together, project.output(&["build", "o/one"]));
}

#[test]
fn with_comments_the_files_are_called_the_same_and_put_together_are_the_annotated_result() {
    let project = two();
    project.write("o/one/overlay.yaml", &format!("{OVERLAY}patches: [q.yaml]\n"));
    project.write(
        "o/one/q.yaml",
        "apiVersion: overlay/v1\nkind: Patch\nname: q\nsummary: s\nwhy: w\nchanges:
  - target: {name: b}\n    patch: [{op: add, path: /data, value: {key: new}}]\n",
    );
    split_one(&project);
    let plain = listed(&project);
    let annotate = ["build", "o/one", "--split", "out", "--annotate"];
    let ran = project.run(&annotate);
    assert_eq!(said(&ran), (Some(0), "", "out: 1 overlay, 2 files: 2 written, 0 removed, 0 unchanged\n"));
    assert_eq!(listed(&project), plain);
    let read = |name: &str| fs::read_to_string(project.path("out").join(name)).unwrap();
    let second = read("configmap_n_b.yaml");
    assert!(second.ends_with("# overlay: q\ndata: {key: new}\n"), "{second}");
    let together = format!("{}{second}", read("configmap_n_a.yaml"));
    assert_eq!(together, project.output(&["build", "o/one", "--annotate"]));
    assert_eq!(project.run(&annotate).stderr, "out: 1 overlay, 2 files: 0 written, 0 removed, 2 unchanged\n");
    let all = project.run(&["build", "--all", "--split", "all", "--annotate"]);
    assert_eq!(said(&all), (Some(0), "", "all: 2 overlays, 3 files: 3 written, 0 removed, 0 unchanged\n"));
    assert_eq!(fs::read_to_string(project.path("all/o/one/configmap_n_b.yaml")).unwrap(), second);
}

#[test]
fn kubectl_reads_each_file_as_one_document_of_the_result() {
    let Some(kubectl) = Kubectl::find() else { return };
    let project = Project::own();
    for args in [&["build", "--all", "--split", "out"][..], &["build", "--all", "--split", "out", "--annotate"]] {
        project.output(args);
        let files = fs::read_to_string(project.path("out/.overlay.sha256")).unwrap();
        let files = files.lines().map(|line| line.split_once("  ").unwrap().1);
        let read = |file: &str| kubectl.read(&fs::read_to_string(project.path("out").join(file)).unwrap()).unwrap();
        let objects: Vec<Value> = files
            .map(|file| match read(file).as_slice() {
                [object] => object.clone(),
                several => panic!("{file}: {several:?}"),
            })
            .collect();
        // The account is sorted as the result is: a ConfigMap and a DaemonSet.
        assert_eq!(Ok(objects), kubectl.read(&project.output(&["build", "overlays/nik-debian"])));
    }
}

#[test]
fn the_account_is_one_that_sha256sum_checks() {
    let project = two();
    split_all(&project);
    let mut check = Command::new("sha256sum");
    let checked = check.args(["--check", "--strict", "--quiet", ".overlay.sha256"]).current_dir(project.path("out"));
    let checked = Ran::of(checked.output().unwrap());
    assert_eq!(said(&checked), (Some(0), "", ""));
}

#[test]
fn every_overlay_has_a_folder_of_its_own_and_only_what_changed_is_written() {
    let project = two();
    let ran = split_all(&project);
    assert_eq!(said(&ran), (Some(0), "", "out: 2 overlays, 3 files: 3 written, 0 removed, 0 unchanged\n"));
    let wanted =
        [".overlay.sha256", "o/one/configmap_n_a.yaml", "o/one/configmap_n_b.yaml", "o/two/configmap_n_a.yaml"];
    assert_eq!(listed(&project), wanted);
    let inode = |path: &str| fs::metadata(project.path("out").join(path)).unwrap().ino();
    let before = wanted.map(inode);
    let ran = split_all(&project);
    assert_eq!(said(&ran), (Some(0), "", "out: 2 overlays, 3 files: 0 written, 0 removed, 3 unchanged\n"));
    assert_eq!(wanted.map(inode), before);
}

#[test]
fn the_file_of_a_document_that_vanished_goes_and_everyone_elses_stays() {
    let project = two();
    split_all(&project);
    project.write("out/README.md", "ours is here\n");
    project.write("out/o/one/own.yaml", "kind: Mine\n");
    project.write("o/one/overlay.yaml", &format!("{OVERLAY}patches: [p.yaml]\n"));
    project.write("o/one/p.yaml", DELETE_B);
    let ran = split_all(&project);
    assert_eq!(said(&ran), (Some(0), "", "out: 2 overlays, 2 files: 0 written, 1 removed, 2 unchanged\n"));
    let wanted =
        [".overlay.sha256", "README.md", "o/one/configmap_n_a.yaml", "o/one/own.yaml", "o/two/configmap_n_a.yaml"];
    assert_eq!(listed(&project), wanted);
}

#[test]
fn the_file_of_a_vanished_overlay_stays_where_someone_changed_it() {
    let project = two();
    split_all(&project);
    project.write("out/o/two/configmap_n_a.yaml", "kind: Mine\n");
    fs::remove_dir_all(project.path("o/two")).unwrap();
    for _ in 0..2 {
        let ran = split_all(&project);
        let kept = "kept o/two/configmap_n_a.yaml: no overlay gives it now, and someone changed it\n";
        let wanted = format!("out: 1 overlay, 2 files: 0 written, 0 removed, 2 unchanged\n{kept}");
        assert_eq!(said(&ran), (Some(0), "", wanted.as_str()));
        assert!(listed(&project).contains(&"o/two/configmap_n_a.yaml".to_owned()));
    }
}

#[test]
fn a_file_that_overlay_did_not_write_is_not_written_over() {
    let project = two();
    project.write("out/configmap_n_b.yaml", "kind: Mine\n");
    let before = project.files();
    let ran = split_one(&project);
    assert_eq!(
        said(&ran),
        (
            Some(2),
            "",
            "error: out/configmap_n_b.yaml is there already, and no account says that overlay wrote it\n  = help: Move it \
             away, or split into another folder.\n"
        )
    );
    assert_eq!(project.files(), before);
    project
        .write("out/configmap_n_b.yaml", "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: n}\n");
    assert_eq!(split_one(&project).stderr, "out: 1 overlay, 2 files: 1 written, 0 removed, 1 unchanged\n");
}

#[test]
fn nothing_is_written_or_removed_through_a_symbolic_link() {
    let project = two();
    project.write("other/configmap_n_b.yaml", "kind: Other\n");
    fs::create_dir_all(project.path("out/o")).unwrap();
    symlink(project.path("other"), project.path("out/o/one")).unwrap();
    let digest = "0000000000000000000000000000000000000000000000000000000000000000";
    project.write("out/.overlay.sha256", &format!("{digest}  o/one/configmap_n_b.yaml\n{digest}  ../up/m.yaml\n"));
    let before = project.files();
    let ran = split_all(&project);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr.starts_with("error: out/o/one/configmap_n_a.yaml is there already"), "{}", ran.stderr);
    assert!(ran.stderr.contains("1 more"), "{}", ran.stderr);
    assert_eq!(project.files(), before);
}

#[test]
fn an_account_that_is_a_link_or_no_file_is_not_read_and_not_written_through() {
    let project = two();
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("profile");
    fs::write(&secret, "not ours\n").unwrap();
    fs::create_dir(project.path("out")).unwrap();
    let account = project.path("out/.overlay.sha256");
    for target in [secret.clone(), outside.path().join("none")] {
        symlink(&target, &account).unwrap();
        let ran = split_one(&project);
        let told = "error: out/.overlay.sha256 is there already, and no account says that overlay wrote it\n";
        assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
        assert!(ran.stderr.starts_with(told), "{}", ran.stderr);
        fs::remove_file(&account).unwrap();
    }
    assert_eq!(fs::read_to_string(&secret).unwrap(), "not ours\n");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    fs::create_dir(&account).unwrap();
    assert_eq!(split_one(&project).exit, Some(2));
}

#[test]
fn where_one_overlay_cannot_be_built_nothing_is_written() {
    let project = two();
    project.write("o/two/p.yaml", &DELETE_B.replace("name: b", "name: c"));
    project.write("o/three/overlay.yaml", &OVERLAY.replace("../../b", "../../c"));
    let before = project.files();
    let ran = split_all(&project);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(1), ""));
    assert!(
        ran.stderr.contains("error[target-missing]") && ran.stderr.contains("error[file-unreadable]"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.ends_with("nothing was written\n"), "{}", ran.stderr);
    assert_eq!(project.files(), before);
}

#[test]
fn what_is_wrong_with_a_base_is_told_once_for_all_overlays_on_it() {
    let project = two();
    project.write("b/m.yaml", &MANIFEST.replace("old", "new"));
    let ran = split_all(&project);
    assert_eq!(ran.stderr.matches("error[base-file-changed]").count(), 1, "{}", ran.stderr);
}

#[test]
fn an_overlay_for_documents_from_elsewhere_is_passed_over() {
    let project = two();
    project.write("o/helm/overlay.yaml", &OVERLAY.replace("[../../b]", "[]"));
    let ran = split_all(&project);
    let wanted = "out: 2 overlays, 3 files: 3 written, 0 removed, 0 unchanged; 1 passed over, which take their documents \
                  from --base\n";
    assert_eq!(said(&ran), (Some(0), "", wanted));
}

#[test]
fn a_thousand_overlays_on_one_base_are_built_in_one_run() {
    let project = two();
    for number in 0..1000 {
        project.write(&format!("o/{number}/overlay.yaml"), &format!("{OVERLAY}patches: [p.yaml]\n"));
        project.write(
            &format!("o/{number}/p.yaml"),
            &format!(
                "apiVersion: overlay/v1\nkind: Patch\nname: p\nchanges:
  - target: {{name: a}}\n    patch: [{{op: replace, path: /data/key, value: v{number}}}]\n"
            ),
        );
    }
    let ran = split_all(&project);
    assert_eq!(ran.stderr, "out: 1002 overlays, 2003 files: 2003 written, 0 removed, 0 unchanged\n");
    let one = fs::read_to_string(project.path("out/o/999/configmap_n_a.yaml")).unwrap();
    assert!(one.contains("data: {key: v999}   # kept\n"), "{one}");
}

/// The calls of these names in a run, one a line.
fn calls(project: &Project, names: &str, args: &[&str]) -> Option<Vec<String>> {
    if !peers::present(&["strace"]) {
        return None;
    }
    let trace = project.path("trace");
    let only = format!("trace={names}");
    let fixed = ["-f", "-qq", "-e", &only, "-o", trace.to_str().unwrap(), env!("CARGO_BIN_EXE_overlay")];
    peers::run(&project.path(""), "strace", &[&fixed[..], args].concat());
    Some(fs::read_to_string(trace).unwrap().lines().map(str::to_owned).collect())
}

#[test]
fn the_files_of_a_base_are_opened_as_often_for_one_overlay_as_for_many() {
    let project = two();
    let opened = |args: &[&str]| {
        let calls = calls(&project, "openat,openat2", args)?;
        let is_of = |call: &str, file: &str| ["/", "\""].iter().any(|end| call.contains(&format!("{end}{file}\"")));
        let opened = || calls.iter().filter(|call| !call.contains(" = -1 "));
        let count = |file: &str| opened().filter(|call| is_of(call, file)).count();
        Some(["base.yaml", "base.lock", "m.yaml"].map(count))
    };
    let Some(for_one) = opened(&["build", "o/one", "--split", "one"]) else { return };
    assert_eq!(for_one[1..], [1, 1]);
    for number in 0..20 {
        project.write(&format!("o/{number}/overlay.yaml"), OVERLAY);
    }
    assert_eq!(opened(&["build", "--all", "--split", "all"]).unwrap(), for_one);
}

#[test]
fn many_files_wait_for_the_disk_together_and_before_any_gets_its_name() {
    let project = two();
    let traced = |args: &[&str]| {
        let calls = calls(&project, "fsync,syncfs,rename,renameat,renameat2", args)?;
        let count = |name: &str| calls.iter().filter(|call| call.contains(&format!(" {name}("))).count();
        let first = calls.iter().position(|call| call.contains(" rename")).unwrap();
        let flushes = calls[..first].iter().filter(|call| call.contains("sync")).count();
        Some((count("fsync"), count("syncfs"), flushes))
    };
    let Some(few) = traced(&["build", "o/one", "--split", "few"]) else { return };
    // Two files and the account, and the folder that they stand in.
    assert_eq!(few, (4, 0, 3));
    for number in 0..100 {
        project.write(&format!("o/{number}/overlay.yaml"), OVERLAY);
    }
    // The files, and the folders.
    assert_eq!(traced(&["build", "--all", "--split", "many"]).unwrap(), (0, 2, 1));
}
