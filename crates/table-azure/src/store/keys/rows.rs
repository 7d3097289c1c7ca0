//! The rows of the table of keys. They lie in one partition, so that those which belong together change together.

use std::time::Duration;

use table_engine::crypt::KeyHandle;
use table_engine::crypt::mac::MacKey;
use table_engine::{DynamicEntity, ETag, Error, ErrorKind, Result, Value};

use super::super::layouts::KEYS as TABLE;

/// The partition of all rows.
pub(super) const PARTITION: &str = "keys";
/// The row that tells the generation of the keys.
pub(super) const HEAD: &str = "head";
/// The row of the key of digests.
pub(super) const AUTHORITY: &str = "authority";
/// What the row keys of data keys begin with.
pub(super) const KEY: &str = "key_";
/// What the row keys of scopes begin with.
pub(super) const SCOPE: &str = "scope_";
/// What the row keys of root keys begin with.
pub(super) const ROOT: &str = "root_";

const IDENTITY: &str = "Identity";
const GENERATION: &str = "Generation";
const ROOT_NUMBER: &str = "Root";
const MOVING: &str = "Moving";
const LEASE: &str = "LeaseMs";
const PROVIDER: &str = "Provider";
const CHECK: &str = "Check";
const WRAPPED: &str = "Wrapped";
const VERSION: &str = "Version";
const MADE: &str = "Made";
const STATE: &str = "State";
const TABLE_ID: &str = "TableId";
const LATEST: &str = "Latest";
const CURRENT: &str = "Current";
const KEYS: &str = "Keys";
const MAC: &str = "Mac";

/// What the digests of scopes' records are for.
const SCOPE_LABEL: &str = "scope's keys";

/// What every process goes by, for the time of a lease.
#[derive(Clone, Debug)]
pub(super) struct Head {
    /// Tells the store from every other.
    pub(super) identity: [u8; 16],
    /// Rises whenever what processes remember of the keys may not be so any more.
    pub(super) generation: u64,
    /// The number of the root key that wraps new data keys.
    pub(super) root: u64,
    /// Whether some process may still go by the generation before.
    pub(super) is_moving: bool,
    /// For how long it is gone by.
    pub(super) lease: Duration,
    pub(super) etag: Option<ETag>,
}

impl Head {
    pub(super) fn read(row: &DynamicEntity) -> Result<Self> {
        let read = || {
            Some(Self {
                identity: bytes(row, IDENTITY)?.try_into().ok()?,
                generation: number(row, GENERATION)?.cast_unsigned(),
                root: number(row, ROOT_NUMBER)?.cast_unsigned(),
                is_moving: row.get(MOVING)?.as_bool()?,
                lease: Duration::from_millis(u64::try_from(number(row, LEASE)?).ok()?),
                etag: row.etag(),
            })
        };
        read().ok_or_else(|| damaged("the keys' state"))
    }

    pub(super) fn row(&self) -> DynamicEntity {
        DynamicEntity::new(PARTITION, HEAD)
            .with(IDENTITY, self.identity.to_vec())
            .with(GENERATION, self.generation.cast_signed())
            .with(ROOT_NUMBER, self.root.cast_signed())
            .with(MOVING, self.is_moving)
            .with(LEASE, i64::try_from(self.lease.as_millis()).unwrap_or(i64::MAX))
    }

    /// Returns what follows it when a key stops being current, comes or goes.
    pub(super) fn next(&self) -> Self {
        Self { generation: self.generation.wrapping_add(1), is_moving: true, ..self.clone() }
    }
}

/// A root key as it is kept.
#[derive(Clone, Debug)]
pub(super) struct RootRow {
    pub(super) number: u64,
    /// The provider's key that wraps it.
    pub(super) provider: String,
    pub(super) check: Vec<u8>,
    pub(super) wrapped: Vec<u8>,
}

impl RootRow {
    /// Returns the row key of the root key of this number.
    pub(super) fn key(number: u64) -> String {
        format!("{ROOT}{number:016x}")
    }

    pub(super) fn read(row: &DynamicEntity) -> Result<Self> {
        let read = || {
            Some(Self {
                number: hex_number(row.row_key(), ROOT)?,
                provider: row.get(PROVIDER)?.as_str()?.to_owned(),
                check: bytes(row, CHECK)?.to_vec(),
                wrapped: bytes(row, WRAPPED)?.to_vec(),
            })
        };
        read().ok_or_else(|| damaged("a root key"))
    }

    pub(super) fn row(&self) -> DynamicEntity {
        DynamicEntity::new(PARTITION, Self::key(self.number))
            .with(PROVIDER, &*self.provider)
            .with(CHECK, self.check.clone())
            .with(WRAPPED, self.wrapped.clone())
    }
}

/// The key of digests as it is kept.
#[derive(Clone, Debug)]
pub(super) struct AuthorityRow {
    /// The number of the root key that wraps it.
    pub(super) root: u64,
    pub(super) check: Vec<u8>,
    pub(super) wrapped: Vec<u8>,
    pub(super) etag: Option<ETag>,
}

impl AuthorityRow {
    pub(super) fn read(row: &DynamicEntity) -> Result<Self> {
        let read = || {
            Some(Self {
                root: number(row, ROOT_NUMBER)?.cast_unsigned(),
                check: bytes(row, CHECK)?.to_vec(),
                wrapped: bytes(row, WRAPPED)?.to_vec(),
                etag: row.etag(),
            })
        };
        read().ok_or_else(|| damaged("the key of digests"))
    }

    pub(super) fn row(&self) -> DynamicEntity {
        DynamicEntity::new(PARTITION, AUTHORITY)
            .with(ROOT_NUMBER, self.root.cast_signed())
            .with(CHECK, self.check.clone())
            .with(WRAPPED, self.wrapped.clone())
    }
}

/// What has become of a data key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It opens what it sealed.
    Alive,
    /// It was destroyed with its scope.
    Shredded,
    /// It was destroyed when nothing was left under it.
    Superseded,
}

/// A data key as it is kept, or the note that it was destroyed.
#[derive(Clone, Debug)]
pub(super) struct KeyRow {
    pub(super) handle: KeyHandle,
    /// Its number among the keys of its scope, counted from 1.
    pub(super) version: u32,
    pub(super) made: i64,
    pub(super) state: State,
    /// The number of the root key that wraps it.
    pub(super) root: u64,
    pub(super) check: Vec<u8>,
    /// The key and its scope; nothing of one that was destroyed.
    pub(super) wrapped: Vec<u8>,
    pub(super) etag: Option<ETag>,
}

impl KeyRow {
    /// Returns the row key of the data key of this name.
    pub(super) fn key(handle: KeyHandle) -> String {
        format!("{KEY}{:016x}", handle.0)
    }

    pub(super) fn read(row: &DynamicEntity) -> Result<Self> {
        let read = || {
            let state = match number(row, STATE)? {
                1 => State::Alive,
                2 => State::Shredded,
                3 => State::Superseded,
                _ => return None,
            };
            let kept = |name| bytes(row, name).map(<[u8]>::to_vec);
            let is_alive = state == State::Alive;
            Some(Self {
                handle: KeyHandle(hex_number(row.row_key(), KEY)?),
                version: u32::try_from(number(row, VERSION)?).ok()?,
                made: number(row, MADE)?,
                state,
                root: number(row, ROOT_NUMBER)?.cast_unsigned(),
                check: kept(CHECK).or_else(|| (!is_alive).then(Vec::new))?,
                wrapped: kept(WRAPPED).or_else(|| (!is_alive).then(Vec::new))?,
                etag: row.etag(),
            })
        };
        read().ok_or_else(|| damaged(&format!("the key `{}`", row.row_key().escape_debug())))
    }

    pub(super) fn row(&self) -> DynamicEntity {
        let state: i64 = match self.state {
            State::Alive => 1,
            State::Shredded => 2,
            State::Superseded => 3,
        };
        let row = DynamicEntity::new(PARTITION, Self::key(self.handle))
            .with(VERSION, i64::from(self.version))
            .with(MADE, self.made)
            .with(STATE, state)
            .with(ROOT_NUMBER, self.root.cast_signed());
        if self.state != State::Alive {
            return row;
        }
        row.with(CHECK, self.check.clone()).with(WRAPPED, self.wrapped.clone())
    }

    /// Returns the note that a key was destroyed.
    pub(super) fn destroyed(handle: KeyHandle, version: u32, state: State) -> Self {
        Self { handle, version, made: 0, state, root: 0, check: Vec::new(), wrapped: Vec::new(), etag: None }
    }

    /// Returns the bytes that the envelope of the key is bound to.
    pub(super) fn binding(&self, identity: &[u8; 16]) -> Vec<u8> {
        let Self { handle, version, made, check, .. } = self;
        let head = [&identity[..], &handle.0.to_le_bytes(), &version.to_le_bytes(), &made.to_le_bytes()];
        [&head.concat()[..], check].concat()
    }
}

/// A scope's living keys, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct ScopeRow {
    /// The digest that stands for the scope: without the key of digests it says nothing.
    pub(super) tag: [u8; 16],
    /// The number of the table that the scope is of; 0 of the store's.
    pub(super) table: u32,
    /// The version of the latest key that the scope ever had.
    pub(super) latest: u32,
    /// The version of the key that seals; 0 if there is none.
    pub(super) current: u32,
    pub(super) keys: Vec<(u32, KeyHandle)>,
    pub(super) etag: Option<ETag>,
}

impl ScopeRow {
    /// Returns the row key of a scope.
    pub(super) fn key(tag: &[u8; 16]) -> String {
        format!("{SCOPE}{:032x}", u128::from_be_bytes(*tag))
    }

    /// Reads a record. What was changed without the keys is refused.
    pub(super) fn read(authenticator: &MacKey, row: &DynamicEntity) -> Result<Self> {
        let small = |name: &str| u32::try_from(number(row, name)?).ok();
        let pair = |pair: &str| {
            let (version, handle) = pair.split_once(':')?;
            Some((version.parse().ok()?, KeyHandle(u64::from_str_radix(handle, 16).ok()?)))
        };
        let read = || {
            let tag = row.row_key().strip_prefix(SCOPE).filter(|tag| tag.len() == 32)?;
            let keys = row.get(KEYS)?.as_str()?;
            let scope = Self {
                tag: u128::from_str_radix(tag, 16).ok()?.to_be_bytes(),
                table: small(TABLE_ID)?,
                latest: small(LATEST)?,
                current: small(CURRENT)?,
                keys: keys.split_whitespace().map(pair).collect::<Option<_>>()?,
                etag: row.etag(),
            };
            Some((scope, <[u8; 16]>::try_from(bytes(row, MAC)?).ok()?))
        };
        let (scope, mac) = read().ok_or_else(|| damaged("the keys of a scope"))?;
        if scope.fits(authenticator, &mac) {
            return Ok(scope);
        }
        let because = "the record of a scope's keys was changed by somebody who has not the store's keys";
        Err(Error::new(ErrorKind::DecryptionFailed).because(because))
    }

    pub(super) fn row(&self, authenticator: &MacKey) -> DynamicEntity {
        let keys: Vec<_> =
            self.keys.iter().map(|(version, handle)| format!("{version}:{:016x}", handle.0)).collect();
        let mac: [u8; 16] = authenticator.digest(SCOPE_LABEL, &[&self.tag, &self.said()]);
        DynamicEntity::new(PARTITION, Self::key(&self.tag))
            .with(TABLE_ID, i64::from(self.table))
            .with(LATEST, i64::from(self.latest))
            .with(CURRENT, i64::from(self.current))
            .with(KEYS, keys.join(" "))
            .with(MAC, mac.to_vec())
    }

    /// Returns what its digest is over: without the key of digests no other key can be made the scope's.
    fn said(&self) -> Vec<u8> {
        let head = [self.table, self.latest, self.current].map(u32::to_le_bytes);
        let keys = self
            .keys
            .iter()
            .flat_map(|(version, handle)| version.to_le_bytes().into_iter().chain(handle.0.to_le_bytes()));
        head.into_iter().flatten().chain(keys).collect()
    }

    fn fits(&self, authenticator: &MacKey, mac: &[u8; 16]) -> bool {
        authenticator.fits(SCOPE_LABEL, &[&self.tag, &self.said()], mac)
    }

    /// Returns the key that seals.
    pub(super) fn sealing(&self) -> Option<KeyHandle> {
        self.keys.iter().find(|(version, _)| *version == self.current).map(|(_, handle)| *handle)
    }

    /// Returns the key that is made known, and is to seal when every process knows it.
    pub(super) fn coming(&self) -> Option<(u32, KeyHandle)> {
        self.keys.last().copied().filter(|(version, _)| self.current > 0 && *version > self.current)
    }
}

fn bytes<'r>(row: &'r DynamicEntity, property: &str) -> Option<&'r [u8]> {
    row.get(property)?.as_bytes()
}

fn number(row: &DynamicEntity, property: &str) -> Option<i64> {
    row.get(property).and_then(Value::as_i64)
}

fn hex_number(key: &str, prefix: &str) -> Option<u64> {
    u64::from_str_radix(key.strip_prefix(prefix).filter(|number| number.len() == 16)?, 16).ok()
}

#[cold]
pub(super) fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::Corrupt)
        .because(format!("the record of {what} in the table `{TABLE}` can't be read"))
}
