//! The whole program: what it prints where, how it ends, and what it leaves on the disk.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may lay out files, and fail")]

#[path = "support/project.rs"]
mod project;

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use overlay::layer::digest;
use overlay::yaml::load::load_text;
use overlay::yaml::stream::split;
use project::{Project, Ran};
use serde_json::Value;

const OWN: &str = "overlays/nik-debian";

/// Replaces the first `old` in a file of a project.
fn edit(project: &Project, path: &str, old: &str, new: &str) {
    let text = fs::read_to_string(project.path(path)).unwrap();
    assert!(text.contains(old), "{path} has no {old:?}");
    project.write(path, &text.replacen(old, new, 1));
}

/// This project's own overlay with two patches that fit nowhere.
fn broken() -> Project {
    let project = Project::own();
    edit(&project, "overlays/nik-debian/patches/bindir.yaml", "name: multus-daemon-config", "name: nobody");
    edit(&project, "overlays/nik-debian/patches/k3s-hostpaths.yaml", "[name=cni]", "[name=inc]");
    project
}

#[test]
fn the_documents_of_the_own_overlay_mean_what_they_are_meant_to() {
    let built = Project::own().output(&["build", OWN]);
    let digests: Vec<String> =
        split(&built).iter().map(|piece| digest::content(&load_text(piece.text(&built)).unwrap().value)).collect();
    let wanted = [
        "757c158f4a29b380b48720cf29d07561fc1bcd30289f6c4e8032c1ebc53f81a6",
        "2c256d72ab576ee69cb10a4b2ba990fc2e559e05543eca6dc0cf063f44d1894a",
    ];
    assert_eq!(digests, wanted);
}

#[test]
fn the_lock_of_the_own_base_has_upstreams_six_documents() {
    let lock = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("base/multus/base.lock")).unwrap();
    let lock = load_text(&lock).unwrap().value;
    let documents = lock["files"][0]["documents"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let contents: BTreeMap<String, String> =
        documents.iter().map(|document| (text(&document["kind"]), text(&document["content"]))).collect();
    let wanted = [
        ("ClusterRole", "fb5acc14c3fe317895f081b9e18fffc098fd681c014a749d7ad02d0779c54206"),
        ("ClusterRoleBinding", "155f8a88b10379cb566dc5f52cd087cf2d1cf0461d99dbacf5eaba493a2a5311"),
        ("ConfigMap", "1fd2e3e72c81fb36be76be3fb9d0e1e7112c997c8dd6cf4c313cb2981b9f0611"),
        ("CustomResourceDefinition", "4c0e72c8e5ea190ae4d08b5fffa712cab583c441a553b4955a5fe2d5af245789"),
        ("DaemonSet", "621995908027793649fd92402095509ff0401379e499b20c129edbfbe285f63d"),
        ("ServiceAccount", "42794c1fd6e34b69b1f8e7741607372424d2c9e0a1fe3ca0a4abcfa959031e10"),
    ];
    assert_eq!(contents, wanted.map(|(kind, content)| (kind.to_owned(), content.to_owned())).into());
}

#[test]
fn the_report_gives_each_patch_its_places() {
    let report: Value = serde_json::from_str(&Project::own().output(&["verify", OWN, "--format", "json"])).unwrap();
    assert_eq!((&report["schema"], &report["ok"]), (&"overlay/report/v1".into(), &true.into()));
    let patches = report["overlays"][0]["patches"].as_array().unwrap();
    let places: Vec<_> =
        patches.iter().map(|p| (p["name"].as_str().unwrap(), p["departures"].as_array().unwrap().len())).collect();
    let wanted = [
        ("k3s-hostpaths", 2),
        ("k3s-cni-data", 3),
        ("bindir", 1),
        ("install-dir", 2),
        ("node-selector", 1),
        ("image-digest", 2),
        ("sync-wave", 2),
    ];
    assert_eq!(places, wanted);
    assert_eq!(report["overlays"][0]["undocumented"], serde_json::json!([]));
}

#[test]
fn two_builds_give_the_same_bytes_and_change_nothing_on_the_disk() {
    let project = Project::own();
    let before = project.files();
    assert_eq!(project.output(&["build", OWN]), project.output(&["build", OWN]));
    assert_eq!(project.files(), before);
}

#[test]
fn a_folder_that_nobody_may_write_is_built_and_verified() {
    let project = Project::own();
    let before = project.files();
    let wanted = project.output(&["build", OWN]);
    set_modes(&project, 0o444, 0o555);
    // Modes do not bind root: whatever is written is seen by the comparison, which holds for both.
    let built = project.run(&["build", OWN]);
    let verified = project.run(&["verify", OWN]);
    let after = project.files();
    set_modes(&project, 0o644, 0o755);
    assert_eq!((built.exit, verified.exit), (Some(0), Some(0)), "{}{}", built.stderr, verified.stderr);
    assert_eq!(built.stdout, wanted);
    assert_eq!(after, before);
}

fn set_modes(project: &Project, file: u32, folder: u32) {
    let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    set(&project.path(""), folder);
    for (path, _) in project.files() {
        set(&path, file);
        for above in path.ancestors().skip(1).take_while(|above| *above != project.path("").as_path()) {
            set(above, folder);
        }
    }
}

#[test]
fn a_build_that_fails_prints_nothing_and_tells_of_every_patch() {
    let ran = broken().run(&["build", OWN]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(1), ""));
    for told in ["error[target-missing]", "patch: bindir", "error[path-missing]", "patch: k3s-hostpaths"] {
        assert!(ran.stderr.contains(told), "no {told:?} in {}", ran.stderr);
    }
}

#[test]
fn a_build_that_fails_leaves_the_output_file_as_it_is() {
    let project = broken();
    project.write("out.yaml", "what was there\n");
    let before = project.files();
    assert_eq!(project.run(&["build", OWN, "--output", "out.yaml"]).exit, Some(1));
    assert_eq!(project.files(), before);
}

#[test]
fn an_output_file_gets_what_would_be_printed_and_nothing_stays_beside_it() {
    let project = Project::own();
    let printed = project.output(&["build", OWN]);
    let mut wanted = project.files();
    assert_eq!(project.output(&["build", OWN, "--output", "out.yaml"]), "");
    wanted.push((project.path("out.yaml"), printed.into_bytes()));
    wanted.sort();
    assert_eq!(project.files(), wanted);
}

#[test]
fn an_output_file_that_cannot_be_written_is_told_with_exit_2() {
    let project = Project::own();
    let before = project.files();
    let ran = project.run(&["build", OWN, "--output", "base/multus/base.yaml/out.yaml"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("base/multus/base.yaml"), "{}", ran.stderr);
    assert_eq!(project.files(), before);
}

#[test]
fn exit_codes_tell_content_from_what_keeps_it_from_running() {
    let (own, broken) = (Project::own(), broken());
    for command in ["build", "verify", "diff", "explain"] {
        assert_eq!(own.run(&[command, OWN]).exit, Some(0), "{command}");
        let ran = own.run(&[command, "overlays/nobody"]);
        assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{command} of a folder that is not there");
        assert_eq!(own.run(&[command, OWN, "--no-such-option"]).exit, Some(2), "{command} with an option of nobody");
    }
    for command in ["build", "verify", "diff"] {
        assert_eq!(broken.run(&[command, OWN]).exit, Some(1), "{command} of what cannot be built");
    }
}

#[test]
fn a_reader_that_stops_early_ends_the_run_quietly() {
    let project = Project::own();
    // More than a pipe holds, so that the program is still writing when its reader is gone.
    let large = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: large\ndata:\n  text: |\n{}",
        "    x\n".repeat(99_999)
    );
    project.write("overlays/nik-debian/large.yaml", &large);
    edit(&project, "overlays/nik-debian/overlay.yaml", "patches:\n", "resources: [large.yaml]\npatches:\n");
    let mut child = project.command(&["build", OWN]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 14];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!((&first, ran.stderr.as_str()), (b"apiVersion: v1", ""));
}

#[test]
fn colour_follows_the_option_before_the_environment() {
    let project = broken();
    let coloured = |option: &[&str], environment: &[(&str, &str)]| {
        let mut command: Command = project.command(&[&["build", OWN], option].concat());
        let ran = Ran::of(command.envs(environment.iter().copied()).output().unwrap());
        assert!(ran.stderr.contains("target-missing"));
        ran.stderr.contains('\u{1b}')
    };
    assert!(!coloured(&[], &[]), "into a pipe");
    assert!(!coloured(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), "NO_COLOR wins");
    assert!(coloured(&[], &[("CLICOLOR_FORCE", "1")]), "forced by the environment");
    assert!(coloured(&["--color", "always"], &[("NO_COLOR", "1")]), "forced by the option");
    assert!(!coloured(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]), "forbidden by the option");
}

#[test]
fn what_programs_read_is_json_also_where_something_is_wrong() {
    let project = broken();
    for format in ["json", "sarif"] {
        let ran = project.run(&["verify", OWN, "--format", format]);
        assert_eq!(ran.exit, Some(1));
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert!(report.to_string().contains("target-missing"), "{format}: {report}");
    }
    let built: Value = serde_json::from_str(&Project::own().output(&["build", OWN, "--format", "json"])).unwrap();
    assert_eq!((&built["kind"], built["items"].as_array().unwrap().len()), (&"List".into(), 2));
}

#[test]
fn a_password_in_an_address_is_printed_by_no_command_in_no_format() {
    let base = |source: &str| format!("apiVersion: overlay/v1\nkind: Base\nname: b\nsource: {source}\n");
    let address = "https://bob:SEC/RETPW@files.example.org/ok.yaml";
    for source in [
        format!("{{url: '{address}'}}"),
        format!("\n  url: {address}"),
        format!("{{git: {{url: '{address}', commit: {}, path: a}}}}", "a".repeat(40)),
        "{url: 'bob:RETPW@files.example.org/ok.yaml'}".to_owned(),
    ] {
        let project = Project::new([("b/base.yaml", base(&source).as_str())]);
        for arguments in [
            &["vendor", "b"][..],
            &["vendor", "b", "--check"],
            &["update", "b"],
            &["update", "b", "--format", "json"],
            &["update", "b", "--format", "github"],
        ] {
            let ran = project.run(arguments);
            assert_ne!(ran.exit, Some(0), "{arguments:?}");
            assert!(
                !format!("{}{}", ran.stdout, ran.stderr).contains("RETPW"),
                "{arguments:?}: {}{}",
                ran.stdout,
                ran.stderr
            );
        }
    }
    let project = Project::new([("b/base.yaml", base("{url: 'https://files.example.org/ok.yaml'}").as_str())]);
    let mirror = format!("https://files.example.org={address}");
    let ran = project.run(&["vendor", "b", "--mirror", &mirror]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr.contains("https://***@files.example.org") && !ran.stderr.contains("RETPW"), "{}", ran.stderr);
}
