//! What became of the entities that a command has moved.

use std::collections::BTreeMap;

/// How many entities went where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Those that were read.
    pub(crate) read: u64,
    /// Those that were written.
    pub(crate) written: u64,
    /// Those that were left alone, since an entity of their keys is there.
    pub(crate) skipped: u64,
    /// Copies, which a store makes itself of the entities.
    pub(crate) copies: u64,
    /// Those that were refused.
    pub(crate) rejected: u64,
    /// Sealed values that keep entities from being moved, by the kind and the property.
    pub(crate) sealed: BTreeMap<String, u64>,
    /// Rows of wide entities that a filter keeps apart: what their heads say that there is, less those that were read.
    pub(crate) apart: i64,
}

impl Counts {
    /// Adds the numbers of another part of the work.
    pub(crate) fn add(&mut self, other: &Self) {
        self.read += other.read;
        self.written += other.written;
        self.skipped += other.skipped;
        self.copies += other.copies;
        self.rejected += other.rejected;
        self.apart += other.apart;
        for (name, count) in &other.sealed {
            *self.sealed.entry(name.clone()).or_default() += count;
        }
    }

    /// Returns the numbers, without those of sealed values.
    pub(crate) fn numbers(&self) -> [u64; 5] {
        [self.read, self.written, self.skipped, self.copies, self.rejected]
    }

    /// Makes counts of their numbers.
    pub(crate) fn of_numbers([read, written, skipped, copies, rejected]: [u64; 5]) -> Self {
        Self { read, written, skipped, copies, rejected, ..Self::default() }
    }

    /// Returns what kept entities from being moved since it is sealed; `None` if nothing did.
    pub(crate) fn sealed_text(&self) -> Option<String> {
        if self.sealed.is_empty() {
            return None;
        }
        let named: Vec<_> = self.sealed.iter().map(|(name, count)| format!("{count} of `{name}`")).collect();
        Some(named.join(", "))
    }
}
