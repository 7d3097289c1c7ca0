//! Where spans begin. Each has its own place in the code, since its name and its fields are static.

use std::sync::Arc;

use tracing::field::Empty;
use tracing::{Level, Span};

use super::figures::{Figures, Of};
use super::{Operation, Origin, Running, current, is_enabled};
use crate::query::QueryClass;
use crate::telemetry::Written;
use crate::telemetry::events::named;

/// The value of `db.system.name`.
pub(crate) const SYSTEM: &str = "table-core";

/// Makes a span with the fields that all have, and those of its own.
macro_rules! span {
    ($target:literal, $name:expr, $origin:expr, $of:expr, { $($own:tt)* }) => {
        tracing::debug_span!(
            target: $target,
            $name,
            "db.system.name" = SYSTEM,
            "db.namespace" = $origin.namespace(),
            "db.collection.name" = named($of.collection),
            "db.operation.name" = $of.operation,
            "error.type" = Empty,
            "db.response.status_code" = Empty,
            $($own)*
        )
    };
}

/// Makes a span whose name is one of these. An operation that none is named after has a span of the last name.
macro_rules! span_of {
    ($target:literal, $prefix:literal, $origin:expr, $of:expr, [$($known:literal),+ $(,)?], $fields:tt) => {
        match $of.operation {
            $($known => span!($target, concat!($prefix, ".", $known), $origin, $of, $fields),)+
            _ => span!($target, concat!($prefix, ".other"), $origin, $of, $fields),
        }
    };
}

impl Origin {
    /// Begins to read a row by its keys.
    #[inline]
    pub(crate) fn get(&self, table: &str) -> Operation {
        if is_enabled() { self.begin_get(table) } else { Operation::NONE }
    }

    #[inline(never)]
    fn begin_get(&self, table: &str) -> Operation {
        let of = Of { kind: "query", operation: "get", collection: table };
        let span = span!("table_core::query", "query", self, of, {
            class = Empty, rows_read = Empty, rows_returned = Empty,
        });
        let operation = self.begin(span, of, false);
        if let Some(running) = &operation.0 {
            running.figures.is_of(QueryClass::Point, false);
        }
        operation
    }

    /// Begins a query.
    #[inline]
    pub(crate) fn query(&self, table: &str) -> Operation {
        if is_enabled() { self.begin_query(table) } else { Operation::NONE }
    }

    #[inline(never)]
    fn begin_query(&self, table: &str) -> Operation {
        let of = Of { kind: "query", operation: "query", collection: table };
        let span = span!("table_core::query", "query", self, of, {
            class = Empty, rows_read = Empty, rows_returned = Empty,
        });
        // A job reads whole tables.
        let in_job = current().is_some_and(|figures| figures.kind == "job");
        let reports_scan = !in_job && tracing::enabled!(target: "table_core::full_scan", Level::WARN);
        self.begin(span, of, reports_scan)
    }

    /// Begins a write.
    #[inline]
    pub(crate) fn commit<'w>(&self, written: impl FnOnce() -> Written<'w>) -> Operation {
        if is_enabled() { self.begin_commit(written()) } else { Operation::NONE }
    }

    #[inline(never)]
    fn begin_commit(&self, written: Written<'_>) -> Operation {
        // A row that its table has no shorter way for is carried out as a plan.
        if current().is_some_and(|figures| figures.kind == "commit") {
            return Operation::NONE;
        }
        let Written { table, operation, rows, copies, changes } = written;
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let of = Of { kind: "commit", operation, collection: table };
        let span = span!("table_core::commit", "commit", self, of, {
            // OpenTelemetry leaves it out where it is 1.
            "db.operation.batch.size" = (changes > 1).then(|| count(changes)),
            rows = count(rows), copies = count(copies), messages = Empty,
            wait_us = Empty, apply_us = Empty, flush_us = Empty, shared_with = Empty,
        });
        self.begin(span, of, false)
    }

    /// Begins a job. Of its name the first word says what it does; what follows may be a part of a query.
    #[inline]
    pub(crate) fn job(&self, name: &str, table: &str) -> Operation {
        if is_enabled() { self.begin_job(name, table) } else { Operation::NONE }
    }

    #[inline(never)]
    fn begin_job(&self, name: &str, table: &str) -> Operation {
        let operation = name.split(' ').next().unwrap_or_default();
        let of = Of { kind: "job", operation, collection: table };
        let span = span!("table_core::job", "job", self, of, { rows_read = Empty });
        self.begin(span, of, false)
    }

    /// Begins to open the store.
    #[inline]
    pub(crate) fn open(&self) -> Operation {
        if is_enabled() { self.begin_open() } else { Operation::NONE }
    }

    #[inline(never)]
    fn begin_open(&self) -> Operation {
        let of = Of { kind: "open", operation: "open", collection: "" };
        let span = span!("table_core::open", "open", self, of, {});
        self.begin(span, of, false)
    }

    /// Begins an operation of a queue; `attempted` is what it does, as errors say it.
    #[inline]
    pub(crate) fn queue(&self, attempted: &str, queue: &str) -> Operation {
        if is_enabled() { self.begin_queue(attempted, queue) } else { Operation::NONE }
    }

    #[inline(never)]
    fn begin_queue(&self, attempted: &str, queue: &str) -> Operation {
        let operation = match attempted {
            "send to" => "send",
            "receive from" => "receive",
            "delete from" => "complete",
            "extend a message of" => "extend",
            "give a message back to" => "release",
            "update a message of" => "update",
            "look into" => "peek",
            "read the counts of" => "stats",
            // To wait is no work.
            "wait for" => return Operation::NONE,
            other => other,
        };
        let of = Of { kind: "queue", operation, collection: queue };
        let span = span_of!(
            "table_core::queue", "queue", self, of,
            ["send", "receive", "complete", "extend", "release", "update", "peek", "stats", "pause", "resume", "clear"],
            {
                messages = Empty,
                wait_us = Empty, apply_us = Empty, flush_us = Empty, shared_with = Empty,
            }
        );
        self.begin(span, of, false)
    }

    /// Begins an operation of a container; `attempted` is what it does, as errors say it.
    #[inline]
    pub(crate) fn blob(&self, attempted: &str, container: &str) -> Operation {
        if is_enabled() { self.begin_blob(attempted, container) } else { Operation::NONE }
    }

    #[inline(never)]
    fn begin_blob(&self, attempted: &str, container: &str) -> Operation {
        let operation = match attempted {
            "append to" => "append",
            "look for" => "find",
            "read" | "read a blob" => "get",
            "list the blobs of" => "list",
            "upload a blob" => "upload",
            "open a blob" => "open",
            other => other,
        };
        let of = Of { kind: "blob", operation, collection: container };
        let span = span_of!(
            "table_core::blob", "blob", self, of,
            ["put", "upload", "append", "delete", "find", "get", "open", "list"],
            { wait_us = Empty, apply_us = Empty, flush_us = Empty, shared_with = Empty }
        );
        self.begin(span, of, false)
    }

    /// Begins an operation, if a subscriber takes its span, or an event of it: that it is slow, or with `reports_scan` that it
    /// is a full scan.
    fn begin(&self, span: Span, of: Of<'_>, reports_scan: bool) -> Operation {
        let takes_slow = || tracing::enabled!(target: "table_core::slow", Level::WARN);
        // A job takes as long as there is work.
        let slow_after = self.0.slow_after.filter(|_| of.kind != "job" && takes_slow());
        if span.is_disabled() && !reports_scan && slow_after.is_none() {
            return Operation::NONE;
        }
        let mut figures = Figures::new(self, of, slow_after);
        figures.reports_scan = reports_scan;
        let figures = Arc::new(figures);
        Operation(Some(Arc::new(Running { span, figures })))
    }
}
