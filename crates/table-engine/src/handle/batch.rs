//! Several operations as one.

use std::fmt;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::executor::{self, Loader, OnCommitted};
use crate::handle::table::DynamicTable;
use crate::limits;
use crate::model::{DynamicEntity, IfMatch, IntoIfMatch};
use crate::plan::{self, Act, Committed, Condition, Group, Plan, Refused, RowWrite};
use crate::row::encode::Given;
use crate::sealing::SealedAt;

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
    /// What seals the values, if they are not written as they are given.
    pub(crate) sealing: Option<Arc<dyn SealsBatch>>,
}

#[derive(Clone)]
pub(crate) enum Planned {
    Write(Condition, Act<()>, DynamicEntity),
    Delete(String, IfMatch),
}

/// The words that follow "cannot " in an error.
pub(crate) const COMMIT: &str = "commit a batch to";

impl Batch {
    pub(crate) fn new(table: DynamicTable, partition: String) -> Self {
        Self { table, partition, operations: Vec::new(), sealing: None }
    }

    pub(crate) fn with(mut self, condition: Condition, act: Act<()>, entity: DynamicEntity) -> Self {
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

    #[cfg(feature = "async")]
    pub(crate) fn of_table(self, table: &DynamicTable) -> Self {
        Self { table: table.clone(), ..self }
    }

    /// Carries out the operations as they are.
    pub(crate) fn carry_out(&self) -> Result<Committed> {
        if let Some(sealing) = &self.sealing {
            return sealing.commit(self);
        }
        self.with_group(|group| self.table.write_group(group).map_err(Refused::numbered))
    }

    /// Hands the batch to the store, which carries it out with others that wait, and calls `done` with what
    /// [`commit`](Self::commit) would have returned. No thread waits meanwhile.
    ///
    /// What one thread submits is carried out in that order. An error says that the batch was not taken: something is wrong
    /// with it, or [too many](ErrorKind::TooManyWrites) wait, for which a program waits by its callbacks. What was taken is
    /// carried out also if all handles of the store are dropped; the drop of the last one waits for that.
    ///
    /// `done` is called once, on a thread of the store's that calls nothing else meanwhile, so it is to be quick: to send to
    /// a channel, to wake a task. It may read and write, and submit more, and must not wait for another callback. If it
    /// panics, no other is harmed.
    ///
    /// Rows of declared kinds are refused as [`DeclaredKind`](ErrorKind::DeclaredKind), where [`commit`](Self::commit) plans
    /// them: a plan is made of the rows as they are, and the batches that wait may change these. Of a table whose values are
    /// sealed by a rule, the batch is sealed now: if a key, or a row that the sealing depends on, changes before it is carried
    /// out, it is refused where [`commit`](Self::commit) would seal it anew.
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// use table_core::{DynamicEntity, Store};
    ///
    /// # let store = Store::temporary()?;
    /// let company = store.create_table("Company")?;
    /// let (done, answers) = mpsc::channel();
    /// for id in 1..=1_000 {
    ///     let done = done.clone();
    ///     company
    ///         .batch("Sales")
    ///         .insert(DynamicEntity::new("Sales", format!("empid_{id:06}")).with("Age", 30))
    ///         .submit(move |committed| done.send(committed).unwrap_or_default())?;
    /// }
    /// drop(done);
    /// for committed in answers {
    ///     committed?; // each is on disk by now
    /// }
    /// assert_eq!(company.query(&table_core::Query::new())?.count(), 1_000);
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn submit(&self, done: impl FnOnce(Result<Committed>) + Send + 'static) -> Result<()> {
        // Names, and no table: that would be a handle, and the last one is to be the caller's.
        let (table, partition) = (self.table.name().to_owned(), self.partition.clone());
        let is_sealed = self.sealing.is_some();
        let answer = move |answered: Result<Committed, Refused>| {
            let answered = answered.map_err(|refused| {
                let error = refused.numbered();
                if is_sealed { error } else { committed_instead(error) }
            });
            done(answered.map_err(|e| e.placed(COMMIT, &table, &partition, None)));
        };
        let mut answer: Option<OnCommitted> = Some(Box::new(answer));
        let mut take = |group: Group<'_>, sealed_at: &SealedAt| match answer.take() {
            Some(answer) => self.table.submit_group(group, sealed_at, answer).map_err(Refused::numbered),
            None => Ok(()),
        };
        let taken = match &self.sealing {
            Some(sealing) => sealing.seal(self, &mut take),
            None => self.with_group(|group| take(group, &SealedAt::NOTHING)),
        };
        taken.map_err(|e| e.placed(COMMIT, self.table.name(), &self.partition, None))
    }

    /// Hands the batch to a loader, which carries it out together with others.
    pub(crate) fn load(&self, loader: &mut dyn Loader) -> Result<()> {
        let added = self.add_to(loader);
        added.map_err(|e| e.placed(COMMIT, self.table.name(), &self.partition, None))
    }

    fn add_to(&self, loader: &mut dyn Loader) -> Result<()> {
        let table = &self.table;
        let mut add = |group: Group<'_>, sealed_at: &SealedAt| {
            let plan = Plan { groups: group.into(), is_raw: table.is_raw(), ..Plan::default() };
            loader.add_of(&[table.exec()], &plan, sealed_at).map_err(Refused::numbered)
        };
        match &self.sealing {
            Some(sealing) => sealing.seal(self, &mut add),
            None => self.with_group(|group| add(group, &SealedAt::NOTHING)),
        }
    }

    pub(crate) fn table(&self) -> &DynamicTable {
        &self.table
    }

    /// Shows the operations as a group of rows, with the properties that the entities have.
    pub(crate) fn with_group<T>(&self, run: impl FnOnce(Group<'_>) -> Result<T>) -> Result<T> {
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
        run(self.group(own, |_| None)?)
    }

    /// Returns the operations as a group of rows: each with these properties, and with what `otherwise` says in place of what
    /// the caller has asked for. All must be of the batch's partition.
    pub(crate) fn group<'a>(
        &'a self,
        properties: impl Iterator<Item = &'a [Given<'a>]>,
        otherwise: impl Fn(usize) -> Option<(Condition, Act<()>)>,
    ) -> Result<Group<'a>> {
        let mut rows = Vec::with_capacity(self.operations.len());
        for ((index, planned), properties) in self.operations.iter().enumerate().zip(properties) {
            rows.push(match planned {
                Planned::Write(condition, act, entity) => {
                    let (condition, act) = otherwise(index).unwrap_or((*condition, *act));
                    let row = plan::write(condition, act, entity, properties, index);
                    if entity.partition_key() != self.partition {
                        return Err(self.stray(entity.partition_key(), &rows, row));
                    }
                    row
                }
                Planned::Delete(row, condition) => plan::removal(row, *condition, index),
            });
        }
        Ok(Group::new(&self.partition, rows))
    }

    /// Returns what is wrong with a batch whose row behind these is of another partition: the first thing that is, as if its
    /// operations were checked in order.
    #[cold]
    fn stray(&self, other: &str, earlier: &[RowWrite<'_>], row: RowWrite<'_>) -> Error {
        if self.operations.len() > limits::BATCH_OPERATIONS {
            return executor::batch_length(self.operations.len());
        }
        let checked = earlier.iter().map(|row| (executor::check_row(&self.partition, row), row));
        for (index, (checked, row)) in checked.enumerate() {
            if let Err(error) = checked {
                return self.at_row(error, &self.partition, row, index);
            }
        }
        let (of, batch) = (other.escape_debug(), self.partition.escape_debug());
        let because = format!("the entity is of partition `{of}`, the batch of `{batch}`");
        let error = Error::new(ErrorKind::DifferentPartitions).because(because);
        self.at_row(error, other, &row, earlier.len())
    }

    /// Places an error at an operation.
    fn at_row(&self, error: Error, partition: &str, row: &RowWrite<'_>, index: usize) -> Error {
        let error = error.attempted(row.act.describe(row.condition)).table(self.table.name());
        error.partition(partition).row(row.key).at_index(index)
    }
}

/// Says of a row that only a commit plans that it does.
#[cold]
fn committed_instead(error: Error) -> Error {
    if error.kind() != ErrorKind::DeclaredKind {
        return error;
    }
    let because = format!("{}; `Batch::commit` plans its copies too, and `submit` does not", error.reason());
    error.because(because)
}

/// Seals the values of a batch's entities when it is committed.
pub(crate) trait SealsBatch: Send + Sync {
    /// Hands the operations to `take`, sealed, with what they were sealed with.
    fn seal(&self, batch: &Batch, take: &mut dyn FnMut(Group<'_>, &SealedAt) -> Result<()>) -> Result<()>;

    /// Commits the batch, sealed anew as long as keys or rows change meanwhile.
    fn commit(&self, batch: &Batch) -> Result<Committed>;
}

impl DynamicTable {
    /// Begins a batch of operations on one partition, which happen together or not at all.
    pub fn batch(&self, partition_key: impl Into<String>) -> Batch {
        Batch::new(self.clone(), partition_key.into())
    }
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("table", &self.table.name())
            .field("partition", &self.partition)
            .field("operations", &self.operations.len())
            .finish_non_exhaustive()
    }
}
