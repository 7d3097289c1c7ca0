//! A store as a whole, as its executor has it.

use std::any::Any;
use std::path::Path;
use std::sync::Arc;

#[cfg(feature = "async")]
use super::AsyncBackend;
use super::abilities::{no_blobs, no_outbox, no_queues};
use super::periods::no_periods;
use super::service_records::no_service_records;
use super::{
    Abilities, Blobs, Dropped, Loader, OneSnapshotForEachThread, Outbox, Queues, RetryFairness, Room,
    ServiceRecords, TableExec,
};
use crate::error::{Error, ErrorKind, Result};
#[cfg(feature = "metrics")]
use crate::metrics::{Metrics, not_counted};
use crate::model::Ticks;
use crate::plan::{Committed, Plan, Refused};
use crate::schema::{PeriodTables, Schema};
use crate::sealing::{HasVault, SealedAt};
use crate::telemetry::Telemetry;

/// What is called with the answer to a plan that was [submitted](Backend::submit).
pub type OnCommitted = Box<dyn FnOnce(Result<Committed, Refused>) + Send>;

/// A store.
///
/// Its errors say what is wrong; the caller adds what was attempted, and on which table.
pub trait Backend: Any + HasVault {
    /// Creates a table. Names are compared without regard to case and kept as given.
    fn create(self: Arc<Self>, table: &str) -> Result<Arc<dyn TableExec>>;

    /// Returns the table of this name; [`TableNotFound`](crate::ErrorKind::TableNotFound) if there is none,
    /// and [`TableRenamed`](crate::ErrorKind::TableRenamed) if it was the name of one that has another now.
    fn open(self: Arc<Self>, table: &str) -> Result<Arc<dyn TableExec>>;

    /// Returns the names of all tables, in alphabetical order without regard to case.
    fn tables(&self) -> Result<Vec<String>>;

    /// Drops tables with all their rows, together or not at all. Those whose kinds have copies in another table, or are copies
    /// of what is in another, [go with it](super::check_drop).
    fn drop_tables(self: Arc<Self>, tables: &[&str]) -> Result<()>;

    /// Gives a table another name, also in what is noted of kinds with copies there.
    fn rename_table(&self, table: &str, name: &str) -> Result<()> {
        let _ = (table, name);
        let because = "the store can't give a table another name";
        Err(Error::new(ErrorKind::Unsupported).because(because))
    }

    /// Returns the table of the period that begins then, made if there is none; [`PeriodDropped`](ErrorKind::PeriodDropped)
    /// if it was dropped. What is declared of the kind is noted with it.
    fn make_period(
        self: Arc<Self>,
        tables: &'static PeriodTables,
        start: Ticks,
        schema: &'static Schema,
    ) -> Result<Arc<dyn TableExec>> {
        let _ = (tables, start, schema);
        Err(no_periods())
    }

    /// Drops the tables of all periods before this one, and makes none of them again.
    fn drop_periods(self: Arc<Self>, tables: &'static PeriodTables, floor: Ticks) -> Result<Dropped> {
        let _ = (tables, floor);
        Err(no_periods())
    }

    /// Returns what it can do with a plan.
    fn abilities(&self) -> Abilities;

    /// Carries out a plan of these tables, whole or not at all; `sealed_at` is of the keys that its values were sealed with.
    /// The plan asks for nothing that the store is not [able](Self::abilities) to do.
    fn commit(
        &self,
        tables: &[&dyn TableExec],
        plan: &Plan<'_>,
        sealed_at: &SealedAt,
    ) -> Result<Committed, Refused>;

    /// Takes a plan to be carried out, and has `done` called with what has become of it: once, on a thread of the store's or
    /// on the caller's. Nothing of the plan is held when this returns. An error is of a plan that was not taken; then `done`
    /// is not called.
    ///
    /// What one thread submits is carried out in that order. A store that carries plans out in the caller's thread, as this
    /// does, is right, and slower.
    fn submit(
        &self,
        tables: &[&dyn TableExec],
        plan: &Plan<'_>,
        sealed_at: &SealedAt,
        done: OnCommitted,
    ) -> Result<(), Refused> {
        done(self.commit(tables, plan, sealed_at));
        Ok(())
    }

    /// Returns what is told when there is room for more plans, after [`TooManyWrites`](ErrorKind::TooManyWrites); `None` of a
    /// store that takes any number.
    fn room(&self) -> Option<&Room> {
        None
    }

    /// Returns what can be asked of it without waiting; `None` of a store that answers at once.
    #[cfg(feature = "async")]
    #[inline]
    fn async_backend(&self) -> Option<&dyn AsyncBackend> {
        None
    }

    /// Gives turns to changes that have lost too often.
    fn retry_fairness(&self) -> &RetryFairness;

    /// Returns what carries out plans of any tables of the store, many in one transaction; `None` if many are no quicker than
    /// each of them.
    fn loader(&self) -> Option<Box<dyn Loader + '_>> {
        None
    }

    /// Takes a snapshot: all tables as they are now.
    fn read_snapshot(self: Arc<Self>) -> Result<Box<dyn OneSnapshotForEachThread>>;

    /// Returns its queues; [`Unsupported`](crate::ErrorKind::Unsupported) if it has not that ability.
    fn queues(&self) -> Result<&dyn Queues> {
        Err(no_queues())
    }

    /// Returns its blobs; [`Unsupported`](crate::ErrorKind::Unsupported) if it keeps none.
    fn blobs(self: Arc<Self>) -> Result<Arc<dyn Blobs>> {
        Err(no_blobs())
    }

    /// Has the snapshots that are taken from now on see the blobs that there are.
    fn see_blobs(&self) -> Result<()> {
        Ok(())
    }

    /// Returns what is to follow; [`Unsupported`](crate::ErrorKind::Unsupported) if it has not that ability.
    fn outbox(&self) -> Result<&dyn Outbox> {
        Err(no_outbox())
    }

    /// Returns its service records; [`Unsupported`](crate::ErrorKind::Unsupported) if it keeps none.
    fn service_records(&self) -> Result<&dyn ServiceRecords> {
        Err(no_service_records())
    }

    /// Returns the store itself, of one that is restricted to an access.
    #[cfg(feature = "access")]
    fn unrestricted(&self) -> Option<&Arc<dyn Backend>> {
        None
    }

    /// Opens a table where rows of another table's entities lie, which a permitted change of those may write.
    #[cfg(feature = "access")]
    fn related(self: Arc<Self>, table: &str) -> Result<Arc<dyn TableExec>> {
        self.open(table)
    }

    /// Returns what the engine counts its work with; `None` if the store counts nothing.
    #[inline]
    fn telemetry(&self) -> Option<&Telemetry> {
        None
    }

    /// Returns what was counted, and what the store alone knows; [`Unsupported`](crate::ErrorKind::Unsupported) if it counts
    /// nothing.
    #[cfg(feature = "metrics")]
    fn metrics(&self) -> Result<Metrics> {
        Err(not_counted())
    }

    /// Returns whether nothing can be written.
    fn is_read_only(&self) -> bool;

    /// Returns the directory that the store lies in; an empty path if it lies in none.
    fn path(&self) -> &Path;
}
