//! Waiting without a thread for each wait: one thread of the process wakes all, and goes when nothing waits.

use std::collections::BTreeMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind, Result};

/// How long the thread stays when nothing waits.
const IDLE: Duration = Duration::from_secs(1);

/// What is to be woken, in the order of its time.
struct Timers {
    state: Mutex<State>,
    /// Signalled when something is to be woken before all that was known.
    changed: Condvar,
}

struct State {
    /// By their times, and by a number among those of one time.
    waiting: BTreeMap<(Instant, u64), Waker>,
    next: u64,
    is_running: bool,
    /// When the thread looks next, of itself; `None` while it looks.
    looks_at: Option<Instant>,
}

static TIMERS: Timers = Timers {
    state: Mutex::new(State { waiting: BTreeMap::new(), next: 0, is_running: false, looks_at: None }),
    changed: Condvar::new(),
};

/// Wakes something at a time, unless it is dropped before.
#[derive(Debug)]
pub(crate) struct WakeAt {
    key: (Instant, u64),
}

impl WakeAt {
    /// Has the waker woken at this time.
    pub(crate) fn new(at: Instant, waker: Waker) -> Result<Self> {
        let mut state = TIMERS.state();
        if !state.is_running {
            let spawned = thread::Builder::new().name("table-core timer".into()).spawn(|| TIMERS.run());
            let refused =
                |error| Error::new(ErrorKind::Io).because("no thread could be started").caused_by(error);
            drop(spawned.map_err(refused)?);
            state.is_running = true;
        }
        let key = (at, state.next);
        state.next += 1;
        state.waiting.insert(key, waker);
        // What is far away, as the end of a snapshot's time is, wakes no thread that looks before.
        let is_sooner = state.looks_at.is_some_and(|looks| at < looks);
        drop(state);
        if is_sooner {
            TIMERS.changed.notify_one();
        }
        Ok(Self { key })
    }

    /// Has another waker woken; whether the time has not come yet.
    fn is_waiting(&self, waker: &Waker) -> bool {
        let mut state = TIMERS.state();
        state.waiting.get_mut(&self.key).map(|known| known.clone_from(waker)).is_some()
    }
}

impl Drop for WakeAt {
    fn drop(&mut self) {
        TIMERS.state().waiting.remove(&self.key);
    }
}

impl Timers {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes what is due, until nothing has waited for a while.
    fn run(&self) {
        let mut state = self.state();
        loop {
            let now = Instant::now();
            let mut due = Vec::new();
            while let Some(first) = state.waiting.first_entry()
                && first.key().0 <= now
            {
                due.push(first.remove());
            }
            if !due.is_empty() {
                // Without the lock: what is woken may wait again at once.
                drop(state);
                due.into_iter().for_each(wake);
                state = self.state();
                continue;
            }
            let next = state.waiting.first_key_value().map(|((at, _), _)| at.saturating_duration_since(now));
            let wait = next.unwrap_or(IDLE);
            state.looks_at = now.checked_add(wait);
            let waited = self.changed.wait_timeout(state, wait);
            let (again, timed_out) = waited.unwrap_or_else(PoisonError::into_inner);
            state = again;
            state.looks_at = None;
            if next.is_none() && timed_out.timed_out() && state.waiting.is_empty() {
                state.is_running = false;
                return;
            }
        }
    }
}

/// Wakes something. What panics by that, as code of the program's may that reads a row, ends no other's waiting; its message is
/// printed as any panic's.
fn wake(waker: Waker) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
        // Its drop could panic, too.
        std::mem::forget(payload);
    }
}

/// Ready at a time.
#[derive(Debug)]
pub(crate) struct Sleep {
    at: Instant,
    timer: Option<WakeAt>,
}

impl Sleep {
    /// Is ready at this time.
    pub(crate) fn until(at: Instant) -> Self {
        Self { at, timer: None }
    }

    /// Is ready after so long.
    pub(crate) fn lasting(span: Duration) -> Self {
        // What is too far away never comes.
        let far = Duration::from_secs(60 * 60 * 24 * 365);
        Self::until(Instant::now() + span.min(far))
    }
}

impl Future for Sleep {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        if Instant::now() >= self.at {
            return Poll::Ready(Ok(()));
        }
        match &self.timer {
            Some(timer) if timer.is_waiting(context.waker()) => Poll::Pending,
            // It was woken, and the clock has not come so far: a moment later.
            _ => match WakeAt::new(self.at, context.waker().clone()) {
                Ok(timer) => {
                    self.timer = Some(timer);
                    Poll::Pending
                }
                Err(error) => Poll::Ready(Err(error)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asynchronous::block_on;

    #[test]
    fn what_sleeps_is_woken_in_the_order_of_time_and_what_is_dropped_is_not() {
        let begun = Instant::now();
        let [long, short] = [40, 10].map(|millis| Sleep::lasting(Duration::from_millis(millis)));
        block_on(short).unwrap();
        assert!(begun.elapsed() >= Duration::from_millis(10));
        block_on(long).unwrap();
        assert!(begun.elapsed() >= Duration::from_millis(40));
        let mut dropped = Sleep::lasting(Duration::from_secs(3_600));
        let mut context = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut dropped).poll(&mut context).is_pending());
        let key = dropped.timer.as_ref().unwrap().key;
        assert!(TIMERS.state().waiting.contains_key(&key));
        drop(dropped);
        assert!(!TIMERS.state().waiting.contains_key(&key));
    }

    #[test]
    fn what_panics_when_it_is_woken_keeps_no_other_from_being_woken() {
        struct Panics;

        impl std::task::Wake for Panics {
            fn wake(self: std::sync::Arc<Self>) {
                panic!("as a row's reader may");
            }
        }

        let at = Instant::now() + Duration::from_millis(5);
        let panicking = WakeAt::new(at, Waker::from(std::sync::Arc::new(Panics))).unwrap();
        block_on(Sleep::lasting(Duration::from_millis(20))).unwrap();
        drop(panicking);
        block_on(Sleep::lasting(Duration::from_millis(5))).unwrap();
    }

    #[test]
    fn the_thread_goes_and_another_comes() {
        block_on(Sleep::lasting(Duration::from_millis(1))).unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        while TIMERS.state().is_running && Instant::now() < until {
            thread::sleep(Duration::from_millis(50));
        }
        block_on(Sleep::lasting(Duration::from_millis(1))).unwrap();
    }
}
