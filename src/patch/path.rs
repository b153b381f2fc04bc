//! The language of paths: JSON Pointers (RFC 6901) with three more segments that address list items.
//!
//! | segment | means |
//! |---|---|
//! | `[name=cni]`, `[containerPort=53,protocol=UDP]` | the one item whose keys have those values |
//! | `[=--verbose]` | the one scalar item equal to that text |
//! | `*` | every item of a list |
//!
//! `~0` is `~`, `~1` is `/`, `~2` is `[` and `~3` is `*`; a segment that begins with `[` is a selector, one that is `*`
//! alone means every item, and everything else is a mapping key or an index. In a selector a `/` may stand as it is. A
//! value of a selector may be quoted; between the quotes only `\"` and `\\` escape, and `~` is a plain character.
//!
//! Whether a segment is an index, and whether it may be one, is known only where a path meets a value
//! (`patch::lower`); nothing here knows of values.

use std::fmt;

use crate::yaml::tree::MAX_DEPTH;

/// How many segments a path may have. No document nests deeper.
pub const MAX_SEGMENTS: usize = MAX_DEPTH;

/// The keys of Kubernetes whose mappings go from names to texts or amounts. A name may have the prefix of a domain before a `/`.
const MAPS_OF_NAMES: [&str; 11] = [
    "annotations",
    "labels",
    "matchLabels",
    "nodeSelector",
    "selector",
    "limits",
    "requests",
    "allocatable",
    "capacity",
    "hard",
    "podFixed",
];

/// How the keys of such mappings end in the types of others: `podAnnotations`, `commonLabels`.
const ENDS_OF_MAPS: [&str; 2] = ["Annotations", "Labels"];

/// A path: the way from a document's top to a place in it. The empty path is the document itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path {
    segments: Vec<Segment>,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// A mapping key, an index, or `-` (behind the last item), unescaped: which one, the value decides.
    Key(String),
    /// The one item of a list that meets all the conditions; there is at least one.
    Select(Vec<Condition>),
    /// The one scalar item of a list with this text.
    Item(String),
    /// Every item of a list.
    Each,
}

/// What a selector asks of an item: that its key has a scalar with this text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    /// The key.
    pub key: String,
    /// The text of the key's value.
    pub value: String,
}

/// Why a text is no path, and where in the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PathError {
    /// What is wrong, as a clause without a full stop.
    pub message: String,
    /// The byte of the path's text where it was noticed.
    pub offset: usize,
}

impl Path {
    /// Reads a path.
    ///
    /// # Errors
    /// When the text is not of the language, or has more than [`MAX_SEGMENTS`] segments.
    pub fn parse(text: &str) -> Result<Path, PathError> {
        let mut reader = Reader { text, at: 0 };
        let mut segments = Vec::new();
        while reader.at < text.len() {
            if !reader.take('/') {
                return Err(reader.error(if reader.at == 0 {
                    "a path begins with `/`"
                } else {
                    "a `/` is missing here"
                }));
            }
            if segments.len() == MAX_SEGMENTS {
                return Err(reader.error(format!("a path has at most {MAX_SEGMENTS} segments")));
            }
            segments.push(reader.segment()?);
        }
        Ok(Path { segments })
    }

    /// The path that goes through these mapping keys and indices.
    pub fn of_keys<S: Into<String>>(keys: impl IntoIterator<Item = S>) -> Path {
        Path { segments: keys.into_iter().map(|k| Segment::Key(k.into())).collect() }
    }

    /// Its steps.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The path of its first `count` steps.
    #[must_use]
    pub fn first(&self, count: usize) -> Path {
        Path { segments: self.segments.iter().take(count).cloned().collect() }
    }

    /// The path that is meant where a key with a `/` in it, such as the annotation `example.com/name`, was written as it
    /// stands, so that it reads as two keys. `None` where nothing looks like that.
    #[must_use]
    pub fn with_slash_in_key(&self) -> Option<Path> {
        let key = |at: usize| match self.segments.get(at)? {
            Segment::Key(key) => Some(key.as_str()),
            Segment::Select(_) | Segment::Item(_) | Segment::Each => None,
        };
        let has_prefix = |at: &usize| {
            let of_names = key(*at)
                .is_some_and(|map| MAPS_OF_NAMES.contains(&map) || ENDS_OF_MAPS.iter().any(|end| map.ends_with(end)));
            of_names && key(at + 1).is_some_and(|domain| domain.contains('.')) && key(at + 2).is_some()
        };
        // A name has one slash, and nothing lies below what it names.
        let at = self.segments.len().checked_sub(3).filter(has_prefix)? + 1;
        let mut path = self.first(at);
        path.push(Segment::Key(format!("{}/{}", key(at)?, key(at + 1)?)));
        Some(path)
    }

    /// Whether it is the document itself.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// One step further.
    pub fn push(&mut self, segment: Segment) {
        self.segments.push(segment);
    }
}

impl From<Vec<Segment>> for Path {
    fn from(segments: Vec<Segment>) -> Path {
        Path { segments }
    }
}

/// The canonical form: what [`Path::parse`] reads as the same path, with no escape or quote that is not needed.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.segments.iter().try_for_each(|segment| write!(f, "/{segment}"))
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Segment::Key(key) => f.write_str(&escape_key(key)),
            Segment::Select(conditions) => {
                f.write_str("[")?;
                for (i, condition) in conditions.iter().enumerate() {
                    let comma = if i == 0 { "" } else { "," };
                    write!(f, "{comma}{condition}")?;
                }
                f.write_str("]")
            }
            Segment::Item(text) => write!(f, "[={}]", spell_value(text)),
            Segment::Each => f.write_str("*"),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key.replace('~', "~0"), spell_value(&self.value))
    }
}

/// A mapping key as a segment.
fn escape_key(key: &str) -> String {
    if key == "*" {
        return "~3".into();
    }
    let escaped = key.replace('~', "~0").replace('/', "~1");
    match escaped.strip_prefix('[') {
        Some(rest) => format!("~2{rest}"),
        None => escaped,
    }
}

/// A selector's value, quoted where bare it would be read otherwise, or where a person could not see where it ends.
fn spell_value(value: &str) -> String {
    let bare = !value.is_empty()
        && value.trim() == value
        && !value.contains(|c: char| matches!(c, ',' | '[' | ']' | '"' | '~') || c.is_control());
    if bare { value.into() } else { format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")) }
}

/// Reads the text of a path from left to right.
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at..).and_then(|rest| rest.chars().next())
    }

    /// The next character, if there is one that `wanted` takes.
    fn next_if(&mut self, wanted: impl Fn(char) -> bool) -> Option<char> {
        let next = self.peek().filter(|c| wanted(*c))?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn take(&mut self, wanted: char) -> bool {
        self.next_if(|c| c == wanted).is_some()
    }

    fn error(&self, message: impl Into<String>) -> PathError {
        PathError { message: message.into(), offset: self.at }
    }

    fn segment(&mut self) -> Result<Segment, PathError> {
        let start = self.at;
        if self.peek() == Some('[') {
            return self.selector();
        }
        let key = self.until(|c| c == '/')?;
        // `~3` also unescapes to `*`, and means the key.
        let bare = self.text.get(start..self.at) == Some("*");
        Ok(if bare { Segment::Each } else { Segment::Key(key) })
    }

    fn selector(&mut self) -> Result<Segment, PathError> {
        let start = self.at;
        self.take('[');
        if self.take('=') {
            let text = self.value()?;
            self.close(start)?;
            return Ok(Segment::Item(text));
        }
        let mut conditions: Vec<Condition> = Vec::new();
        loop {
            let key_at = self.at;
            let condition = self.condition()?;
            if conditions.iter().any(|c| c.key == condition.key) {
                let message = format!("the selector asks for `{}` twice", condition.key);
                return Err(PathError { message, offset: key_at });
            }
            conditions.push(condition);
            if !self.take(',') {
                break;
            }
        }
        self.close(start)?;
        Ok(Segment::Select(conditions))
    }

    fn condition(&mut self) -> Result<Condition, PathError> {
        let start = self.at;
        let key = self.until(|c| matches!(c, '=' | ',' | ']'))?;
        if self.peek() != Some('=') {
            let message = "a selector is written `[key=value]`, or `[=text]` for a scalar item";
            return Err(PathError { message: message.into(), offset: start });
        }
        if key.is_empty() || key.trim() != key {
            let message = "a selector's key is not empty and has no white space around it";
            return Err(PathError { message: message.into(), offset: start });
        }
        self.take('=');
        Ok(Condition { key, value: self.value()? })
    }

    fn value(&mut self) -> Result<String, PathError> {
        if self.peek() == Some('"') {
            return self.quoted();
        }
        let value = self.until(|c| matches!(c, ',' | ']'))?;
        if value.is_empty() {
            return Err(self.error("the value is missing; the empty text is written `\"\"`"));
        }
        Ok(value)
    }

    fn quoted(&mut self) -> Result<String, PathError> {
        let start = self.at;
        self.take('"');
        let mut value = String::new();
        loop {
            match self.next_if(|_| true) {
                None => return Err(PathError { message: "this quote is not closed".into(), offset: start }),
                Some('"') => return Ok(value),
                Some('\\') => match self.next_if(|c| matches!(c, '"' | '\\')) {
                    Some(escaped) => value.push(escaped),
                    None => return Err(self.error("between quotes only `\\\"` and `\\\\` are escapes")),
                },
                Some(c) => value.push(c),
            }
        }
    }

    fn close(&mut self, start: usize) -> Result<(), PathError> {
        if self.take(']') {
            return Ok(());
        }
        match self.peek() {
            None => Err(PathError { message: "this `[` is not closed".into(), offset: start }),
            Some(_) => Err(self.error("`]` is expected here; a value with `,`, `]` or `\"` in it is quoted")),
        }
    }

    /// The text up to the first character that `ends` takes, escapes resolved.
    fn until(&mut self, ends: impl Fn(char) -> bool) -> Result<String, PathError> {
        let mut text = String::new();
        while let Some(c) = self.next_if(|c| !ends(c)) {
            if c != '~' {
                text.push(c);
                continue;
            }
            let Some(escaped) = self.next_if(|c| matches!(c, '0'..='3')) else {
                let message = "`~` is followed by 0, 1, 2 or 3; the character itself is written `~0`";
                return Err(PathError { message: message.into(), offset: self.at - 1 });
            };
            text.push(match escaped {
                '0' => '~',
                '1' => '/',
                '2' => '[',
                _ => '*',
            });
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(text: &str) -> Segment {
        Segment::Key(text.into())
    }

    fn select(pairs: &[(&str, &str)]) -> Segment {
        let condition = |(k, v): &(&str, &str)| Condition { key: (*k).into(), value: (*v).into() };
        Segment::Select(pairs.iter().map(condition).collect())
    }

    fn item(text: &str) -> Segment {
        Segment::Item(text.into())
    }

    #[test]
    fn paths_read_as_the_language_says() {
        let cases: Vec<(&str, Vec<Segment>)> = vec![
            ("", vec![]),
            ("/", vec![key("")]),
            ("/a//b/", vec![key("a"), key(""), key("b"), key("")]),
            ("/a~1b/~01/~2x/~3", vec![key("a/b"), key("~1"), key("[x"), key("*")]),
            ("/list/*/-", vec![key("list"), Segment::Each, key("-")]),
            ("/a*/b[c]/=", vec![key("a*"), key("b[c]"), key("=")]),
            ("/[name=cni]/x", vec![select(&[("name", "cni")]), key("x")]),
            ("/[containerPort=53,protocol=UDP]", vec![select(&[("containerPort", "53"), ("protocol", "UDP")])]),
            ("/[=--verbose=true]", vec![item("--verbose=true")]),
            ("/[mountPath=/opt/cni]/y", vec![select(&[("mountPath", "/opt/cni")]), key("y")]),
            ("/[mountPath=~1opt~0]", vec![select(&[("mountPath", "/opt~")])]),
            (r#"/[name="a,b]/\"\\~1"]"#, vec![select(&[("name", "a,b]/\"\\~1")])]),
            (r#"/[=""]/[a="",b=c"d]"#, vec![item(""), select(&[("a", ""), ("b", "c\"d")])]),
        ];
        for (text, segments) in cases {
            assert_eq!(Path::parse(text), Ok(Path::from(segments)), "{text}");
        }
    }

    #[test]
    fn what_is_no_path_is_told_at_its_byte() {
        let cases = [
            ("a/b", 0, "a path begins with `/`"),
            ("/a~4", 2, "`~` is followed by 0, 1, 2 or 3; the character itself is written `~0`"),
            ("/a~", 2, "`~` is followed by 0, 1, 2 or 3; the character itself is written `~0`"),
            ("/ü/[name=a", 4, "this `[` is not closed"),
            ("/[name=\"a", 7, "this quote is not closed"),
            (r#"/[name="a\n"]"#, 10, "between quotes only `\\\"` and `\\\\` are escapes"),
            ("/[name=\"a\"b]", 10, "`]` is expected here; a value with `,`, `]` or `\"` in it is quoted"),
            ("/[name]", 2, "a selector is written `[key=value]`, or `[=text]` for a scalar item"),
            ("/[]", 2, "a selector is written `[key=value]`, or `[=text]` for a scalar item"),
            ("/[a=b,]", 6, "a selector is written `[key=value]`, or `[=text]` for a scalar item"),
            ("/[=a,b]", 4, "`]` is expected here; a value with `,`, `]` or `\"` in it is quoted"),
            ("/[a=b, c=d]", 6, "a selector's key is not empty and has no white space around it"),
            ("/[a=]", 4, "the value is missing; the empty text is written `\"\"`"),
            ("/[=]", 3, "the value is missing; the empty text is written `\"\"`"),
            ("/[a=1,a=2]", 6, "the selector asks for `a` twice"),
            ("/[a=b]c", 6, "a `/` is missing here"),
        ];
        for (text, offset, message) in cases {
            assert_eq!(Path::parse(text), Err(PathError { message: message.into(), offset }), "{text}");
        }
    }

    #[test]
    fn a_key_whose_slash_was_written_as_it_stands_is_seen() {
        let meant = |text: &str| Path::parse(text).unwrap().with_slash_in_key().map(|path| path.to_string());
        assert_eq!(
            meant("/metadata/annotations/example.com/name").as_deref(),
            Some("/metadata/annotations/example.com~1name")
        );
        assert_eq!(
            meant("/c/[name=a]/resources/limits/example.com/gpu").as_deref(),
            Some("/c/[name=a]/resources/limits/example.com~1gpu")
        );
        for map in ["spec/capacity", "status/allocatable", "spec/hard", "overhead/podFixed", "spec/podAnnotations"] {
            let wanted = format!("/{map}/nvidia.com~1gpu");
            assert_eq!(meant(&format!("/{map}/nvidia.com/gpu")), Some(wanted));
        }
        for other in
            ["/metadata/annotations/name", "/data/net.json/logLevel", "/labels/x/y", "/labels/a.b/c/d", "/a.b/c"]
        {
            assert_eq!(meant(other), None, "{other}");
        }
    }

    #[test]
    fn a_path_is_not_endless() {
        assert!(Path::parse(&"/a".repeat(MAX_SEGMENTS)).is_ok());
        assert_eq!(Path::parse(&"/a".repeat(MAX_SEGMENTS + 1)).unwrap_err().message, "a path has at most 200 segments");
    }

    #[test]
    fn the_canonical_form_has_no_escape_that_is_not_needed() {
        for (text, canonical) in [
            ("/a~1b/~0/~2x~2/~3/~3y", "/a~1b/~0/~2x[/~3/*y"),
            (r#"/[name="cni"]/[=~1x]"#, "/[name=cni]/[=/x]"),
            (r#"/[a="b,c",d=~0]/[=" x"]"#, r#"/[a="b,c",d="~"]/[=" x"]"#),
            ("", ""),
        ] {
            assert_eq!(Path::parse(text).unwrap().to_string(), canonical);
        }
    }

    fn any_text() -> impl Strategy<Value = String> {
        prop_oneof!["[a-z]{0,3}", "[\\[\\]=,\"~/*\\\\ 0-3-]{0,6}", any::<String>()]
    }

    fn any_segment() -> impl Strategy<Value = Segment> {
        let condition = ("[a-z~/]{1,4}", any_text()).prop_map(|(key, value)| Condition { key, value });
        let conditions = prop::collection::vec(condition, 1..4).prop_map(|mut list| {
            list.sort_by(|a, b| a.key.cmp(&b.key));
            list.dedup_by(|a, b| a.key == b.key);
            Segment::Select(list)
        });
        prop_oneof![
            any_text().prop_map(Segment::Key),
            any_text().prop_map(Segment::Item),
            conditions,
            Just(Segment::Each),
        ]
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_as_the_same_path(segments in prop::collection::vec(any_segment(), 0..6)) {
            let path = Path::from(segments);
            prop_assert_eq!(Path::parse(&path.to_string()), Ok(path));
        }

        #[test]
        fn any_text_is_a_path_or_an_error_within_it(text in any_text()) {
            match Path::parse(&text) {
                Ok(path) => prop_assert_eq!(Path::parse(&path.to_string()), Ok(path)),
                Err(error) => prop_assert!(text.is_char_boundary(error.offset)),
            }
        }
    }
}
