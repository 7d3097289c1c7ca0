//! A walk over rows in place: one scan, or several that are merged.

use super::lanes;
use super::rows::Rows;
use crate::error::Result;
use crate::executor::{Lanes, order};
use crate::query::{Continuation, Position};
use crate::row::key;
use crate::row::partition::begins;
use crate::row::selection::Selection;
use crate::row::view::RowView;
use crate::store::encryption::Lens;
use crate::store::lmdb::ReadTxn;
use crate::store::opened::Inner;
use crate::store::records::catalog::TableState;
use crate::store::scan::Scan;
use std::sync::Arc;

/// A walk through a snapshot.
pub(in crate::store) struct MergedWalk<'s> {
    inner: &'s Inner,
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
}

impl<'s> MergedWalk<'s> {
    pub(in crate::store) fn new(
        inner: &'s Inner,
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
        let lane = |scan| {
            let rows = Rows::new(inner, txn, scan)?;
            Ok(LaneRows { rows, head: None, partition: (&[], None), ended: false })
        };
        let rows = scans.iter().map(lane).collect::<Result<_>>()?;
        Ok(Self { inner, txn, lanes, scans, rows, remaining })
    }

    /// The next row.
    pub(in crate::store) fn next(&mut self) -> Result<Option<RowView<'s>>> {
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
        let reverse = self.scans.first().is_some_and(|scan| scan.plan.reverse);
        let mut first: Option<(&[u8], usize)> = None;
        for (at, lane) in self.rows.iter().enumerate() {
            let Some(head) = &lane.head else { continue };
            let one = (self.lanes.rest(head.stored_key_bytes()), at);
            if first.is_none_or(|first| order(reverse, one, first).is_lt()) {
                first = Some(one);
            }
        }
        let first = first.map(|(_, at)| at);
        Ok(first.and_then(|at| self.rows.get_mut(at)?.head.take()))
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
    pub(in crate::store) fn token(&mut self, partition: &str, row: &str) -> Result<Option<Continuation>> {
        if !self.has_more()? {
            return Ok(None);
        }
        let is_limited = self.scans.first().is_some_and(|scan| scan.plan.top.is_some());
        let position = Position { partition, row, remaining: is_limited.then_some(self.remaining) };
        Ok(Some(Continuation::new(position, lanes::fingerprint(self.inner, self.txn, &self.scans)?)))
    }

    /// What of the rows is selected.
    pub(in crate::store) fn selection(&self) -> &Selection {
        static ALL: Selection = Selection::ALL;
        self.scans.first().map_or(&ALL, Scan::selection)
    }
}
