//! What a plan is to do to blobs: found out whole before anything of it is written, so that a plan which is refused leaves
//! the transaction as it was.

use std::borrow::Cow;
use std::sync::Arc;

use super::txn_state::BlobTxnState;
use super::view::{self, BlobView};
use crate::contents::keys::{self, Key};
use crate::contents::{BlobId, BlobRecord, Counters, Waiting, segments};
use crate::error::Result;
use crate::messages::{Clock, Directory, SetDigest};
use crate::store::open::Environment;
use crate::store::records::features::Feature;
use crate::store::records::meta;
use crate::store::verified::{Write, Writes, body};

/// The writes of a plan, and the counts that they leave.
#[derive(Default)]
pub(crate) struct BlobWrites {
    pub(super) writes: Writes<Arc<Vec<u8>>>,
    pub(super) directory: Option<Directory>,
    pub(super) counters: Option<Counters>,
    /// What the store's rows have of blobs from now on.
    pub(super) features: Vec<Feature>,
}

impl BlobWrites {
    /// What the store's rows have of blobs from now on.
    pub(crate) fn features(&self) -> &[Feature] {
        &self.features
    }
}

/// When, and in which store, a plan's changes of blobs are drafted.
#[derive(Clone, Copy)]
pub(crate) struct OverlayContext<'b> {
    pub(crate) clock: Clock,
    /// The store's identity.
    pub(crate) identity: &'b [u8; 16],
}

/// A plan's changes of blobs, drafted over what the transaction sees.
pub(crate) struct BlobOverlay<'b> {
    pub(super) view: BlobView<'b>,
    txn_state: &'b BlobTxnState,
    /// The store's identity.
    pub(super) identity: &'b [u8; 16],
    pub(super) clock: Clock,
    drafted: BlobWrites,
    /// Whether it leaves a blob to be removed later.
    pub(crate) has_left: bool,
}

impl<'b> BlobOverlay<'b> {
    /// Begins one in a transaction. `is_settled` says that it has changed little so far.
    pub(crate) fn begin(
        environment: &'b Environment,
        txn: &'b heed::RwTxn<'b>,
        txn_state: &'b BlobTxnState,
        at: OverlayContext<'b>,
        is_settled: bool,
    ) -> Result<Self> {
        let OverlayContext { clock, identity } = at;
        let view = BlobView::of_write(
            environment,
            txn,
            txn_state.applied.db(),
            (txn_state.applied.removed(), is_settled),
        )?;
        Ok(Self { view, txn_state, identity, clock, drafted: BlobWrites::default(), has_left: false })
    }

    /// What is to be written, once the pages that change for it have been looked at.
    pub(crate) fn end(self) -> Result<BlobWrites> {
        let BlobWrites { writes, directory, counters, .. } = &self.drafted;
        let counts = directory.iter().map(|_| (keys::DIRECTORY.as_slice(), false));
        self.view.meet(
            writes,
            self.txn_state.applied.writes(),
            counts.chain(counters.iter().map(|_| (keys::COUNTERS.as_slice(), false))),
        )?;
        Ok(self.drafted)
    }

    pub(super) fn directory(&self) -> Result<Directory> {
        match self.drafted.directory.as_ref().or(self.txn_state.directory.as_ref()) {
            Some(known) => Ok(known.clone()),
            None => self.view.directory(),
        }
    }

    /// Has the store say from now on that its rows have this of blobs.
    pub(crate) fn set_feature(&mut self, feature: Feature) {
        self.drafted.features.push(feature);
    }

    pub(super) fn set_directory(&mut self, directory: Directory) {
        self.drafted.directory = Some(directory);
    }

    /// What is counted, to be changed.
    pub(super) fn counters(&mut self) -> Result<&mut Counters> {
        let counters = match self.drafted.counters.or(self.txn_state.counters) {
            Some(known) => known,
            None => self.view.counters()?,
        };
        Ok(self.drafted.counters.insert(counters))
    }

    /// The record of a key as the draft leaves it.
    pub(super) fn find(&self, key: &[u8]) -> Result<Option<Cow<'b, [u8]>>> {
        match self.drafted.writes.get(key) {
            Some(Write::Add(record) | Write::Replace(record)) => Ok(Some(Cow::Owned(record.to_vec()))),
            Some(Write::Remove) => Ok(None),
            None => Ok(self.view.record(key)?.map(Cow::Borrowed)),
        }
    }

    /// Has a record in the place of one that was found, or of none; or that one removed. The counts follow.
    pub(super) fn replace(&mut self, key: &[u8], old: Option<&[u8]>, new: Option<Vec<u8>>) -> Result<()> {
        let new = new.map(|body| Arc::new(meta::sealed(key, body)));
        self.replace_sealed(key, old.map(meta::checksum_of), new)
    }

    /// The same with a record that has its checksum, and the checksum of the one that was found.
    pub(super) fn replace_sealed(
        &mut self,
        key: &[u8],
        old: Option<u64>,
        new: Option<Arc<Vec<u8>>>,
    ) -> Result<()> {
        if let Some(set_digest) = set_digest(self.counters()?, key) {
            if let Some(old) = old {
                set_digest.subtract(old);
            }
            if let Some(new) = &new {
                set_digest.add(meta::checksum_of(new));
            }
        }
        self.drafted.writes.replace(key.to_vec(), old.is_some(), new);
        Ok(())
    }

    /// A blob with its record, as the draft leaves it.
    pub(super) fn blob(&self, id: BlobId) -> Result<Option<(BlobRecord, u64)>> {
        let key = keys::blob(id);
        let Some(record) = self.find(&key)? else { return Ok(None) };
        let blob = BlobRecord::decode(body(&record)).ok_or_else(|| view::damaged(&key))?;
        Ok(Some((blob, meta::checksum_of(&record))))
    }

    /// A blob that must be there.
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
        self.replace_sealed(&key, old.map(|(_, checksum)| *checksum), new)
    }

    /// What a blob waits for.
    pub(super) fn waiting(&self, id: BlobId) -> Result<Option<Waiting>> {
        let key = keys::waiting(id);
        let Some(record) = self.find(&key)? else { return Ok(None) };
        Waiting::decode(body(&record)).map(Some).ok_or_else(|| view::damaged(&key))
    }

    /// Has a blob wait for something, or for nothing any more.
    pub(super) fn set_waiting(&mut self, id: BlobId, waiting: Option<Waiting>) -> Result<()> {
        let key = keys::waiting(id);
        let old = self.find(&key)?.map(|record| meta::checksum_of(&record));
        let new = waiting.map(|waiting| Arc::new(meta::sealed(&key, waiting.encode())));
        if old.is_none() && new.is_none() { Ok(()) } else { self.replace_sealed(&key, old, new) }
    }

    /// Removes the last segments of a blob, so many at most; how many bytes and how much of the digest is left.
    pub(super) fn remove_segments(&mut self, id: BlobId, blob: &BlobRecord, most: u64) -> Result<(u64, u64)> {
        let all = segments(blob.length);
        let left = all.saturating_sub(most);
        let mut digest = blob.digest;
        for number in left..all {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            let key = keys::segment(id, number);
            let record = self.find(&key)?.ok_or_else(|| view::missing(&key))?;
            let checksum = meta::checksum_of(&record);
            digest = digest.wrapping_sub(checksum);
            drop(record);
            self.replace_sealed(&key, Some(checksum), None)?;
        }
        let length = if left == all { blob.length } else { left * full() };
        Ok((length, digest))
    }
}

/// Bytes of a segment that is full.
pub(super) fn full() -> u64 {
    crate::contents::length_of(crate::contents::SEGMENT)
}

/// The set digest that a record counts in.
fn set_digest<'l>(counters: &'l mut Counters, key: &[u8]) -> Option<&'l mut SetDigest> {
    match Key::parse(key)? {
        Key::Directory | Key::Counters => None,
        Key::Name(..) => Some(&mut counters.names),
        Key::Blob(_) => Some(&mut counters.blobs),
        Key::Waiting(_) => Some(&mut counters.waiting),
        Key::Segment(..) => Some(&mut counters.segments),
    }
}
