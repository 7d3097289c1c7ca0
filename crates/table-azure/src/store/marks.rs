//! Properties and rows of this store's own beside those of entities: no read shows them.

use table_engine::{DynamicEntity, Value};

use super::rings;

/// The property of a row that is none of an entity's: it says what the row is.
pub(super) const ROW: &str = "TcRow";
/// The property with the version of the entity that a row is of, a number that grows with each change.
pub(super) const VERSION: &str = "TcVersion";
/// The property with the entity that a copy is of.
pub(super) const SOURCE: &str = "TcSource";
/// The property with the time of the entity's change that a copy is as of.
pub(super) const AS_OF: &str = "TcAsOf";

/// The row says which copies of an entity are to follow.
pub(super) const OUTBOX: &str = "outbox";
/// The row says which version an entity has, or had when it was deleted.
pub(super) const ENTITY_VERSION: &str = "version";
/// The row lies where a copy was.
pub(super) const TOMBSTONE: &str = "tombstone";

/// The properties that no read shows.
pub(super) const PROPERTIES: [&str; 5] = [rings::PROPERTY, ROW, VERSION, SOURCE, AS_OF];

/// Returns whether a property is one of those that no read shows.
pub(super) fn is_own(property: &str) -> bool {
    PROPERTIES.contains(&property)
}

/// Returns what a row is that is none of an entity's.
pub(super) fn row_of(row: &DynamicEntity) -> Option<&str> {
    row.get(ROW).and_then(Value::as_str)
}

/// Returns a number of a row.
pub(super) fn number(row: &DynamicEntity, property: &str) -> Option<i64> {
    row.get(property).and_then(Value::as_i64)
}
