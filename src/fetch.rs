//! A base's files from wherever its `base.yaml` says: a repository on GitHub, a release there, an address, a git
//! repository anywhere, a file of the root. And what upstream calls newest: the commit of a branch or tag, the latest
//! release.
//!
//! It joins `layer`, which knows what a base is, with `source`, which knows how to fetch. It knows nothing of locks,
//! writes nothing, and judges nothing of what came. Whatever keeps a file from coming is a finding at the place in
//! `base.yaml` that names the file.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::config::Findings;
use crate::diag::{Code, Diagnostic, Place};
use crate::layer::base::{Base, Origin, Published};
use crate::layer::etag::{EntityTag, SentTag};
use crate::layer::root::Root;
use crate::layer::vendor::{self, Fetched, Held, from_root};
use crate::source::credentials::Environment;
use crate::source::git::{self, GitError, Wanted};
use crate::source::http::{self, Fault, HeaderValue, Http, HttpError, Method, Progress, Request};
use crate::source::http::{Sender, StatusCode, Unless};
use crate::source::refs::{self, RefError};

/// How many files are fetched at once.
const AT_ONCE: usize = 6;

/// What it takes to fetch: a client, and what the environment knows of secrets.
#[derive(Debug)]
pub struct Network {
    /// The client, with its limits, mirrors and certificates.
    pub http: Http,
    /// Credentials, and where programs are.
    pub environment: Environment,
}

/// One file of a base, to be fetched.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The base's root.
    pub root: &'a Root,
    /// The base.
    pub base: &'a Base,
    /// The file.
    pub file: &'a Published,
    /// What is asked for.
    pub asks: Asks,
}

/// What is asked for where the base has upstream's bytes already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// The bytes all the same: what is held against them is to be proven.
    Whole,
    /// The bytes, unless their server says by their entity tag that those of the base are what it has. What a commit pins
    /// is asked for whole.
    News,
}

/// Who is told how far the file of that number has come, from whatever thread.
pub type Watch<'a> = &'a (dyn Fn(usize, Progress) + Sync);

/// Nobody watches.
pub const UNWATCHED: Watch<'static> = &|_, _| ();

/// The jobs of all files of a base.
pub fn jobs<'a>(root: &'a Root, base: &'a Base, asks: Asks) -> impl Iterator<Item = Job<'a>> {
    base.files.iter().map(move |file| Job { root, base, file, asks })
}

/// Whether a base's files come over the network.
pub fn is_remote(base: &Base) -> bool {
    base.origin != Origin::File
}

/// Fetches files, several at once, and gives what came of each in the order of the jobs. Without a network, files of
/// the root alone are had.
pub fn all(network: Option<&Network>, jobs: &[Job<'_>], watch: Watch<'_>) -> Vec<Result<Fetched, Box<Diagnostic>>> {
    let next = AtomicUsize::new(0);
    let came = Mutex::new(Vec::new());
    let work = || {
        while let Some((number, job)) = take(&next, jobs) {
            let fetched = one(network, job, &|progress| watch(number, progress));
            came.lock().unwrap_or_else(PoisonError::into_inner).push((number, fetched));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..AT_ONCE.min(jobs.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut came = came.into_inner().unwrap_or_else(PoisonError::into_inner);
    came.sort_unstable_by_key(|(number, _)| *number);
    came.into_iter().map(|(_, fetched)| fetched).collect()
}

fn take<'j, 'a>(next: &AtomicUsize, jobs: &'j [Job<'a>]) -> Option<(usize, &'j Job<'a>)> {
    let number = next.fetch_add(1, Ordering::Relaxed);
    jobs.get(number).map(|job| (number, job))
}

/// All files of a base, in the order of [`Base::files`]. `None` where one could not be had, which the findings tell.
pub fn base(
    network: Option<&Network>,
    root: &Root,
    base: &Base,
    watch: Watch<'_>,
    findings: &mut Findings,
) -> Option<Vec<Fetched>> {
    let jobs: Vec<Job<'_>> = jobs(root, base, Asks::Whole).collect();
    let came: Vec<Option<Fetched>> = all(network, &jobs, watch).into_iter().map(|f| findings.keep(f)).collect();
    came.into_iter().collect()
}

/// Fetches the files of bases again, several at once, and holds them against each base's lock. The findings of each
/// base tell what upstream no longer has, what it has changed, and whom there was no answer from.
pub fn hold(network: &Network, bases: &[(&Root, &Base)], watch: Watch<'_>) -> Vec<Findings> {
    let jobs: Vec<Job<'_>> = bases.iter().flat_map(|(root, base)| jobs(root, base, Asks::Whole)).collect();
    let mut came = all(Some(network), &jobs, watch).into_iter();
    let hold_one = |(root, base): &(&Root, &Base)| {
        let mut findings = Findings::new();
        let own: Vec<_> = came.by_ref().take(base.files.len()).map(|fetched| findings.keep(fetched)).collect();
        if let Some(fetched) = own.into_iter().collect::<Option<Vec<Fetched>>>() {
            vendor::hold(root, base, &fetched, &mut findings);
        }
        findings
    };
    bases.iter().map(hold_one).collect()
}

/// The commit that a branch or tag of a base's repository has now; `place` is where its name stands, if in a file.
///
/// # Errors
/// A finding, where there is none of that name or the repository does not answer.
pub fn commit_of(network: &Network, base: &Base, name: &str, place: Option<Place>) -> Result<String, Box<Diagnostic>> {
    let url = match &base.origin {
        Origin::GitHub { repository, .. } => format!("https://github.com/{repository}.git"),
        Origin::Git { url, .. } => url.clone(),
        Origin::Release { .. } | Origin::Url | Origin::File => {
            return Err(Box::new(Diagnostic::new(Code::Syntax, "only a repository has branches and tags")));
        }
    };
    let found = refs::resolve(&network.http, &network.environment, &url, name);
    found.map(|found| found.commit).map_err(|error| Box::new(told(&Trouble::from(error), network, place)))
}

/// The tag of a repository's latest release on GitHub, as its page of releases leads to it.
///
/// # Errors
/// A finding, where there is none or GitHub does not answer.
pub fn latest_release(network: &Network, base: &Base, repository: &str) -> Result<String, Box<Diagnostic>> {
    let address = format!("https://github.com/{repository}/releases/latest");
    let place = base.files.first().map(|file| base.place(&file.path));
    let answer = network.http.send(&Request::new(Method::HEAD, &address), &network.environment);
    let answer = answer.map_err(|error| Box::new(told(&Trouble::Http(error), network, place.clone())))?;
    let tag = answer.url.path().split_once("/releases/tag/").map(|(_, tag)| tag);
    tag.and_then(unescaped).filter(|tag| !tag.is_empty()).ok_or_else(|| {
        let finding = Diagnostic::new(Code::UpstreamGone, format!("{address} leads to no release"));
        let finding = match place {
            Some(place) => finding.at(place, ""),
            None => finding,
        };
        Box::new(finding.help("Name the release to go to with --ref."))
    })
}

/// A segment of an address with its `%XX` read. `None` where that is no text.
fn unescaped(segment: &str) -> Option<String> {
    // A form's decoding takes `+` for a space, which in a path is a plus sign.
    let form = format!("x={}", segment.replace('+', "%2B"));
    let decoded = url::form_urlencoded::parse(form.as_bytes()).next()?.1.into_owned();
    (!decoded.contains(char::REPLACEMENT_CHARACTER)).then_some(decoded)
}

fn one(network: Option<&Network>, job: &Job<'_>, watch: &dyn Fn(Progress)) -> Result<Fetched, Box<Diagnostic>> {
    let Job { root, base, file, asks } = *job;
    if !is_remote(base) {
        return from_root(root, base, file);
    }
    let place = base.place(&file.path);
    let address = vendor::address(base, file)?;
    let Some(network) = network else {
        let finding = Diagnostic::new(Code::UpstreamUnreachable, format!("{address}: the network is not used here"));
        return Err(Box::new(finding.at(place, "")));
    };
    let came = if let Origin::Git { url, revision } = &base.origin {
        let commit = revision.commit.as_deref().unwrap_or_default();
        let wanted = Wanted { url, commit, path: &file.path.value };
        let bytes = git::file(&network.http, &network.environment, wanted).map_err(Trouble::from);
        bytes.map(|bytes| Fetched::new(address, bytes))
    } else {
        let held = (asks == Asks::News && has_tags(base)).then(|| vendor::held(root, base, file)).flatten();
        let unless = held.as_ref().and_then(|held| unless(&held.etag));
        let request = Request { unless, ..Request::get(&address) };
        let answer = network.http.send_watched(&request, &network.environment, watch).map_err(Trouble::Http);
        answer.map(|answer| taken(base, address, answer, held))
    };
    came.map_err(|trouble| Box::new(told(&trouble, network, Some(place))))
}

/// Whether a base's files are asked for by their entity tags: where no commit says which bytes they have.
fn has_tags(base: &Base) -> bool {
    matches!(base.origin, Origin::Url | Origin::Release { .. })
}

fn unless(etag: &SentTag) -> Option<Unless> {
    let tag = HeaderValue::from_str(etag.tag.as_str()).ok()?;
    let sender = etag.from.clone().map_or(Sender::Asked, Sender::Redirected);
    Some(Unless { tag, sender })
}

/// What an answer brings: its body, or the bytes that it says are held.
fn taken(base: &Base, name: String, answer: http::Fetched, held: Option<Held>) -> Fetched {
    match held {
        Some(Held { bytes, etag }) if answer.unchanged => Fetched { name, bytes, etag: Some(etag) },
        _ => Fetched { name, etag: sent_tag(&answer).filter(|_| has_tags(base)), bytes: answer.body },
    }
}

/// The tag of an answer, where its sender may be asked by it again.
fn sent_tag(answer: &http::Fetched) -> Option<SentTag> {
    let from = match &answer.sender {
        Sender::Asked => None,
        Sender::Redirected(from) => Some(from.clone()),
        Sender::Mirror => return None,
    };
    Some(SentTag { tag: EntityTag::parse(answer.etag()?)?, from })
}

/// What can go wrong on the way.
enum Trouble {
    Http(HttpError),
    Ref(RefError),
    Git(GitError),
}

impl From<RefError> for Trouble {
    fn from(error: RefError) -> Trouble {
        match error {
            RefError::Http(error) => Trouble::Http(error),
            other => Trouble::Ref(other),
        }
    }
}

impl From<GitError> for Trouble {
    fn from(error: GitError) -> Trouble {
        match error {
            GitError::Address(error) => Trouble::from(error),
            other => Trouble::Git(other),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Http(error) => error.fmt(f),
            Trouble::Ref(error) => error.fmt(f),
            Trouble::Git(error) => error.fmt(f),
        }
    }
}

/// What to do where git's folder cannot be written to.
const SCRATCH_HELP: &str = "Make room in the folder for temporary files, or name another one in TMPDIR.";

/// The finding about it.
fn told(trouble: &Trouble, network: &Network, place: Option<Place>) -> Diagnostic {
    let (code, help) = match trouble {
        Trouble::Http(error) => (http_code(error), http_help(error, network)),
        Trouble::Ref(error) => ref_judged(error),
        Trouble::Git(error) => git_judged(error),
    };
    let finding = Diagnostic::new(code, trouble.to_string()).help(help);
    match place {
        Some(place) => finding.at(place, ""),
        None => finding,
    }
}

fn ref_judged(error: &RefError) -> (Code, &'static str) {
    match error {
        RefError::Name { .. } => (Code::Syntax, "Name a branch or a tag."),
        RefError::Ambiguous { .. } => (Code::Syntax, "Write the whole name of the one that you mean."),
        RefError::Missing { .. } => (Code::UpstreamGone, "Check the name; letter case counts."),
        _ => (Code::UpstreamUnreachable, "Check the address of the repository in a browser, or with git."),
    }
}

fn git_judged(error: &GitError) -> (Code, &'static str) {
    match error {
        GitError::Wanted { .. } => (Code::Syntax, "Correct it in base.yaml."),
        GitError::NotCommit { .. } => (Code::Syntax, "Pin a commit; a branch or a tag of one leads to it."),
        GitError::NoCommit { .. } => (Code::UpstreamGone, "Pin a commit that a branch or tag still leads to."),
        GitError::NoFile { .. } => (Code::UpstreamGone, "Check `path` and `commit` in base.yaml."),
        GitError::NoGit { .. } => (Code::UpstreamUnreachable, "Install git."),
        GitError::TooLong { .. } => {
            (Code::UpstreamUnreachable, "Try again later, or give it more time with --timeout.")
        }
        GitError::TooLarge { .. } => (Code::UpstreamUnreachable, "Is this the path of a manifest?"),
        GitError::TooMuch { .. } => (
            Code::UpstreamUnreachable,
            "This repository is too large to be read by git. Name the file's own address as `url` instead, or take it from a \
             file with `--from FILE`.",
        ),
        GitError::Disk { .. } => (Code::UpstreamUnreachable, SCRATCH_HELP),
        GitError::Failed { said, .. } if said.contains("No space left") || said.contains("quota exceeded") => {
            (Code::UpstreamUnreachable, SCRATCH_HELP)
        }
        _ => (Code::UpstreamUnreachable, "Try again later."),
    }
}

fn http_code(error: &HttpError) -> Code {
    match error {
        HttpError::Address { .. } => Code::Syntax,
        _ if error.is_gone() => Code::UpstreamGone,
        _ => Code::UpstreamUnreachable,
    }
}

fn http_help(error: &HttpError, network: &Network) -> &'static str {
    let refusal = error.refusal();
    let is_github = refusal.and_then(|r| r.url.host_str()).is_some_and(|host| {
        host == "github.com" || host.ends_with(".github.com") || host.ends_with(".githubusercontent.com")
    });
    let has_token = network.environment.github_token.is_some();
    match (error, refusal.map(|r| r.status)) {
        (_, Some(StatusCode::NOT_FOUND)) if is_github && !has_token => {
            "Check the names in base.yaml. A private repository answers so too: then set GITHUB_TOKEN."
        }
        (_, Some(StatusCode::NOT_FOUND | StatusCode::GONE)) => "Check the names in base.yaml.",
        (_, Some(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)) if is_github => {
            "Set GITHUB_TOKEN to a token that may read this repository."
        }
        (_, Some(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)) => {
            "Put a log-in for this host into ~/.netrc, or check the one that is there."
        }
        (HttpError::Transport { fault: Fault::Certificate, .. }, _) => {
            "If you trust the authority that signed it, name its certificate with --ca-file."
        }
        (HttpError::Transport { fault: Fault::Tls, .. }, _) => {
            "Check host and port of the address: what answers there speaks no TLS, or another one."
        }
        (HttpError::Transport { fault: Fault::Unreached, .. }, _) => {
            "Check the network and the name of the host. `overlay init`, `vendor` and `update` also take upstream's bytes \
             from a file, with `--from FILE`, or from another address, with `--mirror FROM=TO`."
        }
        (HttpError::Status(refusal), _) if !refusal.is_an_error() => {
            "See in a browser what is at this address, and what stands between the server and you."
        }
        (HttpError::TooLarge { .. }, _) => "Is this the address of a manifest?",
        (HttpError::Redirect { .. } | HttpError::Address { .. }, _) => {
            "Name the address where the file is, with https."
        }
        _ => "Try again later.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::testing::Project;

    #[test]
    fn a_remote_source_is_not_fetched_without_a_network() {
        let commit = "0".repeat(40);
        let source = format!("{{github: {{repository: o/r, commit: {commit}, path: m.yaml}}}}");
        let base_yaml = format!("apiVersion: overlay/v1\nkind: Base\nname: b\nsource: {source}\n");
        let project = Project::new(&[("base/b/base.yaml", &base_yaml)]);
        let mut findings = Findings::new();
        let of = project.base("base/b");
        assert!(base(None, &project.root, &of, UNWATCHED, &mut findings).is_none());
        let address = format!("https://raw.githubusercontent.com/o/r/{commit}/m.yaml");
        assert_eq!(
            project.told(&findings),
            [format!("base/b/base.yaml:4:92 upstream-unreachable: {address}: the network is not used here")]
        );
    }

    #[test]
    fn many_files_come_in_their_order() {
        let names: Vec<String> = (0..40).map(|n| format!("up/{n}.yaml")).collect();
        let bases: Vec<(String, String)> = (0..40)
            .map(|n| {
                let source = format!("{{file: ../../up/{n}.yaml}}");
                (format!("b/{n}/base.yaml"), format!("apiVersion: overlay/v1\nkind: Base\nname: b\nsource: {source}\n"))
            })
            .collect();
        let files: Vec<(&str, &str)> = names
            .iter()
            .map(|name| (name.as_str(), name.as_str()))
            .chain(bases.iter().map(|(path, text)| (path.as_str(), text.as_str())))
            .collect();
        let project = Project::new(&files);
        let bases: Vec<Base> = (0..40).map(|n| project.base(&format!("b/{n}"))).collect();
        let jobs: Vec<Job<'_>> = bases.iter().flat_map(|base| jobs(&project.root, base, Asks::Whole)).collect();
        let came = all(None, &jobs, UNWATCHED);
        let came: Vec<String> = came.into_iter().map(|f| String::from_utf8(f.unwrap().bytes).unwrap()).collect();
        assert_eq!(came, names);
    }

    #[test]
    fn what_another_try_would_not_mend_is_not_to_be_tried_again() {
        let (address, command, limit) = ("https://example.org/r".to_owned(), "fetch", 1);
        let failed = |said: &str| GitError::Failed { address: address.clone(), command, said: said.into() };
        let help = |error: GitError| git_judged(&error).1;
        assert_eq!(
            help(GitError::TooLarge { address: address.clone(), command, limit }),
            "Is this the path of a manifest?"
        );
        let too_much = help(GitError::TooMuch { address: address.clone(), command, limit });
        assert!(too_much.starts_with("This repository is too large"), "{too_much}");
        assert_eq!(help(GitError::Disk { reason: "x".into() }), SCRATCH_HELP);
        assert_eq!(help(failed("cannot write: No space left on device")), SCRATCH_HELP);
        assert_eq!(help(failed("the remote end hung up")), "Try again later.");
    }

    #[test]
    fn a_tag_in_an_address_is_read() {
        assert_eq!(unescaped("v1.2.3").as_deref(), Some("v1.2.3"));
        assert_eq!(unescaped("chart%2Fv1+2%20x").as_deref(), Some("chart/v1+2 x"));
        assert_eq!(unescaped("%ff"), None);
    }
}
