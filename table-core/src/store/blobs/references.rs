//! Who refers to blobs, drafted: references that come and go, and the blobs that go with their last one.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::draft::BlobDraft;
use super::view;
use crate::contents::{BlobId, BlobRecord, REMOVED_AT_ONCE, Waiting, keys, segments};
use crate::error::{Error, ErrorKind, Result};

impl BlobDraft<'_> {
    /// Counts the references that rows come to have, and those that go.
    pub(in crate::store) fn refer(
        &mut self,
        references: &BTreeMap<BlobId, (i64, Option<u64>)>,
    ) -> Result<()> {
        for (id, (count, length)) in references {
            let by = u32::try_from(count.unsigned_abs()).unwrap_or(u32::MAX);
            match count.cmp(&0) {
                Ordering::Less => self.release_many(*id, by)?,
                Ordering::Equal => {}
                Ordering::Greater => self.take(*id, by, *length)?,
            }
        }
        Ok(())
    }

    /// Gives references to a blob that has one, or has just been uploaded.
    fn take(&mut self, id: BlobId, by: u32, length: Option<u64>) -> Result<()> {
        let old = self.blob(id)?.ok_or_else(gone)?;
        let waiting = if old.0.references == 0 { self.waiting(id)? } else { None };
        if waiting == Some(Waiting::Gone) || length.is_some_and(|length| length != old.0.length) {
            return Err(gone());
        }
        let mut blob = old.0.clone();
        blob.references = blob.references.checked_add(by).ok_or_else(|| {
            Error::new(ErrorKind::ValueOutOfRange).because("a blob has 2^32 references at most")
        })?;
        if waiting.is_some() {
            self.set_waiting(id, None)?;
        }
        self.set_blob(id, Some(&old), Some(&blob))
    }

    /// Takes a reference from a blob, which goes with its last one.
    pub(super) fn release(&mut self, id: BlobId) -> Result<()> {
        self.release_many(id, 1)
    }

    fn release_many(&mut self, id: BlobId, by: u32) -> Result<()> {
        let old = self.must_have_blob(id)?;
        let mut blob = old.0.clone();
        blob.references = blob.references.checked_sub(by).ok_or_else(|| view::damaged(&keys::blob(id)))?;
        self.set_blob(id, Some(&old), Some(&blob))?;
        if blob.references == 0 { self.give_up(id) } else { Ok(()) }
    }

    /// Removes a blob that nothing leads to: at once, or later if it is large.
    pub(super) fn give_up(&mut self, id: BlobId) -> Result<()> {
        self.set_waiting(id, Some(Waiting::Gone))?;
        let (blob, _) = self.must_have_blob(id)?;
        if segments(blob.length) <= REMOVED_AT_ONCE {
            return self.clear(id).map(drop);
        }
        self.has_left = true;
        Ok(())
    }

    /// Removes some of a blob that is to be removed, or whose upload is over; whether nothing is left.
    pub(super) fn clear(&mut self, id: BlobId) -> Result<bool> {
        if !self.waiting(id)?.is_some_and(|waiting| waiting.is_over(self.clock.now)) {
            return Ok(true);
        }
        let old = self.must_have_blob(id)?;
        let (length, digest) = self.remove_segments(id, &old.0, REMOVED_AT_ONCE)?;
        if length > 0 {
            let blob = BlobRecord { length, digest, ..old.0.clone() };
            self.set_waiting(id, Some(Waiting::Gone))?;
            self.set_blob(id, Some(&old), Some(&blob))?;
            return Ok(false);
        }
        self.set_waiting(id, None)?;
        self.set_blob(id, Some(&old), None)?;
        Ok(true)
    }
}

#[cold]
fn gone() -> Error {
    Error::new(ErrorKind::BlobGone).because(
        "no entity holds the blob any more, or it was uploaded more than an hour ago and none has come to; upload it again",
    )
}
