//! What the tests that try a sample throw it with.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test may fail")]

/// Numbers that are the same in every run (Marsaglia's xorshift), from a seed that is not 0.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// Those of a text.
    pub(crate) fn new(seed: &str) -> Dice {
        Dice(seed.bytes().fold(0x9E37_79B9_7F4A_7C15, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3)) | 1)
    }

    /// The next, from 0 up to `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    /// So many of the items, in their order.
    pub(crate) fn some<T>(&mut self, mut items: Vec<T>, count: usize) -> Vec<T> {
        while items.len() > count {
            // Halves at least, so that long lists are not shifted again and again.
            let keep = (items.len() / 2).max(count);
            let from = self.below(items.len());
            items.rotate_left(from);
            items.truncate(keep);
        }
        items
    }
}
