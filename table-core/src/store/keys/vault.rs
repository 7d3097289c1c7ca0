//! The keys' environment: data keys found, and made where there are none.
//!
//! Three rules hold throughout. The provider is never asked while a transaction is open. A data key is durable before
//! anybody gets it. What is remembered is thrown away as soon as a commit, by whatever process, has made it untrue.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use zeroize::Zeroizing;

use super::authority;
use super::cache::Cache;
use super::record::{self, AUTHORITY, KeyRecord, META, Meta, ScopeRecord};
use super::root::{self, NewRoot, Root};
use crate::crypt::data_key::DataKey;
use crate::crypt::envelope::{self, Purpose};
use crate::crypt::key;
use crate::crypt::mac::MacKey;
use crate::crypt::scope::check_partition;
use crate::crypt::token::Token;
use crate::crypt::{KeyHandle, KeyProvider, Scope, SecretKey};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Ticks;
use crate::store::commit::read_only;
use crate::store::lmdb::{self, ReadTxn, WriteTxn};
use crate::store::open::side::{self, Access, Side};

/// Other processes may take a root key away between two looks at it; so often in a row they do not.
pub(super) const PATIENCE: usize = 100;

/// An open environment of keys.
pub(super) struct Vault {
    pub(super) side: Arc<Side>,
    pub(super) provider: Arc<dyn KeyProvider>,
    /// The store that the keys belong to.
    pub(super) identity: [u8; 16],
    root: Mutex<Option<Arc<Root>>>,
    cache: Mutex<Cache>,
    pub(super) authority: OnceLock<MacKey>,
}

impl Vault {
    /// Opens the keys in a directory; makes them, under a new root key, if there are none.
    pub(super) fn open(
        dir: &Path,
        access: Access,
        identity: [u8; 16],
        provider: Arc<dyn KeyProvider>,
    ) -> Result<Self> {
        let side = side::open(dir, access, |dir| {
            let root = NewRoot::make(&identity, &*provider)?;
            root.write(dir)?;
            let meta = Meta { identity, root: root.root.number, generation: 0 };
            let authority = authority::make(&identity, &root.root)?;
            Ok(vec![(META.to_vec(), meta.encode()), (AUTHORITY.to_vec(), authority)])
        })?;
        let vault = Self {
            side,
            provider,
            identity,
            root: Mutex::default(),
            cache: Mutex::default(),
            authority: OnceLock::new(),
        };
        vault.authority()?;
        if !access.read_only {
            vault.remove_leftovers()?;
        }
        Ok(vault)
    }

    pub(super) fn meta(&self, txn: &heed::RoTxn<'_>) -> Result<Meta> {
        let record = self.side.db.get(txn, META).map_err(lmdb::error)?;
        let meta = record.map_or_else(|| Err(no_keys(&self.side.path)), Meta::decode)?;
        if meta.identity != self.identity {
            return Err(Error::new(ErrorKind::KeyUnavailable).because(format!(
                "the keys at `{}` are another store's; put the store's own there",
                self.side.path.display()
            )));
        }
        Ok(meta)
    }

    pub(super) fn read_txn(&self) -> Result<ReadTxn<'_>> {
        self.side.read_txn()
    }

    pub(super) fn write_txn(&self) -> Result<WriteTxn<'_>> {
        self.check_writable()?;
        self.side.write_txn()
    }

    /// Refuses to change keys that are open for reading only.
    pub(super) fn check_writable(&self) -> Result<()> {
        if self.side.read_only { Err(read_only()) } else { Ok(()) }
    }

    /// The generation of the keys now: it rises when a key stops being current, or is destroyed.
    pub(super) fn generation(&self) -> Result<u64> {
        self.cache().map(|cache| cache.generation)
    }

    /// The root key, which the provider unwraps if it is not at hand.
    pub(super) fn root(&self) -> Result<Arc<Root>> {
        for _ in 0..PATIENCE {
            let number = {
                let txn = self.read_txn()?;
                self.meta(&txn)?.root
            };
            // Held while the provider is asked, so that it is asked once: it is no lock that a transaction waits for.
            let mut known = self.root.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(root) = known.as_ref().filter(|root| root.number == number) {
                return Ok(root.clone());
            }
            let loaded = root::load(&self.side.path, &self.identity, number, &*self.provider);
            if let Ok(Some(root)) = loaded {
                let root = Arc::new(root);
                *known = Some(root.clone());
                return Ok(root);
            }
            // If another took its place meanwhile, its file is gone, or overwritten. Else it is lost.
            let txn = self.read_txn()?;
            if self.meta(&txn)?.root == number {
                loaded?;
                return Err(Error::new(ErrorKind::KeyUnavailable).because(format!(
                    "`{}` is missing; take it from a backup of the keys",
                    root::path(&self.side.path, number).display()
                )));
            }
        }
        Err(Error::new(ErrorKind::KeyUnavailable).because("the root key is being renewed without end"))
    }

    pub(super) fn remember_root(&self, root: Root) {
        *self.root.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(root));
    }

    /// Removes root keys that a crash left behind.
    fn remove_leftovers(&self) -> Result<()> {
        if root::list(&self.side.path)?.len() > 1 {
            let lock = self.write_txn()?;
            root::wipe_others(&self.side.path, self.meta(&lock)?.root)?;
        }
        Ok(())
    }

    /// What is remembered, as far as it is still true.
    fn cache(&self) -> Result<MutexGuard<'_, Cache>> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.commit != self.side.last_commit() {
            let txn = self.read_txn()?;
            let generation = self.meta(&txn)?.generation;
            if cache.generation != generation {
                cache.clear();
                cache.generation = generation;
            }
            // The commit that was seen here, which need not be the last: LMDB says that there is a new one a moment
            // before it shows it. The next look finds it.
            cache.commit = txn.id();
        }
        Ok(cache)
    }

    /// Remembers a key that was read when the keys had this generation; not if they have another by now.
    fn remember(&self, generation: u64, put: impl FnOnce(&mut Cache)) -> Result<()> {
        let mut cache = self.cache()?;
        if cache.generation == generation {
            put(&mut cache);
        }
        Ok(())
    }

    /// The key of this name.
    pub(super) fn key(&self, handle: KeyHandle) -> Result<Arc<DataKey>> {
        if let Some(key) = self.cache()?.key(handle) {
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
        Err(Error::new(ErrorKind::KeyUnavailable).because("the root key is being renewed without end"))
    }

    /// Reads and unwraps a key.
    fn load(&self, txn: &heed::RoTxn<'_>, root: &Root, handle: KeyHandle) -> Result<DataKey> {
        let record = self.record(txn, handle)?.ok_or_else(|| {
            Error::new(ErrorKind::KeyUnavailable).because(format!(
                "the store's keys hold no data key {handle}; they may be older than the data"
            ))
        })?;
        let key = self.unwrap(root, handle, &record)?.ok_or_else(|| {
            Error::new(ErrorKind::KeyShredded)
                .because(format!("the data key {handle} of {} was destroyed", record.scope))
        })?;
        Ok(DataKey::new(handle, record.version, &key))
    }

    pub(super) fn record(&self, txn: &heed::RoTxn<'_>, handle: KeyHandle) -> Result<Option<KeyRecord>> {
        let key = record::key_key(handle);
        let found = self.side.db.get(txn, &key).map_err(lmdb::error)?;
        found.map(|bytes| KeyRecord::decode(&key, bytes)).transpose()
    }

    /// What a record's key is bound to.
    fn binding(&self, handle: KeyHandle, record: &KeyRecord) -> Vec<u8> {
        let mut aad = self.identity.to_vec();
        aad.extend_from_slice(&handle.0.to_le_bytes());
        aad.extend_from_slice(&record.version.to_le_bytes());
        aad.extend_from_slice(record.scope.as_bytes());
        aad
    }

    /// The key that a record holds; `None` if it was destroyed.
    pub(super) fn unwrap(
        &self,
        root: &Root,
        handle: KeyHandle,
        record: &KeyRecord,
    ) -> Result<Option<SecretKey>> {
        let Some(wrapped) = &record.wrapped else { return Ok(None) };
        let key = envelope::open(&root.key, Purpose::DataKey, &self.binding(handle, record), wrapped)
            .ok()
            .map(Zeroizing::new)
            .and_then(|bytes| SecretKey::from_slice(&bytes))
            .filter(|key| key.check_value() == record.check);
        key.map(Some).ok_or_else(|| {
            Error::new(ErrorKind::DecryptionFailed)
                .because(format!("the data key {handle} does not open: its record was changed"))
        })
    }

    pub(super) fn wrap(
        &self,
        root: &Root,
        handle: KeyHandle,
        record: &KeyRecord,
        key: &SecretKey,
    ) -> Result<Vec<u8>> {
        envelope::seal(&root.key, Purpose::DataKey, &self.binding(handle, record), key.expose())
    }

    pub(super) fn scope(&self, txn: &heed::RoTxn<'_>, scope: &[u8]) -> Result<ScopeRecord> {
        let key = record::scope_key(scope);
        let found = self.side.db.get(txn, &key).map_err(lmdb::error)?;
        found.map_or_else(|| Ok(ScopeRecord::default()), |bytes| ScopeRecord::decode(&key, bytes))
    }

    /// The key that seals in a scope, made if there is none.
    pub(super) fn current(&self, scope: &[u8]) -> Result<Arc<DataKey>> {
        if let Some(key) = self.cache()?.current(scope) {
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
            self.remember(meta.generation, |cache| cache.put_current(scope, &key))?;
            return Ok(key);
        }
        Err(Error::new(ErrorKind::KeyUnavailable).because("the root key is being renewed without end"))
    }

    /// All keys of a scope that are alive, newest first.
    pub(super) fn alive(&self, scope: &[u8]) -> Result<Vec<Arc<DataKey>>> {
        let keys = {
            let txn = self.read_txn()?;
            self.scope(&txn, scope)?.keys
        };
        let mut found = Vec::with_capacity(keys.len());
        for (_, handle) in keys.iter().rev() {
            match self.key(*handle) {
                // Destroyed meanwhile: then nothing is found by it.
                Err(error) if error.kind() == ErrorKind::KeyShredded => {}
                key => found.push(key?),
            }
        }
        Ok(found)
    }

    /// Gives a scope a new key, which is durable when this returns; or, if asked so, leaves the one that it has.
    pub(super) fn add(&self, scope: &Scope, add: Add) -> Result<KeyHandle> {
        self.check_writable()?;
        for _ in 0..PATIENCE {
            let root = self.root()?;
            let (handle, key) = (KeyHandle(key::random_number()?), SecretKey::generate()?);
            let mut txn = self.write_txn()?;
            let mut meta = self.meta(&txn)?;
            if meta.root != root.number {
                continue;
            }
            let mut keys = self.scope(&txn, scope.as_bytes())?;
            if let (Add::IfNone, Some(current)) = (add, keys.current()) {
                return Ok(current);
            }
            // Where there was none, nobody remembers another.
            if keys.current().is_some() {
                meta.generation += 1;
            }
            let version = next_version(scope, &keys)?;
            let at = record::key_key(handle);
            if self.side.db.get(&txn, &at).map_err(lmdb::error)?.is_some() {
                continue;
            }
            let mut record = KeyRecord {
                version,
                made: Ticks::now(),
                check: key.check_value(),
                scope: scope.clone(),
                wrapped: None,
            };
            record.wrapped = Some(self.wrap(&root, handle, &record, &key)?);
            keys.latest = version;
            keys.keys.push((version, handle));
            let put = |txn: &mut WriteTxn<'_>, key: &[u8], record: &[u8]| {
                self.side.db.put(txn, key, record).map_err(lmdb::error)
            };
            put(&mut txn, &at, &record.encode(&at))?;
            let at = record::scope_key(scope.as_bytes());
            put(&mut txn, &at, &keys.encode(&at))?;
            put(&mut txn, META, &meta.encode())?;
            self.side.commit(txn)?;
            return Ok(handle);
        }
        Err(Error::new(ErrorKind::KeyUnavailable).because("the root key is being renewed without end"))
    }
}

/// The environment in this directory lacks the record that a store's keys have.
#[cold]
pub(super) fn no_keys(dir: &Path) -> Error {
    Error::new(ErrorKind::Incompatible)
        .because(format!("`{}` holds an LMDB environment that is not a store's keys", dir.display()))
}

/// When a scope gets a new key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Add {
    /// If it has none.
    IfNone,
    /// In any case.
    Always,
}

/// The next version whose tokens no key that is alive makes.
fn next_version(scope: &Scope, keys: &ScopeRecord) -> Result<u32> {
    let next = keys.latest.checked_add(1).filter(|next| {
        let byte = Token::version_byte(*next);
        keys.keys.iter().all(|(version, _)| Token::version_byte(*version) != byte)
    });
    next.ok_or_else(|| {
        Error::new(ErrorKind::KeyUnavailable).because(format!(
            "{scope} has {} keys; destroy old ones before a new one is made",
            keys.keys.len()
        ))
    })
}
