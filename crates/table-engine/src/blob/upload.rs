//! Uploads: bytes that come in stages.

use std::io::Read;
use std::sync::Arc;

use super::ask;
use crate::contents::{BlobContent, BlobId, BlobTask, ContainerId, SEGMENT, STAGE, length_of};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::Blobs;

/// An upload that is given up unless it comes to its end.
struct Begun<'b> {
    blobs: &'b Arc<dyn Blobs>,
    id: BlobId,
    is_over: bool,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            // What this can't remove goes when the upload has expired.
            drop(ask(self.blobs, BlobTask::Abandon(self.id)));
        }
    }
}

/// A name that an upload is to get.
pub(super) struct Naming<'n> {
    pub(super) container: ContainerId,
    pub(super) name: &'n str,
    /// Whether no other blob may have it.
    pub(super) is_new: bool,
}

/// Uploads what a reader gives, and gives it a name. Returns how many bytes it was.
pub(super) fn named(
    blobs: &Arc<dyn Blobs>,
    naming: &Naming<'_>,
    content_type: &str,
    reader: &mut dyn Read,
) -> Result<u64> {
    upload(blobs, content_type, reader, &[], |id| {
        let Naming { container, name, is_new } = *naming;
        let task = BlobTask::Name { container, name: name.into(), id, is_new };
        ask(blobs, task).map(drop)
    })
    .map(|(_, length)| length)
}

/// Uploads what a reader gives, for an entity to hold; its identity, and how many bytes it was.
pub(super) fn unnamed(
    blobs: &Arc<dyn Blobs>,
    content_type: &str,
    reader: &mut dyn Read,
) -> Result<(BlobId, u64)> {
    upload(blobs, content_type, reader, &[BlobTask::ForRows], |_| Ok(()))
}

/// Uploads what a reader gives; `first` is done in the transaction of the first stage, and `end` when all is there.
fn upload(
    blobs: &Arc<dyn Blobs>,
    content_type: &str,
    reader: &mut dyn Read,
    first: &[BlobTask],
    end: impl FnOnce(BlobId) -> Result<()>,
) -> Result<(BlobId, u64)> {
    let mut begun = Begun { blobs, id: BlobId::new(&blobs.identity()), is_over: true };
    let (id, mut segment, mut length) = (begun.id, 0_u32, 0_u64);
    let mut stage = Vec::new();
    loop {
        stage.clear();
        let read = reader.take(length_of(STAGE)).read_to_end(&mut stage);
        read.map_err(|error| {
            let because = format!("the reader failed: {error}");
            Error::new(ErrorKind::Io).because(because).caused_by(error)
        })?;
        let is_last = stage.len() < STAGE;
        if !stage.is_empty() || segment == 0 {
            begun.is_over = false;
            let mut tasks = if segment == 0 { first.to_vec() } else { Vec::new() };
            tasks.push(BlobTask::Stage(BlobContent::of(id, segment, content_type, &stage)));
            blobs.clone().carry_out(tasks)?;
            length += length_of(stage.len());
            let segments = u32::try_from(stage.len().div_ceil(SEGMENT)).unwrap_or(u32::MAX);
            segment = segment.checked_add(segments).ok_or_else(|| {
                Error::new(ErrorKind::BlobTooLarge).because("a blob has 2^32 segments of 64 KiB at most")
            })?;
        }
        if is_last {
            end(id)?;
            begun.is_over = true;
            return Ok((id, length));
        }
    }
}
