//! `source::http`: each fault of a server ends in its message, and no credential goes astray.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use overlay::resource::body::not_manifest;
use overlay::source::credentials::{Environment, Netrc};
use overlay::source::http::{
    Anonymous, Credentials, Fetched, HeaderValue, Http, HttpError, Mirror, Progress, Proxies, Request, Sender,
    Settings, Unless,
};

use crate::peers;
use crate::server::{Asked, Authority, Server, reply};

const MANIFEST: &[u8] = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";

/// Settings for servers that are near, and tests that are short.
pub(crate) fn quick() -> Settings {
    Settings {
        idle: Duration::from_millis(500),
        timeout: Duration::from_secs(10),
        back_off: Duration::from_millis(10),
        ..Settings::default()
    }
}

fn get(url: &str) -> Result<Vec<u8>, HttpError> {
    get_with(quick(), url, &Anonymous)
}

fn get_with(settings: Settings, url: &str, credentials: &dyn Credentials) -> Result<Vec<u8>, HttpError> {
    let http = Http::new(settings).unwrap();
    http.send(&Request::get(url), credentials).map(|fetched| fetched.body)
}

fn failure(url: &str) -> String {
    get(url).unwrap_err().to_string()
}

/// A server that gives the n-th answer to the n-th request, and the last one from then on.
fn in_turn(answers: &'static [(&'static str, &'static str)]) -> Server {
    let count = AtomicUsize::new(0);
    Server::start(move |_, out| {
        let at = count.fetch_add(1, Ordering::SeqCst).min(answers.len() - 1);
        let (status, headers) = answers[at];
        reply(out, status, headers, MANIFEST)
    })
}

/// A server that sends these bytes and hangs up.
fn raw(bytes: &'static [u8]) -> Server {
    Server::start(move |_, out| out.write_all(bytes))
}

/// Sends one byte after another, for far longer than anyone waits.
fn drip(out: &mut dyn Write) -> io::Result<()> {
    for _ in 0..1000 {
        out.write_all(b"x")?;
        out.flush()?;
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

fn netrc(text: &str) -> Environment {
    Environment { netrc: Netrc::parse(text), ..Environment::default() }
}

#[test]
fn a_file_is_fetched_as_it_is_and_its_progress_is_told() {
    let server = in_turn(&[("200 OK", "Content-Type: Text/YAML; charset=utf-8\r\n")]);
    let http = Http::new(quick()).unwrap();
    let told = std::sync::Mutex::new(Vec::new());
    let request = Request::get(server.at("/a.yaml"));
    let fetched = http.send_watched(&request, &Anonymous, &|progress| told.lock().unwrap().push(progress)).unwrap();
    assert_eq!(fetched.media_type(), "text/yaml");
    assert_eq!(fetched.body, MANIFEST);
    let size = MANIFEST.len() as u64;
    assert_eq!(told.lock().unwrap().last(), Some(&Progress { got: size, of: Some(size) }));
    let seen = server.seen();
    assert_eq!(seen[0].header("accept-encoding"), Some("identity"));
    assert!(seen[0].header("user-agent").unwrap().starts_with("overlay/"));
    assert_eq!(seen[0].header("authorization"), None);
}

/// A server that answers what is asked for by its tag with 304, and leads from `/from` to `/to?` and another signature
/// each time.
fn with_tags() -> Server {
    let count = AtomicUsize::new(0);
    Server::start(move |asked, out| match (asked.path(), asked.header("if-none-match")) {
        ("/from", None) => {
            let signature = count.fetch_add(1, Ordering::SeqCst);
            reply(out, "302 Found", &format!("Location: /to?signature={signature}\r\n"), b"")
        }
        (_, Some("\"one\"")) => reply(out, "304 Not Modified", "ETag: \"one\"\r\n", b""),
        _ => reply(out, "200 OK", "ETag: \"one\"\r\n", MANIFEST),
    })
}

fn get_unless(settings: Settings, url: &str, tag: &'static str, sender: Sender) -> Result<Fetched, HttpError> {
    let unless = Some(Unless { tag: HeaderValue::from_static(tag), sender });
    Http::new(settings).unwrap().send(&Request { unless, ..Request::get(url) }, &Anonymous)
}

/// What the server was asked by, one request after the other.
fn tags(server: &Server) -> Vec<Option<String>> {
    server.seen().iter().map(|asked| asked.header("if-none-match").map(str::to_owned)).collect()
}

#[test]
fn a_server_is_asked_by_the_tag_that_it_sent_and_may_say_that_nothing_changed() {
    let server = with_tags();
    let fetched = Http::new(quick()).unwrap().send(&Request::get(server.at("/a")), &Anonymous).unwrap();
    assert_eq!((fetched.etag(), fetched.sender.clone(), fetched.unchanged), (Some("\"one\""), Sender::Asked, false));
    let again = get_unless(quick(), &server.at("/a"), "\"one\"", Sender::Asked).unwrap();
    assert!(again.unchanged && again.body.is_empty());
    let other = get_unless(quick(), &server.at("/a"), "\"two\"", Sender::Asked).unwrap();
    assert!(!other.unchanged && other.body == MANIFEST);
    assert_eq!(tags(&server), [None, Some("\"one\"".into()), Some("\"two\"".into())]);
}

#[test]
fn a_tag_is_told_to_nobody_but_its_sender() {
    let server = with_tags();
    let fetched = Http::new(quick()).unwrap().send(&Request::get(server.at("/from")), &Anonymous).unwrap();
    let Sender::Redirected(digest) = fetched.sender.clone() else { panic!("{:?}", fetched.sender) };
    assert_eq!(digest.len(), 64);
    assert_eq!(fetched.url.query(), Some("signature=0"));

    // The signature is another one, and the tag is for the store, not for who leads there.
    let again = get_unless(quick(), &server.at("/from"), "\"one\"", fetched.sender.clone()).unwrap();
    assert!(again.unchanged);
    assert_eq!(tags(&server)[2..], [None, Some("\"one\"".into())]);

    let elsewhere = Sender::Redirected("0".repeat(64));
    let mirror = Mirror::parse(&format!("https://example.org={}", server.at(""))).unwrap();
    let mirrored = || Settings { mirrors: vec![mirror.clone()], ..quick() };
    for (settings, address, sender) in [
        (quick(), server.at("/from"), elsewhere),
        (quick(), server.at("/a"), fetched.sender.clone()),
        (mirrored(), "https://example.org/a".to_owned(), Sender::Asked),
        (mirrored(), "https://example.org/a".to_owned(), Sender::Mirror),
        (mirrored(), "https://example.org/from".to_owned(), fetched.sender.clone()),
    ] {
        let seen = server.seen().len();
        let whole = get_unless(settings, &address, "\"one\"", sender.clone()).unwrap();
        assert!(!whole.unchanged && whole.body == MANIFEST, "{address} {sender:?}");
        assert!(tags(&server)[seen..].iter().all(Option::is_none), "{address} {sender:?}");
        assert_eq!(whole.sender == Sender::Mirror, address.starts_with("https://example.org"));
    }
}

#[test]
fn a_304_that_nobody_asked_for_is_an_error() {
    let server = in_turn(&[("304 Not Modified", "ETag: \"one\"\r\n")]);
    let told = format!("{}: the server answered 304 Not Modified, which nothing asked for", server.at("/a"));
    assert_eq!(failure(&server.at("/a")), told);
    // The tag was for someone else, and so was not sent.
    for sender in [Sender::Redirected("0".repeat(64)), Sender::Mirror] {
        assert_eq!(get_unless(quick(), &server.at("/a"), "\"one\"", sender).unwrap_err().to_string(), told);
    }
    let head = Request { method: overlay::source::http::Method::HEAD, ..Request::get(server.at("/a")) };
    let unless = Some(Unless { tag: HeaderValue::from_static("\"one\""), sender: Sender::Asked });
    let answer = Http::new(quick()).unwrap().send(&Request { unless, ..head }, &Anonymous);
    assert_eq!(answer.unwrap_err().to_string(), told);
    assert!(tags(&server).iter().all(Option::is_none));
}

#[test]
fn of_two_tags_neither_is_the_one() {
    let server = in_turn(&[("200 OK", "ETag: \"one\"\r\nETag: \"two\"\r\n")]);
    let fetched = Http::new(quick()).unwrap().send(&Request::get(server.at("/a")), &Anonymous).unwrap();
    assert_eq!(fetched.etag(), None);
}

#[test]
fn redirects_are_followed_but_not_for_ever() {
    let server = Server::start(|asked, out| match asked.path() {
        "/one" => reply(out, "302 Found", "Location: two?x=y\r\n", b""),
        "/two" => reply(out, "308 Permanent Redirect", "Location: /three\r\n", b""),
        "/three" => reply(out, "200 OK", "", MANIFEST),
        "/nowhere" => reply(out, "301 Moved Permanently", "", b""),
        "/odd" => reply(out, "301 Moved Permanently", "Location: http://[\r\n", b""),
        "/file" => reply(out, "301 Moved Permanently", "Location: file:///etc/passwd\r\n", b""),
        "/out" => reply(out, "301 Moved Permanently", "Location: http://example.org/\r\n", b""),
        "/user" => reply(out, "301 Moved Permanently", "Location: https://a:b@example.org/\r\n", b""),
        "/hops1" => reply(out, "302 Found", "Location: /three\r\n", b""),
        hops if hops.starts_with("/hops") => {
            let left = hops["/hops".len()..].parse::<u32>().unwrap() - 1;
            reply(out, "302 Found", &format!("Location: /hops{left}\r\n"), b"")
        }
        _ => reply(out, "302 Found", "Location: /loop?secret=x\r\n", b""),
    });
    let at = |path: &str| server.at(path);
    assert_eq!(get(&at("/one")).unwrap(), MANIFEST);
    assert_eq!(get(&at("/hops8")).unwrap(), MANIFEST);
    assert_eq!(failure(&at("/hops9")), format!("{}: more than 8 redirects", at("/hops9")));
    assert_eq!(failure(&at("/loop")), format!("{}: more than 8 redirects", at("/loop")));
    assert_eq!(failure(&at("/nowhere")), format!("{}: a redirect that does not say where to", at("/nowhere")));
    assert_eq!(failure(&at("/odd")), format!("{}: a redirect to what is no address: invalid IPv6 address", at("/odd")));
    let redirect = |path: &str, to: &str| assert_eq!(failure(&at(path)), format!("{}: a redirect to {to}", at(path)));
    redirect("/file", "file:///etc/passwd: only https addresses are fetched");
    redirect("/out", "http://example.org/: only https is fetched (http is for this machine alone)");
    // It is the server's fault, and nothing that base.yaml says.
    redirect("/user", "an address with a user name or password, https://***@example.org/");
}

#[test]
fn no_credential_crosses_to_another_host_or_port() {
    let other = Server::start(|_, out| reply(out, "200 OK", "", MANIFEST));
    let to = format!("Location: {}\r\n", other.at("/there"));
    let own = Server::start(move |asked, out| match asked.path() {
        "/first" => reply(out, "302 Found", "Location: /second\r\n", b""),
        _ => reply(out, "302 Found", &to, b""),
    });
    // The entry is for both servers by name; what counts is that the second was not asked for.
    let environment = netrc("machine 127.0.0.1 login me password s3cret");
    assert_eq!(get_with(quick(), &own.at("/first"), &environment).unwrap(), MANIFEST);
    let sent = |server: &Server| -> Vec<Option<String>> {
        server.seen().iter().map(|asked| asked.header("authorization").map(str::to_owned)).collect()
    };
    let basic = Some("Basic bWU6czNjcmV0".to_owned());
    assert_eq!(sent(&own), [basic.clone(), basic]);
    assert_eq!(sent(&other), [None]);
}

#[test]
fn a_refusal_names_where_the_credential_came_from_and_not_the_credential() {
    let server = in_turn(&[("401 Unauthorized", "")]);
    let url = server.at("/a?token=s3cret");
    let shown = format!("{}?…", server.at("/a"));
    let status = "the server answered 401 Unauthorized";
    assert_eq!(failure(&url), format!("{shown}: {status}; there is no credential for 127.0.0.1"));
    let environment = netrc("machine 127.0.0.1 login me password s3cret");
    let error = get_with(quick(), &url, &environment).unwrap_err();
    assert_eq!(error.to_string(), format!("{shown}: {status} to the credential from ~/.netrc"));
    let debug = format!("{error:?}{environment:?}");
    assert!(!debug.contains("bWU6"), "{debug}");
}

#[test]
fn a_github_token_is_not_sent_to_another_server() {
    let server = in_turn(&[("200 OK", "")]);
    let environment = Environment { github_token: Some(("GITHUB_TOKEN", "t0ken".into())), ..Environment::default() };
    let mirror = Mirror::parse(&format!("https://raw.githubusercontent.com={}", server.at("/raw"))).unwrap();
    let settings = Settings { mirrors: vec![mirror], ..quick() };
    let url = "https://raw.githubusercontent.com/owner/name/1/a.yaml";
    assert_eq!(get_with(settings, url, &environment).unwrap(), MANIFEST);
    let seen = server.seen();
    assert_eq!(seen[0].target, "/raw/owner/name/1/a.yaml");
    assert_eq!(seen[0].header("authorization"), None);
}

#[test]
fn a_status_is_told_and_only_what_may_pass_is_tried_again() {
    for (status, requests) in [
        ("404 Not Found", 1),
        ("403 Forbidden", 1),
        ("410 Gone", 1),
        ("501 Not Implemented", 1),
        ("500 Internal Server Error", 4),
        ("429 Too Many Requests", 4),
    ] {
        let server = Server::start(move |_, out| reply(out, status, "", b""));
        let error = get(&server.at("/a")).unwrap_err();
        assert_eq!(error.to_string(), format!("{}: the server answered {status}", server.at("/a")));
        assert_eq!(error.is_gone(), matches!(status, "404 Not Found" | "410 Gone"));
        assert_eq!(server.seen().len(), requests, "{status}");
    }
}

#[test]
fn a_server_that_recovers_is_asked_again() {
    const BUSY: (&str, &str) = ("503 Service Unavailable", "");
    let server = in_turn(&[BUSY, ("502 Bad Gateway", ""), BUSY, ("200 OK", "")]);
    assert_eq!(get(&server.at("/")).unwrap(), MANIFEST);
    assert_eq!(server.seen().len(), 4);
    let server = in_turn(&[BUSY, BUSY, BUSY, BUSY, ("200 OK", "")]);
    assert_eq!(failure(&server.at("/a")), format!("{}: the server answered 503 Service Unavailable", server.at("/a")));
    assert_eq!(server.seen().len(), 4, "no fifth try");
}

#[test]
fn a_server_that_asks_for_patience_gets_it_within_reason() {
    let server = in_turn(&[("429 Too Many Requests", "Retry-After: 1\r\n"), ("200 OK", "")]);
    let before = Instant::now();
    assert_eq!(get(&server.at("/")).unwrap(), MANIFEST);
    assert!(before.elapsed() >= Duration::from_secs(1));

    let server = in_turn(&[("429 Too Many Requests", "Retry-After: 3600\r\n")]);
    let expected = format!("{}: the server answered 429 Too Many Requests; it asks to wait 3600 s", server.at("/a"));
    assert_eq!(failure(&server.at("/a")), expected);
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn a_silent_server_is_not_waited_for() {
    let settings = || Settings { idle: Duration::from_millis(200), ..quick() };
    let server = Server::start(|_, _| {
        std::thread::sleep(Duration::from_secs(2));
        Ok(())
    });
    let error = get_with(settings(), &server.at("/a"), &Anonymous).unwrap_err().to_string();
    assert_eq!(error, format!("{}: no answer in time: its head did not come in 0.2 s", server.at("/a")));

    let server = Server::start(|_, out| {
        out.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nkind")?;
        out.flush()?;
        std::thread::sleep(Duration::from_secs(2));
        Ok(())
    });
    let error = get_with(settings(), &server.at("/a"), &Anonymous).unwrap_err().to_string();
    let broke = "the answer broke off after 4 of 100 bytes";
    assert_eq!(error, format!("{}: {broke}: nothing came for 0.2 s", server.at("/a")));
}

#[test]
fn a_server_that_drips_is_ended_at_the_deadline() {
    let server = Server::start(|_, out| {
        out.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")?;
        drip(out)
    });
    let settings = Settings { timeout: Duration::from_secs(1), ..quick() };
    let before = Instant::now();
    let error = get_with(settings, &server.at("/a"), &Anonymous).unwrap_err().to_string();
    assert!(error.ends_with(" of 1000 bytes: not complete in 1 s"), "{error}");
    assert!(before.elapsed() < Duration::from_secs(2));
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn an_error_whose_answer_drips_is_ended_at_the_deadline() {
    for status in ["404 Not Found", "503 Service Unavailable", "401 Unauthorized"] {
        let server = Server::start(move |_, out| {
            write!(out, "HTTP/1.1 {status}\r\nContent-Length: 1000\r\n\r\n")?;
            drip(out)
        });
        let settings = Settings { timeout: Duration::from_secs(1), ..quick() };
        let before = Instant::now();
        let error = get_with(settings, &server.at("/a"), &Anonymous).unwrap_err().to_string();
        assert!(error.contains(&format!("the server answered {status}")), "{error}");
        assert!(before.elapsed() < Duration::from_secs(2), "{status}");
    }
}

#[test]
fn redirects_and_headers_that_come_late_are_ended_at_the_deadline() {
    let server = Server::start(|asked, out| {
        if asked.path() == "/headers" {
            out.write_all(b"HTTP/1.1 200 OK\r\nX-Long: ")?;
            return drip(out);
        }
        std::thread::sleep(Duration::from_millis(400));
        reply(out, "302 Found", &format!("Location: {}x\r\n", asked.path()), b"")
    });
    for path in ["/headers", "/redirect"] {
        let settings = Settings { timeout: Duration::from_secs(1), ..quick() };
        let before = Instant::now();
        let error = get_with(settings, &server.at(path), &Anonymous).unwrap_err().to_string();
        assert!(error.contains(": no answer in time: "), "{error}");
        assert!(before.elapsed() < Duration::from_secs(2), "{path}");
    }
}

#[test]
fn a_truncated_body_is_an_error_and_never_a_shorter_file() {
    let server = raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nkind: A\n");
    let error = failure(&server.at("/a"));
    let start = format!("{}: the answer broke off after 8 of 100 bytes: ", server.at("/a"));
    assert!(error.starts_with(&start), "{error}");
    assert_eq!(server.seen().len(), 4);

    let server = raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nkind: A\n\r\n");
    let error = failure(&server.at("/a"));
    let start = format!("{}: the answer broke off after 8 bytes: ", server.at("/a"));
    assert!(error.starts_with(&start), "{error}");
}

#[test]
fn a_wrong_content_length_is_an_error_or_the_length() {
    for head in [&b"HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\nkind: A\n"[..], b"this is not HTTP\r\n\r\n"] {
        let server = raw(head);
        let error = failure(&server.at("/a"));
        assert!(error.starts_with(&format!("{}: no answer: ", server.at("/a"))), "{error}");
    }
    // What lies behind the length is no part of the answer (RFC 9112 section 6.3); the lock's hash tells the rest.
    let server = raw(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nkind: A\n");
    assert_eq!(get(&server.at("/a")).unwrap(), b"kind");
}

#[test]
fn a_body_that_is_too_large_is_refused_without_reading_it() {
    const SIZE: usize = 200 * 1024 * 1024;
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    let server = Server::start(move |asked: &Asked, out: &mut dyn Write| -> io::Result<()> {
        if asked.path() == "/announced" {
            write!(out, "HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n\r\n")?;
        } else {
            out.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
        }
        let piece = vec![b'x'; 1024 * 1024];
        for _ in 0..200 {
            out.write_all(&piece)?;
            count.fetch_add(piece.len(), Ordering::SeqCst);
        }
        Ok(())
    });
    let large = |path: &str| format!("{}: the answer is larger than 1 MiB, the most that is read", server.at(path));
    for path in ["/announced", "/streamed"] {
        let settings = Settings { max_bytes: 1024 * 1024, ..quick() };
        assert_eq!(get_with(settings, &server.at(path), &Anonymous).unwrap_err().to_string(), large(path));
    }
    assert_eq!(server.seen().len(), 2, "not tried again");
    assert!(sent.load(Ordering::SeqCst) < SIZE / 2, "the connections were closed early");
}

#[test]
fn a_large_body_is_read_whole_where_that_is_allowed() {
    const SIZE: usize = 200 * 1024 * 1024;
    let server = Server::start(|_, out| {
        write!(out, "HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n\r\n")?;
        let piece = vec![b'x'; 1024 * 1024];
        (0..200).try_for_each(|_| out.write_all(&piece))
    });
    let settings = Settings { max_bytes: SIZE as u64, timeout: Duration::from_secs(30), ..quick() };
    assert_eq!(get_with(settings, &server.at("/"), &Anonymous).unwrap().len(), SIZE);
}

#[test]
fn a_page_in_the_place_of_a_manifest_is_told() {
    let server = Server::start(|_, out| reply(out, "200 OK", "", b"<!doctype html><title>Sign in</title>"));
    let body = get(&server.at("/a.yaml")).unwrap();
    let what = not_manifest(&body).unwrap().to_string();
    assert_eq!(what, "a web page with the title \"Sign in\"");
}

#[test]
fn nobody_at_the_address_is_told_after_some_tries() {
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{address}/a");
    let error = failure(&url);
    assert!(error.starts_with(&format!("{url}: no answer: ")), "{error}");
    assert!(error.contains("Connection refused"), "{error}");
}

#[test]
fn a_server_without_tls_is_told_from_one_that_is_not_there() {
    // What a server of http says to bytes that are none of its language.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/a", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _hello = io::Read::read(&mut stream, &mut [0; 4096]);
            let _sent = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
        }
    });
    let error = failure(&url);
    assert!(error.starts_with(&format!("{url}: no secure connection: received corrupt message")), "{error}");
}

#[test]
fn tls_is_verified_against_the_platform_and_the_given_authority() {
    if !peers::present(&["openssl"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path());
    let server = Server::start_tls(&authority, |asked, out| match asked.path() {
        "/down" => reply(out, "302 Found", "Location: http://127.0.0.1:1/\r\n", b""),
        _ => reply(out, "200 OK", "", MANIFEST),
    });
    let trusting = || Settings { ca: Some(authority.pem.clone()), ..quick() };
    assert_eq!(get_with(trusting(), &server.at("/a"), &Anonymous).unwrap(), MANIFEST);
    assert_eq!(server.seen().len(), 1);

    let untrusted = format!("{}: the server's certificate is not trusted: ", server.at("/a"));
    let error = failure(&server.at("/a"));
    assert!(error.starts_with(&untrusted) && error.contains("UnknownIssuer"), "{error}");

    let by_name = server.at("/a").replace("127.0.0.1", "localhost");
    let error = get_with(trusting(), &by_name, &Anonymous).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{by_name}: the server's certificate is not trusted: ")), "{error}");
    assert_eq!(server.seen().len(), 1, "nothing was asked of a server that is not trusted");

    let error = get_with(trusting(), &server.at("/down"), &Anonymous).unwrap_err().to_string();
    assert_eq!(error, format!("{}: a redirect from https to http://127.0.0.1:1/", server.at("/down")));
}

#[test]
fn a_proxy_is_asked_for_other_machines_alone() {
    let proxy = Server::start(|_, out| reply(out, "403 Forbidden", "", b""));
    let https = Some(format!("http://me:s3cret@{}", proxy.host()));
    let settings = || Settings { proxies: Proxies { https: https.clone(), none_for: String::new() }, ..quick() };
    let error = get_with(settings(), "https://manifests.example/a", &Anonymous).unwrap_err().to_string();
    assert!(error.starts_with("https://manifests.example/a: no answer: "), "{error}");
    assert!(!error.contains("s3cret"), "{error}");
    let seen = proxy.seen();
    assert_eq!((seen[0].method.as_str(), seen[0].target.as_str()), ("CONNECT", "manifests.example:443"));
    assert_eq!(seen[0].header("proxy-authorization"), Some("Basic bWU6czNjcmV0"));

    let server = in_turn(&[("200 OK", "")]);
    assert_eq!(get_with(settings(), &server.at("/"), &Anonymous).unwrap(), MANIFEST);
}

#[test]
fn one_client_serves_several_threads() {
    let server = Server::start(|asked, out| reply(out, "200 OK", "", asked.path().as_bytes()));
    let http = Http::new(quick()).unwrap();
    let bodies: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let ask = |at: usize| {
            let (http, url) = (&http, server.at(&format!("/{at}")));
            scope.spawn(move || http.send(&Request::get(url), &Anonymous).unwrap().body)
        };
        let threads: Vec<_> = (0..8).map(ask).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let expected: Vec<Vec<u8>> = (0..8).map(|at| format!("/{at}").into_bytes()).collect();
    assert_eq!(bodies, expected);
}

#[test]
fn a_silent_server_takes_no_longer_than_the_time_for_all_tries() {
    let second = Duration::from_secs(1);
    let settings = || Settings { idle: second, timeout: Duration::from_millis(1200), ..quick() };
    let silent = Server::start(|_, _| {
        std::thread::sleep(Duration::from_secs(4));
        Ok(())
    });
    let started = Instant::now();
    let error = get_with(settings(), &silent.at("/a"), &Anonymous).unwrap_err().to_string();
    assert!(started.elapsed() < Duration::from_millis(1900), "{:?}", started.elapsed());
    assert_eq!(error, format!("{}: no answer in time: not complete in 1.2 s", silent.at("/a")));

    let stuck = Server::start(|_, out| {
        out.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01")?;
        out.flush()?;
        std::thread::sleep(Duration::from_millis(800));
        out.write_all(b"23")?;
        out.flush()?;
        std::thread::sleep(Duration::from_secs(4));
        Ok(())
    });
    let started = Instant::now();
    let error = get_with(settings(), &stuck.at("/a"), &Anonymous).unwrap_err().to_string();
    assert!(started.elapsed() < Duration::from_millis(1700), "{:?}", started.elapsed());
    assert_eq!(error, format!("{}: the answer broke off after 4 of 10 bytes: not complete in 1.2 s", stuck.at("/a")));
}

#[test]
fn a_head_that_comes_in_drops_is_not_told_as_silence() {
    let server = Server::start(|_, out| {
        for byte in b"HTTP/1.1 200 OK\r\nX-Slow: 01234567890123456789012345678901234567890123456789\r\n" {
            out.write_all(&[*byte])?;
            out.flush()?;
            std::thread::sleep(Duration::from_millis(40));
        }
        Ok(())
    });
    let settings = Settings { idle: Duration::from_millis(400), timeout: Duration::from_millis(700), ..quick() };
    let error = get_with(settings, &server.at("/a"), &Anonymous).unwrap_err().to_string();
    assert_eq!(error, format!("{}: no answer in time: not complete in 0.7 s", server.at("/a")));
    let settings = Settings { idle: Duration::from_millis(400), back_off: Duration::from_mins(1), ..quick() };
    let error = get_with(settings, &server.at("/a"), &Anonymous).unwrap_err().to_string();
    assert_eq!(error, format!("{}: no answer in time: its head did not come in 0.4 s", server.at("/a")));
}

#[test]
fn a_success_that_is_no_answer_is_not_put_down_to_the_credential() {
    for status in ["204 No Content", "206 Partial Content", "304 Not Modified", "300 Multiple Choices"] {
        let server = Server::start(move |_, out| reply(out, status, "", b""));
        let secret = Environment { netrc: Netrc::parse("default login me password s3cret"), ..Environment::default() };
        let error = get_with(quick(), &server.at("/a"), &secret).unwrap_err().to_string();
        assert_eq!(error, format!("{}: the server answered {status}, which nothing asked for", server.at("/a")));
        assert_eq!(server.seen().len(), 1);
    }
}
