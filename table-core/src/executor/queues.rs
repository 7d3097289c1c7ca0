//! What queues ask of an executor.

use std::time::Duration;

use crate::error::Result;
use crate::messages::{Answer, Delivery, QueueId, QueueOp, QueueStats};

/// The queues of a store.
///
/// Its errors say what is wrong; what was attempted, and on which queue, is said above.
pub trait Queues {
    /// The queue of this name, made if there is none.
    fn open(&self, name: &str) -> Result<QueueId>;

    /// The names of all queues, in alphabetical order.
    fn names(&self) -> Result<Vec<String>>;

    /// Drops a queue with all its messages.
    fn drop_queue(&self, name: &str) -> Result<()>;

    /// Does what is asked, all of it or nothing, and gives the answer to each.
    fn carry_out(&self, queue_ops: Vec<QueueOp>) -> Result<Vec<Answer>>;

    /// The next messages that would be received, so many at most. They stay where they are.
    fn peek(&self, queue: QueueId, most: usize) -> Result<Vec<Delivery>>;

    /// What a queue counts.
    fn stats(&self, queue: QueueId) -> Result<QueueStats>;

    /// How often this process has changed queues; waits until that is another number than `seen`, for so long at most.
    fn arrivals(&self, seen: u64, most: Duration) -> u64;
}
