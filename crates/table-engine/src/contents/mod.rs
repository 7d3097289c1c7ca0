//! Blobs: what is asked of them, what their records say, and contents cut into segments. No I/O.
//!
//! A blob is a record that says how long it is and what it is made of, and *segments* with its bytes. Its *references* are
//! the names in containers that lead to it. One without a reference *waits*: for the rest of its upload, or to be removed.

mod id;
pub mod keys;
pub mod name;
mod records;
pub mod reference;
mod task;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use self::id::{BlobId, ContainerId};
pub use self::records::{BlobRecord, Counters, NameRecord, Waiting};
pub use self::task::{BlobAnswer, BlobContent, BlobInfo, BlobTask};

/// Bytes of a blob in a segment, but for the last one: with its checksum and the header of LMDB's pages it takes 64 KiB,
/// and no page more.
pub const SEGMENT: usize = 65_512;

/// Bytes that one transaction of an upload brings.
#[cfg(feature = "blob")]
pub(crate) const STAGE: usize = 16 * SEGMENT;

/// Segments that one transaction removes. Whatever has more goes in steps.
pub const REMOVED_AT_ONCE: u64 = 1_024;

/// For how long an upload may stand still.
pub const UPLOAD_STANDS: Duration = Duration::from_secs(60 * 60);

/// The most bytes of a content type.
pub(crate) const TYPE_BYTES: usize = 255;

/// What a blob's content type is that was given none.
pub const ANY_TYPE: &str = "application/octet-stream";

/// The content type of the ids of a list.
pub const LIST_TYPE: &str = "text/plain; charset=utf-8";

/// Returns how many segments so many bytes take.
pub fn segments(length: u64) -> u64 {
    length.div_ceil(length_of(SEGMENT))
}

pub fn length_of(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
