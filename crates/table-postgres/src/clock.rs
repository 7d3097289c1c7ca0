//! Versions of rows: times that rise, whatever the clocks of processes say.

use std::sync::atomic::{AtomicU64, Ordering};

use table_engine::{ETag, Ticks};

/// The time of the server at which the statement has come, in ticks.
#[cfg(any(feature = "blob", feature = "queue"))]
pub(crate) const SERVER_NOW: &str =
    "(extract(epoch FROM statement_timestamp()) * 10000000)::bigint + 621355968000000000";

/// Gives each plan a time that is later than all that this process has given, and than that of any row that it has read.
///
/// A row's time rises with each write: the statements refuse to write an earlier one, and a writer whose clock is behind reads
/// the row's time then, and comes again.
#[derive(Debug, Default)]
pub(crate) struct Clock(AtomicU64);

impl Clock {
    /// Returns the next time.
    pub(crate) fn next(&self) -> i64 {
        let now = Ticks::now().get();
        let later = |last: u64| Some(now.max(last.saturating_add(1)));
        // Relaxed: the number alone counts, and it orders nothing else. The closure never returns `None`.
        let last = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, later).unwrap_or(now);
        now.max(last.saturating_add(1)).cast_signed()
    }

    /// Notes the time of a row that was read. A number that is no time is none of a row that the library has written.
    pub(crate) fn observe(&self, time: i64) {
        if let Some(time) = Ticks::new(time.cast_unsigned()) {
            self.0.fetch_max(time.get(), Ordering::Relaxed);
        }
    }
}

/// Returns the time that a row's column holds; the first one for a number that is no time.
pub(crate) fn ticks(time: i64) -> Ticks {
    Ticks::new(time.cast_unsigned()).unwrap_or(Ticks::MIN)
}

/// Returns the version of a row of this time.
pub(crate) fn etag(time: i64) -> ETag {
    ETag::from_timestamp(ticks(time))
}

/// Returns the time of a version.
pub(crate) fn time_of(etag: ETag) -> i64 {
    etag.timestamp().get().cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_later_than_any_that_was_seen_and_stay_times() {
        let clock = Clock::default();
        let ahead = Ticks::now().get().cast_signed() + 10_000_000_000;
        for (seen, least) in [(0, 0), (ahead, ahead), (-1, ahead), (i64::MAX, ahead)] {
            clock.observe(seen);
            let next = clock.next();
            assert!(next > least && next < ahead + 1_000_000, "{seen} {next}");
        }
    }
}
