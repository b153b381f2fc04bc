//! Debian's docker-registry, filled by skopeo: open, with passwords, and with tokens from a service of our own.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use overlay::resource::reference::Digest;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::peers::run;
use crate::server::{Server, reply};

/// What it takes to have a filled registry.
pub(crate) const PEERS: [&str; 2] = ["docker-registry", "skopeo"];

/// "me" and "s3cret", the password as bcrypt has it.
const HTPASSWD: &str = "me:$2y$05$abcdefghijklmnopqrstuuLK7U1u6pVRmL7L1BBM2aS35PSZnDXlK\n";

/// The media types of the images that are pushed: one of each kind that registries keep.
pub(crate) const OCI_INDEX: &str = "application/vnd.oci.image.index.v1+json";
pub(crate) const OCI_MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub(crate) const DOCKER_LIST: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
pub(crate) const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";

/// A running docker-registry.
pub(crate) struct Registry {
    /// Host and port.
    pub(crate) host: String,
    process: Child,
    _folder: TempDir,
}

impl Registry {
    /// A registry whose configuration has this `auth` part, with these files beside it.
    pub(crate) fn start(auth: &str, files: &[(&str, &[u8])]) -> Registry {
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
    pub(crate) fn fill(&self, repository: &str, credentials: &[&str]) -> Images {
        let folder = tempfile::tempdir().unwrap();
        let images = Images::write(folder.path());
        for (tag, _) in &images.0 {
            let source = format!("dir:{}", folder.path().join(tag).display());
            self.copy(&source, &format!("{repository}:{tag}"), credentials);
        }
        images
    }

    /// Gives the image of one tag to another.
    pub(crate) fn tag(&self, repository: &str, from: &str, to: &str) {
        let source = format!("docker://{}/{repository}:{from}", self.host);
        self.copy(&source, &format!("{repository}:{to}"), &["--src-tls-verify=false"]);
    }

    fn copy(&self, source: &str, to: &str, more: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let fixed = ["copy", "--quiet", "--insecure-policy", "--all", "--preserve-digests", "--dest-tls-verify=false"];
        let destination = format!("docker://{}/{to}", self.host);
        run(folder.path(), "skopeo", &[&fixed[..], more, &[source, &destination]].concat());
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _it_may_have_ended = self.process.kill();
        let _reaped = self.process.wait();
    }
}

/// The digests of the images by their tags.
pub(crate) struct Images(pub(crate) Vec<(&'static str, Digest)>);

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

    pub(crate) fn digest(&self, tag: &str) -> &Digest {
        &self.0.iter().find(|(name, _)| *name == tag).unwrap().1
    }
}

pub(crate) fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", hex(&Sha256::digest(bytes)))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |out, byte| out + &format!("{byte:02x}"))
}

/// A file of log-ins as docker writes it.
pub(crate) fn logins(host: &str, user: &str, password: &str) -> String {
    let auth = STANDARD.encode(format!("{user}:{password}"));
    json!({"auths": {host: {"auth": auth}}}).to_string()
}

/// A registry that asks for the password of `me`.
pub(crate) fn with_passwords() -> Registry {
    let auth = "auth: {htpasswd: {realm: x, path: FOLDER/htpasswd}}\n";
    Registry::start(auth, &[("htpasswd", HTPASSWD.as_bytes())])
}

/// A registry that asks for tokens, and the service that gives them.
pub(crate) struct Tokens {
    pub(crate) registry: Registry,
    pub(crate) service: Server,
}

impl Tokens {
    /// Takes openssl.
    pub(crate) fn start() -> Tokens {
        let folder = tempfile::tempdir().unwrap();
        let arguments = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "token.key", "-out", "token.pem"];
        run(folder.path(), "openssl", &[&arguments[..], &["-subj", "/CN=token", "-days", "2"]].concat());
        let certificate = std::fs::read(folder.path().join("token.pem")).unwrap();
        let service = token_service(folder);
        let realm = service.at("/token");
        let auth = format!(
            "auth: {{token: {{realm: '{realm}', service: 'a service', issuer: test, rootcertbundle: FOLDER/token.pem}}}}\n"
        );
        Tokens { registry: Registry::start(&auth, &[("token.pem", &certificate)]), service }
    }
}

/// A token service as docker-registry trusts it: RS256 tokens with the certificate in them. Anyone may pull from
/// `open/…`; `me` may do anything.
fn token_service(folder: TempDir) -> Server {
    let pem = std::fs::read_to_string(folder.path().join("token.pem")).unwrap();
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
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        openssl.stdin.take().unwrap().write_all(signed.as_bytes())?;
        let signature = openssl.wait_with_output()?.stdout;
        let token = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature));
        reply(out, "200 OK", "", json!({"token": token}).to_string().as_bytes())
    })
}
