//! Layers on layers, several bases, Lists, embedded texts and unusual bytes, from the files to the printed bytes. Each
//! result is also proven by `verify`.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may lay out files, and fail")]

#[path = "support/project.rs"]
mod project;

use project::Project;

const BASE: &str = "apiVersion: overlay/v1\nkind: Base\nname: b\nsource: {file: ../up/m.yaml}\n";

/// A patch with these changes, which are the lines of a list.
fn patch(name: &str, changes: &str) -> String {
    let head = format!("apiVersion: overlay/v1\nkind: Patch\nname: {name}\n");
    format!(
        "{head}summary: For the test\nwhy: The test looks at the bytes.\nevidence: [this test]\nchanges:\n{changes}"
    )
}

fn overlay(bases: &str, more: &str) -> String {
    format!("apiVersion: overlay/v1\nkind: Overlay\nname: o\nbases: [{bases}]\n{more}")
}

/// The base `b` of one manifest, locked, and the overlay `o` with one patch on it.
fn one_patch(manifest: &str, changes: &str) -> Project {
    let (overlay, patch) = (overlay("../b", "patches: [p.yaml]\n"), patch("p", changes));
    let files = [("up/m.yaml", manifest), ("b/base.yaml", BASE), ("o/overlay.yaml", &overlay), ("o/p.yaml", &patch)];
    let project = Project::new(files);
    project.output(&["vendor", "b"]);
    project
}

/// What the overlay `o` of a project gives, proven.
fn proven(project: &Project) -> String {
    let built = project.output(&["build", "o"]);
    project.output(&["verify", "o"]);
    built
}

#[track_caller]
fn assert_built(manifest: &str, changes: &str, wanted: &str) {
    assert_eq!(proven(&one_patch(manifest, changes)), wanted);
}

const PAIR: &str = "\
# two of them
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
data: {key: old}   # kept
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: b
  labels: {part: second}
data:
  key:   old
";

const REPLACE_IN_A: &str = "  - target: {kind: ConfigMap, name: a}
    patch:
      - {op: replace, path: /data/key, was: old, value: new}
";

#[test]
fn a_patch_changes_its_line_alone() {
    assert_built(PAIR, REPLACE_IN_A, &PAIR.replace("{key: old}", "{key: new}"));
}

#[test]
fn a_byte_order_mark_stays_when_the_first_document_goes() {
    let delete = "  - target: {kind: ConfigMap, name: a}\n    delete: true\n";
    let second = &PAIR[PAIR.find("---").unwrap()..];
    assert_built(&format!("\u{feff}{PAIR}"), delete, &format!("\u{feff}{second}"));
    assert_built(&format!("\u{feff}---\n{PAIR}"), delete, &format!("\u{feff}{second}"));
}

#[test]
fn a_base_that_is_reached_by_two_ways_is_refused_once_with_both() {
    let project = one_patch(PAIR, REPLACE_IN_A);
    project.write("o/overlay.yaml", &overlay("../low, ../b", "patches: [p.yaml]\n"));
    project.write("low/overlay.yaml", "apiVersion: overlay/v1\nkind: Overlay\nname: low\nbases: [../b]\n");
    let built = project.run(&["build", "o"]);
    assert_eq!((built.exit, built.stdout.as_str()), (Some(1), ""));
    let told = "error[duplicate-document]: the result has ConfigMap/a twice: b is reached by two ways";
    let verified = project.run(&["verify", "o"]);
    assert_eq!(verified.exit, Some(1));
    for text in [&built.stderr, &verified.stdout] {
        assert_eq!(text.matches("error[").count(), 1, "{text}");
        assert!(text.contains(told) && text.contains("One is o → low → b, the other o → b."), "{text}");
        assert!(text.contains("o/overlay.yaml:4:17") && text.contains("low/overlay.yaml:4:9"), "{text}");
        assert!(!text.contains("upstream"), "{text}");
    }
}

#[test]
fn a_target_of_a_resource_that_repeats_a_document_is_not_told_to_match_two() {
    let project = one_patch(PAIR, REPLACE_IN_A);
    project.write("o/overlay.yaml", &overlay("../b", "resources: [own.yaml]\npatches: [p.yaml]\n"));
    project.write("o/own.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {key: old}\n");
    let built = project.run(&["build", "o"]);
    assert_eq!(built.exit, Some(1));
    assert!(built.stderr.contains("the result has ConfigMap/a twice"), "{}", built.stderr);
    assert!(!built.stderr.contains("target-count"), "{}", built.stderr);
    // Of two that are both meant to be there, which one the change is for is still asked.
    project.write("o/own.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: other}\n");
    assert!(project.run(&["build", "o"]).stderr.contains("error[target-count]"));
}

#[test]
fn a_held_file_that_kubectl_cuts_otherwise_is_refused() {
    let project = one_patch(PAIR, REPLACE_IN_A);
    let built = proven(&project);
    project.write("built.yaml", &built);
    project.write("held.yaml", &built.replace("\n---\n", "\r---\n"));
    let verified = project.run(&["verify", "o", "--against", "held.yaml"]);
    assert!(verified.stdout.contains("error[manifest-unreadable]"), "{}", verified.stdout);
    let compared = project.run(&["diff", "built.yaml", "held.yaml"]);
    assert!(compared.stderr.contains("error[manifest-unreadable]"), "{}", compared.stderr);
    assert_eq!((verified.exit, compared.exit), (Some(1), Some(2)));
}

#[test]
fn a_text_that_is_laid_out_anew_after_an_edit_inside_it_is_proven() {
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a.json: |\n    {\"mtu\": 1500,\n     \"n\": 1}\n";
    let target = "  - target: {kind: ConfigMap, name: a}\n";
    let within = format!(
        "{target}    within: {{path: /data/a.json, as: json}}\n    patch: [{{op: replace, path: /mtu, was: 1500, value: 9000}}]\n"
    );
    for whole in [
        "{op: replace, path: /data/a.json, value: '{\"n\": 1, \"mtu\": 9000}'}",
        "{op: replace, path: /data, value: {a.json: '{\"n\": 1, \"mtu\": 9000}'}}",
    ] {
        let project = one_patch(manifest, &format!("{within}{target}    patch:\n      - {whole}\n"));
        let built = proven(&project);
        assert!(built.contains(r#"{"n": 1, "mtu": 9000}"#), "{built}");
        project.write("held.yaml", &built);
        project.output(&["verify", "o", "--against", "held.yaml"]);
        project.write("held.yaml", &built.replace(", ", ",  "));
        let held = project.run(&["verify", "o", "--against", "held.yaml"]);
        assert!(held.stdout.contains("error[undocumented-departure]"), "{}", held.stdout);
    }
}

#[test]
fn a_held_files_text_differs_also_in_comments_and_layout() {
    let texts = [
        ("yaml", "#cloud-config\n    mtu: 1500  # by hand\n    dns: [a, b]", "/mtu"),
        ("toml", "#cloud-config\n    mtu = 1500  # by hand\n    dns = ['a', 'b']", "/mtu"),
        ("json", "{\n      \"mtu\": 1500,\n      \"dns\": [\"a\", \"b\"]\n    }", "/mtu"),
    ];
    for (language, text, path) in texts {
        let manifest =
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a.conf: |\n    {text}\n");
        let change = format!(
            "  - target: {{kind: ConfigMap, name: a}}\n    within: {{path: /data/a.conf, as: {language}}}\n    patch:\n      - {{op: replace, path: {path}, was: 1500, value: 9000}}\n"
        );
        let project = one_patch(&manifest, &change);
        let built = proven(&project);
        assert!(built.contains("9000"));
        project.write("held.yaml", &built);
        project.output(&["verify", "o", "--against", "held.yaml"]);
        // The document may be laid out otherwise, as long as the text is the same.
        project.write("held.yaml", &built.replace("  name: a", "  name: 'a' # c"));
        project.output(&["verify", "o", "--against", "held.yaml"]);
        let edits = [("    #cloud-config\n", ""), ("#cloud-config", "#!cloud-config"), (", ", ",  "), ("[", "[ ")];
        for (old, new) in edits.into_iter().filter(|(old, _)| built.contains(old)) {
            project.write("held.yaml", &built.replace(old, new));
            let held = project.run(&["verify", "o", "--against", "held.yaml"]);
            assert_eq!(held.exit, Some(1), "{language} {old:?}\n{}", held.stdout);
            assert_eq!(
                held.stdout.matches("error[undocumented-departure]: this text is not what").count(),
                1,
                "{}",
                held.stdout
            );
            assert!(held.stdout.contains("= path: /data/a.conf"), "{}", held.stdout);
        }
    }
}

#[test]
fn a_digest_of_the_base_that_is_none_is_told_beside_patches_that_fail_elsewhere() {
    let pod = |name: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  containers:\n  - {{name: c, image: \"r.example/{name}@sha256:0\"}}\n"
        )
    };
    let manifest = format!("{}---\n{}", pod("a"), pod("b"));
    let at = "/spec/containers/[name=c]/image";
    let fails = |was: &str| {
        format!(
            "  - target: {{kind: Pod, name: a}}\n    patch: [{{op: replace, path: \"{at}\", was: {was}, value: r.example/a}}]\n"
        )
    };
    let built = one_patch(&manifest, &fails("other")).run(&["build", "o"]);
    assert!(built.stderr.contains("error[value-mismatch]"), "{}", built.stderr);
    assert!(
        built.stderr.contains("error[digest-malformed]: the digest of the image `r.example/b@"),
        "{}",
        built.stderr
    );
    assert_eq!(built.stderr.matches("error[").count(), 2, "the patch that failed may be about a's\n{}", built.stderr);
    let deleted =
        format!("  - target: {{kind: Pod, name: a}}\n    delete: true\n{}", fails("x").replace("name: a", "name: b"));
    let built = one_patch(&manifest, &deleted.replace("was: x", "unpin: true")).output(&["build", "o"]);
    assert!(built.contains("image: \"r.example/a\""), "{built}");
}

#[test]
fn an_overlay_without_patches_gives_upstreams_bytes() {
    for manifest in [PAIR.to_owned(), PAIR.replace('\n', "\r\n"), format!("\u{feff}{PAIR}"), PAIR.trim_end().to_owned()]
    {
        let project = one_patch(&manifest, REPLACE_IN_A);
        project.write("o/overlay.yaml", &overlay("../b", ""));
        assert_eq!(proven(&project), manifest);
    }
}

#[test]
fn a_document_stays_one_that_kubectl_takes() {
    let built = |operation: &str| {
        let change = format!("  - target: {{kind: ConfigMap, name: b}}\n    patch:\n      - {operation}\n");
        let ran = one_patch(PAIR, &change).run(&["build", "o"]);
        (ran.exit, ran.stderr.lines().next().unwrap_or_default().to_owned())
    };
    let refused = |message: &str| (Some(1), format!("error[path-invalid]: {message}"));
    assert_eq!(
        built("{op: remove, path: /kind}"),
        refused("the document would have no `/kind`, and be none of Kubernetes")
    );
    let no_text =
        |place: &str, value: &str| refused(&format!("`{place}` would be {value}, and kubectl takes a text alone"));
    assert_eq!(built("{op: replace, path: /metadata/name, value: 7}"), no_text("/metadata/name", "7"));
    assert_eq!(built("{op: replace, path: /metadata/name, value: \"7\"}").0, Some(0));
    assert_eq!(built("{op: add, path: /metadata/labels/n, value: 1}"), no_text("/metadata/labels/n", "1"));
    assert_eq!(
        built("{op: add, path: /metadata/annotations, value: {on.example/a~b: true}}"),
        no_text("/metadata/annotations/on.example~1a~0b", "true")
    );
    assert_eq!(built("{op: replace, path: /metadata/labels, value: {part: third}}").0, Some(0));
}

#[test]
fn what_writes_a_name_that_is_no_text_is_pointed_at_and_not_what_is_called_alike() {
    let change = "  - target: {kind: ConfigMap, name: b}\n    patch:\n\
         \u{20}     - {op: add, path: /metadata/namespace, value: 7}\n\
         \u{20}     - {op: replace, path: /metadata/name, value: c}\n";
    let stderr = one_patch(PAIR, change).run(&["build", "o"]).stderr;
    assert!(stderr.contains(" --> o/p.yaml:10:25\n"), "{stderr}");
}

#[test]
fn line_ends_a_byte_order_mark_and_a_missing_final_newline_stay() {
    let patched = PAIR.replace("{key: old}", "{key: new}");
    assert_built(&PAIR.replace('\n', "\r\n"), REPLACE_IN_A, &patched.replace('\n', "\r\n"));
    assert_built(&format!("\u{feff}{PAIR}"), REPLACE_IN_A, &format!("\u{feff}{patched}"));
    assert_built(PAIR.trim_end(), REPLACE_IN_A, patched.trim_end());
}

#[test]
fn a_new_key_at_the_end_of_a_file_without_final_newline_has_none_either() {
    let changes = "  - target: {kind: ConfigMap, name: b}
    patch:
      - {op: add, path: /data/other, value: more}
";
    assert_built(PAIR.trim_end(), changes, &format!("{}\n  other: more", PAIR.trim_end()));
    let crlf = PAIR.replace('\n', "\r\n");
    assert_built(&crlf, changes, &format!("{crlf}  other: more\r\n"));
}

#[test]
fn labels_find_a_document() {
    let changes = "  - target: {labels: {part: second}}
    patch:
      - {op: replace, path: /data/key, was: old, value: new}
";
    assert_built(PAIR, changes, &PAIR.replace("key:   old", "key:   new"));
}

#[test]
fn a_deleted_document_takes_its_marker_along() {
    let changes = "  - target: {kind: ConfigMap, name: b}\n    delete: true\n";
    let (first, _) = PAIR.split_once("---\n").unwrap();
    assert_built(PAIR, changes, first);
}

#[test]
fn an_overlay_stands_on_an_overlay() {
    let project = one_patch(PAIR, REPLACE_IN_A);
    let changes = REPLACE_IN_A.replace("name: a", "name: b").replace("value: new", "value: newer");
    project.write("o/overlay.yaml", &overlay("../below", "patches: [q.yaml]\n"));
    project.write("o/q.yaml", &patch("q", &changes));
    project.write("below/overlay.yaml", &overlay("../b", "patches: [p.yaml]\n"));
    project.write("below/p.yaml", &patch("p", REPLACE_IN_A));
    assert_eq!(proven(&project), PAIR.replace("{key: old}", "{key: new}").replace("key:   old", "key:   newer"));
}

#[test]
fn sixteen_overlays_stand_on_one_another_and_not_one_more() {
    let project = one_patch(PAIR, REPLACE_IN_A);
    project.write("1/overlay.yaml", &overlay("../b", ""));
    for number in 2..=17 {
        project.write(&format!("{number}/overlay.yaml"), &overlay(&format!("../{}", number - 1), ""));
    }
    assert_eq!(project.output(&["build", "16"]), PAIR);
    let ran = project.run(&["build", "17"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.contains("more than 16 overlays stand on one another"), "{}", ran.stderr);
}

#[test]
fn a_later_layer_sees_what_an_earlier_one_wrote() {
    let project = one_patch(PAIR, REPLACE_IN_A);
    let changes = REPLACE_IN_A.replace("was: old, value: new", "was: new, value: newest");
    project.write("o/overlay.yaml", &overlay("../below", "patches: [q.yaml]\n"));
    project.write("o/q.yaml", &patch("q", &changes));
    project.write("below/overlay.yaml", &overlay("../b", "patches: [p.yaml]\n"));
    project.write("below/p.yaml", &patch("p", REPLACE_IN_A));
    assert_eq!(project.output(&["build", "o"]), PAIR.replace("{key: old}", "{key: newest}"));
    let report = project.output(&["verify", "o"]);
    assert!(report.contains("note[overridden]"), "{report}");
}

#[test]
fn several_bases_and_resources_follow_one_another() {
    let project = one_patch(PAIR, REPLACE_IN_A);
    let second = "apiVersion: v1\nkind: Secret\nmetadata: {name: c}\n";
    let own = "apiVersion: v1\nkind: Namespace\nmetadata: {name: lab} # ours\n";
    project.write("up/n.yaml", second);
    project.write("c/base.yaml", &BASE.replace("name: b", "name: c").replace("m.yaml", "n.yaml"));
    project.output(&["vendor", "c"]);
    project.write("o/own.yaml", own);
    project.write("o/overlay.yaml", &overlay("../b, ../c", "resources: [own.yaml]\npatches: [p.yaml]\n"));
    let patched = PAIR.replace("{key: old}", "{key: new}");
    assert_eq!(proven(&project), format!("{patched}---\n{second}---\n{own}"));
}

/// The overlay `o` on the bases `b` and `c`.
fn two_bases(first: &str, second: &str) -> Project {
    let project = one_patch(first, REPLACE_IN_A);
    project.write("up/n.yaml", second);
    project.write("c/base.yaml", &BASE.replace("name: b", "name: c").replace("m.yaml", "n.yaml"));
    project.write("o/overlay.yaml", &overlay("../b, ../c", "patches: []\n"));
    project
}

#[test]
fn a_file_that_ends_in_a_carriage_return_does_not_swallow_the_next() {
    let second = "apiVersion: v1\nkind: Secret\nmetadata: {name: c}\n";
    let one = PAIR.split_once("---\n").unwrap().0;
    for first in [format!("{PAIR}#\r"), one.replace('\n', "\r")] {
        let project = two_bases(&first, second);
        project.output(&["vendor", "c"]);
        assert_eq!(proven(&project), format!("{first}\n---\n{second}"));
    }
}

#[test]
fn a_file_that_begins_with_an_end_is_refused_wherever_it_stands() {
    let second = "# c\n...\napiVersion: v1\nkind: Secret\nmetadata: {name: c}\n";
    let project = two_bases(PAIR, second);
    let ran = project.run(&["vendor", "c"]);
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("error[manifest-unreadable]") && ran.stderr.contains("up/n.yaml:2:1"),
        "{}",
        ran.stderr
    );
    project.write("o/overlay.yaml", &overlay("../b", "resources: [own.yaml]\n"));
    project.write("o/own.yaml", second);
    for command in ["build", "verify"] {
        let ran = project.run(&[command, "o"]);
        assert_eq!(ran.exit, Some(1), "{}", ran.stdout);
        let told = ran.stdout + &ran.stderr;
        assert!(told.contains("error[manifest-unreadable]") && told.contains("o/own.yaml:2:1"), "{told}");
    }
}

#[test]
fn what_only_the_joined_result_hides_from_kubectl_is_refused() {
    let json = r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"j"}}"#;
    let project = two_bases("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n", json);
    project.output(&["vendor", "c"]);
    project.write("o/own.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: lab}\n");
    project.write("o/p.yaml", &patch("p", &delete("a")));
    let joined = |patches: &str| overlay("../b, ../c", &format!("resources: [own.yaml]\npatches: [{patches}]\n"));
    project.write("o/overlay.yaml", &joined(""));
    proven(&project);
    project.write("o/overlay.yaml", &joined("p.yaml"));
    let ran = project.run(&["build", "o"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.contains("error[manifest-unreadable]") && ran.stderr.contains("c/n.yaml:1:1"), "{}", ran.stderr);
}

#[test]
fn a_value_is_spelled_anew_where_kubectl_cannot_read_the_patchs_spelling() {
    let base = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  t: |\n    k: v\n  l:\n    x: z\n";
    let add = |value: &str| {
        format!("  - target: {{name: a}}\n    patch:\n      - {{op: add, path: /data/new, value: {value}}}\n")
    };
    let built = |line: &str| format!("{base}  new: {line}\n");
    assert_built(base, &add(r#""a\/b""#), &built("\"a/b\""));
    assert_built(base, &add(r#""\ud83d\ude00""#), &built("\"\u{1f600}\""));
    assert_built(base, &add(r#"{"a\/b": ["\/"]}"#), &built("{\"a/b\": [\"/\"]}"));
    assert_built(base, &add(r#""\x41\_""#), &built(r#""\x41\_""#));
    let replace =
        "  - target: {name: a}\n    patch:\n      - {op: replace, path: /data/l, value: \"\\/\", was: {x: z}}\n";
    assert_built(base, replace, &base.replace("  l:\n    x: z\n", "  l: \"/\"\n"));
    let inside = "  - target: {name: a}\n    within: {path: /data/t, as: yaml}\n    patch:\n      - {op: add, path: /new, value: \"\\/\"}\n";
    assert_built(base, inside, &base.replace("k: v\n", "k: v\n    new: \"/\"\n"));
}

/// A List of three, of which the second has a comment above it, without those of these names.
fn list_without(names: &[&str]) -> String {
    let item = |name: &str| {
        let comment = if name == "b" { "# the second\n" } else { "" };
        format!("{comment}- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: {name}}}\n  data: {{key: old}}\n")
    };
    let items: String = ["a", "b", "c"].into_iter().filter(|name| !names.contains(name)).map(item).collect();
    format!("apiVersion: v1\nkind: List\nitems:\n{items}")
}

#[test]
fn an_item_of_a_list_is_changed_in_its_place() {
    let changes = REPLACE_IN_A.replace("name: a", "name: b");
    let list = list_without(&[]);
    let (before, after) = list.split_once("name: b}\n  data: {key: old}").unwrap();
    assert_built(&list, &changes, &format!("{before}name: b}}\n  data: {{key: new}}{after}"));
}

fn delete(name: &str) -> String {
    format!("  - target: {{kind: ConfigMap, name: {name}}}\n    delete: true\n")
}

#[test]
fn items_of_a_list_are_deleted_and_the_list_stays() {
    assert_built(&list_without(&[]), &delete("b"), &list_without(&["b"]));
    assert_built(&list_without(&[]), &(delete("a") + &delete("b")), &list_without(&["a", "b"]));
    assert_built(&list_without(&[]), &(delete("c") + &delete("a")), &list_without(&["c", "a"]));
}

#[test]
fn one_change_deletes_several_items_of_a_list() {
    let changes = "  - target: {name: '?'}\n    matches: 2\n    delete: true\n";
    let list = list_without(&[]).replace("name: c", "name: last");
    assert_built(&list, changes, &list_without(&["a", "b"]).replace("name: c", "name: last"));
}

#[test]
fn a_list_that_loses_every_item_is_no_result() {
    let project = one_patch(&list_without(&[]), &(delete("a") + &delete("b") + &delete("c")));
    let ran = project.run(&["build", "o"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.contains("error[result-empty]"), "{}", ran.stderr);
}

#[test]
fn an_item_behind_a_deleted_one_is_still_found_by_its_name() {
    let changes = delete("a") + &REPLACE_IN_A.replace("name: a", "name: c");
    let wanted = list_without(&["a"]);
    let (before, after) = wanted.rsplit_once("{key: old}").unwrap();
    assert_built(&list_without(&[]), &changes, &format!("{before}{{key: new}}{after}"));
}

const TEXTS: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data:
  yaml: |
    # settings
    level:   info # by default
    list: [1,2]
  toml: |
    # settings
    [log]
    level   = \"info\" # by default
  json: '{\"level\":  \"info\"}'
";

/// A change of the level inside a text.
fn within(language: &str, path: &str) -> String {
    format!(
        "  - target: {{name: a}}\n    within: {{path: /data/{language}, as: {language}}}\n    patch:\n      - {{op: replace, path: {path}, was: info, value: debug}}\n"
    )
}

#[test]
fn a_text_inside_a_document_keeps_the_bytes_that_nobody_touches() {
    assert_built(TEXTS, &within("yaml", "/level"), &TEXTS.replace("level:   info", "level:   debug"));
    assert_built(TEXTS, &within("toml", "/log/level"), &TEXTS.replace("= \"info\"", "= \"debug\""));
    assert_built(TEXTS, &within("json", "/level"), &TEXTS.replace(":  \"info\"", ":  \"debug\""));
}

#[test]
fn a_document_that_is_json_stays_json() {
    let base = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"j"},"data":{"x":"old"}}"#;
    let changes = "  - target: {kind: ConfigMap}\n    patch:\n      - {op: add, path: /metadata/annotations/k, value: v, parents: true}\n      - {op: replace, path: /data/x, value: new, was: old}\n";
    let wanted =
        r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"j","annotations":{"k":"v"}},"data":{"x":"new"}}"#;
    assert_built(base, changes, wanted);
}

/// The findings of `verify` but of comments, as `severity[code]: message`.
fn findings(project: &Project, folder: &str) -> Vec<String> {
    let told = project.output(&["verify", folder, "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&told).unwrap();
    let findings = report["overlays"][0]["findings"].as_array().unwrap();
    let findings = findings.iter().filter(|finding| finding["code"] != "comment-kept");
    let text = |finding: &serde_json::Value, key: &str| finding[key].as_str().unwrap().to_owned();
    findings.map(|f| format!("{}[{}]: {}", text(f, "severity"), text(f, "code"), text(f, "message"))).collect()
}

#[test]
fn a_layer_above_may_decide_anew_where_it_says_what_was_there() {
    let project = one_patch(PAIR, REPLACE_IN_A);
    let above = |was: &str| {
        let change = "  - target: {kind: ConfigMap, name: a}\n    patch:\n";
        patch("q", &format!("{change}      - {{op: replace, path: /data/key, {was}value: newer}}\n"))
    };
    let replaced = "overridden]: the patch `q` changes the same place later";
    project.write("top/overlay.yaml", &overlay("../o", "patches: [q.yaml]\n").replace("name: o", "name: top"));
    project.write("top/q.yaml", &above("was: new, "));
    assert_eq!(findings(&project, "top"), [format!("note[{replaced}")]);
    project.write("top/q.yaml", &above(""));
    assert_eq!(findings(&project, "top")[0], format!("warning[{replaced}"));
    project.write("o/q.yaml", &above("was: new, "));
    project.write("o/overlay.yaml", &overlay("../b", "patches: [p.yaml, q.yaml]\n"));
    assert_eq!(findings(&project, "o"), [format!("warning[{replaced}")]);
}

#[test]
fn two_operations_of_one_patch_that_write_one_place_are_told() {
    let changes = format!("{REPLACE_IN_A}      - {{op: replace, path: /data/key, was: new, value: newer}}\n");
    assert_eq!(
        findings(&one_patch(PAIR, &changes), "o"),
        ["warning[overridden]: a later operation of the same patch writes the same place"]
    );
    let in_parts = "  - target: {kind: ConfigMap, name: a}
    patch:
      - {op: add, path: /data/more, value: a}
      - {op: remove, path: /data/key, was: old}
      - {op: add, path: /data/key, value: new}
";
    assert_eq!(findings(&one_patch(PAIR, in_parts), "o"), [""; 0]);
}

#[test]
fn an_image_that_a_patch_leaves_by_tag_on_purpose_is_no_finding() {
    let manifest = "apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - {name: a, image: 'example.org/a:1'}
";
    let changes = |unpin: &str| {
        let path = "/spec/containers/[name=a]/image";
        format!(
            "  - target: {{kind: Pod}}
    patch:
      - {{op: replace, path: '{path}', was: 'example.org/a:1', value: 'example.org/a:2'{unpin}}}
"
        )
    };
    assert_eq!(findings(&one_patch(manifest, &changes(", unpin: true")), "o"), [""; 0]);
    let told = findings(&one_patch(manifest, &changes("")), "o");
    assert_eq!(told, ["warning[image-not-pinned]: the image `example.org/a:2` is not pinned by a digest"]);
}

#[test]
fn a_port_without_protocol_is_found_as_tcp_and_proven() {
    let manifest = "apiVersion: v1
kind: Service
metadata: {name: a}
spec:
  ports:
    - port: 443
    - {port: 443, protocol: UDP}
";
    let changes = "  - target: {kind: Service}
    patch:
      - {op: replace, path: '/spec/ports/[port=443,protocol=TCP]/port', was: 443, value: 8443}
";
    assert_built(manifest, changes, &manifest.replace("- port: 443", "- port: 8443"));
}

#[test]
fn a_departure_in_an_item_of_a_list_is_told_of_the_item() {
    let manifest = "apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: ConfigMap
    metadata: {name: c, namespace: net}
    data: {key: old}
";
    let changes = "  - target: {kind: ConfigMap, name: c}
    patch:
      - {op: replace, path: /data/key, was: old, value: new}
";
    let told = one_patch(manifest, changes).output(&["verify", "o", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&told).unwrap();
    let departure = &report["overlays"][0]["patches"][0]["departures"][0];
    assert_eq!((&departure["resource"], &departure["path"]), (&"ConfigMap/net/c".into(), &"/data/key".into()));
}
