//! One overlay as commands work on it: opened with its layers, laid flat into a plan, built.
//!
//! This is where the parts that read files, apply patches and prove results meet. It knows neither the terminal nor
//! the clock.

use std::path::Path;
use std::sync::Arc;

use crate::build::{self, Built, NoMatch, Stretch};
use crate::config::Findings;
use crate::diag::{Code, Diagnostic, Place, Source};
use crate::layer::base::Base;
use crate::layer::overlay::{self, Layer, Overlay};
use crate::layer::plan::Plan;
use crate::layer::root::{Located, Root};
use crate::layer::shelf::Shelf;

/// An overlay with everything that it stands on.
#[derive(Debug)]
pub struct Subject {
    /// Its folder.
    pub folder: Located,
    /// It and the layers below it.
    pub layer: Layer,
    /// Its documents and patches.
    pub plan: Plan,
    /// The paths of images that it and the overlays below it list.
    pub images: Vec<Vec<String>>,
    /// What a change is that means no document.
    pub no_match: NoMatch,
}

impl Subject {
    /// Opens the overlay in a folder. `None` where there is none; where a part of it cannot be taken, the findings say
    /// so and the subject lacks that part.
    pub fn open(root: &Root, folder: &Path, findings: &mut Findings) -> Option<Subject> {
        Subject::open_beside(root, &Shelf::default(), folder, findings)
    }

    /// Like [`Subject::open`], of one overlay among others of the same run: bases that another has opened come from the
    /// shelf.
    pub fn open_beside(root: &Root, shelf: &Shelf, folder: &Path, findings: &mut Findings) -> Option<Subject> {
        let folder = located(root, folder, findings)?;
        let layer = overlay::load(root, shelf, &folder, findings)?;
        Subject::of_overlay(root, folder, layer, findings)
    }

    /// Like [`Subject::open`], with documents that are handed over in the place of the overlay's base.
    pub fn open_over(root: &Root, folder: &Path, stream: &Arc<Source>, findings: &mut Findings) -> Option<Subject> {
        let folder = located(root, folder, findings)?;
        let layer = overlay::load_over(root, &folder, stream, findings)?;
        Subject::of_overlay(root, folder, layer, findings)
    }

    /// Refuses a base.
    fn of_overlay(root: &Root, folder: Located, layer: Layer, findings: &mut Findings) -> Option<Subject> {
        if let Layer::Base(open) = &layer {
            let base = &open.base;
            let message = format!("{} is a base, and an overlay was asked for", folder.name);
            let place = Place::new(&base.source, base.name.span.clone());
            let help = "Make a folder with an overlay.yaml that names this one under `bases`.";
            findings.add(Diagnostic::new(Code::FileUnreadable, message).at(place, "this base").help(help));
            return None;
        }
        Some(Subject::of(root, folder, layer, findings))
    }

    /// The overlay that a text describes, its paths starting from the current folder, over documents that are handed
    /// over.
    pub fn of_file(root: &Root, file: &Arc<Source>, stream: &Arc<Source>, findings: &mut Findings) -> Option<Subject> {
        let folder = located(root, Path::new("."), findings)?;
        let layer = overlay::load_text_over(root, &folder, file, stream, findings)?;
        Some(Subject::of(root, folder, layer, findings))
    }

    fn of(root: &Root, folder: Located, layer: Layer, findings: &mut Findings) -> Subject {
        let plan = Plan::new(root, &layer, findings);
        let images = images(&layer, findings);
        Subject { folder, layer, plan, images, no_match: NoMatch::default() }
    }

    /// The overlay itself.
    pub fn overlay(&self) -> Option<&Overlay> {
        match &self.layer {
            Layer::Overlay(overlay, _) => Some(overlay),
            Layer::Base(_) | Layer::Stream(_) => None,
        }
    }

    /// The bases below it whose vendored files are as their locks say.
    pub fn bases_as_locked(&self) -> impl Iterator<Item = &Base> {
        let vendored = self.plan.vendored.iter();
        self.layer.bases().into_iter().zip(vendored).filter(|(_, files)| files.is_some()).map(|(base, _)| base)
    }

    /// Builds it. `None` where anything is wrong, in the files or with the patches; the findings tell all of it. On a
    /// base that is not as locked the patches are tried, and nothing is built.
    pub fn build(&self, findings: &mut Findings) -> Option<Built> {
        self.built_by(build::build_where, findings)
    }

    /// Like [`Subject::build`], for who is about to write patches for it: an image that no patch wrote may have a digest that is
    /// none.
    pub fn draft(&self, findings: &mut Findings) -> Option<Built> {
        self.built_by(|plan, images, _, findings| build::build(plan, images, findings), findings)
    }

    /// Like [`Subject::build`], for who only wants to have the result written.
    pub fn build_in_parts(&self, findings: &mut Findings) -> Option<Vec<Stretch>> {
        self.built_by(build::build_in_parts, findings)
    }

    fn built_by<B>(
        &self,
        build: impl FnOnce(&Plan, &[Vec<String>], NoMatch, &mut Findings) -> Option<B>,
        findings: &mut Findings,
    ) -> Option<B> {
        // Without its documents, every patch would seem to miss its target.
        if self.plan.lacks_documents {
            return None;
        }
        if let Some(overlay) = self.overlay().filter(|_| self.layer.is_for_a_stream()) {
            findings.add(for_a_stream(overlay, &self.folder.name));
            return None;
        }
        let sound = !findings.has_errors() && self.plan.vendored.iter().all(Option::is_some);
        build(&self.plan, &self.images, self.no_match, findings).filter(|_| sound)
    }
}

/// What is wrong where an overlay that is for documents from elsewhere is handed none.
fn for_a_stream(overlay: &Overlay, folder: &str) -> Diagnostic {
    let message = "there is no document to build from: `bases: []` is for documents that are handed over";
    let place = Place::new(&overlay.source, overlay.name.span.clone());
    Diagnostic::new(Code::ResultEmpty, message).at(place, "this overlay stands on nothing of its own").help(format!(
        "Hand them over, as in `helm template … | overlay build {folder} --base -`, or name a base under `bases`."
    ))
}

fn located(root: &Root, folder: &Path, findings: &mut Findings) -> Option<Located> {
    root.locate(folder).map_err(|error| findings.add(error.diagnose(None))).ok()
}

/// The paths of images that the overlays of a stack list, as mapping keys, indices and `*`.
fn images(layer: &Layer, findings: &mut Findings) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut open = vec![layer];
    while let Some(layer) = open.pop() {
        let Layer::Overlay(overlay, below) = layer else { continue };
        open.extend(below);
        for (written, path) in overlay.image_paths() {
            match path {
                Ok(path) => found.push(path),
                Err(why) => {
                    let place = Place::new(&overlay.source, written.span.clone());
                    let message = format!("`{}` is no path of an image: {why}", written.value);
                    findings.add(
                        Diagnostic::new(Code::PathInvalid, message)
                            .at(place, "this path")
                            .help("Write it with mapping keys, indices and `*`: /spec/runners/*/image."),
                    );
                }
            }
        }
    }
    found
}
