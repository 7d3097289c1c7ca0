//! What the engine and a backend note of their work: numbers for [`Metrics`](crate::metrics::Metrics), and spans and
//! events of the crate `tracing`.
//!
//! A backend holds a [`Telemetry`] and lends it to the engine. Without the features `metrics` and `tracing` the types are
//! empty and the functions do nothing, so that no call needs a `cfg`.

#[cfg(feature = "metrics")]
mod counters;
#[cfg(not(feature = "metrics"))]
#[path = "no_counters.rs"]
#[allow(clippy::unused_self, reason = "it has the functions that `counters` has")]
mod counters;
#[cfg(feature = "tracing")]
mod events;
mod hooks;
#[cfg(not(feature = "tracing"))]
#[path = "no_spans.rs"]
#[allow(clippy::unused_self, reason = "it has the functions that `spans` has")]
mod spans;
#[cfg(feature = "tracing")]
mod spans;

use std::time::Duration;

pub use self::hooks::{Stamp, Tally, Telemetry};
pub use self::spans::{Entered, Measured, Operation};
#[cfg(feature = "queue")]
use crate::messages::Answer;
use crate::messages::{ByReceipt, QueueOp, Task};

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

/// What a write is, as its span says.
#[derive(Clone, Copy, Debug)]
pub struct Written<'w> {
    /// The table, or the first of several.
    pub table: &'w str,
    /// What becomes of the row, or `BATCH` of several.
    pub operation: &'static str,
    /// The rows that are written or removed, copies among them.
    pub rows: usize,
    /// Those of them that are copies.
    pub copies: usize,
    /// How many changes are made as one.
    pub changes: usize,
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
                Task::Send(_) | Task::Post(_) => all.sent += 1,
                Task::Complete(_) | Task::ByReceipt(_, ByReceipt::Delete) => all.completed += 1,
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
                Answer::Sent { is_new: false, .. } | Answer::Posted(None) => {
                    self.sent = self.sent.saturating_sub(1);
                }
                Answer::Received(deliveries) => {
                    self.received += u64::try_from(deliveries.len()).unwrap_or(u64::MAX);
                }
                _ => {}
            }
        }
        self
    }
}
