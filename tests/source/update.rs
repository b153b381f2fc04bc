//! `overlay update` over the network: which commit or release a base goes to, what is told, and what is written.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::git::{self, FIRST, Repository, SECOND};
use crate::peers::present;
use crate::project::{Project, Ran};
use crate::server::{Asked, Server, reply};
use crate::vendor::{base, mirrors, read, run};

/// A project whose base `b` is `main` of the repository, keeps its Service, and has a patch on it.
fn project(source: &str, server: &Server) -> Project {
    let patch = "apiVersion: overlay/v1\nkind: Patch\nname: type\nsummary: Open it\nwhy: The port is asked from outside.\n\
                 changes:\n  - target: {kind: Service}\n    patch: [{op: replace, path: /spec/type, was: ClusterIP, value: LoadBalancer}]\n";
    let overlay = "apiVersion: overlay/v1\nkind: Overlay\nname: x\nbases: [../b]\npatches: [type.yaml]\n";
    let text = format!("{}keep: [{{kind: Service}}]\n", base(source));
    let project = Project::new([("b/base.yaml", text.as_str()), ("x/overlay.yaml", overlay), ("x/type.yaml", patch)]);
    let ran = on(&project, server, &["vendor", "b"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    project
}

/// Runs the program with mirrors of GitHub's hosts on the server.
fn on(project: &Project, server: &Server, arguments: &[&str]) -> Ran {
    let mirrors = mirrors(server);
    let mirrors: Vec<&str> = mirrors.iter().map(String::as_str).collect();
    run(project, &[arguments, &mirrors].concat())
}

fn github(follows: &str, commit: &str) -> String {
    format!("{{github: {{repository: o/r, ref: {follows}, commit: {commit}, path: deploy/manifest.yaml}}}}")
}

#[test]
fn the_branch_that_a_base_follows_is_gone_to_with_base_lock_and_commit_in_one_step() {
    if !present(&["git"]) {
        return;
    }
    let repository = Repository::new();
    let (first, second) = (&repository.first, &repository.second);
    let server = Server::start(git::github(&repository));
    let project = project(&github("next", first), &server);
    let before = project.files();

    let ran = on(&project, &server, &["update", "b"]);
    let expected = format!(
        "b  b\n  {first} → {second} (next)\n  changed (left out)\n    ConfigMap/settings\n      + /data/mtu: \"9000\"\n  \
         changed\n    Service/agent\n      ~ /spec/type: \"ClusterIP\" → \"NodePort\"\n\n\
         x  x\n  type: stops the build: upstream changed what it expects\n    Service/agent /spec/type  (x/type.yaml:8)\n      \
         upstream changed the value that the patch expects\n      base:     \"ClusterIP\"\n      upstream: \"NodePort\"\n      \
         ours:     \"LoadBalancer\"\n      If the patch is still right, write upstream's value into its `was:` or `test`; if not, \
         change or drop it.\n    why: The port is asked from outside.\n\n\
         not ok: 1 base, 1 patch, 0 as before, 1 conflict\n"
    );
    assert_eq!((ran.exit, ran.stdout, ran.stderr.as_str()), (Some(1), expected, ""));
    assert_eq!(project.files(), before);

    let ran = on(&project, &server, &["update", "b", "--write"]);
    let nothing = "nothing was written; --accept-conflicts writes all the same\n";
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(1), nothing));
    assert_eq!(project.files(), before);

    let ran = on(&project, &server, &["update", "b", "--write", "--accept-conflicts"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("wrote b/base.yaml (commit {second})\n")), "{}", ran.stderr);
    assert!(read(&project, "b/base.yaml").contains(&github("next", second)));
    assert!(SECOND.ends_with(&read(&project, "b/manifest.yaml")));
    assert!(read(&project, "b/base.lock").contains(second));
    let ran = on(&project, &server, &["vendor", "b", "--check"]);
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), "b is as locked\n"));

    let ran = on(&project, &server, &["update", "b", "--write", "--ref", "main", "--accept-conflicts"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(read(&project, "b/base.yaml").contains(&github("main", first)), "it follows what was gone to");
    let ran = on(&project, &server, &["update", "b", "--check"]);
    assert_eq!(ran.exit, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.starts_with(&format!("b  b\n  {first} as pinned (main)\n  as locked\n")), "{}", ran.stdout);
    let ran = on(&project, &server, &["update", "b", "--write", "--commit", second, "--accept-conflicts"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(read(&project, "b/base.yaml").contains(&github("main", second)), "what it follows stays");
}

#[test]
fn a_repository_anywhere_is_followed_too() {
    if !present(&["git"]) {
        return;
    }
    let repository = Repository::new();
    let (first, second) = (&repository.first, &repository.second);
    let server = Server::start(repository.backend());
    let url = server.at("/project.git");
    let source =
        |commit: &str| format!("{{git: {{url: '{url}', ref: next, commit: {commit}, path: deploy/manifest.yaml}}}}");
    let project = project(&source(first), &server);
    let ran = on(&project, &server, &["update", "b"]);
    assert!(
        ran.stdout.contains("changed (left out)\n    ConfigMap/settings\n      + /data/mtu: \"9000\"\n"),
        "{}",
        ran.stdout
    );
    let ran = on(&project, &server, &["update", "b", "--write", "--accept-conflicts"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(read(&project, "b/base.yaml").contains(&source(second)));
}

#[test]
fn a_release_is_followed_to_the_latest_one() {
    let server = Server::start(|asked, out| match asked.path() {
        "/github.com/o/r/releases/latest" => {
            reply(out, "302 Found", "Location: /github.com/o/r/releases/tag/v1.1%2Bb\r\n", b"")
        }
        "/github.com/o/r/releases/tag/v1.1%2Bb" => reply(out, "200 OK", "", b""),
        "/github.com/o/r/releases/download/v1.0/a.yaml" => reply(out, "200 OK", "", FIRST.as_bytes()),
        "/github.com/o/r/releases/download/v1.1+b/a.yaml" | "/github.com/o/r/releases/download/v1.0.1/a.yaml" => {
            reply(out, "200 OK", "", SECOND.replace("NodePort", "ClusterIP").as_bytes())
        }
        _ => reply(out, "404 Not Found", "", b""),
    });
    let source = |release: &str| format!("{{github: {{repository: o/r, release: {release}, asset: a.yaml}}}}");
    let project = project(&source("v1.0"), &server);
    let ran = on(&project, &server, &["update", "b"]);
    assert_eq!(ran.exit, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.starts_with("b  b\n  v1.0 → v1.1+b\n  changed (left out)\n"), "{}", ran.stdout);
    assert_eq!(ran.stderr, "nothing was written; --write follows upstream\n");
    let ran = on(&project, &server, &["update", "b", "--ref", "v1.0.1", "--write"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(read(&project, "b/base.yaml").contains(&source("v1.0.1")));
    let ran = on(&project, &server, &["update", "b", "--write"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(read(&project, "b/base.yaml").contains(&source("v1.1+b")));
    let ran = on(&project, &server, &["vendor", "--check"]);
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), "b is as locked\n"));
}

#[test]
fn a_nightly_job_is_told_in_its_own_form_what_there_is_to_do() {
    if !present(&["git"]) {
        return;
    }
    let repository = Repository::new();
    let (first, second) = (&repository.first, &repository.second);
    let server = Server::start(git::github(&repository));
    let project = project(&github("next", first), &server);
    project.write("pinned/base.yaml", &base(&github("next", first).replace("ref: next, ", "")));
    assert_eq!(on(&project, &server, &["vendor", "pinned"]).exit, Some(0));
    let before = project.files();

    let ran = on(&project, &server, &["update", "--all", "--check", "--format", "json"]);
    assert_eq!(ran.exit, Some(1));
    assert_eq!(ran.stderr, "note: pinned pins a commit and has no `ref` to follow\n");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&report["ok"], &report["changed"]), (&Value::Bool(false), &Value::Bool(true)));
    let revision = &report["bases"][0]["revision"];
    assert_eq!(*revision, serde_json::json!({"ref": "next", "from": first, "to": second}));

    let ran = on(&project, &server, &["update", "--all", "--check", "--format", "github"]);
    assert_eq!(ran.exit, Some(1));
    let expected = "::notice file=b/base.yaml,line=1,title=a newer upstream::upstream of b has changed; decide on 1 conflict, then run `overlay update b --write`\n\
                    ::error file=x/type.yaml,line=8,title=patch type%3A stops the build%3A upstream changed what it expects::Service/agent /spec/type: upstream changed the value that the patch expects%0A\
                    base: \"ClusterIP\"%0Aupstream: \"NodePort\"%0Aours: \"LoadBalancer\"%0A\
                    If the patch is still right, write upstream's value into its `was:` or `test`; if not, change or drop it.\n";
    assert_eq!(ran.stdout, expected);

    // A base that cannot be looked at takes nothing away from the others, and makes the run one that could not be done.
    project.write("away/base.yaml", &base("{url: 'http://127.0.0.1:1/m.yaml'}"));
    let ran = on(&project, &server, &["update", "--all", "--check", "--format", "github"]);
    assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
    assert!(ran.stdout.starts_with(expected), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("::error file=away/base.yaml,line=4,col=15,title=upstream-unreachable::"),
        "{}",
        ran.stdout
    );
    std::fs::remove_dir_all(project.path("away")).unwrap();
    assert_eq!(project.files(), before);
}

#[test]
fn what_cannot_be_fetched_is_told_and_leaves_everything_as_it_was() {
    if !present(&["git"]) {
        return;
    }
    let repository = Repository::new();
    let (first, second) = (repository.first.clone(), repository.second.clone());
    let broken = Arc::new(AtomicBool::new(false));
    let (inner, is_broken) = (git::github(&repository), Arc::clone(&broken));
    let server = Server::start(move |asked: &Asked, out: &mut dyn Write| {
        let is_old = asked.path().contains(&first);
        match (is_broken.load(Ordering::SeqCst), asked.path().starts_with("/raw.")) {
            (true, true) if is_old => reply(out, "200 OK", "", FIRST.replace("quiet", "loud").as_bytes()),
            (true, true) => reply(out, "200 OK", "", b"<!doctype html><title>Rate limit</title>"),
            _ => inner(asked, out),
        }
    });
    let project = project(&github("next", &repository.first), &server);
    let before = project.files();
    for (arguments, exit, message) in [
        (&["--ref", "nxet"][..], 1, "error[upstream-gone]: "),
        (&["--commit", &"1".repeat(40)], 1, "error[upstream-gone]: https://raw."),
        (&["--ref", "twice"], 1, "error[syntax]: `twice` is a branch"),
        (&["--from", "b/manifest.yaml", "--ref", "next"], 2, "error: --ref asks the network"),
    ] {
        let ran = on(&project, &server, &[&["update", "b", "--write"], arguments].concat());
        assert_eq!(ran.exit, Some(exit), "{arguments:?}: {}", ran.stderr);
        let message = message.replace("https://raw.", &server.at("/raw."));
        assert!(ran.stderr.starts_with(&message), "{arguments:?}: {}", ran.stderr);
        assert_eq!(project.files(), before, "{arguments:?}");
    }
    broken.store(true, Ordering::SeqCst);
    let ran = on(&project, &server, &["update", "b", "--write", "--accept-conflicts"]);
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
    let new = format!("https://raw.githubusercontent.com/o/r/{second}/deploy/manifest.yaml");
    let page = format!("error[syntax]: {new} is no manifest: it is a web page with the title \"Rate limit\"");
    assert!(ran.stderr.contains(&page), "{}", ran.stderr);
    assert_eq!(project.files(), before);
}
