//! What belongs to the shell around the program: completions, and manual pages.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may run a shell, and fail")]

#[path = "support/project.rs"]
mod project;

use std::fs;
use std::process::Command;

use project::Project;

/// What completes the last of these words, each candidate on a line.
fn completions(project: &Project, words: &[&str]) -> Vec<String> {
    let mut command = project.command(&["--", "overlay"]);
    command.args(words).env("OVERLAY_COMPLETE", "bash");
    command.env("_CLAP_COMPLETE_INDEX", words.len().to_string()).env("_CLAP_COMPLETE_COMP_TYPE", "9");
    command.env("_CLAP_IFS", "\n").env("_CLAP_COMPLETE_SPACE", "true");
    let output = command.output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn commands_folders_and_patches_are_completed() {
    let project = Project::own();
    assert_eq!(completions(&project, &["exp"]), ["explain"]);
    assert_eq!(completions(&project, &["build", "over"]), ["overlays/nik-debian"]);
    assert_eq!(completions(&project, &["vendor", ""])[0], "base/multus");
    assert_eq!(completions(&project, &["diff", ""])[..2], ["base/multus", "overlays/nik-debian"]);
    assert_eq!(completions(&project, &["explain", "overlays/nik-debian", "b"]), ["bindir"]);
    assert!(completions(&project, &["explain", "overlays/nobody", "b"]).is_empty());
    assert_eq!(completions(&project, &["new", "patch", "x", "over"]), ["overlays/nik-debian"]);
    assert_eq!(
        completions(&project, &["new", "patch", "x", "overlays/nik-debian", "--target", "D"]),
        ["DaemonSet/kube-multus-ds"]
    );
}

#[test]
fn what_a_list_holds_is_completed_as_a_target() {
    let list = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: one}}\n";
    let project = Project::new([("list.yaml", list)]);
    project.output(&["init", "net", "list.yaml"]);
    assert_eq!(completions(&project, &["new", "patch", "x", "overlays/net", "--target", ""]), ["ConfigMap/one"]);
}

#[test]
fn bash_completes_with_the_script() {
    let project = Project::own();
    let script = project.output(&["completions", "bash"]);
    let asked = format!(
        "{script}\nCOMP_WORDS=(overlay explain overlays/nik-debian bin); COMP_CWORD=3; COMP_TYPE=9\n\
         _clap_complete_overlay overlay bin overlays/nik-debian; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_overlay")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let output = Command::new("bash").args(["-c", &asked]).env("PATH", path).current_dir(project.path("")).output();
    let output = output.unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), "bindir", "{:?}", String::from_utf8(output.stderr));
}

#[test]
fn zsh_and_fish_have_a_script_that_asks_the_program() {
    let project = Project::new([]);
    for shell in ["zsh", "fish"] {
        let script = project.output(&["completions", shell]);
        assert!(script.contains("OVERLAY_COMPLETE") && script.contains("overlay"), "{script}");
    }
}

#[test]
fn every_command_has_a_manual_page_and_an_example() {
    let project = Project::new([]);
    project.output(&["man", "--to", "man1"]);
    let mut names: Vec<_> = fs::read_dir(project.path("man1")).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    for name in ["overlay.1", "overlay-build.1", "overlay-verify.1", "overlay-man.1"] {
        assert!(names.contains(&name.into()), "{names:?} lacks {name}");
    }
    for name in names {
        let text = fs::read_to_string(project.path("man1").join(&name)).unwrap();
        assert!(text.starts_with(".ie ") && text.contains("\n.SH SYNOPSIS\n"), "{text}");
        assert!(!text.contains(".SH EXTRA"), "{text}");
        let (_, examples) = text.split_once("\n.SH EXAMPLES\n.nf\n").unwrap();
        assert!(examples.contains("overlay ") && examples.ends_with(".fi\n"), "{} shows no example", name.display());
    }
    assert_eq!(project.output(&["man", "build"]).as_bytes(), fs::read(project.path("man1/overlay-build.1")).unwrap());
    assert_eq!(project.run(&["man", "nothing"]).exit, Some(2));
}

#[test]
fn schemas_are_written_below_the_root_alone() {
    let project = Project::new([]);
    project.output(&["schema", "--write"]);
    let written = fs::read_to_string(project.path(".overlay/schemas/patch.json")).unwrap();
    assert_eq!(project.output(&["schema", "patch"]), written);

    let elsewhere = tempfile::tempdir().unwrap();
    fs::remove_dir_all(project.path(".overlay")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), project.path(".overlay")).unwrap();
    let run = project.run(&["schema", "--write"]);
    assert_eq!(run.exit, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("error[path-outside-root]") && run.stderr.contains(".overlay"), "{}", run.stderr);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}
