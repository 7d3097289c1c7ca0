//! The queues that an access names.

use std::time::Duration;

use super::backend::RestrictedBackend;
use super::checks::{Check, is_on};
use super::limits::rights_of_task;
use crate::error::Result;
use crate::executor::{EachMessage, OnAnswered, Queues, Rights, Room};
use crate::messages::{Answer, Delivery, QueueId, QueueOp, QueueStats};

impl RestrictedBackend {
    /// Refuses what is asked of a queue, unless it is permitted.
    pub(super) fn check_queue_op(&self, queue_op: &QueueOp) -> Result<()> {
        let rights = rights_of_task(queue_op).ok_or_else(|| self.limits.never("clear or pause queues"))?;
        self.limits.check(rights)?;
        self.check_queue(queue_op.queue)
    }

    fn has_queue(&self, name: &str) -> bool {
        self.limits.access().queues.has(name) || !is_on(Check::Queues)
    }
}

impl Queues for RestrictedBackend {
    fn find(&self, name: &str) -> Result<Option<QueueId>> {
        self.limits.check_time()?;
        if !self.has_queue(name) {
            return Err(self.limits.is_not_to());
        }
        let found = self.inner.queues()?.find(name)?;
        if let Some(queue) = found {
            self.admit_queue(queue);
        }
        Ok(found)
    }

    fn create(&self, name: &str) -> Result<(QueueId, bool)> {
        self.limits.check_time()?;
        if !self.has_queue(name) {
            return Err(self.limits.is_not_to());
        }
        if is_on(Check::Administration) {
            return Err(self.limits.never("make queues"));
        }
        let made = self.inner.queues()?.create(name)?;
        self.admit_queue(made.0);
        Ok(made)
    }

    fn names(&self) -> Result<Vec<String>> {
        self.limits.check_time()?;
        Ok(self.inner.queues()?.names()?.into_iter().filter(|name| self.has_queue(name)).collect())
    }

    fn drop_queue(&self, name: &str) -> Result<()> {
        if is_on(Check::Administration) {
            return Err(self.limits.never("drop queues"));
        }
        self.inner.queues()?.drop_queue(name)
    }

    fn carry_out(&self, queue_ops: Vec<QueueOp>) -> Result<Vec<Answer>> {
        queue_ops.iter().try_for_each(|queue_op| self.check_queue_op(queue_op))?;
        self.inner.queues()?.carry_out(queue_ops)
    }

    fn submit(&self, queue_ops: &[QueueOp], done: OnAnswered) -> Result<()> {
        queue_ops.iter().try_for_each(|queue_op| self.check_queue_op(queue_op))?;
        self.inner.queues()?.submit(queue_ops, done)
    }

    fn peek(&self, queue: QueueId, most: usize) -> Result<Vec<Delivery>> {
        self.limits.check(Rights::READ)?;
        self.check_queue(queue)?;
        self.inner.queues()?.peek(queue, most)
    }

    fn stored(&self, queue: QueueId, each: EachMessage<'_>) -> Result<()> {
        self.limits.check(Rights::READ)?;
        self.check_queue(queue)?;
        self.inner.queues()?.stored(queue, each)
    }

    fn stats(&self, queue: QueueId) -> Result<QueueStats> {
        self.limits.check(Rights::READ)?;
        self.check_queue(queue)?;
        self.inner.queues()?.stats(queue)
    }

    fn arrivals(&self, seen: u64, most: Duration) -> u64 {
        // A store without queues hands out none that could wait.
        self.inner.queues().map_or(seen, |queues| queues.arrivals(seen, most))
    }

    fn arrival(&self) -> Option<&Room> {
        self.inner.queues().ok()?.arrival()
    }
}
