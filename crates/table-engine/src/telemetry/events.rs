//! Events of the crate `tracing`: what is slow, what reads too much, and what is wrong.
//!
//! Each has a target of its own, so that a program can leave one out. A subscriber may use the store: no event is made
//! while a lock is held that a read or a write needs.

use std::time::Duration;

use super::spans::{Figures, Origin, SYSTEM};
use crate::error::ErrorKind;

/// Makes an event, with the fields that all have and those of its own.
macro_rules! report {
    ($level:ident, $name:literal, $origin:expr, { $($own:tt)* }, $text:literal) => {
        tracing::$level!(
            name: $name,
            target: concat!("table_core::", $name),
            { "db.system.name" = SYSTEM, "db.namespace" = $origin.namespace(), $($own)* },
            $text
        )
    };
}

/// Returns the value of `db.collection.name`: none for what is of the whole store.
pub(super) fn named(collection: &str) -> Option<&str> {
    (!collection.is_empty()).then_some(collection)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Origin {
    /// Reports an operation that takes longer than the store's `slow_after`.
    #[cold]
    pub(super) fn slow(&self, figures: &Figures, took: Duration, still_running: bool) {
        let (rows_read, rows_returned) = figures.row_counts();
        report!(warn, "slow", self, {
            "db.collection.name" = named(&figures.collection),
            "db.operation.name" = &*figures.operation,
            span = figures.kind,
            elapsed_ms = millis(took),
            still_running,
            rows_read,
            rows_returned,
        }, "an operation is slow");
    }

    /// Reports a query that has read a table, or a partition with a filter.
    #[cold]
    pub(super) fn full_scan(&self, figures: &Figures, class: &str) {
        let (rows_read, rows_returned) = figures.row_counts();
        report!(warn, "full_scan", self, {
            "db.collection.name" = named(&figures.collection),
            class,
            rows_read,
            rows_returned,
        }, "a query has no bounds for the keys");
    }

    /// Reports an error, if it says that what is stored is damaged.
    #[cold]
    pub fn damage(&self, kind: ErrorKind, table: &str) {
        if kind.is_damage() {
            report!(error, "damage", self, {
                "db.collection.name" = named(table),
                "error.type" = &*format!("{kind:?}"),
            }, "what is stored is damaged");
        }
    }

    /// Reports a snapshot that has lived for long, and keeps space from being used again.
    #[cold]
    pub fn snapshot_old(&self, process: u32, age: Option<Duration>, held_back: u64) {
        report!(warn, "snapshot_old", self, {
            process,
            age_seconds = age.map(|age| age.as_secs()),
            held_back_bytes = held_back,
        }, "an old snapshot keeps space from being used again");
    }

    /// Reports that the store has little room left in its map.
    #[cold]
    pub fn map_nearly_full(&self, used: u64, map_size: u64) {
        report!(warn, "map_nearly_full", self, {
            used_bytes = used,
            map_bytes = map_size,
        }, "the store has nearly reached its map size");
    }

    /// Reports that deferred copies of a kind could not be brought up to date; `tries` is how often, of one entity.
    #[cold]
    pub(crate) fn outbox_failing(&self, table: &str, kind: &str, tries: u32, error: ErrorKind) {
        report!(warn, "outbox_failing", self, {
            "db.collection.name" = named(table),
            kind,
            tries,
            "error.type" = &*format!("{error:?}"),
        }, "deferred copies can't follow");
    }
}
