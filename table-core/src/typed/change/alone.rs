//! Changes of one entity by itself, in its table or in that of its period: what comes back of them.

use std::sync::atomic::{AtomicBool, Ordering};

use super::Change;
use super::entity_attempt::EntityAttempt;
use crate::error::{Error, ErrorKind, Result};
use crate::model::ETag;
use crate::typed::entity::Entity;
use crate::typed::entity::stored::Stored;
use crate::typed::read::key::Key;

/// How often an entity is looked for and added that others add and delete meanwhile.
const ATTEMPTS: u32 = 64;

/// What a change has left of an entity in the table of this name.
pub(in crate::typed) fn stored<E>(table: &str, done: (ETag, Option<E>)) -> Result<Stored<E>> {
    match done {
        (etag, Some(entity)) => Ok(Stored::new(entity, etag)),
        // Changes that are made of what is stored leave what they made.
        (_, None) => Err(Error::new(ErrorKind::EntityNotFound).attempted("read from").table(table)),
    }
}

/// Has an update carried out by `commit`, unless its closure fails: then nothing is written, and what it returned comes
/// back.
pub(in crate::typed) fn update_unless_refused<E: Entity, X: From<Error>>(
    table: &str,
    key: Key<E>,
    mut change: impl FnMut(&mut E) -> Result<(), X>,
    commit: impl FnOnce(&mut EntityAttempt<'_, E>) -> Result<ETag>,
) -> Result<Stored<E>, X> {
    let (called_off, mut why) = (AtomicBool::new(false), None);
    let change = |entity: &mut E| {
        why = change(entity).err();
        called_off.store(why.is_some(), Ordering::Relaxed);
    };
    let mut attempt = EntityAttempt::new(key, Change::Update(Box::new(change))).unless(&called_off);
    let done = commit(&mut attempt);
    let new = attempt.take_new();
    drop(attempt);
    match (done, why) {
        (Err(_), Some(why)) => Err(why),
        (done, _) => Ok(stored(table, (done?, new))?),
    }
}

/// The entity that `get` finds, or else the one that `insert` adds: what is stored afterwards, by whomever.
pub(in crate::typed) fn get_or_insert<E>(
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
            // What is stored is read, whoever was quicker.
            inserted => last = inserted.err(),
        }
    }
    let gone = || Error::new(ErrorKind::EntityNotFound).attempted("read from").table(table);
    Err(last
        .unwrap_or_else(gone)
        .because(format!("others have added and deleted the entity {ATTEMPTS} times in a row")))
}
