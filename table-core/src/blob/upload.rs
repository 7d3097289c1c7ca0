//! Bytes that come by stages.

use std::io::{ErrorKind as IoErrorKind, Read};
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

/// Uploads what a reader gives, and gives it a name; how many bytes it was.
pub(super) fn upload(
    blobs: &Arc<dyn Blobs>,
    (container, name, is_new): (ContainerId, &str, bool),
    content_type: &str,
    reader: &mut dyn Read,
) -> Result<u64> {
    let mut begun = Begun { blobs, id: BlobId::new(), is_over: true };
    let (id, mut first, mut length) = (begun.id, 0_u32, 0_u64);
    let mut stage = Vec::new();
    loop {
        stage.clear();
        let read = reader.take(length_of(STAGE)).read_to_end(&mut stage);
        read.map_err(|error| {
            let because = format!("the reader failed: {error}");
            let kind = if error.kind() == IoErrorKind::OutOfMemory {
                ErrorKind::BlobTooLarge
            } else {
                ErrorKind::Io
            };
            Error::new(kind).because(because).caused_by(error)
        })?;
        let is_last = stage.len() < STAGE;
        if !stage.is_empty() || first == 0 {
            begun.is_over = false;
            let segments = u32::try_from(stage.len().div_ceil(SEGMENT)).unwrap_or(u32::MAX);
            ask(blobs, BlobTask::Stage(BlobContent::of(id, first, content_type, &stage)))?;
            length += length_of(stage.len());
            first = first.checked_add(segments).ok_or_else(|| {
                Error::new(ErrorKind::BlobTooLarge).because("a blob has 2^32 segments of 64 KiB at most")
            })?;
        }
        if is_last {
            ask(blobs, BlobTask::Name { container, name: name.into(), id, is_new })?;
            begun.is_over = true;
            return Ok(length);
        }
    }
}
