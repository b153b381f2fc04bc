use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::attribute::{DocumentProof, Proof, Standing, attribute};
use super::claims::{Act, Claim};
use crate::diff::{Difference, Document, What};
use crate::embedded::Language;
use crate::patch::path::Path;
use crate::resource::Identity;

fn path(text: &str) -> Path {
    Path::parse(text).unwrap()
}

/// A claim of a patch on the first document, from an operation as a patch file has it.
fn claim(patch: usize, operation: &Value) -> Claim {
    let text = |key: &str| path(operation[key].as_str().unwrap());
    let parents = operation["parents"] == json!(true);
    let value = operation["value"].clone();
    let act = match operation["op"].as_str().unwrap() {
        "add" => Act::Add { path: text("path"), value, parents },
        "replace" => Act::Replace { path: text("path"), value },
        "remove" => Act::Remove { path: text("path") },
        "move" => Act::Move { from: text("from"), path: text("path"), parents },
        "copy" => Act::Copy { from: text("from"), path: text("path"), parents },
        _ => Act::Delete,
    };
    let within = operation.get("within").map(|within| (path(within.as_str().unwrap()), Language::Json));
    Claim { document: 0, patch, change: 0, operation: 0, within, act }
}

/// Each operation as a patch of its own.
fn claims(operations: &Value) -> Vec<Claim> {
    operations.as_array().unwrap().iter().enumerate().map(|(patch, operation)| claim(patch, operation)).collect()
}

fn document(value: &Value) -> Document<'_> {
    Document { identity: Identity::of(value), value }
}

fn prove(base: &Value, operations: &Value, result: &Value) -> Proof {
    attribute(&[document(base)], &claims(operations), &[document(result)])
}

fn only(proof: &Proof) -> &DocumentProof {
    assert_eq!(proof.documents.len(), 1);
    &proof.documents[0]
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

/// The departures, each with its claim before it.
fn departures(proof: &Proof) -> Vec<String> {
    only(proof).departures.iter().map(|d| format!("{} {}", d.claim, line(&d.difference))).collect()
}

fn undocumented(proof: &Proof) -> Vec<String> {
    let line = |u: &super::attribute::Undocumented| {
        let claimed = u.claimed.as_ref().map(|c| format!(" ({} wants {:?})", c.claim, c.wanted));
        format!("{}{}", line(&u.difference), claimed.unwrap_or_default())
    };
    only(proof).undocumented.iter().map(line).collect()
}

fn missing(proof: &Proof) -> Vec<String> {
    only(proof).missing.iter().map(|d| format!("{} {}", d.claim, line(&d.difference))).collect()
}

fn pod() -> Value {
    json!({
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {
            "containers": [{
                "name": "main",
                "image": "example.org/a:1",
                "args": ["-v", "--dir", "/opt"],
                "volumeMounts": [{"name": "bin", "mountPath": "/opt"}, {"name": "run", "mountPath": "/run"}],
            }],
            "tolerations": [{"operator": "Exists", "effect": "NoSchedule"}],
            "volumes": [{"name": "bin", "hostPath": {"path": "/opt"}}, {"name": "run"}],
        },
    })
}

/// The pod with changes at JSON pointers.
fn changed(changes: &[(&str, Value)]) -> Value {
    let mut value = pod();
    for (at, new) in changes {
        *value.pointer_mut(at).unwrap() = new.clone();
    }
    value
}

#[test]
fn every_difference_goes_to_the_patch_that_claims_it() {
    let operations = json!([
        {"op": "replace", "path": "/spec/containers/[name=main]/image", "value": "example.org/a:2"},
        {"op": "replace", "path": "/spec/containers/0/args/[=/opt]", "value": "/var"},
        {"op": "add", "path": "/spec/nodeSelector", "value": {"zone": "a"}},
        {"op": "add", "path": "/spec/volumes/[name=run]", "value": {"name": "new"}},
        {"op": "remove", "path": "/spec/containers/[name=main]/volumeMounts/[name=bin]"},
    ]);
    let mut result = changed(&[
        ("/spec/containers/0/image", json!("example.org/a:2")),
        ("/spec/containers/0/args/2", json!("/var")),
        ("/spec/containers/0/volumeMounts", json!([{"name": "run", "mountPath": "/run"}])),
        ("/spec/volumes", json!([{"name": "bin", "hostPath": {"path": "/opt"}}, {"name": "new"}, {"name": "run"}])),
    ]);
    result["spec"]["nodeSelector"] = json!({"zone": "a"});
    let proof = prove(&pod(), &operations, &result);
    assert!(proof.holds());
    assert_eq!(proof.standings, vec![Standing::Shown; 5]);
    assert_eq!(
        departures(&proof),
        [
            r#"0 ~ /spec/containers/[name=main]/image: "example.org/a:1" -> "example.org/a:2""#,
            r#"1 ~ /spec/containers/[name=main]/args/[=/opt]: "/opt" -> "/var""#,
            r#"4 - /spec/containers/[name=main]/volumeMounts/[name=bin]: {"name":"bin","mountPath":"/opt"}"#,
            r#"3 + /spec/volumes/[name=new]: {"name":"new"}"#,
            r#"2 + /spec/nodeSelector: {"zone":"a"}"#,
        ]
    );
    result["spec"]["hostNetwork"] = json!(true);
    assert_eq!(undocumented(&prove(&pod(), &operations, &result)), ["+ /spec/hostNetwork: true"]);
}

#[test]
fn a_part_that_another_patch_adds_is_its_own() {
    let operations = json!([
        {"op": "add", "path": "/metadata/annotations/a", "value": "1", "parents": true},
        {"op": "add", "path": "/metadata/annotations/b", "value": "2", "parents": true},
        {"op": "add", "path": "/spec/containers/-", "value": {"name": "side", "image": "example.org/s:1"}},
        {"op": "add", "path": "/spec/containers/[name=side]/args", "value": ["x"]},
        {"op": "add", "path": "/spec/containers/[name=side]/args/-", "value": "y"},
    ]);
    let mut result = pod();
    result["metadata"]["annotations"] = json!({"b": "2", "a": "1"});
    let side = json!({"name": "side", "image": "example.org/s:1", "args": ["x", "y"]});
    result["spec"]["containers"].as_array_mut().unwrap().push(side);
    let proof = prove(&pod(), &operations, &result);
    assert!(proof.holds());
    assert_eq!(
        departures(&proof),
        [
            r#"0 + /metadata/annotations: {"a":"1"}"#,
            r#"1 + /metadata/annotations/b: "2""#,
            r#"2 + /spec/containers/[name=side]: {"name":"side","image":"example.org/s:1"}"#,
            r#"3 + /spec/containers/[name=side]/args: ["x"]"#,
            r#"4 + /spec/containers/[name=side]/args/[=y]: "y""#,
        ]
    );
    assert_eq!(proof.standings, vec![Standing::Shown; 5]);
}

#[test]
fn a_later_patch_owns_what_it_overwrites() {
    let operations = json!([
        {"op": "replace", "path": "/spec/containers/0/image", "value": "example.org/a:2"},
        {"op": "replace", "path": "/spec/containers/0/image", "value": "example.org/a:3"},
    ]);
    let result = changed(&[("/spec/containers/0/image", json!("example.org/a:3"))]);
    let proof = prove(&pod(), &operations, &result);
    assert_eq!(proof.standings, [Standing::Overridden(1), Standing::Shown]);
    assert_eq!(proof.overrides.iter().map(|o| (o.claim, o.by)).collect::<Vec<_>>(), [(0, 1)]);
    assert!(proof.holds());
}

#[test]
fn undoing_an_earlier_patch_is_told() {
    let operations = json!([
        {"op": "add", "path": "/spec/nodeSelector", "value": {"a": "1", "b": "2"}},
        {"op": "remove", "path": "/spec/nodeSelector/b"},
        {"op": "remove", "path": "/spec/tolerations"},
        {"op": "add", "path": "/spec/tolerations", "value": [{"operator": "Exists", "effect": "NoSchedule"}]},
    ]);
    let mut result = pod();
    result["spec"]["nodeSelector"] = json!({"a": "1"});
    let proof = prove(&pod(), &operations, &result);
    assert_eq!(departures(&proof), [r#"0 + /spec/nodeSelector: {"a":"1"}"#]);
    assert_eq!(proof.standings, [Standing::Shown, Standing::Undoes(0), Standing::Overridden(3), Standing::Undoes(2)]);
    assert_eq!(proof.overrides.len(), 2);
}

#[test]
fn what_is_there_already_is_no_departure() {
    let operations = json!([
        {"op": "replace", "path": "/spec/containers/0/image", "value": "example.org/a:1"},
        {"op": "add", "path": "/spec/volumes/-", "value": {"name": "run"}},
        {"op": "add", "path": "/spec/hostNetwork", "value": true},
        {"op": "add", "path": "/spec/hostNetwork", "value": true},
    ]);
    let mut result = pod();
    result["spec"]["hostNetwork"] = json!(true);
    let proof = prove(&pod(), &operations, &result);
    assert_eq!(
        proof.standings,
        [Standing::AlreadyUpstream, Standing::AlreadyUpstream, Standing::Shown, Standing::Repeats(2)]
    );
    assert!(proof.holds());
}

#[test]
fn a_claim_that_the_file_lacks_is_missing() {
    let operations = json!([
        {"op": "replace", "path": "/spec/containers/0/image", "value": "example.org/a:2"},
        {"op": "add", "path": "/spec/nodeSelector", "value": {"a": "1"}},
        {"op": "add", "path": "/spec/nodeSelector/b", "value": "2"},
    ]);
    let mut result = pod();
    result["spec"]["nodeSelector"] = json!({"a": "1"});
    let proof = prove(&pod(), &operations, &result);
    assert_eq!(proof.standings, [Standing::Missing, Standing::Shown, Standing::Missing]);
    assert!(undocumented(&proof).is_empty());
    assert_eq!(
        missing(&proof),
        [
            r#"2 + /spec/nodeSelector/b: "2""#,
            r#"0 ~ /spec/containers/[name=main]/image: "example.org/a:1" -> "example.org/a:2""#,
        ]
    );
    assert!(!proof.holds());
}

#[test]
fn another_value_than_the_claimed_one_is_undocumented() {
    let operations = json!([
        {"op": "replace", "path": "/spec/containers/0/image", "value": "example.org/a:2"},
        {"op": "add", "path": "/spec/volumes/-", "value": {"name": "new", "emptyDir": {}}},
    ]);
    let mut result = changed(&[("/spec/containers/0/image", json!("example.org/a:9"))]);
    result["spec"]["volumes"].as_array_mut().unwrap().push(json!({"name": "new", "emptyDir": {"medium": "Memory"}}));
    let proof = prove(&pod(), &operations, &result);
    assert_eq!(
        undocumented(&proof),
        [
            r#"~ /spec/containers/[name=main]/image: "example.org/a:1" -> "example.org/a:9" (0 wants Some(String("example.org/a:2")))"#,
            r#"+ /spec/volumes/[name=new]/emptyDir/medium: "Memory""#,
        ]
    );
    assert!(!proof.holds());
}

#[test]
fn an_item_at_another_place_than_claimed_is_undocumented() {
    let operations = json!([{"op": "add", "path": "/spec/volumes/0", "value": {"name": "new"}}]);
    let mut result = pod();
    result["spec"]["volumes"].as_array_mut().unwrap().push(json!({"name": "new"}));
    let proof = prove(&pod(), &operations, &result);
    assert_eq!(undocumented(&proof), ["> /spec/volumes/[name=new]: 0 -> 2"]);
}

#[test]
fn one_of_several_equal_items_belongs_to_its_claim_wherever_it_is_seen() {
    let base = json!({"args": ["a", "a", "b", "a"]});
    for index in [0, 1, 3] {
        let mut result = base.clone();
        result["args"].as_array_mut().unwrap().remove(index);
        let operations = json!([{"op": "remove", "path": format!("/args/{index}")}]);
        let proof = prove(&base, &operations, &result);
        assert!(proof.holds(), "{index}");
        assert_eq!(proof.standings, [Standing::Shown]);
        assert_eq!(departures(&proof).len(), 1);
    }
}

#[test]
fn moved_items_belong_to_the_claim_that_moved_them() {
    let operations = json!([{"op": "move", "from": "/spec/volumes/1", "path": "/spec/volumes/0"}]);
    let result = changed(&[("/spec/volumes", json!([{"name": "run"}, {"name": "bin", "hostPath": {"path": "/opt"}}]))]);
    let proof = prove(&pod(), &operations, &result);
    assert_eq!(departures(&proof).len(), 1);
    assert!(proof.holds());
}

#[test]
fn an_item_that_gets_another_name_is_one_gone_and_one_new() {
    let operations = json!([
        {"op": "replace", "path": "/spec/volumes/[name=bin]/hostPath/path", "value": "/var"},
        {"op": "replace", "path": "/spec/volumes/[name=bin]/name", "value": "other"},
    ]);
    let result = changed(&[("/spec/volumes/0", json!({"name": "other", "hostPath": {"path": "/var"}}))]);
    let proof = prove(&pod(), &operations, &result);
    assert!(proof.holds());
    assert_eq!(
        departures(&proof),
        [
            r#"1 - /spec/volumes/[name=bin]: {"name":"bin","hostPath":{"path":"/opt"}}"#,
            r#"1 + /spec/volumes/[name=other]: {"name":"other","hostPath":{}}"#,
            r#"0 + /spec/volumes/[name=other]/hostPath/path: "/var""#,
        ]
    );
}

#[test]
fn claims_in_a_text_are_held_against_what_the_text_says() {
    let base = json!({"data": {"conf": "{\"a\": 1, \"l\": [1, 2]}"}});
    let operations = json!([
        {"op": "add", "path": "/b", "value": true, "within": "/data/conf"},
        {"op": "remove", "path": "/l/0", "within": "/data/conf"},
    ]);
    let result = |text: &str| json!({"data": {"conf": text}});
    let proof = prove(&base, &operations, &result("{\n  \"a\": 1,\n \"b\": true, \"l\": [2]}"));
    assert_eq!(departures(&proof), ["1 - /data/conf|/l/[=1]: 1", "0 + /data/conf|/b: true"]);
    assert!(proof.holds());
    let proof = prove(&base, &operations, &result("{\"a\": 7, \"b\": false}"));
    assert_eq!(
        undocumented(&proof),
        ["~ /data/conf|/a: 1 -> 7", "- /data/conf|/l: [1,2]", "+ /data/conf|/b: false (0 wants Some(Bool(true)))",]
    );
    assert_eq!(missing(&proof), ["1 - /data/conf|/l/[=1]: 1"]);
    let proof = prove(&base, &operations, &result("{\"a\": "));
    assert_eq!(undocumented(&proof).len(), 1);
    assert_eq!(missing(&proof).len(), 2);
}

#[test]
fn a_text_that_one_patch_adds_and_another_changes_has_parts_of_both() {
    let base = json!({"data": {}});
    let operations = json!([
        {"op": "add", "path": "/data/conf", "value": "{\"a\": 1}"},
        {"op": "add", "path": "/b", "value": 2, "within": "/data/conf"},
    ]);
    let proof = prove(&base, &operations, &json!({"data": {"conf": "{\"a\": 1, \"b\": 2}"}}));
    assert_eq!(departures(&proof), [r#"0 + /data/conf: "{\"a\": 1, \"b\": 2}""#, "1 + /data/conf|/b: 2"]);
    assert!(proof.holds());
    let proof = prove(&base, &operations, &json!({"data": {"conf": "{\"a\": 1, \"b\": 3}"}}));
    assert!(!proof.holds());
}

#[test]
fn deleted_and_renamed_documents_are_followed() {
    let item = |name: &str, x: u8| json!({"kind": "Secret", "metadata": {"name": name}, "x": x});
    let (a, b, c) = (item("a", 1), item("b", 2), item("c", 1));
    let base = [document(&a), document(&b)];
    let operations = json!([{"op": "replace", "path": "/metadata/name", "value": "c"}]);
    let mut claims = claims(&operations);
    claims.push(Claim { document: 1, patch: 1, act: Act::Delete, ..claims[0].clone() });
    let proof = attribute(&base, &claims, &[document(&c)]);
    assert!(proof.holds());
    let lines: Vec<_> = proof.documents.iter().flat_map(|d| &d.departures).map(|d| line(&d.difference)).collect();
    assert_eq!(lines, [r#"~ /metadata/name: "a" -> "c""#.to_owned(), format!("- : {b}")]);
    let kept = attribute(&base, &claims, &[document(&c), document(&b)]);
    assert_eq!(kept.standings, [Standing::Shown, Standing::Missing]);
    let gone = attribute(&base, &claims[..0], &[document(&b)]);
    assert_eq!(gone.documents[0].undocumented.len(), 1);
    let new = attribute(&base, &[], &[document(&a), document(&b), document(&c)]);
    assert_eq!(new.documents[2].undocumented.len(), 1);
}

#[test]
fn a_claim_that_does_not_fit_says_why() {
    for operation in [
        json!({"op": "remove", "path": "/spec/absent"}),
        json!({"op": "replace", "path": "/spec/volumes/9", "value": 1}),
        json!({"op": "add", "path": "/spec/volumes/-1", "value": 1}),
        json!({"op": "add", "path": "/spec/volumes/01", "value": 1}),
        json!({"op": "add", "path": "/kind", "value": "Job"}),
        json!({"op": "add", "path": "/spec/x/y", "value": 1}),
        json!({"op": "add", "path": "/a", "value": 1, "within": "/kind"}),
        json!({"op": "remove", "path": "/spec/containers/0/volumeMounts/[kind=x]"}),
    ] {
        let proof = prove(&pod(), &json!([operation]), &pod());
        assert!(matches!(&proof.standings[..], [Standing::Misfit(_)]), "{operation}: {:?}", proof.standings);
        assert!(!proof.holds());
    }
}

#[test]
fn every_item_is_claimed_by_a_star() {
    let operations = json!([{"op": "add", "path": "/spec/volumes/*/x", "value": 1}]);
    let mut result = pod();
    for index in 0..2 {
        result["spec"]["volumes"][index]["x"] = json!(1);
    }
    let proof = prove(&pod(), &operations, &result);
    assert_eq!(departures(&proof), ["0 + /spec/volumes/[name=bin]/x: 1", "0 + /spec/volumes/[name=run]/x: 1"]);
    assert!(proof.holds());
}

#[test]
fn the_cost_of_a_proof_grows_with_the_size_and_not_its_square() {
    let took: Vec<Duration> = [500, 1000, 2000]
        .into_iter()
        .map(|n| {
            let text = "x".repeat(900);
            let item = |i: usize| json!({"name": format!("n{i}"), "x": 0, "text": text});
            let base = json!({"list": (0..n).map(item).collect::<Vec<_>>()});
            let operations: Value = (0..n)
                .step_by(10)
                .flat_map(|i| {
                    let added = json!({"op": "add", "path": "/list/0", "value": item(n + i)});
                    [json!({"op": "replace", "path": format!("/list/[name=n{i}]/x"), "value": 1}), added]
                })
                .collect();
            let new = (0..n).step_by(10).rev().map(|i| item(n + i));
            let old = (0..n).map(|i| json!({"name": format!("n{i}"), "x": u8::from(i % 10 == 0), "text": text}));
            let result = json!({"list": new.chain(old).collect::<Vec<_>>()});
            let start = Instant::now();
            let proof = prove(&base, &operations, &result);
            assert!(proof.holds());
            start.elapsed()
        })
        .collect();
    println!("proofs: {took:?}");
    // Each operation looks through its list, so operations times items it is; a tenth of the items are operated on.
    assert!(took[2] < took[0] * 16 * 3 + Duration::from_millis(500), "{took:?}");
}

fn scalars() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::from),
        (0..3i64).prop_map(Value::from),
        "[ab]{0,2}".prop_map(Value::from),
        Just(Value::from("{\"a\": [1, 2]}")),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    scalars().prop_recursive(4, 30, 4, |inner| {
        let key = prop_oneof![Just("name"), Just("a"), Just("b"), Just("env")];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..4)
                .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

/// The pointers of all places but the top, each with whether it is a scalar.
fn places(value: &Value, at: &str, out: &mut Vec<(String, bool)>) {
    let mut child = |key: &str, value: &Value| {
        out.push((format!("{at}/{key}"), !value.is_object() && !value.is_array()));
        places(value, &format!("{at}/{key}"), out);
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| child(key, value)),
        Value::Array(items) => items.iter().enumerate().for_each(|(i, value)| child(&i.to_string(), value)),
        _ => {}
    }
}

/// What a random operation is made of.
type Pick = (u8, prop::sample::Index, prop::sample::Index, Value);

fn picks() -> impl Strategy<Value = Vec<Pick>> {
    let index = any::<prop::sample::Index>;
    prop::collection::vec((0..6u8, index(), index(), values()), 1..5)
}

/// An operation that fits the value. A key that it adds is called by the number.
fn operation(value: &Value, (kind, at, other, new): &Pick, key: usize) -> Option<Value> {
    let mut found = Vec::new();
    places(value, "", &mut found);
    if found.is_empty() {
        return None;
    }
    let at = at.get(&found).0.clone();
    let other = other.get(&found).0.clone();
    let inside = match value.pointer(&other) {
        Some(Value::Object(_)) => format!("{other}/{key}"),
        Some(Value::Array(_)) => format!("{other}/-"),
        _ => return Some(json!({"op": "replace", "path": at, "value": new})),
    };
    Some(match kind {
        0 | 1 => json!({"op": "replace", "path": at, "value": new}),
        2 => json!({"op": "remove", "path": at}),
        3 => json!({"op": "add", "path": inside, "value": new}),
        4 => json!({"op": "copy", "from": at, "path": inside}),
        // What is taken out of a list shifts the places behind it; only the list itself stays where it is.
        _ if other.starts_with(at.rsplit_once('/')?.0)
            && Some(&*other) != at.rsplit_once('/').map(|(list, _)| list) =>
        {
            return None;
        }
        _ => json!({"op": "move", "from": at, "path": inside}),
    })
}

/// Operations that fit one after the other, and the result by `json-patch`, a second opinion. An operation that adds
/// what is there already is left out: this program takes it for done.
fn carried_out(base: &Value, picks: &[Pick]) -> (Vec<Value>, Value) {
    let (mut operations, mut result) = (Vec::new(), base.clone());
    for pick in picks {
        let Some(operation) = operation(&result, pick, operations.len()) else { continue };
        let mut next = result.clone();
        let patch: json_patch::Patch = serde_json::from_value(json!([operation])).unwrap();
        let place = operation["path"].as_str().unwrap();
        if json_patch::patch(&mut next, &patch).is_err() {
            continue;
        }
        let list = place.strip_suffix("/-").and_then(|list| next.pointer(list)).and_then(Value::as_array);
        let is_there = list.and_then(|list| list.split_last()).is_some_and(|(new, others)| others.contains(new));
        if !is_there {
            operations.push(operation);
            result = next;
        }
    }
    (operations, result)
}

proptest! {
    #[test]
    fn what_the_claims_make_is_proven_and_nothing_else(
        base in values(),
        picks in picks(),
        at in any::<prop::sample::Index>(),
    ) {
        let (operations, result) = carried_out(&base, &picks);
        let operations = Value::from(operations);
        let proof = prove(&base, &operations, &result);
        prop_assert!(proof.holds(), "{operations} {result} {proof:#?}");
        let mut scalars = Vec::new();
        places(&result, "", &mut scalars);
        scalars.retain(|(_, is_scalar)| *is_scalar);
        if !scalars.is_empty() {
            let mut mutated = result.clone();
            *mutated.pointer_mut(&at.get(&scalars).0).unwrap() = json!("mutated");
            let proof = prove(&base, &operations, &mutated);
            prop_assert!(!proof.holds(), "{operations} {mutated}");
            prop_assert!(!only(&proof).undocumented.is_empty(), "{operations} {mutated}");
        }
    }
}
