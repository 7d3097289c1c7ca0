//! Reading and changing the records, so that a missing record is known to be missing.
//!
//! Every transaction writes the environment's own record too: with its number, so that a header which brings back an
//! older commit is found out, and with the set digest of all records.

use std::path::Path;

use table_engine::error::{Error, ErrorKind, Result};

use super::key_store::{Vault, no_keys};
use super::record::{META, Meta, RecordCounts};
use crate::lmdb::{self, Db, WriteTxn};
use crate::records::meta;

/// A transaction that changes the keys. Nothing has happened unless it is committed.
pub(super) struct Change<'v> {
    vault: &'v Vault,
    txn: WriteTxn<'v>,
    /// The environment's own record, as the change leaves it.
    pub(super) meta: Meta,
    /// Whether a damaged record was removed, so that it is not known how it was counted.
    recount: bool,
}

impl Vault {
    /// Begins a change. Other changes of the keys wait until it ends.
    pub(super) fn change(&self) -> Result<Change<'_>> {
        self.check_writable()?;
        let txn = self.side.write_txn()?;
        let before = number(&txn).wrapping_sub(1);
        let meta = self.meta_at(&txn, before)?;
        Ok(Change { vault: self, txn, meta, recount: false })
    }

    /// Returns the environment's own record.
    pub(super) fn meta(&self, txn: &heed::RoTxn<'_>) -> Result<Meta> {
        self.meta_at(txn, number(txn))
    }

    fn meta_at(&self, txn: &heed::RoTxn<'_>, commit: u64) -> Result<Meta> {
        let path = self.side.path.display();
        let record = self.side.db.get(txn, META).map_err(lmdb::error)?;
        let meta = record.map_or_else(|| Err(no_keys(&self.side.path)), Meta::decode)?;
        if meta.identity != self.identity {
            return Err(Error::new(ErrorKind::KeyUnavailable)
                .because(format!("the keys at `{path}` are another store's; put the store's own there")));
        }
        compare_commit(&self.side.path, &meta, commit)?;
        Ok(meta)
    }

    /// Returns a record; `None` if there is none.
    pub(super) fn find<'t>(&self, txn: &'t heed::RoTxn<'_>, key: &[u8]) -> Result<Option<&'t [u8]>> {
        match self.side.db.get(txn, key).map_err(lmdb::error)? {
            Some(record) => Ok(Some(record)),
            None => check_missing(self.side.db, txn, key).map(|()| None),
        }
    }
}

/// Makes sure that a record which was not found is not one whose own key is damaged: it would stand beside the place
/// where it was looked for. One with a sound key between which the search went wrong shows by the order.
pub(super) fn check_missing(db: Db, txn: &heed::RoTxn<'_>, key: &[u8]) -> Result<()> {
    let before = db.get_lower_than(txn, key).map_err(lmdb::error)?;
    let after = db.get_greater_than_or_equal_to(txn, key).map_err(lmdb::error)?;
    // The environment's own record stands before all others.
    let ordered = before.is_some_and(|(found, _)| found < key) && after.is_none_or(|(found, _)| found > key);
    let is_missed = |(found, record): (&[u8], &[u8])| may_be(key, found, record);
    if ordered && !before.is_some_and(is_missed) && !after.is_some_and(is_missed) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Corrupt).because(
        "what was looked for is missing beside a damaged record, which may be it; take the store's keys from a backup",
    ))
}

/// Returns whether a record with a damaged key, found under `found`, may be the one that is to be found under `key`:
/// its checksum says so, or it is damaged too and half of its key is right.
fn may_be(key: &[u8], found: &[u8], record: &[u8]) -> bool {
    if meta::opened(found, record).is_some() {
        return false;
    }
    let same = key.iter().zip(found).filter(|(a, b)| a == b).count();
    meta::opened(key, record).is_some() || 2 * same >= key.len()
}

/// Returns the set digest of the records that there are.
pub(super) fn set_digest(db: Db, txn: &heed::RoTxn<'_>) -> Result<RecordCounts> {
    let mut set_digest = RecordCounts::default();
    for pair in db.iter(txn).map_err(lmdb::error)? {
        let (key, record) = pair.map_err(lmdb::error)?;
        if key != META {
            set_digest.add(key, record);
        }
    }
    Ok(set_digest)
}

/// Makes sure that the environment's own record is of the commit that is seen.
pub(super) fn check_commit(path: &Path, meta: &Meta, txn: &heed::RoTxn<'_>) -> Result<()> {
    compare_commit(path, meta, number(txn))
}

fn compare_commit(path: &Path, meta: &Meta, commit: u64) -> Result<()> {
    if meta.transaction == commit {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Corrupt).because(format!(
        "the keys at `{}` are as commit {} left them, and their file says {commit}: its header is damaged, or it was \
         copied otherwise than by `copy_to` or byte by byte; take them from a backup",
        path.display(),
        meta.transaction
    )))
}

/// Returns the number of a transaction: of the one that is being made, or of the commit that is seen.
pub(super) fn number(txn: &heed::RoTxn<'_>) -> u64 {
    u64::try_from(txn.id()).unwrap_or(u64::MAX)
}

impl Change<'_> {
    pub(super) fn txn(&self) -> &heed::RoTxn<'_> {
        &self.txn
    }

    /// Writes a record, which may be there or not.
    pub(super) fn put(&mut self, key: &[u8], record: &[u8]) -> Result<()> {
        self.uncount(key)?;
        self.meta.set_digest.add(key, record);
        self.vault.side.db.put(&mut self.txn, key, record).map_err(lmdb::error)
    }

    /// Removes a record, if it is there.
    pub(super) fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.uncount(key)?;
        self.vault.side.db.delete(&mut self.txn, key).map(drop).map_err(lmdb::error)
    }

    /// Takes a record off the set digest, if it is there.
    fn uncount(&mut self, key: &[u8]) -> Result<()> {
        if let Some(former) = self.vault.side.db.get(&self.txn, key).map_err(lmdb::error)? {
            self.recount |= meta::opened(key, former).is_none();
            self.meta.set_digest.remove(key, former);
        }
        Ok(())
    }

    /// Commits the change, which is durable when this returns.
    pub(super) fn commit(mut self) -> Result<()> {
        if self.recount {
            self.meta.set_digest = set_digest(self.vault.side.db, &self.txn)?;
        }
        self.meta.transaction = number(&self.txn);
        self.vault.side.db.put(&mut self.txn, META, &self.meta.encode()).map_err(lmdb::error)?;
        self.vault.side.commit(self.txn)
    }
}
