//! The rows of a range in a snapshot, one after another.

use lmdb_verify::{Entry, LeafWalk, SnapshotPages, WalkedLeaf};

use table_engine::error::Result;
use table_engine::row::key::StoredRange;

use super::{Scan, read};
use crate::lmdb::{self, ReadTxn};
use crate::state::StoreState;

/// A key and its row.
type Pair<'t> = (&'t [u8], &'t [u8]);

/// The rows of a scan's range.
pub(crate) struct Rows<'t> {
    pages: SnapshotPages<'t>,
    /// `None` if there can be no row.
    walk: Option<LeafWalk>,
    /// The leaf that the walk is on.
    on: Option<WalkedLeaf<'t>>,
}

impl<'t> Rows<'t> {
    pub(crate) fn new(inner: &'t StoreState, txn: &'t ReadTxn<'static>, scan: &Scan) -> Result<Self> {
        let pages = pages(inner, txn, scan);
        let walk =
            |range: &StoredRange| pages.walk((&range.0, &range.1), scan.plan.reverse).map_err(lmdb::damage);
        Ok(Self { pages, walk: scan.range.as_ref().map(walk).transpose()?, on: None })
    }

    /// Returns the next row of the scan's range.
    #[inline]
    pub(crate) fn next(&mut self, range: Option<&StoredRange>) -> Result<Option<Pair<'t>>> {
        let Self { pages, walk, on } = self;
        let (Some(walk), Some((start, end))) = (walk, range) else { return Ok(None) };
        if let Some(row) = on.and_then(|leaf| walk.next_of(*pages, leaf)) {
            return row.map(|Entry { key, bytes, .. }| Some((key, bytes))).map_err(lmdb::damage);
        }
        *on = walk.leaf(*pages, (start, end)).map_err(lmdb::damage)?;
        let row = on.and_then(|leaf| walk.next_of(*pages, leaf)).transpose().map_err(lmdb::damage)?;
        Ok(row.map(|Entry { key, bytes, .. }| (key, bytes)))
    }
}

/// Returns the pages that a scan walks over in place.
pub(crate) fn pages<'t>(inner: &'t StoreState, txn: &'t ReadTxn<'static>, scan: &Scan) -> SnapshotPages<'t> {
    SnapshotPages::of(
        &inner.environment.reader,
        txn,
        if scan.verify { Some(read::verify_entry) } else { None },
    )
}
