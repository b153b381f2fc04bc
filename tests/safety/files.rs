//! Files that are none, or that lie elsewhere.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::lab;
use super::project::{Project, Ran};

/// The files of an overlay and its base.
const FILES: [&str; 5] = [
    "base/net/base.yaml",
    "base/net/base.lock",
    "base/net/net.yaml",
    "overlays/lab/overlay.yaml",
    "overlays/lab/patches/case.yaml",
];

/// Builds and verifies a project that must be refused soon, printing no manifest.
#[track_caller]
fn refused(project: &Project, what: &str, told: &str) {
    for command in ["build", "verify"] {
        let start = Instant::now();
        let ran = project.run(&[command, "overlays/lab"]);
        assert!(matches!(ran.exit, Some(1 | 2)), "{command} with {what}: {:?}\n{}", ran.exit, ran.stderr);
        assert!(start.elapsed() < Duration::from_secs(30), "{command} with {what} waited");
        let said = ran.stdout.clone() + &ran.stderr;
        assert!(said.contains(told), "{command} with {what} does not say {told:?}:\n{said}");
        assert!(command == "verify" || ran.stdout.is_empty(), "{command} with {what}:\n{said}");
    }
}

#[test]
fn a_fifo_a_device_and_a_folder_are_no_files_and_nobody_waits_for_them() {
    for file in FILES {
        for (what, told) in [("a FIFO", "a FIFO"), ("a device", ""), ("a folder", "")] {
            let project = lab("x");
            let path = project.path(file);
            fs::remove_file(&path).unwrap();
            match what {
                "a FIFO" => assert!(Command::new("mkfifo").arg(&path).status().unwrap().success()),
                "a device" => symlink("/dev/zero", &path).unwrap(),
                _ => fs::create_dir(&path).unwrap(),
            }
            refused(&project, &format!("{what} as {file}"), told);
        }
    }
}

#[test]
fn a_link_out_of_the_root_is_refused_for_every_file_and_tells_nothing_of_its_target() {
    let outside = tempfile::tempdir().unwrap();
    for file in FILES {
        let project = lab("x");
        let target = outside.path().join("secret.yaml");
        fs::copy(project.path(file), &target).unwrap();
        fs::remove_file(project.path(file)).unwrap();
        symlink(&target, project.path(file)).unwrap();
        refused_link(&project, file);
    }
}

#[track_caller]
fn refused_link(project: &Project, file: &str) {
    for command in ["build", "verify"] {
        let ran = project.run(&[command, "overlays/lab"]);
        let said = ran.stdout.clone() + &ran.stderr;
        assert_eq!(ran.exit, Some(1), "{command} with a link as {file}:\n{said}");
        assert!(said.contains("path-outside-root") && !said.contains("key: x"), "{file}:\n{said}");
    }
}

#[test]
fn a_list_of_ignored_folders_is_no_link_and_nothing_of_its_target_is_told() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("environ");
    fs::write(&secret, "TOKEN=hidden\n").unwrap();
    for folder in ["", "overlays"] {
        for target in [&*secret, Path::new("/proc/self/environ"), Path::new("/dev/zero")] {
            let project = lab("x");
            symlink(target, project.path(folder).join(".overlayignore")).unwrap();
            for args in [&["verify"][..], &["build", "--all", "--split", "out"]] {
                let ran = Ran::of(project.command(args).env("TOKEN", "hidden").output().unwrap());
                let told = ".overlayignore is a symbolic link, not a regular file";
                assert_eq!((ran.exit, ran.stdout.as_str()), (Some(2), ""), "{args:?}: {}", ran.stderr);
                assert!(ran.stderr.contains(told) && !ran.stderr.contains("hidden"), "{args:?}: {}", ran.stderr);
                assert!(!project.path("out").exists());
            }
        }
    }
}

#[test]
fn names_that_differ_in_case_alone_are_different_files() {
    let project = lab("x");
    fs::rename(project.path("base/net/net.yaml"), project.path("base/net/NET.yaml")).unwrap();
    let ran = project.run(&["build", "overlays/lab"]);
    let folds = fs::metadata(project.path("base/net/net.yaml")).is_ok();
    assert_eq!(
        (ran.exit, ran.stdout.is_empty()),
        if folds { (Some(0), false) } else { (Some(1), true) },
        "{}",
        ran.stderr
    );
}

#[test]
fn files_swapped_while_builds_run_are_never_read_from_outside() {
    let project = lab("x");
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.yaml");
    fs::write(&secret, "hidden: [\n").unwrap();
    let (patch, kept) = (project.path("overlays/lab/patches/case.yaml"), project.path("overlays/lab/patches/kept"));
    fs::copy(&patch, &kept).unwrap();
    let runs = swapping(&patch, &secret, &kept, || project.run(&["build", "overlays/lab"]));
    for ran in runs {
        let said = ran.stdout.clone() + &ran.stderr;
        assert!(!said.contains("hidden"), "{said}");
        // A file that is another at each look is refused for what was seen of it.
        let refused = matches!(ran.exit, Some(1 | 2)) && said.starts_with("error[");
        assert!(
            ran.exit == Some(0) && ran.stdout.ends_with("key: changed\n") || refused && ran.stdout.is_empty(),
            "{said}"
        );
    }
}

#[test]
fn a_folder_swapped_while_builds_run_is_never_read_through() {
    let project = lab("x");
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("case.yaml"), "hidden: [\n").unwrap();
    let (folder, kept) = (project.path("overlays/lab/patches"), project.path("overlays/lab/kept"));
    fs::rename(&folder, &kept).unwrap();
    symlink("kept", &folder).unwrap();
    for ran in swapping(&folder, outside.path(), &kept, || project.run(&["build", "overlays/lab"])) {
        let said = ran.stdout.clone() + &ran.stderr;
        assert!(!said.contains("hidden"), "{said}");
        assert!(ran.exit == Some(0) || ran.stdout.is_empty(), "{said}");
    }
}

/// Says so when it is dropped.
struct Done<'d>(&'d AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs a command again and again while a path is, in turns, a link to one place and to the other.
fn swapping(path: &Path, one: &Path, other: &Path, run: impl Fn() -> Ran) -> Vec<Ran> {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let passing = path.with_extension("passing");
            while !done.load(Ordering::Relaxed) {
                for target in [one, other] {
                    // A file is laid there itself, as a link to it would be another finding.
                    if target.is_file() && target == other {
                        fs::copy(target, &passing).unwrap();
                    } else {
                        symlink(target, &passing).unwrap();
                    }
                    fs::rename(&passing, path).unwrap();
                }
            }
        });
        // Also where a run panics: the scope would wait for ever.
        let _done = Done(&done);
        (0..30).map(|_| run()).collect()
    })
}
