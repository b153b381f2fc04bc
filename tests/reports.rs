//! What commands print for programs has the form that is documented: each JSON report that of its schema under `schemas/`,
//! SARIF that of OASIS' schema, JUnit that of XML with the counts that it gives. The reports are those of the runs of all
//! case folders.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may lay out files, and fail")]
#![allow(clippy::print_stderr, reason = "a test that skips itself says so")]

#[path = "support/answers.rs"]
mod answers;
#[path = "support/case.rs"]
mod case;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use answers::{HOST, Server};
use case::{Case, case_folders, lay_out, name, tell_host};
use jsonschema::Validator;
use serde_json::{Value, json};

/// What the runs of all cases print in a form, of commands that know it, with the run. Runs are made in order, for some
/// change what the next ones find.
fn printed(form: &str, commands: &[&str]) -> Vec<(String, String)> {
    let mut printed = Vec::new();
    for folder in case_folders() {
        let case = Case::read(&folder);
        let server = (!case.answer.is_empty()).then(|| Server::start(case.answer));
        let host = server.as_ref().map_or(HOST, |server| server.host.as_str());
        let project = lay_out(&folder, &case.remove);
        tell_host(project.path(), host);
        for run in &case.run {
            let mut args: Vec<String> = run.args.iter().map(|argument| argument.replace(HOST, host)).collect();
            let has_form = commands.contains(&args[0].as_str());
            if has_form {
                set_form(&mut args, form);
            }
            let text = output(project.path(), &args, &run.stdin);
            if has_form && !text.is_empty() {
                printed.push((format!("{}: {}", name(&folder), args.join(" ")), text));
            }
        }
    }
    printed
}

fn set_form(args: &mut Vec<String>, form: &str) {
    if let Some(at) = args.iter().position(|argument| argument == "--format") {
        args.drain(at..at + 2);
    }
    args.extend(["--format".to_owned(), form.to_owned()]);
}

fn output(project: &Path, args: &[String], stdin: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_overlay"))
        .args(args)
        .current_dir(project)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // A command that does not read its standard input may have ended by now.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

/// The schema of a report by its name, as strict as it can be: a key that it does not tell of is an error.
fn schema(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas").join(format!("{name}.json"));
    let mut schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let mut open = vec![&mut schema];
    while let Some(node) = open.pop() {
        match node {
            Value::Object(entries) => {
                if entries.get("type") == Some(&json!("object")) && entries.contains_key("properties") {
                    entries.insert("additionalProperties".to_owned(), json!(false));
                }
                open.extend(entries.values_mut());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    schema
}

fn complaints(validator: &Validator, run: &str, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|error| format!("{run}: {}: {error}", error.instance_path())).collect()
}

#[test]
fn every_json_report_fits_its_schema() {
    let forms = ["report", "diff", "update", "image"];
    let validators: BTreeMap<String, Validator> =
        forms.map(|form| (format!("overlay/{form}/v1"), jsonschema::draft7::new(&schema(form)).unwrap())).into();
    let (mut seen, mut wrong) = (BTreeMap::<String, usize>::new(), Vec::new());
    for (run, text) in printed("json", &["verify", "diff", "update", "image"]) {
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{run}: {error}"));
        let form = value["schema"].as_str().unwrap_or_else(|| panic!("{run}: no schema")).to_owned();
        wrong.extend(complaints(&validators[&form], &run, &value));
        *seen.entry(form).or_default() += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(seen.len(), forms.len(), "{seen:?}");
    assert!(seen["overlay/report/v1"] > 40, "{seen:?}");
}

#[test]
fn every_key_of_the_schemas_of_reports_is_described() {
    for form in ["report", "diff", "update", "image"] {
        let schema = schema(form);
        let mut open = vec![&schema];
        while let Some(node) = open.pop() {
            for (key, property) in node["properties"].as_object().into_iter().flatten() {
                let refers = property["$ref"].as_str().and_then(|at| schema.pointer(at.trim_start_matches('#')));
                let node = refers.unwrap_or(property);
                assert!(node["description"].is_string(), "{form}: {key} has no description");
                open.extend([property, &property["items"]]);
            }
            open.extend(node["definitions"].as_object().into_iter().flat_map(|all| all.values()));
        }
    }
}

/// OASIS' schema of SARIF 2.1.0, as `scripts/setup-peers.sh sarif-schema` fetches it; a test without it skips itself.
fn sarif_schema() -> Option<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(".cache/peers/share/sarif-2.1.0.json");
    let Ok(text) = fs::read_to_string(&path) else {
        let required = std::env::var_os("OVERLAY_REQUIRE_PEERS").is_some_and(|v| v == "1");
        assert!(!required, "the schema of SARIF must be here: run scripts/setup-peers.sh sarif-schema");
        eprintln!("skipped: the schema of SARIF: scripts/setup-peers.sh sarif-schema fetches it");
        return None;
    };
    // Languages have a pattern that ends a class which none began. Not every engine takes that, and we name no language.
    Some(serde_json::from_str(&text.replace("-[a-zA-Z]{2}]?$", "-[a-zA-Z]{2}$")).unwrap())
}

#[test]
fn every_sarif_log_fits_the_schema_of_oasis() {
    let Some(schema) = sarif_schema() else { return };
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    let invalid = json!({"version": "2.1.0", "runs": [{"tool": {}}]});
    assert!(!validator.is_valid(&invalid), "the schema takes what is no log");
    let logs = printed("sarif", &["verify"]);
    assert!(logs.len() > 40, "{}", logs.len());
    let of = |(run, text): &(String, String)| complaints(&validator, run, &serde_json::from_str(text).unwrap());
    let wrong: Vec<String> = logs.iter().flat_map(of).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_junit_report_is_xml_whose_counts_are_right() {
    let reports = printed("junit", &["verify"]);
    assert!(reports.len() > 40, "{}", reports.len());
    for (run, text) in reports {
        let document = roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{run}: {error}\n{text}"));
        let suites = document.root_element();
        assert_eq!(suites.tag_name().name(), "testsuites", "{run}");
        for counted in suites.children().filter(roxmltree::Node::is_element).chain([suites]) {
            let all = |tag: &str| counted.descendants().filter(|node| node.has_tag_name(tag)).count().to_string();
            assert_eq!(counted.attribute("tests"), Some(all("testcase").as_str()), "{run}\n{text}");
            assert_eq!(counted.attribute("failures"), Some(all("failure").as_str()), "{run}\n{text}");
        }
    }
}
