//! Chance for models, for tests alone: a seed gives one order of events.

/// Chance, by splitmix64.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    /// Returns a number below an end.
    pub(super) fn below(&mut self, end: u64) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let next = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let next = (next ^ (next >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((next ^ (next >> 31)) % end).unwrap_or_default()
    }

    /// Returns whether something happens, once in so many times.
    pub(super) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}
