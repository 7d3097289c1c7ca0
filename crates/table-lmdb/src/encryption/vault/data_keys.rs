//! Data keys: finding them, and making them where there are none.

use std::sync::Arc;

use zeroize::Zeroizing;

use table_engine::crypt::data_key::DataKey;
use table_engine::crypt::envelope::{self, Purpose};
use table_engine::crypt::scope::check_partition;
use table_engine::crypt::token::Token;
use table_engine::crypt::{KeyHandle, Scope, SecretKey, key};
use table_engine::error::{Error, ErrorKind, Result};
use table_engine::model::Ticks;

use super::change::Change;
use super::key_store::{PATIENCE, Vault, without_end};
use super::record::{self, KeyRecord, ScopeRecord, State};
use super::root::Root;
use crate::lmdb;

/// When a scope gets a new key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Add {
    /// Only if it has none.
    IfNone,
    /// In any case.
    Always,
}

/// A data key with the scope that it was made for.
#[derive(Debug)]
pub(super) struct Unwrapped {
    pub(super) key: SecretKey,
    pub(super) scope: Scope,
}

impl Vault {
    /// Returns the key of this name.
    pub(super) fn key(&self, handle: KeyHandle) -> Result<Arc<DataKey>> {
        if let Some(key) = self.cache()?.keys.key(handle) {
            return Ok(key);
        }
        for _ in 0..PATIENCE {
            let root = self.root()?;
            let txn = self.read_txn()?;
            let meta = self.meta(&txn)?;
            if meta.root != root.number {
                continue;
            }
            let key = Arc::new(self.load(&txn, &root, handle)?);
            drop(txn);
            self.remember(meta.generation, |cache| cache.put(&key))?;
            return Ok(key);
        }
        Err(without_end())
    }

    /// Reads and unwraps a key.
    fn load(&self, txn: &heed::RoTxn<'_>, root: &Root, handle: KeyHandle) -> Result<DataKey> {
        let record = self.record(txn, handle)?.ok_or_else(|| {
            Error::new(ErrorKind::KeyUnavailable).because(format!(
                "the store's keys hold no data key {handle}; they may be older than the data"
            ))
        })?;
        match record.state {
            State::Alive { .. } => {
                let Unwrapped { key, scope } = self.unwrap(root, handle, &record)?;
                Ok(DataKey::new(handle, record.version, scope, &key))
            }
            State::Shredded => Err(Error::new(ErrorKind::KeyShredded)
                .because(format!("the data key {handle} was destroyed with its scope, and the value with it"))),
            State::Superseded => Err(Error::new(ErrorKind::KeySuperseded).because(format!(
                "the data key {handle} was destroyed when nothing was left under it; the value was sealed anew before, \
                 so read it again, in a newer snapshot"
            ))),
        }
    }

    pub(super) fn record(&self, txn: &heed::RoTxn<'_>, handle: KeyHandle) -> Result<Option<KeyRecord>> {
        let key = record::key_key(handle);
        let found = self.find(txn, &key)?;
        found.map(|bytes| KeyRecord::decode(&key, bytes)).transpose()
    }

    /// Returns the bytes that a record's key is bound to.
    fn binding(&self, handle: KeyHandle, record: &KeyRecord) -> Vec<u8> {
        [&self.identity[..], &handle.0.to_le_bytes(), &record.head()].concat()
    }

    /// Returns the key that a record holds, which must be alive.
    pub(super) fn unwrap(&self, root: &Root, handle: KeyHandle, record: &KeyRecord) -> Result<Unwrapped> {
        let open = || {
            let State::Alive { check, wrapped } = &record.state else { return None };
            let binding = self.binding(handle, record);
            let plain =
                envelope::open(&root.key, Purpose::DataKey, &binding, wrapped).map(Zeroizing::new).ok()?;
            let (key, scope) = plain.split_at_checked(SecretKey::BYTES)?;
            let key = SecretKey::from_slice(key).filter(|key| key.check_value() == *check)?;
            Some(Unwrapped { key, scope: Scope::from_bytes(scope)? })
        };
        open().ok_or_else(|| {
            Error::new(ErrorKind::DecryptionFailed)
                .because(format!("the data key {handle} does not open: its record was changed"))
        })
    }

    /// Returns the record of a key, wrapped under a root key.
    pub(super) fn wrap(
        &self,
        root: &Root,
        handle: KeyHandle,
        version: u32,
        made: Ticks,
        Unwrapped { key, scope }: &Unwrapped,
    ) -> Result<KeyRecord> {
        let check = key.check_value();
        let mut record = KeyRecord { version, made, state: State::Alive { check, wrapped: Vec::new() } };
        let mut plain = Zeroizing::new(Vec::with_capacity(SecretKey::BYTES + scope.as_bytes().len()));
        plain.extend_from_slice(key.expose());
        plain.extend_from_slice(scope.as_bytes());
        let binding = self.binding(handle, &record);
        let wrapped = envelope::seal(&root.key, Purpose::DataKey, &binding, &plain)?;
        record.state = State::Alive { check, wrapped };
        Ok(record)
    }

    /// Returns the keys of a scope; none if it never had any.
    pub(super) fn scope(&self, txn: &heed::RoTxn<'_>, scope: &[u8]) -> Result<ScopeRecord> {
        let authenticator = self.authenticator()?;
        let key = record::scope_key(authenticator, scope);
        let found = self.find(txn, &key)?;
        found.map_or_else(
            || Ok(ScopeRecord::default()),
            |bytes| ScopeRecord::decode(authenticator, &key, bytes),
        )
    }

    pub(super) fn put_scope(&self, change: &mut Change<'_>, scope: &[u8], keys: &ScopeRecord) -> Result<()> {
        let authenticator = self.authenticator()?;
        let at = record::scope_key(authenticator, scope);
        change.put(&at, &keys.encode(authenticator, &at))
    }

    /// Returns the key that seals in a scope, made if there is none.
    pub(super) fn current(&self, scope: &[u8]) -> Result<Arc<DataKey>> {
        if let Some(key) = self.cache()?.keys.current(scope) {
            return Ok(key);
        }
        let parsed = Scope::from_bytes(scope)
            .ok_or_else(|| Error::new(ErrorKind::InvalidKey).because("these bytes are no scope's"))?;
        check_partition(parsed.partition_key().unwrap_or_default())?;
        for _ in 0..PATIENCE {
            let root = self.root()?;
            let txn = self.read_txn()?;
            let meta = self.meta(&txn)?;
            let Some(handle) = self.scope(&txn, scope)?.current() else {
                drop(txn);
                self.add(&parsed, Add::IfNone)?;
                continue;
            };
            if meta.root != root.number {
                continue;
            }
            let key = Arc::new(self.load(&txn, &root, handle)?);
            drop(txn);
            check_scope(&key, &parsed)?;
            self.remember(meta.generation, |cache| cache.put_current(scope, &key))?;
            return Ok(key);
        }
        Err(without_end())
    }

    /// Returns all keys of a scope that are alive, newest first.
    pub(super) fn alive(&self, scope: &[u8]) -> Result<Vec<Arc<DataKey>>> {
        let keys = {
            let txn = self.read_txn()?;
            self.meta(&txn)?;
            self.scope(&txn, scope)?.keys
        };
        let mut found = Vec::with_capacity(keys.len());
        for (_, handle) in keys.iter().rev() {
            match self.key(*handle) {
                // It was destroyed meanwhile, and finds nothing.
                Err(error) if error.kind().is_destroyed() => {}
                key => found.push(key?),
            }
        }
        if let Some(parsed) = Scope::from_bytes(scope) {
            found.iter().try_for_each(|key| check_scope(key, &parsed))?;
        }
        Ok(found)
    }

    /// Gives a scope a new key, which is durable when this returns; or, if asked so, leaves the one that it has.
    pub(super) fn add(&self, scope: &Scope, add: Add) -> Result<KeyHandle> {
        for _ in 0..PATIENCE {
            let root = self.root()?;
            let (handle, key) = (KeyHandle(key::random_number()?), SecretKey::generate()?);
            let mut change = self.change()?;
            if change.meta.root != root.number {
                continue;
            }
            let mut keys = self.scope(change.txn(), scope.as_bytes())?;
            if let (Add::IfNone, Some(current)) = (add, keys.current()) {
                return Ok(current);
            }
            // If the scope had no key before, no process remembers one.
            if keys.current().is_some() {
                change.meta.generation += 1;
            }
            let version = next_version(scope, &keys)?;
            let at = record::key_key(handle);
            if self.side.db.get(change.txn(), &at).map_err(lmdb::error)?.is_some() {
                continue;
            }
            let made = Unwrapped { key, scope: scope.clone() };
            let record = self.wrap(&root, handle, version, Ticks::now(), &made)?;
            keys.latest = version;
            keys.keys.push((version, handle));
            change.put(&at, &record.encode(&at))?;
            self.put_scope(&mut change, scope.as_bytes(), &keys)?;
            change.commit()?;
            return Ok(handle);
        }
        Err(without_end())
    }
}

/// Checks that a key which a scope's record names is the scope's own: a shredding would leave readable what another
/// scope's key sealed.
fn check_scope(key: &DataKey, scope: &Scope) -> Result<()> {
    if key.scope() == scope {
        return Ok(());
    }
    Err(Error::new(ErrorKind::DecryptionFailed).because(format!(
        "the keys' record of {scope} names the data key {}, which is another's",
        key.handle()
    )))
}

/// Returns the next version with which no living key makes tokens.
fn next_version(scope: &Scope, keys: &ScopeRecord) -> Result<u32> {
    let next = keys.latest.checked_add(1).filter(|next| {
        let byte = Token::version_byte(*next);
        keys.keys.iter().all(|(version, _)| Token::version_byte(*version) != byte)
    });
    next.ok_or_else(|| {
        Error::new(ErrorKind::KeyUnavailable).because(format!(
            "{scope} has {} keys, as many as there can be: `Encryption::destroy_unused` destroys those that nothing is sealed \
             with any more, of which `Table::reencrypt` makes more",
            keys.keys.len()
        ))
    })
}
