//! The store, awaited.

use table_engine::__executor::{
    AsyncBackend, AsyncCursor, BoxFuture, Committed, PackedRow, Plan, RangeQuery, Refused, SealedAt,
    TableExec,
};
use table_engine::Result;
use table_engine::schema::{IndexMask, Schema};

use super::cursor::AzureCursor;
use super::{AzureStore, TAG, lost, own};

/// The rows that a walk asks for first: those of one page of the service's.
const SCAN: usize = 1_000;

impl AsyncBackend for AzureStore {
    fn get<'a>(
        &'a self,
        table: &'a dyn TableExec,
        partition: &'a str,
        row: &'a str,
    ) -> BoxFuture<'a, Result<Option<(PackedRow, usize)>>> {
        Box::pin(async move {
            let entry = own(table)?.entry.clone();
            let (service, of) = (self.service.clone(), entry.clone());
            let (partition, row) = (partition.to_owned(), row.to_owned());
            let found = self
                .runner
                .spawn_read(async move { service.read_row(&of, &partition, &row).await })
                .await??;
            found.map(|row| Ok((entry.pack(&row)?, 0))).transpose()
        })
    }

    fn index_mask<'a>(
        &'a self,
        table: &'a dyn TableExec,
        schema: &'static Schema,
        writes: bool,
    ) -> BoxFuture<'a, Result<IndexMask>> {
        Box::pin(async move {
            let table = own(table)?;
            if let Some(mask) = table.known_mask(schema, writes)? {
                return Ok(mask);
            }
            let (service, entry) = (self.service.clone(), table.entry.clone());
            // What it notes is noted to its end.
            self.runner.spawn(async move { service.mask(&entry, schema, writes).await }).await?
        })
    }

    fn cursor(&self, table: &dyn TableExec, asked: &RangeQuery) -> Result<Box<dyn AsyncCursor>> {
        let table = own(table)?;
        Ok(Box::new(AzureCursor::new(table.store.clone(), table.entry.clone(), asked.clone(), SCAN)))
    }

    fn commit(
        &self,
        tables: &[&dyn TableExec],
        plan: &Plan<'_>,
        sealed_at: &SealedAt,
    ) -> BoxFuture<'_, Result<Committed, Refused>> {
        // It runs from here on: a future that is dropped leaves it to its end.
        let running = self.carrying_out(tables, plan, sealed_at).map(|change| self.runner.spawn(change));
        Box::pin(async move {
            let committed = running?.await;
            committed.unwrap_or_else(|error| Err(Refused::whole(lost(&error))))
        })
    }

    fn identity(&self) -> u64 {
        TAG
    }
}
