//! What TOML 1.1 added, which readers of TOML 1.0 refuse: a text with it is none that everyone reads alike.
//!
//! The text is known to be TOML, so that a scan finds its strings, comments and brackets.

use super::super::EmbeddedError;

/// The first thing in a text that TOML 1.0 does not have: a line break or a last comma in an inline table, or an escape.
/// Times without seconds are left to who reads the values.
pub(super) fn beyond_1_0(text: &str) -> Option<EmbeddedError> {
    Scan { text, at: 0, open: Vec::new(), last: None }.find()
}

struct Scan<'t> {
    text: &'t str,
    at: usize,
    /// The brackets that are open, the innermost last.
    open: Vec<u8>,
    /// The last byte that is neither white space nor in a comment, and where it stands.
    last: Option<(u8, usize)>,
}

impl Scan<'_> {
    fn find(mut self) -> Option<EmbeddedError> {
        while let Some(byte) = self.text.as_bytes().get(self.at).copied() {
            match byte {
                b'#' => {
                    self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                    continue;
                }
                b'\n' if self.open.last() == Some(&b'{') => {
                    return Some(told(
                        self.at,
                        "a line break between the braces of an inline table",
                        "write it on one line",
                    ));
                }
                b'[' | b'{' => self.open.push(byte),
                b']' | b'}' => {
                    let comma = self.last.filter(|(last, _)| byte == b'}' && *last == b',');
                    if let Some((_, at)) = comma {
                        return Some(told(at, "a comma behind the last entry of an inline table", "leave it out"));
                    }
                    self.open.pop();
                }
                b'"' | b'\'' => {
                    let (end, escape) = self.string(byte);
                    if let Some(at) = escape {
                        return Some(told(at, "the escapes `\\e` and `\\x`", "write `\\u` and four digits"));
                    }
                    (self.last, self.at) = (Some((byte, self.at)), end);
                    continue;
                }
                _ => {}
            }
            if !byte.is_ascii_whitespace() {
                self.last = Some((byte, self.at));
            }
            self.at += 1;
        }
        None
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Where the string ends that begins here, and the first escape in it that is new.
    fn string(&self, quote: u8) -> (usize, Option<usize>) {
        let bytes = self.text.as_bytes();
        let long = [quote; 3];
        let is_long = self.rest().as_bytes().starts_with(&long);
        let mut at = self.at + if is_long { 3 } else { 1 };
        while let Some(byte) = bytes.get(at) {
            if *byte == b'\\' && quote == b'"' {
                if matches!(bytes.get(at + 1), Some(b'e' | b'x')) {
                    return (at, Some(at));
                }
                at += 2;
            } else if *byte != quote {
                at += 1;
            } else if !is_long {
                return (at + 1, None);
            } else if bytes.get(at..).is_some_and(|rest| rest.starts_with(&long)) {
                // Of a run of quotes the last three close the string.
                let run = bytes.iter().skip(at).take_while(|byte| **byte == quote).count();
                return (at + run, None);
            } else {
                at += 1;
            }
        }
        (at, None)
    }
}

/// The finding about something new: what it is, and what to do instead.
pub(super) fn told(at: usize, what: &str, instead: &str) -> EmbeddedError {
    EmbeddedError::new(at, format!("TOML 1.0 does not have {what}, and many programs read no later TOML; {instead}"))
}
