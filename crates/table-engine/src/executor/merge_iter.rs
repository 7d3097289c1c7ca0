//! Scan ranges, which are what cursors read of one query, or of several; and the rows of several cursors in one order.
//!
//! Queries that differ in the digits of a shard alone are merged by the bytes behind the shard, in one snapshot. A
//! continuation names the last row: every range goes on behind that row, or at it, by its own shard's number.

use std::cmp::Ordering;

use super::batch::{Plain, ReadSelected};
use super::{Batch, ReadSnapshot, RowCursor};
use crate::error::{Error, ErrorKind, Result};
#[cfg(feature = "access")]
use crate::query::Visible;
use crate::query::{Explain, Query};
use crate::row::key;
use crate::row::named::PackedRow;
use crate::row::selection::Selection;

/// One query; or several, one for each shard or token, whose rows are merged in the order of what follows it in their
/// keys.
///
/// The queries differ in the shard or token alone, which has as many digits in each.
#[derive(Clone, Debug)]
pub struct ScanRanges {
    queries: Queries,
    /// The bytes of partition key, separator and row key up to the end of the shard.
    common: usize,
}

/// The queries, at least one.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "most queries have one scan range, which needs no memory of its own"
)]
enum Queries {
    One(Query),
    Several(Vec<Query>),
}

impl From<Query> for ScanRanges {
    fn from(query: Query) -> Self {
        Self { queries: Queries::One(query), common: 0 }
    }
}

impl ScanRanges {
    /// Queries whose rows are merged by what follows so many bytes of their keys.
    pub(crate) fn merged(queries: Vec<Query>, common: usize) -> Self {
        Self { queries: Queries::Several(queries), common }
    }

    /// Returns the ranges with each query narrowed to what its reader may see.
    #[cfg(feature = "access")]
    pub(crate) fn narrowed(&self, visible: &Visible) -> Self {
        let narrow = |query: &Query| query.clone().narrowed(visible.clone());
        let queries = match &self.queries {
            Queries::One(query) => Queries::One(narrow(query)),
            Queries::Several(queries) => Queries::Several(queries.iter().map(narrow).collect()),
        };
        Self { queries, common: self.common }
    }

    /// Returns the query of each scan range.
    pub fn queries(&self) -> &[Query] {
        match &self.queries {
            Queries::One(query) => std::slice::from_ref(query),
            Queries::Several(queries) => queries,
        }
    }

    /// Returns how the queries will be answered.
    pub(crate) fn explain(&self) -> Result<Explain> {
        let Some(first) = self.queries().first() else {
            return Query::new().top(0).explain();
        };
        Ok(first.explain()?.merged(self.queries().len(), first.most()))
    }

    /// Returns how many entities are wanted.
    pub fn wanted(&self) -> u64 {
        let top = self.queries().first().and_then(Query::most);
        top.map_or(u64::MAX, |top| u64::try_from(top).unwrap_or(u64::MAX))
    }

    /// Returns whether the rows come from the last to the first.
    pub(crate) fn are_reverse(&self) -> bool {
        self.queries().first().is_some_and(Query::is_reverse)
    }

    /// Returns whether a store without a descending order may hold rows to turn them round.
    pub(crate) fn may_buffer(&self) -> bool {
        self.queries().first().and_then(Query::buffers).is_some()
    }

    /// Returns the bytes by which rows are merged.
    pub fn rest<'k>(&self, stored: &'k [u8]) -> &'k [u8] {
        key::behind_shared(stored, self.common)
    }
}

/// Returns which of two rows comes first: by the rest of the key, then by shard.
pub fn order(reverse: bool, a: (&[u8], usize), b: (&[u8], usize)) -> Ordering {
    if reverse { b.cmp(&a) } else { a.cmp(&b) }
}

/// The rows of one scan range, or of several in one order; at most as many as are wanted.
pub(crate) struct MergeIter {
    scan_ranges: ScanRanges,
    cursors: Vec<MergeInput>,
    remaining: u64,
    /// Of many cursors, those that have a row, as a heap with the first row's at its head; `None` before the first row.
    heap: Option<Vec<usize>>,
}

/// Up to so many cursors are looked through for each row. Of more, a heap finds the first with fewer comparisons.
const FEW: usize = 8;

/// A cursor, and what was read ahead of it.
struct MergeInput {
    cursor: Box<dyn RowCursor>,
    batch: Batch,
    /// An error, which comes after what was read ahead.
    failed: Option<Error>,
    has_failed: bool,
}

impl MergeIter {
    /// Merges these cursors, one for each of the scan ranges.
    pub(crate) fn new(scan_ranges: ScanRanges, cursors: Vec<Box<dyn RowCursor>>) -> Self {
        let scan_range =
            |cursor| MergeInput { cursor, batch: Batch::default(), failed: None, has_failed: false };
        let remaining = scan_ranges.wanted();
        Self { scan_ranges, cursors: cursors.into_iter().map(scan_range).collect(), remaining, heap: None }
    }

    /// Returns what it reads.
    #[cfg(feature = "async")]
    pub(crate) fn scan_ranges(&self) -> &ScanRanges {
        &self.scan_ranges
    }

    /// Returns how many rows may still come, if the query limits them.
    #[cfg(feature = "async")]
    pub(crate) fn remaining(&self) -> Option<u64> {
        (self.scan_ranges.wanted() < u64::MAX).then_some(self.remaining)
    }

    /// Bounds the rows that may still come.
    pub(crate) fn at_most(self, remaining: u64) -> Self {
        Self { remaining, ..self }
    }

    /// Returns what of the rows is selected: known once a row has come.
    pub(super) fn selection(&self) -> &Selection {
        static ALL: Selection = Selection::ALL;
        self.cursors.first().and_then(|scan_range| scan_range.batch.selection()).unwrap_or(&ALL)
    }

    /// Returns the next row, to be kept.
    pub(super) fn next_packed(&mut self, snapshot: &dyn ReadSnapshot) -> Option<Result<PackedRow>> {
        let next = match self.first(snapshot)? {
            Ok(scan_range) => scan_range.batch.next_packed(snapshot),
            Err(error) => Some(Err(error)),
        };
        if !matches!(next, Some(Ok(_))) {
            self.remaining = 0;
        }
        next
    }

    /// Returns the next row and what of it is selected, if it is as most are: of one scan range alone, and read ahead.
    /// Otherwise nothing is taken, and [`next`](Self::next) gives it. If the caller can't read it, it reports that by
    /// [`failed`](Self::failed).
    // A build that is not optimized has this once; in others it is made where the row is read.
    #[cfg_attr(
        not(debug_assertions),
        expect(clippy::inline_always, reason = "for each row, a call costs as much as what it does"),
        inline(always)
    )]
    pub(crate) fn next_plain<'m>(&'m mut self, snapshot: &'m dyn ReadSnapshot) -> Option<Plain<'m>> {
        let [scan_range] = self.cursors.as_mut_slice() else { return None };
        let remaining = self.remaining.checked_sub(1)?;
        let plain = scan_range.batch.next_plain(snapshot)?;
        self.remaining = remaining;
        Some(plain)
    }

    /// Gives `read` the next row, and what of it is selected.
    #[inline(never)]
    pub(crate) fn next(
        &mut self,
        snapshot: &dyn ReadSnapshot,
        read: &mut ReadSelected<'_>,
    ) -> Option<Result<()>> {
        let next = match self.first(snapshot)? {
            Ok(scan_range) => scan_range.batch.next(snapshot, read),
            Err(error) => Some(Err(error)),
        };
        match &next {
            Some(Ok(())) => {}
            Some(Err(error)) => self.failed(error),
            None => self.remaining = 0,
        }
        next
    }

    /// Ends the rows with an error, unless more come behind it: an entity that can't be converted is one error among the
    /// others.
    #[cold]
    pub(crate) fn failed(&mut self, error: &Error) {
        if error.kind() != ErrorKind::NotConverted {
            self.remaining = 0;
        }
    }

    /// Goes past the next row; `None` if there is none.
    pub(crate) fn skip(&mut self, snapshot: &dyn ReadSnapshot) -> Option<Result<()>> {
        match self.first(snapshot)? {
            Ok(scan_range) => scan_range.batch.skip().map(Ok),
            Err(error) => {
                self.remaining = 0;
                Some(Err(error))
            }
        }
    }

    /// Returns the scan range that has the next row, which is going to be taken.
    #[inline(never)]
    fn first(&mut self, snapshot: &dyn ReadSnapshot) -> Option<Result<&mut MergeInput>> {
        if self.remaining == 0 {
            return None;
        }
        if self.cursors.len() > FEW {
            return self.first_of_many(snapshot);
        }
        for scan_range in &mut self.cursors {
            scan_range.fill(snapshot);
            // The rows read before an error come first. Where the error stands among other scan ranges' rows is not known.
            if scan_range.batch.is_empty()
                && let Some(error) = scan_range.failed.take()
            {
                return Some(Err(error));
            }
        }
        let first =
            if self.cursors.len() == 1 { 0 } else { first_of(&self.scan_ranges, &self.cursors, snapshot)? };
        let scan_range = self.cursors.get_mut(first).filter(|scan_range| !scan_range.batch.is_empty());
        self.remaining = if scan_range.is_some() { self.remaining - 1 } else { 0 };
        scan_range.map(Ok)
    }
}

impl MergeIter {
    /// Returns the cursor, of many, whose row comes next. One row is taken of the cursor that was first, so that it alone is
    /// looked at again.
    fn first_of_many(&mut self, snapshot: &dyn ReadSnapshot) -> Option<Result<&mut MergeInput>> {
        let mut heap = match self.heap.take() {
            None => {
                let mut all = Vec::with_capacity(self.cursors.len());
                for (at, scan_range) in self.cursors.iter_mut().enumerate() {
                    match scan_range.ahead(snapshot) {
                        Ok(true) => all.push(at),
                        Ok(false) => {}
                        Err(error) => return Some(Err(error)),
                    }
                }
                for at in (0..all.len() / 2).rev() {
                    self.sift(&mut all, at, snapshot);
                }
                all
            }
            Some(mut heap) => {
                let scan_range = heap.first().and_then(|first| self.cursors.get_mut(*first))?;
                match scan_range.ahead(snapshot) {
                    Ok(true) => {}
                    Ok(false) => drop(heap.swap_remove(0)),
                    Err(error) => return Some(Err(error)),
                }
                self.sift(&mut heap, 0, snapshot);
                heap
            }
        };
        let first = heap.first().copied();
        self.heap = Some(std::mem::take(&mut heap));
        self.remaining = if first.is_some() { self.remaining - 1 } else { 0 };
        first.and_then(|first| self.cursors.get_mut(first)).map(Ok)
    }

    /// Moves a cursor down the heap to where its row belongs.
    fn sift(&self, heap: &mut [usize], mut at: usize, snapshot: &dyn ReadSnapshot) {
        let reverse = self.scan_ranges.are_reverse();
        let first = |place: usize| -> Option<(&[u8], usize)> {
            let cursor = *heap_at(heap, place)?;
            Some((self.scan_ranges.rest(self.cursors.get(cursor)?.batch.head(snapshot)?), cursor))
        };
        let mut swaps = Vec::new();
        // The cursor that moves; those that it passes stay where they are.
        let moving = first(at);
        loop {
            let child = |place: usize| first(place).map(|first| (first, place));
            let (left, right) = (child(2 * at + 1), child(2 * at + 2));
            let least = match (left, right) {
                (Some(left), Some(right)) if order(reverse, right.0, left.0).is_lt() => Some(right),
                (left, _) => left,
            };
            match (moving, least) {
                (Some(moving), Some((first, place))) if order(reverse, first, moving).is_lt() => {
                    swaps.push((at, place));
                    at = place;
                }
                _ => break,
            }
        }
        for (a, b) in swaps {
            heap.swap(a, b);
        }
    }
}

fn heap_at(heap: &[usize], place: usize) -> Option<&usize> {
    heap.get(place)
}

/// Returns the scan range whose next row comes first.
fn first_of(scan_ranges: &ScanRanges, cursors: &[MergeInput], snapshot: &dyn ReadSnapshot) -> Option<usize> {
    let reverse = scan_ranges.are_reverse();
    let heads = cursors.iter().enumerate();
    let heads =
        heads.filter_map(|(at, scan_range)| Some((scan_ranges.rest(scan_range.batch.head(snapshot)?), at)));
    let (_, first) = heads.min_by(|a, b| order(reverse, *a, *b))?;
    Some(first)
}

impl MergeInput {
    /// Returns whether it has a row, read ahead by now. The rows read before an error come first.
    fn ahead(&mut self, snapshot: &dyn ReadSnapshot) -> Result<bool> {
        self.fill(snapshot);
        match self.failed.take_if(|_| self.batch.is_empty()) {
            Some(error) => Err(error),
            None => Ok(!self.batch.is_empty()),
        }
    }

    /// Reads on if nothing is left of what was read ahead.
    #[inline]
    fn fill(&mut self, snapshot: &dyn ReadSnapshot) {
        if !self.batch.is_empty() || self.batch.has_ended() || self.has_failed {
            return;
        }
        self.batch.clear();
        if let Err(error) = self.cursor.fill(snapshot, &mut self.batch) {
            self.has_failed = true;
            self.failed = Some(error);
        }
    }
}
