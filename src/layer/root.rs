//! The root: the folder that every file of an overlay must lie in.
//!
//! Repositories that a shared server renders are not trusted, so a path in one of our files is walked component by
//! component. It must not be absolute, must not climb out of the root even to come back, and no symbolic link on it
//! may lead out. Nothing outside the root is looked at on the way, and a refusal does not tell what is there.
//!
//! Paths are shown relative to the current folder where that can be done within what a person sees, else relative
//! to the root, always with `/`.

use std::ffi::OsString;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use crate::diag::{Code, Diagnostic, Place, nearest};
use crate::fsio::{self, Entry, FsError};

/// How many symbolic links one path may go through, as on Linux.
const MAX_LINKS: usize = 40;

/// How long a path in one of our files may be, in bytes: `PATH_MAX` of Linux.
const MAX_PATH: usize = 4096;

/// The folder that Argo CD's plugin server unpacks each checkout below, as `_cmp_server/<id>`.
const ARGOCD_WORK_FOLDER: &str = "_cmp_server";

/// The root, and the folder that paths are shown from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Root {
    path: PathBuf,
    current: PathBuf,
}

/// A path in the root without symbolic links, and the name that it is shown by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Absolute, in the root, every symbolic link followed.
    pub path: PathBuf,
    /// As a person sees it.
    pub name: String,
}

/// Why a path in one of our files leads nowhere that it may.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// It lies outside the root.
    #[error("the path {written:?} {how} outside the root")]
    Outside {
        /// The path as it is written.
        written: String,
        /// How it gets there.
        how: Escape,
        /// Where it would lead.
        leads: String,
        /// The root, as it is shown.
        root: String,
    },
    /// It cannot be the path of a file.
    #[error("{written:?} is not a path: {why}")]
    Malformed {
        /// The path as it is written.
        written: String,
        /// Why not.
        why: &'static str,
    },
    /// Nothing is there.
    #[error("{at}: no such file or folder")]
    Missing {
        /// The first component that is missing, as it is shown.
        at: String,
        /// A name in the same folder that may be meant.
        near: Option<String>,
    },
    /// The disk did not answer.
    #[error(transparent)]
    Disk(#[from] FsError),
}

/// How a path leaves the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Escape {
    /// It is absolute.
    Absolute,
    /// It has too many `..`.
    Climbs,
    /// This symbolic link leads out.
    Link(String),
}

impl fmt::Display for Escape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Escape::Absolute => f.write_str("is absolute, and so"),
            Escape::Climbs => f.write_str("leads"),
            Escape::Link(link) => write!(f, "leads through the symbolic link {link}"),
        }
    }
}

impl PathError {
    /// The finding about it, at the place where the path is written.
    pub fn diagnose(self, place: Option<Place>) -> Diagnostic {
        let (code, message) = match &self {
            PathError::Outside { .. } => (Code::PathOutsideRoot, self.to_string()),
            PathError::Malformed { .. } => (Code::Syntax, self.to_string()),
            PathError::Missing { .. } | PathError::Disk(_) => (Code::FileUnreadable, self.to_string()),
        };
        let finding = Diagnostic::new(code, message);
        let finding = match place {
            Some(place) => finding.at(place, ""),
            None => finding,
        };
        match self {
            PathError::Outside { leads, root, .. } => finding
                .note(format!("It would lead to {leads}."))
                .note(format!("The root is {root}."))
                .help("Name a file below the root, or widen the root with --root."),
            PathError::Missing { at, near: Some(near) } => finding.absent(at).help(format!("Did you mean {near}?")),
            PathError::Missing { at, near: None } | PathError::Disk(FsError::Missing { path: at }) => {
                finding.absent(at)
            }
            PathError::Malformed { .. } | PathError::Disk(_) => finding,
        }
    }
}

impl Root {
    /// The root for work on `start` by someone in the folder `current`: `given`, else the nearest folder at or above
    /// `start` that has a `.git` or is a checkout folder of Argo CD, else `current`.
    pub fn find(start: &Path, given: Option<&Path>, current: &Path) -> Result<Root, FsError> {
        let current = fsio::canonical(current)?;
        if let Some(given) = given {
            return Ok(Root {
                path: fsio::canonical(&current.join(given)).map_err(|e| e.named(&given.to_string_lossy()))?,
                current,
            });
        }
        let start = fsio::canonical(&current.join(start)).map_err(|e| e.named(&start.to_string_lossy()))?;
        for folder in start.ancestors() {
            if is_argocd_checkout(folder) || fsio::entry(&folder.join(".git"))? != Entry::Missing {
                return Ok(Root { path: folder.to_owned(), current });
            }
        }
        Ok(Root { path: current.clone(), current })
    }

    /// The root's own path, absolute and without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What someone named on the command line, relative to the current folder. It may be absolute, but must lie in
    /// the root after all.
    pub fn locate(&self, path: &Path) -> Result<Located, PathError> {
        let full = fsio::canonical(&self.current.join(path)).map_err(|e| e.named(&path.to_string_lossy()))?;
        if full.starts_with(&self.path) {
            return Ok(self.located(full));
        }
        let written = path.to_string_lossy().into_owned();
        let how = if path.is_absolute() { Escape::Absolute } else { Escape::Climbs };
        Err(self.outside(&written, how, &full))
    }

    /// The file or folder that `written` names in a file of ours in `folder`.
    pub fn resolve(&self, folder: &Path, written: &str) -> Result<Located, PathError> {
        match self.walk(folder, written)? {
            Reached::There(path) => Ok(self.located(path)),
            Reached::Missing { at, .. } => Err(self.missing(&at)),
        }
    }

    /// Like [`Root::resolve`], for a file that is to be written and whose last component need not be there yet.
    pub fn resolve_new(&self, folder: &Path, written: &str) -> Result<Located, PathError> {
        match self.walk(folder, written)? {
            Reached::There(path) => Ok(self.located(path)),
            Reached::Missing { at, ahead } if ahead.is_empty() => Ok(self.located(at)),
            Reached::Missing { at, .. } => Err(self.missing(&at)),
        }
    }

    /// Like [`Root::resolve_new`], for a file whose folders need not be there yet either.
    pub fn resolve_to_come(&self, folder: &Path, written: &str) -> Result<Located, PathError> {
        match self.walk(folder, written)? {
            Reached::There(path) => Ok(self.located(path)),
            Reached::Missing { mut at, mut ahead } => {
                let first = at.clone();
                while let Some(step) = ahead.pop() {
                    let Step::Into(name) = step else { return Err(self.missing(&first)) };
                    at.push(name);
                }
                Ok(self.located(at))
            }
        }
    }

    /// The bytes of a located file, at most [`fsio::MAX_FILE`] of them.
    pub fn read(&self, file: &Located) -> Result<Vec<u8>, FsError> {
        debug_assert!(file.path.starts_with(&self.path), "located in another root");
        fsio::read_resolved(&file.path, fsio::MAX_FILE).map_err(|e| e.named(&file.name))
    }

    /// How a path in the root is shown.
    pub fn show(&self, path: &Path) -> String {
        let shown = if let Ok(below) = path.strip_prefix(&self.current) {
            below.to_owned()
        } else if self.current.starts_with(&self.path) {
            relative(&self.current, path)
        } else {
            path.strip_prefix(&self.path).unwrap_or(path).to_owned()
        };
        if shown.as_os_str().is_empty() { ".".to_owned() } else { shown.to_string_lossy().into_owned() }
    }

    /// A file or folder in the root under the name that it is shown by.
    pub fn located(&self, path: PathBuf) -> Located {
        let name = self.show(&path);
        Located { path, name }
    }

    fn outside(&self, written: &str, how: Escape, leads: &Path) -> PathError {
        PathError::Outside {
            written: written.to_owned(),
            how,
            leads: leads.to_string_lossy().into_owned(),
            root: self.path.to_string_lossy().into_owned(),
        }
    }

    fn missing(&self, at: &Path) -> PathError {
        let near = at.parent().zip(at.file_name()).and_then(|(folder, name)| {
            let names = fsio::names(folder);
            nearest(&name.to_string_lossy(), names.iter().map(String::as_str)).map(|near| self.show(&folder.join(near)))
        });
        PathError::Missing { at: self.show(at), near }
    }

    fn walk(&self, folder: &Path, written: &str) -> Result<Reached, PathError> {
        let malformed = |why| PathError::Malformed { written: written.to_owned(), why };
        if written.is_empty() {
            return Err(malformed("it is empty"));
        }
        if written.contains('\0') {
            return Err(malformed("it has a NUL character"));
        }
        if written.len() > MAX_PATH {
            return Err(malformed("it is longer than 4096 bytes"));
        }
        if written.starts_with('/') {
            return Err(self.outside(written, Escape::Absolute, Path::new(written)));
        }
        let mut at = folder.to_owned();
        let mut link: Option<PathBuf> = None;
        let mut links = 0;
        let mut ahead = steps(Path::new(written));
        while let Some(step) = ahead.pop() {
            let Step::Into(name) = step else {
                if at == self.path {
                    let how = link.map_or(Escape::Climbs, |l| Escape::Link(self.show(&l)));
                    return Err(self.outside(written, how, &climbed(&at, ahead)));
                }
                at.pop();
                continue;
            };
            let next = at.join(name);
            match fsio::entry(&next).map_err(|e| e.named(&self.show(&next)))? {
                Entry::Missing => return Ok(Reached::Missing { at: next, ahead }),
                Entry::Link(to) => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(malformed("it goes through more than 40 symbolic links"));
                    }
                    if to.is_absolute() {
                        let Some(inside) = self.inside(&to) else {
                            return Err(self.outside(written, Escape::Link(self.show(&next)), &to));
                        };
                        at.clone_from(&self.path);
                        ahead.extend(steps(&inside));
                    } else {
                        ahead.extend(steps(&to));
                    }
                    link = Some(next);
                }
                Entry::File | Entry::Folder | Entry::Special => at = next,
            }
        }
        Ok(Reached::There(at))
    }

    /// What an absolute link says, relative to the root, if it lies there.
    fn inside(&self, to: &Path) -> Option<PathBuf> {
        if let Ok(below) = to.strip_prefix(&self.path) {
            return Some(below.to_owned());
        }
        let full = fsio::canonical(to).ok()?;
        full.strip_prefix(&self.path).ok().map(Path::to_owned)
    }
}

/// The end of a walk.
enum Reached {
    /// What is there, every link followed.
    There(PathBuf),
    /// Nothing is at the first path; the steps that would have come next, the first one last.
    Missing { at: PathBuf, ahead: Vec<Step> },
}

/// One step of a walk.
enum Step {
    Up,
    Into(OsString),
}

/// The steps of a relative path, the first one last.
fn steps(path: &Path) -> Vec<Step> {
    path.components()
        .rev()
        .filter_map(|c| match c {
            Component::ParentDir => Some(Step::Up),
            Component::Normal(name) => Some(Step::Into(name.to_owned())),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        })
        .collect()
}

/// Where a path leads that takes one step up from `at` and then those `ahead`, by its letters alone.
fn climbed(at: &Path, mut ahead: Vec<Step>) -> PathBuf {
    let mut to = at.parent().unwrap_or(at).to_owned();
    while let Some(step) = ahead.pop() {
        match step {
            Step::Up => {
                to.pop();
            }
            Step::Into(name) => to.push(name),
        }
    }
    to
}

/// `to` as seen from the folder `from`; both absolute, without links.
pub(crate) fn relative(from: &Path, to: &Path) -> PathBuf {
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

fn is_argocd_checkout(folder: &Path) -> bool {
    folder.parent().and_then(Path::file_name).is_some_and(|name| name == ARGOCD_WORK_FOLDER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A folder `repo` (the root, and where the person stands) beside a folder `other`.
    struct Place {
        dir: tempfile::TempDir,
        root: Root,
    }

    impl Place {
        fn new() -> Place {
            let dir = tempfile::tempdir().unwrap();
            for folder in ["repo/.git", "repo/base/multus", "repo/overlays/x/patches", "other"] {
                fs::create_dir_all(dir.path().join(folder)).unwrap();
            }
            fs::write(dir.path().join("repo/base/multus/base.yaml"), "here\n").unwrap();
            fs::write(dir.path().join("other/secret"), "secret\n").unwrap();
            let repo = dir.path().join("repo");
            let root = Root::find(&repo.join("overlays/x"), None, &repo).unwrap();
            Place { dir, root }
        }

        fn path(&self, below: &str) -> PathBuf {
            fsio::canonical(self.dir.path()).unwrap().join(below)
        }

        /// The name of what `written` leads to from `overlays/x`, or the message.
        fn resolve(&self, written: &str) -> String {
            match self.root.resolve(&self.path("repo/overlays/x"), written) {
                Ok(located) => located.name,
                Err(error) => self.without_machine(&error.to_string()),
            }
        }

        /// A text without the path of the temporary folder.
        fn without_machine(&self, text: &str) -> String {
            text.replace(&self.path("").to_string_lossy().into_owned(), "/…/")
        }
    }

    #[test]
    fn a_path_leads_to_a_file_of_the_root() {
        let place = Place::new();
        assert_eq!(place.resolve("../../base/multus"), "base/multus");
        assert_eq!(place.resolve("./../../base//multus/base.yaml"), "base/multus/base.yaml");
        assert_eq!(place.resolve("../.."), ".");
        let located = place.root.resolve(&place.path("repo/overlays/x"), "../../base/multus/base.yaml").unwrap();
        assert_eq!(located.path, place.path("repo/base/multus/base.yaml"));
        assert_eq!(place.root.read(&located).unwrap(), b"here\n");
    }

    #[test]
    fn a_path_may_not_climb_out_of_the_root_even_to_come_back() {
        let place = Place::new();
        for written in
            ["../../..", "../../../other/secret", "../../../repo/base/multus", "../../../../../../etc/passwd"]
        {
            assert_eq!(place.resolve(written), format!("the path {written:?} leads outside the root"));
        }
        let error = place.root.resolve(&place.path("repo/overlays/x"), "../../../other/x").unwrap_err();
        let finding = error.diagnose(None);
        assert_eq!(finding.code, Code::PathOutsideRoot);
        let notes: Vec<String> = finding.notes.iter().map(|n| place.without_machine(n)).collect();
        assert_eq!(notes, ["It would lead to /…/other/x.", "The root is /…/repo."]);
    }

    #[test]
    fn an_absolute_path_is_refused_even_into_the_root() {
        let place = Place::new();
        assert_eq!(place.resolve("/etc/passwd"), "the path \"/etc/passwd\" is absolute, and so outside the root");
        let inside = place.path("repo/base/multus").to_string_lossy().into_owned();
        assert!(matches!(
            place.root.resolve(&place.path("repo"), &inside),
            Err(PathError::Outside { how: Escape::Absolute, .. })
        ));
    }

    #[test]
    fn a_link_out_of_the_root_is_refused_whatever_is_behind_it() {
        let place = Place::new();
        let patches = place.path("repo/overlays/x/patches");
        symlink("../../../../other/secret", patches.join("relative")).unwrap();
        symlink(place.path("other/secret"), patches.join("absolute")).unwrap();
        symlink("../../../../other/nothing", patches.join("dangling")).unwrap();
        symlink("../../../../repo/base", patches.join("out-and-back")).unwrap();
        symlink("relative", patches.join("two-steps")).unwrap();
        for (written, link) in [
            ("patches/relative", "relative"),
            ("patches/absolute", "absolute"),
            ("patches/dangling", "dangling"),
            ("patches/out-and-back/multus", "out-and-back"),
            ("patches/two-steps", "relative"),
        ] {
            let said = format!(
                "the path {written:?} leads through the symbolic link overlays/x/patches/{link} outside the root"
            );
            assert_eq!(place.resolve(written), said);
        }
    }

    #[test]
    fn a_link_within_the_root_is_followed() {
        let place = Place::new();
        symlink("../../base", place.path("repo/overlays/x/relative")).unwrap();
        symlink(place.path("repo/base"), place.path("repo/overlays/x/absolute")).unwrap();
        symlink(place.dir.path().join("repo/overlays/../base"), place.path("repo/overlays/x/dotted")).unwrap();
        for written in ["relative/multus", "absolute/multus", "dotted/multus", "relative/../base/multus"] {
            assert_eq!(place.resolve(written), "base/multus", "{written}");
        }
    }

    #[test]
    fn links_that_lead_in_circles_end() {
        let place = Place::new();
        symlink("loop", place.path("repo/overlays/x/loop")).unwrap();
        assert_eq!(place.resolve("loop"), "\"loop\" is not a path: it goes through more than 40 symbolic links");
    }

    #[test]
    fn what_is_no_path_is_refused() {
        let place = Place::new();
        assert_eq!(place.resolve(""), "\"\" is not a path: it is empty");
        assert_eq!(place.resolve("a\0b"), "\"a\\0b\" is not a path: it has a NUL character");
        assert!(place.resolve(&"a/".repeat(3000)).ends_with("is not a path: it is longer than 4096 bytes"));
    }

    #[test]
    fn a_missing_file_is_named_with_one_that_may_be_meant() {
        let place = Place::new();
        let help = |written: &str| {
            let error = place.root.resolve(&place.path("repo/overlays/x"), written).unwrap_err();
            let finding = error.diagnose(None);
            assert_eq!(finding.code, Code::FileUnreadable);
            (finding.message, finding.help)
        };
        let (message, hints) = help("../../base/Multus/base.yaml");
        assert_eq!(message, "base/Multus: no such file or folder");
        assert_eq!(hints, ["Did you mean base/multus?"]);
        assert_eq!(help("../../base/mutlus").1, ["Did you mean base/multus?"]);
        assert_eq!(help("../../base/multus/base.yaml/x").0, "base/multus/base.yaml/x: no such file or folder");
        assert!(help("../../base/entirely-different").1.is_empty());
    }

    #[test]
    fn a_file_to_come_needs_only_its_folder() {
        let place = Place::new();
        let new = |written| place.root.resolve_new(&place.path("repo/base/multus"), written);
        assert_eq!(new("base.lock").unwrap().name, "base/multus/base.lock");
        assert_eq!(new("base.yaml").unwrap().name, "base/multus/base.yaml");
        assert!(matches!(new("no/base.lock"), Err(PathError::Missing { .. })));
        symlink("../../../other/new", place.path("repo/base/multus/out")).unwrap();
        assert!(matches!(new("out"), Err(PathError::Outside { .. })));
    }

    #[test]
    fn a_file_to_come_may_need_its_folders_too_but_no_link_leads_it_out() {
        let place = Place::new();
        let new = |written| place.root.resolve_to_come(place.root.path(), written);
        assert_eq!(new(".overlay/schemas/base.json").unwrap().name, ".overlay/schemas/base.json");
        assert!(matches!(new(".overlay/../../other/new"), Err(PathError::Missing { .. })));
        symlink("../other", place.path("repo/.overlay")).unwrap();
        assert!(matches!(new(".overlay/schemas/base.json"), Err(PathError::Outside { how: Escape::Link(_), .. })));
    }

    #[test]
    fn the_root_is_the_nearest_folder_with_git_or_an_argocd_checkout_or_the_current_one() {
        let place = Place::new();
        let find = |start: &str, current: &str| {
            let root = Root::find(&place.path(start), None, &place.path(current)).unwrap();
            place.without_machine(&root.path().to_string_lossy())
        };
        assert_eq!(find("repo/base/multus", "other"), "/…/repo");
        assert_eq!(find("other", "other"), "/…/other");
        fs::write(place.path("repo/overlays/.git"), "gitdir: elsewhere\n").unwrap();
        assert_eq!(find("repo/overlays/x", "other"), "/…/repo/overlays");
        fs::create_dir_all(place.path("repo/_cmp_server/0b1d/app")).unwrap();
        assert_eq!(find("repo/_cmp_server/0b1d/app", "repo"), "/…/repo/_cmp_server/0b1d");
        let given = Root::find(Path::new("base"), Some(Path::new("..")), &place.path("repo")).unwrap();
        assert_eq!(given.path(), place.path(""));
    }

    #[test]
    fn paths_are_shown_from_the_current_folder_or_else_from_the_root() {
        let place = Place::new();
        let base = place.path("repo/base/multus");
        let show = |current: &str| Root::find(&base, None, &place.path(current)).unwrap().show(&base);
        assert_eq!(show("repo"), "base/multus");
        assert_eq!(show(""), "repo/base/multus");
        assert_eq!(show("repo/base/multus"), ".");
        assert_eq!(show("repo/overlays/x"), "../../base/multus");
        assert_eq!(show("other"), "base/multus");
    }

    #[test]
    fn what_the_command_line_names_must_lie_in_the_root_but_may_be_absolute() {
        let place = Place::new();
        assert_eq!(place.root.locate(&place.path("repo/base")).unwrap().name, "base");
        assert_eq!(place.root.locate(Path::new("base")).unwrap().name, "base");
        assert!(matches!(
            place.root.locate(Path::new("../other")),
            Err(PathError::Outside { how: Escape::Climbs, .. })
        ));
        assert!(matches!(place.root.locate(Path::new("nothing")), Err(PathError::Disk(FsError::Missing { .. }))));
    }

    #[test]
    fn a_file_that_became_a_link_after_the_check_is_not_read() {
        let place = Place::new();
        let located = place.root.resolve(&place.path("repo"), "base/multus/base.yaml").unwrap();
        fs::remove_file(&located.path).unwrap();
        symlink(place.path("other/secret"), &located.path).unwrap();
        let error = place.root.read(&located).unwrap_err();
        assert_eq!(error.to_string(), "base/multus/base.yaml is a symbolic link, not a regular file");
    }
}
