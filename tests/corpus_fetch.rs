//! Vendors and follows Multus from a server on this machine that has upstream's real files, with the base and the
//! overlay of this repository.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may lay out files, start a server, say what it skips, and fail"
)]

#[path = "source/peers.rs"]
mod peers;
#[path = "support/project.rs"]
mod project;
#[path = "source/server.rs"]
#[allow(dead_code, reason = "each test file uses a part of it")]
mod server;
mod support;

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use project::{Project, Ran};
use serde_json::Value;
use server::{Server, reply};

const FILE: &str = "multus-daemonset-thick.yml";
const FIRST: &str = "v4.2.4";
const SECOND: &str = "v4.3.0";
const LAST: &str = "95a0932350f0060cd232096876e24672a1de83fa";

/// The commits that stand for the two tags, whose own are not at hand.
const COMMITS: [(&str, &str); 3] = [
    ("1111111111111111111111111111111111111111", FIRST),
    ("2222222222222222222222222222222222222222", SECOND),
    (LAST, LAST),
];

/// Upstream: its file at each commit, and its two tags and its branch. Once `spoilt`, a byte of the file is another.
fn upstream(spoilt: &Arc<AtomicBool>) -> Option<Server> {
    let files = support::corpus()?.join("../upstream/multus");
    let spoilt = Arc::clone(spoilt);
    Some(Server::start(move |asked, out| {
        if asked.path().ends_with("/info/refs") {
            let mut body = String::from("001e# service=git-upload-pack\n0000");
            for (commit, name) in [
                (COMMITS[2].0, "refs/heads/master"),
                (COMMITS[0].0, "refs/tags/v4.2.4"),
                (COMMITS[1].0, "refs/tags/v4.3.0"),
            ] {
                let line = format!("{commit} {name}\n");
                body.push_str(&format!("{:04x}{line}", line.len() + 4));
            }
            let kind = "Content-Type: application/x-git-upload-pack-advertisement\r\n";
            return reply(out, "200 OK", kind, (body + "0000").as_bytes());
        }
        let found = COMMITS.iter().find(|(commit, _)| {
            asked.path() == format!("/raw/k8snetworkplumbingwg/multus-cni/{commit}/deployments/{FILE}")
        });
        let Some((_, revision)) = found else { return reply(out, "404 Not Found", "", b"404: Not Found") };
        let mut bytes = fs::read(files.join(revision).join(FILE)).unwrap();
        if spoilt.load(Ordering::SeqCst) {
            bytes[100] ^= 1;
        }
        reply(out, "200 OK", "", &bytes)
    }))
}

/// Runs the program with upstream's hosts on the server.
fn on(project: &Project, server: &Server, arguments: &[&str]) -> Ran {
    let raw = format!("https://raw.githubusercontent.com={}", server.at("/raw"));
    let git = format!("https://github.com={}", server.at("/git"));
    project.run(&[arguments, &["--mirror", &raw, "--mirror", &git]].concat())
}

#[test]
fn the_base_of_multus_is_what_upstream_serves_and_one_other_byte_fails() {
    let spoilt = Arc::new(AtomicBool::new(false));
    let Some(server) = upstream(&spoilt) else { return };
    let project = Project::own();
    let before = project.files();
    let ran = on(&project, &server, &["vendor", "--check"]);
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), "base/multus is as locked\n"));

    // Without a lock it is made anew from what the server has.
    let lock = fs::read_to_string(project.path("base/multus/base.lock")).unwrap();
    fs::remove_file(project.path("base/multus/base.lock")).unwrap();
    let ran = on(&project, &server, &["vendor", "base/multus", "--accept-layout"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(lock.contains("sha256: 24fb29530b760d28126bba76bd91fac8fd74100b53d9fc65943c223e3a82be30\n"));
    assert_eq!(fs::read_to_string(project.path("base/multus/base.lock")).unwrap(), lock);
    assert_eq!(project.files(), before);

    spoilt.store(true, Ordering::SeqCst);
    for arguments in [&["vendor", "--check"][..], &["vendor"]] {
        let ran = on(&project, &server, arguments);
        assert_eq!(ran.exit, Some(1));
        assert!(
            ran.stderr.starts_with("error[upstream-changed]: https://raw.githubusercontent.com/"),
            "{}",
            ran.stderr
        );
        assert_eq!(project.files(), before);
    }
    spoilt.store(false, Ordering::SeqCst);
    let manifest = project.path("base/multus").join(FILE);
    let mut bytes = fs::read(&manifest).unwrap();
    bytes[100] ^= 1;
    fs::write(&manifest, &bytes).unwrap();
    let ran = on(&project, &server, &["vendor", "--check"]);
    assert_eq!(ran.exit, Some(1));
    assert!(ran.stderr.starts_with(&format!("would write base/multus/{FILE} ")), "{}", ran.stderr);
    assert_eq!(fs::read(&manifest).unwrap(), bytes);
}

#[test]
fn multus_is_followed_over_its_tags_to_its_branch_and_every_patch_applies() {
    let Some(server) = upstream(&Arc::new(AtomicBool::new(false))) else { return };
    let project = Project::own();
    let base_yaml = project.path("base/multus/base.yaml");
    let pinned = fs::read_to_string(&base_yaml).unwrap();
    let old = pinned.replace(LAST, &format!("\"{}\"", COMMITS[0].0)).replace("ref: master", "ref: v4.2.4");
    fs::write(&base_yaml, old).unwrap();
    for name in ["base.lock", FILE] {
        fs::remove_file(project.path("base/multus").join(name)).unwrap();
    }
    let ran = on(&project, &server, &["vendor"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);

    let crd = "CustomResourceDefinition.apiextensions.k8s.io/network-attachment-definitions.k8s.cni.cncf.io";
    for (to, changes) in [
        ("v4.3.0", vec![format!("{crd} /spec/names/shortNames/[=nad]")]),
        (
            "master",
            vec![
                "ClusterRole.rbac.authorization.k8s.io/multus /rules/2".to_owned(),
                "DaemonSet.apps/kube-system/kube-multus-ds /spec/template/spec/terminationGracePeriodSeconds"
                    .to_owned(),
            ],
        ),
    ] {
        let ran = on(&project, &server, &["update", "base/multus", "--ref", to, "--write", "--format", "json"]);
        assert_eq!(ran.exit, Some(0), "{}{}", ran.stdout, ran.stderr);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        let base = &report["bases"][0];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let differences =
            base["documents"].as_array().unwrap().iter().flat_map(|d| d["differences"].as_array().unwrap());
        let told: Vec<String> = differences.map(|d| format!("{} {}", text(&d["resource"]), text(&d["path"]))).collect();
        assert_eq!(told, changes);
        let patches = base["overlays"][0]["patches"].as_array().unwrap();
        let verdicts: Vec<String> = patches.iter().map(|patch| text(&patch["verdict"])).collect();
        assert_eq!(verdicts, ["applies"; 7]);
    }
    assert_eq!(fs::read_to_string(&base_yaml).unwrap().replace('"', ""), pinned);
    let ran = project.run(&["verify", "overlays/nik-debian"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stdout);
}
