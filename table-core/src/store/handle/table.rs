//! A table whose entities are known only when the program runs.

use std::fmt;
use std::sync::{Arc, MutexGuard, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use super::answer_page::Page;
use super::batch::Batch;
use super::bulk::{self, BulkReport};
use super::rows::{Refilling, Rows};
use super::shared::Shared;
use super::snapshot::Snapshot;
use crate::error::Result;
use crate::model::{DynamicEntity, ETag, IfMatch, ValueRef};
use crate::plan::{Act, Condition, Failure, Plan, Refused};
use crate::query::{Continuation, Explain, Query};
use crate::schema::{Blind, Field, TOKEN_BYTES};
use crate::store::encryption::seal::{self, SealedAt, Sealer};
use crate::store::key::KeyBuffer;
use crate::store::records::catalog::TableState;
use crate::store::row::view::RowView;
use crate::store::scan::read;
use crate::store::write::encode::Given;
use crate::store::write::prepare::{self, Prepared};

/// A handle on a table, to read and write entities of any shape.
///
/// It is cheap to clone and may be shared between threads. When the table is dropped, by whatever process, the
/// handle's operations fail with [`TableNotFound`](crate::ErrorKind::TableNotFound), also if a table of the name is
/// created anew.
///
/// ```
/// use table_core::{DynamicEntity, ErrorKind, IfMatch, Store};
///
/// # let dir = tempfile::tempdir()?;
/// # let store = Store::open(dir.path().join("company.tables"))?;
/// let company = store.create_table("Company")?;
/// let jun = DynamicEntity::new("Marketing", "empid_000002").with("FirstName", "Jun").with("Age", 47);
/// let first = company.insert(&jun)?;
///
/// // A merge changes what it names and leaves the rest alone.
/// let birthday = DynamicEntity::new("Marketing", "empid_000002").with("Age", 48);
/// company.merge(&birthday, first)?;
/// let jun = company.get("Marketing", "empid_000002")?.unwrap();
/// assert_eq!(jun.properties().len(), 2);
///
/// // The version that was first read is no more.
/// let error = company.replace(&jun, first).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::ConditionNotMet);
/// company.replace(&jun, IfMatch::Any)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct DynamicTable {
    inner: Arc<Shared>,
    state: Arc<TableState>,
}

impl DynamicTable {
    pub(crate) fn new(inner: Arc<Shared>, state: Arc<TableState>) -> Self {
        Self { inner, state }
    }

    pub(crate) fn inner(&self) -> &Shared {
        &self.inner
    }

    pub(crate) fn state(&self) -> &Arc<TableState> {
        &self.state
    }

    /// Seals the values of a plan that is to be carried out.
    pub(crate) fn sealer(&self) -> Sealer<'_> {
        Sealer::new(self.state.id, &self.inner.keys)
    }

    /// Seals for a plan that is only shown: gives bytes of the right length.
    pub(crate) fn sham_sealer(&self) -> Sealer<'_> {
        Sealer::sham(self.state.id, &self.inner.keys)
    }

    /// The tokens that a field's value can have been filed under in a partition, newest first: one for each key that is
    /// alive.
    pub(crate) fn live_tokens(
        &self,
        partition: &str,
        field: &Field,
        blind: Blind,
        value: ValueRef<'_>,
    ) -> Result<Vec<[u8; TOKEN_BYTES]>> {
        seal::tokens((self.state.id, &self.inner.keys), partition, field, blind, value)
    }

    /// The generation of the keys, which a lookup by tokens must see unchanged before and after.
    pub(crate) fn keys_generation(&self) -> Result<u64> {
        seal::generation(&self.inner.keys)
    }

    /// The table's name, as it was given at creation.
    pub fn name(&self) -> &str {
        &self.state.name
    }

    /// The entity of these keys, or `None`.
    pub fn get(&self, partition_key: &str, row_key: &str) -> Result<Option<DynamicEntity>> {
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method is of one lifetime, the closure of any"
        )]
        self.get_by(partition_key, row_key, |view| view.to_entity())
    }

    /// Adds an entity; fails if there is one of its keys.
    pub fn insert(&self, entity: &DynamicEntity) -> Result<ETag> {
        self.write((Condition::Absent, Act::Put(())), entity)
    }

    /// Puts an entity in the place of the one there: properties that it lacks are gone. Fails if there is none.
    pub fn replace(&self, entity: &DynamicEntity, condition: impl Into<IfMatch>) -> Result<ETag> {
        self.write((Condition::from(condition.into()), Act::Put(())), entity)
    }

    /// Sets the given properties of the entity there and leaves its others alone. Fails if there is none.
    pub fn merge(&self, entity: &DynamicEntity, condition: impl Into<IfMatch>) -> Result<ETag> {
        self.write((Condition::from(condition.into()), Act::Merge(())), entity)
    }

    /// Adds an entity, or puts it in the place of the one there.
    pub fn insert_or_replace(&self, entity: &DynamicEntity) -> Result<ETag> {
        self.write((Condition::Any, Act::Put(())), entity)
    }

    /// Adds an entity, or sets its properties on the one there.
    pub fn insert_or_merge(&self, entity: &DynamicEntity) -> Result<ETag> {
        self.write((Condition::Any, Act::Merge(())), entity)
    }

    /// Removes the entity of these keys; fails if there is none.
    pub fn delete(&self, partition_key: &str, row_key: &str, condition: impl Into<IfMatch>) -> Result<()> {
        let removal = prepare::removal(row_key, condition.into(), 0);
        self.submit(prepare::single(&self.state, partition_key, &removal)?).map(|_| ())
    }

    /// A batch of operations on one partition, to be committed together or not at all.
    pub fn batch(&self, partition_key: impl Into<String>) -> Batch {
        Batch::new(self.clone(), partition_key.into())
    }

    fn write(&self, what: (Condition, Act<()>), entity: &DynamicEntity) -> Result<ETag> {
        self.submit(self.prepare_write(what, entity, &prepare::borrowed(entity.entries()))?)
    }

    /// The write of one entity, ready to be carried out; the properties are its own, as they are to be stored.
    pub(in crate::store) fn prepare_write(
        &self,
        what: (Condition, Act<()>),
        entity: &DynamicEntity,
        properties: &[Given<'_>],
    ) -> Result<Prepared> {
        let write = prepare::write(what, entity, properties, 0);
        prepare::single(&self.state, entity.partition_key(), &write)
    }

    /// What `read` makes of the row of these keys.
    pub(crate) fn get_by<T>(
        &self,
        partition_key: &str,
        row_key: &str,
        read: impl FnOnce(&RowView<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.view_by(partition_key, row_key, |view| read(&view))
    }

    /// What `read` makes of the row of these keys, which it may keep as long as it runs.
    pub(crate) fn view_by<T>(
        &self,
        partition_key: &str,
        row_key: &str,
        read: impl FnOnce(RowView<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.get_in_state(partition_key, row_key, |view, _| read(view))
    }

    /// The same, for a reader who wants to know in which state of the store it reads: that of this transaction.
    pub(crate) fn get_in_state<T>(
        &self,
        partition_key: &str,
        row_key: &str,
        read: impl FnOnce(RowView<'_>, usize) -> Result<T>,
    ) -> Result<Option<T>> {
        let get = || {
            self.inner.writer.check_running()?;
            let txn = self.inner.environment.read_txn()?;
            let (keys, mut key) = ((partition_key, row_key), KeyBuffer::default());
            let found = read::get_at(&self.inner, &txn, &self.state, keys, &mut key)?;
            found.map(|view| read(view, txn.id())).transpose()
        };
        get().map_err(|e| e.attempted("read from").table(self.name()).partition(partition_key).row(row_key))
    }

    /// An iterator over what a query finds, to be decoded by the caller.
    pub(crate) fn refilling<T>(&self, query: &Query) -> Result<Refilling<T>> {
        let snapshot = self.snapshot().map_err(|e| e.attempted("query"))?;
        Refilling::new(snapshot, self, query.clone().into())
    }

    /// Carries out a planned change of this table, whole or not at all; `sealed_at` is of the keys that its values were
    /// sealed with.
    pub(crate) fn carry_out(&self, plan: &Plan<'_>, sealed_at: &SealedAt) -> Result<ETag, Failure> {
        let done = self.prepared(plan, sealed_at).and_then(|prepared| self.commit(prepared));
        done.map_err(|refused| {
            let failure = plan.judge(refused);
            Failure { was_stale: failure.was_stale || sealed_at.is_stale(), ..failure }
        })
    }

    /// A planned change of this table, ready to be carried out.
    pub(crate) fn prepared(&self, plan: &Plan<'_>, sealed_at: &SealedAt) -> Result<Prepared, Refused> {
        let mut prepared = prepare::plan(plan, &[&self.state])?;
        prepared.sealed_at = sealed_at.clone();
        Ok(prepared)
    }

    /// Carries out the plan that `prepare` makes of each item, packed into few transactions; `retry` makes up for one
    /// that fails, or puts its error into other words.
    pub(crate) fn load<T>(
        &self,
        items: impl IntoIterator<Item = T>,
        prepare: impl Fn(&T) -> Result<Prepared>,
        retry: impl Fn(&T, Refused) -> Result<()>,
    ) -> Result<BulkReport> {
        bulk::load(&self.inner, items, prepare, retry)
    }

    /// The turn of a change that others have been too quick for, if it comes within so long. Never waits for ever: the
    /// change that has it may be waiting for this one.
    pub(crate) fn turn(&self, patience: Duration) -> Option<MutexGuard<'_, ()>> {
        let begun = Instant::now();
        loop {
            match self.inner.turn.try_lock() {
                Ok(turn) => return Some(turn),
                Err(TryLockError::Poisoned(turn)) => return Some(turn.into_inner()),
                Err(TryLockError::WouldBlock) if begun.elapsed() > patience => return None,
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_micros(200)),
            }
        }
    }

    /// All tables of the store as they are now.
    pub(crate) fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::new(&self.inner).map_err(|e| e.attempted("read from").table(self.name()))
    }

    /// Carries out the write of one row.
    pub(crate) fn submit(&self, prepared: Prepared) -> Result<ETag> {
        self.commit(prepared).map_err(|refused| refused.error)
    }

    /// Carries out a prepared plan; a refusal says at which row.
    pub(crate) fn commit(&self, prepared: Prepared) -> Result<ETag, Refused> {
        self.inner.writer.submit(&self.inner, prepared).map(ETag::from_timestamp)
    }

    /// The entities that the query finds, in order, from a snapshot of this moment.
    pub fn query(&self, query: &Query) -> Result<Rows> {
        Rows::new(self, query)
    }

    /// A page of what the query finds: at most `size` entities, 1,000 at most, from the start or from where another
    /// page ended.
    ///
    /// Each page is a snapshot of its own. So what is written between two pages is seen if it lies ahead; an entity
    /// that stays is neither skipped nor given twice.
    ///
    /// ```
    /// # use table_core::{Continuation, DynamicEntity, Query, Store};
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// # let company = store.create_table("Company")?;
    /// # for id in 0..5 {
    /// #     company.insert(&DynamicEntity::new("Sales", format!("empid_{id:06}")))?;
    /// # }
    /// let query = Query::new().partition("Sales");
    /// let first = company.page(&query, 3, None)?;
    /// assert_eq!(first.entities.len(), 3);
    ///
    /// // A token is text: it can be kept anywhere, and used after a restart.
    /// let text = first.next.unwrap().to_string();
    /// let token: Continuation = text.parse()?;
    /// let second = company.page(&query, 3, Some(&token))?;
    /// assert_eq!(second.entities.len(), 2);
    /// assert!(second.next.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn page(&self, query: &Query, size: usize, after: Option<&Continuation>) -> Result<Page> {
        let snapshot = Snapshot::new(&self.inner).map_err(|e| e.attempted("query").table(self.name()))?;
        snapshot.page(self, query, size, after)
    }

    /// How the query will be answered: by a point, a range, a scan of a partition or of the table, and why.
    pub fn explain(&self, query: &Query) -> Result<Explain> {
        query.explain().map_err(|e| e.table(self.name()))
    }
}

impl fmt::Debug for DynamicTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamicTable").field("name", &self.state.name).finish_non_exhaustive()
    }
}
