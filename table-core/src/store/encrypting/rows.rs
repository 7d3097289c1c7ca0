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
use crate::store::scan::lanes::Lanes;

/// The entities that a query finds, with what is sealed opened: an iterator that owns its snapshot.
///
/// It may be kept, moved to another thread and dropped at any time. After an error it ends.
#[must_use = "an iterator does nothing until it is used"]
pub struct EncryptingRows {
    rows: Refilling<DynamicEntity>,
    lens: Arc<Lens>,
}

impl EncryptingRows {
    pub(super) fn new(table: &EncryptingTable, query: &Query) -> Result<Self> {
        let (snapshot, lens, lanes) = begun(table, query)?;
        Ok(Self { rows: Refilling::new(snapshot, &table.table, lanes)?, lens })
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
                reading.scan.entity(view)?,
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

/// A query of this moment, and what tells which properties of its rows are sealed.
fn begun(table: &EncryptingTable, query: &Query) -> Result<(Snapshot, Arc<Lens>, Lanes)> {
    let snapshot = table.table.snapshot().map_err(|e| e.attempted("query"))?;
    let lens = Arc::new(table.lens());
    let lanes = Lanes::from(query.clone()).through(lens.clone());
    Ok((snapshot, lens, lanes))
}

/// A page of what a query finds.
pub(super) fn page(
    table: &EncryptingTable,
    query: &Query,
    size: usize,
    after: Option<&Continuation>,
) -> Result<Page> {
    let (snapshot, lens, lanes) = begun(table, query)?;
    let table = &table.table;
    snapshot.page_by(table, lanes, size, after, |scan, view| {
        let (inner, txn) = snapshot.parts();
        lens.entity((&inner.environment.dbs, txn, table.state()), view, scan.entity(view)?)
    })
}
