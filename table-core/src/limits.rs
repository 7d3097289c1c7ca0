//! The service's limits, each with the reason it stands here.
//!
//! Everything that the embedded store accepts, Azure Table storage accepts too: so these are the service's
//! numbers, not LMDB's. The one number that is this store's alone is [`KEY_PAIR_BYTES`].

/// Most properties of the caller's that one entity may have. The service allows 255 and counts
/// `PartitionKey`, `RowKey` and `Timestamp` among them.
pub const PROPERTIES: usize = 252;

/// Longest partition key or row key, in UTF-16 code units.
///
/// The service's pages disagree: one says 1 KiB, which is 512 units, another 1,024 characters. This is what holds by either,
/// so a key of 513 to 1,024 units is refused here, which the service may take, and none is taken here that it refuses.
///
/// The code of [`KeyTooLong`](crate::ErrorKind::KeyTooLong) is `PropertyValueTooLarge` at every length: so the service is
/// known to answer to a key of 2,048 characters. Its lists of codes have a `KeyValueTooLarge` too, of which no answer is
/// known.
pub const KEY_UNITS: usize = 512;

/// Longest partition key and row key together, in bytes of their stored form.
///
/// LMDB takes keys of 1,982 bytes; four go to the table's number and one to the separator.
/// A pair of keys in ASCII always fits.
pub const KEY_PAIR_BYTES: usize = 1_977;

/// Longest property name, in UTF-16 code units.
pub const NAME_UNITS: usize = 255;

/// Longest string value, in UTF-16 code units (64 KiB).
pub const STRING_UNITS: usize = 32_768;

/// Longest binary value, in bytes.
pub const BINARY_BYTES: usize = 65_536;

/// Largest entity, as [`DynamicEntity::size`](crate::DynamicEntity::size) counts it.
pub const ENTITY_BYTES: usize = 1_048_576;

/// Most operations in one batch (entity group transaction).
pub const BATCH_OPERATIONS: usize = 100;

/// The body of the request that a batch would be must stay below this, in bytes.
///
/// It has another measure than [`ENTITY_BYTES`]: what crosses the wire, and not what is stored. A text counts as its
/// UTF-8, and the characters that JSON escapes as they are escaped; binary values count as base64, four bytes for three;
/// a name counts once, and once more with the name of the type where JSON says no type (all but String, Boolean and
/// Int32); a number, a time and a UUID count as the longest text of their type; a key counts where the operation has it:
/// in the properties, unless it deletes, and percent-encoded in the address, unless it inserts. Each operation has 600
/// bytes and the table's name besides, for boundaries, headers and address, and the batch 300: as much as the clients in
/// use write at the most. So the count is an estimate that is rather too large than too small.
///
/// A hundred texts of 21,100 ASCII characters fit into a batch; a hundred of 20,000 Chinese ones, which take 60,000 bytes
/// each, and 99 binary values of 40,000 bytes, which take 53,336, do not.
pub const BATCH_BYTES: usize = 4 * 1_048_576;

/// Most entities in one page of a query.
pub const PAGE_ENTITIES: usize = 1_000;

/// Shortest table name, in characters.
pub const TABLE_NAME_MIN: usize = 3;

/// Longest table name, in characters.
pub const TABLE_NAME_MAX: usize = 63;

/// Deepest nesting of a filter. The service gives no number; this one keeps evaluation off the end of the
/// stack whatever text arrives.
pub const FILTER_DEPTH: usize = 64;
