//! The rows of a job's steps, for executors that have no more than rows.

use super::default_paging::Begin;
use super::range_query::{self, RangeQuery};
use super::{EachRow, Looked, MergeIter, Position, ReadSnapshot, ScanRanges, StepSize, TakeEach};
use crate::error::{Error, ErrorKind, Result};
use crate::model::EntityKeys;
use crate::query::Query;
use crate::row::key::StoredKey;
use crate::row::selection::Selection;
use crate::row::view::RowView;

/// Which step of a job is read.
#[derive(Clone, Copy, Debug)]
pub struct StepRequest<'a> {
    /// The number of the table.
    pub table: u32,
    /// The row behind which the step begins; `None` for the first one.
    pub after: Option<&'a Position>,
    /// How much may be in it.
    pub size: StepSize,
}

/// What reads a row, with what of it is selected, and says whether the row is asked for.
type LookAt<'c> = &'c mut dyn FnMut(&Selection, &RowView<'_>) -> Result<bool>;

/// Gives `each` the rows of a step, as [`ReadSnapshot::chunk`] does.
pub fn chunk(
    snapshot: &dyn ReadSnapshot,
    scan_ranges: ScanRanges,
    request: StepRequest<'_>,
    begin: Begin<'_>,
    each: TakeEach<'_>,
) -> Result<(Option<Position>, u64)> {
    let asked = asked(&scan_ranges, &request)?;
    // The rows that a filter leaves out count: so they are tested here, and not by the cursors.
    let cursors = asked.iter().map(RangeQuery::unfiltered).map(begin).collect();
    let rows = MergeIter::new(scan_ranges, cursors);
    let end = read(snapshot, rows, request.size, &mut |selection, view| {
        let test = asked.iter().find(|test| test.covers(view.stored_key_bytes()));
        let is_wanted = test.map_or(Ok(false), |test| test.wants(view))?;
        if is_wanted {
            each(selection, view)?;
        }
        Ok(is_wanted)
    })?;
    Ok((if end.is_last { None } else { end.position }, end.looked))
}

/// Gives `each` all rows of a step, in the state of this number, as [`Jobs::rows_after`](super::Jobs::rows_after) does.
pub fn rows_after(
    snapshot: &dyn ReadSnapshot,
    request: StepRequest<'_>,
    begin: Begin<'_>,
    each: EachRow<'_>,
) -> Result<(Option<Position>, u64)> {
    let scan_ranges = ScanRanges::from(Query::new());
    let cursors = asked(&scan_ranges, &request)?.into_iter().map(begin).collect();
    let (rows, state) = (MergeIter::new(scan_ranges, cursors), snapshot.state());
    let end = read(snapshot, rows, request.size, &mut |_, view| each(view, state))?;
    Ok((end.position, end.looked))
}

/// Where a step ends.
struct StepEnd {
    /// The last row that was looked at; `None` if there was none.
    position: Option<Position>,
    /// Whether no row is left behind it.
    is_last: bool,
    /// How many rows were looked at.
    looked: u64,
}

/// Returns what each scan range asks for behind the rows of the steps before.
fn asked(scan_ranges: &ScanRanges, request: &StepRequest<'_>) -> Result<Vec<RangeQuery>> {
    let mut asked = scan_ranges.range_queries(request.table)?;
    if let Some(Position { partition, row }) = request.after {
        range_query::go_on(scan_ranges, &mut asked, request.table, EntityKeys::new(partition, row))?;
    }
    Ok(asked)
}

/// Reads rows until the step has enough of them.
fn read(
    snapshot: &dyn ReadSnapshot,
    rows: MergeIter,
    size: StepSize,
    look_at: LookAt<'_>,
) -> Result<StepEnd> {
    // A limit is of the rows that are asked for, and seen to by the job.
    let (mut rows, mut looked, mut last) = (rows.at_most(u64::MAX), Looked::new(size), Vec::new());
    let mut is_last = false;
    while !is_last && !looked.is_enough() {
        let next = rows.next(snapshot, &mut |selection, view| {
            last.clear();
            last.extend_from_slice(view.stored_key_bytes());
            let is_asked_for = look_at(selection, view)?;
            looked.add(last.len() + view.row().bytes().len(), is_asked_for);
            Ok(())
        });
        is_last = next.transpose()?.is_none();
    }
    let unreadable = || Error::new(ErrorKind::Corrupt).because("the row's key can't be read");
    let position = if last.is_empty() {
        None
    } else {
        let keys = StoredKey::parse(&last).and_then(|key| key.texts());
        let (partition, row) = keys.ok_or_else(unreadable)?;
        Some(Position { partition: partition.into(), row: row.into() })
    };
    Ok(StepEnd { position, is_last, looked: looked.rows() })
}
