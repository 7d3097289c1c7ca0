//! Changes of one entity by itself, in its table or in that of its period: what comes back of them.

use std::sync::atomic::{AtomicBool, Ordering};

use super::attempt::Attempt;
use super::entity_attempt::EntityAttempt;
use super::entity_images::{ImagesOf, TypedImages};
use super::{Change, Closure, Payload, driver};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::ATTEMPTS;
use crate::handle::table::DynamicTable;
use crate::model::ETag;
use crate::typed::entity::Entity;
use crate::typed::entity::stored::Stored;
use crate::typed::read::key::Key;

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
    Err(last
        .unwrap_or_else(|| nothing(table))
        .because(format!("others have added and deleted the entity {ATTEMPTS} times in a row")))
}
