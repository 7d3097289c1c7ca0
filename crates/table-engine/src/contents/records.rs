//! The bodies of the records of blobs.

use super::{BlobId, name};
use crate::fields::Fields;
use crate::messages::SetDigest;
use crate::model::Ticks;

/// A blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobRecord {
    /// Bytes.
    pub length: u64,
    /// The sum of its segments' checksums, modulo 2^64.
    pub digest: u64,
    /// How many names lead to it. One that has none waits.
    pub references: u32,
    pub made: Ticks,
    pub changed: Ticks,
    pub content_type: Box<str>,
}

impl BlobRecord {
    pub fn encode(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(45 + self.content_type.len() + 8);
        for number in [self.length, self.digest, self.made.get(), self.changed.get()] {
            body.extend_from_slice(&number.to_le_bytes());
        }
        body.extend_from_slice(&self.references.to_le_bytes());
        body.extend_from_slice(self.content_type.as_bytes());
        body
    }

    pub fn decode(body: &[u8]) -> Option<Self> {
        let mut body = Fields(body);
        let (length, digest, made, changed) = (body.u64()?, body.u64()?, body.ticks()?, body.ticks()?);
        let references = body.u32()?;
        let content_type = body.rest().filter(|text| name::is_type(text))?.into();
        Some(Self { length, digest, references, made, changed, content_type })
    }
}

/// A name in a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameRecord {
    pub id: BlobId,
}

impl NameRecord {
    pub fn encode(self) -> Vec<u8> {
        self.id.0.to_vec()
    }

    pub fn decode(body: &[u8]) -> Option<Self> {
        Some(Self { id: BlobId(body.try_into().ok()?) })
    }
}

/// Why a blob without a reference is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// It is being uploaded; the last stage came then.
    Upload(Ticks),
    /// It is to be removed.
    Gone,
}

impl Waiting {
    pub fn encode(self) -> Vec<u8> {
        match self {
            Self::Upload(touched) => [&[0][..], &touched.get().to_le_bytes()].concat(),
            Self::Gone => vec![1],
        }
    }

    pub fn decode(body: &[u8]) -> Option<Self> {
        let mut body = Fields(body);
        let waiting = match body.u8()? {
            0 => Self::Upload(body.ticks()?),
            1 => Self::Gone,
            _ => return None,
        };
        body.0.is_empty().then_some(waiting)
    }

    /// Returns whether its time is over. A clock that was far ahead, and is right now, makes no upload last.
    pub fn is_over(self, now: Ticks) -> bool {
        match self {
            Self::Gone => true,
            Self::Upload(touched) => {
                let is_old = now.saturating_since(touched) >= super::UPLOAD_STANDS;
                is_old || touched.saturating_since(now) >= super::UPLOAD_STANDS
            }
        }
    }
}

/// What is counted of all blobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub names: SetDigest,
    pub blobs: SetDigest,
    pub waiting: SetDigest,
    pub segments: SetDigest,
    /// Bytes of all blobs.
    pub bytes: u64,
}

impl Counters {
    pub fn encode(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(72 + 8);
        for set_digest in [self.names, self.blobs, self.waiting, self.segments] {
            body.extend_from_slice(&set_digest.count.to_le_bytes());
            body.extend_from_slice(&set_digest.digest.to_le_bytes());
        }
        body.extend_from_slice(&self.bytes.to_le_bytes());
        body
    }

    pub fn decode(body: &[u8]) -> Option<Self> {
        let mut body = Fields(body);
        let mut set_digest = || Some(SetDigest { count: body.u64()?, digest: body.u64()? });
        let (names, blobs, waiting, segments) = (set_digest()?, set_digest()?, set_digest()?, set_digest()?);
        let bytes = body.u64()?;
        body.0.is_empty().then_some(Self { names, blobs, waiting, segments, bytes })
    }
}
