//! Adopts every manifest of the corpus after random edits, and reads what comes of it.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may read files, and fail")]

#[path = "support/dice.rs"]
mod dice;
#[path = "support/project.rs"]
mod project;
mod support;

use std::collections::BTreeSet;

use dice::Dice;
use overlay::config::Findings;
use overlay::diag::Source;
use overlay::layer::digest;
use overlay::layer::manifest;
use project::Project;
use serde_json::{Value, json};

/// Changes a document in one random place below what tells its identity.
fn edit(value: &mut Value, dice: &mut Dice, number: usize) {
    let mut at = value;
    let mut depth = 0;
    loop {
        depth += 1;
        let stop = depth > 3 && dice.below(3) == 0;
        match at {
            Value::Object(map) => {
                let keys: Vec<String> = map
                    .keys()
                    .filter(|key| !["apiVersion", "kind", "metadata"].contains(&key.as_str()))
                    .cloned()
                    .collect();
                if keys.is_empty() || stop {
                    map.insert(format!("added-{number}"), json!({"name": "x", "on": "yes", "n": [number]}));
                    return;
                }
                let key = &keys[dice.below(keys.len())];
                if depth > 2 && dice.below(5) == 0 {
                    map.shift_remove(key);
                    return;
                }
                at = map.get_mut(key).unwrap();
            }
            Value::Array(items) => {
                let index = dice.below(items.len() + 1);
                match dice.below(4) {
                    _ if items.is_empty() => items.push(json!(format!("item-{number}"))),
                    0 => items.insert(index, json!({"name": format!("item-{number}"), "value": "0755"})),
                    1 => drop(items.remove(index.min(items.len() - 1))),
                    2 => {
                        let item = items.remove(index.min(items.len() - 1));
                        let to = dice.below(items.len() + 1);
                        items.insert(to, item);
                    }
                    _ => {
                        let last = items.len() - 1;
                        at = items.get_mut(index.min(last)).unwrap();
                        continue;
                    }
                }
                return;
            }
            scalar => {
                *scalar = json!(format!("edited {number}: yes"));
                return;
            }
        }
    }
}

/// Findings of a report: the codes of its errors, each once, and how many departures belong to no patch.
fn judged(report: &str) -> (BTreeSet<String>, usize) {
    let report: Value = serde_json::from_str(report).unwrap();
    let overlay = &report["overlays"][0];
    let findings = overlay["findings"].as_array().unwrap().iter();
    let errors = findings.filter(|finding| finding["severity"] == "error");
    let codes = errors.map(|finding| finding["code"].as_str().unwrap().to_owned()).collect();
    let missing = overlay["against"]["missing"].as_array().map_or(0, Vec::len);
    (codes, overlay["undocumented"].as_array().unwrap().len() + missing)
}

/// The content digests of a manifest's documents, in order.
fn digests(text: &str) -> Vec<String> {
    let source = Source::new("manifest", text);
    let entries = manifest::read(&source, &mut Findings::new()).unwrap();
    entries.iter().map(|entry| digest::content(&entry.value)).collect()
}

/// Adopts a copy of the base with so many edits, and holds what comes of it against the copy.
fn round_trip(project: &Project, documents: &[Value], name: &str, edits: usize) {
    let mut dice = Dice::new(&format!("{name} {edits}"));
    let mut copy = documents.to_vec();
    for number in 0..edits {
        let document = dice.below(copy.len());
        edit(&mut copy[document], &mut dice, number);
    }
    let copy = copy.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    project.write("copy.json", &copy);
    let overlay = format!("overlays/e{edits}");
    let adopted = project.run(&["adopt", "copy.json", "--base", "base/b", "--to", &overlay]);
    assert_eq!(adopted.exit, Some(0), "{name}, {edits} edits: {}", adopted.stderr);

    let built = project.output(&["build", &overlay]);
    assert_eq!(digests(&built), digests(&copy), "{name}, {edits} edits");
    let equal = project.run(&["diff", &overlay, "copy.json"]);
    assert_eq!(equal.exit, Some(0), "{name}, {edits} edits: {}", equal.stdout);
    // Every reason is still to be written, and that is all that is wrong.
    let todo = BTreeSet::from(["patch-undocumented".to_owned()]);
    let verified = project.run(&["verify", &overlay, "--format", "json"]);
    assert_eq!(judged(&verified.stdout), (todo, 0), "{name}, {edits} edits");
    let against = project.run(&["verify", &overlay, "--against", "copy.json", "--format", "json"]);
    assert_eq!(judged(&against.stdout), (BTreeSet::new(), 0), "{name}, {edits} edits, against the copy");
}

/// Makes a base of a manifest, and adopts copies of it with ever more edits.
fn round_trips(name: &str, text: &str) {
    let base = "apiVersion: overlay/v1\nkind: Base\nname: b\nsource:\n  file: ../../upstream.yaml\n";
    let project = Project::new([("base/b/base.yaml", base), ("upstream.yaml", text)]);
    project.output(&["vendor", "base/b"]);
    let source = Source::new(name.to_owned(), text.to_owned());
    let entries = manifest::read(&source, &mut Findings::new()).unwrap();
    let documents: Vec<Value> = entries.into_iter().map(|entry| entry.value).collect();
    for edits in [1, 5, 20] {
        round_trip(&project, &documents, name, edits);
    }
}

#[test]
fn every_manifest_makes_the_round_trip_after_random_edits() {
    let manifests = support::manifests();
    std::thread::scope(|scope| {
        for (name, text) in &manifests {
            scope.spawn(|| round_trips(name, text));
        }
    });
}
