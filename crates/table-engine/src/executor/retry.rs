//! Which change goes first where many change the same entities.
//!
//! Without a turn a change that takes long to plan is always too late: one of 20 ms lost 64 times of 64 beside four threads
//! that wrote its entity. Without random waits one of 16 threads on one entity lost 64 times in a row now and then.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// How often what is planned on what was read is tried when others write it, or drop its table, in between.
pub(crate) const ATTEMPTS: u32 = 64;

/// How often it may lose before it asks for a turn, which one in the process has at a time: meanwhile the plans of others are
/// held, for a second at most.
pub(crate) const LOSSES_BORNE: u32 = 8;

/// The longest wait for the turn, and between two attempts.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// The longest that the plans of others are held for one change.
const LONGEST_HOLD: Duration = Duration::from_secs(1);

/// The turn of a change that others have been too quick for: of a store's one has it at a time, in this process.
///
/// As long as a change has the turn, the plans of other threads [wait](Self::pass), for a second at most: it plans on rows
/// that no other thread of this process writes meanwhile. Plans of its own thread pass, since its closure may write.
#[derive(Debug, Default)]
pub struct RetryFairness {
    turn: Mutex<()>,
    /// Whether plans are held; asked by each of them.
    holds: AtomicBool,
    held: Mutex<Option<Held>>,
    freed: Condvar,
}

/// For whom plans are held, and how long at most.
#[derive(Debug)]
struct Held {
    by: ThreadId,
    until: Instant,
}

/// The turn; given back when it is dropped.
pub(crate) struct Precedence<'t> {
    turns: &'t RetryFairness,
    _turn: MutexGuard<'t, ()>,
}

impl RetryFairness {
    /// Returns the turn, if it comes within so long. Never waits for ever: the change that has it may be waiting for this one.
    pub(crate) fn take(&self, patience: Duration) -> Option<Precedence<'_>> {
        let begun = Instant::now();
        // `Mutex` has no lock that gives up after a time.
        let turn = loop {
            match self.turn.try_lock() {
                Ok(turn) => break turn,
                Err(TryLockError::Poisoned(turn)) => break turn.into_inner(),
                Err(TryLockError::WouldBlock) if begun.elapsed() > patience => return None,
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_micros(200)),
            }
        };
        // First for whom plans are held: a thread that sees `holds` looks there.
        *self.held() = Some(Held { by: thread::current().id(), until: Instant::now() + LONGEST_HOLD });
        self.holds.store(true, Ordering::Release);
        Some(Precedence { turns: self, _turn: turn })
    }

    /// Lets a plan pass: at once, unless those of other threads than this one's are held.
    #[inline]
    pub fn pass(&self) {
        if self.holds.load(Ordering::Acquire) {
            self.wait();
        }
    }

    #[cold]
    fn wait(&self) {
        let me = thread::current().id();
        let mut held = self.held();
        while let Some(hold) = held.as_ref().filter(|hold| hold.by != me) {
            let left = hold.until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            held = self.freed.wait_timeout(held, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn held(&self) -> MutexGuard<'_, Option<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Precedence<'_> {
    fn drop(&mut self) {
        self.turns.holds.store(false, Ordering::Release);
        *self.turns.held() = None;
        self.turns.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_of_other_threads_wait_for_the_turn_and_no_longer_than_a_second() {
        let turns = RetryFairness::default();
        turns.pass();
        let turn = turns.take(Duration::ZERO).unwrap();
        assert!(turns.take(Duration::ZERO).is_none());
        // Those of its own thread pass.
        turns.pass();
        thread::scope(|scope| {
            let begun = Instant::now();
            let late = scope.spawn(|| turns.pass());
            late.join().unwrap();
            assert!(begun.elapsed() >= Duration::from_millis(900), "{:?}", begun.elapsed());
            // The turn lasts, and plans are held for it no longer.
            let begun = Instant::now();
            scope.spawn(|| turns.pass()).join().unwrap();
            assert!(begun.elapsed() < Duration::from_millis(900), "{:?}", begun.elapsed());
        });
        drop(turn);
        let turn = turns.take(Duration::ZERO).unwrap();
        thread::scope(|scope| {
            let begun = Instant::now();
            let waiting = scope.spawn(|| turns.pass());
            thread::sleep(Duration::from_millis(20));
            drop(turn);
            waiting.join().unwrap();
            assert!(begun.elapsed() >= Duration::from_millis(20));
        });
    }
}
