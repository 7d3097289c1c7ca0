//! The keys of a store, opened with its provider: the root key and what is remembered of the data keys.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use table_engine::__executor as executor;
use table_engine::crypt::KeyProvider;
use table_engine::crypt::key_cache::KeyCache;
use table_engine::crypt::mac::MacKey;
use table_engine::{Error, ErrorKind, Result};
use tokio_postgres::Row;

use super::key_rows::{KEYS, KeyTables, VaultRow};
use super::root::{self, NewRoot, Root, WrappedMacKey};
use crate::catalog::{Catalog, column};
use crate::connection::Call;
use crate::error::damaged;
use crate::param::{Param, Params};
use crate::pool::Pool;

/// How often to look again for a root key, which others may renew between two looks.
pub(super) const PATIENCE: usize = 100;

/// The keys of a store.
pub(crate) struct KeyStore {
    pub(super) pool: Arc<Pool>,
    tables: KeyTables,
    pub(super) provider: Arc<dyn KeyProvider>,
    /// The store that the keys belong to.
    pub(super) identity: [u8; 16],
    root: Mutex<Arc<Root>>,
    pub(super) authenticator: MacKey,
    cache: Mutex<KeyCache>,
}

impl KeyStore {
    /// Opens the keys of a store, or makes them if it has none.
    pub(crate) fn open(
        pool: &Arc<Pool>,
        catalog: &Catalog,
        identity: [u8; 16],
        provider: Arc<dyn KeyProvider>,
    ) -> Result<Arc<Self>> {
        let tables = KeyTables::new(catalog);
        let row = match pool.query(&tables.vault())?.first() {
            Some(row) => VaultRow::read(row)?,
            None => make(pool, &tables, &identity, &*provider)?,
        };
        let root = root::load(&row, &identity, &*provider)?;
        let authenticator = row.mac_key().open(&identity, &root)?;
        let mut cache = KeyCache::default();
        cache.generation = row.generation;
        Ok(Arc::new(Self {
            pool: pool.clone(),
            tables,
            provider,
            identity,
            root: Mutex::new(Arc::new(root)),
            authenticator,
            cache: Mutex::new(cache),
        }))
    }

    pub(super) fn tables(&self) -> &KeyTables {
        &self.tables
    }

    pub(super) fn query(&self, call: &Call) -> Result<Vec<Row>> {
        self.pool.query(call)
    }

    pub(super) fn cache(&self) -> MutexGuard<'_, KeyCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the generation of the keys, as far as this process has heard: it rises when a key stops being current, or is
    /// destroyed.
    pub(super) fn known_generation(&self) -> u64 {
        self.cache().generation
    }

    /// Takes in the generation that the server has: whatever is remembered of an earlier one may not be so any more.
    pub(super) fn observe(&self, generation: u64) {
        let mut cache = self.cache();
        if cache.generation < generation {
            cache.clear();
            cache.generation = generation;
        }
    }

    /// Takes in the generation from an answer whose first column it is.
    pub(super) fn observe_row(&self, answer: &[Row]) -> Result<()> {
        let row = answer.first().ok_or_else(gone)?;
        self.observe(column::<i64>(row, 0)?.cast_unsigned());
        Ok(())
    }

    /// Remembers keys that were read when the keys had this generation; not if they have another by now.
    pub(super) fn remember(&self, generation: u64, put: impl FnOnce(&mut KeyCache)) {
        self.observe(generation);
        let mut cache = self.cache();
        if cache.generation == generation {
            put(&mut cache);
        }
    }

    /// Returns the root key that is remembered.
    pub(super) fn known_root(&self) -> Arc<Root> {
        self.root.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the root key of this number, which the provider unwraps if it is not at hand; `None` if there is another by now.
    pub(super) fn root(&self, number: i64) -> Result<Option<Arc<Root>>> {
        let known = self.known_root();
        if known.number == number {
            return Ok(Some(known));
        }
        let row = VaultRow::read(self.query(&self.tables.vault())?.first().ok_or_else(gone)?)?;
        if row.root != number {
            return Ok(None);
        }
        // The lock is held while the provider is asked, so that it is asked once.
        let mut known = self.root.lock().unwrap_or_else(PoisonError::into_inner);
        if known.number != number {
            *known = Arc::new(root::load(&row, &self.identity, &*self.provider)?);
        }
        Ok(Some(known.clone()))
    }

    pub(super) fn remember_root(&self, root: Root) {
        *self.root.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(root);
    }
}

impl fmt::Debug for KeyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyStore").field("tables", &self.tables).finish_non_exhaustive()
    }
}

/// Makes the first keys of a store, unless another process is quicker.
fn make(
    pool: &Arc<Pool>,
    tables: &KeyTables,
    identity: &[u8; 16],
    provider: &dyn KeyProvider,
) -> Result<VaultRow> {
    let new = NewRoot::make(identity, provider)?;
    let mac_key = WrappedMacKey::make(identity, &new.root)?;
    let mut params = Params::default();
    let root = params.add(Param::Number(new.root.number));
    let provider_key = params.add(Param::Text(new.provider_key));
    let bytes = [new.check.to_vec(), new.wrapped, mac_key.check, mac_key.wrapped];
    let bytes = bytes.map(|bytes| params.add(Param::Bytes(bytes)));
    let sql = format!(
        "INSERT INTO {} (generation, root, provider_key, root_check, root_wrapped, mac_check, mac_wrapped)
         VALUES (1, {root}, {provider_key}, {}) ON CONFLICT DO NOTHING",
        tables.vault,
        bytes.join(", ")
    );
    pool.query(&Call { sql, params })?;
    VaultRow::read(pool.query(&tables.vault())?.first().ok_or_else(|| damaged(KEYS))?)
}

/// Returns the error of a store whose keys are not there any more.
#[cold]
pub(super) fn gone() -> Error {
    let because = "the row of the store's keys is gone: take it from a backup of the database";
    executor::error(ErrorKind::KeyUnavailable, because)
}

#[cold]
pub(super) fn without_end() -> Error {
    executor::error(ErrorKind::KeyUnavailable, "the root key is being renewed without end")
}
