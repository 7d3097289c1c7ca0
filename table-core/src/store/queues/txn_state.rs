//! What a write transaction has done to queues, and is to leave in their records.

use std::collections::BTreeMap;

use super::overlay::QueueWrites;
use crate::error::Result;
use crate::messages::{Directory, State, keys};
use crate::outbox::{self, Counters};
use crate::store::lmdb::{self, Db, WriteTxn};
use crate::store::verified::Applied;

/// The queues' counts in a transaction, which are written when it ends, and what it has written.
pub(crate) struct QueueTxnState {
    pub(super) applied: Applied,
    /// As the transaction has left them so far; `None` for a queue whose records are gone.
    pub(super) states: BTreeMap<u32, Option<State>>,
    /// The directory, if it was changed.
    pub(super) directory: Option<Directory>,
    /// What is counted of the entries of what is to follow, if that was changed; and whether the store has had one.
    pub(super) counters: Option<Counters>,
    pub(super) has_entries: bool,
}

impl QueueTxnState {
    /// Those of a transaction that begins.
    pub(crate) fn open(db: Db, txn: &WriteTxn<'_>, has_entries: bool) -> Result<Self> {
        let applied = Applied::none(db, txn)?;
        Ok(Self { applied, states: BTreeMap::new(), directory: None, counters: None, has_entries })
    }

    /// How many records were put or removed.
    pub(crate) fn writes(&self) -> usize {
        self.applied.writes()
    }

    /// Writes what a plan has drafted. An error spoils the transaction.
    pub(crate) fn write(&mut self, txn: &mut WriteTxn<'_>, drafted: QueueWrites) -> Result<()> {
        self.applied.apply(txn, drafted.writes, |record| record)?;
        self.states.extend(drafted.states);
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
        for (queue, state) in self.states {
            let key = keys::state(queue);
            match state {
                Some(state) => {
                    let is_new = self.applied.db().get(txn, &key).map_err(lmdb::error)?.is_none();
                    self.applied.put_count(txn, &key, (state.encode(), is_new))?;
                }
                None => self.applied.remove(txn, &key)?,
            }
        }
        if let Some(directory) = &self.directory {
            self.applied.put_count(txn, &keys::DIRECTORY, (directory.encode(), false))?;
        }
        if let Some(counters) = self.counters {
            self.applied.put_count(txn, &outbox::keys::COUNTERS, (counters.encode(), !self.has_entries))?;
        }
        self.applied.close(txn)
    }
}
