//! The records of the keys' environment: small records with a checksum, as the store's own are.

use crate::crypt::key::CheckValue;
use crate::crypt::{KeyHandle, Scope};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Ticks;
use crate::store::meta::{self, Fields};

/// The version of the keys' environment and of the root key's file.
pub(super) const FORMAT: u32 = 2;

/// Where the environment's own record lies.
pub(super) const META: &[u8] = b"\0keys";

/// Where the store's authority lies.
pub(super) const AUTHORITY: &[u8] = b"a";

/// What later libraries may need; none is given out yet.
const KNOWN_FEATURES: u64 = 0;

const KEY: u8 = b'k';
const SCOPE: u8 = b's';
const JOB: u8 = b'j';

/// Seals a record under its key.
fn sealed(key: &[u8], mut body: Vec<u8>) -> Vec<u8> {
    body.extend_from_slice(&[0; meta::CHECKSUM]);
    meta::seal(key, &mut body);
    body
}

#[cold]
fn damaged() -> Error {
    Error::new(ErrorKind::Corrupt).because("a record of the store's keys is damaged; take them from a backup")
}

/// The environment's own record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meta {
    /// The store that the keys belong to.
    pub(super) identity: [u8; 16],
    /// Which root key all data keys lie under.
    pub(super) root: u64,
    /// Rises when a key that somebody may remember is no longer current or is no more.
    pub(super) generation: u64,
}

impl Meta {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(52);
        body.extend_from_slice(&FORMAT.to_le_bytes());
        body.extend_from_slice(&self.identity);
        body.extend_from_slice(&self.root.to_le_bytes());
        body.extend_from_slice(&self.generation.to_le_bytes());
        body.extend_from_slice(&KNOWN_FEATURES.to_le_bytes());
        sealed(META, body)
    }

    pub(super) fn decode(record: &[u8]) -> Result<Self> {
        let mut body = Fields(meta::opened(META, record).ok_or_else(damaged)?);
        let version = body.u32().ok_or_else(damaged)?;
        let read = |body: &mut Fields<'_>| {
            let meta = Self { identity: body.take()?, root: body.u64()?, generation: body.u64()? };
            let features = body.u64()?;
            body.0.is_empty().then_some((meta, features))
        };
        match (version, read(&mut body)) {
            (FORMAT, Some((meta, features))) if features & !KNOWN_FEATURES == 0 => Ok(meta),
            (FORMAT, None) => Err(damaged()),
            _ => Err(Error::new(ErrorKind::Incompatible)
                .because("the store's keys are of a newer format than this library reads")),
        }
    }
}

/// The store's authority, wrapped: the key of its digests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AuthorityRecord {
    pub(super) check: CheckValue,
    /// The key in an envelope under the root key.
    pub(super) wrapped: Vec<u8>,
}

impl AuthorityRecord {
    pub(super) fn encode(&self) -> Vec<u8> {
        sealed(AUTHORITY, [&self.check, &self.wrapped[..]].concat())
    }

    pub(super) fn decode(record: &[u8]) -> Result<Self> {
        let (check, wrapped) =
            meta::opened(AUTHORITY, record).and_then(|body| body.split_first_chunk()).ok_or_else(damaged)?;
        Ok(Self { check: *check, wrapped: wrapped.to_vec() })
    }
}

/// A data key, wrapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyRecord {
    /// The how-manieth of its scope it is, counted from 1.
    pub(super) version: u32,
    pub(super) made: Ticks,
    pub(super) check: CheckValue,
    pub(super) scope: Scope,
    /// The key in an envelope under the root key; `None` once it is destroyed.
    pub(super) wrapped: Option<Vec<u8>>,
}

pub(super) fn key_key(handle: KeyHandle) -> [u8; 9] {
    let mut key = [KEY; 9];
    if let Some(number) = key.last_chunk_mut() {
        *number = handle.0.to_be_bytes();
    }
    key
}

/// Where the keys begin and end.
pub(super) const KEYS: std::ops::Range<&[u8]> = b"k".as_slice()..b"l".as_slice();

pub(super) fn handle_of(key: &[u8]) -> Result<KeyHandle> {
    let number = key.strip_prefix(&[KEY]).and_then(|number| number.try_into().ok());
    number.map(|number| KeyHandle(u64::from_be_bytes(number))).ok_or_else(damaged)
}

const ALIVE: u8 = 1;
const DESTROYED: u8 = 2;

impl KeyRecord {
    pub(super) fn encode(&self, key: &[u8]) -> Vec<u8> {
        let scope = self.scope.as_bytes();
        let wrapped = self.wrapped.as_deref().unwrap_or_default();
        let mut body = Vec::with_capacity(64 + scope.len() + wrapped.len());
        body.push(if self.wrapped.is_some() { ALIVE } else { DESTROYED });
        body.extend_from_slice(&self.version.to_le_bytes());
        body.extend_from_slice(&self.made.get().to_le_bytes());
        body.extend_from_slice(&self.check);
        // A partition's key is far shorter than 64 KiB.
        body.extend_from_slice(&u16::try_from(scope.len()).unwrap_or(u16::MAX).to_le_bytes());
        body.extend_from_slice(scope);
        body.extend_from_slice(wrapped);
        sealed(key, body)
    }

    pub(super) fn decode(key: &[u8], record: &[u8]) -> Result<Self> {
        let read = || {
            let mut body = Fields(meta::opened(key, record)?);
            let [state] = body.take()?;
            let (version, made, check) = (body.u32()?, Ticks::new(body.u64()?)?, body.take()?);
            let length = usize::from(body.u16()?);
            let scope = Scope::from_bytes(body.bytes(length)?)?;
            let wrapped = match state {
                ALIVE => Some(body.0.to_vec()),
                DESTROYED if body.0.is_empty() => None,
                _ => return None,
            };
            Some(Self { version, made, check, scope, wrapped })
        };
        read().ok_or_else(damaged)
    }
}

/// A scope's keys that are alive, oldest first; the last one seals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ScopeRecord {
    /// The version of the latest key that the scope ever had.
    pub(super) latest: u32,
    pub(super) keys: Vec<(u32, KeyHandle)>,
}

pub(super) fn scope_key(scope: &[u8]) -> Vec<u8> {
    prefixed(SCOPE, scope)
}

/// Where the scopes begin and end.
pub(super) const SCOPES: std::ops::Range<&[u8]> = b"s".as_slice()..b"t".as_slice();

pub(super) fn scope_of(key: &[u8]) -> Result<Scope> {
    key.strip_prefix(&[SCOPE]).and_then(Scope::from_bytes).ok_or_else(damaged)
}

fn prefixed(tag: u8, rest: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(1 + rest.len());
    key.push(tag);
    key.extend_from_slice(rest);
    key
}

impl ScopeRecord {
    pub(super) fn encode(&self, key: &[u8]) -> Vec<u8> {
        let mut body = Vec::with_capacity(12 + 12 * self.keys.len());
        body.extend_from_slice(&self.latest.to_le_bytes());
        for (version, handle) in &self.keys {
            body.extend_from_slice(&version.to_le_bytes());
            body.extend_from_slice(&handle.0.to_le_bytes());
        }
        sealed(key, body)
    }

    pub(super) fn decode(key: &[u8], record: &[u8]) -> Result<Self> {
        let read = || {
            let mut body = Fields(meta::opened(key, record)?);
            let mut scope = Self { latest: body.u32()?, keys: Vec::with_capacity(body.0.len() / 12) };
            while !body.0.is_empty() {
                scope.keys.push((body.u32()?, KeyHandle(body.u64()?)));
            }
            Some(scope)
        };
        read().ok_or_else(damaged)
    }

    /// The key that seals.
    pub(super) fn current(&self) -> Option<KeyHandle> {
        self.keys.last().map(|(_, handle)| *handle)
    }
}

/// Where the progress of a job lies.
pub(super) fn job_key(job: &str) -> Vec<u8> {
    prefixed(JOB, job.as_bytes())
}

/// A text of a job's record.
fn text(body: &mut Fields<'_>) -> Option<String> {
    let length = usize::from(body.u16()?);
    std::str::from_utf8(body.bytes(length)?).ok().map(str::to_owned)
}

/// How far a job has come.
///
/// A job that goes over a table saves it after each of its transactions; one that was broken off goes on from
/// there, and does at most that transaction's work twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The keys of the last row that is done, in the table's order; `None` at the start.
    pub position: Option<(String, String)>,
    /// How many rows were looked at.
    pub seen: u64,
    /// How many values were changed.
    pub changed: u64,
    /// The [generation](crate::crypt::Encryption::generation) of the keys when the job began: after a further rotation
    /// what is done is to be done again.
    pub generation: u64,
}

impl Progress {
    pub(super) fn encode(&self, key: &[u8]) -> Vec<u8> {
        let mut body = Vec::new();
        body.extend_from_slice(&self.seen.to_le_bytes());
        body.extend_from_slice(&self.changed.to_le_bytes());
        body.extend_from_slice(&self.generation.to_le_bytes());
        body.push(u8::from(self.position.is_some()));
        for text in self.position.iter().flat_map(|(partition, row)| [partition, row]) {
            // Keys are far shorter than 64 KiB: who saves them has read them from a table.
            body.extend_from_slice(&u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
            body.extend_from_slice(text.as_bytes());
        }
        sealed(key, body)
    }

    pub(super) fn decode(key: &[u8], record: &[u8]) -> Result<Self> {
        let read = || {
            let mut body = Fields(meta::opened(key, record)?);
            let (seen, changed, generation) = (body.u64()?, body.u64()?, body.u64()?);
            let [positioned] = body.take()?;
            let position = match positioned {
                0 => None,
                _ => Some((text(&mut body)?, text(&mut body)?)),
            };
            body.0.is_empty().then_some(Self { position, seen, changed, generation })
        };
        read().ok_or_else(damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever is not the very record is refused.
    fn frozen<T: PartialEq + std::fmt::Debug>(value: &T, record: &[u8], decode: impl Fn(&[u8]) -> Result<T>) {
        assert_eq!(&decode(record).unwrap(), value);
        for bit in 0..record.len() * 8 {
            let mut flipped = record.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&flipped).is_err(), "bit {bit}");
        }
        for length in 0..record.len() {
            assert!(decode(&record[..length]).is_err(), "length {length}");
        }
    }

    #[test]
    fn records_survive_and_every_flipped_bit_is_seen() {
        let meta = Meta { identity: [7; 16], root: 0x1234, generation: 9 };
        frozen(&meta, &meta.encode(), Meta::decode);

        let authority = AuthorityRecord { check: [9; 32], wrapped: vec![5; 88] };
        frozen(&authority, &authority.encode(), AuthorityRecord::decode);

        let key = key_key(KeyHandle(0x0102));
        assert_eq!(handle_of(&key).unwrap(), KeyHandle(0x0102));
        assert!(KEYS.contains(&&key[..]));
        for wrapped in [None, Some(vec![5; 88])] {
            let scope = Scope::partition(3, "Sales").unwrap();
            let record = KeyRecord { version: 2, made: Ticks::UNIX_EPOCH, check: [9; 32], scope, wrapped };
            frozen(&record, &record.encode(&key), |bytes| KeyRecord::decode(&key, bytes));
        }

        let key = scope_key(Scope::table(3).as_bytes());
        assert_eq!(scope_of(&key).unwrap(), Scope::table(3));
        assert!(SCOPES.contains(&&key[..]));
        let scope = ScopeRecord { latest: 4, keys: vec![(3, KeyHandle(8)), (4, KeyHandle(9))] };
        assert_eq!(scope.current(), Some(KeyHandle(9)));
        frozen(&scope, &scope.encode(&key), |bytes| ScopeRecord::decode(&key, bytes));

        let key = job_key("re-encrypt Company");
        for position in [None, Some(("Sales".to_owned(), "empid_000001".to_owned()))] {
            let progress = Progress { position, seen: 5, changed: 3, generation: 7 };
            frozen(&progress, &progress.encode(&key), |bytes| Progress::decode(&key, bytes));
        }
    }
}
