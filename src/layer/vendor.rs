//! Vendoring: from upstream's bytes to the files of a base's folder and its lock.
//!
//! What is to be done is planned in full before anything is written, so that several bases change as one step, a
//! check is the same plan left undone, and a base that is as it should be is not touched. Upstream's bytes are handed
//! in; how they are had from a network is not known here.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::base::{Base, Published};
use super::check::{self, Against, VendoredFile};
use super::digest;
use super::documents::{self, Document};
use super::etag::SentTag;
use super::lock::{self, Layout, Lock, LockedDocument, LockedFile, Upstream, Vendored};
use super::root::{Located, PathError, Root};
use super::separators;
use crate::config::{self, Findings, Spanned};
use crate::diag::{Code, Diagnostic, Severity, Source};
use crate::fsio::{self, FsError};
use crate::resource::body::not_manifest;
use crate::resource::{Identity, Target};
use crate::yaml::stream;

/// Upstream's bytes of one file.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// Where they were read, as a person knows it.
    pub name: String,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What their server called them, where it may be asked by that again.
    pub etag: Option<SentTag>,
}

impl Fetched {
    /// Bytes that no server has a name for.
    pub fn new(name: String, bytes: Vec<u8>) -> Fetched {
        Fetched { name, bytes, etag: None }
    }
}

/// Upstream's bytes where a base has them already.
#[derive(Clone, Debug)]
pub struct Held {
    /// The bytes: their SHA-256 is the one that the lock records of upstream's.
    pub bytes: Vec<u8>,
    /// What their server called them.
    pub etag: SentTag,
}

/// Upstream's bytes of a file as the base's folder has them, if it has, and the lock records what their server called
/// them. A vendored file with less, or in another layout, has other bytes; so has one that was edited.
pub fn held(root: &Root, base: &Base, file: &Published) -> Option<Held> {
    let address = base.origin.address(file)?;
    let lock = check::lock(root, base, &mut Findings::new())?;
    let locked = lock.files.into_iter().find(|locked| locked.address == address)?;
    let etag = locked.upstream.etag?;
    let vendored = root.resolve(&base.folder.path, &locked.vendored.name).ok()?;
    let bytes = root.read(&vendored).ok()?;
    (digest::sha256(&bytes) == locked.upstream.sha256).then_some(Held { bytes, etag })
}

/// The bytes of a file that a `file:` source names.
///
/// # Errors
/// A finding that says why there are none.
pub fn from_root(root: &Root, base: &Base, file: &Published) -> Result<Fetched, Box<Diagnostic>> {
    let place = base.place(&file.path);
    let located = root.resolve(&base.folder.path, &file.path.value);
    let located = located.map_err(|e| Box::new(e.diagnose(Some(place.clone()))))?;
    match root.read(&located) {
        Ok(bytes) => Ok(Fetched::new(located.name, bytes)),
        Err(e) => Err(Box::new(Diagnostic::new(Code::FileUnreadable, e.to_string()).at(place, ""))),
    }
}

/// What brings a base to the state that its `base.yaml` asks for.
#[derive(Debug, Default)]
pub struct Plan {
    /// The steps; none where the base is as it should be.
    pub steps: Vec<Step>,
}

impl Plan {
    /// The plan with one more step, such as the one that pins the base. `None` where a file of the base that is to change
    /// stands in another folder, which the findings tell: a symbolic link leads there. Files of several folders do not change
    /// as one where that is cut off.
    pub fn with(self, step: Option<Step>, root: &Root, base: &Base, findings: &mut Findings) -> Option<Plan> {
        let plan = Plan { steps: self.steps.into_iter().chain(step).collect() };
        let apart = plan.steps.iter().filter(|step| step.file.path.parent() != Some(&*base.folder.path));
        let apart: Vec<Diagnostic> = apart.map(|step| stands_apart(root, base, &step.file)).collect();
        let is_whole = apart.is_empty();
        findings.extend(apart);
        is_whole.then_some(plan)
    }
}

fn stands_apart(root: &Root, base: &Base, file: &Located) -> Diagnostic {
    let leads_there = |name: &&String| root.resolve(&base.folder.path, name).is_ok_and(|to| to.path == file.path);
    let links = fsio::names(&base.folder.path);
    let link = links.iter().find(leads_there).map(|name| root.show(&base.folder.path.join(name)));
    let message = match link {
        Some(link) => format!("{link} is a symbolic link to {} and is not written", file.name),
        None => format!("{} stands outside {} and is not written", file.name, base.folder.name),
    };
    let finding = Diagnostic::new(Code::FileUnreadable, message).at(base.place(&base.name), "this base");
    let finding = finding.note("The files of a base change as one step, which those of one folder can.");
    finding.help(format!("Put the file itself into {}.", base.folder.name))
}

/// One file to be written or removed.
#[derive(Clone, Debug)]
pub struct Step {
    /// The file.
    pub file: Located,
    /// The bytes that it is to have; `None` where it is to go.
    pub bytes: Option<Vec<u8>>,
    /// What that means to a person, as a clause: `2 of 6 documents, 4711 bytes`.
    pub note: String,
}

/// What a person takes as it is, though the lock or upstream says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accept {
    /// A vendored file that is there and means what upstream's kept documents mean stays as it is.
    pub layout: bool,
    /// Bytes that are not those of the lock are taken in, where the source is not pinned to a commit or a release.
    pub changes: bool,
}

/// Plans the vendoring of a base from upstream's bytes, in the order of [`Base::files`]. `None` where something forbids
/// it, which the findings tell.
pub fn plan(root: &Root, base: &Base, fetched: &[Fetched], accept: Accept, findings: &mut Findings) -> Option<Plan> {
    let old = old_lock(root, base, findings)?;
    let planner = Planner { root, base, old: old.as_ref(), accept };
    let fetched: Vec<Option<Manifest>> =
        base.files.iter().zip(fetched).map(|(file, fetched)| planner.manifest(file, fetched, findings)).collect();
    let fetched: Vec<Manifest> = fetched.into_iter().collect::<Option<_>>()?;
    let kept = planner.keep(&fetched, findings)?;
    planner.plan(&fetched, &kept, findings)
}

/// The vendored files that a base would have with these bytes of upstream's, and what its lock would say of them,
/// whatever pins say. Nothing is to be written of it. `None` where they could not be vendored, which the findings tell.
pub fn preview(root: &Root, base: &Base, fetched: &[Fetched], findings: &mut Findings) -> Option<Vec<VendoredFile>> {
    let old = old_lock(root, base, findings)?;
    let planner = Planner { root, base, old: old.as_ref(), accept: Accept::default() };
    let manifest = |(published, fetched): (&Published, &Fetched)| {
        let (source, documents) = read_manifest(base, published, fetched, findings)?;
        let address = base.origin.address(published).unwrap_or_default();
        Some(Manifest { published: published.clone(), address, etag: None, source, documents })
    };
    let fetched: Vec<Manifest> = base.files.iter().zip(fetched).map(manifest).collect::<Option<_>>()?;
    let kept = planner.keep(&fetched, findings)?;
    fetched.iter().zip(&kept).map(|(file, kept)| planner.preview(file, kept, findings)).collect()
}

/// The documents of what was fetched as one file of a base. `None` where it is no manifest, which the findings tell.
pub fn read_manifest(
    base: &Base,
    published: &Published,
    fetched: &Fetched,
    findings: &mut Findings,
) -> Option<(Arc<Source>, Vec<Document>)> {
    let Fetched { name, bytes, .. } = fetched;
    let place = base.place(&published.path);
    if let Some(what) = not_manifest(bytes) {
        findings.add(Diagnostic::new(Code::Syntax, format!("{name} is no manifest: it is {what}")).at(place, ""));
        return None;
    }
    let source = findings.keep(config::source(name, bytes.clone()))?;
    if let Some(finding) = separators::check(&source, &stream::split(&source.text)) {
        findings.add(finding);
        return None;
    }
    let documents = documents::read(&source, findings)?;
    if documents.iter().any(|d| !d.identity.kind.is_empty() && !d.identity.version.is_empty()) {
        return Some((source, documents));
    }
    let message = format!("{name} is no manifest: no document has apiVersion and kind");
    let finding = Diagnostic::new(Code::Syntax, message).at(place, "");
    findings.add(finding.note(format!("It begins with {}.", start(bytes))));
    None
}

/// Holds upstream's bytes against the lock of a base, one file after the other in the order of [`Base::files`]. Where
/// an address names a commit or a release, other bytes are an error; else upstream has moved on, which is a warning.
pub fn hold(root: &Root, base: &Base, fetched: &[Fetched], findings: &mut Findings) {
    let Some(lock) = check::lock(root, base, findings) else { return };
    for (published, fetched) in base.files.iter().zip(fetched) {
        let Some(address) = findings.keep(address(base, published)) else { continue };
        let Some(locked) = lock.files.iter().find(|f| f.address == address) else { continue };
        let Some(mut finding) = upstream_changed(base, published, locked, fetched) else { continue };
        finding = if base.origin.is_pinned() {
            finding.help("What is pinned does not change by right: find out who changed it.")
        } else {
            finding.severity = Severity::Warning;
            finding.help(format!("Run `overlay update {}` to see what is new.", base.folder.name))
        };
        findings.add(finding);
    }
}

/// Where a file is at upstream's, as the lock records it.
///
/// # Errors
/// A finding, where no commit is pinned.
pub fn address(base: &Base, published: &Published) -> Result<String, Box<Diagnostic>> {
    base.origin.address(published).ok_or_else(|| {
        let finding = Diagnostic::new(Code::Syntax, "no commit is pinned");
        let finding = finding.at(base.place(&published.path), "so this file has no address");
        Box::new(finding.help("Add `commit:` beside `ref:`."))
    })
}

/// The finding about an address that gives other bytes than the lock records, if it does.
fn upstream_changed(base: &Base, published: &Published, locked: &LockedFile, fetched: &Fetched) -> Option<Diagnostic> {
    let found = digest::sha256(&fetched.bytes);
    if locked.upstream.sha256 == found {
        return None;
    }
    let message = format!("{} has other bytes than the lock records", locked.address);
    let finding = Diagnostic::new(Code::UpstreamChanged, message)
        .at(base.place(&published.path), "")
        .note(format!("Its sha256 is {found}, the lock records {}.", locked.upstream.sha256))
        .note(format!("It has {} bytes, the lock records {}.", fetched.bytes.len(), locked.upstream.size));
    Some(finding)
}

/// How many documents a finding names.
const MAX_CHANGES: usize = 12;

/// What became of upstream's documents since the lock was written, a sentence each.
fn content_changes(locked: &[LockedDocument], found: &[Document]) -> Vec<String> {
    let contents: HashSet<(&Identity, &str)> = locked.iter().map(|d| (&d.identity, d.content.as_str())).collect();
    let before: HashSet<&Identity> = locked.iter().map(|d| &d.identity).collect();
    let after: HashSet<&Identity> = found.iter().map(|d| &d.identity).collect();
    let changed = found.iter().filter(|d| !contents.contains(&(&d.identity, d.content.as_str())));
    let changed = changed.map(|d| {
        let what = if before.contains(&d.identity) { "means something else now" } else { "is new" };
        format!("{} {what}.", d.identity)
    });
    let gone = locked.iter().filter(|d| !after.contains(&d.identity));
    changed.chain(gone.map(|d| format!("{} is gone.", d.identity))).collect()
}

/// Carries plans out, all as one step, by the process that has had the [`fsio::Turn`] to write on the bases' folders since
/// before it planned. One that is cut off leaves a base as it was, or half-way to what it is to be,
/// which [`check::lock`] then says.
pub fn carry_out(plans: &[&Plan]) -> Result<(), FsError> {
    let steps = || plans.iter().flat_map(|p| &p.steps);
    let writes: Vec<fsio::Write<'_>> = steps()
        .filter_map(|s| s.bytes.as_deref().map(|bytes| fsio::Write { path: s.file.path.clone(), bytes }))
        .collect();
    let removals: Vec<PathBuf> = steps().filter(|s| s.bytes.is_none()).map(|s| s.file.path.clone()).collect();
    fsio::commit_recoverably(&writes, &removals)
}

/// The lock that is there; `Some(None)` where there is none.
#[expect(clippy::option_option, reason = "a lock that cannot be taken is told from none")]
fn old_lock(root: &Root, base: &Base, findings: &mut Findings) -> Option<Option<Lock>> {
    match root.resolve(&base.folder.path, lock::FILE_NAME) {
        Err(PathError::Missing { .. }) => findings.keep(check::whole(base)).map(|()| None),
        _ => check::lock(root, base, findings).map(Some),
    }
}

/// Upstream's manifest of one file, read.
struct Manifest {
    published: Published,
    address: String,
    etag: Option<SentTag>,
    source: Arc<Source>,
    documents: Vec<Document>,
}

struct Planner<'a> {
    root: &'a Root,
    base: &'a Base,
    old: Option<&'a Lock>,
    accept: Accept,
}

impl Planner<'_> {
    fn manifest(&self, published: &Published, fetched: &Fetched, findings: &mut Findings) -> Option<Manifest> {
        let address = findings.keep(address(self.base, published))?;
        let locked = self.old.and_then(|old| old.files.iter().find(|f| f.address == address));
        let changed =
            locked.and_then(|locked| upstream_changed(self.base, published, locked, fetched).zip(Some(locked)));
        let (changed, locked) = changed.unzip();
        if self.base.origin.is_pinned()
            && let Some(finding) = changed
        {
            findings.add(
                finding.help("What is pinned does not change by right: find out who changed it. Nothing was written."),
            );
            return None;
        }
        let (source, documents) = read_manifest(self.base, published, fetched, findings)?;
        if !self.accept.changes
            && let (Some(finding), Some(locked)) = (changed, locked)
        {
            findings.add(self.moved_on(finding, &locked.documents, &documents));
            return None;
        }
        Some(Manifest { published: published.clone(), address, etag: fetched.etag.clone(), source, documents })
    }

    /// Completes the finding about an address that nothing pins and that has moved on: which documents did, and how to
    /// follow.
    fn moved_on(&self, finding: Diagnostic, locked: &[LockedDocument], found: &[Document]) -> Diagnostic {
        let base = &self.base.folder.name;
        let changes = content_changes(locked, found);
        let finding = if changes.is_empty() {
            finding.note("Every document means what it meant: comments or layout changed.")
        } else {
            let more = changes.len().saturating_sub(MAX_CHANGES);
            let finding = changes.into_iter().take(MAX_CHANGES).fold(finding, Diagnostic::note);
            if more == 0 { finding } else { finding.note(format!("And {more} more.")) }
        };
        finding.help(format!(
            "Nothing was written. `overlay update {base}` tells what that means for each patch, and follows with \
             `--write`; a file that `--from` names is handed to it in the same way. `overlay vendor {base} \
             --accept-changes` follows without asking the patches."
        ))
    }

    /// For each file, which of its documents are kept. `None` where `keep` names what is not there.
    fn keep(&self, fetched: &[Manifest], findings: &mut Findings) -> Option<Vec<Vec<bool>>> {
        let Some(keep) = &self.base.keep else {
            return Some(fetched.iter().map(|f| vec![true; f.documents.len()]).collect());
        };
        let before = findings.len();
        for target in keep {
            let mut documents = fetched.iter().flat_map(|f| &f.documents);
            if !documents.any(|d| target.value.matches(&d.identity, &d.value)) {
                findings.add(self.keeps_nothing(target, fetched));
            }
        }
        let kept = |d: &Document| keep.iter().any(|t| t.value.matches(&d.identity, &d.value));
        let kept: Vec<Vec<bool>> = fetched.iter().map(|f| f.documents.iter().map(kept).collect()).collect();
        for (file, kept) in fetched.iter().zip(&kept) {
            if findings.len() == before && !kept.contains(&true) {
                let message = format!("`keep` leaves nothing of {}", file.published.path.value);
                let place = self.base.place(&file.published.path);
                findings.add(Diagnostic::new(Code::ResultEmpty, message).at(place, "none of its documents is kept"));
            }
        }
        (findings.len() == before).then_some(kept)
    }

    fn keeps_nothing(&self, target: &Spanned<Target>, fetched: &[Manifest]) -> Diagnostic {
        let documents: Vec<&Document> = fetched.iter().flat_map(|f| &f.documents).collect();
        let near = target.value.nearest(documents.iter().map(|d| (&d.identity, &d.value)), 3);
        let message = format!("upstream has no document that is {}", target.value);
        let finding = Diagnostic::new(Code::TargetMissing, message).at(self.base.place(target), "keeps nothing");
        let near = near.iter().filter_map(|n| documents.get(n.index)).map(|d| d.identity.to_string());
        let finding = near.fold(finding, |finding, identity| finding.note(format!("There is {identity}.")));
        finding.help(format!(
            "Name in `keep` what upstream has, or take the line out. Where it is a newer upstream that has this document, run \
             `overlay update {}`, which asks `keep` of the newer one alone.",
            self.base.folder.name
        ))
    }

    fn plan(&self, fetched: &[Manifest], kept: &[Vec<bool>], findings: &mut Findings) -> Option<Plan> {
        let before = findings.len();
        let mut steps = Vec::new();
        let mut files = Vec::new();
        for (file, kept) in fetched.iter().zip(kept) {
            let Some((locked, step)) = self.file(file, kept, findings) else { continue };
            files.push(locked);
            steps.extend(step);
        }
        steps.extend(self.removals(&files));
        if let Some((file, present)) = self.present(lock::FILE_NAME, findings)
            && let Some(text) = self.lock(files, present.as_deref())
        {
            steps.push(Step { file, note: "the hashes of the base".into(), bytes: Some(text.into_bytes()) });
        }
        let plan = Plan { steps }.with(None, self.root, self.base, findings)?;
        (findings.len() == before).then_some(plan)
    }

    /// The text that the lock is to have; `None` where the one that is there says all of it. That a server has another
    /// name for bytes that are the same is no reason to write a lock, and is taken in where there is one.
    fn lock(&self, mut files: Vec<LockedFile>, present: Option<&[u8]>) -> Option<String> {
        let new: Vec<Option<SentTag>> = files.iter_mut().map(|file| file.upstream.etag.take()).collect();
        for file in &mut files {
            file.upstream.etag = self.old_tag(file);
        }
        let mut lock = Lock { files };
        if present == Some(lock.write().as_bytes()) {
            return None;
        }
        for (file, new) in lock.files.iter_mut().zip(new) {
            file.upstream.etag = new.or(file.upstream.etag.take());
        }
        Some(lock.write())
    }

    /// What the old lock says that the server of a file called these very bytes.
    fn old_tag(&self, file: &LockedFile) -> Option<SentTag> {
        let same = |old: &&LockedFile| old.address == file.address && old.upstream.sha256 == file.upstream.sha256;
        self.old?.files.iter().find(same)?.upstream.etag.clone()
    }

    /// A file as it would be.
    fn preview(&self, file: &Manifest, kept: &[bool], findings: &mut Findings) -> Option<VendoredFile> {
        let (locked, step) = self.file(file, kept, findings)?;
        let (located, bytes) = match step {
            Some(step) => (step.file, step.bytes),
            None => self.present(&file.published.vendored, findings)?,
        };
        let source = findings.keep(config::source(located.name, bytes.unwrap_or_default()))?;
        Some(VendoredFile { source, locked })
    }

    /// What the lock says of a file, and what is to be done to it.
    fn file(&self, file: &Manifest, kept: &[bool], findings: &mut Findings) -> Option<(LockedFile, Option<Step>)> {
        let text = vendored_text(&file.source.text, &file.documents, kept);
        let mut locked = locked_file(file, kept, &text);
        let (located, present) = self.present(&file.published.vendored, findings)?;
        let Some(present) = present else { return Some((locked, Some(write(located, text, kept)))) };
        if present == text.as_bytes() {
            return Some((locked, None));
        }
        let own = vendored(&file.published.vendored, &present, Layout::Accepted);
        let accepted_before = self.old.is_some_and(|old| old.files.iter().any(|f| f.vendored == own));
        if self.accept.layout || accepted_before {
            let source = findings.keep(config::source(&located.name, present))?;
            let differences = check::differences(&source, &locked, Against::Upstream, findings)?;
            if differences.is_empty() {
                locked.vendored = own;
                return Some((locked, None));
            }
            if self.accept.layout {
                findings.extend(differences);
                return None;
            }
        }
        Some((locked, Some(write(located, text, kept))))
    }

    /// A file of the base's folder and its bytes, `None` where it is not there yet.
    fn present(&self, name: &str, findings: &mut Findings) -> Option<(Located, Option<Vec<u8>>)> {
        let located = match self.root.resolve_new(&self.base.folder.path, name) {
            Ok(located) => located,
            Err(error) => {
                findings.add(error.diagnose(None));
                return None;
            }
        };
        match self.root.read(&located) {
            Ok(bytes) => Some((located, Some(bytes))),
            Err(FsError::Missing { .. }) => Some((located, None)),
            Err(error) => {
                findings.add(Diagnostic::new(Code::FileUnreadable, error.to_string()));
                None
            }
        }
    }

    /// Removes files that the old lock records and the new one does not, unless someone changed them since.
    fn removals(&self, files: &[LockedFile]) -> Vec<Step> {
        let Some(old) = self.old else { return Vec::new() };
        let gone = old.files.iter().filter(|f| files.iter().all(|new| new.vendored.name != f.vendored.name));
        gone.filter_map(|f| {
            let file = self.root.resolve(&self.base.folder.path, &f.vendored.name).ok()?;
            let bytes = self.root.read(&file).ok()?;
            let unchanged = digest::sha256(&bytes) == f.vendored.sha256;
            unchanged.then(|| Step { file, bytes: None, note: "base.yaml no longer names it".into() })
        })
        .collect()
    }
}

fn write(file: Located, text: String, kept: &[bool]) -> Step {
    let documents = match (kept.iter().filter(|k| **k).count(), kept.len()) {
        (1, 1) => "1 document".to_owned(),
        (count, all) if count == all => format!("{count} documents"),
        (count, all) => format!("{count} of {all} documents"),
    };
    let note = format!("{documents}, {} bytes", text.len());
    Step { file, bytes: Some(text.into_bytes()), note }
}

/// What the lock says of a file whose vendored text has upstream's own layout.
fn locked_file(file: &Manifest, kept: &[bool], text: &str) -> LockedFile {
    let upstream = file.source.text.as_bytes();
    LockedFile {
        address: file.address.clone(),
        upstream: Upstream {
            sha256: digest::sha256(upstream),
            size: upstream.len() as u64,
            blob: digest::git_blob(upstream),
            etag: file.etag.clone(),
        },
        vendored: vendored(&file.published.vendored, text.as_bytes(), Layout::Upstream),
        documents: file.documents.iter().zip(kept).map(|(d, kept)| locked_document(d, *kept)).collect(),
    }
}

fn vendored(name: &str, bytes: &[u8], layout: Layout) -> Vendored {
    Vendored { name: name.to_owned(), sha256: digest::sha256(bytes), size: bytes.len() as u64, layout }
}

fn locked_document(document: &Document, kept: bool) -> LockedDocument {
    LockedDocument { identity: document.identity.clone(), kept, content: document.content.clone() }
}

/// The text of the vendored file: upstream's bytes where all is kept, else the pieces of the kept documents.
///
/// A piece that does not begin with its marker is parted by `...` from a piece that it did not follow at upstream's.
fn vendored_text(upstream: &str, documents: &[Document], kept: &[bool]) -> String {
    if !kept.contains(&false) {
        return upstream.to_owned();
    }
    let mut out = String::new();
    let mut end = 0;
    for (document, _) in documents.iter().zip(kept).filter(|(_, kept)| **kept) {
        let piece = upstream.get(document.range.clone()).unwrap_or_default();
        if !out.is_empty() && document.range.start != end && !begins_with_marker(piece) {
            out.push_str("...\n");
        }
        out.push_str(piece);
        end = document.range.end;
    }
    out
}

fn begins_with_marker(piece: &str) -> bool {
    stream::split(piece).first().and_then(|p| p.marker.as_ref()).is_some_and(|marker| marker.start == 0)
}

/// How bytes begin, in quotes.
fn start(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]);
    let line = text.trim_start().lines().next().unwrap_or_default();
    format!("{:?}", line.chars().take(60).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::testing::Project;

    const HEAD: &str = "apiVersion: overlay/v1\nkind: Base\nname: b\n";
    const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings # ours\ndata: {a: \"1\"}\n";
    const AGENT: &str = "# the agent\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent, namespace: net}\n";
    const KEEP_AGENT: &str = "keep: [{kind: DaemonSet}]\n";

    fn upstream() -> String {
        format!("# licence\n{CONFIG}---\n{AGENT}")
    }

    /// A base `base/b` on `up/m.yaml`, with further lines in its base.yaml.
    fn project(upstream: &str, rest: &str) -> Project {
        let base = format!("{HEAD}source: {{file: ../../up/m.yaml}}\n{rest}");
        Project::new(&[("base/b/base.yaml", &base), ("up/m.yaml", upstream)])
    }

    /// A base whose source is a pinned commit.
    fn pinned(rest: &str) -> Project {
        let source = format!("{{github: {{repository: o/r, commit: {}, path: m.yaml}}}}", "0".repeat(40));
        Project::new(&[("base/b/base.yaml", &format!("{HEAD}source: {source}\n{rest}"))])
    }

    fn given(bytes: &str) -> Vec<Fetched> {
        given_bytes(bytes.as_bytes())
    }

    fn given_bytes(bytes: &[u8]) -> Vec<Fetched> {
        vec![Fetched::new("m.yaml".into(), bytes.to_owned())]
    }

    /// The steps as `verb file: note`, or the findings.
    fn planned(project: &Project, fetched: &[Fetched], accept_layout: bool) -> Result<Vec<String>, Vec<String>> {
        vendor(project, fetched, Accept { layout: accept_layout, changes: false }, |_| {})
    }

    /// Like [`planned`], and carries the plan out.
    fn vendored(project: &Project, fetched: &[Fetched], accept_layout: bool) -> Result<Vec<String>, Vec<String>> {
        let accept = Accept { layout: accept_layout, changes: false };
        vendor(project, fetched, accept, |plan| carry_out(&[&plan]).unwrap())
    }

    fn vendor(
        project: &Project,
        fetched: &[Fetched],
        accept: Accept,
        then: impl FnOnce(Plan),
    ) -> Result<Vec<String>, Vec<String>> {
        let mut findings = Findings::new();
        let plan = plan(&project.root, &project.base("base/b"), fetched, accept, &mut findings);
        let plan = plan.ok_or_else(|| project.told(&findings))?;
        assert!(findings.is_empty());
        let verb = |s: &Step| if s.bytes.is_some() { "write" } else { "remove" };
        let told = plan.steps.iter().map(|s| format!("{} {}: {}", verb(s), s.file.name, s.note)).collect();
        then(plan);
        Ok(told)
    }

    /// What the `file:` source of a project names.
    fn published(project: &Project) -> Vec<Fetched> {
        let base = project.base("base/b");
        base.files.iter().map(|file| from_root(&project.root, &base, file).unwrap()).collect()
    }

    fn locked(project: &Project) -> Lock {
        let mut findings = Findings::new();
        check::lock(&project.root, &project.base("base/b"), &mut findings).unwrap()
    }

    /// The findings of both depths of the check.
    fn checked(project: &Project) -> Vec<String> {
        let mut findings = Findings::new();
        let base = project.base("base/b");
        if let Some(files) = check::open(&project.root, &base, &mut findings) {
            check::contents(&base, &files, &mut findings);
        }
        project.told(&findings)
    }

    #[test]
    fn a_base_that_keeps_everything_has_upstreams_bytes() {
        let project = project(&upstream(), "");
        let told = vendored(&project, &published(&project), false).unwrap();
        let bytes = upstream().len();
        assert_eq!(
            told,
            [
                format!("write base/b/m.yaml: 2 documents, {bytes} bytes"),
                "write base/b/base.lock: the hashes of the base".to_owned(),
            ]
        );
        assert_eq!(project.read("base/b/m.yaml"), upstream());
        let file = locked(&project).files.remove(0);
        assert_eq!(file.address, "../../up/m.yaml");
        assert_eq!(file.upstream.sha256, digest::sha256(upstream().as_bytes()));
        assert_eq!(file.upstream.blob, digest::git_blob(upstream().as_bytes()));
        assert_eq!(file.vendored, super::vendored("m.yaml", upstream().as_bytes(), Layout::Upstream));
        let named: Vec<String> = file.documents.iter().map(|d| format!("{} {}", d.identity, d.kept)).collect();
        assert_eq!(named, ["ConfigMap/settings true", "DaemonSet.apps/net/agent true"]);
        assert_eq!(checked(&project), [""; 0]);
    }

    #[test]
    fn a_second_run_touches_nothing() {
        let project = project(&upstream(), "");
        vendored(&project, &published(&project), false).unwrap();
        let before = project.files();
        assert_eq!(vendored(&project, &published(&project), false).unwrap(), [""; 0]);
        assert_eq!(project.files(), before);
    }

    #[test]
    fn kept_documents_have_their_own_bytes_and_all_are_locked() {
        let project = project(&upstream(), KEEP_AGENT);
        vendored(&project, &published(&project), false).unwrap();
        assert_eq!(project.read("base/b/m.yaml"), format!("---\n{AGENT}"));
        let kept: Vec<bool> = locked(&project).files[0].documents.iter().map(|d| d.kept).collect();
        assert_eq!(kept, [false, true]);
        assert_eq!(checked(&project), [""; 0]);
    }

    #[test]
    fn documents_that_kubectl_does_not_see_are_refused() {
        let upstream = format!("{CONFIG}---\n{AGENT}...\n# c\nkind: Pod\napiVersion: v1\n");
        let project = project(&upstream, "keep: [{kind: ConfigMap}, {kind: Pod}]\n");
        let told = vendored(&project, &published(&project), false).unwrap_err();
        let told: Vec<_> = told.iter().map(|finding| finding.split(": ").next().unwrap()).collect();
        assert_eq!(told, ["up/m.yaml:13:1 manifest-unreadable"]);
    }

    proptest::proptest! {
        #[test]
        fn any_choice_of_documents_means_what_they_meant(
            pieces in proptest::collection::vec((0..6usize, proptest::bool::ANY), 1..8),
            final_newline in proptest::bool::ANY,
        ) {
            const PIECES: [&str; 6] = [
                "---\nkind: A\n",
                "# c\n---\nkind: B\ntext: |\n  x\n",
                "...\n# d\nkind: C\n",
                "...\n%YAML 1.1\n---\nkind: D\n",
                "--- {kind: E}\n...\n",
                "---\r\nkind: F\r\ntext: |+\r\n  x\r\n\r\n",
            ];
            let mut text: String = pieces.iter().map(|(piece, _)| PIECES[*piece]).collect();
            if !final_newline {
                text.pop();
            }
            let documents = |text: &str| {
                let mut findings = Findings::new();
                documents::read(&Source::new("m.yaml", text), &mut findings).unwrap()
            };
            let read = documents(&text);
            let kept: Vec<bool> = (0..read.len()).map(|i| pieces[i % pieces.len()].1).collect();
            let wanted: Vec<&String> = read.iter().zip(&kept).filter(|(_, k)| **k).map(|(d, _)| &d.content).collect();
            let vendored = vendored_text(&text, &read, &kept);
            let found = documents(&vendored);
            proptest::prop_assert_eq!(found.iter().map(|d| &d.content).collect::<Vec<_>>(), wanted, "{:?}", vendored);
        }
    }

    #[test]
    fn a_file_source_follows_its_file_when_that_is_accepted() {
        let project = project(&upstream(), "");
        vendored(&project, &published(&project), false).unwrap();
        project.write("up/m.yaml", CONFIG);
        let accept = Accept { changes: true, ..Accept::default() };
        let steps = vendor(&project, &published(&project), accept, |plan| carry_out(&[&plan]).unwrap());
        assert_eq!(steps.unwrap().len(), 2);
        assert_eq!(project.read("base/b/m.yaml"), CONFIG);
        assert_eq!(checked(&project), [""; 0]);
    }

    #[test]
    fn other_bytes_than_the_lock_records_are_refused_and_each_document_is_named() {
        let project = project(&upstream(), KEEP_AGENT);
        vendored(&project, &published(&project), false).unwrap();
        let before = project.files();
        let notes = |bytes: &str| {
            let mut findings = Findings::new();
            let base = project.base("base/b");
            assert!(plan(&project.root, &base, &given(bytes), Accept::default(), &mut findings).is_none());
            assert_eq!(
                project.told(&findings),
                ["base/b/base.yaml:4:16 upstream-changed: ../../up/m.yaml has other bytes than the lock records"]
            );
            findings.iter().next().unwrap().notes[2..].to_vec()
        };
        let renamed = upstream().replace("\"1\"", "\"2\"").replace("name: agent", "name: daemon");
        assert_eq!(
            notes(&renamed),
            [
                "ConfigMap/settings means something else now.",
                "DaemonSet.apps/net/daemon is new.",
                "DaemonSet.apps/net/agent is gone."
            ]
        );
        let comment = upstream().replace("# ours", "# theirs");
        assert_eq!(notes(&comment), ["Every document means what it meant: comments or layout changed."]);
        let many: Vec<String> = (0..20).map(|n| CONFIG.replace("settings", &format!("s{n}"))).collect();
        let told = notes(&format!("{}---\n{}", upstream(), many.join("---\n")));
        assert_eq!((told.len(), told.last().unwrap().as_str()), (13, "And 8 more."));
        assert_eq!(project.files(), before);
    }

    #[test]
    fn a_pinned_source_that_changed_is_refused_and_nothing_is_written() {
        let project = pinned("");
        vendored(&project, &given(&upstream()), false).unwrap();
        let before = project.files();
        let address = format!("https://raw.githubusercontent.com/o/r/{}/m.yaml", "0".repeat(40));
        assert_eq!(
            planned(&project, &given(CONFIG), false).unwrap_err(),
            [format!("base/b/base.yaml:4:92 upstream-changed: {address} has other bytes than the lock records")]
        );
        assert_eq!(project.files(), before);
    }

    #[test]
    fn a_layout_that_means_the_same_can_be_accepted_and_stays() {
        let project = pinned("keep: [{kind: ConfigMap}]\n");
        let own = "kind: ConfigMap\napiVersion: v1\ndata:\n  a: '1'\nmetadata: {name: settings}\n";
        project.write("base/b/m.yaml", own);
        assert_eq!(planned(&project, &given(&upstream()), false).unwrap().len(), 2);
        let told = vendored(&project, &given(&upstream()), true).unwrap();
        assert_eq!(told, ["write base/b/base.lock: the hashes of the base"]);
        assert_eq!(project.read("base/b/m.yaml"), own);
        assert_eq!(locked(&project).files[0].vendored.layout, Layout::Accepted);
        assert_eq!(checked(&project), [""; 0]);
        for accept in [false, true] {
            assert_eq!(vendored(&project, &given(&upstream()), accept).unwrap(), [""; 0]);
        }
        project.write("base/b/m.yaml", &own.replace("\ndata:", "\n# more\ndata:"));
        assert_eq!(planned(&project, &given(&upstream()), false).unwrap().len(), 2);
        assert_eq!(planned(&project, &given(&upstream()), true).unwrap().len(), 1);
    }

    #[test]
    fn a_layout_that_means_something_else_is_not_accepted() {
        let project = project(&upstream(), "");
        project.write("base/b/m.yaml", &format!("---\n{AGENT}---\n{}", CONFIG.replace("\"1\"", "\"2\"")));
        assert_eq!(
            planned(&project, &published(&project), true).unwrap_err(),
            ["base/b/m.yaml:10:9 base-content-changed: ConfigMap/settings does not mean what upstream publishes"]
        );
    }

    #[test]
    fn keep_that_names_no_document_is_told_with_what_is_near() {
        let project = project(&upstream(), "keep: [{kind: DaemonSet, name: agnet}, {kind: ConfigMap}]\n");
        let mut findings = Findings::new();
        let base = project.base("base/b");
        assert!(plan(&project.root, &base, &published(&project), Accept::default(), &mut findings).is_none());
        assert_eq!(
            project.told(&findings),
            ["base/b/base.yaml:5:8 target-missing: upstream has no document that is kind=DaemonSet, name=agnet"]
        );
        assert_eq!(findings.iter().next().unwrap().notes, ["There is DaemonSet.apps/net/agent."]);
    }

    #[test]
    fn what_is_no_manifest_is_refused() {
        for (bytes, why) in [
            (&b""[..], "it is empty"),
            (
                b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
                "it is a Git LFS pointer, not the file that it stands for",
            ),
            (b"\n<!DOCTYPE html>\n<p>", "it is a web page"),
            (b"<?xml version=\"1.0\"?>", "it is a web page"),
            (b"\x1f\x8b\x08", "it is a gzip file"),
            (b"a: \0", "it is binary"),
            (b"404: Not Found", "it is a text without any \"kind\", which begins \"404: Not Found\""),
            (b"# nothing of this kind\n", "no document has apiVersion and kind"),
        ] {
            let told = planned(&project("", ""), &given_bytes(bytes), false).unwrap_err();
            assert_eq!(told, [format!("base/b/base.yaml:4:16 syntax: m.yaml is no manifest: {why}")]);
        }
    }

    #[test]
    fn a_manifest_that_is_not_yaml_is_told_with_its_line() {
        let told = planned(&project("", ""), &given("kind: a\n---\na: [\n"), false).unwrap_err();
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("m.yaml:3:4 syntax: "), "{told:?}");
    }

    #[test]
    fn a_source_outside_the_root_is_refused() {
        let project = Project::new(&[("b/base.yaml", &format!("{HEAD}source: {{file: ../../secret.yaml}}\n"))]);
        let base = project.base("b");
        let mut findings = Findings::new();
        assert!(findings.keep(from_root(&project.root, &base, &base.files[0])).is_none());
        assert_eq!(
            project.told(&findings),
            ["b/base.yaml:4:16 path-outside-root: the path \"../../secret.yaml\" leads outside the root"]
        );
    }

    #[test]
    fn a_vendored_file_that_is_a_link_out_of_the_root_is_not_written() {
        let project = project(&upstream(), "");
        std::os::unix::fs::symlink("../../../victim", project.path("base/b/m.yaml")).unwrap();
        let told = planned(&project, &published(&project), false).unwrap_err();
        assert_eq!(
            told,
            ["path-outside-root: the path \"m.yaml\" leads through the symbolic link base/b/m.yaml outside the root"]
        );
    }

    #[test]
    fn a_file_that_base_yaml_no_longer_names_is_removed_unless_someone_changed_it() {
        for changed in [false, true] {
            let project = project(&upstream(), "");
            vendored(&project, &published(&project), false).unwrap();
            if changed {
                project.write("base/b/m.yaml", "mine");
            }
            project.write("base/b/base.yaml", &format!("{HEAD}source: {{file: ../../up/m.yaml, as: n.yaml}}\n"));
            let told = vendored(&project, &published(&project), false).unwrap();
            assert_eq!(told.contains(&"remove base/b/m.yaml: base.yaml no longer names it".to_owned()), !changed);
            assert_eq!(project.path("base/b/m.yaml").exists(), changed);
            assert_eq!(checked(&project), [""; 0]);
        }
    }

    #[test]
    fn a_base_without_lock_or_with_another_one_is_not_locked() {
        let project = project(&upstream(), "");
        assert_eq!(checked(&project), ["base-not-locked: base/b has no base.lock"]);
        vendored(&project, &published(&project), false).unwrap();
        let source = "source: {file: ../../up/m.yaml}\n";
        project.write("base/b/base.yaml", &format!("{HEAD}{source}{KEEP_AGENT}"));
        assert_eq!(
            checked(&project),
            ["base-not-locked: ConfigMap/settings is kept in the lock, but `keep` of base/b/base.yaml leaves it out"]
        );
        project.write("base/b/base.yaml", &format!("{HEAD}source: {{file: ../../up/other.yaml}}\n"));
        assert_eq!(checked(&project), ["base-not-locked: base/b/base.yaml names other files than the lock records"]);
    }

    #[test]
    fn a_vendored_file_with_other_bytes_is_told_document_by_document() {
        let project = project(&upstream(), "");
        vendored(&project, &published(&project), false).unwrap();
        let file = "base-file-changed: base/b/m.yaml is not the file that the lock records";
        project.write("base/b/m.yaml", &upstream().replace("# ours", "# theirs"));
        assert_eq!(checked(&project), [file]);
        project.write("base/b/m.yaml", &upstream().replace("\"1\"", "\"2\"").replace("DaemonSet", "Deployment"));
        assert_eq!(
            checked(&project),
            [
                file,
                "base/b/m.yaml:5:9 base-content-changed: ConfigMap/settings does not mean what the lock records",
                "base/b/m.yaml:11:18 base-content-changed: Deployment.apps/net/agent is not among the kept documents that the lock records",
                "base-content-changed: DaemonSet.apps/net/agent is missing in base/b/m.yaml",
            ]
        );
        project.write("base/b/m.yaml", &format!("---\n{AGENT}---\n{CONFIG}"));
        assert_eq!(
            checked(&project),
            [file, "base-content-changed: the documents of base/b/m.yaml stand in another order than the lock records"]
        );
        std::fs::remove_file(project.path("base/b/m.yaml")).unwrap();
        assert_eq!(checked(&project), ["base-file-changed: the vendored file base/b/m.yaml is missing"]);
    }

    #[test]
    fn a_lock_whose_content_digests_were_edited_is_found_by_the_deep_check() {
        let project = project(&upstream(), "");
        vendored(&project, &published(&project), false).unwrap();
        let content = locked(&project).files[0].documents[0].content.clone();
        let lock = project.read("base/b/base.lock").replace(&content, &"0".repeat(64));
        project.write("base/b/base.lock", &lock);
        assert_eq!(
            checked(&project),
            ["base/b/m.yaml:5:9 base-content-changed: ConfigMap/settings does not mean what the lock records"]
        );
    }

    #[test]
    fn no_path_of_the_machine_reaches_the_lock() {
        let project = project(&upstream(), "");
        vendored(&project, &published(&project), false).unwrap();
        let machine = project.dir.path().to_string_lossy().into_owned();
        assert!(!project.read("base/b/base.lock").contains(&machine));
    }
}
