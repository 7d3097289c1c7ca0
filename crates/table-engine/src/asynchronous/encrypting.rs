//! Tables whose properties are sealed by a rule, awaited.

use std::fmt;

use super::{AsyncBatch, AsyncDynamicTable, Reads, RowStream, WithoutPages, pool};
use crate::crypt::KeyScope;
use crate::error::Result;
use crate::handle::encrypting::{EncryptingRows, EncryptingTable};
use crate::handle::page::Page;
use crate::model::{DynamicEntity, ETag, IfMatch, IntoIfMatch};
use crate::query::{Continuation, Explain, PageBudget, Query};

/// A table of entities of any shape, some of whose properties are sealed, whose calls are awaited; made by
/// [`AsyncDynamicTable::encrypting`].
///
/// It has the methods of [`EncryptingTable`]. All of it runs on threads of a pool, since a key may have to be asked for.
///
/// ```
/// use std::sync::Arc;
///
/// use table_core::asynchronous::block_on;
/// use table_core::crypt::MemoryKeys;
/// use table_core::{DynamicEntity, Query, Store};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("company.tables");
/// let store = Store::options().encryption(Arc::new(MemoryKeys::new()?)).open(&path)?.to_async();
/// # block_on(async {
/// let company = store.create_table("Company").await?;
/// let sealed = company.encrypting(|_partition, _row, property| property == "Ssn");
/// sealed.insert(&DynamicEntity::new("Sales", "1").with("Ssn", "078-05-1120")).await?;
///
/// let mut rows = sealed.query(&Query::new().partition("Sales"));
/// while let Some(row) = rows.try_next().await? {
///     assert_eq!(row.get("Ssn").and_then(|ssn| ssn.as_str()), Some("078-05-1120"));
/// }
/// // The table itself has bytes.
/// let row = company.get("Sales", "1").await?.unwrap();
/// assert!(row.get("Ssn").unwrap().as_bytes().is_some());
/// # Ok::<(), table_core::Error>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct AsyncEncryptingTable {
    table: EncryptingTable,
}

impl EncryptingTable {
    /// Returns the table with calls that are awaited.
    #[must_use]
    pub fn to_async(&self) -> AsyncEncryptingTable {
        AsyncEncryptingTable { table: self.clone() }
    }
}

impl AsyncDynamicTable {
    /// Returns the table with the properties sealed for which `resolver` says so of a partition key, a row key and the
    /// property's name; see [`AsyncEncryptingTable`].
    pub fn encrypting(
        &self,
        resolver: impl Fn(&str, &str, &str) -> bool + Send + Sync + 'static,
    ) -> AsyncEncryptingTable {
        self.blocking().encrypting(resolver).to_async()
    }
}

impl AsyncEncryptingTable {
    /// Returns the table with calls that block.
    pub fn blocking(&self) -> &EncryptingTable {
        &self.table
    }

    /// Returns the table with data keys of their own for what is written from now on; see [`EncryptingTable::scoped`].
    #[must_use]
    pub fn scoped(self, scope: KeyScope) -> Self {
        Self { table: self.table.scoped(scope) }
    }

    /// Returns the table's name, as it was given at creation.
    pub fn name(&self) -> &str {
        self.table.name()
    }

    /// Runs a call that blocks on a thread of a pool.
    pub async fn run<T: Send + 'static>(
        &self,
        call: impl FnOnce(&EncryptingTable) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let table = self.table.clone();
        pool::run(move || call(&table)).await
    }

    /// Returns the entity of these keys, opened, or `None`.
    pub async fn get(&self, partition_key: &str, row_key: &str) -> Result<Option<DynamicEntity>> {
        let (partition_key, row_key) = (partition_key.to_owned(), row_key.to_owned());
        self.run(move |table| table.get(&partition_key, &row_key)).await
    }

    /// Returns the entities that the query finds, opened, in order, one after another.
    pub fn query(&self, query: &Query) -> RowStream<WithoutPages<EncryptingRows>> {
        let (table, query) = (self.table.clone(), query.clone());
        RowStream::new(Reads::Spawned, move || Ok(WithoutPages::new(table.query(&query)?)))
    }

    /// Returns a page of what the query finds, opened.
    pub async fn page(
        &self,
        query: &Query,
        budget: impl Into<PageBudget>,
        after: Option<&Continuation>,
    ) -> Result<Page> {
        let (query, budget, after) = (query.clone(), budget.into(), after.cloned());
        self.run(move |table| table.page(&query, budget, after.as_ref())).await
    }

    /// Returns how the query will be answered.
    pub fn explain(&self, query: &Query) -> Result<Explain> {
        self.table.explain(query)
    }

    /// Adds an entity, sealed; fails if there is one of its keys.
    pub async fn insert(&self, entity: &DynamicEntity) -> Result<ETag> {
        let entity = entity.clone();
        self.run(move |table| table.insert(&entity)).await
    }

    /// Puts an entity in the place of the one there: properties that it lacks are gone. Fails if there is none.
    pub async fn replace(&self, entity: &DynamicEntity, condition: impl IntoIfMatch) -> Result<ETag> {
        let (entity, condition): (_, IfMatch) = (entity.clone(), condition.into());
        self.run(move |table| table.replace(&entity, condition)).await
    }

    /// Sets the given properties of the entity there and leaves its others alone. Fails if there is none.
    pub async fn merge(&self, entity: &DynamicEntity, condition: impl IntoIfMatch) -> Result<ETag> {
        let (entity, condition): (_, IfMatch) = (entity.clone(), condition.into());
        self.run(move |table| table.merge(&entity, condition)).await
    }

    /// Adds an entity, or puts it in the place of the one there.
    pub async fn put(&self, entity: &DynamicEntity) -> Result<ETag> {
        let entity = entity.clone();
        self.run(move |table| table.put(&entity)).await
    }

    /// Adds an entity, or sets its properties on the one there.
    pub async fn insert_or_merge(&self, entity: &DynamicEntity) -> Result<ETag> {
        let entity = entity.clone();
        self.run(move |table| table.insert_or_merge(&entity)).await
    }

    /// Removes the entity of these keys; fails if there is none.
    pub async fn delete(&self, partition_key: &str, row_key: &str) -> Result<()> {
        self.delete_if(partition_key, row_key, IfMatch::Any).await
    }

    /// Removes the entity as [`delete`](Self::delete) does, if it is of the version demanded.
    pub async fn delete_if(
        &self,
        partition_key: &str,
        row_key: &str,
        condition: impl IntoIfMatch,
    ) -> Result<()> {
        let condition: IfMatch = condition.into();
        let (partition_key, row_key) = (partition_key.to_owned(), row_key.to_owned());
        self.run(move |table| table.delete_if(&partition_key, &row_key, condition)).await
    }

    /// Begins a batch of operations on one partition, whose entities are sealed when it is committed.
    pub fn batch(&self, partition_key: impl Into<String>) -> AsyncBatch {
        AsyncBatch::new(self.table.batch(partition_key), None)
    }
}

impl fmt::Debug for AsyncEncryptingTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncEncryptingTable").field("name", &self.name()).finish_non_exhaustive()
    }
}
