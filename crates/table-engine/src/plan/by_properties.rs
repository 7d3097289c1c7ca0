//! Writes by properties of any names.

use super::content::RowProperty;
use super::row_write::{Act, Condition, Content, RowWrite};
use crate::model::{DynamicEntity, IfMatch, Name, Value};

/// Returns the write of an entity whose properties have been [borrowed]; `of` is its place among the operations.
pub(crate) fn write<'a>(
    condition: Condition,
    act: Act<()>,
    entity: &'a DynamicEntity,
    properties: &'a [RowProperty<'a>],
    of: usize,
) -> RowWrite<'a> {
    RowWrite { key: entity.row_key(), condition, act: with_properties(act, properties), kind: None, of }
}

/// Returns what is done with these properties.
pub(crate) fn with_properties<'a>(act: Act<()>, properties: &'a [RowProperty<'a>]) -> Act<Content<'a>> {
    let content = Content::Properties(properties);
    match act {
        Act::Keep => Act::Keep,
        Act::Put(()) => Act::Put(content),
        Act::Merge(()) => Act::Merge(content),
        Act::Remove => Act::Remove,
    }
}

/// Returns the removal of a row.
pub(crate) fn removal(row: &str, condition: IfMatch, of: usize) -> RowWrite<'_> {
    RowWrite { key: row, condition: condition.into(), act: Act::Remove, kind: None, of }
}

/// Borrows properties, as an operation takes them.
pub fn borrowed(properties: &[(Name, Value)]) -> Vec<RowProperty<'_>> {
    properties.iter().map(|(name, value)| (&**name, value.as_value_ref())).collect()
}

/// The five ways to write an entity by its properties, each as a condition and an act; `$carry_out` says what becomes of
/// them. Tables and batches have the same.
macro_rules! writes_of_entities {
    ($this:ty, $entity:ty => $carry_out:ident -> $done:ty) => {
        /// Adds an entity; fails if there is one of its keys.
        pub fn insert(self: $this, entity: $entity) -> $done {
            self.$carry_out($crate::plan::Condition::Absent, $crate::plan::Act::Put(()), entity)
        }

        /// Puts an entity in the place of the one there: properties that it lacks are gone. Fails if there is none.
        pub fn replace(self: $this, entity: $entity, condition: impl $crate::model::IntoIfMatch) -> $done {
            let condition = $crate::plan::Condition::from(condition.into());
            self.$carry_out(condition, $crate::plan::Act::Put(()), entity)
        }

        /// Sets the given properties of the entity there and leaves its others alone. Fails if there is none.
        pub fn merge(self: $this, entity: $entity, condition: impl $crate::model::IntoIfMatch) -> $done {
            let condition = $crate::plan::Condition::from(condition.into());
            self.$carry_out(condition, $crate::plan::Act::Merge(()), entity)
        }

        /// Adds an entity, or puts it in the place of the one there.
        pub fn put(self: $this, entity: $entity) -> $done {
            self.$carry_out($crate::plan::Condition::Any, $crate::plan::Act::Put(()), entity)
        }

        /// Adds an entity, or sets its properties on the one there.
        pub fn insert_or_merge(self: $this, entity: $entity) -> $done {
            self.$carry_out($crate::plan::Condition::Any, $crate::plan::Act::Merge(()), entity)
        }
    };
}
pub(crate) use writes_of_entities;
