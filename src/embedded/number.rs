//! Numbers in one spelling each, so that equal numbers are equal values.

use serde_json::{Number, Value};

use super::EmbeddedError;

/// The number that a JSON number's text stands for; `None` where it is beyond what a double holds.
///
/// Integers keep all their digits. What has a fraction or an exponent is read as a double and spelled as Go's
/// `encoding/json` spells one: `1.0` and `1e0` are `1`, and an exponent is used from 10^21 up and below 10^-6.
pub(super) fn canonical(text: &str) -> Option<Number> {
    if !text.contains(['.', 'e', 'E']) {
        return if text == "-0" { Some(Number::from(0)) } else { text.parse().ok() };
    }
    from_double(text.parse().ok()?)
}

/// The number of a double; `None` for an infinity or what is no number.
pub(super) fn from_double(double: f64) -> Option<Number> {
    if !double.is_finite() {
        return None;
    }
    if double == 0.0 {
        return Some(Number::from(0));
    }
    if (1e-6..1e21).contains(&double.abs()) {
        return double.to_string().parse().ok();
    }
    let spelled = format!("{double:e}");
    let spelled = if spelled.contains("e-") { spelled } else { spelled.replace('e', "e+") };
    spelled.parse().ok()
}

/// The value with every number in it canonical.
///
/// # Errors
/// When it nests deeper than `depth`, or holds a number that no double holds.
pub(super) fn canonical_value(value: &Value, depth: usize) -> Result<Value, EmbeddedError> {
    let deeper = || depth.checked_sub(1).ok_or_else(|| EmbeddedError::new(0, "the new value nests too deeply"));
    Ok(match value {
        Value::Number(number) => {
            let text = number.to_string();
            let same =
                canonical(&text).ok_or_else(|| EmbeddedError::new(0, format!("the number {text} is too large")))?;
            Value::Number(same)
        }
        Value::Array(items) => {
            let depth = deeper()?;
            Value::Array(items.iter().map(|item| canonical_value(item, depth)).collect::<Result<_, _>>()?)
        }
        Value::Object(members) => {
            let depth = deeper()?;
            let same = |(key, member): (&String, &Value)| Ok((key.clone(), canonical_value(member, depth)?));
            Value::Object(members.iter().map(same).collect::<Result<_, EmbeddedError>>()?)
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn equal_numbers_have_one_spelling() {
        let cases = [
            ("1", "1"),
            ("1.0", "1"),
            ("1e0", "1"),
            ("10E-1", "1"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("0e9", "0"),
            ("1e3", "1000"),
            ("-2.50", "-2.5"),
            ("12345678901234567890123", "12345678901234567890123"),
            ("-98765432109876543210", "-98765432109876543210"),
            ("0.1", "0.1"),
            ("0.000001", "0.000001"),
            ("0.0000001", "1e-7"),
            ("1e20", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("2.5e+30", "2.5e+30"),
            ("5e-324", "5e-324"),
        ];
        for (text, wanted) in cases {
            assert_eq!(canonical(text).map(|n| n.to_string()).as_deref(), Some(wanted), "{text}");
        }
    }

    #[test]
    fn what_no_double_holds_is_no_number() {
        assert_eq!(canonical("1e400"), None);
        assert_eq!(canonical("-1.5E999999999999"), None);
    }
}
