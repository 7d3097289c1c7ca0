//! What the user holds: tables, snapshots, what reads give, and batches of changes.

mod arrivals;
pub(in crate::store) mod batch;
pub(in crate::store) mod bulk;
pub(in crate::store) mod lmdb_table;
pub(in crate::store) mod moment;
mod of_store;
pub(in crate::store) mod reclaimer;
pub(in crate::store) mod shared;
mod table_write;
pub(in crate::store) mod temporary;
pub(in crate::store) mod walks;
