//! What `verify` says of the images in a result, without asking any registry.

use std::collections::HashSet;
use std::path::Path;

use serde_json::Value;

use crate::config::Findings;
use crate::diag::{Code, Diagnostic, Place, nearest};
use crate::diff::keyed;
use crate::layer::overlay::Layer;
use crate::patch::path::{Path as KeyPath, Segment};
use crate::resource::images::{Image, ImageName, Reach, WRITE_THE_DIGEST, images, malformed, reach};

/// Where the name of an image was written.
pub(super) struct Writer {
    /// In the base, or in the patch that wrote it.
    pub(super) place: Place,
    /// That patch.
    pub(super) patch: Option<String>,
    /// Whether the patch says that the image has no digest on purpose.
    pub(super) unpins: bool,
}

/// Looks at every image of a document of the result, called `resource`. `more` are the paths of images that
/// `overlay.yaml` lists, and `writer` says where an image's name was written.
pub(super) fn check(
    resource: &str,
    value: &Value,
    more: &[Vec<String>],
    writer: impl Fn(&Image<'_>) -> Option<Writer>,
    findings: &mut Findings,
) {
    for image in images(value, &[], more) {
        let Some(finding) = judge(image.name) else { continue };
        let (path, _) = keyed(value, &image.path);
        let mut finding = finding.resource(resource).path(path.to_string());
        if let Some(Writer { place, patch, unpins }) = writer(&image) {
            if unpins && finding.code == Code::ImageNotPinned {
                continue;
            }
            finding = finding.at(place, "");
            finding.patch = patch;
        }
        findings.add(finding);
    }
}

/// Tells the paths under `images` of the overlays of a stack that lead to no text in any document, of a base or of the
/// result: what they were to check is checked by nobody.
pub(super) fn check_listed(layer: &Layer, documents: &[(String, &Value)], findings: &mut Findings) {
    let mut told: HashSet<(&Path, usize)> = HashSet::new();
    for layer in layer.all() {
        let Layer::Overlay(overlay, _) = layer else { continue };
        for (written, path) in overlay.image_paths() {
            let Ok(path) = path else { continue };
            let reached: Vec<_> = documents.iter().map(|(name, value)| (name, reach(value, &path))).collect();
            let is_new = told.insert((&overlay.folder.path, written.span.start));
            if is_new && !reached.iter().any(|(_, reach)| reach.is_text) {
                let place = Place::new(&overlay.source, written.span.clone());
                findings.add(leads_nowhere(&written.value, &path, &reached).at(place, "nothing is checked there"));
            }
        }
    }
}

/// The finding about a path, with the key that is probably meant where it leads no further, or what it does lead to.
fn leads_nowhere(written: &str, path: &[String], reached: &[(&String, Reach)]) -> Diagnostic {
    let message = format!("no document has a text at `{written}`, which `images` lists");
    let finding = Diagnostic::new(Code::ImagePathMissing, message);
    let steps = reached.iter().map(|(_, reach)| reach.steps).max().unwrap_or_default();
    let furthest = || reached.iter().filter(|(_, reach)| reach.steps == steps);
    let way = shown(path.iter().take(steps));
    let Some(key) = path.get(steps) else {
        let resource = furthest().next().map_or("", |(resource, _)| resource.as_str());
        return finding.note(format!("What {resource} has there is no text.")).help(CORRECT);
    };
    let near = furthest().find_map(|(resource, reach)| {
        let near = nearest(key, reach.keys.iter().map(String::as_str))?;
        Some((resource, path.iter().enumerate().map(move |(at, step)| if at == steps { near } else { step.as_str() })))
    });
    match (near, furthest().next()) {
        (Some((resource, meant)), _) => finding
            .note(format!("{resource} has `{way}`, and no `{key}` in it."))
            .help(format!("Did you mean `{}`?", shown(meant))),
        // That a document has a `spec` says little.
        (None, Some((resource, _))) if steps > 1 => {
            finding.note(format!("{resource} has `{way}`, and no `{key}` in it.")).help(CORRECT)
        }
        (None, _) => finding.help(CORRECT),
    }
}

const CORRECT: &str = "Correct the path, or take it out.";

/// Steps as overlay.yaml has them.
fn shown<S: AsRef<str>>(steps: impl Iterator<Item = S>) -> String {
    let segment = |step: S| if step.as_ref() == "*" { Segment::Each } else { Segment::Key(step.as_ref().to_owned()) };
    KeyPath::from(steps.map(segment).collect::<Vec<_>>()).to_string()
}

/// What is wrong with an image's name, if anything is.
fn judge(name: &str) -> Option<Diagnostic> {
    let Some(digest) = ImageName::parse(name).digest else {
        let message = format!("the image `{name}` is not pinned by a digest");
        let help = "A tag can be moved. Let a patch replace the name, and `overlay image REF --pin PATCH` write the digest there.";
        return Some(Diagnostic::new(Code::ImageNotPinned, message).help(help));
    };
    let problem = malformed(digest)?;
    let message = format!("the digest of the image `{name}` is none: {problem}");
    Some(Diagnostic::new(Code::DigestMalformed, message).help(WRITE_THE_DIGEST))
}
