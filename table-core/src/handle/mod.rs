//! What the user holds of an executor, whatever that is: tables, snapshots, and what reads give.

pub(crate) mod batch;
pub(crate) mod bulk;
pub(crate) mod page;
pub(crate) mod rows;
pub(crate) mod snapshot;
pub(crate) mod store;
pub(crate) mod table;
pub(crate) mod write;
