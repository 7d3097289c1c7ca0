//! Another root key in the place of the one that is: to go over to a provider's new key, and to destroy data keys for
//! good.

use std::collections::BTreeSet;

use super::authority;
use super::record::{self, AUTHORITY, KEYS, KeyRecord, META, SCOPES, ScopeRecord};
use super::root::{self, NewRoot, Root};
use super::vault::{PATIENCE, Vault};
use crate::crypt::{KeyHandle, Scope, files};
use crate::error::{Error, ErrorKind, Result};
use crate::store::lmdb::{self, WriteTxn};

/// Which data keys do not come along.
#[derive(Clone, Copy, Debug)]
pub(super) enum Doomed<'a> {
    None,
    These(&'a BTreeSet<KeyHandle>),
    All(&'a Scope),
}

impl Vault {
    /// Puts a new root key, wrapped by the provider's current key, in the place of the old one, whose file is then
    /// overwritten; returns how many data keys were left behind.
    ///
    /// All in one transaction: after a crash either the old root key is there with all that lay under it, or the new
    /// one. A file that is left over is removed when the keys are opened next, or renewed.
    pub(super) fn renew(&self, doomed: Doomed<'_>) -> Result<u64> {
        self.check_writable()?;
        for _ in 0..PATIENCE {
            let old = self.root()?;
            let new = NewRoot::make(&self.identity, &*self.provider)?;
            let mut txn = self.write_txn()?;
            let mut meta = self.meta(&txn)?;
            if meta.root != old.number {
                continue;
            }
            if let Doomed::These(keys) = doomed {
                keys.iter().try_for_each(|handle| self.check_old(&txn, *handle))?;
            }
            root::wipe_others(&self.side.path, meta.root)?;
            let authority = authority::rewrap(&self.identity, self.authority_record(&txn)?, &old, &new.root)?;
            self.put(&mut txn, AUTHORITY, &authority)?;
            let destroyed = self.rewrap_keys(&mut txn, &old, &new.root, doomed)?;
            self.forget(&mut txn, &destroyed)?;
            meta.root = new.root.number;
            meta.generation += 1;
            self.put(&mut txn, META, &meta.encode())?;
            new.write(&self.side.path)?;
            self.side.commit(txn)?;
            self.remember_root(new.root);
            files::wipe(&root::path(&self.side.path, old.number))?;
            return Ok(u64::try_from(destroyed.len()).unwrap_or(u64::MAX));
        }
        Err(Error::new(ErrorKind::KeyUnavailable).because("the root key is being renewed without end"))
    }

    /// A key is destroyed by itself only when another seals in its place.
    pub(super) fn check_old(&self, txn: &heed::RoTxn<'_>, handle: KeyHandle) -> Result<()> {
        let record = self.record(txn, handle)?.ok_or_else(|| {
            Error::new(ErrorKind::KeyUnavailable)
                .because(format!("the store's keys hold no data key {handle}"))
        })?;
        if self.scope(txn, record.scope.as_bytes())?.current() == Some(handle) {
            return Err(Error::new(ErrorKind::KeyUnavailable).because(format!(
                "the data key {handle} is the current one of {}; make a new one by `rotate`, and re-encrypt, first",
                record.scope
            )));
        }
        Ok(())
    }

    /// Puts every data key under the new root key, but for the doomed; returns those.
    fn rewrap_keys(
        &self,
        txn: &mut WriteTxn<'_>,
        old: &Root,
        new: &Root,
        doomed: Doomed<'_>,
    ) -> Result<Vec<(KeyHandle, Scope)>> {
        let mut destroyed = Vec::new();
        let mut at = KEYS.start.to_vec();
        while let Some((key, bytes)) = self.side.db.get_greater_than(txn, &at).map_err(lmdb::error)? {
            if key >= KEYS.end {
                break;
            }
            at = key.to_vec();
            let (handle, mut record) = (record::handle_of(key)?, KeyRecord::decode(key, bytes)?);
            if record.wrapped.is_none() {
                continue;
            }
            if dooms(doomed, handle, &record.scope) {
                destroyed.push((handle, record.scope.clone()));
                record.wrapped = None;
            } else if let Some(secret) = self.unwrap(old, handle, &record)? {
                let wrapped = self.wrap(new, handle, &record, &secret)?;
                record.wrapped = Some(wrapped);
                // Before the old one goes, the new one must open.
                self.unwrap(new, handle, &record)?;
            }
            self.put(txn, &at, &record.encode(&at))?;
        }
        Ok(destroyed)
    }

    /// Takes destroyed keys off their scopes.
    fn forget(&self, txn: &mut WriteTxn<'_>, destroyed: &[(KeyHandle, Scope)]) -> Result<()> {
        for (handle, scope) in destroyed {
            let at = record::scope_key(scope.as_bytes());
            let mut keys = self.scope(txn, scope.as_bytes())?;
            keys.keys.retain(|(_, key)| key != handle);
            self.put(txn, &at, &keys.encode(&at))?;
        }
        Ok(())
    }

    fn put(&self, txn: &mut WriteTxn<'_>, key: &[u8], record: &[u8]) -> Result<()> {
        self.side.db.put(txn, key, record).map_err(lmdb::error)
    }

    /// The scopes that have keys, after this one, at most so many.
    pub(super) fn scopes(&self, after: Option<&Scope>, most: usize) -> Result<Vec<(Scope, ScopeRecord)>> {
        let txn = self.read_txn()?;
        let mut at = after.map_or_else(|| SCOPES.start.to_vec(), |scope| record::scope_key(scope.as_bytes()));
        let mut found = Vec::new();
        while let Some((key, bytes)) = self.side.db.get_greater_than(&txn, &at).map_err(lmdb::error)? {
            if key >= SCOPES.end || found.len() == most {
                break;
            }
            found.push((record::scope_of(key)?, ScopeRecord::decode(key, bytes)?));
            at = key.to_vec();
        }
        Ok(found)
    }
}

/// A table's scope takes its partitions' with it.
fn dooms(doomed: Doomed<'_>, handle: KeyHandle, scope: &Scope) -> bool {
    match doomed {
        Doomed::None => false,
        Doomed::These(keys) => keys.contains(&handle),
        Doomed::All(all) => {
            all == scope
                || (all.partition_key().is_none()
                    && all.table_number().is_some()
                    && all.table_number() == scope.table_number())
        }
    }
}
