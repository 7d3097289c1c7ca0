//! Uploads: bytes that come in stages.

use std::io::{self, Read};
use std::sync::Arc;

use super::ask;
use crate::contents::{BlobContent, BlobId, BlobTask, ContainerId, SEGMENT, STAGE, length_of};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::Blobs;

/// An upload whose bytes come into the store stage by stage, and no name leads to them yet. Dropped before its end, it is given
/// up.
pub(crate) struct StagedUpload {
    blobs: Arc<dyn Blobs>,
    id: BlobId,
    content_type: Box<str>,
    /// What is done in the transaction of the first stage.
    first: Vec<BlobTask>,
    segment: u32,
    length: u64,
    /// Whether the store may have some of it.
    has_some: bool,
}

impl StagedUpload {
    /// Makes an upload that is to get a name.
    pub(crate) fn to_name(blobs: Arc<dyn Blobs>, content_type: &str) -> Self {
        Self::new(blobs, content_type, Vec::new())
    }

    /// Makes an upload for an entity to hold.
    pub(crate) fn for_rows(blobs: Arc<dyn Blobs>, content_type: &str) -> Self {
        Self::new(blobs, content_type, vec![BlobTask::ForRows])
    }

    fn new(blobs: Arc<dyn Blobs>, content_type: &str, first: Vec<BlobTask>) -> Self {
        let id = BlobId::new(&blobs.identity());
        let content_type = content_type.into();
        Self { blobs, id, content_type, first, segment: 0, length: 0, has_some: false }
    }

    /// Brings a stage of its bytes into the store. All but the last have [`STAGE`] bytes.
    pub(crate) fn add(&mut self, stage: &[u8]) -> Result<()> {
        let mut tasks = std::mem::take(&mut self.first);
        tasks.push(BlobTask::Stage(BlobContent::of(self.id, self.segment, &self.content_type, stage)));
        self.has_some = true;
        self.blobs.clone().carry_out(tasks)?;
        self.length += length_of(stage.len());
        let segments = u32::try_from(stage.len().div_ceil(SEGMENT)).unwrap_or(u32::MAX);
        self.segment = self.segment.checked_add(segments).ok_or_else(|| {
            Error::new(ErrorKind::BlobTooLarge).because("a blob has 2^32 segments of 64 KiB at most")
        })?;
        Ok(())
    }

    /// Ends it, with a name if it is to get one. Returns the blob's identity, and how many bytes it has.
    pub(crate) fn end(mut self, naming: Option<&Naming<'_>>) -> Result<(BlobId, u64)> {
        if !self.has_some {
            self.add(&[])?;
        }
        if let Some(Naming { container, name, is_new }) = naming {
            let task =
                BlobTask::Name { container: *container, name: (*name).into(), id: self.id, is_new: *is_new };
            ask(&self.blobs, task)?;
        }
        self.has_some = false;
        Ok((self.id, self.length))
    }
}

impl Drop for StagedUpload {
    fn drop(&mut self) {
        if self.has_some {
            // What this can't remove goes when the upload has expired.
            drop(ask(&self.blobs, BlobTask::Abandon(self.id)));
        }
    }
}

/// A name that an upload is to get.
pub(crate) struct Naming<'n> {
    pub(crate) container: ContainerId,
    pub(crate) name: &'n str,
    /// Whether no other blob may have it.
    pub(crate) is_new: bool,
}

/// Uploads what a reader gives, and gives it a name. Returns how many bytes it was.
pub(super) fn named(
    blobs: &Arc<dyn Blobs>,
    naming: &Naming<'_>,
    content_type: &str,
    reader: &mut dyn Read,
) -> Result<u64> {
    let mut upload = StagedUpload::to_name(blobs.clone(), content_type);
    add_all(&mut upload, reader)?;
    upload.end(Some(naming)).map(|(_, length)| length)
}

/// Uploads what a reader gives, for an entity to hold; its identity, and how many bytes it was.
pub(super) fn unnamed(
    blobs: &Arc<dyn Blobs>,
    content_type: &str,
    reader: &mut dyn Read,
) -> Result<(BlobId, u64)> {
    let mut upload = StagedUpload::for_rows(blobs.clone(), content_type);
    add_all(&mut upload, reader)?;
    upload.end(None)
}

/// Uploads what a reader gives.
fn add_all(upload: &mut StagedUpload, reader: &mut dyn Read) -> Result<()> {
    let mut stage = Vec::new();
    loop {
        stage.clear();
        let read = reader.take(length_of(STAGE)).read_to_end(&mut stage);
        read.map_err(reader_failed)?;
        if !stage.is_empty() {
            upload.add(&stage)?;
        }
        if stage.len() < STAGE {
            return Ok(());
        }
    }
}

/// Returns the error of an upload whose reader has failed.
#[cold]
pub(crate) fn reader_failed(error: io::Error) -> Error {
    let because = format!("the reader failed: {error}");
    Error::new(ErrorKind::Io).because(because).caused_by(error)
}
