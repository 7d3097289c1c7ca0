//! Loading much at once into LMDB: many plans in few transactions.

use std::mem;
use std::sync::Arc;

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::executor::{JobStep, Loader, TableExec};
use table_engine::model::Ticks;
use table_engine::plan::{OutboxOp, Plan, Refused};
use table_engine::sealing::SealedAt;
use table_engine::telemetry::{Stamp, Telemetry, Written};

use super::lmdb_table::LmdbTable;
use super::shared::Shared;
use crate::open::OptionalDb;
use crate::records::catalog::TableState;
use crate::write::commit::GROUP_BYTES;
use crate::write::encoded::{EncodedPlan, EncodedStep};
use crate::write::group::Members;
use crate::write::prepare;

/// Most batches in one shared transaction.
const PLANS: usize = 4_096;

/// Packs plans into few transactions.
pub(crate) struct LmdbLoader<'t> {
    inner: &'t Shared,
    /// Of which the plans are, unless each brings its own.
    tables: Vec<&'t Arc<TableState>>,
    prepared: Members,
    bytes: usize,
    /// Whether copies are to follow what has been taken in.
    follows: bool,
}

impl<'t> LmdbLoader<'t> {
    pub(crate) fn new(inner: &'t Shared) -> Self {
        Self { inner, tables: Vec::new(), prepared: Members::default(), bytes: 0, follows: false }
    }

    /// For plans of rows in these tables, of which this is the first; none if they are not of one store.
    pub(crate) fn of(table: &'t LmdbTable, tables: &[&'t dyn TableExec]) -> Option<Self> {
        let state = |other: &&'t dyn TableExec| {
            let other = LmdbTable::of(*other).ok()?;
            Arc::ptr_eq(other.inner(), table.inner()).then(|| other.state())
        };
        let tables = tables.iter().map(state).collect::<Option<_>>()?;
        Some(Self { tables, ..Self::new(table.inner()) })
    }

    /// Encodes a plan of these tables, to be carried out with the others.
    fn take(
        &mut self,
        tables: &[&Arc<TableState>],
        plan: &Plan<'_>,
        sealed_at: &SealedAt,
    ) -> Result<(), Refused> {
        if !plan.outbox_ops.is_empty() {
            self.inner.made(OptionalDb::Queues).map_err(Refused::whole)?;
            self.follows |= plan.outbox_ops.iter().any(OutboxOp::is_news);
        }
        self.inner.make_room_for_lists(plan)?;
        let mut prepared = prepare::plan(self.inner.writer.blank(), plan, tables)?;
        prepared.sealed_at = sealed_at.clone();
        self.push(prepared);
        Ok(())
    }

    /// Returns what is to be carried out, as its span says.
    fn written(&self) -> Written<'_> {
        let table = self.tables.first().map_or("", |table| &*table.name);
        let (rows, changes) = (self.prepared.rows(), self.prepared.len());
        Written { table, operation: "BULK", rows, copies: 0, changes }
    }

    fn push(&mut self, prepared: Box<EncodedPlan>) {
        self.bytes += prepared.weight();
        self.prepared.push(prepared, Stamp::NONE);
    }
}

/// Returns the first error that says that what is stored is damaged.
fn damage_of(done: &[Result<Ticks, Refused>]) -> Option<ErrorKind> {
    let mut kinds = done.iter().filter_map(|done| Some(done.as_ref().err()?.error.kind()));
    kinds.find(|kind| kind.is_damage())
}

impl Loader for LmdbLoader<'_> {
    fn add_of(
        &mut self,
        tables: &[&dyn TableExec],
        plan: &Plan<'_>,
        sealed_at: &SealedAt,
    ) -> Result<(), Refused> {
        let own = tables.iter().map(|table| self.inner.own(*table)).collect::<Result<Vec<_>, _>>()?;
        self.take(&own, plan, sealed_at)
    }

    fn add(&mut self, plan: &Plan<'_>, sealed_at: &SealedAt) -> Result<(), Refused> {
        let tables = mem::take(&mut self.tables);
        let taken = self.take(&tables, plan, sealed_at);
        self.tables = tables;
        taken
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
        let inner = self.inner;
        let telemetry = &inner.telemetry;
        let operation = telemetry.begin_commit(|| self.written());
        let _entered = operation.enter();
        let since = Stamp::now();
        let lead = self.inner.writer.lead().inspect_err(|error| operation.failed(error.kind()))?;
        since.waited();
        self.prepared.stamp(since);
        let done = self.inner.writer.run_all(self.inner, &lead, mem::take(&mut self.prepared));
        drop(lead);
        if Telemetry::IS_ON
            && let Some(damage) = damage_of(&done)
        {
            operation.failed(damage);
            telemetry.damaged(damage, self.tables.first().map_or("", |table| &*table.name));
        }
        self.inner.warn_of_space();
        if mem::take(&mut self.follows) {
            self.inner.propagators.notify();
        }
        Ok(done.into_iter().map(|done| done.map(drop)).collect())
    }
}
