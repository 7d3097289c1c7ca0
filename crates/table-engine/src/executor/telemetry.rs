//! What the engine counts and traces, with what a store lends for it: nothing, if the store lends nothing.

use super::{Backend, OnCommitted, TableExec};
use crate::error::ErrorKind;
#[cfg(any(feature = "queue", feature = "blob"))]
use crate::error::Result;
use crate::outbox::OutboxEntry;
use crate::plan::{Cause, Group, Plan, RowWrite};
use crate::telemetry::{Entered, Messages, Operation, Tally, Telemetry, Written};

/// Returns what the store counts with; `None` without a feature for it, and no call is made.
#[inline]
fn of(store: &dyn Backend) -> Option<&Telemetry> {
    if Telemetry::is_wanted() { store.telemetry() } else { None }
}

#[inline]
fn of_table(table: &dyn TableExec) -> Option<&Telemetry> {
    if Telemetry::is_wanted() { table.store().telemetry() } else { None }
}

/// Returns what the store counts errors with. Of these, damage is an event also where no subscriber takes warnings.
#[inline]
fn of_failed(table: &dyn TableExec) -> Option<&Telemetry> {
    if Telemetry::IS_ON { table.store().telemetry() } else { None }
}

/// Counts a read of a row by its keys, and begins it.
#[inline]
pub(crate) fn point_read(table: &dyn TableExec) -> Operation {
    let Some(telemetry) = of_table(table) else { return Operation::NONE };
    telemetry.point_read();
    telemetry.begin_get(table.table_name())
}

/// A query that is under way, and what counts the rows that it gives.
#[derive(Debug, Default)]
pub(crate) struct RunningQuery {
    // Fields drop in this order: the rows are noted before the operation ends.
    returned: Tally,
    operation: Operation,
}

impl RunningQuery {
    /// Counts so many rows as given.
    #[inline]
    pub(crate) fn add(&mut self, rows: u64) {
        self.returned.add(rows);
    }

    /// Makes it what the thread carries out until what is returned is dropped.
    #[inline]
    pub(crate) fn enter(&self) -> Entered<'_> {
        self.operation.enter()
    }

    /// Notes that it has failed.
    #[inline]
    pub(crate) fn failed(&self, kind: ErrorKind) {
        self.operation.failed(kind);
    }

    /// Reports that it is slow and still runs, if it is.
    #[inline]
    pub(crate) fn check_slow(&self) {
        self.operation.check_slow();
    }
}

/// Counts a query, and begins it.
#[inline]
pub(crate) fn query(table: &dyn TableExec) -> RunningQuery {
    let Some(telemetry) = of_table(table) else { return RunningQuery::default() };
    let operation = telemetry.begin_query(table.table_name());
    let mut returned = telemetry.query();
    returned.of_operation(&operation);
    RunningQuery { returned, operation }
}

/// Begins the write of one row.
#[inline]
pub(crate) fn write(table: &dyn TableExec, row: &RowWrite<'_>) -> Operation {
    let Some(telemetry) = of_table(table) else { return Operation::NONE };
    let operation = operation_of(row);
    telemetry.begin_commit(|| Written {
        table: table.table_name(),
        operation,
        rows: 1,
        copies: 0,
        changes: 1,
    })
}

/// Begins a plan of a table, or of several of which it is the first.
#[inline]
pub(crate) fn commit(table: &dyn TableExec, plan: &Plan<'_>) -> Operation {
    let Some(telemetry) = of_table(table) else { return Operation::NONE };
    telemetry.begin_commit(|| written(table.table_name(), plan))
}

/// Has the operation end when `done` is called.
#[inline]
pub(crate) fn until_answered(operation: &Operation, done: OnCommitted) -> OnCommitted {
    if operation.is_none() {
        return done;
    }
    let operation = operation.clone();
    Box::new(move |answer| {
        {
            // It ends before what is done with the answer begins.
            let operation = operation;
            if let Err(refused) = &answer {
                operation.failed(refused.error.kind());
            }
        }
        done(answer);
    })
}

/// Returns what a plan writes.
#[cold]
fn written<'w>(table: &'w str, plan: &Plan<'_>) -> Written<'w> {
    let rows = || plan.groups.iter().flat_map(|group| &group.rows).filter(|row| !row.act.keeps());
    let additions: usize = plan.groups.iter().map(|group: &Group<'_>| group.additions.len()).sum();
    let copies = rows().filter(|row| row.kind.is_some_and(|kind| kind.cause != Cause::Entity)).count();
    let written = rows().count();
    // Each change has a row of its own; a plan of other things is one change.
    let changes = (written - copies).max(1);
    let mut own = rows().filter(|row| row.kind.is_none_or(|kind| kind.cause == Cause::Entity));
    let operation = match (own.next(), own.next()) {
        (Some(row), None) => operation_of(row),
        _ => "BATCH",
    };
    Written { table, operation, rows: written + additions, copies, changes }
}

/// Returns what becomes of a row, as one word.
fn operation_of(row: &RowWrite<'_>) -> &'static str {
    match row.act.describe(row.condition) {
        "insert into" => "insert",
        "insert or replace in" => "put",
        "replace in" => "replace",
        "insert or merge into" => "insert_or_merge",
        "merge into" => "merge",
        "delete from" => "delete",
        _ => "keep",
    }
}

/// Begins a job of this name over a table.
#[inline]
pub(crate) fn job(table: &dyn TableExec, name: impl FnOnce() -> String) -> Operation {
    let Some(telemetry) = of_table(table) else { return Operation::NONE };
    telemetry.begin_job(&name(), table.table_name())
}

/// Notes that a step of a job has failed.
#[inline]
pub(crate) fn job_failed(table: &dyn TableExec, job: &Operation, kind: ErrorKind) {
    job.failed(kind);
    if let Some(telemetry) = of_failed(table) {
        telemetry.damaged(kind, table.table_name());
    }
}

/// Carries out an operation of a queue, which errors say that they have attempted.
#[cfg(feature = "queue")]
#[inline]
pub(crate) fn in_queue<R>(
    store: &dyn Backend,
    attempted: &str,
    queue: &str,
    run: impl FnOnce() -> Result<R>,
) -> Result<R> {
    let Some(telemetry) = of(store) else { return run() };
    telemetry.run(&telemetry.begin_queue(attempted, queue), queue, run)
}

/// Carries out an operation of a container, which errors say that they have attempted.
#[cfg(feature = "blob")]
#[inline]
pub(crate) fn in_container<R>(
    store: &dyn Backend,
    attempted: &str,
    container: &str,
    run: impl FnOnce() -> Result<R>,
) -> Result<R> {
    let Some(telemetry) = of(store) else { return run() };
    telemetry.run(&telemetry.begin_blob(attempted, container), container, run)
}

/// Counts a change that is planned anew, since others were quicker.
#[inline]
pub(crate) fn conflict(table: Option<&dyn TableExec>) {
    if let Some(telemetry) = table.and_then(of_table) {
        telemetry.conflict();
    }
}

/// Counts rows that jobs have looked at.
#[inline]
pub(crate) fn job_rows(table: &dyn TableExec, rows: u64) {
    if let Some(telemetry) = of_table(table) {
        telemetry.job_rows(rows);
    }
}

/// Counts an error of a read or a write.
#[inline]
pub(crate) fn failed(table: &dyn TableExec, kind: ErrorKind) {
    if let Some(telemetry) = of_failed(table) {
        telemetry.failed(kind, table.table_name());
    }
}

/// Counts messages.
#[inline]
pub(crate) fn messages(store: &dyn Backend, messages: impl FnOnce() -> Messages) {
    if let Some(telemetry) = of(store) {
        telemetry.messages(messages());
    }
}

/// Reports that deferred copies of an entity could not follow.
#[inline]
pub(crate) fn outbox_failing(store: &dyn Backend, entry: &OutboxEntry, error: ErrorKind) {
    if let Some(telemetry) = of(store) {
        let table = entry.table.as_deref().unwrap_or_default();
        telemetry.damaged(error, table);
        telemetry.outbox_failing(table, &entry.kind, entry.tries.saturating_add(1), error);
    }
}

/// Reports that no deferred copies of a kind can follow.
#[inline]
pub(crate) fn outbox_refused(store: &dyn Backend, kind: &str, error: ErrorKind) {
    if let Some(telemetry) = of(store) {
        telemetry.damaged(error, "");
        telemetry.outbox_failing("", kind, 0, error);
    }
}
