//! The opened environment of the keys, with its root key and its caches.
//!
//! Three rules hold throughout. The provider is never asked while a transaction is open. A data key is durable before
//! any caller gets it. A commit, by whatever process, that makes a cache untrue empties it.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use table_engine::crypt::KeyProvider;
use table_engine::crypt::key_cache::KeyCache;
use table_engine::error::{Error, ErrorKind, Result};

use super::mac_key::StoreMacKey;
use super::new_keys::NewKeys;
use super::record::Meta;
use super::root::{self, Root};
use crate::lmdb::ReadTxn;
use crate::open::aux_env::{self, Access, AuxEnv};
use crate::open::read_only;

/// How often to look again for a root key, which other processes may take away between two looks.
pub(super) const PATIENCE: usize = 100;

/// An open environment of keys.
pub(super) struct Vault {
    pub(super) side: Arc<AuxEnv>,
    pub(super) provider: Arc<dyn KeyProvider>,
    /// The store that the keys belong to.
    pub(super) identity: [u8; 16],
    root: Mutex<Option<Arc<Root>>>,
    cache: Mutex<SeenKeys>,
    pub(super) authenticator: OnceLock<StoreMacKey>,
    /// The number of the root key that this opening has made, if it has made one.
    pub(super) made: Option<u64>,
}

/// The data keys that are remembered, and the last commit at which they were looked at.
#[derive(Debug, Default)]
pub(super) struct SeenKeys {
    pub(super) keys: KeyCache,
    commit: usize,
}

impl Vault {
    /// Opens the keys in a directory, or makes them, under a new root key, if there are none.
    pub(super) fn open(
        dir: &Path,
        access: Access,
        identity: [u8; 16],
        provider: Arc<dyn KeyProvider>,
    ) -> Result<Self> {
        let mut made = None;
        let side = aux_env::open(dir, access, Meta::number_of, |dir| {
            let new = NewKeys::make(&identity, &*provider)?;
            made = Some(new.number());
            new.first_records(identity, dir)
        })?;
        let vault = Self {
            side,
            provider,
            identity,
            root: Mutex::default(),
            cache: Mutex::default(),
            authenticator: OnceLock::new(),
            made,
        };
        vault.authenticator()?;
        vault.check_whole()?;
        if !access.read_only {
            vault.remove_leftovers()?;
        }
        Ok(vault)
    }

    pub(super) fn read_txn(&self) -> Result<ReadTxn<'_>> {
        self.side.read_txn()
    }

    /// Refuses to change keys that are open for reading only.
    pub(super) fn check_writable(&self) -> Result<()> {
        if self.side.read_only { Err(read_only()) } else { Ok(()) }
    }

    /// Returns the generation of the keys now: it rises when a key stops being current, or is destroyed.
    pub(super) fn generation(&self) -> Result<u64> {
        self.cache().map(|cache| cache.keys.generation)
    }

    /// Returns the root key, which the provider unwraps if it is not at hand.
    pub(super) fn root(&self) -> Result<Arc<Root>> {
        for _ in 0..PATIENCE {
            let number = {
                let txn = self.read_txn()?;
                self.meta(&txn)?.root
            };
            // The lock is held while the provider is asked, so that it is asked once. No transaction waits for it.
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
                return Err(root::missing(&root::path(&self.side.path, number)));
            }
        }
        Err(without_end())
    }

    pub(super) fn remember_root(&self, root: Root) {
        *self.root.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(root));
    }

    /// Removes root keys that a crash left behind.
    fn remove_leftovers(&self) -> Result<()> {
        if root::list(&self.side.path)?.len() > 1 {
            // Holds the lock, and changes nothing.
            let change = self.change()?;
            root::wipe_others(&self.side.path, change.meta.root)?;
        }
        Ok(())
    }

    /// Returns the cache, as far as it is still true.
    pub(super) fn cache(&self) -> Result<MutexGuard<'_, SeenKeys>> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.commit != self.side.last_commit() {
            let txn = self.read_txn()?;
            let generation = self.meta(&txn)?.generation;
            if cache.keys.generation != generation {
                cache.keys.clear();
                cache.keys.generation = generation;
            }
            // The commit that was seen here, which need not be the last: LMDB says that there is a new one a moment
            // before it shows it. The next look finds it.
            cache.commit = txn.id();
        }
        Ok(cache)
    }

    /// Remembers a key that was read when the keys had this generation; not if they have another by now.
    pub(super) fn remember(&self, generation: u64, put: impl FnOnce(&mut KeyCache)) -> Result<()> {
        let mut cache = self.cache()?;
        if cache.keys.generation == generation {
            put(&mut cache.keys);
        }
        Ok(())
    }
}

/// Returns the error of an environment without the record that a store's keys have.
#[cold]
pub(super) fn no_keys(dir: &Path) -> Error {
    Error::new(ErrorKind::Incompatible)
        .because(format!("`{}` holds an LMDB environment that is not a store's keys", dir.display()))
}

#[cold]
pub(super) fn without_end() -> Error {
    Error::new(ErrorKind::KeyUnavailable).because("the root key is being renewed without end")
}
