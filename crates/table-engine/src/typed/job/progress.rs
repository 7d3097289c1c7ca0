//! How far a job is, and how soon it is through.

use std::fmt;
use std::time::{Duration, Instant};

use crate::executor::JobRecord;

/// How far a job is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobProgress {
    /// How many rows were looked at, by earlier runs as well, in the part of the job that it is in: an index is first purged
    /// and then filled, and a repair or a deletion goes over everything again when it has changed something. So it may be 0 where
    /// the job is through, and [`changed`](Self::changed) says what was done.
    pub done: u64,
    /// About how many there are.
    pub total: u64,
    /// How many rows or entities were changed, by earlier runs as well.
    pub changed: u64,
    /// Rows that this handle has looked at in a second; 0 before the first.
    pub rate: u64,
}

impl JobProgress {
    /// Returns about how long the part of the job that it is in will take from now on, at this rate; `None` before it is
    /// known.
    pub fn left(&self) -> Option<Duration> {
        let rows = self.total.saturating_sub(self.done);
        rows.saturating_mul(1_000).checked_div(self.rate).map(Duration::from_millis)
    }
}

impl fmt::Display for JobProgress {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { done, total, changed, rate } = self;
        write!(f, "{done} of about {total} rows, {changed} changed, {rate} rows a second")
    }
}

/// What a handle has seen of its job.
#[derive(Default)]
pub(super) struct Clock {
    last: JobProgress,
    /// When the handle began to work, and how many rows it has looked at since.
    since: Option<(Instant, u64)>,
}

impl Clock {
    /// Returns how far the job is, as far as the handle knows.
    pub(super) fn last(&self) -> &JobProgress {
        &self.last
    }

    /// Returns whether the handle has not begun to work yet.
    pub(super) fn is_new(&self) -> bool {
        self.since.is_none()
    }

    /// Begins with what earlier runs have done.
    pub(super) fn begin(&mut self, at: &JobRecord) {
        self.since = Some((Instant::now(), 0));
        self.note(at, at);
    }

    /// Takes note of a step that was carried out.
    #[inline]
    pub(super) fn note(&mut self, at: &JobRecord, to: &JobRecord) {
        let rate = self.since.as_mut().map_or(0, |(begun, rows)| {
            *rows += to.done.saturating_sub(at.done);
            let millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
            rows.saturating_mul(1_000) / millis
        });
        self.last = JobProgress { done: to.done, total: to.total.max(to.done), changed: to.changed, rate };
    }
}
