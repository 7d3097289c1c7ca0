//! Messages that are spoken of by receipts: by a program that has not received them itself, such as a server's.

use std::time::Duration;

use super::asking::{check_hidden, damaged};
use super::received::{RELEASE, Received, UPDATE};
use super::{DELETE, Message, Queue, SEND};
use crate::error::Result;
use crate::messages::{Answer, ByReceipt, Delivery, PopReceipt, Release, Task};
use crate::model::Ticks;

/// A message that was sent, with the receipt by which its sender may still delete or update it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Posted {
    /// The receipt. It holds until somebody receives the message.
    pub receipt: PopReceipt,
    /// When it was sent.
    pub sent: Ticks,
    /// The time at which it is gone if it was not received; `None` if it stays for ever.
    pub expires: Option<Ticks>,
    /// The time until which no receiver gets it.
    pub hidden_until: Ticks,
}

impl<T> Message<'_, T> {
    /// Sends it, and keeps a receipt for it; `None` if a message has its unique key already.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use table_core::Store;
    ///
    /// # let store = Store::temporary()?;
    /// let queue = store.queue::<u32>("numbers")?;
    /// let posted = queue.message(&1).post()?.unwrap();
    /// // Nobody has received it yet, so it can be taken back.
    /// queue.delete_by(&posted.receipt)?;
    /// assert!(queue.receive(Duration::from_secs(30))?.is_none());
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn post(self) -> Result<Option<Posted>> {
        self.queue.posted(self.queue.ask(SEND, self.posts()?)?)
    }

    /// Returns what is asked to send it with a receipt.
    pub(crate) fn posts(&self) -> Result<Task> {
        self.sending().map(Task::Post).map_err(|error| self.queue.named(SEND, error))
    }
}

impl<T> Received<T> {
    /// Returns the receipt by which it is held, which may be kept as text. It holds as long as this does: who updates or deletes the
    /// message by the one makes the other stale.
    pub fn pop_receipt(&self) -> PopReceipt {
        let receipt = self.receipt();
        self.queue().pop_receipt(receipt.id, receipt.delivery, self.sent())
    }
}

impl<T> Queue<T> {
    /// Deletes a message by a receipt.
    ///
    /// It is [`MessageNotFound`](crate::ErrorKind::MessageNotFound) if the message is gone, and
    /// [`StaleReceipt`](crate::ErrorKind::StaleReceipt) if somebody has received, updated or given it back since; nothing
    /// happens then.
    pub fn delete_by(&self, receipt: &PopReceipt) -> Result<()> {
        self.ask(DELETE, Task::ByReceipt(*receipt, ByReceipt::Delete)).map(drop)
    }

    /// Has a message say something else, if there is a value, and hides it for so long from now on, if at all. Returns the receipt
    /// that holds from now on, and until when it is hidden; errors are those of [`delete_by`](Self::delete_by).
    pub fn update_by(
        &self,
        receipt: &PopReceipt,
        value: Option<&T>,
        visibility: Duration,
    ) -> Result<(PopReceipt, Ticks)> {
        updated(receipt, &self.ask(UPDATE, self.updates_by(receipt, value, visibility)?)?)
    }

    /// Gives a message back: it shows after so long, and the receipt holds no more. Errors are those of
    /// [`delete_by`](Self::delete_by).
    pub fn release_by(&self, receipt: &PopReceipt, delay: Duration) -> Result<()> {
        self.ask(RELEASE, self.releases_by(receipt, delay)?).map(drop)
    }

    /// Returns what is asked to update a message by a receipt.
    pub(crate) fn updates_by(
        &self,
        receipt: &PopReceipt,
        value: Option<&T>,
        visibility: Duration,
    ) -> Result<Task> {
        let update = || {
            check_hidden(visibility)?;
            let text = value.map(self.json.write).transpose()?;
            Ok(Task::ByReceipt(*receipt, ByReceipt::Update(text.map(Into::into), visibility)))
        };
        update().map_err(|error| self.named(UPDATE, error))
    }

    /// Returns what is asked to give a message back by a receipt.
    pub(crate) fn releases_by(&self, receipt: &PopReceipt, delay: Duration) -> Result<Task> {
        check_hidden(delay).map_err(|error| self.named(RELEASE, error))?;
        let release = Release { delay, dequeues: self.dequeues, ..Release::default() };
        Ok(Task::ByReceipt(*receipt, ByReceipt::Release(release)))
    }

    /// Returns the receipt of a message that was posted, as it was answered.
    pub(crate) fn posted(&self, answer: Answer) -> Result<Option<Posted>> {
        let Answer::Posted(posted) = answer else { return Err(damaged()) };
        Ok(posted.map(|Delivery { receipt, sent, expires, .. }| Posted {
            receipt: self.pop_receipt(receipt.id, receipt.delivery, sent),
            sent,
            expires,
            hidden_until: receipt.until,
        }))
    }

    fn pop_receipt(&self, id: u64, delivery: u32, sent: Ticks) -> PopReceipt {
        PopReceipt { queue: self.id.number, id, delivery, sent }
    }
}

/// Returns the receipt of a message that was updated, as it was answered.
pub(crate) fn updated(receipt: &PopReceipt, answer: &Answer) -> Result<(PopReceipt, Ticks)> {
    let Answer::Held(held) = answer else { return Err(damaged()) };
    Ok((PopReceipt { delivery: held.delivery, ..*receipt }, held.until))
}
