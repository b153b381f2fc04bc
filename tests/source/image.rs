//! `overlay image` against docker-registry filled by skopeo: open, with passwords, and with tokens. The whole program is
//! run, and what it prints is compared in full.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use overlay::fsio::Turn;

use crate::docker::{DOCKER_MANIFEST, OCI_INDEX, PEERS, Registry, Tokens, digest, logins, with_passwords};
use crate::peers::present;
use crate::project::{Project, Ran};
use crate::server::{Server, reply};

/// Runs the program in the project, with these log-ins if any.
fn run(project: &Project, logins: Option<&str>, args: &[&str]) -> Ran {
    let mut command: Command = project.command(args);
    if let Some(logins) = logins {
        project.write(".docker/config.json", logins);
        command.env("DOCKER_CONFIG", project.path(".docker"));
    }
    Ran::of(command.output().unwrap())
}

/// Asserts how a run ends and what it prints.
#[track_caller]
fn expect(ran: &Ran, exit: i32, stdout: &str, stderr: &str) {
    let told = (ran.exit, ran.stdout.as_str(), ran.stderr.as_str());
    assert_eq!(told, (Some(exit), stdout, stderr), "\n{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_tag_becomes_its_digest() {
    if !present(&PEERS) {
        return;
    }
    let registry = Registry::start("", &[]);
    let images = registry.fill("team/app", &[]);
    let (host, project) = (&registry.host, Project::new([]));
    for (tag, digest) in &images.0 {
        let ran = run(&project, None, &["image", &format!("{host}/team/app:{tag}")]);
        expect(&ran, 0, &format!("{host}/team/app:{tag}@{digest}\n"), "");
    }
    let index = images.digest("oci-index");
    let ran = run(&project, None, &["image", &format!("{host}/team/app@{index}")]);
    expect(&ran, 0, &format!("{host}/team/app@{index}\n"), "");
    let (oci, docker) = (images.digest("oci"), images.digest("docker"));
    let ran = run(&project, None, &["image", &format!("{host}/team/app:docker@{oci}")]);
    let moved = format!("note: the tag has moved: it is no longer {oci}\n");
    expect(&ran, 0, &format!("{host}/team/app:docker@{docker}\n"), &moved);
    registry.tag("team/app", "oci", "latest");
    let ran = run(&project, None, &["image", &format!("{host}/team/app")]);
    let note = format!("note: no tag is named, and so `{host}/team/app:latest` is meant\n");
    expect(&ran, 0, &format!("{host}/team/app@{oci}\n"), &note);
}

#[test]
fn programs_are_told_media_type_and_platforms() {
    if !present(&PEERS) {
        return;
    }
    let registry = Registry::start("", &[]);
    let images = registry.fill("team/app", &[]);
    let (host, project) = (&registry.host, Project::new([]));
    let report = |tag: &str, media_type: &str, platforms: &str| {
        let digest = images.digest(tag);
        format!(
            r#"{{
  "schema": "overlay/image/v1",
  "images": [
    {{
      "reference": "{host}/team/app:{tag}@{digest}",
      "registry": "{host}",
      "repository": "team/app",
      "tag": "{tag}",
      "digest": "{digest}",
      "mediaType": "{media_type}",
      "platforms": {platforms}
    }}
  ]
}}
"#
        )
    };
    let platforms = format!(
        r#"[
        {{
          "os": "linux",
          "architecture": "amd64",
          "digest": "{}"
        }}
      ]"#,
        images.digest("oci")
    );
    let ran = run(&project, None, &["image", &format!("{host}/team/app:oci-index"), "--format", "json"]);
    expect(&ran, 0, &report("oci-index", OCI_INDEX, &platforms), "");
    let ran = run(&project, None, &["image", &format!("{host}/team/app:docker"), "--format", "json"]);
    expect(&ran, 0, &report("docker", DOCKER_MANIFEST, "[]"), "");
}

#[test]
fn a_tag_that_is_not_there_is_told_with_the_nearest() {
    if !present(&PEERS) {
        return;
    }
    let registry = Registry::start("", &[]);
    registry.fill("team/app", &[]);
    let (host, project) = (&registry.host, Project::new([]));
    let at = |repository: &str, tag: &str| format!("http://{host}/v2/{repository}/manifests/{tag}");
    let told = |repository: &str, tag: &str, help: &str| {
        format!(
            "error: there is no image `{host}/{repository}:{tag}`\n  = note: {}: the server answered 404 Not Found; it says \
             MANIFEST_UNKNOWN: manifest unknown\n  = help: {help}\n",
            at(repository, tag)
        )
    };
    let ran = run(&project, None, &["image", &format!("{host}/team/app:oci-indx")]);
    expect(&ran, 1, "", &told("team/app", "oci-indx", &format!("Did you mean `{host}/team/app:oci-index`?")));
    let nothing_near = "Check the repository and the tag; letter case counts.";
    let ran = run(&project, None, &["image", &format!("{host}/team/app:v1.2.3")]);
    expect(&ran, 1, "", &told("team/app", "v1.2.3", nothing_near));
    let ran = run(&project, None, &["image", &format!("{host}/team/none:oci")]);
    expect(&ran, 1, "", &told("team/none", "oci", nothing_near));
}

#[test]
fn a_registry_with_passwords_takes_dockers_log_in() {
    if !present(&PEERS) {
        return;
    }
    let registry = with_passwords();
    let images = registry.fill("team/app", &["--dest-creds=me:s3cret"]);
    let (host, project) = (&registry.host, Project::new([]));
    let reference = format!("{host}/team/app:docker");
    let ran = run(&project, Some(&logins(host, "me", "s3cret")), &["image", &reference]);
    expect(&ran, 0, &format!("{reference}@{}\n", images.digest("docker")), "");
    let told = |reason: &str| {
        format!(
            "error: it is not known which digest `{reference}` has\n  = note: http://{host}/v2/team/app/manifests/docker: \
             {reason}\n  = help: Log in with `docker login {host}`, and check the name: registries say the same of what \
             does not exist.\n"
        )
    };
    let ran = run(&Project::new([]), None, &["image", &reference]);
    expect(&ran, 2, "", &told("the registry wants a log-in (401), and there is none for it"));
    let ran = run(&project, Some(&logins(host, "me", "wr0ng")), &["image", &reference]);
    let refused = format!(
        "the server answered 401 Unauthorized to the credential from the log-in to {host}; it says UNAUTHORIZED: \
         authentication required"
    );
    expect(&ran, 2, "", &told(&refused));
}

#[test]
fn a_registry_with_tokens_is_asked_anonymously_and_with_a_log_in() {
    if !present(&[PEERS[0], PEERS[1], "openssl"]) {
        return;
    }
    let Tokens { registry, service } = &Tokens::start();
    let (host, project) = (&registry.host, Project::new([]));
    let images = registry.fill("open/app", &["--dest-creds=me:s3cret"]);
    registry.fill("closed/app", &["--dest-creds=me:s3cret"]);
    let before = service.seen().len();
    let ran = run(&project, None, &["image", &format!("{host}/open/app:oci")]);
    expect(&ran, 0, &format!("{host}/open/app:oci@{}\n", images.digest("oci")), "");
    let asked = &service.seen()[before..];
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].header("authorization"), None);
    let closed = format!("{host}/closed/app:oci");
    let ran = run(&project, None, &["image", &closed]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("the server answered 401 Unauthorized"), "{}", ran.stderr);
    let ran = run(&project, Some(&logins(host, "me", "s3cret")), &["image", &closed]);
    expect(&ran, 0, &format!("{closed}@{}\n", images.digest("oci")), "");
}

#[test]
fn a_registry_that_does_not_answer_is_told() {
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let ran = run(&Project::new([]), None, &["image", &format!("{address}/a:b")]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    let start = format!("error: it is not known which digest `{address}/a:b` has\n  = note: http://{address}/v2/a/");
    assert!(ran.stderr.starts_with(&start), "{}", ran.stderr);
    let help = format!("  = help: Check the registry's name, `{address}`, and the network.\n");
    assert!(ran.stderr.ends_with(&help), "{}", ran.stderr);
}

#[test]
fn a_digest_that_a_registry_only_claims_is_neither_shown_nor_written() {
    const MANIFEST: &[u8] = br#"{"schemaVersion": 2}"#;
    let (claimed, sent) = (digest(b"claimed"), digest(MANIFEST));
    let header = format!("Docker-Content-Digest: {claimed}\r\n");
    let server = Server::start(move |asked, out| match (asked.method.as_str(), asked.path()) {
        ("HEAD", _) => reply(out, "200 OK", &header, b""),
        (_, "/v2/team/agent/manifests/docker") => reply(out, "200 OK", &header, MANIFEST),
        _ => reply(out, "200 OK", "", MANIFEST),
    });
    let (host, old) = (server.host(), digest(b"old"));
    let text = patch(&host, &old);
    let project = Project::new([("p/images.yaml", text.as_str())]);
    let told = format!(
        "error: it is not known which digest `{host}/team/agent:docker` has\n  = note: {}: the registry says that the \
         manifest is {claimed}, and what it sends is {sent}\n  = help: Check that `{host}` is a registry, and what stands \
         between it and you.\n",
        server.at("/v2/team/agent/manifests/docker")
    );
    expect(&run(&project, None, &["image", &format!("{host}/team/agent:docker")]), 2, "", &told);
    expect(&run(&project, None, &["image", "--pin", "p/images.yaml"]), 2, "", &told);
    assert_eq!(std::fs::read_to_string(project.path("p/images.yaml")).unwrap(), text);
    let other = format!("{host}/team/other:v1");
    expect(&run(&project, None, &["image", &other]), 0, &format!("{other}@{sent}\n"), "");
}

#[test]
fn what_is_no_reference_is_told_with_what_is_probably_meant() {
    let project = Project::new([]);
    let told = |reference: &str, stderr: &str| expect(&run(&project, None, &["image", reference]), 2, "", stderr);
    told(
        "docker://r.example/Team/app:v1",
        "error: \"docker://r.example/Team/app\" is no name of an image: its first part is no host\n  \
         = help: Did you mean `r.example/team/app:v1`?\n",
    );
    told(
        "r.example/app:",
        "error: \"\" is no tag: a tag is up to 128 letters, digits, `_`, `.` and `-`, and does not begin with `.` or `-`\n  \
         = help: An image is `[REGISTRY/]REPOSITORY[:TAG]`, as in `ghcr.io/team/app:v1`.\n",
    );
}

/// A patch of two containers' images, the second pinned with its tag in the comment.
fn patch(host: &str, old: &str) -> String {
    format!(
        "apiVersion: overlay/v1
kind: Patch
name: images   # both
summary: Pin both images
why: |
  The tag oci-index was {old} when we looked.
changes:
  - target: {{kind: DaemonSet, name: net-agent}}
    patch:
      - op: replace
        path: /spec/template/spec/containers/[name=agent]/image
        was: example.org/net-agent:v1.4.2
        value:   \"{host}/team/agent:docker\"   # ours
      - {{op: replace, path: '/spec/template/spec/containers/[name=metrics]/image', value: {host}/team/app@{old}, comment: oci-index}}
"
    )
}

#[test]
fn a_digest_is_written_into_a_patch_and_no_other_byte() {
    if !present(&PEERS) {
        return;
    }
    let registry = Registry::start("", &[]);
    let images = registry.fill("team/app", &[]);
    registry.fill("team/agent", &[]);
    let (host, old) = (&registry.host, digest(b"old"));
    let (oci, docker, docker_list) = (images.digest("oci"), images.digest("docker"), images.digest("docker-list"));
    let before = patch(host, &old);
    let project = Project::new([("p/images.yaml", before.as_str())]);
    let text = || std::fs::read_to_string(project.path("p/images.yaml")).unwrap();

    // One image by another tag: its digest, and the tag in its comment.
    let app = format!("{host}/team/app:docker-list");
    let ran = run(&project, None, &["image", &app, "--pin", "p/images.yaml"]);
    let speaks = "note: line 6 of p/images.yaml speaks of what was pinned before: see whether it is still true\n";
    expect(&ran, 0, &format!("{host}/team/app@{docker_list}\n"), &format!("wrote p/images.yaml\n{speaks}"));
    let line = |digest: &str, tag: &str| format!("{host}/team/app@{digest}, comment: {tag}}}");
    let one = before.replace(&line(&old, "oci-index"), &line(docker_list.as_str(), "docker-list"));
    assert_eq!(text(), one);

    // All of them by the tags that they have.
    let ran = run(&project, None, &["image", "--pin", "p/images.yaml"]);
    let pinned = format!("{host}/team/agent:docker@{docker}\n{host}/team/app@{docker_list}\n");
    expect(&ran, 0, &pinned, "wrote p/images.yaml\n");
    let both = one.replace("agent:docker\"", &format!("agent:docker@{docker}\""));
    assert_eq!(text(), both);

    let ran = run(&project, None, &["image", "--pin", "p/images.yaml"]);
    expect(&ran, 0, &pinned, "p/images.yaml has these digests already\n");

    // The tag moves, and the image of that repository follows it.
    registry.tag("team/agent", "oci", "docker");
    let ran =
        run(&project, None, &["image", &format!("{host}/team/agent"), "--pin", "p/images.yaml", "--format", "json"]);
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), "wrote p/images.yaml\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("\"patch\": \"p/images.yaml\",\n  \"written\": true,\n"), "{}", ran.stdout);
    assert_eq!(text(), both.replace(&format!("agent:docker@{docker}"), &format!("agent:docker@{oci}")));
}

#[test]
fn what_cannot_be_pinned_leaves_the_patch_alone() {
    if !present(&PEERS) {
        return;
    }
    let registry = Registry::start("", &[]);
    registry.fill("team/app", &[]);
    let (host, old) = (&registry.host, digest(b"old"));
    // The first image's repository is not there, and the second's is.
    let before = patch(host, &old);
    let project = Project::new([("p/images.yaml", before.as_str())]);
    let ran = run(&project, None, &["image", "--pin", "p/images.yaml"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(1), ""), "{}", ran.stderr);
    let start = format!("error: there is no image `{host}/team/agent:docker`\n");
    assert!(ran.stderr.starts_with(&start), "{}", ran.stderr);

    let ran = run(&project, None, &["image", "r.example/other:v1", "--pin", "p/images.yaml"]);
    let paths = ["[name=agent]", "[name=metrics]"].map(|item| format!("/spec/template/spec/containers/{item}/image"));
    let choices = format!(
        "  = note: p/images.yaml:13: {host}/team/agent:docker, at {}\n  \
         = note: p/images.yaml:14: {host}/team/app@{old}, tag oci-index, at {}\n",
        paths[0], paths[1]
    );
    let told = format!(
        "error: the patch `images` writes no image of r.example/other\n{choices}  \
         = help: Name one of these images, or a line that has one.\n"
    );
    expect(&ran, 2, "", &told);
    assert_eq!(std::fs::read_to_string(project.path("p/images.yaml")).unwrap(), before);

    let two = before.replace("team/agent:docker", "team/app:docker");
    project.write("p/images.yaml", &two);
    let app = format!("{host}/team/app:oci-index");
    let ran = run(&project, None, &["image", &app, "--pin", "p/images.yaml"]);
    let told = format!(
        "error: the patch `images` writes 2 different images of {host}/team/app, and one tag is not meant for all\n{}  \
         = help: Say which one with --line.\n",
        choices.replace("team/agent:docker", "team/app:docker")
    );
    expect(&ran, 2, "", &told);
    assert_eq!(std::fs::read_to_string(project.path("p/images.yaml")).unwrap(), two);
    let ran = run(&project, None, &["image", &app, "--pin", "p/images.yaml", "--line", "13"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);

    let ran = run(&project, None, &["image", "--pin", "p/image.yaml"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("p/image.yaml: no such file"), "{}", ran.stderr);
}

#[test]
fn a_patch_that_changes_while_a_pin_waits_keeps_the_change() {
    const MANIFEST: &[u8] = br#"{"schemaVersion": 2}"#;
    let server = Server::start(|_, out| reply(out, "200 OK", "", MANIFEST));
    let before = patch(&server.host(), &digest(b"old"));
    let project = Project::new([("p/images.yaml", before.as_str())]);
    // Another run of the program has the turn on the folder, and changes the file in it.
    let turn = Turn::to_write([project.path("p").as_path()]).unwrap();
    let mut command = project.command(&["image", "--pin", "p/images.yaml"]);
    let pin = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while server.seen().len() < 2 {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    let changed = before.replace("summary: Pin both images", "summary: Pin both of the images");
    project.write("p/images.yaml", &changed);
    drop(turn);
    let told = "error[file-unreadable]: p/images.yaml was changed by another program after it was read\n |\n = help: Try again.\n";
    let ran = Ran::of(pin.wait_with_output().unwrap());
    expect(&ran, 2, "", told);
    assert_eq!(std::fs::read_to_string(project.path("p/images.yaml")).unwrap(), changed);

    let ran = run(&project, None, &["image", "--pin", "p/images.yaml"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let after = std::fs::read_to_string(project.path("p/images.yaml")).unwrap();
    assert_eq!(after.matches(&digest(MANIFEST)).count(), 2, "{after}");
    assert!(after.contains("summary: Pin both of the images"), "{after}");
}

#[test]
fn a_patch_is_the_old_one_or_the_new_one_whenever_a_pin_is_killed() {
    const MANIFEST: &[u8] = br#"{"schemaVersion": 2}"#;
    const MOMENTS: u32 = 32;
    let server = Server::start(|_, out| reply(out, "200 OK", "", MANIFEST));
    let old = patch(&server.host(), &digest(b"old"));
    let project = Project::new([("p/images.yaml", old.as_str())]);
    let args = ["image", "--pin", "p/images.yaml"];
    let read = || std::fs::read_to_string(project.path("p/images.yaml")).unwrap();
    let names = || std::fs::read_dir(project.path("p")).unwrap().count();
    let started = Instant::now();
    project.output(&args);
    let (length, new) = (started.elapsed(), read());
    assert_ne!(old, new);
    let mut killed = 0;
    for step in 0..MOMENTS + 8 {
        project.write("p/images.yaml", &old);
        let mut child = project.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let started = Instant::now();
        // Spread over the time that a run takes; then, as soon as a second file shows beside the patch.
        let is_now = || if step < MOMENTS { started.elapsed() >= length * step / MOMENTS } else { names() > 1 };
        while !is_now() && child.try_wait().unwrap().is_none() {}
        // It may have ended by itself.
        let _ended_before = child.kill();
        killed += u32::from(child.wait().unwrap().code().is_none());
        let there = read();
        assert!(there == old || there == new, "{step}: {there}");
        project.write("p/images.yaml", &old);
        project.output(&args);
        assert_eq!((read(), names()), (new.clone(), 1), "{step}");
    }
    assert!(killed > 0, "no run was killed");
}
