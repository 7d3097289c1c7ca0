//! Several operations as one.

use std::fmt;

use super::table::DynamicTable;
use crate::error::{Error, Result};
use crate::model::{DynamicEntity, ETag, IfMatch};
#[cfg(feature = "encrypt")]
use crate::store::encrypting::{self, EncryptingTable};
use crate::store::write::prepare::{self, Action, Operation, Prepared};

/// Up to 100 operations on one partition of a table that happen together or not at all: the service's entity group
/// transaction.
///
/// The operations are checked in order, and the error of the first that fails says [which](crate::Error::index). As the
/// body of a request they stay below [`BATCH_BYTES`](crate::limits::BATCH_BYTES), 4 MiB.
///
/// ```
/// use table_core::{DynamicEntity, ErrorKind, IfMatch, Store};
///
/// # let dir = tempfile::tempdir()?;
/// # let store = Store::open(dir.path().join("company.tables"))?;
/// let company = store.create_table("Company")?;
/// company
///     .batch("Sales")
///     .insert(DynamicEntity::new("Sales", "department").with("HeadCount", 1))
///     .insert(DynamicEntity::new("Sales", "empid_000001").with("LastName", "Jones"))
///     .commit()?;
///
/// let error = company
///     .batch("Sales")
///     .merge(DynamicEntity::new("Sales", "department").with("HeadCount", 2), IfMatch::Any)
///     .insert(DynamicEntity::new("Sales", "empid_000001"))
///     .commit()
///     .unwrap_err();
/// assert_eq!((error.kind(), error.index()), (ErrorKind::EntityAlreadyExists, Some(1)));
/// let department = company.get("Sales", "department")?.unwrap();
/// assert_eq!(department.get("HeadCount").and_then(|count| count.as_i32()), Some(1)); // nothing happened
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use = "a batch does nothing until it is committed"]
pub struct Batch {
    table: DynamicTable,
    partition: String,
    operations: Vec<Planned>,
    /// What seals the entities, if any are to be.
    #[cfg(feature = "encrypt")]
    encrypting: Option<EncryptingTable>,
}

#[derive(Clone)]
enum Planned {
    Write(Action, DynamicEntity),
    Delete(String, IfMatch),
}

impl Batch {
    pub(crate) fn new(table: DynamicTable, partition: String) -> Self {
        Self {
            table,
            partition,
            operations: Vec::new(),
            #[cfg(feature = "encrypt")]
            encrypting: None,
        }
    }

    /// A batch whose entities are sealed.
    #[cfg(feature = "encrypt")]
    pub(crate) fn encrypting(table: &EncryptingTable, partition: String) -> Self {
        Self { encrypting: Some(table.clone()), ..Self::new(table.dynamic().clone(), partition) }
    }

    fn with(mut self, action: Action, entity: DynamicEntity) -> Self {
        self.operations.push(Planned::Write(action, entity));
        self
    }

    /// Adds an entity; there must be none of its keys.
    pub fn insert(self, entity: DynamicEntity) -> Self {
        self.with(Action::Insert, entity)
    }

    /// Puts an entity in the place of the one there.
    pub fn replace(self, entity: DynamicEntity, condition: impl Into<IfMatch>) -> Self {
        self.with(Action::Replace(condition.into()), entity)
    }

    /// Sets the given properties of the entity there.
    pub fn merge(self, entity: DynamicEntity, condition: impl Into<IfMatch>) -> Self {
        self.with(Action::Merge(condition.into()), entity)
    }

    /// Adds an entity, or puts it in the place of the one there.
    pub fn insert_or_replace(self, entity: DynamicEntity) -> Self {
        self.with(Action::InsertOrReplace, entity)
    }

    /// Adds an entity, or sets its properties on the one there.
    pub fn insert_or_merge(self, entity: DynamicEntity) -> Self {
        self.with(Action::InsertOrMerge, entity)
    }

    /// Removes the entity of this row key.
    pub fn delete(mut self, row_key: impl Into<String>, condition: impl Into<IfMatch>) -> Self {
        self.operations.push(Planned::Delete(row_key.into(), condition.into()));
        self
    }

    /// The partition of every entity in it.
    pub fn partition_key(&self) -> &str {
        &self.partition
    }

    /// How many operations there are.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether there is no operation yet.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Carries out every operation, or none. The `ETag` is that of every entity written: they share their time.
    pub fn commit(&self) -> Result<ETag> {
        #[cfg(feature = "encrypt")]
        if let Some(encrypting) = &self.encrypting {
            return encrypting::submit(&self.table, || self.prepare_sealed(encrypting));
        }
        self.table.submit(self.prepare()?)
    }

    /// Makes up for a commit together with other batches that failed, if that may have been for want of a look at the
    /// store.
    #[cfg_attr(not(feature = "encrypt"), expect(clippy::unused_self, reason = "as it is with the feature"))]
    pub(crate) fn again(&self, error: Error) -> Result<()> {
        #[cfg(feature = "encrypt")]
        if self.encrypting.is_some() {
            return self.commit().map(drop);
        }
        Err(error)
    }

    pub(crate) fn table(&self) -> &DynamicTable {
        &self.table
    }

    pub(crate) fn prepare(&self) -> Result<Prepared> {
        #[cfg(feature = "encrypt")]
        if let Some(encrypting) = &self.encrypting {
            return self.prepare_sealed(encrypting).map(|(prepared, _)| prepared);
        }
        // The properties of all entities, one after another.
        let mut properties = Vec::new();
        let mut ends = Vec::with_capacity(self.operations.len());
        for planned in &self.operations {
            if let Planned::Write(_, entity) = planned {
                properties
                    .extend(entity.entries().iter().map(|(name, value)| (&**name, value.as_value_ref())));
            }
            ends.push(properties.len());
        }
        let mut operations = Vec::with_capacity(self.operations.len());
        let mut start = 0;
        for (planned, end) in self.operations.iter().zip(ends) {
            let own = properties.get(start..end).unwrap_or_default();
            start = end;
            operations.push(match planned {
                Planned::Write(action, entity) => Operation::on(*action, entity, own),
                Planned::Delete(row, condition) => Operation::delete(&self.partition, row, *condition),
            });
        }
        prepare::batch(self.table.state(), &self.partition, &operations.iter().copied())
    }

    /// The operations with what is to be sealed sealed, and whether they depend on more than the caller has said.
    #[cfg(feature = "encrypt")]
    fn prepare_sealed(&self, encrypting: &EncryptingTable) -> Result<(Prepared, bool)> {
        let sealing = encrypting::Sealing::new(encrypting);
        let mut sealed = Vec::with_capacity(self.operations.len());
        for (index, planned) in self.operations.iter().enumerate() {
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
        let mut operations = Vec::with_capacity(self.operations.len());
        for ((planned, sealed), given) in self.operations.iter().zip(&sealed).zip(&given) {
            operations.push(match (planned, sealed) {
                (Planned::Delete(row, condition), _) => Operation::delete(&self.partition, row, *condition),
                (Planned::Write(..), Some((sealed, entity))) => Operation::on(sealed.action, entity, given),
                (Planned::Write(action, entity), None) => Operation::on(*action, entity, given),
            });
        }
        let prepared = prepare::batch(self.table.state(), &self.partition, &operations.iter().copied())?;
        Ok(sealing.sealed(prepared, sealed.iter().flatten().any(|(sealed, _)| sealed.is_of_version)))
    }
}

/// Without the entities: some of their properties may be on their way to being sealed.
impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("table", &self.table.name())
            .field("partition", &self.partition)
            .field("operations", &self.operations.len())
            .finish_non_exhaustive()
    }
}
