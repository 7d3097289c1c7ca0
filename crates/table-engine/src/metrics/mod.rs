//! What a store has done since it was opened, in numbers.
//!
//! [`Tables::metrics`](crate::Tables::metrics) returns them. They hold no key, no value and no part of a filter: the one text is
//! the store's name, the last part of its path.

#[cfg(feature = "metrics-adapter")]
mod adapter;
mod text;

use std::fmt;

use crate::error::{Error, ErrorKind};

/// What a store has done since this process opened it.
///
/// Shown as text, it is the exposition of `OpenMetrics`, which Prometheus reads. [`each`](Self::each) is for other forms.
///
/// ```
/// use table_core::{DynamicEntity, Store};
///
/// let store = Store::temporary()?;
/// let company = store.create_table("Company")?;
/// company.insert(&DynamicEntity::new("Sales", "empid_000001"))?;
/// company.get("Sales", "empid_000001")?;
///
/// let metrics = store.metrics()?;
/// assert_eq!((metrics.commits, metrics.rows_written, metrics.point_reads), (1, 1, 1));
/// assert!(metrics.to_string().contains("# TYPE table_core_commits counter\n"));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Metrics {
    /// The store's name: the last part of its path.
    pub namespace: String,
    /// Transactions that were committed with writes of rows, queues or blobs.
    pub commits: u64,
    /// Writes that were in them. Writes at one time share a transaction.
    pub batches: u64,
    /// How many writes shared a transaction.
    pub batches_per_commit: Histogram,
    /// How long writes waited for their transaction, in seconds.
    pub commit_wait: Histogram,
    /// How long the writes of a transaction took, in seconds.
    pub commit_apply: Histogram,
    /// How long it took to write a transaction to the disk, in seconds.
    pub commit_flush: Histogram,
    /// Rows that were written: entities and their copies.
    pub rows_written: u64,
    /// Rows that were removed.
    pub rows_removed: u64,
    /// Writes that were submitted.
    pub submitted: u64,
    /// Writes that were not taken, since as many waited as may.
    pub submits_refused: u64,
    /// Submitted writes that wait now.
    pub submits_waiting: u64,
    /// Reads of a row by its keys, those of changes among them.
    pub point_reads: u64,
    /// Queries that were begun; of a query in pages, each page.
    pub queries: u64,
    /// Rows that queries and jobs have looked at. Counted when a query ends.
    pub rows_read: u64,
    /// Rows that queries gave. Counted when a query ends.
    pub rows_returned: u64,
    /// Changes that were planned anew, since others had written what they were planned on.
    pub conflicts: u64,
    /// Rows that jobs have looked at.
    pub job_rows: u64,
    /// Messages that were sent.
    pub messages_sent: u64,
    /// Messages that were received.
    pub messages_received: u64,
    /// Messages that were completed.
    pub messages_completed: u64,
    /// Snapshots that live in this process now.
    pub open_snapshots: u64,
    /// Errors of reads and writes, by their kinds; a refusal after which the change was planned anew is one.
    pub errors: Vec<(ErrorKind, u64)>,
}

/// How values are spread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    bounds: Vec<f64>,
    counts: Vec<u64>,
    sum: f64,
}

impl Histogram {
    pub(crate) fn new(bounds: Vec<f64>, counts: Vec<u64>, sum: f64) -> Self {
        Self { bounds, counts, sum }
    }

    /// Returns each bound, and how many values are not greater. The last bound is infinite.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let bounds = self.bounds.iter().copied().chain([f64::INFINITY]);
        bounds.zip(self.counts.iter().scan(0, |sum: &mut u64, count| {
            *sum += count;
            Some(*sum)
        }))
    }

    /// Returns how many values there are.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the sum of all values.
    pub fn sum(&self) -> f64 {
        self.sum
    }
}

/// One number of a store, with its name.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Metric<'m> {
    /// Its name, without the ending of its type: `table_core_commits`.
    pub name: &'static str,
    /// What it says, in a sentence.
    pub help: &'static str,
    /// The kind of error that it is of, if it is a number of errors.
    pub error: Option<ErrorKind>,
    /// The number.
    pub number: Number<'m>,
}

/// The number of a [`Metric`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Number<'m> {
    /// It only rises.
    Counter(u64),
    /// It rises and falls.
    Gauge(u64),
    /// It is of many values, of seconds if the name ends so.
    Histogram(&'m Histogram),
}

impl Metrics {
    /// Returns all numbers, each with its name. There is one of errors for each kind that has occurred.
    ///
    /// ```
    /// use table_core::Store;
    /// use table_core::metrics::Number;
    ///
    /// let metrics = Store::temporary()?.metrics()?;
    /// let commits = metrics.each().find(|metric| metric.name == "table_core_commits").unwrap();
    /// assert_eq!(commits.number, Number::Counter(0));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn each(&self) -> impl Iterator<Item = Metric<'_>> + '_ {
        use Number::{Counter, Gauge, Histogram};
        let metric = |(name, help, number)| Metric { name, help, error: None, number };
        let fixed = [
            ("table_core_commits", "Transactions that were committed.", Counter(self.commits)),
            ("table_core_batches", "Writes in them.", Counter(self.batches)),
            (
                "table_core_batches_per_commit",
                "Writes that shared a transaction.",
                Histogram(&self.batches_per_commit),
            ),
            (
                "table_core_commit_wait_seconds",
                "How long writes waited for their transaction.",
                Histogram(&self.commit_wait),
            ),
            (
                "table_core_commit_apply_seconds",
                "How long the writes of a transaction took.",
                Histogram(&self.commit_apply),
            ),
            (
                "table_core_commit_flush_seconds",
                "How long a transaction took to be on disk.",
                Histogram(&self.commit_flush),
            ),
            ("table_core_rows_written", "Rows that were written.", Counter(self.rows_written)),
            ("table_core_rows_removed", "Rows that were removed.", Counter(self.rows_removed)),
            ("table_core_submitted", "Writes that were submitted.", Counter(self.submitted)),
            ("table_core_submits_refused", "Submitted writes not taken.", Counter(self.submits_refused)),
            ("table_core_submits_waiting", "Submitted writes that wait.", Gauge(self.submits_waiting)),
            ("table_core_point_reads", "Reads of a row by its keys.", Counter(self.point_reads)),
            ("table_core_queries", "Queries and pages of queries.", Counter(self.queries)),
            ("table_core_rows_read", "Rows that were looked at.", Counter(self.rows_read)),
            ("table_core_rows_returned", "Rows that queries gave.", Counter(self.rows_returned)),
            ("table_core_conflicts", "Changes that were planned anew.", Counter(self.conflicts)),
            ("table_core_job_rows", "Rows that jobs looked at.", Counter(self.job_rows)),
            ("table_core_messages_sent", "Messages that were sent.", Counter(self.messages_sent)),
            ("table_core_messages_received", "Messages that were received.", Counter(self.messages_received)),
            (
                "table_core_messages_completed",
                "Messages that were completed.",
                Counter(self.messages_completed),
            ),
            ("table_core_open_snapshots", "Snapshots that live.", Gauge(self.open_snapshots)),
        ];
        let errors = self.errors.iter().map(|(kind, count)| Metric {
            name: "table_core_errors",
            help: "Errors by their kinds.",
            error: Some(*kind),
            number: Counter(*count),
        });
        fixed.into_iter().map(metric).chain(errors)
    }
}

impl fmt::Display for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::write(self, f)
    }
}

/// Returns the error of a backend that does not count.
#[cold]
pub(crate) fn not_counted() -> Error {
    Error::new(ErrorKind::Unsupported).because("the store's backend counts nothing")
}
