use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn diff(before: &Value, after: &Value) -> Vec<Difference> {
    diff_values(before, after, &|_| None)
}

/// Each difference as a line: `+ path`, `- path`, `~ path: before -> after`, `> path: from -> to`, with the text's
/// path before a `|` for what lies inside one.
fn lines(before: &Value, after: &Value) -> Vec<String> {
    diff(before, after).iter().map(line).collect()
}

fn line(difference: &Difference) -> String {
    let within = difference.within.as_ref().map(|w| format!("{}|", w.path)).unwrap_or_default();
    let path = format!("{within}{}", difference.path);
    match &difference.what {
        What::Added(value) => format!("+ {path}: {value}"),
        What::Removed(value) => format!("- {path}: {value}"),
        What::Replaced { before, after } => format!("~ {path}: {before} -> {after}"),
        What::Moved { from, to } => format!("> {path}: {from} -> {to}"),
    }
}

#[test]
fn the_one_item_of_a_list_is_compared_inside() {
    let policy = |ports: Value| json!({"spec": {"ingress": [{"ports": ports}]}});
    let (before, after) = (policy(json!([{"port": 80}])), policy(json!([{"port": 80}, {"port": 443}])));
    let differences = diff_values(&before, &after, &|_| None);
    let paths: Vec<String> = differences.iter().map(|d| d.path.to_string()).collect();
    assert_eq!(paths, ["/spec/ingress/0/ports/1"]);
}

#[test]
fn mappings_differ_by_key_and_not_by_order() {
    let before = json!({"a": 1, "b": {"c": null, "d": [1]}, "e": "x"});
    assert!(lines(&before, &json!({"e": "x", "b": {"d": [1], "c": null}, "a": 1})).is_empty());
    assert_eq!(
        lines(&before, &json!({"f/": {}, "b": {"d": [1]}, "a": "1", "e": "x"})),
        ["~ /a: 1 -> \"1\"", "- /b/c: null", "+ /f~1: {}"]
    );
    assert_eq!(lines(&json!({"a": []}), &json!({"a": {}})), ["~ /a: [] -> {}"]);
    assert_eq!(lines(&json!(1), &json!(2)), ["~ : 1 -> 2"]);
}

#[test]
fn an_inserted_item_is_one_difference() {
    let before = json!({"spec": {"containers": [{"name": "a", "image": "i"}, {"name": "b", "image": "i"}]}});
    let after = json!({"spec": {"containers": [
        {"name": "new", "image": "i"}, {"name": "a", "image": "i"}, {"name": "b", "image": "other"},
    ]}});
    let found = diff(&before, &after);
    assert_eq!(
        found.iter().map(line).collect::<Vec<_>>(),
        [
            "~ /spec/containers/[name=b]/image: \"i\" -> \"other\"",
            "+ /spec/containers/[name=new]: {\"name\":\"new\",\"image\":\"i\"}",
        ]
    );
    let sides = |found: &Difference| (pointer(found.path.before()), pointer(found.path.after()));
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(sides(&found[0]), (text("/spec/containers/1/image"), text("/spec/containers/2/image")));
    assert_eq!(sides(&found[1]), (None, text("/spec/containers/0")));
}

#[test]
fn what_the_merge_key_leaves_over_is_matched_by_name() {
    let list = |mounts: Value| json!({"containers": [{"name": "c", "volumeMounts": mounts}]});
    let before = list(json!([{"name": "bin", "mountPath": "/opt"}, {"name": "run", "mountPath": "/run"}]));
    let after = list(json!([{"name": "bin", "mountPath": "/var"}, {"name": "run", "mountPath": "/run"}]));
    assert_eq!(
        lines(&before, &after),
        ["~ /containers/[name=c]/volumeMounts/[name=bin]/mountPath: \"/opt\" -> \"/var\""]
    );
    let other = list(json!([{"name": "data", "mountPath": "/data"}, {"name": "run", "mountPath": "/run"}]));
    assert_eq!(
        lines(&before, &other),
        [
            "- /containers/[name=c]/volumeMounts/[name=bin]: {\"name\":\"bin\",\"mountPath\":\"/opt\"}",
            "+ /containers/[name=c]/volumeMounts/[name=data]: {\"name\":\"data\",\"mountPath\":\"/data\"}",
        ]
    );
}

#[test]
fn doubled_keys_are_told_apart_by_what_they_say() {
    let env = |values: &[&str]| json!({"env": values.iter().map(|value| json!({"name": "A", "value": value})).collect::<Vec<_>>()});
    assert_eq!(lines(&env(&["1", "2"]), &env(&["2"])), ["- /env/0: {\"name\":\"A\",\"value\":\"1\"}"]);
    assert_eq!(lines(&env(&["1", "2"]), &env(&["1", "3"])), ["~ /env/1/value: \"2\" -> \"3\""]);
}

#[test]
fn lists_without_a_key_are_matched_by_their_longest_common_run() {
    let args = |args: &[&str]| json!({"args": args});
    assert_eq!(lines(&args(&["-a", "-b", "-c"]), &args(&["-a", "-x", "-c"])), ["~ /args/[=-b]: \"-b\" -> \"-x\""]);
    assert_eq!(lines(&args(&["-a", "-b"]), &args(&["-b"])), ["- /args/[=-a]: \"-a\""]);
    assert_eq!(lines(&args(&["-a", "-a"]), &args(&["-a", "-a", "-a"])), ["+ /args/2: \"-a\""]);
    let tolerations = |list: Value| json!({"tolerations": list});
    let before = tolerations(json!([{"operator": "Exists", "effect": "NoSchedule"}, {"operator": "Exists"}]));
    let after = tolerations(json!([{"operator": "Exists", "effect": "NoExecute"}, {"operator": "Exists"}]));
    assert_eq!(lines(&before, &after), ["~ /tolerations/0/effect: \"NoSchedule\" -> \"NoExecute\""]);
}

#[test]
fn a_change_inside_an_item_without_key_is_told_where_its_fellows_shifted() {
    let rule = |resource: &str, verbs: &[&str]| json!({"apiGroups": [""], "resources": [resource], "verbs": verbs});
    let rules = |rules: &[&Value]| json!({"rules": rules});
    let (pods, nodes) = (rule("pods", &["get"]), rule("nodes", &["get", "list", "watch"]));
    let more = rule("nodes", &["get", "list", "watch", "update"]);
    assert_eq!(
        lines(&rules(&[&pods, &nodes]), &rules(&[&more])),
        [
            "- /rules/0: {\"apiGroups\":[\"\"],\"resources\":[\"pods\"],\"verbs\":[\"get\"]}",
            "+ /rules/1/verbs/[=update]: \"update\""
        ]
    );
    let args = |args: &[&str]| json!({"args": args});
    assert_eq!(
        lines(&args(&["-a", "--mtu=1"]), &args(&["-a", "--mtu=2", "--more"])),
        ["~ /args/[=--mtu=1]: \"--mtu=1\" -> \"--mtu=2\"", "+ /args/[=--more]: \"--more\""]
    );
}

#[test]
fn the_fewest_items_are_said_to_have_moved() {
    let list = |names: &str| {
        let items: Vec<Value> = names.chars().map(|name| json!({"name": name.to_string()})).collect();
        json!({"volumes": items})
    };
    assert_eq!(lines(&list("abcde"), &list("bcdea")), ["> /volumes/[name=a]: 0 -> 4"]);
    assert_eq!(lines(&list("abcde"), &list("aebcd")), ["> /volumes/[name=e]: 4 -> 1"]);
    assert!(lines(&list("abc"), &list("xabc")).iter().all(|line| line.starts_with('+')));
}

#[test]
fn items_without_a_key_that_stand_elsewhere_have_moved() {
    let list = |items: &[&str]| json!({"args": items});
    assert_eq!(lines(&list(&["a", "b", "c", "d"]), &list(&["b", "a", "c", "d"])), ["> /args/[=a]: 0 -> 1"]);
    assert_eq!(lines(&list(&["x", "y"]), &list(&["y", "x"])), ["> /args/[=x]: 0 -> 1"]);
    assert_eq!(
        lines(&list(&["-v", "--mtu=1", "-q"]), &list(&["--mtu=2", "-q", "-v"])),
        ["> /args/[=-v]: 0 -> 2", "~ /args/[=--mtu=1]: \"--mtu=1\" -> \"--mtu=2\""]
    );
    let rule = |resource: &str| json!({"apiGroups": [""], "resources": [resource], "verbs": ["get"]});
    let rules = |rules: &[&str]| json!({"rules": rules.iter().map(|resource| rule(resource)).collect::<Vec<_>>()});
    assert_eq!(lines(&rules(&["pods", "nodes"]), &rules(&["nodes", "pods"])), ["> /rules/0: 0 -> 1"]);
}

#[test]
fn what_is_only_order_in_a_list_without_order_is_known_as_that() {
    let spec = |list: &str, names: &str| {
        let items: Vec<Value> = names.chars().map(|name| json!({"name": name.to_string()})).collect();
        json!({"spec": {"containers": [{"name": "a", list: items}]}})
    };
    let alone = |list: &str| diff(&spec(list, "ab"), &spec(list, "ba")).iter().all(Difference::is_order_alone);
    assert!(alone("volumeMounts"));
    assert!(!alone("env") && !alone("x"));
    assert!(!diff(&spec("volumeMounts", "ab"), &spec("volumeMounts", "a")).iter().any(Difference::is_order_alone));
}

#[test]
fn items_of_a_list_of_resources_are_known_by_identity() {
    let list = |items: Value| json!({"kind": "List", "items": items});
    let item = |kind: &str, name: &str, x: u8| json!({"kind": kind, "metadata": {"name": name}, "x": x});
    let before = list(json!([item("Secret", "a", 1), item("ConfigMap", "a", 1)]));
    let after = list(json!([item("Role", "r", 1), item("Secret", "a", 2), item("ConfigMap", "a", 1)]));
    assert_eq!(
        lines(&before, &after),
        ["~ /items/0/x: 1 -> 2", "+ /items/0: {\"kind\":\"Role\",\"metadata\":{\"name\":\"r\"},\"x\":1}"]
    );
}

#[test]
fn a_difference_in_an_item_of_a_list_is_told_of_the_item() {
    let list = |data: Value| {
        let item =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "n"}, "data": data});
        json!({"apiVersion": "v1", "kind": "List", "items": [item]})
    };
    let (before, after) =
        (list(json!({"a": "1", "x.json": "{\"k\": 1}"})), list(json!({"a": "2", "x.json": "{\"k\": 2}"})));
    let told: Vec<String> = diff(&before, &after)
        .iter()
        .filter_map(|d| d.of_list_item(Some(&before), Some(&after)))
        .map(|(item, seen)| format!("{item} {}", line(&seen)))
        .collect();
    assert_eq!(told, ["ConfigMap/n/c ~ /data/a: \"1\" -> \"2\"", "ConfigMap/n/c ~ /data/x.json|/k: 1 -> 2"]);
    let renamed = json!({"kind": "List", "items": [], "metadata": {"name": "no list of resources"}});
    let found = diff(&renamed, &before);
    assert!(found.iter().all(|d| d.of_list_item(Some(&renamed), Some(&before)).is_none()));
}

#[test]
fn embedded_texts_are_compared_inside() {
    let document = |text: &str| json!({"data": {"conf.json": text}});
    let before = document("{\"a\": 1, \"l\": [{\"name\": \"x\", \"v\": 1}]}\n");
    let after = document("{\n  \"l\": [{\"v\": 2, \"name\": \"x\"}],\n  \"a\": 1, \"b\": true}\n");
    assert_eq!(lines(&before, &after), ["~ /data/conf.json|/l/[name=x]/v: 1 -> 2", "+ /data/conf.json|/b: true"]);
    let found = diff(&before, &after);
    assert_eq!(found[0].within.as_ref().map(|w| w.language), Some(Language::Json));
}

#[test]
fn an_embedded_text_in_another_layout_is_another_string() {
    let document = |text: &str| json!({"data": {"conf.json": text}});
    let found = diff(&document("{\"a\": 1}"), &document("{\"a\":1}"));
    assert_eq!(found.len(), 1);
    assert!(found[0].within.is_none());
    assert_eq!(line(&found[0]), r#"~ /data/conf.json: "{\"a\": 1}" -> "{\"a\":1}""#);
    assert_eq!(diff(&document("{\"a\": 1}"), &document("{\"a\": ")).len(), 1);
}

#[test]
fn the_ending_of_a_key_names_the_language() {
    let document = |key: &str, text: &str| json!({"data": {key: text}});
    let lines = |key: &str, before: &str, after: &str| lines(&document(key, before), &document(key, after));
    assert_eq!(lines("c.yaml", "a: 1\nb: 2\n", "b: 2\na: 3\n"), ["~ /data/c.yaml|/a: 1 -> 3"]);
    assert_eq!(lines("c.toml", "a = 1\n[t]\nb = 2\n", "a = 1\n[t]\nb = 4\n"), ["~ /data/c.toml|/t/b: 2 -> 4"]);
    assert_eq!(lines("c.txt", "a: 1\n", "a: 2\n"), [r#"~ /data/c.txt: "a: 1\n" -> "a: 2\n""#]);
}

#[test]
fn a_language_can_be_named_by_place() {
    let (before, after) = (json!({"data": {"conf": " [1, 2]"}}), json!({"data": {"conf": "[1]"}}));
    let known = |at: &[At<'_>]| (at == [At::Key("data"), At::Key("conf")]).then_some(Language::Json);
    assert_eq!(diff_values(&before, &after, &known)[0].path.to_string(), "/[=2]");
}

fn scalars() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..4i64).prop_map(Value::from),
        "[ab]{0,2}".prop_map(Value::from),
        Just(Value::from("{\"a\": [1, 2]}")),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    scalars().prop_recursive(4, 40, 5, |inner| {
        let key = prop_oneof![Just("name"), Just("a"), Just("b/~"), Just("env"), Just("containers"), Just("[x")];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..5)
                .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

/// The JSON pointers of all scalars.
fn scalar_places(value: &Value, at: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            scalar_places(value, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), out);
        }),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| scalar_places(value, &format!("{at}/{index}"), out));
        }
        _ => out.push(at.to_owned()),
    }
}

fn pointer(side: Option<Vec<At<'_>>>) -> Option<String> {
    let step = |at: &At<'_>| match at {
        At::Key(key) => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        At::Index(index) => format!("/{index}"),
    };
    side.map(|steps| steps.iter().map(step).collect())
}

/// Holds what a difference says against the two values.
fn is_true_of(difference: &Difference, before: &Value, after: &Value) -> bool {
    let place = difference.within.as_ref().map_or(&difference.path, |within| &within.path);
    let old = pointer(place.before()).and_then(|at| before.pointer(&at));
    let new = pointer(place.after()).and_then(|at| after.pointer(&at));
    if difference.within.is_some() {
        return old.is_some_and(Value::is_string) && new.is_some_and(Value::is_string) && old != new;
    }
    match &difference.what {
        What::Added(value) => old.is_none() && new == Some(value),
        What::Removed(value) => old == Some(value) && new.is_none(),
        What::Replaced { before, after } => old == Some(before) && new == Some(after) && before != after,
        What::Moved { .. } => old.is_some() && new.is_some(),
    }
}

proptest! {
    #[test]
    fn equal_values_do_not_differ(value in values()) {
        prop_assert_eq!(diff(&value, &value), []);
    }

    #[test]
    fn different_values_differ_and_every_difference_is_true(before in values(), after in values()) {
        let found = diff(&before, &after);
        prop_assert_eq!(found.is_empty(), before == after);
        for difference in &found {
            prop_assert!(is_true_of(difference, &before, &after), "{}", line(difference));
        }
    }

    #[test]
    fn a_changed_scalar_is_found_where_it_is(before in values(), pick in any::<prop::sample::Index>()) {
        let mut places = Vec::new();
        scalar_places(&before, "", &mut places);
        prop_assume!(!places.is_empty());
        let place = pick.get(&places);
        let mut after = before.clone();
        *after.pointer_mut(place).unwrap() = Value::from("changed");
        let found = diff(&before, &after);
        prop_assert!(!found.is_empty());
        // In a list the items may be told apart by what changed; the difference then is the item's.
        let bound = place.split('/').take_while(|step| step.parse::<usize>().is_err()).collect::<Vec<_>>().join("/");
        for difference in &found {
            let at = pointer(difference.path.before().or(difference.path.after())).unwrap_or_default();
            prop_assert!(at.starts_with(&bound), "{at} is outside {place}");
        }
        if bound == *place {
            prop_assert_eq!(found.len(), 1);
        }
    }
}

/// A list of `n` items of about a kilobyte, the third part of them changed in one way or another.
fn large(n: usize, keyed: bool) -> (Value, Value) {
    let item = |i: usize, x: usize| {
        let text = "x".repeat(900);
        if keyed { json!({"name": format!("n{i}"), "x": x, "t": text}) } else { json!({"k": i % 7, "x": x, "t": text}) }
    };
    let before: Vec<Value> = (0..n).map(|i| item(i, i)).collect();
    let after: Vec<Value> = (0..n).rev().filter(|i| i % 5 != 0).map(|i| item(i, i + usize::from(i % 3 == 0))).collect();
    (json!({"list": before}), json!({"list": after}))
}

#[test]
fn the_cost_grows_with_the_size_and_not_its_square() {
    for keyed in [true, false] {
        let took: Vec<Duration> = [500, 1000, 2000]
            .into_iter()
            .map(|n| {
                let (before, after) = large(n, keyed);
                let start = Instant::now();
                assert!(!diff(&before, &after).is_empty());
                start.elapsed()
            })
            .collect();
        println!("keyed {keyed}: {took:?}");
        assert!(took[2] < took[0] * 4 * 4 + Duration::from_millis(500), "{took:?}");
    }
}

#[test]
fn the_items_of_a_list_are_counted_once_however_many_differ() {
    let list = |value: &str| -> Value { (0..2000).map(|n| json!({"name": n, "value": value})).collect() };
    let (before, after) = (json!({"l": list("a")}), json!({"l": list("b")}));
    let counted = learned::during(|| assert_eq!(diff(&before, &after).len(), 2000));
    assert_eq!(counted, 2000);
}

#[test]
fn a_place_is_followed_through_items_that_moved_or_were_renamed_and_no_further_than_it_is_there() {
    let before = json!({"volumeMounts": [{"name": "a", "mountPath": "/a"}, {"name": "b", "mountPath": "/b", "x": 1}]});
    let after = json!({"volumeMounts": [{"name": "c", "mountPath": "/b"}, {"name": "a", "mountPath": "/a"}]});
    let followed = |path: &str| -> String {
        let path: Vec<String> = path.split('/').map(str::to_owned).collect();
        follow(&before, &after, &path).join("/")
    };
    assert_eq!(followed("volumeMounts/0/mountPath"), "volumeMounts/1/mountPath");
    assert_eq!(followed("volumeMounts/1/name"), "volumeMounts/0/name");
    assert_eq!(followed("volumeMounts/1/x"), "volumeMounts/0");
    assert_eq!(followed("volumeMounts/2"), "volumeMounts");
    assert_eq!(followed("other/0"), "");
}
