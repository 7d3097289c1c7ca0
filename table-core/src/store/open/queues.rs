//! The database of the queues' records: made in the transaction of the first queue, and opened when it is asked for.

use std::sync::OnceLock;

use heed::CommitOrAbort;
use heed::types::Bytes;

use super::{Environment, QUEUES, tree};
use crate::error::{Error, ErrorKind, Result};
use crate::messages::{Directory, keys};
use crate::store::lmdb::{self, Db};
use crate::store::records::features::Feature;
use crate::store::records::meta::{self, Meta};

/// The database once this process has opened it. A transaction that began before can't use it.
#[derive(Debug, Default)]
pub(super) struct QueuesDatabase(OnceLock<Db>);

impl Environment {
    /// The database, if this process has opened it: transactions that begin from now on can use it.
    pub(crate) fn known_queues(&self) -> Option<Db> {
        self.queues.0.get().copied()
    }

    /// Whether the store has queues.
    pub(crate) fn has_queues(&self) -> Result<bool> {
        let txn = self.read_txn()?;
        Ok(Meta::read(self.dbs.main, &txn)?.features.has(Feature::Queues))
    }

    /// Opens the database, if the store has queues. No transaction of this process may write meanwhile.
    pub(crate) fn open_queues(&self) -> Result<Option<Db>> {
        if let Some(known) = self.known_queues() {
            return Ok(Some(known));
        }
        let txn = self.read_txn()?;
        if !Meta::read(self.dbs.main, &txn)?.features.has(Feature::Queues) {
            return Ok(None);
        }
        let record = self.dbs.main.get(&txn, QUEUES.as_bytes()).map_err(lmdb::error)?;
        if !record.is_some_and(tree::is_database) {
            return Err(Error::new(ErrorKind::Corrupt)
                .because("the store has queues, and LMDB's record of their database is missing or damaged"));
        }
        let opened = self.env.open_databases_and_commit(txn, |opener, txn| {
            let found = opener.open_database::<Bytes, Bytes>(txn, Some(QUEUES))?;
            Ok(found.map_or(CommitOrAbort::Abort(()), CommitOrAbort::Commit))
        });
        match opened.map_err(lmdb::error)? {
            CommitOrAbort::Commit(db) => Ok(Some(*self.queues.0.get_or_init(|| db))),
            CommitOrAbort::Abort(()) => Err(lmdb::damaged_page()),
        }
    }

    /// Opens the database, or makes it with an empty directory and sets its feature's bit, in one transaction. No other of
    /// this process may write meanwhile.
    pub(crate) fn make_queues(&self) -> Result<Db> {
        if let Some(known) = self.open_queues()? {
            return Ok(known);
        }
        let main = self.dbs.main;
        let txn = self.write_txn()?;
        let mut meta = Meta::begin(main, &txn)?;
        if meta.features.has(Feature::Queues) {
            // Another process was quicker.
            drop(txn);
            return self.open_queues()?.ok_or_else(lmdb::damaged_page);
        }
        if main.get(&txn, QUEUES.as_bytes()).map_err(lmdb::error)?.is_some() {
            return Err(unasked());
        }
        let made = self.env.create_databases_and_commit(txn, |opener, txn| {
            let db = opener.create_database::<Bytes, Bytes>(txn, Some(QUEUES))?;
            db.put(txn, &keys::DIRECTORY, &meta::sealed(&keys::DIRECTORY, Directory::default().encode()))?;
            meta.features.set(Feature::Queues);
            Ok(match meta.write(main, txn) {
                Ok(()) => CommitOrAbort::Commit(db),
                Err(error) => CommitOrAbort::Abort(error),
            })
        });
        match made.map_err(|error| self.on_disk.failed(error))? {
            CommitOrAbort::Commit(db) => Ok(*self.queues.0.get_or_init(|| db)),
            CommitOrAbort::Abort(error) => Err(error),
        }
    }
}

#[cold]
fn unasked() -> Error {
    Error::new(ErrorKind::Corrupt).because("the store has no queues, and yet a database of that name")
}
