//! The references to blobs that a plan's rows come to have, and those that go.
//!
//! A reference that goes and whose blob is proved absent is taken from nothing: builds that did not look have let such rows
//! in, and a refusal would keep them for ever.

use std::collections::BTreeMap;

use table_engine::contents::{BlobId, reference};
use table_engine::error::{Error, ErrorKind, Result};
use table_engine::plan::Refused;
use table_engine::row::Row;
use table_engine::row::view::RowView;

use super::apply::{AppliedRow, New, Writing};
use super::contents::Of;
use super::encoded::{EncodedPlan, EncodedRow, Image};
use crate::blobs::{not_here, properties_with};
use crate::lmdb;

/// What becomes of the references to each blob.
#[derive(Debug, Default)]
pub(crate) struct References {
    pub(crate) blobs: BTreeMap<BlobId, Referred>,
    /// Whether one of those that come stands before a value that is sealed.
    pub(crate) has_sealed: bool,
}

/// What becomes of the references to one blob.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Referred {
    /// How many more it has than before.
    pub(crate) more: i64,
    /// How long the new ones say that it is.
    pub(crate) length: Option<u64>,
    /// The place in the plan of the first row that comes with one.
    pub(super) by: usize,
}

impl Referred {
    /// Returns how many references come, or go.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.more.unsigned_abs()).unwrap_or(u32::MAX)
    }
}

impl References {
    /// Counts the references of a row that is put, which has this place in its plan.
    fn come(&mut self, row: &[u8], by: usize) {
        let Self { blobs, has_sealed } = self;
        reference::each_in(row, |at, id, length| {
            let referred = blobs.entry(id).or_default();
            // The entity's own row comes before its copies, so an error names it.
            let by = if referred.length.is_some() { referred.by } else { by };
            *referred = Referred { more: referred.more + 1, length: Some(length), by };
            *has_sealed |= reference::is_sealed(row, at);
        });
    }

    /// Counts the references of a row that is removed or replaced.
    pub(crate) fn go(&mut self, row: &[u8]) {
        reference::each_in(row, |_, id, _| self.blobs.entry(id).or_default().more -= 1);
    }
}

impl Writing<'_, '_> {
    /// Returns what a plan that was examined does to references. Writes nothing.
    pub(super) fn references(&self, plan: &EncodedPlan) -> Result<References> {
        let mut references = References::default();
        for index in 0..plan.rows.len() + plan.additions.len() {
            // A row that is put without a look replaces none.
            if plan.rows.get(index).is_some_and(EncodedRow::is_blind) {
                references.come(self.coming(plan, index), index);
                continue;
            }
            // A row that a plan only looks at keeps what it refers to.
            match self.scratch.applied.get(index).and_then(AppliedRow::coming) {
                None | Some(New::Keyspace) => continue,
                Some(New::Nothing | New::FromPlan | New::Scratch(_)) => {}
            }
            let Some((.., key)) = plan.target(index) else { continue };
            if let Some(old) = self.dbs.data.get(self.txn, key).map_err(lmdb::error)? {
                references.go(old);
            }
            references.come(self.coming(plan, index), index);
        }
        Ok(references)
    }

    /// Returns the bytes that are to be put for the row of this place in a plan; none, if it goes.
    fn coming<'p>(&'p self, plan: &'p EncodedPlan, index: usize) -> &'p [u8] {
        let row = plan.rows.get(index);
        let ready = || match row.and_then(|row| row.act.content()) {
            Some(Image::Ready(range)) => plan.image(range),
            _ => &[],
        };
        if row.is_some_and(EncodedRow::is_blind) {
            return ready();
        }
        match self.scratch.applied.get(index).map(|applied| &applied.new) {
            Some(New::FromPlan) => ready(),
            Some(New::Scratch(range)) => self.scratch.rows.get(range.clone()).unwrap_or_default(),
            _ => &[],
        }
    }

    /// Names the row that was to come to refer to a blob, and its property, in the error that it can't.
    #[cold]
    pub(super) fn refuse_reference(&self, plan: &EncodedPlan, Of { id, by }: Of, error: Error) -> Refused {
        let error = match self.property_with(plan, by, id) {
            Some(name) if error.kind() == ErrorKind::BlobGone => {
                not_here(id, self.blobs.identity, Some(&name))
            }
            _ => error,
        };
        match plan.additions.get(by.wrapping_sub(plan.rows.len())) {
            Some(addition) => plan.locate_addition(error, addition),
            None => plan.locate(error, by),
        }
    }

    /// Returns the property of a row that is to come which refers to a blob.
    fn property_with(&self, plan: &EncodedPlan, index: usize, id: BlobId) -> Option<String> {
        let (group, _, key) = plan.target(index)?;
        let row = Row::parse(self.coming(plan, index)).ok()?;
        let dict = self.dict_for(self.touched_by(plan, group)?, &row).ok()?;
        let found = properties_with(&RowView::new(key, row, &*dict, false), |found| found == id);
        found.into_iter().next().map(|(name, _)| name)
    }
}
