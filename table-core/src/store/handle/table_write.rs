//! Writes of an LMDB table that come prepared, and batches.

use super::batch::Batch;
use crate::error::Result;
use crate::handle::table::DynamicTable;
use crate::model::ETag;
use crate::plan::Refused;
use crate::store::write::encoded::EncodedPlan;

impl DynamicTable {
    /// Returns a batch of operations on one partition, to be committed together or not at all.
    pub fn batch(&self, partition_key: impl Into<String>) -> Batch {
        Batch::new(self.clone(), partition_key.into())
    }

    /// Notes in a write by properties whether the handle may write rows of declared kinds.
    pub(crate) fn by_properties(&self, mut prepared: Box<EncodedPlan>) -> Box<EncodedPlan> {
        prepared.is_raw = self.is_raw();
        prepared
    }

    /// Carries out a prepared plan; a refusal says at which row.
    pub(crate) fn commit(&self, prepared: Box<EncodedPlan>) -> Result<ETag, Refused> {
        let inner = self.inner().map_err(Refused::whole)?;
        inner.writer.submit(inner, prepared).map(ETag::from_timestamp)
    }
}
