//! Entity tags: when a file is asked for by what its server called it, what a 304 is taken for, and what no tag may do.

use std::io::Write;
use std::sync::{Arc, Mutex};

use crate::peers::present;
use crate::project::{Project, Ran};
use crate::server::{Asked, Authority, Server, reply};
use crate::vendor::{base, mirrors, one_base, read, run};

const MANIFEST: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a # ours\n";
const TWO: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: b\n";

/// What a server has: a body, and what it calls that.
#[derive(Clone)]
struct Has {
    body: String,
    tag: String,
}

/// A server whose body and tag can be changed; it answers 304 to who asks by the tag that it has.
struct Tagging {
    server: Server,
    has: Arc<Mutex<Has>>,
}

fn answer(has: &Mutex<Has>) -> impl Fn(&Asked, &mut dyn Write) -> std::io::Result<()> + use<'_> {
    move |asked, out| {
        let Has { body, tag } = has.lock().unwrap().clone();
        let header = format!("ETag: {tag}\r\n");
        match asked.header("if-none-match") {
            Some(asked) if asked == tag => reply(out, "304 Not Modified", &header, b""),
            _ => reply(out, "200 OK", &header, body.as_bytes()),
        }
    }
}

impl Tagging {
    fn new(body: &str, tag: &str) -> Tagging {
        let has = Arc::new(Mutex::new(Has { body: body.to_owned(), tag: tag.to_owned() }));
        let theirs = Arc::clone(&has);
        Tagging { server: Server::start(move |asked, out| answer(&theirs)(asked, out)), has }
    }

    fn set(&self, body: &str, tag: &str) {
        *self.has.lock().unwrap() = Has { body: body.to_owned(), tag: tag.to_owned() };
    }

    /// A project with a vendored base `b` of this server, with these further lines in its `base.yaml`.
    fn vendored(&self, rest: &str) -> Project {
        let project = one_base(&format!("{}{rest}", base(&format!("{{url: '{}'}}", self.server.at("/m.yaml")))));
        let ran = run(&project, &["vendor", "b"]);
        assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
        project
    }

    /// Runs the program, and gives what the server was asked by meanwhile.
    fn asked(&self, project: &Project, arguments: &[&str]) -> (Ran, Vec<Option<String>>) {
        let before = self.server.seen().len();
        let ran = run(project, arguments);
        let seen = self.server.seen();
        (ran, seen[before..].iter().map(|asked| asked.header("if-none-match").map(str::to_owned)).collect())
    }
}

fn tag(tag: &str) -> Vec<Option<String>> {
    vec![Some(tag.to_owned())]
}

const WHOLE: [Option<String>; 1] = [None];

fn as_locked(ran: &Ran) {
    assert_eq!((ran.exit, ran.stderr.as_str()), (Some(0), "b is as locked\n"));
}

#[test]
fn what_has_not_changed_is_not_fetched_again_over_tls() {
    if !present(&["openssl"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let has = Mutex::new(Has { body: MANIFEST.into(), tag: "\"one\"".into() });
    let server = Server::start_tls(&Authority::new(folder.path()), move |asked, out| answer(&has)(asked, out));
    let project = one_base(&base(&format!("{{url: '{}'}}", server.at("/m.yaml"))));
    let ca = folder.path().join("ca.pem").to_str().unwrap().to_owned();
    let ran = run(&project, &["vendor", "b", "--ca-file", &ca]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let before = project.files();
    as_locked(&run(&project, &["vendor", "b", "--ca-file", &ca]));
    let ran = run(&project, &["update", "b", "--check", "--ca-file", &ca]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("as locked"), "{}", ran.stdout);
    assert_eq!(project.files(), before);
    let asked: Vec<_> = server.seen().iter().map(|asked| asked.header("if-none-match").map(str::to_owned)).collect();
    assert_eq!(asked, [None, Some("\"one\"".into()), Some("\"one\"".into())]);
}

#[test]
fn a_weak_tag_is_kept_and_sent_as_it_is() {
    let upstream = Tagging::new(MANIFEST, "W/\"one\"");
    let project = upstream.vendored("");
    assert!(read(&project, "b/base.lock").contains("      etag: W/\"one\"\n"), "{}", read(&project, "b/base.lock"));
    let (ran, asked) = upstream.asked(&project, &["vendor", "b"]);
    as_locked(&ran);
    assert_eq!(asked, tag("W/\"one\""));
}

#[test]
fn what_proves_asks_for_whole_files() {
    let upstream = Tagging::new(MANIFEST, "\"one\"");
    let project = upstream.vendored("");
    project.write("x/overlay.yaml", "apiVersion: overlay/v1\nkind: Overlay\nname: x\nbases: [../b]\n");
    // A server that stands by its tag, whatever it has, is found out.
    upstream.set(&MANIFEST.replace("ours", "theirs"), "\"one\"");
    let (ran, asked) = upstream.asked(&project, &["vendor", "b"]);
    as_locked(&ran);
    assert_eq!(asked, tag("\"one\""));
    for (arguments, exit) in [(&["vendor", "b", "--check"][..], 1), (&["verify", "x", "--online", "--strict"], 1)] {
        let (ran, asked) = upstream.asked(&project, arguments);
        assert_eq!(asked, WHOLE, "{arguments:?}");
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert!(ran.exit == Some(exit) && told.contains("[upstream-changed]"), "{arguments:?}: {told}");
    }
}

#[test]
fn what_changed_under_another_tag_is_told_and_taken_in_with_its_tag() {
    let upstream = Tagging::new(MANIFEST, "\"one\"");
    let project = upstream.vendored("");
    let before = project.files();
    upstream.set(&MANIFEST.replace("name: a", "name: c"), "\"two\"");
    let (ran, asked) = upstream.asked(&project, &["vendor", "b"]);
    assert_eq!((ran.exit, asked), (Some(1), tag("\"one\"")));
    assert!(ran.stderr.starts_with("error[upstream-changed]: "), "{}", ran.stderr);
    assert_eq!(project.files(), before);

    let (ran, asked) = upstream.asked(&project, &["update", "b", "--write"]);
    assert_eq!((ran.exit, asked), (Some(0), tag("\"one\"")), "{}", ran.stderr);
    assert!(read(&project, "b/base.lock").contains("etag: \"\\\"two\\\"\""), "{}", read(&project, "b/base.lock"));
    let (ran, asked) = upstream.asked(&project, &["vendor", "b"]);
    as_locked(&ran);
    assert_eq!(asked, tag("\"two\""));
}

#[test]
fn no_lock_is_written_for_a_tag_alone() {
    let upstream = Tagging::new(MANIFEST, "\"one\"");
    let project = upstream.vendored("");
    let before = project.files();
    upstream.set(MANIFEST, "\"two\"");
    for arguments in [&["vendor", "b"][..], &["vendor", "b", "--check"], &["update", "b", "--write"]] {
        let ran = run(&project, arguments);
        assert_eq!(ran.exit, Some(0), "{arguments:?}: {}", ran.stderr);
        assert_eq!(project.files(), before, "{arguments:?}");
    }
    // A lock of before there were tags is as good, and stays.
    let lock = read(&project, "b/base.lock");
    let lock: String = lock.split_inclusive('\n').filter(|line| !line.contains("etag")).collect();
    project.write("b/base.lock", &lock);
    let (ran, asked) = upstream.asked(&project, &["vendor", "b"]);
    as_locked(&ran);
    assert_eq!(asked, WHOLE);
    assert_eq!(read(&project, "b/base.lock"), lock);
    // One that is written anyway takes the tag in; from a file comes none, and the one of the same bytes stays.
    project.write("b/base.yaml", &read(&project, "b/base.yaml").replace("/m.yaml'", "/n/m.yaml'"));
    assert_eq!(run(&project, &["vendor", "b"]).exit, Some(0));
    assert!(read(&project, "b/base.lock").contains("etag: \"\\\"two\\\"\""));
    let before = project.files();
    as_locked(&run(&project, &["vendor", "b", "--from", "b/m.yaml"]));
    assert_eq!(project.files(), before);
}

#[test]
fn only_upstreams_own_bytes_stand_for_an_answer() {
    let upstream = Tagging::new(TWO, "\"one\"");
    for rest in ["keep: [{kind: Secret}]\n", "keep: [{kind: ConfigMap}]\n"] {
        let project = upstream.vendored(rest);
        let (ran, asked) = upstream.asked(&project, &["vendor", "b"]);
        as_locked(&ran);
        assert_eq!(asked, WHOLE, "{rest}");
    }
    // What is left out is nothing, and so the bytes are upstream's.
    let project = upstream.vendored("keep: [{kind: Secret}, {kind: ConfigMap}]\n");
    assert_eq!(upstream.asked(&project, &["vendor", "b"]).1, tag("\"one\""));

    let project = upstream.vendored("");
    for edited in [TWO.replace("name: b", "name: c"), String::new()] {
        project.write("b/m.yaml", &edited);
        let (ran, asked) = upstream.asked(&project, &["vendor", "b"]);
        assert_eq!((ran.exit, asked), (Some(0), WHOLE.to_vec()), "{}", ran.stderr);
        assert_eq!(read(&project, "b/m.yaml"), TWO);
    }
    std::fs::remove_file(project.path("b/m.yaml")).unwrap();
    assert_eq!(upstream.asked(&project, &["vendor", "b"]).1, WHOLE);
    assert_eq!(read(&project, "b/m.yaml"), TWO);

    project.write("b/m.yaml", &TWO.replace("---\n", "---\n# ours\n"));
    assert_eq!(run(&project, &["vendor", "b", "--accept-layout"]).exit, Some(0));
    let (ran, asked) = upstream.asked(&project, &["vendor", "b"]);
    as_locked(&ran);
    assert_eq!(asked, WHOLE);
}

#[test]
fn one_file_of_several_is_asked_for_by_its_own_tag() {
    let server = Server::start(|asked, out| {
        let tag = format!("\"{}\"", asked.path());
        let header = format!("ETag: {tag}\r\n");
        match asked.header("if-none-match") {
            Some(asked) if asked == tag => reply(out, "304 Not Modified", &header, b""),
            _ => reply(
                out,
                "200 OK",
                &header,
                MANIFEST.replace("name: a", &format!("name: {}", &asked.path()[1..2])).as_bytes(),
            ),
        }
    });
    let project = one_base(&base(&format!("{{url: ['{}', '{}']}}", server.at("/x.yaml"), server.at("/y.yaml"))));
    assert_eq!(run(&project, &["vendor", "b"]).exit, Some(0));
    project.write("b/y.yaml", "edited");
    let before = server.seen().len();
    let ran = run(&project, &["vendor", "b"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr);
    let mut asked: Vec<_> = server.seen()[before..]
        .iter()
        .map(|a| (a.target.clone(), a.header("if-none-match").map(str::to_owned)))
        .collect();
    asked.sort();
    assert_eq!(asked, [("/x.yaml".to_owned(), Some("\"/x.yaml\"".to_owned())), ("/y.yaml".to_owned(), None)]);
    assert!(read(&project, "b/y.yaml").contains("name: y"));
}

#[test]
fn a_file_of_a_commit_is_asked_for_whole_and_behind_a_mirror_no_tag_is_kept() {
    let upstream = Tagging::new(MANIFEST, "\"one\"");
    let commit = "5".repeat(40);
    let mirrors = mirrors(&upstream.server);
    let mirrors: Vec<&str> = mirrors.iter().map(String::as_str).collect();
    for source in [
        format!("{{github: {{repository: o/r, commit: {commit}, path: deploy/m.yaml}}}}"),
        "{github: {repository: o/r, release: v1, asset: m.yaml}}".to_owned(),
    ] {
        let project = one_base(&base(&source));
        assert_eq!(run(&project, &[&["vendor", "b"][..], &mirrors].concat()).exit, Some(0));
        let lock = read(&project, "b/base.lock");
        assert!(!lock.contains("etag"), "{lock}");
        // Nor is one sent that someone wrote there.
        let blob = lock.lines().find(|line| line.contains("blob: ")).unwrap();
        project.write("b/base.lock", &lock.replace(blob, &format!("{blob}\n      etag: \"\\\"one\\\"\"")));
        let (ran, asked) = upstream.asked(&project, &[&["vendor", "b"][..], &mirrors].concat());
        as_locked(&ran);
        assert_eq!(asked, WHOLE, "{source}");
    }
}

#[test]
fn a_redirect_is_asked_where_it_led_to() {
    let server = Server::start(|asked, out| match (asked.path(), asked.header("if-none-match")) {
        ("/m.yaml", None) => reply(out, "302 Found", "Location: /store/1?signature=s3cret\r\n", b""),
        ("/store/1", Some("\"one\"")) => reply(out, "304 Not Modified", "", b""),
        ("/store/1", None) => reply(out, "200 OK", "ETag: \"one\"\r\n", MANIFEST.as_bytes()),
        _ => reply(out, "500 Internal Server Error", "", b""),
    });
    let project = one_base(&base(&format!("{{url: '{}'}}", server.at("/m.yaml"))));
    assert_eq!(run(&project, &["vendor", "b"]).exit, Some(0));
    let lock = read(&project, "b/base.lock");
    assert!(lock.contains("      etagFrom: "), "{lock}");
    assert!(!lock.contains("store") && !lock.contains("s3cret"), "{lock}");
    let before = server.seen().len();
    as_locked(&run(&project, &["vendor", "b"]));
    let asked: Vec<_> = server.seen()[before..].iter().map(|a| a.header("if-none-match").map(str::to_owned)).collect();
    assert_eq!(asked, [None, Some("\"one\"".to_owned())]);
}

#[test]
fn a_server_that_says_unasked_that_nothing_changed_is_not_believed() {
    let server = Server::start(|_, out| reply(out, "304 Not Modified", "ETag: \"one\"\r\n", b""));
    let address = server.at("/m.yaml");
    let project = one_base(&base(&format!("{{url: '{address}'}}")));
    project.write("m.yaml", MANIFEST);
    let told = format!(
        "error[upstream-unreachable]: {address}: the server answered 304 Not Modified, which nothing asked for\n"
    );
    let ran = run(&project, &["vendor", "b"]);
    assert!(ran.exit == Some(2) && ran.stderr.starts_with(&told), "{}", ran.stderr);
    assert_eq!(run(&project, &["vendor", "b", "--from", "m.yaml"]).exit, Some(0));
    let before = project.files();
    for arguments in [&["vendor", "b"][..], &["vendor", "b", "--check"], &["update", "b", "--write"]] {
        let ran = run(&project, arguments);
        assert!(ran.exit == Some(2) && ran.stderr.starts_with(&told), "{arguments:?}: {}", ran.stderr);
        assert_eq!(project.files(), before);
    }
}

#[test]
fn a_tag_that_is_none_is_not_kept() {
    let long = format!("\"{}\"", "x".repeat(300));
    for tag in ["one", "\"one", "\"a b\"", "\"\"", "\"a\", \"b\"", "\"\u{e4}\"", "*", &long] {
        let upstream = Tagging::new(MANIFEST, tag);
        let project = upstream.vendored("");
        assert!(!read(&project, "b/base.lock").contains("etag"), "{tag}");
    }
}

#[test]
fn a_tag_in_a_lock_cannot_make_a_header() {
    let upstream = Tagging::new(MANIFEST, "\"one\"");
    let huge = "x".repeat(1 << 20);
    for (hostile, column) in [
        (r#""\"one\"\r\nX-Evil: 1""#, 13),
        (r#""\"one\r\nX-Evil: 1\r\n\r\nGET /evil HTTP/1.1\"""#, 13),
        (r#""\"one\nX-Evil: 1\"""#, 13),
        (r#""\"one\0\"""#, 13),
        (r#""\"one\", \"two\"""#, 13),
        ("one", 13),
        ("\"*\"", 13),
        (r#""\"\"""#, 13),
        (&format!(r#""\"{huge}\"""#), 13),
    ] {
        let project = upstream.vendored("");
        let lock = read(&project, "b/base.lock").replace("etag: \"\\\"one\\\"\"", &format!("etag: {hostile}"));
        project.write("b/base.lock", &lock);
        let line = 1 + lock.lines().position(|line| line.contains("etag")).unwrap();
        let before = project.files();
        for arguments in [&["vendor", "b"][..], &["update", "b"], &["vendor", "b", "--check"]] {
            let (ran, asked) = upstream.asked(&project, arguments);
            let hostile: String = hostile.chars().take(60).collect();
            assert_eq!(ran.exit, Some(1), "{arguments:?} {hostile}");
            assert!(asked.iter().all(Option::is_none), "{arguments:?} {hostile}");
            assert!(
                ran.stderr.starts_with("error[syntax]: an entity tag in its quotes is expected, not `"),
                "{hostile}: {}",
                ran.stderr
            );
            assert!(ran.stderr.contains(&format!(" --> b/base.lock:{line}:{column}\n")), "{hostile}: {}", ran.stderr);
            assert!(ran.stderr.len() < 4000, "{hostile}: {} bytes are said of it", ran.stderr.len());
        }
        assert_eq!(project.files(), before);
    }
    assert!(upstream.server.seen().iter().all(|asked| asked.path() == "/m.yaml" && asked.header("x-evil").is_none()));
}

#[test]
fn where_a_tag_is_from_is_nothing_without_the_tag() {
    let upstream = Tagging::new(MANIFEST, "\"one\"");
    let project = upstream.vendored("");
    let lock = read(&project, "b/base.lock");
    for (etag, told) in [
        (format!("etagFrom: {}", "a".repeat(64)), "the key `etag` is missing in `upstream`"),
        ("etag: \"\\\"one\\\"\"\n      etagFrom: here".to_owned(), "64 hexadecimal digits is expected, not `here`"),
    ] {
        project.write("b/base.lock", &lock.replace("etag: \"\\\"one\\\"\"", &etag));
        let ran = run(&project, &["vendor", "b"]);
        assert!(ran.exit == Some(1) && ran.stderr.contains(told), "{}", ran.stderr);
    }
}
