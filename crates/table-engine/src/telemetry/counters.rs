//! The counters.
//!
//! All are relaxed: a number orders nothing, and may be ahead of another by what happens meanwhile. Work on a row touches none
//! of them: a [`Tally`] counts rows in a field of its own, and adds them when it is dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{Committed, Messages};
use crate::error::ErrorKind;
use crate::metrics::{Histogram, Metrics};

/// What a store counts with; clones count together.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters(Arc<All>);

/// What threads that read change, and what threads that write do, lie in cache lines of their own.
#[derive(Debug, Default)]
struct All {
    reads: Reads,
    writes: Writes,
    errors: Errors,
}

#[repr(align(128))]
#[derive(Debug, Default)]
struct Reads {
    by_keys: AtomicU64,
    queries: AtomicU64,
    rows_read: AtomicU64,
    rows_returned: AtomicU64,
}

#[repr(align(128))]
#[derive(Debug, Default)]
struct Writes {
    commits: AtomicU64,
    batches: AtomicU64,
    rows_written: AtomicU64,
    rows_removed: AtomicU64,
    submitted: AtomicU64,
    submits_refused: AtomicU64,
    conflicts: AtomicU64,
    job_rows: AtomicU64,
    messages_sent: AtomicU64,
    messages_received: AtomicU64,
    messages_completed: AtomicU64,
    batches_per_commit: Distribution<{ SIZES.len() + 1 }>,
    wait: Distribution<{ TIMES.len() + 1 }>,
    apply: Distribution<{ TIMES.len() + 1 }>,
    flush: Distribution<{ TIMES.len() + 1 }>,
}

/// The bounds of durations, in nanoseconds: from a microsecond to ten seconds.
const TIMES: [u64; 22] = [
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    5_000_000_000,
    10_000_000_000,
];

/// The bounds of the number of writes that share a transaction.
const SIZES: [u64; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 1_024];

/// How many values lie up to each bound, and how many beyond, and what they come to.
#[derive(Debug)]
struct Distribution<const N: usize> {
    counts: [AtomicU64; N],
    sum: AtomicU64,
}

impl<const N: usize> Default for Distribution<N> {
    fn default() -> Self {
        Self { counts: [const { AtomicU64::new(0) }; N], sum: AtomicU64::new(0) }
    }
}

impl<const N: usize> Distribution<N> {
    fn record(&self, bounds: &[u64], value: u64) {
        let at = bounds.partition_point(|bound| *bound < value);
        if let Some(count) = self.counts.get(at) {
            add(count, 1);
        }
        add(&self.sum, value);
    }

    /// Returns what was recorded, divided by `unit`.
    fn load(&self, bounds: &[u64], unit: f64) -> Histogram {
        let counts = self.counts.iter().map(load).collect();
        let bounds = bounds.iter().map(|bound| as_f64(*bound) / unit).collect();
        Histogram::new(bounds, counts, as_f64(load(&self.sum)) / unit)
    }
}

/// The errors of each kind.
#[derive(Debug)]
struct Errors([AtomicU64; ErrorKind::ALL.len()]);

impl Default for Errors {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; ErrorKind::ALL.len()])
    }
}

#[inline]
fn add(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Ordering::Relaxed);
}

fn load(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

#[expect(clippy::as_conversions, clippy::cast_precision_loss, reason = "a figure to be looked at")]
fn as_f64(value: u64) -> f64 {
    value as f64
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A moment, or none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamp(Option<Instant>);

impl Stamp {
    /// No moment.
    pub(super) const NONE: Self = Self(None);

    /// Returns this moment.
    #[inline]
    pub(super) fn now() -> Self {
        Self(Some(Instant::now()))
    }

    /// Returns the time since then; zero for no moment.
    #[inline]
    pub(super) fn elapsed(self) -> Duration {
        self.0.map(|then| then.elapsed()).unwrap_or_default()
    }
}

/// What rows that were read are added to.
#[derive(Debug, Default)]
pub(super) struct Tally(Option<(Counters, Rows)>);

#[derive(Clone, Copy, Debug)]
enum Rows {
    Read,
    Returned,
}

impl Tally {
    /// Adds so many rows.
    #[inline]
    pub(super) fn note(&self, rows: u64) {
        if let (Some((counters, which)), 1..) = (&self.0, rows) {
            let reads = &counters.0.reads;
            match which {
                Rows::Read => add(&reads.rows_read, rows),
                Rows::Returned => add(&reads.rows_returned, rows),
            }
        }
    }
}

impl Counters {
    /// Whether anything is counted.
    pub(super) const IS_ON: bool = true;

    /// Counts a read of a row by its keys.
    #[inline]
    pub(super) fn point_read(&self) {
        add(&self.0.reads.by_keys, 1);
    }

    /// Counts a query, and returns what counts the rows that it gives.
    #[inline]
    pub(super) fn query(&self) -> Tally {
        add(&self.0.reads.queries, 1);
        Tally(Some((self.clone(), Rows::Returned)))
    }

    /// Returns what counts the rows that a query looks at, wanted or not.
    #[inline]
    pub(super) fn rows_read(&self) -> Tally {
        Tally(Some((self.clone(), Rows::Read)))
    }

    /// Counts a transaction that was committed.
    pub(super) fn committed(&self, commit: &Committed) {
        let writes = &self.0.writes;
        add(&writes.commits, 1);
        add(&writes.batches, commit.batches);
        add(&writes.rows_written, commit.rows_written);
        add(&writes.rows_removed, commit.rows_removed);
        writes.batches_per_commit.record(&SIZES, commit.batches);
        writes.apply.record(&TIMES, nanoseconds(commit.apply));
        writes.flush.record(&TIMES, nanoseconds(commit.flush));
    }

    /// Counts a write by how long it waited for its transaction.
    pub(super) fn waited(&self, wait: Duration) {
        self.0.writes.wait.record(&TIMES, nanoseconds(wait));
    }

    /// Counts a write that was submitted, taken or not.
    pub(super) fn submitted(&self, is_taken: bool) {
        let writes = &self.0.writes;
        add(if is_taken { &writes.submitted } else { &writes.submits_refused }, 1);
    }

    /// Counts a change that is planned anew.
    #[cold]
    pub(super) fn conflict(&self) {
        add(&self.0.writes.conflicts, 1);
    }

    /// Counts rows that jobs have looked at.
    pub(super) fn job_rows(&self, rows: u64) {
        add(&self.0.writes.job_rows, rows);
    }

    /// Counts messages.
    pub(super) fn messages(&self, messages: Messages) {
        let writes = &self.0.writes;
        add(&writes.messages_sent, messages.sent);
        add(&writes.messages_received, messages.received);
        add(&writes.messages_completed, messages.completed);
    }

    /// Counts an error.
    #[cold]
    pub(super) fn failed(&self, kind: ErrorKind) {
        let at = ErrorKind::ALL.iter().position(|known| *known == kind);
        if let Some(count) = at.and_then(|at| self.0.errors.0.get(at)) {
            add(count, 1);
        }
    }

    /// Returns what was counted so far in the store of this name.
    pub(super) fn metrics(&self, namespace: &str) -> Metrics {
        const SECOND: f64 = 1e9;
        let All { reads, writes, errors } = &*self.0;
        let errors = ErrorKind::ALL.iter().zip(&errors.0).map(|(kind, count)| (*kind, load(count)));
        Metrics {
            namespace: namespace.into(),
            commits: load(&writes.commits),
            batches: load(&writes.batches),
            batches_per_commit: writes.batches_per_commit.load(&SIZES, 1.0),
            commit_wait: writes.wait.load(&TIMES, SECOND),
            commit_apply: writes.apply.load(&TIMES, SECOND),
            commit_flush: writes.flush.load(&TIMES, SECOND),
            rows_written: load(&writes.rows_written),
            rows_removed: load(&writes.rows_removed),
            submitted: load(&writes.submitted),
            submits_refused: load(&writes.submits_refused),
            submits_waiting: 0,
            point_reads: load(&reads.by_keys),
            queries: load(&reads.queries),
            rows_read: load(&reads.rows_read),
            rows_returned: load(&reads.rows_returned),
            conflicts: load(&writes.conflicts),
            job_rows: load(&writes.job_rows),
            messages_sent: load(&writes.messages_sent),
            messages_received: load(&writes.messages_received),
            messages_completed: load(&writes.messages_completed),
            open_snapshots: 0,
            errors: errors.filter(|(_, count)| *count > 0).collect(),
        }
    }
}
