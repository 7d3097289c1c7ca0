//! What every handle of a store shares.

use std::ops::Deref;
use std::sync::OnceLock;

use super::reclaimer::Reclaimer;
use super::temporary::TemporaryDirectory;
use crate::error::Result;
use crate::store::lmdb::{Databases, WriteTxn};
use crate::store::opened::Inner;
use crate::store::records::meta::Meta;
use crate::store::write::commit::Writer;

/// An opened store with those who write to it; one for each store that the process has open.
pub(crate) struct Shared {
    inner: Inner,
    pub(in crate::store) writer: Writer,
    pub(in crate::store) reclaimer: Reclaimer,
    /// The directory of a store that goes with its last handle. Last of the fields, so that LMDB has closed its files
    /// when they are removed.
    temporary: OnceLock<TemporaryDirectory>,
}

impl Shared {
    pub(in crate::store) fn new(inner: Inner, read_only: bool) -> Self {
        Self {
            inner,
            writer: Writer::new(read_only),
            reclaimer: Reclaimer::default(),
            temporary: OnceLock::new(),
        }
    }

    /// Has the directory removed when the last handle of the store, which lies in it, is dropped.
    pub(in crate::store) fn keep(&self, directory: TemporaryDirectory) {
        // A store that was just opened in a directory of its own keeps none yet.
        drop(self.temporary.set(directory));
    }

    /// The directory that goes with the store, to be kept by another handle.
    pub(in crate::store) fn take_temporary(&mut self) -> Option<TemporaryDirectory> {
        self.temporary.take()
    }

    /// Runs a change of the small records in a transaction of its own.
    pub(in crate::store) fn transact<T>(
        &self,
        change: impl FnOnce(&mut WriteTxn<'_>, &Databases, &mut Meta) -> Result<T>,
    ) -> Result<T> {
        let _lead = self.writer.lead()?;
        let run = || {
            let mut txn = self.environment.write_txn()?;
            let dbs = &self.environment.dbs;
            let mut meta = Meta::begin(dbs.main, &txn)?;
            let done = change(&mut txn, dbs, &mut meta)?;
            meta.write(dbs.main, &mut txn)?;
            self.environment.commit(txn)?;
            Ok(done)
        };
        run().map_err(|error| self.writer.judge(self, error))
    }
}

impl Deref for Shared {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.inner
    }
}
