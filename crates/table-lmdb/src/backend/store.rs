//! A store on LMDB.

use std::path::Path;
use std::sync::Arc;

use table_engine::error::{Error, ErrorKind, Result};
#[cfg(feature = "queue")]
use table_engine::executor::Queues;
use table_engine::executor::{
    Abilities, Backend, Blobs, Dropped, Loader, OnCommitted, OneSnapshotForEachThread, Outbox, RetryFairness,
    Room, ServiceRecords, TableExec,
};
#[cfg(feature = "metrics")]
use table_engine::metrics::Metrics;
use table_engine::model::{ETag, Ticks};
use table_engine::plan::{Committed, OutboxOp, Plan, Refused};
use table_engine::schema::{PeriodTables, Schema};
use table_engine::sealing::{HasVault, SealedAt, Sealing};
use table_engine::telemetry::Telemetry;

use super::queues::strange_queue;
use crate::handle::bulk::LmdbLoader;
use crate::handle::lmdb_snapshot::LmdbSnapshot;
use crate::handle::lmdb_table::LmdbTable;
use crate::handle::shared::Shared;
use crate::jobs::rename::Renaming;
use crate::jobs::{elsewhere, reclaim};
use crate::lmdb::Databases;
use crate::open::OptionalDb;
use crate::records::catalog::{self, Entry, TableState};
use crate::records::meta::Meta;
use crate::records::periods;
#[cfg(feature = "metrics")]
use crate::state::name_of;
use crate::write::encoded::EncodedPlan;
use crate::write::prepare;

impl Shared {
    pub(super) fn table(self: &Arc<Self>, entry: &Entry) -> Arc<dyn TableExec> {
        Arc::new(LmdbTable::new(self.clone(), self.state(entry)))
    }
}

impl Shared {
    /// Makes the database of blobs if the plan changes lists, whose ids may come to lie in it: inside a transaction no
    /// database can be made.
    #[inline]
    pub(crate) fn make_room_for_lists(&self, plan: &Plan<'_>) -> Result<(), Refused> {
        let mut additions = plan.groups.iter().flat_map(|group| &group.additions);
        if additions.any(|addition| addition.amounts.are_ids()) {
            self.made(OptionalDb::Blobs).map_err(Refused::whole)?;
        }
        Ok(())
    }

    /// Puts a plan into bytes. Nothing of it is needed any more then.
    fn prepared(
        &self,
        tables: &[&dyn TableExec],
        plan: &Plan<'_>,
        sealed_at: &SealedAt,
    ) -> Result<Box<EncodedPlan>, Refused> {
        if let Some(queue_op) = plan.queue_ops.iter().find(|queue_op| queue_op.queue.store != self.number) {
            return Err(Refused::whole(strange_queue(queue_op)));
        }
        if !plan.outbox_ops.is_empty() {
            self.made(OptionalDb::Queues).map_err(Refused::whole)?;
        }
        self.make_room_for_lists(plan)?;
        let blank = self.writer.blank();
        let mut prepared = match tables {
            [table] => prepare::plan(blank, plan, &[self.own(*table)?])?,
            tables => {
                let own = tables.iter().map(|table| self.own(*table)).collect::<Result<Vec<_>, _>>()?;
                prepare::plan(blank, plan, &own)?
            }
        };
        prepared.sealed_at = sealed_at.clone();
        Ok(prepared)
    }

    /// Has those notified, before `done` is called, who wait for what the plan brings.
    fn notifying(&self, plan: &Plan<'_>, done: OnCommitted) -> OnCommitted {
        let (sends, follows) = (!plan.queue_ops.is_empty(), plan.outbox_ops.iter().any(OutboxOp::is_news));
        if !sends && !follows {
            return done;
        }
        let (arrivals, propagators) = (self.arrivals.clone(), self.propagators.clone());
        Box::new(move |answer| {
            if answer.is_ok() && sends {
                arrivals.notify();
            }
            if answer.is_ok() && follows {
                propagators.notify();
            }
            done(answer);
        })
    }

    /// Returns the state of a table, which must be this store's.
    pub(crate) fn own<'t>(&self, table: &'t dyn TableExec) -> Result<&'t Arc<TableState>, Refused> {
        let table = LmdbTable::of(table).map_err(Refused::whole)?;
        if std::ptr::eq(&raw const **table.inner(), self) {
            Ok(table.state())
        } else {
            let because = "the plan is of tables of several stores";
            Err(Refused::whole(Error::new(ErrorKind::TableNotFound).because(because)))
        }
    }
}

/// Returns the table of this name; of one that was renamed, the error says what it is called now.
pub(super) fn found(dbs: &Databases, txn: &heed::RoTxn<'_>, meta: &Meta, table: &str) -> Result<Entry> {
    if let Some(entry) = catalog::seen(dbs, txn, table)? {
        return Ok(entry);
    }
    let others = catalog::others(dbs, txn, meta, table)?;
    let Some(renamed) = others.iter().find(|other| other.was(table)) else {
        let because = "there is no such table; create it first";
        return Err(Error::new(ErrorKind::TableNotFound).because(because));
    };
    Err(Error::new(ErrorKind::TableRenamed).because(format!(
        "the table was renamed, and is called `{0}` now: declare `#[entity(table = \"{0}\")]`, or open it by that \
         name; `Store::create_table` makes another of the former name",
        renamed.name
    )))
}

impl HasVault for Shared {
    fn vault(&self) -> Result<&dyn Sealing> {
        self.keys.vault()
    }

    fn identity(&self) -> Option<&[u8; 16]> {
        Some(crate::state::StoreState::identity(self))
    }
}

impl Backend for Shared {
    fn create(self: Arc<Self>, table: &str) -> Result<Arc<dyn TableExec>> {
        let entry = self.transact(|txn, dbs, meta| {
            periods::check_plain(dbs, txn, meta, table)?;
            catalog::create(dbs, txn, meta, table)
        })?;
        Ok(self.table(&entry))
    }

    fn open(self: Arc<Self>, table: &str) -> Result<Arc<dyn TableExec>> {
        self.writer.check_running()?;
        let (txn, dbs) = (self.environment.read_txn()?, &self.environment.dbs);
        let meta = Meta::read(dbs.main, &txn)?;
        let entry = found(dbs, &txn, &meta, table)?;
        drop(txn);
        Ok(self.table(&entry))
    }

    fn tables(&self) -> Result<Vec<String>> {
        self.writer.check_running()?;
        let (txn, dbs) = (self.environment.read_txn()?, &self.environment.dbs);
        let entries = catalog::list(dbs, &txn, &Meta::read(dbs.main, &txn)?)?;
        Ok(entries.into_iter().map(|entry| entry.name.into()).collect())
    }

    /// Drops the tables in one small transaction. Their space is freed in the background.
    fn drop_tables(self: Arc<Self>, tables: &[&str]) -> Result<()> {
        let dropped = self.transact(|txn, dbs, meta| {
            let stays = |name: &str| tables.iter().all(|table| !table.eq_ignore_ascii_case(name));
            for table in tables {
                if let Some(entry) = catalog::find(dbs, txn, meta, table)? {
                    elsewhere::table_is_dropped(dbs, txn, meta, &entry, &stays)?;
                }
            }
            // The former digests are verified before new ones authenticate what was changed.
            self.verify_tables(txn, meta)?;
            let mut dropped = Vec::with_capacity(tables.len());
            for table in tables {
                let entry = catalog::drop_table(dbs, txn, meta, table).map_err(|e| e.table(table))?;
                self.forget_authenticated(txn, meta, &entry)?;
                dropped.push(entry.id);
            }
            Ok(dropped)
        })?;
        for table in dropped {
            self.forget(table);
        }
        reclaim::start(&self);
        Ok(())
    }

    fn rename_table(&self, table: &str, name: &str) -> Result<()> {
        let renaming = Renaming { inner: self, former: table, name };
        let renamed = self.transact(|txn, dbs, meta| renaming.carry_out(dbs, txn, meta))?;
        self.forget(renamed);
        Ok(())
    }

    fn make_period(
        self: Arc<Self>,
        tables: &'static PeriodTables,
        start: Ticks,
        schema: &'static Schema,
    ) -> Result<Arc<dyn TableExec>> {
        self.make_table_of(tables, start, schema)
    }

    fn drop_periods(self: Arc<Self>, tables: &'static PeriodTables, floor: Ticks) -> Result<Dropped> {
        self.drop_tables_of(tables, floor)
    }

    fn abilities(&self) -> Abilities {
        Abilities { queues: cfg!(feature = "queue"), ..Abilities::ALL }
    }

    fn commit(
        &self,
        tables: &[&dyn TableExec],
        plan: &Plan<'_>,
        sealed_at: &SealedAt,
    ) -> Result<Committed, Refused> {
        let prepared = self.prepared(tables, plan, sealed_at)?;
        let done = self.writer.commit(self, prepared)?;
        if !plan.queue_ops.is_empty() {
            self.arrivals.notify();
        }
        if plan.outbox_ops.iter().any(OutboxOp::is_news) {
            self.propagators.notify();
        }
        Ok(Committed::at(ETag::from_timestamp(done)))
    }

    fn submit(
        &self,
        tables: &[&dyn TableExec],
        plan: &Plan<'_>,
        sealed_at: &SealedAt,
        done: OnCommitted,
    ) -> Result<(), Refused> {
        let prepared = self.prepared(tables, plan, sealed_at)?;
        self.writer.submit(self.open_store(), prepared, self.notifying(plan, done))
    }

    fn outbox(&self) -> Result<&dyn Outbox> {
        Ok(self)
    }

    #[cfg(feature = "queue")]
    fn queues(&self) -> Result<&dyn Queues> {
        Ok(self)
    }

    fn see_blobs(&self) -> Result<()> {
        self.optional_db(OptionalDb::Blobs).map(drop)
    }

    fn blobs(self: Arc<Self>) -> Result<Arc<dyn Blobs>> {
        Ok(self)
    }

    fn service_records(&self) -> Result<&dyn ServiceRecords> {
        Ok(self)
    }

    fn room(&self) -> Option<&Room> {
        Some(&self.writer.submissions.room)
    }

    fn retry_fairness(&self) -> &RetryFairness {
        &self.writer.turns
    }

    fn loader(&self) -> Option<Box<dyn Loader + '_>> {
        Some(Box::new(LmdbLoader::new(self)))
    }

    fn read_snapshot(self: Arc<Self>) -> Result<Box<dyn OneSnapshotForEachThread>> {
        Ok(Box::new(LmdbSnapshot::new(&self)?))
    }

    #[inline]
    fn telemetry(&self) -> Option<&Telemetry> {
        Some(&self.telemetry)
    }

    #[cfg(feature = "metrics")]
    fn metrics(&self) -> Result<Metrics> {
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let mut metrics = self.telemetry.metrics(&name_of(&self.environment.path));
        metrics.submits_waiting = count(self.writer.submissions.waiting());
        metrics.open_snapshots = count(self.live.all().len());
        Ok(metrics)
    }

    fn is_read_only(&self) -> bool {
        self.writer.is_read_only()
    }

    fn path(&self) -> &Path {
        &self.environment.path
    }
}
