//! What tells blobs and containers apart.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::hash::{xxh3_64, xxh3_64_with_seed};

/// Bytes of the digest with which an identity ends.
const MAKER: usize = 4;

/// A blob's identity, given where it is made: no other blob has it, in whatever store, as far as chance goes. It begins with
/// the time, so that what is put together lies together, and ends with a digest that tells the store which made it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId(pub [u8; 16]);

impl BlobId {
    /// Makes one in the store of this identity.
    pub fn new(store: &[u8; 16]) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        // The hasher's keys are the system's randomness.
        let random = RandomState::new().hash_one(since);
        let number = u128::from(millis) << 80 | u128::from(random & 0xffff_ffff_ffff) << 32;
        let mut id = Self(number.to_be_bytes());
        let maker = id.maker(store);
        if let Some(end) = id.0.last_chunk_mut() {
            *end = maker;
        }
        id
    }

    /// Returns whether the store of this identity has made it, or one that is a copy of the same store. What the first builds
    /// made says of no store that it was.
    pub fn is_made_in(&self, store: &[u8; 16]) -> bool {
        self.0.ends_with(&self.maker(store))
    }

    /// Returns the digest of what stands before it, bound to a store.
    fn maker(&self, store: &[u8; 16]) -> [u8; MAKER] {
        let (before, _) = self.0.split_at(self.0.len() - MAKER);
        let [a, b, c, d, ..] = xxh3_64_with_seed(before, xxh3_64(store)).to_le_bytes();
        [a, b, c, d]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_tells_the_store_that_made_it() {
        let (one, other) = ([1; 16], [2; 16]);
        let ids: Vec<_> = (0..100).map(|_| BlobId::new(&one)).collect();
        assert!(ids.iter().all(|id| id.is_made_in(&one) && !id.is_made_in(&other)));
        let mut sorted = ids.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), ids.len());
        // As `docs/internals/format.md` has it.
        let BlobId(bytes) = ids[0];
        let digest = xxh3_64_with_seed(&bytes[..12], xxh3_64(&one)).to_le_bytes();
        assert_eq!(bytes[12..], digest[..4]);
    }
}
