//! HTTP as the commands that fetch need it: TLS verified, https only except to this machine, redirects followed by
//! hand so that no credential crosses to another host, bounded in size and time, retried where a server asks for
//! patience.
//!
//! A request asks for the whole file, unless whoever sends it holds bytes and knows what their server called them
//! ([`Unless`]). The tag is told to that server alone, and only who was told it may answer that nothing changed.
//!
//! Nothing here knows what is fetched; `source::github`, `source::git` and `source::registry` do. What the environment
//! says (certificates, proxies, mirrors) comes in through [`Settings`], who may know a secret through [`Credentials`].

use std::fmt;
use std::io::{self, Read as _};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::{Duration, Instant};

use base64::Engine as _;
use reqwest::blocking::{Client, RequestBuilder};
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, DATE, ETAG};
pub use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::header::{HeaderName, IF_NONE_MATCH, LOCATION, RETRY_AFTER};
pub use reqwest::{Method, StatusCode, Url};
use sha2::{Digest as _, Sha256};

use crate::diag::secret::{MASK, masked};
use crate::diag::visible::shortened;

/// How many redirects one request may take.
pub const MAX_REDIRECTS: usize = 8;

/// How often a request is tried before its failure is final.
pub const MAX_TRIES: u32 = 4;

/// How long the set-up of a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// How much of what an error answer says is kept, in bytes.
const MAX_SAID: usize = 4096;

/// How long what an error answer says is read. It is of use in a message only.
const SAID: Duration = Duration::from_secs(5);

/// What a client is made of.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Certificates to trust beside the platform's, PEM.
    pub ca: Option<Vec<u8>>,
    /// Through whom to go.
    pub proxies: Proxies,
    /// How long a server may take to the head of its answer, and be silent between two pieces of a body.
    pub idle: Duration,
    /// How long one request may take with its redirects, tries and waits.
    pub timeout: Duration,
    /// How many bytes a body may have, where the request says nothing else.
    pub max_bytes: u64,
    /// How many bytes git may write to the disk, where a file comes by git.
    pub git_disk: u64,
    /// The wait before the second try; it doubles from try to try.
    pub back_off: Duration,
    /// The longest wait between two tries. A server that asks for more is not asked again.
    pub max_wait: Duration,
    /// Where to fetch from instead; the first that fits.
    pub mirrors: Vec<Mirror>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            ca: None,
            proxies: Proxies::default(),
            idle: Duration::from_secs(30),
            timeout: Duration::from_mins(2),
            max_bytes: crate::fsio::MAX_FILE,
            git_disk: super::git::MAX_DISK,
            back_off: Duration::from_millis(250),
            max_wait: Duration::from_secs(30),
            mirrors: Vec::new(),
        }
    }
}

/// The proxies that the environment names. This machine itself is never asked through one, and so the proxy for http
/// has no use here.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    /// The proxy's address (`https_proxy`, else `all_proxy`). It may hold a user name and a password.
    pub https: Option<String>,
    /// Hosts that are asked directly, as in `no_proxy`: names with everything below them, addresses, networks, `*`.
    pub none_for: String,
}

impl fmt::Debug for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address may hold a password.
        f.debug_struct("Proxies").field("https", &self.https.is_some()).field("none_for", &self.none_for).finish()
    }
}

/// A place to fetch from instead of another: `from` at the start of an address becomes `to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    from: String,
    to: String,
}

/// Which of the two addresses of a mirror is wrong, and why.
#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    /// The one to fetch from no longer.
    #[error(transparent)]
    From(HttpError),
    /// The one to fetch from instead.
    #[error(transparent)]
    To(HttpError),
}

impl Mirror {
    /// A mirror from `FROM=TO`, two addresses. `FROM` is compared by whole path segments.
    ///
    /// # Errors
    /// [`HttpError::Address`] when one of them is missing, or is none that is fetched from.
    pub fn parse(text: &str) -> Result<Mirror, HttpError> {
        let split = text.find("=http://").or_else(|| text.find("=https://"));
        let (from, to) = split.map(|at| text.split_at(at)).ok_or_else(|| HttpError::Address {
            address: without_password(text),
            reason: "a mirror is FROM=TO, two addresses".to_owned(),
        })?;
        Mirror::new(from, to.trim_start_matches('='))
            .map_err(|(MirrorError::From(error) | MirrorError::To(error))| error)
    }

    /// A mirror of the one address at the other.
    ///
    /// # Errors
    /// [`MirrorError`], which tells the address that is none.
    pub fn new(from: &str, to: &str) -> Result<Mirror, MirrorError> {
        let wrong = |reason: &str| {
            let (address, reason) = (without_password(from), reason.to_owned());
            MirrorError::From(HttpError::Address { address, reason })
        };
        if !from.starts_with("https://") && !from.starts_with("http://") {
            return Err(wrong("a mirror's first address begins with https:// or http://"));
        }
        // Such an address is never fetched, and so would never be mirrored.
        if from != masked(from) {
            return Err(wrong("a mirror's first address must not hold a user name or password"));
        }
        checked_url(to).map_err(MirrorError::To)?;
        Ok(Mirror { from: from.trim_end_matches('/').to_owned(), to: to.trim_end_matches('/').to_owned() })
    }

    fn apply(&self, address: &str) -> Option<String> {
        // A mirror below what it mirrors is not mirrored again, when it redirects to itself say.
        if below(&self.to, &self.from).is_some() && below(address, &self.to).is_some() {
            return None;
        }
        below(address, &self.from).map(|rest| format!("{}{rest}", self.to))
    }
}

/// What an address has behind another one that it is at or below, by whole path segments.
fn below<'a>(address: &'a str, other: &str) -> Option<&'a str> {
    address.strip_prefix(other).filter(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
}

/// What is sent to prove who asks. Never shown.
#[derive(Clone)]
pub struct Credential {
    /// The value of the `Authorization` header.
    header: HeaderValue,
    /// Where it comes from, for messages.
    origin: String,
}

impl Credential {
    /// A bearer token. `None` when it holds a character that cannot be sent.
    pub fn bearer(token: &str, origin: &str) -> Option<Credential> {
        Credential::new(&format!("Bearer {token}"), origin)
    }

    /// A user name and a password.
    pub fn basic(user: &str, password: &str, origin: &str) -> Option<Credential> {
        let pair = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
        Credential::new(&format!("Basic {pair}"), origin)
    }

    fn new(value: &str, origin: &str) -> Option<Credential> {
        let mut header = HeaderValue::from_str(value).ok()?;
        header.set_sensitive(true);
        Some(Credential { header, origin: origin.to_owned() })
    }

    /// Where it comes from: the name of a variable or a file.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The value of the `Authorization` header, for a program that sends it on our behalf.
    pub(super) fn header(&self) -> &str {
        self.header.to_str().unwrap_or_default()
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credential(from {})", self.origin)
    }
}

/// Who knows the credentials for an address. Only the host that a request is for gets one: no host that a redirect
/// leads to, on whatever port.
pub trait Credentials: Sync {
    /// The credential for the host of that address, if there is one.
    fn for_url(&self, url: &Url) -> Option<Credential>;
}

/// No credentials for anyone.
#[derive(Debug, Clone, Copy)]
pub struct Anonymous;

impl Credentials for Anonymous {
    fn for_url(&self, _: &Url) -> Option<Credential> {
        None
    }
}

/// Why a request failed. Addresses are shown without what may be secret in them.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The client cannot be made.
    #[error("cannot set up TLS: {reason}")]
    SetUp {
        /// Why.
        reason: String,
    },
    /// The address is none, or not one that is fetched.
    #[error("{address}: {reason}")]
    Address {
        /// The address as it was given.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No answer.
    #[error("{address}: {fault}: {reason}")]
    Transport {
        /// The address asked.
        address: String,
        /// What kind of failure.
        fault: Fault,
        /// What the transport said.
        reason: String,
    },
    /// The server said no.
    #[error("{}", .0.message())]
    Status(Box<Refusal>),
    /// Too many redirects, or one that may not be followed.
    #[error("{address}: {reason}")]
    Redirect {
        /// The address that redirected.
        address: String,
        /// What is wrong with where it leads.
        reason: String,
    },
    /// The body is larger than allowed.
    #[error("{address}: the answer is larger than {}, the most that is read", crate::fsio::amount(*limit))]
    TooLarge {
        /// The address asked.
        address: String,
        /// The limit.
        limit: u64,
    },
    /// The body ended early, or took too long.
    #[error("{address}: the answer broke off after {got}: {reason}")]
    Body {
        /// The address asked.
        address: String,
        /// How much had come, and of how much.
        got: String,
        /// How it ended.
        reason: String,
    },
}

/// Why there was no answer at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The server's certificate is not one to trust.
    Certificate,
    /// The server was silent for too long.
    Silence,
    /// The connection could not be secured: no TLS there, or none that both know.
    Tls,
    /// Nobody was reached: name resolution, connection.
    Unreached,
    /// A broken answer.
    Connection,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::Certificate => "the server's certificate is not trusted",
            Fault::Silence => "no answer in time",
            Fault::Tls => "no secure connection",
            Fault::Unreached | Fault::Connection => "no answer",
        })
    }
}

/// An answer with a status that is no success.
#[derive(Debug)]
pub struct Refusal {
    /// The address that answered, after redirects.
    pub url: Url,
    /// Its answer.
    pub status: StatusCode,
    /// Its headers; registries name where to log in there.
    pub headers: HeaderMap,
    /// The start of its body.
    pub said: Vec<u8>,
    /// Where the credential that was sent came from, if one was.
    pub credential: Option<String>,
}

impl Refusal {
    /// How long it asks to wait: a number of seconds, or a date (RFC 9110, 10.2.3). A date is held against the one that
    /// the server says it is, so that no clock of ours is asked; without that one it counts as absent.
    pub fn retry_after(&self) -> Option<Duration> {
        let asked = header_text(&self.headers, &RETRY_AFTER)?.trim();
        if let Ok(seconds) = asked.parse() {
            return Some(Duration::from_secs(seconds));
        }
        let until = httpdate::parse_http_date(asked).ok()?;
        let now = httpdate::parse_http_date(header_text(&self.headers, &DATE)?.trim()).ok()?;
        Some(until.duration_since(now).unwrap_or_default())
    }

    /// Whether it says that something is wrong. A part of a file, none, or a choice is no answer to what is asked here, but
    /// nobody is to blame who asks.
    pub fn is_an_error(&self) -> bool {
        self.status.is_client_error() || self.status.is_server_error()
    }

    fn is_passing(&self) -> bool {
        matches!(self.status.as_u16(), 429 | 500 | 502 | 503 | 504)
    }

    fn message(&self) -> String {
        let mut out = format!("{}: the server answered {}", shown(&self.url), self.status);
        if !self.is_an_error() {
            out.push_str(", which nothing asked for");
        } else if let Some(origin) = &self.credential {
            out.push_str(&format!(" to the credential from {origin}"));
        } else if self.status == StatusCode::UNAUTHORIZED {
            out.push_str(&format!("; there is no credential for {}", self.url.host_str().unwrap_or_default()));
        }
        if let Some(wait) = self.retry_after() {
            out.push_str(&format!("; it asks to wait {} s", wait.as_secs()));
        }
        out
    }
}

impl HttpError {
    /// What the server answered, where it said no.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            HttpError::Status(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// Whether the server says that the thing is not there, in so many words.
    pub fn is_gone(&self) -> bool {
        self.refusal().is_some_and(|r| matches!(r.status, StatusCode::NOT_FOUND | StatusCode::GONE))
    }

    /// Whether another try may end differently.
    fn is_passing(&self) -> bool {
        match self {
            HttpError::Status(refusal) => refusal.is_passing(),
            HttpError::Transport { fault, .. } => *fault != Fault::Certificate,
            HttpError::Body { .. } => true,
            _ => false,
        }
    }
}

/// Who sent an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sender {
    /// The address that the request is for.
    Asked,
    /// One that redirects led to: the SHA-256 of its address without the query, in hexadecimal digits. Stores of files
    /// are led to by an address with a signature in its query, another one each time.
    Redirected(String),
    /// A mirror, or whom it redirected to.
    Mirror,
}

impl Sender {
    fn redirected(url: &Url) -> Sender {
        let mut digest = String::new();
        for byte in Sha256::digest(&url[..url::Position::AfterPath]) {
            digest.push_str(&format!("{byte:02x}"));
        }
        Sender::Redirected(digest)
    }
}

/// What a request is not to bring: bytes that are at hand.
#[derive(Clone, Debug)]
pub struct Unless {
    /// The entity tag by which their server calls them.
    pub tag: HeaderValue,
    /// That server. Nobody else is told the tag, and no mirror is.
    pub sender: Sender,
}

/// A fetched body and what its server said of it.
#[derive(Debug)]
pub struct Fetched {
    /// The address that answered, after redirects.
    pub url: Url,
    /// Who that is.
    pub sender: Sender,
    /// The headers.
    pub headers: HeaderMap,
    /// The body; empty for HEAD, and where nothing changed.
    pub body: Vec<u8>,
    /// Whether the server says, asked by its tag, that the bytes of [`Request::unless`] are what it has.
    pub unchanged: bool,
}

impl Fetched {
    /// The entity tag, if there is one and it is a text. It is not looked at.
    pub fn etag(&self) -> Option<&str> {
        let mut tags = self.headers.get_all(ETAG).iter();
        tags.next().filter(|_| tags.next().is_none())?.to_str().ok()
    }

    /// The body's media type without parameters, in lower case.
    pub fn media_type(&self) -> String {
        let value = header_text(&self.headers, &CONTENT_TYPE).unwrap_or("");
        value.split(';').next().unwrap_or("").trim().to_ascii_lowercase()
    }
}

/// One request.
#[derive(Clone, Debug)]
pub struct Request {
    /// GET, HEAD or POST.
    pub method: Method,
    /// The address.
    pub url: String,
    /// What is accepted, in order of preference.
    pub accept: Vec<&'static str>,
    /// More headers, of a protocol above this one.
    pub headers: Vec<(HeaderName, &'static str)>,
    /// A body with its media type, for POST.
    pub body: Option<(&'static str, Vec<u8>)>,
    /// A credential that the protocol itself handed out; like any other it goes to the address's own host only.
    pub credential: Option<Credential>,
    /// How many bytes the answer's body may have, in place of the settings' limit.
    pub max_bytes: Option<u64>,
    /// What need not be brought.
    pub unless: Option<Unless>,
    /// Whether the address is where a mirror led already, and so is asked itself.
    pub direct: bool,
    /// When the answer must be there, where that is sooner than the settings' timeout: several requests may share one.
    pub until: Option<Instant>,
}

impl Request {
    /// A GET of an address.
    pub fn get(url: impl Into<String>) -> Request {
        Request::new(Method::GET, url)
    }

    /// A request without anything but its method and address.
    pub fn new(method: Method, url: impl Into<String>) -> Request {
        Request {
            method,
            url: url.into(),
            accept: Vec::new(),
            headers: Vec::new(),
            body: None,
            credential: None,
            max_bytes: None,
            unless: None,
            direct: false,
            until: None,
        }
    }
}

/// How far a body has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that have come.
    pub got: u64,
    /// Bytes that the server announced, if it did.
    pub of: Option<u64>,
}

/// A client that keeps the rules of this module. It can be shared between threads.
#[derive(Debug)]
pub struct Http {
    client: Client,
    settings: Settings,
}

impl Http {
    /// A client with the platform's certificates, and the settings' own beside them.
    ///
    /// # Errors
    /// [`HttpError::SetUp`] when the certificates cannot be read or the proxy is none.
    pub fn new(settings: Settings) -> Result<Http, HttpError> {
        // Another client of this process may have set it before; it is the same one.
        let _already_set = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .user_agent(concat!("overlay/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT.min(settings.idle))
            .no_proxy();
        if let Some(proxy) = proxy(&settings.proxies)? {
            builder = builder.proxy(proxy);
        }
        if let Some(pem) = &settings.ca {
            builder = builder.tls_certs_merge(certificates(pem)?);
        }
        let client = builder.build().map_err(|e| HttpError::SetUp { reason: causes(&e) })?;
        Ok(Http { client, settings })
    }

    /// What this client is made of.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Sends a request, follows its redirects and reads its body, with retries where another try may end differently.
    ///
    /// # Errors
    /// [`HttpError`], the last one where several tries failed.
    pub fn send(&self, request: &Request, credentials: &dyn Credentials) -> Result<Fetched, HttpError> {
        self.send_watched(request, credentials, &|_| ())
    }

    /// Like [`Http::send`]; `watch` is told from time to time how far the body has come.
    ///
    /// # Errors
    /// As [`Http::send`].
    pub fn send_watched(
        &self,
        request: &Request,
        credentials: &dyn Credentials,
        watch: &dyn Fn(Progress),
    ) -> Result<Fetched, HttpError> {
        let deadline = Instant::now() + self.settings.timeout;
        let deadline = request.until.map_or(deadline, |until| until.min(deadline));
        let mut back_off = self.settings.back_off;
        let mut tries = 1;
        loop {
            let call = Call { http: self, request, credentials, watch, deadline };
            let error = match call.follow() {
                Ok(fetched) => return Ok(fetched),
                Err(error) => error,
            };
            let wait = error.refusal().and_then(Refusal::retry_after).unwrap_or(back_off);
            let in_time = wait <= self.settings.max_wait && Instant::now() + wait < deadline;
            if tries == MAX_TRIES || !error.is_passing() || !in_time {
                return Err(error);
            }
            std::thread::sleep(wait);
            back_off = back_off.saturating_mul(2);
            tries += 1;
        }
    }

    /// The address, or its mirror's, checked.
    pub(super) fn resolve(&self, address: &str) -> Result<Url, HttpError> {
        checked_url(self.mirrored(address).as_deref().unwrap_or(address))
    }

    /// Where a mirror has what is at the address.
    fn mirrored(&self, address: &str) -> Option<String> {
        self.settings.mirrors.iter().find_map(|m| m.apply(address))
    }
}

/// An address on the way of a request, and who answers there.
struct Hop {
    url: Url,
    sender: Sender,
}

/// An answer whose head is there. Its body comes in pieces; an empty one is its end.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Receiver<io::Result<Vec<u8>>>,
}

/// One try of one request.
struct Call<'a> {
    http: &'a Http,
    request: &'a Request,
    credentials: &'a dyn Credentials,
    watch: &'a dyn Fn(Progress),
    deadline: Instant,
}

impl Call<'_> {
    fn follow(&self) -> Result<Fetched, HttpError> {
        let asked = &self.request.url;
        let origin = if self.request.direct { checked_url(asked) } else { self.http.resolve(asked) }?;
        let credential = self.request.credential.clone().or_else(|| self.credentials.for_url(&origin));
        let mut hop = Hop { url: origin.clone(), sender: self.first_sender() };
        for _ in 0..=MAX_REDIRECTS {
            let credential = credential.as_ref().filter(|_| hop.url.origin() == origin.origin());
            let answer = self.once(&hop, credential)?;
            if !matches!(answer.status.as_u16(), 301 | 302 | 303 | 307 | 308) {
                return self.finish(answer, hop, credential);
            }
            hop = self.redirected(&hop, &answer.headers)?;
            if Instant::now() >= self.deadline {
                let (address, fault) = (shown(&hop.url), Fault::Silence);
                return Err(HttpError::Transport { address, fault, reason: self.too_slow() });
            }
        }
        Err(HttpError::Redirect { address: shown(&origin), reason: format!("more than {MAX_REDIRECTS} redirects") })
    }

    fn first_sender(&self) -> Sender {
        // Who is asked where a mirror led may be one.
        if self.request.direct || self.http.mirrored(&self.request.url).is_some() {
            Sender::Mirror
        } else {
            Sender::Asked
        }
    }

    /// The tag by which that sender, and no other, may be asked.
    fn tag_for(&self, sender: &Sender) -> Option<&HeaderValue> {
        let unless = self.request.unless.as_ref().filter(|_| self.request.method == Method::GET)?;
        (unless.sender == *sender && *sender != Sender::Mirror).then_some(&unless.tag)
    }

    fn once(&self, hop: &Hop, credential: Option<&Credential>) -> Result<Answer, HttpError> {
        let request = self.request;
        let mut call = self.http.client.request(request.method.clone(), hop.url.clone());
        // What is locked are a file's own bytes: no encoding for the way.
        call = call.header(ACCEPT_ENCODING, "identity");
        if !request.accept.is_empty() {
            call = call.header(ACCEPT, request.accept.join(", "));
        }
        for (name, value) in &request.headers {
            call = call.header(name, *value);
        }
        if let Some((media_type, body)) = &request.body {
            call = call.header(CONTENT_TYPE, *media_type).body(body.clone());
        }
        if let Some(tag) = self.tag_for(&hop.sender) {
            call = call.header(IF_NONE_MATCH, tag);
        }
        if let Some(credential) = credential {
            call = call.header(AUTHORIZATION, credential.header.clone());
        }
        self.begun(&hop.url, call.timeout(self.left()))
    }

    /// The answer to a request, once its head is there. It is waited for on a thread of its own, so that nothing that a
    /// server does or leaves undone holds this one up beyond its time.
    fn begun(&self, url: &Url, call: RequestBuilder) -> Result<Answer, HttpError> {
        let (tell_head, head) = mpsc::sync_channel(1);
        let (tell, body) = mpsc::sync_channel(1);
        let failed = |fault, reason: String| HttpError::Transport { address: shown(url), fault, reason };
        let thread = std::thread::Builder::new().spawn(move || bring(call, &tell_head, &tell));
        thread.map_err(|error| failed(Fault::Connection, error.to_string()))?;
        let idle = self.http.settings.idle;
        match head.recv_timeout(idle.min(self.left())) {
            Ok(Ok((status, headers))) => Ok(Answer { status, headers, body }),
            Ok(Err(error)) => Err(self.transport(url, &error.without_url())),
            Err(_) if self.left().is_zero() => Err(failed(Fault::Silence, self.too_slow())),
            Err(_) => Err(failed(Fault::Silence, format!("its head did not come in {}", seconds(idle)))),
        }
    }

    /// How much time is left.
    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// What to say of a server that was silent for too long.
    fn silent(&self) -> String {
        format!("nothing came for {}", seconds(self.http.settings.idle))
    }

    /// What to say of an answer that is not there when the time for it is over.
    fn too_slow(&self) -> String {
        format!("not complete in {}", seconds(self.http.settings.timeout))
    }

    fn transport(&self, url: &Url, error: &reqwest::Error) -> HttpError {
        let (fault, reason) = if let Some(tls) = certificate_fault(error) {
            (Fault::Certificate, tls)
        } else if error.is_timeout() && self.left().is_zero() {
            (Fault::Silence, self.too_slow())
        } else if let Some(tls) = chain(error).find_map(|cause| cause.downcast_ref::<rustls::Error>()) {
            (Fault::Tls, tls.to_string())
        } else if error.is_timeout() {
            (Fault::Silence, format!("no connection in {}", seconds(CONNECT.min(self.http.settings.idle))))
        } else {
            (if error.is_connect() { Fault::Unreached } else { Fault::Connection }, causes(error))
        };
        HttpError::Transport { address: shown(url), fault, reason: shortened(&reason, 500) }
    }

    /// Where a redirect leads, if that may be followed.
    fn redirected(&self, hop: &Hop, headers: &HeaderMap) -> Result<Hop, HttpError> {
        let from = &hop.url;
        let wrong = |reason: String| HttpError::Redirect { address: shown(from), reason };
        if self.request.method == Method::POST {
            return Err(wrong("the answer to a POST is a redirect".into()));
        }
        let location =
            header_text(headers, &LOCATION).ok_or_else(|| wrong("a redirect that does not say where to".into()))?;
        let to = from.join(location).map_err(|e| wrong(format!("a redirect to what is no address: {e}")))?;
        if from.scheme() == "https" && to.scheme() != "https" {
            return Err(wrong(format!("a redirect from https to {}", shown(&to))));
        }
        if is_this_machine(&to) && !is_loopback(from) {
            return Err(wrong(format!("a redirect to this machine, {}", shown(&to))));
        }
        if !to.username().is_empty() || to.password().is_some() {
            return Err(wrong(format!("a redirect to an address with a user name or password, {}", shown(&to))));
        }
        let url = self.http.resolve(to.as_str()).map_err(|error| match error {
            HttpError::Address { address, reason } => wrong(format!("a redirect to {address}: {reason}")),
            error => error,
        })?;
        let by_mirror = hop.sender == Sender::Mirror || self.http.mirrored(to.as_str()).is_some();
        let sender = if by_mirror { Sender::Mirror } else { Sender::redirected(&url) };
        Ok(Hop { url, sender })
    }

    fn finish(&self, answer: Answer, hop: Hop, credential: Option<&Credential>) -> Result<Fetched, HttpError> {
        let Answer { status, headers, body } = answer;
        let unchanged = status == StatusCode::NOT_MODIFIED && self.tag_for(&hop.sender).is_some();
        let Hop { url, sender } = hop;
        if unchanged {
            return Ok(Fetched { url, sender, headers, body: Vec::new(), unchanged });
        }
        // The other successes (206, 204 …) are answers to what is not asked here.
        if status != StatusCode::OK {
            let said = self.said(&body);
            let credential = credential.map(|c| c.origin.clone());
            return Err(HttpError::Status(Box::new(Refusal { url, status, headers, said, credential })));
        }
        let body = match self.request.method {
            Method::HEAD => Vec::new(),
            _ => self.body(&body, &headers, &url)?,
        };
        Ok(Fetched { url, sender, headers, body, unchanged })
    }

    /// The start of an error's body, as much as comes soon.
    fn said(&self, pieces: &Receiver<io::Result<Vec<u8>>>) -> Vec<u8> {
        let until = self.deadline.min(Instant::now() + SAID);
        let mut said = Vec::new();
        while said.len() < MAX_SAID {
            match pieces.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Ok(piece)) if !piece.is_empty() => said.extend_from_slice(&piece),
                _ => break,
            }
        }
        said.truncate(MAX_SAID);
        said
    }

    fn body(
        &self,
        pieces: &Receiver<io::Result<Vec<u8>>>,
        headers: &HeaderMap,
        url: &Url,
    ) -> Result<Vec<u8>, HttpError> {
        let limit = self.request.max_bytes.unwrap_or(self.http.settings.max_bytes);
        let too_large = || HttpError::TooLarge { address: shown(url), limit };
        let of = header_text(headers, &CONTENT_LENGTH).and_then(|v| v.parse::<u64>().ok());
        if of.is_some_and(|length| length > limit) {
            return Err(too_large());
        }
        let mut body = Vec::new();
        loop {
            let broken = |body: &[u8], reason: String| HttpError::Body {
                address: shown(url),
                got: of.map_or_else(|| format!("{} bytes", body.len()), |of| format!("{} of {of} bytes", body.len())),
                reason,
            };
            match pieces.recv_timeout(self.http.settings.idle.min(self.left())) {
                Ok(Ok(piece)) if piece.is_empty() => return Ok(body),
                Ok(Ok(piece)) => body.extend_from_slice(&piece),
                Ok(Err(_)) | Err(_) if self.left().is_zero() => return Err(broken(&body, self.too_slow())),
                Ok(Err(error)) => return Err(broken(&body, shortened(&causes(&error), 500))),
                Err(_) => return Err(broken(&body, self.silent())),
            }
            let got = body.len() as u64;
            if got > limit {
                return Err(too_large());
            }
            if Instant::now() >= self.deadline {
                return Err(broken(&body, self.too_slow()));
            }
            (self.watch)(Progress { got, of });
        }
    }
}

/// Sends a request, and hands over the head of its answer and then its body piece by piece; an empty piece is the end.
/// Who no longer waits for it ends it.
fn bring(
    call: RequestBuilder,
    head: &SyncSender<reqwest::Result<(StatusCode, HeaderMap)>>,
    body: &SyncSender<io::Result<Vec<u8>>>,
) {
    let mut response = match call.send() {
        Ok(response) => response,
        Err(error) => {
            let _nobody_may_wait = head.send(Err(error));
            return;
        }
    };
    if head.send(Ok((response.status(), response.headers().clone()))).is_err() {
        return;
    }
    let mut room = vec![0; 64 * 1024];
    loop {
        let piece = match response.read(&mut room) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read.map(|count| room.get(..count).unwrap_or_default().to_vec()),
        };
        let is_last = piece.as_ref().map_or(true, Vec::is_empty);
        if body.send(piece).is_err() || is_last {
            return;
        }
    }
}

/// The proxy for https, as reqwest wants it.
fn proxy(proxies: &Proxies) -> Result<Option<reqwest::Proxy>, HttpError> {
    let Some(address) = &proxies.https else { return Ok(None) };
    // The variables are often written without a scheme.
    let address = if address.contains("://") { address.clone() } else { format!("http://{address}") };
    let proxy = match Url::parse(&address) {
        Ok(url) if is_proxy_scheme(&url) && !has_late_at(&url) => reqwest::Proxy::https(&address).ok(),
        _ => None,
    };
    let proxy = proxy.ok_or_else(|| HttpError::SetUp { reason: not_a_proxy(&address) })?;
    let direct = format!("{},localhost,127.0.0.0/8,::1", proxies.none_for);
    Ok(Some(proxy.no_proxy(reqwest::NoProxy::from_string(&direct))))
}

/// What to say of a proxy's address that is none. A proxy has no path: what stands before the last `@` is secret.
fn not_a_proxy(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or_default();
    let shown = match rest.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://{MASK}@{host}"),
        None => address.to_owned(),
    };
    let shown = shortened(&shown, 500);
    let escape = "in a password `/` is written %2F, `#` %23 and `?` %3F";
    match Url::parse(address) {
        Ok(url) if !is_proxy_scheme(&url) => format!("the proxy {shown}: only http and https proxies are known"),
        Ok(_) => format!("the proxy {shown}: this is no proxy's address ({escape})"),
        Err(e) => format!("the proxy {shown}: this is no address: {e} ({escape})"),
    }
}

fn is_proxy_scheme(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

/// Whether an `@` stands behind the host, as it does when a password has a `/`.
fn has_late_at(url: &Url) -> bool {
    url[url::Position::BeforePath..].contains('@')
}

fn certificates(pem: &[u8]) -> Result<Vec<reqwest::Certificate>, HttpError> {
    let wrong = |reason: String| HttpError::SetUp { reason: format!("the file of certificates {reason}") };
    let found =
        reqwest::Certificate::from_pem_bundle(pem).map_err(|e| wrong(format!("cannot be read: {}", causes(&e))))?;
    if found.is_empty() {
        return Err(wrong("holds none in PEM form".into()));
    }
    Ok(found)
}

/// The address, checked: https, or http to this machine; no user name or password in it.
pub(super) fn checked_url(address: &str) -> Result<Url, HttpError> {
    let wrong = |reason: &str| HttpError::Address { address: without_password(address), reason: reason.to_owned() };
    let url = Url::parse(address).map_err(|e| wrong(&format!("this is no address: {e}")))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("an address must not hold a user name or password; put them into ~/.netrc"));
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        "http" => Err(wrong("only https is fetched (http is for this machine alone)")),
        _ => Err(wrong("only https addresses are fetched")),
    }
}

/// Whether the address names this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback() || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_loopback()),
        None => false,
    }
}

/// Whether the address may lead to this machine: by a name that is kept for it (RFC 6761, 6.3), with the dot of a whole
/// name too, or by the addresses of "this host" (RFC 1122, 3.2.1.3), which systems take for it.
pub(super) fn is_this_machine(url: &Url) -> bool {
    let is_named = |name: &str| name == "localhost" || name.ends_with(".localhost");
    is_loopback(url)
        || match url.host() {
            Some(url::Host::Domain(name)) => is_named(name.strip_suffix('.').unwrap_or(name)),
            Some(url::Host::Ipv4(ip)) => ip.is_unspecified(),
            Some(url::Host::Ipv6(ip)) => {
                ip.is_unspecified() || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_unspecified())
            }
            None => false,
        }
}

/// The address without user name, password and query: queries hold signatures at some hosts.
pub(super) fn shown(url: &Url) -> String {
    let mut out = without_password(&url[..url::Position::AfterPath]);
    if url.query().is_some() {
        out.push_str("?…");
    }
    out
}

/// The text of an address, which need not be one, as it may be shown.
fn without_password(address: &str) -> String {
    shortened(&masked(address), 500)
}

fn header_text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|v| v.to_str().ok())
}

fn seconds(time: Duration) -> String {
    match time.subsec_millis() {
        0 => format!("{} s", time.as_secs()),
        _ => format!("{:.1} s", time.as_secs_f32()),
    }
}

/// What is wrong with the certificate, where that is what is wrong.
fn certificate_fault(error: &reqwest::Error) -> Option<String> {
    chain(error).find_map(|cause| match cause.downcast_ref::<rustls::Error>()? {
        rustls::Error::InvalidCertificate(fault) => Some(fault.to_string()),
        _ => None,
    })
}

/// An error and its causes. `io::Error` does not count what it wraps among its causes, so that is looked into.
fn chain<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |cause| {
        let wrapped = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        wrapped.map(|inner| inner as &(dyn std::error::Error + 'static)).or_else(|| cause.source())
    })
    // An error chain of a library is of a few links; a bound costs nothing.
    .take(16)
}

/// An error and its causes in one line.
fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut out = String::new();
    for text in chain(error).map(ToString::to_string) {
        if !out.contains(&text) {
            let separator = if out.is_empty() { "" } else { ": " };
            out.push_str(separator);
            out.push_str(&text);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(address: &str) -> String {
        checked_url(address).map_or_else(|e| e.to_string(), |url| url.to_string())
    }

    #[test]
    fn https_is_fetched_and_http_from_this_machine_alone() {
        assert_eq!(checked("https://example.org/a"), "https://example.org/a");
        assert_eq!(checked("http://127.0.0.1:8080/a"), "http://127.0.0.1:8080/a");
        assert_eq!(checked("http://[::1]/a"), "http://[::1]/a");
        assert_eq!(checked("http://localhost/a"), "http://localhost/a");
        let only = "only https is fetched (http is for this machine alone)";
        assert_eq!(checked("http://example.org/a"), format!("http://example.org/a: {only}"));
        assert_eq!(checked("http://localhost.example.org/a"), format!("http://localhost.example.org/a: {only}"));
        assert_eq!(checked("ftp://example.org/a"), "ftp://example.org/a: only https addresses are fetched");
        assert_eq!(checked("file:///etc/passwd"), "file:///etc/passwd: only https addresses are fetched");
        assert_eq!(checked("example"), "example: this is no address: relative URL without a base");
    }

    #[test]
    fn a_password_in_an_address_is_refused_and_not_shown() {
        let netrc = "an address must not hold a user name or password; put them into ~/.netrc";
        assert_eq!(checked("https://me:secret@example.org/a"), format!("https://***@example.org/a: {netrc}"));
        assert_eq!(
            checked("https://me:sec@ret@exa mple/a"),
            "https://***@exa mple/a: this is no address: invalid international domain name"
        );
        assert!(!checked("http://me:secret@example.org/").contains("secret"));
    }

    #[test]
    fn a_query_is_not_shown() {
        let url = Url::parse("https://example.org/a%20b?X-Signature=secret#f").unwrap();
        assert_eq!(shown(&url), "https://example.org/a%20b?…");
    }

    #[test]
    fn a_proxys_password_is_not_shown_however_it_is_spelled() {
        for address in ["me:sec/ret@proxy.example:1", "http://me:sec#ret@proxy.example:1", "me:1/ret@proxy.example:1"] {
            let proxies = Proxies { https: Some(address.to_owned()), none_for: String::new() };
            let error = Http::new(Settings { proxies, ..Settings::default() }).unwrap_err().to_string();
            assert!(error.contains("the proxy http://***@") && !error.contains("ret@"), "{error}");
        }
    }

    #[test]
    fn a_mirror_takes_whole_segments() {
        let mirror = Mirror::parse("https://example.org/a/=http://127.0.0.1:9/m/").unwrap();
        assert_eq!(mirror.apply("https://example.org/a/b?c=d").as_deref(), Some("http://127.0.0.1:9/m/b?c=d"));
        assert_eq!(mirror.apply("https://example.org/a").as_deref(), Some("http://127.0.0.1:9/m"));
        assert_eq!(mirror.apply("https://example.org/ab"), None);
        assert_eq!(
            Mirror::parse("https://example.org=https://mirror.example").unwrap().apply("https://example.org.evil/"),
            None
        );
    }

    #[test]
    fn a_mirror_below_what_it_mirrors_is_mirrored_once() {
        let mirror = Mirror::parse("https://example.org=https://example.org/mirror").unwrap();
        assert_eq!(mirror.apply("https://example.org/a").as_deref(), Some("https://example.org/mirror/a"));
        assert_eq!(mirror.apply("https://example.org/mirror/a"), None);
        assert_eq!(mirror.apply("https://example.org/mirrors").as_deref(), Some("https://example.org/mirror/mirrors"));
        let above = Mirror::parse("https://example.org/a=https://example.org").unwrap();
        assert_eq!(above.apply("https://example.org/a/b").as_deref(), Some("https://example.org/b"));
    }

    #[test]
    fn a_mirror_that_is_none_is_refused() {
        let said = |text| Mirror::parse(text).unwrap_err().to_string();
        assert_eq!(said("https://example.org"), "https://example.org: a mirror is FROM=TO, two addresses");
        assert_eq!(
            said("https://me:secret@example.org=https://mirror.example"),
            "https://***@example.org: a mirror's first address must not hold a user name or password"
        );
        assert_eq!(
            said("example.org=https://mirror.example"),
            "example.org: a mirror's first address begins with https:// or http://"
        );
        assert_eq!(
            said("https://example.org=http://mirror.example"),
            "http://mirror.example: only https is fetched (http is for this machine alone)"
        );
    }

    #[test]
    fn a_credential_is_never_shown() {
        let basic = Credential::basic("me", "secret", "~/.netrc").unwrap();
        let request = Request { credential: Some(basic), ..Request::get("https://example.org/") };
        let shown = format!("{request:?}");
        assert!(shown.contains("Credential(from ~/.netrc)"), "{shown}");
        assert!(!shown.contains("secret") && !shown.contains("bWU6c2VjcmV0"), "{shown}");
        let proxies = Proxies { https: Some("http://me:secret@proxy.example".into()), none_for: String::new() };
        assert!(!format!("{proxies:?}").contains("secret"));
    }

    #[test]
    fn a_token_that_cannot_be_sent_is_none() {
        assert!(Credential::bearer("a\nb", "TOKEN").is_none());
    }

    #[test]
    fn a_file_without_certificates_is_refused() {
        let settings = Settings { ca: Some(b"no certificate here\n".to_vec()), ..Settings::default() };
        let error = Http::new(settings).unwrap_err().to_string();
        assert_eq!(error, "cannot set up TLS: the file of certificates holds none in PEM form");
    }

    #[test]
    fn a_proxy_of_another_kind_is_refused_without_its_password() {
        let https = Some("socks5://me:secret@proxy.example:1080".to_owned());
        let settings = Settings { proxies: Proxies { https, none_for: String::new() }, ..Settings::default() };
        let error = Http::new(settings).unwrap_err().to_string();
        let expected =
            "cannot set up TLS: the proxy socks5://***@proxy.example:1080: only http and https proxies are known";
        assert_eq!(error, expected);
    }

    #[test]
    fn every_way_to_write_this_machine_is_known() {
        let is = |host: &str| is_this_machine(&Url::parse(&format!("https://{host}:9/x")).unwrap());
        for host in [
            "localhost",
            "LOCALHOST.",
            "a.localhost",
            "127.0.0.1",
            "127.1",
            "0",
            "0.0.0.0",
            "2130706433",
            "[::1]",
            "[::]",
        ] {
            assert!(is(host), "{host}");
        }
        for host in ["[::ffff:127.0.0.1]", "[::ffff:0.0.0.0]"] {
            assert!(is(host), "{host}");
        }
        for host in ["localhost.example.org", "notlocalhost", "10.0.0.1", "[::2]", "[::ffff:10.0.0.1]"] {
            assert!(!is(host), "{host}");
        }
    }
}
