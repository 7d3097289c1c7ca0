//! Batches whose entities are sealed when they are committed.

use super::EncryptingTable;
use super::write::{Sealing, submit};
use crate::error::Result;
use crate::model::ETag;
use crate::store::handle::batch::{Batch, Planned, Preparing};
use crate::store::write::prepare::{self, Operation, Prepared};

impl EncryptingTable {
    /// The operations with what is to be sealed sealed, and whether they depend on more than the caller has said.
    fn prepare_batch(&self, batch: &Batch) -> Result<(Prepared, bool)> {
        let sealing = Sealing::new(self)?;
        let mut sealed = Vec::with_capacity(batch.operations.len());
        for (index, planned) in batch.operations.iter().enumerate() {
            sealed.push(match planned {
                Planned::Write(action, entity) => {
                    Some((sealing.seal(*action, entity).map_err(|e| e.at_index(index))?, entity))
                }
                Planned::Delete(..) => None,
            });
        }
        let given: Vec<_> = sealed
            .iter()
            .map(|sealed| sealed.as_ref().map_or_else(Vec::new, |(sealed, entity)| sealed.given(entity)))
            .collect();
        let mut operations = Vec::with_capacity(batch.operations.len());
        for ((planned, sealed), given) in batch.operations.iter().zip(&sealed).zip(&given) {
            operations.push(match (planned, sealed) {
                (Planned::Delete(row, condition), _) => Operation::delete(&batch.partition, row, *condition),
                (Planned::Write(..), Some((sealed, entity))) => Operation::on(sealed.action, entity, given),
                (Planned::Write(action, entity), None) => Operation::on(*action, entity, given),
            });
        }
        let prepared = prepare::batch(batch.table.state()?, &batch.partition, &operations.iter().copied())?;
        let prepared = batch.table.by_properties(prepared);
        Ok(sealing.sealed(prepared, sealed.iter().flatten().any(|(sealed, _)| sealed.is_of_version)))
    }
}

impl Preparing for EncryptingTable {
    fn prepare(&self, batch: &Batch) -> Result<Prepared> {
        self.prepare_batch(batch).map(|(prepared, _)| prepared)
    }

    fn commit(&self, batch: &Batch) -> Result<ETag> {
        submit(&batch.table, || self.prepare_batch(batch))
    }
}
