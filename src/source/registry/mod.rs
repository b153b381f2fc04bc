//! Registries of container images, by the OCI distribution specification: which digest a tag has now, and whether a
//! digest is still there.
//!
//! Three answers are kept apart. A digest; gone, which takes a 404 with the registry's own code for it; and unknown, with
//! the reason, for all else. A registry that wants a log-in, is busy or broken has not said that an image is gone.
//!
//! A token is fetched from where the registry says, which is often another host: that is the protocol, and so a
//! registry's log-in may go there, by https alone but on this machine. It never goes where a redirect leads, and never to
//! a mirror: that is a host of its own, with log-ins of its own.

mod challenge;
mod helper;
mod login;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde_json::Value;
use sha2::{Digest as _, Sha256, Sha512};

use self::challenge::{Challenge, challenge};
use self::login::{Account, Asking, Login};
use super::credentials::Environment;
use super::http::{Anonymous, Credential, Fetched, Http, HttpError, Method, Refusal, Request, StatusCode, Url};
use super::http::{is_loopback, is_this_machine, shown};
use crate::diag::visible::shortened;
use crate::resource::answer::{Answer, Unanswered, Why};
use crate::resource::body::not_manifest;
use crate::resource::reference::{DEFAULT_REGISTRY, Digest, Reference};

/// The media types of manifests and indexes, OCI's and Docker's. A registry that is not told of a type may answer with
/// another one, and so with another digest.
const MEDIA_TYPES: [&str; 4] = [
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
];

/// How large a manifest may be, in bytes. The specification asks registries to take 4 MiB at least.
const MAX_MANIFEST: u64 = 16 * 1024 * 1024;

/// How large the answer of a token service may be, in bytes.
const MAX_TOKEN: u64 = 1024 * 1024;

/// How the media types of manifests of docker's first schema begin.
const SCHEMA_1: &str = "application/vnd.docker.distribution.manifest.v1";

/// How large a list of tags may be, in bytes.
const MAX_TAGS: u64 = 1024 * 1024;

/// Where Docker Hub's registry answers.
const DOCKER_HUB: &str = "registry-1.docker.io";

/// Which manifest of a repository.
#[derive(Clone, Copy, Debug)]
pub enum Which<'a> {
    /// The one that the tag has now.
    Tag(&'a str),
    /// The one of that digest.
    Digest(&'a Digest),
}

/// A manifest, as far as it says what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Its digest.
    pub digest: Digest,
    /// Its media type; empty where neither it nor the registry names one.
    pub media_type: String,
    /// What the image is built for, where it is an index.
    pub platforms: Vec<Platform>,
}

/// One image of an index (OCI image specification, "Image Index").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform {
    /// The operating system.
    pub os: String,
    /// The processor's architecture.
    pub architecture: String,
    /// Which kind of that architecture.
    pub variant: Option<String>,
    /// The digest of the platform's own manifest.
    pub digest: String,
}

/// A client of registries. Tokens are kept, so that a repository's second question costs one request.
pub struct Registries<'a> {
    http: &'a Http,
    environment: &'a Environment,
    tokens: Mutex<HashMap<Place, Credential>>,
}

/// Whom a token is for: the host that answers, and the repository.
type Place = (String, String);

/// Why a question has no answer yet.
enum Failure {
    Http(HttpError),
    Other(Unanswered),
}

impl Failure {
    fn other(reason: impl Into<String>) -> Failure {
        Failure::Other(Unanswered { why: Why::Other, reason: reason.into() })
    }
}

impl From<HttpError> for Failure {
    fn from(error: HttpError) -> Failure {
        Failure::Http(error)
    }
}

impl<'a> Registries<'a> {
    /// A client with the log-ins of that environment.
    pub fn new(http: &'a Http, environment: &'a Environment) -> Registries<'a> {
        Registries { http, environment, tokens: Mutex::default() }
    }

    /// What the reference's registry says of one of its repository's manifests, by the header that names the digest, if
    /// there is one. That is its word alone: who shows or writes the digest asks for [`Registries::proven`].
    pub fn ask(&self, reference: &Reference, which: Which<'_>) -> Answer {
        let until = self.until();
        let found = self.by_head(reference, which, until).transpose();
        let found = found.unwrap_or_else(|| self.by_get(reference, which, until).map(|manifest| manifest.digest));
        self.answer(reference, found)
    }

    /// The same, with the digest computed from the manifest's bytes.
    pub fn proven(&self, reference: &Reference, which: Which<'_>) -> Answer {
        self.answer(reference, self.by_get(reference, which, self.until()).map(|manifest| manifest.digest))
    }

    /// The same, with what the manifest says of itself.
    pub fn manifest(&self, reference: &Reference, which: Which<'_>) -> Answer<Manifest> {
        self.answer(reference, self.by_get(reference, which, self.until()))
    }

    /// The tags of the reference's repository, as many as the registry gives at once; none where it does not say.
    pub fn tags(&self, reference: &Reference) -> Vec<String> {
        let Ok(answer) =
            self.send(&Request { max_bytes: Some(MAX_TAGS), ..Request::get(tags_address(reference)) }, reference)
        else {
            return Vec::new();
        };
        let list: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let tags = list.get("tags").and_then(Value::as_array).into_iter().flatten();
        tags.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Asks for the header that names the digest; `None` where the whole manifest has to be asked for.
    fn by_head(&self, reference: &Reference, which: Which<'_>, until: Instant) -> Result<Option<Digest>, Failure> {
        let answer = match self.send(&request(Method::HEAD, reference, which, until), reference) {
            Ok(answer) => answer,
            // These have a reason in the body of a GET, or are what a registry without HEAD says.
            Err(Failure::Http(error)) if error.refusal().is_some_and(|r| is_for_get(r.status)) => return Ok(None),
            Err(failure) => return Err(failure),
        };
        // The digest that is named of schema 1 is none of its bytes, which the whole manifest shows.
        if answer.media_type().starts_with(SCHEMA_1) {
            return Ok(None);
        }
        let Some(digest) = named_digest(&answer).filter(|digest| is_comparable(which, digest)) else { return Ok(None) };
        expect(which, &digest)?;
        Ok(Some(digest))
    }

    /// Asks for the manifest, and computes its digest.
    fn by_get(&self, reference: &Reference, which: Which<'_>, until: Instant) -> Result<Manifest, Failure> {
        let answer = self.send(&request(Method::GET, reference, which, until), reference)?;
        let named = named_digest(&answer);
        let (address, served_as) = (shown(&answer.url), answer.media_type());
        let body = answer.body;
        let content: Value = serde_json::from_slice(&body).unwrap_or_default();
        if content.get("schemaVersion").is_none() {
            let what = not_manifest(&body).map_or_else(|| "something else".to_owned(), |what| what.to_string());
            return Err(Failure::other(format!("{address}: the answer is no image manifest but {what}")));
        }
        // Schema 1 is signed within itself, and its digest is that of its bytes without the signatures.
        if content.get("schemaVersion").and_then(Value::as_u64) != Some(2) {
            let reason = "the answer is a manifest of another schema than 2, whose digest is not that of its bytes";
            return Err(Failure::other(format!("{address}: {reason}")));
        }
        if let Some(named) = &named {
            let computed = digest_like(named, &body);
            if named.as_str() != computed {
                let reason = format!("the registry says that the manifest is {named}, and what it sends is {computed}");
                return Err(Failure::other(format!("{address}: {reason}")));
            }
        }
        let wanted = match which {
            Which::Digest(digest) => Some(digest),
            Which::Tag(_) => named.as_ref(),
        };
        let computed = wanted.map_or_else(|| hex("sha256", &Sha256::digest(&body)), |like| digest_like(like, &body));
        let digest = Digest::parse(&computed).map_err(|e| Failure::other(e.to_string()))?;
        expect(which, &digest)?;
        let media_type = text(&content, "mediaType").unwrap_or(served_as);
        Ok(Manifest { digest, media_type, platforms: platforms(&content) })
    }

    /// Sends the request, and once more with what the registry asks for.
    fn send(&self, request: &Request, reference: &Reference) -> Result<Fetched, Failure> {
        let mut request = request.clone();
        let own = self.http.resolve(&request.url)?;
        request.credential = self.kept(&place(&own, reference));
        let refusal = match self.http.send(&request, &Anonymous) {
            Err(HttpError::Status(refusal)) if refusal.status == StatusCode::UNAUTHORIZED => refusal,
            other => return Ok(other?),
        };
        // Where a redirect led to a registry that wants proof too, it is asked itself, and never told our log-in.
        let is_own = refusal.url.origin() == own.origin();
        let account = account(&own, &request.url, reference);
        let until = request.until.unwrap_or_else(|| self.until());
        let (login, trouble) = if is_own { self.login(&account, repository_at(&own), until) } else { (None, None) };
        let credential = self
            .credential(&refusal, reference, &account, login, until)
            .map_err(|failure| with_trouble(failure, trouble))?;
        self.keep(place(&refusal.url, reference), &credential);
        request.credential = Some(credential);
        request.url = refusal.url.to_string();
        request.direct = true;
        Ok(self.http.send(&request, &Anonymous)?)
    }

    /// The log-in to whoever log-ins know by that name, and why it could not be had.
    fn login(&self, registry: &str, repository: &str, until: Instant) -> (Option<Login>, Option<String>) {
        let asking = Asking { path: self.environment.path.as_deref(), until };
        match login::find(&self.environment.registry_logins, Account { registry, repository }, asking) {
            Ok(login) => (login, None),
            Err(trouble) => (None, Some(trouble)),
        }
    }

    /// What meets the challenge of a refusal, with the log-in of that account.
    fn credential(
        &self,
        refusal: &Refusal,
        reference: &Reference,
        account: &str,
        login: Option<Login>,
        until: Instant,
    ) -> Result<Credential, Failure> {
        let registry = shown(&refusal.url);
        let other = |reason: &str| Failure::other(format!("{registry}: {reason}"));
        match (challenge(&refusal.headers), login) {
            (Some(Challenge::Bearer { realm, service }), login) => {
                // A registry may ask for more; no more is needed here, and so no more is asked for.
                let repository = Some(repository_at(&refusal.url)).filter(|name| !name.is_empty());
                let scope = format!("repository:{}:pull", repository.unwrap_or_else(|| reference.repository()));
                let realm = Url::parse(&realm).map_err(|_| other("the registry names no token service"))?;
                if is_this_machine(&realm) && !is_loopback(&refusal.url) {
                    return Err(other("the registry names this machine as its token service"));
                }
                let mut request = self.token_request(&realm, service.as_deref(), &scope, (account, login), until)?;
                request.until = Some(until);
                let answer = self.http.send(&request, &Anonymous)?;
                token(&answer.body).ok_or_else(|| other("its token service gave no token"))
            }
            (Some(Challenge::Basic), Some(Login::Password(user, password))) => {
                let credential = Credential::basic(&user, &password, &log_in(account));
                credential.ok_or_else(|| other("the log-in cannot be sent"))
            }
            (Some(Challenge::Basic), _) => Err(Failure::Other(Unanswered {
                why: Why::LogIn,
                reason: format!("{registry}: the registry wants a log-in (401), and there is none for it"),
            })),
            (None, _) => Err(other("the registry answered 401 without saying what it wants")),
        }
    }

    /// The request for a token. A log-in goes to the token service that its registry names, over https or on this machine;
    /// a mirror of that service is another host, and is told the log-in that is the mirror's.
    fn token_request(
        &self,
        realm: &Url,
        service: Option<&str>,
        scope: &str,
        (account, login): (&str, Option<Login>),
        until: Instant,
    ) -> Result<Request, Failure> {
        let own = self.http.resolve(realm.as_str())?;
        if own.origin() == realm.origin() {
            return Ok(token_request(realm.clone(), service, scope, login, account));
        }
        let account = host(&own);
        let (login, _) = self.login(&account, "", until);
        Ok(token_request(realm.clone(), service, scope, login, &account))
    }

    /// When the answer to a question must be there that is asked now, with all that it takes.
    fn until(&self) -> Instant {
        Instant::now() + self.http.settings().timeout
    }

    fn answer<T>(&self, reference: &Reference, found: Result<T, Failure>) -> Answer<T> {
        match found {
            Ok(found) => Answer::Found(found),
            Err(failure) => match unanswered(failure) {
                Answer::Unknown(Unanswered { why: Why::LogIn, reason }) if self.is_mirrored(reference) => {
                    Answer::Unknown(Unanswered { why: Why::MirrorLogIn, reason })
                }
                answer => answer,
            },
        }
    }

    /// Whether another host is asked in the registry's place.
    fn is_mirrored(&self, reference: &Reference) -> bool {
        let address = repository_address(reference);
        self.http.resolve(&address).is_ok_and(|own| account(&own, &address, reference) != reference.registry())
    }

    fn kept(&self, place: &Place) -> Option<Credential> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner).get(place).cloned()
    }

    fn keep(&self, place: Place, credential: &Credential) {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner).insert(place, credential.clone());
    }
}

/// The request for a manifest.
fn request(method: Method, reference: &Reference, which: Which<'_>, until: Instant) -> Request {
    Request {
        accept: MEDIA_TYPES.to_vec(),
        max_bytes: Some(MAX_MANIFEST),
        until: Some(until),
        ..Request::new(method, address(reference, which))
    }
}

fn address(reference: &Reference, which: Which<'_>) -> String {
    let name = match which {
        Which::Tag(tag) => tag,
        Which::Digest(digest) => digest.as_str(),
    };
    format!("{}/manifests/{name}", repository_address(reference))
}

fn tags_address(reference: &Reference) -> String {
    format!("{}/tags/list?n=1000", repository_address(reference))
}

/// Where a repository is. A registry on this machine is asked by http, as docker does.
fn repository_address(reference: &Reference) -> String {
    let host = if reference.registry() == DEFAULT_REGISTRY { DOCKER_HUB } else { reference.registry() };
    let is_here = Url::parse(&format!("http://{host}/")).is_ok_and(|url| is_loopback(&url));
    let scheme = if is_here { "http" } else { "https" };
    format!("{scheme}://{host}/v2/{}", reference.repository())
}

/// By which name log-ins know who answers at an address: the reference's registry; or a mirror, a host of its own.
fn account(answers: &Url, asked: &str, reference: &Reference) -> String {
    let is_asked = Url::parse(asked).is_ok_and(|asked| asked.origin() == answers.origin());
    if is_asked { reference.registry().to_owned() } else { host(answers) }
}

/// The host of an address with its port, as log-ins name it.
fn host(url: &Url) -> String {
    match (url.host_str().unwrap_or_default(), url.port()) {
        (DOCKER_HUB, None) => DEFAULT_REGISTRY.to_owned(),
        (host, Some(port)) => format!("{host}:{port}"),
        (host, None) => host.to_owned(),
    }
}

/// The repository that an address of a registry's interface names; empty where it is none.
fn repository_at(url: &Url) -> &str {
    let rest = url.path().split_once("/v2/").map_or("", |(_, rest)| rest);
    rest.rsplit_once("/manifests/").or_else(|| rest.rsplit_once("/tags/list")).map_or("", |(name, _)| name)
}

fn place(url: &Url, reference: &Reference) -> Place {
    (url.origin().ascii_serialization(), reference.repository().to_owned())
}

fn is_for_get(status: StatusCode) -> bool {
    matches!(status.as_u16(), 400 | 404 | 405 | 406 | 501)
}

fn named_digest(answer: &Fetched) -> Option<Digest> {
    let text = answer.headers.get("docker-content-digest")?.to_str().ok()?;
    Digest::parse(text).ok()
}

/// The digest of bytes, by the algorithm of another one.
fn digest_like(other: &Digest, bytes: &[u8]) -> String {
    if is_long(other) { hex("sha512", &Sha512::digest(bytes)) } else { hex("sha256", &Sha256::digest(bytes)) }
}

fn is_long(digest: &Digest) -> bool {
    digest.as_str().starts_with("sha512:")
}

/// Whether a digest that the registry names can be held against the one that it was asked for. It may name its own, by
/// another algorithm.
fn is_comparable(which: Which<'_>, named: &Digest) -> bool {
    match which {
        Which::Digest(wanted) => is_long(wanted) == is_long(named),
        Which::Tag(_) => true,
    }
}

/// A registry that is asked for a digest has to answer with that one.
fn expect(which: Which<'_>, found: &Digest) -> Result<(), Failure> {
    match which {
        Which::Digest(wanted) if wanted != found => {
            Err(Failure::other(format!("the registry answered with {found} when asked for {wanted}")))
        }
        _ => Ok(()),
    }
}

fn hex(algorithm: &str, hash: &[u8]) -> String {
    let mut out = format!("{algorithm}:");
    for byte in hash {
        out.push_str(&format!("{byte:02x}"));
    }
    out
}

fn log_in(registry: &str) -> String {
    format!("the log-in to {registry}")
}

/// The request for a token (distribution's token specification; with an identity token, its OAuth 2 form).
fn token_request(mut realm: Url, service: Option<&str>, scope: &str, login: Option<Login>, registry: &str) -> Request {
    let service = service.map(|service| ("service", service));
    let pairs = service.into_iter().chain([("scope", scope)]);
    if let Some(Login::Identity(identity)) = login {
        let fixed = [("grant_type", "refresh_token"), ("client_id", "overlay"), ("refresh_token", identity.as_str())];
        let form =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fixed).extend_pairs(pairs).finish();
        return Request {
            body: Some(("application/x-www-form-urlencoded", form.into_bytes())),
            max_bytes: Some(MAX_TOKEN),
            ..Request::new(Method::POST, realm)
        };
    }
    realm.query_pairs_mut().extend_pairs(pairs);
    let credential = match login {
        Some(Login::Password(user, password)) => Credential::basic(&user, &password, &log_in(registry)),
        _ => None,
    };
    Request { credential, max_bytes: Some(MAX_TOKEN), ..Request::get(realm) }
}

fn token(body: &[u8]) -> Option<Credential> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let token =
        ["token", "access_token"].into_iter().find_map(|key| answer.get(key)?.as_str().filter(|t| !t.is_empty()))?;
    Credential::bearer(token, "the registry's token service")
}

fn with_trouble(failure: Failure, trouble: Option<String>) -> Failure {
    let Some(trouble) = trouble else { return failure };
    let Unanswered { why, reason } = match failure {
        Failure::Other(unanswered) => unanswered,
        Failure::Http(error) => Unanswered { why: why(&error), reason: error.to_string() },
    };
    Failure::Other(Unanswered { why, reason: format!("{reason}; {trouble}") })
}

fn unanswered<T>(failure: Failure) -> Answer<T> {
    match failure {
        Failure::Other(unanswered) => Answer::Unknown(unanswered),
        Failure::Http(error) => judge(&error),
    }
}

/// Gone or unknown.
fn judge<T>(error: &HttpError) -> Answer<T> {
    let unknown = |reason| Answer::Unknown(Unanswered { why: why(error), reason });
    let Some(refusal) = error.refusal() else { return unknown(error.to_string()) };
    let (code, message) = said(&refusal.said);
    // NOT_FOUND is what Harbor says in the place of the specification's two.
    let is_gone = refusal.status == StatusCode::NOT_FOUND
        && matches!(code.as_str(), "MANIFEST_UNKNOWN" | "NAME_UNKNOWN" | "NOT_FOUND");
    let words = [code, message].into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(": ");
    let separator = if words.is_empty() { "" } else { "; it says " };
    let reason = format!("{error}{separator}{words}");
    if is_gone { Answer::Gone(reason) } else { unknown(reason) }
}

fn why(error: &HttpError) -> Why {
    match error {
        HttpError::Status(refusal) => match refusal.status.as_u16() {
            401 | 403 => Why::LogIn,
            429 | 500..=599 => Why::Busy,
            _ => Why::Other,
        },
        HttpError::Transport { .. } | HttpError::Body { .. } => Why::Unreachable,
        _ => Why::Other,
    }
}

/// The platforms of an index. Attestations, which some builders list beside the images, are for none (`unknown`).
fn platforms(index: &Value) -> Vec<Platform> {
    let manifests = index.get("manifests").and_then(Value::as_array).into_iter().flatten();
    let platform = |manifest: &Value| {
        let platform = manifest.get("platform")?;
        let os = text(platform, "os").filter(|os| os != "unknown")?;
        let architecture = text(platform, "architecture")?;
        Some(Platform { os, architecture, variant: text(platform, "variant"), digest: text(manifest, "digest")? })
    };
    manifests.filter_map(platform).collect()
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}

/// The first error's code and message in a registry's answer.
fn said(body: &[u8]) -> (String, String) {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    let first = answer.get("errors").and_then(|errors| errors.get(0));
    let text = |key: &str| first.and_then(|e| e.get(key)).and_then(Value::as_str).unwrap_or_default();
    (shortened(text("code"), 60), shortened(text("message"), 200))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_is_asked_for_where_its_registry_answers() {
        let at = |text: &str| {
            let reference = Reference::parse(text).unwrap();
            address(&reference, Which::Tag(reference.effective_tag().unwrap()))
        };
        assert_eq!(at("nginx"), "https://registry-1.docker.io/v2/library/nginx/manifests/latest");
        assert_eq!(at("r.example:5000/a/b:c"), "https://r.example:5000/v2/a/b/manifests/c");
        assert_eq!(at("localhost:5000/a:c"), "http://localhost:5000/v2/a/manifests/c");
        assert_eq!(at("127.0.0.1:5000/a:c"), "http://127.0.0.1:5000/v2/a/manifests/c");
        assert_eq!(at("localhost.example:5000/a:c"), "https://localhost.example:5000/v2/a/manifests/c");
    }

    #[test]
    fn a_repository_is_read_off_an_address() {
        let at = |text: &str| repository_at(&Url::parse(text).unwrap()).to_owned();
        assert_eq!(at("https://r.example/v2/a/manifests/b"), "a");
        assert_eq!(at("https://m.example/hub/v2/team/manifests/a/manifests/b"), "team/manifests/a");
        assert_eq!(at("https://m.example/v2/proxy/a/b/tags/list?n=1000"), "proxy/a/b");
        assert_eq!(at("https://m.example/token"), "");
    }

    #[test]
    fn a_token_is_asked_for_with_the_challenges_words() {
        let realm = || Url::parse("https://auth.example/token?a=b").unwrap();
        let request = token_request(realm(), Some("r e"), "repository:a/b:pull", None, "r.example");
        assert_eq!(request.url, "https://auth.example/token?a=b&service=r+e&scope=repository%3Aa%2Fb%3Apull");
        assert!(request.credential.is_none());
        let login = Login::Password("me".into(), "pass".into());
        let request = token_request(realm(), None, "s", Some(login), "r.example");
        assert_eq!(request.url, "https://auth.example/token?a=b&scope=s");
        assert_eq!(request.credential.unwrap().origin(), "the log-in to r.example");
        let request = token_request(realm(), None, "s", Some(Login::Identity("t&t".into())), "r.example");
        assert_eq!(request.method, Method::POST);
        let form = b"grant_type=refresh_token&client_id=overlay&refresh_token=t%26t&scope=s".to_vec();
        assert_eq!(request.body, Some(("application/x-www-form-urlencoded", form)));
    }

    #[test]
    fn a_token_has_one_of_two_names() {
        assert!(token(br#"{"token": "a"}"#).is_some());
        assert!(token(br#"{"access_token": "a", "expires_in": 60}"#).is_some());
        assert!(token(br#"{"token": 1}"#).is_none());
        assert!(token(br#"{"token": ""}"#).is_none());
        assert!(token(br#"{"token": "", "access_token": "a"}"#).is_some());
        assert!(token(b"<html>").is_none());
    }
}
