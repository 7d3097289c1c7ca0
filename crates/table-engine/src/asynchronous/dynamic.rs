//! A table of entities of any shape, awaited.

use std::fmt;

use super::batch::AsyncBatch;
use super::stream::RowStream;
use super::{Reads, WriteToken, memo, outcome, pool};
use crate::error::{ErrorKind, Result};
use crate::executor::Backend;
use crate::handle::page::Page;
use crate::handle::row::Row;
use crate::handle::rows::Rows;
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::{DynamicEntity, ETag, EntityKeys, IfMatch, IntoIfMatch};
use crate::plan::{self, Act, Committed, Condition, Group, Plan, Refused, RowProperty, RowWrite};
use crate::query::{Continuation, Explain, PageBudget, Query};
use crate::sealing::SealedAt;
use crate::typed::by_layout::is_of_declared;
use crate::typed::change::awaited::{HandedOver, pass, wait_for_room};
use crate::typed::read::origin::AnyOrigin;

/// A handle on a table, to read and write entities of any shape, whose calls are awaited.
///
/// It has the methods of [`DynamicTable`].
///
/// ```
/// use table_core::asynchronous::block_on;
/// use table_core::{DynamicEntity, IfMatch, Query, Store};
///
/// # block_on(async {
/// let store = Store::temporary()?.to_async();
/// let company = store.create_table("Company").await?;
/// let jun = DynamicEntity::new("Marketing", "empid_000002").with("FirstName", "Jun").with("Age", 47);
/// company.insert(&jun).await?;
/// company.merge(&DynamicEntity::new("Marketing", "empid_000002").with("Age", 48), IfMatch::Any).await?;
///
/// let mut rows = company.query(&Query::new().partition("Marketing"));
/// while let Some(row) = rows.try_next().await? {
///     assert_eq!(row.get("Age").and_then(|age| age.as_i32()), Some(48));
/// }
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct AsyncDynamicTable {
    table: DynamicTable,
    reads: Reads,
    token: Option<WriteToken>,
}

impl DynamicTable {
    /// Returns the table with calls that are awaited.
    #[must_use]
    pub fn to_async(&self) -> AsyncDynamicTable {
        AsyncDynamicTable::new(self.clone(), Reads::Inline)
    }
}

impl AsyncDynamicTable {
    pub(crate) fn new(table: DynamicTable, reads: Reads) -> Self {
        Self { table, reads, token: None }
    }

    /// Returns the table with calls that block.
    pub fn blocking(&self) -> &DynamicTable {
        &self.table
    }

    /// Says where the handle reads.
    #[must_use]
    pub fn reads(self, reads: Reads) -> Self {
        Self { reads, ..self }
    }

    /// Returns a handle whose writes note in the token what has become of them.
    #[must_use]
    pub fn tracked(&self, token: &WriteToken) -> Self {
        Self { token: Some(token.clone()), ..self.clone() }
    }

    /// Returns a handle by which rows of declared kinds are written as any others; see [`DynamicTable::raw`].
    #[must_use]
    pub fn raw(&self) -> Self {
        Self { table: self.table.raw(), ..self.clone() }
    }

    /// Returns the table's name, as it was given at creation.
    pub fn name(&self) -> &str {
        self.table.name()
    }

    pub(crate) fn token(&self) -> Option<&WriteToken> {
        self.token.as_ref()
    }

    pub(crate) fn reading(&self) -> Reads {
        self.reads
    }

    /// Returns what the closure makes of the table by calls that block: where the handle [reads](Self::reads), or of what is
    /// fetched of a store that answers later. There the closure runs several times, so it keeps nothing of a former run.
    ///
    /// ```
    /// # use table_core::asynchronous::block_on;
    /// # use table_core::{DynamicEntity, Query, Store};
    /// # block_on(async {
    /// let company = Store::temporary()?.to_async().create_table("Company").await?;
    /// company.insert(&DynamicEntity::new("Sales", "empid_000001").with("Age", 34)).await?;
    ///
    /// let query = Query::new().partition("Sales");
    /// let (keys, next) = company
    ///     .read(move |table| {
    ///         let mut keys = Vec::new();
    ///         let next = table.page_with(&query, 100, None, |row| keys.push(row.row_key().to_owned()))?;
    ///         Ok((keys, next))
    ///     })
    ///     .await?;
    /// assert_eq!((keys, next), (vec!["empid_000001".to_owned()], None));
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    #[inline]
    pub async fn read<T: Send + 'static>(
        &self,
        mut read: impl FnMut(&DynamicTable) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        if let Some(backend) = self.table.exec().store().async_backend() {
            return memo::run(&self.table, backend, read).await;
        }
        match self.reads {
            Reads::Inline => read(&self.table),
            Reads::Spawned => {
                let table = self.table.clone();
                pool::run(move || read(&table)).await
            }
        }
    }

    /// Returns whether the store answers later.
    pub(crate) fn answers_later(&self) -> bool {
        self.table.exec().store().async_backend().is_some()
    }

    /// Returns whether reads are carried out by what polls.
    #[inline]
    fn reads_at_once(&self) -> bool {
        self.reads == Reads::Inline && !self.answers_later()
    }

    /// Runs a call that blocks on a thread of the pool.
    pub async fn run<T: Send + 'static>(
        &self,
        call: impl FnOnce(&DynamicTable) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let table = self.table.clone();
        pool::run(move || call(&table)).await
    }

    /// Returns the entity of these keys, or `None`.
    pub async fn get(&self, partition_key: &str, row_key: &str) -> Result<Option<DynamicEntity>> {
        if self.reads_at_once() {
            return self.table.get(partition_key, row_key);
        }
        let (partition_key, row_key) = (partition_key.to_owned(), row_key.to_owned());
        self.read(move |table| table.get(&partition_key, &row_key)).await
    }

    /// Returns what the closure makes of the row of these keys, which it is lent in place; `None` if there is none.
    pub async fn get_with<T: Send + 'static>(
        &self,
        partition_key: &str,
        row_key: &str,
        read: impl FnOnce(&Row<'_>) -> T + Send + 'static,
    ) -> Result<Option<T>> {
        let (partition_key, row_key, mut read) = (partition_key.to_owned(), row_key.to_owned(), Some(read));
        let found = self.read(move |table| {
            // The row is there in one of the runs, and the closure is called in that.
            let made = table.get_with(&partition_key, &row_key, |row| read.take().map(|read| read(row)))?;
            Ok(made.flatten())
        });
        found.await
    }

    /// Returns the entities that the query finds, in order, from a snapshot that is taken when the first is asked for.
    pub fn query(&self, query: &Query) -> RowStream<Rows> {
        let query = query.clone();
        if self.answers_later() {
            let table = self.clone();
            return RowStream::paged(move |after| {
                let (table, query) = (table.clone(), query.clone());
                Box::pin(async move { table.page(&query, PAGE, after.as_ref()).await })
            });
        }
        let table = self.table.clone();
        RowStream::new(self.reads, move || table.query(&query))
    }

    /// Returns a page of what the query finds; see [`DynamicTable::page`].
    pub async fn page(
        &self,
        query: &Query,
        budget: impl Into<PageBudget>,
        after: Option<&Continuation>,
    ) -> Result<Page> {
        let (query, budget, after) = (query.clone(), budget.into(), after.cloned());
        self.read(move |table| table.page(&query, budget, after.as_ref())).await
    }

    /// Returns how the query will be answered: by a point, a range, a scan of a partition or of the table, and why.
    pub fn explain(&self, query: &Query) -> Result<Explain> {
        self.table.explain(query)
    }

    /// Adds an entity; fails if there is one of its keys.
    pub async fn insert(&self, entity: &DynamicEntity) -> Result<ETag> {
        self.write(Condition::Absent, Act::Put(()), entity).await
    }

    /// Puts an entity in the place of the one there: properties that it lacks are gone. Fails if there is none.
    pub async fn replace(&self, entity: &DynamicEntity, condition: impl IntoIfMatch) -> Result<ETag> {
        self.write(Condition::from(condition.into()), Act::Put(()), entity).await
    }

    /// Sets the given properties of the entity there and leaves its others alone. Fails if there is none.
    pub async fn merge(&self, entity: &DynamicEntity, condition: impl IntoIfMatch) -> Result<ETag> {
        self.write(Condition::from(condition.into()), Act::Merge(()), entity).await
    }

    /// Adds an entity, or puts it in the place of the one there.
    pub async fn put(&self, entity: &DynamicEntity) -> Result<ETag> {
        self.write(Condition::Any, Act::Put(()), entity).await
    }

    /// Adds an entity, or sets its properties on the one there.
    pub async fn insert_or_merge(&self, entity: &DynamicEntity) -> Result<ETag> {
        self.write(Condition::Any, Act::Merge(()), entity).await
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
        let condition = condition.into();
        let row = OneRow {
            keys: EntityKeys::new(partition_key, row_key),
            condition: condition.into(),
            act: Act::Remove,
            properties: Vec::new(),
        };
        let done = match self.write_row(&row).await {
            Err(refused) if is_of_declared(&refused, &self.table) => {
                let (partition, row) = (partition_key.to_owned(), row_key.to_owned());
                self.write_by_steps(move |table| table.delete_any(&partition, &row, condition)).await
            }
            done => done,
        };
        done.map(drop)
    }

    /// Begins a batch of operations on one partition, which happen together or not at all.
    pub fn batch(&self, partition_key: impl Into<String>) -> AsyncBatch {
        AsyncBatch::new(self.table.batch(partition_key), self.token.clone())
    }

    async fn write(&self, condition: Condition, act: Act<()>, entity: &DynamicEntity) -> Result<ETag> {
        let keys = EntityKeys::new(entity.partition_key(), entity.row_key());
        let row = OneRow { keys, condition, act, properties: plan::borrowed(entity.entries()) };
        match self.write_row(&row).await {
            // What a layout plans has several steps.
            Err(refused) if is_of_declared(&refused, &self.table) => {
                let entity = entity.clone();
                self.write_by_steps(move |table| table.write_any(condition, act, &entity)).await
            }
            done => done,
        }
    }

    /// Carries out a write of one row that has several steps.
    async fn write_by_steps(
        &self,
        write: impl FnOnce(&DynamicTable) -> Result<ETag> + Send + 'static,
    ) -> Result<ETag> {
        let table = self.table.clone();
        let write = move || write(&table).map(Committed::at);
        outcome::carry_out(self.token.as_ref(), write).await.map(|committed| committed.etag(0))
    }

    /// Carries out the write of one row.
    async fn write_row(&self, row: &OneRow<'_>) -> Result<ETag> {
        let (tables, EntityKeys { partition, row: key }) = (std::slice::from_ref(&self.table), row.keys);
        let submit = || {
            let group = Group::new(partition, vec![row.planned()]);
            let plan = Plan { groups: group.into(), is_raw: self.table.is_raw(), ..Plan::default() };
            HandedOver::of(tables, &plan, &SealedAt::NOTHING, self.token.as_ref())
        };
        let written = match hand_over(self.table.exec().store(), submit).await {
            Ok(handed_over) => handed_over.refused_or(tables).await,
            Err(refused) => Err(refused),
        };
        let words = row.act.describe(row.condition);
        let placed = |refused: Refused| refused.error.placed(words, self.name(), partition, Some(key));
        written.map(|committed| committed.etag(0)).map_err(placed)
    }
}

/// How many rows a stream asks a store for at a time that answers later.
pub(super) const PAGE: usize = 1_000;

/// The write of one row by its properties.
struct OneRow<'a> {
    keys: EntityKeys<'a>,
    condition: Condition,
    act: Act<()>,
    properties: Vec<RowProperty<'a>>,
}

impl OneRow<'_> {
    fn planned(&self) -> RowWrite<'_> {
        let act = plan::with_properties(self.act, &self.properties);
        RowWrite { key: self.keys.row, condition: self.condition, act, kind: None, of: 0 }
    }
}

/// Hands a plan to the store by `submit`, as soon as that has room for it.
pub(super) async fn hand_over<'h>(
    store: &dyn Backend,
    submit: impl Fn() -> Result<HandedOver<'h>, Refused>,
) -> Result<HandedOver<'h>, Refused> {
    if store.async_backend().is_some() {
        pass(store.retry_fairness()).await.map_err(Refused::whole)?;
    }
    let mut place = None;
    loop {
        match submit() {
            Err(refused) if refused.error.kind() == ErrorKind::TooManyWrites && store.room().is_some() => {
                place = wait_for_room(store.room(), place).await;
            }
            taken => return taken,
        }
    }
}

/// A query looks at the table as it is when it begins to run; its ends are awaited.
impl AnyOrigin for AsyncDynamicTable {
    type SnapshotHandle = Snapshot;

    fn table(&self) -> &DynamicTable {
        &self.table
    }

    fn snapshot_handle(&self) -> Result<Snapshot> {
        self.table.snapshot()
    }
}

impl fmt::Debug for AsyncDynamicTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncDynamicTable").field("name", &self.name()).finish_non_exhaustive()
    }
}
