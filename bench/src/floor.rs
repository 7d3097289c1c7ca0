//! The floor: what a good engineer would write by hand on heed for one table, with nothing that could be left out.
//!
//! Key `PartitionKey 0x00 RowKey`, value postcard. No checksums, no versions, no limits checked, no group commit.

use std::error::Error;
use std::ops::Bound;
use std::path::Path;

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvOpenOptions, PutFlags, WithoutTls};
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::engine::{Answer, Done, Engine};
use crate::rows::{Key, Sample};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Value {
    String(String),
    Binary(Vec<u8>),
    Boolean(bool),
    Int32(i32),
    Int64(i64),
    Double(f64),
    DateTime(u64),
    Guid([u8; 16]),
}

impl From<table_core::Value> for Value {
    fn from(value: table_core::Value) -> Self {
        match value {
            table_core::Value::String(v) => Self::String(v),
            table_core::Value::Binary(v) => Self::Binary(v),
            table_core::Value::Boolean(v) => Self::Boolean(v),
            table_core::Value::Int32(v) => Self::Int32(v),
            table_core::Value::Int64(v) => Self::Int64(v),
            table_core::Value::Double(v) => Self::Double(v),
            table_core::Value::DateTime(v) => Self::DateTime(v.get()),
            table_core::Value::Guid(v) => Self::Guid(v.into_bytes()),
        }
    }
}

pub(crate) type Properties = Vec<(String, Value)>;

/// A row as a scan gives it.
pub(crate) struct Entity {
    partition: String,
    row: String,
    properties: Properties,
}

pub(crate) struct Floor {
    env: Env<WithoutTls>,
    data: Database<'static, Bytes, Bytes>,
}

const SEPARATOR: u8 = 0;

fn stored_key(key: &Key) -> Vec<u8> {
    joined(&key.partition, &key.row)
}

fn joined(partition: &str, row: &str) -> Vec<u8> {
    let mut stored = Vec::with_capacity(partition.len() + 1 + row.len());
    stored.extend_from_slice(partition.as_bytes());
    stored.push(SEPARATOR);
    stored.extend_from_slice(row.as_bytes());
    stored
}

fn entity(key: &[u8], value: &[u8]) -> Result<Entity, Box<dyn Error + Send + Sync>> {
    let mut parts = key.splitn(2, |byte| *byte == SEPARATOR);
    let mut part = || std::str::from_utf8(parts.next().unwrap_or_default()).map(str::to_owned);
    Ok(Entity { partition: part()?, row: part()?, properties: postcard::from_bytes(value)? })
}

fn add_properties(digest: &mut Digest, properties: &Properties) {
    for (name, value) in properties {
        digest.text(name);
        digest.floor(value);
    }
}

fn add(digest: &mut Digest, entity: &Entity) {
    digest.row();
    digest.text(&entity.partition);
    digest.text(&entity.row);
    add_properties(digest, &entity.properties);
}

impl Floor {
    pub(crate) fn open(dir: &Path) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Self::open_mapped(dir, 1 << 40)
    }

    /// Opens an environment with one database, and makes both if they are missing.
    #[allow(unsafe_code, reason = "heed can't know that nobody else changes the file under the map")]
    pub(crate) fn open_mapped(dir: &Path, map: usize) -> Result<Self, Box<dyn Error + Send + Sync>> {
        std::fs::create_dir_all(dir)?;
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.map_size(map).max_readers(1_024).max_dbs(8);
        // SAFETY: the directory is this run's own; nothing but LMDB touches the files in it.
        let env = unsafe { options.open(dir)? };
        let txn = env.write_txn()?;
        let created = env.create_databases_and_commit(txn, |opener, txn| {
            let data = opener.create_database::<Bytes, Bytes>(txn, Some("data"))?;
            Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(data))
        })?;
        match created {
            CommitOrAbort::Commit(data) => Ok(Self { env, data }),
            CommitOrAbort::Abort(()) => Err("the database could not be made".into()),
        }
    }

    /// Closes the environment and waits until it can be opened again.
    pub(crate) fn close(self) {
        self.env.prepare_for_closing().wait();
    }

    /// Removes every row in one transaction.
    pub(crate) fn clear(&self) -> Result<(), Box<dyn Error + Send + Sync>> {
        let mut txn = self.env.write_txn()?;
        self.data.delete_range::<(Bound<&[u8]>, Bound<&[u8]>)>(
            &mut txn,
            &(Bound::Included(&[0]), Bound::Excluded(&[0xff])),
        )?;
        txn.commit()?;
        Ok(())
    }
}

impl Engine for Floor {
    fn get(&self, keys: &[Key]) -> Answer {
        let mut digest = Digest::default();
        for key in keys {
            let txn = self.env.read_txn()?;
            if let Some(value) = self.data.get(&txn, &stored_key(key))? {
                // The caller has the keys.
                let properties: Properties = postcard::from_bytes(value)?;
                digest.row();
                add_properties(&mut digest, &properties);
            }
        }
        Ok(digest)
    }

    fn scan(&self) -> Answer {
        let mut digest = Digest::default();
        let txn = self.env.read_txn()?;
        for pair in self.data.iter(&txn)? {
            let (key, value) = pair?;
            add(&mut digest, &entity(key, value)?);
        }
        Ok(digest)
    }

    fn range(&self, from: &Key, to: &str) -> Answer {
        let mut digest = Digest::default();
        let (from, to) = (stored_key(from), joined(&from.partition, to));
        let txn = self.env.read_txn()?;
        let bounds = (Bound::Included(from.as_slice()), Bound::Excluded(to.as_slice()));
        for pair in self.data.range(&txn, &bounds)? {
            let (key, value) = pair?;
            add(&mut digest, &entity(key, value)?);
        }
        Ok(digest)
    }

    fn insert(&self, rows: &[Sample]) -> Done {
        for row in rows {
            self.insert_together(std::slice::from_ref(row))?;
        }
        Ok(())
    }

    fn batch(&self, rows: &mut [Sample]) -> Done {
        for rows in rows.chunks_mut(100) {
            let mut txn = self.env.write_txn()?;
            for row in rows {
                // Taken, as ours takes them.
                let value = postcard::to_allocvec(&std::mem::take(&mut row.floor))?;
                self.data.put_with_flags(&mut txn, PutFlags::NO_OVERWRITE, &stored_key(&row.key), &value)?;
            }
            txn.commit()?;
        }
        Ok(())
    }

    fn replace(&self, rows: &[Sample]) -> Done {
        for row in rows {
            let value = postcard::to_allocvec(&row.floor)?;
            let key = stored_key(&row.key);
            let mut txn = self.env.write_txn()?;
            self.data.get(&txn, &key)?.ok_or("there is no such row")?;
            self.data.put(&mut txn, &key, &value)?;
            txn.commit()?;
        }
        Ok(())
    }

    fn merge(&self, keys: &[Key], age: i32) -> Done {
        for key in keys {
            let key = stored_key(key);
            let mut txn = self.env.write_txn()?;
            let old = self.data.get(&txn, &key)?.ok_or("there is no such row")?;
            let mut properties: Properties = postcard::from_bytes(old)?;
            match properties.iter_mut().find(|(name, _)| name == "Age") {
                Some((_, value)) => *value = Value::Int32(age),
                None => properties.push(("Age".to_owned(), Value::Int32(age))),
            }
            self.data.put(&mut txn, &key, &postcard::to_allocvec(&properties)?)?;
            txn.commit()?;
        }
        Ok(())
    }

    fn delete(&self, keys: &[Key]) -> Done {
        let mut txn = self.env.write_txn()?;
        for key in keys {
            self.data.delete(&mut txn, &stored_key(key))?;
        }
        txn.commit()?;
        Ok(())
    }

    fn one_property(&self, keys: &[Key], name: &str) -> Answer {
        let mut digest = Digest::default();
        let txn = self.env.read_txn()?;
        for key in keys {
            let value = self.data.get(&txn, &stored_key(key))?.ok_or("there is no such row")?;
            let properties: Properties = postcard::from_bytes(value)?;
            if let Some((_, value)) = properties.iter().find(|(known, _)| known == name) {
                digest.row();
                digest.floor(value);
            }
        }
        Ok(digest)
    }
}

impl Floor {
    /// One transaction that adds rows which must not be there.
    pub(crate) fn insert_together(&self, rows: &[Sample]) -> Done {
        let mut txn = self.env.write_txn()?;
        for row in rows {
            let value = postcard::to_allocvec(&row.floor)?;
            self.data.put_with_flags(&mut txn, PutFlags::NO_OVERWRITE, &stored_key(&row.key), &value)?;
        }
        txn.commit()?;
        Ok(())
    }
}
