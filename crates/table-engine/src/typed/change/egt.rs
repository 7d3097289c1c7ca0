//! Entity group transactions: changes of several entities of one partition, as one.

use std::fmt;
use std::marker::PhantomData;

use super::attempt::{Attempt, CommittedByTheThreadThatMadeIt};
use super::driver::{self, Together};
use super::entity_attempt::boxed;
use super::entity_images::TypedImages;
use super::queue_ops::QueueOpsAttempt;
use super::several::{changes, ends, messages};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::ATTEMPTS;
use crate::handle::table::DynamicTable;
use crate::limits;
use crate::model::{IfMatch, IntoIfMatch};
use crate::plan::{Committed, WriteExplain};
#[cfg(feature = "queue")]
use crate::queue::{Message, Queue, Received};
use crate::typed::change::{Change, Payload, plan_only};
use crate::typed::entity::{Entity, PatchOf};
use crate::typed::read::key::{Key, Partition};
use crate::typed::series::AddsTo;

/// An entity of a set: of the kinds that a `#[derive(EntitySet)]` lists, or of the one kind of a typed table.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kind of `{Set}`",
    label = "not of `{Set}`",
    note = "a transaction takes entities of the kinds that its set lists"
)]
pub trait MemberOf<Set> {}

impl<E: Entity> MemberOf<E> for E {}

/// Changes of entities in one partition that happen together or not at all: the service's entity group transaction.
///
/// It is planned whole. What counts is the state after all changes, so two entities may exchange what an index demands
/// to be unique; and each entity is changed once. With their copies the changes may touch 100 rows:
/// [`explain`](Self::explain) says which. An error says [which change](Error::index) it is about, and nothing has
/// happened. A transaction may send and complete messages without any change of an entity, too.
///
/// It is not `Send`, since its closures need not be: a thread makes the transaction that it commits, of a table that was cloned
/// for it. Each call takes the transaction and gives it back, as `transaction = transaction.insert(&entity)` in a loop.
///
/// ```
/// # use table_core::{Entity, Store};
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[entity(table = "Company", kind = "employee")]
/// # #[key(partition = "{department}", row = "empid_{id:06}")]
/// # #[index(by_email, row = "email_{email}", unique)]
/// # struct Employee { department: String, id: u32, email: String }
/// # let dir = tempfile::tempdir()?;
/// # let store = Store::open(dir.path().join("company.tables"))?;
/// let staff = store.table::<Employee>()?;
/// # let employee = |id, email: &str| Employee { department: "Sales".into(), id, email: email.into() };
/// let (ann, bob) = (employee(1, "first@contoso.com"), employee(2, "second@contoso.com"));
/// staff.egt(Employee::partition("Sales")).insert(&ann).insert(&bob).commit()?;
///
/// // The two exchange their addresses.
/// staff
///     .egt(Employee::partition("Sales"))
///     .update(Employee::key("Sales", 1), |e| e.email = "second@contoso.com".into())
///     .update(Employee::key("Sales", 2), |e| e.email = "first@contoso.com".into())
///     .commit()?;
/// let first = staff.get(Employee::by_email("Sales", "first@contoso.com"))?.unwrap();
/// assert_eq!(first.id, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a transaction does nothing until it is committed"]
pub struct Egt<'c, Set> {
    table: At,
    partition: Result<String>,
    operations: Vec<Box<dyn CommittedByTheThreadThatMadeIt + 'c>>,
    queue_ops: QueueOpsAttempt,
    set: PhantomData<fn() -> Set>,
}

/// Where the changes are made.
enum At {
    /// In this table.
    Table(Result<DynamicTable>),
    /// In the one that there is when they are committed, given anew if it has been dropped since.
    Period(Given, Forget),
}

/// Gives the table of a period, which is made if there is none.
type Given = Box<dyn Fn() -> Result<DynamicTable> + Send>;
/// Forgets a table that was dropped.
type Forget = Box<dyn Fn(&DynamicTable) + Send>;

impl<'c, Set> Egt<'c, Set> {
    /// Begins a transaction in this partition, which is one of an entity of the set.
    pub(crate) fn new<E: MemberOf<Set>>(table: Result<DynamicTable>, partition: Partition<E>) -> Self {
        Self::at(At::Table(table), partition)
    }

    /// Changes of the table of a period.
    pub(crate) fn when_committed<E: MemberOf<Set>>(
        table: Given,
        forget: Forget,
        partition: Partition<E>,
    ) -> Self {
        Self::at(At::Period(table, forget), partition)
    }

    fn at<E: MemberOf<Set>>(table: At, partition: Partition<E>) -> Self {
        Self {
            table,
            partition: partition.into_key(),
            operations: Vec::new(),
            queue_ops: QueueOpsAttempt::default(),
            set: PhantomData,
        }
    }

    fn with<E: Entity>(mut self, key: Key<E>, change: Change<'c>, payload: Payload<'c, E>) -> Self {
        self.operations.push(boxed(key.into_keys(), change, Box::new(TypedImages::of(payload))));
        self
    }

    changes!([Entity + MemberOf<Set>] []);

    messages!();

    ends!([driver::commit], [plan_only::explain]);

    fn run<T>(self, run: impl Fn(Together<'_>, &mut [&mut (dyn Attempt + '_)]) -> Result<T>) -> Result<T> {
        let (mut table, forget) = match self.table {
            At::Table(table) => (table?, None),
            At::Period(given, forget) => (given()?, Some((given, forget))),
        };
        let partition = self.partition?;
        let mut boxed = self.operations;
        let mut queue_ops = self.queue_ops.checked()?;
        let partitions = boxed.iter().map(|operation| operation.partition());
        check(table.name(), &partition, partitions, queue_ops.is_some())?;
        let mut operations: Vec<&mut dyn Attempt> =
            Vec::with_capacity(boxed.len().min(limits::BATCH_OPERATIONS));
        for operation in &mut boxed {
            operations.push(&mut **operation);
        }
        // Behind the changes, so that an error's number is that of a change.
        if let Some(queue_ops) = &mut queue_ops {
            operations.push(queue_ops);
        }
        let Some((given, forget)) = forget else {
            return run(Together::batch(&table, &partition), &mut operations);
        };
        for _ in 1..ATTEMPTS {
            match run(Together::batch(&table, &partition), &mut operations) {
                Err(error) if error.kind() == ErrorKind::TableNotFound => forget(&table),
                done => return done,
            }
            table = given()?;
        }
        run(Together::batch(&table, &partition), &mut operations)
    }
}

/// Refuses a batch of nothing, and one with an entity of another partition than its own.
#[expect(single_use_lifetimes, reason = "an anonymous one in an associated type is not stable")]
pub(crate) fn check<'p>(
    table: &str,
    partition: &str,
    partitions: impl Iterator<Item = Result<Option<&'p str>>>,
    has_messages: bool,
) -> Result<()> {
    let refuse = |kind: ErrorKind, because: String| {
        Error::new(kind).because(because).attempted("commit a batch to").table(table).partition(partition)
    };
    let mut is_empty = !has_messages;
    for (index, found) in partitions.enumerate() {
        is_empty = false;
        let found = found.map_err(|e| e.at_index(index))?;
        if let Some(found) = found
            && found != partition
        {
            let (found, partition) = (found.escape_debug(), partition.escape_debug());
            let because = format!("the entity is of partition `{found}`, the batch of `{partition}`");
            return Err(refuse(ErrorKind::DifferentPartitions, because).at_index(index));
        }
    }
    if is_empty { Err(refuse(ErrorKind::BatchLength, "the batch has no operation".into())) } else { Ok(()) }
}

impl<Set> fmt::Debug for Egt<'_, Set> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Egt")
            .field("partition", &self.partition)
            .field("changes", &self.operations.len())
            .finish_non_exhaustive()
    }
}
