//! Data keys: finding them, and unwrapping what the server holds.

use std::sync::Arc;

use table_engine::__executor as executor;
use table_engine::crypt::data_key::DataKey;
use table_engine::crypt::envelope::{self, Purpose};
use table_engine::crypt::scope::check_partition;
use table_engine::crypt::{KeyHandle, Scope, SecretKey};
use table_engine::{Error, ErrorKind, Result};
use tokio_postgres::Row;
use zeroize::Zeroizing;

use super::change::Add;
use super::key_rows::{ALIVE, KEY_COLUMNS, KeyRow, SHREDDED, SUPERSEDED, ScopeRow, tag_of};
use super::key_store::{KeyStore, PATIENCE, gone, without_end};
use super::root::Root;
use crate::catalog::column;

/// A data key with the scope that it was made for.
#[derive(Debug)]
pub(super) struct Unwrapped {
    pub(super) key: SecretKey,
    pub(super) scope: Scope,
}

/// A scope as it was read, with its living keys.
struct ReadScope {
    generation: u64,
    root: Arc<Root>,
    record: ScopeRow,
    keys: Vec<KeyRow>,
}

impl KeyStore {
    /// Returns the key of this name.
    pub(super) fn key(&self, handle: KeyHandle) -> Result<Arc<DataKey>> {
        if let Some(key) = self.cache().key(handle) {
            return Ok(key);
        }
        for _ in 0..PATIENCE {
            let answer = self.query(&self.tables().key(handle))?;
            let row = answer.first().ok_or_else(gone)?;
            let Some((generation, root)) = self.read_head(row)? else { continue };
            let found = KeyRow::read(row, 2)?.ok_or_else(|| {
                let because =
                    format!("the store's keys hold no data key {handle}; they may be older than the data");
                executor::error(ErrorKind::KeyUnavailable, because)
            })?;
            let key = Arc::new(self.data_key(&root, &found)?);
            self.remember(generation, |cache| cache.put(&key));
            return Ok(key);
        }
        Err(without_end())
    }

    /// Returns the key that seals in a scope, made if there is none.
    pub(super) fn current(&self, scope: &[u8]) -> Result<Arc<DataKey>> {
        if let Some(key) = self.cache().current(scope) {
            return Ok(key);
        }
        let parsed = parsed(scope)?;
        check_partition(parsed.partition_key().unwrap_or_default())?;
        for _ in 0..PATIENCE {
            let Some(read) = self.read_scope(&parsed)? else { continue };
            let Some(handle) = read.record.current() else {
                self.add(&parsed, Add::IfNone)?;
                continue;
            };
            let row = read.keys.iter().find(|key| key.handle == handle).ok_or_else(|| {
                let because = format!("the store's keys hold no data key {handle}, which seals in {parsed}");
                executor::error(ErrorKind::KeyUnavailable, because)
            })?;
            let key = Arc::new(self.data_key(&read.root, row)?);
            check_scope(&key, &parsed)?;
            self.remember(read.generation, |cache| cache.put_current(scope, &key));
            return Ok(key);
        }
        Err(without_end())
    }

    /// Returns all keys of a scope that are alive, newest first.
    pub(super) fn alive(&self, scope: &[u8]) -> Result<Vec<Arc<DataKey>>> {
        let parsed = parsed(scope)?;
        for _ in 0..PATIENCE {
            let Some(mut read) = self.read_scope(&parsed)? else { continue };
            read.keys.sort_unstable_by_key(|key| std::cmp::Reverse(key.version));
            let keys = read.keys.iter().map(|row| self.data_key(&read.root, row).map(Arc::new));
            let keys = keys.collect::<Result<Vec<_>>>()?;
            keys.iter().try_for_each(|key| check_scope(key, &parsed))?;
            self.remember(read.generation, |cache| keys.iter().for_each(|key| cache.put(key)));
            return Ok(keys);
        }
        Err(without_end())
    }

    /// Reads a scope and its keys; `None` if the root key is another by now.
    fn read_scope(&self, scope: &Scope) -> Result<Option<ReadScope>> {
        let answer = self.query(&self.tables().scope(&tag_of(&self.authenticator, scope.as_bytes())))?;
        let first = answer.first().ok_or_else(gone)?;
        let Some((generation, root)) = self.read_head(first)? else { return Ok(None) };
        let record = ScopeRow::read(&self.authenticator, first, 2 + KEY_COLUMNS)?;
        let record = record.map(|(_, record)| record).unwrap_or_default();
        let keys = answer.iter().filter_map(|row| KeyRow::read(row, 2).transpose());
        Ok(Some(ReadScope { generation, root, record, keys: keys.collect::<Result<_>>()? }))
    }

    /// Reads the generation of the keys and finds the root key, from the first two columns of an answer.
    fn read_head(&self, row: &Row) -> Result<Option<(u64, Arc<Root>)>> {
        let generation = column::<i64>(row, 0)?.cast_unsigned();
        Ok(self.root(column(row, 1)?)?.map(|root| (generation, root)))
    }

    /// Returns a key that is alive.
    fn data_key(&self, root: &Root, row: &KeyRow) -> Result<DataKey> {
        let handle = row.handle;
        let (kind, because) = match row.state {
            ALIVE => {
                let Unwrapped { key, scope } = self.unwrap(root, row)?;
                return Ok(DataKey::new(handle, row.version, scope, &key));
            }
            SHREDDED => {
                let because =
                    format!("the data key {handle} was destroyed with its scope, and the value with it");
                (ErrorKind::KeyShredded, because)
            }
            SUPERSEDED => {
                let because = format!(
                    "the data key {handle} was destroyed when nothing was left under it; the value was sealed anew before, \
                     so read it again, in a newer snapshot"
                );
                (ErrorKind::KeySuperseded, because)
            }
            _ => return Err(crate::error::damaged(super::key_rows::KEYS)),
        };
        Err(executor::error(kind, because))
    }

    /// Returns the key that a row holds, which must be alive.
    pub(super) fn unwrap(&self, root: &Root, row: &KeyRow) -> Result<Unwrapped> {
        let open = || {
            let binding = row.binding(&self.identity);
            let plain = envelope::open(&root.key, Purpose::DataKey, &binding, &row.wrapped).ok()?;
            let plain = Zeroizing::new(plain);
            let (key, scope) = plain.split_at_checked(SecretKey::BYTES)?;
            let key = SecretKey::from_slice(key).filter(|key| key.check_value()[..] == row.check[..])?;
            Some(Unwrapped { key, scope: Scope::from_bytes(scope)? })
        };
        open().ok_or_else(|| {
            let because = format!("the data key {} does not open: its record was changed", row.handle);
            executor::error(ErrorKind::DecryptionFailed, because)
        })
    }

    /// Returns the row of a key, wrapped under a root key; the rest of it is of `row`.
    pub(super) fn wrap(&self, root: &Root, row: KeyRow, unwrapped: &Unwrapped) -> Result<KeyRow> {
        let Unwrapped { key, scope } = unwrapped;
        let mut row = KeyRow { check: key.check_value().to_vec(), state: ALIVE, ..row };
        let mut plain = Zeroizing::new(Vec::with_capacity(SecretKey::BYTES + scope.as_bytes().len()));
        plain.extend_from_slice(key.expose());
        plain.extend_from_slice(scope.as_bytes());
        row.wrapped = envelope::seal(&root.key, Purpose::DataKey, &row.binding(&self.identity), &plain)?;
        Ok(row)
    }
}

fn parsed(scope: &[u8]) -> Result<Scope> {
    Scope::from_bytes(scope)
        .ok_or_else(|| executor::error(ErrorKind::InvalidKey, "these bytes are no scope's"))
}

/// Checks that a key which a scope's record names is the scope's own: a shredding would leave readable what another scope's key
/// sealed.
fn check_scope(key: &DataKey, scope: &Scope) -> Result<(), Error> {
    if key.scope() == scope {
        return Ok(());
    }
    let because =
        format!("the keys' record of {scope} names the data key {}, which is another's", key.handle());
    Err(executor::error(ErrorKind::DecryptionFailed, because))
}
