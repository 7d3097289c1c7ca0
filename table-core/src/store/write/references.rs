//! The references to blobs that a plan's rows come to have, and those that go.

use std::collections::BTreeMap;

use super::apply::{New, Writing};
use super::encoded::{EncodedRow, Image, Prepared};
use crate::contents::{BlobId, reference};
use crate::error::Result;
use crate::store::lmdb;

/// For each blob, how many references more it has than before, and how long the new ones say that it is.
#[derive(Debug, Default)]
pub(in crate::store) struct References {
    pub(in crate::store) blobs: BTreeMap<BlobId, (i64, Option<u64>)>,
    /// Whether one of those that come stands before a value that is sealed.
    pub(in crate::store) has_sealed: bool,
}

impl References {
    /// Takes in those of a row that comes.
    fn come(&mut self, row: &[u8]) {
        let Self { blobs, has_sealed } = self;
        reference::each_in(row, |at, id, length| {
            let (count, said) = blobs.entry(id).or_default();
            *count += 1;
            *said = Some(length);
            *has_sealed |= reference::is_sealed(row, at);
        });
    }

    /// Takes in those of a row that goes.
    pub(in crate::store) fn go(&mut self, row: &[u8]) {
        reference::each_in(row, |_, id, _| self.blobs.entry(id).or_default().0 -= 1);
    }
}

impl Writing<'_, '_> {
    /// What becomes of references by a plan that was examined. It writes nothing.
    pub(super) fn references(&self, plan: &Prepared) -> Result<References> {
        let mut references = References::default();
        for index in 0..plan.rows.len() + plan.additions.len() {
            let row = plan.rows.get(index);
            let ready = || match row.and_then(|row| row.act.content()) {
                Some(Image::Ready(range)) => plan.image(range),
                _ => &[],
            };
            // What is put without a look is in nothing's place.
            if row.is_some_and(EncodedRow::is_blind) {
                references.come(ready());
                continue;
            }
            // A row that a plan only looks at keeps what it refers to.
            let new = match self.scratch.applied.get(index).and_then(super::apply::AppliedRow::coming) {
                None | Some(New::Kept) => continue,
                Some(New::Nothing) => &[],
                Some(New::FromPlan) => ready(),
                Some(New::Scratch(range)) => self.scratch.rows.get(range.clone()).unwrap_or_default(),
            };
            let Some((.., key)) = plan.target(index) else { continue };
            if let Some(old) = self.dbs.data.get(self.txn, key).map_err(lmdb::error)? {
                references.go(old);
            }
            references.come(new);
        }
        Ok(references)
    }
}
