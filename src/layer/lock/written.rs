//! A lock exactly as this program writes it, read line by line.
//!
//! It is the file that every build opens, with an entry for each of upstream's documents, and nearly always nobody has
//! touched it. What is read here is written again and must give the same bytes, so that anything unusual is left to
//! the reader of YAML, which also tells what is wrong.

use std::iter::Peekable;
use std::str::Lines;

use super::super::etag::{EntityTag, SentTag};
use super::{Layout, Lock, LockedDocument, LockedFile, Upstream, Vendored, is_digest};
use crate::resource::Identity;

const HEAD: [&str; 4] = ["# Written by `overlay vendor`.", "apiVersion: overlay/v1", "kind: Lock", "files:"];

/// The lock that the text is, byte for byte; `None` for any other text.
pub(super) fn read(text: &str) -> Option<Lock> {
    let mut entries = Entries(text.lines().peekable());
    for line in HEAD {
        entries.0.next_if_eq(&line)?;
    }
    let mut files = Vec::new();
    while entries.0.peek().is_some() {
        files.push(entries.file()?);
    }
    let lock = Lock { files };
    is_written(&lock, text).then_some(lock)
}

/// Whether the text is what the lock is written as. It is compared bit by bit, so that it need not be there twice.
fn is_written(lock: &Lock, text: &str) -> bool {
    let mut rest = Some(text);
    lock.write_in_bits(|bit| rest = rest.and_then(|rest| rest.strip_prefix(bit)));
    rest == Some("")
}

/// The lines that are still to be read.
struct Entries<'t>(Peekable<Lines<'t>>);

impl<'t> Entries<'t> {
    fn file(&mut self) -> Option<LockedFile> {
        let address = self.text("  - address: ")?;
        self.0.next_if_eq(&"    upstream:")?;
        let sha256 = self.digest("      sha256: ", 64)?;
        let size = self.value("      size: ")?.parse().ok()?;
        let blob = self.digest("      blob: ", 40)?;
        let upstream = Upstream { sha256, size, blob, etag: self.etag() };
        self.0.next_if_eq(&"    vendored:")?;
        let name = self.text("      name: ")?;
        let sha256 = self.digest("      sha256: ", 64)?;
        let size = self.value("      size: ")?.parse().ok()?;
        let accepted = self.0.next_if_eq(&"      layout: accepted");
        let layout = if accepted.is_some() { Layout::Accepted } else { Layout::Upstream };
        let vendored = Vendored { name, sha256, size, layout };
        self.0.next_if_eq(&"    documents:")?;
        let mut documents = Vec::new();
        while let Some(api_version) = self.text("      - apiVersion: ") {
            documents.push(self.document(&api_version)?);
        }
        Some(LockedFile { address, upstream, vendored, documents })
    }

    fn etag(&mut self) -> Option<SentTag> {
        // A strong one begins with its own quote, and so is quoted; a weak one is bare.
        let value = self.value("      etag: ")?;
        let quoted = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
        let tag = EntityTag::parse(&quoted.map_or_else(|| value.to_owned(), |v| v.replace("\\\"", "\"")))?;
        let from = self.digest("      etagFrom: ", 64);
        Some(SentTag { tag, from })
    }

    fn document(&mut self, api_version: &str) -> Option<LockedDocument> {
        let kind = self.text("        kind: ")?;
        let namespace = self.text("        namespace: ").unwrap_or_default();
        let name = self.text("        name: ").unwrap_or_default();
        let kept = self.value("        kept: ")? == "true";
        let content = self.digest("        content: ", 64)?;
        Some(LockedDocument { identity: Identity::new(api_version, kind, namespace, name), kept, content })
    }

    /// What stands behind a key on the next line, if that line has the key.
    fn value(&mut self, key: &str) -> Option<&'t str> {
        self.0.next_if(|line| line.starts_with(key))?.get(key.len()..)
    }

    /// A text, bare or in double quotes without escapes.
    fn text(&mut self, key: &str) -> Option<String> {
        let value = self.value(key)?;
        let bare = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value);
        Some(bare.to_owned())
    }

    fn digest(&mut self, key: &str, digits: usize) -> Option<String> {
        let value = self.text(key)?;
        is_digest(&value, digits).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::lock;
    use super::*;
    use crate::config::Findings;
    use crate::diag::Source;

    #[test]
    fn a_lock_as_it_was_written_is_read_without_the_yaml_reader() {
        let mut lock = lock();
        for document in lock.files.iter_mut().flat_map(|file| &mut file.documents) {
            document.identity.name = document.identity.name.replace('"', "");
        }
        assert_eq!(read(&lock.write()), Some(lock));
    }

    #[test]
    fn any_line_that_is_lost_changed_or_doubled_is_left_to_the_yaml_reader() {
        let whole = lock().write();
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        for at in 0..lines.len() {
            let (before, line, after) = (lines[..at].concat(), lines[at], lines[at + 1..].concat());
            let changed = [
                String::new(),
                line.repeat(2),
                line.replace('\n', "  # c\n"),
                line.replace('\n', "\r\n"),
                line.replacen(": ", ":  ", 1),
                line.to_uppercase(),
            ];
            for other in changed.iter().filter(|other| *other != line) {
                let text = format!("{before}{other}{after}");
                let Some(read) = read(&text) else { continue };
                assert_eq!(Lock::read_yaml(&Source::new("base.lock", text), &mut Findings::new()), Some(read));
            }
        }
    }
}
