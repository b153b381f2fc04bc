//! Images of another release than the manifest that runs them: the base is at one release of a repository, and the tag
//! of an image from that repository's own registry names another one. That can be meant, and so it is a note.

use super::images::Writer;
use super::reading::{ResultDocument, trailing_comment};
use crate::config::Findings;
use crate::diag::{Code, Diagnostic};
use crate::diff::keyed;
use crate::layer::base::{Base, Origin};
use crate::resource::images::{Image, ImageName, comment_tag, images};

/// A base at a release of a repository.
pub(super) struct Released<'a> {
    /// `owner/name`, in small letters.
    repository: String,
    /// The release, as `base.yaml` names it.
    name: &'a str,
    numbers: Vec<u64>,
    /// The base's folder.
    folder: &'a str,
}

/// The bases that are at a release: by name, or at a commit with a `ref` that looks like one.
pub(super) fn released<'a>(bases: &[&'a Base]) -> Vec<Released<'a>> {
    let of = |base: &&'a Base| {
        let (repository, name) = match &base.origin {
            Origin::Release { repository, release } => (repository, release.as_str()),
            Origin::GitHub { repository, revision } => (repository, revision.follows.as_ref()?.value.as_str()),
            _ => return None,
        };
        let numbers = numbers(name.strip_prefix("refs/tags/").unwrap_or(name))?;
        Some(Released { repository: repository.to_ascii_lowercase(), name, numbers, folder: &base.folder.name })
    };
    bases.iter().filter_map(of).collect()
}

/// Looks at every image of a document of the result, called `resource`. `more` are the paths of images that
/// `overlay.yaml` lists, and `writer` says where an image's name was written.
pub(super) fn check(
    released: &[Released<'_>],
    resource: &str,
    document: &ResultDocument,
    more: &[Vec<String>],
    writer: impl Fn(&Image<'_>) -> Option<Writer>,
    findings: &mut Findings,
) {
    if released.is_empty() {
        return;
    }
    for image in images(&document.loaded.value, &[], more) {
        let name = ImageName::parse(image.name);
        let comment = trailing_comment(&document.tree, &document.text, &image.path).map(|(_, comment)| comment);
        let tag = name.tag.or_else(|| comment_tag(&name, comment?));
        let Some((tag, base)) = tag.and_then(|tag| Some((tag, other_release(released, name.repository, tag)?))) else {
            continue;
        };
        let message = format!(
            "the image `{}` is of {tag}, and {} is at {} of the same repository",
            name.repository, base.folder, base.name
        );
        let mut finding = Diagnostic::new(Code::ReleaseDiffers, message)
            .resource(resource)
            .path(keyed(&document.loaded.value, &image.path).0.to_string())
            .help(format!("Take both from one release: pin the image of {}, or move {}.", base.name, base.folder));
        if let Some(Writer { place, patch, .. }) = writer(&image) {
            finding = finding.at(place, "");
            finding.patch = patch;
        }
        findings.add(finding);
    }
}

/// The base of the image's repository, if it is at another release than that tag.
fn other_release<'r, 'a>(released: &'r [Released<'a>], image: &str, tag: &str) -> Option<&'r Released<'a>> {
    let image = image.to_ascii_lowercase();
    let tag = numbers(tag)?;
    let same = |base: &&Released<'_>| image == base.repository || image.ends_with(&format!("/{}", base.repository));
    let base = released.iter().find(same)?;
    // `1.4` is said of every 1.4.x.
    let differs = base.numbers.iter().zip(&tag).any(|(a, b)| a != b);
    differs.then_some(base)
}

/// The numbers that a release's name begins with: `v1.4.2-rc1` has 1, 4 and 2. `None` for a name that looks otherwise.
fn numbers(name: &str) -> Option<Vec<u64>> {
    let name = name.strip_prefix('v').unwrap_or(name);
    let version = name.split(['-', '+', '_']).next()?;
    let numbers: Vec<u64> = version.split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    (numbers.len() > 1).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differs(release: &str, image: &str, tag: &str) -> bool {
        let base = Released {
            repository: "team/net".into(),
            name: release,
            numbers: numbers(release).unwrap(),
            folder: "base/net",
        };
        other_release(&[base], image, tag).is_some()
    }

    #[test]
    fn another_release_of_the_same_repository_differs() {
        assert!(differs("v1.4.2", "ghcr.io/team/net", "v1.5.0"));
        assert!(differs("v1.4.2", "ghcr.io/Team/net", "1.4.3-thick"));
        assert!(differs("v1.4.2", "team/net", "v2.0"));
        for (image, tag) in [
            ("ghcr.io/team/net", "v1.4.2-thick"),
            ("ghcr.io/team/net", "1.4"),
            ("ghcr.io/team/net", "stable"),
            ("ghcr.io/team/net", "20260801"),
            ("ghcr.io/team/other", "v1.5.0"),
            ("ghcr.io/myteam/net", "v1.5.0"),
        ] {
            assert!(!differs("v1.4.2", image, tag), "{image}:{tag}");
        }
    }

    #[test]
    fn a_release_begins_with_numbers() {
        assert_eq!(numbers("v1.4.2-rc1"), Some(vec![1, 4, 2]));
        assert_eq!(numbers("1.4+k3s1"), Some(vec![1, 4]));
        for name in ["master", "v1", "", "v", "1..2", "release-1.4", "v1.x", "99999999999999999999999.1"] {
            assert_eq!(numbers(name), None, "{name}");
        }
    }
}
