//! Loading much at once.

use super::batch::Batch;
use super::tables::Tables;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::Loader;
use crate::plan::Refused;
use crate::sorting;

/// What became of the batches of a [`bulk`](crate::Tables::bulk) load, or of the entities of a
/// [`bulk_insert`](crate::Table::bulk_insert). A load is `Ok` though some of them failed: look at
/// [`failures`](Self::failures), or make an error of them by [`into_result`](Self::into_result).
#[derive(Debug, Default)]
#[must_use = "what failed is in `failures`, and nowhere else: `.into_result()?` makes an error of it"]
#[non_exhaustive]
pub struct BulkReport {
    /// How many batches were committed.
    pub committed: u64,
    /// The batches that were not committed, and why. The others are not affected.
    pub failures: Vec<BulkFailure>,
}

impl BulkReport {
    /// Returns how many were committed if all were. Else the error has the kind of the first failure, and that as its source,
    /// and says how many there are, with the first three. What was committed stays.
    ///
    /// ```
    /// # use table_core::{Entity, ErrorKind, Store};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "employee")]
    /// # #[key(partition = "{department}", row = "empid_{id:06}")]
    /// # struct Employee { department: String, id: u32 }
    /// # let store = Store::temporary()?;
    /// let staff = store.table::<Employee>()?;
    /// let load = |ids: [u32; 3]| staff.bulk_insert(ids.map(|id| Employee { department: "Sales".into(), id }));
    /// assert_eq!(load([1, 2, 3])?.into_result()?, 3);
    /// let error = load([3, 4, 5])?.into_result().unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::EntityAlreadyExists);
    /// assert_eq!(
    ///     error.to_string(),
    ///     "cannot commit all: 1 of 3 failed: number 0: cannot insert into table `Company`, partition `Sales`, \
    ///      row `empid_000003`: the entity exists already"
    /// );
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn into_result(self) -> Result<u64> {
        const SHOWN: usize = 3;
        let failed = self.failures.len();
        let all = self.committed.saturating_add(u64::try_from(failed).unwrap_or(u64::MAX));
        let shown = self.failures.iter().take(SHOWN);
        let shown: Vec<_> =
            shown.map(|failure| format!("number {}: {}", failure.index, failure.error)).collect();
        let more = match failed.saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let because = format!("{failed} of {all} failed: {}{more}", shown.join("; "));
        match self.failures.into_iter().next() {
            None => Ok(self.committed),
            Some(first) => {
                let error = Error::new(first.error.kind()).because(because).attempted("commit all");
                Err(error.caused_by(first.error))
            }
        }
    }
}

/// An entity, or a batch, that was not committed.
#[derive(Debug)]
#[non_exhaustive]
pub struct BulkFailure {
    /// Its place among the entities, or batches, that were given, from zero.
    pub index: u64,
    /// Why.
    pub error: Error,
}

impl Tables {
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
        let Some(mut loader) = self.backend().loader() else {
            return each(
                batches.into_iter().map(|batch| self.own(&batch).and_then(|()| batch.commit().map(drop))),
            );
        };
        let add = |batch: &Batch, loader: &mut (dyn Loader + '_)| {
            self.own(batch)?;
            batch.load(loader)
        };
        load(&mut *loader, batches, add, Batch::again)
    }

    fn own(&self, batch: &Batch) -> Result<()> {
        // By their addresses: a pointer to a trait may have several tables of methods.
        if std::ptr::addr_eq(batch.table().exec().store(), &raw const **self.backend()) {
            Ok(())
        } else {
            Err(Error::new(ErrorKind::TableNotFound)
                .because("the batch is for a table of another store")
                .attempted("commit a batch to")
                .table(batch.table().name()))
        }
    }
}

/// Carries out what `add` hands to the loader of each item, together with others as far as that is quicker; `retry` makes up
/// for an item that fails, or puts its error into the item's words.
pub(crate) fn load<T, L: Loader + ?Sized>(
    loader: &mut L,
    items: impl IntoIterator<Item = T>,
    add: impl Fn(&T, &mut L) -> Result<()>,
    retry: impl Fn(&T, Refused) -> Result<()>,
) -> Result<BulkReport> {
    let mut report = BulkReport::default();
    let mut items = (0_u64..).zip(items);
    loop {
        let (mut taken, mut ended) = (Vec::new(), false);
        loader.expect(items.size_hint().0);
        while !loader.is_full() {
            let Some((number, item)) = items.next() else {
                ended = true;
                break;
            };
            match add(&item, loader) {
                Ok(()) => taken.push((number, item)),
                Err(error) => report.failures.push(BulkFailure { index: number, error }),
            }
        }
        if !taken.is_empty() {
            carry_out(loader, &taken, &retry, &mut report)?;
        }
        if ended {
            sorting::sort_by_key(&mut report.failures, |failure| failure.index);
            return Ok(report);
        }
    }
}

/// Returns what became of items that are carried out one by one.
pub(crate) fn each(items: impl IntoIterator<Item = Result<()>>) -> Result<BulkReport> {
    let mut report = BulkReport::default();
    for (index, done) in (0_u64..).zip(items) {
        match done {
            Ok(()) => report.committed += 1,
            Err(error) if error.kind().stops() => return Err(error),
            Err(error) => report.failures.push(BulkFailure { index, error }),
        }
    }
    Ok(report)
}

fn carry_out<T, L: Loader + ?Sized>(
    loader: &mut L,
    taken: &[(u64, T)],
    retry: &impl Fn(&T, Refused) -> Result<()>,
    report: &mut BulkReport,
) -> Result<()> {
    for ((number, item), result) in taken.iter().zip(loader.carry_out()?) {
        match result {
            Ok(()) => report.committed += 1,
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
                Err(error) => report.failures.push(BulkFailure { index: *number, error }),
            },
        }
    }
    Ok(())
}
