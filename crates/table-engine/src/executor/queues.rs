//! What queues ask of an executor.

use std::time::Duration;

use crate::error::Result;
use crate::messages::{Answer, Delivery, QueueId, QueueOp, QueueStats};

/// The queues of a store.
///
/// Its errors say what is wrong; the caller adds what was attempted, and on which queue.
pub trait Queues {
    /// Returns the queue of this name, made if there is none.
    fn open(&self, name: &str) -> Result<QueueId>;

    /// Returns the names of all queues, in alphabetical order.
    fn names(&self) -> Result<Vec<String>>;

    /// Drops a queue with all its messages.
    fn drop_queue(&self, name: &str) -> Result<()>;

    /// Does what is asked, all of it or nothing, and gives the answer to each.
    fn carry_out(&self, queue_ops: Vec<QueueOp>) -> Result<Vec<Answer>>;

    /// Returns the next messages that would be received, so many at most. They stay where they are.
    fn peek(&self, queue: QueueId, most: usize) -> Result<Vec<Delivery>>;

    /// Returns what a queue counts.
    fn stats(&self, queue: QueueId) -> Result<QueueStats>;

    /// Returns how often this process has changed queues; waits until that is another number than `seen`, for so long at most.
    fn arrivals(&self, seen: u64, most: Duration) -> u64;
}
