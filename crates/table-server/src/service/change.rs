//! A change of one entity, as a request asks for it, and as a part of a batch does.

use table_core::asynchronous::{AsyncBatch, AsyncDynamicTable};
use table_core::odata::Reader;
use table_core::{DynamicEntity, ETag, IfMatch, Result};

use crate::fault::Fault;

/// The keys of an entity, as the address of a request has them.
pub(super) type Keys<'r> = Option<(&'r str, &'r str)>;

/// A change of one entity.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// Adds an entity.
    Insert(DynamicEntity),
    /// Puts an entity in the place of the one there.
    Replace(DynamicEntity, IfMatch),
    /// Adds an entity, or puts it in the place of the one there.
    Put(DynamicEntity),
    /// Sets properties of the entity there.
    Merge(DynamicEntity, IfMatch),
    /// Adds an entity, or sets properties of the one there.
    InsertOrMerge(DynamicEntity),
    /// Removes the entity of these keys.
    Delete {
        /// The partition key.
        partition_key: String,
        /// The row key.
        row_key: String,
        /// Which version it must have.
        condition: IfMatch,
    },
}

impl Change {
    /// Reads a change: by the method, the keys of the address, the condition of the headers, and the body.
    pub(super) fn read(
        method: &str,
        keys: Keys<'_>,
        condition: Option<IfMatch>,
        body: &[u8],
    ) -> Result<Self, Fault> {
        let Some((partition_key, row_key)) = keys else {
            return match method {
                "POST" => Ok(Self::Insert(Reader::new().entity(body)?)),
                _ => Err(Fault::unsupported_verb()),
            };
        };
        let entity = || Reader::new().entity_at(body, partition_key, row_key);
        // Without a condition it does not matter whether there is an entity.
        match (method, condition) {
            ("PUT", None) => Ok(Self::Put(entity()?)),
            ("PUT", Some(condition)) => Ok(Self::Replace(entity()?, condition)),
            ("MERGE" | "PATCH", None) => Ok(Self::InsertOrMerge(entity()?)),
            ("MERGE" | "PATCH", Some(condition)) => Ok(Self::Merge(entity()?, condition)),
            ("DELETE", None) => Err(Fault::missing_header("If-Match")),
            ("DELETE", Some(condition)) => Ok(Self::Delete {
                partition_key: partition_key.to_owned(),
                row_key: row_key.to_owned(),
                condition,
            }),
            _ => Err(Fault::unsupported_verb()),
        }
    }

    /// Returns the keys of the entity.
    pub(super) fn keys(&self) -> (&str, &str) {
        match self {
            Self::Insert(entity)
            | Self::Replace(entity, _)
            | Self::Put(entity)
            | Self::Merge(entity, _)
            | Self::InsertOrMerge(entity) => (entity.partition_key(), entity.row_key()),
            Self::Delete { partition_key, row_key, .. } => (partition_key, row_key),
        }
    }

    /// Returns the entity that it adds where there is none.
    pub(super) fn added(&self) -> Option<&DynamicEntity> {
        match self {
            Self::Insert(entity) => Some(entity),
            _ => None,
        }
    }

    /// Makes the change. Returns the version of the entity; of one that was removed, `None`.
    pub(super) async fn make(&self, table: &AsyncDynamicTable) -> Result<Option<ETag>> {
        match self {
            Self::Insert(entity) => table.insert(entity).await.map(Some),
            Self::Replace(entity, condition) => table.replace(entity, *condition).await.map(Some),
            Self::Put(entity) => table.put(entity).await.map(Some),
            Self::Merge(entity, condition) => table.merge(entity, *condition).await.map(Some),
            Self::InsertOrMerge(entity) => table.insert_or_merge(entity).await.map(Some),
            Self::Delete { partition_key, row_key, condition } => {
                table.delete_if(partition_key, row_key, *condition).await.map(|()| None)
            }
        }
    }

    /// Adds the change to a batch.
    pub(super) fn add_to(self, batch: AsyncBatch) -> AsyncBatch {
        match self {
            Self::Insert(entity) => batch.insert(entity),
            Self::Replace(entity, condition) => batch.replace(entity, condition),
            Self::Put(entity) => batch.put(entity),
            Self::Merge(entity, condition) => batch.merge(entity, condition),
            Self::InsertOrMerge(entity) => batch.insert_or_merge(entity),
            Self::Delete { row_key, condition, .. } => batch.delete_if(row_key, condition),
        }
    }
}
