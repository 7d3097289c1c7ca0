//! Advice on sets, whose entities are written by their types.

use super::Never;
use crate::error::Result;
use crate::model::ETag;
use crate::typed::set::{EntitySet, SetTable};

impl<Set: EntitySet> SetTable<Set> {
    #[doc(hidden)]
    pub fn insert<V>(&self, _: V) -> Result<ETag>
    where
        Set: WritesOneKind,
    {
        match Set::NEVER {}
    }

    #[doc(hidden)]
    pub fn put<V>(&self, _: V) -> Result<ETag>
    where
        Set: WritesOneKind,
    {
        match Set::NEVER {}
    }

    #[doc(hidden)]
    pub fn replace<V, C>(&self, _: V, _: C) -> Result<ETag>
    where
        Set: WritesOneKind,
    {
        match Set::NEVER {}
    }

    #[doc(hidden)]
    pub fn update<K, F>(&self, _: K, _: F) -> Result<ETag>
    where
        Set: WritesOneKind,
    {
        match Set::NEVER {}
    }

    #[doc(hidden)]
    pub fn delete<K>(&self, _: K) -> Result<()>
    where
        Set: WritesOneKind,
    {
        match Set::NEVER {}
    }
}

/// What no set is, so that the compiler says where an entity of it is written.
#[diagnostic::on_unimplemented(
    message = "a set is written by the types of its entities",
    label = "write one by its own table, which `store.table::<..>()?` gives; or several by `.egt(partition)`, in the place of this, and `.commit()?`",
    note = "`insert_any`, `put_any`, `merge_any` and `delete_any` write by keys and properties, of whichever kind"
)]
pub trait WritesOneKind: Never {}
