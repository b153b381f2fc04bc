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
fn a_tag_has_moved_where_the_manifest_itself_shows_it() {
    const MANIFEST: &[u8] = br#"{"schemaVersion": 2}"#;
    let (pinned, sent) = (digest(b"x"), digest(MANIFEST));
    for (claimed, codes) in [(digest(b"claimed"), ["registry-unknown"]), (sent.clone(), ["tag-moved"])] {
        let header = format!("Docker-Content-Digest: {claimed}\r\n");
        let own = format!("Docker-Content-Digest: {pinned}\r\n");
        let server = Server::start(move |asked, out| match (asked.path(), asked.method.as_str()) {
            ("/v2/a/manifests/v1", "HEAD") => reply(out, "200 OK", &header, b""),
            ("/v2/a/manifests/v1", _) => reply(out, "200 OK", &header, MANIFEST),
            _ => reply(out, "200 OK", &own, b""),
        });
        let image = format!("{}/a:v1@{pinned}", server.host());
        let (exit, findings) = told(&verify(&project(&patch(&[(AGENT, &image)])), None));
        let told = ["registry-unknown", "tag-moved"].into_iter().filter(|code| findings.contains(code));
        assert_eq!((exit, told.collect::<Vec<_>>()), (Some(0), codes.to_vec()), "{findings}");
        assert!(findings.contains(&claimed) && findings.contains(&sent), "{findings}");
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

/// A project whose base is a file at a commit on GitHub, vendored from these bytes.
fn on_github(manifest: &str) -> Project {
    let commit = "0".repeat(40);
    let base = format!(
        "apiVersion: overlay/v1\nkind: Base\nname: b\n\
         source: {{github: {{repository: o/r, commit: {commit}, path: deploy/m.yaml}}}}\n"
    );
    let overlay = |name: &str| format!("apiVersion: overlay/v1\nkind: Overlay\nname: {name}\nbases: [../../base/b]\n");
    let project = Project::new([
        ("m.yaml", manifest),
        ("base/b/base.yaml", base.as_str()),
        ("overlays/one/overlay.yaml", overlay("one").as_str()),
        ("overlays/two/overlay.yaml", overlay("two").as_str()),
    ]);
    let vendored = project.run(&["vendor", "base/b", "--from", "m.yaml"]);
    assert_eq!(vendored.exit, Some(0), "{}", vendored.stderr);
    project
}

/// The codes of the errors of each overlay, and how the run ended.
fn errors_online(project: &Project, server: &Server) -> (Option<i32>, Vec<Vec<String>>) {
    let mirror = format!("https://raw.githubusercontent.com={}", server.at("/raw"));
    let ran = project.run(&["verify", "--online", "--mirror", &mirror, "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let codes = |overlay: &serde_json::Value| {
        let findings = overlay["findings"].as_array().unwrap().iter();
        findings.filter(|f| f["severity"] == "error").map(|f| f["code"].as_str().unwrap().to_owned()).collect()
    };
    (ran.exit, report["overlays"].as_array().unwrap().iter().map(codes).collect())
}

#[test]
fn upstream_is_held_against_the_lock_of_every_base_once() {
    const MANIFEST: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    let project = on_github(MANIFEST);
    let both = |codes: &[&str]| vec![codes.iter().map(|&code| code.to_owned()).collect::<Vec<_>>(); 2];
    let answer = |status: &'static str, body: &'static str| {
        Server::start(move |_, out| reply(out, status, "Retry-After: 3600\r\n", body.as_bytes()))
    };
    let same = answer("200 OK", MANIFEST);
    assert_eq!(errors_online(&project, &same), (Some(0), both(&[])));
    let path = format!("/raw/o/r/{}/deploy/m.yaml", "0".repeat(40));
    assert_eq!(same.seen().iter().map(|asked| asked.target.clone()).collect::<Vec<_>>(), [path]);

    let changed = answer("200 OK", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n");
    assert_eq!(errors_online(&project, &changed), (Some(1), both(&["upstream-changed"])));
    let gone = answer("404 Not Found", "");
    assert_eq!(errors_online(&project, &gone), (Some(1), both(&["upstream-gone"])));
    for status in ["403 Forbidden", "429 Too Many Requests", "503 Service Unavailable"] {
        let silent = answer(status, "");
        assert_eq!(errors_online(&project, &silent), (Some(2), both(&["upstream-unreachable"])), "{status}");
    }
}

#[test]
fn a_file_of_the_root_that_changed_is_a_warning() {
    let project = project(&patch(&[(RUNNER, "example.org/runner:v2")]));
    project.write("net.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n");
    let ran = project.run(&["verify", "overlays/lab", "--online"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stdout);
    let warning = "warning[upstream-changed]: ../../net.yaml has other bytes than the lock records\n";
    assert!(ran.stdout.contains(warning), "{}", ran.stdout);
}

#[test]
fn options_of_the_network_go_with_online() {
    let project = Project::new([]);
    let ran = project.run(&["verify", "--timeout", "3"]);
    let told = "error: --mirror, --ca-file, --timeout and --config go with --online\n";
    assert_eq!((ran.exit, ran.stdout.as_str(), ran.stderr.as_str()), (Some(2), "", told));
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

#[test]
fn a_pin_sees_the_tag_of_an_operations_comment_where_verify_sees_it() {
    let manifest = |tag: &str| json!({"schemaVersion": 2, "config": tag}).to_string();
    let server = Server::start(move |asked, out| {
        let tag = asked.path().rsplit('/').next().unwrap_or_default();
        let tag = ["v1", "v3"].into_iter().find(|t| *t == tag || digest(manifest(t).as_bytes()) == tag);
        match tag {
            Some(tag) => reply(out, "200 OK", "", manifest(tag).as_bytes()),
            None => reply(out, "500 Internal Server Error", "", b""),
        }
    });
    let host = server.host();
    let image = |tag: &str| format!("{host}/other@{}", digest(manifest(tag).as_bytes()));
    let list = "/spec/template/spec/containers/-";
    // Where it goes, the value, and whether its comment stands behind the image in the result.
    for (path, value, stands) in [
        (list, "{name: yy, image: \"IMAGE\"}", true),
        (list, "{image: IMAGE, name: yy}", true),
        (list, "{name: yy,\n          image: IMAGE}", true),
        (list, "{image: IMAGE,\n          name: yy}", false),
        (list, "\n          image: IMAGE\n          name: yy", true),
        (list, "\n          name: yy\n          image: IMAGE", false),
        ("/spec/extra", "\n          image: IMAGE\n          name: yy", false),
        ("/spec/extra", "\n          - image: IMAGE\n            name: yy", false),
        ("/spec/extra", "[{image: IMAGE}]", true),
    ] {
        let patch = format!(
            "{}        value: {}\n        comment: v1\n",
            patch(&[(AGENT, "x")]).split("      - op").next().unwrap().to_owned()
                + &format!("      - op: add\n        path: {path}\n"),
            value.replace("IMAGE", &image("v1"))
        );
        let project = project(&patch);
        assert_eq!(told(&verify(&project, None)), (Some(0), String::new()), "{value}");
        let file = "overlays/lab/patches/images.yaml";
        let pinned = project.run(&["image", &format!("{host}/other:v3"), "--pin", file]);
        assert_eq!(pinned.exit, Some(0), "{value}: {}", pinned.stderr);
        assert_eq!(told(&verify(&project, None)), (Some(0), String::new()), "{value}");
        let comment = if stands { "comment: v3\n" } else { "comment: v1\n" };
        let expected = patch.replace(&image("v1"), &image("v3")).replace("comment: v1\n", comment);
        assert_eq!(std::fs::read_to_string(project.path(file)).unwrap(), expected);
    }
}
