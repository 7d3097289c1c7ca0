//! Statistics of a store and its tables.

use table_engine::error::Result;
use table_engine::messages::QueueStats;

use crate::Store;
use crate::blobs::BlobView;
use crate::handle::reclaimer::ReclaimFailure;
use crate::open::{OptionalDb, Space};
use crate::queues::View;
use crate::records::catalog;
use crate::records::counts::Counts;
use crate::records::meta::Meta;
use crate::state::space::OldestSnapshot;
use crate::write::transaction::clock;

/// How much a store holds; see [`Store::stats`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreStats {
    /// Each table, in alphabetical order.
    pub tables: Vec<TableStats>,
    /// Each queue, in the order in which they were made.
    pub queues: Vec<QueueStats>,
    /// How many blobs there are, and their bytes.
    pub blobs: BlobStats,
    /// Dropped tables whose space is still to be freed.
    pub dropped: u64,
    /// The error that keeps this process from freeing it, if it has tried: for want of room, say, which a long-lived
    /// snapshot may have taken. The next drop, the next open and [`Store::reclaim`] try again; a success clears it.
    pub reclaim_failure: Option<ReclaimFailure>,
    /// The size of the store's file. It never shrinks; free pages in it are used again.
    pub file_bytes: u64,
    /// What the file's pages are used for.
    pub space: SpaceStats,
    /// The oldest snapshot, of whatever process. The [`held_back_bytes`](SpaceStats::held_back_bytes) wait for it.
    ///
    /// Those of other processes are seen on 64-bit Linux alone, in LMDB's table of readers. Elsewhere, and where
    /// `/proc` can't be read, this is the oldest of this process, and what other processes hold back counts as free.
    pub oldest_snapshot: Option<OldestSnapshot>,
    /// Transactions that this process has committed since it opened the store.
    pub commits: u64,
    /// The batches and single operations in them: more than `commits` where threads shared.
    pub batches: u64,
}

/// What the blobs of a store come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlobStats {
    /// How many blobs there are, those that wait included.
    pub blobs: u64,
    /// How many names lead to them, in all containers.
    pub names: u64,
    /// Those that wait: for the rest of an upload, or to be removed.
    pub waiting: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// What the pages of a store's file are used for. Their sum is the size of the file, but for pages at its end: some may
/// never have been written, and some be written by a transaction that has not ended, or came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpaceStats {
    /// Pages in use by the store as it is now.
    pub live_bytes: u64,
    /// Free pages that the next changes take before the file grows.
    pub free_bytes: u64,
    /// Free pages that can't be used yet, since a snapshot may still look at them. As long as the snapshot lives, each
    /// change takes pages at the end of the file.
    pub held_back_bytes: u64,
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
    /// Returns how much the store and each table hold, and what the file's space is used for. The counts are kept with
    /// every write, so this is quick whatever there is; it reads the list of free pages, eight bytes for each.
    ///
    /// Reader slots of processes that have died are freed on the way, as
    /// [`clear_stale_readers`](Self::clear_stale_readers) does.
    ///
    /// ```
    /// # use table_core::{DynamicEntity, Store};
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// let company = store.create_table("Company")?;
    /// company.insert(&DynamicEntity::new("Sales", "empid_000001"))?;
    /// assert_eq!(store.stats()?.tables[0].entities, 1);
    ///
    /// // A snapshot that is kept makes the file grow with every change.
    /// let snapshot = store.snapshot()?;
    /// for round in 0..10 {
    ///     let jones = DynamicEntity::new("Sales", "empid_000001").with("Round", round);
    ///     company.put(&jones)?;
    /// }
    /// let stats = store.stats()?;
    /// if let Some(oldest) = stats.oldest_snapshot {
    ///     assert!(stats.space.held_back_bytes > 0);
    ///     assert_eq!(oldest.process, std::process::id());
    ///     println!("{} bytes wait for a snapshot {:?} old", stats.space.held_back_bytes, oldest.age);
    /// }
    /// # drop(snapshot);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn stats(&self) -> Result<StoreStats> {
        self.read_stats().map_err(|e| e.attempted("read the counts of the store"))
    }

    #[inline]
    fn read_stats(&self) -> Result<StoreStats> {
        let inner = self.shared();
        inner.writer.check_running()?;
        // The snapshot can look into a database only that was opened before it.
        let database = inner.optional_db(OptionalDb::Queues)?;
        let blobs_database = inner.optional_db(OptionalDb::Blobs)?;
        let txn = inner.environment.read_txn()?;
        let dbs = &inner.environment.dbs;
        let mut tables = Vec::new();
        let meta = Meta::read(dbs.main, &txn)?;
        for entry in catalog::list(dbs, &txn, &meta)? {
            let counts = Counts::read(dbs.main, &txn, entry.id).map_err(|e| e.table(&entry.name))?;
            let name = entry.name.into();
            tables.push(TableStats { name, entities: counts.entities, bytes: counts.bytes });
        }
        let mut queues = Vec::new();
        if let Some(database) = database {
            let view = View::of_snapshot(&inner.environment, &txn, database)?;
            let now = clock();
            for queue in view.directory()?.queues.iter().filter(|queue| !queue.is_dropped) {
                queues.push(view.stats(queue.number, now)?);
            }
        }
        let mut blobs = BlobStats::default();
        if let Some(database) = blobs_database {
            let counters = BlobView::of_snapshot(&inner.environment, &txn, database)?.counters()?;
            blobs = BlobStats {
                blobs: counters.blobs.count,
                names: counters.names.count,
                waiting: counters.waiting.count,
                bytes: counters.bytes,
            };
        }
        let dropped = u64::from(meta.tombstones.count);
        // Another process may have freed what this one could not.
        let reclaim_failure = inner.reclaimer.failure().filter(|_| dropped > 0);
        drop(txn);
        let (usage, oldest_snapshot) = inner.usage()?;
        let Space { live, free, held_back } = usage.space;
        let space = SpaceStats { live_bytes: live, free_bytes: free, held_back_bytes: held_back };
        let (commits, batches) = inner.writer.totals();
        Ok(StoreStats {
            tables,
            queues,
            blobs,
            dropped,
            reclaim_failure,
            file_bytes: usage.file,
            space,
            oldest_snapshot,
            commits,
            batches,
        })
    }
}
