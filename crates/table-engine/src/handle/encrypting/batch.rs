//! Batches whose entities are sealed when they are committed.

use super::EncryptingTable;
use super::write::{Sealing, Submitted, submit};
use crate::error::Result;
use crate::handle::batch::{Batch, Planned, SealsBatch};
use crate::plan::{Committed, Group, Refused};
use crate::sealing::SealedAt;

impl EncryptingTable {
    /// Hands the operations to `take` with what is to be sealed sealed; returns what it made of them, and whether they depend
    /// on more than the caller has said.
    fn sealed_batch<T>(
        &self,
        batch: &Batch,
        take: impl FnOnce(Group<'_>, &SealedAt) -> Result<T>,
    ) -> Result<(T, bool)> {
        let sealing = Sealing::new(self)?;
        let mut sealed = Vec::with_capacity(batch.operations.len());
        for (index, planned) in batch.operations.iter().enumerate() {
            sealed.push(match planned {
                Planned::Write(condition, act, entity) => {
                    let sealed = sealing.seal(*condition, *act, entity).map_err(|e| e.at_index(index))?;
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
        let group = batch.group(given.iter().map(Vec::as_slice), what)?;
        let taken = take(group, &sealing.sealed_at())?;
        Ok((taken, sealed.iter().flatten().any(|(sealed, _)| sealed.is_of_version)))
    }
}

impl SealsBatch for EncryptingTable {
    fn seal(&self, batch: &Batch, take: &mut dyn FnMut(Group<'_>, &SealedAt) -> Result<()>) -> Result<()> {
        self.sealed_batch(batch, take).map(|_| ())
    }

    fn commit(&self, batch: &Batch) -> Result<Committed> {
        submit(|| {
            let take = |group: Group<'_>, sealed_at: &SealedAt| {
                let done = self.table.write_sealed(group, sealed_at).map_err(Refused::numbered);
                Ok((done, sealed_at.clone()))
            };
            let ((done, sealed_at), is_of_version) = self.sealed_batch(batch, take)?;
            Ok(Submitted { done, sealed_at, is_of_version })
        })
    }
}
