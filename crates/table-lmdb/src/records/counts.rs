//! The counts of each table, kept with every write.

use table_engine::error::{Error, ErrorKind};
use table_engine::fields::Fields;

use super::meta;
use crate::lmdb::{self, Db, WriteTxn};

/// Entities and bytes of a table, and a digest of its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) entities: u64,
    /// Stored bytes of keys and rows.
    pub(crate) bytes: u64,
    /// The sum of the rows' checksums, which depend on their keys. A scan of the whole table adds them up, and so knows
    /// whether it saw exactly the table's rows.
    pub(crate) digest: u64,
}

const BYTES: usize = 24;

impl Counts {
    pub(crate) fn add(&mut self, length: usize, checksum: u64) {
        self.entities = self.entities.wrapping_add(1);
        self.bytes = self.bytes.wrapping_add(u64::try_from(length).unwrap_or(u64::MAX));
        self.digest = self.digest.wrapping_add(checksum);
    }

    pub(crate) fn subtract(&mut self, length: usize, checksum: u64) {
        self.entities = self.entities.wrapping_sub(1);
        self.bytes = self.bytes.wrapping_sub(u64::try_from(length).unwrap_or(u64::MAX));
        self.digest = self.digest.wrapping_sub(checksum);
    }

    /// Reads the counts of a table, which has them from its creation on.
    pub(crate) fn read(main: Db, txn: &heed::RoTxn<'_>, table: u32) -> Result<Self, Error> {
        Self::of_record(main.get(txn, &key(table)).map_err(lmdb::error)?, table)
    }

    /// Returns the counts of a table, of its record as it has been found.
    pub(crate) fn of_record(record: Option<&[u8]>, table: u32) -> Result<Self, Error> {
        let read = |record: &[u8]| {
            // A record that is said to be longer may reach beyond the end of the file.
            if record.len() != BYTES + meta::CHECKSUM {
                return None;
            }
            let mut body = Fields(meta::opened(&key(table), record)?);
            let counts = Self { entities: body.u64()?, bytes: body.u64()?, digest: body.u64()? };
            body.0.is_empty().then_some(counts)
        };
        record.and_then(read).ok_or_else(|| {
            Error::new(ErrorKind::Corrupt).because("the table's counts are missing or damaged")
        })
    }

    pub(crate) fn write(&self, main: Db, txn: &mut WriteTxn<'_>, table: u32) -> Result<(), Error> {
        main.put(txn, &key(table), &self.record(table)).map_err(lmdb::error)
    }

    /// Returns the record of the table's counts.
    pub(crate) fn record(&self, table: u32) -> [u8; BYTES + meta::CHECKSUM] {
        let mut record = meta::Record::new();
        record.push(self.entities.to_le_bytes());
        record.push(self.bytes.to_le_bytes());
        record.push(self.digest.to_le_bytes());
        record.sealed(&key(table))
    }

    pub(crate) fn remove(main: Db, txn: &mut WriteTxn<'_>, table: u32) -> Result<(), Error> {
        main.delete(txn, &key(table)).map(|_| ()).map_err(lmdb::error)
    }
}

/// Returns the key of the counts in LMDB's unnamed database.
pub(crate) fn key(table: u32) -> [u8; 7] {
    let [a, b, c, d] = table.to_be_bytes();
    [0, b'n', b'#', a, b, c, d]
}
