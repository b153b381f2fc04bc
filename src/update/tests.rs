//! Verdicts on invented upstreams. Each test has one upstream, what became of it, and patches.

use super::*;
use crate::diag::render::Dress;
use crate::layer::base::Base;
use crate::layer::testing::Project;
use crate::layer::vendor::{self, Accept};
use crate::report::update::{DocumentState, OperationUpdate, UpdateReport, Verdict, update_text};

const BASE: &str = "apiVersion: overlay/v1\nkind: Base\nname: b\nsource: {file: ../../up/m.yaml}\n";

const UPSTREAM: &str = r#"apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data:
  agent.json: |
    {"level": "info", "mtu": 1500}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: net}
spec:
  template:
    spec:
      hostNetwork: true
      containers:
        - name: agent
          image: example.org/agent:1.0
          args: [--verbose, --port=53]
      volumes:
        - name: bin
          hostPath: {path: /opt/bin}
        - name: run
          hostPath: {path: /run}
"#;

/// The upstream of a project changes under its lock.
const ACCEPT: Accept = Accept { layout: false, changes: true };

/// A patch on the daemon with these operations.
fn on_agent(operations: &str) -> String {
    format!("changes:\n  - target: {{kind: DaemonSet, name: agent}}\n    patch:\n{operations}")
}

/// What the base's source names.
fn published(project: &Project) -> Vec<Fetched> {
    let base = project.base("base/b");
    base.files.iter().map(|file| vendor::from_root(&project.root, &base, file).unwrap()).collect()
}

fn project(keep: &str, patches: &[&str]) -> Project {
    project_of(UPSTREAM, keep, patches)
}

/// A project whose base is vendored from that upstream.
fn project_of(upstream: &str, keep: &str, patches: &[&str]) -> Project {
    let project = Project::new(&[("base/b/base.yaml", &format!("{BASE}{keep}")), ("up/m.yaml", upstream)]);
    let mut names = String::new();
    for (number, changes) in patches.iter().enumerate() {
        names.push_str(&format!("  - patches/p{number}.yaml\n"));
        let head =
            format!("apiVersion: overlay/v1\nkind: Patch\nname: p{number}\nsummary: Do it\nwhy: It is needed.\n");
        project.write(&format!("overlays/x/patches/p{number}.yaml"), &format!("{head}{changes}"));
    }
    let overlay = "apiVersion: overlay/v1\nkind: Overlay\nname: x\nbases: [../../base/b]\n";
    let patches = if names.is_empty() { String::new() } else { format!("patches:\n{names}") };
    project.write("overlays/x/overlay.yaml", &format!("{overlay}{patches}"));
    let mut findings = Findings::new();
    let plan = vendor::plan(&project.root, &project.base("base/b"), &published(&project), ACCEPT, &mut findings);
    vendor::carry_out(&[&plan.unwrap()]).unwrap();
    project
}

fn looked(project: &Project, upstream: &str, old: Option<&str>) -> Result<BaseUpdate, Vec<String>> {
    let mut findings = Findings::new();
    let base: Base = project.base("base/b");
    let fetched = |text: &str| Fetched::new("new.yaml".into(), text.as_bytes().to_vec());
    let old = old.map(|old| [fetched(old)]);
    let newer = Newer { base: &base, files: &[fetched(upstream)], old: old.as_ref().map(|old| &old[..]) };
    look(&project.root, &newer, &mut findings).ok_or_else(|| project.told(&findings))
}

/// The operations of all patches on another upstream.
fn operations(patches: &[&str], upstream: &str) -> Vec<OperationUpdate> {
    let project = project("", patches);
    let before = project.files();
    let update = looked(&project, upstream, None).unwrap();
    assert_eq!(project.files(), before);
    let [overlay] = &update.overlays[..] else { panic!("one overlay is expected: {:?}", update.overlays) };
    overlay.patches.iter().flat_map(|p| p.operations.clone()).collect()
}

/// The verdict, message and notes of the one operation.
fn verdict(patch: &str, upstream: &str) -> (Verdict, String, String) {
    let [operation] = &operations(&[patch], upstream)[..] else { panic!("one operation is expected") };
    (operation.verdict, operation.message.clone(), operation.notes.join(" "))
}

/// As [`verdict`], from another upstream than the usual one.
fn verdict_from(base: &str, patch: &str, upstream: &str) -> (Verdict, String, String) {
    let update = looked(&project_of(base, "", &[patch]), upstream, None).unwrap();
    let [operation] = &update.overlays[0].patches[0].operations[..] else { panic!("one operation is expected") };
    (operation.verdict, operation.message.clone(), operation.notes.join(" "))
}

fn with(from: &str, to: &str) -> String {
    assert!(UPSTREAM.contains(from), "{from}");
    UPSTREAM.replace(from, to)
}

fn pin(container: &str) -> String {
    on_agent(&format!(
        "      - {{op: replace, path: '/spec/template/spec/containers/{container}/image', value: 'example.org/agent:9'}}\n"
    ))
}

const CONTAINERS: &str = "      containers:\n";

fn in_front() -> String {
    with(CONTAINERS, &format!("{CONTAINERS}        - {{name: proxy, image: example.org/proxy:3}}\n"))
}

#[test]
fn an_upstream_as_it_was_changes_no_verdict_and_no_document() {
    let project = project("", &[&pin("[name=agent]")]);
    let update = looked(&project, UPSTREAM, None).unwrap();
    assert!(!update.changed);
    assert!(update.documents.is_empty());
    assert_eq!(update.overlays[0].patches[0].verdict, Verdict::Applies);
}

#[test]
fn an_item_addressed_by_key_is_found_behind_one_put_in_front() {
    assert_eq!(verdict(&pin("[name=agent]"), &in_front()), (Verdict::Applies, String::new(), String::new()));
}

#[test]
fn an_index_at_which_another_item_stands_is_a_conflict_that_names_both() {
    let (verdict, message, notes) = verdict(&pin("0"), &in_front());
    assert_eq!(verdict, Verdict::UpstreamChanged);
    assert_eq!(message, "index 0 of /spec/template/spec/containers is another item now: it was agent, and is proxy");
    assert_eq!(
        notes,
        "What it was written for has index 1 now. Address it by its key: /spec/template/spec/containers/[name=agent]."
    );
}

#[test]
fn an_index_in_a_list_without_keys_is_held_by_what_stands_there() {
    let second = on_agent("      - {op: remove, path: /spec/template/spec/containers/0/args/1}\n");
    let shifted = with("[--verbose, --port=53]", "[--quiet, --verbose, --port=53]");
    let (is, message, notes) = verdict(&second, &shifted);
    assert_eq!(is, Verdict::UpstreamChanged);
    assert_eq!(message, "index 1 of /spec/template/spec/containers/0/args is another item now");
    assert_eq!(notes, "What it was written for has index 2 now.");
    let behind = with("[--verbose, --port=53]", "[--verbose, --port=53, --quiet]");
    assert_eq!(verdict(&second, &behind).0, Verdict::Applies);
}

#[test]
fn what_upstream_has_by_now_can_be_dropped() {
    let select = on_agent("      - {op: add, path: /spec/template/spec/nodeSelector, value: {disk: ssd}}\n");
    let same = with("      hostNetwork: true\n", "      hostNetwork: true\n      nodeSelector: {disk: ssd}\n");
    assert_eq!(verdict(&select, &same).0, Verdict::AlreadyUpstream);
    let other = with("      hostNetwork: true\n", "      hostNetwork: true\n      nodeSelector: {disk: hdd}\n");
    let [operation] = &operations(&[&select], &other)[..] else { panic!("one operation is expected") };
    assert_eq!(operation.verdict, Verdict::Refused);
    assert_eq!(operation.message, "upstream has a value of its own there now");
    assert_eq!(operation.upstream, Some(serde_json::json!({"disk": "hdd"})));
    assert_eq!(operation.base, None);
}

#[test]
fn what_upstream_took_out_too_can_be_dropped() {
    let remove = on_agent("      - {op: remove, path: /spec/template/spec/hostNetwork}\n");
    let (verdict, message, _) = verdict(&remove, &with("      hostNetwork: true\n", ""));
    assert_eq!(verdict, Verdict::Overtaken);
    assert_eq!(message, "upstream took it out too; take it out of the patch, which cannot be built with it");
}

#[test]
fn a_renamed_item_is_named_where_its_old_name_leads_nowhere() {
    let host_path = on_agent(
        "      - {op: replace, path: '/spec/template/spec/volumes/[name=bin]/hostPath/path', value: /data/bin}\n",
    );
    let (verdict, message, notes) = verdict(&host_path, &with("name: bin", "name: plugins"));
    assert_eq!(verdict, Verdict::Gone);
    assert_eq!(message, "`/spec/template/spec/volumes` has no item `[name=bin]`");
    assert_eq!(
        notes,
        "It may be at /spec/template/spec/volumes/[name=plugins]/hostPath/path now. The items there are: plugins, run."
    );
}

/// The daemon with mounts, which the differ knows by their mountPath, and what became of the first.
fn mounts(first: &str) -> String {
    let mounts = format!("volumeMounts: [{first}, {{name: run, mountPath: /run}}]");
    with("args: [--verbose, --port=53]", &format!("args: [--verbose, --mtu=1500]\n          {mounts}"))
}

#[test]
fn an_item_that_the_differ_calls_renamed_is_the_candidate_of_every_operation_on_it() {
    let list = "/spec/template/spec/containers/[name=agent]/volumeMounts";
    let (base, newer) = (mounts("{name: bin, mountPath: /opt/bin}"), mounts("{name: plugins, mountPath: /opt/bin}"));
    for (operation, tail) in [
        (format!("{{op: remove, path: '{list}/[name=bin]'}}"), ""),
        (format!("{{op: add, path: '{list}/[name=bin]', value: {{name: own, mountPath: /own}}}}"), ""),
        (format!("{{op: replace, path: '{list}/[name=bin]/mountPath', value: /own}}"), "/mountPath"),
        (format!("{{op: add, path: '{list}/[name=bin]/readOnly', value: true}}"), ""),
        (format!("{{op: test, path: '{list}/[name=bin]/mountPath', value: /opt/bin}}"), "/mountPath"),
        (format!("{{op: move, from: '{list}/[name=bin]', path: '{list}/-'}}"), ""),
        (format!("{{op: copy, from: '{list}/[name=bin]/mountPath', path: /spec/note}}"), "/mountPath"),
        (format!("{{op: remove, path: '{}/[name=bin]'}}", list.replace("[name=agent]", "*")), ""),
    ] {
        let (verdict, _, notes) = verdict_from(&base, &on_agent(&format!("      - {operation}\n")), &newer);
        assert_eq!(verdict, Verdict::Gone, "{operation}");
        assert!(notes.starts_with(&format!("It may be at {list}/[name=plugins]{tail} now.")), "{operation}: {notes}");
        assert!(!notes.contains("Correct the path") && !notes.contains("op: add"), "{operation}: {notes}");
    }
    let gone = mounts("{name: other, mountPath: /other}");
    let remove = on_agent(&format!("      - {{op: remove, path: '{list}/[name=bin]'}}\n"));
    assert_eq!(verdict_from(&base, &remove, &gone).0, Verdict::Overtaken);
    // By its other key it is the same item as well.
    let by_path = remove.replace("[name=bin]", "[mountPath=/opt/bin]");
    let (verdict, _, notes) = verdict_from(&base, &by_path, &mounts("{name: bin, mountPath: /opt/cni}"));
    assert_eq!(verdict, Verdict::Gone);
    assert!(notes.starts_with(&format!("It may be at {list}/[name=bin] now.")), "{notes}");
}

#[test]
fn an_argument_of_the_same_flag_is_the_candidate_of_one_that_is_to_be_removed() {
    let args = "/spec/template/spec/containers/[name=agent]/args";
    let remove = on_agent(&format!("      - {{op: remove, path: '{args}/[=--port=53]'}}\n"));
    let (is, _, notes) = verdict(&remove, &with("--port=53", "--port=54"));
    assert_eq!(is, Verdict::Gone);
    assert!(notes.starts_with(&format!("It may be at {args}/[=--port=54] now.")), "{notes}");
    assert_eq!(verdict(&remove, &with("--port=53", "--quiet")).0, Verdict::Overtaken);
}

#[test]
fn an_item_that_earlier_patches_changed_is_found_by_what_upstream_has() {
    let path = "/spec/template/spec/volumes/[name=bin]";
    let first = on_agent(&format!("      - {{op: replace, path: '{path}/hostPath', value: {{path: /data}}}}\n"));
    let second = on_agent(&format!("      - {{op: remove, path: '{path}'}}\n"));
    let told = operations(&[&first, &second], &with("name: bin", "name: plugins"));
    let notes: Vec<&str> = told.iter().filter_map(|o| o.notes.first()).map(String::as_str).collect();
    let expected =
        ["/hostPath", ""].map(|t| format!("It may be at /spec/template/spec/volumes/[name=plugins]{t} now."));
    assert_eq!(notes, expected);
}

#[test]
fn an_item_renamed_and_changed_is_known_by_what_it_shares() {
    let renamed = "- name: daemon\n          image: example.org/agent:2.0";
    let newer = with("- name: agent\n          image: example.org/agent:1.0", renamed);
    let (is, _, notes) = verdict(&pin("[name=agent]"), &newer);
    assert_eq!(is, Verdict::Gone);
    assert!(notes.starts_with("It may be at /spec/template/spec/containers/[name=daemon]/image now."), "{notes}");
}

#[test]
fn an_item_that_is_to_be_removed_and_was_renamed_is_not_taken_for_gone() {
    let remove = on_agent("      - {op: remove, path: '/spec/template/spec/volumes/[name=bin]'}\n");
    assert_eq!(verdict(&remove, &with("name: bin", "name: plugins")).0, Verdict::Gone);
}

#[test]
fn a_value_that_moved_is_named_where_it_is_now() {
    let replace = on_agent("      - {op: replace, path: /spec/template/spec/hostNetwork/mode, value: b}\n");
    let project = project("", &[&replace]);
    project.write("up/m.yaml", &with("hostNetwork: true", "hostNetwork: {mode: bridge}"));
    let mut findings = Findings::new();
    let plan = vendor::plan(&project.root, &project.base("base/b"), &published(&project), ACCEPT, &mut findings);
    vendor::carry_out(&[&plan.unwrap()]).unwrap();
    let update = looked(&project, &with("hostNetwork: true", "network: {mode: bridge}"), None).unwrap();
    let operation = &update.overlays[0].patches[0].operations[0];
    assert_eq!(operation.verdict, Verdict::Gone);
    assert_eq!(operation.notes.first().unwrap(), "It may be at /spec/template/spec/network/mode now.");
}

#[test]
fn a_renamed_document_is_named_where_its_target_means_none() {
    let (verdict, message, notes) = verdict(&pin("[name=agent]"), &with("{name: agent, ", "{name: node-daemon, "));
    assert_eq!(verdict, Verdict::Gone);
    assert_eq!(message, "upstream has no document that the target means");
    assert_eq!(notes, "There is DaemonSet.apps/net/node-daemon (apps/v1).");
}

#[test]
fn a_renamed_document_is_named_at_the_patch_where_keep_leaves_it_out() {
    let project = project("keep: [{kind: DaemonSet, name: agent}]\n", &[&pin("[name=agent]")]);
    let other = "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: exporter, namespace: net}\nspec: {}\n";
    let newer = with("{name: agent, ", "{name: node-daemon, ").replacen("---\n", &format!("{other}---\n"), 1);
    let update = looked(&project, &newer, None).unwrap();
    let operation = &update.overlays[0].patches[0].operations[0];
    assert_eq!(operation.verdict, Verdict::Gone);
    assert_eq!(
        operation.notes,
        ["node-daemon", "exporter"]
            .map(|name| format!("There is DaemonSet.apps/net/{name} (apps/v1), which the base's `keep` leaves out."))
    );
    // What upstream had before, and the base left out then, is nothing that it renamed.
    let update = looked(&project, UPSTREAM.split("---").next().unwrap(), None).unwrap();
    assert!(update.overlays[0].patches[0].operations[0].notes.is_empty());
}

#[test]
fn a_document_of_another_api_version_is_met_or_named() {
    let bumped = with("apps/v1", "apps/v2");
    assert_eq!(verdict(&pin("[name=agent]"), &bumped).0, Verdict::Applies);
    let versioned = pin("[name=agent]").replace("{kind:", "{version: v1, kind:");
    let (is, _, notes) = verdict(&versioned, &bumped);
    assert_eq!(is, Verdict::Gone);
    assert_eq!(notes, "There is DaemonSet.apps/net/agent (apps/v2).");
}

#[test]
fn a_text_that_was_laid_out_anew_is_the_same_text() {
    let level = "changes:\n  - target: {kind: ConfigMap}\n    within: {path: /data/agent.json, as: json}\n    patch:\n      \
                 - {op: replace, path: /level, value: debug}\n";
    let anew =
        with("{\"level\": \"info\", \"mtu\": 1500}", "{\n      \"mtu\": 1500,\n      \"level\": \"info\"\n    }");
    assert_eq!(verdict(level, &anew).0, Verdict::Applies);
    let other = with("\"info\"", "\"warn\"");
    assert_eq!(verdict(level, &other).0, Verdict::UpstreamChanged);
    let (broken, message, _) = verdict(level, &with("\"info\",", "\"info\""));
    assert_eq!(broken, Verdict::Gone);
    assert!(message.starts_with("the text at `/data/agent.json` is not JSON: "), "{message}");
}

#[test]
fn a_replaced_value_that_upstream_changed_is_a_conflict_with_three_values_without_was_too() {
    let [operation] = &operations(&[&pin("[name=agent]")], &with("agent:1.0", "agent:2.0"))[..] else {
        panic!("one operation is expected")
    };
    assert_eq!(operation.verdict, Verdict::UpstreamChanged);
    assert_eq!(operation.message, "upstream changed what it replaces");
    assert_eq!(operation.base, Some("example.org/agent:1.0".into()));
    assert_eq!(operation.upstream, Some("example.org/agent:2.0".into()));
    assert_eq!(operation.ours, Some("example.org/agent:9".into()));
}

#[test]
fn a_value_that_was_names_is_held_against_upstreams() {
    let was = pin("[name=agent]").replace("value:", "was: 'example.org/agent:1.0', value:");
    assert_eq!(verdict(&was, UPSTREAM).0, Verdict::Applies);
    let (verdict, message, _) = verdict(&was, &with("agent:1.0", "agent:2.0"));
    assert_eq!((verdict, &*message), (Verdict::Refused, "upstream changed the value that the patch expects"));
}

#[test]
fn what_an_earlier_patch_made_is_no_change_of_upstreams() {
    let first = on_agent("      - {op: add, path: /spec/template/spec/volumes/0, value: {name: own}}\n");
    let second = on_agent("      - {op: replace, path: /spec/template/spec/volumes/0/name, value: ours}\n");
    let verdicts: Vec<Verdict> = operations(&[&first, &second], UPSTREAM).iter().map(|o| o.verdict).collect();
    assert_eq!(verdicts, [Verdict::Applies, Verdict::Applies]);
}

#[test]
fn every_item_that_a_path_newly_means_is_told() {
    let (verdict, _, notes) = verdict(&pin("*"), &in_front());
    assert_eq!(verdict, Verdict::Applies);
    assert_eq!(notes, "It now means /spec/template/spec/containers/[name=proxy]/image too.");
}

#[test]
fn a_patch_that_fails_on_the_base_too_is_told_apart() {
    let (verdict, message, _) = verdict(&pin("[name=agnet]"), &in_front());
    assert_eq!(verdict, Verdict::Broken);
    assert_eq!(message, "`/spec/template/spec/containers` has no item `[name=agnet]`");
}

#[test]
fn a_patch_that_fits_upstream_alone_applies_and_says_so() {
    let (is, _, notes) = verdict(&pin("[name=proxy]"), &in_front());
    assert_eq!(is, Verdict::Applies);
    assert_eq!(notes, "It does not fit the locked base: `/spec/template/spec/containers` has no item `[name=proxy]`.");
    let target = pin("[name=agent]").replace("name: agent}", "name: daemon}");
    assert_eq!(verdict(&target, &with("{name: agent, ", "{name: daemon, ")).0, Verdict::Applies);
}

#[test]
fn a_target_that_means_more_documents_than_it_says_is_a_conflict() {
    let glob = pin("[name=agent]").replace("name: agent", "name: 'agent*'");
    let daemon = &UPSTREAM[UPSTREAM.find("---").unwrap()..];
    let two = format!("{UPSTREAM}{}", daemon.replace("name: agent, ", "name: agent-edge, "));
    let (is, message, notes) = verdict(&glob, &two);
    assert_eq!(is, Verdict::Refused);
    assert_eq!(message, "the target means 2 documents upstream now, and says exactly 1");
    assert_eq!(
        notes,
        "It means DaemonSet.apps/net/agent (apps/v1). It means DaemonSet.apps/net/agent-edge (apps/v1), new \
         upstream. Write `name: agent` in the target to mean DaemonSet.apps/net/agent alone."
    );
    let elsewhere = format!("{UPSTREAM}{}", daemon.replace("namespace: net", "namespace: edge"));
    let (is, _, notes) = verdict(&pin("[name=agent]"), &elsewhere);
    assert_eq!(is, Verdict::Refused);
    let advice = "Add `namespace: net` in the target to mean DaemonSet.apps/net/agent alone.";
    assert!(notes.ends_with(advice), "{notes}");
}

#[test]
fn a_document_that_is_to_be_deleted_and_that_upstream_took_out_too_can_be_dropped_and_one_renamed_cannot() {
    let delete = "changes:\n  - target: {kind: ConfigMap, name: settings}\n    delete: true\n";
    let gone = &UPSTREAM[UPSTREAM.find("---\n").unwrap() + 4..];
    let (is, message, _) = verdict(delete, gone);
    assert_eq!(is, Verdict::Overtaken);
    assert_eq!(message, "upstream took the document out too; take the deletion out of the patch");
    assert_eq!(verdict(delete, &with("name: settings", "name: options")).0, Verdict::Gone);
}

#[test]
fn what_can_be_dropped_but_stops_the_build_till_then_is_a_conflict() {
    assert!(Verdict::Overtaken.is_conflict());
    assert!(!Verdict::AlreadyUpstream.is_conflict());
    let project = project("", &[&on_agent("      - {op: remove, path: /spec/template/spec/hostNetwork}\n")]);
    let update = looked(&project, &with("      hostNetwork: true\n", ""), None).unwrap();
    assert_eq!(update.conflicts(), 1);
}

#[test]
fn a_document_that_is_deleted_may_change() {
    let delete = "changes:\n  - target: {kind: ConfigMap}\n    delete: true\n";
    let (verdict, _, notes) = verdict(delete, &with("1500", "9000"));
    assert_eq!((verdict, &*notes), (Verdict::Applies, "Upstream changed the document that it deletes."));
}

#[test]
fn the_patches_of_an_overlay_are_told_once_and_count_for_those_above_it() {
    let project = project("", &[&pin("[name=agent]")]);
    let overlay = "apiVersion: overlay/v1\nkind: Overlay\nname: y\nbases: [../x]\npatches: [above.yaml]\n";
    project.write("overlays/y/overlay.yaml", overlay);
    let above = pin("[name=agent]").replace("value:", "was: 'example.org/agent:9', value:").replace(":9'}", ":10'}");
    let head = "apiVersion: overlay/v1\nkind: Patch\nname: above\nsummary: s\nwhy: w\n";
    project.write("overlays/y/above.yaml", &format!("{head}{above}"));
    let update = looked(&project, &with("agent:1.0", "agent:2.0"), None).unwrap();
    let told: Vec<(&str, &str, Verdict)> = update
        .overlays
        .iter()
        .flat_map(|o| o.patches.iter().map(|p| (o.name.as_str(), p.name.as_str(), p.verdict)))
        .collect();
    assert_eq!(told, [("x", "p0", Verdict::UpstreamChanged), ("y", "above", Verdict::Applies)]);
}

#[test]
fn an_overlay_that_stands_on_another_base_is_not_told_and_one_that_cannot_be_read_is_named() {
    let project = project("", &[]);
    project.write("base/c/base.yaml", &BASE.replace("name: b", "name: c"));
    let head = "apiVersion: overlay/v1\nkind: Overlay\n";
    project.write("overlays/other/overlay.yaml", &format!("{head}name: other\nbases: [../../base/c]\n"));
    project.write("overlays/odd/overlay.yaml", &format!("{head}nmae: odd\n"));
    let update = looked(&project, UPSTREAM, None).unwrap();
    assert_eq!(update.overlays.iter().map(|o| &*o.name).collect::<Vec<_>>(), ["x"]);
    assert_eq!(update.unreadable, ["overlays/odd"]);
}

#[test]
fn documents_are_told_that_are_new_gone_changed_or_known_by_a_digest_alone() {
    let keep = "keep: [{kind: DaemonSet}]\n";
    let project = project(keep, &[]);
    let newer = with("1500", "9000").replace("hostNetwork: true", "hostNetwork: false")
        + "---\napiVersion: v1\nkind: Service\nmetadata: {name: agent}\n";
    let told = |old: Option<&str>| {
        let update = looked(&project, &newer, old).unwrap();
        let one = |d: &crate::report::update::DocumentUpdate| {
            let paths: Vec<&str> = d.differences.iter().map(|d| d.path.as_str()).collect();
            (d.resource.clone(), d.kept, d.state, paths.join(" "))
        };
        update.documents.iter().map(one).collect::<Vec<_>>()
    };
    let (config, daemon, service) =
        ("ConfigMap/settings".to_owned(), "DaemonSet.apps/net/agent".to_owned(), "Service/agent (v1)".to_owned());
    let host_network = "/spec/template/spec/hostNetwork".to_owned();
    assert_eq!(
        told(None),
        [
            (config.clone(), false, DocumentState::ChangedUnseen, String::new()),
            (daemon.clone(), true, DocumentState::Changed, host_network.clone()),
            (service.clone(), false, DocumentState::New, String::new()),
        ]
    );
    assert_eq!(
        told(Some(UPSTREAM)),
        [
            (config, false, DocumentState::Changed, "/mtu".to_owned()),
            (daemon, true, DocumentState::Changed, host_network),
            (service, false, DocumentState::New, String::new()),
        ]
    );
    let config_alone = UPSTREAM.split("---").next().unwrap();
    let update = looked(&project, config_alone, None).unwrap();
    assert_eq!(update.documents.iter().map(|d| d.state).collect::<Vec<_>>(), [DocumentState::Gone]);
    assert_eq!(update.kept_gone.iter().map(|k| &*k.target).collect::<Vec<_>>(), ["kind=DaemonSet"]);
    assert_eq!(update.conflicts(), 1);
}

#[test]
fn a_document_that_keep_takes_in_or_leaves_out_now_is_told_though_upstream_did_not_change_it() {
    let project = project("keep: [{kind: DaemonSet}]\n", &[]);
    let told = |keep: &str, newer: &str| {
        project.write("base/b/base.yaml", &format!("{BASE}{keep}"));
        let update = looked(&project, newer, None).unwrap();
        assert_eq!(update.changed, newer != UPSTREAM);
        let report = UpdateReport::new(vec![update.clone()], Vec::new());
        let one = |d: &crate::report::update::DocumentUpdate| (d.resource.clone(), d.kept, d.kept_before, d.state);
        (report.changed, update.documents.iter().map(one).collect::<Vec<_>>(), update_text(&report, Dress::Plain))
    };
    let (changed, documents, text) = told("keep: [{kind: ConfigMap}]\n", UPSTREAM);
    let (config, daemon) = ("ConfigMap/settings".to_owned(), "DaemonSet.apps/net/agent".to_owned());
    let unchanged = DocumentState::Unchanged;
    let expected = [(config.clone(), true, Some(false), unchanged), (daemon, false, Some(true), unchanged)];
    assert_eq!((changed, &documents[..]), (true, &expected[..]));
    let expected = "  unchanged, left out before: `keep` takes it in now\n    ConfigMap/settings\n  unchanged (left out), kept \
                    before: `keep` leaves it out now\n    DaemonSet.apps/net/agent\n";
    assert!(text.contains(expected), "{text}");
    let (changed, documents, _) = told("", &with("1500", "9000"));
    assert_eq!((changed, documents), (true, vec![(config, true, Some(false), DocumentState::ChangedUnseen)]));
    assert_eq!(told("keep: [{kind: DaemonSet}]\n", UPSTREAM).1, []);
}

#[test]
fn an_old_upstream_that_the_lock_does_not_record_is_refused() {
    let told = looked(&project("", &[]), UPSTREAM, Some(&with("1500", "9000"))).unwrap_err();
    assert_eq!(told, ["upstream-changed: new.yaml is not what base/b was vendored from"]);
}

#[test]
fn items_of_a_list_are_met_like_documents() {
    let list = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: one}\n  data: {a: x}\n";
    let patch = "changes:\n  - target: {name: one}\n    patch:\n      - {op: replace, path: /data/a, value: z}\n";
    let project = project("", &[patch]);
    project.write("up/m.yaml", list);
    let mut findings = Findings::new();
    let plan = vendor::plan(&project.root, &project.base("base/b"), &published(&project), ACCEPT, &mut findings);
    vendor::carry_out(&[&plan.unwrap()]).unwrap();
    let verdict = |upstream: &str| looked(&project, upstream, None).unwrap().overlays[0].patches[0].verdict;
    assert_eq!(verdict(list), Verdict::Applies);
    assert_eq!(verdict(&list.replace("a: x", "a: y")), Verdict::UpstreamChanged);
    assert_eq!(verdict(&list.replace("name: one", "name: two")), Verdict::Gone);
}

#[test]
fn a_guard_that_no_longer_holds_stops_the_build_and_one_without_applies() {
    let port = |was: &str| {
        let path = "/spec/template/spec/containers/[name=agent]/image";
        on_agent(&format!("      - {{op: replace, path: '{path}', {was}value: 'example.org/agent:9'}}\n"))
    };
    let newer = with("agent:1.0", "agent:1.1");
    let (is, message, _) = verdict(&port("was: 'example.org/agent:1.0', "), &newer);
    assert_eq!((is, message.as_str()), (Verdict::Refused, "upstream changed the value that the patch expects"));
    let (is, message, _) = verdict(&port(""), &newer);
    assert_eq!((is, message.as_str()), (Verdict::UpstreamChanged, "upstream changed what it replaces"));
    let guarded = on_agent("      - {op: remove, path: /spec/template/spec/containers/0/args/0, was: --verbose}\n");
    let shifted = with("[--verbose, --port=53]", "[--quiet, --verbose, --port=53]");
    assert_eq!(verdict(&guarded, &shifted).0, Verdict::Refused);
}

#[test]
fn an_item_selected_by_its_text_that_upstream_replaced_or_took_out_too_can_be_dropped() {
    let args = "/spec/template/spec/containers/[name=agent]/args/[=--verbose]";
    let replace = on_agent(&format!("      - {{op: replace, path: '{args}', value: '--verbose=true'}}\n"));
    let (is, message, notes) = verdict(&replace, &with("--verbose,", "--verbose=true,"));
    assert_eq!((is, notes.as_str()), (Verdict::Overtaken, ""));
    assert_eq!(message, "upstream replaced it by the same; take it out of the patch, which cannot be built with it");
    assert_eq!(verdict(&replace, &with("--verbose,", "--verbose=1,")).0, Verdict::Gone);
    let remove = on_agent(&format!("      - {{op: remove, path: '{args}'}}\n"));
    assert_eq!(verdict(&remove, &with("--verbose,", "--verbosity,")).0, Verdict::Overtaken);
}

#[test]
fn an_append_means_the_end_wherever_that_is() {
    let longer = with("[--verbose, --port=53]", "[--verbose, --port=53, --quiet]");
    for container in ["[name=agent]", "*"] {
        let path = format!("/spec/template/spec/containers/{container}/args/-");
        let append = on_agent(&format!("      - {{op: add, path: '{path}', value: --more}}\n"));
        assert_eq!(verdict(&append, &longer), (Verdict::Applies, String::new(), String::new()), "{path}");
    }
}

/// What stops the build by the verdicts on patches, as `patch verdict: message`, and by the overlay itself.
fn stops(project: &Project, upstream: &str) -> (Vec<String>, Vec<String>) {
    let update = looked(project, upstream, None).unwrap();
    let patches = update.overlays.iter().flat_map(|o| &o.patches);
    let stopping = |v: Verdict| v.is_conflict() && v != Verdict::UpstreamChanged;
    let told = patches.flat_map(|p| p.operations.iter().map(move |o| (p, o))).filter(|(_, o)| stopping(o.verdict));
    let told = told.map(|(p, o)| format!("{} {}: {}", p.name, o.verdict.as_str(), o.message)).collect();
    let whole = update.overlays.iter().flat_map(|o| o.stops.iter().map(|s| format!("{}: {}", o.name, s.message)));
    (told, whole.chain(update.stops.iter().map(|s| s.message.clone())).collect())
}

const DIGEST: &str = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

#[test]
fn a_build_that_stops_at_what_no_value_shows_is_a_conflict_of_its_patch() {
    let pinned = format!("{CONTAINERS}        - {{name: proxy, image: 'example.org/proxy:3@{DIGEST}'}}\n");
    let newer = with(CONTAINERS, &pinned);
    let project = project("", &[&pin("*"), &on_agent("      - {op: remove, path: /spec/template/spec/hostNetwork}\n")]);
    let update = looked(&project, &newer, None).unwrap();
    let [every, other] = &update.overlays[0].patches[..] else { panic!("two patches are expected") };
    assert_eq!((every.verdict, other.verdict), (Verdict::Refused, Verdict::Applies));
    let [_, stop] = &every.operations[..] else { panic!("it is told beside what the operation came to") };
    assert_eq!((stop.verdict, stop.line), (Verdict::Refused, 9));
    assert_eq!(stop.message, "the image loses its digest: `example.org/agent:9` is not pinned");
    assert_eq!(stop.resource, "DaemonSet.apps/net/agent");
    assert_eq!(stop.path, "/spec/template/spec/containers/[name=proxy]/image");
    assert_eq!(stop.notes[0], format!("It was `example.org/proxy:3@{DIGEST}`."));
    assert_eq!(update.conflicts(), 1);
}

#[test]
fn a_build_that_would_leave_nothing_is_a_conflict_of_the_patch_that_deletes() {
    let delete = "changes:\n  - target: {kind: DaemonSet}\n    delete: true\n";
    let alone = &UPSTREAM[UPSTREAM.find("---\n").unwrap() + 4..];
    let (patches, _) = stops(&project("", &[delete]), alone);
    let verdict = Verdict::Refused.as_str();
    assert_eq!(patches, [format!("p0 {verdict}: the patches delete every document, so nothing would be left")]);
}

#[test]
fn a_build_that_stopped_on_the_locked_base_too_is_told_as_that() {
    let pinned = with("agent:1.0", &format!("agent:1.0@{DIGEST}"));
    let project = project_of(&pinned, "", &[&pin("[name=agent]")]);
    let (patches, _) = stops(&project, &pinned.replace("1500", "9000"));
    let message = "the image loses its digest: `example.org/agent:9` is not pinned";
    assert_eq!(patches, [format!("p0 fails on the locked base too: {message}")]);
}

#[test]
fn what_follows_from_a_conflict_that_is_told_is_none_of_its_own() {
    let first = on_agent("      - {op: add, path: '/spec/template/spec/volumes/[name=bin]/emptyDir', value: {}}\n");
    let second =
        on_agent("      - {op: add, path: '/spec/template/spec/volumes/[name=bin]/emptyDir/medium', value: Memory}\n");
    let first = first.replace("{}}", "{}}\n      - {op: remove, path: /spec/template/spec/hostNetwork}");
    let project = project("", &[&first, &second]);
    assert_eq!(stops(&project, UPSTREAM), (vec![], vec![]));
    let (patches, whole) = stops(&project, &with("      hostNetwork: true\n", ""));
    assert_eq!((patches.len(), whole.len()), (1, 0), "{patches:?} {whole:?}");
    assert!(patches[0].starts_with("p0 already upstream"), "{patches:?}");
}

#[test]
fn a_build_that_stops_at_no_patch_is_a_conflict_of_the_overlay_and_is_told_once_for_each() {
    let project = project("", &[]);
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: agent}\n";
    project.write("overlays/x/service.yaml", service);
    let overlay = "apiVersion: overlay/v1\nkind: Overlay\nname: x\nbases: [../../base/b]\nresources: [service.yaml]\n";
    project.write("overlays/x/overlay.yaml", overlay);
    assert_eq!(stops(&project, &with("1500", "9000")), (vec![], vec![]));
    let newer = format!("{UPSTREAM}---\n{service}");
    let (patches, whole) = stops(&project, &newer);
    assert_eq!((patches, whole), (vec![], vec!["x: the result has Service/agent twice".to_owned()]));
    let update = looked(&project, &newer, None).unwrap();
    assert_eq!(update.conflicts(), 1);
}

#[test]
fn a_patch_that_stops_the_build_is_told_with_its_own_overlay_alone() {
    let pinned = format!("{CONTAINERS}        - {{name: proxy, image: 'example.org/proxy:3@{DIGEST}'}}\n");
    let project = project("", &[&pin("*")]);
    project.write("overlays/a/overlay.yaml", "apiVersion: overlay/v1\nkind: Overlay\nname: a\nbases: [../x]\n");
    let (patches, whole) = stops(&project, &with(CONTAINERS, &pinned));
    assert_eq!((patches.len(), whole), (1, vec![]), "{patches:?}");
}

#[test]
fn a_base_that_could_not_be_vendored_is_a_conflict() {
    let source = "source: {url: ['https://example.org/a.yaml', 'https://example.org/b.yaml']}";
    let base = format!(
        "apiVersion: overlay/v1\nkind: Base\nname: b\n{source}\nkeep: [{{kind: DaemonSet}}, {{name: settings}}]\n"
    );
    let (config, daemon) = UPSTREAM.split_once("---\n").unwrap();
    let project = Project::new(&[("base/b/base.yaml", &base)]);
    let fetched = |texts: [&str; 2]| texts.map(|text| Fetched::new("new.yaml".into(), text.as_bytes().to_vec()));
    let mut findings = Findings::new();
    let base = project.base("base/b");
    let plan = vendor::plan(&project.root, &base, &fetched([config, daemon]), ACCEPT, &mut findings);
    vendor::carry_out(&[&plan.unwrap()]).unwrap();
    let newer = fetched([&config.replace("settings", "options"), &format!("{daemon}---\n{config}")]);
    let update = look(&project.root, &Newer { base: &base, files: &newer, old: None }, &mut findings).unwrap();
    assert_eq!(update.stops.len(), 1);
    assert_eq!(update.stops[0].message, "`keep` leaves nothing of https://example.org/a.yaml");
    assert_eq!(update.conflicts(), 1);
}

/// A project of `x` with these patches, of `y` on it with `q`, and of `z` on that with `r`.
fn stacked(patches: &[&str], q: &str, r: &str) -> Project {
    let project = project("", patches);
    for (overlay, below, patch, changes) in [("y", "x", "q", q), ("z", "y", "r", r)] {
        let names = if changes.is_empty() { String::new() } else { format!("patches: [{patch}.yaml]\n") };
        let head = format!("apiVersion: overlay/v1\nkind: Overlay\nname: {overlay}\nbases: [../{below}]\n{names}");
        project.write(&format!("overlays/{overlay}/overlay.yaml"), &head);
        let head = format!("apiVersion: overlay/v1\nkind: Patch\nname: {patch}\nsummary: Do it\nwhy: It is needed.\n");
        if !changes.is_empty() {
            project.write(&format!("overlays/{overlay}/{patch}.yaml"), &format!("{head}{changes}"));
        }
    }
    project
}

/// The verdict on each operation of each patch, `overlay/patch verdict`, and how many conflicts there are.
fn verdicts(project: &Project, upstream: &str) -> (Vec<String>, usize) {
    let update = looked(project, upstream, None).unwrap();
    let mut told = Vec::new();
    for overlay in &update.overlays {
        assert!(overlay.stops.is_empty(), "{:?}", overlay.stops);
        for patch in &overlay.patches {
            let of = |o: &OperationUpdate| format!("{}/{} {:?}", overlay.name, patch.name, o.verdict);
            told.extend(patch.operations.iter().map(of));
        }
    }
    (told, update.conflicts())
}

fn replace(path: &str, was: &str, value: &str) -> String {
    on_agent(&format!("      - {{op: replace, path: '{path}', was: {was}, value: {value}}}\n"))
}

const IMAGE: &str = "/spec/template/spec/containers/[name=agent]/image";
const NETWORK: &str = "/spec/template/spec/hostNetwork";

#[test]
fn what_a_conflict_leads_to_in_later_patches_waits_for_it_and_is_told_once() {
    let first = replace(IMAGE, "'example.org/agent:1.0'", "'example.org/agent:1.0-a'");
    let second = replace(IMAGE, "'example.org/agent:1.0-a'", "'example.org/agent:1.0-b'");
    let third = replace(IMAGE, "'example.org/agent:1.0-b'", "'example.org/agent:1.0-c'");
    let newer = with("agent:1.0", "agent:2.0");
    for (project, names) in [
        (stacked(&[&first], &second, &third), ["x/p0", "y/q", "z/r"]),
        (stacked(&[&first, &second], &third, ""), ["x/p0", "x/p1", "y/q"]),
        (stacked(&[&first, &second, &third], "", ""), ["x/p0", "x/p1", "x/p2"]),
    ] {
        let expected = |verdicts: [&str; 3]| -> Vec<String> {
            names.iter().zip(verdicts).map(|(name, verdict)| format!("{name} {verdict}")).collect()
        };
        assert_eq!(verdicts(&project, UPSTREAM), (expected(["Applies"; 3]), 0));
        assert_eq!(verdicts(&project, &newer), (expected(["Refused", "Waits", "Waits"]), 1));
    }
    let update = looked(&stacked(&[&first], &second, &third), &newer, None).unwrap();
    for overlay in &update.overlays[1..] {
        let [operation] = &overlay.patches[0].operations[..] else { panic!("{overlay:?}") };
        assert_eq!(
            operation.message,
            "what it finds there is for the patch `p0` to write (overlays/x/patches/p0.yaml), which conflicts"
        );
        assert!(operation.base.is_none() && operation.upstream.is_none() && operation.ours.is_none(), "{operation:?}");
    }
}

#[test]
fn what_waits_is_known_by_place_in_texts_and_below_what_was_to_be_added_too() {
    let within = |was: &str, value: &str| {
        format!(
            "changes:\n  - target: {{kind: ConfigMap}}\n    within: {{path: /data/agent.json, as: json}}\n    \
             patch: [{{op: replace, path: /mtu, was: {was}, value: {value}}}]\n"
        )
    };
    let bin = "/spec/template/spec/volumes/[name=bin]";
    let add = |path: &str, value: &str| on_agent(&format!("      - {{op: add, path: '{path}', value: {value}}}\n"));
    let text = "changes:\n  - target: {kind: ConfigMap}\n    patch: [{op: add, path: /data/new.json, value: '{}'}]\n";
    let in_text = "changes:\n  - target: {kind: ConfigMap}\n    within: {path: /data/new.json, as: json}\n    patch: [{op: add, path: /a, value: 1}]\n";
    let own = with("data:\n", "data:\n  new.json: '[]'\n");
    let no_bin = with("        - name: bin\n          hostPath: {path: /opt/bin}\n", "");
    for (first, second, newer, is) in [
        (within("1500", "9000"), within("9000", "8000"), with("1500", "1400"), "Refused"),
        (text.to_owned(), in_text.to_owned(), own.clone(), "Refused"),
        (add(&format!("{bin}/emptyDir"), "{}"), add(&format!("{bin}/emptyDir/medium"), "Memory"), no_bin, "Gone"),
    ] {
        let project = stacked(&[&first], &second, "");
        let expected = vec![format!("x/p0 {is}"), "y/q Waits".to_owned()];
        assert_eq!(verdicts(&project, &newer), (expected, 1), "{first}{second}");
    }
}

#[test]
fn what_upstream_changed_itself_is_a_later_patchs_own_conflict() {
    let first = replace(IMAGE, "'example.org/agent:1.0'", "'example.org/agent:1.0-a'");
    let path = "/spec/template/spec/volumes/[name=bin]/hostPath/path";
    let newer = with("agent:1.0", "agent:2.0");
    // Another place.
    let second = replace(NETWORK, "true", "false");
    let update = verdicts(&stacked(&[&first], &second, ""), &newer.replace("hostNetwork: true", "hostNetwork: null"));
    assert_eq!(update, (vec!["x/p0 Refused".to_owned(), "y/q Refused".to_owned()], 2));
    // The place is gone, whatever becomes of the first one.
    let (first, second) = (replace(path, "/opt/bin", "/a"), replace(path, "/a", "/b"));
    let gone = with("        - name: bin\n          hostPath: {path: /opt/bin}\n", "");
    let update = verdicts(&stacked(&[&first], &second, ""), &gone);
    assert_eq!(update, (vec!["x/p0 Gone".to_owned(), "y/q Gone".to_owned()], 2));
    // A patch that applies is waited for by none.
    let (first, second) = (pin("[name=agent]"), replace(IMAGE, "'example.org/agent:9'", "'example.org/agent:8'"));
    let update = verdicts(&stacked(&[&first], &second, ""), &newer);
    assert_eq!(update, (vec!["x/p0 UpstreamChanged".to_owned(), "y/q Applies".to_owned()], 1));
}

#[test]
fn a_value_that_earlier_patches_made_is_not_called_the_bases_without_saying_so() {
    let copy = on_agent(&format!("      - {{op: copy, from: '{IMAGE}', path: /spec/image}}\n"));
    let second = replace("/spec/image", "'example.org/agent:1.0'", "other");
    let update = looked(&stacked(&[&copy], &second, ""), &with("agent:1.0", "agent:2.0"), None).unwrap();
    let [operation] = &update.overlays[1].patches[0].operations[..] else { panic!("{:?}", update.overlays) };
    assert_eq!((operation.verdict, operation.base.clone()), (Verdict::Refused, Some("example.org/agent:1.0".into())));
    assert_eq!(operation.notes, ["What stands as the base's is what earlier patches make of it."]);
    let own = operations(&[&replace(NETWORK, "true", "false")], &with("hostNetwork: true", "hostNetwork: null"));
    assert_eq!((own[0].base.clone(), own[0].notes.len()), (Some(true.into()), 0));
}

#[test]
fn a_patch_behind_one_whose_target_means_too_many_is_not_blamed() {
    let add = "      - {op: add, path: /metadata/annotations, value: {ours: '1'}}\n";
    let first = format!("changes:\n  - target: {{name: '*'}}\n    matches: 2\n    patch:\n{add}");
    let second = replace("/metadata/annotations/ours", "'1'", "'2'");
    let project = stacked(&[&first], &second, "");
    assert_eq!(verdicts(&project, UPSTREAM).1, 0);
    let service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: agent}\n";
    let update = verdicts(&project, &format!("{UPSTREAM}{service}"));
    assert_eq!(update, (vec!["x/p0 Refused".to_owned(), "y/q Applies".to_owned()], 1));
}

/// What the one patch newly means on another upstream, as document, what it was, and whether it is new.
fn newly(base: &str, patch: &str, upstream: &str) -> (Verdict, Vec<(String, Option<String>, bool)>) {
    let update = looked(&project_of(base, "", &[patch]), upstream, None).unwrap();
    let patch = &update.overlays[0].patches[0];
    let newly = patch.newly_meant.iter().map(|n| (n.resource.clone(), n.was.clone(), n.new));
    assert_eq!(update.conflicts(), 0);
    (patch.verdict, newly.collect())
}

#[test]
fn a_document_that_a_target_of_several_takes_in_is_told() {
    let add = |target: &str| {
        format!(
            "changes:\n  - target: {target}\n    matches: at-least-1\n    patch:\n      \
             - {{op: add, path: /metadata/annotations, value: {{ours: '1'}}}}\n      \
             - {{op: add, path: /metadata/finalizers, value: [o/x]}}\n"
        )
    };
    let document = |name: &str, labels: &str| {
        format!("---\napiVersion: v1\nkind: Service\nmetadata: {{name: {name}, labels: {{tier: {labels}}}}}\n")
    };
    let base = document("one", "net") + &document("other", "web");
    let (one, two) = ("Service/one (v1)".to_owned(), "Service/two (v1)".to_owned());
    for target in ["{labels: {tier: net}}", "{name: '*o*', labels: {tier: net}}"] {
        let more = format!("{base}{}", document("two", "net"));
        let told = newly(&base, &add(target), &more);
        assert_eq!(told, (Verdict::Applies, vec![(two.clone(), None, true)]), "{target}");
        assert_eq!(newly(&base, &add(target), &base).1, [], "{target}");
    }
    let (net, relabelled) = (add("{labels: {tier: net}}"), base.replace("web", "net"));
    assert_eq!(newly(&base, &net, &relabelled).1, [("Service/other (v1)".to_owned(), None, false)]);
    assert_eq!(newly(&base, &net, &base.replace("name: one", "name: two")).1, [(two, Some(one), true)]);
    let versioned = add("{kind: DaemonSet}");
    let bumped = with("apps/v1", "apps/v2");
    assert_eq!(newly(UPSTREAM, &versioned, &bumped).1, [], "another version is the same document");
}

#[test]
fn one_document_where_a_target_says_more_is_told_in_the_singular() {
    let glob = pin("[name=agent]").replace("name: agent}", "name: 'agent*'}\n    matches: 2");
    let daemon = &UPSTREAM[UPSTREAM.find("---").unwrap()..];
    let two = format!("{UPSTREAM}{}", daemon.replace("name: agent, ", "name: agent-edge, "));
    let (is, message, _) = verdict_from(&two, &glob, UPSTREAM);
    assert_eq!(is, Verdict::Refused);
    assert_eq!(message, "the target means 1 document upstream now, and says exactly 2");
}

#[test]
fn an_appended_item_that_upstream_has_otherwise_is_told_with_upstreams_own() {
    let list = "/spec/template/spec/volumes";
    let ours = "{name: own, emptyDir: {}}";
    let (run, theirs) = ("        - name: run\n", "        - {name: own, hostPath: {path: /own}}\n");
    for end in ["-", "[name=run]"] {
        let add = on_agent(&format!("      - {{op: add, path: '{list}/{end}', value: {ours}}}\n"));
        let [operation] = &operations(&[&add], &with(run, &format!("{theirs}{run}")))[..] else {
            panic!("one is expected")
        };
        assert_eq!(operation.verdict, Verdict::Refused, "{end}");
        assert_eq!(operation.base, None, "{end}");
        assert_eq!(operation.upstream, Some(serde_json::json!({"name": "own", "hostPath": {"path": "/own"}})), "{end}");
        assert_eq!(operation.ours, Some(serde_json::json!({"name": "own", "emptyDir": {}})), "{end}");
    }
}

#[test]
fn of_several_places_of_one_path_the_one_is_told_that_the_operation_does_not_fit() {
    let side = "        - name: side\n          image: example.org/side:1\n          args: [--verbose]\n          env: [{name: A, value: a}]\n";
    let env = "          env: [{name: A, value: a}]\n";
    let two = with("args: [--verbose, --port=53]\n", &format!("args: [--verbose]\n{env}{side}"));
    let of_side = |from: &str, to: &str| two.replace(side, &side.replace(from, to));
    let each = "/spec/template/spec/containers/*";
    let place = "/spec/template/spec/containers/[name=side]";
    let item = serde_json::json!({"name": "B", "value": "theirs"});
    for (operation, newer, verdict, base, upstream, at) in [
        (
            format!("{{op: replace, path: '{each}/env/[name=A]/value', was: a, value: ours}}"),
            of_side("value: a", "value: theirs"),
            Verdict::Refused,
            Some("a".into()),
            Some("theirs".into()),
            Some("/env/[name=A]/value"),
        ),
        (
            format!("{{op: replace, path: '{each}/env/[name=A]/value', value: ours}}"),
            of_side("value: a", "value: theirs"),
            Verdict::UpstreamChanged,
            Some("a".into()),
            Some("theirs".into()),
            Some("/env/[name=A]/value"),
        ),
        (
            format!("{{op: add, path: '{each}/env/-', value: {{name: B, value: ours}}}}"),
            of_side("value: a}", "value: a}, {name: B, value: theirs}"),
            Verdict::Refused,
            None,
            Some(item),
            Some("/env/[name=B]"),
        ),
        (
            format!("{{op: add, path: '{each}/imagePullPolicy', value: ours}}"),
            of_side("          args", "          imagePullPolicy: theirs\n          args"),
            Verdict::Refused,
            None,
            Some("theirs".into()),
            Some("/imagePullPolicy"),
        ),
        (
            format!("{{op: replace, path: '{each}/env/[name=A]/value', value: ours}}"),
            of_side("env: [{name: A, value: a}]", "env: []").replace(env, "          env: [{name: A, value: b}]\n"),
            Verdict::Gone,
            Some("a".into()),
            None,
            None,
        ),
    ] {
        let patch = on_agent(&format!("      - {operation}\n"));
        let update = looked(&project_of(&two, "", &[&patch]), &newer, None).unwrap();
        let [told] = &update.overlays[0].patches[0].operations[..] else { panic!("one is expected") };
        assert_eq!((told.verdict, &told.base, &told.upstream), (verdict, &base, &upstream), "{operation}");
        if let Some(at) = at {
            assert_eq!(told.notes, [format!("It is so for {place}{at}.")], "{operation}");
        }
    }
}

#[test]
fn what_upstream_took_over_is_told_with_what_it_had_and_has() {
    let replace = on_agent("      - {op: replace, path: /spec/template/spec/hostNetwork, value: false}\n");
    let remove = on_agent("      - {op: remove, path: /spec/template/spec/hostNetwork}\n");
    let line = "      hostNetwork: true\n";
    for (patch, newer, verdict, upstream) in [
        (&replace, with("hostNetwork: true", "hostNetwork: false"), Verdict::AlreadyUpstream, Some(false.into())),
        (&remove, with(line, ""), Verdict::Overtaken, None),
    ] {
        let [told] = &operations(&[patch], &newer)[..] else { panic!("one is expected") };
        assert_eq!((told.verdict, &told.base, &told.upstream), (verdict, &Some(true.into()), &upstream));
    }
}

#[test]
fn every_conflict_says_what_to_do() {
    let image = "image: example.org/agent:1.0";
    let with_was = pin("[name=agent]").replace("value:", "was: 'example.org/agent:1.0', value:");
    let broken = on_agent("      - {op: remove, path: /nothing}\n");
    let volume =
        on_agent("      - {op: replace, path: '/spec/template/spec/volumes/[name=bin]/hostPath/path', value: /x}\n");
    let label = on_agent("      - {op: add, path: /metadata/labels, value: {a: ours}}\n");
    let glob = with_was.replace("name: agent}", "name: 'agent*'}");
    let daemon = &UPSTREAM[UPSTREAM.find("---").unwrap()..];
    for (patch, newer, next) in [
        (
            &with_was,
            with(image, "image: example.org/agent:2"),
            "If the patch is still right, write upstream's value into its",
        ),
        (
            &pin("[name=agent]"),
            with(image, "image: example.org/agent:2"),
            "If the patch is still right, --write --accept-conflicts",
        ),
        (&pin("0"), in_front(), "Address it by its key: "),
        (&broken, UPSTREAM.to_owned(), "Mend it before the base follows"),
        (&volume, with("name: bin", "name: plugins"), "Point the path there if"),
        (
            &volume,
            with("      volumes:\n        - name: bin\n          hostPath: {path: /opt/bin}\n", "      volumes:\n"),
            "Correct the path",
        ),
        (
            &label,
            with("{name: agent,", "{labels: {a: theirs}, name: agent,"),
            "Write `op: replace` to put another value",
        ),
        (&pin("[name=agent]"), with("{name: agent, ", "{name: node-daemon, "), "Point the target there if"),
        (&pin("[name=agent]"), UPSTREAM.replace(daemon, ""), "Drop the change, or point the target at"),
        (
            &glob,
            format!("{UPSTREAM}{}", daemon.replace("{name: agent,", "{name: agent-edge,")),
            "Narrow the target, or say with `matches:`",
        ),
    ] {
        let [told] = &operations(&[patch], &newer)[..] else { panic!("one is expected") };
        let said = [&told.notes[..], std::slice::from_ref(&told.next)].concat();
        assert!(said.iter().any(|said| said.starts_with(next)), "{next}: {told:?}");
    }
}
