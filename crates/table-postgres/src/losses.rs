//! How long a call puts up with a server that it can't reach, or that it loses: one that is started anew, or gives way to its
//! standby.

use std::time::{Duration, Instant};

/// The wait between two attempts, but for the first two: a connection may have been lost while it was idle.
const BETWEEN: Duration = Duration::from_millis(50);

/// What a call has lost by now.
#[derive(Debug)]
pub(crate) struct Losses {
    until: Instant,
    has_lost: bool,
}

impl Losses {
    pub(crate) fn within(patience: Duration) -> Self {
        Self { until: Instant::now() + patience, has_lost: false }
    }

    /// Returns how long to wait before the next attempt; `None` if there is to be none.
    pub(crate) fn next(&mut self) -> Option<Duration> {
        if !std::mem::replace(&mut self.has_lost, true) {
            return Some(Duration::ZERO);
        }
        (Instant::now() < self.until).then_some(BETWEEN)
    }

    /// Waits on this thread; false if there is to be no other attempt.
    pub(crate) fn wait(&mut self) -> bool {
        let wait = self.next();
        std::thread::sleep(wait.unwrap_or_default());
        wait.is_some()
    }
}
