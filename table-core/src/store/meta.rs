//! The store's own record, and the checksum that every small record ends with.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::error::{Error, ErrorKind};
use crate::model::Ticks;

/// The version of everything on disk. Another version is refused at opening.
pub(crate) const FORMAT_VERSION: u32 = 1;

/// Where the record lies in LMDB's unnamed database. Names of databases start with a letter.
pub(crate) const META_KEY: &[u8] = b"\0meta";

/// The record that every write reads and most writes change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    /// The longest key of the LMDB build that made the store; a build with less can't serve it.
    pub(crate) max_key: u32,
    /// The number that the next table gets. Numbers are never used again.
    pub(crate) next_table: u32,
    /// Rises when a table is created or dropped, so that handles know when to look again.
    pub(crate) generation: u64,
    /// The latest timestamp given to any entity.
    pub(crate) high_water: Ticks,
}

const META_BYTES: usize = 28;

impl Meta {
    pub(crate) fn initial(max_key: u32) -> Self {
        Self { max_key, next_table: 1, generation: 0, high_water: Ticks::MIN }
    }

    pub(crate) fn encode(&self) -> [u8; META_BYTES + CHECKSUM] {
        let mut out = [0; META_BYTES + CHECKSUM];
        let fields = FORMAT_VERSION
            .to_le_bytes()
            .into_iter()
            .chain(self.max_key.to_le_bytes())
            .chain(self.next_table.to_le_bytes())
            .chain(self.generation.to_le_bytes())
            .chain(self.high_water.get().to_le_bytes());
        for (to, from) in out.iter_mut().zip(fields) {
            *to = from;
        }
        seal(META_KEY, &mut out);
        out
    }

    /// Reads the record; one of another format version is told apart from a damaged one.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let damaged = || Error::new(ErrorKind::Corrupt).because("the store's own record is damaged");
        let mut body = Fields(bytes);
        let version = body.u32().ok_or_else(damaged)?;
        if version != FORMAT_VERSION {
            // The version stands first in every format to come; only a sealed record is believed.
            return Err(match opened(META_KEY, bytes) {
                Some(_) => Error::new(ErrorKind::Incompatible).because(format!(
                    "the store has format version {version}; this library reads version {FORMAT_VERSION}"
                )),
                None => damaged(),
            });
        }
        let mut body = Fields(opened(META_KEY, bytes).ok_or_else(damaged)?);
        let read = |body: &mut Fields<'_>| {
            body.u32()?;
            let (max_key, next_table) = (body.u32()?, body.u32()?);
            let (generation, high_water) = (body.u64()?, Ticks::new(body.u64()?)?);
            body.0.is_empty().then_some(Self { max_key, next_table, generation, high_water })
        };
        read(&mut body).ok_or_else(damaged)
    }
}

/// Bytes of a checksum.
pub(crate) const CHECKSUM: usize = 8;

/// The checksum of a small record under its key.
fn checksum(key: &[u8], body: &[u8]) -> u64 {
    xxh3_64_with_seed(body, xxh3_64_with_seed(key, 0))
}

/// Fills in the checksum that a record ends with.
pub(crate) fn seal(key: &[u8], record: &mut [u8]) {
    if let Some((body, sum)) = record.split_last_chunk_mut::<CHECKSUM>() {
        *sum = checksum(key, body).to_le_bytes();
    }
}

/// A record without its checksum, or `None` where it does not fit.
pub(crate) fn opened<'a>(key: &[u8], record: &'a [u8]) -> Option<&'a [u8]> {
    let (body, sum) = record.split_last_chunk::<CHECKSUM>()?;
    (checksum(key, body).to_le_bytes() == *sum).then_some(body)
}

/// Takes little-endian fields off the front of some bytes.
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_survives_and_every_flipped_bit_is_seen() {
        let meta = Meta { max_key: 1_982, next_table: 7, generation: 9, high_water: Ticks::UNIX_EPOCH };
        let bytes = meta.encode();
        assert_eq!(Meta::decode(&bytes).unwrap(), meta);
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Meta::decode(&flipped).unwrap_err().kind(), ErrorKind::Corrupt, "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert!(Meta::decode(&bytes[..length]).is_err());
        }
    }

    #[test]
    fn another_version_is_named() {
        let mut bytes = Meta::initial(1_982).encode();
        bytes[0] = 2;
        seal(META_KEY, &mut bytes);
        let error = Meta::decode(&bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Incompatible);
        assert!(error.to_string().contains("format version 2"), "{error}");
    }
}
