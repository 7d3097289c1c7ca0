//! The records of the keys' environment: small records with a checksum, as the store's own are.

use table_engine::crypt::KeyHandle;
use table_engine::crypt::key::CheckValue;
use table_engine::crypt::mac::MacKey;
use table_engine::error::{Error, ErrorKind, Result};
use table_engine::fields::Fields;
use table_engine::model::Ticks;

use super::progress;
use crate::records::meta::{self, checksum_of, sealed};

/// The version of the keys' environment and of the root key's file.
pub(super) const FORMAT: u32 = 2;

/// The key of the environment's own record. No key sorts before it.
pub(super) const META: &[u8] = b"\0keys";

/// The key of the store's MAC key.
pub(super) const AUTHORITY: &[u8] = b"a";

/// The feature of keys that are new.
const NEW: u64 = 1;

/// Bits that this library knows; later ones may need others.
const KNOWN_FEATURES: u64 = NEW;

const KEY: u8 = b'k';
const SCOPE: u8 = b's';
const JOB: u8 = b'j';

#[cold]
pub(super) fn damaged() -> Error {
    Error::new(ErrorKind::Corrupt).because("a record of the store's keys is damaged; take them from a backup")
}

/// The number of records of each sort beside the environment's own and the MAC key, and the sum of all their checksums,
/// modulo 2^64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RecordCounts {
    pub(super) keys: u64,
    pub(super) scopes: u64,
    pub(super) jobs: u64,
    pub(super) digest: u64,
}

impl RecordCounts {
    pub(super) fn add(&mut self, key: &[u8], record: &[u8]) {
        self.count(key, |count| count.wrapping_add(1));
        self.digest = self.digest.wrapping_add(checksum_of(record));
    }

    pub(super) fn remove(&mut self, key: &[u8], record: &[u8]) {
        self.count(key, |count| count.wrapping_sub(1));
        self.digest = self.digest.wrapping_sub(checksum_of(record));
    }

    fn count(&mut self, key: &[u8], change: impl Fn(u64) -> u64) {
        let count = match key.first() {
            Some(&KEY) => &mut self.keys,
            Some(&SCOPE) => &mut self.scopes,
            Some(&JOB) => &mut self.jobs,
            _ => return,
        };
        *count = change(*count);
    }

    /// Returns the number of records.
    pub(super) fn records(&self) -> u64 {
        self.keys.wrapping_add(self.scopes).wrapping_add(self.jobs)
    }
}

/// The environment's own record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meta {
    /// The store that the keys belong to.
    pub(super) identity: [u8; 16],
    /// The root key that wraps all data keys.
    pub(super) root: u64,
    /// Rises when a key that a process may remember is no longer current, or is destroyed.
    pub(super) generation: u64,
    /// Whether the store's data may not say yet that it has keys. Then no other process has used them.
    pub(super) is_new: bool,
    /// The number of the transaction that wrote it, which is that of the newest commit: every one writes it.
    pub(super) transaction: u64,
    pub(super) set_digest: RecordCounts,
}

impl Meta {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(92);
        body.extend_from_slice(&FORMAT.to_le_bytes());
        body.extend_from_slice(&self.identity);
        let RecordCounts { keys, scopes, jobs, digest } = self.set_digest;
        let features = if self.is_new { NEW } else { 0 };
        for number in [self.root, self.generation, features, self.transaction, keys, scopes, jobs, digest] {
            body.extend_from_slice(&number.to_le_bytes());
        }
        sealed(META, body)
    }

    /// Returns the number of the transaction that wrote a record, if it is sound.
    pub(super) fn number_of(record: &[u8]) -> Option<u64> {
        Self::decode(record).ok().map(|meta| meta.transaction)
    }

    pub(super) fn decode(record: &[u8]) -> Result<Self> {
        let mut body = Fields(meta::opened(META, record).ok_or_else(damaged)?);
        let version = body.u32().ok_or_else(damaged)?;
        let read = |body: &mut Fields<'_>| {
            let (identity, root, generation) = (body.take()?, body.u64()?, body.u64()?);
            let (features, transaction) = (body.u64()?, body.u64()?);
            let set_digest = RecordCounts {
                keys: body.u64()?,
                scopes: body.u64()?,
                jobs: body.u64()?,
                digest: body.u64()?,
            };
            let is_new = features & NEW != 0;
            let meta = Self { identity, root, generation, is_new, transaction, set_digest };
            body.0.is_empty().then_some((meta, features))
        };
        match (version, read(&mut body)) {
            (FORMAT, Some((meta, features))) if features & !KNOWN_FEATURES == 0 => Ok(meta),
            (FORMAT, None) => Err(damaged()),
            _ => Err(Error::new(ErrorKind::Incompatible)
                .because("the store's keys are of another format than this library reads")),
        }
    }
}

/// The store's MAC key, wrapped: the key of its digests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MacKeyRecord {
    pub(super) check: CheckValue,
    /// The key in an envelope under the root key.
    pub(super) wrapped: Vec<u8>,
}

impl MacKeyRecord {
    pub(super) fn encode(&self) -> Vec<u8> {
        sealed(AUTHORITY, [&self.check, &self.wrapped[..]].concat())
    }

    pub(super) fn decode(record: &[u8]) -> Result<Self> {
        let (check, wrapped) =
            meta::opened(AUTHORITY, record).and_then(|body| body.split_first_chunk()).ok_or_else(damaged)?;
        Ok(Self { check: *check, wrapped: wrapped.to_vec() })
    }
}

/// A data key: wrapped, or the note that it was destroyed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyRecord {
    /// Its number among the keys of its scope, counted from 1.
    pub(super) version: u32,
    pub(super) made: Ticks,
    pub(super) state: State,
}

/// The state of a data key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    Alive {
        check: CheckValue,
        /// The key and its scope in an envelope under the root key. Once that is gone, nothing shows the scope.
        wrapped: Vec<u8>,
    },
    /// It was destroyed together with its scope, and what it sealed can't be opened any more.
    Shredded,
    /// It was destroyed when nothing was left under it.
    Superseded,
}

pub(super) fn key_key(handle: KeyHandle) -> [u8; 9] {
    let mut key = [KEY; 9];
    if let Some(number) = key.last_chunk_mut() {
        *number = handle.0.to_be_bytes();
    }
    key
}

/// Returns whether a record is a scope's, by its key.
pub(super) fn is_scope(key: &[u8]) -> bool {
    key.first() == Some(&SCOPE)
}

/// Returns whether a record is a data key's, by its key.
pub(super) fn is_key(key: &[u8]) -> bool {
    key.first() == Some(&KEY)
}

pub(super) fn handle_of(key: &[u8]) -> Result<KeyHandle> {
    let number = key.strip_prefix(&[KEY]).and_then(|number| number.try_into().ok());
    number.map(|number| KeyHandle(u64::from_be_bytes(number))).ok_or_else(damaged)
}

const ALIVE: u8 = 1;
const SHREDDED: u8 = 2;
const SUPERSEDED: u8 = 3;

impl KeyRecord {
    /// Returns the bytes before the envelope, which is bound to them.
    pub(super) fn head(&self) -> Vec<u8> {
        let (state, check) = match &self.state {
            State::Alive { check, .. } => (ALIVE, &check[..]),
            State::Shredded => (SHREDDED, &[][..]),
            State::Superseded => (SUPERSEDED, &[][..]),
        };
        let mut head = Vec::with_capacity(256);
        head.push(state);
        head.extend_from_slice(&self.version.to_le_bytes());
        head.extend_from_slice(&self.made.get().to_le_bytes());
        head.extend_from_slice(check);
        head
    }

    pub(super) fn encode(&self, key: &[u8]) -> Vec<u8> {
        let mut body = self.head();
        if let State::Alive { wrapped, .. } = &self.state {
            body.extend_from_slice(wrapped);
        }
        sealed(key, body)
    }

    pub(super) fn decode(key: &[u8], record: &[u8]) -> Result<Self> {
        let read = || {
            let mut body = Fields(meta::opened(key, record)?);
            let [state] = body.take()?;
            let (version, made) = (body.u32()?, Ticks::new(body.u64()?)?);
            let state = match state {
                ALIVE => State::Alive { check: body.take()?, wrapped: body.0.to_vec() },
                SHREDDED if body.0.is_empty() => State::Shredded,
                SUPERSEDED if body.0.is_empty() => State::Superseded,
                _ => return None,
            };
            Some(Self { version, made, state })
        };
        read().ok_or_else(damaged)
    }

    pub(super) fn is_alive(&self) -> bool {
        matches!(self.state, State::Alive { .. })
    }
}

/// A scope's living keys, oldest first; the last one seals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ScopeRecord {
    /// The version of the latest key that the scope ever had.
    pub(super) latest: u32,
    pub(super) keys: Vec<(u32, KeyHandle)>,
}

/// Returns the key of a scope's record. Without the MAC key it says nothing.
pub(super) fn scope_key(authenticator: &MacKey, scope: &[u8]) -> [u8; 17] {
    let mut key = [SCOPE; 17];
    if let Some(tag) = key.last_chunk_mut::<16>() {
        *tag = authenticator.digest("scope", &[scope]);
    }
    key
}

/// Bytes of the MAC that a scope's record ends with.
const SCOPE_MAC: usize = 16;

impl ScopeRecord {
    /// Returns the record with its MAC: without the MAC key no other key can be made the scope's.
    pub(super) fn encode(&self, authenticator: &MacKey, key: &[u8]) -> Vec<u8> {
        let mut body = Vec::with_capacity(12 + 12 * self.keys.len() + SCOPE_MAC);
        body.extend_from_slice(&self.latest.to_le_bytes());
        for (version, handle) in &self.keys {
            body.extend_from_slice(&version.to_le_bytes());
            body.extend_from_slice(&handle.0.to_le_bytes());
        }
        let record_mac: [u8; SCOPE_MAC] = authenticator.digest("scope's keys", &[key, &body]);
        body.extend_from_slice(&record_mac);
        sealed(key, body)
    }

    pub(super) fn decode(authenticator: &MacKey, key: &[u8], record: &[u8]) -> Result<Self> {
        let (fields, record_mac) =
            meta::opened(key, record).and_then(|body| body.split_last_chunk()).ok_or_else(damaged)?;
        if !authenticator.fits::<SCOPE_MAC>("scope's keys", &[key, fields], record_mac) {
            return Err(Error::new(ErrorKind::DecryptionFailed).because(
                "the record of a scope's keys was changed by somebody who has not the store's keys",
            ));
        }
        Self::parse(fields).ok_or_else(damaged)
    }

    /// Reads the part of a scope's record that stands before the MAC.
    pub(super) fn parse(fields: &[u8]) -> Option<Self> {
        let mut fields = Fields(fields);
        let mut scope = Self { latest: fields.u32()?, keys: Vec::with_capacity(fields.0.len() / 12) };
        while !fields.0.is_empty() {
            scope.keys.push((fields.u32()?, KeyHandle(fields.u64()?)));
        }
        Some(scope)
    }

    /// Returns the key that seals.
    pub(super) fn current(&self) -> Option<KeyHandle> {
        self.keys.last().map(|(_, handle)| *handle)
    }
}

/// Returns the key of a job's progress.
pub(super) fn job_key(job: &str) -> Vec<u8> {
    [&[JOB], job.as_bytes()].concat()
}

/// Returns the fault of a record by itself; `None` if it has none. The MAC key alone can tell whether a scope's record
/// was written with the store's keys.
pub(super) fn flaw(authenticator: Option<&MacKey>, key: &[u8], record: &[u8]) -> Option<Error> {
    let found = match key.first() {
        Some(&KEY) => handle_of(key).and_then(|_| KeyRecord::decode(key, record)).map(drop),
        Some(&SCOPE) => match authenticator {
            Some(authenticator) => ScopeRecord::decode(authenticator, key, record).map(drop),
            None => meta::opened(key, record).map(drop).ok_or_else(damaged),
        },
        Some(&JOB) => progress::decode(key, record).map(drop),
        _ if key == META => Meta::decode(record).map(drop),
        _ if key == AUTHORITY => MacKeyRecord::decode(record).map(drop),
        _ => meta::opened(key, record).map(drop).ok_or_else(damaged),
    };
    found.err()
}

#[cfg(test)]
mod tests;
