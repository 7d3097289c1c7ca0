//! Snapshots: transactions that read, at one moment.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[cfg(feature = "blob")]
use table_engine::__executor::BlobId;
use table_engine::__executor::{
    self as executor, InPlace, Kept, LayoutTexts, PageRequest, PeriodsSeen, Position, RangeQuery,
    ReadSnapshot, RowCursor, RowView, ScanRanges, StepRequest, StepSize, TableExec, TakeEach, VisitEach,
};
use table_engine::model::EntityKeys;
use table_engine::query::PageBudget;
use table_engine::schema::{IndexStates, PeriodTables, Schema};
use table_engine::{Continuation, ErrorKind, Result, Ticks};
use tokio_postgres::{Error, Row};

#[cfg(feature = "blob")]
use crate::blobs;
use crate::catalog::column;
use crate::connection::Call;
use crate::cursor::{FirstPages, PostgresCursor};
use crate::error::{damaged, is_lost, of_server};
use crate::moment::{Check, CheckOf, KindsThen};
use crate::outbox;
use crate::pool::Blocking;
use crate::statement::digest;
use crate::store::{PostgresStore, plain};
use crate::table::{PostgresTable, STATE, own};

/// Begins a transaction whose statements see one state of the database.
pub(crate) const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// All tables as they were when the first of their rows was read.
pub(crate) struct PostgresSnapshot {
    store: Arc<PostgresStore>,
    connection: RefCell<Blocking>,
    has_begun: Cell<bool>,
    /// Whether tables that it knows of are kept for it, though they are dropped: it begins by saying so.
    keeps_tables: Cell<bool>,
    /// What is noted of kinds at its moment, as far as it was asked for.
    moment: KindsThen,
    kept: Kept,
    taken: Instant,
}

impl PostgresSnapshot {
    /// Returns a snapshot that is taken with the first read.
    pub(crate) fn of_first_read(store: Arc<PostgresStore>) -> Result<Self> {
        let connection = store.pool.blocking()?;
        Ok(Self {
            store,
            connection: RefCell::new(connection),
            has_begun: Cell::new(false),
            keeps_tables: Cell::new(false),
            moment: KindsThen::default(),
            kept: Kept::default(),
            taken: Instant::now(),
        })
    }

    /// Returns a snapshot of what is there now.
    pub(crate) fn of_now(store: Arc<PostgresStore>) -> Result<Self> {
        let snapshot = Self::of_first_read(store)?;
        snapshot.keeps_tables.set(true);
        // A transaction has its snapshot when its first statement is run.
        snapshot.query(plain("SELECT 1"))?;
        Ok(snapshot)
    }

    /// Returns the answer to a statement.
    pub(crate) fn query(&self, call: Call) -> Result<Vec<Row>> {
        let mut answers = self.query_all(vec![call])?;
        answers.pop().ok_or_else(|| damaged("the answer of the server"))
    }

    /// Returns the answers to several statements, all in one round trip; the transaction begins with the first of them. Makes
    /// sure, in the same round trip, of what was taken to be so at its moment.
    pub(crate) fn query_all(&self, calls: Vec<Call>) -> Result<Vec<Vec<Row>>> {
        if !self.moment.has_assumed() {
            return self.answers(&calls);
        }
        let mut calls = calls;
        calls.push(self.store.catalog.generation());
        let mut answers = self.answers(&calls)?;
        let generation = answers.pop().unwrap_or_default();
        self.moment.begin(self, &generation)?;
        Ok(answers)
    }

    fn answers(&self, calls: &[Call]) -> Result<Vec<Vec<Row>>> {
        let mut losses = self.store.pool.losses();
        loop {
            let asked = self.ask(calls);
            let may_go_on = !self.has_begun.replace(true);
            match asked {
                Ok(answers) => return Ok(answers),
                Err(error) if may_go_on && is_lost(&error) && losses.wait() => {
                    // No row of it has been read, so it begins on another connection.
                    self.store.pool.forget_idle();
                    self.connection.replace(self.store.pool.blocking()?);
                    self.has_begun.set(false);
                }
                Err(error) => return Err(of_server(error)),
            }
        }
    }

    fn ask(&self, calls: &[Call]) -> Result<Vec<Vec<Row>>, Error> {
        let connection = self.connection.borrow();
        if self.has_begun.get() {
            connection.wait(connection.query_all(calls))
        } else {
            let mut begin = Cow::Borrowed(BEGIN);
            if self.keeps_tables.get() {
                // What is asked first decides what the snapshot sees, and a lock is not a question.
                let periods = self.store.catalog.table("_periods");
                begin = format!("{BEGIN}; LOCK TABLE {periods} IN ACCESS SHARE MODE").into();
            }
            connection.wait(connection.begin_and_query(&begin, calls))
        }
    }

    /// Reads the first pages of all ranges, in one round trip. The rows are of this moment, however late they are taken.
    fn fetch(&self, first: &RefCell<FirstPages>) -> Result<()> {
        let mut first = first.take();
        if !first.calls.is_empty() {
            let answers = self.read_all(std::mem::take(&mut first.calls))?;
            first.give(answers);
        }
        Ok(())
    }

    /// Returns the answer to a statement that reads rows; what of them is sealed opens with no key that is destroyed by then.
    pub(crate) fn read(&self, call: Call) -> Result<Vec<Row>> {
        let mut answers = self.read_all(vec![call])?;
        answers.pop().ok_or_else(|| damaged("the answer of the server"))
    }

    fn read_all(&self, mut calls: Vec<Call>) -> Result<Vec<Vec<Row>>> {
        self.store.keys.ask_with(&mut calls);
        let mut answers = self.query_all(calls)?;
        self.store.keys.observe_last(&mut answers)?;
        Ok(answers)
    }

    /// Returns the answer to a statement that reads the list of tables, which are to be read later.
    pub(crate) fn query_of_list(&self, call: Call) -> Result<Vec<Row>> {
        self.keeps_tables.set(true);
        self.query(call)
    }

    pub(crate) fn store(&self) -> &Arc<PostgresStore> {
        &self.store
    }
}

impl Drop for PostgresSnapshot {
    fn drop(&mut self) {
        let mut connection = self.connection.borrow_mut();
        if self.has_begun.get() && !connection.end_transaction() {
            connection.spend();
        }
    }
}

impl ReadSnapshot for PostgresSnapshot {
    fn has(&self, table: &dyn TableExec) -> bool {
        own(table).is_ok_and(|table| Arc::ptr_eq(&table.store, &self.store))
    }

    fn state(&self) -> usize {
        STATE
    }

    fn age(&self) -> Duration {
        self.taken.elapsed()
    }

    fn get<'s>(
        &'s self,
        table: &dyn TableExec,
        keys: EntityKeys<'_>,
        _: bool,
    ) -> Result<Option<RowView<'s>>> {
        let entry = &own(table)?.entry;
        let answer = self.read(entry.get(keys.partition, keys.row))?;
        let Some(found) = answer.first() else { return Ok(None) };
        let row = self.store.packed(entry, keys.partition, keys.row, found)?;
        let full = || executor::error(ErrorKind::InvalidQuery, "the snapshot can keep no more rows");
        self.kept.keep(row).ok_or_else(full)?.view().map(Some)
    }

    fn layouts(&self, table: &dyn TableExec) -> Result<LayoutTexts> {
        Ok((*self.moment.kinds(self, own(table)?)?.layouts).clone())
    }

    fn check_index(&self, table: &dyn TableExec, schema: &'static Schema, index: usize) -> Result<()> {
        self.moment.check(self, own(table)?, Check { schema, of: CheckOf::Index(index) })
    }

    fn check_rows(&self, table: &dyn TableExec, schema: &'static Schema, as_stored: bool) -> Result<()> {
        self.moment.check(self, own(table)?, Check { schema, of: CheckOf::Rows { as_stored } })
    }

    fn index_states(&self, table: &dyn TableExec, kind: &str) -> Result<Option<IndexStates>> {
        Ok(Some(self.moment.kinds(self, own(table)?)?.states(kind)))
    }

    fn follows(&self, table: &dyn TableExec, keys: EntityKeys<'_>) -> Result<bool> {
        let call = outbox::has_entry(&self.store.catalog, own(table)?.entry.id, keys);
        let answer = self.query(call)?;
        column(answer.first().ok_or_else(|| damaged("the answer of the server"))?, 0)
    }

    #[cfg(feature = "blob")]
    fn content(&self, id: BlobId, length: usize) -> Result<Vec<u8>> {
        blobs::content(self, id, length)
    }

    #[cfg(feature = "blob")]
    fn has_blob(&self, id: BlobId) -> Result<bool> {
        blobs::has_blob(self, id)
    }

    fn digest(&self, table: &dyn TableExec, partition: &str, prefix: &str) -> Result<u64> {
        let answer = self.query(digest(&own(table)?.entry, partition, prefix))?;
        let found = answer.first().ok_or_else(|| damaged("the answer of the server"))?;
        column::<i64>(found, 0).map(i64::cast_unsigned)
    }

    fn cursors(&self, table: &dyn TableExec, scan_ranges: &ScanRanges) -> Result<Vec<Box<dyn RowCursor>>> {
        let (table, first) = (own(table)?, RefCell::default());
        let cursors = executor::cursors(scan_ranges, table.entry.id, &mut begin(table, &first))?;
        self.fetch(&first)?;
        Ok(cursors)
    }

    fn cursors_after(
        &self,
        table: &dyn TableExec,
        scan_ranges: &ScanRanges,
        last: EntityKeys<'_>,
    ) -> Result<Vec<Box<dyn RowCursor>>> {
        let (table, first) = (own(table)?, RefCell::default());
        let cursors = executor::cursors_after(scan_ranges, table.entry.id, last, &mut begin(table, &first))?;
        self.fetch(&first)?;
        Ok(cursors)
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

    fn views<'s>(
        &'s self,
        table: &dyn TableExec,
        scan_ranges: ScanRanges,
    ) -> Result<Box<dyn InPlace<'s> + 's>> {
        let (table, first) = (own(table)?, RefCell::default());
        let views =
            executor::views(self, &self.kept, scan_ranges, table.entry.id, &mut begin(table, &first))?;
        self.fetch(&first)?;
        Ok(views)
    }

    fn page(
        &self,
        table: &dyn TableExec,
        scan_ranges: ScanRanges,
        budget: PageBudget,
        after: Option<&Continuation>,
        each: VisitEach<'_>,
    ) -> Result<Option<Continuation>> {
        let (table, first) = (own(table)?, RefCell::default());
        let request = PageRequest { table: table.entry.id, store: self.store.identity, budget, after };
        executor::page(self, scan_ranges, request, &mut begin(table, &first), each)
    }

    fn chunk(
        &self,
        table: &dyn TableExec,
        scan_ranges: ScanRanges,
        after: Option<&Position>,
        size: StepSize,
        each: TakeEach<'_>,
    ) -> Result<(Option<Position>, u64)> {
        let (table, first) = (own(table)?, RefCell::default());
        let request = StepRequest { table: table.entry.id, after, size };
        executor::chunk(self, scan_ranges, request, &mut begin(table, &first), each)
    }
}

/// Begins cursors over a table, and notes what their first pages are.
pub(crate) fn begin<'b>(
    table: &'b PostgresTable,
    first: &'b RefCell<FirstPages>,
) -> impl FnMut(RangeQuery) -> Box<dyn RowCursor> + use<'b> {
    |asked| {
        let cursor = PostgresCursor::new(asked, table.entry.clone());
        first.borrow_mut().add(&cursor);
        Box::new(cursor)
    }
}
