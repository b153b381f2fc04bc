//! The examples under `examples/`: what Renovate would find in our files, and that the workflows run commands that exist.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may read the project's files, and fail")]

#[path = "support/project.rs"]
mod project;

use std::fs;
use std::path::Path;

use project::Project;
use regex::Regex;
use serde_json::Value;

fn example(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name)).unwrap()
}

/// What the managers of the example find in a file: datasource, dependency, value and digest. Renovate's regular
/// expressions are RE2's, as those of the crate are.
fn found(path: &str, text: &str) -> Vec<String> {
    let config: Value = serde_json::from_str(&example("renovate.json")).unwrap();
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let mut found = Vec::new();
    for manager in config["customManagers"].as_array().unwrap() {
        let is_for = texts(&manager["managerFilePatterns"])
            .iter()
            .any(|pattern| Regex::new(pattern.trim_start_matches('/').trim_end_matches('/')).unwrap().is_match(path));
        for pattern in texts(&manager["matchStrings"]).iter().filter(|_| is_for) {
            for matched in Regex::new(pattern).unwrap().captures_iter(text) {
                let group = |name: &str| matched.name(name).map_or("-", |m| m.as_str());
                let source = manager["datasourceTemplate"].as_str().unwrap();
                found.push(format!(
                    "{source} {} {} {}",
                    group("depName"),
                    group("currentValue"),
                    group("currentDigest")
                ));
            }
        }
    }
    found
}

fn own(path: &str) -> Vec<String> {
    found(path, &fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap())
}

#[test]
fn renovate_finds_the_pins_of_our_own_files() {
    let commit = "95a0932350f0060cd232096876e24672a1de83fa";
    assert_eq!(own("base/multus/base.yaml"), [format!("git-refs k8snetworkplumbingwg/multus-cni master {commit}")]);
    let image = "docker ghcr.io/k8snetworkplumbingwg/multus-cni v4.3.0-thick sha256:";
    let images = own("overlays/nik-debian/patches/image-digest.yaml");
    assert_eq!(images.len(), 2);
    assert!(images.iter().all(|found| found.starts_with(image) && found.len() == image.len() + 64), "{images:?}");
    assert!(own("overlays/nik-debian/patches/bindir.yaml").is_empty());
}

#[test]
fn renovate_finds_tags_releases_and_images_by_what_they_follow() {
    let commit = "5".repeat(40);
    let base =
        |rest: &str| found("base/net/base.yaml", &format!("source:\n  github:\n    repository: o/r\n    {rest}\n"));
    let pinned = format!("ref: v1.2.3 # the last one\n    commit: \"{commit}\"\n    path: a.yaml");
    assert_eq!(base(&pinned), [format!("github-tags o/r v1.2.3 {commit}")]);
    assert_eq!(
        base(&format!("ref: vendor/next\n    commit: {commit}")),
        [format!("git-refs o/r vendor/next {commit}")]
    );
    assert_eq!(base("release: v1.0\n    asset: a.yaml"), ["github-releases o/r v1.0 -"]);
    assert_eq!(base("commit: 5\n    path: a.yaml"), [""; 0]);
    let digest = format!("sha256:{}", "a".repeat(64));
    let patch = |line: &str| found("overlays/x/patches/p.yaml", line);
    assert_eq!(
        patch(&format!("value: r.example:5000/a/b:v1@{digest}")),
        [format!("docker r.example:5000/a/b v1 {digest}")]
    );
    assert_eq!(
        patch(&format!("value: \"r.example/a@{digest}\"\n        comment: v1")),
        [format!("docker r.example/a v1 {digest}")]
    );
    assert_eq!(patch(&format!("was: r.example/a:v1@{digest}")), [""; 0]);
    assert_eq!(found("overlays/x/overlay.yaml", &format!("value: r.example/a:v1@{digest}")), [""; 0]);
}

#[test]
fn the_workflows_run_commands_and_options_that_there_are() {
    let project = Project::new([]);
    for name in ["github-workflow.yaml", "forgejo-workflow.yaml"] {
        let text = example(name);
        let _: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
        let commands = text
            .lines()
            .map(|line| line.trim().trim_start_matches("- ").trim_start_matches("run: "))
            .filter_map(|line| line.strip_prefix("overlay "));
        let mut count = 0;
        for command in commands {
            let words: Vec<&str> = command.split(" >").next().unwrap().split(' ').chain(["--help"]).collect();
            let ran = project.run(&words);
            assert_eq!(ran.exit, Some(0), "{name}: {command}\n{}", ran.stderr);
            count += 1;
        }
        assert_eq!(count, 4, "{name}");
    }
}
