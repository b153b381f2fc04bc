//! Entity tags (RFC 9110, 8.8.3): what a server calls the bytes that it sent, so that it can be asked whether they are
//! still what it has.
//!
//! They stand in a lock that anyone may have edited, and go from there into a request: one that is not spelled as the
//! rule says, or longer than any server's, is none. What a tag says is not known here, and nothing is proven by it.

/// How many bytes a tag may have. Those of well-known servers have at most some seventy.
pub const MAX: usize = 256;

/// A tag, strong or weak, of visible ASCII characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityTag(String);

impl EntityTag {
    /// The tag that a text is: something in quotes, behind `W/` where it is weak. `None` for any other text. Bytes beyond
    /// ASCII, which the rule allows for old servers, and a tag of nothing are not taken.
    pub fn parse(text: &str) -> Option<EntityTag> {
        let quoted = text.strip_prefix("W/").unwrap_or(text);
        let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
        let is_legal = inner.bytes().all(|b| matches!(b, b'!' | b'#'..=b'~'));
        (is_legal && !inner.is_empty() && text.len() <= MAX).then(|| EntityTag(text.to_owned()))
    }

    /// The tag as it is sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A tag, and who sent it: nobody else is to be asked by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentTag {
    /// The tag.
    pub tag: EntityTag,
    /// The SHA-256, in hexadecimal digits, of the address that a redirect led to, without its query. `None` where the
    /// file's own address answered.
    pub from: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_something_in_quotes_that_can_be_sent() {
        for tag in ["\"a\"", "W/\"a\"", "\"5f3-62\\,'{}!~\"", &format!("\"{}\"", "x".repeat(MAX - 2))] {
            assert_eq!(EntityTag::parse(tag).as_ref().map(EntityTag::as_str), Some(tag));
        }
    }

    #[test]
    fn nothing_that_could_end_a_header_is_a_tag() {
        let long = format!("\"{}\"", "x".repeat(MAX - 1));
        let huge = format!("\"{}\"", "x".repeat(1 << 20));
        for text in [
            "",
            "\"",
            "\"\"",
            "W/\"\"",
            "a",
            "\"a",
            "a\"",
            "w/\"a\"",
            "*",
            "\"a\", \"b\"",
            "\"a\"\r\nX: y",
            "\"a\r\nX: y\"",
            "\"a\nb\"",
            "\"a b\"",
            "\"a\tb\"",
            "\"a\0b\"",
            "\"\u{7f}\"",
            "\"ä\"",
            "\"\u{2028}\"",
            " \"a\"",
            &long,
            &huge,
        ] {
            assert_eq!(EntityTag::parse(text), None, "{:?}", text.chars().take(40).collect::<String>());
        }
    }
}
