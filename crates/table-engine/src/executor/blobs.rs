//! What blobs ask of an executor.

use std::borrow::Cow;
use std::sync::Arc;

use crate::contents::{BlobAnswer, BlobId, BlobInfo, BlobTask, ContainerId};
use crate::error::Result;

/// The blobs of a store.
///
/// Its errors say what is wrong; the caller adds what was attempted, and on which container.
pub trait Blobs: Send + Sync {
    /// Returns the store's identity, which the blobs that it makes carry.
    fn identity(&self) -> [u8; 16];

    /// Returns the container of this name, made if there is none.
    fn container(&self, name: &str) -> Result<ContainerId>;

    /// Returns the names of all containers, in alphabetical order.
    fn containers(&self) -> Result<Vec<String>>;

    /// Drops a container with all its blobs.
    fn drop_container(&self, name: &str) -> Result<()>;

    /// Does what is asked, all of it or nothing, and gives the answer to each.
    fn carry_out(self: Arc<Self>, tasks: Vec<BlobTask>) -> Result<Vec<BlobAnswer>>;

    /// Returns all blobs as they are now.
    fn read_snapshot(self: Arc<Self>) -> Result<Box<dyn BlobSnapshot>>;
}

/// Blobs in a snapshot.
pub trait BlobSnapshot: Send {
    /// Returns the blob of a name.
    fn find(&self, container: ContainerId, name: &str) -> Result<Option<BlobInfo>>;

    /// Returns at most so many of the blobs whose names begin with this, in order, behind another name; and whether
    /// there is no other.
    fn list(
        &self,
        container: ContainerId,
        prefix: &str,
        after: Option<&str>,
        most: usize,
    ) -> Result<(Vec<BlobInfo>, bool)>;

    /// Returns a blob by its identity, with no name.
    fn blob(&self, id: BlobId) -> Result<Option<BlobInfo>>;

    /// Returns the bytes of a segment of a blob that is there: lent where they lie in the snapshot, and else the caller's to keep
    /// as long as it needs them. `was_sound` says that they were read before, in this snapshot.
    fn segment(&self, id: BlobId, number: u32, was_sound: bool) -> Result<Cow<'_, [u8]>>;
}
