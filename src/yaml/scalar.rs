//! What a scalar means, as Kubernetes reads it.
//!
//! kubectl and the API server read YAML through `sigs.k8s.io/yaml`, whose scalar rules are go-yaml v2's (`resolve.go`):
//! YAML 1.1's booleans and octals, underscores in numbers, Go's own number syntax, dates as texts. They are written down
//! here once, for values and for mapping keys. What YAML 1.1 and the YAML 1.2 core schema make of the same text is
//! known here too, but only to say where the three disagree ([`ambiguous`]).
//!
//! Nothing here knows where a scalar stands.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Number, Value};

use super::number;
use super::tree::Style;

/// Why a scalar has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScalarError {
    /// NaN or an infinity, which JSON has not.
    #[error("`{0}` is no number that Kubernetes can keep; quote it if it is a text")]
    NotFinite(String),
    /// An explicit tag that the text does not fit.
    #[error("`{text}` is not a {tag}")]
    Tag {
        /// The scalar.
        text: String,
        /// The tag in its short form.
        tag: String,
    },
    /// A `!!binary` that is no base64.
    #[error("a !!binary must be base64 without spaces")]
    Base64,
    /// A mapping key that has no text: null, or an integer above 2⁶³.
    #[error("{0} cannot be a mapping key; quote it if it is a text")]
    Key(String),
}

/// The value of a scalar. `tag` is the resolved tag (`tag:yaml.org,2002:int`), where it has one.
pub fn resolve(text: &str, style: Style, tag: Option<&str>) -> Result<Value, ScalarError> {
    Ok(match meaning(text, style, tag)? {
        Meaning::Text(text) => Value::String(text.into_owned()),
        Meaning::Null => Value::Null,
        Meaning::Bool(value) => Value::Bool(value),
        Meaning::Int(number) | Meaning::Long(number) => Value::Number(number),
        Meaning::Float(float) => {
            Value::Number(number::of_float(float).ok_or_else(|| ScalarError::NotFinite(text.to_owned()))?)
        }
    })
}

/// The text of a scalar that is a mapping key: `1` is the key "1", `no` the key "false", `1e6` the key "1e+06".
pub fn key<'t>(text: &'t str, style: Style, tag: Option<&str>) -> Result<Cow<'t, str>, ScalarError> {
    Ok(match meaning(text, style, tag)? {
        Meaning::Text(text) => text,
        Meaning::Bool(true) => "true".into(),
        Meaning::Bool(false) => "false".into(),
        Meaning::Int(number) if number.as_i64().is_some() => number.to_string().into(),
        Meaning::Int(number) => return Err(ScalarError::Key(number.to_string())),
        Meaning::Long(number) => float_key(number.to_string().parse().unwrap_or(f64::INFINITY)).into(),
        Meaning::Float(float) => float_key(float).into(),
        Meaning::Null => return Err(ScalarError::Key("null".into())),
    })
}

/// Whether a scalar that is a mapping key asks for a merge.
pub fn is_merge(text: &str, style: Style, tag: Option<&str>) -> bool {
    text == "<<" && (tag == Some("tag:yaml.org,2002:merge") || (style == Style::Plain && tag.is_none()))
}

/// A mapping key as go-yaml v2 keeps it, before `sigs.k8s.io/yaml` makes a text of it: keys of different types have one
/// text and are not one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoKey<'t> {
    /// A text.
    Text(Cow<'t, str>),
    /// Anything else: the name of its type, and its value.
    Other(&'static str, String),
}

/// The key that go-yaml v2 makes of a scalar.
pub fn go_key<'t>(text: &'t str, style: Style, tag: Option<&str>) -> Result<GoKey<'t>, ScalarError> {
    Ok(match meaning(text, style, tag)? {
        Meaning::Text(text) => GoKey::Text(text),
        Meaning::Null => GoKey::Other("null", String::new()),
        Meaning::Bool(value) => GoKey::Other("bool", value.to_string()),
        Meaning::Int(number) => GoKey::Other("int", number.to_string()),
        Meaning::Long(number) => {
            GoKey::Other("float", number.to_string().parse().map_or(number.to_string(), float_bits))
        }
        Meaning::Float(float) => GoKey::Other("float", float_bits(float)),
    })
}

fn float_bits(float: f64) -> String {
    float.to_bits().to_string()
}

/// What go-yaml v2 makes of a scalar.
#[derive(Clone, Debug, PartialEq)]
enum Meaning<'t> {
    Null,
    Bool(bool),
    /// An integer of at most 64 bits.
    Int(Number),
    /// Other decimal digits: more than 64 bits, or `08`. Go reads them as a float; here they all are kept.
    Long(Number),
    Float(f64),
    Text(Cow<'t, str>),
}

fn meaning<'t>(text: &'t str, style: Style, tag: Option<&str>) -> Result<Meaning<'t>, ScalarError> {
    let Some(tag) = tag else {
        return Ok(if style == Style::Plain { plain(text) } else { Meaning::Text(text.into()) });
    };
    let Some(short) = tag.strip_prefix("tag:yaml.org,2002:") else {
        return Ok(Meaning::Text(text.into()));
    };
    let misfit = || ScalarError::Tag { text: text.to_owned(), tag: format!("!!{short}") };
    match (short, plain(text)) {
        ("null", meaning @ Meaning::Null)
        | ("bool", meaning @ Meaning::Bool(_))
        | ("int", meaning @ Meaning::Int(_))
        | ("float", meaning @ (Meaning::Float(_) | Meaning::Long(_))) => Ok(meaning),
        ("float", Meaning::Int(number)) => {
            let float = number.as_i64().ok_or_else(misfit)?.to_string().parse().map_err(|_| misfit())?;
            Ok(Meaning::Float(float))
        }
        ("timestamp", _) if is_timestamp(text) => Ok(Meaning::Text(text.into())),
        ("null" | "bool" | "int" | "float" | "timestamp", _) => Err(misfit()),
        ("binary", _) => Ok(Meaning::Text(base64_text(text).ok_or(ScalarError::Base64)?.into())),
        _ => Ok(Meaning::Text(text.into())),
    }
}

/// A bare scalar without tag, by go-yaml v2's `resolve`. The first byte decides which rules are tried.
fn plain(text: &str) -> Meaning<'_> {
    let meaning = match text.bytes().next() {
        None => Some(Meaning::Null),
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => word(text),
        Some(b'.') => special_float(text).or_else(|| point_float(text)).map(Meaning::Float),
        Some(b'+' | b'-') => special_float(text).map(Meaning::Float).or_else(|| go_number(text)),
        Some(b'0'..=b'9') => go_number(text),
        Some(_) => None,
    };
    meaning.unwrap_or(Meaning::Text(text.into()))
}

fn word(text: &str) -> Option<Meaning<'static>> {
    match text {
        "~" | "null" | "Null" | "NULL" => Some(Meaning::Null),
        _ => bool11(text).map(Meaning::Bool),
    }
}

/// The booleans of YAML 1.1.
fn bool11(text: &str) -> Option<bool> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Some(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

fn special_float(text: &str) -> Option<f64> {
    match text {
        ".nan" | ".NaN" | ".NAN" => Some(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Some(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// A number that starts with a digit or a sign: Go's `ParseInt` with base 0 over the text without underscores, then a
/// decimal float, then what is left of `0b`.
fn go_number(text: &str) -> Option<Meaning<'static>> {
    let bare: Cow<'_, str> = if text.contains('_') { text.replace('_', "").into() } else { text.into() };
    go_integer(&bare)
        .map(Meaning::Int)
        .or_else(|| long_integer(&bare).map(Meaning::Long))
        .or_else(|| go_float(&bare).map(Meaning::Float))
        .or_else(|| signed_binary(&bare).map(Meaning::Int))
}

/// Splits off a sign; whether it is a minus, and the rest.
fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// Go's `ParseInt(text, 0, 64)`, else its `ParseUint`, which takes no sign.
fn go_integer(text: &str) -> Option<Number> {
    let (negative, unsigned) = signed(text);
    let (base, digits) = go_base(unsigned);
    let size = u64_of(digits, base)?;
    sized(negative, size, unsigned.len() < text.len())
}

/// The integer of that sign and size, if Go has a type for it.
fn sized(negative: bool, size: u64, has_sign: bool) -> Option<Number> {
    let value = if negative { -i128::from(size) } else { i128::from(size) };
    if let Ok(value) = i64::try_from(value) {
        return Some(Number::from(value));
    }
    (!has_sign).then(|| Number::from(size))
}

/// The base that a prefix names, and the digits behind it. A bare leading zero is octal.
fn go_base(text: &str) -> (u32, &str) {
    let Some(rest) = text.strip_prefix('0') else { return (10, text) };
    let base = match rest.bytes().next() {
        Some(b'x' | b'X') => 16,
        Some(b'o' | b'O') => 8,
        Some(b'b' | b'B') => 2,
        Some(_) => return (8, rest),
        None => return (10, text),
    };
    (base, rest.get(1..).unwrap_or(""))
}

/// Digits alone: no sign, which Rust's own parser would take.
fn u64_of(digits: &str, base: u32) -> Option<u64> {
    let plain = !digits.is_empty() && digits.chars().all(|c| c.is_digit(base));
    plain.then(|| u64::from_str_radix(digits, base).ok()).flatten()
}

fn long_integer(text: &str) -> Option<Number> {
    let (negative, digits) = signed(text);
    number::of_digits(negative, digits)
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`; infinite where it overflows.
fn decimal_float(text: &str) -> Option<f64> {
    let (_, unsigned) = signed(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(signed(exponent).1)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let fits = digits(whole)
        && digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|e| !e.is_empty() && digits(e));
    fits.then(|| text.parse().ok()).flatten()
}

/// Go's parser refuses a number that overflows, which leaves it a text.
fn go_float(text: &str) -> Option<f64> {
    decimal_float(text).filter(|float| float.is_finite())
}

/// A float that starts with its point: Go's `ParseFloat`, which allows underscores between digits.
fn point_float(text: &str) -> Option<f64> {
    if !text.contains('_') {
        return go_float(text);
    }
    let bytes = text.as_bytes();
    let is_digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let between = |at: usize| is_digit(at.checked_sub(1)) && is_digit(Some(at + 1));
    let fits = bytes.iter().enumerate().all(|(at, b)| *b != b'_' || between(at));
    fits.then(|| go_float(&text.replace('_', ""))).flatten()
}

/// go-yaml's own look behind `0b`, which finds signs there that `ParseInt` refused.
fn signed_binary(text: &str) -> Option<Number> {
    let (negative, digits) = signed(text.strip_prefix("0b")?);
    sized(negative, u64_of(digits, 2)?, true)
}

/// A float as a mapping key: Go's `FormatFloat(f, 'g', -1, 32)`, its infinities and NaN as YAML writes them.
fn float_key(float: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "sigs.k8s.io/yaml formats the key as a 32-bit float")]
    let float = float as f32;
    if float.is_nan() {
        return ".nan".into();
    }
    if float.is_infinite() {
        return if float > 0.0 { ".inf".into() } else { "-.inf".into() };
    }
    let shortest = format!("{float:e}");
    let Some((mantissa, exponent)) = shortest.split_once('e') else { return shortest };
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{mantissa}e{sign}{:02}", exponent.abs())
        }
        _ => format!("{float}"),
    }
}

/// The text that base64 encodes; bytes that are no UTF-8 become U+FFFD, as in Go's JSON.
fn base64_text(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let symbols: Vec<u8> = text.bytes().filter(|b| !matches!(b, b'\n' | b'\r')).collect();
    if !symbols.len().is_multiple_of(4) {
        return None;
    }
    let last = symbols.len() / 4;
    for (at, group) in symbols.chunks_exact(4).enumerate() {
        let padding = group.iter().rev().take_while(|b| **b == b'=').count();
        if padding > 2 || (padding > 0 && at + 1 != last) {
            return None;
        }
        let mut bits = 0u32;
        for symbol in &group[..4 - padding] {
            bits = bits << 6 | sextet(*symbol)?;
        }
        bits <<= 6 * u32::try_from(padding).unwrap_or(0);
        bytes.extend_from_slice(&bits.to_be_bytes()[1..4 - padding]);
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn sextet(symbol: u8) -> Option<u32> {
    let value = match symbol {
        b'A'..=b'Z' => symbol - b'A',
        b'a'..=b'z' => symbol - b'a' + 26,
        b'0'..=b'9' => symbol - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

/// How one of the three readers takes a bare scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// As null.
    Null,
    /// As a boolean.
    Bool(bool),
    /// As a number.
    Number(Number),
    /// As NaN or an infinity.
    NotFinite(&'static str),
    /// As the text that stands there.
    Text,
    /// As a date or a time.
    Timestamp,
    /// As YAML 1.1's default value `=` or merge key `<<`.
    Special,
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reading::Null => f.write_str("null"),
            Reading::Bool(value) => write!(f, "the boolean {value}"),
            Reading::Number(number) => write!(f, "the number {number}"),
            Reading::NotFinite(name) => f.write_str(name),
            Reading::Text => f.write_str("a text"),
            Reading::Timestamp => f.write_str("a date"),
            Reading::Special => f.write_str("a special key"),
        }
    }
}

/// A bare scalar that is not read alike everywhere. Displayed, it says who reads what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ambiguity {
    /// By YAML 1.1's type repository (yaml.org/type).
    pub yaml11: Reading,
    /// By YAML 1.2's core schema (YAML 1.2.2, 10.3.2).
    pub yaml12: Reading,
    /// By Kubernetes (go-yaml v2).
    pub kubernetes: Reading,
}

impl Ambiguity {
    /// The spelling that everyone reads as Kubernetes reads the scalar; `None` where that is a text, or cannot be
    /// written.
    pub fn plain(&self) -> Option<String> {
        match &self.kubernetes {
            Reading::Null => Some("null".into()),
            Reading::Bool(value) => Some(value.to_string()),
            Reading::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }
}

impl fmt::Display for Ambiguity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ambiguity { yaml11, yaml12, kubernetes } = self;
        write!(f, "YAML 1.1 reads {yaml11}, YAML 1.2 {yaml12}, Kubernetes {kubernetes}")
    }
}

/// Whether YAML 1.1, the YAML 1.2 core schema and Kubernetes read a bare scalar differently, and how.
pub fn ambiguous(text: &str) -> Option<Ambiguity> {
    if is_no_word_or_number(text) {
        return None;
    }
    let readings = Ambiguity { yaml11: yaml11(text), yaml12: yaml12(text), kubernetes: kubernetes(text) };
    let alike = readings.yaml11 == readings.yaml12 && readings.yaml12 == readings.kubernetes;
    (!alike).then_some(readings)
}

/// Whether each of the three readers takes a bare scalar for the text that stands there.
pub(super) fn is_text_to_all(text: &str) -> bool {
    is_no_word_or_number(text)
        || [yaml11(text), yaml12(text), kubernetes(text)].iter().all(|reading| *reading == Reading::Text)
}

/// Whether a bare scalar begins like no number, date or special key, and is longer than every word that means something or
/// begins like none of them: `y`, `no`, `true`, `false`, `on`, `null`. Most scalars are such texts, and need no closer look.
fn is_no_word_or_number(text: &str) -> bool {
    let Some(first) = text.bytes().next() else { return false };
    let begins_otherwise = !matches!(first, b'0'..=b'9' | b'+' | b'-' | b'.' | b'<' | b'=' | b'~');
    let is_no_word =
        text.len() > "false".len() || !matches!(first.to_ascii_lowercase(), b'y' | b'n' | b't' | b'f' | b'o');
    begins_otherwise && is_no_word || is_like_a_digest(text)
}

/// Whether letters and digits alone, the first one a digit, hold a letter that is none of a number: digests do. Of letters, decimal
/// numbers have an `e`, others begin with a zero and the letter of their base, and dates have more than letters and digits.
fn is_like_a_digest(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has_base = bytes.len() > 1 && bytes[0] == b'0' && !bytes[1].is_ascii_digit();
    !has_base
        && bytes.first().is_some_and(u8::is_ascii_digit)
        && bytes.iter().all(u8::is_ascii_alphanumeric)
        && bytes.iter().any(|byte| byte.is_ascii_alphabetic() && !matches!(byte, b'e' | b'E'))
}

fn kubernetes(text: &str) -> Reading {
    match plain(text) {
        Meaning::Null => Reading::Null,
        Meaning::Bool(value) => Reading::Bool(value),
        Meaning::Int(number) | Meaning::Long(number) => Reading::Number(number),
        Meaning::Float(float) => float_reading(float),
        Meaning::Text(_) => Reading::Text,
    }
}

fn float_reading(float: f64) -> Reading {
    match number::of_float(float) {
        Some(number) => Reading::Number(number),
        None if float.is_nan() => Reading::NotFinite("NaN"),
        None if float > 0.0 => Reading::NotFinite("infinity"),
        None => Reading::NotFinite("minus infinity"),
    }
}

fn yaml12(text: &str) -> Reading {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Reading::Null,
        "true" | "True" | "TRUE" => return Reading::Bool(true),
        "false" | "False" | "FALSE" => return Reading::Bool(false),
        _ => {}
    }
    let prefixed = match text.get(..2) {
        Some("0o") => integer(&text[2..], 8, false),
        Some("0x") => integer(&text[2..], 16, false),
        _ => None,
    };
    let (negative, digits) = signed(text);
    special_float(text)
        .map(float_reading)
        .or_else(|| prefixed.or_else(|| number::of_digits(negative, digits)).map(Reading::Number))
        .or_else(|| decimal_float(text).map(float_reading))
        .unwrap_or(Reading::Text)
}

fn yaml11(text: &str) -> Reading {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Reading::Null,
        "=" | "<<" => return Reading::Special,
        _ => {}
    }
    bool11(text)
        .map(Reading::Bool)
        .or_else(|| special_float(text).map(float_reading))
        .or_else(|| integer11(text).map(Reading::Number))
        .or_else(|| float11(text).map(float_reading))
        .or_else(|| sexagesimal(text))
        .or_else(|| is_timestamp(text).then_some(Reading::Timestamp))
        .unwrap_or(Reading::Text)
}

/// Digits of a base as a number; where they are too many, as a float.
fn integer(digits: &str, base: u32, negative: bool) -> Option<Number> {
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(base)) {
        return None;
    }
    if let Ok(size) = u128::from_str_radix(digits, base) {
        return number::of_digits(negative, &size.to_string());
    }
    let size = digits.chars().filter_map(|c| c.to_digit(base)).fold(0.0, |sum, d| sum * f64::from(base) + f64::from(d));
    number::of_float(if negative { -size } else { size })
}

/// `0b…`, `0…` (octal), `0x…` and decimal, each with a sign and underscores (yaml.org/type/int).
fn integer11(text: &str) -> Option<Number> {
    let (negative, unsigned) = signed(text);
    let bare = unsigned.replace('_', "");
    if unsigned.starts_with('_') {
        return None;
    }
    match bare.strip_prefix('0') {
        None => number::of_digits(negative, &bare),
        Some("") => Some(Number::from(0)),
        Some(rest) => match rest.split_at_checked(1) {
            Some(("b", digits)) => integer(digits, 2, negative),
            Some(("x", digits)) => integer(digits, 16, negative),
            _ => integer(rest, 8, negative),
        },
    }
}

/// `[-+]?([0-9][0-9_]*)?\.[0-9_]*([eE][-+][0-9]+)?` with a digit in it (yaml.org/type/float).
fn float11(text: &str) -> Option<f64> {
    let (_, unsigned) = signed(text);
    let (whole, rest) = unsigned.split_once('.')?;
    let exponent_is_signed = rest.split_once(['e', 'E']).is_none_or(|(_, exponent)| exponent.starts_with(['-', '+']));
    let exponent_is_bare = rest.split_once(['e', 'E']).is_none_or(|(_, exponent)| !exponent.contains('_'));
    let fits = exponent_is_signed && exponent_is_bare && !whole.starts_with('_');
    fits.then(|| decimal_float(&text.replace('_', ""))).flatten()
}

/// Base 60, as `190:20:30` or `190:20:30.15`.
fn sexagesimal(text: &str) -> Option<Reading> {
    let (negative, unsigned) = signed(text);
    let (whole, fraction) = unsigned.split_once('.').map_or((unsigned, None), |(whole, rest)| (whole, Some(rest)));
    let (first, places) = whole.split_once(':')?;
    let first_fits = first.starts_with(|c: char| c.is_ascii_digit()) && (fraction.is_some() || !first.starts_with('0'));
    let place_fits = |place: &str| match place.as_bytes() {
        [one] => one.is_ascii_digit(),
        [ten, one] => matches!(ten, b'0'..=b'5') && one.is_ascii_digit(),
        _ => false,
    };
    if !first_fits || !places.split(':').all(place_fits) {
        return None;
    }
    let mut value = first.replace('_', "").parse::<f64>().ok()?;
    for place in places.split(':') {
        value = value * 60.0 + place.parse::<f64>().ok()?;
    }
    if let Some(fraction) = fraction {
        let digits = fraction.replace('_', "");
        if !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        value += format!("0.{digits}0").parse::<f64>().ok()?;
    }
    Some(float_reading(if negative { -value } else { value }))
}

/// `2001-12-14`, or a date and a time (yaml.org/type/timestamp). The calendar is not asked.
fn is_timestamp(text: &str) -> bool {
    let Some((date, time)) = text.split_at_checked(text.find(['T', 't', ' ', '\t']).unwrap_or(text.len())) else {
        return false;
    };
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next(), parts.next(), parts.next());
    let digits = |part: Option<&str>, least: usize, most: usize| {
        part.is_some_and(|p| (least..=most).contains(&p.len()) && p.bytes().all(|b| b.is_ascii_digit()))
    };
    if parts.next().is_some() || !digits(year, 4, 4) {
        return false;
    }
    if time.is_empty() {
        return digits(month, 2, 2) && digits(day, 2, 2);
    }
    digits(month, 1, 2) && digits(day, 1, 2) && is_time(time.trim_start_matches(['T', 't', ' ', '\t']))
}

/// `21:59:43.10 -5:00`, its fraction and zone optional.
fn is_time(text: &str) -> bool {
    let clock_end = text.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.').unwrap_or(text.len());
    let (clock, zone) = text.split_at(clock_end);
    let mut parts = clock.split(':');
    let clock_fits =
        [1..=2, 2..=2].into_iter().all(|length| {
            parts.next().is_some_and(|p| length.contains(&p.len()) && p.bytes().all(|b| b.is_ascii_digit()))
        }) && parts.next().is_some_and(|seconds| {
            let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
            whole.len() == 2 && [whole, fraction].iter().all(|p| p.bytes().all(|b| b.is_ascii_digit()))
        }) && parts.next().is_none();
    let zone = zone.trim_start_matches([' ', '\t']);
    let zone_fits = zone.is_empty() || zone == "Z" || zone.strip_prefix(['+', '-']).is_some_and(is_offset);
    clock_fits && zone_fits
}

/// `5`, `05` or `05:30`.
fn is_offset(text: &str) -> bool {
    let (hours, minutes) = text.split_once(':').map_or((text, None), |(hours, minutes)| (hours, Some(minutes)));
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    (1..=2).contains(&hours.len()) && digits(hours) && minutes.is_none_or(|m| m.len() == 2 && digits(m))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_needs_no_closer_look_is_a_text_by_all_of_them(
            text in "[0-9][0-9a-fxobeE]{0,12}|[0-9a-zA-Z_.:+-]{1,10}|[a-zA-Z][ -~]{0,12}|0[xob_][0-9a-f_]{1,9}|[0-9]{1,4}[-:TtZz .e][0-9TtZze:. -]{0,12}",
        ) {
            let looked = [yaml11(&text), yaml12(&text), kubernetes(&text)];
            prop_assert!(!is_no_word_or_number(&text) || looked == [Reading::Text, Reading::Text, Reading::Text], "{looked:?}");
        }
    }

    #[test]
    fn digests_need_no_closer_look_and_numbers_do() {
        for text in ["1aa", "0123456789abcdef", "9e9f", "4d", "00c"] {
            assert!(is_no_word_or_number(text), "{text}");
        }
        for text in [
            "",
            "0",
            "12",
            "1e3",
            "1E3",
            "0x1f",
            "0b11",
            "0b",
            "0o7",
            "0_x1f",
            "0a",
            "1_0",
            "12:30",
            "on",
            "Yes",
            "2020-01-01",
        ] {
            assert!(!is_no_word_or_number(text), "{text}");
        }
    }

    fn value(text: &str) -> String {
        resolve(text, Style::Plain, None).unwrap().to_string()
    }

    fn tagged(tag: &str, text: &str) -> Result<String, ScalarError> {
        resolve(text, Style::Double, Some(&format!("tag:yaml.org,2002:{tag}"))).map(|v| v.to_string())
    }

    #[test]
    fn bare_scalars_mean_what_go_yaml_makes_of_them() {
        for (text, json) in [
            ("", "null"),
            ("~", "null"),
            ("nULL", "\"nULL\""),
            ("On", "true"),
            ("yEs", "\"yEs\""),
            ("08", "8"),
            ("0_7", "7"),
            ("0o17", "15"),
            ("0644", "420"),
            ("0x_1F", "31"),
            ("1__0", "10"),
            ("-0b101", "-5"),
            ("0b-1", "-1"),
            ("0x", "\"0x\""),
            ("1:30", "\"1:30\""),
            ("2020-01-01", "\"2020-01-01\""),
            (".5", "0.5"),
            (".5_0", "0.5"),
            ("._5", "\"._5\""),
            ("1.", "1"),
            ("1e3", "1000"),
            ("1e400", "\"1e400\""),
            ("-0.0", "0"),
            ("18446744073709551615", "18446744073709551615"),
            ("123456789012345678901234", "123456789012345678901234"),
            ("0xFFFFFFFFFFFFFFFFFF", "\"0xFFFFFFFFFFFFFFFFFF\""),
            ("+-1", "\"+-1\""),
            ("-", "\"-\""),
            ("1e", "\"1e\""),
            ("<<", "\"<<\""),
        ] {
            assert_eq!(value(text), json, "{text}");
        }
    }

    #[test]
    fn quotes_make_a_text() {
        assert_eq!(resolve("no", Style::Single, None), Ok("no".into()));
        assert_eq!(resolve("1", Style::Literal, None), Ok("1".into()));
    }

    #[test]
    fn what_json_has_not_is_an_error() {
        for text in [".inf", "-.Inf", ".NAN"] {
            assert_eq!(resolve(text, Style::Plain, None), Err(ScalarError::NotFinite(text.into())));
        }
    }

    #[test]
    fn explicit_tags_bind() {
        assert_eq!(tagged("int", "0_12").unwrap(), "10");
        assert_eq!(tagged("float", "3").unwrap(), "3");
        assert_eq!(tagged("bool", "yes").unwrap(), "true");
        assert_eq!(tagged("null", "").unwrap(), "null");
        assert_eq!(tagged("str", "5").unwrap(), "\"5\"");
        assert_eq!(tagged("binary", "aG\nk=").unwrap(), "\"hi\"");
        assert_eq!(tagged("binary", "/w==").unwrap(), "\"\u{fffd}\"");
        assert_eq!(tagged("timestamp", "2001-12-14").unwrap(), "\"2001-12-14\"");
        assert_eq!(tagged("set", "5").unwrap(), "\"5\"");
        assert_eq!(resolve("12", Style::Plain, Some("!")), Ok("12".into()));
        for (tag, text) in [("int", "1.0"), ("bool", "1"), ("null", "x"), ("float", "x"), ("timestamp", "x")] {
            assert!(matches!(tagged(tag, text), Err(ScalarError::Tag { .. })), "{tag} {text}");
        }
        for text in ["a", "aGk", "aG k=", "=aaa", "aG==aGk="] {
            assert_eq!(tagged("binary", text), Err(ScalarError::Base64), "{text}");
        }
    }

    #[test]
    fn keys_become_texts() {
        for (text, name) in [
            ("1", "1"),
            ("0x10", "16"),
            ("no", "false"),
            ("on", "true"),
            ("1.5", "1.5"),
            ("1e5", "100000"),
            ("1e6", "1e+06"),
            ("0.00001", "1e-05"),
            ("08", "8"),
            (".inf", ".inf"),
            ("-0.0", "-0"),
            ("2020-01-01", "2020-01-01"),
        ] {
            assert_eq!(key(text, Style::Plain, None).unwrap(), name, "{text}");
        }
        assert_eq!(key("no", Style::Single, None).unwrap(), "no");
        assert!(key("~", Style::Plain, None).is_err());
        assert!(key("18446744073709551615", Style::Plain, None).is_err());
    }

    #[test]
    fn what_readers_disagree_on_is_known() {
        for text in [
            "no",
            "on",
            "y",
            "N",
            "0755",
            "0o17",
            "08",
            "1_000",
            "12:30",
            "1e3",
            "1.5e3",
            "0b1",
            "0x_F",
            "=",
            "<<",
            "2001-12-14",
            "2001-1-1 2:03:04.5 +1",
            "190:20:30.15",
            "+0b1",
            "1e400",
        ] {
            assert!(ambiguous(text).is_some(), "{text}");
        }
        for text in [
            "",
            "~",
            "true",
            "null",
            "0",
            "00",
            "-0",
            "1",
            "1.5",
            ".5",
            "1.5e+3",
            "0x1F",
            ".inf",
            ".NaN",
            "yEs",
            "a",
            "1.2.3",
            "v1",
            "10.0.0.0/8",
            "::1",
            "12:99",
            "-x",
            "..",
            "0.0.0.0:80",
            "1/2",
            "2001-12",
            "5Gi",
            "100m",
            "123456789012345678901234",
            "+",
            "-",
            ".",
        ] {
            assert_eq!(ambiguous(text), None, "{text}");
        }
    }

    #[test]
    fn an_ambiguity_says_who_reads_what() {
        let found = ambiguous("0755").unwrap();
        assert_eq!(
            found.to_string(),
            "YAML 1.1 reads the number 493, YAML 1.2 the number 755, Kubernetes the number 493"
        );
        assert_eq!(found.plain().unwrap(), "493");
        let found = ambiguous("12:30").unwrap();
        assert_eq!(found.to_string(), "YAML 1.1 reads the number 750, YAML 1.2 a text, Kubernetes a text");
        assert_eq!(found.plain(), None);
    }
}
