//! Files of a result in a folder, and a run that is killed while it writes them, at each call to the system and at any time.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::peers;
use super::project::{Project, Ran};
use super::writes::{delays, interrupted};

const BASE: &str = "apiVersion: overlay/v1\nkind: Base\nname: net\nsource: {file: ../up/net.yaml}\n";

const MANIFEST: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {key: old}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
";

const OWN: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\n";

/// What the overlay gives in turns. The second leaves out a document that the others have, and adds one that they lack.
const STATES: [usize; 3] = [1, 2, 3];

const SPLIT: [&str; 4] = ["build", "--all", "--split", "out"];

fn laid_out() -> Project {
    let project = Project::new([("up/net.yaml", MANIFEST), ("base/base.yaml", BASE), ("o/lab/own.yaml", OWN)]);
    project.output(&["vendor", "base"]);
    project
}

/// Makes the overlay give one of the [`STATES`].
fn turn_to(project: &Project, state: usize) {
    let resources = if state == 2 { "resources: [own.yaml]\n" } else { "" };
    let overlay = "apiVersion: overlay/v1\nkind: Overlay\nname: lab\nbases: [../../base]\npatches: [p.yaml]\n";
    project.write("o/lab/overlay.yaml", &format!("{overlay}{resources}"));
    let delete = if state == 2 { "- {target: {name: b}, delete: true}\n" } else { "" };
    project.write(
        "o/lab/p.yaml",
        &format!(
            "apiVersion: overlay/v1\nkind: Patch\nname: p\nsummary: s\nwhy: w\nchanges:\n\
             - {{target: {{name: a}}, patch: [{{op: replace, path: /data/key, value: to-{state}}}]}}\n{delete}"
        ),
    );
}

type Files = BTreeMap<String, String>;

/// The files below a folder, those under passing names among them.
fn below(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut open = vec![folder.to_owned()];
    while let Some(at) = open.pop() {
        for path in fs::read_dir(&at).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                files.insert(name, fs::read_to_string(path).unwrap());
            }
        }
    }
    files
}

fn is_passing(path: &str) -> bool {
    path.rsplit('/').next().unwrap().starts_with(".overlay-")
}

/// What a folder holds that was never anything else than the result in one of the states.
fn wanted(project: &Project) -> Vec<Files> {
    let give = |state: usize| {
        turn_to(project, state);
        let _ = fs::remove_dir_all(project.path("out"));
        project.output(&SPLIT);
        below(&project.path("out"))
    };
    STATES.iter().map(|state| give(*state)).collect()
}

/// A folder in the first state, and a run to the second that `cut_off` makes and ends too early: whatever the next run is, the files are
/// then what it gives and nothing else.
fn is_mended(project: &Project, wanted: &[Files], moment: &str, cut_off: impl FnOnce()) {
    let out = project.path("out");
    let _ = fs::remove_dir_all(&out);
    turn_to(project, 1);
    project.output(&SPLIT);
    turn_to(project, 2);
    cut_off();
    let left = below(&out);
    for (path, text) in left.iter().filter(|(path, _)| !is_passing(path) && *path != ".overlay.sha256") {
        let is_whole = wanted[..2].iter().any(|files| files.get(path) == Some(text));
        assert!(is_whole, "{moment}: {path} is {text:?}");
    }
    for (state, wanted) in STATES.iter().zip(wanted) {
        let _ = fs::remove_dir_all(&out);
        for (path, text) in &left {
            project.write(&format!("out/{path}"), text);
        }
        turn_to(project, *state);
        let ran = project.run(&SPLIT);
        assert_eq!(ran.exit, Some(0), "{moment}, then {state}: {}", ran.stderr);
        assert_eq!(&below(&out), wanted, "{moment}, then {state}: {}", ran.stderr);
    }
}

#[test]
fn split_files_are_whole_and_the_next_run_mends_them_wherever_a_run_is_killed() {
    if !peers::present(&["strace"]) {
        return;
    }
    let project = laid_out();
    let wanted = wanted(&project);
    let mut moments = 0;
    for call in ["rename,renameat,renameat2", "link,linkat", "unlink,unlinkat", "fsync", "mkdir,mkdirat"] {
        for number in 1.. {
            let mut was_killed = false;
            is_mended(&project, &wanted, &format!("{call} number {number}"), || {
                was_killed = killed_at(&project, call, number);
            });
            if !was_killed {
                break;
            }
            moments += 1;
        }
    }
    assert!(moments > 15, "only {moments} moments were tried");
}

/// Splits, killed as it makes a call to the system for the so-manieth time; whether that came.
fn killed_at(project: &Project, call: &str, number: usize) -> bool {
    let inject = format!("inject={call}:signal=KILL:when={number}");
    let ran = std::process::Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}"), "-e", &inject])
        .arg(env!("CARGO_BIN_EXE_overlay"))
        .args(SPLIT)
        .current_dir(project.path(""))
        .stdout(Stdio::null())
        .output()
        .unwrap();
    let killed = !ran.status.success();
    assert_eq!(killed, ran.stderr.is_empty(), "{:?}: {}", ran.status, String::from_utf8_lossy(&ran.stderr));
    killed
}

#[test]
fn split_files_are_whole_and_the_next_run_mends_them_whenever_a_run_is_killed() {
    let project = laid_out();
    let wanted = wanted(&project);
    for signal in ["-KILL", "-INT", "-TERM"] {
        for after in delays().step_by(2) {
            is_mended(&project, &wanted, &format!("{signal} after {after:?}"), || {
                interrupted(&project, &SPLIT, signal, after);
            });
        }
    }
}

#[test]
fn two_runs_that_split_into_one_folder_take_turns() {
    let project = laid_out();
    let wanted = wanted(&project);
    // The second is of other sources, with another result for the same names.
    let other = laid_out();
    turn_to(&project, 1);
    for round in 0..6 {
        turn_to(&project, if round % 2 == 0 { 2 } else { 1 });
        turn_to(&other, 3);
        let out = project.path("out");
        let start = |project: &Project| {
            let args = ["build", "--all", "--split", out.to_str().unwrap()];
            project.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let runs = [start(&project), start(&other), start(&project), start(&other)];
        for run in runs {
            let ran = Ran::of(run.wait_with_output().unwrap());
            assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
        }
        let there = below(&out);
        assert!(wanted.contains(&there), "round {round}: {there:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
