//! A set in a snapshot.

use std::fmt;
use std::marker::PhantomData;

use super::query::SetQuery;
use super::{EntitySet, SetTable, get_any};
use crate::error::Result;
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::query::Query;
use crate::typed::change::egt::MemberOf;
use crate::typed::entity::Entity;
use crate::typed::entity::stored::Stored;
use crate::typed::read;
use crate::typed::read::key::{Key, Partition};
use crate::typed::read::origin::{AnyOrigin, TableIn};

impl<Set: EntitySet> SetTable<Set> {
    /// Returns the set as it is in a snapshot: what is read through one belongs together, over other tables too.
    ///
    /// ```
    /// # use table_core::{Entity, EntitySet, Store};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "department")]
    /// # #[key(partition = "{name}", row = "department")]
    /// # struct Department { name: String, head_count: u32 }
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "employee")]
    /// # #[key(partition = "{department}", row = "empid_{id:06}")]
    /// # struct Employee { department: String, id: u32 }
    /// # #[derive(EntitySet)]
    /// # enum Company { Department(Department), Employee(Employee) }
    /// # let store = Store::temporary()?;
    /// # let employee = Employee { department: "Sales".into(), id: 1 };
    /// # store.table::<Department>()?.insert(&Department { name: "Sales".into(), head_count: 0 })?;
    /// let company = store.set::<Company>()?;
    /// let snapshot = store.snapshot()?;
    /// company.egt(Employee::partition("Sales")).insert(&employee).commit()?;
    ///
    /// let then = company.at(&snapshot);
    /// assert_eq!(then.partition(Employee::partition("Sales")).count()?, 1);
    /// assert!(then.get(Employee::key("Sales", 1))?.is_none());
    /// assert_eq!(company.partition(Employee::partition("Sales")).count()?, 2);
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn at<'s>(&self, snapshot: &'s Snapshot) -> SetAt<'s, Set> {
        SetAt { table: TableIn::new(self.table.clone(), snapshot), set: PhantomData }
    }
}

/// A table as a place for all kinds of a set, as it is in a snapshot.
pub struct SetAt<'s, Set> {
    table: TableIn<'s>,
    set: PhantomData<fn() -> Set>,
}

impl<'s, Set: EntitySet> SetAt<'s, Set> {
    /// Returns the table for entities of any shape, as it is now.
    pub fn dynamic(&self) -> &DynamicTable {
        self.table.table()
    }

    /// Returns the entity of this key.
    #[allow(clippy::needless_pass_by_value, reason = "a key is made where it is used")]
    pub fn get<E: Entity + MemberOf<Set>>(&self, key: Key<E>) -> Result<Option<Stored<E>>> {
        read::get(self.table.snapshot(), self.dynamic(), &key)
    }

    /// Returns the entity of these keys, whatever its kind.
    ///
    /// The row of a copy is of no kind of the set.
    pub fn get_any(&self, partition_key: &str, row_key: &str) -> Result<Option<Stored<Set>>> {
        get_any(self.table.snapshot(), self.dynamic(), partition_key, row_key)
    }

    /// Returns the entities of one partition, of all kinds, in the order of their row keys.
    pub fn partition<E: MemberOf<Set>>(&self, partition: Partition<E>) -> SetQuery<Set, TableIn<'s>> {
        SetQuery::new(self.table.clone(), partition.into_key().map(|key| Query::new().partition(key)))
    }

    /// Returns the entities of all partitions, of all kinds: a scan of the table, unless a filter narrows the keys.
    pub fn across_partitions(&self) -> SetQuery<Set, TableIn<'s>> {
        SetQuery::new(self.table.clone(), Ok(Query::new()))
    }
}

impl<Set> Clone for SetAt<'_, Set> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), set: PhantomData }
    }
}

impl<Set> fmt::Debug for SetAt<'_, Set> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetAt").field("table", &self.table).finish_non_exhaustive()
    }
}
