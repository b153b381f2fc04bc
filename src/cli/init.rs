//! `overlay init`: a base, an overlay on it and, if that is wanted, a first patch.

use std::io::{BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use clap::Args;

use super::end::{End, Failure};
use super::network::{NetworkArgs, fetch_all};
use super::new::{self, PatchArgs, schema_line};
use super::{Context, schema};
use crate::adopt::{self, Adopted};
use crate::config::Findings;
use crate::diag::visible::visible;
use crate::diag::{Diagnostic, Place, Source};
use crate::fetch;
use crate::fsio::{self, Entry, Write};
use crate::layer::address::Address;
use crate::layer::base::{self, Base};
use crate::layer::lock;
use crate::layer::overlay;
use crate::layer::plan::Plan;
use crate::layer::root::{Located, Root, relative};
use crate::layer::shelf::Shelf;
use crate::layer::vendor::{self, Accept, Fetched, Step};
use crate::schema::Schema;
use crate::subject::Subject;

/// Make a base of a published manifest, an overlay on it, and the first patch
///
/// Fetches the manifest, locks it, and writes base/NAME, overlays/NAME and the schemas that editors check them with. On
/// a terminal it asks for what the command line does not say. Nothing that is there is overwritten: where base/NAME is
/// there already, the overlay is made on it.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  overlay init net https://example.org/net/v1.4.2/install.yaml
  overlay init net https://github.com/example/net/blob/main/deploy/install.yaml
  overlay init net upstream/net.yaml               of a file in this repository
  overlay init lab --base base/net                 another overlay on a base that is there
  overlay init net upstream/net.yaml --patch log-level --target ConfigMap/net-config
                                                   and make the first patch in an editor")]
pub struct InitArgs {
    /// What the base and the overlay are called
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Where upstream publishes the manifest: the address of a file or release on GitHub, any other address, or a file
    #[arg(value_name = "SOURCE")]
    pub source: Option<String>,
    /// The base's folder [default: base/NAME]
    #[arg(long, value_name = "DIR")]
    pub base: Option<PathBuf>,
    /// The overlay's folder [default: overlays/NAME]
    #[arg(long, value_name = "DIR")]
    pub overlay: Option<PathBuf>,
    /// Make a patch of that name too, as `overlay new patch` does
    #[arg(long, value_name = "NAME")]
    pub patch: Option<String>,
    /// The document that the patch is of
    #[arg(long, value_name = "KIND/NAME", requires = "patch")]
    pub target: Option<String>,
    /// Take upstream's bytes from this file instead of fetching them
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// How to fetch
    #[command(flatten)]
    pub network: NetworkArgs,
}

impl InitArgs {
    /// Whether the command line does not say all, so that the rest is asked for at a terminal.
    fn leaves_open(&self) -> bool {
        self.name.is_none() || (self.source.is_none() && self.base.is_none())
    }
}

/// Whether the root is the current folder for want of anything that marks one.
fn is_only_here(root: &Root, context: &Context) -> Result<bool, Failure> {
    let is_marked = fsio::entry(&root.path().join(".git"))? != Entry::Missing;
    Ok(context.root.is_none() && !is_marked && root.path() == fsio::canonical(&context.current()?)?)
}

/// What is to be made, every question answered.
struct Wanted {
    root: Root,
    name: String,
    base: Located,
    overlay: Located,
    /// Where upstream publishes; `None` where the base is there.
    source: Option<String>,
}

/// Asks what is to be asked, and makes everything in one step.
pub fn run(args: &InitArgs, context: &mut Context) -> Result<End, Failure> {
    let mut findings = Findings::new();
    let Some(wanted) = wanted(args, context, &mut findings)? else { return Ok(context.stop(findings)) };
    let steps = match &wanted.source {
        Some(source) => base_steps(&wanted, source, args, context, &mut findings)?,
        None => Some(Vec::new()),
    };
    let schemas: Vec<_> =
        Schema::ALL.iter().filter_map(|schema| findings.keep(schema::place(&wanted.root, *schema))).collect();
    let Some(mut steps) = steps.filter(|_| !findings.has_errors()) else {
        return Ok(context.stop(without_places_in(&wanted, findings)));
    };
    check_patch(args, &wanted, &steps, context, &mut findings)?;
    if findings.has_errors() {
        return Ok(context.stop(findings));
    }
    steps.push(overlay_step(&wanted));
    let mut writes: Vec<Write<'_>> = steps
        .iter()
        .filter_map(|step| Some(Write { path: step.file.path.clone(), bytes: step.bytes.as_deref()? }))
        .collect();
    for (file, schema) in schemas.iter().zip(Schema::ALL) {
        if fsio::entry(&file.path)? == Entry::Missing {
            writes.push(Write { path: file.path.clone(), bytes: schema.text().as_bytes() });
        }
    }
    fsio::commit(&writes, &[])?;
    let told = steps.iter().map(|step| format!("wrote {} ({})\n", visible(&step.file.name), visible(&step.note)));
    context.terminal.aside(&told.collect::<String>());
    first_patch(args, &wanted, context)
}

/// The findings without their places in the base.yaml that was to be, which is not there to be looked at.
fn without_places_in(wanted: &Wanted, findings: Findings) -> Findings {
    let file = wanted.root.located(wanted.base.path.join(base::FILE_NAME)).name;
    let is_there = |place: &Place| place.source.name != file;
    let mut told = Findings::new();
    told.extend(findings.into_vec().into_iter().map(|finding| {
        let place = finding.place.clone().filter(is_there);
        let related = finding.related.iter().filter(|(place, _)| is_there(place)).cloned().collect();
        Diagnostic { place, related, ..finding }
    }));
    told
}

fn wanted(args: &InitArgs, context: &mut Context, findings: &mut Findings) -> Result<Option<Wanted>, Failure> {
    let current = context.current()?;
    let root = Root::find(Path::new("."), context.root.as_deref(), &current)?;
    if args.source.is_none()
        && args.base.is_none()
        && let Some(source) = args.name.as_ref().filter(|name| is_source(name, &current))
    {
        return Err(Failure::Advice {
            message: format!("`{source}` is a manifest, and NAME comes before it"),
            help: format!("Write `overlay init {} {source}`.", name_of(source)),
        });
    }
    let name = answer(args.name.as_deref(), "Name of the base and the overlay, such as multus", context)?;
    if !new::is_plain(&name) {
        return Err(Failure::Usage("the name has letters, digits, `-`, `_` and `.`, as in `multus`"));
    }
    let folder = |given: &Option<PathBuf>, kind: &str| given.clone().unwrap_or_else(|| Path::new(kind).join(&name));
    let mut place = |folder: PathBuf| findings.keep(in_root(&root, &current, &folder));
    let (base, overlay) = (place(folder(&args.base, "base")), place(folder(&args.overlay, "overlays")));
    let (Some(base), Some(overlay)) = (base, overlay) else { return Ok(None) };
    let there =
        |folder: &Located, name: &str| Ok::<_, Failure>(fsio::entry(&folder.path.join(name))? != Entry::Missing);
    if there(&overlay, overlay::FILE_NAME)? || there(&overlay, base::FILE_NAME)? {
        return Err(Failure::Usage(
            "the overlay's folder is in use already, and nothing is overwritten; see --overlay",
        ));
    }
    let source = match (there(&base, base::FILE_NAME)?, &args.source) {
        (true, None) => None,
        (true, Some(_)) => {
            return Err(Failure::Usage("the base is there already: leave SOURCE out, or name another --base"));
        }
        (false, source) => Some(answer(source.as_deref(), "Address or file of the manifest", context)?),
    };
    Ok(Some(Wanted { root, name, base, overlay, source }))
}

/// Whether what stands where NAME belongs is meant for SOURCE.
fn is_source(word: &str, current: &Path) -> bool {
    let is_file = fsio::entry(&current.join(word)).is_ok_and(|entry| entry == Entry::File);
    let is_manifest = [".yaml", ".yml", ".json"].iter().any(|end| word.ends_with(end));
    is_file || is_manifest || word.contains("://")
}

/// A name for a base of that manifest.
fn name_of(source: &str) -> &str {
    let file = source.rsplit('/').next().unwrap_or(source);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    if new::is_plain(stem) { stem } else { "NAME" }
}

/// What the command line says, or the person at the terminal.
fn answer(given: Option<&str>, question: &str, context: &mut Context) -> Result<String, Failure> {
    if let Some(given) = given {
        return Ok(given.to_owned());
    }
    let needed = "say NAME and SOURCE, as in `overlay init multus https://…`";
    if !std::io::stdin().is_terminal() {
        return Err(Failure::Usage(needed));
    }
    ask(question, context)?.ok_or(Failure::Usage(needed))
}

/// What the person at the terminal answers; `None` for nothing.
fn ask(question: &str, context: &mut Context) -> Result<Option<String>, Failure> {
    context.terminal.aside(&format!("{question}: "));
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(Failure::Input)?;
    let line = line.trim();
    Ok((!line.is_empty()).then(|| line.to_owned()))
}

/// A folder of the command line that need not be there yet, in the root.
fn in_root(root: &Root, current: &Path, folder: &Path) -> Result<Located, Box<Diagnostic>> {
    let here = relative(root.path(), &fsio::canonical(current).unwrap_or_else(|_| current.to_owned()));
    let written = if folder.is_absolute() { folder.to_owned() } else { here.join(folder) };
    root.resolve_to_come(root.path(), &written.to_string_lossy()).map_err(|error| Box::new(error.diagnose(None)))
}

/// What makes the base: its base.yaml, the vendored file, the lock. `None` where something forbids it.
fn base_steps(
    wanted: &Wanted,
    source: &str,
    args: &InitArgs,
    context: &mut Context,
    findings: &mut Findings,
) -> Result<Option<Vec<Step>>, Failure> {
    let Wanted { root, base: folder, .. } = wanted;
    let current = context.current()?;
    let mut address = Address::parse(source);
    if address.is_page() {
        return Err(Failure::Usage(
            "this is the page of a repository or folder: open the manifest there, and copy its address",
        ));
    }
    if let Address::File(path) = &mut address {
        let help = "A source is a file below the root, or an address that begins with https://.";
        let located = root.locate(path).map_err(|error| Box::new(error.diagnose(None).help(help)));
        let Some(located) = findings.keep(located) else { return Ok(None) };
        if fsio::entry(&located.path)? == Entry::Folder {
            return Err(Failure::Usage("SOURCE names a folder; name the manifest in it"));
        }
        *path = relative(&folder.path, &located.path);
    }
    let read = |address: &Address, findings: &mut Findings| {
        let name = format!("{}/{}", folder.name, base::FILE_NAME);
        let head = schema_line(root, &folder.path.join(base::FILE_NAME), Schema::Base);
        Base::read(folder, Source::new(name, head + &address.base_file(&wanted.name)), findings)
    };
    let Some(mut base) = read(&address, findings) else { return Ok(None) };
    let given = args.from.as_ref().map(|file| given(&current, file)).transpose()?;
    let mut network = None;
    if fetch::is_remote(&base) && (given.is_none() || address.lacks_commit()) {
        network = args.network.open(context, findings)?;
        if network.is_none() {
            return Ok(None);
        }
    }
    if let (Some(network), Some(follows), true) = (&network, address.follows(), address.lacks_commit()) {
        let commit = findings.keep(fetch::commit_of(network, &base, follows, None));
        let Some(commit) = commit else { return Ok(None) };
        address.pin(commit);
        let Some(pinned) = read(&address, findings) else { return Ok(None) };
        base = pinned;
    }
    let jobs: Vec<_> = fetch::jobs(root, &base, fetch::Asks::Whole).collect();
    let came = match given {
        Some(given) => vec![Ok(given)],
        None => fetch_all(network.as_ref(), &jobs),
    };
    let fetched: Option<Vec<Fetched>> = came.into_iter().map(|file| findings.keep(file)).collect();
    let Some(fetched) = fetched else { return Ok(None) };
    let Some(plan) = vendor::plan(root, &base, &fetched, Accept::default(), findings) else { return Ok(None) };
    let file = root.located(folder.path.join(base::FILE_NAME));
    let own =
        Step { file, bytes: Some(base.source.text.clone().into_bytes()), note: "where the base comes from".into() };
    Ok(Some([vec![own], plan.steps].concat()))
}

fn given(current: &Path, file: &Path) -> Result<Fetched, Failure> {
    let name = file.to_string_lossy().into_owned();
    let bytes = fsio::read(&current.join(file), fsio::MAX_FILE).map_err(|error| error.named(&name))?;
    Ok(Fetched::new(name, bytes))
}

fn overlay_step(wanted: &Wanted) -> Step {
    let Wanted { root, name, base, overlay, .. } = wanted;
    let file = root.located(overlay.path.join(overlay::FILE_NAME));
    let on = relative(&overlay.path, &base.path).to_string_lossy().into_owned();
    let text = adopt::overlay_file(name, &format!("What we change of {name}"), &on, &Adopted::default());
    let text = schema_line(root, &file.path, Schema::Overlay) + &text;
    Step { file, bytes: Some(text.into_bytes()), note: "an overlay without patches yet".into() }
}

/// Refuses a first patch that cannot be made, before anything is written.
fn check_patch(
    args: &InitArgs,
    wanted: &Wanted,
    steps: &[Step],
    context: &Context,
    findings: &mut Findings,
) -> Result<(), Failure> {
    let Some(name) = &args.patch else { return Ok(()) };
    let text = if wanted.source.is_some() {
        let vendored = steps.iter().filter(|step| {
            let name = step.file.path.file_name();
            name != Some(base::FILE_NAME.as_ref()) && name != Some(lock::FILE_NAME.as_ref())
        });
        let texts = vendored.filter_map(|step| std::str::from_utf8(step.bytes.as_deref()?).ok());
        texts.collect::<Vec<_>>().join("\n---\n")
    } else {
        let layer = overlay::load(&wanted.root, &Shelf::default(), &wanted.base, findings);
        let plan = layer.map(|layer| Plan::new(&wanted.root, &layer, findings));
        match plan.filter(|_| !findings.has_errors()) {
            Some(plan) => plan.upstream().0,
            None => return Ok(()),
        }
    };
    let documents = Source::new(wanted.base.name.clone(), text);
    new::check(name, args.target.as_deref(), &documents, context)
}

/// How many documents a question lists.
const LISTED: usize = 20;

/// The question for a document, below those that there are.
fn which(documents: &[String]) -> String {
    let mut lines: Vec<String> = documents.iter().take(LISTED).map(|name| format!("  {}", visible(name))).collect();
    if documents.len() > LISTED {
        lines.push(format!("  and {} more", documents.len() - LISTED));
    }
    lines.push("Document to change, as KIND/NAME".to_owned());
    lines.join("\n")
}

/// The first patch, if one is wanted; and what comes next.
fn first_patch(args: &InitArgs, wanted: &Wanted, context: &mut Context) -> Result<End, Failure> {
    let overlay = &wanted.overlay.name;
    if is_only_here(&wanted.root, context)? {
        context.terminal.aside(
            "note: there is no git repository here, and so paths may not leave the folder that a command is run in: \
             run `git init`, or stay in this folder\n",
        );
    }
    let mut findings = Findings::new();
    let subject = Subject::open(&wanted.root, &wanted.overlay.path, &mut findings);
    let documents: Vec<String> =
        subject.iter().flat_map(|subject| new::targets(&subject.plan)).map(|target| new::short_name(&target)).collect();
    let (patch, target) = match (&args.patch, args.leaves_open() && new::someone_is_there()) {
        (None, true) => {
            let name = ask("Name of the first patch, or nothing for none", context)?;
            let target = if name.is_some() { ask(&which(&documents), context)? } else { None };
            (name, target)
        }
        (patch, _) => (patch.clone(), args.target.clone()),
    };
    if let Some(name) = patch {
        let patch =
            PatchArgs { name, overlay: wanted.overlay.path.clone(), target, edited: None, summary: None, why: None };
        return new::patch(&patch, context);
    }
    let target = documents.last().map_or("KIND/NAME", String::as_str);
    let (overlay, target) = (visible(overlay), visible(target));
    context.terminal.aside(&format!(
        "next: `overlay build {overlay}` prints upstream's manifest as it is; change it with\n      \
         `overlay new patch NAME {overlay} --target {target}`\n"
    ));
    context.terminal.findings(&findings.into_vec());
    Ok(End::Clean)
}
