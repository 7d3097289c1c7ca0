//! What the engine counts, with what a store lends for it: nothing, if the store lends nothing.

use super::{Backend, TableExec};
use crate::error::ErrorKind;
use crate::telemetry::{Messages, Tally, Telemetry};

/// Returns what the store counts with; `None` without the feature, and no call is made.
#[inline]
fn of(store: &dyn Backend) -> Option<&Telemetry> {
    if Telemetry::IS_ON { store.telemetry() } else { None }
}

#[inline]
fn of_table(table: &dyn TableExec) -> Option<&Telemetry> {
    if Telemetry::IS_ON { table.store().telemetry() } else { None }
}

/// Counts a read of a row by its keys.
#[inline]
pub(crate) fn point_read(table: &dyn TableExec) {
    if let Some(telemetry) = of_table(table) {
        telemetry.point_read();
    }
}

/// Counts a query, and returns what counts the rows that it gives.
#[inline]
pub(crate) fn query(table: &dyn TableExec) -> Tally {
    of_table(table).map(Telemetry::query).unwrap_or_default()
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

/// Counts an error of a read.
#[inline]
pub(crate) fn failed(table: &dyn TableExec, kind: ErrorKind) {
    if let Some(telemetry) = of_table(table) {
        telemetry.failed(kind);
    }
}

/// Counts an error of a write.
#[inline]
pub(crate) fn refused(store: &dyn Backend, kind: ErrorKind) {
    if let Some(telemetry) = of(store) {
        telemetry.failed(kind);
    }
}

/// Counts messages.
#[inline]
pub(crate) fn messages(store: &dyn Backend, messages: impl FnOnce() -> Messages) {
    if let Some(telemetry) = of(store) {
        telemetry.messages(messages());
    }
}
