//! The service's limits, and those that are the store's own.

/// Most properties that a caller may give an entity. The service allows 255 and counts
/// `PartitionKey`, `RowKey` and `Timestamp` among them.
pub const PROPERTIES: usize = 252;

/// Longest partition key or row key, in UTF-16 code units.
///
/// The service's pages disagree: one says 1 KiB, which is 512 units, another 1,024 characters. This is the smaller. A key
/// of 513 to 1,024 units is refused here, though the service may take it; no key is taken here that the service refuses.
///
/// The code of `ErrorKind::KeyTooLong` is `PropertyValueTooLarge` at every length: the service is known
/// to answer so to a key of 2,048 characters. Its lists of codes have a `KeyValueTooLarge` too, which no known answer has.
pub const KEY_UNITS: usize = 512;

/// Longest partition key and row key together, in bytes of their stored form.
///
/// LMDB takes keys of 1,982 bytes; at most four go to the table's number and one to the separator.
/// A pair of keys in ASCII always fits.
pub const KEY_PAIR_BYTES: usize = 1_977;

/// Longest property name, in UTF-16 code units.
pub const NAME_UNITS: usize = 255;

/// Longest string value, in UTF-16 code units (64 KiB).
pub const STRING_UNITS: usize = 32_768;

/// Longest binary value, in bytes.
pub const BINARY_BYTES: usize = 65_536;

/// Largest entity, as `DynamicEntity::size` counts it.
pub const ENTITY_BYTES: usize = 1_048_576;

/// Most operations in one batch (entity group transaction).
pub const BATCH_OPERATIONS: usize = 100;

/// The body of the request that a batch would be must stay below this, in bytes.
///
/// It measures the bytes on the wire, where [`ENTITY_BYTES`] measures those in storage:
///
/// - a text counts as its UTF-8, with JSON's escapes;
/// - a binary value counts as base64, four bytes for three;
/// - a name counts once, and once more with the name of the type where JSON says no type (all but String, Boolean and
///   Int32);
/// - a number, a time and a UUID count as the longest text of their type;
/// - a key counts where the operation has it: in the properties, unless it deletes, and percent-encoded in the address,
///   unless it inserts;
/// - each operation has 600 bytes and the table's name besides, for boundaries, headers and address, and the batch 300: as
///   much as the clients in use write at the most.
///
/// So the count is an estimate, and rather too large than too small.
///
/// A hundred texts of 21,100 ASCII characters fit into a batch; a hundred of 20,000 Chinese ones, which take 60,000 bytes
/// each, and 99 binary values of 40,000 bytes, which take 53,336, do not.
pub const BATCH_BYTES: usize = 4 * 1_048_576;

/// Most rows that a store transaction writes, the entities' own and their copies.
pub const TRANSACTION_ROWS: usize = 10_000;

/// What the rows come to that a store transaction writes must stay below this, in bytes as [`BATCH_BYTES`] has them.
pub const TRANSACTION_BYTES: usize = 64 * 1_048_576;

/// Most entities in one page of a query.
pub const PAGE_ENTITIES: usize = 1_000;

/// Shortest table name, in characters.
pub const TABLE_NAME_MIN: usize = 3;

/// Longest table name, in characters.
pub const TABLE_NAME_MAX: usize = 63;

/// Deepest nesting of a filter. The service gives no number; this one keeps evaluation off the end of the
/// stack, whatever text arrives.
pub const FILTER_DEPTH: usize = 64;

/// The most bytes of a message in a queue, as JSON.
pub const MESSAGE_BYTES: usize = 64 * 1024;

/// The longest that a message may be hidden at a time.
pub const MESSAGE_HIDDEN: std::time::Duration = std::time::Duration::from_secs(7 * 24 * 60 * 60);

/// The most bytes of a blob's name.
pub const BLOB_NAME_BYTES: usize = 1_024;

/// The most bytes of blobs that one transaction brings. What is larger is uploaded in stages.
pub const BLOB_AT_ONCE: usize = 4 * 1_048_576;
