//! The programs that tests compare with, found on PATH.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Whether all of these programs are there. Where one is not, says so, and fails when peers are required.
pub(crate) fn present(programs: &[&str]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let missing = programs.iter().find(|name| !std::env::split_paths(&path).any(|dir| dir.join(name).is_file()));
    let Some(name) = missing else { return true };
    let required = std::env::var_os("OVERLAY_REQUIRE_PEERS").is_some_and(|value| value == "1");
    assert!(!required, "{name} is not on PATH; scripts/setup-peers.sh installs it");
    eprintln!("skipped: {name} is not on PATH");
    false
}

/// Runs a program in a folder, without anyone's configuration, and gives what it printed.
pub(crate) fn run(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let output: Output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {messages}");
    String::from_utf8(output.stdout).unwrap()
}
