//! Where a difference lies: a path that knows both sides' indices and the key of each list item.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::names::Names;
use crate::patch::path::{self as patch, Segment};
use crate::resource::MergeKey;

/// A path of a difference. Paths share their beginnings, so that many differences below one deep place stay small.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path(Option<Arc<Link>>);

#[derive(Debug, PartialEq, Eq)]
struct Link {
    parent: Path,
    step: Step,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// To the value of a mapping key.
    Key(String),
    /// To a list item.
    Item(Item),
}

/// A step to a list item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its index before; `None` when it is not there.
    pub before: Option<usize>,
    /// Its index after; `None` when it is not there.
    pub after: Option<usize>,
    /// The selector that names this item, and it alone, in its list: before, or after where it is new.
    pub selector: Option<Segment>,
}

impl Step {
    /// The step to an item of a list that is new as a whole.
    pub fn of_new_item(list: &[Value], index: usize) -> Step {
        let key = MergeKey::common(&[], list);
        let selector = Names::new(key, &[], list).selector(None, Some(index));
        Step::Item(Item { before: None, after: Some(index), selector })
    }
}

/// The selector that names the item at that index, and it alone, in a list that lies at `keys` (mapping keys only).
fn selector(keys: &[&str], list: &[Value], index: usize) -> Option<Segment> {
    let key = MergeKey::of_list(keys).or_else(|| MergeKey::common(&[], list));
    Names::new(key, &[], list).selector(None, Some(index))
}

/// A plain path (mapping keys and indices) into a value in keyed form, and whether no index is left in it.
pub fn keyed(value: &Value, path: &[String]) -> (patch::Path, bool) {
    let mut here = Some(value);
    let mut keys: Vec<&str> = Vec::new();
    let mut out = patch::Path::default();
    let mut stable = true;
    for token in path {
        let segment = if let Some(Value::Array(items)) = here {
            token.parse().ok().and_then(|index| selector(&keys, items, index))
        } else {
            keys.push(token);
            Some(Segment::Key(token.clone()))
        };
        stable &= segment.is_some();
        out.push(segment.unwrap_or_else(|| Segment::Key(token.clone())));
        here = here.and_then(|value| match value {
            Value::Object(map) => map.get(token),
            Value::Array(items) => items.get(token.parse::<usize>().ok()?),
            _ => None,
        });
    }
    (out, stable)
}

/// A step as one side sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum At<'p> {
    /// A mapping key.
    Key(&'p str),
    /// An index.
    Index(usize),
}

impl Path {
    /// The path one step on.
    #[must_use]
    pub fn join(&self, step: Step) -> Path {
        Path(Some(Arc::new(Link { parent: self.clone(), step })))
    }

    /// Its steps, from the top.
    pub fn steps(&self) -> Vec<&Step> {
        let mut steps: Vec<&Step> =
            std::iter::successors(self.0.as_deref(), |link| link.parent.0.as_deref()).map(|link| &link.step).collect();
        steps.reverse();
        steps
    }

    /// The path without its first `count` steps.
    #[must_use]
    pub fn without_first(&self, count: usize) -> Path {
        self.steps().into_iter().skip(count).fold(Path::default(), |path, step| path.join(step.clone()))
    }

    /// The last step; `None` at the top.
    pub fn last(&self) -> Option<&Step> {
        self.0.as_deref().map(|link| &link.step)
    }

    /// The same place in keys and indices of the side before; `None` where it leads through an item that was not
    /// there.
    pub fn before(&self) -> Option<Vec<At<'_>>> {
        self.side(|item| item.before)
    }

    /// The same place in keys and indices of the side after; `None` where it leads through an item that is gone.
    pub fn after(&self) -> Option<Vec<At<'_>>> {
        self.side(|item| item.after)
    }

    fn side(&self, index: impl Fn(&Item) -> Option<usize>) -> Option<Vec<At<'_>>> {
        let steps = self.steps().into_iter();
        steps
            .map(|step| match step {
                Step::Key(key) => Some(At::Key(key)),
                Step::Item(item) => index(item).map(At::Index),
            })
            .collect()
    }
}

/// The keyed form of the path language; an item without a key of its own is shown by its index before, or after where
/// it is new.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps().into_iter().try_for_each(|step| write!(f, "/{step}"))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Key(key) => Segment::Key(key.clone()).fmt(f),
            Step::Item(Item { selector: Some(selector), .. }) => selector.fmt(f),
            Step::Item(item) => item.before.or(item.after).unwrap_or_default().fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn item(before: Option<usize>, after: Option<usize>, selector: Option<Segment>) -> Step {
        Step::Item(Item { before, after, selector })
    }

    #[test]
    fn a_path_reads_back_as_it_is_shown() {
        let selector = patch::Path::parse("/[name=\"a,b\"]").unwrap().segments()[0].clone();
        let path = Path::default()
            .join(Step::Key("a/b~".into()))
            .join(Step::Key("[x".into()))
            .join(item(Some(1), Some(2), Some(selector)))
            .join(Step::Key("*".into()))
            .join(item(Some(3), None, None))
            .join(item(None, Some(4), None));
        assert_eq!(path.to_string(), "/a~1b~0/~2x/[name=\"a,b\"]/~3/3/4");
        assert_eq!(patch::Path::parse(&path.to_string()).unwrap().to_string(), path.to_string());
        assert_eq!(Path::default().to_string(), "");
    }

    #[test]
    fn a_plain_path_is_told_by_keys_and_by_index_where_no_key_tells_the_item() {
        let value = json!({"spec": {"containers": [{"name": "a", "args": ["-x", "-x"]}, {"name": "b"}]}});
        let keyed = |path: &str| {
            let (path, stable) = keyed(&value, &path.split('/').map(str::to_owned).collect::<Vec<_>>());
            (path.to_string(), stable)
        };
        assert_eq!(keyed("spec/containers/1"), ("/spec/containers/[name=b]".into(), true));
        assert_eq!(keyed("spec/containers/0/args/1"), ("/spec/containers/[name=a]/args/1".into(), false));
        assert_eq!(keyed("spec/gone/x"), ("/spec/gone/x".into(), true));
    }

    #[test]
    fn each_side_has_its_own_indices() {
        let path = Path::default().join(Step::Key("l".into())).join(item(Some(1), Some(2), None));
        assert_eq!(path.before(), Some(vec![At::Key("l"), At::Index(1)]));
        assert_eq!(path.after(), Some(vec![At::Key("l"), At::Index(2)]));
        let gone = path.join(item(Some(0), None, None));
        assert_eq!(gone.after(), None);
        assert_eq!(gone.before().map(|at| at.len()), Some(3));
    }
}
