//! Where a difference lies: a path that knows both sides' indices and the key of each list item.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::names::Names;
use crate::patch::path::Segment;
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
pub fn selector(keys: &[&str], list: &[Value], index: usize) -> Option<Segment> {
    let key = MergeKey::of_list(keys).or_else(|| MergeKey::common(&[], list));
    Names::new(key, &[], list).selector(None, Some(index))
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
    use super::*;
    use crate::patch;

    fn item(before: Option<usize>, after: Option<usize>, selector: Option<Segment>) -> Step {
        Step::Item(Item { before, after, selector })
    }

    #[test]
    fn a_path_reads_back_as_it_is_shown() {
        let selector = patch::path::Path::parse("/[name=\"a,b\"]").unwrap().segments()[0].clone();
        let path = Path::default()
            .join(Step::Key("a/b~".into()))
            .join(Step::Key("[x".into()))
            .join(item(Some(1), Some(2), Some(selector)))
            .join(Step::Key("*".into()))
            .join(item(Some(3), None, None))
            .join(item(None, Some(4), None));
        assert_eq!(path.to_string(), "/a~1b~0/~2x/[name=\"a,b\"]/~3/3/4");
        assert_eq!(patch::path::Path::parse(&path.to_string()).unwrap().to_string(), path.to_string());
        assert_eq!(Path::default().to_string(), "");
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
