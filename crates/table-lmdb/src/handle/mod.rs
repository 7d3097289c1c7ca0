//! What the user holds: tables, snapshots, what reads give, and batches of changes.

mod arrivals;
pub(crate) mod bulk;
pub(crate) mod cursors;
pub(crate) mod lmdb_snapshot;
pub(crate) mod lmdb_table;
pub(crate) mod reclaimer;
pub(crate) mod shared;
pub(crate) mod store;
pub(crate) mod temporary;
