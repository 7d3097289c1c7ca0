//! Walks, pages and rows in place for executors that have no more than rows: a service, or a map.

use super::range_query::{self, RangeQuery};
use super::{InPlace, Kept, MergeIter, ReadSnapshot, RowCursor, ScanRanges, TakeEach};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::query::{Continuation, Position};
use crate::row::selection::Selection;
use crate::row::view::RowView;

/// Begins a walk over the rows that a scan range asks for.
pub type Begin<'b> = &'b mut dyn FnMut(RangeQuery) -> Box<dyn RowCursor>;

/// A walk for each scan range of a table, which has this number.
pub fn cursors(scan_ranges: &ScanRanges, table: u32, begin: Begin<'_>) -> Result<Vec<Box<dyn RowCursor>>> {
    Ok(scan_ranges.range_queries(table)?.into_iter().map(begin).collect())
}

/// The rows of all scan ranges, kept by the moment as they come.
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

/// Rows that are drawn out of walks.
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

/// A page of rows. `store` tells the store from others, so that its tokens are refused by them.
pub fn page(
    snapshot: &dyn ReadSnapshot,
    scan_ranges: ScanRanges,
    (table, store): (u32, u64),
    (size, after): (usize, Option<&Continuation>),
    begin: Begin<'_>,
    each: TakeEach<'_>,
) -> Result<Option<Continuation>> {
    if !(1..=limits::PAGE_ENTITIES).contains(&size) {
        return Err(page_size(size));
    }
    let mut asked = scan_ranges.range_queries(table)?;
    let (fingerprint, is_limited) =
        (range_query::fingerprint(range_query::plans(&asked), table, store), scan_ranges.wanted() < u64::MAX);
    let mut remaining = scan_ranges.wanted();
    if let Some(token) = after {
        let Position { partition, row, remaining: left } = token.resume(fingerprint)?;
        range_query::go_on(&scan_ranges, &mut asked, table, (partition, row))?;
        remaining = left.unwrap_or(u64::MAX);
    }
    let cursors = asked.into_iter().map(begin).collect();
    let rows = MergeIter::new(scan_ranges, cursors).at_most(remaining);
    default_page(snapshot, rows, (fingerprint, is_limited), size, each)
}

/// A page of these rows; its token is of this fingerprint, and says how many may still come if the query is limited.
pub(crate) fn default_page(
    snapshot: &dyn ReadSnapshot,
    mut rows: MergeIter,
    (fingerprint, is_limited): (u64, bool),
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
    let position = Position { partition: &last.0, row: &last.1, remaining: is_limited.then_some(remaining) };
    Ok(Some(Continuation::new(position, fingerprint)))
}

/// The error of a page of too many entities, or of none.
#[cold]
pub(crate) fn page_size(size: usize) -> Error {
    Error::new(ErrorKind::InvalidQuery)
        .because(format!("a page has 1 to {} entities, not {size}", limits::PAGE_ENTITIES))
}
