//! What a build refuses about images: a pin that is lost without being told so, and a digest that is none.

use std::borrow::Cow;

use serde_json::Value;

use crate::change::pointer;
use crate::diag::{Code, Diagnostic};
use crate::diff::keyed;
use crate::patch::apply::apply;
use crate::patch::lower::Site;
use crate::patch::step::{Action, Step};
use crate::resource::images::{Image, ImageName, WRITE_THE_DIGEST, images, malformed};

/// Looks at every value that the steps write into a document, whose value before is `value`.
pub(super) fn check(
    site: &Site<'_>,
    value: &Value,
    steps: &[Step],
    more: &[Vec<String>],
) -> Result<(), Box<Diagnostic>> {
    let mut evolving = Cow::Borrowed(value);
    let mut made = 0;
    for (number, step) in steps.iter().enumerate() {
        let new = match &step.action {
            Action::Add(new) | Action::Replace(new) => Some(&new.value),
            Action::Remove => None,
        };
        if let Some(new) = new {
            let ahead = steps.get(made..number).unwrap_or_default();
            if ahead.iter().any(|earlier| may_change(earlier, &step.path)) {
                // A step that was made before can be made again; its failure would have been told there.
                if ahead.iter().any(|earlier| apply(evolving.to_mut(), earlier).is_err()) {
                    return Ok(());
                }
                made = number;
            }
            let before = evolving.pointer(&pointer(&step.path)).filter(|_| matches!(step.action, Action::Replace(_)));
            let pinned = before.map(|v| images(v, &step.path, more)).unwrap_or_default();
            for image in images(new, &step.path, more).iter().chain(&unpinned(new, &step.path, &pinned)) {
                let name = ImageName::parse(image.name);
                if let Some(problem) = name.digest.and_then(malformed) {
                    return Err(Box::new(digest_malformed(site, step, image.name, &problem)));
                }
                let was = pinned.iter().find(|p| p.path == image.path && ImageName::parse(p.name).is_pinned());
                if let Some(was) = was.filter(|_| !name.is_pinned() && !site.may_unpin(&step.origin)) {
                    return Err(Box::new(pin_dropped(site, step, was.name, image.name)));
                }
            }
        }
    }
    Ok(())
}

/// What no patch wrote: the images of a document of the result whose digest is none.
pub(super) fn check_kept(resource: &str, value: &Value, more: &[Vec<String>]) -> Vec<(Diagnostic, Vec<String>)> {
    let judge = |image: Image<'_>| {
        let problem = ImageName::parse(image.name).digest.and_then(malformed)?;
        let message = format!("the digest of the image `{}` is none: {problem}", image.name);
        let (path, _) = keyed(value, &image.path);
        let finding = Diagnostic::new(Code::DigestMalformed, message).resource(resource).path(path.to_string());
        Some((finding, image.path))
    };
    images(value, &[], more).into_iter().filter_map(judge).collect()
}

/// Whether a document of this text can hold an image with a digest. Most cannot, and need not be read.
pub(super) fn may_have_digests(text: &str, more: &[Vec<String>]) -> bool {
    let has_escapes = || text.contains('\\') && ["\\x", "\\u", "\\U"].iter().any(|escape| text.contains(escape));
    (text.contains('@') && (!more.is_empty() || text.contains("image"))) || has_escapes()
}

/// Whether something else may stand at a path once a step is made: the step is about the place, about one around it or in
/// it, or moves the items of a list on the way.
fn may_change(step: &Step, path: &[String]) -> bool {
    let (place, around) = match (&step.action, step.path.split_last()) {
        (Action::Add(_) | Action::Remove, Some((_, parent))) => (step.path.as_slice(), parent),
        _ => (step.path.as_slice(), step.path.as_slice()),
    };
    place.starts_with(path) || path.starts_with(around)
}

/// Strings that stand where a pinned image stood, and are images only for that.
fn unpinned<'v>(new: &'v Value, at: &[String], pinned: &[Image<'_>]) -> Vec<Image<'v>> {
    let found = |image: &Image<'_>| {
        let name = new.pointer(&pointer(image.path.get(at.len()..)?))?.as_str()?;
        Some(crate::resource::images::Image { path: image.path.clone(), name })
    };
    pinned.iter().filter_map(found).collect()
}

fn digest_malformed(site: &Site<'_>, step: &Step, name: &str, problem: &str) -> Diagnostic {
    finding(site, step, Code::DigestMalformed, name, format!("the digest of the image `{name}` is none: {problem}"))
        .help(WRITE_THE_DIGEST)
}

fn pin_dropped(site: &Site<'_>, step: &Step, was: &str, name: &str) -> Diagnostic {
    finding(site, step, Code::PinDropped, name, format!("the image loses its digest: `{name}` is not pinned"))
        .note(format!("It was `{was}`."))
        .help("Write the digest behind the name (`NAME:TAG@sha256:…`), or `unpin: true` in the operation if that is meant.")
}

fn finding(site: &Site<'_>, step: &Step, code: Code, name: &str, message: String) -> Diagnostic {
    Diagnostic::new(code, message)
        .at(site.place_of_text(&step.origin, name), "this is written")
        .patch(&site.patch.name.value)
        .resource(site.resource)
        .path(step.origin.keyed.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::patch::path::Path;
    use crate::patch::step::{New, Origin};

    fn step(action: Action, path: &str) -> Step {
        let path: Vec<String> = path.split('/').skip(1).map(str::to_owned).collect();
        let origin = Origin { patch: "p".into(), change: 0, operation: 0, keyed: Path::of_keys(path.iter()) };
        Step { action, path, origin }
    }

    #[test]
    fn a_text_that_can_hold_a_digest_is_known_without_reading_it() {
        let listed = [vec!["spec".to_owned(), "picture".to_owned()]];
        for text in ["image: a@b", "\"image\": \"a\\x40b\"", "'image': a@b", "\"im\\u0061ge\": a@b"] {
            assert!(may_have_digests(text, &[]), "{text}");
        }
        assert!(may_have_digests("picture: a@b", &listed));
        assert!(!may_have_digests("picture: a@b", &[]));
        assert!(!may_have_digests("image: a", &listed));
    }

    #[test]
    fn a_step_changes_what_stands_at_its_place_around_it_in_it_and_behind_it_in_a_list() {
        let new = || New { value: json!("x"), spelled: None, comment: None };
        let changes =
            |step: &Step, path: &str| may_change(step, &path.split('/').skip(1).map(str::to_owned).collect::<Vec<_>>());
        let replaced = step(Action::Replace(new()), "/containers/0/image");
        assert!(
            ["/containers/0/image", "/containers/0", "/containers", "/containers/0/image/x"]
                .iter()
                .all(|path| changes(&replaced, path))
        );
        assert!(!["/containers/1/image", "/containers/0/name"].iter().any(|path| changes(&replaced, path)));
        for moved in [step(Action::Add(new()), "/containers/0"), step(Action::Remove, "/containers/0")] {
            assert!(["/containers/1/image", "/containers/0/name", "/containers"].iter().all(|p| changes(&moved, p)));
            assert!(!changes(&moved, "/initContainers/0/image"));
        }
    }
}
