//! What belongs to the shell around the program: completions, and manual pages.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may run a shell, and fail")]
#![allow(clippy::print_stderr, reason = "a test that skips itself says so")]

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

/// What a shell prints that runs this in our own project, with the program on its path; `None` without the shell, and
/// then the test skips itself.
fn printed_by(shell: &str, options: &[&str], script: &str) -> Option<String> {
    if Command::new(shell).arg("--version").output().is_err() {
        let required = std::env::var_os("OVERLAY_REQUIRE_PEERS").is_some_and(|v| v == "1");
        assert!(!required, "{shell} must run here, but it is not installed");
        eprintln!("skipped: {shell}: it is not installed");
        return None;
    }
    let (project, home) = (Project::own(), tempfile::tempdir().unwrap());
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_overlay")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.display());
    // Whatever waits for a key that does not come is ended.
    let mut command = Command::new("timeout");
    command.args(["60", shell]).args(options).args(["-c", script]).current_dir(project.path("")).env_clear();
    let output = command.env("PATH", path).env("HOME", home.path()).env("TERM", "xterm").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn fish_completes_with_the_script() {
    let script = "overlay completions fish | source
        complete -C 'overlay explain overlays/nik-debian b'
        complete -C 'overlay build over'";
    let Some(printed) = printed_by("fish", &["--no-config"], script) else { return };
    assert_eq!(printed, "bindir\tTell the daemon where k3s keeps the CNI plugins\noverlays/nik-debian\n");
}

#[test]
fn zsh_completes_at_the_press_of_a_key() {
    let script = r#"zmodload zsh/zpty
        zpty z 'PS1= zsh -f -i'
        zpty -w z 'autoload -U compinit; compinit -u -D; source <(overlay completions zsh); echo now re""ady'
        zpty -r z seen '*now ready*'
        zpty -w -n z "overlay explain overlays/nik-debian b"$'\t'
        zpty -r z seen '*bindir*' && print bindir
        zpty -d z"#;
    let Some(printed) = printed_by("zsh", &["-f"], script) else { return };
    assert_eq!(printed, "bindir\n");
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
