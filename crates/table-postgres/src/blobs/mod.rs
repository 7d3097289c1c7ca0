//! Blobs: a row for each, and for each of their segments; names in containers, and rows of entities, lead to them.
//!
//! A blob counts what leads to it, and goes with the last of that: its segments at once, its row with the next sweep.

#[cfg(feature = "blob")]
mod containers;
#[cfg(feature = "blob")]
mod listed;
#[cfg(feature = "blob")]
mod references;
#[cfg(feature = "blob")]
mod snapshot;
#[cfg(feature = "blob")]
mod stats;
#[cfg(feature = "blob")]
mod sweep;
mod tables;
#[cfg(feature = "blob")]
mod tasks;

#[cfg(feature = "blob")]
pub(crate) use self::listed::{ListText, read_lists};
#[cfg(feature = "blob")]
pub(crate) use self::references::{PlanReferences, Reference, missing, of_properties, refusal};
#[cfg(feature = "blob")]
pub(crate) use self::snapshot::{content, has_blob};
#[cfg(feature = "blob")]
pub use self::stats::BlobStats;
#[cfg(feature = "blob")]
pub(crate) use self::sweep::SWEPT_EVERY;
#[cfg(feature = "blob")]
pub(crate) use self::tables::BlobTables;
pub(crate) use self::tables::{make_tables, release_table};
