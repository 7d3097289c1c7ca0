//! Iterators over what a query finds.

use std::borrow::Borrow;
use std::fmt;
use std::mem::ManuallyDrop;
#[cfg(feature = "async")]
use std::ops::ControlFlow;

use super::snapshot::Snapshot;
use super::table::DynamicTable;
#[cfg(feature = "async")]
use crate::asynchronous::Resumable;
use crate::error::{Error, Result};
use crate::executor::telemetry::{self, RunningQuery};
use crate::executor::{InPlace, MergeIter, ScanRanges, made};
use crate::model::DynamicEntity;
use crate::query::Query;
#[cfg(feature = "async")]
use crate::query::{Continuation, PageBudget};
use crate::row::selection::Selection;
use crate::row::view::RowView;

/// The rows of a query with the snapshot that they are read in, its own or the caller's.
pub(crate) struct BufferedScan<S = Snapshot> {
    snapshot: S,
    table: DynamicTable,
    rows: MergeIter,
    /// The tables of rows that are of several, by their numbers.
    across: Vec<DynamicTable>,
    running: RunningQuery,
}

/// Rows of several tables in one order.
pub(crate) struct Across {
    pub(crate) tables: Vec<DynamicTable>,
    pub(crate) rows: MergeIter,
}

impl Across {
    /// Returns the table that a row is of.
    pub(crate) fn table<'t>(tables: &'t [DynamicTable], view: &RowView<'_>) -> Option<&'t DynamicTable> {
        let id = view.table();
        let at = tables.binary_search_by_key(&id, |table| table.exec().id()).ok()?;
        tables.get(at)
    }
}

/// What is given a row, and keeps what it makes of it.
pub(crate) type ReadRow<'r> = dyn FnMut(&Reading<'_>, &RowView<'_>) -> Result<()> + 'r;

/// What a row is read with.
pub(crate) struct Reading<'r> {
    pub(crate) snapshot: &'r Snapshot,
    pub(crate) table: &'r DynamicTable,
    pub(crate) selection: &'r Selection,
}

impl<S: Borrow<Snapshot>> BufferedScan<S> {
    pub(crate) fn new(snapshot: S, table: &DynamicTable, scan_ranges: ScanRanges) -> Result<Self> {
        let running = telemetry::query(table.exec());
        let cursors = {
            let _entered = running.enter();
            snapshot.borrow().cursors(table, &scan_ranges)
        };
        let cursors = cursors.inspect_err(|e| running.failed(e.kind()));
        let cursors = cursors.map_err(|e| e.attempted("query").table(table.name()))?;
        let rows = MergeIter::new(scan_ranges, cursors);
        Ok(Self { snapshot, table: table.clone(), rows, across: Vec::new(), running })
    }

    /// Begins the rows of several tables by `begin`; `of` is what errors name.
    pub(crate) fn across(
        snapshot: S,
        of: &DynamicTable,
        begin: impl FnOnce(&Snapshot) -> Result<Across>,
    ) -> Result<Self> {
        let running = telemetry::query(of.exec());
        let Across { tables, rows } = {
            let _entered = running.enter();
            begin(snapshot.borrow())?
        };
        Ok(Self { snapshot, table: of.clone(), rows, across: tables, running })
    }

    /// Returns the table.
    pub(crate) fn table(&self) -> &DynamicTable {
        &self.table
    }

    /// Returns what `read` makes of the next row that the query finds.
    pub(crate) fn next_by<T>(
        &mut self,
        mut read: impl FnMut(&Reading<'_>, &RowView<'_>) -> Result<T>,
    ) -> Option<Result<T>> {
        if let Some((reading, view)) = self.next_plain() {
            return match read(&reading, &view) {
                Err(error) => Some(Err(self.failed(error))),
                read => Some(read),
            };
        }
        let mut found = None;
        let next = self.next(&mut |reading, view| {
            found = Some(read(reading, view)?);
            Ok(())
        });
        made(next, found)
    }

    /// Returns the next row that the query finds, if it is as most are: of the one table, of one scan range, and read ahead.
    /// Otherwise nothing is taken, and [`next`](Self::next) gives it.
    // A build that is not optimized has this once; in others it is made where the row is read.
    #[cfg_attr(
        not(debug_assertions),
        expect(clippy::inline_always, reason = "for each row, a call costs as much as what it does"),
        inline(always)
    )]
    pub(crate) fn next_plain(&mut self) -> Option<(Reading<'_>, ManuallyDrop<RowView<'_>>)> {
        if !self.across.is_empty() {
            return None;
        }
        let snapshot = self.snapshot.borrow();
        let (selection, view) = self.rows.next_plain(snapshot.read_snapshot())?;
        self.running.add(1);
        Some((Reading { snapshot, table: &self.table, selection }, view))
    }

    /// Returns the error of a row that [`next_plain`](Self::next_plain) has given, and that can't be read.
    #[cold]
    pub(crate) fn failed(&mut self, error: Error) -> Error {
        self.rows.failed(&error);
        self.running.failed(error.kind());
        located(&self.table, error)
    }

    /// Gives `read` the next row that the query finds.
    #[inline(never)]
    pub(crate) fn next(&mut self, read: &mut ReadRow<'_>) -> Option<Result<()>> {
        let (snapshot, table, across) = (self.snapshot.borrow(), &self.table, &*self.across);
        self.running.check_slow();
        let next = {
            let _entered = self.running.enter();
            self.rows.next(snapshot.read_snapshot(), &mut |selection, view| {
                // Rows are mostly of one table.
                let table =
                    if across.is_empty() { table } else { Across::table(across, view).unwrap_or(table) };
                read(&Reading { snapshot, table, selection }, view)
            })
        };
        match next {
            Some(Err(error)) => {
                self.running.failed(error.kind());
                Some(Err(located(table, error)))
            }
            next => {
                self.running.add(u64::from(next.is_some()));
                next
            }
        }
    }

    /// Returns what `read` makes of the next row, and the place behind it where a page of the query can begin.
    #[cfg(feature = "async")]
    pub(crate) fn next_and_place<T>(
        &mut self,
        mut read: impl FnMut(&Reading<'_>, &RowView<'_>) -> Result<T>,
    ) -> (Option<Result<T>>, Option<Continuation>) {
        let (mut found, mut keys) = (None, None);
        let next = self.next(&mut |reading, view| {
            let (partition, row) = view.keys();
            keys = Some((partition.into_owned(), row.into_owned()));
            found = Some(read(reading, view)?);
            Ok(())
        });
        let place = keys.and_then(|(partition, row)| self.place(&partition, &row));
        (made(next, found), place)
    }

    /// Returns the place behind a row. Rows of several tables have none.
    #[cfg(feature = "async")]
    fn place(&self, partition: &str, row: &str) -> Option<Continuation> {
        if !self.across.is_empty() {
            return None;
        }
        // A token is bound to its query by what alone the store makes; that of a page of one row is.
        let (snapshot, ranges) = (self.snapshot.borrow(), self.rows.scan_ranges().clone());
        let first = PageBudget::from(1);
        let token =
            snapshot.visit_page(&self.table, ranges, first, None, &mut |_, _| Ok(ControlFlow::Continue(())));
        Some(token.ok()??.moved_to(partition, row, self.rows.remaining()))
    }

    /// Counts the rows that are left, and looks at none.
    pub(crate) fn count_rest(&mut self) -> Result<u64> {
        let (snapshot, table) = (self.snapshot.borrow(), &self.table);
        let mut count = 0;
        while self
            .rows
            .skip(snapshot.read_snapshot())
            .transpose()
            .map_err(|error| located(table, error))?
            .is_some()
        {
            count += 1;
        }
        Ok(count)
    }
}

#[cold]
fn located(table: &DynamicTable, error: Error) -> Error {
    telemetry::failed(table.exec(), error.kind());
    error.attempted("query").table(table.name())
}

/// The entities that a query finds, in order: an iterator that owns its snapshot.
///
/// It may be kept, moved to another thread and dropped at any time. While it lives, the space of what is
/// overwritten can't be used again, so don't keep it for long. After an error it ends.
#[must_use = "an iterator does nothing until it is used"]
pub struct Rows(BufferedScan);

impl Rows {
    pub(crate) fn new(table: &DynamicTable, query: &Query) -> Result<Self> {
        table.buffered_scan(query).map(Self)
    }
}

impl Iterator for Rows {
    type Item = Result<DynamicEntity>;

    fn next(&mut self) -> Option<Result<DynamicEntity>> {
        self.0.next_by(|reading, view| reading.selection.entity(view))
    }
}

impl std::iter::FusedIterator for Rows {}

#[cfg(feature = "async")]
impl Resumable for Rows {
    type Row = DynamicEntity;

    fn next_and_place(&mut self) -> (Option<Result<DynamicEntity>>, Option<Continuation>) {
        self.0.next_and_place(|reading, view| reading.selection.entity(view))
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("table", &self.0.table().name()).finish_non_exhaustive()
    }
}

/// The entities that a query finds, as views into a snapshot.
///
/// What [`select`](Query::select) leaves out is not hidden: a view decodes only what it is asked for anyway.
#[must_use = "an iterator does nothing until it is used"]
pub struct Views<'s> {
    rows: Box<dyn InPlace<'s> + 's>,
    table: DynamicTable,
    ended: bool,
    running: RunningQuery,
}

impl<'s> Views<'s> {
    pub(crate) fn new(rows: Box<dyn InPlace<'s> + 's>, table: DynamicTable, running: RunningQuery) -> Self {
        Self { rows, table, ended: false, running }
    }

    /// Returns the next row: [`next`](Iterator::next), in the form in which the rows give it.
    pub(crate) fn next_row(&mut self) -> Result<Option<RowView<'s>>> {
        if self.ended {
            return Ok(None);
        }
        let next = self.rows.next();
        if let Ok(Some(_)) = &next {
            self.running.add(1);
            return next;
        }
        self.ended = true;
        next.map_err(|error| {
            self.running.failed(error.kind());
            located(&self.table, error)
        })
    }
}

impl<'s> Iterator for Views<'s> {
    type Item = Result<RowView<'s>>;

    fn next(&mut self) -> Option<Result<RowView<'s>>> {
        self.next_row().transpose()
    }
}

impl std::iter::FusedIterator for Views<'_> {}

impl fmt::Debug for Views<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Views").field("ended", &self.ended).finish_non_exhaustive()
    }
}

/// The entities that a query finds in a snapshot.
#[must_use = "an iterator does nothing until it is used"]
#[derive(Debug)]
pub struct SnapshotRows<'s>(Views<'s>);

impl<'s> SnapshotRows<'s> {
    pub(crate) fn new(views: Views<'s>) -> Self {
        Self(views)
    }
}

impl Iterator for SnapshotRows<'_> {
    type Item = Result<DynamicEntity>;

    fn next(&mut self) -> Option<Result<DynamicEntity>> {
        let view = self.0.next()?;
        let entity = view.and_then(|view| {
            let entity = self.0.rows.selection().entity(&view);
            entity.map_err(|error| located(&self.0.table, error))
        });
        Some(entity)
    }
}

impl std::iter::FusedIterator for SnapshotRows<'_> {}
