//! Cursors, pages and rows in place for executors that have no more than rows: a service, or a map.

use super::range_query::{self, RangeQuery};
use super::{InPlace, Kept, MergeIter, ReadSnapshot, RowCursor, ScanRanges, TakeEach};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::query::{Continuation, Position};
use crate::row::selection::Selection;
use crate::row::view::RowView;

/// Begins a cursor over the rows that a scan range asks for.
pub type Begin<'b> = &'b mut dyn FnMut(RangeQuery) -> Box<dyn RowCursor>;

/// Begins a cursor for each scan range of the table of this number.
pub fn cursors(scan_ranges: &ScanRanges, table: u32, begin: Begin<'_>) -> Result<Vec<Box<dyn RowCursor>>> {
    Ok(scan_ranges.range_queries(table)?.into_iter().map(begin).collect())
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
    /// How many rows the page has at most.
    pub size: usize,
    /// Where the page before ended; `None` for the first one.
    pub after: Option<&'a Continuation>,
}

/// What the token of a page says besides the row that it goes on behind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenSpec {
    /// Binds the token to its query.
    pub(crate) fingerprint: u64,
    /// Whether the query is limited: the token then says how many rows may still come.
    pub(crate) is_limited: bool,
}

/// Gives `each` the rows of a page, and returns where the next one starts, if there is more.
pub fn page(
    snapshot: &dyn ReadSnapshot,
    scan_ranges: ScanRanges,
    request: PageRequest<'_>,
    begin: Begin<'_>,
    each: TakeEach<'_>,
) -> Result<Option<Continuation>> {
    let PageRequest { table, store, size, after } = request;
    if !(1..=limits::PAGE_ENTITIES).contains(&size) {
        return Err(page_size(size));
    }
    let mut asked = scan_ranges.range_queries(table)?;
    let mut remaining = scan_ranges.wanted();
    let fingerprint = range_query::fingerprint(range_query::plans(&asked), table, store);
    let token = TokenSpec { fingerprint, is_limited: remaining < u64::MAX };
    if let Some(last) = after {
        let Position { partition, row, remaining: left } = last.resume(fingerprint)?;
        range_query::go_on(&scan_ranges, &mut asked, table, partition, row)?;
        remaining = left.unwrap_or(u64::MAX);
    }
    let cursors = asked.into_iter().map(begin).collect();
    let rows = MergeIter::new(scan_ranges, cursors).at_most(remaining);
    default_page(snapshot, rows, token, size, each)
}

/// Gives `each` the next `size` of these rows, and returns the token of the page behind them, if there is more.
pub(crate) fn default_page(
    snapshot: &dyn ReadSnapshot,
    mut rows: MergeIter,
    spec: TokenSpec,
    size: usize,
    each: TakeEach<'_>,
) -> Result<Option<Continuation>> {
    let (mut taken, mut last) = (0, (String::new(), String::new()));
    while taken < size {
        let next = rows.next(snapshot, &mut |selection, view| {
            each(selection, view)?;
            let (partition, row) = view.keys();
            last = (partition.into_owned(), row.into_owned());
            Ok(())
        });
        match next {
            None => return Ok(None),
            Some(done) => done?,
        }
        taken += 1;
    }
    let remaining = rows.remaining();
    if rows.skip(snapshot).transpose()?.is_none() {
        return Ok(None);
    }
    let remaining = spec.is_limited.then_some(remaining);
    let position = Position { partition: &last.0, row: &last.1, remaining };
    Ok(Some(Continuation::new(position, spec.fingerprint)))
}

/// Returns the error of a page of too many entities, or of none.
#[cold]
pub fn page_size(size: usize) -> Error {
    Error::new(ErrorKind::InvalidQuery)
        .because(format!("a page has 1 to {} entities, not {size}", limits::PAGE_ENTITIES))
}
