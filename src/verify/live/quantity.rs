//! Amounts as the Kubernetes API writes them (`k8s.io/apimachinery/pkg/api/resource`): a decimal number and a suffix.

use std::cmp::Ordering;

/// The largest power of ten or two that is followed; what is larger is told apart by its text.
const MAX_POWER: u32 = 60;

/// An amount: `digits` times ten to the `ten` times two to the `two`.
struct Quantity {
    negative: bool,
    digits: u128,
    ten: i32,
    two: u32,
}

/// Whether two texts are the same amount. False where one of them is none.
pub(super) fn are_equal(a: &str, b: &str) -> bool {
    let (Some(a), Some(b)) = (Quantity::parse(a), Quantity::parse(b)) else { return false };
    a.compare(&b) == Some(Ordering::Equal)
}

impl Quantity {
    fn parse(text: &str) -> Option<Quantity> {
        let (negative, text) = match text.strip_prefix(['+', '-']) {
            Some(rest) => (text.starts_with('-'), rest),
            None => (false, text),
        };
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, suffix) = text.split_at_checked(end)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let digits = [whole, fraction].concat().parse().ok()?;
        let (ten, two) = power(suffix)?;
        let ten = ten - i32::try_from(fraction.len()).ok()?;
        Some(Quantity { negative, digits, ten, two })
    }

    /// `None` where that takes larger numbers than are worth the effort.
    fn compare(&self, other: &Quantity) -> Option<Ordering> {
        let (ten, two) = (self.ten.min(other.ten), self.two.min(other.two));
        let scaled = |q: &Quantity| {
            let up = u32::try_from(q.ten - ten).ok().filter(|power| *power <= MAX_POWER)?;
            let doubled = q.digits.checked_mul(1_u128.checked_shl(q.two - two)?)?;
            doubled.checked_mul(10_u128.checked_pow(up)?)
        };
        let (a, b) = (scaled(self)?, scaled(other)?);
        let is_zero = a == 0 && b == 0;
        Some(if is_zero || self.negative == other.negative { a.cmp(&b) } else { Ordering::Less })
    }
}

/// The powers of ten and of two that a suffix stands for.
fn power(suffix: &str) -> Option<(i32, u32)> {
    Some(match suffix {
        "n" => (-9, 0),
        "u" => (-6, 0),
        "m" => (-3, 0),
        "" => (0, 0),
        "k" => (3, 0),
        "M" => (6, 0),
        "G" => (9, 0),
        "T" => (12, 0),
        "P" => (15, 0),
        "E" => (18, 0),
        "Ki" => (0, 10),
        "Mi" => (0, 20),
        "Gi" => (0, 30),
        "Ti" => (0, 40),
        "Pi" => (0, 50),
        "Ei" => (0, 60),
        _ => (suffix.strip_prefix(['e', 'E'])?.parse::<i8>().ok()?.into(), 0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_equal_whatever_their_suffix() {
        for (a, b) in [
            ("1024Mi", "1Gi"),
            ("0.5", "500m"),
            ("1", "1000m"),
            ("1e3", "1k"),
            ("1.5Gi", "1536Mi"),
            ("100M", "0.1G"),
            ("0", "0m"),
            ("-0", "0"),
            ("+1", "1"),
            ("1E", "1000P"),
            (".5", "500m"),
        ] {
            assert!(are_equal(a, b) && are_equal(b, a), "{a} {b}");
        }
    }

    #[test]
    fn other_amounts_and_other_texts_differ() {
        for (a, b) in [
            ("1Gi", "1G"),
            ("1", "2"),
            ("-1", "1"),
            ("x", "x"),
            ("", ""),
            ("1 ", "1"),
            ("1e99", "1"),
            ("99999999999999999999999999999999999999999", "1"),
            ("340282366920938463463374607431768211455Ei", "1n"),
            ("1.2.3", "1.23"),
        ] {
            assert!(!are_equal(a, b), "{a} {b}");
        }
    }
}
