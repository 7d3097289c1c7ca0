//! A message that is to be sent.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::asking::{check_delay, check_text, damaged};
use super::{Queue, SEND};
use crate::error::{Error, ErrorKind, Result};
use crate::json;
use crate::messages::{Answer, QueueOp, Sending, Task, UNIQUE_BYTES};

/// A message with what is to be said of it; [`Queue::message`] begins one.
#[must_use = "a message is not sent until it is told so"]
pub struct Message<'m, T> {
    pub(super) queue: &'m Queue<T>,
    value: &'m T,
    after: Duration,
    lives: Option<Duration>,
    #[doc(hidden)]
    pub unique: Option<&'m str>,
}

impl<'m, T> Message<'m, T> {
    pub(super) fn new(queue: &'m Queue<T>, message: &'m T) -> Self {
        Self { queue, value: message, after: Duration::ZERO, lives: None, unique: None }
    }

    /// Hides it from receivers for so long first, ten years at most.
    pub fn after(self, delay: Duration) -> Self {
        Self { after: delay, ..self }
    }

    /// Removes it if it was not received in so long, which may be any time longer than its delay; usually it stays for ever.
    pub fn time_to_live(self, lives: Duration) -> Self {
        Self { lives: Some(lives), ..self }
    }

    /// Sends it only if no message of this key is in the queue, waiting or being dealt with. The key has 512 bytes at
    /// most.
    pub fn unique(self, key: &'m str) -> Self {
        Self { unique: Some(key), ..self }
    }

    /// Sends it: its number, or that of the message that has its key, and whether it was sent.
    pub fn send(self) -> Result<(u64, bool)> {
        sent(&self.queue.ask(SEND, self.task()?)?)
    }

    /// Returns what is asked to send it.
    pub(crate) fn task(&self) -> Result<Task> {
        self.sending().map(Task::Send).map_err(|error| self.queue.named(SEND, error))
    }

    pub(crate) fn sending(&self) -> Result<Sending> {
        check_delay(self.after)?;
        if let Some(lives) = self.lives.filter(|lives| *lives <= self.after) {
            return Err(Error::new(ErrorKind::ValueOutOfRange).because(format!(
                "the message would be gone after {lives:?}, and shows after {:?} first",
                self.after
            )));
        }
        if let Some(key) = self.unique.filter(|key| key.len() > UNIQUE_BYTES) {
            return Err(Error::new(ErrorKind::KeyTooLong).because(format!(
                "the message's unique key has {} bytes, and may have {UNIQUE_BYTES}",
                key.len()
            )));
        }
        let body = (self.queue.json.write)(self.value)?.into();
        let unique = self.unique.map(Into::into);
        Ok(Sending { body, after: self.after, lives: self.lives, unique, history: None })
    }

    /// Returns the operation that sends it in a transaction.
    pub(crate) fn queue_op(&self) -> Result<QueueOp> {
        let task = self.task()?;
        let (queue, name) = (self.queue.id, Some(self.queue.name.clone()));
        Ok(QueueOp { queue, name, task })
    }
}

/// Returns the number of a message that was sent, or of the one that has its key, and whether it was sent.
pub(crate) fn sent(answer: &Answer) -> Result<(u64, bool)> {
    match answer {
        Answer::Sent { id, is_new } => Ok((*id, *is_new)),
        _ => Err(damaged()),
    }
}

/// Returns a message as JSON.
pub(super) fn text<T: Serialize>(message: &T) -> Result<String> {
    let text =
        json::text(message).map_err(|because| Error::new(ErrorKind::ValueOutOfRange).because(because))?;
    check_text(&text, "as JSON")?;
    Ok(text)
}

/// Returns a message that is text.
#[allow(clippy::ptr_arg, reason = "it is called as what writes a message of any type")]
pub(super) fn as_it_is(message: &String) -> Result<String> {
    check_text(message, "as text")?;
    Ok(message.clone())
}

impl<T> fmt::Debug for Message<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message").field("queue", &self.queue.name).finish_non_exhaustive()
    }
}
