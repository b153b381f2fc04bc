//! `base.lock`: what the vendored files are, and what every document of upstream's means.
//!
//! It is written by the program alone, in a stable order and without dates, so that the same content gives the same
//! bytes; it is read like the files that people write, so that a lock that was edited or merged badly is told with
//! its line.

mod written;

use std::fmt::{self, Write as _};
use std::sync::Arc;

use super::etag::{EntityTag, SentTag};
use crate::config::{Fields, File, Findings, Form, View};
use crate::diag::Source;
use crate::resource::Identity;
use crate::yaml::spell;

/// The name of the file in a base's folder.
pub const FILE_NAME: &str = "base.lock";

/// What a base was when it was vendored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// The fetched files, in the order in which `base.yaml` names them.
    pub files: Vec<LockedFile>,
}

/// One fetched file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedFile {
    /// Where it comes from: an address, or the path of a `file:` source as it is written.
    pub address: String,
    /// The bytes that upstream publishes there.
    pub upstream: Upstream,
    /// The file in the base's folder.
    pub vendored: Vendored,
    /// Every document of upstream's, in upstream's order.
    pub documents: Vec<LockedDocument>,
}

/// Upstream's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// Their SHA-256.
    pub sha256: String,
    /// Their number.
    pub size: u64,
    /// Their name as a git blob.
    pub blob: String,
    /// What their server called them, where it may be asked by that whether they are still what it has.
    pub etag: Option<SentTag>,
}

/// The vendored file's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vendored {
    /// The file's name.
    pub name: String,
    /// Their SHA-256.
    pub sha256: String,
    /// Their number.
    pub size: u64,
    /// Whose bytes they are.
    pub layout: Layout,
}

/// Whose bytes a vendored file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Upstream's, of the kept documents.
    Upstream,
    /// Someone else's who laid the same content out anew, and a person accepted that.
    Accepted,
}

/// One document of upstream's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedDocument {
    /// What it is called.
    pub identity: Identity,
    /// Whether the vendored file has it.
    pub kept: bool,
    /// Its content digest.
    pub content: String,
}

const FORM: Form = Form::new("Lock");

impl Lock {
    /// Reads a lock; what is wrong with it is told with its line.
    pub fn read(source: &Arc<Source>, findings: &mut Findings) -> Option<Lock> {
        written::read(&source.text).or_else(|| Lock::read_yaml(source, findings))
    }

    fn read_yaml(source: &Arc<Source>, findings: &mut Findings) -> Option<Lock> {
        let before = findings.len();
        let file = findings.keep(File::open(source, FORM))?;
        let top = file.top(&["files"], findings)?;
        let files = top.require("files", findings)?.items(findings)?;
        let files: Vec<LockedFile> = files.iter().filter_map(|f| read_file(*f, findings)).collect();
        (findings.len() == before).then_some(Lock { files })
    }

    /// The text of the lock.
    pub fn write(&self) -> String {
        let mut out = String::new();
        self.write_in_bits(|bit| out.push_str(bit));
        out
    }

    /// The text of the lock, bit by bit.
    fn write_in_bits(&self, mut write: impl FnMut(&str)) {
        write("# Written by `overlay vendor`.\napiVersion: overlay/v1\nkind: Lock\nfiles:\n");
        let mut bit = String::new();
        for file in &self.files {
            bit.clear();
            file.write(&mut bit);
            write(&bit);
            for document in &file.documents {
                bit.clear();
                document.write(&mut bit);
                write(&bit);
            }
        }
    }
}

impl LockedFile {
    /// Without its documents.
    fn write(&self, out: &mut String) {
        let LockedFile { address, upstream, vendored, documents: _ } = self;
        line(out, "  - address", address);
        out.push_str("    upstream:\n");
        line(out, "      sha256", &upstream.sha256);
        plain(out, "      size", upstream.size);
        line(out, "      blob", &upstream.blob);
        if let Some(SentTag { tag, from }) = &upstream.etag {
            line(out, "      etag", tag.as_str());
            if let Some(from) = from {
                line(out, "      etagFrom", from);
            }
        }
        out.push_str("    vendored:\n");
        line(out, "      name", &vendored.name);
        line(out, "      sha256", &vendored.sha256);
        plain(out, "      size", vendored.size);
        if vendored.layout == Layout::Accepted {
            line(out, "      layout", "accepted");
        }
        out.push_str("    documents:\n");
    }
}

impl LockedDocument {
    fn write(&self, out: &mut String) {
        line(out, "      - apiVersion", &self.identity.api_version());
        line(out, "        kind", &self.identity.kind);
        for (key, part) in [("        namespace", &self.identity.namespace), ("        name", &self.identity.name)] {
            if !part.is_empty() {
                line(out, key, part);
            }
        }
        plain(out, "        kept", self.kept);
        line(out, "        content", &self.content);
    }
}

/// Writes an entry whose value is a text.
fn line(out: &mut String, key: &str, value: &str) {
    // In flow style a text stays on its line.
    for part in [key, ": ", &spell::string(value, None, spell::Place::Flow), "\n"] {
        out.push_str(part);
    }
}

/// Writes an entry whose value is spelled already.
fn plain(out: &mut String, key: &str, value: impl fmt::Display) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{key}: {value}");
}

fn read_file(view: View<'_>, findings: &mut Findings) -> Option<LockedFile> {
    let fields = view.fields("a locked file", &["address", "upstream", "vendored", "documents"], findings)?;
    let address = text(&fields, "address", findings);
    let upstream = fields.require("upstream", findings).and_then(|v| read_upstream(v, findings));
    let vendored = fields.require("vendored", findings).and_then(|v| read_vendored(v, findings));
    let documents = fields.require("documents", findings).and_then(|v| v.items(findings));
    let documents = documents.map(|d| d.iter().filter_map(|d| read_document(*d, findings)).collect());
    Some(LockedFile { address: address?, upstream: upstream?, vendored: vendored?, documents: documents? })
}

fn read_upstream(view: View<'_>, findings: &mut Findings) -> Option<Upstream> {
    let fields = view.fields("`upstream`", &["sha256", "size", "blob", "etag", "etagFrom"], findings)?;
    let sha256 = hex(&fields, "sha256", 64, findings);
    let size = fields.require("size", findings).and_then(|v| v.count(findings));
    let blob = hex(&fields, "blob", 40, findings);
    let etag = read_etag(&fields, findings);
    Some(Upstream { sha256: sha256?, size: size?.value, blob: blob?, etag: etag? })
}

/// The tag, if there is one. `None` where it is none, or only says where it is from.
#[expect(clippy::option_option, reason = "a tag that cannot be taken is told from none")]
fn read_etag(fields: &Fields<'_>, findings: &mut Findings) -> Option<Option<SentTag>> {
    if fields.get("etag").is_none() && fields.get("etagFrom").is_none() {
        return Some(None);
    }
    let view = fields.require("etag", findings)?;
    let from = match fields.get("etagFrom") {
        Some(_) => Some(hex(fields, "etagFrom", 64, findings)?),
        None => None,
    };
    match EntityTag::parse(&view.text(findings)?.value) {
        Some(tag) => Some(Some(SentTag { tag, from })),
        None => view.unexpected("an entity tag in its quotes", findings),
    }
}

fn read_vendored(view: View<'_>, findings: &mut Findings) -> Option<Vendored> {
    let fields = view.fields("`vendored`", &["name", "sha256", "size", "layout"], findings)?;
    let name = text(&fields, "name", findings);
    let sha256 = hex(&fields, "sha256", 64, findings);
    let size = fields.require("size", findings).and_then(|v| v.count(findings));
    let layout = match fields.get("layout") {
        None => Some(Layout::Upstream),
        Some(view) => match view.text(findings)?.value.as_str() {
            "accepted" => Some(Layout::Accepted),
            _ => view.unexpected("`accepted`", findings),
        },
    };
    Some(Vendored { name: name?, sha256: sha256?, size: size?.value, layout: layout? })
}

fn read_document(view: View<'_>, findings: &mut Findings) -> Option<LockedDocument> {
    let known = ["apiVersion", "kind", "namespace", "name", "kept", "content"];
    let fields = view.fields("a locked document", &known, findings)?;
    let part = |key: &str, findings: &mut Findings| match fields.get(key) {
        None => Some(String::new()),
        Some(view) => view.text(findings).map(|t| t.value),
    };
    let (api_version, kind) = (part("apiVersion", findings), part("kind", findings));
    let (namespace, name) = (part("namespace", findings), part("name", findings));
    let kept = fields.require("kept", findings).and_then(|v| v.boolean(findings));
    let content = hex(&fields, "content", 64, findings);
    let identity = Identity::new(&api_version?, kind?, namespace?, name?);
    Some(LockedDocument { identity, kept: kept?.value, content: content? })
}

fn text(fields: &Fields<'_>, key: &str, findings: &mut Findings) -> Option<String> {
    Some(fields.require(key, findings)?.text(findings)?.value)
}

fn is_digest(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// A digest of that many hexadecimal digits.
fn hex(fields: &Fields<'_>, key: &str, digits: usize, findings: &mut Findings) -> Option<String> {
    let view = fields.require(key, findings)?;
    let found = view.text(findings)?.value;
    if is_digest(&found, digits) {
        Some(found)
    } else {
        view.unexpected(&format!("{digits} hexadecimal digits"), findings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(first: &str, count: usize) -> String {
        format!("{first}{}", "a".repeat(count - first.len()))
    }

    pub(super) fn lock() -> Lock {
        let document =
            |identity: Identity, kept, content: &str| LockedDocument { identity, kept, content: digits(content, 64) };
        let etag = |tag: &str, from| Some(SentTag { tag: EntityTag::parse(tag).unwrap(), from });
        let file = |address: &str, name: &str, layout, etag| LockedFile {
            address: address.into(),
            upstream: Upstream { sha256: digits("1", 64), size: 8091, blob: digits("2", 40), etag },
            vendored: Vendored { name: name.into(), sha256: digits("3", 64), size: 4711, layout },
            documents: vec![
                document(Identity::new("v1", "Namespace", "", "a"), true, "4"),
                document(Identity::new("apps/v1", "DaemonSet", "007", "no: \"#"), false, "5"),
                document(Identity::default(), false, "6"),
            ],
        };
        Lock {
            files: vec![
                file("../a b/ä.yaml", "ä.yaml", Layout::Accepted, etag("W/\"7'8\"", None)),
                file(
                    "https://example.org/x.yaml?raw=1",
                    "x.yaml",
                    Layout::Upstream,
                    etag("\"5-6\"", Some(digits("7", 64))),
                ),
            ],
        }
    }

    fn findings_of(text: &str) -> Vec<String> {
        let mut findings = Findings::new();
        assert_eq!(Lock::read(&Source::new("base.lock", text), &mut findings), None);
        findings.iter().map(|f| format!("{}: {}", f.place.as_ref().unwrap().line(), f.message)).collect()
    }

    #[test]
    fn a_lock_reads_as_it_was_written() {
        let mut findings = Findings::new();
        let read = Lock::read(&Source::new("base.lock", lock().write()), &mut findings);
        assert!(findings.is_empty(), "{findings:?}");
        assert_eq!(read, Some(lock()));
    }

    #[test]
    fn a_lock_looks_like_a_file_of_ours() {
        let mut lock = lock();
        lock.files.remove(0);
        assert_eq!(
            lock.write(),
            format!(
                "# Written by `overlay vendor`.\n\
                 apiVersion: overlay/v1\n\
                 kind: Lock\n\
                 files:\n  \
                   - address: \"https://example.org/x.yaml?raw=1\"\n    \
                     upstream:\n      \
                       sha256: 1{a63}\n      \
                       size: 8091\n      \
                       blob: 2{a39}\n      \
                       etag: \"\\\"5-6\\\"\"\n      \
                       etagFrom: 7{a63}\n    \
                     vendored:\n      \
                       name: x.yaml\n      \
                       sha256: 3{a63}\n      \
                       size: 4711\n    \
                     documents:\n      \
                       - apiVersion: v1\n        \
                         kind: Namespace\n        \
                         name: a\n        \
                         kept: true\n        \
                         content: 4{a63}\n      \
                       - apiVersion: apps/v1\n        \
                         kind: DaemonSet\n        \
                         namespace: \"007\"\n        \
                         name: \"no: \\\"#\"\n        \
                         kept: false\n        \
                         content: 5{a63}\n      \
                       - apiVersion: \"\"\n        \
                         kind: \"\"\n        \
                         kept: false\n        \
                         content: 6{a63}\n",
                a63 = "a".repeat(63),
                a39 = "a".repeat(39)
            )
        );
    }

    #[test]
    fn a_lock_that_was_edited_is_told_with_its_lines() {
        let text = lock().write();
        let short = text.replacen("blob: 2a", "blob: 2", 1).replacen("kept: true", "kept: yes", 1);
        assert_eq!(
            findings_of(&short),
            [
                format!("9: 40 hexadecimal digits is expected, not `2{}`", "a".repeat(38)),
                "20: `yes` is not read alike by all readers of YAML".to_owned(),
            ]
        );
        assert_eq!(
            findings_of(&text.replacen("layout: accepted", "layout: nice", 1)),
            ["15: `accepted` is expected, not `nice`"]
        );
        assert_eq!(
            findings_of("apiVersion: overlay/v1\nkind: Lock\n"),
            ["1: the key `files` is missing in the kind Lock"]
        );
        assert_eq!(findings_of("<<<<<<< HEAD\n").len(), 1);
    }
}
