//! Databases that a feature brings: made in the transaction of the first use, and opened when they are asked for.

use std::sync::OnceLock;

use heed::CommitOrAbort;
use heed::types::Bytes;

use table_engine::contents;
use table_engine::error::{Error, ErrorKind, Result};
use table_engine::messages::{self, Directory};

use super::Environment;
use crate::lmdb::{self, Db};
use crate::records::features::Feature;
use crate::records::meta::{self, Meta};

/// A database that not every store has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionalDb {
    /// Queues, and the outbox of deferred copies.
    Queues,
    /// Blobs.
    Blobs,
}

impl OptionalDb {
    pub(crate) const ALL: [Self; 2] = [Self::Queues, Self::Blobs];

    /// Returns the database's name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Queues => "queues",
            Self::Blobs => "blobs",
        }
    }

    /// Returns the feature that says that it is there.
    pub(crate) const fn feature(self) -> Feature {
        match self {
            Self::Queues => Feature::Queues,
            Self::Blobs => Feature::Blobs,
        }
    }

    /// Returns the records that it has from its beginning.
    fn first(self) -> Vec<(&'static [u8], Vec<u8>)> {
        let directory = Directory::default().encode();
        match self {
            Self::Queues => vec![(&messages::keys::DIRECTORY, directory)],
            Self::Blobs => vec![
                (&contents::keys::DIRECTORY, directory),
                (&contents::keys::COUNTERS, contents::Counters::default().encode()),
            ],
        }
    }
}

/// The databases once this process has opened them. A transaction that began before can't use one.
#[derive(Debug, Default)]
pub(super) struct OptionalDatabases {
    queues: OnceLock<Db>,
    blobs: OnceLock<Db>,
}

impl OptionalDatabases {
    fn of(&self, optional_db: OptionalDb) -> &OnceLock<Db> {
        match optional_db {
            OptionalDb::Queues => &self.queues,
            OptionalDb::Blobs => &self.blobs,
        }
    }
}

impl Environment {
    /// Returns the database, if this process has opened it: transactions that begin from now on can use it.
    pub(crate) fn known(&self, optional_db: OptionalDb) -> Option<Db> {
        self.optional_db.of(optional_db).get().copied()
    }

    /// Returns whether the store has the database.
    pub(crate) fn has(&self, optional_db: OptionalDb) -> Result<bool> {
        let txn = self.read_txn()?;
        Ok(Meta::read(self.dbs.main, &txn)?.features.has(optional_db.feature()))
    }

    /// Opens the database, if the store has it. No transaction of this process may write meanwhile.
    pub(crate) fn open_late(&self, optional_db: OptionalDb) -> Result<Option<Db>> {
        if let Some(known) = self.known(optional_db) {
            return Ok(Some(known));
        }
        let name = optional_db.name();
        let txn = self.read_txn()?;
        if !Meta::read(self.dbs.main, &txn)?.features.has(optional_db.feature()) {
            return Ok(None);
        }
        let record = self.dbs.main.get(&txn, name.as_bytes()).map_err(lmdb::error)?;
        if !record.is_some_and(lmdb_verify::is_database) {
            return Err(Error::new(ErrorKind::Corrupt).because(format!(
                "the store has {name}, and LMDB's record of their database is missing or damaged"
            )));
        }
        let opened = self.env.open_databases_and_commit(txn, |opener, txn| {
            let found = opener.open_database::<Bytes, Bytes>(txn, Some(name))?;
            Ok(found.map_or(CommitOrAbort::Abort(()), CommitOrAbort::Commit))
        });
        match opened.map_err(lmdb::error)? {
            CommitOrAbort::Commit(db) => Ok(Some(*self.optional_db.of(optional_db).get_or_init(|| db))),
            CommitOrAbort::Abort(()) => Err(lmdb::damaged_page()),
        }
    }

    /// Opens the database, or makes it with its first records and sets its feature's bit, in one transaction. No other of
    /// this process may write meanwhile.
    pub(crate) fn make_late(&self, optional_db: OptionalDb) -> Result<Db> {
        if let Some(known) = self.open_late(optional_db)? {
            return Ok(known);
        }
        let (main, name) = (self.dbs.main, optional_db.name());
        let txn = self.write_txn()?;
        let mut meta = Meta::begin(main, &txn)?;
        if meta.features.has(optional_db.feature()) {
            // Another process has made it meanwhile.
            drop(txn);
            return self.open_late(optional_db)?.ok_or_else(lmdb::damaged_page);
        }
        if main.get(&txn, name.as_bytes()).map_err(lmdb::error)?.is_some() {
            return Err(unasked(name));
        }
        let made = self.env.create_databases_and_commit(txn, |opener, txn| {
            let db = opener.create_database::<Bytes, Bytes>(txn, Some(name))?;
            for (key, body) in optional_db.first() {
                db.put(txn, key, &meta::sealed(key, body))?;
            }
            meta.features.set(optional_db.feature());
            Ok(match meta.write(main, txn) {
                Ok(()) => CommitOrAbort::Commit(db),
                Err(error) => CommitOrAbort::Abort(error),
            })
        });
        match made.map_err(|error| self.meta_resync.failed(error))? {
            CommitOrAbort::Commit(db) => Ok(*self.optional_db.of(optional_db).get_or_init(|| db)),
            CommitOrAbort::Abort(error) => Err(error),
        }
    }
}

#[cold]
fn unasked(name: &str) -> Error {
    Error::new(ErrorKind::Corrupt)
        .because(format!("the store has no {name}, and yet a database of that name"))
}
