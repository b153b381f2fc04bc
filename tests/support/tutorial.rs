//! Plays docs/tutorial.md: each command of its `console` blocks in order, in one folder, and what it prints.
//!
//! What a reader does in an editor, the page tells in words; for the player it stands in comments, as `editor:` before
//! the command that opens one and as `run:` elsewhere. Upstream's file is handed in and does not come from the network.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The page.
pub(crate) fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tutorial.md")
}

/// The page's text with what its commands print now, where upstream publishes this file.
pub(crate) fn played(page: &str, upstream: &Path) -> String {
    let mut shell = Shell::new(upstream);
    let mut out = String::new();
    let mut rest = page;
    while let Some(at) = ["```console\n", "<!-- "].iter().filter_map(|start| rest.find(start)).min() {
        let (before, block) = rest.split_at(at);
        out.push_str(before);
        let end = if block.starts_with('`') { "\n```\n" } else { "-->\n" };
        let (block, after) = block.split_at(block.find(end).unwrap() + end.len());
        if let Some(script) = block.strip_prefix("<!-- editor: ") {
            script.trim_end_matches(" -->\n").clone_into(&mut shell.editor);
            out.push_str(block);
        } else if let Some(line) = block.strip_prefix("<!-- run: ") {
            assert_eq!(shell.run(line.trim_end_matches(" -->\n")), "", "{line}");
            out.push_str(block);
        } else {
            out.push_str("```console\n");
            for command in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
                out.push_str(&format!("$ {command}\n{}", shell.run(command)));
            }
            out.push_str("```\n");
        }
        rest = after;
    }
    out + rest
}

/// A shell that keeps its folder from one command to the next.
struct Shell {
    top: tempfile::TempDir,
    folder: PathBuf,
    editor: String,
}

impl Shell {
    fn new(upstream: &Path) -> Shell {
        let top = tempfile::tempdir().unwrap();
        let program = env!("CARGO_BIN_EXE_overlay");
        let from = upstream.canonicalize().unwrap();
        let wrapper = format!(
            "#!/bin/sh\n[ \"$1\" = init ] && set -- \"$@\" --from '{}'\nexec '{program}' \"$@\"\n",
            from.display()
        );
        let file = top.path().join("bin/overlay");
        fs::create_dir(top.path().join("bin")).unwrap();
        fs::write(&file, wrapper).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        Shell { folder: top.path().to_owned(), top, editor: "false".to_owned() }
    }

    /// What a command prints, on both streams.
    fn run(&mut self, line: &str) -> String {
        let after = self.top.path().join("folder");
        let script = format!("{{ {line}\n}} 2>&1\npwd > '{}'", after.display());
        let path = format!("{}:/usr/bin:/bin", self.top.path().join("bin").display());
        let mut command = Command::new("bash");
        command.args(["-c", &script]).current_dir(&self.folder).env_clear().env("PATH", path);
        let output = command.env("EDITOR", &self.editor).env("HOME", self.top.path()).output().unwrap();
        self.folder = fs::read_to_string(after).unwrap().trim_end().into();
        String::from_utf8(output.stdout).unwrap()
    }
}
