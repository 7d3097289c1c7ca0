//! Changes of entities: what is stored is read, what is to be is seen, and the rows of both are planned.

pub(in crate::typed) mod attempts;
pub(in crate::typed) mod egt;
pub(in crate::typed) mod stored_entity;

use self::stored_entity::{Old, Was, is_closed};
use crate::error::{Error, ErrorKind, Result};
#[cfg(feature = "encrypt")]
use crate::executor::Loader;
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::{DynamicEntity, IfMatch};
use crate::plan::{Draft, EntityRows, OwnRow, Plan, Printed, Values, WriteExplain};
use crate::row::view::RowView;
use crate::schema;
use crate::sealing::Sealer;
use crate::typed::encrypt::sealing;
use crate::typed::entity::Entity;
use crate::typed::entity::source::Source;
use crate::typed::read::key::Key;

/// What is to become of an entity.
pub(in crate::typed) enum Change<'c, E: Entity> {
    /// It is added; there must be none.
    Insert(&'c E),
    /// It is added, or takes the place of the one there.
    Put(&'c E),
    /// It takes the place of the one there.
    Replace(&'c E, IfMatch),
    /// The one there takes over what the patch sets.
    Merge(E::Patch, IfMatch),
    /// The one there takes over these properties, which are of fields outside its key.
    Set(&'c DynamicEntity, IfMatch),
    /// The one there is changed, and keeps its key.
    Update(Box<dyn FnMut(&mut E) + 'c>),
    /// The one there is changed, and may get another row key.
    Move(Box<dyn FnMut(&mut E) + 'c>),
    /// The one there goes.
    Delete(IfMatch),
    /// The sealed values of the one there are sealed with the keys that are current now: the entity stays as it is, and
    /// of its version.
    #[cfg(feature = "encrypt")]
    Reseal,
}

/// A change of one entity, made again as long as others are quicker.
pub(in crate::typed) struct Attempt<'c, E: Entity> {
    key: Key<E>,
    change: Change<'c, E>,
    old: Option<Old<E>>,
    /// What the entity becomes, where that is made from what is stored.
    new: Option<E>,
}

/// The values of an entity's fields, as stored and as they are to be.
pub(in crate::typed) struct Both<'v> {
    old: Option<Values<'v>>,
    new: Option<Values<'v>>,
}

/// A change of an entity of whatever type.
pub(in crate::typed) trait Planned {
    /// The partition of the entity, if that is known before it is printed.
    fn partition(&self) -> Result<Option<&str>>;

    /// Reads what is stored, and makes of it what is to be.
    fn read(&mut self, table: &DynamicTable, snapshot: Option<&Snapshot>) -> Result<()>;

    /// Whether there is anything to be read.
    fn reads(&self) -> bool;

    /// The values of the fields, sealed where they are to be stored so; nothing is read any more.
    fn values(&self, sealer: &Sealer<'_>) -> Result<Both<'_>>;

    /// The rows that are there and those that are to be.
    fn print<'v>(&'v self, values: &'v Both<'v>) -> Result<Printed<'v>>;

    /// What was read of the entity's own row.
    fn own_row(&self) -> Option<OwnRow<'_>>;

    /// Whether the entity stays what it is, of its version: only the form changes in which its rows have it.
    fn keeps_times(&self) -> bool;

    /// Whether an entity that has turned up meanwhile is reason to look again.
    fn takes_what_it_finds(&self) -> bool;

    /// Says in an error what was attempted, and on which entity.
    fn place(&self, error: Error) -> Error;
}

impl<'c, E: Entity> Attempt<'c, E> {
    pub(in crate::typed) fn new(key: Key<E>, change: Change<'c, E>) -> Self {
        Self { key, change, old: None, new: None }
    }

    /// What was made of the entity.
    pub(in crate::typed) fn into_new(self) -> Option<E> {
        self.new
    }

    /// As it follows "cannot " in an error.
    fn words(&self) -> &'static str {
        match self.change {
            Change::Insert(_) => "insert into",
            Change::Put(_) => "put into",
            Change::Replace(..) => "replace in",
            Change::Merge(..) | Change::Set(..) => "merge into",
            Change::Update(_) => "update in",
            Change::Move(_) => "move in",
            Change::Delete(_) => "delete from",
            #[cfg(feature = "encrypt")]
            Change::Reseal => "re-encrypt in",
        }
    }

    /// Whether the change can be planned without what the entity has sealed.
    fn goes_unopened(&self) -> bool {
        matches!(self.change, Change::Put(_) | Change::Replace(..) | Change::Delete(_))
    }

    #[cfg(feature = "encrypt")]
    fn reseals(&self) -> bool {
        matches!(self.change, Change::Reseal)
    }

    #[cfg(not(feature = "encrypt"))]
    #[expect(clippy::unused_self, reason = "as it is with the feature")]
    fn reseals(&self) -> bool {
        false
    }

    /// The entity as it is stored, with nothing of it opened.
    fn read_unopened(&self, table: &DynamicTable, snapshot: Option<&Snapshot>) -> Result<Option<Old<E>>> {
        let of_now;
        let snapshot = if let Some(snapshot) = snapshot {
            snapshot
        } else {
            of_now = table.snapshot()?;
            &of_now
        };
        let (partition, row) = self.key.as_strs()?;
        let found = snapshot.view(table, partition, row)?;
        let is_exact = self.reseals();
        found.map(|view| Old::read_unopened(table, snapshot, &view, is_exact)).transpose()
    }

    /// The version that must be stored; `None` if there need be no entity.
    fn condition(&self) -> Option<IfMatch> {
        match self.change {
            Change::Insert(_) | Change::Put(_) => None,
            Change::Replace(_, condition)
            | Change::Merge(_, condition)
            | Change::Set(_, condition)
            | Change::Delete(condition) => Some(condition),
            Change::Update(_) | Change::Move(_) => Some(IfMatch::Any),
            #[cfg(feature = "encrypt")]
            Change::Reseal => Some(IfMatch::Any),
        }
    }

    /// Says of a value that can't be had what can be done without it.
    #[cold]
    fn needs_values(&self, error: Error) -> Error {
        let error = self.place(error);
        match self.change {
            Change::Merge(..) | Change::Set(..) | Change::Update(_) | Change::Move(_) => error.and(
                "; such a change needs the whole entity, whose values `put` and `replace` give anew, and `delete` can do \
                 without",
            ),
            _ => error,
        }
    }

    #[cold]
    fn refused(&self, kind: ErrorKind) -> Error {
        self.place(Error::new(kind))
    }

    /// Makes of the entity stored what it is to be.
    fn change(&mut self, entity: &mut E) {
        match &mut self.change {
            Change::Merge(patch, _) => {
                // What an earlier attempt put in is had back first.
                if let Some(last) = &mut self.new {
                    E::exchange(last, patch);
                }
                E::exchange(entity, patch);
            }
            Change::Update(change) | Change::Move(change) => change(entity),
            // These bring their entity or its properties along, or none.
            Change::Insert(_)
            | Change::Put(_)
            | Change::Replace(..)
            | Change::Set(..)
            | Change::Delete(_) => {}
            #[cfg(feature = "encrypt")]
            Change::Reseal => {}
        }
    }

    /// Refuses a change that made it an entity of another key, unless it may.
    fn check_key(&self, values: &Values<'_>) -> Result<()> {
        let may_move = match self.change {
            Change::Update(_) => false,
            Change::Move(_) => true,
            _ => return Ok(()),
        };
        if let Some(Old { was: Was::Values { values: old, .. }, .. }) = &self.old
            && schema::has_same_key(E::SCHEMA, old, values)
        {
            return Ok(());
        }
        let keys = schema::own_keys(E::SCHEMA, values).map_err(|error| self.place(error))?;
        let (partition, row) = keys.as_strs();
        let (old_partition, old_row) = self.key.as_strs()?;
        if partition == old_partition && (may_move || row == old_row) {
            return Ok(());
        }
        let why = if partition == old_partition {
            "an update keeps its primary key, and `move_to` can change the row key"
        } else {
            "no one transaction changes two partitions"
        };
        let (partition, row) = (partition.escape_debug(), row.escape_debug());
        let because = format!("the change makes it partition `{partition}`, row `{row}`; {why}");
        Err(self.refused(ErrorKind::KeyChanged).because(because))
    }

    /// The entity as it will be read: times floored to the tick, fields that are not stored at their defaults. What
    /// could not be read again is refused before it is written.
    fn as_stored(&self, entity: E) -> Result<E> {
        let values = values_of(&entity).map_err(|error| self.place(error))?;
        self.check_key(&values)?;
        if E::EXACT {
            drop(values);
            return Ok(entity);
        }
        E::from_source(&mut Source::given(E::SCHEMA, &values)).map_err(|error| self.place(error))
    }

    /// What the entity is to be.
    fn new_entity(&self) -> Option<&E> {
        match &self.change {
            Change::Insert(entity) | Change::Put(entity) | Change::Replace(entity, _) => Some(entity),
            Change::Merge(..) | Change::Set(..) | Change::Update(_) | Change::Move(_) => self.new.as_ref(),
            Change::Delete(_) => None,
            #[cfg(feature = "encrypt")]
            Change::Reseal => None,
        }
    }
}

impl<E: Entity> Planned for Attempt<'_, E> {
    fn partition(&self) -> Result<Option<&str>> {
        if !self.reads() {
            return Ok(None);
        }
        self.key.as_strs().map(|(partition, _)| Some(partition))
    }

    fn read(&mut self, table: &DynamicTable, snapshot: Option<&Snapshot>) -> Result<()> {
        if !self.reads() {
            return Ok(());
        }
        let read = |view: &RowView<'_>, state| match self.change {
            Change::Merge(..) | Change::Update(_) | Change::Move(_) => {
                Old::<E>::read_to_change(view, state).map(|(old, entity)| (old, Some(entity)))
            }
            Change::Set(changes, _) => {
                let old = Old::read(view, state)?;
                Ok((old, Some(E::from_source(&mut Source::merged(E::SCHEMA, view, changes)?)?)))
            }
            Change::Insert(_) | Change::Put(_) | Change::Replace(..) | Change::Delete(_) => {
                Ok((Old::read(view, state)?, None))
            }
            #[cfg(feature = "encrypt")]
            Change::Reseal => Ok((Old::read(view, state)?, None)),
        };
        let (partition, row) = self.key.as_strs().map_err(|error| self.place(error))?;
        let place = |e: Error| e.attempted("read from").table(table.name()).partition(partition).row(row);
        let unopened = || -> Result<Option<(Old<E>, Option<E>)>> {
            let old = self.read_unopened(table, snapshot).map_err(place)?;
            Ok(old.map(|old| (old, None)))
        };
        let opened = || match snapshot {
            None => table.get_in_state(partition, row, read),
            Some(snapshot) => {
                let read = |view| read(&view, snapshot.state());
                let found = snapshot.view(table, partition, row)?.map(read).transpose();
                found.map_err(place)
            }
        };
        let found = if self.reseals() {
            unopened()?
        } else {
            match opened() {
                // Its keys are lost, or its values were tampered with: what doesn't need them goes on without.
                Err(error) if self.goes_unopened() && E::SCHEMA.seals() && is_closed(&error) => unopened()?,
                Err(error) if is_closed(&error) => return Err(self.needs_values(error)),
                found => found?,
            }
        };
        let Some((old, new)) = found else {
            self.old = None;
            return match self.condition() {
                None => Ok(()),
                Some(_) => Err(self.refused(ErrorKind::EntityNotFound)),
            };
        };
        if self
            .condition()
            .is_some_and(|condition| matches!(condition, IfMatch::ETag(etag) if etag != old.row.version.etag))
        {
            return Err(self.refused(ErrorKind::ConditionNotMet));
        }
        self.old = Some(old);
        self.new = match new {
            Some(mut entity) => {
                self.change(&mut entity);
                Some(self.as_stored(entity)?)
            }
            None => None,
        };
        Ok(())
    }

    fn reads(&self) -> bool {
        !matches!(self.change, Change::Insert(_))
    }

    fn values(&self, sealer: &Sealer<'_>) -> Result<Both<'_>> {
        let mut both = Both {
            old: self.old.as_ref().map(|old| old.was.values()).transpose()?,
            new: self.new_entity().map(values_of).transpose()?,
        };
        if const { E::SCHEMA.seals() } {
            let old = self.old.as_ref();
            if self.reseals() {
                both.new = old.map(|old| old.was.values()).transpose()?;
                both.new.as_mut().map_or(Ok(()), |new| sealing::reseal(E::SCHEMA, new, sealer))?;
                return Ok(both);
            }
            let kept = old.and_then(|old| both.old.as_mut().zip(old.row.sealed.as_ref()));
            sealing::seal(E::SCHEMA, kept, both.new.as_mut(), sealer)?;
        }
        Ok(both)
    }

    fn print<'v>(&'v self, values: &'v Both<'v>) -> Result<Printed<'v>> {
        let schema = E::SCHEMA;
        let old = match (&self.old, &values.old) {
            (Some(old), Some(values)) => {
                let present = |index| old.was.has_row(index);
                Some(EntityRows::stored(schema, values, self.key.as_strs()?, &present)?)
            }
            _ => None,
        };
        // What is not new and does not move has the key that it is looked for by.
        let key = match self.change {
            Change::Insert(_) | Change::Move(_) => None,
            _ => Some(self.key.as_strs()?),
        };
        let before = values.old.as_ref();
        let new = match (self.new_entity(), &values.new) {
            (Some(entity), Some(values)) => {
                let before = old.as_ref().zip(before);
                let rows = EntityRows::of(schema, values, key, before, &|index| entity.has_row(index));
                Some(rows.map_err(|error| self.place(error))?)
            }
            (None, Some(values)) => self
                .old
                .as_ref()
                .map(|old| EntityRows::of(schema, values, key, None, &|index| old.was.has_row(index)))
                .transpose()
                .map_err(|error| self.place(error))?,
            _ => None,
        };
        Ok(Printed { schema, old, new })
    }

    fn own_row(&self) -> Option<OwnRow<'_>> {
        let row = &self.old.as_ref()?.row;
        Some(OwnRow { version: row.version, is_exact: row.is_exact, unknown: &row.unknown })
    }

    fn keeps_times(&self) -> bool {
        self.reseals()
    }

    fn takes_what_it_finds(&self) -> bool {
        matches!(self.change, Change::Put(_))
    }

    #[cold]
    fn place(&self, error: Error) -> Error {
        let error = error.attempted(self.words()).table(E::SCHEMA.table());
        let of_new;
        let key = match self.change {
            // Its key is printed with its rows, and not kept.
            Change::Insert(entity) => {
                of_new = Key::of(entity);
                &of_new
            }
            _ => &self.key,
        };
        match key.as_strs() {
            Ok((partition, row)) => error.partition(partition).row(row),
            Err(_) => error,
        }
    }
}

/// The fields of an entity; refuses a value that no property can hold.
pub(in crate::typed) fn values_of<E: Entity>(entity: &E) -> Result<Values<'_>> {
    let schema = E::SCHEMA;
    let mut values = Values::with_capacity(schema.fields.len());
    entity.values(&mut values);
    match values.refused() {
        None => Ok(values),
        Some((field, error)) => {
            let name = schema.fields.get(field).map_or("", |field| field.name);
            Err(Error::new(ErrorKind::ValueOutOfRange)
                .because(format!("field `{name}`: {error}"))
                .attempted("write to")
                .table(schema.table()))
        }
    }
}

/// The rows that the changes would touch.
pub(in crate::typed) fn explain(
    table: &DynamicTable,
    operations: &mut [&mut dyn Planned],
    batch: Option<&str>,
) -> Result<WriteExplain> {
    read(table, operations, batch)?;
    planned(operations, batch, &table.sham_sealer()?, WriteExplain::of)
}

/// Reads what is stored of all entities; of several, as it was at one moment.
pub(in crate::typed) fn read(
    table: &DynamicTable,
    operations: &mut [&mut dyn Planned],
    batch: Option<&str>,
) -> Result<()> {
    let readers = operations.iter().filter(|operation| operation.reads()).count();
    let snapshot = if readers > 1 { Some(table.snapshot()?) } else { None };
    for (index, operation) in operations.iter_mut().enumerate() {
        operation.read(table, snapshot.as_ref()).map_err(|error| numbered(error, index, batch))?;
    }
    Ok(())
}

/// What `run` makes of the plan of the changes.
pub(in crate::typed) fn planned<T>(
    operations: &[&mut dyn Planned],
    batch: Option<&str>,
    sealer: &Sealer<'_>,
    run: impl FnOnce(&Plan<'_>) -> T,
) -> Result<T> {
    if let [operation] = operations {
        // Most are alone, and need no lists.
        let values = values((0, &**operation), sealer, batch)?;
        let printed = printed((0, &**operation), &values, batch)?;
        return Ok(run(&plan(operations, std::slice::from_ref(&printed), batch)?));
    }
    let placed = || operations.iter().map(|operation| &**operation).enumerate();
    let both: Vec<_> = placed().map(|operation| values(operation, sealer, batch)).collect::<Result<_>>()?;
    let entities = placed().zip(&both).map(|(operation, values)| printed(operation, values, batch));
    let entities: Vec<_> = entities.collect::<Result<_>>()?;
    Ok(run(&plan(operations, &entities, batch)?))
}

/// The plan of the changes, whose rows have been printed.
fn plan<'p>(
    operations: &'p [&mut dyn Planned],
    entities: &'p [Printed<'p>],
    batch: Option<&'p str>,
) -> Result<Plan<'p>> {
    let mut draft = Draft::of(entities, batch)?;
    for ((number, operation), entity) in operations.iter().enumerate().zip(entities) {
        draft.add(number, entity, operation.own_row());
    }
    let keeps_times = operations.iter().all(|operation| operation.keeps_times());
    Ok(Plan { keeps_times, ..draft.into_plan()? })
}

/// The values of a change, which has this place in its batch.
fn values<'v>(
    (index, operation): (usize, &'v dyn Planned),
    sealer: &Sealer<'_>,
    batch: Option<&str>,
) -> Result<Both<'v>> {
    operation.values(sealer).map_err(|error| numbered(operation.place(error), index, batch))
}

/// The rows of a change, which has this place in its batch.
fn printed<'v>(
    (index, operation): (usize, &'v dyn Planned),
    values: &'v Both<'v>,
    batch: Option<&str>,
) -> Result<Printed<'v>> {
    operation.print(values).map_err(|error| numbered(operation.place(error), index, batch))
}

/// What seals an entity anew, as it is stored now.
#[cfg(feature = "encrypt")]
pub(in crate::typed) fn resealing<E: Entity>(
    table: &DynamicTable,
    mut attempt: Attempt<'_, E>,
    loader: &mut dyn Loader,
) -> Result<()> {
    attempt.read(table, None)?;
    let sealer = table.sealer()?;
    planned(&[&mut attempt], None, &sealer, |plan| {
        loader.add(plan, &sealer.sealed_at()).map_err(|refused| plan.judge(refused).error)
    })?
}

/// What `run` makes of the plan that adds an entity.
pub(in crate::typed) fn insertion<E: Entity, T>(
    entity: &E,
    sealer: &Sealer<'_>,
    run: impl FnOnce(&Plan<'_>) -> T,
) -> Result<T> {
    planned(&[&mut Attempt::new(Key::unused(), Change::Insert(entity))], None, sealer, run)
}

fn numbered(error: Error, index: usize, batch: Option<&str>) -> Error {
    if batch.is_some() { error.at_index(index) } else { error }
}
