//! Addresses without the user name and password that stand in them. People write `https://me:password@host/` into
//! files, arguments and variables; what is said of that ends in the logs of a CI job, and must not hold the password.
//!
//! What counts is how a person meant it, not how RFC 3986 splits it: a raw `/`, `#` or `?` in a password ends the
//! host by the letter, and is taken as a part of the password here.

use std::borrow::Cow;
use std::ops::Range;

/// Stands for a user name and a password.
pub const MASK: &str = "***";

/// The text with [`MASK`] in the place of each user name and password.
pub fn masked(text: &str) -> Cow<'_, str> {
    let secrets = secrets(text);
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for secret in secrets {
        out.push_str(text.get(end..secret.start).unwrap_or_default());
        out.push_str(MASK);
        end = secret.end;
    }
    out.push_str(text.get(end..).unwrap_or_default());
    Cow::Owned(out)
}

/// Where user names and passwords stand in a text, in bytes, in order and apart. Costs one pass over the text.
pub fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        if line.contains('@') {
            in_line(line, line_start, &mut found);
        }
        line_start += line.len();
    }
    found
}

/// Adds those of one line, which starts at `offset`.
fn in_line(line: &str, offset: usize, found: &mut Vec<Range<usize>>) {
    let mut from = 0;
    while let Some((start, rest)) = line.get(from..).and_then(|text| authority(text)) {
        let start = from + start;
        let length = userinfo(rest);
        if length > 0 {
            found.push(offset + start..offset + start + length);
        }
        from = start + length;
    }
    let bare = found.iter().all(|secret| secret.start < offset);
    if bare && let Some(secret) = without_scheme(line) {
        found.push(offset + secret.start..offset + secret.end);
    }
}

/// The first place behind a `://`, or behind the `:/` that is meant as one, and what follows.
fn authority(text: &str) -> Option<(usize, &str)> {
    let start = text.find(":/").map(|at| at + 1)?;
    let rest = text.get(start..)?.trim_start_matches('/');
    Some((text.len() - rest.len(), rest))
}

/// How many bytes of an authority, and of what follows, are user name and password.
fn userinfo(rest: &str) -> usize {
    let word = rest.split(is_outside).next().unwrap_or_default();
    let host = word.split(['/', '?', '#']).next().unwrap_or_default();
    if let Some(at) = host.rfind('@') {
        return at;
    }
    if is_host(host) {
        return 0;
    }
    // What has a `:` and no port behind it is a name with a password that nobody escaped.
    word.rfind('@').or_else(|| rest.rfind('@')).unwrap_or(0)
}

/// Whether this can stand in the place of host and port.
fn is_host(text: &str) -> bool {
    let behind_address = text.strip_prefix('[').and_then(|text| text.split_once(']')).map(|(_, behind)| behind);
    let port = match behind_address {
        Some(behind) => behind.strip_prefix(':'),
        None => text.split_once(':').map(|(_, port)| port),
    };
    port.is_none_or(|port| port.bytes().all(|b| b.is_ascii_digit()))
}

/// `name:password@host` where no scheme stands before it. A reference to an image has an `@` too, before its digest.
fn without_scheme(line: &str) -> Option<Range<usize>> {
    let mut start = 0;
    for word in line.split(is_outside) {
        let meant = word.rfind('@').filter(|at| {
            let (name, behind) = (word.get(..*at).unwrap_or_default(), word.get(at + 1..).unwrap_or_default());
            let is_digest = behind.starts_with("sha256:") || behind.starts_with("sha512:");
            is_pair(name.trim_start_matches('/')) && !is_digest && !behind.is_empty()
        });
        if let Some(at) = meant {
            return Some(start..start + at);
        }
        start += word.len() + 1;
    }
    None
}

/// Whether this is `name:password`, and not the beginning of an address with a scheme.
fn is_pair(text: &str) -> bool {
    let is_name = |name: &str| !name.is_empty() && !name.contains(['/', '@']);
    text.split_once(':').is_some_and(|(name, password)| is_name(name) && !password.starts_with('/'))
}

/// Whether a character ends an address in a sentence or a file. All of them are one byte long.
fn is_outside(c: char) -> bool {
    c.is_ascii_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_names_and_passwords_are_masked_however_they_are_spelled() {
        for (text, shown) in [
            ("https://bob:pw@example.org/a", "https://***@example.org/a"),
            ("https://token@example.org", "https://***@example.org"),
            ("not `https://bob:p@w@example.org/a`, no", "not `https://***@example.org/a`, no"),
            ("https://bob:p/w@example.org:8443/a", "https://***@example.org:8443/a"),
            ("https://bob:p#w?x@example.org/a@v1", "https://***@v1"),
            ("https://bob:p w@example.org/a", "https://***@example.org/a"),
            ("https:/bob:pw@example.org/a", "https:/***@example.org/a"),
            ("url: //bob:pw@example.org/a", "url: ***@example.org/a"),
            ("bob:p/w@127.0.0.1:3128", "***@127.0.0.1:3128"),
            ("https://a.example=https://bob:pw@m.example/x", "https://a.example=https://***@m.example/x"),
            ("https://a:b@x.example=https://c:d@y.example", "https://***@x.example=https://***@y.example"),
            (
                "http://[::1]:80/ https://bob:pw@[::1]:80/\nhttps://e:f@h",
                "http://[::1]:80/ https://***@[::1]:80/\nhttps://***@h",
            ),
            ("https://bøb:pw@example.org", "https://***@example.org"),
        ] {
            assert_eq!(masked(text), shown, "{text}");
            assert!(!masked(text).contains("pw"), "{text}");
        }
    }

    #[test]
    fn what_holds_no_password_is_left_alone() {
        for text in [
            "https://example.org:8443/app@v1",
            "http://127.0.0.1:5000/v2/app@sha256:ab",
            "registry.example:5000/app:v1@sha256:ab",
            "app:v1@sha256:ab",
            "mail me@example.org",
            "git@example.org:team/app",
            "http://[::1]:5000/a@b",
            "https://${HOST}:${PORT}/a",
            "",
        ] {
            assert_eq!(masked(text), text);
        }
    }
}
