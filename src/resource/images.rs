//! Container images as manifests name them: where they stand in a document, and what a name pins.
//!
//! A name is `[registry/]repository[:tag][@digest]`, as the distribution project's reference grammar has it. Nothing
//! here asks a registry.

use serde_json::Value;

use super::reference::is_tag;
use super::walk::{Step, walk};

/// What to do about a digest that is none.
pub const WRITE_THE_DIGEST: &str =
    "Ask the registry for the digest of the tag (`overlay image NAME:TAG`), and write it whole.";

/// The parts of an image's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageName<'n> {
    /// Registry and repository, as they are written.
    pub repository: &'n str,
    /// The tag.
    pub tag: Option<&'n str>,
    /// What stands behind the `@`, whether it is a digest or not.
    pub digest: Option<&'n str>,
}

impl<'n> ImageName<'n> {
    /// Takes a name apart. Every text has parts; whether they are sound is asked of the parts.
    pub fn parse(text: &'n str) -> ImageName<'n> {
        let (name, digest) = match text.split_once('@') {
            Some((name, digest)) => (name, Some(digest)),
            None => (text, None),
        };
        let tag_at = name.rfind(':').filter(|at| !name[*at..].contains('/'));
        let (repository, tag) = match tag_at {
            Some(at) => (&name[..at], Some(&name[at + 1..])),
            None => (name, None),
        };
        ImageName { repository, tag, digest }
    }

    /// Whether it names one content for ever.
    pub fn is_pinned(&self) -> bool {
        self.digest.is_some()
    }
}

/// Tags without any sign of a version that are in common use.
const PLAIN_TAGS: [&str; 8] = ["latest", "stable", "edge", "main", "master", "nightly", "lts", "dev"];

/// The tag that a comment beside an image's name says, with or without its `#`: beside a tag in the name only the same
/// word; beside a digest alone, one word that looks like a tag; beside neither, none, for the name counts.
pub fn comment_tag<'c>(name: &ImageName<'_>, comment: &'c str) -> Option<&'c str> {
    let word = comment.trim_start_matches('#').trim();
    let is_versioned = word.contains(|c: char| c.is_ascii_digit() || matches!(c, '-' | '_' | '.'));
    let is_like_tag = is_tag(word) && (is_versioned || PLAIN_TAGS.contains(&word));
    let says_tag = name.tag.map_or(name.digest.is_some() && is_like_tag, |tag| tag == word);
    says_tag.then_some(word)
}

/// What is wrong with a digest, as a clause; `None` for a sound one (OCI image specification, "Digests").
pub fn malformed(digest: &str) -> Option<String> {
    let Some((algorithm, hex)) = digest.split_once(':') else {
        return Some("it has no algorithm; a digest is `sha256:` and 64 hexadecimal digits".into());
    };
    let length = match algorithm {
        "sha256" => 64,
        "sha512" => 128,
        _ => return Some(format!("its algorithm is `{algorithm}`; only sha256 and sha512 are in use")),
    };
    if hex.len() != length {
        return Some(format!("it has {} characters behind `{algorithm}:`, not {length}", hex.len()));
    }
    let odd = hex.chars().find(|c| !matches!(c, '0'..='9' | 'a'..='f'));
    odd.map(|c| format!("`{c}` is no lower-case hexadecimal digit"))
}

/// An image in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image<'v> {
    /// Where it stands: mapping keys and indices.
    pub path: Vec<String>,
    /// Its name.
    pub name: &'v str,
}

/// The keys whose items are containers.
const CONTAINER_LISTS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// Every image below `value`, which stands at `at` in its document: the `image` of each container, every string field
/// `image` that holds a digest, and the strings at the paths in `more` (mapping keys, indices and `*` for every item).
pub fn images<'v>(value: &'v Value, at: &'v [String], more: &[Vec<String>]) -> Vec<Image<'v>> {
    let mut found = Vec::new();
    walk(value, at.iter().map(|key| Step::Key(key)).collect(), &mut |way, value| match value {
        Value::String(name) if is_image(way, name, more) => {
            found.push(Image { path: way.iter().map(ToString::to_string).collect(), name });
        }
        _ => {}
    });
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// How far a path of mapping keys, indices and `*` leads into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// How many of its steps lead somewhere.
    pub steps: usize,
    /// Whether it leads to a text, as an image's name is one.
    pub is_text: bool,
    /// The keys that stand where it leads no further.
    pub keys: Vec<String>,
}

/// How far a path such as [`images`] takes leads into a value.
pub fn reach(value: &Value, path: &[String]) -> Reach {
    let mut here = vec![value];
    for (steps, step) in path.iter().enumerate() {
        let next: Vec<&Value> = here.iter().flat_map(|value| children(value, step)).collect();
        if next.is_empty() {
            let keys = here.iter().filter_map(|value| value.as_object()).flat_map(|map| map.keys().cloned());
            return Reach { steps, is_text: false, keys: keys.collect() };
        }
        here = next;
    }
    Reach { steps: path.len(), is_text: here.iter().any(|value| value.is_string()), keys: Vec::new() }
}

/// What one step leads to.
fn children<'v>(value: &'v Value, step: &str) -> Vec<&'v Value> {
    match (value, step) {
        (Value::Object(map), "*") => map.values().collect(),
        (Value::Array(items), "*") => items.iter().collect(),
        (Value::Object(map), key) => map.get(key).into_iter().collect(),
        (Value::Array(items), index) => index.parse().ok().and_then(|at: usize| items.get(at)).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn is_image(way: &[Step<'_>], name: &str, more: &[Vec<String>]) -> bool {
    let key = |from_end: usize| way.len().checked_sub(from_end).and_then(|at| way.get(at)?.key());
    let in_container = key(3).is_some_and(|key| CONTAINER_LISTS.contains(&key));
    (key(1) == Some("image") && (in_container || name.contains('@'))) || more.iter().any(|wanted| fits(way, wanted))
}

fn fits(way: &[Step<'_>], wanted: &[String]) -> bool {
    way.len() == wanted.len() && way.iter().zip(wanted).all(|(have, want)| want == "*" || have.to_string() == *want)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SHA: &str = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

    #[test]
    fn names_come_apart() {
        let name = ImageName::parse("localhost:5000/a/b:v1@sha256:00");
        assert_eq!(name.repository, "localhost:5000/a/b");
        assert_eq!(name.tag, Some("v1"));
        assert_eq!(name.digest, Some("sha256:00"));
        assert_eq!(ImageName::parse("localhost:5000/a").tag, None);
        assert_eq!(ImageName::parse("nginx").repository, "nginx");
        assert!(!ImageName::parse("nginx:1").is_pinned());
    }

    #[test]
    fn digests_are_held_to_their_form() {
        assert_eq!(malformed(SHA), None);
        assert!(malformed("sha256:abc").is_some_and(|m| m.contains("3 characters")));
        assert!(malformed(&SHA.replace('a', "A")).is_some_and(|m| m.contains('A')));
        assert!(malformed("md5:00").is_some_and(|m| m.contains("md5")));
        assert!(malformed("latest").is_some());
    }

    #[test]
    fn images_are_found_where_they_stand() {
        let pinned = format!("example.org/op@{SHA}");
        let document = json!({
            "spec": {
                "image": "example.org/not-a-container:1",
                "operator": {"image": pinned},
                "runner": {"picture": "example.org/runner:2"},
                "template": {"spec": {
                    "initContainers": [{"name": "i", "image": "example.org/i:1"}],
                    "containers": [{"name": "c", "image": "example.org/c:1"}]
                }}
            }
        });
        let more = vec![vec!["spec".to_owned(), "*".to_owned(), "picture".to_owned()]];
        let found: Vec<_> = images(&document, &[], &more).into_iter().map(|i| i.path.join("/")).collect();
        assert_eq!(
            found,
            [
                "spec/operator/image",
                "spec/runner/picture",
                "spec/template/spec/containers/0/image",
                "spec/template/spec/initContainers/0/image"
            ]
        );
    }
}
