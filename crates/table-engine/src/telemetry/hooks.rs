//! The hooks: each counts, and notes in the span of the operation what it counts.

use std::time::Duration;

use super::counters::{self, Counters};
use super::spans::{self, Origin};
use super::{Committed, Messages, Operation, Written};
use crate::error::{ErrorKind, Result};
#[cfg(feature = "metrics")]
use crate::metrics::Metrics;
use crate::query::QueryPlan;

/// What a store counts with, and what its spans say of it; clones count together.
#[derive(Clone, Debug, Default)]
pub struct Telemetry {
    counters: Counters,
    origin: Origin,
}

/// A moment, or none; and the operation that the thread carried out then.
#[derive(Clone, Debug, Default)]
pub struct Stamp {
    counted: counters::Stamp,
    traced: spans::Stamp,
}

impl Stamp {
    /// No moment, and no operation.
    pub const NONE: Self = Self { counted: counters::Stamp::NONE, traced: spans::Stamp::NONE };

    /// Returns this moment, and the operation that the thread carries out.
    #[inline]
    pub fn now() -> Self {
        Self { counted: counters::Stamp::now(), traced: spans::Stamp::now() }
    }

    /// Returns the time since then; zero for no moment.
    #[inline]
    pub fn elapsed(&self) -> Duration {
        if Telemetry::COUNTS { self.counted.elapsed() } else { self.traced.elapsed() }
    }

    /// Notes that the operation's write has got its transaction.
    #[inline]
    pub fn waited(&self) {
        self.traced.waited();
    }

    /// Notes the transaction that the operation's write was part of.
    #[inline]
    pub fn committed(&self, commit: &Committed) {
        self.traced.committed(commit);
    }

    /// Returns in how long the operation is slow; `None` if that is reported already, or is not to be.
    #[inline]
    pub fn until_slow(&self) -> Option<Duration> {
        self.traced.until_slow()
    }

    /// Reports that the operation is slow and still runs, if it is. No lock may be held that a write needs: a subscriber may
    /// write.
    #[inline]
    pub fn check_slow(&self) {
        self.traced.check_slow();
    }
}

/// Rows that are counted where they are read, and added to the others when it is dropped.
#[derive(Debug, Default)]
pub struct Tally {
    #[cfg(any(feature = "metrics", feature = "tracing"))]
    rows: u64,
    counted: counters::Tally,
    traced: spans::Tally,
}

impl Tally {
    fn new(counted: counters::Tally, traced: spans::Tally) -> Self {
        Self {
            #[cfg(any(feature = "metrics", feature = "tracing"))]
            rows: 0,
            counted,
            traced,
        }
    }

    /// Counts so many rows.
    #[inline]
    pub fn add(&mut self, rows: u64) {
        #[cfg(any(feature = "metrics", feature = "tracing"))]
        {
            self.rows = self.rows.wrapping_add(rows);
        }
        #[cfg(not(any(feature = "metrics", feature = "tracing")))]
        let _ = rows;
    }

    /// Notes how the rows are looked for.
    #[inline]
    pub fn planned(&self, plan: &QueryPlan) {
        self.traced.planned(plan);
    }

    /// Reports that the query is slow and still runs, if it is.
    #[inline]
    pub fn check_slow(&self) {
        self.traced.check_slow();
    }

    /// Makes it count for the operation, too, what that gives.
    #[inline]
    pub(crate) fn of_operation(&mut self, operation: &Operation) {
        self.traced = operation.given();
    }
}

impl Drop for Tally {
    #[inline]
    fn drop(&mut self) {
        #[cfg(any(feature = "metrics", feature = "tracing"))]
        let rows = self.rows;
        #[cfg(not(any(feature = "metrics", feature = "tracing")))]
        let rows = 0;
        self.counted.note(rows);
        self.traced.note(rows);
    }
}

impl Telemetry {
    /// Whether anything is counted or traced.
    pub const IS_ON: bool = cfg!(any(feature = "metrics", feature = "tracing"));
    /// Whether anything is counted.
    pub const COUNTS: bool = Counters::IS_ON;

    /// Returns what a store of this name counts with, whose operations are slow after so long.
    pub fn of(namespace: &str, slow_after: Option<Duration>) -> Self {
        Self { counters: Counters::default(), origin: Origin::new(namespace, slow_after) }
    }

    /// Returns whether anything would be noted now.
    #[inline]
    pub fn is_wanted() -> bool {
        Self::COUNTS || spans::is_enabled()
    }

    /// Returns whether a subscriber may take warnings or spans.
    #[inline]
    pub fn is_enabled() -> bool {
        spans::is_enabled()
    }

    /// Runs an operation, and notes its error. Damage is told.
    #[inline]
    pub fn run<R>(
        &self,
        operation: &Operation,
        collection: &str,
        run: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        let _entered = operation.enter();
        run().inspect_err(|error| {
            operation.failed(error.kind());
            self.damaged(error.kind(), collection);
        })
    }

    /// Counts a read of a row by its keys.
    #[inline]
    pub fn point_read(&self) {
        self.counters.point_read();
    }

    /// Counts a query, and returns what counts the rows that it gives.
    #[inline]
    pub fn query(&self) -> Tally {
        Tally::new(self.counters.query(), spans::Tally::NONE)
    }

    /// Returns what counts the rows that a query looks at, wanted or not.
    #[inline]
    pub fn rows_read(&self) -> Tally {
        Tally::new(self.counters.rows_read(), spans::Tally::looking())
    }

    /// Counts a transaction that was committed.
    #[inline]
    pub fn committed(&self, commit: &Committed) {
        self.counters.committed(commit);
    }

    /// Counts a write by how long it waited for its transaction.
    #[inline]
    pub fn waited(&self, wait: Duration) {
        self.counters.waited(wait);
    }

    /// Counts a write that was submitted, taken or not.
    #[inline]
    pub fn submitted(&self, is_taken: bool) {
        self.counters.submitted(is_taken);
    }

    /// Counts a change that is planned anew.
    #[inline]
    pub fn conflict(&self) {
        self.counters.conflict();
    }

    /// Counts rows that jobs have looked at.
    #[inline]
    pub fn job_rows(&self, rows: u64) {
        self.counters.job_rows(rows);
    }

    /// Counts messages.
    #[inline]
    pub fn messages(&self, messages: Messages) {
        self.counters.messages(messages);
        spans::messages(messages);
    }

    /// Counts an error, and notes it of the operation that the thread carries out. Damage is told.
    #[inline]
    pub fn failed(&self, kind: ErrorKind, table: &str) {
        self.counters.failed(kind);
        self.origin.failed(kind, table);
    }

    /// Reports an error that is counted elsewhere, if it is damage.
    #[inline]
    pub fn damaged(&self, kind: ErrorKind, collection: &str) {
        self.origin.damage(kind, collection);
    }

    /// Reports that deferred copies of a kind could not follow, of an entity that was tried so often; zero of all.
    #[inline]
    pub(crate) fn outbox_failing(&self, table: &str, kind: &str, tries: u32, error: ErrorKind) {
        self.origin.outbox_failing(table, kind, tries, error);
    }

    /// Begins to read a row of a table by its keys.
    #[inline]
    pub fn begin_get(&self, table: &str) -> Operation {
        self.origin.get(table)
    }

    /// Begins a query of a table.
    #[inline]
    pub fn begin_query(&self, table: &str) -> Operation {
        self.origin.query(table)
    }

    /// Begins a write; `written` says what it is.
    #[inline]
    pub fn begin_commit<'w>(&self, written: impl FnOnce() -> Written<'w>) -> Operation {
        self.origin.commit(written)
    }

    /// Begins a job of this name over a table, or over the store.
    #[inline]
    pub fn begin_job(&self, name: &str, table: &str) -> Operation {
        self.origin.job(name, table)
    }

    /// Begins an operation of a queue.
    #[inline]
    pub fn begin_queue(&self, attempted: &str, queue: &str) -> Operation {
        self.origin.queue(attempted, queue)
    }

    /// Begins an operation of a container of blobs.
    #[inline]
    pub fn begin_blob(&self, attempted: &str, container: &str) -> Operation {
        self.origin.blob(attempted, container)
    }

    /// Begins to open the store.
    #[inline]
    pub fn begin_open(&self) -> Operation {
        self.origin.open()
    }

    /// Returns what was counted so far in the store of this name.
    #[cfg(feature = "metrics")]
    pub fn metrics(&self, namespace: &str) -> Metrics {
        self.counters.metrics(namespace)
    }

    /// Returns what events say of the store.
    #[cfg(feature = "tracing")]
    pub fn events(&self) -> &Origin {
        &self.origin
    }
}
