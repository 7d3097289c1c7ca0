//! Numbers that are the same in each run.

/// A generator of numbers (xorshift64*).
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Begins at this number, which is not zero.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.max(1))
    }

    /// Returns a number below this one.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % end
    }
}
