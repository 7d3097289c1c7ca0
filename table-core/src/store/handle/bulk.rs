//! Loading much at once.

use std::sync::Arc;

use super::batch::Batch;
use super::shared::Shared;
use crate::error::{Error, ErrorKind, Result};
use crate::handle::store::Store;
use crate::plan::Refused;
use crate::store::write::commit::GROUP_BYTES;
use crate::store::write::prepare::Prepared;

/// What became of the batches of a [`bulk`](Store::bulk) load.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct BulkReport {
    /// How many batches were committed.
    pub committed: u64,
    /// Those that were not, and why; the others did not suffer.
    pub failures: Vec<BulkFailure>,
}

/// A batch that was not committed.
#[derive(Debug)]
#[non_exhaustive]
pub struct BulkFailure {
    /// Its place among the batches given, from zero.
    pub batch: u64,
    /// Why.
    pub error: Error,
}

/// Most batches in one shared transaction.
const PLANS: usize = 4_096;

impl Store {
    /// Commits many independent batches, packed into few transactions of up to 16 MiB.
    ///
    /// Each batch is still atomic by itself and fails by itself: the report says which did. Batches are committed in
    /// their order, and between transactions other writers get their turns. The iterator runs outside any
    /// transaction, so it may read the store.
    ///
    /// It ends early, with an error, only if the store as a whole can't go on: a full disk, say. What was committed
    /// by then stays, and the error's text says how far that is.
    ///
    /// ```
    /// # use table_core::{DynamicEntity, Store};
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// let company = store.create_table("Company")?;
    /// let report = store.bulk((0..1_000).map(|id| {
    ///     company.batch("Sales").insert(DynamicEntity::new("Sales", format!("empid_{id:06}")))
    /// }))?;
    /// assert_eq!(report.committed, 1_000);
    /// assert!(report.failures.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bulk(&self, batches: impl IntoIterator<Item = Batch>) -> Result<BulkReport> {
        let inner = self.shared().map_err(|e| e.attempted("load batches"))?;
        load(&inner, batches, |batch| own(&inner, batch).and_then(|()| batch.prepare()), Batch::again)
    }
}

fn own(inner: &Arc<Shared>, batch: &Batch) -> Result<()> {
    if batch.table().inner().is_ok_and(|of_batch| Arc::ptr_eq(of_batch, inner)) {
        Ok(())
    } else {
        Err(Error::new(ErrorKind::TableNotFound)
            .because("the batch is for a table of another store")
            .attempted("commit a batch to")
            .table(batch.table().name()))
    }
}

/// Commits what `prepare` makes of each item, packed into few transactions; `retry` makes up for an item that
/// fails to commit, or puts its error into the item's words.
pub(crate) fn load<T>(
    inner: &Arc<Shared>,
    items: impl IntoIterator<Item = T>,
    prepare: impl Fn(&T) -> Result<Prepared>,
    retry: impl Fn(&T, Refused) -> Result<()>,
) -> Result<BulkReport> {
    let mut report = BulkReport::default();
    let mut items = (0_u64..).zip(items);
    loop {
        let (mut prepared, mut planned, mut bytes) = (Vec::<Prepared>::new(), Vec::new(), 0);
        let mut ended = false;
        while prepared.len() < PLANS && bytes < GROUP_BYTES {
            let Some((number, item)) = items.next() else {
                ended = true;
                break;
            };
            match prepare(&item) {
                Ok(write) => {
                    bytes += write.weight();
                    prepared.push(write);
                    planned.push((number, item));
                }
                Err(error) => report.failures.push(BulkFailure { batch: number, error }),
            }
        }
        if !prepared.is_empty() {
            commit_all(inner, prepared, &planned, &retry, &mut report)?;
        }
        if ended {
            report.failures.sort_by_key(|failure| failure.batch);
            return Ok(report);
        }
    }
}

fn commit_all<T>(
    inner: &Arc<Shared>,
    prepared: Vec<Prepared>,
    planned: &[(u64, T)],
    retry: &impl Fn(&T, Refused) -> Result<()>,
    report: &mut BulkReport,
) -> Result<()> {
    let lead = inner.writer.lead()?;
    let results = inner.writer.run_all(inner, &lead, prepared);
    drop(lead);
    for ((number, item), result) in planned.iter().zip(results) {
        match result {
            Ok(_) => report.committed += 1,
            // Nothing from here on was committed.
            Err(refused) if refused.error.kind().stops() => {
                let reason = refused.error.kind();
                return Err(refused.numbered().because(format!(
                    "{reason}; {} batches were committed, and none from number {number} on",
                    report.committed
                )));
            }
            Err(refused) => match retry(item, refused) {
                Ok(()) => report.committed += 1,
                Err(error) => report.failures.push(BulkFailure { batch: *number, error }),
            },
        }
    }
    Ok(())
}

impl ErrorKind {
    /// Whether the error is the store's and not the batch's.
    pub(in crate::store) fn stops(self) -> bool {
        matches!(
            self,
            Self::DiskFull | Self::MapFull | Self::Io | Self::OutcomeUnknown | Self::WriterPanicked
        )
    }
}
