//! Queues on LMDB: their records read with proofs, and the changes of a plan made in an overlay before any is written.

pub(crate) mod check;
mod outbox;
mod overlay;
#[cfg(feature = "queue")]
mod receipts;
mod service;
#[cfg(feature = "queue")]
mod tasks;
#[cfg(test)]
#[cfg(feature = "queue")]
mod tests;
mod view;
mod work;

pub(crate) use self::outbox::{EntryWork, FoundEntry};
pub(crate) use self::overlay::{DraftedQueues, QueueOverlay, QueueTxnState};
pub(crate) use self::service::{ServiceWork, Wanted, missed};
#[cfg(feature = "queue")]
pub(crate) use self::tasks::{delivery, stored};
pub(crate) use self::view::View;
#[cfg(feature = "queue")]
pub(crate) use self::view::WalkedEntry;
pub(crate) use self::work::{Outcome, Work};
