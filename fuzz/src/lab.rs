//! Whole patches, and files held against an overlay: a base of two documents and an overlay of one patch, on the disk.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use overlay::config::{self, Date, Findings};
use overlay::diag::{Code, Severity, Source};
use overlay::layer::root::Root;
use overlay::subject::Subject;
use overlay::verify;

/// The base's only file.
pub(crate) const MANIFEST: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: lab}
data:
  key: old # why
  json: |
    {\"a\": [1, 2], \"b\": {\"c\": \"d\"}}
  toml: |
    [x]
    y = 1
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
      - name: web
        image: web:1
        args: [--one, \"--two\"]
      - &second
        name: side
        image: side:1
      volumes: []
";

const BASE: &str = "apiVersion: overlay/v1\nkind: Base\nname: net\nsource:\n  file: ../../up.yaml\n";
const OVERLAY: &str =
    "apiVersion: overlay/v1\nkind: Overlay\nname: lab\nbases: [../../base/net]\npatches: [patches/case.yaml]\n";

/// The project that all that is made up is tried on.
pub(crate) struct Lab {
    folder: tempfile::TempDir,
    root: Root,
}

thread_local! {
    pub(crate) static LAB: Lab = Lab::new();
}

impl Lab {
    fn new() -> Lab {
        let folder = tempfile::tempdir().unwrap();
        let path = |below: &str| folder.path().join(below);
        for made in [".git", "base/net", "overlays/lab/patches"] {
            fs::create_dir_all(path(made)).unwrap();
        }
        fs::write(path("up.yaml"), MANIFEST).unwrap();
        fs::write(path("base/net/base.yaml"), BASE).unwrap();
        fs::write(path("overlays/lab/overlay.yaml"), OVERLAY).unwrap();
        lock(&path("base/net"));
        let root = Root::find(folder.path(), None, folder.path()).unwrap();
        let lab = Lab { folder, root };
        lab.set_patch(include_bytes!("../seeds/patch/replace"));
        lab
    }

    fn set_patch(&self, data: &[u8]) {
        fs::write(self.folder.path().join("overlays/lab/patches/case.yaml"), data).unwrap();
    }

    fn open(&self, findings: &mut Findings) -> Subject {
        Subject::open(&self.root, &self.folder.path().join("overlays/lab"), findings).unwrap()
    }

    /// An overlay by its text, over documents that are handed over.
    pub(crate) fn of_file(&self, file: &Arc<Source>, over: &Arc<Source>, findings: &mut Findings) -> Option<Subject> {
        Subject::of_file(&self.root, file, over, findings)
    }
}

/// Locks the base, by the program's own command.
fn lock(base: &Path) {
    let args = ["overlay".as_ref(), "vendor".as_ref(), base.as_os_str()].map(ToOwned::to_owned);
    overlay::cli::main(args);
    assert!(base.join("base.lock").is_file(), "the base could not be locked");
}

fn verified(subject: &Subject) -> verify::overlay::Overlay<'_> {
    let Subject { folder, layer, plan, images, .. } = subject;
    verify::overlay::Overlay { folder: &folder.name, layer, plan, images, today: Date::new(2026, 12, 1).unwrap() }
}

/// Any patch on one base: it is refused with an error, or what it builds is proven to be its own doing.
pub fn patch(data: &[u8]) {
    LAB.with(|lab| {
        lab.set_patch(data);
        let mut findings = Findings::new();
        let subject = lab.open(&mut findings);
        let built = subject.build(&mut findings);
        assert!(built.is_some() || findings.has_errors(), "nothing is built, and nothing is said");
        let refused = findings.has_errors();
        let text = built.as_ref().map(|built| built.text.as_str());
        let report = verify::overlay::report(&verified(&subject), text, findings);
        for finding in &report.findings {
            assert!(!finding.code.as_str().starts_with("internal"), "{}", finding.message);
            let own = matches!(finding.code, Code::UndocumentedDeparture | Code::ClaimMissing);
            assert!(refused || !own, "{}: {}\n{}", finding.code, finding.message, text.unwrap_or_default());
        }
        super::shown(report);
    });
}

/// Any file held against an overlay: read or told, and shown without harm.
pub fn against(data: &[u8]) {
    LAB.with(|lab| {
        let mut findings = Findings::new();
        let subject = lab.open(&mut findings);
        subject.build(&mut findings);
        assert!(!findings.has_errors());
        let Ok(file) = config::source("file.yaml", data.to_vec()) else { return };
        let live = data.len() % 2 == 1;
        let report = verify::against::report(&verified(&subject), &file, live, findings);
        let is_refused = report.findings.iter().any(|finding| finding.severity == Severity::Error);
        assert!(is_refused || report.against.is_some(), "it is not held against the overlay, and nothing is said");
        super::shown(report);
    });
}
