//! The store's own record, and the checksum that every small record ends with.

use table_engine::hash::xxh3_64_with_seed;

use table_engine::error::{Error, ErrorKind};
use table_engine::fields::Fields;
use table_engine::model::Ticks;

use super::features::{Feature, Features};
use super::record_digest::SetDigest;
use crate::lmdb::{self, OpeningDb, WriteTxn};

/// The version of everything on disk. Another version is refused at opening.
pub(crate) const FORMAT_VERSION: u32 = 4;

/// The key of the record in LMDB's unnamed database. Names of databases start with a letter.
pub(crate) const META_KEY: &[u8] = b"\0meta";

/// The record that every write reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    /// The longest key of the LMDB build that made the store; a build with shorter keys can't serve it.
    pub(crate) max_key: u32,
    /// The number that the next table gets. Numbers are never used again.
    pub(crate) next_table: u32,
    /// Rises when a table is created or dropped, so that handles know when to look again.
    pub(crate) generation: u64,
    /// The latest timestamp given to any entity.
    pub(crate) high_water: Ticks,
    /// LMDB's number of the transaction that wrote the record. A damaged header page that brings back an older state, or
    /// leads elsewhere, has another number.
    pub(crate) transaction: u64,
    pub(crate) features: Features,
    /// The store's identity: a token of one store is no token of another. A copy has its original's identity.
    pub(crate) identity: [u8; IDENTITY],
    /// The records of the catalog.
    pub(crate) catalog: SetDigest,
    /// The records of the dropped tables whose rows are still there.
    pub(crate) tombstones: SetDigest,
    /// The keyed digest of the tables whose kinds seal or sign; zeros as long as the store has no keys.
    pub(crate) authenticated: [u8; 16],
}

/// Bytes of a store's identity, and of a table's.
pub(crate) const IDENTITY: usize = 16;

const META_BYTES: usize = 116;

impl Meta {
    /// Returns the record of a new store.
    pub(crate) fn initial(max_key: u32) -> Self {
        Self {
            max_key,
            next_table: 1,
            generation: 0,
            high_water: Ticks::MIN,
            transaction: 0,
            features: Features::default(),
            identity: new_identity(),
            catalog: SetDigest::default(),
            tombstones: SetDigest::default(),
            authenticated: [0; 16],
        }
    }

    /// Reads the record in a snapshot.
    pub(crate) fn read(main: OpeningDb<'_>, txn: &heed::RoTxn<'_>) -> Result<Self, Error> {
        let (meta, state) = (Self::found(main, txn)?, txn.id());
        // A later state than the number says is no damage: a commit overtook the reader as it began.
        let is_sound = usize::try_from(meta.transaction)
            .is_ok_and(|found| found >= state && (found - state).is_multiple_of(2));
        if is_sound { Ok(meta) } else { Err(meta.of_another_state(state)) }
    }

    /// Reads the record at the beginning of a write transaction.
    pub(crate) fn begin(main: OpeningDb<'_>, txn: &WriteTxn<'_>) -> Result<Self, Error> {
        Self::begin_with(main.get(txn, META_KEY).map_err(lmdb::error)?, txn)
    }

    /// Reads the record at the beginning of a write transaction, in the bytes that were found of it.
    pub(crate) fn begin_with(record: Option<&[u8]>, txn: &WriteTxn<'_>) -> Result<Self, Error> {
        // A write transaction has the number of the state that it will make.
        let state = txn.id().wrapping_sub(1);
        let meta = Self::decode(record.ok_or_else(missing)?)?;
        if usize::try_from(meta.transaction) != Ok(state) {
            return Err(meta.of_another_state(state));
        }
        meta.check_writable()?;
        Ok(meta)
    }

    fn found(main: OpeningDb<'_>, txn: &heed::RoTxn<'_>) -> Result<Self, Error> {
        let Some(record) = main.get(txn, META_KEY).map_err(lmdb::error)? else {
            return Err(missing());
        };
        Self::decode(record)
    }

    #[cold]
    fn of_another_state(&self, state: usize) -> Error {
        Error::new(ErrorKind::Corrupt).because(format!(
            "the store's own record is of transaction {}, and LMDB's header says {state}: the header is damaged, or \
             the file was copied or compacted by other means than `Store::copy_to`",
            self.transaction
        ))
    }

    /// Writes the record; every transaction that changes anything does.
    pub(crate) fn write(&mut self, main: OpeningDb<'_>, txn: &mut WriteTxn<'_>) -> Result<(), Error> {
        self.transaction = u64::try_from(txn.id()).unwrap_or(u64::MAX);
        main.put(txn, META_KEY, &self.encode()).map_err(lmdb::error)
    }

    /// Notes that another file is to take this one's place.
    pub(crate) fn supersede(&mut self) {
        self.features.set(Feature::Superseded);
    }

    /// Takes back the note that another file is to take this one's place, if there is one.
    pub(crate) fn revive(main: OpeningDb<'_>, txn: &mut WriteTxn<'_>) -> Result<(), Error> {
        let Some(record) = main.get(txn, META_KEY).map_err(lmdb::error)? else {
            return Err(missing());
        };
        let mut meta = Self::parse(record)?;
        if !meta.features.has(Feature::Superseded) {
            return Ok(());
        }
        meta.features.clear(Feature::Superseded);
        meta.features.check_readable()?;
        meta.check_writable()?;
        let state = txn.id().wrapping_sub(1);
        if usize::try_from(meta.transaction) != Ok(state) {
            return Err(meta.of_another_state(state));
        }
        meta.write(main, txn)
    }

    /// Returns the number of the transaction whose state holds this record.
    pub(crate) fn transaction_of(record: &[u8]) -> Result<u64, Error> {
        Self::decode(record).map(|meta| meta.transaction)
    }

    /// Returns the number of the transaction whose state holds this record, if the record is sound and can be read.
    pub(crate) fn number_of(record: &[u8]) -> Option<u64> {
        Self::transaction_of(record).ok()
    }

    pub(crate) fn encode(&self) -> [u8; META_BYTES + CHECKSUM] {
        let mut record = Record::new();
        record.push(FORMAT_VERSION.to_le_bytes());
        record.push(self.max_key.to_le_bytes());
        record.push(self.next_table.to_le_bytes());
        record.push(self.generation.to_le_bytes());
        record.push(self.high_water.get().to_le_bytes());
        record.push(self.transaction.to_le_bytes());
        record.push(self.features.reader.to_le_bytes());
        record.push(self.features.writer.to_le_bytes());
        record.push(self.features.ignorable.to_le_bytes());
        record.push(self.identity);
        self.catalog.push(&mut record);
        self.tombstones.push(&mut record);
        record.push(self.authenticated);
        record.sealed(META_KEY)
    }

    /// Returns the bytes that bind a token to the store.
    pub(crate) fn tag(&self) -> u64 {
        xxh3_64_with_seed(&self.identity, 0)
    }

    /// Reads the record. A record of another format version is told apart from a damaged one.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let meta = Self::parse(bytes)?;
        meta.features.check_readable()?;
        Ok(meta)
    }

    fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let damaged = || Error::new(ErrorKind::Corrupt).because("the store's own record is damaged");
        if bytes.len() > MOST_BYTES {
            return Err(damaged());
        }
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
            let meta = Self {
                max_key: body.u32()?,
                next_table: body.u32()?,
                generation: body.u64()?,
                high_water: Ticks::new(body.u64()?)?,
                transaction: body.u64()?,
                features: Features { reader: body.u64()?, writer: body.u64()?, ignorable: body.u64()? },
                identity: body.take()?,
                catalog: SetDigest::take(body)?,
                tombstones: SetDigest::take(body)?,
                authenticated: body.take()?,
            };
            body.0.is_empty().then_some(meta)
        };
        read(&mut body).ok_or_else(damaged)
    }
}

#[cold]
fn missing() -> Error {
    Error::new(ErrorKind::Corrupt).because("the store's own record is missing")
}

/// The store's own record has no more bytes, whatever its version. One that is said to be longer may reach beyond the end of
/// the file.
const MOST_BYTES: usize = 1 << 10;

/// Bytes of a checksum.
pub(crate) const CHECKSUM: usize = 8;

/// Returns the checksum of a small record under its key.
fn checksum(key: &[u8], body: &[u8]) -> u64 {
    xxh3_64_with_seed(body, xxh3_64_with_seed(key, 0))
}

/// Returns the checksum that a record ends with.
pub(crate) fn checksum_of(record: &[u8]) -> u64 {
    record.last_chunk().map_or(0, |sum| u64::from_le_bytes(*sum))
}

/// Returns a small record with this body.
pub(crate) fn sealed(key: &[u8], mut body: Vec<u8>) -> Vec<u8> {
    body.extend_from_slice(&[0; CHECKSUM]);
    seal(key, &mut body);
    body
}

/// Fills in the checksum that a record ends with.
pub(crate) fn seal(key: &[u8], record: &mut [u8]) {
    if let Some((body, sum)) = record.split_last_chunk_mut::<CHECKSUM>() {
        *sum = checksum(key, body).to_le_bytes();
    }
}

/// Returns a record without its checksum, or `None` where it does not fit.
pub(crate) fn opened<'a>(key: &[u8], record: &'a [u8]) -> Option<&'a [u8]> {
    let (body, sum) = record.split_last_chunk::<CHECKSUM>()?;
    (checksum(key, body).to_le_bytes() == *sum).then_some(body)
}

/// A small record of fixed length in the making.
pub(crate) struct Record<const LENGTH: usize> {
    bytes: [u8; LENGTH],
    at: usize,
}

impl<const LENGTH: usize> Record<LENGTH> {
    pub(crate) fn new() -> Self {
        Self { bytes: [0; LENGTH], at: 0 }
    }

    pub(crate) fn push<const N: usize>(&mut self, field: [u8; N]) {
        if let Some(place) = self.bytes.get_mut(self.at..self.at + N) {
            place.copy_from_slice(&field);
        }
        self.at += N;
    }

    /// Returns the record, with its checksum in the last bytes.
    pub(crate) fn sealed(mut self, key: &[u8]) -> [u8; LENGTH] {
        seal(key, &mut self.bytes);
        self.bytes
    }
}

/// Returns bytes that no other store and no other table has, as far as chance goes. They guard against mistakes, not
/// against forgers.
pub(super) fn new_identity() -> [u8; IDENTITY] {
    use std::hash::{BuildHasher, RandomState};
    let mut record = Record::new();
    for _ in 0..2 {
        // The hasher's keys are the system's randomness.
        let now = (std::time::SystemTime::now(), std::process::id());
        record.push(RandomState::new().hash_one(now).to_le_bytes());
    }
    record.bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_survives_and_every_flipped_bit_is_seen() {
        let meta = Meta {
            next_table: 7,
            generation: 9,
            high_water: Ticks::UNIX_EPOCH,
            transaction: 12,
            features: Features { reader: 0, writer: 3, ignorable: 1 << 63 },
            catalog: SetDigest { count: 2, digest: 5 },
            tombstones: SetDigest { count: 1, digest: u64::MAX },
            ..Meta::initial(1_982)
        };
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
    fn an_unknown_feature_is_refused() {
        let mut bytes = Meta::initial(1_982).encode();
        bytes[36] = 4;
        seal(META_KEY, &mut bytes);
        let error = Meta::decode(&bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Incompatible);
        assert!(error.to_string().contains("0x4"), "{error}");
    }

    #[test]
    fn stores_are_told_apart() {
        assert_ne!(Meta::initial(1_982).identity, Meta::initial(1_982).identity);
    }

    #[test]
    fn another_version_is_named() {
        let mut bytes = Meta::initial(1_982).encode();
        bytes[0] = 3;
        seal(META_KEY, &mut bytes);
        let error = Meta::decode(&bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Incompatible);
        assert!(error.to_string().contains("format version 3"), "{error}");
    }
}
