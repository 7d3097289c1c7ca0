//! Adding to slots of a series where they are stored.

use std::fmt;
use std::sync::Arc;

use super::SeriesOf;
use crate::error::{Error, ErrorKind, Result};
use crate::handle::write::carry_out;
use crate::model::{ETag, Value, ValueRef};
use crate::plan::{Addition, Amounts, Committed, Epoch, Failure, Group, OneOrMore, OwnAdd, Plan};
use crate::schema::{self, Countable, Schema, Series, SumOf, ValueError, holds};
use crate::sealing::SealedAt;
use crate::typed::change::driver::{self, Together};
use crate::typed::change::{Add, Change, Payload};
use crate::typed::entity::Entity;
use crate::typed::read::key::{Key, KeyOf};
use crate::typed::table::Table;

/// What one addition does to the entity itself.
type OfEntity<E> = fn(&mut E, usize, i64) -> Result<(), ValueError>;

/// Numbers that are to be added to slots of an entity. Made by the entity's own `add` function, with a method for each series.
#[must_use = "it adds nothing until a table does"]
pub struct Additions<E> {
    all: Vec<One<E>>,
    /// The first that is of no slot, which the table says.
    refused: Option<Error>,
}

struct One<E> {
    /// The place of the slot among the entity's fields.
    field: usize,
    slot: usize,
    by: i64,
    /// Computes the number of a stored slot after the addition.
    added: fn(Option<ValueRef<'_>>, i64) -> Result<Value, ValueError>,
    /// Adds to the slot of an entity.
    of_entity: OfEntity<E>,
}

impl<E> Additions<E> {
    #[doc(hidden)]
    pub const fn new() -> Self {
        Self { all: Vec::new(), refused: None }
    }

    #[doc(hidden)]
    pub fn to_slot<T: Countable>(
        &mut self,
        series: &'static Series,
        first: usize,
        slot: usize,
        by: i64,
        of_entity: OfEntity<E>,
    ) {
        if let Some(why) = series.refuse_slot(slot) {
            self.refused.get_or_insert_with(|| Error::new(ErrorKind::ValueOutOfRange).because(why));
            return;
        }
        self.all.push(One { field: first + slot, slot, by, added: schema::added::<T>, of_entity });
    }
}

impl<E> Add<E> for Additions<E> {
    /// Refuses what is of no slot.
    fn check(&self) -> Result<()> {
        self.refused.as_ref().map_or(Ok(()), |error| Err(error.again()))
    }

    /// Adds to the slots; refuses a sum that its slot can't hold.
    fn apply(&self, entity: &mut E) -> Result<()> {
        let added = self.all.iter().try_for_each(|one| (one.of_entity)(entity, one.slot, one.by));
        added.map_err(|error| Error::new(ErrorKind::ValueOutOfRange).because(error.to_string()))
    }
}

/// What is added to an entity: what its own function `add` makes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` adds nothing to a `{E}`",
    label = "expected what is added to a `{E}`: `{E}::add()..`",
    note = "an entity with a `#[series]` has `add()`; `update` changes what is no slot of a series"
)]
pub trait AddsTo<E>: Into<Additions<E>> {}

#[diagnostic::do_not_recommend]
impl<E, A: Into<Additions<E>>> AddsTo<E> for A {}

impl<E> fmt::Debug for Additions<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all.iter().map(|one| (one.slot, one.by))).finish()
    }
}

/// Adds to a slot of an entity that was read.
pub fn add_to_slot<S: SeriesOf<Slot: Countable>>(
    series: &mut S,
    slot: usize,
    by: i64,
) -> Result<(), ValueError> {
    if let Some(place) = series.slots_mut().get_mut(slot) {
        *place = S::Slot::of_number(place.number() + i128::from(by))?;
    }
    Ok(())
}

impl<E: Entity> Table<E> {
    /// Adds to slots of the entity there, whatever they hold; fails if there is none.
    ///
    /// The numbers are added inside the transaction that writes them: however many threads count at one time, none of them is
    /// made to begin again. Where copies, tokens or summaries of the entity may depend on the slots, or rows are signed or
    /// converted, or the entity is wide, it is read and changed as [`update`](Self::update) does it: the result is the same.
    ///
    /// What is added is an `i64`, whatever the slot's type, so that counts go down, too. A sum that the slot's type can't hold
    /// is [`ValueOutOfRange`](ErrorKind::ValueOutOfRange), and nothing is written.
    ///
    /// ```
    /// # use table_core::{Entity, ErrorKind, Store};
    /// #[derive(Entity)]
    /// #[entity(table = "Load", kind = "day")]
    /// #[key(partition = "{host}", row = "day_{day:06}")]
    /// struct Day {
    ///     host: String,
    ///     day: u32,
    ///     #[series]
    ///     #[property(default)]
    ///     requests: [u32; 24],
    /// }
    ///
    /// # let store = Store::temporary()?;
    /// let days = store.table::<Day>()?;
    /// days.insert(&Day { host: "web1".into(), day: 1, requests: [0; 24] })?;
    /// std::thread::scope(|scope| {
    ///     for _ in 0..4 {
    ///         scope.spawn(|| {
    ///             for _ in 0..25 {
    ///                 days.add(Day::key("web1", 1), Day::add().requests(13, 1)).unwrap();
    ///             }
    ///         });
    ///     }
    /// });
    /// assert_eq!(days.get(Day::key("web1", 1))?.unwrap().requests[13], 100);
    ///
    /// let error = days.add(Day::key("web1", 1), Day::add().requests(13, -101)).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::ValueOutOfRange);
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn add(&self, key: impl KeyOf<E>, add: impl AddsTo<E>) -> Result<ETag> {
        let (key, additions) = (key.into(), add.into());
        match self.add_in_place(&key, &additions)? {
            Some(done) => Ok(done),
            None => self.written(key, Change::Add, Payload::Additions(Box::new(additions))),
        }
    }

    /// Adds inside the transaction, if nothing but the entity's own row depends on the slots; `None` if something may.
    pub(crate) fn add_in_place(&self, key: &Key<E>, additions: &Additions<E>) -> Result<Option<ETag>> {
        let tables = std::slice::from_ref(self.dynamic());
        let added = self.with_addition(key, additions, |plan| carry_out(tables, plan, &SealedAt::NOTHING))?;
        added.map_or(Ok(None), |done| Self::after_addition(key, done))
    }

    /// Returns what `run` makes of the plan that adds inside the transaction; `None` if something else may depend on the slots.
    pub(crate) fn with_addition<T>(
        &self,
        key: &Key<E>,
        additions: &Additions<E>,
        run: impl FnOnce(&Plan<'_>) -> T,
    ) -> Result<Option<T>> {
        let done = additions.check().and_then(|()| self.add_apart(key, additions, run));
        done.map_err(|error| place(error, key))
    }

    /// Returns the version that an addition has written; `None` if the entity has to be read for it.
    pub(crate) fn after_addition(key: &Key<E>, done: Result<Committed, Failure>) -> Result<Option<ETag>> {
        match done {
            Ok(committed) => Ok(Some(committed.etag(0))),
            // An index began to be made, or the row is of a previous version: reading finds out which.
            Err(failure) if failure.was_stale || failure.error.kind() == ErrorKind::SchemaMismatch => {
                Ok(None)
            }
            Err(failure) => Err(place(failure.error, key)),
        }
    }

    fn add_apart<T>(
        &self,
        key: &Key<E>,
        additions: &Additions<E>,
        run: impl FnOnce(&Plan<'_>) -> T,
    ) -> Result<Option<T>> {
        let (schema, table, all) = (E::SCHEMA, self.dynamic(), &*additions.all);
        let may = table.exec().store().abilities().additions;
        if !may || all.is_empty() || !all.iter().all(|one| is_apart(schema, one.field)) {
            return Ok(None);
        }
        let index_mask = driver::index_mask(Together::alone(table), schema, true)?;
        if index_mask.backfills() {
            return Ok(None);
        }
        let own = |one: &One<E>| {
            let field = schema.fields.get(one.field)?;
            Some(OwnAdd { property: field.property, absent: field.absent, by: one.by, added: one.added })
        };
        let own: Arc<[OwnAdd]> = all.iter().filter_map(own).collect();
        let (partition, row) = key.as_strs()?;
        let addition = Addition { key: row, amounts: Amounts::own(schema, own), of: 0 };
        let epochs: OneOrMore<Epoch> = Epoch { kind: schema.kind, number: index_mask.epoch }.into();
        let group = Group { additions: vec![addition], epochs, ..Group::new(partition, Vec::new()) };
        Ok(Some(run(&Plan { groups: group.into(), ..Plan::default() })))
    }
}

/// Says of which entity an error is. An executor need not know of whose row it speaks.
#[cold]
fn place<E: Entity>(error: Error, key: &Key<E>) -> Error {
    let error = error.attempted("add to").table(E::SCHEMA.table());
    match key.as_strs() {
        Ok((partition, row)) => error.partition(partition).row(row),
        Err(_) => error,
    }
}

/// Returns whether nothing but the entity's own row depends on a field, and that row can be written without being read as the
/// entity.
fn is_apart(schema: &'static Schema, field: usize) -> bool {
    let of_index = |(at, index): (usize, &schema::Index)| {
        let counts = |summary: schema::Summary| {
            summary.sums.iter().any(|sum| match sum.of {
                SumOf::Count => false,
                SumOf::CountWhen => true,
                SumOf::Field(summed) => summed == field,
            })
        };
        !index.sparse
            && !index.is_eventual()
            && !index.is_elsewhere()
            && match index.summary {
                Some(summary) => !counts(summary),
                None => !holds(schema, Some(at), field),
            }
    };
    !schema.signed
        && !schema.is_wide()
        && !schema.seals()
        && schema.previous.is_none()
        && schema.version == 1
        && schema.summary_of.is_none()
        && schema.indexes.iter().enumerate().all(of_index)
}
