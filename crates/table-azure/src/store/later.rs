//! The store, awaited.

use std::sync::{Mutex, PoisonError};

use table_engine::__executor::{
    self as seam, AsyncBackend, AsyncCursor, BoxFuture, Committed, LayoutTexts, Layouts, PackedRow, Plan,
    RangeQuery, Refused, SealedAt, TableExec,
};
use table_engine::schema::{IndexMask, Schema};
use table_engine::{Error, ErrorKind, Result};

use super::cursor::AzureCursor;
use super::{AzureStore, TAG, lost, own};

/// The rows that a walk asks for first: those of one page of the service's.
const SCAN: usize = 1_000;
/// How often a layout is noted while others note theirs.
const ATTEMPTS: u32 = 16;

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
            let entry = own(table)?.entry.clone();
            entry.check_exists()?;
            if !writes || entry.is_noted(schema) {
                return Ok(IndexMask::NEW);
            }
            for _ in 0..ATTEMPTS {
                let (service, of) = (self.service.clone(), entry.clone());
                let known = self.runner.spawn_read(async move { service.layouts(&of).await }).await??.texts;
                // The engine's code compares what was read, and says what is to be noted.
                let noting = Noting { known, noted: Mutex::default() };
                let mask = seam::note(table, &noting, schema)?;
                let is_noted = match noting.take() {
                    None => true,
                    Some((kind, layout)) => {
                        let (service, of, known) = (self.service.clone(), entry.clone(), noting.known);
                        let note = async move { service.note(&of, &known, &kind, &layout).await };
                        self.runner.spawn(note).await??
                    }
                };
                if is_noted {
                    entry.set_noted(schema);
                    return Ok(mask);
                }
            }
            let because = "others go on noting layouts of the table";
            Err(Error::new(ErrorKind::ConditionNotMet).because(because))
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
        _: &SealedAt,
    ) -> BoxFuture<'_, Result<Committed, Refused>> {
        // It runs from here on: a future that is dropped leaves it to its end.
        let running = self.carrying_out(tables, plan).map(|change| self.runner.spawn(change));
        Box::pin(async move {
            let committed = running?.await;
            committed.unwrap_or_else(|error| Err(Refused::whole(lost(&error))))
        })
    }

    fn identity(&self) -> u64 {
        TAG
    }
}

/// Layouts that were read, and the one that is to be noted.
struct Noting {
    known: LayoutTexts,
    noted: Mutex<Option<(String, String)>>,
}

impl Noting {
    fn take(&self) -> Option<(String, String)> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Layouts for Noting {
    fn layouts(&self) -> Result<LayoutTexts> {
        Ok(self.known.clone())
    }

    fn note(&self, _: &LayoutTexts, kind: &str, layout: &str) -> Result<bool> {
        *self.noted.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((kind.to_owned(), layout.to_owned()));
        Ok(true)
    }
}
