//! What `argocd-cmp-server` does with a plugin, after its documentation: each call gets a fresh work folder with what
//! was handed over of the repository, the command runs in the Application's folder with Argo CD's variables and is ended
//! with its process group at the deadline, and what it prints is taken apart into manifests.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may run programs, and fail")]

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize as _;
use serde_json::Value;

/// Long enough for a debug build on a busy machine; Argo CD's own default is 60 s.
const DEADLINE: Duration = Duration::from_mins(5);

/// A user that owns nothing here.
const STRANGER: u32 = 65_532;

/// The plugin server.
pub(crate) struct Server {
    folder: tempfile::TempDir,
    calls: usize,
}

/// An Application, as far as the plugin sees it.
pub(crate) struct Application<'a> {
    /// The folder whose content is handed over: the repository, or what is left of it.
    pub(crate) handed_over: &'a Path,
    /// The Application's folder in it.
    pub(crate) path: &'a str,
    /// Further variables.
    pub(crate) environment: &'a [(&'a str, &'a str)],
}

/// What became of a call.
#[derive(Debug)]
pub(crate) struct Answer {
    /// What it printed, as Argo CD takes it: without the last line feed.
    pub(crate) output: String,
    /// What Argo CD's page shows, if it failed.
    pub(crate) error: Option<String>,
    /// The signal that ended it.
    pub(crate) signal: Option<i32>,
    /// Its standard error.
    pub(crate) stderr: String,
}

impl Server {
    pub(crate) fn new() -> Server {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        Server { folder, calls: 0 }
    }

    /// Runs discovery, and where it says yes, generation, each in a work folder of its own.
    pub(crate) fn manifests(&mut self, application: &Application<'_>) -> Result<Vec<Value>, String> {
        assert!(self.discover(application), "the plugin does not take the Application");
        let answer = self.run(application, "generate");
        match answer.error {
            Some(error) => {
                assert_eq!(answer.output, "", "output beside an error");
                Err(error)
            }
            None => Ok(split(&answer.output)),
        }
    }

    pub(crate) fn discover(&mut self, application: &Application<'_>) -> bool {
        let answer = self.run(application, "discover");
        assert_eq!(answer.error, None, "an error here is shown for every Application");
        !answer.output.is_empty()
    }

    pub(crate) fn run(&mut self, application: &Application<'_>, command: &str) -> Answer {
        let mut child = self.start(application, command);
        let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let output = thread::spawn(move || read_to_string(&mut out));
        let stderr = thread::spawn(move || read_to_string(&mut err));
        end(child, DEADLINE, command, || (output.join().unwrap(), stderr.join().unwrap()))
    }

    /// Like [`Server::run`], but nobody reads what the command prints until the deadline has ended it.
    pub(crate) fn run_unread(&mut self, application: &Application<'_>, command: &str, deadline: Duration) -> Answer {
        let mut child = self.start(application, command);
        let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        end(child, deadline, command, || (read_to_string(&mut out), read_to_string(&mut err)))
    }

    /// The work folder of the last call.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join(format!("_cmp_server/{:08x}-call", self.calls))
    }

    fn start(&mut self, application: &Application<'_>, command: &str) -> Child {
        self.calls += 1;
        let work = self.work();
        fs::create_dir_all(&work).unwrap();
        hand_over(application.handed_over, &work);
        let mut run = Command::new(env!("CARGO_BIN_EXE_overlay"));
        run.args(&plugin(command)[1..]).current_dir(work.join(application.path)).process_group(0);
        // The container has neither HOME nor PATH, and its user is whoever the cluster says.
        run.env_clear().envs(variables()).envs(application.environment.iter().copied());
        if rustix::process::geteuid().is_root() {
            run.uid(STRANGER).gid(STRANGER);
        }
        run.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        run.spawn().unwrap()
    }
}

/// The command that `argocd/plugin.yaml` gives the plugin server for one of its calls.
pub(crate) fn plugin(call: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("argocd/plugin.yaml");
    let plugin: Value = serde_yaml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(
        (&plugin["apiVersion"], &plugin["kind"]),
        (&"argoproj.io/v1alpha1".into(), &"ConfigManagementPlugin".into())
    );
    let command = match call {
        "discover" => &plugin["spec"]["discover"]["find"]["command"],
        "generate" => &plugin["spec"]["generate"]["command"],
        "parameters" => &plugin["spec"]["parameters"]["dynamic"]["command"],
        other => panic!("the plugin server has no call {other}"),
    };
    let words: Vec<String> = command.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect();
    assert_eq!(words[0], "overlay", "the image has no other program");
    words
}

/// What Argo CD sets for each call. The source path is that of the repository, whatever part was handed over.
fn variables() -> [(&'static str, &'static str); 10] {
    [
        ("ARGOCD_APP_NAME", "multus"),
        ("ARGOCD_APP_NAMESPACE", "kube-system"),
        ("ARGOCD_APP_PROJECT_NAME", "default"),
        ("ARGOCD_APP_REVISION", "95a0932350f0060cd232096876e24672a1de83fa"),
        ("ARGOCD_APP_REVISION_SHORT", "95a0932"),
        ("ARGOCD_APP_SOURCE_PATH", "/etc/../somewhere/else"),
        ("ARGOCD_APP_SOURCE_REPO_URL", "https://git.example.org/cluster.git"),
        ("ARGOCD_APP_SOURCE_TARGET_REVISION", "main"),
        ("KUBE_VERSION", "1.34"),
        ("KUBE_API_VERSIONS", "v1,apps/v1"),
    ]
}

/// Lays the tree out as it comes through the stream: packed, unpacked, without `.git`, and every mode reset.
fn hand_over(from: &Path, to: &Path) {
    let packed = Command::new("tar").args(["-c", "--exclude=.git", "-C"]).arg(from).arg(".").output().unwrap();
    assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    let mut unpack = Command::new("tar").args(["-x", "-C"]).arg(to).stdin(Stdio::piped()).spawn().unwrap();
    unpack.stdin.take().unwrap().write_all(&packed.stdout).unwrap();
    assert!(unpack.wait().unwrap().success());
    let mut open = vec![to.to_owned()];
    while let Some(folder) = open.pop() {
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                fs::set_permissions(entry.path(), Permissions::from_mode(0o644)).unwrap();
            }
        }
    }
}

/// Waits for a command, and ends its process group at the deadline.
fn end(mut child: Child, deadline: Duration, command: &str, streams: impl FnOnce() -> (String, String)) -> Answer {
    let group = Pid::from_child(&child);
    let (done, wait) = mpsc::channel::<()>();
    let watch = thread::spawn(move || {
        if wait.recv_timeout(deadline) == Err(mpsc::RecvTimeoutError::Timeout) {
            kill_process_group(group, Signal::TERM).unwrap();
        }
    });
    let status = child.wait().unwrap();
    drop(done);
    watch.join().unwrap();
    let (output, stderr) = streams();
    let how = match (status.code(), status.signal()) {
        (Some(0), _) => None,
        (Some(code), _) => Some(format!("exit status {code}")),
        (None, signal) => Some(format!("signal {}", signal.unwrap_or_default())),
    };
    let error = how.map(|how| format!("`{}` failed {how}: {}", plugin(command).join(" "), stderr.trim()));
    let output = output.strip_suffix('\n').unwrap_or(&output).to_owned();
    Answer { output, error, signal: status.signal(), stderr }
}

fn read_to_string(from: &mut impl std::io::Read) -> String {
    let mut text = String::new();
    from.read_to_string(&mut text).unwrap();
    text
}

/// The manifests in a YAML stream, by a reader that is not ours: empty documents are passed over, Lists taken apart.
pub(crate) fn split(stream: &str) -> Vec<Value> {
    let mut manifests = Vec::new();
    for document in serde_yaml::Deserializer::from_str(stream) {
        let value = Value::deserialize(document).unwrap();
        match value.get("items").and_then(Value::as_array) {
            _ if value.is_null() => {}
            Some(items) => manifests.extend(items.iter().cloned()),
            None => manifests.push(value),
        }
    }
    for manifest in &manifests {
        assert!(manifest["apiVersion"].is_string() && manifest["kind"].is_string(), "{manifest}");
    }
    manifests
}
