//! What came instead of a manifest: a server's page, a pointer, an archive. Servers send these with a status that
//! says success, and parsed as YAML some of them are even mappings (`404: Not Found`).
//!
//! This looks at bytes alone, and knows nothing of where they come from. It is a help for messages, not a check of the
//! manifest: what passes here may still be refused by whoever reads it, with the line.

use std::fmt;

use crate::diag::visible::shortened;

/// How much of a page is searched for its title, in bytes.
const MAX_HEAD: usize = 64 * 1024;

/// How much of a text is quoted, in characters.
const MAX_QUOTE: usize = 80;

/// What a body is that is no manifest; displayed, it goes on after "it is".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotManifest {
    /// Nothing at all, or white space.
    Empty,
    /// An HTML page or another markup document, and its title if it has one.
    Page(Option<String>),
    /// An XML document that is no page, by the name of its root; stores of files answer so.
    Xml(String),
    /// What Git LFS keeps in a repository in the place of a large file, and the size of that file in bytes.
    LfsPointer(Option<u64>),
    /// Bytes of a compressed file or an archive, by its name.
    Packed(&'static str),
    /// UTF-16 text.
    Utf16,
    /// Bytes with a NUL among them. Other bytes that are no UTF-8 may be a slip in a manifest, and pass.
    Binary,
    /// A text in which no resource says its kind, and its first line.
    NoKind(String),
}

impl fmt::Display for NotManifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotManifest::Empty => f.write_str("empty"),
            NotManifest::Page(None) => f.write_str("a web page"),
            NotManifest::Page(Some(title)) => write!(f, "a web page with the title \"{title}\""),
            NotManifest::Xml(root) => write!(f, "an XML document, `<{root}>`"),
            NotManifest::LfsPointer(None) => f.write_str("a Git LFS pointer, not the file that it stands for"),
            NotManifest::LfsPointer(Some(size)) => {
                write!(f, "a Git LFS pointer, not the file of {size} bytes that it stands for")
            }
            NotManifest::Packed(what) => f.write_str(what),
            NotManifest::Utf16 => f.write_str("UTF-16 text"),
            NotManifest::Binary => f.write_str("binary"),
            NotManifest::NoKind(line) => write!(f, "a text without any \"kind\", which begins \"{line}\""),
        }
    }
}

/// What the bytes are, where they are no manifest; `None` where they may be one.
pub fn not_manifest(bytes: &[u8]) -> Option<NotManifest> {
    if let Some(what) = packed(bytes) {
        return Some(NotManifest::Packed(what));
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Some(NotManifest::Utf16);
    }
    if memchr::memchr(0, bytes).is_some() {
        return Some(NotManifest::Binary);
    }
    let text = String::from_utf8_lossy(bytes);
    let start = text.trim_start_matches('\u{feff}').trim_start();
    if start.is_empty() {
        return Some(NotManifest::Empty);
    }
    // No manifest begins so: in YAML it would be a plain scalar, which is no resource.
    if start.starts_with('<') {
        return Some(xml_root(start).map_or_else(|| NotManifest::Page(title(start)), NotManifest::Xml));
    }
    if start.starts_with("version https://git-lfs.github.com/spec/") {
        let size = start.lines().find_map(|line| line.strip_prefix("size ")?.trim().parse().ok());
        return Some(NotManifest::LfsPointer(size));
    }
    let first = start.lines().next().unwrap_or_default();
    (!text.contains("kind")).then(|| NotManifest::NoKind(shortened(first.trim_end(), MAX_QUOTE)))
}

fn packed(bytes: &[u8]) -> Option<&'static str> {
    let tar = bytes.get(257..262) == Some(b"ustar");
    let known: [(&[u8], &str); 5] = [
        (&[0x1f, 0x8b], "a gzip file"),
        (b"PK\x03\x04", "a zip file"),
        (&[0x28, 0xb5, 0x2f, 0xfd], "a zstd file"),
        (&[0xfd, b'7', b'z', b'X', b'Z', 0], "an xz file"),
        (b"BZh", "a bzip2 file"),
    ];
    let found = known.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, what)| *what);
    found.or(tar.then_some("a tar archive"))
}

/// The name of the root of an XML document (XML 1.0, 2.8); `None` where it does not say that it is one, or is a page.
fn xml_root(document: &str) -> Option<String> {
    let mut rest = document.strip_prefix("<?xml")?;
    loop {
        let from = rest.find('<')?;
        rest = rest.get(from + 1..)?;
        let Some(comment) = rest.strip_prefix("!--") else { break };
        rest = comment.get(comment.find("-->")? + 3..)?;
    }
    let root: String = rest.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':')).collect();
    (!root.is_empty() && !root.eq_ignore_ascii_case("html")).then(|| shortened(&root, MAX_QUOTE))
}

/// What stands between `<title…>` and `</title`, without line breaks.
fn title(page: &str) -> Option<String> {
    let head = page.get(..page.floor_char_boundary(MAX_HEAD))?;
    // ASCII case alone is changed, so that offsets stay.
    let lower = head.to_ascii_lowercase();
    let tag = lower.find("<title")?;
    let from = tag + lower.get(tag..)?.find('>')? + 1;
    let to = from + lower.get(from..)?.find("</title")?;
    let words: Vec<&str> = head.get(from..to)?.split_whitespace().collect();
    (!words.is_empty()).then(|| shortened(&words.join(" "), MAX_QUOTE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(bytes: impl AsRef<[u8]>) -> String {
        not_manifest(bytes.as_ref()).map_or_else(|| "may be a manifest".into(), |what| what.to_string())
    }

    #[test]
    fn a_manifest_passes_in_every_dress() {
        for text in
            ["kind: A\n", "\u{feff}# x\r\n---\r\nkind: A\r\n", "{\"kind\": \"A\"}", "\n\n---\napiVersion: v1\nkind: A"]
        {
            assert_eq!(said(text), "may be a manifest", "{text:?}");
        }
    }

    #[test]
    fn a_page_is_told_with_its_title() {
        assert_eq!(
            said("\n<!DOCTYPE html>\n<html><TITLE lang=en>Sign\n  in</title>"),
            "a web page with the title \"Sign in\""
        );
        assert_eq!(said("<html><body>kind: A</body></html>"), "a web page");
        assert_eq!(said("<title>\u{1b}[31m</title>"), "a web page with the title \"\\x1B[31m\"");
        assert_eq!(said("<title>never closed"), "a web page");
        let far = format!("<{}<title>ä</title>", "ä".repeat(MAX_HEAD));
        assert_eq!(said(far), "a web page");
    }

    #[test]
    fn an_xml_document_is_told_by_its_root() {
        let refused =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- <a> -->\n<Error><Code>AccessDenied</Code></Error>";
        assert_eq!(said(refused), "an XML document, `<Error>`");
        assert_eq!(said("<?xml version='1.0'?><html><title>Sign in</title>"), "a web page with the title \"Sign in\"");
        assert_eq!(said("<?xml version='1.0'?><!DOCTYPE html><title>x</title>"), "a web page with the title \"x\"");
        assert_eq!(said("<?xml <!-- "), "a web page");
    }

    #[test]
    fn a_404_text_is_told_though_it_is_a_yaml_mapping() {
        assert_eq!(said("404: Not Found"), "a text without any \"kind\", which begins \"404: Not Found\"");
    }

    #[test]
    fn a_git_lfs_pointer_is_told_with_the_size_of_the_file() {
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
        assert_eq!(said(pointer), "a Git LFS pointer, not the file of 12345 bytes that it stands for");
        let odd = "version https://git-lfs.github.com/spec/v1\nsize many\n";
        assert_eq!(said(odd), "a Git LFS pointer, not the file that it stands for");
    }

    #[test]
    fn bytes_are_told_by_their_first_ones() {
        assert_eq!(said([0x1f, 0x8b, 8, 0]), "a gzip file");
        assert_eq!(said(b"PK\x03\x04rest"), "a zip file");
        assert_eq!(said([&[b'a'; 257][..], b"ustar\0"].concat()), "a tar archive");
        assert_eq!(said([0xff, 0xfe, b'k', 0]), "UTF-16 text");
        assert_eq!(said(b"kind: \x80"), "may be a manifest");
        assert_eq!(said("kind\0"), "binary");
        assert_eq!(said(" \r\n\t"), "empty");
        assert_eq!(said(""), "empty");
    }
}
