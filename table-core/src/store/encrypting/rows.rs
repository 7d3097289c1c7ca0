//! What queries find, opened.

use std::fmt;
use std::sync::Arc;

use super::EncryptingTable;
use crate::error::Result;
use crate::model::DynamicEntity;
use crate::query::{Continuation, Query};
use crate::store::encryption::Lens;
use crate::store::handle::answer_page::Page;
use crate::store::handle::rows::Refilling;
use crate::store::handle::snapshot::Snapshot;

/// The entities that a query finds, with what is sealed opened: an iterator that owns its snapshot.
///
/// It may be kept, moved to another thread and dropped at any time. After an error it ends.
#[must_use = "an iterator does nothing until it is used"]
pub struct EncryptingRows {
    rows: Refilling,
    lens: Arc<Lens>,
}

impl EncryptingRows {
    pub(super) fn new(table: &EncryptingTable, query: &Query) -> Result<Self> {
        let (snapshot, lens) = begun(table)?;
        let rows = Refilling::through(snapshot, &table.table, query.clone().into(), Some(&lens))?;
        Ok(Self { rows, lens })
    }
}

impl Iterator for EncryptingRows {
    type Item = Result<DynamicEntity>;

    fn next(&mut self) -> Option<Result<DynamicEntity>> {
        let lens = &self.lens;
        self.rows.next_by(|reading, view| {
            let (inner, txn) = reading.snapshot.parts();
            lens.entity(
                (&inner.environment.dbs, txn, reading.table.state()),
                view,
                reading.selection.entity(view)?,
            )
        })
    }
}

impl std::iter::FusedIterator for EncryptingRows {}

impl fmt::Debug for EncryptingRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncryptingRows").field("table", &self.rows.table().name()).finish_non_exhaustive()
    }
}

/// This moment, and what tells which properties of a query's rows are sealed.
fn begun(table: &EncryptingTable) -> Result<(Snapshot, Arc<Lens>)> {
    let snapshot = table.table.snapshot().map_err(|e| e.attempted("query"))?;
    Ok((snapshot, Arc::new(table.lens())))
}

/// A page of what a query finds.
pub(super) fn page(
    table: &EncryptingTable,
    query: &Query,
    size: usize,
    after: Option<&Continuation>,
) -> Result<Page> {
    let (snapshot, lens) = begun(table)?;
    let table = &table.table;
    snapshot.page_through(table, (query.clone().into(), Some(&lens)), size, after, |scan, view| {
        let (inner, txn) = snapshot.parts();
        lens.entity((&inner.environment.dbs, txn, table.state()), view, scan.entity(view)?)
    })
}
