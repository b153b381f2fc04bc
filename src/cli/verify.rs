//! `overlay verify`: prove that the results differ from upstream by the patches alone.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::Context;
use super::end::{End, Failure};
use super::network::NetworkArgs;
use super::online;
use super::over::{Over, OverArgs};
use crate::config::{Date, Findings};
use crate::diag::visible::visible;
use crate::diag::{Code, Diagnostic, Place, Source};
use crate::fsio::{self, Write};
use crate::layer::overlay::FILE_NAME;
use crate::layer::root::{Located, Root};
use crate::layer::sources::Sources;
use crate::report::annotate::is_annotated;
use crate::report::{self, OverlayReport, RenderedState, Report};
use crate::subject::Subject;
use crate::verify::overlay::{self, Overlay};
use crate::verify::{against, annotate, rendered};

/// Prove that nothing but the documented patches differs from upstream
///
/// Holds the base against its lock, builds, reads the result afresh, compares it with the base by structure, and asks
/// of each difference which patch claims it. The code that compares shares nothing with the code that applied the
/// patches. The network is touched with --online alone.
#[derive(Args, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[command(after_help = "\
Examples:
  overlay verify                                   every overlay below this folder
  overlay verify overlays/lab --strict             one, where warnings fail too
  overlay verify --online                          and: is what is pinned still there?
  overlay verify overlays/lab --against old.yaml   what a copy kept by hand really changes
  overlay build overlays/lab | kubectl get -f - -o json |
    overlay verify overlays/lab --against - --live
                                                   what a cluster has otherwise
  overlay verify --fix-rendered                    write committed results anew
  overlay verify --format github                   annotations in a pull request
  overlay verify --format json | jq '.overlays[].patches[].name'")]
pub struct VerifyArgs {
    /// The overlays' folders; without one, every overlay below the current folder
    #[arg(value_name = "DIR")]
    pub overlays: Vec<PathBuf>,
    /// Let warnings fail too
    #[arg(long)]
    pub strict: bool,
    /// Hold this file against the overlay instead of its own result: a copy kept by hand, another tool's output, what
    /// `kubectl get -o yaml` prints; `-` is standard input. The order of a list's items counts but where nothing reads it
    /// (volumes, mounts, tolerations …), that of documents and keys does not
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    #[command(flatten)]
    over: OverArgs,
    /// Leave out what a server writes into objects: status, bookkeeping, defaults that the base does not set
    #[arg(long, requires = "against")]
    pub live: bool,
    /// Write the committed results that `rendered` names anew where they are not as built; nothing is written unless
    /// all else is right
    #[arg(long, conflicts_with = "against")]
    pub fix_rendered: bool,
    /// Ask upstream whether it still has what the bases are locked to, and registries whether they have the digests of
    /// the images, and whether the tags beside them moved
    #[arg(long, conflicts_with = "against")]
    pub online: bool,
    /// The form of the report
    #[arg(long, value_enum, default_value_t)]
    pub format: ReportFormat,
    /// How to ask with --online
    #[command(flatten)]
    pub network: NetworkArgs,
}

/// A form of the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people
    #[default]
    Text,
    /// For programs: overlay/report/v1
    Json,
    /// For code-scanning services: SARIF 2.1.0
    Sarif,
    /// For GitHub Actions: a workflow command per finding
    Github,
    /// For CI services that show tests: JUnit XML, a test for each patch
    Junit,
}

impl VerifyArgs {
    /// The overlays' folders.
    fn folders(&self, context: &mut Context) -> Result<Vec<PathBuf>, Failure> {
        if !self.overlays.is_empty() {
            return Ok(self.overlays.clone());
        }
        context.folders(FILE_NAME, "there is no overlay below the current folder")
    }
}

/// Verifies every overlay, and prints the report.
pub fn run(args: &VerifyArgs, context: &mut Context) -> Result<End, Failure> {
    if !args.online && args.network != NetworkArgs::default() {
        return Err(Failure::Usage("--mirror, --ca-file, --timeout and --config go with --online"));
    }
    let current = context.current()?;
    let today = context.today();
    let folders = args.folders(context)?;
    let over = args.over.read(context)?;
    if args.over.base.is_some() && args.over.base == args.against {
        return Err(Failure::Usage("--base and --against are two files"));
    }
    let reports = if let Some(file) = &args.against {
        let [folder] = folders.as_slice() else {
            return Err(Failure::Usage("--against goes with one overlay"));
        };
        let root = Root::find(folder, context.root.as_deref(), &current)?;
        vec![against(&root, folder, &over, context.input(file)?, args.live, today)]
    } else {
        let mut verified = Vec::new();
        for folder in folders {
            let root = Root::find(&folder, context.root.as_deref(), &current)?;
            verified.push(verify(root, &folder, &over, today));
        }
        if args.online {
            let mut findings = Findings::new();
            let Some(network) = args.network.open(context, &mut findings)? else { return Ok(context.stop(findings)) };
            online::ask(&mut verified, today, &network);
        }
        if args.fix_rendered {
            fix(&mut verified, args.strict, context)?;
        }
        verified.into_iter().map(|one| one.report).collect()
    };
    let report = Report::new(reports, args.strict);
    let text = match args.format {
        ReportFormat::Text => report::text(&report, context.terminal.product_dress()),
        ReportFormat::Json => report::json(&report),
        ReportFormat::Sarif => report::sarif(&report),
        ReportFormat::Github => report::github(&report),
        ReportFormat::Junit => report::junit(&report),
    };
    context.terminal.product(text.as_bytes())?;
    Ok(if report.ok { End::Clean } else { End::of(report.overlays.iter().flat_map(|o| &o.findings), args.strict) })
}

/// One overlay, verified.
pub(super) struct Verified {
    /// What is told of it.
    pub(super) report: OverlayReport,
    /// The root that it lies in.
    pub(super) root: Root,
    /// The overlay itself, where it could be opened.
    pub(super) subject: Option<Subject>,
    /// Its result, where it could be built.
    pub(super) result: Option<String>,
    /// The file of its committed result, where that is not as it was built, and what it should be.
    stale: Option<(Located, String)>,
}

/// Opens, builds and proves one overlay, and holds its committed result against the build.
pub(super) fn verify(root: Root, folder: &Path, over: &Over, today: Date) -> Verified {
    let mut findings = Findings::new();
    let Some(subject) = over.open(&root, folder, &mut findings) else {
        return Verified { report: unopened(folder, findings), root, subject: None, result: None, stale: None };
    };
    let result = subject.build(&mut findings).map(|built| built.text);
    let mut report = overlay::report(&as_overlay(&subject, today), result.as_deref(), findings);
    let stale = result.as_ref().and_then(|result| rendered(&root, &subject, result, today, &mut report));
    Verified { report, root, subject: Some(subject), result, stale }
}

/// Holds the committed result against the build, if the overlay names one; gives its file and what should stand there
/// where it is not as built. One with the header of `build --annotate` has to have the comments of now.
fn rendered(
    root: &Root,
    subject: &Subject,
    built: &str,
    today: Date,
    report: &mut OverlayReport,
) -> Option<(Located, String)> {
    let overlay = subject.overlay()?;
    let reference = overlay.rendered.as_ref()?;
    let committed = overlay.committed(root)?;
    let is_annotated = |bytes: &[u8]| is_annotated(&String::from_utf8_lossy(bytes), &overlay.name.value);
    let annotated = match &committed {
        Ok(Some(committed)) if is_annotated(committed) => {
            annotate::annotated(&as_overlay(subject, today), built, &mut Findings::new())
        }
        _ => None,
    };
    let built = annotated.unwrap_or_else(|| built.to_owned());
    match committed {
        Ok(committed) => rendered::check(overlay, &built, committed.as_deref(), report),
        Err(error) => {
            let place = Place::new(&overlay.source, reference.written.span.clone());
            report.findings.push(Diagnostic::new(Code::FileUnreadable, error.to_string()).at(place, "named here"));
        }
    }
    let state = report.rendered.as_ref().map(|rendered| rendered.state);
    let is_stale = matches!(state, Some(RenderedState::Stale | RenderedState::Missing));
    is_stale.then(|| (reference.file.clone(), built))
}

/// Writes the committed results that are stale, all in one step, if nothing else is wrong with any overlay.
fn fix(verified: &mut [Verified], strict: bool, context: &mut Context) -> Result<(), Failure> {
    if verified.iter().any(|one| one.report.fails_but_for(Code::RenderedStale, strict)) {
        context.terminal.aside("nothing was written: something else is wrong\n");
        return Ok(());
    }
    let stale: Vec<&(Located, String)> = verified.iter().filter_map(|one| one.stale.as_ref()).collect();
    let paths: HashSet<&Path> = stale.iter().map(|(file, _)| file.path.as_path()).collect();
    if paths.len() < stale.len() {
        return Err(Failure::Usage("two overlays name one file as `rendered`; give each its own"));
    }
    let subjects = verified.iter().filter_map(|one| one.subject.as_ref());
    let made_of = subjects.fold(Sources::default(), |mut all, subject| {
        all.join(Sources::of(&subject.layer));
        all
    });
    if let Some((file, _)) = stale.iter().find(|(file, _)| made_of.have(&file.path)) {
        return Err(Failure::OverSource { path: file.name.clone() });
    }
    let writes = stale.iter().map(|(file, built)| Write { path: file.path.clone(), bytes: built.as_bytes() });
    fsio::commit(&writes.collect::<Vec<_>>(), &[])?;
    let told = stale.iter().map(|(file, _)| format!("wrote {}\n", visible(&file.name)));
    context.terminal.aside(&told.collect::<String>());
    for report in verified.iter_mut().filter(|one| one.stale.is_some()).map(|one| &mut one.report) {
        report.findings.retain(|finding| finding.code != Code::RenderedStale);
        if let Some(rendered) = &mut report.rendered {
            rendered.state = RenderedState::Written;
            rendered.departures.clear();
        }
    }
    Ok(())
}

/// Opens an overlay, and holds a file against it. Its patches must apply.
fn against(
    root: &Root,
    folder: &Path,
    over: &Over,
    file: Result<Arc<Source>, Box<Diagnostic>>,
    live: bool,
    today: Date,
) -> OverlayReport {
    let mut findings = Findings::new();
    let Some(subject) = over.open(root, folder, &mut findings) else { return unopened(folder, findings) };
    subject.build(&mut findings);
    match findings.keep(file) {
        Some(file) => against::report(&as_overlay(&subject, today), &file, live, findings),
        None => unopened(folder, findings),
    }
}

pub(super) fn unopened(folder: &Path, findings: Findings) -> OverlayReport {
    let path = folder.display().to_string();
    OverlayReport { name: path.clone(), path, findings: findings.into_vec(), ..OverlayReport::default() }
}

pub(super) fn as_overlay(subject: &Subject, today: Date) -> Overlay<'_> {
    let Subject { folder, layer, plan, images, .. } = subject;
    Overlay { folder: &folder.name, layer, plan, images, today }
}
