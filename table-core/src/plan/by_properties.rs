//! Writes by properties of any names.

use super::content::RowProperty;
use super::row_write::{Act, Condition, Content, RowWrite};
use crate::model::{DynamicEntity, IfMatch, Name, Value};

/// What is to be done with an entity whose properties have been [borrowed]; `of` is its place among the operations.
pub(crate) fn write<'a>(
    (condition, act): (Condition, Act<()>),
    entity: &'a DynamicEntity,
    properties: &'a [RowProperty<'a>],
    of: usize,
) -> RowWrite<'a> {
    let content = Content::Properties(properties);
    let act = match act {
        Act::Keep => Act::Keep,
        Act::Put(()) => Act::Put(content),
        Act::Merge(()) => Act::Merge(content),
        Act::Remove => Act::Remove,
    };
    RowWrite { key: entity.row_key(), condition, act, kind: None, of }
}

/// The removal of a row.
pub(crate) fn removal(row: &str, condition: IfMatch, of: usize) -> RowWrite<'_> {
    RowWrite { key: row, condition: condition.into(), act: Act::Remove, kind: None, of }
}

/// Properties that somebody owns, as an operation takes them.
pub(crate) fn borrowed(properties: &[(Name, Value)]) -> Vec<RowProperty<'_>> {
    properties.iter().map(|(name, value)| (&**name, value.as_value_ref())).collect()
}
