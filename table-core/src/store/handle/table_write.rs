//! Writes of a table, and what they are sealed with.

use std::sync::{MutexGuard, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use super::batch::Batch;
use super::bulk::{self, BulkReport};
use crate::error::Result;
use crate::handle::table::DynamicTable;
use crate::model::{DynamicEntity, ETag, IfMatch, ValueRef};
use crate::plan::{Act, Condition, Failure, Plan, Refused};
use crate::schema::{Blind, Field, TOKEN_BYTES};
use crate::sealing::{self, SealedAt, Sealer};
use crate::store::write::encode::Given;
use crate::store::write::prepare::{self, Prepared};

impl DynamicTable {
    /// Seals the values of a plan that is to be carried out.
    pub(crate) fn sealer(&self) -> Result<Sealer<'_>> {
        Ok(Sealer::new(self.exec().id(), self.exec().store()))
    }

    /// Seals for a plan that is only shown: gives bytes of the right length.
    pub(crate) fn sham_sealer(&self) -> Result<Sealer<'_>> {
        Ok(Sealer::sham(self.exec().id(), self.exec().store()))
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
        sealing::tokens((self.exec().id(), self.exec().store()), partition, field, blind, value)
    }

    /// The generation of the keys, which a lookup by tokens must see unchanged before and after.
    pub(crate) fn keys_generation(&self) -> Result<u64> {
        sealing::generation(self.exec().store())
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
        let prepared = prepare::single(self.state()?, partition_key, &removal)?;
        self.submit(self.by_properties(prepared)).map(|_| ())
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
        let prepared = prepare::single(self.state()?, entity.partition_key(), &write)?;
        Ok(self.by_properties(prepared))
    }

    /// A write by properties and keys, with what the handle says of rows of declared kinds.
    pub(in crate::store) fn by_properties(&self, mut prepared: Prepared) -> Prepared {
        prepared.is_raw = self.is_raw();
        prepared
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
        let mut prepared = prepare::plan(plan, &[self.state().map_err(Refused::whole)?])?;
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
        bulk::load(self.inner()?, items, prepare, retry)
    }

    /// The turn of a change that others have been too quick for, if it comes within so long. Never waits for ever: the
    /// change that has it may be waiting for this one.
    pub(crate) fn turn(&self, patience: Duration) -> Option<MutexGuard<'_, ()>> {
        let (begun, table) = (Instant::now(), self.lmdb().ok()?);
        loop {
            match table.inner.turn.try_lock() {
                Ok(turn) => return Some(turn),
                Err(TryLockError::Poisoned(turn)) => return Some(turn.into_inner()),
                Err(TryLockError::WouldBlock) if begun.elapsed() > patience => return None,
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_micros(200)),
            }
        }
    }

    /// Carries out the write of one row.
    pub(crate) fn submit(&self, prepared: Prepared) -> Result<ETag> {
        self.commit(prepared).map_err(|refused| refused.error)
    }

    /// Carries out a prepared plan; a refusal says at which row.
    pub(crate) fn commit(&self, prepared: Prepared) -> Result<ETag, Refused> {
        let inner = self.inner().map_err(Refused::whole)?;
        inner.writer.submit(inner, prepared).map(ETag::from_timestamp)
    }
}
