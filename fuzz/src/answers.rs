//! What registries and git servers answer: a server on this machine gives the bytes as they are, and whatever they say,
//! nothing but it is asked.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use overlay::resource::answer::Answer;
use overlay::resource::reference::{Digest, Reference};
use overlay::source::credentials::Environment;
use overlay::source::http::{Anonymous, Http, Proxies, Settings};
use overlay::source::refs::resolve;
use overlay::source::registry::{Registries, Which};

/// What parts one answer from the next.
const NEXT: &[u8] = b"\n=>\n";

/// The digest of the manifest in the seeds.
const DIGEST: &str = "sha256:b22c7289dd3b4785a3795c90e15d16bd66bd29b444b8974fe29ed0443ce50405";

/// A server, and a client that asks it and nobody else.
struct Server {
    host: String,
    answers: Arc<Mutex<Vec<Vec<u8>>>>,
    http: Http,
}

thread_local! {
    static SERVER: Server = Server::start();
}

impl Server {
    fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let answers = Arc::new(Mutex::new(Vec::new()));
        let theirs = Arc::clone(&answers);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let answer = next(&mut theirs.lock().unwrap_or_else(PoisonError::into_inner));
                // A client that goes away in the middle is nothing to tell.
                let _gone = attend(stream, &answer);
            }
        });
        let settings = Settings {
            // Where an answer leads to another host, that is asked here too.
            proxies: Proxies { https: Some(format!("http://{host}")), none_for: String::new() },
            idle: Duration::from_millis(500),
            timeout: Duration::from_secs(2),
            max_bytes: 1 << 16,
            back_off: Duration::ZERO,
            max_wait: Duration::ZERO,
            ..Settings::default()
        };
        Server { host, answers, http: Http::new(settings).unwrap() }
    }

    /// From now on these are the answers, the last of them again and again.
    fn answer_with(&self, data: &[u8]) {
        let mut answers = Vec::new();
        let mut rest = data;
        while let Some(at) = rest.windows(NEXT.len()).position(|bytes| bytes == NEXT) {
            answers.insert(0, rest[..at].to_vec());
            rest = &rest[at + NEXT.len()..];
        }
        answers.insert(0, rest.to_vec());
        *self.answers.lock().unwrap_or_else(PoisonError::into_inner) = answers;
    }
}

fn next(answers: &mut Vec<Vec<u8>>) -> Vec<u8> {
    if answers.len() > 1 { answers.pop().unwrap_or_default() } else { answers.first().cloned().unwrap_or_default() }
}

/// Reads one request and gives the answer. Lines end in a line feed there, for shorter seeds.
fn attend(mut stream: TcpStream, answer: &[u8]) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_millis(500)))?;
    let mut asked = Vec::new();
    let mut some = [0; 4096];
    while !asked.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        let count = stream.read(&mut some)?;
        if count == 0 {
            return Ok(());
        }
        asked.extend_from_slice(&some[..count]);
    }
    stream.write_all(answer)?;
    stream.shutdown(Shutdown::Write)?;
    // What is left unread would make the connection break instead of end.
    std::io::copy(&mut stream, &mut std::io::sink()).map(drop)
}

/// What a registry answers: a digest that is asked for is found as that digest or not at all, and why not can be shown.
/// The first byte chooses the question.
pub fn registry(data: &[u8]) {
    let Some((question, answers)) = data.split_first() else { return };
    SERVER.with(|server| {
        server.answer_with(answers);
        let environment = Environment::default();
        let registries = Registries::new(&server.http, &environment);
        let reference = Reference::parse(&format!("{}/team/app:1", server.host)).unwrap();
        let digest = Digest::parse(DIGEST).unwrap();
        match question % 4 {
            0 => drop(found(registries.ask(&reference, Which::Tag("1")))),
            1 => assert!(found(registries.ask(&reference, Which::Digest(&digest))).is_none_or(|found| found == digest)),
            2 => {
                let manifest = found(registries.manifest(&reference, Which::Digest(&digest)));
                assert!(manifest.is_none_or(|manifest| manifest.digest == digest));
            }
            _ => {
                for tag in registries.tags(&reference) {
                    super::harmless(&tag);
                }
            }
        }
    });
}

fn found<T>(answer: Answer<T>) -> Option<T> {
    match answer {
        Answer::Found(found) => return Some(found),
        Answer::Gone(said) => super::harmless(&said),
        Answer::Unknown(unanswered) => super::harmless(&unanswered.reason),
    }
    None
}

/// What a git server answers: a branch or tag is found as a commit, or why not can be shown.
pub fn git(data: &[u8]) {
    SERVER.with(|server| {
        server.answer_with(data);
        match resolve(&server.http, &Anonymous, &format!("http://{}/team/app.git", server.host), "main") {
            Ok(resolved) => {
                assert!(matches!(resolved.name.as_str(), "refs/heads/main" | "refs/tags/main"), "{resolved:?}");
                assert!(matches!(resolved.commit.len(), 40 | 64), "{resolved:?}");
                assert!(resolved.commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{resolved:?}");
            }
            Err(error) => super::harmless(&error.to_string()),
        }
    });
}
