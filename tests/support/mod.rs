//! What the tests against other programs' readings and against the corpus share.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Says on standard error that a test did not run, and fails where everything must.
#[track_caller]
pub(crate) fn skip(what: &str, why: &str) {
    assert!(std::env::var_os("OVERLAY_REQUIRE_PEERS").is_none_or(|v| v != "1"), "{what} must run here, but {why}");
    say_skipped(what, why);
}

/// Past the capture of a test's output, as nobody is shown that of a test that passes.
fn say_skipped(what: &str, why: &str) {
    let test = std::thread::current().name().map(|name| format!("{name}: ")).unwrap_or_default();
    std::io::stderr().write_all(format!("skipped: {test}{what}: {why}\n").as_bytes()).unwrap();
}

/// The folder of real manifests and of other projects' test suites, if there is one; a test without it skips itself.
///
/// # Panics
/// When the environment names a folder that is not there.
#[track_caller]
pub(crate) fn corpus() -> Option<PathBuf> {
    let Some(shared) = std::env::var_os("OVERLAY_SHARED") else {
        say_skipped("the corpus", "OVERLAY_SHARED names no folder that has one");
        return None;
    };
    let corpus = PathBuf::from(shared).join("corpus");
    assert!(corpus.is_dir(), "OVERLAY_SHARED is set, but {} is no folder", corpus.display());
    Some(corpus)
}

/// The manifests of the corpus, sorted, with their names.
pub(crate) fn manifests() -> Vec<(String, String)> {
    let Some(corpus) = corpus() else { return Vec::new() };
    let mut paths: Vec<PathBuf> = std::fs::read_dir(corpus)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file() && path.extension().is_some_and(|e| e == "yaml" || e == "yml"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 10, "the corpus has only {} manifests", paths.len());
    paths.iter().map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), read_linked(path))).collect()
}

/// The text of a file, or, where it is a symbolic link that was stored as a file with the target's path, of the target.
fn read_linked(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let linked = !text.contains('\n') && path.with_file_name(&text).is_file();
    if linked { std::fs::read_to_string(path.with_file_name(&text)).unwrap() } else { text }
}

/// kubectl, as the oracle for how Kubernetes reads a manifest.
pub(crate) struct Kubectl {
    program: &'static str,
}

/// The annotation that makes kubectl print what it read.
const ANNOTATION: &str = "overlay-reads-this";

impl Kubectl {
    /// kubectl, if it is installed; a test without it skips itself.
    #[track_caller]
    pub(crate) fn find() -> Option<Self> {
        let program = "kubectl";
        match Command::new(program).args(["version", "--client"]).output() {
            Ok(output) if output.status.success() => Some(Kubectl { program }),
            Ok(output) => {
                skip(program, &String::from_utf8_lossy(&output.stderr));
                None
            }
            Err(error) => {
                skip(program, &error.to_string());
                None
            }
        }
    }

    /// The objects of a manifest as kubectl reads them, or what it says against it.
    pub(crate) fn read(&self, manifest: &str) -> Result<Vec<Value>, String> {
        let mut file = tempfile::Builder::new().suffix(".yaml").tempfile().unwrap();
        file.write_all(manifest.as_bytes()).unwrap();
        let output = Command::new(self.program)
            .env("KUBECONFIG", "/dev/null")
            .args(["annotate", "--local", "-o", "json", "-f"])
            .arg(file.path())
            .arg(format!("{ANNOTATION}=1"))
            .output()
            .unwrap();
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let objects = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
        Ok(objects.map(|object| without_annotation(object.unwrap())).collect())
    }
}

/// The object without the annotation that kubectl was asked to set, and without what was made to hold it.
fn without_annotation(mut object: Value) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        let annotations = metadata.get_mut("annotations").and_then(Value::as_object_mut);
        let left = annotations.map(|annotations| {
            annotations.shift_remove(ANNOTATION);
            annotations.len()
        });
        if left == Some(0) {
            metadata.shift_remove("annotations");
        }
    }
    object
}
