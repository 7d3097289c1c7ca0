//! What a write transaction has done to blobs, and is to leave in their records.

use std::collections::BTreeSet;

use heed::{MdbError, PutFlags};

use super::draft::{DraftedBlobs, Write};
use crate::contents::{Ledger, keys};
use crate::error::Result;
use crate::messages::Directory;
use crate::store::lmdb::{self, Db, WriteTxn};
use crate::store::records::meta;

/// The counts of blobs in a transaction, which are written when it ends, and how much it has written.
pub(in crate::store) struct BlobBooks {
    pub(super) db: Db,
    /// The directory, if it was changed.
    pub(super) directory: Option<Directory>,
    /// What is counted, if that was changed.
    pub(super) ledger: Option<Ledger>,
    /// How many records there are to be.
    records: u64,
    /// How many were put or removed.
    writes: usize,
    /// Those that are gone: that another is not found is damage.
    removed: BTreeSet<Vec<u8>>,
}

impl BlobBooks {
    /// Those of a transaction that begins.
    pub(in crate::store) fn open(db: Db, txn: &WriteTxn<'_>) -> Result<Self> {
        let records = db.len(txn).map_err(lmdb::error)?;
        Ok(Self { db, directory: None, ledger: None, records, writes: 0, removed: BTreeSet::new() })
    }

    /// How many records were put or removed.
    pub(in crate::store) fn writes(&self) -> usize {
        self.writes
    }

    /// The records that were removed; `None` if nothing was written.
    pub(super) fn removed(&self) -> Option<&BTreeSet<Vec<u8>>> {
        (self.writes > 0).then_some(&self.removed)
    }

    /// Writes what a plan has drafted. An error spoils the transaction.
    pub(in crate::store) fn write(&mut self, txn: &mut WriteTxn<'_>, drafted: DraftedBlobs) -> Result<()> {
        for (key, write) in drafted.writes {
            self.writes += 1;
            match write {
                Write::Add(record) => {
                    let put = self.db.put_with_flags(txn, PutFlags::NO_OVERWRITE, &key, &record);
                    put.map_err(|error| match error {
                        // It was looked for, or its number is new.
                        heed::Error::Mdb(MdbError::KeyExist) => lmdb::damaged_page(),
                        error => lmdb::error(error),
                    })?;
                    self.records = self.records.wrapping_add(1);
                }
                Write::Replace(record) => self.db.put(txn, &key, &record).map_err(lmdb::error)?,
                Write::Remove => {
                    if !self.db.delete(txn, &key).map_err(lmdb::error)? {
                        return Err(lmdb::damaged_page());
                    }
                    self.records = self.records.wrapping_sub(1);
                    self.removed.insert(key);
                }
            }
        }
        if drafted.directory.is_some() {
            self.directory = drafted.directory;
        }
        if drafted.ledger.is_some() {
            self.ledger = drafted.ledger;
        }
        Ok(())
    }

    /// Writes the counts, at the end of the transaction.
    pub(in crate::store) fn close(self, txn: &mut WriteTxn<'_>) -> Result<()> {
        let mut put = |key: &[u8], body| self.db.put(txn, key, &meta::sealed(key, body)).map_err(lmdb::error);
        if let Some(directory) = &self.directory {
            put(&keys::DIRECTORY, directory.encode())?;
        }
        if let Some(ledger) = self.ledger {
            put(&keys::LEDGER, ledger.encode())?;
        }
        // One that did not find what it was to replace has put a second one beside it.
        let counted = self.db.len(txn).map_err(lmdb::error)?;
        if counted == self.records { Ok(()) } else { Err(lmdb::damaged_page()) }
    }
}
