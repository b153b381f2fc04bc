//! `overlay vendor` over the network: every kind of source, every fault of a server, and who is told which secret.

use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::git::{self, FIRST, Repository, SECOND};
use crate::peers::present;
use crate::project::{Project, Ran};
use crate::server::{Asked, Authority, Server, reply};

const MANIFEST: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a # ours\n";

/// A `base.yaml` with that source.
pub(crate) fn base(source: &str) -> String {
    format!("apiVersion: overlay/v1\nkind: Base\nname: b\nsource: {source}\n")
}

fn github(commit: &str) -> String {
    base(&format!("{{github: {{repository: o/r, commit: {commit}, path: deploy/m.yaml}}}}"))
}

pub(crate) fn one_base(text: &str) -> Project {
    Project::new([("b/base.yaml", text)])
}

/// The program, with PATH for git and without anyone's configuration.
fn command(project: &Project, arguments: &[&str]) -> Command {
    let mut command = project.command(arguments);
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command
}

pub(crate) fn run(project: &Project, arguments: &[&str]) -> Ran {
    Ran::of(command(project, arguments).output().unwrap())
}

pub(crate) fn read(project: &Project, path: &str) -> String {
    std::fs::read_to_string(project.path(path)).unwrap()
}

/// A mirror of all of GitHub's hosts on that server.
pub(crate) fn mirrors(server: &Server) -> [String; 4] {
    let to = |host: &str| format!("https://{host}={}", server.at(&format!("/{host}")));
    ["--mirror".into(), to("raw.githubusercontent.com"), "--mirror".into(), to("github.com")]
}

/// Vendors `b` from mirrors on the server.
fn vendor(project: &Project, server: &Server, more: &[&str]) -> Ran {
    let mirrors = mirrors(server);
    let arguments: Vec<&str> = ["vendor", "b"].into_iter().chain(mirrors.iter().map(String::as_str)).collect();
    run(project, &[&arguments, more].concat())
}

#[test]
fn a_file_of_github_is_fetched_by_its_commit_and_locked_under_its_own_address() {
    if !present(&["openssl"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server =
        Server::start_tls(&Authority::new(folder.path()), |_, out| reply(out, "200 OK", "", MANIFEST.as_bytes()));
    let commit = "5".repeat(40);
    let project = one_base(&github(&commit));
    let ca = folder.path().join("ca.pem").to_str().unwrap().to_owned();

    let ran = vendor(&project, &server, &[]);
    assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("the server's certificate is not trusted"), "{}", ran.stderr);
    assert!(ran.stderr.contains("name its certificate with --ca-file"), "{}", ran.stderr);
    assert_eq!(server.seen().len(), 0);

    let ran = vendor(&project, &server, &["--ca-file", &ca]);
    let size = MANIFEST.len();
    let wrote = format!("wrote b/m.yaml (1 document, {size} bytes)\nwrote b/base.lock (the hashes of the base)\n");
    assert_eq!((ran.exit, ran.stdout.as_str(), ran.stderr), (Some(0), "", wrote));
    assert_eq!(read(&project, "b/m.yaml"), MANIFEST);
    let address = format!("https://raw.githubusercontent.com/o/r/{commit}/deploy/m.yaml");
    assert!(read(&project, "b/base.lock").contains(&format!("address: {address}\n")));
    assert_eq!(server.seen()[0].target, format!("/raw.githubusercontent.com/o/r/{commit}/deploy/m.yaml"));

    let before = project.files();
    let ran = vendor(&project, &server, &["--ca-file", &ca, "--check"]);
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), "b is as locked\n"));
    project.write("b/m.yaml", &MANIFEST.replace("ours", "mine"));
    let ran = vendor(&project, &server, &["--ca-file", &ca, "--check"]);
    assert_eq!((ran.exit, ran.stderr), (Some(1), format!("would write b/m.yaml (1 document, {size} bytes)\n")));
    assert_eq!(read(&project, "b/m.yaml"), MANIFEST.replace("ours", "mine"));
    let ran = vendor(&project, &server, &["--ca-file", &ca]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert_eq!(project.files(), before);
}

#[test]
fn every_kind_of_source_is_fetched_in_one_run() {
    if !present(&["git"]) {
        return;
    }
    let repository = Repository::new();
    let commit = repository.first.clone();
    let backend = repository.backend();
    let server = Server::start(move |asked, out| match asked.path() {
        "/github.com/o/r/releases/download/v1.2/install.yaml" => {
            reply(out, "302 Found", "Location: /storage?signature=secret\r\n", b"")
        }
        path if path.starts_with("/project.git/") => backend(asked, out),
        path => reply(out, "200 OK", "", format!("{MANIFEST}# {path}\n").as_bytes()),
    });
    let at = |path: &str| server.at(path);
    let paths = format!(
        "{{github: {{repository: o/r, commit: {}, paths: [a/one.yaml, {{path: b/one.yaml, as: two.yaml}}]}}}}",
        "5".repeat(40)
    );
    let urls = format!("{{url: ['{}', {{url: '{}', as: d.yaml}}]}}", at("/c.yaml"), at("/e?f"));
    let git = format!("{{git: {{url: '{}', commit: {commit}, path: 'deploy/manifest.yaml'}}}}", at("/project.git"));
    let project = Project::new([
        ("bases/paths/base.yaml", base(&paths).as_str()),
        ("bases/release/base.yaml", &base("{github: {repository: o/r, release: v1.2, asset: install.yaml}}")),
        ("bases/urls/base.yaml", &base(&urls)),
        ("bases/git/base.yaml", &base(&git)),
        ("bases/file/base.yaml", &base("{file: ../../up/m.yaml}")),
        ("up/m.yaml", MANIFEST),
    ]);
    let mirrors = mirrors(&server);
    let arguments: Vec<&str> = ["vendor"].into_iter().chain(mirrors.iter().map(String::as_str)).collect();
    let ran = run(&project, &arguments);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let raw = format!("/raw.githubusercontent.com/o/r/{}", "5".repeat(40));
    for (file, expected) in [
        ("paths/one.yaml", format!("{MANIFEST}# {raw}/a/one.yaml\n")),
        ("paths/two.yaml", format!("{MANIFEST}# {raw}/b/one.yaml\n")),
        ("release/install.yaml", format!("{MANIFEST}# /storage\n")),
        ("urls/c.yaml", format!("{MANIFEST}# /c.yaml\n")),
        ("urls/d.yaml", format!("{MANIFEST}# /e\n")),
        ("git/manifest.yaml", FIRST.to_owned()),
        ("file/m.yaml", MANIFEST.to_owned()),
    ] {
        assert_eq!(read(&project, &format!("bases/{file}")), expected, "{file}");
    }
    let lock = read(&project, "bases/git/base.lock");
    assert!(lock.contains("#deploy/manifest.yaml") && lock.contains(&commit), "{lock}");
    // Where the storage was is nobody's business.
    let release = read(&project, "bases/release/base.lock");
    assert!(release.contains("https://github.com/o/r/releases/download/v1.2/install.yaml"), "{release}");
    assert!(!release.contains("secret"), "{release}");
    let before = project.files();
    let ran = run(&project, &[&arguments[..], &["--check"]].concat());
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert_eq!(project.files(), before);
}

#[test]
fn a_base_is_begun_from_the_address_of_a_branch_and_pinned_to_its_commit() {
    if !present(&["git"]) {
        return;
    }
    let repository = Repository::new();
    let server = Server::start(git::github(&repository));
    let project = Project::new([]);
    let mirrors = mirrors(&server);
    let mirrors: Vec<&str> = mirrors.iter().map(String::as_str).collect();
    let init = |name: &str, branch: &str| {
        let address = format!("https://github.com/o/r/blob/{branch}/deploy/manifest.yaml");
        run(&project, &[&["init", name, &address][..], &mirrors].concat())
    };
    let ran = init("net", "next");
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let text = read(&project, "base/net/base.yaml");
    let commit = &repository.second;
    let source = format!("    repository: o/r\n    ref: next\n    commit: {commit}\n    path: deploy/manifest.yaml\n");
    assert!(text.replace('"', "").ends_with(&source), "{text}");
    assert_eq!(read(&project, "base/net/manifest.yaml"), SECOND);
    let ran = run(&project, &[&["vendor", "--check"][..], &mirrors].concat());
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), "base/net is as locked\n"));
    let ran = run(&project, &[&["update", "base/net"][..], &mirrors].concat());
    assert!(ran.stdout.starts_with(&format!("net  base/net\n  {commit} as pinned (next)\n")), "{}", ran.stdout);

    let before = project.files();
    let ran = init("other", "nxt");
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("has no branch or tag `nxt`; did you mean `next`?"), "{}", ran.stderr);
    assert_eq!(project.files(), before);
}

#[test]
fn several_files_are_fetched_at_once_and_locked_in_their_order() {
    const FILES: usize = 12;
    let open = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let counted = Arc::clone(&open);
    let server = Server::start(move |asked, out| {
        let (now, most) = &*counted;
        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        // The later a file is asked for, the sooner it comes.
        let number: u64 = asked.path().trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap();
        std::thread::sleep(Duration::from_millis(400 - number * 30));
        now.fetch_sub(1, Ordering::SeqCst);
        reply(out, "200 OK", "", MANIFEST.replace("name: a", &format!("name: n{number}")).as_bytes())
    });
    let urls: Vec<String> = (0..FILES).map(|n| format!("'{}'", server.at(&format!("/{n}.yaml")))).collect();
    let project = one_base(&base(&format!("{{url: [{}]}}", urls.join(", "))));
    let ran = run(&project, &["vendor", "b"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    for number in 0..FILES {
        assert!(read(&project, &format!("b/{number}.yaml")).contains(&format!("name: n{number} ")));
    }
    let lock = read(&project, "b/base.lock");
    let at = |number: usize| lock.find(&format!("/{number}.yaml")).unwrap();
    assert!((1..FILES).all(|number| at(number - 1) < at(number)), "{lock}");
    assert_eq!(open.1.load(Ordering::SeqCst), 6, "as many as there are to be, and no more");
}

#[test]
fn a_terminal_is_told_how_far_fetching_has_come_and_nothing_else_is() {
    if !present(&["script"]) {
        return;
    }
    let server = Server::start(|_, out| {
        write!(out, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", MANIFEST.len())?;
        let (start, rest) = MANIFEST.split_at(10);
        out.write_all(start.as_bytes())?;
        out.flush()?;
        std::thread::sleep(Duration::from_millis(300));
        out.write_all(rest.as_bytes())
    });
    let project = one_base(&base(&format!("{{url: '{}'}}", server.at("/m.yaml"))));
    let ran = run(&project, &["vendor", "b"]);
    assert!(!ran.stderr.contains("fetching") && !ran.stderr.contains('\r'), "{:?}", ran.stderr);
    let program = format!("{} vendor b --check", env!("CARGO_BIN_EXE_overlay"));
    let mut script = Command::new("script");
    script.args(["-qec", &program, "/dev/null"]).current_dir(project.path("")).stdin(Stdio::null());
    let ran = Ran::of(script.output().unwrap());
    assert_eq!(ran.exit, Some(0), "{}", ran.stdout);
    assert!(ran.stdout.contains(&format!("\r\x1b[Kfetching 1 file: 10 B of {} B", MANIFEST.len())), "{:?}", ran.stdout);
    assert!(ran.stdout.ends_with("\r\x1b[Kb is as locked\r\n"), "{:?}", ran.stdout);
}

#[test]
fn one_file_that_cannot_be_had_keeps_every_base_as_it_was() {
    let server = Server::start(|asked, out| match asked.path() {
        "/gone.yaml" => reply(out, "404 Not Found", "", b"404"),
        _ => reply(out, "200 OK", "", MANIFEST.as_bytes()),
    });
    let project = Project::new([
        ("a/base.yaml", base(&format!("{{url: '{}'}}", server.at("/a.yaml"))).as_str()),
        ("c/base.yaml", &base(&format!("{{url: ['{}', '{}']}}", server.at("/b.yaml"), server.at("/gone.yaml")))),
    ]);
    let before = project.files();
    let ran = run(&project, &["vendor"]);
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
    let gone = format!(
        "error[upstream-gone]: {}: the server answered 404 Not Found\n --> c/base.yaml:4:",
        server.at("/gone.yaml")
    );
    assert!(ran.stderr.starts_with(&gone), "{}", ran.stderr);
    assert_eq!(project.files(), before);
}

type Answer = fn(&Asked, &mut dyn Write) -> io::Result<()>;

/// What a server does wrong, and how that is told.
const FAULTS: [(&str, Answer, i32, &str, &str); 17] = [
    (
        "a web page",
        |_, out| reply(out, "200 OK", "Content-Type: text/html\r\n", b"<!doctype html>\n<title>Log in</title>"),
        1,
        "error[syntax]: ADDRESS is no manifest: it is a web page with the title \"Log in\"",
        "",
    ),
    (
        "a 404 text",
        |_, out| reply(out, "200 OK", "", b"404: Not Found"),
        1,
        "error[syntax]: ADDRESS is no manifest: it is a text without any \"kind\", which begins \"404: Not Found\"",
        "",
    ),
    (
        "a Git LFS pointer",
        |_, out| reply(out, "200 OK", "", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 77\n"),
        1,
        "error[syntax]: ADDRESS is no manifest: it is a Git LFS pointer, not the file of 77 bytes that it stands for",
        "",
    ),
    ("nothing", |_, out| reply(out, "200 OK", "", b""), 1, "error[syntax]: ADDRESS is no manifest: it is empty", ""),
    (
        "a 404",
        |_, out| reply(out, "404 Not Found", "", b"404: Not Found"),
        1,
        "error[upstream-gone]: ADDRESS: the server answered 404 Not Found",
        "Check the names in base.yaml.",
    ),
    (
        "a log-in",
        |_, out| reply(out, "401 Unauthorized", "", b""),
        2,
        "error[upstream-unreachable]: ADDRESS: the server answered 401 Unauthorized; there is no credential for 127.0.0.1",
        "Put a log-in for this host into ~/.netrc",
    ),
    (
        "a 500 for ever",
        |_, out| reply(out, "500 Internal Server Error", "", b""),
        2,
        "error[upstream-unreachable]: ADDRESS: the server answered 500 Internal Server Error",
        "Try again later.",
    ),
    (
        "too many requests for an hour",
        |_, out| reply(out, "429 Too Many Requests", "Retry-After: 3600\r\n", b""),
        2,
        "error[upstream-unreachable]: ADDRESS: the server answered 429 Too Many Requests; it asks to wait 3600 s",
        "Try again later.",
    ),
    (
        "a body that is cut off",
        |_, out| write!(out, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{MANIFEST}"),
        2,
        "error[upstream-unreachable]: ADDRESS: the answer broke off after 58 of 1000 bytes: ",
        "Try again later.",
    ),
    (
        "a body in pieces that is cut off",
        |_, out| write!(out, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3a\r\n{MANIFEST}\r\n"),
        2,
        "error[upstream-unreachable]: ADDRESS: the answer broke off after 58 bytes: ",
        "Try again later.",
    ),
    (
        "a length that is too short",
        |_, out| write!(out, "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{MANIFEST}"),
        1,
        "error[syntax]: ADDRESS is no manifest: no document has apiVersion and kind",
        "",
    ),
    (
        "a length that is none",
        |_, out| write!(out, "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n{MANIFEST}"),
        2,
        "error[upstream-unreachable]: ADDRESS: no answer: ",
        "Try again later.",
    ),
    (
        "a body that stands still",
        |_, out| {
            write!(out, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{MANIFEST}")?;
            out.flush()?;
            std::thread::sleep(Duration::from_secs(5));
            Ok(())
        },
        2,
        "error[upstream-unreachable]: ADDRESS: the answer broke off after 58 of 1000 bytes: not complete in 2 s",
        "Try again later.",
    ),
    (
        "a body that trickles",
        |_, out| {
            write!(out, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")?;
            (0..50).try_for_each(|_| {
                std::thread::sleep(Duration::from_millis(100));
                out.write_all(b"#").and_then(|()| out.flush())
            })
        },
        2,
        "error[upstream-unreachable]: ADDRESS: the answer broke off after ",
        "Try again later.",
    ),
    (
        "a body of 200 MB",
        |_, out| {
            write!(out, "HTTP/1.1 200 OK\r\nContent-Length: 200000000\r\n\r\n")?;
            let piece = vec![b'#'; 1_000_000];
            (0..200).try_for_each(|_| out.write_all(&piece))
        },
        2,
        "error[upstream-unreachable]: ADDRESS: the answer is larger than 64 MiB, the most that is read",
        "Is this the address of a manifest?",
    ),
    (
        "a redirect in a circle",
        |_, out| reply(out, "302 Found", "Location: /m.yaml\r\n", b""),
        2,
        "error[upstream-unreachable]: ADDRESS: more than 8 redirects",
        "Name the address where the file is, with https.",
    ),
    (
        "a redirect to http",
        |_, out| reply(out, "302 Found", "Location: http://example.org/m.yaml\r\n", b""),
        2,
        "error[upstream-unreachable]: ADDRESS: a redirect to http://example.org/m.yaml: only https is fetched (http is for this machine alone)",
        "Name the address where the file is, with https.",
    ),
];

#[test]
fn each_fault_of_a_server_is_told_and_leaves_base_and_lock_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let authority = present(&["openssl"]).then(|| Authority::new(folder.path()));
    let ca = folder.path().join("ca.pem").to_str().unwrap().to_owned();
    let check = |(what, answer, exit, message, help): (&str, Answer, i32, &str, &str),
                 authority: Option<&Authority>| {
        let server = match authority {
            Some(authority) => Server::start_tls(authority, answer),
            None => Server::start(answer),
        };
        let trusted = if authority.is_some() { vec!["--ca-file", &ca] } else { Vec::new() };
        // Short where that is waited for; a busy machine takes its time over the others.
        let seconds = if ["a body that stands still", "a body that trickles"].contains(&what) { "2" } else { "25" };
        // The one fault that is another one by TLS.
        let message = match message.split_once(": a redirect to http:") {
            Some((start, _)) if authority.is_some() => {
                format!("{start}: a redirect from https to http://example.org/m.yaml\n")
            }
            _ => message.to_owned(),
        };
        let address = server.at("/m.yaml");
        let source = format!("{{url: '{address}'}}");
        let project = Project::new([("new/base.yaml", base(&source).as_str()), ("old/base.yaml", &base(&source))]);
        project.write("m.yaml", MANIFEST);
        project.output(&["vendor", "old", "--from", "m.yaml"]);
        let before = project.files();
        for folder in ["new", "old"] {
            let started = Instant::now();
            let ran = run(&project, &[&["vendor", folder, "--timeout", seconds], &trusted[..]].concat());
            assert!(started.elapsed() < Duration::from_secs(30), "{what}: {:?}", started.elapsed());
            assert_eq!(ran.exit, Some(exit), "{what}: {}", ran.stderr);
            assert!(ran.stderr.starts_with(&message.replace("ADDRESS", &address)), "{what}: {}", ran.stderr);
            assert!(ran.stderr.contains(&format!(" --> {folder}/base.yaml:4:")), "{what}: {}", ran.stderr);
            assert!(ran.stderr.contains(help), "{what}: {}", ran.stderr);
            assert_eq!(ran.stdout, "");
            assert_eq!(project.files(), before, "{what}");
        }
    };
    // Most of them wait; together they take as long as the slowest.
    std::thread::scope(|scope| {
        for fault in FAULTS {
            let (check, authority) = (&check, authority.as_ref());
            scope.spawn(move || check(fault, None));
            if authority.is_some() {
                scope.spawn(move || check(fault, authority));
            }
        }
    });
}

#[test]
fn a_server_that_recovers_is_asked_again_and_no_sooner_than_it_says() {
    let count = AtomicUsize::new(0);
    let server = Server::start(move |_, out| match count.fetch_add(1, Ordering::SeqCst) {
        0 => reply(out, "503 Service Unavailable", "", b""),
        1 => reply(out, "429 Too Many Requests", "Retry-After: 1\r\n", b""),
        2 => {
            let dates = "Date: Wed, 02 Dec 2026 09:59:58 GMT\r\nRetry-After: Wed, 02 Dec 2026 10:00:00 GMT\r\n";
            reply(out, "429 Too Many Requests", dates, b"")
        }
        _ => reply(out, "200 OK", "", MANIFEST.as_bytes()),
    });
    let project = one_base(&base(&format!("{{url: '{}'}}", server.at("/m.yaml"))));
    let started = Instant::now();
    let ran = run(&project, &["vendor", "b"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(started.elapsed() >= Duration::from_secs(3));
    assert_eq!(server.seen().len(), 4);
    assert_eq!(read(&project, "b/m.yaml"), MANIFEST);
}

#[test]
fn other_bytes_at_a_pinned_commit_are_an_error_that_writes_nothing() {
    let count = AtomicUsize::new(0);
    let server = Server::start(move |_, out| {
        let text = if count.fetch_add(1, Ordering::SeqCst) == 0 {
            MANIFEST.to_owned()
        } else {
            MANIFEST.replace("ours", "mine")
        };
        reply(out, "200 OK", "", text.as_bytes())
    });
    let commit = "5".repeat(40);
    let project = one_base(&github(&commit));
    assert_eq!(vendor(&project, &server, &[]).exit, Some(0));
    let before = project.files();
    for more in [&[][..], &["--check"], &["--accept-layout"]] {
        let ran = vendor(&project, &server, more);
        assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
        let address = format!("https://raw.githubusercontent.com/o/r/{commit}/deploy/m.yaml");
        let message =
            format!("error[upstream-changed]: {address} has other bytes than the lock records\n --> b/base.yaml:4:");
        assert!(ran.stderr.starts_with(&message), "{}", ran.stderr);
        assert!(ran.stderr.contains("Nothing was written."), "{}", ran.stderr);
        assert_eq!(project.files(), before);
    }
}

#[test]
fn a_base_that_only_follows_a_branch_is_pinned_to_its_commit() {
    if !present(&["git"]) {
        return;
    }
    let repository = Repository::new();
    let second = repository.second.clone();
    let server = Server::start(git::github(&repository));
    let text = base("{github: {repository: o/r, ref: next, path: deploy/manifest.yaml}} # follows");
    let project = one_base(&text);
    let ran = vendor(&project, &server, &["--check"]);
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("would write b/base.yaml (commit {second})\n")), "{}", ran.stderr);
    assert_eq!(read(&project, "b/base.yaml"), text);
    let ran = vendor(&project, &server, &[]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let pinned = text.replace("deploy/manifest.yaml", &format!("deploy/manifest.yaml, commit: {second}"));
    assert_eq!(read(&project, "b/base.yaml"), pinned);
    assert_eq!(read(&project, "b/manifest.yaml"), SECOND);
    assert!(read(&project, "b/base.lock").contains(&second));

    project.write("b/base.yaml", &text.replace("next", "nxet"));
    let before = project.files();
    let ran = vendor(&project, &server, &[]);
    assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
    let message = format!(
        "error[upstream-gone]: {} has no branch or tag `nxet`; did you mean `next`?\n --> b/base.yaml:4:41\n",
        server.at("/github.com/o/r.git")
    );
    assert!(ran.stderr.starts_with(&message), "{}", ran.stderr);
    assert_eq!(project.files(), before);
}

#[test]
fn a_secret_goes_to_its_own_host_and_is_never_printed() {
    let server = Server::start(|asked, out| match asked.path() {
        "/open.yaml" => reply(out, "200 OK", "", MANIFEST.as_bytes()),
        _ => reply(out, "403 Forbidden", "", asked.header("authorization").unwrap_or("none").as_bytes()),
    });
    let url = |path: &str| base(&format!("{{url: '{}'}}", server.at(path)));
    let project = Project::new([
        ("b/base.yaml", github(&"5".repeat(40)).as_str()),
        ("open/base.yaml", &url("/open.yaml")),
        ("closed/base.yaml", &url("/closed.yaml")),
        ("home/.netrc", "machine 127.0.0.1 login me password s3cret\n"),
    ]);
    let home = project.path("home");
    let ask = |arguments: &[&str]| {
        let mut command = command(&project, arguments);
        command.env("HOME", &home).env("GITHUB_TOKEN", "t0ken");
        Ran::of(command.output().unwrap())
    };
    assert_eq!(ask(&["vendor", "open"]).exit, Some(0));
    let ran = ask(&["vendor", "closed"]);
    assert_eq!(ran.exit, Some(2));
    let message = "the server answered 403 Forbidden to the credential from ~/.netrc";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    // A mirror is not GitHub: it is told no token, but what ~/.netrc has for its own host.
    let mirrors = mirrors(&server);
    let ran = ask(&["vendor", "b", &mirrors[0], &mirrors[1]]);
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    let basic = Some("Basic bWU6czNjcmV0");
    assert!(server.seen().iter().all(|asked| asked.header("authorization") == basic));
    for text in [&ran.stderr, &ran.stdout] {
        assert!(!text.contains("t0ken") && !text.contains("s3cret") && !text.contains("bWU6"), "{text}");
    }
    let files = project.files();
    let locks: Vec<_> = files.iter().filter(|(path, _)| path.ends_with("base.lock")).collect();
    assert_eq!(locks.len(), 1);
    assert!(!String::from_utf8_lossy(&locks[0].1).contains("s3cret"));
}

#[test]
fn the_proxy_of_the_environment_is_asked_and_its_password_is_not_printed() {
    let proxy = Server::start(|_, out| reply(out, "403 Forbidden", "", b""));
    let project = one_base(&base("{url: 'https://manifests.example/m.yaml'}"));
    let mut command = command(&project, &["vendor", "b", "--timeout", "1"]);
    let ran = Ran::of(command.env("https_proxy", format!("http://me:s3cret@{}", proxy.host())).output().unwrap());
    assert_eq!(ran.exit, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr.starts_with("error[upstream-unreachable]: https://manifests.example/m.yaml: no answer: "),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("s3cret"), "{}", ran.stderr);
    let seen = proxy.seen();
    assert_eq!((seen[0].method.as_str(), seen[0].target.as_str()), ("CONNECT", "manifests.example:443"));
}

#[test]
fn a_configuration_names_mirrors_and_authorities_for_every_run() {
    if !present(&["openssl"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server =
        Server::start_tls(&Authority::new(folder.path()), |_, out| reply(out, "200 OK", "", MANIFEST.as_bytes()));
    let project = one_base(&github(&"5".repeat(40)));
    std::fs::create_dir_all(project.path("home/.config/overlay")).unwrap();
    std::fs::copy(folder.path().join("ca.pem"), project.path("home/.config/overlay/ca.pem")).unwrap();
    let config = format!(
        "apiVersion: overlay/v1\nkind: Config\nmirrors:\n  - from: https://raw.githubusercontent.com\n    to: {}\ncaFile: ca.pem\n",
        server.at("/m")
    );
    project.write("home/.config/overlay/config.yaml", &config);
    let mut command = command(&project, &["vendor", "b"]);
    let ran = Ran::of(command.env("HOME", project.path("home")).output().unwrap());
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert_eq!(read(&project, "b/m.yaml"), MANIFEST);

    project.write("other.yaml", &config.replace("caFile", "cafile"));
    let ran = run(&project, &["vendor", "b", "--config", "other.yaml"]);
    assert_eq!(ran.exit, Some(1));
    assert!(ran.stderr.contains("error[unknown-key]: the kind Config has no key `cafile`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("did you mean `caFile`?"), "{}", ran.stderr);
    let ran = run(&project, &["vendor", "b", "--config", "none.yaml"]);
    assert_eq!((ran.exit, ran.stderr.lines().next()), (Some(2), Some("error: none.yaml: no such file or folder")));
}

#[test]
fn a_run_that_is_killed_leaves_the_old_state_or_one_that_the_next_run_completes() {
    const FILES: usize = 40;
    let (changed, down) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (is_changed, is_down) = (Arc::clone(&changed), Arc::clone(&down));
    let server = Server::start(move |_, out| {
        let text =
            if is_changed.load(Ordering::SeqCst) { MANIFEST.replace("ours", "new") } else { MANIFEST.to_owned() };
        let status = if is_down.load(Ordering::SeqCst) { "403 Forbidden" } else { "200 OK" };
        reply(out, status, "", text.as_bytes())
    });
    let urls: Vec<String> = (0..FILES).map(|n| format!("'{}'", server.at(&format!("/{n}.yaml")))).collect();
    let project = one_base(&base(&format!("{{url: [{}]}}", urls.join(", "))));
    assert_eq!(run(&project, &["vendor", "b"]).exit, Some(0));
    let old = project.files();
    changed.store(true, Ordering::SeqCst);
    let model = one_base(&read(&project, "b/base.yaml"));
    assert_eq!(run(&model, &["vendor", "b"]).exit, Some(0));
    let new: Vec<Vec<u8>> = model.files().into_iter().map(|(_, bytes)| bytes).collect();

    // Killed as soon as the journal shows, a run is between its first rename and its last one, mostly.
    let journal = project.path("b/.overlay-journal");
    let mut cut_off = 0;
    for _ in 0..20 {
        if cut_off == 2 {
            break;
        }
        let mut child = command(&project, &["vendor", "b", "--accept-changes"]).stderr(Stdio::null()).spawn().unwrap();
        while !journal.exists() && child.try_wait().unwrap().is_none() {}
        child.kill().unwrap();
        child.wait().unwrap();
        if journal.exists() {
            cut_off += 1;
            let ran = run(&project, &["vendor", "b", "--check"]);
            assert_eq!(ran.exit, Some(1), "{}", ran.stderr);
            assert!(ran.stderr.starts_with("error[base-half-written]: b is half-written"), "{}", ran.stderr);
            // Completing takes nothing from the network.
            down.store(true, Ordering::SeqCst);
            let ran = run(&project, &["vendor", "b"]);
            assert!(ran.stderr.starts_with("completed what was cut off in b\n"), "{}", ran.stderr);
            down.store(false, Ordering::SeqCst);
        }
        let bytes: Vec<Vec<u8>> = project.files().into_iter().map(|(_, bytes)| bytes).collect();
        assert_eq!(bytes, new);
        assert_eq!(run(&project, &["vendor", "b", "--check"]).exit, Some(0));
        for (path, bytes) in &old {
            std::fs::write(path, bytes).unwrap();
        }
    }
    assert!(cut_off > 0, "no run was killed in the middle");

    // Killed while it fetches, it has changed nothing.
    let mut child = command(&project, &["vendor", "b", "--accept-changes"]).stderr(Stdio::null()).spawn().unwrap();
    let asked = server.seen().len();
    while server.seen().len() == asked {}
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(project.files(), old);
}
