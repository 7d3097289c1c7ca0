//! What a write transaction has done to blobs, and is to leave in their records.

use std::collections::BTreeSet;

use super::overlay::BlobWrites;
use crate::contents::{Counters, keys};
use crate::error::Result;
use crate::messages::Directory;
use crate::store::lmdb::{Db, WriteTxn};
use crate::store::verified::Applied;

/// The counts of blobs in a transaction, which are written when it ends, and what it has written.
pub(crate) struct BlobTxnState {
    pub(super) applied: Applied,
    /// The directory, if it was changed.
    pub(super) directory: Option<Directory>,
    /// What is counted, if that was changed.
    pub(super) counters: Option<Counters>,
}

impl BlobTxnState {
    /// Those of a transaction that begins.
    pub(crate) fn open(db: Db, txn: &WriteTxn<'_>) -> Result<Self> {
        Ok(Self { applied: Applied::none(db, txn)?, directory: None, counters: None })
    }

    /// How many records were put or removed.
    pub(crate) fn writes(&self) -> usize {
        self.applied.writes()
    }

    /// What the transaction has removed, for whoever reads beside it.
    pub(crate) fn removed(&self) -> Option<&BTreeSet<Vec<u8>>> {
        self.applied.removed()
    }

    /// Writes what a plan has drafted. An error spoils the transaction.
    pub(crate) fn write(&mut self, txn: &mut WriteTxn<'_>, drafted: BlobWrites) -> Result<()> {
        self.applied.apply(txn, drafted.writes, |record| record.as_slice())?;
        if drafted.directory.is_some() {
            self.directory = drafted.directory;
        }
        if drafted.counters.is_some() {
            self.counters = drafted.counters;
        }
        Ok(())
    }

    /// Writes the counts, at the end of the transaction.
    pub(crate) fn close(mut self, txn: &mut WriteTxn<'_>) -> Result<()> {
        if let Some(directory) = &self.directory {
            self.applied.put_count(txn, &keys::DIRECTORY, (directory.encode(), false))?;
        }
        if let Some(counters) = self.counters {
            self.applied.put_count(txn, &keys::COUNTERS, (counters.encode(), false))?;
        }
        self.applied.close(txn)
    }
}
