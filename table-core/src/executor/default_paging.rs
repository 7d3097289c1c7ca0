//! Walks, pages and rows in place for executors that have no more than rows: a service, or a map.

use super::range_query::{self, RangeQuery};
use super::{InPlace, Kept, Lanes, Merged, Moment, TakeEach, Walk};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::query::{Continuation, Position};
use crate::row::selection::Selection;
use crate::row::view::RowView;

/// Begins a walk over the rows that a lane asks for.
pub type Begin<'b> = &'b mut dyn FnMut(RangeQuery) -> Box<dyn Walk>;

/// A walk for each lane of a table, which has this number.
pub fn walks(lanes: &Lanes, table: u32, begin: Begin<'_>) -> Result<Vec<Box<dyn Walk>>> {
    Ok(lanes.range_queries(table)?.into_iter().map(begin).collect())
}

/// The rows of all lanes, kept by the moment as they come.
pub fn views<'s>(
    moment: &'s dyn Moment,
    kept: &'s Kept,
    lanes: Lanes,
    table: u32,
    begin: Begin<'_>,
) -> Result<Box<dyn InPlace<'s> + 's>> {
    let walks = walks(&lanes, table, begin)?;
    Ok(Box::new(PagedRows { moment, kept, rows: Merged::new(lanes, walks) }))
}

/// Rows that are drawn out of walks.
struct PagedRows<'s> {
    moment: &'s dyn Moment,
    kept: &'s Kept,
    rows: Merged,
}

impl<'s> InPlace<'s> for PagedRows<'s> {
    fn next(&mut self) -> Result<Option<RowView<'s>>> {
        let Some(row) = self.rows.next_packed(self.moment).transpose()? else { return Ok(None) };
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
    moment: &dyn Moment,
    lanes: Lanes,
    (table, store): (u32, u64),
    (size, after): (usize, Option<&Continuation>),
    begin: Begin<'_>,
    each: TakeEach<'_>,
) -> Result<Option<Continuation>> {
    if !(1..=limits::PAGE_ENTITIES).contains(&size) {
        return Err(page_size(size));
    }
    let mut asked = lanes.range_queries(table)?;
    let (fingerprint, is_limited) =
        (range_query::fingerprint(range_query::plans(&asked), table, store), lanes.wanted() < u64::MAX);
    let mut remaining = lanes.wanted();
    if let Some(token) = after {
        let Position { partition, row, remaining: left } = token.resume(fingerprint)?;
        range_query::go_on(&lanes, &mut asked, table, (partition, row))?;
        remaining = left.unwrap_or(u64::MAX);
    }
    let walks = asked.into_iter().map(begin).collect();
    let rows = Merged::new(lanes, walks).at_most(remaining);
    default_page(moment, rows, (fingerprint, is_limited), size, each)
}

/// A page of these rows; its token is of this fingerprint, and says how many may still come if the query is limited.
pub(crate) fn default_page(
    moment: &dyn Moment,
    mut rows: Merged,
    (fingerprint, is_limited): (u64, bool),
    size: usize,
    each: TakeEach<'_>,
) -> Result<Option<Continuation>> {
    let (mut taken, mut last) = (0, (String::new(), String::new()));
    while taken < size {
        let next = rows.next(moment, &mut |selection, view| {
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
    if rows.skip(moment).transpose()?.is_none() {
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
