//! Blobs on LMDB: their records read with proofs, and the changes of a plan made in an overlay before any is written.

pub(crate) mod check;
mod overlay;
mod references;
mod tasks;
#[cfg(test)]
#[cfg(feature = "blob")]
mod tests;
mod uploads;
mod view;

pub(crate) use self::overlay::{BlobOverlay, BlobTxnState, BlobWrites};
pub(crate) use self::references::{not_here, properties_with};
pub(crate) use self::tasks::{BlobOutcome, BlobWork, Sealed};
pub(crate) use self::view::{BlobView, no_such_container};
