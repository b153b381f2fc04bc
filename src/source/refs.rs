//! What a branch or a tag of a git repository points to, asked over smart HTTP (gitprotocol-http(5)) without any
//! program, API or token.
//!
//! Version 2 of the protocol is asked for, because it names just the refs that are wanted; a large repository has
//! hundreds of thousands. A server that does not know it answers with all its refs, and those are read too.

use reqwest::header::{HeaderName, USER_AGENT};

use super::http::{Anonymous, Credentials, Http, HttpError, Method, Request, Url, shown};
use super::pktline::{self, Packet, Packets};
use crate::diag::nearest;
use crate::diag::visible::shortened;
use crate::resource::body::{NotManifest, not_manifest};

/// How large a list of refs may be, in bytes. The largest that are known have some twenty megabytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Some servers answer git's clients alone.
const AGENT: &str = concat!("git/overlay-", env!("CARGO_PKG_VERSION"));

const PROTOCOL: HeaderName = HeaderName::from_static("git-protocol");

/// What a name was found to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The whole name: `refs/heads/main`, `refs/tags/v1.0`, `HEAD`.
    pub name: String,
    /// The commit, for an annotated tag the one that it is about.
    pub commit: String,
}

/// Why a name could not be resolved. Names and servers' texts are made safe to show.
#[derive(Debug, thiserror::Error)]
pub enum RefError {
    /// The server could not be asked.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// No ref can be called so.
    #[error("`{name}` is no name of a branch or tag")]
    Name {
        /// The name.
        name: String,
    },
    /// What answers is no git server, or not one that speaks smart HTTP.
    #[error("{address} is no git repository over smart HTTP: it answered with {what}")]
    NotGit {
        /// The address asked.
        address: String,
        /// What came.
        what: String,
    },
    /// The answer is not one that the protocol knows.
    #[error("{address}: the git server's answer is broken: {reason}")]
    Broken {
        /// The address asked.
        address: String,
        /// How.
        reason: String,
    },
    /// The server refuses in its protocol's words.
    #[error("{address}: the git server says: {said}")]
    Refused {
        /// The address asked.
        address: String,
        /// What it says.
        said: String,
    },
    /// There is nothing of that name.
    #[error("{address} has no branch or tag `{name}`{}", near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    Missing {
        /// The repository.
        address: String,
        /// The name.
        name: String,
        /// The one that is probably meant.
        near: Option<String>,
    },
    /// A branch and a tag of one name point to two commits. git's own commands differ in which they take.
    #[error(
        "`{name}` is a branch ({branch}) and a tag ({tag}) of {address}; write `refs/heads/{name}` or `refs/tags/{name}`"
    )]
    Ambiguous {
        /// The repository.
        address: String,
        /// The name.
        name: String,
        /// The branch's commit.
        branch: String,
        /// The tag's commit.
        tag: String,
    },
}

/// What a branch or tag of the repository at `url` points to. `name` may be short (`main`, `v1.0`), whole
/// (`refs/heads/main`), or `HEAD` for the default branch.
///
/// # Errors
/// [`RefError`]. A short name that is both a branch and a tag is an error unless both are of one commit.
pub fn resolve(http: &Http, credentials: &dyn Credentials, url: &str, name: &str) -> Result<Resolved, RefError> {
    if !is_name(name) {
        return Err(RefError::Name { name: shortened(name, 100) });
    }
    let server = Server::greet(http, credentials, url)?;
    let refs = server.refs(&candidates(name))?;
    match choose(&server.shown(), name, &refs) {
        // Only what begins so was asked for; what is called alike may be anything.
        Err(RefError::Missing { .. }) => {
            let all = server.refs(&["refs/heads/".to_owned(), "refs/tags/".to_owned()]).unwrap_or(refs);
            choose(&server.shown(), name, &all)
        }
        chosen => chosen,
    }
}

/// How many branches and tags are looked at when a near name is sought.
const MAX_NEAR: usize = 10_000;

/// A server of one repository, after its first answer.
pub(super) struct Server<'a> {
    http: &'a Http,
    credentials: &'a dyn Credentials,
    /// The repository's address, after redirects.
    pub(super) base: Url,
    greeting: Vec<u8>,
}

impl<'a> Server<'a> {
    /// Asks the repository at `url` what it has to say.
    pub(super) fn greet(http: &'a Http, credentials: &'a dyn Credentials, url: &str) -> Result<Server<'a>, RefError> {
        let url = url.trim_end_matches('/');
        let request = Request {
            headers: vec![(USER_AGENT, AGENT), (PROTOCOL, "version=2")],
            max_bytes: Some(MAX_BYTES),
            ..Request::get(format!("{url}/info/refs?service=git-upload-pack"))
        };
        let asked = http.resolve(&request.url)?;
        let answer = http.send(&request, credentials)?;
        let address = shown(&answer.url);
        let not_git = |what: String| RefError::NotGit { address: shown_base(&asked), what };
        if answer.media_type() != "application/x-git-upload-pack-advertisement" {
            return Err(not_git(what_came(&answer.media_type(), &answer.body)));
        }
        let base = base(&answer.url).ok_or_else(|| not_git(format!("a redirect to {address}")))?;
        // Who was redirected is asked without what is for the first host, as in every redirect.
        let credentials = if base.origin() == asked.origin() { credentials } else { &Anonymous };
        Ok(Server { http, credentials, base, greeting: answer.body })
    }

    pub(super) fn shown(&self) -> String {
        shown(&self.base)
    }

    /// The refs of these names that the repository has, and perhaps others.
    fn refs(&self, names: &[String]) -> Result<Vec<Ref>, RefError> {
        let packets = packets(&self.greeting).map_err(|fault| self.fault(fault))?;
        let is_second = packets.contains(&Packet::Data(b"version 2"));
        let refs = if is_second { read_listed(&self.list(names, &packets)?) } else { read_advertised(&packets) };
        refs.map_err(|fault| self.fault(fault))
    }

    /// Asks for refs by version 2 of the protocol.
    fn list(&self, names: &[String], greeting: &[Packet<'_>]) -> Result<Vec<u8>, RefError> {
        let mut body = Vec::new();
        pktline::push(&mut body, "command=ls-refs\n");
        pktline::push(&mut body, &format!("agent={AGENT}\n"));
        if greeting.contains(&Packet::Data(b"object-format=sha256")) {
            pktline::push(&mut body, "object-format=sha256\n");
        }
        pktline::push_delimiter(&mut body);
        pktline::push(&mut body, "peel\n");
        for name in names {
            pktline::push(&mut body, &format!("ref-prefix {name}\n"));
        }
        pktline::push_flush(&mut body);
        let url = format!("{}/git-upload-pack", self.base.as_str().trim_end_matches('/'));
        let request = Request {
            accept: vec!["application/x-git-upload-pack-result"],
            headers: vec![(USER_AGENT, AGENT), (PROTOCOL, "version=2")],
            body: Some(("application/x-git-upload-pack-request", body)),
            max_bytes: Some(MAX_BYTES),
            ..Request::new(Method::POST, url)
        };
        Ok(self.http.send(&request, self.credentials)?.body)
    }

    fn fault(&self, fault: Fault) -> RefError {
        let address = self.shown();
        match fault {
            Fault::Broken(reason) => RefError::Broken { address, reason },
            Fault::Refused(said) => RefError::Refused { address, said },
        }
    }
}

/// What is wrong with an answer.
#[derive(Debug, PartialEq, Eq)]
enum Fault {
    Broken(String),
    Refused(String),
}

/// A ref as a server lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ref {
    name: String,
    id: String,
    /// What an annotated tag is about, at the end of a chain of tags.
    peeled: Option<String>,
}

/// The packets of an answer, all of them whole, and none of them the server's refusal.
fn packets(bytes: &[u8]) -> Result<Vec<Packet<'_>>, Fault> {
    let packets = Packets::of(bytes).collect::<Result<Vec<_>, _>>().map_err(Fault::Broken)?;
    let refusal = packets.iter().find_map(|p| match p {
        Packet::Data(data) => data.strip_prefix(b"ERR "),
        _ => None,
    });
    if let Some(said) = refusal {
        return Err(Fault::Refused(shortened(&String::from_utf8_lossy(said), 300)));
    }
    if packets.last() != Some(&Packet::Flush) {
        return Err(Fault::Broken("it ends in the middle".into()));
    }
    Ok(packets)
}

/// The refs of an answer to `ls-refs`: `ID NAME`, then attributes.
fn read_listed(body: &[u8]) -> Result<Vec<Ref>, Fault> {
    let mut refs = Vec::new();
    for packet in packets(body)? {
        let Packet::Data(line) = packet else { continue };
        let text = String::from_utf8_lossy(line);
        let mut words = text.split(' ');
        // A branch that has no commit yet; it is listed for its name.
        let Some(id) = words.next().filter(|id| *id != "unborn") else { continue };
        let name = words.next().ok_or_else(|| no_ref(&text))?.to_owned();
        let peeled = words.find_map(|word| word.strip_prefix("peeled:"));
        let peeled = peeled.map(|id| checked_id(id, &text)).transpose()?;
        refs.push(Ref { name, id: checked_id(id, &text)?, peeled });
    }
    Ok(refs)
}

/// The refs of a greeting by version 0 or 1 of the protocol: `ID NAME`, capabilities behind a NUL on the first line; a
/// tag's commit follows on a line of its own, as `NAME^{}`.
fn read_advertised(packets: &[Packet<'_>]) -> Result<Vec<Ref>, Fault> {
    let mut refs: Vec<Ref> = Vec::new();
    for packet in packets {
        let Packet::Data(line) = packet else { continue };
        if line.starts_with(b"# ") || *line == b"version 1" || line.starts_with(b"shallow ") {
            continue;
        }
        let line = line.split(|b| *b == 0).next().unwrap_or_default();
        let text = String::from_utf8_lossy(line);
        let (id, name) = text.split_once(' ').ok_or_else(|| no_ref(&text))?;
        let id = checked_id(id, &text)?;
        match name.strip_suffix("^{}") {
            // An empty repository has nothing but this line, for its capabilities.
            Some("capabilities") => {}
            Some(tag) => match refs.last_mut() {
                Some(last) if last.name == tag => last.peeled = Some(id),
                _ => return Err(no_ref(&text)),
            },
            None => refs.push(Ref { name: name.to_owned(), id, peeled: None }),
        }
    }
    Ok(refs)
}

fn no_ref(line: &str) -> Fault {
    Fault::Broken(format!("a line that names no ref: \"{}\"", shortened(line, 100)))
}

fn checked_id(id: &str, line: &str) -> Result<String, Fault> {
    if is_id(id) { Ok(id.to_owned()) } else { Err(no_ref(line)) }
}

/// Whether this is the name of a git object: 40 hexadecimal digits, or 64 where a repository uses SHA-256.
pub(super) fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether a ref can be called so, by those rules of git-check-ref-format(1) that keep a name one line and one word.
fn is_name(name: &str) -> bool {
    let bad = |c: char| c.is_control() || matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\');
    name.len() <= 1024
        && !name.contains(bad)
        && !name.contains("..")
        && name.split('/').all(|part| !part.is_empty() && !part.starts_with('.'))
}

/// The whole names that a name may stand for.
fn candidates(name: &str) -> Vec<String> {
    if name == "HEAD" || name.starts_with("refs/") {
        return vec![name.to_owned()];
    }
    vec![branch_name(name), tag_name(name)]
}

fn branch_name(name: &str) -> String {
    format!("refs/heads/{name}")
}

fn tag_name(name: &str) -> String {
    format!("refs/tags/{name}")
}

fn choose(address: &str, name: &str, refs: &[Ref]) -> Result<Resolved, RefError> {
    let find = |whole: &str| {
        let found = refs.iter().find(|r| r.name == whole)?;
        Some(Resolved { name: whole.to_owned(), commit: found.peeled.as_ref().unwrap_or(&found.id).clone() })
    };
    let missing = || {
        let short = |r: &'_ Ref| -> String {
            let named = r.name.strip_prefix("refs/heads/").or_else(|| r.name.strip_prefix("refs/tags/"));
            named.filter(|_| !name.starts_with("refs/")).unwrap_or(&r.name).to_owned()
        };
        let names: Vec<String> = refs.iter().take(MAX_NEAR).map(short).filter(|name| name != "HEAD").collect();
        let near = nearest(name, names.iter().map(String::as_str)).map(|near| shortened(near, 200));
        RefError::Missing { address: address.into(), name: name.into(), near }
    };
    if let [whole] = candidates(name).as_slice() {
        return find(whole).ok_or_else(missing);
    }
    match (find(&branch_name(name)), find(&tag_name(name))) {
        (Some(branch), Some(tag)) if branch.commit != tag.commit => Err(RefError::Ambiguous {
            address: address.into(),
            name: name.into(),
            branch: branch.commit,
            tag: tag.commit,
        }),
        (Some(found), _) | (None, Some(found)) => Ok(found),
        (None, None) => Err(missing()),
    }
}

/// The repository's address, from that of its list of refs.
fn base(url: &Url) -> Option<Url> {
    let mut base = url.clone();
    base.set_path(url.path().strip_suffix("/info/refs")?);
    base.set_query(None);
    Some(base)
}

fn shown_base(url: &Url) -> String {
    shown(&base(url).unwrap_or_else(|| url.clone()))
}

/// What came in the place of a list of refs.
fn what_came(media_type: &str, body: &[u8]) -> String {
    match not_manifest(body) {
        Some(page @ (NotManifest::Page(_) | NotManifest::Xml(_))) => page.to_string(),
        _ => format!("the media type \"{}\"", shortened(media_type, 80)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";
    const THREE: &str = "3333333333333333333333333333333333333333";

    fn message(lines: &[&str]) -> Vec<u8> {
        let mut out = Vec::new();
        for line in lines {
            pktline::push(&mut out, line);
        }
        pktline::push_flush(&mut out);
        out
    }

    fn advertised(lines: &[&str]) -> Result<Vec<Ref>, Fault> {
        read_advertised(&packets(&message(lines))?)
    }

    fn one(name: &str, id: &str, peeled: Option<&str>) -> Ref {
        Ref { name: name.into(), id: id.into(), peeled: peeled.map(Into::into) }
    }

    fn chosen(name: &str, refs: &[Ref]) -> String {
        choose("https://example.org/r", name, refs)
            .map_or_else(|e| e.to_string(), |r| format!("{} {}", r.name, r.commit))
    }

    #[test]
    fn a_greeting_with_all_refs_is_read() {
        let lines = [
            "# service=git-upload-pack\n".to_owned(),
            format!("{ONE} HEAD\0multi_ack symref=HEAD:refs/heads/main\n"),
            format!("{ONE} refs/heads/main\n"),
            format!("{TWO} refs/tags/v1\n"),
            format!("{THREE} refs/tags/v1^{{}}\n"),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let expected =
            [one("HEAD", ONE, None), one("refs/heads/main", ONE, None), one("refs/tags/v1", TWO, Some(THREE))];
        assert_eq!(advertised(&lines).unwrap(), expected);
    }

    #[test]
    fn an_empty_repository_has_no_refs() {
        let zero = "0".repeat(40);
        assert_eq!(advertised(&[&format!("{zero} capabilities^{{}}\0ofs-delta\n")]).unwrap(), []);
        assert_eq!(read_listed(b"0000").unwrap(), []);
    }

    #[test]
    fn listed_refs_are_read_with_what_tags_are_about() {
        let body = message(&[
            &format!("{ONE} refs/heads/main symref-target:refs/heads/x\n"),
            &format!("{TWO} refs/tags/v1 peeled:{THREE}\n"),
            "unborn HEAD symref-target:refs/heads/main\n",
        ]);
        let expected = [one("refs/heads/main", ONE, None), one("refs/tags/v1", TWO, Some(THREE))];
        assert_eq!(read_listed(&body).unwrap(), expected);
    }

    #[test]
    fn a_hostile_answer_is_refused() {
        let broken = |line: &str| Fault::Broken(format!("a line that names no ref: \"{line}\""));
        assert_eq!(advertised(&["deadbeef refs/heads/main"]), Err(broken("deadbeef refs/heads/main")));
        assert_eq!(advertised(&["\u{1b}[31m"]), Err(broken("\\x1B[31m")));
        let stray = format!("{ONE} refs/tags/v1^{{}}");
        assert_eq!(advertised(&[&stray]), Err(broken(&stray)));
        assert_eq!(read_listed(&message(&[ONE])), Err(broken(ONE)));
        let option = format!("{ONE} refs/tags/v1 peeled:--exec");
        assert_eq!(read_listed(&message(&[&option])), Err(broken(&option)));
        assert_eq!(packets(b"000a123456"), Err(Fault::Broken("it ends in the middle".into())));
        assert_eq!(packets(b""), Err(Fault::Broken("it ends in the middle".into())));
        assert_eq!(
            packets(&message(&["ERR no\u{7} such repository"])),
            Err(Fault::Refused("no\\x07 such repository".into()))
        );
    }

    #[test]
    fn a_short_name_is_a_branch_or_a_tag() {
        let refs = [
            one("refs/heads/main", ONE, None),
            one("refs/heads/main2", TWO, None),
            one("refs/tags/v1", TWO, Some(THREE)),
            one("refs/heads/both", ONE, None),
            one("refs/tags/both", TWO, Some(ONE)),
        ];
        assert_eq!(chosen("main", &refs), format!("refs/heads/main {ONE}"));
        assert_eq!(chosen("v1", &refs), format!("refs/tags/v1 {THREE}"));
        assert_eq!(chosen("both", &refs), format!("refs/heads/both {ONE}"));
        assert_eq!(chosen("refs/tags/both", &refs), format!("refs/tags/both {ONE}"));
        assert_eq!(chosen("HEAD", &refs), "https://example.org/r has no branch or tag `HEAD`");
        assert_eq!(chosen("mai", &refs), "https://example.org/r has no branch or tag `mai`; did you mean `main`?");
        assert_eq!(chosen("v2", &refs), "https://example.org/r has no branch or tag `v2`; did you mean `v1`?");
        let whole = "https://example.org/r has no branch or tag `refs/tags/v2`; did you mean `refs/tags/v1`?";
        assert_eq!(chosen("refs/tags/v2", &refs), whole);
        assert_eq!(chosen("other", &refs), "https://example.org/r has no branch or tag `other`");
    }

    #[test]
    fn a_branch_and_a_tag_of_one_name_must_be_told_apart() {
        let refs = [one("refs/heads/v1", ONE, None), one("refs/tags/v1", TWO, None)];
        let expected = format!(
            "`v1` is a branch ({ONE}) and a tag ({TWO}) of https://example.org/r; write `refs/heads/v1` or `refs/tags/v1`"
        );
        assert_eq!(chosen("v1", &refs), expected);
        assert_eq!(chosen("refs/tags/v1", &refs), format!("refs/tags/v1 {TWO}"));
    }

    #[test]
    fn a_name_that_would_be_another_line_is_none() {
        for name in ["", "a b", "a\nb", "a..b", "a//b", "/a", "a/", ".a", "a~1", "a^{}", "a:b", "v*"] {
            assert!(!is_name(name), "{name:?}");
        }
        for name in ["main", "release/v1.2", "refs/tags/v1", "HEAD", "été"] {
            assert!(is_name(name), "{name:?}");
        }
    }
}
