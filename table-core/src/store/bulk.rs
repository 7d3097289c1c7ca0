//! Loading much at once.

use std::sync::Arc;

use super::commit::GROUP_BYTES;
use super::prepare::Prepared;
use super::{Batch, Store};
use crate::error::{Error, ErrorKind, Result};

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
        let mut report = BulkReport::default();
        let mut batches = (0_u64..).zip(batches);
        loop {
            let (mut plans, mut numbers, mut bytes) = (Vec::<Prepared>::new(), Vec::new(), 0);
            let mut ended = false;
            while plans.len() < PLANS && bytes < GROUP_BYTES {
                let Some((number, batch)) = batches.next() else {
                    ended = true;
                    break;
                };
                match self.own(&batch).and_then(|()| batch.prepare()) {
                    Ok(plan) => {
                        bytes += plan.weight();
                        plans.push(plan);
                        numbers.push(number);
                    }
                    Err(error) => report.failures.push(BulkFailure { batch: number, error }),
                }
            }
            if !plans.is_empty() {
                self.commit_all(plans, &numbers, &mut report)?;
            }
            if ended {
                report.failures.sort_by_key(|failure| failure.batch);
                return Ok(report);
            }
        }
    }

    fn commit_all(&self, plans: Vec<Prepared>, numbers: &[u64], report: &mut BulkReport) -> Result<()> {
        let lead = self.inner.writer.lead()?;
        let results = self.inner.writer.run_all(&self.inner, &lead, plans);
        drop(lead);
        for (number, result) in numbers.iter().zip(results) {
            match result {
                Ok(_) => report.committed += 1,
                // Nothing from here on was committed.
                Err(error) if error.kind().stops() => {
                    let reason = error.kind();
                    return Err(error.because(format!(
                        "{reason}; {} batches were committed, and none from number {number} on",
                        report.committed
                    )));
                }
                Err(error) => report.failures.push(BulkFailure { batch: *number, error }),
            }
        }
        Ok(())
    }

    fn own(&self, batch: &Batch) -> Result<()> {
        if std::ptr::eq(batch.table().inner(), Arc::as_ptr(&self.inner)) {
            Ok(())
        } else {
            Err(Error::new(ErrorKind::TableNotFound)
                .because("the batch is for a table of another store")
                .attempted("commit a batch to")
                .table(batch.table().name()))
        }
    }
}

impl ErrorKind {
    /// Whether the error is the store's and not the batch's.
    pub(super) fn stops(self) -> bool {
        matches!(
            self,
            Self::DiskFull | Self::MapFull | Self::Io | Self::OutcomeUnknown | Self::WriterPanicked
        )
    }
}
