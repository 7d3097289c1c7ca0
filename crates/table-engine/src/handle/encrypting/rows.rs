//! Rows that a query finds, opened.

use std::fmt;
use std::sync::Arc;

use super::EncryptingTable;
use super::lens::Lens;
use crate::error::{Error, Result};
use crate::handle::page::Page;
use crate::handle::rows::BufferedScan;
use crate::handle::snapshot::Snapshot;
use crate::model::DynamicEntity;
use crate::query::{Continuation, PageBudget, Query};

/// The entities that a query finds, with what is sealed opened: an iterator that owns its snapshot.
///
/// It may be kept, moved to another thread and dropped at any time. After an error it ends.
#[must_use = "an iterator does nothing until it is used"]
pub struct EncryptingRows {
    rows: BufferedScan,
    lens: Arc<Lens>,
}

impl EncryptingRows {
    pub(super) fn new(table: &EncryptingTable, query: &Query) -> Result<Self> {
        let (snapshot, lens) = begun(table)?;
        let query = query.clone().guarded(lens.clone());
        Ok(Self { rows: BufferedScan::new(snapshot, &table.table, query.into())?, lens })
    }
}

impl Iterator for EncryptingRows {
    type Item = Result<DynamicEntity>;

    fn next(&mut self) -> Option<Result<DynamicEntity>> {
        let lens = &self.lens;
        self.rows.next_by(|reading, view| lens.entity(reading.table, view, reading.selection.entity(view)?))
    }
}

impl std::iter::FusedIterator for EncryptingRows {}

impl fmt::Debug for EncryptingRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncryptingRows").field("table", &self.rows.table().name()).finish_non_exhaustive()
    }
}

/// Takes a snapshot, with the lens that tells which properties of its rows are sealed.
fn begun(table: &EncryptingTable) -> Result<(Snapshot, Arc<Lens>)> {
    let snapshot = table.table.snapshot().map_err(|e| e.attempted("query"))?;
    let lens = table.lens(&snapshot).map_err(|e: Error| e.attempted("query").table(table.name()))?;
    Ok((snapshot, Arc::new(lens)))
}

/// Returns a page of what a query finds.
pub(super) fn page(
    table: &EncryptingTable,
    query: &Query,
    budget: PageBudget,
    after: Option<&Continuation>,
) -> Result<Page> {
    let (snapshot, lens) = begun(table)?;
    let table = &table.table;
    let query = query.clone().guarded(lens.clone());
    snapshot.page_by(table, query.into(), budget, after, |selection, view| {
        lens.entity(table, view, selection.entity(view)?)
    })
}
