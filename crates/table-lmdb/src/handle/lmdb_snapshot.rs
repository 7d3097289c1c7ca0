//! LMDB's snapshots.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lmdb_verify::SnapshotPages;

use table_engine::contents::BlobId;
use table_engine::error::{Error, ErrorKind, Result};
use table_engine::executor::{
    InPlace, LayoutTexts, Looked, PageMeter, PeriodsSeen, Position, ReadSnapshot, RowCursor, ScanRanges,
    StepSize, TableExec, TakeEach, VisitEach,
};
use table_engine::model::{EntityKeys, Ticks};
use table_engine::query::{Continuation, PageBudget};
use table_engine::row::key::{self, StoredKey};
use table_engine::row::selection::Selection;
use table_engine::row::view::RowView;
use table_engine::schema::{IndexMask, IndexStates, PeriodTables, Schema};

use super::cursors;
use super::lmdb_table::LmdbTable;
use super::shared::Shared;
use crate::Store;
use crate::blobs::BlobView;
use crate::lmdb::{Db, ReadTxn};
use crate::open::OptionalDb;
use crate::queues::View;
use crate::records::features::Feature;
use crate::records::meta::Meta;
use crate::records::{index_states, layouts};
use crate::scan::cursor::{Ahead, MergedCursor};
use crate::scan::read;
use crate::state::StoreState;
use crate::state::live::Ticket;
use crate::write::range;

/// A read transaction.
pub(crate) struct LmdbSnapshot {
    // Fields drop in this order: the transaction before the environment it belongs to.
    txn: ReadTxn<'static>,
    inner: Arc<Shared>,
    ticket: Ticket,
    /// The database of blobs, if the process had opened it when the transaction began.
    blobs: Option<Db>,
}

impl LmdbSnapshot {
    pub(crate) fn new(inner: &Arc<Shared>) -> Result<Self> {
        inner.writer.check_running()?;
        let blobs = inner.environment.known(OptionalDb::Blobs);
        let txn = inner.environment.static_read_txn()?;
        let ticket = inner.live.register(txn.id());
        Ok(Self { txn, inner: inner.clone(), ticket, blobs })
    }

    /// Returns the snapshot as LMDB's, if it is one.
    pub(crate) fn of(snapshot: &dyn ReadSnapshot) -> Result<&Self> {
        let snapshot: &dyn Any = snapshot;
        snapshot.downcast_ref().ok_or_else(stranger)
    }

    pub(crate) fn parts(&self) -> (&StoreState, &ReadTxn<'static>) {
        (&self.inner, &self.txn)
    }

    /// Returns the indexes that a reader of a kind goes by; of a table that was dropped since, as they are in this
    /// snapshot.
    fn index_mask(&self, table: &LmdbTable, schema: &'static Schema) -> Result<IndexMask> {
        match table.index_mask(schema, false) {
            Err(error) if error.kind() == ErrorKind::TableNotFound => {
                table.index_mask_then(&self.txn, schema)
            }
            index_mask => index_mask,
        }
    }

    /// Returns the store that it is of, and its transaction.
    pub(crate) fn shared(&self) -> (&Arc<Shared>, &ReadTxn<'static>) {
        (&self.inner, &self.txn)
    }
}

#[cold]
fn stranger() -> Error {
    Error::new(ErrorKind::InvalidQuery).because("the rows are of another store than the snapshot")
}

impl ReadSnapshot for LmdbSnapshot {
    fn has(&self, table: &dyn TableExec) -> bool {
        LmdbTable::of(table).is_ok_and(|table| Arc::ptr_eq(table.inner(), &self.inner))
    }

    fn state(&self) -> usize {
        self.txn.id()
    }

    fn age(&self) -> Duration {
        self.ticket.age()
    }

    fn get<'s>(
        &'s self,
        table: &dyn TableExec,
        keys: EntityKeys<'_>,
        trusted: bool,
    ) -> Result<Option<RowView<'s>>> {
        let state = LmdbTable::of(table)?.state();
        if trusted {
            read::get_unverified(&self.inner, &self.txn, state, keys)
        } else {
            read::get(&self.inner, &self.txn, state, keys)
        }
    }

    fn check_index(&self, table: &dyn TableExec, schema: &'static Schema, index: usize) -> Result<()> {
        let table = LmdbTable::of(table)?;
        // What the process knows of the index is then at least as new as this snapshot.
        table.state().check_exists(&self.inner.environment.dbs, &self.txn)?;
        if self.index_mask(table, schema)?.reads(index, self.txn.id()) {
            return Ok(());
        }
        Err(table.unread(schema, index, self.txn.id()))
    }

    fn check_rows(&self, table: &dyn TableExec, schema: &'static Schema, as_stored: bool) -> Result<()> {
        let table = LmdbTable::of(table)?;
        // What the process knows of the kind is then at least as new as this snapshot.
        table.state().check_exists(&self.inner.environment.dbs, &self.txn)?;
        if !self.index_mask(table, schema)?.looks_at_rows() {
            return Ok(());
        }
        table.check_rows(&self.txn, schema, as_stored)
    }

    fn follows(&self, table: &dyn TableExec, keys: EntityKeys<'_>) -> Result<bool> {
        let environment = &self.inner.environment;
        let Some(db) = environment.known(OptionalDb::Queues) else { return Ok(false) };
        // The process may have opened the database since the snapshot was taken.
        if !Meta::read(environment.dbs.main, &self.txn)?.features.has(OptionalDb::Queues.feature()) {
            return Ok(false);
        }
        let stored = key::stored(table.id(), keys.partition, keys.row);
        View::of_snapshot(environment, &self.txn, db)?.has_entry(&stored)
    }

    /// Returns the content of a blob that a row refers to, which never changes. If this process had not opened the
    /// database of blobs when the snapshot was taken, it reads the blob as it is now.
    fn content(&self, id: BlobId, length: usize) -> Result<Vec<u8>> {
        let environment = &self.inner.environment;
        if let Some(db) = self.blobs {
            let found = BlobView::of_snapshot(environment, &self.txn, db)?.content(id, length)?;
            return found
                .ok_or_else(|| Error::new(ErrorKind::Corrupt).because(format!("blob {id} is missing")));
        }
        let found = self.inner.look_at_blobs(|view, _| view.content(id, length))?;
        found.flatten().ok_or_else(|| {
            Error::new(ErrorKind::BlobGone).because(
                "what the row refers to has gone since the snapshot began, and was the first blob that this process looked at; \
                 take another snapshot",
            )
        })
    }

    fn has_blob(&self, id: BlobId) -> Result<bool> {
        let environment = &self.inner.environment;
        if let Some(db) = self.blobs {
            return BlobView::of_snapshot(environment, &self.txn, db)?.has(id);
        }
        // The database was made or opened since the snapshot was taken, or there is none.
        Ok(Meta::read(environment.dbs.main, &self.txn)?.features.has(Feature::BlobRows))
    }

    fn digest(&self, table: &dyn TableExec, partition: &str, prefix: &str) -> Result<u64> {
        let stored = key::stored(table.id(), partition, prefix);
        range::digest_of_snapshot(&self.inner.environment, &self.txn, &stored)
    }

    fn layouts(&self, table: &dyn TableExec) -> Result<LayoutTexts> {
        let (dbs, table) = (&self.inner.environment.dbs, LmdbTable::of(table)?.state());
        table.check_exists(dbs, &self.txn)?;
        let texts = layouts::all(dbs, &self.txn, table.id)?;
        Ok(texts.into_iter().map(|(kind, text)| (kind.to_owned(), text.to_owned())).collect())
    }

    fn index_states(&self, table: &dyn TableExec, kind: &str) -> Result<Option<IndexStates>> {
        let (dbs, table) = (&self.inner.environment.dbs, LmdbTable::of(table)?.state());
        table.check_exists(dbs, &self.txn)?;
        index_states::index_states(dbs, &self.txn, table.id, kind).map(Some)
    }

    fn cursors(&self, table: &dyn TableExec, scan_ranges: &ScanRanges) -> Result<Vec<Box<dyn RowCursor>>> {
        cursors::cursors(self, LmdbTable::of(table)?, scan_ranges, None)
    }

    fn cursors_after(
        &self,
        table: &dyn TableExec,
        scan_ranges: &ScanRanges,
        last: EntityKeys<'_>,
    ) -> Result<Vec<Box<dyn RowCursor>>> {
        cursors::cursors(self, LmdbTable::of(table)?, scan_ranges, Some(last))
    }

    fn periods(
        &self,
        tables: &'static PeriodTables,
        known: Option<&Arc<PeriodsSeen>>,
    ) -> Result<Arc<PeriodsSeen>> {
        self.tables_of(tables, known)
    }

    fn period(
        &self,
        tables: &'static PeriodTables,
        start: Ticks,
    ) -> Result<Result<Arc<dyn TableExec>, Ticks>> {
        self.table_of(tables, start)
    }

    fn lent(&self, page: u64, length: usize) -> Option<&[u8]> {
        SnapshotPages::of(&self.inner.environment.reader, &self.txn, None).lent(page, length)
    }

    fn views<'s>(
        &'s self,
        table: &dyn TableExec,
        scan_ranges: ScanRanges,
    ) -> Result<Box<dyn InPlace<'s> + 's>> {
        let state = LmdbTable::of(table)?.state();
        Ok(Box::new(MergedCursor::new(&self.inner, &self.txn, state, scan_ranges, None)?))
    }

    fn page(
        &self,
        table: &dyn TableExec,
        scan_ranges: ScanRanges,
        budget: PageBudget,
        after: Option<&Continuation>,
        each: VisitEach<'_>,
    ) -> Result<Option<Continuation>> {
        let meter = PageMeter::begin(&budget)?;
        let state = LmdbTable::of(table)?.state();
        MergedCursor::new(&self.inner, &self.txn, state, scan_ranges, after)?.page(meter, each)
    }

    fn chunk(
        &self,
        table: &dyn TableExec,
        scan_ranges: ScanRanges,
        after: Option<&Position>,
        size: StepSize,
        each: TakeEach<'_>,
    ) -> Result<(Option<Position>, u64)> {
        let state = LmdbTable::of(table)?.state();
        let mut walk = MergedCursor::after(&self.inner, &self.txn, state, scan_ranges, after)?;
        let mut looked = Looked::new(size);
        let last = loop {
            match walk.next_of_step(&mut looked)? {
                Ahead::Row(view, key) => {
                    each(walk.selection(), &view)?;
                    if looked.is_enough() {
                        break key;
                    }
                }
                Ahead::Enough(last) => break last,
                Ahead::Ended => return Ok((None, looked.rows())),
            }
        };
        let (partition, row) =
            StoredKey::parse(last).and_then(|key| key.texts()).ok_or_else(read::out_of_order)?;
        Ok((Some(Position { partition: partition.into(), row: row.into() }), looked.rows()))
    }
}

impl<'s> InPlace<'s> for MergedCursor<'s> {
    fn next(&mut self) -> Result<Option<RowView<'s>>> {
        MergedCursor::next(self)
    }

    fn selection(&self) -> &Selection {
        MergedCursor::selection(self)
    }
}

/// A snapshot, or an iterator with one of its own, that lives in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SnapshotInfo {
    /// For how long it has lived.
    pub age: Duration,
    /// The number of the last transaction that it sees.
    pub transaction: usize,
}

impl Store {
    /// Returns the snapshots that live in this process, the oldest first: what keeps the store from using space again.
    #[inline]
    pub fn snapshots(&self) -> Vec<SnapshotInfo> {
        let info =
            |(taken, transaction): (Instant, usize)| SnapshotInfo { age: taken.elapsed(), transaction };
        self.shared().live.all().into_iter().map(info).collect()
    }
}
