//! An entry: what the records of an entity come to.

use table_engine::__executor::{OutboxEntry, Source};
use table_engine::Result;
use table_engine::outbox::{DependentKey, OutboxRecord};
use tokio_postgres::Row;

use crate::catalog::column;
use crate::error::damaged;

/// The records of an entity, as far as they were taken: the one that stands in the place of others first.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) numbers: Vec<i64>,
    pub(super) record: Option<OutboxRecord>,
}

impl Entry {
    /// Takes the next record from three columns of an answer, of which this is the first: its number, whether it stands in the
    /// place of others, and its body.
    pub(super) fn take(&mut self, row: &Row, at: usize) -> Result<()> {
        let next =
            OutboxRecord::decode(column(row, at + 2)?).ok_or_else(|| damaged("an entry of the outbox"))?;
        self.numbers.push(column(row, at)?);
        let Some(record) = &mut self.record else {
            self.record = Some(next);
            return Ok(());
        };
        let latest = record.latest.max(next.latest);
        if next.has_copies {
            let without: Vec<_> = next.without.iter().map(String::as_str).collect();
            record.take(&next.kind, &next.before, &without, latest);
        }
        if !next.dependents.is_empty() {
            let keys: Vec<DependentKey> = next.dependents.into_iter().map(|of| of.key).collect();
            record.take_dependents(&next.kind, &keys, latest);
        }
        Ok(())
    }

    /// Returns the number that tells the entry from every other: no record has the number of another.
    pub(super) fn version(&self) -> u64 {
        self.numbers.iter().copied().max().unwrap_or_default().cast_unsigned()
    }

    /// Returns the entry as it is read.
    pub(super) fn read(self, source: Source, table: Option<String>) -> Option<OutboxEntry> {
        let version = self.version();
        Some(OutboxEntry::new(source, table, version, self.record?))
    }
}
