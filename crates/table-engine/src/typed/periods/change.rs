//! Changes of entities, each in the table of its period.

use std::borrow::Borrow;

use super::Periods;
use super::times::{Time, ticks};
use crate::error::{ErrorKind, Result};
use crate::handle::bulk::{BulkFailure, BulkReport};
use crate::handle::table::DynamicTable;
use crate::model::{ETag, IfMatch, IntoIfMatch, Ticks};
use crate::sorting;
use crate::typed::change::driver;
use crate::typed::change::egt::Egt;
use crate::typed::change::entity_attempt::EntityAttempt;
use crate::typed::change::entity_images::TypedImages;
use crate::typed::change::{self, Change, Payload, Refusal};
use crate::typed::entity::stored::Stored;
use crate::typed::entity::{InPeriods, PatchOf};
use crate::typed::read::key::{Key, KeyOf, Partition};
use crate::typed::series::AddsTo;
use crate::typed::table::Table;

/// Entities of one period that a load takes at a time.
const AT_ONCE: usize = 4_096;

impl<E: InPeriods> Periods<E> {
    /// Adds an entity and its copies to the table of its period, which is made if there is none; fails if there is one of its
    /// key, or of a key in a unique index.
    pub fn insert(&self, entity: &E) -> Result<ETag> {
        let start = self.start_of(&Key::of(entity))?;
        self.commit(start, Key::unused(), Change::Insert, Payload::Entity(entity)).map(|(etag, _)| etag)
    }

    /// Adds an entity, or puts it in the place of the one there.
    pub fn put(&self, entity: &E) -> Result<ETag> {
        let key = Key::of(entity);
        self.commit(self.start_of(&key)?, key, Change::Put, Payload::Entity(entity)).map(|(etag, _)| etag)
    }

    /// Puts an entity in the place of the one there, if that is of the version demanded; fails if there is none.
    pub fn replace(&self, entity: &E, condition: impl IntoIfMatch) -> Result<ETag> {
        let key = Key::of(entity);
        let change = Change::Replace(condition.into());
        self.commit(self.start_of(&key)?, key, change, Payload::Entity(entity)).map(|(etag, _)| etag)
    }

    /// Sets what the patch sets on the entity there, if that is of the version demanded; fails if there is none.
    pub fn merge(
        &self,
        key: impl KeyOf<E>,
        patch: impl PatchOf<E>,
        condition: impl IntoIfMatch,
    ) -> Result<Stored<E>> {
        self.changed(key.into(), Change::Merge(condition.into()), Payload::Patch(patch.into()))
    }

    /// Reads the entity, changes it and writes it back, as [`Table::update`](crate::Table::update) does.
    pub fn update(&self, key: impl KeyOf<E>, change: impl FnMut(&mut E)) -> Result<Stored<E>> {
        self.changed(key.into(), Change::Update, Payload::Closure(Box::new(change)))
    }

    /// Changes the entity as [`update`](Self::update) does, unless the closure fails: then nothing is written, and what it
    /// returned comes back.
    pub fn try_update<X: Refusal>(
        &self,
        key: impl KeyOf<E>,
        change: impl FnMut(&mut E) -> Result<(), X>,
    ) -> Result<Stored<E>, X> {
        let key = key.into();
        let start = self.start_of(&key)?;
        change::update_unless_refused(self.known.tables.source, key, change, &mut |attempt| {
            self.writing(start, false, |table| driver::commit_alone(table, &mut *attempt))
        })
    }

    /// Adds the entity if there is none of its key. Returns the one that is stored then, which another writer may have added.
    pub fn get_or_insert(&self, entity: &E) -> Result<Stored<E>> {
        change::get_or_insert(self.known.tables.source, || self.get(Key::of(entity)), || self.insert(entity))
    }

    /// Adds to slots of the entity there, as [`Table::add`](crate::Table::add) does; fails if there is none.
    pub fn add(&self, key: impl KeyOf<E>, add: impl AddsTo<E>) -> Result<ETag> {
        let key = key.into();
        let (start, additions) = (self.start_of(&key)?, add.into());
        let in_place = |table: &DynamicTable| Table::<E>::new(table.clone()).add_in_place(&key, &additions);
        match self.writing(start, false, in_place)? {
            Some(etag) => Ok(etag),
            None => self
                .commit(start, key, Change::Add, Payload::Additions(Box::new(additions)))
                .map(|(etag, _)| etag),
        }
    }

    /// Changes the entity as [`update`](Self::update) does, its row key too, but not its period: the entity and its copies
    /// move within the partition. To another period it comes by a delete and an insert.
    pub fn move_to(&self, key: impl KeyOf<E>, change: impl FnMut(&mut E)) -> Result<Stored<E>> {
        self.changed(key.into(), Change::Move, Payload::Closure(Box::new(change)))
    }

    /// Removes the entity of this key with all its copies; fails if there is none. The period's table stays.
    pub fn delete(&self, key: impl KeyOf<E>) -> Result<()> {
        self.delete_if(key, IfMatch::Any)
    }

    /// Removes the entity as [`delete`](Self::delete) does, if it is of the version demanded.
    pub fn delete_if(&self, key: impl KeyOf<E>, condition: impl IntoIfMatch) -> Result<()> {
        let (key, change) = (key.into(), Change::Delete(condition.into()));
        self.commit(self.start_of(&key)?, key, change, Payload::Nothing).map(|_| ())
    }

    /// Adds many entities, each whole with its copies or not at all, as [`Table::bulk_insert`](crate::Table::bulk_insert)
    /// does. Those of one period that come one after another are packed into few transactions.
    pub fn bulk_insert<B: Borrow<E>>(&self, entities: impl IntoIterator<Item = B>) -> Result<BulkReport> {
        let mut report = BulkReport::default();
        let (mut run, mut period): (Vec<(u64, B)>, Option<Ticks>) = (Vec::new(), None);
        for (number, entity) in (0_u64..).zip(entities) {
            let start = match self.start_of(&Key::of(entity.borrow())) {
                Ok(start) => start,
                Err(error) => {
                    report.failures.push(BulkFailure { index: number, error });
                    continue;
                }
            };
            if run.len() >= AT_ONCE || period.is_some_and(|period| period != start) {
                self.load(&mut run, period, &mut report)?;
            }
            period = Some(start);
            run.push((number, entity));
        }
        self.load(&mut run, period, &mut report)?;
        sorting::sort_by_key(&mut report.failures, |failure| failure.index);
        Ok(report)
    }

    /// Loads a run of entities of one period.
    fn load<B: Borrow<E>>(
        &self,
        run: &mut Vec<(u64, B)>,
        period: Option<Ticks>,
        report: &mut BulkReport,
    ) -> Result<()> {
        let Some(start) = period.filter(|_| !run.is_empty()) else { return Ok(()) };
        let loaded = self.writing(start, true, |table| {
            let entities = run.iter().map(|(_, entity)| -> &E { entity.borrow() });
            let loaded = Table::<E>::new(table.clone()).bulk_insert(entities)?;
            match loaded.failures.first() {
                // Nothing was written to a table that is no more.
                Some(gone) if loaded.committed == 0 && gone.error.kind() == ErrorKind::TableNotFound => {
                    Err(gone.error.again())
                }
                _ => Ok(loaded),
            }
        });
        match loaded {
            Ok(loaded) => {
                report.committed += loaded.committed;
                for mut failure in loaded.failures {
                    let at = usize::try_from(failure.index).ok().and_then(|at| run.get(at));
                    failure.index = at.map_or(failure.index, |(number, _)| *number);
                    report.failures.push(failure);
                }
            }
            Err(error) if error.kind() == ErrorKind::PeriodDropped => {
                let each = run.iter().map(|(number, _)| BulkFailure { index: *number, error: error.again() });
                report.failures.extend(each);
            }
            Err(error) => return Err(error),
        }
        run.clear();
        Ok(())
    }

    /// Changes of several entities of one period and partition, to be made together or not at all: those of the period that
    /// this time lies in. Its table is made if there is none.
    pub fn egt<'c>(&self, at: impl Time, partition: Partition<E>) -> Egt<'c, E> {
        let start = self.start_of_changes(at);
        let (known, to_forget) = (self.known.clone(), self.known.clone());
        let table = move || match &start {
            Ok(start) => known.make(*start),
            Err(error) => Err(error.again()),
        };
        let forget = move |gone: &DynamicTable| to_forget.forget(gone);
        Egt::when_committed(Box::new(table), Box::new(forget), partition)
    }

    /// Returns where the period begins that this time lies in, for changes of several of its entities.
    pub(crate) fn start_of_changes(&self, at: impl Time) -> Result<Ticks> {
        let start = ticks(at).map(|time| self.known.start(time));
        start.map_err(|error| error.attempted("write to").table(self.known.tables.source))
    }

    fn changed(&self, key: Key<E>, change: Change<'_>, payload: Payload<'_, E>) -> Result<Stored<E>> {
        let start = self.start_of(&key)?;
        let (etag, entity) = self.commit(start, key, change, payload)?;
        change::stored(self.known.tables.source, etag, entity)
    }

    fn commit(
        &self,
        start: Ticks,
        key: Key<E>,
        change: Change<'_>,
        payload: Payload<'_, E>,
    ) -> Result<(ETag, Option<E>)> {
        let adds = matches!(change, Change::Insert | Change::Put);
        let mut entities = TypedImages::of(payload);
        let mut attempt = EntityAttempt::lent(key.into_keys(), change, &mut entities);
        let etag = self.writing(start, adds, |table| driver::commit_alone(table, &mut attempt))?;
        drop(attempt);
        Ok((etag, TypedImages::made(entities)))
    }
}
