//! Digests of the small records, which prove that a record is not there.
//!
//! Small records have no neighbours that could prove it. Numbers of names are given without gaps, so their count is enough;
//! a reader that misses a table or a layout reads the group and compares. Groups are small and misses rare. A table's
//! record digest lies apart from its counts, which each commit rewrites.

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::fields::Fields;

use super::meta::{self, CHECKSUM, Record};
use crate::lmdb::{self, Db, WriteTxn};

/// The number of records in a group, and the sum of their checksums, modulo 2^64. A record's checksum depends on its key,
/// so records that come to the same sum are the very records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SetDigest {
    pub(crate) count: u32,
    pub(crate) digest: u64,
}

impl SetDigest {
    /// Bytes of a set digest in a record.
    pub(super) const BYTES: usize = 12;

    pub(crate) fn add(&mut self, record: &[u8]) {
        self.count = self.count.wrapping_add(1);
        self.digest = self.digest.wrapping_add(meta::checksum_of(record));
    }

    pub(crate) fn subtract(&mut self, record: &[u8]) {
        self.count = self.count.wrapping_sub(1);
        self.digest = self.digest.wrapping_sub(meta::checksum_of(record));
    }

    pub(super) fn push<const LENGTH: usize>(self, record: &mut Record<LENGTH>) {
        record.push(self.count.to_le_bytes());
        record.push(self.digest.to_le_bytes());
    }

    pub(super) fn take(body: &mut Fields<'_>) -> Option<Self> {
        Some(Self { count: body.u32()?, digest: body.u64()? })
    }

    /// Refuses records that are not those that were found.
    pub(crate) fn check(self, found: Self, what: &str) -> Result<()> {
        if self == found {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Corrupt).because(format!(
            "the store counts {} {what}, and {} were found, or not the same ones: a page of the store is damaged",
            self.count, found.count
        )))
    }
}

/// The set digests of a table's small records: rewritten when a record comes, and read when one is missed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordDigest {
    /// Names of properties with a number.
    pub(crate) names: u32,
    /// Texts of `EntityType` with a number.
    pub(crate) symbols: u32,
    /// Shapes of rows.
    pub(crate) shapes: u32,
    pub(crate) layouts: SetDigest,
    /// The checksum of the table's record in the catalog: an older one is not believed.
    pub(crate) catalog: u64,
    /// States of kinds, and jobs that were begun: a table that has had neither has no set digests of them.
    pub(crate) index_states: SetDigest,
    pub(crate) jobs: SetDigest,
    /// Service records.
    pub(crate) service: SetDigest,
}

const BYTES: usize = 4 + 4 + 4 + SetDigest::BYTES + 8;
const LONG: usize = BYTES + 2 * SetDigest::BYTES;
/// With service records.
const LONGEST: usize = LONG + SetDigest::BYTES;

impl RecordDigest {
    /// Reads the record digest of a table, which has one from its creation on.
    pub(crate) fn read(main: Db, txn: &heed::RoTxn<'_>, table: u32) -> Result<Self> {
        Self::of_record(main.get(txn, &key(table)).map_err(lmdb::error)?, table)
    }

    /// Returns the record digest of a table, from its record as it was found.
    pub(crate) fn of_record(record: Option<&[u8]>, table: u32) -> Result<Self> {
        let read = |record: &[u8]| {
            // One that is said to be longer may reach beyond the end of the file.
            if record.len() > LONGEST + CHECKSUM {
                return None;
            }
            let mut body = Fields(meta::opened(&key(table), record)?);
            let mut record_digest = Self {
                names: body.u32()?,
                symbols: body.u32()?,
                shapes: body.u32()?,
                layouts: SetDigest::take(&mut body)?,
                catalog: body.u64()?,
                ..Self::default()
            };
            if !body.0.is_empty() {
                (record_digest.index_states, record_digest.jobs) =
                    (SetDigest::take(&mut body)?, SetDigest::take(&mut body)?);
                // Set digests of nothing are left out.
                if body.0.is_empty() {
                    (!record_digest.is_short()).then_some(())?;
                } else {
                    record_digest.service = SetDigest::take(&mut body)?;
                    record_digest.has_service().then_some(())?;
                }
            }
            body.0.is_empty().then_some(record_digest)
        };
        record.and_then(read).ok_or_else(|| {
            Error::new(ErrorKind::Corrupt).because("the table's record digest is missing or damaged")
        })
    }

    pub(crate) fn write(&self, main: Db, txn: &mut WriteTxn<'_>, table: u32) -> Result<()> {
        self.recorded(table, |key, record| main.put(txn, key, record).map_err(lmdb::error))
    }

    /// Gives the record of the table's record digest with its key.
    pub(crate) fn recorded<T>(&self, table: u32, then: impl FnOnce(&[u8], &[u8]) -> T) -> T {
        let key = key(table);
        if self.has_service() {
            let mut record = self.begin::<{ LONGEST + CHECKSUM }>();
            for digest in [self.index_states, self.jobs, self.service] {
                digest.push(&mut record);
            }
            return then(&key, &record.sealed(&key));
        }
        if self.is_short() {
            let record = self.begin::<{ BYTES + CHECKSUM }>();
            return then(&key, &record.sealed(&key));
        }
        let mut record = self.begin::<{ LONG + CHECKSUM }>();
        self.index_states.push(&mut record);
        self.jobs.push(&mut record);
        then(&key, &record.sealed(&key))
    }

    /// Returns whether the table has had neither states of kinds nor jobs.
    fn is_short(&self) -> bool {
        (self.index_states, self.jobs) == (SetDigest::default(), SetDigest::default())
    }

    /// Returns whether there are service records.
    fn has_service(&self) -> bool {
        self.service != SetDigest::default()
    }

    /// Returns a record with what every table has.
    fn begin<const LENGTH: usize>(&self) -> Record<LENGTH> {
        let mut record = Record::new();
        record.push(self.names.to_le_bytes());
        record.push(self.symbols.to_le_bytes());
        record.push(self.shapes.to_le_bytes());
        self.layouts.push(&mut record);
        record.push(self.catalog.to_le_bytes());
        record
    }

    pub(crate) fn remove(main: Db, txn: &mut WriteTxn<'_>, table: u32) -> Result<()> {
        main.delete(txn, &key(table)).map(drop).map_err(lmdb::error)
    }
}

/// Returns the key of a table's record digest in LMDB's unnamed database: behind the store's own record, which stands first.
pub(crate) fn key(table: u32) -> [u8; 7] {
    let [a, b, c, d] = table.to_be_bytes();
    [0, b't', b'#', a, b, c, d]
}
