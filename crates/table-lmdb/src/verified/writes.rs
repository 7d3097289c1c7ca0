//! What a write transaction does to such a database: plans find it out, it is applied, and it is counted when the
//! transaction ends.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use heed::{MdbError, PutFlags};

use table_engine::error::Result;

use crate::lmdb::{self, Db, WriteTxn};
use crate::records::meta;

/// What becomes of a record. A plan that is tried again may bring the same bytes.
pub(crate) enum Write {
    /// It is new.
    Add(Arc<Vec<u8>>),
    Replace(Arc<Vec<u8>>),
    Remove,
}

/// The writes of a plan, by their keys.
#[derive(Default)]
pub(crate) struct Writes(BTreeMap<Vec<u8>, Write>);

impl Writes {
    /// Returns what the plan makes of the record of a key, if anything.
    pub(crate) fn get(&self, key: &[u8]) -> Option<&Write> {
        self.0.get(key)
    }

    /// Returns the writes in the order of their keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], &Write)> {
        self.0.iter().map(|(key, write)| (key.as_slice(), write))
    }

    /// Has a record in the place of one that was found, or of none; or that one removed.
    pub(crate) fn replace(&mut self, key: Vec<u8>, is_there: bool, record: Option<Arc<Vec<u8>>>) {
        // One that the plan itself adds is not there yet; one that it removes still is.
        let is_new = match self.0.get(&key) {
            Some(Write::Add(_)) => true,
            Some(Write::Replace(_) | Write::Remove) => false,
            None => !is_there,
        };
        let write = match (record, is_new) {
            (Some(record), true) => Write::Add(record),
            (Some(record), false) => Write::Replace(record),
            (None, true) => {
                self.0.remove(&key);
                return;
            }
            (None, false) => Write::Remove,
        };
        self.0.insert(key, write);
    }
}

/// What a transaction has done to the records so far.
pub(crate) struct Applied {
    db: Db,
    /// How many records there are to be.
    records: u64,
    /// How many were put or removed.
    writes: usize,
    /// Those that are gone: that another is not found is damage.
    removed: BTreeSet<Vec<u8>>,
}

impl Applied {
    /// Nothing, of a transaction that begins.
    pub(crate) fn none(db: Db, txn: &WriteTxn<'_>) -> Result<Self> {
        let records = db.len(txn).map_err(lmdb::error)?;
        Ok(Self { db, records, writes: 0, removed: BTreeSet::new() })
    }

    pub(crate) fn db(&self) -> Db {
        self.db
    }

    /// Returns how many records were put or removed.
    pub(crate) fn writes(&self) -> usize {
        self.writes
    }

    /// Returns the records that were removed; `None` if nothing was written.
    pub(crate) fn removed(&self) -> Option<&BTreeSet<Vec<u8>>> {
        (self.writes > 0).then_some(&self.removed)
    }

    /// Applies the writes of a plan. An error spoils the transaction.
    pub(crate) fn apply(&mut self, txn: &mut WriteTxn<'_>, writes: Writes) -> Result<()> {
        for (key, write) in writes.0 {
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
                    self.remove(txn, &key)?;
                    self.removed.insert(key);
                }
            }
        }
        Ok(())
    }

    /// Removes a record, which must be there.
    pub(crate) fn remove(&mut self, txn: &mut WriteTxn<'_>, key: &[u8]) -> Result<()> {
        if !self.db.delete(txn, key).map_err(lmdb::error)? {
            return Err(lmdb::damaged_page());
        }
        self.records = self.records.wrapping_sub(1);
        Ok(())
    }

    /// Puts a record of counts, at the end of the transaction.
    pub(crate) fn put_count(
        &mut self,
        txn: &mut WriteTxn<'_>,
        key: &[u8],
        body: Vec<u8>,
        is_new: bool,
    ) -> Result<()> {
        self.records = self.records.wrapping_add(u64::from(is_new));
        self.db.put(txn, key, &meta::sealed(key, body)).map_err(lmdb::error)
    }

    /// Compares the number of records with what LMDB counts, when all is written.
    pub(crate) fn close(self, txn: &WriteTxn<'_>) -> Result<()> {
        // One that did not find what it was to replace has put a second one beside it.
        let counted = self.db.len(txn).map_err(lmdb::error)?;
        if counted == self.records { Ok(()) } else { Err(lmdb::damaged_page()) }
    }
}
