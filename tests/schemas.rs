//! Holds the schemas and the readers of our files together: every good file of this repository fits its schema, and
//! both know the same keys at every place.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may read the project's files, and fail")]

#[path = "support/project.rs"]
mod project;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use overlay::config::Findings;
use overlay::diag::{Code, Source};
use overlay::layer::base::Base;
use overlay::layer::lock::Lock;
use overlay::layer::overlay::Overlay;
use overlay::layer::root::{Located, Root};
use overlay::patch::Patch;
use overlay::schema::Schema;
use overlay::yaml::load::load_text;
use project::Project;
use serde_json::Value;

fn validator(schema: Schema) -> Validator {
    jsonschema::draft7::new(&serde_json::from_str(schema.text()).unwrap()).unwrap()
}

fn schema_of(kind: &str) -> Option<Schema> {
    Schema::ALL.into_iter().find(|schema| schema.to_string() == kind)
}

/// Every YAML file of ours in this repository, and every example of one in the documentation.
fn files_of_ours() -> Vec<(String, String)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut open: Vec<PathBuf> = ["base", "overlays", "tests", "docs"].iter().map(|folder| top.join(folder)).collect();
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.strip_prefix(top).unwrap().display().to_string();
            let extension = path.extension().unwrap_or_default().to_owned();
            if path.is_dir() {
                open.push(path);
            } else if path.is_file() && (extension == "yaml" || extension == "yml" || extension == "lock") {
                found.extend(fs::read_to_string(path).ok().map(|text| (name, text)));
            } else if extension == "md" {
                let text = fs::read_to_string(path).unwrap();
                let blocks =
                    text.split("\n```yaml\n").skip(1).map(|rest| rest.split("\n```").next().unwrap().to_owned());
                found.extend(blocks.map(|block| (name.clone(), block)));
            }
        }
    }
    found.sort();
    found
}

/// Whether the reader takes a file. Paths that an overlay names are its folder's business, and not the schema's.
fn is_taken(schema: Schema, name: &str, text: &str) -> bool {
    let source = Source::new(name, text);
    let mut findings = Findings::new();
    let root = Project::new([]);
    let folder = Located { path: root.path(""), name: String::new() };
    match schema {
        Schema::Patch => Patch::read(&source, &mut findings).is_some(),
        Schema::Lock => Lock::read(&source, &mut findings).is_some(),
        Schema::Base => Base::read(&folder, source, &mut findings).is_some() && !findings.has_errors(),
        Schema::Overlay => overlay_findings(text).iter().all(|f| f.code != Code::Syntax && f.code != Code::UnknownKey),
    }
}

fn overlay_findings(text: &str) -> Vec<overlay::diag::Diagnostic> {
    let project = Project::new([("overlay.yaml", text)]);
    let folder = fs::canonicalize(project.path("")).unwrap();
    let root = Root::find(&folder, None, &folder).unwrap();
    let mut findings = Findings::new();
    Overlay::load(&root, &root.located(folder), &mut findings);
    findings.into_vec()
}

#[test]
fn every_file_that_a_reader_takes_fits_its_schema() {
    let mut seen = BTreeSet::new();
    let mut complaints = Vec::new();
    for (name, text) in files_of_ours() {
        let Ok(loaded) = load_text(&text) else { continue };
        let ours = loaded.value["apiVersion"] == "overlay/v1";
        let Some(schema) = loaded.value["kind"].as_str().and_then(schema_of).filter(|_| ours) else { continue };
        // A patch of an example lies in no file, and so has any name.
        let file = loaded.value["name"].as_str().map(|name| format!("{name}.yaml")).unwrap_or_default();
        if !is_taken(schema, &file, &text) {
            continue;
        }
        seen.insert(schema.to_string());
        complaints.extend(validator(schema).iter_errors(&loaded.value).map(|error| format!("{name}: {error}")));
    }
    assert!(complaints.is_empty(), "{complaints:#?}");
    assert_eq!(seen, ["Base", "Lock", "Overlay", "Patch"].map(str::to_owned).into());
}

/// A lock of one file, with these keys beside the digests of upstream's bytes.
fn lock_with(rest: &str) -> String {
    let (sha256, blob) = ("a".repeat(64), "b".repeat(40));
    format!(
        "apiVersion: overlay/v1\nkind: Lock\nfiles:\n  - address: https://example.org/m.yaml\n    \
         upstream: {{sha256: {sha256}, size: 1, blob: {blob}, {rest}}}\n    \
         vendored: {{name: m.yaml, sha256: {sha256}, size: 1}}\n    documents: []\n"
    )
}

#[test]
fn a_lock_may_say_what_a_server_called_the_bytes() {
    let from = "a".repeat(64);
    for etag in [
        "etag: 'W/\"a\"'".to_owned(),
        "etag: W/\"a\"".to_owned(),
        format!("etag: '\"{}\"'", "x".repeat(254)),
        format!("etag: \"\\\"5-6\\\"\", etagFrom: {from}"),
    ] {
        let text = lock_with(&etag);
        assert!(is_taken(Schema::Lock, "", &text), "the reader refuses {text}");
        assert!(validator(Schema::Lock).is_valid(&load_text(&text).unwrap().value), "the schema refuses {text}");
    }
}

#[test]
fn what_a_reader_refuses_for_its_shape_no_schema_takes() {
    let patch = |rest: &str| format!("apiVersion: overlay/v1\nkind: Patch\nname: p\n{rest}");
    let change = |rest: &str| patch(&format!("changes: [{{target: {{kind: A}}, {rest}}}]"));
    let base = |source: &str| format!("apiVersion: overlay/v1\nkind: Base\nname: b\nsource: {source}");
    let bad = [
        patch(""),
        patch("changes: []"),
        patch("changes: [{target: {}, delete: true}]"),
        patch("changes: [{delete: true}]"),
        patch("chagnes: [{target: {kind: A}, delete: true}]"),
        patch("upstream: soon\nchanges: [{target: {kind: A}, delete: true}]"),
        patch("review: soon\nchanges: [{target: {kind: A}, delete: true}]"),
        change("patch: []"),
        change("delete: false"),
        change("delete: true, patch: [{op: remove, path: /a}]"),
        change("matches: 0, delete: true"),
        change("matches: some, delete: true"),
        change("within: {path: /a, as: xml}, patch: [{op: remove, path: /a}]"),
        change("patch: [{op: ad, path: /a, value: 1}]"),
        change("patch: [{op: add, path: /a}]"),
        change("patch: [{op: add, path: a, value: 1}]"),
        change("patch: [{op: add, path: /a, value: 1, was: 2}]"),
        change("patch: [{op: move, path: /a}]"),
        change("patch: [{op: test, path: /a, value: 1, unpin: true}]"),
        change("patch: [{op: remove, path: /a, note: \"a\\nb\"}]"),
        base("{}"),
        base("{file: a, url: \"https://example.org/a\"}"),
        base("{url: \"ftp://example.org/a\"}"),
        base("{url: []}"),
        base("{github: {repository: a, ref: b, path: c}}"),
        base("{github: {repository: a/b, path: c}}"),
        base("{github: {repository: a/b, ref: c}}"),
        base("{github: {repository: a/b, release: c}}"),
        base("{github: {repository: a/b, release: c, asset: d, ref: e}}"),
        base("{git: {url: \"https://example.org\", path: a}}"),
        format!("{}\nkeep: []", base("{file: a}")),
        "apiVersion: overlay/v1\nkind: Overlay\nname: o".to_owned(),
        "apiVersion: overlay/v1\nkind: Overlay\nname: o\nbases: a".to_owned(),
        "apiVersion: overlay/v1\nkind: Lock\nfiles: [{address: a}]".to_owned(),
        "apiVersion: overlay/v2\nkind: Lock\nfiles: []".to_owned(),
        lock_with("etag: one"),
        lock_with("etag: '\"\"'"),
        lock_with("etag: '\"a b\"'"),
        lock_with("etag: \"\\\"a\\\"\\n\""),
        lock_with("etag: \"\\\"a\\r\\nX: y\\\"\""),
        lock_with(&format!("etag: '\"{}\"'", "x".repeat(255))),
        lock_with(&format!("etagFrom: {}", "a".repeat(64))),
        lock_with("etag: '\"a\"', etagFrom: a"),
    ];
    for text in bad {
        let value = load_text(&text).unwrap().value;
        let schema = schema_of(value["kind"].as_str().unwrap()).unwrap();
        assert!(!is_taken(schema, "p.yaml", &text), "the reader takes {text}");
        assert!(!validator(schema).is_valid(&value), "the schema takes {text}");
    }
}

/// The keys that a finding of an unknown key `zzzzzz` says there are.
fn keys_told(schema: Schema, text: &str) -> BTreeSet<String> {
    let mut findings = Findings::new();
    let project = Project::new([]);
    let folder = Located { path: project.path(""), name: String::new() };
    let source = Source::new("p.yaml", text);
    match schema {
        Schema::Patch => drop(Patch::read(&source, &mut findings)),
        Schema::Lock => drop(Lock::read(&source, &mut findings)),
        Schema::Base => drop(Base::read(&folder, source, &mut findings)),
        Schema::Overlay => findings.extend(overlay_findings(text)),
    }
    let notes = findings.iter().find(|f| f.code == Code::UnknownKey).map(|f| f.notes.join(" ")).unwrap_or_default();
    let (_, keys) = notes.split_once(" are: ").unwrap_or_else(|| panic!("no unknown key in {text}"));
    keys.trim_end_matches('.').split(", ").map(str::to_owned).collect()
}

fn keys_of(schema: Schema, pointer: &str) -> BTreeSet<String> {
    let schema: Value = serde_json::from_str(schema.text()).unwrap();
    let properties = schema.pointer(&format!("{pointer}/properties")).unwrap_or_else(|| panic!("no {pointer}"));
    properties.as_object().unwrap().keys().cloned().collect()
}

#[test]
fn readers_and_schemas_know_the_same_keys_at_every_place() {
    use Schema::{Base, Lock, Overlay, Patch};
    let operation = |op: &str| format!("changes: [{{target: {{kind: A}}, patch: [{{op: {op}, zzzzzz: 1}}]}}]");
    let mut places = vec![
        (Base, "", "zzzzzz: 1".to_owned()),
        (Base, "/properties/source", "source: {zzzzzz: 1}".to_owned()),
        (Base, "/definitions/github", "source: {github: {zzzzzz: 1}}".to_owned()),
        (Base, "/definitions/git", "source: {git: {zzzzzz: 1}}".to_owned()),
        (Base, "/definitions/target", "source: {file: a}\nkeep: [{zzzzzz: 1}]".to_owned()),
        (Base, "/properties/source/properties/url/anyOf/1/items/anyOf/1", "source: {url: [{zzzzzz: 1}]}".to_owned()),
        (
            Base,
            "/definitions/github/properties/paths/anyOf/1/items/anyOf/1",
            "source: {github: {repository: a/b, ref: c, paths: [{zzzzzz: 1}]}}".to_owned(),
        ),
        (Overlay, "", "zzzzzz: 1".to_owned()),
        (Patch, "", "zzzzzz: 1".to_owned()),
        (Patch, "/definitions/change", "changes: [{zzzzzz: 1}]".to_owned()),
        (Patch, "/definitions/target", "changes: [{target: {zzzzzz: 1}}]".to_owned()),
        (Patch, "/definitions/change/properties/within", "changes: [{within: {zzzzzz: 1}}]".to_owned()),
        (Patch, "/definitions/operation", "changes: [{patch: [{zzzzzz: 1}]}]".to_owned()),
        (Lock, "", "zzzzzz: 1".to_owned()),
        (Lock, "/definitions/file", "files: [{zzzzzz: 1}]".to_owned()),
        (Lock, "/definitions/file/properties/upstream", "files: [{upstream: {zzzzzz: 1}}]".to_owned()),
        (Lock, "/definitions/file/properties/vendored", "files: [{vendored: {zzzzzz: 1}}]".to_owned()),
        (Lock, "/definitions/document", "files: [{documents: [{zzzzzz: 1}]}]".to_owned()),
    ];
    let operations = ["add", "replace", "remove", "move", "copy", "test"];
    let pointers: Vec<String> = (0..operations.len()).map(|at| format!("/definitions/operation/oneOf/{at}")).collect();
    places.extend(operations.iter().zip(&pointers).map(|(op, at)| (Patch, at.as_str(), operation(op))));
    for (schema, pointer, rest) in places {
        // `zzzzzz` is in no file's lists yet, so that the reader says what is.
        let text = format!("apiVersion: overlay/v1\nkind: {schema}\n{rest}\n");
        assert_eq!(keys_told(schema, &text), keys_of(schema, pointer), "{schema}{pointer}");
    }
}

#[test]
fn every_property_has_a_description() {
    for schema in Schema::ALL {
        let value: Value = serde_json::from_str(schema.text()).unwrap();
        let mut open = vec![(schema.to_string(), &value)];
        while let Some((place, node)) = open.pop() {
            for (name, property) in node["properties"].as_object().into_iter().flatten() {
                let at = format!("{place}/{name}");
                let refers = property["$ref"].as_str().and_then(|r| value.pointer(r.trim_start_matches('#')));
                let described = |node: &Value| node["description"].is_string();
                assert!(described(property) || refers.is_some_and(described), "{at} has no description");
                open.push((at, property));
            }
            for (name, definition) in node["definitions"].as_object().into_iter().flatten() {
                open.push((format!("{place}/{name}"), definition));
            }
        }
    }
}

#[test]
fn a_schema_is_printed_as_it_is_kept_and_written_where_files_name_it() {
    let project = Project::new([]);
    for schema in Schema::ALL {
        let kept = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas").join(schema.file_name()));
        assert_eq!(project.output(&["schema", &schema.to_string()]), kept.unwrap());
    }
    project.output(&["schema", "--write"]);
    let written: Vec<_> = project.files().into_iter().map(|(path, _)| path).collect();
    let wanted =
        ["base", "lock", "overlay", "patch"].map(|name| project.path(&format!(".overlay/schemas/{name}.json")));
    assert_eq!(written, wanted);
}
