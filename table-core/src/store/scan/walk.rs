//! A walk over rows in place: one scan, or several that are merged.

use super::lanes;
use super::rows::Rows;
use crate::error::Result;
use crate::executor::{self, Lanes, Looked, order};
use crate::query::{Continuation, Position};
use crate::row::key;
use crate::row::partition::begins;
use crate::row::selection::Selection;
use crate::row::view::RowView;
use crate::store::encryption::Lens;
use crate::store::lmdb::ReadTxn;
use crate::store::records::catalog::TableState;
use crate::store::scan::Scan;
use crate::store::state::StoreState;
use std::sync::Arc;

/// A walk through a snapshot.
pub(crate) struct MergedWalk<'s> {
    inner: &'s StoreState,
    txn: &'s ReadTxn<'static>,
    lanes: Lanes,
    scans: Vec<Scan>,
    rows: Vec<LaneRows<'s>>,
    remaining: u64,
}

/// Where one scan is.
struct LaneRows<'s> {
    rows: Rows<'s>,
    /// The next row, where it had to be seen to be compared.
    head: Option<RowView<'s>>,
    /// The stored key of the row before, up to its row key: mostly that of the next one. And the partition key's text, if it is
    /// plain.
    partition: (&'s [u8], Option<&'s str>),
    ended: bool,
    /// In a job's step, the stored key of the last row that was looked at.
    looked: Option<&'s [u8]>,
}

/// What a walk comes to in a job's step.
pub(crate) enum Ahead<'s> {
    /// A row that is wanted, and its stored key.
    Row(RowView<'s>, &'s [u8]),
    /// The step has looked at enough: it goes on behind the row of this stored key.
    Enough(&'s [u8]),
    /// No row is left.
    Ended,
}

impl<'s> MergedWalk<'s> {
    pub(crate) fn new(
        inner: &'s StoreState,
        txn: &'s ReadTxn<'static>,
        table: &Arc<TableState>,
        (lanes, lens): (Lanes, Option<&Arc<Lens>>),
        after: Option<&Continuation>,
    ) -> Result<Self> {
        let mut scans = lanes::scans(&lanes, lens, (inner, txn), table)?;
        let remaining = match after {
            Some(token) => lanes::go_on(&lanes, &mut scans, token, (inner, txn))?,
            None => lanes.wanted(),
        };
        Self::of((inner, txn), lanes, scans, remaining)
    }

    /// Begins a walk behind a row, for a job.
    pub(crate) fn after(
        inner: &'s StoreState,
        txn: &'s ReadTxn<'static>,
        table: &Arc<TableState>,
        lanes: Lanes,
        after: Option<&executor::Position>,
    ) -> Result<Self> {
        let mut scans = lanes::scans(&lanes, None, (inner, txn), table)?;
        if let Some(executor::Position { partition, row }) = after {
            lanes::go_on_after(&lanes, &mut scans, (partition, row))?;
        }
        let remaining = lanes.wanted();
        Self::of((inner, txn), lanes, scans, remaining)
    }

    fn of(
        (inner, txn): (&'s StoreState, &'s ReadTxn<'static>),
        lanes: Lanes,
        scans: Vec<Scan>,
        remaining: u64,
    ) -> Result<Self> {
        let lane = |scan| {
            let rows = Rows::new(inner, txn, scan)?;
            Ok(LaneRows { rows, head: None, partition: (&[], None), ended: false, looked: None })
        };
        let rows = scans.iter().map(lane).collect::<Result<_>>()?;
        Ok(Self { inner, txn, lanes, scans, rows, remaining })
    }

    /// The next row.
    pub(crate) fn next(&mut self) -> Result<Option<RowView<'s>>> {
        if self.remaining == 0 {
            return Ok(None);
        }
        let ([scan], [lane]) = (self.scans.as_mut_slice(), self.rows.as_mut_slice()) else {
            return self.next_of_several();
        };
        match scan.next(self.inner, self.txn, &mut lane.rows) {
            Ok(Some(found)) => {
                self.remaining -= 1;
                if lane.partition.0.is_empty() || !begins(found.key, lane.partition.0) {
                    lane.partition = (key::partition_of(found.key), key::plain_partition(found.key));
                }
                let view = scan.view(found);
                Ok(Some(match lane.partition {
                    (before, Some(partition)) => view.in_plain(partition, before.len()),
                    (_, None) => view,
                }))
            }
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn next_of_several(&mut self) -> Result<Option<RowView<'s>>> {
        let next = self.merged()?;
        if next.is_some() {
            self.remaining -= 1;
        }
        Ok(next)
    }

    fn merged(&mut self) -> Result<Option<RowView<'s>>> {
        for (scan, lane) in self.scans.iter_mut().zip(&mut self.rows) {
            if lane.head.is_none() && !lane.ended {
                let found = scan.next(self.inner, self.txn, &mut lane.rows)?;
                lane.head = found.map(|found| scan.view(found));
                lane.ended = lane.head.is_none();
            }
        }
        let first = self.first(|lane| Some(lane.head.as_ref()?.stored_key_bytes()));
        Ok(first.and_then(|at| self.rows.get_mut(at)?.head.take()))
    }

    /// The lane whose key comes first, of those that have one.
    fn first(&self, key: impl for<'l> Fn(&'l LaneRows<'s>) -> Option<&'l [u8]>) -> Option<usize> {
        let reverse = self.scans.first().is_some_and(|scan| scan.plan.reverse);
        let mut first: Option<(&[u8], usize)> = None;
        for (at, lane) in self.rows.iter().enumerate() {
            let Some(key) = key(lane) else { continue };
            let one = (self.lanes.rest(key), at);
            if first.is_none_or(|first| order(reverse, one, first).is_lt()) {
                first = Some(one);
            }
        }
        first.map(|(_, at)| at)
    }

    /// The next row of a job's step. Of several lanes that one looks on which is behind the others, a row at a time: so a step
    /// that has looked at enough ends behind a row before which there is none that is wanted and has not come, and the next
    /// step looks again at one row of each lane at most. Each looks at one at least, so that steps go on.
    pub(crate) fn next_of_step(&mut self, looked: &mut Looked) -> Result<Ahead<'s>> {
        for at in 0..self.rows.len() {
            if self.rows.get(at).is_some_and(|lane| lane.looked.is_none() && !lane.ended) {
                self.look(at, looked)?;
            }
        }
        loop {
            let at = self.first(|lane| match &lane.head {
                Some(head) => Some(head.stored_key_bytes()),
                None => lane.looked.filter(|_| !lane.ended),
            });
            let Some((at, lane)) = at.and_then(|at| Some((at, self.rows.get_mut(at)?))) else {
                return Ok(Ahead::Ended);
            };
            match (lane.head.take(), lane.looked) {
                (Some(head), Some(key)) => return Ok(Ahead::Row(head, key)),
                (None, Some(last)) if looked.is_enough() => return Ok(Ahead::Enough(last)),
                _ => self.look(at, looked)?,
            }
        }
    }

    /// Looks at one row more of a lane.
    fn look(&mut self, at: usize, looked: &mut Looked) -> Result<()> {
        let (Some(scan), Some(lane)) = (self.scans.get_mut(at), self.rows.get_mut(at)) else { return Ok(()) };
        let Some((key, bytes)) = lane.rows.next(scan.range.as_ref())? else {
            lane.ended = true;
            return scan.end();
        };
        let found = scan.take(self.inner, self.txn, (key, bytes))?;
        looked.add(key.len() + bytes.len(), found.is_some());
        lane.looked = Some(key);
        lane.head = found.map(|found| scan.view(found));
        Ok(())
    }

    /// Whether anything is left, without reading on to the next match, which may be far.
    fn has_more(&mut self) -> Result<bool> {
        if self.remaining == 0 {
            return Ok(false);
        }
        for (scan, lane) in self.scans.iter().zip(&mut self.rows) {
            if lane.head.is_some() || (!lane.ended && lane.rows.next(scan.range.as_ref())?.is_some()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The token of a page that ends after this row, or `None` if nothing is left.
    pub(crate) fn token(&mut self, partition: &str, row: &str) -> Result<Option<Continuation>> {
        if !self.has_more()? {
            return Ok(None);
        }
        let is_limited = self.scans.first().is_some_and(|scan| scan.plan.top.is_some());
        let position = Position { partition, row, remaining: is_limited.then_some(self.remaining) };
        Ok(Some(Continuation::new(position, lanes::fingerprint(self.inner, self.txn, &self.scans)?)))
    }

    /// What of the rows is selected.
    pub(crate) fn selection(&self) -> &Selection {
        static ALL: Selection = Selection::ALL;
        self.scans.first().map_or(&ALL, Scan::selection)
    }
}
