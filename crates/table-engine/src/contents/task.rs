//! What is asked of a store's blobs, and what comes of it.

use super::records::BlobRecord;
use super::{BlobId, ContainerId, SEGMENT};
use crate::model::Ticks;

/// Bytes on their way into the store, cut into segments.
#[derive(Clone, PartialEq, Eq)]
pub struct BlobContent {
    pub id: BlobId,
    pub content_type: Box<str>,
    /// The number of the first one.
    pub first: u32,
    /// Each but the last one of a blob is full.
    pub segments: Vec<Vec<u8>>,
}

/// Room that a segment has for its checksum.
const ROOM: usize = 8;

impl BlobContent {
    /// Makes a new blob of these bytes, of the store of this identity.
    pub fn new(store: &[u8; 16], content_type: &str, bytes: &[u8]) -> Self {
        Self::of(BlobId::new(store), 0, content_type, bytes)
    }

    /// Makes so much of a blob, from its segment of this number on.
    pub fn of(id: BlobId, first: u32, content_type: &str, bytes: &[u8]) -> Self {
        let segment = |bytes: &[u8]| {
            let mut segment = Vec::with_capacity(bytes.len() + ROOM);
            segment.extend_from_slice(bytes);
            segment
        };
        let segments = bytes.chunks(SEGMENT).map(segment).collect();
        Self { id, content_type: content_type.into(), first, segments }
    }

    /// Returns how many bytes they are.
    pub fn length(&self) -> u64 {
        self.segments.iter().map(|segment| super::length_of(segment.len())).sum()
    }
}

impl std::fmt::Debug for BlobContent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlobContent")
            .field("id", &self.id)
            .field("length", &self.length())
            .finish_non_exhaustive()
    }
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlobTask {
    /// Puts new content under a name, in the place of what is there unless the name is to be new.
    Put {
        /// The container.
        container: ContainerId,
        /// The name in it.
        name: String,
        /// What is put.
        content: BlobContent,
        /// Whether there must be no blob of this name.
        is_new: bool,
    },
    /// Puts bytes behind what is under a name, or makes a blob of them.
    Append {
        /// The container.
        container: ContainerId,
        /// The name in it.
        name: String,
        /// What is put there; its identity and type are those of a blob that is made.
        content: BlobContent,
    },
    /// Removes a name, and the blob that it led to unless something else does.
    Delete {
        /// The container.
        container: ContainerId,
        /// The name in it.
        name: String,
    },
    /// Brings so much of an upload; the first of it makes the blob.
    Stage(BlobContent),
    /// Gives a name to a blob that was uploaded.
    Name {
        /// The container.
        container: ContainerId,
        /// The name in it.
        name: String,
        /// What is to be called so.
        id: BlobId,
        /// Whether there must be no blob of this name.
        is_new: bool,
    },
    /// Notes that rows are to refer to what is uploaded.
    ForRows,
    /// Gives an upload up.
    Abandon(BlobId),
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlobAnswer {
    /// It was done.
    Done,
    /// The blob is so long now.
    Length(u64),
    /// Whether there was something to be removed.
    Removed(bool),
}

/// What is known of a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlobInfo {
    /// Its name in its container.
    pub name: String,
    /// Its bytes.
    pub length: u64,
    /// What it is, `image/jpeg` say; `application/octet-stream` unless something else was said.
    pub content_type: String,
    /// When it was put, or made by the first append.
    pub made: Ticks,
    /// When it was put or last appended to.
    pub changed: Ticks,
    pub(crate) id: BlobId,
}

impl BlobInfo {
    /// Returns what is known of a blob by its record.
    #[doc(hidden)]
    pub fn of(name: String, id: BlobId, record: BlobRecord) -> Self {
        let BlobRecord { length, made, changed, content_type, .. } = record;
        Self { name, length, content_type: content_type.into(), made, changed, id }
    }
}
