//! The attempt at a change of one entity.

mod found;
mod planned;

use std::ops::DerefMut;
use std::sync::atomic::{AtomicBool, Ordering};

use super::attempt::{Attempt, CommittedByTheThreadThatMadeIt, Image, PlanScratch, ReadRequest, Sources};
use super::before::Kept;
use super::copied_fields::{self, Holding};
use super::entity_images::{self, EntityImages, EntityMeta, ImageRef, ImageSlot, TypedImages};
use super::read_set::{self, NextRead, ReadSet};
use super::{Change, Payload};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{EntityKeys, IfMatch};
use crate::plan::{Plan, PlanBuilder, Seals, Values, Version};
use crate::row::view::RowView;
use crate::schema::{self, IndexMask, KeyPair, Schema};
use crate::typed::encrypt::unopened;
use crate::typed::entity::Entity;
use crate::typed::entity::source::Source;
use crate::typed::read::key::Key;

/// A change of one entity, and what was found for it. `S` holds its [images](EntityImages).
pub(crate) struct EntityAttempt<'c, S = Box<dyn EntityImages + 'c>> {
    keys: Result<KeyPair>,
    change: Change<'c>,
    meta: &'static EntityMeta,
    images: S,
    read_set: ReadSet,
    /// What was found of the entity.
    before: Option<Kept>,
    /// Why it can't be read as what it is: its keys are lost, say.
    closed: Option<Error>,
    /// The copies that it is to hold of others.
    held: Vec<Holding>,
    /// Whether they are all made anew.
    holds_anew: bool,
    /// Set by the user's closure if nothing is to be written.
    called_off: Option<&'c AtomicBool>,
    /// Whether no other entity is changed with it.
    is_alone: bool,
}

impl<'c> EntityAttempt<'c> {
    pub(crate) fn new<E: Entity>(key: Key<E>, change: Change<'c>, payload: Payload<'c, E>) -> Self {
        Self::of(key.into_keys(), change, Box::new(TypedImages::of(payload)))
    }
}

impl<'c> EntityAttempt<'c, &'c mut (dyn EntityImages + 'c)> {
    /// Makes an attempt with images that the caller keeps.
    pub(crate) fn lent(
        keys: Result<KeyPair>,
        change: Change<'c>,
        images: &'c mut (dyn EntityImages + 'c),
    ) -> Self {
        Self::of(keys, change, images)
    }
}

#[cfg(feature = "async")]
impl<'c> EntityAttempt<'c, &'c mut (dyn EntityImages + Send + 'c)> {
    /// Makes an attempt with images that the caller keeps, whose future can go from thread to thread.
    pub(crate) fn shared(
        keys: Result<KeyPair>,
        change: Change<'c>,
        images: &'c mut (dyn EntityImages + Send + 'c),
    ) -> Self {
        Self::of(keys, change, images)
    }
}

/// Returns the attempt at a change that is not of an entity's type any more, and whose future can go from thread to thread.
#[cfg(feature = "async")]
pub(crate) fn boxed_to_share<'c>(
    keys: Result<KeyPair>,
    change: Change<'c>,
    images: Box<dyn EntityImages + Send + 'c>,
) -> Box<dyn Attempt + Send + 'c> {
    Box::new(EntityAttempt::of(keys, change, images))
}

/// Returns the attempt at a change that is not of an entity's type any more.
pub(crate) fn boxed<'c>(
    keys: Result<KeyPair>,
    change: Change<'c>,
    images: Box<dyn EntityImages + 'c>,
) -> Box<dyn CommittedByTheThreadThatMadeIt + 'c> {
    Box::new(EntityAttempt::of(keys, change, images))
}

impl<'c, S: DerefMut<Target: EntityImages>> EntityAttempt<'c, S> {
    /// Makes an attempt at a change; `images` hold its payload.
    pub(crate) fn of(keys: Result<KeyPair>, change: Change<'c>, images: S) -> Self {
        let meta = images.meta();
        Self {
            keys,
            change,
            meta,
            images,
            read_set: ReadSet::new(meta.schema),
            before: None,
            closed: None,
            held: Vec::new(),
            holds_anew: false,
            called_off: None,
            is_alone: false,
        }
    }

    /// Gives back the images.
    #[cfg(test)]
    pub(crate) fn into_images(self) -> S {
        self.images
    }

    /// Has all the copies that it holds of others made anew.
    pub(crate) fn holding_anew(mut self) -> Self {
        self.holds_anew = true;
        self
    }

    /// Returns the attempt as one with which no other entity is changed, but for those that it brings about.
    pub(crate) fn alone(mut self) -> Self {
        self.is_alone = true;
        self
    }

    /// Notes the flag that the user's closure sets if nothing is to be written: the attempt fails then, before it is planned.
    pub(crate) fn unless(mut self, called_off: &'c AtomicBool) -> Self {
        self.called_off = Some(called_off);
        self
    }

    /// Returns the keys that the entity is looked for by.
    fn own(&self) -> Result<EntityKeys<'_>> {
        schema::as_keys(&self.keys)
    }

    #[cold]
    fn place(&self, error: Error) -> Error {
        let keys = self.named();
        placed(error, self.change.describe(), self.meta.schema, keys.as_ref().map(KeyPair::as_keys))
    }

    /// Returns the key of the entity, as an error names it.
    #[cold]
    fn named(&self) -> Option<KeyPair> {
        match self.change {
            // Its key is printed with its rows, and not kept.
            Change::Insert => {
                let values = entity_images::values(&*self.images, ImageRef::Given).ok().flatten()?;
                schema::own_keys(self.meta.schema, &values).ok()
            }
            _ => self.own().ok().map(|keys| KeyPair::of(keys.partition, keys.row)),
        }
    }

    /// Says of a value that can't be had what can be done without it.
    #[cold]
    fn needs_values(&self, error: Error) -> Error {
        let error = self.place(error);
        if self.change.makes_another() {
            return error.and(
                "; such a change needs the whole entity, whose values `put` and `replace` give anew, and `delete` can do \
                 without",
            );
        }
        error
    }

    #[cold]
    fn refused(&self, kind: ErrorKind) -> Error {
        self.place(Error::new(kind))
    }

    /// Refuses a change that made it an entity of another key, unless it may.
    fn check_key(&self, values: &Values<'_>) -> Result<()> {
        let may_move = match self.change {
            Change::Update => false,
            Change::Move => true,
            _ => return Ok(()),
        };
        if let Some(old) = self.kept_values()
            && schema::has_same_key(self.meta.schema, old, values)
        {
            return Ok(());
        }
        let EntityKeys { partition, row } = self.own()?;
        let checked = read_set::check_key(self.meta.schema, partition, row, values, may_move);
        checked.map_err(|error| self.place(error))
    }

    /// Returns the values of the entity that was found, if they are kept apart from it.
    fn kept_values(&self) -> Option<&Values<'static>> {
        self.before.as_ref().filter(|_| !self.images.has(FOUND)).map(Kept::values)
    }

    /// Takes the edited entity as it will be read: times floored to the tick, fields that are not stored at their defaults.
    /// What could not be read again is refused before it is written.
    fn end_edit(&mut self) -> Result<()> {
        let values = self.values(ImageRef::In(ImageSlot::Edited)).map_err(|error| self.place(error))?;
        if let Some(values) = values {
            self.check_key(&values)?;
        }
        self.images.end_edit().map_err(|error| self.place(error))
    }

    /// Returns the key that the values of an image print.
    #[cfg(feature = "access")]
    fn printed_key(&self, seen: ImageRef) -> Result<Option<KeyPair>> {
        let values = self.values(seen)?;
        values.map(|values| schema::own_keys(self.meta.schema, &values)).transpose()
    }

    fn values(&self, seen: ImageRef) -> Result<Option<Values<'_>>> {
        entity_images::values(&*self.images, seen)
    }

    /// Returns the values of the entity as it was found.
    fn old_values(&self) -> Result<Option<Values<'_>>> {
        let Some(kept) = &self.before else { return Ok(None) };
        Ok(Some(self.values(FOUND)?.unwrap_or_else(|| kept.values().lent())))
    }

    /// Returns what the entity is to be.
    fn new_entity(&self) -> Option<ImageRef> {
        let of_found = matches!(self.change, Change::Backfill(_) | Change::RepairCopies | Change::Rewrite);
        let seen = match self.change {
            // What it holds of others is theirs to say.
            _ if self.change.brings_entity() && self.images.has(NEW) => NEW,
            _ if self.change.brings_entity() => ImageRef::Given,
            _ if self.change.makes_another() => NEW,
            _ if of_found && self.before.is_some() => FOUND,
            _ => return None,
        };
        Some(seen).filter(|seen| self.images.has(*seen))
    }

    /// Returns the values of what the entity is to be.
    fn new_values(&self) -> Result<Option<Values<'_>>> {
        self.new_entity().map_or(Ok(None), |seen| self.values(seen))
    }

    /// Returns the keys of a copy whose place is another entity's, and that entity's, in an index that is being filled.
    pub(crate) fn taken(&self) -> Option<(EntityKeys<'_>, EntityKeys<'_>)> {
        self.read_set.taken(self.own())
    }
}

/// The entity as it was found, and as it is to be.
const FOUND: ImageRef = ImageRef::In(ImageSlot::Before);
const NEW: ImageRef = ImageRef::In(ImageSlot::After);

impl<S: DerefMut<Target: EntityImages>> Attempt for EntityAttempt<'_, S> {
    fn schema(&self) -> Option<&'static Schema> {
        Some(self.meta.schema)
    }

    fn writes_entity(&self) -> bool {
        !matches!(self.change, Change::Backfill(_) | Change::Rewrite)
    }

    #[cfg(feature = "access")]
    fn rights(&self) -> Option<crate::executor::Rights> {
        self.change.rights()
    }

    #[cfg(feature = "access")]
    fn own_key(&self) -> Result<Option<KeyPair>> {
        let keys = match self.change {
            Change::Insert => self.printed_key(ImageRef::Given),
            _ => self.own().map(|keys| Some(KeyPair::of(keys.partition, keys.row))),
        };
        keys.map_err(|error| self.place(error))
    }

    #[cfg(feature = "access")]
    fn new_key(&self) -> Result<Option<KeyPair>> {
        let seen = self.new_entity();
        let keys = seen.map_or(Ok(None), |seen| self.printed_key(seen));
        keys.map_err(|error| self.place(error))
    }

    fn set_index_mask(&mut self, index_mask: IndexMask) {
        self.read_set.index_mask = match self.change {
            Change::Backfill(index) => index_mask.of_index(index),
            Change::RepairCopies => index_mask.refiling(),
            _ => index_mask,
        };
    }

    fn begin(&mut self) {
        self.read_set.begin(self.change.reads());
        self.forget();
        if !self.meta.held.is_empty() {
            self.held.clear();
            if self.change.brings_entity() {
                self.images.forget(ImageSlot::After);
            }
        }
    }

    fn partition(&self) -> Result<Option<&str>> {
        if !self.reads() {
            return Ok(None);
        }
        self.own().map(|keys| Some(keys.partition)).map_err(|error| self.place(error))
    }

    fn reads(&self) -> bool {
        self.change.reads()
    }

    fn next_read(&mut self) -> Result<Option<ReadRequest>> {
        if self.read_set.asks == NextRead::Own {
            let keys = match &mut self.keys {
                Ok(keys) => std::mem::take(keys),
                Err(error) => {
                    let error = error.again();
                    return Err(self.place(error));
                }
            };
            self.read_set.asks = NextRead::ForOwn;
            let head = if self.meta.is_wide { Some(self.meta.schema) } else { None };
            return Ok(Some(ReadRequest { table: None, keys, is_copy: false, head }));
        }
        let Self { read_set, before, keys, .. } = self;
        Ok(read_set.next(before.as_mut(), schema::as_keys(keys)?))
    }

    fn on_row(&mut self, row: Option<(&RowView<'_>, Version)>) -> Result<()> {
        match self.read_set.asks {
            NextRead::ForOwn => {
                self.read_set.asks = NextRead::Nothing;
                let Some((view, version)) = row else { return Ok(()) };
                self.found_own(view, version)?;
                if self.read_set.index_mask.backfills() {
                    let EntityMeta { schema, elements, .. } = self.meta;
                    self.read_set.ask_backfill(&unopened::read_of(schema, *elements, view)?);
                }
            }
            NextRead::ForBackfill(at) => self.read_set.found_backfill(at, schema::as_keys(&self.keys)?, row),
            NextRead::ForCopy(index) => {
                let kept = self.before.as_mut();
                self.read_set.found_copy(
                    index,
                    kept,
                    schema::as_keys(&self.keys)?,
                    row.map(|(view, _)| view),
                );
            }
            NextRead::Own | NextRead::Copies(_) | NextRead::Nothing => {}
        }
        Ok(())
    }

    fn release(&mut self, need: ReadRequest) {
        if !need.is_copy {
            self.keys = Ok(need.keys);
        }
    }

    fn make(&mut self) -> Result<()> {
        self.images.check().map_err(|error| self.place(error))?;
        if let Some(error) = self.closed.take() {
            return Err(self.needs_values(error));
        }
        match (self.change.condition(), &self.before) {
            (Some(_), None) => return Err(self.refused(ErrorKind::EntityNotFound)),
            (Some(IfMatch::ETag(etag)), Some(before)) if etag != before.version.etag => {
                return Err(self.refused(ErrorKind::ConditionNotMet));
            }
            _ => {}
        }
        if self.images.has(ImageRef::In(ImageSlot::Edited)) {
            self.images.change().map_err(|error| self.place(error))?;
            if self.called_off.is_some_and(|called_off| called_off.load(Ordering::Relaxed)) {
                return Err(self.refused(ErrorKind::ConditionNotMet));
            }
            self.end_edit()?;
        }
        Ok(())
    }

    fn image(&self) -> Result<Option<Image>> {
        let EntityMeta { schema, held, dependents, .. } = *self.meta;
        let stays = matches!(self.change, Change::Backfill(_) | Change::RepairCopies | Change::Rewrite);
        if held.is_empty() && dependents.is_empty() || stays || self.change.reseals() {
            return Ok(None);
        }
        let old = || {
            let Some(values) = self.old_values()? else { return Ok(None) };
            let EntityKeys { partition, row } = self.own()?;
            Ok::<_, Error>(Some((KeyPair::of(partition, row), values.into_owned())))
        };
        let new = || {
            let Some(values) = self.new_values()? else { return Ok(None) };
            let values = values.into_owned();
            Ok::<_, Error>(Some((schema::own_keys(schema, &values)?, values)))
        };
        let before = old().map_err(|error| self.place(error))?;
        let after = new().map_err(|error| self.place(error))?;
        Ok(Some(Image { schema, before, after, dependents }))
    }

    fn key(&self) -> Option<KeyPair> {
        self.named()
    }

    fn hold(&mut self, sources: &dyn Sources) -> Result<()> {
        let EntityMeta { schema, held, .. } = *self.meta;
        if held.is_empty() {
            return Ok(());
        }
        let Some(values) = self.new_values().map_err(|error| self.place(error))? else { return Ok(()) };
        let before = self.old_values()?.filter(|_| !self.holds_anew);
        let found = copied_fields::copy_fields(schema, held, before.as_ref(), &values, sources);
        let held = found.map_err(|error| self.place(error))?;
        let mut values = values.into_owned();
        Holding::put(&held, &mut values);
        let made = self.images.take(ImageSlot::After, &mut Source::given(schema, &values));
        made.map_err(|error| self.place(error))?;
        self.held = held;
        Ok(())
    }

    fn holds_already(&self) -> bool {
        let before = self.old_values();
        matches!(before, Ok(Some(before)) if self.held.iter().all(|held| held.is_in(self.meta.schema, &before)))
    }

    fn lone_plan<'p>(&'p self, seals: &dyn Seals, scratch: &'p mut PlanScratch<'p>) -> Option<Plan<'p>> {
        if !self.is_lone() {
            return None;
        }
        self.lay_out(seals, scratch).ok()?;
        let PlanScratch { old, new, printed, .. } = scratch;
        let old = old.as_ref().or_else(|| self.stored_values());
        Plan::of_lone(printed.insert(self.print(old, new.as_ref()).ok()?))
    }

    fn plan<'p>(
        &'p self,
        number: usize,
        seals: &dyn Seals,
        scratch: &'p mut PlanScratch<'p>,
        builder: &mut PlanBuilder<'p>,
    ) -> Result<()> {
        self.lay_out(seals, scratch).map_err(|error| self.place(error))?;
        let PlanScratch { old, new, printed, moved } = scratch;
        let old = old.as_ref().or_else(|| self.stored_values());
        let mut rows = self.print(old, new.as_ref()).map_err(|error| self.place(error))?;
        if matches!(self.change, Change::Rewrite)
            && let Some((new, before)) = rows.take_if_moved().zip(self.before.as_ref())
        {
            let moved = moved.insert(rows.with_new(new, &before.unknown));
            builder.add(number, moved);
        }
        builder.add(number, printed.insert(rows));
        if !self.meta.held.is_empty() {
            Holding::plan(&self.held, number, builder);
        }
        Ok(())
    }

    fn takes_what_it_finds(&self) -> bool {
        matches!(self.change, Change::Put)
    }
}

/// Returns an error with what was attempted, and where.
#[cold]
fn placed(error: Error, words: &'static str, schema: &Schema, keys: Option<EntityKeys<'_>>) -> Error {
    let error = error.attempted(words).table(schema.table());
    match keys {
        Some(EntityKeys { partition, row }) => error.partition(partition).row(row),
        None => error,
    }
}
