//! The tree of a JSON text, every node with the bytes that it stands on.
//!
//! Strictly RFC 8259. What people write for JSON and is none (comments, trailing commas, bare keys, single quotes) is
//! an error that says so.

use std::collections::HashSet;
use std::ops::Range;

use serde_json::Value;

use super::super::EmbeddedError;
use crate::yaml::{number, tree::MAX_DEPTH};

/// One value and where it stands.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

/// What a node is.
#[derive(Debug)]
pub(super) enum Kind {
    Scalar(Value),
    Array(Vec<Node>),
    Object(Vec<Member>),
}

/// A member of an object.
#[derive(Debug)]
pub(super) struct Member {
    /// The key, unescaped.
    pub(super) key: String,
    /// Its bytes, quotes included.
    pub(super) key_span: Range<usize>,
    pub(super) value: Node,
}

impl Node {
    /// The value without its places.
    pub(super) fn into_value(self) -> Value {
        match self.kind {
            Kind::Scalar(value) => value,
            Kind::Array(items) => Value::Array(items.into_iter().map(Node::into_value).collect()),
            Kind::Object(members) => {
                Value::Object(members.into_iter().map(|member| (member.key, member.value.into_value())).collect())
            }
        }
    }

    /// The bytes of each item or member, key and value together; none for a scalar.
    pub(super) fn parts(&self) -> Vec<Range<usize>> {
        match &self.kind {
            Kind::Scalar(_) => Vec::new(),
            Kind::Array(items) => items.iter().map(|item| item.span.clone()).collect(),
            Kind::Object(members) => members.iter().map(Member::span).collect(),
        }
    }

    /// The nodes directly below.
    pub(super) fn children(&self) -> Box<dyn DoubleEndedIterator<Item = &Node> + '_> {
        match &self.kind {
            Kind::Scalar(_) => Box::new(std::iter::empty()),
            Kind::Array(items) => Box::new(items.iter()),
            Kind::Object(members) => Box::new(members.iter().map(|member| &member.value)),
        }
    }
}

impl Member {
    fn span(&self) -> Range<usize> {
        self.key_span.start..self.value.span.end
    }
}

/// Reads the one value of a JSON text.
pub(super) fn parse(text: &str) -> Result<Node, EmbeddedError> {
    let mut reader = Reader { text, at: 0 };
    reader.skip_space();
    if reader.peek().is_none() {
        return Err(EmbeddedError::new(0, "the text is empty, and so no JSON"));
    }
    let node = reader.value(MAX_DEPTH)?;
    reader.skip_space();
    if reader.peek().is_some() { Err(reader.unexpected("the end of the text")) } else { Ok(node) }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Steps over the byte if it comes next.
    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn skip_space(&mut self) {
        self.at += self.rest().bytes().take_while(|byte| b" \t\r\n".contains(byte)).count();
    }

    fn skip_digits(&mut self) -> usize {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        self.at += digits;
        digits
    }

    /// A value that begins here and may hold `depth` levels of collections.
    fn value(&mut self, depth: usize) -> Result<Node, EmbeddedError> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => Kind::Object(self.object(deeper(depth, start)?)?),
            Some(b'[') => Kind::Array(self.array(deeper(depth, start)?)?),
            Some(b'"') => Kind::Scalar(Value::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => Kind::Scalar(self.number()?),
            _ => Kind::Scalar(self.literal()?),
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn object(&mut self, depth: usize) -> Result<Vec<Member>, EmbeddedError> {
        let mut members = Vec::new();
        self.at += 1;
        self.skip_space();
        if self.take(b'}') {
            return Ok(members);
        }
        loop {
            members.push(self.member(depth)?);
            if self.ends(b'}', "`,` or `}`")? {
                no_doubles(&members)?;
                return Ok(members);
            }
        }
    }

    fn member(&mut self, depth: usize) -> Result<Member, EmbeddedError> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a key in double quotes"));
        }
        let start = self.at;
        let key = self.string()?;
        let key_span = start..self.at;
        self.skip_space();
        if !self.take(b':') {
            return Err(self.unexpected("`:`"));
        }
        self.skip_space();
        Ok(Member { key, key_span, value: self.value(depth)? })
    }

    fn array(&mut self, depth: usize) -> Result<Vec<Node>, EmbeddedError> {
        let mut items = Vec::new();
        self.at += 1;
        self.skip_space();
        if self.take(b']') {
            return Ok(items);
        }
        loop {
            items.push(self.value(depth)?);
            if self.ends(b']', "`,` or `]`")? {
                return Ok(items);
            }
        }
    }

    /// Steps over what stands behind an item: the end of its collection, or a comma with another item to come.
    fn ends(&mut self, close: u8, wanted: &str) -> Result<bool, EmbeddedError> {
        self.skip_space();
        if self.take(close) {
            return Ok(true);
        }
        let comma = self.at;
        if !self.take(b',') {
            return Err(self.unexpected(wanted));
        }
        self.skip_space();
        if self.peek() == Some(close) {
            let message =
                format!("a comma stands before the closing `{}`; JSON has no trailing commas", char::from(close));
            return Err(EmbeddedError::new(comma, message));
        }
        Ok(false)
    }

    fn string(&mut self) -> Result<String, EmbeddedError> {
        let start = self.at;
        let mut out = String::new();
        self.at += 1;
        loop {
            let run = self.rest().bytes().position(|byte| matches!(byte, b'"' | b'\\' | ..0x20));
            let run = run.ok_or_else(|| EmbeddedError::new(start, "this string has no closing quote"))?;
            out.push_str(&self.rest()[..run]);
            self.at += run;
            if self.take(b'"') {
                return Ok(out);
            }
            if self.peek() != Some(b'\\') {
                return Err(self.raw_control());
            }
            out.push(self.escape()?);
        }
    }

    fn raw_control(&self) -> EmbeddedError {
        let written = match self.peek() {
            Some(b'\n') => "a line break; write `\\n`".to_owned(),
            Some(b'\r') => "a carriage return; write `\\r`".to_owned(),
            Some(b'\t') => "a tab; write `\\t`".to_owned(),
            other => format!("a control character; write `\\u{:04x}`", other.unwrap_or_default()),
        };
        EmbeddedError::new(self.at, format!("a JSON string cannot hold {written}"))
    }

    /// The character of the escape that begins here.
    fn escape(&mut self) -> Result<char, EmbeddedError> {
        let start = self.at;
        self.at += 1;
        let letter = self.rest().chars().next();
        let plain = match letter {
            Some(same @ ('"' | '\\' | '/')) => same,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => return self.unicode_escape(start),
            Some(other) => {
                return Err(EmbeddedError::new(start, format!("JSON has no escape `\\{}`", other.escape_debug())));
            }
            None => return Err(EmbeddedError::new(start, "the text ends within an escape")),
        };
        self.at += 1;
        Ok(plain)
    }

    /// `\uXXXX`, or two of them that are the halves of one character.
    fn unicode_escape(&mut self, start: usize) -> Result<char, EmbeddedError> {
        let half = || EmbeddedError::new(start, "this escape is one half of a surrogate pair without the other");
        let first = self.unit(start)?;
        if !(0xD800..0xE000).contains(&first) {
            return char::from_u32(first).ok_or_else(half);
        }
        if first >= 0xDC00 || !self.rest().starts_with("\\u") {
            return Err(half());
        }
        self.at += 1;
        let second = self.unit(start)?;
        if !(0xDC00..0xE000).contains(&second) {
            return Err(half());
        }
        char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)).ok_or_else(half)
    }

    /// The number behind the `u` that stands here.
    fn unit(&mut self, start: usize) -> Result<u32, EmbeddedError> {
        let digits = self.text.get(self.at + 1..self.at + 5);
        let digits = digits.filter(|four| four.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let unit = digits.and_then(|four| u32::from_str_radix(four, 16).ok());
        self.at += 5;
        unit.ok_or_else(|| EmbeddedError::new(start, "four hexadecimal digits must follow `\\u`"))
    }

    fn number(&mut self) -> Result<Value, EmbeddedError> {
        let start = self.at;
        self.take(b'-');
        let whole = self.at;
        if self.skip_digits() == 0 {
            return Err(self.unexpected("a digit"));
        }
        if self.at - whole > 1 && self.text.as_bytes()[whole] == b'0' {
            return Err(EmbeddedError::new(start, "a JSON number has no leading zeros"));
        }
        if self.take(b'.') && self.skip_digits() == 0 {
            return Err(self.unexpected("a digit behind the point"));
        }
        if self.take(b'e') || self.take(b'E') {
            let _sign = self.take(b'-') || self.take(b'+');
            if self.skip_digits() == 0 {
                return Err(self.unexpected("a digit of the exponent"));
            }
        }
        if self.rest().starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.') {
            return Err(EmbeddedError::new(start, format!("`{}` is no JSON number", self.word(start))));
        }
        let text = &self.text[start..self.at];
        if let Ok(short) = text.parse::<i64>() {
            return Ok(Value::from(short));
        }
        let number = text.parse();
        let number = number.map_err(|_| EmbeddedError::new(start, "this is no JSON number"))?;
        Ok(Value::Number(number::canonical(&number)))
    }

    fn literal(&mut self) -> Result<Value, EmbeddedError> {
        let word = self.word(self.at);
        let value = match word {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            _ => return Err(self.unexpected("a value")),
        };
        self.at += word.len();
        Ok(value)
    }

    /// What stands from `start` on and looks like one word or number, for messages too.
    fn word(&self, start: usize) -> &'t str {
        let rest = &self.text[start..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || "_.+-$".contains(c)));
        let word = &rest[..end.unwrap_or(rest.len())];
        &word[..word.floor_char_boundary(MAX_WORD)]
    }

    /// The error for what stands here where `wanted` should.
    fn unexpected(&self, wanted: &str) -> EmbeddedError {
        let word = self.word(self.at);
        let message = match self.rest().chars().next() {
            None => format!("the text ends where {wanted} should stand"),
            Some('#') => "JSON has no comments".to_owned(),
            Some('/') if self.rest().starts_with("//") || self.rest().starts_with("/*") => {
                "JSON has no comments".to_owned()
            }
            Some('\'') => "JSON strings and keys stand in double quotes, not in single ones".to_owned(),
            Some('\u{feff}') => format!("a byte order mark stands where {wanted} should"),
            Some(_) if !word.is_empty() => format!("`{word}` stands where {wanted} should{}", hint(word, wanted)),
            Some(other) if other.is_control() => format!("`{}` stands where {wanted} should", other.escape_default()),
            Some(other) => format!("`{other}` stands where {wanted} should"),
        };
        EmbeddedError::new(self.at, message)
    }
}

/// How many bytes of a word a message shows.
const MAX_WORD: usize = 40;

/// What to write instead of a word that JSON does not have.
fn hint(word: &str, wanted: &str) -> &'static str {
    match word.to_ascii_lowercase().as_str() {
        _ if wanted != "a value" => "",
        "true" | "yes" | "on" => "; write `true`",
        "false" | "no" | "off" => "; write `false`",
        "null" | "none" | "nil" | "undefined" => "; write `null`",
        "nan" | "infinity" | "inf" | "+infinity" | "-infinity" => "; JSON numbers are finite",
        _ if word.starts_with(['+', '.']) => "; a JSON number begins with a digit or `-`",
        _ => "; strings stand in double quotes",
    }
}

fn deeper(depth: usize, at: usize) -> Result<usize, EmbeddedError> {
    let message = || format!("the text nests deeper than {MAX_DEPTH} levels");
    depth.checked_sub(1).ok_or_else(|| EmbeddedError::new(at, message()))
}

fn no_doubles(members: &[Member]) -> Result<(), EmbeddedError> {
    if members.len() < 2 {
        return Ok(());
    }
    let mut seen = HashSet::with_capacity(members.len());
    match members.iter().find(|member| !seen.insert(member.key.as_str())) {
        None => Ok(()),
        Some(double) => {
            let message = format!("the key `{}` stands in this object twice", double.key.escape_debug());
            Err(EmbeddedError::new(double.key_span.start, message))
        }
    }
}
