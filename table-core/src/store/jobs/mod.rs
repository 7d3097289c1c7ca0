//! Jobs, which go over a whole store or a whole table.

pub(in crate::store) mod check;
mod convert;
mod copies;
pub(in crate::store) mod declare;
pub(in crate::store) mod elsewhere;
mod forget;
mod missing_blobs;
mod plain;
pub(in crate::store) mod reclaim;
pub(in crate::store) mod rename;
#[cfg(feature = "encrypt")]
pub(in crate::store) mod sealed;
pub(in crate::store) mod stats;
pub(in crate::store) mod steps;
