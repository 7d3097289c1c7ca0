//! A backend that carries out what an access permits, by another one.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(feature = "blob")]
use super::blobs::RestrictedBlobs;
use super::checks::{Check, is_on};
use super::limits::{Limits, rights_for};
use super::snapshot::RestrictedSnapshot;
use super::table::{LimitedTable, discreet, limited};
use crate::access::{Access, Names};
use crate::contents::ContainerId;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{
    Abilities, Backend, Blobs, Dropped, OnCommitted, OneSnapshotForEachThread, Outbox, Queues,
    RestrictedTable, RetryFairness, Rights, Room, ServiceRecords, TableExec,
};
use crate::messages::QueueId;
use crate::model::{EntityKeys, Ticks};
use crate::plan::{Committed, Condition, Group, Plan, PlanOutline, Refused, RowWrite};
use crate::schema::{PeriodTables, Schema};
use crate::sealing::{HasVault, SealedAt, Sealing};
use crate::telemetry::Telemetry;

/// A store as an access shows it.
pub(super) struct RestrictedBackend {
    pub(super) inner: Arc<dyn Backend>,
    pub(super) limits: Limits,
    /// The queues and containers that were opened by names that the access has.
    queues: Mutex<Vec<QueueId>>,
    containers: Mutex<Vec<ContainerId>>,
}

impl RestrictedBackend {
    pub(super) fn new(inner: Arc<dyn Backend>, access: Access) -> Self {
        Self { inner, limits: Limits::new(access), queues: Mutex::default(), containers: Mutex::default() }
    }

    /// Returns the store itself, and what is left of the access under another one.
    pub(super) fn further(&self, access: &Access) -> (Arc<dyn Backend>, Access) {
        (self.inner.clone(), self.limits.access().both(access))
    }

    pub(super) fn table(self: Arc<Self>, inner: Arc<dyn TableExec>) -> Arc<dyn TableExec> {
        Arc::new(LimitedTable::new(inner, self))
    }

    pub(super) fn is_named(&self, table: &str) -> bool {
        self.limits.access().tables.has(table) || !is_on(Check::Tables)
    }

    /// Notes a queue that was opened by its name.
    pub(super) fn admit_queue(&self, queue: QueueId) {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        if !queues.contains(&queue) {
            queues.push(queue);
        }
    }

    /// Refuses a queue that was not opened by a name that the access has.
    pub(super) fn check_queue(&self, queue: QueueId) -> Result<()> {
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        if queues.contains(&queue) || !is_on(Check::Queues) { Ok(()) } else { Err(self.limits.is_not_to()) }
    }

    /// Notes a container that was opened by its name.
    #[cfg_attr(not(feature = "blob"), expect(dead_code, reason = "there is none without blobs"))]
    pub(super) fn admit_container(&self, container: ContainerId) {
        let mut containers = self.containers.lock().unwrap_or_else(PoisonError::into_inner);
        if !containers.contains(&container) {
            containers.push(container);
        }
    }

    /// Refuses a container that was not opened by a name that the access has.
    #[cfg_attr(not(feature = "blob"), expect(dead_code, reason = "there is none without blobs"))]
    pub(super) fn check_container(&self, container: ContainerId) -> Result<()> {
        let containers = self.containers.lock().unwrap_or_else(PoisonError::into_inner);
        if containers.contains(&container) || !is_on(Check::Containers) {
            Ok(())
        } else {
            Err(self.limits.is_not_to())
        }
    }

    fn administers(&self, what: &str) -> Result<()> {
        if is_on(Check::Administration) { Err(self.limits.never(what)) } else { Ok(()) }
    }

    /// Refuses a plan of which something is not permitted. Rows that follow from an entity are written by the right to write
    /// that: it must be in the plan.
    fn check_plan(&self, tables: &[&LimitedTable], plan: &Plan<'_>) -> Result<(), Refused> {
        self.limits.check_time().map_err(Refused::whole)?;
        if plan.keeps_times {
            return Err(Refused::whole(self.limits.never("seal values anew")));
        }
        if plan.is_raw {
            return Err(Refused::whole(
                self.limits.never("write rows of declared kinds by their properties"),
            ));
        }
        if plan.groups.iter().next().is_none() && (!plan.outbox_ops.is_empty() || plan.as_of.is_some()) {
            return Err(Refused::whole(self.limits.never("see to what is still to follow")));
        }
        for (number, group) in plan.groups.iter().enumerate() {
            let refused = |row: usize| move |error: Error| Refused { error, group: number, row: Some(row) };
            let table = tables.get(group.table).ok_or_else(|| Refused::whole(no_table()))?;
            for (at, row) in group.rows.iter().enumerate() {
                let checked = if row.kind.is_none() || row.is_own() {
                    table.check(rights_for(row), EntityKeys::new(group.partition, row.key))
                } else {
                    self.check_derived(plan, row.of)
                };
                checked.map_err(refused(at))?;
            }
            for (at, addition) in (group.rows.len()..).zip(&group.additions) {
                let checked = if addition.amounts.are_own() {
                    table.check(Rights::UPDATE, EntityKeys::new(group.partition, addition.key))
                } else {
                    self.check_derived(plan, addition.of)
                };
                checked.map_err(refused(at))?;
            }
        }
        for queue_op in &plan.queue_ops {
            self.check_queue_op(queue_op).map_err(Refused::whole)?;
        }
        Ok(())
    }

    /// Refuses a row that follows from an entity which the plan does not change.
    fn check_derived(&self, plan: &Plan<'_>, of: usize) -> Result<()> {
        let changes = |group: &Group<'_>| group.rows.iter().any(|row| row.of == of && row.is_own());
        if plan.groups.iter().any(changes) {
            return Ok(());
        }
        Err(self.limits.never("write copies without their entity"))
    }

    /// Returns a refusal without what it says of rows that are not shown.
    fn told(tables: &[&LimitedTable], plan: &Plan<'_>, refused: Refused) -> Refused {
        let Refused { error, group, row } = refused;
        let planned = plan.groups.get(group);
        let lone = planned.is_some_and(|group| group.rows.len() == 1).then_some(0);
        let found = planned.zip(row.or(lone)).and_then(|(group, row)| Some((group, group.rows.get(row)?)));
        let is_asked = |row: &RowWrite<'_>| row.kind.is_none() || row.is_own();
        let error = match found {
            Some((group, row)) if row.kind.is_none() => match tables.get(group.table) {
                Some(table) => hidden(table, EntityKeys::new(group.partition, row.key), row.condition, error),
                None => error,
            },
            Some((_, row)) if is_asked(row) => error,
            None if row.is_none() => error,
            None if row
                .and_then(|row| plan.addition(group, row))
                .is_some_and(|add| add.amounts.are_own()) =>
            {
                error
            }
            _ if is_on(Check::Errors) => discreet(&error),
            _ => error,
        };
        Refused { error, group, row }
    }
}

/// Returns the error of the write of a row by its properties: one that is not shown reads as if there were none, but that its
/// key is taken.
fn hidden(table: &LimitedTable, keys: EntityKeys<'_>, condition: Condition, error: Error) -> Error {
    let is_told = matches!(
        error.kind(),
        ErrorKind::DeclaredKind
            | ErrorKind::ConditionNotMet
            | ErrorKind::EntityAlreadyExists
            | ErrorKind::NotGenuine
            | ErrorKind::SchemaMismatch
    );
    if !is_told || !table.hides(keys).unwrap_or(true) {
        return error;
    }
    match condition {
        Condition::Absent | Condition::StillAbsent | Condition::Any => {
            Error::new(ErrorKind::EntityAlreadyExists)
        }
        Condition::Present | Condition::Tag(_) | Condition::Is(_) => Error::new(ErrorKind::EntityNotFound),
    }
}

impl HasVault for RestrictedBackend {
    fn vault(&self) -> Result<&dyn Sealing> {
        self.inner.vault()
    }

    fn identity(&self) -> Option<&[u8; 16]> {
        self.inner.identity()
    }
}

impl Backend for RestrictedBackend {
    fn create(self: Arc<Self>, table: &str) -> Result<Arc<dyn TableExec>> {
        self.administers("make tables")?;
        let inner = self.inner.clone().create(table)?;
        Ok(self.table(inner))
    }

    fn open(self: Arc<Self>, table: &str) -> Result<Arc<dyn TableExec>> {
        self.limits.check_table(table)?;
        let inner = self.inner.clone().open(table)?;
        Ok(self.table(inner))
    }

    fn tables(&self) -> Result<Vec<String>> {
        self.limits.check_time()?;
        Ok(self.inner.tables()?.into_iter().filter(|name| self.is_named(name)).collect())
    }

    fn drop_tables(self: Arc<Self>, tables: &[&str]) -> Result<()> {
        self.administers("drop tables")?;
        self.inner.clone().drop_tables(tables)
    }

    fn rename_table(&self, table: &str, name: &str) -> Result<()> {
        self.administers("rename tables")?;
        self.inner.rename_table(table, name)
    }

    fn make_period(
        self: Arc<Self>,
        tables: &'static PeriodTables,
        start: Ticks,
        schema: &'static Schema,
    ) -> Result<Arc<dyn TableExec>> {
        self.limits.check_table(&tables.name(start))?;
        let there = self.inner.clone().read_snapshot()?.period(tables, start)?;
        let inner = if let Ok(table) = there {
            table
        } else {
            self.administers("make tables")?;
            self.inner.clone().make_period(tables, start, schema)?
        };
        Ok(self.table(inner))
    }

    fn drop_periods(self: Arc<Self>, tables: &'static PeriodTables, floor: Ticks) -> Result<Dropped> {
        self.administers("drop tables")?;
        self.inner.clone().drop_periods(tables, floor)
    }

    fn abilities(&self) -> Abilities {
        self.inner.abilities()
    }

    fn commit(
        &self,
        tables: &[&dyn TableExec],
        plan: &Plan<'_>,
        sealed_at: &SealedAt,
    ) -> Result<Committed, Refused> {
        let tables = tables.iter().map(|table| limited(*table)).collect::<Result<Vec<_>>>();
        let tables = tables.map_err(Refused::whole)?;
        self.check_plan(&tables, plan)?;
        let inner: Vec<_> = tables.iter().map(|table| &*table.inner).collect();
        let done = self.inner.commit(&inner, plan, sealed_at);
        done.map_err(|refused| Self::told(&tables, plan, refused))
    }

    fn submit(
        &self,
        tables: &[&dyn TableExec],
        plan: &Plan<'_>,
        sealed_at: &SealedAt,
        done: OnCommitted,
    ) -> Result<(), Refused> {
        let tables = tables.iter().map(|table| limited(*table)).collect::<Result<Vec<_>>>();
        let tables = tables.map_err(Refused::whole)?;
        self.check_plan(&tables, plan)?;
        let inner: Vec<_> = tables.iter().map(|table| &*table.inner).collect();
        let again = |table: &&LimitedTable| LimitedTable::new(table.inner.clone(), table.store.clone());
        let kept: Vec<_> = tables.iter().map(again).collect();
        let outline = PlanOutline::of(plan);
        let told = move |answered: Result<Committed, Refused>| {
            let tables: Vec<_> = kept.iter().collect();
            done(answered.map_err(|refused| outline.with_plan(|plan| Self::told(&tables, plan, refused))));
        };
        let taken = self.inner.submit(&inner, plan, sealed_at, Box::new(told));
        taken.map_err(|refused| Self::told(&tables, plan, refused))
    }

    fn room(&self) -> Option<&Room> {
        self.inner.room()
    }

    /// Counts what the restricted handle does with all else; the counts are not shown by it.
    #[inline]
    fn telemetry(&self) -> Option<&Telemetry> {
        self.inner.telemetry()
    }

    fn retry_fairness(&self) -> &RetryFairness {
        self.inner.retry_fairness()
    }

    fn read_snapshot(self: Arc<Self>) -> Result<Box<dyn OneSnapshotForEachThread>> {
        self.limits.check_time()?;
        let inner = self.inner.clone().read_snapshot()?;
        Ok(Box::new(RestrictedSnapshot::new(inner, self)))
    }

    fn queues(&self) -> Result<&dyn Queues> {
        let names = &self.limits.access().queues;
        if matches!(names, Names::These(names) if names.is_empty()) && is_on(Check::Queues) {
            return Err(self.limits.is_not_to());
        }
        self.inner.queues().map(|_| -> &dyn Queues { self })
    }

    fn blobs(self: Arc<Self>) -> Result<Arc<dyn Blobs>> {
        #[cfg(feature = "blob")]
        {
            let inner = self.inner.clone().blobs()?;
            Ok(Arc::new(RestrictedBlobs::new(inner, self)?))
        }
        #[cfg(not(feature = "blob"))]
        Err(self.limits.is_not_to())
    }

    fn see_blobs(&self) -> Result<()> {
        self.inner.see_blobs()
    }

    fn outbox(&self) -> Result<&dyn Outbox> {
        if is_on(Check::Jobs) {
            return Err(self.limits.never("see to what is still to follow"));
        }
        self.inner.outbox()
    }

    /// Refuses: policies and keys are what gives accesses, and no access is to read or change them.
    fn service_records(&self) -> Result<&dyn ServiceRecords> {
        Err(self.limits.never("see the service records"))
    }

    fn unrestricted(&self) -> Option<&Arc<dyn Backend>> {
        Some(&self.inner)
    }

    fn related(self: Arc<Self>, table: &str) -> Result<Arc<dyn TableExec>> {
        self.limits.check_time()?;
        let inner = self.inner.clone().open(table)?;
        Ok(self.table(inner))
    }

    fn is_read_only(&self) -> bool {
        self.inner.is_read_only()
    }

    fn path(&self) -> &Path {
        Path::new("")
    }
}

#[cold]
fn no_table() -> Error {
    Error::new(ErrorKind::TableNotFound).because("the plan comes without its table")
}
