//! Texts and the entities that they say.

mod layouts;
mod mistakes;
mod pairs;
mod random;

use super::{Metadata, Reader, Writer};
use crate::model::{DynamicEntity, ETag, Ticks};

/// The text of an entity, by itself.
fn written(writer: &Writer, entity: &DynamicEntity) -> String {
    let mut out = Vec::new();
    writer.entity(entity, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Checks that two entities are the same, with their versions and the order of their properties.
fn assert_same(read: &DynamicEntity, expected: &DynamicEntity) {
    assert_eq!(read, expected);
    assert_eq!(read.etag(), expected.etag());
    let names =
        |entity: &DynamicEntity| entity.properties().map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
    assert_eq!(names(read), names(expected));
}

/// The entity with a version, as if a store had given it.
fn stored(entity: &DynamicEntity, time: &str) -> DynamicEntity {
    let time: Ticks = time.parse().unwrap();
    let properties = entity.properties().map(|(name, value)| (name.into(), value.clone())).collect();
    let keys = [entity.partition_key(), entity.row_key()].map(str::to_owned);
    let [partition_key, row_key] = keys;
    DynamicEntity::of_parts(partition_key, row_key, Some(ETag::from_timestamp(time)), properties)
}
