//! Waiting for messages without a thread.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use super::{AsyncQueue, AsyncReceived};
use crate::asynchronous::Sleep;
use crate::error::Result;
use crate::executor::WaitForRoom;
use crate::queue::LOOKS_AWAY;

/// When one of several tasks has looked into a queue last: the others that wait need not look as well.
#[derive(Debug, Default)]
pub(super) struct Looks(Mutex<Option<Instant>>);

impl Looks {
    /// Returns whether none has looked for so long.
    fn is_time(&self, looks_away: Duration) -> bool {
        self.last().is_none_or(|last| last.elapsed() >= looks_away)
    }

    fn begin(&self) {
        *self.last() = Some(Instant::now());
    }

    /// Has the next one look whose time it is: there may be more.
    fn has_found(&self) {
        *self.last() = None;
    }

    fn last(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> AsyncQueue<T> {
    /// Receives the next message, and hides it from other receivers for so long. If there is none, or the queue is paused, it
    /// waits for one.
    ///
    /// What this process sends is received at once. For what others send, and for what shows when its time has come, the
    /// queue is looked at again and again, every tenth of a second, by one of the tasks that wait at clones of a handle; a look
    /// takes no lock of the store and writes nothing.
    ///
    /// Dropped, it loses no message: what it would have received is given back at once, and not counted as received.
    pub async fn receive(&self, visibility: Duration) -> Result<AsyncReceived<T>> {
        loop {
            if let Some(received) = self.receive_many(1, visibility).await?.pop() {
                return Ok(received);
            }
        }
    }

    /// Receives up to so many messages, 1,000 at most: those that are there as soon as one is. Waits for one, as
    /// [`receive`](Self::receive) does.
    pub async fn receive_many(&self, most: usize, visibility: Duration) -> Result<Vec<AsyncReceived<T>>> {
        self.wait_until(most, None, visibility).await
    }

    /// Receives a message; if there is none, waits for one for so long at most.
    pub async fn wait(&self, timeout: Duration, visibility: Duration) -> Result<Option<AsyncReceived<T>>> {
        self.wait_for(1, timeout, visibility).await.map(|mut received| received.pop())
    }

    /// Receives up to so many messages: those that are there as soon as one is. Waits for one for so long at most.
    pub async fn wait_for(
        &self,
        most: usize,
        timeout: Duration,
        visibility: Duration,
    ) -> Result<Vec<AsyncReceived<T>>> {
        self.wait_until(most, Instant::now().checked_add(timeout), visibility).await
    }

    async fn wait_until(
        &self,
        most: usize,
        until: Option<Instant>,
        visibility: Duration,
    ) -> Result<Vec<AsyncReceived<T>>> {
        let ([mut looks_away, longest], mut has_arrived) = (LOOKS_AWAY, true);
        loop {
            // Before it looks, so that it misses nothing that is sent between the look and the wait.
            let arrival = self.arrival().await;
            let left = || until.map(|until| until.saturating_duration_since(Instant::now()));
            let is_last = left().is_some_and(|left| left.is_zero());
            if has_arrived || is_last || self.looks.is_time(looks_away) {
                self.looks.begin();
                let received = self.try_receive_many(most, visibility).await?;
                if !received.is_empty() {
                    self.looks.has_found();
                }
                if !received.is_empty() || most == 0 || is_last {
                    return Ok(received);
                }
            }
            has_arrived = either(arrival, left().map_or(looks_away, |left| left.min(looks_away))).await?;
            looks_away = (looks_away * 2).min(longest);
        }
    }

    /// Begins to wait for what this process sends.
    async fn arrival(&self) -> Option<WaitForRoom<'_>> {
        let waker = poll_fn(|context| Poll::Ready(context.waker().clone())).await;
        let arrival = self.blocking().store().backend().queues().ok()?.arrival()?;
        Some(arrival.listen(&waker))
    }
}

/// Waits until something has arrived, for so long at most. Returns whether it has.
async fn either(mut arrival: Option<WaitForRoom<'_>>, most: Duration) -> Result<bool> {
    let mut sleep = pin!(Sleep::lasting(most));
    poll_fn(|context| {
        if let Some(arrival) = &mut arrival
            && Pin::new(arrival).poll(context).is_ready()
        {
            return Poll::Ready(Ok(true));
        }
        sleep.as_mut().poll(context).map_ok(|()| false)
    })
    .await
}
