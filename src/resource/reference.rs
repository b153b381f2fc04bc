//! References to images by the rules of registries: `[REGISTRY/]REPOSITORY[:TAG][@DIGEST]`, and where each is to be
//! found.
//!
//! The grammar and the defaults (`docker.io`, `library/`) are those of the distribution project's reference package. A
//! reference keeps how it was spelled, so that it can be written back with another digest and nothing else changed.
//! `resource::images` takes any text apart; here it has to keep the rules. Nothing here asks a registry.

use std::fmt;

use crate::diag::secret::masked;
use crate::diag::visible::shortened;
use crate::resource::images::{ImageName, malformed};

/// The registry that a name without one belongs to.
pub const DEFAULT_REGISTRY: &str = "docker.io";

/// The tag that a name without tag and digest means.
pub const DEFAULT_TAG: &str = "latest";

/// How long a repository's name may be, its registry included.
const MAX_NAME: usize = 255;

/// How many characters of a text a message quotes.
const MAX_QUOTE: usize = 200;

/// How long a tag may be.
const MAX_TAG: usize = 128;

/// A reference to an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Registry and repository as they were spelled.
    name: String,
    registry: String,
    repository: String,
    /// The tag, if one was written.
    pub tag: Option<String>,
    /// The digest, if one was written.
    pub digest: Option<Digest>,
}

/// The digest of a manifest: `sha256:` or `sha512:` and as many hexadecimal digits as the algorithm gives.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(String);

/// Why a text is no reference.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// The repository's name breaks the rules.
    #[error("\"{0}\" is no name of an image: {1}")]
    Name(String, &'static str),
    /// The tag breaks the rules.
    #[error(
        "\"{0}\" is no tag: a tag is up to 128 letters, digits, `_`, `.` and `-`, and does not begin with `.` or `-`"
    )]
    Tag(String),
    /// The digest breaks the rules.
    #[error(transparent)]
    Digest(#[from] DigestError),
}

/// A text that is no digest, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{digest}\" is no digest: {why}")]
pub struct DigestError {
    digest: String,
    why: String,
}

impl Digest {
    /// A digest from its text.
    pub fn parse(text: &str) -> Result<Digest, DigestError> {
        if let Some(why) = malformed(text) {
            return Err(DigestError { digest: shortened(text, MAX_QUOTE), why });
        }
        Ok(Digest(text.to_owned()))
    }

    /// Its text, algorithm and all.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Reference {
    /// A reference from its text.
    ///
    /// # Errors
    /// [`ReferenceError`], which names the part that breaks the rules.
    pub fn parse(text: &str) -> Result<Reference, ReferenceError> {
        let ImageName { repository: name, tag, digest } = ImageName::parse(text);
        let digest = digest.map(Digest::parse).transpose()?;
        if let Some(tag) = tag.filter(|tag| !is_tag(tag)) {
            return Err(ReferenceError::Tag(shortened(&masked(tag), MAX_QUOTE)));
        }
        let (registry, repository) = located(name);
        check_name(name, &registry, &repository)?;
        Ok(Reference { name: name.to_owned(), registry, repository, tag: tag.map(str::to_owned), digest })
    }

    /// Registry and repository as they were spelled.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The registry, with its port if it has one: `docker.io` where none was written.
    pub fn registry(&self) -> &str {
        &self.registry
    }

    /// The repository at its registry: `library/nginx` for `nginx`.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// Whether the other names an image of the same repository, however each spells it.
    pub fn is_of_repository(&self, other: &Reference) -> bool {
        self.registry == other.registry && self.repository == other.repository
    }

    /// The same with that tag in its name, or with none.
    #[must_use]
    pub fn with_tag(&self, tag: Option<&str>) -> Reference {
        Reference { tag: tag.map(str::to_owned), ..self.clone() }
    }

    /// The same image by another digest, spelled as this one, its tag kept.
    #[must_use]
    pub fn with_digest(&self, digest: Digest) -> Reference {
        Reference { digest: Some(digest), ..self.clone() }
    }

    /// The tag that is meant: the one written, or `latest` where no digest is written either.
    pub fn effective_tag(&self) -> Option<&str> {
        self.tag.as_deref().or_else(|| self.digest.is_none().then_some(DEFAULT_TAG))
    }
}

/// The reference that a text which is none probably means: one with the scheme of an address, upper-case letters, a tag
/// behind `@` or a digest behind `:`.
pub fn near(text: &str) -> Option<Reference> {
    let text = text.trim();
    let bare = ["docker://", "oci://", "https://", "http://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    let text = bare.unwrap_or(text).trim_end_matches('/').replacen(":sha256:", "@sha256:", 1);
    let ImageName { repository, tag, digest } = ImageName::parse(&text);
    let lower = |text: &str| text.to_ascii_lowercase();
    let reference = match (tag, digest.map(lower)) {
        (None, Some(tag)) if !tag.contains(':') => format!("{}:{tag}", lower(repository)),
        (tag, digest) => {
            let tag = tag.map(|tag| format!(":{tag}")).unwrap_or_default();
            let digest = digest.map(|digest| format!("@{digest}")).unwrap_or_default();
            format!("{}{tag}{digest}", lower(repository))
        }
    };
    Reference::parse(&reference).ok()
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

/// Registry and repository of a name. The first part is a registry where it could be a host and no repository.
fn located(name: &str) -> (String, String) {
    let host = name.split_once('/').filter(|(first, _)| {
        *first == "localhost" || first.contains(['.', ':']) || first.bytes().any(|b| b.is_ascii_uppercase())
    });
    match host {
        Some(("docker.io" | "index.docker.io" | "registry-1.docker.io", rest)) => at_default(rest),
        Some((host, rest)) => (host.to_owned(), rest.to_owned()),
        None => at_default(name),
    }
}

fn at_default(repository: &str) -> (String, String) {
    let official = if repository.contains('/') { "" } else { "library/" };
    (DEFAULT_REGISTRY.to_owned(), format!("{official}{repository}"))
}

fn check_name(name: &str, registry: &str, repository: &str) -> Result<(), ReferenceError> {
    let wrong = |why| Err(ReferenceError::Name(shortened(&masked(name), MAX_QUOTE), why));
    if name.len() > MAX_NAME {
        return wrong("it has more than 255 characters");
    }
    if !is_registry(registry) {
        return wrong("its first part is no host");
    }
    if repository.bytes().any(|b| b.is_ascii_uppercase()) {
        return wrong("a repository has no upper-case letters");
    }
    if !repository.split('/').all(is_part) {
        return wrong(
            "the parts of a repository are lower-case letters and digits, with `.`, `_`, `__` or `-` between",
        );
    }
    Ok(())
}

/// A host, or an IPv6 address in brackets, and perhaps a port.
fn is_registry(text: &str) -> bool {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, rest)) => {
            let well = !address.is_empty() && address.bytes().all(|b| b.is_ascii_hexdigit() || b == b':');
            return well && (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port));
        }
        None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
    };
    let label = |label: &str| {
        let inner = label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        inner && !label.is_empty() && !label.starts_with('-') && !label.ends_with('-')
    };
    host.split('.').all(label) && port.is_none_or(is_port)
}

fn is_port(text: &str) -> bool {
    text.parse::<u16>().is_ok() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Runs of letters and digits with one separator between two: `.`, `_`, `__` or any number of `-`.
fn is_part(part: &str) -> bool {
    let alphanumeric = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = part.as_bytes();
    let ends_well = |end: Option<&u8>| end.is_some_and(|b| alphanumeric(*b));
    let separators = bytes.split(|b| alphanumeric(*b)).filter(|run| !run.is_empty());
    let separates = |run: &[u8]| matches!(run, b"." | b"_" | b"__") || run.iter().all(|b| *b == b'-');
    ends_well(bytes.first()) && ends_well(bytes.last()) && separators.into_iter().all(separates)
}

/// Whether a text can be a tag.
pub fn is_tag(tag: &str) -> bool {
    let inner = tag.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'));
    inner && !tag.is_empty() && tag.len() <= MAX_TAG && !tag.starts_with(['.', '-'])
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGITS: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    /// Registry, repository, tag and digest, or what is wrong.
    fn read(text: &str) -> String {
        match Reference::parse(text) {
            Err(error) => error.to_string(),
            Ok(r) => {
                assert_eq!(r.to_string(), text, "written back as it was read");
                let tag = r.tag.as_deref().unwrap_or("-");
                let digest = r.digest.as_ref().map_or("-", |d| &d.as_str()[..11]);
                format!("{} {} {tag} {digest}", r.registry(), r.repository())
            }
        }
    }

    #[test]
    fn a_name_without_registry_is_docker_hubs() {
        assert_eq!(read("nginx"), "docker.io library/nginx - -");
        assert_eq!(read("bitnami/nginx:1.27"), "docker.io bitnami/nginx 1.27 -");
        assert_eq!(read("docker.io/nginx"), "docker.io library/nginx - -");
        assert_eq!(read("index.docker.io/a/b"), "docker.io a/b - -");
    }

    #[test]
    fn a_first_part_that_could_be_a_host_is_the_registry() {
        assert_eq!(read("registry.example/a/b/c:v1"), "registry.example a/b/c v1 -");
        assert_eq!(read("localhost/a"), "localhost a - -");
        assert_eq!(read("host:5000/a"), "host:5000 a - -");
        assert_eq!(read("127.0.0.1:5000/a:b"), "127.0.0.1:5000 a b -");
        assert_eq!(read("[::1]:5000/a"), "[::1]:5000 a - -");
        assert_eq!(read("HOST/a"), "HOST a - -");
        assert_eq!(read("host/a"), "docker.io host/a - -");
    }

    #[test]
    fn a_tag_and_a_digest_are_kept() {
        assert_eq!(read(&format!("a/b@sha256:{DIGITS}")), "docker.io a/b - sha256:0123");
        assert_eq!(read(&format!("r.example:1/a:v1.0_x-y@sha256:{DIGITS}")), "r.example:1 a v1.0_x-y sha256:0123");
        assert_eq!(read(&format!("a@sha512:{DIGITS}{DIGITS}")), "docker.io library/a - sha512:0123");
    }

    #[test]
    fn the_tag_that_is_meant_is_latest_where_nothing_is_written() {
        let tag = |text: &str| Reference::parse(text).unwrap().effective_tag().map(str::to_owned);
        assert_eq!(tag("a"), Some("latest".into()));
        assert_eq!(tag("a:b"), Some("b".into()));
        assert_eq!(tag(&format!("a@sha256:{DIGITS}")), None);
    }

    #[test]
    fn another_digest_changes_nothing_else() {
        let digest = Digest::parse(&format!("sha256:{}", DIGITS.replace('0', "f"))).unwrap();
        let pinned = Reference::parse("docker.io/nginx:1").unwrap().with_digest(digest.clone());
        assert_eq!(pinned.to_string(), format!("docker.io/nginx:1@{digest}"));
        let moved = Reference::parse(&format!("nginx@sha256:{DIGITS}")).unwrap().with_digest(digest.clone());
        assert_eq!(moved.to_string(), format!("nginx@{digest}"));
    }

    #[test]
    fn what_is_no_reference_is_told_by_its_part() {
        assert_eq!(read("a/B"), "\"a/B\" is no name of an image: a repository has no upper-case letters");
        let parts = "the parts of a repository are lower-case letters and digits, with `.`, `_`, `__` or `-` between";
        for name in ["", "a//b", "/a", "a/", "a..b/c/d", "-a", "a___b", "a b", "ä", "r.example/"] {
            let told = read(name);
            assert!(told.starts_with(&format!("\"{name}\" is no name of an image: ")), "{name:?}: {told}");
        }
        assert!(read("a\n").starts_with("\"a\\n\" is no name of an image: "));
        assert_eq!(read("a__b--c/d.e"), "docker.io a__b--c/d.e - -");
        assert_eq!(read("x/a___b"), format!("\"x/a___b\" is no name of an image: {parts}"));
        assert_eq!(read("host:port/a"), "\"host:port/a\" is no name of an image: its first part is no host");
        assert_eq!(read("host:99999/a"), "\"host:99999/a\" is no name of an image: its first part is no host");
        assert_eq!(read("a..b/c"), "\"a..b/c\" is no name of an image: its first part is no host");
        let tag = "is no tag: a tag is up to 128 letters, digits, `_`, `.` and `-`, and does not begin with `.` or `-`";
        assert_eq!(read("a:"), format!("\"\" {tag}"));
        assert_eq!(read("a:.b"), format!("\".b\" {tag}"));
        assert!(read("a:b:c").starts_with("\"a:b\" is no name of an image: "));
        assert!(read(&"x".repeat(300)).ends_with("x\" is no name of an image: it has more than 255 characters"));
    }

    #[test]
    fn what_is_probably_meant_is_found() {
        let meant = |text: &str| {
            assert!(Reference::parse(text).is_err(), "{text} is a reference");
            near(text).map(|reference| reference.to_string())
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(meant("docker://r.example/a:v1"), some("r.example/a:v1"));
        assert_eq!(meant("https://r.example/a/"), some("r.example/a"));
        assert_eq!(meant("r.example/Team/App:V1"), some("r.example/team/app:V1"));
        assert_eq!(meant("r.example/a@v1"), some("r.example/a:v1"));
        assert_eq!(meant(&format!("a:sha256:{DIGITS}")), some(&format!("a@sha256:{DIGITS}")));
        assert_eq!(meant(&format!("a@SHA256:{}", DIGITS.to_uppercase())), some(&format!("a@sha256:{DIGITS}")));
        assert_eq!(meant(" a "), some("a"));
        for text in ["", "a b", "a@sha256:0123", "a:.b"] {
            assert_eq!(meant(text), None, "{text}");
        }
    }

    #[test]
    fn one_repository_has_several_spellings() {
        let of = |a: &str, b: &str| Reference::parse(a).unwrap().is_of_repository(&Reference::parse(b).unwrap());
        assert!(of("nginx:1", &format!("docker.io/library/nginx@sha256:{DIGITS}")));
        assert!(!of("nginx", "r.example/library/nginx"));
        assert_eq!(Reference::parse("nginx:1").unwrap().with_tag(None).to_string(), "nginx");
    }

    #[test]
    fn what_is_no_digest_is_told() {
        let why = "is no digest: it has 4 characters behind `sha256:`, not 64";
        assert_eq!(read("a@sha256:0123"), format!("\"sha256:0123\" {why}"));
        let why = "is no digest: its algorithm is `md5`; only sha256 and sha512 are in use";
        assert_eq!(read("a@md5:0123"), format!("\"md5:0123\" {why}"));
        assert!(read("a@").starts_with("\"\" is no digest: "));
    }
}
