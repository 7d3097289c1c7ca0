//! Entries of the outbox as rows: beside the entity, under keys that begin as no entity's do.

use table_engine::__executor::{OutboxEntry, Source};
use table_engine::outbox::OutboxRecord;
use table_engine::{DynamicEntity, ETag, Error, ErrorKind, Result, Ticks, Value, limits};

use super::super::marks;
use super::super::table::TableEntry;

/// What the row keys of entries begin with; the entity's row key follows.
pub(super) const PREFIX: &str = "TcOutbox~";
/// The first row key behind all of those.
pub(super) const BEHIND: &str = "TcOutbox\u{7f}";
/// What the row keys of entities' versions begin with.
pub(super) const VERSION_PREFIX: &str = "TcVersion~";

/// The property with the bytes of an entry; more of them are numbered on.
const BYTES: &str = "TcEntry";
/// How many bytes a property has at most.
const CHUNK: usize = 60_000;
/// How many properties of bytes an entry has at most: a row has room for a mebibyte.
const CHUNKS: usize = 14;

/// Returns the row key of the entry of an entity.
pub(super) fn key(row: &str) -> Result<String> {
    printed(PREFIX, row)
}

/// Returns the row key of the version of an entity.
pub(super) fn version_key(row: &str) -> Result<String> {
    printed(VERSION_PREFIX, row)
}

fn printed(prefix: &str, row: &str) -> Result<String> {
    let key = format!("{prefix}{row}");
    if key.encode_utf16().count() <= limits::KEY_UNITS {
        return Ok(key);
    }
    let because = format!(
        "its copies follow later, which is noted under its row key with `{prefix}` before it: that is longer than {} UTF-16 units",
        limits::KEY_UNITS
    );
    Err(Error::new(ErrorKind::KeyTooLong).because(because))
}

/// Returns the row of an entry, of this version of the entity.
pub(super) fn row(partition: &str, key: &str, record: &OutboxRecord, version: i64) -> Result<DynamicEntity> {
    let bytes = record.encode();
    if bytes.len() > CHUNK * CHUNKS {
        let because = "its copies have not followed for so long that the note of where they lie has no room for more: see \
                       `pending_propagation`";
        return Err(Error::new(ErrorKind::EntityTooLarge).because(because));
    }
    let mut row =
        DynamicEntity::new(partition, key).with(marks::ROW, marks::OUTBOX).with(marks::VERSION, version);
    for (at, chunk) in bytes.chunks(CHUNK).enumerate() {
        row.set(&format!("{BYTES}{at}"), Value::Binary(chunk.to_vec()));
    }
    Ok(row)
}

/// Reads what the row of an entry says.
pub(super) fn record(row: &DynamicEntity) -> Result<OutboxRecord> {
    let chunks = (0..CHUNKS).map_while(|at| row.get(&format!("{BYTES}{at}")).and_then(Value::as_bytes));
    OutboxRecord::decode(&chunks.collect::<Vec<_>>().concat()).ok_or_else(|| damaged(row))
}

/// Returns the version of the entity that a row of the outbox is of.
pub(super) fn version(row: &DynamicEntity) -> Result<i64> {
    marks::number(row, marks::VERSION).ok_or_else(|| damaged(row))
}

/// Returns the entry that a row is.
pub(super) fn read(table: &TableEntry, row: &DynamicEntity) -> Result<OutboxEntry> {
    in_version(table, row, row.etag().ok_or_else(|| damaged(row))?)
}

fn in_version(table: &TableEntry, row: &DynamicEntity, etag: ETag) -> Result<OutboxEntry> {
    let record = record(row)?;
    let of = row.row_key().strip_prefix(PREFIX).ok_or_else(|| damaged(row))?;
    let source = Source { table: table.id(), partition: row.partition_key().to_owned(), row: of.to_owned() };
    Ok(OutboxEntry::new(source, Some(table.name().to_owned()), etag.timestamp().get(), record))
}

/// Returns the version that a change gives its entity, behind the one that it had: a time, so that it lies behind that of an
/// entity whose version is kept no more.
pub(super) fn next_version(last: Option<i64>) -> i64 {
    let now = i64::try_from(Ticks::now().get()).unwrap_or(i64::MAX);
    last.map_or(now, |last| now.max(last.saturating_add(1)))
}

#[cold]
fn damaged(row: &DynamicEntity) -> Error {
    let because = format!(
        "the row `{}` should note which copies follow, and can't be read",
        row.row_key().escape_debug()
    );
    Error::new(ErrorKind::Corrupt).because(because)
}

#[cfg(test)]
mod tests {
    use super::*;
    use table_engine::__executor::CopyKey;

    #[test]
    fn an_entry_is_read_as_it_is_written_also_a_long_one() {
        let now = Ticks::now();
        let mut record = OutboxRecord::new("employee", now);
        let keys = |count: usize| {
            let key =
                |at| CopyKey { index: "by_name".into(), partition: "p".repeat(500), row: format!("{at}") };
            (0..count).map(key).collect::<Vec<_>>()
        };
        record.take("employee", &keys(500), &["by_badge"], now);
        let written = row("Sales", &key("empid_000001").unwrap(), &record, 7).unwrap();
        assert!(written.properties().count() > 4);
        let table = TableEntry::new("Company", "Company".into(), 3);
        let entry = in_version(&table, &written, ETag::from_timestamp(now)).unwrap();
        assert_eq!(
            (entry.source.table, &*entry.source.partition, &*entry.source.row),
            (3, "Sales", "empid_000001")
        );
        assert_eq!((entry.version, &entry.before), (now.get(), &record.before));
        assert_eq!(version(&written).unwrap(), 7);
        record.take("employee", &keys(2_000), &[], now);
        assert_eq!(row("Sales", "k", &record, 8).unwrap_err().kind(), ErrorKind::EntityTooLarge);
    }

    #[test]
    fn what_is_no_entry_is_damaged() {
        let row = DynamicEntity::new("Sales", "TcOutbox~a").with("TcEntry0", Value::Binary(vec![1, 2, 3]));
        assert_eq!(record(&row).unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(version(&row).unwrap_err().kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn a_row_key_without_room_for_the_prefix_is_refused() {
        assert_eq!(key("a").unwrap(), "TcOutbox~a");
        assert_eq!(version_key(&"a".repeat(limits::KEY_UNITS)).unwrap_err().kind(), ErrorKind::KeyTooLong);
    }

    #[test]
    fn versions_grow_whatever_the_clock_says() {
        let first = next_version(None);
        assert!(next_version(Some(first)) > first);
        assert_eq!(next_version(Some(i64::MAX - 1)), i64::MAX);
    }
}
