//! The trailing comment of a line.

use super::error::EditError;
use super::place::{Place, Spot, Way, walk};
use super::replace::marker_end;
use super::{Edited, Source};
use crate::change::{TextEdit, apply_edits};
use crate::diag::visible::is_hidden;
use crate::yaml::tree::{NodeId, Style};

/// Sets the comment of the line that writes the value at a path: behind a scalar or flow collection, behind the header
/// of a block scalar, behind the key or on the dash line of a block collection. An empty comment takes away the one
/// that is there. `None` where nothing is to be done.
pub(super) fn set(source: &Source<'_>, path: &[String], comment: &str) -> Result<Option<Edited>, EditError> {
    let (at, edit) = plan(source, path, comment)?;
    let Some(edit) = edit else { return Ok(None) };
    let after = Source::read(apply_edits(&source.text, std::slice::from_ref(&edit))).ok();
    match after.filter(|after| after.value == source.value && stands(after, path, comment)) {
        Some(after) => Ok(Some(Edited { edits: vec![edit], after })),
        None => Err(refused("the line ends within a text", at)),
    }
}

/// The edit that sets a comment, if one is needed, and a place on its line.
pub(super) fn plan(
    source: &Source<'_>,
    path: &[String],
    comment: &str,
) -> Result<(usize, Option<TextEdit>), EditError> {
    let comment = comment.trim();
    let Ok(Way::Clear(Spot { there: Some((node, place)), .. })) = walk(source, path) else {
        return Err(refused("an alias or a merge writes the value", 0));
    };
    let Some(at) = line_of(source, node, place) else {
        return Err(refused("the document as a whole has no line of its own", source.full(node).start));
    };
    if comment.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) {
        return Err(refused("it is more than one line of text", at));
    }
    if comment.chars().any(is_hidden) {
        return Err(refused("it holds a character that acts instead of showing", at));
    }
    let there = source.comment_behind(at);
    let edit = match (there, comment.is_empty()) {
        (None, true) => None,
        (Some(there), true) => Some(TextEdit { range: there, text: String::new() }),
        (Some(there), false) => {
            let start = there.start + source.slice(there.clone()).find('#').unwrap_or(0);
            Some(TextEdit { range: start..there.end, text: format!("# {comment}") })
        }
        (None, false) => {
            let end = at + source.lines().after(at).trim_end_matches([' ', '\t']).len();
            Some(TextEdit { range: end..source.lines().end(at), text: format!(" # {comment}") })
        }
    };
    Ok((at, edit))
}

/// Whether the line that writes the value at a path has the comment, or none where it is empty.
pub(super) fn stands(source: &Source<'_>, path: &[String], comment: &str) -> bool {
    let Ok(Way::Clear(Spot { there: Some((node, place)), .. })) = walk(source, path) else { return false };
    let there = line_of(source, node, place).and_then(|at| source.comment_behind(at));
    let text = there.map_or("", |there| source.slice(there)).trim_start();
    match comment.trim() {
        "" => text.is_empty(),
        comment => text.strip_prefix("# ") == Some(comment),
    }
}

fn refused(reason: &'static str, offset: usize) -> EditError {
    EditError::Comment { reason, offset }
}

/// A place on the line that a value's comment belongs to, before the comment.
pub(super) fn line_of(source: &Source<'_>, node: NodeId, place: Place) -> Option<usize> {
    let span = source.span(node);
    if source.node(node).is_block_collection() {
        return marker_end(source, node, place);
    }
    let is_block = source.node(node).style().is_some_and(Style::is_block);
    Some(if is_block { span.start } else { span.end })
}
