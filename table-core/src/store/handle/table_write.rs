//! Writes of an LMDB table that come prepared, and batches.

use super::batch::Batch;
use crate::error::Result;
use crate::handle::table::DynamicTable;
use crate::model::{DynamicEntity, ETag};
use crate::plan::{self, Act, Condition, Refused};
use crate::row::encode::Given;
use crate::store::write::prepare::{self, Prepared};

impl DynamicTable {
    /// A batch of operations on one partition, to be committed together or not at all.
    pub fn batch(&self, partition_key: impl Into<String>) -> Batch {
        Batch::new(self.clone(), partition_key.into())
    }

    #[cfg(feature = "encrypt")]
    /// The write of one entity, ready to be carried out; the properties are its own, as they are to be stored.
    pub(in crate::store) fn prepare_write(
        &self,
        what: (Condition, Act<()>),
        entity: &DynamicEntity,
        properties: &[Given<'_>],
    ) -> Result<Prepared> {
        let write = plan::write(what, entity, properties, 0);
        let prepared = prepare::single(self.state()?, entity.partition_key(), &write)?;
        Ok(self.by_properties(prepared))
    }

    /// A write by properties and keys, with what the handle says of rows of declared kinds.
    pub(in crate::store) fn by_properties(&self, mut prepared: Prepared) -> Prepared {
        prepared.is_raw = self.is_raw();
        prepared
    }

    /// Carries out a prepared plan; a refusal says at which row.
    pub(crate) fn commit(&self, prepared: Prepared) -> Result<ETag, Refused> {
        let inner = self.inner().map_err(Refused::whole)?;
        inner.writer.submit(inner, prepared).map(ETag::from_timestamp)
    }
}
