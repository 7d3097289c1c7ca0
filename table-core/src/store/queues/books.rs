//! What a write transaction has done to queues, and is to leave in their records.

use std::collections::{BTreeMap, BTreeSet};

use heed::{MdbError, PutFlags};

use super::draft::{Drafted, Write};
use crate::error::Result;
use crate::messages::{Directory, State, keys};
use crate::pending::{self, Ledger};
use crate::store::lmdb::{self, Db, WriteTxn};
use crate::store::records::meta;

/// The queues' counts in a transaction, which are written when it ends, and how much it has written.
pub(in crate::store) struct Books {
    pub(super) db: Db,
    /// As the transaction has left them so far; `None` for a queue whose records are gone.
    pub(super) states: BTreeMap<u32, Option<State>>,
    /// The directory, if it was changed.
    pub(super) directory: Option<Directory>,
    /// What is counted of the entries of what is to follow, if that was changed; and whether the store has had one.
    pub(super) ledger: Option<Ledger>,
    pub(super) has_entries: bool,
    /// How many records there are to be.
    records: u64,
    /// How many were put or removed.
    writes: usize,
    /// Those that are gone: that another is not found is damage.
    removed: BTreeSet<Vec<u8>>,
}

impl Books {
    /// Those of a transaction that begins.
    pub(in crate::store) fn open(db: Db, txn: &WriteTxn<'_>, has_entries: bool) -> Result<Self> {
        let records = db.len(txn).map_err(lmdb::error)?;
        Ok(Self {
            db,
            states: BTreeMap::new(),
            directory: None,
            ledger: None,
            has_entries,
            records,
            writes: 0,
            removed: BTreeSet::new(),
        })
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
    pub(in crate::store) fn write(&mut self, txn: &mut WriteTxn<'_>, drafted: Drafted) -> Result<()> {
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
                    self.remove(txn, &key)?;
                    self.removed.insert(key);
                }
            }
        }
        self.states.extend(drafted.states);
        if drafted.directory.is_some() {
            self.directory = drafted.directory;
        }
        if drafted.ledger.is_some() {
            self.ledger = drafted.ledger;
        }
        Ok(())
    }

    fn remove(&mut self, txn: &mut WriteTxn<'_>, key: &[u8]) -> Result<()> {
        if !self.db.delete(txn, key).map_err(lmdb::error)? {
            return Err(lmdb::damaged_page());
        }
        self.records = self.records.wrapping_sub(1);
        Ok(())
    }

    /// Writes the counts, at the end of the transaction.
    pub(in crate::store) fn close(mut self, txn: &mut WriteTxn<'_>) -> Result<()> {
        for (queue, state) in std::mem::take(&mut self.states) {
            let key = keys::state(queue);
            match state {
                Some(state) => {
                    let record = meta::sealed(&key, state.encode());
                    let was_there = self.db.get(txn, &key).map_err(lmdb::error)?.is_some();
                    self.records = self.records.wrapping_add(u64::from(!was_there));
                    self.db.put(txn, &key, &record).map_err(lmdb::error)?;
                }
                None => self.remove(txn, &key)?,
            }
        }
        if let Some(directory) = &self.directory {
            let record = meta::sealed(&keys::DIRECTORY, directory.encode());
            self.db.put(txn, &keys::DIRECTORY, &record).map_err(lmdb::error)?;
        }
        if let Some(ledger) = self.ledger {
            let key = pending::keys::LEDGER;
            self.records = self.records.wrapping_add(u64::from(!self.has_entries));
            self.db.put(txn, &key, &meta::sealed(&key, ledger.encode())).map_err(lmdb::error)?;
        }
        // One that did not find what it was to replace has put a second one beside it.
        let counted = self.db.len(txn).map_err(lmdb::error)?;
        if counted == self.records { Ok(()) } else { Err(lmdb::damaged_page()) }
    }
}
