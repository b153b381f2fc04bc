//! `source::refs` and `source::git` against `git http-backend`.

use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use overlay::source::credentials::{Environment, Netrc};
use overlay::source::git::{MAX_DISK, Wanted, file};
use overlay::source::http::{Anonymous, Http, Mirror, Settings};
use overlay::source::refs::resolve;
use tempfile::TempDir;

use crate::http::quick;
use crate::peers::{present, run};
use crate::server::{Asked, Authority, Server, reply};

/// `deploy/manifest.yaml` of `main`.
pub(crate) const FIRST: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {level: info} # quiet
---
apiVersion: v1
kind: Service
metadata: {name: agent}
spec: {type: ClusterIP}
";

/// The same of `next`.
pub(crate) const SECOND: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {level: info, mtu: '9000'} # quiet
---
apiVersion: v1
kind: Service
metadata: {name: agent}
spec: {type: NodePort}
";

/// A folder with the bare repository `project.git`.
pub(crate) struct Repository {
    folder: TempDir,
    /// The commit of `main` and of the annotated tag `v1`.
    pub(crate) first: String,
    /// The commit of `next`, which is on no other branch.
    pub(crate) second: String,
}

impl Repository {
    pub(crate) fn new() -> Repository {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().join("work");
        std::fs::create_dir_all(work.join("deploy/sub dir")).unwrap();
        let git = |arguments: &[&str]| run(&work, "git", arguments);
        git(&["init", "--quiet", "--initial-branch=main"]);
        git(&["config", "user.name", "Someone"]);
        git(&["config", "user.email", "someone@example.org"]);
        std::fs::write(work.join("deploy/sub dir/é.yaml"), "kind: A\r\nno: final newline").unwrap();
        std::fs::write(work.join("deploy/other.yaml"), "kind: B\n").unwrap();
        std::fs::write(work.join("deploy/manifest.yaml"), FIRST).unwrap();
        std::os::unix::fs::symlink("other.yaml", work.join("deploy/link.yaml")).unwrap();
        git(&["add", "."]);
        git(&["commit", "--quiet", "--message=one"]);
        git(&["tag", "--annotate", "--message=one", "v1"]);
        git(&["tag", "light"]);
        let first = git(&["rev-parse", "HEAD"]).trim().to_owned();
        git(&["update-index", "--add", "--cacheinfo", &format!("160000,{first},module")]);
        git(&["switch", "--quiet", "--create", "next"]);
        std::fs::write(work.join("deploy/other.yaml"), "kind: C\n").unwrap();
        std::fs::write(work.join("deploy/manifest.yaml"), SECOND).unwrap();
        git(&["add", "deploy"]);
        git(&["commit", "--quiet", "--message=two"]);
        let second = git(&["rev-parse", "HEAD"]).trim().to_owned();
        // One name for two things.
        git(&["tag", "twice", &first]);
        git(&["branch", "twice"]);
        run(folder.path(), "git", &["clone", "--quiet", "--bare", "work", "project.git"]);
        run(&folder.path().join("project.git"), "git", &["config", "uploadpack.allowFilter", "true"]);
        Repository { folder, first, second }
    }

    /// What answers for the folder.
    pub(crate) fn backend(&self) -> impl Fn(&Asked, &mut dyn Write) -> io::Result<()> + Send + Sync + 'static {
        let root = self.folder.path().to_owned();
        move |asked, out| backend(&root, asked, out)
    }
}

/// What answers for GitHub's hosts, each below its own name: the repository's branches and tags as `o/r`, and its
/// `deploy/manifest.yaml` at both commits.
pub(crate) fn github(
    repository: &Repository,
) -> impl Fn(&Asked, &mut dyn Write) -> io::Result<()> + Send + Sync + 'static {
    let backend = repository.backend();
    let file = |commit: &str| format!("/raw.githubusercontent.com/o/r/{commit}/deploy/manifest.yaml");
    let (first, second) = (file(&repository.first), file(&repository.second));
    move |asked, out| match asked.path() {
        path if path == first => reply(out, "200 OK", "", FIRST.as_bytes()),
        path if path == second => reply(out, "200 OK", "", SECOND.as_bytes()),
        path => match path.strip_prefix("/github.com/o/r.git") {
            Some(rest) => {
                let mut asked = asked.clone();
                asked.target = asked.target.replace(path, &format!("/project.git{rest}"));
                backend(&asked, out)
            }
            None => reply(out, "404 Not Found", "", b"404: Not Found"),
        },
    }
}

/// `git http-backend` as a CGI program (RFC 3875).
fn backend(root: &Path, asked: &Asked, out: &mut dyn Write) -> io::Result<()> {
    let (path, query) = asked.target.split_once('?').unwrap_or((&asked.target, ""));
    let mut program = Command::new("git");
    program.arg("http-backend").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    program.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").env("HOME", root);
    program.env("GIT_PROJECT_ROOT", root).env("GIT_HTTP_EXPORT_ALL", "1");
    program.env("REQUEST_METHOD", &asked.method).env("PATH_INFO", path).env("QUERY_STRING", query);
    for (header, variable) in [
        ("content-type", "CONTENT_TYPE"),
        ("content-length", "CONTENT_LENGTH"),
        ("content-encoding", "HTTP_CONTENT_ENCODING"),
        ("git-protocol", "GIT_PROTOCOL"),
    ] {
        if let Some(value) = asked.header(header) {
            program.env(variable, value);
        }
    }
    let mut child = program.spawn()?;
    child.stdin.take().unwrap().write_all(&asked.body)?;
    let mut answer = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut answer)?;
    child.wait()?;
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK").to_owned();
    let headers: Vec<&str> = head.lines().filter(|line| !line.starts_with("Status:")).collect();
    let headers = headers.join("\r\n") + "\r\n";
    reply(out, &status, &headers, &answer[end + 4..])
}

fn environment(netrc: &str) -> Environment {
    Environment { path: std::env::var_os("PATH"), netrc: Netrc::parse(netrc), ..Environment::default() }
}

fn resolved(server: &Server, name: &str) -> String {
    let http = Http::new(quick()).unwrap();
    match resolve(&http, &Anonymous, &server.at("/project.git"), name) {
        Ok(found) => format!("{} {}", found.name, found.commit),
        Err(error) => error.to_string(),
    }
}

fn fetched(settings: Settings, netrc: &str, url: &str, commit: &str, path: &str) -> Result<Vec<u8>, String> {
    let http = Http::new(settings).unwrap();
    file(&http, &environment(netrc), Wanted { url, commit, path }).map_err(|error| error.to_string())
}

/// Time enough for git on a busy machine.
fn patient() -> Settings {
    Settings { idle: Duration::from_secs(20), timeout: Duration::from_secs(40), ..quick() }
}

#[test]
fn branches_and_tags_are_resolved_to_commits() {
    if !present(&["git"]) {
        return;
    }
    let repository = Repository::new();
    let server = Server::start(repository.backend());
    let (first, second) = (&repository.first, &repository.second);
    assert_eq!(resolved(&server, "main"), format!("refs/heads/main {first}"));
    assert_eq!(resolved(&server, "next"), format!("refs/heads/next {second}"));
    assert_eq!(resolved(&server, "v1"), format!("refs/tags/v1 {first}"));
    assert_eq!(resolved(&server, "light"), format!("refs/tags/light {first}"));
    assert_eq!(resolved(&server, "refs/heads/next"), format!("refs/heads/next {second}"));
    assert_eq!(resolved(&server, "HEAD"), format!("HEAD {second}"));
    let at = server.at("/project.git");
    assert_eq!(resolved(&server, "nex"), format!("{at} has no branch or tag `nex`; did you mean `next`?"));
    assert_eq!(resolved(&server, "v2"), format!("{at} has no branch or tag `v2`; did you mean `v1`?"));
    assert_eq!(resolved(&server, "elsewhere"), format!("{at} has no branch or tag `elsewhere`"));
    let ambiguous = format!(
        "`twice` is a branch ({second}) and a tag ({first}) of {at}; write `refs/heads/twice` or `refs/tags/twice`"
    );
    assert_eq!(resolved(&server, "twice"), ambiguous);
    assert_eq!(resolved(&server, "refs/tags/twice"), format!("refs/tags/twice {first}"));
    let listed = server.seen().into_iter().filter(|asked| asked.method == "POST").count();
    assert!(listed > 0, "the second version of the protocol was used");
}

#[test]
fn a_server_of_the_first_protocol_is_understood() {
    if !present(&["git"]) {
        return;
    }
    let repository = Repository::new();
    let root = repository.folder.path().to_owned();
    let server = Server::start(move |asked, out| {
        // Without the header for a version, the backend speaks the first.
        backend(&root, &asked.without("git-protocol"), out)
    });
    let (first, second) = (&repository.first, &repository.second);
    assert_eq!(resolved(&server, "main"), format!("refs/heads/main {first}"));
    assert_eq!(resolved(&server, "v1"), format!("refs/tags/v1 {first}"));
    assert_eq!(resolved(&server, "HEAD"), format!("HEAD {second}"));
    assert!(server.seen().iter().all(|asked| asked.method == "GET"));
}

#[test]
fn what_is_no_git_server_is_told() {
    let advertisement = "Content-Type: application/x-git-upload-pack-advertisement\r\n";
    let server = Server::start(move |asked, out| match asked.path() {
        "/page/project.git/info/refs" => reply(out, "200 OK", "", b"<!doctype html><title>Sign in</title>"),
        "/dumb/project.git/info/refs" => reply(out, "200 OK", "Content-Type: text/plain\r\n", b"x kind"),
        "/moved/project.git/info/refs" => reply(out, "302 Found", "Location: /login\r\n", b""),
        "/login" => reply(out, "200 OK", advertisement, b"0000"),
        "/err/project.git/info/refs" => reply(out, "200 OK", advertisement, b"0010ERR go\x1baway\n0000"),
        "/cut/project.git/info/refs" => reply(out, "200 OK", advertisement, b"001e# service=git-upload-pack\n0000"),
        "/bad/project.git/info/refs" => reply(out, "200 OK", advertisement, b"0009abc"),
        _ => reply(out, "404 Not Found", "", b""),
    });
    let told = |folder: &str| {
        let url = server.at(&format!("/{folder}/project.git"));
        let http = Http::new(quick()).unwrap();
        let error = resolve(&http, &Anonymous, &url, "main").unwrap_err().to_string();
        error.strip_prefix(&url).unwrap_or(&error).to_owned()
    };
    let not_git = |what: &str| format!(" is no git repository over smart HTTP: it answered with {what}");
    assert_eq!(told("page"), not_git("a web page with the title \"Sign in\""));
    assert_eq!(told("dumb"), not_git("the media type \"text/plain\""));
    assert_eq!(told("moved"), not_git(&format!("a redirect to {}", server.at("/login"))));
    assert_eq!(told("err"), ": the git server says: go\\x1Baway");
    assert_eq!(told("cut"), " has no branch or tag `main`");
    assert_eq!(told("bad"), ": the git server's answer is broken: a packet is cut off: \"0009abc\"");
    assert_eq!(told("none"), "/info/refs?…: the server answered 404 Not Found");
}

#[test]
fn a_file_is_read_at_any_commit() {
    if !present(&["git"]) {
        return;
    }
    let repository = Repository::new();
    let server = Server::start(repository.backend());
    let at = |commit: &str, path: &str| fetched(patient(), "", &server.at("/project.git/"), commit, path);
    let (first, second) = (repository.first.as_str(), repository.second.as_str());
    assert_eq!(at(first, "deploy/sub dir/é.yaml").unwrap(), "kind: A\r\nno: final newline".as_bytes());
    assert_eq!(at(first, "deploy/other.yaml").unwrap(), b"kind: B\n");
    assert_eq!(at(second, "deploy/other.yaml").unwrap(), b"kind: C\n");
    let url = server.at("/project.git");
    let none = |path: &str, instead: &str| Err(format!("{url} has no file `{path}` at commit {second}{instead}"));
    assert_eq!(at(second, "deploy/nothing.yaml"), none("deploy/nothing.yaml", ""));
    assert_eq!(
        at(second, "deploy/mannifest.yml"),
        none("deploy/mannifest.yml", "; did you mean `deploy/manifest.yaml`?")
    );
    assert_eq!(at(second, "gone/manifest.yaml"), none("gone/manifest.yaml", ""));
    assert_eq!(at(second, "deploy"), none("deploy", ": it is a folder"));
    assert_eq!(at(second, "deploy/link.yaml"), none("deploy/link.yaml", ": it is a symbolic link"));
    assert_eq!(at(second, "deploy/*.yaml"), none("deploy/*.yaml", ""));
    let module = at(second, "module").unwrap_err();
    assert_eq!(module, format!("{url} has no file `module` at commit {second}: it is a submodule"));
    // What a tag leads to may be anything, and a tag is an object of its own.
    let bare = repository.folder.path().join("project.git");
    for (name, kind) in [("v1", "tag"), ("v1^{tree}", "tree"), ("v1:deploy/other.yaml", "blob")] {
        let id = run(&bare, "git", &["rev-parse", name]).trim().to_owned();
        run(&bare, "git", &["tag", kind, &id]);
        assert_eq!(
            at(&id, "deploy/other.yaml"),
            Err(format!("{url} is no commit, but a {kind}").replace(" is", &format!(": {id} is")))
        );
    }
    let absent = "1".repeat(40);
    let error = at(&absent, "a").unwrap_err();
    assert!(error.starts_with(&format!("{url} has no commit {absent}, or does not hand it out: ")), "{error}");
}

#[test]
fn a_server_that_cannot_leave_files_out_is_used_all_the_same() {
    if !present(&["git"]) {
        return;
    }
    let repository = Repository::new();
    run(&repository.folder.path().join("project.git"), "git", &["config", "uploadpack.allowFilter", "false"]);
    let server = Server::start(repository.backend());
    let body = fetched(patient(), "", &server.at("/project.git"), &repository.first, "deploy/other.yaml");
    assert_eq!(body.unwrap(), b"kind: B\n");
}

#[test]
fn git_is_told_the_credential_and_follows_no_redirect() {
    if !present(&["git"]) {
        return;
    }
    let repository = Repository::new();
    let inner = repository.backend();
    let server = Server::start(move |asked, out| match asked.header("authorization") {
        Some("Basic bWU6czNjcmV0") => inner(asked, out),
        _ => reply(out, "401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"\r\n", b""),
    });
    let netrc = "machine 127.0.0.1 login me password s3cret";
    let url = server.at("/project.git");
    let read = |netrc: &str, url: &str| fetched(patient(), netrc, url, &repository.first, "deploy/other.yaml");
    assert_eq!(read(netrc, &url).unwrap(), b"kind: B\n");
    let refused =
        format!("{url}/info/refs?…: the server answered 401 Unauthorized; there is no credential for 127.0.0.1");
    assert_eq!(read("", &url).unwrap_err(), refused);

    // A server that sends elsewhere: the credential stays, and so the other one refuses.
    let to = server.at("");
    let elsewhere = Server::start(move |asked, out| {
        reply(out, "301 Moved Permanently", &format!("Location: {to}{}\r\n", asked.target), b"")
    });
    let error = read(netrc, &elsewhere.at("/project.git")).unwrap_err();
    assert_eq!(error, refused);
}

#[test]
fn a_repository_that_moved_is_found() {
    if !present(&["git"]) {
        return;
    }
    let repository = Repository::new();
    let server = Server::start(repository.backend());
    let to = server.at("");
    let moved = Server::start(move |asked, out| {
        let target = asked.target.replace("/old", "/project.git");
        reply(out, "301 Moved Permanently", &format!("Location: {to}{target}\r\n"), b"")
    });
    let body = fetched(patient(), "", &moved.at("/old"), &repository.first, "deploy/other.yaml").unwrap();
    assert_eq!(body, b"kind: B\n");
    let mirror = Mirror::parse(&format!("https://git.example={}", server.at(""))).unwrap();
    let settings = Settings { mirrors: vec![mirror], ..patient() };
    let url = "https://git.example/project.git";
    assert_eq!(fetched(settings, "", url, &repository.first, "deploy/other.yaml").unwrap(), b"kind: B\n");
}

#[test]
fn git_trusts_the_given_authority_too() {
    if !present(&["git", "openssl"]) {
        return;
    }
    let repository = Repository::new();
    let authority = Authority::new(repository.folder.path());
    let server = Server::start_tls(&authority, repository.backend());
    let settings = Settings { ca: Some(authority.pem.clone()), ..patient() };
    let url = server.at("/project.git");
    let body = fetched(settings, "", &url, &repository.first, "deploy/other.yaml").unwrap();
    assert_eq!(body, b"kind: B\n");
    let error = fetched(patient(), "", &url, &repository.first, "deploy/other.yaml").unwrap_err();
    assert!(error.contains("the server's certificate is not trusted"), "{error}");
}

#[test]
fn git_is_ended_at_the_deadline_with_all_that_it_started() {
    if !present(&["git"]) {
        return;
    }
    let repository = Repository::new();
    let inner = repository.backend();
    let server = Server::start(move |asked, out| {
        if asked.method == "GET" {
            return inner(asked, out);
        }
        std::thread::sleep(Duration::from_secs(6));
        Ok(())
    });
    let settings = Settings { timeout: Duration::from_secs(2), ..quick() };
    let before = Instant::now();
    let url = server.at("/project.git");
    let error = fetched(settings, "", &url, &repository.first, "deploy/other.yaml").unwrap_err();
    assert_eq!(error, format!("{url}: git fetch was not done in 2 s, and was ended"));
    assert!(before.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_file_over_the_limit_is_refused() {
    if !present(&["git"]) {
        return;
    }
    let repository = Repository::new();
    let server = Server::start(repository.backend());
    let url = server.at("/project.git");
    let settings = Settings { max_bytes: 4, ..patient() };
    // What git says of the commit is over the limit already.
    let error = fetched(settings, "", &url, &repository.first, "deploy/other.yaml").unwrap_err();
    assert_eq!(error, format!("{url}: git cat-file gave more than 4 bytes, and was ended"));
}

#[test]
fn git_writes_no_more_to_the_disk_than_the_limit() {
    if !present(&["git"]) {
        return;
    }
    let repository = Repository::new();
    let server = Server::start(repository.backend());
    let url = server.at("/project.git");
    let with =
        |git_disk: u64| fetched(Settings { git_disk, ..patient() }, "", &url, &repository.first, "deploy/other.yaml");
    assert_eq!(Settings::default().git_disk, MAX_DISK);
    assert_eq!(with(64 * 1024), Ok(b"kind: B\n".to_vec()));
    assert_eq!(with(300), Err(format!("{url}: git fetch wrote more than 300 bytes to the disk, and was ended")));
}

#[test]
fn git_is_ended_while_it_writes_more_to_the_disk_than_the_limit() {
    if !present(&["git"]) {
        return;
    }
    let repository = Repository::new();
    let inner = repository.backend();
    let server = Server::start(move |asked, out| {
        if asked.method == "GET" {
            return inner(asked, out);
        }
        let mut whole = Vec::new();
        inner(asked, &mut whole)?;
        let is_pack = whole.windows(4).any(|at| at == b"PACK");
        let held_back = if is_pack { 8 } else { 0 };
        out.write_all(&whole[..whole.len() - held_back])?;
        out.flush()?;
        std::thread::sleep(Duration::from_secs(if is_pack { 8 } else { 0 }));
        Ok(())
    });
    let url = server.at("/project.git");
    let settings = Settings { git_disk: 300, ..patient() };
    let before = Instant::now();
    let error = fetched(settings, "", &url, &repository.first, "deploy/other.yaml").unwrap_err();
    assert_eq!(error, format!("{url}: git fetch wrote more than 300 bytes to the disk, and was ended"));
    assert!(before.elapsed() < Duration::from_secs(7), "{:?}", before.elapsed());
}

#[test]
fn nothing_of_anyones_configuration_reaches_git() {
    if !present(&["git"]) {
        return;
    }
    let repository = Repository::new();
    let server = Server::start(repository.backend());
    // A program called git that tells its environment and arguments, then does its work.
    let folder = tempfile::tempdir().unwrap();
    let real = which("git");
    let told = folder.path().join("told");
    let script = format!(
        "#!/bin/sh\n{{ env; echo \"arguments: $*\"; }} >>'{}'\nexec '{}' \"$@\"\n",
        told.display(),
        real.display()
    );
    let fake = folder.path().join("git");
    std::fs::write(&fake, script).unwrap();
    std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths(std::iter::once(folder.path().to_owned()).chain(std::env::split_paths(&path)));
    let environment = Environment {
        path: Some(path.unwrap()),
        netrc: Netrc::parse("machine 127.0.0.1 login me password s3cret"),
        ..Environment::default()
    };
    let http = Http::new(patient()).unwrap();
    let url = server.at("/project.git");
    let wanted = Wanted { url: &url, commit: &repository.first, path: "deploy/other.yaml" };
    assert_eq!(file(&http, &environment, wanted).unwrap(), b"kind: B\n");
    let told = std::fs::read_to_string(told).unwrap();
    for line in ["GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0"] {
        assert!(told.contains(line), "{line} is missing in {told}");
    }
    assert!(!told.contains("CARGO"), "the environment was passed on: {told}");
    let arguments: Vec<&str> = told.lines().filter(|line| line.starts_with("arguments:")).collect();
    assert!(!arguments.is_empty());
    assert!(arguments.iter().all(|line| !line.contains("bWU6")), "others can see arguments: {arguments:?}");
    assert!(arguments.iter().all(|line| line.contains("protocol.allow=never")), "{arguments:?}");
}

fn which(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file()).unwrap()
}

#[test]
fn a_missing_git_is_told() {
    if !present(&["git"]) {
        return;
    }
    let repository = Repository::new();
    let server = Server::start(repository.backend());
    let folder = tempfile::tempdir().unwrap();
    let environment = Environment { path: Some(folder.path().into()), ..Environment::default() };
    let http = Http::new(quick()).unwrap();
    let url = server.at("/project.git");
    let wanted = Wanted { url: &url, commit: &repository.first, path: "a" };
    let error = file(&http, &environment, wanted).unwrap_err().to_string();
    assert!(error.starts_with("the source is a git repository, and `git` cannot be run: "), "{error}");
}
