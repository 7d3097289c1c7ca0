//! Loading much at once into LMDB: many plans in few transactions.

use std::sync::Arc;

use super::batch::Batch;
use super::lmdb_table::LmdbTable;
use super::shared::Shared;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{JobStep, Loader, TableExec};
use crate::handle::bulk::{BulkFailure, BulkReport, load};
use crate::handle::store::Store;
use crate::plan::{OutboxOp, Plan, Refused};
use crate::sealing::SealedAt;
use crate::store::open::OptionalDb;
use crate::store::records::catalog::TableState;
use crate::store::write::commit::GROUP_BYTES;
use crate::store::write::encoded::{EncodedPlan, EncodedStep};
use crate::store::write::group::Members;
use crate::store::write::prepare;

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
        let Ok(inner) = self.shared() else { return self.one_by_one(batches) };
        let mut loader = LmdbLoader::new(&inner);
        let add = |batch: &Batch, loader: &mut LmdbLoader<'_>| {
            self.own(batch)?;
            loader.push(batch.prepare()?);
            Ok(())
        };
        load(&mut loader, batches, add, Batch::again)
    }

    /// Commits the batches one by one, for an executor that has no way to pack them.
    fn one_by_one(&self, batches: impl IntoIterator<Item = Batch>) -> Result<BulkReport> {
        let mut report = BulkReport::default();
        for (number, batch) in (0..).zip(batches) {
            match self.own(&batch).and_then(|()| batch.commit()) {
                Ok(_) => report.committed += 1,
                Err(error) if error.kind().stops() => return Err(error),
                Err(error) => report.failures.push(BulkFailure { index: number, error }),
            }
        }
        Ok(report)
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

/// Packs plans into few transactions.
pub(crate) struct LmdbLoader<'t> {
    inner: &'t Arc<Shared>,
    /// The tables of the plans, unless each plan brings its own.
    tables: Vec<&'t Arc<TableState>>,
    prepared: Members,
    bytes: usize,
    /// Whether the plans that were taken in have deferred copies.
    follows: bool,
}

impl<'t> LmdbLoader<'t> {
    fn new(inner: &'t Arc<Shared>) -> Self {
        Self { inner, tables: Vec::new(), prepared: Members::default(), bytes: 0, follows: false }
    }

    /// Returns a loader for plans of rows in these tables, of which this is the first; `None` if they are not of one
    /// store.
    pub(crate) fn of(table: &'t LmdbTable, tables: &[&'t dyn TableExec]) -> Option<Self> {
        let state = |other: &&'t dyn TableExec| {
            let other = LmdbTable::of(*other).ok()?;
            Arc::ptr_eq(other.inner(), table.inner()).then(|| other.state())
        };
        let tables = tables.iter().map(state).collect::<Option<_>>()?;
        Some(Self { tables, ..Self::new(table.inner()) })
    }

    fn push(&mut self, prepared: Box<EncodedPlan>) {
        self.bytes += prepared.weight();
        self.prepared.push(prepared);
    }
}

impl Loader for LmdbLoader<'_> {
    fn add(&mut self, plan: &Plan<'_>, sealed_at: &SealedAt) -> Result<(), Refused> {
        if !plan.outbox_ops.is_empty() {
            self.inner.made(OptionalDb::Queues).map_err(Refused::whole)?;
            self.follows |= plan.outbox_ops.iter().any(OutboxOp::is_news);
        }
        self.inner.make_room_for_lists(plan)?;
        let mut prepared = prepare::plan(self.inner.writer.blank(), plan, &self.tables)?;
        prepared.sealed_at = sealed_at.clone();
        self.push(prepared);
        Ok(())
    }

    fn add_step(&mut self, step: JobStep) -> Result<(), Refused> {
        let Some(table) = self.tables.first().copied() else {
            let because = "a step is of one table";
            return Err(Refused::whole(Error::new(ErrorKind::TableNotFound).because(because)));
        };
        self.push(Box::new(EncodedPlan::of_step(table, step)));
        Ok(())
    }

    fn add_with_step(&mut self, plan: &Plan<'_>, step: JobStep) -> Result<(), Refused> {
        self.inner.make_room_for_lists(plan)?;
        let mut prepared = prepare::plan(self.inner.writer.blank(), plan, &self.tables)?;
        if let Some(table) = self.tables.first().copied() {
            prepared.step = Some(Box::new(EncodedStep { table: table.clone(), step }));
        }
        self.push(prepared);
        Ok(())
    }

    fn expect(&mut self, plans: usize) {
        self.prepared.reserve(plans.min(PLANS));
    }

    fn is_full(&self) -> bool {
        self.prepared.len() >= PLANS || self.bytes >= GROUP_BYTES
    }

    fn carry_out(&mut self) -> Result<Vec<Result<(), Refused>>> {
        self.bytes = 0;
        self.inner.writer.turns.pass();
        let lead = self.inner.writer.lead()?;
        let done = self.inner.writer.run_all(self.inner, &lead, std::mem::take(&mut self.prepared));
        drop(lead);
        if std::mem::take(&mut self.follows) {
            self.inner.propagators.notify();
        }
        Ok(done.into_iter().map(|done| done.map(drop)).collect())
    }
}
