//! The page of `overlay diff --format html`, opened in a real browser.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may lay out files, and fail")]
#![allow(clippy::print_stderr, reason = "a test that skips itself says so")]

#[path = "support/project.rs"]
mod project;

use std::fs;
use std::process::Command;

use project::Project;
use serde_json::Value;

const OWN: &str = "overlays/nik-debian";

/// What an open page is asked for and made to do. It runs in a page beside it, and prints what it saw.
const PROBE: &str = include_str!("data/page-probe.html");

/// Opens `page.html` of a project in Chromium, and returns what the probe saw and what the console said. `None` without
/// Chromium; then the test skips itself.
fn opened(project: &Project) -> Option<(Value, String)> {
    if Command::new("chromium").arg("--version").output().is_err() {
        let required = std::env::var_os("OVERLAY_REQUIRE_PEERS").is_some_and(|v| v == "1");
        assert!(!required, "chromium must run here, but it is not installed");
        eprintln!("skipped: chromium: it is not installed");
        return None;
    }
    project.write("probe.html", PROBE);
    let profile = tempfile::tempdir().unwrap();
    let mut command = Command::new("chromium");
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
    command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    command.args(["--allow-file-access-from-files", "--enable-logging=stderr", "--virtual-time-budget=20000"]);
    command.args(["--window-size=1400,1000", "--dump-dom"]);
    command.arg(format!("--user-data-dir={}", profile.path().display()));
    command.arg(format!("file://{}", project.path("probe.html").display()));
    let output = command.output().unwrap();
    let (page, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let seen = page.split_once("<pre id=\"seen\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let seen = seen.unwrap_or_else(|| panic!("the probe printed nothing:\n{page}\n{log}")).0;
    let seen = seen.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let console: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    Some((serde_json::from_str(&seen).unwrap_or_else(|e| panic!("{e}: {seen}")), console.join("\n")))
}

/// Prints the page of an overlay into `page.html`.
fn print(project: &Project, args: &[&str]) {
    let ran = project.run(&[&["diff", "--format", "html"], args].concat());
    assert!(ran.stdout.ends_with("</html>\n"), "{}{}", ran.stdout, ran.stderr);
    project.write("page.html", &ran.stdout);
}

#[test]
fn the_page_works_by_clicks_keys_and_anchors_without_an_error() {
    let project = Project::own();
    print(&project, &[OWN]);
    let Some((seen, console)) = opened(&project) else { return };
    assert_eq!(console, "");
    assert_eq!(seen["error"], Value::Null, "{seen}");
    assert_eq!(seen["cards"], 13);
    assert_eq!(seen["status"], "13 of 13 departures");
    assert_eq!(seen["filtered"], "2 of 13 departures", "a click on the first patch leaves its two");
    assert_eq!(seen["pressed"], 1);
    assert_eq!(seen["stepped"], seen["secondCard"], "j twice goes to the second departure");
    assert_eq!(seen["focused"], seen["secondCard"]);
    assert_eq!(seen["anchored"], true, "a link to a departure that is filtered out shows it");
    assert_eq!(seen["unnamedControls"], 0);
    assert_eq!(seen["mislabelled"], 0, "what is read out holds what is seen");
    assert_eq!(seen["headings"], true);
    assert_eq!(seen["sideways"], serde_json::json!([false, false, false]), "nothing is wider than the window");
    assert_eq!(seen["network"], serde_json::json!([]));
}

#[test]
fn what_no_patch_explains_is_the_loudest_thing_on_the_page() {
    let project = Project::own();
    let built = project.output(&["build", OWN]);
    project.write("hand.yaml", &built.replacen("hostNetwork: true", "hostNetwork: false", 1));
    print(&project, &[OWN, "--against", "hand.yaml"]);
    assert_eq!(project.run(&["diff", OWN, "--format", "html", "--against", "hand.yaml"]).exit, Some(1));
    let Some((seen, console)) = opened(&project) else { return };
    assert_eq!((console.as_str(), &seen["error"]), ("", &Value::Null));
    assert_eq!(
        seen["alarms"],
        serde_json::json!(["DaemonSet.apps/kube-system/kube-multus-ds /spec/template/spec/hostNetwork"])
    );
    assert_eq!(seen["columns"], serde_json::json!(["Upstream", "Result", "hand.yaml"]));
    assert_eq!(seen["loudRows"], serde_json::json!(["hostNetwork: true|hostNetwork: true|hostNetwork: false"]));
    assert_eq!(seen["alarmSize"].as_f64().map(|size| size > 20.0), Some(true));
}

#[test]
fn what_changes_in_an_item_of_a_list_is_told_under_its_name() {
    let item = |name: &str, size: &str| {
        format!("- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: {name}}}\n  data: {{size: {size}}}\n")
    };
    let list =
        |size: &str| format!("apiVersion: v1\nkind: List\nitems:\n{}{}", item("one", "small"), item("two", size));
    let project = Project::new([
        ("upstream/list.yaml", list("small").as_str()),
        (
            "base/list/base.yaml",
            "apiVersion: overlay/v1\nkind: Base\nname: list\nsource: {file: ../../upstream/list.yaml}\n",
        ),
        (
            "overlays/lab/overlay.yaml",
            "apiVersion: overlay/v1\nkind: Overlay\nname: lab\nbases: [../../base/list]\npatches: [grow.yaml]\n",
        ),
        (
            "overlays/lab/grow.yaml",
            "apiVersion: overlay/v1\nkind: Patch\nname: grow\nsummary: Grow\nwhy: It is too small.\nchanges:
  - target: {kind: ConfigMap, name: two}
    patch: [{op: replace, path: /data/size, was: small, value: large}]\n",
        ),
        ("old.yaml", list("small").as_str()),
    ]);
    project.output(&["vendor", "base/list"]);
    print(&project, &["overlays/lab"]);
    let page = std::fs::read_to_string(project.path("page.html")).unwrap();
    assert!(page.contains("ConfigMap/two") && !page.contains("/items/"), "{page}");
    // The file lacks the departure: the page finds it again among what the file says of the item.
    print(&project, &["overlays/lab", "--against", "old.yaml"]);
    let page = std::fs::read_to_string(project.path("page.html")).unwrap();
    assert!(page.contains("old.yaml lacks this.") && !page.contains("not in upstream"), "{page}");
    // A file that has the items as documents stands beside each of them, under its own name and lines.
    project.write(
        "hand.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {size: small}\n---\n\
         apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\ndata: {size: large}\nimmutable: true\n",
    );
    print(&project, &["overlays/lab", "--against", "hand.yaml"]);
    let page = std::fs::read_to_string(project.path("page.html")).unwrap();
    assert!(page.contains("<span>ConfigMap/one</span> <small>unchanged</small>"), "{page}");
    assert!(page.contains("<span>ConfigMap/two</span> <small>2 departures</small>"), "{page}");
    assert!(page.contains("<ins>immutable: true<b></b></ins>") && !page.contains("not in upstream"), "{page}");
    assert!(page.contains(r#"data-n="11"></td><td role="cell" class="t old"><del>data: {size: <b>sma"#), "{page}");
    project.write("hand.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {size: small}\n");
    print(&project, &["overlays/lab", "--against", "hand.yaml"]);
    let page = std::fs::read_to_string(project.path("page.html")).unwrap();
    assert!(page.contains("No patch explains this. hand.yaml lacks it."), "{page}");
}

#[test]
fn what_an_overlay_adds_stands_on_the_side_of_the_result_alone() {
    let project = Project::new([
        ("net.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: net}\n"),
        ("base/net/base.yaml", "apiVersion: overlay/v1\nkind: Base\nname: net\nsource: {file: ../../net.yaml}\n"),
        (
            "lab/overlay.yaml",
            "apiVersion: overlay/v1\nkind: Overlay\nname: lab\nbases: [../base/net]\nresources: [own.yaml]\n",
        ),
        ("lab/own.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: lab}\n"),
    ]);
    project.output(&["vendor", "base/net"]);
    print(&project, &["lab"]);
    let page = std::fs::read_to_string(project.path("page.html")).unwrap();
    assert!(page.contains("1 of 1 document, and 1 added"), "{page}");
    assert!(page.contains("<span>Namespace/lab</span> <small>added from lab/own.yaml</small>"), "{page}");
    assert!(page.contains("<ins>kind: Namespace<b></b></ins>") && !page.contains("<del>"), "{page}");
}

#[test]
fn what_kubectl_prints_of_it_is_laid_out_like_the_result() {
    let project = Project::own();
    let built: Value = serde_json::from_str(&project.output(&["build", OWN, "--format", "json"])).unwrap();
    project.write("live.json", &built.to_string().replacen("\"hostPID\":true", "\"hostPID\":false", 1));
    print(&project, &[OWN, "--against", "live.json", "--live"]);
    let Some((seen, _)) = opened(&project) else { return };
    assert_eq!(seen["loudRows"], serde_json::json!(["hostPID: true|hostPID: true|hostPID: false"]));
}

/// A project in which every text of a file wants to be markup.
fn hostile() -> Project {
    let evil = r#""><script>parent.hacked=1</script><img src=x onerror=parent.hacked=1>"#;
    let evil = evil.replace('/', "\u{2044}");
    let quoted = format!("'</style></script><script>parent.hacked=1</script><svg onload=parent.hacked=1>{evil}'");
    let project = Project::new([]);
    let upstream = format!(
        "# </pre>{evil}\nkind: ConfigMap\napiVersion: v1\nmetadata: {{name: {quoted}}}\ndata:\n  a: {quoted} # {evil}\n"
    );
    project.write("upstream/net.yaml", &upstream);
    project.write(
        "base/net/base.yaml",
        &format!("apiVersion: overlay/v1\nkind: Base\nname: net\ndescription: {quoted}\nsource: {{file: ../../upstream/net.yaml}}\n"),
    );
    project.output(&["vendor", "base/net"]);
    project.write(
        "overlays/lab/overlay.yaml",
        &format!("apiVersion: overlay/v1\nkind: Overlay\nname: {quoted}\ndescription: {quoted}\nbases: [../../base/net]\npatches: ['patches/{evil}.yaml']\n"),
    );
    project.write(
        &format!("overlays/lab/patches/{evil}.yaml"),
        &format!(
            "apiVersion: overlay/v1\nkind: Patch\nname: '{evil}'\nsummary: {quoted}\nwhy: {quoted}\nevidence: ['javascript:parent.hacked=1', {quoted}]\nupstream: not-yet\n\
             changes:\n  - target: {{kind: ConfigMap}}\n    patch:\n      - {{op: replace, path: /data/a, was: {quoted}, value: {quoted} , note: {quoted}}}\n"
        )
        .replace(&format!("value: {quoted} "), &format!("value: {}", quoted.replace("</style>", "</style>x"))),
    );
    project
}

#[test]
fn a_file_cannot_inject_markup_or_script() {
    let project = hostile();
    print(&project, &["overlays/lab"]);
    let Some((seen, console)) = opened(&project) else { return };
    assert_eq!((console.as_str(), &seen["error"]), ("", &Value::Null));
    assert_eq!(seen["cards"], 1, "{seen}");
    assert_eq!(seen["hacked"], Value::Null);
    assert_eq!(seen["strangers"], serde_json::json!([]), "elements or attributes that only a file could have brought");
}

#[test]
fn two_hundred_departures_stay_smooth() {
    let project = Project::new([]);
    let document = |n: usize| {
        format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c{n}\ndata:\n  filler: text\n  size: \"1\"\n")
    };
    let upstream: Vec<String> = (0..200).map(document).collect();
    project.write("upstream/net.yaml", &upstream.concat());
    project.write(
        "base/net/base.yaml",
        "apiVersion: overlay/v1\nkind: Base\nname: net\nsource: {file: ../../upstream/net.yaml}\n",
    );
    project.output(&["vendor", "base/net"]);
    let names: Vec<String> = (0..20).map(|n| format!("patches/p{n}.yaml")).collect();
    project.write(
        "overlays/lab/overlay.yaml",
        &format!(
            "apiVersion: overlay/v1\nkind: Overlay\nname: lab\nbases: [../../base/net]\npatches: [{}]\n",
            names.join(", ")
        ),
    );
    for (number, name) in names.iter().enumerate() {
        let changes: Vec<String> = (0..10)
            .map(|n| format!("  - target: {{kind: ConfigMap, name: c{}}}\n    patch:\n      - {{op: replace, path: /data/size, was: '1', value: '2'}}\n", number * 10 + n))
            .collect();
        project.write(
            &format!("overlays/lab/{name}"),
            &format!("apiVersion: overlay/v1\nkind: Patch\nname: p{number}\nsummary: Grow\nwhy: Because one is too small.\nevidence: [https://example.org/]\nchanges:\n{}", changes.concat()),
        );
    }
    print(&project, &["overlays/lab"]);
    assert!(fs::metadata(project.path("page.html")).unwrap().len() < 1_000_000);
    let Some((seen, console)) = opened(&project) else { return };
    assert_eq!((console.as_str(), &seen["error"], &seen["cards"]), ("", &Value::Null, &200.into()));
    let slowest = seen["slowest"].as_f64().unwrap();
    eprintln!("200 departures: the slowest of filter, step and layout took {slowest} ms");
    assert!(slowest < 1000.0, "{slowest} ms");
}
