//! How many bytes of bodies there may be at once.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A number of bytes that all requests share.
#[derive(Debug)]
pub(super) struct Budget(AtomicUsize);

/// Bytes that are taken of a budget; they are given back when this is dropped.
#[derive(Debug)]
pub(super) struct Room<'b> {
    budget: &'b Budget,
    bytes: usize,
}

impl Budget {
    pub(super) fn new(bytes: usize) -> Self {
        Self(AtomicUsize::new(bytes))
    }

    /// Returns room for nothing yet.
    pub(super) fn room(&self) -> Room<'_> {
        Room { budget: self, bytes: 0 }
    }
}

impl Room<'_> {
    /// Takes more bytes, and returns whether they were there.
    pub(super) fn grow(&mut self, bytes: usize) -> bool {
        let take = |left: usize| left.checked_sub(bytes);
        let is_there = self.budget.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        if is_there {
            self.bytes = self.bytes.saturating_add(bytes);
        }
        is_there
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.budget.0.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::Budget;

    #[test]
    fn what_is_taken_is_given_back_and_what_is_not_there_is_not_taken() {
        let budget = Budget::new(10);
        let (mut one, mut other) = (budget.room(), budget.room());
        assert!(one.grow(4) && one.grow(4) && !other.grow(3) && other.grow(2) && !one.grow(1));
        drop(one);
        assert!(other.grow(8) && !other.grow(1) && !other.grow(usize::MAX));
        drop(other);
        assert!(budget.room().grow(10));
    }
}
