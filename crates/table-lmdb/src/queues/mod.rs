//! Queues on LMDB: their records read with proofs, and the changes of a plan made in an overlay before any is written.

pub(crate) mod check;
mod outbox;
mod overlay;
mod tasks;
#[cfg(test)]
mod tests;
mod view;

pub(crate) use self::outbox::{EntryWork, FoundEntry};
pub(crate) use self::overlay::{DraftedQueues, QueueOverlay, QueueTxnState};
pub(crate) use self::tasks::{Outcome, Work, delivery};
pub(crate) use self::view::View;
