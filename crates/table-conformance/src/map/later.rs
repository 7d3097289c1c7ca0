//! The map as a store that answers later: each of its futures is pending a few times before it is ready.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;

use table_engine::__executor::{
    AsyncBackend, AsyncCursor, Batch, BoxFuture, Committed, PackedRow, Plan, RangeQuery, ReadSnapshot,
    Refused, RowCursor, SealedAt, TableExec,
};
use table_engine::Result;
use table_engine::schema::{IndexMask, Schema};

use super::cursor::{MapMoment, TAG};
use super::{MapStore, commit, own};

/// The most times that a future is pending.
const MOST: u64 = 4;

impl MapStore {
    /// Returns how often the next future is pending.
    fn pauses(&self) -> u64 {
        // The golden ratio's bits: one step after another comes to every remainder.
        let state =
            self.later.as_ref().map_or(0, |later| later.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed));
        (state ^ (state >> 29)) % MOST
    }
}

/// Is ready after it was pending so often.
async fn pause(times: u64) {
    let mut left = times;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl AsyncBackend for MapStore {
    fn get<'a>(
        &'a self,
        table: &'a dyn TableExec,
        partition: &'a str,
        row: &'a str,
    ) -> BoxFuture<'a, Result<Option<(PackedRow, usize)>>> {
        let pauses = self.pauses();
        Box::pin(async move {
            pause(pauses).await;
            own(table)?.find(partition, row)
        })
    }

    fn index_mask<'a>(
        &'a self,
        table: &'a dyn TableExec,
        schema: &'static Schema,
        writes: bool,
    ) -> BoxFuture<'a, Result<IndexMask>> {
        let pauses = self.pauses();
        Box::pin(async move {
            pause(pauses).await;
            table.index_mask(schema, writes)
        })
    }

    fn cursor(&self, table: &dyn TableExec, asked: &RangeQuery) -> Result<Box<dyn AsyncCursor>> {
        let table = own(table)?;
        let moment = MapMoment::new(table.store.clone());
        let cursor = moment.begin(table)(asked.clone());
        Ok(Box::new(Later { store: table.store.clone(), moment, cursor }))
    }

    fn commit(
        &self,
        tables: &[&dyn TableExec],
        plan: &Plan<'_>,
        _: &SealedAt,
    ) -> BoxFuture<'_, Result<Committed, Refused>> {
        // It is carried out before it is waited for, as by a request that is on its way: a future that is dropped leaves it done.
        let (before, after) = (self.pauses(), self.pauses());
        let committed = commit::commit(self, tables, plan);
        Box::pin(async move {
            pause(before + after).await;
            committed
        })
    }

    fn identity(&self) -> u64 {
        TAG
    }
}

/// Rows that come later.
struct Later {
    store: Arc<MapStore>,
    moment: MapMoment,
    cursor: Box<dyn RowCursor>,
}

impl AsyncCursor for Later {
    fn fill<'a>(&'a mut self, batch: &'a mut Batch) -> BoxFuture<'a, Result<()>> {
        let pauses = self.store.pauses();
        Box::pin(async move {
            pause(pauses).await;
            let Self { moment, cursor, .. } = self;
            let moment: &dyn ReadSnapshot = moment;
            cursor.fill(moment, batch)
        })
    }
}
