//! The records of keys, as rows.

use std::fmt::Write as _;
use std::sync::Arc;

use table_engine::crypt::KeyHandle;
use table_engine::crypt::key::CheckValue;
use table_engine::{DynamicEntity, Error, ErrorKind, Result, Value};

use super::super::explain;
use super::super::layouts::KEYS as TABLE;
use super::super::planned::body;
use crate::client::{Client, Operation, Outcome};

/// The partition and the row of the root key.
const ROOT: &str = "root";
/// The partition of data keys, by their handles.
const KEYS: &str = "key";
/// The partition of scopes, by digests of them.
const SCOPES: &str = "scope";

const IDENTITY: &str = "Identity";
const PROVIDER: &str = "Provider";
const CHECK: &str = "Check";
const WRAPPED: &str = "Wrapped";
const HANDLE: &str = "Handle";

/// The root key as it is kept.
#[derive(Clone)]
pub(super) struct RootRecord {
    /// Tells the store from every other.
    pub(super) identity: [u8; 16],
    /// The provider's key that wraps it.
    pub(super) provider: String,
    pub(super) check: CheckValue,
    pub(super) wrapped: Vec<u8>,
}

/// A data key as it is kept.
pub(super) struct KeyRecord {
    pub(super) check: CheckValue,
    /// The key and its scope, under the root key.
    pub(super) wrapped: Vec<u8>,
}

/// The table of keys.
pub(super) struct Records {
    pub(super) client: Arc<Client>,
    pub(super) table: String,
}

impl Records {
    async fn row(&self, partition: &str, row: &str) -> Result<Option<DynamicEntity>> {
        match self.client.entity(&self.table, partition, row).await.map_err(explain::unread) {
            // It is made with the first key.
            Err(error) if error.kind() == ErrorKind::TableNotFound => Ok(None),
            found => found,
        }
    }

    /// Puts a row where none is; returns whether none was, as far as is known: another answer may have been lost.
    async fn insert(&self, row: &DynamicEntity) -> Result<bool> {
        let operation = [Operation::insert(row.row_key(), body(row)?)];
        match self
            .client
            .execute(&self.table, row.partition_key(), &operation)
            .await
            .map_err(explain::unwritten)?
        {
            Outcome::Done(_) => Ok(true),
            Outcome::Refused { refusal, .. } if refusal.code == "TableNotFound" => {
                match self.client.create_table(&self.table).await.map_err(explain::unwritten) {
                    // Another program may have made it meanwhile.
                    Err(error) if error.kind() != ErrorKind::TableAlreadyExists => Err(error),
                    _ => Ok(false),
                }
            }
            Outcome::Refused { refusal, .. } if refusal.status == 409 => Ok(false),
            Outcome::Refused { refusal, .. } => Err(explain::refused(&refusal)),
        }
    }

    /// Returns the root key.
    pub(super) async fn root(&self) -> Result<Option<RootRecord>> {
        let Some(row) = self.row(ROOT, ROOT).await? else { return Ok(None) };
        let read = || {
            Some(RootRecord {
                identity: bytes(&row, IDENTITY)?.try_into().ok()?,
                provider: row.get(PROVIDER)?.as_str()?.to_owned(),
                check: bytes(&row, CHECK)?.try_into().ok()?,
                wrapped: bytes(&row, WRAPPED)?.to_vec(),
            })
        };
        read().map(Some).ok_or_else(|| damaged("the root key"))
    }

    pub(super) async fn insert_root(&self, root: &RootRecord) -> Result<bool> {
        let row = DynamicEntity::new(ROOT, ROOT)
            .with(IDENTITY, root.identity.to_vec())
            .with(PROVIDER, &*root.provider)
            .with(CHECK, root.check.to_vec())
            .with(WRAPPED, root.wrapped.clone());
        self.insert(&row).await
    }

    /// Returns a data key.
    pub(super) async fn key(&self, handle: KeyHandle) -> Result<Option<KeyRecord>> {
        let Some(row) = self.row(KEYS, &handle.to_string()).await? else { return Ok(None) };
        let read = || {
            let check = bytes(&row, CHECK)?.try_into().ok()?;
            Some(KeyRecord { check, wrapped: bytes(&row, WRAPPED)?.to_vec() })
        };
        read().map(Some).ok_or_else(|| damaged(&format!("the data key {handle}")))
    }

    pub(super) async fn insert_key(&self, handle: KeyHandle, record: &KeyRecord) -> Result<bool> {
        let row = DynamicEntity::new(KEYS, handle.to_string())
            .with(CHECK, record.check.to_vec())
            .with(WRAPPED, record.wrapped.clone());
        self.insert(&row).await
    }

    /// Returns the key of the scope with this digest.
    pub(super) async fn scope(&self, digest: &[u8]) -> Result<Option<KeyHandle>> {
        let Some(row) = self.row(SCOPES, &hex(digest)).await? else { return Ok(None) };
        let handle = row.get(HANDLE).and_then(Value::as_str).filter(|handle| handle.len() == 16);
        let handle = handle.and_then(|handle| u64::from_str_radix(handle, 16).ok());
        handle.map(|handle| Some(KeyHandle(handle))).ok_or_else(|| damaged("the key of a scope"))
    }

    pub(super) async fn insert_scope(&self, digest: &[u8], handle: KeyHandle) -> Result<bool> {
        let row = DynamicEntity::new(SCOPES, hex(digest)).with(HANDLE, handle.to_string());
        self.insert(&row).await
    }
}

fn bytes<'r>(row: &'r DynamicEntity, property: &str) -> Option<&'r [u8]> {
    row.get(property)?.as_bytes()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // A text takes what is written.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cold]
fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::Corrupt)
        .because(format!("the record of {what} in the table `{TABLE}` can't be read"))
}
