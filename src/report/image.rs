//! What `image` found: the digests of images, for people and for programs.

use serde::Serialize;

use super::json::pretty;

/// The name of the serialised form.
const SCHEMA: &str = "overlay/image/v1";

/// What registries said of some images.
#[derive(Clone, Debug, Serialize)]
pub struct ImageReport {
    schema: &'static str,
    /// The patch that the digests were for, where they were for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// Whether that patch was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<bool>,
    /// The images, each once.
    pub images: Vec<FoundImage>,
}

/// An image, and what its registry says of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundImage {
    /// Its name with its digest, spelled as it was asked for.
    pub reference: String,
    /// The registry.
    pub registry: String,
    /// The repository there.
    pub repository: String,
    /// The tag that has the digest now; none where a digest was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The digest; of the index, where there is one for several platforms.
    pub digest: String,
    /// The manifest's media type.
    pub media_type: String,
    /// What the index has an image for; empty where the manifest is of one image.
    pub platforms: Vec<PlatformImage>,
}

/// One image of an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlatformImage {
    /// The operating system.
    pub os: String,
    /// The processor's architecture.
    pub architecture: String,
    /// Which kind of that architecture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The digest of the image's own manifest.
    pub digest: String,
}

impl ImageReport {
    /// A report of images.
    pub fn new(images: Vec<FoundImage>) -> ImageReport {
        ImageReport { schema: SCHEMA, patch: None, written: None, images }
    }

    /// A report of images whose digests were for a patch, and whether that was changed.
    pub fn of_patch(patch: String, written: bool, images: Vec<FoundImage>) -> ImageReport {
        ImageReport { schema: SCHEMA, patch: Some(patch), written: Some(written), images }
    }
}

/// The names with their digests, a line each.
pub fn image_text(report: &ImageReport) -> String {
    report.images.iter().flat_map(|image| [image.reference.as_str(), "\n"]).collect()
}

/// The report as `overlay/image/v1`, indented, ending with a line feed.
pub fn image_json(report: &ImageReport) -> String {
    pretty(report)
}
