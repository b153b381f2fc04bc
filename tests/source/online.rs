//! `overlay verify --online` against docker-registry filled by skopeo, and against registries that do not say. The whole
//! program is run; what it finds is compared in full.

use serde_json::json;

use crate::docker::{PEERS, Registry, Tokens, digest, logins, with_passwords};
use crate::peers::{present, run};
use crate::project::{Project, Ran};
use crate::server::{Server, reply};

const OVERLAY: &str = "apiVersion: overlay/v1\nkind: Overlay\nname: lab\nbases: [../../base/net]\n\
                       patches: [patches/images.yaml]\nimages: [/spec/runner/picture]\n";

/// A base with an agent at example.org, and an overlay that puts other images in its place.
fn project(patch: &str) -> Project {
    let manifest = "apiVersion: apps/v1
kind: DaemonSet
metadata: {name: net-agent}
spec:
  template:
    spec:
      initContainers:
        - {name: init, image: example.org/init:v1}
      containers:
        - {name: agent, image: example.org/agent:v1}
      ephemeralContainers:
        - {name: debug, image: example.org/debug:v1}
---
apiVersion: example.org/v1
kind: Net
metadata: {name: net}
spec: {runner: {picture: example.org/runner:v1}}
";
    let base = "apiVersion: overlay/v1\nkind: Base\nname: net\nsource: {file: ../../net.yaml}\n";
    let project = Project::new([
        ("net.yaml", manifest),
        ("base/net/base.yaml", base),
        ("overlays/lab/overlay.yaml", OVERLAY),
        ("overlays/lab/patches/images.yaml", patch),
    ]);
    let vendored = project.run(&["vendor", "base/net"]);
    assert_eq!(vendored.exit, Some(0), "{}", vendored.stderr);
    project
}

/// A patch that replaces these images: the end of a path in the pod, and the image with whatever stands behind it.
fn patch(images: &[(&str, &str)]) -> String {
    let head = "apiVersion: overlay/v1\nkind: Patch\nname: images\nsummary: Use our images\nwhy: Ours are looked at.\n\
                evidence: [https://example.org]\nchanges:\n";
    let one = |(path, image): &(&str, &str)| {
        let (target, path) = match *path {
            "/spec/runner/picture" => ("{kind: Net}", (*path).to_owned()),
            path => ("{kind: DaemonSet}", format!("/spec/template/spec/{path}/image")),
        };
        format!("  - target: {target}\n    patch:\n      - op: replace\n        path: {path}\n        value: {image}\n")
    };
    head.to_owned() + &images.iter().map(one).collect::<String>()
}

/// Runs `verify --online`, with these log-ins if any.
fn verify(project: &Project, logins: Option<&str>) -> Ran {
    let mut command = project.command(&["verify", "overlays/lab", "--online"]);
    if let Some(logins) = logins {
        project.write(".docker/config.json", logins);
        command.env("DOCKER_CONFIG", project.path(".docker"));
    }
    Ran::of(command.output().unwrap())
}

/// What is told of registries, and the summary; how the run ended.
fn told(ran: &Ran) -> (Option<i32>, String) {
    assert_eq!(ran.stderr, "", "{}", ran.stdout);
    let codes = ["tag-moved", "digest-gone", "registry-unknown"];
    let blocks =
        ran.stdout.split("\n\n").filter(|block| codes.iter().any(|code| block.contains(&format!("[{code}]: "))));
    (ran.exit, blocks.map(|block| format!("{block}\n")).collect::<Vec<_>>().join("\n"))
}

const AGENT: &str = "containers/[name=agent]";
const INIT: &str = "initContainers/[name=init]";
const DEBUG: &str = "ephemeralContainers/[name=debug]";
const RUNNER: &str = "/spec/runner/picture";

#[test]
fn images_that_are_as_pinned_are_not_spoken_of() {
    if !present(&PEERS) {
        return;
    }
    let registry = Registry::start("", &[]);
    let images = registry.fill("team/app", &[]);
    let (host, digest) = (&registry.host, images.digest("oci-index"));
    let by_tag = format!("{host}/team/app:oci-index@{digest}");
    let by_comment = format!("{host}/team/app@{digest} # oci-index");
    let bare = format!("{host}/team/app@{digest}");
    let project = project(&patch(&[(AGENT, &by_tag), (INIT, &by_comment), (DEBUG, &bare), (RUNNER, &bare)]));
    assert_eq!(told(&verify(&project, None)), (Some(0), String::new()));
}

#[test]
fn a_tag_that_moved_is_told_with_both_digests_and_the_command_that_pins_anew() {
    if !present(&PEERS) {
        return;
    }
    let registry = Registry::start("", &[]);
    let images = registry.fill("team/app", &[]);
    let (host, old, new) = (&registry.host, images.digest("oci"), images.digest("docker"));
    registry.tag("team/app", "oci", "v1");
    let project =
        project(&patch(&[(AGENT, &format!("{host}/team/app:v1@{old}")), (INIT, &format!("{host}/team/app:v1@{old}"))]));
    assert_eq!(told(&verify(&project, None)), (Some(0), String::new()));

    registry.tag("team/app", "docker", "v1");
    let expected = format!(
        "warning[tag-moved]: the tag `v1` of {host}/team/app is no longer the image that is pinned
  --> overlays/lab/patches/images.yaml:12:16
   |
12 |         value: {host}/team/app:v1@{old}
   |                {carets} pinned here
   |
   = patch: images
   = resource: DaemonSet.apps/net-agent
   = path: /spec/template/spec/containers/[name=agent]/image
   = note: Pinned is {old}; the tag is {new} now.
   = note: It also stands at /spec/template/spec/initContainers/[name=init]/image of DaemonSet.apps/net-agent.
   = help: Nothing is broken. Look at what is new; to take it, run `overlay image {host}/team/app:v1 --pin overlays/lab/patches/images.yaml`.
",
        carets = "^".repeat(format!("{host}/team/app:v1@{old}").len()),
    );
    assert_eq!(told(&verify(&project, None)), (Some(0), expected));

    // What it says to run mends it.
    let pinned = project.run(&["image", &format!("{host}/team/app:v1"), "--pin", "overlays/lab/patches/images.yaml"]);
    assert_eq!(pinned.exit, Some(0), "{}", pinned.stderr);
    assert_eq!(told(&verify(&project, None)), (Some(0), String::new()));
}

#[test]
fn a_digest_that_is_gone_is_an_error_wherever_the_image_stands() {
    if !present(&PEERS) {
        return;
    }
    let registry = Registry::start("", &[]);
    let images = registry.fill("team/app", &[]);
    let host = &registry.host;
    let gone = |name: &str| format!("{host}/team/app@{}", digest(name.as_bytes()));
    let with_tag = format!("{} # oci-index", gone("a"));
    let project = project(&patch(&[(AGENT, &with_tag), (INIT, &gone("b")), (DEBUG, &gone("c")), (RUNNER, &gone("d"))]));
    let block = |name: &str, line: usize, shown: &str, resource: &str, path: &str, tag: &str, help: &str| {
        format!(
            "error[digest-gone]: the registry no longer has {image}
  --> overlays/lab/patches/images.yaml:{line}:16
   |
{line} |         value: {shown}
   |                {carets} pinned here
   |
   = patch: images
   = resource: {resource}
   = path: {path}
   = note: http://{host}/v2/team/app/manifests/{digest}: the server answered 404 Not Found; it says MANIFEST_UNKNOWN: manifest unknown.
{tag}   = help: {help}
",
            image = gone(name),
            digest = digest(name.as_bytes()),
            carets = "^".repeat(gone(name).len()),
        )
    };
    let pod = |at: &str| format!("/spec/template/spec/{at}/image");
    let pod_of = "DaemonSet.apps/net-agent";
    let push = "Pin an image that is there, or push this one again.";
    let now = format!("   = note: The tag `oci-index` is {} now.\n", images.digest("oci-index"));
    let take = format!(
        "Look at what the tag is now; to take it, run `overlay image {host}/team/app:oci-index --pin \
         overlays/lab/patches/images.yaml --line 12`."
    );
    // The line is too long to be shown whole.
    let cut = format!("{} # oci-in…", gone("a"));
    let expected = [
        block("a", 12, &cut, pod_of, &pod(AGENT), &now, &take),
        block("b", 17, &gone("b"), pod_of, &pod(INIT), "", push),
        block("c", 22, &gone("c"), pod_of, &pod(DEBUG), "", push),
        block("d", 27, &gone("d"), "Net.example.org/net", "/spec/runner/picture", "", push),
    ];
    assert_eq!(told(&verify(&project, None)), (Some(1), expected.join("\n")));
}

#[test]
fn a_registry_with_passwords_is_unknown_without_a_log_in() {
    if !present(&PEERS) {
        return;
    }
    let registry = with_passwords();
    let images = registry.fill("team/app", &["--dest-creds=me:s3cret"]);
    let (host, digest) = (&registry.host, images.digest("oci"));
    let image = format!("{host}/team/app:oci@{digest}");
    let project = project(&patch(&[(AGENT, &image)]));
    let expected = format!(
        "warning[registry-unknown]: the registry did not say whether it has {image}
  --> overlays/lab/patches/images.yaml:12:16
   |
12 |         value: {image}
   |                {carets} pinned here
   |
   = patch: images
   = resource: DaemonSet.apps/net-agent
   = path: /spec/template/spec/containers/[name=agent]/image
   = note: http://{host}/v2/team/app/manifests/oci: the registry wants a log-in (401), and there is none for it.
   = help: Log in with `docker login {host}`, and check the name: registries say the same of what does not exist.
",
        carets = "^".repeat(image.len()),
    );
    assert_eq!(told(&verify(&project, None)), (Some(0), expected));
    assert_eq!(told(&verify(&project, Some(&logins(host, "me", "s3cret")))), (Some(0), String::new()));
}

#[test]
fn a_registry_with_tokens_is_asked_with_one_for_each_repository() {
    if !present(&[PEERS[0], PEERS[1], "openssl"]) {
        return;
    }
    let Tokens { registry, service } = &Tokens::start();
    let host = &registry.host;
    let images = registry.fill("open/app", &["--dest-creds=me:s3cret"]);
    registry.fill("closed/app", &["--dest-creds=me:s3cret"]);
    let digest = images.digest("oci");
    let (open, closed) = (format!("{host}/open/app:oci@{digest}"), format!("{host}/closed/app:oci@{digest}"));
    let project = project(&patch(&[(AGENT, &open), (INIT, &open), (DEBUG, &closed)]));
    let before = service.seen().len();
    let (exit, findings) = told(&verify(&project, None));
    assert_eq!(exit, Some(0));
    assert_eq!(findings.matches("]: ").count(), 1, "{findings}");
    let start = format!("warning[registry-unknown]: the registry did not say whether it has {closed}\n");
    assert!(findings.starts_with(&start), "{findings}");
    assert!(findings.contains("the server answered 401 Unauthorized"), "{findings}");
    let scopes: std::collections::BTreeSet<_> =
        service.seen()[before..].iter().filter_map(|a| a.query("scope")).collect();
    assert_eq!(scopes.into_iter().collect::<Vec<_>>(), ["repository:closed/app:pull", "repository:open/app:pull"]);
    assert_eq!(told(&verify(&project, Some(&logins(host, "me", "s3cret")))), (Some(0), String::new()));
}

#[test]
fn what_is_no_answer_is_a_warning_and_never_gone() {
    for status in ["403 Forbidden", "429 Too Many Requests", "503 Service Unavailable", "404 Not Found"] {
        // A 404 without the registry's own word for it is somebody else's.
        let server = Server::start(move |_, out| reply(out, status, "Retry-After: 3600\r\n", b""));
        let image = format!("{}/a@{}", server.host(), digest(b"x"));
        let project = project(&patch(&[(AGENT, &image)]));
        let (exit, findings) = told(&verify(&project, None));
        let start = format!("warning[registry-unknown]: the registry did not say whether it has {image}\n");
        assert!(exit == Some(0) && findings.starts_with(&start), "{status}: {findings}");
        assert!(findings.contains(&format!("the server answered {status}")), "{findings}");
        let ran = project.run(&["verify", "overlays/lab", "--online", "--strict"]);
        assert_eq!(ran.exit, Some(1), "{}", ran.stdout);
    }
}

#[test]
fn each_image_is_asked_for_once_in_a_run() {
    let digest = digest(b"x");
    let header = format!("Docker-Content-Digest: {digest}\r\n");
    let server = Server::start(move |_, out| reply(out, "200 OK", &header, b""));
    let image = format!("{}/a:v1@{digest}", server.host());
    let project = project(&patch(&[(AGENT, &image), (INIT, &image), (DEBUG, &image), (RUNNER, &image)]));
    project.write("overlays/two/overlay.yaml", &OVERLAY.replace("lab", "two").replace("patches/", "../lab/patches/"));
    let ran = project.run(&["verify", "--online"]);
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), ""), "{}", ran.stdout);
    let seen: Vec<_> = server.seen().into_iter().map(|asked| (asked.method, asked.target)).collect();
    assert_eq!(seen, [("HEAD".to_owned(), "/v2/a/manifests/v1".to_owned())]);
}

#[test]
fn findings_of_registries_are_told_to_programs_as_the_others() {
    let server = Server::start(|_, out| {
        let body = json!({"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]}).to_string();
        reply(out, "404 Not Found", "", body.as_bytes())
    });
    let image = format!("{}/a@{}", server.host(), digest(b"x"));
    let project = project(&patch(&[(AGENT, &image)]));
    let ran = project.run(&["verify", "overlays/lab", "--online", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let findings = report["overlays"][0]["findings"].as_array().unwrap();
    let gone: Vec<_> = findings.iter().filter(|finding| finding["code"] == "digest-gone").collect();
    assert_eq!((ran.exit, report["ok"].as_bool(), gone.len()), (Some(1), Some(false), 1), "{}", ran.stdout);
    assert_eq!(gone[0]["file"], "overlays/lab/patches/images.yaml");
    assert_eq!(gone[0]["line"], 12);
}

#[test]
fn without_online_no_socket_is_opened() {
    if !present(&["strace"]) {
        return;
    }
    let server = Server::start(|_, out| reply(out, "503 Service Unavailable", "", b""));
    let image = format!("{}/a:v1@{}", server.host(), digest(b"x"));
    let project = project(&patch(&[(AGENT, &image)]));
    let sockets = |args: &[&str]| {
        let trace = project.path("trace");
        let fixed = ["-f", "-qq", "-e", "trace=%network", "-o", trace.to_str().unwrap(), env!("CARGO_BIN_EXE_overlay")];
        run(&project.path(""), "strace", &[&fixed[..], args].concat());
        std::fs::read_to_string(trace).unwrap()
    };
    assert_eq!(sockets(&["verify", "overlays/lab"]), "");
    assert_eq!(sockets(&["build", "overlays/lab"]), "");
    assert!(server.seen().is_empty());
    let online = sockets(&["verify", "overlays/lab", "--online"]);
    assert!(online.contains("socket(") && !server.seen().is_empty(), "{online}");
}
