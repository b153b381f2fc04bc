//! What `verify` says of the images in a result, without asking any registry.

use serde_json::Value;

use crate::config::Findings;
use crate::diag::{Code, Diagnostic, Place};
use crate::diff::keyed;
use crate::resource::images::{Image, ImageName, WRITE_THE_DIGEST, images, malformed};

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
