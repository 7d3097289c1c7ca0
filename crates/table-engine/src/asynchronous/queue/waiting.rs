//! Waiting for messages without a thread.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, Instant};

use super::{AsyncQueue, AsyncReceived};
use crate::asynchronous::Sleep;
use crate::error::Result;
use crate::executor::WaitForRoom;
use crate::queue::LOOKS_AWAY;

impl<T> AsyncQueue<T> {
    /// Receives the next message, and hides it from other receivers for so long. If there is none, or the queue is paused, it
    /// waits for one.
    ///
    /// What this process sends is received at once. For what others send, and for what shows when its time has come, the
    /// queue is looked at again and again, every tenth of a second at the latest; a look takes no lock and writes nothing.
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
        let [mut looks_away, longest] = LOOKS_AWAY;
        loop {
            // Before it looks, so that it misses nothing that is sent between the look and the wait.
            let arrival = self.arrival().await;
            let received = self.try_receive_many(most, visibility).await?;
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if !received.is_empty() || most == 0 || left.is_some_and(|left| left.is_zero()) {
                return Ok(received);
            }
            either(arrival, left.map_or(looks_away, |left| left.min(looks_away))).await?;
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

/// Waits until something has arrived, for so long at most.
async fn either(mut arrival: Option<WaitForRoom<'_>>, most: Duration) -> Result<()> {
    let mut sleep = pin!(Sleep::lasting(most));
    poll_fn(|context| {
        if let Some(arrival) = &mut arrival
            && Pin::new(arrival).poll(context).is_ready()
        {
            return Poll::Ready(Ok(()));
        }
        sleep.as_mut().poll(context)
    })
    .await
}
