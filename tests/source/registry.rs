//! `source::registry` against Debian's docker-registry, open, with passwords and with tokens, filled by skopeo; and
//! against a registry that misbehaves.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use overlay::resource::answer::{Answer, Unanswered, Why};
use overlay::resource::reference::{Digest, Reference};
use overlay::source::credentials::Environment;
use overlay::source::http::{Http, Mirror, Settings};
use overlay::source::registry::{Registries, Which};
use serde_json::json;
use sha2::Digest as _;
use tempfile::TempDir;

use crate::docker::{
    DOCKER_LIST, DOCKER_MANIFEST, OCI_INDEX, OCI_MANIFEST, PEERS, Registry, Tokens, digest, hex, logins, with_passwords,
};
use crate::http::quick;
use crate::peers::present;
use crate::server::{Server, reply};

fn logged_in(host: &str, user: &str, password: &str) -> Environment {
    Environment { registry_logins: vec![logins(host, user, password).into_bytes()], ..Environment::default() }
}

fn ask_with(settings: Settings, environment: &Environment, reference: &str) -> Answer {
    let http = Http::new(settings).unwrap();
    let registries = Registries::new(&http, environment);
    let reference = Reference::parse(reference).unwrap();
    let which = match (&reference.digest, reference.effective_tag()) {
        (Some(digest), _) => Which::Digest(digest),
        (None, Some(tag)) => Which::Tag(tag),
        (None, None) => panic!("a reference without digest has a tag"),
    };
    registries.ask(&reference, which)
}

fn ask(environment: &Environment, reference: &str) -> Answer {
    ask_with(quick(), environment, reference)
}

fn reason(answer: Answer) -> String {
    match answer {
        Answer::Unknown(unanswered) => unanswered.reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_open_registry_answers_with_the_digest_of_every_kind_of_manifest() {
    if !present(&PEERS) {
        return;
    }
    let registry = Registry::start("", &[]);
    let images = registry.fill("team/app", &[]);
    let host = &registry.host;
    let nobody = Environment::default();
    for (tag, digest) in &images.0 {
        assert_eq!(ask(&nobody, &format!("{host}/team/app:{tag}")), Answer::Found(digest.clone()));
        assert_eq!(ask(&nobody, &format!("{host}/team/app:{tag}@{digest}")), Answer::Found(digest.clone()));
    }
    let gone = |reference: &str, word: &str| match ask(&nobody, reference) {
        Answer::Gone(reason) => assert!(reason.contains(word), "{reason}"),
        other => panic!("{other:?}"),
    };
    gone(&format!("{host}/team/app:nothing"), "MANIFEST_UNKNOWN: manifest unknown");
    gone(&format!("{host}/team/app@{}", digest(b"other")), "MANIFEST_UNKNOWN: manifest unknown");
    // docker-registry says so of repositories without any upload, too.
    gone(&format!("{host}/team/none:x"), "_UNKNOWN");
}

#[test]
fn a_registry_with_passwords_is_asked_with_dockers_log_in() {
    if !present(&PEERS) {
        return;
    }
    let registry = with_passwords();
    let images = registry.fill("team/app", &["--dest-creds=me:s3cret"]);
    let host = &registry.host;
    let reference = format!("{host}/team/app:oci");
    let found = Answer::Found(images.digest("oci").clone());
    assert_eq!(ask(&logged_in(host, "me", "s3cret"), &reference), found);
    let at = format!("http://{host}/v2/team/app/manifests/oci");
    let wanted = format!("{at}: the registry wants a log-in (401), and there is none for it");
    assert_eq!(reason(ask(&Environment::default(), &reference)), wanted);
    assert_eq!(reason(ask(&logged_in("other.example", "me", "s3cret"), &reference)), wanted);
    let wrong = reason(ask(&logged_in(host, "me", "wr0ng"), &reference));
    let start = format!("{at}: the server answered 401 Unauthorized to the credential from the log-in to {host}");
    assert!(wrong.starts_with(&start), "{wrong}");
    assert!(!wrong.contains("wr0ng"));
    let broken = Environment { registry_logins: vec![b"{".to_vec()], ..Environment::default() };
    assert_eq!(reason(ask(&broken, &reference)), format!("{wanted}; the file of log-ins cannot be read as JSON"));
}

#[test]
fn a_registry_with_tokens_is_asked_with_one_anonymous_or_not() {
    if !present(&[PEERS[0], PEERS[1], "openssl"]) {
        return;
    }
    let Tokens { registry, service } = &Tokens::start();
    let realm = service.at("/token");
    let host = &registry.host;
    let images = registry.fill("open/app", &["--dest-creds=me:s3cret"]);
    registry.fill("closed/app", &["--dest-creds=me:s3cret"]);
    let nobody = Environment::default();
    let found = |tag: &str| Answer::Found(images.digest(tag).clone());
    assert_eq!(ask(&nobody, &format!("{host}/open/app:oci-index")), found("oci-index"));
    assert_eq!(ask(&logged_in(host, "me", "s3cret"), &format!("{host}/closed/app:docker")), found("docker"));

    let closed = reason(ask(&nobody, &format!("{host}/closed/app:docker")));
    assert!(closed.contains("the server answered 401 Unauthorized"), "{closed}");
    let refused = reason(ask(&logged_in(host, "me", "wr0ng"), &format!("{host}/open/app:oci")));
    let expected =
        format!("{realm}?…: the server answered 401 Unauthorized to the credential from the log-in to {host}");
    assert_eq!(refused, format!("{expected}; it says UNAUTHORIZED"));

    // One token does for a repository.
    let http = Http::new(quick()).unwrap();
    let registries = Registries::new(&http, &nobody);
    let before = service.seen().len();
    for tag in ["oci", "docker", "oci"] {
        let reference = Reference::parse(&format!("{host}/open/app:{tag}")).unwrap();
        assert_eq!(registries.ask(&reference, Which::Tag(tag)), found(tag));
    }
    assert_eq!(service.seen().len(), before + 1);
}

#[test]
fn what_is_no_answer_is_unknown_and_never_gone() {
    for (status, body, said, why) in [
        ("403 Forbidden", "", "", Why::LogIn),
        (
            "429 Too Many Requests",
            r#"{"errors": [{"code": "TOOMANYREQUESTS", "message": "slow \u001bdown"}]}"#,
            "",
            Why::Busy,
        ),
        ("500 Internal Server Error", "", "", Why::Busy),
        ("503 Service Unavailable", "", "", Why::Busy),
        ("404 Not Found", "<html>no such page</html>", "", Why::Other),
        (
            "404 Not Found",
            r#"{"errors": [{"code": "BLOB_UNKNOWN", "message": "x"}]}"#,
            "; it says BLOB_UNKNOWN: x",
            Why::Other,
        ),
        ("405 Method Not Allowed", "", "", Why::Other),
    ] {
        let server = Server::start(move |asked, out| {
            let body = if asked.method == "HEAD" { "" } else { body };
            reply(out, status, "", body.as_bytes())
        });
        let told = ask(&Environment::default(), &format!("{}/a:b", server.host()));
        let reason = format!("{}: the server answered {status}{said}", server.at("/v2/a/manifests/b"));
        assert_eq!(told, Answer::Unknown(Unanswered { why, reason }));
    }
}

#[test]
fn a_404_is_gone_by_the_registrys_word_alone() {
    for code in ["MANIFEST_UNKNOWN", "NAME_UNKNOWN", "NOT_FOUND"] {
        let body = json!({"errors": [{"code": code, "message": "not here"}]}).to_string();
        let server = Server::start(move |_, out| reply(out, "404 Not Found", "", body.as_bytes()));
        let told = ask(&Environment::default(), &format!("{}/a:b", server.host()));
        let at = server.at("/v2/a/manifests/b");
        let expected = format!("{at}: the server answered 404 Not Found; it says {code}: not here");
        assert_eq!(told, Answer::Gone(expected));
    }
}

#[test]
fn a_registry_that_cannot_be_reached_is_unknown() {
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let told = reason(ask(&Environment::default(), &format!("{address}/a:b")));
    assert!(told.starts_with(&format!("http://{address}/v2/a/manifests/b: no answer: ")), "{told}");
}

#[test]
fn a_digest_is_computed_where_the_registry_names_none() {
    const BODY: &[u8] = br#"{"schemaVersion": 2}"#;
    let server = Server::start(|asked, out| match asked.method.as_str() {
        "HEAD" => reply(out, "200 OK", "", b""),
        _ => reply(out, "200 OK", "", BODY),
    });
    let own = Digest::parse(&digest(BODY)).unwrap();
    let nobody = Environment::default();
    assert_eq!(ask(&nobody, &format!("{}/a:b", server.host())), Answer::Found(own.clone()));
    let accepted = server.seen()[0].header("accept").unwrap().to_owned();
    assert_eq!(accepted, [OCI_INDEX, DOCKER_LIST, OCI_MANIFEST, DOCKER_MANIFEST].join(", "));
    assert_eq!(ask(&nobody, &format!("{}/a@{own}", server.host())), Answer::Found(own.clone()));
    let other = digest(b"other");
    let told = reason(ask(&nobody, &format!("{}/a@{other}", server.host())));
    assert_eq!(told, format!("the registry answered with {own} when asked for {other}"));
    let long = Digest::parse(&format!("sha512:{}", hex(&sha2::Sha512::digest(BODY)))).unwrap();
    assert_eq!(ask(&nobody, &format!("{}/a@{long}", server.host())), Answer::Found(long));
}

#[test]
fn a_registry_may_name_a_digest_of_its_own_algorithm() {
    const BODY: &[u8] = br#"{"schemaVersion": 2}"#;
    let header = format!("Docker-Content-Digest: {}\r\n", digest(BODY));
    let server = Server::start(move |asked, out| match asked.method.as_str() {
        "HEAD" => reply(out, "200 OK", &header, b""),
        _ => reply(out, "200 OK", &header, BODY),
    });
    let long = |bytes: &[u8]| Digest::parse(&format!("sha512:{}", hex(&sha2::Sha512::digest(bytes)))).unwrap();
    let asked = |digest: &Digest| ask(&Environment::default(), &format!("{}/a@{digest}", server.host()));
    assert_eq!(asked(&long(BODY)), Answer::Found(long(BODY)));
    let other = long(b"other");
    assert_eq!(reason(asked(&other)), format!("the registry answered with {} when asked for {other}", long(BODY)));
}

#[test]
fn a_registry_that_lies_is_told() {
    let named = digest(b"named");
    let header = format!("Docker-Content-Digest: {named}\r\n");
    let server = Server::start(move |asked, out| match (asked.method.as_str(), asked.path()) {
        ("HEAD", "/v2/head/manifests/b") => reply(out, "200 OK", &header, b""),
        ("GET", "/v2/get/manifests/b") => reply(out, "200 OK", &header, br#"{"schemaVersion": 2}"#),
        ("GET", "/v2/page/manifests/b") => reply(out, "200 OK", "", b"<title>Welcome</title>"),
        ("HEAD", path) if path.starts_with("/v2/head/") => reply(out, "200 OK", &header, b""),
        _ => reply(out, "405 Method Not Allowed", "", b""),
    });
    let (host, nobody) = (server.host(), Environment::default());
    assert_eq!(ask(&nobody, &format!("{host}/head:b")), Answer::Found(Digest::parse(&named).unwrap()));
    let other = digest(b"other");
    let told = reason(ask(&nobody, &format!("{host}/head@{other}")));
    assert_eq!(told, format!("the registry answered with {named} when asked for {other}"));
    let told = reason(ask(&nobody, &format!("{host}/get:b")));
    let at = server.at("/v2/get/manifests/b");
    let sent = digest(br#"{"schemaVersion": 2}"#);
    let says = format!("the registry says that the manifest is {named}, and what it sends is {sent}");
    assert_eq!(told, format!("{at}: {says}"));
    let told = reason(ask(&nobody, &format!("{host}/page:b")));
    let at = server.at("/v2/page/manifests/b");
    let page = "a web page with the title \"Welcome\"";
    assert_eq!(told, format!("{at}: the answer is no image manifest but {page}"));
}

#[test]
fn a_log_in_does_not_go_where_a_redirect_leads() {
    let own = digest(b"x");
    let header = format!("Docker-Content-Digest: {own}\r\n");
    let service = Server::start(|_, out| reply(out, "200 OK", "", br#"{"token": "t"}"#));
    let realm = service.at("/token");
    let other = Server::start(move |asked, out| match asked.header("authorization") {
        Some("Bearer t") => reply(out, "200 OK", &header, b""),
        _ => reply(out, "401 Unauthorized", &format!("WWW-Authenticate: Bearer realm=\"{realm}\"\r\n"), b""),
    });
    let to = other.at("");
    let first = Server::start(move |asked, out| {
        reply(out, "307 Temporary Redirect", &format!("Location: {to}{}\r\n", asked.target), b"")
    });
    let environment = logged_in(&first.host(), "me", "s3cret");
    let told = ask(&environment, &format!("{}/a:b", first.host()));
    assert_eq!(told, Answer::Found(Digest::parse(&own).unwrap()));
    let sent = service.seen();
    assert_eq!(sent[0].header("authorization"), None);
    assert_eq!(sent[0].query("scope").as_deref(), Some("repository:a:pull"));
}

#[test]
fn an_identity_token_is_changed_for_another() {
    let own = digest(b"x");
    let header = format!("Docker-Content-Digest: {own}\r\n");
    let service = Server::start(|_, out| reply(out, "200 OK", "", br#"{"access_token": "t"}"#));
    let realm = service.at("/token");
    let registry = Server::start(move |asked, out| match asked.header("authorization") {
        Some("Bearer t") => reply(out, "200 OK", &header, b""),
        _ => reply(out, "401 Unauthorized", &format!("WWW-Authenticate: Bearer realm=\"{realm}\"\r\n"), b""),
    });
    let file = json!({"auths": {registry.host(): {"identitytoken": "id"}}}).to_string();
    let environment = Environment { registry_logins: vec![file.into_bytes()], ..Environment::default() };
    let told = ask(&environment, &format!("{}/a:b", registry.host()));
    assert_eq!(told, Answer::Found(Digest::parse(&own).unwrap()));
    let sent = service.seen();
    assert_eq!(sent[0].method, "POST");
    let form = "grant_type=refresh_token&client_id=overlay&refresh_token=id&scope=repository%3Aa%3Apull";
    assert_eq!(String::from_utf8_lossy(&sent[0].body), form);
}

#[test]
fn docker_hub_is_asked_at_its_own_host() {
    let own = digest(b"x");
    let header = format!("Docker-Content-Digest: {own}\r\n");
    let server = Server::start(move |_, out| reply(out, "200 OK", &header, b""));
    let mirror = Mirror::parse(&format!("https://registry-1.docker.io={}", server.at(""))).unwrap();
    let settings = Settings { mirrors: vec![mirror], ..quick() };
    let told = ask_with(settings, &Environment::default(), "nginx");
    assert_eq!(told, Answer::Found(Digest::parse(&own).unwrap()));
    assert_eq!(server.seen()[0].target, "/v2/library/nginx/manifests/latest");
}

/// A server that is told nothing but by this log-in, and what it then says.
fn closed(user: &str, password: &str, own: &str) -> Server {
    let wanted = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
    let header = format!("Docker-Content-Digest: {own}\r\n");
    Server::start(move |asked, out| match asked.header("authorization") {
        Some(sent) if sent == wanted => reply(out, "200 OK", &header, b""),
        _ => reply(out, "401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"\r\n", b""),
    })
}

fn mirrored(from: &str, to: &Server) -> Settings {
    Settings { mirrors: vec![Mirror::parse(&format!("{from}={}", to.at(""))).unwrap()], ..quick() }
}

/// What clients proved themselves with.
fn proofs(server: &Server) -> Vec<String> {
    server.seen().iter().filter_map(|asked| asked.header("authorization").map(str::to_owned)).collect()
}

#[test]
fn a_registrys_log_in_does_not_go_to_its_mirror() {
    let mirror = closed("me", "s3cret", &digest(b"x"));
    for registry in ["reg.example", "reg.example:5000", "docker.io"] {
        let from = if registry == "docker.io" { "registry-1.docker.io" } else { registry };
        let settings = mirrored(&format!("https://{from}"), &mirror);
        let told = ask_with(settings, &logged_in(registry, "me", "s3cret"), &format!("{registry}/a/a:b"));
        let reason = "the registry wants a log-in (401), and there is none for it";
        let reason = format!("{}: {reason}", mirror.at("/v2/a/a/manifests/b"));
        assert_eq!(told, Answer::Unknown(Unanswered { why: Why::MirrorLogIn, reason }));
    }
    assert_eq!(proofs(&mirror), [""; 0]);
}

#[test]
fn a_mirror_takes_the_log_in_of_its_own_host() {
    let own = digest(b"x");
    let mirror = closed("me", "s3cret", &own);
    let file = json!({"auths": {"reg.example": {"auth": STANDARD.encode("you:0ther")},
        mirror.host(): {"auth": STANDARD.encode("me:s3cret")}}});
    let environment = Environment { registry_logins: vec![file.to_string().into_bytes()], ..Environment::default() };
    let told = ask_with(mirrored("https://reg.example", &mirror), &environment, "reg.example/a:b");
    assert_eq!(told, Answer::Found(Digest::parse(&own).unwrap()));
    assert_eq!(proofs(&mirror), [format!("Basic {}", STANDARD.encode("me:s3cret"))]);
}

#[test]
fn the_token_service_that_a_mirror_names_is_not_told_the_registrys_log_in() {
    let own = digest(b"x");
    let header = format!("Docker-Content-Digest: {own}\r\n");
    let service = Server::start(|_, out| reply(out, "200 OK", "", br#"{"token": "t"}"#));
    let realm = service.at("/token");
    let mirror = Server::start(move |asked, out| match asked.header("authorization") {
        Some("Bearer t") => reply(out, "200 OK", &header, b""),
        _ => reply(out, "401 Unauthorized", &format!("WWW-Authenticate: Bearer realm=\"{realm}\"\r\n"), b""),
    });
    let settings = || mirrored("https://reg.example", &mirror);
    let found = Answer::Found(Digest::parse(&own).unwrap());
    let password = logged_in("reg.example", "me", "s3cret");
    assert_eq!(ask_with(settings(), &password, "reg.example/a:b"), found);
    let file = json!({"auths": {"reg.example": {"identitytoken": "id"}}}).to_string();
    let identity = Environment { registry_logins: vec![file.into_bytes()], ..Environment::default() };
    assert_eq!(ask_with(settings(), &identity, "reg.example/a:b"), found);
    assert_eq!(proofs(&service), [""; 0]);
    let sent: Vec<String> = service.seen().into_iter().map(|asked| asked.method).collect();
    assert_eq!(sent, ["GET", "GET"]);
}

#[test]
fn a_mirror_of_a_token_service_is_not_told_the_registrys_log_in() {
    let own = digest(b"x");
    let header = format!("Docker-Content-Digest: {own}\r\n");
    let service = Server::start(|_, out| reply(out, "200 OK", "", br#"{"token": "t"}"#));
    let registry = Server::start(move |asked, out| match asked.header("authorization") {
        Some("Bearer t") => reply(out, "200 OK", &header, b""),
        _ => reply(out, "401 Unauthorized", "WWW-Authenticate: Bearer realm=\"https://auth.example/token\"\r\n", b""),
    });
    let told = ask_with(
        mirrored("https://auth.example", &service),
        &logged_in(&registry.host(), "me", "s3cret"),
        &format!("{}/a:b", registry.host()),
    );
    assert_eq!(told, Answer::Found(Digest::parse(&own).unwrap()));
    assert_eq!(proofs(&service), [""; 0]);
}

#[test]
fn a_mirror_that_is_mirrored_itself_keeps_its_log_in() {
    let own = digest(b"x");
    let (first, second) = (closed("me", "s3cret", &own), closed("me", "s3cret", &own));
    let mirror = |from: &str, to: &Server| Mirror::parse(&format!("{from}={}", to.at(""))).unwrap();
    let mirrors = vec![mirror("https://reg.example", &first), mirror(&first.at(""), &second)];
    let settings = Settings { mirrors, ..quick() };
    let told = ask_with(settings, &logged_in(&first.host(), "me", "s3cret"), "reg.example/a:b");
    assert_eq!(told, Answer::Found(Digest::parse(&own).unwrap()));
    assert_eq!(second.seen().len(), 0);
}

#[test]
fn a_token_service_that_redirects_does_not_lead_the_log_in_on() {
    let own = digest(b"x");
    let header = format!("Docker-Content-Digest: {own}\r\n");
    let thief = Server::start(|_, out| reply(out, "200 OK", "", br#"{"token": "t"}"#));
    let to = thief.at("/token");
    let service =
        Server::start(move |_, out| reply(out, "307 Temporary Redirect", &format!("Location: {to}\r\n"), b""));
    let realm = service.at("/token");
    let registry = Server::start(move |asked, out| match asked.header("authorization") {
        Some("Bearer t") => reply(out, "200 OK", &header, b""),
        _ => reply(out, "401 Unauthorized", &format!("WWW-Authenticate: Bearer realm=\"{realm}\"\r\n"), b""),
    });
    let told = ask(&logged_in(&registry.host(), "me", "s3cret"), &format!("{}/a:b", registry.host()));
    assert_eq!(told, Answer::Found(Digest::parse(&own).unwrap()));
    assert_eq!((proofs(&service).len(), proofs(&thief)), (1, Vec::new()));
    let file = json!({"auths": {registry.host(): {"identitytoken": "id"}}}).to_string();
    let identity = Environment { registry_logins: vec![file.into_bytes()], ..Environment::default() };
    let told = reason(ask(&identity, &format!("{}/a:b", registry.host())));
    assert!(told.ends_with("/token: the answer to a POST is a redirect"), "{told}");
}

#[test]
fn a_log_in_goes_to_a_token_service_by_https_alone() {
    for realm in ["http://auth.example/token", "ftp://auth.example/token"] {
        let registry = Server::start(move |_, out| {
            reply(out, "401 Unauthorized", &format!("WWW-Authenticate: Bearer realm=\"{realm}\"\r\n"), b"")
        });
        let told = reason(ask(&logged_in(&registry.host(), "me", "s3cret"), &format!("{}/a:b", registry.host())));
        assert!(told.contains(realm) && told.contains("only https"), "{told}");
    }
}

/// A folder with these helper programs, in the shell's language, and an environment in which the registry's log-in is the
/// first one's.
fn helpers(host: &str, programs: &[(&str, &str)]) -> (TempDir, Environment) {
    let folder = tempfile::tempdir().unwrap();
    for (name, script) in programs {
        let helper = folder.path().join(format!("docker-credential-{name}"));
        std::fs::write(&helper, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&helper, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let file = json!({"credHelpers": {host: programs[0].0}}).to_string();
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths(std::iter::once(folder.path().to_owned()).chain(std::env::split_paths(&path)));
    let (registry_logins, path) = (vec![file.into_bytes()], Some(path.unwrap()));
    (folder, Environment { registry_logins, path, ..Environment::default() })
}

/// What is told where the log-in is that of a helper with this script, and how long that took.
fn with_helper(script: &str, settings: Settings) -> (Answer, Duration) {
    let server = closed("me", "s3cret", &digest(b"x"));
    let (_folder, environment) = helpers(&server.host(), &[("test", script)]);
    let started = Instant::now();
    (ask_with(settings, &environment, &format!("{}/a:b", server.host())), started.elapsed())
}

const GOOD: &str = r#"echo '{"ServerURL": "x", "Username": "me", "Secret": "s3cret"}'"#;

#[test]
fn a_helper_program_is_asked_for_a_log_in() {
    let server = closed("me", "s3cret", &digest(b"x"));
    let (folder, environment) = helpers(&server.host(), &[("test", "cat > \"$0.in\"; echo $1 >> \"$0.in\"\n")]);
    let script = std::fs::read_to_string(folder.path().join("docker-credential-test")).unwrap();
    std::fs::write(folder.path().join("docker-credential-test"), format!("{script}{GOOD}\n")).unwrap();
    let found = Answer::Found(Digest::parse(&digest(b"x")).unwrap());
    assert_eq!(ask(&environment, &format!("{}/a:b", server.host())), found);
    let said = std::fs::read_to_string(folder.path().join("docker-credential-test.in")).unwrap();
    assert_eq!(said, format!("{}get\n", server.host()));
    // One that reads nothing of what it is told.
    assert_eq!(with_helper(GOOD, quick()).0, found);
}

#[test]
fn a_helper_program_that_has_no_log_in_is_not_spoken_of() {
    for script in ["", "read host; "] {
        let script = format!("{script}echo 'credentials not found in native keychain'; exit 1");
        let told = reason(with_helper(&script, quick()).0);
        assert!(told.ends_with("and there is none for it"), "{told}");
    }
}

#[test]
fn a_helper_program_that_fails_is_told_without_what_it_printed() {
    for (script, end) in [
        ("echo s3cret; echo s3cret >&2; exit 1", "failed"),
        ("echo s3cret", "answered with what is no log-in"),
        (r#"echo '{"Username": "s3cret"}'"#, "answered with what is no log-in"),
        ("exit 0", "answered with what is no log-in"),
    ] {
        let told = reason(with_helper(script, quick()).0);
        assert!(told.ends_with(&format!("there is none for it; docker-credential-test {end}")), "{told}");
        assert!(!told.contains("s3cret"), "{told}");
    }
}

#[test]
fn a_helper_program_has_no_more_time_and_space_than_it_needs() {
    let (told, took) = with_helper("yes '{\"Username\":\"x\"'", quick());
    let told = reason(told);
    assert!(told.ends_with("; docker-credential-test wrote more than 65536 bytes"), "{told}");
    assert!(took < Duration::from_secs(5), "{took:?}");
    let settings = Settings { timeout: Duration::from_secs(2), ..quick() };
    let (told, took) = with_helper("sleep 300", settings.clone());
    let told = reason(told);
    assert!(told.contains("; docker-credential-test did not answer in "), "{told}");
    assert!(took < Duration::from_secs(4), "{took:?}");
    // One that has closed its output is no sooner done.
    let (told, _) = with_helper("exec >&-; sleep 300", settings);
    assert!(reason(told).contains("; docker-credential-test did not answer in "));
}

#[test]
fn a_log_in_may_be_as_large_as_the_limit_of_a_helpers_answer() {
    let (told, _) = with_helper(&format!("head -c 65000 /dev/zero | tr '\\0' ' '; {GOOD}"), quick());
    assert_eq!(told, Answer::Found(Digest::parse(&digest(b"x")).unwrap()));
}

#[test]
fn nothing_that_a_helper_program_started_is_left_behind() {
    let is_there = |id: &str| std::path::Path::new(&format!("/proc/{}/stat", id.trim())).exists();
    let settings = || Settings { timeout: Duration::from_secs(2), ..quick() };
    for (end, is_found) in [(GOOD, true), ("sleep 300", false), ("exit 1", false)] {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("child");
        let (told, took) = with_helper(&format!("sleep 301 & echo $! > '{}'; {end}", note.display()), settings());
        assert_eq!(matches!(told, Answer::Found(_)), is_found, "{told:?}");
        assert!(took < Duration::from_secs(4), "{took:?}");
        let child = std::fs::read_to_string(&note).unwrap();
        // Killed, it is there until whoever has it now takes notice.
        let state = || std::fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
        let since = Instant::now();
        while is_there(&child) && !state().contains(") Z ") && since.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(!is_there(&child) || state().contains(") Z "), "{}", state());
    }
}

#[test]
fn no_more_is_asked_for_than_to_pull_this_repository() {
    let own = digest(b"x");
    let header = format!("Docker-Content-Digest: {own}\r\n");
    let service = Server::start(|_, out| reply(out, "200 OK", "", br#"{"token": "t"}"#));
    let realm = service.at("/token");
    let registry = Server::start(move |asked, out| {
        if asked.header("authorization") == Some("Bearer t") {
            return reply(out, "200 OK", &header, b"");
        }
        let scope = "repository:team/a:pull,push,delete repository:team/other:pull registry:catalog:*";
        let header = format!("WWW-Authenticate: Bearer realm=\"{realm}\",service=\"s\",scope=\"{scope}\"\r\n");
        reply(out, "401 Unauthorized", &header, b"")
    });
    let found = Answer::Found(Digest::parse(&own).unwrap());
    assert_eq!(ask(&Environment::default(), &format!("{}/team/a:b", registry.host())), found);
    assert_eq!(service.seen()[0].query("scope").as_deref(), Some("repository:team/a:pull"));
    assert_eq!(service.seen()[0].query("service").as_deref(), Some("s"));
    // A mirror may have the repository under another name.
    let mirror = Mirror::parse(&format!("https://reg.example/v2={}", registry.at("/v2/proxy"))).unwrap();
    let settings = Settings { mirrors: vec![mirror], ..quick() };
    assert_eq!(ask_with(settings, &Environment::default(), "reg.example/team/a:b"), found);
    assert_eq!(service.seen()[1].query("scope").as_deref(), Some("repository:proxy/team/a:pull"));
}

#[test]
fn a_token_that_is_empty_is_none() {
    let service = Server::start(|_, out| reply(out, "200 OK", "", br#"{"token": ""}"#));
    let realm = service.at("/token");
    let registry = Server::start(move |_, out| {
        reply(out, "401 Unauthorized", &format!("WWW-Authenticate: Bearer realm=\"{realm}\"\r\n"), b"")
    });
    let told = reason(ask(&Environment::default(), &format!("{}/a:b", registry.host())));
    assert_eq!(told, format!("{}: its token service gave no token", registry.at("/v2/a/manifests/b")));
    assert_eq!(proofs(&registry), [""; 0]);
}

#[test]
fn a_token_may_be_called_an_access_token_alone() {
    let own = digest(b"x");
    for answer in
        [r#"{"access_token": "t"}"#, r#"{"token": "", "access_token": "t"}"#, r#"{"token": "t", "access_token": "u"}"#]
    {
        let service = Server::start(move |_, out| reply(out, "200 OK", "", answer.as_bytes()));
        let (realm, header) = (service.at("/token"), format!("Docker-Content-Digest: {own}\r\n"));
        let registry = Server::start(move |asked, out| match asked.header("authorization") {
            Some("Bearer t") => reply(out, "200 OK", &header, b""),
            _ => reply(out, "401 Unauthorized", &format!("WWW-Authenticate: Bearer realm=\"{realm}\"\r\n"), b""),
        });
        let found = ask(&Environment::default(), &format!("{}/a:b", registry.host()));
        assert_eq!(found, Answer::Found(Digest::parse(&own).unwrap()), "{answer}");
    }
}

#[test]
fn a_manifest_of_schema_1_is_refused() {
    const BODY: &[u8] = br#"{"schemaVersion": 1, "name": "a", "tag": "b", "signatures": []}"#;
    for header in [String::new(), format!("Docker-Content-Digest: {}\r\n", digest(b"without its signatures"))] {
        // One registry has no HEAD, the other says by it what it has.
        let is_typed = !header.is_empty();
        let header = format!("{header}Content-Type: application/vnd.docker.distribution.manifest.v1+prettyjws\r\n");
        let server = Server::start(move |asked, out| match asked.method.as_str() {
            "HEAD" if !is_typed => reply(out, "405 Method Not Allowed", "", b""),
            "HEAD" => reply(out, "200 OK", &header, b""),
            _ => reply(out, "200 OK", &header, BODY),
        });
        let told = reason(ask(&Environment::default(), &format!("{}/a:b", server.host())));
        let reason = "the answer is a manifest of another schema than 2, whose digest is not that of its bytes";
        assert_eq!(told, format!("{}: {reason}", server.at("/v2/a/manifests/b")));
    }
}

#[test]
fn a_log_in_for_a_part_of_a_registry_is_for_that_part() {
    let own = digest(b"x");
    let server = closed("me", "s3cret", &own);
    let environment = logged_in(&format!("{}/team", server.host()), "me", "s3cret");
    let found = Answer::Found(Digest::parse(&own).unwrap());
    assert_eq!(ask(&environment, &format!("{}/team/a:b", server.host())), found);
    let before = proofs(&server).len();
    assert!(matches!(ask(&environment, &format!("{}/other/a:b", server.host())), Answer::Unknown(_)));
    assert_eq!(proofs(&server).len(), before);
}

#[test]
fn all_that_is_asked_for_one_image_takes_no_longer_than_the_timeout() {
    let pause = || std::thread::sleep(Duration::from_millis(400));
    let service = Server::start(move |_, out| {
        pause();
        reply(out, "200 OK", "", br#"{"token": "t"}"#)
    });
    let realm = service.at("/token");
    let registry = Server::start(move |asked, out| {
        pause();
        match asked.header("authorization") {
            Some("Bearer t") => reply(out, "200 OK", "", br#"{"schemaVersion": 2}"#),
            _ => reply(out, "401 Unauthorized", &format!("WWW-Authenticate: Bearer realm=\"{realm}\"\r\n"), b""),
        }
    });
    let settings = Settings { timeout: Duration::from_secs(1), ..quick() };
    let started = Instant::now();
    let told = reason(ask_with(settings, &Environment::default(), &format!("{}/a:b", registry.host())));
    assert!(started.elapsed() < Duration::from_millis(1400), "{:?}", started.elapsed());
    assert!(told.ends_with("no answer in time: not complete in 1 s"), "{told}");
}
