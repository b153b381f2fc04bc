//! The values within a value, each with the way to it.

use std::fmt;

use serde_json::Value;

/// One step of the way to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'v> {
    /// The value of this key of a mapping.
    Key(&'v str),
    /// The item of a list at this index.
    Index(usize),
}

impl Step<'_> {
    /// The key; `None` for an index.
    pub fn key(&self) -> Option<&str> {
        match self {
            Step::Key(key) => Some(key),
            Step::Index(_) => None,
        }
    }
}

/// The key, or the index in decimal.
impl fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Key(key) => f.write_str(key),
            Step::Index(index) => write!(f, "{index}"),
        }
    }
}

/// Hands `each` the value and every value within it, in order, with the way to it: the steps of `way`, and those from
/// the value on. It descends as deep as the value nests, which the readers of values bound.
pub fn walk<'v>(value: &'v Value, mut way: Vec<Step<'v>>, each: &mut impl FnMut(&[Step<'v>], &'v Value)) {
    within(value, &mut way, each);
}

fn within<'v>(value: &'v Value, way: &mut Vec<Step<'v>>, each: &mut impl FnMut(&[Step<'v>], &'v Value)) {
    each(way, value);
    let mut below = |step, value| {
        way.push(step);
        within(value, way, each);
        way.pop();
    };
    match value {
        Value::Array(items) => items.iter().enumerate().for_each(|(index, item)| below(Step::Index(index), item)),
        Value::Object(map) => map.iter().for_each(|(key, value)| below(Step::Key(key), value)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_value_is_met_once_in_order() {
        let value = json!({"a": [1, {"b": 2}], "c": 3});
        let mut met = Vec::new();
        walk(&value, vec![Step::Key("top")], &mut |way, value| {
            let way: Vec<String> = way.iter().map(ToString::to_string).collect();
            met.push(format!("{}={value}", way.join("/")));
        });
        let expected = [
            "top={\"a\":[1,{\"b\":2}],\"c\":3}",
            "top/a=[1,{\"b\":2}]",
            "top/a/0=1",
            "top/a/1={\"b\":2}",
            "top/a/1/b=2",
            "top/c=3",
        ];
        assert_eq!(met, expected);
    }
}
