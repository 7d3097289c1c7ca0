//! Reads: each sees what is there when it is made.

use std::sync::Arc;
use std::time::{Duration, Instant};

use table_engine::__executor::{
    self as seam, InPlace, Kept, LayoutTexts, PageRequest, PeriodsSeen, Position, RangeQuery, ReadSnapshot,
    RowCursor, RowView, ScanRanges, StepRequest, StepSize, TableExec, TakeEach, VisitEach,
};
use table_engine::model::EntityKeys;
use table_engine::query::PageBudget;
use table_engine::schema::{IndexStates, PeriodTables, Schema};
use table_engine::{Continuation, ErrorKind, Result, Ticks};

use super::cursor::AzureCursor;
use super::table::AzureTable;
use super::{AzureStore, TAG, masks, own};

/// The rows that a scan asks for first: as many as one page of the service has.
const SCAN: usize = 1_000;

/// What the engine reads from. The service has no snapshots.
pub(super) struct AzureSnapshot {
    store: Arc<AzureStore>,
    kept: Kept,
    taken: Instant,
}

impl AzureSnapshot {
    pub(super) fn new(store: Arc<AzureStore>) -> Self {
        Self { store, kept: Kept::default(), taken: Instant::now() }
    }
}

/// Returns what begins a walk over a table, which will be asked for so many rows first.
pub(super) fn begin(
    table: &AzureTable,
    first: usize,
) -> impl FnMut(RangeQuery) -> Box<dyn RowCursor> + use<'_> {
    move |asked| Box::new(AzureCursor::new(table.store.clone(), table.entry.clone(), asked, first))
}

impl ReadSnapshot for AzureSnapshot {
    fn has(&self, table: &dyn TableExec) -> bool {
        own(table).is_ok_and(|table| Arc::ptr_eq(&table.store, &self.store))
    }

    fn state(&self) -> usize {
        0
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
        let Some(row) = own(table)?.find(keys.partition, keys.row)? else { return Ok(None) };
        let full = || seam::error(ErrorKind::InvalidQuery, "the snapshot can keep no more rows");
        self.kept.keep(row).ok_or_else(full)?.view().map(Some)
    }

    fn follows(&self, table: &dyn TableExec, keys: EntityKeys<'_>) -> Result<bool> {
        self.store.has_entry(own(table)?, keys)
    }

    fn layouts(&self, table: &dyn TableExec) -> Result<LayoutTexts> {
        Ok(own(table)?.noted_now()?.texts.clone())
    }

    fn check_index(&self, table: &dyn TableExec, schema: &'static Schema, index: usize) -> Result<()> {
        let table = own(table)?;
        if table.index_mask(schema, false)?.is_ready(index) {
            Ok(())
        } else {
            Err(table.unread(schema, index, self.state()))
        }
    }

    fn check_rows(&self, table: &dyn TableExec, schema: &'static Schema, as_stored: bool) -> Result<()> {
        masks::check_rows(&*own(table)?.noted()?, schema, as_stored)
    }

    fn index_states(&self, table: &dyn TableExec, kind: &str) -> Result<Option<IndexStates>> {
        Ok(Some(own(table)?.noted()?.shown(kind)))
    }

    fn cursors(&self, table: &dyn TableExec, scan_ranges: &ScanRanges) -> Result<Vec<Box<dyn RowCursor>>> {
        let table = own(table)?;
        seam::cursors(scan_ranges, table.entry.id(), &mut begin(table, SCAN))
    }

    fn periods(
        &self,
        tables: &'static PeriodTables,
        _: Option<&Arc<PeriodsSeen>>,
    ) -> Result<Arc<PeriodsSeen>> {
        self.store.periods_of(tables).map(Arc::new)
    }

    fn period(
        &self,
        tables: &'static PeriodTables,
        start: Ticks,
    ) -> Result<Result<Arc<dyn TableExec>, Ticks>> {
        self.store.period_of(tables, start)
    }

    /// A walk of several tables begins in each behind the row at which the page ended in one of them.
    fn cursors_after(
        &self,
        table: &dyn TableExec,
        scan_ranges: &ScanRanges,
        last: EntityKeys<'_>,
    ) -> Result<Vec<Box<dyn RowCursor>>> {
        let table = own(table)?;
        seam::cursors_after(scan_ranges, table.entry.id(), last, &mut begin(table, SCAN))
    }

    fn views<'s>(
        &'s self,
        table: &dyn TableExec,
        scan_ranges: ScanRanges,
    ) -> Result<Box<dyn InPlace<'s> + 's>> {
        let table = own(table)?;
        seam::views(self, &self.kept, scan_ranges, table.entry.id(), &mut begin(table, SCAN))
    }

    fn page(
        &self,
        table: &dyn TableExec,
        scan_ranges: ScanRanges,
        budget: PageBudget,
        after: Option<&Continuation>,
        each: VisitEach<'_>,
    ) -> Result<Option<Continuation>> {
        let table = own(table)?;
        // One more, which tells whether there is another page.
        let first = budget.most_rows().saturating_add(1);
        let request = PageRequest { table: table.entry.id(), store: TAG, budget, after };
        seam::page(self, scan_ranges, request, &mut begin(table, first), each)
    }

    fn chunk(
        &self,
        table: &dyn TableExec,
        scan_ranges: ScanRanges,
        after: Option<&Position>,
        size: StepSize,
        each: TakeEach<'_>,
    ) -> Result<(Option<Position>, u64)> {
        let table = own(table)?;
        let request = StepRequest { table: table.entry.id(), after, size };
        seam::chunk(self, scan_ranges, request, &mut begin(table, SCAN), each)
    }
}
