//! Writes that meet a signal, a second process, a full disk, or a folder that takes none.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::project::{Project, Ran};
use super::support::skip;
use super::{config_map, lab};

/// The names in a folder that nobody laid out: what an interrupted run left.
fn passing(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(".overlay-")).collect()
}

/// Runs a command and sends it a signal after so long, unless it ended before.
pub(super) fn interrupted(project: &Project, args: &[&str], signal: &str, after: Duration) {
    let mut child = project.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(after);
    let _ended_before = Command::new("kill").args([signal, &child.id().to_string()]).stderr(Stdio::null()).status();
    child.wait().unwrap();
}

/// Delays that fall before, into and behind a run, whatever the machine.
pub(super) fn delays() -> impl Iterator<Item = Duration> {
    (0..24u64).map(|step| Duration::from_millis(step * step / 3))
}

#[test]
fn an_output_is_the_old_one_or_the_new_one_whenever_a_build_is_killed() {
    for signal in ["-KILL", "-INT", "-TERM"] {
        let project = lab("x");
        let built = project.output(&["build", "overlays/lab"]);
        for after in delays() {
            project.write("out/all.yaml", "what was there\n");
            interrupted(&project, &["build", "overlays/lab", "--output", "out/all.yaml"], signal, after);
            let there = fs::read_to_string(project.path("out/all.yaml")).unwrap();
            assert!(there == "what was there\n" || there == built, "{signal} after {after:?}: {there:?}");
        }
        assert_eq!(project.output(&["build", "overlays/lab", "--output", "out/all.yaml"]), "");
        assert_eq!(fs::read_to_string(project.path("out/all.yaml")).unwrap(), built);
        assert_eq!(passing(&project.path("out")), [""; 0], "the next run removes what killed ones left");
    }
}

#[test]
fn a_base_that_was_half_vendored_is_never_built_from_and_is_vendored_again() {
    let project = lab("x");
    let old = project.output(&["build", "overlays/lab"]);
    for (after, signal) in delays().zip(["-KILL", "-INT", "-TERM"].into_iter().cycle()) {
        project.write("up/net.yaml", &config_map("x\n  other: new"));
        interrupted(&project, &["vendor", "base/net", "--accept-changes"], signal, after);
        let ran = project.run(&["build", "overlays/lab"]);
        let new = old.clone() + "  other: new\n";
        match ran.exit {
            Some(0) => assert!(ran.stdout == old || ran.stdout == new, "after {after:?}: {:?}", ran.stdout),
            exit => {
                assert_eq!((exit, ran.stdout.as_str()), (Some(1), ""), "after {after:?}: {}", ran.stderr);
                let told = ["base-half-written", "base-file-changed"].iter().any(|code| ran.stderr.contains(code));
                assert!(told, "after {after:?}: {}", ran.stderr);
            }
        }
        project.output(&["vendor", "base/net", "--accept-changes"]);
        assert_eq!(project.output(&["build", "overlays/lab"]), new);
        project.write("up/net.yaml", &config_map("x"));
        project.output(&["vendor", "base/net", "--accept-changes"]);
        assert_eq!(passing(&project.path("base/net")), [""; 0], "after {after:?}");
    }
}

#[test]
fn a_base_is_the_old_one_or_the_new_one_whenever_a_vendoring_or_an_update_is_killed() {
    let project = lab("x");
    project.write("up/net.yaml", &config_map("x\n  other: new"));
    is_whole_whenever_it_is_killed(&project, &["vendor", "base/net", "--accept-changes"], &["base.lock", "net.yaml"]);

    let base = |commit: &str| {
        let source = format!("{{git: {{url: 'https://git.example/r', ref: main, commit: {commit}, path: net.yaml}}}}");
        format!("apiVersion: overlay/v1\nkind: Base\nname: net\nsource: {source}\n")
    };
    let project = lab("x");
    let (first, second) = ("a".repeat(40), "b".repeat(40));
    project.write("base/net/base.yaml", &base(&first));
    project.output(&["vendor", "base/net", "--from", "up/net.yaml"]);
    project.write("up/net.yaml", &config_map("x\n  other: new"));
    let update = ["update", "base/net", "--from", "up/net.yaml", "--commit", &second, "--write"];
    is_whole_whenever_it_is_killed(&project, &update, &["base.lock", "base.yaml", "net.yaml"]);
    assert_eq!(fs::read_to_string(project.path("base/net/base.yaml")).unwrap(), base(&second));
}

/// Whether it is time to kill a run that began then.
type Moment<'a> = Box<dyn Fn(Instant) -> bool + 'a>;

/// Kills runs that change these files of `base/net` at many moments: spread over the time that a run takes, and as soon as
/// the journal shows, or one of the files is the new one. Each leaves all files old or all new, or a journal with
/// which nothing reads them; and the next run leaves the new ones and nothing else.
fn is_whole_whenever_it_is_killed(project: &Project, args: &[&str], changed: &[&str]) {
    const MOMENTS: u32 = 32;
    const TIMES: usize = 4;
    let (folder, journal) = (project.path("base/net"), project.path("base/net/.overlay-journal"));
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    let state = || changed.iter().map(|name| read(name)).collect::<Vec<_>>();
    let old = state();
    let started = Instant::now();
    project.output(args);
    let (length, new) = (started.elapsed(), state());
    assert!(old.iter().zip(&new).all(|(old, new)| old != new));
    let mut moments: Vec<(String, Moment<'_>)> = Vec::new();
    for step in 0..MOMENTS {
        let after = length * step / MOMENTS;
        moments.push((format!("after {after:?}"), Box::new(move |started| started.elapsed() >= after)));
    }
    for _ in 0..TIMES {
        moments.push(("with the journal".to_owned(), Box::new(|_| journal.exists())));
        for (name, new) in changed.iter().zip(&new) {
            let path = folder.join(name);
            moments.push((format!("with {name}"), Box::new(move |_| fs::read(&path).is_ok_and(|it| it == *new))));
        }
    }
    let mut cut_off = 0;
    for (when, is_now) in moments {
        changed.iter().zip(&old).for_each(|(name, old)| fs::write(folder.join(name), old).unwrap());
        let mut child = project.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let started = Instant::now();
        while !is_now(started) && child.try_wait().unwrap().is_none() {}
        // It may have ended by itself.
        let _ended_before = child.kill();
        child.wait().unwrap();
        if journal.exists() {
            cut_off += 1;
            let ran = project.run(&["build", "overlays/lab"]);
            assert_eq!((ran.exit, ran.stdout.as_str()), (Some(1), ""), "{when}: {}", ran.stderr);
            assert!(ran.stderr.contains("error[base-half-written]"), "{when}: {}", ran.stderr);
        } else {
            let there = state();
            assert!(there == old || there == new, "{when}");
        }
        project.output(args);
        assert_eq!(state(), new, "{when}");
        assert_eq!(passing(&folder), [""; 0], "{when}");
    }
    assert!(cut_off > 0, "no run was killed in the middle");
}

#[test]
fn two_processes_that_write_the_same_files_leave_them_whole() {
    let project = lab("x");
    let built = project.output(&["build", "overlays/lab"]);
    for args in [&["vendor", "base/net"][..], &["build", "overlays/lab", "--output", "out/all.yaml"]] {
        for _ in 0..5 {
            let start = || project.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let runs: Vec<_> = (0..4).map(|_| start()).collect();
            for run in runs {
                let ran = Ran::of(run.wait_with_output().unwrap());
                assert_eq!(ran.exit, Some(0), "{args:?}: {}", ran.stderr);
            }
        }
    }
    assert_eq!(fs::read_to_string(project.path("out/all.yaml")).unwrap(), built);
    assert_eq!(project.output(&["build", "overlays/lab"]), built);
    assert_eq!((passing(&project.path("out")), passing(&project.path("base/net"))), (vec![], vec![]));
}

#[test]
fn a_full_disk_leaves_every_file_as_it_was() {
    let project = lab("x");
    // A file system of four blocks, in name spaces of its own. The manifest has more than fits.
    let script = "mount -t tmpfs -o size=16k none small || exit 77; cp -r base up overlays .git small/; cd small; \
                  cp ../long up/net.yaml; \"$0\" vendor base/net --accept-changes; echo \"exit $?\"; ls -A base/net; cat base/net/net.yaml";
    fs::create_dir(project.path("small")).unwrap();
    project.write("long", &config_map(&"x".repeat(6_000)));
    let Some(ran) = on_a_small_disk(&project, script) else { return };
    let wanted = format!("exit 2\nbase.lock\nbase.yaml\nnet.yaml\n{}", config_map("x"));
    assert_eq!(ran.stdout, wanted, "{}", ran.stderr);
    assert!(ran.stderr.contains("No space left on device"), "{}", ran.stderr);
}

/// Runs a script that mounts a small file system, in name spaces of its own, with the program as `$0`; `None` where that cannot
/// be had here, which is told.
fn on_a_small_disk(project: &Project, script: &str) -> Option<Ran> {
    let ran = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_overlay")])
        .current_dir(project.path(""))
        .output();
    let ran = match ran {
        Ok(ran) => Ran::of(ran),
        Err(error) => {
            skip("a full disk", &format!("unshare cannot be run: {error}"));
            return None;
        }
    };
    if ran.exit != Some(0) || !ran.stdout.contains("exit ") {
        let why = format!("a small file system cannot be mounted: {}", ran.stderr.trim());
        skip("a full disk", &why);
        return None;
    }
    Some(ran)
}

#[test]
fn a_full_disk_leaves_outputs_as_they_were() {
    let project = lab(&"x".repeat(100_000));
    project.write("overlays/lab/patches/case.yaml", &super::patch("- {op: add, path: /data/other, value: changed}"));
    fs::create_dir(project.path("small")).unwrap();
    let script = "mount -t tmpfs -o size=64k none small || exit 77; mkdir small/split; echo old >small/all.yaml; \
                  \"$0\" build overlays/lab --output small/all.yaml; echo \"exit $?\"; \
                  \"$0\" build overlays/lab --split small/split; echo \"exit $?\"; ls -A small small/split; cat small/all.yaml";
    let Some(ran) = on_a_small_disk(&project, script) else { return };
    assert_eq!(ran.stdout, "exit 2\nexit 2\nsmall:\nall.yaml\nsplit\n\nsmall/split:\nold\n", "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("No space left on device").count(), 2, "{}", ran.stderr);
}

#[test]
fn a_folder_that_takes_no_file_is_told_and_left_alone() {
    let project = lab("x");
    project.write("out/all.yaml", "what was there\n");
    fs::set_permissions(project.path("out"), Permissions::from_mode(0o555)).unwrap();
    // Modes do not bind root; in a name space of users in which it is nobody, they do.
    let ran = Command::new("unshare")
        .args(["--user", env!("CARGO_BIN_EXE_overlay"), "build", "overlays/lab", "--output", "out/all.yaml"])
        .current_dir(project.path(""))
        .output();
    fs::set_permissions(project.path("out"), Permissions::from_mode(0o755)).unwrap();
    let ran = match ran {
        Ok(ran) => Ran::of(ran),
        Err(error) => return skip("a folder that takes no file", &format!("unshare cannot be run: {error}")),
    };
    if ran.stderr.starts_with("unshare:") {
        return skip("a folder that takes no file", &ran.stderr);
    }
    let there = fs::read_to_string(project.path("out/all.yaml")).unwrap();
    assert_eq!((ran.exit, there.as_str()), (Some(2), "what was there\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("cannot write") && ran.stderr.contains("out/all.yaml"), "{}", ran.stderr);
    assert_eq!(passing(&project.path("out")), [""; 0]);
}

#[test]
fn permissions_stay_and_a_link_is_written_through() {
    let project = lab("x");
    project.write("there/all.yaml", "what was there\n");
    fs::set_permissions(project.path("there/all.yaml"), Permissions::from_mode(0o604)).unwrap();
    symlink("there/all.yaml", project.path("all.yaml")).unwrap();
    project.output(&["build", "overlays/lab", "--output", "all.yaml"]);
    assert!(fs::symlink_metadata(project.path("all.yaml")).unwrap().is_symlink());
    assert_eq!(fs::metadata(project.path("there/all.yaml")).unwrap().mode() & 0o777, 0o604);
    assert!(fs::read_to_string(project.path("there/all.yaml")).unwrap().ends_with("key: changed\n"));
}
