//! The queue of threads that wait to write: each has a turn, and waits there for an answer or for the lead.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use table_engine::error::Result;
use table_engine::model::Ticks;
use table_engine::plan::Refused;
use table_engine::telemetry::Stamp;

use super::encoded::EncodedPlan;

/// The threads that wait to write, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Whether a thread leads.
    pub(super) led: bool,
    pub(super) waiting: VecDeque<Arc<WriterTicket>>,
}

/// One thread's place in the queue.
#[derive(Debug)]
pub(super) struct WriterTicket {
    /// When the thread came.
    pub(super) since: Stamp,
    pub(super) state: Mutex<State>,
    pub(super) changed: Condvar,
}

/// What has become of a turn.
#[derive(Debug)]
pub(super) enum State {
    /// Waits with a prepared write for a leader to take, or without one for the lead itself.
    Waiting(Option<Box<EncodedPlan>>),
    /// A leader has taken the prepared write.
    Taken,
    /// The plan is done.
    Done(Result<Ticks, Refused>),
    /// The lead is this thread's.
    Leads(Option<Box<EncodedPlan>>),
}

/// Locks a mutex, also if a thread has panicked while it held it.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl WriterTicket {
    pub(super) fn new(prepared: Option<Box<EncodedPlan>>, since: Stamp) -> Arc<Self> {
        Arc::new(Self { since, state: Mutex::new(State::Waiting(prepared)), changed: Condvar::new() })
    }

    pub(super) fn set(&self, state: State) {
        *lock(&self.state) = state;
        self.changed.notify_one();
    }

    /// Waits for an answer or for the lead.
    pub(super) fn wait(&self) -> Outcome {
        let mut state = lock(&self.state);
        loop {
            match std::mem::replace(&mut *state, State::Taken) {
                State::Done(result) => return Outcome::Done(result),
                State::Leads(prepared) => return Outcome::Leads(prepared),
                waits => *state = waits,
            }
            state = self.wait_once(state);
        }
    }
}

impl WriterTicket {
    /// Waits for a change of the state; where the write becomes slow meanwhile, reports that.
    fn wait_once<'t>(&'t self, state: MutexGuard<'t, State>) -> MutexGuard<'t, State> {
        let Some(left) = self.since.until_slow() else {
            return self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        let waited = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        let (state, timeout) = waited;
        if !timeout.timed_out() {
            return state;
        }
        // A subscriber may write, and the leader may want to answer.
        drop(state);
        self.since.check_slow();
        lock(&self.state)
    }
}

/// What a thread has waited for.
pub(super) enum Outcome {
    Done(Result<Ticks, Refused>),
    Leads(Option<Box<EncodedPlan>>),
}
