//! Plans that were submitted: a thread of the store's own carries them out, many in a transaction, and calls back.
//!
//! The thread is made by the first plan, and goes when none has come for a while. It takes the lead as any writer does, with
//! all plans that wait by then, and calls back when it has given the lead away: a callback may write, and holds up nothing
//! but the callbacks behind it.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Wake, Waker};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::executor::{ChangeId, OnCommitted, RetryFairness, Room};
use table_engine::model::{ETag, Ticks};
use table_engine::plan::{Committed, Refused};
use table_engine::telemetry::{Stamp, Telemetry};

use super::commit::{GROUP_BYTES, Writer};
use super::encoded::EncodedPlan;
use super::group::{Members, panicked};
use super::open_store::OpenStore;
use super::queue::lock;

/// How long the thread waits for a plan before it goes.
const IDLE: Duration = Duration::from_secs(1);
/// The most bytes of plans that wait, beside their number.
const MOST_BYTES: usize = 4 * GROUP_BYTES;

/// The plans that wait, in the order in which they came, and the thread that takes them.
#[derive(Debug, Default)]
pub(crate) struct Submissions {
    state: Mutex<State>,
    /// Signalled when a plan comes, when held plans may pass, and when the store is closed.
    changed: Arc<Changed>,
    /// Signalled when plans have been answered.
    answered: Condvar,
    /// What waits until fewer plans do.
    pub(crate) room: Room,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Submission>,
    /// How many bytes they have.
    bytes: usize,
    /// How many plans were taken in and how many of them were answered, since the store was opened.
    submitted: u64,
    answered: u64,
    /// The thread that was made last, and whether it still takes plans.
    thread: Option<JoinHandle<()>>,
    is_running: bool,
    /// Whether no plan comes any more.
    is_closed: bool,
}

struct Submission {
    prepared: Box<EncodedPlan>,
    since: Stamp,
    /// The change with a turn that the plan is of.
    change: Option<ChangeId>,
    done: OnCommitted,
}

/// Wakes the thread.
#[derive(Debug, Default)]
struct Changed {
    /// How often there was something to look at.
    times: Mutex<u64>,
    condition: Condvar,
}

impl Changed {
    fn notify(&self) {
        let mut times = lock(&self.times);
        *times = times.wrapping_add(1);
        self.condition.notify_all();
    }

    fn times(&self) -> u64 {
        *lock(&self.times)
    }

    /// Waits for something since `seen`, for so long at most. Returns whether something came.
    fn wait(&self, seen: u64, most: Duration) -> bool {
        let waited = self.condition.wait_timeout_while(lock(&self.times), most, |times| *times == seen);
        *waited.unwrap_or_else(PoisonError::into_inner).0 != seen
    }
}

impl Wake for Changed {
    fn wake(self: Arc<Self>) {
        self.notify();
    }
}

impl Writer {
    /// Takes in a plan to be carried out, and has `done` called with what has become of it. Refuses it where as many wait as
    /// may.
    pub(crate) fn submit(
        &self,
        open: &Arc<OpenStore>,
        prepared: Box<EncodedPlan>,
        done: OnCommitted,
    ) -> Result<(), Refused> {
        self.check_writable().map_err(Refused::whole)?;
        let submission = Submission { prepared, since: Stamp::now(), change: ChangeId::current(), done };
        let taken = self.submissions.take_in(open, submission);
        open.telemetry.submitted(taken.is_ok());
        taken.map_err(Refused::whole)
    }
}

impl Submissions {
    fn take_in(&self, open: &Arc<OpenStore>, submission: Submission) -> Result<()> {
        let most = open.environment.options.submit_limit;
        let mut state = lock(&self.state);
        let bytes = submission.prepared.weight();
        if state.waiting.len() >= most || !state.waiting.is_empty() && state.bytes + bytes > MOST_BYTES {
            return Err(Error::new(ErrorKind::TooManyWrites).because(format!(
                "{} submitted writes wait already, of {} bytes; submit more when some have been answered",
                state.waiting.len(),
                state.bytes
            )));
        }
        if !state.is_running {
            let open = open.clone();
            let thread = thread::Builder::new().name("table-core submit".into());
            let spawned = thread.spawn(move || open.writer.submissions.lead(&open));
            state.thread = Some(spawned.map_err(|error| {
                Error::new(ErrorKind::Io).because("no thread could be started").caused_by(error)
            })?);
            state.is_running = true;
        }
        state.submitted += 1;
        state.bytes += bytes;
        // What has the turn goes first: all others are held for it.
        match submission.change {
            None => state.waiting.push_back(submission),
            Some(_) => state.waiting.push_front(submission),
        }
        drop(state);
        self.changed.notify();
        Ok(())
    }

    /// Carries out what comes, until the store is closed or nothing has come for a while.
    fn lead(&self, open: &OpenStore) {
        while self.await_some(&open.writer) {
            match open.writer.lead() {
                Ok(lead) => {
                    let most = open.environment.options.group_limit;
                    let (mut members, callbacks) = self.take(most, Some(&open.writer.turns));
                    // What panics here has written nothing, or has answered for what it had.
                    let ran =
                        catch_unwind(AssertUnwindSafe(|| open.writer.run_submitted(open, &mut members)));
                    drop(lead);
                    let results = members.results(callbacks.len());
                    if ran.is_ok() {
                        open.writer.give_back(members);
                    }
                    self.answer(callbacks.into_iter().zip(results), &open.telemetry);
                    open.warn_of_space();
                }
                // The store has stopped.
                Err(error) => {
                    let (_, callbacks) = self.take(usize::MAX, None);
                    let refused = || Err(Refused::whole(error.duplicate()));
                    self.answer(callbacks.into_iter().map(|done| (done, refused())), &open.telemetry);
                }
            }
        }
    }

    /// Waits until a plan may be carried out. False if the thread is to end.
    fn await_some(&self, writer: &Writer) -> bool {
        let waker = Waker::from(self.changed.clone());
        loop {
            let seen = self.changed.times();
            let held = {
                let state = lock(&self.state);
                match state.waiting.front() {
                    // The last handle's drop must not wait for a turn that may be held by a change which waits for it.
                    Some(_) if state.is_closed => return true,
                    Some(first) => match writer.turns.poll_pass(first.change, &waker) {
                        Ok(()) => return true,
                        Err(until) => Some(until),
                    },
                    None if state.is_closed => return false,
                    None => None,
                }
            };
            match held {
                Some(until) => {
                    self.changed.wait(seen, until.saturating_duration_since(Instant::now()));
                }
                None if self.changed.wait(seen, IDLE) => {}
                None => {
                    let mut state = lock(&self.state);
                    if state.waiting.is_empty() {
                        // The next plan makes another.
                        state.is_running = false;
                        return false;
                    }
                }
            }
        }
    }

    /// Takes the plans that go into one transaction, with their callbacks: those that `turns` lets pass.
    fn take(&self, most: usize, turns: Option<&RetryFairness>) -> (Members, Vec<OnCommitted>) {
        let mut state = lock(&self.state);
        let (mut members, mut callbacks, mut bytes) = (Members::default(), Vec::new(), 0);
        let turns = turns.filter(|_| !state.is_closed);
        let passes = |submission: &Submission| {
            turns.is_none_or(|turns| turns.poll_pass(submission.change, Waker::noop()).is_ok())
        };
        while members.len() < most && bytes < GROUP_BYTES {
            if !state.waiting.front().is_some_and(passes) {
                break;
            }
            let Some(submission) = state.waiting.pop_front() else { break };
            bytes += submission.prepared.weight();
            members.push(submission.prepared, submission.since);
            callbacks.push(submission.done);
        }
        state.bytes = state.bytes.saturating_sub(bytes);
        drop(state);
        self.room.wake(callbacks.len());
        (members, callbacks)
    }

    /// Calls back, in order. A callback that panics has its message printed, as any panic has, and harms no other.
    fn answer(
        &self,
        answers: impl Iterator<Item = (OnCommitted, Result<Ticks, Refused>)>,
        telemetry: &Telemetry,
    ) {
        let mut answered = 0;
        for (done, result) in answers {
            if let Err(refused) = &result {
                telemetry.failed(refused.error.kind(), "");
            }
            let answer = result.map(|time| Committed::at(ETag::from_timestamp(time)));
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| done(answer))) {
                // Its drop could panic, too.
                std::mem::forget(payload);
            }
            answered += 1;
        }
        lock(&self.state).answered += answered;
        self.answered.notify_all();
    }

    /// Waits until all that was taken in before is answered. An error on the thread that answers: it can't wait for itself.
    pub(crate) fn wait(&self) -> Result<()> {
        let mut state = lock(&self.state);
        if state.thread.as_ref().is_some_and(is_current) {
            let because =
                "it was called by the callback of a submitted write, which those behind it wait for";
            return Err(Error::new(ErrorKind::StoreInUse).because(because));
        }
        let until = state.submitted;
        while state.answered < until {
            state = self.answered.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }

    /// Has all that was taken in answered, and ends the thread. On that thread itself it returns at once: what waits is
    /// answered when the callback that has called this returns.
    pub(crate) fn close(&self) {
        let thread = {
            let mut state = lock(&self.state);
            state.is_closed = true;
            if state.thread.as_ref().is_some_and(is_current) { None } else { state.thread.take() }
        };
        self.changed.notify();
        if let Some(thread) = thread {
            // It has no panic to report: callbacks and transactions are caught.
            drop(thread.join());
        }
    }

    /// Returns how many wait now.
    #[cfg(feature = "metrics")]
    pub(crate) fn waiting(&self) -> usize {
        lock(&self.state).waiting.len()
    }

    #[cfg(test)]
    pub(super) fn has_thread(&self) -> bool {
        lock(&self.state).is_running
    }
}

fn is_current(thread: &JoinHandle<()>) -> bool {
    thread.thread().id() == thread::current().id()
}

impl Members {
    /// Takes the results of the first members, those that were submitted.
    fn results(&mut self, submitted: usize) -> Vec<Result<Ticks, Refused>> {
        let members = self.0.iter_mut().take(submitted);
        members.map(|member| member.result.take().unwrap_or_else(panicked)).collect()
    }
}

impl std::fmt::Debug for Submission {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Submission").field("prepared", &self.prepared).finish_non_exhaustive()
    }
}
