//! Jobs, which go over a whole store or a whole table.

pub(crate) mod check;
mod convert;
mod copies;
pub(crate) mod declare;
pub(crate) mod elsewhere;
mod forget;
mod missing_blobs;
mod plain;
pub(crate) mod reclaim;
pub(crate) mod rename;
#[cfg(feature = "encrypt")]
pub(crate) mod sealed;
pub(crate) mod stats;
pub(crate) mod steps;
