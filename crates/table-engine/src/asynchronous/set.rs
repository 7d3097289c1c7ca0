//! A table of several kinds, awaited.

use std::fmt;
use std::marker::PhantomData;

use super::dynamic::AsyncDynamicTable;
use super::egt::AsyncEgt;
use super::{Reads, WriteToken};
use crate::error::Result;
use crate::handle::table::DynamicTable;
use crate::query::Query;
use crate::typed::change::egt::MemberOf;
use crate::typed::entity::Entity;
use crate::typed::entity::stored::Stored;
use crate::typed::read::key::{Key, Partition};
use crate::typed::set::{EntitySet, SetQuery, SetTable};

/// A table as a place for all kinds of a set, whose calls are awaited: [`SetTable`] has the methods.
pub struct AsyncSetTable<Set> {
    table: AsyncDynamicTable,
    set: PhantomData<fn() -> Set>,
}

impl<Set: EntitySet> SetTable<Set> {
    /// Returns the table with calls that are awaited.
    #[must_use]
    pub fn to_async(&self) -> AsyncSetTable<Set> {
        AsyncSetTable::new(self.dynamic().to_async())
    }
}

impl<Set: EntitySet> AsyncSetTable<Set> {
    pub(super) fn new(table: AsyncDynamicTable) -> Self {
        Self { table, set: PhantomData }
    }

    /// Returns the table with calls that block.
    pub fn blocking(&self) -> SetTable<Set> {
        SetTable::new(self.table.blocking().clone())
    }

    /// Returns the table for entities of any shape.
    pub fn dynamic(&self) -> &AsyncDynamicTable {
        &self.table
    }

    /// Says where the handle reads.
    #[must_use]
    pub fn reads(self, reads: Reads) -> Self {
        Self::new(self.table.reads(reads))
    }

    /// Returns a handle whose writes note in the token what has become of them.
    #[must_use]
    pub fn tracked(&self, token: &WriteToken) -> Self {
        Self::new(self.table.tracked(token))
    }

    /// Returns the entity of this key.
    pub async fn get<E: Entity + MemberOf<Set> + Send>(&self, key: Key<E>) -> Result<Option<Stored<E>>> {
        self.read(move |table| table.find(&key)).await
    }

    /// Returns the entity of these keys, whatever its kind.
    pub async fn get_any(&self, partition_key: &str, row_key: &str) -> Result<Option<Stored<Set>>>
    where
        Set: Send,
    {
        let (partition_key, row_key) = (partition_key.to_owned(), row_key.to_owned());
        self.read(move |table| table.get_any(&partition_key, &row_key)).await
    }

    /// Returns the entities of one partition, of all kinds, in the order of their row keys.
    pub fn partition<E: MemberOf<Set>>(&self, partition: Partition<E>) -> SetQuery<Set, AsyncDynamicTable> {
        let query = partition.into_key().map(|key| Query::new().partition(key));
        SetQuery::new(self.table.clone(), query)
    }

    /// Returns the entities of all partitions, of all kinds: a scan of the table, unless a filter narrows the keys.
    pub fn across_partitions(&self) -> SetQuery<Set, AsyncDynamicTable> {
        SetQuery::new(self.table.clone(), Ok(Query::new()))
    }

    /// Begins changes of several entities of one partition, to be made together or not at all.
    pub fn egt<'c, E: MemberOf<Set>>(&self, partition: Partition<E>) -> AsyncEgt<'c, Set> {
        AsyncEgt::new(self.table.blocking(), partition, self.table.token())
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl Fn(&SetTable<Set>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.table.read(move |table: &DynamicTable| read(&SetTable::new(table.clone()))).await
    }
}

impl<Set> Clone for AsyncSetTable<Set> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), set: PhantomData }
    }
}

impl<Set> fmt::Debug for AsyncSetTable<Set> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncSetTable").field("name", &self.table.name()).finish_non_exhaustive()
    }
}
