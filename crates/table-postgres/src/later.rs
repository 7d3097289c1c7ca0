//! The store as calls see it that are awaited: on connections that a runtime of the store's drives, so whatever runtime the
//! caller's futures run on.

use std::sync::Arc;

use table_engine::__executor::{
    AsyncBackend, AsyncCursor, Batch, BoxFuture, Committed, PackedRow, Plan, RangeQuery, Refused, SealedAt,
    TableExec,
};
use table_engine::Result;
use table_engine::schema::{IndexMask, Schema};
use tokio_postgres::Row;

use crate::catalog::column;
use crate::commit::commit_awaited;
use crate::connection::Call;
use crate::cursor::PostgresCursor;
use crate::error::{is_lost, of_server};
use crate::pool::Shared;
use crate::snapshot::BEGIN;
use crate::store::PostgresStore;
use crate::table::{STATE, own};
use crate::work::Work;

impl AsyncBackend for PostgresStore {
    fn get<'a>(
        &'a self,
        table: &'a dyn TableExec,
        partition: &'a str,
        row: &'a str,
    ) -> BoxFuture<'a, Result<Option<(PackedRow, usize)>>> {
        Box::pin(async move {
            let entry = &own(table)?.entry;
            let answer = self.read_awaited(entry.get_now(&self.state, partition, row)).await?;
            Ok(self.found_now(entry, partition, row, &answer)?.map(|packed| (packed, STATE)))
        })
    }

    fn index_mask<'a>(
        &'a self,
        table: &'a dyn TableExec,
        schema: &'static Schema,
        writes: bool,
    ) -> BoxFuture<'a, Result<IndexMask>> {
        // It asks the server once for each declaration.
        Box::pin(async move { table.index_mask(schema, writes) })
    }

    fn cursor(&self, table: &dyn TableExec, asked: &RangeQuery) -> Result<Box<dyn AsyncCursor>> {
        let table = own(table)?;
        let cursor = PostgresCursor::new(asked.clone(), table.entry.clone());
        Ok(Box::new(LaterCursor { store: table.store.clone(), cursor, connection: None }))
    }

    fn commit(
        &self,
        tables: &[&dyn TableExec],
        plan: &Plan<'_>,
        sealed_at: &SealedAt,
    ) -> BoxFuture<'_, Result<Committed, Refused>> {
        let work = Work::of(self, tables, plan, sealed_at);
        Box::pin(async move {
            let work = work?;
            let committed = commit_awaited(&self.pool, self, &work).await?;
            self.tell_of(&work);
            Ok(committed)
        })
    }

    fn states(&self) -> u64 {
        self.generation().cast_unsigned()
    }

    fn identity(&self) -> u64 {
        self.identity
    }
}

/// Rows that come later, all of one moment.
struct LaterCursor {
    store: Arc<PostgresStore>,
    cursor: PostgresCursor,
    /// With the transaction that shows that moment, from the first page on.
    connection: Option<Shared>,
}

impl LaterCursor {
    async fn read_on(&mut self, batch: &mut Batch) -> Result<()> {
        while batch.is_empty() {
            let Some((call, most)) = self.cursor.page() else {
                batch.end();
                return Ok(());
            };
            let mut calls = vec![call];
            self.store.keys.ask_with(&mut calls);
            let mut answers = if let Some(connection) = &self.connection {
                connection.query_all(&calls).await.map_err(of_server)?
            } else {
                let (connection, answers) = self.begin(calls).await?;
                // Whatever becomes of it, the transaction is ended with this.
                self.connection = Some(connection);
                answers
            };
            self.store.keys.observe_last(&mut answers)?;
            let rows = answers.pop().unwrap_or_default();
            let has_ended = rows.len() < most;
            self.cursor.take(&self.store, &rows, most, batch)?;
            if has_ended {
                self.end();
                return Ok(());
            }
        }
        Ok(())
    }

    /// Begins the transaction with the first page, and takes note of the store's generation at its moment.
    async fn begin(&self, mut calls: Vec<Call>) -> Result<(Shared, Vec<Vec<Row>>)> {
        calls.push(self.store.catalog.generation());
        let mut losses = self.store.pool.losses();
        loop {
            let mut connection = self.store.pool.shared().await?;
            connection.spend();
            let asked = connection.begin_and_query(BEGIN, &calls).await;
            match asked {
                Ok(mut answers) => {
                    let generation = answers.pop().unwrap_or_default();
                    if let Some(row) = generation.first() {
                        self.store.observe_generation(column(row, 0)?);
                    }
                    return Ok((connection, answers));
                }
                Err(error) if is_lost(&error) && self.store.pool.wait(&mut losses).await? => {
                    self.store.pool.forget_idle();
                }
                Err(error) => {
                    connection.roll_back();
                    connection.keep();
                    return Err(of_server(error));
                }
            }
        }
    }

    /// Ends the transaction, and gives the connection back.
    fn end(&mut self) {
        if let Some(mut connection) = self.connection.take() {
            connection.roll_back();
            connection.keep();
        }
    }
}

impl Drop for LaterCursor {
    fn drop(&mut self) {
        self.end();
    }
}

impl AsyncCursor for LaterCursor {
    fn fill<'a>(&'a mut self, batch: &'a mut Batch) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            batch.begin(0, 0);
            let filled = self.read_on(batch).await;
            self.cursor.finish(batch);
            filled
        })
    }
}
