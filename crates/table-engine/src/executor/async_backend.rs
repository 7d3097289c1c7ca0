//! A store that answers later, without a thread that waits: a service, or another process.

use super::{Batch, RangeQuery, TableExec};
use crate::asynchronous::BoxFuture;
use crate::error::Result;
use crate::plan::{Committed, Plan, Refused};
use crate::row::named::PackedRow;
use crate::schema::{IndexMask, Schema};
use crate::sealing::SealedAt;

/// What a store can be asked without waiting for it.
///
/// A store that has this is read by it where calls are awaited; one that has none, as LMDB's, is read at once, by the thread that
/// polls. Nothing above knows of futures: the engine's code reads from what has been [fetched](crate::asynchronous), says what it
/// misses, and runs again when that is there. What is asked seldom, such as the layouts of a table, is asked of the blocking form
/// on a thread of a pool.
pub trait AsyncBackend: Send + Sync {
    /// Reads the row of these keys, and the number of the state that it is in.
    fn get<'a>(
        &'a self,
        table: &'a dyn TableExec,
        partition: &'a str,
        row: &'a str,
    ) -> BoxFuture<'a, Result<Option<(PackedRow, usize)>>>;

    /// Returns which indexes writers of a kind keep, as [`TableExec::index_mask`] does.
    fn index_mask<'a>(
        &'a self,
        table: &'a dyn TableExec,
        schema: &'static Schema,
        writes: bool,
    ) -> BoxFuture<'a, Result<IndexMask>>;

    /// Begins to read the rows that are asked for.
    fn cursor(&self, table: &dyn TableExec, asked: &RangeQuery) -> Result<Box<dyn AsyncCursor>>;

    /// Carries out a plan. It is encoded when this returns: nothing of it is held while the answer is waited for.
    fn commit(
        &self,
        tables: &[&dyn TableExec],
        plan: &Plan<'_>,
        sealed_at: &SealedAt,
    ) -> BoxFuture<'_, Result<Committed, Refused>>;

    /// Returns what tells the store's continuations from those of others: the number that its
    /// [pages](super::PageRequest::store) have.
    fn identity(&self) -> u64;
}

/// Rows of one range, in its order, a batch after another.
pub trait AsyncCursor: Send {
    /// Puts the next rows into a batch that is empty, as [`RowCursor::fill`](super::RowCursor::fill) does.
    fn fill<'a>(&'a mut self, batch: &'a mut Batch) -> BoxFuture<'a, Result<()>>;
}
