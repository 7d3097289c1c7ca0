//! What the user holds of an executor, whatever that is: tables, snapshots, and what reads give.

pub(crate) mod batch;
pub mod bulk;
#[cfg(feature = "encrypt")]
pub(crate) mod encrypting;
pub(crate) mod page;
pub(crate) mod propagate;
pub(crate) mod row;
pub(crate) mod rows;
pub mod service_records;
pub(crate) mod snapshot;
pub(crate) mod table;
pub mod tables;
pub(crate) mod tables_page;
mod visit;
pub(crate) mod write;
