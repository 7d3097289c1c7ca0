//! Messages as they are received, awaited.

use std::fmt;
use std::ops::Deref;
use std::time::Duration;

use super::asking::{ask, ask_all, hand_over};
use crate::error::{ErrorKind, Result};
use crate::messages::{Answer, Delivery, Release};
use crate::queue::asking::damaged;
use crate::queue::received::{EXTEND, NEXT, RELEASE, UPDATE};
use crate::queue::{DELETE, Queue, Received};

/// A message that was received, and is held: no other receiver gets it until its time is over.
///
/// It is a [`Received`] whose calls are awaited, and derefs to it, and so to the message's value. Dropping it does nothing: the
/// message shows again when its time is over.
pub struct AsyncReceived<T> {
    received: Received<T>,
}

/// Returns messages as they come out of a queue. What is not of its type is given back with that error.
pub(super) fn read<T>(queue: &Queue<T>, deliveries: Vec<Delivery>) -> Result<Vec<AsyncReceived<T>>> {
    let mut read = queue.read(deliveries);
    for task in read.give_back.drain(..) {
        // Nothing is awaited between what was received and who takes it. And whether that succeeds or not, it is the message
        // that is spoken of.
        hand_over(queue, task);
    }
    let received = read.messages(queue)?;
    Ok(received.into_iter().map(|received| AsyncReceived { received }).collect())
}

impl<T> AsyncReceived<T> {
    /// Returns the message with calls that block.
    pub fn blocking(&self) -> &Received<T> {
        &self.received
    }

    /// Returns its value by itself. The message stays held, and nothing can be done with it any more.
    pub fn into_inner(self) -> T {
        self.received.into_inner()
    }

    fn queue(&self) -> &Queue<T> {
        self.received.queue()
    }

    /// Completes the message: it is gone.
    #[doc(alias = "complete")]
    pub async fn delete(&self) -> Result<()> {
        ask(self.queue(), DELETE, self.received.completes()).await.map(drop)
    }

    /// Hides it for so long from now on.
    pub async fn extend(&self, visibility: Duration) -> Result<()> {
        let task = self.received.extends(visibility)?;
        self.received.hold_by_answer(&ask(self.queue(), EXTEND, task).await?)
    }

    /// Gives it back: it shows after so long. It stays counted as received, and is set aside if that was the last time.
    pub async fn release(&self, delay: Duration) -> Result<()> {
        self.give_back(Release { delay, ..Release::default() }).await
    }

    /// Gives it back, and says why: see [`Received::fail`].
    pub async fn fail(&self, error: impl fmt::Display, delay: Duration) -> Result<()> {
        let error = error.to_string();
        self.give_back(Release { delay, error: Some(error.into()), ..Release::default() }).await
    }

    async fn give_back(&self, release: Release) -> Result<()> {
        ask(self.queue(), RELEASE, self.received.releases(release)?).await.map(drop)
    }

    /// Has the message say something else from now on, and hides it for so long; see [`Received::update`]. If the future is
    /// dropped, the message may say either.
    pub async fn update(&mut self, value: T, visibility: Duration) -> Result<()> {
        let task = self.received.updates(&value, visibility)?;
        let answer = ask(self.queue(), UPDATE, task).await?;
        self.received.hold_by_answer(&answer)?;
        self.received.set_value(value);
        Ok(())
    }

    /// Completes the message and receives the next one, in one transaction; `None` if there is none, or if the next one is not
    /// of the queue's type, which is then given back.
    pub async fn complete_and_receive(&self, visibility: Duration) -> Result<Option<Self>> {
        let queue = self.queue();
        let answers = ask_all(queue, NEXT, self.received.completes_and_receives(visibility)?).await?;
        match answers.into_iter().next_back() {
            Some(Answer::Received(deliveries)) => match read(queue, deliveries) {
                // The message is completed, whatever the next one is.
                Err(error) if error.kind() == ErrorKind::SchemaMismatch => Ok(None),
                received => received.map(|mut next| next.pop()),
            },
            _ => Err(damaged()),
        }
    }
}

/// The message, for transactions that complete it, and its value. What can be done with it is here as well, awaited.
impl<T> Deref for AsyncReceived<T> {
    type Target = Received<T>;

    fn deref(&self) -> &Received<T> {
        &self.received
    }
}

impl<T: fmt::Debug> fmt::Debug for AsyncReceived<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.received.fmt(f)
    }
}
