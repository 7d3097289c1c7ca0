//! Group commit: threads that write at one time share a commit.
//!
//! A thread that finds no leader becomes the leader: it runs its own prepared write and those that wait, in the order
//! in which they came, in one transaction on its own stack, answers them, and hands the lead to the first of those that
//! came meanwhile. A thread alone never waits and never hops to another.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::executor::RetryFairness;
use table_engine::model::Ticks;
use table_engine::plan::Refused;
use table_engine::telemetry::{Stamp, Telemetry};

use super::apply::Scratch;
use super::blanks::Blanks;
use super::encoded::EncodedPlan;
use super::group::{Member, Members, attempt, panicked};
use super::queue::{Outcome, Queue, State, WriterTicket, lock};
use super::submissions::Submissions;
use super::transaction::Transaction;
use crate::open::read_only;
use crate::state::StoreState;

/// Most bytes in one transaction: LMDB's list of changed pages is bounded.
pub(crate) const GROUP_BYTES: usize = 16 * 1024 * 1024;
/// The size of a group that takes in no other thread: its members are a sequence of one caller's.
const ALONE: usize = 0;
/// The longest that a leader waits for company.
const LONGEST_WAIT: Duration = Duration::from_micros(500);

/// The threads of this process that write: one leads at a time.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    /// Whether the store was opened for reading only.
    read_only: bool,
    /// The turn of a change that others have been too quick for, while which plans don't come to the queue.
    pub(crate) turns: RetryFairness,
    queue: Mutex<Queue>,
    /// Signalled when a thread joins the queue while a leader waits for company.
    joined: Condvar,
    /// Writes in the last group, and the microseconds that the transaction of the last one of several took.
    last_group: AtomicUsize,
    last_commit_micros: AtomicU64,
    transactions: AtomicU64,
    batches: AtomicU64,
    /// Set when a commit's outcome is unknown: from then on the store refuses everything.
    stopped: AtomicBool,
    /// The memory that the last transaction worked with.
    scratch: Mutex<Option<Box<Scratch>>>,
    /// Memory of plans that were carried out.
    blanks: Mutex<Blanks>,
    /// Plans that a thread of the store's own carries out.
    pub(crate) submissions: Submissions,
}

/// Holds the lead, which is handed on when the guard is dropped, also by a panic.
pub(crate) struct LeaderGuard<'w> {
    writer: &'w Writer,
}

impl Drop for LeaderGuard<'_> {
    fn drop(&mut self) {
        let mut queue = lock(&self.writer.queue);
        match queue.waiting.pop_front() {
            None => queue.led = false,
            Some(next) => {
                drop(queue);
                let mut state = lock(&next.state);
                if let State::Waiting(prepared) = &mut *state {
                    let prepared = prepared.take();
                    *state = State::Leads(prepared);
                }
                drop(state);
                next.changed.notify_one();
            }
        }
    }
}

impl Writer {
    /// Returns the writer of a store that was opened for reading only, or not.
    pub(crate) fn new(read_only: bool) -> Self {
        Self { read_only, ..Self::default() }
    }

    /// Refuses to write if the store is open for reading only or has stopped, before anything is tried.
    pub(crate) fn check_writable(&self) -> Result<()> {
        self.check_running()?;
        if self.read_only { Err(read_only()) } else { Ok(()) }
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Refuses everything once the outcome of a commit is unknown.
    pub(crate) fn check_running(&self) -> Result<()> {
        if self.stopped.load(Ordering::Acquire) { Err(Error::new(ErrorKind::OutcomeUnknown)) } else { Ok(()) }
    }

    /// Stops as after a header that could not be written.
    #[cfg(test)]
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Returns the memory that a transaction works with.
    pub(super) fn scratch(&self) -> Box<Scratch> {
        lock(&self.scratch).take().unwrap_or_default()
    }

    /// Keeps what a transaction has worked with for the next one.
    pub(super) fn keep(&self, scratch: Box<Scratch>) {
        *lock(&self.scratch) = scratch.end();
    }

    /// Returns a plan that holds nothing yet, to be filled and submitted.
    pub(crate) fn blank(&self) -> Box<EncodedPlan> {
        lock(&self.blanks).plan()
    }

    /// Returns how many transactions this process has committed, and how many batches were in them.
    pub(crate) fn totals(&self) -> (u64, u64) {
        (self.transactions.load(Ordering::Relaxed), self.batches.load(Ordering::Relaxed))
    }

    /// Returns how many wait for a leader.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        lock(&self.queue).waiting.len()
    }

    /// Carries out one prepared write, alone or in company.
    pub(crate) fn commit(&self, inner: &StoreState, prepared: Box<EncodedPlan>) -> Result<Ticks, Refused> {
        self.check_writable().map_err(Refused::whole)?;
        let since = Stamp::now();
        self.turns.pass();
        let prepared = match self.join(Some(prepared), &since) {
            Outcome::Done(result) => return result,
            Outcome::Leads(None) => return panicked(),
            Outcome::Leads(Some(prepared)) => prepared,
        };
        let lead = LeaderGuard { writer: self };
        let result = self.lead_group(inner, prepared, since);
        drop(lead);
        inner.warn_of_space();
        result
    }

    /// Waits for the lead, to run a transaction of its own kind.
    pub(crate) fn lead(&self) -> Result<LeaderGuard<'_>> {
        self.check_writable()?;
        // A turn without a prepared write is never answered, only given the lead.
        match self.join(None, &Stamp::now()) {
            Outcome::Leads(_) => Ok(LeaderGuard { writer: self }),
            Outcome::Done(result) => {
                let told = result.err().map(|refused| refused.error);
                Err(told.unwrap_or_else(|| Error::new(ErrorKind::WriterPanicked)))
            }
        }
    }

    fn join(&self, prepared: Option<Box<EncodedPlan>>, since: &Stamp) -> Outcome {
        let mut queue = lock(&self.queue);
        if !queue.led {
            queue.led = true;
            return Outcome::Leads(prepared);
        }
        let turn = WriterTicket::new(prepared, since.clone());
        queue.waiting.push_back(turn.clone());
        drop(queue);
        self.joined.notify_one();
        turn.wait()
    }

    /// Gives the threads of the last group a moment to come back, if there were several.
    fn await_company(&self) {
        let expected = self.last_group.load(Ordering::Relaxed);
        if expected < 2 {
            return;
        }
        // The wait is short beside the commit that it may save.
        let commit = Duration::from_micros(self.last_commit_micros.load(Ordering::Relaxed));
        let deadline = Instant::now() + (commit / 4).min(LONGEST_WAIT);
        let mut queue = lock(&self.queue);
        while queue.waiting.len() + 1 < expected {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            queue = self.joined.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Takes in those that wait, in order, as far as one transaction goes.
    fn gather(&self, members: &mut Members, most: usize) {
        let mut bytes: usize = members.0.iter().map(|member| member.prepared.weight()).sum();
        let mut queue = lock(&self.queue);
        while members.0.len() < most && bytes < GROUP_BYTES {
            let Some(turn) = queue.waiting.front() else { return };
            let mut state = lock(&turn.state);
            // A thread that waits for the lead itself ends the group, so that none overtakes it.
            let State::Waiting(prepared @ Some(_)) = &mut *state else { return };
            let Some(prepared) = prepared.take() else { return };
            *state = State::Taken;
            drop(state);
            let since = turn.since.clone();
            bytes += prepared.weight();
            let turn = queue.waiting.pop_front();
            members.0.push(Member { prepared, since, turn, result: None });
        }
    }

    fn lead_group(&self, inner: &StoreState, own: Box<EncodedPlan>, since: Stamp) -> Result<Ticks, Refused> {
        let most = inner.environment.options.group_limit;
        let mut members = Members(lock(&self.blanks).members());
        members.push(own, since);
        if most > 1 {
            self.await_company();
        }
        self.run(inner, &mut members, most);
        let own = members.0.first_mut().and_then(|member| member.result.take());
        lock(&self.blanks).keep(members.answered());
        own.unwrap_or_else(panicked)
    }

    /// Runs prepared writes that were submitted with those that wait, as far as a group goes; the caller has the lead.
    pub(super) fn run_submitted(&self, inner: &StoreState, members: &mut Members) {
        let submitted = members.len();
        self.run(inner, members, inner.environment.options.group_limit.max(submitted));
        // Only threads come back for company.
        self.last_group.store(members.len() - submitted, Ordering::Relaxed);
    }

    /// Answers the threads whose writes are among the members, and keeps the memory of all.
    pub(super) fn give_back(&self, members: Members) {
        lock(&self.blanks).keep(members.answered());
    }

    /// Runs many prepared writes in as few transactions as their size allows; the caller has the lead.
    pub(crate) fn run_all(
        &self,
        inner: &StoreState,
        _lead: &LeaderGuard<'_>,
        mut members: Members,
    ) -> Vec<Result<Ticks, Refused>> {
        self.run(inner, &mut members, ALONE);
        let answer = |member: &mut Member| member.result.take().unwrap_or_else(panicked);
        let answers = members.0.iter_mut().map(answer).collect();
        lock(&self.blanks).keep(members.answered());
        answers
    }

    /// Runs the members and, up to `most`, those that wait by the time the transaction has begun.
    fn run(&self, inner: &StoreState, members: &mut Members, most: usize) {
        let begun = Instant::now();
        match Transaction::begin(inner, self) {
            Err(error) => self.answer_all(inner, &mut members.0, &error),
            Ok(group) => {
                self.gather(members, most);
                if Telemetry::IS_ON && most != ALONE {
                    members.waited(&inner.telemetry);
                }
                self.run_in(inner, group, &mut members.0, most == ALONE);
            }
        }
        let group = if most == ALONE { 0 } else { members.0.len() };
        self.last_group.store(group, Ordering::Relaxed);
        // The next leader waits for company only if this group had some.
        if group > 1 {
            let micros = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
            self.last_commit_micros.store(micros, Ordering::Relaxed);
        }
    }

    /// Runs the members in this transaction; if it fails for want of room, again in halves, so that the one that
    /// can't fit is left alone with its error. In a sequence, those after it are not tried.
    fn run_in(&self, inner: &StoreState, group: Transaction<'_>, members: &mut [Member], sequence: bool) {
        let error = match attempt(group, members, &inner.telemetry) {
            Ok(written) => {
                self.transactions.fetch_add(u64::from(written), Ordering::Relaxed);
                let done = members.iter().filter(|member| matches!(member.result, Some(Ok(_)))).count();
                let done = if written { done } else { 0 };
                self.batches.fetch_add(u64::try_from(done).unwrap_or(u64::MAX), Ordering::Relaxed);
                return;
            }
            Err(error) => inner.refusal(error),
        };
        let for_want_of_room =
            matches!(error.kind(), ErrorKind::MapFull | ErrorKind::DiskFull | ErrorKind::TransactionTooLarge);
        // The step of a job is in one transaction, or in none.
        let has_step = members.iter().any(|member| member.prepared.step.is_some());
        if !for_want_of_room || members.len() < 2 || has_step {
            return self.answer_all(inner, members, &error);
        }
        let (first, second) = members.split_at_mut(members.len() / 2);
        self.run_half(inner, first, sequence);
        match first.last() {
            Some(Member { result: Some(Err(refused)), .. }) if sequence && refused.error.kind().stops() => {
                let error = refused.error.duplicate();
                self.answer_all(inner, second, &error);
            }
            _ => self.run_half(inner, second, sequence),
        }
    }

    fn run_half(&self, inner: &StoreState, members: &mut [Member], sequence: bool) {
        match Transaction::begin(inner, self) {
            Ok(group) => self.run_in(inner, group, members, sequence),
            Err(error) => self.answer_all(inner, members, &error),
        }
    }

    /// Gives every member the error of the transaction they shared.
    #[cold]
    fn answer_all(&self, inner: &StoreState, members: &mut [Member], error: &Error) {
        let unknown = self.outcome_unknown(inner, error);
        for member in members {
            let error = if unknown { Error::new(ErrorKind::OutcomeUnknown) } else { error.duplicate() };
            member.result = Some(Err(member.prepared.locate_all(error)));
        }
    }

    /// Returns whether the outcome of a commit is unknown, and stops the store if it is. LMDB refuses everything after
    /// a failed write of its meta page, which may or may not have reached the disk.
    fn outcome_unknown(&self, inner: &StoreState, error: &Error) -> bool {
        let panics = |e: &heed::Error| matches!(e, heed::Error::Mdb(heed::MdbError::Panic));
        // A read transaction would not show it where every reader slot is taken.
        let unknown = error.kind() == ErrorKind::OutcomeUnknown
            || inner.environment.env.write_txn().err().as_ref().is_some_and(panics);
        if unknown {
            self.stopped.store(true, Ordering::Release);
        }
        unknown
    }

    /// Returns the error of a transaction that the caller ran under the lead, once the store has stopped if the outcome
    /// is unknown.
    #[cold]
    pub(crate) fn explain_failure(&self, inner: &StoreState, error: Error) -> Error {
        if self.outcome_unknown(inner, &error) {
            Error::new(ErrorKind::OutcomeUnknown)
        } else {
            inner.refusal(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;
    use std::sync::Arc;
    use std::thread;

    use super::super::group::PANICS;
    use super::*;
    use crate::Store;
    use table_engine::model::DynamicEntity;

    fn waiting(store: &Store) -> usize {
        store.shared().writer.waiting()
    }

    #[test]
    fn when_a_leader_panics_nobody_is_told_of_success_and_nothing_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().join("store")).unwrap();
        let good = store.create_table("Good").unwrap();
        let panics = store.create_table(PANICS).unwrap();
        let row = |key: &str| DynamicEntity::new("p", key);
        let deadline = Instant::now() + Duration::from_mins(1);
        for round in 0..3 {
            let lead = store.shared().writer.lead().unwrap();
            let mut threads = Vec::new();
            // The first will lead, the second has been applied when the third panics, and the fourth has not.
            for (place, table) in [&good, &good, &panics, &good].into_iter().enumerate() {
                let (table, row) = (table.clone(), row(&format!("{round} {place}")));
                threads.push(thread::spawn(move || {
                    std::panic::catch_unwind(AssertUnwindSafe(|| table.insert(&row).unwrap_err().kind()))
                }));
                while waiting(&store) <= place && Instant::now() < deadline {
                    thread::yield_now();
                }
            }
            drop(lead);
            let kinds: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap().ok()).collect();
            let told = Some(ErrorKind::WriterPanicked);
            assert_eq!(kinds, [None, told, told, told]);
            assert_eq!(store.check().unwrap().rows, round);
            // The lead is free, and so is LMDB's lock.
            good.insert(&row(&format!("{round}"))).unwrap();
        }
    }

    #[test]
    fn a_lead_that_is_dropped_by_a_panic_goes_to_the_next() {
        let writer = Arc::new(Writer::default());
        let lead = writer.lead().unwrap();
        let next = thread::spawn({
            let writer = writer.clone();
            move || drop(writer.lead().unwrap())
        });
        let panicked = std::panic::catch_unwind(AssertUnwindSafe(|| {
            let _lead = lead;
            panic!("as the test wants it");
        }));
        assert!(panicked.is_err());
        next.join().unwrap();
        drop(writer.lead().unwrap());
    }
}
