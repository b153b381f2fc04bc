//! In a JSON text nothing differs but what the edits call for, however it is laid out.
//!
//! Base and result are walked side by side. What no edit is about must be the same bytes; so must what stands between two
//! members that are next to each other on both sides. Where members went or came, the white space around them may be other,
//! but not less tidy.

use std::collections::HashSet;
use std::ops::Range;

use crate::diff::{Difference, Step, What};

/// The byte of the result's text where it begins to differ in more than the edits call for. Both texts are JSON.
pub(super) fn stray(base: &str, result: &str, edits: &[Difference]) -> Option<usize> {
    let (Some(old), Some(new)) = (parse(base), parse(result)) else { return Some(0) };
    let edits: Vec<Edit<'_>> = edits.iter().map(|edit| Edit { way: edit.path.steps(), what: &edit.what }).collect();
    if base.get(..old.span.start) != result.get(..new.span.start) {
        return Some(0);
    }
    let inside = Sides { base, result }.value(&old, &new, &edits);
    let outside = base.get(old.span.end..) != result.get(new.span.end..);
    inside.err().or(outside.then_some(new.span.end))
}

/// A value of a text, and where it stands.
struct Value {
    span: Range<usize>,
    parts: Vec<Part>,
}

/// A member or an item.
struct Part {
    key: Option<String>,
    /// Where it begins: at its key, if it has one.
    start: usize,
    value: Value,
}

/// An edit, by the way to it that is still to go.
struct Edit<'e> {
    way: Vec<&'e Step>,
    what: &'e What,
}

/// Both texts.
#[derive(Clone, Copy)]
struct Sides<'t> {
    base: &'t str,
    result: &'t str,
}

/// `Err` with the byte of the result where it differs.
type Same = Result<(), usize>;

impl Sides<'_> {
    fn value(self, old: &Value, new: &Value, edits: &[Edit<'_>]) -> Same {
        let text = |span: &Range<usize>| self.result.get(span.clone()).unwrap_or_default();
        if edits.iter().any(|edit| edit.way.is_empty()) {
            // What is written anew is laid out as the writer likes, but tidily.
            return if text(&new.span).split('\n').any(|line| line.trim().is_empty()) {
                Err(new.span.start)
            } else {
                Ok(())
            };
        }
        if edits.is_empty() {
            return if self.base.get(old.span.clone()) == Some(text(&new.span)) { Ok(()) } else { Err(new.span.start) };
        }
        let gone = edits.iter().filter(|edit| edit.ends() && matches!(edit.what, What::Removed(_)));
        let gone: HashSet<usize> = gone.filter_map(|edit| at(old, edit.way.first()?, |i| i.before)).collect();
        let come = edits.iter().filter(|edit| edit.ends() && matches!(edit.what, What::Added(_)));
        let come: HashSet<usize> = come.filter_map(|edit| at(new, edit.way.first()?, |i| i.after)).collect();
        let kept = |value: &Value, but: &HashSet<usize>| {
            (0..value.parts.len()).filter(|n| !but.contains(n)).collect::<Vec<_>>()
        };
        let (old_kept, new_kept) = (kept(old, &gone), kept(new, &come));
        if old_kept.len() != new_kept.len() {
            return Err(new.span.start);
        }
        let (mut old_from, mut new_from) = (None, None);
        for (before, after) in old_kept.into_iter().zip(new_kept) {
            self.gap(old, old_from..Some(before), new, new_from..Some(after))?;
            self.part(old, before, new, after, edits)?;
            (old_from, new_from) = (Some(before), Some(after));
        }
        self.gap(old, old_from..None, new, new_from..None)
    }

    /// A part that is on both sides.
    fn part(self, old: &Value, before: usize, new: &Value, after: usize, edits: &[Edit<'_>]) -> Same {
        let (Some(old_part), Some(new_part)) = (old.parts.get(before), new.parts.get(after)) else { return Ok(()) };
        let key = |text: &'_ str, part: &Part| text.get(part.start..part.value.span.start).map(str::to_owned);
        if key(self.base, old_part) != key(self.result, new_part) {
            return Err(new_part.start);
        }
        let inside = edits.iter().filter(|edit| !edit.ends() || matches!(edit.what, What::Replaced { .. }));
        let inside =
            inside.filter(|edit| edit.way.first().and_then(|step| at(old, step, |i| i.before)) == Some(before));
        let inside: Vec<Edit<'_>> =
            inside.map(|edit| Edit { way: edit.way.get(1..).unwrap_or_default().to_vec(), what: edit.what }).collect();
        self.value(&old_part.value, &new_part.value, &inside)
    }

    /// What stands between two parts that are on both sides, or a part and a bracket: with all between them that is not.
    fn gap(self, old: &Value, old_parts: Range<Option<usize>>, new: &Value, new_parts: Range<Option<usize>>) -> Same {
        let (old_gaps, new_gaps) = (gaps(old, &old_parts), gaps(new, &new_parts));
        let base = |gap: &Range<usize>| self.base.get(gap.clone()).unwrap_or_default();
        let result = |gap: &Range<usize>| self.result.get(gap.clone()).unwrap_or_default();
        let start = new_gaps.first().map_or(new.span.start, |gap| gap.start);
        let is_same = match (old_gaps.as_slice(), new_gaps.as_slice()) {
            ([one], [other]) => base(one) == result(other),
            _ => old_gaps.iter().any(|gap| !is_tidy(base(gap))) || new_gaps.iter().all(|gap| is_tidy(result(gap))),
        };
        if is_same { Ok(()) } else { Err(start) }
    }
}

impl Edit<'_> {
    /// Whether it is about a part of what the way has led to.
    fn ends(&self) -> bool {
        self.way.len() == 1
    }
}

/// The number of the part that a step leads to.
fn at(value: &Value, step: &Step, index: impl Fn(&crate::diff::Item) -> Option<usize>) -> Option<usize> {
    match step {
        Step::Key(key) => value.parts.iter().position(|part| part.key.as_ref() == Some(key)),
        Step::Item(item) => index(item),
    }
}

/// What stands between the parts from one to another, or from or to a bracket.
fn gaps(value: &Value, parts: &Range<Option<usize>>) -> Vec<Range<usize>> {
    let inside = value.span.start + 1..value.span.end.saturating_sub(1);
    let from = parts.start.map_or(0, |part| part + 1);
    let to = parts.end.unwrap_or(value.parts.len());
    let end_of = |number: usize| value.parts.get(number).map_or(inside.end, |part| part.value.span.end);
    let gap = |next: usize| {
        let start = next.checked_sub(1).map_or(inside.start, end_of);
        start..value.parts.get(next).map_or(inside.end, |part| part.start)
    };
    (from..=to).map(gap).collect()
}

/// Whether no line of white space ends in blanks or is empty.
pub(super) fn is_tidy(gap: &str) -> bool {
    let mut lines = gap.split('\n').map(|line| line.trim_end_matches('\r'));
    let (first, last) = (lines.next().unwrap_or_default(), lines.next_back());
    last.is_none()
        || (!first.ends_with([' ', '\t']) && lines.all(|line| !line.is_empty() && !line.ends_with([' ', '\t'])))
}

/// The places of a text that is known to be JSON; `None` where it is not.
fn parse(text: &str) -> Option<Value> {
    let mut reader = Reader { text, at: 0 };
    reader.space();
    reader.value()
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Whoever read the text before has bounded how deeply it nests.
    fn value(&mut self) -> Option<Value> {
        let start = self.at;
        let mut parts = Vec::new();
        match self.peek()? {
            b'"' => self.string()?,
            open @ (b'{' | b'[') => {
                self.at += 1;
                self.space();
                while !matches!(self.peek()?, b'}' | b']') {
                    parts.push(self.part(open == b'{')?);
                    self.space();
                    if self.peek()? == b',' {
                        self.at += 1;
                        self.space();
                    }
                }
                self.at += 1;
            }
            _ => {
                let end = self.text.get(start..)?.find([',', '}', ']', ' ', '\t', '\n', '\r']);
                self.at = end.map_or(self.text.len(), |end| start + end);
            }
        }
        (self.at > start).then_some(Value { span: start..self.at, parts })
    }

    fn part(&mut self, is_member: bool) -> Option<Part> {
        let start = self.at;
        let key = if is_member { Some(self.key()?) } else { None };
        Some(Part { key, start, value: self.value()? })
    }

    /// A key, and the colon behind it.
    fn key(&mut self) -> Option<String> {
        let start = self.at;
        self.string()?;
        let key = serde_json::from_str(self.text.get(start..self.at)?).ok()?;
        self.space();
        self.at += usize::from(self.peek()? == b':');
        self.space();
        Some(key)
    }

    fn string(&mut self) -> Option<()> {
        self.at += usize::from(self.peek()? == b'"');
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(())
    }
}
