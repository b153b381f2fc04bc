//! `overlay new patch`: a document opened in an editor, and a patch out of what the person changed there.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};

use super::end::{End, Failure};
use super::over::Over;
use super::{Context, editor, verify};
use crate::adopt::{self, Adopted, Adoption, Single};
use crate::config::{self, Findings};
use crate::diag::visible::visible;
use crate::diag::{self, Code, Diagnostic, Severity, Source, nearest};
use crate::fsio::{self, Entry as Disk, Scratch, Write};
use crate::layer::manifest::{self, Entry};
use crate::layer::overlay::{self, PATCHES};
use crate::layer::plan::{Plan, Planned};
use crate::layer::root::Root;
use crate::resource::Identity;
use crate::schema::{self, Schema};
use crate::subject::Subject;
use crate::yaml::stream;

/// Make something new in an overlay
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  overlay new patch log-level overlays/lab --target ConfigMap/net-config")]
pub struct NewArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    Patch(PatchArgs),
}

/// Edit a document, and make a patch of what you change
///
/// Opens the document as the overlay builds it now in $VISUAL or $EDITOR. What you change there becomes a patch that
/// names list items by key and checks the old values; it is listed in overlay.yaml, with the reason left as TODO.
/// Nothing is written where nothing was changed or the editor fails.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  overlay new patch log-level overlays/lab --target ConfigMap/net-config
  overlay new patch replicas --target web          in the overlay of this folder
  overlay new patch mtu overlays/lab --target net-config --edited net-config.yaml
  sed s/1500/9000/ doc.yaml | overlay new patch mtu overlays/lab --target net-config --edited -")]
pub struct PatchArgs {
    /// The patch's name, which is its file's name too
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The overlay's folder
    #[arg(default_value = ".", value_name = "OVERLAY")]
    pub overlay: PathBuf,
    /// The document: its name, `Kind/name`, or as reports write it; needed where there are several
    #[arg(long, value_name = "KIND/NAME")]
    pub target: Option<String>,
    /// Take the edited document from this file instead of an editor; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub edited: Option<PathBuf>,
    /// What the patch does, in a line
    #[arg(long, value_name = "TEXT")]
    pub summary: Option<String>,
    /// Why it is needed; without it, that is left as TODO
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}

/// Makes what is asked for.
pub fn run(args: &NewArgs, context: &mut Context) -> Result<End, Failure> {
    match &args.what {
        What::Patch(args) => patch(args, context),
    }
}

/// The document that is edited.
struct Document {
    /// What reports call it.
    name: String,
    /// The result of the overlay as it is now.
    before: Arc<Source>,
    /// The document's bytes in it, without its marker line.
    range: std::ops::Range<usize>,
}

impl Document {
    fn text(&self) -> &str {
        self.before.text.get(self.range.clone()).unwrap_or_default()
    }

    /// The whole result with another text in the document's place.
    fn replaced(&self, text: &str) -> String {
        let part = |range: std::ops::Range<usize>| self.before.text.get(range).unwrap_or_default();
        let line_break = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
        let (head, tail) = (part(0..self.range.start), part(self.range.end..self.before.text.len()));
        format!("{head}{text}{line_break}{tail}")
    }
}

/// What came back from the person, and where it is kept while nothing is made of it.
struct Edited {
    source: Arc<Source>,
    scratch: Option<Scratch>,
}

pub(super) fn patch(args: &PatchArgs, context: &mut Context) -> Result<End, Failure> {
    let current = context.current()?;
    if fsio::is_folder(&current.join(&args.name)).is_ok_and(|is_folder| is_folder) {
        return Err(Failure::Advice {
            message: format!("`{}` is a folder, and NAME comes before it", args.name),
            help: format!("Write `overlay new patch {} {}`.", name_beside(&args.overlay), args.name),
        });
    }
    plain_name(&args.name)?;
    let root = Root::find(&args.overlay, context.root.as_deref(), &current)?;
    let mut findings = Findings::new();
    let Some(subject) = Subject::open(&root, &args.overlay, &mut findings) else { return Ok(context.stop(findings)) };
    let Some(built) = subject.draft(&mut findings) else { return Ok(context.stop(findings)) };
    free_name(&subject, &args.name)?;
    let before = Source::new(format!("the result of {}", subject.folder.name), built.text);
    let Some(entries) = manifest::read(&before, &mut findings) else { return Ok(context.stop(findings)) };
    let document = choose(before, &entries, args.target.as_deref())?;
    let edited = match edited(args, &document, context)? {
        Ok(edited) => edited,
        Err(finding) => {
            findings.add(*finding);
            return Ok(context.stop(findings));
        }
    };
    if edited.source.text.trim().is_empty() || edited.source.text == document.text() {
        let what = if edited.source.text.trim().is_empty() { "the text is empty" } else { "nothing was changed" };
        context.terminal.aside(&format!("{what} in {}; nothing was written\n", visible(&document.name)));
        return Ok(End::Clean);
    }
    let Some(made) = make(args, subject, &document, &edited.source, &mut findings) else {
        return Ok(keep(args, edited, findings, context));
    };
    if made.adopted.patches.is_empty() {
        let told = "only layout or comments were changed in";
        context.terminal.aside(&format!("{told} {}; nothing was written\n", visible(&document.name)));
        return Ok(End::Clean);
    }
    write(&made, &root, context)
}

/// The name that stands where the folder belongs.
fn name_beside(overlay: &Path) -> String {
    overlay.to_str().filter(|name| is_plain(name)).unwrap_or("NAME").to_owned()
}

/// The patch, and the overlay.yaml that lists it.
struct Made {
    folder: PathBuf,
    shown: String,
    overlay_file: String,
    adopted: Adopted,
}

fn make(
    args: &PatchArgs,
    subject: Subject,
    document: &Document,
    edited: &Arc<Source>,
    findings: &mut Findings,
) -> Option<Made> {
    let told = findings.errors();
    one_document(document, edited, findings);
    let overlay = subject.overlay()?;
    let listed = format!("{PATCHES}/{}.yaml", args.name);
    let overlay_file = match overlay::listing(&overlay.source.text, "patches", &listed) {
        Ok(text) => text,
        Err(error) => {
            let message = format!("{} cannot take the new patch: {error}", overlay.source.name);
            findings.add(Diagnostic::new(Code::EditRefused, message).help("Bring its lists into block form first."));
            return None;
        }
    };
    if findings.errors() > told {
        return None;
    }
    let (folder, shown) = (subject.folder.path.clone(), subject.folder.name.clone());
    let after = Source::new(edited.name.clone(), document.replaced(&edited.text));
    let single = Single { name: args.name.clone(), summary: args.summary.clone(), why: args.why.clone() };
    let adoption = Adoption {
        plan: subject.plan,
        before: &document.before,
        file: &after,
        taken: HashSet::new(),
        departs: adopt::all_depart,
        answer: None,
        single: Some(single),
    };
    let mut own = Findings::new();
    let adopted = adopt::adopt(adoption, &mut own);
    // Their places are in the whole result, which nobody has in front of them.
    findings.extend(own.into_vec().into_iter().map(|finding| Diagnostic { place: None, ..finding }));
    Some(Made { folder, shown, overlay_file, adopted: adopted? })
}

/// Tells what was made of the document if it is no longer that one: unreadable, several, or another.
fn one_document(document: &Document, edited: &Arc<Source>, findings: &mut Findings) {
    let mut read = Findings::new();
    let was = manifest::read(&Source::new("", document.text()), &mut read).unwrap_or_default();
    let Some(is) = manifest::read(edited, findings) else { return };
    let names = |entries: &[Entry]| entries.iter().map(|entry| entry.identity.to_string()).collect::<Vec<_>>();
    let (was, is) = (names(&was), names(&is));
    if was == is {
        return;
    }
    let name = &document.name;
    let (message, help) = match is.as_slice() {
        [] => (
            format!("the edit leaves nothing of {name}"),
            "To take the document out, write a patch with `delete: true`.",
        ),
        [one] => (
            format!("the edit makes {one} of {name}, and a patch is for the document that upstream has"),
            "To rename a document, write a patch with `op: replace` and `path: /metadata/name`.",
        ),
        several => (
            format!("the edit makes {} documents of {name}: {}", several.len(), several.join(", ")),
            "Change what is inside; a document of your own belongs into a file that overlay.yaml lists under `resources`.",
        ),
    };
    findings.add(Diagnostic::new(Code::EditRefused, message).help(help));
}

/// Whether a name can be that of a file of ours.
pub(super) fn is_plain(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && !name.starts_with(['.', '-']) && name.chars().all(is_plain)
}

/// Refuses what [`patch`] would fail at, before there is an overlay: a name that cannot be a file's, a target that is not
/// the one document it must be, and that there is no editor.
pub(super) fn check(
    name: &str,
    target: Option<&str>,
    documents: &Arc<Source>,
    context: &Context,
) -> Result<(), Failure> {
    plain_name(name)?;
    let entries = manifest::read(documents, &mut Findings::new()).unwrap_or_default();
    choose(Arc::clone(documents), &entries, target)?;
    editor(context).map(drop)
}

fn plain_name(name: &str) -> Result<(), Failure> {
    if is_plain(name) {
        return Ok(());
    }
    Err(Failure::Usage("a patch's name has letters, digits, `-`, `_` and `.`, as in `log-level`"))
}

fn editor(context: &Context) -> Result<OsString, Failure> {
    editor::program(context).ok_or_else(|| Failure::Advice {
        message: "there is no editor to change the document in".to_owned(),
        help: "Set $EDITOR, or hand the edited document over: `overlay new patch … --edited FILE`.".to_owned(),
    })
}

/// Refuses a name that is taken.
fn free_name(subject: &Subject, name: &str) -> Result<(), Failure> {
    let file = subject.folder.path.join(PATCHES).join(format!("{name}.yaml"));
    let is_taken = subject.plan.patches.iter().any(|scoped| scoped.patch.name.value == name);
    if is_taken || fsio::entry(&file)? != Disk::Missing {
        let file = below(&subject.folder.name, &format!("{PATCHES}/{name}.yaml"));
        return Err(Failure::Taken { name: name.to_owned(), file });
    }
    Ok(())
}

/// The document that is meant.
fn choose(before: Arc<Source>, entries: &[Entry], target: Option<&str>) -> Result<Document, Failure> {
    let flat = manifest::flatten(entries.to_vec());
    let candidates: Vec<&Entry> = flat.iter().filter(|entry| target.is_none_or(|t| is_meant(entry, t))).collect();
    let [entry] = candidates.as_slice() else {
        // Of several that are meant, which ones; else all that there are.
        let meant: Vec<&Entry> = if candidates.is_empty() { flat.iter().collect() } else { candidates.clone() };
        let names: Vec<String> = meant.iter().map(|entry| entry.identity.to_string()).collect();
        let wanted = target.map(str::to_owned);
        let near = target.filter(|_| candidates.is_empty()).and_then(|target| near(&flat, target));
        return Err(Failure::NoSuchDocument { wanted, hits: candidates.len(), near, names });
    };
    let text = before.text.get(entry.range.clone()).unwrap_or_default();
    let marker = stream::split(text).first().and_then(|piece| piece.marker.clone()).unwrap_or(0..0);
    let is_bare = |line: &str| {
        line.strip_prefix("---").is_some_and(|rest| {
            let rest = rest.trim_start();
            rest.is_empty() || rest.starts_with('#')
        })
    };
    let leads = marker.start == 0 && is_bare(text.get(marker.clone()).unwrap_or_default());
    let rest = text.get(marker.end..).unwrap_or_default();
    let skipped = if leads { marker.end + rest.find('\n').map_or(0, |at| at + 1) } else { 0 };
    let range = entry.range.start + skipped..entry.range.end;
    Ok(Document { name: entry.identity.to_string(), before, range })
}

/// Whether `name`, `Kind/name`, `Kind/namespace/name` or the words of a report mean the document. Kinds are written in
/// any case, as for kubectl.
fn is_meant(entry: &Entry, target: &str) -> bool {
    let identity = &entry.identity;
    let kind = |text: &str| text.eq_ignore_ascii_case(&identity.kind);
    match *target.split('/').collect::<Vec<_>>().as_slice() {
        _ if target == identity.to_string() => true,
        [name] => name == identity.name,
        [of, name] => kind(of) && name == identity.name,
        [of, namespace, name] => kind(of) && namespace == identity.namespace && name == identity.name,
        _ => false,
    }
}

/// What `--target` can mean in an overlay: its documents, and in the place of each List what it holds.
pub(super) fn targets(plan: &Plan) -> Vec<Identity> {
    let of = |document: &Planned| match document.identity.as_deref() {
        Some(identity) if manifest::is_list(identity) => {
            let list = manifest::read(&Source::new("", plan.text(document)), &mut Findings::new());
            manifest::flatten(list.unwrap_or_default()).into_iter().map(|entry| entry.identity).collect()
        }
        identity => Vec::from_iter(identity.cloned()),
    };
    plan.documents.iter().flat_map(of).collect()
}

/// How `--target` can name a document, the short way.
pub(super) fn short_name(identity: &Identity) -> String {
    format!("{}/{}", identity.kind, identity.name)
}

fn near(entries: &[Entry], target: &str) -> Option<String> {
    let short: Vec<String> = entries.iter().map(|entry| short_name(&entry.identity)).collect();
    let name = |short: &String| short.rsplit('/').next().unwrap_or_default().to_owned();
    let names: Vec<String> = short.iter().map(name).collect();
    let by_name = nearest(target, names.iter().map(String::as_str));
    let by_name = by_name.and_then(|near| names.iter().position(|name| name == near)).and_then(|at| short.get(at));
    nearest(target, short.iter().map(String::as_str)).map(str::to_owned).or(by_name.cloned())
}

/// The edited document, from the file that is named or out of an editor.
fn edited(
    args: &PatchArgs,
    document: &Document,
    context: &mut Context,
) -> Result<Result<Edited, Box<Diagnostic>>, Failure> {
    if let Some(file) = &args.edited {
        let read = context.input(file)?;
        // Who empties the text in an editor wants no patch; a file with nothing in it was not meant.
        return Ok(read.and_then(|source| match source.text.trim() {
            "" => manifest::not_empty(&source).map(|()| Edited { source, scratch: None }),
            _ => Ok(Edited { source, scratch: None }),
        }));
    }
    let program = editor(context)?;
    let scratch = Scratch::new(&format!("{}.yaml", args.name), document.text().as_bytes())?;
    let text = editor::edit(&program, scratch.path(), &context.current()?)
        .and_then(|()| Ok(fsio::read(scratch.path(), fsio::MAX_FILE)?))?;
    let source = config::source(scratch.path().to_string_lossy(), text);
    Ok(source.map(|source| Edited { source, scratch: Some(scratch) }))
}

/// Tells why nothing was made of what the person wrote, and keeps it.
fn keep(args: &PatchArgs, edited: Edited, findings: Findings, context: &mut Context) -> End {
    let mut findings = findings.into_vec();
    diag::sort(&mut findings);
    context.terminal.findings(&findings);
    if let Some(scratch) = edited.scratch {
        let kept = scratch.keep();
        let kept = visible(&kept.to_string_lossy()).into_owned();
        let target = args.target.as_ref().map(|target| format!(" --target {target}")).unwrap_or_default();
        let overlay = args.overlay.display().to_string();
        let again = format!("overlay new patch {} {}{target} --edited {kept}", args.name, visible(&overlay));
        context
            .terminal
            .aside(&format!("nothing was written; your text is kept in {kept}\nnext: mend it, then run `{again}`\n"));
    }
    End::of(&findings, false).or(true)
}

/// A file below a folder, as it is shown.
fn below(folder: &str, path: &str) -> String {
    if folder == "." { path.to_owned() } else { format!("{folder}/{path}") }
}

fn write(made: &Made, root: &Root, context: &mut Context) -> Result<End, Failure> {
    let Made { folder, shown, overlay_file, adopted } = made;
    let texts: Vec<(PathBuf, String)> = adopted
        .patches
        .iter()
        .map(|file| (folder.join(&file.path), with_schema(root, &folder.join(&file.path), Schema::Patch) + &file.text))
        .collect();
    let mut writes: Vec<Write<'_>> =
        texts.iter().map(|(path, text)| Write { path: path.clone(), bytes: text.as_bytes() }).collect();
    writes.push(Write { path: folder.join(overlay::FILE_NAME), bytes: overlay_file.as_bytes() });
    fsio::commit(&writes, &[])?;
    let below = |path: &str| visible(&below(shown, path)).into_owned();
    let mut told = String::new();
    for file in &adopted.patches {
        told.push_str(&format!("wrote {} ({})\n", below(&file.path), visible(&file.summary)));
    }
    told.push_str(&format!("wrote {}\n", below(overlay::FILE_NAME)));
    let todo = adopted.patches.iter().any(|file| file.text.contains("TODO"));
    let first = if todo { "write the reason where `why` says TODO, then run" } else { "run" };
    told.push_str(&format!("next: {first} `overlay verify {}`\n", visible(shown)));
    context.terminal.aside(&told);
    let overtaken = overtaken(made, root, context);
    context.terminal.findings(&overtaken);
    Ok(End::Clean)
}

/// The warnings about other patches whose places the new one changes once more.
fn overtaken(made: &Made, root: &Root, context: &Context) -> Vec<Diagnostic> {
    let files: Vec<String> = made.adopted.patches.iter().map(|file| below(&made.shown, &file.path)).collect();
    let verified = verify::verify(root.clone(), &made.folder, &Over::default(), context.today());
    let is_by_it = |finding: &Diagnostic| finding.related.iter().any(|(place, _)| files.contains(&place.source.name));
    let warned = verified.report.findings.into_iter().filter(|finding| finding.severity == Severity::Warning);
    warned.filter(|finding| finding.code == Code::Overridden && is_by_it(finding)).collect()
}

/// The line that tells an editor which schema a file of ours has, if the root holds that schema; else nothing.
pub(super) fn with_schema(root: &Root, file: &Path, schema: Schema) -> String {
    let held = root.path().join(schema::FOLDER).join(schema.file_name());
    if fsio::entry(&held).is_ok_and(|entry| entry != Disk::Missing) {
        schema_line(root, file, schema)
    } else {
        String::new()
    }
}

/// The line that tells an editor which schema a file of ours has.
pub(super) fn schema_line(root: &Root, file: &Path, schema: Schema) -> String {
    let held = root.path().join(schema::FOLDER).join(schema.file_name());
    let from = file.parent().unwrap_or(root.path());
    let relative = crate::layer::root::relative(from, &held);
    format!("# yaml-language-server: $schema={}\n", relative.display())
}

/// Whether someone sits at a terminal who can be asked.
pub(super) fn someone_is_there() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}
