//! What a connection waits for, and until when it may.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use super::Limits;

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The client may send a request.
    Idle,
    /// A request has begun to arrive.
    Header,
    /// A request is answered. Its body has a time limit of its own.
    Busy,
    /// The connection is being closed.
    Closing,
}

/// What a connection waits for, noted by those who see it happen.
#[derive(Debug)]
pub(super) struct Pace(Mutex<State>);

#[derive(Debug)]
struct State {
    phase: Phase,
    since: Instant,
    /// Since when the client has taken nothing of what is written to it.
    stalled: Option<Instant>,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self(Mutex::new(State { phase: Phase::Idle, since: Instant::now(), stalled: None }))
    }

    /// Notes that bytes have arrived.
    pub(super) fn received(&self) {
        let mut state = self.state();
        if state.phase == Phase::Idle {
            (state.phase, state.since) = (Phase::Header, Instant::now());
        }
    }

    /// Notes that a request has arrived.
    pub(super) fn asked(&self) {
        self.state().phase = Phase::Busy;
    }

    /// Notes that an answer has been handed over.
    pub(super) fn answered(&self) {
        let mut state = self.state();
        if state.phase == Phase::Busy {
            (state.phase, state.since) = (Phase::Idle, Instant::now());
        }
    }

    /// Notes whether the client has taken something of what is written, or is waited for.
    pub(super) fn wrote(&self, is_pending: bool) {
        let mut state = self.state();
        if !is_pending {
            state.stalled = None;
        } else if state.stalled.is_none() {
            state.stalled = Some(Instant::now());
        }
    }

    /// Notes that the connection is being closed.
    pub(super) fn closing(&self) {
        let mut state = self.state();
        (state.phase, state.since) = (Phase::Closing, Instant::now());
    }

    /// Returns what the connection waits for.
    pub(super) fn phase(&self) -> Phase {
        self.state().phase
    }

    /// Returns since when nothing is asked; `None` if something is, or its answer is still being written.
    pub(super) fn resting_since(&self) -> Option<Instant> {
        let state = self.state();
        (state.phase == Phase::Idle && state.stalled.is_none()).then_some(state.since)
    }

    /// Returns until when the connection may wait as it does; `None` if that is not for the client to say.
    pub(super) fn deadline(&self, limits: &Limits) -> Option<Instant> {
        let state = self.state();
        let (since, limit) = match (state.stalled, state.phase) {
            (Some(stalled), _) => (stalled, limits.write_time),
            (None, Phase::Idle) => (state.since, limits.idle_time),
            (None, Phase::Header) => (state.since, limits.header_time),
            (None, Phase::Closing) => (state.since, limits.write_time),
            (None, Phase::Busy) => return None,
        };
        since.checked_add(limit)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Pace, Phase};
    use crate::listen::Limits;

    #[test]
    fn each_phase_has_its_limit_and_a_busy_connection_has_none() {
        let limits = Limits {
            idle_time: Duration::from_secs(100),
            header_time: Duration::from_secs(10),
            write_time: Duration::from_secs(1),
            ..Limits::default()
        };
        let pace = Pace::new();
        let idle = pace.deadline(&limits).unwrap();
        pace.received();
        let header = pace.deadline(&limits).unwrap();
        assert!(header < idle);
        // Bytes that come in later do not put it off.
        pace.received();
        assert_eq!(pace.deadline(&limits).unwrap(), header);
        pace.asked();
        assert_eq!(pace.deadline(&limits), None);
        pace.received();
        assert_eq!(pace.phase(), Phase::Busy);
        pace.wrote(true);
        assert!(pace.deadline(&limits).unwrap() < header);
        pace.wrote(false);
        pace.answered();
        assert!(pace.deadline(&limits).unwrap() >= idle);
        pace.closing();
        pace.received();
        assert_eq!(pace.phase(), Phase::Closing);
    }
}
