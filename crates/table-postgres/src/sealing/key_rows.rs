//! The rows of the keys' tables: what they say, and the statements that read them.

use table_engine::__executor as executor;
use table_engine::crypt::KeyHandle;
use table_engine::crypt::mac::MacKey;
use table_engine::{Error, ErrorKind, Result};
use tokio_postgres::Row;

use super::root::WrappedMacKey;
use crate::catalog::{Catalog, column};
use crate::connection::Call;
use crate::error::damaged;
use crate::param::{Param, Params};

/// The names of the tables.
#[derive(Debug)]
pub(crate) struct KeyTables {
    pub(super) vault: String,
    pub(super) keys: String,
    pub(super) scopes: String,
}

impl KeyTables {
    pub(super) fn new(catalog: &Catalog) -> Self {
        let table = |name| catalog.table(name);
        Self { vault: table("_vault"), keys: table("_keys"), scopes: table("_key_scopes") }
    }

    /// Returns the statement that reads the generation of the keys.
    pub(super) fn generation(&self) -> Call {
        Call { sql: format!("SELECT generation FROM {}", self.vault), params: Params::default() }
    }

    /// Returns the statement that reads the row of the keys as a whole.
    pub(super) fn vault(&self) -> Call {
        let sql = format!(
            "SELECT generation, root, provider_key, root_check, root_wrapped, mac_check, mac_wrapped FROM {}",
            self.vault
        );
        Call { sql, params: Params::default() }
    }

    /// Returns the statement that reads a key.
    pub(super) fn key(&self, handle: KeyHandle) -> Call {
        let mut params = Params::default();
        let handle = params.add(Param::Number(handle.0.cast_signed()));
        let sql = format!(
            "SELECT v.generation, v.root, {KEY} FROM {} AS v LEFT JOIN {} AS k ON k.handle = {handle}",
            self.vault, self.keys
        );
        Call { sql, params }
    }

    /// Returns the statement that reads the record of a scope, by its digest, and its living keys.
    pub(super) fn scope(&self, tag: &[u8; 16]) -> Call {
        let mut params = Params::default();
        let tag = params.add(Param::Bytes(tag.to_vec()));
        let sql = format!(
            "SELECT v.generation, v.root, {KEY}, {SCOPE} FROM {} AS v LEFT JOIN {} AS s ON s.scope = {tag}
             LEFT JOIN {} AS k ON k.handle = ANY (s.handles)",
            self.vault, self.scopes, self.keys
        );
        Call { sql, params }
    }

    /// Returns the statement that reads the records of the scopes of a table's partitions, and of the table itself.
    pub(super) fn scopes_of(&self, table: u32) -> Call {
        let mut params = Params::default();
        let table = params.add(Param::Number(table.into()));
        Call { sql: format!("SELECT {SCOPE} FROM {} AS s WHERE s.table_id = {table}", self.scopes), params }
    }

    /// Returns the statement that reads all living keys.
    pub(super) fn alive(&self) -> Call {
        let sql = format!("SELECT {KEY} FROM {} AS k WHERE k.state = {ALIVE} ORDER BY k.handle", self.keys);
        Call { sql, params: Params::default() }
    }

    /// Returns the statement that reads the records of all scopes.
    pub(super) fn all_scopes(&self) -> Call {
        Call { sql: format!("SELECT {SCOPE} FROM {} AS s", self.scopes), params: Params::default() }
    }
}

const KEY: &str = "k.handle, k.version, k.made, k.state, k.key_check, k.wrapped";
/// How many columns that are.
pub(super) const KEY_COLUMNS: usize = 6;
const SCOPE: &str = "s.scope, s.table_id, s.latest, s.versions, s.handles, s.mac";

/// The row of a store's keys.
#[derive(Debug)]
pub(super) struct VaultRow {
    pub(super) generation: u64,
    pub(super) root: i64,
    pub(super) provider_key: String,
    pub(super) root_check: Vec<u8>,
    pub(super) root_wrapped: Vec<u8>,
    mac_check: Vec<u8>,
    mac_wrapped: Vec<u8>,
}

impl VaultRow {
    pub(super) fn read(row: &Row) -> Result<Self> {
        Ok(Self {
            generation: column::<i64>(row, 0)?.cast_unsigned(),
            root: column(row, 1)?,
            provider_key: column(row, 2)?,
            root_check: column(row, 3)?,
            root_wrapped: column(row, 4)?,
            mac_check: column(row, 5)?,
            mac_wrapped: column(row, 6)?,
        })
    }

    pub(super) fn mac_key(&self) -> WrappedMacKey {
        WrappedMacKey { check: self.mac_check.clone(), wrapped: self.mac_wrapped.clone() }
    }
}

pub(super) const ALIVE: i16 = 1;
pub(super) const SHREDDED: i16 = 2;
pub(super) const SUPERSEDED: i16 = 3;

/// A data key: wrapped, or the note that it was destroyed.
#[derive(Clone, Debug)]
pub(super) struct KeyRow {
    pub(super) handle: KeyHandle,
    /// Its number among the keys of its scope, counted from 1.
    pub(super) version: u32,
    pub(super) made: i64,
    pub(super) state: i16,
    pub(super) check: Vec<u8>,
    /// The key and its scope in an envelope under the root key. Once that is gone, nothing shows the scope.
    pub(super) wrapped: Vec<u8>,
}

impl KeyRow {
    /// Reads a key from the columns from this one on; `None` if they are empty.
    pub(super) fn read(row: &Row, at: usize) -> Result<Option<Self>> {
        let Some(handle) = column::<Option<i64>>(row, at)? else { return Ok(None) };
        let version = u32::try_from(column::<i64>(row, at + 1)?).map_err(|_| damaged(KEYS))?;
        Ok(Some(Self {
            handle: KeyHandle(handle.cast_unsigned()),
            version,
            made: column(row, at + 2)?,
            state: column(row, at + 3)?,
            check: column::<Option<_>>(row, at + 4)?.unwrap_or_default(),
            wrapped: column::<Option<_>>(row, at + 5)?.unwrap_or_default(),
        }))
    }

    /// Returns the bytes that the envelope is bound to.
    pub(super) fn binding(&self, identity: &[u8; 16]) -> Vec<u8> {
        let mut bytes = identity.to_vec();
        bytes.extend_from_slice(&self.handle.0.to_le_bytes());
        bytes.extend_from_slice(&self.version.to_le_bytes());
        bytes.extend_from_slice(&self.made.to_le_bytes());
        bytes.extend_from_slice(&self.check);
        bytes
    }
}

/// What records of the keys are called in errors.
pub(super) const KEYS: &str = "a record of the store's keys";

/// A scope's living keys, oldest first; the last one seals.
#[derive(Clone, Debug, Default)]
pub(super) struct ScopeRow {
    /// The number of the table that the scope is of; 0 of the store's.
    pub(super) table: u32,
    /// The version of the latest key that the scope ever had.
    pub(super) latest: u32,
    pub(super) keys: Vec<(u32, KeyHandle)>,
}

/// Returns the digest that stands for a scope. Without the key of digests it says nothing.
pub(super) fn tag_of(authenticator: &MacKey, scope: &[u8]) -> [u8; 16] {
    authenticator.digest("scope", &[scope])
}

impl ScopeRow {
    /// Reads a record from the columns from this one on, and the digest of its scope; `None` if they are empty. What was changed
    /// without the keys is refused.
    pub(super) fn read(authenticator: &MacKey, row: &Row, at: usize) -> Result<Option<([u8; 16], Self)>> {
        let Some(tag) = column::<Option<Vec<u8>>>(row, at)? else { return Ok(None) };
        let number = |number: i64| u32::try_from(number).map_err(|_| damaged(KEYS));
        let (table, latest) = (number(column(row, at + 1)?)?, number(column(row, at + 2)?)?);
        let versions: Vec<i64> = column(row, at + 3)?;
        let handles: Vec<i64> = column(row, at + 4)?;
        let keys = versions
            .iter()
            .zip(&handles)
            .map(|(version, handle)| Ok::<_, Error>((number(*version)?, KeyHandle(handle.cast_unsigned()))));
        let scope = Self { table, latest, keys: keys.collect::<Result<_>>()? };
        let tag: [u8; 16] = tag.try_into().map_err(|_| damaged(KEYS))?;
        let mac: [u8; 16] = column::<Vec<u8>>(row, at + 5)?.try_into().map_err(|_| damaged(KEYS))?;
        if versions.len() != handles.len() || scope.mac(authenticator, &tag) != mac {
            let because = "the record of a scope's keys was changed by somebody who has not the store's keys";
            return Err(executor::error(ErrorKind::DecryptionFailed, because));
        }
        Ok(Some((tag, scope)))
    }

    /// Returns the digest of the record: without the key of digests no other key can be made the scope's.
    pub(super) fn mac(&self, authenticator: &MacKey, tag: &[u8; 16]) -> [u8; 16] {
        let mut bytes = self.table.to_le_bytes().to_vec();
        bytes.extend_from_slice(&self.latest.to_le_bytes());
        for (version, handle) in &self.keys {
            bytes.extend_from_slice(&version.to_le_bytes());
            bytes.extend_from_slice(&handle.0.to_le_bytes());
        }
        authenticator.digest("scope's keys", &[tag, &bytes])
    }

    /// Returns the key that seals.
    pub(super) fn current(&self) -> Option<KeyHandle> {
        self.keys.last().map(|(_, handle)| *handle)
    }
}
