//! References of rows to blobs, in the overlay: references that come and go, and the blobs that go with their last one.

use table_engine::contents::{BlobId, BlobRecord, REMOVED_AT_ONCE, Waiting, keys, reference, segments};
use table_engine::error::{Error, ErrorKind, Result};
use table_engine::row::view::RowView;

use super::overlay::BlobOverlay;
use super::view;

impl BlobOverlay<'_> {
    /// Gives so many references to a blob that has one, or has just been uploaded, and that is so long.
    pub(crate) fn take(&mut self, id: BlobId, by: u32, length: Option<u64>) -> Result<()> {
        let gone = || not_here(id, &self.at.meta.identity, None);
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

    /// Takes so many references of rows from a blob. One that is proved not to be here has none to be taken: the rows were
    /// written by a build that did not check whether they may.
    pub(crate) fn let_go(&mut self, id: BlobId, by: u32) -> Result<()> {
        if self.blob(id)?.is_none() { Ok(()) } else { self.release_many(id, by) }
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
        if !self.waiting(id)?.is_some_and(|waiting| waiting.is_over(self.at.clock.now)) {
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

/// Returns the error of a reference, in this property, to a blob that a store of this identity does not have.
#[cold]
pub(crate) fn not_here(id: BlobId, store: &[u8; 16], property: Option<&str>) -> Error {
    let of = property.map(|name| format!(" of the property `{}`", name.escape_debug())).unwrap_or_default();
    Error::new(ErrorKind::BlobGone).because(if id.is_made_in(store) {
        format!(
            "no entity holds the blob{of} any more, or it was uploaded more than an hour ago and none has come to, or to a copy \
             of this store; upload it again, or bring it from the store that has it with `Store::import_blob`"
        )
    } else {
        format!(
            "the blob{of} is another store's, and this one does not have it; bring it with `Store::import_blob`, and hold what \
             that gives"
        )
    })
}

/// Returns the names of the properties of a row that refer to blobs which are sought, and those blobs.
pub(crate) fn properties_with(
    row: &RowView<'_>,
    is_sought: impl Fn(BlobId) -> bool,
) -> Vec<(String, BlobId)> {
    let mut found = Vec::new();
    for (name, value) in row.properties().map_while(Result::ok) {
        let bytes = value.as_bytes().unwrap_or_default();
        reference::each_in(bytes, |_, id, _| found.extend(is_sought(id).then(|| (name.to_owned(), id))));
    }
    found
}
