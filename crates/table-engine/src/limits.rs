//! The service's limits, each with the reason it stands here.
//!
//! Azure Table storage accepts everything that the embedded store accepts: these are the service's numbers, not LMDB's.
//! The numbers that are this store's alone are [`KEY_PAIR_BYTES`], and those of a [store
//! transaction](crate::Tables::transaction), which the service does not have.

#[doc(inline)]
pub use table_words::limits::*;
