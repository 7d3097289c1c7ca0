//! What every handle of a store shares.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use table_engine::Propagate;
use table_engine::error::Result;
use table_engine::executor::Propagators;

use super::arrivals::Arrivals;
use super::reclaimer::Reclaimer;
use super::temporary::TemporaryDirectory;
use crate::lmdb::{Databases, Db, WriteTxn};
use crate::open::OptionalDb;
use crate::records::meta::Meta;
use crate::state::StoreState;
use crate::write::commit::Writer;
use crate::write::open_store::OpenStore;
use crate::write::transaction::clock;

/// How many stores the process has opened.
static OPENED: AtomicU64 = AtomicU64::new(1);

/// An opened store with its writer. A process has one for each store that it has open.
pub(crate) struct Shared {
    /// What the thread that carries out submitted plans has, too. It has no handle of the store.
    open: Arc<OpenStore>,
    pub(crate) reclaimer: Reclaimer,
    /// The store's number among those that the process has opened since it began.
    pub(crate) number: u64,
    /// Notifies the threads that wait for messages that some have come.
    pub(crate) arrivals: Arc<Arrivals>,
    /// The threads and passes that propagate deferred copies.
    pub(crate) propagators: Arc<Propagators>,
    /// The directory of a store that goes with its last handle. Last of the fields, so that LMDB has closed its files
    /// when they are removed.
    temporary: OnceLock<TemporaryDirectory>,
}

impl Shared {
    pub(crate) fn new(inner: StoreState, read_only: bool) -> Self {
        let is_manual = read_only || inner.environment.options.propagate == Propagate::Manual;
        Self {
            open: Arc::new(OpenStore::new(inner, Writer::new(read_only))),
            reclaimer: Reclaimer::default(),
            number: OPENED.fetch_add(1, Ordering::Relaxed),
            arrivals: Arc::default(),
            propagators: Arc::new(Propagators::new(is_manual)),
            temporary: OnceLock::new(),
        }
    }

    /// Returns the store as the thread that carries out submitted plans has it.
    pub(crate) fn open_store(&self) -> &Arc<OpenStore> {
        &self.open
    }

    /// Has the directory removed when the last handle of the store, which lies in it, is dropped.
    pub(crate) fn keep(&self, directory: TemporaryDirectory) {
        // A store that was just opened in a directory of its own keeps none yet.
        drop(self.temporary.set(directory));
    }

    /// Returns the directory that goes with the store, to be kept by another handle.
    pub(crate) fn take_temporary(&mut self) -> Option<TemporaryDirectory> {
        self.temporary.take()
    }

    /// Returns a database that a feature brings, if there is one.
    pub(crate) fn optional_db(&self, late: OptionalDb) -> Result<Option<Db>> {
        self.writer.check_running()?;
        if let Some(known) = self.environment.known(late) {
            return Ok(Some(known));
        }
        // A store without the database makes no caller wait for writers.
        if !self.environment.has(late)? {
            return Ok(None);
        }
        // A transaction that is open meanwhile could not use it.
        let _lead = if self.writer.is_read_only() { None } else { Some(self.writer.lead()?) };
        self.environment.open_late(late)
    }

    /// Returns a database that a feature brings, and makes it if there is none.
    pub(crate) fn made(&self, late: OptionalDb) -> Result<Db> {
        if let Some(known) = self.optional_db(late)? {
            return Ok(known);
        }
        let _lead = self.writer.lead()?;
        self.environment.make_late(late).map_err(|error| self.writer.explain_failure(self, error))
    }

    /// Runs a change of the small records in a transaction of its own.
    pub(crate) fn transact<T>(
        &self,
        change: impl FnOnce(&mut WriteTxn<'_>, &Databases, &mut Meta) -> Result<T>,
    ) -> Result<T> {
        let _lead = self.writer.lead()?;
        let run = || {
            let mut txn = self.environment.write_txn()?;
            let dbs = &self.environment.dbs;
            let mut meta = Meta::begin(dbs.main, &txn)?;
            self.environment.check_has_name(clock().get())?;
            let done = change(&mut txn, dbs, &mut meta)?;
            meta.write(dbs.main, &mut txn)?;
            self.environment.commit(txn)?;
            Ok(done)
        };
        run().map_err(|error| self.writer.explain_failure(self, error))
    }
}

impl Deref for Shared {
    type Target = OpenStore;

    #[inline]
    fn deref(&self) -> &OpenStore {
        &self.open
    }
}

impl Drop for Shared {
    /// Has all submitted plans answered. Tells the threads in the background, which wait for something to do, that there
    /// is none any more.
    fn drop(&mut self) {
        self.propagators.over();
        self.writer.submissions.close();
    }
}
