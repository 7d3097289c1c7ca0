//! What every handle of a store shares.

use std::ops::Deref;
use std::sync::Mutex;

use super::reclaimer::Reclaimer;
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
    /// Held by the change that others have been too quick for.
    pub(in crate::store) turn: Mutex<()>,
}

impl Shared {
    pub(in crate::store) fn new(inner: Inner, read_only: bool) -> Self {
        Self {
            inner,
            writer: Writer::new(read_only),
            reclaimer: Reclaimer::default(),
            turn: Mutex::default(),
        }
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
