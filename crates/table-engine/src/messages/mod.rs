//! Messages in queues: what can be asked of a queue, what its records say, and what becomes of a message. No I/O.
//!
//! A message is two records. One has what was sent, and stays as it is. The other, its *entry*, says where it stands:
//! ready, or hidden until some time, held or not. To receive a message is to move its entry.

mod entry;
#[cfg(test)]
mod format_tests;
pub mod keys;
pub mod name;
mod receipt;
mod records;
mod stored;
mod task;

#[cfg(feature = "queue")]
pub use entry::Fate;
pub use entry::{Clock, Entry, Spot};
pub use receipt::{ByReceipt, PopReceipt};
pub use records::{Directory, Message, SetDigest, State};
pub use stored::StoredMessage;
pub use task::{Answer, Delivery, History, QueueId, QueueOp, QueueStats, Receipt, Release, Sending, Task};

#[cfg(feature = "queue")]
use std::time::Duration;

pub(crate) use crate::limits::MESSAGE_BYTES;

/// The longest delay of a message that is sent: ten years.
#[cfg(feature = "queue")]
pub(crate) const LONGEST_DELAY: Duration = Duration::from_secs(3_652 * 24 * 60 * 60);
/// The most messages that one call receives, sends, or takes care of.
#[cfg(feature = "queue")]
pub(crate) const MOST_AT_ONCE: usize = 1_000;
/// The most bytes of a unique key.
pub(crate) const UNIQUE_BYTES: usize = 512;
/// The most bytes that are kept of an error.
pub(crate) const ERROR_BYTES: usize = 1_024;
/// The most queues of a store.
pub const MOST_QUEUES: usize = 1_000;
