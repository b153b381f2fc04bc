//! Digests: of bytes, as git names them, and of what a document means.
//!
//! The content digest of a document is the SHA-256 of its canonical JSON (RFC 8785), so that it does not depend on
//! comments, layout, the order of keys or the spelling of a value. RFC 8785 writes every number as an IEEE 754 double
//! holds it. Two documents that differ in a low digit of a large integer would have one digest, so for documents with
//! such integers a line is added for each number of 2^53 and beyond (either sign), in the order of the canonical
//! JSON: a line feed, then all its digits. Canonical JSON holds no line feed, and which numbers have a line can be
//! told from it, so that no two documents of different meaning are hashed as the same bytes. A number beyond the
//! range of a double stands as the largest double of its sign in the canonical JSON, and with all digits on its line.

use serde_json::{Map, Number, Value};
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

/// From here on, doubles do not hold every integer.
const FIRST_INEXACT: f64 = 9_007_199_254_740_992.0;

/// SHA-256 of bytes, in lower-case hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The name of bytes as a git blob (SHA-1 of `blob N`, NUL and the bytes), in lower-case hexadecimal digits. It finds
/// a file in its repository; nothing is proven by it.
pub fn git_blob(bytes: &[u8]) -> String {
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", bytes.len()));
    hash.update(bytes);
    hex(&hash.finalize())
}

/// The content digest of a document, in lower-case hexadecimal digits.
pub fn content(document: &Value) -> String {
    let mut large = Vec::new();
    if holds_large(document) {
        collect_large(document, &mut large);
    }
    let beyond_range = large.iter().any(|n| !double(n).is_finite());
    let canonical = if beyond_range { canonical(&within_range(document)) } else { canonical(document) };
    let mut hash = Sha256::new();
    hash.update(canonical);
    for number in large {
        hash.update("\n");
        hash.update(number.to_string());
    }
    hex(&hash.finalize())
}

/// RFC 8785 of a value whose numbers all are in the range of a double.
fn canonical(value: &Value) -> Vec<u8> {
    match serde_json_canonicalizer::to_vec(value) {
        Ok(bytes) => bytes,
        Err(error) => unreachable!("a JSON value of finite numbers has a canonical form: {error}"),
    }
}

/// Whether any number has a line of its own; nearly no document has one.
fn holds_large(value: &Value) -> bool {
    match value {
        Value::Number(number) => is_large(number),
        Value::Array(items) => items.iter().any(holds_large),
        Value::Object(entries) => entries.values().any(holds_large),
        _ => false,
    }
}

/// The numbers that have a line of their own, in the order of the canonical JSON.
fn collect_large<'v>(value: &'v Value, into: &mut Vec<&'v Number>) {
    match value {
        Value::Number(number) if is_large(number) => into.push(number),
        Value::Array(items) => items.iter().for_each(|item| collect_large(item, into)),
        Value::Object(entries) => {
            // Only the large numbers are sorted, by the keys on the way to them: few documents have any.
            let mut found: Vec<(&String, Vec<&Number>)> = Vec::new();
            for (key, value) in entries {
                let mut below = Vec::new();
                collect_large(value, &mut below);
                if !below.is_empty() {
                    found.push((key, below));
                }
            }
            found.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            into.extend(found.into_iter().flat_map(|(_, below)| below));
        }
        _ => {}
    }
}

/// Whether a double does not hold every integer of its size. Fifteen characters without an exponent are always less.
fn is_large(number: &Number) -> bool {
    let text = number.as_str();
    (text.len() > 15 || text.bytes().any(|b| matches!(b, b'e' | b'E'))) && double(number).abs() >= FIRST_INEXACT
}

/// The document with the largest double in the place of every number beyond it.
fn within_range(value: &Value) -> Value {
    match value {
        Value::Number(number) if !double(number).is_finite() => Value::from(f64::MAX.copysign(double(number))),
        Value::Array(items) => Value::Array(items.iter().map(within_range).collect()),
        Value::Object(entries) => {
            Value::Object(entries.iter().map(|(k, v)| (k.clone(), within_range(v))).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

/// The nearest double; infinite beyond their range.
fn double(number: &Number) -> f64 {
    number.as_str().parse().unwrap_or(f64::INFINITY)
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    bytes.iter().flat_map(|b| [DIGITS[usize::from(b >> 4)], DIGITS[usize::from(b & 15)]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> String {
        content(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn digests_of_bytes_are_those_of_sha256sum_and_git_hash_object() {
        assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(git_blob(b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(git_blob(b"hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
    }

    #[test]
    fn a_content_digest_is_that_of_the_canonical_json() {
        assert_eq!(of(r#"{"b": [1, true, null], "a": "x"}"#), sha256(br#"{"a":"x","b":[1,true,null]}"#));
        // RFC 8785 sorts by UTF-16 code units: U+1F600 (D83D DE00) before U+FB33.
        assert_eq!(of("{\"\u{fb33}\": 1, \"\u{1f600}\": 2}"), sha256("{\"\u{1f600}\":2,\"\u{fb33}\":1}".as_bytes()));
        assert_eq!(of(r#""\u0007\/é""#), sha256("\"\\u0007/é\"".as_bytes()));
    }

    #[test]
    fn numbers_below_two_to_the_53_need_no_line_of_their_own() {
        assert_eq!(of("[9007199254740991, -9007199254740991]"), sha256(b"[9007199254740991,-9007199254740991]"));
        assert_eq!(of("[0.1, 1e-7]"), sha256(b"[0.1,1e-7]"));
    }

    #[test]
    fn documents_that_differ_in_a_low_digit_of_a_large_integer_have_different_digests() {
        assert_eq!(of("[9007199254740993]"), sha256(b"[9007199254740992]\n9007199254740993"));
        let digests = [
            of("[9007199254740992, 9007199254740993]"),
            of("[9007199254740993, 9007199254740992]"),
            of("[9007199254740993, 9007199254740993]"),
            of("[9007199254740992, 9007199254740992]"),
            of("[-9007199254740992, -9007199254740993]"),
        ];
        for (i, digest) in digests.iter().enumerate() {
            assert!(!digests[i + 1..].contains(digest), "{i}");
        }
    }

    #[test]
    fn lines_of_large_integers_follow_the_canonical_order() {
        let canonical = r#"{"a":{"b":18446744073709552000,"c":[1]},"z":9007199254740992}"#;
        let lines = "\n18446744073709551615\n9007199254740993";
        let digest = sha256(format!("{canonical}{lines}").as_bytes());
        assert_eq!(of(r#"{"z": 9007199254740993, "a": {"c": [1], "b": 18446744073709551615}}"#), digest);
    }

    #[test]
    fn an_integer_beyond_the_range_of_a_double_is_told_from_its_neighbour() {
        let (one, other) = (format!("1{}0", "0".repeat(400)), format!("1{}1", "0".repeat(400)));
        assert_eq!(of(&one), sha256(format!("1.7976931348623157e+308\n{one}").as_bytes()));
        assert_eq!(of(&format!("-{one}")), sha256(format!("-1.7976931348623157e+308\n-{one}").as_bytes()));
        assert_ne!(of(&one), of(&other));
        assert_ne!(of(&format!("[{one}, {other}]")), of(&format!("[{other}, {one}]")));
    }
}
