//! Pinning: the digest that an image has now, written into the patch that names the image.
//!
//! First [`choose`] says which of a patch's images are meant and by which tag each is known; whoever calls asks a
//! registry; then [`write()`] gives the patch's text with the digests in it. Only the images' own lines differ, and the
//! tag stays where the patch kept it: in the name, in the operation's `comment`, or in the comment behind the value.
//!
//! Nothing here asks a registry or touches a file.

use serde_json::Value;

use crate::change::{Action, Change, New, apply_edits};
use crate::diag::Place;
use crate::patch::Patch;
use crate::patch::images::{PatchImage, images};
use crate::resource::reference::{Digest, Reference};
use crate::yaml::edit::{EditError, edit};

/// One image of a patch, and the tag whose digest it is to have.
#[derive(Clone, Debug)]
pub struct Pin<'p> {
    /// The image.
    pub image: PatchImage<'p>,
    /// The tag.
    pub tag: String,
}

/// Why no image is chosen.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    /// The patch writes none at all.
    #[error("the patch `{patch}` writes no image")]
    None {
        /// The patch.
        patch: String,
    },
    /// It writes others.
    #[error("the patch `{patch}` writes no image {what}")]
    NoSuch {
        /// The patch.
        patch: String,
        /// What was asked for: `of REPOSITORY`, `in line N`.
        what: String,
        /// What it writes.
        choices: Vec<String>,
    },
    /// It writes several, and they are not known by one tag: one digest cannot be meant for all.
    #[error("the patch `{patch}` writes {} different images of {repository}, and one tag is not meant for all", choices.len())]
    Ambiguous {
        /// The patch.
        patch: String,
        /// The repository.
        repository: String,
        /// The images, each with its place.
        choices: Vec<String>,
    },
    /// Nothing says which tag an image's digest was taken from.
    #[error("the patch `{patch}` does not say which tag `{name}` was pinned from")]
    NoTag {
        /// The patch.
        patch: String,
        /// The image.
        name: String,
        /// The image's repository, as it is written.
        repository: String,
        /// Where it stands.
        choices: Vec<String>,
    },
    /// A comment that would have to say another tag is that of other images, too.
    #[error("the comment `{comment}` in the patch `{patch}` is the tag of other images too")]
    Shared {
        /// The patch.
        patch: String,
        /// The comment.
        comment: String,
        /// The other images, each with its place.
        choices: Vec<String>,
    },
}

impl ChoiceError {
    /// The images to choose from, each with its place.
    pub fn choices(&self) -> &[String] {
        match self {
            ChoiceError::None { .. } => &[],
            ChoiceError::NoSuch { choices, .. }
            | ChoiceError::Ambiguous { choices, .. }
            | ChoiceError::NoTag { choices, .. }
            | ChoiceError::Shared { choices, .. } => choices,
        }
    }
}

/// The images that are meant: those of the repository of `wanted`, in the line, if given, and else all. Each is known
/// by the tag of `wanted`, or else by its own.
///
/// # Errors
/// [`ChoiceError`], where that is none, or not clear.
pub fn choose<'p>(
    patch: &'p Patch,
    wanted: Option<&Reference>,
    line: Option<usize>,
) -> Result<Vec<Pin<'p>>, ChoiceError> {
    let name = || patch.name.value.clone();
    let all = images(patch, wanted);
    if all.is_empty() {
        return Err(ChoiceError::None { patch: name() });
    }
    let meant: Vec<PatchImage<'p>> = all
        .iter()
        .filter(|image| wanted.is_none_or(|wanted| wanted.is_of_repository(&image.reference)))
        .filter(|image| line.is_none_or(|line| line == image.place.line()))
        .cloned()
        .collect();
    if meant.is_empty() {
        let of = wanted.map(|wanted| format!("of {}", wanted.name()));
        let at = line.map(|line| format!("in line {line}"));
        let what = of.into_iter().chain(at).collect::<Vec<_>>().join(" ");
        return Err(ChoiceError::NoSuch { patch: name(), what, choices: told(&all) });
    }
    if let Some(wanted) = wanted.filter(|wanted| wanted.tag.is_some()) {
        let known_by = |image: &PatchImage<'_>| image.effective_tag().or(image.digest()).map(str::to_owned);
        if meant.iter().any(|image| Some(known_by(image)) != meant.first().map(known_by)) {
            let repository = wanted.name().to_owned();
            return Err(ChoiceError::Ambiguous { patch: name(), repository, choices: told(&meant) });
        }
    }
    let given = wanted.and_then(|wanted| wanted.tag.clone());
    let pin = |image: PatchImage<'p>| match given.as_deref().or_else(|| image.effective_tag()) {
        Some(tag) => Ok(Pin { tag: tag.to_owned(), image }),
        None => Err(ChoiceError::NoTag {
            patch: name(),
            name: image.name.to_owned(),
            repository: image.reference.name().to_owned(),
            choices: told(std::slice::from_ref(&image)),
        }),
    };
    let pins = meant.into_iter().map(pin).collect::<Result<Vec<Pin<'p>>, ChoiceError>>()?;
    for pin in &pins {
        let Some(comment) = pin.image.tag.in_comment.filter(|comment| *comment != pin.tag) else { continue };
        let stays = |image: &&PatchImage<'_>| {
            let is_beside = image.comment_at == pin.image.comment_at && image.tag.in_comment.is_some();
            is_beside && !pins.iter().any(|pin| pin.image.at == image.at)
        };
        let others: Vec<PatchImage<'_>> = all.iter().filter(stays).cloned().collect();
        if !others.is_empty() {
            return Err(ChoiceError::Shared { patch: name(), comment: comment.to_owned(), choices: told(&others) });
        }
    }
    Ok(pins)
}

/// Images with their places, a line each.
fn told(images: &[PatchImage<'_>]) -> Vec<String> {
    let one = |image: &PatchImage<'_>| {
        let Place { source, .. } = &image.place;
        let tag = image.tag.in_comment.or(image.tag.behind).filter(|_| image.tag.in_name.is_none());
        let tag = tag.map(|tag| format!(", tag {tag}")).unwrap_or_default();
        format!("{}:{}: {}{tag}, at {}", source.name, image.place.line(), image.name, image.path)
    };
    images.iter().map(one).collect()
}

impl Pin<'_> {
    /// What a registry is to be asked for.
    pub fn asks(&self) -> Reference {
        self.image.reference.with_tag(Some(&self.tag))
    }

    /// The name with that digest, its tag in it where the patch has it there, or where there was neither digest nor tag.
    pub fn named(&self, digest: &Digest) -> Reference {
        let kept = &self.image.tag;
        let in_name = kept.in_name.is_some() || (kept.tag().is_none() && self.image.digest().is_none());
        self.image.reference.with_tag(in_name.then_some(&self.tag)).with_digest(digest.clone())
    }

    /// The lines of the patch that people read (summary, reason, evidence) and that speak of the old digest, or of a
    /// tag that is no longer the one; from 1.
    pub fn outdated(&self, patch: &Patch, digest: &Digest) -> Vec<usize> {
        let old = self.image.digest().filter(|old| *old != digest.as_str());
        let tag = self.image.tag.tag().filter(|tag| *tag != self.tag);
        let texts = patch.summary.iter().chain(&patch.why).chain(&patch.evidence);
        let mut lines = Vec::new();
        for span in texts.map(|text| text.span.clone()) {
            let text = patch.source().text.get(span.clone()).unwrap_or_default();
            let first = patch.place(span).line();
            let speaks =
                |line: &str| old.is_some_and(|old| line.contains(old)) || tag.is_some_and(|tag| has(line, tag));
            lines.extend(text.lines().enumerate().filter(|(_, line)| speaks(line)).map(|(at, _)| first + at));
        }
        lines
    }
}

/// Whether a tag stands in a line as a word.
fn has(line: &str, tag: &str) -> bool {
    let in_tag = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    line.split(|c| !in_tag(c)).any(|word| word.trim_end_matches('.') == tag)
}

/// The text of the patch with the digests in it.
///
/// # Errors
/// Where a line cannot be edited without changing what stands around it.
pub fn write(patch: &Patch, pins: &[(Pin<'_>, Digest)]) -> Result<String, EditError> {
    let mut text = patch.source().text.clone();
    for (pin, digest) in pins {
        let kept = &pin.image.tag;
        let other = |old: Option<&str>| old.filter(|old| *old != pin.tag).map(|_| pin.tag.as_str());
        text = replaced(&text, &pin.image.at, pin.named(digest).to_string(), other(kept.behind))?;
        if let Some(tag) = other(kept.in_comment) {
            text = replaced(&text, &pin.image.comment_at, tag.to_owned(), None)?;
        }
    }
    Ok(text)
}

fn replaced(text: &str, path: &[String], value: String, comment: Option<&str>) -> Result<String, EditError> {
    let value = Value::String(value);
    let new = New { value: &value, spelled: None, comment };
    Ok(apply_edits(text, &edit(text, &Change { action: Action::Replace(new), path })?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Findings;
    use crate::diag::Source;

    const OLD: &str = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const NEW: &str = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

    fn patch(rest: &str) -> Patch {
        let head = "# ours\napiVersion: overlay/v1\nkind: Patch\nname: p\nsummary: Pin v1\nwhy: |\n  So.\n  v1, v10 and v1.1; v1.\n";
        let text = format!("{head}changes:\n  - target: {{kind: A}}\n    patch:\n{rest}");
        Patch::read(&Source::new("p.yaml", text), &mut Findings::new()).unwrap()
    }

    /// The lines that differ once the images that are meant have the new digest, from 12.
    fn written(operations: &str, wanted: Option<&str>, line: Option<usize>) -> Result<Vec<String>, String> {
        let patch = patch(operations);
        let wanted = wanted.map(|text| Reference::parse(text).unwrap());
        let pins = choose(&patch, wanted.as_ref(), line).map_err(|e| format!("{e} {:?}", e.choices()))?;
        let digest = Digest::parse(NEW).unwrap();
        let pins: Vec<_> = pins.into_iter().map(|pin| (pin, digest.clone())).collect();
        let after = write(&patch, &pins).unwrap();
        let before = &patch.source().text;
        assert_eq!(before.split('\n').count(), after.split('\n').count());
        let lines = before.split('\n').zip(after.split('\n')).enumerate();
        Ok(lines
            .filter(|(_, (old, new))| old != new)
            .map(|(n, (_, new))| format!("{} {}", n + 1, new.trim()))
            .collect())
    }

    fn value(value: &str) -> String {
        format!(
            "      - op: replace\n        path: /c/[name=a]/image\n        was: r.example/a:v0\n        value: {value}\n"
        )
    }

    #[test]
    fn the_tag_stays_where_the_patch_kept_it() {
        let one = |text: &str, wanted: Option<&str>| written(&value(text), wanted, None).unwrap();
        let v2 = Some("r.example/a:v2");
        assert_eq!(one(&format!("r.example/a:v1@{OLD}"), None), [format!("15 value: r.example/a:v1@{NEW}")]);
        assert_eq!(one(&format!("r.example/a:v1@{OLD}"), v2), [format!("15 value: r.example/a:v2@{NEW}")]);
        assert_eq!(one(&format!("'r.example/a@{OLD}' # v1"), None), [format!("15 value: 'r.example/a@{NEW}' # v1")]);
        assert_eq!(one(&format!("r.example/a@{OLD}   #v1"), v2), [format!("15 value: r.example/a@{NEW}   # v2")]);
        let comment = format!("r.example/a@{OLD}\n        comment: \"v1\" # from upstream");
        assert_eq!(one(&comment, None), [format!("15 value: r.example/a@{NEW}")]);
        let both = [format!("15 value: r.example/a@{NEW}"), "16 comment: \"v2\" # from upstream".to_owned()];
        assert_eq!(one(&comment, v2), both);
        assert_eq!(
            one(&format!("r.example/a@{OLD} # for node 3"), v2),
            [format!("15 value: r.example/a@{NEW} # for node 3")]
        );
    }

    #[test]
    fn a_first_pin_keeps_the_tag_in_the_name() {
        let one = |text: &str, wanted: Option<&str>| written(&value(text), wanted, None).unwrap();
        assert_eq!(one("r.example/a:v1", None), [format!("15 value: r.example/a:v1@{NEW}")]);
        assert_eq!(one("nginx", None), [format!("15 value: nginx:latest@{NEW}")]);
        assert_eq!(one("nginx", Some("docker.io/library/nginx:1.27")), [format!("15 value: nginx:1.27@{NEW}")]);
        assert_eq!(one("r.example/a:v1 # ours", None), [format!("15 value: r.example/a:v1@{NEW} # ours")]);
        assert_eq!(one("r.example/a:v1@sha256:0123", None), [format!("15 value: r.example/a:v1@{NEW}")]);
    }

    #[test]
    fn every_image_of_a_patch_follows_its_own_tag() {
        let operations = format!(
            "{}      - {{op: add, path: /x, value: [\"r.example/b:v7@{OLD}\", {{image: r.example/c:v8}}], comment: v1}}\n",
            value(&format!("r.example/a:v1@{OLD}"))
        );
        assert_eq!(
            written(&operations, None, None).unwrap(),
            [
                format!("15 value: r.example/a:v1@{NEW}"),
                format!(
                    "16 - {{op: add, path: /x, value: [\"r.example/b:v7@{NEW}\", {{image: r.example/c:v8@{NEW}}}], comment: v1}}"
                ),
            ]
        );
        assert_eq!(
            written(&operations, Some("r.example/a"), None).unwrap(),
            [format!("15 value: r.example/a:v1@{NEW}")]
        );
        assert_eq!(written(&operations, None, Some(15)).unwrap(), [format!("15 value: r.example/a:v1@{NEW}")]);
    }

    #[test]
    fn one_repository_in_several_places_takes_one_tag_only_where_it_had_one() {
        let (v1, v2) = (value(&format!("r.example/a:v1@{OLD}")), value(&format!("r.example/a:v2@{OLD}")));
        let both = written(&format!("{v1}{v1}"), Some("r.example/a:v3"), None).unwrap();
        assert_eq!(both, [format!("15 value: r.example/a:v3@{NEW}"), format!("19 value: r.example/a:v3@{NEW}")]);
        let told = written(&format!("{v1}{v2}"), Some("r.example/a:v3"), None).unwrap_err();
        let choice = |line, tag| format!("p.yaml:{line}: r.example/a:{tag}@{OLD}, at /c/[name=a]/image");
        let choices = [choice(15, "v1"), choice(19, "v2")];
        let expected = "the patch `p` writes 2 different images of r.example/a, and one tag is not meant for all";
        assert_eq!(told, format!("{expected} {choices:?}"));
        let one = written(&format!("{v1}{v2}"), Some("r.example/a:v3"), Some(19)).unwrap();
        assert_eq!(one, [format!("19 value: r.example/a:v3@{NEW}")]);
    }

    #[test]
    fn a_comment_that_is_the_tag_of_several_images_changes_with_all_of_them_alone() {
        let operation = |a: &str, b: &str| {
            format!("      - {{op: add, path: /c, value: [r.example/{a}@{OLD}, r.example/{b}@{OLD}], comment: v1}}\n")
        };
        let v2 = Some("r.example/a:v2");
        let both = written(&operation("a", "a"), v2, None).unwrap();
        let expected = format!("value: [r.example/a@{NEW}, r.example/a@{NEW}], comment: v2}}");
        assert_eq!(both, [format!("12 - {{op: add, path: /c, {expected}")]);
        let told = written(&operation("a", "b"), v2, None).unwrap_err();
        let choice = format!("p.yaml:12: r.example/b@{OLD}, tag v1, at /c/1");
        let expected = "the comment `v1` in the patch `p` is the tag of other images too";
        assert_eq!(told, format!("{expected} [{choice:?}]"));
        let same = written(&operation("a", "b"), Some("r.example/a:v1"), None).unwrap();
        let expected = format!("value: [r.example/a@{NEW}, r.example/b@{OLD}], comment: v1}}");
        assert_eq!(same, [format!("12 - {{op: add, path: /c, {expected}")]);
    }

    #[test]
    fn what_is_not_clear_is_told_with_what_there_is() {
        let bare = value(&format!("r.example/a@{OLD}"));
        let choice = format!("p.yaml:15: r.example/a@{OLD}, at /c/[name=a]/image");
        let told = written(&bare, None, None).unwrap_err();
        let expected = format!("the patch `p` does not say which tag `r.example/a@{OLD}` was pinned from");
        assert_eq!(told, format!("{expected} [{choice:?}]"));
        let told = written(&bare, Some("r.example/b:v1"), None).unwrap_err();
        assert_eq!(told, format!("the patch `p` writes no image of r.example/b [{choice:?}]"));
        let told = written(&bare, None, Some(3)).unwrap_err();
        assert_eq!(told, format!("the patch `p` writes no image in line 3 [{choice:?}]"));
        let told = written("      - {op: remove, path: /x}\n", None, None).unwrap_err();
        assert_eq!(told, "the patch `p` writes no image []");
        let one = written(&bare, Some("r.example/a:v1"), None).unwrap();
        assert_eq!(one, [format!("15 value: r.example/a@{NEW}")]);
    }

    #[test]
    fn lines_for_people_that_speak_of_the_old_image_are_known() {
        let patch = patch(&value(&format!("r.example/a:v1@{OLD}")));
        let wanted = Reference::parse("r.example/a:v2").unwrap();
        let digest = Digest::parse(NEW).unwrap();
        let of = |wanted: Option<&Reference>| {
            choose(&patch, wanted, None)
                .unwrap()
                .iter()
                .flat_map(|pin| pin.outdated(&patch, &digest))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(Some(&wanted)), [5, 8]);
        assert_eq!(of(None), Vec::<usize>::new());
    }

    #[test]
    fn a_files_line_ends_and_missing_last_line_break_stay() {
        let text = patch(&value(&format!("r.example/a:v1@{OLD}"))).source().text.trim_end().replace('\n', "\r\n");
        let patch = Patch::read(&Source::new("p.yaml", text.clone()), &mut Findings::new()).unwrap();
        let pins = choose(&patch, None, None).unwrap();
        let digest = Digest::parse(NEW).unwrap();
        let pins: Vec<_> = pins.into_iter().map(|pin| (pin, digest.clone())).collect();
        assert_eq!(write(&patch, &pins).unwrap(), text.replace(OLD, NEW));
    }
}
