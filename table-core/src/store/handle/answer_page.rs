//! Answers in pages.

use std::sync::Arc;

use super::snapshot::Snapshot;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::Lanes;
use crate::limits;
use crate::model::DynamicEntity;
use crate::query::Continuation;
use crate::row::view::RowView;
use crate::store::encryption::Lens;
use crate::store::records::catalog::TableState;
use crate::store::scan::Scan;
use crate::store::scan::walk::MergedWalk;

/// Some of the entities that a query finds, and where the next page starts.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Page<T = DynamicEntity> {
    /// The entities, in the query's order; of a typed query, what it reads each row as.
    pub entities: Vec<T>,
    /// Gives the next page, now or after a restart; `None` when there is no more.
    pub next: Option<Continuation>,
}

impl<T> Page<T> {
    pub(in crate::store) fn read(
        snapshot: &Snapshot,
        table: &Arc<TableState>,
        read: (Lanes, Option<&Arc<Lens>>),
        size: usize,
        after: Option<&Continuation>,
        decode: impl Fn(&Scan, &RowView<'_>) -> Result<T>,
    ) -> Result<Self> {
        if !(1..=limits::PAGE_ENTITIES).contains(&size) {
            return Err(Error::new(ErrorKind::InvalidQuery)
                .because(format!("a page has 1 to {} entities, not {size}", limits::PAGE_ENTITIES)));
        }
        let (inner, txn) = snapshot.parts();
        let mut walk = MergedWalk::new(inner, txn, table, read, after)?;
        let mut page = Self { entities: Vec::new(), next: None };
        while let Some(view) = walk.next()? {
            if let Some(scan) = walk.scan() {
                page.entities.push(decode(scan, &view)?);
            }
            if page.entities.len() == size {
                page.next = walk.token(&view.partition_key(), &view.row_key())?;
                break;
            }
        }
        Ok(page)
    }
}
