//! Answers in pages.

use std::sync::Arc;

use super::catalog::TableState;
use super::cursor::Cursor;
use super::scan::{Scan, fingerprint};
use super::snapshot::Snapshot;
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::model::DynamicEntity;
use crate::query::{Continuation, Position, Query};

/// Some of the entities that a query finds, and where the next page starts.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Page {
    /// The entities, in the query's order.
    pub entities: Vec<DynamicEntity>,
    /// Gives the next page, now or after a restart; `None` when there is no more.
    pub next: Option<Continuation>,
}

impl Page {
    pub(crate) fn read(
        snapshot: &Snapshot,
        table: &Arc<TableState>,
        query: &Query,
        size: usize,
        after: Option<&Continuation>,
    ) -> Result<Self> {
        if !(1..=limits::PAGE_ENTITIES).contains(&size) {
            return Err(Error::new(ErrorKind::InvalidQuery)
                .because(format!("a page has 1 to {} entities, not {size}", limits::PAGE_ENTITIES)));
        }
        let (inner, txn) = snapshot.parts();
        let mut scan = Scan::new(inner, txn, table, query, after)?;
        let mut cursor = Cursor::new(inner, txn, &scan, None)?;
        let mut page = Self { entities: Vec::new(), next: None };
        while page.entities.len() < size {
            match scan.next(inner, txn, &mut cursor)? {
                Some(view) => page.entities.push(scan.entity(&view)?),
                None => return Ok(page),
            }
        }
        // Whether anything is left is seen without reading on to the next match, which may be far.
        if scan.remaining > 0
            && let Some(last) = page.entities.last()
            && cursor.next()?.is_some()
        {
            let position = Position {
                partition: last.partition_key(),
                row: last.row_key(),
                remaining: scan.plan.top.map(|_| scan.remaining),
            };
            page.next = Some(Continuation::new(position, fingerprint(inner, txn, table, &scan.plan)?));
        }
        cursor.check_leaf()?;
        Ok(page)
    }
}
