//! The queues of a store on LMDB.

use std::sync::PoisonError;

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::messages::QueueOp;

use crate::handle::shared::Shared;
use crate::lmdb::ReadTxn;
use crate::open::OptionalDb;
use crate::queues::{Outcome, View, Work};
use crate::records::features::Feature;
use crate::write::encoded::QueueOps;
use crate::write::prepare;

/// Records of a dropped queue that go in one transaction.
const PURGED_AT_ONCE: usize = 1_000;

/// Returns the error of an operation of a queue to a queue of another store.
#[cold]
pub(super) fn strange_queue(queue_op: &QueueOp) -> Error {
    let queue = match &queue_op.name {
        Some(name) => format!("queue `{}`", name.escape_debug()),
        None => format!("queue number {}", queue_op.queue.number),
    };
    Error::new(ErrorKind::QueueNotFound).because(format!(
        "{queue} is another store's, or of this one before it was opened anew; get a new handle"
    ))
}

impl Shared {
    /// Does this work in one transaction, which other writers may share.
    pub(super) fn work(&self, work: Vec<Work>) -> Result<Vec<Outcome>> {
        let queue_ops = QueueOps { work, ..QueueOps::default() };
        let outcomes = queue_ops.outcomes.clone();
        self.writer.commit(self, prepare::of_queues(queue_ops)).map_err(|refused| refused.error)?;
        let mut outcomes = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(std::mem::take(&mut *outcomes))
    }

    /// Reads queues in a snapshot; `None` if there is none.
    pub(super) fn look<T>(
        &self,
        look: impl FnOnce(View<'_>, &ReadTxn<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let Some(db) = self.optional_db(OptionalDb::Queues)? else { return Ok(None) };
        let txn = self.environment.read_txn()?;
        look(View::of_snapshot(&self.environment, &txn, db)?, &txn).map(Some)
    }

    /// Removes the records of queues that this process or another has dropped.
    pub(crate) fn purge_queues(&self) -> Result<()> {
        let dropped = self.look(|view, _| {
            let directory = view.directory()?;
            Ok(directory.queues.iter().filter(|queue| queue.is_dropped).map(|queue| queue.number).collect())
        });
        let dropped: Option<Vec<u32>> = match dropped {
            // Writers need no reader's slot where there is nothing to purge.
            Err(full) if full.kind() == ErrorKind::TooManyReaders => {
                let has_queues = self.transact(|_, _, meta| Ok(meta.features.has(Feature::Queues)))?;
                if has_queues { Err(full) } else { Ok(None) }
            }
            dropped => dropped,
        }?;
        let dropped = dropped.unwrap_or_default();
        for queue in dropped {
            while self.work(vec![Work::Purge(queue, PURGED_AT_ONCE)])? == [Outcome::Purged(false)] {}
        }
        Ok(())
    }
}
