//! JSON numbers in one spelling each, so that equal numbers are equal [`Value`]s.
//!
//! `serde_json` keeps a number as its text here, which keeps every digit of an integer but makes `1.0` and `1` two
//! different values. The one spelling is what Go's `encoding/json` prints: an integral number below 10²¹ in decimal
//! digits, any other in the shortest form that reads back to the same float.

use serde_json::{Number, Value};

/// From this size on Go prints floats with an exponent, and below [`SMALL`] too.
const LARGE: f64 = 1e21;
const SMALL: f64 = 1e-6;

/// The number of an integer written in decimal digits, all of them kept; `None` where it is not one.
pub fn of_digits(negative: bool, digits: &str) -> Option<Number> {
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    match (digits.is_empty(), negative) {
        (true, _) => Some(Number::from(0)),
        (false, true) => format!("-{digits}").parse().ok(),
        (false, false) => digits.parse().ok(),
    }
}

/// The number of a float; `None` for NaN and the infinities, which JSON has not.
pub fn of_float(float: f64) -> Option<Number> {
    if !float.is_finite() {
        return None;
    }
    if float == 0.0 {
        return Some(Number::from(0));
    }
    let size = float.abs();
    let text = if (SMALL..LARGE).contains(&size) {
        format!("{float}")
    } else {
        let text = format!("{float:e}");
        if text.contains("e-") { text } else { text.replace('e', "e+") }
    };
    text.parse().ok()
}

/// The one spelling of a number in JSON's syntax. A number too large for a float stays as it is.
pub fn canonical(number: &Number) -> Number {
    let text = number.as_str();
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    of_digits(negative, digits).or_else(|| text.parse().ok().and_then(of_float)).unwrap_or_else(|| number.clone())
}

/// Puts every number of a value into its one spelling, as for a value that came out of a JSON text.
///
/// It recurses as deep as the value, which its reader has bounded.
pub fn canonicalize(value: &mut Value) {
    match value {
        Value::Number(number) => *number = canonical(number),
        Value::Array(items) => items.iter_mut().for_each(canonicalize),
        Value::Object(entries) => entries.values_mut().for_each(canonicalize),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(text: &str) -> String {
        canonical(&serde_json::from_str(text).unwrap()).to_string()
    }

    #[test]
    fn equal_numbers_have_one_spelling() {
        for (text, one) in [
            ("1", "1"),
            ("1.0", "1"),
            ("1e3", "1000"),
            ("10.50", "10.5"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("0e5", "0"),
            ("1E-7", "1e-7"),
            ("0.000001", "0.000001"),
            ("1e20", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("-2.5E+30", "-2.5e+30"),
        ] {
            assert_eq!(spelled(text), one, "{text}");
        }
    }

    #[test]
    fn integers_keep_all_their_digits() {
        assert_eq!(spelled("18446744073709551617"), "18446744073709551617");
        assert_eq!(spelled("-123456789012345678901234567890"), "-123456789012345678901234567890");
        assert_eq!(of_digits(true, "007").unwrap().to_string(), "-7");
        assert_eq!(of_digits(false, "1a"), None);
    }

    #[test]
    fn what_no_float_holds_stays_as_it_is() {
        assert_eq!(spelled("1e+999"), "1e+999");
        assert_eq!(of_float(f64::NAN), None);
    }

    #[test]
    fn numbers_are_found_wherever_they_stand() {
        let mut value: Value = serde_json::from_str(r#"{"a":[1.0,{"b":2e0}],"c":"1.0"}"#).unwrap();
        canonicalize(&mut value);
        assert_eq!(value.to_string(), r#"{"a":[1,{"b":2}],"c":"1.0"}"#);
    }
}
