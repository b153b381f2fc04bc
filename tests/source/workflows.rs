//! The examples of workflows, their nightly shell steps run as a runner does: whose fault opens an issue, and which one.
//!
//! The forge is one of the test's own, Forgejo's API on loopback or a `gh` that keeps issues in a file; both give their
//! issues in pages of two. `overlay` is a script that ends as it is told, and once the real one.

use std::collections::HashMap;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::peers::present;
use crate::project::Project;
use crate::server::{Asked, Server, reply};

const PINNED: &str = "overlay: something is not as it was pinned";
const NEWER: &str = "overlay: upstream has moved";

/// Says what it is asked for, on both outputs, and ends as the file `CODES` says.
const FAKE: &str = "#!/bin/sh\necho \"$1 reports\"\necho \"$1 complains\" >&2\n. \"$CODES\"\n\
                    case \"$1\" in verify) exit \"$verify\" ;; update) exit \"$update\" ;; *) exit 64 ;; esac\n";

/// Installs that, if it is asked as the workflows ask, and keeps count. What it builds sees no token, and no settings of the
/// repository.
const CARGO: &str = r#"#!/bin/sh
[ -z "$GITHUB_TOKEN$GH_TOKEN$TOKEN" ] && [ "$(pwd -P)" = "$(cd "$RUNNER_TEMP" && pwd -P)" ] || exit 65
[ "$*" = "install --quiet --locked --git https://example.org/overlay --rev COMMIT --root $RUNNER_TEMP/overlay overlay" ] || exit 64
mkdir -p "$RUNNER_TEMP/overlay/bin"
cp "$FAKE" "$RUNNER_TEMP/overlay/bin/overlay"
echo installed >> "$RUNNER_TEMP/log"
"#;

/// As much of GitHub's program as the workflow uses, on issues in the file `STORE`.
const GH: &str = r#"#!/bin/bash
set -euo pipefail
[ "$GITHUB_TOKEN" = t0ken ] || exit 4
command="$1 $2"; shift 2
number=; title=; body=; filter=
while [ $# -gt 0 ]; do
  case "$1" in
    --title) title=$2; shift ;;
    --body-file) body=$(cat "$2"); shift ;;
    --jq) filter=$2; shift ;;
    --label | --state | --limit | --json | --comment) shift ;;
    --force) ;;
    *) number=$1 ;;
  esac
  shift
done
change() { jq --arg number "$number" --arg title "$title" --arg body "$body" "$1" "$STORE" > "$STORE.new"; mv "$STORE.new" "$STORE"; }
case "$command" in
  "issue list") jq 'map(select(.state == "open"))' "$STORE" | jq -r "$filter" ;;
  "issue edit") change 'map(if "\(.number)" == $number then .body = $body else . end)' ;;
  "issue close") change 'map(if "\(.number)" == $number then .state = "closed" else . end)' ;;
  "issue create") change '. + [{number: (length + 1), title: $title, body: $body, state: "open"}]' ;;
  "label create") ;;
  *) exit 64 ;;
esac
"#;

/// Where a workflow keeps its issues.
enum Forge {
    Api { server: Server, issues: Arc<Mutex<Vec<Value>>>, fails: Arc<AtomicBool> },
    File,
}

/// A repository with a workflow that has run some nights.
struct Repository {
    project: Project,
    workflow: serde_yaml::Value,
    forge: Forge,
}

fn executable(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Forgejo's API of issues, as much as the workflow uses.
fn api() -> Forge {
    // Two of other people's, so that ours are on no first page.
    let others = (1..=2).map(|n| json!({"number": n, "title": format!("other {n}"), "body": "", "state": "open"}));
    let issues = Arc::new(Mutex::new(others.collect::<Vec<Value>>()));
    let fails = Arc::new(AtomicBool::new(false));
    let (known, is_down) = (Arc::clone(&issues), Arc::clone(&fails));
    let server = Server::start(move |asked: &Asked, out: &mut dyn Write| {
        if is_down.load(Ordering::SeqCst) || asked.header("authorization") != Some("token t0ken") {
            return reply(out, "503 Service Unavailable", "", b"");
        }
        let mut issues = known.lock().unwrap();
        let rest = asked.path().strip_prefix("/api/v1/repos/o/r/issues").unwrap_or("?");
        let sent: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        let answer = match (asked.method.as_str(), rest.strip_prefix('/')) {
            ("GET", None) => {
                let page: usize = asked.query("page").unwrap().parse().unwrap();
                let open = issues.iter().filter(|issue| issue["state"] == "open");
                json!(open.skip((page - 1) * 2).take(2).collect::<Vec<_>>())
            }
            ("POST", None) => {
                let number = issues.len() + 1;
                issues.push(json!({"number": number, "title": sent["title"], "body": sent["body"], "state": "open"}));
                json!({"number": number})
            }
            ("PATCH", Some(number)) => {
                let number: usize = number.parse().unwrap();
                for (key, value) in sent.as_object().unwrap() {
                    issues[number - 1][key] = value.clone();
                }
                json!({"number": number})
            }
            _ => return reply(out, "404 Not Found", "", b""),
        };
        reply(out, "200 OK", "Content-Type: application/json\r\n", answer.to_string().as_bytes())
    });
    Forge::Api { server, issues, fails }
}

impl Repository {
    fn new(example: &str, forge: Forge) -> Repository {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(example));
        let project = Project::new([]);
        executable(&project.path("fake/overlay"), FAKE);
        executable(&project.path("bin/cargo"), CARGO);
        executable(&project.path("bin/gh"), GH);
        project.write("issues.json", "[]");
        Repository { project, workflow: serde_yaml::from_str(&text.unwrap()).unwrap(), forge }
    }

    /// Runs the nightly steps one after the other, until one fails; gives how the last one ended.
    fn night(&self, verify: i32, update: i32) -> i32 {
        self.project.write("codes", &format!("verify={verify}\nupdate={update}\n"));
        self.job("nightly")
    }

    /// Runs the steps of a job on a new runner, as [`Repository::night`] does.
    fn job(&self, name: &str) -> i32 {
        let job = &self.workflow["jobs"][name];
        let mut outputs = HashMap::new();
        let mut ended = 0;
        drop(std::fs::remove_dir_all(self.project.path("temp")));
        self.project.write("temp/path", "");
        for step in job["steps"].as_sequence().unwrap() {
            let Some(script) = step["run"].as_str() else { continue };
            assert!(step.get("if").is_none() && step.get("shell").is_none(), "this runner knows neither");
            self.project.write("step.sh", script);
            self.project.write("output", "");
            let added = std::fs::read_to_string(self.project.path("temp/path")).unwrap().replace('\n', ":");
            let path = format!("{added}{}:{}", self.project.path("bin").display(), std::env::var("PATH").unwrap());
            let mut command = Command::new("bash");
            command.args(["-e", "step.sh"]).current_dir(self.project.path("")).env_clear().env("PATH", path);
            command.env("GITHUB_OUTPUT", "output").env("CODES", self.project.path("codes"));
            command.env("RUNNER_TEMP", self.project.path("temp")).env("GITHUB_PATH", self.project.path("temp/path"));
            command.env("FAKE", self.project.path("fake/overlay"));
            command.env("STORE", self.project.path("issues.json"));
            for (name, value) in
                [&self.workflow["env"], &job["env"], &step["env"]].iter().filter_map(|e| e.as_mapping()).flatten()
            {
                command.env(name.as_str().unwrap(), self.evaluated(value.as_str().unwrap(), &outputs));
            }
            let ran = command.output().unwrap();
            ended = ran.status.code().unwrap();
            if let Some(id) = step["id"].as_str() {
                let output = std::fs::read_to_string(self.project.path("output")).unwrap();
                let (name, value) = output.trim().split_once('=').unwrap();
                outputs.insert(format!("steps.{id}.outputs.{name}"), value.to_owned());
            }
            if ended != 0 {
                break;
            }
        }
        ended
    }

    /// A text with the runner's expressions in it.
    fn evaluated(&self, text: &str, outputs: &HashMap<String, String>) -> String {
        let Some((before, rest)) = text.split_once("${{ ") else { return text.to_owned() };
        let (expression, after) = rest.split_once(" }}").unwrap();
        let value = match (expression, &self.forge) {
            ("github.token" | "secrets.FORGEJO_TOKEN", _) => "t0ken".to_owned(),
            ("github.server_url", Forge::Api { server, .. }) => server.at(""),
            ("github.repository", _) => "o/r".to_owned(),
            _ => outputs.get(expression).unwrap_or_else(|| panic!("{expression}")).clone(),
        };
        format!("{before}{value}{}", self.evaluated(after, outputs))
    }

    /// The issues that the workflow keeps.
    fn issues(&self) -> Vec<Value> {
        let all = match &self.forge {
            Forge::Api { issues, .. } => issues.lock().unwrap().clone(),
            Forge::File => {
                serde_json::from_str(&std::fs::read_to_string(self.project.path("issues.json")).unwrap()).unwrap()
            }
        };
        all.into_iter().filter(|issue| !issue["title"].as_str().unwrap().starts_with("other")).collect()
    }

    /// The same, as title and state.
    fn told(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        self.issues().iter().map(|issue| (text(&issue["title"]), text(&issue["state"]))).collect()
    }
}

/// Every workflow, with a forge of its own. None where a program is missing.
fn repositories() -> Vec<Repository> {
    if !present(&["bash", "curl", "jq"]) {
        return Vec::new();
    }
    vec![Repository::new("github-workflow.yaml", Forge::File), Repository::new("forgejo-workflow.yaml", api())]
}

fn issue(title: &str, state: &str) -> (String, String) {
    (title.to_owned(), state.to_owned())
}

#[test]
fn a_runner_without_overlay_gets_it_before_the_first_step_that_runs_it_and_another_keeps_its_own() {
    for repository in repositories() {
        let installed = || std::fs::read_to_string(repository.project.path("temp/log")).unwrap_or_default();
        for (job, verify) in [("verify", 0), ("verify", 1), ("nightly", 0)] {
            repository.project.write("codes", &format!("verify={verify}\nupdate=0\n"));
            assert_eq!((repository.job(job), installed().as_str()), (verify, "installed\n"), "{job}");
        }
        executable(&repository.project.path("bin/overlay"), FAKE);
        assert_eq!((repository.job("verify"), installed().as_str()), (0, ""));
    }
}

#[test]
fn an_outage_fails_the_night_and_touches_no_issue() {
    for repository in repositories() {
        for (verify, update) in [(2, 0), (0, 2), (2, 2), (127, 0), (0, 101)] {
            assert_eq!(repository.night(verify, update), verify.max(update));
            assert_eq!(repository.told(), []);
        }
        assert_eq!(repository.night(1, 0), 1);
        assert_eq!(repository.night(2, 2), 2);
        assert_eq!(repository.told(), [issue(PINNED, "open")], "what could not be asked is no news");
        // One of them does not keep the other's from being told.
        assert_eq!(repository.night(2, 1), 2);
        assert_eq!(repository.told(), [issue(PINNED, "open"), issue(NEWER, "open")]);
    }
}

#[test]
fn each_of_the_two_reports_has_an_issue_of_its_own_that_is_kept_and_closed() {
    for repository in repositories() {
        assert_eq!(repository.night(0, 0), 0);
        assert_eq!(repository.told(), []);
        for _ in 0..3 {
            assert_eq!(repository.night(0, 1), 1);
            assert_eq!(repository.told(), [issue(NEWER, "open")], "no second one is opened");
        }
        assert_eq!(repository.night(1, 1), 1);
        assert_eq!(repository.told(), [issue(NEWER, "open"), issue(PINNED, "open")]);
        let bodies: Vec<Value> = repository.issues().iter().map(|issue| issue["body"].clone()).collect();
        let body = |introduction: &str, command: &str| {
            format!("{introduction}\n\n~~~~~\n{command} reports\n{command} complains\n\n~~~~~")
        };
        let newer = body("`overlay update --all --check` finds something newer:", "update");
        let pinned = "`overlay verify --online` finds what an upstream, a registry or the repository has no longer as it was pinned:";
        let trimmed = |value: &Value| value.as_str().unwrap().trim_end().to_owned();
        assert_eq!(bodies.iter().map(trimmed).collect::<Vec<_>>(), [newer, body(pinned, "verify")]);
        assert_eq!(repository.night(0, 1), 1);
        assert_eq!(repository.told(), [issue(NEWER, "open"), issue(PINNED, "closed")]);
        assert_eq!(repository.night(0, 0), 0);
        assert_eq!(repository.told(), [issue(NEWER, "closed"), issue(PINNED, "closed")]);
        assert_eq!(repository.night(1, 0), 1);
        assert_eq!(repository.told().last(), Some(&issue(PINNED, "open")), "a closed one is left closed");
    }
}

#[test]
fn a_forge_that_does_not_list_its_issues_gets_no_second_one() {
    for repository in repositories() {
        let Forge::Api { fails, .. } = &repository.forge else { continue };
        repository.night(0, 1);
        fails.store(true, Ordering::SeqCst);
        assert_ne!(repository.night(0, 1), 0);
        fails.store(false, Ordering::SeqCst);
        assert_eq!(repository.told(), [issue(NEWER, "open")]);
    }
}

#[test]
fn the_program_itself_ends_as_the_workflows_expect() {
    for repository in repositories() {
        let project = &repository.project;
        symlink(env!("CARGO_BIN_EXE_overlay"), project.path("bin/overlay")).unwrap();
        let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n";
        project.write("up/m.yaml", manifest);
        project.write("b/base.yaml", "apiVersion: overlay/v1\nkind: Base\nname: b\nsource: {file: ../up/m.yaml}\n");
        project.write("x/overlay.yaml", "apiVersion: overlay/v1\nkind: Overlay\nname: x\nbases: [../b]\n");
        project.output(&["vendor", "b"]);
        assert_eq!(repository.night(0, 0), 0);
        project.write("up/m.yaml", &manifest.replace("a: b", "a: c"));
        assert_eq!(repository.night(0, 0), 1);
        let body = repository.issues()[0]["body"].as_str().unwrap().to_owned();
        assert_eq!(repository.told(), [issue(NEWER, "open")]);
        assert!(body.contains("~ /data/a: \"b\" → \"c\""), "{body}");
        project.write("up/m.yaml", manifest);
        let away = "apiVersion: overlay/v1\nkind: Base\nname: away\nsource: {url: 'http://127.0.0.1:1/m.yaml'}\n";
        project.write("away/base.yaml", away);
        assert_eq!(repository.night(0, 0), 2);
        assert_eq!(repository.told(), [issue(NEWER, "open")]);
    }
}
