//! What `verify` says of the images in a result, without asking any registry.

use serde_json::Value;

use crate::config::Findings;
use crate::diag::{Code, Diagnostic};
use crate::patch::path::Path;
use crate::resource::Identity;
use crate::resource::images::{ImageName, images, malformed};

/// Looks at every image of a document of the result. `more` are the paths of images that `overlay.yaml` lists.
pub(super) fn check(identity: &Identity, value: &Value, more: &[Vec<String>], findings: &mut Findings) {
    for image in images(value, &[], more) {
        let name = ImageName::parse(image.name);
        let finding = match name.digest {
            None => {
                Diagnostic::new(Code::ImageNotPinned, format!("the image `{}` is not pinned by a digest", image.name))
                    .help("A tag can be moved. Pin it with a patch that writes the name with `@sha256:…`.")
            }
            Some(digest) => match malformed(digest) {
                None => continue,
                Some(problem) => Diagnostic::new(
                    Code::DigestMalformed,
                    format!("the digest of the image `{}` is none: {problem}", image.name),
                )
                .help("Ask the registry for the digest of the tag, and write it whole."),
            },
        };
        findings.add(finding.resource(identity.to_string()).path(Path::of_keys(&image.path).to_string()));
    }
}
