//! Snapshots of the store.

use std::fmt;
use std::ops::ControlFlow;
use std::time::Duration;

use super::page::Page;
use super::rows::{SnapshotRows, Views};
use super::table::DynamicTable;
use crate::contents::BlobId;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::LayoutTexts;
use crate::executor::{
    OneSnapshotForEachThread, Position, ReadSnapshot, RowCursor, ScanRanges, StepSize, TableExec, TakeEach,
    VisitEach, no_reverse, telemetry,
};
use crate::model::{DynamicEntity, EntityKeys};
use crate::plan::blob_of;
use crate::query::{Continuation, PageBudget, Query};
use crate::row::selection::Selection;
use crate::row::view::RowView;
use crate::schema::Schema;

/// All tables as they were at one moment.
///
/// What is read through one snapshot belongs together, over several tables too. It never waits for a writer nor
/// holds one up.
///
/// A snapshot is `Send` and not `Sync`: it can move to another thread, and one thread at a time reads by it. To read in
/// several threads, give each a snapshot of its own, or put one into a `Mutex`. Across an `await` a `Send` future can hold
/// the snapshot itself and nothing that borrows it, such as a query of it that is still iterated: collect the rows before the
/// `await`, or read in `spawn_blocking`.
///
/// **Don't keep it for long.** While it lives, no space that becomes free is used again, so the file grows with every
/// change, up to the map size (`OpenOptions::map_size`): 12 MiB of data have become a file of 574 MiB in 45
/// seconds. What is free again afterwards is used, and only a compacted copy gives it back to the disk. The same holds
/// for iterators, and for the snapshots of other processes. `Store::stats` tells what is held
/// back and by whom, `Store::snapshots` lists those of this process.
///
/// ```
/// # use table_core::{DynamicEntity, Query, Store};
/// # let dir = tempfile::tempdir()?;
/// # let store = Store::open(dir.path().join("company.tables"))?;
/// let company = store.create_table("Company")?;
/// company.insert(&DynamicEntity::new("Sales", "empid_000001"))?;
///
/// let snapshot = store.snapshot()?;
/// company.insert(&DynamicEntity::new("Sales", "empid_000002"))?;
/// assert_eq!(snapshot.query(&company, &Query::new().partition("Sales"))?.count(), 1);
/// assert_eq!(company.query(&Query::new().partition("Sales"))?.count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Snapshot {
    snapshot: Box<dyn OneSnapshotForEachThread>,
}

impl Snapshot {
    pub(crate) fn new(snapshot: Box<dyn OneSnapshotForEachThread>) -> Self {
        Self { snapshot }
    }

    pub(crate) fn read_snapshot(&self) -> &dyn ReadSnapshot {
        &*self.snapshot
    }

    /// Returns the entity of these keys, or `None`.
    pub fn get(
        &self,
        table: &DynamicTable,
        partition_key: &str,
        row_key: &str,
    ) -> Result<Option<DynamicEntity>> {
        let found = self.view(table, partition_key, row_key)?;
        found
            .map(|view| view.to_entity().map_err(|e| e.attempted("read from").table(table.name())))
            .transpose()
    }

    /// Returns the entity of these keys as a view into the snapshot.
    pub fn view(
        &self,
        table: &DynamicTable,
        partition_key: &str,
        row_key: &str,
    ) -> Result<Option<RowView<'_>>> {
        self.find(table, EntityKeys::new(partition_key, row_key), false)
    }

    /// Returns the view of a row whose keyed digest is not looked at.
    pub(crate) fn view_unverified(
        &self,
        table: &DynamicTable,
        partition_key: &str,
        row_key: &str,
    ) -> Result<Option<RowView<'_>>> {
        self.find(table, EntityKeys::new(partition_key, row_key), true)
    }

    /// Returns the row of these keys. With `trusted`, its keyed digest is not checked.
    fn find(&self, table: &DynamicTable, keys: EntityKeys<'_>, trusted: bool) -> Result<Option<RowView<'_>>> {
        let exec = self.table(table)?;
        let operation = telemetry::point_read(exec);
        let _entered = operation.enter();
        let found = self.snapshot.get(exec, keys, trusted);
        operation.returned(u64::from(matches!(found, Ok(Some(_)))));
        found.map_err(|e| {
            let EntityKeys { partition, row } = keys;
            counted(exec, e).attempted("read from").table(table.name()).partition(partition).row(row)
        })
    }

    /// Returns the entities that the query finds, in order.
    pub fn query(&self, table: &DynamicTable, query: &Query) -> Result<SnapshotRows<'_>> {
        self.views(table, query).map(SnapshotRows::new)
    }

    /// Returns the entities that the query finds, in order, as views into the snapshot: the quickest way to read many.
    pub fn views(&self, table: &DynamicTable, query: &Query) -> Result<Views<'_>> {
        self.views_of(table, query.clone().into())
    }

    /// Returns the rows of these scan ranges.
    pub(crate) fn views_of(&self, table: &DynamicTable, scan_ranges: ScanRanges) -> Result<Views<'_>> {
        let exec = self.table(table)?;
        let running = telemetry::query(exec);
        let rows = {
            let _entered = running.enter();
            check_order(exec, &scan_ranges).and_then(|()| self.snapshot.views(exec, scan_ranges))
        };
        let rows = rows.inspect_err(|e| running.failed(e.kind()));
        let rows = rows.map_err(|e| e.attempted("query").table(table.name()))?;
        Ok(Views::new(rows, table.clone(), running))
    }

    /// Makes sure that the rows of an index can be read in this snapshot.
    pub(crate) fn check_index(
        &self,
        table: &DynamicTable,
        schema: &'static Schema,
        index: usize,
    ) -> Result<()> {
        let checked = self.snapshot.check_index(self.table(table)?, schema, index);
        checked.map_err(|e| e.attempted("read from").table(table.name()))
    }

    /// Makes sure that the entities' own rows can be read in this snapshot, where their keys say.
    pub(crate) fn check_rows(&self, table: &DynamicTable, schema: &'static Schema) -> Result<()> {
        let checked = self.snapshot.check_rows(self.table(table)?, schema, false);
        checked.map_err(|e| e.attempted("read from").table(table.name()))
    }

    /// Makes sure that the entities' own rows can be read in this snapshot, and that none of them is of a previous version,
    /// which would be misread as it is stored.
    pub(crate) fn check_rows_as_stored(&self, table: &DynamicTable, schema: &'static Schema) -> Result<()> {
        let checked = self.snapshot.check_rows(self.table(table)?, schema, true);
        checked.map_err(|e| e.attempted("read from").table(table.name()))
    }

    /// Returns whether copies are to follow the entity of these keys in this snapshot.
    #[doc(hidden)]
    pub fn follows(&self, table: &DynamicTable, keys: EntityKeys<'_>) -> Result<bool> {
        let follows = self.snapshot.follows(self.table(table)?, keys);
        follows
            .map_err(|e| e.attempted("read from").table(table.name()).partition(keys.partition).row(keys.row))
    }

    /// Returns the text of the ids of an index list of this snapshot, if the row has no room for them.
    pub(crate) fn long_list(&self, view: &RowView<'_>) -> Result<Option<Vec<u8>>> {
        let blob = blob_of(&mut |name| view.get(name))?;
        blob.map(|(id, length)| self.snapshot.content(id, length)).transpose()
    }

    /// Returns whether the store has a blob that a row of this snapshot refers to.
    pub(crate) fn has_blob(&self, id: BlobId) -> Result<bool> {
        self.snapshot.has_blob(id).map_err(|e| e.attempted("look for a blob"))
    }

    /// Returns a digest of the rows of a partition whose row keys begin so, for a plan to rely on.
    pub(crate) fn digest(&self, table: &DynamicTable, partition: &str, prefix: &str) -> Result<u64> {
        let digest = self.snapshot.digest(self.table(table)?, partition, prefix);
        digest.map_err(|e| e.attempted("read from").table(table.name()).partition(partition).row(prefix))
    }

    /// Begins a cursor for each of the scan ranges.
    pub(crate) fn cursors(
        &self,
        table: &DynamicTable,
        scan_ranges: &ScanRanges,
    ) -> Result<Vec<Box<dyn RowCursor>>> {
        let exec = self.table(table)?;
        check_order(exec, scan_ranges)?;
        self.snapshot.cursors(exec, scan_ranges)
    }

    /// Returns a page of what the query finds: at most so many entities, 1,000 at most, from the start or from where
    /// another page ended. A [`PageBudget`] may end it earlier.
    pub fn page(
        &self,
        table: &DynamicTable,
        query: &Query,
        budget: impl Into<PageBudget>,
        after: Option<&Continuation>,
    ) -> Result<Page> {
        self.page_by(table, query.clone().into(), budget, after, Selection::entity)
    }

    /// Returns a page of what `read` makes of the rows.
    pub(crate) fn page_by<T>(
        &self,
        table: &DynamicTable,
        scan_ranges: ScanRanges,
        budget: impl Into<PageBudget>,
        after: Option<&Continuation>,
        read: impl Fn(&Selection, &RowView<'_>) -> Result<T>,
    ) -> Result<Page<T>> {
        let mut entities = Vec::new();
        let mut each = |selection: &Selection, view: &RowView<'_>| {
            entities.push(read(selection, view)?);
            Ok(ControlFlow::Continue(()))
        };
        let mut running = telemetry::query(table.exec());
        let next = {
            let _entered = running.enter();
            self.visit_page(table, scan_ranges, budget.into(), after, &mut each)?
        };
        running.add(u64::try_from(entities.len()).unwrap_or(u64::MAX));
        Ok(Page::of(entities, next))
    }

    /// Gives `each` the rows of a page, and returns where the next one starts, if there is more.
    pub(crate) fn visit_page(
        &self,
        table: &DynamicTable,
        scan_ranges: ScanRanges,
        budget: PageBudget,
        after: Option<&Continuation>,
        each: VisitEach<'_>,
    ) -> Result<Option<Continuation>> {
        let exec = self.table(table)?;
        let next = check_order(exec, &scan_ranges)
            .and_then(|()| self.snapshot.page(exec, scan_ranges, budget, after, each));
        next.map_err(|e| counted(exec, e).attempted("query").table(table.name()))
    }

    /// Makes sure that the table is one of this store's.
    pub(crate) fn check_table(&self, table: &DynamicTable) -> Result<()> {
        self.table(table).map(drop)
    }

    /// Returns the layouts that are noted of the table's kinds.
    pub(crate) fn layouts(&self, table: &DynamicTable) -> Result<LayoutTexts> {
        self.snapshot.layouts(self.table(table)?).map_err(|e| e.table(table.name()))
    }

    /// Returns the text of `EntityType` of the row of these keys; `None` if there is no row, or no such text.
    #[allow(clippy::option_option, reason = "no row, and one without a kind, are two answers")]
    pub(crate) fn kind_of(
        &self,
        table: &DynamicTable,
        partition: &str,
        row: &str,
    ) -> Result<Option<Option<String>>> {
        let view = self.view_unverified(table, partition, row)?;
        view.map(|view| Ok(view.kind()?.map(str::to_owned))).transpose()
    }

    /// Returns the rows of a job's next step; see [`ReadSnapshot::chunk`](crate::executor::ReadSnapshot::chunk).
    pub(crate) fn chunk(
        &self,
        table: &DynamicTable,
        scan_ranges: ScanRanges,
        after: Option<&Position>,
        size: StepSize,
        each: TakeEach<'_>,
    ) -> Result<(Option<Position>, u64)> {
        let chunk = self.snapshot.chunk(self.table(table)?, scan_ranges, after, size, each);
        if let Ok((_, rows)) = &chunk {
            telemetry::job_rows(table.exec(), *rows);
        }
        chunk.map_err(|e| e.attempted("query").table(table.name()))
    }

    /// Returns the last row in the range of keys that a query reads from its beginning; `None` if there is none, or the query
    /// has several scan ranges or goes backwards, or the store lacks the ability `reverse`.
    pub(crate) fn last_row(
        &self,
        table: &DynamicTable,
        scan_ranges: &ScanRanges,
    ) -> Result<Option<Position>> {
        let [query] = scan_ranges.queries() else { return Ok(None) };
        if query.is_reverse() || !self.table(table)?.store().abilities().reverse {
            return Ok(None);
        }
        let last = self.views_of(table, query.of_last_row().into())?.next().transpose()?;
        Ok(last.map(|view| {
            let (partition, row) = view.keys();
            Position { partition: partition.into_owned(), row: row.into_owned() }
        }))
    }

    /// Returns the number of the store's state that it sees: that of the last transaction.
    pub(crate) fn state(&self) -> usize {
        self.snapshot.state()
    }

    /// Returns how long the snapshot has lived.
    pub fn age(&self) -> Duration {
        self.snapshot.age()
    }

    /// Returns the table, if it is one of this store's.
    fn table<'t>(&self, table: &'t DynamicTable) -> Result<&'t dyn TableExec> {
        if self.snapshot.has(table.exec()) {
            Ok(table.exec())
        } else {
            Err(Error::new(ErrorKind::InvalidQuery)
                .because("the table is of another store than the snapshot")
                .attempted("read from")
                .table(table.name()))
        }
    }
}

/// Refuses rows from the last to the first of a store that gives none so.
#[inline]
fn check_order(table: &dyn TableExec, scan_ranges: &ScanRanges) -> Result<()> {
    let is_possible =
        !scan_ranges.are_reverse() || table.store().abilities().reverse || scan_ranges.may_buffer();
    if is_possible { Ok(()) } else { Err(no_reverse()) }
}

/// Counts an error of a read.
#[cold]
fn counted(table: &dyn TableExec, error: Error) -> Error {
    telemetry::failed(table, error.kind());
    error
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").field("age", &self.age()).finish_non_exhaustive()
    }
}
