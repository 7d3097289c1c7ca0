//! Changes, from operations to LMDB's puts: checked and put into bytes outside a transaction, applied inside one, and
//! committed together with those of other threads.

mod adding;
mod apply;
mod blanks;
pub(crate) mod commit;
mod conditions;
mod contents;
mod declared;
pub(crate) mod encoded;
mod entries;
mod gathered;
pub(crate) mod group;
mod insert;
mod merging;
mod numbering;
pub(crate) mod open_store;
pub(crate) mod prepare;
mod queue;
mod queue_ops;
pub(crate) mod range;
pub(crate) mod references;
pub(crate) mod submissions;
pub(crate) mod transaction;

#[cfg(test)]
mod tests;
