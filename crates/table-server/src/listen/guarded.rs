//! Futures that may panic.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// A future panicked. What it said is on standard error, by the hook of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Panicked;

/// Awaits a future. If it panics, it is dropped.
pub(super) async fn guarded<A>(future: impl Future<Output = A>) -> Result<A, Panicked> {
    let mut future = pin!(future);
    // A future that has panicked is never polled again, so what it left half done is not seen.
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(answer)) => Poll::Ready(Ok(answer)),
        Err(_) => Poll::Ready(Err(Panicked)),
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::{Panicked, guarded};

    #[tokio::test]
    async fn a_panic_is_an_answer() {
        assert_eq!(guarded(async { 7 }).await, Ok(7));
        let panics = guarded(async {
            tokio::task::yield_now().await;
            assert!(std::hint::black_box(false), "it is meant to");
        });
        assert_eq!(panics.await, Err(Panicked));
    }
}
