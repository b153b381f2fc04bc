//! The examples under `examples/`: what Renovate would find in our files and what not, and that the workflows run commands
//! that exist. What their shell steps do is in tests/source.
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

const COMMIT: &str = "5555555555555555555555555555555555555555";

fn digest() -> String {
    format!("sha256:{}", "a".repeat(64))
}

/// What is found in a base with that source.
fn base(source: &str) -> Vec<String> {
    found("base/net/base.yaml", &format!("apiVersion: overlay/v1\nkind: Base\nname: net\nsource:\n{source}"))
}

/// What is found in a patch with that operation, in which `D` stands for a digest.
fn patch(operation: &str) -> Vec<String> {
    let operation = operation.replace("@D", &format!("@{}", digest()));
    found(
        "overlays/x/patches/p.yaml",
        &format!("changes:\n  - target: {{kind: Pod}}\n    patch:\n      - {operation}\n"),
    )
}

#[test]
fn renovate_finds_what_a_base_follows_however_it_is_written() {
    let tag = format!("github-tags o/r v1.2.3 {COMMIT}");
    for source in [
        "  github:\n    repository: o/r\n    ref: v1.2.3\n    commit: C\n    path: a.yaml\n",
        "  github:\n    repository: 'o/r'\n    ref: \"v1.2.3\" # the last one\n    commit: \"C\"\n",
        "  github:\n    repository: o/r\n    # what comes next\n    ref: v1.2.3\n\n    # ref: v0.9\n    commit: C\n",
        "  github:\n    repository: o/r\n    ref: v1.2.3\n    path: a.yaml\n    commit: C\n",
        "  github:\n    repository: o/r\n    paths: [a.yaml, b.yaml]\n    commit: C\n    ref: v1.2.3",
        "  github:\n    path: a.yaml\n    repository: o/r\n    commit: C\n    ref: 'v1.2.3'\n",
        "  github: {repository: o/r, ref: v1.2.3, commit: C, path: a.yaml}\n",
        "  github: {repository: o/r, path: a.yaml, commit: 'C', ref: v1.2.3}\n",
        "  github:\n    {\n      repository: o/r,\n      ref: v1.2.3,\n      commit: C,\n    }\n",
        "  github:\r\n    repository: o/r\r\n    ref: v1.2.3\r\n    commit: C\r\n",
    ] {
        let source = source.replace(": C", &format!(": {COMMIT}")).replace("\"C\"", &format!("\"{COMMIT}\""));
        let source = source.replace("'C'", &format!("'{COMMIT}'"));
        assert_eq!(base(&source), std::slice::from_ref(&tag), "{source}");
        let branch = source.replace("v1.2.3", "vendor/next");
        assert_eq!(base(&branch), [format!("git-refs o/r vendor/next {COMMIT}")], "{branch}");
        let anywhere = source.replace("github:", "git:").replace("repository: 'o/r'", "repository: o/r");
        let anywhere = anywhere.replace("repository: o/r", "url: 'https://git.example.org/net.git'");
        assert_eq!(
            base(&anywhere),
            [format!("git-tags https://git.example.org/net.git v1.2.3 {COMMIT}")],
            "{anywhere}"
        );
        let both = anywhere.replace("v1.2.3", "main");
        assert_eq!(base(&both), [format!("git-refs https://git.example.org/net.git main {COMMIT}")], "{both}");
    }
    for source in [
        "  github:\n    repository: o/r\n    release: v1.0\n    asset: a.yaml\n",
        "  github:\n    repository: o/r\n    asset: a.yaml\n    release: \"v1.0\"",
        "  github:\n    release: v1.0\n    asset: a.yaml\n    repository: o/r\n",
        "  github: {repository: o/r, asset: a.yaml, release: v1.0}\n",
    ] {
        assert_eq!(base(source), ["github-releases o/r v1.0 -"], "{source}");
    }
}

#[test]
fn renovate_finds_the_image_of_a_patch_however_it_is_written() {
    let image = format!("docker r.example:5000/a/b v1 {}", digest());
    for operation in [
        "op: replace\n        path: /image\n        value: r.example:5000/a/b:v1@D",
        "op: replace\n        path: /image\n        value: \"r.example:5000/a/b@D\"\n        comment: v1",
        "op: replace\n        value: r.example:5000/a/b@D\n        comment: \"v1\"\n        path: /image",
        "op: replace\n        value: r.example:5000/a/b@D # v1",
        "op: replace\n        value: 'r.example:5000/a/b@D'   # v1  ",
        "op: replace\n        value: r.example:5000/a/b@D\n        note: it is pinned\n        was: r.example:5000/a/b:v0@D\n        comment: 'v1'",
        "op: replace\n        value: r.example:5000/a/b@D # pinned for now\n        comment: v1",
        "op: replace\n        comment: v1\n        path: /image\n        value: r.example:5000/a/b@D",
        "{op: replace, path: '/c/[name=a]/image', value: 'r.example:5000/a/b:v1@D'}",
        "{op: replace, path: '/c/[name=a]/image', value: r.example:5000/a/b@D, note: it is, comment: v1}",
        "{op: replace, comment: \"v1\", path: /image, value: \"r.example:5000/a/b@D\"}",
        "{op: replace, path: /image,\n         value: r.example:5000/a/b@D,\n         comment: v1}",
        "op: add\n        path: /containers/-\n        value:\n          name: a\n          image: r.example:5000/a/b:v1@D",
        "{op: add, path: /containers/-, value: {name: a, image: 'r.example:5000/a/b:v1@D'}}",
    ] {
        assert_eq!(patch(operation), std::slice::from_ref(&image), "{operation}");
    }
    let nested = found("overlays/x/patches/edge/p.yml", &format!("value: r.example/a:v1@{}", digest()));
    assert_eq!(nested, [format!("docker r.example/a v1 {}", digest())]);
}

#[test]
fn what_renovate_does_not_find_is_said_in_the_documentation() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ci.md")).unwrap();
    let told = |said: &str| assert!(page.contains(&format!("| {said} |")), "docs/ci.md does not say: {said}");
    for (said, source) in [
        ("a base without `ref`", "  github:\n    repository: o/r\n    commit: C\n    path: a.yaml\n"),
        ("a base without `commit`", "  github:\n    repository: o/r\n    ref: v1\n    path: a.yaml\n"),
        (
            "`ref` or `commit` above `repository` or `url`",
            "  github:\n    ref: v1\n    repository: o/r\n    commit: C\n",
        ),
        (
            "`ref` or `commit` above `repository` or `url`",
            "  git: {commit: C, url: 'https://git.example.org/r', ref: v1}\n",
        ),
        (
            "a comment between the keys of a base in brackets",
            "  github: {repository: o/r, # it\n    path: a, ref: v1, commit: C}\n",
        ),
        ("`url:` and `file:` of a base", "  url: https://example.org/v1.2/install.yaml\n"),
        ("`url:` and `file:` of a base", "  file: ../v1.2/install.yaml\n"),
    ] {
        told(said);
        let source = source.replace("commit: C", &format!("commit: {COMMIT}"));
        assert_eq!(base(&source), [""; 0], "{said}: {source}");
    }
    for (said, operation) in [
        ("a digest without a tag beside it", "op: replace\n        value: r.example/a@D"),
        (
            "a digest whose comment says more than the tag",
            "op: replace\n        value: r.example/a@D # v1, the last one",
        ),
        (r"a value in a block (`\|`, `>`)", "op: replace\n        value: >-\n          r.example/a:v1@D"),
        (
            r"a value in a block (`\|`, `>`)",
            "op: replace\n        value: r.example/a@D\n        note: |\n          Two\n          lines\n        comment: v1",
        ),
        (
            "an image that is no `value` and no `image`",
            "{op: replace, path: /env, value: {sidecar: 'r.example/a:v1@D'}}",
        ),
        ("an image that is no `value` and no `image`", "op: replace\n        was: r.example/a:v1@D"),
        (
            "a comment or braces between a value and its `comment` in brackets",
            "{op: replace, value: r.example/a@D, path: '/{x}', comment: v1}",
        ),
    ] {
        told(said);
        assert_eq!(patch(operation), [""; 0], "{said}: {operation}");
    }
    told("a patch outside a folder `patches`");
    let image = format!("value: r.example/a:v1@{}", digest());
    assert_eq!(found("overlays/x/p.yaml", &image), [""; 0]);
    assert_eq!(found("overlays/x/overlay.yaml", &image), [""; 0]);
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
        assert_eq!(count, 3, "{name}");
    }
}

/// What a person copies from here must pass where warnings fail; a day of review comes by itself.
#[test]
fn our_own_overlays_are_as_clean_as_strict_asks() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let overlays = ["overlays/nik-debian", "examples/hand-kept", "examples/argocd/overlay"];
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_overlay"))
        .args(["verify", "--format", "json"])
        .args(overlays)
        .current_dir(root)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let reports = report["overlays"].as_array().unwrap();
    assert_eq!(reports.len(), overlays.len());
    let findings = reports.iter().flat_map(|overlay| overlay["findings"].as_array().unwrap());
    let grave: Vec<&Value> =
        findings.filter(|finding| finding["severity"] != "note" && finding["code"] != "review-due").collect();
    assert!(grave.is_empty(), "{grave:#?}");
}
