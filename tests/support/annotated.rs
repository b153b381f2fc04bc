//! What the tests of `overlay build --annotate` share.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::fmt::Write as _;

use overlay::yaml::load::load_text;
use overlay::yaml::stream::{Piece, split};
use serde_json::Value;

use crate::project::Project;

/// What the documents of a stream say.
pub(crate) fn values(text: &str) -> Vec<Value> {
    let pieces = split(text);
    let read = |piece: &Piece| load_text(piece.text(text)).unwrap().value;
    pieces.iter().filter(|piece| piece.content).map(read).collect()
}

/// Asserts that lines with comments are all that an annotated result has more than the result, and that both say the same.
pub(crate) fn assert_only_comments(annotated: &str, built: &str) {
    let mut left = built.split_inclusive('\n').peekable();
    for line in annotated.split_inclusive('\n') {
        let line = line.trim_start_matches('\u{feff}');
        if left.next_if(|next| next.trim_start_matches('\u{feff}') == line).is_none() {
            let is_comment = line.trim_start().starts_with('#') || line.trim().is_empty();
            assert!(is_comment, "{line:?} instead of {:?}", left.peek());
        }
    }
    assert_eq!(left.next(), None);
    assert_eq!(values(annotated), values(built));
}

/// A base of one file, and an overlay `lab` of patches on it, each a name and its changes.
pub(crate) fn project(file: &str, manifest: &str, patches: &[(&str, &str)]) -> Project {
    let base = format!("apiVersion: overlay/v1\nkind: Base\nname: net\nsource:\n  file: ../../{file}\n");
    let mut overlay = "apiVersion: overlay/v1\nkind: Overlay\nname: lab\nbases:\n  - ../base/net\n".to_owned();
    overlay.push_str(if patches.is_empty() { "" } else { "patches:\n" });
    for (name, _) in patches {
        let _ = writeln!(overlay, "  - patches/{name}.yaml");
    }
    let project = Project::new([(file, manifest), ("base/net/base.yaml", &base), ("lab/overlay.yaml", &overlay)]);
    for (name, changes) in patches {
        let head =
            format!("apiVersion: overlay/v1\nkind: Patch\nname: {name}\nsummary: Sum\nwhy: Because.\nchanges:\n");
        project.write(&format!("lab/patches/{name}.yaml"), &format!("{head}{changes}"));
    }
    project.output(&["vendor", "base/net"]);
    project
}
