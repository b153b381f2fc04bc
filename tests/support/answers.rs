//! A server on 127.0.0.1 that gives a case's own answers, for what is asked of a registry or of upstream.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use serde::Deserialize;

/// How a case's files, arguments and records name the server. Its own port has five digits too, so that what is
/// recorded has the same columns.
pub(crate) const HOST: &str = "127.0.0.1:50000";

/// What is answered at a path; everything else is a 404 in the words of a registry.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    path: String,
    status: String,
    #[serde(default)]
    headers: Vec<String>,
    #[serde(default)]
    body: String,
}

/// A server that lives as long as the test.
pub(crate) struct Server {
    /// Its host and port.
    pub(crate) host: String,
}

impl Server {
    pub(crate) fn start(answers: Vec<Answer>) -> Server {
        let listener = std::iter::repeat_with(|| TcpListener::bind("127.0.0.1:0").unwrap())
            .find(|listener| listener.local_addr().unwrap().port() >= 10_000);
        let listener = listener.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let answers = answers.clone();
                // A client may go away at any time.
                std::thread::spawn(move || attend(stream, &answers));
            }
        });
        Server { host }
    }
}

fn attend(mut stream: TcpStream, answers: &[Answer]) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut lines = BufReader::new(&stream).lines();
    let request = lines.next().unwrap_or(Ok(String::new()))?;
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let mut words = request.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let unknown = Answer {
        path: String::new(),
        status: "404 Not Found".into(),
        headers: Vec::new(),
        body: r#"{"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]}"#.into(),
    };
    let answer = answers.iter().find(|answer| answer.path == path).unwrap_or(&unknown);
    let body = if method == "HEAD" { "" } else { &answer.body };
    write!(stream, "HTTP/1.1 {}\r\nConnection: close\r\nContent-Length: {}\r\n", answer.status, body.len())?;
    for header in &answer.headers {
        write!(stream, "{header}\r\n")?;
    }
    write!(stream, "\r\n{body}")
}
