//! A write transaction that plans are carried out in, and what it leaves in the small records.

use crate::records::names;
use std::sync::Arc;

use lmdb_verify::Tree;

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::model::Ticks;
use table_engine::row::dict::{Dict, Length};

use super::apply::Scratch;
use super::commit::Writer;
use super::encoded::EncodedGroup;
use super::gathered::Gathered;
use crate::blobs::BlobTxnState;
use crate::lmdb::{self, Databases, Db, WriteTxn};
use crate::open::{Environment, OptionalDb};
use crate::queues::QueueTxnState;
use crate::records::catalog::TableState;
use crate::records::counts::{self, Counts};
use crate::records::features::Feature;
use crate::records::meta::{META_KEY, Meta};
use crate::state::StoreState;

/// A write transaction and what it will leave in the small records.
pub(crate) struct Transaction<'e> {
    pub(super) environment: &'e Environment,
    pub(crate) dbs: &'e Databases,
    pub(crate) txn: WriteTxn<'e>,
    pub(crate) meta: Meta,
    /// The clock when it began: one look serves every plan in it.
    pub(super) now: Ticks,
    /// The latest time of the store when it began.
    pub(super) begun: Ticks,
    /// The number of the state that the transaction began with, until something is written.
    pub(super) state: Option<usize>,
    pub(super) tables: Vec<TableDelta>,
    pub(super) scratch: Box<Scratch>,
    writer: &'e Writer,
    /// The tree of the small records that the transaction began with.
    pub(super) records: Tree,
    /// The tree of the rows, once it has been asked for.
    pub(super) tree: Option<Tree>,
    /// How many rows LMDB counted at the beginning.
    rows: u64,
    /// The queues' database, if the process had opened it when the transaction began, and what was done to queues.
    pub(super) queues: Option<Db>,
    pub(super) txn_state: Option<Box<QueueTxnState>>,
    /// The blobs' database, if the process had opened it when the transaction began, and what was done to blobs.
    pub(super) blobs: Option<Db>,
    pub(super) blob_txn_state: Option<Box<BlobTxnState>>,
    /// Lists that its plans have changed.
    pub(super) gathered: Gathered,
}

/// A table that the transaction has written to.
#[derive(Debug)]
pub(super) struct TableDelta {
    pub(super) state: Arc<TableState>,
    pub(super) counts: Counts,
    /// How many rows the table had at the beginning.
    pub(super) before: u64,
    /// The counts before the plan that is being carried out.
    pub(super) before_plan: Counts,
    /// The length of the dictionary before that plan, if the transaction had added to it.
    pub(super) known: Option<Length>,
    /// The dictionary with the transaction's own additions, if it has any, and how much of it is on disk.
    pub(super) grown: Option<Box<(Dict, Length)>>,
}

impl<'e> Transaction<'e> {
    pub(crate) fn begin(inner: &'e StoreState, writer: &'e Writer) -> Result<Self> {
        let begun = Self::begin_now(inner, writer)?;
        if begun.blobs.is_some() || !begun.meta.features.has(Feature::BlobRows) {
            return Ok(begun);
        }
        // Rows refer to blobs, whose database this process has not opened yet. No transaction may be open meanwhile.
        drop(begun);
        inner.environment.open_late(OptionalDb::Blobs)?;
        Self::begin_now(inner, writer)
    }

    fn begin_now(inner: &'e StoreState, writer: &'e Writer) -> Result<Self> {
        let [queues, blobs] =
            [OptionalDb::Queues, OptionalDb::Blobs].map(|late| inner.environment.known(late));
        let txn = inner.environment.write_txn()?;
        let dbs = &inner.environment.dbs;
        let environment = &inner.environment;
        // The small records are read off their pages: that takes half of what LMDB's search does.
        let records = Tree::of_records(&environment.reader, &txn).map_err(lmdb::damage)?;
        let record = records.record(&environment.reader, &txn, META_KEY).map_err(lmdb::damage)?;
        let meta = Meta::begin_with(record, &txn)?;
        let rows = dbs.data.len(&txn).map_err(lmdb::error)?;
        // A write transaction has the number of the state that it will make.
        let state = txn.id().checked_sub(1);
        let mut scratch = writer.scratch();
        let tables = std::mem::take(&mut scratch.tables);
        let now = clock();
        environment.check_has_name(now.get())?;
        Ok(Self {
            environment,
            dbs,
            txn,
            begun: meta.high_water,
            meta,
            now,
            state,
            tables,
            scratch,
            writer,
            records,
            tree: None,
            rows,
            queues,
            txn_state: None,
            blobs,
            blob_txn_state: None,
            gathered: Gathered::default(),
        })
    }

    /// Returns the time that the next plan gets: the clock's, or one tick more than the last where the clock is behind.
    pub(super) fn next_timestamp(&self) -> Result<Ticks> {
        let after = Ticks::new(self.meta.high_water.get() + 1).ok_or_else(|| {
            Error::new(ErrorKind::Incompatible)
                .because("the store's time has reached the end of the year 9999")
        })?;
        Ok(self.now.max(after))
    }

    /// Returns the place of a table among those touched; it must not have been dropped.
    pub(super) fn touch(&mut self, state: &Arc<TableState>) -> Result<usize> {
        if let Some(at) = self.tables.iter().position(|touched| touched.state.id == state.id) {
            return Ok(at);
        }
        state.check_generation(self.dbs, &self.txn, &self.meta)?;
        let counts = self.counts(state.id).map_err(|e| e.table(&state.name))?;
        self.tables.push(TableDelta {
            state: state.clone(),
            counts,
            before: counts.entities,
            before_plan: counts,
            known: None,
            grown: None,
        });
        Ok(self.tables.len() - 1)
    }

    /// Returns the counts of a table as they were at the beginning: no record is written before the transaction ends.
    fn counts(&self, table: u32) -> Result<Counts> {
        let record = self.records.record(&self.environment.reader, &self.txn, &counts::key(table));
        let record = record.map_err(lmdb::damage)?;
        Counts::of_record(record, table)
    }

    /// Checks that LMDB counts as many rows as have come and gone: a put that did not find the row that it was to
    /// replace has added a second one beside it.
    fn check_rows(&self) -> Result<()> {
        let come =
            |sum: u64, table: &TableDelta| sum.wrapping_add(table.counts.entities).wrapping_sub(table.before);
        let expected = self.tables.iter().fold(self.rows, come);
        let counted = self.dbs.data.len(&self.txn).map_err(lmdb::error)?;
        if counted == expected { Ok(()) } else { Err(lmdb::damaged_page()) }
    }

    /// Writes the small records and commits.
    pub(crate) fn commit(mut self) -> Result<()> {
        self.write_lists()?;
        self.check_rows()?;
        self.meta.write(self.dbs.main, &mut self.txn)?;
        for touched in &mut self.tables {
            let id = touched.state.id;
            touched.counts.write(self.dbs.main, &mut self.txn, id)?;
            if let Some((dict, known)) = touched.grown.as_deref() {
                names::write_new(dict, *known, self.dbs, &mut self.txn, id)?;
            }
        }
        if let Some(txn_state) = self.txn_state.take() {
            txn_state.close(&mut self.txn)?;
        }
        if let Some(txn_state) = self.blob_txn_state.take() {
            txn_state.close(&mut self.txn)?;
        }
        let state = self.txn.id();
        self.environment.commit(self.txn)?;
        for touched in self.tables.drain(..) {
            touched.state.exists_at(state);
            // Only now: no other thread may use a number that could still be taken back.
            if let Some(grown) = touched.grown {
                touched.state.learn(Arc::new(grown.0));
            }
        }
        self.scratch.tables = self.tables;
        self.writer.keep(self.scratch);
        Ok(())
    }
}

/// Returns the table of a group of a plan that is being carried out: it has been touched.
#[inline]
pub(super) fn touched<'t>(tables: &'t mut [TableDelta], group: &EncodedGroup) -> Option<&'t mut TableDelta> {
    tables.iter_mut().find(|touched| touched.state.id == group.table.id)
}

/// Returns the time by the system's clock. One that is set beyond the calendar is no clock: a store that took its word
/// could never give a later time.
pub(crate) fn clock() -> Ticks {
    #[cfg(test)]
    if let Some(set) = CLOCK.get() {
        return set;
    }
    Ticks::try_from(std::time::SystemTime::now()).unwrap_or(Ticks::MIN)
}

#[cfg(test)]
thread_local! {
    /// The time that this thread takes for the system clock's, if a test sets one.
    pub(crate) static CLOCK: std::cell::Cell<Option<Ticks>> = const { std::cell::Cell::new(None) };
}
