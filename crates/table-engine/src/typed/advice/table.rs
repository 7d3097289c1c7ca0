//! Advice on tables: calls that other libraries have by these names.

use super::Never;
use crate::error::Result;
use crate::handle::bulk::BulkReport;
use crate::model::ETag;
use crate::typed::entity::Entity;
use crate::typed::table::Table;

impl<E: Entity> Table<E> {
    #[doc(hidden)]
    pub fn get_all<K>(&self, _: K) -> Result<()>
    where
        E: ReadAllAtOnce,
    {
        match E::NEVER {}
    }

    #[doc(hidden)]
    pub fn remove<K>(&self, _: K) -> Result<()>
    where
        E: Removed,
    {
        match E::NEVER {}
    }

    #[doc(hidden)]
    pub fn upsert<V>(&self, _: V) -> Result<ETag>
    where
        E: Upserted,
    {
        match E::NEVER {}
    }

    #[doc(hidden)]
    pub fn insert_many<V>(&self, _: V) -> Result<BulkReport>
    where
        E: ManyInserted,
    {
        match E::NEVER {}
    }

    #[doc(hidden)]
    pub fn join<Rows, K, T>(&self, _: Rows, _: K) -> T
    where
        E: JoinedNow,
    {
        match E::NEVER {}
    }
}

/// What no entity is, so that the compiler speaks of `get_all`.
#[diagnostic::on_unimplemented(
    message = "a table has no `get_all`",
    label = "write `get_many(keys)` for several entities, `rows()` for those of a partition, `all()` for every one"
)]
pub trait ReadAllAtOnce: Never {}

/// What no entity is, so that the compiler speaks of `remove`.
#[diagnostic::on_unimplemented(
    message = "a table has no `remove`",
    label = "write `delete(key)`, or `delete_if(key, etag)` with the `ETag` of what was read"
)]
pub trait Removed: Never {}

/// What no entity is, so that the compiler speaks of `upsert`.
#[diagnostic::on_unimplemented(
    message = "a table has no `upsert`",
    label = "write `put(&entity)`, which adds it or puts it in the place of the one there; `insert` fails if there is one"
)]
pub trait Upserted: Never {}

/// What no entity is, so that the compiler speaks of `insert_many`.
#[diagnostic::on_unimplemented(
    message = "a table has no `insert_many`",
    label = "write `bulk_insert(entities)?`, whose report says which could not be added; for all or none, `store.transaction()`"
)]
pub trait ManyInserted: Never {}

/// What no entity is, so that the compiler says that a join is of one moment.
#[diagnostic::on_unimplemented(
    message = "tables are joined as they are in a snapshot",
    label = "write `.at(&snapshot)` before this, with `let snapshot = store.snapshot()?;`, and read the rows `.at(&snapshot)` too"
)]
pub trait JoinedNow: Never {}
