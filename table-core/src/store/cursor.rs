//! Walking over stored rows.
//!
//! A damaged page is not to shorten a walk unseen. The keys must rise; the rows beside the range are checked, and a
//! search for those must lead to where the walk began and ended; each leaf on the way must be whole, and a search must
//! find the last of them just where the walk did.

use std::ops::Bound;

use heed::types::Bytes;

use super::lmdb;
use super::scan::Scan;
use super::{Inner, read};
use crate::error::Result;

/// A walk over the rows of a range, in either direction, that checks their order.
pub(super) struct Cursor<'t> {
    inner: &'t Inner,
    txn: &'t heed::RoTxn<'t>,
    rows: Walk<'t>,
    /// The range's end in the direction of the walk.
    limit: Vec<u8>,
    /// Its other end, where the walk starts unless it goes on from a row.
    origin: Vec<u8>,
    pub(super) last: Option<&'t [u8]>,
    /// The row beside the range where the walk starts, if there is one.
    before: Option<&'t [u8]>,
    /// Where the last leaf lies.
    leaf: Option<usize>,
    /// The first row seen in it, and the one before.
    entered: Option<(Option<&'t [u8]>, &'t [u8])>,
    reverse: bool,
    verify: bool,
}

enum Walk<'t> {
    Forward(heed::RoRange<'t, Bytes, Bytes>),
    Backward(heed::RoRevRange<'t, Bytes, Bytes>),
    Ended,
}

impl<'t> Cursor<'t> {
    /// A walk from the start of the scan's range, or on from the row that `resume` names.
    pub(super) fn new(
        inner: &'t Inner,
        txn: &'t heed::RoTxn<'t>,
        scan: &Scan,
        resume: Option<&[u8]>,
    ) -> Result<Self> {
        let (data, reverse) = (inner.environment.dbs.data, scan.plan.reverse);
        let mut cursor = Self {
            inner,
            txn,
            rows: Walk::Ended,
            limit: Vec::new(),
            origin: Vec::new(),
            last: None,
            before: None,
            leaf: None,
            entered: None,
            reverse,
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
            return Ok(cursor);
        }
        cursor.origin.clone_from(if reverse { end } else { start });
        if scan.verify {
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
                read::verify_row(inner, key, bytes)?;
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

    pub(super) fn next(&mut self) -> Result<Option<(&'t [u8], &'t [u8])>> {
        let reverse = match self.rows {
            Walk::Forward(_) => false,
            Walk::Backward(_) => true,
            Walk::Ended => return Ok(None),
        };
        let step = self.step()?;
        if let Err(damaged) = self.check_step(step, reverse) {
            self.rows = Walk::Ended;
            return Err(damaged);
        }
        let Some((key, bytes)) = step else {
            self.rows = Walk::Ended;
            if self.verify {
                self.check_end(None, reverse)?;
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
        // Led astray by a damaged page, LMDB starts before the range.
        let outside = if reverse { key >= self.origin.as_slice() } else { key < self.origin.as_slice() };
        if self.last.is_none() && outside {
            self.rows = Walk::Ended;
            return Err(read::out_of_order());
        }
        let beyond = if reverse { key < self.limit.as_slice() } else { key >= self.limit.as_slice() };
        if beyond {
            self.rows = Walk::Ended;
            if self.verify {
                // A damaged key must not pass for one beyond the range.
                read::verify_row(self.inner, key, bytes)?;
                self.check_end(Some(key), reverse)?;
            }
            return Ok(None);
        }
        self.last = Some(key);
        Ok(Some((key, bytes)))
    }

    /// At a row beyond the range, or at the end of all rows: whether the last one seen is the one before it.
    fn check_end(&mut self, beyond: Option<&[u8]>, reverse: bool) -> Result<()> {
        self.entered = None;
        let before = read::next(self.inner.environment.dbs.data, self.txn, beyond, !reverse)?;
        if before == self.last.or(self.before) { Ok(()) } else { Err(read::out_of_order()) }
    }

    /// Where a walk breaks off: whether the last leaf belongs where the walk came to it. One that lies elsewhere would
    /// be found out by what comes after it, had the walk gone on.
    pub(super) fn check_leaf(&mut self) -> Result<()> {
        let Some((before, first)) = self.entered.take() else { return Ok(()) };
        let found = read::next(self.inner.environment.dbs.data, self.txn, Some(first), !self.reverse)?;
        if found == before { Ok(()) } else { Err(read::out_of_order()) }
    }

    /// Checks that the first row is the one beside the range's start, that a leaf is whole when it is entered, and that
    /// a row lies in it.
    fn check_step(&mut self, step: Option<(&'t [u8], &'t [u8])>, reverse: bool) -> Result<()> {
        if !self.verify {
            return Ok(());
        }
        if self.last.is_none() {
            let first = read::next(self.inner.environment.dbs.data, self.txn, self.before, reverse)?;
            if first != step.map(|(key, _)| key) {
                return Err(read::out_of_order());
            }
        }
        let (Some((key, bytes)), Some(pages)) = (step, &self.inner.environment.pages) else { return Ok(()) };
        let leaf = pages.place(key);
        if self.leaf != Some(leaf) {
            pages.check_leaf(key)?;
            self.leaf = Some(leaf);
            self.entered = Some((self.last.or(self.before), key));
        }
        pages.check_value(bytes)
    }
}
