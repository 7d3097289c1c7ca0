//! Rows that a query finds, opened.

use std::fmt;
use std::sync::Arc;

use super::EncryptingTable;
use crate::error::{Error, Result};
use crate::executor::ScanRanges;
use crate::handle::page::Page;
use crate::handle::rows::BufferedScan;
use crate::handle::snapshot::Snapshot;
use crate::model::DynamicEntity;
use crate::query::{Continuation, Query};
use crate::row::selection::Selection;
use crate::row::view::RowView;
use crate::store::encryption::{Lens, TableView};
use crate::store::handle::cursors;
use crate::store::handle::lmdb_snapshot::LmdbSnapshot;
use crate::store::scan::scan_ranges::LensedRanges;

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
        let (table, scan_ranges) = (&table.table, ScanRanges::from(query.clone()));
        let cursors = || {
            let lmdb = LmdbSnapshot::of(snapshot.read_snapshot())?;
            cursors::cursors(lmdb, table.lmdb()?, &scan_ranges, Some(&lens), None)
        };
        let cursors = cursors().map_err(|e: Error| e.attempted("query").table(table.name()))?;
        Ok(Self { rows: BufferedScan::of(snapshot, table, scan_ranges, cursors), lens })
    }
}

impl Iterator for EncryptingRows {
    type Item = Result<DynamicEntity>;

    fn next(&mut self) -> Option<Result<DynamicEntity>> {
        let lens = &self.lens;
        self.rows.next_by(|reading, view| {
            let (inner, txn) = reading.snapshot.parts()?;
            let of = TableView { dbs: &inner.environment.dbs, txn, table: reading.table.state()? };
            lens.entity(of, view, reading.selection.entity(view)?)
        })
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
    Ok((snapshot, Arc::new(table.lens()?)))
}

/// Returns a page of what a query finds.
pub(super) fn page(
    table: &EncryptingTable,
    query: &Query,
    size: usize,
    after: Option<&Continuation>,
) -> Result<Page> {
    let (snapshot, lens) = begun(table)?;
    let table = &table.table;
    let mut entities = Vec::new();
    let mut read = || {
        let (inner, txn) = snapshot.parts()?;
        let of = TableView { dbs: &inner.environment.dbs, txn, table: table.state()? };
        let mut each = |selection: &Selection, view: &RowView<'_>| {
            entities.push(lens.entity(of, view, selection.entity(view)?)?);
            Ok(())
        };
        let ranges = LensedRanges { scan_ranges: query.clone().into(), lens: Some(&lens) };
        LmdbSnapshot::of(snapshot.read_snapshot())?.page_through(table.exec(), ranges, size, after, &mut each)
    };
    let next = read().map_err(|e: Error| e.attempted("query").table(table.name()))?;
    Ok(Page::of(entities, next))
}
