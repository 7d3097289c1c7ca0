//! One value that comes from another thread, once.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// What the two ends share.
#[derive(Debug)]
struct Shared<T>(Mutex<State<T>>);

#[derive(Debug)]
struct State<T> {
    value: Option<T>,
    waker: Option<Waker>,
    /// Whether what was to give the value is gone.
    is_over: bool,
}

impl<T> Shared<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the value, or that none comes, and wakes what waits for it.
    fn end(&self, value: Option<T>) {
        let waker = {
            let mut state = self.state();
            state.is_over = true;
            if value.is_some() {
                state.value = value;
            }
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// What gives the value.
#[derive(Debug)]
pub(crate) struct Answering<T>(Arc<Shared<T>>);

/// What waits for the value: `None` if it never comes.
#[derive(Debug)]
pub(crate) struct Answer<T>(Arc<Shared<T>>);

/// Makes the two ends.
pub(crate) fn answer<T>() -> (Answering<T>, Answer<T>) {
    let shared = Arc::new(Shared(Mutex::new(State { value: None, waker: None, is_over: false })));
    (Answering(shared.clone()), Answer(shared))
}

impl<T> Answering<T> {
    /// Gives the value.
    pub(crate) fn give(self, value: T) {
        self.0.end(Some(value));
    }
}

impl<T> Drop for Answering<T> {
    fn drop(&mut self) {
        self.0.end(None);
    }
}

impl<T> Future for Answer<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut state = self.0.state();
        if let Some(value) = state.value.take() {
            return Poll::Ready(Some(value));
        }
        if state.is_over {
            return Poll::Ready(None);
        }
        match &mut state.waker {
            Some(known) => known.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::asynchronous::block_on;

    #[test]
    fn a_value_comes_from_another_thread_or_its_absence_does() {
        let (giving, value) = answer();
        let giver = thread::spawn(move || giving.give(7));
        assert_eq!(block_on(value), Some(7));
        giver.join().unwrap();
        let (giving, value) = answer::<u8>();
        let giver = thread::spawn(move || drop(giving));
        assert_eq!(block_on(value), None);
        giver.join().unwrap();
    }
}
