//! The rows of a range in a snapshot, one after another: from leaves, or by LMDB's cursor where their layout is not known.

use super::Scan;
use super::cursor::Cursor;
use super::read;
use crate::error::Result;
use crate::row::key::StoredRange;
use crate::store::lmdb::ReadTxn;
use crate::store::open::{Entry, LeafWalk, Living, WalkedLeaf};
use crate::store::opened::Inner;

/// A key and its row.
type Pair<'t> = (&'t [u8], &'t [u8]);

/// The rows of a scan's range.
pub(in crate::store) enum Rows<'t> {
    /// And the leaf that the walk is on.
    Leaves(LeafWalk, Living<'t>, Option<WalkedLeaf<'t>>),
    Cursor(Cursor<'t>),
}

impl<'t> Rows<'t> {
    pub(in crate::store) fn new(inner: &'t Inner, txn: &'t ReadTxn<'static>, scan: &Scan) -> Result<Self> {
        if let (Some(pages), Some(range)) = (pages(inner, txn, scan), &scan.range)
            && let Some(walk) = pages.walk((&range.0, &range.1), scan.plan.reverse)?
        {
            return Ok(Self::Leaves(walk, pages, None));
        }
        Cursor::new(inner, txn, scan, None).map(Self::Cursor)
    }

    /// The next row of the scan's range.
    #[inline]
    pub(in crate::store) fn next(&mut self, range: Option<&StoredRange>) -> Result<Option<Pair<'t>>> {
        match self {
            Self::Leaves(walk, pages, on) => {
                if let Some(row) = on.and_then(|leaf| walk.next_of(*pages, leaf)) {
                    return row.map(|Entry { key, bytes, .. }| Some((key, bytes)));
                }
                let Some((start, end)) = range else { return Ok(None) };
                *on = walk.leaf(*pages, (start, end))?;
                let row = on.and_then(|leaf| walk.next_of(*pages, leaf)).transpose()?;
                Ok(row.map(|Entry { key, bytes, .. }| (key, bytes)))
            }
            Self::Cursor(cursor) => cursor.next(),
        }
    }
}

/// The pages that a scan walks over in place.
pub(in crate::store) fn pages<'t>(
    inner: &'t Inner,
    txn: &'t ReadTxn<'static>,
    scan: &Scan,
) -> Option<Living<'t>> {
    Living::of(&inner.environment, txn, if scan.verify { Some(read::verify_alone) } else { None })
}
