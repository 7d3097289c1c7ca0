//! A message that is to be sent, awaited.

use std::fmt;
use std::time::Duration;

use super::asking::ask;
use crate::error::Result;
use crate::queue::sending::sent;
use crate::queue::{Message, Queue, SEND};

/// A message with what is to be said of it; [`AsyncQueue::message`](super::AsyncQueue::message) begins one.
///
/// A transaction sends it by [`into_message`](Self::into_message).
#[must_use = "a message is not sent until it is told so"]
pub struct AsyncMessage<'m, T> {
    queue: &'m Queue<T>,
    message: Message<'m, T>,
}

impl<'m, T> AsyncMessage<'m, T> {
    pub(super) fn new(queue: &'m Queue<T>, message: &'m T) -> Self {
        Self { queue, message: queue.message(message) }
    }

    /// Hides it from receivers for so long first, ten years at most.
    pub fn after(self, delay: Duration) -> Self {
        Self { message: self.message.after(delay), ..self }
    }

    /// Removes it if it was not received in so long, which may be any time longer than its delay; usually it stays for ever.
    pub fn time_to_live(self, lives: Duration) -> Self {
        Self { message: self.message.time_to_live(lives), ..self }
    }

    /// Sends it only if no message of this key is in the queue, waiting or being dealt with. The key has 512 bytes at
    /// most.
    pub fn unique(self, key: &'m str) -> Self {
        Self { message: self.message.unique(key), ..self }
    }

    /// Returns it for a transaction to send, by [`AsyncEgt::send_message`](crate::asynchronous::AsyncEgt::send_message).
    pub fn into_message(self) -> Message<'m, T> {
        self.message
    }

    /// Returns the queue and the message apart.
    pub(super) fn into_parts(self) -> (&'m Queue<T>, Message<'m, T>) {
        (self.queue, self.message)
    }

    /// Sends it: its number, or that of the message that has its key, and whether it was sent.
    pub async fn send(self) -> Result<(u64, bool)> {
        sent(&ask(self.queue, SEND, self.message.task()?).await?)
    }
}

impl<T> fmt::Debug for AsyncMessage<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.fmt(f)
    }
}
