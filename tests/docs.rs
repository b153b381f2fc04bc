//! Holds the documentation to the code: every command line in it is one that the program takes, every link leads
//! somewhere, and what the reference pages say of limits, keys, paths and exit codes is what the code has. What the tutorial and the
//! transcripts of README.md show is run.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may read the project's files, and fail")]

#[path = "support/project.rs"]
mod project;
#[path = "support/tutorial.rs"]
mod tutorial;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Parser as _;
use overlay::cli::Cli;
use overlay::patch::path;
use overlay::schema::Schema;
use overlay::yaml::load::load_text;
use project::Project;
use serde_json::Value;

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every page for people, with its text.
fn pages() -> Vec<(PathBuf, String)> {
    let own = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| top().join(name));
    let docs = fs::read_dir(top().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> =
        own.into_iter().chain(docs).filter(|p| p.extension() == Some("md".as_ref())).collect();
    pages.sort();
    pages.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

fn page(name: &str) -> String {
    fs::read_to_string(top().join("docs").join(name)).unwrap()
}

/// The command lines of ours on a page: lines of its code blocks, and what stands between backticks. `[…]` marks what
/// may be left out, and two spaces what is said beside a line.
fn command_lines(text: &str) -> Vec<String> {
    let blocks = text.split("```").enumerate();
    let mut found = Vec::new();
    for (number, block) in blocks {
        if number % 2 == 1 {
            let lines = block.lines().map(|line| line.strip_prefix("$ ").unwrap_or(line));
            found.extend(lines.flat_map(|line| line.split(" | ")).map(str::to_owned));
        } else {
            found.extend(block.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    let ours = found.into_iter().filter(|line| line.starts_with("overlay "));
    let one = |line: String| {
        let end = ["  ", " > ", " 2>", " && ", "|", " #"].iter().filter_map(|stop| line.find(stop)).min();
        line.get(..end.unwrap_or(line.len()))
            .unwrap()
            .trim()
            .replace(['[', ']', '…'], "")
            .replace("KIND", "Patch")
            .replace("SHA", &"9".repeat(40))
    };
    ours.map(one).collect()
}

/// A command line as a shell splits it, quotes understood.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('"').enumerate();
    let mut words = Vec::new();
    for (number, part) in parts {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

#[test]
fn every_command_line_is_one_that_the_program_takes() {
    let mut complaints = Vec::new();
    let mut count = 0;
    for (path, text) in pages() {
        for line in command_lines(&text) {
            count += 1;
            let Err(error) = Cli::try_parse_from(words(&line)) else { continue };
            let asks_only =
                matches!(error.kind(), clap::error::ErrorKind::DisplayHelp | clap::error::ErrorKind::DisplayVersion);
            // A command named with one option and no value is a mention, and so is a command by its name alone.
            let told = error.to_string();
            let is_mention = told.contains("none was supplied")
                || error.kind() == clap::error::ErrorKind::MissingRequiredArgument && line.split(' ').count() <= 3;
            if !asks_only && !is_mention && !line.starts_with("overlay COMMAND") {
                complaints.push(format!("{}: {line}\n  {told}", path.display()));
            }
        }
    }
    assert!(count > 60, "only {count} command lines were found");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn examples_of_help_are_command_lines_and_no_wider_than_help() {
    let mut open = vec![<Cli as clap::CommandFactory>::command()];
    let mut count = 0;
    while let Some(command) = open.pop() {
        open.extend(command.get_subcommands().cloned());
        let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in examples.lines() {
            assert!(line.chars().count() <= 100, "{}: {line}", command.get_name());
            for line in command_lines(&format!("```{}```", line.trim())) {
                count += 1;
                let taken = Cli::try_parse_from(words(&line));
                assert!(taken.is_ok(), "{}: {line}\n{}", command.get_name(), taken.unwrap_err());
            }
        }
    }
    assert!(count > 60, "{count}");
}

/// The anchor of a heading, as GitHub and Forgejo make it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().trim().replace(' ', "-")
}

#[test]
fn every_link_to_a_page_leads_to_one_and_to_a_heading_of_it() {
    let mut complaints = Vec::new();
    for (path, text) in pages() {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let leads = target.exists()
                && (heading.is_empty()
                    || fs::read_to_string(&target)
                        .unwrap()
                        .lines()
                        .any(|line| line.starts_with('#') && anchor(line.trim_start_matches('#').trim()) == heading));
            if !leads {
                complaints.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn the_index_names_every_page() {
    let index = page("README.md");
    for (path, _) in pages() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_page = path.parent() == Some(&top().join("docs")) && name != "README.md";
        assert!(!is_page || index.contains(&format!("({name}")), "docs/README.md does not name {name}");
    }
}

/// The rows of the first table below a heading of columns, without its rule.
fn rows<'t>(text: &'t str, head: &str) -> Vec<Vec<&'t str>> {
    let table = text.split(head).nth(1).unwrap().lines().skip(1).take_while(|line| line.starts_with('|'));
    table.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

/// The number that a limit's text begins with, in bytes where it says so.
fn told(text: &str) -> u64 {
    let mut words = text.split(' ');
    let number: u64 = words.next().unwrap().replace(',', "").parse().unwrap();
    number * if words.next() == Some("MiB") { 1024 * 1024 } else { 1 }
}

/// The value of a constant in the source: a number, a product, a shift, or the name of another constant there.
fn constant(place: &str) -> u64 {
    let (module, name) = place.rsplit_once("::").unwrap();
    let file = top().join("src").join(module.replace("::", "/"));
    let texts = [file.with_extension("rs"), file.join("mod.rs")];
    let text = texts.iter().find_map(|file| fs::read_to_string(file).ok()).unwrap_or_else(|| panic!("no {module}"));
    let declared = text.split(&format!("const {name}: ")).nth(1).unwrap_or_else(|| panic!("{module} has no {name}"));
    let value = declared.split(" = ").nth(1).unwrap().split(';').next().unwrap().replace('_', "");
    if let Some((number, by)) = value.split_once(" << ") {
        return number.parse::<u64>().unwrap() << by.parse::<u32>().unwrap();
    }
    value.split(" * ").map(|factor| factor.parse::<u64>().unwrap()).product()
}

/// Every limit that the code has a `MAX_…` for, tests apart: its module and its name.
fn limits_of_the_code() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (file, text) in sources("src") {
        let module = file.trim_end_matches(".rs").trim_end_matches("/mod").replace('/', "::");
        let names = text.lines().filter_map(|line| line.split_once("const MAX_")?.1.split_once(':'));
        found.extend(names.map(|(name, _)| format!("{module}::MAX_{name}")));
    }
    found
}

/// The files of Rust below a folder, by their paths there, with their texts.
fn sources(below: &str) -> Vec<(String, String)> {
    let (mut found, mut open) = (Vec::new(), vec![top().join(below)]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension() == Some("rs".as_ref()) {
                let name = path.strip_prefix(top().join(below)).unwrap().to_str().unwrap().to_owned();
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

#[test]
fn limits_are_what_the_code_has_and_each_has_its_tests() {
    let text = page("limits.md");
    let tables = text.matches("| what | limit | where in the code | tests |\n").count();
    let refusing: Vec<Vec<&str>> = (1..=tables)
        .flat_map(|table| rows(text.splitn(table + 1, "| what | limit |").last().unwrap(), " tests |\n"))
        .collect();
    let cutting = rows(&text, "| where in the code | limit | of what |\n");
    let told_of: Vec<(&str, &str)> =
        refusing.iter().map(|row| (row[2], row[1])).chain(cutting.iter().map(|row| (row[0], row[1]))).collect();
    for (place, limit) in &told_of {
        let place = place.trim_matches('`');
        // Some are named by another.
        let value = match place {
            "patch::path::MAX_SEGMENTS" => constant("yaml::tree::MAX_DEPTH"),
            "diff::MAX_STEPS" => 2 * constant("yaml::tree::MAX_DEPTH"),
            place => constant(place),
        };
        assert_eq!(told(limit), value, "{place}");
    }
    let on_page: BTreeSet<String> = told_of.iter().map(|(place, _)| place.trim_matches('`').to_owned()).collect();
    assert_eq!(on_page, limits_of_the_code());
    let code: String = sources("src").into_iter().chain(sources("tests")).map(|(_, text)| text).collect();
    let mut tests = 0;
    for row in &refusing {
        assert!(row[3].contains('`') || row[3] == "the same" || row[3].starts_with("none: "), "{}", row[0]);
        for name in row[3].split('`').skip(1).step_by(2) {
            assert!(
                code.contains(&format!("#[test]\n    fn {name}()")) || code.contains(&format!("#[test]\nfn {name}()")),
                "{name}"
            );
            tests += 1;
        }
    }
    assert!(refusing.len() > 20 && tests > 20, "{} {tests}", refusing.len());
}

/// The keys of every mapping that a schema describes.
fn keys(schema: &Value, found: &mut BTreeSet<String>) {
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        if let Some(properties) = value.get("properties").and_then(Value::as_object) {
            found.extend(properties.keys().cloned());
        }
        match value {
            Value::Object(map) => open.extend(map.values()),
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
}

#[test]
fn the_page_of_files_names_every_key_that_people_write() {
    let text = page("files.md");
    for schema in [Schema::Base, Schema::Overlay, Schema::Patch] {
        let mut found = BTreeSet::new();
        keys(&serde_json::from_str(schema.text()).unwrap(), &mut found);
        for key in found {
            let written =
                [format!("`{key}`"), format!("`{key}:"), format!("{key}:"), format!("{key},"), format!("{key}}}")];
            assert!(written.iter().any(|w| text.contains(w)), "docs/files.md does not name `{key}` of {schema}");
        }
    }
}

/// A path is an operation's on the document that the page shows: `remove` there changes it.
#[test]
fn the_paths_of_the_page_lead_somewhere_in_its_document() {
    let text = page("paths.md");
    let shown = text.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let document = format!("apiVersion: v1\nkind: Pod\n{}", shown.replacen("metadata:\n", "metadata:\n  name: p\n", 1));
    let project = Project::new([("upstream/p.yaml", document.as_str())]);
    project.output(&["init", "p", "upstream/p.yaml"]);
    let overlay = "apiVersion: overlay/v1\nkind: Overlay\nname: p\nbases: [../../base/p]\npatches: [x.yaml]\n";
    project.write("overlays/p/overlay.yaml", overlay);
    let rows = rows(&text, "| path | leads to |\n");
    assert!(rows.len() >= 8);
    for row in rows {
        let written = row[0].trim_matches('`');
        assert_eq!(path::Path::parse(written).unwrap().to_string(), written);
        let operation = match written.strip_suffix('-') {
            Some(_) => format!("op: add, path: '{written}', value: {{name: new}}"),
            None => format!("op: remove, path: '{written}'"),
        };
        let patch = format!(
            "apiVersion: overlay/v1\nkind: Patch\nname: x\nsummary: s\nwhy: w\nchanges: [{{target: {{kind: Pod}}, patch: [{{{operation}}}]}}]\n"
        );
        project.write("overlays/p/x.yaml", &patch);
        assert_ne!(project.output(&["build", "overlays/p"]), document, "{written}");
    }
}

/// What stands bare in the first column is read as the second one says.
#[test]
fn the_page_of_yaml_tells_how_scalars_are_read() {
    let text = page("yaml.md");
    let mut count = 0;
    for row in rows(&text, "| written bare | is | because |\n") {
        let written: Vec<&str> = row[0].split('`').skip(1).step_by(2).collect();
        let told: Vec<&str> = row[1].split(", ").map(|told| told.trim_matches('`')).collect();
        for (at, scalar) in written.iter().enumerate() {
            let read = load_text(&format!("x: {scalar}\n")).map(|loaded| loaded.value["x"].clone());
            let told = told.get(at).unwrap_or(&told[0]);
            match *told {
                "refused" => assert!(read.is_err(), "{scalar}: {read:?}"),
                "text" => assert_eq!(read.unwrap(), Value::from(*scalar)),
                told => assert_eq!(read.unwrap(), serde_json::from_str::<Value>(told).unwrap(), "{scalar}"),
            }
            count += 1;
        }
    }
    assert_eq!(count, 30);
}

/// Which operations take a key, as the schema has it.
fn operations_with(key: &str) -> Vec<String> {
    let schema: Value = serde_json::from_str(Schema::Patch.text()).unwrap();
    let forms = schema["definitions"]["operation"]["oneOf"].as_array().unwrap();
    let with_key = forms.iter().map(|form| &form["properties"]).filter(|form| form.get(key).is_some());
    with_key.map(|form| form["op"]["const"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_page_of_files_says_which_operations_take_a_key() {
    let text = page("files.md");
    let told = rows(&text, "| key | on | meaning |\n");
    for row in &told {
        let key = row[0].trim_matches('`');
        let mut taken = operations_with(key);
        let word = match taken.len() {
            6 => "any".to_owned(),
            5 if !taken.contains(&"test".to_owned()) => "any but `test`".to_owned(),
            _ => {
                taken.sort_by_key(|op| ["add", "replace", "remove", "move", "copy"].iter().position(|o| o == op));
                taken.iter().map(|op| format!("`{op}`")).collect::<Vec<_>>().join(", ")
            }
        };
        assert_eq!(row[1], word, "{key}");
    }
    assert_eq!(told.len(), 5);
}

#[test]
fn the_page_of_exit_codes_has_those_that_help_names() {
    let help = <Cli as clap::CommandFactory>::command().render_long_help().to_string();
    assert!(help.contains("Exit codes: 0 clean, 1 something is wrong in the content of a file, 2 could not run."));
    let text = page("exit-codes.md");
    let codes: Vec<&str> = rows(&text, "| exit | means |\n").into_iter().map(|row| row[0]).collect();
    assert_eq!(codes, ["0", "1", "2"]);
}

/// A text with `…` for each hash in it.
fn without_hashes(text: &str) -> String {
    regex::Regex::new(r"\b[0-9a-f]{64}\b").unwrap().replace_all(text, "…").into_owned()
}

/// With the very file of upstream, hashes and all, `tests/corpus_tutorial.rs` does the same.
#[test]
fn the_tutorial_prints_what_it_shows_on_a_file_of_the_same_lines() {
    let page = fs::read_to_string(tutorial::file()).unwrap();
    let played =
        without_hashes(&tutorial::played(&page, &top().join("tests/data/tutorial/multus-daemonset-thick.yml")));
    let page = without_hashes(&page);
    assert_eq!(page.matches('…').count() - fs::read_to_string(tutorial::file()).unwrap().matches('…').count(), 5);
    assert!(played == page, "{}", similar::TextDiff::from_lines(&page, &played).unified_diff());
}

/// The command lines of a page's blocks that begin with one of ours and a prompt, each with what is shown below it.
fn transcripts(text: &str) -> Vec<(String, String)> {
    let blocks = text.split("```\n$ overlay ").skip(1).filter_map(|rest| rest.split_once("\n```"));
    blocks
        .filter_map(|(block, _)| block.split_once('\n'))
        .map(|(line, shown)| (line.into(), format!("{shown}\n")))
        .collect()
}

/// Holds what is shown to what is printed: the same, but that a line `...` stands for any lines.
fn assert_shows(shown: &str, printed: &str) {
    let is_gap = |line: &&str| line.trim() == "...";
    let lines: Vec<&str> = shown.split_inclusive('\n').collect();
    let stretches: Vec<String> = lines.split(is_gap).map(<[&str]>::concat).collect();
    let (first, last) = (&stretches[0], &stretches[stretches.len() - 1]);
    assert!(printed.starts_with(first.as_str()) && printed.ends_with(last.as_str()), "{shown}\nis not of\n{printed}");
    let mut rest = printed;
    for stretch in &stretches {
        let (_, after) = rest.split_once(stretch.as_str()).unwrap_or_else(|| panic!("{stretch}\nis not of\n{printed}"));
        rest = after;
    }
    assert!(rest.is_empty() || stretches.len() > 1, "{printed}");
}

#[test]
fn transcripts_of_this_repositorys_overlays_are_what_is_printed() {
    let mut count = 0;
    for (path, text) in pages() {
        let own =
            |line: &str| line.split(' ').any(|word| word.starts_with("examples/") || word == "overlays/nik-debian");
        for (line, shown) in transcripts(&text).iter().filter(|(line, _)| own(line)) {
            let ran =
                Command::new(env!("CARGO_BIN_EXE_overlay")).args(words(line)).current_dir(top()).output().unwrap();
            assert_eq!(String::from_utf8(ran.stderr).unwrap(), "", "{}", path.display());
            assert_shows(shown, &String::from_utf8(ran.stdout).unwrap());
            count += 1;
        }
    }
    assert_eq!(count, 4);
}

#[test]
fn the_error_that_the_readme_shows_is_that_of_its_case() {
    let told = fs::read_to_string(top().join("tests/cases/target-missing/1.stderr")).unwrap();
    let readme = fs::read_to_string(top().join("README.md")).unwrap();
    assert!(told.starts_with("error[target-missing]: ") && readme.contains(&format!("```\n{told}```\n")), "{told}");
}

#[test]
fn the_page_of_diff_shows_what_is_printed() {
    let config = |mtu: u32| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: net-config, namespace: kube-system}}\ndata:\n  net.json: |\n    {{\"mtu\": {mtu}}}\n"
        )
    };
    let agent = |ports: &str| {
        format!(
            "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {{name: net-agent, namespace: kube-system}}\nspec:\n  template:\n    spec:\n      containers:\n      - name: agent\n        ports:\n{ports}"
        )
    };
    let (udp, tcp) =
        ("        - {containerPort: 53, protocol: UDP}\n", "        - {containerPort: 53, protocol: TCP}\n");
    let service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: net-metrics, namespace: kube-system}\n";
    let two = Project::new([
        ("upstream/net.yaml", format!("{}{}", config(1500), agent(&format!("{udp}{tcp}"))).as_str()),
        ("copies/net.yaml", format!("{}{}{service}", config(9000), agent(udp)).as_str()),
    ]);
    two.output(&["init", "net", "upstream/net.yaml"]);
    let one = Project::new([(
        "upstream/net.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: net}\ndata:\n  log: info\n  mode: quiet\n",
    )]);
    one.output(&["init", "net", "upstream/net.yaml"]);
    one.write("overlays/net/own.yaml", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: lab\n");
    one.write(
        "overlays/net/overlay.yaml",
        "apiVersion: overlay/v1\nkind: Overlay\nname: net\nbases: [../../base/net]\nresources: [own.yaml]\npatches: [log.yaml]\n",
    );
    one.write(
        "overlays/net/log.yaml",
        "apiVersion: overlay/v1\nkind: Patch\nname: log\nsummary: Log more\nwhy: To see it.\nchanges:\n  - target: {kind: ConfigMap}\n    patch: [{op: replace, path: /data/log, was: info, value: debug}]\n",
    );
    let shown = transcripts(&page("diff.md"));
    assert_eq!(shown.len(), 2);
    for ((line, shown), (project, exit)) in shown.iter().zip([(two, 1), (one, 0)]) {
        let words = words(line);
        let ran = project.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!((ran.stdout.as_str(), ran.exit), (shown.as_str(), Some(exit)), "{}", ran.stderr);
    }
}
