//! Events of the crate `tracing`: what is slow, what reads too much, and what is wrong.
//!
//! Each has a target of its own, so that a program can leave one out. Whoever listens may use the store: none is told
//! while a lock is held that a read or a write needs.

use std::time::Duration;

use super::spans::{Figures, Origin, SYSTEM};
use crate::error::ErrorKind;

/// Tells an event, with the fields that all have and those of its own.
macro_rules! tell {
    ($level:ident, $name:literal, $origin:expr, { $($own:tt)* }, $text:literal) => {
        tracing::$level!(
            name: $name,
            target: concat!("table_core::", $name),
            { "db.system.name" = SYSTEM, "db.namespace" = $origin.namespace(), $($own)* },
            $text
        )
    };
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Origin {
    /// Tells of an operation that takes longer than the store's `slow_after`.
    #[cold]
    pub(super) fn slow(&self, figures: &Figures, took: Duration, still_runs: bool) {
        let (rows_read, rows_returned) = figures.row_counts();
        tell!(warn, "slow", self, {
            "db.collection.name" = &*figures.collection,
            "db.operation.name" = &*figures.operation,
            span = figures.kind,
            elapsed_ms = millis(took),
            still_runs,
            rows_read,
            rows_returned,
        }, "an operation is slow");
    }

    /// Tells of a query that has read a table, or a partition with a filter.
    #[cold]
    pub(super) fn full_scan(&self, figures: &Figures, class: &str) {
        let (rows_read, rows_returned) = figures.row_counts();
        tell!(warn, "full_scan", self, {
            "db.collection.name" = &*figures.collection,
            class,
            rows_read,
            rows_returned,
        }, "a query has no bounds for the keys");
    }

    /// Tells of an error, if it says that what is stored is damaged.
    #[cold]
    pub fn damage(&self, kind: ErrorKind, table: &str) {
        if matches!(kind, ErrorKind::Corrupt | ErrorKind::NotGenuine | ErrorKind::DecryptionFailed) {
            tell!(error, "damage", self, {
                "db.collection.name" = table,
                "error.type" = &*format!("{kind:?}"),
            }, "what is stored is damaged");
        }
    }

    /// Tells of a snapshot that has lived for long, and keeps space from being used again.
    #[cold]
    pub fn snapshot_old(&self, process: u32, age: Option<Duration>, held_back: u64) {
        tell!(warn, "snapshot_old", self, {
            process,
            age_seconds = age.map(|age| age.as_secs()),
            held_back_bytes = held_back,
        }, "an old snapshot keeps space from being used again");
    }

    /// Tells that the store has little room left in its map.
    #[cold]
    pub fn map_nearly_full(&self, used: u64, map_size: u64) {
        tell!(warn, "map_nearly_full", self, {
            used_bytes = used,
            map_bytes = map_size,
        }, "the store has nearly reached its map size");
    }

    /// Tells that deferred copies of a kind could not be brought up to date; `tries` is how often, of one entity.
    #[cold]
    pub(crate) fn outbox_failing(&self, table: &str, kind: &str, tries: u32, error: ErrorKind) {
        tell!(warn, "outbox_failing", self, {
            "db.collection.name" = table,
            kind,
            tries,
            "error.type" = &*format!("{error:?}"),
        }, "deferred copies can't follow");
    }
}
