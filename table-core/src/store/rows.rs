//! Iterators over what a query finds.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use super::Inner;
use super::catalog::TableState;
use super::cursor::Cursor;
use super::lmdb::ReadTxn;
use super::scan::Scan;
use super::snapshot::Ticket;
use super::view::RowView;
use crate::error::{Error, Result};
use crate::model::DynamicEntity;
use crate::query::Query;

/// Rows in an iterator's first refill; each further one is four times as large, so that a caller who wants few pays for few.
const FIRST_REFILL: usize = 4;
const LARGEST_REFILL: usize = 128;
/// Bytes of rows at which a refill ends early.
const REFILL_BYTES: usize = 256 * 1024;

/// A walk that owns its snapshot: it holds the key it has come to and refills by seeking, since a cursor would
/// borrow from the transaction beside it.
pub(crate) struct Refilling<T> {
    // Fields drop in this order: the transaction before the environment it belongs to.
    txn: ReadTxn<'static>,
    inner: Arc<Inner>,
    _ticket: Ticket,
    scan: Scan,
    buffer: VecDeque<T>,
    /// The stored key of the last row that was looked at.
    resume: Option<Vec<u8>>,
    refill: usize,
    failed: Option<Error>,
    ended: bool,
}

impl<T> Refilling<T> {
    pub(crate) fn new(inner: &Arc<Inner>, table: &Arc<TableState>, query: &Query) -> Result<Self> {
        inner.writer.check_running()?;
        let txn = inner.environment.static_read_txn()?;
        let scan = Scan::new(inner, &txn, table, query, None)?;
        let ticket = inner.live.register(inner, txn.id());
        Ok(Self {
            txn,
            inner: inner.clone(),
            _ticket: ticket,
            scan,
            buffer: VecDeque::new(),
            resume: None,
            refill: FIRST_REFILL,
            failed: None,
            ended: false,
        })
    }

    /// The table's name.
    pub(crate) fn table(&self) -> &str {
        &self.scan.table.name
    }

    fn fill(&mut self, decode: &impl Fn(&Scan, &RowView<'_>) -> Result<T>) -> Result<()> {
        let mut cursor = Cursor::new(&self.inner, &self.txn, &self.scan, self.resume.as_deref())?;
        let mut bytes = 0;
        while self.buffer.len() < self.refill && bytes < REFILL_BYTES {
            let Some(view) = self.scan.next(&self.inner, &self.txn, &mut cursor)? else {
                self.ended = true;
                return Ok(());
            };
            bytes += view.stored_bytes();
            self.buffer.push_back(decode(&self.scan, &view)?);
        }
        cursor.check_leaf()?;
        self.refill = (self.refill * 4).min(LARGEST_REFILL);
        self.resume = cursor.last.map(<[u8]>::to_vec);
        Ok(())
    }

    /// The next row that the query finds, decoded.
    pub(crate) fn next_by(&mut self, decode: impl Fn(&Scan, &RowView<'_>) -> Result<T>) -> Option<Result<T>> {
        if self.buffer.is_empty()
            && !self.ended
            && let Err(error) = self.fill(&decode)
        {
            self.ended = true;
            self.failed = Some(self.scan.locate(error));
        }
        // What was read before an error comes before it.
        self.buffer.pop_front().map(Ok).or_else(|| self.failed.take().map(Err))
    }
}

/// The entities that a query finds, in order: an iterator that owns its snapshot.
///
/// It may be kept, moved to another thread and dropped at any time. While it lives, the space of what is
/// overwritten can't be used again, so don't keep it for long. After an error it ends.
#[must_use = "an iterator does nothing until it is used"]
pub struct Rows(Refilling<DynamicEntity>);

impl Rows {
    pub(crate) fn new(inner: &Arc<Inner>, table: &Arc<TableState>, query: &Query) -> Result<Self> {
        Refilling::new(inner, table, query).map(Self)
    }
}

impl Iterator for Rows {
    type Item = Result<DynamicEntity>;

    fn next(&mut self) -> Option<Result<DynamicEntity>> {
        self.0.next_by(Scan::entity)
    }
}

impl std::iter::FusedIterator for Rows {}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("table", &self.0.table()).finish_non_exhaustive()
    }
}

/// The entities that a query finds, as views into a snapshot.
///
/// What [`select`](Query::select) leaves out is not hidden: a view decodes only what it is asked for anyway.
#[must_use = "an iterator does nothing until it is used"]
pub struct Views<'s> {
    inner: &'s Inner,
    txn: &'s ReadTxn<'static>,
    scan: Scan,
    cursor: Option<Cursor<'s>>,
}

impl<'s> Views<'s> {
    pub(crate) fn new(
        inner: &'s Inner,
        txn: &'s ReadTxn<'static>,
        table: &Arc<TableState>,
        query: &Query,
    ) -> Result<Self> {
        let scan = Scan::new(inner, txn, table, query, None)?;
        let cursor = Some(Cursor::new(inner, txn, &scan, None)?);
        Ok(Self { inner, txn, scan, cursor })
    }
}

impl<'s> Iterator for Views<'s> {
    type Item = Result<RowView<'s>>;

    fn next(&mut self) -> Option<Result<RowView<'s>>> {
        let cursor = self.cursor.as_mut()?;
        let next = self.scan.next(self.inner, self.txn, cursor);
        if !matches!(next, Ok(Some(_))) {
            self.cursor = None;
        }
        next.map_err(|e| self.scan.locate(e)).transpose()
    }
}

impl std::iter::FusedIterator for Views<'_> {}

impl fmt::Debug for Views<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Views").field("table", &self.scan.table.name).finish_non_exhaustive()
    }
}

/// The entities that a query finds in a snapshot.
#[must_use = "an iterator does nothing until it is used"]
#[derive(Debug)]
pub struct SnapshotRows<'s>(Views<'s>);

impl<'s> SnapshotRows<'s> {
    pub(crate) fn new(views: Views<'s>) -> Self {
        Self(views)
    }
}

impl Iterator for SnapshotRows<'_> {
    type Item = Result<DynamicEntity>;

    fn next(&mut self) -> Option<Result<DynamicEntity>> {
        let view = self.0.next()?;
        Some(view.and_then(|view| self.0.scan.entity(&view).map_err(|e| self.0.scan.locate(e))))
    }
}

impl std::iter::FusedIterator for SnapshotRows<'_> {}
