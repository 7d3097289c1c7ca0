//! Store transactions: changes of entities of any partitions and tables, as one.

use std::fmt;

use super::attempt::{Attempt, CommittedByTheThreadThatMadeIt};
use super::driver::{self, Scope, Together};
use super::entity_attempt::boxed;
use super::entity_images::TypedImages;
use super::queue_ops::{self, QueueOpsAttempt};
use super::several::{changes, ends, messages};
use super::{Change, Payload, plan_only};
use crate::error::{Error, ErrorKind, Result};
use crate::handle::table::DynamicTable;
use crate::handle::tables::Tables;
use crate::limits;
use crate::model::{IfMatch, IntoIfMatch};
use crate::plan::{Committed, Reach, WriteExplain};
#[cfg(feature = "queue")]
use crate::queue::{Message, Queue, Received};
use crate::schema::Schema;
use crate::typed::entity::{Entity, InOneTable, PatchOf};
use crate::typed::propagate;
use crate::typed::read::key::Key;
use crate::typed::series::AddsTo;

/// Changes of entities in whatever partitions and tables that happen together or not at all.
///
/// An entity's type says its table. It is planned whole, as an [entity group transaction](crate::typed::Egt) is: what counts
/// is the state after all changes, and each entity is changed once. The entities that it changes are read in one snapshot,
/// and it is made again if another writer was quicker with one of them. With their copies the changes may touch [10,000
/// rows](limits::TRANSACTION_ROWS), which must come to less than [64 MiB](limits::TRANSACTION_BYTES);
/// [`explain`](Self::explain) says which. An error says [which change](crate::Error::index) it is about, and nothing has
/// happened. A transaction may send and complete messages without any change of an entity, too.
///
/// It is built by calls, each of which takes it and gives it back, and not by a closure; in a loop:
///
/// ```
/// # use table_core::{Entity, Store};
/// # #[derive(Entity)]
/// # #[entity(table = "Company", kind = "employee")]
/// # #[key(partition = "{department}", row = "empid_{id:06}")]
/// # struct Employee { department: String, id: u32 }
/// # let store = Store::temporary()?;
/// # let all = [1, 2, 3].map(|id| Employee { department: "Sales".into(), id });
/// let mut transaction = store.transaction();
/// for employee in &all {
///     transaction = transaction.insert(employee);
/// }
/// transaction.commit()?;
/// # assert_eq!(store.table::<Employee>()?.all().count()?, 3);
/// # Ok::<(), table_core::Error>(())
/// ```
///
/// It is not `Send`, since its closures need not be: a thread makes the transaction that it commits.
///
/// Azure Table storage has no such thing: there, what spans partitions is done in steps, each of which may be the last. A
/// store that is no better refuses it by [`Unsupported`](ErrorKind::Unsupported).
///
/// ```
/// # use table_core::{Entity, Store};
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[entity(table = "Company", kind = "employee")]
/// # #[key(partition = "{department}", row = "empid_{id:06}")]
/// # struct Employee { department: String, id: u32, name: String }
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[entity(table = "Company", kind = "department")]
/// # #[key(partition = "{name}", row = "department")]
/// # struct Department { name: String, head_count: u32 }
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[entity(table = "Former", kind = "former")]
/// # #[key(partition = "{year:04}", row = "{id:06}")]
/// # struct Former { year: u16, id: u32, name: String }
/// # let dir = tempfile::tempdir()?;
/// # let store = Store::open(dir.path().join("company.tables"))?;
/// # store.table::<Department>()?.insert(&Department { name: "Sales".into(), head_count: 1 })?;
/// # let etag = store.table::<Employee>()?.insert(&Employee { department: "Sales".into(), id: 7, name: "Ann".into() })?;
/// // An employee leaves: one entity goes, one comes in another table, and one counts.
/// let former = Former { year: 2026, id: 7, name: "Ann".into() };
/// store
///     .transaction()
///     .insert(&former)
///     .delete_if(Employee::key("Sales", 7), etag)
///     .update(Department::key("Sales"), |department| department.head_count -= 1)
///     .commit()?;
/// assert_eq!(store.table::<Department>()?.get(Department::key("Sales"))?.unwrap().head_count, 0);
/// # assert_eq!(*store.table::<Former>()?.get(Former::key(2026, 7))?.unwrap(), former);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a transaction does nothing until it is committed"]
pub struct StoreTransaction<'c> {
    open: OpenTables,
    operations: Vec<Box<dyn CommittedByTheThreadThatMadeIt + 'c>>,
    /// For each of them the number of its table.
    of: Vec<usize>,
    /// Why a table can't be opened, of the first that can't.
    refused: Option<Error>,
    queue_ops: QueueOpsAttempt,
}

/// The tables of a transaction, each opened once.
pub(crate) struct OpenTables {
    store: Tables,
    pub(crate) tables: Vec<DynamicTable>,
    /// The number of the table of each declaration.
    kinds: Vec<(&'static Schema, usize)>,
}

impl OpenTables {
    pub(crate) fn new(store: Tables) -> Self {
        Self { store, tables: Vec::new(), kinds: Vec::new() }
    }

    /// Returns the number of the table of a declaration, which is opened if it is not yet.
    fn table(&mut self, schema: &'static Schema) -> Result<usize> {
        if let Some(number) = self.known(schema) {
            return Ok(number);
        }
        let table = self.store.table_of(&[schema])?;
        Ok(self.add(schema, &table))
    }

    /// Returns the number of the table of a declaration, if it is open.
    pub(crate) fn known(&self, schema: &'static Schema) -> Option<usize> {
        let known = self.kinds.iter().find(|(known, _)| std::ptr::eq(*known, schema));
        known.map(|(_, number)| *number)
    }

    /// Adds the table of a declaration, and returns its number.
    pub(crate) fn add(&mut self, schema: &'static Schema, table: &DynamicTable) -> usize {
        let number = self.number_of(table);
        self.kinds.push((schema, number));
        number
    }

    /// Returns the number of a table; it and the others that it knows are added if they are not among those known.
    fn number_of(&mut self, table: &DynamicTable) -> usize {
        // The entity's own comes first.
        let mut number = None;
        for table in table.family() {
            let found = self.tables.iter().position(|known| known.exec().id() == table.exec().id());
            let found = found.unwrap_or_else(|| {
                self.tables.push(table.clone());
                self.tables.len() - 1
            });
            number.get_or_insert(found);
        }
        number.unwrap_or_default()
    }
}

impl<'c> StoreTransaction<'c> {
    pub(crate) fn new(store: Tables) -> Self {
        let (open, queue_ops) = (OpenTables::new(store), QueueOpsAttempt::default());
        Self { open, operations: Vec::new(), of: Vec::new(), refused: None, queue_ops }
    }

    fn with<E: Entity>(mut self, key: Key<E>, change: Change<'c>, payload: Payload<'c, E>) -> Self {
        propagate::register::<E>(&self.open.store);
        let table = self.open.table(E::SCHEMA);
        self.push(table, boxed(key.into_keys(), change, Box::new(TypedImages::of(payload))));
        self
    }

    /// Adds a change of what lies in the table of this number.
    fn push(&mut self, table: Result<usize>, operation: Box<dyn CommittedByTheThreadThatMadeIt + 'c>) {
        match table {
            Ok(number) => self.of.push(number),
            Err(error) => self.refuse(error),
        }
        self.operations.push(operation);
    }

    /// Refuses the next change, and with it all.
    pub(crate) fn refuse(&mut self, error: Error) {
        let index = self.operations.len();
        self.refused.get_or_insert_with(|| error.at_index(index));
    }

    /// Adds a change of a row in the first table of this family.
    pub(crate) fn push_in(
        &mut self,
        family: &DynamicTable,
        operation: Box<dyn CommittedByTheThreadThatMadeIt + 'c>,
    ) {
        let number = self.open.number_of(family);
        self.push(Ok(number), operation);
    }

    pub(crate) fn store(&self) -> &Tables {
        &self.open.store
    }

    changes!([InOneTable] []);

    messages!();

    ends!([driver::commit, queue_ops::commit], [plan_only::explain, queue_ops::explain]);

    /// Has changes carried out or shown by `run`, and messages that go with no change by `alone`.
    fn run<T>(
        self,
        run: impl FnOnce(Together<'_>, &mut [&mut (dyn Attempt + '_)]) -> Result<T>,
        alone: impl FnOnce(&Tables, QueueOpsAttempt) -> Result<T>,
    ) -> Result<T> {
        if let Some(error) = self.refused {
            return Err(error);
        }
        let mut boxed = self.operations;
        let mut queue_ops = self.queue_ops.checked()?;
        if boxed.is_empty()
            && let Some(queue_ops) = queue_ops
        {
            return alone(&self.open.store, queue_ops);
        }
        check_length(boxed.len())?;
        let mut operations: Vec<&mut dyn Attempt> = Vec::with_capacity(boxed.len());
        for operation in &mut boxed {
            operations.push(&mut **operation);
        }
        // Behind the changes, so that an error's number is that of a change.
        if let Some(queue_ops) = &mut queue_ops {
            operations.push(queue_ops);
        }
        let scope = Scope { reach: Reach::Store, of: &self.of };
        run(Together { tables: &self.open.tables, scope }, &mut operations)
    }
}

/// Refuses a transaction of nothing, and one of too many operations.
pub(crate) fn check_length(operations: usize) -> Result<()> {
    let because = match operations {
        0 => "the transaction has no operation".to_owned(),
        1..=limits::TRANSACTION_ROWS => return Ok(()),
        many => {
            let most = limits::TRANSACTION_ROWS;
            format!("the transaction has {many} operations; it may touch {most} rows")
        }
    };
    Err(Error::new(ErrorKind::BatchLength).because(because).attempted("commit a transaction"))
}

impl fmt::Debug for StoreTransaction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreTransaction")
            .field("tables", &self.open.tables)
            .field("changes", &self.operations.len())
            .finish_non_exhaustive()
    }
}
