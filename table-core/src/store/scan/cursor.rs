//! Walking over stored rows.
//!
//! A damaged page is not to shorten a walk unseen. The keys must rise, each leaf on the way must be whole, and the rows
//! beside the range are checked. Where the walk goes from one leaf to another, the paths to both show that nothing stands
//! between: also at the first step and at the last.

use std::ops::Bound;

use heed::types::Bytes;

use super::read;
use crate::error::Result;
use crate::store::lmdb;
use crate::store::open::{LeafPath, Tree};
use crate::store::opened::Inner;
use crate::store::scan::Scan;

/// A walk over the rows of a range, in either direction, that checks their order.
pub(in crate::store) struct Cursor<'t> {
    inner: &'t Inner,
    txn: &'t heed::RoTxn<'t>,
    rows: Walk<'t>,
    /// The range's end in the direction of the walk.
    limit: Vec<u8>,
    /// Its other end, where the walk starts unless it goes on from a row.
    origin: Vec<u8>,
    pub(in crate::store) last: Option<&'t [u8]>,
    /// The row beside the range where the walk starts, if there is one.
    before: Option<&'t [u8]>,
    /// Where the last leaf lies.
    leaf: Option<usize>,
    /// The path to it, once another has been left for it.
    path: Option<LeafPath>,
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
    pub(in crate::store) fn new(
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
            path: None,
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
                read::verify_row(&inner.environment, key, bytes)?;
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

    pub(in crate::store) fn next(&mut self) -> Result<Option<(&'t [u8], &'t [u8])>> {
        let reverse = match self.rows {
            Walk::Forward(_) => false,
            Walk::Backward(_) => true,
            Walk::Ended => return Ok(None),
        };
        let step = self.step()?;
        if let Err(damaged) = self.check_step(step) {
            self.rows = Walk::Ended;
            return Err(damaged);
        }
        let Some((key, bytes)) = step else {
            self.rows = Walk::Ended;
            // Of a walk that met no row, its first step was checked.
            if self.verify
                && let Some(last) = self.last
            {
                self.check_adjacent(Some(last), None)?;
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
                read::verify_row(&self.inner.environment, key, bytes)?;
            }
            return Ok(None);
        }
        self.last = Some(key);
        Ok(Some((key, bytes)))
    }

    /// Checks that the first row is the one beside the range's start, that a leaf is whole when it is entered, and that
    /// a row lies in it.
    fn check_step(&mut self, step: Option<(&'t [u8], &'t [u8])>) -> Result<()> {
        if !self.verify {
            return Ok(());
        }
        let key = step.map(|(key, _)| key);
        if self.last.is_none() {
            self.check_adjacent(self.before, key)?;
        }
        let (Some((key, bytes)), Some(pages)) = (step, &self.inner.environment.dbs.pages) else {
            return Ok(());
        };
        let leaf = pages.place(key);
        if self.leaf != Some(leaf) {
            pages.check_leaf(key)?;
            self.inner.environment.check_in_use(self.txn, self.txn.id(), key)?;
            if let Some(last) = self.last.filter(|last| pages.place(last) != leaf) {
                self.cross(last, key)?;
            }
            self.leaf = Some(leaf);
        }
        pages.check_value(bytes)?;
        // A large value lies on pages of its own.
        if pages.place(bytes) == leaf {
            Ok(())
        } else {
            self.inner.environment.check_in_use(self.txn, self.txn.id(), bytes)
        }
    }

    /// Goes from the leaf of one row to that of the next.
    fn cross(&mut self, from: &[u8], to: &[u8]) -> Result<()> {
        let (environment, txn) = (&self.inner.environment, self.txn);
        let Some(tree) = Tree::find(environment, txn, txn.id())? else {
            return self.check_adjacent(Some(from), Some(to));
        };
        let mut path = match self.path.take() {
            Some(path) => path,
            None => tree.path(environment, txn, from)?,
        };
        tree.go_on(environment, txn, &mut path, to, self.reverse)?;
        self.path = Some(path);
        Ok(())
    }

    /// Checks that two rows follow one another in the direction of the walk; without one, that the other is at the end
    /// of all rows.
    fn check_adjacent(&self, one: Option<&[u8]>, other: Option<&[u8]>) -> Result<()> {
        let (before, after) = if self.reverse { (other, one) } else { (one, other) };
        if read::adjacent(&self.inner.environment, self.txn, before, after)? {
            Ok(())
        } else {
            Err(read::out_of_order())
        }
    }
}
