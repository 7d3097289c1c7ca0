//! Changes, from operations to LMDB's puts: checked and put into bytes outside a transaction, applied inside one, and
//! committed together with those of other threads.

mod adding;
mod apply;
mod blanks;
pub(in crate::store) mod commit;
mod conditions;
mod contents;
mod declared;
pub(in crate::store) mod encoded;
mod entries;
mod errands;
mod gathered;
pub(in crate::store) mod group;
mod insert;
mod merging;
mod numbering;
pub(in crate::store) mod prepare;
mod queue;
pub(in crate::store) mod range;
pub(in crate::store) mod references;
pub(in crate::store) mod transaction;

#[cfg(test)]
mod tests;
