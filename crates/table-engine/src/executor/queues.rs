//! What queues ask of an executor.

use std::ops::ControlFlow;
use std::time::Duration;

use super::Room;
use crate::error::{Error, ErrorKind, Result};
use crate::messages::{Answer, Delivery, QueueId, QueueOp, QueueStats, StoredMessage};

/// What is called with the answers to what was [submitted](Queues::submit).
pub type OnAnswered = Box<dyn FnOnce(Result<Vec<Answer>>) + Send>;

/// What is called with each message of a queue.
pub type EachMessage<'e> = &'e mut dyn FnMut(StoredMessage) -> Result<ControlFlow<()>>;

/// The queues of a store.
///
/// Its errors say what is wrong; the caller adds what was attempted, and on which queue.
pub trait Queues {
    /// Returns the queue of this name, made if there is none.
    fn open(&self, name: &str) -> Result<QueueId> {
        match self.find(name)? {
            Some(found) => Ok(found),
            None => self.create(name).map(|(queue, _)| queue),
        }
    }

    /// Returns the queue of this name; `None` if there is none.
    fn find(&self, name: &str) -> Result<Option<QueueId>>;

    /// Makes the queue of this name, unless there is one; returns it, and whether it was made.
    fn create(&self, name: &str) -> Result<(QueueId, bool)>;

    /// Returns the names of all queues, in alphabetical order.
    fn names(&self) -> Result<Vec<String>>;

    /// Drops a queue with all its messages.
    fn drop_queue(&self, name: &str) -> Result<()>;

    /// Does what is asked, all of it or nothing, and gives the answer to each.
    fn carry_out(&self, queue_ops: Vec<QueueOp>) -> Result<Vec<Answer>>;

    /// Takes what is to be done, and has `done` called with the answers: once, on a thread of the store's or on the caller's, as
    /// [`Backend::submit`](super::Backend::submit) does with plans. An error is of what was not taken; then `done` is not called.
    fn submit(&self, queue_ops: &[QueueOp], done: OnAnswered) -> Result<()> {
        done(self.carry_out(queue_ops.to_vec()));
        Ok(())
    }

    /// Returns the next messages that would be received, so many at most. They stay where they are.
    fn peek(&self, queue: QueueId, most: usize) -> Result<Vec<Delivery>>;

    /// Gives each message of a queue, those that are hidden or held too, in the order in which they would be received, until
    /// `each` has enough. All are of one moment.
    fn stored(&self, queue: QueueId, each: EachMessage<'_>) -> Result<()> {
        let _ = (queue, each);
        let because = "the store does not list messages that are hidden";
        Err(Error::new(ErrorKind::Unsupported).because(because))
    }

    /// Returns what a queue counts.
    fn stats(&self, queue: QueueId) -> Result<QueueStats>;

    /// Returns how often this process has changed queues; waits until that is another number than `seen`, for so long at most.
    fn arrivals(&self, seen: u64, most: Duration) -> u64;

    /// Returns what wakes the tasks that wait for messages, all of them whenever this process has changed queues; `None` if
    /// nothing does, so that they look again and again.
    fn arrival(&self) -> Option<&Room> {
        None
    }
}
