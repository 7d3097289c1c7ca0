//! How much there is.

use super::counts::Counts;
use super::records::meta::Meta;
use super::{ReclaimFailure, Store, catalog};
use crate::error::Result;

/// How much a store holds; see [`Store::stats`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreStats {
    /// Each table, in alphabetical order.
    pub tables: Vec<TableStats>,
    /// Dropped tables whose space is still to be freed.
    pub dropped: u64,
    /// Why that is not being freed, if this process has tried and failed: for want of room, say, which a long-lived
    /// snapshot may have taken. The next drop, the next open and [`Store::reclaim`] try again; a success clears it.
    pub reclaim_failure: Option<ReclaimFailure>,
    /// The size of the store's file. It never shrinks; free pages in it are used again.
    pub file_bytes: u64,
    /// Transactions that this process has committed since it opened the store.
    pub commits: u64,
    /// The batches and single operations in them: more than `commits` where threads shared.
    pub batches: u64,
}

/// How much a table holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableStats {
    /// The table's name.
    pub name: String,
    /// How many entities it has.
    pub entities: u64,
    /// The bytes of their keys and rows as stored, pages' overhead aside.
    pub bytes: u64,
}

impl Store {
    /// How much the store and each table hold. The counts are kept with every write, so this is quick whatever there
    /// is.
    ///
    /// ```
    /// # use table_core::{DynamicEntity, Store};
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// let company = store.create_table("Company")?;
    /// company.insert(&DynamicEntity::new("Sales", "empid_000001"))?;
    /// assert_eq!(store.stats()?.tables[0].entities, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stats(&self) -> Result<StoreStats> {
        self.read_stats().map_err(|e| e.attempted("read the counts of the store"))
    }

    fn read_stats(&self) -> Result<StoreStats> {
        let inner = &*self.inner;
        inner.writer.check_running()?;
        let txn = inner.environment.read_txn()?;
        let dbs = &inner.environment.dbs;
        let mut tables = Vec::new();
        let meta = Meta::read(dbs.main, &txn)?;
        for entry in catalog::list(dbs, &txn, &meta)? {
            let counts = Counts::read(dbs.main, &txn, entry.id).map_err(|e| e.table(&entry.name))?;
            let name = entry.name.into();
            tables.push(TableStats { name, entities: counts.entities, bytes: counts.bytes });
        }
        let dropped = u64::from(meta.graves.count);
        // Another process may have freed what this one could not.
        let reclaim_failure = inner.reclaimer.failure().filter(|_| dropped > 0);
        let file_bytes = inner.environment.env.real_disk_size().map_err(super::lmdb::error)?;
        let (commits, batches) = inner.writer.totals();
        Ok(StoreStats { tables, dropped, reclaim_failure, file_bytes, commits, batches })
    }
}
