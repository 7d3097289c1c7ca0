//! Batches whose entities are sealed when they are committed.

use super::EncryptingTable;
use super::write::{Sealing, submit};
use crate::error::Result;
use crate::model::ETag;
use crate::plan::Refused;
use crate::store::handle::batch::{Batch, Planned, Preparing};
use crate::store::write::encoded::EncodedPlan;

impl EncryptingTable {
    /// Prepares the operations with their values sealed. Returns also whether they depend on more than the caller has
    /// demanded.
    fn prepare_batch(&self, batch: &Batch) -> Result<(Box<EncodedPlan>, bool)> {
        let sealing = Sealing::new(self)?;
        let mut sealed = Vec::with_capacity(batch.operations.len());
        for (index, planned) in batch.operations.iter().enumerate() {
            sealed.push(match planned {
                Planned::Write(condition, act, entity) => {
                    let sealed = sealing.seal((*condition, *act), entity).map_err(|e| e.at_index(index))?;
                    Some((sealed, entity))
                }
                Planned::Delete(..) => None,
            });
        }
        let given: Vec<_> = sealed
            .iter()
            .map(|sealed| sealed.as_ref().map_or_else(Vec::new, |(sealed, entity)| sealed.given(entity)))
            .collect();
        let what = |index: usize| sealed.get(index).and_then(Option::as_ref).map(|(sealed, _)| sealed.what);
        let prepared = batch.prepare_with(given.iter().map(Vec::as_slice), what)?;
        Ok(sealing.sealed(prepared, sealed.iter().flatten().any(|(sealed, _)| sealed.is_of_version)))
    }
}

impl Preparing for EncryptingTable {
    fn prepare(&self, batch: &Batch) -> Result<Box<EncodedPlan>> {
        self.prepare_batch(batch).map(|(prepared, _)| prepared)
    }

    fn commit(&self, batch: &Batch) -> Result<ETag> {
        submit(&batch.table, || self.prepare_batch(batch), Refused::numbered)
    }
}
