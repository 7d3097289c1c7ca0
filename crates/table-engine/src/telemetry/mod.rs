//! Counting: what the engine and a backend note of their work, for [`Metrics`](crate::metrics::Metrics).
//!
//! A backend holds a [`Telemetry`] and lends it to the engine. Without the feature `metrics` the types are empty
//! and the functions do nothing, so that no call needs a `cfg`.

#[cfg(feature = "metrics")]
mod counters;
#[cfg(not(feature = "metrics"))]
mod without;

use std::time::Duration;

#[cfg(feature = "metrics")]
pub use self::counters::{Stamp, Tally, Telemetry};
#[cfg(not(feature = "metrics"))]
pub use self::without::{Stamp, Tally, Telemetry};
#[cfg(feature = "queue")]
use crate::messages::Answer;
use crate::messages::{QueueOp, Task};

/// What a transaction has done, once it is committed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Committed {
    /// The writes that shared it.
    pub batches: u64,
    /// The rows that were put.
    pub rows_written: u64,
    /// The rows that were removed.
    pub rows_removed: u64,
    /// How long the writes were carried out.
    pub apply: Duration,
    /// How long it took to make them durable.
    pub flush: Duration,
}

/// Messages that have come and gone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Messages {
    /// Those that were sent.
    pub sent: u64,
    /// Those that were received.
    pub received: u64,
    /// Those that were completed.
    pub completed: u64,
}

impl Messages {
    /// Counts what was asked of queues. Answers tell what was received, and whether a message of a unique key was sent.
    pub(crate) fn asked(queue_ops: &[QueueOp]) -> Self {
        let mut all = Self::default();
        for queue_op in queue_ops {
            match &queue_op.task {
                Task::Send(_) => all.sent += 1,
                Task::Complete(_) => all.completed += 1,
                _ => {}
            }
        }
        all
    }

    /// Counts so many messages that were completed.
    #[cfg(feature = "queue")]
    pub(crate) fn completed(messages: usize) -> Self {
        Self { completed: u64::try_from(messages).unwrap_or(u64::MAX), ..Self::default() }
    }

    /// Takes in the answers, in the order of what was asked.
    #[cfg(feature = "queue")]
    pub(crate) fn answered(mut self, answers: &[Answer]) -> Self {
        for answer in answers {
            match answer {
                Answer::Sent { is_new: false, .. } => self.sent = self.sent.saturating_sub(1),
                Answer::Received(deliveries) => {
                    self.received += u64::try_from(deliveries.len()).unwrap_or(u64::MAX);
                }
                _ => {}
            }
        }
        self
    }
}
