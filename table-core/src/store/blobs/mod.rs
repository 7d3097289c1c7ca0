//! Blobs on LMDB: their records read with proofs, and the changes of a plan drafted before any is written.

mod books;
pub(in crate::store) mod check;
mod draft;
mod references;
mod tasks;
#[cfg(test)]
#[cfg(feature = "blob")]
mod tests;
mod uploads;
mod view;

pub(in crate::store) use self::books::BlobBooks;
pub(in crate::store) use self::draft::{BlobDraft, DraftedAt, DraftedBlobs};
pub(in crate::store) use self::references::{not_here, properties_with};
pub(in crate::store) use self::tasks::{BlobOutcome, BlobWork, Sealed};
pub(in crate::store) use self::view::{BlobView, no_such_container};
