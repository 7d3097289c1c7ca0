//! Futures that are polled step by step, and dropped in between.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

struct Woken(Sender<()>);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        let _ = self.0.send(());
    }
}

fn waker() -> (Waker, Receiver<()>) {
    let (sender, receiver) = channel();
    (Waker::from(Arc::new(Woken(sender))), receiver)
}

/// Polls a future so many times, each time when it was woken, and drops it: at once, or when it is woken once more.
pub fn polled<F: Future>(future: F, times: usize, then_woken: bool) -> Option<F::Output> {
    let (waker, woken) = waker();
    let mut future = pin!(future);
    for poll in 0..times {
        if poll > 0 {
            woken.recv_timeout(PATIENCE).expect("it is woken");
        }
        if let Poll::Ready(done) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(done);
        }
    }
    if then_woken && times > 0 {
        woken.recv_timeout(PATIENCE).expect("it is woken");
    }
    None
}

/// Drops the futures that this makes at every poll, at once and when they were woken, until one comes to its end; `check` is
/// called after each, with what the future has returned.
pub fn dropped_everywhere<F: Future>(mut make: impl FnMut() -> F, mut check: impl FnMut(Option<F::Output>)) {
    for then_woken in [false, true] {
        for times in 0_usize.. {
            let done = polled(make(), times, then_woken);
            let is_done = done.is_some();
            check(done);
            if is_done {
                assert!(times > 0);
                break;
            }
            assert!(times < 1_000);
        }
    }
}

/// Holds if a value may go from thread to thread.
pub fn is_send<T: Send>(value: T) -> T {
    value
}
