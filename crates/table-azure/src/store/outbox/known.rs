//! The partitions in which this process has noted copies to follow, and has not seen all of them follow yet.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::table::TableEntry;

/// The name of a table in small letters, and a partition key.
pub(super) type Key = (String, String);

/// A partition.
#[derive(Clone)]
pub(super) struct Partition {
    pub(super) table: Arc<TableEntry>,
    /// How often something was noted in it.
    notes: u64,
}

#[derive(Default)]
pub(super) struct Known(Mutex<BTreeMap<Key, Partition>>);

impl Known {
    fn partitions(&self) -> MutexGuard<'_, BTreeMap<Key, Partition>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that something was noted in a partition.
    pub(super) fn add(&self, table: &Arc<TableEntry>, partition: &str) {
        let key = (table.name().to_ascii_lowercase(), partition.to_owned());
        let mut partitions = self.partitions();
        let known = partitions.entry(key).or_insert_with(|| Partition { table: table.clone(), notes: 0 });
        known.table = table.clone();
        known.notes = known.notes.wrapping_add(1);
    }

    /// Returns the first partition behind this one, or at it.
    pub(super) fn next(&self, from: Bound<&Key>) -> Option<(Key, Partition)> {
        let partitions = self.partitions();
        let (key, partition) = partitions.range::<Key, _>((from, Bound::Unbounded)).next()?;
        Some((key.clone(), partition.clone()))
    }

    /// Says that nothing was found in a partition, which is as it was seen if nothing was noted since.
    pub(super) fn forget(&self, key: &Key, seen: &Partition) {
        let mut partitions = self.partitions();
        if partitions.get(key).is_some_and(|known| known.notes == seen.notes) {
            partitions.remove(key);
        }
    }

    /// Returns how many partitions there are.
    pub(super) fn count(&self) -> usize {
        self.partitions().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_forgotten_unless_something_was_noted_since_it_was_seen() {
        let (known, table) = (Known::default(), Arc::new(TableEntry::new("Company", "Company".into(), 1)));
        for partition in ["a", "b"] {
            known.add(&table, partition);
        }
        let (first, seen) = known.next(Bound::Unbounded).unwrap();
        assert_eq!(first, ("company".to_owned(), "a".to_owned()));
        assert_eq!(known.next(Bound::Excluded(&first)).unwrap().0.1, "b");
        known.add(&table, "a");
        known.forget(&first, &seen);
        assert_eq!(known.count(), 2);
        let (first, seen) = known.next(Bound::Unbounded).unwrap();
        known.forget(&first, &seen);
        assert_eq!((known.count(), known.next(Bound::Excluded(&first)).unwrap().0.1), (1, "b".to_owned()));
    }
}
