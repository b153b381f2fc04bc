//! What hostile input, and a machine that fails at the wrong moment, cannot do.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may lay out files, and fail")]
#![allow(clippy::print_stderr, reason = "a test that skips itself says so")]

#[path = "source/peers.rs"]
mod peers;
#[path = "support/project.rs"]
mod project;
mod support;

#[path = "safety/files.rs"]
mod files;
#[path = "safety/limits.rs"]
mod limits;
#[path = "safety/splits.rs"]
mod splits;
#[path = "safety/terminal.rs"]
mod terminal;
#[path = "safety/writes.rs"]
mod writes;

/// A base of one `ConfigMap` whose `key` is that value, and an overlay that replaces it with `changed`.
fn lab(value: &str) -> project::Project {
    let project = project::Project::new([
        ("base/net/base.yaml", "apiVersion: overlay/v1\nkind: Base\nname: net\nsource:\n  file: ../../up/net.yaml\n"),
        ("up/net.yaml", &config_map(value)),
        (
            "overlays/lab/overlay.yaml",
            "apiVersion: overlay/v1\nkind: Overlay\nname: lab\nbases: [../../base/net]\npatches: [patches/case.yaml]\n",
        ),
        ("overlays/lab/patches/case.yaml", &patch("- {op: replace, path: /data/key, value: changed}")),
    ]);
    project.output(&["vendor", "base/net"]);
    project
}

fn config_map(value: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  key: {value}\n")
}

/// A patch of the `ConfigMap` with these operations.
fn patch(operations: &str) -> String {
    format!(
        "apiVersion: overlay/v1\nkind: Patch\nname: case\nsummary: Change a value\nwhy: To see what happens.\n\
         evidence: [https://example.org/]\nchanges:\n- target: {{kind: ConfigMap}}\n  patch:\n  {operations}\n"
    )
}
