//! The tables of a store, awaited.

use std::fmt;

use super::dynamic::AsyncDynamicTable;
use super::egt::AsyncEgt;
use super::set::AsyncSetTable;
use super::table::AsyncTable;
use super::transaction::AsyncTransaction;
use super::{Reads, pool};
use crate::error::Result;
use crate::handle::snapshot::Snapshot;
use crate::handle::tables::Tables;
use crate::typed::change::egt::MemberOf;
use crate::typed::entity::InOneTable;
use crate::typed::propagate;
use crate::typed::read::key::Partition;
use crate::typed::set::EntitySet;

/// The tables of a store, whose calls are awaited.
///
/// It has the methods of [`Tables`]; what can take long, such as to create a table, runs on a thread of a pool. It is cheap to
/// clone, and may be shared between tasks.
///
/// ```
/// use table_core::asynchronous::block_on;
/// use table_core::{Entity, Store};
///
/// #[derive(Entity)]
/// #[entity(table = "Company", kind = "employee")]
/// #[key(partition = "{department}", row = "empid_{id:06}")]
/// struct Employee {
///     department: String,
///     id: u32,
///     age: u8,
/// }
///
/// // In a program, `#[tokio::main]` or what its runtime has.
/// block_on(async {
///     let store = Store::temporary()?.to_async();
///     let staff = store.table::<Employee>().await?;
///     staff.insert(&Employee { department: "Sales".into(), id: 1, age: 40 }).await?;
///     staff.update(Employee::key("Sales", 1), |employee| employee.age += 1).await?;
///     let jones = staff.get(Employee::key("Sales", 1)).await?.unwrap();
///     assert_eq!(jones.age, 41);
///     Ok::<(), table_core::Error>(())
/// })
/// # .unwrap();
/// ```
#[derive(Clone)]
pub struct AsyncTables {
    tables: Tables,
    reads: Reads,
}

impl Tables {
    /// Returns the tables with calls that are awaited.
    #[must_use]
    pub fn to_async(&self) -> AsyncTables {
        AsyncTables { tables: self.clone(), reads: Reads::Inline }
    }
}

impl AsyncTables {
    /// Returns the tables with calls that block.
    pub fn blocking(&self) -> &Tables {
        &self.tables
    }

    /// Says where tables that are opened from now on read.
    #[must_use]
    pub fn reads(self, reads: Reads) -> Self {
        Self { reads, ..self }
    }

    #[allow(dead_code, reason = "only some features open what reads")]
    pub(super) fn reading(&self) -> Reads {
        self.reads
    }

    /// Runs a call that blocks on a thread of a pool: what has no awaited form, such as a report.
    ///
    /// ```
    /// # use table_core::asynchronous::block_on;
    /// # use table_core::Store;
    /// # block_on(async {
    /// let store = Store::temporary()?.to_async();
    /// store.run(|tables| tables.create_table("Company").map(drop)).await?;
    /// assert_eq!(store.tables().await?, ["Company"]);
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn run<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Tables) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let tables = self.tables.clone();
        pool::run(move || call(&tables)).await
    }

    /// Returns the table of this entity, created if there is none; see [`Tables::table`].
    pub async fn table<E: InOneTable + Send + Sync>(&self) -> Result<AsyncTable<E>> {
        let table = self.run(|tables| Ok(tables.table::<E>()?.dynamic().clone())).await?;
        Ok(AsyncTable::new(AsyncDynamicTable::new(table, self.reads)))
    }

    /// Returns the table of this set's kinds, created if there is none.
    pub async fn set<Set: EntitySet>(&self) -> Result<AsyncSetTable<Set>> {
        let table = self.run(|tables| Ok(tables.set::<Set>()?.dynamic().clone())).await?;
        Ok(AsyncSetTable::new(AsyncDynamicTable::new(table, self.reads)))
    }

    /// Creates a table. Names are compared without regard to case and kept as given.
    pub async fn create_table(&self, name: &str) -> Result<AsyncDynamicTable> {
        let name = name.to_owned();
        self.opened(move |tables| tables.create_table(&name)).await
    }

    /// Returns the table of this name.
    pub async fn dynamic_table(&self, name: &str) -> Result<AsyncDynamicTable> {
        let name = name.to_owned();
        self.opened(move |tables| tables.dynamic_table(&name)).await
    }

    /// Returns the table of this name, created if there is none.
    pub async fn create_table_if_missing(&self, name: &str) -> Result<AsyncDynamicTable> {
        let name = name.to_owned();
        self.opened(move |tables| tables.create_table_if_missing(&name)).await
    }

    async fn opened(
        &self,
        open: impl FnOnce(&Tables) -> Result<crate::DynamicTable> + Send + 'static,
    ) -> Result<AsyncDynamicTable> {
        Ok(AsyncDynamicTable::new(self.run(open).await?, self.reads))
    }

    /// Returns the names of all tables, in alphabetical order without regard to case.
    pub async fn tables(&self) -> Result<Vec<String>> {
        self.run(Tables::tables).await
    }

    /// Drops a table with all its entities; see [`Tables::drop_table`].
    pub async fn drop_table(&self, name: &str) -> Result<()> {
        let name = name.to_owned();
        self.run(move |tables| tables.drop_table(&name)).await
    }

    /// Drops tables with all their entities, together or not at all.
    pub async fn drop_tables(&self, names: &[&str]) -> Result<()> {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        self.run(move |tables| tables.drop_tables(&names.iter().map(String::as_str).collect::<Vec<_>>()))
            .await
    }

    /// Gives a table another name; see [`Tables::rename_table`].
    pub async fn rename_table(&self, table: &str, name: &str) -> Result<()> {
        let (table, name) = (table.to_owned(), name.to_owned());
        self.run(move |tables| tables.rename_table(&table, &name)).await
    }

    /// Returns a view of all tables at one moment, read by calls that block: see [`Tables::snapshot`]. A task can hold it over
    /// an `await`; it can't hold what borrows it.
    pub async fn snapshot(&self) -> Result<Snapshot> {
        self.run(Tables::snapshot).await
    }

    /// Begins changes of several entities of one partition, of any kinds of the set, to be made together or not at all.
    pub fn egt<'c, Set: EntitySet>(&self, partition: Partition<impl MemberOf<Set>>) -> AsyncEgt<'c, Set> {
        propagate::register_set::<Set>(&self.tables);
        AsyncEgt::of_kinds(self.tables.clone(), Set::KINDS, partition)
    }

    /// Begins changes of entities of any partitions and tables, to be made together or not at all.
    pub fn transaction<'c>(&self) -> AsyncTransaction<'c> {
        AsyncTransaction::new(self.tables.clone())
    }
}

impl fmt::Debug for AsyncTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncTables").field("path", &self.tables.path()).finish_non_exhaustive()
    }
}
