//! Bases that a run has opened, so that overlays on one base share what was read of it.
//!
//! A shelf belongs to one run and is handed down to whoever opens overlays; nothing is global. What stands on it never
//! changes: whoever asks first has the base read, by the checks that every read goes through (`layer::root` and `fsio` open
//! each file once, and ask the handle what it is), and whoever asks later gets what was read then. So all overlays of a
//! run see one state of a base, whatever becomes of its files meanwhile.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::base::Base;
use super::check::{self, VendoredFile};
use super::cut::CutFile;
use super::root::{Located, Root};
use crate::config::Findings;
use crate::diag::{Code, Diagnostic};
use crate::resource::Identity;
use crate::yaml::stream;

/// The bases of a run, each by its folder and by the root that its files must lie in.
#[derive(Debug, Default)]
pub struct Shelf(Mutex<HashMap<(Root, PathBuf), Slot>>);

/// What opening a base came to. Who finds it empty fills it, and others wait for that.
type Slot = Arc<OnceLock<(Option<Arc<OpenBase>>, Findings)>>;

impl Shelf {
    /// The base in a folder. What is wrong with its `base.yaml` is told to everyone who asks.
    pub(super) fn base(&self, root: &Root, folder: &Located, findings: &mut Findings) -> Option<Arc<OpenBase>> {
        let slot = {
            // A thread that panicked left no half-made entry: an entry is made whole, or later, in its slot.
            let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(slots.entry((root.clone(), folder.path.clone())).or_default())
        };
        let (base, found) = slot.get_or_init(|| {
            let mut found = Findings::new();
            (Base::load(root, folder, &mut found).map(OpenBase::new).map(Arc::new), found)
        });
        findings.join(found);
        base.clone()
    }

    /// Puts a base on it, with these vendored files in the place of those on the disk. One that stands there stays.
    pub fn put(&self, root: &Root, base: &Base, files: Vec<VendoredFile>) {
        let mut content = Content::default();
        content.as_locked(base, files);
        let open = Arc::new(OpenBase { base: base.clone(), content: OnceLock::from(content) });
        let slot = Slot::new(OnceLock::from((Some(open), Findings::new())));
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slots.entry((root.clone(), base.folder.path.clone())).or_insert(slot);
    }
}

/// A base, and what its vendored files hold, read when someone first asks.
#[derive(Debug)]
pub struct OpenBase {
    /// Its `base.yaml`.
    pub base: Base,
    content: OnceLock<Content>,
}

/// What the vendored files of a base hold.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// The files, where all of them are as the lock says.
    pub(super) vendored: Option<Arc<[VendoredFile]>>,
    /// The files with their documents. Of a base that is not as locked, what was found, so that patches can be tried on it.
    pub(super) files: Vec<CutFile>,
    /// Whether documents are not there at all.
    pub(super) lacks_documents: bool,
    /// What is wrong with them.
    pub(super) findings: Findings,
}

impl OpenBase {
    fn new(base: Base) -> OpenBase {
        OpenBase { base, content: OnceLock::new() }
    }

    /// What the vendored files hold, held against the lock.
    pub(super) fn content(&self, root: &Root) -> &Content {
        self.content.get_or_init(|| Content::read(root, &self.base))
    }
}

impl Content {
    fn read(root: &Root, base: &Base) -> Content {
        let mut content = Content::default();
        match check::open(root, base, &mut content.findings) {
            Some(files) => content.as_locked(base, files),
            None => content.as_found(root, base),
        }
        content
    }

    fn as_locked(&mut self, base: &Base, vendored: Vec<VendoredFile>) {
        for file in &vendored {
            let identities: Vec<Identity> =
                file.locked.documents.iter().filter(|d| d.kept).map(|d| d.identity.clone()).collect();
            let pieces = stream::split(&file.source.text);
            let documents = pieces.iter().filter(|p| p.content).count();
            if documents == identities.len() {
                self.files.push(CutFile::new(&file.source, pieces, identities, &mut self.findings));
                continue;
            }
            let message = format!(
                "{} holds {documents} documents, and its lock records {} of them as kept",
                file.source.name,
                identities.len()
            );
            let help = format!("Run `overlay vendor {}`.", base.folder.name);
            self.findings.add(Diagnostic::new(Code::BaseNotLocked, message).help(help));
            self.lacks_documents = true;
        }
        self.vendored = Some(vendored.into());
    }

    /// Takes the documents of a base that is not as locked, which the findings told of already.
    fn as_found(&mut self, root: &Root, base: &Base) {
        for file in &base.files {
            let found = check::as_found(root, base, &file.vendored);
            self.lacks_documents |= found.is_none();
            if let Some((source, documents)) = found {
                let identities = documents.into_iter().map(|d| d.identity);
                let pieces = stream::split(&source.text);
                self.files.push(CutFile::new(&source, pieces, identities, &mut self.findings));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::overlay::{Layer, load};
    use crate::layer::plan::Plan;
    use crate::layer::testing::Project;

    const BASE: &str = "apiVersion: overlay/v1\nkind: Base\nname: b\nsource: {file: ../up.yaml}\n";

    fn project() -> Project {
        let overlay = |name: &str| format!("apiVersion: overlay/v1\nkind: Overlay\nname: {name}\nbases: [../b]\n");
        Project::new(&[
            ("b/up.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"),
            ("b/base.yaml", BASE),
            ("one/overlay.yaml", &overlay("one")),
            ("two/overlay.yaml", &overlay("two")),
        ])
    }

    /// The overlay in a folder, laid flat, and what was wrong.
    fn plan(project: &Project, shelf: &Shelf, folder: &str) -> (Plan, Vec<String>) {
        let mut findings = Findings::new();
        let layer = load(&project.root, shelf, &project.folder(folder), &mut findings).unwrap();
        let plan = Plan::new(&project.root, &layer, &mut findings);
        (plan, project.told(&findings))
    }

    #[test]
    fn overlays_on_one_shelf_share_what_was_read_of_their_base_first() {
        let (project, shelf) = (project(), Shelf::default());
        let (one, told) = plan(&project, &shelf, "one");
        let read = one.read(&one.documents[0]).unwrap();
        project.write("b/up.yaml", "changed");
        project.write("b/base.yaml", "changed");
        let (two, told_again) = plan(&project, &shelf, "two");
        assert!(Arc::ptr_eq(&one.files[0], &two.files[0]));
        assert!(Arc::ptr_eq(&read.value, &two.read(&two.documents[0]).unwrap().value));
        assert_eq!(told, ["base-not-locked: b has no base.lock"]);
        assert_eq!(told, told_again);
    }

    #[test]
    fn what_is_wrong_with_a_base_is_told_to_each_overlay_on_it() {
        let (project, shelf) = (project(), Shelf::default());
        project.write("b/base.yaml", &BASE.replace("name: b", "nam: b"));
        let told = |folder: &str| {
            let mut findings = Findings::new();
            let _ = load(&project.root, &shelf, &project.folder(folder), &mut findings);
            project.told(&findings)
        };
        let one = told("one");
        assert_eq!(one, ["b/base.yaml:3:1 unknown-key: the kind Base has no key `nam`"]);
        assert_eq!(one, told("two"));
    }

    #[test]
    fn a_base_that_another_root_cuts_off_is_opened_anew() {
        let (project, shelf) = (project(), Shelf::default());
        assert!(plan(&project, &shelf, "one").0.files.len() == 1);
        let narrow = Root::find(&project.path("one"), Some(&project.path("one")), &project.path("one")).unwrap();
        let folder = narrow.locate(std::path::Path::new(".")).unwrap();
        let mut findings = Findings::new();
        let layer = load(&narrow, &shelf, &folder, &mut findings);
        assert!(matches!(layer, Some(Layer::Overlay(_, below)) if below.is_empty()));
        assert_eq!(findings.iter().next().unwrap().code, Code::PathOutsideRoot);
    }
}
