//! Renewing the root key: to go over to a provider's new key, and to destroy data keys for good.

use std::collections::{BTreeMap, BTreeSet};

use table_engine::crypt::{KeyHandle, Scope, files};
use table_engine::error::{Error, ErrorKind, Result};

use super::change::Change;
use super::key_store::{PATIENCE, Vault, without_end};
use super::mac_key;
use super::record::{self, AUTHORITY, KeyRecord, ScopeRecord, State};
use super::root::{self, NewRoot, Root};
use crate::lmdb;

/// The data keys that do not come along.
#[derive(Clone, Copy, Debug)]
pub(super) enum Doomed<'a> {
    None,
    These(&'a BTreeSet<KeyHandle>),
    All(&'a Scope),
}

/// The outcome of a renewal.
#[derive(Debug, Default)]
pub(super) struct Renewed {
    /// The data keys that were left behind: by scope, version and name.
    destroyed: BTreeMap<Scope, Vec<(u32, KeyHandle)>>,
    /// The keys whose records don't open. They stay as they are, and nothing opens them any more.
    pub(super) damaged: Vec<KeyHandle>,
}

impl Renewed {
    /// Returns how many data keys were destroyed.
    pub(super) fn destroyed(&self) -> u64 {
        u64::try_from(self.destroyed.values().map(Vec::len).sum::<usize>()).unwrap_or(u64::MAX)
    }
}

impl Vault {
    /// Puts a new root key, wrapped by the provider's current key, in the place of the old one, whose file is then
    /// overwritten.
    ///
    /// One transaction does it all: after a crash either the old root key is there with all that lay under it, or the new
    /// one. A file that is left over is removed when the keys are opened next, or renewed.
    pub(super) fn renew(&self, doomed: Doomed<'_>) -> Result<Renewed> {
        self.check_writable()?;
        for _ in 0..PATIENCE {
            let old = self.root()?;
            let new = NewRoot::make(&self.identity, &*self.provider)?;
            let mut change = self.change()?;
            if change.meta.root != old.number {
                continue;
            }
            root::wipe_others(&self.side.path, old.number)?;
            let authenticator = self.mac_key_record(change.txn())?;
            let authenticator = mac_key::rewrap(&self.identity, authenticator, &old, &new.root)?;
            change.put(AUTHORITY, &authenticator)?;
            let renewed = self.rewrap_keys(&mut change, &old, &new.root, doomed)?;
            self.forget(&mut change, &renewed, doomed)?;
            change.meta.root = new.root.number;
            change.meta.generation += 1;
            new.write(&self.side.path)?;
            change.commit()?;
            self.remember_root(new.root);
            files::wipe(&root::path(&self.side.path, old.number))?;
            return Ok(renewed);
        }
        Err(without_end())
    }

    /// Refuses to destroy a key by itself unless another seals in its place.
    pub(super) fn check_old(&self, txn: &heed::RoTxn<'_>, handle: KeyHandle, scope: &Scope) -> Result<()> {
        if self.scope(txn, scope.as_bytes())?.current() == Some(handle) {
            return Err(Error::new(ErrorKind::KeyUnavailable).because(format!(
                "the data key {handle} is the current one of {scope}; make a new one by `rotate`, and re-encrypt, first"
            )));
        }
        Ok(())
    }

    /// Puts every data key under the new root key, but for the doomed. A record that does not open harms none but its own
    /// values: it stays as it is.
    fn rewrap_keys(
        &self,
        change: &mut Change<'_>,
        old: &Root,
        new: &Root,
        doomed: Doomed<'_>,
    ) -> Result<Renewed> {
        let mut renewed = Renewed::default();
        // All of them, in the order in which they stand: among damaged keys a search may lead back, or past the end.
        let mut records = Vec::new();
        for pair in self.side.db.iter(change.txn()).map_err(lmdb::error)? {
            let (key, bytes) = pair.map_err(lmdb::error)?;
            if record::is_key(key) {
                records.push((key.to_vec(), bytes.to_vec()));
            }
        }
        for (at, bytes) in &records {
            // A record without a key's name belongs to no key.
            let Ok(handle) = record::handle_of(at) else { continue };
            let opened = KeyRecord::decode(at, bytes).and_then(|record| {
                let key = record.is_alive().then(|| self.unwrap(old, handle, &record)).transpose()?;
                Ok((record, key))
            });
            let (mut record, key) = match opened {
                Ok((record, Some(key))) => (record, key),
                Ok((_, None)) => continue,
                Err(_) => {
                    renewed.damaged.push(handle);
                    continue;
                }
            };
            if let Some(end) = end(doomed, handle, &key.scope) {
                if end == State::Superseded {
                    self.check_old(change.txn(), handle, &key.scope)?;
                }
                renewed.destroyed.entry(key.scope).or_default().push((record.version, handle));
                record.state = end;
            } else {
                record = self.wrap(new, handle, record.version, record.made, &key)?;
                // Before the old one goes, the new one must open.
                self.unwrap(new, handle, &record)?;
            }
            change.put(at, &record.encode(at))?;
        }
        Ok(renewed)
    }

    /// Takes destroyed keys off their scopes.
    fn forget(&self, change: &mut Change<'_>, renewed: &Renewed, doomed: Doomed<'_>) -> Result<()> {
        for (scope, destroyed) in &renewed.destroyed {
            let mut keys = match (self.scope(change.txn(), scope.as_bytes()), doomed) {
                // The scope has no key any more, and its record nothing to tell.
                (Err(_), Doomed::All(_)) => {
                    let latest = destroyed.iter().map(|(version, _)| *version).max().unwrap_or_default();
                    ScopeRecord { latest, keys: Vec::new() }
                }
                (keys, _) => keys?,
            };
            keys.keys.retain(|(_, key)| !destroyed.iter().any(|(_, gone)| gone == key));
            self.put_scope(change, scope.as_bytes(), &keys)?;
        }
        // Those that are left have damaged records, and would be in the way of a new one.
        if let Doomed::All(scope) = doomed
            && let Ok(mut keys) = self.scope(change.txn(), scope.as_bytes())
            && !keys.keys.is_empty()
        {
            keys.keys.clear();
            self.put_scope(change, scope.as_bytes(), &keys)?;
        }
        Ok(())
    }
}

/// Returns the fate of a key; `None` if it stays. A table's scope takes its partitions' with it.
fn end(doomed: Doomed<'_>, handle: KeyHandle, scope: &Scope) -> Option<State> {
    match doomed {
        Doomed::None => None,
        Doomed::These(keys) => keys.contains(&handle).then_some(State::Superseded),
        Doomed::All(all) => {
            let takes = all == scope
                || (all.partition_key().is_none()
                    && all.table_number().is_some()
                    && all.table_number() == scope.table_number());
            takes.then_some(State::Shredded)
        }
    }
}
