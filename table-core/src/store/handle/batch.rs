//! Several operations as one.

use std::fmt;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::handle::table::DynamicTable;
use crate::model::{DynamicEntity, ETag, IfMatch, IntoIfMatch};
use crate::plan::{self, Act, Condition, Group, Refused};
use crate::row::encode::Given;
use crate::store::write::encoded::EncodedPlan;
use crate::store::write::prepare;

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
    pub(crate) table: DynamicTable,
    pub(crate) partition: String,
    pub(crate) operations: Vec<Planned>,
    /// What makes the operations ready, if that is not done as they are given.
    pub(crate) preparing: Option<Arc<dyn Preparing>>,
}

#[derive(Clone)]
pub(crate) enum Planned {
    Write(Condition, Act<()>, DynamicEntity),
    Delete(String, IfMatch),
}

impl Batch {
    pub(crate) fn new(table: DynamicTable, partition: String) -> Self {
        Self { table, partition, operations: Vec::new(), preparing: None }
    }

    fn with(mut self, condition: Condition, act: Act<()>, entity: DynamicEntity) -> Self {
        self.operations.push(Planned::Write(condition, act, entity));
        self
    }

    plan::writes_of_entities!(Self, DynamicEntity => with -> Self);

    /// Removes the entity of this row key.
    pub fn delete(self, row_key: impl Into<String>) -> Self {
        self.delete_if(row_key, IfMatch::Any)
    }

    /// Removes the entity of this row key, if it is of the version demanded.
    pub fn delete_if(mut self, row_key: impl Into<String>, condition: impl IntoIfMatch) -> Self {
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
        let done = self.submit();
        done.map_err(|e| e.placed("commit a batch to", self.table.name(), &self.partition, None))
    }

    fn submit(&self) -> Result<ETag> {
        if let Some(preparing) = &self.preparing {
            return preparing.commit(self);
        }
        if self.table.lmdb().is_ok() {
            return self.table.commit(self.prepare()?).map_err(Refused::numbered);
        }
        self.with_group(|group, stray| {
            let strays = group.rows.iter().enumerate().filter_map(|(at, row)| Some((at, row, stray(at)?)));
            if let Some((at, row, other)) = strays.into_iter().next() {
                let (of, batch) = (other.escape_debug(), self.partition.escape_debug());
                return Err(Error::new(ErrorKind::DifferentPartitions)
                    .because(format!("the entity is of partition `{of}`, the batch of `{batch}`"))
                    .attempted(row.act.describe(row.condition))
                    .table(self.table.name())
                    .partition(other)
                    .row(row.key)
                    .at_index(at));
            }
            self.table.write_group(group).map_err(Refused::numbered)
        })
    }

    /// Makes up for a commit together with other batches that failed, if that may have been for want of a look at the
    /// store.
    pub(crate) fn again(&self, refused: Refused) -> Result<()> {
        if self.preparing.is_some() {
            return self.commit().map(drop);
        }
        Err(refused.numbered())
    }

    pub(crate) fn table(&self) -> &DynamicTable {
        &self.table
    }

    pub(crate) fn prepare(&self) -> Result<Box<EncodedPlan>> {
        if let Some(preparing) = &self.preparing {
            return preparing.prepare(self);
        }
        self.with_group(|group, stray| self.prepared(&group, stray))
    }

    /// What `run` makes of the operations, as they are given.
    fn with_group<T>(&self, run: impl for<'a> FnOnce(Group<'a>, Stray<'_, 'a>) -> Result<T>) -> Result<T> {
        // The properties of all entities, one after another.
        let mut properties = Vec::new();
        let mut ends = Vec::with_capacity(self.operations.len());
        for planned in &self.operations {
            if let Planned::Write(.., entity) = planned {
                properties
                    .extend(entity.entries().iter().map(|(name, value)| (&**name, value.as_value_ref())));
            }
            ends.push(properties.len());
        }
        let mut start = 0;
        let own = ends.into_iter().map(|end| {
            let own = properties.get(start..end).unwrap_or_default();
            start = end;
            own
        });
        run(self.group(own, |_| None), &|at| self.stray(at))
    }

    #[cfg(feature = "encrypt")]
    /// The batch with these properties for each operation, and with what is to be done, where that is something else.
    pub(crate) fn prepare_with<'a>(
        &'a self,
        properties: impl Iterator<Item = &'a [Given<'a>]>,
        otherwise: impl Fn(usize) -> Option<(Condition, Act<()>)>,
    ) -> Result<Box<EncodedPlan>> {
        self.prepared(&self.group(properties, otherwise), &|at| self.stray(at))
    }

    fn group<'a>(
        &'a self,
        properties: impl Iterator<Item = &'a [Given<'a>]>,
        otherwise: impl Fn(usize) -> Option<(Condition, Act<()>)>,
    ) -> Group<'a> {
        let mut rows = Vec::with_capacity(self.operations.len());
        for ((index, planned), properties) in self.operations.iter().enumerate().zip(properties) {
            rows.push(match planned {
                Planned::Write(condition, act, entity) => {
                    let (condition, act) = otherwise(index).unwrap_or((*condition, *act));
                    plan::write(condition, act, entity, properties, index)
                }
                Planned::Delete(row, condition) => plan::removal(row, *condition, index),
            });
        }
        Group::new(&self.partition, rows)
    }

    /// The partition of an operation's entity, if it is another than the batch's.
    fn stray(&self, index: usize) -> Option<&str> {
        match self.operations.get(index) {
            Some(Planned::Write(.., entity)) => {
                Some(entity.partition_key()).filter(|partition| *partition != self.partition)
            }
            _ => None,
        }
    }

    fn prepared<'a>(&self, group: &Group<'a>, stray: Stray<'_, 'a>) -> Result<Box<EncodedPlan>> {
        let (blank, state) = (self.table.inner()?.writer.blank(), self.table.state()?);
        let prepared = prepare::batch(blank, state, group, stray).map_err(Refused::numbered)?;
        Ok(self.table.by_properties(prepared))
    }
}

/// The partition of an operation's entity, if it is another than the batch's.
type Stray<'f, 'a> = &'f dyn Fn(usize) -> Option<&'a str>;

/// Makes a batch's operations ready otherwise than as they are given.
pub(crate) trait Preparing: Send + Sync {
    fn prepare(&self, batch: &Batch) -> Result<Box<EncodedPlan>>;

    /// Carries them out, made ready anew as often as that may help.
    fn commit(&self, batch: &Batch) -> Result<ETag>;
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
