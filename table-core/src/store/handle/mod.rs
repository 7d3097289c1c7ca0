//! What the user holds: tables, snapshots, what reads give, and batches of changes.

pub(in crate::store) mod answer_page;
pub(in crate::store) mod batch;
pub(in crate::store) mod bulk;
pub(in crate::store) mod reclaimer;
mod refill;
pub(in crate::store) mod rows;
pub(in crate::store) mod shared;
pub(in crate::store) mod snapshot;
pub(in crate::store) mod store;
pub(in crate::store) mod table;
pub(in crate::store) mod temporary;
