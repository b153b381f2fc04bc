//! Adopts every manifest of the corpus after random edits, and reads what comes of it.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may read files, and fail")]

mod support;

use std::collections::HashSet;
use std::sync::Arc;

use overlay::adopt::{Adoption, adopt};
use overlay::build;
use overlay::config::Findings;
use overlay::diag::Source;
use overlay::layer::digest;
use overlay::layer::manifest;
use overlay::layer::plan::{Plan, Planned, Scoped};
use overlay::patch::Patch;
use overlay::yaml::stream;
use serde_json::{Value, json};

/// Numbers from a fixed seed (Marsaglia's xorshift).
struct Dice(u64);

impl Dice {
    fn new(seed: &str) -> Dice {
        Dice(seed.bytes().fold(0x9E37_79B9_7F4A_7C15, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3)) | 1)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit).unwrap()).unwrap()
    }
}

/// The documents of a manifest as a plan without patches.
fn plan(source: &Arc<Source>) -> Plan {
    let mut plan = Plan { files: vec![Arc::clone(source)], ..Plan::default() };
    let mut identities = manifest::read(source, &mut Findings::new()).unwrap().into_iter().map(|e| e.identity);
    for piece in stream::split(&source.text) {
        let own = piece.marker.map_or(piece.range.start, |m| m.start)..piece.range.end;
        let identity = if piece.content { identities.next() } else { None };
        plan.documents.push(Planned { file: 0, range: piece.range, own, identity });
    }
    plan
}

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

#[test]
fn every_manifest_is_adopted_after_random_edits_and_builds_the_copy() {
    for (name, text) in support::manifests() {
        let base = Source::new(name.clone(), text);
        let documents: Vec<Value> =
            manifest::read(&base, &mut Findings::new()).unwrap().into_iter().map(|e| e.value).collect();
        for edits in [1, 5, 20] {
            let mut dice = Dice::new(&format!("{name} {edits}"));
            let mut copy = documents.clone();
            for number in 0..edits {
                let document = dice.below(copy.len());
                edit(&mut copy[document], &mut dice, number);
            }
            let file = copy.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
            let file = Source::new("copy.json", file);
            let mut findings = Findings::new();
            let adoption = Adoption { plan: plan(&base), before: &base, file: &file, taken: HashSet::new() };
            let adopted = adopt(adoption, &mut findings);
            let adopted = adopted.unwrap_or_else(|| panic!("{name}, {edits} edits: {findings:?}"));
            let mut plan = plan(&base);
            for patch in &adopted.patches {
                let patch = Patch::read(&Source::new(patch.path.clone(), patch.text.clone()), &mut findings).unwrap();
                plan.patches.push(Scoped { patch: Arc::new(patch), scope: 0..plan.documents.len() });
            }
            let built = build::build(&plan, &[], &mut findings).unwrap();
            let result = manifest::read(&Source::new("result", built.text), &mut findings).unwrap();
            let digests = |values: Vec<&Value>| values.into_iter().map(digest::content).collect::<Vec<_>>();
            assert_eq!(
                digests(result.iter().map(|e| &e.value).collect()),
                digests(copy.iter().collect()),
                "{name}, {edits} edits"
            );
        }
    }
}
