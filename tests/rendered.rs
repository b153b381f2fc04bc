//! Committed results: held against the build, and written anew only when all else is right.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may lay out files, and fail")]

#[path = "support/project.rs"]
mod project;

use std::fs;

use project::Project;
use serde_json::Value;

const FILE: &str = "manifests/multus.yaml";

/// This project's own overlay with a committed result.
fn project(committed: Option<&str>) -> Project {
    let project = Project::own();
    let overlay = fs::read_to_string(project.path("overlays/nik-debian/overlay.yaml")).unwrap();
    project.write("overlays/nik-debian/overlay.yaml", &format!("{overlay}rendered: ../../{FILE}\n"));
    fs::create_dir(project.path("manifests")).unwrap();
    if let Some(text) = committed {
        project.write(FILE, text);
    }
    project
}

#[test]
fn what_is_written_is_what_build_prints_and_then_verify_is_content() {
    let project = project(Some("kind: ConfigMap\nmetadata: {name: gone}\n"));
    assert_eq!(project.run(&["verify"]).exit, Some(1));
    let fixed = project.run(&["verify", "--fix-rendered"]);
    assert_eq!((fixed.exit, fixed.stderr.as_str()), (Some(0), "wrote manifests/multus.yaml\n"));
    let built = project.output(&["build", "overlays/nik-debian"]);
    assert_eq!(fs::read_to_string(project.path(FILE)).unwrap(), built);
    let before = project.files();
    let again = project.run(&["verify", "--fix-rendered"]);
    assert_eq!((again.exit, again.stderr.as_str()), (Some(0), ""));
    assert!(again.stdout.contains("  rendered  manifests/multus.yaml: as built\n"), "{}", again.stdout);
    assert_eq!(project.files(), before);
}

#[test]
fn the_folder_of_a_result_need_not_be_there_yet() {
    let project = project(None);
    fs::remove_dir(project.path("manifests")).unwrap();
    let built = project.output(&["build", "overlays/nik-debian"]);
    let ran = project.run(&["verify"]);
    assert_eq!(ran.exit, Some(1));
    assert!(ran.stdout.contains("manifests/multus.yaml is not there, and `rendered` names it"), "{}", ran.stdout);
    let fixed = project.run(&["verify", "--fix-rendered"]);
    assert_eq!((fixed.exit, fixed.stderr.as_str()), (Some(0), "wrote manifests/multus.yaml\n"));
    assert_eq!(fs::read_to_string(project.path(FILE)).unwrap(), built);
}

#[test]
fn every_byte_counts() {
    let project = project(None);
    project.output(&["verify", "--fix-rendered"]);
    let built = fs::read_to_string(project.path(FILE)).unwrap();
    for other in [built.replace('\n', "\r\n"), built.trim_end().to_owned(), format!("\u{feff}{built}"), built + "# x\n"]
    {
        project.write(FILE, &other);
        let ran = project.run(&["verify"]);
        assert_eq!(ran.exit, Some(1));
        assert!(ran.stdout.contains("means what the build gives, in other bytes from line "), "{}", ran.stdout);
    }
}

#[test]
fn nothing_is_written_while_a_patch_has_no_reason() {
    let project = project(Some("kind: A\n"));
    let patch = "overlays/nik-debian/patches/bindir.yaml";
    let text = fs::read_to_string(project.path(patch)).unwrap();
    project.write(patch, &text.replacen("why: |\n", "why: |\n  TODO\n", 1));
    let before = project.files();
    let ran = project.run(&["verify", "--fix-rendered"]);
    assert_eq!(ran.exit, Some(1));
    assert_eq!(ran.stderr, "nothing was written: something else is wrong\n");
    assert!(ran.stdout.contains("error[patch-undocumented]") && ran.stdout.contains("error[rendered-stale]"));
    assert_eq!(project.files(), before);
}

#[test]
fn a_warning_keeps_it_from_being_written_only_when_strict() {
    let project = project(Some("kind: A\n"));
    let patch = "overlays/nik-debian/patches/bindir.yaml";
    let text = fs::read_to_string(project.path(patch)).unwrap();
    project.write(patch, &text.replace("review: 20", "review: 19"));
    let before = project.files();
    assert_eq!(project.run(&["verify", "--fix-rendered", "--strict"]).exit, Some(1));
    assert_eq!(project.files(), before);
    assert_eq!(project.run(&["verify", "--fix-rendered"]).exit, Some(0));
    assert_ne!(project.files(), before);
}

#[test]
fn two_overlays_do_not_write_one_file() {
    let project = project(Some("kind: A\n"));
    for file in ["overlay.yaml", "patches/bindir.yaml"] {
        let text = fs::read_to_string(project.path("overlays/nik-debian").join(file)).unwrap();
        project.write(&format!("overlays/other/{file}"), &text);
    }
    let overlay = fs::read_to_string(project.path("overlays/other/overlay.yaml")).unwrap();
    let only = overlay.lines().filter(|line| !line.contains("patches/") || line.contains("bindir"));
    project.write("overlays/other/overlay.yaml", &(only.collect::<Vec<_>>().join("\n") + "\n"));
    let before = project.files();
    let ran = project.run(&["verify", "--fix-rendered"]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr.contains("two overlays name one file as `rendered`"), "{}", ran.stderr);
    assert_eq!(project.files(), before);
}

#[test]
fn a_file_that_the_overlay_is_made_of_is_no_place_for_a_result() {
    for file in [
        "patches/bindir.yaml",
        "overlay.yaml",
        "../../base/multus/base.lock",
        "../../base/multus/new.yaml",
        "../../.git/config",
    ] {
        let project = project(None);
        let overlay = fs::read_to_string(project.path("overlays/nik-debian/overlay.yaml")).unwrap();
        project.write("overlays/nik-debian/overlay.yaml", &overlay.replace(&format!("../../{FILE}"), file));
        let before = project.files();
        let ran = project.run(&["verify", "--fix-rendered"]);
        assert_eq!(ran.exit, Some(1), "{file}");
        assert!(ran.stdout.contains("error[syntax]: `rendered` cannot be "), "{file}: {}", ran.stdout);
        assert_eq!(project.files(), before, "{file}");
    }
}

#[test]
fn a_folder_in_its_place_cannot_be_read() {
    let project = project(None);
    fs::create_dir(project.path(FILE)).unwrap();
    let ran = project.run(&["verify", "--fix-rendered"]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stdout.contains("error[file-unreadable]: manifests/multus.yaml is a folder"), "{}", ran.stdout);
}

#[test]
fn code_scanning_is_told_the_file_and_what_it_says_otherwise() {
    let project = project(None);
    project.output(&["verify", "--fix-rendered"]);
    let built = fs::read_to_string(project.path(FILE)).unwrap();
    project.write(FILE, &built.replace("hostNetwork: true", "hostNetwork: false"));
    let ran = project.run(&["verify", "--format", "sarif"]);
    assert_eq!(ran.exit, Some(1));
    let log: Value = serde_json::from_str(&ran.stdout).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let stale: Vec<_> = results.iter().filter(|result| result["ruleId"] == "rendered-stale").collect();
    let [stale] = stale.as_slice() else { panic!("{stale:?}") };
    let place = &stale["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], FILE);
    let line = built.lines().position(|line| line.contains("hostNetwork")).unwrap() + 1;
    assert_eq!(place["region"]["startLine"], line);
    let text = stale["message"]["text"].as_str().unwrap();
    let told = "DaemonSet.apps/kube-system/kube-multus-ds /spec/template/spec/hostNetwork: false instead of true.";
    assert!(text.contains(told), "{text}");
}

#[test]
fn no_file_that_the_result_is_made_of_is_written_over_by_whatever_name() {
    let project = project(None);
    let base = "base/multus/multus-daemonset-thick.yml";
    std::os::unix::fs::symlink(project.path(base), project.path("link.yaml")).unwrap();
    fs::hard_link(project.path("overlays/nik-debian/patches/bindir.yaml"), project.path("hard.yaml")).unwrap();
    let absolute = project.path("overlays/nik-debian/overlay.yaml");
    let before = project.files();
    for file in [
        base,
        "base/multus/base.yaml",
        "base/multus/base.lock",
        "base/multus/new.yaml",
        "overlays/../overlays/nik-debian/overlay.yaml",
        absolute.to_str().unwrap(),
        "link.yaml",
        "hard.yaml",
    ] {
        let ran = project.run(&["build", "overlays/nik-debian", "--output", file]);
        assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{file}");
        let wanted = format!("error: {file} is a file that the result is made of");
        assert!(ran.stderr.contains(&wanted), "{}", ran.stderr);
        assert_eq!(project.files(), before, "{file}");
    }
    let printed = project.output(&["build", "overlays/nik-debian", "--output", "-"]);
    assert_eq!(printed, project.output(&["build", "overlays/nik-debian"]));
    assert_eq!(project.files(), before, "a dash is no file");
}

#[test]
fn what_is_handed_over_as_base_is_not_written_over() {
    let project = project(None);
    let documents = project.output(&["build", "overlays/nik-debian"]);
    project.write("all.yaml", &documents);
    project.write("overlays/other/overlay.yaml", "apiVersion: overlay/v1\nkind: Overlay\nname: other\nbases: []\n");
    let before = project.files();
    let ran = project.run(&["build", "overlays/other", "--base", "all.yaml", "--output", "./all.yaml"]);
    assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("./all.yaml is a file that the result is made of"), "{}", ran.stderr);
    assert_eq!(project.files(), before);
}

#[test]
fn what_was_split_and_is_a_resource_now_is_neither_written_over_nor_removed() {
    let project = project(None);
    let overlay = "apiVersion: overlay/v1\nkind: Overlay\nname: own\nresources:\n";
    project.write("overlays/own/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n");
    project.write("overlays/own/overlay.yaml", &format!("{overlay}  - a.yaml\n"));
    project.run(&["build", "overlays/own", "--split", "out"]);
    let names =
        fs::read_dir(project.path("out")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let split = format!("out/{}", names.into_iter().find(|name| !name.starts_with('.')).unwrap());
    let patch = "apiVersion: overlay/v1\nkind: Patch\nname: p\nsummary: s\nwhy: w\nchanges:\n  - target: {kind: ConfigMap}\n    patch: [{op: add, path: /data, value: {x: one}}]\n";
    project.write("overlays/own/patches/p.yaml", patch);
    project.write("overlays/own/overlay.yaml", &format!("{overlay}  - ../../{split}\npatches:\n  - patches/p.yaml\n"));
    let before = project.files();
    let ran = project.run(&["build", "overlays/own", "--split", "out"]);
    assert_eq!(ran.exit, Some(2), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("is a file that the result is made of"), "{}", ran.stderr);
    assert_eq!(project.files(), before);
}
