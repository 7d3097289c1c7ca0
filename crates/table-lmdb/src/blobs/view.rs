//! The records of blobs, read with the proofs of [`VerifiedDb`].

use std::ops::ControlFlow;

use table_engine::contents::keys::{self, Key};
use table_engine::contents::{
    BlobId, BlobInfo, BlobRecord, Counters, NameRecord, Waiting, length_of, segments,
};
use table_engine::error::{Error, ErrorKind, Result};

use crate::open::OptionalDb;
use crate::verified::{self, Keyspace, Stop, VerifiedDb, body};

/// What is kept of blobs.
pub(crate) enum Blobs {}

impl Keyspace for Blobs {
    const DATABASE: OptionalDb = OptionalDb::Blobs;

    #[cold]
    fn describe(key: &[u8]) -> String {
        match Key::parse(key) {
            Some(Key::Directory) => "the directory of containers".into(),
            Some(Key::Counters) => "the count of blobs".into(),
            Some(Key::Name(container, _)) => format!("a name in container number {container}"),
            Some(Key::Blob(id)) => format!("the record of blob {id}"),
            Some(Key::Waiting(id)) => format!("the note that blob {id} waits"),
            Some(Key::Segment(id, number)) => format!("segment {number} of blob {id}"),
            None => "a blob's record whose key can't be read".into(),
        }
    }
}

/// The records of blobs as a transaction sees them.
pub(crate) type BlobView<'t> = VerifiedDb<'t, Blobs>;

impl<'t> BlobView<'t> {
    /// Returns what is counted of all blobs.
    pub(crate) fn counters(&self) -> Result<Counters> {
        self.must_read(&keys::COUNTERS, Counters::decode)
    }

    /// Refuses a container that was dropped.
    pub(crate) fn check_container(&self, container: u32) -> Result<()> {
        let directory = self.directory()?;
        match directory.get(container) {
            Some(listed) if !listed.is_dropped => Ok(()),
            _ => Err(no_such_container()),
        }
    }

    /// Returns the blob that a name leads to.
    pub(crate) fn find(&self, container: u32, name: &str) -> Result<Option<BlobInfo>> {
        let key = keys::name(container, name);
        let Some(record) = self.record(&key)? else { return Ok(None) };
        self.info(&key, name, record).map(Some)
    }

    /// Returns what is known of the blob that a name's record leads to.
    fn info(&self, key: &[u8], name: &str, record: &[u8]) -> Result<BlobInfo> {
        let named = NameRecord::decode(body(record)).ok_or_else(|| damaged(key))?;
        let blob = self.blob(named.id)?;
        Ok(BlobInfo::of(name.into(), named.id, blob))
    }

    /// Returns a blob by its identity; `None` if there is none, or it is to be removed.
    pub(crate) fn unnamed(&self, id: BlobId) -> Result<Option<BlobInfo>> {
        let Some(blob) = self.read(&keys::blob(id), BlobRecord::decode)? else { return Ok(None) };
        if blob.references == 0 && self.waits_to_go(id)? {
            return Ok(None);
        }
        Ok(Some(BlobInfo::of(String::new(), id, blob)))
    }

    /// Returns whether there is a blob of this identity.
    pub(crate) fn has(&self, id: BlobId) -> Result<bool> {
        Ok(self.record(&keys::blob(id))?.is_some())
    }

    fn waits_to_go(&self, id: BlobId) -> Result<bool> {
        Ok(self.must_read(&keys::waiting(id), Waiting::decode)? == Waiting::Gone)
    }

    /// Returns a blob, which must be there.
    pub(crate) fn blob(&self, id: BlobId) -> Result<BlobRecord> {
        self.must_read(&keys::blob(id), BlobRecord::decode)
    }

    /// Returns so many blobs at most of those whose names begin with this, behind another name; and whether there is no other.
    pub(crate) fn list(
        &self,
        container: u32,
        prefix: &str,
        after: Option<&str>,
        most: usize,
    ) -> Result<(Vec<BlobInfo>, bool)> {
        let mut found = Vec::new();
        let (begin, after) = (keys::name(container, prefix), after.map(|after| keys::name(container, after)));
        let after = after.filter(|after| *after >= begin);
        let is_end = self.walk(&begin, after.as_deref(), |key, record| {
            if found.len() == most {
                return Ok(ControlFlow::Break(()));
            }
            let Some(Key::Name(_, name)) = Key::parse(key) else { return Err(damaged(key)) };
            found.push(self.info(key, name, record)?);
            Ok(ControlFlow::Continue(Stop::Not))
        })?;
        Ok((found, is_end))
    }

    /// Blobs that wait, so many at most, and for what.
    pub(crate) fn waiting(&self, most: usize) -> Result<Vec<(BlobId, Waiting)>> {
        let mut found = Vec::new();
        self.walk(&keys::ALL_WAITING, None, |key, record| {
            if found.len() == most {
                return Ok(ControlFlow::Break(()));
            }
            let Some(Key::Waiting(id)) = Key::parse(key) else { return Err(damaged(key)) };
            found.push((id, Waiting::decode(body(record)).ok_or_else(|| damaged(key))?));
            Ok(ControlFlow::Continue(Stop::Not))
        })?;
        Ok(found)
    }

    /// Returns all bytes of a blob that is so long; `None` if there is none of this identity.
    pub(crate) fn content(&self, id: BlobId, length: usize) -> Result<Option<Vec<u8>>> {
        let key = keys::blob(id);
        let Some(blob) = self.read(&key, BlobRecord::decode)? else { return Ok(None) };
        if blob.length != length_of(length) {
            return Err(damaged(&key));
        }
        let mut bytes = Vec::with_capacity(length);
        for number in 0..u32::try_from(segments(blob.length)).unwrap_or(u32::MAX) {
            bytes.extend_from_slice(self.segment(id, number, false)?);
        }
        if bytes.len() == length { Ok(Some(bytes)) } else { Err(damaged(&key)) }
    }

    /// Returns the bytes of a segment. `was_sound` says that this was found out before, in this very snapshot.
    pub(crate) fn segment(&self, id: BlobId, number: u32, was_sound: bool) -> Result<&'t [u8]> {
        let key = keys::segment(id, number);
        let record = if was_sound { self.must_still_have(&key) } else { self.must_have(&key) };
        record.map(body)
    }
}

#[cold]
pub(super) fn damaged(key: &[u8]) -> Error {
    verified::damaged::<Blobs>(key)
}

#[cold]
pub(super) fn missing(key: &[u8]) -> Error {
    verified::missing::<Blobs>(key)
}

#[cold]
pub(crate) fn no_such_container() -> Error {
    Error::new(ErrorKind::ContainerNotFound).because("the container was dropped; get a new handle")
}
