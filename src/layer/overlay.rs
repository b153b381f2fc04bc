//! `overlay.yaml`: what an overlay stands on and which files belong to it.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::base::{self, Base};
use super::root::{Located, PathError, Root};
use super::shelf::{OpenBase, Shelf};
use super::sources::Sources;
use crate::change::{Action, Change, New, apply_edits};
use crate::config::{Fields, File, Findings, Form, Spanned, View};
use crate::diag::{Code, Diagnostic, Place, Source};
use crate::fsio::{self, Entry, FsError};
use crate::patch::path::Segment;
use crate::yaml::edit::{EditError, edit};
use crate::yaml::load::load_text;

/// The names that the file of a kustomization can have.
const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The name of the file in an overlay's folder.
pub const FILE_NAME: &str = "overlay.yaml";

/// The folder that an overlay's patches usually lie in.
pub const PATCHES: &str = "patches";

/// How many overlays may stand on one another.
pub const MAX_STACK: usize = 16;

/// How many layers an overlay may have in all, each counted as often as it is named.
pub const MAX_LAYERS: usize = 256;

const FORM: Form = Form::new("Overlay");

/// The key under which an overlay names what it stands on.
const BASES: &str = "bases";

/// An overlay: the content of its `overlay.yaml`, with every path led to a file of the root.
#[derive(Clone, Debug)]
pub struct Overlay {
    /// Its folder.
    pub folder: Located,
    /// Its `overlay.yaml`.
    pub source: Arc<Source>,
    /// What reports call it.
    pub name: Spanned<String>,
    /// One line on what it is.
    pub description: Option<String>,
    /// The folders of the bases and overlays below it, in order.
    pub bases: Vec<Reference>,
    /// Manifests of our own that are added to the result.
    pub resources: Vec<Reference>,
    /// The patch files, in the order in which they apply.
    pub patches: Vec<Reference>,
    /// The committed result; the file need not be there yet.
    pub rendered: Option<Reference>,
    /// Paths of images beyond those of containers.
    pub images: Vec<Spanned<String>>,
    /// Whether one of the bases or resources is not among them, because its path leads nowhere.
    pub lacks_documents: bool,
}

/// A file or folder that a file of ours names.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The path as it is written.
    pub written: Spanned<String>,
    /// Where it leads.
    pub file: Located,
}

/// One layer of a result.
#[derive(Clone, Debug)]
pub enum Layer {
    /// A base.
    Base(Arc<OpenBase>),
    /// An overlay, and what it stands on.
    Overlay(Box<Overlay>, Vec<Layer>),
    /// Documents that were handed over in the place of a base. There is no lock of them.
    Stream(Arc<Source>),
}

impl Layer {
    /// Every base below this layer, itself if it is one, in the order in which their documents come.
    pub fn bases(&self) -> Vec<&Base> {
        let bases = self.all().into_iter().filter_map(|layer| match layer {
            Layer::Base(open) => Some(&open.base),
            Layer::Overlay(..) | Layer::Stream(_) => None,
        });
        bases.collect()
    }

    /// This layer and every one below it, each before what it stands on.
    pub fn all(&self) -> Vec<&Layer> {
        let mut found = Vec::new();
        let mut open = vec![self];
        while let Some(layer) = open.pop() {
            found.push(layer);
            if let Layer::Overlay(_, below) = layer {
                open.extend(below.iter().rev());
            }
        }
        found
    }

    /// For each patch, in the order in which they apply, the number of the overlay that names it.
    pub fn of_patches(&self) -> Vec<usize> {
        let (mut found, mut number) = (Vec::new(), 0);
        // From the last patch to the first: an overlay's own come behind those of what it stands on.
        let mut open = vec![self];
        while let Some(layer) = open.pop() {
            if let Layer::Overlay(overlay, below) = layer {
                found.extend(overlay.patches.iter().map(|_| number));
                number += 1;
                open.extend(below);
            }
        }
        found.reverse();
        found
    }

    /// Whether there is nothing to build without documents from elsewhere: no base and no resource at any height.
    pub fn is_for_a_stream(&self) -> bool {
        self.all().into_iter().all(|layer| match layer {
            Layer::Overlay(overlay, below) => overlay.bases.len() == below.len() && overlay.resources.is_empty(),
            Layer::Base(_) | Layer::Stream(_) => false,
        })
    }

    /// What was handed over in the place of the base, if anything was.
    pub fn stream(&self) -> Option<&Arc<Source>> {
        self.all().into_iter().find_map(|layer| match layer {
            Layer::Stream(source) => Some(source),
            Layer::Base(_) | Layer::Overlay(..) => None,
        })
    }
}

/// Reads the overlay or base in `folder` with everything that it stands on; bases come from the shelf, if they are there.
/// Where something could not be taken, the
/// findings say why, and what is returned is only fit to find more mistakes in.
pub fn load(root: &Root, shelf: &Shelf, folder: &Located, findings: &mut Findings) -> Option<Layer> {
    Loader::new(root, shelf, None).layer(folder, None, findings)
}

/// Like [`load`], with documents that someone hands over in the place of the one base that the overlay stands on. The
/// base's own files are not read. An overlay that names none (`bases: []`) is one for such documents alone.
pub fn load_over(root: &Root, folder: &Located, stream: &Arc<Source>, findings: &mut Findings) -> Option<Layer> {
    let shelf = Shelf::default();
    let mut loader = Loader::new(root, &shelf, Some(stream));
    let layer = loader.layer(folder, None, findings)?;
    Some(loader.over(layer))
}

/// Like [`load_over`], of an overlay that no folder holds: the text of its file, the paths in it starting from `folder`.
pub fn load_text_over(
    root: &Root,
    folder: &Located,
    file: &Arc<Source>,
    stream: &Arc<Source>,
    findings: &mut Findings,
) -> Option<Layer> {
    let overlay = Overlay::read(root, folder, file, findings)?;
    let shelf = Shelf::default();
    let mut loader = Loader { layers: 1, ..Loader::new(root, &shelf, Some(stream)) };
    let layer = loader.stack(overlay, findings);
    Some(loader.over(layer))
}

impl Overlay {
    /// Reads the `overlay.yaml` of a folder. What is wrong with it, and every path in it that leads nowhere or out of
    /// the root, is told with its line.
    pub fn load(root: &Root, folder: &Located, findings: &mut Findings) -> Option<Overlay> {
        let source = base::own_file(root, folder, FILE_NAME, findings)?;
        Overlay::read(root, folder, &source, findings)
    }

    /// The overlay that a text describes, its paths starting from a folder.
    fn read(root: &Root, folder: &Located, source: &Arc<Source>, findings: &mut Findings) -> Option<Overlay> {
        let source = Arc::clone(source);
        let file = findings.keep(File::open(&source, FORM))?;
        let known = ["name", "description", "bases", "resources", "patches", "rendered", "images"];
        let top = file.top(&known, findings)?;
        let reader = Reader { root, folder, fields: &top };
        let name = top.require("name", findings).and_then(|v| v.text(findings));
        let description = top.given("description").and_then(|v| v.text(findings));
        let before = findings.errors();
        let bases = reader.references(BASES, findings);
        let resources = reader.references("resources", findings);
        if !names_layers(&top) && ![BASES, "resources"].iter().any(|key| top.is_misspelt(key)) {
            findings.add(stands_on_nothing(&file));
        }
        let lacks_documents = findings.errors() > before || !names_layers(&top);
        let patches = reader.references("patches", findings);
        let rendered = top.given("rendered").and_then(|v| reader.reference(v, Root::resolve_to_come, findings));
        let images = top.given("images").and_then(|v| v.texts(findings)).unwrap_or_default();
        let description = description.map(|d| d.value);
        Some(Overlay {
            folder: folder.clone(),
            source,
            name: name?,
            description,
            bases,
            resources,
            patches,
            rendered,
            images,
            lacks_documents,
        })
    }

    /// The paths of images that it lists, as mapping keys, indices and `*`; an `Err` says why one is no such path.
    pub fn image_paths(&self) -> impl Iterator<Item = (&Spanned<String>, Result<Vec<String>, String>)> {
        self.images.iter().map(|written| (written, plain_path(&written.value)))
    }

    /// Tells patch files that lie beside those of the overlay, in its folder `patches` or where one of its patches
    /// lies below its own folder, and that it does not list: whoever wrote one may believe that it applies.
    fn tell_unlisted(&self, root: &Root, findings: &mut Findings) {
        let listed: HashSet<&Path> = self.patches.iter().map(|patch| patch.file.path.as_path()).collect();
        let folders = listed.iter().filter_map(|file| file.parent()).map(Path::to_owned);
        let own = folders.filter(|folder| folder.starts_with(&self.folder.path));
        let folders: BTreeSet<PathBuf> = own.chain([self.folder.path.join(PATCHES)]).collect();
        for folder in folders {
            let files =
                fsio::names(&folder).into_iter().filter(|name| Path::new(name).extension() == Some("yaml".as_ref()));
            for file in files.map(|name| root.located(folder.join(name))) {
                if !listed.contains(file.path.as_path()) && is_patch(root, &file) {
                    findings.add(self.unlisted(&file));
                }
            }
        }
    }

    fn unlisted(&self, file: &Located) -> Diagnostic {
        let message = format!("{} lies beside the patches of {}, which does not list it", file.name, self.source.name);
        let below = file.path.strip_prefix(&self.folder.path).unwrap_or(&file.path);
        Diagnostic::new(Code::PatchUnlisted, message)
            .at(Place::new(&self.source, self.name.span.clone()), "this overlay is built without it")
            .help(format!("Add `- {}` to its `patches`, or delete the file.", below.display()))
    }
}

fn plain_path(text: &str) -> Result<Vec<String>, String> {
    let path = crate::patch::path::Path::parse(text).map_err(|e| e.to_string())?;
    let segment = |segment: &Segment| match segment {
        Segment::Key(key) => Ok(key.clone()),
        Segment::Each => Ok("*".to_owned()),
        Segment::Select(_) | Segment::Item(_) => Err("selectors cannot stand here".to_owned()),
    };
    path.segments().iter().map(segment).collect()
}

/// Whether a file says that it is a patch. What is wrong with it is told when it is listed.
fn is_patch(root: &Root, file: &Located) -> bool {
    let Ok(bytes) = root.read(file) else { return false };
    let has_line = |wanted: &str| bytes.split(|b| *b == b'\n').any(|line| line.trim_ascii_end() == wanted.as_bytes());
    has_line("apiVersion: overlay/v1") && has_line("kind: Patch")
}

/// The text of an `overlay.yaml` with one more file at the end of a list of it; every other byte stays.
pub fn listing(text: &str, key: &str, file: &str) -> Result<String, EditError> {
    let is_there = load_text(text).is_ok_and(|loaded| loaded.value.get(key).is_some_and(Value::is_array));
    let (item, list) = (Value::from(file), Value::from(vec![file]));
    let path: Vec<String> = if is_there { vec![key.to_owned(), "-".to_owned()] } else { vec![key.to_owned()] };
    let new = New { value: if is_there { &item } else { &list }, spelled: None, comment: None };
    let edits = edit(text, &Change { action: Action::Add(new), path: &path })?;
    Ok(apply_edits(text, &edits))
}

/// What is wrong with where an overlay keeps its committed result.
fn unfit_for_a_result(layer: &Layer) -> Option<Diagnostic> {
    let Layer::Overlay(overlay, _) = layer else { return None };
    let rendered = overlay.rendered.as_ref()?;
    let why = if Sources::of(layer).have(&rendered.file.path) {
        "this overlay is made of that file"
    } else if rendered.file.path.components().any(|part| part.as_os_str() == ".git") {
        "it lies in a folder of git's own"
    } else {
        return None;
    };
    let message = format!("`rendered` cannot be {}: {why}", rendered.file.name);
    let place = Place::new(&overlay.source, rendered.written.span.clone());
    let help = "Name a file that holds nothing but the result.";
    Some(Diagnostic::new(Code::Syntax, message).at(place, "a result would be written over it").help(help))
}

impl Overlay {
    /// The committed result's bytes; `None` inside where there is no such file yet.
    pub fn committed(&self, root: &Root) -> Option<Result<Option<Vec<u8>>, FsError>> {
        let rendered = self.rendered.as_ref()?;
        Some(match root.read(&rendered.file) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(FsError::Missing { .. }) => Ok(None),
            Err(error) => Err(error),
        })
    }
}

/// Reads paths out of an `overlay.yaml`.
struct Reader<'a> {
    root: &'a Root,
    folder: &'a Located,
    fields: &'a Fields<'a>,
}

impl Reader<'_> {
    fn references(&self, key: &str, findings: &mut Findings) -> Vec<Reference> {
        let Some(view) = self.fields.given(key) else { return Vec::new() };
        if let Some(one) = view.text(&mut Findings::new()) {
            let finding =
                view.file().syntax(format!("`{key}` is a list, not a text"), view.span(), "a list belongs here");
            findings.add(
                finding.help(format!("Write `{key}: [{}]`, or each behind a `- ` on a line of its own.", one.value)),
            );
            return Vec::new();
        }
        let Some(items) = view.items(findings) else { return Vec::new() };
        let mut found: Vec<Reference> = Vec::new();
        for item in items {
            let Some(reference) = self.reference(item, Root::resolve, findings) else { continue };
            if let Some(misplaced) = misplaced(key, &reference, item) {
                findings.add(misplaced);
                continue;
            }
            if let Some(first) = found.iter().find(|r| r.file.path == reference.file.path) {
                let file = item.file();
                let message = format!("{} stands twice in `{key}`", reference.file.name);
                findings.add(
                    file.syntax(message, item.span(), "here again")
                        .related(file.place(first.written.span.clone()), "first here")
                        .help("Take one of the two out."),
                );
                continue;
            }
            found.push(reference);
        }
        found
    }

    fn reference(
        &self,
        view: View<'_>,
        resolve: fn(&Root, &std::path::Path, &str) -> Result<Located, PathError>,
        findings: &mut Findings,
    ) -> Option<Reference> {
        if let Some(path) = path_of_mapping(view) {
            let finding = view.file().syntax("a text is expected, not a mapping", view.span(), "a text belongs here");
            findings.add(finding.help(format!("Write the path alone: `{path}`.")));
            return None;
        }
        if view.is_mapping() {
            let finding = view.file().syntax("a text is expected, not a mapping", view.span(), "a text belongs here");
            findings.add(
                finding.help(
                    "Name a file here, and put into it what is meant: a patch of kind Patch, a manifest, a base.",
                ),
            );
            return None;
        }
        let written = view.text(findings)?;
        match resolve(self.root, &self.folder.path, &written.value) {
            Ok(file) => Some(Reference { written, file }),
            Err(error) => {
                findings.add(error.diagnose(Some(view.place())));
                None
            }
        }
    }
}

/// Reads a stack of layers, each with what it stands on.
struct Loader<'a> {
    root: &'a Root,
    shelf: &'a Shelf,
    /// The folders of the overlays that are being read, the topmost first.
    above: Vec<PathBuf>,
    layers: usize,
    /// What stands in the place of a base.
    stream: Option<&'a Arc<Source>>,
    /// How many places it was wanted in.
    streams: usize,
}

impl<'a> Loader<'a> {
    fn new(root: &'a Root, shelf: &'a Shelf, stream: Option<&'a Arc<Source>>) -> Loader<'a> {
        Loader { root, shelf, above: Vec::new(), layers: 0, stream, streams: 0 }
    }

    fn layer(&mut self, folder: &Located, named_at: Option<Place>, findings: &mut Findings) -> Option<Layer> {
        self.layers += 1;
        let there = |name: &str| fsio::entry(&folder.path.join(name)).is_ok_and(|e| e != Entry::Missing);
        let (has_base, has_overlay) = (there(base::FILE_NAME), there(FILE_NAME));
        if let Some(problem) = self.too_much(folder, has_overlay) {
            let finding = Diagnostic::new(Code::Syntax, problem);
            findings.add(match named_at {
                Some(place) => finding.at(place, "named here"),
                None => finding,
            });
            return None;
        }
        match (has_base, has_overlay) {
            (true, false) if let (Some(_), Some(place)) = (self.stream, &named_at) => {
                self.handed_over(place.clone(), findings)
            }
            (true, false) => self.shelf.base(self.root, folder, findings).map(Layer::Base),
            (false, true) => self.overlay(folder, findings),
            (has_base, _) => {
                findings.add(no_layer(folder, has_base, named_at));
                None
            }
        }
    }

    /// What stands in the place of a base that is wanted at `place`, if anything was handed over.
    fn handed_over(&mut self, place: Place, findings: &mut Findings) -> Option<Layer> {
        let stream = self.stream?;
        self.streams += 1;
        if self.streams > 1 {
            let message = "what is handed over stands in for one base, and the overlay stands on several";
            let finding = Diagnostic::new(Code::Syntax, message).at(place, "for this one there is nothing");
            findings.add(finding.help("Hand documents over to an overlay of one base, or of none (`bases: []`)."));
            return None;
        }
        Some(Layer::Stream(Arc::clone(stream)))
    }

    fn overlay(&mut self, folder: &Located, findings: &mut Findings) -> Option<Layer> {
        let before = findings.errors();
        let overlay = Overlay::load(self.root, folder, findings)?;
        // A file that is not listed may be the one that a misspelt path in the list means.
        let names_what_is_there = findings.errors() == before;
        let layer = self.stack(overlay, findings);
        if let Layer::Overlay(overlay, _) = &layer
            && names_what_is_there
        {
            overlay.tell_unlisted(self.root, findings);
        }
        Some(layer)
    }

    /// An overlay with what it stands on.
    fn stack(&mut self, overlay: Overlay, findings: &mut Findings) -> Layer {
        self.above.push(overlay.folder.path.clone());
        let mut below = Vec::new();
        for reference in &overlay.bases {
            let place = Place::new(&overlay.source, reference.written.span.clone());
            below.extend(self.layer(&reference.file, Some(place), findings));
        }
        self.above.pop();
        if below.is_empty() && overlay.bases.is_empty() && overlay.resources.is_empty() {
            let whole = Place::new(&overlay.source, 0..0);
            below.extend(self.handed_over(whole, findings));
        }
        let layer = Layer::Overlay(Box::new(overlay), below);
        findings.extend(unfit_for_a_result(&layer));
        layer
    }

    /// The layer over what was handed over, where no layer of it wanted that in the place of a base.
    fn over(&self, layer: Layer) -> Layer {
        match (layer, self.stream) {
            (Layer::Overlay(overlay, mut below), Some(stream)) if self.streams == 0 => {
                below.insert(0, Layer::Stream(Arc::clone(stream)));
                Layer::Overlay(overlay, below)
            }
            (layer, _) => layer,
        }
    }

    /// Why the stack cannot grow by this folder, if it cannot.
    fn too_much(&self, folder: &Located, is_overlay: bool) -> Option<String> {
        if self.above.contains(&folder.path) {
            Some(format!("{} stands on itself", folder.name))
        } else if is_overlay && self.above.len() >= MAX_STACK {
            Some(format!("more than {MAX_STACK} overlays stand on one another"))
        } else if self.layers > MAX_LAYERS {
            Some(format!("there are more than {MAX_LAYERS} layers"))
        } else {
            None
        }
    }
}

/// Whether an overlay says, rightly or not, what it stands on.
fn names_layers(fields: &Fields<'_>) -> bool {
    fields.given(BASES).is_some() || fields.given("resources").is_some()
}

fn stands_on_nothing(file: &File) -> Diagnostic {
    let start = file.root().span().start;
    file.syntax("the overlay stands on nothing", start..start, "`bases:` belongs to this mapping")
        .help("Name the folder of a base or of another overlay under `bases`.")
}

/// The path that a mapping names: what someone writes who knows kustomize.
fn path_of_mapping(view: View<'_>) -> Option<String> {
    let entries = view.entries(&mut Findings::new()).filter(|_| view.is_mapping())?;
    let path = entries.iter().find(|entry| entry.key.value == "path")?;
    path.value.text(&mut Findings::new()).map(|path| path.value)
}

/// A folder where a file belongs, or a file where a folder belongs, and the key or path that is meant: what someone
/// writes who knows kustomize.
fn misplaced(key: &str, reference: &Reference, view: View<'_>) -> Option<Diagnostic> {
    let is_folder = fsio::entry(&reference.file.path).is_ok_and(|entry| entry == Entry::Folder);
    let name = &reference.file.name;
    let span = view.span();
    if key == BASES && !is_folder {
        let folder = reference.written.value.rsplit_once('/').map_or(".", |(folder, _)| folder);
        let finding = view.file().syntax(format!("{name} is a file, and a base is a folder"), span, "named here");
        return Some(if names_a_layer(&reference.file.path) {
            finding.help(format!("Name its folder: `{folder}`."))
        } else {
            finding.help("`overlay init` makes a base of a manifest; one of your own is listed under `resources`.")
        });
    }
    if key == BASES || !is_folder {
        return None;
    }
    let finding = view.file().syntax(format!("{name} is a folder, and `{key}` lists files"), span, "named here");
    let is_layer = is_layer(&reference.file.path);
    Some(if is_layer {
        finding.help("List it under `bases`.")
    } else {
        finding.help("List the files in it, each by its path.")
    })
}

/// Whether a folder is that of a base or an overlay.
fn is_layer(folder: &Path) -> bool {
    has(folder, base::FILE_NAME) || has(folder, FILE_NAME)
}

fn has(folder: &Path, name: &str) -> bool {
    fsio::entry(&folder.join(name)).is_ok_and(|entry| entry != Entry::Missing)
}

/// Refuses what is no base's folder, where one was asked for.
///
/// # Errors
/// A finding that says what it is, and which bases may be meant.
pub fn expect_base(root: &Root, folder: &Located) -> Result<(), Box<Diagnostic>> {
    if has(&folder.path, base::FILE_NAME) {
        return Ok(());
    }
    let (message, meant) = if fsio::entry(&folder.path).is_ok_and(|entry| entry == Entry::File) {
        let parent = folder.path.parent().filter(|parent| parent.starts_with(root.path()));
        let meant = parent.map(|parent| meant_by(root, &root.located(parent.to_owned()))).unwrap_or_default();
        (format!("{} is a file, and a base is a folder", folder.name), meant)
    } else if has(&folder.path, FILE_NAME) {
        (format!("{} is an overlay, and a base was asked for", folder.name), meant_by(root, folder))
    } else {
        let below = below(folder, &[base::FILE_NAME]).into_iter().collect();
        (format!("{} has no {}, and so is no base", folder.name, base::FILE_NAME), below)
    };
    let help = match &meant[..] {
        [] if is_kustomization(&folder.path) => FROM_KUSTOMIZE.to_owned(),
        [] => "`overlay init NAME SOURCE` makes a base of a published manifest.".to_owned(),
        [one] => format!("Name the folder of the base: `{one}`."),
        several => format!("Name the folder of one base: `{}`.", several.join("`, `")),
    };
    Err(Box::new(Diagnostic::new(Code::FileUnreadable, message).absent(folder.name.clone()).help(help)))
}

/// The bases that someone means by a folder: itself, or what the overlay in it stands on.
fn meant_by(root: &Root, folder: &Located) -> Vec<String> {
    let layer = if is_layer(&folder.path) { load(root, &Shelf::default(), folder, &mut Findings::new()) } else { None };
    let mut found = Vec::new();
    for base in layer.iter().flat_map(Layer::bases).map(|base| base.folder.name.clone()) {
        if !found.contains(&base) {
            found.push(base);
        }
    }
    found
}

/// Whether a path is that of the file that makes a base or an overlay of its folder.
fn names_a_layer(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == base::FILE_NAME || name == FILE_NAME)
}

/// A folder below a folder that has a file of the first of these names, else of the next, as it would be named from
/// there.
fn below(folder: &Located, names: &[&str]) -> Option<String> {
    let found = names.iter().find_map(|name| fsio::find(&folder.path, name).ok()?.into_iter().next())?;
    let below = found.strip_prefix(&folder.path).ok()?;
    Some(Path::new(&folder.name).join(below).to_string_lossy().trim_start_matches("./").to_owned())
}

/// What to do about a folder that is one of kustomize.
pub const FROM_KUSTOMIZE: &str =
    "It is a kustomization: docs/from-kustomize.md says how to make an overlay that gives the same objects.";

/// Whether a folder is a kustomization.
pub fn is_kustomization(folder: &Path) -> bool {
    KUSTOMIZATIONS.iter().any(|name| fsio::entry(&folder.join(name)).is_ok_and(|entry| entry != Entry::Missing))
}

/// What is wrong with a file where the folder of a base or of an overlay belongs.
fn file_for_a_folder(file: &Located) -> Diagnostic {
    let folder = |at: &str| at.rsplit_once('/').map_or(".".to_owned(), |(parent, _)| parent.to_owned());
    let (message, named) = if names_a_layer(&file.path) {
        (format!("{} is a file, and the folder that it lies in belongs here", file.name), Some(folder(&file.name)))
    } else {
        let above =
            file.path.ancestors().skip(1).zip(std::iter::successors(Some(folder(&file.name)), |at| Some(folder(at))));
        let mut inside = above.take_while(|(_, name)| name != ".").filter(|(path, _)| is_layer(path));
        let message = format!("{} is a file, and the folder of a base or an overlay belongs here", file.name);
        (message, inside.next().map(|(_, name)| name))
    };
    let finding = Diagnostic::new(Code::FileUnreadable, message);
    match named {
        Some(named) => finding.help(format!("Name the folder: `{named}`.")),
        None => finding,
    }
}

fn no_layer(folder: &Located, has_base: bool, named_at: Option<Place>) -> Diagnostic {
    let finding = if fsio::entry(&folder.path).is_ok_and(|entry| entry == Entry::File) {
        file_for_a_folder(folder)
    } else if has_base {
        let message = format!("{} has both a base.yaml and an overlay.yaml", folder.name);
        Diagnostic::new(Code::Syntax, message).help("Give each a folder of its own.")
    } else {
        let message = format!("{} is neither a base nor an overlay", folder.name);
        let finding = Diagnostic::new(Code::FileUnreadable, message).note("It has no base.yaml and no overlay.yaml.");
        let finding = finding.absent(folder.name.clone());
        match below(folder, &[FILE_NAME, base::FILE_NAME]) {
            _ if is_kustomization(&folder.path) => finding.help(FROM_KUSTOMIZE),
            Some(below) => finding.help(format!("Name the folder of one, such as {below}.")),
            None => finding,
        }
    };
    match named_at {
        Some(place) => finding.at(place, "named here"),
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::testing::Project;

    const BASE: &str = "apiVersion: overlay/v1\nkind: Base\nname: b\nsource: {file: ../../up.yaml}\n";
    const HEAD: &str = "apiVersion: overlay/v1\nkind: Overlay\nname: x\n";

    /// A project with a base `base/b` and, in `overlays/x`, an overlay with these further lines.
    fn project(rest: &str) -> Project {
        Project::new(&[
            ("base/b/base.yaml", BASE),
            ("overlays/x/overlay.yaml", &format!("{HEAD}{rest}")),
            ("overlays/x/patches/p.yaml", ""),
        ])
    }

    fn load_x(project: &Project) -> (Option<Layer>, Vec<String>) {
        let mut findings = Findings::new();
        let layer = load(&project.root, &Shelf::default(), &project.folder("overlays/x"), &mut findings);
        let told = project.told(&findings).iter().map(|t| t.replace("overlays/x/overlay.yaml:", "")).collect();
        (layer, told)
    }

    fn mistakes(rest: &str) -> Vec<String> {
        load_x(&project(rest)).1
    }

    #[test]
    fn an_overlay_leads_its_paths_to_files_of_the_root() {
        let project = project(
            "description: d\nbases: [../../base/b]\nresources: []\npatches: [patches/p.yaml]\n\
             rendered: ../../out.yaml\nimages: [/spec/image]\n",
        );
        let (layer, told) = load_x(&project);
        assert!(told.is_empty(), "{told:?}");
        let Some(Layer::Overlay(overlay, below)) = layer else { panic!("no overlay") };
        assert_eq!(overlay.name.value, "x");
        assert_eq!(overlay.patches[0].file.name, "overlays/x/patches/p.yaml");
        assert_eq!(overlay.rendered.as_ref().map(|r| r.file.name.as_str()), Some("out.yaml"));
        assert_eq!(overlay.images[0].value, "/spec/image");
        assert!(matches!(&below[..], [Layer::Base(open)] if open.base.folder.name == "base/b"));
    }

    #[test]
    fn every_path_that_leads_nowhere_is_told_with_its_line() {
        assert_eq!(
            mistakes("bases:\n  - ../../base/c\n  - ../../../b\npatches:\n  - patches/p.yml\n  - /p.yaml\n"),
            [
                "5:5 file-unreadable: base/c: no such file or folder",
                "6:5 path-outside-root: the path \"../../../b\" leads outside the root",
                "8:5 file-unreadable: overlays/x/patches/p.yml: no such file or folder",
                "9:5 path-outside-root: the path \"/p.yaml\" is absolute, and so outside the root",
            ]
        );
    }

    #[test]
    fn what_is_named_twice_is_refused() {
        let rest = "bases: [../../base/b]\npatches: [patches/p.yaml, ./patches/../patches/p.yaml]\n";
        assert_eq!(mistakes(rest), ["5:27 syntax: overlays/x/patches/p.yaml stands twice in `patches`"]);
    }

    #[test]
    fn an_overlay_stands_on_something_that_is_a_layer() {
        assert_eq!(mistakes(""), ["1:1 syntax: the overlay stands on nothing"]);
        assert_eq!(
            mistakes("bases: [patches, ../../base]\n"),
            [
                "4:9 file-unreadable: overlays/x/patches is neither a base nor an overlay",
                "4:18 file-unreadable: base is neither a base nor an overlay",
            ]
        );
        let both = project("bases: [../../base/b]\n");
        both.write("base/b/overlay.yaml", HEAD);
        assert_eq!(load_x(&both).1, ["4:9 syntax: base/b has both a base.yaml and an overlay.yaml"]);
    }

    #[test]
    fn layers_stack_and_their_bases_come_in_order() {
        let project = project("bases: [../y, ../../base/b]\n");
        project.write("overlays/y/overlay.yaml", &format!("{HEAD}bases: [../../base/c, ../../base/b]\n"));
        project.write("base/c/base.yaml", BASE);
        let (layer, told) = load_x(&project);
        assert!(told.is_empty(), "{told:?}");
        let names: Vec<String> = layer.unwrap().bases().iter().map(|b| b.folder.name.clone()).collect();
        assert_eq!(names, ["base/c", "base/b", "base/b"]);
    }

    #[test]
    fn an_overlay_that_stands_on_itself_is_refused_at_the_line_that_closes_the_circle() {
        let project = project("bases: [../y]\n");
        project.write("overlays/y/overlay.yaml", &format!("{HEAD}bases: [../x]\n"));
        assert_eq!(load_x(&project).1, ["overlays/y/overlay.yaml:4:9 syntax: overlays/x stands on itself"]);
    }

    #[test]
    fn stacks_are_bounded_in_height_and_in_width() {
        let tall = project("bases: [../o1]\n");
        for i in 1..40 {
            tall.write(&format!("overlays/o{i}/overlay.yaml"), &format!("{HEAD}bases: [../o{}]\n", i + 1));
        }
        assert_eq!(
            load_x(&tall).1,
            ["overlays/o15/overlay.yaml:4:9 syntax: more than 16 overlays stand on one another"]
        );
        let wide = project("bases: [../a1, ../b1]\n");
        for i in 1..12 {
            for name in ["a", "b"] {
                let on = format!("{HEAD}bases: [../a{n}, ../b{n}]\n", n = i + 1);
                wide.write(&format!("overlays/{name}{i}/overlay.yaml"), &on);
            }
        }
        for name in ["a12", "b12"] {
            wide.write(&format!("overlays/{name}/overlay.yaml"), &format!("{HEAD}bases: [../../base/b]\n"));
        }
        let told = load_x(&wide).1;
        assert!(told.iter().all(|t| t.ends_with("syntax: there are more than 256 layers")), "{told:?}");
        assert!(!told.is_empty());
    }
}
