//! Which change goes first where many change the same entities.
//!
//! Without a turn a change that takes long to plan is always too late: one of 20 ms lost 64 times of 64 beside four threads
//! that wrote its entity. Without random waits one of 16 threads on one entity lost 64 times in a row now and then.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};
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

thread_local! {
    /// The change with a turn whose code this thread runs.
    static CURRENT: Cell<Option<ChangeId>> = const { Cell::new(None) };
}

/// Tells a change that has asked for a turn from all others of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeId(u64);

impl ChangeId {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // Relaxed: the numbers differ, and order nothing.
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Returns the change with a turn whose code this thread runs, if there is one: its plans are not held.
    #[inline]
    pub fn current() -> Option<Self> {
        CURRENT.get()
    }
}

/// The turn of a change that others have been too quick for: of a store's one has it at a time, in this process.
///
/// As long as a change has the turn, the plans of others [wait](Self::pass), for a second at most: it plans on rows that no
/// other change of this process writes meanwhile. A turn is a change's and not a thread's: what carries the change out says
/// on which thread its code runs. The plans of what its closure writes there pass, too.
#[derive(Debug, Default)]
pub struct RetryFairness {
    /// Whether plans are held; asked by each of them.
    holds: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    held: Option<Held>,
    /// What waits for the turn, or for plans to pass: woken when the turn is given back.
    waiting: Vec<Waker>,
}

/// For which change plans are held, and how long at most.
#[derive(Clone, Copy, Debug)]
struct Held {
    by: ChangeId,
    until: Instant,
}

/// The turn; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'t> {
    turns: &'t RetryFairness,
    change: ChangeId,
}

/// A thread that runs a change's code; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Entered {
    former: Option<ChangeId>,
    /// It is the thread's that has entered.
    of_thread: PhantomData<*const ()>,
}

/// The turn of a change that this thread carries out from beginning to end.
pub(crate) struct Precedence<'t> {
    // Fields drop in this order: the thread leaves the change before others come.
    _entered: Entered,
    _turn: Turn<'t>,
}

impl RetryFairness {
    /// Returns the turn, if it comes within so long. Never waits for ever: the change that has it may be waiting for this one.
    pub(crate) fn take(&self, patience: Duration) -> Option<Precedence<'_>> {
        let until = Instant::now() + patience;
        let signal = Arc::<Signal>::default();
        let waker = signal.clone().into();
        loop {
            if let Some(turn) = self.poll_take(&waker) {
                return Some(Precedence { _entered: turn.enter(), _turn: turn });
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            signal.wait(left);
        }
    }

    /// Returns the turn, taken for this thread, to tests of backends.
    #[doc(hidden)]
    pub fn hold_for_test(&self) -> Option<impl Sized + '_> {
        self.take(Duration::ZERO)
    }

    /// Returns the turn if no change has it. Else wakes `waker` when it is given back: then it may be asked for again.
    pub(crate) fn poll_take(&self, waker: &Waker) -> Option<Turn<'_>> {
        let mut state = self.state();
        if state.held.is_some() {
            state.wake_later(waker);
            return None;
        }
        let change = ChangeId::new();
        // First for which change plans are held: a plan that sees `holds` looks there.
        state.held = Some(Held { by: change, until: Instant::now() + LONGEST_HOLD });
        self.holds.store(true, Ordering::Release);
        Some(Turn { turns: self, change })
    }

    /// Lets a plan pass: at once, unless those of other changes than this thread's are held.
    #[inline]
    pub fn pass(&self) {
        if self.holds.load(Ordering::Acquire) {
            self.wait();
        }
    }

    #[cold]
    fn wait(&self) {
        let (change, signal) = (ChangeId::current(), Arc::<Signal>::default());
        let waker = signal.clone().into();
        while let Err(until) = self.poll_pass(change, &waker) {
            signal.wait(until.saturating_duration_since(Instant::now()));
        }
    }

    /// Lets a plan of this change pass, if none are held or it is theirs. Else returns until when it is held at most, and
    /// wakes `waker` when the turn is given back before.
    #[inline]
    pub fn poll_pass(&self, change: Option<ChangeId>, waker: &Waker) -> Result<(), Instant> {
        if self.holds.load(Ordering::Acquire) { self.held_until(change, waker) } else { Ok(()) }
    }

    #[cold]
    fn held_until(&self, change: Option<ChangeId>, waker: &Waker) -> Result<(), Instant> {
        let mut state = self.state();
        match state.held {
            Some(held) if change != Some(held.by) && Instant::now() < held.until => {
                state.wake_later(waker);
                Err(held.until)
            }
            _ => Ok(()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Notes what is to be woken, once.
    fn wake_later(&mut self, waker: &Waker) {
        if !self.waiting.iter().any(|known| known.will_wake(waker)) {
            self.waiting.push(waker.clone());
        }
    }
}

impl Turn<'_> {
    /// Says that this thread runs the change's code: its plans pass, until what is returned is dropped.
    pub(crate) fn enter(&self) -> Entered {
        Entered { former: CURRENT.replace(Some(self.change)), of_thread: PhantomData }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.former);
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.holds.store(false, Ordering::Release);
        let waiting = {
            let mut state = self.turns.state();
            state.held = None;
            std::mem::take(&mut state.waiting)
        };
        // Without the lock: what is woken may ask at once.
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// Has one thread wait until it is woken. Not by `park`: the token of that may be meant for the caller's own code.
#[derive(Default)]
struct Signal {
    is_set: Mutex<bool>,
    set: Condvar,
}

impl Signal {
    /// Waits until it is woken, for so long at most.
    fn wait(&self, most: Duration) {
        let is_set = self.is_set.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.set.wait_timeout_while(is_set, most, |is_set| !*is_set);
        *waited.unwrap_or_else(PoisonError::into_inner).0 = false;
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        *self.is_set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.set.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

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

    #[test]
    fn a_turn_goes_with_its_change_from_thread_to_thread() {
        let turns = RetryFairness::default();
        let turn = turns.poll_take(Waker::noop()).unwrap();
        let is_held = || turns.poll_pass(ChangeId::current(), Waker::noop()).is_err();
        assert!(is_held(), "no thread runs its code yet");
        {
            let _entered = turn.enter();
            assert!(!is_held());
        }
        assert!(is_held());
        thread::scope(|scope| {
            let there = scope.spawn(|| {
                let before = is_held();
                let _entered = turn.enter();
                (before, is_held())
            });
            assert_eq!(there.join().unwrap(), (true, false));
        });
        drop(turn);
        assert!(!is_held());
        assert_eq!(ChangeId::current(), None);
    }

    #[test]
    fn whatever_waits_is_woken_when_the_turn_is_given_back() {
        let turns = RetryFairness::default();
        let turn = turns.poll_take(Waker::noop()).unwrap();
        thread::scope(|scope| {
            let begun = Instant::now();
            let [taken, passed] = [
                scope.spawn(|| turns.take(Duration::from_secs(60)).is_some()),
                scope.spawn(|| {
                    turns.pass();
                    true
                }),
            ];
            thread::sleep(Duration::from_millis(20));
            drop(turn);
            assert!(taken.join().unwrap() && passed.join().unwrap());
            assert!(begun.elapsed() < Duration::from_secs(30));
        });
        assert!(turns.state().waiting.is_empty());
    }
}
