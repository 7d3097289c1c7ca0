//! Entity group transactions, awaited.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::period_egt::open_or_make;
use super::{WriteToken, pool};
use crate::error::{ErrorKind, Result};
use crate::executor::ATTEMPTS;
use crate::handle::table::DynamicTable;
use crate::handle::tables::Tables;
use crate::limits;
use crate::model::{IfMatch, IntoIfMatch, Ticks};
use crate::plan::Committed;
#[cfg(feature = "queue")]
use crate::queue::{Message, Queue, Received};
use crate::schema::Schema;
use crate::typed::change::awaited::{self, SendAttempt};
use crate::typed::change::driver::Together;
use crate::typed::change::egt::{self, MemberOf};
use crate::typed::change::entity_attempt::boxed_to_share;
use crate::typed::change::entity_images::TypedImages;
use crate::typed::change::queue_ops::QueueOpsAttempt;
use crate::typed::change::several::{changes, messages};
use crate::typed::change::{Change, Payload, SendClosure};
use crate::typed::entity::{Entity, PatchOf};
use crate::typed::periods::PeriodsShared;
use crate::typed::read::key::{Key, Partition};
use crate::typed::series::AddsTo;

/// Changes of entities in one partition that happen together or not at all, as [`Egt`](crate::typed::Egt) has them; to commit
/// them is awaited.
///
/// It is `Send`, and so are its closures. They run before anything is written, maybe several times.
///
/// ```
/// use table_core::asynchronous::block_on;
/// # use table_core::{Entity, Store};
/// # #[derive(Entity)]
/// # #[entity(table = "Company", kind = "employee")]
/// # #[key(partition = "{department}", row = "empid_{id:06}")]
/// # struct Employee { department: String, id: u32, age: u8 }
/// # block_on(async {
/// # let store = Store::temporary()?.to_async();
/// let staff = store.table::<Employee>().await?;
/// # let employee = |id| Employee { department: "Sales".into(), id, age: 40 };
/// let (ann, bob) = (employee(1), employee(2));
/// staff.egt(Employee::partition("Sales")).insert(&ann).insert(&bob).commit().await?;
/// staff
///     .egt(Employee::partition("Sales"))
///     .update(Employee::key("Sales", 1), |ann| ann.age += 1)
///     .delete(Employee::key("Sales", 2))
///     .commit()
///     .await?;
/// assert_eq!(staff.rows().department("Sales").count().await?, 1);
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
#[must_use = "a transaction does nothing until it is committed"]
pub struct AsyncEgt<'c, Set> {
    place: Place,
    partition: Result<String>,
    operations: Vec<Box<SendAttempt<'c>>>,
    queue_ops: QueueOpsAttempt,
    token: Option<WriteToken>,
    set: PhantomData<fn() -> Set>,
}

/// Where the changes are made.
enum Place {
    Table(DynamicTable),
    /// In the table of these kinds, which is opened when they are committed.
    Kinds(Tables, &'static [&'static Schema]),
    /// In the table of the period that begins then, which is made when they are committed.
    Period(Arc<PeriodsShared>, Result<Ticks>),
}

impl<'c, Set> AsyncEgt<'c, Set> {
    /// Begins a transaction in this partition of a table.
    pub(super) fn new(
        table: &DynamicTable,
        partition: Partition<impl MemberOf<Set>>,
        token: Option<&WriteToken>,
    ) -> Self {
        Self { token: token.cloned(), ..Self::at(Place::Table(table.clone()), partition) }
    }

    /// Begins a transaction in this partition of the table of these kinds.
    pub(super) fn of_kinds(
        tables: Tables,
        kinds: &'static [&'static Schema],
        partition: Partition<impl MemberOf<Set>>,
    ) -> Self {
        Self::at(Place::Kinds(tables, kinds), partition)
    }

    /// Begins a transaction in this partition of the table of a period.
    pub(super) fn of_period(
        known: Arc<PeriodsShared>,
        start: Result<Ticks>,
        partition: Partition<impl MemberOf<Set>>,
    ) -> Self {
        Self::at(Place::Period(known, start), partition)
    }

    fn at(place: Place, partition: Partition<impl MemberOf<Set>>) -> Self {
        let (partition, queue_ops) = (partition.into_key(), QueueOpsAttempt::default());
        Self { place, partition, operations: Vec::new(), queue_ops, token: None, set: PhantomData }
    }

    /// Notes in the token what becomes of the transaction.
    pub fn tracked(self, token: &WriteToken) -> Self {
        Self { token: Some(token.clone()), ..self }
    }

    fn with<E: Entity<Patch: Send> + Send + Sync>(
        mut self,
        key: Key<E>,
        change: Change<'c>,
        payload: Payload<'c, E, SendClosure<'c, E>>,
    ) -> Self {
        let images = TypedImages::<E, SendClosure<'c, E>>::of(payload);
        self.operations.push(boxed_to_share(key.into_keys(), change, Box::new(images)));
        self
    }

    changes!([Entity<Patch: Send> + MemberOf<Set> + Send + Sync] [+ Send]);

    messages!();

    /// Makes every change, or none. Returns the version of each entity that was written.
    pub async fn commit(self) -> Result<Committed> {
        let Self { place, partition, mut operations, queue_ops, token, .. } = self;
        let (mut table, period) = match place {
            Place::Table(table) => (table, None),
            Place::Kinds(tables, kinds) => (opened(tables, kinds.to_vec()).await?, None),
            Place::Period(known, start) => {
                let start = start?;
                (open_or_make(&known, start).await?, Some((known, start)))
            }
        };
        let (partition, mut queue_ops) = (partition?, queue_ops.checked()?);
        let partitions = operations.iter().map(|operation| operation.partition());
        egt::check(table.name(), &partition, partitions, queue_ops.is_some())?;
        let mut attempts: Vec<&mut SendAttempt<'_>> =
            Vec::with_capacity(operations.len().min(limits::BATCH_OPERATIONS));
        for operation in &mut operations {
            attempts.push(&mut **operation);
        }
        // Behind the changes, so that an error's number is that of a change.
        if let Some(queue_ops) = &mut queue_ops {
            attempts.push(queue_ops);
        }
        if let Some((known, start)) = period {
            // From the start again as often as others drop the period meanwhile.
            for _ in 1..ATTEMPTS {
                let together = Together::batch(&table, &partition);
                match awaited::commit(together, &mut attempts, token.as_ref()).await {
                    Err(gone) if gone.kind() == ErrorKind::TableNotFound => known.forget(&table),
                    done => return done,
                }
                table = open_or_make(&known, start).await?;
            }
        }
        awaited::commit(Together::batch(&table, &partition), &mut attempts, token.as_ref()).await
    }
}

/// Returns the table of these kinds. One that has to be created is, on a thread of the pool.
pub(super) async fn opened(tables: Tables, kinds: Vec<&'static Schema>) -> Result<DynamicTable> {
    let are_there = kinds
        .iter()
        .flat_map(|schema| std::iter::once(schema.table()).chain(schema.other_tables()))
        .all(|name| tables.dynamic_table(name).is_ok());
    if are_there { tables.table_of(&kinds) } else { pool::run(move || tables.table_of(&kinds)).await }
}

impl<Set> fmt::Debug for AsyncEgt<'_, Set> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncEgt")
            .field("partition", &self.partition)
            .field("changes", &self.operations.len())
            .finish_non_exhaustive()
    }
}
