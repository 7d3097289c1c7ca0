//! What a plan is to do to blobs: found out whole before anything of it is written, so that a plan which is refused leaves
//! the transaction as it was.

use std::sync::Arc;

use table_engine::contents::keys::{self, Key};
use table_engine::contents::{BlobId, BlobRecord, Counters, Waiting, name, segments};
use table_engine::error::Result;
use table_engine::messages::{Directory, SetDigest};

use super::view::{self, BlobView, Blobs};
use crate::records::meta;
use crate::verified::{Counted, Overlay, PlannedWrites, Records, TxnState, body};

impl Records for Blobs {
    type Count = Counters;
    const LISTED: &'static str = "containers";
    const DIRECTORY: &'static [u8] = &keys::DIRECTORY;

    fn directory(body: &[u8]) -> Option<Directory> {
        Directory::decode_with(body, name::is_container)
    }

    fn encode(count: &Counters) -> Vec<u8> {
        count.encode()
    }

    fn set_digest<'o>(overlay: &'o mut BlobOverlay<'_>, key: &[u8]) -> Result<Option<&'o mut SetDigest>> {
        let counters = overlay.counters()?;
        Ok(Key::parse(key).and_then(|key| set_digest_of(counters, key)))
    }
}

/// A plan's changes of blobs.
pub(crate) type BlobOverlay<'b> = Overlay<'b, Blobs>;
/// What such a plan is to write.
pub(crate) type BlobWrites = PlannedWrites<Blobs>;
/// What a transaction has done to blobs.
pub(crate) type BlobTxnState = TxnState<Blobs>;

impl BlobOverlay<'_> {
    /// Returns what is counted, to be changed.
    pub(super) fn counters(&mut self) -> Result<&mut Counters> {
        let read = |view: &BlobView<'_>| Ok(Counted { count: Some(view.counters()?), is_new: false });
        self.count(&keys::COUNTERS, read)?.ok_or_else(|| view::missing(&keys::COUNTERS))
    }

    /// Returns a blob with its record, as the overlay leaves it.
    pub(super) fn blob(&self, id: BlobId) -> Result<Option<(BlobRecord, u64)>> {
        let key = keys::blob(id);
        let Some(record) = self.find(&key)? else { return Ok(None) };
        let blob = BlobRecord::decode(body(&record)).ok_or_else(|| view::damaged(&key))?;
        Ok(Some((blob, meta::checksum_of(&record))))
    }

    /// Returns a blob that must be there.
    pub(super) fn must_have_blob(&self, id: BlobId) -> Result<(BlobRecord, u64)> {
        self.blob(id)?.ok_or_else(|| view::missing(&keys::blob(id)))
    }

    /// Has a blob be so; `old` is what was found of it.
    pub(super) fn set_blob(
        &mut self,
        id: BlobId,
        old: Option<&(BlobRecord, u64)>,
        new: Option<&BlobRecord>,
    ) -> Result<()> {
        let key = keys::blob(id);
        let counters = self.counters()?;
        counters.bytes = counters
            .bytes
            .wrapping_sub(old.map_or(0, |(old, _)| old.length))
            .wrapping_add(new.map_or(0, |new| new.length));
        let new = new.map(|new| Arc::new(meta::sealed(&key, new.encode())));
        self.replace_sealed(key, old.map(|(_, checksum)| *checksum), new)
    }

    /// Returns what a blob waits for.
    pub(super) fn waiting(&self, id: BlobId) -> Result<Option<Waiting>> {
        self.read(&keys::waiting(id), Waiting::decode)
    }

    /// Has a blob wait for something, or for nothing any more.
    pub(super) fn set_waiting(&mut self, id: BlobId, waiting: Option<Waiting>) -> Result<()> {
        let key = keys::waiting(id);
        let old = self.find(&key)?.map(|record| meta::checksum_of(&record));
        let new = waiting.map(|waiting| Arc::new(meta::sealed(&key, waiting.encode())));
        if old.is_none() && new.is_none() { Ok(()) } else { self.replace_sealed(key, old, new) }
    }

    /// Removes the last segments of a blob, so many at most; how many bytes and how much of the digest is left.
    pub(super) fn remove_segments(&mut self, id: BlobId, blob: &BlobRecord, most: u64) -> Result<(u64, u64)> {
        let all = segments(blob.length);
        let left = all.saturating_sub(most);
        let mut digest = blob.digest;
        for number in left..all {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            let key = keys::segment(id, number);
            let checksum = meta::checksum_of(&self.must_find(&key)?);
            digest = digest.wrapping_sub(checksum);
            self.replace_sealed(key, Some(checksum), None)?;
        }
        let length = if left == all { blob.length } else { left * full() };
        Ok((length, digest))
    }
}

/// Returns the set digest that a record counts in.
pub(super) fn set_digest_of<'l>(counters: &'l mut Counters, key: Key<'_>) -> Option<&'l mut SetDigest> {
    match key {
        Key::Directory | Key::Counters => None,
        Key::Name(..) => Some(&mut counters.names),
        Key::Blob(_) => Some(&mut counters.blobs),
        Key::Waiting(_) => Some(&mut counters.waiting),
        Key::Segment(..) => Some(&mut counters.segments),
    }
}

/// Bytes of a segment that is full.
pub(super) fn full() -> u64 {
    table_engine::contents::length_of(table_engine::contents::SEGMENT)
}
