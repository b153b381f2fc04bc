//! The plugin of Argo CD, run as Argo CD's plugin server runs it: on this project's own overlay, and on repositories
//! that mean harm.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test may lay out files, say that it is skipped, and fail"
)]

#[path = "support/cmp.rs"]
mod cmp;
#[path = "source/peers.rs"]
mod peers;
#[path = "support/project.rs"]
mod project;
mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use cmp::{Answer, Application, Server, plugin};
use project::Project;
use serde_json::{Value, json};
use support::Kubectl;

const OWN: &str = "overlays/nik-debian";

const BASE: &str = "# +argocd:skip-file-rendering
apiVersion: overlay/v1
kind: Base
name: b
source: {file: ../up/m.yaml}
";

const OVERLAY: &str = "# +argocd:skip-file-rendering
apiVersion: overlay/v1
kind: Overlay
name: o
bases: [../b]
";

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {key: old}\n";

/// A repository with the base `b` and the overlay `o` with these further lines, vendored.
fn repository(manifest: &str, overlay: &str) -> Project {
    let overlay = format!("{OVERLAY}{overlay}");
    let project = Project::new([("up/m.yaml", manifest), ("b/base.yaml", BASE), ("o/overlay.yaml", &overlay)]);
    project.output(&["vendor", "b"]);
    project
}

fn application<'a>(project: &'a Path, path: &'a str) -> Application<'a> {
    Application { handed_over: project, path, environment: &[] }
}

/// What Argo CD's page shows of the overlay `o`.
fn shown(project: &Project) -> String {
    Server::new().manifests(&application(&project.path(""), "o")).unwrap_err()
}

/// Removes a file, or a folder with what it holds.
fn remove(path: &Path) {
    if path.is_dir() {
        fs::remove_dir_all(path).unwrap();
    } else {
        fs::remove_file(path).unwrap();
    }
}

fn generate(environment: &[(&str, &str)]) -> Answer {
    let project = Project::own();
    Server::new().run(&Application { handed_over: &project.path(""), path: OWN, environment }, "generate")
}

#[test]
fn the_own_overlay_comes_out_of_argo_cd_as_it_is_built() {
    let project = Project::own();
    let mut server = Server::new();
    let manifests = server.manifests(&application(&project.path(""), OWN)).unwrap();
    let built = project.output(&["build", OWN]);
    assert_eq!(manifests, cmp::split(&built));
    let kinds: Vec<&Value> = manifests.iter().map(|m| &m["kind"]).collect();
    assert_eq!(kinds, ["ConfigMap", "DaemonSet"]);
    let answer = server.run(&application(&project.path(""), OWN), "generate");
    assert_eq!(format!("{}\n", answer.output), built);
    assert_eq!(answer.stderr, "");
}

#[test]
fn kubectl_reads_what_argo_cd_gets() {
    let Some(kubectl) = Kubectl::find() else { return };
    let plain = generate(&[]).output;
    assert_eq!(kubectl.read(&plain).unwrap(), cmp::split(&plain));
    let annotated = generate(&[("ARGOCD_ENV_ANNOTATE", "true")]).output;
    assert!(annotated.contains("# overlay: bindir"), "{annotated}");
    assert_eq!(kubectl.read(&annotated), kubectl.read(&plain));
}

#[test]
fn folders_without_an_overlay_of_ours_are_left_to_others() {
    let project = Project::own();
    project.write("plain/deployment.yaml", MAP);
    project.write("other/overlay.yaml", "apiVersion: other.example.org/v1\nkind: Overlay\n");
    project.write("broken/overlay.yaml", "apiVersion: overlay/v1\nkind: Overlay\n\tname: o\n");
    project.write("folder/overlay.yaml/x", "apiVersion: overlay/v1\n");
    let mut server = Server::new();
    let found: Vec<&str> = [".", "plain", "other", "broken", "folder", "base/multus", OWN]
        .into_iter()
        .filter(|path| server.discover(&application(&project.path(""), path)))
        .collect();
    assert_eq!(found, ["broken", OWN]);
}

/// A patch that takes a `ConfigMap` out.
fn deleting(name: &str) -> String {
    format!(
        "apiVersion: overlay/v1\nkind: Patch\nname: p\nsummary: s\nwhy: w\nchanges:
  - {{target: {{kind: ConfigMap, name: {name}}}, delete: true}}\n"
    )
}

#[test]
fn the_error_begins_with_what_is_wrong_and_where() {
    let project = repository(MAP, "patches: [p.yaml]\n");
    project.write("o/p.yaml", &deleting("aa"));
    assert_eq!(
        shown(&project),
        "`overlay argocd generate` failed exit status 1: p.yaml:7:14: error[target-missing]: no document matches \
         the target: kind ConfigMap, name aa (patch p)\n  Did you mean `name: a`?"
    );
}

#[test]
fn nothing_is_generated_that_is_not_proven_unless_that_is_asked_for() {
    let patch = "apiVersion: overlay/v1\nkind: Patch\nname: p\nchanges:
  - target: {kind: ConfigMap, name: a}
    patch: [{op: replace, path: /data/key, was: old, value: new}]\n";
    let project = repository(MAP, "patches: [p.yaml]\n");
    project.write("o/p.yaml", patch);
    assert!(shown(&project).contains("error[patch-undocumented]"), "{}", shown(&project));
    let built = project.output(&["build", "o"]);
    let ran = project.command(&["argocd", "generate", "--no-verify"]).current_dir(project.path("o")).output().unwrap();
    assert_eq!((ran.status.code(), String::from_utf8(ran.stdout).unwrap()), (Some(0), built));
}

#[test]
fn parameters_are_announced_with_the_patches_and_what_they_are_for() {
    let project = Project::own();
    let answer = Server::new().run(&application(&project.path(""), OWN), "parameters");
    let announced: Value = serde_json::from_str(&answer.output).unwrap();
    let names: Vec<&str> = announced.as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(names[..4], ["overlay", "annotate", "strict", "patch.k3s-hostpaths"]);
    assert_eq!(names.len(), 10);
    let announced = &announced.as_array().unwrap()[1..];
    assert_eq!(announced[4]["name"], "patch.bindir");
    assert_eq!(announced[4]["title"], "Tell the daemon where k3s keeps the CNI plugins");
    assert!(announced[4]["tooltip"].as_str().unwrap().starts_with("The daemon looks a delegate plugin up"));
    let rest = ["required", "itemType", "collectionType", "string"].map(|key| announced[4][key].clone());
    assert_eq!(rest, [json!(false), json!("boolean"), json!("string"), json!("true")]);
}

#[test]
fn an_application_chooses_the_overlay_and_leaves_a_patch_out() {
    let project = Project::own();
    let parameters = r#"[{"name":"overlay","string":"overlays/nik-debian"},{"name":"patch.bindir","string":"false"}]"#;
    let environment = [("ARGOCD_APP_PARAMETERS", parameters)];
    let from_above = Application { handed_over: &project.path(""), path: ".", environment: &environment };
    let manifests = Server::new().manifests(&from_above).unwrap();
    let whole = cmp::split(&project.output(&["build", OWN]));
    assert_eq!(manifests[1], whole[1]);
    let config = |manifests: &[Value]| manifests[0]["data"]["daemon-config.json"].as_str().unwrap().to_owned();
    assert!(config(&whole).contains("\"binDir\"") && !config(&manifests).contains("\"binDir\""));
}

#[test]
fn an_application_may_have_the_patches_named_in_comments() {
    let project = Project::own();
    let annotated = project.output(&["build", OWN, "--annotate"]);
    let plain = project.output(&["build", OWN]);
    let parameter = |value: &str| format!(r#"[{{"name":"annotate","string":"{value}"}}]"#);
    let (yes, no) = (parameter("true"), parameter("false"));
    for (environment, wanted) in [
        (&[("ARGOCD_APP_PARAMETERS", yes.as_str())][..], &annotated),
        (&[("ARGOCD_ENV_ANNOTATE", "true")], &annotated),
        (&[("ARGOCD_ENV_ANNOTATE", "true"), ("ARGOCD_APP_PARAMETERS", &no)], &plain),
    ] {
        let answer = generate(environment);
        assert_eq!((answer.error.as_deref(), format!("{}\n", answer.output)), (None, wanted.clone()));
        assert_eq!(cmp::split(&answer.output), cmp::split(&plain));
    }
}

#[test]
fn comments_that_have_no_place_keep_no_manifest_away() {
    let project = repository(r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}"#, "");
    let environment = [("ARGOCD_ENV_ANNOTATE", "true")];
    let annotating = Application { handed_over: &project.path(""), path: "o", environment: &environment };
    assert_eq!(Server::new().manifests(&annotating).unwrap()[0]["metadata"]["name"], "a");
}

#[test]
fn an_application_that_asks_for_what_there_is_not_gets_an_error() {
    let asks = [
        ("ARGOCD_APP_PARAMETERS", r#"[{"name":"strcit","string":"true"}]"#, "did you mean `strict`?"),
        ("ARGOCD_APP_PARAMETERS", r#"[{"name":"patch.bindri","string":"false"}]"#, "did you mean `patch.bindir`?"),
        ("ARGOCD_APP_PARAMETERS", r#"[{"name":"annotate","string":"1"}]"#, "`annotate` is `true` or `false`"),
        ("ARGOCD_ENV_OVERLYA", "x", "did you mean `ARGOCD_ENV_OVERLAY`?"),
        ("ARGOCD_ENV_OVERLAY", "../../../../etc", "error[path-outside-root]"),
        ("ARGOCD_ENV_OVERLAY", "/etc", "error[path-outside-root]"),
        ("ARGOCD_ENV_OVERLAY", "../nik", "error[file-unreadable]: ../nik: no such file"),
    ];
    for (name, value, says) in asks {
        let answer = generate(&[(name, value)]);
        let error = answer.error.unwrap();
        assert!(error.contains(says) && answer.output.is_empty(), "{error}");
        assert!(error.len() < 800, "{error}");
    }
}

#[test]
fn a_warning_keeps_the_manifests_away_where_the_application_is_strict() {
    let manifest = format!("{MAP}---\n{}", MAP.replace("{key: old}", "{k: 1, k: 2}").replace("name: a", "name: b"));
    let project = repository(&manifest, "");
    let environment = [("ARGOCD_ENV_STRICT", "true")];
    let mut server = Server::new();
    assert_eq!(server.manifests(&application(&project.path(""), "o")).unwrap().len(), 2);
    let strict = Application { handed_over: &project.path(""), path: "o", environment: &environment };
    let error = server.manifests(&strict).unwrap_err();
    assert!(error.contains("warning[base-duplicate-key]"), "{error}");
}

#[test]
fn a_base_that_was_not_handed_over_is_named_with_the_annotation() {
    let annotation = "argocd.argoproj.io/manifest-generate-paths";
    for gone in ["base/multus", "base/multus/base.lock", "base/multus/multus-daemonset-thick.yml"] {
        let project = Project::own();
        let path = project.path(gone);
        remove(&path);
        let error = Server::new().manifests(&application(&project.path(""), OWN)).unwrap_err();
        assert!(error.contains(&format!("{annotation} of the Application must name it too: ../../{gone}")), "{error}");
    }
    // With the annotation `.` what is handed over is the Application's folder alone, and it is the root.
    let project = Project::own();
    let error = Server::new().manifests(&application(&project.path(OWN), ".")).unwrap_err();
    assert!(error.contains("error[path-outside-root]") && error.contains(annotation), "{error}");
}

#[test]
fn nothing_outside_the_work_folder_is_read() {
    let secret = Project::new([("secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: top-secret}\n")]);
    let outside = secret.path("secret.yaml");
    let absolute = format!("resources: [{}]\n", outside.display());
    let climbing = format!("resources: [../../../..{}]\n", outside.display());
    for lines in [absolute.as_str(), &climbing, "resources: [/etc/passwd]\n", "resources: [link.yaml]\n"] {
        let project = repository(MAP, lines);
        symlink(&outside, project.path("o/link.yaml")).unwrap();
        let error = shown(&project);
        assert!(error.contains("error[path-outside-root]") && !error.contains("top-secret"), "{error}");
    }
    for (link, to) in [("o/overlay.yaml", "/etc/passwd"), ("b/m.yaml", "/etc/passwd"), ("b", "/etc")] {
        let project = repository(MAP, "");
        let path = project.path(link);
        remove(&path);
        symlink(to, path).unwrap();
        let answer = Server::new().run(&application(&project.path(""), "o"), "generate");
        let error = answer.error.unwrap();
        assert!(
            error.contains("path-outside-root") && !error.contains("root:x") && answer.output.is_empty(),
            "{error}"
        );
    }
}

/// What is no file, reads without end, or grows without bound, in the place of each file of an overlay and its base.
#[test]
fn what_would_hang_or_fill_the_server_is_refused_soon_and_is_no_output() {
    let bomb = (1..12).fold("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned(), |text, n| {
        let below = vec![format!("*a{}", n - 1); 10].join(", ");
        format!("{text}a{n}: &a{n} [{below}]\n")
    });
    let deep = format!("apiVersion: overlay/v1\nkind: {}\n", "[".repeat(100_000));
    for file in ["o/overlay.yaml", "o/p.yaml", "b/base.yaml", "b/base.lock", "b/m.yaml"] {
        for harm in ["fifo", "endless", "loop", "bomb", "deep"] {
            let project = repository(MAP, "patches: [p.yaml]\n");
            project.write("o/p.yaml", &deleting("a"));
            let path = project.path(file);
            remove(&path);
            match harm {
                "fifo" => assert!(Command::new("mkfifo").arg(&path).status().unwrap().success()),
                "endless" => symlink("/dev/zero", &path).unwrap(),
                "loop" => symlink(path.file_name().unwrap(), &path).unwrap(),
                "bomb" => project.write(file, &bomb),
                _ => project.write(file, &deep),
            }
            let mut server = Server::new();
            let root = project.path("");
            let app = application(&root, "o");
            let (began, answer) = (Instant::now(), server.run(&app, "generate"));
            let error = answer.error.unwrap_or_else(|| panic!("{harm} as {file} passes: {}", answer.output));
            assert!(error.contains("failed exit status") && error.len() < 3000, "{harm} as {file}: {error}");
            assert_eq!(answer.output, "", "{harm} as {file}");
            // Neither the discovery, which is asked about every folder, fails or waits.
            server.discover(&app);
            assert!(began.elapsed() < Duration::from_secs(30), "{harm} as {file} waited");
        }
    }
}

#[test]
fn nothing_is_fetched_and_nothing_is_run() {
    if !peers::present(&["strace"]) {
        return;
    }
    let project = Project::own();
    let trace = project.path("trace");
    for call in ["discover", "generate", "parameters"] {
        let words = plugin(call);
        let mut args =
            vec!["-f", "-qq", "-e", "trace=%network,execve", "-o", "../../trace", env!("CARGO_BIN_EXE_overlay")];
        args.extend(words[1..].iter().map(String::as_str));
        peers::run(&project.path(OWN), "strace", &args);
        let calls = fs::read_to_string(&trace).unwrap();
        // That which began it.
        assert_eq!((calls.lines().count(), calls.matches("execve(").count()), (1, 1), "{call}: {calls}");
    }
}

#[test]
fn only_the_plugin_heeds_what_argo_cd_sets() {
    let project = Project::own();
    let heeded = [("ARGOCD_ENV_ANNOTATE", "true"), ("ARGOCD_ENV_NONE", "x"), ("ARGOCD_APP_PARAMETERS", "[1]")];
    for args in [["build", OWN], ["verify", OWN], ["diff", OWN], ["explain", OWN]] {
        let output = project.command(&args).envs(heeded).output().unwrap();
        assert_eq!((output.status.code(), String::from_utf8(output.stdout).unwrap()), (Some(0), project.output(&args)));
    }
}

#[test]
fn a_result_without_a_manifest_is_an_error_and_never_an_empty_success() {
    let alone = repository(MAP, "patches: [p.yaml]\n");
    alone.write("o/p.yaml", &deleting("a"));
    let list = repository(
        &format!("apiVersion: v1\nkind: List\nitems:\n  - {}", MAP.trim().replace('\n', "\n    ")),
        "patches: [p.yaml]\n",
    );
    list.write("o/p.yaml", &deleting("a"));
    let empty_list = repository("apiVersion: v1\nkind: List\nitems: []\n", "");
    let null_list = repository("apiVersion: v1\nkind: List\nitems: null\n", "");
    let named = repository("apiVersion: v1\nkind: Foo\nmetadata: {name: a}\nitems: []\n", "");
    let nothing = repository(MAP, "");
    nothing.write("o/overlay.yaml", &OVERLAY.replace("[../b]", "[]"));
    assert_eq!(null_list.run(&["build", "o"]).exit, Some(1));
    for project in [alone, list, empty_list, null_list, named, nothing] {
        let error = shown(&project);
        assert!(error.contains("error[result-empty]"), "{error}");
    }
}

#[test]
fn ten_thousand_documents_come_through() {
    let document = |n: usize| format!("---\n{}", MAP.replace("name: a", &format!("name: a{n}")));
    let many = (0..10_000).map(document).collect::<Vec<_>>().concat();
    let project = repository(&many, "patches: [p.yaml]\n");
    project.write(
        "o/p.yaml",
        "apiVersion: overlay/v1\nkind: Patch\nname: p\nsummary: s\nwhy: w\nchanges:
  - target: {kind: ConfigMap, name: a9999}
    patch: [{op: replace, path: /data/key, was: old, value: new}]\n",
    );
    let mut server = Server::new();
    let manifests = server.manifests(&application(&project.path(""), "o")).unwrap();
    assert_eq!((manifests.len(), &manifests[9_999]["data"]["key"]), (10_000, &json!("new")));
    // Nobody reads the 800 kB that it prints, until the deadline has come.
    let answer = server.run_unread(&application(&project.path(""), "o"), "generate", Duration::from_secs(5));
    assert_eq!(answer.signal, Some(15), "{answer:?}");
    let names = |folder: &Path| -> Vec<_> { fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect() };
    let mut left = names(&server.work().join("o"));
    left.sort();
    assert_eq!(left, ["overlay.yaml", "p.yaml"]);
}

#[test]
fn the_example_puts_the_sidecar_into_the_repo_server_and_nothing_else() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/argocd");
    let manifests = Server::new().manifests(&application(&example, "overlay")).unwrap();
    let mut expected = cmp::split(&fs::read_to_string(example.join("upstream/repo-server.yaml")).unwrap());
    let pod = |manifest: &Value| manifest["spec"]["template"]["spec"].clone();
    let patched = pod(&manifests[1]);
    let sidecar = patched["containers"][1].clone();
    assert_eq!(sidecar["name"], "overlay");
    assert_eq!(sidecar["command"], json!(["/var/run/argocd/argocd-cmp-server"]));
    // What it mounts is there.
    let mounted = sidecar["volumeMounts"].as_array().unwrap().iter().map(|m| &m["name"]);
    let volumes: Vec<&Value> = patched["volumes"].as_array().unwrap().iter().map(|v| &v["name"]).collect();
    assert!(mounted.clone().all(|name| volumes.contains(&name)), "{patched}");
    for (list, item) in [("containers", sidecar), ("volumes", json!({"name": "overlay-tmp", "emptyDir": {}}))] {
        expected[1]["spec"]["template"]["spec"][list].as_array_mut().unwrap().push(item);
    }
    assert_eq!(manifests, expected);
}

/// The files below a folder that Argo CD takes for manifests, in a folder of plain ones, although they are ours.
fn rendered_as_manifests(folder: &Path) -> Vec<String> {
    let mut open = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).unwrap();
            let is_ours = text.contains("overlay/v1");
            if ["yaml", "yml", "json"].contains(&&*ending) && is_ours && !text.contains("+argocd:skip-file-rendering") {
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    found
}

#[test]
fn argo_cd_is_kept_from_rendering_our_own_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["base", "overlays", "examples", "schemas"] {
        assert_eq!(rendered_as_manifests(&root.join(folder)), [""; 0], "{folder}");
    }
}

#[test]
fn argo_cd_is_kept_from_rendering_the_files_that_are_written_for_a_person() {
    let project = Project::new([("up.yaml", MAP), ("copy.yaml", &MAP.replace("old", "new"))]);
    project.output(&["init", "net", "up.yaml"]);
    project.output(&["adopt", "copy.yaml", "--base", "base/net", "--to", "overlays/adopted"]);
    project.output(&["schema", "--write"]);
    let new = ["new", "patch", "key", "overlays/net", "--target", "ConfigMap/a"];
    let ran =
        project.command(&new).env("EDITOR", "sed -i -e s/old/newer/").env("PATH", "/usr/bin:/bin").output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(project.path("overlays/net/patches/key.yaml").exists());
    assert_eq!(rendered_as_manifests(&project.path("")), [""; 0]);
}
