//! Cursors, pages and rows in place for executors that have no more than rows: a service, or a map.

use std::ops::ControlFlow;

use super::range_query::{self, RangeQuery};
use super::{InPlace, Kept, MergeIter, PageMeter, ReadSnapshot, RowCursor, ScanRanges, VisitEach};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::model::EntityKeys;
use crate::query::{Continuation, PageBudget, Position};
use crate::row::key::StoredKey;
use crate::row::selection::Selection;
use crate::row::view::RowView;

/// Begins a cursor over the rows that a scan range asks for.
pub type Begin<'b> = &'b mut dyn FnMut(RangeQuery) -> Box<dyn RowCursor>;

/// Begins a cursor for each scan range of the table of this number.
pub fn cursors(scan_ranges: &ScanRanges, table: u32, begin: Begin<'_>) -> Result<Vec<Box<dyn RowCursor>>> {
    Ok(scan_ranges.range_queries(table)?.into_iter().map(begin).collect())
}

/// Begins a cursor for each scan range of the table of this number, behind the row of these keys, which may be one of another table.
pub fn cursors_after(
    scan_ranges: &ScanRanges,
    table: u32,
    last: EntityKeys<'_>,
    begin: Begin<'_>,
) -> Result<Vec<Box<dyn RowCursor>>> {
    let mut asked = scan_ranges.range_queries(table)?;
    range_query::go_on(scan_ranges, &mut asked, table, last)?;
    Ok(asked.into_iter().map(begin).collect())
}

/// Returns the rows of all scan ranges, each kept by the snapshot as it comes.
pub fn views<'s>(
    snapshot: &'s dyn ReadSnapshot,
    kept: &'s Kept,
    scan_ranges: ScanRanges,
    table: u32,
    begin: Begin<'_>,
) -> Result<Box<dyn InPlace<'s> + 's>> {
    let cursors = cursors(&scan_ranges, table, begin)?;
    Ok(Box::new(PagedRows { snapshot, kept, rows: MergeIter::new(scan_ranges, cursors) }))
}

/// Rows that are taken out of cursors.
struct PagedRows<'s> {
    snapshot: &'s dyn ReadSnapshot,
    kept: &'s Kept,
    rows: MergeIter,
}

impl<'s> InPlace<'s> for PagedRows<'s> {
    fn next(&mut self) -> Result<Option<RowView<'s>>> {
        let Some(row) = self.rows.next_packed(self.snapshot).transpose()? else { return Ok(None) };
        match self.kept.keep(row) {
            Some(row) => row.view().map(Some),
            None => Err(Error::new(ErrorKind::InvalidQuery).because("the snapshot can keep no more rows")),
        }
    }

    fn selection(&self) -> &Selection {
        self.rows.selection()
    }
}

/// Which page of a table's rows is read.
#[derive(Clone, Copy, Debug)]
pub struct PageRequest<'a> {
    /// The number of the table.
    pub table: u32,
    /// Tells the store from others, so that they refuse its tokens.
    pub store: u64,
    /// How much the page may hold, and how much may be read for it.
    pub budget: PageBudget,
    /// Where the page before ended; `None` for the first one.
    pub after: Option<&'a Continuation>,
}

/// Gives `each` the rows of a page, and returns where the next one starts, if there is more.
pub fn page(
    snapshot: &dyn ReadSnapshot,
    scan_ranges: ScanRanges,
    request: PageRequest<'_>,
    begin: Begin<'_>,
    each: VisitEach<'_>,
) -> Result<Option<Continuation>> {
    let PageRequest { table, store, budget, after } = request;
    let meter = PageMeter::begin(&budget)?;
    let mut asked = scan_ranges.range_queries(table)?;
    let wanted = scan_ranges.wanted();
    let fingerprint = range_query::fingerprint(range_query::plans(&asked), table, store);
    let mut remaining = (wanted < u64::MAX).then_some(wanted);
    if let Some(last) = after {
        let Position { partition, row, remaining: left } = last.resume(fingerprint)?;
        range_query::go_on(&scan_ranges, &mut asked, table, EntityKeys::new(partition, row))?;
        remaining = left;
    }
    let mut tests = Vec::new();
    if !meter.counts_rows_alone() {
        // The rows that a filter leaves out count: so they are tested here, and not by the cursors.
        let unfiltered = asked.iter().map(RangeQuery::unfiltered).collect();
        tests = std::mem::replace(&mut asked, unfiltered);
    }
    let cursors = asked.into_iter().map(begin).collect();
    let rows = MergeIter::new(scan_ranges, cursors);
    DefaultPage { meter, fingerprint, remaining, tests }.read(snapshot, rows, each)
}

/// A page of rows that are taken out of cursors.
pub(crate) struct DefaultPage {
    pub(crate) meter: PageMeter,
    /// Binds the token to its query.
    pub(crate) fingerprint: u64,
    /// How many rows may still come, if the query is limited.
    pub(crate) remaining: Option<u64>,
    /// What tells which of the rows are wanted; empty where the cursors give no others.
    pub(crate) tests: Vec<RangeQuery>,
}

impl DefaultPage {
    /// Gives `each` the next of these rows, and returns the token of the page behind them, if there is more.
    pub(crate) fn read(
        mut self,
        snapshot: &dyn ReadSnapshot,
        rows: MergeIter,
        each: VisitEach<'_>,
    ) -> Result<Option<Continuation>> {
        // Rows that are not wanted are no part of the limit, which is seen to here.
        let (mut rows, mut last) = (rows.at_most(u64::MAX), Vec::new());
        while self.remaining != Some(0) {
            let (mut is_taken, mut flow) = (false, ControlFlow::Continue(()));
            let next = rows.next(snapshot, &mut |selection, view| {
                last.clear();
                last.extend_from_slice(view.stored_key_bytes());
                is_taken = self.wants(view)?;
                if is_taken {
                    flow = each(selection, view)?;
                }
                Ok(())
            });
            match next {
                None => return Ok(None),
                Some(done) => done?,
            }
            self.remaining = self.remaining.map(|remaining| remaining - u64::from(is_taken));
            self.meter.add(is_taken);
            if flow.is_break() || self.meter.is_spent() {
                return self.token(snapshot, rows, &last);
            }
        }
        Ok(None)
    }

    fn wants(&self, view: &RowView<'_>) -> Result<bool> {
        if self.tests.is_empty() {
            return Ok(true);
        }
        let test = self.tests.iter().find(|test| test.covers(view.stored_key_bytes()));
        test.map_or(Ok(false), |test| test.wants(view))
    }

    /// Returns the token of the page that ends behind a row, if there is more.
    fn token(
        &self,
        snapshot: &dyn ReadSnapshot,
        mut rows: MergeIter,
        last: &[u8],
    ) -> Result<Option<Continuation>> {
        if self.remaining == Some(0) || rows.skip(snapshot).transpose()?.is_none() {
            return Ok(None);
        }
        let unreadable = || Error::new(ErrorKind::Corrupt).because("the row's key can't be read");
        let (partition, row) = StoredKey::parse(last).and_then(|key| key.texts()).ok_or_else(unreadable)?;
        let position = Position { partition: &partition, row: &row, remaining: self.remaining };
        Ok(Some(Continuation::new(position, self.fingerprint)))
    }
}

/// Returns the error of a page of too many entities, or of none.
#[cold]
pub fn page_size(size: usize) -> Error {
    Error::new(ErrorKind::InvalidQuery)
        .because(format!("a page has 1 to {} entities, not {size}", limits::PAGE_ENTITIES))
}
