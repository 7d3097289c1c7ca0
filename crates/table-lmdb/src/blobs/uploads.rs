//! Uploads by stages, in the overlay.

use table_engine::contents::{BlobId, BlobRecord, Waiting};
use table_engine::error::{Error, ErrorKind, Result};

use super::overlay::{BlobOverlay, full};
use super::tasks::Sealed;

impl BlobOverlay<'_> {
    /// Takes in the next stage of an upload.
    pub(super) fn stage(&mut self, content: &Sealed) -> Result<()> {
        let (id, now) = (content.id, self.at.clock.store);
        let old = if content.first == 0 { None } else { Some(self.upload(id)?) };
        let mut blob = match &old {
            Some((blob, _)) => blob.clone(),
            None => BlobRecord {
                length: 0,
                digest: 0,
                references: 0,
                made: now,
                changed: now,
                content_type: content.content_type.clone(),
            },
        };
        if blob.length != u64::from(content.first) * full() {
            return Err(expired());
        }
        self.add_content(content)?;
        blob.length += content.length;
        blob.digest = blob.digest.wrapping_add(content.digest());
        self.set_waiting(id, Some(Waiting::Upload(self.at.clock.now)))?;
        self.set_blob(id, old.as_ref(), Some(&blob))
    }

    /// Returns an upload that has begun.
    fn upload(&self, id: BlobId) -> Result<(BlobRecord, u64)> {
        match self.waiting(id)? {
            Some(Waiting::Upload(_)) => self.must_have_blob(id),
            _ => Err(expired()),
        }
    }

    pub(super) fn name_upload(&mut self, container: u32, name: &str, id: BlobId, is_new: bool) -> Result<()> {
        self.check_container(container)?;
        let old = self.upload(id)?;
        let now = self.at.clock.store;
        let blob = BlobRecord { references: 1, made: now, changed: now, ..old.0.clone() };
        self.set_waiting(id, None)?;
        self.set_blob(id, Some(&old), Some(&blob))?;
        self.set_name(container, name, id, is_new)
    }
}

#[cold]
fn expired() -> Error {
    Error::new(ErrorKind::UploadExpired).because(
        "nothing came for more than an hour, and what had come of the blob was removed; upload it again",
    )
}
