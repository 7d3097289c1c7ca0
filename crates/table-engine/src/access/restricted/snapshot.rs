//! A snapshot of a restricted store.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use super::backend::RestrictedBackend;
use super::checks::{Check, is_on};
use super::table::{LimitedTable, discreet, limited};
use crate::contents::BlobId;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::Rights;
use crate::executor::{
    Batch, InPlace, LayoutTexts, OneSnapshotForEachThread, PeriodsSeen, Position, ReadSnapshot, RowCursor,
    ScanRanges, StepSize, TableExec, TakeEach, VisitEach,
};
use crate::model::{EntityKeys, Ticks};
use crate::query::{Continuation, PageBudget};
use crate::row::selection::Selection;
use crate::row::view::RowView;
use crate::schema::{IndexStates, PeriodTables, Schema};

/// A snapshot as an access shows it.
pub(super) struct RestrictedSnapshot {
    inner: Box<dyn OneSnapshotForEachThread>,
    store: Arc<RestrictedBackend>,
}

impl RestrictedSnapshot {
    pub(super) fn new(inner: Box<dyn OneSnapshotForEachThread>, store: Arc<RestrictedBackend>) -> Self {
        Self { inner, store }
    }

    /// Returns a row of a table that the access is to, if it is shown.
    pub(super) fn row(
        &self,
        table: &LimitedTable,
        keys: EntityKeys<'_>,
        trusted: bool,
    ) -> Result<Option<RowView<'_>>> {
        let Some(shown) = table.shown(&*self.inner)? else {
            return self.inner.get(&*table.inner, keys, trusted);
        };
        if !shown.may_have(keys.partition, keys.row) {
            return Ok(None);
        }
        let Some(row) = self.inner.get(&*table.inner, keys, trusted)? else { return Ok(None) };
        Ok(shown.shows(&row)?.then_some(row))
    }

    /// Returns the table to read, and what of it the scan ranges may read; `None` if the access is not to it.
    fn asked<'t>(
        &self,
        table: &'t dyn TableExec,
        scan_ranges: &ScanRanges,
    ) -> Result<Option<(&'t dyn TableExec, ScanRanges)>> {
        self.store.limits.check(Rights::READ)?;
        let table = limited(table)?;
        if !table.is_named() {
            return Ok(None);
        }
        let shown = table.shown(&*self.inner)?;
        let narrowed = match shown {
            Some(shown) => scan_ranges.narrowed(&shown.narrowed()),
            None => scan_ranges.clone(),
        };
        Ok(Some((&*table.inner, narrowed)))
    }

    fn wrapped(&self, cursors: Vec<Box<dyn RowCursor>>) -> Vec<Box<dyn RowCursor>> {
        let wrap =
            |inner| -> Box<dyn RowCursor> { Box::new(RestrictedCursor { inner, store: self.store.clone() }) };
        cursors.into_iter().map(wrap).collect()
    }
}

impl ReadSnapshot for RestrictedSnapshot {
    fn has(&self, table: &dyn TableExec) -> bool {
        limited(table)
            .is_ok_and(|table| Arc::ptr_eq(&table.store, &self.store) && self.inner.has(&*table.inner))
    }

    fn state(&self) -> usize {
        self.inner.state()
    }

    fn age(&self) -> Duration {
        self.inner.age()
    }

    fn get<'s>(
        &'s self,
        table: &dyn TableExec,
        keys: EntityKeys<'_>,
        trusted: bool,
    ) -> Result<Option<RowView<'s>>> {
        self.store.limits.check(Rights::READ)?;
        let table = limited(table)?;
        if table.is_named() { self.row(table, keys, trusted) } else { Ok(None) }
    }

    fn check_index(&self, table: &dyn TableExec, schema: &'static Schema, index: usize) -> Result<()> {
        self.inner.check_index(&*limited(table)?.inner, schema, index).map_err(|error| discreet(&error))
    }

    fn check_rows(&self, table: &dyn TableExec, schema: &'static Schema, as_stored: bool) -> Result<()> {
        self.inner.check_rows(&*limited(table)?.inner, schema, as_stored).map_err(|error| discreet(&error))
    }

    fn follows(&self, table: &dyn TableExec, keys: EntityKeys<'_>) -> Result<bool> {
        self.store.limits.check(Rights::READ)?;
        let table = limited(table)?;
        let is_inside = self.store.limits.covers(table.inner.table_name(), keys);
        if is_inside { self.inner.follows(&*table.inner, keys) } else { Ok(false) }
    }

    fn content(&self, id: BlobId, length: usize) -> Result<Vec<u8>> {
        self.store.limits.check(Rights::READ)?;
        self.inner.content(id, length)
    }

    fn has_blob(&self, id: BlobId) -> Result<bool> {
        self.store.limits.check(Rights::READ)?;
        self.inner.has_blob(id)
    }

    fn digest(&self, _: &dyn TableExec, _: &str, _: &str) -> Result<u64> {
        Err(self.store.limits.never("compare rows that are not shown"))
    }

    fn layouts(&self, table: &dyn TableExec) -> Result<LayoutTexts> {
        self.inner.layouts(&*limited(table)?.inner)
    }

    /// Which entities are in the way of an index or of a conversion is not shown.
    fn index_states(&self, table: &dyn TableExec, kind: &str) -> Result<Option<IndexStates>> {
        self.store.limits.check_time()?;
        let states = self.inner.index_states(&*limited(table)?.inner, kind)?;
        Ok(states.map(IndexStates::without_entities))
    }

    fn cursors(&self, table: &dyn TableExec, scan_ranges: &ScanRanges) -> Result<Vec<Box<dyn RowCursor>>> {
        match self.asked(table, scan_ranges)? {
            Some((inner, narrowed)) => Ok(self.wrapped(self.inner.cursors(inner, &narrowed)?)),
            None => Ok(nothing(scan_ranges)),
        }
    }

    fn cursors_after(
        &self,
        table: &dyn TableExec,
        scan_ranges: &ScanRanges,
        last: EntityKeys<'_>,
    ) -> Result<Vec<Box<dyn RowCursor>>> {
        match self.asked(table, scan_ranges)? {
            Some((inner, narrowed)) => Ok(self.wrapped(self.inner.cursors_after(inner, &narrowed, last)?)),
            None => Ok(nothing(scan_ranges)),
        }
    }

    fn periods(
        &self,
        tables: &'static PeriodTables,
        _: Option<&Arc<PeriodsSeen>>,
    ) -> Result<Arc<PeriodsSeen>> {
        self.store.limits.check_time()?;
        let seen = self.inner.periods(tables, None)?;
        let named = seen.tables.iter().filter(|(_, table)| self.store.is_named(table.table_name()));
        let tables = named.map(|(start, table)| (*start, self.store.clone().table(table.clone()))).collect();
        let PeriodsSeen { generation, store, floor, .. } = *seen;
        Ok(Arc::new(PeriodsSeen { generation, store, floor, tables }))
    }

    fn lent(&self, page: u64, length: usize) -> Option<&[u8]> {
        self.inner.lent(page, length)
    }

    fn views<'s>(
        &'s self,
        table: &dyn TableExec,
        scan_ranges: ScanRanges,
    ) -> Result<Box<dyn InPlace<'s> + 's>> {
        match self.asked(table, &scan_ranges)? {
            Some((inner, narrowed)) => {
                let rows = self.inner.views(inner, narrowed)?;
                Ok(Box::new(RestrictedRows { inner: rows, store: &self.store }))
            }
            None => Ok(Box::new(NoRows)),
        }
    }

    fn page(
        &self,
        table: &dyn TableExec,
        scan_ranges: ScanRanges,
        budget: PageBudget,
        after: Option<&Continuation>,
        each: VisitEach<'_>,
    ) -> Result<Option<Continuation>> {
        match self.asked(table, &scan_ranges)? {
            Some((inner, narrowed)) => self.inner.page(inner, narrowed, budget, after, each),
            None => Ok(None),
        }
    }

    fn chunk(
        &self,
        table: &dyn TableExec,
        scan_ranges: ScanRanges,
        after: Option<&Position>,
        size: StepSize,
        each: TakeEach<'_>,
    ) -> Result<(Option<Position>, u64)> {
        if is_on(Check::Jobs) {
            return Err(self.store.limits.never("run jobs"));
        }
        self.inner.chunk(&*limited(table)?.inner, scan_ranges, after, size, each)
    }

    fn period(
        &self,
        tables: &'static PeriodTables,
        start: Ticks,
    ) -> Result<Result<Arc<dyn TableExec>, Ticks>> {
        self.store.limits.check_time()?;
        Ok(match self.inner.period(tables, start)? {
            Ok(table) if self.store.is_named(table.table_name()) => Ok(self.store.clone().table(table)),
            Ok(_) => Err(Ticks::MIN),
            Err(floor) => Err(floor),
        })
    }
}

/// Returns cursors over no rows.
fn nothing(scan_ranges: &ScanRanges) -> Vec<Box<dyn RowCursor>> {
    let none = |_| -> Box<dyn RowCursor> { Box::new(NoRows) };
    scan_ranges.queries().iter().map(none).collect()
}

/// A cursor that looks at the access before each batch, and gives the inner one its own snapshot.
struct RestrictedCursor {
    inner: Box<dyn RowCursor>,
    store: Arc<RestrictedBackend>,
}

impl RowCursor for RestrictedCursor {
    fn fill(&mut self, snapshot: &dyn ReadSnapshot, batch: &mut Batch) -> Result<()> {
        self.store.limits.check(Rights::READ)?;
        let snapshot: &dyn Any = snapshot;
        let snapshot: Option<&RestrictedSnapshot> = snapshot.downcast_ref();
        let of_another = || Error::new(ErrorKind::InvalidQuery).because("the cursor is of another snapshot");
        self.inner.fill(&*snapshot.ok_or_else(of_another)?.inner, batch)
    }
}

/// Rows in place, with a look at the access before each.
struct RestrictedRows<'s> {
    inner: Box<dyn InPlace<'s> + 's>,
    store: &'s RestrictedBackend,
}

impl<'s> InPlace<'s> for RestrictedRows<'s> {
    fn next(&mut self) -> Result<Option<RowView<'s>>> {
        self.store.limits.check(Rights::READ)?;
        self.inner.next()
    }

    fn selection(&self) -> &Selection {
        self.inner.selection()
    }
}

/// The rows of a table that the access is not to.
struct NoRows;

impl RowCursor for NoRows {
    fn fill(&mut self, _: &dyn ReadSnapshot, batch: &mut Batch) -> Result<()> {
        batch.end();
        Ok(())
    }
}

impl<'s> InPlace<'s> for NoRows {
    fn next(&mut self) -> Result<Option<RowView<'s>>> {
        Ok(None)
    }

    fn selection(&self) -> &Selection {
        static ALL: Selection = Selection::ALL;
        &ALL
    }
}
