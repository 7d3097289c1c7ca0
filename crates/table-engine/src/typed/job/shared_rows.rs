//! Rows that many entities share: those of summaries, and index lists.
//!
//! They are compared with the entities in one snapshot, and put right in the steps of a job.

use std::cell::RefCell;

use super::kind::JobKind;
use super::repair_lists::RepairLists;
use super::repair_summaries::RepairSummaries;
use super::report::CopyReport;
use super::{Step, StepOutcome};
use crate::error::Result;
use crate::executor::JobRecord;
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::EntityKeys;
use crate::plan::{EntityRows, Epoch, RowContent};
use crate::query::Query;
use crate::row::view::RowView;
use crate::schema::Index;

/// The most rows that are read, or put right, at a time.
pub(super) const ROWS: usize = 500;

/// The partition key and the row key of a shared row.
pub(super) type RowKey = (String, String);

/// What compares the rows of an index with the entities that share them, and puts them right.
pub(super) trait SharedRows: Send {
    /// Returns the index that the rows are of.
    fn index(&self) -> usize;

    /// Finds what is wrong in this snapshot, and reports it. Returns how many rows were looked at, the entities' and others.
    fn compare(&mut self, table: &DynamicTable, snapshot: &Snapshot, report: &mut CopyReport) -> Result<u64>;

    /// Takes where the job is when what was found is to be put right, and in which epoch of the kind.
    fn expect(&mut self, at: &JobRecord, epoch: u64);

    /// Hands over what puts the next rows right, as a step of the job of this name. `then` says where the job is with this many
    /// changes, when this many rows were looked at to find them. `None` if nothing is wrong any more.
    fn next(
        &mut self,
        table: &DynamicTable,
        name: &str,
        epoch: Epoch,
        step: Step<'_>,
        then: &dyn Fn(u64, u64) -> JobRecord,
    ) -> Result<Option<StepOutcome>>;

    /// Returns whether the step is to be made again without what the plan of this number was to put right.
    fn leave_out(&mut self, plan: usize) -> bool {
        let _ = plan;
        false
    }
}

/// Returns what puts the rows of an index right; `None` if they are copies.
pub(super) fn of(kind: &'static dyn JobKind, index: usize) -> Option<Box<dyn SharedRows>> {
    let Index { summary, list, .. } = kind.schema().indexes.get(index)?;
    match (summary, list) {
        (Some(_), _) => Some(Box::new(RepairSummaries::of(kind, index))),
        (_, Some(_)) => Some(Box::new(RepairLists::of(kind, index))),
        _ => None,
    }
}

/// Lends each row of a table as it is in a snapshot, and returns how many there are.
#[inline]
pub(super) fn each(
    table: &DynamicTable,
    snapshot: &Snapshot,
    look: &mut dyn FnMut(&RowView<'_>) -> Result<()>,
) -> Result<u64> {
    let look = RefCell::new((look, 0));
    let mut after = None;
    loop {
        let page = snapshot.page_by(table, Query::new().into(), ROWS, after.as_ref(), |_, view| {
            let (look, rows) = &mut *look.borrow_mut();
            *rows += 1;
            look(view)
        })?;
        after = page.next;
        if after.is_none() {
            return Ok(look.into_inner().1);
        }
    }
}

/// Gives the keys of the rows that an entity shares in an index, and what it has for them.
pub(super) fn each_of(
    kind: &'static dyn JobKind,
    own: &RowView<'_>,
    index: usize,
    take: &mut dyn FnMut(RowKey, &RowContent<'_>) -> Result<()>,
) -> Result<()> {
    let values = kind.values(own)?;
    let (partition, row) = own.keys();
    let rows =
        EntityRows::of(kind.schema(), &values, Some(EntityKeys::new(&partition, &row)), None, &|at| {
            at == index
        })?;
    for (_, shared) in rows.of_indexes() {
        let (_, partition) = rows.place_of(shared);
        take((partition.to_owned(), rows.key(shared).to_owned()), &shared.content)?;
    }
    Ok(())
}
