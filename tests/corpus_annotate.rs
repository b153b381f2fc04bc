//! Random patches on every manifest of a corpus: with `--annotate` the result says the same, also to kubectl, and names each
//! patch. `OVERLAY_SHARED` names the folder that holds the corpus.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test reads its corpus, and may fail")]

#[path = "support/annotated.rs"]
mod annotated;
#[path = "support/dice.rs"]
mod dice;
#[path = "support/project.rs"]
mod project;
mod support;

use std::collections::HashMap;

use annotated::{assert_only_comments, project, values};
use dice::Dice;
use serde_json::{Value, json};

/// The operations that could be made in a value, by their pointers; nothing that says what the document is.
fn operations(value: &Value, at: &str, found: &mut Vec<(String, Value)>) {
    let is_identity = ["/apiVersion", "/kind", "/metadata", "/metadata/name", "/metadata/namespace"].contains(&at);
    match value {
        Value::Object(entries) => {
            found.push((
                at.to_owned(),
                json!({"op": "add", "path": format!("{at}/overlayAdded"), "value": "added: text"}),
            ));
            for (key, value) in entries.iter().filter(|(key, _)| !key.starts_with(['[', '*'])) {
                operations(value, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| operations(item, &format!("{at}/{index}"), found));
        }
        Value::String(_) if !is_identity && !at.ends_with("image") => {
            found
                .push((at.to_owned(), json!({"op": "replace", "path": at, "value": "other: text", "note": "it's so"})));
        }
        _ => {}
    }
    if !is_identity && !at.is_empty() {
        found.push((at.to_owned(), json!({"op": "remove", "path": at})));
    }
}

/// Patches of one operation each on some documents of a manifest, none at or below the place of another.
fn random_patches(text: &str, dice: &mut Dice) -> Vec<(String, String)> {
    let name = |value: &Value| {
        let text = |at: &str| value.pointer(at).and_then(Value::as_str).map(str::to_owned);
        Some((text("/kind")?, text("/metadata/name")?, text("/metadata/namespace")))
    };
    let documents = values(text);
    let mut count: HashMap<_, usize> = HashMap::new();
    documents.iter().filter_map(name).for_each(|(kind, name, _)| *count.entry((kind, name)).or_default() += 1);
    let mut patches = Vec::new();
    for _ in 0..12.min(documents.len()) {
        let value = &documents[dice.below(documents.len())];
        let Some((kind, name, _)) =
            name(value).filter(|(kind, name, _)| count.get(&(kind.clone(), name.clone())) == Some(&1))
        else {
            continue;
        };
        count.remove(&(kind.clone(), name.clone()));
        let mut possible = Vec::new();
        operations(value, "", &mut possible);
        let mut taken: Vec<String> = Vec::new();
        for _ in 0..6 {
            let (at, operation) = &possible[dice.below(possible.len())];
            // An item that goes moves those behind it.
            let list = |at: &str| at.rsplit_once('/').map_or(String::new(), |(list, _)| list.to_owned());
            let near = |other: &String| other.starts_with(&list(at)) || at.starts_with(&list(other));
            if at.is_empty() || taken.iter().any(near) {
                continue;
            }
            taken.push(at.clone());
            let change = json!([{"target": {"kind": kind, "name": name}, "patch": [operation]}]);
            patches.push((format!("p{}", patches.len()), format!("  {change}\n")));
        }
    }
    patches
}

/// Builds a manifest under random patches with comments and without, and says how often kubectl compared the two.
fn says_the_same(file: &str, text: &str, kubectl: Option<&support::Kubectl>) -> usize {
    let mut read_by_kubectl = 0;
    let mut dice = Dice(text.len() as u64 | 1);
    let unix = text.replace("\r\n", "\n");
    for text in [unix.clone(), format!("\u{feff}{}", unix.trim_end().replace('\n', "\r\n"))] {
        let patches = random_patches(&text, &mut dice);
        let patches: Vec<(&str, &str)> =
            patches.iter().map(|(name, changes)| (name.as_str(), changes.as_str())).collect();
        let project = project("net.yaml", &text, &patches);
        let built = project.run(&["build", "lab"]);
        assert_eq!(built.exit, Some(0), "{file}: {}", built.stderr);
        let annotated = project.output(&["build", "lab", "--annotate"]);
        for (name, _) in &patches {
            let patch = std::fs::read_to_string(project.path(&format!("lab/patches/{name}.yaml"))).unwrap();
            assert!(
                annotated.contains(&format!("# overlay: {name}")),
                "{file}: nothing names\n{patch}\n{}",
                project.output(&["diff", "lab"])
            );
        }
        assert_only_comments(&annotated, &built.stdout);
        if let Some(kubectl) = kubectl.filter(|_| text.len() < 250_000) {
            // Where a patch brought what no API takes, kubectl reads neither.
            if let Ok(read) = kubectl.read(&built.stdout) {
                assert_eq!(kubectl.read(&annotated), Ok(read), "{file}");
                read_by_kubectl += 1;
            }
        }
    }
    read_by_kubectl
}

#[test]
fn every_manifest_of_the_corpus_says_the_same_with_comments() {
    let (kubectl, manifests) = (support::Kubectl::find(), support::manifests());
    let kubectl = kubectl.as_ref();
    let read_by_kubectl: usize = std::thread::scope(|scope| {
        let run = |(file, text)| scope.spawn(move || says_the_same(file, text, kubectl));
        let running: Vec<_> = manifests.iter().map(|(file, text)| run((file.as_str(), text.as_str()))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert!(manifests.is_empty() || kubectl.is_none() || read_by_kubectl > 4, "kubectl read {read_by_kubectl} of them");
}
