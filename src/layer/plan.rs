//! A stack of layers laid flat: the documents of all bases in order, and the patches of all overlays in the order in
//! which they apply.
//!
//! Nothing is changed here, and no document of a base is read: what it is called is known from the lock, which the
//! file's hash has just been held against. Of documents that were handed over there is no lock, so that they are read.

use std::ops::Range;
use std::sync::Arc;

use super::check::VendoredFile;
use super::cut::{CutDocument, CutFile, Read, Reading};
use super::documents;
use super::overlay::{Layer, Overlay, Reference};
use super::root::Root;
use super::separators;
use super::shelf::OpenBase;
use crate::config::{self, Findings};
use crate::diag::{Code, Diagnostic, Place, Source};
use crate::patch::model::Patch;
use crate::resource::Identity;
use crate::yaml::load::LoadError;
use crate::yaml::stream::{self, MAX_DOCUMENTS};
use crate::yaml::tree::Bytes;

/// How many bytes the files may have together that an overlay is laid flat from, each as often as a layer names it: what
/// is built from them is as large.
pub const MAX_BYTES: usize = 256 << 20;

/// The documents and patches of one overlay, its layers laid flat.
#[derive(Debug, Default)]
pub struct Plan {
    /// The files that documents come from: vendored files of bases and resources of overlays, in the order in which
    /// they are printed.
    pub files: Vec<Arc<Source>>,
    /// Which of the files are resources of overlays, by their numbers.
    pub resources: Vec<usize>,
    /// The documents, in the order of the result.
    pub documents: Vec<Planned>,
    /// The patches, in the order in which they apply: those of a lower layer first.
    pub patches: Vec<Scoped>,
    /// The vendored files of each base, in the order of [`Layer::bases`]; `None` where they are not as the lock says.
    pub vendored: Vec<Option<Arc<[VendoredFile]>>>,
    /// Whether documents of a base or resource are not there at all. Of a base that is only not as locked they are, so that
    /// patches can be tried on what was found.
    pub lacks_documents: bool,
    /// How many bytes the files have together.
    bytes: usize,
    /// For each file, by which way it was reached.
    ways: Vec<Way>,
    /// The way to the layer that is being laid flat.
    way: Way,
    /// How many bases were come by, each as often as a layer names it.
    visits: usize,
}

/// How a layer was reached: one that several others name is reached by several ways.
#[derive(Clone, Debug, Default)]
struct Way {
    /// Of a base, when it was come by; the same for all its files.
    visit: usize,
    /// The folders from the overlay on top down to it.
    folders: Vec<String>,
    /// Where the overlay above it names it.
    named: Option<Place>,
}

/// One document of the input.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Its file, as an index of [`Plan::files`].
    pub file: usize,
    /// Its bytes in that file, from what leads it to the next marker.
    pub range: Bytes,
    /// The bytes of it that go when it is deleted: from its own marker on.
    pub own: Bytes,
    /// What it is called; `None` for a piece without content, such as a comment between two markers.
    pub identity: Option<Arc<Identity>>,
    /// What it says, for [`Plan::read`]; shared by all plans that stand on one [`Shelf`](super::shelf::Shelf).
    pub reading: Reading,
}

/// One patch and what it may touch.
#[derive(Clone, Debug)]
pub struct Scoped {
    /// The patch.
    pub patch: Arc<Patch>,
    /// The documents of the overlay that names it, as a range of [`Plan::documents`].
    pub scope: Range<usize>,
}

impl Plan {
    /// Lays a stack of layers flat, with every file that it names read. Where one could not be taken, the findings say
    /// why, and the plan lacks it: it is then only fit to find more mistakes with.
    pub fn new(root: &Root, layer: &Layer, findings: &mut Findings) -> Plan {
        let mut plan = Plan::default();
        plan.layer(root, layer, findings);
        if let [first, _, ..] = plan.files.as_slice() {
            findings.extend(separators::json_before_others(first));
        }
        plan
    }

    /// Whether a document is a resource of an overlay, and not of a base.
    pub fn is_resource(&self, document: &Planned) -> bool {
        self.resources.contains(&document.file)
    }

    /// Whether two documents are of one base, reached by one way.
    pub fn share_a_base(&self, one: &Planned, other: &Planned) -> bool {
        let visit = |document: &Planned| self.ways.get(document.file).map(|way| way.visit);
        !self.is_resource(one) && !self.is_resource(other) && visit(one) == visit(other)
    }

    /// Where two documents are of one base that was reached by two ways, these two.
    pub fn two_ways(&self, one: &Planned, other: &Planned) -> Option<[(String, Option<Place>); 2]> {
        let way = |document: &Planned| self.ways.get(document.file).filter(|_| !self.is_resource(document));
        let (one, other) = (way(one)?, way(other)?);
        let is_one_base =
            one.visit != other.visit && one.folders.last().is_some_and(|f| Some(f) == other.folders.last());
        is_one_base.then(|| [one, other].map(|way| (way.folders.join(" → "), way.named.clone())))
    }

    /// The text of a document, as its file has it.
    pub fn text(&self, document: &Planned) -> &str {
        self.files.get(document.file).and_then(|f| f.text.get(document.range.clone())).unwrap_or("")
    }

    /// What stays of a document that is taken out: what stands before its own marker, which is no document.
    pub fn rest(&self, document: &Planned) -> &str {
        let before = document.own.start.saturating_sub(document.range.start);
        self.text(document).get(..before).unwrap_or("")
    }

    /// A document as its file has it, read when it is first asked for.
    pub fn read(&self, document: &Planned) -> Result<Read, LoadError> {
        document.reading.of(self.text(document))
    }

    /// The vendored files of all bases that are as their locks say.
    pub fn vendored_files(&self) -> impl Iterator<Item = &VendoredFile> {
        self.vendored.iter().flatten().flat_map(|files| files.iter())
    }

    /// What the documents of a file are called.
    pub fn documents_of(&self, file: &Arc<Source>) -> impl Iterator<Item = &Identity> {
        let number = self.files.iter().position(|f| Arc::ptr_eq(f, file));
        self.documents.iter().filter(move |d| Some(d.file) == number).filter_map(|d| d.identity.as_deref())
    }

    /// The place of a stretch of a document, given in bytes of the document's own text.
    pub fn place(&self, document: &Planned, span: Bytes) -> Option<Place> {
        let source = self.files.get(document.file)?;
        let end = document.range.end;
        let at = (document.range.start + span.start).min(end)..(document.range.start + span.end).min(end);
        Some(Place::new(source, at))
    }

    /// The file that an overlay adds a document from, by the document's number; `None` for a document of a base.
    pub fn added_from(&self, document: usize) -> Option<&str> {
        let document = self.documents.get(document).filter(|document| self.is_resource(document))?;
        self.files.get(document.file).map(|file| file.name.as_str())
    }

    /// The text of all documents, with no patch applied, and where each document begins in it: what a result is
    /// compared with.
    pub fn unpatched(&self) -> (String, Vec<usize>) {
        self.joined(|_, document| self.text(document))
    }

    /// The same with nothing of the documents `is_gone` is true of, by their numbers, but what stays of them. Which bytes
    /// stand where one file ends and the next begins depends on what is left of both.
    pub fn unpatched_without(&self, is_gone: impl Fn(usize) -> bool) -> (String, Vec<usize>) {
        self.joined(|number, document| if is_gone(number) { self.rest(document) } else { self.text(document) })
    }

    /// The same without what overlays add: what upstream has. An added document begins where it would stand.
    pub fn upstream(&self) -> (String, Vec<usize>) {
        self.joined(|_, document| if self.is_resource(document) { "" } else { self.text(document) })
    }

    fn joined<'t>(&self, text: impl Fn(usize, &Planned) -> &'t str) -> (String, Vec<usize>) {
        let mut out = Joined::default();
        let documents = self.documents.iter().enumerate();
        let starts = documents.map(|(number, document)| out.push(document, text(number, document))).collect();
        (out.text, starts)
    }

    fn layer(&mut self, root: &Root, layer: &Layer, findings: &mut Findings) {
        match layer {
            Layer::Base(base) => self.base(root, base, findings),
            Layer::Stream(source) => {
                let read = documents::read(source, findings).unwrap_or_default();
                self.read_file(source, read, findings);
            }
            Layer::Overlay(overlay, below) => {
                let start = self.documents.len();
                self.lacks_documents |= overlay.lacks_documents || below.len() < overlay.bases.len();
                let above = self.way.clone();
                for (number, layer) in below.iter().enumerate() {
                    // Where one that is named is lacking, which is which is not known.
                    let reference = overlay.bases.get(number).filter(|_| overlay.bases.len() == below.len());
                    self.way = Way {
                        folders: [above.folders.as_slice(), std::slice::from_ref(&overlay.folder.name)].concat(),
                        ..Way::default()
                    };
                    self.way.named = reference.map(|r| Place::new(&overlay.source, r.written.span.clone()));
                    self.layer(root, layer, findings);
                }
                self.way = above;
                for resource in &overlay.resources {
                    self.resource(root, overlay, resource, findings);
                }
                let scope = start..self.documents.len();
                let patches = overlay.patches.iter().filter_map(|reference| patch(root, overlay, reference, findings));
                self.patches.extend(patches.map(|patch| Scoped { patch: Arc::new(patch), scope: scope.clone() }));
            }
        }
    }

    fn base(&mut self, root: &Root, base: &OpenBase, findings: &mut Findings) {
        let content = base.content(root);
        findings.join(&content.findings);
        self.vendored.push(content.vendored.clone());
        self.lacks_documents |= content.lacks_documents;
        self.visits += 1;
        self.way.visit = self.visits;
        self.way.folders.push(base.base.folder.name.clone());
        for file in &content.files {
            self.file(file.clone(), findings);
        }
    }

    fn resource(&mut self, root: &Root, overlay: &Overlay, reference: &Reference, findings: &mut Findings) {
        let source = own_source(root, overlay, reference, findings);
        let read = source.and_then(|source| documents::read(&source, findings).map(|read| (source, read)));
        let Some((source, read)) = read else {
            self.lacks_documents = true;
            return;
        };
        let named = || Place::new(&overlay.source, reference.written.span.clone());
        if read.is_empty() {
            let message = format!("{} is no manifest: it has no document", source.name);
            findings.add(Diagnostic::new(Code::Syntax, message).at(named(), "named here"));
        }
        for document in read.iter().filter(|d| d.identity.kind.is_empty() || d.identity.version.is_empty()) {
            let message = format!("{} is no manifest: a document has no apiVersion or no kind", source.name);
            let place = Place::new(&source, document.named.clone());
            findings.add(
                Diagnostic::new(Code::Syntax, message).at(place, "in this document").related(named(), "named here"),
            );
        }
        self.resources.push(self.files.len());
        self.read_file(&source, read, findings);
    }

    /// Adds the documents of a file that were read to know what they are called.
    fn read_file(&mut self, source: &Arc<Source>, read: Vec<documents::Document>, findings: &mut Findings) {
        let identities = read.into_iter().map(|d| d.identity);
        let file = CutFile::new(source, stream::split(&source.text), identities, findings);
        self.file(file, findings);
    }

    /// Adds the documents of a file, unless that would be too much.
    fn file(&mut self, file: CutFile, findings: &mut Findings) {
        let bytes = self.bytes.saturating_add(file.source.text.len());
        if bytes > MAX_BYTES || self.documents.len() + file.documents.len() > MAX_DOCUMENTS {
            let message = format!(
                "with {} the layers of this overlay have more than {} MiB or {MAX_DOCUMENTS} documents together",
                file.source.name,
                MAX_BYTES >> 20
            );
            findings.add(Diagnostic::new(Code::Syntax, message).help("Divide the overlay."));
            self.lacks_documents = true;
            return;
        }
        self.bytes = bytes;
        let number = self.files.len();
        self.files.push(file.source);
        self.ways.push(self.way.clone());
        for CutDocument { range, own, identity, reading } in file.documents {
            self.documents.push(Planned { file: number, range, own, identity, reading });
        }
    }
}

fn patch(root: &Root, overlay: &Overlay, reference: &Reference, findings: &mut Findings) -> Option<Patch> {
    let source = own_source(root, overlay, reference, findings)?;
    Patch::read(&source, findings)
}

/// The text of a file that an overlay names.
fn own_source(root: &Root, overlay: &Overlay, reference: &Reference, findings: &mut Findings) -> Option<Arc<Source>> {
    let named = || Place::new(&overlay.source, reference.written.span.clone());
    match root.read(&reference.file) {
        Ok(bytes) => findings.keep(config::source(reference.file.name.clone(), bytes)),
        Err(error) => {
            findings.add(Diagnostic::new(Code::FileUnreadable, error.to_string()).at(named(), "named here"));
            None
        }
    }
}

/// The documents of a plan put one behind the other.
///
/// They follow one another as they are. Only where one file ends and the next begins may bytes be added: the line
/// break that the end of the first lacks, and a `---` line where the second begins without one.
#[derive(Debug, Default)]
pub struct Joined {
    /// The text so far.
    pub text: String,
    /// Where what became of the last document stands in it.
    pub last: Range<usize>,
    file: Option<usize>,
}

const BOM: char = '\u{feff}';

impl Joined {
    /// Adds what became of a document, and says where its own text begins.
    pub fn push(&mut self, document: &Planned, text: &str) -> usize {
        if text.is_empty() {
            return self.text.len();
        }
        let starts_file = self.file.is_some_and(|file| file != document.file);
        let own = if starts_file { text.trim_start_matches(BOM) } else { text };
        if starts_file {
            self.start_file(text);
        }
        self.file = Some(document.file);
        self.last = self.text.len()..self.text.len() + own.len();
        self.text.push_str(own);
        // A BOM that was left out counts as if it stood before the beginning: offsets in the document stay right.
        (self.text.len() - own.len()).saturating_sub(text.len() - own.len())
    }

    fn start_file(&mut self, next: &str) {
        // Where the end of the document before was edited, it was by that document's own line breaks.
        let before = self.text.get(self.last.clone()).filter(|text| text.contains('\n')).unwrap_or(&self.text);
        let line_break = if before.contains("\r\n") { "\r\n" } else { "\n" };
        // kubectl ends lines with a line feed alone: a carriage return ends none.
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push_str(line_break);
        }
        let next = next.trim_start_matches(BOM);
        let leads = next.lines().find(|line| !line.trim_start().starts_with('#') && !line.trim().is_empty());
        if !leads.is_some_and(|line| line == "---" || line.starts_with("--- ") || line.starts_with("---\t")) {
            self.text.push_str("---");
            self.text.push_str(line_break);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said against files of so many bytes and documents.
    fn told(files: &[(usize, usize)]) -> Vec<String> {
        let (mut plan, mut findings) = (Plan::default(), Findings::new());
        for (bytes, documents) in files {
            let document = CutDocument { range: 0..0, own: 0..0, identity: None, reading: Reading::default() };
            let source = Source::new("a.yaml", "#".repeat(*bytes));
            plan.file(CutFile { source, documents: vec![document; *documents] }, &mut findings);
        }
        assert_eq!(plan.lacks_documents, findings.has_errors());
        findings.iter().map(|finding| finding.message.clone()).collect()
    }

    #[test]
    fn layers_have_as_many_bytes_and_documents_together_as_the_limit_and_no_more() {
        let beyond = "with a.yaml the layers of this overlay have more than 256 MiB or 100000 documents together";
        let quarter = (MAX_BYTES / 4, 1);
        assert_eq!(told(&[quarter; 4]), [""; 0]);
        assert_eq!(told(&[quarter, quarter, quarter, quarter, (1, 1)]), [beyond]);
        assert_eq!(told(&[(1, MAX_DOCUMENTS - 1), (1, 1)]), [""; 0]);
        assert_eq!(told(&[(1, MAX_DOCUMENTS), (1, 1)]), [beyond]);
    }
}
