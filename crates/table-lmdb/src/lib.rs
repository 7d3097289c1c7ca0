//! The store of `table-core` on LMDB, which shows programs what is for them.

#![cfg_attr(docsrs, feature(doc_cfg))]

// Elsewhere promises would be broken without a word. Windows can neither lock nor flush a directory, and who may read a
// file of keys is not looked at; the layout of LMDB's pages, by which damage is found, is known for 64-bit
// little-endian machines alone; and 32 bits have no room for the map.
#[cfg(not(all(unix, target_pointer_width = "64", target_endian = "little")))]
compile_error!(
    "table-core needs a 64-bit little-endian Unix system, such as Linux or macOS on x86_64 or aarch64"
);

// So that what the derive generates works inside the crate's tests.
#[cfg(test)]
extern crate table_engine as table_core;

mod backend;
mod blobs;
mod encryption;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod handle;
mod jobs;
pub(crate) mod lmdb;
pub(crate) mod open;
#[cfg_attr(not(feature = "queue"), allow(dead_code, reason = "who has no queue asks nothing of one"))]
mod queues;
pub(crate) mod records;
mod scan;
mod state;
mod verified;
mod write;

#[cfg(test)]
mod format_tests;
#[cfg(all(test, feature = "tracing"))]
mod tests_listener;
#[cfg(test)]
mod tests_scratch;
#[cfg(test)]
mod tests_time;

use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::telemetry::Telemetry;

use self::encryption::Keys;
use self::handle::shared::Shared;
use self::jobs::reclaim;
use self::records::meta::Meta;
use self::state::{StoreState, name_of};

#[cfg(all(feature = "encrypt", feature = "fuzzing"))]
pub(crate) use self::encryption::vault::fuzzed as fuzzed_keys;
#[cfg(feature = "encrypt")]
pub use self::encryption::vault::{Encryption, Progress};
pub use self::handle::lmdb_snapshot::SnapshotInfo;
pub use self::handle::reclaimer::ReclaimFailure;
pub use self::handle::store::Store;
pub use self::jobs::check::{CheckReport, Problem};
pub use self::jobs::stats::{BlobStats, SpaceStats, StoreStats, TableStats};
pub use self::open::{Durability, OpenOptions};
pub use self::records::mark::Mark;
pub use self::state::space::OldestSnapshot;
#[cfg(feature = "encrypt")]
pub use table_engine::crypt::{KeyInfo, SealedValues};

impl Store {
    /// Opens the store in this directory, durable and ready; creates it if there is none.
    ///
    /// A second open of one store in a process gives the same store.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::options().open(path)
    }

    /// Returns options, for a store that is opened other than with the defaults.
    pub fn options() -> OpenOptions {
        OpenOptions::default()
    }

    /// Frees the space of dropped tables before it returns; returns how many rows that were.
    ///
    /// A store does this by itself in the background, and [`stats`](Self::stats) tell if it can't. Other writers get
    /// their turns in between.
    #[inline]
    pub fn reclaim(&self) -> Result<u64> {
        let attempted = |e: Error| e.attempted(reclaim::ATTEMPTED);
        let inner = self.shared();
        inner.run_job("reclaim", || {
            inner.purge_queues().map_err(attempted)?;
            inner.purge_blobs().map_err(attempted)?;
            reclaim::run(inner)
        })
    }

    /// Writes a compacted copy of the store, as it is at this moment, into a new directory. Writers go on meanwhile. After
    /// a failure nothing is left behind, but in one case: where the copy is in place and the flush of its directory
    /// fails, it stays as it is, whole and with its keys, and the error says so.
    ///
    /// Pages are copied as they are, and no row is looked at: a copy of a damaged store may be as damaged. A backup is
    /// [checked](Self::check), or opened with [`verify_first`](OpenOptions::verify_first), before it is relied on.
    ///
    /// Free pages are left out, and with them the former bytes of what was overwritten and deleted: so a copy that is made
    /// when every value is sealed by `Table::reencrypt` shows none plain, which the store itself may do for ever. In one
    /// case LMDB can't leave them out: where damage has lost pages that are neither used nor free, as no crash does. Then
    /// the copy has what they hold. It says nothing of other places: the store's own file, which is to be removed when the
    /// copy has taken its place; older copies; and the disk itself, where a file system or an SSD keeps what was
    /// overwritten.
    ///
    /// A target inside the store's own directory, or one that holds a store, is [`TargetExists`](ErrorKind::TargetExists).
    ///
    /// The keys of encrypted properties are copied too (by a build that has the feature `encrypt`), wrapped as they
    /// are: to read the copy takes the same key provider.
    pub fn copy_to(&self, target: impl AsRef<Path>) -> Result<()> {
        let copy = || {
            let inner = self.shared();
            inner.writer.check_running()?;
            open::check_outside(&inner.environment.path, target.as_ref())?;
            let has_keys = Keys::are_noted(&inner.environment)?;
            open::copy_with(&inner.environment.env, target.as_ref(), Meta::transaction_of, |copy| {
                Keys::copy(&inner.environment, copy, has_keys)
            })
        };
        self.shared().run_job("copy_to", copy).map_err(|e: Error| e.attempted("copy the store"))
    }

    /// Puts a compacted copy in the place of the store's file, and opens that: what the disk has lost to free pages, it
    /// gets back. [`copy_to`](Self::copy_to) says what the former bytes in them mean.
    ///
    /// Nothing is lost: no process writes meanwhile. A process that has the store open elsewhere gets
    /// [`Superseded`](ErrorKind::Superseded) from its next read or write, and opens it again; snapshots and iterators
    /// that live there go on to their end. An opening meanwhile waits, for ten seconds at most, and is then
    /// [`StoreBusy`](ErrorKind::StoreBusy). A crash at any moment leaves the old file or the new one, and the store
    /// opens as ever.
    ///
    /// In this process the handle must be the last: other handles, tables, snapshots and iterators are
    /// [`StoreInUse`](ErrorKind::StoreInUse), and nothing is done. There must be room for the copy beside the file. After an
    /// error the store is to be opened again. Unix only.
    ///
    /// ```
    /// # use table_core::{DynamicEntity, Store};
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("company.tables");
    /// let store = Store::open(&path)?;
    /// let archive = store.create_table("Archive")?;
    /// for row in 0..100 {
    ///     archive.insert(&DynamicEntity::new("p", format!("{row}")).with("Text", "x".repeat(10_000)))?;
    /// }
    /// store.drop_table("Archive")?;
    /// drop(archive);
    /// let before = store.stats()?.file_bytes;
    ///
    /// let store = store.compact()?;
    /// assert!(store.stats()?.file_bytes < before / 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn compact(self) -> Result<Self> {
        let telemetry = self.shared().telemetry.clone();
        let compact = || {
            let inner = self.into_shared();
            inner.writer.check_writable()?;
            inner.propagators.hold(true);
            // What is dropped is not to be copied; and the thread that frees it has a handle.
            reclaim::run(&inner).inspect_err(|_| inner.propagators.hold(false))?;
            let mut inner = alone(inner)?;
            let temporary = inner.take_temporary();
            let (options, path) = (inner.environment.options.clone(), inner.environment.path.clone());
            open::compact(&inner.environment).map_err(|error| inner.environment.refusal(error))?;
            drop(inner);
            let store = options.open(path)?;
            if let Some(directory) = temporary {
                store.shared().keep(directory);
            }
            Ok(store)
        };
        telemetry
            .run(&telemetry.begin_job("compact", ""), "", compact)
            .map_err(|e: Error| e.attempted("compact the store"))
    }

    /// Closes this handle once all that was [submitted](table_engine::Batch::submit) before is answered. The store is closed
    /// with its last handle: tables, snapshots and iterators are handles, too.
    ///
    /// The drop of the last handle waits as well. This is for a program that wants to be sure while others are left, and to
    /// hear that its own callback [can't wait](ErrorKind::StoreInUse) for those behind it.
    ///
    /// ```
    /// # use table_core::{DynamicEntity, Store};
    /// # let dir = tempfile::tempdir()?;
    /// let store = Store::open(dir.path().join("company.tables"))?;
    /// let company = store.create_table("Company")?;
    /// company.batch("Sales").insert(DynamicEntity::new("Sales", "empid_000001")).submit(|_| {})?;
    /// store.close()?;
    /// assert!(company.get("Sales", "empid_000001")?.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn close(self) -> Result<()> {
        self.shared().writer.submissions.wait().map_err(|e| e.attempted("close the store"))
    }

    /// Returns the keys of this store, which seal and open its encrypted properties. An error if the store was opened
    /// without a [key provider](OpenOptions::encryption).
    #[cfg(feature = "encrypt")]
    pub fn encryption(&self) -> Result<&Encryption> {
        let keys = self.shared().keys.get();
        keys.map_err(|e| e.attempted("use encrypted properties"))
    }

    /// Returns how far the store has come, to be kept elsewhere; see [`Mark`].
    #[inline]
    pub fn mark(&self) -> Result<Mark> {
        let mark = || {
            let environment = &self.shared().environment;
            let txn = environment.read_txn()?;
            Meta::read(environment.dbs.main, &txn).map(|meta| Mark::of(&meta))
        };
        mark().map_err(|error: Error| error.attempted("mark the store"))
    }

    /// Frees the reader slots of processes that died; returns how many there were.
    ///
    /// This happens when a store is opened and when no slot is left. A long-lived process may call it from time to
    /// time: until it happens, space that a dead reader saw is not used again.
    pub fn clear_stale_readers(&self) -> Result<usize> {
        self.shared().environment.clear_stale_readers()
    }
}

impl OpenOptions {
    /// Opens the store in this directory; see [`Store::open`].
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Store> {
        let path = path.as_ref();
        let telemetry = Telemetry::of(&name_of(path), self.slow());
        telemetry.run(&telemetry.begin_open(), "", || self.open_store(path))
    }

    fn open_store(&self, path: &Path) -> Result<Store> {
        let inner = self.shared(path)?;
        if let Some(mark) = self.not_before {
            // It may have been open already.
            let txn = inner.environment.read_txn()?;
            mark.check(&Meta::read(inner.environment.dbs.main, &txn)?)
                .map_err(|e| e.attempted("open the store"))?;
        }
        // A process that died may have left dropped tables behind.
        if !self.read_only {
            reclaim::start(&inner);
        }
        Ok(Store::new(inner))
    }

    /// Returns what the handles of the store in this directory share. One that has stopped, and which a thread in the
    /// background alone still has, is waited for, and the store is opened anew.
    fn shared(&self, path: &Path) -> Result<Arc<Shared>> {
        let mut waiting = Waiting::begin();
        loop {
            let shared = self.opened(path)?;
            if !has_stopped(&shared) || !waiting.goes_on(&shared) {
                return Ok(shared);
            }
            drop(shared);
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn opened(&self, path: &Path) -> Result<Arc<Shared>> {
        open::open(path, self, |environment| {
            let meta = {
                let txn = environment.read_txn()?;
                Meta::read(environment.dbs.main, &txn)?
            };
            self.not_before.map_or(Ok(()), |mark| mark.check(&meta))?;
            let keys = Keys::open(&environment)?;
            let inner = |store: &Weak<Shared>| {
                let opened = StoreState::new(environment, keys.of_store(store), meta.identity);
                Shared::new(opened, self.read_only)
            };
            Ok(Arc::new_cyclic(inner))
        })
    }
}

/// Returns whether nothing goes any more, since a header could not be written. LMDB refuses everything before the thread that
/// wrote it has come to say so.
fn has_stopped(shared: &Shared) -> bool {
    let snapshot = || shared.writer.check_running().and_then(|()| shared.environment.read_txn().map(drop));
    snapshot().is_err_and(|error| error.kind() == ErrorKind::OutcomeUnknown)
}

/// The wait for a thread in the background, which has a handle for a moment.
struct Waiting {
    /// A thread that has ended its last step is gone by then. Each look that sees one at work puts this off.
    soon: Instant,
    /// No step takes longer than until then, and a thread ends after its step if it has the last handle of the store.
    late: Instant,
}

impl Waiting {
    const END: Duration = Duration::from_millis(50);

    fn begin() -> Self {
        let now = Instant::now();
        Self { soon: now + Self::END, late: now + Duration::from_secs(2) }
    }

    fn goes_on(&mut self, shared: &Shared) -> bool {
        let now = Instant::now();
        if now < self.late && (shared.reclaimer.is_running() || shared.propagators.is_running()) {
            self.soon = now + Self::END;
        }
        now < self.soon
    }
}

/// Returns what a handle shares, if no other handle does. Waits for a thread in the background, which has one for a
/// moment.
fn alone(mut inner: Arc<Shared>) -> Result<Shared> {
    let mut waiting = Waiting::begin();
    loop {
        inner = match Arc::try_unwrap(inner) {
            Ok(alone) => return Ok(alone),
            Err(shared) if waiting.goes_on(&shared) => shared,
            Err(shared) => {
                shared.propagators.hold(false);
                return Err(Error::new(ErrorKind::StoreInUse).because(
                    "this process has other handles of the store: clones, tables, snapshots or iterators; drop \
                     them first",
                ));
            }
        };
        std::thread::sleep(Duration::from_millis(1));
    }
}
