//! Running queries.
//!
//! A damaged page can't shorten a scan unseen where rows alone can show it: the row before the range and the row
//! that ends it are checked, the keys must rise, and a scan of a whole table must add up to the table's counts.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

use heed::types::Bytes;

use super::Inner;
use super::catalog::TableState;
use super::counts::Counts;
use super::dict::Dict;
use super::lmdb::{self, Db, ReadTxn};
use super::read;
use super::row::{self, Row};
use super::snapshot::{Snapshot, Ticket};
use super::view::{self, Column, Filtered, RowView};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::model::DynamicEntity;
use crate::query::{self, Continuation, Plan, Position, Predicate, Query};

/// Rows in an iterator's first refill; each further one doubles, so that a caller who wants few pays for few.
const FIRST_REFILL: usize = 4;
const LARGEST_REFILL: usize = 128;
/// Bytes of rows at which a refill ends early.
const REFILL_BYTES: usize = 256 * 1024;

/// A query on a table, and how far it has come.
struct Scan {
    plan: Plan,
    table: Arc<TableState>,
    /// The stored keys between which the rows lie: first, and first beyond. None if there can be no row.
    range: Option<(Vec<u8>, Vec<u8>)>,
    dict: Arc<Dict>,
    /// The filter's properties.
    columns: Vec<Column>,
    /// The selected properties: numbers, rising, and inline names.
    selected: Option<(Vec<u16>, Vec<Box<str>>)>,
    /// How many entities are still wanted.
    remaining: u64,
    verify: bool,
    /// For a scan of the whole table: what it must come to, and what it has come to.
    expected: Option<Counts>,
    seen: Counts,
}

impl Scan {
    fn new(
        inner: &Inner,
        txn: &heed::RoTxn<'_>,
        table: &Arc<TableState>,
        query: &Query,
        after: Option<&Continuation>,
    ) -> Result<Self> {
        let plan = query::plan(query)?;
        table.check_exists(&inner.environment.dbs, txn)?;
        let prefix = table.id.to_be_bytes();
        let mut range = plan.byte_range(&prefix);
        let mut remaining = plan.top.map_or(u64::MAX, |top| u64::try_from(top).unwrap_or(u64::MAX));
        let mut expected = None;
        let verify = inner.environment.options.verify_reads;
        if let Some(token) = after {
            let position = token.resume(query::fingerprint(&plan, table.id))?;
            range = plan.byte_range_after(&prefix, position.partition, position.row);
            remaining = position.remaining.unwrap_or(u64::MAX);
        } else if verify && range.is_some() && plan.partition.is_all() {
            expected = Some(Counts::read(inner.environment.dbs.main, txn, table.id)?);
        }
        let mut scan = Self {
            plan,
            table: table.clone(),
            range,
            dict: table.dict(),
            columns: Vec::new(),
            selected: None,
            remaining,
            verify,
            expected,
            seen: Counts::default(),
        };
        scan.number_columns();
        Ok(scan)
    }

    /// Looks up the properties that the query names.
    fn number_columns(&mut self) {
        let dict = &*self.dict;
        let names = self.plan.predicate.as_ref().map_or(&[][..], Predicate::names);
        self.columns = names.iter().map(|name| Column::of(dict, name)).collect();
        self.selected = self.plan.select.as_ref().map(|names| {
            let (mut ids, mut inline) = (Vec::new(), Vec::new());
            for name in names {
                match Column::of(dict, name) {
                    Column::Id(id) => ids.push(id),
                    Column::Inline(name) => inline.push(name),
                    Column::Absent => {}
                }
            }
            ids.sort_unstable();
            (ids, inline)
        });
    }

    /// The next row that the query wants.
    fn next<'t>(
        &mut self,
        inner: &Inner,
        txn: &'t heed::RoTxn<'_>,
        cursor: &mut Cursor<'t>,
    ) -> Result<Option<RowView<'t>>> {
        while self.remaining > 0 {
            let Some((key, bytes)) = cursor.next()? else {
                self.check_whole()?;
                return Ok(None);
            };
            let row = Row::parse(bytes).map_err(|e| super::key::locate(e.into(), key))?;
            if !view::covers(&self.dict, &row) {
                self.dict = self.table.reload(&inner.environment.dbs, txn)?;
                self.number_columns();
            }
            let view = if self.verify {
                let seed = row::key_seed(key);
                row.verify(seed).map_err(|e| super::key::locate(e.into(), key))?;
                RowView::verified(key.into(), row, self.dict.clone(), seed)
            } else {
                RowView::new(key.into(), row, self.dict.clone())
            };
            if self.expected.is_some() {
                self.seen.add(key.len() + bytes.len(), row.checksum());
            }
            if self.plan.accepts(&Filtered { view: &view, slots: &self.columns })? {
                self.remaining -= 1;
                return Ok(Some(view));
            }
        }
        Ok(None)
    }

    /// At the end of a scan of the whole table: whether it saw the rows that were counted.
    fn check_whole(&self) -> Result<()> {
        match self.expected {
            Some(expected) if expected != self.seen => Err(Error::new(ErrorKind::Corrupt).because(format!(
                "the scan came to {} entities and the table counts {}, or they are not the same ones: \
                 a page of the store is damaged",
                self.seen.entities, expected.entities
            ))),
            _ => Ok(()),
        }
    }

    fn entity(&self, view: &RowView<'_>) -> Result<DynamicEntity> {
        match &self.selected {
            None => view.to_entity(),
            Some((ids, inline)) => view.to_selected(ids, inline),
        }
    }

    fn locate(&self, error: Error) -> Error {
        error.attempted("query").table(&self.table.name)
    }
}

/// A walk over the rows of a range, in either direction, that checks their order.
struct Cursor<'t> {
    data: Db,
    txn: &'t heed::RoTxn<'t>,
    rows: Walk<'t>,
    /// The range's end in the direction of the walk.
    limit: Vec<u8>,
    last: Option<&'t [u8]>,
    /// The row beside the range where the walk starts, if there is one.
    before: Option<&'t [u8]>,
    verify: bool,
}

enum Walk<'t> {
    Forward(heed::RoRange<'t, Bytes, Bytes>),
    Backward(heed::RoRevRange<'t, Bytes, Bytes>),
    Ended,
}

impl<'t> Cursor<'t> {
    /// A walk from the start of the scan's range, or on from the row that `resume` names.
    fn new(data: Db, txn: &'t heed::RoTxn<'t>, scan: &Scan, resume: Option<&[u8]>) -> Result<Self> {
        let reverse = scan.plan.reverse;
        let mut cursor = Self {
            data,
            txn,
            rows: Walk::Ended,
            limit: Vec::new(),
            last: None,
            before: None,
            verify: scan.verify,
        };
        let Some((start, end)) = &scan.range else { return Ok(cursor) };
        let none = Bound::<&[u8]>::Unbounded;
        if reverse {
            let from = resume.map_or(Bound::Excluded(end.as_slice()), Bound::Included);
            cursor.rows = Walk::Backward(data.rev_range(txn, &(none, from)).map_err(lmdb::error)?);
            cursor.limit.clone_from(start);
        } else {
            let from = Bound::Included(resume.unwrap_or(start));
            cursor.rows = Walk::Forward(data.range(txn, &(from, none)).map_err(lmdb::error)?);
            cursor.limit.clone_from(end);
        }
        if let Some(resume) = resume {
            // The row was there in this snapshot.
            match cursor.step()? {
                Some((key, _)) if key == resume => cursor.last = Some(key),
                _ => return Err(read::out_of_order()),
            }
        } else if scan.verify {
            let beside = if reverse {
                data.get_greater_than_or_equal_to(txn, end)
            } else {
                data.get_lower_than(txn, start)
            };
            if let Some((key, bytes)) = beside.map_err(lmdb::error)? {
                let right = if reverse { key >= end.as_slice() } else { key < start.as_slice() };
                if !right {
                    return Err(read::out_of_order());
                }
                read::verify_row(key, bytes)?;
                cursor.before = Some(key);
            }
        }
        Ok(cursor)
    }

    fn step(&mut self) -> Result<Option<(&'t [u8], &'t [u8])>> {
        let step = match &mut self.rows {
            Walk::Forward(rows) => rows.next(),
            Walk::Backward(rows) => rows.next(),
            Walk::Ended => None,
        };
        step.transpose().map_err(lmdb::error)
    }

    fn next(&mut self) -> Result<Option<(&'t [u8], &'t [u8])>> {
        let reverse = match self.rows {
            Walk::Forward(_) => false,
            Walk::Backward(_) => true,
            Walk::Ended => return Ok(None),
        };
        let step = self.step();
        let Some((key, bytes)) = step? else {
            self.rows = Walk::Ended;
            if self.verify {
                self.check_last(reverse)?;
            }
            return Ok(None);
        };
        if let Some(last) = self.last.or(self.before) {
            let rises = if reverse { key < last } else { key > last };
            if !rises {
                self.rows = Walk::Ended;
                return Err(read::out_of_order());
            }
        }
        let beyond = if reverse { key < self.limit.as_slice() } else { key >= self.limit.as_slice() };
        if beyond {
            self.rows = Walk::Ended;
            // A damaged key must not pass for one beyond the range.
            return if self.verify { read::verify_row(key, bytes).map(|()| None) } else { Ok(None) };
        }
        self.last = Some(key);
        Ok(Some((key, bytes)))
    }

    /// At the end of all rows: whether the last one seen is the last one there is.
    fn check_last(&self, reverse: bool) -> Result<()> {
        let end = if reverse { self.data.first(self.txn) } else { self.data.last(self.txn) };
        let end = end.map_err(lmdb::error)?.map(|(key, _)| key);
        if end == self.last.or(self.before) { Ok(()) } else { Err(read::out_of_order()) }
    }
}

/// The entities that a query finds, in order: an iterator that owns its snapshot.
///
/// It may be kept, moved to another thread and dropped at any time. While it lives, the space of what is
/// overwritten can't be used again, so don't keep it for long. After an error it ends.
#[must_use = "an iterator does nothing until it is used"]
pub struct Rows {
    // Fields drop in this order: the transaction before the environment it belongs to.
    txn: ReadTxn<'static>,
    inner: Arc<Inner>,
    _ticket: Ticket,
    scan: Scan,
    buffer: VecDeque<DynamicEntity>,
    /// The stored key of the last row that was looked at.
    resume: Option<Vec<u8>>,
    refill: usize,
    failed: Option<Error>,
    ended: bool,
}

impl Rows {
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

    fn fill(&mut self) -> Result<()> {
        let data = self.inner.environment.dbs.data;
        let mut cursor = Cursor::new(data, &self.txn, &self.scan, self.resume.as_deref())?;
        let mut bytes = 0;
        while self.buffer.len() < self.refill && bytes < REFILL_BYTES {
            let Some(view) = self.scan.next(&self.inner, &self.txn, &mut cursor)? else {
                self.ended = true;
                return Ok(());
            };
            bytes += view.stored_bytes();
            self.buffer.push_back(self.scan.entity(&view)?);
        }
        self.refill = (self.refill * 2).min(LARGEST_REFILL);
        self.resume = cursor.last.map(<[u8]>::to_vec);
        Ok(())
    }
}

impl Iterator for Rows {
    type Item = Result<DynamicEntity>;

    fn next(&mut self) -> Option<Result<DynamicEntity>> {
        if self.buffer.is_empty()
            && !self.ended
            && let Err(error) = self.fill()
        {
            self.ended = true;
            self.failed = Some(self.scan.locate(error));
        }
        // What was read before an error comes before it.
        self.buffer.pop_front().map(Ok).or_else(|| self.failed.take().map(Err))
    }
}

impl std::iter::FusedIterator for Rows {}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("table", &self.scan.table.name).finish_non_exhaustive()
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
        let cursor = Some(Cursor::new(inner.environment.dbs.data, txn, &scan, None)?);
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
        let mut cursor = Cursor::new(inner.environment.dbs.data, txn, &scan, None)?;
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
            page.next = Some(Continuation::new(position, query::fingerprint(&scan.plan, table.id)));
        }
        Ok(page)
    }
}
