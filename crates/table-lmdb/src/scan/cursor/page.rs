//! Pages: rows in place until a budget is spent.

use table_engine::error::Result;
use table_engine::executor::{PageMeter, VisitEach};
use table_engine::query::Continuation;
use table_engine::row::key::{self, StoredKey};
use table_engine::row::partition::begins;
use table_engine::row::{Row, key::locate};

use super::{Ahead, MergedCursor, Tally};
use crate::scan::{Found, read};

impl Tally for PageMeter {
    /// A row that is looked at ahead of others is part of the page once it is taken.
    fn add(&mut self, _bytes: usize, _is_wanted: bool) {
        Self::add(self, false);
    }

    fn is_enough(&self) -> bool {
        self.is_spent()
    }
}

impl<'s> MergedCursor<'s> {
    /// Gives `each` the next rows until the budget is spent, or `each` ends the page. Returns where the next page starts, if
    /// there is more.
    pub(crate) fn page(mut self, mut meter: PageMeter, each: VisitEach<'_>) -> Result<Option<Continuation>> {
        let last = match (self.remaining, self.scans.len()) {
            (0, _) => None,
            (_, 1) => self.page_of_one(&mut meter, each)?,
            _ => self.page_of_several(meter, each)?,
        };
        let Some(last) = last else { return Ok(None) };
        let (partition, row) =
            StoredKey::parse(last).and_then(|key| key.texts()).ok_or_else(read::out_of_order)?;
        self.token(&partition, &row)
    }

    /// Reads a page of one scan; returns the stored key of the last row that was read, unless the scan has ended. The rows are
    /// lent, so that nothing is counted or copied for one.
    fn page_of_one(&mut self, meter: &mut PageMeter, each: VisitEach<'_>) -> Result<Option<&'s [u8]>> {
        let ([scan], [range]) = (self.scans.as_mut_slice(), self.rows.as_mut_slice()) else {
            return Ok(None);
        };
        let (mut before, mut plain): (&'s [u8], Option<&'s str>) = (&[], None);
        loop {
            let Some((key, bytes)) = range.rows.next(scan.range.as_ref())? else {
                scan.end()?;
                return Ok(None);
            };
            if scan.hides(key, bytes)? {
                continue;
            }
            let found = if scan.accepts_fast_path(key, bytes) {
                let row = Row::parse(bytes).map_err(|e| locate(e.into(), key))?;
                Some(Found { key, row })
            } else {
                scan.take(self.inner, self.txn, key, bytes)?
            };
            let mut ends = false;
            let is_taken = found.is_some();
            if let Some(found) = found {
                self.remaining -= 1;
                // Mostly the partition of the row before.
                if before.is_empty() || !begins(key, before) {
                    (before, plain) = (key::partition_of(key), key::plain_partition(key));
                }
                let view = scan.lend(found);
                let view = match plain {
                    Some(partition) => view.in_plain(partition, before.len()),
                    None => view,
                };
                ends = each(scan.selection(), &view)?.is_break() || self.remaining == 0;
            }
            meter.add(is_taken);
            if ends || meter.is_spent() {
                return Ok(Some(key));
            }
        }
    }

    /// Reads a page of several scans that are merged.
    fn page_of_several(&mut self, mut meter: PageMeter, each: VisitEach<'_>) -> Result<Option<&'s [u8]>> {
        loop {
            let (view, key) = match self.next_of_step(&mut meter)? {
                Ahead::Row(view, key) => (view, key),
                Ahead::Enough(last) => return Ok(Some(last)),
                Ahead::Ended => return Ok(None),
            };
            self.remaining -= 1;
            let flow = each(self.selection(), &view)?;
            meter.take();
            if flow.is_break() || self.remaining == 0 || meter.is_spent() {
                return Ok(Some(key));
            }
        }
    }
}
