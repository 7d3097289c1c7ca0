//! The outbox of deferred copies, in a store on LMDB.

use std::sync::Arc;

use table_engine::error::{ErrorKind, Result};
use table_engine::executor::{Outbox, Propagators};
use table_engine::outbox::{OutboxCount, OutboxEntry, Source};
use table_engine::row::key::{self, StoredKey};

use crate::handle::shared::Shared;
use crate::lmdb;
use crate::queues::{FoundEntry, Outcome, Work};
use crate::records::catalog;
use crate::records::features::Feature;
use crate::records::meta::Meta;

/// Entries of a dropped table that go in one transaction.
const PURGED_AT_ONCE: usize = 1_000;

impl Shared {
    /// Returns an entry as it is read, with the name of its table.
    fn entry(found: FoundEntry, tables: &[(u32, Box<str>)]) -> Result<OutboxEntry> {
        let FoundEntry { stored, version, entry } = found;
        let key = StoredKey::parse(&stored).ok_or_else(lmdb::damaged_page)?;
        let (partition, row) = key.texts().ok_or_else(lmdb::damaged_page)?;
        let source = Source { table: key.table, partition: partition.into(), row: row.into() };
        let table = tables.iter().find(|(id, _)| *id == key.table).map(|(_, name)| name.to_string());
        Ok(OutboxEntry::new(source, table, version, entry))
    }

    /// Removes the entries of tables that were dropped.
    pub(crate) fn purge_entries(&self) -> Result<()> {
        let dropped = || {
            let (txn, dbs) = (self.environment.read_txn()?, &self.environment.dbs);
            let meta = Meta::read(dbs.main, &txn)?;
            let has_entries = meta.features.has(Feature::Pending);
            if has_entries { catalog::tombstones(dbs, &txn, &meta) } else { Ok(Vec::new()) }
        };
        let dropped = match dropped() {
            // Writers need no reader's slot where there is nothing to purge.
            Err(full) if full.kind() == ErrorKind::TooManyReaders => {
                let has_entries = self.transact(|_, _, meta| Ok(meta.features.has(Feature::Pending)))?;
                if has_entries { Err(full) } else { Ok(Vec::new()) }
            }
            dropped => dropped,
        }?;
        for table in dropped {
            while self.work(vec![Work::Forget(table.id, PURGED_AT_ONCE)])? == [Outcome::Purged(false)] {}
        }
        Ok(())
    }
}

impl Outbox for Shared {
    fn after(&self, last: Option<&OutboxEntry>, most: usize) -> Result<Vec<OutboxEntry>> {
        let last = last.map(|last| {
            let Source { table, partition, row } = &last.source;
            key::stored(*table, partition, row)
        });
        let found = self.look(|view, txn| {
            let dbs = &self.environment.dbs;
            let meta = Meta::read(dbs.main, txn)?;
            let (found, _) = view.entries(last.as_deref(), most, meta.features.has(Feature::Pending))?;
            if found.is_empty() {
                return Ok(Vec::new());
            }
            let tables = catalog::list(dbs, txn, &meta)?;
            let tables = tables.into_iter().map(|entry| (entry.id, entry.name)).collect::<Vec<_>>();
            found.into_iter().map(|found| Self::entry(found, &tables)).collect()
        })?;
        Ok(found.unwrap_or_default())
    }

    fn count(&self) -> Result<OutboxCount> {
        let counters = self.look(|view, txn| {
            let meta = Meta::read(self.environment.dbs.main, txn)?;
            view.counters(meta.features.has(Feature::Pending))
        })?;
        let counters = counters.unwrap_or_default();
        Ok(OutboxCount { entries: counters.entries.count })
    }

    fn purge(&self) -> Result<()> {
        self.purge_entries()
    }

    fn propagators(&self) -> &Arc<Propagators> {
        &self.propagators
    }
}
