use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::config::Findings;
use crate::diag::Source;
use crate::patch::resolve::MAX_HITS;
use crate::yaml::load::load_text;

fn patch(operations: &str) -> Patch {
    let text = format!(
        "apiVersion: overlay/v1\nkind: Patch\nname: p\nchanges:\n- target: {{kind: A}}\n  patch:\n{operations}\n"
    );
    let mut findings = Findings::new();
    let patch = Patch::read(&Source::new("p.yaml", text), &mut findings);
    assert_eq!(findings.iter().map(|f| f.message.as_str()).collect::<Vec<_>>(), Vec::<&str>::new());
    patch.unwrap()
}

fn run_on(document: &Value, operations: &str) -> Result<Run, Box<Diagnostic>> {
    let patch = patch(operations);
    Site { patch: &patch, change: 0, resource: "A/one" }.run(document)
}

/// What each operation became, or found done, with the keyed place.
fn steps(document: &Value, operations: &str) -> Vec<String> {
    let run = run_on(document, operations).unwrap();
    let already = run.already.iter().map(|o| format!("already {}", o.keyed));
    let step = |s: &Step| {
        let path = Path::of_keys(&s.path);
        let keyed = if path == s.origin.keyed { String::new() } else { format!(" = {}", s.origin.keyed) };
        match &s.action {
            Action::Add(new) => format!("add {path} {}{keyed}", new.value),
            Action::Replace(new) => format!("replace {path} {}{keyed}", new.value),
            Action::Remove => format!("remove {path}{keyed}"),
        }
    };
    run.steps.iter().map(step).chain(already).collect()
}

/// The finding as `code at keyed-path: message | note | help`, without the note of which operation it is and the help
/// that every path that leads nowhere has.
fn problem(document: &Value, operations: &str) -> String {
    let finding = run_on(document, operations).unwrap_err();
    let mut text = format!("{} at {}: {}", finding.code, finding.path.unwrap_or_default(), finding.message);
    let facts = finding.notes.iter().filter(|n| !n.starts_with("This is operation")).chain(&finding.help);
    let facts = facts.filter(|h| !h.starts_with("Correct the path"));
    facts.for_each(|fact| text = format!("{text} | {fact}"));
    text
}

fn daemon() -> Value {
    load_text(
            "spec:\n  paused: false\n  containers:\n  - name: agent\n    image: a:1\n    args: [--verbose, '-q']\n    ports:\n    \
             - {containerPort: 53, protocol: UDP}\n    - {containerPort: 53}\n  - {name: proxy, image: p:1, args: []}\n  labels:\n",
        )
        .unwrap()
        .value
}

#[test]
fn selectors_become_indices() {
    assert_eq!(
        steps(
            &daemon(),
            "  - {op: replace, path: '/spec/containers/[name=proxy]/image', value: p:2}\n  \
                   - {op: remove, path: '/spec/containers/[name=agent]/args/[=-q]'}\n  \
                   - {op: remove, path: '/spec/containers/0/ports/[containerPort=53,protocol=UDP]'}\n"
        ),
        [
            "replace /spec/containers/1/image \"p:2\" = /spec/containers/[name=proxy]/image",
            "remove /spec/containers/0/args/1 = /spec/containers/[name=agent]/args/[=-q]",
            "remove /spec/containers/0/ports/0 = /spec/containers/0/ports/[containerPort=53,protocol=UDP]",
        ]
    );
}

#[test]
fn a_star_is_every_item_and_removals_go_from_the_last() {
    assert_eq!(
        steps(
            &daemon(),
            "  - {op: replace, path: /spec/containers/*/image, value: x}\n  - {op: remove, path: /spec/containers/*}\n"
        ),
        [
            "replace /spec/containers/0/image \"x\" = /spec/containers/[name=agent]/image",
            "replace /spec/containers/1/image \"x\" = /spec/containers/[name=proxy]/image",
            "remove /spec/containers/1 = /spec/containers/[name=proxy]",
            "remove /spec/containers/0 = /spec/containers/[name=agent]",
        ]
    );
    assert_eq!(
        problem(&daemon(), "  - {op: remove, path: /spec/containers/*/ports}"),
        "path-missing at /spec/containers/*/ports: `/spec/containers/[name=proxy]` has no key `ports` \
             | The keys there are: name, image, args."
    );
    assert_eq!(
        problem(&daemon(), "  - {op: remove, path: /spec/containers/1/args/*}"),
        "path-missing at /spec/containers/1/args/*: `/spec/containers/1/args` is an empty list"
    );
}

#[test]
fn additions_go_before_an_item_or_behind_the_last() {
    assert_eq!(
        steps(
            &daemon(),
            "  - {op: add, path: /spec/containers/-, value: {name: last}}\n  \
                   - {op: add, path: '/spec/containers/[name=proxy]', value: {name: mid}}\n  \
                   - {op: add, path: '/spec/containers/[name=agent]/args/0', value: first}\n  \
                   - {op: add, path: '/spec/containers/[name=proxy]/args/0', value: 1}\n"
        ),
        [
            "add /spec/containers/2 {\"name\":\"last\"} = /spec/containers/[name=last]",
            "add /spec/containers/1 {\"name\":\"mid\"} = /spec/containers/[name=mid]",
            "add /spec/containers/0/args/0 \"first\" = /spec/containers/[name=agent]/args/[=first]",
            "add /spec/containers/2/args/0 1 = /spec/containers/[name=proxy]/args/0",
        ]
    );
}

#[test]
fn what_is_there_already_is_told_and_not_done() {
    assert_eq!(
        steps(
            &daemon(),
            "  - {op: add, path: /spec/paused, value: false}\n  \
                   - {op: replace, path: /spec/paused, value: false, was: true}\n  \
                   - {op: add, path: '/spec/containers/[name=agent]/args/-', value: --verbose}\n  \
                   - {op: add, path: '/spec/containers/0/ports/-', value: {protocol: UDP, containerPort: 53}}\n  \
                   - {op: move, from: /spec/paused, path: /spec/paused}\n"
        ),
        [
            "already /spec/paused",
            "already /spec/paused",
            "already /spec/containers/[name=agent]/args/[=--verbose]",
            "already /spec/containers/0/ports/[containerPort=53,protocol=UDP]",
            "already /spec/paused",
        ]
    );
}

#[test]
fn an_operation_that_changes_nothing_has_a_warning() {
    let patch = patch("  - {op: add, path: /a, value: 1}\n  - {op: add, path: /b, value: 1}\n");
    let site = Site { patch: &patch, change: 0, resource: "A/one" };
    let run = site.run(&json!({"b": 1})).unwrap();
    let finding = site.already_upstream(&run.already[0]);
    assert_eq!(finding.message, "`/b` is as the patch wants it already");
    assert_eq!((finding.severity.as_str(), finding.place.unwrap().line()), ("warning", 8));
    assert_eq!(finding.notes, ["This is operation 2 of 2, `add`."]);
}

#[test]
fn an_addition_over_another_value_is_refused() {
    assert_eq!(
        problem(&daemon(), "  - {op: add, path: /spec/paused, value: true}"),
        "add-over-existing at /spec/paused: `/spec/paused` is there already, with another value \
             | There is `false`. | Write `op: replace` to put another value in its place."
    );
    assert_eq!(
        problem(&daemon(), "  - {op: add, path: '', value: {}}"),
        "add-over-existing at : the document is there already | Write `op: replace` to put another in its place."
    );
    assert_eq!(
        problem(&daemon(), "  - {op: copy, from: /spec/labels, path: /spec/paused}"),
        "add-over-existing at /spec/paused: `/spec/paused` is there already, with another value \
             | There is `false`. | Remove what is there first."
    );
}

#[test]
fn an_item_with_a_known_merge_key_and_other_content_is_refused() {
    assert_eq!(
        problem(&daemon(), "  - {op: add, path: /spec/containers/-, value: {name: proxy, image: p:2}}"),
        "duplicate-item at /spec/containers/[name=proxy]: `/spec/containers` has an item `[name=proxy]` already, with other \
             content | Index 1 is `{\"name\":\"proxy\",\"image\":\"p:1\",\"args\":[]}`. | Change that item: `/spec/containers/[name=proxy]`."
    );
    assert!(
        problem(
            &daemon(),
            "  - {op: add, path: /spec/containers/0/ports/-, value: {containerPort: 53, protocol: TCP, name: x}}"
        )
        .starts_with("duplicate-item")
    );
}

#[test]
fn a_path_that_leads_nowhere_is_told_with_what_to_do() {
    let help = |operation: &str| run_on(&json!({"a": 1}), operation).unwrap_err().help;
    assert_eq!(
        help("  - {op: replace, path: /zzz, value: 1}"),
        ["Correct the path; or write `op: add`, if this is to be new."]
    );
    assert_eq!(
        help("  - {op: remove, path: /zzz}"),
        ["Correct the path; or take the operation out, if upstream no longer has this."]
    );
    assert_eq!(help("  - {op: test, path: /zzz, value: 1}"), ["Correct the path."]);
    assert_eq!(help("  - {op: remove, path: /aa}"), ["Did you mean `a`?"]);
}

#[test]
fn what_differs_of_two_long_values_is_shown() {
    let long = |end: &str| format!("example.org/agent@sha256:{}{end}", "0".repeat(200));
    let operation = format!("  - {{op: replace, path: /a, was: \"{}\", value: x}}", long("1"));
    let finding = run_on(&json!({"a": long("2")}), &operation).unwrap_err();
    assert_eq!(finding.notes[..2], ["Expected: `\"…00000000000000001\"`.", "Actual:   `\"…00000000000000002\"`."]);
}

#[test]
fn what_is_missing_is_told_with_what_is_there() {
    assert_eq!(
        problem(&daemon(), "  - {op: replace, path: '/spec/containers/[name=agent]/imagee', value: x}"),
        "path-missing at /spec/containers/[name=agent]/imagee: `/spec/containers/[name=agent]` has no key `imagee` \
             | The keys there are: name, image, args, ports. | Did you mean `image`?"
    );
    assert_eq!(
        problem(&daemon(), "  - {op: remove, path: '/spec/containers/[name=agnet]'}"),
        "path-missing at /spec/containers/[name=agnet]: `/spec/containers` has no item `[name=agnet]` \
             | The items there are: agent, proxy. | Did you mean `agent`?"
    );
    let rules = json!({"rules": [{"verbs": ["get"]}, {"verbs": ["list"]}]});
    assert_eq!(
        problem(&rules, "  - {op: remove, path: '/rules/[resourceNames=x]'}"),
        "path-missing at /rules/[resourceNames=x]: `/rules` has no item `[resourceNames=x]` \
             | Index 0 is `{\"verbs\":[\"get\"]}`. | Index 1 is `{\"verbs\":[\"list\"]}`."
    );
    assert_eq!(
        problem(&daemon(), "  - {op: remove, path: '/spec/containers/0/args/[=--verbos]'}"),
        "path-missing at /spec/containers/0/args/[=--verbos]: `/spec/containers/0/args` has no item `[=--verbos]` \
             | The items there are: --verbose, -q. | Did you mean `--verbose`?"
    );
    assert_eq!(
        problem(&daemon(), "  - {op: remove, path: /spec/containers/name}"),
        "path-missing at /spec/containers/name: `/spec/containers` is a list, and has no key `name` \
             | The items there are: agent, proxy. | Address an item by index, or by key: `[name=…]`."
    );
    assert_eq!(
        problem(&daemon(), "  - {op: remove, path: /spec/paused/x}"),
        "path-missing at /spec/paused/x: `/spec/paused` is a boolean, and has no key `x`"
    );
    assert_eq!(
        problem(&daemon(), "  - {op: remove, path: '/spec/[name=x]'}"),
        "path-missing at /spec/[name=x]: `/spec` is a mapping, and `[name=x]` means an item of a list \
             | A key that begins with `[` is written with `~2`, the key `*` with `~3`."
    );
}

#[test]
fn a_key_that_is_read_as_another_is_told_as_that() {
    let document = json!({"data": {"x": "1", "true": "2"}});
    assert_eq!(
        problem(&document, "  - {op: replace, path: /data/y, value: z}"),
        "path-missing at /data/y: `/data` has no key `y` | The keys there are: x, true. \
         | A bare `y` is read as the key `true`: write that in the path."
    );
    assert_eq!(
        problem(&document, "  - {op: replace, path: /data/no, value: z}"),
        "path-missing at /data/no: `/data` has no key `no` | The keys there are: x, true."
    );
}

#[test]
fn selectors_compare_texts_and_must_mean_one_item() {
    let document = json!({"l": [{"port": 53}, {"port": "54"}, {"port": "53"}, "x"]});
    assert_eq!(
        problem(&document, "  - {op: remove, path: '/l/[port=53]'}"),
        "selector-ambiguous at /l/[port=53]: 2 items of `/l` are `[port=53]` | Index 0 is `{\"port\":53}`. \
         | Index 2 is `{\"port\":\"53\"}`. | Address the one that is meant by its index."
    );
    let ports =
        json!({"l": [{"port": 53, "to": "a"}, {"port": 53, "to": "b"}, {"port": 53}, {"port": 53}, {"port": 53}]});
    assert_eq!(run_on(&ports, "  - {op: remove, path: '/l/[port=53]'}").unwrap_err().notes[4], "So is 1 more.");
    let two = json!({"l": [{"port": 53, "to": "a"}, {"port": 53, "to": "b"}]});
    assert_eq!(
        run_on(&two, "  - {op: remove, path: '/l/[port=53]'}").unwrap_err().help,
        ["Name one more key of the item that is meant: `[port=53,to=a]`."]
    );
    assert_eq!(steps(&document, "  - {op: remove, path: '/l/[port=54]'}"), ["remove /l/1 = /l/[port=54]"]);
    assert_eq!(steps(&document, "  - {op: remove, path: '/l/[=x]'}"), ["remove /l/3 = /l/[=x]"]);
}

#[test]
fn indices_are_strict() {
    let document = json!({"l": [1, 2], "e": [], "01": 1});
    for (path, expected) in [
        ("/l/2", "path-missing at /l/2: `/l` has 2 items, and no index 2"),
        ("/e/0", "path-missing at /e/0: `/e` is an empty list, and has no index 0"),
        (
            "/l/99999999999999999999999",
            "path-missing at /l/99999999999999999999999: `/l` has 2 items, and no index 18446744073709551615",
        ),
        (
            "/l/01",
            "path-invalid at /l/01: `01` is not an index: `/l` is a list | An index is written 0, 1, 2 …, without a sign or leading zeros.",
        ),
        (
            "/l/-1",
            "path-invalid at /l/-1: `-1` is not an index: `/l` is a list | An index is written 0, 1, 2 …, without a sign or leading zeros.",
        ),
        (
            "/l/-",
            "path-invalid at /l/-: `-` is the place behind the last item of `/l`, where nothing is | Only an operation that adds can end in `-`.",
        ),
    ] {
        assert_eq!(problem(&document, &format!("  - {{op: remove, path: {path}}}")), expected);
    }
    assert_eq!(
        problem(&document, "  - {op: add, path: /l/3, value: 1}"),
        "path-missing at /l/3: `/l` has 2 items, and no index 3"
    );
    assert_eq!(
        steps(&document, "  - {op: add, path: /l/2, value: 3}\n  - {op: remove, path: /01}"),
        ["add /l/2 3", "remove /01"]
    );
    assert_eq!(
        problem(&document, "  - {op: add, path: /l/*, value: 3}"),
        "path-invalid at /l/*: `*` means every item, and one place is wanted here"
    );
}

#[test]
fn the_old_value_guards_an_operation() {
    let document = json!({"n": 1, "m": {"a": [1]}});
    assert_eq!(steps(&document, "  - {op: replace, path: /n, was: 1, value: 2}"), ["replace /n 2"]);
    assert_eq!(steps(&document, "  - {op: test, path: /m, value: {a: [1]}}"), Vec::<String>::new());
    for operation in ["replace, path: /n, was: 3, value: 2", "remove, path: /n, was: 3", "test, path: /n, value: 3"] {
        let finding = run_on(&document, &format!("  - {{op: {operation}}}")).unwrap_err();
        assert_eq!(
            (finding.code, finding.message.as_str()),
            (Code::ValueMismatch, "`/n` is not what the patch expects")
        );
        assert_eq!(finding.notes[..2], ["Expected: `3`.", "Actual:   `1`."]);
        let (place, said) = &finding.related[0];
        assert_eq!((&place.source.text[place.span.clone()], said.as_str()), ("3", "the value that is expected"));
    }
    assert_eq!(
        problem(&document, "  - {op: move, from: /n, was: '1', path: /o}"),
        "value-mismatch at /n: `/n` is not what the patch expects | Expected: `\"1\"`. | Actual:   `1`. \
         | See whether the patch is still right for what is there. If it is, expect the actual value; if not, change \
         or drop the patch."
    );
}

#[test]
fn parents_are_made_where_they_are_asked_for() {
    let document = json!({"a": {"nothing": null}, "l": []});
    assert_eq!(
        problem(&document, "  - {op: add, path: /a/b/c, value: 1}"),
        "parent-missing at /a/b/c: `/a` has no key `b` | The keys there are: nothing. \
             | Add `parents: true` to the operation, if the mappings on the way are to be made."
    );
    assert_eq!(
        problem(&document, "  - {op: add, path: /a/nothing/c, value: 1}"),
        "parent-missing at /a/nothing/c: `/a/nothing` is null, and has no key `c` \
             | Add `parents: true` to the operation, if the mappings on the way are to be made."
    );
    let made = |path: &str| steps(&document, &format!("  - {{op: add, path: {path}, value: 1, parents: true}}"));
    assert_eq!(made("/a/b/c"), [r#"add /a/b {"c":1} = /a/b/c"#]);
    assert_eq!(made("/a/b/c/d"), [r#"add /a/b {"c":{"d":1}} = /a/b/c/d"#]);
    assert_eq!(made("/x"), ["add /x 1"]);
    assert_eq!(made("/a/nothing/c/d"), [r#"replace /a/nothing {"c":{"d":1}} = /a/nothing/c/d"#]);
    assert_eq!(made("/a/nothing/c"), [r#"replace /a/nothing {"c":1} = /a/nothing/c"#]);
    assert_eq!(
        problem(&document, "  - {op: add, path: /a/b/-, value: 1, parents: true}"),
        "parent-missing at /a/b/-: `/a/b` is not there, and `parents` makes mappings only, no lists \
             | Write the list itself, with what is to be in it: `path: /a/b`, `value: [ … ]`."
    );
    for (path, reached) in [("/a/b/0", "/a/b"), ("/a/b/0/c", "/a/b"), ("/a/nothing/0", "/a/nothing")] {
        assert_eq!(
            problem(&document, &format!("  - {{op: add, path: {path}, value: 1, parents: true}}")),
            format!(
                "parent-missing at {path}: `{reached}` is not there, and `parents` makes mappings only, no lists \
                 | Write the list itself, with what is to be in it: `path: {reached}`, `value: [ … ]`. \
                 | If `0` is the key of a mapping, write that: `path: {reached}`, `value: {{\"0\": …}}`."
            )
        );
    }
    assert_eq!(made("/a/b/9000"), [r#"add /a/b {"9000":1} = /a/b/9000"#]);
    assert_eq!(
        problem(&document, "  - {op: add, path: /l/0/b, value: 1, parents: true}"),
        "path-missing at /l/0/b: `/l` is an empty list, and has no index 0"
    );
    assert_eq!(
        problem(&document, "  - {op: add, path: /lx/y, value: 1}"),
        "parent-missing at /lx/y: the document has no key `lx` | The keys there are: a, l. | Did you mean `l`? \
             | Add `parents: true` to the operation, if the mappings on the way are to be made."
    );
}

#[test]
fn an_item_of_a_list_that_is_not_there_asks_for_the_list() {
    let document = json!({"a": {"nothing": null}, "l": [{"name": "i"}]});
    let help = |path: &str| {
        let problem = problem(&document, &format!("  - {{op: add, path: '{path}', value: 1}}"));
        problem.rsplit_once(" | ").unwrap().1.to_owned()
    };
    let list = |path: &str| format!("Write the list itself, with what is to be in it: `path: {path}`, `value: [ … ]`.");
    assert_eq!(help("/a/b/-"), list("/a/b"));
    assert_eq!(help("/a/b/0"), list("/a/b"));
    assert_eq!(help("/l/[name=i]/b/[=x]"), list("/l/[name=i]/b"));
    assert_eq!(help("/a/b/c/[name=x]/value"), list("/a/b/c"));
    assert_eq!(help("/a/nothing/-"), list("/a/nothing"));
    assert_eq!(help("/a/b/c"), "Add `parents: true` to the operation, if the mappings on the way are to be made.");
}

#[test]
fn a_path_that_goes_into_a_text_is_led_there() {
    let document = json!({
        "data": {"a.json": "{\"level\": [1]}", "b.yaml": "level: 1\n", "c.toml": "level = 1\n", "d": "level", "x[": "[1]"},
        "l": [{"name": "i", "text": "{\"a\": 1}"}],
    });
    let help = |operation: &str| problem(&document, operation).rsplit_once(" | ").unwrap().1.to_owned();
    let told = |language: &str, text: &str, word: &str, path: &str| {
        format!(
            "The text is {language}. To edit inside it, write `within: {{path: {text}, as: {word}}}` in the change, and `path: {path}` here."
        )
    };
    assert_eq!(
        help("  - {op: replace, path: /data/a.json/level/0, value: 1}"),
        told("JSON", "/data/a.json", "json", "/level/0")
    );
    assert_eq!(
        help("  - {op: add, path: /data/a.json/level/-, value: 1}"),
        told("JSON", "/data/a.json", "json", "/level/-")
    );
    assert_eq!(help("  - {op: remove, path: /data/b.yaml/level}"), told("YAML", "/data/b.yaml", "yaml", "/level"));
    assert_eq!(help("  - {op: add, path: /data/c.toml/x, value: 1}"), told("TOML", "/data/c.toml", "toml", "/x"));
    assert_eq!(
        help("  - {op: add, path: '/l/[name=i]/text/[a=b]', value: 1}"),
        told("JSON", "'/l/[name=i]/text'", "json", "'/[a=b]'")
    );
    assert_eq!(
        problem(&document, "  - {op: remove, path: /data/d/level}"),
        "path-missing at /data/d/level: `/data/d` is a text, and has no key `level`"
    );
}

#[test]
fn a_selector_behind_a_key_is_set_apart() {
    let document = json!({"spec": {"containers": [{"name": "agent"}]}});
    let told = " | A selector is a segment of its own: `containers/[name=agent]`.";
    for operation in ["op: replace", "op: add"] {
        let problem =
            problem(&document, &format!("  - {{{operation}, path: '/spec/containers[name=agent]/tty', value: true}}"));
        assert!(problem.starts_with("path-missing at ") && problem.ends_with(told), "{problem}");
    }
    let problem = problem(&document, "  - {op: add, path: '/spec/volumes[name=agent]/x', value: true}");
    assert!(
        problem.ends_with("Add `parents: true` to the operation, if the mappings on the way are to be made."),
        "{problem}"
    );
}

#[test]
fn moving_takes_out_and_adds() {
    let document = json!({"l": [1, 2, 3], "m": {"a": 1}});
    assert_eq!(steps(&document, "  - {op: move, from: /l/0, path: /l/2}"), ["remove /l/0", "add /l/2 1"]);
    assert_eq!(steps(&document, "  - {op: copy, from: /m, path: /m/b}"), ["add /m/b {\"a\":1}"]);
    assert_eq!(
        problem(&document, "  - {op: move, from: /m, path: /m/b}"),
        "path-invalid at /m/b: `/m` cannot be moved into itself"
    );
    assert_eq!(
        problem(&document, "  - {op: move, from: /l/*, path: /m/b}"),
        "path-invalid at /l/*: `from` means one place, and `*` means every item"
    );
    assert_eq!(
        problem(&document, "  - {op: remove, path: ''}"),
        "path-invalid at : a document cannot be taken out of itself \
             | To leave the document out, write `delete: true` in place of `patch:`."
    );
    let finding = run_on(&document, "  - op: copy\n    from: /x\n    path: /y\n").unwrap_err();
    assert_eq!((finding.code, finding.place.unwrap().line()), (Code::PathMissing, 8));
}

#[test]
fn what_moves_is_not_lost_in_an_equal_item_and_may_come_back_to_its_place() {
    let list = json!({"l": ["a", "b", "a"], "volumes": [{"name": "v"}], "k": {"volumes": [{"name": "v"}]}});
    assert_eq!(steps(&list, "  - {op: move, from: /l/0, path: /l/-}"), ["remove /l/0", "add /l/2 \"a\" = /l/[=a]"]);
    assert_eq!(steps(&list, "  - {op: move, from: /l/1, path: /l/1}"), ["already /l/1"]);
    assert_eq!(steps(&list, "  - {op: move, from: /l/2, path: /l/-}"), ["already /l/[=a]"]);
    assert_eq!(
        problem(&list, "  - {op: move, from: /volumes/0, path: /k/volumes/-}"),
        "duplicate-item at /k/volumes/[name=v]: `/k/volumes` has an item `[name=v]` already \
         | Index 0 is `{\"name\":\"v\"}`. | Change that item: `/k/volumes/[name=v]`."
    );
}

#[test]
fn a_finding_says_which_operation_of_which_patch_on_what() {
    let operations =
        "  - {op: add, path: /a, value: 2}\n  - {op: remove, path: /spec/paused}\n  - {op: add, path: /b, value: 5}";
    let finding = run_on(&json!({"spec": {"replicas": 1}}), operations).unwrap_err();
    let place = finding.place.unwrap();
    assert_eq!((place.line(), place.column(), &place.source.text[place.span]), (8, 24, "/spec/paused"));
    assert_eq!((finding.patch.as_deref(), finding.resource.as_deref()), (Some("p"), Some("A/one")));
    assert_eq!(finding.notes.last().unwrap(), "This is operation 2 of 3, `remove`.");
}

#[test]
fn each_operation_meets_what_those_before_it_leave() {
    let operations = "  - {op: add, path: /l/0, value: {name: b}}\n  - {op: remove, path: '/l/[name=a]'}\n  \
                          - {op: replace, path: '/l/[name=b]/name', was: b, value: c}\n";
    let run = run_on(&json!({"l": [{"name": "a"}]}), operations).unwrap();
    assert_eq!(run.value, json!({"l": [{"name": "c"}]}));
    assert_eq!(run.steps.iter().map(|s| s.path.join("/")).collect::<Vec<_>>(), ["l/0", "l/1", "l/0/name"]);
}

#[test]
fn a_star_means_as_many_places_as_the_limit_and_no_more() {
    let list = |count: usize| json!({"l": vec![1; count]});
    let operation = "  - {op: test, path: '/l/*', value: 1}\n";
    assert!(run_on(&list(MAX_HITS), operation).is_ok());
    let error = run_on(&list(MAX_HITS + 1), operation).unwrap_err();
    assert_eq!(error.message, "the path means more than 10000 places");
}

#[test]
fn copies_of_copies_end() {
    let copies = |paths: Vec<String>| {
        let operation = |path: &String| format!("  - {{op: copy, from: '', path: {path}}}\n");
        let document = json!({"t": "x".repeat(1000)});
        run_on(&document, &paths.iter().map(operation).collect::<String>()).unwrap_err().message
    };
    let wide = (0..60).map(|i| format!("/k{i}")).collect();
    assert_eq!(copies(wide), "the change would write more than 16 MiB into the document");
    let deep = (0..8).map(|i| "/m".repeat(1 << i)).collect();
    assert_eq!(copies(deep), "what would be written nests deeper than 200 levels");
}

#[test]
fn a_text_within_is_found_by_path() {
    let text = "apiVersion: overlay/v1\nkind: Patch\nname: p\nchanges:\n- target: {kind: A}\n  \
                    within: {path: '/l/[name=x]/text', as: json}\n  patch: [{op: remove, path: /a}]\n";
    let mut findings = Findings::new();
    let patch = Patch::read(&Source::new("p.yaml", text), &mut findings).unwrap();
    let site = Site { patch: &patch, change: 0, resource: "A/one" };
    let document = json!({"l": [{"name": "y"}, {"name": "x", "text": "{}"}]});
    let TextWithin { path: tokens, text: found, .. } = site.text_within(&document).unwrap().unwrap();
    assert_eq!((tokens.join("/").as_str(), found), ("l/1/text", "{}"));
    let finding = site.text_within(&json!({"l": [{"name": "x", "text": 1}]})).unwrap_err();
    assert_eq!(
        (finding.code, finding.message.as_str(), finding.place.unwrap().line()),
        (Code::PathMissing, "`/l/[name=x]/text` is a number and not a text that could be edited inside", 6)
    );
    let error = crate::embedded::read(crate::embedded::Language::Json, "{\n \"a\" 1}").unwrap_err();
    let finding = site.unreadable("{\n \"a\" 1}", &error, None);
    assert_eq!((finding.code, finding.place.unwrap().line()), (Code::EmbeddedUnreadable, 6));
    assert!(finding.message.starts_with("the text at `/l/[name=x]/text` is not JSON: "), "{}", finding.message);
    assert_eq!(finding.notes, ["The mistake is in line 2, column 6 of the text."]);
    assert_eq!(finding.help.len(), 1);
    let toml = site.unreadable("a = 1\n", &error, None);
    assert_eq!(toml.help, ["The text is TOML: write `as: toml`."]);
    let finding = site.run(&json!({"b": 1})).unwrap_err();
    assert_eq!(finding.notes[1], "This is operation 1 of 1, `remove`, inside the text at `/l/[name=x]/text`.");
}

#[test]
fn steps_carry_the_spelling_and_the_comment() {
    let patch = patch("  - op: add\n    path: /a\n    value: 'x'\n    comment: why\n");
    let site = Site { patch: &patch, change: 0, resource: "A/one" };
    let run = site.run(&json!({})).unwrap();
    let change = run.steps[0].as_change(&patch);
    let crate::change::Action::Add(new) = change.action else { panic!() };
    let spelled = new.spelled.unwrap();
    assert_eq!(&spelled.text[spelled.tree.node(spelled.node).span.clone()], "'x'");
    assert_eq!((change.path, new.comment), (&["a".to_owned()][..], Some("why")));
}

#[test]
fn parents_are_spelled_as_blocks_around_the_value_as_it_is_spelled() {
    let patch = patch("  - op: add\n    path: /a/on/c\n    parents: true\n    value:\n      x: 'y'\n      l: [1, 2]\n");
    let run = Site { patch: &patch, change: 0, resource: "A/one" }.run(&json!({})).unwrap();
    assert_eq!(run.value, json!({"a": {"on": {"c": {"x": "y", "l": [1, 2]}}}}));
    let crate::change::Action::Add(new) = run.steps[0].as_change(&patch).action else { panic!() };
    let spelled = new.spelled.unwrap();
    let node = spelled.tree.node(spelled.node);
    assert_eq!(&spelled.text[node.span.clone()], "\"on\":\n  c:\n    x: 'y'\n    l: [1, 2]");
    assert_eq!(load_text(spelled.text).unwrap().value, *new.value);
}

/// An RFC 6902 operation on a small document, its paths plain.
fn any_operation() -> impl Strategy<Value = Value> {
    let path = prop::sample::select(vec![
        "",
        "/a",
        "/b",
        "/l",
        "/l/0",
        "/l/1",
        "/l/2",
        "/l/-",
        "/l/01",
        "/a/x",
        "/a/y",
        "/a/x/z",
        "/l/0/name",
        "/n",
        "/n/q",
    ]);
    let value = prop::sample::select(vec![
        json!(1),
        json!("t"),
        json!({"x": {}}),
        json!([1]),
        json!({"name": "q"}),
        json!(null),
    ]);
    let word = prop::sample::select(vec!["add", "replace", "remove", "move", "copy", "test"]);
    (word, path.clone(), path, value).prop_map(|(word, path, from, value)| match word {
        "remove" => json!({"op": word, "path": path}),
        "move" | "copy" => json!({"op": word, "path": path, "from": from}),
        _ => json!({"op": word, "path": path, "value": value}),
    })
}

fn in_a_patch(operations: &[Value]) -> String {
    operations.iter().map(|o| format!("  - {o}")).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_attempt_goes_on_behind_what_does_not_fit_and_leaves_nothing_of_it() {
    let patch = patch(
        "  - {op: replace, path: /a, value: 2}\n  - {op: move, from: /a, path: /none/b}\n  - {op: replace, path: /c, value: 4}\n  \
         - {op: add, path: /d, value: 5}\n  - {op: replace, path: /a, value: 2}",
    );
    let attempt = Site { patch: &patch, change: 0, resource: "A" }.attempt(&json!({"a": 1}));
    assert_eq!(attempt.run.value, json!({"a": 2, "d": 5}));
    let failed: Vec<_> = attempt.failures.iter().map(|(index, why)| (*index, why.code)).collect();
    assert_eq!(failed, [(1, Code::ParentMissing), (2, Code::PathMissing)]);
    assert_eq!(attempt.run.steps.iter().map(|s| s.origin.operation).collect::<Vec<_>>(), [0, 3]);
    assert_eq!(attempt.run.already.iter().map(|o| o.operation).collect::<Vec<_>>(), [4]);
}

#[test]
fn places_are_every_hit_of_a_path_or_none() {
    let value = json!({"l": [{"name": "a", "x": 1}, {"name": "b", "x": 2}]});
    let found = |path: &str| places(&value, &Path::parse(path).unwrap());
    assert_eq!(found("/l/*/x"), [["l", "0", "x"], ["l", "1", "x"]]);
    assert_eq!(found("/l/[name=b]/x"), [["l", "1", "x"]]);
    assert_eq!(found("/l/[name=c]/x"), [[""; 0]; 0]);
}

proptest! {
    #[test]
    fn what_is_taken_means_what_json_patch_makes_of_it(operations in prop::collection::vec(any_operation(), 1..6)) {
        let document = json!({"a": {"x": {"z": 1}}, "l": [{"name": "i"}, "s"], "n": null});
        let text = in_a_patch(&operations);
        if let Ok(run) = run_on(&document, &text) {
            // An item that is there already is not added again, and `json-patch` would.
            let adds_twice = run.already.iter().any(|o| o.keyed.to_string().starts_with("/l/"));
            let mut expected = document.clone();
            let plain: json_patch::Patch = serde_json::from_value(Value::Array(operations)).unwrap();
            let made = json_patch::patch(&mut expected, &plain);
            prop_assert!(adds_twice || made.is_ok());
            prop_assert!(adds_twice || run.value == expected);
        }
    }

    #[test]
    fn the_steps_alone_lead_to_the_value(operations in prop::collection::vec(any_operation(), 1..6)) {
        let document = json!({"a": {"x": {"z": 1}}, "l": [{"name": "i"}, "s"], "n": null});
        let text = in_a_patch(&operations);
        if let Ok(run) = run_on(&document, &text) {
            let mut value = document;
            for step in &run.steps {
                apply(&mut value, step).unwrap();
            }
            prop_assert_eq!(value, run.value);
        }
    }

    #[test]
    fn any_path_on_any_operation_ends_in_steps_or_a_finding(
        path in "(/(a|l|n|-|0|7|\\*|\\[name=i\\]|\\[=s\\]|\\[q=1\\])){0,4}",
        word in prop::sample::select(vec!["add", "replace", "remove", "test"]),
        parents in any::<bool>(),
    ) {
        let document = json!({"a": {"l": [{"name": "i"}, "s", "s"]}, "l": [{"name": "i"}, "s"], "n": null});
        let value = if word == "remove" { "" } else { ", value: {z: 1}" };
        let parents = if word == "add" { format!(", parents: {parents}") } else { String::new() };
        let outcome = run_on(&document, &format!("  - {{op: {word}, path: '{path}'{value}{parents}}}"));
        if let Err(finding) = outcome {
            prop_assert!(finding.code != Code::Internal, "{}", finding.message);
        }
    }
}
