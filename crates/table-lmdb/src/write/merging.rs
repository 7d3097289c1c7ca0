//! Rows merged with those that are there, inside the transaction.

use std::ops::Range;
use std::sync::Arc;

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::limits;
use table_engine::model::{self, Name};
use table_engine::row::dict::Dict;
use table_engine::row::encode::{self, Under};
use table_engine::row::row_write::{self, RowWriter};
use table_engine::row::view::{self, RowView};
use table_engine::row::{Row, merge};

use super::apply::Writing;
use super::encoded::{Deferred, EncodedPlan, EncodedRow};
use super::transaction::{TableDelta, touched};

/// A row that another was merged with.
pub(super) enum MergedRow {
    Whole(Vec<u8>),
    /// The text that says its kind has no number yet: no write through this library put the row there.
    Unnumbered(Deferred),
}

impl Writing<'_, '_> {
    /// Returns the row that is there with the properties that another one sets.
    pub(super) fn merge(
        &self,
        plan: &EncodedPlan,
        row: &EncodedRow,
        old: &Row<'_>,
        new: &[u8],
    ) -> Result<MergedRow> {
        let Some(touched) = self.touched_by(plan, row.group) else {
            return Err(Error::new(ErrorKind::TableNotFound));
        };
        let (key, new) = (plan.key(row), Row::parse(new)?);
        let mut dict = self.dict_for(touched, old)?;
        if !view::covers(&dict, &new) {
            dict = self.dict_for(touched, &new)?;
        }
        let [old, new] = [*old, new].map(|row| RowView::new(key, row, &*dict, true));
        let merged = merge::merged(&old, &new)?;
        if merged.len() > limits::PROPERTIES {
            return Err(row_write::too_many(merged.len()));
        }
        let properties: Vec<_> = merged.iter().map(|(_, name, value)| (*name, *value)).collect();
        let mut order: Vec<_> = merged.iter().zip(0..).map(|((id, ..), index)| (*id, index)).collect();
        let (mut whole, mut writer) = (Vec::new(), RowWriter::default());
        let under = Under { dict: &dict, seed: row.seed, digest: None };
        if encode::write_numbered(&properties, under, &mut order, &mut writer, &mut whole)?.is_none() {
            let properties =
                properties.iter().map(|(name, value)| (Name::from(*name), value.to_value())).collect();
            return Ok(MergedRow::Unnumbered(Deferred { properties, digest: None, kind: None }));
        }
        check_merged_size(key, &whole, &dict)?;
        Ok(MergedRow::Whole(whole))
    }

    /// Puts a merged row among those of the transaction; returns where it is.
    pub(super) fn put_merged(
        &mut self,
        plan: &EncodedPlan,
        row: &EncodedRow,
        merged: MergedRow,
    ) -> Result<Range<usize>> {
        let deferred = match merged {
            MergedRow::Whole(whole) => {
                let from = self.scratch.rows.len();
                self.scratch.rows.extend_from_slice(&whole);
                return Ok(from..self.scratch.rows.len());
            }
            MergedRow::Unnumbered(deferred) => deferred,
        };
        let group = plan.groups.get(row.group);
        let Some(touched) = group.and_then(|group| touched(self.tables, group)) else {
            return Err(Error::new(ErrorKind::TableNotFound));
        };
        let range = self.scratch.encode_now(self.dbs, self.txn, touched, &deferred, row.seed)?;
        let whole = self.scratch.rows.get(range.clone()).unwrap_or_default();
        if let Some((dict, _)) = touched.grown.as_deref() {
            check_merged_size(plan.key(row), whole, dict)?;
        }
        Ok(range)
    }

    /// Returns the dictionary with everything that a row needs: also a row that this transaction has put.
    pub(super) fn dict_for(&self, touched: &TableDelta, row: &Row<'_>) -> Result<Arc<Dict>> {
        let known = match &touched.grown {
            Some(grown) => Arc::new(grown.0.clone()),
            None => touched.state.dict(),
        };
        if view::covers(&known, row) { Ok(known) } else { touched.state.reload_for(self.dbs, self.txn, row) }
    }
}

/// Refuses a merged entity that is too large: it may be larger than either of its parts.
pub(super) fn check_merged_size(key: &[u8], bytes: &[u8], dict: &Dict) -> Result<()> {
    // No entity is larger than this: two bytes for each stored one, and the most that names can come to.
    let bound = 2 * (key.len() + bytes.len()) + limits::PROPERTIES * (12 + 2 * limits::NAME_UNITS);
    if bound <= limits::ENTITY_BYTES {
        return Ok(());
    }
    let size = RowView::new(key, Row::parse(bytes)?, dict, false).to_entity()?.size();
    if size > limits::ENTITY_BYTES { Err(model::too_large(size)) } else { Ok(()) }
}
