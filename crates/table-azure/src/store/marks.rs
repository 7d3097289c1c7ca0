//! Properties and rows of this store's own beside those of entities: no read shows them.

use table_engine::row::DIGEST as DIGEST_BYTES;
use table_engine::{DynamicEntity, Error, ErrorKind, Result, Value};

use super::rings;

/// The property of a row that is none of an entity's: it says what the row is.
pub(super) const ROW: &str = "TcRow";
/// The property with the version of the entity that a row is of, a number that grows with each change.
pub(super) const VERSION: &str = "TcVersion";
/// The property with the entity that a copy is of.
pub(super) const SOURCE: &str = "TcSource";
/// The property with the time of the entity's change that a copy is as of.
pub(super) const AS_OF: &str = "TcAsOf";
/// The property with the keyed digest of a row that is signed.
pub(super) const DIGEST: &str = "TcDigest";

/// The row says which copies of an entity are to follow.
pub(super) const OUTBOX: &str = "outbox";
/// The row says which version an entity has, or had when it was deleted.
pub(super) const ENTITY_VERSION: &str = "version";
/// The row lies where a copy was.
pub(super) const TOMBSTONE: &str = "tombstone";

/// The properties that no read shows.
pub(super) const PROPERTIES: [&str; 6] = [rings::PROPERTY, ROW, VERSION, SOURCE, AS_OF, DIGEST];

/// Returns whether a property is one of those that no read shows.
pub(super) fn is_own(property: &str) -> bool {
    PROPERTIES.contains(&property)
}

/// Returns what a row is that is none of an entity's.
pub(super) fn row_of(row: &DynamicEntity) -> Option<&str> {
    row.get(ROW).and_then(Value::as_str)
}

/// Returns whether a row is signed.
pub(super) fn is_signed(row: &DynamicEntity) -> bool {
    row.get(DIGEST).is_some()
}

/// Returns the keyed digest of a row, if it is signed.
pub(super) fn digest(row: &DynamicEntity) -> Result<Option<[u8; DIGEST_BYTES]>> {
    let Some(digest) = row.get(DIGEST) else { return Ok(None) };
    let digest = digest.as_bytes().and_then(|bytes| bytes.try_into().ok());
    digest.map(Some).ok_or_else(|| {
        let because = "the row's keyed digest is none: somebody without the store's keys changed the row";
        let error = Error::new(ErrorKind::NotGenuine).because(because);
        error.partition(row.partition_key()).row(row.row_key())
    })
}

/// Returns a number of a row.
pub(super) fn number(row: &DynamicEntity, property: &str) -> Option<i64> {
    row.get(property).and_then(Value::as_i64)
}
