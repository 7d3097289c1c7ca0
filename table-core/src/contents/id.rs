//! What tells blobs and containers apart.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

/// A blob's identity, given where it is made: no other blob has it, in whatever store, as far as chance goes. It begins with
/// the time, so that what is put together lies together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId(pub(crate) [u8; 16]);

impl BlobId {
    /// A new one.
    pub(crate) fn new() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        // The hasher's keys are the system's randomness.
        let [high, low] = [0, 1].map(|half: u8| RandomState::new().hash_one((half, since)));
        let number = u128::from(millis) << 80 | u128::from(high & 0xffff) << 64 | u128::from(low);
        Self(number.to_be_bytes())
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BlobId({self})")
    }
}

/// A container of one store that this process has open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContainerId {
    /// Which of the stores it is that the process has opened.
    pub store: u64,
    /// The container's number there.
    pub number: u32,
}
