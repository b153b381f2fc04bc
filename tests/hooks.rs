//! `action.yml` and `.pre-commit-hooks.yaml` do what they say: their commands are run as GitHub and pre-commit run them.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may read and lay out files, and fail")]

#[path = "support/project.rs"]
mod project;

use std::fs;
use std::path::Path;
use std::process::Command;

use overlay::yaml::load::load_text;
use project::{Project, Ran};
use regex::Regex;
use serde_json::{Value, json};

const OWN: &str = "overlays/nik-debian";

/// A file of this repository, as YAML.
fn read(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    load_text(&fs::read_to_string(path).unwrap()).unwrap().value
}

fn steps() -> Vec<Value> {
    read("action.yml")["runs"]["steps"].as_array().unwrap().clone()
}

/// Runs a step of the action in a project as GitHub's runner does, with these programs first on the path.
fn run(step: &Value, project: &Project, programs: &str, variables: &[(&str, &str)]) -> Ran {
    project.write("step.sh", step["run"].as_str().unwrap());
    let path = format!("{}:{}", project.path(programs).display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "step.sh"]);
    bash.current_dir(project.path("")).env("PATH", path).envs(variables.iter().copied());
    Ran::of(bash.output().unwrap())
}

/// A project with `overlay` in a folder of programs.
fn with_program(project: Project) -> Project {
    fs::create_dir(project.path("bin")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_overlay"), project.path("bin/overlay")).unwrap();
    project
}

#[test]
fn the_action_says_what_an_action_must() {
    let name = Regex::new(r"^\$\{\{ (github\.action_path|inputs\.([a-z-]+)) \}\}$").unwrap();
    let action = read("action.yml");
    assert_eq!(action["runs"]["using"], "composite");
    for input in action["inputs"].as_object().unwrap().values() {
        assert!(input["description"].is_string() && input["default"].is_string(), "{input}");
    }
    for step in steps() {
        assert_eq!(step["shell"], "bash", "{step}");
        // What a caller hands over is a variable of the shell, and never a part of its program.
        assert!(!step["run"].as_str().unwrap().contains("${{"), "{step}");
        for value in step["env"].as_object().unwrap().values() {
            let input = name.captures(value.as_str().unwrap()).unwrap_or_else(|| panic!("{value}")).get(2);
            assert!(input.is_none_or(|input| !action["inputs"][input.as_str()].is_null()), "{value}");
        }
    }
}

#[test]
fn the_action_verifies_and_annotates() {
    let project = with_program(Project::own());
    let verify = &steps()[1];
    let plainly = [("OVERLAYS", ""), ("STRICT", "false"), ("ONLINE", "false")];
    let ran = run(verify, &project, "bin", &plainly);
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), ""), "{}", ran.stdout);
    let patch = format!("{OWN}/patches/bindir.yaml");
    let text = fs::read_to_string(project.path(&patch)).unwrap();
    project.write(&patch, &text.replace("multus-daemon-config", "multus-daemon-confog"));
    let named = [("OVERLAYS", OWN), ("STRICT", "true"), ("ONLINE", "false")];
    let ran = run(verify, &project, "bin", &named);
    assert_eq!(ran.exit, Some(1), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains(&format!("::error file={patch},line=")), "{}", ran.stdout);
}

#[test]
fn names_of_overlays_are_words_and_nothing_more() {
    let project = with_program(Project::own());
    let named =
        [("OVERLAYS", "overlays/nik-debian\n  $(touch made) --strict;touch made"), ("STRICT", ""), ("ONLINE", "")];
    let ran = run(&steps()[1], &project, "bin", &named);
    assert_eq!(ran.exit, Some(2), "{}{}", ran.stdout, ran.stderr);
    assert!(!project.path("made").exists());
}

#[test]
fn the_action_installs_overlay_where_there_is_none() {
    let cargo = "#!/bin/sh\necho \"$@\" >called\n";
    let project = Project::new([("bin/cargo", cargo), ("path", ""), ("the action/Cargo.toml", "")]);
    let mut permissions = fs::metadata(project.path("bin/cargo")).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    fs::set_permissions(project.path("bin/cargo"), permissions).unwrap();
    let at = |path: &str| project.path(path).to_str().unwrap().to_owned();
    let path = format!("{}:/usr/bin:/bin", at("bin"));
    let (source, temp, path_file) = (at("the action"), at("temp"), at("path"));
    let variables = [("SOURCE", &source), ("RUNNER_TEMP", &temp), ("GITHUB_PATH", &path_file), ("PATH", &path)];
    let mut bash = Command::new("bash");
    project.write("step.sh", steps()[0]["run"].as_str().unwrap());
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "step.sh"]).current_dir(project.path("")).env_clear();
    let ran = Ran::of(bash.envs(variables).output().unwrap());
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), ""));
    let read = |file: &str| fs::read_to_string(project.path(file)).unwrap();
    // The toolchain and the settings of the folder are overlay's own, and not those of who calls.
    assert_eq!(read("the action/called"), format!("install --locked --quiet --path . --root {temp}/overlay\n"));
    assert_eq!(read("path"), format!("{temp}/overlay/bin\n"));
    let there = with_program(Project::new([]));
    let ran = run(&steps()[0], &there, "bin", &[("GITHUB_PATH", "path")]);
    assert_eq!((ran.exit, there.path("path").exists()), (Some(0), false));
}

fn matcher(pattern: &Value) -> Regex {
    Regex::new(pattern.as_str().unwrap()).unwrap()
}

#[test]
fn the_hooks_run_for_our_files_and_verify_all_of_them() {
    let hooks = read(".pre-commit-hooks.yaml");
    let project = Project::own();
    let ours =
        ["base/net/base.yaml", "base/net/base.lock", "base/net/net.yml", "a/patches/p.yaml", "base/net/net.json"];
    for hook in hooks.as_array().unwrap() {
        let keys: Vec<&String> = hook.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["id", "name", "description", "entry", "language", "files", "pass_filenames"]);
        assert_eq!(hook["pass_filenames"], json!(false));
        let files = matcher(&hook["files"]);
        for file in ours {
            assert!(files.is_match(file), "{file}");
        }
        assert!(!files.is_match("README.md"));
        let mut words = hook["entry"].as_str().unwrap().split(' ');
        assert_eq!(words.next(), Some("overlay"));
        assert!(project.output(&words.collect::<Vec<_>>()).ends_with("ok: 1 overlay, 7 patches, 13 departures\n"));
    }
}
