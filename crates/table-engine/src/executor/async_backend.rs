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
///
/// # What a store is to give
///
/// - **One moment, where it can.** A call reads its rows by several of these methods, and of several tables: what is missed is
///   asked for at once, and what that leads to afterwards. Nothing tells which requests belong to one call. So a store that can
///   answer from a snapshot does so within a [cursor](AsyncCursor), whose batches are then of one moment, and one that can't
///   gives each row whole, as it is when it is read. Changes are right in either case: their conditions are checked by
///   [`commit`](Self::commit), and a change that has lost forgets what it has read and reads again.
/// - **Streams come by pages.** A query that is streamed asks for pages one after another, each by a cursor of its own that
///   begins behind the page before. A row that stays is given once; one that is written between two pages is seen if it lies
///   ahead. No snapshot is held between pages, so that a stream of such a store never ends by
///   [`SnapshotExpired`](crate::ErrorKind::SnapshotExpired).
/// - **No contents of blobs.** What has been fetched has rows alone: code over it that asks for a blob's bytes is told
///   [`Unsupported`](crate::ErrorKind::Unsupported). Containers and blobs that entities hold are read by the blocking form.
/// - **Nothing that waits.** A method returns without waiting for the store; what it waits for is in the future. A future that
///   is dropped gives up a read, and leaves a commit carried out whole or not at all.
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

    /// Returns a number that rises when an answer shows that indexes have come, gone or become ready, or that kinds are declared
    /// otherwise; 0 of a store whose indexes are always ready. A call during which it has risen is made again: some of its rows
    /// may be of indexes that were not yet, or no longer, whole.
    fn states(&self) -> u64 {
        0
    }

    /// Returns what tells the store's continuations from those of others: the number that its
    /// [pages](super::PageRequest::store) have.
    fn identity(&self) -> u64;
}

/// Rows of one range, in its order, a batch after another.
pub trait AsyncCursor: Send {
    /// Puts the next rows into a batch that is empty, as [`RowCursor::fill`](super::RowCursor::fill) does.
    fn fill<'a>(&'a mut self, batch: &'a mut Batch) -> BoxFuture<'a, Result<()>>;
}
