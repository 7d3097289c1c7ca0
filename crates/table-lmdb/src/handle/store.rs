//! A store on LMDB as the user holds it.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use table_engine::handle::tables::Tables;

use super::shared::Shared;

/// Tables of entities in a directory on disk.
///
/// A store is cheap to clone and may be shared between threads; several processes may have it open. Every change is
/// one transaction: it happens whole, or not at all, and when the call returns it is on disk.
///
/// Here is what LMDB's files alone can do: opening, statistics, checks, copies, keys. Tables, sets, transactions, snapshots
/// and all else are methods of [`Tables`], which a store lends: they are called on the store as if they were its own.
///
/// ```
/// use table_core::{DynamicEntity, Store};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("company.tables");
/// let store = Store::open(&path)?;
/// let company = store.create_table("Company")?;
///
/// company.insert(&DynamicEntity::new("Sales", "empid_000001").with("LastName", "Jones"))?;
/// let jones = company.get("Sales", "empid_000001")?.unwrap();
/// assert_eq!(jones.get("LastName").and_then(|name| name.as_str()), Some("Jones"));
///
/// // Only the version that was read is deleted.
/// company.delete_if("Sales", "empid_000001", jones.etag().unwrap())?;
/// assert_eq!(company.get("Sales", "empid_000001")?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Store {
    tables: Tables,
    shared: Arc<Shared>,
}

impl Store {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { tables: Tables::new(shared.clone()), shared }
    }

    /// Returns the store on LMDB that these are the tables of; `None` if they are of another.
    ///
    /// ```
    /// use table_core::{Result, Store, Tables};
    ///
    /// /// Returns how large the store's file is, where it has one.
    /// fn file_bytes(tables: &Tables) -> Result<Option<u64>> {
    ///     Store::of(tables).map(|store| Ok(store.stats()?.file_bytes)).transpose()
    /// }
    ///
    /// let store = Store::temporary()?;
    /// assert!(file_bytes(&store)?.is_some());
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn of(tables: &Tables) -> Option<Self> {
        let backend: Arc<dyn Any + Send + Sync> = tables.backend().clone();
        backend.downcast().ok().map(Self::new)
    }

    /// Returns what its handles share.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Gives away what its handles share.
    pub(crate) fn into_shared(self) -> Arc<Shared> {
        self.shared
    }
}

impl Deref for Store {
    type Target = Tables;

    fn deref(&self) -> &Tables {
        &self.tables
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("path", &self.path()).finish_non_exhaustive()
    }
}
