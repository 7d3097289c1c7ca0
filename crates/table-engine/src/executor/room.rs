//! What waits until a store takes more plans.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The tasks whose plans a store has not taken, since too many waited. They are woken in the order in which they came, as many
/// as there is room for.
#[derive(Debug, Default)]
pub struct Room {
    state: Mutex<State>,
    /// How many wait: a store for which none waits pays a load.
    waiting: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    waiting: VecDeque<(u64, Waker)>,
}

impl State {
    /// Returns where a task stands, if it waits: the numbers rise.
    fn place_of(&self, number: u64) -> Option<usize> {
        self.waiting.binary_search_by_key(&number, |(number, _)| *number).ok()
    }
}

impl Room {
    /// Wakes as many tasks as there is room for.
    #[inline]
    pub fn wake(&self, places: usize) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.wake_some(places);
        }
    }

    #[cold]
    fn wake_some(&self, places: usize) {
        let woken: Vec<_> = {
            let mut state = self.state();
            let places = places.min(state.waiting.len());
            let woken = state.waiting.drain(..places).collect();
            self.waiting.store(state.waiting.len(), Ordering::SeqCst);
            woken
        };
        // Without the lock: what is woken may ask at once.
        for (_, waker) in woken {
            waker.wake();
        }
    }

    /// Returns what is ready once there may be room. What comes after it has begun to wait is not missed: so a task begins,
    /// submits once more, and only then waits.
    pub fn listen(&self, waker: &Waker) -> WaitForRoom<'_> {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.waiting.push_back((number, waker.clone()));
        self.waiting.store(state.waiting.len(), Ordering::SeqCst);
        WaitForRoom { room: self, number, is_done: false }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A task that waits. Dropped when it was woken and has not been polled since, it wakes the next one in its place.
#[derive(Debug)]
pub struct WaitForRoom<'r> {
    room: &'r Room,
    number: u64,
    is_done: bool,
}

impl Future for WaitForRoom<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let is_waiting = {
            let mut state = self.room.state();
            let own = state.place_of(self.number).and_then(|place| state.waiting.get_mut(place));
            own.map(|(_, waker)| waker.clone_from(context.waker())).is_some()
        };
        if is_waiting {
            return Poll::Pending;
        }
        self.is_done = true;
        Poll::Ready(())
    }
}

impl Drop for WaitForRoom<'_> {
    fn drop(&mut self) {
        let was_woken = {
            let mut state = self.room.state();
            let own = state.place_of(self.number);
            if let Some(own) = own {
                state.waiting.remove(own);
                self.room.waiting.store(state.waiting.len(), Ordering::SeqCst);
            }
            own.is_none()
        };
        if was_woken && !self.is_done {
            self.room.wake(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Counted(AtomicUsize);

    impl Wake for Counted {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn is_ready(waiting: &mut WaitForRoom<'_>, waker: &Waker) -> bool {
        Pin::new(waiting).poll(&mut Context::from_waker(waker)).is_ready()
    }

    #[test]
    fn tasks_are_woken_in_order_as_many_as_there_is_room_for() {
        let (room, counted) = (Room::default(), Arc::<Counted>::default());
        let waker = Waker::from(counted.clone());
        let mut waiting: Vec<_> = (0..5).map(|_| room.listen(&waker)).collect();
        room.wake(2);
        assert_eq!(counted.0.load(Ordering::Relaxed), 2);
        let ready: Vec<_> = waiting.iter_mut().map(|one| is_ready(one, &waker)).collect();
        assert_eq!(ready, [true, true, false, false, false]);
        room.wake(100);
        assert!(waiting.iter_mut().all(|one| is_ready(one, &waker)));
    }

    #[test]
    fn a_task_that_goes_away_leaves_its_place_to_the_next() {
        let (room, counted) = (Room::default(), Arc::<Counted>::default());
        let waker = Waker::from(counted.clone());
        let [first, mut second, third] = [(); 3].map(|()| room.listen(&waker));
        // One that still waits has no place to leave.
        drop(third);
        room.wake(1);
        assert!(!is_ready(&mut second, &waker));
        drop(first);
        assert!(is_ready(&mut second, &waker));
        // One that has seen its place has taken it.
        let fourth = room.listen(&waker);
        drop(second);
        assert_eq!(counted.0.load(Ordering::Relaxed), 2);
        drop(fourth);
        assert_eq!(room.waiting.load(Ordering::Relaxed), 0);
    }
}
