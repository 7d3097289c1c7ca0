//! Every data key that is alive.

use std::collections::BTreeMap;

use table_engine::crypt::{KeyHandle, KeyInfo, Scope};
use table_engine::error::{Error, ErrorKind, Result};
use table_engine::model::Ticks;

use super::key_store::{PATIENCE, Vault, without_end};
use super::record::{self, KeyRecord};
use crate::lmdb;

/// The keys of one moment, by scope and age.
#[derive(Debug, Default)]
pub(super) struct KeyList {
    pub(super) keys: Vec<KeyInfo>,
    /// The first error that keeps the rest from being listed.
    pub(super) flaw: Option<Error>,
}

impl KeyList {
    /// Returns all keys, or the error that keeps one from being listed.
    pub(super) fn whole(self) -> Result<Vec<KeyInfo>> {
        self.flaw.map_or(Ok(self.keys), Err)
    }

    /// Returns every scope that has a key which seals.
    pub(super) fn scopes(&self) -> impl Iterator<Item = &Scope> {
        self.keys.iter().filter(|key| key.current).map(|key| &key.scope)
    }
}

impl Vault {
    /// Lists the keys. A key with a damaged record, its own or its scope's, is left out, and keeps no other from being listed.
    pub(super) fn list(&self) -> Result<KeyList> {
        for _ in 0..PATIENCE {
            let root = self.root()?;
            let txn = self.read_txn()?;
            if self.meta(&txn)?.root != root.number {
                continue;
            }
            let mut scopes = BTreeMap::<Scope, Vec<(u32, KeyHandle, Ticks)>>::new();
            let mut listed = KeyList::default();
            for pair in self.side.db.iter(&txn).map_err(lmdb::error)? {
                let (at, bytes) = pair.map_err(lmdb::error)?;
                if !record::is_key(at) {
                    continue;
                }
                let mut read = || {
                    let (handle, record) = (record::handle_of(at)?, KeyRecord::decode(at, bytes)?);
                    if record.is_alive() {
                        let scope = self.unwrap(&root, handle, &record)?.scope;
                        scopes.entry(scope).or_default().push((record.version, handle, record.made));
                    }
                    Ok(())
                };
                if let Err(error) = read() {
                    listed.flaw.get_or_insert(error);
                }
            }
            for (scope, mut keys) in scopes {
                keys.sort_unstable();
                match self.scope(&txn, scope.as_bytes()) {
                    Ok(record) => {
                        let info = |(version, handle, made)| {
                            let current = record.current() == Some(handle);
                            KeyInfo::new(handle, scope.clone(), version, made).with_current(current)
                        };
                        listed.keys.extend(keys.into_iter().map(info));
                    }
                    Err(error) => drop(listed.flaw.get_or_insert(error)),
                }
            }
            return Ok(listed);
        }
        Err(without_end())
    }
}

/// Returns the error of a scope whose key could not be rotated, which also says of how many others they were.
#[cold]
pub(super) fn but_for(done: u64, flaw: Error) -> Error {
    let others = format!("; {done} others were rotated");
    match flaw.kind() {
        ErrorKind::Corrupt | ErrorKind::DecryptionFailed => flaw.and(&others),
        _ => flaw,
    }
}
