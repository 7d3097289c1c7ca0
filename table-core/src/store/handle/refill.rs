//! A lane's rows, read ahead in refills by LMDB's cursor: where the layout of pages is not known.

use super::moment::LmdbMoment;
use crate::error::Result;
use crate::executor::{Batch, Moment, Walk};
use crate::row::view::RowView;
use crate::row::{Row, key};
use crate::store::lmdb;
use crate::store::scan::cursor::Cursor;
use crate::store::scan::rows::Rows;
use crate::store::scan::{Found, Scan, read};

/// Rows in a walk's first refill; each further one is larger, so that a caller who wants few pays for few.
const FIRST_REFILL: usize = 4;
/// How many times as large.
const GROWTH: usize = 4;
const LARGEST_REFILL: usize = 128;
/// The same where several ranges are merged, each with a buffer of its own.
const LARGEST_REFILL_OF_MANY: usize = 32;
/// Bytes of rows at which a refill ends early.
const REFILL_BYTES: usize = 256 * 1024;
/// The largest row that is kept as it is stored; of a larger one the caller may want a small part.
const KEPT_BYTES: usize = 1024;

/// A scan that goes on where its last refill ended: it holds the key that it has come to, and seeks it, since a cursor
/// would borrow from the transaction.
pub(super) struct Refill {
    scan: Scan,
    /// The stored key of the last row that was looked at.
    resume: Option<Vec<u8>>,
    rows: usize,
    most_rows: usize,
}

impl Refill {
    /// A walk over a scan's rows, one of so many whose rows are merged.
    pub(super) fn new(scan: Scan, lanes: usize) -> Self {
        let most_rows = if lanes > 1 { LARGEST_REFILL_OF_MANY } else { LARGEST_REFILL };
        Self { scan, resume: None, rows: FIRST_REFILL, most_rows }
    }
}

impl Walk for Refill {
    fn fill(&mut self, moment: &dyn Moment, batch: &mut Batch) -> Result<()> {
        batch.begin(GROWTH, REFILL_BYTES);
        let filled = self.refill(LmdbMoment::of(moment)?, batch);
        let (dict, selection) = self.scan.read_by();
        batch.read_by(dict, selection, self.scan.verify);
        filled
    }

    fn lent(&self, moment: &dyn Moment, key: &[u8], take: &mut dyn FnMut(&RowView<'_>)) -> Result<()> {
        let (inner, txn) = LmdbMoment::of(moment)?.parts();
        let found = inner.environment.dbs.data.get(txn, key).map_err(lmdb::error)?;
        let bytes = found.ok_or_else(|| key::locate(read::out_of_order(), key))?;
        let row = Row::parse(bytes).map_err(|damaged| key::locate(damaged.into(), key))?;
        take(&self.scan.lend(Found { key, row }));
        Ok(())
    }
}

impl Refill {
    fn refill(&mut self, moment: &LmdbMoment, batch: &mut Batch) -> Result<()> {
        let (inner, txn) = moment.parts();
        let mut rows = Rows::Cursor(Cursor::new(inner, txn, &self.scan, self.resume.as_deref())?);
        let (mut bytes, mut last) = (0, None);
        while batch.len() < self.rows && bytes < REFILL_BYTES {
            let Some(found) = self.scan.next(inner, txn, &mut rows)? else {
                batch.end();
                return Ok(());
            };
            let stored = found.row.bytes();
            bytes += stored.len();
            last = Some(found.key);
            if stored.len() <= KEPT_BYTES {
                batch.keep(found.key, stored);
            } else {
                batch.lend(found.key);
            }
        }
        self.rows = (self.rows * GROWTH).min(self.most_rows);
        self.resume = last.map(<[u8]>::to_vec);
        Ok(())
    }
}
