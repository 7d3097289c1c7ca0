//! Messages that are spoken of by receipts, awaited.

use std::time::Duration;

use super::asking::ask;
use super::{AsyncMessage, AsyncQueue};
use crate::error::Result;
use crate::messages::{ByReceipt, PopReceipt, Task};
use crate::model::Ticks;
use crate::queue::receipts::updated;
use crate::queue::received::{RELEASE, UPDATE};
use crate::queue::{DELETE, Posted, SEND};

impl<T> AsyncMessage<'_, T> {
    /// Sends it, and keeps a receipt for it; `None` if a message has its unique key already. See
    /// [`Message::post`](crate::queue::Message::post).
    pub async fn post(self) -> Result<Option<Posted>> {
        let (queue, message) = self.into_parts();
        queue.posted(ask(queue, SEND, message.posts()?).await?)
    }
}

impl<T> AsyncQueue<T> {
    /// Deletes a message by a receipt; see [`Queue::delete_by`](crate::queue::Queue::delete_by).
    pub async fn delete_by(&self, receipt: &PopReceipt) -> Result<()> {
        ask(self.blocking(), DELETE, Task::ByReceipt(*receipt, ByReceipt::Delete)).await.map(drop)
    }

    /// Has a message say something else, if there is a value, and hides it for so long from now on; see
    /// [`Queue::update_by`](crate::queue::Queue::update_by).
    pub async fn update_by(
        &self,
        receipt: &PopReceipt,
        value: Option<&T>,
        visibility: Duration,
    ) -> Result<(PopReceipt, Ticks)> {
        let queue = self.blocking();
        let task = queue.updates_by(receipt, value, visibility)?;
        updated(receipt, &ask(queue, UPDATE, task).await?)
    }

    /// Gives a message back by a receipt; see [`Queue::release_by`](crate::queue::Queue::release_by).
    pub async fn release_by(&self, receipt: &PopReceipt, delay: Duration) -> Result<()> {
        let task = self.blocking().releases_by(receipt, delay)?;
        ask(self.blocking(), RELEASE, task).await.map(drop)
    }
}
