//! Which keys a query asks for: as ranges, or as the text that a template has printed.

use std::borrow::Cow;
use std::ops::Bound;

use super::bounds::KeyRange;
use crate::model::key;

/// The keys that a query asks for.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub enum Within {
    /// Partition keys, and row keys.
    Ranges(KeyRange, KeyRange),
    Printed(Printed),
}

/// One partition, and of its rows what most queries of an entity ask for, in one text. It holds no control character, and
/// leaves some key.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Printed {
    /// The partition key, and behind it what the rows are.
    text: String,
    /// The bytes of the partition key.
    partition: usize,
    rows: PrintedRows,
}

/// What stands behind the partition key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PrintedRows {
    /// A row key.
    One,
    /// What row keys start with.
    Starting,
    /// The lower end, of so many bytes, and behind it the upper one, which is above; and whether each is in the range.
    Between(usize, [bool; 2]),
}

impl Printed {
    /// The partition key has so many bytes of the text. `None` where that, or the end of a range, is in the midst of a
    /// character, and of a range that leaves no key.
    pub(crate) fn new(text: String, partition: usize, rows: PrintedRows) -> Option<Self> {
        debug_assert!(!text.bytes().any(|byte| byte < 0x20), "{text:?}");
        let (_, row) = text.split_at_checked(partition)?;
        if let PrintedRows::Between(lower, _) = rows {
            let (lower, upper) = row.split_at_checked(lower)?;
            if key::compare(lower, upper).is_ge() {
                return None;
            }
        }
        Some(Self { text, partition, rows })
    }

    /// Returns the partition key, and what stands behind it.
    pub(crate) fn keys(&self) -> (&str, &str) {
        self.text.split_at_checked(self.partition).unwrap_or((&self.text, ""))
    }

    /// Returns what that is.
    pub(crate) fn rows(&self) -> PrintedRows {
        self.rows
    }

    fn ranges(&self) -> (KeyRange, KeyRange) {
        let (partition, row) = self.keys();
        let end = |text, is_in| if is_in { Bound::Included(text) } else { Bound::Excluded(text) };
        let row = match self.rows {
            PrintedRows::One => KeyRange::exactly(row),
            PrintedRows::Starting => KeyRange::prefix(row),
            PrintedRows::Between(lower, [from, to]) => {
                let (lower, upper) = row.split_at_checked(lower).unwrap_or((row, ""));
                KeyRange::new(end(lower, from), end(upper, to))
            }
        };
        (KeyRange::exactly(partition), row)
    }
}

impl Within {
    /// Returns the range of every key.
    pub(crate) fn all() -> Self {
        Self::Ranges(KeyRange::all(), KeyRange::all())
    }

    /// Returns whether no bound is set on the partition key.
    pub fn has_all_partitions(&self) -> bool {
        matches!(self, Self::Ranges(partition, _) if partition.is_all())
    }

    /// Returns the partition keys, and the row keys.
    pub(crate) fn ranges(&self) -> (Cow<'_, KeyRange>, Cow<'_, KeyRange>) {
        match self {
            Self::Ranges(partition, row) => (Cow::Borrowed(partition), Cow::Borrowed(row)),
            Self::Printed(printed) => {
                let (partition, row) = printed.ranges();
                (Cow::Owned(partition), Cow::Owned(row))
            }
        }
    }

    /// Returns the keys of these that lie in both ranges too.
    #[must_use]
    pub(super) fn intersect(self, partition: KeyRange, row: KeyRange) -> Self {
        let (known_partition, known_row) = match self {
            Self::Ranges(partition, row) => (partition, row),
            Self::Printed(printed) => printed.ranges(),
        };
        Self::Ranges(known_partition.intersect(partition), known_row.intersect(row))
    }
}
