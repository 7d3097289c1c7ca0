//! What is measured of an operation, by whichever thread carries it out.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{FieldValue, Origin};
use crate::error::ErrorKind;
use crate::query::{QueryClass, QueryPlan};
use crate::telemetry::{Committed, Messages};

/// What an operation is, and of what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Of<'o> {
    /// The name of its span, or what that begins with.
    pub(super) kind: &'static str,
    /// What it does, as `db.operation.name`.
    pub(super) operation: &'o str,
    /// The table, the queue or the container; empty for the store.
    pub(super) collection: &'o str,
}

/// Which rows are counted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rows {
    Read,
    Returned,
}

/// What an operation is, and what is measured of it. It holds no span.
#[derive(Debug)]
pub(crate) struct Figures {
    pub(crate) origin: Origin,
    pub(crate) kind: &'static str,
    pub(crate) operation: Box<str>,
    pub(crate) collection: Box<str>,
    /// Whether a full scan is reported.
    pub(super) reports_scan: bool,
    begun: Instant,
    slow_after: Option<Duration>,
    /// Whether it was reported to be slow.
    is_reported: AtomicBool,
    /// The transactions that its writes were part of, and the other writes in them.
    commits: AtomicU64,
    shared_with: AtomicU64,
    /// In microseconds.
    wait: AtomicU64,
    apply: AtomicU64,
    flush: AtomicU64,
    messages: AtomicU64,
    rows_read: AtomicU64,
    rows_returned: AtomicU64,
    found: Mutex<Found>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Found {
    /// How much a query reads.
    class: Option<QueryClass>,
    /// Whether rows that it reads may be left out.
    is_filtered: bool,
    error: Option<ErrorKind>,
}

impl Figures {
    pub(super) fn new(origin: &Origin, of: Of<'_>, slow_after: Option<Duration>) -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            origin: origin.clone(),
            kind: of.kind,
            operation: of.operation.into(),
            collection: of.collection.into(),
            reports_scan: false,
            begun: Instant::now(),
            slow_after,
            is_reported: AtomicBool::new(false),
            commits: zero(),
            shared_with: zero(),
            wait: zero(),
            apply: zero(),
            flush: zero(),
            messages: zero(),
            rows_read: zero(),
            rows_returned: zero(),
            found: Mutex::default(),
        }
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn waited(&self, wait: Duration) {
        add(&self.wait, micros(wait));
    }

    pub(super) fn committed(&self, commit: &Committed) {
        add(&self.commits, 1);
        add(&self.shared_with, commit.batches.saturating_sub(1));
        add(&self.apply, micros(commit.apply));
        add(&self.flush, micros(commit.flush));
    }

    pub(super) fn messages(&self, messages: Messages) {
        add(&self.messages, messages.sent + messages.received + messages.completed);
    }

    pub(super) fn rows(&self, which: Rows, rows: u64) {
        let counter = match which {
            Rows::Read => &self.rows_read,
            Rows::Returned => &self.rows_returned,
        };
        add(counter, rows);
    }

    pub(super) fn failed(&self, kind: ErrorKind) {
        self.found().error = Some(kind);
    }

    pub(super) fn planned(&self, plan: &QueryPlan) {
        self.is_of(plan.class, plan.has_conditions() || plan.kind.is_some());
    }

    /// Notes how much a range of the query reads: of several the most counts.
    pub(super) fn is_of(&self, class: QueryClass, is_filtered: bool) {
        let mut found = self.found();
        found.class = found.class.max(Some(class));
        found.is_filtered |= is_filtered;
    }

    /// Gives `record` each field that the operation has measured.
    pub(super) fn each(&self, record: &mut dyn FnMut(&'static str, FieldValue<'_>)) {
        let Found { class, error, .. } = *self.found();
        if load(&self.commits) > 0 {
            record("wait_us", &load(&self.wait));
            record("apply_us", &load(&self.apply));
            record("flush_us", &load(&self.flush));
            record("shared_with", &load(&self.shared_with));
        }
        if load(&self.messages) > 0 {
            record("messages", &load(&self.messages));
        }
        if let Some(class) = class {
            record("class", &&*class.to_string());
            record("rows_returned", &load(&self.rows_returned));
        }
        let rows_read = load(&self.rows_read);
        if class.is_some() || rows_read > 0 {
            record("rows_read", &rows_read);
        }
        if let Some(kind) = error {
            record("error.type", &&*format!("{kind:?}"));
            record("db.response.status_code", &&*kind.status().to_string());
        }
    }

    /// Reports, at the operation's end, what is wrong with it.
    pub(super) fn ended(&self) {
        let took = self.begun.elapsed();
        if self.slow_after.is_some_and(|after| took >= after) {
            self.origin.slow(self, took, false);
        }
        let Found { class, is_filtered, .. } = *self.found();
        // All rows of a partition may be what is asked for.
        let is_full =
            class == Some(QueryClass::TableScan) || class == Some(QueryClass::PartitionScan) && is_filtered;
        if let Some(class) = class.filter(|_| self.reports_scan && is_full) {
            self.origin.full_scan(self, &class.to_string());
        }
    }

    /// Returns in how long the operation is slow, unless that is reported already.
    pub(super) fn until_slow(&self) -> Option<Duration> {
        let after = self.slow_after.filter(|_| !self.is_reported.load(Ordering::Relaxed))?;
        Some(after.saturating_sub(self.begun.elapsed()))
    }

    /// Reports once that it is slow and still runs, if it is.
    pub(super) fn check_slow(&self) {
        let is_slow = self.until_slow().is_some_and(|left| left.is_zero());
        if is_slow && !self.is_reported.swap(true, Ordering::Relaxed) {
            self.origin.slow(self, self.begun.elapsed(), true);
        }
    }

    /// Returns the rows that were looked at, and those that were given.
    pub(crate) fn row_counts(&self) -> (u64, u64) {
        (load(&self.rows_read), load(&self.rows_returned))
    }
}

fn add(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Ordering::Relaxed);
}

fn load(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
