use serde_json::json;

use super::*;
use crate::diag::{Code, Place, Source};

/// An overlay with something of everything.
pub(super) fn report() -> Report {
    let base = Source::new("base/net/net.yaml", "kind: Deployment\nspec: {replicas: 1}\n");
    let patch = Source::new("overlays/lab/patches/pin.yaml", "kind: Patch\nname: pin\n");
    let undocumented = Departure { note: None, ..replaced("/spec/replicas", json!(1), json!(2)) };
    Report::new(
        vec![OverlayReport {
            path: "overlays/lab".into(),
            name: "lab".into(),
            description: "The net agent in the lab".into(),
            bases: vec![BaseReport {
                name: "net".into(),
                path: "base/net".into(),
                source: "example/net-agent at 0123456789ab".into(),
                license: None,
                state: BaseState::AsLocked,
                files: vec![BaseFile { file: "net.yaml".into(), sha256: "0".repeat(64) }],
            }],
            documents: Documents {
                kept: vec!["ConfigMap/kube-system/net-config".into(), "Deployment.apps/web".into()],
                left_out: vec!["ServiceAccount/kube-system/multus".into()],
                added: Vec::new(),
            },
            patches: patches(),
            unbuilt: false,
            undocumented: vec![undocumented],
            against: None,
            rendered: None,
            findings: vec![
                Diagnostic::new(Code::Unguarded, "a replace without `was:` overwrites whatever upstream has there")
                    .at(Place::new(&patch, 12..16), "this operation")
                    .patch("pin"),
                Diagnostic::new(
                    Code::UndocumentedDeparture,
                    "no patch claims that /spec/replicas of Deployment.apps/web differs",
                )
                .at(Place::new(&base, 17..21), "upstream's value")
                .resource("Deployment.apps/web")
                .path("/spec/replicas")
                .help("write a patch for it, or take the change back"),
            ],
        }],
        false,
    )
}

fn patches() -> Vec<PatchReport> {
    let bindir = Departure {
        resource: "ConfigMap/kube-system/net-config".into(),
        path: "/binDir".into(),
        within: Some("/data/net.json".into()),
        change: ChangeKind::Add,
        before: None,
        after: Some(json!("/var/lib/cni")),
        note: None,
    };
    let image = "/spec/template/spec/containers/[name=web]/image";
    let removed =
        Departure { change: ChangeKind::Remove, after: None, ..replaced("/spec/paused", json!(true), json!(0)) };
    let moved = Departure { change: ChangeKind::Move, ..replaced("/spec/order/[=b]", json!(1), json!(0)) };
    vec![
        PatchReport {
            name: "bindir".into(),
            summary: "Tell the agent where the plugins are".into(),
            why: "The agent looks for plugins in its own mounts.\n\nThis host has another folder for them.\n".into(),
            file: "overlays/lab/patches/bindir.yaml".into(),
            evidence: vec!["https://example.org/net-agent/issues/7".into()],
            verified: Some("2026-08-24".into()),
            review: Some("2027-02-24".into()),
            upstream: Some("not-needed".into()),
            departures: vec![bindir],
        },
        PatchReport {
            name: "pin".into(),
            summary: "Pin the image".into(),
            why: "Tags move.".into(),
            file: "overlays/lab/patches/pin.yaml".into(),
            departures: vec![replaced(image, json!("web:1"), json!("web@sha256:77")), removed, moved],
            ..PatchReport::default()
        },
    ]
}

fn replaced(path: &str, before: Value, after: Value) -> Departure {
    Departure {
        resource: "Deployment.apps/web".into(),
        path: path.into(),
        within: None,
        change: ChangeKind::Replace,
        before: Some(before),
        after: Some(after),
        note: Some("so it is".into()).filter(|_| path.contains("image")),
    }
}
