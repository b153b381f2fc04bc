//! Arithmetic of edits: two rounds of them as one, and each reduced to the bytes that really differ.

use std::ops::Range;

use crate::change::TextEdit;

/// A stretch of an edited text: bytes of the original, or new ones.
enum Stretch<'e> {
    Kept(Range<usize>),
    New(&'e str),
}

impl Stretch<'_> {
    fn len(&self) -> usize {
        match self {
            Stretch::Kept(range) => range.len(),
            Stretch::New(text) => text.len(),
        }
    }

    fn part(&self, from: usize, to: usize) -> Stretch<'_> {
        match self {
            Stretch::Kept(range) => Stretch::Kept(range.start + from..range.start + to),
            Stretch::New(text) => Stretch::New(text.get(from..to).unwrap_or("")),
        }
    }
}

/// The edits of a text of `len` bytes that do what `first` and then, on its result, `second` do.
pub(super) fn compose(len: usize, first: &[TextEdit], second: &[TextEdit]) -> Vec<TextEdit> {
    if first.is_empty() {
        return second.to_vec();
    }
    let between = stretches(len, first);
    let between_len: usize = between.iter().map(Stretch::len).sum();
    let mut edits = Edits::default();
    let mut cursor = Cursor { stretches: &between, index: 0, offset: 0 };
    let mut at = 0;
    for edit in second {
        cursor.take(edit.range.start - at, |part| edits.push(&part));
        cursor.take(edit.range.len(), |_| {});
        edits.push(&Stretch::New(&edit.text));
        at = edit.range.end;
    }
    cursor.take(between_len - at, |part| edits.push(&part));
    edits.finish(len)
}

fn stretches(len: usize, edits: &[TextEdit]) -> Vec<Stretch<'_>> {
    let mut out = Vec::with_capacity(2 * edits.len() + 1);
    let mut at = 0;
    for edit in edits {
        out.push(Stretch::Kept(at..edit.range.start));
        out.push(Stretch::New(&edit.text));
        at = edit.range.end;
    }
    out.push(Stretch::Kept(at..len));
    out
}

struct Cursor<'s> {
    stretches: &'s [Stretch<'s>],
    index: usize,
    offset: usize,
}

impl Cursor<'_> {
    /// Hands out the next `count` bytes.
    fn take(&mut self, mut count: usize, mut each: impl FnMut(Stretch<'_>)) {
        while count > 0 {
            let Some(stretch) = self.stretches.get(self.index) else { return };
            let step = count.min(stretch.len() - self.offset);
            if step > 0 {
                each(stretch.part(self.offset, self.offset + step));
            }
            count -= step;
            self.offset += step;
            if self.offset == stretch.len() {
                self.index += 1;
                self.offset = 0;
            }
        }
    }
}

/// Edits as they come out of a walk over stretches.
#[derive(Default)]
struct Edits {
    done: Vec<TextEdit>,
    /// How far the original is accounted for.
    at: usize,
    pending: String,
}

impl Edits {
    fn push(&mut self, stretch: &Stretch<'_>) {
        match stretch {
            Stretch::New(text) => self.pending.push_str(text),
            Stretch::Kept(range) => self.keep(range.start, range.end),
        }
    }

    fn keep(&mut self, start: usize, end: usize) {
        if start > self.at || !self.pending.is_empty() {
            self.done.push(TextEdit { range: self.at..start, text: std::mem::take(&mut self.pending) });
        }
        self.at = end;
    }

    fn finish(mut self, len: usize) -> Vec<TextEdit> {
        self.keep(len, len);
        self.done
    }
}

/// The edits without the bytes at their ends that stay as they are.
pub(super) fn trimmed(text: &str, edits: &[TextEdit]) -> Vec<TextEdit> {
    edits.iter().filter_map(|edit| trim(text, edit)).collect()
}

fn trim(text: &str, edit: &TextEdit) -> Option<TextEdit> {
    let old = text.get(edit.range.clone()).unwrap_or("");
    let same = |(a, b): &(char, char)| a == b;
    let prefix: usize = old.chars().zip(edit.text.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let (old_rest, new_rest) = (old.get(prefix..).unwrap_or(""), edit.text.get(prefix..).unwrap_or(""));
    let backwards = old_rest.chars().rev().zip(new_rest.chars().rev());
    let suffix: usize = backwards.take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let range = edit.range.start + prefix..edit.range.end - suffix;
    let new = new_rest.get(..new_rest.len() - suffix).unwrap_or("");
    (!range.is_empty() || !new.is_empty()).then(|| TextEdit { range, text: new.to_owned() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::change::apply_edits;

    fn edit(range: Range<usize>, text: &str) -> TextEdit {
        TextEdit { range, text: text.into() }
    }

    #[test]
    fn only_the_bytes_that_differ_are_edited() {
        assert_eq!(trimmed("abcdef", &[edit(1..5, "bxe")]), [edit(2..4, "x")]);
        assert_eq!(trimmed("aé", &[edit(0..3, "aè")]), [edit(1..3, "è")]);
        assert_eq!(trimmed("aaa", &[edit(0..3, "aa")]), [edit(2..3, "")]);
        assert_eq!(trimmed("abc", &[edit(0..3, "abc")]), []);
    }

    #[test]
    fn two_rounds_become_one() {
        let first = [edit(1..2, "xyz"), edit(4..4, "-")];
        let second = [edit(2..3, ""), edit(6..7, "+")];
        let text = "abcdef";
        let between = apply_edits(text, &first);
        let composed = compose(text.len(), &first, &second);
        assert_eq!(apply_edits(text, &composed), apply_edits(&between, &second));
        assert_eq!(composed, [edit(1..2, "xz"), edit(4..4, "+")]);
    }

    fn cuts(len: usize) -> impl Strategy<Value = Vec<TextEdit>> {
        prop::collection::vec((0..=len, "[x-z]{0,3}"), 0..6).prop_map(|mut cuts| {
            cuts.sort();
            cuts.chunks_exact(2).map(|pair| edit(pair[0].0..pair[1].0, &pair[0].1)).collect()
        })
    }

    proptest! {
        #[test]
        fn composing_is_applying_one_after_the_other(
            (first, second) in cuts(12).prop_flat_map(|first| {
                let len = apply_edits("abcdefghijkl", &first).len();
                (Just(first), cuts(len))
            })
        ) {
            let text = "abcdefghijkl";
            let between = apply_edits(text, &first);
            let composed = compose(text.len(), &first, &second);
            prop_assert_eq!(apply_edits(text, &composed), apply_edits(&between, &second));
        }
    }
}
