//! Tombstones, and versions of entities that are deleted: removed when they are old.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use table_engine::{DynamicEntity, Result, Ticks};

use super::super::service::Service;
use super::super::table::TableEntry;
use super::super::{AzureStore, explain, marks};
use super::entry;
use crate::client::{Operation, Outcome, PageRequest};

/// How long it takes at the least from one sweep to the next, as a share of the time for which tombstones are kept.
const SHARE: u32 = 16;

impl AzureStore {
    /// Removes tombstones that are older than they are kept, and versions of entities that are gone. It reads every table, and
    /// so does nothing where it has done so not long ago.
    pub(super) fn sweep(&self) -> Result<()> {
        let keeps = self.service.settings.keeps_tombstones;
        {
            let mut swept = self.outbox.swept.lock().unwrap_or_else(PoisonError::into_inner);
            if swept.is_some_and(|swept| swept.elapsed() < keeps / SHARE) {
                return Ok(());
            }
            *swept = Some(Instant::now());
        }
        for table in self.all_tables()? {
            let service = self.service.clone();
            self.wait(async move { service.sweep(&table, keeps).await })?;
        }
        Ok(())
    }
}

impl Service {
    async fn sweep(&self, table: &Arc<TableEntry>, keeps: Duration) -> Result<()> {
        let Some(before) = Ticks::now().checked_sub(keeps) else { return Ok(()) };
        let (row, tombstone, version) = (marks::ROW, marks::TOMBSTONE, marks::ENTITY_VERSION);
        let filter = format!("({row} eq '{tombstone}' or {row} eq '{version}')");
        let select = ["PartitionKey", "RowKey", "Timestamp", row].map(str::to_owned).to_vec();
        let mut request = PageRequest { filter, select, ..PageRequest::default() };
        loop {
            let page = self.page(table, &request).await?;
            for row in &page.entities {
                let is_old = row.timestamp().is_some_and(|timestamp| timestamp < before);
                if is_old && self.is_over(table, row).await? {
                    self.remove_mark(table, row).await?;
                }
            }
            request.after = page.next;
            if request.after.is_none() {
                return Ok(());
            }
        }
    }

    /// Returns whether nothing needs a row any more: of a version, whether its entity is gone and has no copies to follow.
    async fn is_over(&self, table: &TableEntry, row: &DynamicEntity) -> Result<bool> {
        let partition = row.partition_key();
        let Some(of) = row.row_key().strip_prefix(entry::VERSION_PREFIX) else {
            return Ok(marks::row_of(row) == Some(marks::TOMBSTONE));
        };
        let is_there = self.raw_row(table, partition, of).await?.is_some()
            || self.raw_row(table, partition, &entry::key(of)?).await?.is_some();
        Ok(!is_there)
    }

    /// Removes a row, unless it has been written since.
    async fn remove_mark(&self, table: &TableEntry, row: &DynamicEntity) -> Result<()> {
        let Some(etag) = row.etag() else { return Ok(()) };
        let operation = Operation::delete(row.row_key(), etag.to_string());
        match self.client.execute(table.remote(), row.partition_key(), &[operation]).await {
            Ok(Outcome::Done(_)) => Ok(()),
            Ok(Outcome::Refused { refusal, .. }) if matches!(refusal.status, 404 | 412) => Ok(()),
            Ok(Outcome::Refused { refusal, .. }) => Err(explain::refused(&refusal)),
            Err(failure) => Err(explain::unwritten(failure)),
        }
    }
}
