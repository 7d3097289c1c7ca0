//! Changes of entities: what is stored is read, the changed entity is made of it, and the rows of both are planned.
//!
//! Here is what a change asks for, and the change of one entity by itself.

pub(crate) mod attempt;
#[cfg(feature = "async")]
pub(crate) mod awaited;
pub(crate) mod before;
pub(crate) mod copied_fields;
pub(crate) mod derive;
pub(crate) mod driver;
pub(crate) mod egt;
pub(crate) mod entity_attempt;
pub(crate) mod entity_images;
pub(crate) mod layout_images;
#[cfg(test)]
mod model_tests;
pub(crate) mod plan_only;
pub(crate) mod queue_ops;
mod read_set;
#[cfg(feature = "access")]
mod restricted;
pub(crate) mod several;
#[cfg(test)]
mod tests;
pub(crate) mod transaction;

use std::sync::atomic::{AtomicBool, Ordering};

use self::attempt::Attempt;
use self::entity_attempt::EntityAttempt;
use self::entity_images::{ImagesOf, TypedImages};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::ATTEMPTS;
#[cfg(feature = "access")]
use crate::executor::Rights;
use crate::handle::table::DynamicTable;
use crate::model::{DynamicEntity, ETag, IfMatch};
use crate::plan::Values;
use crate::schema::Schema;
use crate::typed::entity::Entity;
use crate::typed::entity::stored::Stored;
use crate::typed::read::key::Key;

/// The error of a closure that may refuse a change. The store's own errors convert to it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the error of a change that may be refused",
    label = "the store's own error has to fit in it",
    note = "write `Err(Box::from(\"..\"))` and `try_update::<Box<dyn std::error::Error>>(..)`, or give an error of yours with `impl From<table_core::Error>`"
)]
pub trait Refusal: From<Error> {}

#[diagnostic::do_not_recommend]
impl<X: From<Error>> Refusal for X {}

/// A user's closure. It need not be `Send`: a caller's closure may borrow what can't be sent to another thread.
pub(crate) type Closure<'c, E> = dyn FnMut(&mut E) + 'c;

/// A user's closure that may run on any thread.
#[cfg(feature = "async")]
pub(crate) type SendClosure<'c, E> = dyn FnMut(&mut E) + Send + 'c;

/// Additions to an entity. Most kinds have nothing that can be added to, and are not compiled for it.
pub(crate) trait Add<E> {
    /// Refuses what no entity could take.
    fn check(&self) -> Result<()>;

    /// Adds to an entity that was read.
    fn apply(&self, entity: &mut E) -> Result<()>;
}

/// What is to become of an entity. The part of a change that depends on the entity's type is its [`Payload`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change<'c> {
    /// It is added; there must be none.
    Insert,
    /// It is added, or takes the place of the one there.
    Put,
    /// It takes the place of the one there.
    Replace(IfMatch),
    /// The one there takes over what the patch sets.
    Merge(IfMatch),
    /// The one there takes over these properties, which are of fields outside its key.
    Set(&'c DynamicEntity, IfMatch),
    /// The one there is changed, and keeps its key.
    Update,
    /// The one there has these numbers added to slots of its series.
    Add,
    /// The one there is changed, and may get another row key.
    Move,
    /// The one there goes.
    Delete(IfMatch),
    /// The sealed values of the one there are sealed with the keys that are current now: the entity stays as it is, and
    /// of its version.
    #[cfg(feature = "encrypt")]
    Reseal,
    /// The copies of the one there in this index are added: the entity stays as it is.
    Backfill(usize),
    /// The rows of the one there are written as they would be written today: it stays as it is, and of its version. One that
    /// is of a previous version of its struct is converted.
    Rewrite,
    /// The copies of the one there are put where they are to be, whatever is there: the entity stays as it is.
    RepairCopies,
}

/// The part of a [`Change`] that depends on the entity's type; `F` is the closure that changes an entity.
pub(crate) enum Payload<'c, E: Entity, F: ?Sized = Closure<'c, E>> {
    /// The change needs only what is stored.
    Nothing,
    /// The whole entity, of [`Insert`](Change::Insert), [`Put`](Change::Put) and [`Replace`](Change::Replace).
    Entity(&'c E),
    /// What a [`Merge`](Change::Merge) sets.
    Patch(E::Patch),
    /// What an [`Update`](Change::Update) or a [`Move`](Change::Move) does to the entity.
    Closure(Box<F>),
    /// What an [`Add`](Change::Add) adds to slots.
    Additions(Box<dyn Add<E> + Send + 'c>),
}

impl Change<'_> {
    /// Returns what it does, as it follows "cannot " in an error.
    fn describe(self) -> &'static str {
        match self {
            Self::Insert => "insert into",
            Self::Put => "put into",
            Self::Replace(_) => "replace in",
            Self::Merge(_) | Self::Set(..) => "merge into",
            Self::Update => "update in",
            Self::Add => "add to",
            Self::Move => "move in",
            Self::Delete(_) => "delete from",
            #[cfg(feature = "encrypt")]
            Self::Reseal => "re-encrypt in",
            Self::Backfill(_) => "add copies to",
            Self::RepairCopies => "mend copies in",
            Self::Rewrite => "write anew in",
        }
    }

    /// Returns whether the change can be planned without what the entity has sealed.
    fn goes_unopened(self) -> bool {
        matches!(self, Self::Put | Self::Replace(_) | Self::Delete(_))
    }

    /// Returns whether the change brings the entity along.
    fn brings_entity(self) -> bool {
        matches!(self, Self::Insert | Self::Put | Self::Replace(_))
    }

    /// Returns whether the new entity is made of the stored one.
    fn makes_another(self) -> bool {
        matches!(self, Self::Merge(_) | Self::Set(..) | Self::Update | Self::Add | Self::Move)
    }

    /// Returns whether it only seals anew.
    #[cfg(feature = "encrypt")]
    fn reseals(self) -> bool {
        matches!(self, Self::Reseal)
    }

    #[cfg(not(feature = "encrypt"))]
    #[expect(clippy::unused_self, reason = "as it is with the feature")]
    fn reseals(self) -> bool {
        false
    }

    /// Returns whether the entity's own row stays as it is, and its copies alone are written.
    fn keeps_own(self) -> bool {
        matches!(self, Self::Backfill(_) | Self::RepairCopies)
    }

    /// Returns whether what is stored is to be read.
    fn reads(self) -> bool {
        !matches!(self, Self::Insert)
    }

    /// Returns the permissions that it takes; `None` of what only the store itself does.
    #[cfg(feature = "access")]
    fn rights(self) -> Option<Rights> {
        Some(match self {
            Self::Insert => Rights::ADD,
            Self::Put => Rights::ADD.and(Rights::UPDATE),
            Self::Replace(_) | Self::Set(..) | Self::Add => Rights::UPDATE,
            // They give the entity back, or show it to a closure.
            Self::Merge(_) | Self::Update => Rights::READ.and(Rights::UPDATE),
            Self::Move => Rights::ALL,
            Self::Delete(_) => Rights::DELETE,
            #[cfg(feature = "encrypt")]
            Self::Reseal => return None,
            Self::Backfill(_) | Self::RepairCopies | Self::Rewrite => return None,
        })
    }

    /// Returns the version that must be stored; `None` if there need be no entity.
    fn condition(self) -> Option<IfMatch> {
        match self {
            Self::Insert | Self::Put => None,
            Self::Replace(condition)
            | Self::Merge(condition)
            | Self::Set(_, condition)
            | Self::Delete(condition) => Some(condition),
            Self::Update | Self::Add | Self::Move => Some(IfMatch::Any),
            #[cfg(feature = "encrypt")]
            Self::Reseal => Some(IfMatch::Any),
            Self::Backfill(_) | Self::RepairCopies | Self::Rewrite => Some(IfMatch::Any),
        }
    }
}

/// Returns the fields of an entity; refuses a value that no property can hold.
#[allow(
    clippy::inline_always,
    reason = "in the unit of who calls it: `typed::entity::codegen_units` says why"
)]
#[cfg_attr(debug_assertions, inline(always))]
pub(crate) fn values_of<E: Entity>(entity: &E) -> Result<Values<'_>> {
    let mut values = Values::with_capacity(E::SCHEMA.fields.len());
    entity.values(&mut values);
    checked(E::SCHEMA, values)
}

/// Returns the values of an entity; refuses one that no property can hold.
fn checked<'v>(schema: &'static Schema, mut values: Values<'v>) -> Result<Values<'v>> {
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

/// Entities that are changed by themselves.
pub(crate) trait Changed: Entity {
    /// Carries out a change, and gives what it leaves of the entity.
    fn changed(
        table: &DynamicTable,
        key: Key<Self>,
        change: Change<'_>,
        payload: Payload<'_, Self>,
    ) -> Result<Stored<Self>> {
        let mut entities = Self::entities(payload);
        match driver::commit_one(table, key.into_keys(), change, &mut entities) {
            Ok(etag) => stored(table.name(), etag, TypedImages::made(entities)),
            Err(error) => Err(error),
        }
    }

    /// Returns the entities of a change that brings this along.
    fn entities(payload: Payload<'_, Self>) -> ImagesOf<'_, Self, Closure<'_, Self>> {
        TypedImages::of(payload)
    }

    /// Carries out a change of which no more is asked than the version that it has written.
    fn written(
        table: &DynamicTable,
        key: Key<Self>,
        change: Change<'_>,
        payload: Payload<'_, Self>,
    ) -> Result<ETag> {
        driver::commit_one(table, key.into_keys(), change, &mut Self::entities(payload))
    }
}

impl<E: Entity> Changed for E {}

/// Returns what a change has left of an entity in the table of this name.
#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
#[cfg_attr(debug_assertions, inline(always))]
pub(crate) fn stored<E>(table: &str, etag: ETag, entity: Option<E>) -> Result<Stored<E>> {
    match entity {
        Some(entity) => Ok(Stored::new(entity, etag)),
        // Changes that are made of what is stored leave what they made.
        None => Err(nothing(table)),
    }
}

#[cold]
fn nothing(table: &str) -> Error {
    Error::new(ErrorKind::EntityNotFound).attempted("read from").table(table)
}

/// Has an update carried out by `commit`, unless its closure fails: then nothing is written, and what it returned comes
/// back.
pub(crate) fn update_unless_refused<E: Entity, X: From<Error>>(
    table: &str,
    key: Key<E>,
    mut change: impl FnMut(&mut E) -> Result<(), X>,
    commit: &mut dyn FnMut(&mut dyn Attempt) -> Result<ETag>,
) -> Result<Stored<E>, X> {
    let (called_off, mut why) = (AtomicBool::new(false), None);
    let change = |entity: &mut E| {
        why = change(entity).err();
        called_off.store(why.is_some(), Ordering::Relaxed);
    };
    let mut entities = TypedImages::<E>::of(Payload::Closure(Box::new(change)));
    let mut attempt = EntityAttempt::lent(key.into_keys(), Change::Update, &mut entities).unless(&called_off);
    let done = commit(&mut attempt);
    drop(attempt);
    let new = TypedImages::made(entities);
    match (done, why) {
        (Err(_), Some(why)) => Err(why),
        (done, _) => Ok(stored(table, done?, new)?),
    }
}

/// Returns the entity that `get` finds. If it finds none, `insert` adds one, and what is stored then is read, whichever
/// writer was quicker.
pub(crate) fn get_or_insert<E>(
    table: &str,
    get: impl Fn() -> Result<Option<Stored<E>>>,
    insert: impl Fn() -> Result<ETag>,
) -> Result<Stored<E>> {
    let mut last = None;
    for _ in 0..ATTEMPTS {
        if let Some(found) = get()? {
            return Ok(found);
        }
        match insert() {
            Err(error) if error.kind() != ErrorKind::EntityAlreadyExists => return Err(error),
            // The next round reads what is stored: this entity, or that of a quicker writer.
            inserted => last = inserted.err(),
        }
    }
    Err(never_found(table, last))
}

/// Returns the error of an entity that others delete as often as it is added.
#[cold]
pub(crate) fn never_found(table: &str, last: Option<Error>) -> Error {
    let because = format!("others have added and deleted the entity {ATTEMPTS} times in a row");
    last.unwrap_or_else(|| nothing(table)).because(because)
}
