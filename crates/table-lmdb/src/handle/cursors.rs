//! A scan range's rows, lent a leaf at a time.

use lmdb_verify::{Entry, HEADER, LeafWalk, SnapshotPages};

use table_engine::error::Result;
use table_engine::executor::{Batch, Lent, ReadSnapshot, RowCursor, ScanRanges};
use table_engine::model::EntityKeys;

use super::lmdb_snapshot::LmdbSnapshot;
use super::lmdb_table::LmdbTable;
use crate::lmdb::{damage, damaged_page};
use crate::scan::{Scan, pages, scan_ranges};

/// The number of rows that a cursor lends first; it then lends more at a time, so that a caller that wants few rows
/// pays for few.
const FIRST: usize = 4;
/// The factor by which the number grows each time.
const GROWTH: usize = 4;
/// The most rows that a cursor lends at a time: more than a leaf has.
const MOST: usize = 1 << 16;
/// Rows that a batch has room for from the beginning, if the leaf has so many: more than most leaves have.
const MOST_EXPECTED: usize = 64;

/// Returns the cursors of these scan ranges of a table, from their beginning or behind the row of these keys.
pub(crate) fn cursors(
    snapshot: &LmdbSnapshot,
    table: &LmdbTable,
    scan_ranges: &ScanRanges,
    after: Option<EntityKeys<'_>>,
) -> Result<Vec<Box<dyn RowCursor>>> {
    let (inner, txn) = snapshot.parts();
    let walk = |scan: Scan| -> Box<dyn RowCursor> { Box::new(Leaves { scan, walk: None, rows: FIRST }) };
    if let ([query], None) = (scan_ranges.queries(), after) {
        // Most queries have one scan range. A scan is large, and is better not moved.
        return Ok(vec![walk(Scan::new(inner, txn, table.state(), query)?)]);
    }
    let mut scans = scan_ranges::scans(scan_ranges, inner, txn, table.state())?;
    if let Some(last) = after {
        scan_ranges::go_on_after(scan_ranges, &mut scans, last)?;
    }
    Ok(scans.into_iter().map(walk).collect())
}

/// A scan over leaves, of which it holds no more than numbers.
struct Leaves {
    scan: Scan,
    /// The walk, once it has begun.
    walk: Option<LeafWalk>,
    /// The most rows that it lends the next time.
    rows: usize,
}

impl RowCursor for Leaves {
    fn fill(&mut self, snapshot: &dyn ReadSnapshot, batch: &mut Batch) -> Result<()> {
        let filled = self.lend(LmdbSnapshot::of(snapshot)?, batch);
        let (dict, selection) = self.scan.read_by();
        batch.read_by(dict, selection, self.scan.verify);
        filled
    }
}

impl Leaves {
    /// Lends rows of the next leaf that has some.
    fn lend(&mut self, snapshot: &LmdbSnapshot, batch: &mut Batch) -> Result<()> {
        let (inner, txn) = snapshot.parts();
        let pages = pages(inner, txn, &self.scan);
        if self.scan.range.is_none() {
            batch.end();
            return Ok(());
        }
        let mut walk = match self.walk.take() {
            Some(walk) => walk,
            None => self.begin(pages)?,
        };
        let wanted = self.rows;
        self.rows = (wanted * GROWTH).min(MOST);
        while self.scan.remaining > 0 {
            let Some((start, end)) = &self.scan.range else { break };
            let Some(leaf) = walk.leaf(pages, start..end).map_err(damage)? else {
                batch.end();
                return self.scan.end();
            };
            self.scan.looked.check_slow();
            batch.lend_page(leaf.number, leaf.length());
            let most = usize::try_from(self.scan.remaining).unwrap_or(usize::MAX);
            batch.expect(leaf.entries().min(MOST_EXPECTED).min(most));
            while let Some(row) = walk.next_of(pages, leaf) {
                let Entry { key, bytes, apart } = row.map_err(damage)?;
                if !self.scan.accepts_fast_path(key, bytes)
                    && self.scan.take(inner, txn, key, bytes)?.is_none()
                {
                    continue;
                }
                let row = match apart {
                    None => Lent::Here(leaf.place(bytes)),
                    Some(page) => Lent::Apart(page, HEADER..HEADER + bytes.len()),
                };
                batch.lend_row(leaf.place(key), row);
                if batch.len() == wanted || self.scan.remaining == 0 {
                    break;
                }
            }
            if !batch.is_empty() {
                self.walk = Some(walk);
                return Ok(());
            }
        }
        batch.end();
        Ok(())
    }

    fn begin(&self, pages: SnapshotPages<'_>) -> Result<LeafWalk> {
        let Some((start, end)) = &self.scan.range else { return Err(damaged_page()) };
        pages.walk(start..end, self.scan.plan.reverse).map_err(damage)
    }
}
