//! A table of a restricted store.

use std::sync::Arc;

use super::backend::RestrictedBackend;
use super::checks::{Check, is_on};
use super::limits::rights_of_task;
use super::rows::{KnownOwners, Shown};
use super::snapshot::RestrictedSnapshot;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{
    Backend, Jobs, OneSnapshotForEachThread, Read, ReadSnapshot, RestrictedTable, Rights, TableExec, Take,
};
use crate::messages::QueueOp;
use crate::model::EntityKeys;
use crate::schema::{IndexMask, Schema};
#[cfg(feature = "encrypt")]
use crate::sealing::job::Resealing;

/// A table as an access shows it.
pub(super) struct LimitedTable {
    pub(super) inner: Arc<dyn TableExec>,
    pub(super) store: Arc<RestrictedBackend>,
    owners: KnownOwners,
}

impl LimitedTable {
    pub(super) fn new(inner: Arc<dyn TableExec>, store: Arc<RestrictedBackend>) -> Self {
        Self { inner, store, owners: KnownOwners::default() }
    }

    /// Returns whether the access is to the table. Otherwise it has no row for a reader.
    pub(super) fn is_named(&self) -> bool {
        self.store.limits.access().tables.has(self.inner.table_name()) || !is_on(Check::Tables)
    }

    /// Returns the rows that are shown in a snapshot; `None` if all are.
    pub(super) fn shown(&self, snapshot: &dyn ReadSnapshot) -> Result<Option<Shown>> {
        Shown::of(&self.store.limits, &self.owners, snapshot, &*self.inner)
    }
}

/// Returns an error without what it says of rows that are not shown.
pub(super) fn discreet(error: &Error) -> Error {
    Error::new(error.kind())
}

impl TableExec for LimitedTable {
    fn table_name(&self) -> &str {
        self.inner.table_name()
    }

    fn id(&self) -> u32 {
        self.inner.id()
    }

    fn get(&self, keys: EntityKeys<'_>, read: Read<'_>) -> Result<bool> {
        self.store.limits.check(Rights::READ)?;
        if !self.is_named() {
            return Ok(false);
        }
        if !self.store.limits.are_of_keys() {
            return self.inner.get(keys, read);
        }
        let snapshot = RestrictedSnapshot::new(self.inner.read_snapshot()?, self.store.clone());
        match snapshot.row(self, keys, false)? {
            Some(row) => read(&row, snapshot.state()).map(|()| true),
            None => Ok(false),
        }
    }

    fn view(&self, keys: EntityKeys<'_>, take: Take<'_>) -> Result<bool> {
        self.store.limits.check(Rights::READ)?;
        if !self.is_named() {
            return Ok(false);
        }
        if !self.store.limits.are_of_keys() {
            return self.inner.view(keys, take);
        }
        let snapshot = RestrictedSnapshot::new(self.inner.read_snapshot()?, self.store.clone());
        match snapshot.row(self, keys, false)? {
            Some(row) => take(row).map(|()| true),
            None => Ok(false),
        }
    }

    fn declare(&self, schema: &'static Schema) -> Result<()> {
        self.store.limits.check_time()?;
        self.inner.declare(schema)
    }

    fn index_mask(&self, schema: &'static Schema, writes: bool) -> Result<IndexMask> {
        self.inner.index_mask(schema, writes)
    }

    fn jobs(&self) -> Result<&dyn Jobs> {
        if is_on(Check::Jobs) { Err(self.store.limits.never("run jobs")) } else { self.inner.jobs() }
    }

    fn sibling(&self, name: &str) -> Result<Option<Arc<dyn TableExec>>> {
        let inner = self.inner.sibling(name)?;
        Ok(inner.map(|inner| self.store.clone().table(inner)))
    }

    fn unread(&self, schema: &'static Schema, index: usize, state: usize) -> Error {
        // How far a job has come says how many rows there are.
        discreet(&self.inner.unread(schema, index, state))
    }

    #[cfg(feature = "encrypt")]
    fn resealing(&self) -> Result<&dyn Resealing> {
        Err(self.store.limits.never("seal values anew"))
    }

    fn store(&self) -> &dyn Backend {
        &*self.store
    }

    fn read_snapshot(&self) -> Result<Box<dyn OneSnapshotForEachThread>> {
        self.store.limits.check_time()?;
        Ok(Box::new(RestrictedSnapshot::new(self.inner.read_snapshot()?, self.store.clone())))
    }

    fn restricted(&self) -> Option<&dyn RestrictedTable> {
        is_on(Check::Changes).then_some(self)
    }
}

impl RestrictedTable for LimitedTable {
    fn check(&self, rights: Rights, keys: EntityKeys<'_>) -> Result<()> {
        let limits = &self.store.limits;
        limits.check(rights)?;
        limits.check_inside(self.inner.table_name(), keys)
    }

    fn check_source(&self, table: &str, keys: EntityKeys<'_>) -> Result<()> {
        self.store.limits.check_source(table, keys)
    }

    fn check_queue_op(&self, queue_op: &QueueOp) -> Result<()> {
        let rights = rights_of_task(queue_op);
        self.store.limits.check(rights.ok_or_else(|| self.store.limits.never("clear or pause queues"))?)?;
        self.store.check_queue(queue_op.queue)
    }

    fn check_time(&self) -> Result<()> {
        self.store.limits.check_time()
    }

    fn hides(&self, keys: EntityKeys<'_>) -> Result<bool> {
        if !is_on(Check::HiddenWrites) {
            return Ok(false);
        }
        let snapshot = self.inner.read_snapshot()?;
        let Some(shown) = self.shown(&*snapshot)? else { return Ok(false) };
        let row = snapshot.get(&*self.inner, keys, true)?;
        Ok(match row {
            Some(row) => !shown.shows(&row)?,
            None => false,
        })
    }

    fn unrestricted(&self) -> Arc<dyn TableExec> {
        self.inner.clone()
    }
}

/// Returns a table of a restricted store by its type.
pub(super) fn limited(table: &dyn TableExec) -> Result<&LimitedTable> {
    let table: &dyn std::any::Any = table;
    table.downcast_ref().ok_or_else(|| {
        Error::new(ErrorKind::TableNotFound).because("the table is of another store, or not restricted")
    })
}
