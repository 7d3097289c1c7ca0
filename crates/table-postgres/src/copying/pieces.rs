//! Which plans of a load are copied together.

use std::collections::HashSet;

use crate::demand::Demand;
use crate::work::{Work, WorkAct, WorkRow};

/// Fewer rows are put into an `INSERT`, which takes fewer round trips.
const LEAST_ROWS: usize = 512;

/// The most partitions of one transaction: it takes a lock for each, and the server has room for thousands in all.
const MOST_PARTITIONS: usize = 1_000;

/// Plans of a load that follow one another.
pub(crate) enum Piece<'w> {
    /// They are copied together.
    Copied(&'w [Work]),
    /// They are carried out as any others.
    Other(&'w [Work]),
}

/// Returns the plans in their order, those together that are copied together.
pub(crate) fn pieces(works: &[Work]) -> Vec<Piece<'_>> {
    let (mut pieces, mut left) = (Vec::new(), works);
    while let Some(first) = left.first() {
        let is_copied = first.only_adds();
        let count = if is_copied { copied_together(left) } else { others(left) };
        let (piece, rest) = left.split_at(count);
        let rows: usize = piece.iter().map(|work| work.rows.len()).sum();
        pieces.push(if is_copied && rows >= LEAST_ROWS { Piece::Copied(piece) } else { Piece::Other(piece) });
        left = rest;
    }
    pieces
}

/// Returns how many plans, from the first on, are not to be copied.
fn others(works: &[Work]) -> usize {
    works.iter().position(Work::only_adds).unwrap_or(works.len())
}

/// Returns how many plans, from the first on, are copied together: they are alike, and have no row in common.
fn copied_together(works: &[Work]) -> usize {
    let (mut rows, mut partitions) = (HashSet::new(), HashSet::new());
    for (at, work) in works.iter().enumerate() {
        let goes_with_first = works.first().is_some_and(|first| first.goes_with(work));
        partitions.extend(work.partitions.iter());
        if at > 0 && (!goes_with_first || !work.only_adds() || partitions.len() > MOST_PARTITIONS) {
            return at;
        }
        for row in &work.rows {
            let table = work.tables.get(row.table).map_or(0, |entry| entry.id);
            if !rows.insert((table, &*row.partition, &*row.row)) {
                // A plan by itself has no row twice.
                return at.max(1);
            }
        }
    }
    works.len()
}

impl Work {
    /// Returns whether the plan adds rows that are not to be there yet, and does nothing else.
    fn only_adds(&self) -> bool {
        let adds = |row: &WorkRow| matches!((&row.act, row.demand), (WorkAct::Put(_), Demand::Absent));
        !self.rows.is_empty() && self.as_of.is_none() && self.is_of_rows_alone() && self.rows.iter().all(adds)
    }
}
