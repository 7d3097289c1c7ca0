//! Walks merged: the rows of several in one order.

use super::batch::{Plain, ReadSelected};
use super::{Batch, Lanes, Moment, Walk, order};
use crate::error::{Error, ErrorKind, Result};
use crate::row::named::PackedRow;
use crate::row::selection::Selection;

/// The rows of one lane, or of several in one order; at most as many as are wanted.
pub(crate) struct Merged {
    lanes: Lanes,
    walks: Vec<Lane>,
    remaining: u64,
    /// Of many walks, those that have a row, as a heap with the first row's at its head; `None` before the first row.
    heap: Option<Vec<usize>>,
}

/// So many walks are looked through for each row.
const FEW: usize = 8;

/// A walk, and what was read ahead of it.
struct Lane {
    walk: Box<dyn Walk>,
    batch: Batch,
    /// An error, which comes after what was read ahead.
    failed: Option<Error>,
    has_failed: bool,
}

impl Merged {
    /// A walk for each of the lanes.
    pub(crate) fn new(lanes: Lanes, walks: Vec<Box<dyn Walk>>) -> Self {
        let lane = |walk| Lane { walk, batch: Batch::default(), failed: None, has_failed: false };
        let remaining = lanes.wanted();
        Self { lanes, walks: walks.into_iter().map(lane).collect(), remaining, heap: None }
    }

    /// Bounds the rows that may still come.
    pub(crate) fn at_most(self, remaining: u64) -> Self {
        Self { remaining, ..self }
    }

    /// How many rows may still come.
    pub(super) fn remaining(&self) -> u64 {
        self.remaining
    }

    /// What of the rows is selected: known once a row has come.
    pub(super) fn selection(&self) -> &Selection {
        static ALL: Selection = Selection::ALL;
        self.walks.first().and_then(|lane| lane.batch.selection()).unwrap_or(&ALL)
    }

    /// The next row, to be kept.
    pub(super) fn next_packed(&mut self, moment: &dyn Moment) -> Option<Result<PackedRow>> {
        let next = match self.first(moment)? {
            Ok(lane) => lane.batch.next_packed(moment),
            Err(error) => Some(Err(error)),
        };
        if !matches!(next, Some(Ok(_))) {
            self.remaining = 0;
        }
        next
    }

    /// The next row and what of it is selected, if it is as most are: of one lane alone, and read ahead. Otherwise nothing is
    /// taken, and [`next`](Self::next) gives it. Whoever can't read it says so by [`failed`](Self::failed).
    // A build that is not optimized has this once; in others it is made where the row is read.
    #[cfg_attr(
        not(debug_assertions),
        expect(clippy::inline_always, reason = "for each row, a call costs as much as what it does"),
        inline(always)
    )]
    pub(crate) fn next_plain<'m>(&'m mut self, moment: &'m dyn Moment) -> Option<Plain<'m>> {
        let [lane] = self.walks.as_mut_slice() else { return None };
        let remaining = self.remaining.checked_sub(1)?;
        let plain = lane.batch.next_plain(moment)?;
        self.remaining = remaining;
        Some(plain)
    }

    /// Gives `read` the next row, and what of it is selected.
    #[inline(never)]
    pub(crate) fn next(&mut self, moment: &dyn Moment, read: &mut ReadSelected<'_>) -> Option<Result<()>> {
        let next = match self.first(moment)? {
            Ok(lane) => lane.batch.next(moment, read),
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
    pub(crate) fn skip(&mut self, moment: &dyn Moment) -> Option<Result<()>> {
        match self.first(moment)? {
            Ok(lane) => lane.batch.skip().map(Ok),
            Err(error) => {
                self.remaining = 0;
                Some(Err(error))
            }
        }
    }

    /// The lane that has the next row, which is going to be taken.
    #[inline(never)]
    fn first(&mut self, moment: &dyn Moment) -> Option<Result<&mut Lane>> {
        if self.remaining == 0 {
            return None;
        }
        if self.walks.len() > FEW {
            return self.first_of_many(moment);
        }
        for lane in &mut self.walks {
            lane.fill(moment);
            // The rows read before an error come first. Nobody knows where the error stands among other lanes' rows.
            if lane.batch.is_empty()
                && let Some(error) = lane.failed.take()
            {
                return Some(Err(error));
            }
        }
        let first = if self.walks.len() == 1 { 0 } else { first_of(&self.lanes, &self.walks, moment)? };
        let lane = self.walks.get_mut(first).filter(|lane| !lane.batch.is_empty());
        self.remaining = if lane.is_some() { self.remaining - 1 } else { 0 };
        lane.map(Ok)
    }
}

impl Merged {
    /// Returns the walk, of many, whose row comes next. One row is taken of the walk that was first, so that it alone is looked
    /// at again.
    fn first_of_many(&mut self, moment: &dyn Moment) -> Option<Result<&mut Lane>> {
        let mut heap = match self.heap.take() {
            None => {
                let mut all = Vec::with_capacity(self.walks.len());
                for (at, lane) in self.walks.iter_mut().enumerate() {
                    match lane.ahead(moment) {
                        Ok(true) => all.push(at),
                        Ok(false) => {}
                        Err(error) => return Some(Err(error)),
                    }
                }
                for at in (0..all.len() / 2).rev() {
                    self.sift(&mut all, at, moment);
                }
                all
            }
            Some(mut heap) => {
                let lane = heap.first().and_then(|first| self.walks.get_mut(*first))?;
                match lane.ahead(moment) {
                    Ok(true) => {}
                    Ok(false) => drop(heap.swap_remove(0)),
                    Err(error) => return Some(Err(error)),
                }
                self.sift(&mut heap, 0, moment);
                heap
            }
        };
        let first = heap.first().copied();
        self.heap = Some(std::mem::take(&mut heap));
        self.remaining = if first.is_some() { self.remaining - 1 } else { 0 };
        first.and_then(|first| self.walks.get_mut(first)).map(Ok)
    }

    /// Moves a walk down the heap to where its row belongs.
    fn sift(&self, heap: &mut [usize], mut at: usize, moment: &dyn Moment) {
        let reverse = self.lanes.are_reverse();
        let first = |place: usize| -> Option<(&[u8], usize)> {
            let walk = *heap_at(heap, place)?;
            Some((self.lanes.rest(self.walks.get(walk)?.batch.head(moment)?), walk))
        };
        let mut swaps = Vec::new();
        // The walk that moves; the others stay where they are on its way.
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

/// The lane whose next row comes first.
fn first_of(lanes: &Lanes, walks: &[Lane], moment: &dyn Moment) -> Option<usize> {
    let reverse = lanes.are_reverse();
    let heads = walks.iter().enumerate();
    let heads = heads.filter_map(|(at, lane)| Some((lanes.rest(lane.batch.head(moment)?), at)));
    let (_, first) = heads.min_by(|a, b| order(reverse, *a, *b))?;
    Some(first)
}

impl Lane {
    /// Whether it has a row, read ahead by now. The rows read before an error come first.
    fn ahead(&mut self, moment: &dyn Moment) -> Result<bool> {
        self.fill(moment);
        match self.failed.take_if(|_| self.batch.is_empty()) {
            Some(error) => Err(error),
            None => Ok(!self.batch.is_empty()),
        }
    }

    /// Reads on if nothing is left of what was read ahead.
    #[inline]
    fn fill(&mut self, moment: &dyn Moment) {
        if !self.batch.is_empty() || self.batch.has_ended() || self.has_failed {
            return;
        }
        self.batch.clear();
        if let Err(error) = self.walk.fill(moment, &mut self.batch) {
            self.has_failed = true;
            self.failed = Some(error);
        }
    }
}
