//! `overlay vendor` against a real disk: writes that are cut off, files that are none, modes, and this project's own base.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may lay out files, and fail")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use overlay::config::Findings;
use overlay::layer::base::Base;
use overlay::layer::check;
use overlay::layer::lock::Layout;
use overlay::layer::root::Root;
use overlay::yaml::stream::MAX_DOCUMENTS;

const BASE: &str = "apiVersion: overlay/v1\nkind: Base\nname: b\nsource: {file: ../up/m.yaml}\n";
const MANIFEST: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

/// A root with an unlocked base `b` on `up/m.yaml`.
fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in [(".git/HEAD", ""), ("b/base.yaml", BASE), ("up/m.yaml", MANIFEST)] {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn overlay(args: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_overlay")).args(args).current_dir(folder).output().unwrap()
}

fn stderr(ran: &Output) -> String {
    String::from_utf8_lossy(&ran.stderr).into_owned()
}

/// The names in the base's folder.
fn names(project: &Path) -> Vec<String> {
    let entries = fs::read_dir(project.join("b")).unwrap();
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn writes_that_are_cut_off_leave_nothing_behind() {
    let project = project();
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" vendor b --accept-changes";
    let run = || {
        let mut command = Command::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_overlay")]).current_dir(project.path()).output().unwrap()
    };
    let ran = run();
    assert_eq!(ran.status.code(), Some(2), "{}", stderr(&ran));
    assert_eq!(names(project.path()), ["base.yaml"]);
    assert!(overlay(&["vendor", "b"], project.path()).status.success());
    let lock = fs::read(project.path().join("b/base.lock")).unwrap();
    fs::write(project.path().join("up/m.yaml"), MANIFEST.replace("name: a", "name: b")).unwrap();
    assert_eq!(run().status.code(), Some(2));
    assert_eq!(names(project.path()), ["base.lock", "base.yaml", "m.yaml"]);
    assert_eq!(fs::read(project.path().join("b/base.lock")).unwrap(), lock);
    assert_eq!(fs::read_to_string(project.path().join("b/m.yaml")).unwrap(), MANIFEST);
}

#[test]
fn a_base_that_is_no_file_is_refused_without_waiting() {
    for (name, kind) in
        [("b/base.yaml", "a FIFO"), ("up/m.yaml", "a FIFO"), ("b/m.yaml", "a FIFO"), ("b/base.lock", "a folder")]
    {
        let project = project();
        let path = project.path().join(name);
        let _ = fs::remove_file(&path);
        if kind == "a FIFO" {
            assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        } else {
            fs::create_dir(&path).unwrap();
        }
        let mut child = Command::new(env!("CARGO_BIN_EXE_overlay"))
            .args(["vendor", "b"])
            .current_dir(project.path())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if start.elapsed() > Duration::from_secs(20) {
                child.kill().unwrap();
                panic!("{name} blocks");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let ran = child.wait_with_output().unwrap();
        assert_eq!(ran.status.code(), Some(2), "{name}: {}", stderr(&ran));
        assert!(stderr(&ran).contains(&format!("{name} is {kind}, not a regular file")), "{}", stderr(&ran));
    }
}

#[test]
fn a_link_to_a_device_or_out_of_the_root_is_refused_unopened() {
    for target in ["/dev/zero", "../../secret"] {
        let project = project();
        fs::remove_file(project.path().join("up/m.yaml")).unwrap();
        symlink(target, project.path().join("up/m.yaml")).unwrap();
        let ran = overlay(&["vendor", "b"], project.path());
        assert_eq!(ran.status.code(), Some(1));
        assert!(stderr(&ran).starts_with("error[path-outside-root]: "), "{}", stderr(&ran));
        assert_eq!(names(project.path()), ["base.yaml"]);
    }
}

#[test]
fn files_that_are_vendored_anew_keep_their_modes() {
    let project = project();
    assert!(overlay(&["vendor", "b"], project.path()).status.success());
    for (name, mode) in [("b/m.yaml", 0o600), ("b/base.lock", 0o664)] {
        fs::set_permissions(project.path().join(name), Permissions::from_mode(mode)).unwrap();
    }
    fs::write(project.path().join("up/m.yaml"), MANIFEST.replace("name: a", "name: b")).unwrap();
    assert!(overlay(&["vendor", "b", "--accept-changes"], project.path()).status.success());
    for (name, mode) in [("b/m.yaml", 0o600), ("b/base.lock", 0o664)] {
        let now = fs::metadata(project.path().join(name)).unwrap().permissions().mode();
        assert_eq!(now & 0o777, mode, "{name}");
    }
}

#[test]
fn several_bases_change_together_or_not_at_all() {
    let project = project();
    fs::create_dir(project.path().join("c")).unwrap();
    fs::write(project.path().join("c/base.yaml"), BASE.replace("m.yaml", "none.yaml")).unwrap();
    let ran = overlay(&["vendor"], project.path());
    assert_eq!(ran.status.code(), Some(2), "{}", stderr(&ran));
    assert!(stderr(&ran).contains("c/base.yaml:4:16"), "{}", stderr(&ran));
    assert_eq!(names(project.path()), ["base.yaml"]);
}

#[test]
fn runs_at_the_same_time_take_turns_and_none_sees_what_another_has_half_done() {
    let project = project();
    let folder = project.path();
    let overlay_yaml = "apiVersion: overlay/v1\nkind: Overlay\nname: x\nbases: [../b]\n";
    fs::create_dir(folder.join("x")).unwrap();
    fs::write(folder.join("x/overlay.yaml"), overlay_yaml).unwrap();
    assert!(overlay(&["vendor", "b"], folder).status.success());
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|writer| {
                scope.spawn(move || {
                    for round in 0..12 {
                        let text = MANIFEST.replace("name: a", &format!("name: w{writer}r{round}"));
                        let from = format!("from{writer}.yaml");
                        fs::write(folder.join(&from), text).unwrap();
                        let ran = overlay(&["vendor", "b", "--from", &from, "--accept-changes"], folder);
                        assert!(ran.status.success(), "{}", stderr(&ran));
                    }
                })
            })
            .collect();
        let reader = || {
            while writers.iter().any(|writer| !writer.is_finished()) {
                let ran = overlay(&["build", "x"], folder);
                assert!(ran.status.success(), "{}", stderr(&ran));
            }
        };
        reader();
    });
    assert!(overlay(&["verify", "x"], folder).status.success());
    assert_eq!(names(folder), ["base.lock", "base.yaml", "m.yaml"]);
}

#[test]
fn a_journal_of_a_run_that_is_still_at_work_is_waited_for_and_one_of_a_dead_run_is_not() {
    let project = project();
    let folder = project.path();
    assert!(overlay(&["vendor", "b"], folder).status.success());
    let journal = folder.join("b/.overlay-journal");
    fs::write(&journal, "remove gone\n").unwrap();
    let at_work = fs::File::open(folder.join("b")).unwrap();
    at_work.lock().unwrap();
    let check =
        || Command::new(env!("CARGO_BIN_EXE_overlay")).args(["vendor", "b", "--check"]).current_dir(folder).output();
    std::thread::scope(|scope| {
        let reader = scope.spawn(check);
        std::thread::sleep(Duration::from_millis(300));
        assert!(!reader.is_finished());
        fs::remove_file(&journal).unwrap();
        at_work.unlock().unwrap();
        let ran = reader.join().unwrap().unwrap();
        assert_eq!((ran.status.code(), stderr(&ran)), (Some(0), "b is as locked\n".to_owned()));
    });
    fs::write(&journal, "remove gone\n").unwrap();
    let started = Instant::now();
    let ran = check().unwrap();
    assert!(stderr(&ran).starts_with("error[base-half-written]: b is half-written"), "{}", stderr(&ran));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    at_work.lock().unwrap();
    let started = Instant::now();
    let ran = overlay(&["vendor", "b"], folder);
    assert_eq!(ran.status.code(), Some(2), "{}", stderr(&ran));
    let told =
        "error: b is in use by another run of this program, which did not end within 10 seconds\n  = help: Try again";
    assert!(stderr(&ran).starts_with(told), "{}", stderr(&ran));
    assert!(started.elapsed() >= Duration::from_secs(9), "{:?}", started.elapsed());
}

#[test]
fn this_projects_own_base_is_as_its_lock_says_and_has_the_content_that_upstream_published() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = Root::find(project, Some(project), project).unwrap();
    let mut findings = Findings::new();
    let base = Base::load(&root, &root.locate(Path::new("base/multus")).unwrap(), &mut findings).unwrap();
    let files = check::open(&root, &base, &mut findings).unwrap_or_else(|| panic!("{findings:?}"));
    check::contents(&base, &files, &mut findings);
    assert!(findings.is_empty(), "{findings:?}");
    let [file] = &files[..] else { panic!("one file is vendored") };
    assert_eq!(file.locked.upstream.size, 8091);
    assert_eq!(file.locked.upstream.sha256, "24fb29530b760d28126bba76bd91fac8fd74100b53d9fc65943c223e3a82be30");
    assert_eq!(file.locked.upstream.blob, "bb2d284944f249589936821b3108aa1dbc57632a");
    assert_eq!(file.locked.vendored.layout, Layout::Accepted);
    let kept: Vec<&str> = file.locked.documents.iter().filter(|d| d.kept).map(|d| d.content.as_str()).collect();
    assert_eq!(
        kept,
        [
            "1fd2e3e72c81fb36be76be3fb9d0e1e7112c997c8dd6cf4c313cb2981b9f0611",
            "621995908027793649fd92402095509ff0401379e499b20c129edbfbe285f63d",
        ]
    );
}

#[test]
fn what_stands_in_the_place_of_a_journal_and_is_none_is_told_and_left_there() {
    let project = project();
    let folder = project.path();
    assert!(overlay(&["vendor", "b"], folder).status.success());
    let journal = folder.join("b/.overlay-journal");
    let told = |why: &str| {
        format!(
            "error: b/.overlay-journal is not a journal of this program: {why}\n  = help: Move it away. If this program was killed \
             there, `git status` tells which files it changed.\n"
        )
    };
    let refused = |why: &str| {
        for args in [&["vendor", "b"][..], &["update", "b", "--write"]] {
            let ran = overlay(args, folder);
            assert_eq!((ran.status.code(), stderr(&ran)), (Some(2), told(why)));
        }
    };
    fs::write(&journal, "mine\n").unwrap();
    refused("it names no files as one does");
    assert_eq!(fs::read_to_string(&journal).unwrap(), "mine\n");
    fs::remove_file(&journal).unwrap();
    fs::create_dir(&journal).unwrap();
    refused("it is a folder");
    fs::remove_dir(&journal).unwrap();
    symlink("base.yaml", &journal).unwrap();
    refused("it is a symbolic link");
}

#[test]
fn a_file_of_a_base_that_stands_in_another_folder_is_read_and_not_written() {
    for name in ["base.lock", "m.yaml", "base.yaml"] {
        let project = project();
        let folder = project.path();
        let source = "source: {git: {url: 'https://git.example/r', ref: main, commit: COMMIT, path: m.yaml}}";
        let source = source.replace("COMMIT", &"a".repeat(40));
        fs::write(folder.join("b/base.yaml"), BASE.replace("source: {file: ../up/m.yaml}", &source)).unwrap();
        assert!(overlay(&["vendor", "b", "--from", "up/m.yaml"], folder).status.success());
        fs::create_dir(folder.join("shared")).unwrap();
        fs::rename(folder.join("b").join(name), folder.join("shared").join(name)).unwrap();
        symlink(Path::new("../shared").join(name), folder.join("b").join(name)).unwrap();
        let ran = overlay(&["vendor", "b", "--check", "--from", "up/m.yaml"], folder);
        assert_eq!((ran.status.code(), stderr(&ran)), (Some(0), "b is as locked\n".to_owned()));
        fs::write(folder.join("up/m.yaml"), MANIFEST.replace("name: a", "name: b")).unwrap();
        let before = contents(folder);
        assert_eq!(overlay(&["update", "b", "--from", "up/m.yaml"], folder).status.code(), Some(0));
        let ran = overlay(&["update", "b", "--from", "up/m.yaml", "--commit", &"b".repeat(40), "--write"], folder);
        let told = format!("error[file-unreadable]: b/{name} is a symbolic link to shared/{name} and is not written\n");
        assert!(stderr(&ran).contains(&told), "{}", stderr(&ran));
        assert!(stderr(&ran).contains("  = help: Put the file itself into b.\n"), "{}", stderr(&ran));
        assert_eq!((ran.status.code(), contents(folder)), (Some(2), before));
    }
    // A link within the folder leads to a file of the same step.
    let project = project();
    let folder = project.path();
    assert!(overlay(&["vendor", "b"], folder).status.success());
    fs::rename(folder.join("b/base.lock"), folder.join("b/lock")).unwrap();
    symlink("lock", folder.join("b/base.lock")).unwrap();
    fs::write(folder.join("up/m.yaml"), MANIFEST.replace("name: a", "name: b")).unwrap();
    assert!(overlay(&["vendor", "b", "--accept-changes"], folder).status.success());
    assert_eq!(names(folder), ["base.lock", "base.yaml", "lock", "m.yaml"]);
    assert!(fs::symlink_metadata(folder.join("b/base.lock")).unwrap().is_symlink());
    assert!(overlay(&["vendor", "b", "--check"], folder).status.success());
}

/// The files of the project that an update may write.
fn contents(project: &Path) -> Vec<Vec<u8>> {
    let files = ["b/base.yaml", "b/base.lock", "b/m.yaml", "c/base.yaml", "c/base.lock", "c/n.yaml"];
    files.iter().filter_map(|file| fs::read(project.join(file)).ok()).collect()
}

#[test]
fn a_base_follows_upstream_when_a_kept_document_is_renamed_split_moved_or_of_another_kind() {
    let item = "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n";
    let renamed = MANIFEST.replace("name: a", "name: z");
    for (upstream, keep, target) in [
        (renamed.clone(), "{kind: ConfigMap, name: z}", "{kind: ConfigMap, name: z}"),
        (MANIFEST.replace("ConfigMap", "Secret"), "{kind: Secret}", "{kind: Secret}"),
        (
            format!("{renamed}---\n{}", MANIFEST.replace("name: a", "name: y")),
            "{name: y}, {name: z}",
            "{kind: ConfigMap, name: z}",
        ),
        (format!("apiVersion: v1\nkind: List\nitems:\n{item}"), "{kind: List}", "{kind: ConfigMap, name: a}"),
    ] {
        let project = project();
        let write = |path: &str, text: &str| {
            fs::create_dir_all(project.path().join(path).parent().unwrap()).unwrap();
            fs::write(project.path().join(path), text).unwrap();
        };
        let run = |args: &[&str]| {
            let ran = overlay(args, project.path());
            (ran.status.code(), String::from_utf8_lossy(&ran.stdout).into_owned() + &stderr(&ran))
        };
        let other = "apiVersion: v1\nkind: Service\nmetadata: {name: left-out}\n";
        let patch = |target: &str| {
            format!(
                "apiVersion: overlay/v1\nkind: Patch\nname: p\nsummary: s\nwhy: w\nevidence: [e]\nchanges:\n  - target: {target}\n    \
                 patch:\n      - {{op: add, path: /metadata/labels, value: {{k: v}}}}\n"
            )
        };
        write("b/base.yaml", &format!("{BASE}keep: [{{kind: ConfigMap, name: a}}]\n"));
        write("up/m.yaml", &format!("{MANIFEST}---\n{other}"));
        write("x/overlay.yaml", "apiVersion: overlay/v1\nkind: Overlay\nname: x\nbases: [../b]\npatches: [p.yaml]\n");
        write("x/p.yaml", &patch("{kind: ConfigMap, name: a}"));
        assert_eq!(run(&["vendor"]).0, Some(0));
        write("up/m.yaml", &format!("{upstream}---\n{other}"));
        // What `keep` names is gone: told, and nothing is written whatever is accepted.
        let before = contents(project.path());
        for args in [&["update", "b", "--write"][..], &["update", "b", "--write", "--accept-conflicts"]] {
            let (exit, told) = run(args);
            assert_eq!(exit, Some(1), "{told}");
            assert!(told.contains("`keep` names what is gone: kind=ConfigMap, name=a\n"), "{told}");
            assert!(
                told.contains("    name in `keep` what it became, or take the line out, and run the update again\n"),
                "{told}"
            );
            assert!(
                told.ends_with("mend what is told of the base first, which --accept-conflicts does not pass over\n"),
                "{told}"
            );
            assert_eq!(contents(project.path()), before);
        }
        // It names what upstream has now, which the lock does not have yet.
        write("b/base.yaml", &format!("{BASE}keep: [{keep}]\n"));
        let before = contents(project.path());
        assert_eq!(run(&["update", "b"]).0, Some(i32::from(target != "{kind: ConfigMap, name: a}")));
        assert_eq!(contents(project.path()), before);
        let (exit, told) = run(&["update", "b", "--write", "--accept-conflicts"]);
        assert_eq!(exit, Some(0), "{told}");
        write("x/p.yaml", &patch(target));
        assert_eq!(run(&["vendor", "b", "--check"]).0, Some(0));
        let (exit, told) = run(&["verify", "x"]);
        assert_eq!(exit, Some(0), "{keep}: {told}");
    }
}

#[test]
fn an_update_that_would_leave_an_overlay_that_does_not_build_is_not_written() {
    let project = project();
    let write = |path: &str, text: &str| {
        let path = project.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n";
    write("x/service.yaml", service);
    let layer = "apiVersion: overlay/v1\nkind: Overlay\nname: x\nbases: [../b]\nresources: [service.yaml]\n";
    write("x/overlay.yaml", layer);
    let run = |args: &[&str]| {
        let ran = overlay(args, project.path());
        (ran.status.code(), String::from_utf8_lossy(&ran.stdout).into_owned(), stderr(&ran))
    };
    assert_eq!(run(&["vendor"]).0, Some(0));
    write("up/m.yaml", &format!("{MANIFEST}---\n{service}"));
    let before = contents(project.path());
    let (exit, stdout, told) = run(&["update", "b", "--write"]);
    assert_eq!(exit, Some(1), "{stdout}{told}");
    assert!(stdout.contains("\n  stops the build: the result has Service/s twice\n"), "{stdout}");
    assert_eq!(told, "nothing was written; --accept-conflicts writes all the same\n");
    assert_eq!(contents(project.path()), before);
    let (exit, stdout, told) = run(&["update", "--all", "--check", "--format", "github"]);
    assert_eq!(exit, Some(1), "{told}");
    assert!(stdout.contains("::error file=x/overlay.yaml,line=1,title=stops the build::the result has"), "{stdout}");
    assert_eq!(run(&["update", "b", "--write", "--accept-conflicts"]).0, Some(0));
    assert_ne!(contents(project.path()), before);
    assert_eq!(run(&["build", "x"]).0, Some(1));

    // What stops the build only when several bases follow.
    write("x/overlay.yaml", &layer.replace("[../b]\nresources: [service.yaml]", "[../b, ../c]"));
    write("up/m.yaml", MANIFEST);
    let other = MANIFEST.replace("name: a", "name: n");
    write("up/n.yaml", &other);
    write("c/base.yaml", &BASE.replace("name: b", "name: c").replace("m.yaml", "n.yaml"));
    assert_eq!(run(&["vendor", "--accept-changes"]).0, Some(0));
    for (file, text) in [("up/m.yaml", MANIFEST), ("up/n.yaml", &other)] {
        write(file, &format!("{text}---\n{service}"));
    }
    let before = contents(project.path());
    let (exit, stdout, told) = run(&["update", "--all", "--write"]);
    assert_eq!(exit, Some(1), "{stdout}{told}");
    assert!(stdout.ends_with("\nnot ok: 2 bases, 0 patches, 0 as before\n"), "{stdout}");
    let (exit, stdout, _) = run(&["update", "--all", "--format", "json"]);
    assert_eq!(exit, Some(1), "{stdout}");
    assert!(stdout.contains("\"ok\": false") && stdout.contains("the result has Service/s twice"), "{stdout}");
    let (exit, stdout, _) = run(&["update", "--all", "--write", "--format", "github"]);
    assert!(exit == Some(1) && stdout.contains("title=duplicate-document::the result has"), "{stdout}");
    assert!(told.starts_with("error[duplicate-document]: the result has Service/s twice\n"), "{told}");
    assert!(told.ends_with("nothing was written\n"), "{told}");
    assert_eq!(contents(project.path()), before);
    assert_eq!(run(&["update", "b", "--write"]).0, Some(0));
}

#[test]
fn a_file_has_as_many_documents_as_the_limit_however_the_first_begins_and_what_is_locked_builds() {
    let project = project();
    let overlay_file = "apiVersion: overlay/v1\nkind: Overlay\nname: o\nbases: [../b]\n";
    fs::create_dir(project.path().join("o")).unwrap();
    fs::write(project.path().join("o/overlay.yaml"), overlay_file).unwrap();
    for first in [MANIFEST.to_owned(), format!("---\n{MANIFEST}")] {
        let most = first + &"---\n".repeat(MAX_DOCUMENTS - 1);
        fs::write(project.path().join("up/m.yaml"), &most).unwrap();
        let vendored = overlay(&["vendor", "b", "--accept-changes"], project.path());
        assert!(vendored.status.success(), "{}", stderr(&vendored));
        let built = overlay(&["build", "o"], project.path());
        assert!(built.status.success() && built.stdout == most.as_bytes(), "{}", stderr(&built));

        fs::write(project.path().join("up/m.yaml"), most + "---\n").unwrap();
        let refused = overlay(&["vendor", "b", "--accept-changes"], project.path());
        assert_eq!(refused.status.code(), Some(1));
        let told = "error[syntax]: up/m.yaml holds more than 100000 documents, the most that are read of one file\n";
        assert!(stderr(&refused).starts_with(told), "{}", stderr(&refused));
    }
}
