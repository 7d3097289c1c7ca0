//! The two keys that name a row of a table.

/// A partition key and a row key, which together name a row of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EntityKeys<'k> {
    /// The partition key.
    pub partition: &'k str,
    /// The row key.
    pub row: &'k str,
}

impl<'k> EntityKeys<'k> {
    /// Returns these two keys.
    #[inline]
    pub const fn new(partition: &'k str, row: &'k str) -> Self {
        Self { partition, row }
    }

    /// Returns the partition key and the row key.
    #[inline]
    pub const fn into_pair(self) -> (&'k str, &'k str) {
        (self.partition, self.row)
    }
}
