//! `source::registry` against Debian's docker-registry, open, with passwords and with tokens, filled by skopeo; and
//! against a registry that misbehaves.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use overlay::source::credentials::Environment;
use overlay::source::http::{Http, Mirror, Settings};
use overlay::source::registry::reference::{Digest, Reference};
use overlay::source::registry::{Answer, Registries, Which};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::http::quick;
use crate::peers::{present, run};
use crate::server::{Server, reply};

const PEERS: [&str; 2] = ["docker-registry", "skopeo"];

/// "me" and "s3cret", the password as bcrypt has it.
const HTPASSWD: &str = "me:$2y$05$abcdefghijklmnopqrstuuLK7U1u6pVRmL7L1BBM2aS35PSZnDXlK\n";

/// The media types of the images that are pushed: one of each kind that registries keep.
const OCI_INDEX: &str = "application/vnd.oci.image.index.v1+json";
const OCI_MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const DOCKER_LIST: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";

/// A running docker-registry.
struct Registry {
    host: String,
    process: Child,
    _folder: TempDir,
}

impl Registry {
    /// A registry whose configuration has this `auth` part, with these files beside it.
    fn start(auth: &str, files: &[(&str, &[u8])]) -> Registry {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().display();
        for (name, content) in files {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        let auth = auth.replace("FOLDER", &root.to_string());
        let config = format!(
            "version: 0.1\nlog: {{level: info}}\nstorage: {{filesystem: {{rootdirectory: '{root}/data'}}}}\n\
             http: {{addr: '127.0.0.1:0', secret: x}}\n{auth}"
        );
        let file = folder.path().join("config.yml");
        std::fs::write(&file, config).unwrap();
        let mut process = Command::new("docker-registry")
            .arg("serve")
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map_while(Result::ok);
        let host = lines.find_map(|line| {
            let from = line.find("listening on ")? + "listening on ".len();
            Some(line[from..].chars().take_while(|c| c.is_ascii_digit() || matches!(c, '.' | ':')).collect())
        });
        // Its log goes on, and a pipe that is full would stop it.
        std::thread::spawn(move || lines.for_each(drop));
        Registry { host: host.expect("docker-registry tells where it listens"), process, _folder: folder }
    }

    /// Pushes images of all kinds as `repository:oci`, `:oci-index`, `:docker` and `:docker-list`; gives their digests.
    fn fill(&self, repository: &str, credentials: &[&str]) -> Images {
        let folder = tempfile::tempdir().unwrap();
        let images = Images::write(folder.path());
        for tag in ["oci", "oci-index", "docker", "docker-list"] {
            let source = format!("dir:{}", folder.path().join(tag).display());
            let destination = format!("docker://{}/{repository}:{tag}", self.host);
            let fixed =
                ["copy", "--quiet", "--insecure-policy", "--all", "--preserve-digests", "--dest-tls-verify=false"];
            let arguments = [&fixed[..], credentials, &[&source, &destination]].concat();
            run(folder.path(), "skopeo", &arguments);
        }
        images
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _it_may_have_ended = self.process.kill();
        let _reaped = self.process.wait();
    }
}

/// The digests of the images by their tags.
struct Images(Vec<(&'static str, Digest)>);

impl Images {
    /// Lays out the images as skopeo's `dir:` form has them, a folder for each tag.
    fn write(folder: &Path) -> Images {
        // An empty gzip file, and a configuration that names its content.
        let layer: Vec<u8> = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3][..], &[0; 9]].concat();
        let config = json!({"architecture": "amd64", "os": "linux", "config": {},
            "rootfs": {"type": "layers", "diff_ids": [digest(b"")]}});
        let config = config.to_string().into_bytes();
        let manifest = |of: &str, config_type: &str, layer_type: &str| {
            let part =
                |kind: &str, bytes: &[u8]| json!({"mediaType": kind, "size": bytes.len(), "digest": digest(bytes)});
            json!({"schemaVersion": 2, "mediaType": of, "config": part(config_type, &config),
                "layers": [part(layer_type, &layer)]})
        };
        let oci = manifest(
            OCI_MANIFEST,
            "application/vnd.oci.image.config.v1+json",
            "application/vnd.oci.image.layer.v1.tar+gzip",
        );
        let docker = manifest(
            DOCKER_MANIFEST,
            "application/vnd.docker.container.image.v1+json",
            "application/vnd.docker.image.rootfs.diff.tar.gzip",
        );
        let index = |of: &str, manifest_type: &str, manifest: &Value| {
            let bytes = manifest.to_string().into_bytes();
            json!({"schemaVersion": 2, "mediaType": of, "manifests": [{"mediaType": manifest_type,
                "size": bytes.len(), "digest": digest(&bytes), "platform": {"architecture": "amd64", "os": "linux"}}]})
        };
        let kinds = [
            ("oci", oci.clone(), None),
            ("oci-index", index(OCI_INDEX, OCI_MANIFEST, &oci), Some(oci)),
            ("docker", docker.clone(), None),
            ("docker-list", index(DOCKER_LIST, DOCKER_MANIFEST, &docker), Some(docker)),
        ];
        let mut digests = Vec::new();
        for (tag, top, inner) in kinds {
            let at = folder.join(tag);
            std::fs::create_dir(&at).unwrap();
            let blob = |bytes: &[u8]| digest(bytes).replace("sha256:", "");
            std::fs::write(at.join("version"), "Directory Transport Version: 1.1\n").unwrap();
            std::fs::write(at.join(blob(&layer)), &layer).unwrap();
            std::fs::write(at.join(blob(&config)), &config).unwrap();
            let top = top.to_string().into_bytes();
            std::fs::write(at.join("manifest.json"), &top).unwrap();
            if let Some(inner) = inner {
                let inner = inner.to_string().into_bytes();
                std::fs::write(at.join(format!("{}.manifest.json", blob(&inner))), &inner).unwrap();
            }
            digests.push((tag, Digest::parse(&digest(&top)).unwrap()));
        }
        Images(digests)
    }

    fn digest(&self, tag: &str) -> &Digest {
        &self.0.iter().find(|(name, _)| *name == tag).unwrap().1
    }
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", hex(&Sha256::digest(bytes)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |out, byte| out + &format!("{byte:02x}"))
}

/// A file of log-ins as docker writes it.
fn logged_in(host: &str, user: &str, password: &str) -> Environment {
    let auth = STANDARD.encode(format!("{user}:{password}"));
    let file = json!({"auths": {host: {"auth": auth}}}).to_string();
    Environment { registry_logins: vec![file.into_bytes()], ..Environment::default() }
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
        Answer::Unknown(reason) => reason,
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
    let auth = "auth: {htpasswd: {realm: x, path: FOLDER/htpasswd}}\n";
    let registry = Registry::start(auth, &[("htpasswd", HTPASSWD.as_bytes())]);
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
    assert_eq!(reason(ask(&broken, &reference)), format!("{wanted}; the file of log-ins: Unable to read config"));
}

/// A token service as docker-registry trusts it: RS256 tokens with the certificate in them. Anyone may pull from
/// `open/…`; `me` may do anything.
fn token_service(folder: PathBuf) -> Server {
    let pem = std::fs::read_to_string(folder.join("token.pem")).unwrap();
    let certificate: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
    Server::start(move |asked, out| {
        let scope = asked.query("scope").unwrap_or_default();
        let mut parts = scope.split(':').skip(1);
        let (name, actions) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let is_me = asked.header("authorization") == Some("Basic bWU6czNjcmV0");
        if asked.header("authorization").is_some() && !is_me {
            return reply(out, "401 Unauthorized", "", b"{\"errors\": [{\"code\": \"UNAUTHORIZED\"}]}");
        }
        let allowed = is_me || (name.starts_with("open/") && actions == "pull");
        let actions: Vec<&str> = if allowed { actions.split(',').collect() } else { Vec::new() };
        let header = json!({"typ": "JWT", "alg": "RS256", "x5c": [certificate]});
        let claims = json!({"iss": "test", "aud": asked.query("service"), "sub": "", "nbf": 0, "iat": 0,
            "exp": 4_000_000_000_u32, "jti": "x", "access": [{"type": "repository", "name": name, "actions": actions}]});
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&header), part(&claims));
        let mut openssl = Command::new("openssl")
            .args(["dgst", "-sha256", "-sign", "token.key"])
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        openssl.stdin.take().unwrap().write_all(signed.as_bytes())?;
        let signature = openssl.wait_with_output()?.stdout;
        let token = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature));
        reply(out, "200 OK", "", json!({"token": token}).to_string().as_bytes())
    })
}

#[test]
fn a_registry_with_tokens_is_asked_with_one_anonymous_or_not() {
    if !present(&[PEERS[0], PEERS[1], "openssl"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "token.key", "-out", "token.pem"];
    run(folder.path(), "openssl", &[&arguments[..], &["-subj", "/CN=token", "-days", "2"]].concat());
    let certificate = std::fs::read(folder.path().join("token.pem")).unwrap();
    let service = token_service(folder.path().to_owned());
    let realm = service.at("/token");
    let auth = format!(
        "auth: {{token: {{realm: '{realm}', service: 'a service', issuer: test, rootcertbundle: FOLDER/token.pem}}}}\n"
    );
    let registry = Registry::start(&auth, &[("token.pem", &certificate)]);
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
    for (status, body, said) in [
        ("403 Forbidden", "", ""),
        ("429 Too Many Requests", r#"{"errors": [{"code": "TOOMANYREQUESTS", "message": "slow \u001bdown"}]}"#, ""),
        ("500 Internal Server Error", "", ""),
        ("503 Service Unavailable", "", ""),
        ("404 Not Found", "<html>no such page</html>", ""),
        ("404 Not Found", r#"{"errors": [{"code": "BLOB_UNKNOWN", "message": "x"}]}"#, "; it says BLOB_UNKNOWN: x"),
        ("405 Method Not Allowed", "", ""),
    ] {
        let server = Server::start(move |asked, out| {
            let body = if asked.method == "HEAD" { "" } else { body };
            reply(out, status, "", body.as_bytes())
        });
        let told = reason(ask(&Environment::default(), &format!("{}/a:b", server.host())));
        assert_eq!(told, format!("{}: the server answered {status}{said}", server.at("/v2/a/manifests/b")));
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
    assert_eq!(told, format!("{at}: the registry names another digest than the manifest has"));
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

/// The part of the next test that runs with another PATH.
fn ask_with_helper() {
    let file = json!({"credHelpers": {"127.0.0.1:1": "overlay-test", "127.0.0.1:2": "overlay-test"}}).to_string();
    let server = Server::start(|asked, out| match asked.header("authorization") {
        Some("Basic bWU6czNjcmV0") => reply(out, "200 OK", "Docker-Content-Digest: x\r\n", br#"{"schemaVersion": 2}"#),
        _ => reply(out, "401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"\r\n", b""),
    });
    let environment = Environment { registry_logins: vec![file.into_bytes()], ..Environment::default() };
    let at = |port: u16| {
        let mirror = Mirror::parse(&format!("http://127.0.0.1:{port}={}", server.at(""))).unwrap();
        let settings = Settings { mirrors: vec![mirror], ..quick() };
        ask_with(settings, &environment, &format!("127.0.0.1:{port}/a:b"))
    };
    assert!(matches!(at(1), Answer::Found(_)));
    let told = reason(at(2));
    assert!(told.ends_with("there is none for it; docker-credential-overlay-test failed"), "{told}");
    assert!(!told.contains("s3cret"), "{told}");
}

#[test]
fn a_helper_program_is_asked_for_a_log_in() {
    // The helper is found on the process's own PATH, and so the test runs itself again with another.
    const INNER: &str = "OVERLAY_TEST_HELPER";
    if std::env::var_os(INNER).is_some() {
        return ask_with_helper();
    }
    let folder = tempfile::tempdir().unwrap();
    let script = "#!/bin/sh\nread host\ncase $host in\n\
                  127.0.0.1:1) echo '{\"Username\": \"me\", \"Secret\": \"s3cret\"}' ;;\n\
                  *) echo s3cret; exit 1 ;;\nesac\n";
    let helper = folder.path().join("docker-credential-overlay-test");
    std::fs::write(&helper, script).unwrap();
    std::fs::set_permissions(&helper, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths(std::iter::once(folder.path().to_owned()).chain(std::env::split_paths(&path)));
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "registry::a_helper_program_is_asked_for_a_log_in"])
        .env(INNER, "1")
        .env("PATH", path.unwrap())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
}
