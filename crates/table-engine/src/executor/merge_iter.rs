//! The rows of several cursors in one order.
//!
//! Queries that differ in the digits of a shard alone are merged by the bytes behind the shard, in one snapshot. A
//! continuation names the last row: every range goes on behind that row, or at it, by its own shard's number.
//!
//! Queries of several tokens are merged likewise. Without a snapshot a row that is sealed anew meanwhile moves from the range of
//! the older token to that of the newer one, and is in either when that is read, or in both: so the older one is read to its
//! end before the newer one is begun, and what has been given is left out.

use std::cmp::Ordering;

use super::batch::{Plain, ReadSelected};
use super::read_whole::ReadWhole;
use super::{Batch, ReadSnapshot, RowCursor, ScanRanges};
use crate::error::{Error, ErrorKind, Result};
use crate::row::named::PackedRow;
use crate::row::selection::Selection;

/// Compares the places of two rows, which are the rest of the key and then the shard; `reverse`: the other way round.
pub fn order<P: Ord + Copy>(reverse: bool, a: P, b: P) -> Ordering {
    if reverse { b.cmp(&a) } else { a.cmp(&b) }
}

/// The rows of one scan range, or of several in one order; at most as many as are wanted.
pub(crate) struct MergeIter {
    scan_ranges: ScanRanges,
    cursors: Vec<MergeInput>,
    remaining: u64,
    /// Of many cursors, those that have a row, as a heap with the first row's at its head; `None` before the first row.
    heap: Option<Vec<usize>>,
    /// Where rows may move: the row that was given last, by the rest of its key and its cursor.
    given: Option<(Vec<u8>, usize)>,
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
        let scan_range = |(at, cursor): (usize, Box<dyn RowCursor>)| MergeInput {
            cursor: if scan_ranges.may_lose(at) { Box::new(ReadWhole::of(cursor)) } else { cursor },
            batch: Batch::default(),
            failed: None,
            has_failed: false,
        };
        let cursors = cursors.into_iter().enumerate().map(scan_range).collect();
        let remaining = scan_ranges.wanted();
        Self { scan_ranges, cursors, remaining, heap: None, given: None }
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
        if self.cursors.len() == 1 {
            let scan_range = self.cursors.first_mut()?;
            scan_range.fill(snapshot);
            self.remaining = if scan_range.batch.is_empty() { 0 } else { self.remaining - 1 };
            return match scan_range.failed.take_if(|_| scan_range.batch.is_empty()) {
                Some(error) => Some(Err(error)),
                None => (!scan_range.batch.is_empty()).then_some(Ok(scan_range)),
            };
        }
        let first = loop {
            let first = if self.cursors.len() > FEW {
                self.first_of_many(snapshot)
            } else {
                self.first_of_few(snapshot)
            };
            match first {
                Some(Ok(at)) if self.was_given(at, snapshot) => self.cursors.get_mut(at)?.batch.skip()?,
                first => break first,
            }
        };
        match first {
            Some(Ok(at)) => {
                self.remaining -= 1;
                self.cursors.get_mut(at).map(Ok)
            }
            Some(Err(error)) => Some(Err(error)),
            None => {
                self.remaining = 0;
                None
            }
        }
    }

    /// Returns whether the next row of a cursor has been given already, out of a range from which it has moved.
    fn was_given(&mut self, at: usize, snapshot: &dyn ReadSnapshot) -> bool {
        if !self.scan_ranges.may_move() {
            return false;
        }
        let head = self.cursors.get(at).and_then(|scan_range| scan_range.batch.head(snapshot));
        let rest = self.scan_ranges.rest(head.unwrap_or_default());
        let was_given = self.given.as_ref().is_some_and(|(given, from)| {
            *from != at && given == rest && self.scan_ranges.share_rows(*from, at)
        });
        if !was_given {
            self.given = Some((rest.to_vec(), at));
        }
        was_given
    }

    fn first_of_few(&mut self, snapshot: &dyn ReadSnapshot) -> Option<Result<usize>> {
        for scan_range in &mut self.cursors {
            scan_range.fill(snapshot);
            // The rows read before an error come first. Where the error stands among other scan ranges' rows is not known.
            if scan_range.batch.is_empty()
                && let Some(error) = scan_range.failed.take()
            {
                return Some(Err(error));
            }
        }
        first_of(&self.scan_ranges, &self.cursors, snapshot).map(Ok)
    }
}

impl MergeIter {
    /// Returns the cursor, of many, whose row comes next. One row is taken of the cursor that was first, so that it alone is
    /// looked at again.
    fn first_of_many(&mut self, snapshot: &dyn ReadSnapshot) -> Option<Result<usize>> {
        let heap = match self.heap.take() {
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
        self.heap = Some(heap);
        first.map(Ok)
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
