//! A query on its way through a table: the rows of its range, and which of them it wants.

pub(crate) mod cursor;
pub(crate) mod filtered;
pub(crate) mod read;
pub(crate) mod scan_ranges;

use std::sync::Arc;

use lmdb_verify::{Entry, LeafWalk, SnapshotPages, WalkedLeaf};
use table_engine::error::{Error, ErrorKind, Result};
use table_engine::query::{self, Predicate, Query, QueryPlan};
use table_engine::row::dict::Dict;
use table_engine::row::key::{self, StoredRange};
use table_engine::row::kind::KindTest;
use table_engine::row::selection::Selection;
use table_engine::row::view::{self, RowView};
use table_engine::row::{self, Row};
use table_engine::sealing::sign;
use table_engine::telemetry::Tally;

use self::filtered::{Column, Filtered};
use crate::lmdb::{self, ReadTxn};
use crate::records::catalog::TableState;
use crate::records::counts::Counts;
use crate::state::StoreState;

/// A query on a table, and how far it has come.
pub(crate) struct Scan {
    pub(crate) plan: QueryPlan,
    pub(crate) table: Arc<TableState>,
    /// The stored keys between which the rows lie: first, and first beyond. None if there can be no row.
    pub(crate) range: Option<StoredRange>,
    dict: Arc<Dict>,
    /// Whether a row without a keyed digest may be of a kind that has one. A query of one kind looks at its own rows alone.
    asks_for_digests: bool,
    /// The test of a row's kind, for queries of one kind.
    kind: Option<KindTest>,
    /// The shape of rows that are wanted whatever they hold.
    plain_shape: Option<u16>,
    /// The filter's properties.
    columns: Vec<Column>,
    selection: Arc<Selection>,
    /// How many entities are still wanted.
    pub(crate) remaining: u64,
    pub(crate) verify: bool,
    /// The counts that a scan of the whole table must come to; `None` for any other scan.
    expected: Option<Counts>,
    seen: Counts,
    /// The rows that it has looked at.
    pub(crate) looked: Tally,
}

/// A row that a scan has found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found<'t> {
    pub(crate) key: &'t [u8],
    pub(crate) row: Row<'t>,
}

impl Scan {
    pub(crate) fn new(
        inner: &StoreState,
        txn: &heed::RoTxn<'_>,
        table: &Arc<TableState>,
        query: &Query,
    ) -> Result<Self> {
        let plan = query::plan(query)?;
        table.check_exists(&inner.environment.dbs, txn)?;
        let range = key::range(table.id, &plan);
        let remaining = plan.top.map_or(u64::MAX, |top| u64::try_from(top).unwrap_or(u64::MAX));
        let mut expected = None;
        let verify = inner.environment.options.verify_reads;
        if verify && range.is_some() && plan.reads_all() {
            expected = Some(Counts::read(inner.environment.dbs.main, txn, table.id)?);
        }
        let mut scan = Self {
            plan,
            table: table.clone(),
            range,
            dict: table.dict(),
            asks_for_digests: false,
            kind: None,
            plain_shape: None,
            columns: Vec::new(),
            selection: Selection::whole(),
            remaining,
            verify,
            expected,
            seen: Counts::default(),
            looked: inner.telemetry.rows_read(),
        };
        scan.looked.planned(&scan.plan);
        scan.number_columns();
        Ok(scan)
    }

    /// Looks up the properties that the query names.
    fn number_columns(&mut self) {
        let dict = &*self.dict;
        self.kind = self.plan.kind.map(|kind| KindTest::new(dict, kind));
        self.asks_for_digests = self.kind.is_none() && self.table.signs_some();
        let is_plain = !self.plan.is_filtered() && self.plan.kind.is_some_and(|kind| !kind.is_signed);
        self.plain_shape = self.kind.as_ref().and_then(KindTest::shape).filter(|_| is_plain);
        let keys = self.plan.kind.map(|kind| kind.keys);
        let names = self.plan.predicate.as_ref().map_or(&[][..], Predicate::names);
        self.columns = names.iter().map(|name| Column::given(keys, dict, name)).collect();
        if let Some(names) = &self.plan.select {
            self.selection = Arc::new(Selection::new(Some(names), dict));
        }
    }

    /// Returns the next row that the query wants.
    pub(crate) fn next<'t>(
        &mut self,
        inner: &StoreState,
        txn: &'t heed::RoTxn<'_>,
        rows: &mut Rows<'t>,
    ) -> Result<Option<Found<'t>>> {
        while self.remaining > 0 {
            let Some((key, bytes)) = rows.next(self.range.as_ref())? else {
                self.end()?;
                return Ok(None);
            };
            if self.accepts_fast_path(key, bytes) {
                let row = Row::parse(bytes).map_err(|e| key::locate(e.into(), key))?;
                return Ok(Some(Found { key, row }));
            }
            if let Some(found) = self.take(inner, txn, key, bytes)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Takes the next row of the range if there is nothing to look at but its shape and its checksum, and says whether it did.
    /// Otherwise [`take`](Self::take) does.
    #[inline]
    pub(crate) fn accepts_fast_path(&mut self, key: &[u8], bytes: &[u8]) -> bool {
        let Some(shape) = self.plain_shape else { return false };
        if !row::fits_fast_path(bytes, shape, self.verify.then_some(key)) {
            return false;
        }
        if self.expected.is_some() {
            let sum = bytes.last_chunk().map_or(0, |sum| u64::from_le_bytes(*sum));
            self.seen.add(key.len() + bytes.len(), sum);
        }
        self.remaining -= 1;
        self.looked.add(1);
        true
    }

    /// Takes the next row of the range, and gives it back if the query wants it.
    #[inline]
    pub(crate) fn take<'t>(
        &mut self,
        inner: &StoreState,
        txn: &heed::RoTxn<'_>,
        key: &'t [u8],
        bytes: &'t [u8],
    ) -> Result<Option<Found<'t>>> {
        self.looked.add(1);
        let row = Row::parse(bytes).map_err(|e| key::locate(e.into(), key))?;
        // A row of the kind needs no look for its text: the dictionary has it.
        let of_kind = self.kind.as_ref().is_some_and(|kind| kind.stands_first(&row));
        if !(of_kind && view::covers_names(&self.dict, &row) || view::covers(&self.dict, &row)) {
            self.dict =
                self.table.reload_for(&inner.environment.dbs, txn, &row).map_err(|e| key::locate(e, key))?;
            self.number_columns();
        }
        if self.verify {
            row.verify(row::key_seed(key)).map_err(|e| key::locate(e.into(), key))?;
        }
        if row.is_signed() || self.asks_for_digests {
            self.table.check_genuine(&self.lend(Found { key, row }))?;
        }
        if self.expected.is_some() {
            self.seen.add(key.len() + bytes.len(), row.checksum());
        }
        if let Some(kind) = &self.kind
            && !of_kind
            && !kind.holds(&row, &self.dict).map_err(|e| key::locate(e.into(), key))?
        {
            return self.take_other(Found { key, row });
        }
        let found = Found { key, row };
        if self.plan.kind.is_some_and(|kind| kind.is_signed) && !row.is_signed() {
            return Err(sign::unsigned(&self.lend(found)));
        }
        if self.plan.is_filtered() && !self.accepts(found)? {
            return Ok(None);
        }
        self.remaining -= 1;
        Ok(Some(found))
    }

    /// Takes a row of another kind, or of another version of the kind, and gives it back if the query wants it.
    #[cold]
    #[inline(never)]
    fn take_other<'t>(&mut self, found: Found<'t>) -> Result<Option<Found<'t>>> {
        let Some(kind) = self.plan.kind else { return Ok(None) };
        if !self.plan.accepts_other(kind, &self.lend(found))? {
            return Ok(None);
        }
        self.remaining -= 1;
        Ok(Some(found))
    }

    /// Returns whether the query's reader may not see a row: to the reader it is not there, so it counts for nothing and no
    /// page ends at it.
    #[inline]
    pub(crate) fn hides(&self, key: &[u8], bytes: &[u8]) -> Result<bool> {
        if !self.plan.is_narrowed() {
            return Ok(false);
        }
        let row = Row::parse(bytes).map_err(|e| key::locate(e.into(), key))?;
        self.plan.shows(&self.lend(Found { key, row })).map(|shows| !shows)
    }

    /// Returns whether the filter accepts a row.
    fn accepts(&self, found: Found<'_>) -> Result<bool> {
        let view = self.lend(found);
        if !self.plan.shows(&view)? {
            return Ok(false);
        }
        self.plan.check_filter(&view)?;
        let keys = self.plan.kind.map(|kind| kind.keys);
        self.plan.accepts(&Filtered { view: &view, slots: &self.columns, keys })
    }

    /// Returns a view of a row that the scan has found, which may outlive the scan.
    pub(crate) fn view<'t>(&self, found: Found<'t>) -> RowView<'t> {
        RowView::new(found.key, found.row, self.dict.clone(), self.verify)
    }

    /// Returns a view of a row that the scan has found, which borrows from the scan.
    #[inline]
    pub(crate) fn lend<'t>(&'t self, found: Found<'t>) -> RowView<'t> {
        RowView::new(found.key, found.row, &*self.dict, self.verify)
    }

    /// Goes on after a row, or at it.
    pub(crate) fn go_on(&mut self, row: Vec<u8>, is_after: bool) {
        self.range = key::range_from(self.table.id, &self.plan, row, is_after);
        self.expected = None;
    }

    /// Checks, at the end of the range, that a scan of the whole table saw the rows that were counted.
    pub(crate) fn end(&self) -> Result<()> {
        match self.expected {
            Some(expected) if expected != self.seen => Err(Error::new(ErrorKind::Corrupt).because(format!(
                "the scan came to {} entities and the table counts {}, or they are not the same ones: \
                 a page of the store is damaged",
                self.seen.entities, expected.entities
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the properties that are selected of the rows.
    pub(crate) fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Returns what is needed to read the rows: their dictionary, and the properties that are selected.
    pub(crate) fn read_by(&self) -> (&Arc<Dict>, &Arc<Selection>) {
        (&self.dict, &self.selection)
    }
}

/// A key and its row.
type Pair<'t> = (&'t [u8], &'t [u8]);

/// The rows of a scan's range.
pub(crate) struct Rows<'t> {
    pages: SnapshotPages<'t>,
    /// `None` if there can be no row.
    walk: Option<LeafWalk>,
    /// The leaf that the walk is on.
    on: Option<WalkedLeaf<'t>>,
}

impl<'t> Rows<'t> {
    pub(crate) fn new(inner: &'t StoreState, txn: &'t ReadTxn<'static>, scan: &Scan) -> Result<Self> {
        let pages = pages(inner, txn, scan);
        let walk =
            |range: &StoredRange| pages.walk(&*range.0..&*range.1, scan.plan.reverse).map_err(lmdb::damage);
        Ok(Self { pages, walk: scan.range.as_ref().map(walk).transpose()?, on: None })
    }

    /// Returns the next row of the scan's range.
    #[inline]
    pub(crate) fn next(&mut self, range: Option<&StoredRange>) -> Result<Option<Pair<'t>>> {
        let Self { pages, walk, on } = self;
        let (Some(walk), Some((start, end))) = (walk, range) else { return Ok(None) };
        if let Some(row) = on.and_then(|leaf| walk.next_of(*pages, leaf)) {
            return row.map(|Entry { key, bytes, .. }| Some((key, bytes))).map_err(lmdb::damage);
        }
        *on = walk.leaf(*pages, start..end).map_err(lmdb::damage)?;
        let row = on.and_then(|leaf| walk.next_of(*pages, leaf)).transpose().map_err(lmdb::damage)?;
        Ok(row.map(|Entry { key, bytes, .. }| (key, bytes)))
    }
}

/// Returns the pages that a scan walks over in place.
pub(crate) fn pages<'t>(inner: &'t StoreState, txn: &'t ReadTxn<'static>, scan: &Scan) -> SnapshotPages<'t> {
    SnapshotPages::of(
        &inner.environment.reader,
        txn,
        if scan.verify { Some(read::verify_entry) } else { None },
    )
}
