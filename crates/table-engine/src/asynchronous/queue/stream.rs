//! The messages of a queue, one after another.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;

use super::{AsyncQueue, AsyncReceived};
use crate::asynchronous::BoxFuture;
use crate::error::{ErrorKind, Result};

/// The messages of a queue as they come, received one after another; [`AsyncQueue::stream`] gives it.
///
/// It is a [`Stream`], with a [`next`](Self::next) of its own. It waits for messages and has no end, but behind an error of the
/// store. A message that is not of the queue's type is an error, too, and others follow. Dropped, it loses no message.
#[must_use = "a stream does nothing until it is polled"]
pub struct MessageStream<T> {
    queue: AsyncQueue<T>,
    visibility: Duration,
    receiving: Option<BoxFuture<'static, Result<AsyncReceived<T>>>>,
    is_over: bool,
}

impl<T: Send + Sync + 'static> AsyncQueue<T> {
    /// Returns the messages as they come, each hidden from other receivers for so long when the stream gives it.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use table_core::Store;
    /// # use table_core::asynchronous::{AsyncQueue, block_on};
    /// # block_on(async {
    /// # let store = Store::temporary()?.to_async();
    /// let numbers: AsyncQueue<u32> = store.queue("numbers").await?;
    /// numbers.send_all(&[1, 2, 3]).await?;
    /// let mut messages = numbers.stream(Duration::from_secs(30));
    /// let mut sum = 0;
    /// while sum < 6 {
    ///     let number = messages.next().await?;
    ///     sum += **number;
    ///     number.delete().await?;
    /// }
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn stream(&self, visibility: Duration) -> MessageStream<T> {
        MessageStream { queue: self.clone(), visibility, receiving: None, is_over: false }
    }
}

impl<T: Send + Sync + 'static> MessageStream<T> {
    /// Returns the next message.
    pub async fn next(&mut self) -> Result<AsyncReceived<T>> {
        poll_fn(|context| self.poll_message(context)).await
    }

    fn poll_message(&mut self, context: &mut Context<'_>) -> Poll<Result<AsyncReceived<T>>> {
        let receiving = self.receiving.get_or_insert_with(|| {
            let (queue, visibility) = (self.queue.clone(), self.visibility);
            Box::pin(async move { queue.receive(visibility).await })
        });
        let received = receiving.as_mut().poll(context);
        if received.is_ready() {
            self.receiving = None;
        }
        received
    }
}

impl<T: Send + Sync + 'static> Stream for MessageStream<T> {
    type Item = Result<AsyncReceived<T>>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let received = self.poll_message(context);
        self.is_over =
            matches!(&received, Poll::Ready(Err(error)) if error.kind() != ErrorKind::SchemaMismatch);
        received.map(Some)
    }
}

impl<T> Unpin for MessageStream<T> {}

impl<T> fmt::Debug for MessageStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessageStream").field("queue", &self.queue).finish_non_exhaustive()
    }
}
