//! A cursor over rows in place: one scan, or several that are merged.

mod page;

use std::sync::Arc;

use table_engine::error::Result;
use table_engine::executor::{self, Looked, ScanRanges, order};
use table_engine::model::EntityKeys;
use table_engine::query::{Continuation, Position};
use table_engine::row::key;
use table_engine::row::partition::begins;
use table_engine::row::selection::Selection;
use table_engine::row::view::RowView;

use super::{Rows, scan_ranges};
use crate::lmdb::ReadTxn;
use crate::records::catalog::TableState;
use crate::scan::Scan;
use crate::state::StoreState;

/// A cursor over the rows of one snapshot.
pub(crate) struct MergedCursor<'s> {
    inner: &'s StoreState,
    txn: &'s ReadTxn<'static>,
    scan_ranges: ScanRanges,
    scans: Vec<Scan>,
    rows: Vec<RangeRows<'s>>,
    remaining: u64,
}

/// The place of one scan.
struct RangeRows<'s> {
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

/// The outcome of one more look in a job's step.
pub(crate) enum Ahead<'s> {
    /// A row that is wanted, and its stored key.
    Row(RowView<'s>, &'s [u8]),
    /// The step has looked at enough: it goes on behind the row of this stored key.
    Enough(&'s [u8]),
    /// No row is left.
    Ended,
}

/// What counts the rows that are looked at, and says when they are enough.
pub(crate) trait Tally {
    /// Takes in a row of so many bytes.
    fn add(&mut self, bytes: usize, is_wanted: bool);

    /// Returns whether no more rows are to be looked at.
    fn is_enough(&self) -> bool;
}

impl Tally for Looked {
    fn add(&mut self, bytes: usize, is_wanted: bool) {
        Self::add(self, bytes, is_wanted);
    }

    fn is_enough(&self) -> bool {
        Self::is_enough(self)
    }
}

impl<'s> MergedCursor<'s> {
    pub(crate) fn new(
        inner: &'s StoreState,
        txn: &'s ReadTxn<'static>,
        table: &Arc<TableState>,
        scan_ranges: ScanRanges,
        after: Option<&Continuation>,
    ) -> Result<Self> {
        let mut scans = scan_ranges::scans(&scan_ranges, inner, txn, table)?;
        let remaining = match after {
            Some(token) => scan_ranges::go_on(&scan_ranges, &mut scans, token, inner, txn)?,
            None => scan_ranges.wanted(),
        };
        Self::of(inner, txn, scan_ranges, scans, remaining)
    }

    /// Begins behind a row, for a job.
    pub(crate) fn after(
        inner: &'s StoreState,
        txn: &'s ReadTxn<'static>,
        table: &Arc<TableState>,
        scan_ranges: ScanRanges,
        after: Option<&executor::Position>,
    ) -> Result<Self> {
        let mut scans = scan_ranges::scans(&scan_ranges, inner, txn, table)?;
        if let Some(executor::Position { partition, row }) = after {
            scan_ranges::go_on_after(&scan_ranges, &mut scans, EntityKeys::new(partition, row))?;
        }
        let remaining = scan_ranges.wanted();
        Self::of(inner, txn, scan_ranges, scans, remaining)
    }

    fn of(
        inner: &'s StoreState,
        txn: &'s ReadTxn<'static>,
        scan_ranges: ScanRanges,
        scans: Vec<Scan>,
        remaining: u64,
    ) -> Result<Self> {
        let scan_range = |scan| {
            let rows = Rows::new(inner, txn, scan)?;
            Ok(RangeRows { rows, head: None, partition: (&[], None), ended: false, looked: None })
        };
        let rows = scans.iter().map(scan_range).collect::<Result<_>>()?;
        Ok(Self { inner, txn, scan_ranges, scans, rows, remaining })
    }

    /// Returns the next row.
    pub(crate) fn next(&mut self) -> Result<Option<RowView<'s>>> {
        if self.remaining == 0 {
            return Ok(None);
        }
        let ([scan], [scan_range]) = (self.scans.as_mut_slice(), self.rows.as_mut_slice()) else {
            return self.next_of_several();
        };
        match scan.next(self.inner, self.txn, &mut scan_range.rows) {
            Ok(Some(found)) => {
                self.remaining -= 1;
                if scan_range.partition.0.is_empty() || !begins(found.key, scan_range.partition.0) {
                    scan_range.partition = (key::partition_of(found.key), key::plain_partition(found.key));
                }
                let view = scan.view(found);
                Ok(Some(match scan_range.partition {
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
        for (scan, scan_range) in self.scans.iter_mut().zip(&mut self.rows) {
            if scan_range.head.is_none() && !scan_range.ended {
                let found = scan.next(self.inner, self.txn, &mut scan_range.rows)?;
                scan_range.head = found.map(|found| scan.view(found));
                scan_range.ended = scan_range.head.is_none();
            }
        }
        let first = self.first(|scan_range| Some(scan_range.head.as_ref()?.stored_key_bytes()));
        Ok(first.and_then(|at| self.rows.get_mut(at)?.head.take()))
    }

    /// Returns the scan range whose key comes first, of those that have one.
    fn first(&self, key: impl for<'l> Fn(&'l RangeRows<'s>) -> Option<&'l [u8]>) -> Option<usize> {
        let reverse = self.scans.first().is_some_and(|scan| scan.plan.reverse);
        let mut first: Option<(&[u8], usize)> = None;
        for (at, scan_range) in self.rows.iter().enumerate() {
            let Some(key) = key(scan_range) else { continue };
            let one = (self.scan_ranges.rest(key), at);
            if first.is_none_or(|first| order(reverse, one, first).is_lt()) {
                first = Some(one);
            }
        }
        first.map(|(_, at)| at)
    }

    /// Returns the next row of a job's step. Of several scan ranges the one that is behind the others is read on, a row
    /// at a time. So when a step has looked at enough, every wanted row before its end has been returned, and the next
    /// step reads one row of each scan range again at most. Each step reads one row of each range at least, so that a
    /// job advances.
    pub(crate) fn next_of_step(&mut self, looked: &mut impl Tally) -> Result<Ahead<'s>> {
        for at in 0..self.rows.len() {
            if self.rows.get(at).is_some_and(|scan_range| scan_range.looked.is_none() && !scan_range.ended) {
                self.look(at, looked)?;
            }
        }
        loop {
            let at = self.first(|scan_range| match &scan_range.head {
                Some(head) => Some(head.stored_key_bytes()),
                None => scan_range.looked.filter(|_| !scan_range.ended),
            });
            let Some((at, scan_range)) = at.and_then(|at| Some((at, self.rows.get_mut(at)?))) else {
                return Ok(Ahead::Ended);
            };
            match (scan_range.head.take(), scan_range.looked) {
                (Some(head), Some(key)) => return Ok(Ahead::Row(head, key)),
                (None, Some(last)) if looked.is_enough() => return Ok(Ahead::Enough(last)),
                _ => self.look(at, looked)?,
            }
        }
    }

    /// Looks at one row more of a scan range.
    fn look(&mut self, at: usize, looked: &mut impl Tally) -> Result<()> {
        let (Some(scan), Some(scan_range)) = (self.scans.get_mut(at), self.rows.get_mut(at)) else {
            return Ok(());
        };
        let (key, bytes) = loop {
            let Some((key, bytes)) = scan_range.rows.next(scan.range.as_ref())? else {
                scan_range.ended = true;
                return scan.end();
            };
            if !scan.hides(key, bytes)? {
                break (key, bytes);
            }
        };
        let found = scan.take(self.inner, self.txn, key, bytes)?;
        looked.add(key.len() + bytes.len(), found.is_some());
        scan_range.looked = Some(key);
        scan_range.head = found.map(|found| scan.view(found));
        Ok(())
    }

    /// Returns whether anything is left, without reading on to the next match, which may be far.
    fn has_more(&mut self) -> Result<bool> {
        if self.remaining == 0 {
            return Ok(false);
        }
        for (scan, scan_range) in self.scans.iter().zip(&mut self.rows) {
            if scan_range.head.is_some() {
                return Ok(true);
            }
            if scan_range.ended {
                continue;
            }
            while let Some((key, bytes)) = scan_range.rows.next(scan.range.as_ref())? {
                if !scan.hides(key, bytes)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Returns the token of a page that ends after this row, or `None` if nothing is left.
    pub(crate) fn token(&mut self, partition: &str, row: &str) -> Result<Option<Continuation>> {
        if !self.has_more()? {
            return Ok(None);
        }
        let is_limited = self.scans.first().is_some_and(|scan| scan.plan.top.is_some());
        let position = Position { partition, row, remaining: is_limited.then_some(self.remaining) };
        Ok(Some(Continuation::new(position, scan_ranges::fingerprint(self.inner, self.txn, &self.scans)?)))
    }

    /// Returns the properties that are selected of the rows.
    pub(crate) fn selection(&self) -> &Selection {
        static ALL: Selection = Selection::ALL;
        self.scans.first().map_or(&ALL, Scan::selection)
    }
}
