//! `overlay adopt`: an overlay out of a copy that was edited by hand.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{ArgGroup, Args};

use super::end::{End, Failure};
use super::{Context, new, verify};
use crate::adopt::{self, Adopted, Adoption, Answer};
use crate::build;
use crate::config::Findings;
use crate::diag::visible::visible;
use crate::diag::{self, Code, Diagnostic, Source};
use crate::fsio::{self, Entry, Write};
use crate::layer::overlay::{self, FILE_NAME};
use crate::layer::plan::Plan;
use crate::layer::root::{Root, relative};
use crate::layer::shelf::Shelf;
use crate::schema::Schema;
use crate::subject::Subject;
use crate::verify::{against, live};

/// Derive an overlay from a copy that was edited by hand
///
/// Writes one patch for each departure of FILE from the base, or for each family of departures, with the old values as
/// guards. The reasons are left as TODO, so that `overlay verify` fails until a person has written them. What is written
/// was built first: it gives the documents of FILE.
#[derive(Args, Debug)]
#[command(
    group = ArgGroup::new("where").required(true).args(["to", "into"]),
    override_usage = "overlay adopt [OPTIONS] --base <BASE> --to <DIR> <FILE>\n       overlay adopt [OPTIONS] --into <DIR> <FILE>",
    after_help = "\
Examples:
  overlay adopt old.yaml --base base/net --to overlays/lab
  overlay adopt old.yaml --into overlays/lab       only what no patch there explains
  kubectl get -f base/net/net.yaml -o yaml |
    overlay adopt - --base base/net --to overlays/lab --live
                                                   what a cluster has otherwise"
)]
pub struct AdoptArgs {
    /// The copy: YAML, JSON, or what `kubectl get -o yaml` prints; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The folder of the base, or of the overlay, that the copy was made of
    #[arg(long, value_name = "BASE", conflicts_with = "into")]
    pub base: Option<PathBuf>,
    /// The folder of the new overlay; it must not be there yet
    #[arg(long, value_name = "DIR", requires = "base")]
    pub to: Option<PathBuf>,
    /// The folder of an overlay to add patches to
    #[arg(long, value_name = "DIR")]
    pub into: Option<PathBuf>,
    /// Leave out what a server writes into objects, as `verify --against --live` does, and documents that only FILE has
    #[arg(long)]
    pub live: bool,
    /// With --live, write what Secrets hold into patches, too; without it, no value of a cluster's Secret is written
    #[arg(long, requires = "live")]
    pub with_secrets: bool,
    /// With --live, take out the documents that FILE lacks; without it, they are named and left as they are
    #[arg(long, requires = "live")]
    pub delete_missing: bool,
}

impl AdoptArgs {
    /// How a cluster's answer is taken, if FILE is one.
    fn answer(&self) -> Option<Answer> {
        let AdoptArgs { live, with_secrets, delete_missing: deletes, .. } = *self;
        live.then_some(Answer { settle: live::settled, withhold: live::withhold, with_secrets, deletes })
    }
}

/// How many documents a line names.
const MAX_NAMED: usize = 5;

/// What is written, and which folder it makes of.
struct Work {
    root: Root,
    folder: PathBuf,
    overlay_file: String,
    adopted: Adopted,
}

/// Adopts, and writes everything in one step.
pub fn run(args: &AdoptArgs, context: &mut Context) -> Result<End, Failure> {
    let current = context.current()?;
    let mut findings = Findings::new();
    let file = findings.keep(context.input(&args.file)?);
    let work = match (&file, &args.base, &args.to, &args.into) {
        (Some(file), Some(base), Some(to), _) => create(context, args, (base, &current.join(to)), file, &mut findings)?,
        (Some(file), _, _, Some(into)) => extend(context, args, into, file, &mut findings)?,
        _ => None,
    };
    let mut findings = findings.into_vec();
    diag::sort(&mut findings);
    let wrong: Vec<_> = findings.into_iter().filter(Diagnostic::is_error).collect();
    context.terminal.findings(&wrong);
    let end = End::of(&wrong, false);
    match work {
        Some(work) if end == End::Clean => write(&work, context, &current)?,
        _ => context.terminal.aside("nothing was written\n"),
    }
    Ok(end)
}

/// A new overlay on a base.
fn create(
    context: &Context,
    args: &AdoptArgs,
    (base, to): (&Path, &Path),
    file: &Arc<Source>,
    findings: &mut Findings,
) -> Result<Option<Work>, Failure> {
    let current = context.current()?;
    let root = Root::find(base, context.root.as_deref(), &current)?;
    let folder = new_folder(to)?;
    if !folder.starts_with(root.path()) {
        return Err(Failure::Usage("--to names a folder outside the root"));
    }
    let located = match root.locate(base) {
        Ok(located) => located,
        Err(error) => {
            findings.add(error.diagnose(None));
            return Ok(None);
        }
    };
    let Some(layer) = overlay::load(&root, &Shelf::default(), &located, findings) else { return Ok(None) };
    let plan = Plan::new(&root, &layer, findings);
    let built = build::build(&plan, &[], findings);
    let Some(before) = built.filter(|_| !findings.has_errors()) else { return Ok(None) };
    let before = Source::new(format!("the documents of {}", located.name), before.text);
    let adoption = Adoption {
        plan,
        before: &before,
        file,
        taken: HashSet::new(),
        departs: if args.live { against::departs } else { adopt::all_depart },
        answer: args.answer(),
        single: None,
    };
    let Some(adopted) = adopt::adopt(adoption, findings) else { return Ok(None) };
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let description = format!("Adopted from {}", file.name);
    let base = relative(&folder, &located.path).to_string_lossy().into_owned();
    let overlay_file = adopt::overlay_file(&name, &description, &base, &adopted);
    Ok(Some(Work { root, folder, overlay_file, adopted }))
}

/// More patches for an overlay.
fn extend(
    context: &Context,
    args: &AdoptArgs,
    into: &Path,
    file: &Arc<Source>,
    findings: &mut Findings,
) -> Result<Option<Work>, Failure> {
    let root = Root::find(into, context.root.as_deref(), &context.current()?)?;
    let Some(subject) = Subject::open(&root, into, findings) else { return Ok(None) };
    let built = subject.draft(findings);
    let (Some(built), Some(overlay)) = (built, subject.overlay()) else { return Ok(None) };
    let held = against::report(&verify::as_overlay(&subject, context.today()), file, args.live, Findings::new());
    // What a patch claims and the copy has otherwise, a person must decide about.
    let lacks = held.against.map(|against| against.lacks).unwrap_or_default();
    // A cluster's answer is often a part, and says nothing of a document that it lacks.
    let is_asked = |resource: &Option<String>| !args.live || !resource.iter().any(|name| lacks.contains(name));
    let contradicts = |finding: &Diagnostic| match finding.code {
        Code::ClaimMissing => is_asked(&finding.resource),
        Code::UndocumentedDeparture => finding.patch.is_some(),
        _ => false,
    };
    let contradictions: Vec<_> = held.findings.into_iter().filter(contradicts).collect();
    if !contradictions.is_empty() {
        findings.extend(contradictions);
        return Ok(None);
    }
    let folder = subject.folder.path.clone();
    let stem = |name: &String| name.rsplit_once('.').map_or(name.clone(), |(stem, _)| stem.to_owned());
    let mut taken: HashSet<String> = fsio::names(&folder.join("patches")).iter().map(stem).collect();
    taken.extend(subject.plan.patches.iter().map(|scoped| scoped.patch.name.value.clone()));
    let text = overlay.source.text.clone();
    let before = Source::new(format!("the result of {}", subject.folder.name), built.text);
    let adoption = Adoption {
        plan: subject.plan,
        before: &before,
        file,
        taken,
        departs: against::departs,
        answer: args.answer(),
        single: None,
    };
    let Some(adopted) = adopt::adopt(adoption, findings) else { return Ok(None) };
    let in_the_way =
        adopted.resources.iter().find(|new| fsio::entry(&folder.join(&new.path)).is_ok_and(|e| e != Entry::Missing));
    if in_the_way.is_some() {
        return Err(Failure::Usage("a file of `resources` is there already, and nothing is overwritten"));
    }
    let overlay_file = [("resources", &adopted.resources), ("patches", &adopted.patches)]
        .into_iter()
        .try_fold(text, |text, (key, files)| {
            files.iter().try_fold(text, |text, file| overlay::listing(&text, key, &file.path))
        });
    match overlay_file {
        Ok(overlay_file) => Ok(Some(Work { root, folder, overlay_file, adopted })),
        Err(error) => {
            let message = format!("overlay.yaml cannot take the new files: {error}");
            findings.add(Diagnostic::new(Code::EditRefused, message).help("Bring its lists into block form first."));
            Ok(None)
        }
    }
}

/// Where a folder that is not there yet will be, without symbolic links.
fn new_folder(to: &Path) -> Result<PathBuf, Failure> {
    if fsio::entry(to)? != Entry::Missing {
        return Err(Failure::Usage("--to names what is there already, and nothing is overwritten; see --into"));
    }
    let mut ahead = Vec::new();
    let mut at = to;
    loop {
        let (Some(parent), Some(name)) = (at.parent(), at.file_name()) else {
            return Err(Failure::Usage("--to names no folder"));
        };
        ahead.push(name);
        at = parent;
        if fsio::entry(at)? != Entry::Missing {
            let there = fsio::canonical(at)?;
            return Ok(ahead.into_iter().rev().fold(there, |folder, name| folder.join(name)));
        }
    }
}

/// What of a copy made no patch, or not the one that may be looked for.
fn left_alone(adopted: &Adopted) -> String {
    let mut told = String::new();
    if adopted.others > 0 {
        let what = if adopted.others == 1 { "1 document" } else { &format!("{} documents", adopted.others) };
        told.push_str(&format!("passed over {what} that neither base nor overlay has\n"));
    }
    if !adopted.lacking.is_empty() {
        let names = listed(&adopted.lacking);
        told.push_str(&format!("the answer lacks {names}: left as is; --delete-missing would take it out\n"));
    }
    for (old, new) in adopted.renamed.iter().take(MAX_NAMED) {
        told.push_str(&format!(
            "note: {} may be {} under another name, which is not followed: the old one is left out and the new one added\n",
            visible(new),
            visible(old)
        ));
    }
    if !adopted.withheld.is_empty() {
        let names = listed(&adopted.withheld);
        told.push_str(&format!(
            "the cluster has other values in {names}: not written; --with-secrets would write them\n"
        ));
    }
    told
}

/// Names in a row, the first few of them.
fn listed(names: &[String]) -> String {
    let shown: Vec<_> = names.iter().take(MAX_NAMED).map(|name| visible(name)).collect();
    match names.len().saturating_sub(MAX_NAMED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn write(work: &Work, context: &mut Context, current: &Path) -> Result<(), Failure> {
    let Work { folder, overlay_file, adopted, .. } = work;
    context.terminal.aside(&left_alone(adopted));
    let has_overlay = fsio::entry(&folder.join(FILE_NAME))? != Entry::Missing;
    if has_overlay && adopted.patches.is_empty() && adopted.resources.is_empty() {
        let why = match adopted.lacking.as_slice() {
            [] => "patches explain every departure of the copy",
            _ => "nothing else departs",
        };
        context.terminal.aside(&format!("nothing was written: {why}\n"));
        return Ok(());
    }
    let files = adopted.patches.iter().chain(&adopted.resources);
    let head = |file: &str, schema: Schema| new::with_schema(&work.root, &folder.join(file), schema);
    let of_overlay = if has_overlay { String::new() } else { head(FILE_NAME, Schema::Overlay) };
    let mut texts = vec![(FILE_NAME, of_overlay + overlay_file)];
    texts.extend(adopted.patches.iter().map(|f| (f.path.as_str(), head(&f.path, Schema::Patch) + &f.text)));
    texts.extend(adopted.resources.iter().map(|f| (f.path.as_str(), f.text.clone())));
    let writes = texts.iter().map(|(path, text)| Write { path: folder.join(path), bytes: text.as_bytes() });
    fsio::commit(&writes.collect::<Vec<_>>(), &[])?;
    let shown = folder.strip_prefix(fsio::canonical(current)?).unwrap_or(folder).display().to_string();
    let shown = visible(&shown);
    let mut told = format!("wrote {shown}/{FILE_NAME}\n");
    for file in files {
        let secret = if file.is_secret { "; it holds values of a Secret: look before you commit it" } else { "" };
        told.push_str(&format!("wrote {shown}/{} ({}{secret})\n", visible(&file.path), visible(&file.summary)));
    }
    if adopted.patches.is_empty() {
        told.push_str("the copy has no departures that need a patch\n");
    } else {
        told.push_str(&format!("next: write each reason where `why` says TODO, then run `overlay verify {shown}`\n"));
    }
    context.terminal.aside(&told);
    Ok(())
}
