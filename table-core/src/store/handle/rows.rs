//! Iterators over what a query finds.

use std::borrow::Borrow;
use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::snapshot::Snapshot;
use super::table::DynamicTable;
use crate::error::{Error, Result};
use crate::model::DynamicEntity;
use crate::query::Query;
use crate::store::lmdb::ReadTxn;
use crate::store::opened::Inner;
use crate::store::records::catalog::TableState;
use crate::store::row::partition::Partition;
use crate::store::row::view::RowView;
use crate::store::scan::cursor::Cursor;
use crate::store::scan::lanes::{self, Lanes};
use crate::store::scan::walk::MergedWalk;
use crate::store::scan::{Found, Scan};

/// Rows in an iterator's first refill; each further one is larger, so that a caller who wants few pays for few.
const FIRST_REFILL: usize = 4;
/// How many times as large.
const GROWTH: usize = 4;
const LARGEST_REFILL: usize = 128;
/// The same where several ranges are merged, each with a buffer of its own.
const LARGEST_REFILL_OF_MANY: usize = 32;
/// Bytes of rows at which a refill ends early.
const REFILL_BYTES: usize = 256 * 1024;
/// The largest row that is kept as it is stored; of a larger one the caller may want a small part.
const KEPT_BYTES: usize = 1024;

/// A walk that owns its snapshot, or holds one of the caller's: it holds the key it has come to and refills by seeking,
/// since a cursor would borrow from the transaction beside it.
pub(crate) struct Refilling<T, S = Snapshot> {
    snapshot: S,
    table: DynamicTable,
    lanes: Lanes,
    walks: Vec<Lane<T>>,
    remaining: u64,
}

/// What the rows of a walk are read in.
pub(crate) struct Reading<'r> {
    pub(crate) snapshot: &'r Snapshot,
    pub(crate) table: &'r DynamicTable,
    pub(in crate::store) scan: &'r Scan,
}

/// A scan, and what was read ahead of it.
struct Lane<T> {
    scan: Scan,
    buffer: VecDeque<Ahead<T>>,
    /// The bytes of those that are kept: for each its key, and the row.
    kept: Vec<u8>,
    /// That of the row that was taken last.
    partition: Partition,
    /// The stored key of the last row that was looked at.
    resume: Option<Vec<u8>>,
    refill: usize,
    failed: Option<Error>,
    ended: bool,
}

/// A row that was read ahead: its key, and what there is of it.
struct Ahead<T> {
    key: Range<usize>,
    row: AheadRow<T>,
}

enum AheadRow<T> {
    /// As it is stored, to be made when it is asked for: memory that is taken and given back row by row comes from the
    /// allocator's own small store, that of a hundred rows at once does not.
    Kept(Range<usize>),
    /// As the caller wants it, which of a large row may be a small part.
    Made(Box<T>),
}

impl<T, S: Borrow<Snapshot>> Refilling<T, S> {
    pub(crate) fn new(snapshot: S, table: &DynamicTable, lanes: Lanes) -> Result<Self> {
        let begin = || {
            let (inner, txn) = snapshot.borrow().parts();
            let state = snapshot.borrow().table(table)?;
            lanes.scans(inner, txn, state)
        };
        let scans = begin().map_err(|e| e.attempted("query").table(table.name()))?;
        let lane = |scan| Lane {
            scan,
            buffer: VecDeque::new(),
            kept: Vec::new(),
            partition: Partition::default(),
            resume: None,
            refill: FIRST_REFILL,
            failed: None,
            ended: false,
        };
        let walks = scans.into_iter().map(lane).collect();
        let remaining = lanes.wanted();
        Ok(Self { snapshot, table: table.clone(), lanes, walks, remaining })
    }

    /// The table.
    pub(crate) fn table(&self) -> &DynamicTable {
        &self.table
    }

    /// The next row that the query finds, decoded.
    pub(crate) fn next_by(
        &mut self,
        decode: impl Fn(&Reading<'_>, &RowView<'_>) -> Result<T>,
    ) -> Option<Result<T>> {
        if self.remaining == 0 {
            return None;
        }
        let place = (self.snapshot.borrow(), &self.table);
        let next = if let [only] = self.walks.as_mut_slice() {
            only.ready(place, LARGEST_REFILL, &decode);
            only.take(place, &decode)
        } else {
            for walk in &mut self.walks {
                walk.ready(place, LARGEST_REFILL_OF_MANY, &decode);
                // What was read before an error comes before it; where that stands among the others nobody knows.
                if walk.buffer.is_empty() && walk.failed.is_some() {
                    self.remaining = 0;
                    return walk.take(place, &decode);
                }
            }
            first_of(&self.lanes, &self.walks)
                .and_then(|first| self.walks.get_mut(first)?.take(place, &decode))
        };
        self.remaining -= 1;
        if !matches!(next, Some(Ok(_))) {
            self.remaining = 0;
        }
        next
    }
}

/// The lane whose next row comes first.
fn first_of<T>(lanes: &Lanes, walks: &[Lane<T>]) -> Option<usize> {
    let reverse = walks.first()?.scan.plan.reverse;
    let heads = walks.iter().enumerate();
    let heads = heads.filter_map(|(at, walk)| Some((lanes.rest(walk.head()?), at)));
    let (_, first) = heads.min_by(|a, b| lanes::order(reverse, *a, *b))?;
    Some(first)
}

impl<T> Lane<T> {
    fn take(
        &mut self,
        place: (&Snapshot, &DynamicTable),
        decode: &impl Fn(&Reading<'_>, &RowView<'_>) -> Result<T>,
    ) -> Option<Result<T>> {
        let (key, row) = match self.buffer.pop_front() {
            Some(Ahead { row: AheadRow::Made(row), .. }) => return Some(Ok(*row)),
            Some(Ahead { key, row: AheadRow::Kept(row) }) => (key, row),
            None => return self.failed.take().map(Err),
        };
        let kept = |range| self.kept.get(range).unwrap_or_default();
        self.partition.go_to(kept(key.clone()));
        let (snapshot, table) = place;
        let reading = Reading { snapshot, table, scan: &self.scan };
        let made = match Found::again(kept(key), kept(row)) {
            Ok(found) => decode(&reading, &self.scan.lend(found).within(&self.partition)),
            Err(error) => Err(error),
        };
        Some(made.map_err(|error| self.scan.locate(error)))
    }

    /// The stored key of the next row.
    fn head(&self) -> Option<&[u8]> {
        self.kept.get(self.buffer.front()?.key.clone())
    }

    /// Reads on if nothing is left of what was read ahead.
    fn ready(
        &mut self,
        place: (&Snapshot, &DynamicTable),
        largest: usize,
        decode: &impl Fn(&Reading<'_>, &RowView<'_>) -> Result<T>,
    ) {
        if self.buffer.is_empty()
            && !self.ended
            && let Err(error) = self.fill(place, largest, decode)
        {
            self.ended = true;
            self.failed = Some(self.scan.locate(error));
        }
    }

    fn fill(
        &mut self,
        place: (&Snapshot, &DynamicTable),
        largest: usize,
        decode: &impl Fn(&Reading<'_>, &RowView<'_>) -> Result<T>,
    ) -> Result<()> {
        let (snapshot, table) = place;
        let (inner, txn) = snapshot.parts();
        let mut cursor = Cursor::new(inner, txn, &self.scan, self.resume.as_deref())?;
        // This refill is up to so many times as large as the last.
        let room = (self.kept.len() * GROWTH).min(REFILL_BYTES);
        self.kept.clear();
        self.kept.reserve(room);
        let mut bytes = 0;
        while self.buffer.len() < self.refill && bytes < REFILL_BYTES {
            let Some(found) = self.scan.next(inner, txn, &mut cursor)? else {
                self.ended = true;
                return Ok(());
            };
            let stored = found.row.bytes();
            bytes += stored.len();
            let start = self.kept.len();
            self.kept.extend_from_slice(found.key);
            let between = self.kept.len();
            let row = if stored.len() <= KEPT_BYTES {
                self.kept.extend_from_slice(stored);
                AheadRow::Kept(between..self.kept.len())
            } else {
                let reading = Reading { snapshot, table, scan: &self.scan };
                AheadRow::Made(Box::new(decode(&reading, &self.scan.lend(found))?))
            };
            self.buffer.push_back(Ahead { key: start..between, row });
        }
        self.refill = (self.refill * GROWTH).min(largest);
        self.resume = cursor.last.map(<[u8]>::to_vec);
        Ok(())
    }
}

/// The entities that a query finds, in order: an iterator that owns its snapshot.
///
/// It may be kept, moved to another thread and dropped at any time. While it lives, the space of what is
/// overwritten can't be used again, so don't keep it for long. After an error it ends.
#[must_use = "an iterator does nothing until it is used"]
pub struct Rows(Refilling<DynamicEntity>);

impl Rows {
    pub(crate) fn new(table: &DynamicTable, query: &Query) -> Result<Self> {
        table.refilling(query).map(Self)
    }
}

impl Iterator for Rows {
    type Item = Result<DynamicEntity>;

    fn next(&mut self) -> Option<Result<DynamicEntity>> {
        self.0.next_by(|reading, view| reading.scan.entity(view))
    }
}

impl std::iter::FusedIterator for Rows {}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("table", &self.0.table().name()).finish_non_exhaustive()
    }
}

/// The entities that a query finds, as views into a snapshot.
///
/// What [`select`](Query::select) leaves out is not hidden: a view decodes only what it is asked for anyway.
#[must_use = "an iterator does nothing until it is used"]
pub struct Views<'s> {
    walk: MergedWalk<'s>,
    ended: bool,
}

impl<'s> Views<'s> {
    pub(crate) fn new(
        inner: &'s Inner,
        txn: &'s ReadTxn<'static>,
        table: &Arc<TableState>,
        lanes: Lanes,
    ) -> Result<Self> {
        Ok(Self { walk: MergedWalk::new(inner, txn, table, lanes, None)?, ended: false })
    }
}

impl<'s> Iterator for Views<'s> {
    type Item = Result<RowView<'s>>;

    fn next(&mut self) -> Option<Result<RowView<'s>>> {
        if self.ended {
            return None;
        }
        let next = self.walk.next();
        self.ended = !matches!(next, Ok(Some(_)));
        next.map_err(|e| self.walk.locate(e)).transpose()
    }
}

impl std::iter::FusedIterator for Views<'_> {}

impl fmt::Debug for Views<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Views").field("ended", &self.ended).finish_non_exhaustive()
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
        let walk = &self.0.walk;
        let scan = walk.scan()?;
        Some(view.and_then(|view| scan.entity(&view).map_err(|e| walk.locate(e))))
    }
}

impl std::iter::FusedIterator for SnapshotRows<'_> {}
