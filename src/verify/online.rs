//! What registries say of the images that a result pins: whether each digest is still there, and whether the tag
//! beside it still means it.
//!
//! The network is not here: who asks is handed in as [`Ask`], and [`look`] asks it for each image once, several at a
//! time. What a registry does not say is told as not known, and never taken for gone.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::overlay::Overlay;
use super::reading;
use crate::config::Findings;
use crate::diag::{Code, Diagnostic, Place, Source};
use crate::diff::keyed;
use crate::patch::images::images as written_by;
use crate::resource::answer::{Answer, Unanswered, Why};
use crate::resource::images::{ImageName, comment_tag, images};
use crate::resource::reference::{Digest, Reference};

/// How many questions are asked at once.
const AT_ONCE: usize = 6;

/// How many images are asked for in one run.
pub const MAX_IMAGES: usize = 1000;

/// How many further places of an image are named.
const MAX_PLACES: usize = 8;

/// Who asks registries.
pub trait Ask: Sync {
    /// What the tag of that image's repository means.
    fn tag(&self, image: &Reference, tag: &str) -> Answer;
    /// Whether the digest is there.
    fn digest(&self, image: &Reference, digest: &Digest) -> Answer;
}

/// An image that a result pins by a digest.
#[derive(Clone, Debug)]
pub struct Pinned {
    /// Its name, with the tag that is known for it and its digest.
    pub image: Reference,
    digest: Digest,
    /// Where it stands, as resource and path; at least one.
    stands: Vec<(String, String)>,
    /// Where it is written, if that is known.
    place: Option<Place>,
    writer: Option<Writer>,
}

/// A patch that writes an image.
#[derive(Clone, Debug)]
struct Writer {
    patch: String,
    /// The tag that the patch keeps for it.
    tag: Option<String>,
    place: Place,
    /// What the patch's file, and the image's line if that is needed, are to `overlay image --pin`.
    arguments: String,
}

/// How a pinned image stands with its registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The digest is there, and the tag beside it, if one is known, means it.
    AsPinned,
    /// The digest is there, and the tag means another image: that one, or none.
    TagMoved(Result<Digest, String>),
    /// The digest is gone.
    Gone {
        /// The registry's words.
        reason: String,
        /// What the tag means now.
        tag: Option<Digest>,
    },
    /// The registry did not say.
    Unknown(Unanswered),
}

/// What tells images apart, however they are spelled.
type Key = (String, String, Option<String>, Option<Digest>);

fn key(image: &Reference) -> Key {
    (image.registry().to_owned(), image.repository().to_owned(), image.tag.clone(), image.digest.clone())
}

/// The images that a result pins by sound digests, each once. A result that cannot be read has none; that is told
/// elsewhere.
pub fn pinned(overlay: &Overlay<'_>, result: &str) -> Vec<Pinned> {
    let source = Source::new(String::new(), result);
    let findings = &mut Findings::new();
    let base = reading::base(overlay.plan, findings);
    let documents = reading::result(&source, &base, findings).unwrap_or_default();
    let written = written(overlay);
    let mut found: Vec<Pinned> = Vec::new();
    let mut known: HashMap<Key, usize> = HashMap::new();
    for document in &documents {
        for image in images(&document.loaded.value, &[], overlay.images) {
            let Ok(name) = Reference::parse(image.name) else { continue };
            let Some(digest) = name.digest.clone() else { continue };
            let writer = written.get(image.name);
            let parts = ImageName::parse(image.name);
            let comment = reading::trailing_comment(&document.tree, &document.text, &image.path);
            let tag = parts.tag.or_else(|| comment_tag(&parts, comment?.1)).or_else(|| writer?.tag.as_deref());
            let name = name.with_tag(tag);
            let stands = (document.identity.to_string(), keyed(&document.loaded.value, &image.path).0.to_string());
            let number = *known.entry(key(&name)).or_insert(found.len());
            if let Some(other) = found.get_mut(number) {
                other.stands.push(stands);
                continue;
            }
            let place = match writer {
                Some(writer) => Some(writer.place.clone()),
                None if number < MAX_IMAGES => place_in(&overlay.plan.files, image.name),
                None => None,
            };
            found.push(Pinned { image: name, digest, stands: vec![stands], place, writer: writer.cloned() });
        }
    }
    found
}

/// Where the patches write images, by their names: the first place in the last patch that writes that name.
fn written(overlay: &Overlay<'_>) -> HashMap<String, Writer> {
    let mut written = HashMap::new();
    for patch in overlay.plan.patches.iter().map(|scoped| &scoped.patch) {
        let images = written_by(patch, None);
        let mut tags: HashMap<Key, HashSet<Option<&str>>> = HashMap::new();
        for image in &images {
            tags.entry(key(&image.reference.with_tag(None))).or_default().insert(image.effective_tag());
        }
        for image in images.iter().rev() {
            let is_clear = tags.get(&key(&image.reference.with_tag(None))).is_some_and(|tags| tags.len() == 1);
            let line = if is_clear { String::new() } else { format!(" --line {}", image.place.line()) };
            let writer = Writer {
                patch: patch.name.value.clone(),
                tag: image.tag.tag().map(str::to_owned),
                place: image.place.clone(),
                arguments: format!("{}{line}", patch.source().name),
            };
            written.insert(image.name.to_owned(), writer);
        }
    }
    written
}

/// Where one of the files writes an image that no patch writes.
fn place_in(files: &[Arc<Source>], written: &str) -> Option<Place> {
    files.iter().find_map(|file| {
        let at = file.text.find(written)?;
        Some(Place::new(file, at..at + written.len()))
    })
}

impl Pinned {
    /// The name without tag and digest, as it is written.
    fn name(&self) -> &str {
        self.image.name()
    }

    /// The finding that its standing calls for.
    pub fn finding(&self, standing: &Standing) -> Option<Diagnostic> {
        let tag = self.image.tag.as_deref().unwrap_or_default();
        let finding = match standing {
            Standing::AsPinned => return None,
            Standing::TagMoved(now) => {
                let message = format!("the tag `{tag}` of {} is no longer the image that is pinned", self.name());
                let finding = Diagnostic::new(Code::TagMoved, message);
                match now {
                    Ok(now) => finding
                        .note(format!("Pinned is {}; the tag is {now} now.", self.digest))
                        .help(format!("Nothing is broken. Look at what is new; {}.", self.pin_command("to take it"))),
                    Err(reason) => finding
                        .note(format!("Pinned is {}, which is still there; the tag is gone: {reason}.", self.digest))
                        .help("Nothing is broken yet. Registries may delete what has no tag: pin one that has."),
                }
            }
            Standing::Gone { reason, tag: now } => {
                let message = format!("the registry no longer has {}@{}", self.name(), self.digest);
                let finding = Diagnostic::new(Code::DigestGone, message).note(format!("{reason}."));
                match now {
                    Some(now) => finding
                        .note(format!("The tag `{tag}` is {now} now."))
                        .help(format!("Look at what the tag is now; {}.", self.pin_command("to take it"))),
                    None => finding.help("Pin an image that is there, or push this one again."),
                }
            }
            Standing::Unknown(Unanswered { why, reason }) => {
                let message = format!("the registry did not say whether it has {}", self.image);
                Diagnostic::new(Code::RegistryUnknown, message)
                    .note(format!("{reason}."))
                    .help(why.help(self.image.registry()))
            }
        };
        Some(self.placed(finding))
    }

    /// What to do to have the tag's image, as a clause.
    fn pin_command(&self, aim: &str) -> String {
        let image = self.image.tag.as_deref().map(|tag| format!("{}:{tag}", self.name())).unwrap_or_default();
        match &self.writer {
            Some(writer) => format!("{aim}, run `overlay image {image} --pin {}`", writer.arguments),
            None => format!("{aim}, replace the image by a patch, and pin it with `overlay image {image} --pin PATCH`"),
        }
    }

    fn placed(&self, finding: Diagnostic) -> Diagnostic {
        let mut finding = match &self.place {
            Some(place) => finding.at(place.clone(), "pinned here"),
            None => finding,
        };
        if let Some(writer) = &self.writer {
            finding = finding.patch(&writer.patch);
        }
        let mut stands = self.stands.iter();
        if let Some((resource, path)) = stands.next() {
            finding = finding.resource(resource).path(path);
        }
        for (resource, path) in stands.by_ref().take(MAX_PLACES) {
            finding = finding.note(format!("It also stands at {path} of {resource}."));
        }
        match stands.count() {
            0 => finding,
            more => finding.note(format!("It stands at {more} more places.")),
        }
    }
}

/// How each image stands with its registry, in the order of the images; each is asked for once, however often it is
/// listed. A registry that cannot be reached, or asks for patience, is not asked again.
pub fn look(images: &[&Reference], ask: &dyn Ask) -> Vec<Standing> {
    let mut distinct: Vec<&Reference> = Vec::new();
    let mut numbers: HashMap<Key, usize> = HashMap::new();
    for image in images {
        numbers.entry(key(image)).or_insert_with(|| {
            distinct.push(image);
            distinct.len() - 1
        });
    }
    let round = Round { ask, given_up: Mutex::default() };
    let next = AtomicUsize::new(0);
    let came = Mutex::new(HashMap::new());
    let work = || {
        while let Some((number, image)) = take(&next, &distinct) {
            let standing = round.standing(number, image);
            came.lock().unwrap_or_else(PoisonError::into_inner).insert(number, standing);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..AT_ONCE.min(distinct.len()) {
            scope.spawn(work);
        }
        work();
    });
    let came = came.into_inner().unwrap_or_else(PoisonError::into_inner);
    let of = |image: &&Reference| numbers.get(&key(image)).and_then(|number| came.get(number)).cloned();
    images.iter().map(|image| of(image).unwrap_or(Standing::AsPinned)).collect()
}

fn take<'r>(next: &AtomicUsize, images: &[&'r Reference]) -> Option<(usize, &'r Reference)> {
    let number = next.fetch_add(1, Ordering::Relaxed);
    images.get(number).map(|image| (number, *image))
}

/// One round of questions.
struct Round<'a> {
    ask: &'a dyn Ask,
    /// Registries that are not asked again, with why.
    given_up: Mutex<HashMap<String, Unanswered>>,
}

impl Round<'_> {
    fn standing(&self, number: usize, image: &Reference) -> Standing {
        let given_up = self.given_up.lock().unwrap_or_else(PoisonError::into_inner).get(image.registry()).cloned();
        if let Some(unanswered) = given_up {
            return Standing::Unknown(unanswered);
        }
        if number >= MAX_IMAGES {
            let reason = format!("only {MAX_IMAGES} images are asked for in one run");
            return Standing::Unknown(Unanswered { why: Why::Other, reason });
        }
        let standing = self.ask(image);
        if let Standing::Unknown(unanswered) = &standing
            && matches!(unanswered.why, Why::Unreachable | Why::Busy)
        {
            let mut given_up = self.given_up.lock().unwrap_or_else(PoisonError::into_inner);
            given_up.entry(image.registry().to_owned()).or_insert_with(|| unanswered.clone());
        }
        standing
    }

    /// The tag first: where it means the digest, one question is enough.
    fn ask(&self, image: &Reference) -> Standing {
        let Some(digest) = &image.digest else { return Standing::AsPinned };
        let tag = image.tag.as_deref().map(|tag| self.ask.tag(image, tag));
        let tag = match tag {
            Some(Answer::Unknown(unanswered)) => return Standing::Unknown(unanswered),
            Some(Answer::Found(now)) if now == *digest => return Standing::AsPinned,
            Some(Answer::Found(now)) => Some(Ok(now)),
            Some(Answer::Gone(reason)) => Some(Err(reason)),
            None => None,
        };
        match self.ask.digest(image, digest) {
            Answer::Found(_) => tag.map_or(Standing::AsPinned, Standing::TagMoved),
            Answer::Gone(reason) => Standing::Gone { reason, tag: tag.and_then(Result::ok) },
            Answer::Unknown(unanswered) => Standing::Unknown(unanswered),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    fn digest(digit: &str) -> Digest {
        Digest::parse(&format!("sha256:{}", digit.repeat(64))).unwrap()
    }

    fn image(name: &str, digit: &str) -> Reference {
        Reference::parse(name).unwrap().with_digest(digest(digit))
    }

    fn unanswered(why: Why) -> Unanswered {
        Unanswered { why, reason: format!("{why:?}") }
    }

    /// A registry where the tag `v1` is the digest of 1s, digests of 0s are gone, and other names are errors.
    #[derive(Default)]
    struct Fake {
        tags: AtomicUsize,
        digests: AtomicUsize,
    }

    impl Ask for Fake {
        fn tag(&self, image: &Reference, tag: &str) -> Answer {
            self.tags.fetch_add(1, Ordering::Relaxed);
            match (image.registry(), tag) {
                ("r.example", "v1") => Answer::Found(digest("1")),
                ("r.example", _) => Answer::Gone("no such tag".into()),
                ("down.example", _) => Answer::Unknown(unanswered(Why::Unreachable)),
                _ => Answer::Unknown(unanswered(Why::LogIn)),
            }
        }

        fn digest(&self, image: &Reference, wanted: &Digest) -> Answer {
            self.digests.fetch_add(1, Ordering::Relaxed);
            match image.registry() {
                "r.example" if *wanted == digest("0") => Answer::Gone("no such manifest".into()),
                "r.example" => Answer::Found(wanted.clone()),
                _ => Answer::Unknown(unanswered(Why::Busy)),
            }
        }
    }

    fn stands(name: &str, digit: &str) -> Standing {
        look(&[&image(name, digit)], &Fake::default()).remove(0)
    }

    #[test]
    fn tag_and_digest_are_told_apart() {
        assert_eq!(stands("r.example/a:v1", "1"), Standing::AsPinned);
        assert_eq!(stands("r.example/a", "2"), Standing::AsPinned);
        assert_eq!(stands("r.example/a:v1", "2"), Standing::TagMoved(Ok(digest("1"))));
        assert_eq!(stands("r.example/a:v9", "2"), Standing::TagMoved(Err("no such tag".into())));
        let gone = |tag| Standing::Gone { reason: "no such manifest".into(), tag };
        assert_eq!(stands("r.example/a:v1", "0"), gone(Some(digest("1"))));
        assert_eq!(stands("r.example/a:v9", "0"), gone(None));
        assert_eq!(stands("r.example/a", "0"), gone(None));
        assert_eq!(stands("closed.example/a:v1", "1"), Standing::Unknown(unanswered(Why::LogIn)));
        assert_eq!(stands("closed.example/a", "1"), Standing::Unknown(unanswered(Why::Busy)));
    }

    #[test]
    fn each_image_is_asked_for_once() {
        let images: Vec<Reference> = (0..50).map(|n| image(&format!("r.example/a{}:v1", n % 5), "1")).collect();
        let fake = Fake::default();
        let standings = look(&images.iter().collect::<Vec<_>>(), &fake);
        assert_eq!(standings, vec![Standing::AsPinned; 50]);
        assert_eq!((fake.tags.into_inner(), fake.digests.into_inner()), (5, 0));
    }

    #[test]
    fn a_registry_that_is_down_is_given_up() {
        let images: Vec<Reference> = (0..100).map(|n| image(&format!("down.example/a{n}:v1"), "1")).collect();
        let fake = Fake::default();
        let standings = look(&images.iter().collect::<Vec<_>>(), &fake);
        assert_eq!(standings, vec![Standing::Unknown(unanswered(Why::Unreachable)); 100]);
        let asked = fake.tags.into_inner();
        assert!(asked <= AT_ONCE, "{asked} questions");
    }

    #[test]
    fn no_more_images_are_asked_for_than_the_limit() {
        let images: Vec<Reference> = (0..MAX_IMAGES + 2).map(|n| image(&format!("r.example/a{n}:v1"), "1")).collect();
        let fake = Fake::default();
        let standings = look(&images.iter().collect::<Vec<_>>(), &fake);
        assert_eq!(fake.tags.into_inner(), MAX_IMAGES);
        assert_eq!(standings.iter().filter(|s| matches!(s, Standing::Unknown(_))).count(), 2);
    }
}
