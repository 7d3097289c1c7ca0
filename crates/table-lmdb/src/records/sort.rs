//! Sorts of small records that a table may have many of, each under a name: states of kinds, jobs, service records.
//!
//! They lie beside the table's dictionary and go with it. The table's record digest counts each sort, so that one that is
//! lost to damage is not taken for one that never was.

use table_engine::error::{Error, ErrorKind, Result};

use super::record_digest::{RecordDigest, SetDigest};
use super::{meta, names};
use crate::lmdb::{self, Databases, WriteTxn};

/// A sort of records that lie in the dictionary of a table, each under a name.
pub(super) struct Sort<T> {
    /// The kind of their dictionary entries.
    pub(super) number: u8,
    /// What errors call them.
    pub(super) what: &'static str,
    pub(super) decode: fn(&[u8]) -> Option<T>,
    /// Where the table's record of digests counts them.
    pub(super) counted: fn(&mut RecordDigest) -> &mut SetDigest,
}

/// Names a record of one sort in the table of this number.
#[derive(Clone, Copy)]
pub(crate) struct RecordName<'n> {
    pub(crate) table: u32,
    pub(crate) name: &'n str,
}

impl<T> Sort<T> {
    /// Reads every record of the sort. What the table's digests count must be what is found.
    pub(super) fn all(&self, dbs: &Databases, txn: &heed::RoTxn<'_>, table: u32) -> Result<Vec<(String, T)>> {
        let set_digest = *(self.counted)(&mut RecordDigest::read(dbs.main, txn, table)?);
        if set_digest == SetDigest::default() {
            return Ok(Vec::new());
        }
        let (mut records, mut found) = (Vec::new(), SetDigest::default());
        let prefix = names::entry_key(table, self.number, b"");
        for entry in dbs.names.prefix_iter(txn, &prefix).map_err(lmdb::error)? {
            let (key, record) = entry.map_err(lmdb::error)?;
            dbs.check_entry(key, record)?;
            let name = key.get(prefix.len()..).and_then(|name| std::str::from_utf8(name).ok());
            let body = meta::opened(key, record).and_then(self.decode);
            let (Some(name), Some(body)) = (name, body) else { return Err(damaged(self.what)) };
            records.push((name.to_owned(), body));
            found.add(record);
        }
        set_digest.check(found, self.what)?;
        Ok(records)
    }

    /// Puts a record in the place of the one of this name, or removes that, and keeps the digest of the sort.
    pub(super) fn replace(
        &self,
        dbs: &Databases,
        txn: &mut WriteTxn<'_>,
        RecordName { table, name }: RecordName<'_>,
        body: Option<Vec<u8>>,
    ) -> Result<()> {
        let mut record_digest = RecordDigest::read(dbs.main, txn, table)?;
        let set_digest = (self.counted)(&mut record_digest);
        let key = names::entry_key(table, self.number, name.as_bytes());
        if let Some(former) = dbs.record(dbs.names, txn, &key)? {
            set_digest.subtract(former);
        }
        match body {
            Some(body) => {
                let record = meta::sealed(&key, body);
                set_digest.add(&record);
                dbs.names.put(txn, &key, &record).map_err(lmdb::error)?;
            }
            None => {
                dbs.names.delete(txn, &key).map_err(lmdb::error)?;
            }
        }
        record_digest.write(dbs.main, txn, table)
    }
}

#[cold]
fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::Corrupt).because(format!("a record of the {what} is damaged"))
}
