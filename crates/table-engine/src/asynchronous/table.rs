//! A table of entities of one type, awaited.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};

use super::dynamic::AsyncDynamicTable;
use super::egt::AsyncEgt;
use super::{Reads, WriteToken};
use crate::error::{ErrorKind, Result};
use crate::executor::ATTEMPTS;
use crate::handle::bulk::BulkReport;
use crate::model::{ETag, IfMatch, IntoIfMatch};
use crate::plan::Plan;
use crate::sealing::SealedAt;
use crate::typed::change::awaited::{self, HandedOver};
use crate::typed::change::driver::Together;
use crate::typed::change::entity_attempt::EntityAttempt;
use crate::typed::change::entity_images::{ImagesOf, TypedImages};
use crate::typed::change::{Change, Payload, Refusal, SendClosure, stored};
use crate::typed::entity::stored::Stored;
use crate::typed::entity::{Entity, PatchOf};
use crate::typed::query::{HoldsAll, OwnRows, PathQuery};
use crate::typed::read::key::{Key, KeyOf, Lookup, Partition};
use crate::typed::read::point::Got;
use crate::typed::read::projection::Projected;
use crate::typed::series::AddsTo;
use crate::typed::table::Table;

/// A table as a place for entities of type `E`, whose calls are awaited.
///
/// It has the methods and the queries of [`Table`], by the same names. A query is built as there, and ends by `stream()`, or by
/// `first().await`, `count().await`, `page(..).await`. It is cheap to clone, and may be shared between tasks.
///
/// A write is planned by the task, and given to the store, which carries out many in one transaction: no thread waits for each,
/// and none is the task's. If too many wait already, the task waits until there is room. What becomes of a write whose future is
/// dropped, a [`WriteToken`] tells.
pub struct AsyncTable<E: Entity> {
    table: AsyncDynamicTable,
    indexes: E::Indexes<AsyncDynamicTable>,
}

impl<E: Entity> Table<E> {
    /// Returns the table with calls that are awaited.
    #[must_use]
    pub fn to_async(&self) -> AsyncTable<E> {
        AsyncTable::new(self.dynamic().to_async())
    }
}

impl<E: Entity> AsyncTable<E> {
    pub(crate) fn new(table: AsyncDynamicTable) -> Self {
        Self { indexes: E::indexes(table.clone()), table }
    }

    /// Returns the table with calls that block.
    pub fn blocking(&self) -> Table<E> {
        Table::new(self.table.blocking().clone())
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

    /// Returns a query of every entity of the table, over all its partitions.
    pub fn all(&self) -> PathQuery<OwnRows<E>, AsyncDynamicTable> {
        PathQuery::<OwnRows<E>, AsyncDynamicTable>::new(&self.table)
    }
}

#[allow(clippy::needless_pass_by_value, reason = "a key is made where it is used")]
impl<E: Entity<Patch: Send> + Send + Sync> AsyncTable<E> {
    /// Runs a call that blocks on a thread of a pool: what has no awaited form, such as a report.
    pub async fn run<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Table<E>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.table.run(move |table| call(&Table::new(table.clone()))).await
    }

    /// Returns the entity of this key, or what an index's copy holds.
    #[inline]
    pub async fn get<L>(&self, key: L) -> Result<Option<L::Output>>
    where
        L: Lookup<E, Output: Send + 'static> + Send + 'static,
    {
        self.table.read(move |table| E::got(table, &key)).await
    }

    /// Returns whether there is an entity of this key, or a copy of one in the key's index.
    pub async fn exists<L>(&self, key: L) -> Result<bool>
    where
        L: Lookup<E, Output: Send + 'static> + Send + 'static,
    {
        self.get(key).await.map(|found| found.is_some())
    }

    /// Returns the entities of these keys, in their order, all from one snapshot; `None` where there is none.
    pub async fn get_many<L>(&self, keys: impl IntoIterator<Item = L>) -> Result<Vec<Option<L::Output>>>
    where
        L: Lookup<E, Output: Send + 'static> + Send + 'static,
    {
        let keys: Vec<_> = keys.into_iter().collect();
        self.table.read(move |table| Table::<E>::new(table.clone()).find_many(&keys)).await
    }

    /// Returns some of the fields of the entity of this key, or of what an index's copy holds.
    pub async fn get_as<S>(
        &self,
        key: impl Lookup<E, Path: HoldsAll<<S as Projected>::Taken>> + Send + 'static,
    ) -> Result<Option<S>>
    where
        S: Projected<Of = E> + Send + 'static,
    {
        self.table.read(move |table| Table::<E>::new(table.clone()).find_as(&key)).await
    }

    /// Adds an entity and its copies; fails if there is one of its key, or of a key in a unique index.
    pub async fn insert(&self, entity: &E) -> Result<ETag> {
        self.written(Key::unused(), Change::Insert, Payload::Entity(entity)).await
    }

    /// Adds an entity, or puts it in the place of the one there.
    pub async fn put(&self, entity: &E) -> Result<ETag> {
        self.written(Key::of(entity), Change::Put, Payload::Entity(entity)).await
    }

    /// Puts an entity in the place of the one there, if that is of the version demanded; fails if there is none.
    pub async fn replace(&self, entity: &E, condition: impl IntoIfMatch) -> Result<ETag> {
        self.written(Key::of(entity), Change::Replace(condition.into()), Payload::Entity(entity)).await
    }

    /// Sets what the patch sets on the entity there, if that is of the version demanded; fails if there is none.
    pub async fn merge(
        &self,
        key: impl KeyOf<E>,
        patch: impl PatchOf<E>,
        condition: impl IntoIfMatch,
    ) -> Result<Stored<E>> {
        self.changed(key.into(), Change::Merge(condition.into()), Payload::Patch(patch.into())).await
    }

    /// Reads the entity, changes it and writes it back; from the start again if it was written meanwhile.
    ///
    /// The closure runs before anything is written, maybe several times, and never over an `await`: what it needs of elsewhere
    /// is awaited before. It can't change the fields of the primary key. What comes back is the entity as stored.
    pub async fn update(&self, key: impl KeyOf<E>, change: impl FnMut(&mut E) + Send) -> Result<Stored<E>> {
        self.changed(key.into(), Change::Update, Payload::Closure(Box::new(change))).await
    }

    /// Changes the entity as [`update`](Self::update) does, unless the closure fails: then nothing is written, and what it
    /// returned comes back.
    pub async fn try_update<X: Refusal + Send>(
        &self,
        key: impl KeyOf<E>,
        mut change: impl FnMut(&mut E) -> Result<(), X> + Send,
    ) -> Result<Stored<E>, X> {
        let (called_off, mut why) = (AtomicBool::new(false), None);
        let change = |entity: &mut E| {
            why = change(entity).err();
            called_off.store(why.is_some(), Ordering::Relaxed);
        };
        let mut entities = images::<E>(Payload::Closure(Box::new(change)));
        let done = {
            let attempt = EntityAttempt::shared(key.into().into_keys(), Change::Update, &mut entities);
            self.commit(&mut attempt.unless(&called_off)).await
        };
        let new = TypedImages::made(entities);
        match (done, why) {
            (Err(_), Some(why)) => Err(why),
            (done, _) => Ok(stored(self.table.name(), done?, new)?),
        }
    }

    /// Adds the entity if there is none of its key. Returns the one that is stored then, which another writer may have added.
    pub async fn get_or_insert(&self, entity: &E) -> Result<Stored<E>> {
        let mut last = None;
        for _ in 0..ATTEMPTS {
            if let Some(found) = self.get(Key::of(entity)).await? {
                return Ok(found);
            }
            match self.insert(entity).await {
                Err(error) if error.kind() != ErrorKind::EntityAlreadyExists => return Err(error),
                // The next round reads what is stored: this entity, or that of a quicker writer.
                inserted => last = inserted.err(),
            }
        }
        Err(crate::typed::change::never_found(self.table.name(), last))
    }

    /// Changes the entity as [`update`](Self::update) does, its row key too: the entity and its copies move within the
    /// partition, in one transaction.
    pub async fn move_to(&self, key: impl KeyOf<E>, change: impl FnMut(&mut E) + Send) -> Result<Stored<E>> {
        self.changed(key.into(), Change::Move, Payload::Closure(Box::new(change))).await
    }

    /// Removes the entity of this key with all its copies; fails with [`EntityNotFound`](ErrorKind::EntityNotFound) if there is
    /// none.
    pub async fn delete(&self, key: impl KeyOf<E>) -> Result<()> {
        self.delete_if(key, IfMatch::Any).await
    }

    /// Removes the entity of this key with all its copies, if it is of the version demanded; fails if it is of another, or if
    /// there is none.
    pub async fn delete_if(&self, key: impl KeyOf<E>, condition: impl IntoIfMatch) -> Result<()> {
        self.written(key.into(), Change::Delete(condition.into()), Payload::Nothing).await.map(drop)
    }

    /// Adds to slots of the entity there, whatever they hold; fails if there is none. See [`Table::add`].
    pub async fn add(&self, key: impl KeyOf<E>, add: impl AddsTo<E>) -> Result<ETag> {
        let (key, additions, tables) = (key.into(), add.into(), std::slice::from_ref(self.table.blocking()));
        let submit = |plan: &Plan<'_>| {
            let handed_over = HandedOver::of(tables, plan, &SealedAt::NOTHING, self.table.token());
            handed_over.map_err(|refused| plan.explain_refusal(refused))
        };
        let done = match self.blocking().with_addition(&key, &additions, submit)? {
            Some(Ok(handed_over)) => Some(handed_over.failed_or(tables).await),
            // The way by reading waits for room.
            Some(Err(failure)) if failure.error.kind() == ErrorKind::TooManyWrites => None,
            Some(Err(failure)) => Some(Err(failure)),
            None => None,
        };
        if let Some(done) = done
            && let Some(etag) = Table::after_addition(&key, done)?
        {
            return Ok(etag);
        }
        self.written(key, Change::Add, Payload::Additions(Box::new(additions))).await
    }

    /// Adds many entities, each whole with its copies or not at all, packed into few transactions; on a thread of the pool.
    pub async fn bulk_insert<I>(&self, entities: I) -> Result<BulkReport>
    where
        I: IntoIterator<Item = E> + Send + 'static,
    {
        self.run(move |table| table.bulk_insert(entities)).await
    }

    /// Begins changes of several entities of one partition, to be made together or not at all.
    pub fn egt<'c>(&self, partition: Partition<E>) -> AsyncEgt<'c, E> {
        AsyncEgt::new(self.table.blocking(), partition, self.table.token())
    }

    async fn changed(
        &self,
        key: Key<E>,
        change: Change<'_>,
        payload: Payload<'_, E, SendClosure<'_, E>>,
    ) -> Result<Stored<E>> {
        let mut entities = images(payload);
        let etag =
            self.commit(&mut EntityAttempt::shared(key.into_keys(), change, &mut entities).alone()).await?;
        stored(self.table.name(), etag, TypedImages::made(entities))
    }

    /// Carries out a change of which no more is asked than the version that it has written.
    async fn written(
        &self,
        key: Key<E>,
        change: Change<'_>,
        payload: Payload<'_, E, SendClosure<'_, E>>,
    ) -> Result<ETag> {
        let mut entities = images(payload);
        self.commit(&mut EntityAttempt::shared(key.into_keys(), change, &mut entities).alone()).await
    }

    async fn commit(&self, attempt: &mut awaited::SendAttempt<'_>) -> Result<ETag> {
        let together = Together::alone(self.table.blocking());
        awaited::commit(together, &mut [attempt], self.table.token()).await.map(|committed| committed.etag(0))
    }
}

/// Returns the entities of a change that brings this along.
fn images<'c, E: Entity>(payload: Payload<'c, E, SendClosure<'c, E>>) -> ImagesOf<'c, E, SendClosure<'c, E>> {
    TypedImages::<E, SendClosure<'c, E>>::of(payload)
}

impl<E: Entity> Clone for AsyncTable<E> {
    fn clone(&self) -> Self {
        Self::new(self.table.clone())
    }
}

/// The entity's queries.
impl<E: Entity> Deref for AsyncTable<E> {
    type Target = E::Indexes<AsyncDynamicTable>;

    fn deref(&self) -> &E::Indexes<AsyncDynamicTable> {
        &self.indexes
    }
}

impl<E: Entity> fmt::Debug for AsyncTable<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncTable").field("name", &self.table.name()).finish_non_exhaustive()
    }
}
