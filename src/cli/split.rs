//! `overlay build --split`: results as files, one for each document, of one overlay or of all below the current folder.
//!
//! Overlays are built side by side, and each result goes to the disk under passing names as soon as it is there, so that
//! what is kept in memory does not grow with them. Only when all of them are built do the files get their names.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::Context;
use super::end::{End, Failure};
use super::over::Over;
use super::verify::as_overlay;
use crate::build::Built;
use crate::config::{Date, Findings};
use crate::diag::visible::visible;
use crate::diag::{self, Diagnostic, Source};
use crate::fsio::{self, Batch, Entry, FsError, Turn, Write};
use crate::layer::documents;
use crate::layer::root::{Root, relative};
use crate::layer::shelf::Shelf;
use crate::layer::sources::Sources;
use crate::split::{self, ACCOUNT, Account, Claim};
use crate::subject::Subject;
use crate::verify::annotate;

/// What is to be built, and where it goes.
pub(super) struct Job<'a> {
    /// The overlays' folders.
    pub(super) folders: Vec<PathBuf>,
    /// Whether each has a folder of its own in `into`, called as it is called from the current one.
    pub(super) apart: bool,
    /// The folder for the files.
    pub(super) into: &'a Path,
    /// What stands in the place of a base, if anything does.
    pub(super) over: &'a Over,
    /// With comments that name the patches; the day that it is.
    pub(super) annotated: Option<Date>,
}

/// Builds, and writes what has changed. Nothing is written unless every overlay could be built.
pub(super) fn run(job: &Job<'_>, context: &mut Context) -> Result<End, Failure> {
    let current = context.current()?;
    let into = current.join(job.into);
    let _turn = Turn::alone(&into)?;
    let target = Target::open(into, job.into)?;
    let root = context.root.clone();
    let shelf = Shelf::default();
    let one = |folder: &PathBuf| build(job, folder, &shelf, root.as_deref(), &current, &target);
    let mut all = Whole::default();
    for result in side_by_side(&job.folders, one) {
        all.add(result?);
    }
    let findings = all.findings();
    context.terminal.findings(&findings);
    let end = End::of(&findings, false);
    if end != End::Clean {
        context.terminal.aside("nothing was written\n");
        return Ok(end);
    }
    if let Some(stranger) = all.one.strangers.first() {
        let path = job.into.join(stranger).to_string_lossy().into_owned();
        return Err(Failure::Stranger { path, more: all.one.strangers.len() - 1 });
    }
    let told = all.commit(&target)?;
    context.terminal.aside(&format!("{}: {told}\n", visible(&job.into.to_string_lossy())));
    Ok(end)
}

/// What becomes of each item, in order, worked out on as many threads as the machine has processors.
fn side_by_side<I: Sync, O: Send>(items: &[I], work: impl Fn(&I) -> O + Sync) -> Vec<O> {
    let next = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let worker = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else { return done };
            done.push((number, work(item)));
        }
    };
    let mut done: Vec<(usize, O)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        // A thread that panicked has told why; the run must not look as if it had done its part.
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_else(|why| std::panic::resume_unwind(why)))
            .collect()
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The folder that files go to, and what an earlier run wrote there.
struct Target {
    folder: PathBuf,
    before: Account,
}

impl Target {
    /// # Errors
    /// Where something stands in the account's place that is no file.
    fn open(folder: PathBuf, called: &Path) -> Result<Target, Failure> {
        let mut target = Target { folder, before: Account::default() };
        match target.read(ACCOUNT) {
            Ok(None) => {}
            Ok(Some(bytes)) => target.before = Account::parse(&String::from_utf8_lossy(&bytes)),
            Err(InTheWay::Disk(error)) => return Err(error.into()),
            Err(InTheWay::Stranger) => {
                return Err(Failure::Stranger { path: called.join(ACCOUNT).to_string_lossy().into_owned(), more: 0 });
            }
        }
        Ok(target)
    }

    /// The bytes of a file; `None` where there is none.
    ///
    /// # Errors
    /// Where something is in the way that is no file, a symbolic link on the path among it.
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, InTheWay> {
        let mut at = self.folder.clone();
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            at.push(part);
            match (fsio::entry(&at)?, parts.peek()) {
                (Entry::Missing, _) => return Ok(None),
                (Entry::Folder, Some(_)) => {}
                (Entry::File, None) => return Ok(Some(fsio::read_resolved(&at, fsio::MAX_FILE)?)),
                _ => return Err(InTheWay::Stranger),
            }
        }
        Ok(None)
    }

    /// The folder that a file stands in.
    fn folder_of(&self, path: &str) -> PathBuf {
        path.rsplit_once('/').map_or_else(|| self.folder.clone(), |(folder, _)| self.folder.join(folder))
    }
}

/// Why a file cannot be looked at.
enum InTheWay {
    Stranger,
    Disk(FsError),
}

impl From<FsError> for InTheWay {
    fn from(error: FsError) -> InTheWay {
        InTheWay::Disk(error)
    }
}

/// What became of one overlay.
#[derive(Default)]
struct One {
    findings: Vec<Diagnostic>,
    files: Account,
    batch: Batch,
    written: usize,
    strangers: Vec<String>,
    /// The folders in which files stand that are or were ours.
    standing: BTreeSet<PathBuf>,
    /// What the files are made of.
    sources: Sources,
    /// Whether it takes its documents from elsewhere alone, so that there is nothing to build.
    passed_over: bool,
}

fn build(
    job: &Job<'_>,
    folder: &Path,
    shelf: &Shelf,
    root: Option<&Path>,
    current: &Path,
    target: &Target,
) -> Result<One, FsError> {
    let root = Root::find(folder, root, current)?;
    let mut findings = Findings::new();
    let mut one = One::default();
    let subject = job.over.open_beside(&root, shelf, folder, &mut findings);
    let for_a_stream = subject.as_ref().is_some_and(|subject| subject.layer.is_for_a_stream());
    if job.apart && for_a_stream && !findings.has_errors() {
        return Ok(One { passed_over: true, ..one });
    }
    if let Some(subject) = &subject {
        one.sources = job.over.sources(current, subject);
    }
    if let Some(built) = subject.and_then(|subject| result(job, &subject, &mut findings)) {
        let prefix = if job.apart { prefix(current, folder) } else { String::new() };
        for (name, text) in split::files(&built.text, &built.documents) {
            one.file(format!("{prefix}{name}"), text, target)?;
        }
    }
    one.findings = findings.into_vec();
    Ok(one)
}

/// What a build gives, with comments where they are asked for.
fn result(job: &Job<'_>, subject: &Subject, findings: &mut Findings) -> Option<Built> {
    let built = subject.build(findings)?;
    let Some(today) = job.annotated else { return Some(built) };
    let text = annotate::annotated(&as_overlay(subject, today), &built.text, findings)?;
    let source = Source::new(format!("the result of {}", subject.folder.name), text);
    let documents = documents::read(&source, findings)?.into_iter().map(|d| (d.identity, d.range)).collect();
    Some(Built { text: source.text.clone(), documents })
}

/// The overlay's folder as seen from the current one, before the names of its files.
fn prefix(current: &Path, folder: &Path) -> String {
    let path = split::folder(&relative(current, folder).to_string_lossy());
    if path.is_empty() { path } else { format!("{path}/") }
}

impl One {
    /// One file of the result: it is written anew where it is ours and other than before.
    fn file(&mut self, path: String, text: &str, target: &Target) -> Result<(), FsError> {
        let there = match target.read(&path) {
            Ok(there) => there,
            Err(InTheWay::Stranger) => {
                self.strangers.push(path);
                return Ok(());
            }
            Err(InTheWay::Disk(error)) => return Err(error),
        };
        if there.is_some() {
            self.standing.insert(target.folder_of(&path));
        }
        match there {
            Some(bytes) if bytes == text.as_bytes() => {}
            Some(bytes) if target.before.claim(&path, &bytes) == Claim::Strange => self.strangers.push(path.clone()),
            _ => {
                self.batch.write(&Write { path: target.folder.join(&path), bytes: text.as_bytes() })?;
                self.written += 1;
            }
        }
        self.files.add(path, text.as_bytes());
        Ok(())
    }
}

/// What became of all of them.
#[derive(Default)]
struct Whole {
    one: One,
    overlays: usize,
    passed_over: usize,
}

impl Whole {
    fn add(&mut self, one: One) {
        self.overlays += usize::from(!one.passed_over);
        self.passed_over += usize::from(one.passed_over);
        self.one.strangers.extend(one.strangers);
        self.one.findings.extend(one.findings);
        self.one.files.join(one.files);
        self.one.batch.join(one.batch);
        self.one.sources.join(one.sources);
        self.one.written += one.written;
        self.one.standing.extend(one.standing);
    }

    /// The findings, each once: what is wrong with a base is found for every overlay on it.
    fn findings(&mut self) -> Vec<Diagnostic> {
        let mut findings = Findings::new();
        let mut seen = HashSet::new();
        for finding in std::mem::take(&mut self.one.findings) {
            let place = finding.place.as_ref().map(|p| (p.source.name.clone(), p.span.start));
            if seen.insert((finding.code, place, finding.message.clone())) {
                findings.add(finding);
            }
        }
        let mut findings = findings.into_vec();
        diag::sort(&mut findings);
        findings
    }

    /// Gives the files their names, takes away what has vanished, and says what was done.
    fn commit(self, target: &Target) -> Result<String, Failure> {
        let One { mut files, mut batch, written, sources, mut standing, .. } = self.one;
        let count = files.len();
        let (mut removed, mut kept) = (0, Vec::new());
        let vanished: Vec<String> = target.before.less(&files).map(str::to_owned).collect();
        for path in vanished {
            let there = match target.read(&path) {
                Ok(Some(bytes)) => bytes,
                Ok(None) | Err(InTheWay::Stranger) => continue,
                Err(InTheWay::Disk(error)) => return Err(error.into()),
            };
            standing.insert(target.folder_of(&path));
            if target.before.claim(&path, &there) == Claim::Ours {
                batch.remove(target.folder.join(&path));
                removed += 1;
            } else {
                files.keep(&target.before, &path);
                kept.push(path);
            }
        }
        let batch = accounted(batch, target, &files)?;
        if let Some(path) = batch.targets().find(|path| sources.have(path)) {
            return Err(Failure::OverSource { path: path.to_string_lossy().into_owned() });
        }
        batch.commit()?;
        standing.insert(target.folder.clone());
        for folder in &standing {
            fsio::sweep_lost(folder);
        }
        let mut told = format!(
            "{}, {}: {written} written, {removed} removed, {} unchanged",
            counted(self.overlays, "overlay"),
            counted(count, "file"),
            count - written
        );
        if self.passed_over > 0 {
            told.push_str(&format!("; {} passed over, which take their documents from --base", self.passed_over));
        }
        for path in kept {
            told.push_str(&format!("\nkept {}: no overlay gives it now, and someone changed it", visible(&path)));
        }
        Ok(told)
    }
}

/// The changes with the account before and behind them. Where the run is killed between, files are known as ours that have their
/// new bytes already, and those that were to go and are there still.
fn accounted(batch: Batch, target: &Target, files: &Account) -> Result<Batch, FsError> {
    let path = target.folder.join(ACCOUNT);
    let mut accounted = Batch::default();
    let between = target.before.until(files);
    let mut there = &target.before;
    if batch.targets().next().is_some() && between != target.before {
        accounted.write(&Write { path: path.clone(), bytes: between.text().as_bytes() })?;
        there = &between;
    }
    accounted.join(batch);
    if files != there {
        accounted.write_last(&Write { path, bytes: files.text().as_bytes() })?;
    }
    Ok(accounted)
}

fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}
