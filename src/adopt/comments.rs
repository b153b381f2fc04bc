//! What an edited file says near a place that was edited: the best guess at the reason.

use std::sync::Arc;

use super::operations::{Act, Operation};
use crate::diag::Source;
use crate::layer::manifest::{self, Entry};
use crate::yaml::load;
use crate::yaml::tree::Kind;

/// The comments near a place, without their `#`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Comments {
    /// On the lines directly above it.
    pub(super) above: Vec<String>,
    /// Behind a replaced value, where the comment is not that of upstream.
    pub(super) trailing: Option<String>,
}

/// The comments near an operation's place that upstream does not have.
pub(super) fn near(upstream: &str, entry: &Entry, file: &Arc<Source>, operation: &Operation) -> Comments {
    let (Some(place), Some(tree)) = (&operation.place, &entry.tree) else { return Comments::default() };
    let text = file.text.get(entry.range.clone()).unwrap_or_default();
    let path = [entry.prefix.as_slice(), place].concat();
    let Some(start) = manifest::place_in(tree, &path).map(|span| span.start) else { return Comments::default() };
    let mut above = Vec::new();
    for line in text.get(..start).unwrap_or_default().lines().rev().skip(1) {
        let Some(comment) = line.trim_start().strip_prefix('#') else { break };
        if upstream.contains(line.trim()) {
            break;
        }
        above.push(comment.trim().to_owned());
    }
    above.reverse();
    above.retain(|comment| !comment.is_empty());
    let trailing = trailing(tree, text, &path).filter(|_| operation.within.is_none());
    let trailing =
        trailing.filter(|comment| matches!(operation.act, Act::Replace { .. }) && !upstream.contains(comment));
    Comments { above, trailing: trailing.map(|comment| comment.trim_start_matches('#').trim().to_owned()) }
}

/// The comment behind a scalar that stands in one line.
fn trailing<'t>(tree: &crate::yaml::tree::Tree, text: &'t str, path: &[String]) -> Option<&'t str> {
    let node = tree.node(load::find(tree, path)?);
    if !matches!(node.kind, Kind::Scalar { style, .. } if !style.is_block()) {
        return None;
    }
    let end = node.span.end;
    let line_end = text.get(end..)?.find(['\n', '\r']).map_or(text.len(), |at| end + at);
    text.get(tree.comment_in(end..line_end)?)
}
