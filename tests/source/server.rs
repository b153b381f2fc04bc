//! A small HTTP server whose answers are written byte by byte, so that they can be wrong in every way.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::peers;

/// What a client asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Asked {
    /// A header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The same without that header.
    pub(crate) fn without(&self, name: &str) -> Asked {
        let mut asked = self.clone();
        asked.headers.retain(|(n, _)| !n.eq_ignore_ascii_case(name));
        asked
    }

    /// The path without its query.
    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap()
    }

    /// A parameter of the query, decoded.
    pub(crate) fn query(&self, name: &str) -> Option<String> {
        let query = self.target.split_once('?')?.1;
        let mut pairs = url::form_urlencoded::parse(query.as_bytes());
        pairs.find(|(n, _)| n == name).map(|(_, value)| value.into_owned())
    }
}

type Handler = dyn Fn(&Asked, &mut dyn Write) -> io::Result<()> + Send + Sync;

/// A server that runs until it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    scheme: &'static str,
    seen: Arc<Mutex<Vec<Asked>>>,
    stopped: Arc<AtomicBool>,
}

impl Server {
    /// A server without TLS.
    pub(crate) fn start(handler: impl Fn(&Asked, &mut dyn Write) -> io::Result<()> + Send + Sync + 'static) -> Server {
        Server::serve(None, Arc::new(handler))
    }

    /// A server with the certificate of that authority.
    pub(crate) fn start_tls(
        authority: &Authority,
        handler: impl Fn(&Asked, &mut dyn Write) -> io::Result<()> + Send + Sync + 'static,
    ) -> Server {
        Server::serve(Some(Arc::clone(&authority.tls)), Arc::new(handler))
    }

    fn serve(tls: Option<Arc<rustls::ServerConfig>>, handler: Arc<Handler>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let stopped = Arc::new(AtomicBool::new(false));
        let scheme = if tls.is_some() { "https" } else { "http" };
        let (their_seen, their_stopped) = (Arc::clone(&seen), Arc::clone(&stopped));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if their_stopped.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(stream), tls, handler, seen) =
                    (stream, tls.clone(), Arc::clone(&handler), Arc::clone(&their_seen))
                else {
                    continue;
                };
                // A client that goes away in the middle is part of the tests.
                std::thread::spawn(move || attend(stream, tls, &*handler, &seen));
            }
        });
        Server { address, scheme, seen, stopped }
    }

    /// An address on this server.
    pub(crate) fn at(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
    }

    /// Host and port.
    pub(crate) fn host(&self) -> String {
        self.address.to_string()
    }

    /// What was asked so far.
    pub(crate) fn seen(&self) -> Vec<Asked> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        // The listener waits for one more client.
        let _wakes_it = TcpStream::connect(self.address);
    }
}

fn attend(
    mut stream: TcpStream,
    tls: Option<Arc<rustls::ServerConfig>>,
    handler: &Handler,
    seen: &Mutex<Vec<Asked>>,
) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.set_write_timeout(Some(Duration::from_secs(10)))?;
    match tls {
        None => exchange(&mut stream, handler, seen),
        Some(config) => {
            let mut connection = rustls::ServerConnection::new(config).map_err(io::Error::other)?;
            let mut both = rustls::Stream::new(&mut connection, &mut stream);
            let ended = exchange(&mut both, handler, seen);
            connection.send_close_notify();
            let _ended_too = connection.complete_io(&mut stream);
            ended
        }
    }
}

fn exchange(stream: &mut (impl Read + Write), handler: &Handler, seen: &Mutex<Vec<Asked>>) -> io::Result<()> {
    let asked = read(&mut BufReader::new(&mut *stream))?;
    seen.lock().unwrap().push(asked.clone());
    handler(&asked, stream)?;
    stream.flush()
}

fn read(stream: &mut impl BufRead) -> io::Result<Asked> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let mut words = line.split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    let mut asked = Asked { method: method.into(), target: target.into(), ..Asked::default() };
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        asked.headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let length = asked.header("content-length").and_then(|v| v.parse().ok()).unwrap_or(0);
    asked.body = vec![0; length];
    stream.read_exact(&mut asked.body)?;
    Ok(asked)
}

/// Writes an answer. `headers` are lines, each with its end.
pub(crate) fn reply(out: &mut dyn Write, status: &str, headers: &str, body: &[u8]) -> io::Result<()> {
    let length = body.len();
    write!(out, "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n")?;
    out.write_all(body)
}

/// A throw-away certificate authority, and a server's certificate by it for 127.0.0.1.
pub(crate) struct Authority {
    /// Its certificate, PEM.
    pub(crate) pem: Vec<u8>,
    tls: Arc<rustls::ServerConfig>,
}

impl Authority {
    /// A new one, made in that folder by openssl.
    pub(crate) fn new(folder: &Path) -> Authority {
        let openssl = |arguments: &[&str]| peers::run(folder, "openssl", arguments);
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
        let own = ["-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=throw-away", "-days", "2"];
        openssl(&[&["req", "-x509"], &key[..], &own[..]].concat());
        openssl(&[&["req"], &key[..], &["-keyout", "key.pem", "-out", "request.pem", "-subj", "/CN=server"]].concat());
        std::fs::write(folder.join("extensions"), "subjectAltName=IP:127.0.0.1\n").unwrap();
        let signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "extensions"];
        openssl(&[&["x509", "-req", "-in", "request.pem", "-out", "cert.pem"], &signed[..]].concat());
        let chain = vec![CertificateDer::from_pem_file(folder.join("cert.pem")).unwrap()];
        let key = PrivateKeyDer::from_pem_file(folder.join("key.pem")).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap();
        Authority { pem: std::fs::read(folder.join("ca.pem")).unwrap(), tls: Arc::new(tls) }
    }
}
