//! `overlay build --annotate`: comments are all that it adds, they stand where they say, and more runs add no more.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may lay out files, and fail")]

#[path = "support/annotated.rs"]
mod annotated;
#[path = "support/project.rs"]
mod project;

use annotated::{assert_only_comments, project};
use project::Project;

const OWN: &str = "overlays/nik-debian";

/// The annotated result without its header.
fn body(annotated: &str) -> &str {
    annotated.split_once("Because.\n\n").unwrap_or_else(|| panic!("no header:\n{annotated}")).1
}

/// A change of the one `ConfigMap` by one operation.
fn change(operation: &str) -> String {
    format!("  - target: {{kind: ConfigMap}}\n    patch:\n      - {operation}\n")
}

#[test]
fn our_own_overlay_says_the_same_and_is_verified() {
    let project = Project::own();
    let built = project.output(&["build", OWN]);
    let annotated = project.output(&["build", OWN, "--annotate"]);
    assert_only_comments(&annotated, &built);
    assert!(annotated.contains("k8snetworkplumbingwg/multus-cni at 95a0932350f0060cd232096876e24672a1de83fa"));
    project.write("annotated.yaml", &annotated);
    let verified = project.output(&["verify", OWN, "--against", "annotated.yaml"]);
    assert!(verified.contains("\nok: "), "{verified}");
}

#[test]
fn comments_stand_where_the_place_allows_one() {
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: net, labels: {a: b}}\ndata:\n  conf: |\n    {\"x\": 1}\n\
         \u{20} gone: old\n  same: same\nlist:\n- a\n- key: b\n  of:\n  - {c: d}\nother:\n- key: b\n  of: c\n";
    let within = "  - target: {kind: ConfigMap}\n    within: {path: /data/conf, as: json}\n    patch:\n\
         \u{20}     - {op: replace, path: /x, value: 2, note: two}\n";
    let patches = [
        ("flow", change("{op: replace, path: /metadata/labels/a, value: c}")),
        ("inside", within.to_owned()),
        ("gone", change("{op: remove, path: /data/gone}")),
        ("item", change("{op: replace, path: /list/0, value: z}")),
        ("first", change("{op: replace, path: /other/0/key, value: z}")),
        ("deep", change("{op: replace, path: /list/1/of/0/c, value: z}")),
    ];
    let patches: Vec<(&str, &str)> = patches.iter().map(|(name, changes)| (*name, changes.as_str())).collect();
    let project = project("net.yaml", manifest, &patches);
    let annotated = project.output(&["build", "lab", "--annotate"]);
    let expected = "apiVersion: v1\nkind: ConfigMap\n# overlay: flow, at /labels/a\nmetadata: {name: net, labels: {a: c}}\n\
         # overlay: gone, without /gone\ndata:\n  # overlay: inside, at /x: two\n  conf: |\n    {\"x\": 2}\n  same: same\n\
         list:\n# overlay: item\n- z\n- key: b\n  of:\n  # overlay: deep\n  - {c: z}\nother:\n# overlay: first\n- key: z\n  of: c\n";
    assert_eq!(body(&annotated), expected);
    assert_only_comments(&annotated, &project.output(&["build", "lab"]));
}

#[test]
fn a_document_that_goes_is_named_in_the_header() {
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: b}\n";
    let patch = "  - target: {kind: Secret}\n    delete: true\n";
    let project = project("net.yaml", manifest, &[("secret", patch)]);
    let annotated = project.output(&["build", "lab", "--annotate"]);
    assert!(annotated.contains("\n# secret: Sum\n#   Because.\n#   leaves out: Secret/b\n\n"), "{annotated}");
    assert_only_comments(&annotated, &project.output(&["build", "lab"]));
}

#[test]
fn texts_of_files_stay_in_their_comments() {
    let note = r#""a\u2028kind: Secret --- b: |\u0085 x\uFFFE""#;
    let replace = change(&format!("{{op: replace, path: /data/a, value: c, note: {note}}}"));
    let project = project(
        "net.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: b\n",
        &[("p", &replace)],
    );
    let annotated = project.output(&["build", "lab", "--annotate"]);
    assert!(annotated.contains("# overlay: p: a\\u2028kind: Secret -- b: |\\x85 x\\uFFFE\n"), "{annotated}");
    assert_only_comments(&annotated, &project.output(&["build", "lab"]));
}

#[test]
fn carriage_returns_a_bom_and_a_lacking_last_line_break_stay() {
    let manifest = "\u{feff}apiVersion: v1\r\nkind: ConfigMap\r\nmetadata: {name: a}\r\ndata:\r\n  a: b";
    let project = project("net.yaml", manifest, &[("p", &change("{op: replace, path: /data/a, value: c}"))]);
    let annotated = project.output(&["build", "lab", "--annotate"]);
    assert!(annotated.starts_with("\u{feff}# overlay: lab, "), "{annotated:?}");
    assert!(annotated.ends_with("data:\r\n  # overlay: p\r\n  a: c"), "{annotated:?}");
    assert_eq!(annotated.matches('\n').count(), annotated.matches("\r\n").count());
}

#[test]
fn json_is_printed_without_comments_and_says_so() {
    let manifest = "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"a\"}, \"data\": {\"a\": \"b\"}}\n";
    let project = project("net.json", manifest, &[("p", &change("{op: replace, path: /data/a, value: c}"))]);
    let ran = project.run(&["build", "lab", "--annotate"]);
    assert_eq!((ran.exit, ran.stdout), (Some(0), project.output(&["build", "lab"])));
    assert!(ran.stderr.starts_with("warning[annotation-left-out]: "), "{}", ran.stderr);
}

#[test]
fn json_behind_other_documents_keeps_its_comment_above_the_marker() {
    let manifest = "apiVersion: v1\nkind: Secret\nmetadata: {name: b}\n---\n{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"a\"}}\n";
    let add = change("{op: add, path: /data, value: {a: b}}");
    let project = project("net.yaml", manifest, &[("p", &add)]);
    let annotated = project.output(&["build", "lab", "--annotate"]);
    assert!(body(&annotated).contains("{name: b}\n# overlay: p, at /data\n---\n{"), "{annotated}");
    assert_only_comments(&annotated, &project.output(&["build", "lab"]));
}

#[test]
fn an_annotated_result_as_base_stays_as_it_is() {
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: b\n";
    let project = project("net.yaml", manifest, &[("p", &change("{op: replace, path: /data/a, value: c}"))]);
    let annotated = project.output(&["build", "lab", "--annotate"]);
    project.write("net.yaml", &annotated);
    project.output(&["vendor", "base/net", "--accept-changes"]);
    let again = project.run(&["build", "lab", "--annotate"]);
    assert_eq!((again.exit, again.stdout), (Some(0), annotated));
    assert!(again.stderr.starts_with("warning[already-upstream]: "), "{}", again.stderr);
}

#[test]
fn a_committed_result_may_be_the_annotated_one_and_is_kept_so() {
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: b\n";
    let project = project("net.yaml", manifest, &[("p", &change("{op: replace, path: /data/a, value: c}"))]);
    let overlay = std::fs::read_to_string(project.path("lab/overlay.yaml")).unwrap();
    project.write("lab/overlay.yaml", &format!("{overlay}rendered: ../out.yaml\n"));
    project.output(&["build", "lab", "--annotate", "--output", "out.yaml"]);
    let annotated = std::fs::read_to_string(project.path("out.yaml")).unwrap();
    assert!(project.output(&["verify", "lab"]).contains("rendered  out.yaml: as built"));
    project.write("out.yaml", &annotated.replace("# overlay: p\n", "").replace("a: c", "a: d"));
    assert_eq!(project.run(&["verify", "lab"]).exit, Some(1));
    project.output(&["verify", "lab", "--fix-rendered"]);
    assert_eq!(std::fs::read_to_string(project.path("out.yaml")).unwrap(), annotated);
}
