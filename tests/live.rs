//! What a cluster answers, in each shape that `kubectl get` prints, held against an overlay.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may lay out files, and fail")]

#[path = "support/project.rs"]
mod project;

use std::io::Write as _;
use std::process::Stdio;

use overlay::yaml::load::load_text;
use overlay::yaml::spell::{self, Layout};
use project::{Project, Ran};
use serde_json::{Value, json};

const BASE: &str = "apiVersion: overlay/v1\nkind: Base\nname: net\nsource:\n  file: ../../upstream.yaml\n";

const OVERLAY: &str = "apiVersion: overlay/v1\nkind: Overlay\nname: lab\nbases:\n  - ../../base/net\npatches:\n  - patches/replicas.yaml\n";

const PATCH: &str = "\
apiVersion: overlay/v1
kind: Patch
name: replicas
summary: Two of them
why: One may be away.
evidence: [the rota]
changes:
  - target: {kind: Deployment, name: net-api}
    patch:
      - {op: add, path: /spec/replicas, value: 2}
";

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: net-api
spec:
  selector:
    matchLabels: {app: net-api}
  template:
    metadata:
      labels: {app: net-api}
    spec:
      hostNetwork: true
      serviceAccountName: net-api
      containers:
        - name: api
          image: example.org/net-api:v1
          ports:
            - {name: http, containerPort: 8080}
          resources:
            limits: {cpu: 0.5, memory: 1024Mi}
          env:
            - {name: EMPTY, value: ''}
          readinessProbe:
            httpGet: {port: 8080}
";

const SERVICE: &str = "\
apiVersion: v1
kind: Service
metadata:
  name: net-api
spec:
  selector: {app: net-api}
  ports:
    - {name: http, port: 80}
";

fn project() -> Project {
    let upstream = format!("{DEPLOYMENT}---\n{SERVICE}");
    let project = Project::new([
        ("base/net/base.yaml", BASE),
        ("overlays/lab/overlay.yaml", OVERLAY),
        ("overlays/lab/patches/replicas.yaml", PATCH),
        ("upstream.yaml", upstream.as_str()),
    ]);
    project.output(&["vendor", "base/net"]);
    project
}

/// What every object of a server has.
fn stored(text: &str) -> Value {
    let mut object = load_text(text).unwrap().value;
    let metadata = object["metadata"].as_object_mut().unwrap();
    metadata.insert("namespace".into(), "default".into());
    metadata.insert("uid".into(), "5d0c1e9e-0000-4000-8000-000000000000".into());
    metadata.insert("resourceVersion".into(), "731".into());
    metadata.insert("creationTimestamp".into(), "2026-03-01T08:00:00Z".into());
    metadata.insert("generation".into(), 3.into());
    metadata.insert("managedFields".into(), json!([{"manager": "kubectl", "operation": "Apply"}]));
    let applied = json!({"kubectl.kubernetes.io/last-applied-configuration": "{}\n"});
    metadata.insert("annotations".into(), applied);
    object["status"] = json!({"observedGeneration": 3});
    object
}

/// The two objects as a server has them, with its defaults.
fn live() -> [Value; 2] {
    let mut deployment = stored(DEPLOYMENT);
    deployment["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = "2".into();
    let spec = &mut deployment["spec"];
    spec["replicas"] = 2.into();
    spec["revisionHistoryLimit"] = 10.into();
    spec["progressDeadlineSeconds"] = 600.into();
    spec["strategy"] = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}});
    let template = &mut spec["template"];
    template["metadata"]["creationTimestamp"] = Value::Null;
    let pod = &mut template["spec"];
    for (field, value) in [
        ("dnsPolicy", json!("ClusterFirst")),
        ("restartPolicy", json!("Always")),
        ("schedulerName", json!("default-scheduler")),
        ("securityContext", json!({})),
        ("serviceAccount", json!("net-api")),
        ("terminationGracePeriodSeconds", json!(30)),
    ] {
        pod[field] = value;
    }
    let container = &mut pod["containers"][0];
    container["imagePullPolicy"] = "IfNotPresent".into();
    container["terminationMessagePath"] = "/dev/termination-log".into();
    container["terminationMessagePolicy"] = "File".into();
    container["ports"][0] = json!({"name": "http", "containerPort": 8080, "hostPort": 8080, "protocol": "TCP"});
    container["resources"]["limits"] = json!({"cpu": "500m", "memory": "1Gi"});
    container["env"][0] = json!({"name": "EMPTY"});
    container["readinessProbe"] = json!({"httpGet": {"path": "/", "port": 8080, "scheme": "HTTP"},
        "failureThreshold": 3, "periodSeconds": 10, "successThreshold": 1, "timeoutSeconds": 1});
    let mut service = stored(SERVICE);
    let spec = &mut service["spec"];
    for (field, value) in [
        ("clusterIP", json!("10.96.7.7")),
        ("clusterIPs", json!(["10.96.7.7"])),
        ("internalTrafficPolicy", json!("Cluster")),
        ("ipFamilies", json!(["IPv4"])),
        ("ipFamilyPolicy", json!("SingleStack")),
        ("sessionAffinity", json!("None")),
        ("type", json!("ClusterIP")),
    ] {
        spec[field] = value;
    }
    spec["ports"][0] = json!({"name": "http", "port": 80, "protocol": "TCP", "targetPort": 80});
    [deployment, service]
}

/// Both objects in each shape: `-o json` of several is a List, of one after the other a row of objects.
fn shapes(objects: &[Value; 2]) -> Vec<String> {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects, "metadata": {"resourceVersion": ""}});
    let yaml = |value: &Value| spell::block(value, 0, Layout { step: 2, indent_lists: false }, None);
    let row = |object: &Value| format!("{object:#}\n");
    vec![
        format!("{list:#}\n"),
        format!("{}\n", yaml(&list)),
        objects.iter().map(row).collect::<Vec<_>>().concat(),
        objects.iter().rev().map(|object| format!("---\n{}\n", yaml(object))).collect::<Vec<_>>().concat(),
    ]
}

fn hold(project: &Project, answer: &str, live: &[&str]) -> Ran {
    let args = [&["verify", "overlays/lab", "--against", "-", "--format", "json"], live].concat();
    let mut command = project.command(&args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
    Ran::of(child.wait_with_output().unwrap())
}

fn undocumented(ran: &Ran) -> Vec<String> {
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let list = report["overlays"][0]["undocumented"].as_array().unwrap().clone();
    list.iter().map(|departure| departure["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn in_every_shape_what_the_server_wrote_is_left_out() {
    let project = project();
    for answer in shapes(&live()) {
        let ran = hold(&project, &answer, &["--live"]);
        assert_eq!((ran.exit, undocumented(&ran)), (Some(0), Vec::new()), "{answer}\n{}", ran.stderr);
        let all = hold(&project, &answer, &[]);
        assert_eq!(all.exit, Some(1));
        assert!(undocumented(&all).len() > 20, "without --live, all of it is told: {:?}", undocumented(&all));
    }
}

#[test]
fn in_every_shape_what_a_person_changed_is_told() {
    let project = project();
    let mut objects = live();
    let pod = &mut objects[0]["spec"]["template"]["spec"];
    pod["serviceAccount"] = "other".into();
    pod["containers"][0]["ports"][0]["hostPort"] = 9090.into();
    pod["containers"][0]["resources"]["limits"]["memory"] = "2Gi".into();
    objects[1]["spec"]["ports"][0]["targetPort"] = 8080.into();
    let container = "/spec/template/spec/containers/[name=api]";
    let mut wanted = vec![
        "/spec/ports/[name=http]/targetPort".to_owned(),
        "/spec/template/spec/serviceAccount".to_owned(),
        format!("{container}/ports/[name=http]/hostPort"),
        format!("{container}/resources/limits/memory"),
    ];
    wanted.sort();
    for answer in shapes(&objects) {
        let ran = hold(&project, &answer, &["--live"]);
        let mut told = undocumented(&ran);
        told.sort();
        assert_eq!((ran.exit, told), (Some(1), wanted.clone()), "{answer}");
    }
}

/// A project whose base holds a Secret.
fn with_a_secret() -> Project {
    let project = project();
    let upstream = format!("{DEPLOYMENT}---\n{SERVICE}---\n{SECRET}");
    project.write("upstream.yaml", &upstream);
    project.output(&["vendor", "base/net", "--accept-changes"]);
    project
}

const SECRET: &str = "\
apiVersion: v1
kind: Secret
metadata:
  name: net-keys
stringData:
  user: written-user
  pass: written-pass
data:
  key: d3JpdHRlbi1rZXk=
";

/// The Secret as a server has it: one value another, one gone, one new.
fn live_secret() -> Value {
    let mut secret = stored(SECRET);
    let fields = secret.as_object_mut().unwrap();
    fields.remove("stringData");
    fields.insert("type".into(), "Opaque".into());
    fields.insert("data".into(), json!({"user": "d3JpdHRlbi11c2Vy", "pass": "bGl2ZS1wYXNz", "more": "bGl2ZS1tb3Jl"}));
    secret["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = SECRET.into();
    secret["metadata"]["annotations"]["mine"] = "yes".into();
    secret
}

#[test]
fn no_form_of_a_report_shows_what_a_secret_holds() {
    let project = with_a_secret();
    let [deployment, service] = live();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [deployment, service, live_secret()]});
    let yaml = |value: &Value| spell::block(value, 0, Layout { step: 2, indent_lists: false }, None);
    for answer in [format!("{list:#}\n"), format!("{}\n", yaml(&list)), format!("{}\n", yaml(&live_secret()))] {
        project.write("answer", &answer);
        for format in ["text", "json", "github", "sarif", "junit"] {
            let args = ["verify", "overlays/lab", "--against", "answer", "--live", "--format", format];
            let ran = project.run(&args);
            assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
            shows_no_value(&ran, &["bGl2ZS1", "live-", "written-", "d3JpdHRlbi"]);
            assert!(ran.stdout.contains("*** (after)"), "{}", ran.stdout);
        }
        let page = ["diff", "overlays/lab", "--format", "html", "--against", "answer", "--live"];
        shows_no_value(&project.run(&page), &["bGl2ZS1", "live-", "written-", "d3JpdHRlbi"]);
    }
}

const OF_A_SECRET: &str = "\
apiVersion: overlay/v1
kind: Patch
name: replicas
summary: Other keys
why: Those of upstream are known.
evidence: [the rota]
changes:
  - target: {kind: Secret, name: net-keys}
    patch:
      - {op: replace, path: /stringData/pass, was: written-pass, value: patched-pass}
      - {op: replace, path: /data/key, value: cGF0Y2hlZC1rZXk=}
      - {op: add, path: /data/new, value: cGF0Y2hlZC1uZXc=}
      - op: add
        path: /stringData/text
        value: |
          patched-text
      - {op: remove, path: /stringData/user}
";

#[test]
fn no_form_of_a_report_shows_what_a_patch_gives_to_a_secret() {
    let project = with_a_secret();
    project.write("overlays/lab/patches/replicas.yaml", OF_A_SECRET);
    let [deployment, service] = live();
    let patched = json!({"pass": "cGF0Y2hlZC1wYXNz", "key": "cGF0Y2hlZC1rZXk=", "more": "bGl2ZS1tb3Jl"});
    let mut half_patched = live_secret();
    half_patched["data"] = patched;
    let list = |items: &[&Value]| format!("{:#}\n", json!({"apiVersion": "v1", "kind": "List", "items": items}));
    let answers = [
        list(&[&deployment, &service, &live_secret()]),
        list(&[&deployment, &service, &half_patched]),
        list(&[&deployment, &service]),
    ];
    let base_of_json = format!("{{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [{}]}}\n", {
        [DEPLOYMENT, SERVICE, SECRET].map(|text| load_text(text).unwrap().value.to_string()).join(", ")
    });
    let values = ["bGl2ZS1", "live-", "written-", "d3JpdHRlbi", "patched-", "cGF0Y2hlZC"];
    for base in [format!("{DEPLOYMENT}---\n{SERVICE}---\n{SECRET}"), base_of_json] {
        project.write("upstream.yaml", &base);
        project.output(&["vendor", "base/net", "--accept-changes"]);
        for answer in &answers {
            project.write("answer", answer);
            for format in ["text", "json", "github", "sarif", "junit"] {
                let args = ["verify", "overlays/lab", "--against", "answer", "--live", "--format", format];
                let ran = project.run(&args);
                assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
                shows_no_value(&ran, &values);
            }
            let page = ["diff", "overlays/lab", "--format", "html", "--against", "answer", "--live"];
            let ran = project.run(&page);
            assert!(ran.stdout.contains("net-keys") && ran.stdout.contains("xxxx"), "{}", ran.stderr);
            shows_no_value(&ran, &values);
        }
    }
}

fn shows_no_value(ran: &Ran, values: &[&str]) {
    for value in values {
        assert!(!ran.stdout.contains(value) && !ran.stderr.contains(value), "{value}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn objects_of_others_are_counted_and_the_command_that_helps_is_named() {
    let project = project();
    let [deployment, mut service] = live();
    service["spec"]["ports"][0]["targetPort"] = 8080.into();
    let other = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kube-root-ca.crt"}});
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [deployment, other, service]});
    project.write("answer.json", &list.to_string());
    let args = ["verify", "overlays/lab", "--against", "answer.json", "--live"];
    let ran = project.run(&args);
    assert_eq!(ran.exit, Some(1));
    assert!(ran.stdout.contains("  others    1 document that neither base nor overlay has\n"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("kube-root-ca"), "{}", ran.stdout);
    assert!(ran.stdout.contains("`overlay adopt answer.json --into overlays/lab --live`"), "{}", ran.stdout);
    let adopted = project.run(&["adopt", "answer.json", "--into", "overlays/lab", "--live"]);
    assert_eq!(adopted.exit, Some(0), "{}", adopted.stderr);
    assert!(adopted.stderr.starts_with("passed over 1 document that neither base nor overlay has\n"));
    let written = adopted.stderr.matches("wrote overlays/lab/patches/").count();
    assert_eq!(written, 1, "one departure, one patch: {}", adopted.stderr);
    let told = project.run(&args);
    assert_eq!((told.exit, told.stdout.contains("Explained by no patch")), (Some(0), false), "{}", told.stdout);
    let new = project.run(&["adopt", "answer.json", "--base", "base/net", "--to", "overlays/new", "--live"]);
    assert_eq!(new.exit, Some(0), "{}", new.stderr);
    assert_eq!(new.stderr.matches("wrote overlays/new/patches/").count(), 2, "replicas and the port: {}", new.stderr);
}

/// Adopts an answer into the overlay as it is; what it says, and the texts of all files below the root but for upstream's.
fn adopted(project: &Project, answer: &Value, more: &[&str]) -> (Ran, String) {
    project.write("answer.json", &answer.to_string());
    let ran = project.run(&[&["adopt", "answer.json", "--into", "overlays/lab", "--live"], more].concat());
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let files = project.files().into_iter().filter(|(path, _)| path.starts_with(project.path("overlays")));
    let texts = files.map(|(_, bytes)| String::from_utf8(bytes).unwrap()).collect();
    (ran, texts)
}

fn list(items: &[&Value]) -> Value {
    json!({"apiVersion": "v1", "kind": "List", "items": items})
}

#[test]
fn what_a_clusters_secret_holds_is_written_where_that_is_asked_for_alone() {
    let project = with_a_secret();
    let [deployment, service] = live();
    let answer = list(&[&deployment, &service, &live_secret()]);
    let (ran, files) = adopted(&project, &answer, &[]);
    let told = "the cluster has other values in Secret/net-keys: not written; --with-secrets would write them\n";
    assert!(ran.stderr.starts_with(told), "{}", ran.stderr);
    for value in ["bGl2ZS1", "live-", "written-", "d3JpdHRlbi"] {
        assert!(!files.contains(value), "{value}: {files}");
    }
    assert!(files.contains("mine"), "what is no secret of it is adopted: {files}");
    let held = project.run(&["verify", "overlays/lab", "--against", "answer.json", "--live"]);
    assert_eq!(held.exit, Some(1));
    assert!(held.stdout.contains("--into overlays/lab --live --with-secrets`"), "{}", held.stdout);

    let (ran, files) = adopted(&project, &answer, &["--with-secrets"]);
    assert!(files.contains("bGl2ZS1tb3Jl") && files.contains("live-pass"), "{files}");
    assert!(ran.stderr.contains("it holds values of a Secret: look before you commit it)"), "{}", ran.stderr);
    let held = project.run(&["verify", "overlays/lab", "--against", "answer.json", "--live"]);
    assert_eq!(held.exit, Some(0), "{}", held.stdout);
}

#[test]
fn what_an_answer_lacks_is_taken_out_where_that_is_asked_for_alone() {
    let project = with_a_secret();
    let [deployment, mut service] = live();
    service["spec"]["ports"][0]["targetPort"] = 8080.into();
    let (ran, files) = adopted(&project, &list(&[&deployment, &service]), &[]);
    let told = "the answer lacks Secret/net-keys: left as is; --delete-missing would take it out\n";
    assert!(ran.stderr.starts_with(told) && !files.contains("delete:"), "{}{files}", ran.stderr);
    let held = project.run(&["verify", "overlays/lab", "--against", "answer.json", "--live"]);
    assert!(held.stdout.contains("--into overlays/lab --live --delete-missing`"), "{}", held.stdout);
    let (_, files) = adopted(&project, &list(&[&deployment, &service]), &["--delete-missing"]);
    assert!(files.contains("delete: true"), "{files}");
    let held = project.run(&["verify", "overlays/lab", "--against", "answer.json", "--live"]);
    assert_eq!(held.exit, Some(0), "{}", held.stdout);
}

#[test]
fn an_answer_without_what_a_patch_is_about_says_nothing_against_the_patch() {
    let project = project();
    let [_, mut service] = live();
    service["spec"]["ports"][0]["targetPort"] = 8080.into();
    let (ran, files) = adopted(&project, &service, &[]);
    let told = "the answer lacks Deployment.apps/net-api: left as is; --delete-missing would take it out\n";
    assert!(ran.stderr.starts_with(told), "{}", ran.stderr);
    assert!(files.contains("value: 8080") && files.contains("path: /spec/replicas"), "{files}");
}

#[test]
fn an_answer_is_adopted_item_by_item_where_the_base_is_a_list() {
    let project = project();
    let base = list(&[&load_text(DEPLOYMENT).unwrap().value, &load_text(SERVICE).unwrap().value]);
    project.write("upstream.yaml", &spell::block(&base, 0, Layout { step: 2, indent_lists: false }, None));
    project.output(&["vendor", "base/net", "--accept-changes"]);
    let [deployment, mut service] = live();
    service["spec"]["ports"][0]["targetPort"] = 8080.into();
    let (ran, files) = adopted(&project, &list(&[&deployment, &service]), &[]);
    assert_eq!(ran.stderr.matches("wrote overlays/lab/patches/").count(), 1, "{}", ran.stderr);
    assert!(files.contains("kind: Service") && files.contains("targetPort"), "{files}");
    let held = project.run(&["verify", "overlays/lab", "--against", "answer.json", "--live"]);
    assert_eq!(held.exit, Some(0), "{}", held.stdout);
}

#[test]
fn a_value_that_is_no_text_in_a_field_of_texts_is_told() {
    let project = project();
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, labels: {a: b}}\ndata: {port: '1500', on: 'true', gone: x}\n";
    project.write("upstream.yaml", &format!("{DEPLOYMENT}---\n{SERVICE}---\n{config}"));
    project.output(&["vendor", "base/net", "--accept-changes"]);
    let hold = |config: &str| {
        let stream = project.output(&["build", "overlays/lab"]);
        let (before, _) = stream.split_once("apiVersion: v1\nkind: ConfigMap").unwrap();
        project.write("copy.yaml", &format!("{before}{config}"));
        project.run(&["verify", "overlays/lab", "--against", "copy.yaml"]).stdout
    };
    let bare = config.replace("'1500'", "1500").replace("'true'", "yes");
    let told = hold(&bare);
    assert_eq!(told.matches("`data` holds texts alone: a cluster refuses this. Quote it.").count(), 2, "{told}");
    let told = hold(&config.replace("a: b", "a: 5, c: null").replace("gone: x", "gone: z"));
    assert_eq!(told.matches("holds texts alone").count(), 1, "{told}");
    assert!(told.contains("`metadata/labels` holds texts alone"), "{told}");
    let told = hold(&config.replace("data: {port: '1500', on: 'true', gone: x}", "data: {}"));
    assert!(!told.contains("holds texts alone"), "{told}");
}
