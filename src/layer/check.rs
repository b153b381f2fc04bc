//! A base held against its lock.
//!
//! Two depths: [`open`] holds the bytes of the vendored files against the recorded hashes, which is all that a build
//! needs; [`contents`] reads every document and holds what it means against the recorded content digests.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::base::{self, Base, own_file};
use super::digest;
use super::documents::{self, Document};
use super::lock::{self, Lock, LockedDocument, LockedFile};
use super::root::{Located, PathError, Root};
use crate::config::{self, Findings};
use crate::diag::{Code, Diagnostic, Place, Source};
use crate::fsio::{self, FsError, Turn};
use crate::resource::Identity;

/// A vendored file whose bytes are those that the lock records.
#[derive(Clone, Debug)]
pub struct VendoredFile {
    /// Its bytes, as text.
    pub source: Arc<Source>,
    /// What the lock says of it.
    pub locked: LockedFile,
}

/// The lock of a base; `None` without one, or with one that cannot be taken, which the findings tell.
pub fn lock(root: &Root, base: &Base, findings: &mut Findings) -> Option<Lock> {
    findings.keep(whole(base))?;
    let located = match root.resolve(&base.folder.path, lock::FILE_NAME) {
        Ok(located) => located,
        Err(PathError::Missing { .. }) => {
            let finding = not_locked(base, format!("{} has no {}", base.folder.name, lock::FILE_NAME));
            findings.add(finding.absent(format!("{}/{}", base.folder.name, lock::FILE_NAME)));
            return None;
        }
        Err(error) => {
            findings.add(error.diagnose(None));
            return None;
        }
    };
    let bytes = match root.read(&located) {
        Ok(bytes) => bytes,
        Err(error) => {
            findings.add(Diagnostic::new(Code::FileUnreadable, error.to_string()));
            return None;
        }
    };
    let source = findings.keep(config::source(located.name, bytes))?;
    Lock::read(&source, findings)
}

/// The turn to read the files of a base together.
///
/// # Errors
/// A finding, where another run of the program is changing them and does not end.
fn turn(base: &Base) -> Result<Turn, Box<Diagnostic>> {
    Turn::to_read([&*base.folder.path]).map_err(|error| {
        let finding = Diagnostic::new(Code::FileUnreadable, error.named(&base.folder.name).to_string());
        Box::new(finding.help("Try again when it has ended."))
    })
}

/// Refuses a base whose `base.yaml` another run of the program has changed since it was read. Whoever asks has the turn
/// on its folder, so that it stays as it is found.
///
/// # Errors
/// A finding that says so.
pub fn current(root: &Root, folder: &Located, read: &Source) -> Result<(), Box<Diagnostic>> {
    let now = own_file(root, folder, base::FILE_NAME, &mut Findings::new());
    if now.is_none_or(|now| now.text == read.text) {
        return Ok(());
    }
    let message = format!("{} was changed by another program after it was read", read.name);
    Err(Box::new(Diagnostic::new(Code::FileUnreadable, message).help("Try again.")))
}

/// Refuses a base whose files were being written when that was cut off. One that is being written now is waited for.
pub(super) fn whole(base: &Base) -> Result<(), Box<Diagnostic>> {
    if !fsio::is_half_written(&base.folder.path) {
        return Ok(());
    }
    let _turn = turn(base)?;
    if !fsio::is_half_written(&base.folder.path) {
        return Ok(());
    }
    let message = format!("{} is half-written: a run of this program was cut off there", base.folder.name);
    let finding = Diagnostic::new(Code::BaseHalfWritten, message).at(base.place(&base.name), "this base");
    Err(Box::new(finding.help(format!("{} It completes that first.", vendor_help(base)))))
}

/// The vendored files of a base in order, their bytes held against the lock. `None` where anything is not as the lock
/// says; the findings tell what differs.
pub fn open(root: &Root, base: &Base, findings: &mut Findings) -> Option<Vec<VendoredFile>> {
    open_where(root, base, &|lock| other_files(base, lock).or_else(|| other_documents(base, lock)), findings)
}

/// Like [`open`], whatever `keep` says now: for a base on its way to another upstream, whose `keep` may name what only that
/// one has.
pub fn as_locked(root: &Root, base: &Base, findings: &mut Findings) -> Option<Vec<VendoredFile>> {
    open_where(root, base, &|lock| other_files(base, lock), findings)
}

/// The vendored files of a base whose lock has no such problem.
fn open_where(
    root: &Root,
    base: &Base,
    problem: &dyn Fn(&Lock) -> Option<String>,
    findings: &mut Findings,
) -> Option<Vec<VendoredFile>> {
    let _turn = findings.keep(turn(base))?;
    findings.keep(current(root, &base.folder, &base.source))?;
    let lock = lock(root, base, findings)?;
    if let Some(problem) = problem(&lock) {
        findings.add(not_locked(base, problem));
        return None;
    }
    let files: Vec<Option<VendoredFile>> =
        lock.files.into_iter().map(|locked| vendored_file(root, base, locked, findings)).collect();
    files.into_iter().collect()
}

/// Holds what every document of the vendored files means against the lock.
pub fn contents(base: &Base, files: &[VendoredFile], findings: &mut Findings) {
    for file in files {
        if let Some(differences) = differences(&file.source, &file.locked, Against::Lock, findings) {
            findings.extend(differences.into_iter().map(|d| d.help(edited_help(base, &file.source.name))));
        }
    }
}

/// Why the lock is not one of the files that this `base.yaml` names, if it is not.
fn other_files(base: &Base, lock: &Lock) -> Option<String> {
    let wanted: Vec<_> = base.files.iter().map(|f| (base.origin.address(f), f.vendored.as_str())).collect();
    let locked: Vec<_> = lock.files.iter().map(|f| (Some(f.address.clone()), f.vendored.name.as_str())).collect();
    (wanted != locked).then(|| format!("{} names other files than the lock records", base.source.name))
}

/// Why the lock is not one of this `keep`, if it is not.
fn other_documents(base: &Base, lock: &Lock) -> Option<String> {
    let documents = lock.files.iter().flat_map(|f| &f.documents);
    let other = documents.into_iter().find(|d| !keep_agrees(base, d))?;
    let (is, should) = if other.kept { ("kept", "leaves it out") } else { ("left out", "keeps it") };
    Some(format!("{} is {is} in the lock, but `keep` of {} {should}", other.identity, base.source.name))
}

/// Whether `keep` can have led to what the lock says of a document. A target with labels or annotations cannot be
/// asked without the document.
fn keep_agrees(base: &Base, document: &LockedDocument) -> bool {
    let Some(keep) = &base.keep else { return document.kept };
    let mut fitting = keep.iter().filter(|t| t.value.may_match(&document.identity));
    if document.kept {
        fitting.next().is_some()
    } else {
        fitting.all(|t| !(t.value.labels.is_empty() && t.value.annotations.is_empty()))
    }
}

fn vendored_file(root: &Root, base: &Base, locked: LockedFile, findings: &mut Findings) -> Option<VendoredFile> {
    let name = &locked.vendored.name;
    let located = match root.resolve(&base.folder.path, name) {
        Ok(located) => located,
        Err(PathError::Missing { at, .. }) => {
            let finding = Diagnostic::new(Code::BaseFileChanged, format!("the vendored file {at} is missing"));
            findings.add(finding.absent(at).help(restore_help(base)));
            return None;
        }
        Err(error) => {
            findings.add(error.diagnose(None));
            return None;
        }
    };
    let bytes = match root.read(&located) {
        Ok(bytes) => bytes,
        Err(error @ FsError::TooLarge { .. }) => {
            findings.add(Diagnostic::new(Code::BaseFileChanged, error.to_string()).help(vendor_help(base)));
            return None;
        }
        Err(error) => {
            findings.add(Diagnostic::new(Code::FileUnreadable, error.to_string()));
            return None;
        }
    };
    let found = digest::sha256(&bytes);
    if found == locked.vendored.sha256 {
        let source = findings.keep(config::source(located.name, bytes))?;
        return Some(VendoredFile { source, locked });
    }
    findings.extend(changed(base, located.name, bytes, &found, &locked));
    None
}

/// A vendored file and its documents as they are, whatever the lock says; `None` where it cannot be read.
pub fn as_found(root: &Root, base: &Base, name: &str) -> Option<(Arc<Source>, Vec<Document>)> {
    let located = root.resolve(&base.folder.path, name).ok()?;
    let bytes = root.read(&located).ok()?;
    let source = config::source(located.name, bytes).ok()?;
    let documents = documents::read(&source, &mut Findings::new())?;
    Some((source, documents))
}

/// What is to be said of a vendored file with other bytes: that, and which documents mean something else.
fn changed(base: &Base, name: String, bytes: Vec<u8>, found: &str, locked: &LockedFile) -> Vec<Diagnostic> {
    let sizes = format!("It has {} bytes, the lock records {}.", bytes.len(), locked.vendored.size);
    let hashes = format!("Its sha256 is {found}, the lock records {}.", locked.vendored.sha256);
    let message = format!("{name} is not the file that the lock records");
    let finding = Diagnostic::new(Code::BaseFileChanged, message).note(sizes).note(hashes);
    let edited = edited_help(base, &name);
    let mut inner = Findings::new();
    let source = inner.keep(config::source(name, bytes));
    let differences = source.and_then(|source| differences(&source, locked, Against::Lock, &mut inner));
    match differences {
        Some(differences) if differences.is_empty() => {
            let folder = &base.folder.name;
            let finding = finding
                .note("Every document means what the lock records: only layout or comments differ.")
                .help(restore_help(base))
                .help(format!("To keep this layout and record it, run `overlay vendor {folder} --accept-layout`."));
            vec![finding]
        }
        Some(differences) => {
            let differences = differences.into_iter().map(|d| d.help(edited.clone()));
            std::iter::once(finding.help(restore_help(base))).chain(differences).collect()
        }
        None => std::iter::once(finding.help(restore_help(base))).chain(inner.into_vec()).collect(),
    }
}

/// What a vendored file is held against, as the end of a sentence.
#[derive(Clone, Copy, Debug)]
pub(super) enum Against {
    /// The lock that is there.
    Lock,
    /// What was fetched, before there is a lock that says so.
    Upstream,
}

impl fmt::Display for Against {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Against::Lock => "the lock records",
            Against::Upstream => "upstream publishes",
        })
    }
}

/// The documents of a vendored file that do not mean what is expected of them, that are missing or that are too many.
/// `None` where the file cannot be read; the findings say why.
pub(super) fn differences(
    source: &Arc<Source>,
    locked: &LockedFile,
    against: Against,
    findings: &mut Findings,
) -> Option<Vec<Diagnostic>> {
    let found = documents::read(source, findings)?;
    let kept = || locked.documents.iter().filter(|d| d.kept);
    if kept().map(|d| &d.content).eq(found.iter().map(|d| &d.content)) {
        return Some(Vec::new());
    }
    let mut expected: HashMap<&str, usize> = HashMap::new();
    kept().for_each(|d| *expected.entry(&d.content).or_default() += 1);
    let mut take = |content: &str| match expected.get_mut(content) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    };
    let odd: Vec<&Document> = found.iter().filter(|d| !take(&d.content)).collect();
    let missing: Vec<&LockedDocument> = kept().filter(|d| take(&d.content)).collect();
    if odd.is_empty() && missing.is_empty() {
        let message = format!("the documents of {} stand in another order than {against}", source.name);
        return Some(vec![Diagnostic::new(Code::BaseContentChanged, message)]);
    }
    Some(unlike(source, &odd, &missing, against))
}

/// The findings about the `odd` documents of a file, which are not expected as they are, and about those that are
/// expected and that the file does not have as they should be.
fn unlike(source: &Arc<Source>, odd: &[&Document], missing: &[&LockedDocument], against: Against) -> Vec<Diagnostic> {
    let finding = |message: String, identity: &Identity| {
        Diagnostic::new(Code::BaseContentChanged, message).resource(identity.to_string())
    };
    let mut by_identity: HashMap<&Identity, &LockedDocument> = missing.iter().map(|d| (&d.identity, *d)).collect();
    let mut out = Vec::new();
    for document in odd {
        let Document { identity, named, content, .. } = document;
        let place = Place::new(source, named.clone());
        out.push(match by_identity.remove(identity) {
            Some(recorded) => finding(format!("{identity} does not mean what {against}"), identity)
                .at(place, "this document")
                .note(format!("Its content digest is {content}, {against} {}.", recorded.content)),
            None => finding(format!("{identity} is not among the kept documents that {against}"), identity)
                .at(place, "this document"),
        });
    }
    let gone = missing.iter().filter(|d| by_identity.contains_key(&d.identity)).map(|d| &d.identity);
    out.extend(gone.map(|identity| finding(format!("{identity} is missing in {}", source.name), identity)));
    out
}

fn not_locked(base: &Base, message: String) -> Diagnostic {
    Diagnostic::new(Code::BaseNotLocked, message).help(vendor_help(base))
}

fn vendor_help(base: &Base) -> String {
    format!("Run `overlay vendor {}`.", base.folder.name)
}

/// What to do about a vendored file whose bytes are not those of the lock.
fn restore_help(base: &Base) -> String {
    let folder = &base.folder.name;
    format!("To put back what was vendored, run `overlay vendor {folder}`; with `--check` it says what it would write.")
}

/// What to do about a document that someone edited in the vendored file `name`.
fn edited_help(base: &Base, name: &str) -> String {
    let folder = &base.folder.name;
    format!(
        "To make patches of the edit, copy {name} elsewhere, put the base back with `overlay vendor {folder}`, and run \
         `overlay adopt COPY --base {folder} --to DIR`, or with `--into` for an overlay that is there."
    )
}
