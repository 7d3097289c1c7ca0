//! What reads and writes ask of an executor: the seam between the typed tables and a backend, such as LMDB.
//!
//! A query becomes scan ranges ([`ScanRanges`]), and the executor has a cursor over the rows of each ([`RowCursor`]), which
//! reads a [`Batch`] at a time. What lies above is the same for every executor: rows taken out of batches, scan ranges merged
//! (`MergeIter`).

mod abilities;
#[cfg(feature = "async")]
mod async_backend;
mod backend;
mod batch;
mod blobs;
mod concat_iter;
mod default_paging;
mod default_steps;
mod job;
mod kept;
pub mod layouts;
mod loader;
mod merge_iter;
mod opened_values;
mod outbox;
mod page_meter;
mod periods;
mod previous_rows;
mod queues;
mod range_query;
mod read_whole;
#[cfg(feature = "access")]
mod restriction;
mod retry;
mod room;
mod row_bounds;
mod rules;
mod scan_ranges;
pub mod service_records;
pub(crate) mod telemetry;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

pub use self::abilities::Abilities;
pub(crate) use self::abilities::{no_reverse, no_snapshots};
#[cfg(feature = "async")]
pub use self::async_backend::{AsyncBackend, AsyncCursor};
pub use self::backend::{Backend, OnCommitted};
pub(crate) use self::batch::made;
pub use self::batch::{Batch, Lent};
pub use self::blobs::{BlobSnapshot, Blobs};
pub(crate) use self::concat_iter::ConcatIter;
pub(crate) use self::default_paging::DefaultPage;
pub use self::default_paging::{Begin, PageRequest, cursors, cursors_after, page, page_size, views};
pub use self::default_steps::{StepRequest, chunk, rows_after};
pub use self::job::{Conversion, EachRow, JobRecord, JobStep, Jobs, Looked, Position, StepSize, Transition};
pub use self::kept::Kept;
pub use self::layouts::{LayoutTexts, Layouts, check_by_properties, check_drop, declare, note};
pub use self::loader::Loader;
pub(crate) use self::merge_iter::MergeIter;
pub use self::merge_iter::order;
pub use self::opened_values::opens_as;
pub use self::outbox::{Outbox, Propagators};
pub(crate) use self::outbox::{Propagator, Remaining};
pub use self::page_meter::PageMeter;
pub use self::periods::{Dropped, PeriodsSeen};
pub(crate) use self::previous_rows::PreviousRows;
pub use self::queues::{EachMessage, OnAnswered, Queues};
pub use self::range_query::{RangeQuery, after_page, fingerprint};
#[cfg(feature = "access")]
pub use self::restriction::{RestrictedTable, Rights};
#[cfg(feature = "async")]
pub(crate) use self::retry::Turn;
pub(crate) use self::retry::{ATTEMPTS, LONGEST_WAIT, LOSSES_BORNE, Precedence};
pub use self::retry::{ChangeId, RetryFairness};
pub use self::room::{Room, WaitForRoom};
pub use self::row_bounds::{RowBound, RowBounds};
pub(crate) use self::rules::check_row;
pub use self::rules::{batch_length, check_entity, check_rules};
pub use self::scan_ranges::ScanRanges;
pub use self::service_records::{Expected, RecordOwner, ServiceRecords};
use crate::contents::BlobId;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{ETag, EntityKeys, Ticks};
use crate::plan::RowWrite;
use crate::query::{Continuation, PageBudget};
use crate::row::selection::Selection;
use crate::row::view::RowView;
use crate::schema::{IndexMask, IndexStates, PeriodTables, Schema};
#[cfg(feature = "encrypt")]
use crate::sealing::job::Resealing;

/// What reads a row that is found, and the number of the state that it is found in.
pub type Read<'c> = &'c mut dyn FnMut(&RowView<'_>, usize) -> Result<()>;

/// What takes a row that is found, and may keep it as long as it runs.
pub type Take<'c> = &'c mut dyn FnMut(RowView<'_>) -> Result<()>;

/// What takes each row of a page, with what of it is selected, and says whether the page goes on behind it.
pub type VisitEach<'c> = &'c mut dyn FnMut(&Selection, &RowView<'_>) -> Result<ControlFlow<()>>;

/// What takes each row of a job's step, with what of it is selected.
pub type TakeEach<'c> = &'c mut dyn FnMut(&Selection, &RowView<'_>) -> Result<()>;

/// One table.
///
/// Its errors say what is wrong; the caller adds on which table, and in which row.
pub trait TableExec: Any + Send + Sync {
    /// Returns the table's name, as it was given at creation.
    fn table_name(&self) -> &str;

    /// Returns the number that what is sealed in the table is bound to: the same as long as the table is there.
    fn id(&self) -> u32;

    /// Lends `read` the row of these keys as it is now, if there is one, and says whether there is.
    ///
    /// A view is large, and would be copied if it were returned through a pointer. So reads borrow it.
    fn get(&self, keys: EntityKeys<'_>, read: Read<'_>) -> Result<bool>;

    /// Reads a row as [`get`](Self::get) does, for a reader that keeps it.
    fn view(&self, keys: EntityKeys<'_>, take: Take<'_>) -> Result<bool>;

    /// Makes sure that the rows of this kind can be read by what the schema declares. Nothing is written.
    fn declare(&self, schema: &'static Schema) -> Result<()>;

    /// Returns which indexes writers of a kind by this declaration keep, and which of them can be read. The layout of a kind
    /// that is about to be written is noted, unless what is noted says it already. It is called before each write, and is to
    /// be quick where there is nothing to do.
    fn index_mask(&self, schema: &'static Schema, writes: bool) -> Result<IndexMask>;

    /// Carries out the write of one row alone, if there is a shorter way than by a plan; with `is_raw`, of a row of a
    /// declared kind too.
    fn write(&self, _partition: &str, _row: &RowWrite<'_>, _is_raw: bool) -> Option<Result<ETag>> {
        None
    }

    /// Carries out many plans of rows in these tables, of which it is the first, if there is a quicker way than one by one.
    fn loader<'a>(&'a self, tables: &[&'a dyn TableExec]) -> Option<Box<dyn Loader + 'a>> {
        let _ = tables;
        None
    }

    /// Returns what goes over its rows in steps; an error if nothing can.
    fn jobs(&self) -> Result<&dyn Jobs> {
        let because = "the store keeps no jobs: that takes a store in a directory on disk";
        Err(Error::new(ErrorKind::Unsupported).because(because))
    }

    /// Returns another table of the store, as it is now; `None` if there is none of this name.
    fn sibling(&self, name: &str) -> Result<Option<Arc<dyn TableExec>>> {
        self.jobs()?.sibling(name)
    }

    /// Returns why the rows of an index can't be read in the state of this number: [`index_mask`](Self::index_mask) said so.
    fn unread(&self, schema: &'static Schema, index: usize, state: usize) -> Error {
        let _ = (schema, index, state);
        Error::new(ErrorKind::IndexBuilding)
    }

    /// Returns the job that seals the table's values anew; an error if the executor has none.
    #[cfg(feature = "encrypt")]
    fn resealing(&self) -> Result<&dyn Resealing> {
        self.store().vault()?;
        let because = "the store can't go over a table to seal its values anew";
        Err(Error::new(ErrorKind::Unsupported).because(because))
    }

    /// Returns the table's store.
    fn store(&self) -> &dyn Backend;

    /// Returns what limits the changes of its entities; `None` of a table that is restricted to no access.
    #[cfg(feature = "access")]
    fn restricted(&self) -> Option<&dyn RestrictedTable> {
        None
    }

    /// Takes a snapshot: the store as it is now.
    fn read_snapshot(&self) -> Result<Box<dyn OneSnapshotForEachThread>>;
}

/// What a [`Snapshot`](crate::Snapshot) holds. It can be sent to another thread and not be shared between two, and this name
/// is what the compiler says then.
pub trait OneSnapshotForEachThread: ReadSnapshot {}

impl<M: ReadSnapshot> OneSnapshotForEachThread for M {}

/// A store as it was at one time: what a cursor reads.
///
/// On a store without the ability [`snapshot`](Abilities::snapshot) it is the store as it is: each read sees what is there when
/// it is made, and a cursor's next batch may have newer rows than the one before. The engine takes one for itself there all the
/// same: to iterate a query, to read a page, or many keys, and to plan a change, whose conditions on rows hold what must hold.
/// What promises one moment to a user takes a [`Snapshot`](crate::Snapshot), which such a store refuses.
///
/// A cursor is given it with each call, and does not hold it: several cursors read one snapshot, and one that is LMDB's can
/// be sent to another thread and not be shared between two.
pub trait ReadSnapshot: Any + Send {
    /// Returns whether the table is one of this store's.
    fn has(&self, table: &dyn TableExec) -> bool;

    /// Returns the number of the store's state that it sees: that of the last transaction.
    fn state(&self) -> usize;

    /// Returns how long it has been held.
    fn age(&self) -> Duration;

    /// Returns the row of these keys. With `trusted`, its keyed digest is not checked.
    fn get<'s>(
        &'s self,
        table: &dyn TableExec,
        keys: EntityKeys<'_>,
        trusted: bool,
    ) -> Result<Option<RowView<'s>>>;

    /// Makes sure that the rows of an index can be read in this snapshot.
    fn check_index(&self, table: &dyn TableExec, schema: &'static Schema, index: usize) -> Result<()> {
        let _ = (table, schema, index);
        Ok(())
    }

    /// Makes sure that the entities' own rows can be read in this snapshot, where their keys say; `as_stored`: and that none
    /// of them is of a previous version.
    fn check_rows(&self, table: &dyn TableExec, schema: &'static Schema, as_stored: bool) -> Result<()> {
        let _ = (table, schema, as_stored);
        Ok(())
    }

    /// Returns whether copies are to follow the entity of these keys.
    fn follows(&self, table: &dyn TableExec, keys: EntityKeys<'_>) -> Result<bool> {
        let _ = (table, keys);
        Ok(false)
    }

    /// Returns all bytes of a blob that is so long, which a row of this snapshot refers to.
    fn content(&self, id: BlobId, length: usize) -> Result<Vec<u8>> {
        let _ = (id, length);
        Err(abilities::no_blobs())
    }

    /// Returns whether the store has a blob that a row of this snapshot refers to; true where that can't be known.
    fn has_blob(&self, id: BlobId) -> Result<bool> {
        let _ = id;
        Ok(false)
    }

    /// Returns a digest of the keys and versions of the rows of a partition whose row keys begin so, for a plan to rely on.
    fn digest(&self, table: &dyn TableExec, partition: &str, prefix: &str) -> Result<u64> {
        let _ = (table, partition, prefix);
        let because = "the store can't tell whether rows have come or gone: that takes the ability `range`";
        Err(Error::new(ErrorKind::Unsupported).because(because))
    }

    /// Returns the layouts that are noted of the table's kinds; [`Unsupported`](ErrorKind::Unsupported) if the store notes
    /// none.
    fn layouts(&self, table: &dyn TableExec) -> Result<LayoutTexts> {
        let _ = table;
        Err(Error::new(ErrorKind::Unsupported).because("the store notes nothing of the kinds in a table"))
    }

    /// Returns the states of a kind's indexes; `None` if the store keeps none, so that every index is always ready.
    fn index_states(&self, table: &dyn TableExec, kind: &str) -> Result<Option<IndexStates>> {
        let _ = (table, kind);
        Ok(None)
    }

    /// Begins a cursor for each scan range.
    fn cursors(&self, table: &dyn TableExec, scan_ranges: &ScanRanges) -> Result<Vec<Box<dyn RowCursor>>>;

    /// Begins a cursor for each scan range, behind the row of these keys, which may be one of another table.
    fn cursors_after(
        &self,
        table: &dyn TableExec,
        scan_ranges: &ScanRanges,
        last: EntityKeys<'_>,
    ) -> Result<Vec<Box<dyn RowCursor>>> {
        let _ = (table, scan_ranges, last);
        Err(periods::no_periods())
    }

    /// Returns the tables of a kind's periods; those that are known, if nothing has changed since.
    fn periods(
        &self,
        tables: &'static PeriodTables,
        known: Option<&Arc<PeriodsSeen>>,
    ) -> Result<Arc<PeriodsSeen>> {
        let _ = (tables, known);
        Err(periods::no_periods())
    }

    /// Returns the table of the period that begins then; if there is none, where the first period begins that is not dropped.
    fn period(
        &self,
        tables: &'static PeriodTables,
        start: Ticks,
    ) -> Result<Result<Arc<dyn TableExec>, Ticks>> {
        let seen = self.periods(tables, None)?;
        Ok(seen.table(start).cloned().ok_or(seen.floor))
    }

    /// Returns so many bytes from the start of a page, of which a cursor has lent rows.
    fn lent(&self, page: u64, length: usize) -> Option<&[u8]> {
        let _ = (page, length);
        None
    }

    /// Returns the rows of all scan ranges, in place.
    fn views<'s>(
        &'s self,
        table: &dyn TableExec,
        scan_ranges: ScanRanges,
    ) -> Result<Box<dyn InPlace<'s> + 's>>;

    /// Gives `each` a page of the rows, from the start or from where another page ended, until the budget is spent or `each` ends
    /// it behind a row. Returns where the next one starts, if there is more.
    fn page(
        &self,
        table: &dyn TableExec,
        scan_ranges: ScanRanges,
        budget: PageBudget,
        after: Option<&Continuation>,
        each: VisitEach<'_>,
    ) -> Result<Option<Continuation>>;

    /// Gives `each` the rows of a job's next step: those behind a position, until the step has as many as its
    /// [size](StepSize) lets. Returns the position of the last row that was looked at, or `None` if none is left, and how many
    /// were looked at.
    fn chunk(
        &self,
        table: &dyn TableExec,
        scan_ranges: ScanRanges,
        after: Option<&Position>,
        size: StepSize,
        each: TakeEach<'_>,
    ) -> Result<(Option<Position>, u64)> {
        let (_, _, _, _) = (scan_ranges, after, size, each);
        table.jobs().and_then(|_| Err(Error::new(ErrorKind::Unsupported)))
    }
}

/// Rows that lie in a snapshot, one after another.
pub trait InPlace<'s> {
    /// Returns the next row.
    fn next(&mut self) -> Result<Option<RowView<'s>>>;

    /// Returns what of the rows is selected.
    fn selection(&self) -> &Selection;
}

/// The rows of one scan range, in its order, a batch after another: a leaf of LMDB's, a page of a service's.
///
/// It is called once for many rows, so that nothing is erased between a row and what reads it.
pub trait RowCursor: Send {
    /// Puts the next rows into a batch that is empty: at least one, unless it [ends](Batch::end) there. What was put there
    /// before an error stays.
    fn fill(&mut self, snapshot: &dyn ReadSnapshot, batch: &mut Batch) -> Result<()>;
}
