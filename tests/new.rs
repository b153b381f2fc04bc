//! Making a base, an overlay and a patch from nothing.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may lay out files, and fail")]

#[path = "support/project.rs"]
mod project;

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use project::{Project, Ran};

/// The project that cases start from.
fn project() -> Project {
    let project = Project::new([]);
    for folder in ["base", "overlays", "upstream"] {
        project.copy_own(&format!("tests/cases/_project/{folder}"), folder);
    }
    project
}

/// `overlay new patch` on the agent, with this editor.
fn edit(project: &Project, editor: &str) -> Ran {
    let args = ["new", "patch", "tuned", "overlays/lab", "--target", "daemonset/net-agent"];
    let mut command = project.command(&args);
    Ran::of(
        command.env("EDITOR", editor).env("PATH", "/usr/bin:/bin").env("TMPDIR", project.path("tmp")).output().unwrap(),
    )
}

#[test]
fn what_is_changed_in_the_editor_becomes_one_guarded_patch() {
    let project = project();
    fs::create_dir(project.path("tmp")).unwrap();
    let before = fs::read_to_string(project.path("overlays/lab/overlay.yaml")).unwrap();
    let ran = edit(&project, "sed -i -e s/v1.4.2/v1.4.3/ -e s/--port=53/--port=54/");
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert_eq!(
        ran.stderr.lines().skip(1).collect::<Vec<_>>(),
        [
            "wrote overlays/lab/overlay.yaml",
            "next: write the reason where `why` says TODO, then run `overlay verify overlays/lab`"
        ]
    );
    let patch = fs::read_to_string(project.path("overlays/lab/patches/tuned.yaml")).unwrap();
    for line in [
        "name: tuned",
        "  TODO: say why.",
        "        path: /spec/template/spec/containers/[name=agent]/image",
        "        was: example.org/net-agent:v1.4.2",
        "        value: example.org/net-agent:v1.4.3",
        "        value: --port=54",
    ] {
        assert!(patch.lines().any(|l| l == line), "{line:?} is not in\n{patch}");
    }
    let after = fs::read_to_string(project.path("overlays/lab/overlay.yaml")).unwrap();
    assert_eq!(after, before + "  - patches/tuned.yaml\n");
    let built = project.output(&["build", "overlays/lab"]);
    assert!(built.contains("net-agent:v1.4.3 # the stable line") && built.contains("\"--port=54\""), "{built}");
    assert_eq!(fs::read_dir(project.path("tmp")).unwrap().count(), 0, "the text that was edited is gone");
}

#[test]
fn a_new_patch_of_a_place_that_another_one_changes_is_warned_of() {
    let project = project();
    let add = |name: &str, old: &str, new: &str| {
        let document = project.output(&["build", "overlays/lab"]);
        let (config_map, _) = document.split_once("---\napiVersion: apps").unwrap();
        project.write("edited.yaml", &config_map.replace(old, new));
        let target = ["--target", "ConfigMap/net-config", "--edited", "edited.yaml"];
        project.run(&[&["new", "patch", name, "overlays/lab"], target.as_slice()].concat())
    };
    let ran = add("mtu", "1500", "9000");
    assert!(ran.exit == Some(0) && !ran.stderr.contains("warning"), "{}", ran.stderr);
    let ran = add("quiet", "\"debug\"", "\"warn\"");
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let told = "warning[overridden]: the patch `quiet` changes the same place later\n";
    assert_eq!(ran.stderr.matches(told).count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains(" --> overlays/lab/patches/case.yaml:13:15\n"), "{}", ran.stderr);
}

#[test]
fn of_several_documents_that_a_target_means_those_are_listed() {
    let document = |kind: &str, name: &str| format!("---\napiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}}}\n");
    let all = [document("A", "x"), document("B", "x"), document("A", "y"), document("C", "z")].concat();
    let project = Project::new([("all.yaml", all.as_str())]);
    assert_eq!(project.run(&["init", "net", "all.yaml"]).exit, Some(0));
    let ran = project.run(&["new", "patch", "p", "overlays/net", "--target", "x", "--edited", "all.yaml"]);
    let told = "error: `x` means 2 documents\n  = note: A/x\n  = note: B/x\n  = help: Name one of these with --target: `--target A/x`.\n";
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(2), told));
}

#[test]
fn nothing_is_written_where_nothing_was_changed_or_the_editor_fails() {
    let project = project();
    fs::create_dir(project.path("tmp")).unwrap();
    let before = project.files();
    let unchanged = edit(&project, "true");
    let told = "nothing was changed in DaemonSet.apps/kube-system/net-agent; nothing was written\n";
    assert_eq!((unchanged.exit, unchanged.stderr.as_str()), (Some(0), told));
    assert!(edit(&project, "truncate -s 0").stderr.starts_with("the text is empty in "));
    assert!(edit(&project, "sed -i -e s/#.*//").stderr.starts_with("only layout or comments were changed in "));
    let failed = edit(&project, "false");
    assert_eq!(failed.exit, Some(2));
    assert!(failed.stderr.starts_with("error: the editor `false` failed (exit status: 1); nothing was written\n"));
    assert_eq!(project.files(), before);
}

#[test]
fn a_text_that_no_patch_can_be_made_of_is_kept_and_its_place_said() {
    let project = project();
    fs::create_dir(project.path("tmp")).unwrap();
    for (editor, code) in [("sed -i -e 's/spec:/spec:[/'", "syntax"), ("sed -i -e s/net-agent/other/", "edit-refused")]
    {
        let ran = edit(&project, editor);
        assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
        assert!(ran.stderr.starts_with(&format!("error[{code}]: ")), "{}", ran.stderr);
        let line = ran.stderr.lines().find_map(|line| line.strip_prefix("nothing was written; your text is kept in "));
        let kept = fs::read_to_string(line.unwrap()).unwrap();
        assert!(kept.contains("spec:[") || kept.contains("name: other"), "{kept}");
        let next = format!("--target daemonset/net-agent --edited {}`", line.unwrap());
        assert!(ran.stderr.contains(&next), "{}", ran.stderr);
    }
    assert!(!project.path("overlays/lab/patches/tuned.yaml").exists());
}

#[test]
fn an_edited_document_may_come_from_a_file_and_names_that_are_taken_are_refused() {
    let project = project();
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: net-config, namespace: kube-system}\n\
                  data:\n  net.json: |\n    {\n      \"logLevel\": \"debug\",\n      \"mtu\": 9000\n    }\n";
    project.write("edited.yaml", config);
    let new = |name: &str, target: &str| {
        let args =
            ["new", "patch", name, "overlays/lab", "--target", target, "--edited", "edited.yaml", "--why", "Big."];
        project.run(&args)
    };
    let taken = new("case", "net-config");
    assert_eq!(taken.exit, Some(2));
    assert!(taken.stderr.starts_with("error: there is a patch `case` already"), "{}", taken.stderr);
    let unknown = new("mtu", "net-confg");
    assert!(
        unknown.stderr.starts_with("error: there is no document `net-confg` (did you mean `ConfigMap/net-config`?)")
    );
    assert_eq!(new("../mtu", "net-config").exit, Some(2));

    assert_eq!(new("mtu", "net-config").exit, Some(0));
    let patch = fs::read_to_string(project.path("overlays/lab/patches/mtu.yaml")).unwrap();
    assert!(
        patch.ends_with("      - op: replace\n        path: /mtu\n        was: 1500\n        value: 9000\n"),
        "{patch}"
    );
    assert_eq!(project.run(&["verify", "overlays/lab"]).exit, Some(0));
}

#[test]
fn what_init_writes_is_locked_builds_and_verifies() {
    let project = Project::new([]);
    project.copy_own("tests/cases/_project/upstream", "upstream");
    let ran = project.run(&["init", "net", "upstream/net.yaml"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert_eq!(
        ran.stderr,
        "wrote base/net/base.yaml (where the base comes from)\n\
         wrote base/net/net.yaml (2 documents, 958 bytes)\n\
         wrote base/net/base.lock (the hashes of the base)\n\
         wrote overlays/net/overlay.yaml (an overlay without patches yet)\n\
         next: `overlay build overlays/net` prints upstream's manifest as it is; change it with\n      \
         `overlay new patch NAME overlays/net --target DaemonSet/net-agent`\n"
    );
    assert_eq!(
        project.output(&["build", "overlays/net"]).as_bytes(),
        fs::read(project.path("upstream/net.yaml")).unwrap()
    );
    assert_eq!(project.run(&["verify"]).exit, Some(0));
    assert_eq!(project.run(&["vendor", "--check"]).exit, Some(0));
    for (file, schema) in [("base/net/base.yaml", "base.json"), ("overlays/net/overlay.yaml", "overlay.json")] {
        let text = fs::read_to_string(project.path(file)).unwrap();
        let first = format!("# yaml-language-server: $schema=../../.overlay/schemas/{schema}");
        assert_eq!(text.lines().next(), Some(first.as_str()));
        assert!(project.path(file).parent().unwrap().join("../../.overlay/schemas").join(schema).is_file());
    }

    let before = project.files();
    for again in
        [&["init", "net", "upstream/net.yaml"][..], &["init", "net"], &["init"], &["init", "x", "nothing.yaml"]]
    {
        assert_ne!(project.run(again).exit, Some(0), "{again:?}");
        assert_eq!(project.files(), before, "{again:?}");
    }
    assert_eq!(project.run(&["init", "prod", "--base", "base/net"]).exit, Some(0));
    assert!(fs::read_to_string(project.path("overlays/prod/overlay.yaml")).unwrap().contains("- ../../base/net\n"));
}

#[test]
fn init_makes_the_first_patch_where_that_is_asked_for() {
    let project = Project::new([]);
    project.copy_own("tests/cases/_project/upstream", "upstream");
    let args = ["init", "net", "upstream/net.yaml", "--patch", "mtu", "--target", "ConfigMap/net-config"];
    let ran = Ran::of(
        project.command(&args).env("EDITOR", "sed -i -e s/1500/9000/").env("PATH", "/usr/bin:/bin").output().unwrap(),
    );
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let patch = fs::read_to_string(project.path("overlays/net/patches/mtu.yaml")).unwrap();
    assert!(patch.starts_with("# yaml-language-server: $schema=../../../.overlay/schemas/patch.json\n"), "{patch}");
    let overlay = fs::read_to_string(project.path("overlays/net/overlay.yaml")).unwrap();
    assert!(overlay.ends_with("patches:\n  - patches/mtu.yaml\n"), "{overlay}");
    assert!(project.output(&["build", "overlays/net"]).contains("\"mtu\": 9000"));
}

#[test]
fn what_init_cannot_take_is_told_with_what_to_write_instead() {
    let project = project();
    for (source, told) in [
        ("nothing.yaml", "an address that begins with https://"),
        ("upstream", "SOURCE names a folder"),
        ("https://github.com/example/net", "open the manifest there, and copy its address"),
    ] {
        let ran = project.run(&["init", "new", source]);
        assert!(ran.exit != Some(0) && ran.stderr.contains(told), "{}", ran.stderr);
        assert!(!project.path("base/new").exists() && !project.path("overlays/new").exists());
    }
    let ran = project.run(&["build"]);
    assert!(ran.stderr.contains("help: Name the folder of one, such as overlays/lab."), "{}", ran.stderr);
}

#[test]
fn init_asks_at_a_terminal_for_what_the_command_line_does_not_say() {
    if Command::new("script").arg("--version").output().is_err() {
        assert!(std::env::var_os("OVERLAY_REQUIRE_PEERS").is_none(), "script (of util-linux) is missing");
        eprintln!("skipped: script (of util-linux) is missing");
        return;
    }
    let project = Project::new([]);
    project.copy_own("tests/cases/_project/upstream", "upstream");
    fs::remove_dir(project.path(".git")).unwrap();
    let mut command = Command::new("script");
    command
        .args(["-qec", &format!("{} init", env!("CARGO_BIN_EXE_overlay")), "/dev/null"])
        .current_dir(project.path(""));
    command.env_clear().env("PATH", "/usr/bin:/bin").env("EDITOR", "sed -i -e s/1500/9000/").stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut terminal = child.stdin.take().unwrap();
    terminal.write_all(b"net\nupstream/net.yaml\nmtu\nnet-config\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    for part in [
        "such as multus: ",
        "Address or file of the manifest: ",
        "run `git init`",
        "or nothing for none: ",
        "  ConfigMap/net-config\r\n",
    ] {
        assert!(said.contains(part), "{part:?} is not in\n{said}");
    }
    assert!(project.output(&["build", "overlays/net"]).contains("\"mtu\": 9000"));
}

#[test]
fn an_item_of_a_list_is_edited_with_its_list_and_patched_by_its_own_name() {
    let item = |name: &str| {
        format!("- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: {name}}}\n  data: {{level: info}}\n")
    };
    let list = format!("apiVersion: v1\nkind: List\nitems:\n{}{}", item("one"), item("two"));
    let project = Project::new([("list.yaml", list.as_str())]);
    let ran = project.run(&["init", "net", "list.yaml"]);
    assert!(ran.stderr.contains("--target ConfigMap/two`"), "{}", ran.stderr);
    project.write("edited.yaml", &list.replacen("info", "debug", 1));
    let ran = project.run(&["new", "patch", "level", "overlays/net", "--target", "one", "--edited", "edited.yaml"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let patch = fs::read_to_string(project.path("overlays/net/patches/level.yaml")).unwrap();
    assert!(patch.contains("      name: one\n    patch:\n      - op: replace\n        path: /data/level\n"), "{patch}");
    assert_eq!(project.output(&["build", "overlays/net"]), list.replacen("info", "debug", 1));
}
