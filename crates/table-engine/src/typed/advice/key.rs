//! Advice on keys, which an entity's own functions make.

use super::Never;
use crate::typed::read::key::{Key, Partition};

impl<E> Key<E> {
    #[doc(hidden)]
    pub fn new<P, R>(_: P, _: R) -> Self
    where
        E: KeyOfTexts,
    {
        match E::NEVER {}
    }
}

impl<E> Partition<E> {
    #[doc(hidden)]
    pub fn new<P>(_: P) -> Self
    where
        E: PartitionOfText,
    {
        match E::NEVER {}
    }
}

/// What no entity is, so that the compiler says how a key is made.
#[diagnostic::on_unimplemented(
    message = "a key is made of the fields that stand in it, by a function of the entity",
    label = "write `{Self}::key(..)`, or `Key::of(&entity)`",
    note = "`table.dynamic()` reads by the texts of keys"
)]
pub trait KeyOfTexts: Never {}

/// What no entity is, so that the compiler says how a partition is named.
#[diagnostic::on_unimplemented(
    message = "a partition is named by the fields that stand in its key, by a function of the entity",
    label = "write `{Self}::partition(..)`"
)]
pub trait PartitionOfText: Never {}
