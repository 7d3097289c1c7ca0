//! Moments of a map, and walks over its rows.

use std::ops::Bound;
use std::sync::Arc;
use std::time::{Duration, Instant};

use table_engine::__executor::{
    self as executor, Batch, InPlace, Kept, LayoutTexts, Layouts, PageRequest, RangeQuery, ReadSnapshot,
    RowCursor, RowView, ScanRanges, TableExec, VisitEach,
};
use table_engine::model::EntityKeys;
use table_engine::query::PageBudget;
use table_engine::{Continuation, ErrorKind, Result};

use super::request::RequestWalk;
use super::table::{MapTable, pack};
use super::{MapStore, Rows, TableEntry, commit, now, own};

/// Tells a token of a map from that of other stores.
pub(super) const TAG: u64 = 0x6d61_7073;

/// The rows as they were at one moment, or as they are.
pub(super) struct MapMoment {
    store: Arc<MapStore>,
    /// `None` where the store has no snapshots: each read is of the rows that are there when it is made.
    then: Option<(Arc<Rows>, usize)>,
    kept: Kept,
    taken: Instant,
}

impl MapMoment {
    pub(super) fn new(store: Arc<MapStore>) -> Self {
        let then = store.abilities.snapshot.then(|| store.now());
        Self { store, then, kept: Kept::default(), taken: now() }
    }

    /// Returns the rows that a read sees, and the number of their state.
    fn seen(&self) -> (Arc<Rows>, usize) {
        self.then.clone().unwrap_or_else(|| self.store.now())
    }

    pub(super) fn begin<'m>(
        &'m self,
        table: &'m MapTable,
    ) -> impl FnMut(RangeQuery) -> Box<dyn RowCursor> + use<'m> {
        |asked| {
            let (table, page) = (table.entry.clone(), self.store.page);
            if self.store.is_service {
                return Box::new(RequestWalk::new(asked, self.store.clone(), table));
            }
            let (rows, _) = self.seen();
            Box::new(MapWalk { asked, rows, table, last: None, page })
        }
    }
}

impl ReadSnapshot for MapMoment {
    fn has(&self, table: &dyn TableExec) -> bool {
        own(table).is_ok_and(|table| Arc::ptr_eq(&table.store, &self.store))
    }

    fn state(&self) -> usize {
        self.seen().1
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
        let (rows, _) = self.seen();
        let found = rows.get(&executor::stored_key(entry.id, keys.partition, keys.row));
        let Some(row) = found else { return Ok(None) };
        let full = || executor::error(ErrorKind::InvalidQuery, "the snapshot can keep no more rows");
        self.kept.keep(pack(entry, row)?).ok_or_else(full)?.view().map(Some)
    }

    fn layouts(&self, table: &dyn TableExec) -> Result<LayoutTexts> {
        own(table)?.layouts()
    }

    fn digest(&self, table: &dyn TableExec, partition: &str, prefix: &str) -> Result<u64> {
        Ok(commit::digest(&self.seen().0, own(table)?.entry.id, partition, prefix))
    }

    fn cursors(&self, table: &dyn TableExec, scan_ranges: &ScanRanges) -> Result<Vec<Box<dyn RowCursor>>> {
        let table = own(table)?;
        executor::cursors(scan_ranges, table.entry.id, &mut self.begin(table))
    }

    fn views<'s>(
        &'s self,
        table: &dyn TableExec,
        scan_ranges: ScanRanges,
    ) -> Result<Box<dyn InPlace<'s> + 's>> {
        let table = own(table)?;
        executor::views(self, &self.kept, scan_ranges, table.entry.id, &mut self.begin(table))
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
        let request = PageRequest { table: table.entry.id, store: TAG, budget, after };
        executor::page(self, scan_ranges, request, &mut self.begin(table), each)
    }
}

/// A walk over the rows that a lane asks for, a page at a time.
struct MapWalk {
    asked: RangeQuery,
    rows: Arc<Rows>,
    table: Arc<TableEntry>,
    /// The key of the row that was looked at last.
    last: Option<Vec<u8>>,
    page: usize,
}

impl RowCursor for MapWalk {
    fn fill(&mut self, _: &dyn ReadSnapshot, batch: &mut Batch) -> Result<()> {
        batch.begin(0, 0);
        let filled = self.read_on(batch);
        batch.read_by_names(&self.table.names, &self.asked);
        filled
    }
}

impl MapWalk {
    fn read_on(&mut self, batch: &mut Batch) -> Result<()> {
        let rows = self.rows.clone();
        let Some((start, end)) = self.asked.range() else {
            batch.end();
            return Ok(());
        };
        let last = self.last.as_deref();
        let range = match (self.asked.is_reverse(), last) {
            (_, None) => (Bound::Included(start), Bound::Excluded(end)),
            (false, Some(last)) => (Bound::Excluded(last), Bound::Excluded(end)),
            (true, Some(last)) => (Bound::Included(start), Bound::Excluded(last)),
        };
        let mut found = rows.range::<[u8], _>(range);
        let mut next = || if self.asked.is_reverse() { found.next_back() } else { found.next() };
        let mut last = None;
        while batch.len() < self.page {
            let Some((key, row)) = next() else {
                batch.end();
                break;
            };
            last = Some(key);
            let packed = pack(&self.table, row)?;
            if self.asked.wants(&packed.view()?)? {
                batch.put_packed(&packed);
            }
        }
        self.last = last.cloned();
        Ok(())
    }
}
